/* The walk compares the signed volumes the point spans with the four faces. A step across a face is
 * taken only when the sign is certain (the error bound of geom/predicates.h), so each step is one
 * of an exact visibility walk. That may run in circles where the mesh is not Delaunay: after
 * STEEPEST steps the face is chosen by a fixed pseudo-random sequence, which breaks them. */
#include "remesh/begin_mesh.h"

#include "base/random.h"
#include "geom/box.h"
#include "geom/distance.h"
#include "geom/predicates.h"

enum {
    STEEPEST = 48,   /* steps towards the face the point is farthest beyond */
    GROWN = 96,      /* tets looked at for the closest one */
    PATIENCE = 20,   /* of them without coming nearer */
    WALK_LIMIT = 400 /* steps before the walk counts as circling, plus one per tet */
};

static const double LARGEST_WEIGHT = 2.0; /* of a place outside that is fit for extrapolation */
enum { TAMING = 24 };                     /* tets looked at for one that is */
static const double FAR_HINT = 2.0;       /* lengths of the tet of a hint */
static const double FAR_OUTSIDE = 0.5;    /* lengths of the tet where the walk ended */
static const double NEAR_SURFACE = 0.125; /* likewise: no other face is nearer but in a notch */

/* Six times the volumes of the tets with the point in place of each corner; positive towards the
 * inside in a positive tet. `bound` limits their error. */
typedef struct volumes {
    double w[4], sum, bound;
} volumes;

KILN_INLINE double smaller(double a, double b)
{
    return a < b ? a : b;
}

KILN_INLINE double larger(double a, double b)
{
    return a > b ? a : b;
}

KILN_INLINE double largest(kiln_vec3 a)
{
    return larger(larger(fabs(a.x), fabs(a.y)), fabs(a.z));
}

KILN_INLINE volumes measure(const kiln_vec3 corner[4], kiln_vec3 p)
{
    kiln_vec3 a = kiln_v3_sub(corner[0], p), b = kiln_v3_sub(corner[1], p);
    kiln_vec3 c = kiln_v3_sub(corner[2], p), d = kiln_v3_sub(corner[3], p);
    kiln_vec3 ab = kiln_v3_cross(a, b), cd = kiln_v3_cross(c, d);
    volumes v = {
        .w = {kiln_v3_dot(b, cd), -kiln_v3_dot(a, cd), kiln_v3_dot(d, ab), -kiln_v3_dot(c, ab)}};
    v.sum = (v.w[0] + v.w[1]) + (v.w[2] + v.w[3]);
    double m = larger(larger(largest(a), largest(b)), larger(largest(c), largest(d)));
    /* The filter of kiln_orient3d with its permanent, at most 6 m^3. */
    v.bound = 6 * 0x1p-50 * (m * m * m) + 0x1p-900 * (3 * m + 1);
    return v;
}

/* Orientation of the tet; volumes near the bound do not tell. */
static int side_of(const kiln_vec3 corner[4], const volumes *v)
{
    if (KILN_LIKELY(fabs(v->sum) > 8 * v->bound))
        return v->sum < 0.0 ? -1 : 1;
    return kiln_orient3d_sign(corner[0], corner[1], corner[2], corner[3]);
}

/* Whether the point is strictly beyond the face opposite a corner, when the volumes leave it open.
 * Where the tet is large against the bound, what is left open is far below any use of a weight. */
static bool beyond_exactly(const kiln_vec3 corner[4], kiln_vec3 p, int face, int side,
                           const volumes *v)
{
    if (v->bound <= 0x1p-40 * fabs(v->sum))
        return false;
    kiln_vec3 t[4] = {corner[0], corner[1], corner[2], corner[3]};
    t[face] = p;
    return side * kiln_orient3d_sign(t[0], t[1], t[2], t[3]) < 0;
}

/* Bit i: the point is beyond the face opposite corner i. */
static unsigned beyond(const kiln_vec3 corner[4], kiln_vec3 p, const volumes *v)
{
    int side = side_of(corner, v);
    unsigned certain = 0, open = 0;
    for (unsigned i = 0; i < 4; i++) {
        certain |= (unsigned)(side * v->w[i] < -v->bound) << i;
        open |= (unsigned)(fabs(v->w[i]) <= v->bound) << i;
    }
    if (certain || !open)
        return certain;
    for (int i = 0; i < 4; i++)
        if (open >> i & 1 && beyond_exactly(corner, p, i, side, v))
            certain |= 1u << i;
    return certain;
}

/* In a tet so flat that rounding spoils its weights, those of the closest point. */
static void set_place(kiln_begin_place *place, uint32_t tet, bool inside, const kiln_vec3 corner[4],
                      kiln_vec3 point, const volumes *v)
{
    place->tet = tet;
    place->inside = inside;
    if (KILN_LIKELY(v->bound <= 0x1p-24 * fabs(v->sum))) {
        for (int i = 0; i < 4; i++)
            place->weight[i] = v->w[i] / v->sum;
        return;
    }
    kiln_closest_point closest = kiln_closest_on_tet(point, corner);
    memcpy(place->weight, closest.weight, sizeof place->weight);
}

/* The interior face to leave by, or 4. */
static unsigned choose_face(const kiln_tet *tet, unsigned faces, const volumes *v, uint32_t step)
{
    unsigned chosen = 4;
    double farthest = 0.0;
    unsigned first = step < STEEPEST ? 0 : (unsigned)kiln_hash_mix(step) & 3;
    for (unsigned k = 0; k < 4; k++) {
        unsigned i = (first + k) & 3;
        if (!(faces >> i & 1) || kiln_link_is_surface(tet->n[i]))
            continue;
        if (step >= STEEPEST)
            return i;
        if (chosen == 4 || fabs(v->w[i]) > farthest) {
            chosen = i;
            farthest = fabs(v->w[i]);
        }
    }
    return chosen;
}

typedef struct candidate {
    double distance2;
    uint32_t tet;
    bool expanded;
} candidate;

static double distance2_to(const kiln_begin_view *view, uint32_t tet, kiln_vec3 point,
                           unsigned *feature)
{
    kiln_vec3 corner[4];
    kiln_begin_corners(view, kiln_begin_tet(view, tet), corner);
    kiln_closest_point closest = kiln_closest_on_tet(point, corner);
    *feature = closest.feature;
    return closest.distance2;
}

/* True when the point is farther from the tet than `lengths` of it. */
static bool is_far(const kiln_begin_view *view, uint32_t tet, kiln_vec3 point, double lengths)
{
    kiln_vec3 corner[4];
    kiln_begin_corners(view, kiln_begin_tet(view, tet), corner);
    kiln_box box = kiln_box_of(corner, 4);
    double length2 = kiln_v3_norm2(kiln_v3_sub(box.high, box.low));
    return kiln_closest_on_tet(point, corner).distance2 > lengths * lengths * length2;
}

/* Grows a set of tets from `start`, always at the one nearest to the point. */
static uint32_t find_closest(const kiln_begin_view *view, kiln_vec3 point, uint32_t start,
                             uint32_t *visits)
{
    candidate found[GROWN];
    unsigned feature;
    int count = 1, best = 0, idle = 0;
    found[0] = (candidate){distance2_to(view, start, point, &feature), start, false};
    const kiln_tet *tet = kiln_begin_tet(view, start);
    for (unsigned i = 0; i < 4; i++) /* just below a surface face */
        if (feature == (15u & ~(1u << i)) && kiln_link_is_surface(tet->n[i]) &&
            !is_far(view, start, point, NEAR_SURFACE))
            return start;
    while (found[best].distance2 > 0.0 && idle < PATIENCE) {
        int next = -1;
        for (int i = 0; i < count; i++)
            if (!found[i].expanded && (next < 0 || found[i].distance2 < found[next].distance2))
                next = i;
        if (next < 0)
            break;
        found[next].expanded = true;
        idle++;
        tet = kiln_begin_tet(view, found[next].tet);
        for (int f = 0; f < 4; f++) {
            if (kiln_link_is_surface(tet->n[f]))
                continue;
            uint32_t other = tet->n[f] / 4;
            int k = 0;
            while (k < count && found[k].tet != other)
                k++;
            if (k < count)
                continue;
            if (count == GROWN)
                return found[best].tet;
            ++*visits;
            found[count] = (candidate){distance2_to(view, other, point, &feature), other, false};
            if (found[count].distance2 < found[best].distance2) {
                best = count;
                idle = 0;
            }
            count++;
        }
    }
    return found[best].tet;
}

static double box_distance2(kiln_box box, kiln_vec3 p)
{
    kiln_vec3 nearest = kiln_v3_max(box.low, kiln_v3_min(box.high, p));
    return kiln_v3_norm2(kiln_v3_sub(p, nearest));
}

/* The nearest of all tets of the part of `best`. */
static uint32_t scan_part(const kiln_begin_view *view, kiln_vec3 point, uint32_t best,
                          uint32_t *visits)
{
    unsigned feature;
    double nearest = distance2_to(view, best, point, &feature);
    kiln_vec3 corner[4];
    uint32_t part = kiln_begin_info(view, best)->part;
    for (uint32_t t = 0; t < view->tet.rows && nearest > 0.0; t++) {
        const kiln_tet *tet = kiln_begin_tet(view, t);
        if (tet->v[0] == KILN_NONE || kiln_begin_info(view, t)->part != part)
            continue;
        ++*visits;
        kiln_begin_corners(view, tet, corner);
        if (box_distance2(kiln_box_of(corner, 4), point) >= nearest)
            continue;
        double distance2 = distance2_to(view, t, point, &feature);
        if (distance2 < nearest) {
            nearest = distance2;
            best = t;
        }
    }
    return best;
}

/* From a hint nearby the walk ends where the point left the mesh. From a far one it may have ended
 * at another limb of the body, which only a look at all tets tells. */
static void settle_outside(const kiln_begin_view *view, kiln_vec3 point, uint32_t start,
                           uint32_t tet, kiln_begin_place *place)
{
    tet = find_closest(view, point, tet, &place->visits);
    if (is_far(view, tet, point, FAR_OUTSIDE) ||
        (is_far(view, start, point, FAR_HINT) && is_far(view, tet, point, 0x1p-20)))
        tet = scan_part(view, point, tet, &place->visits);
    kiln_vec3 corner[4];
    kiln_begin_corners(view, kiln_begin_tet(view, tet), corner);
    volumes v = measure(corner, point);
    set_place(place, tet, !beyond(corner, point, &v), corner, point, &v);
}

/* The first live tet from the hint on, round the end. */
static uint32_t find_start(const kiln_begin_view *view, uint32_t start)
{
    uint32_t rows = view->tet.rows, from = start < rows ? start : 0;
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t tet = from + i < rows ? from + i : from + i - rows;
        if (kiln_begin_tet(view, tet)->v[0] != KILN_NONE)
            return tet;
    }
    return KILN_NONE;
}

/* The corner whose opposite face the point is farthest beyond, or least inside of, and its volume;
 * by a table, since branches could not be predicted. */
KILN_INLINE unsigned least(const volumes *v, double *volume)
{
    static const uint8_t corner[8] = {0, 0, 1, 1, 2, 3, 2, 3};
    double a = smaller(v->w[0], v->w[1]), b = smaller(v->w[2], v->w[3]);
    *volume = smaller(a, b);
    return corner[(b < a) * 4 + (v->w[1] < v->w[0]) * 2 + (v->w[3] < v->w[2])];
}

void kiln_begin_locate_in(const kiln_begin_view *view, kiln_vec3 point, uint32_t start,
                          kiln_begin_place *place)
{
    uint32_t tet = kiln_begin_tet_live(view, start) ? start : find_start(view, start);
    *place = (kiln_begin_place){.tet = KILN_NONE};
    if (tet == KILN_NONE)
        return;
    start = tet;
    for (uint32_t step = 0; step < WALK_LIMIT + view->tet.rows; step++) {
        const kiln_tet *record = kiln_begin_tet(view, tet);
        kiln_vec3 corner[4];
        kiln_begin_corners(view, record, corner);
        place->visits = step + 1;
        volumes v = measure(corner, point);
        if (KILN_LIKELY(v.sum > 8 * v.bound && step < STEEPEST)) { /* else all with care */
            double volume;
            unsigned leave = least(&v, &volume);
            if (volume > v.bound) {
                set_place(place, tet, true, corner, point, &v);
                return;
            }
            if (volume < -v.bound && !kiln_link_is_surface(record->n[leave])) {
                tet = record->n[leave] / 4;
                continue;
            }
        }
        unsigned faces = beyond(corner, point, &v);
        if (!faces) {
            set_place(place, tet, true, corner, point, &v);
            return;
        }
        unsigned leave = choose_face(record, faces, &v, step);
        if (leave == 4)
            break;
        tet = record->n[leave] / 4;
    }
    settle_outside(view, point, start, tet, place);
}

void kiln_begin_locate(const kiln_mesh *mesh, kiln_space space, kiln_vec3 point, uint32_t start,
                       kiln_begin_place *place)
{
    kiln_begin_view view = kiln_begin_view_of(mesh, space);
    kiln_begin_locate_in(&view, point, start, place);
}

static double largest_weight(const kiln_begin_place *place)
{
    double largest = 0.0;
    for (int k = 0; k < 4; k++)
        largest = larger(largest, fabs(place->weight[k]));
    return largest;
}

/* The tets round `start` that share a face with one another, nearest first, up to TAMING. */
static int tets_around(const kiln_begin_view *view, uint32_t start, uint32_t found[TAMING])
{
    int count = 1;
    found[0] = start;
    for (int next = 0; next < count; next++) {
        const kiln_tet *tet = kiln_begin_tet(view, found[next]);
        for (int f = 0; f < 4 && count < TAMING; f++) {
            uint32_t other = kiln_link_is_surface(tet->n[f]) ? start : tet->n[f] / 4;
            int k = 0;
            while (k < count && found[k] != other)
                k++;
            if (k == count)
                found[count++] = other;
        }
    }
    return count;
}

void kiln_begin_tame(const kiln_begin_view *view, kiln_vec3 point, kiln_begin_place *place)
{
    if (KILN_LIKELY(largest_weight(place) <= LARGEST_WEIGHT))
        return;
    uint32_t around[TAMING];
    int count = tets_around(view, place->tet, around);
    kiln_begin_place best = *place;
    for (int i = 1; i < count; i++) {
        kiln_begin_place trial = *place;
        kiln_vec3 corner[4];
        kiln_begin_corners(view, kiln_begin_tet(view, around[i]), corner);
        volumes v = measure(corner, point);
        set_place(&trial, around[i], false, corner, point, &v);
        if (v.bound <= 0x1p-24 * fabs(v.sum) && largest_weight(&trial) < largest_weight(&best))
            best = trial;
    }
    if (largest_weight(&best) <= LARGEST_WEIGHT) {
        *place = best;
        return;
    }
    kiln_vec3 corner[4];
    kiln_begin_corners(view, kiln_begin_tet(view, place->tet), corner);
    kiln_closest_point closest = kiln_closest_on_tet(point, corner);
    memcpy(place->weight, closest.weight, sizeof place->weight);
}

kiln_vec3 kiln_begin_point(const kiln_mesh *mesh, kiln_space space, const kiln_begin_place *place)
{
    kiln_begin_view view = kiln_begin_view_of(mesh, space);
    const uint32_t *v = kiln_begin_tet(&view, place->tet)->v;
    kiln_vec3 point = {0, 0, 0};
    for (int i = 0; i < 4; i++)
        point = kiln_v3_madd(point, place->weight[i], kiln_begin_position(&view, v[i]));
    return point;
}
