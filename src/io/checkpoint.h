/* Checkpoints: everything a run goes on from, in one HDF5 file, written aside, synced and renamed.
 * Inside: the mesh's tables column by column (compacted), parts, ledger, the world's state, where
 * fine surfaces hang, the scene's text and --set values, version. NaN or infinity in a column is
 * refused. */
#ifndef KILN_IO_CHECKPOINT_H
#define KILN_IO_CHECKPOINT_H

#include "io/scene.h"
#include "sim/world.h"

/* What a run was started from. */
typedef struct kiln_checkpoint_scene {
    char *text; /* owned by the context; kiln_checkpoint_scene_free */
    size_t text_size;
    char *sets; /* lines */
    size_t sets_size;
} kiln_checkpoint_scene;

/* A copy of the file's text and of the settings it was read with. */
kiln_status kiln_checkpoint_scene_keep(kiln_context *context, const kiln_scene_file *file,
                                       const char *const *sets, size_t set_count,
                                       kiln_checkpoint_scene *out, kiln_error *error);
/* Reads the scene once more from what was kept; `path` is for messages and the files it names. */
kiln_status kiln_checkpoint_scene_load(kiln_context *context, const char *path,
                                       kiln_checkpoint_scene *scene, kiln_scene_file **out,
                                       kiln_error *error);

kiln_status kiln_checkpoint_write(kiln_world *world, const kiln_checkpoint_scene *scene,
                                  const char *path, kiln_error *error);
/* The scene first (the world is created from it), then the state into that world. A file that is
 * truncated, of another version or not ours is refused; the world is not to be used then. */
kiln_status kiln_checkpoint_read_scene(kiln_context *context, const char *path,
                                       kiln_checkpoint_scene *out, kiln_error *error);
void kiln_checkpoint_scene_free(kiln_context *context, kiln_checkpoint_scene *scene);
kiln_status kiln_checkpoint_read(const char *path, kiln_world *world, kiln_error *error);

/* The run goes on with another scene (sim/change.h), which `world` was created from; `before` is
 * the scene the checkpoint keeps, `scene` the path for the files it names. Refused with the place
 * in the new scene where that may not be. */
kiln_status kiln_checkpoint_read_changed(const char *path, kiln_checkpoint_scene *before,
                                         const char *scene, kiln_world *world, kiln_error *error);
/* Reads the scene of `kept` with changes: the text of the file as it is now, if `reread`, the kept
 * settings but for those of the same path as one of `sets`, then these; "path=" only takes a kept
 * one away. *out is what to keep from now on. */
kiln_status kiln_checkpoint_scene_change(kiln_context *context, const char *path,
                                         kiln_checkpoint_scene *kept, bool reread,
                                         const char *const *sets, size_t set_count,
                                         kiln_scene_file **file, kiln_checkpoint_scene *out,
                                         kiln_error *error);

#endif
