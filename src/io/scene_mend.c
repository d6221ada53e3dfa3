/* Meshes of files that Kiln would refuse, mended for scenes. */
#include "geom/predicates.h"
#include "io/scene_reader.h"
#include "mesh/build.h"
#include "topology/import.h"

#include <stdlib.h>
#include <string.h>

#define APART 0.1 /* of the way to the middle of its tets, at most */

typedef struct spot {
    kiln_vec3 at;
    uint32_t point;
} spot;
typedef KILN_ARRAY_OF(spot)
spot_array;

static int by_place(const void *one, const void *other)
{
    const spot *a = one, *b = other;
    int order = (a->at.x > b->at.x) - (a->at.x < b->at.x);
    order = order ? order : (a->at.y > b->at.y) - (a->at.y < b->at.y);
    order = order ? order : (a->at.z > b->at.z) - (a->at.z < b->at.z);
    return order ? order : (a->point > b->point) - (a->point < b->point);
}

static bool is_same_place(const spot *a, const spot *b)
{
    return a->at.x == b->at.x && a->at.y == b->at.y && a->at.z == b->at.z;
}

/* Points that are where another one is, to the front. */
static void keep_shared(spot_array *spots)
{
    size_t kept = 0, next;
    qsort(spots->data, spots->count, sizeof *spots->data, by_place);
    for (size_t i = 0; i < spots->count; i = next) {
        for (next = i + 1;
             next < spots->count && is_same_place(&spots->data[i], &spots->data[next]);)
            next++;
        for (size_t k = i; k < next && next > i + 1; k++)
            spots->data[kept++] = spots->data[k];
    }
    spots->count = kept;
}

static bool has_corner(const kiln_soup_tet *tet, uint32_t point)
{
    return tet->v[0] == point || tet->v[1] == point || tet->v[2] == point || tet->v[3] == point;
}

static bool are_positive(const kiln_soup *soup, uint32_t point)
{
    const kiln_vec3 *x = soup->points.data;
    for (size_t t = 0; t < soup->tets.count; t++) {
        const kiln_soup_tet *tet = &soup->tets.data[t];
        if (has_corner(tet, point) &&
            kiln_orient3d_sign(x[tet->v[0]], x[tet->v[1]], x[tet->v[2]], x[tet->v[3]]) <= 0)
            return false;
    }
    return true;
}

static void move_inward(kiln_soup *soup, uint32_t point)
{
    kiln_vec3 *x = soup->points.data, from = x[point], sum = {0, 0, 0};
    double count = 0.0;
    for (size_t t = 0; t < soup->tets.count; t++)
        for (int k = 0; k < 4 && has_corner(&soup->tets.data[t], point); k++, count += 1.0)
            sum = kiln_v3_add(sum, x[soup->tets.data[t].v[k]]);
    if (count == 0.0)
        return;
    kiln_vec3 middle = kiln_v3_scale(sum, 1.0 / count);
    for (double part = APART; part > 1e-3; part *= 0.5) {
        x[point] = kiln_v3_lerp(from, middle, part);
        if (are_positive(soup, point))
            return;
    }
    x[point] = from;
}

static kiln_status part_copies(kiln_soup *soup, kiln_error *error)
{
    spot_array spots = {0};
    KILN_TRY(kiln_array_reserve(soup->context, &spots, soup->points.count, error));
    for (size_t i = 0; i < soup->points.count; i++)
        spots.data[spots.count++] = (spot){soup->points.data[i], (uint32_t)i};
    keep_shared(&spots);
    for (size_t i = 0; i < spots.count; i++)
        move_inward(soup, spots.data[i].point);
    kiln_array_free(soup->context, &spots);
    return KILN_OK;
}

kiln_status kiln_scene_mend(kiln_context *context, const char *place, kiln_soup *soup,
                            kiln_error *error)
{
    kiln_mesh_options options = kiln_mesh_default_options();
    kiln_mesh_report report;
    kiln_mesh *mesh;
    options.policy = KILN_MESH_REPAIR;
    KILN_TRY(kiln_mesh_import(context, soup, place, &options, &mesh, &report, error));
    kiln_mesh_report_log(context, place, &report);
    kiln_soup_free(soup);
    kiln_status status = kiln_mesh_to_soup(mesh, soup, error);
    kiln_mesh_destroy(mesh);
    if (status == KILN_OK && report.vertices_split + report.edges_split + report.tunnels > 0)
        status = part_copies(soup, error);
    return status;
}
