#include "base/clock.h"
#include "bench/bench.h"
#include "io/checkpoint.h"
#include "io/vtu.h"
#include "mesh/shapes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void kiln_bench_run(kiln_bench *bench);

typedef struct job {
    kiln_context *context;
    kiln_scene scene;
    kiln_world *world;
    kiln_soup frame; /* kept between frames, as a run folder does */
    char path[64];
    kiln_stats stats;
    kiln_status status;
    kiln_error error;
} job;

/* From the state in memory to the file on the disk. */
static void frame_body(void *user)
{
    job *now = user;
    now->status = kiln_world_refill_frame(now->world, &now->frame, &now->error);
    if (now->status == KILN_OK)
        now->status =
            kiln_vtu_write(now->context, now->path, KILN_ENCODING_BINARY, &now->frame, &now->error);
}

static void checkpoint_body(void *user)
{
    job *now = user;
    kiln_checkpoint_scene none = {0};
    now->status = kiln_checkpoint_write(now->world, &none, now->path, &now->error);
}

static void resume_body(void *user)
{
    job *now = user;
    now->status = kiln_checkpoint_read(now->path, now->world, &now->error);
}

static void measure_body(void *user)
{
    job *now = user;
    kiln_world_measure(now->world, &now->stats);
}

static kiln_status make_world(job *now, kiln_error *error)
{
    kiln_scene *scene = &now->scene;
    static const char *const settings[] = {"h=0.03"};
    size_t count;
    const kiln_shape *const *shapes = kiln_shapes(&count);
    const kiln_shape *ball;
    kiln_scene_material material = {.young = kiln_quantity_number(1e5),
                                    .poisson = kiln_quantity_number(0.3),
                                    .density = kiln_quantity_number(1000)};
    kiln_scene_body body = {.velocity = kiln_quantity_vector(kiln_v3(1, 0, 0)),
                            .position = {.constant = {NAN, NAN, NAN}}};
    KILN_TRY(kiln_material_model_find("neo-hookean", &material.base.model, error));
    kiln_lame_from_young(1e5, 0.3, &material.base.mu, &material.base.lambda);
    material.base.density = 1000;
    KILN_TRY(kiln_array_push(now->context, &scene->materials, material, error));
    kiln_soup_init(&body.mesh, now->context);
    KILN_TRY(kiln_shape_find(shapes, count, "ball", &ball, error));
    KILN_TRY(kiln_shape_make(ball, 1, settings, &body.mesh, error));
    KILN_TRY(kiln_array_push(now->context, &scene->bodies, body, error));
    KILN_TRY(kiln_world_create(scene, &now->world, error));
    /* A frame of a body that has moved: nothing in it is round. */
    kiln_mesh *mesh = kiln_world_mesh(now->world);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = mesh->u[v];
        mesh->x[v] =
            kiln_v3(u.x * 1.1 + 0.05 * sin(3 * u.y), u.y * 0.95, u.z + 0.03 * cos(5 * u.x));
    }
    return KILN_OK;
}

static void report(kiln_bench *bench, const job *now, const char *name, double seconds, double bar,
                   const char *accuracy)
{
    double tets = kiln_world_mesh(now->world)->table[KILN_ON_TET].live;
    if (now->status == KILN_OK)
        kiln_bench_report(bench, name, tets / seconds * 1e-6, "M tets/s", bar, 1, accuracy);
    else
        kiln_bench_report_failure(bench, name, now->error.message);
}

/* The disk is waited for; minimum of a few calls. */
static double wall_seconds(void (*body)(void *user), void *user)
{
    double best = INFINITY;
    for (int call = 0; call < 9; call++) {
        double begin = kiln_wall_seconds();
        body(user);
        best = fmin(best, kiln_wall_seconds() - begin);
    }
    return best;
}

static void time_all(kiln_bench *bench, job *now, const char *folder)
{
    char size[64];
    now->scene.output.fields = 0;
    snprintf(now->path, sizeof now->path, "%s/a.vtu", folder);
    report(bench, now, "frame: state to .vtu, u and v", kiln_bench_time(bench, frame_body, now), 3,
           "CPU time: not what the disk is waited for");
    now->scene.output.fields = 1u << KILN_OUTPUT_MISES;
    snprintf(now->path, sizeof now->path, "%s/a.vtu", folder);
    snprintf(size, sizeof size, "%u tets with u, v, mises; CPU time",
             kiln_world_mesh(now->world)->table[KILN_ON_TET].live);
    report(bench, now, "frame: state to .vtu", kiln_bench_time(bench, frame_body, now), 3, size);
    report(bench, now, "frame: state to .vtu, wall clock", wall_seconds(frame_body, now), 0,
           "with what the disk is waited for");
    unlink(now->path);
    snprintf(now->path, sizeof now->path, "%s/a.h5", folder);
    report(bench, now, "checkpoint: write", kiln_bench_time(bench, checkpoint_body, now), 0, "");
    uint64_t before = kiln_mesh_hash(kiln_world_mesh(now->world));
    double seconds = kiln_bench_time(bench, resume_body, now);
    report(bench, now, "checkpoint: read, audit, rebuild", seconds, 0,
           before == kiln_mesh_hash(kiln_world_mesh(now->world)) ? "bit-exact"
                                                                 : "NOT what was written");
    unlink(now->path);
    report(bench, now, "row of statistics", kiln_bench_time(bench, measure_body, now), 0, "");
}

void kiln_bench_run(kiln_bench *bench)
{
    job now = {.context = kiln_bench_context(bench)};
    char folder[] = "/tmp/kiln-bench-XXXXXX";
    kiln_scene_init(&now.scene, now.context);
    kiln_soup_init(&now.frame, now.context);
    now.status = make_world(&now, &now.error);
    if (now.status != KILN_OK)
        kiln_bench_report_failure(bench, "a world for frames", now.error.message);
    else if (mkdtemp(folder)) {
        time_all(bench, &now, folder);
        rmdir(folder);
    } else
        kiln_bench_report_failure(bench, "frames", "cannot make a folder in /tmp");
    kiln_soup_free(&now.frame);
    kiln_world_destroy(now.world);
    kiln_scene_free(&now.scene);
}
