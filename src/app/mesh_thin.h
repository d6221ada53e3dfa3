/* What caps the quality of a thin body: tets that reach from one side of it to the other are as
 * flat as it is thin against their edges. */
#ifndef KILN_APP_MESH_THIN_H
#define KILN_APP_MESH_THIN_H

#include "app/arguments.h"
#include "io/json.h"
#include "remesh/thin.h"

/* The options --anisotropic and --layers. */
#define KILN_THIN_OPTIONS                                                                          \
    {"anisotropic", 0, "MODE",                                                                     \
     "tets stretched along plates and needles: auto (default), thin (wherever thin), never"},      \
    {                                                                                              \
        "layers", 0, "N", "of tets across what is thin, where they are stretched (default: 1)"     \
    }
kiln_status kiln_thin_options(const kiln_arguments *arguments, kiln_thin_mode *mode,
                              uint32_t *layers, kiln_error *error);

/* Of the bad tets with all corners on the surface. */
typedef struct kiln_thin_tets {
    size_t count, of;
    double height, edge; /* means: how thick the body is there, and their longest edge */
} kiln_thin_tets;

kiln_thin_tets kiln_thin_tets_find(const kiln_mesh *mesh, kiln_space space);
/* Where they are more than a tenth of all: what caps them, and what would not. */
void kiln_thin_tets_print(const kiln_thin_tets *thin, FILE *out);
void kiln_thin_tets_json(const kiln_thin_tets *thin, kiln_json *json);

#endif
