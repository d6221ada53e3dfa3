/* Bodies, their shapes, regions and materials. */
#include "base/hash.h"
#include "io/format.h"
#include "io/scene_reader.h"
#include "mesh/soup_refine.h"

#include <lua5.4/lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

kiln_mat3 kiln_scene_turn_matrix(const scene_turn *turn)
{
    double angle = isfinite(turn->angle) ? turn->angle : turn->degrees * (acos(-1.0) / 180.0);
    return isfinite(angle) ? kiln_m3_rotation(turn->axis, angle) : kiln_m3_identity();
}

/* A mesh with material positions of its own, a frame of a run, takes them along. */
void kiln_scene_place_points(const scene_place *place, kiln_soup *soup)
{
    kiln_mat3 turn = kiln_scene_turn_matrix(&place->turn);
    kiln_vec3 s = place->scale;
    const kiln_soup_field *material = kiln_soup_find_field(soup, KILN_ON_VERTEX, "u");
    double *u = material && material->components == 3 ? material->data.data : NULL;
    for (size_t i = 0; i < soup->points.count; i++) {
        kiln_vec3 p = soup->points.data[i];
        p = kiln_m3_apply(turn, kiln_v3(p.x * s.x, p.y * s.y, p.z * s.z));
        soup->points.data[i] = kiln_v3_add(p, place->at);
        if (!u)
            continue;
        p = kiln_m3_apply(turn, kiln_v3(u[3 * i] * s.x, u[3 * i + 1] * s.y, u[3 * i + 2] * s.z));
        p = kiln_v3_add(p, place->at);
        memcpy(u + 3 * i, &p, sizeof p);
    }
}

kiln_status kiln_scene_read_scale(scene_reader *r, void *field)
{
    static const kiln_schema_row rows[] = {
        {.key = "scale", .type = KILN_VALUE_NUMBER, .bounds = KILN_POSITIVE},
        {.key = "scale", .type = KILN_VALUE_VECTOR, .bounds = KILN_POSITIVE}};
    double all;
    if (lua_type(r->L, -1) == LUA_TTABLE)
        return kiln_scene_read_row(r, &rows[1], field);
    KILN_TRY(kiln_scene_read_row(r, &rows[0], &all));
    *(kiln_vec3 *)field = kiln_v3(all, all, all);
    return KILN_OK;
}

enum { BEING_READ = INT32_MAX };
/* Which material the table at the top has become; `number` below 0: asked, otherwise kept. In a
 * table of Lua's, since a scene may have as many materials as bodies. */
static lua_Integer number_of_material(scene_reader *r, lua_Integer number)
{
    lua_State *L = r->L;
    luaL_checkstack(L, 5, "materials");
    luaL_getsubtable(L, LUA_REGISTRYINDEX, "kiln.materials");
    lua_pushvalue(L, -2);
    if (number >= 0) {
        lua_pushinteger(L, number);
        lua_rawset(L, -3);
    } else {
        number = lua_rawget(L, -2) == LUA_TNUMBER ? lua_tointeger(L, -1) : -1;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return number;
}

kiln_status kiln_scene_read_material(scene_reader *r, void *field)
{
    int kind;
    scene_spot spot = {r->path_size, r->line};
    KILN_TRY(kiln_scene_expect(r, SCENE_IS_MATERIAL, &kind));
    lua_Integer known = number_of_material(r, -1);
    if (known == BEING_READ)
        return kiln_scene_fail(r, "must not lead back to itself");
    if (known < 0) {
        kiln_material_settings settings;
        kiln_material_schema.start(&settings);
        number_of_material(r, BEING_READ);
        KILN_TRY(kiln_scene_read_object(r, &kiln_material_schema, &settings));
        known = (lua_Integer)r->scene->materials.count; /* after those that it names */
        number_of_material(r, known);
        KILN_TRY(
            kiln_array_push(r->box->context, &r->scene->materials, settings.material, r->error));
    }
    *(uint32_t *)field = (uint32_t)known;
    kiln_scene_leave(r, spot);
    return KILN_OK;
}

static kiln_status read_region(scene_reader *r, void *user)
{
    kiln_scene_body *body = user;
    kiln_scene_region fresh;
    int kind;
    KILN_TRY(kiln_scene_expect(r, SCENE_IS_REGION, &kind));
    kiln_region_schema.start(&fresh);
    KILN_TRY(kiln_array_push(r->box->context, &body->regions, fresh, r->error));
    kiln_scene_region *region = &body->regions.data[body->regions.count - 1];
    return kiln_scene_read_object(r, &kiln_region_schema, region);
}

kiln_status kiln_scene_read_regions(scene_reader *r, void *field)
{
    (void)field;
    return kiln_scene_read_list(r, "regions", read_region, &r->body.body);
}

static kiln_status read_patch(scene_reader *r, void *user)
{
    kiln_scene_body *body = user;
    kiln_scene_patch fresh;
    int kind;
    KILN_TRY(kiln_scene_expect(r, SCENE_IS_PATCH, &kind));
    kiln_patch_schema.start(&fresh);
    KILN_TRY(kiln_array_push(r->box->context, &body->patches, fresh, r->error));
    kiln_scene_patch *patch = &body->patches.data[body->patches.count - 1];
    return kiln_scene_read_object(r, &kiln_patch_schema, patch);
}

kiln_status kiln_scene_read_patches(scene_reader *r, void *field)
{
    (void)field;
    return kiln_scene_read_list(r, "patches", read_patch, &r->body.body);
}

kiln_status kiln_scene_read_mesh(scene_reader *r, const char *path, kiln_soup *soup)
{
    char whole[4096];
    kiln_error inner = {0};
    snprintf(whole, sizeof whole, "%s%s", path[0] == '/' ? "" : r->folder, path);
    kiln_soup_init(soup, r->box->context);
    return kiln_scene_wrap(r, kiln_soup_read(r->box->context, whole, NULL, soup, &inner), &inner);
}

/* The file, with tets. */
static kiln_status make_tets(scene_reader *r, const scene_file_draft *draft, kiln_soup *soup)
{
    kiln_error inner = {0};
    if (draft->slab > 0.0 && !kiln_soup_is_flat(soup))
        return kiln_scene_fail_key(r, "slab", "must be triangles in a plane of constant z");
    if (draft->slab > 0.0)
        return kiln_scene_wrap(r, kiln_soup_draw_out(soup, draft->slab, &inner), &inner);
    if (soup->tets.count > 0 && draft->repair)
        return kiln_scene_wrap(r, kiln_scene_mend(r->box->context, draft->path, soup, &inner),
                               &inner);
    if (soup->tets.count > 0)
        return KILN_OK;
    if (soup->triangles.count == 0)
        return kiln_scene_fail_key(
            r, "path", "the file has neither tets nor triangles, got \"%.60s\"", draft->path);
    r->surface = *soup;
    kiln_soup_init(soup, r->box->context);
    kiln_fill_report report;
    kiln_status status =
        kiln_fill_surface(&r->surface, draft->path, &draft->fill, soup, &report, &inner);
    kiln_soup_free(&r->surface);
    if (status == KILN_OK)
        kiln_fill_report_log(r->box->context, draft->path, &report);
    return kiln_scene_wrap(r, status, &inner);
}

static kiln_status read_file_shape(scene_reader *r, kiln_soup *soup)
{
    scene_file_draft draft;
    kiln_error inner = {0};
    kiln_shape_file_schema.start(&draft);
    KILN_TRY(kiln_scene_read_object(r, &kiln_shape_file_schema, &draft));
    KILN_TRY(kiln_scene_read_mesh(r, draft.path, soup));
    for (int i = 0; i < draft.refine; i++)
        KILN_TRY(kiln_scene_wrap(r, kiln_soup_halve(soup, &inner), &inner));
    KILN_TRY(make_tets(r, &draft, soup));
    if (draft.layers == 0)
        return KILN_OK;
    return kiln_scene_wrap(r,
                           kiln_scene_stretch(r->box->context, draft.path, (uint32_t)draft.layers,
                                              draft.fill.size, soup, &inner),
                           &inner);
}

static kiln_status read_shape_choice(scene_reader *r, const kiln_shape_param *param, double *out)
{
    char rule[128];
    if (lua_type(r->L, -1) == LUA_TSTRING) {
        const char *text = lua_tostring(r->L, -1), *at = param->text;
        for (int position = 0;; position++) {
            size_t n = strcspn(at, "|");
            if (n == strlen(text) && strncmp(at, text, n) == 0) {
                *out = position;
                return KILN_OK;
            }
            if (!at[n])
                break;
            at += n + 1;
        }
    }
    snprintf(rule, sizeof rule, "one of %s", param->text);
    return kiln_scene_fail_value(r, rule);
}

static kiln_status read_shape_param(scene_reader *r, const kiln_shape_param *param,
                                    kiln_shape_values *values, size_t at)
{
    kiln_bounds bounds = {.low = param->low, .high = param->high};
    kiln_schema_row row = {.type = KILN_VALUE_NUMBER, .bounds = bounds};
    if (param->kind == KILN_PARAM_CHOICE)
        return read_shape_choice(r, param, &values->number[at]);
    if (param->kind == KILN_PARAM_TEXT) {
        if (lua_type(r->L, -1) != LUA_TSTRING)
            return kiln_scene_fail_value(r, "a text");
        values->text[at] = lua_tostring(r->L, -1);
        return KILN_OK;
    }
    KILN_TRY(kiln_scene_read_row(r, &row, &values->number[at]));
    if (param->kind == KILN_PARAM_COUNT && values->number[at] != floor(values->number[at]))
        return kiln_scene_fail_value(r, "a whole number");
    return KILN_OK;
}

kiln_status kiln_scene_read_generated(scene_reader *r, const kiln_shape *shape, kiln_soup *soup)
{
    kiln_shape_values values;
    kiln_error inner = {0};
    char name[64];
    snprintf(name, sizeof name, "shape.%s", shape->name);
    KILN_TRY(
        kiln_scene_check_keys(r, name, shape->params, shape->param_count, sizeof *shape->params));
    KILN_TRY(kiln_scene_wrap(r, kiln_shape_parse(shape, 0, NULL, &values, &inner), &inner));
    for (size_t i = 0; i < shape->param_count; i++) {
        lua_pushstring(r->L, shape->params[i].name);
        if (lua_rawget(r->L, -2) != LUA_TNIL) {
            scene_spot spot = kiln_scene_enter_key(r, shape->params[i].name);
            KILN_TRY(read_shape_param(r, &shape->params[i], &values, i));
            kiln_scene_leave(r, spot);
        }
        lua_pop(r->L, 1);
    }
    kiln_soup_init(soup, r->box->context);
    return kiln_scene_wrap(r, shape->generate(&values, soup, &inner), &inner);
}

kiln_status kiln_scene_read_shape(scene_reader *r, void *field)
{
    scene_spot spot = {r->path_size, r->line};
    int kind;
    KILN_TRY(kiln_scene_expect(r, SCENE_IS_SHAPE, &kind));
    const kiln_shape *shape = kiln_generator_at((size_t)kind);
    KILN_TRY(shape ? kiln_scene_read_generated(r, shape, field) : read_file_shape(r, field));
    kiln_scene_leave(r, spot);
    return KILN_OK;
}

/* Where the name is in the table, or a free place for it. */
static uint32_t *find_name(scene_reader *r, const char *name, const char *others, size_t stride)
{
    size_t mask = r->names.count - 1, at = kiln_hash_bytes(0, name, strlen(name)) & mask;
    while (r->names.data[at] && strcmp(others + (r->names.data[at] - 1) * stride, name) != 0)
        at = (at + 1) & mask;
    return &r->names.data[at];
}

/* Room for one more name than `count`, with those in it: a power of two, at least twice as many. */
static kiln_status fit_names(scene_reader *r, const char *others, size_t count, size_t stride)
{
    size_t room = 64;
    if (r->named == count && 2 * (count + 1) <= r->names.count)
        return KILN_OK;
    while (room < 4 * (count + 1))
        room *= 2;
    KILN_TRY(kiln_array_reserve(r->box->context, &r->names, room, r->error));
    memset(r->names.data, 0, room * sizeof *r->names.data);
    r->names.count = room;
    for (size_t i = 0; i < count; i++)
        *find_name(r, others + i * stride, others, stride) = (uint32_t)i + 1;
    r->named = count;
    return KILN_OK;
}

kiln_status kiln_scene_name_thing(scene_reader *r, const char *what, char *name, const char *others,
                                  size_t count, size_t stride)
{
    if (!name[0])
        snprintf(name, KILN_NAME_SIZE, "%s%zu", what, count + 1);
    KILN_TRY(fit_names(r, others, count, stride));
    uint32_t *place = find_name(r, name, others, stride);
    if (*place)
        return kiln_scene_fail_key(r, "name", "must be different for each %s, got \"%s\" twice",
                                   what, name);
    *place = (uint32_t)count + 1;
    r->named = count + 1;
    return KILN_OK;
}

static kiln_status check_points(const scene_reader *r, const char *whose, const kiln_soup *soup)
{
    for (size_t i = 0; i < soup->points.count; i++)
        if (!(kiln_v3_norm(soup->points.data[i]) <= KILN_LARGEST))
            return kiln_scene_fail(r, "%spoint %zu must be at most %g m from 0 where it is placed",
                                   whose, i + 1, KILN_LARGEST);
    return KILN_OK;
}

static kiln_status check_body(scene_reader *r, kiln_scene_body *body)
{
    kiln_scene *scene = r->scene;
    KILN_TRY(kiln_scene_name_thing(r, "body", body->name,
                                   scene->bodies.count ? scene->bodies.data->name : NULL,
                                   scene->bodies.count, sizeof *scene->bodies.data));
    KILN_TRY(check_points(r, "", &body->mesh));
    return check_points(r, "the surface's ", &body->surface);
}

static kiln_status read_body(scene_reader *r, void *user)
{
    (void)user;
    int kind;
    scene_body_draft *draft = &r->body;
    KILN_TRY(kiln_scene_expect(r, SCENE_IS_BODY, &kind));
    kiln_body_schema.start(draft);
    KILN_TRY(kiln_scene_read_object(r, &kiln_body_schema, draft));
    kiln_scene_place_points(&draft->place, &draft->body.mesh);
    kiln_scene_place_points(&draft->place, &draft->body.surface);
    KILN_TRY(check_body(r, &draft->body));
    KILN_TRY(kiln_array_push(r->box->context, &r->scene->bodies, draft->body, r->error));
    kiln_body_schema.start(draft);
    return KILN_OK;
}

kiln_status kiln_scene_read_bodies(scene_reader *r, void *field)
{
    (void)field;
    KILN_TRY(kiln_scene_read_list(r, "bodies", read_body, NULL));
    return r->scene->bodies.count > 0 ? KILN_OK
                                      : kiln_scene_fail(r, "must have at least one body, got none");
}
