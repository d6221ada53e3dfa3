/* Bodies that are plates or needles against the tets they are to have: whether these are stretched
 * along them, and how good they are then. */
#ifndef KILN_REMESH_THIN_H
#define KILN_REMESH_THIN_H

#include "remesh/sizing.h"

typedef enum kiln_thin_mode {
    KILN_THIN_NEVER, /* tets are as long as they are thick, or bad */
    KILN_THIN_AUTO,  /* stretched where such tets would be more than the body bears */
    KILN_THIN_ALWAYS /* stretched wherever it is thin */
} kiln_thin_mode;

typedef struct kiln_thin_request {
    kiln_thin_mode mode;
    kiln_thin_sizing sizes;
} kiln_thin_request;

/* A finished field for the mesh as it is now, or NULL: nothing is to be stretched. */
kiln_status kiln_thin_field(const kiln_mesh *mesh, kiln_space space,
                            const kiln_thin_request *request, kiln_sizing **out,
                            kiln_thin_report *report, kiln_error *error);

typedef struct kiln_metric_quality {
    double worst, mean;
} kiln_metric_quality;
/* Of the tets in the metric of a field, that of another mesh of the same body. */
kiln_status kiln_metric_quality_of(const kiln_mesh *mesh, kiln_space space,
                                   const kiln_sizing *field, kiln_metric_quality *out,
                                   kiln_error *error);

#endif
