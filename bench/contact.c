/* Contact between surfaces: detection of one pair, the search for pairs, and what all of it costs
 * in the step of two plates of ten thousand triangles that lie on each other. */
#include "bench/bench.h"

#include "base/random.h"
#include "contact/ccd.h"
#include "mesh/build.h"
#include "mesh/shapes.h"
#include "step/solid.h"

#include <math.h>
#include <stdio.h>

enum { QUERIES = 4096, STEPS = 3 };

typedef struct queries {
    bool edges;
    double gap;
    kiln_vec3 begin[QUERIES][4], end[QUERIES][4];
} queries;

/* Vertices over faces of unit size: `apart` moves both side by side, otherwise most meet. */
static void make_queries(queries *q, bool apart)
{
    kiln_random random = kiln_random_start(5, apart);
    q->edges = false;
    q->gap = 1e-3;
    for (int i = 0; i < QUERIES; i++)
        for (int k = 0; k < 4; k++) {
            double x = kiln_random_unit(&random), y = kiln_random_unit(&random);
            double z = 0.2 * kiln_random_unit(&random);
            q->begin[i][k] = kiln_v3(x, y, k == 0 ? 0.5 + z : z);
            x += 0.1 * kiln_random_unit(&random);
            q->end[i][k] = kiln_v3(x, y, k == 0 ? (apart ? 0.3 + z : z - 0.5) : z);
        }
}

static kiln_vec3 random_point(kiln_random *random)
{
    double c[3];
    for (int i = 0; i < 3; i++)
        c[i] = kiln_random_range(random, -1.0, 1.0);
    return kiln_v3(c[0], c[1], c[2]);
}

/* Corners anywhere in a cube, each on a way of its own of up to half of it; one in fourteen meet.
 */
static void make_random_queries(queries *q, bool edges)
{
    kiln_random random = kiln_random_start(6, edges);
    q->edges = edges;
    q->gap = 0.0;
    for (int i = 0; i < QUERIES; i++)
        for (int k = 0; k < 4; k++) {
            q->begin[i][k] = random_point(&random);
            q->end[i][k] = kiln_v3_add(q->begin[i][k], random_point(&random));
        }
}

static void detect_all(void *user)
{
    const queries *q = user;
    double sum = 0.0;
    for (int i = 0; i < QUERIES; i++)
        sum += fmin(q->edges ? kiln_ccd_edge_edge(q->begin[i], q->end[i], q->gap)
                             : kiln_ccd_vertex_face(q->begin[i], q->end[i], q->gap),
                    1.0);
    kiln_bench_keep(sum);
}

static void bench_random_motions(kiln_bench *bench, queries *q)
{
    static const char *const name[] = {"detection, random motions, vertex and face",
                                       "detection, random motions, edges"};
    for (int edges = 0; edges < 2; edges++) {
        make_random_queries(q, edges);
        double seconds = kiln_bench_time(bench, detect_all, q) / QUERIES;
        kiln_bench_report(bench, name[edges], 1e6 * seconds, "us", 2.0, 0, "mean of one query");
    }
}

static void bench_detection(kiln_bench *bench)
{
    kiln_context *context = kiln_bench_context(bench);
    queries *q = kiln_resize(context, NULL, 0, sizeof *q);
    if (!q) {
        kiln_bench_report_failure(bench, "detection", "no memory");
        return;
    }
    make_queries(q, true);
    double culled = kiln_bench_time(bench, detect_all, q);
    make_queries(q, false);
    double met = kiln_bench_time(bench, detect_all, q);
    kiln_bench_report(bench, "detection, pairs that miss", 1e-6 * QUERIES / culled, "M/s", 1.0, 1,
                      "vertex and face, whole way proven free");
    kiln_bench_report(bench, "detection, pairs that mostly meet", 1e-6 * QUERIES / met, "M/s", 0.0,
                      1, "time to 1e-6");
    bench_random_motions(bench, q);
    kiln_release(context, q, sizeof *q);
}

typedef struct plates {
    kiln_mesh *mesh;
    kiln_solid *solid;
    kiln_contact_surface surface;
    kiln_surface_pairs pairs;
    kiln_box *boxes;
    size_t slots;
} plates;

#define THICKNESS 0.02

static kiln_status make_plates(kiln_context *context, plates *p)
{
    const char *const settings[] = {"lx=8", "ly=8", "lz=1", "nx=32", "ny=32", "nz=4"};
    kiln_soup soup, one;
    kiln_soup_init(&soup, context);
    kiln_soup_init(&one, context);
    size_t count;
    const kiln_shape *row, *const *shapes = kiln_shapes(&count);
    kiln_status status = kiln_shape_find(shapes, count, "box", &row, NULL);
    for (int k = 0; k < 2 && status == KILN_OK; k++) {
        status = kiln_shape_make(row, 6, settings, &one, NULL);
        for (size_t i = 0; i < one.points.count; i++)
            one.points.data[i] = kiln_v3_add(
                one.points.data[i], kiln_v3(0.07 * k, 0.09 * k, (1.0 + 0.8 * THICKNESS) * k));
        if (status == KILN_OK)
            status = kiln_soup_append(&soup, &one, 0, NULL);
        kiln_soup_free(&one);
        kiln_soup_init(&one, context);
    }
    kiln_build_options options = kiln_build_default_options();
    if (status == KILN_OK)
        status = kiln_mesh_build(context, &soup, &options, &p->mesh, NULL, NULL);
    kiln_soup_free(&one);
    kiln_soup_free(&soup);
    return status;
}

static kiln_status make_solid(plates *p)
{
    kiln_material material = {.density = 1000};
    KILN_TRY(kiln_material_model_find("stable-neo-hookean", &material.model, NULL));
    kiln_lame_from_young(1e6, 0.3, &material.mu, &material.lambda);
    kiln_solid_options options = kiln_solid_default_options();
    options.newton.tolerance = 1e-6;
    options.contact.bodies = options.contact.self = true;
    options.contact.thickness = THICKNESS;
    return kiln_solid_create(p->mesh, &options, &material, 1, NULL, 0, &p->solid, NULL);
}

static void find_pairs(void *user)
{
    plates *p = user;
    kiln_pair_rules rules = {
        .bodies = true, .self = true, .thickness = THICKNESS, .material_tells = true};
    kiln_surface_pairs_find(&p->pairs, &p->surface, &rules, p->boxes, p->mesh->u, p->mesh->x, NULL);
}

static void bench_search(kiln_bench *bench, plates *p)
{
    kiln_context *context = p->mesh->context;
    p->slots = p->mesh->table[KILN_ON_VERTEX].used;
    p->boxes = kiln_resize(context, NULL, 0, p->slots * sizeof *p->boxes);
    if (!p->boxes || kiln_contact_surface_build(&p->surface, p->mesh, NULL) != KILN_OK) {
        kiln_bench_report_failure(bench, "search for pairs", "no memory");
        return;
    }
    kiln_vec3 room = kiln_v3(THICKNESS, THICKNESS, THICKNESS);
    for (size_t v = 0; v < p->slots; v++)
        p->boxes[v] =
            (kiln_box){kiln_v3_sub(p->mesh->x[v], room), kiln_v3_add(p->mesh->x[v], room)};
    double seconds = kiln_bench_time(bench, find_pairs, p);
    char text[80];
    snprintf(text, sizeof text, "%zu triangles, %zu pairs", p->surface.faces.count / 3,
             p->pairs.pairs.count);
    kiln_bench_report(bench, "search for pairs", 1e3 * seconds, "ms", 0.0, 0, text);
}

/* Both in wall time of the same steps, so that what else the machine does cancels. */
static void bench_step_share(kiln_bench *bench, plates *p)
{
    kiln_solid_clock clock = {0};
    kiln_step_report report = {.outcome = KILN_STEP_DONE};
    double contact = 0.0, solve = 0.0;
    int iterations = 0;
    for (int i = 0; i < STEPS; i++) {
        if (kiln_solid_step(p->solid, NULL, 1e-3, &clock, &report, NULL) != KILN_OK ||
            report.outcome != KILN_STEP_DONE) {
            kiln_bench_report_failure(bench, "contact / solve",
                                      kiln_step_outcome_text(report.outcome));
            return;
        }
        contact += report.contact_seconds;
        solve += report.newton.factor_seconds + report.newton.solve_seconds;
        iterations += report.newton.iterations;
    }
    char text[96];
    snprintf(text, sizeof text, "%d steps, %d iterations: %.0f and %.0f ms", STEPS, iterations,
             1e3 * contact, 1e3 * solve);
    kiln_bench_report(bench, "contact / solve, plates on each other", contact / solve, "", 0.1, 0,
                      text);
}

void kiln_bench_contact(kiln_bench *bench)
{
    bench_detection(bench);
    plates p = {.mesh = NULL};
    kiln_context *context = kiln_bench_context(bench);
    if (make_plates(context, &p) == KILN_OK && make_solid(&p) == KILN_OK) {
        bench_search(bench, &p);
        bench_step_share(bench, &p);
    } else {
        kiln_bench_report_failure(bench, "plates", "cannot be made");
    }
    kiln_surface_pairs_free(&p.pairs);
    kiln_contact_surface_free(&p.surface);
    kiln_release(context, p.boxes, p.slots * sizeof *p.boxes);
    kiln_solid_destroy(p.solid);
    kiln_mesh_destroy(p.mesh);
}
