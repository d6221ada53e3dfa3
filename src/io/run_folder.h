/* The folder of a run:
 *
 *     run.json              what ran: scene, settings, version, machine, how it ended
 *     run.pvd               the frames with their times, and the obstacles; ParaView opens it
 *     frames/frame-N.vtu    binary, compressed
 *     surface/obstacles-N.vtu   beside the frames, if the scene asks for them; when none is where
 *                           it was
 *     surface/BODY-N.ply    the fine surfaces that bodies carry (body.K where the name of body K is
 *                           none for a file)
 *     stats.csv             one row per step, columns of KILN_STATS_TABLE; empty: does not apply
 *     probes.csv            likewise, those of kiln_world_probe after step and time
 *     probes-N.csv          rows of before the scene was changed so that it has other columns
 *     checkpoint-N.h5       the last two
 *     scene-N.lua           the scene until its N-th change in a run that was resumed with another
 *     log.txt
 *
 * Every file but the tables and log.txt appears whole or not at all; those grow by whole lines.
 * A checkpoint is written when everything before it is on the disk, so a run that was killed at any
 * moment goes on from its last one; what was written after it is written again, the same. */
#ifndef KILN_IO_RUN_FOLDER_H
#define KILN_IO_RUN_FOLDER_H

#include "io/checkpoint.h"

typedef struct kiln_run_folder kiln_run_folder;

/* What run.json and the checkpoints say about the scene. Borrowed while the folder is open. */
typedef struct kiln_run_about {
    const char *file; /* of the scene; may be empty */
    const char *name;
    kiln_checkpoint_scene scene;
} kiln_run_about;

/* A new run. Makes the folder (and those above it). A folder that holds a run is refused unless
 * `force`, which removes that run's files and no others; so is one that another process writes to.
 */
kiln_status kiln_run_folder_create(kiln_context *context, const char *path, bool force,
                                   const kiln_run_about *about, kiln_run_folder **out,
                                   kiln_error *error);
/* Path of the newest checkpoint that is whole, "" when there is none; `passed` counts damaged ones
 * that were passed over. */
kiln_status kiln_run_folder_find(kiln_context *context, const char *path, char *checkpoint,
                                 size_t size, int *passed, kiln_error *error);
/* How many frames there are, by their names. */
size_t kiln_run_folder_frames(const char *path);
/* Goes on from `state`: later rows and frames are forgotten, half-written files removed. */
kiln_status kiln_run_folder_resume(kiln_context *context, const char *path,
                                   const kiln_world_state *state, const kiln_run_about *about,
                                   kiln_run_folder **out, kiln_error *error);
void kiln_run_folder_close(kiln_run_folder *folder); /* NULL allowed */

/* The callbacks of sim/run.h: `frame` and `checkpoint` take their numbers from the world's state.
 */
kiln_status kiln_run_folder_frame(kiln_run_folder *folder, kiln_world *world, kiln_error *error);
kiln_status kiln_run_folder_stats(kiln_run_folder *folder, const kiln_stats *stats,
                                  kiln_error *error);
kiln_status kiln_run_folder_probes(kiln_run_folder *folder, kiln_world *world,
                                   const kiln_stats *stats, kiln_error *error);
kiln_status kiln_run_folder_checkpoint(kiln_run_folder *folder, kiln_world *world,
                                       kiln_error *error);

/* A line in log.txt with the time; failures are passed over. */
void kiln_run_folder_log(kiln_run_folder *folder, const char *text);
/* run.json once more, with how the run is doing: "running", "done", "stopped", "gave up". */
kiln_status kiln_run_folder_describe(kiln_run_folder *folder, kiln_world *world, const char *status,
                                     kiln_error *error);

/* The text of a scene that the run goes on without, in a file of its own; its name goes to `name`.
 */
kiln_status kiln_run_folder_keep_scene(kiln_run_folder *folder, const kiln_checkpoint_scene *scene,
                                       char *name, size_t size, kiln_error *error);

/* Paths relative to the folder of what was written last; "" before. */
const char *kiln_run_folder_last_frame(const kiln_run_folder *folder);
const char *kiln_run_folder_last_checkpoint(const kiln_run_folder *folder);

#endif
