#include "bench/bench.h"
#include "io/fill.h"
#include "io/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void kiln_bench_frames(kiln_bench *bench);

typedef struct job {
    kiln_context *context;
    char path[64];
    kiln_soup mesh, read;
    kiln_status status;
    kiln_error error;
} job;

static void write_body(void *user)
{
    job *now = user;
    const kiln_format_options options = {"vtu", KILN_ENCODING_BINARY};
    now->status = kiln_soup_write(now->context, now->path, &options, &now->mesh, &now->error);
}

static void read_body(void *user)
{
    job *now = user;
    kiln_soup_free(&now->read);
    now->status = kiln_soup_read(now->context, now->path, NULL, &now->read, &now->error);
}

static bool same(const kiln_soup *a, const kiln_soup *b)
{
    return a->points.count == b->points.count && a->tets.count == b->tets.count &&
           a->triangles.count == b->triangles.count &&
           memcmp(a->points.data, b->points.data, a->points.count * sizeof *a->points.data) == 0 &&
           memcmp(a->tets.data, b->tets.data, a->tets.count * sizeof *a->tets.data) == 0 &&
           memcmp(a->tet_tags.data, b->tet_tags.data, a->tet_tags.count * sizeof(int32_t)) == 0;
}

static void report(kiln_bench *bench, const job *now, const char *name, double seconds, double bar,
                   const char *accuracy)
{
    double rate = (double)now->mesh.tets.count / seconds * 1e-6;
    if (now->status == KILN_OK)
        kiln_bench_report(bench, name, rate, "M tets/s", bar, 1, accuracy);
    else
        kiln_bench_report_failure(bench, name, now->error.message);
}

static void time_mesh(kiln_bench *bench, job *now, const char *what)
{
    char name[80], size[80];
    double seconds = kiln_bench_time(bench, write_body, now);
    FILE *file = fopen(now->path, "rb");
    if (file && fseek(file, 0, SEEK_END) == 0)
        snprintf(size, sizeof size, "%.1f bytes a tet",
                 (double)ftell(file) / (double)now->mesh.tets.count);
    if (file)
        fclose(file);
    snprintf(name, sizeof name, "write .vtu zlib 1, %s", what);
    report(bench, now, name, seconds, 3, file ? size : "");
    if (now->status != KILN_OK)
        return;
    snprintf(name, sizeof name, "read .vtu zlib, %s", what);
    seconds = kiln_bench_time(bench, read_body, now);
    report(bench, now, name, seconds, 0,
           same(&now->mesh, &now->read) ? "bit-exact" : "NOT what was written");
}

void kiln_bench_frames(kiln_bench *bench)
{
    /* A mesh in a good order, and one in TetGen's. */
    static const struct {
        const char *shape, *setting, *what;
    } rows[] = {{"ball", "h=0.03", "ball"}, {"random", "points=100000", "random points"}};
    char folder[] = "/tmp/kiln-bench-XXXXXX";
    if (!mkdtemp(folder)) {
        kiln_bench_report_failure(bench, "frames", "cannot make a folder in /tmp");
        return;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        job now = {.context = kiln_bench_context(bench)};
        const kiln_shape *shape = NULL;
        snprintf(now.path, sizeof now.path, "%s/a.vtu", folder);
        kiln_soup_init(&now.mesh, now.context);
        kiln_soup_init(&now.read, now.context);
        now.status = kiln_generator_find(rows[i].shape, &shape, &now.error);
        if (now.status == KILN_OK)
            now.status = kiln_shape_make(shape, 1, &rows[i].setting, &now.mesh, &now.error);
        if (now.status == KILN_OK)
            time_mesh(bench, &now, rows[i].what);
        else
            report(bench, &now, rows[i].what, 1.0, 0, now.error.message);
        unlink(now.path);
        kiln_soup_free(&now.read);
        kiln_soup_free(&now.mesh);
    }
    rmdir(folder);
}
