/* The words of scenes: constructors such as body {...} and shape.box {...}, operators between
 * selections, and param(). A constructor only remembers what it made and in which line; everything
 * is checked when the finished scene is read (scene_reader.h). */
#ifndef KILN_IO_SCENE_LANGUAGE_H
#define KILN_IO_SCENE_LANGUAGE_H

#include "io/scene_sandbox.h"
#include "mesh/select.h"

/* One row per family: what its members are called in messages. */
#define SCENE_FAMILY_TABLE(X)                                                                      \
    X(SCENE_IS_PLAIN, "table")                                                                     \
    X(SCENE_IS_SCENE, "scene")                                                                     \
    X(SCENE_IS_MATERIAL, "material")                                                               \
    X(SCENE_IS_BODY, "body")                                                                       \
    X(SCENE_IS_REGION, "region")                                                                   \
    X(SCENE_IS_PATCH, "patch")                                                                     \
    X(SCENE_IS_HOLD, "hold")                                                                       \
    X(SCENE_IS_PROBE, "probe")                                                                     \
    X(SCENE_IS_TABLE, "table of settings")                                                         \
    X(SCENE_IS_SHAPE, "shape")                                                                     \
    X(SCENE_IS_SELECTION, "select")                                                                \
    X(SCENE_IS_MOTION, "motion")                                                                   \
    X(SCENE_IS_LOAD, "load")                                                                       \
    X(SCENE_IS_OBSTACLE, "obstacle")

typedef enum scene_family {
#define SCENE_FAMILY_ENUM(name, text) name,
    SCENE_FAMILY_TABLE(SCENE_FAMILY_ENUM)
#undef SCENE_FAMILY_ENUM
        SCENE_FAMILY_COUNT
} scene_family;

const char *kiln_scene_family_name(scene_family family);

/* Kinds of selections that operators make, after those of the selectors. */
enum { SCENE_PICK_AND = KILN_SELECT_COUNT, SCENE_PICK_OR, SCENE_PICK_MINUS, SCENE_PICK_NOT };

typedef struct scene_mark {
    scene_family family;
    int kind; /* within the family */
    int line;
} scene_mark;

/* What a constructor made of the value; a plain table or anything else: SCENE_IS_PLAIN, line 0. */
scene_mark kiln_scene_mark_of(lua_State *L, int index);

/* "body", "shape", "selection", "remesh": for messages. */
const char *kiln_scene_mark_name(const scene_sandbox *box, scene_mark mark);

/* Settings whose tables have a word, `remesh { ... }`: the schema of a kind of SCENE_IS_TABLE, NULL
 * past the last, and the other way round, -1: there is no word. */
const kiln_schema *kiln_scene_worded(const scene_sandbox *box, int kind);
int kiln_scene_word_of(const scene_sandbox *box, const kiln_schema *schema);

/* The member of a family: its word in scenes, NULL past the last. Shapes end with `file`. */
const char *kiln_scene_member_name(scene_family family, int kind);

/* Adds the words to the globals. A function for lua_pcall, with one argument: light user data, a
 * scene_params. */
int kiln_scene_language_open(lua_State *L);

/* param(name, preset): values from --set by name, as text to compile. */
typedef struct scene_param {
    const char *name, *value; /* borrowed */
    size_t name_size;
    bool was_asked;
} scene_param;
typedef struct scene_params {
    scene_param *data;
    size_t count;
    char known[1024]; /* "name=preset" of those that were asked for, apart by spaces */
} scene_params;

/* "return value" compiled and called; a plain word is a text. Leaves the value on the stack or
 * raises an error. */
void kiln_scene_push_setting(lua_State *L, const char *name, const char *value);

#endif
