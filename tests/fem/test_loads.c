#include "fem/loads.h"
#include "fixtures.h"
#include "support.h"

#include <string.h>

typedef struct setting {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_loads *loads;
    size_t rows;
    double *x;
} setting;

static setting open_setting(int threads, const char *shape, const char *size)
{
    setting s = {.context = kiln_test_context(threads)};
    s.mesh = kiln_test_mesh(s.context, shape, size);
    s.rows = s.mesh->table[KILN_ON_VERTEX].used;
    s.x = malloc(3 * s.rows * sizeof(double));
    memcpy(s.x, s.mesh->x, 3 * s.rows * sizeof(double));
    ck_assert_int_eq(kiln_loads_create(s.context, &s.loads, NULL), KILN_OK);
    ck_assert_int_eq(kiln_loads_reset(s.loads, s.mesh, NULL), KILN_OK);
    return s;
}

static void close_setting(setting *s)
{
    free(s->x);
    kiln_loads_destroy(s->loads);
    kiln_mesh_destroy(s->mesh);
    kiln_context_destroy(s->context);
}

static kiln_vec3 total(const setting *s)
{
    kiln_vec3 sum = {0};
    for (size_t i = 0; i < s->rows; i++) {
        const double *f = kiln_loads_force(s->loads) + 3 * i;
        sum = kiln_v3_add(sum, kiln_v3(f[0], f[1], f[2]));
    }
    return sum;
}

static double volume_at(const kiln_mesh *mesh, const double *x)
{
    const kiln_vec3 *p = (const kiln_vec3 *)x;
    double volume = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        volume += kiln_tet_volume(p[v[0]], p[v[1]], p[v[2]], p[v[3]]);
    }
    return volume;
}

START_TEST(gravity_and_forces)
{
    setting s = open_setting(1, "ball", "h=0.4");
    kiln_mass *mass;
    uint32_t tets = s.mesh->table[KILN_ON_TET].used;
    double *tet_mass = malloc(tets * sizeof(double));
    for (uint32_t t = 0; t < tets; t++)
        tet_mass[t] = 3.0 * kiln_mesh_tet_volume(s.mesh, t);
    ck_assert_int_eq(kiln_mass_create(s.context, &mass, NULL), KILN_OK);
    ck_assert_int_eq(kiln_mass_build(mass, s.mesh, KILN_MASS_CONSISTENT, tet_mass, NULL), KILN_OK);
    kiln_loads_add_acceleration(s.loads, mass, kiln_v3(1, 0, -9.81));
    kiln_loads_add_force(s.loads, 3, kiln_v3(0, 2, 0));
    double m = 3.0 * kiln_mesh_volume(s.mesh);
    kiln_vec3 sum = total(&s);
    ck_assert_double_eq_tol(sum.x, m, 1e-12 * m);
    ck_assert_double_eq_tol(sum.y, 2, 1e-12);
    ck_assert_double_eq_tol(sum.z, -9.81 * m, 1e-11 * m);
    /* The potential is -f.x and its gradient -f. */
    kiln_term *term = kiln_loads_term(s.loads);
    double *g = calloc(3 * s.rows, sizeof(double)), before = term->value(term->self, s.x);
    term->add(term->self, s.x, 0.5, g, NULL);
    for (size_t i = 0; i < 3 * s.rows; i++)
        ck_assert_double_eq(g[i], -0.5 * kiln_loads_force(s.loads)[i]);
    s.x[3 * 3 + 1] += 0.25;
    double rise = term->value(term->self, s.x) - before;
    ck_assert_double_eq_tol(rise, -0.25 * kiln_loads_force(s.loads)[3 * 3 + 1], 1e-12);
    ck_assert_double_eq(term->lag(term->self, s.x), 0.0);
    /* A reset takes them away. */
    ck_assert_int_eq(kiln_loads_reset(s.loads, s.mesh, NULL), KILN_OK);
    ck_assert_double_eq(term->value(term->self, s.x), 0.0);
    free(g);
    free(tet_mass);
    kiln_mass_destroy(mass);
    close_setting(&s);
}
END_TEST

START_TEST(traction_has_the_area_of_its_space)
{
    setting s = open_setting(1, "box", "nx=2 ny=2 nz=2");
    for (size_t i = 0; i < s.rows; i++)
        s.mesh->x[i] = kiln_v3_scale(s.mesh->x[i], 2.0);
    for (int space = 0; space < 2; space++) {
        ck_assert_int_eq(kiln_loads_reset(s.loads, s.mesh, NULL), KILN_OK);
        double area = 0;
        const kiln_vec3 *p = kiln_mesh_positions(s.mesh, (kiln_space)space);
        for (uint32_t f = 0; f < s.mesh->table[KILN_ON_FACE].used; f++) {
            uint32_t at = s.mesh->face[f].at;
            const uint32_t *v = s.mesh->tet[at / 4].v;
            const uint8_t *c = kiln_face_corner[at % 4];
            kiln_vec3 n = kiln_v3_cross(kiln_v3_sub(p[v[c[1]]], p[v[c[0]]]),
                                        kiln_v3_sub(p[v[c[2]]], p[v[c[0]]]));
            area += 0.5 * kiln_v3_norm(n);
            kiln_loads_add_traction(s.loads, f, kiln_v3(0, 0, 5), (kiln_space)space);
        }
        ck_assert_double_eq_tol(total(&s).z, 5 * area, 1e-12 * area);
        ck_assert_double_eq_tol(total(&s).x, 0, 1e-12);
    }
    close_setting(&s);
}
END_TEST

/* On a closed surface: no total force or torque, and the work of any small motion is -p dV. */
START_TEST(pressure_follows_a_closed_surface)
{
    const double pressure = 1234.5;
    setting s = open_setting(1, "ball", "h=0.35");
    for (uint32_t f = 0; f < s.mesh->table[KILN_ON_FACE].used; f++)
        ck_assert_int_eq(kiln_loads_add_pressure(s.loads, f, pressure, NULL), KILN_OK);
    kiln_term *term = kiln_loads_term(s.loads);
    kiln_random random = kiln_random_start(8, 1);
    double before = volume_at(s.mesh, s.x), begin = kiln_loads_potential(s.loads, s.x);
    ck_assert_double_eq_tol(begin, pressure * before, 1e-12 * begin);
    ck_assert_double_eq(term->value(term->self, s.x), 0.0);
    for (size_t i = 0; i < 3 * s.rows; i++)
        s.x[i] += kiln_random_range(&random, -0.05, 0.05);
    double rise = pressure * (volume_at(s.mesh, s.x) - before);
    ck_assert_double_eq_tol(term->value(term->self, s.x), rise, 1e-10 * begin);
    ck_assert_double_le(term->lag(term->self, s.x), 1e-13); /* there is nothing to lag */
    ck_assert_double_le(term->lag(term->self, s.x), 1e-13);
    ck_assert_double_le(kiln_v3_norm(total(&s)), 1e-10 * pressure);
    const double *force = kiln_loads_force(s.loads);
    kiln_vec3 torque = {0};
    double work = 0, *moved = malloc(3 * s.rows * sizeof(double)), step = 1e-5;
    for (size_t i = 0; i < s.rows; i++)
        torque = kiln_v3_add(
            torque, kiln_v3_cross(kiln_v3(s.x[3 * i], s.x[3 * i + 1], s.x[3 * i + 2]),
                                  kiln_v3(force[3 * i], force[3 * i + 1], force[3 * i + 2])));
    ck_assert_double_le(kiln_v3_norm(torque), 1e-10 * pressure);
    double dv = 0;
    for (int side = -1; side <= 1; side += 2) {
        random = kiln_random_start(9, 1);
        work = 0;
        for (size_t i = 0; i < 3 * s.rows; i++) {
            double d = step * kiln_random_range(&random, -1, 1);
            moved[i] = s.x[i] + side * d;
            work += force[i] * d;
        }
        dv += side * volume_at(s.mesh, moved);
    }
    ck_assert_double_eq_tol(work, -pressure * dv / 2, 1e-6 * fabs(work));
    free(moved);
    close_setting(&s);
}
END_TEST

/* Pressure on one side of a cube pushes inward; dead loads stay while it is renewed. */
START_TEST(pressure_turns_with_the_surface)
{
    setting s = open_setting(1, "box", "nx=2 ny=2 nz=2");
    kiln_loads_add_force(s.loads, 0, kiln_v3(0, 0, 100));
    for (uint32_t f = 0; f < s.mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t at = s.mesh->face[f].at, top = 0;
        for (int k = 0; k < 3; k++)
            top += s.mesh->u[s.mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]].z > 0.999;
        if (top == 3)
            ck_assert_int_eq(kiln_loads_add_pressure(s.loads, f, 3.0, NULL), KILN_OK);
    }
    ck_assert_double_eq_tol(total(&s).z, 100 - 3, 1e-12); /* at the mesh's world positions */
    for (size_t i = 0; i < s.rows; i++) {                 /* a quarter turn about x: z becomes -y */
        double y = s.x[3 * i + 1];
        s.x[3 * i + 1] = -s.x[3 * i + 2];
        s.x[3 * i + 2] = y;
    }
    kiln_term *term = kiln_loads_term(s.loads);
    term->lag(term->self, s.x);
    ck_assert_double_eq_tol(total(&s).y, 3, 1e-12);
    ck_assert_double_eq_tol(total(&s).z, 100, 1e-12);
    close_setting(&s);
}
END_TEST

START_TEST(same_bits_on_any_threads)
{
    double value[3];
    for (int threads = 1; threads <= 3; threads++) {
        setting s = open_setting(threads, "box", "nx=24 ny=24 nz=24");
        kiln_random random = kiln_random_start(4, 4);
        for (uint32_t v = 0; v < s.rows; v++)
            kiln_loads_add_force(s.loads, v, kiln_v3(kiln_random_unit(&random), 1.0 / 3, v));
        kiln_term *term = kiln_loads_term(s.loads);
        value[threads - 1] = term->value(term->self, s.x);
        ck_assert(value[threads - 1] == value[0]);
        close_setting(&s);
    }
}
END_TEST

START_TEST(out_of_memory)
{
    setting s = open_setting(1, "box", "nx=2 ny=2 nz=2");
    for (uint64_t fail = 1;; fail++) {
        kiln_test_heap heap = {.fail_at = 0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        heap.fail_at = heap.calls + fail;
        kiln_loads *loads = NULL;
        kiln_status status = kiln_loads_create(context, &loads, NULL);
        if (status == KILN_OK)
            status = kiln_loads_reset(loads, s.mesh, NULL);
        if (status == KILN_OK)
            status = kiln_loads_add_pressure(loads, 0, 1.0, NULL);
        kiln_loads_destroy(loads);
        heap.fail_at = 0;
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_bytes, 0);
        if (status == KILN_OK)
            break;
        ck_assert_int_eq(status, KILN_ERR_MEMORY);
        ck_assert_uint_lt(fail, 100);
    }
    close_setting(&s);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("loads");
    TCase *all = kiln_test_case(suite, "loads");
    tcase_add_test(all, gravity_and_forces);
    tcase_add_test(all, traction_has_the_area_of_its_space);
    tcase_add_test(all, pressure_follows_a_closed_surface);
    tcase_add_test(all, pressure_turns_with_the_surface);
    tcase_add_test(all, same_bits_on_any_threads);
    tcase_add_test(all, out_of_memory);
    return suite;
}
