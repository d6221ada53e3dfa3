/* Plastic offsets: where the rest shape of a tet differs from its shape in the material (DLR 3.1).
 *
 * Pi maps rest space to material space, F = Dw Dm^-1 Pi. Isotropic matter does not know how the
 * rest frame is turned, so what is kept is G = Pi Pi', which lives in the space that is remeshed
 * and can be carried over by its logarithm (docs/decisions.md). Only the shape of G counts; the
 * size of Pi follows from the volumes, det Pi = V_material / V_rest, so nothing can drift. State is
 * two tet fields of the mesh: "offset", G up to a factor (rule spd-log), and "rest_volume", m^3
 * (rule conserve). A mesh without them has Pi = I everywhere. */
#ifndef KILN_FEM_OFFSET_H
#define KILN_FEM_OFFSET_H

#include "geom/sym3.h"
#include "mesh/changes.h"

#include <math.h>
#include <string.h>

#define KILN_FIELD_OFFSET      "offset"
#define KILN_FIELD_REST_VOLUME "rest_volume"

/* The two columns, [tet slot]; both NULL where the mesh has none. Valid until the mesh changes. */
typedef struct kiln_offsets {
    kiln_sym3 *shape;
    double *rest_volume;
} kiln_offsets;

/* Adds the fields where they are missing, with Pi = I. */
kiln_status kiln_offsets_add(kiln_mesh *mesh, kiln_error *error);
kiln_offsets kiln_offsets_of(const kiln_mesh *mesh);

KILN_INLINE bool kiln_offset_is_identity(const kiln_sym3 *shape)
{
    const kiln_sym3 identity = kiln_sym3_identity();
    return memcmp(shape, &identity, sizeof identity) == 0;
}
/* Scaled to det 1, so that many changes neither grow nor shrink it. */
KILN_INLINE kiln_sym3 kiln_offset_unit(kiln_sym3 shape)
{
    double d = kiln_sym3_det(shape) - 1.0;
    /* det^(-1/3) to a few digits is enough near 1: the factor does not matter. */
    double scale = fabs(d) < 1e-4 ? 1.0 - d / 3.0 : 1.0 / cbrt(1.0 + d);
    return kiln_sym3_scale(shape, scale);
}
/* The symmetric Pi of a tet; exactly I where the shape is I and the volumes are the same. */
kiln_mat3 kiln_offset_map(const kiln_sym3 *shape, double volume, double rest_volume);

/* The material goes to other places (relaxation, or `u` = mesh->x where history is all in Pi) while
 * every rest shape stays: G <- A G A' with A = Dm' Dm^-1, so F F' is unchanged to rounding. Tets
 * that do not move keep their bits. KILN_ERR_STATE, with nothing changed, when a tet would not be
 * positive by the exact predicate. Not in a pass or transaction. Out of memory only inside a step
 * (mesh/rewind.h), which is to be taken back then. */
kiln_status kiln_offsets_follow(kiln_mesh *mesh, const kiln_vec3 *u, kiln_error *error);

/* After a transfer. Tets whose sources all had Pi = I have it exactly: their rest volume is what
 * they have in the material. The difference to what the transfer gave them (surfaces that are not
 * flat lose or gain a little) is booked in *gained, m^3. */
void kiln_offsets_settle(kiln_mesh *mesh, double *gained);
/* The same at the cost of the changed tets, where the others were settled before: same bits. */
void kiln_offsets_settle_changed(kiln_mesh *mesh, const kiln_changes *changes, double *gained);

#endif
