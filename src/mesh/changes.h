/* What became of the rows of a mesh: for whoever keeps something that is derived from them.
 *
 * Rows are compact before and after (mesh/close_ranks.h): a row that went is filled by one from the
 * end. So for each table there is a number of rows then, one now, and a list of the rows below the
 * latter whose contents are not what they were. Derived data that is kept by row is renewed for
 * these rows and cut or grown to the new length; the result must be the bits that building it anew
 * would give. */
#ifndef KILN_MESH_CHANGES_H
#define KILN_MESH_CHANGES_H

#include "mesh/mesh.h"

/* The same thing under another number. */
typedef struct kiln_row_move {
    uint32_t from, to;
} kiln_row_move;

typedef KILN_ARRAY_OF(kiln_row_move)
kiln_row_moves;

typedef struct kiln_changes {
    bool all; /* anything may be other (whole-domain remesh, reorder, resume): build anew; the lists
                 are empty */
    uint32_t before[KILN_WHERE_COUNT]; /* rows in use then; now: table[].used */
    /* Ascending. Tets: made, reshaped (a corner moved in u), or renumbered (their own row or a
     * corner's). Vertices: made, moved, renumbered, or with a star that changed. Faces: made, or
     * renumbered. */
    kiln_u32_array rows[KILN_WHERE_COUNT];
    kiln_row_moves moved[KILN_WHERE_COUNT]; /* as close_ranks left them: ascending in both */
} kiln_changes;

/* Nothing has changed since the mesh is as it is now. Keeps the buffers; zeroed at first. */
void kiln_changes_start(kiln_changes *changes, const kiln_mesh *mesh);
void kiln_changes_free(kiln_context *context, kiln_changes *changes);

#endif
