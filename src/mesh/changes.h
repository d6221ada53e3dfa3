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
    const struct kiln_renumbering *renumbered; /* of all rows, by kiln_mesh_reorder; NULL: not */
    uint32_t before[KILN_WHERE_COUNT];         /* rows in use then; now: table[].used */
    /* Ascending. Tets: made, reshaped (a corner moved), renumbered (their own row or a corner's),
     * or with another value in some field. Vertices: made, renumbered, or of such a tet, or of one
     * that went. Faces: made, renumbered, or of such a tet. */
    kiln_u32_array rows[KILN_WHERE_COUNT];
    /* Of those, the ones with other names around: tets with another corner; vertices of such a tet,
     * or of one that went. A vertex that only moves leaves its tets tied as they were. */
    kiln_u32_array retied_tets, retied_vertices;
    /* Ascending: tets of which nothing but the column `weight` is other. They are not in `rows`. */
    kiln_u32_array reweighed;
    const char *weight; /* set before the start, NULL: no column is told apart */
    /* The tets at all vertices of `rows` and of tets reweighed, and of them those at a vertex that
     * is tied anew. */
    kiln_u32_array around, around_retied;
    kiln_row_moves moved[KILN_WHERE_COUNT]; /* as close_ranks left them: ascending in both */
    /* A bit per row, while they are found. */
    kiln_u32_array marks[KILN_WHERE_COUNT], tet_ties, vertex_ties, weights, met, met_retied;
} kiln_changes;

/* Nothing has changed since the mesh is as it is now. Keeps the buffers; zeroed at first. */
void kiln_changes_start(kiln_changes *changes, const kiln_mesh *mesh);
/* What a pass has changed: while its archive is open, after the transfer of fields. */
kiln_status kiln_changes_note_pass(kiln_changes *changes, const kiln_mesh *mesh, kiln_error *error);
/* Once it is closed: rows close ranks, and the lists are made. */
kiln_status kiln_changes_close(kiln_changes *changes, kiln_mesh *mesh, kiln_error *error);
void kiln_changes_free(kiln_context *context, kiln_changes *changes);

#endif
