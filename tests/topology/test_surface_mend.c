#include "broken.h"
#include "fixtures.h"
#include "support.h"
#include "topology/surface_mend.h"
#include "topology/surface_orient.h"

static kiln_soup surface_of(kiln_context *context, const char *shape, const char *settings)
{
    kiln_soup soup = kiln_test_soup(context, shape, settings);
    soup.tets.count = soup.tet_tags.count = 0;
    return soup;
}

typedef struct mended {
    kiln_soup soup;
    kiln_u32_array from;
    kiln_mend_report report;
} mended;

static mended mend(const kiln_soup *surface, double weld, bool walls)
{
    mended m = {.from = {0}};
    const kiln_mend_options options = {weld, walls};
    kiln_soup_init(&m.soup, surface->context);
    ck_assert_int_eq(kiln_surface_mend(surface, &options, &m.soup, &m.from, &m.report, NULL),
                     KILN_OK);
    ck_assert_uint_eq(m.from.count, m.soup.triangles.count);
    return m;
}

static void drop(mended *m)
{
    kiln_array_free(m->soup.context, &m->from);
    kiln_soup_free(&m->soup);
}

static void add(kiln_soup *s, uint32_t a, uint32_t b, uint32_t c)
{
    kiln_soup_triangle t = {{a, b, c}};
    ck_assert_int_eq(kiln_array_push(s->context, &s->triangles, t, NULL), KILN_OK);
    s->triangle_tags.count = 0;
}

/* Every triangle with points of its own, moved by up to `noise` each way. */
static void explode(kiln_soup *s, double noise)
{
    kiln_random random = kiln_random_start(3, 0);
    size_t count = s->triangles.count;
    kiln_vec3 *p = malloc(3 * count * sizeof *p);
    for (size_t i = 0; i < 3 * count; i++) {
        kiln_vec3 off = {kiln_random_range(&random, -noise, noise),
                         kiln_random_range(&random, -noise, noise),
                         kiln_random_range(&random, -noise, noise)};
        p[i] = kiln_v3_add(s->points.data[s->triangles.data[i / 3].v[i % 3]], off);
        s->triangles.data[i / 3].v[i % 3] = (uint32_t)i;
    }
    s->points.count = 0;
    for (size_t i = 0; i < 3 * count; i++)
        ck_assert_int_eq(kiln_array_push(s->context, &s->points, p[i], NULL), KILN_OK);
    free(p);
}

START_TEST(cracks_are_welded)
{
    kiln_context *context = kiln_test_context(1);
    for (int far = 0; far < 2; far++) {
        kiln_soup ball = surface_of(context, "ball", "h=0.3");
        size_t points = 0;
        mended m = mend(&ball, -1, false);
        points = m.soup.points.count;
        ck_assert_uint_eq(m.report.points_welded, 0);
        ck_assert_uint_gt(m.report.points_unused, 0); /* those inside the ball */
        drop(&m);
        explode(&ball, 1e-7);
        for (size_t i = 0; i < ball.points.count && far; i++)
            ball.points.data[i] = kiln_v3_add(ball.points.data[i], kiln_v3(1e6, 2e6, -3e6));
        ck_assert_int_eq(kiln_surface_is_closed(&ball, false, "b", NULL), KILN_ERR_INPUT);
        m = mend(&ball, -1, false);
        ck_assert_uint_eq(m.soup.points.count, points);
        ck_assert_double_lt(m.report.weld_farthest, 1e-6);
        ck_assert_int_eq(kiln_surface_is_closed(&m.soup, false, "b", NULL), KILN_OK);
        drop(&m);
        /* Wider than the preset: open, unless the tolerance is said. */
        explode(&ball, 1e-3);
        m = mend(&ball, -1, false);
        ck_assert_int_eq(kiln_surface_is_closed(&m.soup, false, "b", NULL), KILN_ERR_INPUT);
        drop(&m);
        m = mend(&ball, 5e-3, false);
        ck_assert_int_eq(kiln_surface_is_closed(&m.soup, false, "b", NULL), KILN_OK);
        ck_assert_uint_eq(m.soup.points.count, points);
        drop(&m);
        kiln_soup_free(&ball);
    }
    kiln_context_destroy(context);
}
END_TEST

/* A sheet thinner than the tolerance is not welded shut: its edges say how near is near. */
START_TEST(thin_bodies_stay)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup box = surface_of(context, "box", "n=2");
    for (size_t i = 0; i < box.points.count; i++)
        box.points.data[i].z *= 1e-7;
    mended m = mend(&box, -1, false);
    size_t points = m.soup.points.count;
    drop(&m);
    explode(&box, 0);
    m = mend(&box, -1, false);
    ck_assert_uint_eq(m.soup.points.count, points);
    ck_assert_int_eq(kiln_surface_is_closed(&m.soup, false, "b", NULL), KILN_OK);
    drop(&m);
    kiln_soup_free(&box);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(triangles_too_many)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup box = surface_of(context, "box", "n=2");
    size_t count = box.triangles.count;
    for (uint32_t i = 0; i < 5; i++) { /* again, some of them turned */
        const uint32_t *v = box.triangles.data[7 * i].v;
        if (i % 2)
            add(&box, v[1], v[0], v[2]);
        else
            add(&box, v[1], v[2], v[0]);
    }
    const uint32_t *v = box.triangles.data[0].v;
    add(&box, v[0], v[0], v[1]);
    mended m = mend(&box, -1, false);
    ck_assert_uint_eq(m.soup.triangles.count, count);
    ck_assert_uint_eq(m.report.double_dropped, 5);
    ck_assert_uint_eq(m.report.flat_dropped, 1);
    ck_assert_int_eq(kiln_surface_is_closed(&m.soup, false, "b", NULL), KILN_OK);
    drop(&m);
    kiln_soup_free(&box);
    kiln_context_destroy(context);
}
END_TEST

/* Two boxes that share a face are one body, or two with a wall. */
START_TEST(bodies_that_touch)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup box = surface_of(context, "box", "n=1 pattern=mirrored");
    kiln_soup other = surface_of(context, "box", "n=1 pattern=mirrored");
    size_t count = box.triangles.count;
    for (size_t i = 0; i < other.points.count; i++) /* a mirror image, so that its face fits */
        other.points.data[i].x = 2 - other.points.data[i].x;
    for (size_t i = 0; i < other.triangles.count; i++) {
        uint32_t *v = other.triangles.data[i].v, keep = v[0];
        v[0] = v[1];
        v[1] = keep;
    }
    ck_assert_int_eq(kiln_soup_append(&box, &other, 0, NULL), KILN_OK);
    mended m = mend(&box, -1, false);
    ck_assert_uint_eq(m.report.walls_dropped, 4);
    ck_assert_uint_eq(m.soup.triangles.count, 2 * count - 4);
    ck_assert_int_eq(kiln_surface_is_closed(&m.soup, false, "b", NULL), KILN_OK);
    drop(&m);
    m = mend(&box, -1, true);
    ck_assert_uint_eq(m.soup.triangles.count, 2 * count - 2);
    ck_assert_int_eq(kiln_surface_is_closed(&m.soup, true, "b", NULL), KILN_OK);
    ck_assert_int_eq(kiln_surface_is_closed(&m.soup, false, "b", NULL), KILN_ERR_INPUT);
    drop(&m);
    kiln_soup_free(&box);
    kiln_soup_free(&other);
    kiln_context_destroy(context);
}
END_TEST

/* The same where each has its own diagonal in the wall. */
START_TEST(walls_with_other_diagonals)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup box = surface_of(context, "box", "n=2"), other = surface_of(context, "box", "n=2");
    size_t count = box.triangles.count;
    for (size_t i = 0; i < other.points.count; i++) { /* a quarter turn, and one to the side */
        kiln_vec3 *p = &other.points.data[i];
        *p = kiln_v3(p->x + 1, 1 - p->z, p->y);
    }
    ck_assert_int_eq(kiln_soup_append(&box, &other, 0, NULL), KILN_OK);
    for (int walls = 0; walls < 2; walls++) {
        mended m = mend(&box, -1, walls);
        ck_assert_uint_eq(m.soup.triangles.count, 2 * count - (walls ? 8 : 16));
        ck_assert_int_eq(kiln_surface_is_closed(&m.soup, walls, "b", NULL), KILN_OK);
        drop(&m);
    }
    kiln_soup_free(&box);
    kiln_soup_free(&other);
    kiln_context_destroy(context);
}
END_TEST

/* One side of a box is finer than the others: its corners lie on their edges. */
START_TEST(junctions_are_cut)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup coarse = surface_of(context, "box", "n=1"), fine = surface_of(context, "box", "n=5");
    kiln_soup both;
    kiln_soup_init(&both, context);
    for (int which = 0; which < 2; which++) {
        kiln_soup *s = which ? &fine : &coarse;
        size_t kept = 0;
        for (size_t i = 0; i < s->triangles.count; i++) {
            const uint32_t *v = s->triangles.data[i].v;
            double z = 0;
            for (int k = 0; k < 3; k++)
                z += s->points.data[v[k]].z / 3;
            if ((z > 0.999999) == which)
                s->triangles.data[kept++] = s->triangles.data[i];
        }
        s->triangles.count = kept;
        s->triangle_tags.count = 0;
        ck_assert_int_eq(kiln_soup_append(&both, s, 0, NULL), KILN_OK);
    }
    for (uint64_t turn = 0; turn < 3; turn++) {
        if (turn)
            kiln_test_turn(&both, turn);
        mended m = mend(&both, -1, false);
        ck_assert_uint_eq(m.report.edges_cut, 16);
        ck_assert_int_eq(kiln_surface_is_closed(&m.soup, false, "b", NULL), KILN_OK);
        drop(&m);
    }
    kiln_soup_free(&coarse);
    kiln_soup_free(&fine);
    kiln_soup_free(&both);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(patches_by_angle)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup box = surface_of(context, "box", "n=2"), ball = surface_of(context, "ball", "h=0.3");
    size_t count;
    box.triangle_tags.count = ball.triangle_tags.count = 0;
    for (size_t i = 0; i < box.triangles.count; i += 3) { /* whichever way they look */
        uint32_t *v = box.triangles.data[i].v, keep = v[0];
        v[0] = v[1];
        v[1] = keep;
    }
    ck_assert_int_eq(kiln_surface_tag_patches(&box, 1, &count, NULL), KILN_OK);
    ck_assert_uint_eq(count, 6);
    ck_assert_int_eq(box.triangle_tags.data[0], 1);
    box.triangle_tags.count = 0;
    ck_assert_int_eq(kiln_surface_tag_patches(&box, 2, &count, NULL), KILN_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(kiln_surface_tag_patches(&ball, 0.8, &count, NULL), KILN_OK);
    ck_assert_uint_eq(count, 1);
    kiln_soup_free(&box);
    kiln_soup_free(&ball);
    kiln_context_destroy(context);
}
END_TEST

static double volume_of(const kiln_soup *s)
{
    double volume = 0;
    for (size_t i = 0; i < s->triangles.count; i++) {
        const uint32_t *v = s->triangles.data[i].v;
        const kiln_vec3 *p = s->points.data;
        volume += kiln_v3_triple(p[v[0]], p[v[1]], p[v[2]]) / 6;
    }
    return volume;
}

/* A third of the triangles turned, corners apart: all look outward again, a shell inside inward. */
START_TEST(triangles_turn_outward)
{
    kiln_context *context = kiln_test_context(1);
    static const double noise[] = {0, 1e-3};
    for (int k = 0; k < 2; k++) {
        kiln_soup ball = surface_of(context, "ball", "h=0.25");
        kiln_soup inner = surface_of(context, "ball", "radius=0.5 h=0.25");
        double whole = volume_of(&ball) - volume_of(&inner);
        ck_assert_int_eq(kiln_soup_append(&ball, &inner, 0, NULL), KILN_OK);
        kiln_random random = kiln_random_start(11, 0);
        for (size_t i = 0; i < ball.triangles.count; i++) {
            uint32_t *v = ball.triangles.data[i].v, keep = v[0];
            if (kiln_random_unit(&random) > 0.3)
                continue;
            v[0] = v[1];
            v[1] = keep;
        }
        explode(&ball, noise[k]);
        kiln_orient_report report;
        mended m = mend(&ball, -1, false);
        ck_assert_int_eq(kiln_surface_orient(&m.soup, 0.02, &report, NULL), KILN_OK);
        ck_assert_double_eq_tol(volume_of(&m.soup), whole, 0.01 * whole);
        ck_assert_uint_eq(report.cavities, 1);
        if (noise[k] == 0) {
            ck_assert_uint_eq(report.pieces, 2);
            ck_assert_uint_eq(report.open_edges, 0);
        }
        drop(&m);
        kiln_soup_free(&ball);
        kiln_soup_free(&inner);
    }
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("surface_mend");
    TCase *all = kiln_test_case(suite, "surface_mend");
    tcase_add_test(all, cracks_are_welded);
    tcase_add_test(all, thin_bodies_stay);
    tcase_add_test(all, triangles_too_many);
    tcase_add_test(all, bodies_that_touch);
    tcase_add_test(all, walls_with_other_diagonals);
    tcase_add_test(all, junctions_are_cut);
    tcase_add_test(all, patches_by_angle);
    tcase_add_test(all, triangles_turn_outward);
    return suite;
}
