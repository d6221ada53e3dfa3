/* L2 projection: integrals and residuals by brute force over all pairs of old and new tets. */
#include "geom/tet_clip.h"
#include "transfer_rig.h"

typedef struct old_tet {
    kiln_vec3 corner[4];
    double value[4];
} old_tet;

static double wave(kiln_vec3 u)
{
    return sin(7 * u.x) * cos(5 * u.y) + u.z * u.z;
}

/* Tets with the values of one component of a vertex field, to look at later. */
static old_tet *remember(const kiln_mesh *mesh, const char *name, uint32_t c, size_t *count)
{
    old_tet *old = malloc(mesh->table[KILN_ON_TET].used * sizeof *old);
    *count = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        for (int k = 0; k < 4; k++) {
            old[*count].corner[k] = mesh->u[mesh->tet[t].v[k]];
            old[*count].value[k] = rig_row(mesh, KILN_ON_VERTEX, name, mesh->tet[t].v[k])[c];
        }
        ++*count;
    }
    return old;
}

static kiln_vec3 slope(const old_tet *tet)
{
    kiln_vec3 a = kiln_v3_sub(tet->corner[1], tet->corner[0]);
    kiln_vec3 b = kiln_v3_sub(tet->corner[2], tet->corner[0]);
    kiln_vec3 c = kiln_v3_sub(tet->corner[3], tet->corner[0]);
    double volume = kiln_v3_triple(a, b, c);
    kiln_vec3 sum = kiln_v3_scale(kiln_v3_cross(b, c), tet->value[1] - tet->value[0]);
    sum = kiln_v3_madd(sum, tet->value[2] - tet->value[0], kiln_v3_cross(c, a));
    sum = kiln_v3_madd(sum, tet->value[3] - tet->value[0], kiln_v3_cross(a, b));
    return kiln_v3_scale(sum, 1.0 / volume);
}

/* Integral of the squared difference of two piecewise linear fields. */
static double residual(const old_tet *a, size_t a_count, const old_tet *b, size_t b_count)
{
    double total = 0.0;
    for (size_t i = 0; i < a_count; i++)
        for (size_t j = 0; j < b_count; j++) {
            kiln_moments m = kiln_tet_overlap_moments(a[i].corner, b[j].corner, b[j].corner[0],
                                                      KILN_MOMENT_SECOND);
            if (m.volume == 0.0)
                continue;
            kiln_vec3 ga = slope(&a[i]), h = kiln_v3_sub(ga, slope(&b[j]));
            double d = a[i].value[0] - b[j].value[0] +
                       kiln_v3_dot(ga, kiln_v3_sub(b[j].corner[0], a[i].corner[0]));
            const double *q = m.second;
            kiln_sym3 second = {q[0], q[1], q[2], q[3], q[4], q[5]};
            total += d * d * m.volume + 2 * d * kiln_v3_dot(h, m.first) +
                     kiln_v3_dot(h, kiln_sym3_apply(second, h));
        }
    return total;
}

static double integral(const old_tet *a, size_t count)
{
    double total = 0.0;
    for (size_t i = 0; i < count; i++)
        total += kiln_tet_volume(a[i].corner[0], a[i].corner[1], a[i].corner[2], a[i].corner[3]) *
                 0.25 * (a[i].value[0] + a[i].value[1] + a[i].value[2] + a[i].value[3]);
    return total;
}

static kiln_mesh *box_with_waves(kiln_context *context)
{
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=3 ny=3 nz=3");
    kiln_test_jitter(mesh, 0.04, 3);
    rig_field(mesh, KILN_ON_VERTEX, "fit", KILN_F64, 2, KILN_RULE_PROJECT);
    rig_field(mesh, KILN_ON_VERTEX, "at", KILN_F64, 1, KILN_RULE_INTERPOLATE);
    return mesh;
}

static void set_waves(kiln_mesh *mesh)
{
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        if (!kiln_vertex_live(mesh, v))
            continue;
        double *fit = rig_row(mesh, KILN_ON_VERTEX, "fit", v);
        fit[0] = *rig_row(mesh, KILN_ON_VERTEX, "at", v) = wave(mesh->u[v]);
        fit[1] = rig_linear(mesh->u[v]);
    }
}

START_TEST(projection_beats_interpolation_and_keeps_the_integral)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box_with_waves(context);
    kiln_random random = kiln_random_start(21, 1);
    int tried = 0;
    for (int pass = 0; pass < (int)kiln_test_rounds(4, 40); pass++) {
        set_waves(mesh);
        size_t old_count, fit_count, at_count;
        old_tet *old = remember(mesh, "fit", 0, &old_count);
        ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
        rig_changes(mesh, &random, pass ? 12 : 100, 0.05);
        kiln_transfer_report report;
        rig_transfer(mesh, NULL, &report);
        ck_assert_uint_lt(report.project_iterations, 50);
        kiln_transfer_report_free(context, &report);
        kiln_archive_end(mesh);
        old_tet *fit = remember(mesh, "fit", 0, &fit_count);
        old_tet *at = remember(mesh, "at", 0, &at_count);
        double by_fit = residual(old, old_count, fit, fit_count);
        double by_interpolation = residual(old, old_count, at, at_count);
        bool nested = by_interpolation < 1e-9; /* splits alone: nothing to gain */
        tried += !nested;
        ck_assert_msg(nested || by_fit < by_interpolation, "%g, by interpolation %g", by_fit,
                      by_interpolation);
        double before = integral(old, old_count);
        ck_assert_double_eq_tol(integral(fit, fit_count), before, 1e-12 * fabs(before));
        ck_assert(nested || fabs(integral(at, at_count) - before) > 1e-8);
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
            if (kiln_vertex_live(mesh, v))
                ck_assert_double_eq_tol(rig_row(mesh, KILN_ON_VERTEX, "fit", v)[1],
                                        rig_linear(mesh->u[v]), 1e-12);
        free(old);
        free(fit);
        free(at);
    }
    ck_assert_int_gt(tried, 2);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Nested: the old field is in the new space, so projection and interpolation are the same. */
START_TEST(splits_need_no_projection)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box_with_waves(context);
    set_waves(mesh);
    kiln_random random = kiln_random_start(22, 1);
    ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
    const uint32_t corners[4] = {2, 0, 3, 1};
    for (int i = 0; i < 40; i++) {
        kiln_split split;
        kiln_txn txn = kiln_txn_begin(mesh);
        uint32_t t = kiln_random_below(&random, mesh->table[KILN_ON_TET].used);
        kiln_txn_settle(&txn, kiln_split_middle(&txn, t, corners, 2 + i % 3, &split));
    }
    rig_transfer(mesh, NULL, NULL);
    kiln_archive_end(mesh);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        ck_assert_double_eq_tol(rig_row(mesh, KILN_ON_VERTEX, "fit", v)[0],
                                *rig_row(mesh, KILN_ON_VERTEX, "at", v), 1e-12);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Positions far from affine on a few large tets: the plain projection inverts, the safe one does
 * not, and is still better than interpolation. */
START_TEST(the_safe_projection_inverts_nothing)
{
    kiln_context *context = kiln_test_context(1);
    size_t inverted[2] = {0}, held = 0;
    for (int safe = 0; safe < 2; safe++)
        for (int trial = 0; trial < (int)kiln_test_rounds(12, 60); trial++) {
            kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=2 ny=2 nz=2");
            kiln_test_jitter(mesh, 0.04, 3);
            rig_field(mesh, KILN_ON_VERTEX, "y", KILN_F64, 3, KILN_RULE_PROJECT);
            rig_field(mesh, KILN_ON_VERTEX, "z", KILN_F64, 3, KILN_RULE_INTERPOLATE);
            kiln_random random = kiln_random_start(23, (uint64_t)trial);
            kiln_split splits[30];
            int count = 0;
            for (int i = 0; i < 200 && count < 30; i++) {
                kiln_txn txn = kiln_txn_begin(mesh);
                uint32_t t = kiln_random_below(&random, mesh->table[KILN_ON_TET].used);
                const uint32_t corners[4] = {0, 1, 2, 3};
                count += kiln_txn_settle(&txn, kiln_split_middle(&txn, t, corners, 4,
                                                                 &splits[count])) == KILN_ACCEPTED;
            }
            for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
                kiln_vec3 y = mesh->u[v];
                if (v >= 27) /* vertices of the splits, driven far along x */
                    y.x += kiln_random_range(&random, -0.15, 2.5);
                memcpy(rig_row(mesh, KILN_ON_VERTEX, "y", v), &y, sizeof y);
                memcpy(rig_row(mesh, KILN_ON_VERTEX, "z", v), &y, sizeof y);
            }
            size_t old_count, y_count, z_count;
            old_tet *old = remember(mesh, "y", 0, &old_count);
            ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
            for (int i = count; i-- > 0;) {
                kiln_txn txn = kiln_txn_begin(mesh);
                kiln_txn_settle(&txn, kiln_unsplit(&txn, &splits[i]));
            }
            kiln_transfer_options options = {.positions = safe ? "y" : NULL};
            kiln_transfer_report report;
            rig_transfer(mesh, &options, &report);
            held += report.held;
            kiln_transfer_report_free(context, &report);
            kiln_archive_end(mesh);
            for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
                kiln_vec3 y[4];
                if (!kiln_tet_live(mesh, t))
                    continue;
                for (int k = 0; k < 4; k++)
                    memcpy(&y[k], rig_row(mesh, KILN_ON_VERTEX, "y", mesh->tet[t].v[k]),
                           sizeof y[k]);
                inverted[safe] += kiln_tet_volume(y[0], y[1], y[2], y[3]) <= 0.0;
            }
            old_tet *y = remember(mesh, "y", 0, &y_count);
            old_tet *z = remember(mesh, "z", 0, &z_count);
            ck_assert_double_le(residual(old, old_count, y, y_count),
                                residual(old, old_count, z, z_count) * (1 + 1e-12));
            free(old);
            free(y);
            free(z);
            kiln_mesh_destroy(mesh);
        }
    ck_assert_uint_gt(inverted[0], 0);
    ck_assert_uint_eq(inverted[1], 0);
    ck_assert_uint_gt(held, 0);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("transfer_project");
    TCase *cases = kiln_test_case(suite, "project");
    tcase_add_test(cases, projection_beats_interpolation_and_keeps_the_integral);
    tcase_add_test(cases, splits_need_no_projection);
    tcase_add_test(cases, the_safe_projection_inverts_nothing);
    return suite;
}
