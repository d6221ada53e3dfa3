/* The other terms of a step on an irregular mesh: a jittered ball in Hilbert order. */
#include "bench/bench.h"
#include "fem/damping.h"
#include "mesh/build.h"
#include "mesh/jitter.h"
#include "mesh/reorder.h"
#include "mesh/shapes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct fixture {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_elements *elements;
    kiln_nodal_pressure *pressure;
    kiln_mass *mass;
    kiln_damping *damping;
    kiln_term *term; /* the one that is timed */
    size_t vertices, tets;
    double *x, *g, *tet_mass;
    uint32_t *material_of;
    kiln_bsr H;
} fixture;

static kiln_status make_mesh(kiln_context *context, kiln_mesh **mesh)
{
    size_t count;
    const char *settings[] = {"h=0.07"};
    const kiln_shape *const *shapes = kiln_shapes(&count);
    const kiln_shape *ball;
    kiln_soup soup;
    KILN_TRY(kiln_shape_find(shapes, count, "ball", &ball, NULL));
    kiln_soup_init(&soup, context);
    kiln_status status = kiln_shape_make(ball, 1, settings, &soup, NULL);
    if (status == KILN_OK)
        status = kiln_mesh_build(context, &soup, NULL, mesh, NULL, NULL);
    if (status == KILN_OK && kiln_mesh_jitter(*mesh, 0.015, 5) != KILN_ACCEPTED)
        status = KILN_ERR_STATE;
    if (status == KILN_OK)
        status = kiln_mesh_reorder(*mesh, KILN_SPACE_MATERIAL, NULL, NULL);
    kiln_soup_free(&soup);
    return status;
}

static kiln_status make_room(fixture *f)
{
    f->vertices = f->mesh->table[KILN_ON_VERTEX].used;
    f->tets = f->mesh->table[KILN_ON_TET].used;
    f->x = kiln_resize(f->context, NULL, 0, 3 * f->vertices * sizeof *f->x);
    f->g = kiln_resize(f->context, NULL, 0, 3 * f->vertices * sizeof *f->g);
    f->tet_mass = kiln_resize(f->context, NULL, 0, f->tets * sizeof *f->tet_mass);
    f->material_of = kiln_resize(f->context, NULL, 0, f->tets * sizeof *f->material_of);
    if (!f->x || !f->g || !f->tet_mass || !f->material_of)
        return KILN_ERR_MEMORY;
    memset(f->material_of, 0, f->tets * sizeof *f->material_of);
    memset(f->g, 0, 3 * f->vertices * sizeof *f->g);
    for (size_t v = 0; v < f->vertices; v++) {
        kiln_vec3 u = f->mesh->u[v];
        f->x[3 * v] = 1.1 * u.x + 0.03 * sin(6.0 * u.y);
        f->x[3 * v + 1] = 0.95 * u.y + 0.03 * sin(5.0 * u.z);
        f->x[3 * v + 2] = u.z + 0.03 * sin(7.0 * u.x);
    }
    for (uint32_t t = 0; t < f->tets; t++)
        f->tet_mass[t] = 1000.0 * kiln_mesh_tet_volume(f->mesh, t);
    return KILN_OK;
}

static kiln_status open_fixture(fixture *f, kiln_context *context)
{
    *f = (fixture){.context = context};
    kiln_bsr_init(&f->H, context);
    KILN_TRY(make_mesh(context, &f->mesh));
    KILN_TRY(make_room(f));
    KILN_TRY(kiln_elements_create(context, &f->elements, NULL));
    KILN_TRY(kiln_nodal_pressure_create(context, f->elements, &f->pressure, NULL));
    KILN_TRY(kiln_mass_create(context, &f->mass, NULL));
    KILN_TRY(kiln_damping_create(context, f->elements, &f->damping, NULL));
    kiln_damping_set_pressure(f->damping, f->pressure);
    return kiln_mass_build(f->mass, f->mesh, KILN_MASS_CONSISTENT, f->tet_mass, NULL);
}

static void close_fixture(fixture *f)
{
    kiln_bsr_free(&f->H);
    kiln_damping_destroy(f->damping);
    kiln_mass_destroy(f->mass);
    kiln_nodal_pressure_destroy(f->pressure);
    kiln_elements_destroy(f->elements);
    kiln_release(f->context, f->x, 3 * f->vertices * sizeof *f->x);
    kiln_release(f->context, f->g, 3 * f->vertices * sizeof *f->g);
    kiln_release(f->context, f->tet_mass, f->tets * sizeof *f->tet_mass);
    kiln_release(f->context, f->material_of, f->tets * sizeof *f->material_of);
    if (f->mesh)
        kiln_mesh_destroy(f->mesh);
}

/* Neo-Hookean; the matrix gets the pattern that goes with it. */
static kiln_status use_material(fixture *f, bool nodal, double beta, double viscosity)
{
    kiln_material m = {.density = 1000.0,
                       .damping_stiffness = beta,
                       .viscosity = viscosity,
                       .nodal_pressure = nodal};
    KILN_TRY(kiln_material_model_find("neo-hookean", &m.model, NULL));
    kiln_lame_from_young(1e5, 0.45, &m.mu, &m.lambda);
    KILN_TRY(kiln_elements_build(f->elements, f->mesh, &m, 1, f->material_of, NULL));
    KILN_TRY(kiln_nodal_pressure_build(f->pressure, NULL));
    KILN_TRY(kiln_damping_build(f->damping, f->mesh, KILN_MASS_LUMPED, NULL, NULL));
    kiln_term *terms[2] = {kiln_elements_term(f->elements), kiln_nodal_pressure_term(f->pressure)};
    kiln_cliques sets[2];
    for (int i = 0; i < 1 + nodal; i++)
        sets[i] = terms[i]->cliques(terms[i]->self);
    return kiln_bsr_set_pattern(&f->H, f->vertices, sets, (size_t)(1 + nodal), NULL);
}

static void run_value(void *user)
{
    fixture *f = user;
    kiln_bench_keep(f->term->value(f->term->self, f->x));
}

static void run_gradient(void *user)
{
    fixture *f = user;
    f->term->add(f->term->self, f->x, 1.0, f->g, NULL);
    kiln_bench_keep(f->g[0]);
}

static void run_hessian(void *user)
{
    fixture *f = user;
    f->term->add(f->term->self, f->x, 1.0, f->g, &f->H);
    kiln_bench_keep(f->H.value[0]);
}

static void begin_damping(fixture *f, const double *x_n)
{
    kiln_damping_start start = {.x_n = x_n, .origin = x_n, .tau = 0.01};
    kiln_damping_begin(f->damping, &start);
}

static void run_begin(void *user)
{
    fixture *f = user;
    begin_damping(f, f->x);
    kiln_bench_keep(f->x[0]);
}

static void report(kiln_bench *bench, fixture *f, const char *what, void (*body)(void *))
{
    char name[96];
    snprintf(name, sizeof name, "%s: %s", f->term->name, what);
    kiln_bench_report(bench, name, 1e-6 * (double)f->tets / kiln_bench_time(bench, body, f),
                      "M tets/s", 0.0, 1, "");
}

static void report_all(kiln_bench *bench, fixture *f, kiln_term *term)
{
    f->term = term;
    report(bench, f, "value", run_value);
    report(bench, f, "gradient", run_gradient);
    report(bench, f, "Hessian and gradient", run_hessian);
}

static kiln_status run_suite(kiln_bench *bench, fixture *f)
{
    KILN_TRY(open_fixture(f, kiln_bench_context(bench)));
    KILN_TRY(use_material(f, false, 0.01, 0.0));
    report_all(bench, f, kiln_mass_inertia(f->mass, &f->mesh->u[0].x));
    begin_damping(f, &f->mesh->u[0].x);
    report_all(bench, f, kiln_damping_term(f->damping));
    report(bench, f, "begin, beta", run_begin);
    KILN_TRY(use_material(f, false, 0.0, 0.1));
    report(bench, f, "begin, viscosity", run_begin);
    KILN_TRY(use_material(f, true, 0.0, 0.0));
    report_all(bench, f, kiln_nodal_pressure_term(f->pressure));
    return KILN_OK;
}

void kiln_bench_terms(kiln_bench *bench)
{
    fixture f = {.context = kiln_bench_context(bench)};
    if (run_suite(bench, &f) != KILN_OK)
        kiln_bench_report_failure(bench, "terms", "could not be set up");
    close_fixture(&f);
}
