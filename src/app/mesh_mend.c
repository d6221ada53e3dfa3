#include "app/mesh_mend.h"

#include "topology/import.h"

kiln_status kiln_mesh_mend(kiln_soup *soup, const char *path, double ridge_angle, kiln_mesh **mesh,
                           kiln_input_repairs *repairs, kiln_error *error)
{
    kiln_mesh_options options = kiln_mesh_default_options();
    options.policy = KILN_MESH_REPAIR;
    if (ridge_angle > 0.0)
        options.feature_angle = ridge_angle;
    KILN_TRY(kiln_soup_untangle(soup, &repairs->lists, error));
    return kiln_mesh_import(soup->context, soup, path, &options, mesh, &repairs->mesh, error);
}

enum { KINDS = 10 };
typedef struct repair_row {
    const char *what;
    size_t count;
} repair_row;

static void list_rows(const kiln_input_repairs *r, repair_row rows[KINDS])
{
    const repair_row all[KINDS] = {
        {"points in no tet left out", r->mesh.points_unused},
        {"triangles of no tet left out", r->mesh.triangles_unused},
        {"tets turned to the orientation of their neighbours", r->lists.turned},
        {"tets inverted or flat", r->lists.bad},
        {"flat tets peeled off the surface", r->lists.peeled},
        {"vertices moved to untangle them", r->lists.moved},
        {"tets given twice or with a corner twice dropped", r->mesh.tets_dropped},
        {"vertices copied where pieces only touched", r->mesh.vertices_split},
        {"edges halved where pieces only touched", r->mesh.edges_split},
        {"cuts between sheets that met in a vertex", r->mesh.tunnels}};
    for (int i = 0; i < KINDS; i++)
        rows[i] = all[i];
}

void kiln_input_repairs_print(const kiln_input_repairs *repairs, FILE *out)
{
    repair_row rows[KINDS];
    list_rows(repairs, rows);
    for (int i = 0; i < KINDS; i++)
        if (rows[i].count)
            fprintf(out, "input: %zu %s\n", rows[i].count, rows[i].what);
}

void kiln_input_repairs_json(const kiln_input_repairs *repairs, kiln_json *json)
{
    repair_row rows[KINDS];
    list_rows(repairs, rows);
    kiln_json_object(json, "input");
    for (int i = 0; i < KINDS; i++)
        if (rows[i].count)
            kiln_json_count(json, rows[i].what, rows[i].count);
    kiln_json_end(json);
}
