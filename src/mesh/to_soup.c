/* A mesh as files know it. */
#include "mesh/build.h"
#include "mesh/walk.h"

#include <string.h>

typedef struct exporter {
    const kiln_mesh *mesh;
    kiln_soup *soup;
    uint32_t *point_of; /* [vertex] */
    kiln_u32_array ring;
} exporter;

static kiln_status export_points(exporter *e, kiln_error *error)
{
    const kiln_mesh *mesh = e->mesh;
    kiln_soup *soup = e->soup;
    uint32_t used = mesh->table[KILN_ON_VERTEX].used, live = mesh->table[KILN_ON_VERTEX].live;
    KILN_TRY(kiln_array_reserve(soup->context, &soup->points, live, error));
    bool tagged = false, moved = false;
    for (uint32_t v = 0; v < used; v++) {
        if (!kiln_vertex_live(mesh, v))
            continue;
        e->point_of[v] = (uint32_t)soup->points.count;
        soup->points.data[soup->points.count++] = mesh->x[v];
        tagged |= mesh->vertex[v].tag != 0;
        moved |= memcmp(&mesh->u[v], &mesh->x[v], sizeof(kiln_vec3)) != 0;
    }
    if (tagged)
        KILN_TRY(kiln_array_reserve(soup->context, &soup->point_tags, live, error));
    kiln_soup_field *material = NULL;
    if (moved)
        KILN_TRY(kiln_soup_add_field(soup, "u", KILN_ON_VERTEX, 3, &material, error));
    for (uint32_t v = 0; v < used; v++) {
        if (!kiln_vertex_live(mesh, v))
            continue;
        if (tagged)
            soup->point_tags.data[soup->point_tags.count++] = mesh->vertex[v].tag;
        if (moved)
            memcpy(material->data.data + 3 * (size_t)e->point_of[v], &mesh->u[v],
                   sizeof(kiln_vec3));
        if (mesh->vertex[v].flags & KILN_VERTEX_CORNER)
            KILN_TRY(kiln_array_push(soup->context, &soup->corners, e->point_of[v], error));
        if (mesh->vertex[v].flags & KILN_VERTEX_REQUIRED)
            KILN_TRY(kiln_array_push(soup->context, &soup->required_points, e->point_of[v], error));
    }
    return KILN_OK;
}

static kiln_status export_tets(exporter *e, kiln_error *error)
{
    const kiln_mesh *mesh = e->mesh;
    kiln_soup *soup = e->soup;
    uint32_t used = mesh->table[KILN_ON_TET].used, live = mesh->table[KILN_ON_TET].live;
    KILN_TRY(kiln_array_reserve(soup->context, &soup->tets, live, error));
    KILN_TRY(kiln_array_reserve(soup->context, &soup->tet_tags, live, error));
    for (uint32_t t = 0; t < used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        kiln_soup_tet *tet = &soup->tets.data[soup->tets.count++];
        for (int k = 0; k < 4; k++)
            tet->v[k] = e->point_of[mesh->tet[t].v[k]];
        soup->tet_tags.data[soup->tet_tags.count++] = mesh->info[t].region;
    }
    return KILN_OK;
}

static kiln_status export_face(exporter *e, uint32_t at, int32_t tag, kiln_error *error)
{
    const kiln_mesh *mesh = e->mesh;
    kiln_soup *soup = e->soup;
    kiln_soup_triangle triangle;
    for (int k = 0; k < 3; k++)
        triangle.v[k] = e->point_of[mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]];
    uint32_t index = (uint32_t)soup->triangles.count;
    KILN_TRY(kiln_array_push(soup->context, &soup->triangles, triangle, error));
    KILN_TRY(kiln_array_push(soup->context, &soup->triangle_tags, tag, error));
    if ((mesh->info[at / 4].marks >> (KILN_MARK_REQUIRED_FACE + at % 4)) & 1)
        KILN_TRY(kiln_array_push(soup->context, &soup->required_triangles, index, error));
    return KILN_OK;
}

/* Surface faces in order of number, then required faces inside. */
static kiln_status export_faces(exporter *e, kiln_error *error)
{
    const kiln_mesh *mesh = e->mesh;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        if (kiln_face_live(mesh, f))
            KILN_TRY(export_face(e, mesh->face[f].at, mesh->face[f].tag, error));
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (uint32_t f = 0; f < 4; f++) {
            if (!kiln_tet_live(mesh, t) ||
                !((mesh->info[t].marks >> (KILN_MARK_REQUIRED_FACE + f)) & 1))
                continue;
            kiln_link link = mesh->tet[t].n[f];
            if (!kiln_link_is_surface(link) && kiln_link_to(t, f) < link)
                KILN_TRY(export_face(e, kiln_link_to(t, f), 0, error));
        }
    return KILN_OK;
}

/* Is this tet the lowest of the ring round its edge? Then the edge is written from here. */
static kiln_status writes_edge(exporter *e, uint32_t t, uint32_t edge, bool *writes,
                               kiln_error *error)
{
    uint32_t a = kiln_edge_ends[edge][0], b = kiln_edge_ends[edge][1];
    uint32_t count = kiln_edge_ring(e->mesh, t, a, b, NULL, 0).count;
    KILN_TRY(kiln_array_reserve(e->mesh->context, &e->ring, count, error));
    kiln_edge_ring(e->mesh, t, a, b, e->ring.data, count);
    *writes = true;
    for (uint32_t i = 0; i < count; i++)
        *writes = *writes && e->ring.data[i] / 4 >= t;
    return KILN_OK;
}

static kiln_status export_edges(exporter *e, kiln_error *error)
{
    const kiln_mesh *mesh = e->mesh;
    kiln_soup *soup = e->soup;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t) || !(mesh->info[t].marks & KILN_MARKS_ON_EDGE))
            continue;
        for (uint32_t k = 0; k < 6; k++) {
            bool feature = (mesh->info[t].marks >> (KILN_MARK_FEATURE_EDGE + k)) & 1;
            bool required = (mesh->info[t].marks >> (KILN_MARK_REQUIRED_EDGE + k)) & 1;
            bool writes = feature || required;
            if (writes)
                KILN_TRY(writes_edge(e, t, k, &writes, error));
            if (!writes)
                continue;
            kiln_soup_edge edge = {{e->point_of[mesh->tet[t].v[kiln_edge_ends[k][0]]],
                                    e->point_of[mesh->tet[t].v[kiln_edge_ends[k][1]]]}};
            uint32_t index = (uint32_t)soup->edges.count;
            KILN_TRY(kiln_array_push(soup->context, &soup->edges, edge, error));
            if (feature)
                KILN_TRY(kiln_array_push(soup->context, &soup->ridges, index, error));
            if (required)
                KILN_TRY(kiln_array_push(soup->context, &soup->required_edges, index, error));
        }
    }
    return KILN_OK;
}

static kiln_status export_fields(exporter *e, kiln_where where, kiln_error *error)
{
    const kiln_table *table = &e->mesh->table[where];
    for (size_t i = 0; i < table->fields.count; i++) {
        const kiln_field *field = &table->fields.data[i];
        if (field->core)
            continue;
        kiln_soup_field *target;
        KILN_TRY(
            kiln_soup_add_field(e->soup, field->name, where, field->components, &target, error));
        double *value = target->data.data;
        for (uint32_t row = 0; row < table->used; row++) {
            bool live = kiln_row_live(e->mesh, where, row);
            for (uint32_t c = 0; c < field->components && live; c++)
                *value++ = kiln_field_value(field, row, c);
        }
    }
    return KILN_OK;
}

kiln_status kiln_mesh_to_soup(const kiln_mesh *mesh, kiln_soup *soup, kiln_error *error)
{
    kiln_soup_init(soup, mesh->context);
    exporter e = {.mesh = mesh, .soup = soup};
    size_t size = ((size_t)mesh->table[KILN_ON_VERTEX].used + 1) * sizeof(uint32_t);
    e.point_of = kiln_resize(mesh->context, NULL, 0, size);
    kiln_status status = e.point_of ? KILN_OK : kiln_fail_memory(error, size);
    if (status == KILN_OK)
        status = export_points(&e, error);
    if (status == KILN_OK)
        status = export_tets(&e, error);
    if (status == KILN_OK)
        status = export_faces(&e, error);
    if (status == KILN_OK)
        status = export_edges(&e, error);
    for (int where = 0; where < KILN_WHERE_COUNT && status == KILN_OK; where++)
        status = export_fields(&e, (kiln_where)where, error);
    kiln_array_free(mesh->context, &e.ring);
    kiln_release(mesh->context, e.point_of, size);
    if (status != KILN_OK)
        kiln_soup_free(soup);
    return status;
}
