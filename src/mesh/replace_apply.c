/* Writing a legal cavity into the mesh. Everything was reserved: nothing here can fail. */
#include "mesh/replace_impl.h"
#include "mesh/journal_impl.h"

#include <string.h>

/* Does a new tet take the number of the i-th of R by naming it? */
static bool is_named(const kiln_cavity *cavity, const struct kiln_scratch *scratch, uint32_t i)
{
    if (KILN_UNLIKELY(cavity->old_count > KILN_FEW_TETS))
        return (kiln_idset_at(&scratch->old_set, cavity->old[i])->value & KILN_SLOT_NAMED) != 0;
    for (uint32_t j = 0; j < cavity->fresh_count; j++)
        if (cavity->fresh[j].slot == cavity->old[i])
            return true;
    return false;
}

/* New tets take the slots they name, then R's others in order, then free ones, then new ones. What
 * is left of R goes to the free list. Every row is logged once, R's first. */
static void give_slots(kiln_mesh *mesh, const kiln_cavity *cavity, struct kiln_scratch *scratch)
{
    kiln_table *table = &mesh->table[KILN_ON_TET];
    for (uint32_t i = 0; i < cavity->old_count; i++)
        kiln_journal_row(mesh, KILN_ON_TET, cavity->old[i]);
    uint32_t named = 0;
    for (uint32_t i = 0; i < cavity->fresh_count; i++) {
        scratch->number.data[i] = cavity->fresh[i].slot;
        named += cavity->fresh[i].slot != KILN_NONE;
    }
    uint32_t next_old = 0;
    for (uint32_t i = 0; i < cavity->fresh_count; i++) {
        if (scratch->number.data[i] != KILN_NONE)
            continue;
        uint32_t slot = KILN_NONE;
        while (slot == KILN_NONE && next_old < cavity->old_count) {
            if (!named || !is_named(cavity, scratch, next_old))
                slot = cavity->old[next_old];
            next_old++;
        }
        if (slot == KILN_NONE && table->free != KILN_NONE) {
            slot = table->free;
            kiln_journal_row(mesh, KILN_ON_TET, slot);
            table->free = mesh->tet[slot].v[1];
        } else if (slot == KILN_NONE) {
            slot = table->used++;
        }
        scratch->number.data[i] = slot;
    }
    for (; next_old < cavity->old_count; next_old++) {
        uint32_t slot = cavity->old[next_old];
        if (named && is_named(cavity, scratch, next_old))
            continue;
        mesh->tet[slot].v[0] = KILN_NONE;
        mesh->tet[slot].v[1] = table->free;
        table->free = slot;
    }
    table->live += cavity->fresh_count - cavity->old_count;
}

static uint32_t take_face(kiln_mesh *mesh)
{
    kiln_table *table = &mesh->table[KILN_ON_FACE];
    uint32_t face = table->free;
    if (face == KILN_NONE) {
        face = table->used++;
    } else {
        kiln_journal_row(mesh, KILN_ON_FACE, face);
        table->free = mesh->face[face].twin;
    }
    table->live++;
    return face;
}

static void free_face(kiln_mesh *mesh, uint32_t face)
{
    kiln_table *table = &mesh->table[KILN_ON_FACE];
    kiln_journal_row(mesh, KILN_ON_FACE, face);
    mesh->face[face] = (kiln_face){.at = KILN_NONE, .twin = table->free};
    table->free = face;
    table->live--;
}

/* The record of a declared surface face: its parent's own when that one goes, else a new one with
 * the parent's fields. */
static uint32_t make_face(kiln_mesh *mesh, uint32_t at, int32_t tag, uint32_t parent, uint32_t twin,
                          uint32_t stamp)
{
    uint32_t face = take_face(mesh);
    const double whole = 1.0;
    kiln_table_combine(&mesh->table[KILN_ON_FACE], face, &parent, &whole, parent != KILN_NONE);
    mesh->face[face] = (kiln_face){at, tag, twin, stamp};
    return face;
}

/* The entry of a surface face that goes and nobody has taken over yet, else NULL. */
static kiln_match *find_going(const kiln_mesh *mesh, const kiln_cavity *cavity,
                              const struct kiln_scratch *scratch, uint32_t face)
{
    uint32_t at = mesh->face[face].at, key[3];
    uint32_t index = kiln_cavity_old_index(scratch, cavity, at / 4);
    if (index == cavity->old_count)
        return NULL;
    kiln_face_key(kiln_old_tet(mesh, scratch, index)->v, at % 4, key);
    kiln_match *match = kiln_match_of(scratch, key);
    bool goes = match && match->old_at != KILN_NONE && match->fresh[0] == KILN_NONE &&
                match->outside == KILN_LINK_SURFACE + face && match->declared == KILN_DECLARED_NOT;
    return goes ? match : NULL;
}

/* Surface records of R that N does not have: handed to the first new face that names them as
 * parent, else freed, after all new faces have copied their fields. */
static void settle_surface(kiln_mesh *mesh, const kiln_cavity *cavity, struct kiln_scratch *scratch)
{
    for (uint32_t i = 0; i < cavity->surface_count; i++) {
        const kiln_new_face *face = &cavity->surface[i];
        uint32_t at = kiln_link_to(scratch->number.data[face->tet], face->face);
        kiln_match *goes =
            face->parent == KILN_NONE ? NULL : find_going(mesh, cavity, scratch, face->parent);
        uint32_t record = face->parent;
        if (goes) {
            goes->declared = KILN_DECLARED_SURFACE; /* not to be freed, nor taken over again */
            kiln_journal_row(mesh, KILN_ON_FACE, record);
            mesh->face[record] = (kiln_face){at, face->tag, face->twin, mesh->face[record].stamp};
        } else {
            record = make_face(mesh, at, face->tag, face->parent, face->twin, mesh->clock);
        }
        mesh->tet[at / 4].n[at % 4] = KILN_LINK_SURFACE + record;
    }
    for (uint32_t i = 0; i < cavity->opened_count; i++) {
        const kiln_open_face *face = &cavity->opened[i];
        uint32_t record =
            make_face(mesh, face->outside, face->tag, KILN_NONE, face->twin, mesh->clock);
        kiln_journal_set_now(mesh, KILN_WORD_LINK, face->outside, KILN_LINK_SURFACE + record);
    }
    for (uint32_t i = 0; i < cavity->glued_count; i++) {
        const kiln_glue_face *face = &cavity->glued[i];
        uint32_t at = kiln_link_to(scratch->number.data[face->tet], face->face);
        const kiln_match *match =
            &scratch->table.data[scratch->fresh_slot.data[4 * face->tet + face->face]];
        if (match->old_at != KILN_NONE)
            free_face(mesh, match->outside - KILN_LINK_SURFACE);
        free_face(mesh, mesh->tet[face->outside / 4].n[face->outside % 4] - KILN_LINK_SURFACE);
        kiln_journal_set_now(mesh, KILN_WORD_LINK, face->outside, at);
        mesh->tet[at / 4].n[at % 4] = face->outside;
    }
    for (size_t k = 0; k < scratch->order.count; k++) {
        const kiln_match *match = &scratch->table.data[scratch->order.data[k]];
        if (match->old_at != KILN_NONE && match->fresh[0] == KILN_NONE &&
            kiln_link_is_surface(match->outside) && match->declared == KILN_DECLARED_NOT)
            free_face(mesh, match->outside - KILN_LINK_SURFACE);
    }
}

/* Records and links of the new tets; across matched faces the other side is told. */
static void write_tets(kiln_mesh *mesh, const kiln_cavity *cavity, struct kiln_scratch *scratch)
{
    const uint32_t *number = scratch->number.data;
    for (uint32_t i = 0; i < cavity->fresh_count; i++) {
        kiln_tet *tet = &mesh->tet[number[i]];
        memcpy(tet->v, cavity->fresh[i].v, sizeof tet->v);
        for (uint32_t f = 0; f < 4; f++) {
            const kiln_match *match = &scratch->table.data[scratch->fresh_slot.data[4 * i + f]];
            if (match->fresh[1] != KILN_NONE) {
                uint32_t other = match->fresh[match->fresh[0] == 4 * i + f];
                tet->n[f] = kiln_link_to(number[other / 4], other % 4);
            } else if (match->old_at != KILN_NONE) {
                uint32_t here = kiln_link_to(number[i], f);
                tet->n[f] = match->outside;
                if (kiln_link_is_surface(match->outside))
                    kiln_journal_set_now(mesh, KILN_WORD_FACE_AT,
                                         match->outside - KILN_LINK_SURFACE, here);
                else
                    kiln_journal_set_now(mesh, KILN_WORD_LINK, match->outside, here);
            }
        }
    }
}

void kiln_cavity_count(kiln_mesh *mesh, uint32_t part, int64_t tets, double volume)
{
    kiln_part *record = &mesh->parts.data[part];
    if (tets == 0 && volume == 0.0 && record->stamp == mesh->revision + 1)
        return;
    kiln_journal_part(mesh, part);
    record->stamp = mesh->revision + 1;
    record->tets = (uint32_t)(record->tets + tets);
    record->volume += volume;
}

/* Region and part of a new tet. N lies where R was; injected tets start a part of their own, which
 * the outermost commit joins with what they are glued to. */
static kiln_tet_info inherited_info(kiln_mesh *mesh, const kiln_cavity *cavity,
                                    const struct kiln_scratch *scratch, uint32_t parent,
                                    uint32_t *made)
{
    uint32_t index = kiln_cavity_old_index(scratch, cavity, parent);
    if (index < cavity->old_count)
        return kiln_old_info(mesh, scratch, index);
    kiln_tet_info info = {0};
    if (parent != KILN_NONE)
        info = mesh->info[parent];
    if (cavity->old_count > 0) {
        info.part = kiln_old_info(mesh, scratch, 0).part;
    } else {
        if (*made == KILN_NONE) {
            *made = (uint32_t)mesh->parts.count++;
            uint32_t body = parent == KILN_NONE ? *made : mesh->parts.data[info.part].body;
            mesh->parts.data[*made] = (kiln_part){.body = body};
        }
        info.part = *made;
    }
    return info;
}

/* Counts go part by part; nearly always all of R and N is in one. */
static void write_info(kiln_mesh *mesh, const kiln_cavity *cavity, struct kiln_scratch *scratch)
{
    uint32_t common = cavity->old_count ? kiln_old_info(mesh, scratch, 0).part : KILN_NONE;
    uint32_t made = KILN_NONE;
    int64_t change = 0;
    for (uint32_t i = 0; i < cavity->old_count; i++) {
        uint32_t part = kiln_old_info(mesh, scratch, i).part;
        if (part == common)
            change--;
        else
            kiln_cavity_count(mesh, part, -1, 0.0);
    }
    for (uint32_t i = 0; i < cavity->fresh_count; i++) {
        kiln_tet_info info = inherited_info(mesh, cavity, scratch, cavity->fresh[i].parent, &made);
        info.marks = scratch->marks.data[i];
        info.changed = mesh->clock;
        mesh->info[scratch->number.data[i]] = info;
        if (info.part == common)
            change++;
        else
            kiln_cavity_count(mesh, info.part, 1, 0.0);
    }
    if (common != KILN_NONE)
        kiln_cavity_count(mesh, common, change, 0.0);
}

static void free_vertex(kiln_mesh *mesh, uint32_t vertex)
{
    kiln_table *table = &mesh->table[KILN_ON_VERTEX];
    kiln_journal_row(mesh, KILN_ON_VERTEX, vertex);
    uint32_t listed = mesh->vertex[vertex].flags & KILN_VERTEX_LISTED;
    mesh->vertex[vertex] = (kiln_vertex_info){
        .tet = KILN_NONE, .flags = KILN_VERTEX_DEAD | listed, .tag = (int32_t)table->free};
    table->free = vertex;
    table->live--;
}

/* Vertices anchored in R get another tet: one of N, or of their list. A vertex that no tet has any
 * more is freed; in a matched cavity that is one that N lacks, for its star was all of R. */
static void settle_anchors(kiln_mesh *mesh, const kiln_cavity *cavity, struct kiln_scratch *scratch)
{
    for (uint32_t i = 0; i < cavity->old_count; i++)
        for (int k = 0; k < 4; k++) {
            uint32_t vertex = kiln_old_tet(mesh, scratch, i)->v[k];
            if (KILN_LIKELY(mesh->vertex[vertex].tet != cavity->old[i]))
                continue;
            uint32_t with = kiln_cavity_fresh_with(cavity, scratch, vertex);
            uint32_t anchor = with == KILN_NONE ? KILN_NONE : scratch->number.data[with];
            if (anchor == KILN_NONE && kiln_star_listed(mesh, vertex) &&
                kiln_star_list(mesh, vertex)->count > 0)
                anchor = kiln_star_list(mesh, vertex)->data[0];
            if (anchor != KILN_NONE)
                kiln_journal_set_now(mesh, KILN_WORD_ANCHOR, vertex, anchor);
            else
                free_vertex(mesh, vertex);
        }
    if (mesh->journal->added.count == 0)
        return;
    for (uint32_t i = 0; i < cavity->fresh_count; i++)
        for (int k = 0; k < 4; k++)
            if (mesh->vertex[cavity->fresh[i].v[k]].tet == KILN_NONE)
                kiln_journal_set_now(mesh, KILN_WORD_ANCHOR, cavity->fresh[i].v[k],
                                     scratch->number.data[i]);
}

void kiln_cavity_apply(kiln_mesh *mesh, const kiln_cavity *cavity, struct kiln_scratch *scratch,
                       bool general)
{
    mesh->clock++;
    scratch->image_start = kiln_journal_position(mesh);
    give_slots(mesh, cavity, scratch);
    write_tets(mesh, cavity, scratch);
    write_info(mesh, cavity, scratch);
    if (mesh->table[KILN_ON_TET].fields.count > 2)
        kiln_cavity_hand_on_fields(mesh, cavity, scratch);
    if (scratch->outline_changes) {
        settle_surface(mesh, cavity, scratch);
        mesh->journal->openings += cavity->surface_count + cavity->opened_count;
        mesh->journal->gluings += cavity->glued_count;
    }
    if (general)
        kiln_cavity_update_stars(mesh, cavity, scratch);
    settle_anchors(mesh, cavity, scratch);
    if (general)
        kiln_cavity_update_flags(mesh, scratch);
    if (scratch->outline_changes)
        kiln_cavity_book_volume(mesh, cavity, scratch);
}
