/* Whole-domain remeshes that join what nearly touches, and the search for such places. */
#include "fixtures.h"
#include "geom/tet_quality.h"
#include "mesh/walk.h"
#include "remesh/domain.h"
#include "remesh/nearby.h"
#include "support.h"

#include <math.h>

static kiln_context *context;

static kiln_mesh *build(kiln_soup *soup)
{
    kiln_mesh *mesh;
    kiln_error error;
    ck_assert_msg(kiln_mesh_build(context, soup, NULL, &mesh, NULL, &error) == KILN_OK, "%s",
                  error.message);
    kiln_soup_free(soup);
    ck_assert_int_eq(kiln_mesh_add_field(mesh, "rest_volume", KILN_ON_TET, KILN_F64, 1,
                                         KILN_RULE_CONSERVE, NULL),
                     KILN_OK);
    double *rest = (double *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, "rest_volume")->data;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        rest[t] = kiln_mesh_tet_volume(mesh, t);
    return mesh;
}

/* Two of a shape, the second shifted; its tets have another region when asked for. */
static kiln_mesh *two_of(const char *shape, const char *settings, kiln_vec3 shift, int32_t region)
{
    kiln_soup a = kiln_test_soup(context, shape, settings);
    kiln_soup b = kiln_test_soup(context, shape, settings);
    for (size_t i = 0; i < b.points.count; i++)
        b.points.data[i] = kiln_v3_add(b.points.data[i], shift);
    for (size_t t = 0; t < b.tet_tags.count && region; t++)
        b.tet_tags.data[t] = region;
    ck_assert_int_eq(kiln_soup_append(&a, &b, 0, NULL), KILN_OK);
    kiln_soup_free(&b);
    return build(&a);
}

static kiln_mesh *remesh(const kiln_mesh *mesh, double gap, kiln_domain_report *report)
{
    kiln_domain_options options = kiln_domain_default_options();
    kiln_error error;
    kiln_mesh *out;
    options.gap = gap;
    ck_assert_msg(kiln_domain_remesh(mesh, &options, &out, report, &error) == KILN_OK, "%s",
                  error.message);
    kiln_test_audit(out);
    return out;
}

static size_t near_pairs(const kiln_mesh *mesh, double gap)
{
    const uint8_t all[] = {1, 1, 1, 1};
    kiln_nearby nearby = {0};
    ck_assert_int_eq(kiln_nearby_find(mesh, KILN_SPACE_WORLD, gap, all, &nearby, NULL), KILN_OK);
    size_t count = nearby.facing.count;
    kiln_nearby_free(context, &nearby);
    return count;
}

static void check_good(const kiln_mesh *mesh, const kiln_mesh *old)
{
    double worst = 1.0, rest = 0.0;
    const kiln_field *field = kiln_mesh_field(mesh, KILN_ON_TET, "rest_volume");
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        const kiln_vec3 *x = mesh->x;
        double q = kiln_tet_quality(&x[v[0]], &x[v[1]], &x[v[2]], &x[v[3]]);
        worst = fmin(worst, q);
        rest += kiln_field_value(field, t, 0);
    }
    ck_assert_double_ge(worst, 0.15);
    ck_assert_double_eq_tol(rest, kiln_mesh_volume(old), 1e-12 * rest);
}

/* Boxes: wide flat gaps; balls: a lens. Farther apart than the gap they stay two. */
START_TEST(what_nearly_touches_becomes_one)
{
    const char *const shape[] = {"box", "ball"};
    const char *const settings[] = {"nx=5 ny=5 nz=5", "h=0.3"};
    const double length[] = {1.0, 2.0}, apart[] = {0.03, 0.12};
    for (int k = 0; k < 4; k++) {
        bool far = k & 1;
        context = kiln_test_context(1);
        kiln_mesh *mesh =
            two_of(shape[k / 2], settings[k / 2], kiln_v3(length[k / 2] + apart[far], 0.0, 0.0), 0);
        double volume = kiln_mesh_volume(mesh);
        ck_assert_uint_eq(near_pairs(mesh, 0.3), !far);
        kiln_domain_report report;
        kiln_mesh *out = remesh(mesh, 0.3, &report);
        ck_assert_uint_eq(out->parts.count, far ? 2 : 1);
        ck_assert_uint_eq(kiln_test_surface_of(out).components, far ? 2 : 1);
        ck_assert_int_eq(kiln_test_surface_of(out).euler, far ? 4 : 2);
        /* What fills a gap is taken off where the surface is curved; flat sides stay. */
        ck_assert_double_eq_tol(report.volume_before, volume, 1e-9 * volume);
        ck_assert_double_ge(report.volume_after, volume * (1.0 - 1e-9));
        ck_assert_double_le(report.volume_after, (k == 0 ? 1.016 : 1.0 + 1e-9) * volume);
        check_good(out, mesh);
        kiln_mesh_destroy(out);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
}
END_TEST

/* A bar bent until its ends nearly meet becomes a ring. */
START_TEST(the_ends_of_a_ring_grow_together)
{
    context = kiln_test_context(1);
    kiln_soup soup = kiln_test_soup(context, "box", "lx=6 ly=1 lz=1 nx=24 ny=4 nz=4");
    double turn = 2.0 * KILN_PI * (1.0 - 0.05 / 6.0) / 6.0;
    for (size_t i = 0; i < soup.points.count; i++) {
        kiln_vec3 *p = &soup.points.data[i];
        double r = 6.0 / (2.0 * KILN_PI) + p->y - 0.5, angle = turn * p->x;
        *p = kiln_v3(r * cos(angle), r * sin(angle), p->z);
    }
    kiln_mesh *mesh = build(&soup);
    ck_assert_int_eq(kiln_test_surface_of(mesh).euler, 2);
    ck_assert_uint_eq(near_pairs(mesh, 0.3), 1);
    kiln_mesh *out = remesh(mesh, 0.3, NULL);
    ck_assert_uint_eq(kiln_test_surface_of(out).components, 1);
    ck_assert_int_eq(kiln_test_surface_of(out).euler, 0);
    ck_assert_uint_eq(near_pairs(out, 0.3), 0);
    check_good(out, mesh);
    kiln_mesh_destroy(out);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Thin things and convex or blunt bodies are near nothing. */
START_TEST(thin_and_single_bodies_are_left_alone)
{
    const char *const shape[] = {"box", "torus", "ball"};
    const char *const settings[] = {"lx=1 ly=1 lz=0.02 nx=6 ny=6 nz=1", "", ""};
    for (int k = 0; k < 3; k++) {
        context = kiln_test_context(1);
        kiln_mesh *mesh = kiln_test_mesh(context, shape[k], settings[k]);
        ck_assert_uint_eq(near_pairs(mesh, 0.3), 0);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
}
END_TEST

/* Turned about (1, 1, 1) by `angle`, then away. */
static void put(kiln_mesh *mesh, double angle, double away)
{
    const kiln_vec3 axis = kiln_v3_normalize(kiln_v3(1, 1, 1));
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 p = mesh->x[v], along = kiln_v3_scale(axis, kiln_v3_dot(axis, p));
        kiln_vec3 turned = kiln_v3_madd(along, cos(angle), kiln_v3_sub(p, along));
        turned = kiln_v3_madd(turned, sin(angle), kiln_v3_cross(axis, p));
        mesh->x[v] = mesh->u[v] = kiln_v3_add(turned, kiln_v3(away, -away, away));
    }
}

/* Sites on a flat side are a rounding beside their plane: that must not make tets. */
START_TEST(flat_sides_become_one_in_any_position)
{
    const double gaps[] = {0.05, -0.03, 0.0};
    context = kiln_test_context(1);
    for (int i = 0; i < 6; i++) {
        kiln_mesh *mesh = two_of("box", "n=4", kiln_v3(1.0 + gaps[i % 3], 0, 0), 0);
        put(mesh, 0.3 + 0.7 * i, i < 3 ? 0.0 : 1e5);
        kiln_domain_report report;
        kiln_mesh *made = remesh(mesh, 0.4, &report);
        ck_assert_uint_eq(made->parts.count, 1);
        ck_assert_double_ge(report.worst_after, 0.25);
        kiln_mesh_destroy(made);
        kiln_mesh_destroy(mesh);
    }
    kiln_context_destroy(context);
}
END_TEST

/* A ball inside a box, of another region, is all there afterwards, and in one piece. */
START_TEST(what_is_inside_another_stays_whole)
{
    context = kiln_test_context(1);
    kiln_soup box = kiln_test_soup(context, "box", "n=5");
    kiln_soup ball = kiln_test_soup(context, "ball", "radius=0.3 h=0.15");
    for (size_t i = 0; i < ball.points.count; i++)
        ball.points.data[i] = kiln_v3_add(ball.points.data[i], kiln_v3(0.5, 0.5, 0.5));
    ck_assert_int_eq(kiln_soup_append(&box, &ball, 1, NULL), KILN_OK);
    kiln_soup_free(&ball);
    kiln_mesh *mesh = build(&box), *made = remesh(mesh, 0.0, NULL);
    double inside[2] = {0.0, 0.0}, outside = 0.0;
    size_t crumbs = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        inside[0] += mesh->info[t].part == 1 ? kiln_mesh_tet_volume(mesh, t) : 0.0;
    int32_t region = mesh->info[mesh->table[KILN_ON_TET].used - 1].region;
    for (uint32_t t = 0; t < made->table[KILN_ON_TET].used; t++) {
        bool inner = made->info[t].region == region, alone = true;
        *(inner ? &inside[1] : &outside) += kiln_mesh_tet_volume(made, t);
        for (int i = 0; i < 4; i++) {
            kiln_link link = made->tet[t].n[i];
            alone &= kiln_link_is_surface(link) || kiln_link_is_interface(made, t, link);
        }
        crumbs += alone;
    }
    ck_assert_double_eq_tol(inside[1], inside[0], 1e-6 * inside[0]);
    ck_assert_double_eq_tol(inside[1] + outside, 1.0, 1e-9);
    ck_assert_uint_eq(crumbs, 0);
    kiln_mesh_destroy(made);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(regions_stay_their_own)
{
    context = kiln_test_context(1);
    kiln_mesh *mesh = two_of("box", "nx=5 ny=5 nz=5", kiln_v3(1.03, 0, 0), 9);
    kiln_mesh *out = remesh(mesh, 0.3, NULL);
    double volume[2] = {0.0, 0.0}, rest[2] = {0.0, 0.0};
    const kiln_field *field = kiln_mesh_field(out, KILN_ON_TET, "rest_volume");
    for (uint32_t t = 0; t < out->table[KILN_ON_TET].used; t++) {
        volume[out->info[t].region == 9] += kiln_mesh_tet_volume(out, t);
        rest[out->info[t].region == 9] += kiln_field_value(field, t, 0);
    }
    ck_assert_uint_eq(out->parts.count, 1);
    for (int i = 0; i < 2; i++) {
        ck_assert_double_eq_tol(rest[i], 1.0, 1e-12);
        ck_assert_double_eq_tol(volume[i], 1.015, 0.1);
    }
    kiln_mesh_destroy(out);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

static kiln_vec3 face_normal(const kiln_mesh *mesh, uint32_t face)
{
    uint32_t at = mesh->face[face].at;
    const uint8_t *c = kiln_face_corner[at % 4];
    const uint32_t *v = mesh->tet[at / 4].v;
    kiln_vec3 a = mesh->x[v[c[0]]];
    return kiln_v3_normalize(
        kiln_v3_cross(kiln_v3_sub(mesh->x[v[c[1]]], a), kiln_v3_sub(mesh->x[v[c[2]]], a)));
}

/* The sharpest turn between two faces of the surface, degrees. */
static double sharpest_turn(const kiln_mesh *mesh)
{
    double least = 1.0;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        for (int k = 0; k < 3; k++) {
            const uint8_t *c = kiln_face_corner[mesh->face[f].at % 4];
            const uint32_t *v = mesh->tet[mesh->face[f].at / 4].v;
            uint32_t g = kiln_surface_across(mesh, f, v[c[k]], v[c[(k + 1) % 3]]);
            least = fmin(least, kiln_v3_dot(face_normal(mesh, f), face_normal(mesh, g)));
        }
    return acos(least) * 180.0 / KILN_PI;
}

/* Balls that nearly touch meet at no angle at all: whole tets in the gap would be teeth. */
START_TEST(seams_are_smooth)
{
    const kiln_vec3 way[] = {{1.01, 0.0, 0.0}, {0.72, 0.72, 0.0}, {0.62, -0.41, 0.71}};
    for (int k = 0; k < 3; k++) {
        context = kiln_test_context(1);
        kiln_vec3 shift = kiln_v3_scale(way[k], 2.015 / kiln_v3_norm(way[k]));
        kiln_mesh *mesh = two_of("ball", "h=0.2", shift, 0);
        kiln_mesh *out = remesh(mesh, 0.3, NULL);
        ck_assert_uint_eq(out->parts.count, 1);
        ck_assert_double_le(sharpest_turn(out), 80.0);
        kiln_mesh_destroy(out);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("domain_gap");
    TCase *cases = kiln_test_case(suite, "gap");
    tcase_add_test(cases, what_nearly_touches_becomes_one);
    tcase_add_test(cases, the_ends_of_a_ring_grow_together);
    tcase_add_test(cases, thin_and_single_bodies_are_left_alone);
    tcase_add_test(cases, flat_sides_become_one_in_any_position);
    tcase_add_test(cases, what_is_inside_another_stays_whole);
    tcase_add_test(cases, regions_stay_their_own);
    tcase_add_test(cases, seams_are_smooth);
    return suite;
}
