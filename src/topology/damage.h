/* Makes bad tets in a good mesh: slivers, caps, needles and wedges, for tests and benches of
 * repair. Vertices inside are moved (where they were is forgotten) and vertices are added close to
 * what is there; the mesh stays valid and its surface and interfaces keep their shape. */
#ifndef KILN_TOPOLOGY_DAMAGE_H
#define KILN_TOPOLOGY_DAMAGE_H

#include "base/array.h"
#include "mesh/mesh.h"

/* One row per kind: enum name, name, shape. */
#define KILN_DAMAGE_TABLE(X)                                                                       \
    X(KILN_SLIVERS, "slivers", "four corners near a plane, opposite edges nearly crossing")        \
    X(KILN_CAPS, "caps", "a corner near the opposite face")                                        \
    X(KILN_NEEDLES, "needles", "three corners close together")                                     \
    X(KILN_WEDGES, "wedges", "two corners close together")

typedef enum kiln_damage_kind {
#define KILN_DAMAGE_ENUM(name, text, shape) name,
    KILN_DAMAGE_TABLE(KILN_DAMAGE_ENUM)
#undef KILN_DAMAGE_ENUM
        KILN_DAMAGE_KINDS
} kiln_damage_kind;

const char *kiln_damage_name(kiln_damage_kind kind);

/* Where: tets without walls, with a surface face, with a face between regions. */
typedef enum kiln_damage_where {
    KILN_DAMAGE_INSIDE,
    KILN_DAMAGE_SURFACE,
    KILN_DAMAGE_INTERFACE,
    KILN_DAMAGE_WHERES
} kiln_damage_where;

typedef struct kiln_damage_options {
    double fraction;    /* of the tets */
    uint32_t kinds;     /* bits 1 << kiln_damage_kind */
    uint32_t where;     /* bits 1 << kiln_damage_where */
    bool clustered;     /* in groups of some twenty; else all over */
    double worst, best; /* quality of the damaged tets */
    double good;        /* tets that change without being damaged keep this quality */
    uint64_t seed;
} kiln_damage_options;

/* Everything everywhere: a hundredth, scattered, quality 1e-3 to 0.1, the others above 0.15. */
kiln_damage_options kiln_damage_default_options(void);

typedef struct kiln_damage_report {
    kiln_u32_array tets; /* damaged, ascending; release with kiln_damage_report_free */
    size_t kind[KILN_DAMAGE_KINDS], where[KILN_DAMAGE_WHERES]; /* tets of each */
} kiln_damage_report;
void kiln_damage_report_free(kiln_context *context, kiln_damage_report *report);

/* Not inside a transaction. Stops early where no more can be done (then the report has fewer
 * tets); fails only for lack of memory. */
kiln_status kiln_mesh_damage(kiln_mesh *mesh, const kiln_damage_options *options,
                             kiln_damage_report *report, kiln_error *error);

#endif
