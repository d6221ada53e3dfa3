#include "remesh/embedded_impl.h"

#include <string.h>

static void free_state(kiln_context *context, kiln_embedded_state *state)
{
    kiln_array_free(context, &state->u);
    kiln_array_free(context, &state->hangs);
    kiln_array_free(context, &state->first);
    kiln_array_free(context, &state->triangles);
    kiln_array_free(context, &state->tags);
    kiln_array_free(context, &state->values);
}

void kiln_embedded_destroy(kiln_embedded *e)
{
    if (!e)
        return;
    free_state(e->context, &e->now);
    free_state(e->context, &e->saved);
    kiln_array_free(e->context, &e->columns);
    kiln_array_free(e->context, &e->noted);
    kiln_release(e->context, e, sizeof *e);
}

size_t kiln_embedded_vertices(const kiln_embedded *e)
{
    return e->now.u.count;
}

size_t kiln_embedded_triangles(const kiln_embedded *e)
{
    return e->now.triangles.count;
}

const kiln_vec3 *kiln_embedded_material(const kiln_embedded *e)
{
    return e->now.u.data;
}

kiln_vec3 kiln_embedded_carried(const kiln_mesh *mesh, const kiln_vec3 *positions,
                                const kiln_hang *h)
{
    const uint32_t *v = mesh->tet[h->tet].v;
    kiln_vec3 sum = kiln_v3_scale(positions[v[0]], h->weight[0]);
    for (int i = 1; i < 4; i++)
        sum = kiln_v3_madd(sum, h->weight[i], positions[v[i]]);
    return sum;
}

kiln_status kiln_embedded_cover_rows(kiln_embedded *e, const kiln_mesh *mesh, kiln_error *error)
{
    size_t used = mesh->table[KILN_ON_TET].used;
    KILN_TRY(kiln_array_reserve(e->context, &e->now.first, used, error));
    for (; e->now.first.count < used; e->now.first.count++)
        e->now.first.data[e->now.first.count] = KILN_NONE;
    return KILN_OK;
}

void kiln_embedded_hang(kiln_embedded *e, const kiln_mesh *mesh, uint32_t vertex, uint32_t tet,
                        const double weight[4])
{
    kiln_hang *h = &e->now.hangs.data[vertex];
    h->tet = tet;
    h->stamp = mesh->info[tet].changed;
    h->body = kiln_embedded_body(mesh, tet);
    memcpy(h->weight, weight, sizeof h->weight);
    h->next = e->now.first.data[tet];
    e->now.first.data[tet] = vertex;
}

kiln_status kiln_embedded_relist(kiln_embedded *e, const kiln_mesh *mesh, kiln_error *error)
{
    KILN_TRY(kiln_embedded_cover_rows(e, mesh, error));
    for (size_t t = 0; t < e->now.first.count; t++)
        e->now.first.data[t] = KILN_NONE;
    for (uint32_t i = 0; i < e->now.hangs.count; i++) {
        const kiln_hang h = e->now.hangs.data[i];
        kiln_embedded_hang(e, mesh, i, h.tet, h.weight);
    }
    return KILN_OK;
}

kiln_status kiln_embedded_renumber(kiln_embedded *e, const kiln_mesh *mesh,
                                   const kiln_renumbering *now, kiln_error *error)
{
    const kiln_u32_array *row = &now->row[KILN_ON_TET];
    for (size_t i = 0; i < e->now.hangs.count; i++) {
        uint32_t tet = e->now.hangs.data[i].tet;
        if (tet >= row->count || row->data[tet] == KILN_NONE)
            return kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1,
                             "an embedded surface was not hung anew before renumbering");
    }
    KILN_TRY(kiln_embedded_cover_rows(e, mesh, error));
    for (size_t i = 0; i < e->now.hangs.count; i++)
        e->now.hangs.data[i].tet = row->data[e->now.hangs.data[i].tet];
    return kiln_embedded_relist(e, mesh, error);
}

kiln_status kiln_embedded_follow_rows(kiln_embedded *e, const kiln_mesh *mesh,
                                      const kiln_row_moves *moves, kiln_error *error)
{
    KILN_TRY(kiln_embedded_cover_rows(e, mesh, error));
    for (size_t k = 0; k < moves->count; k++) {
        kiln_row_move move = moves->data[k];
        uint32_t first = move.from < e->now.first.count ? e->now.first.data[move.from] : KILN_NONE;
        for (uint32_t i = first; i != KILN_NONE; i = e->now.hangs.data[i].next)
            e->now.hangs.data[i].tet = move.to;
        e->now.first.data[move.to] = first;
    }
    e->now.first.count = mesh->table[KILN_ON_TET].used;
    return KILN_OK;
}

#define COPY(to, from, error)                                                                      \
    (kiln_array_reserve(e->context, &(to), (from).count, error) == KILN_OK                         \
         ? ((from).count ? memcpy((to).data, (from).data, (from).count * sizeof *(from).data)      \
                         : (to).data,                                                              \
            (to).count = (from).count, KILN_OK)                                                    \
         : KILN_ERR_MEMORY)

static kiln_status copy_state(kiln_embedded *e, kiln_embedded_state *to,
                              const kiln_embedded_state *from, kiln_error *error)
{
    KILN_TRY(COPY(to->u, from->u, error));
    KILN_TRY(COPY(to->hangs, from->hangs, error));
    KILN_TRY(COPY(to->first, from->first, error));
    KILN_TRY(COPY(to->triangles, from->triangles, error));
    KILN_TRY(COPY(to->tags, from->tags, error));
    return COPY(to->values, from->values, error);
}

kiln_status kiln_embedded_save(kiln_embedded *e, kiln_error *error)
{
    return copy_state(e, &e->saved, &e->now, error);
}

/* Arrays never shrink: there is room for what was saved. */
void kiln_embedded_take_back(kiln_embedded *e)
{
    copy_state(e, &e->now, &e->saved, NULL);
}

/* A column of kiln_embedded_to_soup, or NULL when it is another. */
static const double *saved_column(const kiln_soup *saved, const char *name, uint32_t components,
                                  size_t vertices)
{
    const kiln_soup_field *field = kiln_soup_find_field(saved, KILN_ON_VERTEX, name);
    bool fits = field && field->components == components &&
                field->data.count == (size_t)components * vertices;
    return fits ? field->data.data : NULL;
}

/* Do all tets that vertices hung in exist, and all triangles' corners? */
static bool fits_mesh(const kiln_mesh *mesh, const kiln_soup *saved, const double *tet)
{
    size_t count = saved->points.count;
    for (size_t i = 0; i < count; i++)
        if (!(tet[i] >= 0.0 && tet[i] < mesh->table[KILN_ON_TET].used) ||
            !kiln_tet_live(mesh, (uint32_t)tet[i]))
            return false;
    for (size_t i = 0; i < 3 * saved->triangles.count; i++)
        if (saved->triangles.data[i / 3].v[i % 3] >= count)
            return false;
    return true;
}

static kiln_status make_room(kiln_embedded *e, size_t vertices, size_t triangles, kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(e->context, &e->now.u, vertices, error));
    KILN_TRY(kiln_array_reserve(e->context, &e->now.hangs, vertices, error));
    KILN_TRY(kiln_array_reserve(e->context, &e->now.values, e->stride * vertices, error));
    KILN_TRY(kiln_array_reserve(e->context, &e->now.triangles, triangles, error));
    return kiln_array_reserve(e->context, &e->now.tags, triangles, error);
}

static void restore_values(kiln_embedded *e, const kiln_soup *saved)
{
    for (size_t c = 0; c < e->columns.count; c++) {
        const kiln_embedded_column *column = &e->columns.data[c];
        const double *from =
            saved_column(saved, column->name, column->components, saved->points.count);
        for (size_t i = 0; from && i < saved->points.count; i++)
            memcpy(&e->now.values.data[i * e->stride + column->offset],
                   from + i * column->components, column->components * sizeof *from);
    }
}

kiln_status kiln_embedded_restore(kiln_embedded *e, const kiln_mesh *mesh, const kiln_soup *saved,
                                  kiln_error *error)
{
    size_t count = saved->points.count;
    const double *u = saved_column(saved, "u", 3, count);
    const double *tet = saved_column(saved, "hung_in", 1, count);
    const double *weight = saved_column(saved, "hung_weights", 4, count);
    bool shaped = saved->triangles.count > 0 || count == e->now.u.count || count == 0;
    if (!u || !tet || !weight || !shaped || !fits_mesh(mesh, saved, tet))
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                         "a surface does not fit the mesh it hung in");
    KILN_TRY(make_room(e, count, saved->triangles.count, error));
    KILN_TRY(kiln_embedded_cover_rows(e, mesh, error));
    e->now.u.count = e->now.hangs.count = count;
    e->now.values.count = e->stride * count;
    restore_values(e, saved);
    for (size_t i = 0; i < count; i++) {
        memcpy(&e->now.u.data[i], u + 3 * i, sizeof(kiln_vec3));
        e->now.hangs.data[i].tet = (uint32_t)tet[i];
        memcpy(e->now.hangs.data[i].weight, weight + 4 * i, 4 * sizeof *weight);
    }
    if (saved->triangles.count > 0 || count == 0) { /* or part of another body's */
        e->now.triangles.count = saved->triangles.count;
        e->now.tags.count = saved->triangle_tags.count;
        for (size_t i = 0; i < saved->triangles.count; i++)
            e->now.triangles.data[i] = saved->triangles.data[i];
        for (size_t i = 0; i < saved->triangle_tags.count; i++)
            e->now.tags.data[i] = saved->triangle_tags.data[i];
    }
    return kiln_embedded_relist(e, mesh, error);
}

/* One value of a vertex as kiln_embedded_to_soup writes it. */
static kiln_status add_column(const kiln_embedded *e, const char *name, uint32_t components,
                              const double *from, size_t stride, kiln_soup *soup, kiln_error *error)
{
    kiln_soup_field *field;
    KILN_TRY(kiln_soup_add_field(soup, name, KILN_ON_VERTEX, components, &field, error));
    for (size_t i = 0; i < e->now.u.count; i++)
        memcpy(&field->data.data[i * components], from + i * stride, components * sizeof *from);
    return KILN_OK;
}

static kiln_status add_hangs(const kiln_embedded *e, kiln_soup *soup, kiln_error *error)
{
    kiln_soup_field *tet, *weight;
    KILN_TRY(kiln_soup_add_field(soup, "hung_in", KILN_ON_VERTEX, 1, &tet, error));
    for (size_t i = 0; i < e->now.u.count; i++)
        tet->data.data[i] = e->now.hangs.data[i].tet;
    KILN_TRY(kiln_soup_add_field(soup, "hung_weights", KILN_ON_VERTEX, 4, &weight, error));
    for (size_t i = 0; i < e->now.u.count; i++)
        memcpy(&weight->data.data[4 * i], e->now.hangs.data[i].weight, 4 * sizeof(double));
    return KILN_OK;
}

kiln_status kiln_embedded_to_soup(const kiln_embedded *e, const kiln_mesh *mesh, kiln_soup *soup,
                                  kiln_error *error)
{
    const kiln_embedded_state *now = &e->now;
    KILN_TRY(kiln_array_reserve(soup->context, &soup->points, now->u.count, error));
    KILN_TRY(kiln_array_reserve(soup->context, &soup->triangles, now->triangles.count, error));
    KILN_TRY(kiln_array_reserve(soup->context, &soup->triangle_tags, now->tags.count, error));
    soup->points.count = now->u.count;
    KILN_TRY(kiln_embedded_positions(e, mesh, KILN_SPACE_WORLD, soup->points.data, error));
    for (size_t i = 0; i < now->triangles.count; i++)
        soup->triangles.data[soup->triangles.count++] = now->triangles.data[i];
    for (size_t i = 0; i < now->tags.count; i++)
        soup->triangle_tags.data[soup->triangle_tags.count++] = now->tags.data[i];
    KILN_TRY(add_column(e, "u", 3, &now->u.data[0].x, 3, soup, error));
    KILN_TRY(add_hangs(e, soup, error));
    for (size_t c = 0; c < e->columns.count; c++) {
        const kiln_embedded_column *column = &e->columns.data[c];
        KILN_TRY(add_column(e, column->name, column->components, now->values.data + column->offset,
                            e->stride, soup, error));
    }
    return KILN_OK;
}
