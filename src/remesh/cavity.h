/* The cavity round a point that is to become a vertex (Klingner and Shewchuk 2007).
 *
 * Some tets, the seeds, must go because the point splits them. Growing from them through faces
 * gives the largest set whose outside the point sees. A tet joins once all faces it turns away from
 * the point have been reached; the tets across those are its parents. Keeping a parent while the
 * child goes would leave an inverted tet on the face between, so the sets that can be dug out are
 * those that hold all parents of their members:
 *
 *   C1  a face between two tets of the graph is seen from exactly one side, the parent's
 *   C2  replacing a tet's corner opposite a seen face by the point gives a positive tet, in both
 *       spaces
 *   C3  no arc crosses a wall: surface, interface, marked face, locked tet
 *   C4  an edge vanishes only with a tet of two parents, a vertex only with one of three; marked
 *       edges and vertices that are not free do not
 *   C5  surface faces in the plane of a facet on which the point lies may be dissolved like the
 *       faces that it splits; for C4 they count as turned away */
#ifndef KILN_REMESH_CAVITY_H
#define KILN_REMESH_CAVITY_H

#include "remesh/proposal.h"

enum { KILN_DIG_ROOM = 256, KILN_DIG_OUTSIDE = 0xFFFF };

typedef struct kiln_dig_node {
    uint32_t tet;
    uint8_t depth;
    uint8_t seen;      /* bits of the faces that the point sees from inside */
    uint8_t split;     /* bits of the faces that are dissolved: the point lies in their plane */
    uint8_t parents;   /* how many */
    uint16_t child[4]; /* across each seen face: a node or KILN_DIG_OUTSIDE */
    uint16_t parent[4];
    double own;       /* the tet's score */
    double weight[4]; /* score of the tet that the point makes with each seen face */
    bool in;          /* chosen to go */
} kiln_dig_node;

typedef struct kiln_dig {
    uint32_t count, seeds; /* seeds come first */
    kiln_dig_node node[KILN_DIG_ROOM];
} kiln_dig;

/* Looks at the seeds' faces from the place. False where one would make a tet that is not positive.
 * Needs tet and split of each seed. */
bool kiln_dig_open(const kiln_remesher *remesher, const kiln_place *place, kiln_dig *dig);

/* How far the graph grows. */
typedef struct kiln_dig_limits {
    uint32_t depth;    /* tets outwards from the seeds */
    bool may_swallow;  /* vertices may go */
    uint32_t facet[2]; /* surface faces of the facets on which the point lies (C5) */
    int facets;
    bool curved; /* faces that look about the same way are in the facet; the shape that results is
                    for the caller to judge */
} kiln_dig_limits;

/* Grows the graph from open seeds. False when out of memory. */
bool kiln_dig_grow(const kiln_remesher *remesher, kiln_workspace *workspace,
                   const kiln_place *place, const kiln_dig_limits *limits, kiln_dig *dig);

/* Scores what the point would make with every seen face. */
void kiln_dig_score(const kiln_remesher *remesher, const kiln_place *place, kiln_dig *dig);

/* Chooses the set, closed under parents and with all seeds, for which the sorted scores of new tets
 * and of nodes that stay are best, worst first. Needs children, parents and scores. */
void kiln_dig_choose(kiln_dig *dig);

#endif
