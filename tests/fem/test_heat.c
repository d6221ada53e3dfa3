/* Heat in tets: what is kept, what melts, order in time, bits on two threads; thermal stress. */
#include "fem/heat.h"
#include "fem/thermal_stress.h"
#include "fixtures.h"
#include "solve/vectors.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_heat *heat;
    kiln_thermal thermal[1];
    kiln_heat_matter matter;
    uint32_t *material;
    double *mass, *T;
    size_t vertices, tets;
} fixture;

static fixture make(const char *settings, int threads, double latent)
{
    fixture f = {
        .context = kiln_test_context(threads),
        .thermal = {
            {.conductivity = 2.0, .capacity = 3.0, .latent = latent, .melts = 10.0, .range = 0.5}}};
    const kiln_solver_options options = kiln_solver_default_options();
    f.mesh = kiln_test_mesh(f.context, "box", settings);
    ck_assert_int_eq(kiln_heat_create(f.context, &options, &f.heat, NULL), KILN_OK);
    ck_assert_int_eq(kiln_heat_build(f.heat, f.mesh, NULL), KILN_OK);
    f.vertices = f.mesh->table[KILN_ON_VERTEX].used;
    f.tets = f.mesh->table[KILN_ON_TET].used;
    f.material = calloc(f.tets, sizeof *f.material);
    f.mass = malloc(f.tets * sizeof *f.mass);
    f.T = malloc(f.vertices * sizeof *f.T);
    for (uint32_t t = 0; t < f.tets; t++)
        f.mass[t] = 5.0 * kiln_mesh_tet_volume(f.mesh, t);
    for (size_t v = 0; v < f.vertices; v++)
        f.T[v] = f.mesh->x[v].x < 0.5 ? 20.0 : 5.0;
    f.matter = (kiln_heat_matter){f.thermal, f.material, f.mass, NULL};
    return f;
}

static void drop(fixture *f)
{
    free(f->material);
    free(f->mass);
    free(f->T);
    kiln_heat_destroy(f->heat);
    kiln_mesh_destroy(f->mesh);
    kiln_context_destroy(f->context);
}

static kiln_heat_report step(fixture *f, kiln_heat_scheme scheme, double h)
{
    kiln_heat_report report;
    f->matter.thermal = f->thermal;
    ck_assert_int_eq(kiln_heat_step(f->heat, &f->matter, scheme, h, f->T, &report, NULL), KILN_OK);
    ck_assert_int_eq(report.outcome, KILN_SOLVE_OK);
    ck_assert(report.settled);
    return report;
}

START_TEST(insulated_matter_keeps_its_heat)
{
    static const double latents[] = {0.0, 40.0, 4000.0};
    for (int i = 0; i < 3; i++)
        for (int scheme = 0; scheme < 2; scheme++) {
            fixture f = make("nx=6 ny=2 nz=2", 1, latents[i]);
            const uint32_t link[4] = {0, 20, 21, 22}; /* some that a contact would join */
            const double weight[4] = {1.0, -0.25, -0.25, -0.5};
            ck_assert_int_eq(kiln_heat_link(f.heat, link, weight, 3.0, NULL), KILN_OK);
            f.matter.thermal = f.thermal;
            double before = kiln_heat_stored(f.heat, &f.matter, f.T), h = 1e-4;
            for (int k = 0; k < 12; k++, h *= 2.0) {
                kiln_heat_report r = step(&f, (kiln_heat_scheme)scheme, h);
                ck_assert_double_eq_tol(r.heat / before, 1.0, 1e-12);
            }
            for (size_t v = 0; v < f.vertices; v++)
                ck_assert(f.T[v] > 5.0 - 1e-9 && f.T[v] < 20.0 + 1e-9);
            drop(&f);
        }
}
END_TEST

/* A body without gradients: m c T' = P, and it stays at its melting point for as long as it takes.
 */
START_TEST(what_melts_takes_its_time)
{
    fixture f = make("nx=2 ny=2 nz=2", 1, 120.0);
    for (size_t v = 0; v < f.vertices; v++)
        f.T[v] = 9.0;
    for (uint32_t t = 0; t < f.tets; t++) /* in proportion to what a vertex has */
        for (int k = 0; k < 4; k++)
            kiln_heat_supply(f.heat, f.mesh->tet[t].v[k], 0.25 * f.mass[t] * 60.0);
    /* 1.5 J/kg to 9.5 K, 123 from there to 10.5, at 60 W/kg. */
    for (int k = 0; k < 20; k++)
        step(&f, KILN_HEAT_EULER, 0.1);
    double T = 9.5 + (120.0 - 1.5) / 123.0;
    for (size_t v = 0; v < f.vertices; v++) {
        ck_assert_double_eq_tol(f.T[v], T, 1e-9);
        ck_assert_double_eq_tol(kiln_thermal_melted(f.thermal, f.T[v]), T - 9.5, 1e-9);
    }
    drop(&f);
}
END_TEST

/* Cooling of a body without gradients, T' = -T / s: error after a fixed time falls by 4. */
START_TEST(sdirk_is_of_second_order)
{
    double off[2][2];
    for (int scheme = 0; scheme < 2; scheme++)
        for (int k = 0; k < 2; k++) {
            fixture f = make("nx=1 ny=1 nz=1", 1, 0.0);
            for (size_t v = 0; v < f.vertices; v++)
                f.T[v] = 1.0;
            for (uint32_t t = 0; t < f.tets; t++)
                for (int c = 0; c < 4; c++)
                    kiln_heat_film(f.heat, f.mesh->tet[t].v[c], 0.25 * f.mass[t] * 3.0, 0.0);
            for (int i = 0; i < 10 << k; i++)
                step(&f, (kiln_heat_scheme)scheme, 0.1 / (1 << k));
            off[scheme][k] = fabs(f.T[0] - exp(-1.0));
            drop(&f);
        }
    ck_assert_double_gt(off[0][0] / off[0][1], 1.9);
    ck_assert_double_gt(off[1][0] / off[1][1], 3.7);
}
END_TEST

START_TEST(what_is_held_has_its_temperature)
{
    fixture f = make("nx=8 ny=2 nz=2", 1, 0.0);
    for (uint32_t v = 0; v < f.vertices; v++)
        if (f.mesh->x[v].x < 1e-9 || f.mesh->x[v].x > 1.0 - 1e-9) {
            double T = f.mesh->x[v].x < 0.5 ? 30.0 : 40.0;
            kiln_heat_hold(f.heat, v, T, T);
        }
    step(&f, KILN_HEAT_EULER, 1e9); /* what lasts */
    for (uint32_t v = 0; v < f.vertices; v++)
        ck_assert_double_eq_tol(f.T[v], 30.0 + 10.0 * f.mesh->x[v].x, 1e-6);
    drop(&f);
}
END_TEST

START_TEST(threads_do_not_matter)
{
    fixture a = make("nx=14 ny=10 nz=10", 1, 300.0), b = make("nx=14 ny=10 nz=10", 2, 300.0);
    for (int k = 0; k < 3; k++) {
        step(&a, KILN_HEAT_SDIRK2, 0.01);
        step(&b, KILN_HEAT_SDIRK2, 0.01);
    }
    ck_assert_mem_eq(a.T, b.T, a.vertices * sizeof *a.T);
    drop(&a);
    drop(&b);
}
END_TEST

/* Every model: the gradient is that of the value, and the Hessian has no direction in which the
 * energy would fall faster than it says. */
START_TEST(thermal_stress_is_a_gradient)
{
    for (size_t row = 0; kiln_material_model_at(row); row++) {
        kiln_context *context = kiln_test_context(1);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=2 ny=1 nz=1");
        const kiln_material material = {.model = kiln_material_model_at(row)};
        size_t size = 3 * mesh->table[KILN_ON_VERTEX].used, tets = mesh->table[KILN_ON_TET].used;
        uint32_t *of = calloc(tets, sizeof *of);
        double *x = malloc(size * sizeof *x), *g = calloc(size, sizeof *g);
        kiln_thermal_stress *stress;
        ck_assert_int_eq(kiln_thermal_stress_create(context, &stress, NULL), KILN_OK);
        ck_assert_int_eq(kiln_thermal_stress_build(stress, mesh, &material, of, NULL), KILN_OK);
        for (size_t t = 0; t < tets; t++)
            kiln_thermal_stress_pressures(stress)[t] = 3.0 - (double)(t % 5);
        const kiln_term *term = kiln_thermal_stress_term(stress);
        for (size_t i = 0; i < size; i++)
            x[i] = (&mesh->x[0].x)[i] * (1.0 + 0.1 * (i % 3)) + 0.03 * sin(7.0 * (double)i);
        term->add(term->self, x, 2.0, g, NULL);
        for (size_t i = 0; i < size; i++) {
            double keep = x[i], step = 1e-5, up, down;
            x[i] = keep + step;
            up = term->value(term->self, x);
            x[i] = keep - step;
            down = term->value(term->self, x);
            x[i] = keep;
            ck_assert_double_eq_tol(g[i], (up - down) / step, 1e-6);
        }
        kiln_thermal_stress_destroy(stress);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
        free(of);
        free(x);
        free(g);
    }
}
END_TEST

/* Temperature by heat is heat by temperature the other way round, and its slope what it should be.
 */
START_TEST(heat_has_one_temperature)
{
    const kiln_thermal rows[] = {
        {.capacity = 2000, .range = 0.5},
        {.capacity = 2000, .latent = 3e5, .melts = 273, .range = 0.25},
        {.capacity = 2000, .more = 2200, .melts = 273, .range = 4},
        {.capacity = 2000, .more = -500, .latent = 1e4, .melts = 273, .range = 4}};
    const kiln_thermal *thermal = &rows[_i];
    double before = 0.0;
    for (double T = 250.0; T < 300.0; T += 0.01) {
        double e = kiln_thermal_enthalpy(thermal, T);
        ck_assert_double_eq_tol(kiln_thermal_temperature(thermal, e) / T, 1.0, 1e-12);
        ck_assert_double_gt(e, before);
        before = e;
    }
    double low = kiln_thermal_enthalpy(thermal, thermal->melts - thermal->range);
    double high = kiln_thermal_enthalpy(thermal, thermal->melts + thermal->range);
    if (thermal->melts > 0.0)
        ck_assert_double_eq_tol(
            (high - low) /
                (thermal->latent + thermal->range * (2.0 * thermal->capacity + thermal->more)),
            1.0, 1e-9);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("heat");
    TCase *c = kiln_test_case(suite, "all");
    tcase_add_test(c, insulated_matter_keeps_its_heat);
    tcase_add_test(c, what_melts_takes_its_time);
    tcase_add_test(c, sdirk_is_of_second_order);
    tcase_add_test(c, what_is_held_has_its_temperature);
    tcase_add_test(c, threads_do_not_matter);
    tcase_add_test(c, thermal_stress_is_a_gradient);
    tcase_add_loop_test(c, heat_has_one_temperature, 0, 4);
    return suite;
}
