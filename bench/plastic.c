/* Plastic flow on a jittered ball in Hilbert order: looking at a body that stays elastic, flow of
 * every tet, and giving the elements their new rest shapes. */
#include "bench/bench.h"
#include "bench/meshes.h"
#include "fem/plasticity.h"
#include "mesh/jitter.h"
#include "mesh/reorder.h"

#include <math.h>
#include <string.h>

typedef struct fixture {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_elements *elements;
    kiln_material material;
    size_t tets;
    uint32_t *material_of;
    kiln_sym3 *start; /* offsets to begin with */
    double *norm;
    kiln_flow_report report;
    kiln_status status;
} fixture;

/* Stretched and sheared, no two tets alike. */
static void deform(kiln_mesh *mesh)
{
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = mesh->u[v];
        mesh->x[v] = kiln_v3(1.1 * u.x + 0.03 * sin(6.0 * u.y), 0.95 * u.y + 0.03 * sin(5.0 * u.z),
                             u.z + 0.03 * sin(7.0 * u.x));
    }
}

static kiln_status open_fixture(fixture *f, kiln_context *context)
{
    const char *settings[] = {"h=0.07"};
    *f = (fixture){.context = context};
    KILN_TRY(kiln_bench_shape(context, "ball", 1, settings, &f->mesh, NULL));
    if (kiln_mesh_jitter(f->mesh, 0.015, 5) != KILN_ACCEPTED)
        return KILN_ERR_STATE;
    KILN_TRY(kiln_mesh_reorder(f->mesh, KILN_SPACE_MATERIAL, NULL, NULL));
    KILN_TRY(kiln_plastic_add_fields(f->mesh, NULL));
    deform(f->mesh);
    f->tets = f->mesh->table[KILN_ON_TET].used;
    f->material_of = kiln_resize(context, NULL, 0, f->tets * sizeof *f->material_of);
    f->start = kiln_resize(context, NULL, 0, f->tets * sizeof *f->start);
    f->norm = kiln_resize(context, NULL, 0, f->tets * sizeof *f->norm);
    if (!f->material_of || !f->start || !f->norm)
        return KILN_ERR_MEMORY;
    memset(f->material_of, 0, f->tets * sizeof *f->material_of);
    for (size_t t = 0; t < f->tets; t++)
        f->start[t] = kiln_sym3_identity();
    return kiln_elements_create(context, &f->elements, NULL);
}

static void close_fixture(fixture *f)
{
    kiln_elements_destroy(f->elements);
    kiln_release(f->context, f->material_of, f->tets * sizeof *f->material_of);
    kiln_release(f->context, f->start, f->tets * sizeof *f->start);
    kiln_release(f->context, f->norm, f->tets * sizeof *f->norm);
    kiln_mesh_destroy(f->mesh);
}

static kiln_status use_law(fixture *f, const char *model, const kiln_plastic *law)
{
    f->material = (kiln_material){.density = 1000.0, .plastic = *law};
    KILN_TRY(kiln_material_model_find(model, &f->material.model, NULL));
    kiln_lame_from_young(1e5, 0.4, &f->material.mu, &f->material.lambda);
    memcpy(kiln_offsets_of(f->mesh).shape, f->start, f->tets * sizeof *f->start);
    return kiln_elements_build(f->elements, f->mesh, &f->material, 1, f->material_of, NULL);
}

static void run_update(void *user)
{
    fixture *f = user;
    memcpy(kiln_offsets_of(f->mesh).shape, f->start, f->tets * sizeof *f->start);
    memset(kiln_mesh_field(f->mesh, KILN_ON_TET, KILN_FIELD_HARDENING)->data, 0,
           f->tets * sizeof(double));
    f->status = kiln_plastic_update(f->elements, f->mesh, NULL, 1e-3, NULL, &f->report, NULL);
}

static void run_reform(void *user)
{
    fixture *f = user;
    f->status = kiln_elements_reform(f->elements, f->mesh, NULL);
}

/* A law on a model: the rate, and that as many tets flowed as should. */
static void bench_law(kiln_bench *bench, fixture *f, const char *name, const char *model,
                      const kiln_plastic *law, double bar, size_t flowing)
{
    if (use_law(f, model, law) != KILN_OK) {
        kiln_bench_report_failure(bench, name, "cannot build the elements");
        return;
    }
    double seconds = kiln_bench_time(bench, run_update, f);
    double wrong = fabs((double)f->report.flowed - (double)flowing) + (f->status != KILN_OK);
    kiln_bench_report_checked(bench, name, 1e-6 * (double)f->tets / seconds, "M tets/s", bar, 1,
                              "wrong tets flowed", wrong, 0.0);
}

/* After instant flow and the new rest shapes every norm is the threshold. */
static void bench_reform(kiln_bench *bench, fixture *f, double threshold)
{
    double seconds = kiln_bench_time(bench, run_reform, f), worst = 0.0;
    kiln_plastic_norms(f->elements, &f->mesh->x[0].x, f->norm);
    for (size_t t = 0; t < f->tets; t++)
        worst = fmax(worst, fabs(f->norm[t] / threshold - 1.0));
    kiln_bench_report_checked(bench, "rest shapes anew, all tets", 1e-6 * (double)f->tets / seconds,
                              "M tets/s", 5.0, 1, "norm = threshold to", worst, 1e-12);
    memcpy(kiln_offsets_of(f->mesh).shape, f->start, f->tets * sizeof *f->start);
    seconds = kiln_bench_time(bench, run_reform, f);
    kiln_bench_report(bench, "rest shapes anew, nothing has flowed",
                      1e-6 * (double)f->tets / seconds, "M tets/s", 0.0, 1, "");
}

void kiln_bench_plastic(kiln_bench *bench)
{
    fixture f;
    if (open_fixture(&f, kiln_bench_context(bench)) != KILN_OK) {
        kiln_bench_report_failure(bench, "plastic flow", "cannot make the mesh");
        close_fixture(&f);
        return;
    }
    const kiln_plastic elastic = {.flows = true, .yield = 1e9, .rate = 5};
    const kiln_plastic creep = {.flows = true, .yield = 10, .rate = 5, .hardening = 0.1};
    const kiln_plastic instant = {
        .flows = true, .instant = true, .norm = KILN_YIELD_MISES, .yield = 1000};
    bench_law(bench, &f, "elastic body, corotated, frobenius", "corotated", &elastic, 5.0, 0);
    bench_law(bench, &f, "elastic body, neo-hookean, frobenius", "neo-hookean", &elastic, 5.0, 0);
    bench_law(bench, &f, "all tets flow, corotated, frobenius", "corotated", &creep, 2.0, f.tets);
    bench_law(bench, &f, "all tets flow, neo-hookean, frobenius", "neo-hookean", &creep, 2.0,
              f.tets);
    bench_law(bench, &f, "all tets return to the surface, neo-hookean, mises", "neo-hookean",
              &instant, 2.0, f.tets);
    bench_reform(bench, &f, instant.yield);
    close_fixture(&f);
}
