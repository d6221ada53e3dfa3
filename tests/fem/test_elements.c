#include "fem/elements_impl.h"

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

static void build(body *b, size_t materials, const double *offset)
{
    kiln_error error = {0};
    ck_assert_msg(kiln_elements_build(b->elements, b->mesh, b->materials, materials, b->material_of,
                                      offset, &error) == KILN_OK,
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
    build(&b, only < 0 ? MODELS : 1, NULL);
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

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("elements");
    TCase *c = kiln_test_case(suite, "term");
    tcase_add_loop_test(c, gradient_is_that_of_the_energy, 0, MODELS + 1);
    return suite;
}
