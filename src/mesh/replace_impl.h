/* Inside of the replace primitive, shared by replace*.c only. */
#ifndef KILN_MESH_REPLACE_IMPL_H
#define KILN_MESH_REPLACE_IMPL_H

#include "mesh/idset.h"
#include "mesh/journal_impl.h"
#include "mesh/replace.h"
#include "mesh/walk.h"

#include <string.h>

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

/* Which tets of R, or of N, have a vertex: indices into the set, ascending. */
typedef struct kiln_corner_lists {
    kiln_idset vertex;    /* its place in `start` */
    kiln_u32_array start; /* [place], and the end of the last */
    kiln_u32_array tets;
} kiln_corner_lists;

struct kiln_scratch {
    kiln_walker walker;
    KILN_ARRAY_OF(kiln_match)
    table;                     /* epoch-stamped hash; count is a power of two */
    uint32_t epoch, mask;      /* mask: of the slots this cavity uses */
    kiln_u32_array order;      /* slots of `table` in order of first use */
    kiln_u32_array fresh_slot; /* [fresh*4+face] slot of its match */
    kiln_u32_array number;     /* [fresh] tet it becomes */
    kiln_u32_array marks;      /* [fresh] settled marks */
    kiln_u32_array vertices;   /* of R and N, distinct, in the general path */
    kiln_idset old_set;        /* R, when it is not small: index, and whether its slot is named */
    kiln_idset vertex_set;
    kiln_f64_array volumes;
    size_t image_start; /* R's row images in the undo log */
    uint32_t unmatched; /* outside faces of R or N without a counterpart */
    bool surface_pairs; /* some new tet has two vertices on the surface */
    bool outline_changes, spans_regions;
    bool hashed; /* the table is keyed by corners, not by bits */
    bool many;   /* the lists are filled */
    kiln_corner_lists old_at, fresh_at;
};

/* Up to here R is searched, beyond it there is a set; R and N together are searched up to here,
 * beyond it there are lists of what is at a vertex. */
enum { KILN_FEW_TETS = 8, KILN_MANY_TETS = 64 };
#define KILN_SLOT_NAMED (1u << 31)

KILN_INLINE bool kiln_cavity_has_old(const struct kiln_scratch *scratch, const kiln_cavity *cavity,
                                     uint32_t tet)
{
    if (KILN_UNLIKELY(cavity->old_count > KILN_FEW_TETS))
        return kiln_idset_has(&scratch->old_set, tet);
    bool found = false;
    for (uint32_t i = 0; i < cavity->old_count; i++)
        found |= cavity->old[i] == tet;
    return found;
}

/* Index of a tet in R, or old_count. */
KILN_INLINE uint32_t kiln_cavity_old_index(const struct kiln_scratch *scratch,
                                           const kiln_cavity *cavity, uint32_t tet)
{
    if (KILN_UNLIKELY(cavity->old_count > KILN_FEW_TETS)) {
        const kiln_idset_slot *slot = kiln_idset_at(&scratch->old_set, tet);
        return slot->epoch == scratch->old_set.epoch ? slot->value & ~KILN_SLOT_NAMED
                                                     : cavity->old_count;
    }
    uint32_t i = 0;
    while (i < cavity->old_count && cavity->old[i] != tet)
        i++;
    return i;
}

/* Room for the lists where scratch->many, then the lists (replace_lists.c). */
kiln_status kiln_cavity_reserve_lists(kiln_context *context, const kiln_cavity *cavity,
                                      struct kiln_scratch *scratch);
void kiln_cavity_fill_lists(const kiln_mesh *mesh, const kiln_cavity *cavity,
                            struct kiln_scratch *scratch);
/* The tets at a vertex, only where scratch->many. */
const uint32_t *kiln_corner_list(const kiln_corner_lists *lists, uint32_t vertex, uint32_t *count);

/* The first tet of N that has the vertex, KILN_NONE when none has. */
KILN_INLINE uint32_t kiln_cavity_fresh_with(const kiln_cavity *cavity,
                                            const struct kiln_scratch *scratch, uint32_t vertex)
{
    if (KILN_UNLIKELY(scratch->many)) {
        uint32_t count;
        const uint32_t *tets = kiln_corner_list(&scratch->fresh_at, vertex, &count);
        return count ? tets[0] : KILN_NONE;
    }
    for (uint32_t i = 0; i < cavity->fresh_count; i++)
        for (int k = 0; k < 4; k++)
            if (cavity->fresh[i].v[k] == vertex)
                return i;
    return KILN_NONE;
}

/* All that can be refused before stars are looked at (replace_check.c); fills the scratch. */
kiln_verdict kiln_cavity_check(kiln_mesh *mesh, const kiln_cavity *cavity,
                               struct kiln_scratch *scratch);
/* Whether a required vertex or a corner would lose its last tet. */
kiln_verdict kiln_cavity_check_vanishing(const kiln_mesh *mesh, const kiln_cavity *cavity,
                                         const struct kiln_scratch *scratch, bool general);

/* Writes the cavity (replace_apply.c). */
void kiln_cavity_apply(kiln_mesh *mesh, const kiln_cavity *cavity, struct kiln_scratch *scratch,
                       bool general);
/* Tets and volume of a part change; its stamp too. */
void kiln_cavity_count(kiln_mesh *mesh, uint32_t part, int64_t tets, double volume);

/* Stars, flags and volume where the outline or regions change (replace_stars.c). */
kiln_status kiln_cavity_list_stars(kiln_mesh *mesh, const kiln_cavity *cavity,
                                   struct kiln_scratch *scratch);
void kiln_cavity_update_stars(kiln_mesh *mesh, const kiln_cavity *cavity,
                              struct kiln_scratch *scratch);
void kiln_cavity_update_flags(kiln_mesh *mesh, const struct kiln_scratch *scratch);
void kiln_cavity_book_volume(kiln_mesh *mesh, const kiln_cavity *cavity,
                             struct kiln_scratch *scratch);

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
    /* Without branches: which way the comparisons go is anybody's guess. */
    uint32_t a = v[kiln_face_corner[face][0]], b = v[kiln_face_corner[face][1]],
             c = v[kiln_face_corner[face][2]];
    uint32_t ab = a > b, ac = a > c, bc = b > c;
    uint32_t low_ab = ab ? b : a, high_ab = ab ? a : b;
    key[0] = low_ab < c ? low_ab : c;
    key[2] = high_ab > c ? high_ab : c;
    key[1] = a ^ b ^ c ^ key[0] ^ key[2];
    return (uint8_t)(1 ^ (ab ^ ac ^ bc));
}

KILN_INLINE uint32_t kiln_match_start(const struct kiln_scratch *scratch, const uint32_t key[3])
{
    uint64_t hash =
        key[0] * 0x9e3779b97f4a7c15u + key[1] * 0xc2b2ae3d27d4eb4fu + key[2] * 0x165667b19e3779f9u;
    return (uint32_t)(hash >> 40) & scratch->mask;
}

/* The entry of a face, NULL when there is none; only where scratch->hashed. */
KILN_INLINE kiln_match *kiln_match_of(const struct kiln_scratch *scratch, const uint32_t key[3])
{
    for (uint32_t at = kiln_match_start(scratch, key);; at = (at + 1) & scratch->mask) {
        kiln_match *match = &scratch->table.data[at];
        if (match->epoch != scratch->epoch)
            return NULL;
        if (match->corner[0] == key[0] && match->corner[1] == key[1] && match->corner[2] == key[2])
            return match;
    }
}

/* R's rows as they were logged, R's first entries of this replacement. */
KILN_INLINE const uint32_t *kiln_old_image(const kiln_mesh *mesh,
                                           const struct kiln_scratch *scratch, uint32_t index)
{
    return mesh->journal->undo.data + scratch->image_start +
           index * (mesh->table[KILN_ON_TET].row_size / 4 + KILN_LOG_TRAILER);
}

KILN_INLINE const kiln_tet *kiln_old_tet(const kiln_mesh *mesh, const struct kiln_scratch *scratch,
                                         uint32_t index)
{
    return (const kiln_tet *)kiln_old_image(mesh, scratch, index);
}

/* The info rows are still R's where slots are shared, so those are read from the log. */
KILN_INLINE kiln_tet_info kiln_old_info(const kiln_mesh *mesh, const struct kiln_scratch *scratch,
                                        uint32_t index)
{
    kiln_tet_info info;
    memcpy(&info, kiln_old_image(mesh, scratch, index) + sizeof(kiln_tet) / 4, sizeof info);
    return info;
}

#endif
