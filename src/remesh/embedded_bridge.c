/* What joins fine surfaces where bodies became one: a piece of the new mesh.
 *
 * Bodies merge across a gap, so their surfaces need not meet. What was their outline and is inside
 * now says where; the tets round it are matter, with a closed surface of their own, and united with
 * it the fine ones are one. All of it that lies on the outline is drawn in a little, so that it is
 * seen in the gap alone: elsewhere the fine surfaces are what the eye is to see. */
#include "base/assert.h"
#include "geom/bvh.h"
#include "remesh/embedded_unite.h"
#include "topology/edge_table.h"

#include <math.h>
#include <string.h>

/* Parts of an edge: how deep the old outline must be inside, how far round it tets are taken, how
 * far off the fine surfaces a vertex must be to be one of the gap; and of the way to the middle of
 * its tets by which one that is not is drawn in. */
static const double DEEP = 0.1, ROUND = 1.2, OFF = 0.1, DRAWN_IN = 0.3;
/* Edges of the piece, of those of the fine surfaces. */
static const double LONG = 1.5;
enum { SPLITS = 8, MOST_SHARE = 4, MOST_FACES = 100000 };

typedef struct bridging {
    const kiln_mesh *from, *to;
    const uint8_t *member; /* [body] */
    kiln_vec3 origin;
    const kiln_triangle_tree *fine;
    kiln_shell *out;
    KILN_ARRAY_OF(kiln_vec3)
    buried; /* points of the old outline that are inside now */
    kiln_bvh burial;
    kiln_f64_array edge; /* [vertex] mean length of its edges in the new mesh */
    KILN_ARRAY_OF(kiln_vec3)
    middle;                /* [vertex] of its tets */
    kiln_u32_array face;   /* [4 * tet + f] number in the piece's surface, or KILN_NONE */
    kiln_u32_array at;     /* [face] 4 * tet + f */
    kiln_u32_array corner; /* [3 * face + k] union of copies of a vertex */
} bridging;

static bool is_member(const bridging *b, const kiln_mesh *mesh, uint32_t tet)
{
    return kiln_tet_live(mesh, tet) && b->member[mesh->parts.data[mesh->info[tet].part].body];
}

kiln_status kiln_outline_of(const kiln_mesh *mesh, const uint8_t *member, kiln_vec3 origin,
                            kiln_triangle_array *out, kiln_error *error)
{
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t at = mesh->face[f].at;
        if (!kiln_face_live(mesh, f) || !member[mesh->parts.data[mesh->info[at / 4].part].body])
            continue;
        kiln_triangle triangle;
        for (int k = 0; k < 3; k++)
            triangle.p[k] =
                kiln_v3_sub(mesh->x[mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]], origin);
        KILN_TRY(kiln_array_push(mesh->context, out, triangle, error));
    }
    return KILN_OK;
}

static kiln_status bury(bridging *b, const kiln_triangle *old, const kiln_triangle_tree *outline,
                        kiln_error *error)
{
    kiln_vec3 centre =
        kiln_v3_scale(kiln_v3_add(old->p[0], kiln_v3_add(old->p[1], old->p[2])), 1.0 / 3.0);
    double area2 = kiln_v3_norm(
        kiln_v3_cross(kiln_v3_sub(old->p[1], old->p[0]), kiln_v3_sub(old->p[2], old->p[0])));
    double deep = DEEP * sqrt(area2 * 2.0 / sqrt(3.0)), unused;
    for (int k = 0; k < 4; k++) {
        kiln_vec3 p = k < 3 ? kiln_v3_lerp(centre, old->p[k], 0.5) : centre;
        if (kiln_triangle_tree_closest(outline, p, deep, &unused) != KILN_BVH_NONE)
            continue;
        if (kiln_triangle_tree_winding(outline, p) > 0.5)
            KILN_TRY(kiln_array_push(b->to->context, &b->buried, p, error));
    }
    return KILN_OK;
}

static kiln_status find_buried(bridging *b, kiln_error *error)
{
    kiln_context *context = b->to->context;
    kiln_triangle_array old = {0}, fresh = {0};
    kiln_triangle_tree outline = {0};
    kiln_status status = kiln_outline_of(b->from, b->member, b->origin, &old, error);
    if (status == KILN_OK)
        status = kiln_outline_of(b->to, b->member, b->origin, &fresh, error);
    if (status == KILN_OK)
        status = kiln_triangle_tree_build(&outline, context, fresh.data, fresh.count, error);
    for (size_t i = 0; i < old.count && status == KILN_OK; i++)
        status = bury(b, &old.data[i], &outline, error);
    kiln_triangle_tree_destroy(&outline);
    kiln_array_free(context, &old);
    kiln_array_free(context, &fresh);
    return status;
}

/* Lengths of edges, and the middles of stars. */
static kiln_status measure(bridging *b, kiln_error *error)
{
    const kiln_mesh *mesh = b->to;
    kiln_f64_array count = {0}, volume = {0};
    size_t rows = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(mesh->context, &b->edge, rows, error));
    KILN_TRY(kiln_array_reserve(mesh->context, &b->middle, rows, error));
    kiln_status status = kiln_array_reserve(mesh->context, &count, rows, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(mesh->context, &volume, rows, error);
    for (size_t v = 0; v < rows && status == KILN_OK; v++) {
        b->edge.data[v] = count.data[v] = volume.data[v] = 0.0;
        b->middle.data[v] = kiln_v3(0, 0, 0);
    }
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used && status == KILN_OK; t++) {
        const uint32_t *v = mesh->tet[t].v;
        if (!is_member(b, mesh, t))
            continue;
        kiln_vec3 p[4], middle = {0, 0, 0};
        for (int i = 0; i < 4; i++) {
            p[i] = kiln_v3_sub(mesh->x[v[i]], b->origin);
            middle = kiln_v3_madd(middle, 0.25, p[i]);
        }
        double six = fabs(kiln_v3_triple(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0]),
                                         kiln_v3_sub(p[3], p[0])));
        for (int i = 0; i < 4; i++) {
            b->middle.data[v[i]] = kiln_v3_madd(b->middle.data[v[i]], six, middle);
            volume.data[v[i]] += six;
            for (int k = 1; k < 4; k++)
                b->edge.data[v[i]] += kiln_v3_norm(kiln_v3_sub(p[i], p[(i + k) % 4]));
            count.data[v[i]] += 3.0;
        }
    }
    for (size_t v = 0; v < rows && status == KILN_OK; v++) {
        b->edge.data[v] /= fmax(count.data[v], 1.0);
        b->middle.data[v] = kiln_v3_scale(b->middle.data[v], 1.0 / fmax(volume.data[v], 1e-300));
    }
    kiln_array_free(mesh->context, &count);
    kiln_array_free(mesh->context, &volume);
    return status;
}

static double distance2_to(void *user, uint32_t item, kiln_vec3 point)
{
    const bridging *b = user;
    return kiln_v3_norm2(kiln_v3_sub(b->buried.data[item], point));
}

static kiln_status plant_burial(bridging *b, kiln_error *error)
{
    kiln_context *context = b->to->context;
    KILN_ARRAY_OF(kiln_box)
    boxes = {0};
    KILN_TRY(kiln_array_reserve(context, &boxes, b->buried.count, error));
    for (size_t i = 0; i < b->buried.count; i++)
        boxes.data[boxes.count++] = kiln_box_of(&b->buried.data[i], 1);
    kiln_status status = kiln_bvh_build(&b->burial, context, boxes.data, boxes.count, error);
    kiln_array_free(context, &boxes);
    return status;
}

static bool is_near(bridging *b, uint32_t v)
{
    double reach = ROUND * b->edge.data[v];
    kiln_vec3 p = kiln_v3_sub(b->to->x[v], b->origin);
    return kiln_bvh_closest(&b->burial, p, reach * reach, distance2_to, b, NULL) != KILN_BVH_NONE;
}

/* Tets with a vertex near what is buried; their faces that are the piece's surface. */
static kiln_status choose(bridging *b, kiln_error *error)
{
    const kiln_mesh *mesh = b->to;
    kiln_context *context = mesh->context;
    size_t rows = mesh->table[KILN_ON_VERTEX].used, tets = mesh->table[KILN_ON_TET].used;
    KILN_ARRAY_OF(uint8_t)
    near = {0}, chosen = {0};
    kiln_status status = kiln_array_reserve(context, &near, rows, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(context, &chosen, tets, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(context, &b->face, 4 * tets, error);
    for (uint32_t v = 0; v < rows && status == KILN_OK; v++)
        near.data[v] = kiln_vertex_live(mesh, v) && is_near(b, v);
    for (uint32_t t = 0; t < tets && status == KILN_OK; t++) {
        const uint32_t *v = mesh->tet[t].v;
        chosen.data[t] = is_member(b, mesh, t) &&
                         (near.data[v[0]] || near.data[v[1]] || near.data[v[2]] || near.data[v[3]]);
    }
    for (uint32_t i = 0; i < 4 * tets && status == KILN_OK; i++) {
        b->face.data[i] = KILN_NONE;
        if (!chosen.data[i / 4])
            continue;
        kiln_link link = mesh->tet[i / 4].n[i % 4];
        if (!kiln_link_is_surface(link) && chosen.data[link / 4])
            continue;
        b->face.data[i] = (uint32_t)b->at.count;
        status = kiln_array_push(context, &b->at, i, error);
    }
    kiln_array_free(context, &near);
    kiln_array_free(context, &chosen);
    return status;
}

static uint32_t vertex_at(const bridging *b, uint32_t face, uint32_t k)
{
    uint32_t at = b->at.data[face];
    return b->to->tet[at / 4].v[kiln_face_corner[at % 4][k]];
}

/* The face across the edge (p, q), through the piece. */
static uint32_t mate_of(const bridging *b, uint32_t face, uint32_t p, uint32_t q)
{
    uint32_t at = b->at.data[face], other;
    do {
        const kiln_tet *tet = &b->to->tet[at / 4];
        uint32_t r = 0;
        while (tet->v[r] == p || tet->v[r] == q || r == at % 4)
            r++;
        other = b->face.data[at / 4 * 4 + r];
        at = tet->n[r];
    } while (other == KILN_NONE);
    return other;
}

static uint32_t root_of(const bridging *b, uint32_t corner)
{
    uint32_t *root = b->corner.data;
    while (root[corner] != corner)
        corner = root[corner] = root[root[corner]];
    return corner;
}

static void join(const bridging *b, uint32_t corner, uint32_t face, uint32_t vertex)
{
    uint32_t k = 0;
    while (vertex_at(b, face, k) != vertex)
        k++;
    uint32_t p = root_of(b, corner), q = root_of(b, 3 * face + k);
    b->corner.data[p > q ? p : q] = p > q ? q : p;
}

/* Where pieces touch at a vertex or an edge it is there several times: the surface is a manifold.
 */
static kiln_status part_vertices(bridging *b, kiln_error *error)
{
    uint32_t faces = (uint32_t)b->at.count;
    KILN_TRY(kiln_array_reserve(b->to->context, &b->corner, 3u * faces, error));
    for (uint32_t c = 0; c < 3 * faces; c++)
        b->corner.data[c] = c;
    for (uint32_t c = 0; c < 3 * faces; c++) {
        uint32_t face = c / 3, k = c % 3, next = (k + 1) % 3;
        uint32_t p = vertex_at(b, face, k), q = vertex_at(b, face, next);
        uint32_t mate = mate_of(b, face, p, q);
        join(b, c, mate, p);
        join(b, 3 * face + next, mate, q);
    }
    return KILN_OK;
}

static kiln_vec3 place_of(const bridging *b, uint32_t v)
{
    kiln_vec3 p = kiln_v3_sub(b->to->x[v], b->origin);
    if (!(b->to->vertex[v].flags & KILN_VERTEX_SURFACE))
        return p;
    double unused;
    bool off =
        kiln_triangle_tree_closest(b->fine, p, OFF * b->edge.data[v], &unused) == KILN_BVH_NONE;
    if (off && kiln_triangle_tree_winding(b->fine, p) < 0.5)
        return p;
    return kiln_v3_lerp(p, b->middle.data[v], DRAWN_IN);
}

static kiln_status make_shell(bridging *b, kiln_error *error)
{
    kiln_context *context = b->to->context;
    kiln_u32_array number = {0};
    kiln_status status = kiln_array_reserve(context, &number, 3 * b->at.count + 1, error);
    for (uint32_t c = 0; c < 3 * b->at.count && status == KILN_OK; c++) {
        uint32_t root = root_of(b, c); /* the lowest, so it came before */
        if (root == c) {
            number.data[c] = (uint32_t)b->out->points.count;
            status = kiln_array_push(context, &b->out->points,
                                     place_of(b, vertex_at(b, c / 3, c % 3)), error);
        } else {
            number.data[c] = number.data[root];
        }
    }
    for (size_t f = 0; f < b->at.count && status == KILN_OK; f++) {
        const uint32_t *v = &number.data[3 * f];
        status = kiln_array_push(context, &b->out->triangles,
                                 ((kiln_soup_triangle){{v[0], v[1], v[2]}}), error);
    }
    kiln_array_free(context, &number);
    return status;
}

/* The middle of the edge from corner k of the triangle, or KILN_NONE. */
static uint32_t middle_at(const kiln_edge_table *edges, const uint32_t *middle,
                          const kiln_soup_triangle *triangle, int k)
{
    uint32_t a = triangle->v[k], b = triangle->v[(k + 1) % 3];
    return middle[kiln_edge_table_find(edges, a, b) - edges->slots];
}

/* One triangle by those of its edges that have middles. */
static kiln_status divide(kiln_context *context, kiln_shell *shell, size_t t, const uint32_t m[3],
                          kiln_error *error)
{
    const kiln_soup_triangle old = shell->triangles.data[t];
    int marked = (m[0] != KILN_NONE) + (m[1] != KILN_NONE) + (m[2] != KILN_NONE), k = 0;
    if (marked == 0)
        return KILN_OK;
    while (marked == 1 ? m[k] == KILN_NONE : marked == 2 && m[k] != KILN_NONE)
        k++;
    uint32_t a = old.v[k], b = old.v[(k + 1) % 3], c = old.v[(k + 2) % 3];
    uint32_t ab = m[k], bc = m[(k + 1) % 3], ca = m[(k + 2) % 3];
    kiln_soup_triangle now[4] = {{{a, ab, ca}}, {{ab, b, bc}}, {{ca, bc, c}}, {{ab, bc, ca}}};
    if (marked == 1) {
        now[0] = (kiln_soup_triangle){{a, ab, c}};
        now[1] = (kiln_soup_triangle){{ab, b, c}};
    } else if (marked == 2) { /* not ab */
        now[0] = (kiln_soup_triangle){{a, b, bc}};
        now[1] = (kiln_soup_triangle){{a, bc, ca}};
    }
    shell->triangles.data[t] = now[0];
    for (int i = 1; i <= marked; i++)
        KILN_TRY(kiln_array_push(context, &shell->triangles, now[i], error));
    return KILN_OK;
}

/* Edges longer than `longest` get a vertex; *more says whether there were any. */
static kiln_status split_once(kiln_context *context, kiln_shell *shell, double longest, bool *more,
                              kiln_error *error)
{
    kiln_edge_table edges = {0};
    kiln_u32_array middle = {0};
    size_t count = shell->triangles.count;
    KILN_TRY(kiln_edge_table_build(&edges, context, shell->triangles.data, count, error));
    kiln_status status = kiln_array_reserve(context, &middle, edges.size, error);
    *more = false;
    for (size_t e = 0; e < edges.size && status == KILN_OK; e++) {
        const kiln_edge_slot *edge = &edges.slots[e];
        middle.data[e] = KILN_NONE;
        if (edge->count == 0)
            continue;
        kiln_vec3 a = shell->points.data[edge->low], b = shell->points.data[edge->high];
        if (kiln_v3_norm(kiln_v3_sub(a, b)) <= longest)
            continue;
        *more = true;
        middle.data[e] = (uint32_t)shell->points.count;
        status = kiln_array_push(context, &shell->points, kiln_v3_lerp(a, b, 0.5), error);
    }
    for (size_t t = 0; t < count && status == KILN_OK; t++) {
        uint32_t m[3];
        for (int k = 0; k < 3; k++)
            m[k] = middle_at(&edges, middle.data, &shell->triangles.data[t], k);
        status = divide(context, shell, t, m, error);
    }
    kiln_array_free(context, &middle);
    kiln_edge_table_free(&edges);
    return status;
}

static kiln_status build(bridging *b, double size, kiln_error *error)
{
    bool more = true;
    KILN_TRY(find_buried(b, error));
    if (b->buried.count == 0)
        return KILN_OK;
    KILN_TRY(plant_burial(b, error));
    KILN_TRY(measure(b, error));
    KILN_TRY(choose(b, error));
    KILN_TRY(part_vertices(b, error));
    KILN_TRY(make_shell(b, error));
    size_t most = MOST_SHARE * b->fine->count + MOST_FACES;
    for (int i = 0; i < SPLITS && more && b->out->triangles.count < most / 4; i++)
        KILN_TRY(split_once(b->to->context, b->out, LONG * size, &more, error));
    return KILN_OK;
}

kiln_status kiln_bridge_find(const kiln_mesh *from, const kiln_mesh *to, const uint8_t *member,
                             kiln_vec3 origin, const kiln_triangle_tree *fine, double size,
                             kiln_shell *out, kiln_error *error)
{
    kiln_context *context = to->context;
    bridging b = {
        .from = from, .to = to, .member = member, .origin = origin, .fine = fine, .out = out};
    kiln_status status = build(&b, size, error);
    kiln_array_free(context, &b.buried);
    kiln_bvh_destroy(&b.burial);
    kiln_array_free(context, &b.edge);
    kiln_array_free(context, &b.middle);
    kiln_array_free(context, &b.face);
    kiln_array_free(context, &b.at);
    kiln_array_free(context, &b.corner);
    return status;
}
