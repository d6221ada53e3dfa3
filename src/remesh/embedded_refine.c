/* A fine surface follows flow: edges that matter has drawn out are split, those it has pushed
 * together go, diagonals are flipped, and what flow and remeshing have crumpled is smoothed, so
 * that triangles stay as large and as good as they began.
 *
 * What an edge is measured by is the mean length of edges at its ends when the surface began, or
 * its own length then: a surface that is merely bent, however irregular its triangles are, is not
 * touched. Vertices that came go again when the need has passed; those of the begin only where they
 * are pressed together. Nothing goes that would be missed: neither in the world nor in the material
 * the surface moves by more than a part of its edges. Between splits and collapses there is a gap
 * that neither crosses, so that a surface at rest is left alone. */
#include "geom/distance.h"
#include "remesh/fine.h"

#include <math.h>
#include <stdlib.h>

/* Edges longer or shorter than these parts of what they should be, the latter of the begin and of
 * vertices that came: half of an edge of the begin is too short; and of a split, how long the edges
 * across must be, unless it is overdue. */
static const double LONG = 1.6, SHORT = 0.4, SHORT_MADE = 0.6, ACROSS = 0.45, OVERDUE = 3.0;
/* What a collapse makes is no longer than this part of what would be split. */
static const double MARGIN = 0.9;
/* How far a collapse or a flip may move the surface, of an edge: of matter that keeps its shape,
 * and of what has flowed, whose finest bumps are no detail but the cells it flowed in. */
static const double KEPT = 0.03, SWEPT = 0.2;
/* Plastic strain from which on matter has. */
static const double FLOWED = 0.1;
/* Angles across an edge that are flipped, more than two right ones; stretch below which diagonals
 * of the begin stay. */
static const double OBTUSE = 0.2, STRETCHED = 1.3;
/* Cosine between a triangle and what takes its place; shape below which none is made worse. */
static const double TURN = 0.2, SHAPE = 0.1;
/* A vertex stands out of its neighbours by no more than this part of its edges, or than that much
 * more than at the begin; how much of the rest it loses at a time. */
static const double SPIKE = 0.12, SHARPER = 1.2, DAMP = 0.5;
enum { ROUNDS = 6 };

typedef struct candidate {
    double key;
    uint32_t side;
} candidate;

typedef struct refining {
    kiln_fine fine;
    const double *flowed; /* [tet], or NULL */
    KILN_ARRAY_OF(candidate)
    list;
    kiln_u32_array around; /* neighbours of a vertex */
    KILN_ARRAY_OF(kiln_vec3)
    moves; /* [vertex] */
    kiln_refine_report *report;
} refining;

static const double *row_of(const kiln_embedded *e, uint32_t v)
{
    return &e->now.values.data[v * (size_t)e->stride];
}

static kiln_vec3 start_of(const kiln_embedded *e, uint32_t v)
{
    const double *row = row_of(e, v) + KILN_FINE_START;
    return kiln_v3(row[0], row[1], row[2]);
}

static double distance(kiln_vec3 a, kiln_vec3 b)
{
    return kiln_v3_norm(kiln_v3_sub(a, b));
}

static double edge_at(const kiln_embedded *e, uint32_t a, uint32_t b)
{
    return 0.5 * (row_of(e, a)[KILN_FINE_EDGE] + row_of(e, b)[KILN_FINE_EDGE]);
}

/* Where they were at the begin says how far apart they ought to be only if they are of one body. */
static bool are_kin(const kiln_embedded *e, uint32_t a, uint32_t b)
{
    return row_of(e, a)[KILN_FINE_ORIGIN] == row_of(e, b)[KILN_FINE_ORIGIN];
}

static double begin_distance(const kiln_embedded *e, uint32_t a, uint32_t b)
{
    return are_kin(e, a, b) ? distance(start_of(e, a), start_of(e, b)) : edge_at(e, a, b);
}

static bool is_made(const kiln_embedded *e, uint32_t v)
{
    return row_of(e, v)[KILN_FINE_MADE] != 0.0;
}

/* Over 1: too long. */
static double longness(const kiln_embedded *e, const kiln_vec3 *x, uint32_t a, uint32_t b)
{
    double wanted = fmax(edge_at(e, a, b), begin_distance(e, a, b));
    return distance(x[a], x[b]) / (LONG * wanted);
}

/* Below 1: too short. */
static double shortness(const kiln_embedded *e, const kiln_vec3 *x, uint32_t a, uint32_t b)
{
    double least = SHORT_MADE * edge_at(e, a, b);
    if (!is_made(e, a) && !is_made(e, b))
        least = SHORT * fmin(edge_at(e, a, b), begin_distance(e, a, b));
    return distance(x[a], x[b]) / least;
}

static bool has_flowed(const refining *r, uint32_t v)
{
    return r->flowed && r->flowed[r->fine.e->now.hangs.data[v].tet] > FLOWED;
}

static double allowance(const refining *r, uint32_t a, uint32_t b)
{
    return (has_flowed(r, a) && has_flowed(r, b) ? SWEPT : KEPT) * edge_at(r->fine.e, a, b);
}

static int by_key(const void *a, const void *b)
{
    const candidate *p = a, *q = b;
    if (p->key != q->key)
        return p->key < q->key ? -1 : 1;
    return (p->side > q->side) - (p->side < q->side);
}

/* Sides that are too long, longest first, or too short, shortest first. */
static kiln_status list_sides(refining *r, bool too_long, kiln_error *error)
{
    const kiln_fine *f = &r->fine;
    r->list.count = 0;
    for (uint32_t s = 0; s < f->mate.count; s++) {
        uint32_t mate = f->mate.data[s];
        if (!kiln_fine_live(f, s) || mate == KILN_FINE_STUCK || (mate < KILN_FINE_RIM && mate < s))
            continue;
        uint32_t a = kiln_fine_from(f, s), b = kiln_fine_to(f, s);
        double key = too_long ? 1.0 / fmax(longness(f->e, f->x.data, a, b), 1e-300)
                              : shortness(f->e, f->x.data, a, b);
        if (key < 1.0)
            KILN_TRY(kiln_array_push(f->e->context, &r->list, ((candidate){key, s}), error));
    }
    if (r->list.count > 0)
        qsort(r->list.data, r->list.count, sizeof *r->list.data, by_key);
    return KILN_OK;
}

/* Splits. */

static bool is_wide(const kiln_fine *f, uint32_t side)
{
    uint32_t a = kiln_fine_from(f, side), b = kiln_fine_to(f, side), c = kiln_fine_across(f, side);
    kiln_vec3 middle = kiln_v3_lerp(f->x.data[a], f->x.data[b], 0.5);
    return distance(middle, f->x.data[c]) >= ACROSS * edge_at(f->e, a, b);
}

static kiln_status split_sides(refining *r, size_t *done, kiln_error *error)
{
    kiln_fine *f = &r->fine;
    KILN_TRY(list_sides(r, true, error));
    *done = 0;
    for (size_t i = 0; i < r->list.count; i++) {
        uint32_t s = r->list.data[i].side;
        double over = longness(f->e, f->x.data, kiln_fine_from(f, s), kiln_fine_to(f, s));
        bool wide = is_wide(f, s) && (!kiln_fine_is_inner(f, s) || is_wide(f, f->mate.data[s]));
        if (!(over > 1.0) || !(wide || over * LONG > OVERDUE))
            continue;
        bool split;
        KILN_TRY(kiln_fine_split(f, s, &split, error));
        *done += split;
    }
    r->report->splits += *done;
    return KILN_OK;
}

/* Flips. */

static kiln_vec3 normal_of(const kiln_vec3 *p, uint32_t a, uint32_t b, uint32_t c)
{
    return kiln_v3_cross(kiln_v3_sub(p[b], p[a]), kiln_v3_sub(p[c], p[a]));
}

static double angle_at(const kiln_vec3 *p, uint32_t tip, uint32_t a, uint32_t b)
{
    kiln_vec3 u = kiln_v3_sub(p[a], p[tip]), v = kiln_v3_sub(p[b], p[tip]);
    return atan2(kiln_v3_norm(kiln_v3_cross(u, v)), kiln_v3_dot(u, v));
}

/* The two diagonals pass each other close enough, and the new triangles look where the old did. */
static bool may_flip(const kiln_vec3 *p, uint32_t a, uint32_t b, uint32_t c, uint32_t d,
                     double allowed)
{
    kiln_vec3 ab = kiln_v3_sub(p[b], p[a]), dc = kiln_v3_sub(p[c], p[d]);
    double apart = fabs(kiln_v3_triple(ab, kiln_v3_sub(p[c], p[a]), kiln_v3_sub(p[d], p[a])));
    if (!(apart <= allowed * kiln_v3_norm(kiln_v3_cross(ab, dc))))
        return false;
    kiln_vec3 before = kiln_v3_add(normal_of(p, a, b, c), normal_of(p, b, a, d));
    return kiln_v3_dot(before, normal_of(p, a, d, c)) > 0.0 &&
           kiln_v3_dot(before, normal_of(p, d, b, c)) > 0.0;
}

static bool wants_flip(const refining *r, uint32_t side)
{
    const kiln_fine *f = &r->fine;
    const kiln_vec3 *x = f->x.data;
    if (!kiln_fine_live(f, side) || !kiln_fine_is_inner(f, side) || f->mate.data[side] < side)
        return false;
    uint32_t other = f->mate.data[side];
    uint32_t a = kiln_fine_from(f, side), b = kiln_fine_to(f, side);
    uint32_t c = kiln_fine_across(f, side), d = kiln_fine_across(f, other);
    bool begin = !is_made(f->e, a) && !is_made(f->e, b);
    if (begin && distance(x[a], x[b]) < STRETCHED * begin_distance(f->e, a, b))
        return false;
    if (c == d || kiln_fine_tag(f, side) != kiln_fine_tag(f, other) || f->degree.data[a] <= 3 ||
        f->degree.data[b] <= 3)
        return false;
    if (angle_at(x, c, a, b) + angle_at(x, d, a, b) <= KILN_PI + OBTUSE)
        return false;
    double allowed = allowance(r, a, b);
    return may_flip(x, a, b, c, d, allowed) && may_flip(f->e->now.u.data, a, b, c, d, allowed);
}

/* Are they joined by an edge? Also when that cannot be known. */
static kiln_status are_joined(kiln_fine *f, uint32_t a, uint32_t b, bool *joined, kiln_error *error)
{
    bool closed;
    KILN_TRY(kiln_fine_ring(f, a, &closed, error));
    *joined = !closed;
    for (size_t i = 0; i < f->ring.count && !*joined; i++)
        *joined = kiln_fine_to(f, f->ring.data[i]) == b;
    return KILN_OK;
}

static kiln_status flip_sides(refining *r, kiln_error *error)
{
    kiln_fine *f = &r->fine;
    size_t done = 1;
    for (int round = 0; round < ROUNDS && done; round++) {
        done = 0;
        for (uint32_t s = 0; s < f->mate.count; s++) {
            bool joined = true;
            if (!wants_flip(r, s))
                continue;
            KILN_TRY(are_joined(f, kiln_fine_across(f, s), kiln_fine_across(f, f->mate.data[s]),
                                &joined, error));
            if (joined)
                continue;
            kiln_fine_flip(f, s);
            done++;
        }
        r->report->flips += done;
    }
    return KILN_OK;
}

/* Collapses. */

static double shape_of(const kiln_vec3 *p, uint32_t a, uint32_t b, uint32_t c)
{
    double edges = kiln_v3_norm2(kiln_v3_sub(p[b], p[a])) + kiln_v3_norm2(kiln_v3_sub(p[c], p[b])) +
                   kiln_v3_norm2(kiln_v3_sub(p[a], p[c]));
    return 2.0 * sqrt(3.0) * kiln_v3_norm(normal_of(p, a, b, c)) / fmax(edges, 1e-300);
}

/* One triangle of the ring, once its vertex `gone` is where `kept` is. */
static bool may_become(const kiln_vec3 *p, uint32_t gone, uint32_t kept, uint32_t a, uint32_t b)
{
    kiln_vec3 before = normal_of(p, gone, a, b), after = normal_of(p, kept, a, b);
    double shape = shape_of(p, kept, a, b);
    return kiln_v3_dot(before, after) > TURN * kiln_v3_norm(before) * kiln_v3_norm(after) &&
           (shape >= SHAPE || shape >= shape_of(p, gone, a, b));
}

/* How far `gone` is from the triangles that come, squared; infinite where one may not. */
static double moved2(const kiln_fine *f, const kiln_vec3 *p, uint32_t gone, uint32_t kept)
{
    double least = INFINITY;
    for (size_t i = 0; i < f->ring.count; i++) {
        uint32_t a = kiln_fine_to(f, f->ring.data[i]), b = kiln_fine_across(f, f->ring.data[i]);
        if (a == kept || b == kept)
            continue;
        if (!may_become(p, gone, kept, a, b))
            return INFINITY;
        const kiln_vec3 triangle[3] = {p[kept], p[a], p[b]};
        least = fmin(least, kiln_triangle_distance2(p[gone], triangle));
    }
    return least;
}

/* Patches stay what they are: inside one anywhere, on its rim along it. */
static bool patches_allow(const kiln_fine *f, uint32_t side)
{
    size_t changes = 0;
    for (size_t i = 0; i < f->ring.count; i++)
        changes += kiln_fine_tag(f, f->ring.data[i]) !=
                   kiln_fine_tag(f, f->ring.data[i ? i - 1 : f->ring.count - 1]);
    bool along = kiln_fine_tag(f, side) != kiln_fine_tag(f, f->mate.data[side]);
    return changes == 0 || (changes == 2 && along);
}

/* The neighbours that the two have in common are the two across their edge, and stay. */
static kiln_status link_allows(refining *r, uint32_t side, bool *allows, kiln_error *error)
{
    kiln_fine *f = &r->fine;
    uint32_t gone = kiln_fine_from(f, side), kept = kiln_fine_to(f, side);
    uint32_t c = kiln_fine_across(f, side), d = kiln_fine_across(f, f->mate.data[side]);
    *allows = c != d && f->degree.data[c] > 3 && f->degree.data[d] > 3 &&
              f->degree.data[gone] + f->degree.data[kept] >= 7;
    if (!*allows)
        return KILN_OK;
    KILN_TRY(kiln_fine_ring(f, kept, allows, error));
    r->around.count = 0;
    for (size_t i = 0; i < f->ring.count && *allows; i++)
        KILN_TRY(
            kiln_array_push(f->e->context, &r->around, kiln_fine_to(f, f->ring.data[i]), error));
    if (*allows)
        KILN_TRY(kiln_fine_ring(f, gone, allows, error));
    size_t common = 0;
    for (size_t i = 0; i < f->ring.count && *allows; i++)
        for (size_t k = 0; k < r->around.count; k++)
            common += kiln_fine_to(f, f->ring.data[i]) == r->around.data[k];
    *allows = *allows && common == 2;
    return KILN_OK;
}

static bool makes_long(const kiln_fine *f, uint32_t kept)
{
    for (size_t i = 0; i < f->ring.count; i++) {
        uint32_t to = kiln_fine_to(f, f->ring.data[i]);
        if (to != kept && longness(f->e, f->x.data, kept, to) > MARGIN)
            return true;
    }
    return false;
}

static kiln_status try_collapse(refining *r, uint32_t side, bool *done, kiln_error *error)
{
    kiln_fine *f = &r->fine;
    uint32_t gone = kiln_fine_from(f, side), kept = kiln_fine_to(f, side);
    *done = false;
    if (is_made(f->e, kept) && !is_made(f->e, gone))
        return KILN_OK; /* what came goes first */
    bool allows;
    KILN_TRY(link_allows(r, side, &allows, error));
    if (!allows || !patches_allow(f, side) || makes_long(f, kept))
        return KILN_OK;
    double allowed = allowance(r, gone, kept);
    if (!(moved2(f, f->x.data, gone, kept) <= allowed * allowed) ||
        !(moved2(f, f->e->now.u.data, gone, kept) <= allowed * allowed))
        return KILN_OK;
    kiln_fine_collapse(f, side);
    r->report->collapses++;
    *done = true;
    return KILN_OK;
}

static kiln_status collapse_sides(refining *r, kiln_error *error)
{
    kiln_fine *f = &r->fine;
    KILN_TRY(list_sides(r, false, error));
    for (size_t i = 0; i < r->list.count; i++) {
        uint32_t s = r->list.data[i].side;
        bool done = false;
        if (!kiln_fine_live(f, s) || !kiln_fine_is_inner(f, s) ||
            shortness(f->e, f->x.data, kiln_fine_from(f, s), kiln_fine_to(f, s)) >= 1.0)
            continue;
        KILN_TRY(try_collapse(r, s, &done, error));
        if (!done)
            KILN_TRY(try_collapse(r, f->mate.data[s], &done, error));
    }
    return KILN_OK;
}

/* Spikes. */

/* How far the vertex of the ring stands out of its neighbours, along the normal, and of what
 * length its edges are. */
static double height_of(const kiln_fine *f, const kiln_vec3 *p, kiln_vec3 own, kiln_vec3 *normal,
                        double *edge)
{
    kiln_vec3 sum = {0, 0, 0}, mean = {0, 0, 0};
    *edge = 0.0;
    for (size_t i = 0; i < f->ring.count; i++) {
        kiln_vec3 a = kiln_v3_sub(p[2 * i], own), b = kiln_v3_sub(p[2 * i + 1], own);
        sum = kiln_v3_add(sum, kiln_v3_cross(a, b));
        mean = kiln_v3_add(mean, a);
        *edge += kiln_v3_norm(a);
    }
    double count = (double)f->ring.count, size = kiln_v3_norm(sum);
    *edge /= count;
    *normal = size > 0.0 ? kiln_v3_scale(sum, 1.0 / size) : sum;
    return -kiln_v3_dot(mean, *normal) / count;
}

static kiln_vec3 spike_at(const refining *r, uint32_t v)
{
    const kiln_fine *f = &r->fine;
    enum { MOST = 32 };
    kiln_vec3 now[2 * MOST], then[2 * MOST], normal, unused;
    double edge, begin;
    if (f->ring.count > MOST)
        return kiln_v3(0, 0, 0);
    bool kin = true;
    for (size_t i = 0; i < f->ring.count; i++) {
        uint32_t a = kiln_fine_to(f, f->ring.data[i]), b = kiln_fine_across(f, f->ring.data[i]);
        kin = kin && are_kin(f->e, v, a);
        now[2 * i] = f->x.data[a], now[2 * i + 1] = f->x.data[b];
        then[2 * i] = start_of(f->e, a), then[2 * i + 1] = start_of(f->e, b);
    }
    double height = height_of(f, now, f->x.data[v], &normal, &edge);
    double before = fabs(height_of(f, then, start_of(f->e, v), &unused, &begin));
    double most = edge * fmax(SPIKE, kin && begin > 0.0 ? SHARPER * before / begin : 0.0);
    double beyond = fabs(height) - most;
    return beyond > 0.0 ? kiln_v3_scale(normal, height > 0.0 ? -DAMP * beyond : DAMP * beyond)
                        : kiln_v3(0, 0, 0);
}

static kiln_status smooth_spikes(refining *r, kiln_error *error)
{
    kiln_fine *f = &r->fine;
    kiln_embedded_state *now = &f->e->now;
    if (!r->flowed)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(f->e->context, &r->moves, now->u.count, error));
    for (uint32_t v = 0; v < now->u.count; v++) {
        bool closed = false;
        r->moves.data[v] = kiln_v3(0, 0, 0);
        if (has_flowed(r, v))
            KILN_TRY(kiln_fine_ring(f, v, &closed, error));
        if (closed)
            r->moves.data[v] = spike_at(r, v);
    }
    for (uint32_t v = 0; v < now->u.count; v++) {
        kiln_vec3 move = r->moves.data[v];
        if (kiln_v3_norm2(move) == 0.0)
            continue;
        now->u.data[v] = kiln_v3_add(
            now->u.data[v], kiln_frames_unmove(&f->frames, f->mesh, &now->hangs.data[v], move));
        kiln_fine_place(f, v, now->hangs.data[v].tet);
        r->report->smoothed++;
    }
    return KILN_OK;
}

/* All of it. */

static bool is_needed(const kiln_embedded *e, const kiln_vec3 *x)
{
    for (size_t t = 0; t < e->now.triangles.count; t++) {
        const uint32_t *v = e->now.triangles.data[t].v;
        for (int k = 0; k < 3; k++) {
            uint32_t a = v[k], b = v[(k + 1) % 3];
            if (longness(e, x, a, b) > 1.0 || shortness(e, x, a, b) < 1.0)
                return true;
        }
    }
    return false;
}

static kiln_status change(refining *r, kiln_error *error)
{
    size_t splits = 1;
    KILN_TRY(kiln_fine_begin(&r->fine, error));
    KILN_TRY(flip_sides(r, error));
    for (int round = 0; round < ROUNDS && splits; round++) {
        KILN_TRY(split_sides(r, &splits, error));
        KILN_TRY(flip_sides(r, error));
    }
    KILN_TRY(collapse_sides(r, error));
    KILN_TRY(flip_sides(r, error));
    KILN_TRY(smooth_spikes(r, error));
    return kiln_fine_finish(&r->fine, error);
}

kiln_status kiln_embedded_refine(kiln_embedded *e, const kiln_mesh *mesh, const double *flowed,
                                 kiln_refine_report *report, kiln_error *error)
{
    kiln_refine_report unread;
    refining r = {
        .fine = {.e = e, .mesh = mesh, .view = kiln_live_view_of(mesh, KILN_SPACE_MATERIAL)},
        .flowed = flowed,
        .report = report ? report : &unread};
    *r.report = (kiln_refine_report){0};
    kiln_status status = kiln_array_reserve(e->context, &r.fine.x, e->now.u.count + 1, error);
    r.fine.x.count = e->now.u.count;
    if (status == KILN_OK)
        status = kiln_embedded_positions(e, mesh, KILN_SPACE_WORLD, r.fine.x.data, error);
    if (status == KILN_OK && is_needed(e, r.fine.x.data))
        status = change(&r, error);
    kiln_fine_free(&r.fine);
    kiln_array_free(e->context, &r.list);
    kiln_array_free(e->context, &r.around);
    kiln_array_free(e->context, &r.moves);
    return status;
}
