/* A mesh improved from begin to end of its passes: sizes first where there is a field of them, then
 * quality, and the fields of the mesh carried over. */
#ifndef KILN_REMESH_IMPROVE_SIZED_H
#define KILN_REMESH_IMPROVE_SIZED_H

#include "remesh/size_control_adapt.h"

typedef struct kiln_improve_request {
    kiln_remesh_options remesh; /* its sizing field is not looked at */
    kiln_improve_options improve;
    double ridge_angle; /* radians: edges that turn by more are features, besides creases between
                           flat facets (remesh/facets.h); 0: as the mesh was built */
    double longest;     /* edges in sizes that are split; 0: the preset (remesh/size_control.h) */
    bool stretched;     /* shapes count in the field's metric to the end, that of a thin body */
    bool keep_sizes;    /* the field is for shapes alone: no size control */
    bool move_again;    /* of a mesh at rest the surface may move all the same */
    bool whole;         /* the whole mesh as good as it gets; else tets below the goal only */
} kiln_improve_request;

/* Finishes a field of what is wanted: on curved surfaces no longer edges than their band allows,
 * and a change of size by a ratio, mostly this, from edge to edge away from there. */
#define KILN_IMPROVE_RATIO 1.5
kiln_status kiln_improve_finish_sizing(const kiln_mesh *mesh, kiln_space space, kiln_sizing *field,
                                       double ratio, kiln_error *error);

/* `field` NULL: sizes stay as they are, and `adapted` all zero. The field must be of the mesh as it
 * is now. */
kiln_status kiln_improve_sized(kiln_mesh *mesh, const kiln_improve_request *request,
                               const kiln_sizing *field, kiln_improve_report *report,
                               kiln_adapt_report *adapted, kiln_error *error);

#endif
