#include "fem/yield_surfaces.h"

#include "base/parallel.h"
#include "fem/elements_group.h"

#include <string.h>

enum { LANES = KILN_ELEMENT_LANES };

/* Changes of the thresholds of what flows, relative and in the mean of squares, that are not worth
 * another solve. */
#define SETTLED 5e-4
/* Of matter without stress, which is this part of its threshold: all of it may be deviator. A
 * surface that is too narrow at first may not bear a load that matter does, and a body that has
 * begun to give way is lost. */
#define LITTLE      1e-6
#define FIRST_RATIO 1.0
/* The ratio found at x follows the one that was held: not at all where stresses grow in proportion,
 * with a slope of 1 - ratio^2 where pressure is given. As if this part of it was: more overshoots
 * where it is not. */
#define GIVEN_SHARE 0.25
/* However large the pressure, this part of the threshold is left to the deviator: with none at all
 * it would stay so when the pressure falls. */
#define LEAST_RATIO 1e-3
/* Changes of all ratios point one way when their cosine is above this; then they are taken as the
 * begin of a geometric series, and at most so many times each. */
#define ALIKE       0.8
#define MOST_STRIDE 12.0

static bool counts_pressure(const kiln_material *material)
{
    return kiln_flow_is_within(material) && material->plastic.norm == KILN_YIELD_FROBENIUS;
}

static bool any_of(const kiln_elements *e, bool (*test)(const kiln_material *))
{
    for (size_t m = 0; m < e->materials.count; m++)
        if (test(&e->materials.data[m]))
            return true;
    return false;
}

static double *surface_at(const kiln_elements *e, size_t number)
{
    return e->yield.data + 2 * LANES * (number / LANES) + number % LANES;
}

bool kiln_yield_surface_of(const kiln_elements *elements, size_t number,
                           kiln_yield_surface *surface, double *ratio)
{
    const kiln_elements *e = elements;
    if (e->yield_state != e->state || e->yield.count == 0)
        return false;
    const double *at = surface_at(e, number);
    *surface = (kiln_yield_surface){at[0], at[LANES]};
    *ratio = e->ratio.count ? e->ratio.data[number] : 1.0;
    return true;
}

/* What is left in a tet when it has flowed: with t the deviator of the principal Kirchhoff stresses
 * and s the stretches, |P|^2 at any pressure p is a + 2 b p + c p^2. */
typedef struct kiln_left_stress {
    double pressure, deviator; /* mean of the Kirchhoff stress; |t|^2 */
    double a, b, c;
    double flows; /* 1 or 0 */
} left_stress;

typedef struct ratio_job {
    kiln_elements *e;
    const double *x;
    left_stress *left;    /* [element number] */
    double *now;          /* [element number] ratios at x */
    double *way, *last;   /* [element number] by how much to change them, and the time before */
    double *volume, *sum; /* [vertex] */
} ratio_job;

/* Calls `visit` for the tets of materials whose norm counts pressure, in one order. */
static void each_tet(ratio_job *job, void (*visit)(ratio_job *job, size_t number),
                     uint32_t material)
{
    const kiln_elements *e = job->e;
    for (size_t c = 0; c < e->chunks.count; c++) {
        const kiln_element_chunk *chunk = &e->chunks.data[c];
        size_t first = LANES * (size_t)chunk->batch;
        for (size_t i = 0; i < LANES * (size_t)chunk->batches && chunk->material == material; i++)
            if (e->batches.data[(first + i) / LANES].slot[i % LANES] != KILN_NONE)
                visit(job, first + i);
    }
}

static left_stress stress_left(const kiln_elements *e, const kiln_material *material, size_t number,
                               const kiln_element_group *group, size_t i)
{
    kiln_yield_surface surface = {surface_at(e, number)[0], surface_at(e, number)[LANES]};
    kiln_matter matter = kiln_plastic_matter(e, material, number, group, i);
    kiln_principal f;
    double d[3], tau[3];
    left_stress out = {.flows = kiln_flow_return(&matter, &surface, d) > 0.0 ? 1.0 : 0.0};
    for (int k = 0; k < 3; k++)
        matter.s[k] *= exp(-d[k]);
    kiln_plastic_stress(&matter, &f);
    bool linear = kiln_flow_is_linear(material);
    for (int k = 0; k < 3; k++)
        tau[k] = linear ? f.p[k] : f.p[k] * matter.s[k];
    out.pressure = (tau[0] + tau[1] + tau[2]) / 3.0;
    for (int k = 0; k < 3; k++) {
        double t = tau[k] - out.pressure;
        double over = linear ? 1.0 : 1.0 / (matter.s[k] * matter.s[k]);
        out.deviator += t * t;
        out.a += t * t * over;
        out.b += t * over;
        out.c += over;
    }
    return out;
}

static void stress_chunk(void *user, size_t index, size_t begin, size_t end, int worker)
{
    (void)begin, (void)end, (void)worker;
    const ratio_job *job = user;
    const kiln_elements *e = job->e;
    const kiln_element_chunk *chunk = &e->chunks.data[index];
    const kiln_material *material = kiln_elements_material(e, chunk->material);
    size_t last = (size_t)chunk->batch + chunk->batches;
    kiln_element_group group;
    for (size_t b = chunk->batch; b < last && counts_pressure(material); b += KILN_GROUP_BATCHES) {
        size_t batches = last - b < KILN_GROUP_BATCHES ? last - b : KILN_GROUP_BATCHES;
        kiln_elements_decompose_group(e, job->x, b, batches, &group);
        for (size_t i = 0; i < LANES * batches; i++)
            job->left[LANES * b + i] = stress_left(e, material, LANES * b + i, &group, i);
    }
}

static void sum_pressure(ratio_job *job, size_t number)
{
    const uint32_t *v = job->e->vertex.data + 4 * number;
    double volume = job->e->batches.data[number / LANES].volume[number % LANES];
    for (int k = 0; k < 4; k++) {
        job->volume[v[k]] += volume;
        job->sum[v[k]] += volume * job->left[number].pressure;
    }
}

static void find_ratio(ratio_job *job, size_t number)
{
    const uint32_t *v = job->e->vertex.data + 4 * number;
    const left_stress *left = &job->left[number];
    double p = 0.0;
    for (int k = 0; k < 4; k++)
        p += 0.25 * job->sum[v[k]] / job->volume[v[k]];
    double whole = left->a + 2.0 * p * left->b + p * p * left->c;
    double limit = LITTLE * surface_at(job->e, number)[0];
    job->now[number] = whole > limit * limit
                           ? fmin(fmax(sqrt(left->deviator / whole), LEAST_RATIO), 1.0)
                           : FIRST_RATIO;
}

/* The ratios at x; not yet those of the elements. */
static void find_ratios(ratio_job *job)
{
    kiln_elements *e = job->e;
    kiln_elements_fill_pressure(e, job->x);
    kiln_parallel_for(e->context, e->chunks.count, 1, stress_chunk, job);
    for (uint32_t m = 0; m < e->materials.count; m++) {
        if (!counts_pressure(&e->materials.data[m]))
            continue;
        memset(job->volume, 0, 2 * e->vertices * sizeof *job->volume);
        each_tet(job, sum_pressure, m);
        each_tet(job, find_ratio, m);
    }
}

static bool is_counted(const kiln_elements *e, size_t number)
{
    uint32_t material = e->material_of.data[number / LANES];
    return material != KILN_NONE &&
           e->batches.data[number / LANES].slot[number % LANES] != KILN_NONE &&
           counts_pressure(&e->materials.data[material]);
}

/* By how much the thresholds of what flows would change, as the roots of sums of squares. */
static double find_change(const ratio_job *job)
{
    const kiln_elements *e = job->e;
    double changes = 0.0, all = 0.0;
    for (size_t i = 0; i < kiln_elements_room(e); i++) {
        if (!is_counted(e, i))
            continue;
        double threshold = surface_at(e, i)[0], held = e->ratio.data[i];
        double other = threshold * job->now[i] / held;
        double volume = e->batches.data[i / LANES].volume[i % LANES];
        if (job->left[i].flows == 0.0 && job->left[i].deviator <= other * other)
            continue;
        changes += volume * (other - threshold) * (other - threshold);
        all += volume * threshold * threshold;
    }
    return all > 0.0 ? sqrt(changes / all) : 0.0;
}

/* What the ratios are to change by, to `way`. */
static void find_way(const ratio_job *job)
{
    const kiln_elements *e = job->e;
    for (size_t i = 0; i < kiln_elements_room(e); i++) {
        double held = e->ratio.data[i];
        job->way[i] = is_counted(e, i)
                          ? (job->now[i] - held) / (1.0 - GIVEN_SHARE * (1.0 - held * held))
                          : 0.0;
    }
}

static double dot_ways(const ratio_job *job, const double *a, const double *b)
{
    const kiln_elements *e = job->e;
    double sum = 0.0;
    for (size_t i = 0; i < kiln_elements_room(e); i++)
        if (is_counted(e, i))
            sum += e->batches.data[i / LANES].volume[i % LANES] * a[i] * b[i];
    return sum;
}

/* Where changes shrink slowly, their sum is known from the last two (Aitken). Near a limit load
 * each is 0.95 of the one before, and what is left twenty times the last. */
static double find_stride(const ratio_job *job)
{
    double last = dot_ways(job, job->last, job->last), now = dot_ways(job, job->way, job->way);
    double both = dot_ways(job, job->way, job->last);
    if (!(both > ALIKE * sqrt(last * now)) || !(both < last))
        return 1.0;
    return fmin(1.0 / (1.0 - both / last), MOST_STRIDE);
}

static void take_ratios(const ratio_job *job)
{
    kiln_elements *e = job->e;
    find_way(job);
    double stride = find_stride(job);
    for (size_t i = 0; i < kiln_elements_room(e); i++) {
        if (!is_counted(e, i))
            continue;
        double held = e->ratio.data[i];
        double next = fmin(fmax(held + stride * job->way[i], LEAST_RATIO), 1.0);
        surface_at(e, i)[0] *= next / held;
        e->ratio.data[i] = next;
        job->last[i] = stride == 1.0 ? job->way[i] : 0.0;
    }
    e->state++;
}

static ratio_job job_at(kiln_elements *e, const double *x)
{
    size_t room = kiln_elements_room(e);
    left_stress *left = (left_stress *)(void *)e->ratio_scratch.data;
    double *now = (double *)(void *)(left + room), *way = now + room, *last = way + room;
    double *volume = last + room;
    return (ratio_job){e, x, left, now, way, last, volume, volume + e->vertices};
}

double kiln_yield_surfaces_lag(void *elements, const double *x)
{
    kiln_elements *e = elements;
    if (!kiln_yield_surfaces_follow(e))
        return 0.0;
    ratio_job job = job_at(e, x);
    find_ratios(&job);
    double change = find_change(&job);
    if (change <= SETTLED)
        return 0.0;
    take_ratios(&job);
    return change;
}

/* Thresholds of this moment, with the ratios there are. */
static void fill_surfaces(kiln_elements *e, const kiln_field *hardening)
{
    for (size_t c = 0; c < e->chunks.count; c++) {
        const kiln_element_chunk *chunk = &e->chunks.data[c];
        const kiln_material *material = kiln_elements_material(e, chunk->material);
        size_t first = LANES * (size_t)chunk->batch;
        for (size_t i = first; i < first + LANES * (size_t)chunk->batches; i++) {
            const uint32_t *slots = e->batches.data[i / LANES].slot;
            uint32_t slot = slots[i % LANES] == KILN_NONE ? slots[0] : slots[i % LANES];
            double mu, lambda, *at = surface_at(e, i);
            kiln_elements_lame(e, material, i, &mu, &lambda);
            const kiln_plastic *law = e->laws ? &e->laws[slot] : &material->plastic;
            kiln_yield_surface surface =
                kiln_plastic_surface(law, mu, kiln_field_value(hardening, slot, 0));
            at[0] = surface.threshold * (e->ratio.count ? e->ratio.data[i] : 1.0);
            at[LANES] = surface.growth;
        }
    }
}

static kiln_status begin_ratios(kiln_elements *e, const kiln_mesh *mesh, kiln_error *error)
{
    size_t room = kiln_elements_room(e), each = sizeof(left_stress) + 3 * sizeof(double);
    size_t scratch = room * (each / sizeof(double)) + 2 * e->vertices;
    KILN_TRY(kiln_array_reserve(e->context, &e->ratio, room, error));
    KILN_TRY(kiln_array_reserve(e->context, &e->ratio_scratch, scratch, error));
    e->ratio.count = room;
    for (size_t i = 0; i < room; i++)
        e->ratio.data[i] = 1.0;
    ratio_job job = job_at(e, &mesh->x[0].x);
    memset(job.last, 0, room * sizeof *job.last);
    find_ratios(&job);
    take_ratios(&job);
    return KILN_OK;
}

kiln_status kiln_yield_surfaces_begin(kiln_elements *elements, const kiln_mesh *mesh,
                                      kiln_error *error)
{
    kiln_elements *e = elements;
    const kiln_field *hardening = kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_HARDENING);
    e->state++;
    e->yield.count = e->ratio.count = 0;
    if (!any_of(e, kiln_flow_is_within) || !hardening)
        return KILN_OK;
    size_t room = kiln_elements_room(e);
    KILN_TRY(kiln_array_reserve(e->context, &e->yield, 2 * room, error));
    e->yield.count = 2 * room;
    fill_surfaces(e, hardening);
    if (any_of(e, counts_pressure))
        KILN_TRY(begin_ratios(e, mesh, error));
    e->flowing = true;
    return KILN_OK;
}

void kiln_yield_surfaces_set_laws(kiln_elements *elements, const kiln_plastic *laws,
                                  const kiln_mesh *mesh)
{
    elements->laws = laws;
    elements->state++;
    if (elements->flowing)
        fill_surfaces(elements, kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_HARDENING));
}

bool kiln_yield_surfaces_are_used(const kiln_elements *elements)
{
    return elements->flowing;
}

bool kiln_yield_surfaces_follow(const kiln_elements *elements)
{
    return elements->flowing && elements->ratio.count > 0;
}

void kiln_yield_surfaces_end(kiln_elements *elements)
{
    elements->flowing = false;
    elements->yield_state = ++elements->state;
}

void kiln_yield_surfaces_column(const kiln_elements *elements, double (*surface)[2])
{
    const kiln_elements *e = elements;
    for (size_t n = 0; n < kiln_elements_room(e); n++) {
        uint32_t slot = e->batches.data[n / LANES].slot[n % LANES];
        kiln_yield_surface of = {KILN_NEVER_YIELDS, 0.0};
        double ratio;
        if (slot == KILN_NONE)
            continue;
        if (kiln_flow_is_within(&e->materials.data[e->material_of.data[n / LANES]]))
            kiln_yield_surface_of(e, n, &of, &ratio);
        surface[slot][0] = of.threshold;
        surface[slot][1] = of.growth;
    }
}
