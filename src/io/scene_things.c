/* Holds, motions, loads, obstacles and selections. */
#include "base/nearest_name.h"
#include "io/scene_reader.h"

#include <lua5.4/lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PICK_LIMIT = 10000, PICK_DEPTH = 100 };

static kiln_status read_pick(scene_reader *r, kiln_picks *picks, int depth);

static kiln_status push_pick(scene_reader *r, kiln_picks *picks, kiln_pick pick)
{
    if (picks->count >= PICK_LIMIT)
        return kiln_scene_fail(r, "must have at most %d parts", PICK_LIMIT);
    return kiln_array_push(r->box->context, picks, pick, r->error);
}

static kiln_status read_combination(scene_reader *r, kiln_picks *picks, int kind, int depth)
{
    static const kiln_pick_kind kinds[] = {KILN_PICK_AND, KILN_PICK_OR, KILN_PICK_MINUS,
                                           KILN_PICK_NOT};
    kiln_pick pick = {.kind = kinds[kind - SCENE_PICK_AND]};
    int operands = kind == SCENE_PICK_NOT ? 1 : 2;
    size_t count;
    lua_State *L = r->L;
    count = lua_rawlen(L, -1);
    for (int i = 1; i <= operands; i++) {
        scene_spot spot = kiln_scene_enter_item(r, (size_t)i);
        lua_rawgeti(L, -1, i);
        KILN_TRY(read_pick(r, picks, depth + 1));
        lua_pop(L, 1);
        kiln_scene_leave(r, spot);
        *(i == 1 ? &pick.a : &pick.b) = (uint32_t)picks->count - 1;
    }
    if (count != (size_t)operands)
        return kiln_scene_fail(r, "must not be changed after it was combined");
    return push_pick(r, picks, pick);
}

static kiln_status read_pick(scene_reader *r, kiln_picks *picks, int depth)
{
    scene_spot spot = {r->path_size, r->line};
    int kind;
    luaL_checkstack(r->L, 10, "selection");
    if (depth > PICK_DEPTH)
        return kiln_scene_fail(r, "must be at most %d operators deep", PICK_DEPTH);
    KILN_TRY(kiln_scene_expect(r, SCENE_IS_SELECTION, &kind));
    if (kind >= SCENE_PICK_AND) {
        KILN_TRY(read_combination(r, picks, kind, depth));
    } else {
        kiln_pick pick = {.kind = KILN_PICK_SELECTOR};
        const kiln_schema *object = &kiln_select_schemas[kind];
        object->start(&pick.selector);
        pick.selector.kind = (kiln_select_kind)kind;
        KILN_TRY(kiln_scene_read_object(r, object, &pick.selector));
        KILN_TRY(push_pick(r, picks, pick));
    }
    kiln_scene_leave(r, spot);
    return KILN_OK;
}

kiln_status kiln_scene_read_picks(scene_reader *r, void *field)
{
    return read_pick(r, field, 0);
}

kiln_status kiln_scene_read_components(scene_reader *r, void *field)
{
    static const char *const rule = "letters of x, y, z, each at most once";
    uint8_t bits = 0;
    if (lua_type(r->L, -1) != LUA_TSTRING)
        return kiln_scene_fail_value(r, rule);
    for (const char *c = lua_tostring(r->L, -1); *c; c++) {
        uint8_t bit = *c >= 'x' && *c <= 'z' ? (uint8_t)(1 << (*c - 'x')) : 0;
        if (!bit || bits & bit)
            return kiln_scene_fail_value(r, rule);
        bits |= bit;
    }
    if (!bits)
        return kiln_scene_fail_value(r, rule);
    *(uint8_t *)field = bits;
    return KILN_OK;
}

/* The position of the named item among `count` structs of `stride` bytes with a name inside. */
static kiln_status find_name(scene_reader *r, const char *what, const char *first, size_t count,
                             size_t stride, int32_t *out)
{
    char rule[64];
    snprintf(rule, sizeof rule, "the name of %s", what);
    if (lua_type(r->L, -1) != LUA_TSTRING)
        return kiln_scene_fail_value(r, rule);
    const char *wanted = lua_tostring(r->L, -1), *nearest = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *pair[2] = {nearest ? nearest : first + i * stride, first + i * stride};
        if (strcmp(wanted, pair[1]) == 0) {
            *out = (int32_t)i;
            return KILN_OK;
        }
        nearest = kiln_nearest_name(wanted, pair, 2, sizeof pair[0]);
    }
    char found[64];
    kiln_scene_describe(r->L, -1, found, sizeof found);
    if (nearest)
        return kiln_scene_fail(r, "there is no %s %s; did you mean '%s'?",
                               what + 2 + (what[1] == 'n'), found, nearest);
    return kiln_scene_fail(r, "must be %s, got %s", rule, found);
}

kiln_status kiln_scene_read_body_name(scene_reader *r, void *field)
{
    const kiln_scene *scene = r->scene;
    return find_name(r, "a body", scene->bodies.count ? scene->bodies.data->name : NULL,
                     scene->bodies.count, sizeof *scene->bodies.data, field);
}

kiln_status kiln_scene_read_body_number(scene_reader *r, void *field)
{
    int32_t number;
    KILN_TRY(kiln_scene_read_body_name(r, &number));
    *(int64_t *)field = number;
    return KILN_OK;
}

kiln_status kiln_scene_read_other_body(scene_reader *r, void *field)
{
    int32_t number;
    KILN_TRY(kiln_scene_read_body_name(r, &number));
    *(uint32_t *)field = (uint32_t)number + 1;
    return KILN_OK;
}

kiln_status kiln_scene_read_obstacle_name(scene_reader *r, void *field)
{
    const kiln_scene *scene = r->scene;
    return find_name(r, "an obstacle", scene->obstacles.count ? scene->obstacles.data->name : NULL,
                     scene->obstacles.count, sizeof *scene->obstacles.data, field);
}

kiln_status kiln_scene_read_motion(scene_reader *r, void *field)
{
    kiln_motion *motion = field;
    scene_spot spot = {r->path_size, r->line};
    int kind;
    KILN_TRY(kiln_scene_expect(r, SCENE_IS_MOTION, &kind));
    kiln_motion_schemas[kind].start(motion);
    motion->kind = (kiln_motion_kind)kind;
    KILN_TRY(kiln_scene_read_object(r, &kiln_motion_schemas[kind], motion));
    kiln_scene_leave(r, spot);
    return KILN_OK;
}

static kiln_status check_times(scene_reader *r, double from, double till)
{
    if (!(till > from))
        return kiln_scene_fail_key(r, "till", "must be after from, got %g and %g", till, from);
    if (r->scene->duration > 0.0 && from >= r->scene->duration)
        return kiln_scene_fail_key(r, "from", "must be before the end of the scene, %g s, got %g",
                                   r->scene->duration, from);
    return KILN_OK;
}

static kiln_status read_hold(scene_reader *r, void *user)
{
    (void)user;
    int kind;
    scene_hold_draft *draft = &r->hold;
    kiln_scene_hold *hold = &draft->hold;
    KILN_TRY(kiln_scene_expect(r, SCENE_IS_HOLD, &kind));
    kiln_hold_schema.start(draft);
    KILN_TRY(kiln_scene_read_object(r, &kiln_hold_schema, draft));
    KILN_TRY(check_times(r, hold->from, hold->until));
    if (isfinite(draft->turn.angle) || isfinite(draft->turn.degrees))
        hold->axes = kiln_m3_transpose(kiln_scene_turn_matrix(&draft->turn));
    KILN_TRY(kiln_array_push(r->box->context, &r->scene->holds, *hold, r->error));
    kiln_hold_schema.start(draft);
    return KILN_OK;
}

kiln_status kiln_scene_read_holds(scene_reader *r, void *field)
{
    (void)field;
    return kiln_scene_read_list(r, "holds", read_hold, NULL);
}

static kiln_status read_probe(scene_reader *r, void *user)
{
    (void)user;
    int kind;
    kiln_scene_probe probe;
    KILN_TRY(kiln_scene_expect(r, SCENE_IS_PROBE, &kind));
    kiln_probe_schema.start(&probe);
    KILN_TRY(kiln_scene_read_object(r, &kiln_probe_schema, &probe));
    return kiln_array_push(r->box->context, &r->scene->probes, probe, r->error);
}

kiln_status kiln_scene_read_probes(scene_reader *r, void *field)
{
    (void)field;
    return kiln_scene_read_list(r, "probes", read_probe, NULL);
}

static kiln_status read_load(scene_reader *r, void *user)
{
    (void)user;
    int kind;
    kiln_scene_load fresh;
    KILN_TRY(kiln_scene_expect(r, SCENE_IS_LOAD, &kind));
    kiln_load_schemas[kind].start(&fresh);
    fresh.kind = (kiln_load_kind)kind;
    KILN_TRY(kiln_array_push(r->box->context, &r->scene->loads, fresh, r->error));
    kiln_scene_load *load = &r->scene->loads.data[r->scene->loads.count - 1];
    KILN_TRY(kiln_scene_read_object(r, &kiln_load_schemas[kind], load));
    return check_times(r, load->from, load->until);
}

kiln_status kiln_scene_read_loads(scene_reader *r, void *field)
{
    (void)field;
    return kiln_scene_read_list(r, "loads", read_load, NULL);
}

static kiln_status check_obstacle(scene_reader *r, scene_obstacle_draft *draft)
{
    kiln_scene *scene = r->scene;
    kiln_scene_obstacle *obstacle = &draft->obstacle;
    kiln_obstacle_shape *s = &obstacle->shape;
    bool by_axis = s->kind == KILN_OBSTACLE_CYLINDER || s->kind == KILN_OBSTACLE_CONE ||
                   s->kind == KILN_OBSTACLE_CAPSULE;
    kiln_vec3 d = kiln_v3_sub(s->end, s->point);
    if (!(kiln_v3_norm(s->normal) > 0.0))
        return kiln_scene_fail_key(r, "normal", "must have a length, got {0, 0, 0}");
    if (by_axis && !(kiln_v3_norm(d) > 0.0))
        return kiln_scene_fail(r, "from and to must be different points");
    if (s->kind == KILN_OBSTACLE_BOX && !(d.x > 0.0 && d.y > 0.0 && d.z > 0.0))
        return kiln_scene_fail(r, "to must be beyond from in every direction");
    if (s->kind == KILN_OBSTACLE_TORUS && !(s->tube < s->radius))
        return kiln_scene_fail_key(r, "tube", "must be smaller than the radius, %g, got %g",
                                   s->radius, s->tube);
    if (obstacle->motion.kind == KILN_MOTION_FOLLOW && obstacle->motion.obstacle >= 0)
        return kiln_scene_fail_key(r, "motion", "an obstacle cannot follow an obstacle");
    return kiln_scene_name_thing(r, "obstacle", obstacle->name,
                                 scene->obstacles.count ? scene->obstacles.data->name : NULL,
                                 scene->obstacles.count, sizeof *scene->obstacles.data);
}

static kiln_status finish_mesh(scene_reader *r, scene_obstacle_draft *draft)
{
    kiln_soup *surface = &draft->obstacle.shape.surface;
    if ((draft->file != NULL) == (surface->triangles.count > 0))
        return kiln_scene_fail(r, "must have either a path or a shape, got %s",
                               draft->file ? "both" : "none");
    if (draft->file) {
        KILN_TRY(kiln_scene_read_mesh(r, draft->file, surface));
        KILN_TRY(kiln_scene_keep_surface(r, surface));
        if (surface->triangles.count == 0)
            return kiln_scene_fail_key(
                r, "path", "the file has neither tets nor triangles, got \"%.60s\"", draft->file);
    }
    kiln_scene_place_points(&draft->place, surface);
    return KILN_OK;
}

static kiln_status read_obstacle(scene_reader *r, void *user)
{
    (void)user;
    int kind;
    scene_obstacle_draft *draft = &r->obstacle;
    kiln_obstacle_shape *shape = &draft->obstacle.shape;
    KILN_TRY(kiln_scene_expect(r, SCENE_IS_OBSTACLE, &kind));
    const kiln_schema *object = &kiln_obstacle_schemas[kind];
    object->start(draft);
    shape->kind = (kiln_obstacle_kind)kind;
    kiln_soup_init(&shape->surface, r->box->context);
    KILN_TRY(kiln_scene_read_object(r, object, draft));
    KILN_TRY(check_obstacle(r, draft));
    if (kind == KILN_OBSTACLE_MESH)
        KILN_TRY(finish_mesh(r, draft));
    KILN_TRY(kiln_array_push(r->box->context, &r->scene->obstacles, draft->obstacle, r->error));
    object->start(draft);
    return KILN_OK;
}

kiln_status kiln_scene_read_obstacles(scene_reader *r, void *field)
{
    (void)field;
    return kiln_scene_read_list(r, "obstacles", read_obstacle, NULL);
}
