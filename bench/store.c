/* From a file to a usable mesh (adjacency, surface, parts, classification), what it takes in
 * memory, and what an audit of all of it costs. */
#include "bench/bench.h"
#include "io/format.h"
#include "mesh/audit.h"
#include "mesh/build.h"
#include "mesh/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct fixture {
    kiln_context *context;
    char path[64];
    kiln_soup soup;
    kiln_mesh *mesh;
    kiln_status status;
    kiln_audit_report audit;
} fixture;

static void read_and_build(void *user)
{
    fixture *f = user;
    kiln_soup soup;
    kiln_mesh_destroy(f->mesh);
    f->mesh = NULL;
    kiln_soup_init(&soup, f->context);
    f->status = kiln_soup_read(f->context, f->path, NULL, &soup, NULL);
    if (f->status == KILN_OK)
        f->status = kiln_mesh_build(f->context, &soup, NULL, &f->mesh, NULL, NULL);
    kiln_soup_free(&soup);
}

static void audit(void *user)
{
    fixture *f = user;
    f->status = kiln_mesh_audit(f->mesh, &f->audit, NULL);
}

static void to_soup(void *user)
{
    fixture *f = user;
    kiln_soup_free(&f->soup);
    f->status = kiln_mesh_to_soup(f->mesh, &f->soup, NULL);
}

static kiln_status make_file(fixture *f)
{
    size_t count;
    const char *settings[] = {"h=0.022"};
    const kiln_shape *const *shapes = kiln_shapes(&count);
    const kiln_shape *ball;
    KILN_TRY(kiln_shape_find(shapes, count, "ball", &ball, NULL));
    KILN_TRY(kiln_shape_make(ball, 1, settings, &f->soup, NULL));
    return kiln_soup_write(f->context, f->path, NULL, &f->soup, NULL);
}

static void measure(kiln_bench *bench, fixture *f)
{
    char text[96];
    double time = kiln_bench_time(bench, read_and_build, f);
    if (f->status != KILN_OK) {
        kiln_bench_report_failure(bench, "file to usable mesh", "cannot read and build it");
        return;
    }
    double tets = f->mesh->table[KILN_ON_TET].live;
    size_t bytes = kiln_mesh_bytes(f->mesh);
    double audit_time = kiln_bench_time(bench, audit, f);
    snprintf(text, sizeof text, "%.0f tets, audit %s", tets,
             f->audit.invariant ? f->audit.invariant : "clean");
    kiln_bench_report(bench, "file to usable mesh (.msh 2.2, ball)", 1e-6 * tets / time, "M tets/s",
                      3, 1, text);
    kiln_bench_report(bench, "memory of a bare mesh", (double)bytes / tets, "bytes/tet", 120, 0,
                      "both spaces, adjacency, tags");
    kiln_bench_report(bench, "full audit", 1e-6 * tets / audit_time, "M tets/s", 0, 1, "");
    time = kiln_bench_time(bench, to_soup, f);
    kiln_bench_report(bench, "mesh to file lists", 1e-6 * tets / time, "M tets/s", 0, 1, "");
}

void kiln_bench_store(kiln_bench *bench)
{
    fixture f = {.context = kiln_bench_context(bench)};
    snprintf(f.path, sizeof f.path, "/tmp/kiln-bench-%ld.msh", (long)getpid());
    kiln_soup_init(&f.soup, f.context);
    if (make_file(&f) == KILN_OK)
        measure(bench, &f);
    else
        kiln_bench_report_failure(bench, "file to usable mesh", "cannot write the file");
    unlink(f.path);
    kiln_mesh_destroy(f.mesh);
    kiln_soup_free(&f.soup);
}
