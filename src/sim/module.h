/* A world is a scene, a mesh, a clock, steppers and modules.
 *
 * A module is one thing that a scene may ask for: holds and loads, plastic flow, a way of
 * remeshing. It is one row in modules.c, in the order in which modules run. Modules do not know
 * each other: what they share is the fields of the mesh, the facts in the world that `plan` states
 * and the moment. docs/modules.md adds one, step by step.
 *
 * Every hook but `create` may be NULL. Hooks that return a status fail the step, which is then
 * taken back (mesh/rewind.h): a module that writes to a column of the mesh otherwise than through
 * transactions saves it first, and one that keeps more of the past than mesh fields says so by
 * `state` or mends it in `step_back`. */
#ifndef KILN_SIM_MODULE_H
#define KILN_SIM_MODULE_H

#include "mesh/changes.h"
#include "sim/world.h"

/* The step that is being made. */
typedef struct kiln_moment {
    double begin, end; /* s; `end` once the step was found */
    bool first;        /* static: dead loads and the ways of holds grow from nothing */
} kiln_moment;

/* What depends on time, as a stepper asks for it. Time runs with the load in static steps. */
typedef struct kiln_drive {
    kiln_solid *solid;
    double begin, end; /* s, of the step that is tried */
    double time;       /* s, for which it is asked */
    double share;      /* of dead loads and ways, 0 to 1 */
} kiln_drive;

typedef struct kiln_module {
    const char *name;
    /* Settings that are no member of kiln_scene: a key of scenes, kiln_scene_settings. NULL: none.
     */
    const kiln_schema *schema;

    /* Facts about the world that others have to know before they are made (world_impl.h). */
    void (*plan)(kiln_world *world);
    /* Checks what the scene asks of it and adds the fields it needs. The mesh exists, the solid
     * does not. *self stays NULL when the scene asks nothing. */
    kiln_status (*create)(kiln_world *world, void **self, kiln_error *error);
    /* Once the solid exists. */
    kiln_status (*start)(void *self, kiln_error *error);
    void (*destroy)(void *self); /* what it owns; not `self`, which kiln_module_make gave */

    /* s, the longest step that it bears from here on. */
    double (*longest_step)(const void *self);
    /* At the begin of each try, at the end of one that was found, and for what lies between. A step
     * may still be given up after it was found: by an error, or by world->report.outcome. */
    kiln_status (*before_step)(void *self, const kiln_moment *moment, kiln_error *error);
    kiln_status (*drive)(void *self, const kiln_drive *drive, kiln_error *error);
    kiln_status (*after_step)(void *self, const kiln_moment *moment, kiln_error *error);
    /* The step was taken back; the mesh is what it was. Cannot fail. */
    void (*step_back)(void *self);

    /* The material positions of all tets are about to be set anew; they were, the tets are the
     * same. */
    kiln_status (*material_moves)(void *self, kiln_error *error);
    kiln_status (*material_moved)(void *self, kiln_error *error);
    /* What is no field over to the changed mesh: `to` is another mesh that takes the place of the
     * world's, or NULL at the end of a pass, whose archive is still open. */
    kiln_status (*carry)(void *self, const kiln_mesh *to, kiln_error *error);
    /* Derived data after the mesh has changed, before the steppers'. */
    kiln_status (*mesh_changed)(void *self, const kiln_changes *changes, kiln_error *error);

    /* Plain data of doubles and 64-bit integers that the future depends on: taken back with a step,
     * kept in checkpoints. */
    void *(*state)(void *self, size_t *size);
    /* Its columns of the row; the state of the start has step 0. */
    void (*measure)(const void *self, kiln_stats *stats);
} kiln_module;

/* Kiln's own, in the order in which they run, ended by NULL. A program may give a scene another
 * list, with modules of its own among them (kiln_scene.modules). */
extern const kiln_module *const kiln_modules[];
enum { KILN_MODULE_ROOM = 32 }; /* of a list, NULL not counted */
/* KILN_ERR_INPUT where a list is longer than that. */
kiln_status kiln_modules_check(const kiln_module *const *modules, kiln_error *error);
/* The schemas of those that have one, ended by NULL. */
void kiln_module_schemas(const kiln_module *const *modules,
                         const kiln_schema *out[KILN_MODULE_ROOM + 1]);

/* What `create` made of the module in this world; NULL: not wanted. */
void *kiln_world_module(const kiln_world *world, const kiln_module *module);

extern const kiln_module kiln_module_subdivide, kiln_module_obstacles, kiln_module_velocity_field,
    kiln_module_materials, kiln_module_boundary, kiln_module_heat, kiln_module_gravity,
    kiln_module_contact, kiln_module_fairing, kiln_module_waterline, kiln_module_liquid_pace,
    kiln_module_flow, kiln_module_phases, kiln_module_forces, kiln_module_surfaces,
    kiln_module_probes, kiln_module_pressed, kiln_module_pinch, kiln_module_merging,
    kiln_module_through, kiln_module_tracers, kiln_module_remesh_domain, kiln_module_remesh_local,
    kiln_module_remesh_energy, kiln_module_tear;

#endif
