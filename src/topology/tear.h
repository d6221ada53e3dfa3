/* Tearing: matter is divided across the pull on it (SLI 7.1; liquids-algorithms 7).
 *
 * A tet at the surface is cut by the plane through its middle that the pull goes straight across,
 * and the cut goes on from its rim, tet by tet, as long as those ahead are pulled enough: by their
 * own stress, and by what the tets behind let go of and hand on. An edge of the rim, or one at the
 * tip of a slit (air of less than 60 degrees), is a snap edge: the plane of the next tet contains
 * it. With none the edges that the plane crosses are divided, with one the edge across from it,
 * with two that meet the face that has both is taken as it is, else the two faces that have them
 * all. Only then is all of the cut opened (topology/open.h) and the mesh made manifold, and its
 * sides part a little. SLI opens tet by tet, which halves an edge at the rim each time.
 *
 * What pulls, viscous or elastic stress, is the caller's; so is what is kept of the rest of it. */
#ifndef KILN_TOPOLOGY_TEAR_H
#define KILN_TOPOLOGY_TEAR_H

#include "mesh/idset.h"
#include "topology/layer.h"

typedef struct kiln_pull {
    double stress;   /* Pa, the largest principal one, with what was handed on */
    kiln_vec3 along; /* unit */
} kiln_pull;

typedef struct kiln_tear_how {
    kiln_pull (*pull)(void *user, const kiln_mesh *mesh, uint32_t tet);
    /* A tet ahead of one that was cut gets what that had; NULL: nothing is handed on. */
    kiln_verdict (*hand_on)(void *user, kiln_txn *txn, uint32_t tet, kiln_pull pull);
    kiln_tet_predicate may; /* tets that may be divided; NULL: all */
    void *user;             /* of these three */
    double stress;          /* Pa: below, nothing tears */
    uint32_t most;          /* tets that are cut at most */
    double quality;         /* no tet that is made has less, or is worse than the one it was of */
    double part;            /* of an edge at the cut: how far its sides part in all; 0: not */
    int32_t tag;            /* of the new surface */
    /* The part of a way that a vertex of the mesh as it is may go; NULL: all of it. */
    kiln_vec3 (*may_go)(const void *user, uint32_t vertex, kiln_vec3 way);
    const void *going;
} kiln_tear_how;

typedef struct kiln_tear_report {
    uint32_t cut;   /* tets */
    uint32_t faces; /* that were opened */
    uint32_t since; /* the mesh's clock before */
    double area;    /* m^2, of one side */
} kiln_tear_report;

/* From a tet with a face or an edge on the surface. Volume changes by the parting alone.
 * KILN_REFUSED_JUDGED where no cut from it is good enough, or its sides cannot part. All or
 * nothing.
 */
kiln_verdict kiln_tear(kiln_txn *txn, uint32_t tet, const kiln_tear_how *how,
                       kiln_tear_report *report);

#endif
