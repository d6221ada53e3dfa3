/* Nodal pressure, pressure on faces, parameters that are functions and holds along turned axes, all
 * at once: remeshing by energy does the same in millimetres, and as much a million sizes off the
 * origin, with half and double steps, whatever the integrator. */
#include "energy_block.h"

#include "step/tie.h"

static const kiln_integrator integrators[] = {KILN_IMPLICIT_EULER, KILN_NEWMARK, KILN_BDF2};

/* Units: a metre and a pascal s^2/m^2 kg, and where the block is, in sizes. */
typedef struct setting {
    double metre, far, h;
    kiln_integrator integrator;
} setting;

static setting now;
static kiln_mat3 turn;
static double mu[4096], lambda[4096];

/* As if it were at the origin, in metres, and not turned. */
static kiln_vec3 plain(kiln_vec3 u)
{
    kiln_vec3 off = kiln_v3_sub(u, kiln_v3(now.far * now.metre, 0, 0));
    return kiln_v3_scale(kiln_m3_apply(kiln_m3_transpose(turn), off), 1.0 / now.metre);
}

/* The bottom stays in its plane, which no axis is along; all of the surface is pressed. */
static void hold_and_press(rig *r, kiln_solid *solid, double time, double load)
{
    (void)time;
    const kiln_mesh *mesh = r->mesh;
    kiln_mat3 axes = kiln_m3_transpose(turn);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_hold hold = {.components = 4,
                          .axes = &axes,
                          .target = mesh->u[v],
                          .tolerance = 1e-9 * now.metre * fmax(1.0, now.far)};
        bool agrees;
        if (fabs(plain(mesh->u[v]).z) < 1e-6)
            ck_assert_int_eq(
                kiln_constraints_hold(kiln_solid_constraints(solid), v, &hold, &agrees, NULL),
                KILN_OK);
    }
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        ck_assert_int_eq(kiln_loads_add_pressure(kiln_solid_loads(solid), f, 5e3 * load, NULL),
                         KILN_OK);
}

static void add_fields_of_all(kiln_mesh *mesh)
{
    static const struct {
        const char *name;
        kiln_where where;
        uint32_t components;
        kiln_rule rule;
    } fields[] = {{KILN_FIELD_PRESSURE, KILN_ON_FACE, 1, KILN_RULE_COPY},
                  {KILN_FIELD_AXIS, KILN_ON_VERTEX, 3, KILN_RULE_NONE},
                  {KILN_FIELD_STIFFNESS, KILN_ON_TET, 2, KILN_RULE_COPY},
                  {KILN_FIELD_VISCOSITY, KILN_ON_TET, 1, KILN_RULE_COPY}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        ck_assert_int_eq(kiln_mesh_add_field(mesh, fields[i].name, fields[i].where, KILN_F64,
                                             fields[i].components, fields[i].rule, NULL),
                         KILN_OK);
}

/* With mass in grams where lengths are millimetres, Pa and s are what they are. */
static rig make_all(void)
{
    static double viscosity[4096];
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=1 ly=.3 lz=.3 nx=6 ny=2 nz=2");
    double density = 1000.0 / (now.metre * now.metre);
    kiln_material material = rig_material("neo-hookean", 1e5, 0.45, density);
    material.nodal_pressure = true;
    turn = kiln_m3_rotation(kiln_v3(1, 2, 3), 0.7);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        mesh->u[v] = mesh->x[v] =
            kiln_v3_add(kiln_v3_scale(kiln_m3_apply(turn, mesh->u[v]), now.metre),
                        kiln_v3(now.far * now.metre, 0, 0));
    add_fields(mesh);
    add_fields_of_all(mesh);
    double *mass = (double *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, "mass")->data;
    rig r = rig_of(context, mesh, material, now.integrator);
    r.options.mass = KILN_MASS_CONSISTENT;
    r.gravity = kiln_m3_apply(turn, kiln_v3(0, 0, -9.81 * now.metre));
    r.set = hold_and_press;
    rig_build(&r);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        double by = exp(1.5 * plain(mesh->u[mesh->tet[t].v[0]]).x);
        mass[t] = density * kiln_mesh_tet_volume(mesh, t);
        mu[t] = by * material.mu;
        lambda[t] = by * material.lambda;
    }
    kiln_solid_set_lame(r.solid, mu, lambda);
    kiln_solid_set_viscosity(r.solid, viscosity);
    kiln_error error = {0};
    rig_check(kiln_solid_rebuild(r.solid, NULL, &error), &error);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = plain(mesh->u[v]);
        rig_v(&r)[v] = kiln_v3_scale(kiln_m3_apply(turn, kiln_v3(0.4 * u.x * u.x, 0.2 * u.x * u.x,
                                                                 0.5 * u.z * sin(3 * u.x))),
                                     now.metre);
    }
    rig_step(&r, now.h); /* first ones may have a history of their own */
    return r;
}

static void note_ties(const rig *r)
{
    uint32_t *bits =
        (uint32_t *)(void *)kiln_mesh_field(r->mesh, KILN_ON_VERTEX, KILN_FIELD_HELD)->data;
    kiln_vec3 *axis =
        (kiln_vec3 *)(void *)kiln_mesh_field(r->mesh, KILN_ON_VERTEX, KILN_FIELD_AXIS)->data;
    for (uint32_t v = 0; v < r->mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_held held = kiln_constraints_held(kiln_solid_constraints(r->solid), v);
        kiln_tie tie = kiln_tie_of(held.axis, held.count);
        bits[v] = tie.bits;
        axis[v] = tie.axis;
    }
}

/* What is gained, J; the objective falls by that. */
static double gained_in(setting s, kiln_energy_report *report)
{
    now = s;
    rig r = make_all();
    kiln_local_objective o = try_block(&r, now.h);
    note_ties(&r);
    kiln_vec3 apex = o.apex = r.mesh->x[0];
    double before = whole(&o), joule = pow(now.metre, 3.0);
    kiln_energy_options options = options_of(0.1 * best_prediction(&o));
    options.tolerance *= now.metre;
    *report = remesh(&r, &o, &options);
    ck_assert_uint_gt(report->splits.taken, 10);
    ck_assert_double_gt(report->splits.gained, (double)report->splits.taken * options.split);
    o.apex = apex;
    double gained = gained_by(report);
    ck_assert_double_eq_tol(before - whole(&o), gained,
                            fmax(1e-9 * fabs(before), now.far > 0.0 ? 0.01 * gained : 0.0));
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(r.mesh, v) && fabs(plain(r.mesh->u[v]).z) < 1e-6)
            ck_assert_double_eq_tol(plain(o.end[v]).z, 0.0, 1e-14 * fmax(10.0, 100.0 * now.far));
    kiln_test_audit(r.mesh);
    rig_free(&r);
    return gained / joule;
}

START_TEST(units_places_and_steps_change_nothing)
{
    static const double steps[] = {0.005, 0.01, 0.02};
    setting s = {.metre = 1.0, .h = steps[_i / 3], .integrator = integrators[_i % 3]};
    kiln_energy_report one, other;
    double gained = gained_in(s, &one);
    s.metre = 1000.0;
    double small = gained_in(s, &other);
    ck_assert_double_eq_tol(small, gained, 0.02 * gained);
    ck_assert_uint_le(other.splits.taken, one.splits.taken + 2);
    ck_assert_uint_ge(other.splits.taken + 2, one.splits.taken);
    s.metre = 1.0;
    s.far = 1e6;
    gained_in(s, &other); /* rounding decides among alike ones there */
    ck_assert_uint_le(9 * other.splits.taken, 10 * one.splits.taken);
    ck_assert_uint_ge(10 * other.splits.taken, 9 * one.splits.taken);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("energy units");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, units_places_and_steps_change_nothing, 0, 9);
    suite_add_tcase(suite, all);
    return suite;
}
