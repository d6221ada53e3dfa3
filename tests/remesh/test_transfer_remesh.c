/* Fields and an embedded surface over passes of the remesher itself. */
#include "insertion.h"
#include "remesh/embedded.h"
#include "remesh/improve.h"
#include "transfer_rig.h"

static void set_fields(kiln_mesh *mesh)
{
    rig_field(mesh, KILN_ON_VERTEX, "line", KILN_F64, 1, KILN_RULE_INTERPOLATE);
    rig_field(mesh, KILN_ON_VERTEX, "v", KILN_F64, 3, KILN_RULE_MOMENTUM);
    rig_field(mesh, KILN_ON_VERTEX, "fit", KILN_F64, 1, KILN_RULE_PROJECT);
    rig_field(mesh, KILN_ON_VERTEX, "load", KILN_F64, 1, KILN_RULE_CONSERVE);
    rig_field(mesh, KILN_ON_TET, "mass", KILN_F64, 1, KILN_RULE_CONSERVE);
    rig_field(mesh, KILN_ON_TET, "G", KILN_F64, 6, KILN_RULE_SPD_LOG);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = mesh->u[v], w = rig_velocity(u);
        *rig_row(mesh, KILN_ON_VERTEX, "line", v) = rig_linear(u);
        *rig_row(mesh, KILN_ON_VERTEX, "fit", v) = rig_linear(u);
        *rig_row(mesh, KILN_ON_VERTEX, "load", v) = 1.0;
        memcpy(rig_row(mesh, KILN_ON_VERTEX, "v", v), &w, sizeof w);
    }
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        kiln_sym3 g = {1.5 + 0.5 * sin(rig_centroid(mesh, t).x), 1, 1, 0.1, 0, 0.2};
        *rig_row(mesh, KILN_ON_TET, "mass", t) = kiln_mesh_tet_volume(mesh, t);
        memcpy(rig_row(mesh, KILN_ON_TET, "G", t), &g, sizeof g);
    }
}

static void spoil(kiln_mesh *mesh, kiln_random *random, double size, int attempts)
{
    ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
    rig_changes(mesh, random, attempts, size);
}

static void finish(kiln_mesh *mesh, kiln_embedded *surface, size_t *outside)
{
    const kiln_transfer_options options = {.mass = "mass"};
    kiln_transfer_report report;
    rig_transfer(mesh, &options, &report);
    *outside += report.outside;
    ck_assert_uint_eq(report.lost_sources, 0);
    kiln_transfer_report_free(mesh->context, &report);
    ck_assert_int_eq(kiln_embedded_rehang(surface, mesh, NULL, NULL), KILN_OK);
}

static void improve(kiln_mesh *mesh, bool whole, kiln_embedded *surface, size_t *outside)
{
    kiln_remesh_options options = kiln_remesh_default_options();
    kiln_improve_options goal = kiln_improve_default_options();
    kiln_improve_report report;
    kiln_remesher remesher;
    kiln_error error = {0};
    goal.goal = 0.3;
    ck_assert_msg(kiln_remesher_begin(mesh, &options, &remesher, &error) == KILN_OK, "%s",
                  error.message);
    ck_assert_int_eq(whole ? kiln_improve_mesh(&remesher, &goal, &report, &error)
                           : kiln_dynamic_improve(&remesher, &goal, &report, &error),
                     KILN_OK);
    finish(mesh, surface, outside);
    kiln_remesher_end(&remesher);
}

/* Totals stay whatever the remesher does to the outline; linear fields stay linear. */
START_TEST(fields_survive_the_remesher)
{
    static const char *const shape[][2] = {
        {"box", "nx=4 ny=4 nz=4"}, {"ball", "h=0.35"}, {"torus", "h=0.2"}};
    kiln_context *context = kiln_test_context(2);
    kiln_mesh *mesh = kiln_test_mesh(context, shape[_i][0], shape[_i][1]);
    set_fields(mesh);
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        kiln_vec3 at = rig_centroid(mesh, t);
        ck_assert_int_eq(kiln_array_push(context, &soup.points, at, NULL), KILN_OK);
    }
    kiln_embedded *surface = NULL;
    ck_assert_int_eq(
        kiln_embedded_create(mesh, &soup, KILN_SPACE_MATERIAL, KILN_NONE, &surface, NULL, NULL),
        KILN_OK);
    double mass = rig_sum(mesh, KILN_ON_TET, "mass", 0), momentum[3];
    double load = rig_sum(mesh, KILN_ON_VERTEX, "load", 0);
    for (uint32_t c = 0; c < 3; c++)
        momentum[c] = rig_momentum(mesh, "mass", "v", c);
    kiln_random random = kiln_random_start(41, (uint64_t)_i);
    for (int round = 0; round < (int)kiln_test_rounds(3, 20); round++) {
        size_t outside = 0;
        spoil(mesh, &random, 0.03, 150);
        finish(mesh, surface, &outside);
        kiln_archive_end(mesh);
        improve(mesh, round % 3 == 2, surface, &outside);
        kiln_test_audit(mesh);
        ck_assert_double_eq_tol(rig_sum(mesh, KILN_ON_TET, "mass", 0), mass, 1e-12 * mass);
        ck_assert_double_eq_tol(rig_sum(mesh, KILN_ON_VERTEX, "load", 0), load, 1e-12 * load);
        for (uint32_t c = 0; c < 3; c++)
            ck_assert_double_eq_tol(rig_momentum(mesh, "mass", "v", c), momentum[c], 1e-11 * mass);
        for (uint32_t v = 0; outside == 0 && v < mesh->table[KILN_ON_VERTEX].used; v++) {
            if (!kiln_vertex_live(mesh, v))
                continue;
            double exact = rig_linear(mesh->u[v]);
            ck_assert_double_eq_tol(*rig_row(mesh, KILN_ON_VERTEX, "line", v), exact, 1e-10);
            ck_assert_double_eq_tol(*rig_row(mesh, KILN_ON_VERTEX, "fit", v), exact, 1e-10);
        }
        kiln_vec3 *at = malloc(soup.points.count * sizeof *at);
        kiln_embedded_positions(surface, mesh, KILN_SPACE_MATERIAL, at, NULL);
        for (size_t i = 0; i < soup.points.count; i++)
            ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(at[i], soup.points.data[i])), 1e-12);
        free(at);
    }
    kiln_embedded_destroy(surface);
    kiln_soup_free(&soup);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Sums over the consistent mass, about the origin of the world. */
typedef struct motion_sums {
    long double mass, first[3], momentum[3], angular[3], energy;
} motion_sums;

static motion_sums motion_of(const kiln_mesh *mesh)
{
    motion_sums s = {0};
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        long double m = *rig_row(mesh, KILN_ON_TET, "mass", t), x[5][3] = {{0}}, v[5][3] = {{0}};
        for (int k = 0; k < 12; k++) {
            uint32_t vertex = mesh->tet[t].v[k / 3];
            x[k / 3][k % 3] = (&mesh->x[vertex].x)[k % 3];
            v[k / 3][k % 3] = rig_row(mesh, KILN_ON_VERTEX, "v", vertex)[k % 3];
            x[4][k % 3] += x[k / 3][k % 3];
            v[4][k % 3] += v[k / 3][k % 3];
        }
        s.mass += m;
        for (int c = 0; c < 3; c++) {
            int a = (c + 1) % 3, b = (c + 2) % 3;
            s.first[c] += m / 4 * x[4][c];
            s.momentum[c] += m / 4 * v[4][c];
            for (int k = 0; k < 5; k++) {
                s.angular[c] += m / 20 * (x[k][a] * v[k][b] - x[k][b] * v[k][a]);
                s.energy += m / 40 * v[k][c] * v[k][c];
            }
        }
    }
    return s;
}

/* A body that is bent, of matter that is denser here than there, and moves in every way. */
static void set_in_motion(kiln_mesh *mesh, double speed)
{
    set_fields(mesh);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = mesh->u[v];
        mesh->x[v] = kiln_v3_add(u, kiln_v3(0.1 * sin(3 * u.y), 0.15 * u.x * u.z, 0.1 * u.x * u.x));
        double *w = rig_row(mesh, KILN_ON_VERTEX, "v", v);
        w[0] += speed;
        w[1] += cos(7 * u.z);
    }
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        *rig_row(mesh, KILN_ON_TET, "mass", t) *= 1.5 + sin(2 * rig_centroid(mesh, t).y);
}

static void sums_are_kept(const motion_sums *was, const motion_sums *is)
{
    double mass = (double)was->mass, speed = sqrt(2 * (double)(was->energy / was->mass));
    ck_assert_double_eq_tol((double)is->mass, mass, 1e-12 * mass);
    for (int c = 0; c < 3; c++) {
        ck_assert_double_eq_tol((double)is->first[c], (double)was->first[c], 1e-12 * mass);
        ck_assert_double_eq_tol((double)is->momentum[c], (double)was->momentum[c],
                                1e-12 * mass * speed);
        ck_assert_double_eq_tol((double)is->angular[c], (double)was->angular[c],
                                1e-12 * mass * speed);
    }
}

/* Pass after pass, at rest on the whole and fast, where any error of the centre would show. */
START_TEST(motion_survives_passes)
{
    static const char *const shape[][2] = {
        {"box", "nx=4 ny=4 nz=4"}, {"ball", "h=0.35"}, {"torus", "h=0.2"}};
    kiln_context *context = kiln_test_context(1 + _i % 2);
    kiln_mesh *mesh = kiln_test_mesh(context, shape[_i / 2][0], shape[_i / 2][1]);
    set_in_motion(mesh, _i % 2 ? 1000 : 0);
    kiln_random random = kiln_random_start(43, (uint64_t)_i);
    for (int round = 0; round < (int)kiln_test_rounds(4, 20); round++) {
        motion_sums before = motion_of(mesh);
        kiln_transfer_report report;
        spoil(mesh, &random, 0.03, 20 << 2 * (round % 4));
        rig_transfer(mesh, &(kiln_transfer_options){.mass = "mass"}, &report);
        ck_assert_uint_eq(report.unbalanced, 0);
        kiln_transfer_report_free(context, &report);
        kiln_archive_end(mesh);
        motion_sums after = motion_of(mesh);
        sums_are_kept(&before, &after);
        ck_assert_double_le((double)after.energy, (double)before.energy * (1 + 1e-13));
    }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

static void mass_by_region(const kiln_mesh *mesh, double mass[3])
{
    mass[1] = mass[2] = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            mass[mesh->info[t].region] += *rig_row(mesh, KILN_ON_TET, "mass", t);
}

/* What keeps centre and inertia takes no mass from one region for the other. */
START_TEST(regions_keep_their_mass)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = two_regions(context);
    set_in_motion(mesh, 0);
    kiln_random random = kiln_random_start(45, 0);
    double before[3], after[3];
    mass_by_region(mesh, before);
    for (int round = 0; round < 4; round++) {
        motion_sums was = motion_of(mesh);
        spoil(mesh, &random, 0.03, 200);
        rig_transfer(mesh, &(kiln_transfer_options){.mass = "mass"}, NULL);
        kiln_archive_end(mesh);
        motion_sums is = motion_of(mesh);
        sums_are_kept(&was, &is);
        mass_by_region(mesh, after);
        for (int r = 1; r <= 2; r++)
            ck_assert_double_eq_tol(after[r], before[r], 1e-13 * before[r]);
    }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Energy of another kind that the changes have taken is given to the motion, to the last of it, and
 * momentum and angular momentum stay; what hardly moves, for what it has lost, gets no more than a
 * part of its motion, and what is at rest stays at rest. */
START_TEST(what_is_lost_moves)
{
    kiln_context *context = kiln_test_context(1 + _i % 2);
    kiln_mesh *mesh = kiln_test_mesh(context, "torus", "h=0.2");
    set_in_motion(mesh, _i == 1 ? 1000 : 0);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used && _i == 3; v++)
        memset(rig_row(mesh, KILN_ON_VERTEX, "v", v), 0, 3 * sizeof(double));
    motion_sums before = motion_of(mesh);
    double lost = (_i < 2 ? 1e-3 : 1e3) * (double)before.mass;
    ck_assert_uint_eq(mesh->parts.count, 1);
    kiln_random random = kiln_random_start(44, 0);
    spoil(mesh, &random, 0.03, 200);
    rig_transfer(mesh, &(kiln_transfer_options){.mass = "mass", .lost = &lost, .quickened = {"v"}},
                 NULL);
    kiln_archive_end(mesh);
    motion_sums after = motion_of(mesh);
    double gained = (double)(after.energy - before.energy);
    if (_i < 3)
        sums_are_kept(&before, &after);
    if (_i < 2)
        ck_assert_double_eq_tol(gained, lost, 1e-9 * lost + 1e-13 * (double)before.energy);
    else
        ck_assert_double_le(gained, 0.0202 * (double)before.energy);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("transfer_remesh");
    TCase *cases = kiln_test_case(suite, "remesh");
    tcase_add_loop_test(cases, fields_survive_the_remesher, 0, 3);
    tcase_add_loop_test(cases, motion_survives_passes, 0, 6);
    tcase_add_test(cases, regions_keep_their_mass);
    tcase_add_loop_test(cases, what_is_lost_moves, 0, 4);
    return suite;
}
