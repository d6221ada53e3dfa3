/* How the mesh follows what it carries: the scene's `remesh`. */
#ifndef KILN_SIM_REMESH_SETTINGS_H
#define KILN_SIM_REMESH_SETTINGS_H

#include "base/schema.h"
#include "mesh/mesh.h"

typedef enum kiln_remesh_method {
    KILN_REMESH_NONE,
    KILN_REMESH_LOCAL,  /* repairs of bad tets, splits and contractions (DLR) */
    KILN_REMESH_GLOBAL, /* a new mesh for all when the old has become bad; bodies that touch merge
                          (VPF) */
    KILN_REMESH_ENERGY  /* inside the step, where its energy falls by it (ITR) */
} kiln_remesh_method;

typedef enum kiln_droplets {
    KILN_DROPLETS_KEEP,
    KILN_DROPLETS_REMOVE,
    KILN_DROPLETS_MERGE /* with the nearest liquid */
} kiln_droplets;

/* How the mesh follows. Sources of sizes that are not 0 are intersected. */
typedef struct kiln_scene_remesh {
    kiln_said said;
    kiln_remesh_method method;
    kiln_space space;   /* the space that is meshed. World: u = x, all history is in the offsets;
                           always with KILN_REMESH_GLOBAL */
    double quality;     /* tets below are repaired: 0.15 */
    bool quality_said;  /* by the scene; not: that of liquid is another */
    double ridge_angle; /* degrees: surface edges that turn by more are features */
    double band;        /* of curved surfaces, times the usual */
    int every; /* steps between looks where sizes are asked for: 1. Where none are, bad tets are
                  repaired in the step they become so */

    bool follow;    /* as in the start mesh, finer where matter stretches or has flowed; where it is
                       the only wish, within wide limits */
    double contact; /* edges where something finer presses, of its radius */
    double size;    /* edges in the material, m */
    double deformation;  /* edges in the world, m (F'F / h^2) */
    double strain;       /* kappa of DLR eq. 7, 1/m: finer where the deformation changes */
    bool strain_printed; /* the equation as printed */
    double curvature;    /* radians by which an edge along the surface may turn */
    double chord; /* of an edge: how far a surface that has flowed may be off it; with other wishes,
                     sizes that follow know bends by themselves: 0.025 */
    double size_min, size_max; /* m; 0: none, of the start mesh's mean edge */
    bool isotropic;            /* of a metric only the finest size counts */
    double gradation;          /* ratio of sizes one edge apart: 1.5; 0: any */
    int64_t most_tets; /* no splits beyond; 0: no limit, with `follow` 3 times the start, or 3000
                          more */

    double part, collapse_part; /* energy: of what a step stores and moves, that a split must gain;
                                   of that, that a collapse may cost; 0: see split, the preset */
    double split, collapse; /* energy: J that a split must gain, that a collapse may cost; 0: parts
                               of the energy of the step */
    double share;           /* energy: of the edges, changes tried in a step of motion; 0: any */
    int rounds;             /* energy, static: solves with meshes that follow, at most */

    double condition;        /* global: remesh when the worst basis matrix passes it: 12 */
    double condition_change; /* or has become worse by this factor since the last time: 3 */
    double pinch; /* liquid: necks narrower than this part of the mean edge of the start break */
    kiln_droplets droplets; /* what becomes of drops that are smaller than that */
    double merge; /* surfaces closer than this part of the size there become one: 0.3 in global */
} kiln_scene_remesh;

kiln_scene_remesh kiln_remesh_default_settings(void); /* KILN_REMESH_NONE */
/* Are there new meshes for parts that become one, or for all that have become bad? With local
 * remeshing the former, in the world only. */
bool kiln_remesh_joins(const kiln_scene_remesh *remesh);
/* Liquid cannot live without, and its mesh is that of the world. */
void kiln_remesh_preset_liquid(kiln_scene_remesh *remesh);
/* Once that is settled. */
kiln_status kiln_remesh_check(const kiln_scene_remesh *remesh, kiln_error *error);
/* Does it ask for sizes other than those of `follow`? */
bool kiln_remesh_has_wishes(const kiln_scene_remesh *remesh);
extern const kiln_schema kiln_remesh_schema;

#endif
