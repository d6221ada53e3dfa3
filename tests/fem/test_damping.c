#include "fem/damping.h"
#include "fixtures.h"
#include "solve/newton.h"
#include "support.h"

#include <string.h>

typedef struct setting {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_elements *elements;
    kiln_nodal_pressure *pressure;
    kiln_mass *mass;
    kiln_damping *damping;
    uint32_t *material_of;
    size_t rows;
    double *x;
} setting;

#define OK(call) ck_assert_int_eq((call), KILN_OK)

static setting open_setting(const char *size, const kiln_material *materials, size_t count,
                            kiln_mass_kind kind)
{
    setting s = {.context = kiln_test_context(2)};
    s.mesh = kiln_test_mesh(s.context, "box", size);
    kiln_test_jitter(s.mesh, 0.05, 5);
    s.rows = s.mesh->table[KILN_ON_VERTEX].used;
    uint32_t tets = s.mesh->table[KILN_ON_TET].used;
    s.material_of = calloc(tets, sizeof(uint32_t));
    s.x = malloc(3 * s.rows * sizeof(double));
    memcpy(s.x, s.mesh->u, 3 * s.rows * sizeof(double));
    double *tet_mass = malloc(tets * sizeof(double));
    for (uint32_t t = 0; t < tets; t++) {
        s.material_of[t] = t % (uint32_t)count;
        tet_mass[t] = materials[s.material_of[t]].density * kiln_mesh_tet_volume(s.mesh, t);
    }
    OK(kiln_elements_create(s.context, &s.elements, NULL));
    OK(kiln_nodal_pressure_create(s.context, s.elements, &s.pressure, NULL));
    OK(kiln_mass_create(s.context, &s.mass, NULL));
    OK(kiln_damping_create(s.context, s.elements, &s.damping, NULL));
    kiln_damping_set_pressure(s.damping, s.pressure);
    OK(kiln_elements_build(s.elements, s.mesh, materials, count, s.material_of, NULL));
    OK(kiln_nodal_pressure_build(s.pressure, NULL));
    OK(kiln_mass_build(s.mass, s.mesh, kind, tet_mass, NULL));
    OK(kiln_damping_build(s.damping, s.mesh, kind, tet_mass, NULL));
    free(tet_mass);
    return s;
}

static void close_setting(setting *s)
{
    free(s->material_of);
    free(s->x);
    kiln_damping_destroy(s->damping);
    kiln_nodal_pressure_destroy(s->pressure);
    kiln_mass_destroy(s->mass);
    kiln_elements_destroy(s->elements);
    kiln_mesh_destroy(s->mesh);
    kiln_context_destroy(s->context);
}

static double *vector(const setting *s)
{
    return calloc(3 * s->rows, sizeof(double));
}

/* Such that at x_n the velocity is q / tau to all orders, as at the begin of Newmark's first step.
 */
static void begin_at(setting *s, const double *x_n, const double *q, double *origin, double tau)
{
    for (size_t i = 0; i < 3 * s->rows; i++)
        origin[i] = x_n[i] - q[i];
    kiln_damping_start start = {
        .x_n = x_n, .v_n = q, .origin = origin, .rate_weight = -1.0, .tau = tau};
    kiln_damping_begin(s->damping, &start);
}

static void begin_euler(setting *s, const double *x_n, double tau)
{
    kiln_damping_start start = {.x_n = x_n, .origin = x_n, .tau = tau};
    kiln_damping_begin(s->damping, &start);
}

/* Power v'D v at x_n for the velocity L x + c. */
static double power(setting *s, const double *x_n, const kiln_mat3 *L)
{
    double *q = vector(s), *origin = vector(s);
    for (size_t v = 0; v < s->rows; v++) {
        kiln_vec3 p = {x_n[3 * v], x_n[3 * v + 1], x_n[3 * v + 2]}, d = kiln_m3_apply(*L, p);
        d = kiln_v3_add(d, kiln_v3(0.3, -0.1, 0.7));
        memcpy(q + 3 * v, &d, sizeof d);
    }
    begin_at(s, x_n, q, origin, 1.0);
    kiln_term *term = kiln_damping_term(s->damping);
    double e = term->value(term->self, x_n);
    free(q), free(origin);
    return 2.0 * e;
}

/* 2 eta |dev sym L|^2 times the volume at x_n; nothing for rigid motions and even swelling. */
START_TEST(viscosity_is_newtonian)
{
    const double eta = 1.7;
    const kiln_material m = {
        .model = kiln_material_model_at(0), .mu = 1, .lambda = 1, .density = 1, .viscosity = eta};
    setting s = open_setting("nx=3 ny=2 nz=2", &m, 1, KILN_MASS_LUMPED);
    ck_assert(kiln_damping_is_used(s.damping));
    const kiln_mat3 F = {{{1.3, 0.2, 0}, {-0.3, 0.9, 0.1}, {0.1, 0, 0.8}}};
    double volume = kiln_mesh_volume(s.mesh) * kiln_m3_det(F);
    for (size_t v = 0; v < s.rows; v++) {
        kiln_vec3 p = kiln_m3_apply(F, s.mesh->u[v]);
        memcpy(s.x + 3 * v, &p, sizeof p);
    }
    const kiln_mat3 spin = {{{0, -2, 1}, {2, 0, 3}, {-1, -3, 0}}},
                    swell = kiln_m3_diagonal(2, 2, 2);
    ck_assert_double_eq_tol(power(&s, s.x, &spin), 0, 1e-13);
    ck_assert_double_eq_tol(power(&s, s.x, &swell), 0, 1e-13);
    kiln_random random = kiln_random_start(1, 1);
    for (int round = 0; round < 20; round++) {
        kiln_mat3 L, d;
        for (int i = 0; i < 9; i++)
            L.m[i / 3][i % 3] = kiln_random_range(&random, -1, 1);
        d = kiln_m3_scale(kiln_m3_add(L, kiln_m3_transpose(L)), 0.5);
        double mean = (d.m[0][0] + d.m[1][1] + d.m[2][2]) / 3;
        for (int i = 0; i < 3; i++)
            d.m[i][i] -= mean;
        double expected = 2 * eta * kiln_m3_norm2(d) * volume;
        ck_assert_double_eq_tol(power(&s, s.x, &L), expected, 1e-12 * expected);
    }
    close_setting(&s);
}
END_TEST

/* Tets of liquid that are smaller than what is resolved resist as if they were as large; those of
 * solids as they are, and nothing resists rigid motion. */
START_TEST(small_cells_of_liquid_resist_more)
{
    const kiln_material m = {.model = kiln_material_model_at(0),
                             .mu = _i ? 0 : 1,
                             .lambda = _i ? 0 : 1,
                             .density = 1,
                             .viscosity = 2,
                             .liquid = _i > 0};
    setting s = open_setting("nx=3 ny=2 nz=2", &m, 1, KILN_MASS_LUMPED);
    const kiln_mat3 shear = {{{0, 1, 0}, {0, 0, 0}, {0, 0, 0}}},
                    spin = {{{0, -2, 1}, {2, 0, 3}, {-1, -3, 0}}};
    double mean = kiln_mesh_volume(s.mesh) / (double)s.mesh->table[KILN_ON_TET].live;
    double whole = 2 * 2 * 0.5 * kiln_mesh_volume(s.mesh), times[] = {0, 0.5, 1.5, 1e6};
    for (int i = 0; i < 4; i++) {
        kiln_damping_set_least_volume(s.damping, times[i] * mean);
        double more = _i && times[i] > 1 ? times[i] : 1;
        ck_assert_double_eq_tol(power(&s, s.x, &shear), more * whole, 1e-12 * more * whole);
        ck_assert_double_eq_tol(power(&s, s.x, &spin), 0, 1e-13 * more);
    }
    close_setting(&s);
}
END_TEST

/* K (of elements and nodal pressure) and M times q. */
static void products(setting *s, const double *x, const double *q, double *Kq, double *Mq)
{
    kiln_term *terms[2] = {kiln_elements_term(s->elements), kiln_nodal_pressure_term(s->pressure)};
    kiln_cliques sets[2];
    kiln_bsr H;
    double *g = vector(s);
    for (int i = 0; i < 2; i++)
        sets[i] = terms[i]->cliques(terms[i]->self);
    kiln_bsr_init(&H, s->context);
    OK(kiln_bsr_set_pattern(&H, s->rows, sets, 2, NULL));
    for (int i = 0; i < 2; i++)
        terms[i]->add(terms[i]->self, x, 1, g, &H);
    OK(kiln_bsr_multiply(&H, q, Kq, NULL));
    kiln_mass_multiply(s->mass, q, Mq);
    kiln_bsr_free(&H);
    free(g);
}

static double dot(const setting *s, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < 3 * s->rows; i++)
        sum += a[i] * b[i];
    return sum;
}

/* The highest mode of a free body by power iteration on M^-1 K; returns omega^2. */
static double highest_mode(setting *s, double *q)
{
    double *Kq = vector(s), *Mq = vector(s), square = 0;
    kiln_random random = kiln_random_start(3, 3);
    for (size_t i = 0; i < 3 * s->rows; i++)
        q[i] = kiln_random_range(&random, -1, 1);
    for (int round = 0; round < 3000; round++) {
        products(s, s->x, q, Kq, Mq);
        square = dot(s, q, Kq) / dot(s, q, Mq);
        for (size_t i = 0; i < 3 * s->rows; i++)
            q[i] = Kq[i] / (square * kiln_mass_lumped(s->mass)[i / 3]);
    }
    free(Kq), free(Mq);
    return square;
}

/* zeta = alpha / 2 omega + beta omega / 2, and one implicit Euler step of a linear body along the
 * mode: (1/h^2 + d/h + w^2) r = 1/h^2 + d/h with d = alpha + beta w^2, from rest. */
START_TEST(rayleigh_ratio_of_a_mode)
{
    const double alpha = 0.3, beta = 0.02, h = 0.05;
    const kiln_material m = {.model = kiln_material_model_at(0),
                             .mu = 1,
                             .lambda = 2,
                             .density = 1,
                             .damping_mass = alpha,
                             .damping_stiffness = beta};
    setting s = open_setting("nx=1 ny=1 nz=1", &m, 1, KILN_MASS_LUMPED);
    double *q = vector(&s), *moved = vector(&s), *Kq = vector(&s), *Mq = vector(&s);
    double square = highest_mode(&s, q), omega = sqrt(square);
    products(&s, s.x, q, Kq, Mq);
    for (size_t i = 0; i < 3 * s.rows; i++) /* it is a mode */
        ck_assert_double_eq_tol(Kq[i], square * Mq[i], 1e-9);
    kiln_term *term = kiln_damping_term(s.damping);
    begin_at(&s, s.x, q, moved, h);
    double zeta = h * term->value(term->self, s.x) / (omega * dot(&s, q, Mq));
    ck_assert_double_eq_tol(zeta, alpha / (2 * omega) + beta * omega / 2, 1e-10);

    /* The step starts at u + q, at rest; strains are small, as is what they add in second order. */
    for (size_t i = 0; i < 3 * s.rows; i++) {
        q[i] *= 1e-6;
        moved[i] = s.x[i] + q[i];
    }
    kiln_term *terms[3] = {kiln_elements_term(s.elements), term, kiln_mass_inertia(s.mass, moved)};
    double *start = vector(&s), *x = vector(&s);
    memcpy(start, moved, 3 * s.rows * sizeof(double));
    memcpy(x, moved, 3 * s.rows * sizeof(double));
    begin_euler(&s, start, h);
    terms[2]->weight = 1 / (h * h);
    kiln_solver_options solver = kiln_solver_default_options();
    solver.backend = "cholmod";
    kiln_newton *newton;
    kiln_newton_options options = kiln_newton_default_options();
    kiln_newton_report report;
    kiln_constraints none;
    kiln_constraints_init(&none, s.context);
    OK(kiln_constraints_reset(&none, s.rows, NULL));
    OK(kiln_newton_create(s.context, &solver, &newton, NULL));
    OK(kiln_newton_minimise(newton, &options, terms, 3, &none, x, &report, NULL));
    ck_assert_int_eq(report.outcome, KILN_NEWTON_CONVERGED);
    double d = alpha + beta * square, r = (1 / (h * h) + d / h) / (1 / (h * h) + d / h + square);
    for (size_t i = 0; i < 3 * s.rows; i++)
        ck_assert_double_eq_tol(x[i] - s.x[i], r * q[i], 1e-11);
    kiln_newton_destroy(newton);
    kiln_constraints_free(&none);
    free(q), free(moved), free(Kq), free(Mq), free(start), free(x);
    close_setting(&s);
}
END_TEST

/* At rest D is alpha M + beta K, K with the nodal pressure, for either mass. */
START_TEST(rayleigh_is_mass_and_stiffness)
{
    const double alpha = 0.3, beta = 0.02, tau = 0.5;
    for (int kind = 0; kind < 2; kind++)
        for (int nodal = 0; nodal < 2; nodal++) {
            const kiln_material m = {.model = kiln_material_model_at(3),
                                     .mu = 1,
                                     .lambda = 2,
                                     .density = 3,
                                     .damping_mass = alpha,
                                     .damping_stiffness = beta,
                                     .nodal_pressure = nodal};
            setting s = open_setting("nx=2 ny=2 nz=2", &m, 1, (kiln_mass_kind)kind);
            double *q = vector(&s), *origin = vector(&s);
            double *Kq = vector(&s), *Mq = vector(&s), *g = vector(&s);
            kiln_random random = kiln_random_start(4, 4);
            for (size_t i = 0; i < 3 * s.rows; i++) {
                q[i] = kiln_random_range(&random, -1, 1);
            }
            begin_at(&s, s.x, q, origin, tau);
            kiln_term *term = kiln_damping_term(s.damping);
            term->add(term->self, s.x, 1, g, NULL);
            products(&s, s.x, q, Kq, Mq);
            for (size_t i = 0; i < 3 * s.rows; i++)
                ck_assert_double_eq_tol(g[i], (alpha * Mq[i] + beta * Kq[i]) / tau, 1e-13);
            free(q), free(origin), free(Kq), free(Mq), free(g);
            close_setting(&s);
        }
}
END_TEST

/* Where a stretched body is stretched on, in any axes, without a turn: beta K(x_n) as well. */
START_TEST(stiffness_of_a_stretched_body)
{
    const double beta = 0.02;
    for (int row = 1; row < 7; row++)
        for (int nodal = 0; nodal < 2; nodal++) {
            const kiln_material m = {.model = kiln_material_model_at((size_t)row),
                                     .mu = 1,
                                     .lambda = 2,
                                     .density = 3,
                                     .damping_stiffness = beta,
                                     .nodal_pressure = nodal};
            setting s = open_setting("nx=2 ny=2 nz=2", &m, 1, KILN_MASS_LUMPED);
            double *q = vector(&s), *origin = vector(&s), *Kq = vector(&s), *Mq = vector(&s);
            const kiln_mat3 A = {{{0.4, 0.3, -0.2}, {0.3, -0.1, 0.5}, {-0.2, 0.5, 0.7}}};
            for (size_t v = 0; v < s.rows; v++) {
                kiln_vec3 u = s.mesh->u[v], d = kiln_m3_apply(A, u);
                const double at[3] = {1.3 * u.x, 1.1 * u.y, 1.2 * u.z};
                memcpy(s.x + 3 * v, at, sizeof at);
                memcpy(q + 3 * v, &d, sizeof d);
            }
            begin_at(&s, s.x, q, origin, 1.0);
            products(&s, s.x, q, Kq, Mq);
            kiln_term *term = kiln_damping_term(s.damping);
            double expected = beta * dot(&s, q, Kq);
            ck_assert_double_gt(expected, 0);
            ck_assert_double_eq_tol(2 * term->value(term->self, s.x), expected, 1e-11 * expected);
            free(q), free(origin), free(Kq), free(Mq);
            close_setting(&s);
        }
}
END_TEST

/* A deformed body that turns by a large angle in each step, by the formulas of implicit Euler, BDF2
 * and Newmark: no force and no energy. */
START_TEST(turning_is_not_damped)
{
    for (int row = 0; row < 7; row++)
        for (int formula = 0; formula < 3; formula++) {
            const kiln_material m = {.model = kiln_material_model_at((size_t)row),
                                     .mu = 1,
                                     .lambda = 2,
                                     .density = 1,
                                     .damping_stiffness = 3,
                                     .viscosity = 5,
                                     .nodal_pressure = formula == 1};
            setting s = open_setting("nx=2 ny=2 nz=2", &m, 1, KILN_MASS_LUMPED);
            double *at[3] = {vector(&s), vector(&s), vector(&s)}, *speed = vector(&s);
            double *g = vector(&s);
            kiln_random random = kiln_random_start(4, 4);
            for (size_t v = 0; v < s.rows; v++) {
                kiln_vec3 p = s.mesh->u[v];
                p.x += kiln_random_range(&random, -0.05, 0.05);
                for (int k = 0; k < 3; k++) {
                    double c = cos(0.8 * k), n = sin(0.8 * k);
                    const double to[3] = {c * p.x - n * p.y + 7 * k, n * p.x + c * p.y, p.z};
                    memcpy(at[k] + 3 * v, to, sizeof to);
                }
                const double spin[3] = {-3 * at[1][3 * v + 1], 3 * at[1][3 * v] + 2, 1};
                memcpy(speed + 3 * v, spin, sizeof spin);
            }
            kiln_damping_start start = {.x_n = at[1],
                                        .before = at[0],
                                        .v_n = speed,
                                        .origin = at[1],
                                        .before_weight = formula == 1 ? -1.0 / 3 : 0,
                                        .rate_weight = formula == 2 ? 0.05 : 0,
                                        .tau = 0.1};
            kiln_damping_begin(s.damping, &start);
            kiln_term *term = kiln_damping_term(s.damping);
            ck_assert_double_le(term->value(term->self, at[2]), 1e-24);
            term->add(term->self, at[2], 1, g, NULL);
            for (size_t i = 0; i < 3 * s.rows; i++)
                ck_assert_double_eq_tol(g[i], 0, 1e-12);
            for (int k = 0; k < 3; k++)
                free(at[k]);
            free(speed), free(g);
            close_setting(&s);
        }
}
END_TEST

/* What passes is the stiffness damping of a material, and none when it has passed. */
START_TEST(what_passes_is_stiffness)
{
    enum { TETS = 500 };
    static double beta[TETS];
    kiln_material m = {
        .model = kiln_material_model_at((size_t)_i), .mu = 1, .lambda = 2, .density = 1};
    setting passing = open_setting("nx=3 ny=2 nz=2", &m, 1, KILN_MASS_LUMPED);
    m.damping_stiffness = 0.3;
    setting lasting = open_setting("nx=3 ny=2 nz=2", &m, 1, KILN_MASS_LUMPED);
    for (size_t t = 0; t < TETS; t++)
        beta[t] = 0.3;
    ck_assert(!kiln_damping_is_used(passing.damping));
    OK(kiln_damping_set_passing(passing.damping, beta, NULL));
    ck_assert(kiln_damping_is_used(passing.damping));
    setting *both[2] = {&passing, &lasting};
    double *g[2], *x = vector(&passing);
    kiln_random random = kiln_random_start(1, 2);
    for (size_t i = 0; i < 3 * passing.rows; i++)
        x[i] = passing.x[i] + kiln_random_range(&random, -0.02, 0.02);
    for (int k = 0; k < 2; k++) {
        kiln_term *term = kiln_damping_term(both[k]->damping);
        g[k] = vector(both[k]);
        begin_euler(both[k], both[k]->x, 0.1);
        term->add(term->self, x, 1.0, g[k], NULL);
    }
    for (size_t i = 0; i < 3 * passing.rows; i++)
        ck_assert_double_eq(g[0][i], g[1][i]);
    ck_assert_double_gt(fabs(g[0][0]), 0.0);
    OK(kiln_damping_set_passing(passing.damping, NULL, NULL));
    ck_assert(!kiln_damping_is_used(passing.damping));
    free(x), free(g[0]), free(g[1]);
    close_setting(&passing);
    close_setting(&lasting);
}
END_TEST

/* Nothing to damp: not used. A flat tet has no gradients: viscosity leaves it out. */
START_TEST(limits)
{
    kiln_material m = {.model = kiln_material_model_at(0), .mu = 1, .lambda = 1, .density = 1};
    setting s = open_setting("nx=1 ny=1 nz=1", &m, 1, KILN_MASS_LUMPED);
    ck_assert(!kiln_damping_is_used(s.damping));
    close_setting(&s);
    m.viscosity = 1;
    s = open_setting("nx=1 ny=1 nz=1", &m, 1, KILN_MASS_LUMPED);
    for (size_t v = 0; v < s.rows; v++)
        s.x[3 * v + 2] = 0;
    const kiln_mat3 shear = {{{0, 1, 0}, {0, 0, 0}, {0, 0, 0}}};
    ck_assert_double_eq(power(&s, s.x, &shear), 0);
    close_setting(&s);
}
END_TEST

START_TEST(out_of_memory)
{
    const kiln_material m = {.model = kiln_material_model_at(0),
                             .mu = 1,
                             .lambda = 1,
                             .density = 1,
                             .damping_mass = 1,
                             .viscosity = 1};
    kiln_context *plain = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(plain, "box", "nx=2 ny=2 nz=2");
    uint32_t tets = mesh->table[KILN_ON_TET].used, *material_of = calloc(tets, sizeof(uint32_t));
    double *tet_mass = calloc(tets, sizeof(double));
    for (uint64_t fail = 1;; fail++) {
        kiln_test_heap heap = {.fail_at = 0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_elements *elements = NULL;
        kiln_mass *mass = NULL;
        kiln_damping *damping = NULL;
        OK(kiln_elements_create(context, &elements, NULL));
        OK(kiln_elements_build(elements, mesh, &m, 1, material_of, NULL));
        OK(kiln_mass_create(context, &mass, NULL));
        OK(kiln_mass_build(mass, mesh, KILN_MASS_LUMPED, tet_mass, NULL));
        heap.fail_at = heap.calls + fail;
        kiln_status status = kiln_damping_create(context, elements, &damping, NULL);
        if (status == KILN_OK)
            status = kiln_damping_build(damping, mesh, KILN_MASS_LUMPED, tet_mass, NULL);
        if (damping)
            ck_assert_int_eq(kiln_damping_is_used(damping), status == KILN_OK);
        heap.fail_at = 0;
        kiln_damping_destroy(damping);
        kiln_mass_destroy(mass);
        kiln_elements_destroy(elements);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_bytes, 0);
        if (status == KILN_OK)
            break;
        ck_assert_int_eq(status, KILN_ERR_MEMORY);
        ck_assert_uint_lt(fail, 200);
    }
    free(material_of), free(tet_mass);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(plain);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("damping");
    TCase *all = kiln_test_case(suite, "damping");
    tcase_add_test(all, viscosity_is_newtonian);
    tcase_add_loop_test(all, small_cells_of_liquid_resist_more, 0, 2);
    tcase_add_test(all, rayleigh_ratio_of_a_mode);
    tcase_add_test(all, rayleigh_is_mass_and_stiffness);
    tcase_add_test(all, stiffness_of_a_stretched_body);
    tcase_add_test(all, turning_is_not_damped);
    tcase_add_loop_test(all, what_passes_is_stiffness, 0, 5);
    tcase_add_test(all, limits);
    tcase_add_test(all, out_of_memory);
    return suite;
}
