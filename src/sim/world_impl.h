/* The world's inside, shared by the world_*.c files only. */
#ifndef KILN_SIM_WORLD_IMPL_H
#define KILN_SIM_WORLD_IMPL_H

#include "fem/plasticity.h"
#include "remesh/embedded.h"
#include "remesh/sizing.h"
#include "sim/world.h"
#include "step/relax.h"

/* The vertices of a hold, and the vertex field with the places its ways begin at: those of the
 * start, or for a hold that begins later those where it caught them. */
typedef struct kiln_world_hold {
    kiln_u32_array vertices; /* ascending */
    char origin[24];
    bool late;
} kiln_world_hold;

typedef struct kiln_world_load {
    kiln_u32_array rows; /* vertices, faces or tets, ascending */
    char amount[24];     /* body: the tet field of m^3 of the start that it acts on */
    double area;         /* traction: m^2 of the start that it acts on */
} kiln_world_load;

/* What became of the matter and its mesh after a step. */
typedef struct kiln_evolution {
    kiln_flow_report flow;
    size_t changed; /* tets of the step's mesh that remeshing took or reshaped */
    double worst;   /* quality after it, where and how it was asked for; 0: not looked at */
    kiln_relax_report relax; /* of the material, in material mode */
    double plastic_seconds, size_seconds, remesh_seconds, transfer_seconds;
} kiln_evolution;

struct kiln_world {
    kiln_context *context;   /* borrowed */
    const kiln_scene *scene; /* borrowed */
    kiln_mesh *mesh;
    kiln_solid *solid;
    kiln_obstacle **obstacles; /* [scene->obstacles.count] */
    kiln_world_hold *holds;    /* [scene->holds.count] */
    kiln_world_load *loads;    /* [scene->loads.count] */
    kiln_material *materials;  /* [scene->materials.count] */
    kiln_f64_array events;     /* times at which holds and loads begin and end, ascending */
    kiln_world_state state;
    double step_begin;     /* of the step that is being tried, s */
    double size;           /* diagonal of the start's bounding box, m */
    bool varies;           /* some material's stiffness or viscosity is a function */
    bool viscosity_varies; /* some material's viscosity is one */
    bool first;            /* static: the step being tried is the first, loads grow from nothing */
    kiln_f64_array mu, lambda, mises; /* [tet slot], where `varies` */
    kiln_f64_array viscosity;         /* [tet slot], where it varies */
    kiln_embedded **surfaces;         /* [scene->bodies.count], NULL: the body has none */
    bool yields;                      /* some material does */
    KILN_ARRAY_OF(kiln_plastic)
    laws;                 /* [tet slot], where the parameters of flow are functions */
    kiln_f64_array norms; /* [tet slot] of stress, for them */
    KILN_ARRAY_OF(uint8_t)
    flowed;                   /* [tet slot] not 0: in the last step */
    kiln_relax *relax;        /* made when it is first needed */
    bool overlaps;            /* the material was seen to overlap itself */
    bool crossed;             /* the last pass of local remeshing was undone: surfaces crossed */
    kiln_f64_array gradients; /* [tet slot][9] F, for sizes */
    kiln_sizing *sizing;      /* of the last step that asked for one, for its memory */
    kiln_step_report report;  /* of the last step */
    kiln_evolution evolution; /* likewise */
    kiln_f64_array quality;   /* [tet slot] */
};

/* Two times are the same moment when they differ by less: rounding must not make slivers of steps.
 */
double kiln_world_moment(const kiln_world *world);

/* KILN_ERR_INPUT that names the place in the scene: "file:line: path: message". */
kiln_status kiln_said_fail(const kiln_scene *scene, const kiln_said *said, kiln_error *error,
                           const char *format, ...) KILN_PRINTF(4, 5);
/* Puts the place in front of an error that does not know it. Returns `status`. */
kiln_status kiln_said_wrap(const kiln_scene *scene, const kiln_said *said, kiln_status status,
                           kiln_error *error);

/* world_build.c: mesh, bodies, regions, positions, and what the selections name. */
kiln_status kiln_world_build_mesh(kiln_world *world, kiln_error *error);
kiln_status kiln_world_build_sets(kiln_world *world, kiln_error *error);
kiln_status kiln_world_set_motion(kiln_world *world, kiln_error *error); /* velocities */
kiln_status kiln_world_select(const kiln_world *world, kiln_where where, int32_t body,
                              const kiln_picks *picks, kiln_u32_array *out, kiln_error *error);

/* world_sets.c: holds and loads as fields of the mesh. Written once from the lists of the start,
 * listed again from the mesh of a checkpoint, refreshed (marks where they are missing, then lists)
 * after any change of the mesh. Those that end now are released. */
kiln_status kiln_world_write_sets(kiln_world *world, kiln_error *error);
kiln_status kiln_world_list_sets(kiln_world *world, kiln_error *error);
kiln_status kiln_world_refresh_sets(kiln_world *world, kiln_error *error);
kiln_status kiln_world_release_sets(kiln_world *world, kiln_error *error);
/* [row][word], bit s of them: of set s, holds before loads. */
uint64_t *kiln_world_bits(const kiln_mesh *mesh, kiln_where where);
/* world_patches.c: bits of faces or tets from those of vertices. */
kiln_status kiln_world_gather(const kiln_world *world, kiln_where where, size_t words,
                              kiln_error *error);
/* How many corners a face (3) or tet (4) has, and which. */
int kiln_world_corners(const kiln_mesh *mesh, kiln_where where, uint32_t row, uint32_t v[4]);
kiln_where kiln_load_where(kiln_load_kind kind);                   /* what it acts on */
double kiln_world_load_area(const kiln_world *world, size_t load); /* of its faces in u, m^2 */

/* world_contact.c: bodies against each other. */
kiln_contact_options kiln_world_contact_options(const kiln_scene *scene);
kiln_status kiln_world_check_surfaces(const kiln_world *world,
                                      kiln_error *error); /* at the start */

/* world_drive.c: what depends on time. */
kiln_driver kiln_world_driver(kiln_world *world);
/* Holds that begin now catch their vertices, what ends now is released. */
kiln_status kiln_world_catch(kiln_world *world, kiln_error *error);
/* The field becomes where the vertices are now. */
void kiln_world_note_places(const kiln_world *world, const char *field);
/* Functions of the scene look at the u of the start. Where u moves later and there are such
 * functions, it is kept as a vertex field. */
kiln_status kiln_world_keep_start(kiln_world *world, kiln_error *error);
kiln_status kiln_world_check_holds(kiln_world *world, kiln_error *error);
kiln_status kiln_world_set_poses(kiln_world *world, double time, double h, kiln_error *error);
/* Where tet t is and what goes on in it, at the time of the clock; stress is left 0. `v` may be
 * NULL. */
kiln_circumstances kiln_world_circumstances(const kiln_world *world, uint32_t t,
                                            const kiln_vec3 *v);

/* world_vary.c: stiffness and viscosity that are functions. Stiffness is kept in a field: the
 * stress that the next step's functions see depends on it. Kept when a step is accepted, restored
 * when none could be. Resize: rows of everything [tet slot] after the mesh has changed; before the
 * solid is rebuilt. */
kiln_status kiln_world_resize(kiln_world *world, kiln_error *error);
kiln_status kiln_world_vary_start(kiln_world *world, kiln_error *error);
kiln_status kiln_world_vary(kiln_world *world, double time, kiln_error *error);
void kiln_world_keep_lame(kiln_world *world);
kiln_status kiln_world_restore_lame(kiln_world *world, kiln_error *error);

/* world_evolve.c: what becomes of the matter after an accepted step of h seconds. It flows, and the
 * material follows; then the mesh does. */
kiln_status kiln_world_add_history(kiln_world *world, kiln_error *error); /* fields for it */
kiln_status kiln_world_flow(kiln_world *world, double h, kiln_evolution *evolution,
                            kiln_error *error);
kiln_status kiln_world_remesh(kiln_world *world, kiln_evolution *evolution, kiln_error *error);
/* world_remesh.c: local remeshing (repairs only where the method is global); the sizes of the
 * start, which it needs. */
kiln_status kiln_world_note_sizes(kiln_world *world, kiln_error *error);
bool kiln_remesh_is_sized(const kiln_scene_remesh *remesh);
kiln_status kiln_world_remesh_local(kiln_world *world, kiln_evolution *evolution,
                                    kiln_error *error);
/* After any change of the mesh: rows close ranks, everything that is derived is built anew. */
kiln_status kiln_world_mesh_changed(kiln_world *world, kiln_error *error);

/* world_measure.c: what holds and obstacles press with, kept for the rows and frames. */
kiln_status kiln_world_add_forces(kiln_world *world, kiln_error *error);
void kiln_world_keep_forces(kiln_world *world);

/* world_embedded.c: the fine surfaces that hang in bodies. Hung when the mesh is made; hung anew in
 * a pass, before it ends; renumbered after rows closed ranks; rebased after `u` was set anew; moved
 * to the mesh of the whole domain, where they stay where they are in the world. */
kiln_status kiln_world_hang(kiln_world *world, kiln_error *error);
void kiln_world_unhang(kiln_world *world);
kiln_status kiln_world_rehang(kiln_world *world, kiln_error *error);
kiln_status kiln_world_renumber_surfaces(kiln_world *world, const kiln_renumbering *now,
                                         kiln_error *error);
void kiln_world_rebase_surfaces(kiln_world *world);
kiln_status kiln_world_move_surfaces(kiln_world *world, const kiln_mesh *from, const kiln_mesh *to,
                                     kiln_error *error);
/* world_domain.c: a new mesh for the parts that flow when theirs has become bad, or when they are
 * to merge; the fields it needs. Where none can be had the old one stays, with a warning. */
kiln_status kiln_world_add_domain_history(kiln_world *world, kiln_error *error);
kiln_status kiln_world_remesh_domain(kiln_world *world, kiln_evolution *evolution,
                                     kiln_error *error);

/* The mesh is that of the world: u = x, and all history is in the offsets. */
bool kiln_world_in_world_space(const kiln_scene *scene);

#define KILN_FIELD_MASS       "mass"
#define KILN_FIELD_START_SIZE "start_size" /* mean edge of the start, by vertex, m */
#define KILN_FIELD_MATERIAL   "material"
#define KILN_FIELD_LAME       "lame"
#define KILN_FIELD_REACTION   "reaction"
#define KILN_FIELD_CONTACT    "contact"
#define KILN_FIELD_DENSITY    "density"
#define KILN_FIELD_SETS       "sets"
#define KILN_FIELD_ORIGIN     "origin"  /* x of the start, for holds */
#define KILN_FIELD_START      "u_start" /* u of the start, for functions */

#endif
