/* The element loops on an irregular mesh: a jittered ball in Hilbert order, or with its tets
 * shuffled. */
#include "base/clock.h"
#include "base/parallel.h"
#include "base/random.h"
#include "bench/bench.h"
#include "fem/elements_impl.h"
#include "geom/predicates.h"
#include "mesh/build.h"
#include "mesh/jitter.h"
#include "mesh/reorder.h"
#include "mesh/shapes.h"

#include <stdio.h>
#include <string.h>

typedef struct fixture {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_elements *elements;
    kiln_term *term;
    kiln_material material;
    uint32_t *material_of;
    size_t vertices, tets;
    double *x, *g;
    kiln_bsr H;
} fixture;

static void shuffle_tets(kiln_soup *soup)
{
    kiln_random random = kiln_random_start(5, 1);
    for (size_t i = soup->tets.count - 1; i > 0; i--) {
        size_t j = kiln_random_below(&random, (uint32_t)i + 1);
        kiln_soup_tet swap = soup->tets.data[i];
        soup->tets.data[i] = soup->tets.data[j];
        soup->tets.data[j] = swap;
    }
}

static kiln_status make_mesh(kiln_context *context, bool shuffled, kiln_mesh **mesh)
{
    size_t count;
    const char *settings[] = {"h=0.07"};
    const kiln_shape *const *shapes = kiln_shapes(&count);
    const kiln_shape *ball;
    kiln_soup soup, ordered;
    KILN_TRY(kiln_shape_find(shapes, count, "ball", &ball, NULL));
    kiln_soup_init(&soup, context);
    kiln_soup_init(&ordered, context);
    kiln_status status = kiln_shape_make(ball, 1, settings, &soup, NULL);
    if (status == KILN_OK)
        status = kiln_mesh_build(context, &soup, NULL, mesh, NULL, NULL);
    if (status == KILN_OK && kiln_mesh_jitter(*mesh, 0.015, 5) != KILN_ACCEPTED)
        status = KILN_ERR_STATE;
    if (status == KILN_OK)
        status = kiln_mesh_reorder(*mesh, KILN_SPACE_MATERIAL, NULL, NULL);
    if (status == KILN_OK && shuffled) { /* vertices stay in order */
        status = kiln_mesh_to_soup(*mesh, &ordered, NULL);
        kiln_mesh_destroy(*mesh);
        *mesh = NULL;
        shuffle_tets(&ordered);
        if (status == KILN_OK)
            status = kiln_mesh_build(context, &ordered, NULL, mesh, NULL, NULL);
    }
    kiln_soup_free(&soup);
    kiln_soup_free(&ordered);
    return status;
}

/* A twist, a stretch and waves: no two tets alike, none inverted (noise would invert slivers).
 * `grow` scales all. */
static void deform(fixture *f, double grow)
{
    for (size_t v = 0; v < f->vertices; v++) {
        kiln_vec3 u = f->mesh->u[v];
        double a = 0.4 * u.z, c = cos(a), s = sin(a), *x = f->x + 3 * v;
        x[0] = grow * (1.1 * (c * u.x - s * u.y) + 0.03 * sin(6.0 * u.y));
        x[1] = grow * (0.95 * (s * u.x + c * u.y) + 0.03 * sin(5.0 * u.z));
        x[2] = grow * (u.z + 0.03 * sin(7.0 * u.x));
    }
}

static kiln_status use_model(fixture *f, const kiln_material_model *model, double poisson)
{
    f->material = (kiln_material){.model = model, .density = 1000.0};
    kiln_lame_from_young(1e5, poisson, &f->material.mu, &f->material.lambda);
    KILN_TRY(kiln_elements_build(f->elements, f->mesh, &f->material, 1, f->material_of, NULL));
    kiln_cliques cliques = f->term->cliques(f->term->self);
    KILN_TRY(kiln_bsr_set_pattern(&f->H, f->vertices, &cliques, 1, NULL));
    return f->term->attach(f->term->self, &f->H, NULL);
}

/* Elements and matrix hang on `context`, the mesh is borrowed. */
static kiln_status open_fixture(fixture *f, kiln_context *context, kiln_mesh *mesh)
{
    *f = (fixture){.context = context, .mesh = mesh};
    f->vertices = mesh->table[KILN_ON_VERTEX].used;
    f->tets = mesh->table[KILN_ON_TET].used;
    kiln_bsr_init(&f->H, context);
    f->x = kiln_resize(context, NULL, 0, 3 * f->vertices * sizeof *f->x);
    f->g = kiln_resize(context, NULL, 0, 3 * f->vertices * sizeof *f->g);
    f->material_of = kiln_resize(context, NULL, 0, f->tets * sizeof *f->material_of);
    if (!f->x || !f->g || !f->material_of)
        return KILN_ERR_MEMORY;
    memset(f->material_of, 0, f->tets * sizeof *f->material_of);
    memset(f->g, 0, 3 * f->vertices * sizeof *f->g);
    KILN_TRY(kiln_elements_create(context, &f->elements, NULL));
    f->term = kiln_elements_term(f->elements);
    deform(f, 1.0);
    return KILN_OK;
}

static void close_fixture(fixture *f)
{
    kiln_elements_destroy(f->elements);
    kiln_bsr_free(&f->H);
    kiln_release(f->context, f->x, 3 * f->vertices * sizeof *f->x);
    kiln_release(f->context, f->g, 3 * f->vertices * sizeof *f->g);
    kiln_release(f->context, f->material_of, f->tets * sizeof *f->material_of);
}

static void run_energy(void *user)
{
    fixture *f = user;
    kiln_bench_keep(f->term->value(f->term->self, f->x));
}

static void run_gradient(void *user)
{
    fixture *f = user;
    f->term->add(f->term->self, f->x, 1e-20, f->g, NULL);
}

static void run_hessian(void *user)
{
    fixture *f = user;
    f->term->add(f->term->self, f->x, 1e-20, f->g, &f->H);
}

typedef struct accuracy {
    double energy, gradient, hessian; /* relative to the largest there is */
} accuracy;

static double worst_of(size_t n, const double *a, const double *b)
{
    double gap = 0.0, top = 0.0;
    for (size_t i = 0; i < n; i++) {
        gap = fabs(a[i] - b[i]) <= gap ? gap : fabs(a[i] - b[i]); /* NaN stays */
        top = fabs(b[i]) > top ? fabs(b[i]) : top;
    }
    return gap / top;
}

static void add_reference(const kiln_element *e, const kiln_mat3 *P, double h[9][9], double *g,
                          kiln_bsr *H)
{
    for (int a = 0; a < 4; a++) {
        kiln_vec3 f = kiln_m3_apply(*P, e->gradient[a]);
        for (int i = 0; i < 3; i++)
            g[3 * (size_t)e->vertex[a] + (size_t)i] += e->volume * (&f.x)[i];
        for (int b = a; b < 4; b++) {
            double block[3][3] = {{0}};
            for (int k = 0; k < 81; k++) {
                int i = k / 27, j = k / 9 % 3, r = k / 3 % 3, l = k % 3;
                block[i][r] += e->volume * (&e->gradient[a].x)[j] * h[3 * i + j][3 * r + l] *
                               (&e->gradient[b].x)[l];
            }
            kiln_bsr_add(H, e->vertex[a], e->vertex[b], (const double(*)[3])block);
        }
    }
}

/* Against the scalar functions of the model. */
static accuracy check(fixture *f)
{
    accuracy worst = {NAN, NAN, NAN};
    size_t n = 3 * f->vertices;
    double *g = kiln_resize(f->context, NULL, 0, n * sizeof *g), W = 0.0, h[9][9];
    kiln_cliques cliques = f->term->cliques(f->term->self);
    kiln_bsr H;
    kiln_bsr_init(&H, f->context);
    if (g && kiln_bsr_set_pattern(&H, f->vertices, &cliques, 1, NULL) == KILN_OK) {
        memset(g, 0, n * sizeof *g);
        for (size_t i = 0; i < kiln_elements_room(f->elements); i++) {
            kiln_element e = kiln_elements_at(f->elements, i);
            if (e.slot == KILN_NONE)
                continue;
            kiln_mat3 F = kiln_element_deformation(&e, f->x), P;
            W += e.volume * f->material.model->energy(e.mu, e.lambda, &F);
            kiln_material_stress(f->material.model, e.mu, e.lambda, &F, &P);
            kiln_material_hessian(f->material.model, e.mu, e.lambda, 0.0, &F, true, h);
            add_reference(&e, &P, h, g, &H);
        }
        memset(f->g, 0, n * sizeof *f->g);
        kiln_bsr_clear(&f->H);
        f->term->add(f->term->self, f->x, 1.0, f->g, &f->H);
        worst.energy = fabs(f->term->value(f->term->self, f->x) / W - 1.0);
        worst.hessian = worst_of(9 * (size_t)H.start[H.rows], f->H.value, H.value);
        memset(f->g, 0, n * sizeof *f->g);
        f->term->add(f->term->self, f->x, 1.0, f->g, NULL);
        worst.gradient = worst_of(n, f->g, g);
    }
    kiln_bsr_free(&H);
    kiln_release(f->context, g, n * sizeof *g);
    return worst;
}

static void report(kiln_bench *bench, const fixture *f, const char *model, const char *what,
                   double seconds, double bar, double error)
{
    char name[80];
    snprintf(name, sizeof name, "%s, %s", model, what);
    kiln_bench_report_checked(bench, name, (double)f->tets / seconds * 1e-6, "M tets/s", bar, 1,
                              "scalar reference to", error, 1e-12);
}

/* The three rates of a model; the bars are those of neo-Hookean times `share`. */
static void bench_model(kiln_bench *bench, fixture *f, const kiln_material_model *model,
                        double share)
{
    if (use_model(f, model, 0.4) != KILN_OK) {
        kiln_bench_report_failure(bench, model->name, "cannot build the elements");
        return;
    }
    double energy = kiln_bench_time(bench, run_energy, f);
    accuracy error = check(f);
    report(bench, f, model->name, "energy", energy, 80.0 * share, error.energy);
    double gradient = kiln_bench_time(bench, run_gradient, f);
    report(bench, f, model->name, "gradient + scatter", gradient, 40.0 * share, error.gradient);
    double hessian = kiln_bench_time(bench, run_hessian, f);
    report(bench, f, model->name, "PSD Hessian + gradient + scatter", hessian, 5.5 * share,
           error.hessian);
}

static void bench_clamped(kiln_bench *bench, fixture *f, const kiln_material_model *model)
{
    if (use_model(f, model, 0.45) != KILN_OK) {
        kiln_bench_report_failure(bench, "Hessian, clamp on every tet",
                                  "cannot build the elements");
        return;
    }
    deform(f, 3.0); /* J = 28: the 3x3 block is indefinite in every tet */
    double seconds = kiln_bench_time(bench, run_hessian, f);
    report(bench, f, model->name, "Hessian, clamp on every tet", seconds, 4.0, check(f).hessian);
    deform(f, 1.0);
}

static void bench_shuffled(kiln_bench *bench, const kiln_material_model *model)
{
    kiln_context *context = kiln_bench_context(bench);
    kiln_mesh *mesh = NULL;
    fixture f;
    if (make_mesh(context, true, &mesh) != KILN_OK) {
        kiln_bench_report_failure(bench, "Hessian, tets shuffled", "cannot make the mesh");
        kiln_mesh_destroy(mesh);
        return;
    }
    if (open_fixture(&f, context, mesh) == KILN_OK && use_model(&f, model, 0.4) == KILN_OK) {
        double seconds = kiln_bench_time(bench, run_hessian, &f);
        report(bench, &f, model->name, "Hessian, tets shuffled", seconds, 3.3, check(&f).hessian);
    } else
        kiln_bench_report_failure(bench, "Hessian, tets shuffled", "cannot build the elements");
    close_fixture(&f);
    kiln_mesh_destroy(mesh);
}

static void run_stretch(void *user)
{
    fixture *f = user;
    kiln_bench_keep(kiln_elements_stretch(f->elements, f->x, (const double *)f->mesh->u, NULL));
}

static void run_max_step(void *user)
{
    fixture *f = user;
    kiln_bench_keep(f->term->max_step(f->term->self, f->x, (const double *)f->mesh->u));
}

static void bench_guards(kiln_bench *bench, fixture *f, const kiln_material_model *model)
{
    if (use_model(f, model, 0.4) != KILN_OK) {
        kiln_bench_report_failure(bench, "guards and memory", "cannot build the elements");
        return;
    }
    double seconds = kiln_bench_time(bench, run_max_step, f);
    kiln_bench_report(bench, "largest step without inversion", (double)f->tets / seconds * 1e-6,
                      "M tets/s", 0.0, 1, "");
    seconds = kiln_bench_time(bench, run_stretch, f);
    kiln_bench_report(bench, "largest stretch of a step", (double)f->tets / seconds * 1e-6,
                      "M tets/s", 0.0, 1, "");
    kiln_bench_report(bench, "memory of the elements",
                      (double)kiln_elements_bytes(f->elements) / (double)f->tets, "bytes/tet",
                      160.0, 0, "");
}

enum { REFERENCE_ITEMS = 1 << 20, REFERENCE_GRAIN = 4096 };

static void reference_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    double sum = 0.0, *out = user;
    kiln_vec3 a = {0.1, 0.2, 0.3}, b = {0.9, 0.1, 0.2}, c = {0.2, 0.8, 0.1};
    for (size_t i = begin; i < end; i++)
        sum += kiln_orient3d(a, b, c, kiln_v3(0.3, 0.4, 0.5 + 1e-7 * (double)i));
    out[chunk] = sum;
}

static void run_reference(void *user)
{
    static double sums[REFERENCE_ITEMS / REFERENCE_GRAIN]; /* written, never read */
    fixture *f = user;
    kiln_parallel_for(f->context, REFERENCE_ITEMS, REFERENCE_GRAIN, reference_chunk, sums);
}

static double wall_seconds(void (*body)(void *), void *user)
{
    double start = kiln_wall_seconds();
    body(user);
    return kiln_wall_seconds() - start;
}

/* Wall time, since two threads are at work; minima of interleaved runs. */
static void bench_threads(kiln_bench *bench, fixture *one, const kiln_material_model *model)
{
    static const struct {
        const char *name;
        void (*run)(void *);
    } loops[] = {{"reference", run_reference},
                 {"2 threads, gain of the gradient", run_gradient},
                 {"2 threads, gain of the Hessian", run_hessian}};
    kiln_context_options options = kiln_context_default_options();
    kiln_context *context;
    fixture two;
    double best[3][2], gain[3];
    options.threads = 2;
    options.isa = kiln_isa_name(one->context->isa);
    if (kiln_context_create(&options, &context, NULL) != KILN_OK) {
        kiln_bench_report_failure(bench, "gain by 2 threads", "cannot start them");
        return;
    }
    if (open_fixture(&two, context, one->mesh) == KILN_OK &&
        use_model(&two, model, 0.4) == KILN_OK && use_model(one, model, 0.4) == KILN_OK) {
        for (int i = 0; i < 3; i++)
            best[i][0] = best[i][1] = 1e300;
        for (int round = 0; round < 60; round++)
            for (int i = 0; i < 3; i++)
                for (int t = 0; t < 2; t++) {
                    double took = wall_seconds(loops[i].run, t ? &two : one);
                    best[i][t] = took < best[i][t] ? took : best[i][t];
                }
        for (int i = 0; i < 3; i++)
            gain[i] = best[i][0] / best[i][1];
        for (int i = 1; i < 3; i++) {
            char text[80];
            snprintf(text, sizeof text, "%.2f; the reference loop gains %.2f (wall time)", gain[i],
                     gain[0]);
            kiln_bench_report(bench, loops[i].name, gain[i] / gain[0], "of reference", 0.85, 1,
                              text);
        }
    } else
        kiln_bench_report_failure(bench, "gain by 2 threads", "cannot build the elements");
    close_fixture(&two);
    kiln_context_destroy(context);
}

void kiln_bench_fem(kiln_bench *bench)
{
    kiln_context *context = kiln_bench_context(bench);
    const kiln_material_model *neo = NULL, *model;
    kiln_mesh *mesh = NULL;
    fixture f;
    if (kiln_material_model_find("neo-hookean", &neo, NULL) != KILN_OK ||
        make_mesh(context, false, &mesh) != KILN_OK) {
        kiln_bench_report_failure(bench, "element loops", "cannot make the mesh");
        kiln_mesh_destroy(mesh);
        return;
    }
    if (open_fixture(&f, context, mesh) == KILN_OK) {
        bench_model(bench, &f, neo, 1.0);
        bench_clamped(bench, &f, neo);
        bench_shuffled(bench, neo);
        for (size_t row = 0; (model = kiln_material_model_at(row)) != NULL; row++)
            if (model != neo)
                bench_model(bench, &f, model, 0.5);
        bench_guards(bench, &f, neo);
        bench_threads(bench, &f, neo);
    } else
        kiln_bench_report_failure(bench, "element loops", "cannot build the elements");
    close_fixture(&f);
    kiln_mesh_destroy(mesh);
}
