/* Walls in a contraction: surface faces and interfaces between regions. Which of them go and which
 * come is read off R and N: a face is a wall when N has a tet on one side only, or tets of two
 * regions. */
#include "remesh/contract_impl.h"
#include "remesh/surface.h"

#include <stdlib.h>
#include <string.h>

static bool same_patch(const kiln_patch *a, const kiln_patch *b)
{
    return a->below == b->below && a->above == b->above && a->tag == b->tag;
}

/* The wall that is face f of a tet, seen from there; false where it is none, or where it is an
 * interface and the other side has the lower region (each is told once). */
static bool wall_at(const kiln_mesh *mesh, uint32_t tet, uint32_t f, kiln_patch *patch)
{
    kiln_link link = mesh->tet[tet].n[f];
    int32_t region = mesh->info[tet].region;
    *patch = (kiln_patch){region, region, 0};
    if (kiln_link_is_surface(link)) {
        patch->tag = mesh->face[link - KILN_LINK_SURFACE].tag;
        return true;
    }
    patch->above = mesh->info[link / 4].region;
    return patch->below < patch->above;
}

static kiln_rim *rim_of(kiln_rims *rims, uint32_t vertex)
{
    for (uint32_t i = 0; i < rims->count; i++)
        if (rims->rim[i].vertex == vertex)
            return &rims->rim[i];
    rims->rim[rims->count] = (kiln_rim){.vertex = vertex};
    return &rims->rim[rims->count++];
}

static void add_wall(kiln_rims *rims, uint32_t vertex, const kiln_patch *patch)
{
    kiln_rim *rim = rim_of(rims, vertex);
    if (rim->walls++ == 0)
        rim->patch = *patch;
    rim->mixed |= !same_patch(&rim->patch, patch);
}

static void add_tet(const kiln_mesh *mesh, uint32_t tet, uint32_t vertex, kiln_rims *rims)
{
    const uint32_t *v = mesh->tet[tet].v;
    uint32_t marks = mesh->info[tet].marks, corner = kiln_tet_corner(&mesh->tet[tet], vertex);
    kiln_patch patch;
    for (uint32_t k = 0; k < 4; k++) {
        if (k == corner)
            continue;
        uint32_t edge = kiln_edge_of[corner][k];
        bool feature = marks >> (KILN_MARK_FEATURE_EDGE + edge) & 1;
        bool required = marks >> (KILN_MARK_REQUIRED_EDGE + edge) & 1;
        if (feature || required) {
            kiln_rim *rim = rim_of(rims, v[k]);
            rim->feature |= feature;
            rim->required |= required;
        }
        rims->required |= required || marks >> (KILN_MARK_REQUIRED_FACE + k) & 1 ||
                          marks >> (KILN_MARK_SPLIT_FACE + k) & 1;
        /* Face k has the vertex and the two corners that are neither. */
        if (!wall_at(mesh, tet, k, &patch))
            continue;
        for (uint32_t j = 0; j < 4; j++)
            if (j != k && j != corner)
                add_wall(rims, v[j], &patch);
    }
}

bool kiln_rims_gather(const kiln_contraction *c, const kiln_near_star *star, kiln_rims *out)
{
    /* Neighbours of a vertex are fewer than its tets by more than half, but not on the surface. */
    *out = (kiln_rims){
        .rim = kiln_arena_array(&c->workspace->arena, kiln_rim, 3 * (size_t)star->count)};
    if (!out->rim)
        return kiln_workspace_fail(c->workspace);
    for (uint32_t i = 0; i < star->count; i++)
        add_tet(c->remesher->mesh, star->tets[i], star->vertex, out);
    for (uint32_t i = 0; i < out->count; i++)
        out->curves += kiln_rim_is_curve(&out->rim[i]);
    return true;
}

const kiln_rim *kiln_rims_find(const kiln_rims *rims, uint32_t vertex)
{
    for (uint32_t i = 0; i < rims->count; i++)
        if (rims->rim[i].vertex == vertex)
            return &rims->rim[i];
    return NULL;
}

bool kiln_rim_is_curve(const kiln_rim *rim)
{
    return rim->feature || rim->required || rim->mixed || (rim->walls != 0 && rim->walls != 2);
}

/* A face of R or N. */
typedef struct face_entry {
    uint32_t key[3]; /* corners, ascending */
    uint32_t at;     /* index*4+face in `old` or `fresh` */
    bool fresh;
} face_entry;

/* A wall that goes or comes. */
typedef struct wall {
    kiln_patch patch;
    uint32_t corner[3]; /* outward from the tet below */
    uint32_t at;        /* as in face_entry */
    uint32_t record;    /* of the surface that goes; KILN_NONE for an interface */
} wall;

typedef struct wall_change {
    const kiln_mesh *mesh;
    const kiln_proposal *proposal;
    wall *gone, *come;
    uint32_t gone_count, come_count;
    bool torn; /* a face on the outside of R that N does not have, or the other way round; or a
                  face of a crack */
} wall_change;

static int compare_entries(const void *first, const void *second)
{
    const face_entry *a = first, *b = second;
    for (int i = 0; i < 3; i++)
        if (a->key[i] != b->key[i])
            return a->key[i] < b->key[i] ? -1 : 1;
    if (a->fresh != b->fresh)
        return a->fresh ? 1 : -1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static void enter(face_entry *entry, const uint32_t *v, uint32_t at, bool fresh)
{
    const uint8_t *corner = kiln_face_corner[at % 4];
    uint32_t key[3] = {v[corner[0]], v[corner[1]], v[corner[2]]};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2 - i; j++)
            if (key[j] > key[j + 1]) {
                uint32_t swap = key[j];
                key[j] = key[j + 1];
                key[j + 1] = swap;
            }
    *entry = (face_entry){{key[0], key[1], key[2]}, at, fresh};
}

static int32_t region_of(const wall_change *change, const face_entry *entry)
{
    const kiln_proposal *p = change->proposal;
    return change->mesh->info[entry->fresh ? p->fresh[entry->at / 4].parent : p->old[entry->at / 4]]
        .region;
}

static wall wall_of(const wall_change *change, const face_entry *entry, kiln_patch patch,
                    uint32_t record)
{
    const kiln_proposal *p = change->proposal;
    const uint32_t *v =
        entry->fresh ? p->fresh[entry->at / 4].v : change->mesh->tet[p->old[entry->at / 4]].v;
    const uint8_t *corner = kiln_face_corner[entry->at % 4];
    return (wall){patch, {v[corner[0]], v[corner[1]], v[corner[2]]}, entry->at, record};
}

/* One interior face of R or N with tets on both sides: an interface or nothing. */
static bool interface_of(const wall_change *change, const face_entry *entry, wall *out)
{
    int32_t first = region_of(change, &entry[0]), second = region_of(change, &entry[1]);
    if (first == second)
        return false;
    const face_entry *below = first < second ? &entry[0] : &entry[1];
    kiln_patch patch = {first < second ? first : second, first < second ? second : first, 0};
    *out = wall_of(change, below, patch, KILN_NONE);
    return true;
}

/* All entries of one face, R's first: what it was, what it is, and whether that is the same. */
static void compare_face(wall_change *change, const face_entry *entry, uint32_t old, uint32_t fresh)
{
    const kiln_mesh *mesh = change->mesh;
    wall before, after;
    bool was = false, is = false;
    if (old == 1) {
        kiln_link link = mesh->tet[change->proposal->old[entry->at / 4]].n[entry->at % 4];
        if (!kiln_link_is_surface(link) || fresh == 1) {
            change->torn |=
                fresh != 1 || region_of(change, &entry[0]) != region_of(change, &entry[1]);
            return;
        }
        int32_t region = region_of(change, entry);
        uint32_t record = link - KILN_LINK_SURFACE;
        /* A face with a twin is one side of a crack; the other side would have to change alike. */
        change->torn |= mesh->face[record].twin != 0;
        before =
            wall_of(change, entry, (kiln_patch){region, region, mesh->face[record].tag}, record);
        was = true;
    } else if (old == 2) {
        was = interface_of(change, entry, &before);
    }
    if (fresh == 1) {
        int32_t region = region_of(change, &entry[old]);
        after = wall_of(change, &entry[old], (kiln_patch){region, region, 0}, KILN_NONE);
        is = true;
    } else if (fresh == 2) {
        is = interface_of(change, &entry[old], &after);
    }
    if (was && is && same_patch(&before.patch, &after.patch) && fresh == 2)
        return;
    if (was)
        change->gone[change->gone_count++] = before;
    if (is)
        change->come[change->come_count++] = after;
}

static void compare_faces(wall_change *change, face_entry *entry, size_t count)
{
    for (size_t i = 0; i < count;) {
        size_t end = i;
        uint32_t old = 0, fresh = 0;
        for (; end < count && memcmp(entry[end].key, entry[i].key, sizeof entry->key) == 0; end++) {
            old += !entry[end].fresh;
            fresh += entry[end].fresh;
        }
        if (old > 2 || fresh > 2)
            change->torn = true;
        else
            compare_face(change, &entry[i], old, fresh);
        i = end;
    }
}

/* A wall that comes has the merged vertex and two corners that the wall it came of had too. */
static const wall *origin_of(const wall_change *change, const wall *come, uint32_t apex)
{
    bool surface = come->patch.above == come->patch.below;
    for (uint32_t i = 0; i < change->gone_count; i++) {
        const wall *gone = &change->gone[i];
        if (gone->patch.below != come->patch.below || gone->patch.above != come->patch.above ||
            surface != (gone->record != KILN_NONE))
            continue;
        int common = 0;
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 3; j++)
                common += come->corner[k] == gone->corner[j] && come->corner[k] != apex;
        if (common == 2)
            return gone;
    }
    return NULL;
}

/* Tags and parents of the surface faces that come; false where one came of nothing. */
static bool declare_faces(wall_change *change, kiln_proposal *p, uint32_t apex)
{
    for (uint32_t i = 0; i < change->come_count; i++) {
        wall *come = &change->come[i];
        const wall *origin = origin_of(change, come, apex);
        if (!origin)
            return false;
        come->patch = origin->patch;
        if (origin->record == KILN_NONE) {
            p->flags |= KILN_CAVITY_REGIONS;
            continue;
        }
        p->flags |= KILN_CAVITY_SURFACE;
        p->surface[p->surface_count++] = (kiln_new_face){.tet = come->at / 4,
                                                         .face = come->at % 4,
                                                         .tag = come->patch.tag,
                                                         .parent = origin->record};
    }
    return true;
}

static size_t corners_of(const wall *list, uint32_t count, const kiln_patch *patch,
                         uint32_t (*out)[3])
{
    size_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        if (same_patch(&list[i].patch, patch))
            memcpy(out[found++], list[i].corner, sizeof *out);
    return found;
}

/* Patch by patch. */
static bool shape_allows(const kiln_contraction *c, const wall_change *change)
{
    kiln_arena *arena = &c->workspace->arena;
    uint32_t(*gone)[3] = kiln_arena_alloc(arena, (change->gone_count + 1) * sizeof *gone);
    uint32_t(*come)[3] = kiln_arena_alloc(arena, (change->come_count + 1) * sizeof *come);
    if (!gone || !come)
        return kiln_workspace_fail(c->workspace);
    const kiln_place *place = change->proposal->has_place ? &change->proposal->place : NULL;
    for (uint32_t i = 0; i < change->gone_count; i++) {
        const kiln_patch *patch = &change->gone[i].patch;
        bool done = false;
        for (uint32_t j = 0; j < i; j++)
            done |= same_patch(&change->gone[j].patch, patch);
        if (done)
            continue;
        size_t goes = corners_of(change->gone, change->gone_count, patch, gone);
        size_t comes = corners_of(change->come, change->come_count, patch, come);
        /* Where nothing comes, the patch would lose its last faces here. */
        if (comes == 0 ||
            !kiln_surface_allows(c->remesher, c->workspace, (const uint32_t(*)[3])gone, goes,
                                 (const uint32_t(*)[3])come, comes, place))
            return false;
    }
    return true;
}

/* Change of the volume of every region, relative to what is replaced. */
static bool volume_fits(const kiln_contraction *c, const kiln_draft *draft)
{
    const kiln_remesher *remesher = c->remesher;
    const kiln_mesh *mesh = remesher->mesh;
    const kiln_proposal *p = &draft->proposal;
    const kiln_vec3 *points = kiln_remesher_points(remesher);
    kiln_vec3 merged = kiln_place_point(remesher, &p->place);
    for (uint32_t i = 0; i < p->old_count; i++) {
        int32_t region = mesh->info[p->old[i]].region;
        double change = 0.0, all = 0.0;
        bool done = false;
        for (uint32_t j = 0; j < i; j++)
            done |= mesh->info[p->old[j]].region == region;
        for (uint32_t j = 0; j < p->old_count && !done; j++) {
            const uint32_t *v = mesh->tet[p->old[j]].v;
            double volume = kiln_tet_volume(points[v[0]], points[v[1]], points[v[2]], points[v[3]]);
            all += j < p->old_count - draft->kept ? volume : 0.0;
            change -= mesh->info[p->old[j]].region == region ? volume : 0.0;
        }
        for (uint32_t j = 0; j < p->fresh_count && !done; j++) {
            if (mesh->info[p->fresh[j].parent].region != region)
                continue;
            kiln_vec3 q[4];
            for (int k = 0; k < 4; k++)
                q[k] = p->fresh[j].v[k] == KILN_PROPOSED ? merged : points[p->fresh[j].v[k]];
            change += kiln_tet_volume(q[0], q[1], q[2], q[3]);
        }
        if (fabs(change) > KILN_MOST_VOLUME_CHANGE * all)
            return false;
    }
    return true;
}

bool kiln_draft_settle_walls(const kiln_contraction *c, kiln_draft *draft)
{
    kiln_arena *arena = &c->workspace->arena;
    kiln_proposal *p = &draft->proposal;
    size_t faces = 4 * ((size_t)p->old_count + p->fresh_count);
    face_entry *entry = kiln_arena_array(arena, face_entry, faces);
    wall_change change = {.mesh = c->remesher->mesh,
                          .proposal = p,
                          .gone = kiln_arena_array(arena, wall, faces),
                          .come = kiln_arena_array(arena, wall, faces)};
    p->surface = kiln_arena_array(arena, kiln_new_face, faces);
    if (!entry || !change.gone || !change.come || !p->surface)
        return kiln_workspace_fail(c->workspace);
    for (uint32_t at = 0; at < 4 * p->old_count; at++)
        enter(&entry[at], change.mesh->tet[p->old[at / 4]].v, at, false);
    for (uint32_t at = 0; at < 4 * p->fresh_count; at++)
        enter(&entry[4 * p->old_count + at], p->fresh[at / 4].v, at, true);
    qsort(entry, faces, sizeof *entry, compare_entries);
    compare_faces(&change, entry, faces);
    uint32_t apex = p->has_place ? KILN_PROPOSED : draft->survivor;
    if (change.torn || !declare_faces(&change, p, apex))
        return false;
    if (change.gone_count == 0)
        return true;
    return volume_fits(c, draft) && shape_allows(c, &change);
}
