#include "mesh/replace_impl.h"
#include "base/assert.h"
#include "geom/predicates.h"
#include "mesh/journal.h"

#include <string.h>

enum { FEW_TETS = 8, FIRST_TABLE = 512 };

kiln_status kiln_scratch_create(kiln_context *context, struct kiln_scratch **out, kiln_error *error)
{
    struct kiln_scratch *scratch = kiln_resize(context, NULL, 0, sizeof *scratch);
    if (!scratch)
        return kiln_fail_memory(error, sizeof *scratch);
    memset(scratch, 0, sizeof *scratch);
    kiln_walker_init(&scratch->walker, context);
    *out = scratch;
    return KILN_OK;
}

void kiln_scratch_destroy(kiln_context *context, struct kiln_scratch *scratch)
{
    if (!scratch)
        return;
    kiln_walker_free(&scratch->walker);
    kiln_array_free(context, &scratch->table);
    kiln_array_free(context, &scratch->order);
    kiln_array_free(context, &scratch->fresh_slot);
    kiln_array_free(context, &scratch->number);
    kiln_array_free(context, &scratch->marks);
    kiln_array_free(context, &scratch->vertices);
    kiln_array_free(context, &scratch->old_set.slots);
    kiln_array_free(context, &scratch->vertex_set.slots);
    kiln_array_free(context, &scratch->volumes);
    kiln_release(context, scratch, sizeof *scratch);
}

bool kiln_cavity_has_old(const struct kiln_scratch *scratch, const kiln_cavity *cavity,
                         uint32_t tet)
{
    if (cavity->old_count > FEW_TETS)
        return kiln_idset_has(&scratch->old_set, tet);
    for (uint32_t i = 0; i < cavity->old_count; i++)
        if (cavity->old[i] == tet)
            return true;
    return false;
}

/* Room for everything below, so that nothing after it can fail. */
static kiln_status reserve(kiln_mesh *mesh, const kiln_cavity *cavity)
{
    struct kiln_scratch *scratch = mesh->scratch;
    kiln_context *context = mesh->context;
    size_t old = cavity->old_count, fresh = cavity->fresh_count;
    size_t faces = cavity->surface_count + cavity->opened_count + cavity->glued_count;
    KILN_TRY(kiln_array_reserve(context, &scratch->order, 4 * (old + fresh), NULL));
    KILN_TRY(kiln_array_reserve(context, &scratch->fresh_slot, 4 * fresh, NULL));
    KILN_TRY(kiln_array_reserve(context, &scratch->number, fresh, NULL));
    KILN_TRY(kiln_array_reserve(context, &scratch->marks, fresh, NULL));
    size_t slots = scratch->table.count ? scratch->table.count : FIRST_TABLE;
    while (slots < 8 * (old + fresh))
        slots *= 2;
    if (KILN_UNLIKELY(slots > scratch->table.count || scratch->epoch == UINT32_MAX)) {
        KILN_TRY(kiln_array_reserve(context, &scratch->table, slots, NULL));
        scratch->table.count = slots;
        memset(scratch->table.data, 0, slots * sizeof *scratch->table.data);
        scratch->epoch = 0;
    }
    if (old > FEW_TETS)
        KILN_TRY(kiln_idset_clear(context, &scratch->old_set, old, NULL));
    if (KILN_UNLIKELY(mesh->table[KILN_ON_TET].used + fresh > mesh->table[KILN_ON_TET].capacity ||
                      mesh->table[KILN_ON_FACE].used + faces > mesh->table[KILN_ON_FACE].capacity))
        KILN_TRY(kiln_mesh_reserve(mesh, 0, fresh, faces, NULL));
    return kiln_journal_reserve(mesh, 4 * old, old + fresh, 4 * old + faces,
                                16 * (old + fresh) + 4 * faces + 8, NULL);
}

static kiln_verdict check_old(const kiln_mesh *mesh, const kiln_cavity *cavity,
                              struct kiln_scratch *scratch)
{
    for (uint32_t i = 0; i < cavity->old_count; i++) {
        uint32_t tet = cavity->old[i];
        if (tet >= mesh->table[KILN_ON_TET].used || !kiln_tet_live(mesh, tet))
            return KILN_REFUSED_DEAD;
        if (mesh->info[tet].marks & KILN_MARK_LOCKED)
            return KILN_REFUSED_LOCKED;
        if (cavity->old_count > FEW_TETS) {
            kiln_idset_slot *slot = kiln_idset_at(&scratch->old_set, tet);
            if (slot->epoch == scratch->old_set.epoch)
                return KILN_REFUSED_REPEATED;
            kiln_idset_add(&scratch->old_set, slot, tet, i);
            continue;
        }
        for (uint32_t j = 0; j < i; j++)
            if (cavity->old[j] == tet)
                return KILN_REFUSED_REPEATED;
    }
    return KILN_ACCEPTED;
}

static double world_volume(const kiln_mesh *mesh, const uint32_t *v)
{
    return kiln_orient3d(mesh->x[v[0]], mesh->x[v[1]], mesh->x[v[2]], mesh->x[v[3]]);
}

/* Under `tolerate` neither the number nor the total of negative world tets may grow. */
static kiln_verdict check_tolerated(const kiln_mesh *mesh, const kiln_cavity *cavity)
{
    uint32_t negative_before = 0, negative_after = 0;
    double total_before = 0.0, total_after = 0.0;
    for (uint32_t i = 0; i < cavity->old_count; i++) {
        double volume = world_volume(mesh, mesh->tet[cavity->old[i]].v);
        negative_before += volume <= 0.0;
        total_before -= volume < 0.0 ? volume : 0.0;
    }
    for (uint32_t i = 0; i < cavity->fresh_count; i++) {
        double volume = world_volume(mesh, cavity->fresh[i].v);
        negative_after += volume <= 0.0;
        total_after -= volume < 0.0 ? volume : 0.0;
    }
    return negative_after > negative_before || total_after > total_before
               ? KILN_REFUSED_INVERTED_WORLD
               : KILN_ACCEPTED;
}

static kiln_verdict check_fresh(const kiln_mesh *mesh, const kiln_cavity *cavity)
{
    uint32_t used = mesh->table[KILN_ON_VERTEX].used;
    for (uint32_t i = 0; i < cavity->fresh_count; i++) {
        const uint32_t *v = cavity->fresh[i].v;
        if (v[0] >= used || v[1] >= used || v[2] >= used || v[3] >= used ||
            (mesh->vertex[v[0]].flags | mesh->vertex[v[1]].flags | mesh->vertex[v[2]].flags |
             mesh->vertex[v[3]].flags) &
                KILN_VERTEX_DEAD)
            return KILN_REFUSED_DEAD;
        /* A repeated corner has no volume, so this refuses it too. */
        if (kiln_orient3d(mesh->u[v[0]], mesh->u[v[1]], mesh->u[v[2]], mesh->u[v[3]]) <= 0.0)
            return KILN_REFUSED_INVERTED;
        if (mesh->world_policy == KILN_WORLD_REJECT && world_volume(mesh, v) <= 0.0)
            return KILN_REFUSED_INVERTED_WORLD;
    }
    if (mesh->world_policy == KILN_WORLD_TOLERATE)
        return check_tolerated(mesh, cavity);
    return KILN_ACCEPTED;
}

static kiln_match *find_match(struct kiln_scratch *scratch, const uint32_t key[3], uint32_t *slot)
{
    uint32_t mask = (uint32_t)scratch->table.count - 1;
    uint64_t hash =
        key[0] * 0x9e3779b97f4a7c15u + key[1] * 0xc2b2ae3d27d4eb4fu + key[2] * 0x165667b19e3779f9u;
    uint32_t at = (uint32_t)(hash >> 40) & mask;
    for (;; at = (at + 1) & mask) {
        kiln_match *match = &scratch->table.data[at];
        if (match->epoch != scratch->epoch) {
            *match = (kiln_match){.corner = {key[0], key[1], key[2]},
                                  .epoch = scratch->epoch,
                                  .old_at = KILN_NONE,
                                  .fresh = {KILN_NONE, KILN_NONE}};
            scratch->order.data[scratch->order.count++] = at;
            *slot = at;
            return match;
        }
        if (match->corner[0] == key[0] && match->corner[1] == key[1] &&
            match->corner[2] == key[2]) {
            *slot = at;
            return match;
        }
    }
}

/* Outside faces of R, then all faces of N, into the table. */
static kiln_verdict match_faces(const kiln_mesh *mesh, const kiln_cavity *cavity,
                                struct kiln_scratch *scratch)
{
    scratch->epoch++;
    scratch->order.count = 0;
    uint32_t key[3], slot;
    for (uint32_t i = 0; i < cavity->old_count; i++) {
        const kiln_tet *tet = &mesh->tet[cavity->old[i]];
        for (uint32_t f = 0; f < 4; f++) {
            kiln_link link = tet->n[f];
            if (!kiln_link_is_surface(link) && kiln_cavity_has_old(scratch, cavity, link / 4))
                continue;
            uint8_t even = kiln_face_key(tet->v, f, key);
            kiln_match *match = find_match(scratch, key, &slot);
            if (match->old_at != KILN_NONE)
                return KILN_REFUSED_OVERLAP;
            match->old_at = kiln_link_to(cavity->old[i], f);
            match->outside = link;
            match->old_even = even;
        }
    }
    for (uint32_t i = 0; i < cavity->fresh_count; i++)
        for (uint32_t f = 0; f < 4; f++) {
            uint8_t even = kiln_face_key(cavity->fresh[i].v, f, key);
            kiln_match *match = find_match(scratch, key, &slot);
            scratch->fresh_slot.data[4 * i + f] = slot;
            if (match->fresh[0] == KILN_NONE) {
                match->fresh[0] = 4 * i + f;
                match->fresh_even = even;
                if (match->old_at != KILN_NONE && match->old_even != even)
                    return KILN_REFUSED_OVERLAP;
            } else if (match->fresh[1] == KILN_NONE && match->fresh_even != even &&
                       match->old_at == KILN_NONE) {
                match->fresh[1] = 4 * i + f;
            } else {
                return KILN_REFUSED_OVERLAP;
            }
        }
    return KILN_ACCEPTED;
}

static bool is_open_on_fresh_side(const kiln_match *match)
{
    return match->old_at == KILN_NONE && match->fresh[1] == KILN_NONE;
}

/* A surface face that R and N both have may be glued as well: its record goes. */
static bool can_be_glued(const kiln_match *match)
{
    return is_open_on_fresh_side(match) ||
           (match->old_at != KILN_NONE && kiln_link_is_surface(match->outside));
}

/* A glued face must have the corners of the outside face, seen from the other side. */
static bool glue_fits(const kiln_mesh *mesh, const kiln_cavity *cavity,
                      const struct kiln_scratch *scratch, const kiln_match *match,
                      kiln_link outside)
{
    uint32_t tet = outside / 4, key[3];
    if (kiln_link_is_surface(outside) || tet >= mesh->table[KILN_ON_TET].used ||
        !kiln_tet_live(mesh, tet) || kiln_cavity_has_old(scratch, cavity, tet) ||
        !kiln_link_is_surface(mesh->tet[tet].n[outside % 4]))
        return false;
    uint8_t even = kiln_face_key(mesh->tet[tet].v, outside % 4, key);
    return even != match->fresh_even && memcmp(key, match->corner, sizeof key) == 0;
}

static bool declare(kiln_match *match, uint8_t kind, uint32_t index)
{
    if (match->declared != KILN_DECLARED_NOT)
        return false;
    match->declared = kind;
    match->declaration = index;
    return true;
}

static kiln_verdict read_declarations(const kiln_mesh *mesh, const kiln_cavity *cavity,
                                      struct kiln_scratch *scratch)
{
    for (uint32_t i = 0; i < cavity->surface_count; i++) {
        const kiln_new_face *face = &cavity->surface[i];
        if (face->tet >= cavity->fresh_count || face->face > 3)
            return KILN_REFUSED_DECLARATION;
        kiln_match *match =
            &scratch->table.data[scratch->fresh_slot.data[4 * face->tet + face->face]];
        if (!is_open_on_fresh_side(match) || !declare(match, KILN_DECLARED_SURFACE, i) ||
            (face->parent != KILN_NONE && (face->parent >= mesh->table[KILN_ON_FACE].used ||
                                           !kiln_face_live(mesh, face->parent))))
            return KILN_REFUSED_DECLARATION;
    }
    for (uint32_t i = 0; i < cavity->glued_count; i++) {
        const kiln_glue_face *face = &cavity->glued[i];
        if (face->tet >= cavity->fresh_count || face->face > 3)
            return KILN_REFUSED_DECLARATION;
        kiln_match *match =
            &scratch->table.data[scratch->fresh_slot.data[4 * face->tet + face->face]];
        if (!can_be_glued(match) || !declare(match, KILN_DECLARED_GLUED, i) ||
            !glue_fits(mesh, cavity, scratch, match, face->outside))
            return KILN_REFUSED_DECLARATION;
    }
    for (uint32_t i = 0; i < cavity->opened_count; i++) {
        kiln_link outside = cavity->opened[i].outside;
        uint32_t key[3], slot;
        if (kiln_link_is_surface(outside) || outside / 4 >= mesh->table[KILN_ON_TET].used ||
            !kiln_tet_live(mesh, outside / 4))
            return KILN_REFUSED_DECLARATION;
        kiln_face_key(mesh->tet[outside / 4].v, outside % 4, key);
        kiln_match *match = find_match(scratch, key, &slot);
        if (match->old_at == KILN_NONE || match->outside != outside ||
            match->fresh[0] != KILN_NONE || !declare(match, KILN_DECLARED_OPENED, i))
            return KILN_REFUSED_DECLARATION;
    }
    return KILN_ACCEPTED;
}

/* Every outside face is matched or declared. Sets *general when some is not matched. */
static kiln_verdict check_declared(const kiln_cavity *cavity, const struct kiln_scratch *scratch,
                                   bool *general)
{
    for (size_t i = 0; i < scratch->order.count; i++) {
        const kiln_match *match = &scratch->table.data[scratch->order.data[i]];
        if (match->old_at != KILN_NONE && match->fresh[0] == KILN_NONE) {
            *general = true;
            bool surface_goes =
                kiln_link_is_surface(match->outside) && (cavity->flags & KILN_CAVITY_SURFACE);
            if (!surface_goes && match->declared != KILN_DECLARED_OPENED)
                return KILN_REFUSED_UNDECLARED;
        } else if (is_open_on_fresh_side(match)) {
            *general = true;
            if (match->declared == KILN_DECLARED_NOT)
                return KILN_REFUSED_UNDECLARED;
        } else if (match->declared == KILN_DECLARED_GLUED) {
            *general = true;
        }
    }
    return KILN_ACCEPTED;
}

static bool old_has_edge(const kiln_mesh *mesh, const kiln_cavity *cavity, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < cavity->old_count; i++) {
        const kiln_tet *tet = &mesh->tet[cavity->old[i]];
        if (kiln_tet_corner(tet, a) < 4 && kiln_tet_corner(tet, b) < 4)
            return true;
    }
    return false;
}

/* An edge that the cavity adds must not exist elsewhere. Round an interior vertex positive tets
 * fill space once, so a segment through the cavity can be no other tet's edge; only where both ends
 * are on the surface may the mesh overlap itself, and has to be searched. */
static kiln_verdict check_new_edges(kiln_mesh *mesh, const kiln_cavity *cavity)
{
    kiln_walker *walker = &mesh->scratch->walker;
    for (uint32_t i = 0; i < cavity->fresh_count; i++)
        for (int e = 0; e < 6; e++) {
            uint32_t a = cavity->fresh[i].v[kiln_edge_ends[e][0]];
            uint32_t b = cavity->fresh[i].v[kiln_edge_ends[e][1]];
            if (KILN_LIKELY(
                    !(mesh->vertex[a].flags & mesh->vertex[b].flags & KILN_VERTEX_SURFACE)) ||
                old_has_edge(mesh, cavity, a, b))
                continue;
            if (kiln_edge_tets(mesh, a, b, walker, NULL) != KILN_OK)
                return KILN_REFUSED_MEMORY;
            if (walker->tets.count > 0)
                return KILN_REFUSED_NON_MANIFOLD;
        }
    return KILN_ACCEPTED;
}

/* Slots named must be R's, each once. */
static kiln_verdict check_slots(const kiln_mesh *mesh, const kiln_cavity *cavity,
                                const struct kiln_scratch *scratch)
{
    for (uint32_t i = 0; i < cavity->fresh_count; i++) {
        uint32_t slot = cavity->fresh[i].slot, parent = cavity->fresh[i].parent;
        if (parent != KILN_NONE &&
            (parent >= mesh->table[KILN_ON_TET].used || !kiln_tet_live(mesh, parent)))
            return KILN_REFUSED_DEAD;
        if (slot == KILN_NONE)
            continue;
        if (!kiln_cavity_has_old(scratch, cavity, slot))
            return KILN_REFUSED_DECLARATION;
        for (uint32_t j = 0; j < i; j++)
            if (cavity->fresh[j].slot == slot)
                return KILN_REFUSED_REPEATED;
    }
    return KILN_ACCEPTED;
}

/* --- applying ------------------------------------------------------------------------------- */

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
            slot = cavity->old[next_old++];
            for (uint32_t j = 0; named && j < cavity->fresh_count; j++)
                if (cavity->fresh[j].slot == slot)
                    slot = KILN_NONE;
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
        bool taken = false;
        for (uint32_t j = 0; named && j < cavity->fresh_count; j++)
            taken |= cavity->fresh[j].slot == slot;
        if (taken)
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
    if (parent == KILN_NONE)
        kiln_table_combine(&mesh->table[KILN_ON_FACE], face, NULL, NULL, 0);
    else
        kiln_table_copy_row(&mesh->table[KILN_ON_FACE], face, parent);
    mesh->face[face] = (kiln_face){at, tag, twin, stamp};
    return face;
}

/* Surface records of R that N does not have: handed to the first new face that names them as
 * parent, else freed, after all new faces have copied their fields. */
static void settle_surface(kiln_mesh *mesh, const kiln_cavity *cavity, struct kiln_scratch *scratch)
{
    for (uint32_t i = 0; i < cavity->surface_count; i++) {
        const kiln_new_face *face = &cavity->surface[i];
        uint32_t at = kiln_link_to(scratch->number.data[face->tet], face->face);
        bool first = face->parent != KILN_NONE;
        for (uint32_t j = 0; j < i && first; j++)
            first = cavity->surface[j].parent != face->parent;
        uint32_t record = KILN_NONE;
        for (size_t k = 0; k < scratch->order.count && first && record == KILN_NONE; k++) {
            kiln_match *match = &scratch->table.data[scratch->order.data[k]];
            if (match->old_at != KILN_NONE && match->fresh[0] == KILN_NONE &&
                match->outside == KILN_LINK_SURFACE + face->parent) {
                record = face->parent;
                match->declared = KILN_DECLARED_SURFACE; /* not to be freed */
            }
        }
        if (record != KILN_NONE) {
            kiln_journal_row(mesh, KILN_ON_FACE, record);
            mesh->face[record] = (kiln_face){at, face->tag, face->twin, mesh->face[record].stamp};
        } else {
            record = make_face(mesh, at, face->tag, face->parent, face->twin, mesh->clock);
        }
        mesh->tet[at / 4].n[at % 4] = KILN_LINK_SURFACE + record;
        kiln_seeds_opened(mesh, at / 4);
    }
    for (uint32_t i = 0; i < cavity->opened_count; i++) {
        const kiln_open_face *face = &cavity->opened[i];
        uint32_t record =
            make_face(mesh, face->outside, face->tag, KILN_NONE, face->twin, mesh->clock);
        kiln_journal_set(mesh, KILN_WORD_LINK, face->outside, KILN_LINK_SURFACE + record);
        kiln_seeds_opened(mesh, face->outside / 4);
    }
    for (uint32_t i = 0; i < cavity->glued_count; i++) {
        const kiln_glue_face *face = &cavity->glued[i];
        uint32_t at = kiln_link_to(scratch->number.data[face->tet], face->face);
        const kiln_match *match =
            &scratch->table.data[scratch->fresh_slot.data[4 * face->tet + face->face]];
        if (match->old_at != KILN_NONE)
            free_face(mesh, match->outside - KILN_LINK_SURFACE);
        free_face(mesh, mesh->tet[face->outside / 4].n[face->outside % 4] - KILN_LINK_SURFACE);
        kiln_journal_set(mesh, KILN_WORD_LINK, face->outside, at);
        mesh->tet[at / 4].n[at % 4] = face->outside;
        kiln_seeds_glued(mesh, at / 4, face->outside / 4);
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
                    kiln_journal_set(mesh, KILN_WORD_FACE_AT, match->outside - KILN_LINK_SURFACE,
                                     here);
                else
                    kiln_journal_set(mesh, KILN_WORD_LINK, match->outside, here);
            }
        }
    }
}

/* R's rows as they were logged, R's first entries of this replacement. */
static const uint32_t *old_image(const kiln_mesh *mesh, const struct kiln_scratch *scratch,
                                 uint32_t index)
{
    return kiln_journal_image(mesh, scratch->image_start, KILN_ON_TET, index);
}

static const kiln_tet *old_tet(const kiln_mesh *mesh, const struct kiln_scratch *scratch,
                               uint32_t index)
{
    return (const kiln_tet *)old_image(mesh, scratch, index);
}

static void add_to_part(kiln_mesh *mesh, uint32_t part, int64_t tets, double volume)
{
    kiln_part *record = &mesh->parts.data[part];
    if (tets == 0 && volume == 0.0 && record->stamp == mesh->revision + 1)
        return;
    kiln_journal_part(mesh, part);
    record->stamp = mesh->revision + 1;
    record->tets = (uint32_t)(record->tets + tets);
    record->volume += volume;
}

/* The info rows are still R's where slots are shared, so parents are read from the log. */
static void write_info(kiln_mesh *mesh, const kiln_cavity *cavity, struct kiln_scratch *scratch)
{
    uint32_t common = KILN_NONE;
    for (uint32_t i = 0; i < cavity->old_count; i++) {
        kiln_tet_info info;
        memcpy(&info, old_image(mesh, scratch, i) + sizeof(kiln_tet) / 4, sizeof info);
        if (i == 0)
            common = info.part;
        if (info.part == common)
            continue;
        add_to_part(mesh, info.part, -1, 0.0);
    }
    /* R's tets of the common part are taken off below, together with what comes. */
    int64_t change = 0;
    for (uint32_t i = 0; i < cavity->old_count; i++) {
        kiln_tet_info info;
        memcpy(&info, old_image(mesh, scratch, i) + sizeof(kiln_tet) / 4, sizeof info);
        change -= info.part == common;
    }
    for (uint32_t i = 0; i < cavity->fresh_count; i++) {
        uint32_t parent = cavity->fresh[i].parent;
        kiln_tet_info info = {.part = KILN_NONE};
        if (parent != KILN_NONE) {
            info = mesh->info[parent];
            for (uint32_t j = 0; j < cavity->old_count; j++)
                if (cavity->old[j] == parent)
                    memcpy(&info, old_image(mesh, scratch, j) + sizeof(kiln_tet) / 4, sizeof info);
        }
        if (info.part == KILN_NONE) {
            info.part = (uint32_t)mesh->parts.count;
            mesh->parts.data[mesh->parts.count++] = (kiln_part){.body = info.part};
        }
        info.marks = scratch->marks.data[i];
        info.changed = mesh->clock;
        mesh->info[scratch->number.data[i]] = info;
        if (info.part == common)
            change++;
        else
            add_to_part(mesh, info.part, 1, 0.0);
    }
    if (common != KILN_NONE)
        add_to_part(mesh, common, change, 0.0);
}

static bool anchor_holds(const kiln_mesh *mesh, uint32_t vertex)
{
    uint32_t anchor = mesh->vertex[vertex].tet;
    return anchor != KILN_NONE && kiln_tet_live(mesh, anchor) &&
           kiln_tet_corner(&mesh->tet[anchor], vertex) < 4;
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

/* Vertices of N point into N where they must. A vertex of R that no tet has any more is freed; in a
 * matched cavity that is one no outside face has, and its star is gone with R. */
static void settle_anchors(kiln_mesh *mesh, const kiln_cavity *cavity, struct kiln_scratch *scratch)
{
    for (uint32_t i = 0; i < cavity->fresh_count; i++)
        for (int k = 0; k < 4; k++)
            if (!anchor_holds(mesh, cavity->fresh[i].v[k]))
                kiln_journal_set(mesh, KILN_WORD_ANCHOR, cavity->fresh[i].v[k],
                                 scratch->number.data[i]);
    for (uint32_t i = 0; i < cavity->old_count; i++)
        for (int k = 0; k < 4; k++) {
            uint32_t vertex = old_tet(mesh, scratch, i)->v[k];
            if (!kiln_vertex_live(mesh, vertex) || anchor_holds(mesh, vertex))
                continue;
            if (kiln_star_listed(mesh, vertex) && kiln_star_list(mesh, vertex)->count > 0)
                kiln_journal_set(mesh, KILN_WORD_ANCHOR, vertex,
                                 kiln_star_list(mesh, vertex)->data[0]);
            else
                free_vertex(mesh, vertex);
        }
}

/* --- the general path: stars may change shape ----------------------------------------------- */

static kiln_status gather_vertices(kiln_mesh *mesh, const kiln_cavity *cavity,
                                   struct kiln_scratch *scratch)
{
    size_t most = 4 * ((size_t)cavity->old_count + cavity->fresh_count) + 3 * cavity->opened_count;
    KILN_TRY(kiln_array_reserve(mesh->context, &scratch->vertices, most, NULL));
    KILN_TRY(kiln_idset_clear(mesh->context, &scratch->vertex_set, most, NULL));
    scratch->vertices.count = 0;
    for (uint32_t i = 0; i < cavity->old_count + cavity->fresh_count; i++) {
        const uint32_t *v = i < cavity->old_count ? mesh->tet[cavity->old[i]].v
                                                  : cavity->fresh[i - cavity->old_count].v;
        for (int k = 0; k < 4; k++) {
            kiln_idset_slot *slot = kiln_idset_at(&scratch->vertex_set, v[k]);
            if (slot->epoch == scratch->vertex_set.epoch)
                continue;
            kiln_idset_add(&scratch->vertex_set, slot, v[k], 0);
            scratch->vertices.data[scratch->vertices.count++] = v[k];
        }
    }
    return KILN_OK;
}

/* Every vertex of R and N gets a list while its star is still whole, and room for what comes. */
static kiln_status list_stars(kiln_mesh *mesh, const kiln_cavity *cavity,
                              struct kiln_scratch *scratch)
{
    KILN_TRY(kiln_seeds_reserve(
        mesh, (size_t)cavity->surface_count + cavity->opened_count + cavity->glued_count, NULL));
    for (size_t i = 0; i < scratch->vertices.count; i++) {
        uint32_t vertex = scratch->vertices.data[i];
        if (kiln_star_listed(mesh, vertex))
            continue;
        KILN_TRY(kiln_star(mesh, vertex, &scratch->walker, NULL));
        KILN_TRY(kiln_star_start(mesh, vertex, scratch->walker.tets.data,
                                 scratch->walker.tets.count, NULL));
    }
    size_t words = 0;
    for (size_t i = 0; i < scratch->vertices.count; i++) {
        uint32_t vertex = scratch->vertices.data[i];
        KILN_TRY(kiln_star_reserve(mesh, vertex, cavity->fresh_count, NULL));
        words += kiln_star_list(mesh, vertex)->count + 4;
    }
    /* The lists' images come on top of what `reserve` asked for. */
    return kiln_journal_reserve(mesh, 4 * (size_t)cavity->old_count,
                                (size_t)cavity->old_count + cavity->fresh_count,
                                4 * (size_t)cavity->old_count + cavity->surface_count +
                                    cavity->opened_count + cavity->glued_count,
                                16 * ((size_t)cavity->old_count + cavity->fresh_count) +
                                    4 * (size_t)scratch->vertices.count + words + 64,
                                NULL);
}

static void update_stars(kiln_mesh *mesh, const kiln_cavity *cavity, struct kiln_scratch *scratch)
{
    for (size_t i = 0; i < scratch->vertices.count; i++)
        kiln_star_save(mesh, scratch->vertices.data[i]);
    for (uint32_t i = 0; i < cavity->old_count; i++)
        for (int k = 0; k < 4; k++)
            kiln_star_remove(mesh, old_tet(mesh, scratch, i)->v[k], cavity->old[i]);
    for (uint32_t i = 0; i < cavity->fresh_count; i++)
        for (int k = 0; k < 4; k++)
            kiln_star_insert(mesh, cavity->fresh[i].v[k], scratch->number.data[i]);
}

/* Surface and interface flags of vertices whose star changed shape. */
static void update_flags(kiln_mesh *mesh, const struct kiln_scratch *scratch)
{
    for (size_t i = 0; i < scratch->vertices.count; i++) {
        uint32_t vertex = scratch->vertices.data[i];
        if (!kiln_vertex_live(mesh, vertex))
            continue;
        const kiln_u32_array *star = kiln_star_list(mesh, vertex);
        uint32_t flags =
            mesh->vertex[vertex].flags & ~(uint32_t)(KILN_VERTEX_SURFACE | KILN_VERTEX_INTERFACE);
        for (size_t j = 0; j < star->count; j++) {
            const kiln_tet *tet = &mesh->tet[star->data[j]];
            for (int f = 0; f < 4; f++) {
                if (tet->v[f] == vertex)
                    continue;
                if (kiln_link_is_surface(tet->n[f]))
                    flags |= KILN_VERTEX_SURFACE;
                else if (kiln_link_is_interface(mesh, star->data[j], tet->n[f]))
                    flags |= KILN_VERTEX_INTERFACE;
            }
        }
        if (flags != mesh->vertex[vertex].flags)
            kiln_journal_set(mesh, KILN_WORD_VERTEX_FLAGS, vertex, flags);
    }
}

/* Volume of N less that of R, summed in the order given: retargeting the same tets books exactly
 * nothing. */
static void book_volume(kiln_mesh *mesh, const kiln_cavity *cavity, struct kiln_scratch *scratch)
{
    double before = 0.0, after = 0.0;
    for (uint32_t i = 0; i < cavity->old_count; i++) {
        const uint32_t *v = old_tet(mesh, scratch, i)->v;
        before += kiln_tet_volume(mesh->u[v[0]], mesh->u[v[1]], mesh->u[v[2]], mesh->u[v[3]]);
    }
    for (uint32_t i = 0; i < cavity->fresh_count; i++)
        after += kiln_mesh_tet_volume(mesh, scratch->number.data[i]);
    double change = after - before;
    if (change > 0.0)
        mesh->ledger.volume_gained += change;
    else
        mesh->ledger.volume_lost -= change;
    if (cavity->old_count == 0)
        mesh->ledger.tets_injected += cavity->fresh_count;
    if (cavity->fresh_count == 0)
        mesh->ledger.tets_removed += cavity->old_count;
    uint32_t part = KILN_NONE;
    if (cavity->fresh_count > 0) {
        part = mesh->info[scratch->number.data[0]].part;
    } else if (cavity->old_count > 0) {
        kiln_tet_info info;
        memcpy(&info, old_image(mesh, scratch, 0) + sizeof(kiln_tet) / 4, sizeof info);
        part = info.part;
    }
    if (change != 0.0 && part != KILN_NONE)
        add_to_part(mesh, part, 0, change);
}

/* A required vertex or corner may not lose its last tet. */
static kiln_verdict check_vanishing(kiln_mesh *mesh, const kiln_cavity *cavity, bool general)
{
    uint32_t any = 0;
    for (uint32_t i = 0; i < cavity->old_count; i++)
        for (int k = 0; k < 4; k++)
            any |= mesh->vertex[mesh->tet[cavity->old[i]].v[k]].flags;
    if (KILN_LIKELY(!(any & (KILN_VERTEX_REQUIRED | KILN_VERTEX_CORNER))))
        return KILN_ACCEPTED;
    for (uint32_t i = 0; i < cavity->old_count; i++)
        for (int k = 0; k < 4; k++) {
            uint32_t vertex = mesh->tet[cavity->old[i]].v[k], flags = mesh->vertex[vertex].flags;
            if (!(flags & (KILN_VERTEX_REQUIRED | KILN_VERTEX_CORNER)))
                continue;
            bool stays = false;
            for (uint32_t j = 0; j < cavity->fresh_count && !stays; j++)
                for (int c = 0; c < 4; c++)
                    stays |= cavity->fresh[j].v[c] == vertex;
            if (!stays && general) {
                uint32_t leaving = 0;
                for (uint32_t j = 0; j < cavity->old_count; j++)
                    leaving += kiln_tet_corner(&mesh->tet[cavity->old[j]], vertex) < 4;
                stays = leaving < kiln_star_list(mesh, vertex)->count;
            }
            if (stays)
                continue;
            if (flags & KILN_VERTEX_REQUIRED)
                return KILN_REFUSED_REQUIRED;
            if (!(cavity->flags & KILN_CAVITY_FEATURES))
                return KILN_REFUSED_FEATURE;
        }
    return KILN_ACCEPTED;
}

static bool spans_regions(const kiln_mesh *mesh, const kiln_cavity *cavity)
{
    for (uint32_t i = 1; i < cavity->old_count; i++)
        if (mesh->info[cavity->old[i]].region != mesh->info[cavity->old[0]].region)
            return true;
    for (uint32_t i = 0; i < cavity->fresh_count && cavity->old_count > 0; i++) {
        uint32_t parent = cavity->fresh[i].parent;
        if (parent == KILN_NONE || mesh->info[parent].region != mesh->info[cavity->old[0]].region)
            return true;
    }
    return false;
}

#define REFUSE_UNLESS_ACCEPTED(call)                                                               \
    do {                                                                                           \
        kiln_verdict verdict_ = (call);                                                            \
        if (verdict_ != KILN_ACCEPTED)                                                             \
            return verdict_;                                                                       \
    } while (0)

kiln_verdict kiln_replace(kiln_txn *txn, const kiln_cavity *cavity, uint32_t *made)
{
    kiln_mesh *mesh = txn->mesh;
    struct kiln_scratch *scratch = mesh->scratch;
    KILN_ASSERT_OP(kiln_txn_depth(mesh), ==, txn->depth);
    if (reserve(mesh, cavity) != KILN_OK)
        return KILN_REFUSED_MEMORY;

    REFUSE_UNLESS_ACCEPTED(check_old(mesh, cavity, scratch));
    REFUSE_UNLESS_ACCEPTED(check_fresh(mesh, cavity));
    REFUSE_UNLESS_ACCEPTED(check_slots(mesh, cavity, scratch));
    REFUSE_UNLESS_ACCEPTED(match_faces(mesh, cavity, scratch));
    REFUSE_UNLESS_ACCEPTED(read_declarations(mesh, cavity, scratch));
    bool outline_changes = false;
    REFUSE_UNLESS_ACCEPTED(check_declared(cavity, scratch, &outline_changes));
    if (!outline_changes)
        REFUSE_UNLESS_ACCEPTED(check_new_edges(mesh, cavity));
    bool regions = spans_regions(mesh, cavity);
    if (regions)
        REFUSE_UNLESS_ACCEPTED(kiln_cavity_check_regions(mesh, cavity, scratch));
    REFUSE_UNLESS_ACCEPTED(kiln_cavity_settle_marks(mesh, cavity, scratch));
    bool general = outline_changes || regions || kiln_star_count(mesh) > 0;
    if (general && (gather_vertices(mesh, cavity, scratch) != KILN_OK ||
                    list_stars(mesh, cavity, scratch) != KILN_OK))
        return KILN_REFUSED_MEMORY;
    REFUSE_UNLESS_ACCEPTED(check_vanishing(mesh, cavity, general));
    if (mesh->table[KILN_ON_TET].fields.count > 2 &&
        kiln_array_reserve(mesh->context, &scratch->volumes,
                           (size_t)cavity->old_count + cavity->fresh_count, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    if (kiln_array_reserve(mesh->context, &mesh->parts, mesh->parts.count + cavity->fresh_count,
                           NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;

    /* Nothing below can fail. */
    mesh->clock++;
    scratch->image_start = kiln_journal_position(mesh);
    give_slots(mesh, cavity, scratch);
    write_tets(mesh, cavity, scratch);
    write_info(mesh, cavity, scratch);
    if (mesh->table[KILN_ON_TET].fields.count > 2)
        kiln_cavity_hand_on_fields(mesh, cavity, scratch);
    if (outline_changes)
        settle_surface(mesh, cavity, scratch);
    if (general)
        update_stars(mesh, cavity, scratch);
    settle_anchors(mesh, cavity, scratch);
    if (general)
        update_flags(mesh, scratch);
    if (outline_changes)
        book_volume(mesh, cavity, scratch);
    if (made)
        memcpy(made, scratch->number.data, cavity->fresh_count * sizeof *made);
    return KILN_ACCEPTED;
}
