/* What the parts of a transfer share. */
#ifndef KILN_REMESH_TRANSFER_IMPL_H
#define KILN_REMESH_TRANSFER_IMPL_H

#include "geom/bvh.h"
#include "geom/tet_clip.h"
#include "mesh/walk.h"
#include "remesh/begin_mesh.h"
#include "remesh/transfer.h"

enum { KILN_TRANSFER_GRAIN = 256 };

/* A source or target tet, with what decides about pairs next to its corners. */
typedef struct kiln_transfer_tet {
    kiln_vec3 corner[4];
    double volume;
    uint32_t tet;     /* row in its mesh */
    uint32_t cluster; /* changed tets that hang together; 0 for whole meshes */
    uint32_t body;
    int32_t region;
} kiln_transfer_tet;

typedef struct kiln_overlap {
    uint32_t source, target; /* indices */
    double volume;
} kiln_overlap;

/* Where a target vertex takes its values: old vertices and their weights (sum 1). */
typedef struct kiln_vertex_source {
    uint32_t vertex; /* row of the target */
    uint32_t count;  /* 4, or 8 where two parts overlap */
    uint32_t row[8];
    double weight[8];
} kiln_vertex_source;

/* An old vertex that went or moved: its amounts go to the corners of the new tet nearest to where
 * it was. */
typedef struct kiln_vertex_gone {
    uint32_t row;
    uint32_t cluster;
    kiln_vec3 at;
    uint32_t heir; /* index of a target, or KILN_NONE */
    double weight[4];
} kiln_vertex_gone;

/* Changed tets among which the totals of their matter are kept: those of a part that hang together
 * in a pass, or a part of another mesh. */
typedef struct kiln_transfer_group {
    uint32_t part;         /* of `to` */
    uint32_t next;         /* with the same cluster and another part, or KILN_NONE */
    uint32_t first, count; /* into `member` */
    kiln_vec3 at;          /* in the middle of it, world, m: moments are about it */
    double size;           /* of it about there, m */
} kiln_transfer_group;

/* Matter that a group has brought to a tet, kg. */
typedef struct kiln_transfer_gain {
    uint32_t tet, group;
    double mass;
} kiln_transfer_gain;

/* What part of a source's matter went to a group. */
typedef struct kiln_transfer_share {
    uint32_t source, group;
    double part;
    uint32_t next; /* of the same source and another group, or KILN_NONE */
} kiln_transfer_share;

/* Of a vertex i: sum_j M_ij, and sum_j M_ij (x_j - at), with the consistent mass matrix M. */
typedef struct kiln_vertex_weight {
    double mass;
    kiln_vec3 moment;
} kiln_vertex_weight;

/* Some vertices and all tets at them. Zeroed at first. */
typedef struct kiln_transfer_set {
    kiln_u32_array tets, vertices;
    kiln_idset number; /* vertex -> index */
    kiln_idset seen;   /* tets, while they are found */
    KILN_ARRAY_OF(kiln_vertex_weight)
    weights; /* [index] */
    kiln_vec3 at;
    kiln_walker walker;
} kiln_transfer_set;

/* A field of the target and the column it comes from. */
typedef struct kiln_transfer_field {
    kiln_field *to;
    size_t from_index; /* in the source's table */
    kiln_begin_column from;
} kiln_transfer_field;

typedef struct kiln_transfer_job {
    kiln_context *context;
    const kiln_mesh *from;
    kiln_mesh *to;
    bool pass; /* from == to: the begin of the pass and what came of it */
    kiln_space space;
    kiln_transfer_options options;
    kiln_transfer_report *report;
    kiln_begin_view view;  /* of `from` */
    kiln_begin_view world; /* the same with places in the world */

    KILN_ARRAY_OF(kiln_transfer_tet)
    sources, targets;
    kiln_bvh source_tree, target_tree;
    KILN_ARRAY_OF(kiln_overlap)
    overlaps; /* by target, then source */
    KILN_ARRAY_OF(kiln_moments)
    moments; /* [overlap] about the target's first corner; empty unless some field needs them */
    kiln_moment_degree degree;
    kiln_u32_array first;   /* [target + 1] into overlaps */
    kiln_f64_array covered; /* [source] sum of its overlaps */
    KILN_ARRAY_OF(kiln_bvh_pair)
    strays; /* source a without overlap, and target b that gets its amounts */
    KILN_ARRAY_OF(kiln_bvh_pair)
    heirs; /* the same where there is no target: tet row b, which did not change */

    KILN_ARRAY_OF(kiln_vertex_source)
    vertices;
    KILN_ARRAY_OF(kiln_vertex_gone)
    gone;
    KILN_ARRAY_OF(kiln_transfer_group)
    groups;
    kiln_u32_array group_of; /* [target], then [heir] */
    kiln_u32_array member;   /* tets by group */
    KILN_ARRAY_OF(kiln_transfer_share)
    shares; /* the first of each source, then others */
    KILN_ARRAY_OF(kiln_transfer_gain)
    gains; /* of targets and heirs, then those of the balance */
    KILN_ARRAY_OF(kiln_transfer_field)
    fields[KILN_WHERE_COUNT];
    const kiln_transfer_field *mass, *density; /* of the tets; NULL: not given */
} kiln_transfer_job;

/* Tets of different bodies, regions or neighbourhoods do not exchange anything. */
KILN_INLINE bool kiln_transfer_compatible(const kiln_transfer_tet *source,
                                          const kiln_transfer_tet *target)
{
    return source->region == target->region && source->cluster == target->cluster &&
           source->body == target->body;
}
KILN_INLINE kiln_vec3 kiln_transfer_centroid(const kiln_vec3 corner[4])
{
    return kiln_v3_scale(
        kiln_v3_add(kiln_v3_add(corner[0], corner[1]), kiln_v3_add(corner[2], corner[3])), 0.25);
}
KILN_INLINE char *kiln_transfer_row(const kiln_transfer_field *field, uint32_t row)
{
    return field->to->data + (size_t)row * field->to->stride;
}
/* True for rules and types that are means of doubles. */
bool kiln_transfer_is_linear(const kiln_field *field);
/* Of the linear function with these values at the corners; zero for a flat tet. */
kiln_vec3 kiln_transfer_gradient(const kiln_vec3 corner[4], const double value[4]);
/* Old columns anew: logging a row may have moved the archive. */
void kiln_transfer_refresh(kiln_transfer_job *job);

/* transfer_changes.c: fills sources, targets, vertices and gone. */
kiln_status kiln_transfer_collect_pass(kiln_transfer_job *job, kiln_error *error);
kiln_status kiln_transfer_collect_all(kiln_transfer_job *job, kiln_error *error);

/* transfer_overlap.c: trees; then overlaps, covered, strays and heirs. */
kiln_status kiln_transfer_plant_trees(kiln_transfer_job *job, kiln_error *error);
kiln_status kiln_transfer_find_overlaps(kiln_transfer_job *job, kiln_error *error);

/* transfer_places.c: where vertices were. */
kiln_status kiln_transfer_place_pass(kiln_transfer_job *job, kiln_error *error);
kiln_status kiln_transfer_place_all(kiln_transfer_job *job, kiln_error *error);
/* Heirs of the vertices that are gone. */
void kiln_transfer_find_heirs(kiln_transfer_job *job);

/* transfer_vertices.c, transfer_tets.c, transfer_faces.c: the rules. */
void kiln_transfer_vertices(kiln_transfer_job *job);
kiln_status kiln_transfer_tets(kiln_transfer_job *job, kiln_error *error);
kiln_status kiln_transfer_faces(kiln_transfer_job *job, kiln_error *error);
/* transfer_amounts.c: the rule conserve for tets. */
kiln_status kiln_transfer_amounts(const kiln_transfer_job *job, const kiln_transfer_field *field,
                                  kiln_error *error);

/* transfer_groups.c: after tets. */
kiln_status kiln_transfer_find_groups(kiln_transfer_job *job, kiln_error *error);
/* World positions of a source, then; of a tet, now; relative to `from`. */
void kiln_transfer_old_corners(const kiln_transfer_job *job, uint32_t source, kiln_vec3 from,
                               kiln_vec3 r[4]);
void kiln_transfer_new_corners(const kiln_transfer_job *job, uint32_t tet, kiln_vec3 from,
                               kiln_vec3 r[4]);
/* A small group's tets and a layer more across their faces, or as many as make them so many;
 * ascending. */
kiln_status kiln_transfer_tets_near(const kiln_transfer_job *job, uint32_t group, size_t least,
                                    kiln_u32_array *tets, kiln_error *error);
/* The corners of a group's tets; or all of the part it is of. */
kiln_status kiln_transfer_set_of_group(const kiln_transfer_job *job, uint32_t group,
                                       kiln_transfer_set *set, kiln_error *error);
kiln_status kiln_transfer_set_of_part(const kiln_transfer_job *job, uint32_t group,
                                      kiln_transfer_set *set, kiln_error *error);
void kiln_transfer_set_free(kiln_context *context, kiln_transfer_set *set);
KILN_INLINE uint32_t kiln_transfer_set_index(const kiln_transfer_set *set, uint32_t vertex)
{
    const kiln_idset_slot *slot = kiln_idset_at(&set->number, vertex);
    return slot->epoch == set->number.epoch ? slot->value : KILN_NONE;
}

/* transfer_balance.c: after groups. */
kiln_status kiln_transfer_balance(kiln_transfer_job *job, kiln_error *error);

/* transfer_momentum.c: after the balance and vertices. */
kiln_status kiln_transfer_momentum(kiln_transfer_job *job, kiln_error *error);
/* transfer_motion.c: `change` [index][component] kg m/s is put into a field of velocities, and then
 * what is left to make up for in each group; into `impulse` instead unless that is NULL. Indices
 * are those of `number`, by vertex. */
kiln_status kiln_transfer_motion(kiln_transfer_job *job, const kiln_transfer_field *field,
                                 const kiln_field *impulse, const kiln_idset *number,
                                 const double *change, kiln_error *error);
/* transfer_project.c: likewise. */
kiln_status kiln_transfer_project(kiln_transfer_job *job, kiln_error *error);
/* Mass of a tet before and after, kg. */
double kiln_transfer_source_mass(const kiln_transfer_job *job, const kiln_transfer_tet *source);
double kiln_transfer_target_mass(const kiln_transfer_job *job, uint32_t tet);

#endif
