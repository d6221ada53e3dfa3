/* D is a sparse matrix, assembled once at the begin of a step; value and gradient then cost one
 * product with it. Only Rayleigh's alpha with lumped mass needs no matrix: it is a number per
 * vertex. The matrix has a pattern of its own (the tets, and the stars of the nodal pressure where
 * that is damped), which any matrix of a Newton solve contains. */
#include "fem/damping.h"

#include "base/parallel.h"
#include "fem/elements_impl.h"
#include "solve/bsr_spill.h"

#include <string.h>

enum { LANES = KILN_ELEMENT_LANES, GRAIN = 1024 };

struct kiln_damping {
    kiln_context *context;
    kiln_elements *elements; /* borrowed, as are the three below */
    kiln_mass *mass;
    kiln_nodal_pressure *pressure; /* NULL: none */
    const double *viscosity_of;    /* [tet slot], NULL: the materials' */
    const double *origin;
    kiln_term term;
    double tau;
    size_t rows;
    bool stiffness, viscosity, lumped, matrix; /* what there is of each kind */
    kiln_bsr D;
    kiln_f64_array diagonal; /* [vertex slot] alpha times lumped mass */
    kiln_f64_array drag;     /* [element number] alpha times mass, where the mass is consistent */
    kiln_f64_array beta;     /* [material] */
    kiln_f64_array motion;   /* [vertex slot][3] x - origin; with the matrix, as the two below */
    kiln_f64_array product;  /* [vertex slot][3] D (x - origin) */
    kiln_f64_array spilled;
    kiln_f64_array partial; /* [chunk] */
};

static double value(void *self, const double *x);
static double delta(void *self, const double *x0, const double *x1);
static void add(void *self, const double *x, double scale, double *g, kiln_bsr *H);
static kiln_cliques cliques(void *self);

kiln_status kiln_damping_create(kiln_context *context, kiln_elements *elements, kiln_mass *mass,
                                kiln_damping **out, kiln_error *error)
{
    kiln_damping *d = kiln_resize(context, NULL, 0, sizeof *d);
    if (!d)
        return kiln_fail_memory(error, sizeof *d);
    *d = (kiln_damping){
        .context = context,
        .elements = elements,
        .mass = mass,
        .tau = 1.0,
        .term = {.name = "damping",
                 .self = d,
                 .weight = 1.0,
                 .value = value,
                 .delta = delta,
                 .add = add,
                 .cliques = cliques},
    };
    kiln_bsr_init(&d->D, context);
    *out = d;
    return KILN_OK;
}

void kiln_damping_destroy(kiln_damping *damping)
{
    if (!damping)
        return;
    kiln_context *context = damping->context;
    kiln_bsr_free(&damping->D);
    kiln_array_free(context, &damping->diagonal);
    kiln_array_free(context, &damping->drag);
    kiln_array_free(context, &damping->beta);
    kiln_array_free(context, &damping->motion);
    kiln_array_free(context, &damping->product);
    kiln_array_free(context, &damping->spilled);
    kiln_array_free(context, &damping->partial);
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

bool kiln_damping_is_used(const kiln_damping *damping)
{
    return damping->lumped || damping->matrix;
}

kiln_term *kiln_damping_term(kiln_damping *damping)
{
    return &damping->term;
}

static kiln_cliques cliques(void *self)
{
    kiln_damping *d = self;
    if (!d->matrix)
        return (kiln_cliques){0};
    kiln_term *elastic = kiln_elements_term(d->elements);
    return elastic->cliques(elastic->self);
}

/* Sets what there is to damp. True if a nodal pressure is among it. */
static bool survey(kiln_damping *d, bool *drag)
{
    const kiln_elements *e = d->elements;
    bool inertia = false, volumetric = false;
    d->stiffness = false;
    d->viscosity = d->viscosity_of != NULL;
    for (size_t m = 0; m < e->materials.count; m++) {
        const kiln_material *material = &e->materials.data[m];
        if (e->tets_of.data[m] == 0)
            continue;
        inertia |= material->damping_mass > 0.0;
        d->stiffness |= material->damping_stiffness > 0.0;
        d->viscosity |= material->viscosity > 0.0;
        volumetric |= material->damping_stiffness > 0.0 && material->nodal_pressure;
        d->beta.data[m] = material->damping_stiffness;
    }
    d->lumped = inertia && kiln_mass_kind_of(d->mass) == KILN_MASS_LUMPED;
    *drag = inertia && !d->lumped;
    d->matrix = d->stiffness || d->viscosity || *drag;
    return volumetric && d->pressure;
}

/* Alpha times mass, of the vertices or of the elements. */
static void sum_drag(kiln_damping *d, const double *tet_mass)
{
    const kiln_elements *e = d->elements;
    if (d->diagonal.data)
        memset(d->diagonal.data, 0, d->rows * sizeof(double));
    for (size_t n = 0; n < kiln_elements_room(e); n++) {
        uint32_t slot = e->batches.data[n / LANES].slot[n % LANES];
        double drag = 0.0;
        if (slot != KILN_NONE)
            drag = e->materials.data[e->material_of.data[n / LANES]].damping_mass * tet_mass[slot];
        if (d->drag.data)
            d->drag.data[n] = drag;
        else
            for (size_t k = 0; k < 4 && slot != KILN_NONE; k++)
                d->diagonal.data[e->vertex.data[4 * n + k]] += 0.25 * drag;
    }
}

static kiln_status make_matrix(kiln_damping *d, bool volumetric, kiln_error *error)
{
    kiln_term *terms[2] = {kiln_elements_term(d->elements),
                           volumetric ? kiln_nodal_pressure_term(d->pressure) : NULL};
    kiln_cliques sets[2];
    size_t count = 0;
    for (int i = 0; i < 2; i++)
        if (terms[i])
            sets[count++] = terms[i]->cliques(terms[i]->self);
    KILN_TRY(kiln_bsr_set_pattern(&d->D, d->rows, sets, count, error));
    KILN_TRY(kiln_array_reserve(d->context, &d->motion, 3 * d->rows, error));
    KILN_TRY(kiln_array_reserve(d->context, &d->product, 3 * d->rows, error));
    KILN_TRY(kiln_bsr_spill_make(&d->D, error));
    return kiln_array_reserve(d->context, &d->spilled, 3 * d->D.spill->slots, error);
}

kiln_status kiln_damping_build(kiln_damping *damping, const double *tet_mass, kiln_error *error)
{
    kiln_damping *d = damping;
    d->lumped = d->matrix = false;
    d->term.revision++;
    d->rows = d->elements->vertices;
    KILN_TRY(kiln_array_reserve(d->context, &d->beta, d->elements->materials.count, error));
    KILN_TRY(kiln_array_reserve(d->context, &d->partial, kiln_chunk_count(d->rows, GRAIN), error));
    bool drag, volumetric = survey(d, &drag), matrix = d->matrix, lumped = d->lumped;
    d->lumped = d->matrix = false; /* until all of it is there */
    if (!lumped)
        kiln_array_free(d->context, &d->diagonal);
    if (!drag)
        kiln_array_free(d->context, &d->drag);
    if (lumped)
        KILN_TRY(kiln_array_reserve(d->context, &d->diagonal, d->rows, error));
    if (drag)
        KILN_TRY(kiln_array_reserve(d->context, &d->drag, kiln_elements_room(d->elements), error));
    if (lumped || drag)
        sum_drag(d, tet_mass);
    if (matrix)
        KILN_TRY(make_matrix(d, volumetric, error));
    else
        kiln_bsr_free(&d->D);
    d->lumped = lumped;
    d->matrix = matrix;
    return KILN_OK;
}

/* Blocks of one tet, those with a <= b; the others are their transposes. */
typedef double tet_blocks[4][4][3][3];

/* D_ab = eta v ((g_a . g_b) I + g_b g_a' - 2/3 g_a g_b'), g the gradients of the shape functions in
 * space and v the volume there: the force of the stress 2 eta dev(sym grad velocity) is sigma g_a
 * v. A tet that is flat at x_n has no gradients; it is left out. */
static void add_viscous(const kiln_element *e, double viscosity, const double *x, tet_blocks out)
{
    kiln_mat3 F = kiln_element_deformation(e, x);
    double J = kiln_m3_det(F), size = sqrt(kiln_m3_norm2(F));
    if (!(fabs(J) > 1e-9 * size * size * size))
        return;
    kiln_mat3 pull = kiln_m3_transpose(kiln_m3_inverse(F));
    double g[4][3], factor = viscosity * fabs(J) * e->volume;
    for (int a = 0; a < 4; a++) {
        kiln_vec3 v = kiln_m3_apply(pull, e->gradient[a]);
        g[a][0] = v.x, g[a][1] = v.y, g[a][2] = v.z;
    }
    for (int a = 0; a < 4; a++)
        for (int b = a; b < 4; b++) {
            double dot = g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2];
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < 3; k++)
                    out[a][b][i][k] += factor * ((i == k ? dot : 0.0) + g[b][i] * g[a][k] -
                                                 2.0 / 3.0 * g[a][i] * g[b][k]);
        }
}

static void add_inertial(double alpha_mass, tet_blocks out)
{
    for (int a = 0; a < 4; a++)
        for (int b = a; b < 4; b++)
            for (int i = 0; i < 3; i++)
                out[a][b][i][i] += alpha_mass * (a == b ? 0.1 : 0.05);
}

static void scatter(const kiln_elements *e, size_t number, tet_blocks blocks, kiln_bsr *D)
{
    static const uint8_t pair[4][4] = {{0, 0, 1, 2}, {0, 0, 3, 4}, {0, 0, 0, 5}, {0}};
    const kiln_element_batch *batch = &e->batches.data[number / LANES];
    const uint32_t *v = e->vertex.data + 4 * number;
    for (int a = 0; a < 4; a++)
        for (int b = a; b < 4; b++) {
            uint64_t place = a == b ? 0 : batch->place[pair[a][b]][number % LANES];
            size_t stride;
            double *at = kiln_bsr_at(D, v[a], D->start[v[a]] + place, &stride);
            for (size_t i = 0; i < 3; i++)
                for (size_t k = 0; k < 3; k++)
                    at[i * stride + k] += blocks[a][b][i][k];
        }
}

typedef struct damping_job {
    kiln_damping *d;
    const double *x, *from; /* from: NULL, or where a difference is counted from */
    double *g;
    kiln_bsr *H;
    double scale;
    size_t first; /* chunk of elements that number 0 of the loop stands for */
} damping_job;

static void tets_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)begin, (void)end, (void)worker;
    const damping_job *job = user;
    kiln_elements *e = job->d->elements;
    const kiln_element_chunk *c = &e->chunks.data[job->first + chunk];
    const kiln_material *material = &e->materials.data[c->material];
    const double *drag = job->d->drag.data, *viscosity_of = job->d->viscosity_of;
    if (!viscosity_of && material->viscosity == 0.0 && !(drag && material->damping_mass > 0.0))
        return;
    for (size_t n = LANES * (size_t)c->batch; n < LANES * (size_t)(c->batch + c->batches); n++) {
        kiln_element element = kiln_elements_at(e, n);
        if (element.slot == KILN_NONE)
            continue;
        tet_blocks blocks = {{{{0}}}};
        double viscosity = viscosity_of ? viscosity_of[element.slot] : material->viscosity;
        if (viscosity > 0.0)
            add_viscous(&element, viscosity, job->x, blocks);
        if (drag)
            add_inertial(drag[n], blocks);
        scatter(e, n, blocks, &job->d->D);
    }
}

kiln_status kiln_damping_begin(kiln_damping *damping, const double *x_n, const double *origin,
                               double tau, kiln_error *error)
{
    kiln_damping *d = damping;
    d->origin = origin;
    d->tau = tau;
    if (!d->matrix)
        return KILN_OK;
    kiln_elements *e = d->elements;
    kiln_bsr_clear(&d->D);
    KILN_TRY(kiln_elements_attach(e, &d->D, error));
    if (d->stiffness) {
        kiln_elements_add_scaled(e, x_n, d->beta.data, NULL, &d->D);
        if (d->pressure)
            kiln_nodal_pressure_add_scaled(d->pressure, x_n, d->beta.data, &d->D);
    }
    damping_job job = {.d = d, .x = x_n};
    for (size_t c = 0; c + 1 < e->colours.count; c++) {
        job.first = e->colours.data[c];
        kiln_parallel_for(d->context, e->colours.data[c + 1] - job.first, 1, tets_chunk, &job);
    }
    return KILN_OK;
}

KILN_INLINE double motion_of(const damping_job *job, size_t i)
{
    double origin = job->d->origin[i], motion = job->x[i] - origin;
    return job->from ? motion + (job->from[i] - origin) : motion;
}

static void motion_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const damping_job *job = user;
    for (size_t i = 3 * begin; i < 3 * end; i++)
        job->d->motion.data[i] = motion_of(job, i);
}

/* product = D (x - origin), or with `from` D (x - origin + from - origin) */
static void multiply(kiln_damping *d, const double *x, const double *from)
{
    damping_job job = {.d = d, .x = x, .from = from};
    if (!d->matrix)
        return;
    kiln_parallel_for(d->context, d->rows, GRAIN, motion_chunk, &job);
    kiln_bsr_multiply_with(&d->D, d->motion.data, d->product.data, d->spilled.data);
}

static void value_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    const damping_job *job = user;
    const kiln_damping *d = job->d;
    double sum = 0.0;
    for (size_t i = 3 * begin; i < 3 * end; i++) {
        double m = motion_of(job, i), way = job->from ? job->x[i] - job->from[i] : m;
        if (d->lumped)
            sum += d->diagonal.data[i / 3] * m * way;
        if (d->matrix)
            sum += d->product.data[i] * way;
    }
    d->partial.data[chunk] = sum;
}

/* D is symmetric: the difference is (x1 - x0) D (x1 + x0 - 2 origin) / (2 tau), one product. */
static double delta(void *self, const double *x0, const double *x1)
{
    kiln_damping *d = self;
    damping_job job = {.d = d, .x = x1, .from = x0};
    multiply(d, x1, x0);
    kiln_parallel_for(d->context, d->rows, GRAIN, value_chunk, &job);
    double sum = 0.0;
    for (size_t c = 0; c < kiln_chunk_count(d->rows, GRAIN); c++)
        sum += d->partial.data[c];
    return sum / (2.0 * d->tau);
}

static double value(void *self, const double *x)
{
    return delta(self, NULL, x);
}

/* Row of H += scale D; H has every column of D. */
static void add_row(const kiln_bsr *D, double scale, size_t row, kiln_bsr *H)
{
    size_t from_stride = 3 * (size_t)(D->start[row + 1] - D->start[row]);
    size_t to_stride = 3 * (size_t)(H->start[row + 1] - H->start[row]);
    const double *from = D->value + 9 * D->start[row];
    double *to = H->value + 9 * H->start[row];
    if (from_stride == to_stride) {
        for (size_t i = 0; i < 3 * from_stride; i++)
            to[i] += scale * from[i];
        return;
    }
    const uint32_t *column = H->column + H->start[row];
    for (size_t b = 0, at = 0; b < from_stride / 3; b++) {
        while (column[at] != D->column[D->start[row] + b])
            at++;
        for (size_t i = 0; i < 3; i++)
            for (size_t k = 0; k < 3; k++)
                to[i * to_stride + 3 * at + k] += scale * from[i * from_stride + 3 * b + k];
    }
}

static void add_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const damping_job *job = user;
    const kiln_damping *d = job->d;
    for (size_t row = begin; row < end; row++) {
        double lumped = d->lumped ? d->diagonal.data[row] : 0.0;
        for (size_t i = 3 * row; i < 3 * row + 3; i++) {
            if (d->lumped)
                job->g[i] += job->scale * lumped * (job->x[i] - d->origin[i]);
            if (d->matrix)
                job->g[i] += job->scale * d->product.data[i];
        }
        if (!job->H)
            continue;
        size_t stride;
        double *diagonal = kiln_bsr_at(job->H, (uint32_t)row, job->H->start[row], &stride);
        for (size_t k = 0; k < 3; k++)
            diagonal[k * stride + k] += job->scale * lumped;
        if (d->matrix)
            add_row(&d->D, job->scale, row, job->H);
    }
}

static void add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    kiln_damping *d = self;
    damping_job job = {.d = d, .x = x, .g = g, .H = H, .scale = scale / d->tau};
    multiply(d, x, NULL);
    kiln_parallel_for(d->context, d->rows, GRAIN, add_chunk, &job);
}

size_t kiln_damping_bytes(const kiln_damping *damping)
{
    const kiln_damping *d = damping;
    return sizeof *d + kiln_bsr_bytes(&d->D) +
           (d->diagonal.capacity + d->drag.capacity + d->beta.capacity + d->motion.capacity +
            d->product.capacity + d->spilled.capacity + d->partial.capacity) *
               sizeof(double);
}
