#include "mesh/close_ranks.h"
#include "base/assert.h"
#include "mesh/replace_impl.h"

#include <stdlib.h>
#include <string.h>

typedef struct closing {
    kiln_mesh *mesh;
    kiln_row_moves *moved;               /* [where] */
    uint32_t given_up[KILN_WHERE_COUNT]; /* rows past the new length */
    kiln_u32_array star, star_end; /* of the vertices that move: all tets, [move] where they end */
} closing;

static int compare_holes(const void *left, const void *right)
{
    const kiln_row_move *a = left, *b = right;
    return (a->to > b->to) - (a->to < b->to);
}

/* The holes below the new length, and as many live rows at or past it. */
static kiln_status pair_rows(closing *c, kiln_where where)
{
    const kiln_mesh *mesh = c->mesh;
    const kiln_table *table = &mesh->table[where];
    kiln_row_moves *moves = &c->moved[where];
    c->given_up[where] = table->used - table->live;
    KILN_TRY(kiln_array_reserve(mesh->context, moves, c->given_up[where], NULL));
    for (uint32_t row = table->free; row != KILN_NONE; row = kiln_row_next_free(mesh, where, row))
        if (row < table->live)
            moves->data[moves->count++].to = row;
    if (moves->count > 1)
        qsort(moves->data, moves->count, sizeof *moves->data, compare_holes);
    size_t next = 0;
    for (uint32_t row = table->live; row < table->used; row++)
        if (kiln_row_live(mesh, where, row))
            moves->data[next++].from = row;
    KILN_ASSERT_OP(next, ==, moves->count);
    return KILN_OK;
}

static kiln_status gather_stars(closing *c)
{
    const kiln_row_moves *moves = &c->moved[KILN_ON_VERTEX];
    kiln_context *context = c->mesh->context;
    kiln_walker *walker = &c->mesh->scratch->walker;
    KILN_TRY(kiln_array_reserve(context, &c->star_end, moves->count, NULL));
    for (size_t i = 0; i < moves->count; i++) {
        KILN_TRY(kiln_star(c->mesh, moves->data[i].from, walker, NULL));
        size_t end = c->star.count + walker->tets.count;
        KILN_TRY(kiln_array_reserve(context, &c->star, end, NULL));
        memcpy(c->star.data + c->star.count, walker->tets.data,
               walker->tets.count * sizeof(uint32_t));
        c->star.count = end;
        c->star_end.data[c->star_end.count++] = (uint32_t)end;
    }
    return KILN_OK;
}

static kiln_status plan(closing *c)
{
    size_t images[KILN_WHERE_COUNT];
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        KILN_TRY(pair_rows(c, (kiln_where)where));
        images[where] = c->moved[where].count + c->given_up[where];
    }
    KILN_TRY(gather_stars(c));
    /* Of a tet four links, four anchors and the part; of a face one link and the part. */
    size_t words = c->moved[KILN_ON_VERTEX].count + 9 * c->moved[KILN_ON_TET].count +
                   2 * c->moved[KILN_ON_FACE].count;
    return kiln_journal_reserve(c->mesh, images[KILN_ON_VERTEX],
                                images[KILN_ON_TET] + c->star.count, images[KILN_ON_FACE], words,
                                NULL);
}

/* The table ends after its live rows from here on. What lies past the end and what the holes held
 * is logged; rows past the end are still read until their contents have moved. */
static void give_up_rows(closing *c, kiln_where where)
{
    kiln_table *table = &c->mesh->table[where];
    const kiln_row_moves *moves = &c->moved[where];
    for (uint32_t row = table->live; row < table->used; row++)
        kiln_journal_row(c->mesh, where, row);
    for (size_t i = 0; i < moves->count; i++)
        kiln_journal_row(c->mesh, where, moves->data[i].to);
    table->used = table->live;
    table->free = KILN_NONE;
}

static void copy_row(kiln_table *table, kiln_row_move move)
{
    for (size_t k = 0; k < table->fields.count; k++) {
        const kiln_field *field = &table->fields.data[k];
        memcpy(field->data + (size_t)move.to * field->stride,
               field->data + (size_t)move.from * field->stride, field->stride);
    }
}

/* What was cached by row is void. */
static void stamp_part(kiln_mesh *mesh, uint32_t tet)
{
    kiln_cavity_count(mesh, mesh->info[tet].part, 0, 0.0);
}

static void move_vertex(kiln_mesh *mesh, kiln_row_move move, const uint32_t *star, size_t count)
{
    copy_row(&mesh->table[KILN_ON_VERTEX], move);
    for (size_t i = 0; i < count; i++) {
        kiln_tet *tet = &mesh->tet[star[i]];
        kiln_journal_row(mesh, KILN_ON_TET, star[i]);
        tet->v[kiln_tet_corner(tet, move.from)] = move.to;
    }
    stamp_part(mesh, star[0]);
}

/* One after the other: a neighbour that moves too has its link told where it is then. */
static void move_tet(kiln_mesh *mesh, kiln_row_move move)
{
    copy_row(&mesh->table[KILN_ON_TET], move);
    const kiln_tet *tet = &mesh->tet[move.to];
    for (uint32_t k = 0; k < 4; k++) {
        kiln_link link = tet->n[k], here = kiln_link_to(move.to, k);
        if (kiln_link_is_surface(link))
            kiln_journal_set(mesh, KILN_WORD_FACE_AT, link - KILN_LINK_SURFACE, here);
        else
            kiln_journal_set(mesh, KILN_WORD_LINK, link, here);
        if (mesh->vertex[tet->v[k]].tet == move.from)
            kiln_journal_set(mesh, KILN_WORD_ANCHOR, tet->v[k], move.to);
    }
    stamp_part(mesh, move.to);
}

static void move_face(kiln_mesh *mesh, kiln_row_move move)
{
    copy_row(&mesh->table[KILN_ON_FACE], move);
    uint32_t at = mesh->face[move.to].at;
    kiln_journal_set(mesh, KILN_WORD_LINK, at, KILN_LINK_SURFACE + move.to);
    stamp_part(mesh, at / 4);
}

/* Vertices first, while the tets in their stars have the numbers they had. */
static void apply(closing *c)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        give_up_rows(c, (kiln_where)where);
    const kiln_row_moves *moved = c->moved;
    for (size_t i = 0, begin = 0; i < moved[KILN_ON_VERTEX].count; begin = c->star_end.data[i++])
        move_vertex(c->mesh, moved[KILN_ON_VERTEX].data[i], c->star.data + begin,
                    c->star_end.data[i] - begin);
    for (size_t i = 0; i < moved[KILN_ON_TET].count; i++)
        move_tet(c->mesh, moved[KILN_ON_TET].data[i]);
    for (size_t i = 0; i < moved[KILN_ON_FACE].count; i++)
        move_face(c->mesh, moved[KILN_ON_FACE].data[i]);
}

/* Between replacements of a transaction stars may be in pieces and vertices without tets. */
static bool stars_are_whole(const kiln_mesh *mesh)
{
    if (kiln_star_count(mesh) > 0)
        return false;
    const kiln_u32_array *added = &mesh->journal->added;
    for (size_t i = 0; i < added->count; i++)
        if (kiln_vertex_live(mesh, added->data[i]) && mesh->vertex[added->data[i]].tet == KILN_NONE)
            return false;
    return true;
}

kiln_verdict kiln_txn_close_ranks(kiln_txn *txn, kiln_row_moves moved[KILN_WHERE_COUNT])
{
    kiln_mesh *mesh = txn->mesh;
    KILN_ASSERT_OP(kiln_txn_depth(mesh), ==, txn->depth);
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        moved[where].count = 0;
    if (!stars_are_whole(mesh))
        return KILN_REFUSED_NON_MANIFOLD;
    closing c = {.mesh = mesh, .moved = moved};
    kiln_status status = plan(&c);
    if (status == KILN_OK)
        apply(&c);
    kiln_array_free(mesh->context, &c.star);
    kiln_array_free(mesh->context, &c.star_end);
    for (int where = 0; where < KILN_WHERE_COUNT && status != KILN_OK; where++)
        moved[where].count = 0;
    return status == KILN_OK ? KILN_ACCEPTED : KILN_REFUSED_MEMORY;
}
