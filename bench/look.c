/* What a step of a run pays for looking at its mesh: sizes from the gradient of the strain as
 * sim/remesh_local.c asks for them, whether a pass is needed, and one that begins. A bar of 3,000
 * tets and one of 32,000, twisted by a turn, which has a gradient everywhere, and at rest, which
 * has none. */
#include "bench/bench.h"
#include "measure/fixture.h"
#include "remesh/improve.h"
#include "remesh/needed.h"
#include "remesh/size_control.h"
#include "remesh/sizing.h"

#include <stdio.h>
#include <string.h>

typedef struct bar {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_f64_array start; /* [vertex] size of the start, m */
    double size;          /* their mean */
    kiln_sizing *sizing;
    kiln_status status;
} bar;

static void twist(kiln_mesh *mesh, double turns)
{
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = mesh->u[v];
        double angle = 2.0 * KILN_PI * turns * u.x / 4.0, c = cos(angle), s = sin(angle);
        double y = u.y - 0.5, z = u.z - 0.5;
        mesh->x[v] = kiln_v3(u.x, 0.5 + c * y - s * z, 0.5 + s * y + c * z);
    }
}

static kiln_status create(bar *b, int cells, kiln_error *error)
{
    char settings[64];
    snprintf(settings, sizeof settings, "lx=4 ly=1 lz=1 n=%d pattern=mirrored", cells);
    KILN_TRY(kiln_fixture_mesh(b->context, "box", settings, 0.1 / cells, &b->mesh, error));
    uint32_t rows = b->mesh->table[KILN_ON_VERTEX].used;
    b->size = 1.2 / cells;
    KILN_TRY(kiln_array_reserve(b->context, &b->start, rows, error));
    for (uint32_t v = 0; v < rows; v++)
        b->start.data[v] = b->size;
    return KILN_OK;
}

static void destroy(bar *b)
{
    kiln_sizing_destroy(b->sizing);
    kiln_mesh_destroy(b->mesh);
    kiln_array_free(b->context, &b->start);
}

static kiln_status add_sources(bar *b)
{
    kiln_strain_sizing strain = {.accuracy = 8.0, .h_max = 4.0 * b->size};
    kiln_sizing_limits limits = {.bounds = {.h_min = 0.1 * b->size}, .ratio = 1.5};
    KILN_TRY(b->sizing ? kiln_sizing_renew(b->sizing, b->mesh, KILN_SPACE_MATERIAL, NULL)
                       : kiln_sizing_create(b->mesh, KILN_SPACE_MATERIAL, &b->sizing, NULL));
    KILN_TRY(kiln_sizing_add_values(b->sizing, b->start.data, b->mesh->table[KILN_ON_VERTEX].used,
                                    1, NULL));
    KILN_TRY(kiln_sizing_add_strain(b->sizing, &strain, NULL));
    return kiln_sizing_finish(b->sizing, &limits, NULL);
}

static void make_sizes(void *user)
{
    bar *b = user;
    b->status = add_sources(b);
}

static kiln_remesh_options pass_options(const bar *b)
{
    kiln_remesh_options options = kiln_remesh_default_options();
    options.sizing = b->sizing;
    options.volume_elsewhere = true;
    options.edge_limit[0] = 0.0;
    options.edge_limit[1] = INFINITY;
    return options;
}

static void begin_and_end(void *user)
{
    bar *b = user;
    kiln_remesher remesher;
    kiln_remesh_options options = pass_options(b);
    b->status = kiln_remesher_begin(b->mesh, &options, &remesher, NULL);
    if (b->status == KILN_OK)
        kiln_remesher_end(&remesher);
}

static void look(void *user)
{
    bar *b = user;
    kiln_remesh_options options = pass_options(b);
    kiln_size_options size = kiln_size_default_options();
    bool needed;
    double worst;
    size.longest = INFINITY;
    size.shortest = 0.0;
    b->status = kiln_remesh_needed(b->mesh, &options, &size, &(kiln_improve_options){0}, &needed,
                                   &worst, NULL);
}

/* A whole pass in which nothing is out of bounds: bounds as wide as can be. */
static void idle_pass(void *user)
{
    bar *b = user;
    kiln_remesher remesher;
    kiln_remesh_options options = pass_options(b);
    kiln_size_options size = kiln_size_default_options();
    kiln_improve_options improve = kiln_improve_default_options();
    kiln_improve_report report;
    size.longest = INFINITY;
    size.shortest = 0.0;
    improve.goal = 0.0;
    b->status = kiln_remesher_begin(b->mesh, &options, &remesher, NULL);
    if (b->status != KILN_OK)
        return;
    b->status = kiln_size_control(&remesher, &size, NULL, NULL);
    if (b->status == KILN_OK)
        b->status = kiln_dynamic_improve(&remesher, &improve, &report, NULL);
    kiln_remesher_end(&remesher);
}

static void report(kiln_bench *bench, bar *b, const char *what, const char *state, double most,
                   void (*body)(void *user))
{
    char name[96];
    double tets = b->mesh->table[KILN_ON_TET].live;
    snprintf(name, sizeof name, "%s per tet, %s bar of %.0f", what, state, tets);
    double seconds = kiln_bench_time(bench, body, b);
    if (b->status == KILN_OK)
        kiln_bench_report(bench, name, seconds / tets * 1e6, "us", most, 0, "");
    else
        kiln_bench_report_failure(bench, name, "cannot run it");
}

void kiln_bench_look(kiln_bench *bench)
{
    static const int cells[2] = {5, 11};
    for (int i = 0; i < 2; i++) {
        bar b = {.context = kiln_bench_context(bench)};
        if (create(&b, cells[i], NULL) == KILN_OK) {
            report(bench, &b, "sizing strain", "resting", 0.5, make_sizes);
            twist(b.mesh, 1.0);
            report(bench, &b, "sizing strain", "twisted", 0.5, make_sizes);
            report(bench, &b, "whether a pass is needed", "twisted", 0, look);
            report(bench, &b, "pass begin", "twisted", 0, begin_and_end);
            report(bench, &b, "pass without a change", "twisted", 0, idle_pass);
        } else {
            kiln_bench_report_failure(bench, "sizing strain per tet", "cannot make the mesh");
        }
        destroy(&b);
    }
}
