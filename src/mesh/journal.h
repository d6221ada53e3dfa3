/* The undo log, the begin-of-step archive and the star lists.
 *
 * Undo: before a row or a word of the mesh is overwritten, its old contents go to the log; rolling
 * back restores them newest first, so the mesh is bitwise what it was at the mark, free lists and
 * numbers included. Marks nest without limit.
 *
 *     begin ---- change* ----> commit    depth 1: forget the log; deeper: keep it for the outer one
 *                    \-------> rollback  restore to the mark
 *
 * Archive: while a pass is open, the first old contents of each row are kept besides, so the mesh
 * as it was at the begin of the pass stays walkable and the whole pass can be rolled back.
 *
 * Stars: inside a transaction a vertex's star may fall apart (cracks, merges). Such vertices carry
 * the list of their tets; the lists go at the outermost commit, which demands manifold stars.
 *
 * Capacity is reserved before anything is written; writing to the log and undoing cannot fail. */
#ifndef KILN_MESH_JOURNAL_H
#define KILN_MESH_JOURNAL_H

#include "mesh/mesh.h"

/* Single words of core columns that are logged without their row. */
typedef enum kiln_word {
    KILN_WORD_LINK, /* indexed by tet*4+face */
    KILN_WORD_ANCHOR,
    KILN_WORD_VERTEX_FLAGS,
    KILN_WORD_VERTEX_TAG,
    KILN_WORD_VERTEX_TWIN,
    KILN_WORD_FACE_AT,
    KILN_WORD_FACE_TAG,
    KILN_WORD_FACE_TWIN,
    KILN_WORD_TET_MARKS,
    KILN_WORD_TET_REGION,
    KILN_WORD_TET_PART,
    KILN_WORD_TET_CHANGED,
    KILN_WORD_COUNT
} kiln_word;

kiln_status kiln_journal_create(kiln_context *context, struct kiln_journal **out,
                                kiln_error *error);
void kiln_journal_destroy(kiln_context *context, struct kiln_journal *journal);

/* Room for that many row images of each kind and single words. */
kiln_status kiln_journal_reserve(kiln_mesh *mesh, size_t vertices, size_t tets, size_t faces,
                                 size_t words, kiln_error *error);

/* Log, then the caller may overwrite. */
void kiln_journal_row(kiln_mesh *mesh, kiln_where where, uint32_t row);
void kiln_journal_part(kiln_mesh *mesh, uint32_t part);
/* Logs the word and writes `value`. */
void kiln_journal_set(kiln_mesh *mesh, kiln_word word, uint32_t index, uint32_t value);

/* Where the log ends now, and the image of the index-th of several rows of one table that were
 * logged one after the other from there. */
size_t kiln_journal_position(const kiln_mesh *mesh);
const uint32_t *kiln_journal_image(const kiln_mesh *mesh, size_t start, kiln_where where,
                                   size_t index);

/* Star lists, sorted by tet number. */
bool kiln_star_listed(const kiln_mesh *mesh, uint32_t vertex);
const kiln_u32_array *kiln_star_list(const kiln_mesh *mesh, uint32_t vertex);
/* Starts a list for a vertex that has none. Reserves what it needs. */
kiln_status kiln_star_start(kiln_mesh *mesh, uint32_t vertex, const uint32_t *tets, size_t count,
                            kiln_error *error);
/* Room in the log and the list for `more` insertions and the removal of any. */
kiln_status kiln_star_reserve(kiln_mesh *mesh, uint32_t vertex, size_t more, kiln_error *error);
/* Logs the list as it is; call once before a group of insertions and removals. */
void kiln_star_save(kiln_mesh *mesh, uint32_t vertex);
void kiln_star_insert(kiln_mesh *mesh, uint32_t vertex, uint32_t tet);
void kiln_star_remove(kiln_mesh *mesh, uint32_t vertex, uint32_t tet);
size_t kiln_star_count(const kiln_mesh *mesh);                  /* vertices with lists */
uint32_t kiln_star_vertex(const kiln_mesh *mesh, size_t index); /* in order of listing */

#endif
