/* Is the cavity legal? Nothing here writes to the mesh. */
#include "mesh/replace_impl.h"
#include "geom/predicates.h"
#include "mesh/journal.h"

#include <string.h>

static kiln_verdict check_old(const kiln_mesh *mesh, const kiln_cavity *cavity,
                              struct kiln_scratch *scratch)
{
    for (uint32_t i = 0; i < cavity->old_count; i++) {
        uint32_t tet = cavity->old[i];
        if (tet >= mesh->table[KILN_ON_TET].used || !kiln_tet_live(mesh, tet))
            return KILN_REFUSED_DEAD;
        if (mesh->info[tet].marks & KILN_MARK_LOCKED)
            return KILN_REFUSED_LOCKED;
        if (cavity->old_count > KILN_FEW_TETS) {
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

/* Also notes whether a new tet has two vertices on the surface (check_new_edges). */
static kiln_verdict check_fresh(const kiln_mesh *mesh, const kiln_cavity *cavity,
                                struct kiln_scratch *scratch)
{
    scratch->surface_pairs = false;
    uint32_t used = mesh->table[KILN_ON_VERTEX].used;
    for (uint32_t i = 0; i < cavity->fresh_count; i++) {
        const uint32_t *v = cavity->fresh[i].v;
        if (v[0] >= used || v[1] >= used || v[2] >= used || v[3] >= used)
            return KILN_REFUSED_DEAD;
        uint32_t any = 0, surface = 0;
        for (int k = 0; k < 4; k++) {
            uint32_t flags = mesh->vertex[v[k]].flags;
            any |= flags;
            surface += flags & KILN_VERTEX_SURFACE;
        }
        if (any & KILN_VERTEX_DEAD)
            return KILN_REFUSED_DEAD;
        scratch->surface_pairs |= surface >= 2;
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

static void start_match(struct kiln_scratch *scratch, kiln_match *match, uint32_t slot)
{
    match->epoch = scratch->epoch;
    match->old_at = match->fresh[0] = match->fresh[1] = KILN_NONE;
    match->declared = KILN_DECLARED_NOT;
    scratch->order.data[scratch->order.count++] = slot;
}

static kiln_match *find_match(struct kiln_scratch *scratch, const uint32_t key[3], uint32_t *slot)
{
    uint32_t mask = scratch->mask;
    for (uint32_t at = kiln_match_start(scratch, key);; at = (at + 1) & mask) {
        kiln_match *match = &scratch->table.data[at];
        if (match->epoch != scratch->epoch) {
            memcpy(match->corner, key, sizeof match->corner);
            start_match(scratch, match, at);
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

/* A face of R with nothing of R across it. */
KILN_INLINE bool note_old(struct kiln_scratch *scratch, kiln_match *match, uint32_t at,
                          kiln_link outside, uint8_t even)
{
    if (match->old_at != KILN_NONE)
        return false;
    match->old_at = at;
    match->outside = outside;
    match->old_even = even;
    scratch->unmatched++;
    return true;
}

/* A face of N: the counterpart of one of R, or of another one of N seen from the other side. */
KILN_INLINE bool note_fresh(struct kiln_scratch *scratch, kiln_match *match, uint32_t at,
                            uint8_t even)
{
    if (match->fresh[0] == KILN_NONE) {
        match->fresh[0] = at;
        match->fresh_even = even;
        scratch->unmatched += match->old_at == KILN_NONE ? 1u : -1u;
        return match->old_at == KILN_NONE || match->old_even == even;
    }
    if (match->fresh[1] != KILN_NONE || match->fresh_even == even || match->old_at != KILN_NONE)
        return false;
    match->fresh[1] = at;
    scratch->unmatched--;
    return true;
}

/* Outside faces of R, then all faces of N, into the table. */
static kiln_verdict match_faces(const kiln_mesh *mesh, const kiln_cavity *cavity,
                                struct kiln_scratch *scratch)
{
    uint32_t key[3], slot;
    for (uint32_t i = 0; i < cavity->old_count; i++) {
        const kiln_tet *tet = &mesh->tet[cavity->old[i]];
        for (uint32_t f = 0; f < 4; f++) {
            kiln_link link = tet->n[f];
            if (!kiln_link_is_surface(link) && kiln_cavity_has_old(scratch, cavity, link / 4))
                continue;
            uint8_t even = kiln_face_key(tet->v, f, key);
            kiln_match *match = find_match(scratch, key, &slot);
            if (!note_old(scratch, match, kiln_link_to(cavity->old[i], f), link, even))
                return KILN_REFUSED_OVERLAP;
        }
    }
    for (uint32_t at = 0; at < 4 * cavity->fresh_count; at++) {
        uint8_t even = kiln_face_key(cavity->fresh[at / 4].v, at % 4, key);
        kiln_match *match = find_match(scratch, key, &slot);
        scratch->fresh_slot.data[at] = slot;
        if (!note_fresh(scratch, match, at, even))
            return KILN_REFUSED_OVERLAP;
    }
    return KILN_ACCEPTED;
}

/* The tet's corners as single bits, one per vertex of the cavity; false when there are more than
 * eight. */
KILN_INLINE bool name_corners(const uint32_t *v, uint32_t names[8], uint32_t *count,
                              uint32_t bit[4])
{
    for (int k = 0; k < 4; k++) {
        bit[k] = kiln_find8(names, v[k]);
        if (KILN_LIKELY(bit[k] != 0))
            continue;
        if (*count == 8)
            return false;
        names[*count] = v[k];
        bit[k] = 1u << (*count)++;
    }
    return true;
}

/* Bit f of the result: is the outward order of face f even? The corner opposite a face followed by
 * the face in outward order is an even permutation of the tet, so the face's parity is the tet's,
 * changed once for every corner below the opposite one. */
KILN_INLINE uint32_t face_parities(const uint32_t bit[4])
{
    uint32_t below0 = (bit[1] < bit[0]) ^ (bit[2] < bit[0]) ^ (bit[3] < bit[0]);
    uint32_t below1 = (bit[0] < bit[1]) ^ (bit[2] < bit[1]) ^ (bit[3] < bit[1]);
    uint32_t below2 = (bit[0] < bit[2]) ^ (bit[1] < bit[2]) ^ (bit[3] < bit[2]);
    uint32_t below3 = (bit[0] < bit[3]) ^ (bit[1] < bit[3]) ^ (bit[2] < bit[3]);
    uint32_t odd = below0 ^ (bit[2] < bit[1]) ^ (bit[3] < bit[1]) ^ (bit[3] < bit[2]);
    return (below0 | below1 << 1 | below2 << 2 | below3 << 3) ^ (odd ? 0 : 15);
}

/* The same for a matched cavity of up to eight vertices, that is for most: a face is named by three
 * bits of a byte, and the byte is its place in the table. */
static kiln_verdict match_few(const kiln_mesh *mesh, const kiln_cavity *cavity,
                              struct kiln_scratch *scratch, bool *too_many)
{
    uint32_t names[8], count = 4, bit[4];
    /* The first tet's corners as they are: storing them one by one would stall the search. */
    memcpy(names, mesh->tet[cavity->old[0]].v, 4 * sizeof *names);
    for (int i = 4; i < 8; i++)
        names[i] = KILN_NONE;
    for (uint32_t i = 0; i < cavity->old_count; i++) {
        const kiln_tet *tet = &mesh->tet[cavity->old[i]];
        if (!name_corners(tet->v, names, &count, bit))
            return *too_many = true, KILN_ACCEPTED;
        uint32_t all = bit[0] | bit[1] | bit[2] | bit[3], even = face_parities(bit);
        for (uint32_t f = 0; f < 4; f++) {
            kiln_link link = tet->n[f];
            if (!kiln_link_is_surface(link) && kiln_cavity_has_old(scratch, cavity, link / 4))
                continue;
            kiln_match *match = &scratch->table.data[all ^ bit[f]];
            if (match->epoch != scratch->epoch)
                start_match(scratch, match, all ^ bit[f]);
            if (!note_old(scratch, match, kiln_link_to(cavity->old[i], f), link,
                          (uint8_t)(even >> f & 1)))
                return KILN_REFUSED_OVERLAP;
        }
    }
    for (uint32_t i = 0; i < cavity->fresh_count; i++) {
        if (!name_corners(cavity->fresh[i].v, names, &count, bit))
            return *too_many = true, KILN_ACCEPTED;
        uint32_t all = bit[0] | bit[1] | bit[2] | bit[3], even = face_parities(bit);
        for (uint32_t f = 0; f < 4; f++) {
            kiln_match *match = &scratch->table.data[all ^ bit[f]];
            if (match->epoch != scratch->epoch)
                start_match(scratch, match, all ^ bit[f]);
            scratch->fresh_slot.data[4 * i + f] = all ^ bit[f];
            if (!note_fresh(scratch, match, 4 * i + f, (uint8_t)(even >> f & 1)))
                return KILN_REFUSED_OVERLAP;
        }
    }
    return KILN_ACCEPTED;
}

static void empty_table(struct kiln_scratch *scratch)
{
    scratch->epoch++;
    scratch->order.count = scratch->unmatched = 0;
}

static kiln_verdict match_all(const kiln_mesh *mesh, const kiln_cavity *cavity,
                              struct kiln_scratch *scratch)
{
    empty_table(scratch);
    bool declared = cavity->surface_count + cavity->opened_count + cavity->glued_count > 0;
    bool too_many = declared || cavity->old_count == 0 ||
                    cavity->old_count + cavity->fresh_count > KILN_FEW_TETS;
    scratch->hashed = too_many;
    if (!too_many) {
        kiln_verdict verdict = match_few(mesh, cavity, scratch, &scratch->hashed);
        if (!scratch->hashed)
            return verdict;
        empty_table(scratch);
    }
    return match_faces(mesh, cavity, scratch);
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

static bool old_has_edge(const kiln_mesh *mesh, const kiln_cavity *cavity,
                         const struct kiln_scratch *scratch, uint32_t a, uint32_t b)
{
    if (KILN_UNLIKELY(scratch->many)) {
        uint32_t count, other;
        const uint32_t *tets = kiln_corner_list(&scratch->old_at, a, &count);
        const uint32_t *others = kiln_corner_list(&scratch->old_at, b, &other);
        bool shorter = other < count;
        for (uint32_t i = 0; i < (shorter ? other : count); i++)
            if (kiln_tet_corner(&mesh->tet[cavity->old[shorter ? others[i] : tets[i]]],
                                shorter ? a : b) < 4)
                return true;
        return false;
    }
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
                old_has_edge(mesh, cavity, mesh->scratch, a, b))
                continue;
            if (kiln_edge_tets(mesh, a, b, walker, NULL) != KILN_OK)
                return KILN_REFUSED_MEMORY;
            if (walker->tets.count > 0)
                return KILN_REFUSED_NON_MANIFOLD;
        }
    return KILN_ACCEPTED;
}

/* Is the slot named before the i-th new tet? In a small R no more than a few can be. */
static bool is_named(const kiln_cavity *cavity, struct kiln_scratch *scratch, uint32_t i)
{
    uint32_t slot = cavity->fresh[i].slot;
    if (KILN_UNLIKELY(cavity->old_count > KILN_FEW_TETS)) {
        kiln_idset_slot *entry = kiln_idset_at(&scratch->old_set, slot);
        bool named = (entry->value & KILN_SLOT_NAMED) != 0;
        entry->value |= KILN_SLOT_NAMED;
        return named;
    }
    for (uint32_t j = 0; j < i; j++)
        if (cavity->fresh[j].slot == slot)
            return true;
    return false;
}

/* Slots named must be R's, each once. */
static kiln_verdict check_slots(const kiln_mesh *mesh, const kiln_cavity *cavity,
                                struct kiln_scratch *scratch)
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
        if (is_named(cavity, scratch, i))
            return KILN_REFUSED_REPEATED;
    }
    return KILN_ACCEPTED;
}

/* How many of R have the vertex; 0 where another than the i-th is the first, which has told. */
static uint32_t count_leaving(const kiln_mesh *mesh, const kiln_cavity *cavity,
                              const struct kiln_scratch *scratch, uint32_t vertex, uint32_t i)
{
    uint32_t leaving = 0;
    if (KILN_UNLIKELY(scratch->many)) {
        const uint32_t *tets = kiln_corner_list(&scratch->old_at, vertex, &leaving);
        return tets[0] == i ? leaving : 0;
    }
    for (uint32_t j = 0; j < cavity->old_count; j++)
        leaving += kiln_tet_corner(&mesh->tet[cavity->old[j]], vertex) < 4;
    return leaving;
}

/* Does the vertex, a corner of the i-th of R, keep a tet? */
static kiln_verdict check_stays(const kiln_mesh *mesh, const kiln_cavity *cavity,
                                const struct kiln_scratch *scratch, bool general, uint32_t vertex,
                                uint32_t i, bool *stays)
{
    *stays = kiln_cavity_fresh_with(cavity, scratch, vertex) != KILN_NONE;
    if (*stays || !general)
        return KILN_ACCEPTED;
    uint32_t leaving = count_leaving(mesh, cavity, scratch, vertex, i);
    if (leaving > 0 && kiln_star(mesh, vertex, &mesh->scratch->walker, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    *stays = leaving == 0 || leaving < mesh->scratch->walker.tets.count;
    return KILN_ACCEPTED;
}

/* A required vertex or corner may not lose its last tet. */
kiln_verdict kiln_cavity_check_vanishing(const kiln_mesh *mesh, const kiln_cavity *cavity,
                                         const struct kiln_scratch *scratch, bool general)
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
            bool stays;
            kiln_verdict verdict = check_stays(mesh, cavity, scratch, general, vertex, i, &stays);
            if (verdict != KILN_ACCEPTED)
                return verdict;
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

kiln_verdict kiln_cavity_check(kiln_mesh *mesh, const kiln_cavity *cavity,
                               struct kiln_scratch *scratch)
{
    REFUSE_UNLESS_ACCEPTED(check_old(mesh, cavity, scratch));
    REFUSE_UNLESS_ACCEPTED(check_fresh(mesh, cavity, scratch));
    if (KILN_UNLIKELY(scratch->many))
        kiln_cavity_fill_lists(mesh, cavity, scratch);
    REFUSE_UNLESS_ACCEPTED(check_slots(mesh, cavity, scratch));
    REFUSE_UNLESS_ACCEPTED(match_all(mesh, cavity, scratch));
    REFUSE_UNLESS_ACCEPTED(read_declarations(mesh, cavity, scratch));
    scratch->outline_changes = false;
    if (scratch->unmatched > 0 || cavity->glued_count > 0)
        REFUSE_UNLESS_ACCEPTED(check_declared(cavity, scratch, &scratch->outline_changes));
    if (!scratch->outline_changes && scratch->surface_pairs)
        REFUSE_UNLESS_ACCEPTED(check_new_edges(mesh, cavity));
    scratch->spans_regions = spans_regions(mesh, cavity);
    if (scratch->spans_regions)
        REFUSE_UNLESS_ACCEPTED(kiln_cavity_check_regions(mesh, cavity, scratch));
    return kiln_cavity_settle_marks(mesh, cavity, scratch);
}
