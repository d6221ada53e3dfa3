#include "io/scene_library.h"

#include "base/nearest_name.h"
#include "io/scene_sandbox.h"

#include <lua5.4/lauxlib.h>
#include <lua5.4/lualib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is taken over from Lua as it is. Not there, and why: string.find, match, gmatch and gsub
 * (patterns can take for ever in one call), table.move (counts over ranges that are empty), pcall
 * and coroutines (swallow errors), next and collectgarbage (differ from run to run). */
static const char *const base_names[] = {"assert", "error", "ipairs", "tonumber", "type", NULL};
static const char *const math_names[] = {
    "abs",  "acos", "asin", "atan",      "ceil", "cos",        "deg",        "exp",  "floor",
    "fmod", "log",  "max",  "min",       "modf", "rad",        "sin",        "sqrt", "tan",
    "type", "ult",  "pi",   "tointeger", "huge", "maxinteger", "mininteger", NULL};
static const char *const string_names[] = {"byte",    "char", "len",   "lower",
                                           "reverse", "sub",  "upper", NULL};
static const char *const table_names[] = {"insert", "pack", "remove", "unpack", NULL};

static const char *const forbidden_names[] = {
    "collectgarbage", "coroutine",  "debug",  "dofile", "getmetatable", "io",
    "loadfile",       "loadstring", "next",   "os",     "package",      "pcall",
    "rawequal",       "rawget",     "rawlen", "rawset", "require",      "setmetatable",
    "utf8",           "warn",       "xpcall", NULL};

/* Functions of C are charged for their work, as instructions. */
static void charge(lua_State *L, uint64_t instructions)
{
    scene_sandbox *box = kiln_scene_sandbox_of(L);
    box->spent += instructions;
    if (box->spent > box->budget)
        luaL_error(L, "does not end: too much work in one call");
}

static int library_rep(lua_State *L)
{
    size_t size, gap;
    const char *text = luaL_checklstring(L, 1, &size);
    lua_Integer times = luaL_checkinteger(L, 2);
    const char *between = luaL_optlstring(L, 3, "", &gap);
    times = times < 0 ? 0 : times;
    if (times > SCENE_STRING_LIMIT || (uint64_t)times * (size + gap) > SCENE_STRING_LIMIT)
        return luaL_error(L, "string.rep: a text of more than 1 MiB");
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    for (lua_Integer i = 0; i < times; i++) {
        luaL_addlstring(&buffer, text, size);
        if (i + 1 < times)
            luaL_addlstring(&buffer, between, gap);
    }
    luaL_pushresult(&buffer);
    charge(L, (uint64_t)times / 16);
    return 1;
}

/* Addresses would differ from run to run. */
static void check_printable(lua_State *L, int index)
{
    int type = lua_type(L, index);
    if (type != LUA_TNUMBER && type != LUA_TSTRING && type != LUA_TBOOLEAN && type != LUA_TNIL)
        luaL_error(L, "a %s has no text", lua_typename(L, type));
}

/* string.format, from upvalue 1. */
static int library_format(lua_State *L)
{
    for (int i = 2; i <= lua_gettop(L); i++)
        check_printable(L, i);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

static int library_tostring(lua_State *L)
{
    luaL_checkany(L, 1);
    check_printable(L, 1);
    luaL_tolstring(L, 1, NULL);
    return 1;
}

static int library_print(lua_State *L)
{
    luaL_Buffer buffer;
    int count = lua_gettop(L);
    luaL_buffinit(L, &buffer);
    for (int i = 1; i <= count; i++) {
        char text[64];
        if (lua_type(L, i) == LUA_TSTRING)
            lua_pushvalue(L, i);
        else
            lua_pushstring(L, kiln_scene_describe(L, i, text, sizeof text));
        luaL_addvalue(&buffer);
        if (i < count)
            luaL_addchar(&buffer, ' ');
    }
    luaL_pushresult(&buffer);
    const scene_sandbox *box = kiln_scene_sandbox_of(L);
    kiln_log(box->context, KILN_LOG_INFO, "%s:%d: %.400s", box->file,
             kiln_scene_sandbox_caller_line(L), lua_tostring(L, -1));
    return 0;
}

static int library_concat(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    charge(L, lua_rawlen(L, 1));
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

static int library_sort(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    charge(L, 32 * (uint64_t)lua_rawlen(L, 1));
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 0);
    return 0;
}

static int library_random(lua_State *L)
{
    scene_sandbox *box = kiln_scene_sandbox_of(L);
    if (!box->is_reading)
        return luaL_error(L, "math.random works only while the scene is read: a resumed run could "
                             "not repeat it");
    if (lua_gettop(L) == 0) {
        lua_pushnumber(L, kiln_random_unit(&box->random));
        return 1;
    }
    lua_Integer low = lua_gettop(L) == 1 ? 1 : luaL_checkinteger(L, 1);
    lua_Integer high = luaL_checkinteger(L, lua_gettop(L) == 1 ? 1 : 2);
    luaL_argcheck(L, low <= high, 1, "interval is empty");
    uint64_t count = (uint64_t)high - (uint64_t)low + 1;
    uint64_t drawn = kiln_random_u64(&box->random);
    lua_pushinteger(L, (lua_Integer)((uint64_t)low + (count ? drawn % count : drawn)));
    return 1;
}

typedef struct sort_key {
    bool is_text, is_whole;
    lua_Integer whole;
    double number;
    const char *text;
    size_t size;
} sort_key;

static int compare_keys(const void *one, const void *other)
{
    const sort_key *a = one, *b = other;
    if (a->is_text != b->is_text)
        return a->is_text ? 1 : -1;
    if (a->is_text) {
        int order = memcmp(a->text, b->text, a->size < b->size ? a->size : b->size);
        return order ? order : (a->size > b->size) - (a->size < b->size);
    }
    if (a->is_whole && b->is_whole)
        return (a->whole > b->whole) - (a->whole < b->whole);
    return (a->number > b->number) - (a->number < b->number);
}

/* Upvalues: the table, its sorted keys, how many were given. */
static int next_pair(lua_State *L)
{
    lua_Integer at = lua_tointeger(L, lua_upvalueindex(3));
    for (;;) {
        lua_settop(L, 0);
        lua_pushinteger(L, ++at);
        lua_replace(L, lua_upvalueindex(3));
        if (lua_rawgeti(L, lua_upvalueindex(2), at) == LUA_TNIL)
            return 1;
        lua_pushvalue(L, 1);
        if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
            return 2;
    }
}

static size_t count_keys(lua_State *L, int table)
{
    size_t count = 0;
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1))
        count++;
    return count;
}

static void list_keys(lua_State *L, int table, sort_key *keys)
{
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1), keys++) {
        *keys = (sort_key){0};
        if (lua_type(L, -2) == LUA_TSTRING) {
            keys->is_text = true;
            keys->text = lua_tolstring(L, -2, &keys->size);
        } else if (lua_type(L, -2) == LUA_TNUMBER) {
            keys->is_whole = lua_isinteger(L, -2);
            keys->whole = lua_tointeger(L, -2);
            keys->number = lua_tonumber(L, -2);
        } else {
            luaL_error(L, "pairs: keys must be numbers or texts, got a %s", luaL_typename(L, -2));
        }
    }
}

static int library_pairs(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    size_t count = count_keys(L, 1);
    charge(L, 32 * (uint64_t)count);
    sort_key *keys = lua_newuserdatauv(L, (count + 1) * sizeof *keys, 0);
    list_keys(L, 1, keys);
    qsort(keys, count, sizeof *keys, compare_keys);
    lua_pushvalue(L, 1);
    lua_createtable(L, (int)(count < 1000000 ? count : 1000000), 0);
    for (size_t i = 0; i < count; i++) {
        if (keys[i].is_text)
            lua_pushlstring(L, keys[i].text, keys[i].size);
        else if (keys[i].is_whole)
            lua_pushinteger(L, keys[i].whole);
        else
            lua_pushnumber(L, keys[i].number);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, next_pair, 3);
    return 1;
}

/* A global that is not there. Upvalue 1: the globals. */
static int refuse_name(lua_State *L)
{
    if (lua_type(L, 2) != LUA_TSTRING)
        return luaL_error(L, "unknown name");
    const char *name = lua_tostring(L, 2);
    for (int i = 0; forbidden_names[i]; i++)
        if (strcmp(name, forbidden_names[i]) == 0)
            return luaL_error(L,
                              "'%s' is not there: scenes reach no files, programs or modules, "
                              "and catch no errors",
                              name);
    const char *names[256];
    size_t count = 0;
    for (lua_pushnil(L); lua_next(L, lua_upvalueindex(1)); lua_pop(L, 1))
        if (lua_type(L, -2) == LUA_TSTRING && count < 256)
            names[count++] = lua_tostring(L, -2);
    /* The order of the globals is not the same in every run; ties must not depend on it. */
    const char *best = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *pair[2] = {best, names[i]};
        if (best && strcmp(names[i], best) < 0) {
            pair[0] = names[i];
            pair[1] = best;
        }
        best = best ? kiln_nearest_name(name, pair, 2, sizeof pair[0])
                    : kiln_nearest_name(name, &names[i], 1, sizeof names[0]);
    }
    if (best)
        return luaL_error(L, "unknown name '%s'; did you mean '%s'?", name, best);
    return luaL_error(L, "unknown name '%s'", name);
}

/* Copies the named fields of the table at the top to `target`. */
static void take_over(lua_State *L, const char *const *names, int target)
{
    target = lua_absindex(L, target);
    for (; *names; names++) {
        lua_getfield(L, -1, *names);
        lua_setfield(L, target, *names);
    }
}

static void open_part(lua_State *L, const char *name, lua_CFunction open, const char *const *names,
                      int globals)
{
    luaL_requiref(L, name, open, 0);
    lua_newtable(L);
    lua_insert(L, -2);
    take_over(L, names, -2);
    lua_insert(L, -2);
    lua_pushvalue(L, -1);
    lua_setfield(L, globals, name);
}

static void wrap(lua_State *L, const char *name, lua_CFunction wrapper)
{
    lua_getfield(L, -2, name);
    lua_pushcclosure(L, wrapper, 1);
    lua_setfield(L, -2, name);
}

static void open_parts(lua_State *L, int globals)
{
    open_part(L, LUA_MATHLIBNAME, luaopen_math, math_names, globals);
    lua_pushcfunction(L, library_random);
    lua_setfield(L, -2, "random");
    lua_pop(L, 2);

    open_part(L, LUA_TABLIBNAME, luaopen_table, table_names, globals);
    wrap(L, "concat", library_concat);
    wrap(L, "sort", library_sort);
    lua_pop(L, 2);

    open_part(L, LUA_STRLIBNAME, luaopen_string, string_names, globals);
    wrap(L, "format", library_format);
    lua_pushcfunction(L, library_rep);
    lua_setfield(L, -2, "rep");
    /* Methods of texts are looked up in the metatable that luaopen_string made. */
    lua_pushliteral(L, "");
    lua_getmetatable(L, -1);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 4);
}

int kiln_scene_library_open(lua_State *L)
{
    static const luaL_Reg own[] = {{"pairs", library_pairs},
                                   {"print", library_print},
                                   {"tostring", library_tostring},
                                   {NULL, NULL}};
    lua_newtable(L);
    int globals = lua_gettop(L);
    luaL_requiref(L, LUA_GNAME, luaopen_base, 0);
    take_over(L, base_names, globals);
    lua_pop(L, 1);
    open_parts(L, globals);
    luaL_setfuncs(L, own, 0);
    lua_pushvalue(L, globals);
    lua_setfield(L, globals, LUA_GNAME);

    lua_createtable(L, 0, 1);
    lua_pushvalue(L, globals);
    lua_pushcclosure(L, refuse_name, 1);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, globals);
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    lua_pushnil(L);
    lua_setfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    return 0;
}
