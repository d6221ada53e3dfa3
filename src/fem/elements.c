#include "fem/elements_guard.h"

#include "base/assert.h"
#include "base/parallel.h"
#include "fem/yield_surfaces.h"

#include <string.h>

enum { LANES = KILN_ELEMENT_LANES };

size_t kiln_elements_room(const kiln_elements *elements)
{
    return LANES * elements->batches.count;
}

const kiln_material *kiln_elements_material(const kiln_elements *elements, uint32_t material)
{
    return &elements->materials.data[material];
}

static kiln_element element_at(const kiln_elements *elements, size_t number, uint32_t material)
{
    const kiln_element_batch *batch = &elements->batches.data[number / LANES];
    const kiln_material *m = &elements->materials.data[material];
    size_t lane = number % LANES;
    kiln_element e = {.slot = batch->slot[lane],
                      .material = material,
                      .volume = batch->volume[lane],
                      .mu = m->mu,
                      .lambda = m->lambda};
    if (elements->lame.count) {
        const double *lame = elements->lame.data + 2 * LANES * (number / LANES) + lane;
        e.mu = lame[0], e.lambda = lame[LANES];
    }
    memcpy(e.vertex, elements->vertex.data + 4 * number, sizeof e.vertex);
    for (int a = 1; a < 4; a++) {
        const double(*row)[LANES] = batch->gradient + 3 * (a - 1);
        e.gradient[a] = kiln_v3(row[0][lane], row[1][lane], row[2][lane]);
        e.gradient[0] = kiln_v3_sub(e.gradient[0], e.gradient[a]);
    }
    return e;
}

kiln_element kiln_elements_at(const kiln_elements *elements, size_t number)
{
    uint32_t material = elements->material_of.data[number / LANES];
    return element_at(elements, number, material == KILN_NONE ? 0 : material);
}

kiln_mat3 kiln_element_deformation(const kiln_element *element, const double *x)
{
    kiln_mat3 F = {{{0}}};
    const double *x0 = x + 3 * (size_t)element->vertex[0];
    for (int a = 1; a < 4; a++) {
        const double *xa = x + 3 * (size_t)element->vertex[a];
        const kiln_vec3 *b = &element->gradient[a];
        for (int i = 0; i < 3; i++) {
            double d = xa[i] - x0[i];
            F.m[i][0] += d * b->x, F.m[i][1] += d * b->y, F.m[i][2] += d * b->z;
        }
    }
    return F;
}

/* Runs a body over the chunks: all at once, or colour by colour when it scatters. */
typedef struct loop_job {
    const kiln_elements *e;
    const double *x, *from, *dx, *weight;
    double scale;
    double *g, *theta;
    double *before, *after; /* energies [element number] at `from` and x; NULL: not to be kept */
    kiln_bsr *H;
    void (*body)(const struct loop_job *job, size_t chunk);
    size_t first; /* chunk that number 0 of the loop stands for */
} loop_job;

static void run_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)begin, (void)end, (void)worker;
    const loop_job *job = user;
    job->body(job, job->first + chunk);
}

static void run_all(loop_job *job)
{
    kiln_parallel_for(job->e->context, job->e->chunks.count, 1, run_chunk, job);
}

static void run_colours(loop_job *job)
{
    for (size_t c = 0; c + 1 < job->e->colours.count; c++) {
        job->first = job->e->colours.data[c];
        kiln_parallel_for(job->e->context, job->e->colours.data[c + 1] - job->first, 1, run_chunk,
                          job);
    }
}

kiln_element_span kiln_elements_span(const kiln_elements *elements, size_t chunk)
{
    const kiln_elements *e = elements;
    const kiln_element_chunk *c = &e->chunks.data[chunk];
    const kiln_material *material = &e->materials.data[c->material];
    size_t batch = c->batch;
    return (kiln_element_span){
        .batch = e->batches.data + batch,
        .vertex = e->vertex.data + 4 * LANES * batch,
        .batches = c->batches,
        .mu = material->mu,
        .lambda = material->lambda,
        .lame = e->lame.count ? e->lame.data + 2 * LANES * batch : NULL,
        .shape = material->nodal_pressure,
        .shape_lambda = material->model->shape_lambda,
        .pressure = material->nodal_pressure ? e->pressure.data + LANES * batch : NULL,
        .yield = e->flowing ? e->yield.data + 2 * LANES * batch : NULL,
        .material = material,
        .exact = e->exact};
}

static const kiln_element_kernels *flow_kernels(kiln_isa isa)
{
    KILN_ELEMENT_KERNELS(flow);
    return kernels[isa];
}

static const kiln_element_kernels *flow_linear_kernels(kiln_isa isa)
{
    KILN_ELEMENT_KERNELS(flow_linear);
    return kernels[isa];
}

const kiln_element_kernels *kiln_element_kernels_of(const kiln_material *material, kiln_isa isa,
                                                    bool flowing)
{
    bool flows = flowing && kiln_flow_is_within(material);
    if (flows || (material->nodal_pressure && kiln_flow_dilation(material) == KILN_DILATION_CHANGE))
        return kiln_flow_is_linear(material) ? flow_linear_kernels(isa) : flow_kernels(isa);
    return material->model->kernels[isa];
}

static const kiln_element_kernels *kernels_of(const kiln_elements *e, size_t chunk)
{
    const kiln_material *material = &e->materials.data[e->chunks.data[chunk].material];
    return kiln_element_kernels_of(material, e->context->isa, e->flowing);
}

enum { CHUNK_TETS = LANES * KILN_CHUNK_BATCHES };

static void energy_chunk(const loop_job *job, size_t chunk)
{
    double own[CHUNK_TETS];
    kiln_element_span span = kiln_elements_span(job->e, chunk);
    size_t first = LANES * (size_t)job->e->chunks.data[chunk].batch;
    job->e->partial.data[chunk] =
        kernels_of(job->e, chunk)->energy(&span, job->x, job->after ? job->after + first : own);
}

static double sum_partial(const kiln_elements *e)
{
    double sum = 0.0;
    for (size_t c = 0; c < e->chunks.count; c++)
        sum += e->partial.data[c];
    return sum;
}

static double *begin_values(kiln_elements *e, const double *x)
{
    return kiln_kept_values_begin(&e->kept, e->context, 3 * e->vertices, kiln_elements_room(e),
                                  e->state, x);
}

static double value(void *self, const double *x)
{
    kiln_elements *e = self;
    kiln_kept_values_forget(&e->kept);
    loop_job job = {
        .e = e, .x = x, .body = energy_chunk, .after = e->differs ? begin_values(e, x) : NULL};
    run_all(&job);
    return sum_partial(e);
}

static void delta_chunk(const loop_job *job, size_t chunk)
{
    double own[2][CHUNK_TETS], sum[LANES] = {0.0}, total = 0.0;
    const kiln_element_kernels *kernels = kernels_of(job->e, chunk);
    kiln_element_span span = kiln_elements_span(job->e, chunk);
    size_t first = LANES * (size_t)job->e->chunks.data[chunk].batch;
    double *before = job->before ? job->before + first : own[0];
    double *after = job->after ? job->after + first : own[1];
    if (!job->before)
        kernels->energy(&span, job->from, before);
    kernels->energy(&span, job->x, after);
    for (size_t b = 0; b < span.batches; b++)
        for (size_t i = 0; i < LANES; i++)
            sum[i] += after[LANES * b + i] - before[LANES * b + i];
    for (size_t i = 0; i < LANES; i++)
        total += sum[i];
    job->e->partial.data[chunk] = total;
}

static double delta(void *self, const double *x0, const double *x1)
{
    kiln_elements *e = self;
    loop_job job = {.e = e, .from = x0, .x = x1, .body = delta_chunk};
    e->differs = true;
    job.before =
        kiln_kept_values_find(&e->kept, 3 * e->vertices, kiln_elements_room(e), e->state, x0);
    job.after = begin_values(e, x1);
    run_all(&job);
    return sum_partial(e);
}

static void add_chunk(const loop_job *job, size_t chunk)
{
    const kiln_element_kernels *kernels = kernels_of(job->e, chunk);
    kiln_element_span span = kiln_elements_span(job->e, chunk);
    if (job->H)
        kernels->hessian(&span, job->x, job->scale, job->g, job->H);
    else
        kernels->gradient(&span, job->x, job->scale, job->g);
}

static void ask(const kiln_elements *elements, kiln_pressure_fill fill, const double *x)
{
    if (elements->pressure.count == 0)
        return;
    memset(elements->pressure.data, 0, elements->pressure.count * sizeof(double));
    if (fill)
        fill(elements->fill_user, x, elements->pressure.data);
}

void kiln_elements_fill_pressure(const kiln_elements *elements, const double *x)
{
    ask(elements, elements->fill, x);
}

void kiln_elements_fill_energy(const kiln_elements *elements, const double *x)
{
    ask(elements, elements->fill_energy, x);
}

static void add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    loop_job job = {.e = self, .x = x, .scale = scale, .g = g, .H = H, .body = add_chunk};
    if (H) { /* matrices may take turns */
        (void)kiln_elements_attach(self, H, NULL);
        kiln_elements_fill_pressure(self, x);
    }
    run_colours(&job);
}

void kiln_elements_set_pressure(kiln_elements *elements, kiln_pressure_fill fill,
                                kiln_pressure_fill energy, void *user)
{
    elements->fill = fill;
    elements->fill_energy = energy;
    elements->fill_user = user;
}

static void dilation_chunk(const loop_job *job, size_t chunk)
{
    static void (*const values[])(const kiln_element_span *, kiln_dilation, const double *,
                                  double *) = KILN_SIMD_TABLE(kiln_elements_dilation_span);
    static void (*const gradients[])(const kiln_element_span *, kiln_dilation, const double *,
                                     const double *, double, double *) =
        KILN_SIMD_TABLE(kiln_elements_add_dilation_span);
    const kiln_elements *e = job->e;
    const kiln_material *material = &e->materials.data[e->chunks.data[chunk].material];
    kiln_dilation dilation = kiln_flow_dilation(material);
    size_t number = LANES * (size_t)e->chunks.data[chunk].batch;
    if (!material->nodal_pressure)
        return;
    kiln_element_span span = kiln_elements_span(e, chunk);
    if (job->theta)
        values[e->context->isa](&span, dilation, job->x, job->theta + number);
    else
        gradients[e->context->isa](&span, dilation, job->x, job->weight + number, job->scale,
                                   job->g);
}

void kiln_elements_dilation(const kiln_elements *elements, const double *x, double *theta)
{
    loop_job job = {.e = elements, .x = x, .theta = theta, .body = dilation_chunk};
    run_all(&job);
}

void kiln_elements_add_dilation(const kiln_elements *elements, const double *x,
                                const double *weight, double scale, double *g)
{
    loop_job job = {
        .e = elements, .x = x, .weight = weight, .scale = scale, .g = g, .body = dilation_chunk};
    run_colours(&job);
}

void kiln_elements_dilation_gradient(const kiln_elements *elements, size_t number, const double *x,
                                     kiln_vec3 gradient[4])
{
    kiln_element e = kiln_elements_at(elements, number);
    kiln_mat3 F = kiln_element_deformation(&e, x), D;
    kiln_dilation_gradient(kiln_flow_dilation(&elements->materials.data[e.material]), &F, &D);
    for (int a = 0; a < 4; a++)
        gradient[a] = kiln_m3_apply(D, e.gradient[a]);
}

/* Asked for while matter flows: on its yield surface it has little stiffness but what stress and
 * turning give it, and projecting that makes Newton's steps ten times too short. */
static bool set_exact(void *self, bool exact)
{
    kiln_elements *e = self;
    bool wanted = e->flowing || e->near;
    e->exact = exact && wanted;
    return wanted;
}

static void set_near(void *self, bool near)
{
    kiln_elements *e = self;
    e->near = near;
}

static kiln_cliques cliques(void *self)
{
    const kiln_elements *e = self;
    return (kiln_cliques){.count = e->vertex.count / 4, .size = 4, .row = e->vertex.data};
}

kiln_status kiln_elements_create(kiln_context *context, kiln_elements **out, kiln_error *error)
{
    kiln_elements *e = kiln_resize(context, NULL, 0, sizeof *e);
    if (!e)
        return kiln_fail_memory(error, sizeof *e);
    memset(e, 0, sizeof *e);
    e->context = context;
    e->term = (kiln_term){.name = "elastic",
                          .self = e,
                          .weight = 1.0,
                          .value = value,
                          .delta = delta,
                          .add = add,
                          .set_exact = set_exact,
                          .set_near = set_near,
                          .lag = kiln_yield_surfaces_lag,
                          .max_step = kiln_elements_max_step,
                          .cliques = cliques,
                          .attach = kiln_elements_attach};
    *out = e;
    return KILN_OK;
}

kiln_term *kiln_elements_term(kiln_elements *elements)
{
    return &elements->term;
}
