#include "fem/elements_impl.h"
#include "fem/yield_surfaces.h"
#include "fixtures.h"
#include "support.h"

#include <string.h>

static kiln_material material_at(size_t model)
{
    kiln_material m = {.model = kiln_material_model_at(model), .mu = 2.0, .lambda = 3.0};
    m.plastic = (kiln_plastic){
        .flows = true, .instant = true, .norm = KILN_YIELD_MISES, .yield = 0.1, .hardening = 0.02};
    return m;
}

/* Stretches in which everything flows, nothing and some; also equal ones. */
static const double stretches[][3] = {{1.3, 1.02, 0.8},    {1.6, 0.9, 0.7},  {1.1, 1.1, 0.9},
                                      {1.002, 1.0, 0.999}, {2.0, 1.4, 1.38}, {0.9, 0.7, 0.7},
                                      {1.2, 1.19999, 0.8}, {1.0, 1.0, 1.0}};
enum { STRETCHES = sizeof stretches / sizeof stretches[0] };
static const kiln_yield_surface surfaces[] = {{0.1, 0.05}, {0.3, 0.0},  {0.3, -0.2},
                                              {0.0, 0.0},  {0.3, -2.0}, {1e9, 0.0}};
enum { SURFACES = sizeof surfaces / sizeof surfaces[0] };

static kiln_matter matter_at(const kiln_material *material, const double s[3])
{
    return (kiln_matter){.material = material,
                         .mu = material->mu,
                         .lambda = material->lambda,
                         .s = {s[0], s[1], s[2]}};
}

static double energy_at(const kiln_material *material, const double s[3],
                        const kiln_yield_surface *surface)
{
    kiln_matter m = matter_at(material, s);
    return kiln_flow_energy(&m, surface);
}

/* p is the derivative of the energy, a that of p, and the pair terms are what p says. */
START_TEST(derivatives_are_those_of_the_energy)
{
    kiln_material material = material_at((size_t)_i);
    if (kiln_flow_is_linear(&material))
        return;
    for (int k = 0; k < STRETCHES * SURFACES; k++) {
        const kiln_yield_surface *surface = &surfaces[k / STRETCHES];
        const double *s = stretches[k % STRETCHES], h = 1e-5;
        kiln_matter m = matter_at(&material, s);
        kiln_principal f, up, down;
        kiln_flow_principal(&m, surface, &f);
        for (int i = 0; i < 3; i++) {
            double a[3] = {s[0], s[1], s[2]}, b[3] = {s[0], s[1], s[2]};
            a[i] += h, b[i] -= h;
            double slope =
                (energy_at(&material, a, surface) - energy_at(&material, b, surface)) / (2.0 * h);
            ck_assert_double_eq_tol(f.p[i], slope, 2e-8);
            kiln_matter ma = matter_at(&material, a), mb = matter_at(&material, b);
            kiln_flow_principal(&ma, surface, &up);
            kiln_flow_principal(&mb, surface, &down);
            /* At rest with no threshold the energy has a kink in its second derivative. */
            if (s[0] == s[2] && surface->threshold == 0.0)
                continue;
            for (int j = 0; j < 3; j++)
                ck_assert_msg(fabs(f.a[j][i] - (up.p[j] - down.p[j]) / (2.0 * h)) < 2e-6,
                              "a[%d][%d] = %.9g, not %.9g (stretches %d, surface %d)", j, i,
                              f.a[j][i], (up.p[j] - down.p[j]) / (2.0 * h), k % STRETCHES,
                              k / STRETCHES);
            int j = (i + 1) % 3, l = (i + 2) % 3;
            ck_assert_double_eq_tol(f.plus[i] * (s[j] + s[l]), f.p[j] + f.p[l], 1e-12);
            ck_assert_double_eq_tol(f.minus[i] * (s[j] - s[l]), f.p[j] - f.p[l], 1e-9);
            if (s[j] == s[l])
                ck_assert_double_eq_tol(f.minus[i], f.a[j][j] - f.a[j][l], 1e-9);
        }
    }
}
END_TEST

/* Elastic inside the surface; on it the deviator has the size of the threshold; and the energy is
 * below the elastic one (stvk, pressed together, has no stiffness that would make it so). */
START_TEST(stress_stays_on_the_surface)
{
    kiln_material material = material_at((size_t)_i);
    if (kiln_flow_is_linear(&material))
        return;
    for (int k = 0; k < STRETCHES; k++) {
        kiln_matter m = matter_at(&material, stretches[k]);
        double size = cbrt(m.s[0] * m.s[1] * m.s[2]);
        for (int i = 0; i < 3; i++)
            m.s[i] /= size;
        kiln_principal elastic, f;
        kiln_mat3 F = kiln_m3_diagonal(m.s[0], m.s[1], m.s[2]);
        double W = material.model->energy(m.mu, m.lambda, &F);
        kiln_plastic_stress(&m, &elastic);
        kiln_flow_principal(&m, &surfaces[5], &f);
        for (int i = 0; i < 3; i++)
            ck_assert_double_eq_tol(f.p[i], elastic.p[i], 1e-14);
        ck_assert_double_eq_tol(kiln_flow_energy(&m, &surfaces[5]), W, 1e-14);
        const kiln_yield_surface low = {0.02, 0.0};
        if (kiln_plastic_norm(&m) < 0.05)
            continue;
        kiln_flow_principal(&m, &low, &f);
        double t[3] = {f.p[0] * m.s[0], f.p[1] * m.s[1], f.p[2] * m.s[2]};
        double mean = (t[0] + t[1] + t[2]) / 3.0, norm = 0.0;
        for (int i = 0; i < 3; i++)
            norm += (t[i] - mean) * (t[i] - mean);
        ck_assert_double_eq_tol(sqrt(norm), 0.02, 1e-12);
        ck_assert_double_lt(kiln_flow_energy(&m, &low), W);
    }
}
END_TEST

/* What is left after the return has the stress that the potential said, principal by principal:
 * writing the flow into the rest shape leaves the forces as they were. */
START_TEST(a_return_keeps_the_stress)
{
    kiln_material material = material_at((size_t)_i);
    for (int k = 0; k < STRETCHES * SURFACES && !kiln_flow_is_linear(&material); k++) {
        kiln_matter m = matter_at(&material, stretches[k % STRETCHES]), left = m;
        double d[3];
        kiln_principal f, after;
        kiln_flow_principal(&m, &surfaces[k / STRETCHES], &f);
        kiln_flow_return(&m, &surfaces[k / STRETCHES], d);
        ck_assert_double_eq_tol(d[0] + d[1] + d[2], 0.0, 1e-15);
        for (int i = 0; i < 3; i++)
            left.s[i] *= exp(-d[i]);
        kiln_plastic_stress(&left, &after);
        for (int i = 0; i < 3; i++)
            ck_assert_double_eq_tol(f.p[i] * m.s[i], after.p[i] * left.s[i], 1e-13);
    }
}
END_TEST

/* Small strains: taken off as they are, to the surface and without trace. */
START_TEST(linear_matter_returns_its_strain)
{
    kiln_material material = material_at(0);
    ck_assert_int_eq(kiln_material_model_find("linear", &material.model, NULL), KILN_OK);
    for (int k = 0; k < STRETCHES * SURFACES; k++) {
        const kiln_yield_surface *surface = &surfaces[k / STRETCHES];
        kiln_matter m = matter_at(&material, stretches[k % STRETCHES]), left = m;
        double d[3], trace = 0.0, q = 0.0, norm = kiln_plastic_norm(&m);
        double part = kiln_flow_return(&m, surface, d);
        ck_assert_int_eq(part > 0.0, norm > surface->threshold);
        for (int i = 0; i < 3; i++) {
            left.s[i] *= exp(-d[i]);
            trace += left.s[i] - m.s[i];
            q += (left.s[i] - m.s[i]) * (left.s[i] - m.s[i]);
        }
        ck_assert_double_eq_tol(trace, 0.0, 1e-14);
        double threshold = fmax(surface->threshold + surface->growth * sqrt(q), 0.0);
        if (part > 0.0)
            ck_assert_double_eq_tol(kiln_plastic_norm(&left), threshold, 1e-13);
    }
}
END_TEST

START_TEST(what_flows_at_once_flows_inside)
{
    for (size_t model = 0; kiln_material_model_at(model); model++) {
        kiln_material m = material_at(model);
        bool linear = !m.model->principal;
        for (int k = 0; k < 4; k++) {
            m.nodal_pressure = k % 2;
            m.plastic.norm = k / 2 ? KILN_YIELD_FROBENIUS : KILN_YIELD_MISES;
            ck_assert(kiln_flow_is_within(&m));
            ck_assert_int_eq(kiln_flow_is_linear(&m), linear);
            bool volume = m.model->dilation == KILN_DILATION_VOLUME;
            ck_assert_int_eq(kiln_flow_dilation(&m),
                             linear || volume ? m.model->dilation : KILN_DILATION_CHANGE);
        }
        m.plastic.instant = false;
        ck_assert(!kiln_flow_is_within(&m));
        m.plastic.instant = true;
        m.plastic.flows = false;
        ck_assert(!kiln_flow_is_within(&m));
        ck_assert_int_eq(kiln_flow_dilation(&m), m.model->dilation);
    }
}
END_TEST

typedef struct setting {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_elements *elements;
    uint32_t *material_of;
    size_t rows;
    double *x, *g, *up, *down;
} setting;

static setting open_setting(kiln_context *context, const kiln_material *material)
{
    setting s = {.context = context};
    s.mesh = kiln_test_mesh(s.context, "box", "nx=2 ny=2 nz=1");
    kiln_test_jitter(s.mesh, 0.06, 5);
    s.rows = s.mesh->table[KILN_ON_VERTEX].used;
    s.material_of = calloc(s.mesh->table[KILN_ON_TET].used, sizeof(uint32_t));
    s.x = malloc(3 * s.rows * sizeof(double));
    s.g = calloc(3 * s.rows, sizeof(double));
    s.up = calloc(3 * s.rows, sizeof(double));
    s.down = calloc(3 * s.rows, sizeof(double));
    for (size_t v = 0; v < s.rows; v++) {
        kiln_vec3 u = s.mesh->u[v];
        /* Strains of about one in a hundred: small enough for a positive matrix. */
        s.x[3 * v] = 1.01 * u.x + 0.005 * u.y;
        s.x[3 * v + 1] = 0.997 * u.y + 0.003 * sin(3 * u.x);
        s.x[3 * v + 2] = 0.998 * u.z + 0.01 * u.x * u.y;
    }
    ck_assert_int_eq(kiln_plastic_add_fields(s.mesh, NULL), KILN_OK);
    ck_assert_int_eq(kiln_elements_create(s.context, &s.elements, NULL), KILN_OK);
    ck_assert_int_eq(kiln_elements_build(s.elements, s.mesh, material, 1, s.material_of, NULL),
                     KILN_OK);
    return s;
}

static void close_setting(setting *s)
{
    free(s->material_of), free(s->x), free(s->g), free(s->up), free(s->down);
    kiln_elements_destroy(s->elements);
    kiln_mesh_destroy(s->mesh);
}

static void gradient(setting *s, double *g)
{
    kiln_term *term = kiln_elements_term(s->elements);
    memset(g, 0, 3 * s->rows * sizeof *g);
    term->add(term->self, s->x, 1.0, g, NULL);
}

/* The term on a mesh: forces are the slope of the energy, the matrix that of the forces where it is
 * not projected; on every instruction set, in logarithms and for small strains. */
START_TEST(the_term_agrees_with_itself)
{
    static const char *const isa[] = {"scalar", "avx2", "avx512"};
    kiln_context_options options = kiln_context_default_options();
    options.isa = isa[_i / 2];
    kiln_context *context;
    if (kiln_context_create(&options, &context, NULL) != KILN_OK)
        return; /* this machine has not got it */
    kiln_material material = material_at(0);
    const char *model = _i % 2 ? "linear" : "neo-hookean-split";
    ck_assert_int_eq(kiln_material_model_find(model, &material.model, NULL), KILN_OK);
    material.plastic.yield = 0.015;
    setting s = open_setting(context, &material);
    kiln_term *term = kiln_elements_term(s.elements);
    double elastic = term->value(term->self, s.x);
    ck_assert_int_eq(kiln_yield_surfaces_begin(s.elements, s.mesh, NULL), KILN_OK);
    double value = term->value(term->self, s.x);
    ck_assert_double_lt(value, 0.8 * elastic);
    kiln_bsr H;
    kiln_bsr_init(&H, context);
    kiln_cliques cliques = term->cliques(term->self);
    ck_assert_int_eq(kiln_bsr_set_pattern(&H, s.rows, &cliques, 1, NULL), KILN_OK);
    ck_assert_int_eq(term->attach(term->self, &H, NULL), KILN_OK);
    memset(s.up, 0, 3 * s.rows * sizeof(double));
    term->add(term->self, s.x, 1.0, s.up, &H);
    gradient(&s, s.g);
    for (size_t i = 0; i < 3 * s.rows; i++)
        ck_assert_double_eq_tol(s.g[i], s.up[i], 1e-13);
    double *dx = calloc(3 * s.rows, sizeof *dx), *Hdx = calloc(3 * s.rows, sizeof *Hdx), h = 1e-7;
    double *x = malloc(3 * s.rows * sizeof *x);
    memcpy(x, s.x, 3 * s.rows * sizeof *x);
    for (int k = 0; k < 5; k++) {
        double slope = 0.0, values[2];
        for (size_t i = 0; i < 3 * s.rows; i++) {
            dx[i] = 0.1 * sin((double)(7 * i + 3) * (k + 1));
            slope += s.g[i] * dx[i];
        }
        for (int side = 0; side < 2; side++) {
            for (size_t i = 0; i < 3 * s.rows; i++)
                s.x[i] = x[i] + (side ? -h : h) * dx[i];
            values[side] = term->value(term->self, s.x);
            gradient(&s, side ? s.down : s.up);
        }
        ck_assert_double_eq_tol(slope, (values[0] - values[1]) / (2 * h), 1e-7);
        ck_assert_int_eq(kiln_bsr_multiply(&H, dx, Hdx, NULL), KILN_OK);
        for (size_t i = 0; i < 3 * s.rows; i++)
            ck_assert_double_eq_tol(Hdx[i], (s.up[i] - s.down[i]) / (2 * h), 1e-5);
    }
    free(dx), free(Hdx), free(x);
    kiln_bsr_free(&H);
    close_setting(&s);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(memory_may_fail)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_material material = material_at(2);
    ck_assert_int_eq(kiln_material_model_find("neo-hookean", &material.model, NULL), KILN_OK);
    material.plastic.yield = 0.015;
    setting s = open_setting(context, &material);
    kiln_term *term = kiln_elements_term(s.elements);
    double elastic = term->value(term->self, s.x);
    heap.fail_at = heap.calls + 1;
    ck_assert_int_eq(kiln_yield_surfaces_begin(s.elements, s.mesh, NULL), KILN_ERR_MEMORY);
    ck_assert_double_eq(term->value(term->self, s.x), elastic);
    heap.fail_at = 0;
    ck_assert_int_eq(kiln_yield_surfaces_begin(s.elements, s.mesh, NULL), KILN_OK);
    ck_assert_double_lt(term->value(term->self, s.x), elastic);
    kiln_yield_surfaces_end(s.elements);
    ck_assert_double_eq(term->value(term->self, s.x), elastic);
    close_setting(&s);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}
END_TEST

Suite *kiln_test_suite(void)
{
    int models = 0;
    while (kiln_material_model_at((size_t)models))
        models++;
    Suite *suite = suite_create("flow potential");
    TCase *c = kiln_test_case(suite, "flow potential");
    tcase_add_loop_test(c, derivatives_are_those_of_the_energy, 0, models);
    tcase_add_loop_test(c, stress_stays_on_the_surface, 0, models);
    tcase_add_loop_test(c, a_return_keeps_the_stress, 0, models);
    tcase_add_test(c, linear_matter_returns_its_strain);
    tcase_add_test(c, what_flows_at_once_flows_inside);
    tcase_add_loop_test(c, the_term_agrees_with_itself, 0, 6);
    tcase_add_test(c, memory_may_fail);
    return suite;
}
