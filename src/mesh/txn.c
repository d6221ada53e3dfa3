#include "mesh/txn.h"
#include "base/assert.h"
#include "geom/predicates.h"
#include "mesh/journal_impl.h"
#include "mesh/parts.h"
#include "mesh/replace_impl.h"
#include "mesh/rewind.h"

#include <string.h>

const char *kiln_verdict_reason(kiln_verdict verdict)
{
    static const char *const reasons[KILN_VERDICT_COUNT] = {
#define VERDICT_REASON(name, reason) reason,
        KILN_VERDICT_TABLE(VERDICT_REASON)
#undef VERDICT_REASON
    };
    return reasons[verdict];
}

kiln_status kiln_txn_fail(kiln_verdict verdict, kiln_error *error)
{
    return kiln_fail(error, verdict == KILN_REFUSED_MEMORY ? KILN_ERR_MEMORY : KILN_ERR_NUMERIC,
                     NULL, 0, -1, "a change of the mesh is refused: %s",
                     kiln_verdict_reason(verdict));
}

uint32_t kiln_txn_depth(const kiln_mesh *mesh)
{
    return (uint32_t)mesh->journal->marks.count;
}

/* Stamps only have to order changes, so between transactions the clock may start anew. */
void kiln_clock_restart(kiln_mesh *mesh)
{
    if (mesh->clock <= KILN_CLOCK_LATE)
        return;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        mesh->info[t].changed = 0;
    mesh->clock = 1;
}

kiln_txn kiln_txn_begin(kiln_mesh *mesh)
{
    struct kiln_journal *journal = mesh->journal;
    if (KILN_UNLIKELY(mesh->clock > KILN_CLOCK_LATE) && journal->marks.count == 0 &&
        !journal->archive_active && !kiln_rewind_active(mesh))
        kiln_clock_restart(mesh);
    kiln_mark mark = kiln_journal_mark(mesh);
    if (kiln_array_push(mesh->context, &journal->marks, mark, NULL) != KILN_OK)
        return (kiln_txn){mesh, 0};
    return (kiln_txn){mesh, (uint32_t)journal->marks.count};
}

static kiln_verdict check_stars(kiln_mesh *mesh)
{
    const struct kiln_journal *journal = mesh->journal;
    for (size_t i = 0; i < journal->added.count; i++) {
        uint32_t vertex = journal->added.data[i];
        if (kiln_vertex_live(mesh, vertex) && mesh->vertex[vertex].tet == KILN_NONE)
            return KILN_REFUSED_NON_MANIFOLD;
    }
    for (size_t i = 0; i < kiln_star_count(mesh); i++) {
        uint32_t vertex = kiln_star_vertex(mesh, i), other;
        kiln_vertex_state state;
        if (!kiln_vertex_live(mesh, vertex))
            continue;
        if (kiln_vertex_examine(mesh, vertex, &mesh->scratch->walker, &state, &other, NULL) !=
            KILN_OK)
            return KILN_REFUSED_MEMORY;
        if (state != KILN_VERTEX_MANIFOLD)
            return KILN_REFUSED_NON_MANIFOLD;
    }
    return KILN_ACCEPTED;
}

/* Injected tets leave numbers behind when they join another part. */
static void drop_unused_parts(kiln_mesh *mesh)
{
    while (mesh->parts.count > 0 && mesh->parts.data[mesh->parts.count - 1].tets == 0)
        mesh->parts.count--;
}

kiln_verdict kiln_txn_commit(kiln_txn *txn)
{
    kiln_mesh *mesh = txn->mesh;
    struct kiln_journal *journal = mesh->journal;
    KILN_ASSERT_OP(journal->marks.count, ==, txn->depth);
    if (txn->depth == 1) {
        kiln_verdict verdict = check_stars(mesh);
        if (verdict != KILN_ACCEPTED)
            return verdict;
        if (journal->openings + journal->gluings > 0 && kiln_parts_settle(mesh, NULL) != KILN_OK)
            return KILN_REFUSED_MEMORY;
        drop_unused_parts(mesh);
        mesh->revision += journal->undo.count > journal->marks.data[0].undo;
        kiln_journal_forget(mesh);
    }
    journal->marks.count--;
    txn->depth = 0;
    return KILN_ACCEPTED;
}

void kiln_txn_rollback(kiln_txn *txn)
{
    struct kiln_journal *journal = txn->mesh->journal;
    KILN_ASSERT_OP(journal->marks.count, ==, txn->depth);
    kiln_journal_undo_to(txn->mesh, &journal->marks.data[--journal->marks.count]);
    txn->depth = 0;
}

kiln_verdict kiln_txn_settle(kiln_txn *txn, kiln_verdict verdict)
{
    if (verdict == KILN_ACCEPTED)
        verdict = kiln_txn_commit(txn);
    if (verdict != KILN_ACCEPTED)
        kiln_txn_rollback(txn);
    return verdict;
}

uint32_t kiln_txn_add_vertex(kiln_txn *txn, kiln_vec3 u, kiln_vec3 x, const uint32_t *parents,
                             const double *weights, int count)
{
    kiln_mesh *mesh = txn->mesh;
    kiln_table *table = &mesh->table[KILN_ON_VERTEX];
    struct kiln_journal *journal = mesh->journal;
    if (kiln_mesh_reserve(mesh, 1, 0, 0, NULL) != KILN_OK ||
        kiln_journal_reserve(mesh, 1, 0, 0, 0, NULL) != KILN_OK ||
        kiln_array_reserve(mesh->context, &journal->added, journal->added.count + 1, NULL) !=
            KILN_OK)
        return KILN_NONE;
    uint32_t vertex = table->free, listed = 0;
    if (vertex == KILN_NONE) {
        vertex = table->used++;
    } else {
        kiln_journal_row(mesh, KILN_ON_VERTEX, vertex);
        table->free = (uint32_t)mesh->vertex[vertex].tag;
        listed = mesh->vertex[vertex].flags & KILN_VERTEX_LISTED;
    }
    table->live++;
    kiln_table_combine(table, vertex, parents, weights, count);
    mesh->u[vertex] = u;
    mesh->x[vertex] = x;
    mesh->vertex[vertex] = (kiln_vertex_info){.tet = KILN_NONE, .flags = listed};
    journal->added.data[journal->added.count++] = vertex;
    return vertex;
}

/* Corner k of a tet as it is, or the trial place of the moving vertex. */
static kiln_vec3 trial(const kiln_vec3 *positions, uint32_t v, uint32_t moving, kiln_vec3 to)
{
    return v == moving ? to : positions[v];
}

static double trial_volume(const kiln_vec3 *positions, const uint32_t *v, uint32_t moving,
                           kiln_vec3 to)
{
    return kiln_orient3d(trial(positions, v[0], moving, to), trial(positions, v[1], moving, to),
                         trial(positions, v[2], moving, to), trial(positions, v[3], moving, to));
}

static kiln_verdict check_move(const kiln_mesh *mesh, const kiln_u32_array *star, uint32_t vertex,
                               kiln_vec3 u, kiln_vec3 x)
{
    uint32_t negative_before = 0, negative_after = 0;
    double total_before = 0.0, total_after = 0.0;
    for (size_t i = 0; i < star->count; i++) {
        const uint32_t *v = mesh->tet[star->data[i]].v;
        if (mesh->info[star->data[i]].marks & KILN_MARK_LOCKED)
            return KILN_REFUSED_LOCKED;
        if (trial_volume(mesh->u, v, vertex, u) <= 0.0)
            return KILN_REFUSED_INVERTED;
        double after = trial_volume(mesh->x, v, vertex, x);
        if (mesh->world_policy == KILN_WORLD_REJECT) {
            if (after <= 0.0)
                return KILN_REFUSED_INVERTED_WORLD;
            continue;
        }
        double before = trial_volume(mesh->x, v, vertex, mesh->x[vertex]);
        negative_before += before <= 0.0;
        negative_after += after <= 0.0;
        total_before -= before < 0.0 ? before : 0.0;
        total_after -= after < 0.0 ? after : 0.0;
    }
    return negative_after > negative_before || total_after > total_before
               ? KILN_REFUSED_INVERTED_WORLD
               : KILN_ACCEPTED;
}

static double star_volume(const kiln_mesh *mesh, const kiln_u32_array *star)
{
    double volume = 0.0;
    for (size_t i = 0; i < star->count; i++)
        volume += kiln_mesh_tet_volume(mesh, star->data[i]);
    return volume;
}

kiln_verdict kiln_txn_move_vertex(kiln_txn *txn, uint32_t vertex, kiln_vec3 u, kiln_vec3 x)
{
    kiln_mesh *mesh = txn->mesh;
    kiln_walker *walker = &mesh->scratch->walker;
    if (vertex >= mesh->table[KILN_ON_VERTEX].used || !kiln_vertex_live(mesh, vertex))
        return KILN_REFUSED_DEAD;
    if (mesh->vertex[vertex].flags & KILN_VERTEX_REQUIRED)
        return KILN_REFUSED_REQUIRED;
    if (kiln_star(mesh, vertex, walker, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    kiln_verdict verdict = check_move(mesh, &walker->tets, vertex, u, x);
    if (verdict != KILN_ACCEPTED)
        return verdict;
    if (kiln_journal_reserve(mesh, 1, 0, 0, walker->tets.count + 1, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;

    bool surface = (mesh->vertex[vertex].flags & KILN_VERTEX_SURFACE) != 0;
    double before = surface ? star_volume(mesh, &walker->tets) : 0.0;
    mesh->clock++;
    kiln_journal_row(mesh, KILN_ON_VERTEX, vertex);
    mesh->u[vertex] = u;
    mesh->x[vertex] = x;
    for (size_t i = 0; i < walker->tets.count; i++)
        kiln_journal_set(mesh, KILN_WORD_TET_CHANGED, walker->tets.data[i], mesh->clock);
    if (walker->tets.count == 0)
        return KILN_ACCEPTED;
    uint32_t part = mesh->info[walker->tets.data[0]].part;
    double change = surface ? star_volume(mesh, &walker->tets) - before : 0.0;
    kiln_journal_part(mesh, part);
    mesh->parts.data[part].stamp = mesh->revision + 1;
    mesh->parts.data[part].volume += change;
    mesh->ledger.volume_gained += change > 0.0 ? change : 0.0;
    mesh->ledger.volume_lost -= change < 0.0 ? change : 0.0;
    return KILN_ACCEPTED;
}

kiln_verdict kiln_txn_write(kiln_txn *txn, kiln_where where, const kiln_field *field, uint32_t row,
                            const void *value)
{
    kiln_mesh *mesh = txn->mesh;
    KILN_ASSERT(!field->core);
    KILN_ASSERT_OP(row, <, mesh->table[where].used);
    if (kiln_journal_reserve(mesh, where == KILN_ON_VERTEX, where == KILN_ON_TET,
                             where == KILN_ON_FACE, 0, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    kiln_journal_row(mesh, where, row);
    memcpy(field->data + (size_t)row * field->stride, value, field->stride);
    return KILN_ACCEPTED;
}

kiln_verdict kiln_txn_fill_body(kiln_txn *txn, uint32_t body, const kiln_field *field,
                                const void *value)
{
    const kiln_mesh *mesh = txn->mesh;
    kiln_verdict verdict = KILN_ACCEPTED;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used && verdict == KILN_ACCEPTED; t++)
        if (kiln_tet_live(mesh, t) && mesh->parts.data[mesh->info[t].part].body == body &&
            memcmp(field->data + (size_t)t * field->stride, value, field->stride) != 0)
            verdict = kiln_txn_write(txn, KILN_ON_TET, field, t, value);
    return verdict;
}

static kiln_verdict set_word(kiln_mesh *mesh, kiln_word word, uint32_t index, uint32_t value)
{
    if (kiln_journal_reserve(mesh, 0, 0, 0, 1, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    kiln_journal_set(mesh, word, index, value);
    return KILN_ACCEPTED;
}

/* Interface flags of the tet's corners follow from the stars. */
static kiln_verdict refresh_interface_flag(kiln_mesh *mesh, uint32_t vertex)
{
    kiln_walker *walker = &mesh->scratch->walker;
    if (kiln_star(mesh, vertex, walker, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    uint32_t flags = mesh->vertex[vertex].flags & ~(uint32_t)KILN_VERTEX_INTERFACE;
    for (size_t i = 0; i < walker->tets.count; i++) {
        const kiln_tet *tet = &mesh->tet[walker->tets.data[i]];
        for (int f = 0; f < 4; f++)
            if (tet->v[f] != vertex &&
                kiln_link_is_interface(mesh, walker->tets.data[i], tet->n[f]))
                flags |= KILN_VERTEX_INTERFACE;
    }
    return set_word(mesh, KILN_WORD_VERTEX_FLAGS, vertex, flags);
}

kiln_verdict kiln_txn_set_region(kiln_txn *txn, uint32_t tet, int32_t region)
{
    kiln_mesh *mesh = txn->mesh;
    kiln_verdict verdict = set_word(mesh, KILN_WORD_TET_REGION, tet, (uint32_t)region);
    for (int k = 0; k < 4 && verdict == KILN_ACCEPTED; k++)
        verdict = refresh_interface_flag(mesh, mesh->tet[tet].v[k]);
    return verdict;
}

kiln_verdict kiln_txn_set_face_tag(kiln_txn *txn, uint32_t face, int32_t tag)
{
    return set_word(txn->mesh, KILN_WORD_FACE_TAG, face, (uint32_t)tag);
}

kiln_verdict kiln_txn_part_face(kiln_txn *txn, uint32_t face)
{
    return set_word(txn->mesh, KILN_WORD_FACE_TWIN, face, 0);
}

kiln_verdict kiln_txn_set_vertex(kiln_txn *txn, uint32_t vertex, uint32_t set, uint32_t clear)
{
    uint32_t flags = (txn->mesh->vertex[vertex].flags & ~clear) | set;
    return set_word(txn->mesh, KILN_WORD_VERTEX_FLAGS, vertex, flags);
}

kiln_verdict kiln_txn_mark_tet(kiln_txn *txn, uint32_t tet, uint32_t set, uint32_t clear)
{
    uint32_t marks = (txn->mesh->info[tet].marks & ~clear) | set;
    return set_word(txn->mesh, KILN_WORD_TET_MARKS, tet, marks);
}

static kiln_verdict switch_mark(kiln_txn *txn, uint32_t tet, int bit, bool on)
{
    return kiln_txn_mark_tet(txn, tet, on ? 1u << bit : 0, on ? 0 : 1u << bit);
}

kiln_verdict kiln_txn_mark_face(kiln_txn *txn, uint32_t tet, uint32_t face, int shift, bool on)
{
    kiln_link link = txn->mesh->tet[tet].n[face];
    kiln_verdict verdict = switch_mark(txn, tet, shift + (int)face, on);
    if (verdict == KILN_ACCEPTED && !kiln_link_is_surface(link))
        verdict = switch_mark(txn, link / 4, shift + (int)(link % 4), on);
    return verdict;
}

kiln_verdict kiln_txn_mark_edge(kiln_txn *txn, uint32_t tet, uint32_t edge, int shift, bool on)
{
    kiln_mesh *mesh = txn->mesh;
    kiln_walker *walker = &mesh->scratch->walker;
    uint32_t a = mesh->tet[tet].v[kiln_edge_ends[edge][0]];
    uint32_t b = mesh->tet[tet].v[kiln_edge_ends[edge][1]];
    if (kiln_edge_tets(mesh, a, b, walker, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    kiln_verdict verdict = KILN_ACCEPTED;
    for (size_t i = 0; i < walker->tets.count && verdict == KILN_ACCEPTED; i++) {
        const kiln_tet *record = &mesh->tet[walker->tets.data[i]];
        int e = kiln_edge_of[kiln_tet_corner(record, a)][kiln_tet_corner(record, b)];
        verdict = switch_mark(txn, walker->tets.data[i], shift + e, on);
    }
    return verdict;
}
