/* The inside of remeshing by energy, shared by energy_predict.c and energy_nodal.c (what is worth a
 * trial), energy_queue.c (which comes first), energy_vain.c (what was tried in vain),
 * energy_gain.c, energy_shape.c and energy_trial.c (how a change is judged), energy_inertia.c (what
 * the motion has to say to it), energy_settle.c (the begin of the step) and the operators:
 * energy_split.c, energy_flip.c, energy_move.c, energy_collapse.c.
 */
#ifndef KILN_STEP_ENERGY_IMPL_H
#define KILN_STEP_ENERGY_IMPL_H

#include "remesh/proposal.h"
#include "step/energy_remesh.h"
#include "step/nodes.h"

enum {
    KILN_ENERGY_RING = 64,
    KILN_ENERGY_SLOTS = 32, /* splits that are judged side by side */
};

typedef struct kiln_energy_candidate {
    double gain;
    uint32_t a, b; /* a < b */
} kiln_energy_candidate;

/* What a tet gives to the predictions of its edges. */
typedef struct kiln_energy_slopes {
    double mass, pace;    /* kg; 1/s^2, of inertia and drag */
    kiln_vec3 dead;       /* N, of loads on all of it */
    kiln_vec3 g[4], r[4]; /* N: of its elastic energy; m/s^2: of inertia and drag */
    double H[4][6];       /* N/m, diagonal blocks: xx, xy, xz, yy, yz, zz */
} kiln_energy_slopes;
/* With nodal pressure, what it gives to nodes: its part, and by its corners V dtheta, m^2. */
typedef struct kiln_energy_dilation {
    kiln_node part;
    kiln_vec3 d[4];
} kiln_energy_dilation;
typedef enum kiln_energy_known {
    KILN_ENERGY_UNKNOWN,
    KILN_ENERGY_KNOWN,
    KILN_ENERGY_SHAPELESS,
} kiln_energy_known;

/* A split that is judged without being made. */
typedef struct kiln_energy_slot {
    kiln_energy_candidate edge; /* its gain is the prediction of now */
    uint32_t tet, corner[2];
    kiln_patch patch;
    bool legal;
    double gained; /* J */
} kiln_energy_slot;

/* What a change is judged by. */
typedef struct kiln_energy_trial {
    double before, least; /* J: of the tets that go, and what it must gain */
    double nearest;       /* kiln_vicinity_nearest of them */
    double shape;         /* and the worst quality that one has at the end of the step */
    double begin;         /* J, what they store at the step's begin, */
    double rise;          /* and by how much the tets that come store more */

    double drag;   /* J, of inertia, that the tets that come do not know of */
    double gained; /* J, of one that was taken */
    /* The end of the step of a vertex that is made or moved begins as this mean of others. */
    uint32_t parent[4];
    double weight[4];
    int parents;
    uint32_t middle[4]; /* free is what is round these, and round that vertex */
    int middles;
    bool keeps_begin; /* no more of `begin` is lost than a collapse may cost */
    bool may_rest;    /* what gains enough before anything has moved is taken as it is, */
    bool rests;       /* and has been: the whole is solved again after all */
    const kiln_energy_slot *judged; /* has been, on the mesh as it is; NULL: it is to be */
} kiln_energy_trial;

/* Flips were looked at and gained nothing, then; until predictions round the tet exceed this. */
typedef struct kiln_energy_flat {
    double error, clock; /* over what a split must gain; clock of the mesh, 0: never */
} kiln_energy_flat;
typedef enum kiln_energy_flips {
    KILN_ENERGY_EDGES,
    KILN_ENERGY_FACES,
    KILN_ENERGY_FLIPS,
} kiln_energy_flips;

typedef struct kiln_energy_pass {
    kiln_remesher *remesher;
    kiln_local_objective *objective;
    const kiln_energy_options *options;
    kiln_energy_report *report;
    kiln_patch patch;
    kiln_vicinity vicinity;  /* of what goes and comes */
    kiln_u32_array changing; /* vertices of that */
    KILN_ARRAY_OF(kiln_energy_candidate)
    heap, aside;          /* largest gain first, ties by number; scratch */
    size_t budget, left;  /* trials of a sweep, by the survey; of the one that is being made */
    double waits;         /* J: splits that promise less wait for the next call */
    kiln_u32_array depth; /* [vertex] */
    /* [tet][6], [vertex][2], [vertex][2]: columns of energy_vain.c, or NULL */
    double *vain, *still, *needed;
    kiln_energy_flat (*flat)[KILN_ENERGY_FLIPS]; /* [tet], likewise */
    kiln_u32_array stamp;    /* [vertex] clock of the last change there, as of kiln_energy_stamp */
    kiln_f64_array error_at; /* J, [vertex] at the survey: the largest gain of an edge there */
    KILN_ARRAY_OF(kiln_energy_slopes)
    slopes; /* [tet] where `known` */
    KILN_ARRAY_OF(uint8_t)
    known; /* [tet] kiln_energy_known */
    KILN_ARRAY_OF(kiln_energy_dilation)
    dilations; /* [tet], as the slopes, where there is nodal pressure; and of that */
    KILN_ARRAY_OF(kiln_node)
    nodes; /* [vertex][material] where `node_known` */
    KILN_ARRAY_OF(uint8_t)
    node_known;              /* [vertex] */
    kiln_energy_slot *slots; /* [KILN_ENERGY_SLOTS] */
    kiln_u32_array around;   /* scratch: vertices */
    kiln_idset seen;
    kiln_idset near; /* vertices whose places count for splits that are judged side by side */
    KILN_ARRAY_OF(kiln_vec3)
    pace; /* m/s^2, [vertex] of the matter there, by the solution before anything has changed */
    kiln_u32_array settling; /* vertices made or moved, some twice */
    kiln_walker walker;
    kiln_walker node_walker; /* while that one is read */
    kiln_energy_trial trial;
    kiln_status status;
    kiln_error *error;
} kiln_energy_pass;

/* Gains of all edges of the mesh, those worth it pushed; in parallel. */
kiln_status kiln_energy_survey(kiln_energy_pass *pass, kiln_error *error);
/* Of one edge, from slopes that are kept. */
double kiln_energy_foresee(kiln_energy_pass *pass, uint32_t tet, uint32_t corner_a,
                           uint32_t corner_b);
/* Slopes of these that are not known, together. */
kiln_status kiln_energy_know(kiln_energy_pass *pass, const uint32_t *tets, size_t count);
/* Tets that have changed, or whose corners have. */
void kiln_energy_forget(kiln_energy_pass *pass, const uint32_t *tets, size_t count);
bool kiln_energy_is_worth(const kiln_energy_pass *pass, uint32_t tet, uint32_t corner_a,
                          uint32_t corner_b, double gain);

/* Nodal pressure; where there is none these do nothing. The tets round an edge, all that are: */
typedef struct kiln_energy_round {
    uint32_t end[2], count, tet[KILN_ENERGY_RING];
    const kiln_energy_dilation *dilation[KILN_ENERGY_RING];
    kiln_node (*node_of)(void *user, uint32_t vertex, uint32_t material); /* as they are */
    void *user;
} kiln_energy_round;
kiln_energy_dilation kiln_energy_dilation_of(const kiln_local_objective *objective, uint32_t tet);
/* What a split adds to gradient and Hessian by the way of its vertex; returns by how much the
 * energy falls before that goes, J. */
double kiln_energy_add_nodes(const kiln_local_objective *objective, const kiln_energy_round *round,
                             kiln_vec3 *g, double H[6]);
/* Of the nodes that the pass knows, without tets yet. */
kiln_energy_round kiln_energy_round_of(const kiln_energy_pass *pass, uint32_t a, uint32_t b);
kiln_status kiln_energy_reserve_nodes(kiln_energy_pass *pass);
void kiln_energy_survey_nodes(kiln_energy_pass *pass); /* all, when all tets are known */
kiln_status kiln_energy_know_nodes(kiln_energy_pass *pass, const uint32_t *ring, uint32_t count);
void kiln_energy_forget_nodes(kiln_energy_pass *pass, const uint32_t *tets, size_t count);
void kiln_energy_free_nodes(kiln_energy_pass *pass);

/* What a trial of this edge has found of what was predicted, 0: none was made since something round
 * the edge has changed. */
double kiln_energy_vain(const kiln_energy_pass *pass, uint32_t tet, uint32_t corner_a,
                        uint32_t corner_b);
void kiln_energy_note_vain(kiln_energy_pass *pass, uint32_t tet, uint32_t corner_a,
                           uint32_t corner_b, double found);
/* When something last happened at each vertex: before the two that follow are asked. */
kiln_status kiln_energy_stamp(kiln_energy_pass *pass);
/* Whether a vertex has been looked at, found to be at its best, and nothing has happened there
 * since. */
bool kiln_energy_is_still(const kiln_energy_pass *pass, uint32_t vertex);
void kiln_energy_note_still(const kiln_energy_pass *pass, uint32_t vertex, double gain,
                            double least);
/* They have moved, or tets of theirs are others. */
void kiln_energy_stir(const kiln_energy_pass *pass, const uint32_t *vertices, size_t count);
/* Whether it could not be spared, and nothing has happened there since. */
bool kiln_energy_is_needed(const kiln_energy_pass *pass, uint32_t vertex);
void kiln_energy_note_needed(const kiln_energy_pass *pass, uint32_t vertex, double cost,
                             double most);

/* Whether flips of this kind at the tet have been looked at in vain, and nothing has happened to it
 * since. */
bool kiln_energy_is_flat(const kiln_energy_pass *pass, uint32_t tet, kiln_energy_flips kind);
void kiln_energy_note_flat(const kiln_energy_pass *pass, uint32_t tet, kiln_energy_flips kind,
                           double gain, double least);

void kiln_energy_push(kiln_energy_pass *pass, kiln_energy_candidate candidate);
kiln_energy_candidate kiln_energy_pop(kiln_energy_pass *pass);

/* Makes the change and keeps it if it is worth it (E1, E2). The trial says by what, but for
 * `before`, which is found here. */
bool kiln_energy_try(kiln_energy_pass *pass, const kiln_proposal *proposal,
                     kiln_energy_count *count);
/* The same without being a trial. */
bool kiln_energy_make(kiln_energy_pass *pass, const kiln_proposal *proposal,
                      kiln_energy_count *count);
bool kiln_energy_try_move(kiln_energy_pass *pass, uint32_t vertex, const kiln_place *place,
                          kiln_energy_count *count);
kiln_judge kiln_energy_judge(kiln_energy_pass *pass);
/* No tet becomes worse than `quality`, or than the worst that goes: bodies thinner than their edges
 * have no better ones. */
bool kiln_energy_keeps_shape(const kiln_energy_pass *pass, double before, double after);
/* The worst quality of these at the end of the step, and whether a change may make it so. */
double kiln_energy_end_shape(const kiln_energy_pass *pass, const uint32_t *tets, size_t count);
bool kiln_energy_ends_well(const kiln_energy_pass *pass, double before, double after);
/* Before anything has moved: by a change between vertices that are there; by a split, which is not
 * hopeless. */
bool kiln_energy_flip_ends_well(const kiln_energy_pass *pass, const kiln_proposal *proposal);
bool kiln_energy_split_may_end_well(const kiln_energy_pass *pass, uint32_t tet, uint32_t corner_a,
                                    uint32_t corner_b);
/* Columns anew, after the mesh may have grown. */
void kiln_energy_look(kiln_energy_pass *pass);
/* The vertices of the tets at these vertices in pass->around, without repetition. */
kiln_status kiln_energy_list_around(kiln_energy_pass *pass, const uint32_t *vertices, size_t count);
/* Newton on a patch, as far as it promises: J gained with `change` before anything has moved. */
double kiln_energy_relax(const kiln_energy_pass *pass, kiln_patch *patch, double change,
                         double least);
/* Weights of a tet's corners at a place in the material; returns the least. Nobody asks for those
 * of which one is not `more`. */
double kiln_energy_weights(const kiln_vec3 u[4], kiln_vec3 p, double more, double weight[4]);
/* J by which the objective falls at once by a change between vertices that are there; `before` is
 * that of what goes, and loads on faces are left to the trial. `drag` is asked for where there is
 * more than `least` without. */
double kiln_energy_gain(const kiln_local_objective *objective, kiln_walker *walker,
                        const kiln_proposal *proposal, double before, double least, double *drag);
/* J, what tets between vertices that are there store at the step's begin, without nodal pressure;
 * static: nothing is begun with. */
double kiln_energy_begin(const kiln_local_objective *objective, const kiln_new_tet *tets,
                         size_t count);
/* J, what inertia takes of the gain of a change between vertices that are there; never less than
 * nothing. */
double kiln_energy_drag(const kiln_local_objective *objective, const kiln_proposal *proposal);
/* A tet that has the edge, and its corners there. */
bool kiln_energy_find_edge(kiln_energy_pass *pass, uint32_t a, uint32_t b, uint32_t *tet,
                           uint32_t corner[2]);

/* How matter is accelerated before anything has changed; and at a vertex that is made or moved, by
 * the weights of others. */
kiln_status kiln_energy_note_paces(kiln_energy_pass *pass);
void kiln_energy_note_fresh(kiln_energy_pass *pass, uint32_t vertex, const uint32_t *parent,
                            const double *weight, int parents);
/* The begin of the step at those, after all changes. */
void kiln_energy_settle(kiln_energy_pass *pass);

/* One sweep of an operator; they stop early at pass->status. */
void kiln_energy_split(kiln_energy_pass *pass);
void kiln_energy_flip(kiln_energy_pass *pass);
void kiln_energy_move(kiln_energy_pass *pass);
void kiln_energy_collapse(kiln_energy_pass *pass);

#endif
