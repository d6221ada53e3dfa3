/* A mesh brought to a sizing field that may be far from it: passes of size control and improvement,
 * each in a metric that asks for no more than the mesh can follow (kiln_sizing_approach), until the
 * field itself is reached. A hundred times finer in one direction than the mesh was takes about ten
 * passes, of which the last few do nearly all of the work. */
#ifndef KILN_REMESH_SIZE_CONTROL_ADAPT_H
#define KILN_REMESH_SIZE_CONTROL_ADAPT_H

#include "remesh/improve.h"
#include "remesh/size_control.h"
#include "remesh/sizing.h"

typedef struct kiln_adapt_options {
    kiln_remesh_options remesh; /* its sizing field is not looked at */
    kiln_size_options size;
    kiln_improve_options improve; /* repairs after the last pass */
    double step;                  /* finer than the mesh by no more than this in a pass: 2 */
    uint32_t passes;              /* at most */
    uint32_t settling;            /* of them in the field itself, at most */
} kiln_adapt_options;

kiln_adapt_options kiln_adapt_default_options(void);

typedef struct kiln_adapt_report {
    uint32_t passes;
    bool arrived; /* the last pass was in the field itself */
    size_t splits, contractions;
    kiln_edge_survey edges;      /* in the field itself, at the end */
    kiln_improve_report improve; /* of the repairs */
} kiln_adapt_report;

/* Fields of the mesh come along (remesh/transfer.h). The field must be of the mesh as it is now.
 * KILN_ERR_LIMIT, with the mesh untouched, when it asks for more tets than a mesh can have. Between
 * passes options->improve.progress may stop it: improve.stopped, and no survey of edges.
 * `options` NULL: the defaults; `report` may be NULL. */
kiln_status kiln_size_adapt(kiln_mesh *mesh, const kiln_sizing *field,
                            const kiln_adapt_options *options, kiln_adapt_report *report,
                            kiln_error *error);

#endif
