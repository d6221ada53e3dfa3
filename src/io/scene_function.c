/* Functions of a scene, called while it runs. */
#include "io/scene_reader.h"

#include <lua5.4/lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const uint64_t call_instructions = 100000000;

static void push_place(lua_State *L, kiln_vec3 p)
{
    double v[3] = {p.x, p.y, p.z};
    static const char *const names[] = {"x", "y", "z"};
    lua_createtable(L, 3, 3);
    for (int k = 0; k < 3; k++) {
        lua_pushnumber(L, v[k]);
        lua_rawseti(L, -2, k + 1);
        lua_pushnumber(L, v[k]);
        lua_setfield(L, -2, names[k]);
    }
}

static void push_circumstances(lua_State *L, const kiln_circumstances *at)
{
    lua_createtable(L, 0, 6);
    lua_pushnumber(L, at->time);
    lua_setfield(L, -2, "t");
    push_place(L, at->material);
    lua_setfield(L, -2, "u");
    push_place(L, at->world);
    lua_setfield(L, -2, "x");
    lua_pushnumber(L, at->stress);
    lua_setfield(L, -2, "stress");
    lua_pushnumber(L, at->strain_rate);
    lua_setfield(L, -2, "strain_rate");
    lua_pushnumber(L, at->temperature);
    lua_setfield(L, -2, "temperature");
}

/* Returns how many. */
static int push_arguments(lua_State *L, kiln_signature signature, const kiln_circumstances *at)
{
    switch (signature) {
    case KILN_OF_TIME:
        lua_pushnumber(L, at->time);
        return 1;
    case KILN_OF_TIME_AND_PLACE:
        lua_pushnumber(L, at->time);
        push_place(L, at->material);
        return 2;
    case KILN_OF_TIME_AND_WORLD:
        lua_pushnumber(L, at->time);
        push_place(L, at->world);
        return 2;
    case KILN_OF_PLACE:
        push_place(L, at->material);
        return 1;
    default:
        push_circumstances(L, at);
        return 1;
    }
}

typedef struct evaluation {
    const scene_function *function;
    const kiln_circumstances *at;
    double *out;
    int components;
    int bad;         /* result that is wrong, from 1; 0: none */
    char found[128]; /* what it is */
} evaluation;

/* Results are 1 number, or 3, or one table of 3. True when they are numbers of the right count. */
static bool take_results(lua_State *L, evaluation *e, int first)
{
    int count = lua_gettop(L) - first + 1;
    if (e->components == 3 && count == 1 && lua_type(L, first) == LUA_TTABLE) {
        size_t length = lua_rawlen(L, first);
        if (length != 3) {
            snprintf(e->found, sizeof e->found, "a table of %zu", length);
            return false;
        }
        for (int k = 1; k <= 3; k++)
            lua_rawgeti(L, first, k);
        first++;
        count = 3;
    }
    if (count != e->components) {
        if (count == 1)
            kiln_scene_describe(L, first, e->found, sizeof e->found);
        else
            snprintf(e->found, sizeof e->found, count ? "%d values" : "nothing", count);
        return false;
    }
    for (int k = 0; k < count; k++) {
        double value = lua_tonumber(L, first + k);
        if (lua_type(L, first + k) != LUA_TNUMBER || !isfinite(value)) {
            kiln_scene_describe(L, first + k, e->found, sizeof e->found);
            return false;
        }
        e->out[k] = value;
    }
    return true;
}

static int evaluate(lua_State *L)
{
    evaluation *e = lua_touserdata(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, e->function->reference);
    int arguments = push_arguments(L, e->function->row->signature, e->at);
    lua_call(L, arguments, LUA_MULTRET);
    luaL_checkstack(L, 8, "results");
    e->bad = !take_results(L, e, 2);
    return 0;
}

kiln_status kiln_scene_function_evaluate(void *self, const kiln_circumstances *at, double *out,
                                         int components, kiln_error *error)
{
    const scene_function *function = self;
    scene_sandbox *box = function->box;
    const kiln_bounds *bounds = &function->row->bounds;
    double result[3] = {0};
    evaluation e = {.function = function, .at = at, .out = result, .components = components};
    lua_pushcfunction(box->L, evaluate);
    lua_pushlightuserdata(box->L, &e);
    KILN_TRY(kiln_scene_sandbox_call(box, 1, 0, call_instructions, function->path, error));
    if (e.bad)
        return kiln_fail(error, KILN_ERR_INPUT, box->file, function->line, -1,
                         "%s: the function must return %s, got %s", function->path,
                         components == 1 ? "a finite number" : "three finite numbers", e.found);
    for (int k = 0; k < components; k++) {
        if (kiln_bounds_vanishes(bounds, result[k])) /* what fades away may do so */
            result[k] = 0.0;
        if (!kiln_bounds_hold(bounds, result[k])) {
            char rule[64];
            return kiln_fail(error, KILN_ERR_INPUT, box->file, function->line, -1,
                             "%s: the function must return what is %s, got %.10g", function->path,
                             kiln_bounds_broken(bounds, result[k], rule, sizeof rule), result[k]);
        }
    }
    memcpy(out, result, (size_t)components * sizeof *out);
    return KILN_OK;
}

kiln_status kiln_scene_make_function(scene_reader *r, const kiln_schema_row *row,
                                     kiln_quantity *out)
{
    kiln_context *context = r->box->context;
    lua_State *L = r->L;
    lua_Debug about;
    lua_pushvalue(L, -1);
    lua_getinfo(L, ">S", &about);
    int line = kiln_scene_sandbox_line(r->box, about.linedefined);
    scene_function made = {.box = r->box, .line = line > 0 ? line : r->line, .row = row};
    snprintf(made.path, sizeof made.path, "%.95s", r->path);
    KILN_TRY(kiln_array_reserve(context, r->functions, r->functions->count + 1, r->error));
    lua_pushvalue(L, -1);
    made.reference = luaL_ref(L, LUA_REGISTRYINDEX);
    scene_function *function = kiln_resize(context, NULL, 0, sizeof *function);
    if (!function)
        return kiln_fail_memory(r->error, sizeof *function);
    *function = made;
    r->functions->data[r->functions->count++] = function;
    *out = (kiln_quantity){.self = function, .evaluate = kiln_scene_function_evaluate};
    return KILN_OK;
}
