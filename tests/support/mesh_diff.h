/* kiln_changes by comparison: notes what a mesh is, wears it by random changes, and says which rows
 * are others. Only those that must be listed are, whatever makes the lists in earnest. */
#ifndef KILN_TESTS_MESH_DIFF_H
#define KILN_TESTS_MESH_DIFF_H

#include "base/hash.h"
#include "fixtures.h"
#include "mesh/close_ranks.h"
#include "support.h"
#include "topology/split.h"

#include <stdlib.h>
#include <string.h>

typedef struct mesh_note {
    uint32_t rows[KILN_WHERE_COUNT];
    kiln_vec3 *u;
    uint64_t *star; /* [vertex] hash of the corners of its tets, in any order */
    uint32_t (*tet)[4];
    uint64_t *face; /* [face] hash of its corners, in any order */
} mesh_note;

static inline uint64_t mesh_note_corners(const uint32_t *v, int count)
{
    uint64_t sum = 0;
    for (int k = 0; k < count; k++)
        sum += kiln_hash_mix(v[k] + 1);
    return kiln_hash_mix(sum);
}

static inline mesh_note mesh_note_take(const kiln_mesh *mesh)
{
    mesh_note note = {0};
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        ck_assert_uint_eq(mesh->table[where].used, mesh->table[where].live);
        note.rows[where] = (uint32_t)mesh->table[where].used;
    }
    note.u = malloc(note.rows[KILN_ON_VERTEX] * sizeof *note.u);
    note.star = calloc(note.rows[KILN_ON_VERTEX], sizeof *note.star);
    note.tet = malloc(note.rows[KILN_ON_TET] * sizeof *note.tet);
    note.face = malloc(note.rows[KILN_ON_FACE] * sizeof *note.face);
    memcpy(note.u, mesh->u, note.rows[KILN_ON_VERTEX] * sizeof *note.u);
    for (uint32_t t = 0; t < note.rows[KILN_ON_TET]; t++) {
        memcpy(note.tet[t], mesh->tet[t].v, sizeof *note.tet);
        for (int k = 0; k < 4; k++)
            note.star[note.tet[t][k]] += mesh_note_corners(note.tet[t], 4);
    }
    for (uint32_t f = 0; f < note.rows[KILN_ON_FACE]; f++) {
        uint32_t at = mesh->face[f].at, v[3];
        for (int k = 0; k < 3; k++)
            v[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
        note.face[f] = mesh_note_corners(v, 3);
    }
    return note;
}

static inline void mesh_note_free(mesh_note *note)
{
    free(note->u);
    free(note->star);
    free(note->tet);
    free(note->face);
}

static inline bool mesh_note_differs(const mesh_note *a, const mesh_note *b, kiln_where where,
                                     uint32_t row)
{
    if (row >= a->rows[where])
        return true;
    if (where == KILN_ON_FACE)
        return a->face[row] != b->face[row];
    if (where == KILN_ON_VERTEX)
        return a->star[row] != b->star[row] || memcmp(&a->u[row], &b->u[row], sizeof *a->u) != 0;
    if (memcmp(a->tet[row], b->tet[row], sizeof *a->tet) != 0)
        return true;
    for (int k = 0; k < 4; k++) /* reshaped */
        if (memcmp(&a->u[a->tet[row][k]], &b->u[a->tet[row][k]], sizeof *a->u) != 0)
            return true;
    return false;
}

static inline void mesh_list(const kiln_mesh *mesh, const uint8_t *marked, uint32_t rows,
                             kiln_u32_array *list)
{
    list->count = 0;
    for (uint32_t row = 0; row < rows; row++)
        if (marked[row])
            ck_assert_int_eq(kiln_array_push(mesh->context, list, row, NULL), KILN_OK);
}

static inline void mesh_list_around(const kiln_mesh *mesh, const uint8_t *vertex, uint8_t *tet,
                                    kiln_u32_array *list)
{
    uint32_t tets = mesh->table[KILN_ON_TET].used;
    memset(tet, 0, tets);
    for (uint32_t t = 0; t < tets; t++)
        for (int k = 0; k < 4 && kiln_tet_live(mesh, t); k++)
            tet[t] |= vertex[mesh->tet[t].v[k]];
    mesh_list(mesh, tet, tets, list);
}

/* What follows from the rows and from the corners of the tets then, `stride` bytes apart. */
static inline void mesh_tie(kiln_changes *changes, const kiln_mesh *mesh, const void *corners,
                            size_t stride)
{
    uint32_t vertices = mesh->table[KILN_ON_VERTEX].used, tets = mesh->table[KILN_ON_TET].used;
    uint32_t before = changes->before[KILN_ON_TET], most = tets > before ? tets : before;
    uint8_t *tet = calloc(most + 1, 1), *vertex = calloc(vertices + 1, 1);
    for (uint32_t t = 0; t < most; t++) {
        const uint32_t *then = (const uint32_t *)(const void *)((const char *)corners + t * stride);
        const uint32_t *now = mesh->tet[t].v;
        bool was = t < before && then[0] != KILN_NONE, is = t < tets && kiln_tet_live(mesh, t);
        if (!was && !is)
            continue;
        if (was && is && memcmp(then, now, 4 * sizeof *now) == 0)
            continue;
        tet[t] = 1;
        for (int k = 0; k < 4; k++) {
            if (was && then[k] < vertices && kiln_vertex_live(mesh, then[k]))
                vertex[then[k]] = 1;
            if (is)
                vertex[now[k]] = 1;
        }
    }
    mesh_list(mesh, tet, tets, &changes->retied_tets);
    mesh_list(mesh, vertex, vertices, &changes->retied_vertices);
    mesh_list_around(mesh, vertex, tet, &changes->around_retied);
    memset(vertex, 0, vertices);
    for (size_t i = 0; i < changes->rows[KILN_ON_VERTEX].count; i++)
        vertex[changes->rows[KILN_ON_VERTEX].data[i]] = 1;
    mesh_list_around(mesh, vertex, tet, &changes->around);
    free(tet), free(vertex);
}

/* One row in `spare` others is listed for nothing; 0: none. */
static inline void mesh_diff(const mesh_note *before, const kiln_mesh *mesh, kiln_random *random,
                             uint32_t spare, kiln_changes *changes)
{
    mesh_note now = mesh_note_take(mesh);
    kiln_changes_start(changes, mesh);
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        changes->before[where] = before->rows[where];
        for (uint32_t row = 0; row < now.rows[where]; row++)
            if (mesh_note_differs(before, &now, (kiln_where)where, row) ||
                (spare && kiln_random_below(random, spare) == 0))
                ck_assert_int_eq(kiln_array_push(mesh->context, &changes->rows[where], row, NULL),
                                 KILN_OK);
    }
    mesh_tie(changes, mesh, before->tet, sizeof *before->tet);
    mesh_note_free(&now);
}

/* The splits that were last and can be taken back. Zero-initialise. */
typedef struct mesh_splits {
    kiln_split split[16];
} mesh_splits;

static inline void mesh_close_ranks(kiln_mesh *mesh)
{
    kiln_row_moves moved[KILN_WHERE_COUNT] = {0};
    kiln_txn txn = kiln_txn_begin(mesh);
    kiln_verdict verdict = kiln_txn_close_ranks(&txn, moved);
    ck_assert_int_eq(kiln_txn_settle(&txn, verdict), KILN_ACCEPTED);
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        kiln_array_free(mesh->context, &moved[where]);
}

/* Two faces change rows, and nothing else does. */
static inline void mesh_swap_faces(kiln_mesh *mesh, kiln_random *random)
{
    uint32_t row[2];
    for (int i = 0; i < 2; i++)
        row[i] = kiln_random_below(random, (uint32_t)mesh->table[KILN_ON_FACE].used);
    kiln_face first = mesh->face[row[0]];
    mesh->face[row[0]] = mesh->face[row[1]];
    mesh->face[row[1]] = first;
    for (int i = 0; i < 2; i++) {
        uint32_t at = mesh->face[row[i]].at;
        mesh->tet[at / 4].n[at % 4] = KILN_LINK_SURFACE + row[i];
    }
}

/* Takes back half of the splits, tries random changes (up to `size` for moves), closes ranks and
 * splits again: rows come, go and change their numbers. */
static inline void mesh_wear(kiln_mesh *mesh, kiln_random *random, mesh_splits *splits, int tries,
                             double size, bool holes)
{
    enum { SPLITS = sizeof splits->split / sizeof *splits->split };
    for (int i = 0; i < SPLITS + tries; i++) {
        kiln_txn txn = kiln_txn_begin(mesh);
        kiln_verdict verdict = KILN_REFUSED_DEAD;
        if (i >= SPLITS)
            verdict = kiln_test_change(&txn, random, size, holes);
        else if (splits->split[i].count > 0 && kiln_random_below(random, 2))
            verdict = kiln_unsplit(&txn, &splits->split[i]);
        kiln_txn_settle(&txn, verdict);
    }
    mesh_close_ranks(mesh);
    mesh_swap_faces(mesh, random);
    for (uint32_t i = 0, more = kiln_random_below(random, SPLITS); i < SPLITS; i++) {
        const uint32_t corners[2] = {0, 1},
                       t = kiln_random_below(random, (uint32_t)mesh->table[KILN_ON_TET].used);
        kiln_txn txn = kiln_txn_begin(mesh);
        kiln_verdict verdict = i < more ? kiln_split_middle(&txn, t, corners, 2, &splits->split[i])
                                        : KILN_REFUSED_DEAD;
        if (kiln_txn_settle(&txn, verdict) != KILN_ACCEPTED)
            splits->split[i].count = 0;
    }
}

#endif
