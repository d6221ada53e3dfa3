/* The inside of remeshing by energy, shared by energy_predict.c (what is worth a trial),
 * energy_trial.c (how a change is judged) and the operators: energy_split.c, energy_flip.c,
 * energy_move.c, energy_collapse.c. */
#ifndef KILN_STEP_ENERGY_IMPL_H
#define KILN_STEP_ENERGY_IMPL_H

#include "remesh/proposal.h"
#include "step/energy_remesh.h"

enum { KILN_ENERGY_RING = 64 };

typedef struct kiln_energy_candidate {
    double gain;
    uint32_t a, b; /* a < b */
} kiln_energy_candidate;

/* What a change is judged by. */
typedef struct kiln_energy_trial {
    double before, least; /* J: of the tets that go, and what it must gain */
    double gained;        /* J, of one that was taken */
    /* The end of the step of a vertex that is made or moved begins as this mean of others. */
    uint32_t parent[4];
    double weight[4];
    int parents;
    uint32_t middle[4]; /* free is what is round these, and round that vertex */
    int middles;
} kiln_energy_trial;

typedef struct kiln_energy_pass {
    kiln_remesher *remesher;
    kiln_local_objective *objective;
    const kiln_energy_options *options;
    kiln_energy_report *report;
    kiln_patch patch;
    kiln_vicinity near;      /* of what goes and comes */
    kiln_u32_array changing; /* vertices of that */
    KILN_ARRAY_OF(kiln_energy_candidate)
    heap;                  /* largest gain first, ties by number */
    kiln_u32_array depth;  /* [vertex] */
    kiln_u32_array around; /* scratch: vertices */
    kiln_idset seen;
    kiln_walker walker;
    kiln_energy_trial trial;
    kiln_status status;
    kiln_error *error;
} kiln_energy_pass;

/* Gains of all edges of the mesh, those worth it pushed; in parallel. */
kiln_status kiln_energy_survey(kiln_energy_pass *pass, kiln_error *error);
bool kiln_energy_is_worth(const kiln_energy_pass *pass, uint32_t a, uint32_t b, double gain);
void kiln_energy_push(kiln_energy_pass *pass, kiln_energy_candidate candidate);
kiln_energy_candidate kiln_energy_pop(kiln_energy_pass *pass);

/* Makes the change and keeps it if it is worth it (E1, E2). The trial says by what, but for
 * `before`, which is found here. */
bool kiln_energy_try(kiln_energy_pass *pass, const kiln_proposal *proposal,
                     kiln_energy_count *count);
bool kiln_energy_try_move(kiln_energy_pass *pass, uint32_t vertex, const kiln_place *place,
                          kiln_energy_count *count);
kiln_judge kiln_energy_judge(kiln_energy_pass *pass);
/* A tet that has the edge, and its corners there. */
bool kiln_energy_find_edge(kiln_energy_pass *pass, uint32_t a, uint32_t b, uint32_t *tet,
                           uint32_t corner[2]);

/* One sweep of an operator; they stop early at pass->status. */
void kiln_energy_split(kiln_energy_pass *pass);
void kiln_energy_flip(kiln_energy_pass *pass);
void kiln_energy_move(kiln_energy_pass *pass);
void kiln_energy_collapse(kiln_energy_pass *pass);

#endif
