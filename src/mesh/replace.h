/* The one primitive: take a set R of tets out, put a set N in, and say what becomes of every face
 * on the outside of the two.
 *
 *   matched    the same face, with the same orientation, on the outside of R and of N: what lay
 *              across it stays there. The default; needs no declaration.
 *   replaced   surface faces of R that N does not have go (KILN_CAVITY_SURFACE), surface faces that
 *              R did not have come (`surface`). The change of volume is booked.
 *   opened     a face of R that N does not have, with a tet across it: that tet's side becomes
 *              surface (`opened`).
 *   glued      a face of N meets a surface face of a tet outside: both become one interior face
 *              (`glued`).
 *
 * Anything else is refused and the mesh is untouched. Operators only choose the sets and the
 * declaration; legality, adjacency, anchors, surface records, marks, fields, parts and undo are
 * settled here. */
#ifndef KILN_MESH_REPLACE_H
#define KILN_MESH_REPLACE_H

#include "mesh/txn.h"

typedef struct kiln_new_tet {
    uint32_t v[4];   /* kept in this order */
    uint32_t parent; /* tet whose region, part and fields go over: one of R (then its share of the
                        conserved fields too), another live tet, or KILN_NONE */
    uint32_t slot;   /* one of R whose number it takes, or KILN_NONE */
    uint32_t marks;  /* added to those inherited by surviving edges and faces */
} kiln_new_tet;

typedef struct kiln_new_face {
    uint32_t tet, face; /* index into `fresh`, face of it */
    int32_t tag;
    uint32_t parent; /* surface face whose fields go over (and whose record is taken over when it
                        goes and is the first to be named), or KILN_NONE */
    uint32_t twin;
} kiln_new_face;

typedef struct kiln_open_face {
    kiln_link outside; /* tet*4+face of the tet that stays */
    int32_t tag;
    uint32_t twin;
} kiln_open_face;

typedef struct kiln_glue_face {
    uint32_t tet, face; /* index into `fresh`, face of it */
    kiln_link outside;  /* tet*4+face, a surface face of a tet that stays */
} kiln_glue_face;

enum {
    KILN_CAVITY_SURFACE = 1,  /* surface faces of R may go */
    KILN_CAVITY_FEATURES = 2, /* marked edges and faces, and corners, may go */
    KILN_CAVITY_REGIONS = 4,  /* interfaces inside the cavity may move */
    KILN_CAVITY_ANY = 7,
};

typedef struct kiln_cavity {
    const uint32_t *old;
    uint32_t old_count;
    const uint32_t *heir; /* [old] index into `fresh` that gets its whole share of the conserved
                             fields, or KILN_NONE; NULL: children share by volume */
    const kiln_new_tet *fresh;
    uint32_t fresh_count;
    const kiln_new_face *surface;
    uint32_t surface_count;
    const kiln_open_face *opened;
    uint32_t opened_count;
    const kiln_glue_face *glued;
    uint32_t glued_count;
    uint32_t flags;
} kiln_cavity;

/* Numbers of the new tets go to made[fresh_count] (may be NULL). Vertices that lose their last tet
 * are freed. */
kiln_verdict kiln_replace(kiln_txn *txn, const kiln_cavity *cavity, uint32_t *made);

kiln_status kiln_scratch_create(kiln_context *context, struct kiln_scratch **out,
                                kiln_error *error);
void kiln_scratch_destroy(kiln_context *context, struct kiln_scratch *scratch);

#endif
