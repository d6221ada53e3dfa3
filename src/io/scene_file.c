#include "io/scene.h"

#include "base/nearest_name.h"
#include "io/polyfem.h"
#include "io/scene_reader.h"
#include "io/source.h"

#include <ctype.h>
#include <lua5.4/lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    TEXT_LIMIT = 16 << 20, /* bytes */
};

struct kiln_scene_file {
    kiln_context *context;
    scene_sandbox box;
    kiln_scene scene;
    char *text;
    size_t text_size;
    scene_functions functions;
    polyfem_lines lines; /* of a scene of PolyFEM, for messages */
    char params[sizeof((scene_params *)NULL)->known];
};

/* The next step of a path, ".name" or "[3]", as a key on the stack; false at what is no path. */
static bool push_step(lua_State *L, const char **at, const char *end)
{
    const char *p = *at;
    if (p < end && *p == '[') {
        lua_Integer number = 0;
        for (p++; p < end && isdigit((unsigned char)*p) && number < 1000000000; p++)
            number = 10 * number + (*p - '0');
        if (p == end || *p != ']' || number < 1)
            return false;
        lua_pushinteger(L, number);
        *at = p + 1;
        return true;
    }
    p += p < end && *p == '.';
    const char *begin = p;
    while (p < end && (isalnum((unsigned char)*p) || *p == '_'))
        p++;
    if (p == begin)
        return false;
    lua_pushlstring(L, begin, (size_t)(p - begin));
    *at = p;
    return true;
}

static kiln_status set_fail(const scene_reader *r, const char *set, const char *format,
                            const char *detail)
{
    char place[256], text[300];
    snprintf(place, sizeof place, "--set %.200s", set);
    snprintf(text, sizeof text, format, detail);
    return kiln_fail(r->error, KILN_ERR_INPUT, place, 0, -1, "%s", text);
}

/* The key that a text in place of the scene's table `key` is the value of; NULL: of none. */
static const char *key_of_text(const char *key)
{
    for (size_t i = 0; key && i < kiln_scene_schema.count; i++) {
        const kiln_schema_row *row = &kiln_scene_schema.rows[i];
        if (row->key && strcmp(row->key, key) == 0 && row->schema && row->schema->may_be_first)
            return row->schema->rows[0].key;
    }
    return NULL;
}

/* A key and its value are on top: the table that the value stands for takes its place, `true` for
 * one without keys and "local" of remesh for its method. Nothing stands for an empty one. */
static void unfold(lua_State *L)
{
    bool text = lua_type(L, -1) == LUA_TSTRING;
    const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
    const char *first = text ? key_of_text(key) : NULL;
    if (!lua_isnil(L, -1) && !(lua_isboolean(L, -1) && lua_toboolean(L, -1)) && !first)
        return;
    lua_newtable(L);
    if (first) {
        lua_pushvalue(L, -2);
        lua_setfield(L, -2, first);
    }
    lua_remove(L, -2);
}

/* A table and a key are on top; replaces both by what is inside, which is made a table where it is
 * none yet. */
static kiln_status descend(scene_reader *r, const char *set)
{
    lua_State *L = r->L;
    lua_pushvalue(L, -1);
    lua_rawget(L, -3);
    unfold(L);
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, -5);
    lua_remove(L, -2);
    lua_remove(L, -2);
    if (lua_type(L, -1) != LUA_TTABLE)
        return set_fail(r, set, "the path goes through what is no table%s", "");
    return KILN_OK;
}

static kiln_status check_index(scene_reader *r, const char *set)
{
    char text[64];
    size_t count = lua_rawlen(r->L, -2);
    if (!lua_isinteger(r->L, -1) || (size_t)lua_tointeger(r->L, -1) <= count)
        return KILN_OK;
    snprintf(text, sizeof text, "[%lld], but there are %zu", (long long)lua_tointeger(r->L, -1),
             count);
    return set_fail(r, set, "there is no item %s", text);
}

/* The scene's table is on top. */
static kiln_status apply_set(scene_reader *r, const char *set)
{
    lua_State *L = r->L;
    const char *at = set, *end = set + strcspn(set, "=");
    lua_pushvalue(L, -1);
    for (;;) {
        if (!push_step(L, &at, end))
            return set_fail(r, set, "must be like bodies[1].material.young=2e5%s", "");
        KILN_TRY(check_index(r, set));
        if (at == end)
            break;
        KILN_TRY(descend(r, set));
    }
    char path[256];
    snprintf(path, sizeof path, "%.*s", (int)(end - set), set);
    kiln_scene_push_setting(L, path, end + 1);
    lua_rawset(L, -3);
    lua_pop(L, 1);
    return KILN_OK;
}

typedef struct reading {
    scene_reader reader;
    scene_params params;
    kiln_status status;
} reading;

static bool is_scene_key(const scene_sandbox *box, const char *name, size_t size)
{
    const char *keys[SCENE_KEYS];
    size_t count = kiln_scene_file_keys(box, keys);
    for (size_t i = 0; i < count; i++)
        if (strlen(keys[i]) == size && memcmp(keys[i], name, size) == 0)
            return true;
    return false;
}

/* A setting without a dot that is no key of scenes is for param(). */
static bool is_param(const scene_sandbox *box, const char *set)
{
    size_t size = strcspn(set, "=.[");
    return set[size] == '=' && size > 0 && !is_scene_key(box, set, size);
}

static kiln_status check_params(const scene_reader *r, const scene_params *params)
{
    for (size_t i = 0; i < params->count; i++) {
        if (params->data[i].was_asked)
            continue;
        char known[sizeof params->known], name[64];
        const char *names[100 + SCENE_KEYS];
        size_t count = 0;
        snprintf(name, sizeof name, "%.*s", (int)params->data[i].name_size, params->data[i].name);
        memcpy(known, params->known, sizeof known);
        for (char *at = known; *at && count < 100; at++) {
            names[count++] = at;
            char *end = at + strcspn(at, " ");
            at[strcspn(at, "= ")] = 0;
            at = end;
        }
        count += kiln_scene_file_keys(r->box, names + count);
        const char *nearest = kiln_nearest_name(name, names, count, sizeof names[0]);
        const kiln_schema_row *inside = kiln_scene_find_inside(&kiln_scene_file_schema, name);
        if (inside) {
            char place[160];
            snprintf(place, sizeof place, "%.64s.%.64s", inside->key, name);
            return set_fail(r, name, "the scene has no such key or param; did you mean '%s'?",
                            place);
        }
        if (nearest)
            return set_fail(r, name, "the scene has no such key or param; did you mean '%s'?",
                            nearest);
        return set_fail(r, name, "the scene has no such key or param%s", "");
    }
    return KILN_OK;
}

static kiln_status read_all(reading *all)
{
    scene_reader *r = &all->reader;
    int kind;
    if (lua_type(r->L, -1) != LUA_TTABLE) {
        char found[64];
        return kiln_scene_fail(r, "must end with return scene { ... }, got %s",
                               kiln_scene_describe(r->L, -1, found, sizeof found));
    }
    KILN_TRY(kiln_scene_expect(r, SCENE_IS_SCENE, &kind));
    for (size_t i = 0; i < r->set_count; i++)
        if (!is_param(r->box, r->sets[i]))
            KILN_TRY(apply_set(r, r->sets[i]));
    KILN_TRY(check_params(r, &all->params));
    KILN_TRY(kiln_scene_read_scene(r));
    kiln_scene_preset(r->scene);
    kiln_error inner = {0};
    return kiln_scene_refuse(r, kiln_scene_check(r->scene, &inner), &inner);
}

/* Arguments: reading, the scene's table. */
static int read_protected(lua_State *L)
{
    reading *all = lua_touserdata(L, 1);
    luaL_checkstack(L, 40, "scene");
    all->status = read_all(all);
    return 0;
}

static kiln_status collect_params(reading *all, scene_param *room, size_t count, kiln_error *error)
{
    const scene_reader *r = &all->reader;
    all->params.data = room;
    for (size_t i = 0; i < r->set_count; i++) {
        if (!strchr(r->sets[i], '='))
            return kiln_fail(error, KILN_ERR_INPUT, "--set", 0, -1,
                             "must be like bodies[1].material.young=2e5, got '%.100s'", r->sets[i]);
        if (strpbrk(r->sets[i], "\r\n")) /* checkpoints keep them as lines */
            return kiln_fail(error, KILN_ERR_INPUT, "--set", 0, -1,
                             "must be one line, got '%.100s'", r->sets[i]);
        size_t size = strcspn(r->sets[i], "=");
        if (is_param(r->box, r->sets[i]) && all->params.count < count)
            room[all->params.count++] = (scene_param){
                .name = r->sets[i], .value = r->sets[i] + size + 1, .name_size = size};
    }
    return KILN_OK;
}

static kiln_status run_and_read(kiln_scene_file *file, reading *all, uint64_t instructions,
                                kiln_error *error)
{
    scene_sandbox *box = &file->box;
    lua_State *L = box->L;
    const char *text = file->text;
    size_t size = file->text_size;
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        size -= 3;
    }
    lua_pushcfunction(L, kiln_scene_language_open);
    lua_pushlightuserdata(L, &all->params);
    KILN_TRY(kiln_scene_sandbox_call(box, 1, 0, UINT64_MAX, NULL, error));
    lua_pushcfunction(L, read_protected);
    lua_pushlightuserdata(L, all);
    KILN_TRY(kiln_scene_sandbox_compile(box, NULL, text, size, error));
    KILN_TRY(kiln_scene_sandbox_call(box, 0, 1, instructions, NULL, error));
    KILN_TRY(kiln_scene_sandbox_call(box, 2, 0, instructions, NULL, error));
    return all->status;
}

static void name_scene(kiln_scene *scene, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    int size = dot && dot > base ? (int)(dot - base) : (int)strlen(base);
    snprintf(scene->file, sizeof scene->file, "%s", path);
    snprintf(scene->name, sizeof scene->name, "%.*s", size > 63 ? 63 : size, base);
}

static kiln_status load(kiln_scene_file *file, const char *path, const kiln_scene_options *options,
                        kiln_error *error)
{
    kiln_context *context = file->context;
    reading *all = kiln_resize(context, NULL, 0, sizeof *all);
    size_t room = (options->set_count + 1) * sizeof(scene_param);
    scene_param *params = kiln_resize(context, NULL, 0, room);
    kiln_status status = KILN_OK;
    if (!all || !params) {
        status = kiln_fail_memory(error, sizeof *all + room);
    } else {
        char folder[4096];
        const char *slash = strrchr(path, '/');
        snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 0, path);
        memset(all, 0, sizeof *all);
        all->reader = (scene_reader){.box = &file->box,
                                     .L = file->box.L,
                                     .scene = &file->scene,
                                     .error = error,
                                     .folder = folder,
                                     .sets = options->sets,
                                     .set_count = options->set_count,
                                     .functions = &file->functions};
        status = collect_params(all, params, options->set_count, error);
        if (status == KILN_OK)
            status = run_and_read(
                file, all, options->instructions ? options->instructions : 100000000u, error);
        kiln_scene_reader_free(&all->reader);
        memcpy(file->params, all->params.known, sizeof file->params);
    }
    kiln_release(context, all, all ? sizeof *all : 0);
    kiln_release(context, params, params ? room : 0);
    return status;
}

static kiln_status keep_text(kiln_scene_file *file, const char *text, size_t size,
                             kiln_error *error)
{
    if (size > TEXT_LIMIT)
        return kiln_fail(error, KILN_ERR_INPUT, file->scene.file, 0, -1,
                         "is too long for a scene: %zu bytes, at most %d", size, TEXT_LIMIT);
    file->text = kiln_resize(file->context, NULL, 0, size + 1);
    if (!file->text)
        return kiln_fail_memory(error, size + 1);
    if (size > 0)
        memcpy(file->text, text, size);
    file->text[size] = 0;
    file->text_size = size;
    return KILN_OK;
}

static bool ends_in_json(const char *path)
{
    size_t size = strlen(path);
    return size > 5 && strcmp(path + size - 5, ".json") == 0;
}

/* JSON becomes Lua; what a checkpoint kept is Lua already, whatever the file is called. */
static kiln_status keep_as_lua(kiln_scene_file *file, const char *path, const char *text,
                               size_t size, bool from_file, kiln_error *error)
{
    if (!kiln_polyfem_is_json(text, size) && !(from_file && ends_in_json(path)))
        return keep_text(file, text, size, error);
    lua_text lua;
    kiln_status status =
        kiln_polyfem_translate(file->context, path, text, size, false, "", &lua, error);
    if (status == KILN_OK)
        status = keep_text(file, lua.text.data, lua.text.count, error);
    kiln_lua_free(&lua);
    return status;
}

static kiln_status get_text(kiln_scene_file *file, const char *path,
                            const kiln_scene_options *options, kiln_error *error)
{
    if (options->text)
        return keep_as_lua(file, path, options->text, options->text_size, false, error);
    kiln_source source;
    KILN_TRY(kiln_source_open(&source, file->context, path, error));
    kiln_status status =
        keep_as_lua(file, path, source.begin, kiln_source_left(&source), true, error);
    kiln_source_close(&source);
    return status;
}

bool kiln_scene_file_has_text(kiln_context *context, const char *path, const char *text,
                              size_t size)
{
    kiln_source source;
    lua_text lua = {.context = context};
    if (kiln_source_open(&source, context, path, NULL) != KILN_OK)
        return true;
    const char *now = source.begin;
    size_t now_size = kiln_source_left(&source);
    kiln_status status = KILN_OK;
    if (kiln_polyfem_is_json(now, now_size) || ends_in_json(path)) {
        status = kiln_polyfem_translate(context, path, now, now_size, true, "", &lua, NULL);
        now = lua.text.data;
        now_size = lua.text.count;
    }
    bool same = status == KILN_OK && now_size == size && memcmp(now, text, size) == 0;
    kiln_lua_free(&lua);
    kiln_source_close(&source);
    return same;
}

kiln_status kiln_scene_file_load(kiln_context *context, const char *path,
                                 const kiln_scene_options *options, kiln_scene_file **out,
                                 kiln_error *error)
{
    static const kiln_scene_options presets = {0};
    options = options ? options : &presets;
    if (options->modules)
        KILN_TRY(kiln_modules_check(options->modules, error));
    kiln_scene_file *file = kiln_resize(context, NULL, 0, sizeof *file);
    if (!file)
        return kiln_fail_memory(error, sizeof *file);
    memset(file, 0, sizeof *file);
    file->context = context;
    kiln_scene_init(&file->scene, context);
    name_scene(&file->scene, path);
    file->scene.goes_on = options->goes_on;
    kiln_status status = get_text(file, path, options, error);
    if (status == KILN_OK)
        status =
            kiln_scene_sandbox_open(&file->box, context, path,
                                    options->memory ? options->memory : (size_t)256 << 20, error);
    if (status == KILN_OK)
        status = kiln_polyfem_lines(context, file->text, file->text_size, &file->lines, error);
    file->box.lines = file->lines.data;
    file->box.line_count = file->lines.count;
    file->scene.modules = options->modules ? options->modules : kiln_modules;
    kiln_module_schemas(file->scene.modules, file->box.modules);
    if (status == KILN_OK)
        status = load(file, path, options, error);
    if (status != KILN_OK) {
        kiln_scene_file_destroy(file);
        return status;
    }
    file->box.is_reading = false;
    *out = file;
    return KILN_OK;
}

void kiln_scene_file_destroy(kiln_scene_file *file)
{
    if (!file)
        return;
    kiln_context *context = file->context;
    kiln_scene_sandbox_close(&file->box);
    kiln_scene_free(&file->scene);
    for (size_t i = 0; i < file->functions.count; i++)
        kiln_release(context, file->functions.data[i], sizeof *file->functions.data[i]);
    kiln_array_free(context, &file->functions);
    kiln_array_free(context, &file->lines);
    kiln_release(context, file->text, file->text ? file->text_size + 1 : 0);
    kiln_release(context, file, sizeof *file);
}

const kiln_scene *kiln_scene_file_scene(const kiln_scene_file *file)
{
    return &file->scene;
}

const char *kiln_scene_file_text(const kiln_scene_file *file, size_t *size)
{
    *size = file->text_size;
    return file->text;
}

const char *kiln_scene_file_params(const kiln_scene_file *file)
{
    return file->params;
}
