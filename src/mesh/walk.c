#include "mesh/walk.h"
#include "base/random.h"
#include "geom/predicates.h"
#include "mesh/journal.h"

void kiln_walker_init(kiln_walker *walker, kiln_context *context)
{
    *walker = (kiln_walker){.context = context};
}

void kiln_walker_free(kiln_walker *walker)
{
    kiln_array_free(walker->context, &walker->tets);
    kiln_array_free(walker->context, &walker->seen.slots);
    kiln_array_free(walker->context, &walker->link.slots);
    kiln_array_free(walker->context, &walker->parents);
}

static kiln_status visit(kiln_walker *walker, uint32_t tet, kiln_error *error)
{
    kiln_idset_slot *slot = kiln_idset_at(&walker->seen, tet);
    if (slot->epoch == walker->seen.epoch)
        return KILN_OK;
    kiln_idset_add(&walker->seen, slot, tet, (uint32_t)walker->tets.count);
    KILN_TRY(kiln_array_push(walker->context, &walker->tets, tet, error));
    if (2 * (size_t)walker->seen.members < walker->seen.slots.count)
        return KILN_OK;
    return kiln_idset_grow(walker->context, &walker->seen, error);
}

kiln_status kiln_star(const kiln_mesh *mesh, uint32_t vertex, kiln_walker *walker,
                      kiln_error *error)
{
    walker->tets.count = 0;
    KILN_TRY(kiln_idset_clear(walker->context, &walker->seen, 0, error));
    if (kiln_star_listed(mesh, vertex)) {
        const kiln_u32_array *list = kiln_star_list(mesh, vertex);
        for (size_t i = 0; i < list->count; i++)
            KILN_TRY(visit(walker, list->data[i], error));
        return KILN_OK;
    }
    uint32_t anchor = mesh->vertex[vertex].tet;
    if (anchor == KILN_NONE)
        return KILN_OK;
    KILN_TRY(visit(walker, anchor, error));
    for (size_t next = 0; next < walker->tets.count; next++) {
        const kiln_tet *tet = &mesh->tet[walker->tets.data[next]];
        for (int i = 0; i < 4; i++)
            if (tet->v[i] != vertex && !kiln_link_is_surface(tet->n[i]))
                KILN_TRY(visit(walker, tet->n[i] / 4, error));
    }
    return KILN_OK;
}

kiln_status kiln_edge_tets(const kiln_mesh *mesh, uint32_t a, uint32_t b, kiln_walker *walker,
                           kiln_error *error)
{
    KILN_TRY(kiln_star(mesh, a, walker, error));
    size_t kept = 0;
    for (size_t i = 0; i < walker->tets.count; i++)
        if (kiln_tet_corner(&mesh->tet[walker->tets.data[i]], b) < 4)
            walker->tets.data[kept++] = walker->tets.data[i];
    walker->tets.count = kept;
    return KILN_OK;
}

/* From tet*4+exit round the edge a-b to the next tet*4+exit; KILN_NONE at the surface. The vertex
 * that is neither on the edge nor opposite the exit stays on the face crossed, so it is the one to
 * leave behind next. */
static uint32_t ring_step(const kiln_mesh *mesh, uint32_t packed, uint32_t a, uint32_t b)
{
    const kiln_tet *tet = &mesh->tet[packed / 4];
    uint32_t exit = packed % 4;
    kiln_link link = tet->n[exit];
    if (kiln_link_is_surface(link))
        return KILN_NONE;
    uint32_t pivot = 0;
    while (pivot == exit || tet->v[pivot] == a || tet->v[pivot] == b)
        pivot++;
    uint32_t next = link / 4;
    return next * 4 + kiln_tet_corner(&mesh->tet[next], tet->v[pivot]);
}

kiln_ring kiln_edge_ring(const kiln_mesh *mesh, uint32_t tet, uint32_t corner_a, uint32_t corner_b,
                         uint32_t *tets, uint32_t room)
{
    uint32_t a = mesh->tet[tet].v[corner_a], b = mesh->tet[tet].v[corner_b];
    uint32_t forward = 0;
    while (forward == corner_a || forward == corner_b)
        forward++;
    uint32_t backward = 6 - corner_a - corner_b - forward;

    /* To the surface on one side, if there is one. */
    uint32_t start = tet * 4 + forward, at = tet * 4 + backward, end;
    while ((end = ring_step(mesh, at, a, b)) != KILN_NONE && end / 4 != tet)
        at = end;
    kiln_ring ring = {0, end != KILN_NONE};
    if (!ring.closed) {
        uint32_t other = 0;
        const kiln_tet *last = &mesh->tet[at / 4];
        while (other == at % 4 || last->v[other] == a || last->v[other] == b)
            other++;
        start = (at / 4) * 4 + other;
    }
    at = start;
    do {
        if (ring.count < room)
            tets[ring.count] = at;
        ring.count++;
        at = ring_step(mesh, at, a, b);
    } while (at != KILN_NONE && at / 4 != start / 4);
    return ring;
}

bool kiln_edge_is_own(const kiln_mesh *mesh, uint32_t tet, uint32_t corner_a, uint32_t corner_b)
{
    uint32_t a = mesh->tet[tet].v[corner_a], b = mesh->tet[tet].v[corner_b];
    for (uint32_t k = 0; k < 4; k++) /* most are found next to it, and are not looked at for that */
        if (k != corner_a && k != corner_b && !kiln_link_is_surface(mesh->tet[tet].n[k]) &&
            mesh->tet[tet].n[k] / 4 < tet)
            return false;
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t at = tet * 4 + k;
        if (k == corner_a || k == corner_b)
            continue;
        while ((at = ring_step(mesh, at, a, b)) != KILN_NONE && at / 4 > tet)
            continue;
        if (at != KILN_NONE)
            return at / 4 == tet;
    }
    return true;
}

static uint32_t find_root(uint32_t *parents, uint32_t i)
{
    while (parents[i] != i)
        i = parents[i] = parents[parents[i]];
    return i;
}

kiln_status kiln_star_classes(const kiln_mesh *mesh, uint32_t vertex, bool respect_split,
                              kiln_walker *walker, kiln_u32_array *class_of, uint32_t *classes,
                              kiln_error *error)
{
    KILN_TRY(kiln_star(mesh, vertex, walker, error));
    size_t count = walker->tets.count;
    KILN_TRY(kiln_array_reserve(walker->context, &walker->parents, count, error));
    KILN_TRY(kiln_array_reserve(walker->context, class_of, count, error));
    uint32_t *parents = walker->parents.data;
    for (uint32_t i = 0; i < count; i++)
        parents[i] = i;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t t = walker->tets.data[i];
        for (int f = 0; f < 4; f++) {
            kiln_link link = mesh->tet[t].n[f];
            if (mesh->tet[t].v[f] == vertex || kiln_link_is_surface(link))
                continue;
            if (respect_split && (mesh->info[t].marks >> (KILN_MARK_SPLIT_FACE + f)) & 1)
                continue;
            uint32_t other = kiln_idset_at(&walker->seen, link / 4)->value;
            parents[find_root(parents, i)] = find_root(parents, other);
        }
    }
    /* Number the classes by their lowest tet. */
    *classes = 0;
    class_of->count = count;
    for (size_t i = 0; i < count; i++)
        class_of->data[i] = KILN_NONE;
    for (;;) {
        uint32_t lowest = KILN_NONE;
        for (uint32_t i = 0; i < count; i++)
            if (class_of->data[i] == KILN_NONE &&
                (lowest == KILN_NONE || walker->tets.data[i] < walker->tets.data[lowest]))
                lowest = i;
        if (lowest == KILN_NONE)
            return KILN_OK;
        uint32_t root = find_root(parents, lowest);
        for (uint32_t i = 0; i < count; i++)
            if (find_root(parents, i) == root)
                class_of->data[i] = *classes;
        ++*classes;
    }
}

/* Is the star in walker->tets connected through its faces? */
static kiln_status star_is_connected(const kiln_mesh *mesh, uint32_t vertex, kiln_walker *walker,
                                     bool *connected, kiln_error *error)
{
    uint32_t count = (uint32_t)walker->tets.count, classes = count;
    KILN_TRY(kiln_array_reserve(walker->context, &walker->parents, count, error));
    uint32_t *parents = walker->parents.data;
    for (uint32_t i = 0; i < count; i++)
        parents[i] = i;
    for (uint32_t i = 0; i < count; i++) {
        const kiln_tet *tet = &mesh->tet[walker->tets.data[i]];
        for (int f = 0; f < 4; f++) {
            if (tet->v[f] == vertex || kiln_link_is_surface(tet->n[f]))
                continue;
            uint32_t a = find_root(parents, i);
            uint32_t b = find_root(parents, kiln_idset_at(&walker->seen, tet->n[f] / 4)->value);
            classes -= a != b;
            parents[a] = b;
        }
    }
    *connected = classes == 1;
    return KILN_OK;
}

/* The far end of an edge at `vertex` whose tets form several fans, or KILN_NONE. */
static uint32_t find_split_edge(const kiln_mesh *mesh, uint32_t vertex, const kiln_walker *walker)
{
    for (size_t i = 0; i < walker->tets.count; i++) {
        const kiln_tet *tet = &mesh->tet[walker->tets.data[i]];
        uint32_t corner = kiln_tet_corner(tet, vertex);
        for (uint32_t k = 0; k < 4; k++) {
            if (k == corner)
                continue;
            uint32_t sharing = 0;
            for (size_t j = 0; j < walker->tets.count; j++)
                sharing += kiln_tet_corner(&mesh->tet[walker->tets.data[j]], tet->v[k]) < 4;
            if (kiln_edge_ring(mesh, walker->tets.data[i], corner, k, NULL, 0).count != sharing)
                return tet->v[k];
        }
    }
    return KILN_NONE;
}

kiln_status kiln_vertex_examine(const kiln_mesh *mesh, uint32_t vertex, kiln_walker *walker,
                                kiln_vertex_state *state, uint32_t *other, kiln_error *error)
{
    *state = KILN_VERTEX_MANIFOLD;
    *other = KILN_NONE;
    KILN_TRY(kiln_star(mesh, vertex, walker, error));
    if (walker->tets.count == 0) {
        *state = KILN_VERTEX_LOOSE;
        return KILN_OK;
    }
    bool connected;
    KILN_TRY(star_is_connected(mesh, vertex, walker, &connected, error));
    if (!connected) {
        *state = KILN_VERTEX_STAR_SPLIT;
        return KILN_OK;
    }
    /* The link of the vertex is a connected piece of a sphere. Its Euler characteristic is 2 minus
     * the boundary cycles minus the pinched vertices: 2 when closed, 1 for a disc, less otherwise.
     */
    KILN_TRY(kiln_idset_clear(walker->context, &walker->link, 3 * walker->tets.count, error));
    int64_t faces = (int64_t)walker->tets.count, boundary = 0;
    for (size_t i = 0; i < walker->tets.count; i++) {
        const kiln_tet *tet = &mesh->tet[walker->tets.data[i]];
        for (int k = 0; k < 4; k++) {
            if (tet->v[k] == vertex)
                continue;
            boundary += kiln_link_is_surface(tet->n[k]);
            kiln_idset_slot *slot = kiln_idset_at(&walker->link, tet->v[k]);
            if (slot->epoch != walker->link.epoch)
                kiln_idset_add(&walker->link, slot, tet->v[k], 0);
        }
    }
    int64_t euler = (int64_t)walker->link.members - (3 * faces + boundary) / 2 + faces;
    if (euler == (boundary ? 1 : 2))
        return KILN_OK;
    *other = find_split_edge(mesh, vertex, walker);
    *state = *other != KILN_NONE ? KILN_VERTEX_EDGE_SPLIT : KILN_VERTEX_SURFACE_CYCLES;
    return KILN_OK;
}

uint32_t kiln_surface_across(const kiln_mesh *mesh, uint32_t face, uint32_t a, uint32_t b)
{
    uint32_t tet = mesh->face[face].at / 4, entry = mesh->face[face].at % 4;
    for (;;) {
        const kiln_tet *record = &mesh->tet[tet];
        uint32_t exit = 0;
        while (exit == entry || record->v[exit] == a || record->v[exit] == b)
            exit++;
        kiln_link link = record->n[exit];
        if (kiln_link_is_surface(link))
            return link - KILN_LINK_SURFACE;
        tet = link / 4;
        entry = link % 4;
    }
}

/* Visibility walk. In a mesh that is not Delaunay the walk may run in circles; starting each tet at
 * another face by a fixed pseudo-random sequence breaks them. */
uint32_t kiln_locate(const kiln_mesh *mesh, kiln_vec3 u, uint32_t start, uint32_t *last,
                     uint32_t *visits)
{
    uint32_t tet = start, came_from = KILN_NONE, count = 0, limit = 1000 + mesh->table[1].live;
    while (count < limit) {
        count++;
        *last = tet;
        uint32_t first = (uint32_t)kiln_hash_mix(count) & 3, step;
        const kiln_tet *record = &mesh->tet[tet];
        for (step = 0; step < 4; step++) {
            uint32_t f = (first + step) & 3;
            const uint8_t *corner = kiln_face_corner[f];
            if (record->n[f] == came_from)
                continue;
            if (kiln_orient3d(mesh->u[record->v[corner[0]]], mesh->u[record->v[corner[1]]],
                              mesh->u[record->v[corner[2]]], u) <= 0.0)
                continue;
            if (kiln_link_is_surface(record->n[f])) {
                *visits = count;
                return KILN_NONE;
            }
            came_from = kiln_link_to(tet, f);
            tet = record->n[f] / 4;
            break;
        }
        if (step == 4) {
            *visits = count;
            return tet;
        }
    }
    *visits = count;
    return KILN_NONE;
}
