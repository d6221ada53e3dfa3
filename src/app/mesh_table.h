/* What a remeshing command did to a mesh, as a table of before and after and as JSON. */
#ifndef KILN_APP_MESH_TABLE_H
#define KILN_APP_MESH_TABLE_H

#include "app/survey.h"
#include "io/json.h"
#include "remesh/thin.h"

/* Tets of `before` whose four corners (coordinates, bit by bit) are no tet of `after`. */
kiln_status kiln_changed_tets(const kiln_soup *before, const kiln_soup *after, size_t *changed,
                              kiln_error *error);

typedef struct kiln_mesh_comparison {
    const kiln_survey *before, *after;
    size_t changed;       /* kiln_changed_tets */
    double hausdorff;     /* m; NAN: not measured */
    double of_band;       /* the same as part of what the surface may move there; 0: not measured */
    double volume_change; /* m^3 */
    bool stretched;       /* tets are judged in the metric of a thin body, as good as that: */
    kiln_metric_quality metric_before, metric_after;
    double thickness;        /* m, of the body at its thinnest */
    double seconds, cpu;     /* wall and processor time of the work itself */
    double whole, whole_cpu; /* with reading, checking, comparing, writing; 0: not taken */
} kiln_mesh_comparison;

void kiln_mesh_table_print(const kiln_mesh_comparison *comparison, FILE *out);
/* The same figures as members of the object that is open. */
void kiln_mesh_table_json(const kiln_mesh_comparison *comparison, kiln_json *json);

/* 1234567 as 1,234,567. Returns `buffer`. */
const char *kiln_grouped(size_t value, char buffer[32]);

#endif
