/* The tets of a ball about a place in the matter, those just outside it, and the cut of least area
 * through them (maximal flow through faces): of what it keeps apart each side hangs together, so
 * that nothing crumbles off. */
#ifndef KILN_TOPOLOGY_BALL_H
#define KILN_TOPOLOGY_BALL_H

#include "mesh/walk.h"

/* Zero-initialise but for the context. */
typedef struct kiln_ball {
    kiln_context *context;
    kiln_u32_array tets; /* those in the ball, `inside` of them; then those just outside */
    size_t inside;
    kiln_idset place;     /* tet -> index into tets */
    kiln_u32_array end;   /* [index] which end of the ball it is, from 1 on; 0: none */
    kiln_u32_array queue; /* of indices */
    kiln_u32_array from;  /* [index] packed index*4+face it was reached through */
    kiln_f64_array room;  /* [index][4] what may still flow out through a face, m^2 */
} kiln_ball;

void kiln_ball_free(kiln_ball *ball);

/* What hangs together with a tet: the centres of its tets are no farther than `reach`, of those
 * outside no farther than `shell`. No ends. */
kiln_status kiln_ball_gather(kiln_ball *ball, const kiln_mesh *mesh, uint32_t tet, kiln_vec3 centre,
                             double reach, double shell, kiln_error *error);

/* The place of a tet in the list, or none. */
uint32_t kiln_ball_index(const kiln_ball *ball, uint32_t tet);

/* What lies across a face of a tet of the list: its index, or none; *back is the face there. */
uint32_t kiln_ball_across(const kiln_ball *ball, const kiln_mesh *mesh, uint32_t index,
                          uint32_t face, uint32_t *back);

/* How much more than its area a face costs a cut, by its middle. */
typedef double (*kiln_ball_cost)(const void *user, kiln_vec3 middle);

/* Keeps one end from all others. */
void kiln_ball_cut(kiln_ball *ball, const kiln_mesh *mesh, uint32_t end, kiln_ball_cost cost,
                   const void *user);

/* Whether a tet is on that end's side of the last cut. */
KILN_INLINE bool kiln_ball_reached(const kiln_ball *ball, uint32_t index)
{
    return ball->from.data[index] != KILN_NONE;
}

/* Area and direction of a face, packed as tet*4+face, out of its tet; its middle. */
kiln_vec3 kiln_face_area(const kiln_mesh *mesh, uint32_t at, kiln_vec3 *middle);

#endif
