/* Inside of the replace primitive, shared by replace*.c only. */
#ifndef KILN_MESH_REPLACE_IMPL_H
#define KILN_MESH_REPLACE_IMPL_H

#include "mesh/idset.h"
#include "mesh/replace.h"
#include "mesh/walk.h"

enum { KILN_DECLARED_NOT, KILN_DECLARED_SURFACE, KILN_DECLARED_OPENED, KILN_DECLARED_GLUED };

/* One face on the outside of R, of N, or between two tets of N. */
typedef struct kiln_match {
    uint32_t corner[3]; /* ascending */
    uint32_t epoch;
    uint32_t old_at;   /* tet*4+face of R, KILN_NONE when R does not have it outside */
    kiln_link outside; /* what lay across it */
    uint32_t fresh[2]; /* index*4+face of N; the first has `fresh_even` orientation */
    uint8_t old_even, fresh_even;
    uint8_t declared;
    uint32_t declaration; /* index into its list */
} kiln_match;

struct kiln_scratch {
    kiln_walker walker;
    KILN_ARRAY_OF(kiln_match)
    table; /* epoch-stamped hash; count is a power of two */
    uint32_t epoch;
    kiln_u32_array order;      /* slots of `table` in order of first use */
    kiln_u32_array fresh_slot; /* [fresh*4+face] slot of its match */
    kiln_u32_array number;     /* [fresh] tet it becomes */
    kiln_u32_array marks;      /* [fresh] settled marks */
    kiln_u32_array vertices;   /* of R and N, distinct, in the general path */
    kiln_idset old_set;        /* R, when it is large */
    kiln_idset vertex_set;
    kiln_f64_array volumes;
    size_t image_start; /* R's row images in the undo log */
};

bool kiln_cavity_has_old(const struct kiln_scratch *scratch, const kiln_cavity *cavity,
                         uint32_t tet);

/* Marks that surviving edges and faces hand on, and refusal where one is lost (replace_marks.c). */
kiln_verdict kiln_cavity_settle_marks(const kiln_mesh *mesh, const kiln_cavity *cavity,
                                      struct kiln_scratch *scratch);
/* Regions on the hull and interfaces inside. */
kiln_verdict kiln_cavity_check_regions(const kiln_mesh *mesh, const kiln_cavity *cavity,
                                       struct kiln_scratch *scratch);

/* Fields of the new tets from R's row images (replace_fields.c); volumes by share. */
void kiln_cavity_hand_on_fields(kiln_mesh *mesh, const kiln_cavity *cavity,
                                struct kiln_scratch *scratch);

/* Ascending corners of a face given in outward order; returns 1 when that order is an even
 * permutation of the ascending one. */
KILN_INLINE uint8_t kiln_face_key(const uint32_t *v, uint32_t face, uint32_t key[3])
{
    uint32_t a = v[kiln_face_corner[face][0]], b = v[kiln_face_corner[face][1]],
             c = v[kiln_face_corner[face][2]], swap;
    uint8_t even = 1;
    if (a > b)
        swap = a, a = b, b = swap, even ^= 1;
    if (b > c)
        swap = b, b = c, c = swap, even ^= 1;
    if (a > b)
        swap = a, a = b, b = swap, even ^= 1;
    key[0] = a, key[1] = b, key[2] = c;
    return even;
}

#endif
