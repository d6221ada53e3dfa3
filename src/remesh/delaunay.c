/* Bowyer-Watson with a vertex at infinity.
 *
 *   D1  Every face has a tet on both sides: outside the hull these are ghosts, whose fourth vertex
 *       is the ghost vertex. A ghost holds a point when the tet with that point in the place of the
 *       ghost vertex is positive; in the plane of its hull face, when the finite tet behind does.
 *   D2  The tets hold the perturbed Delaunay triangulation of the points inserted so far. So the
 *       tets in conflict with a new point hang together, the point sees all of their outline, and
 *       replacing the inner vertex of an outline face by the point gives a positive tet.
 *   D3  Freed slots are used by later insertions only: the cavity stays readable until the new tets
 *       are linked, which is done by turning round each outline edge through the cavity.
 *
 * Points are inserted in rounds of growing size (biased randomised insertion order), along the
 * Hilbert curve within a round, and copied in that order, so that a walk from the last new tet is
 * short and what it touches is in the cache. */
#include "remesh/delaunay.h"

#include "base/hash.h"
#include "geom/box.h"
#include "geom/curve_order.h"
#include "geom/predicates.h"

#include <string.h>

enum { ROUND_RATIO_BITS = 3, ROUNDS = 10, SMALLEST_ROUND = 64, CURVE_BITS = 21 };

/* One outline face of the cavity: face `inner` of a tet in it, matched by `outer`. */
typedef struct outline_face {
    kiln_link inner, outer;
} outline_face;

typedef struct builder {
    kiln_context *context;
    uint32_t ghost;    /* number of the ghost vertex */
    kiln_vec3 *point;  /* [rank] in the order of insertion */
    uint32_t *input;   /* [rank] number in the input */
    uint32_t *stamp;   /* [tet] 2 rank + 1: in the cavity of that point; 2 rank: tested, outside */
    size_t stamp_room; /* of stamp */
    kiln_tet *tet;
    double certain; /* an insphere determinant beyond this has the right sign */
    kiln_u32_array free, cavity;
    KILN_ARRAY_OF(outline_face)
    outline;
    uint32_t last;    /* a tet made by the last insertion */
    uint32_t pending; /* point being inserted */
    kiln_delaunay *out;
} builder;

KILN_INLINE int ghost_corner(const builder *b, const kiln_tet *tet)
{
    const uint32_t g = b->ghost;
    return tet->v[0] == g ? 0 : tet->v[1] == g ? 1 : tet->v[2] == g ? 2 : tet->v[3] == g ? 3 : -1;
}

KILN_INLINE bool same_place(kiln_vec3 a, kiln_vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static bool lexicographically_less(kiln_vec3 a, kiln_vec3 b)
{
    return a.x != b.x ? a.x < b.x : a.y != b.y ? a.y < b.y : a.z < b.z;
}

/* The sign of insphere(p0..p3, p4) when it is zero unperturbed: that of the first coefficient that
 * is not, of the infinitesimals from the largest (the last point) on. */
static bool perturbed_inside(const kiln_vec3 p[5])
{
    int order[5] = {0, 1, 2, 3, 4};
    for (int i = 1; i < 5; i++)
        for (int j = i; j > 0 && lexicographically_less(p[order[j - 1]], p[order[j]]); j--) {
            int swap = order[j];
            order[j] = order[j - 1];
            order[j - 1] = swap;
        }
    for (int i = 0; i < 5; i++) {
        if (order[i] == 4)
            return false;
        kiln_vec3 t[4] = {p[0], p[1], p[2], p[3]};
        t[order[i]] = p[4];
        int sign = kiln_orient3d_sign(t[0], t[1], t[2], t[3]);
        if (sign)
            return sign > 0;
    }
    return false;
}

/* The determinant of kiln_insphere without its error bound, which costs as much again. */
KILN_INLINE double insphere_estimate(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c, kiln_vec3 d,
                                     kiln_vec3 e)
{
    kiln_vec3 p = kiln_v3_sub(a, e), q = kiln_v3_sub(b, e);
    kiln_vec3 r = kiln_v3_sub(c, e), s = kiln_v3_sub(d, e);
    double pq = p.x * q.y - p.y * q.x, pr = p.x * r.y - p.y * r.x, ps = p.x * s.y - p.y * s.x;
    double qr = q.x * r.y - q.y * r.x, qs = q.x * s.y - q.y * s.x, rs = r.x * s.y - r.y * s.x;
    double qrs = q.z * rs - r.z * qs + s.z * qr, prs = p.z * rs - r.z * ps + s.z * pr;
    double pqs = p.z * qs - q.z * ps + s.z * pq, pqr = p.z * qr - q.z * pr + r.z * pq;
    return (kiln_v3_norm2(p) * qrs - kiln_v3_norm2(q) * prs) +
           (kiln_v3_norm2(r) * pqs - kiln_v3_norm2(s) * pqr);
}

static bool inside_sphere(const builder *b, const uint32_t v[4], kiln_vec3 e)
{
    const kiln_vec3 *x = b->point;
    double det = insphere_estimate(x[v[0]], x[v[1]], x[v[2]], x[v[3]], e);
    if (KILN_LIKELY(fabs(det) > b->certain))
        return det > 0.0;
    const kiln_vec3 p[5] = {x[v[0]], x[v[1]], x[v[2]], x[v[3]], e};
    det = kiln_insphere(p[0], p[1], p[2], p[3], e);
    return det != 0.0 ? det > 0.0 : perturbed_inside(p);
}

/* D1 */
static bool in_conflict(const builder *b, uint32_t t, kiln_vec3 p)
{
    const kiln_tet *tet = &b->tet[t];
    int ghost = ghost_corner(b, tet);
    if (KILN_LIKELY(ghost < 0))
        return inside_sphere(b, tet->v, p);
    kiln_vec3 x[4];
    for (int i = 0; i < 4; i++)
        x[i] = i == ghost ? p : b->point[tet->v[i]];
    int sign = kiln_orient3d_sign(x[0], x[1], x[2], x[3]);
    return sign ? sign > 0 : inside_sphere(b, b->tet[tet->n[ghost] / 4].v, p);
}

/* A tet in conflict with the point, or KILN_NONE when a vertex is at its place. The triangulation
 * is regular, so a walk that always crosses a face the point is beyond cannot go round. */
static uint32_t locate(const builder *b, kiln_vec3 p)
{
    const kiln_vec3 *x = b->point;
    uint32_t t = b->last;
    int entry = ghost_corner(b, &b->tet[t]);
    if (entry >= 0) {
        t = b->tet[t].n[entry] / 4;
        entry = -1;
    }
    for (;;) {
        const uint32_t *v = b->tet[t].v;
        int exit = -1;
        for (int i = 0; i < 4 && exit < 0; i++) {
            if (i == entry)
                continue;
            const uint8_t *f = kiln_face_corner[i];
            if (kiln_orient3d(x[v[f[0]]], x[v[f[1]]], x[v[f[2]]], p) > 0.0)
                exit = i;
        }
        if (exit < 0)
            break;
        kiln_link link = b->tet[t].n[exit];
        t = link / 4;
        entry = (int)(link % 4);
        if (ghost_corner(b, &b->tet[t]) >= 0)
            return t;
    }
    for (int i = 0; i < 4; i++)
        if (same_place(x[b->tet[t].v[i]], p))
            return KILN_NONE;
    return t;
}

/* The tets in conflict with the pending point, outward from one of them, and their outline. */
static kiln_status dig(builder *b, uint32_t seed, kiln_error *error)
{
    kiln_vec3 p = b->point[b->pending];
    uint32_t inside = 2 * b->pending + 1, outside = inside - 1;
    b->cavity.count = b->outline.count = 0;
    b->stamp[seed] = inside;
    KILN_TRY(kiln_array_push(b->context, &b->cavity, seed, error));
    for (size_t at = 0; at < b->cavity.count; at++) {
        uint32_t t = b->cavity.data[at];
        KILN_TRY(kiln_array_reserve(b->context, &b->cavity, b->cavity.count + 4, error));
        KILN_TRY(kiln_array_reserve(b->context, &b->outline, b->outline.count + 4, error));
        for (uint32_t i = 0; i < 4; i++) {
            kiln_link outer = b->tet[t].n[i];
            uint32_t s = outer / 4, stamp = b->stamp[s];
            if (stamp == inside)
                continue;
            if (stamp != outside && in_conflict(b, s, p)) {
                b->stamp[s] = inside;
                b->cavity.data[b->cavity.count++] = s;
                continue;
            }
            b->stamp[s] = outside;
            b->outline.data[b->outline.count++] = (outline_face){kiln_link_to(t, i), outer};
        }
    }
    return KILN_OK;
}

static kiln_status reserve_tets(builder *b, size_t wanted, kiln_error *error)
{
    if (wanted > KILN_MAX_TETS)
        return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1, "more than %u tets", KILN_MAX_TETS);
    KILN_TRY(kiln_array_reserve(b->context, &b->out->tets, wanted, error));
    b->tet = b->out->tets.data;
    size_t room = b->out->tets.capacity;
    if (room <= b->stamp_room)
        return KILN_OK;
    uint32_t *stamp =
        kiln_resize(b->context, b->stamp, b->stamp_room * sizeof *stamp, room * sizeof *stamp);
    if (!stamp)
        return kiln_fail_memory(error, room * sizeof *stamp);
    memset(stamp + b->stamp_room, 0xFF, (room - b->stamp_room) * sizeof *stamp);
    b->stamp = stamp;
    b->stamp_room = room;
    return KILN_OK;
}

KILN_INLINE uint32_t take_slot(builder *b)
{
    return b->free.count ? b->free.data[--b->free.count] : (uint32_t)b->out->tets.count++;
}

/* The corner of new tet `m` on the far side of its face over the outline edge that face `k` of the
 * cavity tet `t` has in common with the outline; `w` is the third vertex of the outline face. */
static kiln_link mate(const builder *b, uint32_t t, uint32_t k, uint32_t w)
{
    uint32_t inside = 2 * b->pending + 1;
    for (;;) {
        kiln_link link = b->tet[t].n[k];
        uint32_t s = link / 4, j = link % 4;
        if (b->stamp[s] != inside)
            return kiln_link_to(b->tet[s].n[j] / 4, kiln_tet_corner(&b->tet[t], w));
        k = kiln_tet_corner(&b->tet[s], w);
        w = b->tet[s].v[j];
        t = s;
    }
}

/* Joins the outline to the pending point. */
static kiln_status fill(builder *b, kiln_error *error)
{
    KILN_TRY(reserve_tets(b, b->out->tets.count + b->outline.count, error));
    KILN_TRY(kiln_array_reserve(b->context, &b->free, b->free.count + b->cavity.count, error));
    for (size_t f = 0; f < b->outline.count; f++) {
        outline_face face = b->outline.data[f];
        uint32_t slot = take_slot(b), i = face.inner % 4;
        kiln_tet *made = &b->tet[slot];
        *made = b->tet[face.inner / 4];
        made->v[i] = b->pending;
        made->n[0] = made->n[1] = made->n[2] = made->n[3] = KILN_NONE;
        made->n[i] = face.outer;
        b->tet[face.outer / 4].n[face.outer % 4] = kiln_link_to(slot, i);
        b->last = slot;
    }
    for (size_t f = 0; f < b->outline.count; f++) {
        outline_face face = b->outline.data[f];
        uint32_t t = face.inner / 4, i = face.inner % 4;
        uint32_t slot = b->tet[face.outer / 4].n[face.outer % 4] / 4;
        for (uint32_t k = 0; k < 4; k++) {
            if (k == i || b->tet[slot].n[k] != KILN_NONE)
                continue;
            kiln_link other = mate(b, t, k, b->tet[t].v[i]);
            b->tet[slot].n[k] = other;
            b->tet[other / 4].n[other % 4] = kiln_link_to(slot, k);
        }
    }
    memcpy(b->free.data + b->free.count, b->cavity.data, b->cavity.count * sizeof(uint32_t));
    b->free.count += b->cavity.count;
    return KILN_OK;
}

/* Round 0 is the last and largest; each further one an eighth of the one before. */
static int round_of(uint32_t index, int rounds)
{
    uint64_t bits = kiln_hash_mix(index + 1);
    int round = 0;
    while (round + 1 < rounds && (bits & ((1u << ROUND_RATIO_BITS) - 1)) == 0) {
        bits >>= ROUND_RATIO_BITS;
        round++;
    }
    return round;
}

static void sort_into_rounds(size_t count, const uint32_t *curve, uint32_t *out)
{
    int rounds = 1;
    while (rounds < ROUNDS && count >> (ROUND_RATIO_BITS * rounds) > SMALLEST_ROUND)
        rounds++;
    size_t start[ROUNDS + 1] = {0};
    for (size_t i = 0; i < count; i++)
        start[rounds - 1 - round_of(curve[i], rounds) + 1]++;
    for (int r = 0; r < rounds; r++)
        start[r + 1] += start[r];
    for (size_t i = 0; i < count; i++)
        out[start[rounds - 1 - round_of(curve[i], rounds)]++] = curve[i];
}

static bool on_one_line(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c)
{
    return kiln_orient2d(a.x, a.y, b.x, b.y, c.x, c.y) == 0.0 &&
           kiln_orient2d(a.y, a.z, b.y, b.z, c.y, c.z) == 0.0 &&
           kiln_orient2d(a.z, a.x, b.z, b.x, c.z, c.x) == 0.0;
}

/* Whether x[rank] is outside the point, line or plane of the first `got` points. */
static bool extends_simplex(const kiln_vec3 *x, int got, size_t rank)
{
    return got == 0   ? true
           : got == 1 ? !same_place(x[0], x[rank])
           : got == 2 ? !on_one_line(x[0], x[1], x[rank])
                      : kiln_orient3d(x[0], x[1], x[2], x[rank]) != 0.0;
}

static void swap_points(builder *b, size_t i, size_t j)
{
    kiln_vec3 point = b->point[i];
    b->point[i] = b->point[j];
    b->point[j] = point;
    uint32_t input = b->input[i];
    b->input[i] = b->input[j];
    b->input[j] = input;
}

/* Brings four points that span space to the front, the first tet positive. */
static kiln_status choose_first(builder *b, size_t count, kiln_error *error)
{
    static const char *const what[] = {"no points", "all points at one place",
                                       "all points on one line", "all points in one plane"};
    int got = 0;
    for (size_t rank = 0; rank < count && got < 4; rank++)
        if (extends_simplex(b->point, got, rank))
            swap_points(b, rank, (size_t)got++);
    if (got < 4)
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                         "%s: there is nothing to tetrahedralise", what[got]);
    if (kiln_orient3d(b->point[0], b->point[1], b->point[2], b->point[3]) < 0.0)
        swap_points(b, 2, 3);
    return KILN_OK;
}

/* The first tet and its four ghosts. Ghost i is the tet with the ghost vertex for vertex i and two
 * others exchanged, so that it is positive seen from outside. */
static kiln_status begin_with_first(builder *b, kiln_error *error)
{
    KILN_TRY(reserve_tets(b, 5, error));
    b->out->tets.count = 5;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t p = (i + 1) % 4, q = (i + 2) % 4, r = (i + 3) % 4;
        b->tet[0].v[i] = i;
        b->tet[0].n[i] = kiln_link_to(i + 1, i);
        kiln_tet *ghost = &b->tet[i + 1];
        ghost->v[i] = b->ghost;
        ghost->v[p] = q;
        ghost->v[q] = p;
        ghost->v[r] = r;
        ghost->n[i] = kiln_link_to(0, i);
        ghost->n[p] = q + 1; /* which ghost lies across; the face of it follows */
        ghost->n[q] = p + 1;
        ghost->n[r] = r + 1;
    }
    for (uint32_t g = 1; g < 5; g++)
        for (uint32_t k = 0; k < 4; k++)
            if (k != g - 1) {
                uint32_t other = b->tet[g].n[k];
                /* Ghost `other` lacks vertex other - 1; the shared face lacks vertex g - 1 there.
                 */
                b->tet[g].n[k] = kiln_link_to(other, kiln_tet_corner(&b->tet[other], g - 1));
            }
    b->last = 0;
    return KILN_OK;
}

static kiln_status insert_all(builder *b, size_t count, kiln_error *error)
{
    KILN_TRY(begin_with_first(b, error));
    for (size_t rank = 4; rank < count; rank++) {
        b->pending = (uint32_t)rank;
        uint32_t seed = locate(b, b->point[rank]);
        if (seed == KILN_NONE) {
            b->out->duplicates++;
            continue;
        }
        KILN_TRY(dig(b, seed, error));
        KILN_TRY(fill(b, error));
    }
    return KILN_OK;
}

/* Finite tets close ranks and get the numbers of the input. */
static void finish(builder *b)
{
    size_t count = b->out->tets.count;
    uint32_t *number = b->stamp, live = 0;
    memset(number, 0, count * sizeof *number);
    for (size_t i = 0; i < b->free.count; i++)
        number[b->free.data[i]] = KILN_NONE;
    for (size_t t = 0; t < count; t++) {
        bool drop = number[t] == KILN_NONE || ghost_corner(b, &b->tet[t]) >= 0;
        number[t] = drop ? KILN_NONE : live++;
    }
    for (size_t t = 0; t < count; t++) {
        if (number[t] == KILN_NONE)
            continue;
        kiln_tet tet = b->tet[t];
        for (int i = 0; i < 4; i++) {
            uint32_t across = number[tet.n[i] / 4];
            tet.v[i] = b->input[tet.v[i]];
            tet.n[i] = across == KILN_NONE ? KILN_NONE : kiln_link_to(across, tet.n[i] % 4);
        }
        b->tet[number[t]] = tet;
    }
    b->out->tets.count = live;
}

/* A bound on the error of insphere_estimate within the box of all points: that of kiln_insphere
 * with the largest differences, twice over for their rounding. */
static double certain_determinant(kiln_box box)
{
    kiln_vec3 d = kiln_v3_sub(box.high, box.low);
    double lift = kiln_v3_norm2(d), lifts = 1.0 + 4.0 * lift;
    return 0x1.2p-48 * (24.0 * d.x * d.y * d.z * lift) + 0x1p-889 * (lifts * lifts);
}

static kiln_status prepare(builder *b, const kiln_vec3 *points, size_t count, kiln_error *error)
{
    if (count == 0)
        return KILN_OK;
    uint32_t *curve = kiln_resize(b->context, NULL, 0, count * sizeof *curve);
    if (!curve)
        return kiln_fail_memory(error, count * sizeof *curve);
    kiln_status status = kiln_curve_order(b->context, points, count, CURVE_BITS, curve, error);
    if (status == KILN_OK) {
        sort_into_rounds(count, curve, b->input);
        kiln_box box = kiln_box_empty();
        for (size_t i = 0; i < count; i++) {
            b->point[i] = points[b->input[i]];
            box = kiln_box_grow(box, b->point[i]);
        }
        b->certain = certain_determinant(box);
        b->ghost = (uint32_t)count;
    }
    kiln_release(b->context, curve, count * sizeof *curve);
    return status;
}

static kiln_status build(builder *b, const kiln_vec3 *points, size_t count, kiln_error *error)
{
    KILN_TRY(prepare(b, points, count, error));
    KILN_TRY(choose_first(b, count, error));
    KILN_TRY(reserve_tets(b, 8 * count, error));
    KILN_TRY(insert_all(b, count, error));
    finish(b);
    return KILN_OK;
}

kiln_status kiln_delaunay_build(kiln_delaunay *delaunay, kiln_context *context,
                                const kiln_vec3 *points, size_t count, kiln_error *error)
{
    delaunay->context = context;
    delaunay->tets.count = 0;
    delaunay->duplicates = 0;
    if (count > KILN_MAX_TETS / 8)
        return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1, "%zu points are too many", count);
    builder b = {.context = context, .out = delaunay};
    size_t bytes = count * (sizeof *b.point + sizeof *b.input);
    b.point = kiln_resize(context, NULL, 0, bytes);
    if (!b.point && bytes)
        return kiln_fail_memory(error, bytes);
    b.input = (uint32_t *)(void *)(b.point + count);
    kiln_status status = build(&b, points, count, error);
    if (status != KILN_OK)
        delaunay->tets.count = 0;
    kiln_release(context, b.stamp, b.stamp_room * sizeof *b.stamp);
    kiln_array_free(context, &b.free);
    kiln_array_free(context, &b.cavity);
    kiln_array_free(context, &b.outline);
    kiln_release(context, b.point, bytes);
    return status;
}

void kiln_delaunay_destroy(kiln_delaunay *delaunay)
{
    if (delaunay->context)
        kiln_array_free(delaunay->context, &delaunay->tets);
    *delaunay = (kiln_delaunay){0};
}
