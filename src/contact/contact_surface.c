#include "contact/contact_surface_impl.h"

#include <stdlib.h>
#include <string.h>

typedef KILN_ARRAY_OF(uint64_t)
key_array; /* two slots, the first in the high half */

static uint64_t key_of(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

static int by_key(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void sort_unique(key_array *keys)
{
    if (keys->count == 0)
        return;
    qsort(keys->data, keys->count, sizeof *keys->data, by_key);
    size_t kept = 1;
    for (size_t i = 1; i < keys->count; i++)
        if (keys->data[i] != keys->data[kept - 1])
            keys->data[kept++] = keys->data[i];
    keys->count = kept;
}

void kiln_contact_surface_clear(kiln_contact_surface *s)
{
    s->vertices.count = s->edges.count = s->faces.count = s->near.count = 0;
    s->area.count = s->body.count = s->part.count = 0;
    s->edge_area.count = s->near_start.count = s->renewed.count = 0;
}

void kiln_contact_surface_tell_bodies(kiln_contact_surface *s, const kiln_mesh *mesh)
{
    for (size_t i = 0; i < s->vertices.count; i++) {
        uint32_t v = s->vertices.data[i];
        s->part.data[v] = mesh->info[mesh->vertex[v].tet].part;
        s->body.data[v] = mesh->parts.data[s->part.data[v]].body;
    }
}

static kiln_status list_vertices(kiln_contact_surface *s, const kiln_mesh *mesh, kiln_error *error)
{
    size_t slots = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(s->context, &s->area, slots, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->body, slots, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->part, slots, error));
    s->area.count = s->body.count = s->part.count = slots;
    for (size_t v = 0; v < slots; v++)
        s->body.data[v] = s->part.data[v] = 0;
    KILN_TRY(kiln_surface_vertices_build(&s->vertices, mesh, error));
    kiln_contact_surface_tell_bodies(s, mesh);
    return KILN_OK;
}

static kiln_status list_faces(kiln_contact_surface *s, const kiln_mesh *mesh, key_array *keys,
                              kiln_error *error)
{
    size_t live = mesh->table[KILN_ON_FACE].live;
    KILN_TRY(kiln_array_reserve(s->context, &s->faces, 3 * live, error));
    KILN_TRY(kiln_array_reserve(s->context, keys, 3 * live, error));
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        if (!kiln_face_live(mesh, f))
            continue;
        uint32_t *v = &s->faces.data[s->faces.count];
        kiln_contact_surface_corners(mesh, f, v);
        for (int k = 0; k < 3; k++)
            keys->data[keys->count++] = kiln_contact_surface_edge_key(v[k], v[(k + 1) % 3]);
        s->faces.count += 3;
    }
    return KILN_OK;
}

static kiln_status list_edges(kiln_contact_surface *s, key_array *keys, kiln_error *error)
{
    sort_unique(keys);
    KILN_TRY(kiln_array_reserve(s->context, &s->edges, 2 * keys->count, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->edge_area, keys->count, error));
    s->edge_area.count = keys->count;
    for (size_t e = 0; e < keys->count; e++) {
        s->edges.data[s->edges.count++] = (uint32_t)(keys->data[e] >> 32);
        s->edges.data[s->edges.count++] = (uint32_t)keys->data[e];
    }
    return KILN_OK;
}

static int by_ends(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    int first = (a[0] > b[0]) - (a[0] < b[0]);
    return first ? first : (a[1] > b[1]) - (a[1] < b[1]);
}

static double *edge_area_of(kiln_contact_surface *s, uint32_t a, uint32_t b)
{
    const uint32_t ends[2] = {a < b ? a : b, a < b ? b : a};
    const uint32_t *at = bsearch(ends, s->edges.data, s->edge_area.count, sizeof ends, by_ends);
    return &s->edge_area.data[(at - s->edges.data) / 2];
}

void kiln_contact_surface_measure(kiln_contact_surface *s, const kiln_mesh *mesh)
{
    for (size_t v = 0; v < s->area.count; v++)
        s->area.data[v] = 0.0;
    for (size_t e = 0; e < s->edge_area.count; e++)
        s->edge_area.data[e] = 0.0;
    for (size_t f = 0; f < s->faces.count; f += 3) {
        const uint32_t *v = &s->faces.data[f];
        double share = kiln_contact_surface_share(mesh, v);
        for (int k = 0; k < 3; k++) {
            s->area.data[v[k]] += share;
            *edge_area_of(s, v[k], v[(k + 1) % 3]) += share;
        }
    }
}

static kiln_status list_near(kiln_contact_surface *s, const kiln_mesh *mesh, key_array *keys,
                             kiln_error *error)
{
    size_t slots = mesh->table[KILN_ON_VERTEX].used;
    keys->count = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        for (int e = 0; e < 6; e++) {
            uint32_t a = mesh->tet[t].v[kiln_edge_ends[e][0]];
            uint32_t b = mesh->tet[t].v[kiln_edge_ends[e][1]];
            if (!(mesh->vertex[a].flags & mesh->vertex[b].flags & KILN_VERTEX_SURFACE))
                continue;
            KILN_TRY(kiln_array_push(s->context, keys, key_of(a, b), error));
            KILN_TRY(kiln_array_push(s->context, keys, key_of(b, a), error));
        }
    }
    sort_unique(keys);
    KILN_TRY(kiln_array_reserve(s->context, &s->near, keys->count, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->near_start, slots + 1, error));
    for (size_t v = 0; v <= slots; v++) {
        s->near_start.data[s->near_start.count++] = (uint32_t)s->near.count;
        while (s->near.count < keys->count && keys->data[s->near.count] >> 32 == v) {
            s->near.data[s->near.count] = (uint32_t)keys->data[s->near.count];
            s->near.count++;
        }
    }
    return KILN_OK;
}

kiln_status kiln_contact_surface_build(kiln_contact_surface *surface, const kiln_mesh *mesh,
                                       kiln_error *error)
{
    surface->context = mesh->context;
    kiln_contact_surface_clear(surface);
    key_array keys = {0};
    kiln_status status = list_vertices(surface, mesh, error);
    if (status == KILN_OK)
        status = list_faces(surface, mesh, &keys, error);
    if (status == KILN_OK)
        status = list_edges(surface, &keys, error);
    if (status == KILN_OK)
        status = list_near(surface, mesh, &keys, error);
    kiln_array_free(mesh->context, &keys);
    if (status == KILN_OK)
        kiln_contact_surface_measure(surface, mesh);
    else
        kiln_contact_surface_clear(surface);
    return status;
}

void kiln_contact_surface_free(kiln_contact_surface *s)
{
    kiln_array_free(s->context, &s->vertices);
    kiln_array_free(s->context, &s->edges);
    kiln_array_free(s->context, &s->faces);
    kiln_array_free(s->context, &s->area);
    kiln_array_free(s->context, &s->edge_area);
    kiln_array_free(s->context, &s->body);
    kiln_array_free(s->context, &s->part);
    kiln_array_free(s->context, &s->near);
    kiln_array_free(s->context, &s->near_start);
    kiln_array_free(s->context, &s->renewed);
}

bool kiln_contact_surface_near(const kiln_contact_surface *s, uint32_t a, uint32_t b)
{
    size_t low = s->near_start.data[a], end = s->near_start.data[a + 1], high = end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->near.data[middle] < b)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && s->near.data[low] == b;
}

size_t kiln_contact_surface_bytes(const kiln_contact_surface *s)
{
    size_t numbers = s->vertices.capacity + s->edges.capacity + s->faces.capacity +
                     s->body.capacity + s->part.capacity + s->near.capacity +
                     s->near_start.capacity + s->renewed.capacity;
    return numbers * sizeof(uint32_t) + (s->area.capacity + s->edge_area.capacity) * sizeof(double);
}
