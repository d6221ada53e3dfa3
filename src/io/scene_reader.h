/* Reads the table a scene returned into a kiln_scene, by the rows of scene_schema.h. Knows at every
 * moment the path of the key and the line it stands in.
 *
 * Runs inside lua_pcall: an allocation that Lua cannot have leaves by longjmp. Everything owned is
 * therefore reachable from the reader or the file, never only from a local variable. */
#ifndef KILN_IO_SCENE_READER_H
#define KILN_IO_SCENE_READER_H

#include "io/scene_schema.h"

/* A function of the scene, behind a kiln_quantity. */
typedef struct scene_function {
    scene_sandbox *box;
    int reference; /* in the registry */
    int line;      /* where it begins */
    const kiln_schema_row *row;
    char path[96];
} scene_function;
typedef KILN_ARRAY_OF(scene_function *)
scene_functions;

typedef struct scene_reader {
    scene_sandbox *box;
    lua_State *L;
    kiln_scene *scene;
    kiln_error *error;
    char path[256];
    size_t path_size;
    int line;
    const char *folder; /* of the scene, with its slash, or "" */
    const char *const *sets;
    size_t set_count;
    scene_functions *functions; /* the file's */
    scene_body_draft body;
    scene_obstacle_draft obstacle;
    scene_hold_draft hold;
    kiln_soup surface;    /* being filled */
    kiln_u32_array names; /* of the list being read, hashed: position from 1, 0: free */
    size_t named;         /* of that list */
} scene_reader;

/* "path: message" at the line; always KILN_ERR_INPUT. */
kiln_status kiln_scene_fail(const scene_reader *reader, const char *format, ...) KILN_PRINTF(2, 3);
/* "path: must be <rule>, got <the value at the top>". */
kiln_status kiln_scene_fail_value(const scene_reader *reader, const char *rule);
/* The same for a key of the object being read. */
kiln_status kiln_scene_fail_key(scene_reader *reader, const char *key, const char *format, ...)
    KILN_PRINTF(3, 4);
/* An error of another layer, which knows nothing of scenes, gets the path and line. */
kiln_status kiln_scene_wrap(const scene_reader *reader, kiln_status status,
                            const kiln_error *inner);

/* An error of kiln_schema.finish, or of kiln_scene_check, gets the path and, if it has none, the
 * line. */
kiln_status kiln_scene_refuse(scene_reader *reader, kiln_status status, const kiln_error *inner);

/* Path and line while something inside is read. */
typedef struct scene_spot {
    size_t path_size;
    int line;
} scene_spot;
scene_spot kiln_scene_enter_key(scene_reader *reader, const char *key);
scene_spot kiln_scene_enter_item(scene_reader *reader, size_t item); /* from 1 */
void kiln_scene_leave(scene_reader *reader, scene_spot spot);
kiln_said kiln_scene_said(const scene_reader *reader);

/* The value at the top is a member of `family`, or (where the family has one kind) a plain table.
 * Takes its line. The caller leaves the spot. */
kiln_status kiln_scene_expect(scene_reader *reader, scene_family family, int *kind);
/* The table at the top, by the schema's rows, into `target`, which the caller has started. */
kiln_status kiln_scene_read_object(scene_reader *reader, const kiln_schema *schema, void *target);
/* The same of a value that may be anything: what must stand there is a table in the schema's word;
 * where there is no such word, `rule` (NULL: a table). */
kiln_status kiln_scene_read_table(scene_reader *reader, const kiln_schema *schema, const char *rule,
                                  void *target);
/* The scene's table at the top, with the settings of modules. */
kiln_status kiln_scene_read_scene(scene_reader *reader);

enum { SCENE_KEYS = 100 }; /* of a table at most */
/* Appends the keys of a schema, those of its parts too, to `count` ones; the new count. */
size_t kiln_scene_keys(const kiln_schema *schema, const char **keys, size_t count);
/* The row of the schema, or of its parts, whose table has the key; NULL: none. */
const kiln_schema_row *kiln_scene_find_inside(const kiln_schema *schema, const char *key);
/* Those of a scene, modules included. */
size_t kiln_scene_file_keys(const scene_sandbox *box, const char **keys);
/* Every key of the table at the top is one of `names` (rows of `stride` bytes that begin with one).
 */
kiln_status kiln_scene_check_keys(scene_reader *reader, const char *object, const void *names,
                                  size_t count, size_t stride);
/* Whether the table at the top has the key. */
bool kiln_scene_is_given(const scene_reader *reader, const char *key);
/* The table at the top is a list; its length. */
kiln_status kiln_scene_check_list(scene_reader *reader, const char *of, size_t *count);
/* Calls `read_item` with each item of the list at the top, on top of the stack. */
kiln_status kiln_scene_read_list(scene_reader *reader, const char *of,
                                 kiln_status (*read_item)(scene_reader *, void *), void *user);

/* The value at the top is a number within bounds. */
kiln_status kiln_scene_read_number(scene_reader *reader, const kiln_bounds *bounds, double *out);
/* The value at the top is one of the choices; its position. */
kiln_status kiln_scene_read_choice(scene_reader *reader, const char *(*choices)(int), int *out);
kiln_status kiln_scene_read_row(scene_reader *reader, const kiln_schema_row *row, void *field);

/* Readers of rows (KILN_VALUE_OTHER). */
kiln_status kiln_scene_read_bodies(scene_reader *reader, void *field);
kiln_status kiln_scene_read_holds(scene_reader *reader, void *field);
kiln_status kiln_scene_read_loads(scene_reader *reader, void *field);
kiln_status kiln_scene_read_probes(scene_reader *reader, void *field);
kiln_status kiln_scene_read_obstacles(scene_reader *reader, void *field);
kiln_status kiln_scene_read_material(scene_reader *reader, void *field); /* uint32_t */
kiln_status kiln_scene_read_shape(scene_reader *reader, void *field);    /* kiln_soup */
kiln_status kiln_scene_read_surface(scene_reader *reader, void *field);  /* kiln_soup */
kiln_status kiln_scene_read_regions(scene_reader *reader, void *field);
kiln_status kiln_scene_read_patches(scene_reader *reader, void *field);
kiln_status kiln_scene_read_scale(scene_reader *reader, void *field);         /* kiln_vec3 */
kiln_status kiln_scene_read_picks(scene_reader *reader, void *field);         /* kiln_picks */
kiln_status kiln_scene_read_components(scene_reader *reader, void *field);    /* uint8_t */
kiln_status kiln_scene_read_body_name(scene_reader *reader, void *field);     /* int32_t */
kiln_status kiln_scene_read_body_number(scene_reader *reader, void *field);   /* int64_t */
kiln_status kiln_scene_read_other_body(scene_reader *reader, void *field);    /* uint32_t from 1 */
kiln_status kiln_scene_read_obstacle_name(scene_reader *reader, void *field); /* int32_t */
kiln_status kiln_scene_read_motion(scene_reader *reader, void *field);        /* kiln_motion */

/* Names a thing that has no name yet "body3", and refuses one that another of the `count` things
 * has, which are structs of `stride` bytes with a name at `others`. */
kiln_status kiln_scene_name_thing(scene_reader *reader, const char *what, char *name,
                                  const char *others, size_t count, size_t stride);
/* A rotation; the identity when nothing was given. */
kiln_mat3 kiln_scene_turn_matrix(const scene_turn *turn);
/* Scale, turn and shift the points of a soup. */
void kiln_scene_place_points(const scene_place *place, kiln_soup *soup);
/* A mesh file below the scene's folder. */
kiln_status kiln_scene_read_mesh(scene_reader *reader, const char *path, kiln_soup *soup);
/* Cuts what is not manifold and moves the copies apart, so that the surfaces this makes do not
 * touch; turns and drops tets as kiln_mesh_import does. Warnings say what was done. */
kiln_status kiln_scene_mend(kiln_context *context, const char *place, kiln_soup *soup,
                            kiln_error *error);

/* The same body with `layers` tets across where it is thin, as long as `size` along it, m; 0: as
 * they are. */
kiln_status kiln_scene_stretch(kiln_context *context, const char *place, uint32_t layers,
                               double size, kiln_soup *soup, kiln_error *error);
/* The table at the top holds the parameters of a generated shape. */
kiln_status kiln_scene_read_generated(scene_reader *reader, const kiln_shape *shape,
                                      kiln_soup *soup);
/* Of tets only their surface is left, of triangles those that are there. */
kiln_status kiln_scene_keep_surface(const scene_reader *reader, kiln_soup *soup);
/* kiln_quantity.evaluate of a scene_function. */
kiln_status kiln_scene_function_evaluate(void *self, const kiln_circumstances *at, double *out,
                                         int components, kiln_error *error);
/* The function at the top of the stack becomes a quantity. */
kiln_status kiln_scene_make_function(scene_reader *reader, const kiln_schema_row *row,
                                     kiln_quantity *out);

void kiln_scene_reader_free(scene_reader *reader);

#endif
