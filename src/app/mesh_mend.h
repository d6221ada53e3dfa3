/* Reading a mesh for a remeshing command: what is wrong with it is mended first, and told. */
#ifndef KILN_APP_MESH_MEND_H
#define KILN_APP_MESH_MEND_H

#include "io/json.h"
#include "mesh/build.h"
#include "remesh/untangle.h"

typedef struct kiln_input_repairs {
    kiln_untangle_report lists;
    kiln_mesh_report mesh;
} kiln_input_repairs;

/* The mesh of a soup read from `path`. The soup is untangled in place. Surface edges that
 * turn by more than `ridge_angle` are features, radians; 0: the usual. */
kiln_status kiln_mesh_mend(kiln_soup *soup, const char *path, double ridge_angle, kiln_mesh **mesh,
                           kiln_input_repairs *repairs, kiln_error *error);

/* A line for each kind of repair that was needed; as an object, a member for each. */
void kiln_input_repairs_print(const kiln_input_repairs *repairs, FILE *out);
void kiln_input_repairs_json(const kiln_input_repairs *repairs, kiln_json *json);

#endif
