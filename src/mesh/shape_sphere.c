/* Ball and bowl from the icosahedron. The ball is 20 tets that meet in the centre, each cut into
 * n^3: layer m is a sphere of radius R m/n with 10 m^2 + 2 points, so edges are about R/n
 * everywhere. The bowl is half of one such sphere, repeated at several radii, with prisms between.
 */
#include "mesh/shape_build.h"

#include "base/hash.h"

#include <string.h>

enum { FACES = 20, CORNERS = 12 };

/* South pole, five corners below the equator, five above, north pole. */
static kiln_vec3 icosahedron_corner(int i)
{
    if (i == 0 || i == CORNERS - 1)
        return kiln_v3(0, 0, i == 0 ? -1 : 1);
    double z = i <= 5 ? -1 / sqrt(5.0) : 1 / sqrt(5.0);
    double angle = KILN_PI / 5 * (i <= 5 ? 2 * (i - 1) : 2 * (i - 6) + 1);
    return kiln_v3(2 / sqrt(5.0) * cos(angle), 2 / sqrt(5.0) * sin(angle), z);
}

/* Corners of a face in rising order: 0-4 round the south pole, 5-14 the band, 15-19 the north. */
static void icosahedron_face(int face, uint32_t corner[3])
{
    uint32_t i = (uint32_t)face % 5, j = (i + 1) % 5;
    uint32_t a = 1 + i, b = 1 + j, c = 6 + i, d = 6 + j, keep;
    switch (face / 5) {
    case 0:
        corner[0] = 0, corner[1] = a, corner[2] = b;
        break;
    case 1:
        corner[0] = a, corner[1] = b, corner[2] = c;
        break;
    case 2:
        corner[0] = b, corner[1] = c, corner[2] = d;
        break;
    default:
        corner[0] = c, corner[1] = d, corner[2] = 11;
    }
    for (int pass = 0; pass < 2; pass++)
        for (int s = 0; s < 2; s++)
            if (corner[s] > corner[s + 1]) {
                keep = corner[s];
                corner[s] = corner[s + 1];
                corner[s + 1] = keep;
            }
}

/* Points by the weights of their icosahedron corners. */
typedef struct lattice {
    kiln_soup *soup;
    uint32_t n;
    double radius;
    int arcs; /* weigh by arc length, or (bowl) by the chord, which keeps the equator plane */
    kiln_vec3 corner[CORNERS];
    KILN_ARRAY_OF(uint64_t)
    keys;
    kiln_u32_array ids;
} lattice;

static kiln_status lattice_init(lattice *l, double points, kiln_error *error)
{
    for (int i = 0; i < CORNERS; i++)
        l->corner[i] = icosahedron_corner(i);
    size_t slots = 64;
    while ((double)slots < 2 * points)
        slots *= 2;
    KILN_TRY(kiln_array_reserve(l->soup->context, &l->keys, slots, error));
    KILN_TRY(kiln_array_reserve(l->soup->context, &l->ids, slots, error));
    l->keys.count = l->ids.count = slots;
    memset(l->ids.data, 0xff, slots * sizeof *l->ids.data);
    return KILN_OK;
}

static void lattice_free(lattice *l)
{
    kiln_array_free(l->soup->context, &l->keys);
    kiln_array_free(l->soup->context, &l->ids);
}

static kiln_vec3 lattice_position(const lattice *l, const uint32_t corner[3],
                                  const uint32_t weight[3])
{
    uint32_t layer = weight[0] + weight[1] + weight[2];
    if (layer == 0)
        return kiln_v3(0, 0, 0);
    double arc = atan(2.0); /* between neighbouring corners */
    kiln_vec3 sum = {0, 0, 0};
    int32_t height = 0; /* zero on the equator of a whole sphere */
    for (int i = 0; i < 3; i++) {
        double share = (double)weight[i] / layer;
        sum = kiln_v3_madd(sum, l->arcs ? sin(share * arc) : share, l->corner[corner[i]]);
        height += (int32_t)weight[i] * (corner[i] <= 5 ? -1 : 1);
    }
    if (!l->arcs && height == 0)
        sum.z = 0.0;
    return kiln_v3_scale(kiln_v3_normalize(sum), l->radius * layer / l->n);
}

static kiln_status lattice_point(lattice *l, const uint32_t corner[3], const uint32_t weight[3],
                                 uint32_t *id, kiln_error *error)
{
    uint64_t key = 0;
    for (int i = 0; i < 3; i++)
        if (weight[i])
            key = key << 20 | corner[i] << 16 | weight[i];
    size_t mask = l->keys.count - 1, slot = kiln_hash_mix(key) & mask;
    while (l->ids.data[slot] != UINT32_MAX) {
        if (l->keys.data[slot] == key) {
            *id = l->ids.data[slot];
            return KILN_OK;
        }
        slot = (slot + 1) & mask;
    }
    KILN_TRY(kiln_shape_point(l->soup, lattice_position(l, corner, weight), id, error));
    l->keys.data[slot] = key;
    l->ids.data[slot] = *id;
    return KILN_OK;
}

/* The point at w plus one for each direction in the bit set: bits 0-2 the corners, 3 the centre. */
static kiln_status offset_point(lattice *l, const uint32_t corner[3], const uint32_t w[3], int bits,
                                uint32_t *id, kiln_error *error)
{
    uint32_t weight[3];
    for (int i = 0; i < 3; i++)
        weight[i] = w[i] + ((bits >> i) & 1);
    return lattice_point(l, corner, weight, id, error);
}

/* What starts at weights w with `rest` left for the centre: an upright tet, an octahedron and an
 * inverted tet, as far as they fit. */
static kiln_status cut_position(lattice *l, const uint32_t corner[3], const uint32_t w[3],
                                uint32_t rest, kiln_error *error)
{
    static const uint8_t upright[4] = {1, 2, 4, 8}, inverted[4] = {14, 13, 11, 7};
    static const uint8_t octahedron[6] = {3, 12, 5, 10, 9, 6};
    uint32_t id[6];
    for (int i = 0; i < 4; i++)
        KILN_TRY(offset_point(l, corner, w, upright[i], &id[i], error));
    KILN_TRY(kiln_shape_tet(l->soup, id[0], id[1], id[2], id[3], error));
    if (rest < 2)
        return KILN_OK;
    for (int i = 0; i < 6; i++)
        KILN_TRY(offset_point(l, corner, w, octahedron[i], &id[i], error));
    KILN_TRY(kiln_shape_octahedron(l->soup, id, error));
    if (rest < 3)
        return KILN_OK;
    for (int i = 0; i < 4; i++)
        KILN_TRY(offset_point(l, corner, w, inverted[i], &id[i], error));
    return kiln_shape_tet(l->soup, id[0], id[1], id[2], id[3], error);
}

static kiln_status fill_ball(lattice *l, kiln_error *error)
{
    for (int face = 0; face < FACES; face++) {
        uint32_t corner[3], w[3];
        icosahedron_face(face, corner);
        for (w[0] = 0; w[0] < l->n; w[0]++)
            for (w[1] = 0; w[0] + w[1] < l->n; w[1]++)
                for (w[2] = 0; w[0] + w[1] + w[2] < l->n; w[2]++)
                    KILN_TRY(cut_position(l, corner, w, l->n - w[0] - w[1] - w[2], error));
    }
    return KILN_OK;
}

enum { BALL_RADIUS, BALL_H };

static kiln_status generate_ball(const kiln_shape_values *values, kiln_soup *soup,
                                 kiln_error *error)
{
    double radius = values->number[BALL_RADIUS];
    /* The mean edge is 1.08 R/n. */
    uint32_t n = kiln_shape_divisions(1.08 * radius, values->number[BALL_H], 1);
    lattice l = {.soup = soup, .n = n, .radius = radius, .arcs = 1};
    double points = 1 + 10.0 / 6.0 * n * (n + 1.0) * (2.0 * n + 1) + 2.0 * n;
    KILN_TRY(kiln_shape_reserve(soup, points, 20.0 * n * n * n, error));
    kiln_status status = lattice_init(&l, points, error);
    if (status == KILN_OK)
        status = fill_ball(&l, error);
    lattice_free(&l);
    KILN_TRY(status);
    return kiln_shape_surface(soup, kiln_shape_one_patch, NULL, error);
}

/* Triangles of the southern half; `n` is even, so a row of edges lies on the equator. */
typedef struct half_sphere {
    lattice lattice;
    KILN_ARRAY_OF(kiln_soup_triangle)
    triangles;
} half_sphere;

/* Weight of the corners above the equator. */
static uint32_t northern(const uint32_t corner[3], const uint32_t w[3])
{
    uint32_t sum = 0;
    for (int i = 0; i < 3; i++)
        sum += corner[i] > 5 ? w[i] : 0;
    return sum;
}

static kiln_status add_half_triangle(half_sphere *h, const uint32_t corner[3], const uint32_t w[3],
                                     const uint8_t bits[3], kiln_error *error)
{
    kiln_soup_triangle triangle;
    for (int i = 0; i < 3; i++) {
        uint32_t at[3];
        for (int k = 0; k < 3; k++)
            at[k] = w[k] + ((bits[i] >> k) & 1);
        if (2 * northern(corner, at) > h->lattice.n)
            return KILN_OK;
    }
    for (int i = 0; i < 3; i++)
        KILN_TRY(offset_point(&h->lattice, corner, w, bits[i], &triangle.v[i], error));
    return kiln_array_push(h->lattice.soup->context, &h->triangles, triangle, error);
}

static kiln_status cut_half_sphere(half_sphere *h, kiln_error *error)
{
    static const uint8_t up[3] = {1, 2, 4}, down[3] = {6, 5, 3};
    uint32_t n = h->lattice.n;
    for (int face = 0; face < 15; face++) {
        uint32_t corner[3], w[3];
        icosahedron_face(face, corner);
        for (w[0] = 0; w[0] < n; w[0]++)
            for (w[1] = 0; w[0] + w[1] < n; w[1]++) {
                w[2] = n - 1 - w[0] - w[1];
                KILN_TRY(add_half_triangle(h, corner, w, up, error));
                if (w[2] == 0)
                    continue;
                w[2]--;
                KILN_TRY(add_half_triangle(h, corner, w, down, error));
            }
    }
    return KILN_OK;
}

typedef struct bowl_layers {
    uint32_t sphere_points, layers;
} bowl_layers;

static int32_t bowl_patch(void *user, const uint32_t v[3])
{
    const bowl_layers *b = user;
    uint32_t layer[3];
    for (int i = 0; i < 3; i++)
        layer[i] = v[i] / b->sphere_points;
    if (layer[0] == layer[1] && layer[1] == layer[2])
        return layer[0] == 0 ? 1 : 2; /* no other face has one layer only and one tet only */
    return 3;
}

static kiln_status fill_bowl(half_sphere *h, double thickness, uint32_t layers, kiln_error *error)
{
    kiln_soup *soup = h->lattice.soup;
    KILN_TRY(cut_half_sphere(h, error));
    uint32_t count = (uint32_t)soup->points.count;
    double radius = h->lattice.radius;
    KILN_TRY(kiln_shape_reserve(soup, (double)count * (layers + 1),
                                3.0 * (double)h->triangles.count * layers, error));
    for (uint32_t layer = 1; layer <= layers; layer++)
        for (uint32_t i = 0; i < count; i++) {
            kiln_vec3 p = kiln_v3_normalize(soup->points.data[i]);
            double r = layer == layers ? radius - thickness : radius - thickness * layer / layers;
            KILN_TRY(kiln_shape_point(soup, kiln_v3_scale(p, r), NULL, error));
        }
    for (uint32_t layer = 0; layer < layers; layer++)
        for (size_t t = 0; t < h->triangles.count; t++) {
            uint32_t a[3], b[3];
            for (int i = 0; i < 3; i++) {
                a[i] = h->triangles.data[t].v[i] + layer * count;
                b[i] = a[i] + count;
            }
            KILN_TRY(kiln_shape_prism(soup, a, b, error));
        }
    bowl_layers shape = {count, layers};
    return kiln_shape_surface(soup, bowl_patch, &shape, error);
}

enum { BOWL_RADIUS, BOWL_THICKNESS, BOWL_H };

static kiln_status generate_bowl(const kiln_shape_values *values, kiln_soup *soup,
                                 kiln_error *error)
{
    double radius = values->number[BOWL_RADIUS], thickness = values->number[BOWL_THICKNESS];
    double h = values->number[BOWL_H];
    if (!(thickness <= 0.9 * radius))
        return kiln_fail(error, KILN_ERR_INPUT, "thickness", 0, -1,
                         "must be at most 0.9 of the radius %g, got %g", radius, thickness);
    uint32_t n = 2 * kiln_shape_divisions(1.1 * (radius - 0.5 * thickness) / 2, h, 1);
    uint32_t layers = kiln_shape_divisions(thickness, KILN_PRISM_HEIGHT * h, 1);
    half_sphere half = {.lattice = {.soup = soup, .n = n, .radius = radius}};
    double points = 10.0 * n * n + 2, tets = 30.0 * n * n * layers;
    if (n > 65534 || !(tets < KILN_SHAPE_MAX_TETS))
        return kiln_shape_reserve(soup, points, KILN_SHAPE_MAX_TETS + tets, error);
    kiln_status status = lattice_init(&half.lattice, points, error);
    if (status == KILN_OK)
        status = fill_bowl(&half, thickness, layers, error);
    lattice_free(&half.lattice);
    kiln_array_free(soup->context, &half.triangles);
    return status;
}

static const kiln_shape_param ball_params[] = {
    [BALL_RADIUS] = {"radius", KILN_PARAM_NUMBER, 1, 1e-9, 1e9, NULL, "radius"},
    [BALL_H] = {"h", KILN_PARAM_NUMBER, 0.2, 1e-12, 1e9, NULL, "edge length wanted"},
};

const kiln_shape kiln_shape_ball = {
    "ball",
    "ball about the origin",
    "1 surface",
    ball_params,
    sizeof ball_params / sizeof ball_params[0],
    generate_ball,
};

static const kiln_shape_param bowl_params[] = {
    [BOWL_RADIUS] = {"radius", KILN_PARAM_NUMBER, 1, 1e-9, 1e9, NULL, "outer radius"},
    [BOWL_THICKNESS] = {"thickness", KILN_PARAM_NUMBER, 0.2, 1e-9, 1e9, NULL,
                        "of the wall, at most 0.9 radius"},
    [BOWL_H] = {"h", KILN_PARAM_NUMBER, 0.15, 1e-12, 1e9, NULL, "edge length wanted"},
};

const kiln_shape kiln_shape_bowl = {
    "bowl",
    "lower half of a spherical shell, open at z = 0, centre at the origin",
    "1 outside, 2 inside, 3 rim",
    bowl_params,
    sizeof bowl_params / sizeof bowl_params[0],
    generate_bowl,
};
