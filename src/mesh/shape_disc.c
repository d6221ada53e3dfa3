/* Cylinder, cone and torus from discs of concentric rings: ring k of a disc has 6 k points, so the
 * triangles are those of the hexagonal lattice bent round. Discs of equal ring counts are joined by
 * prisms; where a cone loses a ring, by the tets and octahedra of a lattice one row smaller. */
#include "mesh/shape_build.h"

#include <stdbool.h>

/* Points of a disc with k rings. */
static uint32_t disc_size(uint32_t rings)
{
    return 1 + 3 * rings * (rings + 1);
}

/* Number of point j (any, taken modulo) on ring k. */
static uint32_t disc_point(uint32_t k, uint32_t j)
{
    return k == 0 ? 0 : 1 + 3 * k * (k - 1) + j % (6 * k);
}

/* Lattice point (a, b) of sextant s: ring a + b, b steps into the sextant. */
static uint32_t sextant_point(uint32_t s, uint32_t a, uint32_t b)
{
    return disc_point(a + b, s * (a + b) + b);
}

/* Direction of point j on ring k; the axes are hit exactly. */
static void ring_direction(uint32_t k, uint32_t j, double *c, double *s)
{
    double angle = KILN_PI / 3 * j / k;
    *c = cos(angle);
    *s = sin(angle);
    if (j == 3 * k)
        *s = 0.0;
    if (2 * j == 3 * k || 2 * j == 9 * k)
        *c = 0.0;
}

static kiln_status add_disc(kiln_soup *soup, uint32_t rings, double radius, double z,
                            kiln_error *error)
{
    KILN_TRY(kiln_shape_point(soup, kiln_v3(0, 0, z), NULL, error));
    for (uint32_t k = 1; k <= rings; k++)
        for (uint32_t j = 0; j < 6 * k; j++) {
            double c, s, r = k == rings ? radius : radius * k / rings;
            ring_direction(k, j, &c, &s);
            KILN_TRY(kiln_shape_point(soup, kiln_v3(r * c, r * s, z), NULL, error));
        }
    return KILN_OK;
}

/* Prisms between two discs of the same ring count whose points start at `low` and `high`. */
static kiln_status join_equal(kiln_soup *soup, uint32_t rings, uint32_t low, uint32_t high,
                              kiln_error *error)
{
    for (uint32_t s = 0; s < 6; s++)
        for (uint32_t k = 1; k <= rings; k++)
            for (uint32_t b = 0; b < k; b++) {
                uint32_t a = k - 1 - b; /* (a, b) is on ring k - 1 */
                uint32_t v[4] = {sextant_point(s, a, b), sextant_point(s, a + 1, b),
                                 sextant_point(s, a, b + 1), 0};
                uint32_t p[3], q[3];
                for (int i = 0; i < 3; i++) {
                    p[i] = low + v[i];
                    q[i] = high + v[i];
                }
                KILN_TRY(kiln_shape_prism(soup, p, q, error));
                if (a == 0)
                    continue;
                v[3] = sextant_point(s, a - 1, b + 1);
                p[1] = low + v[3];
                q[1] = high + v[3];
                KILN_TRY(kiln_shape_prism(soup, p, q, error));
            }
    return KILN_OK;
}

/* Between a disc of k rings at `low` and one of k - 1 at `high`: in each sextant the row of the cut
 * tet (apex, centre, rim, rim). Lattice position (a, b, c), c towards the centre. */
static kiln_status join_smaller(kiln_soup *soup, uint32_t k, uint32_t low, uint32_t high,
                                kiln_error *error)
{
    for (uint32_t s = 0; s < 6; s++)
        for (uint32_t a = 0; a < k; a++)
            for (uint32_t b = 0; a + b < k; b++) {
                uint32_t p00 = sextant_point(s, a, b), p10 = sextant_point(s, a + 1, b);
                uint32_t p01 = sextant_point(s, a, b + 1), p11 = sextant_point(s, a + 1, b + 1);
                KILN_TRY(kiln_shape_tet(soup, low + p00, low + p10, low + p01, high + p00, error));
                if (a + b + 2 > k)
                    continue;
                uint32_t v[6] = {low + p10,  high + p01, low + p01,
                                 high + p10, low + p11,  high + p00};
                KILN_TRY(kiln_shape_octahedron(soup, v, error));
                if (a + b + 3 > k)
                    continue;
                KILN_TRY(
                    kiln_shape_tet(soup, high + p10, high + p01, high + p11, low + p11, error));
            }
    return KILN_OK;
}

/* Patches of solids of revolution about z between two planes: 1 side, 2 bottom, 3 top. */
typedef struct planes {
    const kiln_soup *soup;
    double bottom, top;
} planes;

static int32_t side_bottom_top(void *user, const uint32_t v[3])
{
    const planes *p = user;
    int bottom = 1, top = 1;
    for (int i = 0; i < 3; i++) {
        double z = p->soup->points.data[v[i]].z;
        bottom &= z == p->bottom;
        top &= z == p->top;
    }
    return bottom ? 2 : top ? 3 : 1;
}

enum { CYLINDER_RADIUS, CYLINDER_HEIGHT, CYLINDER_H };

static kiln_status generate_cylinder(const kiln_shape_values *values, kiln_soup *soup,
                                     kiln_error *error)
{
    double radius = values->number[CYLINDER_RADIUS], height = values->number[CYLINDER_HEIGHT];
    double h = values->number[CYLINDER_H];
    uint32_t rings = kiln_shape_divisions(radius, h, 1);
    uint32_t layers = kiln_shape_divisions(height, KILN_PRISM_HEIGHT * h, 1);
    double area = 6.0 * rings * rings;
    KILN_TRY(kiln_shape_reserve(soup, (area / 2 + 3.0 * rings + 1) * (layers + 1.0),
                                3.0 * area * layers, error));
    for (uint32_t i = 0; i <= layers; i++)
        KILN_TRY(add_disc(soup, rings, radius, i == layers ? height : height * i / layers, error));
    uint32_t size = disc_size(rings);
    for (uint32_t i = 0; i < layers; i++)
        KILN_TRY(join_equal(soup, rings, i * size, (i + 1) * size, error));
    planes p = {soup, 0.0, height};
    return kiln_shape_surface(soup, side_bottom_top, &p, error);
}

enum { CONE_RADIUS, CONE_HEIGHT, CONE_H };

/* Rings of level i of `levels`: as the radius shrinks, one fewer at a time, none at the apex. */
static uint32_t cone_rings(uint32_t rings, uint32_t levels, uint32_t i)
{
    return (uint32_t)(((uint64_t)rings * (levels - i) + levels - 1) / levels);
}

/* Disc above disc, losing a ring where `above` has one fewer. */
static kiln_status join_discs(kiln_soup *soup, uint32_t here, uint32_t above, uint32_t low,
                              uint32_t high, kiln_error *error)
{
    return here == above ? join_equal(soup, here, low, high, error)
                         : join_smaller(soup, here, low, high, error);
}

static kiln_status fill_blunt_cone(kiln_soup *soup, double radius, double height, uint32_t rings,
                                   uint32_t levels, kiln_error *error)
{
    uint32_t low = 0;
    KILN_TRY(add_disc(soup, rings, radius, 0.0, error));
    for (uint32_t i = 0; i < levels; i++) {
        uint32_t here = cone_rings(rings, levels, i), above = cone_rings(rings, levels, i + 1);
        uint32_t high = (uint32_t)soup->points.count;
        double left = (double)(levels - i - 1) / levels;
        double z = i + 1 == levels ? height : height * (i + 1) / levels;
        KILN_TRY(add_disc(soup, above, radius * left, z, error));
        KILN_TRY(join_discs(soup, here, above, low, high, error));
        low = high;
    }
    return KILN_OK;
}

/* The end of a slender cone on the hexagon of radius rho at z: a triangle above every other of its
 * corners, and one tet from there to the apex. Six tets round the axis would be worse by far. */
static kiln_status add_tip(kiln_soup *soup, uint32_t hexagon, double rho, double z, double height,
                           kiln_error *error)
{
    double up = KILN_PRISM_HEIGHT * rho, share = (height - z - up) / (height - z);
    uint32_t first = (uint32_t)soup->points.count, apex = first + 3, axis = hexagon;
    for (int i = 0; i < 3; i++) {
        kiln_vec3 p = soup->points.data[hexagon + 1 + 2 * (uint32_t)i];
        KILN_TRY(kiln_shape_point(soup, kiln_v3(share * p.x, share * p.y, z + up), NULL, error));
    }
    KILN_TRY(kiln_shape_point(soup, kiln_v3(0, 0, height), NULL, error));
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t t = first + i, t_next = first + (i + 1) % 3;
        uint32_t a = hexagon + 1 + 2 * i, b = a + 1, c = hexagon + 1 + (2 * i + 2) % 6;
        KILN_TRY(kiln_shape_tet(soup, axis, a, b, t, error));
        KILN_TRY(kiln_shape_tet(soup, axis, b, c, t_next, error));
        KILN_TRY(kiln_shape_tet(soup, axis, b, t, t_next, error));
    }
    KILN_TRY(kiln_shape_tet(soup, axis, first, first + 1, first + 2, error));
    return kiln_shape_tet(soup, first, first + 1, first + 2, apex, error);
}

/* Steeper than 1.75: less than half a ring is lost from one level to the next, and the levels end
 * where one ring is left. */
static kiln_status fill_slender_cone(kiln_soup *soup, double radius, double height, uint32_t rings,
                                     uint32_t levels, kiln_error *error)
{
    double edge = radius / rings;
    uint32_t low = 0, here = rings, level = 0;
    KILN_TRY(add_disc(soup, rings, radius, 0.0, error));
    for (;;) {
        double rho = radius * (levels - level - 1) / levels;
        if (rho < 0.75 * edge)
            break;
        uint32_t high = (uint32_t)soup->points.count;
        uint32_t above = (uint32_t)(rho / edge + 0.5);
        above = above ? above : 1;
        level++;
        KILN_TRY(add_disc(soup, above, rho, height * level / levels, error));
        KILN_TRY(join_discs(soup, here, above, low, high, error));
        here = above;
        low = high;
    }
    return add_tip(soup, low, radius * (levels - level) / levels, height * level / levels, height,
                   error);
}

static kiln_status generate_cone(const kiln_shape_values *values, kiln_soup *soup,
                                 kiln_error *error)
{
    double radius = values->number[CONE_RADIUS], height = values->number[CONE_HEIGHT];
    double h = values->number[CONE_H];
    uint32_t rings = kiln_shape_divisions(radius, h, 1);
    uint32_t levels = kiln_shape_divisions(height, KILN_PRISM_HEIGHT * h, rings);
    bool slender = height > 1.75 * radius;
    if (slender)
        levels = kiln_shape_divisions(height, KILN_PRISM_HEIGHT * radius / rings, 1);
    double volume = 6.0 * rings * rings * levels;
    KILN_TRY(kiln_shape_reserve(soup, volume / 6 + 4.0 * rings * levels + 8, volume + 16, error));
    KILN_TRY(slender ? fill_slender_cone(soup, radius, height, rings, levels, error)
                     : fill_blunt_cone(soup, radius, height, rings, levels, error));
    planes p = {soup, 0.0, INFINITY};
    return kiln_shape_surface(soup, side_bottom_top, &p, error);
}

enum { TORUS_MAJOR, TORUS_MINOR, TORUS_H };

static int32_t torus_patch(void *user, const uint32_t v[3])
{
    (void)user;
    (void)v;
    return 1;
}

static kiln_status generate_torus(const kiln_shape_values *values, kiln_soup *soup,
                                  kiln_error *error)
{
    double major = values->number[TORUS_MAJOR], minor = values->number[TORUS_MINOR];
    double h = values->number[TORUS_H];
    if (!(minor <= 0.9 * major))
        return kiln_fail(error, KILN_ERR_INPUT, "minor", 0, -1,
                         "must be at most 0.9 of the major radius %g, got %g", major, minor);
    uint32_t rings = kiln_shape_divisions(minor, h, 1);
    /* Sections are closer on the inside than on the outside: right for the mean of the two. */
    double mean = sqrt((major - minor) * (major + minor));
    uint32_t sections = kiln_shape_divisions(2 * KILN_PI * mean, KILN_PRISM_HEIGHT * h, 6);
    double area = 6.0 * rings * rings;
    KILN_TRY(kiln_shape_reserve(soup, (area / 2 + 3.0 * rings + 1) * sections,
                                3.0 * area * sections, error));
    uint32_t size = disc_size(rings);
    for (uint32_t i = 0; i < sections; i++) {
        double c = cos(2 * KILN_PI * i / sections), s = sin(2 * KILN_PI * i / sections);
        KILN_TRY(add_disc(soup, rings, minor, 0.0, error));
        for (size_t p = soup->points.count - size; p < soup->points.count; p++) {
            kiln_vec3 flat = soup->points.data[p];
            soup->points.data[p] = kiln_v3((major + flat.x) * c, (major + flat.x) * s, flat.y);
        }
    }
    for (uint32_t i = 0; i < sections; i++)
        KILN_TRY(join_equal(soup, rings, i * size, (i + 1) % sections * size, error));
    return kiln_shape_surface(soup, torus_patch, NULL, error);
}

static const kiln_shape_param cylinder_params[] = {
    [CYLINDER_RADIUS] = {"radius", KILN_PARAM_NUMBER, 0.5, 1e-9, 1e9, NULL, "radius"},
    [CYLINDER_HEIGHT] = {"height", KILN_PARAM_NUMBER, 1, 1e-9, 1e9, NULL, "height"},
    [CYLINDER_H] = {"h", KILN_PARAM_NUMBER, 0.15, 1e-12, 1e9, NULL, "edge length wanted"},
};

const kiln_shape kiln_shape_cylinder = {
    "cylinder",      "cylinder about the z axis, bottom at z = 0",       "1 side, 2 bottom, 3 top",
    cylinder_params, sizeof cylinder_params / sizeof cylinder_params[0], generate_cylinder,
};

static const kiln_shape_param cone_params[] = {
    [CONE_RADIUS] = {"radius", KILN_PARAM_NUMBER, 0.5, 1e-9, 1e9, NULL, "radius of the base"},
    [CONE_HEIGHT] = {"height", KILN_PARAM_NUMBER, 1, 1e-9, 1e9, NULL,
                     "height (tets are good up to 4.5 radii; the tip is as slender as the cone)"},
    [CONE_H] = {"h", KILN_PARAM_NUMBER, 0.15, 1e-12, 1e9, NULL, "edge length wanted"},
};

const kiln_shape kiln_shape_cone = {
    "cone",      "cone about the z axis, base at z = 0, apex above", "1 side, 2 base",
    cone_params, sizeof cone_params / sizeof cone_params[0],         generate_cone,
};

static const kiln_shape_param torus_params[] = {
    [TORUS_MAJOR] = {"major", KILN_PARAM_NUMBER, 1, 1e-9, 1e9, NULL,
                     "radius of the circle in the middle of the tube"},
    [TORUS_MINOR] = {"minor", KILN_PARAM_NUMBER, 0.35, 1e-9, 1e9, NULL,
                     "radius of the tube, at most 0.9 of the major (tets are good up to 0.7)"},
    [TORUS_H] = {"h", KILN_PARAM_NUMBER, 0.12, 1e-12, 1e9, NULL, "edge length wanted"},
};

const kiln_shape kiln_shape_torus = {
    "torus",      "torus about the z axis, centre at the origin", "1 surface",
    torus_params, sizeof torus_params / sizeof torus_params[0],   generate_torus,
};
