/* The state of a remeshing pass: what is judged, what is cached, and how proposals become changes.
 *
 * An operator looks at the mesh and fills a *proposal* (remesh/proposal.h): tets that go, tets that
 * come, at most one new vertex. It changes nothing, so proposals can be made on several threads,
 * each with a workspace of its own. kiln_remesher_apply is the one place where a proposal becomes a
 * replacement; it also keeps the columns that live beside the mesh for the length of the pass:
 *
 *   R1  quality[t] is the score of live tet t at its present place, INFINITY for any other row
 *   R2  side[v] describes the begin-of-pass surround of live vertex v: how it may move, its quadric
 *   R3  both are set back bit by bit when the transaction they were changed in is rolled back
 *
 * Scores are taken in one space (material by default; tets with KILN_MARK_WORLD in x, see
 * remesh/space.h); positions in the other follow by interpolation in the mesh as it was at the
 * begin of the pass. */
#ifndef KILN_REMESH_REMESHER_H
#define KILN_REMESH_REMESHER_H

#include "base/arena.h"
#include "geom/tet_quality.h"
#include "mesh/replace.h"
#include "mesh/walk.h"
#include "remesh/judge.h"
#include "remesh/quadric.h"

typedef enum kiln_freedom {
    KILN_FREE,       /* inside */
    KILN_ON_PLANE,   /* of a flat facet: axis is its normal */
    KILN_ON_SURFACE, /* of a curved one: axis is its mean normal */
    KILN_ON_LINE,    /* a straight feature: axis is its direction */
    KILN_ON_CURVE,   /* a curved feature: axis is its direction */
    KILN_FIXED
} kiln_freedom;

typedef struct kiln_vertex_side {
    kiln_quadric quadric; /* of surface and interface faces at the begin; zero inside */
    kiln_vec3 begin;      /* where it was (or, made on the surface, would have been) then */
    kiln_vec3 axis;
    uint32_t hint; /* a begin-of-pass tet near it */
    uint32_t freedom;
    uint32_t world; /* all its tets count in x; only in mixed passes */
} kiln_vertex_side;

/* A place proposed for a vertex, in both spaces, with what is known about it. */
typedef struct kiln_place {
    kiln_vec3 u, x;
    kiln_sym3 metric; /* only with a sizing field */
    kiln_vertex_side side;
} kiln_place;

/* Stands for the proposed vertex in lists of corners. */
#define KILN_PROPOSED 0xFFFFFFFEu

/* One row per operator: enum name, name in reports. */
#define KILN_OPERATOR_TABLE(X)                                                                     \
    X(KILN_OP_SMOOTHING, "smoothing")                                                              \
    X(KILN_OP_EDGE_REMOVAL, "edge removal")                                                        \
    X(KILN_OP_FACE_REMOVAL, "face removal")                                                        \
    X(KILN_OP_INSERTION, "insertion")                                                              \
    X(KILN_OP_EDGE_CONTRACTION, "edge contraction")                                                \
    X(KILN_OP_FACE_CONTRACTION, "face contraction")                                                \
    X(KILN_OP_TET_CONTRACTION, "tet contraction")                                                  \
    X(KILN_OP_SPLIT, "split")

typedef enum kiln_operator {
#define KILN_OPERATOR_ENUM(name, text) name,
    KILN_OPERATOR_TABLE(KILN_OPERATOR_ENUM)
#undef KILN_OPERATOR_ENUM
        KILN_OP_COUNT
} kiln_operator;

const char *kiln_operator_name(kiln_operator kind);

/* What one thread needs to make proposals. */
typedef struct kiln_workspace {
    kiln_walker walker;
    kiln_arena arena; /* released by the caller of a propose function */
    bool failed;      /* out of memory; a proposal or change was not made. Never taken back */
    uint64_t attempts[KILN_OP_COUNT];
} kiln_workspace;

/* To be returned by a propose function that ran out of memory. */
KILN_INLINE bool kiln_workspace_fail(kiln_workspace *workspace)
{
    workspace->failed = true;
    return false;
}

typedef struct kiln_operator_count {
    uint64_t attempts, successes;
} kiln_operator_count;

/* Who says whether triangles may take the place of others in the surface, as they are in the world.
 * Asked on all threads, last. `vertex` is one of the old ones. */
typedef struct kiln_surface_guard {
    const void *self; /* borrowed */
    bool (*allows)(const void *self, uint32_t vertex, const kiln_vec3 (*old)[3], size_t old_count,
                   const kiln_vec3 (*fresh)[3], size_t fresh_count);
} kiln_surface_guard;

typedef struct kiln_remesh_options {
    kiln_measure measure;
    kiln_space space; /* where quality counts, of tets without KILN_MARK_WORLD */
    kiln_surface_mode surface;
    const struct kiln_sizing *sizing; /* NULL: no metric. Borrowed, of the mesh as it is now */
    /* The metric is for sizes alone. Shapes count as they are, without it, in both spaces: a tet is
     * as good as it is where it is worse. Only where quality counts in the material. */
    bool both_shapes;
    /* Bodies may coincide in the space, as in the material of a run: where others are is nothing to
     * the surface of one. */
    bool bodies_coincide;
    /* [tet] equivalent plastic strain, NULL: nothing flows. Where matter has flowed its surface is
     * what the vertices say, not the faces between them: splits and flips that make it smoother
     * are not held to its band (kiln_remesher_has_flowed). Borrowed, of the mesh as it is now */
    const double *flowed;
    /* Scores are multiplied by the part of its volume that a tet has in the other space, where that
     * is less than all. For matter that keeps its volume: it shows tets that collapse there while a
     * metric, which is smooth over several, does not see them. */
    bool volume_elsewhere;
    /* Where the pass puts a vertex in the material, it is put in the world on the curve of what is
     * around (remesh/bend.h), not on the chord. Only where quality counts in the material alone. */
    bool bend_elsewhere;
    double edge_limit[2]; /* quality makes no edge beyond these lengths in the metric unless the old
                             ones were; only with a sizing field */
    const kiln_surface_guard *guard; /* of the surface in the world, NULL: none. Borrowed */
    double band; /* how far curved surfaces may move, in the usual bands (remesh/surface.h) */
    const kiln_judge *judge; /* who says what is worth making. NULL: quality. Borrowed */
    const struct kiln_surface
        *held; /* a surface before (kiln_surface_freeze) whose band is not left
                  either, so that passes do not add up. NULL: none. Borrowed */
} kiln_remesh_options;

kiln_remesh_options kiln_remesh_default_options(void);

typedef struct kiln_quality_entry {
    uint32_t tet;
    double quality;
} kiln_quality_entry;
typedef struct kiln_side_entry {
    uint32_t vertex;
    kiln_vertex_side side;
    kiln_sym3 metric;
} kiln_side_entry;

typedef struct kiln_remesher {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_remesh_options options;
    kiln_judge judge; /* in office: that of the options, with the figures of the pass under way */
    bool one_space;   /* u and x are the same bits everywhere */
    bool mixed;       /* some tets count in options.space, some in x (remesh/space.h) */

    /* Beside the mesh's columns; capacity follows the tables. */
    kiln_f64_array quality; /* [tet] */
    KILN_ARRAY_OF(kiln_vertex_side)
    side; /* [vertex] */
    KILN_ARRAY_OF(kiln_sym3)
    metric; /* [vertex]; only with a sizing field */
    KILN_ARRAY_OF(kiln_mat3)
    gradient;                     /* [vertex at the begin], of x by u; empty: nothing is bent */
    struct kiln_surface *surface; /* the begin-of-pass surface (remesh/surface.h) */

    /* Old contents of the columns above, newest last. */
    KILN_ARRAY_OF(kiln_quality_entry)
    quality_log;
    KILN_ARRAY_OF(kiln_side_entry)
    side_log;

    kiln_u32_array changed;   /* tets made or reshaped by the last apply or move */
    uint32_t vertex_made;     /* by the last apply or move, or KILN_NONE */
    kiln_workspace workspace; /* of the calling thread */
    kiln_workspace *workers;  /* [context->threads], for passes that propose in parallel */
    uint64_t successes[KILN_OP_COUNT];
    uint64_t effort_end; /* kiln_remesher_effort at which repairs give up; 0: never */
} kiln_remesher;

/* Has the matter at a vertex flowed by so much that it has no shape to return to? */
double kiln_remesher_flowed(const kiln_remesher *remesher, uint32_t vertex); /* as options say */
bool kiln_remesher_has_flowed(const kiln_remesher *remesher, uint32_t vertex);

/* KILN_ERR_INPUT when the model is so large or so small that sixth powers of its lengths are no
 * longer numbers. */
kiln_status kiln_remesh_in_range(const kiln_mesh *mesh, kiln_space space, kiln_error *error);

/* Begins a pass: opens the archive, classifies how vertices may move, scores every tet. Not inside
 * a transaction. Refuses what kiln_remesh_in_range does. The mesh keeps its archive until
 * kiln_remesher_end. */
kiln_status kiln_remesher_begin(kiln_mesh *mesh, const kiln_remesh_options *options,
                                kiln_remesher *out, kiln_error *error);
/* Ends the pass; the archive goes (transfer comes before). Cannot fail. */
void kiln_remesher_end(kiln_remesher *remesher);
/* Ends it with the mesh as it was at the begin (kiln_archive_rollback). Cannot fail. */
void kiln_remesher_abandon(kiln_remesher *remesher);

/* The judge of the options, or quality with theirs. */
kiln_judge kiln_remesher_judge(const kiln_remesher *remesher);

/* Attempts and successes so far. */
kiln_operator_count kiln_remesher_count(const kiln_remesher *remesher, kiln_operator kind);
/* All attempts so far in those of edge removal, about a microsecond each. Does not depend on the
 * number of threads. */
uint64_t kiln_remesher_effort(const kiln_remesher *remesher);
bool kiln_remesher_is_spent(
    const kiln_remesher *remesher); /* effort_end is reached, or nobody waits */

void kiln_workspace_init(kiln_workspace *workspace, kiln_context *context);
void kiln_workspace_free(kiln_workspace *workspace);

/* Transactions with the columns beside the mesh. They nest. Running out of memory is remembered in
 * remesher->workspace.failed, here and in every change. */
typedef struct kiln_pass_mark {
    kiln_txn txn;
    size_t qualities, sides; /* logged before it */
} kiln_pass_mark;
kiln_pass_mark kiln_remesher_mark(kiln_remesher *remesher); /* txn.depth 0: out of memory */
kiln_verdict kiln_remesher_keep(kiln_remesher *remesher, kiln_pass_mark *mark); /* or undo */
void kiln_remesher_undo(kiln_remesher *remesher, kiln_pass_mark *mark);

/* Where the quality of a live tet, and of one that takes its place, counts. */
KILN_INLINE kiln_space kiln_remesher_space(const kiln_remesher *remesher, uint32_t tet)
{
    return remesher->mixed && remesher->mesh->info[tet].marks & KILN_MARK_WORLD
               ? KILN_SPACE_WORLD
               : remesher->options.space;
}

/* Position in the space of the options. */
KILN_INLINE const kiln_vec3 *kiln_remesher_points(const kiln_remesher *remesher)
{
    return kiln_mesh_positions(remesher->mesh, remesher->options.space);
}

/* Position of a proposed place there. */
KILN_INLINE kiln_vec3 kiln_place_point(const kiln_remesher *remesher, const kiln_place *place)
{
    return remesher->options.space == KILN_SPACE_WORLD ? place->x : place->u;
}

/* Completes a place from its position p in the space of the options: the other space, the metric,
 * the tet of the begin-of-pass mesh. With side.world p is its position in both. place->side.hint
 * must hold a tet to start from. The rest of the side is the caller's (kiln_surface_* for places on
 * the surface, zero inside). */
void kiln_remesher_locate(const kiln_remesher *remesher, kiln_vec3 p, kiln_place *place);

/* The score of a tet by its corners; one may be KILN_PROPOSED, standing for `place`. */
double kiln_remesher_score_in(const kiln_remesher *remesher, kiln_space space,
                              const kiln_place *place, const uint32_t v[4]);
/* score > threshold, to the bit, but cheaper: most refusals cost no root. */
bool kiln_remesher_score_above(const kiln_remesher *remesher, kiln_space space,
                               const kiln_place *place, const uint32_t v[4], double threshold);
/* Whether the tet would be positive in the other space; true in one_space. */
bool kiln_remesher_valid_elsewhere(const kiln_remesher *remesher, kiln_space space,
                                   const kiln_place *place, const uint32_t v[4]);
/* The score in the space of the options. */
KILN_INLINE double kiln_remesher_score(const kiln_remesher *remesher, const kiln_place *place,
                                       const uint32_t v[4])
{
    return kiln_remesher_score_in(remesher, remesher->options.space, place, v);
}
/* The score of a live tet. */
KILN_INLINE double kiln_remesher_score_tet(const kiln_remesher *remesher, uint32_t tet)
{
    return kiln_remesher_score_in(remesher, kiln_remesher_space(remesher, tet), NULL,
                                  remesher->mesh->tet[tet].v);
}

/* Length of an edge where quality counts, in the metric if there is one; either end may be
 * KILN_PROPOSED. The same to the bit from both ends. */
double kiln_remesher_edge_length(const kiln_remesher *remesher, const kiln_place *place, uint32_t a,
                                 uint32_t b);

/* The columns beside the mesh get room for that many more rows. */
kiln_status kiln_remesher_reserve(kiln_remesher *remesher, size_t vertices, size_t tets,
                                  kiln_error *error);
/* Logged writes of the columns beside the mesh; room must be reserved. */
void kiln_remesher_set_quality(kiln_remesher *remesher, uint32_t tet, double quality);
void kiln_remesher_set_side(kiln_remesher *remesher, uint32_t vertex, const kiln_place *place);

/* Least quality of the tets listed. */
double kiln_remesher_worst(const kiln_remesher *remesher, const uint32_t *tets, size_t count);

/* A vertex goes to another place; `changed` becomes its star. Refused where a tet would not be
 * positive, and the quality is not judged. */
kiln_verdict kiln_remesher_move(kiln_remesher *remesher, uint32_t vertex, const kiln_place *place);
/* The same, but taken back where a tet would be below `floor` and below the worst of the star. */
bool kiln_remesher_move_above(kiln_remesher *remesher, uint32_t vertex, const kiln_place *place,
                              double floor);

#endif
