#include "app/mesh_thin.h"
#include "geom/tet_quality.h"

static const double BAD = 0.3;

kiln_status kiln_thin_options(const kiln_arguments *arguments, kiln_thin_mode *mode,
                              uint32_t *layers, kiln_error *error)
{
    static const char *const modes[] = {"never", "auto", "thin"};
    int chosen = KILN_THIN_AUTO, count = 1;
    KILN_TRY(kiln_arguments_choice(arguments, "anisotropic", modes, 3, &chosen, error));
    KILN_TRY(kiln_arguments_integer(arguments, "layers", 1, 1000, &count, error));
    *mode = (kiln_thin_mode)chosen;
    *layers = (uint32_t)count;
    return KILN_OK;
}

kiln_thin_tets kiln_thin_tets_find(const kiln_mesh *mesh, kiln_space space)
{
    const kiln_vec3 *p = kiln_mesh_positions(mesh, space);
    kiln_thin_tets thin = {.of = mesh->table[KILN_ON_TET].live};
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        uint32_t flags = KILN_VERTEX_SURFACE;
        double area = 0.0, edge = 0.0;
        for (int k = 0; k < 4 && kiln_tet_live(mesh, t); k++)
            flags &= mesh->vertex[v[k]].flags;
        if (!kiln_tet_live(mesh, t) || !flags ||
            kiln_tet_quality(&p[v[0]], &p[v[1]], &p[v[2]], &p[v[3]]) >= BAD)
            continue;
        for (uint32_t f = 0; f < 4; f++) {
            kiln_vec3 a = p[v[kiln_face_corner[f][0]]];
            kiln_vec3 b = kiln_v3_sub(p[v[kiln_face_corner[f][1]]], a);
            kiln_vec3 c = kiln_v3_sub(p[v[kiln_face_corner[f][2]]], a);
            area = fmax(area, 0.5 * kiln_v3_norm(kiln_v3_cross(b, c)));
            edge = fmax(edge, fmax(kiln_v3_norm(b), kiln_v3_norm(c)));
        }
        thin.count++;
        thin.height += 3.0 * kiln_tet_volume(p[v[0]], p[v[1]], p[v[2]], p[v[3]]) / area;
        thin.edge += edge;
    }
    thin.height /= (double)(thin.count ? thin.count : 1);
    thin.edge /= (double)(thin.count ? thin.count : 1);
    return thin;
}

static bool is_worth_a_word(const kiln_thin_tets *thin)
{
    return 10 * thin->count > thin->of;
}

void kiln_thin_tets_print(const kiln_thin_tets *thin, FILE *out)
{
    if (is_worth_a_word(thin))
        fprintf(
            out,
            "\n%zu tets below %g have all corners on the surface: the body is about %.3g thick "
            "there and their\n  edges up to %.3g long, which caps their quality; edges of about "
            "%.3g would not\n",
            thin->count, BAD, thin->height, thin->edge, 1.5 * thin->height);
}

void kiln_thin_tets_json(const kiln_thin_tets *thin, kiln_json *json)
{
    if (!is_worth_a_word(thin))
        return;
    kiln_json_object(json, "thin");
    kiln_json_count(json, "tets", thin->count);
    kiln_json_number(json, "thickness", thin->height);
    kiln_json_number(json, "edge", thin->edge);
    kiln_json_end(json);
}
