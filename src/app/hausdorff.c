#include "app/hausdorff.h"

#include "app/skin.h"
#include "remesh/shape_change.h"

static kiln_status take_shape(const kiln_soup *soup, kiln_mesh_shape *out, kiln_error *error)
{
    kiln_skin skin = {0};
    kiln_status status = kiln_skin_collect(soup, NULL, &skin, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(soup->context, &out->triangles, skin.count + 1, error);
    for (size_t i = 0; i < 3 * skin.count && status == KILN_OK; i++)
        out->triangles.data[i / 3].p[i % 3] = soup->points.data[skin.data[i / 3].v[i % 3]];
    for (size_t i = 0; i < skin.count && status == KILN_OK; i++)
        out->triangles.data[i].interface = false;
    out->triangles.count = status == KILN_OK ? skin.count : 0;
    kiln_array_free(soup->context, &skin);
    return status;
}

kiln_status kiln_soup_hausdorff(const kiln_soup *a, const kiln_soup *b, double *out,
                                kiln_error *error)
{
    kiln_mesh_shape of_a = {0}, of_b = {0};
    kiln_shape_change change;
    kiln_status status = take_shape(a, &of_a, error);
    if (status == KILN_OK)
        status = take_shape(b, &of_b, error);
    if (status == KILN_OK)
        status = kiln_shape_compare(a->context, &of_a, &of_b, &change, error);
    if (status == KILN_OK)
        *out = change.hausdorff;
    kiln_mesh_shape_free(a->context, &of_a);
    kiln_mesh_shape_free(b->context, &of_b);
    return status;
}
