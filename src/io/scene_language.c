#include "io/scene_language.h"

#include "base/nearest_name.h"
#include "io/fill.h"
#include "sim/scene.h"

#include <ctype.h>
#include <lua5.4/lauxlib.h>
#include <stdio.h>
#include <string.h>

static const char marks_key = 'm', operators_key = 'o';

const char *kiln_scene_family_name(scene_family family)
{
    static const char *const names[] = {
#define SCENE_FAMILY_TEXT(name, text) text,
        SCENE_FAMILY_TABLE(SCENE_FAMILY_TEXT)
#undef SCENE_FAMILY_TEXT
    };
    return names[family];
}

/* Words with underscores for the dashes of the tables. */
static const char *const select_words[KILN_SELECT_COUNT + 1] = {
    "all",     "box",    "sphere",   "half_space", "cylinder", "nearest", "surface", "interface",
    "feature", "corner", "required", "region",     "part",     "body",    "patch",   NULL};
static const char *const motion_words[] = {"still", "translate", "rotate", "follow", NULL};
static const char *const obstacle_words[] = {
#define OBSTACLE_WORD(name, text, meaning) text,
    KILN_OBSTACLE_TABLE(OBSTACLE_WORD) NULL
#undef OBSTACLE_WORD
};
static const char *const load_words[] = {"force", "traction", "pressure",    "body", "heat",
                                         "flux",  "film",     "temperature", NULL};

const char *kiln_scene_member_name(scene_family family, int kind)
{
    const kiln_shape *shape;
    switch (family) {
    case SCENE_IS_SHAPE:
        shape = kiln_generator_at((size_t)kind);
        if (shape)
            return shape->name;
        return kind == 0 || kiln_generator_at((size_t)kind - 1) ? "file" : NULL;
    case SCENE_IS_SELECTION:
        return select_words[kind];
    case SCENE_IS_MOTION:
        return motion_words[kind];
    case SCENE_IS_LOAD:
        return load_words[kind];
    case SCENE_IS_OBSTACLE:
        return obstacle_words[kind];
    default:
        return NULL;
    }
}

scene_mark kiln_scene_mark_of(lua_State *L, int index)
{
    scene_mark mark = {.family = SCENE_IS_PLAIN};
    if (lua_type(L, index) != LUA_TTABLE)
        return mark;
    lua_pushvalue(L, index);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &marks_key);
    lua_insert(L, -2);
    if (lua_rawget(L, -2) == LUA_TNUMBER) {
        lua_Integer packed = lua_tointeger(L, -1);
        mark = (scene_mark){(scene_family)(packed >> 48), (int)(packed >> 32 & 0xffff),
                            (int)(packed & 0x7fffffff)};
    }
    lua_pop(L, 2);
    return mark;
}

const kiln_schema *kiln_scene_worded(const scene_sandbox *box, int kind)
{
    static const kiln_schema *const own[] = {&kiln_plastic_schema, &kiln_remesh_schema,
                                             &kiln_contact_schema, &kiln_pair_schema,
                                             &kiln_liquid_schema,  &kiln_thermal_schema};
    const int count = sizeof own / sizeof own[0];
    return kind < count ? own[kind] : box->modules[kind - count];
}

int kiln_scene_word_of(const scene_sandbox *box, const kiln_schema *schema)
{
    const kiln_schema *at;
    for (int kind = 0; (at = kiln_scene_worded(box, kind)); kind++)
        if (at == schema)
            return kind;
    return -1;
}

const char *kiln_scene_mark_name(const scene_sandbox *box, scene_mark mark)
{
    if (mark.family == SCENE_IS_TABLE)
        return kiln_scene_worded(box, mark.kind)->name;
    return mark.family == SCENE_IS_SELECTION ? "selection" : kiln_scene_family_name(mark.family);
}

/* Marks the table at the top. */
static void set_mark(lua_State *L, lua_Integer packed)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &marks_key);
    lua_pushvalue(L, -2);
    lua_pushinteger(L, packed);
    lua_rawset(L, -3);
    lua_pop(L, 1);
    if ((scene_family)(packed >> 48) == SCENE_IS_SELECTION) {
        lua_rawgetp(L, LUA_REGISTRYINDEX, &operators_key);
        lua_setmetatable(L, -2);
    }
}

static lua_Integer pack(lua_State *L, scene_family family, int kind)
{
    return (lua_Integer)family << 48 | (lua_Integer)kind << 32 | kiln_scene_sandbox_caller_line(L);
}

/* Upvalues: family, kind, word. */
static int construct(lua_State *L)
{
    const char *word = lua_tostring(L, lua_upvalueindex(3));
    char found[64];
    if (lua_gettop(L) > 1)
        return luaL_error(L, "%s takes one table: %s { ... }", word, word);
    if (lua_isnoneornil(L, 1)) {
        lua_settop(L, 0);
        lua_newtable(L);
    } else if (lua_type(L, 1) != LUA_TTABLE) {
        return luaL_error(L, "%s takes a table: %s { ... }, got %s", word, word,
                          kiln_scene_describe(L, 1, found, sizeof found));
    }
    scene_mark mark = kiln_scene_mark_of(L, 1);
    if (mark.family != SCENE_IS_PLAIN)
        return luaL_error(L, "%s takes a table: %s { ... }, got a %s", word, word,
                          kiln_scene_mark_name(kiln_scene_sandbox_of(L), mark));
    set_mark(L, pack(L, (scene_family)lua_tointeger(L, lua_upvalueindex(1)),
                     (int)lua_tointeger(L, lua_upvalueindex(2))));
    return 1;
}

/* Upvalues: kind, whether there is one operand only. */
static int combine(lua_State *L)
{
    int kind = (int)lua_tointeger(L, lua_upvalueindex(1));
    int operands = kind == SCENE_PICK_NOT ? 1 : 2;
    for (int i = 1; i <= operands; i++)
        if (kiln_scene_mark_of(L, i).family != SCENE_IS_SELECTION) {
            char found[64];
            return luaL_error(L, "a selection can only be combined with another, got %s",
                              kiln_scene_describe(L, i, found, sizeof found));
        }
    lua_createtable(L, operands, 0);
    for (int i = 1; i <= operands; i++) {
        lua_pushvalue(L, i);
        lua_rawseti(L, -2, i);
    }
    set_mark(L, pack(L, SCENE_IS_SELECTION, kind));
    return 1;
}

static void make_operators(lua_State *L)
{
    static const struct {
        const char *event;
        int kind;
    } rows[] = {{"__band", SCENE_PICK_AND}, {"__mul", SCENE_PICK_AND},   {"__bor", SCENE_PICK_OR},
                {"__add", SCENE_PICK_OR},   {"__sub", SCENE_PICK_MINUS}, {"__bnot", SCENE_PICK_NOT},
                {"__unm", SCENE_PICK_NOT}};
    lua_newtable(L);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lua_pushinteger(L, rows[i].kind);
        lua_pushcclosure(L, combine, 1);
        lua_setfield(L, -2, rows[i].event);
    }
    lua_rawsetp(L, LUA_REGISTRYINDEX, &operators_key);
}

static void make_marks(lua_State *L)
{
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &marks_key);
}

static void push_constructor(lua_State *L, scene_family family, int kind, const char *word)
{
    lua_pushinteger(L, family);
    lua_pushinteger(L, kind);
    lua_pushstring(L, word);
    lua_pushcclosure(L, construct, 3);
}

/* A misspelt member, `shape.bx`, is answered with the nearest. Upvalue 1: the family. */
static int refuse_member(lua_State *L)
{
    scene_family family = (scene_family)lua_tointeger(L, lua_upvalueindex(1));
    const char *names[64], *word = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
    size_t count = 0;
    while (count < 64 && (names[count] = kiln_scene_member_name(family, (int)count)))
        count++;
    const char *nearest = kiln_nearest_name(word, names, count, sizeof names[0]);
    if (nearest)
        return luaL_error(L, "unknown %s.%s; did you mean %s.%s?", kiln_scene_family_name(family),
                          word, kiln_scene_family_name(family), nearest);
    luaL_Buffer list;
    luaL_buffinit(L, &list);
    for (size_t i = 0; i < count; i++) {
        luaL_addstring(&list, i ? ", " : "");
        luaL_addstring(&list, names[i]);
    }
    luaL_pushresult(&list);
    return luaL_error(L, "unknown %s.%s; there are %s", kiln_scene_family_name(family), word,
                      lua_tostring(L, -1));
}

/* Lua's own select(n, ...), which shares its name with the selections. Upvalue: that. */
static int call_select(lua_State *L)
{
    lua_Integer count = lua_gettop(L) - 2; /* behind the table and n */
    if (lua_type(L, 2) == LUA_TSTRING && *lua_tostring(L, 2) == '#') {
        lua_pushinteger(L, count);
        return 1;
    }
    lua_Integer n = luaL_checkinteger(L, 2);
    n = n < 0 ? count + n + 1 : n;
    luaL_argcheck(L, n >= 1, 1, "index out of range");
    return n > count ? 0 : (int)(count - n + 1);
}

static void make_members(lua_State *L, scene_family family)
{
    const char *name = kiln_scene_family_name(family), *member;
    lua_newtable(L);
    for (int kind = 0; (member = kiln_scene_member_name(family, kind)); kind++) {
        const char *word = lua_pushfstring(L, "%s.%s", name, member);
        push_constructor(L, family, kind, word);
        lua_setfield(L, -3, member);
        lua_pop(L, 1);
    }
    lua_newtable(L);
    lua_pushinteger(L, family);
    lua_pushcclosure(L, refuse_member, 1);
    lua_setfield(L, -2, "__index");
    if (family == SCENE_IS_SELECTION) {
        lua_pushcfunction(L, call_select);
        lua_setfield(L, -2, "__call");
    }
    lua_setmetatable(L, -2);
    lua_setglobal(L, name);
}

void kiln_scene_push_setting(lua_State *L, const char *name, const char *value)
{
    size_t size = strlen(value), word = 0;
    while (word < size && (isalnum((unsigned char)value[word]) || value[word] == '_' ||
                           (value[word] == '-' && word > 0)))
        word++;
    bool is_literal = strcmp(value, "true") == 0 || strcmp(value, "false") == 0;
    if (word == size && isalpha((unsigned char)value[0]) && !is_literal) {
        lua_pushlstring(L, value, size);
        return;
    }
    const char *text = lua_pushfstring(L, "return %s", value);
    const char *place = lua_pushfstring(L, "=--set %s", name);
    if (luaL_loadbufferx(L, text, strlen(text), place, "t") != LUA_OK)
        lua_error(L);
    lua_remove(L, -2);
    lua_remove(L, -2);
    lua_call(L, 0, 1);
}

/* With its preset, unless that has blanks. */
static void remember_param(lua_State *L, scene_params *params, const char *name)
{
    size_t used = strlen(params->known), size = strlen(name);
    for (const char *at = params->known; *at; at += strcspn(at, " ") + 1)
        if (strcspn(at, "= ") == size && memcmp(at, name, size) == 0)
            return;
    size_t preset_size;
    const char *preset = luaL_tolstring(L, 2, &preset_size);
    bool plain = preset_size < 40 && strlen(preset) == preset_size && !strpbrk(preset, " \t\r\n");
    if (used + size + (plain ? preset_size + 1 : 0) + 2 < sizeof params->known)
        snprintf(params->known + used, sizeof params->known - used, "%s%s%s ", name,
                 plain ? "=" : "", plain ? preset : "");
    lua_pop(L, 1);
}

/* Upvalue 1: scene_params. */
static int get_param(lua_State *L)
{
    scene_params *params = lua_touserdata(L, lua_upvalueindex(1));
    size_t size;
    const char *name = luaL_checklstring(L, 1, &size);
    if (lua_gettop(L) != 2 || lua_isnil(L, 2))
        return luaL_error(L, "param takes a name and a preset: param(\"%s\", 1)", name);
    if (size == 0 || strlen(name) != size || strpbrk(name, " .[="))
        return luaL_error(L,
                          "param: a name without blanks, dots, brackets and equal signs, got "
                          "\"%s\"",
                          name);
    if (!kiln_scene_sandbox_of(L)->is_reading)
        return luaL_error(L, "param works only while the scene is read");
    remember_param(L, params, name);
    for (size_t i = 0; i < params->count; i++) {
        scene_param *param = &params->data[i];
        if (param->name_size != size || memcmp(param->name, name, size) != 0)
            continue;
        param->was_asked = true;
        kiln_scene_push_setting(L, name, param->value);
        if (lua_type(L, -1) != lua_type(L, 2))
            return luaL_error(L, "--set %s: must be a %s like its preset, got a %s", name,
                              luaL_typename(L, 2), luaL_typename(L, -1));
        return 1;
    }
    return 1;
}

int kiln_scene_language_open(lua_State *L)
{
    static const scene_family single[] = {SCENE_IS_SCENE,  SCENE_IS_MATERIAL, SCENE_IS_BODY,
                                          SCENE_IS_REGION, SCENE_IS_PATCH,    SCENE_IS_HOLD,
                                          SCENE_IS_PROBE};
    static const scene_family many[] = {SCENE_IS_SHAPE, SCENE_IS_SELECTION, SCENE_IS_MOTION,
                                        SCENE_IS_LOAD, SCENE_IS_OBSTACLE};
    make_marks(L);
    make_operators(L);
    for (size_t i = 0; i < sizeof single / sizeof single[0]; i++) {
        const char *name = kiln_scene_family_name(single[i]);
        push_constructor(L, single[i], 0, name);
        lua_setglobal(L, name);
    }
    const kiln_schema *schema;
    for (int i = 0; (schema = kiln_scene_worded(kiln_scene_sandbox_of(L), i)); i++) {
        push_constructor(L, SCENE_IS_TABLE, i, schema->name);
        lua_setglobal(L, schema->name);
    }
    for (size_t i = 0; i < sizeof many / sizeof many[0]; i++)
        make_members(L, many[i]);
    lua_pushvalue(L, 1);
    lua_pushcclosure(L, get_param, 1);
    lua_setglobal(L, "param");
    return 0;
}
