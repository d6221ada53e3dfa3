/* Hanging a surface in a mesh by a tree over all its tets: at the start, and in another mesh. */
#include "base/parallel.h"
#include "geom/distance.h"
#include "remesh/embedded_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct tree_work {
    const kiln_mesh *mesh;
    const kiln_vec3 *positions;
    uint32_t body;
    kiln_bvh tree;
    kiln_u32_array tets; /* [item] */
    kiln_shore shore;
    const kiln_vec3 *points;
    const bool *done; /* [point]; NULL: none */
    kiln_begin_place *places;
} tree_work;

static kiln_status plant_tree(tree_work *w, kiln_context *context, kiln_error *error)
{
    const kiln_mesh *mesh = w->mesh;
    KILN_ARRAY_OF(kiln_box)
    boxes = {0};
    kiln_status status = KILN_OK;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used && status == KILN_OK; t++) {
        if (!kiln_tet_live(mesh, t) ||
            (w->body != KILN_NONE && kiln_embedded_body(mesh, t) != w->body))
            continue;
        kiln_box box = kiln_box_empty();
        for (int i = 0; i < 4; i++)
            box = kiln_box_grow(box, w->positions[mesh->tet[t].v[i]]);
        status = kiln_array_push(context, &boxes, box, error);
        if (status == KILN_OK)
            status = kiln_array_push(context, &w->tets, t, error);
    }
    if (status == KILN_OK && boxes.count == 0)
        status = kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                           "there are no tets that a surface could hang in");
    if (status == KILN_OK)
        status = kiln_bvh_build(&w->tree, context, boxes.data, boxes.count, error);
    kiln_array_free(context, &boxes);
    return status;
}

static void corners_of(const tree_work *w, uint32_t tet, kiln_vec3 corner[4])
{
    for (int i = 0; i < 4; i++)
        corner[i] = w->positions[w->mesh->tet[tet].v[i]];
}

static double distance2_to(void *user, uint32_t item, kiln_vec3 point)
{
    const tree_work *w = user;
    kiln_vec3 corner[4];
    corners_of(w, w->tets.data[item], corner);
    return kiln_closest_on_tet(point, corner).distance2;
}

/* The closest tet, then the walk's weights, which extrapolate. */
static void search_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    tree_work *w = user;
    kiln_space space = w->positions == w->mesh->u ? KILN_SPACE_MATERIAL : KILN_SPACE_WORLD;
    kiln_begin_view view = kiln_live_view_of(w->mesh, space);
    for (size_t i = begin; i < end; i++) {
        if (w->done && w->done[i])
            continue;
        uint32_t item = kiln_bvh_closest(&w->tree, w->points[i], INFINITY, distance2_to, w, NULL);
        kiln_begin_locate_in(&view, w->points[i], w->tets.data[item], &w->places[i]);
        kiln_shore_settle(&w->shore, w->points[i], kiln_embedded_body(w->mesh, w->places[i].tet),
                          &w->places[i]);
    }
}

static kiln_status search_tree(tree_work *w, kiln_context *context, size_t count, kiln_error *error)
{
    kiln_space space = w->positions == w->mesh->u ? KILN_SPACE_MATERIAL : KILN_SPACE_WORLD;
    kiln_status status = plant_tree(w, context, error);
    if (status == KILN_OK)
        status = kiln_shore_build(&w->shore, w->mesh, space, error);
    if (status == KILN_OK)
        kiln_parallel_for(context, count, KILN_EMBEDDED_GRAIN, search_chunk, w);
    kiln_bvh_destroy(&w->tree);
    kiln_shore_free(&w->shore);
    kiln_array_free(context, &w->tets);
    return status;
}

/* True where the saved tet is there and its weights are those of the point, or of the closest. */
static bool saved_fits(const kiln_mesh *mesh, const kiln_vec3 *positions, double tet,
                       const double *weight, kiln_vec3 point, kiln_hang *h)
{
    if (!(tet >= 0.0 && tet < mesh->table[KILN_ON_TET].used) || !kiln_tet_live(mesh, (uint32_t)tet))
        return false;
    h->tet = (uint32_t)tet;
    memcpy(h->weight, weight, sizeof h->weight);
    kiln_vec3 corner[4];
    double size = 0.0;
    for (int i = 0; i < 4; i++) {
        corner[i] = positions[mesh->tet[h->tet].v[i]];
        size = fmax(size, kiln_v3_norm(kiln_v3_sub(corner[i], corner[0])));
    }
    kiln_vec3 wanted = kiln_v3_sub(point, kiln_closest_on_tet(point, corner).offset);
    double off = kiln_v3_norm(kiln_v3_sub(kiln_embedded_carried(mesh, positions, h), wanted));
    return off <= 1e-9 * size;
}

static void take_saved(kiln_embedded *e, const kiln_mesh *mesh, const kiln_soup *surface,
                       bool *done)
{
    const kiln_soup_field *tet = kiln_soup_find_field(surface, KILN_ON_VERTEX, "hung_in");
    const kiln_soup_field *weights = kiln_soup_find_field(surface, KILN_ON_VERTEX, "hung_weights");
    bool given = tet && weights && tet->components == 1 && weights->components == 4;
    for (size_t i = 0; i < e->now.u.count; i++) {
        kiln_hang h;
        done[i] = given && saved_fits(mesh, mesh->u, tet->data.data[i], &weights->data.data[4 * i],
                                      e->now.u.data[i], &h);
        if (done[i])
            kiln_embedded_hang(e, mesh, (uint32_t)i, h.tet, h.weight);
    }
}

static kiln_status add_column(kiln_embedded *e, const char *name, uint32_t components,
                              kiln_error *error)
{
    kiln_embedded_column column = {.components = components, .offset = e->stride};
    snprintf(column.name, sizeof column.name, "%s", name);
    e->stride += components;
    return kiln_array_push(e->context, &e->columns, column, error);
}

static bool is_own(const char *name)
{
    static const char *const own[] = {"u",    "hung_in", "hung_weights", "start",
                                      "edge", "made",    "origin"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(name, own[i]) == 0)
            return true;
    return false;
}

static kiln_status list_columns(kiln_embedded *e, const kiln_soup *surface, kiln_error *error)
{
    KILN_TRY(add_column(e, "start", 3, error));
    KILN_TRY(add_column(e, "edge", 1, error));
    KILN_TRY(add_column(e, "made", 1, error));
    KILN_TRY(add_column(e, "origin", 1, error));
    for (size_t i = 0; i < surface->fields.count; i++) {
        const kiln_soup_field *field = &surface->fields.data[i];
        if (field->where == KILN_ON_VERTEX && !is_own(field->name))
            KILN_TRY(add_column(e, field->name, field->components, error));
    }
    return KILN_OK;
}

/* Where the surface begins, with edges how long. */
static void note_begin(kiln_embedded *e, const kiln_soup *surface, uint32_t body)
{
    double *values = e->now.values.data;
    size_t stride = e->stride, points = surface->points.count;
    for (size_t i = 0; i < points; i++)
        memcpy(&values[i * stride + KILN_FINE_START], &surface->points.data[i], sizeof(kiln_vec3));
    for (size_t i = 0; i < 3 * surface->triangles.count; i++) { /* `made` counts for now */
        const uint32_t *v = surface->triangles.data[i / 3].v;
        uint32_t a = v[i % 3], b = v[(i + 1) % 3];
        double length = kiln_v3_norm(kiln_v3_sub(surface->points.data[a], surface->points.data[b]));
        for (int end = 0; end < 2; end++) {
            values[(end ? a : b) * stride + KILN_FINE_EDGE] += length;
            values[(end ? a : b) * stride + KILN_FINE_MADE] += 1.0;
        }
    }
    for (size_t i = 0; i < points; i++) {
        values[i * stride + KILN_FINE_EDGE] /= fmax(values[i * stride + KILN_FINE_MADE], 1.0);
        values[i * stride + KILN_FINE_MADE] = 0.0;
        values[i * stride + KILN_FINE_ORIGIN] = body == KILN_NONE ? 0.0 : body;
    }
}

static kiln_status fill_columns(kiln_embedded *e, const kiln_soup *surface, uint32_t body,
                                kiln_error *error)
{
    size_t points = surface->points.count;
    KILN_TRY(list_columns(e, surface, error));
    KILN_TRY(kiln_array_reserve(e->context, &e->now.values, e->stride * points + 1, error));
    e->now.values.count = e->stride * points;
    memset(e->now.values.data, 0, (e->stride * points + 1) * sizeof(double));
    note_begin(e, surface, body);
    for (size_t c = 0; c < e->columns.count; c++) {
        const kiln_embedded_column *column = &e->columns.data[c];
        const kiln_soup_field *field = kiln_soup_find_field(surface, KILN_ON_VERTEX, column->name);
        for (size_t i = 0; field && field->components == column->components && i < points; i++)
            memcpy(&e->now.values.data[i * e->stride + column->offset],
                   &field->data.data[i * column->components], column->components * sizeof(double));
    }
    return KILN_OK;
}

static kiln_status copy_surface(kiln_embedded *e, const kiln_soup *surface, uint32_t body,
                                kiln_error *error)
{
    kiln_embedded_state *now = &e->now;
    size_t points = surface->points.count, triangles = surface->triangles.count;
    KILN_TRY(kiln_array_reserve(e->context, &now->u, points, error));
    KILN_TRY(kiln_array_reserve(e->context, &now->hangs, points, error));
    KILN_TRY(kiln_array_reserve(e->context, &now->triangles, triangles, error));
    KILN_TRY(kiln_array_reserve(e->context, &now->tags, surface->triangle_tags.count, error));
    now->u.count = now->hangs.count = points;
    for (size_t i = 0; i < points; i++)
        now->u.data[i] = surface->points.data[i];
    for (size_t i = 0; i < triangles; i++)
        now->triangles.data[now->triangles.count++] = surface->triangles.data[i];
    for (size_t i = 0; i < surface->triangle_tags.count; i++)
        now->tags.data[now->tags.count++] = surface->triangle_tags.data[i];
    return fill_columns(e, surface, body, error);
}

/* Material positions of where they are in the world. */
static kiln_status take_places(kiln_embedded *e, const kiln_mesh *mesh, const kiln_vec3 *world,
                               kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(e->context, &e->noted, e->now.u.count, error));
    for (size_t i = 0; i < e->now.u.count; i++)
        e->noted.data[i] = world[i];
    e->noted.count = e->now.u.count;
    return kiln_embedded_rebase(e, mesh, error);
}

static kiln_status hang_all(kiln_embedded *e, const kiln_mesh *mesh, const kiln_soup *surface,
                            kiln_space space, uint32_t body, kiln_embedded_report *report,
                            kiln_error *error)
{
    size_t count = surface->points.count, bytes = (count + 1) * sizeof(kiln_begin_place);
    KILN_TRY(copy_surface(e, surface, body, error));
    KILN_TRY(kiln_embedded_cover_rows(e, mesh, error));
    const kiln_soup_field *u = kiln_soup_find_field(surface, KILN_ON_VERTEX, "u");
    bool material = space == KILN_SPACE_MATERIAL || (u && u->components == 3);
    if (u && u->components == 3 && count)
        memcpy(e->now.u.data, u->data.data, count * sizeof(kiln_vec3));
    kiln_begin_place *places = kiln_resize(e->context, NULL, 0, bytes);
    bool *done = kiln_resize(e->context, NULL, 0, count + 1);
    kiln_status status = places && done ? KILN_OK : kiln_fail_memory(error, bytes);
    if (status == KILN_OK) {
        memset(done, 0, count + 1);
        if (material)
            take_saved(e, mesh, surface, done);
        tree_work w = {.mesh = mesh,
                       .positions = material ? mesh->u : mesh->x,
                       .body = body,
                       .points = e->now.u.data,
                       .done = done,
                       .places = places};
        status = search_tree(&w, e->context, count, error);
    }
    for (size_t i = 0; status == KILN_OK && i < count; i++) {
        if (done[i])
            continue;
        kiln_embedded_hang(e, mesh, (uint32_t)i, places[i].tet, places[i].weight);
        kiln_embedded_count(&places[i], report);
    }
    if (status == KILN_OK && !material)
        status = take_places(e, mesh, e->now.u.data, error);
    kiln_release(e->context, places, bytes);
    kiln_release(e->context, done, count + 1);
    return status;
}

kiln_status kiln_embedded_create(const kiln_mesh *mesh, const kiln_soup *surface, kiln_space space,
                                 uint32_t body, kiln_embedded **out, kiln_embedded_report *report,
                                 kiln_error *error)
{
    kiln_embedded_report unread;
    report = report ? report : &unread;
    *report = (kiln_embedded_report){0};
    kiln_embedded *e = kiln_resize(mesh->context, NULL, 0, sizeof *e);
    if (!e)
        return kiln_fail_memory(error, sizeof *e);
    *e = (kiln_embedded){.context = mesh->context};
    kiln_status status = hang_all(e, mesh, surface, space, body, report, error);
    if (status != KILN_OK) {
        kiln_embedded_destroy(e);
        return status;
    }
    *out = e;
    return KILN_OK;
}

kiln_status kiln_embedded_hang_at(kiln_embedded *e, const kiln_mesh *mesh, kiln_space space,
                                  const kiln_vec3 *points, kiln_embedded_report *report,
                                  kiln_error *error)
{
    kiln_embedded_report unread;
    report = report ? report : &unread;
    *report = (kiln_embedded_report){0};
    size_t count = e->now.u.count, bytes = (count + 1) * sizeof(kiln_begin_place);
    KILN_TRY(kiln_embedded_cover_rows(e, mesh, error));
    kiln_begin_place *places = kiln_resize(e->context, NULL, 0, bytes);
    if (!places)
        return kiln_fail_memory(error, bytes);
    tree_work w = {.mesh = mesh,
                   .positions = kiln_mesh_positions(mesh, space),
                   .body = KILN_NONE,
                   .points = points,
                   .places = places};
    kiln_status status = search_tree(&w, e->context, count, error);
    if (status == KILN_OK) {
        for (size_t t = 0; t < e->now.first.count; t++)
            e->now.first.data[t] = KILN_NONE;
        for (size_t i = 0; i < count; i++) {
            kiln_embedded_hang(e, mesh, (uint32_t)i, places[i].tet, places[i].weight);
            kiln_embedded_count(&places[i], report);
        }
        if (space != KILN_SPACE_MATERIAL)
            status = take_places(e, mesh, points, error);
    }
    kiln_release(e->context, places, bytes);
    return status;
}

kiln_status kiln_embedded_move(kiln_embedded *e, const kiln_mesh *from, const kiln_mesh *to,
                               kiln_space space, kiln_embedded_report *report, kiln_error *error)
{
    size_t count = e->now.u.count, bytes = (count + 1) * sizeof(kiln_vec3);
    kiln_vec3 *points = kiln_resize(e->context, NULL, 0, bytes);
    if (!points)
        return kiln_fail_memory(error, bytes);
    kiln_status status = KILN_OK;
    if (space == KILN_SPACE_MATERIAL && count)
        memcpy(points, e->now.u.data, count * sizeof *points);
    else
        status = kiln_embedded_positions(e, from, space, points, error);
    if (status == KILN_OK)
        status = kiln_embedded_hang_at(e, to, space, points, report, error);
    kiln_release(e->context, points, bytes);
    return status;
}
