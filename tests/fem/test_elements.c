#include "fem/elements_impl.h"
#include "fem/offset.h"

#include "base/parallel.h"
#include "fixtures.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODELS = 7 };

typedef struct body {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_elements *elements;
    kiln_term *term;
    kiln_material materials[MODELS];
    uint32_t *material_of;
    size_t vertices;
    double *x;
} body;

static kiln_material material_of(const kiln_material_model *model, double young, double poisson)
{
    kiln_material m = {.model = model, .density = 1000.0};
    kiln_lame_from_young(young, poisson, &m.mu, &m.lambda);
    return m;
}

static void build(body *b, size_t materials)
{
    kiln_error error = {0};
    ck_assert_msg(kiln_elements_build(b->elements, b->mesh, b->materials, materials, b->material_of,
                                      &error) == KILN_OK,
                  "%s", error.message);
}

/* An irregular mesh; model `only`, or all of them in stripes when it is negative. */
static body make_body(int threads, const char *shape, const char *settings, int only)
{
    body b = {.context = kiln_test_context(threads)};
    b.mesh = kiln_test_mesh(b.context, shape, settings);
    kiln_test_jitter(b.mesh, 0.04, 9);
    b.vertices = b.mesh->table[KILN_ON_VERTEX].used;
    uint32_t tets = b.mesh->table[KILN_ON_TET].used;
    b.x = malloc(3 * b.vertices * sizeof *b.x);
    b.material_of = malloc(tets * sizeof *b.material_of);
    memcpy(b.x, b.mesh->x, 3 * b.vertices * sizeof *b.x);
    for (int i = 0; i < MODELS; i++)
        b.materials[i] =
            material_of(kiln_material_model_at((size_t)(only < 0 ? i : only)), 100.0, 0.35);
    for (uint32_t t = 0; t < tets; t++)
        b.material_of[t] = only < 0 ? (t / 5) % MODELS : 0;
    ck_assert_int_eq(kiln_elements_create(b.context, &b.elements, NULL), KILN_OK);
    b.term = kiln_elements_term(b.elements);
    build(&b, only < 0 ? MODELS : 1);
    return b;
}

static void free_body(body *b)
{
    kiln_elements_destroy(b->elements);
    kiln_mesh_destroy(b->mesh);
    kiln_context_destroy(b->context);
    free(b->x);
    free(b->material_of);
}

/* Turned, stretched and shaken, without inverting a tet. */
static void deform(body *b, double shake, uint64_t seed)
{
    kiln_random r = kiln_random_start(seed, 0);
    for (size_t v = 0; v < b->vertices; v++) {
        double *x = b->x + 3 * v, a = 0.3 * x[2], c = cos(a), s = sin(a);
        double p[3] = {1.1 * x[0], 0.9 * x[1], x[2]};
        x[0] = c * p[0] - s * p[1], x[1] = s * p[0] + c * p[1], x[2] = p[2];
        for (int i = 0; i < 3; i++)
            x[i] += shake * kiln_random_range(&r, -1.0, 1.0);
    }
}

START_TEST(gradient_is_that_of_the_energy)
{
    body b = make_body(1, "box", "nx=2 ny=3 nz=2", _i - 1);
    deform(&b, 0.02, 1);
    double *g = calloc(3 * b.vertices, sizeof *g), top = 0.0, worst = 0.0, h = 1e-5;
    b.term->add(b.term->self, b.x, 1.0, g, NULL);
    for (size_t i = 0; i < 3 * b.vertices; i++) {
        double keep = b.x[i];
        b.x[i] = keep + h;
        double above = b.term->value(b.term->self, b.x);
        b.x[i] = keep - h;
        double below = b.term->value(b.term->self, b.x);
        b.x[i] = keep;
        worst = fmax(worst, fabs((above - below) / (2.0 * h) - g[i]));
        top = fmax(top, fabs(g[i]));
    }
    printf("gradient %d: %.1e of %.1e\n", _i - 1, worst, top);
    ck_assert_double_gt(top, 0.1);
    ck_assert_double_le(worst, 1e-7 * top);
    free(g);
    free_body(&b);
}
END_TEST

static kiln_bsr matrix_of(body *b)
{
    kiln_bsr H;
    kiln_error error = {0};
    kiln_cliques cliques = b->term->cliques(b->term->self);
    kiln_bsr_init(&H, b->context);
    ck_assert_msg(kiln_bsr_set_pattern(&H, b->vertices, &cliques, 1, &error) == KILN_OK, "%s",
                  error.message);
    ck_assert_int_eq(b->term->attach(b->term->self, &H, &error), KILN_OK);
    return H;
}

/* Adds the block of a dense symmetric matrix the slow way. */
static void reference(const body *b, bool project, const double *pressure, double *W, double *g,
                      kiln_bsr *H)
{
    for (size_t n = 0; n < kiln_elements_room(b->elements); n++) {
        kiln_element e = kiln_elements_at(b->elements, n);
        if (e.slot == KILN_NONE)
            continue;
        const kiln_material *m = kiln_elements_material(b->elements, e.material);
        kiln_mat3 F = kiln_element_deformation(&e, b->x), P;
        double h[9][9], lambda = m->nodal_pressure ? m->model->shape_lambda * e.mu : e.lambda;
        *W += e.volume * m->model->energy(e.mu, lambda, &F);
        kiln_material_stress(m->model, e.mu, lambda, &F, &P);
        kiln_material_hessian(m->model, e.mu, lambda,
                              pressure && m->nodal_pressure ? pressure[n] : 0.0, &F, project, h);
        for (int a = 0; a < 4; a++) {
            kiln_vec3 f = kiln_m3_apply(P, e.gradient[a]);
            for (int i = 0; i < 3; i++)
                g[3 * e.vertex[a] + (size_t)i] += e.volume * (&f.x)[i];
            for (int c = a; c < 4; c++) {
                double block[3][3] = {{0}};
                for (int k = 0; k < 81; k++) {
                    int i = k / 27, j = k / 9 % 3, r = k / 3 % 3, l = k % 3;
                    block[i][r] += e.volume * (&e.gradient[a].x)[j] * h[3 * i + j][3 * r + l] *
                                   (&e.gradient[c].x)[l];
                }
                kiln_bsr_add(H, e.vertex[a], e.vertex[c], (const double(*)[3])block);
            }
        }
    }
}

static double largest(size_t n, const double *a)
{
    double top = 0.0;
    for (size_t i = 0; i < n; i++)
        top = fmax(top, fabs(a[i]));
    return top;
}

static double distance(size_t n, const double *a, const double *b)
{
    double top = 0.0;
    for (size_t i = 0; i < n; i++)
        top = a[i] - b[i] != a[i] - b[i] ? INFINITY : fmax(top, fabs(a[i] - b[i]));
    return top;
}

static void fill_test_pressure(void *user, const double *x, double *pressure)
{
    const body *b = user;
    ck_assert_ptr_nonnull(x);
    for (size_t n = 0; n < kiln_elements_room(b->elements); n++)
        pressure[n] = 40.0 * sin((double)n);
}

/* Energy, gradient and Hessian of the batched loops against the scalar functions. */
static void compare_with_reference(body *b, const char *what)
{
    size_t n = 3 * b->vertices;
    double *g = calloc(n, sizeof *g), *slow = calloc(n, sizeof *g), W = 0.0;
    kiln_bsr H = matrix_of(b), R = matrix_of(b);
    double *pressure = b->elements->pressure.count
                           ? malloc(kiln_elements_room(b->elements) * sizeof *pressure)
                           : NULL;
    if (pressure) {
        kiln_elements_set_pressure(b->elements, fill_test_pressure, NULL, b);
        fill_test_pressure(b, b->x, pressure);
    }
    reference(b, true, pressure, &W, slow, &R);
    for (int isa = 0; isa <= (int)kiln_isa_best(); isa++) {
        b->context->isa = (kiln_isa)isa;
        double value = b->term->value(b->term->self, b->x);
        memset(g, 0, n * sizeof *g);
        b->term->add(b->term->self, b->x, 1.0, g, NULL);
        double gradient = distance(n, g, slow) / largest(n, slow);
        memset(g, 0, n * sizeof *g);
        kiln_bsr_clear(&H);
        b->term->add(b->term->self, b->x, 1.0, g, &H);
        double beside = distance(n, g, slow) / largest(n, slow);
        size_t entries = 9 * (size_t)H.start[H.rows];
        double hessian = distance(entries, H.value, R.value) / largest(entries, R.value);
        printf("%s, %s: energy %.1e, gradient %.1e, beside H %.1e, Hessian %.1e\n", what,
               kiln_isa_name((kiln_isa)isa), fabs(value - W) / W, gradient, beside, hessian);
        ck_assert_double_le(fabs(value - W), 1e-12 * W);
        ck_assert_double_le(gradient, 1e-12);
        ck_assert_double_le(beside, 1e-12);
        ck_assert_double_le(hessian, 1e-12);
    }
    free(g), free(slow), free(pressure);
    kiln_bsr_free(&H);
    kiln_bsr_free(&R);
}

static const char *model_name(int i)
{
    return i < 0 ? "all" : kiln_material_model_at((size_t)i)->name;
}

START_TEST(batches_agree_with_the_scalar_reference)
{
    body b = make_body(1, "box", "nx=3 ny=3 nz=3", _i - 1);
    deform(&b, 0.05, 2);
    compare_with_reference(&b, model_name(_i - 1));
    free_body(&b);
}
END_TEST

/* Inverted, flat and point-like tets, where the model is defined there. */
START_TEST(batches_agree_when_inverted)
{
    if (kiln_material_model_at((size_t)_i)->barrier)
        return;
    body b = make_body(1, "box", "nx=3 ny=3 nz=3", _i);
    kiln_random r = kiln_random_start(5, 0);
    for (size_t k = 0; k < 3 * b.vertices; k++)
        b.x[k] += 0.35 * kiln_random_range(&r, -1.0, 1.0);
    uint32_t first;
    ck_assert_uint_gt(kiln_elements_inverted(b.elements, b.x, &first), 10);
    compare_with_reference(&b, model_name(_i));
    free_body(&b);
}
END_TEST

/* Energies have no terms that cancel near rest: at a strain of 1e-7 a sum of terms of order one
 * would have lost all digits. */
START_TEST(energy_keeps_its_digits_at_small_strain)
{
    body b = make_body(1, "box", "nx=2 ny=2 nz=2", _i);
    kiln_bsr H = matrix_of(&b);
    double W = 0.0, *g = calloc(3 * b.vertices, sizeof *g);
    for (size_t i = 0; i < 3 * b.vertices; i++)
        b.x[i] += 1e-8 * sin((double)(7 * i));
    reference(&b, true, NULL, &W, g, &H);
    ck_assert_double_gt(W, 1e-16);
    ck_assert_double_lt(W, 1e-10);
    for (int isa = 0; isa <= (int)kiln_isa_best(); isa++) {
        b.context->isa = (kiln_isa)isa;
        ck_assert_double_le(fabs(b.term->value(b.term->self, b.x) / W - 1.0), 1e-7);
    }
    free(g);
    kiln_bsr_free(&H);
    free_body(&b);
}
END_TEST

START_TEST(batches_agree_with_own_lame_and_pressure)
{
    body b = make_body(1, "box", "nx=3 ny=2 nz=3", _i);
    uint32_t tets = b.mesh->table[KILN_ON_TET].used;
    double *mu = malloc(tets * sizeof *mu), *lambda = malloc(tets * sizeof *lambda);
    for (uint32_t t = 0; t < tets; t++)
        mu[t] = 20.0 + t % 7, lambda[t] = 30.0 + t % 5;
    deform(&b, 0.05, 3);
    ck_assert_int_eq(kiln_elements_set_lame(b.elements, mu, lambda, NULL), KILN_OK);
    compare_with_reference(&b, "own Lame");
    b.materials[0].nodal_pressure = true;
    build(&b, 1);
    compare_with_reference(&b, "pressure");
    ck_assert_int_eq(kiln_elements_set_lame(b.elements, mu, lambda, NULL), KILN_OK);
    compare_with_reference(&b, "both");
    free(mu), free(lambda);
    free_body(&b);
}
END_TEST

/* Differences of the gradient along random directions against the exact Hessian of the scalar
 * functions: the blocks sit in the right places. */
START_TEST(hessian_is_that_of_the_gradient)
{
    body b = make_body(1, "box", "nx=3 ny=2 nz=2", _i - 1);
    deform(&b, 0.02, 4);
    size_t n = 3 * b.vertices;
    kiln_bsr H = matrix_of(&b);
    double *dx = malloc(n * sizeof *dx), *g = calloc(n, sizeof *g), *Hdx = malloc(n * sizeof *dx);
    double *high = calloc(n, sizeof *g), *low = calloc(n, sizeof *g), W = 0.0, h = 1e-5;
    kiln_random r = kiln_random_start(6, (uint64_t)_i);
    reference(&b, false, NULL, &W, g, &H);
    for (size_t i = 0; i < n; i++)
        dx[i] = kiln_random_range(&r, -1.0, 1.0);
    ck_assert_int_eq(kiln_bsr_multiply(&H, dx, Hdx, NULL), KILN_OK);
    for (size_t i = 0; i < n; i++)
        b.x[i] += h * dx[i];
    b.term->add(b.term->self, b.x, 1.0, high, NULL);
    for (size_t i = 0; i < n; i++)
        b.x[i] -= 2.0 * h * dx[i];
    b.term->add(b.term->self, b.x, 1.0, low, NULL);
    for (size_t i = 0; i < n; i++)
        g[i] = (high[i] - low[i]) / (2.0 * h);
    double gap = distance(n, g, Hdx) / largest(n, Hdx);
    printf("Hessian %s: %.1e\n", model_name(_i - 1), gap);
    ck_assert_double_le(gap, 1e-7);
    free(dx), free(g), free(Hdx), free(high), free(low);
    kiln_bsr_free(&H);
    free_body(&b);
}
END_TEST

typedef struct result {
    double value, step;
    double *g, *H;
    size_t n, entries;
} result;

static result run_with(int threads)
{
    body b = make_body(threads, "ball", "h=0.12", -1);
    deform(&b, 0.002, 4);
    size_t n = 3 * b.vertices;
    kiln_bsr H = matrix_of(&b);
    result r = {.g = calloc(n, sizeof *r.g), .n = n, .entries = 9 * (size_t)H.start[H.rows]};
    double *dx = malloc(n * sizeof *dx);
    for (size_t i = 0; i < n; i++)
        dx[i] = sin((double)i);
    r.value = b.term->value(b.term->self, b.x);
    r.step = b.term->max_step(b.term->self, b.x, dx);
    b.term->add(b.term->self, b.x, 0.7, r.g, NULL);
    b.term->add(b.term->self, b.x, 0.7, r.g, &H);
    r.H = malloc(r.entries * sizeof *r.H);
    memcpy(r.H, H.value, r.entries * sizeof *r.H);
    ck_assert_uint_gt(b.elements->chunks.count, 8);
    ck_assert_uint_gt(b.elements->colours.count, 2);
    free(dx);
    kiln_bsr_free(&H);
    free_body(&b);
    return r;
}

START_TEST(threads_do_not_change_bits)
{
    result one = run_with(1);
    for (int threads = 2; threads <= 3; threads++) {
        result many = run_with(threads);
        ck_assert_mem_eq(&one.value, &many.value, sizeof one.value);
        ck_assert_mem_eq(&one.step, &many.step, sizeof one.step);
        ck_assert_int_eq(memcmp(one.g, many.g, one.n * sizeof *one.g), 0);
        ck_assert_int_eq(memcmp(one.H, many.H, one.entries * sizeof *one.H), 0);
        free(many.g), free(many.H);
    }
    free(one.g), free(one.H);
}
END_TEST

/* No two chunks of a colour have a vertex in common, and every tet is there once. */
START_TEST(colours_are_apart)
{
    body b = make_body(1, "ball", "h=0.12", -1);
    const kiln_elements *e = b.elements;
    uint32_t *owner = malloc(b.vertices * sizeof *owner);
    uint8_t *seen = calloc(b.mesh->table[KILN_ON_TET].used, 1);
    size_t tets = 0;
    for (size_t c = 0; c + 1 < e->colours.count; c++) {
        memset(owner, 0xff, b.vertices * sizeof *owner);
        for (size_t k = e->colours.data[c]; k < e->colours.data[c + 1]; k++) {
            const kiln_element_chunk *chunk = &e->chunks.data[k];
            for (size_t n = 8 * (size_t)chunk->batch;
                 n < 8 * (size_t)(chunk->batch + chunk->batches); n++) {
                for (int a = 0; a < 4; a++) {
                    uint32_t *mine = &owner[e->vertex.data[4 * n + (size_t)a]];
                    ck_assert(*mine == KILN_NONE || *mine == k);
                    *mine = (uint32_t)k;
                }
                uint32_t slot = e->batches.data[n / 8].slot[n % 8];
                if (slot != KILN_NONE) {
                    ck_assert_uint_eq(seen[slot]++, 0);
                    ck_assert_uint_eq(b.material_of[slot], chunk->material);
                    tets++;
                }
            }
        }
    }
    ck_assert_uint_eq(tets, b.mesh->table[KILN_ON_TET].live);
    ck_assert_uint_eq(tets, kiln_elements_count(e));
    ck_assert_double_le((double)kiln_elements_bytes(e) / (double)tets, 160.0);
    free(owner), free(seen);
    free_body(&b);
}
END_TEST

/* E1 at the level of forces: a uniform F leaves no force inside. */
START_TEST(E1_uniform_deformation_has_no_inner_force)
{
    body b = make_body(1, "box", "nx=3 ny=3 nz=3", _i);
    for (size_t v = 0; v < b.vertices; v++) {
        double *x = b.x + 3 * v, y[3] = {x[0], x[1], x[2]};
        x[0] = 1.1 * y[0] + 0.2 * y[1];
        x[1] = 0.1 * y[0] + 0.9 * y[1] - 0.1 * y[2] + 3.0;
        x[2] = 0.05 * y[0] + 1.2 * y[2];
    }
    double *g = calloc(3 * b.vertices, sizeof *g);
    b.term->add(b.term->self, b.x, 1.0, g, NULL);
    double top = largest(3 * b.vertices, g), inside = 0.0;
    size_t count = 0;
    for (size_t v = 0; v < b.vertices; v++)
        if (!(b.mesh->vertex[v].flags & KILN_VERTEX_SURFACE)) {
            inside = fmax(inside, largest(3, g + 3 * v));
            count++;
        }
    ck_assert_uint_gt(count, 7);
    ck_assert_double_gt(top, 0.1);
    ck_assert_double_le(inside, 1e-13 * 100.0);
    free(g);
    free_body(&b);
}
END_TEST

START_TEST(steps_stop_before_inversion)
{
    body b = make_body(1, "box", "nx=3 ny=3 nz=3", _i);
    size_t n = 3 * b.vertices;
    double *dx = malloc(n * sizeof *dx), *y = malloc(n * sizeof *y);
    kiln_random r = kiln_random_start(8, 0);
    bool barrier = kiln_material_model_at((size_t)_i)->barrier;
    uint32_t first;
    for (int round = 0; round < 40; round++) {
        double size = 0.02 * pow(1.2, round);
        for (size_t i = 0; i < n; i++)
            dx[i] = size * kiln_random_range(&r, -1.0, 1.0);
        double step = b.term->max_step(b.term->self, b.x, dx);
        if (!barrier) {
            ck_assert_double_eq(step, 1.0);
            continue;
        }
        ck_assert(step > 0.0 && step <= 1.0);
        for (size_t i = 0; i < n; i++)
            y[i] = b.x[i] + step * dx[i];
        ck_assert_uint_eq(kiln_elements_inverted(b.elements, y, &first), 0);
        ck_assert_uint_eq(first, KILN_NONE);
        ck_assert(isfinite(b.term->value(b.term->self, y)));
        if (step == 1.0)
            continue;
        for (size_t i = 0; i < n; i++) /* not more careful than said */
            y[i] = b.x[i] + step / 0.9 * 1.0001 * dx[i];
        ck_assert_uint_gt(kiln_elements_inverted(b.elements, y, &first), 0);
        ck_assert(isinf(b.term->value(b.term->self, y)));
    }
    free(dx), free(y);
    free_body(&b);
}
END_TEST

START_TEST(inversion_and_stretch_are_seen)
{
    body b = make_body(1, "box", "nx=3 ny=2 nz=2", 1);
    size_t n = 3 * b.vertices;
    double *y = malloc(n * sizeof *y);
    uint32_t first, inside = KILN_NONE;
    memcpy(y, b.x, n * sizeof *y);
    ck_assert_uint_eq(kiln_elements_inverted(b.elements, b.x, &first), 0);
    ck_assert_double_eq(kiln_elements_stretch(b.elements, b.x, b.x, &first), 1.0);
    ck_assert_uint_eq(first, KILN_NONE);
    for (size_t v = 0; v < b.vertices; v++)
        y[3 * v] *= 1.25;
    ck_assert_double_le(fabs(kiln_elements_stretch(b.elements, b.x, y, NULL) - 1.25), 1e-12);
    ck_assert_double_le(fabs(kiln_elements_stretch(b.elements, y, b.x, NULL) - 1.25), 1e-12);
    memcpy(y, b.x, n * sizeof *y);
    for (uint32_t v = 0; v < b.vertices; v++)
        if (!(b.mesh->vertex[v].flags & KILN_VERTEX_SURFACE))
            inside = v;
    ck_assert_uint_ne(inside, KILN_NONE);
    y[3 * inside] += 10.0;
    size_t count = kiln_elements_inverted(b.elements, y, &first), slow = 0;
    uint32_t lowest = KILN_NONE;
    for (uint32_t t = b.mesh->table[KILN_ON_TET].used; t-- > 0;) {
        const uint32_t *v = b.mesh->tet[t].v;
        const kiln_vec3 *p = (const kiln_vec3 *)(const void *)y;
        if (kiln_tet_volume(p[v[0]], p[v[1]], p[v[2]], p[v[3]]) <= 0.0)
            slow++, lowest = t;
    }
    ck_assert_uint_gt(slow, 0);
    ck_assert_uint_eq(count, slow);
    ck_assert_uint_eq(first, lowest);
    uint32_t worst;
    ck_assert(isinf(kiln_elements_stretch(b.elements, y, b.x, &worst)));
    const kiln_vec3 *q = (const kiln_vec3 *)(const void *)y;
    const uint32_t *w = b.mesh->tet[worst].v;
    ck_assert_double_le(kiln_tet_volume(q[w[0]], q[w[1]], q[w[2]], q[w[3]]), 0.0);
    /* A corner that belongs to few tets moves by little: one of those is named. */
    memcpy(y, b.x, n * sizeof *y);
    y[1] += 1e-3;
    double stretch = kiln_elements_stretch(b.elements, y, b.x, &worst);
    ck_assert(stretch > 1.0 && stretch < 1.1);
    w = b.mesh->tet[worst].v;
    ck_assert(w[0] == 0 || w[1] == 0 || w[2] == 0 || w[3] == 0);
    free(y);
    free_body(&b);
}
END_TEST

/* F = Dw Dm^-1 Pi and volume / det Pi: a body whose offset undoes its deformation is at rest. */
START_TEST(offsets_move_the_rest_shape)
{
    body b = make_body(1, "box", "nx=2 ny=2 nz=2", _i);
    uint32_t tets = b.mesh->table[KILN_ON_TET].used;
    const kiln_mat3 Pi = {{{0.8, 0.1, 0.05}, {0.1, 1.1, 0.2}, {0.05, 0.2, 0.9}}};
    ck_assert_int_eq(kiln_offsets_add(b.mesh, NULL), KILN_OK);
    kiln_offsets offsets = kiln_offsets_of(b.mesh);
    for (uint32_t t = 0; t < tets; t++) {
        offsets.shape[t] = kiln_sym3_from_mat3(kiln_m3_mul(Pi, Pi));
        offsets.rest_volume[t] /= kiln_m3_det(Pi);
    }
    build(&b, 1);
    double volume = 0.0;
    for (size_t i = 0; i < kiln_elements_room(b.elements); i++)
        volume += kiln_elements_at(b.elements, i).volume;
    ck_assert_double_le(fabs(volume * kiln_m3_det(Pi) / kiln_mesh_volume(b.mesh) - 1.0), 1e-13);
    for (size_t v = 0; v < b.vertices; v++) {
        kiln_vec3 p = {b.x[3 * v], b.x[3 * v + 1], b.x[3 * v + 2]};
        p = kiln_m3_apply(kiln_m3_inverse(Pi), p);
        memcpy(b.x + 3 * v, &p, sizeof p);
    }
    ck_assert_double_le(b.term->value(b.term->self, b.x), 1e-25);
    offsets.rest_volume[3] = -1.0;
    kiln_error error = {0};
    ck_assert_int_eq(kiln_elements_reform(b.elements, b.mesh, &error), KILN_ERR_NUMERIC);
    ck_assert_ptr_nonnull(strstr(error.message, "tet 3"));
    ck_assert_uint_eq(kiln_elements_count(b.elements), 0);
    ck_assert_int_eq(kiln_elements_build(b.elements, b.mesh, b.materials, 1, b.material_of, &error),
                     KILN_ERR_NUMERIC);
    ck_assert_uint_eq(kiln_elements_count(b.elements), 0);
    free_body(&b);
}
END_TEST

/* Uniaxial stress of the corotated model (E8): sigma = E (l - 1) / (lateral)^2. */
START_TEST(outputs)
{
    body b = make_body(1, "box", "nx=2 ny=2 nz=2", 1);
    uint32_t tets = b.mesh->table[KILN_ON_TET].used;
    double *out = malloc(9 * tets * sizeof *out), l = 1.2, w = 1.0 - 0.35 * 0.2;
    for (size_t v = 0; v < b.vertices; v++)
        b.x[3 * v] *= l, b.x[3 * v + 1] *= w, b.x[3 * v + 2] *= w;
    double sigma = 100.0 * 0.2 / (w * w);
    kiln_elements_output(b.elements, b.x, KILN_OUTPUT_F, out);
    ck_assert_double_le(fabs(out[9 * (tets - 1)] - l) + fabs(out[9 * (tets - 1) + 4] - w), 1e-12);
    kiln_elements_output(b.elements, b.x, KILN_OUTPUT_CAUCHY, out);
    for (uint32_t t = 0; t < tets; t++) {
        ck_assert_double_le(fabs(out[6 * t] - sigma), 1e-10);
        ck_assert_double_le(largest(5, out + 6 * t + 1), 1e-10);
    }
    kiln_elements_output(b.elements, b.x, KILN_OUTPUT_MISES, out);
    ck_assert_double_le(fabs(out[5] - sigma), 1e-10);
    kiln_elements_output(b.elements, b.x, KILN_OUTPUT_PRESSURE, out);
    ck_assert_double_le(fabs(out[5] + sigma / 3.0), 1e-10);
    kiln_elements_output(b.elements, b.x, KILN_OUTPUT_ENERGY, out);
    ck_assert_double_le(fabs(out[5] - 0.5 * 100.0 * 0.2 * 0.2), 1e-10);
    b.materials[0].nodal_pressure = true;
    build(&b, 1);
    kiln_elements_set_pressure(b.elements, fill_test_pressure, NULL, &b);
    kiln_elements_output(b.elements, b.x, KILN_OUTPUT_PRESSURE, out);
    kiln_element e = kiln_elements_at(b.elements, 5);
    double shape = 2.0 * e.mu * ((l - 1.0) * l + 2.0 * (w - 1.0) * w) / (l * w * w);
    double p = 40.0 * sin(5.0) * (l + 2.0 * w) / (l * w * w);
    ck_assert_double_le(fabs(out[e.slot] + (shape + p) / 3.0), 1e-10);
    free(out);
    free_body(&b);
}
END_TEST

/* theta, its weighted gradient and the gradient of one element, by differences. */
START_TEST(dilation_access)
{
    body b = make_body(1, "box", "nx=2 ny=2 nz=2", _i);
    b.materials[0].nodal_pressure = true;
    build(&b, 1);
    deform(&b, 0.02, 7);
    size_t room = kiln_elements_room(b.elements), n = 3 * b.vertices;
    double *weight = malloc(room * sizeof *weight), *theta = calloc(room, sizeof *theta);
    double *g = calloc(n, sizeof *g), *other = calloc(room, sizeof *other), h = 1e-6;
    for (size_t e = 0; e < room; e++)
        weight[e] = cos((double)e);
    kiln_elements_add_dilation(b.elements, b.x, weight, 2.0, g);
    for (size_t i = 0; i < n; i += 5) {
        double sum = 0.0;
        b.x[i] += h;
        kiln_elements_dilation(b.elements, b.x, theta);
        b.x[i] -= 2.0 * h;
        kiln_elements_dilation(b.elements, b.x, other);
        b.x[i] += h;
        for (size_t e = 0; e < room; e++) {
            kiln_element at = kiln_elements_at(b.elements, e);
            if (at.slot == KILN_NONE)
                continue;
            double slope = (theta[e] - other[e]) / (2.0 * h);
            sum += 2.0 * weight[e] * at.volume * slope;
            kiln_vec3 gradient[4];
            kiln_elements_dilation_gradient(b.elements, e, b.x, gradient);
            for (int a = 0; a < 4; a++)
                if (at.vertex[a] == i / 3)
                    ck_assert_double_le(fabs((&gradient[a].x)[i % 3] - slope), 1e-7);
        }
        ck_assert_double_le(fabs(sum - g[i]), 1e-8);
    }
    free(weight), free(theta), free(g), free(other);
    free_body(&b);
}
END_TEST

START_TEST(memory_failure_leaves_no_elements)
{
    bool finished = false;
    for (uint64_t fail_at = 1; !finished; fail_at++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=2 ny=2 nz=2");
        kiln_elements *elements = NULL;
        uint32_t material_of_tet[48] = {0};
        double lame[48] = {0};
        kiln_material material = material_of(kiln_material_model_at(3), 1.0, 0.3);
        material.nodal_pressure = true;
        heap.calls = 0;
        heap.fail_at = fail_at;
        kiln_status status = kiln_elements_create(context, &elements, NULL);
        if (status == KILN_OK)
            status = kiln_elements_build(elements, mesh, &material, 1, material_of_tet, NULL);
        if (status != KILN_OK && elements)
            ck_assert_uint_eq(kiln_elements_count(elements), 0);
        if (status == KILN_OK)
            status = kiln_elements_set_lame(elements, lame, lame, NULL);
        finished = status == KILN_OK;
        ck_assert(finished || status == KILN_ERR_MEMORY);
        heap.fail_at = 0;
        kiln_elements_destroy(elements);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_bytes, 0);
    }
}
END_TEST

START_TEST(materials_are_checked)
{
    body b = make_body(1, "box", "nx=1 ny=1 nz=1", 0);
    kiln_error error = {0};
    b.material_of[2] = 5;
    ck_assert_int_eq(kiln_elements_build(b.elements, b.mesh, b.materials, 1, b.material_of, &error),
                     KILN_ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(error.message, "material 5"));
    free_body(&b);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("elements");
    TCase *c = kiln_test_case(suite, "term");
    tcase_add_loop_test(c, gradient_is_that_of_the_energy, 0, MODELS + 1);
    tcase_add_loop_test(c, hessian_is_that_of_the_gradient, 0, MODELS + 1);
    tcase_add_loop_test(c, batches_agree_with_the_scalar_reference, 0, MODELS + 1);
    tcase_add_loop_test(c, batches_agree_when_inverted, 0, MODELS);
    tcase_add_loop_test(c, batches_agree_with_own_lame_and_pressure, 0, MODELS);
    tcase_add_loop_test(c, energy_keeps_its_digits_at_small_strain, 0, MODELS);
    tcase_add_test(c, threads_do_not_change_bits);
    tcase_add_test(c, colours_are_apart);
    tcase_add_loop_test(c, E1_uniform_deformation_has_no_inner_force, 0, MODELS);
    tcase_add_loop_test(c, steps_stop_before_inversion, 0, MODELS);
    tcase_add_test(c, inversion_and_stretch_are_seen);
    tcase_add_loop_test(c, offsets_move_the_rest_shape, 0, MODELS);
    tcase_add_test(c, outputs);
    tcase_add_loop_test(c, dilation_access, 0, MODELS);
    tcase_add_test(c, memory_failure_leaves_no_elements);
    tcase_add_test(c, materials_are_checked);
    return suite;
}
