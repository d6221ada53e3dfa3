/* The dampers of the tets are made at the begin of a step (damping_impl.h), chunk by chunk of the
 * elements; nothing is assembled before Newton asks.
 *
 * Nodal pressure. Its part of K is sum_a c_a G_a G_a', G_a the derivative of the sum of V theta
 * over the tets at node a (nodal_pressure.c). Here V dtheta is V t : (E - E_n - past), t = dtheta /
 * dE at x_n: r_a sums it, and c_a r_a^2 / (2 tau) is the potential of the node. */
#include "fem/damping.h"

#include "base/parallel.h"
#include "fem/damping_impl.h"
#include "fem/elements_guard.h"
#include "solve/vectors.h"

#include <math.h>
#include <string.h>

enum { LANES = KILN_ELEMENT_LANES };

struct kiln_damping {
    kiln_context *context;
    kiln_elements *elements;       /* borrowed, as are those below */
    kiln_nodal_pressure *pressure; /* NULL: none */
    const double *viscosity_of;    /* [tet slot], NULL: the materials' */
    const double *passing;         /* [tet slot] s, NULL: none */
    double least_volume;           /* m^3, of liquid */
    kiln_mass *drag;               /* alpha times mass; own */
    kiln_damping_start start;
    kiln_term term;
    bool strain, volumetric, mass; /* what there is of each kind, */
    bool lasting;                  /* and whether materials have that of strain */
    KILN_ARRAY_OF(uint8_t)
    passes; /* [chunk] some of its tets have what passes */
    KILN_ARRAY_OF(kiln_damper)
    dampers;                  /* [batch] */
    kiln_f64_array weight;    /* [tet slot] alpha times mass */
    kiln_f64_array beta;      /* [material] */
    kiln_f64_array partial;   /* [chunk] */
    kiln_f64_array tet[2];    /* [element number] V dtheta, or pressure; volumetric only */
    kiln_f64_array node[2];   /* [node] r_a; with it, as the one below */
    kiln_f64_array curvature; /* [node] c_a */
    kiln_f64_array aside;     /* [vertex slot][3] added to the gradient; where forces are means */
    kiln_f64_array near[2];   /* then, too: a place beside x, and what `aside` would be there */
};

static double value(void *self, const double *x);
static double delta(void *self, const double *x0, const double *x1);
static void add(void *self, const double *x, double scale, double *g, kiln_bsr *H);
static kiln_cliques cliques(void *self);
static kiln_status renew(void *self, const double *x, kiln_error *error);
static void add_rest(void *self, const double *x, double scale, const double *v, double *out);

static kiln_status attach(void *self, const kiln_bsr *H, kiln_error *error)
{
    kiln_damping *d = self;
    return kiln_elements_attach(d->elements, H, error);
}

kiln_status kiln_damping_create(kiln_context *context, kiln_elements *elements, kiln_damping **out,
                                kiln_error *error)
{
    kiln_damping *d = kiln_resize(context, NULL, 0, sizeof *d);
    if (!d)
        return kiln_fail_memory(error, sizeof *d);
    *d = (kiln_damping){
        .context = context,
        .elements = elements,
        .start = {.tau = 1.0},
        .term = {.name = "damping",
                 .self = d,
                 .weight = 1.0,
                 .value = value,
                 .delta = delta,
                 .add = add,
                 .cliques = cliques,
                 .attach = attach},
    };
    kiln_status status = kiln_mass_create(context, &d->drag, error);
    if (status != KILN_OK) {
        kiln_damping_destroy(d);
        return status;
    }
    *out = d;
    return KILN_OK;
}

void kiln_damping_destroy(kiln_damping *damping)
{
    if (!damping)
        return;
    kiln_context *context = damping->context;
    kiln_mass_destroy(damping->drag);
    kiln_array_free(context, &damping->dampers);
    kiln_array_free(context, &damping->passes);
    kiln_array_free(context, &damping->weight);
    kiln_array_free(context, &damping->beta);
    kiln_array_free(context, &damping->partial);
    for (int i = 0; i < 2; i++) {
        kiln_array_free(context, &damping->tet[i]);
        kiln_array_free(context, &damping->node[i]);
    }
    kiln_array_free(context, &damping->curvature);
    kiln_array_free(context, &damping->aside);
    kiln_array_free(context, &damping->near[0]);
    kiln_array_free(context, &damping->near[1]);
    kiln_release(context, damping, sizeof *damping);
}

void kiln_damping_set_pressure(kiln_damping *damping, kiln_nodal_pressure *pressure)
{
    damping->pressure = pressure;
}

void kiln_damping_set_viscosity(kiln_damping *damping, const double *viscosity)
{
    damping->viscosity_of = viscosity;
}

void kiln_damping_set_least_volume(kiln_damping *damping, double volume)
{
    damping->least_volume = volume;
}

const double *kiln_damping_viscosity(const kiln_damping *damping)
{
    return damping->viscosity_of;
}

bool kiln_damping_is_used(const kiln_damping *damping)
{
    return damping->strain || damping->mass;
}

kiln_term *kiln_damping_term(kiln_damping *damping)
{
    return &damping->term;
}

/* Nodal pressure couples more, and says so itself in every solve that has it. */
static kiln_cliques cliques(void *self)
{
    kiln_damping *d = self;
    if (!d->strain && !(d->mass && kiln_mass_kind_of(d->drag) == KILN_MASS_CONSISTENT))
        return (kiln_cliques){0};
    kiln_term *elastic = kiln_elements_term(d->elements);
    return elastic->cliques(elastic->self);
}

/* What there is to damp. */
static void survey(const kiln_damping *d, bool *strain, bool *volumetric, bool *mass)
{
    const kiln_elements *e = d->elements;
    *strain = d->viscosity_of != NULL;
    *volumetric = *mass = false;
    for (size_t m = 0; m < e->materials.count; m++) {
        const kiln_material *material = &e->materials.data[m];
        d->beta.data[m] = material->damping_stiffness;
        if (e->tets_of.data[m] == 0)
            continue;
        bool stiff = material->damping_stiffness > 0.0;
        *strain |= stiff || material->viscosity > 0.0;
        *volumetric |= stiff && material->nodal_pressure && d->pressure;
        *mass |= material->damping_mass > 0.0;
    }
}

static kiln_status build_drag(kiln_damping *d, const kiln_mesh *mesh, kiln_mass_kind kind,
                              const double *tet_mass, kiln_error *error)
{
    const kiln_elements *e = d->elements;
    uint32_t tets = mesh->table[KILN_ON_TET].used;
    KILN_TRY(kiln_array_reserve(d->context, &d->weight, tets, error));
    memset(d->weight.data, 0, tets * sizeof(double));
    for (size_t n = 0; n < kiln_elements_room(e); n++) {
        uint32_t slot = e->batches.data[n / LANES].slot[n % LANES];
        if (slot != KILN_NONE)
            d->weight.data[slot] =
                e->materials.data[e->material_of.data[n / LANES]].damping_mass * tet_mass[slot];
    }
    return kiln_mass_build(d->drag, mesh, kind, d->weight.data, error);
}

static kiln_status make_room(kiln_damping *d, bool strain, bool volumetric, kiln_error *error)
{
    const kiln_elements *e = d->elements;
    if (strain) {
        KILN_TRY(kiln_array_reserve(d->context, &d->dampers, e->batches.count, error));
        KILN_TRY(kiln_array_reserve(d->context, &d->partial, e->chunks.count, error));
    } else
        kiln_array_free(d->context, &d->dampers);
    if (!volumetric)
        return KILN_OK;
    size_t room = kiln_elements_room(e), nodes = kiln_nodal_pressure_nodes(d->pressure);
    for (int i = 0; i < 2; i++) {
        KILN_TRY(kiln_array_reserve(d->context, &d->tet[i], room, error));
        KILN_TRY(kiln_array_reserve(d->context, &d->node[i], nodes, error));
        memset(d->tet[i].data, 0, room * sizeof(double)); /* of those that are not damped */
    }
    return kiln_array_reserve(d->context, &d->curvature, nodes, error);
}

kiln_status kiln_damping_build(kiln_damping *damping, const kiln_mesh *mesh, kiln_mass_kind kind,
                               const double *tet_mass, kiln_error *error)
{
    kiln_damping *d = damping;
    bool strain, volumetric, mass;
    d->strain = d->volumetric = d->mass = d->lasting = false; /* until all of it is there */
    d->passing = NULL;
    d->term.cliques = cliques;
    d->term.revision++;
    KILN_TRY(kiln_array_reserve(d->context, &d->beta, d->elements->materials.count, error));
    survey(d, &strain, &volumetric, &mass);
    KILN_TRY(make_room(d, strain, volumetric, error));
    if (mass)
        KILN_TRY(build_drag(d, mesh, kind, tet_mass, error));
    d->strain = d->lasting = strain;
    d->volumetric = volumetric;
    d->mass = mass;
    return KILN_OK;
}

static bool some_pass(const kiln_damping *d, size_t chunk)
{
    const kiln_element_span span = kiln_elements_span(d->elements, chunk);
    for (size_t n = 0; n < LANES * span.batches; n++) {
        uint32_t slot = span.batch[n / LANES].slot[n % LANES];
        if (slot != KILN_NONE && d->passing[slot] > 0.0)
            return true;
    }
    return false;
}

/* Elements, which are in every solve that has it, say what it couples. */
kiln_status kiln_damping_set_passing(kiln_damping *damping, const double *beta, kiln_error *error)
{
    kiln_damping *d = damping;
    d->passing = NULL;
    d->strain = d->lasting;
    d->term.cliques = d->lasting || d->mass ? cliques : NULL;
    if (!beta)
        return KILN_OK;
    size_t chunks = d->elements->chunks.count;
    KILN_TRY(make_room(d, true, false, error));
    KILN_TRY(kiln_array_reserve(d->context, &d->passes, chunks, error));
    d->passing = beta;
    d->strain = true;
    for (size_t c = 0; c < chunks; c++)
        d->passes.data[c] = some_pass(d, c);
    return KILN_OK;
}

/* Loops over the chunks of damped tets. */
typedef struct damping_job {
    kiln_damping *d;
    const double *x, *from;
    double *g;
    kiln_bsr *H;
    double scale;
    void (*body)(const struct damping_job *job, size_t chunk);
    size_t first; /* chunk that number 0 of the loop stands for */
} damping_job;

static const kiln_material *material_of(const kiln_damping *d, size_t chunk)
{
    return &d->elements->materials.data[d->elements->chunks.data[chunk].material];
}

static bool is_damped(const kiln_damping *d, size_t chunk)
{
    const kiln_material *material = material_of(d, chunk);
    return d->viscosity_of || material->damping_stiffness > 0.0 || material->viscosity > 0.0 ||
           (d->passing && d->passes.data[chunk]);
}

static void run_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)begin, (void)end, (void)worker;
    const damping_job *job = user;
    if (is_damped(job->d, job->first + chunk))
        job->body(job, job->first + chunk);
}

static void run_all(damping_job *job)
{
    kiln_parallel_for(job->d->context, job->d->elements->chunks.count, 1, run_chunk, job);
}

static void run_colours(damping_job *job)
{
    const kiln_elements *e = job->d->elements;
    for (size_t c = 0; c + 1 < e->colours.count; c++) {
        job->first = e->colours.data[c];
        kiln_parallel_for(job->d->context, e->colours.data[c + 1] - job->first, 1, run_chunk, job);
    }
}

/* Those of a chunk whose volumetric part is nodal: where the element columns of it begin. */
static double *nodal_column(const kiln_damping *d, size_t chunk, double *column, size_t width)
{
    bool nodal = d->volumetric && material_of(d, chunk)->nodal_pressure;
    return nodal ? column + width * LANES * (size_t)d->elements->chunks.data[chunk].batch : NULL;
}

static kiln_damper_span span_of(const kiln_damping *d, size_t chunk)
{
    const kiln_elements *e = d->elements;
    size_t batch = e->chunks.data[chunk].batch;
    return (kiln_damper_span){.damper = d->dampers.data + batch,
                              .batch = e->batches.data + batch,
                              .vertex = e->vertex.data + 4 * LANES * batch,
                              .batches = e->chunks.data[chunk].batches,
                              .x_n = d->start.x_n,
                              .pressure = nodal_column(d, chunk, d->tet[0].data, 1)};
}

static void begin_chunk(const damping_job *job, size_t chunk)
{
    static void (*const set_past[])(const kiln_damper_past *, const uint32_t *, size_t,
                                    kiln_damper *) = KILN_SIMD_TABLE(kiln_damper_set_past);
    kiln_damping *d = job->d;
    const kiln_material *material = material_of(d, chunk);
    kiln_element_span span = kiln_elements_span(d->elements, chunk);
    if (!(material->damping_stiffness > 0.0))
        span.pressure = NULL; /* what passes is of the shape, as patches know it */
    kiln_damper *out = d->dampers.data + d->elements->chunks.data[chunk].batch;
    kiln_damper_rates rates = {.stiffness = material->damping_stiffness,
                               .stiffness_of = d->passing,
                               .viscosity = material->viscosity,
                               .viscosity_of = d->viscosity_of,
                               .least_volume = material->liquid ? d->least_volume : 0.0,
                               .per_tau = 1.0 / d->start.tau};
    kiln_damper_past past = {.x_n = d->start.x_n,
                             .before = d->start.before,
                             .v = d->start.v_n,
                             .before_weight = d->start.before_weight,
                             .rate_weight = d->start.rate_weight};
    kiln_isa isa = d->context->isa;
    material->model->kernels[isa]->dampers(&span, d->start.x_n, &rates, out);
    set_past[isa](&past, span.vertex, span.batches, out);
}

void kiln_damping_begin(kiln_damping *damping, const kiln_damping_start *start)
{
    kiln_damping *d = damping;
    d->start = *start;
    d->term.renew = start->means && d->strain ? renew : NULL;
    d->term.add_rest = d->term.renew ? add_rest : NULL;
    d->aside.count = 0;
    if (!d->strain)
        return;
    kiln_elements_fill_pressure(d->elements, start->x_n);
    damping_job job = {.d = d, .body = begin_chunk};
    run_all(&job);
    if (d->volumetric)
        kiln_nodal_pressure_curvatures(d->pressure, start->x_n, d->beta.data, d->curvature.data);
}

/* The potential: the tets', then the nodes'. */

static void energy_chunk(const damping_job *job, size_t chunk)
{
    static double (*const energy[])(const kiln_damper_span *, const double *, const double *,
                                    double *, double *) = KILN_SIMD_TABLE(kiln_damper_energy);
    kiln_damping *d = job->d;
    kiln_damper_span span = span_of(d, chunk);
    d->partial.data[chunk] =
        energy[d->context->isa](&span, job->from, job->x, nodal_column(d, chunk, d->tet[0].data, 1),
                                nodal_column(d, chunk, d->tet[1].data, 1));
}

static double node_energy(kiln_damping *d)
{
    double sum = 0.0;
    for (int i = 0; i < 2; i++)
        kiln_nodal_pressure_gather(d->pressure, d->tet[i].data, d->node[i].data);
    for (size_t n = 0; n < kiln_nodal_pressure_nodes(d->pressure); n++)
        sum += d->curvature.data[n] * d->node[0].data[n] * d->node[1].data[n];
    return sum / (2.0 * d->start.tau);
}

static double strain_energy(kiln_damping *d, const double *from, const double *x)
{
    double sum = 0.0;
    damping_job job = {.d = d, .x = x, .from = from, .body = energy_chunk};
    memset(d->partial.data, 0, d->elements->chunks.count * sizeof(double));
    run_all(&job);
    for (size_t c = 0; c < d->elements->chunks.count; c++)
        sum += d->partial.data[c];
    return d->volumetric ? sum + node_energy(d) : sum;
}

static double delta(void *self, const double *x0, const double *x1)
{
    kiln_damping *d = self;
    double sum = d->strain ? strain_energy(d, x0, x1) : 0.0;
    if (d->mass) {
        kiln_term *drag = kiln_mass_inertia(d->drag, d->start.origin);
        double way = x0 ? drag->delta(drag->self, x0, x1) : drag->value(drag->self, x1);
        sum += way / d->start.tau;
    }
    for (size_t i = 0; i < d->aside.count; i++)
        sum += d->aside.data[i] * (x0 ? x1[i] - x0[i] : x1[i] - d->start.x_n[i]);
    return sum;
}

static double value(void *self, const double *x)
{
    return delta(self, NULL, x);
}

/* The pressures of the nodes at x, spread over the elements. */
static void find_pressures(kiln_damping *d, const double *x)
{
    damping_job job = {.d = d, .x = x, .body = energy_chunk};
    run_all(&job);
    kiln_nodal_pressure_gather(d->pressure, d->tet[0].data, d->node[0].data);
    for (size_t n = 0; n < kiln_nodal_pressure_nodes(d->pressure); n++)
        d->node[0].data[n] *= d->curvature.data[n] / d->start.tau;
    kiln_nodal_pressure_spread(d->pressure, d->node[0].data, d->tet[0].data);
}

static void add_chunk(const damping_job *job, size_t chunk)
{
    static void (*const act[])(const kiln_damper_span *, const double *, double, double *,
                               kiln_bsr *, double *) = KILN_SIMD_TABLE(kiln_damper_add);
    kiln_damping *d = job->d;
    kiln_damper_span span = span_of(d, chunk);
    double *gradient = NULL;
    if (d->volumetric && job->H)
        gradient = nodal_column(d, chunk, kiln_nodal_pressure_scratch(d->pressure), 9);
    act[d->context->isa](&span, job->x, job->scale, job->g, job->H, gradient);
}

static void add_strain(kiln_damping *d, const double *x, double scale, double *g, kiln_bsr *H)
{
    damping_job job = {.d = d, .x = x, .scale = scale, .g = g, .H = H, .body = add_chunk};
    if (H)
        (void)kiln_elements_attach(d->elements, H, NULL); /* matrices may take turns */
    if (d->volumetric)
        find_pressures(d, x);
    run_colours(&job);
    if (d->volumetric && H)
        kiln_nodal_pressure_add_outer(d->pressure, d->curvature.data, scale / d->start.tau, H);
}

static void add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    kiln_damping *d = self;
    if (d->strain)
        add_strain(d, x, scale, g, H);
    if (d->mass) {
        kiln_term *drag = kiln_mass_inertia(d->drag, d->start.origin);
        drag->add(drag->self, x, scale / d->start.tau, g, H);
    }
    for (size_t i = 0; i < d->aside.count; i++)
        g[i] += scale * d->aside.data[i];
}

static void centre_chunk(const damping_job *job, size_t chunk)
{
    static void (*const act[])(const kiln_damper_span *, const double *, double *) =
        KILN_SIMD_TABLE(kiln_damper_centre);
    kiln_damper_span span = span_of(job->d, chunk);
    act[job->d->context->isa](&span, job->x, job->g);
}

static void centre_at(kiln_damping *d, const double *x, double *out)
{
    memset(out, 0, d->aside.count * sizeof *out);
    damping_job job = {.d = d, .x = x, .g = out, .body = centre_chunk};
    if (d->volumetric)
        find_pressures(d, x);
    run_colours(&job);
}

/* Forces at the mean of two shapes have no moment about the mean of the places, and take exactly
 * the energy of their rates; but no potential either. So what they differ by from those at x, which
 * is little, is held through an iteration. */
static kiln_status renew(void *self, const double *x, kiln_error *error)
{
    kiln_damping *d = self;
    size_t size = 3 * d->elements->vertices;
    KILN_TRY(kiln_array_reserve(d->context, &d->aside, size, error));
    for (int i = 0; i < 2; i++)
        KILN_TRY(kiln_array_reserve(d->context, &d->near[i], size, error));
    d->aside.count = size;
    centre_at(d, x, d->aside.data);
    return KILN_OK;
}

/* By a difference, over a thousandth of the way of the step: the forces are cubic in x. */
static void add_rest(void *self, const double *x, double scale, const double *v, double *out)
{
    kiln_damping *d = self;
    double way = 0.0, *near = d->near[0].data, *there = d->near[1].data;
    for (size_t i = 0; i < d->aside.count; i++)
        way = fmax(way, fabs(x[i] - d->start.x_n[i]));
    double size = kiln_vector_largest(d->context, v, d->aside.count);
    if (!(way > 0.0) || !(size > 0.0))
        return; /* G is zero, and so is what it does to v but for the stress, which is, too */
    double part = 1e-3 * way / size;
    kiln_vector_combine(d->context, 1.0, x, part, v, near, d->aside.count);
    centre_at(d, near, there);
    for (size_t i = 0; i < d->aside.count; i++)
        out[i] += scale * (there[i] - d->aside.data[i]) / part;
}

size_t kiln_damping_bytes(const kiln_damping *damping)
{
    const kiln_damping *d = damping;
    size_t numbers = d->weight.capacity + d->beta.capacity + d->partial.capacity +
                     d->curvature.capacity + d->aside.capacity;
    for (int i = 0; i < 2; i++)
        numbers += d->tet[i].capacity + d->node[i].capacity;
    return sizeof *d + kiln_mass_bytes(d->drag) + d->dampers.capacity * sizeof(kiln_damper) +
           d->passes.capacity + numbers * sizeof(double);
}
