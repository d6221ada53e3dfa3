#include "transfer_rig.h"

static void set_fields(kiln_mesh *mesh)
{
    rig_field(mesh, KILN_ON_VERTEX, "line", KILN_F64, 1, KILN_RULE_INTERPOLATE);
    rig_field(mesh, KILN_ON_VERTEX, "v", KILN_F64, 3, KILN_RULE_MOMENTUM);
    rig_field(mesh, KILN_ON_VERTEX, "fit", KILN_F64, 1, KILN_RULE_PROJECT);
    rig_field(mesh, KILN_ON_VERTEX, "load", KILN_F64, 1, KILN_RULE_CONSERVE);
    rig_field(mesh, KILN_ON_TET, "mass", KILN_F64, 1, KILN_RULE_CONSERVE);
    rig_field(mesh, KILN_ON_TET, "side", KILN_F64, 1, KILN_RULE_AVERAGE);
    rig_field(mesh, KILN_ON_FACE, "paint", KILN_U32, 1, KILN_RULE_COPY);
    rig_field(mesh, KILN_ON_FACE, "rain", KILN_F64, 1, KILN_RULE_CONSERVE);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = mesh->u[v], w = rig_velocity(u);
        *rig_row(mesh, KILN_ON_VERTEX, "line", v) = rig_linear(u);
        *rig_row(mesh, KILN_ON_VERTEX, "fit", v) = rig_linear(u);
        *rig_row(mesh, KILN_ON_VERTEX, "load", v) = u.x;
        memcpy(rig_row(mesh, KILN_ON_VERTEX, "v", v), &w, sizeof w);
    }
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        *rig_row(mesh, KILN_ON_TET, "mass", t) = 2 * kiln_mesh_tet_volume(mesh, t);
        *rig_row(mesh, KILN_ON_TET, "side", t) = rig_centroid(mesh, t).x < 0.5 ? 1 : 2;
    }
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        *(uint32_t *)rig_row(mesh, KILN_ON_FACE, "paint", f) = (uint32_t)mesh->face[f].tag;
        *rig_row(mesh, KILN_ON_FACE, "rain", f) = 1.0;
    }
}

static void between(const kiln_mesh *from, kiln_mesh *to, kiln_space space,
                    const kiln_transfer_options *options, kiln_transfer_report *report)
{
    kiln_error error = {0};
    ck_assert_msg(kiln_transfer_between(from, to, space, options, report, &error) == KILN_OK, "%s",
                  error.message);
}

START_TEST(a_whole_mesh_goes_over)
{
    kiln_context *context = kiln_test_context(2);
    kiln_mesh *from = kiln_test_mesh(context, "box", "nx=4 ny=4 nz=4");
    kiln_test_jitter(from, 0.03, 2);
    set_fields(from);
    uint64_t hash = kiln_mesh_hash(from);
    kiln_mesh *to = kiln_test_mesh(context, "box", "nx=5 ny=5 nz=5");
    const kiln_transfer_options options = {.mass = "mass"};
    kiln_transfer_report report;
    between(from, to, KILN_SPACE_MATERIAL, &options, &report);
    ck_assert_uint_eq(kiln_mesh_hash(from), hash);
    ck_assert_uint_eq(report.targets, to->table[KILN_ON_TET].live);
    ck_assert_uint_eq(report.outside + report.stray_sources + report.stray_targets, 0);
    kiln_transfer_report_free(context, &report);
    for (uint32_t v = 0; v < to->table[KILN_ON_VERTEX].used; v++) {
        double exact = rig_linear(to->u[v]);
        ck_assert_double_eq_tol(*rig_row(to, KILN_ON_VERTEX, "line", v), exact, 1e-12);
        ck_assert_double_eq_tol(*rig_row(to, KILN_ON_VERTEX, "fit", v), exact, 1e-12);
    }
    for (uint32_t t = 0; t < to->table[KILN_ON_TET].used; t++) {
        double density = *rig_row(to, KILN_ON_TET, "mass", t) / kiln_mesh_tet_volume(to, t);
        ck_assert_double_eq_tol(density, 2.0, 1e-11);
        kiln_vec3 c = rig_centroid(to, t);
        if (fabs(c.x - 0.5) > 0.4)
            ck_assert_double_eq(*rig_row(to, KILN_ON_TET, "side", t), c.x < 0.5 ? 1 : 2);
    }
    ck_assert_double_eq_tol(rig_sum(to, KILN_ON_TET, "mass", 0), 2.0, 1e-12);
    ck_assert_double_eq_tol(rig_sum(to, KILN_ON_VERTEX, "load", 0),
                            rig_sum(from, KILN_ON_VERTEX, "load", 0), 1e-11);
    ck_assert_double_eq_tol(rig_sum(to, KILN_ON_FACE, "rain", 0),
                            rig_sum(from, KILN_ON_FACE, "rain", 0), 1e-11);
    for (uint32_t c = 0; c < 3; c++)
        ck_assert_double_eq_tol(rig_momentum(to, "mass", "v", c),
                                rig_momentum(from, "mass", "v", c), 1e-12);
    for (uint32_t f = 0; f < to->table[KILN_ON_FACE].used; f++)
        ck_assert_int_eq(*(uint32_t *)rig_row(to, KILN_ON_FACE, "paint", f), to->face[f].tag);
    kiln_mesh_destroy(from);
    kiln_mesh_destroy(to);
    kiln_context_destroy(context);
}
END_TEST

/* A coarse ball to a fine one: the new surface lies outside the old. A box to a longer one: some
 * tets have no overlap at all. */
START_TEST(other_outlines_keep_totals)
{
    bool box = _i;
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *from = kiln_test_mesh(context, box ? "box" : "ball", box ? "nx=3" : "h=0.8");
    kiln_mesh *to = kiln_test_mesh(context, box ? "box" : "ball", box ? "lx=1.5 nx=7" : "h=0.2");
    set_fields(from);
    kiln_transfer_report report;
    const kiln_transfer_options options = {.mass = "mass"};
    between(from, to, KILN_SPACE_WORLD, &options, &report);
    ck_assert_uint_gt(report.outside, 0);
    ck_assert(!box || report.stray_targets > 0);
    double before = rig_sum(from, KILN_ON_TET, "mass", 0);
    ck_assert_double_eq_tol(rig_sum(to, KILN_ON_TET, "mass", 0), before, 1e-12 * before);
    for (uint32_t c = 0; c < 3; c++) {
        double momentum = rig_momentum(from, "mass", "v", c);
        ck_assert_double_eq_tol(rig_momentum(to, "mass", "v", c), momentum, 1e-12 * before);
    }
    for (uint32_t t = 0; t < to->table[KILN_ON_TET].used; t++) {
        ck_assert_double_gt(*rig_row(to, KILN_ON_TET, "mass", t), 0.0);
        double side = *rig_row(to, KILN_ON_TET, "side", t);
        ck_assert(side >= 1.0 && side <= 2.0);
    }
    kiln_transfer_report_free(context, &report);
    kiln_mesh_destroy(from);
    kiln_mesh_destroy(to);
    kiln_context_destroy(context);
}
END_TEST

/* Where the surface moved a little, matter is not thinner or denser there, nor slower. Only masses
 * give way, so that the inertia stays, by no more than a fifth. */
START_TEST(bent_surfaces_keep_density_and_velocity)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *from = kiln_test_mesh(context, "ball", "h=0.5");
    kiln_mesh *to = kiln_test_mesh(context, "ball", "h=0.35");
    set_fields(from);
    rig_field(from, KILN_ON_TET, "rest", KILN_F64, 1, KILN_RULE_CONSERVE);
    for (uint32_t t = 0; t < from->table[KILN_ON_TET].used; t++)
        *rig_row(from, KILN_ON_TET, "mass", t) = *rig_row(from, KILN_ON_TET, "rest", t) =
            3.0 * kiln_mesh_tet_volume(from, t);
    for (uint32_t v = 0; v < from->table[KILN_ON_VERTEX].used; v++)
        for (int c = 0; c < 3; c++)
            rig_row(from, KILN_ON_VERTEX, "v", v)[c] = c + 1.0;
    const kiln_transfer_options options = {.mass = "mass"};
    between(from, to, KILN_SPACE_WORLD, &options, NULL);
    double ratio = 3.0 * kiln_mesh_volume(from) / kiln_mesh_volume(to);
    for (uint32_t t = 0; t < to->table[KILN_ON_TET].used; t++) {
        double volume = kiln_mesh_tet_volume(to, t);
        ck_assert_double_eq_tol(*rig_row(to, KILN_ON_TET, "rest", t) / volume, ratio, 1e-12);
        ck_assert_double_eq_tol(*rig_row(to, KILN_ON_TET, "mass", t) / volume, ratio, 0.21 * ratio);
    }
    for (uint32_t v = 0; v < to->table[KILN_ON_VERTEX].used; v++)
        for (int c = 0; c < 3; c++)
            ck_assert_double_eq_tol(rig_row(to, KILN_ON_VERTEX, "v", v)[c], c + 1.0, 1e-11);
    kiln_mesh_destroy(from);
    kiln_mesh_destroy(to);
    kiln_context_destroy(context);
}
END_TEST

/* Two cubes that overlap by a tenth become one box (SLI 8): amounts add up where they overlap. */
START_TEST(merging_adds_what_overlaps)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup = kiln_test_soup(context, "box", "nx=2 ny=2 nz=2");
    size_t points = soup.points.count, tets = soup.tets.count;
    kiln_vec3 *point = malloc(2 * points * sizeof *point);
    kiln_soup_tet *tet = malloc(2 * tets * sizeof *tet);
    for (size_t i = 0; i < 2 * points; i++) {
        point[i] = soup.points.data[i % points];
        point[i].x += i < points ? 0.0 : 0.9;
    }
    for (size_t i = 0; i < 2 * tets; i++)
        for (int k = 0; k < 4; k++)
            tet[i].v[k] = soup.tets.data[i % tets].v[k] + (uint32_t)(i / tets * points);
    kiln_mesh *from =
        kiln_test_mesh_of(context, 2 * points, point, 2 * tets, tet, NULL, KILN_BUILD_STRICT);
    kiln_mesh *to = kiln_test_mesh(context, "box", "lx=1.9 nx=19 ny=4 nz=4");
    for (uint32_t t = 0; t < to->table[KILN_ON_TET].used; t++)
        to->info[t].region = from->info[0].region;
    rig_field(from, KILN_ON_TET, "rest", KILN_F64, 1, KILN_RULE_CONSERVE);
    rig_field(from, KILN_ON_VERTEX, "v", KILN_F64, 1, KILN_RULE_INTERPOLATE);
    for (uint32_t t = 0; t < from->table[KILN_ON_TET].used; t++)
        *rig_row(from, KILN_ON_TET, "rest", t) = kiln_mesh_tet_volume(from, t);
    for (uint32_t v = 0; v < from->table[KILN_ON_VERTEX].used; v++)
        *rig_row(from, KILN_ON_VERTEX, "v", v) = v < points ? 1.0 : -1.0;
    between(from, to, KILN_SPACE_WORLD, NULL, NULL);
    ck_assert_double_eq_tol(rig_sum(to, KILN_ON_TET, "rest", 0), 2.0, 1e-12);
    for (uint32_t t = 0; t < to->table[KILN_ON_TET].used; t++) {
        double x = rig_centroid(to, t).x;
        double ratio = *rig_row(to, KILN_ON_TET, "rest", t) / kiln_mesh_tet_volume(to, t);
        ck_assert_double_eq_tol(ratio, x > 0.9 && x < 1.0 ? 2.0 : 1.0, 1e-10);
    }
    for (uint32_t v = 0; v < to->table[KILN_ON_VERTEX].used; v++) {
        double x = to->u[v].x;
        if (fabs(x - 0.9) > 1e-9 && fabs(x - 1.0) > 1e-9)
            ck_assert_double_eq_tol(*rig_row(to, KILN_ON_VERTEX, "v", v), x < 0.9 ? 1.0 : -1.0,
                                    1e-12);
    }
    free(point);
    free(tet);
    kiln_soup_free(&soup);
    kiln_mesh_destroy(from);
    kiln_mesh_destroy(to);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("transfer_between");
    TCase *cases = kiln_test_case(suite, "between");
    tcase_add_test(cases, a_whole_mesh_goes_over);
    tcase_add_loop_test(cases, other_outlines_keep_totals, 0, 2);
    tcase_add_test(cases, bent_surfaces_keep_density_and_velocity);
    tcase_add_test(cases, merging_adds_what_overlaps);
    return suite;
}
