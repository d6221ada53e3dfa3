#include "base/parallel.h"
#include "fem/mass_impl.h"

#include <string.h>

enum { GRAIN = KILN_MASS_GRAIN, SUM_COUNT = KILN_MASS_SUMS };

static double inertia_value(void *self, const double *x);
static double inertia_delta(void *self, const double *x0, const double *x1);
static void inertia_add(void *self, const double *x, double scale, double *g, kiln_bsr *H);

kiln_status kiln_mass_create(kiln_context *context, kiln_mass **out, kiln_error *error)
{
    kiln_mass *mass = kiln_resize(context, NULL, 0, sizeof *mass);
    if (!mass)
        return kiln_fail_memory(error, sizeof *mass);
    *mass = (kiln_mass){
        .context = context,
        .inertia = {.name = "inertia",
                    .self = mass,
                    .weight = 1.0,
                    .value = inertia_value,
                    .delta = inertia_delta,
                    .add = inertia_add},
    };
    *out = mass;
    return KILN_OK;
}

void kiln_mass_destroy(kiln_mass *mass)
{
    if (!mass)
        return;
    kiln_context *context = mass->context;
    kiln_array_free(context, &mass->lumped);
    kiln_array_free(context, &mass->partial);
    kiln_array_free(context, &mass->row);
    kiln_array_free(context, &mass->column);
    kiln_array_free(context, &mass->value);
    kiln_array_free(context, &mass->inverse);
    kiln_array_free(context, &mass->left);
    kiln_array_free(context, &mass->scaled);
    kiln_array_free(context, &mass->way);
    kiln_array_free(context, &mass->along);
    kiln_release(context, mass, sizeof *mass);
}

kiln_mass_kind kiln_mass_kind_of(const kiln_mass *mass)
{
    return mass->kind;
}

const double *kiln_mass_lumped(const kiln_mass *mass)
{
    return mass->lumped.data;
}

KILN_INLINE kiln_vec3 row_of(const double *v, size_t row)
{
    return kiln_v3(v[3 * row], v[3 * row + 1], v[3 * row + 2]);
}

typedef struct mass_job {
    const kiln_mass *mass;
    const double *x, *to, *v;
    double *out;
    kiln_bsr *H;
    double scale;
} mass_job;

/* v - origin, a NULL origin is zero; or, unless `w` is NULL, v - origin + w - origin. */
KILN_INLINE kiln_vec3 offset_of(size_t row, const double *v, const double *w, const double *origin)
{
    kiln_vec3 d = row_of(v, row);
    if (origin)
        d = kiln_v3_sub(d, row_of(origin, row));
    return w ? kiln_v3_add(d, kiln_v3_sub(row_of(w, row), row_of(origin, row))) : d;
}

/* Row of M times that. */
KILN_INLINE kiln_vec3 row_product(const kiln_mass *mass, size_t row, const double *v,
                                  const double *w, const double *origin)
{
    kiln_vec3 sum = {0};
    if (mass->kind == KILN_MASS_LUMPED)
        return kiln_v3_scale(offset_of(row, v, w, origin), mass->lumped.data[row]);
    for (size_t i = mass->row.data[row].begin, end = mass->row.data[row].end; i < end; i++)
        sum = kiln_v3_madd(sum, mass->value.data[i], offset_of(mass->column.data[i], v, w, origin));
    return sum;
}

static void multiply_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const mass_job *job = user;
    for (size_t row = begin; row < end; row++) {
        kiln_vec3 p = row_product(job->mass, row, job->v, NULL, NULL);
        memcpy(job->out + 3 * row, &p, sizeof p);
    }
}

void kiln_mass_multiply(const kiln_mass *mass, const double *v, double *out)
{
    mass_job job = {.mass = mass, .v = v, .out = out};
    kiln_parallel_for(mass->context, mass->rows, GRAIN, multiply_chunk, &job);
}

static void value_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    const mass_job *job = user;
    double sum = 0.0;
    for (size_t row = begin; row < end; row++) {
        kiln_vec3 d = kiln_v3_sub(row_of(job->x, row), row_of(job->v, row));
        sum += kiln_v3_dot(d, row_product(job->mass, row, job->x, NULL, job->v));
    }
    job->mass->partial.data[chunk] = 0.5 * sum;
}

static double sum_chunks(const mass_job *job, kiln_chunk_body body)
{
    const kiln_mass *mass = job->mass;
    kiln_parallel_for(mass->context, mass->rows, GRAIN, body, (void *)(uintptr_t)job);
    double sum = 0.0;
    for (size_t i = 0; i < kiln_chunk_count(mass->rows, GRAIN); i++)
        sum += mass->partial.data[i];
    return sum;
}

static double inertia_value(void *self, const double *x)
{
    const kiln_mass *mass = self;
    mass_job job = {.mass = mass, .x = x, .v = mass->centre};
    return sum_chunks(&job, value_chunk);
}

/* (x1 - x0) M (x0 - centre + x1 - centre) / 2: no difference of squares. */
static void delta_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    const mass_job *job = user;
    double sum = 0.0;
    for (size_t row = begin; row < end; row++) {
        kiln_vec3 way = kiln_v3_sub(row_of(job->to, row), row_of(job->x, row));
        if (way.x == 0.0 && way.y == 0.0 && way.z == 0.0)
            continue;
        sum += kiln_v3_dot(way, row_product(job->mass, row, job->x, job->to, job->v));
    }
    job->mass->partial.data[chunk] = 0.5 * sum;
}

static double inertia_delta(void *self, const double *x0, const double *x1)
{
    const kiln_mass *mass = self;
    mass_job job = {.mass = mass, .x = x0, .to = x1, .v = mass->centre};
    return sum_chunks(&job, delta_chunk);
}

/* H's row holds every column of M's from the diagonal on, both ascending. */
static void add_blocks(const kiln_mass *mass, size_t row, double scale, kiln_bsr *H)
{
    uint64_t block = H->start[row];
    size_t stride;
    if (mass->kind == KILN_MASS_LUMPED) {
        double *at = kiln_bsr_at(H, (uint32_t)row, block, &stride);
        for (size_t k = 0; k < 3; k++)
            at[k * stride + k] += scale * mass->lumped.data[row];
        return;
    }
    for (size_t i = mass->row.data[row].begin, end = mass->row.data[row].end; i < end; i++) {
        if (mass->column.data[i] < row)
            continue;
        while (H->column[block] < mass->column.data[i])
            block++;
        double *at = kiln_bsr_at(H, (uint32_t)row, block, &stride);
        for (size_t k = 0; k < 3; k++)
            at[k * stride + k] += scale * mass->value.data[i];
    }
}

static void add_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const mass_job job = *(const mass_job *)user; /* a copy, which no sum that is written changes */
    for (size_t row = begin; row < end; row++) {
        kiln_vec3 p = row_product(job.mass, row, job.x, NULL, job.v);
        job.out[3 * row] += job.scale * p.x;
        job.out[3 * row + 1] += job.scale * p.y;
        job.out[3 * row + 2] += job.scale * p.z;
        if (job.H)
            add_blocks(job.mass, row, job.scale, job.H);
    }
}

static void inertia_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    kiln_mass *mass = self;
    mass_job job = {.mass = mass, .x = x, .v = mass->centre, .out = g, .H = H, .scale = scale};
    kiln_parallel_for(mass->context, mass->rows, GRAIN, add_chunk, &job);
}

kiln_term *kiln_mass_inertia(kiln_mass *mass, const double *centre)
{
    mass->centre = centre;
    return &mass->inertia;
}

/* Mass, twice the kinetic energy, momentum, angular momentum and first moment of one chunk. */
static void motion_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    const mass_job *job = user;
    double m = 0.0, kinetic = 0.0;
    kiln_vec3 p = {0}, l = {0}, moment = {0};
    for (size_t row = begin; row < end; row++) {
        kiln_vec3 mv = row_product(job->mass, row, job->v, NULL, NULL), at = row_of(job->x, row);
        m += job->mass->lumped.data[row];
        kinetic += kiln_v3_dot(row_of(job->v, row), mv);
        p = kiln_v3_add(p, mv);
        l = kiln_v3_add(l, kiln_v3_cross(at, mv));
        moment = kiln_v3_madd(moment, job->mass->lumped.data[row], at);
    }
    const double sums[SUM_COUNT] = {m,   kinetic, p.x,      p.y,      p.z,     l.x,
                                    l.y, l.z,     moment.x, moment.y, moment.z};
    memcpy(job->mass->partial.data + SUM_COUNT * chunk, sums, sizeof sums);
}

kiln_motion_sums kiln_mass_sums(const kiln_mass *mass, const double *x, const double *v)
{
    mass_job job = {.mass = mass, .x = x, .v = v};
    double s[SUM_COUNT] = {0};
    kiln_parallel_for(mass->context, mass->rows, GRAIN, motion_chunk, &job);
    for (size_t i = 0; i < kiln_chunk_count(mass->rows, GRAIN); i++)
        for (size_t k = 0; k < SUM_COUNT; k++)
            s[k] += mass->partial.data[SUM_COUNT * i + k];
    double inverse = s[0] > 0.0 ? 1.0 / s[0] : 0.0;
    return (kiln_motion_sums){
        .mass = s[0],
        .kinetic = 0.5 * s[1],
        .momentum = kiln_v3(s[2], s[3], s[4]),
        .angular_momentum = kiln_v3(s[5], s[6], s[7]),
        .centre = kiln_v3(inverse * s[8], inverse * s[9], inverse * s[10]),
    };
}

size_t kiln_mass_bytes(const kiln_mass *mass)
{
    return sizeof *mass +
           (mass->lumped.capacity + mass->partial.capacity + mass->value.capacity +
            mass->inverse.capacity + mass->left.capacity + mass->scaled.capacity +
            mass->way.capacity + mass->along.capacity) *
               sizeof(double) +
           mass->row.capacity * sizeof(kiln_mass_row) + mass->column.capacity * sizeof(uint32_t);
}
