#include "step/spin.h"

#include "base/parallel.h"

#include <string.h>

enum { GRAIN = 2048 }; /* rows of a piece */

void kiln_spin_free(kiln_spin *s)
{
    kiln_array_free(s->context, &s->rows);
    kiln_array_free(s->context, &s->first);
    kiln_array_free(s->context, &s->parts);
    kiln_array_free(s->context, &s->pieces);
    kiln_array_free(s->context, &s->noted);
    kiln_array_free(s->context, &s->arm);
    kiln_array_free(s->context, &s->momentum);
}

size_t kiln_spin_bytes(const kiln_spin *s)
{
    return (s->rows.capacity + s->first.capacity) * sizeof(uint32_t) +
           s->parts.capacity * sizeof *s->parts.data + s->pieces.capacity * sizeof *s->pieces.data +
           s->noted.capacity * sizeof *s->noted.data +
           (s->arm.capacity + s->momentum.capacity) * sizeof(double);
}

uint32_t kiln_spin_part_of(const kiln_spin *s, uint32_t vertex)
{
    return s->mesh->info[s->mesh->vertex[vertex].tet].part;
}

/* Rows by part, in their order. */
static kiln_status sort_rows(kiln_spin *s, kiln_error *error)
{
    uint32_t slots = s->mesh->table[KILN_ON_VERTEX].used, begin = 0;
    KILN_TRY(kiln_array_reserve(s->context, &s->rows, slots, error));
    for (uint32_t v = 0; v < slots; v++)
        if (kiln_vertex_live(s->mesh, v))
            s->parts.data[kiln_spin_part_of(s, v)].end++;
    for (size_t p = 0; p < s->parts.count; p++) {
        kiln_spin_part *part = &s->parts.data[p];
        part->begin = begin;
        begin += part->end;
        part->end = part->begin;
    }
    for (uint32_t v = 0; v < slots; v++)
        if (kiln_vertex_live(s->mesh, v))
            s->rows.data[s->parts.data[kiln_spin_part_of(s, v)].end++] = v;
    s->rows.count = begin;
    return KILN_OK;
}

static kiln_status cut_pieces(kiln_spin *s, kiln_error *error)
{
    s->pieces.count = 0;
    for (size_t p = 0; p < s->parts.count; p++) {
        kiln_spin_part *part = &s->parts.data[p];
        part->piece = (uint32_t)s->pieces.count;
        for (uint32_t at = part->begin; at < part->end; at += GRAIN) {
            uint32_t end = part->end - at > GRAIN ? at + GRAIN : part->end;
            kiln_spin_piece piece = {.part = (uint32_t)p, .begin = at, .end = end};
            KILN_TRY(kiln_array_push(s->context, &s->pieces, piece, error));
        }
    }
    return KILN_OK;
}

static void weigh(kiln_spin *s)
{
    const double *mass = kiln_mass_lumped(s->mass);
    for (size_t p = 0; p < s->parts.count; p++) {
        kiln_spin_part *part = &s->parts.data[p];
        for (uint32_t i = part->begin; i < part->end; i++)
            part->mass += mass[s->rows.data[i]];
    }
}

kiln_status kiln_spin_build(kiln_spin *s, const kiln_mesh *mesh, const kiln_mass *mass,
                            kiln_error *error)
{
    size_t slots = mesh->table[KILN_ON_VERTEX].used, count = mesh->parts.count;
    s->mesh = mesh;
    s->mass = mass;
    KILN_TRY(kiln_array_reserve(s->context, &s->arm, 3 * slots, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->momentum, 3 * slots, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->parts, count, error));
    s->parts.count = count;
    for (size_t p = 0; p < count; p++)
        s->parts.data[p] = (kiln_spin_part){.parent = KILN_NONE};
    KILN_TRY(sort_rows(s, error));
    weigh(s);
    return cut_pieces(s, error);
}

/* Islands. */

void kiln_spin_begin(kiln_spin *s, const double *x)
{
    const kiln_vec3 *at = (const kiln_vec3 *)(const void *)x;
    for (size_t p = 0; p < s->parts.count; p++) {
        kiln_spin_part *part = &s->parts.data[p];
        part->turned = part->stiff || part->begin == part->end;
        part->acts = false;
        part->parent = KILN_NONE;
        part->flow = part->wanted = part->push = kiln_v3(0, 0, 0);
        if (part->begin < part->end)
            part->point = at[s->rows.data[part->begin]];
    }
}

uint32_t kiln_spin_island_of(const kiln_spin *s, uint32_t part)
{
    while (s->parts.data[part].parent != KILN_NONE)
        part = s->parts.data[part].parent;
    return part;
}

/* The tree hangs from `part`, which was no root perhaps. */
static void lift(kiln_spin *s, uint32_t part)
{
    uint32_t below = KILN_NONE, joint = KILN_NONE;
    kiln_vec3 flow = kiln_v3(0, 0, 0);
    while (part != KILN_NONE) {
        kiln_spin_part *at = &s->parts.data[part], old = *at;
        at->parent = below;
        at->joint = joint;
        at->flow = kiln_v3_scale(flow, -1.0);
        below = part;
        joint = old.joint;
        flow = old.flow;
        part = old.parent;
    }
}

static void join(kiln_spin *s, uint32_t part, uint32_t to, uint32_t vertex)
{
    if (kiln_spin_island_of(s, part) == kiln_spin_island_of(s, to))
        return;
    lift(s, part);
    s->parts.data[part].parent = to;
    s->parts.data[part].joint = vertex;
}

void kiln_spin_join(kiln_spin *s, uint32_t vertex, uint32_t other)
{
    uint32_t part = kiln_spin_part_of(s, vertex), to = kiln_spin_part_of(s, other);
    if (part == to)
        return;
    s->parts.data[part].acts = s->parts.data[to].acts = true;
    join(s, part, to, vertex);
}

void kiln_spin_part_ways(kiln_spin *s)
{
    for (size_t p = 0; p < s->parts.count; p++) {
        s->parts.data[p].root = (uint32_t)p;
        s->parts.data[p].free = !s->parts.data[p].turned;
    }
}

bool kiln_spin_settle(kiln_spin *s)
{
    bool any = false;
    for (size_t p = 0; p < s->parts.count; p++) {
        s->parts.data[p].root = kiln_spin_island_of(s, (uint32_t)p);
        s->parts.data[p].free = true;
    }
    for (size_t p = 0; p < s->parts.count; p++)
        if (s->parts.data[p].turned)
            s->parts.data[s->parts.data[p].root].free = false;
    for (size_t p = 0; p < s->parts.count && !any; p++)
        any = s->parts.data[s->parts.data[p].root].free;
    return any;
}

/* What was an island not long ago. */

enum { MEMORY = 24, LABEL = 32 }; /* steps, until a third of a third ... is nothing */

static uint32_t word_of(const kiln_spin *s, const uint32_t *met, size_t part)
{
    const kiln_spin_part *p = &s->parts.data[part];
    return p->begin < p->end ? met[s->rows.data[p->begin]] : 0;
}

kiln_status kiln_spin_recall(kiln_spin *s, const uint32_t *met, bool *any, kiln_error *error)
{
    uint32_t labels = 0;
    *any = false;
    for (size_t p = 0; p < s->parts.count; p++) {
        uint32_t label = word_of(s, met, p) / LABEL;
        labels = label > labels ? label : labels;
    }
    if (labels == 0)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(s->context, &s->first, labels + 1, error));
    memset(s->first.data, 0xFF, (labels + 1) * sizeof *s->first.data);
    for (size_t p = 0; p < s->parts.count; p++) {
        const kiln_spin_part *part = &s->parts.data[p];
        uint32_t label = word_of(s, met, p) / LABEL, *first = &s->first.data[label];
        if (label == 0 || !s->parts.data[kiln_spin_island_of(s, (uint32_t)p)].free)
            continue;
        if (*first == KILN_NONE)
            *first = (uint32_t)p;
        else if (kiln_spin_island_of(s, (uint32_t)p) != kiln_spin_island_of(s, *first)) {
            join(s, (uint32_t)p, *first, s->rows.data[part->begin]);
            s->parts.data[kiln_spin_island_of(s, (uint32_t)p)].free = *any = true;
        }
    }
    return KILN_OK;
}

void kiln_spin_remember(kiln_spin *s, uint32_t *met)
{
    for (size_t p = 0; p < s->parts.count; p++)
        s->parts.data[p].left = 0;
    for (size_t p = 0; p < s->parts.count; p++) {
        uint32_t left = word_of(s, met, p) % LABEL, *most;
        most = &s->parts.data[kiln_spin_island_of(s, (uint32_t)p)].left;
        left = s->parts.data[p].acts ? MEMORY : left > 0 ? left - 1 : 0;
        *most = left > *most ? left : *most;
    }
    for (size_t p = 0; p < s->parts.count; p++) {
        const kiln_spin_part *part = &s->parts.data[p];
        uint32_t root = kiln_spin_island_of(s, (uint32_t)p), left = s->parts.data[root].left;
        for (uint32_t i = part->begin; i < part->end; i++)
            met[s->rows.data[i]] = left ? LABEL * (root + 1) + left : 0;
    }
}

/* Sums over parts, piece by piece. */

typedef struct survey {
    kiln_spin *spin;
    const double *x, *other; /* places; the mean with `other`, unless that is NULL */
    const double *vector;
    double *v; /* to be turned */
    bool second;
} survey;

KILN_INLINE kiln_vec3 row_of(const double *v, size_t row)
{
    return kiln_v3(v[3 * row], v[3 * row + 1], v[3 * row + 2]);
}

KILN_INLINE kiln_mat3 outer(kiln_vec3 a, kiln_vec3 b)
{
    return kiln_m3_columns(kiln_v3_scale(a, b.x), kiln_v3_scale(a, b.y), kiln_v3_scale(a, b.z));
}

static bool is_free(const kiln_spin *s, const kiln_spin_part *part)
{
    return s->parts.data[part->root].free;
}

KILN_INLINE kiln_vec3 arm_of(const survey *job, const kiln_spin_part *part, uint32_t row)
{
    kiln_vec3 at = row_of(job->x, row);
    if (job->other)
        at = kiln_v3_lerp(at, row_of(job->other, row), 0.5);
    return kiln_v3_sub(at, part->point);
}

static void sum_piece(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const survey *job = user;
    kiln_spin *s = job->spin;
    const double *mass = kiln_mass_lumped(s->mass);
    for (size_t i = begin; i < end; i++) {
        kiln_spin_piece *piece = &s->pieces.data[i];
        const kiln_spin_part *part = &s->parts.data[piece->part];
        kiln_spin_sums sums = {0};
        for (uint32_t at = piece->begin; is_free(s, part) && at < piece->end; at++) {
            uint32_t row = s->rows.data[at];
            kiln_vec3 arm = arm_of(job, part, row), q = row_of(job->vector, row);
            sums.sum = kiln_v3_add(sums.sum, q);
            sums.moment = kiln_v3_add(sums.moment, kiln_v3_cross(arm, q));
            sums.first = kiln_v3_madd(sums.first, mass[row], arm);
            if (job->second)
                sums.second = kiln_m3_add(sums.second, outer(arm, q));
        }
        piece->now = sums;
    }
}

static void take_sums(survey *job)
{
    kiln_spin *s = job->spin;
    kiln_parallel_for(s->context, s->pieces.count, 1, sum_piece, job);
    for (size_t p = 0; p < s->parts.count; p++)
        s->parts.data[p].now = (kiln_spin_sums){0};
    for (size_t i = 0; i < s->pieces.count; i++) {
        const kiln_spin_sums *part = &s->pieces.data[i].now;
        kiln_spin_sums *sums = &s->parts.data[s->pieces.data[i].part].now;
        sums->sum = kiln_v3_add(sums->sum, part->sum);
        sums->moment = kiln_v3_add(sums->moment, part->moment);
        sums->first = kiln_v3_add(sums->first, part->first);
        sums->second = kiln_m3_add(sums->second, part->second);
    }
}

/* From the point of the root to that of a part of its island. */
static kiln_vec3 way_to(const kiln_spin *s, const kiln_spin_part *part)
{
    return kiln_v3_sub(part->point, s->parts.data[part->root].point);
}

static void find_centres(kiln_spin *s)
{
    for (size_t p = 0; p < s->parts.count; p++) {
        s->parts.data[p].centre = kiln_v3(0, 0, 0);
        s->parts.data[p].all = 0.0;
    }
    for (size_t p = 0; p < s->parts.count; p++) {
        const kiln_spin_part *part = &s->parts.data[p];
        kiln_spin_part *root = &s->parts.data[part->root];
        root->all += part->mass;
        root->centre =
            kiln_v3_add(root->centre, kiln_v3_madd(part->now.first, part->mass, way_to(s, part)));
    }
    for (size_t p = 0; p < s->parts.count; p++)
        if (s->parts.data[p].all > 0.0)
            s->parts.data[p].centre =
                kiln_v3_scale(s->parts.data[p].centre, 1.0 / s->parts.data[p].all);
}

/* wanted += weight times the moments about the centres. */
static void want(survey *job, double weight)
{
    kiln_spin *s = job->spin;
    take_sums(job);
    find_centres(s);
    for (size_t p = 0; p < s->parts.count; p++) {
        const kiln_spin_part *part = &s->parts.data[p];
        kiln_spin_part *root = &s->parts.data[part->root];
        kiln_vec3 arm = kiln_v3_sub(way_to(s, part), root->centre);
        kiln_vec3 moment = kiln_v3_add(part->now.moment, kiln_v3_cross(arm, part->now.sum));
        root->wanted = kiln_v3_madd(root->wanted, weight, moment);
        root->push = kiln_v3_madd(root->push, weight, part->now.sum);
    }
}

void kiln_spin_want_motion(kiln_spin *s, double weight, const double *x, const double *v)
{
    kiln_mass_multiply(s->mass, v, s->momentum.data);
    survey job = {.spin = s, .x = x, .vector = s->momentum.data};
    want(&job, weight);
}

void kiln_spin_want_torque(kiln_spin *s, double weight, const double *x, const double *other,
                           const double *force)
{
    survey job = {.spin = s, .x = x, .other = other, .vector = force};
    want(&job, weight);
}

/* Turning. */

static void arm_piece(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const survey *job = user;
    kiln_spin *s = job->spin;
    for (size_t i = begin; i < end; i++) {
        const kiln_spin_piece *piece = &s->pieces.data[i];
        for (uint32_t at = piece->begin; at < piece->end; at++) {
            uint32_t row = s->rows.data[at];
            kiln_vec3 arm = arm_of(job, &s->parts.data[piece->part], row);
            memcpy(s->arm.data + 3 * (size_t)row, &arm, sizeof arm);
        }
    }
}

/* Second moments of a part about the centre of its island. */
static kiln_mat3 second_about_centre(const kiln_spin *s, const kiln_spin_part *part)
{
    kiln_vec3 arm = kiln_v3_sub(way_to(s, part), s->parts.data[part->root].centre);
    kiln_mat3 sum = kiln_m3_add(part->now.second, outer(part->now.first, arm));
    sum = kiln_m3_add(sum, outer(arm, part->now.first));
    return kiln_m3_add(sum, kiln_m3_scale(outer(arm, arm), part->mass));
}

/* With the inertia tr C - C of the second moments C of M: arms times M times arms. */
static void find_rates(kiln_spin *s, const double *x, bool moves)
{
    survey job = {.spin = s, .x = x, .vector = s->momentum.data, .second = true};
    memset(s->arm.data, 0, 3 * s->mesh->table[KILN_ON_VERTEX].used * sizeof(double));
    kiln_parallel_for(s->context, s->pieces.count, 1, arm_piece, &job);
    kiln_mass_multiply(s->mass, s->arm.data, s->momentum.data);
    take_sums(&job);
    find_centres(s);
    for (size_t p = 0; p < s->parts.count; p++)
        s->parts.data[p].second = kiln_m3_diagonal(0, 0, 0);
    for (size_t p = 0; p < s->parts.count; p++) {
        const kiln_spin_part *part = &s->parts.data[p];
        kiln_mat3 *sum = &s->parts.data[part->root].second;
        *sum = kiln_m3_add(*sum, second_about_centre(s, part));
    }
    for (size_t p = 0; p < s->parts.count; p++) {
        kiln_spin_part *root = &s->parts.data[p];
        double trace = root->second.m[0][0] + root->second.m[1][1] + root->second.m[2][2];
        kiln_mat3 inertia =
            kiln_m3_add(kiln_m3_diagonal(trace, trace, trace), kiln_m3_scale(root->second, -1.0));
        root->rate = kiln_m3_det(inertia) > 0.0
                         ? kiln_m3_apply(kiln_m3_inverse(inertia), root->wanted)
                         : kiln_v3(0, 0, 0);
        root->shift = moves && root->all > 0.0 ? kiln_v3_scale(root->push, 1.0 / root->all)
                                               : kiln_v3(0, 0, 0);
        root->wanted = root->push = kiln_v3(0, 0, 0);
    }
}

static void turn_piece(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const survey *job = user;
    const kiln_spin *s = job->spin;
    for (size_t i = begin; i < end; i++) {
        const kiln_spin_piece *piece = &s->pieces.data[i];
        const kiln_spin_part *part = &s->parts.data[piece->part];
        const kiln_spin_part *root = &s->parts.data[part->root];
        kiln_vec3 shift = kiln_v3_sub(way_to(s, part), root->centre);
        for (uint32_t at = piece->begin; root->free && at < piece->end; at++) {
            uint32_t row = s->rows.data[at];
            kiln_vec3 arm = kiln_v3_add(arm_of(job, part, row), shift);
            kiln_vec3 v = kiln_v3_add(row_of(job->v, row), kiln_v3_cross(root->rate, arm));
            v = kiln_v3_add(v, root->shift);
            memcpy(job->v + 3 * (size_t)row, &v, sizeof v);
        }
    }
}

void kiln_spin_turn(kiln_spin *s, const double *x, double *v, bool moves)
{
    survey job = {.spin = s, .x = x, .v = v};
    kiln_spin_want_motion(s, -1.0, x, v);
    find_rates(s, x, moves);
    kiln_parallel_for(s->context, s->pieces.count, 1, turn_piece, &job);
}

void kiln_spin_rigid(kiln_spin *s, const double *x, const double *v, double *rigid)
{
    memset(rigid, 0, 3 * s->mesh->table[KILN_ON_VERTEX].used * sizeof *rigid);
    for (size_t p = 0; p < s->parts.count; p++) {
        kiln_spin_part *part = &s->parts.data[p];
        part->root = (uint32_t)p;
        part->free = part->begin < part->end;
        part->wanted = part->push = kiln_v3(0, 0, 0);
        if (part->free)
            part->point = row_of(x, s->rows.data[part->begin]);
    }
    kiln_spin_want_motion(s, 1.0, x, v);
    kiln_spin_turn(s, x, rigid, true);
}

void kiln_spin_find_flow(kiln_spin *s)
{
    for (size_t p = 0; p < s->parts.count; p++) {
        const kiln_spin_part *part = &s->parts.data[p], *root = &s->parts.data[part->root];
        if (!root->free)
            continue;
        kiln_vec3 shift = kiln_v3_sub(way_to(s, part), root->centre);
        kiln_vec3 first = kiln_v3_madd(part->now.first, part->mass, shift);
        kiln_vec3 gain = kiln_v3_cross(root->rate, first);
        for (uint32_t at = (uint32_t)p; s->parts.data[at].parent != KILN_NONE;
             at = s->parts.data[at].parent)
            s->parts.data[at].flow = kiln_v3_add(s->parts.data[at].flow, gain);
    }
}

/* Through a change of the mesh. */

static kiln_vec3 centre_of(const kiln_spin_part *part)
{
    return kiln_v3_add(part->point, part->centre);
}

kiln_status kiln_spin_note(kiln_spin *s, const double *x, const double *v, kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(s->context, &s->noted, s->parts.count, error));
    kiln_spin_part_ways(s);
    for (size_t p = 0; p < s->parts.count; p++)
        s->parts.data[p].wanted = s->parts.data[p].push = kiln_v3(0, 0, 0);
    kiln_spin_want_motion(s, 1.0, x, v);
    for (size_t p = 0; p < s->parts.count; p++) {
        const kiln_spin_part *part = &s->parts.data[p];
        s->noted.data[p] = (kiln_spin_noted){centre_of(part), part->wanted, part->free};
    }
    s->noted.count = s->parts.count;
    return KILN_OK;
}

static void shift_part(const kiln_spin *s, const kiln_spin_part *part, kiln_vec3 way, double *x)
{
    for (uint32_t i = part->begin; i < part->end; i++) {
        double *at = x + 3 * (size_t)s->rows.data[i];
        kiln_vec3 to = kiln_v3_add(row_of(at, 0), way);
        memcpy(at, &to, sizeof to);
    }
}

void kiln_spin_give_back(kiln_spin *s, double *x, double *v)
{
    bool known = s->noted.count == s->parts.count;
    s->noted.count = 0;
    if (!known)
        return;
    kiln_spin_begin(s, x);
    for (size_t p = 0; p < s->parts.count; p++)
        s->parts.data[p].turned |= !s->noted.data[p].free;
    kiln_spin_part_ways(s);
    kiln_spin_want_motion(s, 0.0, x, v);
    for (size_t p = 0; p < s->parts.count; p++) {
        kiln_spin_part *part = &s->parts.data[p];
        const kiln_spin_noted *noted = &s->noted.data[p];
        if (!part->free)
            continue;
        shift_part(s, part, kiln_v3_sub(noted->centre, centre_of(part)), x);
        part->wanted = noted->moment;
    }
    kiln_spin_turn(s, x, v, false);
}
