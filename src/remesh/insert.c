#include "remesh/insert.h"
#include "remesh/cavity.h"
#include "remesh/space.h"
#include "remesh/surface.h"

#include <string.h>

/* What is split: an edge, a face or a tet. */
typedef struct split_site {
    uint32_t vertex[4];
    double weight[4];
    int count;
    uint32_t flags;    /* KILN_CAVITY_*: what the split changes besides tets */
    bool bounded;      /* on the surface, an interface or a feature */
    bool feature;      /* a feature edge */
    bool world;        /* in tets that count in x only (remesh/space.h) */
    uint32_t facet[2]; /* surface faces in which it lies */
    int facets;
} split_site;

/* Bits of the faces of a tet that have all of the site's vertices. */
static uint8_t faces_with(const kiln_tet *tet, const split_site *site)
{
    uint32_t faces = 15;
    for (int i = 0; i < site->count; i++)
        faces &= ~(1u << kiln_tet_corner(tet, site->vertex[i]));
    return (uint8_t)faces;
}

/* The tets that have all of the corners become the seeds. */
static bool gather_seeds(const kiln_mesh *mesh, uint32_t tet, const uint32_t *corner,
                         const split_site *site, kiln_dig *dig)
{
    uint32_t ring[KILN_DIG_ROOM];
    dig->seeds = 1;
    ring[0] = tet * 4;
    if (site->count == 2)
        dig->seeds = kiln_edge_ring(mesh, tet, corner[0], corner[1], ring, KILN_DIG_ROOM).count;
    if (dig->seeds > KILN_DIG_ROOM)
        return false;
    if (site->count == 3) {
        kiln_link link = mesh->tet[tet].n[6 - corner[0] - corner[1] - corner[2]];
        if (!kiln_link_is_surface(link))
            ring[dig->seeds++] = link;
    }
    for (uint32_t i = 0; i < dig->seeds; i++) {
        dig->node[i].tet = ring[i] / 4;
        dig->node[i].split = faces_with(&mesh->tet[ring[i] / 4], site);
    }
    dig->count = dig->seeds;
    return true;
}

/* Marks of what is split: the edge's own and those of faces that have it. */
static uint32_t split_marks(const kiln_mesh *mesh, const kiln_dig_node *seed,
                            const split_site *site)
{
    uint32_t marks = mesh->info[seed->tet].marks, edge = 0;
    const kiln_tet *tet = &mesh->tet[seed->tet];
    if (site->count == 2) {
        uint32_t e = kiln_edge_of[kiln_tet_corner(tet, site->vertex[0])]
                                 [kiln_tet_corner(tet, site->vertex[1])];
        edge = 1u << (KILN_MARK_FEATURE_EDGE + e) | 1u << (KILN_MARK_REQUIRED_EDGE + e);
    }
    uint32_t faces = (uint32_t)seed->split << KILN_MARK_REQUIRED_FACE | (uint32_t)seed->split
                                                                            << KILN_MARK_SPLIT_FACE;
    return marks & (edge | faces);
}

/* What the seeds say about the site; false where it must not be split. */
static bool inspect(const kiln_mesh *mesh, const kiln_dig *dig, split_site *site)
{
    for (uint32_t i = 0; i < dig->seeds; i++) {
        const kiln_dig_node *seed = &dig->node[i];
        uint32_t marks = split_marks(mesh, seed, site);
        const uint32_t required = 63u << KILN_MARK_REQUIRED_EDGE | 15u << KILN_MARK_REQUIRED_FACE;
        if (mesh->info[seed->tet].marks & KILN_MARK_LOCKED || marks & required)
            return false;
        site->feature |= (marks & 63u << KILN_MARK_FEATURE_EDGE) != 0;
        site->flags |= marks ? KILN_CAVITY_FEATURES : 0;
        for (int f = 0; f < 4; f++) {
            if (!(seed->split >> f & 1))
                continue;
            kiln_link link = mesh->tet[seed->tet].n[f];
            if (kiln_link_is_surface(link)) {
                site->flags |= KILN_CAVITY_SURFACE;
                if (site->facets < 2)
                    site->facet[site->facets] = link - KILN_LINK_SURFACE;
                site->facets++;
            } else if (kiln_link_is_interface(mesh, seed->tet, link)) {
                site->flags |= KILN_CAVITY_REGIONS;
            }
        }
    }
    site->bounded = site->feature || site->flags & (KILN_CAVITY_SURFACE | KILN_CAVITY_REGIONS);
    return true;
}

static kiln_vec3 middle(const kiln_remesher *remesher, const split_site *site)
{
    const kiln_vec3 *points = site->world ? remesher->mesh->x : kiln_remesher_points(remesher);
    kiln_vec3 p = kiln_v3(0, 0, 0);
    for (int i = 0; i < site->count; i++)
        p = kiln_v3_madd(p, site->weight[i], points[site->vertex[i]]);
    return p;
}

/* The triangles of the surface and of interfaces that are split, and what they become. Pieces of
 * one triangle follow each other. */
typedef struct split_surface {
    uint32_t (*old)[3], (*fresh)[3];
    size_t old_count, fresh_count;
} split_surface;

static void split_triangle(const kiln_tet *tet, int f, const split_site *site, split_surface *s)
{
    uint32_t *whole = s->old[s->old_count++];
    for (int k = 0; k < 3; k++)
        whole[k] = tet->v[kiln_face_corner[f][k]];
    for (int i = 0; i < site->count; i++) {
        uint32_t *piece = s->fresh[s->fresh_count++];
        for (int k = 0; k < 3; k++)
            piece[k] = whole[k] == site->vertex[i] ? KILN_PROPOSED : whole[k];
    }
}

/* Whether a place off the straight middle leaves surfaces, and volume, as they must be. */
static bool surface_allows(const kiln_remesher *remesher, kiln_workspace *workspace,
                           const kiln_dig *dig, const split_site *site, const kiln_place *place)
{
    const kiln_mesh *mesh = remesher->mesh;
    uint32_t old[8][3], fresh[24][3];
    split_surface s = {.old = old, .fresh = fresh};
    double before = 0.0, after = 0.0;
    for (uint32_t i = 0; i < dig->seeds; i++) {
        const kiln_dig_node *seed = &dig->node[i];
        const kiln_tet *tet = &mesh->tet[seed->tet];
        for (int f = 0; f < 4; f++) {
            kiln_vec3 p[4];
            for (int c = 0; c < 4; c++)
                p[c] = c == f && seed->seen >> f & 1 ? place->u : mesh->u[tet->v[c]];
            if (seed->seen >> f & 1)
                after += kiln_tet_volume(p[0], p[1], p[2], p[3]);
            /* An interface is seen from both sides: once is enough. */
            bool surface = kiln_link_is_surface(tet->n[f]);
            bool interface =
                kiln_link_is_interface(mesh, seed->tet, tet->n[f]) && seed->tet < tet->n[f] / 4;
            if (!(seed->split >> f & 1) || !(surface || interface))
                continue;
            if (s.old_count == 8)
                return false;
            split_triangle(tet, f, site, &s);
        }
        before += kiln_mesh_tet_volume(mesh, seed->tet);
    }
    return fabs(after - before) < KILN_MOST_VOLUME_CHANGE * before &&
           kiln_surface_allows(remesher, workspace, (const uint32_t(*)[3])old, s.old_count,
                               (const uint32_t(*)[3])fresh, s.fresh_count, place);
}

/* Where the vertex goes: on a curved surface put back on it if that is legal, else straight in the
 * middle, which leaves the shape as it is. False where not even that is. */
static bool find_place(const kiln_remesher *remesher, kiln_workspace *workspace, uint32_t tet,
                       const split_site *site, kiln_dig *dig, kiln_place *place)
{
    kiln_vec3 straight = middle(remesher, site);
    if (site->bounded) {
        kiln_surface_place(remesher, tet, site->vertex, site->weight, site->count, place);
        kiln_vec3 p = kiln_place_point(remesher, place);
        bool is_straight = memcmp(&p, &straight, sizeof straight) == 0;
        if (kiln_dig_open(remesher, place, dig) &&
            (is_straight || surface_allows(remesher, workspace, dig, site, place)))
            return true;
        if (is_straight)
            return false;
    } else {
        *place = (kiln_place){.side = {.begin = straight,
                                       .hint = remesher->side.data[site->vertex[0]].hint,
                                       .freedom = KILN_FREE,
                                       .world = site->world}};
    }
    kiln_remesher_locate(remesher, straight, place);
    return kiln_dig_open(remesher, place, dig);
}

/* A face that is split: its pieces stay what it was. */
typedef struct split_face {
    uint32_t vertex[3];
    uint32_t record; /* surface face, or KILN_NONE */
    uint32_t marks;  /* of one face, not shifted */
} split_face;

enum { SPLIT_FACES = 32 };

/* The split faces that are surface or carry marks; SPLIT_FACES + 1 when there are too many. */
static uint32_t list_split_faces(const kiln_mesh *mesh, const kiln_dig *dig, split_face *faces)
{
    const uint32_t one_face = 1u << KILN_MARK_REQUIRED_FACE | 1u << KILN_MARK_SPLIT_FACE;
    uint32_t count = 0;
    for (uint32_t i = 0; i < dig->count; i++)
        for (int f = 0; f < 4 && dig->node[i].in; f++) {
            const kiln_tet *tet = &mesh->tet[dig->node[i].tet];
            uint32_t marks = mesh->info[dig->node[i].tet].marks >> f & one_face;
            bool surface = kiln_link_is_surface(tet->n[f]);
            if (!(dig->node[i].split >> f & 1) || !(surface || marks))
                continue;
            if (count == SPLIT_FACES)
                return SPLIT_FACES + 1;
            split_face *face = &faces[count++];
            for (int k = 0; k < 3; k++)
                face->vertex[k] = tet->v[kiln_face_corner[f][k]];
            face->record = surface ? tet->n[f] - KILN_LINK_SURFACE : KILN_NONE;
            face->marks = marks;
        }
    return count;
}

/* Whether face f of a new tet is a piece of a split one: the new vertex and two corners of it. */
static bool is_piece(const uint32_t v[4], uint32_t f, const split_face *face)
{
    uint32_t shared = 0, proposed = 0;
    for (uint32_t k = 0; k < 4; k++) {
        proposed += k != f && v[k] == KILN_PROPOSED;
        shared += k != f &&
                  (v[k] == face->vertex[0] || v[k] == face->vertex[1] || v[k] == face->vertex[2]);
    }
    return proposed == 1 && shared == 2;
}

/* Pieces of split faces and of a split feature edge stay surface and keep their marks. The new tet
 * that has a piece need not come from a seed: the cavity may go on round the piece's outer edge.
 * False where there are more pieces than edges, which replacing would refuse. */
static bool hand_on(const kiln_mesh *mesh, const split_site *site, const split_face *faces,
                    uint32_t count, kiln_proposal *out)
{
    for (uint32_t i = 0; i < out->fresh_count; i++) {
        kiln_new_tet *fresh = &out->fresh[i];
        uint32_t centre = 0;
        while (fresh->v[centre] != KILN_PROPOSED)
            centre++;
        for (uint32_t k = 0; k < 4 && site->feature; k++)
            if (fresh->v[k] == site->vertex[0] || fresh->v[k] == site->vertex[1])
                fresh->marks |= 1u << (KILN_MARK_FEATURE_EDGE + kiln_edge_of[centre][k]);
        for (uint32_t j = 0; j < 4 * count; j++) {
            const split_face *face = &faces[j / 4];
            if (!is_piece(fresh->v, j % 4, face))
                continue;
            fresh->marks |= face->marks << j % 4;
            if (face->record == KILN_NONE)
                continue;
            if (out->surface_count == 3 * count)
                return false;
            const kiln_face *whole = &mesh->face[face->record];
            out->surface[out->surface_count++] = (kiln_new_face){.tet = i,
                                                                 .face = j % 4,
                                                                 .tag = whole->tag,
                                                                 .parent = face->record,
                                                                 .twin = whole->twin};
        }
    }
    return true;
}

/* Room in the proposal for the chosen cavity. */
static bool reserve(kiln_workspace *workspace, const kiln_dig *dig, uint32_t split_faces,
                    kiln_proposal *out)
{
    uint32_t old = 0;
    for (uint32_t i = 0; i < dig->count; i++)
        old += dig->node[i].in;
    out->old = kiln_arena_array(&workspace->arena, uint32_t, old);
    out->fresh = kiln_arena_array(&workspace->arena, kiln_new_tet, 4 * old);
    out->quality = kiln_arena_array(&workspace->arena, double, 4 * old);
    out->surface = kiln_arena_array(&workspace->arena, kiln_new_face, 3 * split_faces + 1);
    return out->old && out->fresh && out->quality && out->surface;
}

static void write_node(const kiln_mesh *mesh, const kiln_dig *dig, const kiln_dig_node *node,
                       kiln_proposal *out)
{
    out->old[out->old_count++] = node->tet;
    out->before = fmin(out->before, node->own);
    for (int k = 0; k < 4; k++) {
        bool open = node->child[k] == KILN_DIG_OUTSIDE || !dig->node[node->child[k]].in;
        if (!(node->seen >> k & 1) || !open)
            continue;
        kiln_new_tet *fresh = &out->fresh[out->fresh_count];
        *fresh = (kiln_new_tet){.parent = node->tet, .slot = KILN_NONE};
        memcpy(fresh->v, mesh->tet[node->tet].v, sizeof fresh->v);
        fresh->v[k] = KILN_PROPOSED;
        out->quality[out->fresh_count++] = node->weight[k];
        out->after = fmin(out->after, node->weight[k]);
    }
}

/* Whether the surface may have the pieces instead of the faces: its shape where it is curved, in
 * any case what guards it in the world. */
static bool shape_stays(const kiln_remesher *remesher, kiln_workspace *workspace,
                        const split_face *faces, uint32_t count, bool on_curved,
                        const kiln_proposal *proposal)
{
    const kiln_mesh *mesh = remesher->mesh;
    uint32_t old[SPLIT_FACES][3], fresh[3 * SPLIT_FACES][3];
    double before = 0.0, after = 0.0;
    size_t old_count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (faces[i].record != KILN_NONE)
            memcpy(old[old_count++], faces[i].vertex, sizeof *old);
    for (uint32_t i = 0; i < proposal->surface_count; i++) {
        const kiln_new_face *face = &proposal->surface[i];
        for (int k = 0; k < 3; k++)
            fresh[i][k] = proposal->fresh[face->tet].v[kiln_face_corner[face->face][k]];
    }
    const uint32_t(*gone)[3] = (const uint32_t(*)[3])old, (*come)[3] = (const uint32_t(*)[3])fresh;
    if (!on_curved)
        return kiln_surface_is_guarded(remesher, workspace, gone, old_count, come,
                                       proposal->surface_count, &proposal->place);
    for (uint32_t i = 0; i < proposal->old_count; i++)
        before += kiln_mesh_tet_volume(mesh, proposal->old[i]);
    for (uint32_t i = 0; i < proposal->fresh_count; i++) {
        kiln_vec3 p[4];
        for (int k = 0; k < 4; k++) {
            uint32_t v = proposal->fresh[i].v[k];
            p[k] = v == KILN_PROPOSED ? proposal->place.u : mesh->u[v];
        }
        after += kiln_tet_volume(p[0], p[1], p[2], p[3]);
    }
    return fabs(after - before) < KILN_MOST_VOLUME_CHANGE * before &&
           kiln_surface_allows(remesher, workspace, gone, old_count, come, proposal->surface_count,
                               &proposal->place);
}

static bool write_proposal(const kiln_remesher *remesher, kiln_workspace *workspace,
                           const kiln_dig *dig, const split_site *site, const kiln_place *place,
                           kiln_proposal *out)
{
    *out = (kiln_proposal){.kind = KILN_OP_INSERTION,
                           .flags = site->flags,
                           .before = INFINITY,
                           .after = INFINITY,
                           .stamp = remesher->mesh->clock,
                           .has_place = true,
                           .place = *place,
                           .parents = site->count,
                           .vertex_flags = site->feature ? KILN_VERTEX_FEATURE : 0};
    split_face faces[SPLIT_FACES];
    uint32_t split_faces = site->flags ? list_split_faces(remesher->mesh, dig, faces) : 0;
    if (split_faces > SPLIT_FACES)
        return false;
    if (!reserve(workspace, dig, split_faces, out))
        return kiln_workspace_fail(workspace);
    memcpy(out->parent, site->vertex, sizeof out->parent);
    memcpy(out->weight, site->weight, sizeof out->weight);
    for (uint32_t i = 0; i < dig->count; i++)
        if (dig->node[i].in)
            write_node(remesher->mesh, dig, &dig->node[i], out);
    if (site->flags && !hand_on(remesher->mesh, site, faces, split_faces, out))
        return false;
    bool on_curved = place->side.freedom == KILN_ON_SURFACE && split_faces > (uint32_t)site->facets;
    return !(on_curved || remesher->options.guard) ||
           shape_stays(remesher, workspace, faces, split_faces, on_curved, out);
}

/* On the surface, or on a straight feature between flat facets, the cavity may go on along it. */
static void allow_facets(const split_site *site, const kiln_place *place, kiln_dig_limits *limits)
{
    uint32_t freedom = place->side.freedom;
    bool flat = freedom == KILN_ON_PLANE || freedom == KILN_ON_LINE;
    if (!(flat || freedom == KILN_ON_SURFACE) || site->facets > 2 ||
        site->flags & KILN_CAVITY_REGIONS)
        return;
    limits->curved = !flat;
    limits->facets = site->facets;
    memcpy(limits->facet, site->facet, sizeof limits->facet);
}

/* The best cavity from open seeds, as a proposal. */
static bool propose_best(const kiln_remesher *remesher, kiln_workspace *workspace,
                         const split_site *site, const kiln_place *place,
                         const kiln_dig_limits *reach, kiln_dig *dig, kiln_proposal *out)
{
    if (!kiln_dig_grow(remesher, workspace, place, reach, dig))
        return kiln_workspace_fail(workspace);
    kiln_dig_score(remesher, place, dig);
    kiln_dig_choose(dig);
    return write_proposal(remesher, workspace, dig, site, place, out);
}

static bool propose(const kiln_remesher *remesher, kiln_workspace *workspace, uint32_t tet,
                    const uint32_t *corner, int corners, const kiln_insertion_limits *limits,
                    kiln_proposal *out)
{
    kiln_dig *dig = kiln_arena_array(&workspace->arena, kiln_dig, 1);
    if (!dig)
        return kiln_workspace_fail(workspace);
    split_site site = {.count = corners};
    for (int i = 0; i < corners; i++) {
        site.vertex[i] = remesher->mesh->tet[tet].v[corner[i]];
        site.weight[i] = 1.0 / corners;
    }
    site.world = kiln_site_in_world(remesher, tet, site.vertex, corners);
    kiln_place place;
    if (!gather_seeds(remesher->mesh, tet, corner, &site, dig) ||
        !inspect(remesher->mesh, dig, &site) ||
        !find_place(remesher, workspace, tet, &site, dig, &place))
        return false;
    kiln_dig_limits reach = {.depth = limits->depth, .may_swallow = limits->may_swallow};
    allow_facets(&site, &place, &reach);
    bool found = propose_best(remesher, workspace, &site, &place, &reach, dig, out);
    if (!found && (reach.curved || (reach.facets > 0 && remesher->options.guard))) {
        /* The surface does not allow that much. */
        reach.facets = 0;
        found = kiln_dig_open(remesher, &place, dig) &&
                propose_best(remesher, workspace, &site, &place, &reach, dig, out);
    }
    out->kind = limits->depth > 0 ? KILN_OP_INSERTION : KILN_OP_SPLIT;
    return found && kiln_judge_figures(remesher, out) && kiln_judge_may(remesher, out);
}

bool kiln_insertion_propose(const kiln_remesher *remesher, kiln_workspace *workspace, uint32_t tet,
                            const uint32_t *corner, int corners,
                            const kiln_insertion_limits *limits, kiln_proposal *out)
{
    kiln_arena_mark mark = kiln_arena_set_mark(&workspace->arena);
    if (propose(remesher, workspace, tet, corner, corners, limits, out))
        return true;
    kiln_arena_release(&workspace->arena, mark);
    return false;
}

bool kiln_split_propose(const kiln_remesher *remesher, kiln_workspace *workspace, uint32_t tet,
                        const uint32_t *corner, int corners, kiln_proposal *out)
{
    const kiln_insertion_limits bare = {0};
    return kiln_insertion_propose(remesher, workspace, tet, corner, corners, &bare, out);
}
