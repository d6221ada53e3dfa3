/* Inside of the reversible refinement, shared by refine*.c only. */
#ifndef KILN_REMESH_REFINE_IMPL_H
#define KILN_REMESH_REFINE_IMPL_H

#include "mesh/replace.h"
#include "mesh/walk.h"
#include "remesh/refine.h"

/* One replacement under construction, with the words of what comes. */
typedef struct kiln_refine_plan {
    kiln_u32_array old;
    KILN_ARRAY_OF(kiln_new_tet)
    fresh;
    KILN_ARRAY_OF(kiln_refine_word)
    words; /* [fresh] */
    KILN_ARRAY_OF(kiln_new_face)
    faces;
    kiln_u32_array made; /* [fresh] */
    uint32_t flags;
    bool mixes; /* every new tet overlaps all old ones */
    /* Marks that may go with KILN_CAVITY_FEATURES, because their likes come: those of these edges
     * and of faces with one of them; those of faces without one of the apexes, if there are any. */
    uint32_t spent[3][2], apex[2], spent_count, apex_count;
} kiln_refine_plan;

typedef struct kiln_wanted_change {
    uint32_t tet;
    uint8_t before;
} kiln_wanted_change;

struct kiln_refiner {
    kiln_mesh *mesh;
    size_t column; /* of the words among the fields of tets */
    kiln_refine_plan plan;
    kiln_u32_array ring;
    kiln_walker walker;
    kiln_refine_choice willing; /* tets that may be undone */

    /* [tet] 1 where a request wants more, handed on by overlap; empty between requests. */
    KILN_ARRAY_OF(uint8_t)
    wanted;
    KILN_ARRAY_OF(kiln_wanted_change)
    wanted_log; /* since the begin of the transaction */
};

#define KILN_REFUSE_UNLESS(call)                                                                   \
    do {                                                                                           \
        kiln_verdict verdict_ = (call);                                                            \
        if (verdict_ != KILN_ACCEPTED)                                                             \
            return verdict_;                                                                       \
    } while (0)

/* Marks of one face or edge, as bits at its shifts with number 0. */
#define KILN_ONE_FACE (1u << KILN_MARK_REQUIRED_FACE | 1u << KILN_MARK_SPLIT_FACE)
#define KILN_ONE_EDGE (1u << KILN_MARK_FEATURE_EDGE | 1u << KILN_MARK_REQUIRED_EDGE)

KILN_INLINE uint32_t kiln_marks_of_face(const kiln_mesh *mesh, uint32_t tet, uint32_t face)
{
    return (mesh->info[tet].marks >> face) & KILN_ONE_FACE;
}
KILN_INLINE uint32_t kiln_marks_of_edge(const kiln_mesh *mesh, uint32_t tet, uint32_t corner_a,
                                        uint32_t corner_b)
{
    return (mesh->info[tet].marks >> kiln_edge_of[corner_a][corner_b]) & KILN_ONE_EDGE;
}

KILN_INLINE kiln_refine_word kiln_word_of(const kiln_refiner *r, uint32_t tet)
{
    const kiln_field *field = &r->mesh->table[KILN_ON_TET].fields.data[r->column];
    return ((const kiln_refine_word *)field->data)[tet];
}
KILN_INLINE bool kiln_is_at(const kiln_refiner *r, uint32_t tet, uint32_t generation)
{
    kiln_refine_word word = kiln_word_of(r, tet);
    return kiln_word_known(word) && kiln_word_generation(word) == generation;
}

/* Slots of a tet in state 2 (also of the middle tet that C makes of it): the ends of the edge that
 * B made, then those of the edge that C cuts. */
typedef struct kiln_refine_slots {
    uint32_t a, b, u, v;
} kiln_refine_slots;
kiln_refine_slots kiln_refine_slots_of(uint32_t code);

/* The mean of 3 or 4 points, summed from the smallest: the same for any order of them. */
kiln_vec3 kiln_refine_mean(const kiln_vec3 *positions, const uint32_t *v, int count);
/* (2 near + far) / 3 */
kiln_vec3 kiln_refine_third(kiln_vec3 near, kiln_vec3 far);

/* Empties the plan, with room for that many tets and surface faces. */
kiln_verdict kiln_plan_begin(kiln_refiner *r, size_t old, size_t fresh, size_t faces);
void kiln_plan_take(kiln_refiner *r, uint32_t tet);
/* A new tet of the old one `parent`, in its place or (slot = KILN_NONE) anywhere; returns its
 * index. Marks are those of edges and faces that the old tets do not have. */
uint32_t kiln_plan_put(kiln_refiner *r, const uint32_t v[4], uint32_t parent, uint32_t slot,
                       kiln_refine_word word, uint32_t marks);
/* A surface face of a new tet that comes from the record; its first heir keeps the record. */
void kiln_plan_face(kiln_refiner *r, uint32_t index, uint32_t face, uint32_t record, bool first);
/* The marks of this edge go over to others. */
void kiln_plan_spend(kiln_refiner *r, uint32_t a, uint32_t b);
/* KILN_REFUSED_FEATURE when a mark would be lost. */
kiln_verdict kiln_plan_apply(kiln_refiner *r, kiln_txn *txn);

#endif
