/* A contact surface renewed from what has changed in the mesh.
 *
 * Vertices are looked at again when their row, one of their tets or one of their faces is not what
 * it was, and next to vertices that came to the surface or left it. Then:
 * U1 A face none of whose corners is looked at is in the row it had, with the area it had.
 * U2 So are all faces of an edge of two vertices that are not looked at: its area stays.
 * U3 A vertex that is not looked at has the neighbours it had, under their numbers.
 * What is looked at is summed from its faces in the order of their rows, as building does. */
#include "base/assert.h"
#include "contact/contact_surface_impl.h"
#include "mesh/walk.h"

#include <stdlib.h>
#include <string.h>

typedef struct fresh_edge {
    uint64_t key;
    double area;
} fresh_edge;

typedef struct spoke {
    uint32_t end;
    double share; /* of one face */
} spoke;

typedef struct renewal {
    kiln_contact_surface *surface;
    const kiln_mesh *mesh;
    kiln_walker walker;
    KILN_ARRAY_OF(uint8_t)
    mark; /* [vertex slot] looked at again; surface->renewed lists them */
    /* Of the vertex in hand: */
    kiln_u32_array faces; /* records, ascending */
    KILN_ARRAY_OF(spoke)
    spokes; /* by end, then face */
    /* Of all of them: */
    KILN_ARRAY_OF(fresh_edge)
    edges;
    kiln_u32_array near, near_end; /* near_end: [place in renewed] */
} renewal;

static void mark_face(renewal *r, uint32_t f)
{
    uint32_t v[3];
    kiln_contact_surface_corners(r->mesh, f, v);
    for (int k = 0; k < 3; k++)
        r->mark.data[v[k]] = 1;
}

static void mark_changes(renewal *r, const kiln_changes *changes)
{
    const kiln_u32_array *rows = changes->rows;
    for (size_t i = 0; i < rows[KILN_ON_VERTEX].count; i++)
        r->mark.data[rows[KILN_ON_VERTEX].data[i]] = 1;
    for (size_t i = 0; i < rows[KILN_ON_FACE].count; i++)
        mark_face(r, rows[KILN_ON_FACE].data[i]);
    for (size_t i = 0; i < rows[KILN_ON_TET].count; i++) {
        const kiln_tet *tet = &r->mesh->tet[rows[KILN_ON_TET].data[i]];
        for (int k = 0; k < 4; k++)
            r->mark.data[tet->v[k]] = 1;
    }
}

/* The first marked vertex from v on, or the number of vertices; eight at a time, few are marked. */
static uint32_t next_marked(const renewal *r, uint32_t v)
{
    const uint8_t *mark = r->mark.data;
    uint32_t slots = (uint32_t)r->mark.count;
    while (v < slots && !mark[v]) {
        uint64_t eight = 0;
        if (v + 8 <= slots)
            memcpy(&eight, mark + v, sizeof eight);
        v += v + 8 <= slots && eight == 0 ? 8 : 1;
    }
    return v;
}

/* All that an unmarked vertex knows of others is which of them are on the surface. A row that is
 * another vertex now may be taken for one that changed sides: its neighbours are marked anyway. */
static kiln_status mark_beside(renewal *r, kiln_error *error)
{
    const kiln_mesh *mesh = r->mesh;
    const kiln_u32_array *old = &r->surface->vertices;
    size_t next = 0;
    for (uint32_t v = next_marked(r, 0); v < r->mark.count; v = next_marked(r, v + 1)) {
        while (next < old->count && old->data[next] < v)
            next++;
        bool was = next < old->count && old->data[next] == v;
        if (was == kiln_vertex_on_surface(mesh, v))
            continue;
        KILN_TRY(kiln_star(mesh, v, &r->walker, error));
        for (size_t i = 0; i < r->walker.tets.count; i++)
            for (int k = 0; k < 4; k++)
                r->mark.data[mesh->tet[r->walker.tets.data[i]].v[k]] = 1;
    }
    return KILN_OK;
}

static kiln_status find_marked(renewal *r, const kiln_changes *changes, kiln_error *error)
{
    kiln_context *context = r->mesh->context;
    size_t slots = r->mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(context, &r->mark, slots, error));
    r->mark.count = slots;
    if (slots)
        memset(r->mark.data, 0, slots);
    mark_changes(r, changes);
    KILN_TRY(mark_beside(r, error));
    kiln_u32_array *renewed = &r->surface->renewed;
    renewed->count = 0;
    for (uint32_t v = next_marked(r, 0); v < slots; v = next_marked(r, v + 1))
        KILN_TRY(kiln_array_push(context, renewed, v, error));
    return KILN_OK;
}

/* Columns by vertex row; what is marked is empty until it is looked at. */
static kiln_status renew_rows(renewal *r, kiln_error *error)
{
    kiln_contact_surface *s = r->surface;
    size_t slots = r->mark.count;
    KILN_TRY(kiln_surface_vertices_update(&s->vertices, r->mesh, &r->surface->renewed, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->area, slots, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->body, slots, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->part, slots, error));
    s->area.count = s->body.count = s->part.count = slots;
    for (size_t i = 0; i < r->surface->renewed.count; i++) {
        uint32_t v = r->surface->renewed.data[i];
        s->area.data[v] = 0.0;
        s->body.data[v] = s->part.data[v] = 0;
    }
    kiln_contact_surface_tell_bodies(s, r->mesh);
    return KILN_OK;
}

static kiln_status renew_faces(renewal *r, const kiln_changes *changes, kiln_error *error)
{
    kiln_contact_surface *s = r->surface;
    size_t used = r->mesh->table[KILN_ON_FACE].used;
    KILN_TRY(kiln_array_reserve(s->context, &s->faces, 3 * used, error));
    s->faces.count = 3 * used;
    const kiln_u32_array *faces = &changes->rows[KILN_ON_FACE], *tets = &changes->rows[KILN_ON_TET];
    for (size_t i = 0; i < faces->count; i++)
        kiln_contact_surface_corners(r->mesh, faces->data[i],
                                     &s->faces.data[3 * (size_t)faces->data[i]]);
    for (size_t i = 0; i < tets->count; i++)
        for (int k = 0; k < 4; k++) {
            kiln_link link = r->mesh->tet[tets->data[i]].n[k];
            uint32_t f = link - KILN_LINK_SURFACE;
            if (kiln_link_is_surface(link))
                kiln_contact_surface_corners(r->mesh, f, &s->faces.data[3 * (size_t)f]);
        }
    return KILN_OK;
}

/* Into a short ascending list, from place `begin` on; once. */
static kiln_status insert(kiln_context *context, kiln_u32_array *list, size_t begin, uint32_t item,
                          kiln_error *error)
{
    size_t place = list->count;
    while (place > begin && list->data[place - 1] > item)
        place--;
    if (place > begin && list->data[place - 1] == item)
        return KILN_OK;
    KILN_TRY(kiln_array_push(context, list, item, error));
    memmove(list->data + place + 1, list->data + place,
            (list->count - 1 - place) * sizeof *list->data);
    list->data[place] = item;
    return KILN_OK;
}

/* Faces at the vertex and its neighbours on the surface. */
static kiln_status walk_star(renewal *r, uint32_t v, kiln_error *error)
{
    const kiln_mesh *mesh = r->mesh;
    size_t begin = r->near.count;
    r->faces.count = 0;
    KILN_TRY(kiln_star(mesh, v, &r->walker, error));
    for (size_t i = 0; i < r->walker.tets.count; i++) {
        const kiln_tet *tet = &mesh->tet[r->walker.tets.data[i]];
        for (int k = 0; k < 4; k++) {
            if (tet->v[k] == v)
                continue;
            if (kiln_vertex_on_surface(mesh, tet->v[k]))
                KILN_TRY(insert(mesh->context, &r->near, begin, tet->v[k], error));
            if (kiln_link_is_surface(tet->n[k]))
                KILN_TRY(insert(mesh->context, &r->faces, 0, tet->n[k] - KILN_LINK_SURFACE, error));
        }
    }
    return KILN_OK;
}

/* After those of lower ends and of the same. */
static kiln_status add_spoke(renewal *r, uint32_t end, double share, kiln_error *error)
{
    spoke new = {end, share};
    KILN_TRY(kiln_array_push(r->mesh->context, &r->spokes, new, error));
    size_t place = r->spokes.count - 1;
    for (; place > 0 && r->spokes.data[place - 1].end > end; place--)
        r->spokes.data[place] = r->spokes.data[place - 1];
    r->spokes.data[place] = new;
    return KILN_OK;
}

/* Area of the vertex and, by end, the shares of its edges. */
static kiln_status sum_faces(renewal *r, uint32_t v, kiln_error *error)
{
    kiln_contact_surface *s = r->surface;
    r->spokes.count = 0;
    for (size_t i = 0; i < r->faces.count; i++) {
        const uint32_t *corner = &s->faces.data[3 * (size_t)r->faces.data[i]];
        double share = kiln_contact_surface_share(r->mesh, corner);
        s->area.data[v] += share;
        for (int k = 0; k < 3; k++)
            if (corner[k] != v)
                KILN_TRY(add_spoke(r, corner[k], share, error));
    }
    return KILN_OK;
}

/* The lower of two marked ends has the edge. */
static kiln_status list_edges(renewal *r, uint32_t v, kiln_error *error)
{
    for (size_t i = 0, next; i < r->spokes.count; i = next) {
        uint32_t end = r->spokes.data[i].end;
        fresh_edge edge = {.key = kiln_contact_surface_edge_key(v, end)};
        for (next = i; next < r->spokes.count && r->spokes.data[next].end == end; next++)
            edge.area += r->spokes.data[next].share;
        if (!r->mark.data[end] || v < end)
            KILN_TRY(kiln_array_push(r->mesh->context, &r->edges, edge, error));
    }
    return KILN_OK;
}

static kiln_status look_again(renewal *r, kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(r->mesh->context, &r->near_end, r->surface->renewed.count, error));
    for (size_t i = 0; i < r->surface->renewed.count; i++) {
        uint32_t v = r->surface->renewed.data[i];
        if (kiln_vertex_on_surface(r->mesh, v)) {
            KILN_TRY(walk_star(r, v, error));
            KILN_TRY(sum_faces(r, v, error));
            KILN_TRY(list_edges(r, v, error));
        }
        r->near_end.data[r->near_end.count++] = (uint32_t)r->near.count;
    }
    return KILN_OK;
}

static int by_key(const void *left, const void *right)
{
    const fresh_edge *a = left, *b = right;
    return (a->key > b->key) - (a->key < b->key);
}

/* Leaves out edges with an end that is looked at or gone. */
static void thin_edges(renewal *r)
{
    kiln_contact_surface *s = r->surface;
    size_t kept = 0;
    for (size_t e = 0; e < s->edge_area.count; e++) {
        uint32_t a = s->edges.data[2 * e], b = s->edges.data[2 * e + 1]; /* a < b */
        if (b >= r->mark.count || r->mark.data[a] || r->mark.data[b])
            continue;
        s->edges.data[2 * kept] = a;
        s->edges.data[2 * kept + 1] = b;
        s->edge_area.data[kept++] = s->edge_area.data[e];
    }
    s->edge_area.count = kept;
}

static void put_edge(kiln_contact_surface *s, size_t e, uint64_t key, double area)
{
    s->edges.data[2 * e] = (uint32_t)(key >> 32);
    s->edges.data[2 * e + 1] = (uint32_t)key;
    s->edge_area.data[e] = area;
}

static kiln_status merge_edges(renewal *r, kiln_error *error)
{
    kiln_contact_surface *s = r->surface;
    if (r->edges.count)
        qsort(r->edges.data, r->edges.count, sizeof *r->edges.data, by_key);
    thin_edges(r);
    size_t old = s->edge_area.count, place = old + r->edges.count;
    KILN_TRY(kiln_array_reserve(s->context, &s->edges, 2 * place, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->edge_area, place, error));
    s->edges.count = 2 * place;
    s->edge_area.count = place;
    for (size_t i = r->edges.count; i-- > 0;) {
        while (old > 0) {
            const uint32_t *v = &s->edges.data[2 * (old - 1)];
            uint64_t key = kiln_contact_surface_edge_key(v[0], v[1]);
            if (key < r->edges.data[i].key)
                break;
            put_edge(s, --place, key, s->edge_area.data[--old]);
        }
        put_edge(s, --place, r->edges.data[i].key, r->edges.data[i].area);
    }
    return KILN_OK;
}

/* Neighbours of the rows from `begin` to `end`, which are not looked at, as they were. */
static void keep_near(const kiln_contact_surface *s, kiln_u32_array *near, kiln_u32_array *start,
                      size_t begin, size_t end)
{
    if (begin == end)
        return;
    KILN_ASSERT_OP(end, <, s->near_start.count);
    size_t first = s->near_start.data[begin], count = s->near_start.data[end] - first;
    uint32_t shift = (uint32_t)(near->count - first); /* may wrap */
    const uint32_t *from = s->near_start.data;
    uint32_t *to = start->data;
    for (size_t v = begin; v < end; v++)
        to[v] = from[v] + shift;
    start->count = end;
    if (count)
        memcpy(near->data + near->count, s->near.data + first, count * sizeof *near->data);
    near->count += count;
}

/* The rows in order: runs of old ones between those that were looked at. New rows are all marked.
 */
static void join_near(const renewal *r, kiln_u32_array *near, kiln_u32_array *start)
{
    size_t row = 0, taken = 0;
    for (size_t i = 0; i < r->surface->renewed.count; i++) {
        size_t v = r->surface->renewed.data[i], count = r->near_end.data[i] - taken;
        keep_near(r->surface, near, start, row, v);
        start->data[start->count++] = (uint32_t)near->count;
        if (count)
            memcpy(near->data + near->count, r->near.data + taken, count * sizeof *near->data);
        near->count += count;
        taken += count;
        row = v + 1;
    }
    keep_near(r->surface, near, start, row, r->mark.count);
    start->data[start->count++] = (uint32_t)near->count;
}

static kiln_status renew_near(renewal *r, kiln_error *error)
{
    kiln_contact_surface *s = r->surface;
    kiln_u32_array near = {0}, start = {0};
    kiln_status status =
        kiln_array_reserve(s->context, &near, s->near.count + r->near.count, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(s->context, &start, r->mark.count + 1, error);
    if (status == KILN_OK) {
        join_near(r, &near, &start);
        kiln_array_free(s->context, &s->near);
        kiln_array_free(s->context, &s->near_start);
        s->near = near;
        s->near_start = start;
        return KILN_OK;
    }
    kiln_array_free(s->context, &near);
    kiln_array_free(s->context, &start);
    return status;
}

static kiln_status renew(renewal *r, const kiln_changes *changes, kiln_error *error)
{
    KILN_TRY(find_marked(r, changes, error));
    KILN_TRY(renew_rows(r, error));
    KILN_TRY(renew_faces(r, changes, error));
    KILN_TRY(look_again(r, error));
    KILN_TRY(merge_edges(r, error));
    return renew_near(r, error);
}

static void free_renewal(renewal *r)
{
    kiln_context *context = r->mesh->context;
    kiln_walker_free(&r->walker);
    kiln_array_free(context, &r->mark);
    kiln_array_free(context, &r->faces);
    kiln_array_free(context, &r->spokes);
    kiln_array_free(context, &r->edges);
    kiln_array_free(context, &r->near);
    kiln_array_free(context, &r->near_end);
}

kiln_status kiln_contact_surface_update(kiln_contact_surface *surface, const kiln_mesh *mesh,
                                        const kiln_changes *changes, kiln_error *error)
{
    if (!kiln_contact_surface_can_update(surface, changes))
        return kiln_contact_surface_build(surface, mesh, error);
    renewal r = {.surface = surface, .mesh = mesh};
    kiln_walker_init(&r.walker, mesh->context);
    kiln_status status = renew(&r, changes, error);
    free_renewal(&r);
    if (status != KILN_OK)
        kiln_contact_surface_clear(surface);
    return status;
}
