#include "bench/bench.h"
#include "io/format.h"
#include "io/items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void kiln_bench_files(kiln_bench *bench);

/* Cells along an edge of the cube; six tets each, a million in all. */
enum { CELLS = 55 };

typedef struct job {
    kiln_context *context;
    const char *path;
    kiln_format_options options;
    kiln_soup mesh; /* what is written */
    kiln_soup read; /* what came back last */
    kiln_status status;
    kiln_error error;
} job;

static uint32_t grid_point(uint32_t i, uint32_t j, uint32_t k)
{
    return (k * (CELLS + 1) + j) * (CELLS + 1) + i;
}

/* Kuhn's six tets of each cell: one for every way to walk its axes. */
static kiln_status make_mesh(kiln_soup *mesh, kiln_error *error)
{
    static const int walks[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    kiln_vec3 *points;
    int32_t *tags;
    uint32_t *index, side = CELLS + 1;
    KILN_TRY(kiln_points_extend(mesh, (size_t)side * side * side, &points, &tags, error));
    for (uint32_t k = 0; k < side; k++)
        for (uint32_t j = 0; j < side; j++)
            for (uint32_t i = 0; i < side; i++) {
                points[grid_point(i, j, k)] =
                    (kiln_vec3){i / (double)CELLS, j / (double)CELLS, k / (double)CELLS};
                tags[grid_point(i, j, k)] = 0;
            }
    KILN_TRY(kiln_items_extend(mesh, KILN_ITEM_TET, (size_t)6 * CELLS * CELLS * CELLS, &index,
                               &tags, error));
    for (uint32_t cell = 0; cell < CELLS * CELLS * CELLS; cell++)
        for (int w = 0; w < 6; w++) {
            uint32_t at[3] = {cell % CELLS, cell / CELLS % CELLS, cell / CELLS / CELLS};
            *tags++ = (int32_t)(1 + at[2] / 20);
            for (int step = 0;; step++) {
                *index++ = grid_point(at[0], at[1], at[2]);
                if (step == 3)
                    break;
                at[walks[w][step]]++;
            }
        }
    kiln_items_drop_zero_tags(mesh);
    return KILN_OK;
}

/* The number a sparse file gives a point: every third, shuffled by an odd factor. */
static int64_t sparse_number(size_t point, size_t points)
{
    return 7 + 3 * (int64_t)(point * 48271 % points);
}

/* Binary 2.2 with numbers that must be looked up, as other programs write it. */
static kiln_status write_sparse(const job *now, const char *path, kiln_error *error)
{
    const kiln_soup *mesh = &now->mesh;
    size_t points = mesh->points.count;
    kiln_sink sink;
    KILN_TRY(kiln_sink_open(&sink, now->context, path, error));
    kiln_sink_text(&sink, "$MeshFormat\n2.2 1 8\n");
    kiln_sink_u32(&sink, 1);
    kiln_sink_format(&sink, "\n$EndMeshFormat\n$Nodes\n%zu\n", points);
    for (size_t i = 0; i < points; i++) {
        kiln_sink_u32(&sink, (uint32_t)sparse_number(i, points));
        kiln_sink_bytes(&sink, &mesh->points.data[i], sizeof(kiln_vec3));
    }
    kiln_sink_format(&sink, "\n$EndNodes\n$Elements\n%zu\n", mesh->tets.count);
    kiln_sink_u32(&sink, 4);
    kiln_sink_u32(&sink, (uint32_t)mesh->tets.count);
    kiln_sink_u32(&sink, 2);
    for (size_t i = 0; i < mesh->tets.count; i++) {
        kiln_sink_u32(&sink, (uint32_t)i + 1);
        kiln_sink_u32(&sink, (uint32_t)mesh->tet_tags.data[i]);
        kiln_sink_u32(&sink, 1);
        for (int j = 0; j < 4; j++)
            kiln_sink_u32(&sink, (uint32_t)sparse_number(mesh->tets.data[i].v[j], points));
    }
    kiln_sink_text(&sink, "\n$EndElements\n");
    return kiln_sink_commit(&sink, error);
}

static void read_body(void *user)
{
    job *now = user;
    kiln_soup_free(&now->read);
    now->status = kiln_soup_read(now->context, now->path, &now->options, &now->read, &now->error);
}

static void write_body(void *user)
{
    job *now = user;
    now->status = kiln_soup_write(now->context, now->path, &now->options, &now->mesh, &now->error);
}

static bool same(const kiln_soup *a, const kiln_soup *b)
{
    return a->points.count == b->points.count && a->tets.count == b->tets.count &&
           a->tet_tags.count == b->tet_tags.count &&
           memcmp(a->points.data, b->points.data, a->points.count * sizeof *a->points.data) == 0 &&
           memcmp(a->tets.data, b->tets.data, a->tets.count * sizeof *a->tets.data) == 0 &&
           memcmp(a->tet_tags.data, b->tet_tags.data, a->tet_tags.count * sizeof(int32_t)) == 0;
}

static void report(kiln_bench *bench, job *now, const char *name, double seconds, double bar,
                   const char *accuracy)
{
    double rate = (double)now->mesh.tets.count / seconds * 1e-6;
    kiln_bench_report(bench, name, now->status == KILN_OK ? rate : 0.0, "M tets/s", bar, 1,
                      now->status == KILN_OK ? accuracy : now->error.message);
}

static void time_read(kiln_bench *bench, job *now, const char *name, double bar)
{
    double seconds = kiln_bench_time(bench, read_body, now);
    report(bench, now, name, seconds, bar,
           same(&now->mesh, &now->read) ? "bit-exact" : "NOT what was written");
}

static void time_all(kiln_bench *bench, job *now, const char *folder)
{
    static const struct {
        const char *format, *file;
        kiln_encoding encoding;
        const char *read, *write;
        double bar;
    } rows[] = {
        {"gmsh22", "b22.msh", KILN_ENCODING_BINARY, "read binary .msh 2.2", "write binary .msh 2.2",
         45},
        {"gmsh", "b41.msh", KILN_ENCODING_BINARY, "read binary .msh 4.1", "write binary .msh 4.1",
         0},
        {"medit", "b.meshb", KILN_ENCODING_BINARY, "read .meshb", "write .meshb", 0},
        {"medit", "a.mesh", KILN_ENCODING_ASCII, "read .mesh (text)", "write .mesh (text)", 0},
    };
    char path[128];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, rows[i].file);
        now->path = path;
        now->options = (kiln_format_options){rows[i].format, rows[i].encoding};
        double seconds = kiln_bench_time(bench, write_body, now);
        report(bench, now, rows[i].write, seconds, 0, "");
        if (now->status == KILN_OK)
            time_read(bench, now, rows[i].read, rows[i].bar);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/sparse.msh", folder);
    now->options = (kiln_format_options){"gmsh22", KILN_ENCODING_ANY};
    now->status = write_sparse(now, path, &now->error);
    if (now->status == KILN_OK)
        time_read(bench, now, "read binary .msh 2.2, sparse numbers", 45);
    unlink(path);
}

void kiln_bench_files(kiln_bench *bench)
{
    job now = {.context = kiln_bench_context(bench)};
    kiln_soup_init(&now.mesh, now.context);
    kiln_soup_init(&now.read, now.context);
    char folder[] = "/tmp/kiln-bench-XXXXXX";
    now.status = make_mesh(&now.mesh, &now.error);
    if (now.status == KILN_OK && mkdtemp(folder)) {
        time_all(bench, &now, folder);
        rmdir(folder);
    }
    kiln_soup_free(&now.read);
    kiln_soup_free(&now.mesh);
}
