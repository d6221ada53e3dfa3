/* Remeshing by energy where vertices are held along turned axes: as where they are held along the
 * world's and everything is turned. */
#include "energy_block.h"

#include "step/tie.h"

static const kiln_vec3 x_axis = {1, 0, 0}, y_axis = {0, 1, 0}, z_axis = {0, 0, 1};

START_TEST(ties_have_in_common_what_both_hold)
{
    kiln_mat3 R = kiln_m3_rotation(kiln_v3(1, 2, 3), 0.7);
    for (int turned = 0; turned < 2; turned++) {
        if (!turned)
            R = kiln_m3_identity();
        kiln_vec3 e[3] = {kiln_m3_apply(R, x_axis), kiln_m3_apply(R, y_axis),
                          kiln_m3_apply(R, z_axis)};
        for (int a = 0; a < 8; a++)
            for (int b = 0; b < 8; b++) {
                kiln_vec3 of[3][3];
                int count[3] = {0}, bits[3] = {a, b, a & b};
                for (int i = 0; i < 3; i++)
                    for (int c = 0; c < 3; c++)
                        if (bits[i] >> c & 1)
                            of[i][count[i]++] = e[c];
                kiln_tie common =
                    kiln_tie_common(kiln_tie_of(of[0], count[0]), kiln_tie_of(of[1], count[1]));
                ck_assert(kiln_tie_is_same(common, kiln_tie_of(of[2], count[2])));
                kiln_mat3 Q = kiln_tie_free(common);
                for (int c = 0; c < 3; c++)
                    ck_assert_double_eq_tol(kiln_v3_norm(kiln_m3_apply(Q, e[c])),
                                            bits[2] >> c & 1 ? 0.0 : 1.0, 1e-12);
            }
    }
}
END_TEST

static kiln_mat3 turn;

/* The bottom stays in its plane; the edge of it at y = 0, on its line. */
static bool is_bottom(const kiln_mesh *mesh, uint32_t v, int *components)
{
    kiln_vec3 u = kiln_m3_apply(kiln_m3_transpose(turn), mesh->u[v]);
    *components = fabs(u.y) < 1e-9 ? 6 : 4;
    return fabs(u.z) < 1e-9;
}

static void hold_bottom(rig *r, kiln_solid *solid, double time, double load)
{
    (void)time, (void)load;
    kiln_constraints *given = kiln_solid_constraints(solid);
    kiln_mat3 axes = kiln_m3_transpose(turn);
    for (uint32_t v = 0; v < r->mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_hold hold = {.axes = &axes, .target = r->mesh->u[v], .tolerance = 1e-9};
        bool agrees;
        if (is_bottom(r->mesh, v, &hold.components))
            ck_assert_int_eq(kiln_constraints_hold(given, v, &hold, &agrees, NULL), KILN_OK);
    }
}

static rig make_turned(double angle, int threads)
{
    kiln_context *context = kiln_test_context(threads);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=1 ly=.3 lz=.3 nx=6 ny=2 nz=2");
    turn = angle == 0.0 ? kiln_m3_identity() : kiln_m3_rotation(kiln_v3(1, 2, 3), angle);
    add_fields(mesh);
    ck_assert_int_eq(kiln_mesh_add_field(mesh, KILN_FIELD_AXIS, KILN_ON_VERTEX, KILN_F64, 3,
                                         KILN_RULE_NONE, NULL),
                     KILN_OK);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        mesh->u[v] = mesh->x[v] = kiln_m3_apply(turn, mesh->u[v]);
    rig r = rig_of(context, mesh, rig_material("neo-hookean", 1e5, 0.3, 1000), KILN_IMPLICIT_EULER);
    r.options.mass = KILN_MASS_CONSISTENT;
    r.gravity = kiln_m3_apply(turn, kiln_v3(0, 0, -9.81));
    r.set = hold_bottom;
    rig_build(&r);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = kiln_m3_apply(kiln_m3_transpose(turn), mesh->u[v]);
        rig_v(&r)[v] =
            kiln_m3_apply(turn, kiln_v3(0.4 * u.x * u.x, 0.2 * u.x * u.x, 0.5 * sin(3 * u.x)));
    }
    return r;
}

static kiln_local_objective try_turned(rig *r)
{
    kiln_local_objective o = try_block(r, 0.01);
    const kiln_constraints *given = kiln_solid_constraints(r->solid);
    uint32_t *bits =
        (uint32_t *)(void *)kiln_mesh_field(r->mesh, KILN_ON_VERTEX, KILN_FIELD_HELD)->data;
    kiln_vec3 *axis =
        (kiln_vec3 *)(void *)kiln_mesh_field(r->mesh, KILN_ON_VERTEX, KILN_FIELD_AXIS)->data;
    for (uint32_t v = 0; v < r->mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_held held = kiln_constraints_held(given, v);
        kiln_tie tie = kiln_tie_of(held.axis, held.count);
        bits[v] = tie.bits;
        axis[v] = tie.axis;
    }
    return o;
}

static kiln_vec3 back(kiln_vec3 v)
{
    return kiln_m3_apply(kiln_m3_transpose(turn), v);
}

/* What is held stays where it is held, and comes back along what is free. */
START_TEST(a_patch_is_held_as_the_step_is)
{
    rig r = make_turned(0.7 * _i, 1);
    kiln_local_objective o = try_turned(&r);
    kiln_patch patch;
    kiln_patch_init(&patch, r.context);
    double scale = fabs(whole(&o));
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++) {
        int components;
        if (!is_bottom(r.mesh, v, &components))
            continue;
        kiln_vec3 place = o.end[v], way = kiln_v3(2e-3, components == 4 ? 1e-3 : 0.0, 0.0);
        ck_assert_int_eq(kiln_patch_gather(&patch, &o, &v, 1, NULL), KILN_OK);
        ck_assert_double_le(kiln_patch_relax(&patch, &o, 5, 0.0, 0.0), 1e-12 * scale);
        o.end[v] = kiln_v3_add(place, kiln_m3_apply(turn, way));
        ck_assert_int_eq(kiln_patch_gather(&patch, &o, &v, 1, NULL), KILN_OK);
        ck_assert_double_gt(kiln_patch_relax(&patch, &o, 40, 0.0, 0.0), 0.0);
        ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(patch.x.data[0], place)), 1e-8);
        ck_assert_double_eq_tol(back(patch.x.data[0]).z, 0.0, 1e-15);
        o.end[v] = place;
    }
    kiln_patch_free(&patch);
    rig_free(&r);
}
END_TEST

static kiln_energy_report remesh_turned(double angle, int threads, uint64_t *hash)
{
    rig r = make_turned(angle, threads);
    kiln_local_objective o = try_turned(&r);
    double before = whole(&o);
    kiln_energy_options options = options_of(0.05 * best_prediction(&o));
    kiln_energy_report report = remesh(&r, &o, &options);
    double gained =
        report.splits.gained + report.flips.gained + report.moves.gained + report.collapses.gained;
    ck_assert_double_eq_tol(before - whole(&o), gained, 1e-9 * fabs(before));
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++) {
        int components;
        if (!is_bottom(r.mesh, v, &components))
            continue;
        ck_assert_uint_ne(kiln_objective_tie(&o, v).bits, 0);
        ck_assert_double_eq_tol(back(o.end[v]).z, 0.0, 1e-14);
        if (components == 6)
            ck_assert_double_eq_tol(back(o.end[v]).y, 0.0, 1e-14);
    }
    kiln_test_audit(r.mesh);
    *hash = kiln_mesh_hash(r.mesh);
    rig_free(&r);
    return report;
}

/* The same changes, with the same gains. */
START_TEST(turned_or_not_is_the_same)
{
    uint64_t hash;
    kiln_energy_report plain = remesh_turned(0.0, 1, &hash), turned = remesh_turned(0.7, 1, &hash);
    ck_assert_uint_gt(plain.splits.taken, 30);
    ck_assert_double_eq_tol((double)turned.splits.taken, (double)plain.splits.taken,
                            0.03 * (double)plain.splits.taken);
    ck_assert_double_eq_tol(turned.splits.gained, plain.splits.gained, 0.01 * plain.splits.gained);
}
END_TEST

START_TEST(threads_change_nothing)
{
    uint64_t hash[2];
    for (int threads = 1; threads <= 2; threads++)
        remesh_turned(0.7, threads, &hash[threads - 1]);
    ck_assert_uint_eq(hash[0], hash[1]);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("energy turned");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 120);
    tcase_add_test(all, ties_have_in_common_what_both_hold);
    tcase_add_loop_test(all, a_patch_is_held_as_the_step_is, 0, 2);
    tcase_add_test(all, turned_or_not_is_the_same);
    tcase_add_test(all, threads_change_nothing);
    suite_add_tcase(suite, all);
    return suite;
}
