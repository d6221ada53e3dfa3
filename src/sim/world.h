/* The world: one mesh with all bodies of a scene, what drives it, and its statistics. */
#ifndef KILN_SIM_WORLD_H
#define KILN_SIM_WORLD_H

#include "sim/scene.h"

typedef struct kiln_world kiln_world;

/* Builds and checks everything a scene asks for: meshes (strict), selections (an empty one is an
 * error), contradictory holds (one component of a vertex held by two holds at a time that send it
 * to different places), start without inverted tets. Errors carry the scene's file, line and key
 * path. The scene is borrowed. */
kiln_status kiln_world_create(const kiln_scene *scene, kiln_world **out, kiln_error *error);
void kiln_world_destroy(kiln_world *world); /* NULL allowed */

kiln_mesh *kiln_world_mesh(kiln_world *world);
kiln_solid *kiln_world_solid(kiln_world *world);
const kiln_scene *kiln_world_scene(const kiln_world *world);

/* What the future depends on beside mesh columns and the state of modules; plain data, checkpoints
 * keep it. */
typedef struct kiln_world_state {
    kiln_solid_clock clock;
    kiln_pace pace;
    uint64_t step, frame, checkpoint; /* numbers of the next ones */
    double next_frame;                /* s */
    double next_checkpoint;           /* s, when by simulated time */
    uint64_t rejected;                /* steps, so far */
} kiln_world_state;
kiln_world_state *kiln_world_get_state(kiln_world *world);
/* The state of the module with that number, plain words that checkpoints keep too, with its name;
 * NULL and size 0 where it has none. *name is NULL past the last module. */
void *kiln_world_module_state(kiln_world *world, size_t row, const char **name, size_t *size);

uint64_t kiln_world_remeshes(const kiln_world *world); /* of the whole domain, so far */
/* m^3 of rest volume by remeshing curved surfaces locally. */
double kiln_world_volume_gained(const kiln_world *world);
/* Steps that ended with tets worse than the scene's remesh.quality asks for; 0 unless that was so
 * for long. */
typedef struct kiln_goal_missed {
    uint64_t steps;
    double worst, goal; /* of all these steps; what was asked for */
} kiln_goal_missed;
kiln_goal_missed kiln_world_goal_missed(const kiln_world *world);

/* The names of the columns a checkpoint must keep are those of the mesh. After a checkpoint was
 * written, and after one was read back, everything that is derived is built anew, so that both go
 * on with the same bits. */
kiln_status kiln_world_renew(kiln_world *world, kiln_error *error);
/* The mesh of a checkpoint in place of the one the scene made, which it must match: the same fields
 * (KILN_ERR_INPUT: another scene or version) and, where the scene does not remesh, the same tets
 * (a mesh file has changed); u too where nothing flows. A remeshed one is compact, and of the
 * scene's bodies and materials. Then everything is renewed. */
kiln_status kiln_world_replace_mesh(kiln_world *world, kiln_mesh *take_mesh, kiln_error *error);
/* The solver back end of the last step; NULL before the first. */
const char *kiln_world_backend(const kiln_world *world);
const char *kiln_world_backend_reason(const kiln_world *world); /* why it was chosen */

/* One row of stats.csv. NaN: does not apply (an empty cell). Order and names are fixed. Counts and
 * times of a step include its rejected tries.
 *   q_min                 worst quality in the space and by the sizes the mesher was asked for;
 *                         without one in the world. Does not apply to steps in which sizes were not
 *                         looked at; where they follow the matter: as of its last change of shape
 *   q_mean                mean quality in that space, whatever the sizes
 *   q_material_min q_world_min   worst in the material, in the world, whatever the sizes
 *   volume rest_volume    of the tets in the world, of their rest shapes, m^3
 *   px.. lx.. e_kinetic   momentum, angular momentum about the origin, energy; not in static solves
 *   e_elastic e_load      J; e_load is the potential -f.x of the dead loads
 *   newton linear         iterations
 *   t_*                   s of the wall clock; t_io is what was written since the row before
 *   rejected              tries taken back before this step
 *   contacts fx..         vertices that obstacles hold, total force of the obstacles, N: the mean
 *                         over the step, as of each in probes.csv
 *   rx..                  total force of the holds, likewise
 *   flowed changed        tets that flowed, that remeshing took or reshaped
 *   relax                 Newton iterations of the material's relaxation
 *   gap_min               least distance of surfaces that repel each other at the end, beyond their
 *                         clearance, m
 *   trials splits flips moves collapses   of remeshing by energy: all that were judged, and by kind
 *                         those that were made; t_splits and so on are their parts of t_remesh
 *   gained                J by which the energy of the step fell with them
 *   temperature_min temperature_max heat heat_in   K; J stored, from 0 K; J that came in by the
 *                         step, through surfaces, from sources and from what is held
 *   melted turned         kg of what can freeze; tets that melted or froze in the step
 *   by_splits foreseen    the part of the splits, and what was predicted for those that were made
 *   breaks holes          necks of liquid that have broken and holes in films of it since the start
 *   gone_volume gone_mass m^3 at rest and kg of droplets that were taken away since the start
 *   joined_volume joined_mass   of those that the nearest liquid got
 *   tears torn_area       of liquid by stress since the start; m^2 of one side of them
 */
#define KILN_STATS_TABLE(X)                                                                        \
    X(step)                                                                                        \
    X(time)                                                                                        \
    X(dt)                                                                                          \
    X(vertices)                                                                                    \
    X(tets)                                                                                        \
    X(q_min)                                                                                       \
    X(volume)                                                                                      \
    X(rest_volume)                                                                                 \
    X(px)                                                                                          \
    X(py)                                                                                          \
    X(pz)                                                                                          \
    X(lx)                                                                                          \
    X(ly)                                                                                          \
    X(lz)                                                                                          \
    X(e_kinetic)                                                                                   \
    X(e_elastic)                                                                                   \
    X(e_contact)                                                                                   \
    X(newton)                                                                                      \
    X(linear)                                                                                      \
    X(t_step)                                                                                      \
    X(t_assemble)                                                                                  \
    X(t_factor)                                                                                    \
    X(t_solve)                                                                                     \
    X(t_contact)                                                                                   \
    X(t_plastic)                                                                                   \
    X(t_size)                                                                                      \
    X(t_remesh)                                                                                    \
    X(t_transfer)                                                                                  \
    X(t_io)                                                                                        \
    X(e_load)                                                                                      \
    X(q_mean)                                                                                      \
    X(rejected)                                                                                    \
    X(contacts)                                                                                    \
    X(rx)                                                                                          \
    X(ry)                                                                                          \
    X(rz)                                                                                          \
    X(fx)                                                                                          \
    X(fy)                                                                                          \
    X(fz)                                                                                          \
    X(q_material_min)                                                                              \
    X(q_world_min)                                                                                 \
    X(flowed)                                                                                      \
    X(changed)                                                                                     \
    X(relax)                                                                                       \
    X(gap_min)                                                                                     \
    X(trials)                                                                                      \
    X(splits)                                                                                      \
    X(flips)                                                                                       \
    X(moves)                                                                                       \
    X(collapses)                                                                                   \
    X(gained)                                                                                      \
    X(t_splits)                                                                                    \
    X(t_flips)                                                                                     \
    X(t_moves)                                                                                     \
    X(t_collapses)                                                                                 \
    X(by_splits)                                                                                   \
    X(foreseen)                                                                                    \
    X(in_volume)                                                                                   \
    X(in_mass)                                                                                     \
    X(out_volume)                                                                                  \
    X(out_mass)                                                                                    \
    X(temperature_min)                                                                             \
    X(temperature_max)                                                                             \
    X(heat)                                                                                        \
    X(heat_in)                                                                                     \
    X(melted)                                                                                      \
    X(turned)                                                                                      \
    X(breaks)                                                                                      \
    X(holes)                                                                                       \
    X(gone_volume)                                                                                 \
    X(gone_mass)                                                                                   \
    X(joined_volume)                                                                               \
    X(joined_mass)                                                                                 \
    X(tears)                                                                                       \
    X(torn_area)

typedef struct kiln_stats {
#define KILN_STATS_MEMBER(name) double name;
    KILN_STATS_TABLE(KILN_STATS_MEMBER)
#undef KILN_STATS_MEMBER
} kiln_stats;

/* One accepted step, never past `stop`: tries, takes back and halves as often as it needs. When dt
 * falls below its minimum *gave_up is set with a diagnosis of what failed where. Then, and after an
 * error (a function of the scene, memory), mesh, clock and modules are those of the last accepted
 * step, bit for bit: the step may be made again, and what is written then is that state. */
typedef struct kiln_diagnosis {
    char text[800];
} kiln_diagnosis;
kiln_status kiln_world_step(kiln_world *world, double stop, kiln_stats *stats, bool *gave_up,
                            kiln_diagnosis *diagnosis, kiln_error *error);
/* The statistics of the state as it is, for the row of step 0. */
void kiln_world_measure(kiln_world *world, kiln_stats *stats);

/* The row of probes.csv, beside step and time: what obstacles and holds do, where bodies and points
 * are. How many numbers, their names, and those of the state as it is; NaN: does not apply. */
size_t kiln_world_probe_count(const kiln_world *world);
const char *kiln_world_probe_name(const kiln_world *world, size_t column);
kiln_status kiln_world_probe(kiln_world *world, double *out, kiln_error *error);

/* What has come in through inlets and gone out through outlets since the start. */
typedef struct kiln_passed {
    double volume;      /* m^3, at rest */
    double mass;        /* kg */
    kiln_vec3 momentum; /* kg m/s */
    uint64_t tets;
} kiln_passed;
void kiln_world_passed(const kiln_world *world, kiln_passed *in, kiln_passed *out);

/* Particles that go along with the matter: how many there are, and one of them. */
typedef struct kiln_tracer_place {
    kiln_vec3 x, velocity; /* m, m/s */
    double age;            /* s */
    uint64_t number;       /* from 1, in the order they came */
} kiln_tracer_place;
bool kiln_world_has_tracers(const kiln_world *world); /* the scene asks for some */
size_t kiln_world_tracer_count(const kiln_world *world);
kiln_tracer_place kiln_world_tracer(const kiln_world *world, size_t row);

/* Column names by number; NULL past the last. */
const char *kiln_stats_name(size_t column);

/* The mesh of this moment as a soup for a frame: world positions, regions, surface triangles with
 * their tags if the scene wants them, the body of each tet (from 1), and the fields the scene asks
 * for: u, v, reaction, contact, contact_pressure, gap, slip, displacement on vertices, the element
 * outputs, quality, plastic_strain and hardening on tets (and on triangles, from the tet behind).
 * `soup` is initialised here; empty on failure. A number that is not finite is an error: such a
 * frame is never written. */
kiln_status kiln_world_frame(kiln_world *world, kiln_soup *soup, kiln_error *error);
/* The same into the soup of the world's frame before (or an empty one), whose memory is used again:
 * a fifth of the time of a frame is new pages. */
kiln_status kiln_world_refill_frame(kiln_world *world, kiln_soup *soup, kiln_error *error);

/* Name of a per-tet field in scenes and frames. */
const char *kiln_element_output_name(kiln_element_output what);

/* Triangles of all obstacles where they are now, tag = number of the obstacle from 1. */
kiln_status kiln_world_obstacle_surfaces(kiln_world *world, kiln_soup *soup, kiln_error *error);

/* The fine surface that hangs in a body, where it is now: kiln_embedded_to_soup, with the tags of
 * the scene's. Empty for a body without. `soup` is initialised here; empty on failure. */
kiln_status kiln_world_surface(const kiln_world *world, size_t body, kiln_soup *soup,
                               kiln_error *error);
/* Hangs it as it was when that soup was taken of the same mesh. */
kiln_status kiln_world_restore_surface(kiln_world *world, size_t body, const kiln_soup *soup,
                                       kiln_error *error);

/* How many vertices a hold holds; how many vertices, faces or tets a load acts on. */
size_t kiln_world_hold_size(const kiln_world *world, size_t hold);
size_t kiln_world_load_size(const kiln_world *world, size_t load);

/* What an obstacle or a hold did to the bodies in the last step that was made: the mean over the
 * step, so that force times its length is what it gave to their momentum. False, and NaN, when it
 * did not act in that step. */
typedef struct kiln_wrench {
    kiln_vec3 place;  /* m: the point that it turns about, or its middle; moves with it */
    kiln_vec3 force;  /* N */
    kiln_vec3 torque; /* N m, about `place` */
} kiln_wrench;
bool kiln_world_obstacle_wrench(const kiln_world *world, size_t obstacle, kiln_wrench *out);
bool kiln_world_hold_wrench(const kiln_world *world, size_t hold, kiln_wrench *out);
/* What one body did to another by contact: of the scene's probes with another body the one with
 * that number. The place is the centre of the first. */
bool kiln_world_pair_wrench(const kiln_world *world, size_t pair, kiln_wrench *out);

#endif
