/* What a cavity may do to regions, marked edges and marked faces. */
#include "mesh/replace_impl.h"

#include <string.h>

static int32_t fresh_region(const kiln_mesh *mesh, const kiln_new_tet *fresh)
{
    return fresh->parent == KILN_NONE ? 0 : mesh->info[fresh->parent].region;
}

/* The two new tets that share the face of old tet `t`, if there are. */
static bool survives_inside(const kiln_mesh *mesh, const kiln_cavity *cavity,
                            const struct kiln_scratch *scratch, uint32_t t, uint32_t f)
{
    uint32_t key[3], other[3], found = 0;
    int32_t region[2] = {0, 0};
    kiln_face_key(mesh->tet[t].v, f, key);
    if (scratch->hashed) {
        const kiln_match *match = kiln_match_of(scratch, key);
        return match && match->fresh[1] != KILN_NONE &&
               fresh_region(mesh, &cavity->fresh[match->fresh[0] / 4]) !=
                   fresh_region(mesh, &cavity->fresh[match->fresh[1] / 4]);
    }
    for (uint32_t i = 0; i < cavity->fresh_count; i++)
        for (uint32_t g = 0; g < 4; g++) {
            kiln_face_key(cavity->fresh[i].v, g, other);
            if (memcmp(key, other, sizeof key) == 0 && found < 2)
                region[found++] = fresh_region(mesh, &cavity->fresh[i]);
        }
    return found == 2 && region[0] != region[1];
}

kiln_verdict kiln_cavity_check_regions(const kiln_mesh *mesh, const kiln_cavity *cavity,
                                       struct kiln_scratch *scratch)
{
    for (size_t i = 0; i < scratch->order.count; i++) {
        const kiln_match *match = &scratch->table.data[scratch->order.data[i]];
        if (match->old_at == KILN_NONE || match->fresh[0] == KILN_NONE)
            continue;
        if (mesh->info[match->old_at / 4].region !=
            fresh_region(mesh, &cavity->fresh[match->fresh[0] / 4]))
            return KILN_REFUSED_REGION;
    }
    if (cavity->flags & KILN_CAVITY_REGIONS)
        return KILN_ACCEPTED;
    for (uint32_t i = 0; i < cavity->old_count; i++) {
        uint32_t t = cavity->old[i];
        for (uint32_t f = 0; f < 4; f++) {
            kiln_link link = mesh->tet[t].n[f];
            if (kiln_link_is_interface(mesh, t, link) &&
                kiln_cavity_has_old(scratch, cavity, link / 4) &&
                !survives_inside(mesh, cavity, scratch, t, f))
                return KILN_REFUSED_REGION;
        }
    }
    return KILN_ACCEPTED;
}

static bool hand_to_tet(const kiln_cavity *cavity, struct kiln_scratch *scratch, uint32_t i,
                        uint32_t a, uint32_t b, uint32_t marks)
{
    uint32_t ca = 4, cb = 4;
    for (uint32_t k = 0; k < 4; k++) {
        ca = cavity->fresh[i].v[k] == a ? k : ca;
        cb = cavity->fresh[i].v[k] == b ? k : cb;
    }
    if (ca == 4 || cb == 4)
        return false;
    scratch->marks.data[i] |= marks << kiln_edge_of[ca][cb];
    return true;
}

/* Hands the marks of edge a-b to every new tet that has it; false when none does. */
static bool hand_on_edge(const kiln_cavity *cavity, struct kiln_scratch *scratch, uint32_t a,
                         uint32_t b, uint32_t marks)
{
    bool found = false;
    if (KILN_UNLIKELY(scratch->many)) {
        uint32_t count, other;
        const uint32_t *tets = kiln_corner_list(&scratch->fresh_at, a, &count);
        const uint32_t *others = kiln_corner_list(&scratch->fresh_at, b, &other);
        bool shorter = other < count;
        for (uint32_t i = 0; i < (shorter ? other : count); i++)
            found |= hand_to_tet(cavity, scratch, shorter ? others[i] : tets[i], a, b, marks);
        return found;
    }
    for (uint32_t i = 0; i < cavity->fresh_count; i++)
        found |= hand_to_tet(cavity, scratch, i, a, b, marks);
    return found;
}

static bool hand_on_face(const kiln_cavity *cavity, struct kiln_scratch *scratch,
                         const uint32_t key[3], uint32_t marks)
{
    bool found = false;
    uint32_t other[3];
    if (scratch->hashed) {
        const kiln_match *match = kiln_match_of(scratch, key);
        for (int side = 0; side < 2 && match && match->fresh[side] != KILN_NONE; side++) {
            found = true;
            scratch->marks.data[match->fresh[side] / 4] |= marks << match->fresh[side] % 4;
        }
        return found;
    }
    for (uint32_t i = 0; i < cavity->fresh_count; i++)
        for (uint32_t f = 0; f < 4; f++) {
            kiln_face_key(cavity->fresh[i].v, f, other);
            if (memcmp(key, other, sizeof other) != 0)
                continue;
            found = true;
            scratch->marks.data[i] |= marks << f;
        }
    return found;
}

/* Edges of the glued faces are marked as they are on the outside. */
static void take_over_glued(const kiln_mesh *mesh, const kiln_cavity *cavity,
                            struct kiln_scratch *scratch)
{
    const uint32_t one_edge = 1u << KILN_MARK_FEATURE_EDGE | 1u << KILN_MARK_REQUIRED_EDGE;
    const uint32_t one_face = 1u << KILN_MARK_REQUIRED_FACE | 1u << KILN_MARK_SPLIT_FACE;
    for (uint32_t i = 0; i < cavity->glued_count; i++) {
        uint32_t tet = cavity->glued[i].outside / 4, f = cavity->glued[i].outside % 4;
        const uint32_t *v = mesh->tet[tet].v;
        uint32_t marks = mesh->info[tet].marks;
        scratch->marks.data[cavity->glued[i].tet] |= ((marks >> f) & one_face)
                                                     << cavity->glued[i].face;
        for (int side = 0; side < 3; side++) {
            uint32_t a = kiln_face_corner[f][side], b = kiln_face_corner[f][(side + 1) % 3];
            uint32_t here = (marks >> kiln_edge_of[a][b]) & one_edge;
            if (here)
                hand_on_edge(cavity, scratch, v[a], v[b], here);
        }
    }
}

static kiln_verdict hand_on_marks(const kiln_mesh *mesh, const kiln_cavity *cavity,
                                  struct kiln_scratch *scratch, uint32_t tet)
{
    uint32_t marks = mesh->info[tet].marks, key[3];
    const uint32_t *v = mesh->tet[tet].v;
    const uint32_t one_edge = 1u << KILN_MARK_FEATURE_EDGE | 1u << KILN_MARK_REQUIRED_EDGE;
    const uint32_t one_face = 1u << KILN_MARK_REQUIRED_FACE | 1u << KILN_MARK_SPLIT_FACE;
    bool may_go = (cavity->flags & KILN_CAVITY_FEATURES) != 0;
    for (uint32_t e = 0; e < 6; e++) {
        uint32_t here = (marks >> e) & one_edge;
        if (!here)
            continue;
        bool kept =
            hand_on_edge(cavity, scratch, v[kiln_edge_ends[e][0]], v[kiln_edge_ends[e][1]], here);
        if (!kept && !may_go)
            return here >> KILN_MARK_REQUIRED_EDGE ? KILN_REFUSED_REQUIRED : KILN_REFUSED_FEATURE;
    }
    for (uint32_t f = 0; f < 4; f++) {
        uint32_t here = (marks >> f) & one_face;
        if (!here)
            continue;
        kiln_face_key(v, f, key);
        if (!hand_on_face(cavity, scratch, key, here) && !may_go)
            return here & 1u << KILN_MARK_REQUIRED_FACE ? KILN_REFUSED_REQUIRED
                                                        : KILN_REFUSED_FEATURE;
    }
    return KILN_ACCEPTED;
}

kiln_verdict kiln_cavity_settle_marks(const kiln_mesh *mesh, const kiln_cavity *cavity,
                                      struct kiln_scratch *scratch)
{
    uint32_t any = 0;
    for (uint32_t i = 0; i < cavity->old_count; i++)
        any |= mesh->info[cavity->old[i]].marks;
    for (uint32_t i = 0; i < cavity->fresh_count; i++) {
        uint32_t parent = cavity->fresh[i].parent;
        uint32_t world = parent == KILN_NONE ? 0 : mesh->info[parent].marks & KILN_MARK_WORLD;
        scratch->marks.data[i] = cavity->fresh[i].marks | world;
    }
    take_over_glued(mesh, cavity, scratch);
    if (KILN_LIKELY(!(any & (KILN_MARKS_ON_EDGE | KILN_MARKS_ON_FACE))))
        return KILN_ACCEPTED;
    for (uint32_t i = 0; i < cavity->old_count; i++) {
        kiln_verdict verdict = hand_on_marks(mesh, cavity, scratch, cavity->old[i]);
        if (verdict != KILN_ACCEPTED)
            return verdict;
    }
    return KILN_ACCEPTED;
}
