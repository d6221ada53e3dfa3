/* Attempts at edge and face removal on a Delaunay mesh of random points in which every flip that
 * gains has been made, so that attempts are refused as they mostly are in a pass. */
#include "base/random.h"
#include "bench/bench.h"
#include "mesh/build.h"
#include "mesh/reorder.h"
#include "remesh/delaunay.h"
#include "remesh/edge_removal.h"
#include "remesh/face_removal.h"

#include <stdio.h>
#include <string.h>

enum { POINTS = 10000, RING_SHOWN = 8, ROUNDS = 20 };

typedef struct site {
    uint32_t tet, a, b; /* corners of an edge; or face a */
} site;
typedef KILN_ARRAY_OF(site)
site_array;

typedef struct fixture {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_remesher remesher;
    site_array ring[RING_SHOWN + 1], edges, faces; /* interior; edges of any ring */
    const site_array *timed;
    uint32_t made;
} fixture;

static kiln_status make_mesh(kiln_context *context, kiln_mesh **mesh)
{
    kiln_soup soup;
    kiln_delaunay delaunay = {0};
    kiln_random random = kiln_random_start(11, 0);
    kiln_soup_init(&soup, context);
    kiln_status status = KILN_OK;
    for (int i = 0; i < POINTS && status == KILN_OK; i++) {
        double x = kiln_random_unit(&random), y = kiln_random_unit(&random);
        status =
            kiln_array_push(context, &soup.points, kiln_v3(x, y, kiln_random_unit(&random)), NULL);
    }
    if (status == KILN_OK)
        status = kiln_delaunay_build(&delaunay, context, soup.points.data, POINTS, NULL);
    for (size_t i = 0; status == KILN_OK && i < delaunay.tets.count; i++) {
        kiln_soup_tet tet;
        memcpy(tet.v, delaunay.tets.data[i].v, sizeof tet.v);
        status = kiln_array_push(context, &soup.tets, tet, NULL);
    }
    if (status == KILN_OK)
        status = kiln_mesh_build(context, &soup, NULL, mesh, NULL, NULL);
    kiln_delaunay_destroy(&delaunay);
    kiln_soup_free(&soup);
    return status == KILN_OK ? kiln_mesh_reorder(*mesh, KILN_SPACE_MATERIAL, NULL, NULL) : status;
}

static bool propose_edge(fixture *f, site at, kiln_proposal *out)
{
    return kiln_edge_removal_propose(&f->remesher, &f->remesher.workspace, at.tet, at.a, at.b, out);
}

static bool propose_face(fixture *f, site at, kiln_proposal *out)
{
    return kiln_face_removal_propose(&f->remesher, &f->remesher.workspace, at.tet, at.a, out);
}

static uint32_t apply(fixture *f, const kiln_proposal *proposal)
{
    return kiln_remesher_apply(&f->remesher, proposal) == KILN_ACCEPTED;
}

/* Everything that gains, tet by tet. */
static uint32_t flip_round(fixture *f)
{
    const kiln_mesh *mesh = f->mesh;
    kiln_arena *arena = &f->remesher.workspace.arena;
    kiln_proposal proposal;
    uint32_t done = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        kiln_arena_mark mark = kiln_arena_set_mark(arena);
        for (uint32_t e = 0; e < 6 && kiln_tet_live(mesh, t); e++)
            if (propose_edge(f, (site){t, kiln_edge_ends[e][0], kiln_edge_ends[e][1]}, &proposal))
                done += apply(f, &proposal);
        for (uint32_t face = 0; face < 4 && kiln_tet_live(mesh, t); face++)
            if (propose_face(f, (site){t, face, 0}, &proposal))
                done += apply(f, &proposal);
        kiln_arena_release(arena, mark);
    }
    return done;
}

static void flip_all(fixture *f)
{
    for (int round = 0; round < ROUNDS && flip_round(f) > 0; round++)
        continue;
}

static void find_edges(fixture *f, uint32_t t)
{
    uint32_t ring[64];
    for (uint32_t e = 0; e < 6; e++) {
        site at = {t, kiln_edge_ends[e][0], kiln_edge_ends[e][1]};
        kiln_ring shape = kiln_edge_ring(f->mesh, t, at.a, at.b, ring, 64);
        bool lowest = shape.closed && shape.count <= 64;
        for (uint32_t i = 0; lowest && i < shape.count; i++)
            lowest = ring[i] / 4 >= t;
        if (!lowest)
            continue;
        kiln_array_push(f->context, &f->edges, at, NULL);
        if (shape.count <= RING_SHOWN)
            kiln_array_push(f->context, &f->ring[shape.count], at, NULL);
    }
}

static void shuffle(site_array *sites)
{
    kiln_random random = kiln_random_start(12, sites->count);
    for (size_t i = sites->count; i > 1; i--) {
        size_t j = kiln_random_below(&random, (uint32_t)i);
        site swap = sites->data[i - 1];
        sites->data[i - 1] = sites->data[j];
        sites->data[j] = swap;
    }
}

static void find_sites(fixture *f)
{
    const kiln_mesh *mesh = f->mesh;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        find_edges(f, t);
        for (uint32_t face = 0; face < 4; face++)
            if (mesh->tet[t].n[face] / 4 > t && !kiln_link_is_surface(mesh->tet[t].n[face]))
                kiln_array_push(f->context, &f->faces, ((site){t, face, 0}), NULL);
    }
}

static void attempt_edges(void *user)
{
    fixture *f = user;
    kiln_proposal proposal;
    f->made = 0;
    for (size_t i = 0; i < f->timed->count; i++)
        f->made += propose_edge(f, f->timed->data[i], &proposal);
}

static void attempt_faces(void *user)
{
    fixture *f = user;
    kiln_proposal proposal;
    f->made = 0;
    for (size_t i = 0; i < f->timed->count; i++)
        f->made += propose_face(f, f->timed->data[i], &proposal);
}

/* In the order of the mesh, as a pass goes, and in random order, which is harder on the caches. */
static void report(kiln_bench *bench, fixture *f, const char *name, site_array *sites, bool edges,
                   double bar)
{
    char text[80], accuracy[80];
    f->timed = sites;
    for (int order = 0; order < 2; order++) {
        kiln_arena_mark mark = kiln_arena_set_mark(&f->remesher.workspace.arena);
        double time = kiln_bench_time(bench, edges ? attempt_edges : attempt_faces, f);
        kiln_arena_release(&f->remesher.workspace.arena, mark);
        snprintf(text, sizeof text, "flips: %s, %s", name, order ? "random order" : "mesh order");
        snprintf(accuracy, sizeof accuracy, "%zu sites, %u gain", sites->count, f->made);
        kiln_bench_report(bench, text, 1e-6 * (double)sites->count / time, "M/s", order ? 0 : bar,
                          1, accuracy);
        shuffle(sites);
    }
}

void kiln_bench_remesh_flips(kiln_bench *bench)
{
    fixture f = {.context = kiln_bench_context(bench)};
    kiln_remesh_options options = kiln_remesh_default_options();
    if (make_mesh(f.context, &f.mesh) != KILN_OK ||
        kiln_remesher_begin(f.mesh, &options, &f.remesher, NULL) != KILN_OK) {
        kiln_bench_report_failure(bench, "flips", "cannot make the mesh");
        kiln_mesh_destroy(f.mesh);
        return;
    }
    flip_all(&f);
    find_sites(&f);
    for (int m = 3; m <= RING_SHOWN; m++) {
        char name[40];
        snprintf(name, sizeof name, "edge removal, ring of %d", m);
        report(bench, &f, name, &f.ring[m], true, m == 5 ? 3.5 : m == 6 ? 3.0 : 0.0);
        kiln_array_free(f.context, &f.ring[m]);
    }
    report(bench, &f, "edge removal, any ring", &f.edges, true, 0.0);
    report(bench, &f, "face removal", &f.faces, false, 3.0);
    kiln_array_free(f.context, &f.edges);
    kiln_array_free(f.context, &f.faces);
    kiln_remesher_end(&f.remesher);
    kiln_mesh_destroy(f.mesh);
}
