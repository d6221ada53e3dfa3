/* Repulsion as a term of the objective. */
#include "base/parallel.h"
#include "contact/repulsion.h"
#include "step/collide_impl.h"

#include <string.h>

/* Of pair i; multiplied by its reach, scale and 1 / reach these are J, N and N/m. */
static kiln_repulsion repulsion_of(const kiln_collide *c, size_t i)
{
    const kiln_surface_pair *pair = kiln_collide_pair(c, i);
    double s = c->distance.data[i].d / pair->reach;
    if (!kiln_collide_is_over(c, i))
        return kiln_repulsion_at(s);
    return kiln_repulsion_over(c->before.data[i] / pair->reach, s, !kiln_collide_is_flat(c, pair),
                               c->calm.data[i]);
}

static double loss_of(const kiln_collide *c, size_t i)
{
    double reach = kiln_collide_pair(c, i)->reach;
    if (!kiln_collide_is_over(c, i) || c->calm.data[i] == 0.0)
        return 0.0;
    return c->scale.data[i] * reach * c->calm.data[i] *
           kiln_repulsion_loss(c->before.data[i] / reach, c->distance.data[i].d / reach);
}

void kiln_collide_visit_walls(kiln_collide *c, const double *x, kiln_see_touch *see, void *user)
{
    kiln_collide_measure(c, x);
    for (size_t a = 0; c->carried && a < c->acting.count; a++) {
        size_t i = c->acting.data[a];
        const kiln_surface_pair *pair = kiln_collide_pair(c, i);
        const kiln_pair_distance *at = &c->distance.data[i];
        bool first = kiln_collide_is_wall(c, pair->v[0]);
        if (first == kiln_collide_is_wall(c, pair->v[3]))
            continue;
        kiln_wall_touch touch = {.vertex = pair->v[first ? 3 : 0],
                                 .lost = loss_of(c, i),
                                 .parting = kiln_collide_parting(pair, at, c->carried),
                                 .near = at->d < pair->reach};
        see(user, &touch);
    }
}

double kiln_collide_load(const kiln_collide *c, size_t i)
{
    return kiln_collide_acts(c, i) ? -c->scale.data[i] * repulsion_of(c, i).slope : 0.0;
}

/* Of pair i or a later one. */
static size_t first_part(const kiln_u32_array *part_of, size_t i)
{
    size_t low = 0, high = part_of->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (part_of->data[middle] < i)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double kiln_collide_pressure(const kiln_collide *c, size_t i)
{
    double load = kiln_collide_load(c, i);
    for (size_t k = first_part(&c->part_of, i); k < c->part_of.count && c->part_of.data[k] == i;
         k++)
        load += kiln_collide_load(c, c->found.pairs.count + k);
    return fmax(load, 0.0);
}

typedef struct energy_job {
    const kiln_collide *collide;
    double *energy;
} energy_job;

static double energy_of(const kiln_collide *c, size_t i)
{
    return c->scale.data[i] * kiln_collide_pair(c, i)->reach * repulsion_of(c, i).value;
}

static void energy_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const energy_job *job = user;
    const kiln_collide *c = job->collide;
    for (size_t a = begin; a < end; a++) {
        size_t i = c->acting.data[a];
        job->energy[i] = energy_of(c, i);
    }
}

/* The energies of all pairs at x, J, in the room that was reserved when the pairs were found. */
static const double *measure_energies(kiln_collide *c, const double *x)
{
    kiln_collide_measure(c, x);
    size_t pairs = c->found.pairs.count;
    energy_job job = {
        c, kiln_kept_values_begin(&c->kept, c->context, 3 * c->given->rows, pairs, c->state, x)};
    if (pairs)
        memset(job.energy, 0, pairs * sizeof *job.energy);
    kiln_parallel_for(c->context, c->acting.count - c->part_of.count, KILN_COLLIDE_GRAIN,
                      energy_chunk, &job);
    for (size_t k = 0; k < c->part_of.count; k++)
        job.energy[c->part_of.data[k]] += energy_of(c, pairs + k);
    return job.energy;
}

static double sum_of(kiln_collide *c, const double *energy, const double *x)
{
    double sum = 0.0;
    if (c->part_of.count) /* whose pairs need not act */
        for (size_t i = 0; i < c->found.pairs.count; i++)
            sum += energy[i];
    else
        for (size_t a = 0; a < c->acting.count; a++)
            sum += energy[c->acting.data[a]];
    if (c->failure != KILN_OK)
        return INFINITY;
    *kiln_kept_values_begin(&c->totals, c->context, 3 * c->given->rows, 1, c->solve, x) = sum;
    return sum;
}

static double repulsion_value(void *self, const double *x)
{
    kiln_collide *c = self;
    kiln_kept_values_forget(&c->kept);
    return sum_of(c, measure_energies(c, x), x);
}

/* Pair by pair where both places have the same; else of the sums, of which the first is known. */
static double repulsion_delta(void *self, const double *x0, const double *x1)
{
    kiln_collide *c = self;
    size_t size = 3 * c->given->rows;
    if (!kiln_collide_has_room(c, x0, NULL) || !kiln_collide_has_room(c, x1, NULL)) {
        const double *total = kiln_kept_values_find(&c->totals, size, 1, c->solve, x0);
        double before = total ? *total : repulsion_value(c, x0);
        return repulsion_value(c, x1) - before;
    }
    size_t pairs = c->found.pairs.count;
    const double *before = kiln_kept_values_find(&c->kept, size, pairs, c->state, x0);
    if (!before)
        before = measure_energies(c, x0);
    const double *after = measure_energies(c, x1);
    double sum = 0.0;
    for (size_t i = 0; i < pairs; i++)
        sum += after[i] - before[i];
    (void)sum_of(c, after, x1);
    return sum;
}

typedef struct push_job {
    kiln_collide *collide;
    double scale;
} push_job;

/* What both sides of a hollow have in common. Its Hessian is that of the rest turned round: along
 * the normal it takes from what they have, and across it the force turns from one side to the
 * other, which is all there is to hold a vertex in the hollow. */
static double taken_away(const kiln_collide *c, size_t i, double slope)
{
    return slope / (c->distance.data[i].d + kiln_collide_pair(c, i)->clearance);
}

static void push_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const push_job *job = user;
    kiln_collide *c = job->collide;
    for (size_t a = begin; a < end; a++) {
        size_t i = c->acting.data[a];
        kiln_repulsion b = repulsion_of(c, i);
        double force = job->scale * c->scale.data[i];
        c->push.data[2 * a] = force * b.slope;
        c->push.data[2 * a + 1] = force * b.curvature / kiln_collide_pair(c, i)->reach;
        if (c->push.data[2 * a] > 0.0)
            c->push.data[2 * a + 1] = taken_away(c, i, c->push.data[2 * a]);
    }
}

/* H += m (x) w w', m 3x3 by its upper half, over the pairs of four vertices. Without blocks for
 * those the diagonal 4 w_k^2 m, which is no smaller. */
static void add_blocks(const kiln_row_band *rows, const uint32_t v[4], const double w[4],
                       const double m[3][3], bool coupled)
{
    double block[3][3];
    for (int k = 0; k < 4; k++)
        for (int l = k; l < 4; l++) {
            double factor = coupled ? w[k] * w[l] : k == l ? 4.0 * w[k] * w[k] : 0.0;
            if (factor == 0.0 || !kiln_collide_has_row(rows, v[k] < v[l] ? v[k] : v[l]))
                continue;
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < 3; s++)
                    block[r][s] = factor * m[r][s];
            kiln_bsr_add(rows->H, v[k], v[l], (const double(*)[3])block);
        }
}

/* The direction across the normal and an edge; false: it is at a corner. */
static bool find_across(const kiln_collide *c, size_t i, kiln_vec3 *across)
{
    const kiln_vec3 *x = kiln_collide_points(c->measured.data);
    const kiln_pair_distance *at = &c->distance.data[i];
    const uint32_t *v = kiln_collide_pair(c, i)->v;
    int end[3], count = 0;
    for (int k = 1; k < 4; k++)
        if (at->weight[k] != 0.0)
            end[count++] = k;
    if (count != 2)
        return false;
    *across = kiln_v3_normalize(kiln_v3_cross(kiln_v3_sub(x[v[end[1]]], x[v[end[0]]]), at->normal));
    return true;
}

/* Where something is taken away: m becomes what holds a vertex across the normal. */
static void turn_across(const kiln_collide *c, size_t i, double stiffness, double m[3][3])
{
    kiln_vec3 along = c->distance.data[i].normal;
    bool round = !find_across(c, i, &along);
    const double n[3] = {along.x, along.y, along.z};
    for (int r = 0; r < 3; r++)
        for (int s = 0; s < 3; s++)
            m[r][s] = stiffness * (round ? (r == s) - n[r] * n[s] : n[r] * n[s]);
}

/* The Hessian as it is (set_near); false: it has none, or no blocks for it. */
static bool add_true(const kiln_collide *c, size_t a, const kiln_row_band *rows)
{
    size_t i = c->acting.data[a];
    const kiln_surface_pair *pair = kiln_collide_pair(c, i);
    const kiln_pair_distance *at = &c->distance.data[i];
    const kiln_repulsion b = repulsion_of(c, i);
    const double n[3] = {at->normal.x, at->normal.y, at->normal.z}, slope = c->push.data[2 * a];
    double block[4][4][3][3];
    if (!c->coupled.data[a] || b.slope == 0.0 ||
        !kiln_surface_pair_turning(pair, kiln_collide_points(c->measured.data), at, block))
        return false;
    double curvature = slope / b.slope * b.curvature / pair->reach;
    for (int k = 0; k < 4; k++)
        for (int l = k; l < 4; l++) {
            uint32_t first = pair->v[k] < pair->v[l] ? pair->v[k] : pair->v[l];
            double along = curvature * at->weight[k] * at->weight[l];
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < 3; s++)
                    block[k][l][r][s] = along * n[r] * n[s] + slope * block[k][l][r][s];
            if (at->weight[k] * at->weight[l] != 0.0 && kiln_collide_has_row(rows, first))
                kiln_bsr_add(rows->H, pair->v[k], pair->v[l], (const double(*)[3])block[k][l]);
        }
    return true;
}

/* Of the Hessian only the part along the normal: what the turning of the normal adds is negative
 * where the pair repels. */
static void add_pushes(const void *user, const kiln_row_band *rows)
{
    const kiln_collide *c = user;
    for (size_t a = 0; a < c->acting.count; a++) {
        size_t i = c->acting.data[a];
        const uint32_t *v = kiln_collide_pair(c, i)->v;
        const kiln_pair_distance *at = &c->distance.data[i];
        double slope = c->push.data[2 * a], curvature = c->push.data[2 * a + 1], m[3][3];
        if (!kiln_collide_has_any(rows, v))
            continue;
        for (int k = 0; k < 4; k++)
            if (kiln_collide_has_row(rows, v[k]))
                kiln_collide_add_at(rows->g, v[k], slope * at->weight[k], at->normal);
        if (!rows->H || (c->exact && add_true(c, a, rows)))
            continue;
        const double n[3] = {at->normal.x, at->normal.y, at->normal.z};
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
                m[r][s] = curvature * n[r] * n[s];
        if (slope > 0.0)
            turn_across(c, i, curvature, m);
        add_blocks(rows, v, at->weight, (const double(*)[3])m, c->coupled.data[a]);
    }
}

/* For what acts, beside what there is. Otherwise nothing is noted, and Newton fails (C4). */
static bool has_room_to_note(kiln_collide *c)
{
    size_t count = c->stiff.count + c->acting.count;
    if (c->failure == KILN_OK)
        c->failure = kiln_array_reserve(c->context, &c->stiff, count, &c->trouble);
    if (c->failure == KILN_OK)
        c->failure = kiln_array_reserve(c->context, &c->noted, count, &c->trouble);
    return c->failure == KILN_OK;
}

static void note_stiff(kiln_collide *c, size_t a, double stiffness)
{
    size_t i = c->acting.data[a];
    const kiln_pair_distance *at = &c->distance.data[i];
    kiln_vec3 along = at->normal;
    if (c->push.data[2 * a] > 0.0 && !find_across(c, i, &along))
        return; /* a corner: what the matrix has of it stays */
    kiln_stiff_pair *stiff = &c->stiff.data[c->stiff.count++];
    *stiff = (kiln_stiff_pair){.normal = along, .stiffness = stiffness};
    memcpy(stiff->v, kiln_collide_pair(c, i)->v, sizeof stiff->v);
    memcpy(stiff->weight, at->weight, sizeof stiff->weight);
}

/* Where the matrix has no blocks for a pair, what it got instead stays: it is no smaller. */
static void note_given(kiln_collide *c, double scale)
{
    c->stiff.count = c->stiff_given = 0;
    if (!has_room_to_note(c))
        return;
    for (size_t a = 0; a < c->acting.count; a++)
        if (c->coupled.data[a])
            note_stiff(c, a, -c->push.data[2 * a + 1] / scale);
    c->stiff_given = c->stiff.count;
}

static void repulsion_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    kiln_collide *c = self;
    push_job job = {c, scale};
    kiln_collide_measure(c, x);
    if (H)
        kiln_collide_find_coupled(c);
    kiln_parallel_for(c->context, c->acting.count, KILN_COLLIDE_GRAIN, push_chunk, &job);
    kiln_collide_scatter(c, c->acting.count, add_pushes, c, g, H);
    if (H)
        note_given(c, scale);
}

static void repulsion_note(void *self, const double *x)
{
    kiln_collide *c = self;
    push_job job = {c, 1.0};
    kiln_collide_measure(c, x);
    kiln_parallel_for(c->context, c->acting.count, KILN_COLLIDE_GRAIN, push_chunk, &job);
    c->stiff.count = c->stiff_given;
    if (!has_room_to_note(c))
        return;
    for (size_t a = 0; a < c->acting.count; a++)
        note_stiff(c, a, c->push.data[2 * a + 1]);
}

typedef struct note_job {
    kiln_collide *collide;
    double scale;
    const kiln_vec3 *v;
} note_job;

static void noted_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const note_job *job = user;
    kiln_collide *c = job->collide;
    for (size_t i = begin; i < end; i++) {
        const kiln_stiff_pair *stiff = &c->stiff.data[i];
        double along = 0.0;
        for (int k = 0; k < 4; k++)
            along += stiff->weight[k] * kiln_v3_dot(stiff->normal, job->v[stiff->v[k]]);
        c->noted.data[i] = kiln_v3_scale(stiff->normal, job->scale * stiff->stiffness * along);
    }
}

static void add_noted(const void *user, const kiln_row_band *rows)
{
    const kiln_collide *c = user;
    for (size_t i = 0; i < c->stiff.count; i++) {
        const kiln_stiff_pair *stiff = &c->stiff.data[i];
        for (int k = 0; k < 4; k++)
            if (kiln_collide_has_row(rows, stiff->v[k]))
                kiln_collide_add_at(rows->g, stiff->v[k], stiff->weight[k], c->noted.data[i]);
    }
}

static void repulsion_add_noted(void *self, double scale, const double *v, double *out)
{
    kiln_collide *c = self;
    note_job job = {c, scale, kiln_collide_points(v)};
    kiln_parallel_for(c->context, c->stiff.count, KILN_COLLIDE_GRAIN, noted_chunk, &job);
    kiln_collide_scatter(c, c->stiff.count, add_noted, c, out, NULL);
}

static bool repulsion_set_exact(void *self, bool exact)
{
    kiln_collide *c = self;
    c->exact = exact && c->near;
    return c->near;
}

static void repulsion_set_near(void *self, bool near)
{
    kiln_collide *c = self;
    c->near = near;
}

static kiln_cliques repulsion_cliques(void *self)
{
    const kiln_collide *c = self;
    return (kiln_cliques){.count = c->cliques.count / 4, .size = 4, .row = c->cliques.data};
}

kiln_term kiln_collide_repulsion_term(kiln_collide *c)
{
    return (kiln_term){.name = "repulsion",
                       .self = c,
                       .weight = 1.0,
                       .value = repulsion_value,
                       .delta = repulsion_delta,
                       .add = repulsion_add,
                       .set_exact = repulsion_set_exact,
                       .set_near = repulsion_set_near,
                       .note = repulsion_note,
                       .add_noted = repulsion_add_noted,
                       .max_step = kiln_collide_max_step,
                       .renew = kiln_collide_expect,
                       .cliques = repulsion_cliques,
                       .passing = true};
}
