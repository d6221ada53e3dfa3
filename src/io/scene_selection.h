/* Selections outside scenes, in the words of scenes: "select.box { from = {0, 0, 0}, to = {1, 1, 1}
 * } - select.patch { tag = 2 }" on a command line. */
#ifndef KILN_IO_SCENE_SELECTION_H
#define KILN_IO_SCENE_SELECTION_H

#include "sim/scene.h"

/* Adds the nodes of the selection to `picks`, which is empty. `place` is for messages: "--where".
 * There are no bodies to select by name. */
kiln_status kiln_selection_read(kiln_context *context, const char *place, const char *text,
                                kiln_picks *picks, kiln_error *error);

#endif
