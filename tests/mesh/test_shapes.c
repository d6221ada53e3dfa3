#include "mesh/shape_build.h"
#include "mesh/shape_font.h"
#include "mesh/shapes.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 6 };

static const kiln_shape *shape_named(const char *name)
{
    size_t count;
    const kiln_shape *const *shapes = kiln_shapes(&count);
    const kiln_shape *shape = NULL;
    ck_assert_int_eq(kiln_shape_find(shapes, count, name, &shape, NULL), KILN_OK);
    return shape;
}

static size_t count_settings(const char *const settings[MOST])
{
    size_t count = 0;
    while (count < MOST && settings[count])
        count++;
    return count;
}

static void make(kiln_context *context, const char *name, const char *const settings[MOST],
                 kiln_soup *soup)
{
    kiln_error error;
    char text[1024];
    kiln_soup_init(soup, context);
    kiln_status status =
        kiln_shape_make(shape_named(name), count_settings(settings), settings, soup, &error);
    ck_assert_msg(status == KILN_OK, "%s: %s", name,
                  status ? kiln_error_format(&error, text, sizeof text) : "");
    ck_assert_int_eq(kiln_soup_check(soup, name, NULL), KILN_OK);
}

typedef struct measures {
    double volume, q_min, surface_volume;
} measures;

static measures measure(const kiln_soup *soup)
{
    measures m = {0, 2, 0};
    const kiln_vec3 *p = soup->points.data;
    for (size_t i = 0; i < soup->tets.count; i++) {
        const uint32_t *v = soup->tets.data[i].v;
        double q = kiln_shape_quality(p[v[0]], p[v[1]], p[v[2]], p[v[3]]);
        m.q_min = q < m.q_min ? q : m.q_min;
        m.volume += kiln_tet_volume(p[v[0]], p[v[1]], p[v[2]], p[v[3]]);
    }
    for (size_t i = 0; i < soup->triangles.count; i++) {
        const uint32_t *v = soup->triangles.data[i].v;
        m.surface_volume += kiln_v3_triple(p[v[0]], p[v[1]], p[v[2]]) / 6;
    }
    return m;
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Each directed edge once, and its reverse once: closed, manifold along edges, one orientation. */
static void check_closed(const kiln_soup *soup)
{
    size_t count = 3 * soup->triangles.count;
    uint64_t *edges = malloc(count * sizeof *edges), *reverse = malloc(count * sizeof *reverse);
    for (size_t i = 0; i < soup->triangles.count; i++)
        for (int e = 0; e < 3; e++) {
            uint64_t a = soup->triangles.data[i].v[e], b = soup->triangles.data[i].v[(e + 1) % 3];
            edges[3 * i + (size_t)e] = a << 32 | b;
            reverse[3 * i + (size_t)e] = b << 32 | a;
        }
    qsort(edges, count, sizeof *edges, compare_u64);
    qsort(reverse, count, sizeof *reverse, compare_u64);
    ck_assert_int_eq(memcmp(edges, reverse, count * sizeof *edges), 0);
    for (size_t i = 1; i < count; i++)
        ck_assert_uint_ne(edges[i - 1], edges[i]);
    free(edges);
    free(reverse);
}

/* Every point belongs to a tet. */
static void check_used(const kiln_soup *soup)
{
    unsigned char *used = calloc(soup->points.count, 1);
    for (size_t i = 0; i < soup->tets.count; i++)
        for (int k = 0; k < 4; k++)
            used[soup->tets.data[i].v[k]] = 1;
    for (size_t i = 0; i < soup->points.count; i++)
        ck_assert(used[i]);
    free(used);
}

/* What all generated meshes have in common. */
static measures check_solid(const kiln_soup *soup, double q_least, const char *name)
{
    measures m = measure(soup);
    ck_assert_msg(m.q_min > q_least, "%s: worst q %g, not above %g", name, m.q_min, q_least);
    ck_assert_double_eq_tol(m.volume, m.surface_volume, 1e-12 * m.volume);
    ck_assert_uint_eq(soup->tet_tags.count, soup->tets.count);
    ck_assert_uint_eq(soup->triangle_tags.count, soup->triangles.count);
    for (size_t i = 0; i < soup->tets.count; i++)
        ck_assert_int_eq(soup->tet_tags.data[i], 1);
    check_closed(soup);
    check_used(soup);
    return m;
}

/* Distance of a point from the patch, relative to the size; NAN for a tag that must not occur. */
typedef double (*patch_distance)(int32_t tag, kiln_vec3 p);

static double box_distance(int32_t tag, kiln_vec3 p)
{
    double x[3] = {p.x, p.y, p.z}, far[3] = {2.5, 0.7, 1.1};
    ck_assert(tag >= 1 && tag <= 6);
    int axis = (tag - 1) / 2;
    return x[axis] == ((tag - 1) % 2 ? far[axis] : 0.0) ? 0.0 : 1.0;
}
static double ball_distance(int32_t tag, kiln_vec3 p)
{
    return tag == 1 ? kiln_v3_norm(p) - 1 : NAN;
}
static double cylinder_distance(int32_t tag, kiln_vec3 p)
{
    return tag == 1   ? hypot(p.x, p.y) - 0.5
           : tag == 2 ? (p.z == 0.0 ? 0 : 1)
           : tag == 3 ? (p.z == 1.0 ? 0 : 1)
                      : NAN;
}
static double distance_from_cone(int32_t tag, kiln_vec3 p, double height)
{
    return tag == 1   ? hypot(p.x, p.y) - 0.5 * (1 - p.z / height)
           : tag == 2 ? (p.z == 0.0 ? 0 : 1)
                      : NAN;
}
static double cone_distance(int32_t tag, kiln_vec3 p)
{
    return distance_from_cone(tag, p, 1);
}
static double flat_cone_distance(int32_t tag, kiln_vec3 p)
{
    return distance_from_cone(tag, p, 0.5);
}
static double slender_cone_distance(int32_t tag, kiln_vec3 p)
{
    return distance_from_cone(tag, p, 2);
}
static double bowl_distance(int32_t tag, kiln_vec3 p)
{
    return tag == 1   ? kiln_v3_norm(p) - 1
           : tag == 2 ? kiln_v3_norm(p) - 0.8
           : tag == 3 ? (p.z == 0.0 ? 0 : 1)
                      : NAN;
}
static double torus_distance(int32_t tag, kiln_vec3 p)
{
    return tag == 1 ? hypot(hypot(p.x, p.y) - 1, p.z) - 0.35 : NAN;
}
static double polygon_distance(int32_t tag, kiln_vec3 p)
{
    const double at[] = {0, 2, 1, 1, 2, 0, 0.3, 0.7, 0.7, 0.3};
    ck_assert(tag >= 1 && tag <= 12);
    if (tag <= 2)
        return p.z == (tag == 1 ? 0.0 : 0.5) ? 0 : 1;
    return fabs((tag % 2 ? p.y : p.x) - at[tag - 3]);
}
static double text_distance(int32_t tag, kiln_vec3 p)
{
    ck_assert(tag >= 1 && tag <= 3);
    return tag == 3 || p.z == (tag == 1 ? 0.0 : 0.25) ? 0 : 1;
}

static double figure_distance(int32_t tag, kiln_vec3 p)
{
    /* Two balls of radius 0.5 that overlap, and a bar of radius 0.2 through both. */
    double a = 0.5 - hypot(hypot(p.x + 0.3, p.y), p.z), b = 0.5 - hypot(hypot(p.x - 0.3, p.y), p.z);
    double bar = 0.2 - hypot(hypot(fmax(fabs(p.x) - 1.0, 0.0), p.y), p.z);
    return tag == 1 ? fmax(fmax(a, b), bar) : NAN;
}

#define PI 3.14159265358979323846

#define FIGURE "limbs=-0.3,0,0,0.5; 0.3,0,0,0.5; -1,0,0,0.2 1,0,0,0.2"
/* The balls less the caps beyond the plane between them, and what of the bar sticks out. */
#define FIGURE_VOLUME 1.027234

static const struct {
    const char *name;
    const char *settings[MOST];
    patch_distance distance;
    double q_least, volume, volume_error; /* relative */
    int euler;                            /* of the surface */
} solids[] = {
    {"box", {"lx=2.5", "ly=0.7", "lz=1.1", "n=3"}, box_distance, 0.55, 2.5 * 0.7 * 1.1, 1e-13, 2},
    {"box",
     {"lx=2.5", "ly=0.7", "lz=1.1", "pattern=mirrored", "n=2"},
     box_distance,
     0.55,
     2.5 * 0.7 * 1.1,
     1e-13,
     2},
    {"box",
     {"lx=2.5", "ly=0.7", "lz=1.1", "pattern=bcc"},
     box_distance,
     0.55,
     2.5 * 0.7 * 1.1,
     1e-13,
     2},
    {"ball", {"h=1"}, ball_distance, 0.9, 4 * PI / 3, 0.5, 2},
    {"ball", {"h=0.2"}, ball_distance, 0.62, 4 * PI / 3, 0.03, 2},
    {"ball", {"h=0.1"}, ball_distance, 0.62, 4 * PI / 3, 0.008, 2},
    {"cylinder", {"h=0.5"}, cylinder_distance, 0.5, PI / 4, 0.2, 2},
    {"cylinder", {"h=0.1"}, cylinder_distance, 0.5, PI / 4, 0.02, 2},
    {"cone", {"h=0.5"}, cone_distance, 0.55, PI / 12, 0.35, 2},
    {"cone", {"h=0.1"}, cone_distance, 0.55, PI / 12, 0.02, 2},
    {"cone", {"h=0.05"}, cone_distance, 0.55, PI / 12, 0.006, 2},
    {"cone", {"h=0.1", "height=0.5"}, flat_cone_distance, 0.5, PI / 24, 0.02, 2},
    {"cone", {"h=0.1", "height=2"}, slender_cone_distance, 0.35, PI / 6, 0.03, 2},
    {"bowl", {"h=0.5"}, bowl_distance, 0.35, 2 * PI / 3 * (1 - 0.512), 0.2, 2},
    {"bowl", {"h=0.1"}, bowl_distance, 0.5, 2 * PI / 3 * (1 - 0.512), 0.02, 2},
    {"torus", {"h=0.3"}, torus_distance, 0.35, 2 * PI *PI * 0.35 * 0.35, 0.2, 0},
    {"torus", {"h=0.1"}, torus_distance, 0.4, 2 * PI *PI * 0.35 * 0.35, 0.03, 0},
    {"polygon", {"h=0.3"}, polygon_distance, 0.48, 1.42, 1e-12, 0},
    {"polygon", {"h=0.1"}, polygon_distance, 0.48, 1.42, 1e-12, 0},
    {"figure", {FIGURE, "blend=0", "h=0.2"}, figure_distance, 0.15, FIGURE_VOLUME, 0.12, 2},
    {"figure", {FIGURE, "blend=0", "h=0.1"}, figure_distance, 0.15, FIGURE_VOLUME, 0.03, 2},
    {"text", {"text=O-I", "h=0.1"}, text_distance, 0.25, (58 + 10 + 40) / 144.0 * 0.25, 1e-12, 4},
};

START_TEST(solids_are_sound_and_their_surface_exact)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup;
    make(context, solids[_i].name, solids[_i].settings, &soup);
    measures m = check_solid(&soup, solids[_i].q_least, solids[_i].name);
    ck_assert_double_eq_tol(m.volume, solids[_i].volume,
                            solids[_i].volume_error * solids[_i].volume);
    for (size_t i = 0; i < soup.triangles.count; i++)
        for (int k = 0; k < 3; k++) {
            double d = solids[_i].distance(soup.triangle_tags.data[i],
                                           soup.points.data[soup.triangles.data[i].v[k]]);
            ck_assert_msg(fabs(d) < 5e-15, "%s: a point of patch %d is off by %g", solids[_i].name,
                          soup.triangle_tags.data[i], d);
        }
    unsigned char *on = calloc(soup.points.count, 1);
    int points = 0;
    for (size_t i = 0; i < 3 * soup.triangles.count; i++)
        on[soup.triangles.data[i / 3].v[i % 3]] = 1;
    for (size_t i = 0; i < soup.points.count; i++)
        points += on[i];
    free(on);
    ck_assert_int_eq(points - (int)soup.triangles.count / 2, solids[_i].euler);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

static int has_tet(const kiln_soup *soup, uint32_t wanted[4])
{
    for (size_t i = 0; i < soup->tets.count; i++) {
        int found = 0;
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++)
                found += soup->tets.data[i].v[a] == wanted[b];
        if (found == 4)
            return 1;
    }
    return 0;
}

START_TEST(boxes_follow_the_definition)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup k, km;
    make(context, "box", (const char *[MOST]){"n=3"}, &k);
    ck_assert_uint_eq(k.points.count, 64);
    ck_assert_uint_eq(k.tets.count, 162);
    ck_assert_uint_eq(k.triangles.count, 108);
    /* All tets of K contain the diagonal 000-111 of their cell. */
    for (size_t i = 0; i < k.tets.count; i++) {
        const uint32_t *v = k.tets.data[i].v;
        uint32_t low = v[0], high = v[0];
        for (int j = 1; j < 4; j++) {
            low = v[j] < low ? v[j] : low;
            high = v[j] > high ? v[j] : high;
        }
        ck_assert_uint_eq(high - low, 1 + 4 + 16);
        const kiln_vec3 *p = k.points.data;
        double q = kiln_shape_quality(p[v[0]], p[v[1]], p[v[2]], p[v[3]]);
        ck_assert_double_eq_tol(q, 0.611973, 1e-6);
    }
    /* KM with even counts is its own mirror image in each axis; K is not. */
    make(context, "box", (const char *[MOST]){"n=2", "pattern=mirrored"}, &km);
    kiln_soup_free(&k);
    make(context, "box", (const char *[MOST]){"n=2"}, &k);
    for (int axis = 0; axis < 3; axis++) {
        int mirrored = 1, plain = 1;
        uint32_t stride = axis == 0 ? 1 : axis == 1 ? 3 : 9;
        for (size_t i = 0; i < km.tets.count; i++) {
            uint32_t image[4], other[4];
            for (int j = 0; j < 4; j++) {
                uint32_t v = km.tets.data[i].v[j], w = k.tets.data[i].v[j];
                image[j] = v + (2 - 2 * (v / stride % 3)) * stride;
                other[j] = w + (2 - 2 * (w / stride % 3)) * stride;
            }
            mirrored &= has_tet(&km, image);
            plain &= has_tet(&k, other);
        }
        ck_assert(mirrored);
        ck_assert(!plain);
    }
    kiln_soup_free(&k);
    kiln_soup_free(&km);
    make(context, "box", (const char *[MOST]){"lx=1", "ly=0.1", "lz=0.1", "n=4"}, &k);
    ck_assert_uint_eq(k.tets.count, 6 * 40 * 4 * 4);
    kiln_soup_free(&k);
    make(context, "box", (const char *[MOST]){"nx=2", "ny=3", "nz=5"}, &k);
    ck_assert_uint_eq(k.tets.count, 6 * 2 * 3 * 5);
    kiln_soup_free(&k);
    make(context, "box", (const char *[MOST]){"lx=1", "ly=0.5", "h=0.25", "nz=3"}, &k);
    ck_assert_uint_eq(k.tets.count, 6 * 4 * 2 * 3);
    kiln_soup_free(&k);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(every_letter_can_be_drawn)
{
    kiln_context *context = kiln_test_context(1);
    char known[80], setting[16];
    kiln_font_characters(known, sizeof known);
    ck_assert_uint_ge(strlen(known), 36);
    for (const char *c = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcxyz0123456789"; *c; c++)
        ck_assert_ptr_nonnull(kiln_font_glyph(*c));
    const char *const sizes[] = {"h=0.17", "h=0.085", "h=0.04"};
    for (const char *c = known; *c; c++)
        for (uint64_t size = 0; size < kiln_test_rounds(2, 3); size++) {
            kiln_soup soup;
            snprintf(setting, sizeof setting, "text=%c", *c);
            make(context, "text", (const char *[MOST]){setting, sizes[size]}, &soup);
            check_solid(&soup, 0.29, setting);
            kiln_soup_free(&soup);
        }
    kiln_context_destroy(context);
}
END_TEST

/* Random star-shaped polygons, some with a hole: never a wrong mesh. */
START_TEST(random_polygons_are_filled)
{
    kiln_context *context = kiln_test_context(1);
    uint64_t rounds = kiln_test_rounds(60, 3000);
    for (uint64_t round = 0; round < rounds; round++) {
        kiln_random random = kiln_random_start(11, round);
        uint32_t corners = 3 + kiln_random_below(&random, 20);
        char text[4096] = "points=", more[64];
        double area = 0, first[2] = {0}, last[2] = {0};
        for (uint32_t i = 0; i < corners; i++) {
            double angle = 2 * PI * (i + 0.8 * kiln_random_unit(&random)) / corners;
            double r = kiln_random_range(&random, 0.5, 1.5);
            snprintf(more, sizeof more, "%.17g,%.17g ", r * cos(angle), r * sin(angle));
            strcat(text, more);
            double x = r * cos(angle), y = r * sin(angle);
            if (i == 0)
                first[0] = x, first[1] = y;
            else
                area += 0.5 * (last[0] * y - last[1] * x);
            last[0] = x, last[1] = y;
        }
        area += 0.5 * (last[0] * first[1] - last[1] * first[0]);
        if (corners > 8) { /* clear of the rim: it passes the centre at 0.5 cos(1.8 pi / 9) */
            strcat(text, ";0.2,0.1 -0.2,0.1 -0.2,-0.1 0.2,-0.1");
            area -= 0.08;
        }
        kiln_soup soup;
        make(context, "polygon", (const char *[MOST]){text, "h=0.2", "depth=0.3"}, &soup);
        measures m = check_solid(&soup, 0.0, text);
        ck_assert_double_eq_tol(m.volume, 0.3 * area, 1e-12);
        kiln_soup_free(&soup);
    }
    kiln_context_destroy(context);
}
END_TEST

/* Limbs that flow into each other have no less volume, and a smoother surface where they meet. */
START_TEST(limbs_flow_into_each_other)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup creased, blended;
    const char *balls = "limbs=-0.4,0,0,0.5; 0.4,0,0,0.5";
    make(context, "figure", (const char *[MOST]){balls, "blend=0", "h=0.08"}, &creased);
    make(context, "figure", (const char *[MOST]){balls, "blend=0.3", "h=0.08"}, &blended);
    double plain = check_solid(&creased, 0.15, balls).volume;
    double smooth = check_solid(&blended, 0.15, balls).volume;
    ck_assert_double_gt(smooth, 1.02 * plain);
    double waist[2] = {0, 0}; /* in the plane x = 0: 0.3 with a crease, with a blend 0.375 wide */
    for (int i = 0; i < 2; i++) {
        const kiln_soup *soup = i ? &blended : &creased;
        for (size_t p = 0; p < soup->points.count; p++)
            if (fabs(soup->points.data[p].x) < 0.04)
                waist[i] = fmax(waist[i], hypot(soup->points.data[p].y, soup->points.data[p].z));
    }
    ck_assert_double_lt(waist[0], 0.35);
    ck_assert_double_gt(waist[1], 0.36);
    kiln_soup_free(&creased);
    kiln_soup_free(&blended);
    kiln_context_destroy(context);
}
END_TEST

static const struct {
    const char *shape, *setting, *message;
} refused[] = {
    {"box", "patern=kuhn", "unknown parameter 'patern', did you mean 'pattern'?"},
    {"box", "pattern=hex", "pattern must be one of kuhn|mirrored|bcc, got 'hex'"},
    {"box", "n=0", "n must be between 1 and 100000, got 0"},
    {"box", "n=2.5", "n must be a whole number, got 2.5"},
    {"box", "lx=nan", "lx must be between 1e-09 and 1e+09, got nan"},
    {"box", "lx=", "lx must be a number, got ''"},
    {"box", "lx=1m", "lx must be a number, got '1m'"},
    {"box", "lx", "expected name=value, got 'lx'"},
    {"box", "n=100000", "this would make about 6e+15 tets"},
    {"ball", "h=1e-9", "this would make about"},
    {"torus", "minor=2", "must be at most 0.9 of the major radius 1, got 2"},
    {"bowl", "thickness=1", "must be at most 0.9 of the radius 1, got 1"},
    {"text", "text=A~", "no letter for '~'; there are: space ABC"},
    {"text", "text=\303\251", "no letter for '\303\251'; there are"},
    {"text", "text= ", "there is no letter in ' '"},
    {"text", "h=1e-6", "at most 1e6 are made"},
    {"figure", "h=1e-9", "this would make about"},
    {"figure", "h=9", "all limbs are too thin for edges of 9"},
    {"figure", "limbs=", "there is no limb in ''"},
    {"figure", "limbs=0,0,0", "expected x,y,z,radius (numbers up to 1e9), found '0,0,0'"},
    {"figure", "limbs=0,0,0,1; 1,1,1,-1", "found '1,1,1,-1'"},
    {"polygon", "points=0,0 1,0", "loop 1 has 2 corners, it needs 3"},
    {"polygon", "points=0,0 1,0 x", "expected x,y (two numbers up to 1e9), found 'x'"},
    {"polygon", "points=0,0 2,2 2,0 0,2", "meets the edge"},
    {"polygon", "points=0,0 1,0 2,0 0,2", "lies on a straight line with its neighbours"},
    {"polygon", "points=0,0 1,0 0,1; 2,2 3,2 2,3", "hole 1 is not inside the outer loop"},
    {"polygon", "points=0,0 4,0 0,4; 1,1 2,1 0,2", "meets the edge"},
};

START_TEST(bad_settings_are_refused)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_error error = {0};
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    const char *const settings[] = {refused[_i].setting};
    int64_t before = heap.live_bytes;
    ck_assert_int_ne(kiln_shape_make(shape_named(refused[_i].shape), 1, settings, &soup, &error),
                     KILN_OK);
    ck_assert_msg(strstr(error.message, refused[_i].message) != NULL, "'%s' is not in '%s'",
                  refused[_i].message, error.message);
    ck_assert_int_eq(heap.live_bytes, before);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(settings_are_given_once)
{
    const char *const settings[] = {"h=0.3", "radius=2", "h=0.2"};
    kiln_shape_values values;
    kiln_error error = {0};
    ck_assert_int_eq(kiln_shape_parse(shape_named("ball"), 2, settings, &values, &error), KILN_OK);
    ck_assert_int_eq(kiln_shape_parse(shape_named("ball"), 3, settings, &values, &error),
                     KILN_ERR_INPUT);
    ck_assert_str_eq(error.message, "h is given twice");
}
END_TEST

START_TEST(unknown_shapes_are_refused)
{
    size_t count;
    const kiln_shape *const *shapes = kiln_shapes(&count), *shape;
    kiln_error error;
    ck_assert_int_eq(kiln_shape_find(shapes, count, "cilinder", &shape, &error), KILN_ERR_INPUT);
    ck_assert_str_eq(error.message, "unknown shape 'cilinder', did you mean 'cylinder'?");
}
END_TEST

/* Fails each allocation in turn until the mesh is made; nothing leaks, nothing is left. */
START_TEST(allocations_may_fail)
{
    size_t count;
    const kiln_shape *shape = kiln_shapes(&count)[_i];
    const char *const coarse[] = {_i == 0 ? "n=1" : "h=0.4"};
    kiln_status status = KILN_ERR_MEMORY;
    for (uint64_t k = 1; status != KILN_OK; k++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        int64_t before = heap.live_bytes;
        heap.fail_at = heap.calls + k;
        kiln_soup soup;
        kiln_soup_init(&soup, context);
        status = kiln_shape_make(shape, 1, coarse, &soup, NULL);
        if (status != KILN_OK) {
            ck_assert_int_eq(status, KILN_ERR_MEMORY);
            ck_assert_int_eq(heap.live_bytes, before);
        }
        kiln_soup_free(&soup);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_blocks, 0);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("shapes");
    TCase *all = kiln_test_case(suite, "shapes");
    tcase_add_loop_test(all, solids_are_sound_and_their_surface_exact, 0,
                        sizeof solids / sizeof solids[0]);
    tcase_add_test(all, boxes_follow_the_definition);
    tcase_add_test(all, every_letter_can_be_drawn);
    tcase_add_test(all, random_polygons_are_filled);
    tcase_add_test(all, limbs_flow_into_each_other);
    tcase_add_loop_test(all, bad_settings_are_refused, 0, sizeof refused / sizeof refused[0]);
    tcase_add_test(all, settings_are_given_once);
    tcase_add_test(all, unknown_shapes_are_refused);
    size_t shapes;
    kiln_shapes(&shapes);
    tcase_add_loop_test(all, allocations_may_fail, 0, (int)shapes);
    return suite;
}
