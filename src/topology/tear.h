/* Tearing: matter is divided across the pull on it (SLI 7.1; liquids-algorithms 7).
 *
 * A tet at the surface is cut by the plane through its middle that the pull goes straight across.
 * A surface edge of it with less than 60 degrees of air, the tip of a slit, is a snap edge: the
 * plane contains it. With none the edges that the plane crosses are divided, with one the edge
 * across from it, with two that meet the face that has both is taken as it is, else the two faces
 * that have them all. The cut goes on in that plane from its rim, whose edges are snap edges to the
 * tets ahead, as long as these are pulled enough across it: by their own stress, and by what those
 * behind let go of and hand on. Only then is all of it opened (topology/open.h), the mesh made
 * manifold, and the sides part a little; the rest of their surface takes up the room. SLI opens tet
 * by tet, which halves an edge at the rim each time, and takes another plane for every tet: where
 * the field is uneven such sheets wind, pass each other and leave bridges. Here a tear bends from
 * one call to the next.
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
    /* Pa, that pulls a tet apart across a plane, likewise. */
    double (*across)(void *user, const kiln_mesh *mesh, uint32_t tet, kiln_vec3 normal);
    /* A tet ahead of one that was cut gets what that had; NULL: nothing is handed on. */
    kiln_verdict (*hand_on)(void *user, kiln_txn *txn, uint32_t tet, kiln_pull pull);
    kiln_tet_predicate may; /* tets that may be divided; NULL: all */
    void *user;             /* of these four */
    double stress;          /* Pa: below, nothing tears */
    double least;           /* m^2: smaller tears that take nothing apart are refused */
    uint32_t most;          /* tets that are cut */
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
    bool apart;     /* it went through: nothing is left for it to go on in */
} kiln_tear_report;

/* From a tet with a face or an edge on the surface. Volume changes by the parting alone, as far as
 * the rest cannot take it up. KILN_REFUSED_JUDGED where no cut from it is good enough, or its sides
 * cannot part. All or nothing.
 */
kiln_verdict kiln_tear(kiln_txn *txn, uint32_t tet, const kiln_tear_how *how,
                       kiln_tear_report *report);

#endif
