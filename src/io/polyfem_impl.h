/* What the parts of the translation share. */
#ifndef KILN_IO_POLYFEM_IMPL_H
#define KILN_IO_POLYFEM_IMPL_H

#include "base/schema.h"
#include "geom/box.h"
#include "io/polyfem.h"
#include "io/polyfem_formula.h"
#include "mesh/soup.h"

typedef struct polyfem {
    kiln_context *context;
    kiln_arena *arena;
    kiln_error *error;
    const char *file;  /* the scene's */
    char folder[4096]; /* its, with the slash, or "" */
    bool quiet;
    const char *meshes; /* before relative paths of meshes in the Lua */
    const kiln_json_node *root;
    lua_text locals, scene; /* what stands before the scene, and the scene */
    unsigned helpers;       /* of formulas */
    int ramps;              /* functions for interpolations */
    double t0;              /* PolyFEM's clock at our 0 */
    double friction;
    bool has_contact;
    double softest;             /* the least Young's modulus, Pa; NaN: a formula */
    bool leads_by_place;        /* bodies begin displaced: motions are told from the material */
    kiln_box bodies;            /* around all bodies, where they begin */
    kiln_u32_array surface_ids; /* that faces of bodies have, as int32_t */
    /* The mesh that was read last: arrays of meshes ask for the same. */
    const char *mesh_path;
    kiln_soup mesh;
    bool is_broken;  /* Kiln would not take it as it is */
    bool is_altered; /* no longer as in the file: finer, thicker */
    /* Plane problems: a slab one tet thick, whose vertices keep their z. */
    bool is_flat;
    double depth; /* of it, m; 0: not yet known */
} polyfem;

/* Boundary conditions apply to ids: of a face that no selection claims. */
enum { POLYFEM_NO_ID = 2147483647 };

/* polyfem_values.c: values of the tree. */
kiln_status kiln_polyfem_number(polyfem *p, const kiln_json_node *object, const char *key,
                                kiln_bounds bounds, double *out); /* stays when not given */
kiln_status kiln_polyfem_whole(polyfem *p, const kiln_json_node *object, const char *key,
                               kiln_bounds bounds, int *out);
kiln_status kiln_polyfem_flag(polyfem *p, const kiln_json_node *object, const char *key, bool *out);
kiln_status kiln_polyfem_word(polyfem *p, const kiln_json_node *object, const char *key,
                              const char **out);
/* A list of up to three numbers, the others stay; how many there were. */
kiln_status kiln_polyfem_numbers(polyfem *p, const kiln_json_node *list, double out[3],
                                 size_t *count);
/* The same of formulas; those that are missing are 0. */
kiln_status kiln_polyfem_vector(polyfem *p, const kiln_json_node *list, polyfem_formula out[3]);
/* Whether `id` of a condition or material (a number, a list, "all"; NULL: all) names it. */
kiln_status kiln_polyfem_has_id(polyfem *p, const kiln_json_node *condition, int id, bool *out);
/* A member that is there and not null. */
const kiln_json_node *kiln_polyfem_get(const kiln_json_node *object, const char *key);
/* The path of the mesh that was read last, quoted. */
void kiln_polyfem_put_mesh_path(polyfem *p);
/* " --:12\n": the end of a line that comes from the node. */
void kiln_polyfem_end_line(const polyfem *p, lua_text *lua, const kiln_json_node *node);
/* Three formulas as what a scene takes: {x, y, z}, or a function with these arguments, "t" or
 * "t, u" or "u"; each multiplied by `factor` if there is one, and added to u. */
typedef struct polyfem_form {
    const char *arguments, *factor;
    bool negative, from_place;
} polyfem_form;
void kiln_polyfem_put_vector(polyfem *p, const polyfem_formula v[3], polyfem_form form);
void kiln_polyfem_say(const polyfem *p, kiln_log_level level, const kiln_json_node *node,
                      const char *format, ...) KILN_PRINTF(4, 5);

/* polyfem_files.c */
/* The file's JSON with all that it includes. */
kiln_status kiln_polyfem_load(polyfem *p, const char *text, size_t size, kiln_json_node **root);
/* A mesh file: where it is from the scene's folder. */
kiln_status kiln_polyfem_find_mesh(polyfem *p, const kiln_json_node *mesh, const char **path);

/* polyfem_settings.c, each adds to the scene's table. */
kiln_status kiln_polyfem_put_settings(polyfem *p);
kiln_status kiln_polyfem_put_materials(polyfem *p); /* materials[1], ... among the locals */
/* Which of them the volume id has, from 1. */
kiln_status kiln_polyfem_material_of(polyfem *p, const kiln_json_node *geometry, int id,
                                     size_t *number);

/* polyfem_selections.c */
typedef struct polyfem_selection {
    const char *word; /* of select, "all" */
    double a[3], b[3], radius;
    int id;
    const kiln_json_node *said;
} polyfem_selection;
typedef KILN_ARRAY_OF(polyfem_selection)
polyfem_selections;
kiln_status kiln_polyfem_selections(polyfem *p, const kiln_json_node *list, kiln_box box,
                                    polyfem_selections *out);
bool kiln_polyfem_is_inside(const polyfem_selection *s, kiln_vec3 at);
void kiln_polyfem_put_selection(lua_text *lua, const polyfem_selection *s);

/* polyfem_placement.c: where a mesh goes. */
typedef struct polyfem_placement {
    double scale[3], at[3], axis[3], angle;
    bool in_degrees;
} polyfem_placement;
kiln_status kiln_polyfem_place(polyfem *p, const kiln_json_node *geometry, const kiln_soup *mesh,
                               polyfem_placement *out);
void kiln_polyfem_put_placement(lua_text *lua, const polyfem_placement *place);
kiln_vec3 kiln_polyfem_placed(const polyfem_placement *place, kiln_vec3 point);

/* polyfem_bodies.c, polyfem_obstacles.c, polyfem_conditions.c: bodies first, obstacles look where
 * they are. */
kiln_status kiln_polyfem_put_bodies(polyfem *p);
kiln_status kiln_polyfem_put_obstacles(polyfem *p);
kiln_status kiln_polyfem_put_conditions(polyfem *p);
/* Whether the scene is a plane problem: by the first mesh that deforms. */
kiln_status kiln_polyfem_find_dimension(polyfem *p);
kiln_status kiln_polyfem_read_mesh(polyfem *p, const kiln_json_node *geometry);
/* The interpolation of a condition as "ramps[1](t)", defined among the locals; NULL: none. */
kiln_status kiln_polyfem_put_ramp(polyfem *p, const kiln_json_node *condition, const char **call);

#endif
