/* Every term of the objective, from one table: value, gradient and Hessian by finite differences,
 * invariance, and the same bits on any number of threads. */
#include "fem/damping.h"
#include "fem/loads.h"
#include "fixtures.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

typedef enum kind {
    ELASTIC,   /* one row per model, as the four below */
    PRESSURE,  /* the nodal pressure alone, with its exact Hessian */
    SPLIT,     /* elements and nodal pressure together, as a step has them */
    STIFFNESS, /* Rayleigh's beta */
    SPLIT_STIFFNESS,
    INERTIA_LUMPED,
    INERTIA_CONSISTENT,
    ALPHA_LUMPED,
    ALPHA_CONSISTENT,
    VISCOSITY,
    RAYLEIGH_AND_VISCOSITY,
    DEAD_LOADS,
    FOLLOWING_PRESSURE,
    KINDS
} kind;
enum {
    MODELS = 7,
    ROWS = 5 * MODELS + (KINDS - INERTIA_LUMPED),
    VISCOUS_ROW = 5 * MODELS + (VISCOSITY - INERTIA_LUMPED)
};

static const char *const kind_names[KINDS] = {"elastic",
                                              "nodal pressure",
                                              "elastic and nodal pressure",
                                              "beta",
                                              "split beta",
                                              "inertia lumped",
                                              "inertia",
                                              "alpha lumped",
                                              "alpha",
                                              "viscosity",
                                              "all damping",
                                              "dead loads",
                                              "following pressure"};

/* Of one part of a body that has two, in units of the other's. */
static const double heavy_factor = 1e13;

typedef struct stage {
    kind kind;
    bool heavy; /* what lies beyond x = 0.4 is heavy_factor times as stiff, heavy, loaded */
    char name[64];
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_elements *elements;
    kiln_nodal_pressure *pressure;
    kiln_damping *damping;
    kiln_mass *mass;
    kiln_loads *loads;
    kiln_term *term[2];
    size_t terms, rows, size;
    double *rest, *x, *before, *origin, *speed; /* [rows][3] */
    kiln_bsr H;
} stage;

static void *doubles(size_t count)
{
    double *d = calloc(count, sizeof *d);
    ck_assert_ptr_nonnull(d);
    return d;
}

#define OK(call)                                                                                   \
    do {                                                                                           \
        kiln_error error_ = {0};                                                                   \
        kiln_status status_ = (call);                                                              \
        ck_assert_msg(status_ == KILN_OK, "%s: %d %s", #call, (int)status_, error_.message);       \
    } while (0)

static bool is_nodal(kind k)
{
    return k == PRESSURE || k == SPLIT || k == SPLIT_STIFFNESS;
}

/* Two materials of one model, so that interfaces, averages and factors by material are met. */
static void set_materials(const stage *s, const kiln_material_model *model, kiln_material m[2])
{
    for (int i = 0; i < 2; i++) {
        m[i] = (kiln_material){.model = model, .mu = 2 + i, .lambda = 7 - 2 * i, .density = 3 + i};
        m[i].nodal_pressure = is_nodal(s->kind);
        if (s->kind == STIFFNESS || s->kind == SPLIT_STIFFNESS || s->kind == RAYLEIGH_AND_VISCOSITY)
            m[i].damping_stiffness = 0.3 + 0.4 * i;
        if (s->kind == ALPHA_LUMPED || s->kind == ALPHA_CONSISTENT ||
            s->kind == RAYLEIGH_AND_VISCOSITY)
            m[i].damping_mass = 0.2 + 0.5 * i;
        if (s->kind == VISCOSITY || s->kind == RAYLEIGH_AND_VISCOSITY)
            m[i].viscosity = 0.7 - 0.3 * i;
    }
    double factor = s->heavy ? heavy_factor : 1;
    m[1].mu *= factor, m[1].lambda *= factor, m[1].density *= factor, m[1].viscosity *= factor;
}

static void build_parts(stage *s, const kiln_material m[2])
{
    uint32_t tets = s->mesh->table[KILN_ON_TET].used, *material_of = calloc(tets, sizeof(uint32_t));
    double *tet_mass = doubles(tets);
    for (uint32_t t = 0; t < tets; t++) {
        material_of[t] = t % 5 == 2 || t > 2 * tets / 3;
        if (s->heavy) {
            material_of[t] = 0;
            for (int k = 0; k < 4; k++)
                material_of[t] |= s->mesh->u[s->mesh->tet[t].v[k]].x > 0.4;
        }
        tet_mass[t] = m[material_of[t]].density * kiln_mesh_tet_volume(s->mesh, t);
    }
    bool consistent = s->kind == INERTIA_CONSISTENT || s->kind == ALPHA_CONSISTENT ||
                      s->kind == RAYLEIGH_AND_VISCOSITY;
    OK(kiln_elements_create(s->context, &s->elements, NULL));
    OK(kiln_nodal_pressure_create(s->context, s->elements, &s->pressure, NULL));
    OK(kiln_mass_create(s->context, &s->mass, NULL));
    OK(kiln_damping_create(s->context, s->elements, &s->damping, NULL));
    OK(kiln_loads_create(s->context, &s->loads, NULL));
    kiln_damping_set_pressure(s->damping, s->pressure);
    OK(kiln_elements_build(s->elements, s->mesh, m, 2, material_of, NULL));
    OK(kiln_nodal_pressure_build(s->pressure, NULL));
    OK(kiln_mass_build(s->mass, s->mesh, consistent ? KILN_MASS_CONSISTENT : KILN_MASS_LUMPED,
                       tet_mass, NULL));
    OK(kiln_damping_build(s->damping, s->mesh, kiln_mass_kind_of(s->mass), tet_mass, NULL));
    OK(kiln_loads_reset(s->loads, s->mesh, NULL));
    free(tet_mass);
    free(material_of);
}

static void set_loads(stage *s)
{
    for (uint32_t v = 0; v < s->rows; v++) {
        double factor = s->heavy && s->mesh->u[v].x > 0.4 ? heavy_factor : 1;
        kiln_vec3 force = kiln_v3(0.1 * v, sin(v), 1.0 / (v + 1));
        kiln_loads_add_force(s->loads, v, kiln_v3_scale(force, factor));
    }
    if (s->kind == FOLLOWING_PRESSURE)
        for (uint32_t f = 0; f < s->mesh->table[KILN_ON_FACE].used; f += 2)
            OK(kiln_loads_add_pressure(s->loads, f, 1.0 + 0.01 * f, NULL));
}

/* `past`: of weights as no integrator has them, so that all parts of its formula count. */
static void begin_damping(stage *s, double past)
{
    kiln_damping_start start = {.x_n = s->before,
                                .before = s->origin,
                                .v_n = s->speed,
                                .origin = s->origin,
                                .before_weight = -0.4 * past,
                                .rate_weight = 0.3 * past,
                                .tau = 0.25};
    kiln_damping_begin(s->damping, &start);
}

static bool resists_strain(kind k)
{
    return k == STIFFNESS || k == SPLIT_STIFFNESS || k == VISCOSITY || k == RAYLEIGH_AND_VISCOSITY;
}

static void choose_terms(stage *s)
{
    kiln_term *elastic = kiln_elements_term(s->elements);
    s->terms = 1;
    switch (s->kind) {
    case ELASTIC:
        s->term[0] = elastic;
        break;
    case PRESSURE:
        kiln_nodal_pressure_set_exact(s->pressure, true);
        s->term[0] = kiln_nodal_pressure_term(s->pressure);
        break;
    case SPLIT:
        s->term[0] = elastic;
        s->term[1] = kiln_nodal_pressure_term(s->pressure);
        s->terms = 2;
        break;
    case INERTIA_LUMPED:
    case INERTIA_CONSISTENT:
        s->term[0] = kiln_mass_inertia(s->mass, s->origin);
        break;
    case DEAD_LOADS:
    case FOLLOWING_PRESSURE:
        set_loads(s);
        s->term[0] = kiln_loads_term(s->loads);
        s->term[0]->lag(s->term[0]->self, s->before);
        break;
    default:
        ck_assert(kiln_damping_is_used(s->damping));
        begin_damping(s, 1.0);
        s->term[0] = kiln_damping_term(s->damping);
    }
    ck_assert_int_eq(is_nodal(s->kind), kiln_nodal_pressure_is_used(s->pressure));
}

/* An affine map (turn, stretch) and noise small enough to keep tets positive. */
static void deform(const stage *s, double *x, double noise, uint64_t seed)
{
    kiln_random random = kiln_random_start(seed, 0);
    const kiln_mat3 F = {{{0.9, -0.5, 0.1}, {0.45, 1.1, -0.2}, {0.05, 0.3, 1.05}}};
    for (size_t v = 0; v < s->rows; v++) {
        kiln_vec3 p = kiln_m3_apply(F, s->mesh->u[v]);
        double at[3] = {p.x + 0.3, p.y, p.z};
        for (int c = 0; c < 3; c++)
            x[3 * v + (size_t)c] = at[c] + kiln_random_range(&random, -noise, noise);
    }
}

static stage open_stage_with(int row, int threads, const char *settings, double noise, bool heavy)
{
    int per_model = 5 * MODELS;
    stage s = {.kind = row < per_model ? (kind)(row / MODELS)
                                       : (kind)(INERTIA_LUMPED + row - per_model),
               .heavy = heavy};
    const kiln_material_model *model =
        kiln_material_model_at(row < per_model ? (size_t)(row % MODELS) : 3);
    ck_assert_ptr_nonnull(model);
    snprintf(s.name, sizeof s.name, "%s %s", kind_names[s.kind],
             row < per_model ? model->name : "");
    s.context = kiln_test_context(threads);
    s.mesh = kiln_test_mesh(s.context, "box", settings);
    kiln_test_jitter(s.mesh, noise, 77);
    s.rows = s.mesh->table[KILN_ON_VERTEX].used;
    s.size = 3 * s.rows;
    s.rest = doubles(s.size), s.x = doubles(s.size);
    s.before = doubles(s.size), s.origin = doubles(s.size), s.speed = doubles(s.size);
    memcpy(s.rest, s.mesh->u, s.size * sizeof(double));
    deform(&s, s.x, noise, 1);
    deform(&s, s.before, 0.8 * noise, 2);
    deform(&s, s.origin, 0.6 * noise, 3);
    for (size_t i = 0; i < s.size; i++)
        s.speed[i] = 0.3 * (s.x[i] - s.origin[i]);
    kiln_material m[2];
    set_materials(&s, model, m);
    build_parts(&s, m);
    choose_terms(&s);
    kiln_cliques sets[2];
    kiln_term *pattern[2] = {kiln_elements_term(s.elements), kiln_nodal_pressure_term(s.pressure)};
    for (int i = 0; i < 2; i++)
        sets[i] = pattern[i]->cliques(pattern[i]->self);
    kiln_bsr_init(&s.H, s.context);
    OK(kiln_bsr_set_pattern(&s.H, s.rows, sets, is_nodal(s.kind) ? 2 : 1, NULL));
    for (size_t i = 0; i < s.terms; i++)
        if (s.term[i]->attach)
            OK(s.term[i]->attach(s.term[i]->self, &s.H, NULL));
    return s;
}

static stage open_stage(int row, int threads, const char *settings, double noise)
{
    return open_stage_with(row, threads, settings, noise, false);
}

static void close_stage(stage *s)
{
    kiln_bsr_free(&s->H);
    free(s->rest), free(s->x), free(s->before), free(s->origin), free(s->speed);
    kiln_loads_destroy(s->loads);
    kiln_damping_destroy(s->damping);
    kiln_nodal_pressure_destroy(s->pressure);
    kiln_mass_destroy(s->mass);
    kiln_elements_destroy(s->elements);
    kiln_mesh_destroy(s->mesh);
    kiln_context_destroy(s->context);
}

static double value(const stage *s, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < s->terms; i++)
        sum += s->term[i]->value(s->term[i]->self, x);
    return sum;
}

static void gradient(stage *s, const double *x, double scale, double *g, kiln_bsr *H)
{
    memset(g, 0, s->size * sizeof *g);
    if (H)
        kiln_bsr_clear(H);
    for (size_t i = 0; i < s->terms; i++)
        s->term[i]->add(s->term[i]->self, x, scale, g, H);
}

static double largest(const double *v, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(v[i]));
    return most;
}

/* The whole matrix; H has the upper blocks, with diagonal blocks whole. */
static void to_dense(const stage *s, double *dense)
{
    memset(dense, 0, s->size * s->size * sizeof *dense);
    for (uint32_t i = 0; i < s->rows; i++)
        for (uint64_t b = s->H.start[i]; b < s->H.start[i + 1]; b++) {
            size_t stride, j = s->H.column[b];
            const double *at = kiln_bsr_at(&s->H, i, b, &stride);
            for (size_t r = 0; r < 3; r++)
                for (size_t c = 0; c < 3; c++) {
                    dense[(3 * i + r) * s->size + 3 * j + c] = at[r * stride + c];
                    dense[(3 * j + c) * s->size + 3 * i + r] = at[r * stride + c];
                }
        }
}

/* Is a + shift I positive definite? By elimination; a is lost. */
static bool is_positive(double *a, size_t n, double shift)
{
    for (size_t k = 0; k < n; k++)
        a[k * n + k] += shift;
    for (size_t k = 0; k < n; k++) {
        if (!(a[k * n + k] > 0))
            return false;
        for (size_t i = k + 1; i < n; i++) {
            double f = a[i * n + k] / a[k * n + k];
            for (size_t j = k; j < n; j++)
                a[i * n + j] -= f * a[k * n + j];
        }
    }
    return true;
}

/* Derivatives of the gradient, made symmetric. */
static void difference_gradients(stage *s, const double *x, double h, double *dense)
{
    double *moved = doubles(s->size), *ahead = doubles(s->size), *behind = doubles(s->size);
    memcpy(moved, x, s->size * sizeof *x);
    for (size_t i = 0; i < s->size; i++) {
        moved[i] = x[i] + h;
        gradient(s, moved, 1, ahead, NULL);
        moved[i] = x[i] - h;
        gradient(s, moved, 1, behind, NULL);
        moved[i] = x[i];
        for (size_t j = 0; j < s->size; j++)
            dense[i * s->size + j] = (ahead[j] - behind[j]) / (2 * h);
    }
    for (size_t i = 0; i < s->size; i++)
        for (size_t j = 0; j < i; j++) {
            double mean = 0.5 * (dense[i * s->size + j] + dense[j * s->size + i]);
            dense[i * s->size + j] = dense[j * s->size + i] = mean;
        }
    free(moved), free(ahead), free(behind);
}

static void check_gradient(stage *s, const double *x)
{
    const double h = 1e-5;
    double *g = doubles(s->size), *moved = doubles(s->size);
    gradient(s, x, 1, g, NULL);
    memcpy(moved, x, s->size * sizeof *x);
    double scale = 1 + largest(g, s->size) + fabs(value(s, x));
    for (size_t i = 0; i < s->size; i++) {
        moved[i] = x[i] + h;
        double ahead = value(s, moved);
        moved[i] = x[i] - h;
        double behind = value(s, moved);
        moved[i] = x[i];
        ck_assert_msg(fabs((ahead - behind) / (2 * h) - g[i]) <= 2e-8 * scale,
                      "%s: coordinate %zu: differences give %.10g, gradient %.10g", s->name, i,
                      (ahead - behind) / (2 * h), g[i]);
    }
    free(g), free(moved);
}

/* Projected blocks: the sum is PSD and exceeds the exact one by something PSD; at rest, where every
 * element is PSD, it is the exact one. */
static void check_hessian(stage *s, const double *x, bool equal)
{
    size_t all = s->size * s->size;
    double *exact = doubles(all), *H = doubles(all), *g = doubles(s->size);
    difference_gradients(s, x, 1e-5, exact);
    if (equal && s->term[0]->set_exact) /* pressure has no PSD part */
        s->term[0]->set_exact(s->term[0]->self, true);
    gradient(s, x, 1, g, &s->H);
    if (equal && s->term[0]->set_exact)
        s->term[0]->set_exact(s->term[0]->self, false);
    to_dense(s, H);
    double scale = 1 + largest(exact, all);
    for (size_t i = 0; equal && i < all; i++)
        ck_assert_msg(fabs(H[i] - exact[i]) <= 1e-7 * scale,
                      "%s: entry %zu %zu: differences give %.10g, Hessian %.10g", s->name,
                      i / s->size, i % s->size, exact[i], H[i]);
    if (!equal) {
        for (size_t i = 0; i < all; i++)
            exact[i] = H[i] - exact[i];
        ck_assert_msg(is_positive(exact, s->size, 1e-6 * scale),
                      "%s: projection has taken something away", s->name);
        ck_assert_msg(is_positive(H, s->size, 1e-10 * scale), "%s: not PSD", s->name);
    }
    free(exact), free(H), free(g);
}

START_TEST(derivatives)
{
    stage s = open_stage(_i, 1, "nx=2 ny=2 nz=1", 0.07);
    check_gradient(&s, s.x);
    bool projected = s.kind == ELASTIC || s.kind == SPLIT;
    check_hessian(&s, s.x, !projected && !resists_strain(s.kind));
    if (projected) {
        check_gradient(&s, s.rest);
        check_hessian(&s, s.rest, true);
    }
    if (resists_strain(s.kind)) { /* exact where strains do not change, or grow: no stress < 0 */
        begin_damping(&s, 0.0);
        check_hessian(&s, s.before, true);
        for (size_t i = 0; i < s.size; i++)
            s.x[i] = 1.1 * s.before[i];
        check_gradient(&s, s.x);
        check_hessian(&s, s.x, s.kind != VISCOSITY && s.kind != RAYLEIGH_AND_VISCOSITY);
    }
    /* A scale multiplies both; what is there stays. */
    double *g = doubles(s.size), *twice = doubles(s.size);
    gradient(&s, s.x, 1, g, NULL);
    gradient(&s, s.x, 0.5, twice, NULL);
    for (size_t i = 0; i < s.terms; i++)
        s.term[i]->add(s.term[i]->self, s.x, 1.5, twice, NULL);
    for (size_t i = 0; i < s.size; i++)
        ck_assert_double_eq_tol(twice[i], 2 * g[i], 1e-12 * (1 + largest(g, s.size)));
    free(g), free(twice);
    close_stage(&s);
}
END_TEST

static double delta(const stage *s, const double *x0, const double *x1)
{
    double sum = 0;
    for (size_t i = 0; i < s->terms; i++) {
        ck_assert_ptr_nonnull(s->term[i]->delta);
        sum += kiln_term_delta(s->term[i], x0, x1);
    }
    return sum;
}

/* One vertex of the light part moves by little: the values' difference is rounding of the heavy
 * part, yet the sum of differences has the work of the mean force, right but for dx^3. */
START_TEST(small_changes_are_seen)
{
    stage s = open_stage_with(_i, 2, "nx=8 ny=4 nz=4", 0.02, true);
    double *to = doubles(s.size), *g = doubles(s.size), *after = doubles(s.size);
    const double dx[3] = {3e-6, -2e-6, 1e-6};
    size_t v = 0;
    for (size_t i = 0; i < s.rows; i++)
        if (s.mesh->u[i].x < s.mesh->u[v].x)
            v = i;
    memcpy(to, s.x, s.size * sizeof *to);
    for (int c = 0; c < 3; c++)
        to[3 * v + (size_t)c] += dx[c];
    gradient(&s, s.x, 1, g, NULL);
    gradient(&s, to, 1, after, NULL);
    double expected = 0;
    for (size_t i = 3 * v; i < 3 * v + 3; i++)
        expected += 0.5 * (g[i] + after[i]) * (to[i] - s.x[i]);
    ck_assert_msg(fabs(value(&s, s.x)) * 2.2e-16 > fabs(expected), "%s: not small", s.name);
    ck_assert_msg(fabs(delta(&s, s.x, to) - expected) <= 1e-6 * fabs(expected),
                  "%s: %.12g, expected %.12g", s.name, delta(&s, s.x, to), expected);
    ck_assert_msg(fabs(delta(&s, to, s.x) + expected) <= 1e-6 * fabs(expected), "%s", s.name);
    free(to), free(g), free(after);
    close_stage(&s);
}
END_TEST

/* What is kept from one call to the next changes no bit, and is not kept too long. */
START_TEST(deltas_are_differences_of_values)
{
    stage s = open_stage(_i, 2, "nx=5 ny=4 nz=4", 0.03),
          t = open_stage(_i, 1, "nx=5 ny=4 nz=4", 0.03);
    double before = value(&s, s.x), after = value(&s, s.before);
    double direct = delta(&t, s.x, s.before); /* nothing was asked for before */
    ck_assert_msg(fabs(direct - (after - before)) <= 1e-12 * (fabs(before) + fabs(after)), "%s",
                  s.name);
    for (int round = 0; round < 3; round++) {
        double there = delta(&s, s.x, s.before), back = delta(&s, s.before, s.x);
        ck_assert_msg(there == direct && back == -direct, "%s: %.17g %.17g %.17g", s.name, there,
                      back, direct);
        delta(&s, s.x, s.origin);
        ck_assert_double_eq(delta(&s, s.x, s.before), direct);
    }
    ck_assert_double_eq(delta(&s, s.x, s.x), 0.0);
    if (s.kind == ELASTIC || s.kind == SPLIT) {
        uint32_t tets = s.mesh->table[KILN_ON_TET].used;
        double *mu = doubles(tets), *lambda = doubles(tets);
        for (uint32_t i = 0; i < tets; i++)
            mu[i] = 1.0 + i % 3, lambda[i] = 2.0;
        OK(kiln_elements_set_lame(s.elements, mu, lambda, NULL));
        OK(kiln_elements_set_lame(t.elements, mu, lambda, NULL));
        double other = delta(&s, s.x, s.before);
        ck_assert(other != direct);
        ck_assert_double_eq(other, delta(&t, s.x, s.before));
        free(mu), free(lambda);
    }
    close_stage(&t);
    close_stage(&s);
}
END_TEST

/* An inverted tet of a material with a barrier. */
START_TEST(deltas_are_infinite_outside)
{
    stage s = open_stage(_i, 1, "nx=2 ny=2 nz=1", 0.05);
    double *to = doubles(s.size);
    memcpy(to, s.x, s.size * sizeof *to);
    to[0] += 10.0;
    double there = value(&s, to), change = delta(&s, s.x, to);
    ck_assert_msg(isinf(there) ? change == INFINITY : isfinite(change), "%s: %g %g", s.name, there,
                  change);
    ck_assert(isfinite(delta(&s, s.x, s.before)));
    free(to);
    close_stage(&s);
}
END_TEST

static void move_rigidly(const stage *s, const double *x, bool turned, double *out)
{
    double c = turned ? cos(0.7) : 1, n = turned ? sin(0.7) : 0;
    for (size_t v = 0; v < s->rows; v++) {
        const double *p = x + 3 * v;
        out[3 * v] = c * p[0] - n * p[1] + 2;
        out[3 * v + 1] = n * p[0] + c * p[1] - 1;
        out[3 * v + 2] = p[2] + 0.5;
    }
}

/* Energies of the body and dampers of strain do not see a rigid motion (the linear energy a
 * rotation), so their gradient has no total force and, where rotations count, no torque. */
START_TEST(rigid_motions)
{
    stage s = open_stage(_i, 1, "nx=2 ny=2 nz=1", 0.07);
    bool turned = _i % MODELS != 0 || resists_strain(s.kind); /* row 0 of the models is linear */
    double *moved = doubles(s.size), *g = doubles(s.size), e = value(&s, s.x);
    move_rigidly(&s, s.x, turned, moved);
    ck_assert_msg(fabs(value(&s, moved) - e) <= 1e-11 * (1 + fabs(e)), "%s", s.name);
    gradient(&s, s.x, 1, g, NULL);
    kiln_vec3 force = {0}, torque = {0};
    for (size_t v = 0; v < s.rows; v++) {
        kiln_vec3 f = {g[3 * v], g[3 * v + 1], g[3 * v + 2]};
        force = kiln_v3_add(force, f);
        torque = kiln_v3_add(torque,
                             kiln_v3_cross(kiln_v3(s.x[3 * v], s.x[3 * v + 1], s.x[3 * v + 2]), f));
    }
    ck_assert_double_le(kiln_v3_norm(force), 1e-11 * (1 + largest(g, s.size)));
    if (turned)
        ck_assert_double_le(kiln_v3_norm(torque), 1e-11 * (1 + largest(g, s.size)));
    free(moved), free(g);
    close_stage(&s);
}
END_TEST

START_TEST(same_bits_on_any_threads)
{
    double *g[3], *H[3], e[3];
    size_t size = 0, blocks = 0;
    for (int threads = 1; threads <= 3; threads++) {
        stage s = open_stage(_i, threads, "nx=8 ny=6 nz=6", 0.02);
        size = s.size;
        blocks = 9 * (size_t)s.H.start[s.rows];
        g[threads - 1] = doubles(size), H[threads - 1] = doubles(blocks);
        e[threads - 1] = value(&s, s.x);
        gradient(&s, s.x, 0.3, g[threads - 1], &s.H);
        memcpy(H[threads - 1], s.H.value, blocks * sizeof(double));
        close_stage(&s);
    }
    for (int i = 1; i < 3; i++) {
        ck_assert(e[i] == e[0]);
        ck_assert(!memcmp(g[i], g[0], size * sizeof(double)));
        ck_assert(!memcmp(H[i], H[0], blocks * sizeof(double)));
    }
    for (int i = 0; i < 3; i++)
        free(g[i]), free(H[i]);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("terms");
    TCase *all = kiln_test_case(suite, "terms");
    tcase_add_loop_test(all, derivatives, 0, ROWS);
    tcase_add_loop_test(all, rigid_motions, 0, 5 * MODELS);
    tcase_add_loop_test(all, rigid_motions, VISCOUS_ROW, VISCOUS_ROW + 1);
    tcase_add_loop_test(all, small_changes_are_seen, 0, ROWS);
    tcase_add_loop_test(all, deltas_are_differences_of_values, 0, ROWS);
    tcase_add_loop_test(all, deltas_are_infinite_outside, 0, 5 * MODELS);
    tcase_add_loop_test(all, same_bits_on_any_threads, 0, ROWS);
    return suite;
}
