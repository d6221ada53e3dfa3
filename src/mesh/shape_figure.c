/* Figures of round limbs that flow into each other, filled by isosurface stuffing (Labelle and
 * Shewchuk 2007): a body-centred cubic lattice is cut along the surface, after nodes that are too
 * close to it have been moved onto it. */
#include "mesh/shape_build.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* Parts of a short and a long edge: nodes closer than this to where it is cut go there (ibid.,
 * table 1, the pair for the best smallest angle). */
#define SNAP_SHORT 0.41189
#define SNAP_LONG  0.24999

/* Mean edge of the lattice over the side of its cubes: two long edges and four short ones. */
#define MEAN_EDGE ((2.0 + 4.0 * 0.8660254037844386) / 6.0)

/* A ball; with the one before it in the same limb the hull of both, about. */
typedef struct joint {
    kiln_vec3 at;
    double radius;
    uint32_t first; /* of its limb */
} joint;

/* Nodes have whole coordinates in half sides of cubes: all even at corners, all odd at centres. */
typedef struct figure {
    kiln_soup *soup;
    KILN_ARRAY_OF(joint)
    joints;
    double blend, half;
    kiln_vec3 low;
    int32_t cubes[3];
    uint32_t corners, nodes;
    kiln_f64_array value; /* [node] depth below the surface; 0: on it */
    KILN_ARRAY_OF(kiln_vec3)
    place;
    kiln_u32_array point; /* [node] in the soup, UINT32_MAX: none yet */
    KILN_ARRAY_OF(uint64_t)
    cut_keys; /* [slot] an edge between nodes */
    kiln_u32_array cut_points;
    size_t cuts;
} figure;

/* Every node looks at all balls: a bound keeps a slip of the pen from taking hours. */
enum { MOST_BALLS = 1000 };

/* Limbs apart by semicolons, each a chain of x,y,z,radius. */
static kiln_status read_limbs(figure *f, const char *text, kiln_error *error)
{
    uint32_t first = 1;
    for (const char *at = text;;) {
        at += strspn(at, " \t\n");
        if (*at == '\0')
            break;
        if (*at == ';') {
            first = 1;
            at++;
            continue;
        }
        double number[4];
        const char *from = at;
        bool good = true;
        for (int i = 0; i < 4 && good; i++) {
            char *end;
            number[i] = strtod(at, &end);
            good = end != at && fabs(number[i]) <= 1e9 && (i == 3 || *end == ',');
            at = end + (i < 3);
        }
        if (!good || !(number[3] > 0.0))
            return kiln_fail(error, KILN_ERR_INPUT, "limbs", 0, (long long)(from - text),
                             "expected x,y,z,radius (numbers up to 1e9), found '%.40s'", from);
        if (f->joints.count == MOST_BALLS)
            return kiln_fail(error, KILN_ERR_LIMIT, "limbs", 0, -1,
                             "has more than %d balls, the most that are made", MOST_BALLS);
        joint j = {{number[0], number[1], number[2]}, number[3], first};
        KILN_TRY(kiln_array_push(f->soup->context, &f->joints, j, error));
        first = 0;
    }
    if (f->joints.count == 0)
        return kiln_fail(error, KILN_ERR_INPUT, "limbs", 0, -1, "there is no limb in '%.40s'",
                         text);
    return KILN_OK;
}

/* Depth of p in the tapered capsule between two balls. */
static double depth_between(const joint *a, const joint *b, kiln_vec3 p)
{
    kiln_vec3 axis = kiln_v3_sub(b->at, a->at), to = kiln_v3_sub(p, a->at);
    double length2 = kiln_v3_norm2(axis);
    double s = length2 > 0.0 ? fmin(fmax(kiln_v3_dot(to, axis) / length2, 0.0), 1.0) : 0.0;
    return a->radius + s * (b->radius - a->radius) - kiln_v3_norm(kiln_v3_madd(to, -s, axis));
}

/* Positive inside. Limbs whose depths differ by less than `blend` flow into each other. */
static double depth(const figure *f, kiln_vec3 p)
{
    double all = -INFINITY, limb = -INFINITY;
    for (size_t i = 0; i < f->joints.count; i++) {
        const joint *j = &f->joints.data[i];
        limb = fmax(limb, depth_between(j->first ? j : j - 1, j, p));
        if (i + 1 < f->joints.count && !f->joints.data[i + 1].first)
            continue;
        double near = fmax(f->blend - fabs(all - limb), 0.0);
        all = fmax(all, limb) + (f->blend > 0.0 ? 0.25 * near * near / f->blend : 0.0);
        limb = -INFINITY;
    }
    return all;
}

typedef struct node {
    int32_t c[3];
} node;

static uint32_t node_id(const figure *f, node n)
{
    uint32_t odd = (uint32_t)(n.c[0] & 1), id = 0;
    for (int axis = 2; axis >= 0; axis--)
        id = id * ((uint32_t)f->cubes[axis] + 1 - odd) + (uint32_t)(n.c[axis] / 2);
    return odd * f->corners + id;
}

static node node_at(const figure *f, uint32_t id)
{
    int32_t odd = id >= f->corners;
    node n;
    id -= odd ? f->corners : 0;
    for (int axis = 0; axis < 3; axis++) {
        uint32_t count = (uint32_t)(f->cubes[axis] + 1 - odd);
        n.c[axis] = 2 * (int32_t)(id % count) + odd;
        id /= count;
    }
    return n;
}

static bool inside_lattice(const figure *f, node n)
{
    for (int axis = 0; axis < 3; axis++)
        if (n.c[axis] < 0 || n.c[axis] > 2 * f->cubes[axis])
            return false;
    return true;
}

/* The 8 nodes at short edges, then the 6 at long ones. */
static node neighbour(node n, int which)
{
    if (which < 8)
        for (int axis = 0; axis < 3; axis++)
            n.c[axis] += which >> axis & 1 ? 1 : -1;
    else
        n.c[(which - 8) / 2] += which & 1 ? 2 : -2;
    return n;
}

static kiln_status lay_lattice(figure *f, double h, kiln_error *error)
{
    kiln_vec3 high = {-INFINITY, -INFINITY, -INFINITY};
    kiln_context *context = f->soup->context;
    f->half = 0.5 * h / MEAN_EDGE;
    f->low = kiln_v3(INFINITY, INFINITY, INFINITY);
    for (size_t i = 0; i < f->joints.count; i++) {
        const joint *j = &f->joints.data[i];
        double reach = j->radius + f->blend + 2.0 * f->half;
        kiln_vec3 a = j->at;
        f->low = kiln_v3(fmin(f->low.x, a.x - reach), fmin(f->low.y, a.y - reach),
                         fmin(f->low.z, a.z - reach));
        high = kiln_v3(fmax(high.x, a.x + reach), fmax(high.y, a.y + reach),
                       fmax(high.z, a.z + reach));
    }
    double span[3] = {high.x - f->low.x, high.y - f->low.y, high.z - f->low.z}, cubes = 1.0;
    for (int axis = 0; axis < 3; axis++)
        cubes *= ceil(span[axis] / (2.0 * f->half)) + 1.0;
    if (!(12.0 * cubes < KILN_SHAPE_MAX_TETS))
        return kiln_shape_reserve(f->soup, cubes, 12.0 * cubes, error);
    uint32_t centres = 1;
    f->corners = 1;
    for (int axis = 0; axis < 3; axis++) {
        f->cubes[axis] = (int32_t)ceil(span[axis] / (2.0 * f->half));
        f->corners *= (uint32_t)f->cubes[axis] + 1;
        centres *= (uint32_t)f->cubes[axis];
    }
    f->nodes = f->corners + centres;
    KILN_TRY(kiln_array_reserve(context, &f->value, f->nodes, error));
    KILN_TRY(kiln_array_reserve(context, &f->place, f->nodes, error));
    KILN_TRY(kiln_array_reserve(context, &f->point, f->nodes, error));
    memset(f->point.data, 0xff, f->nodes * sizeof(uint32_t));
    for (uint32_t i = 0; i < f->nodes; i++) {
        node n = node_at(f, i);
        f->place.data[i] =
            kiln_v3_madd(f->low, f->half, kiln_v3((double)n.c[0], (double)n.c[1], (double)n.c[2]));
        f->value.data[i] = depth(f, f->place.data[i]);
    }
    return KILN_OK;
}

/* Where the surface cuts the edge, as a part of the way from the lower node to the higher one, so
 * that all who ask get the same bits. Regula falsi, Illinois variant. */
static double cut_edge(const figure *f, uint32_t a, uint32_t b)
{
    if (a > b)
        return 1.0 - cut_edge(f, b, a);
    kiln_vec3 from = f->place.data[a], along = kiln_v3_sub(f->place.data[b], from);
    double s[2] = {0.0, 1.0}, value[2] = {f->value.data[a], f->value.data[b]}, at = 0.5;
    for (int i = 0, kept = -1; i < 60 && fabs(s[1] - s[0]) > 1e-15; i++) {
        at = s[0] + (s[1] - s[0]) * (value[0] / (value[0] - value[1]));
        double here = depth(f, kiln_v3_madd(from, at, along));
        if (here == 0.0)
            break;
        int end = (here > 0.0) == (value[0] > 0.0) ? 0 : 1;
        s[end] = at;
        value[end] = here;
        if (kept == end)
            value[1 - end] *= 0.5;
        kept = end;
    }
    return at;
}

static bool is_cut(const figure *f, uint32_t a, uint32_t b)
{
    return (f->value.data[a] > 0.0 && f->value.data[b] < 0.0) ||
           (f->value.data[a] < 0.0 && f->value.data[b] > 0.0);
}

/* Moves the node to the nearest cut that is too close. Its edges are cut no more then. */
static void snap(figure *f, uint32_t id)
{
    double nearest = INFINITY;
    kiln_vec3 to = {0, 0, 0}, place = f->place.data[id];
    node n = node_at(f, id);
    for (int which = 0; which < 14; which++) {
        node other = neighbour(n, which);
        if (!inside_lattice(f, other))
            continue;
        uint32_t j = node_id(f, other);
        if (!is_cut(f, id, j))
            continue;
        kiln_vec3 along = kiln_v3_sub(f->place.data[j], place);
        double s = cut_edge(f, id, j), distance = s * kiln_v3_norm(along);
        if (s < (which < 8 ? SNAP_SHORT : SNAP_LONG) && distance < nearest) {
            nearest = distance;
            to = kiln_v3_madd(place, s, along);
        }
    }
    if (nearest == INFINITY)
        return;
    f->place.data[id] = to;
    f->value.data[id] = 0.0;
}

static kiln_status node_point(figure *f, uint32_t id, uint32_t *point, kiln_error *error)
{
    if (f->point.data[id] == UINT32_MAX)
        KILN_TRY(kiln_shape_point(f->soup, f->place.data[id], &f->point.data[id], error));
    *point = f->point.data[id];
    return KILN_OK;
}

static kiln_status reserve_cuts(figure *f, kiln_error *error)
{
    size_t cut = 0, slots = 64;
    for (uint32_t i = 0; i < f->nodes; i++)
        for (int which = 0; which < 14; which++) {
            node other = neighbour(node_at(f, i), which);
            cut += inside_lattice(f, other) && node_id(f, other) > i &&
                   is_cut(f, i, node_id(f, other));
        }
    while (slots < 2 * cut)
        slots *= 2;
    f->cuts = slots;
    KILN_TRY(kiln_array_reserve(f->soup->context, &f->cut_keys, slots, error));
    KILN_TRY(kiln_array_reserve(f->soup->context, &f->cut_points, slots, error));
    memset(f->cut_points.data, 0xff, slots * sizeof(uint32_t));
    return KILN_OK;
}

static kiln_status cut_point(figure *f, uint32_t a, uint32_t b, uint32_t *point, kiln_error *error)
{
    uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
    size_t slot = kiln_hash_mix(key) & (f->cuts - 1);
    while (f->cut_points.data[slot] != UINT32_MAX && f->cut_keys.data[slot] != key)
        slot = (slot + 1) & (f->cuts - 1);
    if (f->cut_points.data[slot] == UINT32_MAX) {
        kiln_vec3 along = kiln_v3_sub(f->place.data[b], f->place.data[a]);
        kiln_vec3 at = kiln_v3_madd(f->place.data[a], cut_edge(f, a, b), along);
        KILN_TRY(kiln_shape_point(f->soup, at, &f->cut_points.data[slot], error));
        f->cut_keys.data[slot] = key;
    }
    *point = f->cut_points.data[slot];
    return KILN_OK;
}

/* Nodes in[0..inner) are inside, on[] lie on the surface, out[] are cut off. */
static kiln_status cut_tet(figure *f, const uint32_t *in, int inner, const uint32_t *on,
                           const uint32_t *out, int outer, kiln_error *error)
{
    uint32_t p[4], c[4][4];
    for (int i = 0; i < inner; i++) {
        KILN_TRY(node_point(f, in[i], &p[i], error));
        for (int o = 0; o < outer; o++)
            KILN_TRY(cut_point(f, in[i], out[o], &c[i][o], error));
    }
    for (int k = inner; k < 4 - outer; k++)
        KILN_TRY(node_point(f, on[k - inner], &p[k], error));
    return kiln_shape_cut(f->soup, p, inner, outer, c, error);
}

static kiln_status add_tet(figure *f, const uint32_t id[4], kiln_error *error)
{
    uint32_t in[4], on[4], out[4], p[4];
    int inner = 0, level = 0, outer = 0;
    for (int i = 0; i < 4; i++) {
        double value = f->value.data[id[i]];
        if (value > 0.0)
            in[inner++] = id[i];
        else if (value < 0.0)
            out[outer++] = id[i];
        else
            on[level++] = id[i];
    }
    if (inner == 0)
        return KILN_OK;
    if (outer > 0)
        return cut_tet(f, in, inner, on, out, outer, error);
    for (int i = 0; i < 4; i++)
        KILN_TRY(node_point(f, id[i], &p[i], error));
    return kiln_shape_tet(f->soup, p[0], p[1], p[2], p[3], error);
}

/* Four tets around each long edge between the centres of neighbouring cubes. */
static kiln_status fill(figure *f, kiln_error *error)
{
    static const int8_t ring[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    for (uint32_t i = f->corners; i < f->nodes; i++)
        for (int axis = 0; axis < 3; axis++) {
            node centre = node_at(f, i), next = centre, face = centre;
            next.c[axis] += 2;
            face.c[axis] += 1;
            for (int k = 0; k < 4 && inside_lattice(f, next); k++) {
                uint32_t id[4] = {i, node_id(f, next)};
                for (int end = 0; end < 2; end++) {
                    node corner = face;
                    corner.c[(axis + 1) % 3] += ring[(k + end) % 4][0];
                    corner.c[(axis + 2) % 3] += ring[(k + end) % 4][1];
                    id[2 + end] = node_id(f, corner);
                }
                KILN_TRY(add_tet(f, id, error));
            }
        }
    return KILN_OK;
}

static kiln_status make_figure(figure *f, const char *limbs, double h, kiln_error *error)
{
    KILN_TRY(read_limbs(f, limbs, error));
    KILN_TRY(lay_lattice(f, h, error));
    for (uint32_t i = 0; i < f->nodes; i++)
        snap(f, i);
    KILN_TRY(reserve_cuts(f, error));
    KILN_TRY(fill(f, error));
    if (f->soup->tets.count == 0)
        return kiln_fail(error, KILN_ERR_INPUT, "h", 0, -1,
                         "all limbs are too thin for edges of %g", h);
    return kiln_shape_surface(f->soup, kiln_shape_one_patch, NULL, error);
}

enum { FIGURE_LIMBS, FIGURE_BLEND, FIGURE_H };

static kiln_status generate(const kiln_shape_values *values, kiln_soup *soup, kiln_error *error)
{
    figure f = {.soup = soup, .blend = values->number[FIGURE_BLEND]};
    kiln_status status =
        make_figure(&f, values->text[FIGURE_LIMBS], values->number[FIGURE_H], error);
    kiln_array_free(soup->context, &f.joints);
    kiln_array_free(soup->context, &f.value);
    kiln_array_free(soup->context, &f.place);
    kiln_array_free(soup->context, &f.point);
    kiln_array_free(soup->context, &f.cut_keys);
    kiln_array_free(soup->context, &f.cut_points);
    return status;
}

static const kiln_shape_param params[] = {
    [FIGURE_LIMBS] = {"limbs", KILN_PARAM_TEXT, 0, 0, 0,
                      "0,0,0.9,0.45; 0,0,1.55,0.33; 0.2,0,0.8,0.22 0.35,0,0.2,0.2; "
                      "-0.2,0,0.8,0.22 -0.35,0,0.2,0.2; 0.3,0,1.15,0.16 0.75,0,1.3,0.13; "
                      "-0.3,0,1.15,0.16 -0.75,0,1.3,0.13",
                      "chains of balls x,y,z,radius apart by spaces; after a semicolon the next"},
    [FIGURE_BLEND] = {"blend", KILN_PARAM_NUMBER, 0.1, 0, 1e9, NULL,
                      "how far limbs flow into each other; 0: they meet at creases"},
    [FIGURE_H] = {"h", KILN_PARAM_NUMBER, 0.12, 1e-12, 1e9, NULL, "edge length wanted"},
};

const kiln_shape kiln_shape_figure = {
    "figure",
    "figure of round limbs that flow into each other, each a chain of balls",
    "1 surface",
    params,
    sizeof params / sizeof params[0],
    generate,
};
