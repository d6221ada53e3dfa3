/* Transactions: begin, try, judge, commit or roll back. They nest. */
#ifndef KILN_MESH_TXN_H
#define KILN_MESH_TXN_H

#include "mesh/mesh.h"

/* Outcome of an attempted change: a numerical result, not an error. One row: name, reason. */
#define KILN_VERDICT_TABLE(X)                                                                      \
    X(KILN_ACCEPTED, "accepted")                                                                   \
    X(KILN_REFUSED_DEAD, "a tet or vertex named is not there")                                     \
    X(KILN_REFUSED_REPEATED, "a tet or corner is named twice")                                     \
    X(KILN_REFUSED_OVERLAP, "a face would have more than two tets")                                \
    X(KILN_REFUSED_UNDECLARED, "an outside face is neither matched nor declared")                  \
    X(KILN_REFUSED_DECLARATION, "a declaration does not fit its face")                             \
    X(KILN_REFUSED_INVERTED, "a tet would not be positive in material space")                      \
    X(KILN_REFUSED_INVERTED_WORLD, "a tet would not be positive in world space")                   \
    X(KILN_REFUSED_REGION, "a region would change or an interface be lost")                        \
    X(KILN_REFUSED_FEATURE, "a feature edge or corner would be lost")                              \
    X(KILN_REFUSED_REQUIRED, "a required entity would be lost or moved")                           \
    X(KILN_REFUSED_LOCKED, "a tet is locked")                                                      \
    X(KILN_REFUSED_NON_MANIFOLD, "the result is not manifold")                                     \
    X(KILN_REFUSED_JUDGED, "it is not worth while")                                                \
    X(KILN_REFUSED_MEMORY, "out of memory")

typedef enum kiln_verdict {
#define KILN_VERDICT_ENUM(name, reason) name,
    KILN_VERDICT_TABLE(KILN_VERDICT_ENUM)
#undef KILN_VERDICT_ENUM
        KILN_VERDICT_COUNT
} kiln_verdict;

const char *kiln_verdict_reason(kiln_verdict verdict);
/* The error of a caller for whom a refusal is one: out of memory, or KILN_ERR_STATE with the
 * reason.
 */
kiln_status kiln_txn_fail(kiln_verdict verdict, kiln_error *error);

typedef struct kiln_txn {
    kiln_mesh *mesh;
    uint32_t depth; /* 1: outermost */
} kiln_txn;

uint32_t kiln_txn_depth(const kiln_mesh *mesh);

/* Reserves its mark; on failure depth is 0 and nothing was begun. */
kiln_txn kiln_txn_begin(kiln_mesh *mesh);

/* Keeps the changes. The outermost commit first demands manifold stars and then settles the parts;
 * when it is refused the transaction stays open, to be repaired or rolled back. */
kiln_verdict kiln_txn_commit(kiln_txn *txn);

/* Bitwise the mesh before begin. Cannot fail. */
void kiln_txn_rollback(kiln_txn *txn);

/* Commits when the verdict is acceptance, rolls back otherwise or when the commit is refused;
 * returns what came of it. The usual end of a compound operation. */
kiln_verdict kiln_txn_settle(kiln_txn *txn, kiln_verdict verdict);

/* A vertex without tets yet, its fields combined from `count` parents (0: zero) by their rules. It
 * must be used by a replacement before the outermost commit. KILN_NONE when out of memory. */
uint32_t kiln_txn_add_vertex(kiln_txn *txn, kiln_vec3 u, kiln_vec3 x, const uint32_t *parents,
                             const double *weights, int count);

/* The same tets with one vertex elsewhere: refused if one of its star would not be positive. The
 * change of volume at the surface is booked. */
kiln_verdict kiln_txn_move_vertex(kiln_txn *txn, uint32_t vertex, kiln_vec3 u, kiln_vec3 x);

/* Logged writes of one row of a field that is not core. */
kiln_verdict kiln_txn_write(kiln_txn *txn, kiln_where where, const kiln_field *field, uint32_t row,
                            const void *value);

/* The same value for all tets of a body, e.g. refinement words back to zero (rebase). */
kiln_verdict kiln_txn_fill_body(kiln_txn *txn, uint32_t body, const kiln_field *field,
                                const void *value);

/* Logged attributes. Marks of an edge or face go to all tets that have it. */
kiln_verdict kiln_txn_set_region(kiln_txn *txn, uint32_t tet, int32_t region);
kiln_verdict kiln_txn_set_face_tag(kiln_txn *txn, uint32_t face, int32_t tag);
/* It is no side of a crack any more: what was opened has parted, and need not change as its other
 * side does. */
kiln_verdict kiln_txn_part_face(kiln_txn *txn, uint32_t face);
kiln_verdict kiln_txn_set_vertex(kiln_txn *txn, uint32_t vertex, uint32_t set, uint32_t clear);
kiln_verdict kiln_txn_mark_tet(kiln_txn *txn, uint32_t tet, uint32_t set, uint32_t clear);
kiln_verdict kiln_txn_mark_face(kiln_txn *txn, uint32_t tet, uint32_t face, int shift, bool on);
kiln_verdict kiln_txn_mark_edge(kiln_txn *txn, uint32_t tet, uint32_t edge, int shift, bool on);

/* The begin-of-step archive: begin and end (or rollback) outside any transaction. */
kiln_status kiln_archive_begin(kiln_mesh *mesh, kiln_error *error);
void kiln_archive_end(kiln_mesh *mesh);
void kiln_archive_rollback(kiln_mesh *mesh); /* bitwise the mesh at archive_begin; ends the pass */
bool kiln_archive_active(const kiln_mesh *mesh);

/* The mesh as it was at archive_begin; rows must have been live then. Field values by pointer into
 * the archive or the live column, valid until the next change. */
uint32_t kiln_archive_rows(const kiln_mesh *mesh, kiln_where where);
const kiln_tet *kiln_archive_tet(const kiln_mesh *mesh, uint32_t tet);
kiln_vec3 kiln_archive_u(const kiln_mesh *mesh, uint32_t vertex);
kiln_vec3 kiln_archive_x(const kiln_mesh *mesh, uint32_t vertex);
void kiln_archive_value(const kiln_mesh *mesh, kiln_where where, const kiln_field *field,
                        uint32_t row, void *value);
/* True for rows that changed or went since archive_begin. */
bool kiln_archive_touched(const kiln_mesh *mesh, kiln_where where, uint32_t row);

#endif
