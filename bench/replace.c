/* The replace primitive on an irregular mesh: a jittered box whose vertices and tets are in random
 * order, flipped at random until nothing of the box's regularity is left. */
#include "base/random.h"
#include "bench/bench.h"
#include "mesh/audit.h"
#include "mesh/build.h"
#include "mesh/jitter.h"
#include "mesh/shapes.h"
#include "remesh/flip.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CELLS = 20, CANDIDATES = 4000, BATCH = 2000 };

typedef struct fixture {
    kiln_mesh *mesh;
    uint32_t good[CANDIDATES], bad[CANDIDATES]; /* tet*4+face that can, cannot be flipped */
    uint8_t taken[64 * CELLS * CELLS * CELLS];  /* good ones have no tet in common */
    uint32_t good_count, bad_count, committed;
} fixture;

static void shuffle_soup(kiln_soup *soup)
{
    kiln_random random = kiln_random_start(5, 1);
    for (size_t i = soup->tets.count - 1; i > 0; i--) {
        size_t j = kiln_random_below(&random, (uint32_t)i + 1);
        kiln_soup_tet swap = soup->tets.data[i];
        soup->tets.data[i] = soup->tets.data[j];
        soup->tets.data[j] = swap;
    }
    soup->triangles.count = soup->triangle_tags.count = 0;
}

static void jitter_and_flip(kiln_mesh *mesh)
{
    kiln_random random = kiln_random_start(5, 2);
    uint32_t made[3];
    kiln_mesh_jitter(mesh, 0.3 / CELLS, 5);
    for (uint32_t i = 0; i < 10 * mesh->table[KILN_ON_TET].live; i++) {
        uint32_t t = kiln_random_below(&random, mesh->table[KILN_ON_TET].used);
        uint32_t a = kiln_random_below(&random, 4), b = (a + 1 + i % 3) % 4;
        if (!kiln_tet_live(mesh, t))
            continue;
        kiln_txn txn = kiln_txn_begin(mesh);
        kiln_txn_settle(&txn,
                        i % 4 ? kiln_flip_32(&txn, t, a, b, made) : kiln_flip_23(&txn, t, a, made));
    }
}

static kiln_status make_mesh(kiln_context *context, kiln_mesh **mesh)
{
    size_t count;
    char cells[3][16];
    const char *settings[3] = {cells[0], cells[1], cells[2]};
    for (int i = 0; i < 3; i++)
        snprintf(cells[i], sizeof cells[i], "n%c=%d", "xyz"[i], CELLS);
    const kiln_shape *const *shapes = kiln_shapes(&count);
    const kiln_shape *box;
    KILN_TRY(kiln_shape_find(shapes, count, "box", &box, NULL));
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    kiln_status status = kiln_shape_make(box, 3, settings, &soup, NULL);
    if (status == KILN_OK) {
        shuffle_soup(&soup);
        status = kiln_mesh_build(context, &soup, NULL, mesh, NULL, NULL);
    }
    kiln_soup_free(&soup);
    if (status == KILN_OK)
        jitter_and_flip(*mesh);
    return status;
}

static void find_candidates(fixture *f)
{
    kiln_random random = kiln_random_start(5, 3);
    kiln_mesh *mesh = f->mesh;
    uint32_t made[3];
    while (f->good_count < CANDIDATES || f->bad_count < CANDIDATES) {
        uint32_t t = kiln_random_below(&random, mesh->table[KILN_ON_TET].used);
        uint32_t face = kiln_random_below(&random, 4);
        if (!kiln_tet_live(mesh, t) || kiln_link_is_surface(mesh->tet[t].n[face]))
            continue;
        uint32_t other = mesh->tet[t].n[face] / 4;
        kiln_txn txn = kiln_txn_begin(mesh);
        bool good = kiln_flip_23(&txn, t, face, made) == KILN_ACCEPTED;
        kiln_txn_rollback(&txn);
        if (!good && f->bad_count < CANDIDATES)
            f->bad[f->bad_count++] = kiln_link_to(t, face);
        if (!good || f->good_count == CANDIDATES || f->taken[t] || f->taken[other])
            continue;
        f->taken[t] = f->taken[other] = 1;
        f->good[f->good_count++] = kiln_link_to(t, face);
    }
}

/* Each candidate flipped and flipped back: two replacements, each committed by itself. */
static void commit_pairs(void *user)
{
    fixture *f = user;
    uint32_t made[3], back[2];
    f->committed = 0;
    for (uint32_t i = 0; i < f->good_count; i++) {
        uint32_t at = f->good[i];
        kiln_txn txn = kiln_txn_begin(f->mesh);
        kiln_verdict there = kiln_txn_settle(&txn, kiln_flip_23(&txn, at / 4, at % 4, made));
        txn = kiln_txn_begin(f->mesh);
        /* The new edge is corners 0 and 1 of each new tet. */
        kiln_verdict again = kiln_txn_settle(&txn, kiln_flip_32(&txn, made[0], 0, 1, back));
        f->committed += (there == KILN_ACCEPTED) + (again == KILN_ACCEPTED);
        f->good[i] = kiln_link_to(back[0], 3); /* where the face is now */
    }
}

static void attempt_all(void *user)
{
    fixture *f = user;
    uint32_t made[3];
    for (uint32_t i = 0; i < f->bad_count; i++) {
        kiln_txn txn = kiln_txn_begin(f->mesh);
        kiln_flip_23(&txn, f->bad[i] / 4, f->bad[i] % 4, made);
        kiln_txn_rollback(&txn);
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Many flips, each under its own mark, then all marks rolled back: only that is timed. */
static double time_rollbacks(fixture *f)
{
    static kiln_txn marks[BATCH];
    double best = 1e30;
    uint32_t made[3];
    for (int repeat = 0; repeat < 40; repeat++) {
        uint32_t count = 0;
        kiln_txn outer = kiln_txn_begin(f->mesh);
        for (uint32_t i = 0; i < f->good_count && count < BATCH; i++) {
            uint32_t at = f->good[(i + 7 * (uint32_t)repeat) % f->good_count];
            marks[count] = kiln_txn_begin(f->mesh);
            if (kiln_tet_live(f->mesh, at / 4) &&
                kiln_flip_23(&marks[count], at / 4, at % 4, made) == KILN_ACCEPTED)
                count++;
            else
                kiln_txn_rollback(&marks[count]);
        }
        double start = seconds();
        for (uint32_t i = count; i-- > 0;)
            kiln_txn_rollback(&marks[i]);
        double each = (seconds() - start) / count;
        best = each < best ? each : best;
        kiln_txn_rollback(&outer);
    }
    return best;
}

void kiln_bench_replace(kiln_bench *bench)
{
    static fixture f;
    kiln_context *context = kiln_bench_context(bench);
    memset(&f, 0, sizeof f);
    if (make_mesh(context, &f.mesh) != KILN_OK) {
        kiln_bench_report_failure(bench, "replace", "cannot make the mesh");
        return;
    }
    find_candidates(&f);
    uint64_t before = kiln_mesh_hash(f.mesh);
    double each = time_rollbacks(&f);
    char accuracy[64];
    snprintf(accuracy, sizeof accuracy, "hash after rollback %s",
             kiln_mesh_hash(f.mesh) == before ? "equal" : "DIFFERS");
    kiln_bench_report(bench, "replace: roll back a 2-3 flip", 1e-6 / each, "M/s", 7, 1, accuracy);
    double time = kiln_bench_time(bench, attempt_all, &f);
    kiln_bench_report(bench, "replace: attempt refused", 1e-6 * f.bad_count / time, "M/s", 6, 1,
                      kiln_mesh_hash(f.mesh) == before ? "mesh untouched" : "mesh CHANGED");
    time = kiln_bench_time(bench, commit_pairs, &f);
    kiln_audit_report report;
    kiln_mesh_audit(f.mesh, &report, NULL);
    snprintf(accuracy, sizeof accuracy, "audit %s, %u of %u committed",
             report.invariant ? report.invariant : "clean", f.committed, 2 * f.good_count);
    kiln_bench_report(bench, "replace: 2-3 and 3-2 committed", 1e-6 * f.committed / time, "M/s", 3,
                      1, accuracy);
    kiln_mesh_destroy(f.mesh);
}
