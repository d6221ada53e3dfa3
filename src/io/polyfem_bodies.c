/* Meshes that deform: bodies with regions by volume ids and patches by surface ids. */
#include "io/format.h"
#include "io/polyfem_impl.h"
#include "mesh/build.h"
#include "mesh/soup_refine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_IDS = 64 };

typedef KILN_ARRAY_OF(int)
id_array;

typedef struct face_key {
    uint32_t v[3]; /* ascending */
} face_key;
typedef KILN_ARRAY_OF(face_key)
face_array;

/* One mesh while it is written: what must be freed is here. */
typedef struct body {
    const kiln_json_node *geometry;
    int refinements;
    polyfem_placement place;
    kiln_box box;
    KILN_ARRAY_OF(kiln_vec3)
    points; /* placed */
    polyfem_selections volumes, surfaces;
    id_array claims; /* [tet]: selection from 0; -1: none */
    id_array ids;    /* different ones of its volume */
    face_array faces;
} body;

static void free_body(polyfem *p, body *b)
{
    kiln_array_free(p->context, &b->points);
    kiln_array_free(p->context, &b->volumes);
    kiln_array_free(p->context, &b->surfaces);
    kiln_array_free(p->context, &b->claims);
    kiln_array_free(p->context, &b->ids);
    kiln_array_free(p->context, &b->faces);
}

/* PolyFEM takes meshes whose pieces hang together by a vertex. */
static kiln_status judge_mesh(polyfem *p, const kiln_json_node *node)
{
    kiln_mesh *mesh = NULL;
    kiln_error inner = {0};
    kiln_status status = kiln_mesh_build(p->context, &p->mesh, NULL, &mesh, NULL, &inner);
    kiln_mesh_destroy(mesh);
    if (status == KILN_ERR_MEMORY && p->error)
        *p->error = inner;
    p->is_broken = status == KILN_ERR_INPUT;
    if (p->is_broken)
        kiln_polyfem_say(p, KILN_LOG_WARNING, node, "to be mended: %.200s", inner.message);
    return status == KILN_ERR_INPUT ? KILN_OK : status;
}

kiln_status kiln_polyfem_read_mesh(polyfem *p, const kiln_json_node *geometry)
{
    const kiln_json_node *node = kiln_polyfem_get(geometry, "mesh");
    const char *path;
    char whole[8192];
    kiln_error inner = {0};
    if (!node || node->type != KILN_JSON_IS_TEXT || !node->text[0])
        return kiln_json_fail(node ? node : geometry, p->error, "mesh must be the name of a file");
    KILN_TRY(kiln_polyfem_find_mesh(p, node, &path));
    if (p->mesh_path && strcmp(p->mesh_path, path) == 0 && !p->is_altered)
        return KILN_OK;
    p->is_altered = false;
    p->mesh_path = NULL;
    kiln_soup_free(&p->mesh);
    kiln_soup_init(&p->mesh, p->context);
    snprintf(whole, sizeof whole, "%s%s", path[0] == '/' ? "" : p->folder, path);
    kiln_status status = kiln_soup_read(p->context, whole, NULL, &p->mesh, &inner);
    if (status == KILN_ERR_INPUT)
        return kiln_json_fail(node, p->error, "%.200s", inner.message);
    if (status != KILN_OK && p->error)
        *p->error = inner;
    if (status == KILN_OK)
        p->mesh_path = path;
    return status == KILN_OK && p->mesh.tets.count > 0 ? judge_mesh(p, node) : status;
}

static kiln_status add_id(polyfem *p, id_array *ids, int id)
{
    for (size_t i = 0; i < ids->count; i++)
        if (ids->data[i] == id)
            return KILN_OK;
    return kiln_array_push(p->context, ids, id, p->error);
}

/* {"id_offset": n} alone: the file's ids, moved. */
static bool is_offset(const kiln_json_node *list)
{
    return list && list->count == 1 && list->first->type == KILN_JSON_IS_OBJECT &&
           list->first->count == 1 && kiln_polyfem_get(list->first, "id_offset");
}

static kiln_vec3 centre(const body *b, const uint32_t *corners, int count)
{
    kiln_vec3 sum = b->points.data[corners[0]];
    for (int k = 1; k < count; k++)
        sum = kiln_v3_add(sum, b->points.data[corners[k]]);
    return kiln_v3_scale(sum, 1.0 / count);
}

/* The first selection the point is in, -1: none. */
static int claim(const polyfem_selections *list, kiln_vec3 at)
{
    for (size_t i = 0; i < list->count; i++)
        if (kiln_polyfem_is_inside(&list->data[i], at))
            return (int)i;
    return -1;
}

static int file_tag(const polyfem *p, size_t tet)
{
    return p->mesh.tet_tags.count > 0 ? p->mesh.tet_tags.data[tet] : 0;
}

static int volume_id(const polyfem *p, const body *b, size_t tet, int offset)
{
    int claimed = b->claims.data[tet];
    return claimed >= 0 ? b->volumes.data[claimed].id : file_tag(p, tet) + offset;
}

static kiln_status claim_volumes(polyfem *p, body *b, int *offset)
{
    const kiln_json_node *list = kiln_polyfem_get(b->geometry, "volume_selection");
    *offset = 0;
    if (is_offset(list))
        KILN_TRY(kiln_polyfem_whole(p, list->first, "id_offset",
                                    (kiln_bounds)KILN_WITHIN(-1e9, 1e9), offset));
    else
        KILN_TRY(kiln_polyfem_selections(p, list, b->box, &b->volumes));
    KILN_TRY(kiln_array_reserve(p->context, &b->claims, p->mesh.tets.count, p->error));
    for (size_t t = 0; t < p->mesh.tets.count; t++) {
        b->claims.data[t] = claim(&b->volumes, centre(b, p->mesh.tets.data[t].v, 4));
        KILN_TRY(add_id(p, &b->ids, volume_id(p, b, t, *offset)));
        if (b->ids.count > MOST_IDS)
            return kiln_json_fail(b->geometry, p->error, "has more than %d volume ids", MOST_IDS);
    }
    return KILN_OK;
}

static kiln_status put_region(polyfem *p, const body *b, const polyfem_selection *s, int tag,
                              int id)
{
    size_t material;
    KILN_TRY(kiln_polyfem_material_of(p, b->geometry, id, &material));
    kiln_lua_put(&p->scene, "                region {");
    if (s) {
        kiln_lua_put(&p->scene, "where = ");
        kiln_polyfem_put_selection(&p->scene, s);
    } else if (tag < 0) {
        return kiln_json_fail(b->geometry, p->error, "its mesh has a negative tag: %d", tag);
    } else {
        kiln_lua_put(&p->scene, "tag = %d", tag);
    }
    kiln_lua_put(&p->scene, ", material = materials[%zu]},", material);
    kiln_polyfem_end_line(p, &p->scene, s ? s->said : b->geometry);
    return KILN_OK;
}

/* Later regions win: the file's own, then the selections from the last to the first. */
static kiln_status put_regions(polyfem *p, const body *b, int offset)
{
    id_array tags = {0};
    kiln_status status = KILN_OK;
    if (b->ids.count < 2)
        return KILN_OK;
    kiln_lua_put(&p->scene, "            regions = {\n");
    for (size_t t = 0; t < p->mesh.tets.count && status == KILN_OK; t++)
        if (b->claims.data[t] < 0)
            status = add_id(p, &tags, file_tag(p, t));
    for (size_t i = 0; i < tags.count && status == KILN_OK; i++)
        status = put_region(p, b, NULL, tags.data[i], tags.data[i] + offset);
    for (size_t i = b->volumes.count; i-- > 0 && status == KILN_OK;) {
        bool used = false;
        for (size_t t = 0; t < p->mesh.tets.count && !used; t++)
            used = b->claims.data[t] == (int)i;
        if (used)
            status = put_region(p, b, &b->volumes.data[i], 0, b->volumes.data[i].id);
    }
    kiln_array_free(p->context, &tags);
    kiln_lua_put(&p->scene, "            },\n");
    return status;
}

static int by_corners(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(face_key));
}

static face_key key_of(const uint32_t *v, int without)
{
    face_key key;
    int used = 0;
    for (int k = 0; k < 4; k++)
        if (k != without) {
            int at = used++;
            for (; at > 0 && key.v[at - 1] > v[k]; at--)
                key.v[at] = key.v[at - 1];
            key.v[at] = v[k];
        }
    return key;
}

/* Faces that one tet alone has. */
static kiln_status find_faces(polyfem *p, body *b)
{
    size_t kept = 0;
    KILN_TRY(kiln_array_reserve(p->context, &b->faces, 4 * p->mesh.tets.count, p->error));
    for (size_t t = 0; t < p->mesh.tets.count; t++)
        for (int k = 0; k < 4; k++)
            b->faces.data[b->faces.count++] = key_of(p->mesh.tets.data[t].v, k);
    qsort(b->faces.data, b->faces.count, sizeof *b->faces.data, by_corners);
    for (size_t i = 0, next; i < b->faces.count; i = next) {
        for (next = i + 1;
             next < b->faces.count && by_corners(&b->faces.data[i], &b->faces.data[next]) == 0;)
            next++;
        if (next == i + 1)
            b->faces.data[kept++] = b->faces.data[i];
    }
    b->faces.count = kept;
    return KILN_OK;
}

static kiln_status note_surface_id(polyfem *p, int id)
{
    for (size_t i = 0; i < p->surface_ids.count; i++)
        if ((int)p->surface_ids.data[i] == id)
            return KILN_OK;
    return kiln_array_push(p->context, &p->surface_ids, (uint32_t)id, p->error);
}

static kiln_status put_patch(polyfem *p, const polyfem_selection *s)
{
    kiln_lua_put(&p->scene, "                patch {tag = %d, where = ", s->id);
    kiln_polyfem_put_selection(&p->scene, s);
    kiln_lua_put(&p->scene, "},");
    kiln_polyfem_end_line(p, &p->scene, s->said);
    return note_surface_id(p, s->id);
}

static bool has_conditions(const polyfem *p)
{
    const kiln_json_node *all = kiln_polyfem_get(p->root, "boundary_conditions");
    const kiln_json_node *held = kiln_polyfem_get(all, "dirichlet_boundary");
    const kiln_json_node *pulled = kiln_polyfem_get(all, "neumann_boundary");
    return (held && held->count > 0) || (pulled && pulled->count > 0);
}

/* Above and below is no border of the plane. Walls have their centres at a third of the depth. */
static void put_faces_of_slab(polyfem *p, const body *b)
{
    double low = b->box.low.z, high = b->box.high.z, depth = high - low;
    const polyfem_selection below = {
        .word = "box", .a = {-1e29, -1e29, low - depth}, .b = {1e29, 1e29, low + 0.1 * depth}};
    const polyfem_selection above = {
        .word = "box", .a = {-1e29, -1e29, high - 0.1 * depth}, .b = {1e29, 1e29, high + depth}};
    kiln_lua_put(&p->scene, "                patch {tag = %d, where = ", POLYFEM_NO_ID);
    kiln_polyfem_put_selection(&p->scene, &below);
    kiln_lua_put(&p->scene, " | ");
    kiln_polyfem_put_selection(&p->scene, &above);
    kiln_lua_put(&p->scene, "},\n");
}

/* Later patches win: first no id, then the selections that faces have, from the last on. */
static kiln_status put_patches(polyfem *p, body *b)
{
    const kiln_json_node *list = kiln_polyfem_get(b->geometry, "surface_selection");
    bool used[256] = {false};
    KILN_TRY(kiln_polyfem_selections(p, list, b->box, &b->surfaces));
    if (!has_conditions(p))
        return KILN_OK;
    if (b->surfaces.count > sizeof used)
        return kiln_json_fail(list, p->error, "has more than %zu selections", sizeof used);
    KILN_TRY(find_faces(p, b));
    for (size_t i = 0; i < b->faces.count; i++) {
        kiln_vec3 at = centre(b, b->faces.data[i].v, 3);
        bool is_wall = at.z > b->box.low.z && at.z < b->box.high.z;
        int claimed = claim(&b->surfaces, at);
        if (claimed >= 0 && (is_wall || !p->is_flat))
            used[claimed] = true;
    }
    kiln_lua_put(&p->scene, "            patches = {\n                patch {tag = %d},\n",
                 POLYFEM_NO_ID);
    for (size_t i = b->surfaces.count; i-- > 0;)
        if (used[i])
            KILN_TRY(put_patch(p, &b->surfaces.data[i]));
    if (p->is_flat)
        put_faces_of_slab(p, b);
    kiln_lua_put(&p->scene, "            },\n");
    return KILN_OK;
}

/* The condition of the start that all of the body's volume has; NULL: none. */
static kiln_status find_start(polyfem *p, const body *b, const char *key,
                              const kiln_json_node **out)
{
    const kiln_json_node *list =
        kiln_polyfem_get(kiln_polyfem_get(p->root, "initial_conditions"), key);
    *out = NULL;
    for (size_t i = 0; i < b->ids.count; i++) {
        const kiln_json_node *mine = NULL;
        for (const kiln_json_node *at = list ? list->first : NULL; at && !mine; at = at->next) {
            bool found;
            if (at->type != KILN_JSON_IS_OBJECT || !kiln_polyfem_get(at, "value"))
                return kiln_json_fail(at, p->error, "must be an object with an id and a value");
            KILN_TRY(kiln_polyfem_has_id(p, at, b->ids.data[i], &found));
            mine = found ? at : NULL;
        }
        if (i > 0 && mine != *out)
            return kiln_json_fail(mine ? mine : *out, p->error,
                                  "not supported for a part of a mesh only: it has other ids, too");
        *out = mine;
    }
    return KILN_OK;
}

static kiln_status put_start(polyfem *p, const body *b, const char *key, const char *ours,
                             bool from_place)
{
    const kiln_json_node *start;
    polyfem_formula v[3];
    KILN_TRY(find_start(p, b, key, &start));
    if (!start)
        return KILN_OK;
    KILN_TRY(kiln_polyfem_vector(p, kiln_polyfem_get(start, "value"), v));
    kiln_lua_put(&p->scene, "            %s = ", ours);
    kiln_polyfem_put_vector(p, v, (polyfem_form){.arguments = "u", .from_place = from_place});
    kiln_lua_put(&p->scene, ",");
    kiln_polyfem_end_line(p, &p->scene, start);
    p->leads_by_place |= from_place;
    return KILN_OK;
}

static void put_mesh_options(polyfem *p, int refinements)
{
    if (p->is_broken)
        kiln_lua_put(&p->scene, ", repair = true");
    if (refinements > 0)
        kiln_lua_put(&p->scene, ", refine = %d", refinements);
    if (p->is_flat) {
        kiln_lua_put(&p->scene, ", slab = ");
        kiln_lua_put_number(&p->scene, p->depth);
    }
    kiln_lua_put(&p->scene, "}");
}

static kiln_status put_body(polyfem *p, body *b)
{
    size_t material;
    int offset;
    KILN_TRY(kiln_array_reserve(p->context, &b->points, p->mesh.points.count, p->error));
    b->box = kiln_box_empty();
    for (size_t i = 0; i < p->mesh.points.count; i++) {
        b->points.data[i] = kiln_polyfem_placed(&b->place, p->mesh.points.data[i]);
        b->box = kiln_box_grow(b->box, b->points.data[i]);
    }
    p->bodies = kiln_box_join(p->bodies, b->box);
    KILN_TRY(claim_volumes(p, b, &offset));
    KILN_TRY(kiln_polyfem_material_of(p, b->geometry, b->ids.data[0], &material));
    kiln_lua_put(&p->scene, "        body {");
    kiln_polyfem_end_line(p, &p->scene, b->geometry);
    kiln_lua_put(&p->scene,
                 "            material = materials[%zu], shape = shape.file {path = ", material);
    kiln_polyfem_put_mesh_path(p);
    put_mesh_options(p, b->refinements);
    kiln_polyfem_put_placement(&p->scene, &b->place);
    kiln_lua_put(&p->scene, ",\n");
    KILN_TRY(put_start(p, b, "velocity", "velocity", false));
    KILN_TRY(put_start(p, b, "solution", "position", true));
    KILN_TRY(put_regions(p, b, offset));
    KILN_TRY(put_patches(p, b));
    kiln_lua_put(&p->scene, "        },\n");
    return KILN_OK;
}

typedef struct grid {
    double step[3];
    int size[3];
} grid;

/* Copies side by side; `relative` to the mesh's sides. */
static kiln_status read_grid(polyfem *p, const kiln_json_node *geometry, kiln_box box, grid *g)
{
    const kiln_json_node *array = kiln_polyfem_get(geometry, "array");
    const kiln_json_node *size = kiln_polyfem_get(array, "size");
    double offset = NAN, counts[3] = {1, 1, 1};
    bool relative = false;
    size_t given;
    if (!size || !kiln_polyfem_get(array, "offset"))
        return kiln_json_fail(geometry, p->error, "must have an array with offset and size");
    KILN_TRY(kiln_polyfem_number(p, array, "offset", (kiln_bounds)KILN_ANY_NUMBER, &offset));
    KILN_TRY(kiln_polyfem_flag(p, array, "relative", &relative));
    KILN_TRY(kiln_polyfem_numbers(p, size, counts, &given));
    kiln_vec3 sides = kiln_v3_sub(box.high, box.low);
    const double side[3] = {sides.x, sides.y, sides.z};
    for (int k = 0; k < 3; k++) {
        if (!(counts[k] >= 1.0 && counts[k] <= 1000.0) || counts[k] != floor(counts[k]))
            return kiln_json_fail(size, p->error, "must be whole numbers from 1 to 1000");
        g->size[k] = (int)counts[k];
        g->step[k] = offset * (relative ? side[k] : 1.0);
    }
    if (counts[0] * counts[1] * counts[2] > 10000.0)
        return kiln_json_fail(size, p->error, "must be at most 10000 meshes");
    return KILN_OK;
}

static kiln_status put_copy(polyfem *p, const kiln_json_node *geometry, int refinements,
                            const polyfem_placement *place, const double shift[3])
{
    body b = {.geometry = geometry, .refinements = refinements, .place = *place};
    for (int k = 0; k < 3; k++)
        b.place.at[k] += shift[k];
    kiln_status status = put_body(p, &b);
    free_body(p, &b);
    return status;
}

static kiln_status put_copies(polyfem *p, const kiln_json_node *geometry, int refinements,
                              const polyfem_placement *place)
{
    kiln_box box = kiln_box_empty();
    grid g = {{0}, {0}};
    for (size_t i = 0; i < p->mesh.points.count; i++)
        box = kiln_box_grow(box, kiln_polyfem_placed(place, p->mesh.points.data[i]));
    KILN_TRY(read_grid(p, geometry, box, &g));
    for (int i = 0; i < g.size[0]; i++)
        for (int j = 0; j < g.size[1]; j++)
            for (int k = 0; k < g.size[2]; k++)
                KILN_TRY(put_copy(p, geometry, refinements, place,
                                  (double[3]){i * g.step[0], j * g.step[1], k * g.step[2]}));
    return KILN_OK;
}

static kiln_status make_finer(polyfem *p, int refinements)
{
    for (int i = 0; i < refinements; i++)
        KILN_TRY(kiln_soup_halve(&p->mesh, p->error));
    p->is_altered |= refinements > 0;
    return KILN_OK;
}

/* As deep as edges of the first mesh are long. */
static kiln_status make_slab(polyfem *p, const polyfem_placement *place)
{
    double sum = 0.0;
    for (size_t t = 0; t < p->mesh.triangles.count && !(p->depth > 0.0); t++)
        for (int k = 0; k < 3; k++) {
            const uint32_t *v = p->mesh.triangles.data[t].v;
            kiln_vec3 a = kiln_polyfem_placed(place, p->mesh.points.data[v[k]]);
            kiln_vec3 b = kiln_polyfem_placed(place, p->mesh.points.data[v[(k + 1) % 3]]);
            sum += kiln_v3_norm(kiln_v3_sub(a, b));
        }
    if (!(p->depth > 0.0))
        p->depth = sum / (3.0 * (double)p->mesh.triangles.count);
    p->is_altered = true;
    return kiln_soup_draw_out(&p->mesh, p->depth, p->error);
}

static kiln_status put_geometry(polyfem *p, const kiln_json_node *geometry)
{
    const char *type = "mesh", *extract = "volume";
    int refinements = 0;
    polyfem_placement place;
    KILN_TRY(kiln_polyfem_word(p, geometry, "type", &type));
    KILN_TRY(kiln_polyfem_word(p, geometry, "extract", &extract));
    KILN_TRY(
        kiln_polyfem_whole(p, geometry, "n_refs", (kiln_bounds)KILN_WITHIN(0, 10), &refinements));
    bool is_array = strcmp(type, "mesh_array") == 0;
    if ((!is_array && strcmp(type, "mesh") != 0) || strcmp(extract, "volume") != 0)
        return kiln_json_fail(geometry, p->error, "%s \"%.40s\" is not supported for what deforms",
                              strcmp(extract, "volume") ? "extract" : "type",
                              strcmp(extract, "volume") ? extract : type);
    KILN_TRY(kiln_polyfem_read_mesh(p, geometry));
    if (p->is_flat ? !kiln_soup_is_flat(&p->mesh) : p->mesh.tets.count == 0)
        return kiln_json_fail(kiln_polyfem_get(geometry, "mesh"), p->error,
                              p->is_flat ? "must be triangles in a plane, as the first mesh is"
                                         : "has no tets: other elements are not supported");
    KILN_TRY(make_finer(p, refinements));
    KILN_TRY(kiln_polyfem_place(p, geometry, &p->mesh, &place));
    if (p->is_flat)
        KILN_TRY(make_slab(p, &place));
    return is_array ? put_copies(p, geometry, refinements, &place)
                    : put_copy(p, geometry, refinements, &place, (double[3]){0, 0, 0});
}

kiln_status kiln_polyfem_put_bodies(polyfem *p)
{
    const kiln_json_node *list = kiln_polyfem_get(p->root, "geometry");
    size_t count = 0;
    p->bodies = kiln_box_empty();
    kiln_lua_put(&p->scene, "    bodies = {\n");
    for (const kiln_json_node *at = list ? list->first : NULL; at; at = at->next) {
        bool enabled = true, is_obstacle = false;
        if (at->type != KILN_JSON_IS_OBJECT)
            return kiln_json_fail(at, p->error, "must be an object");
        KILN_TRY(kiln_polyfem_flag(p, at, "enabled", &enabled));
        KILN_TRY(kiln_polyfem_flag(p, at, "is_obstacle", &is_obstacle));
        if (!enabled || is_obstacle)
            continue;
        KILN_TRY(put_geometry(p, at));
        count++;
    }
    kiln_lua_put(&p->scene, "    },\n");
    return count > 0 ? KILN_OK
                     : kiln_json_fail(list ? list : p->root, p->error,
                                      "geometry must have a mesh that is no obstacle");
}

kiln_status kiln_polyfem_find_dimension(polyfem *p)
{
    const kiln_json_node *list = kiln_polyfem_get(p->root, "geometry");
    for (const kiln_json_node *at = list ? list->first : NULL; at; at = at->next) {
        bool enabled = true, is_obstacle = false;
        KILN_TRY(kiln_polyfem_flag(p, at, "enabled", &enabled));
        KILN_TRY(kiln_polyfem_flag(p, at, "is_obstacle", &is_obstacle));
        if (!enabled || is_obstacle || at->type != KILN_JSON_IS_OBJECT)
            continue;
        KILN_TRY(kiln_polyfem_read_mesh(p, at));
        p->is_flat = kiln_soup_is_flat(&p->mesh);
        return KILN_OK;
    }
    return KILN_OK;
}
