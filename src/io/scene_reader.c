#include "io/scene_reader.h"

#include "base/assert.h"
#include "base/nearest_name.h"

#include <lua5.4/lauxlib.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Whether the key was set on the command line, or is inside something that was. */
static bool was_set(const scene_reader *r)
{
    for (size_t i = 0; i < r->set_count; i++) {
        size_t size = strcspn(r->sets[i], "=");
        if (size > 0 && size <= r->path_size && strncmp(r->sets[i], r->path, size) == 0 &&
            (size == r->path_size || r->path[size] == '.' || r->path[size] == '['))
            return true;
    }
    return false;
}

kiln_status kiln_scene_fail(const scene_reader *r, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return kiln_fail(r->error, KILN_ERR_INPUT, r->box->file, r->line, -1, "%s%s%s%s", r->path,
                     r->path_size ? ": " : "", text, was_set(r) ? " (by --set)" : "");
}

kiln_status kiln_scene_fail_value(const scene_reader *r, const char *rule)
{
    char found[64];
    scene_mark mark = kiln_scene_mark_of(r->L, -1);
    if (mark.family != SCENE_IS_PLAIN)
        return kiln_scene_fail(r, "must be %s, got a %s", rule, kiln_scene_mark_name(r->box, mark));
    return kiln_scene_fail(r, "must be %s, got %s", rule,
                           kiln_scene_describe(r->L, -1, found, sizeof found));
}

kiln_status kiln_scene_fail_key(scene_reader *r, const char *key, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    scene_spot spot = kiln_scene_enter_key(r, key);
    kiln_status status = kiln_scene_fail(r, "%s", text);
    kiln_scene_leave(r, spot);
    return status;
}

kiln_status kiln_scene_wrap(const scene_reader *r, kiln_status status, const kiln_error *inner)
{
    if (status == KILN_OK)
        return KILN_OK;
    char text[800];
    if (status == KILN_ERR_MEMORY)
        return kiln_fail(r->error, status, r->box->file, r->line, -1, "%s: %s", r->path,
                         inner->message);
    kiln_error_format(inner, text, sizeof text);
    return kiln_fail(r->error, status, r->box->file, r->line, -1, "%s: %.380s", r->path,
                     inner->place[0] ? text : inner->message);
}

static void append(scene_reader *r, const char *text)
{
    int written = snprintf(r->path + r->path_size, sizeof r->path - r->path_size, "%s", text);
    r->path_size += (size_t)written;
    if (r->path_size > sizeof r->path - 1)
        r->path_size = sizeof r->path - 1;
}

scene_spot kiln_scene_enter_key(scene_reader *r, const char *key)
{
    scene_spot spot = {r->path_size, r->line};
    if (r->path_size > 0)
        append(r, ".");
    append(r, key);
    return spot;
}

scene_spot kiln_scene_enter_item(scene_reader *r, size_t item)
{
    scene_spot spot = {r->path_size, r->line};
    char text[32];
    snprintf(text, sizeof text, "[%zu]", item);
    append(r, text);
    return spot;
}

void kiln_scene_leave(scene_reader *r, scene_spot spot)
{
    r->path_size = spot.path_size;
    r->path[spot.path_size] = 0;
    r->line = spot.line;
}

kiln_said kiln_scene_said(const scene_reader *r)
{
    kiln_said said = {.line = r->line};
    snprintf(said.path, sizeof said.path, "%.95s", r->path);
    return said;
}

static bool has_members(scene_family family)
{
    return kiln_scene_member_name(family, 0) != NULL;
}

kiln_status kiln_scene_expect(scene_reader *r, scene_family family, int *kind)
{
    const char *name = kiln_scene_family_name(family);
    char rule[96];
    if (family == SCENE_IS_SELECTION)
        snprintf(rule, sizeof rule, "a selection such as select.box { ... }");
    else if (has_members(family))
        snprintf(rule, sizeof rule, "made by %s.%s { ... } or another %s", name,
                 kiln_scene_member_name(family, 0), name);
    else
        snprintf(rule, sizeof rule, "a table %s { ... }", name);
    scene_mark mark = kiln_scene_mark_of(r->L, -1);
    if (lua_type(r->L, -1) != LUA_TTABLE ||
        (mark.family != family && (mark.family != SCENE_IS_PLAIN || has_members(family))))
        return kiln_scene_fail_value(r, rule);
    *kind = mark.kind;
    if (mark.line > 0)
        r->line = mark.line;
    return KILN_OK;
}

static bool is_name(const char *key, const void *names, size_t count, size_t stride)
{
    for (size_t i = 0; i < count; i++) {
        const char *name;
        memcpy(&name, (const char *)names + i * stride, sizeof name);
        if (strcmp(key, name) == 0)
            return true;
    }
    return false;
}

/* Of several unknown keys the first in the alphabet is named: Lua's own order differs from run to
 * run. */
kiln_status kiln_scene_check_keys(scene_reader *r, const char *object, const void *names,
                                  size_t count, size_t stride)
{
    lua_State *L = r->L;
    const char *unknown = NULL;
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) {
            char found[64];
            kiln_scene_describe(L, -2, found, sizeof found);
            lua_pop(L, 2);
            return kiln_scene_fail(r, "has an item [%s]; %s takes key = value only", found, object);
        }
        const char *key = lua_tostring(L, -2);
        if (!is_name(key, names, count, stride) && (!unknown || strcmp(key, unknown) < 0))
            unknown = key;
    }
    if (!unknown)
        return KILN_OK;
    char key[64];
    snprintf(key, sizeof key, "%.60s", unknown);
    for (char *c = key; *c; c++)
        if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 127)
            *c = '?';
    const char *nearest = kiln_nearest_name(key, names, count, stride);
    if (nearest)
        return kiln_scene_fail_key(r, key, "unknown key; did you mean '%s'?", nearest);
    char list[300] = "";
    for (size_t i = 0; i < count; i++) {
        const char *name;
        memcpy(&name, (const char *)names + i * stride, sizeof name);
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", name);
    }
    return kiln_scene_fail_key(r, key, "unknown key; %s has %s", object, count ? list : "no keys");
}

bool kiln_scene_is_given(const scene_reader *r, const char *key)
{
    lua_pushstring(r->L, key);
    bool given = lua_rawget(r->L, -2) != LUA_TNIL;
    lua_pop(r->L, 1);
    return given;
}

kiln_status kiln_scene_check_list(scene_reader *r, const char *of, size_t *count)
{
    lua_State *L = r->L;
    char rule[96];
    snprintf(rule, sizeof rule, "a list of %s", of);
    scene_mark mark = kiln_scene_mark_of(L, -1);
    if (lua_type(L, -1) == LUA_TTABLE && mark.family != SCENE_IS_PLAIN)
        return kiln_scene_fail(r, "must be %s, got one %s; a list of one is { %s { ... } }", rule,
                               kiln_scene_mark_name(r->box, mark),
                               kiln_scene_mark_name(r->box, mark));
    if (lua_type(L, -1) != LUA_TTABLE)
        return kiln_scene_fail_value(r, rule);
    *count = lua_rawlen(L, -1);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        lua_Integer at = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : 0;
        if (at >= 1 && (size_t)at <= *count)
            continue;
        char found[64];
        kiln_scene_describe(L, -2, found, sizeof found);
        lua_pop(L, 2);
        return kiln_scene_fail(r, "must be a list of %s, but has a key %s", of, found);
    }
    return KILN_OK;
}

kiln_status kiln_scene_read_list(scene_reader *r, const char *of,
                                 kiln_status (*read_item)(scene_reader *, void *), void *user)
{
    size_t count;
    KILN_TRY(kiln_scene_check_list(r, of, &count));
    for (size_t i = 1; i <= count; i++) {
        scene_spot spot = kiln_scene_enter_item(r, i);
        lua_rawgeti(r->L, -1, (lua_Integer)i);
        KILN_TRY(read_item(r, user));
        lua_pop(r->L, 1);
        kiln_scene_leave(r, spot);
    }
    return KILN_OK;
}

static kiln_status check_number(const scene_reader *r, const kiln_bounds *bounds, double value)
{
    char rule[64], text[80];
    if (!isfinite(value))
        return kiln_scene_fail_value(r, "a finite number");
    if (kiln_bounds_hold(bounds, value))
        return KILN_OK;
    snprintf(text, sizeof text, "%s", kiln_bounds_broken(bounds, value, rule, sizeof rule));
    return kiln_scene_fail_value(r, text);
}

kiln_status kiln_scene_read_number(scene_reader *r, const kiln_bounds *bounds, double *out)
{
    if (lua_type(r->L, -1) != LUA_TNUMBER)
        return kiln_scene_fail_value(r, "a number");
    *out = lua_tonumber(r->L, -1);
    return check_number(r, bounds, *out);
}

static kiln_status read_whole(scene_reader *r, const kiln_bounds *bounds, int64_t *out)
{
    double value = 0.0;
    KILN_TRY(kiln_scene_read_number(r, bounds, &value));
    if (value != floor(value) || fabs(value) > 9e15)
        return kiln_scene_fail_value(r, "a whole number");
    *out = (int64_t)value;
    return KILN_OK;
}

static kiln_status read_vector(scene_reader *r, const kiln_bounds *bounds, double out[3])
{
    static const char *const rule = "three numbers {x, y, z}";
    size_t count;
    if (lua_type(r->L, -1) != LUA_TTABLE || kiln_scene_mark_of(r->L, -1).family != SCENE_IS_PLAIN)
        return kiln_scene_fail_value(r, rule);
    KILN_TRY(kiln_scene_check_list(r, rule, &count));
    if (count != 3)
        return kiln_scene_fail(r, "must be %s, got %zu", rule, count);
    for (int i = 0; i < 3; i++) {
        scene_spot spot = kiln_scene_enter_item(r, (size_t)i + 1);
        lua_rawgeti(r->L, -1, i + 1);
        KILN_TRY(kiln_scene_read_number(r, bounds, &out[i]));
        lua_pop(r->L, 1);
        kiln_scene_leave(r, spot);
    }
    return KILN_OK;
}

static kiln_status read_name(scene_reader *r, char *out)
{
    size_t size;
    if (lua_type(r->L, -1) != LUA_TSTRING)
        return kiln_scene_fail_value(r, "a text");
    const char *text = lua_tolstring(r->L, -1, &size);
    if (size == 0 || size >= KILN_NAME_SIZE)
        return kiln_scene_fail(r, "must be a text of 1 to %d bytes, got %zu", KILN_NAME_SIZE - 1,
                               size);
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 127)
            return kiln_scene_fail_value(r, "a text without control characters");
    memcpy(out, text, size + 1);
    return KILN_OK;
}

/* The text stays alive with the tables of the scene. */
static kiln_status read_path(scene_reader *r, const char **out)
{
    size_t size;
    if (lua_type(r->L, -1) != LUA_TSTRING)
        return kiln_scene_fail_value(r, "the name of a file");
    *out = lua_tolstring(r->L, -1, &size);
    if (size == 0 || size > 3000 || strlen(*out) != size)
        return kiln_scene_fail_value(r, "the name of a file");
    return KILN_OK;
}

kiln_status kiln_scene_read_choice(scene_reader *r, const char *(*choices)(int), int *out)
{
    const char *names[64], *text;
    size_t count = 0;
    char list[256] = "one of ";
    for (; count < 64 && (names[count] = choices((int)count)); count++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", count ? ", " : "", names[count]);
    }
    if (lua_type(r->L, -1) != LUA_TSTRING)
        return kiln_scene_fail_value(r, list);
    text = lua_tostring(r->L, -1);
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, names[i]) == 0) {
            *out = (int)i;
            return KILN_OK;
        }
    const char *nearest = kiln_nearest_name(text, names, count, sizeof names[0]);
    char found[64];
    kiln_scene_describe(r->L, -1, found, sizeof found);
    if (nearest)
        return kiln_scene_fail(r, "unknown choice %s; did you mean '%s'?", found, nearest);
    return kiln_scene_fail(r, "must be %s, got %s", list, found);
}

static kiln_status read_quantity(scene_reader *r, const kiln_schema_row *row, kiln_quantity *out)
{
    kiln_quantity quantity = {.self = NULL};
    int type = lua_type(r->L, -1);
    if (type == LUA_TFUNCTION)
        return kiln_scene_make_function(r, row, out);
    if (row->type == KILN_VALUE_AMOUNT) {
        if (type != LUA_TNUMBER)
            return kiln_scene_fail_value(r, "a number or a function");
        KILN_TRY(kiln_scene_read_number(r, &row->bounds, quantity.constant));
    } else {
        if (type != LUA_TTABLE)
            return kiln_scene_fail_value(r, "three numbers {x, y, z} or a function");
        KILN_TRY(read_vector(r, &row->bounds, quantity.constant));
    }
    *out = quantity;
    return KILN_OK;
}

typedef struct named {
    const char *(*choices)(int);
    uint32_t bits;
} named;

static kiln_status read_named(scene_reader *r, void *user)
{
    named *names = user;
    int choice;
    KILN_TRY(kiln_scene_read_choice(r, names->choices, &choice));
    names->bits |= 1u << choice;
    return KILN_OK;
}

static kiln_status read_names(scene_reader *r, const kiln_schema_row *row, uint32_t *out)
{
    named names = {.choices = row->choices};
    KILN_TRY(kiln_scene_read_list(r, "names", read_named, &names));
    *out = names.bits;
    return KILN_OK;
}

/* Structs of the row's schema, whatever their type. */
typedef struct struct_list {
    const kiln_schema_row *row;
    KILN_ARRAY_OF(char)
    *items;
} struct_list;

static kiln_status read_struct(scene_reader *r, void *user)
{
    struct_list *list = user;
    const kiln_schema *schema = list->row->schema;
    size_t count = list->items->count;
    if (count == list->items->capacity)
        KILN_TRY(kiln_array_grow_(r->box->context, (void **)&list->items->data,
                                  &list->items->capacity, schema->size, count + 1, r->error));
    void *item = list->items->data + count * schema->size;
    memset(item, 0, schema->size);
    schema->start(item);
    list->items->count++;
    return kiln_scene_read_table(r, schema, NULL, item);
}

static kiln_status read_structs(scene_reader *r, const kiln_schema_row *row, void *field)
{
    struct_list list = {.row = row, .items = field};
    return kiln_scene_read_list(r, row->key, read_struct, &list);
}

kiln_status kiln_scene_read_row(scene_reader *r, const kiln_schema_row *row, void *field)
{
    int64_t whole = 0;
    int choice = 0;
    double v[3];
    switch (row->type) {
    case KILN_VALUE_NUMBER:
        return kiln_scene_read_number(r, &row->bounds, field);
    case KILN_VALUE_WHOLE:
        KILN_TRY(read_whole(r, &row->bounds, &whole));
        *(int *)field = (int)whole;
        return KILN_OK;
    case KILN_VALUE_LONG:
        return read_whole(r, &row->bounds, field);
    case KILN_VALUE_FLAG:
        if (lua_type(r->L, -1) != LUA_TBOOLEAN)
            return kiln_scene_fail_value(r, "true or false");
        *(bool *)field = lua_toboolean(r->L, -1);
        return KILN_OK;
    case KILN_VALUE_NAME:
        return read_name(r, field);
    case KILN_VALUE_PATH:
        return read_path(r, field);
    case KILN_VALUE_CHOICE:
        return kiln_scene_read_choice(r, row->choices, field);
    case KILN_VALUE_WORD:
        KILN_TRY(kiln_scene_read_choice(r, row->choices, &choice));
        *(const char **)field = row->choices(choice);
        return KILN_OK;
    case KILN_VALUE_VECTOR:
        KILN_TRY(read_vector(r, &row->bounds, v));
        *(kiln_vec3 *)field = kiln_v3(v[0], v[1], v[2]);
        return KILN_OK;
    case KILN_VALUE_AMOUNT:
    case KILN_VALUE_FIELD:
        return read_quantity(r, row, field);
    case KILN_VALUE_NAMES:
        return read_names(r, row, field);
    case KILN_VALUE_SELECTION:
        return kiln_scene_read_picks(r, field);
    case KILN_VALUE_MATERIAL:
        return kiln_scene_read_material(r, field);
    case KILN_VALUE_LIST:
        return read_structs(r, row, field);
    case KILN_VALUE_TABLE:
        row->schema->start(field);
        return kiln_scene_read_table(r, row->schema, row->what, field);
    default:
        return row->read(r, field);
    }
}

/* What a schema's `finish` said, which knows the key only. */
kiln_status kiln_scene_refuse(scene_reader *r, kiln_status status, const kiln_error *inner)
{
    if (status != KILN_ERR_INPUT)
        return kiln_scene_wrap(r, status, inner);
    if (inner->line > 0)
        r->line = (int)inner->line;
    if (inner->place[0])
        return kiln_scene_fail_key(r, inner->place, "%s", inner->message);
    return kiln_scene_fail(r, "%s", inner->message);
}

static kiln_status finish(scene_reader *r, const kiln_given *given, void *target)
{
    kiln_error inner = {0};
    if (!given->schema->finish)
        return KILN_OK;
    return kiln_scene_refuse(r, given->schema->finish(target, given, &inner), &inner);
}

/* The value of the row's key in the table at the top; true when it is there. */
static kiln_status read_key(scene_reader *r, const kiln_schema_row *row, void *target, bool *given)
{
    lua_State *L = r->L;
    lua_pushstring(L, row->key);
    *given = lua_rawget(L, -2) != LUA_TNIL;
    if (!*given && row->preset && !row->preset[0])
        return kiln_scene_fail_key(r, row->key, "must be given: %s", row->meaning);
    if (*given) {
        scene_spot spot = kiln_scene_enter_key(r, row->key);
        KILN_TRY(kiln_scene_read_row(r, row, (char *)target + row->offset));
        kiln_scene_leave(r, spot);
    }
    lua_pop(L, 1);
    return KILN_OK;
}

static kiln_status read_rows(scene_reader *r, const kiln_schema *schema, void *target)
{
    kiln_given given = {.schema = schema};
    KILN_ASSERT_OP(schema->count, <=, 64);
    for (size_t i = 0; i < schema->count; i++) {
        const kiln_schema_row *row = &schema->rows[i];
        bool is_there = false;
        if (row->type == KILN_VALUE_PART)
            KILN_TRY(read_rows(r, row->schema, (char *)target + row->offset));
        else
            KILN_TRY(read_key(r, row, target, &is_there));
        given.rows |= (uint64_t)is_there << i;
    }
    return finish(r, &given, target);
}

static void note_said(const scene_reader *r, const kiln_schema *schema, void *target)
{
    if (schema->has_said)
        *(kiln_said *)target = kiln_scene_said(r);
}

size_t kiln_scene_keys(const kiln_schema *schema, const char **keys, size_t count)
{
    for (size_t i = 0; i < schema->count && count < SCENE_KEYS; i++)
        if (schema->rows[i].type == KILN_VALUE_PART)
            count = kiln_scene_keys(schema->rows[i].schema, keys, count);
        else
            keys[count++] = schema->rows[i].key;
    return count;
}

const kiln_schema_row *kiln_scene_find_inside(const kiln_schema *schema, const char *key)
{
    const char *keys[SCENE_KEYS];
    for (size_t i = 0; i < schema->count; i++) {
        const kiln_schema_row *row = &schema->rows[i], *found = NULL;
        if (row->type == KILN_VALUE_PART)
            found = kiln_scene_find_inside(row->schema, key);
        else if (row->type == KILN_VALUE_TABLE &&
                 is_name(key, keys, kiln_scene_keys(row->schema, keys, 0), sizeof keys[0]))
            found = row;
        if (found)
            return found;
    }
    return NULL;
}

/* Keys that are right, but one table too far out: dt for step.dt. */
static kiln_status check_depth(scene_reader *r, const kiln_schema *schema, const char *const *keys,
                               size_t count)
{
    lua_State *L = r->L;
    const char *found = NULL;
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
        if (key && !is_name(key, keys, count, sizeof keys[0]) &&
            kiln_scene_find_inside(schema, key) && (!found || strcmp(key, found) < 0))
            found = key;
    }
    if (!found)
        return KILN_OK;
    const kiln_schema_row *row = kiln_scene_find_inside(schema, found);
    return kiln_scene_fail_key(r, found, "belongs in %s: %s = { %s = ... }", row->key, row->key,
                               found);
}

static kiln_status read_by_keys(scene_reader *r, const kiln_schema *schema, void *target,
                                const char *const *keys, size_t count)
{
    luaL_checkstack(r->L, 10, "scene");
    KILN_TRY(check_depth(r, schema, keys, count));
    KILN_TRY(kiln_scene_check_keys(r, schema->name, keys, count, sizeof keys[0]));
    note_said(r, schema, target);
    return read_rows(r, schema, target);
}

kiln_status kiln_scene_read_object(scene_reader *r, const kiln_schema *schema, void *target)
{
    const char *keys[SCENE_KEYS];
    return read_by_keys(r, schema, target, keys, kiln_scene_keys(schema, keys, 0));
}

/* The first row's value in place of the table. */
static kiln_status read_first(scene_reader *r, const kiln_schema *schema, void *target)
{
    kiln_given given = {.schema = schema, .rows = 1};
    note_said(r, schema, target);
    KILN_TRY(kiln_scene_read_row(r, &schema->rows[0], (char *)target + schema->rows[0].offset));
    return finish(r, &given, target);
}

/* The table without keys, or as if nothing had been said. */
static kiln_status read_switch(scene_reader *r, const kiln_schema *schema, void *target)
{
    kiln_given given = {.schema = schema};
    if (!lua_toboolean(r->L, -1)) {
        schema->off(target);
        return KILN_OK;
    }
    note_said(r, schema, target);
    return finish(r, &given, target);
}

kiln_status kiln_scene_read_table(scene_reader *r, const kiln_schema *schema, const char *rule,
                                  void *target)
{
    scene_spot spot = {r->path_size, r->line};
    int type = lua_type(r->L, -1);
    if (schema->may_be_first && type == LUA_TSTRING)
        return read_first(r, schema, target);
    if (schema->off && type == LUA_TBOOLEAN)
        return read_switch(r, schema, target);
    char words[120];
    const char *keys[SCENE_KEYS];
    scene_mark mark = kiln_scene_mark_of(r->L, -1);
    int kind = kiln_scene_word_of(r->box, schema);
    snprintf(words, sizeof words, "%sa table %s%s{ %s = ..., ... }",
             schema->off ? "true, false or " : "", kind >= 0 ? schema->name : "",
             kind >= 0 ? " " : "", kiln_scene_keys(schema, keys, 0) ? keys[0] : "...");
    if (type != LUA_TTABLE ||
        (mark.family != SCENE_IS_PLAIN && !(mark.family == SCENE_IS_TABLE && mark.kind == kind)))
        return kiln_scene_fail_value(r, kind >= 0 || !rule ? words : rule);
    if (mark.line > 0)
        r->line = mark.line;
    KILN_TRY(kiln_scene_read_object(r, schema, target));
    kiln_scene_leave(r, spot);
    return KILN_OK;
}

static kiln_status read_module(scene_reader *r, const kiln_schema *schema)
{
    void *settings;
    lua_pushstring(r->L, schema->name);
    if (lua_rawget(r->L, -2) != LUA_TNIL) {
        scene_spot spot = kiln_scene_enter_key(r, schema->name);
        KILN_TRY(kiln_scene_add_settings(r->scene, schema, &settings, r->error));
        KILN_TRY(kiln_scene_read_table(r, schema, NULL, settings));
        kiln_scene_leave(r, spot);
    }
    lua_pop(r->L, 1);
    return KILN_OK;
}

/* Modules last, when bodies have names. */
kiln_status kiln_scene_read_scene(scene_reader *r)
{
    const kiln_schema *const *modules = r->box->modules;
    const char *keys[SCENE_KEYS];
    size_t count = kiln_scene_file_keys(r->box, keys);
    KILN_TRY(read_by_keys(r, &kiln_scene_file_schema, r->scene, keys, count));
    for (size_t i = 0; modules[i]; i++)
        KILN_TRY(read_module(r, modules[i]));
    return KILN_OK;
}

size_t kiln_scene_file_keys(const scene_sandbox *box, const char **keys)
{
    size_t count = kiln_scene_keys(&kiln_scene_file_schema, keys, 0);
    for (size_t i = 0; box->modules[i] && count < SCENE_KEYS; i++)
        keys[count++] = box->modules[i]->name;
    return count;
}

void kiln_scene_reader_free(scene_reader *r)
{
    kiln_context *context = r->box->context;
    kiln_scene_body *body = &r->body.body;
    for (size_t i = 0; i < body->regions.count; i++)
        kiln_array_free(context, &body->regions.data[i].where);
    kiln_array_free(context, &body->regions);
    for (size_t i = 0; i < body->patches.count; i++)
        kiln_array_free(context, &body->patches.data[i].where);
    kiln_array_free(context, &body->patches);
    kiln_soup_free(&body->mesh);
    kiln_soup_free(&body->surface);
    kiln_soup_free(&r->obstacle.obstacle.shape.surface);
    kiln_array_free(context, &r->hold.hold.where);
    kiln_soup_free(&r->surface);
    kiln_array_free(context, &r->names);
}
