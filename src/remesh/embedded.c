#include "remesh/embedded_impl.h"

#include "base/parallel.h"

#include <string.h>

void kiln_embedded_destroy(kiln_embedded *e)
{
    if (!e)
        return;
    kiln_array_free(e->context, &e->u);
    kiln_array_free(e->context, &e->hangs);
    kiln_array_free(e->context, &e->first);
    kiln_array_free(e->context, &e->saved.u);
    kiln_array_free(e->context, &e->saved.hangs);
    kiln_array_free(e->context, &e->saved.first);
    kiln_array_free(e->context, &e->triangles);
    kiln_array_free(e->context, &e->tags);
    kiln_release(e->context, e, sizeof *e);
}

size_t kiln_embedded_vertices(const kiln_embedded *e)
{
    return e->u.count;
}

size_t kiln_embedded_triangles(const kiln_embedded *e)
{
    return e->triangles.count;
}

const kiln_vec3 *kiln_embedded_material(const kiln_embedded *e)
{
    return e->u.data;
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

typedef struct carry_work {
    const kiln_embedded *e;
    const kiln_mesh *mesh;
    const kiln_vec3 *positions;
    kiln_vec3 *out;
} carry_work;

static void carry_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const carry_work *w = user;
    for (size_t i = begin; i < end; i++)
        w->out[i] = kiln_embedded_carried(w->mesh, w->positions, &w->e->hangs.data[i]);
}

void kiln_embedded_positions(const kiln_embedded *e, const kiln_mesh *mesh, kiln_space space,
                             kiln_vec3 *out)
{
    carry_work w = {e, mesh, kiln_mesh_positions(mesh, space), out};
    kiln_parallel_for(e->context, e->hangs.count, KILN_EMBEDDED_GRAIN, carry_chunk, &w);
}

void kiln_embedded_rebase(kiln_embedded *e, const kiln_mesh *mesh)
{
    kiln_embedded_positions(e, mesh, KILN_SPACE_MATERIAL, e->u.data);
}

kiln_status kiln_embedded_cover_rows(kiln_embedded *e, const kiln_mesh *mesh, kiln_error *error)
{
    size_t used = mesh->table[KILN_ON_TET].used;
    KILN_TRY(kiln_array_reserve(e->context, &e->first, used, error));
    for (; e->first.count < used; e->first.count++)
        e->first.data[e->first.count] = KILN_NONE;
    return KILN_OK;
}

void kiln_embedded_hang(kiln_embedded *e, const kiln_mesh *mesh, uint32_t vertex, uint32_t tet,
                        const double weight[4])
{
    kiln_hang *h = &e->hangs.data[vertex];
    h->tet = tet;
    h->stamp = mesh->info[tet].changed;
    h->body = kiln_embedded_body(mesh, tet);
    memcpy(h->weight, weight, sizeof h->weight);
    h->next = e->first.data[tet];
    e->first.data[tet] = vertex;
}

kiln_status kiln_embedded_renumber(kiln_embedded *e, const kiln_mesh *mesh,
                                   const kiln_renumbering *now, kiln_error *error)
{
    KILN_TRY(kiln_embedded_cover_rows(e, mesh, error));
    const kiln_u32_array *row = &now->row[KILN_ON_TET];
    for (size_t i = 0; i < e->hangs.count; i++) {
        uint32_t tet = e->hangs.data[i].tet;
        if (tet >= row->count || row->data[tet] == KILN_NONE)
            return kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1,
                             "an embedded surface was not hung anew before renumbering");
    }
    for (size_t t = 0; t < e->first.count; t++)
        e->first.data[t] = KILN_NONE;
    for (uint32_t i = 0; i < e->hangs.count; i++) {
        kiln_hang *h = &e->hangs.data[i];
        kiln_embedded_hang(e, mesh, i, row->data[h->tet], h->weight);
    }
    return KILN_OK;
}

kiln_status kiln_embedded_follow_rows(kiln_embedded *e, const kiln_mesh *mesh,
                                      const kiln_row_moves *moves, kiln_error *error)
{
    KILN_TRY(kiln_embedded_cover_rows(e, mesh, error));
    for (size_t k = 0; k < moves->count; k++) {
        kiln_row_move move = moves->data[k];
        uint32_t first = move.from < e->first.count ? e->first.data[move.from] : KILN_NONE;
        for (uint32_t i = first; i != KILN_NONE; i = e->hangs.data[i].next)
            e->hangs.data[i].tet = move.to;
        e->first.data[move.to] = first;
    }
    e->first.count = mesh->table[KILN_ON_TET].used;
    return KILN_OK;
}

#define COPY(to, from)                                                                             \
    (memcpy((to).data, (from).data, (from).count * sizeof *(from).data), (to).count = (from).count)

kiln_status kiln_embedded_save(kiln_embedded *e, kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(e->context, &e->saved.u, e->u.count + 1, error));
    KILN_TRY(kiln_array_reserve(e->context, &e->saved.hangs, e->hangs.count + 1, error));
    KILN_TRY(kiln_array_reserve(e->context, &e->saved.first, e->first.count + 1, error));
    COPY(e->saved.u, e->u);
    COPY(e->saved.hangs, e->hangs);
    COPY(e->saved.first, e->first);
    return KILN_OK;
}

/* The arrays have only grown since. */
void kiln_embedded_take_back(kiln_embedded *e)
{
    COPY(e->u, e->saved.u);
    COPY(e->hangs, e->saved.hangs);
    COPY(e->first, e->saved.first);
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

kiln_status kiln_embedded_restore(kiln_embedded *e, const kiln_mesh *mesh, const kiln_soup *saved,
                                  kiln_error *error)
{
    const double *u = saved_column(saved, "u", 3, e->u.count);
    const double *tet = saved_column(saved, "hung_in", 1, e->u.count);
    const double *weight = saved_column(saved, "hung_weights", 4, e->u.count);
    bool fits = u && tet && weight;
    for (size_t i = 0; fits && i < e->u.count; i++)
        fits = tet[i] >= 0.0 && tet[i] < mesh->table[KILN_ON_TET].used &&
               kiln_tet_live(mesh, (uint32_t)tet[i]);
    if (!fits)
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                         "a surface does not fit the mesh it hung in");
    KILN_TRY(kiln_embedded_cover_rows(e, mesh, error));
    for (size_t t = 0; t < e->first.count; t++)
        e->first.data[t] = KILN_NONE;
    for (size_t i = 0; i < e->u.count; i++) {
        memcpy(&e->u.data[i], u + 3 * i, sizeof(kiln_vec3));
        kiln_embedded_hang(e, mesh, (uint32_t)i, (uint32_t)tet[i], weight + 4 * i);
    }
    return KILN_OK;
}

kiln_status kiln_embedded_to_soup(const kiln_embedded *e, const kiln_mesh *mesh, kiln_soup *soup,
                                  kiln_error *error)
{
    size_t count = e->u.count;
    KILN_TRY(kiln_array_reserve(soup->context, &soup->points, count, error));
    KILN_TRY(kiln_array_reserve(soup->context, &soup->triangles, e->triangles.count, error));
    KILN_TRY(kiln_array_reserve(soup->context, &soup->triangle_tags, e->tags.count, error));
    soup->points.count = count;
    kiln_embedded_positions(e, mesh, KILN_SPACE_WORLD, soup->points.data);
    for (size_t i = 0; i < e->triangles.count; i++)
        soup->triangles.data[soup->triangles.count++] = e->triangles.data[i];
    for (size_t i = 0; i < e->tags.count; i++)
        soup->triangle_tags.data[soup->triangle_tags.count++] = e->tags.data[i];
    static const struct {
        const char *name;
        uint32_t components;
    } columns[] = {{"u", 3}, {"hung_in", 1}, {"hung_weights", 4}};
    for (int k = 0; k < 3; k++) {
        kiln_soup_field *field;
        KILN_TRY(kiln_soup_add_field(soup, columns[k].name, KILN_ON_VERTEX, columns[k].components,
                                     &field, error));
        for (size_t i = 0; i < count; i++) {
            double *value = &field->data.data[i * columns[k].components];
            if (k == 0)
                memcpy(value, &e->u.data[i], sizeof(kiln_vec3));
            else if (k == 1)
                *value = e->hangs.data[i].tet;
            else
                memcpy(value, e->hangs.data[i].weight, 4 * sizeof(double));
        }
    }
    return KILN_OK;
}
