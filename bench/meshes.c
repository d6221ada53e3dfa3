#include "base/random.h"
#include "bench/meshes.h"
#include "mesh/build.h"
#include "mesh/shapes.h"
#include "remesh/delaunay.h"

static kiln_status random_points(kiln_soup *soup, uint32_t count, uint64_t seed, kiln_error *error)
{
    kiln_random random = kiln_random_start(seed, 0);
    KILN_TRY(kiln_array_reserve(soup->context, &soup->points, count + 8, error));
    for (uint32_t i = 0; i < 8; i++)
        soup->points.data[soup->points.count++] = kiln_v3(i & 1, i >> 1 & 1, i >> 2);
    for (uint32_t i = 0; i < count; i++) {
        double x = kiln_random_unit(&random), y = kiln_random_unit(&random);
        soup->points.data[soup->points.count++] = kiln_v3(x, y, kiln_random_unit(&random));
    }
    return KILN_OK;
}

static kiln_status join_points(kiln_soup *soup, kiln_error *error)
{
    kiln_delaunay delaunay = {0};
    kiln_status status =
        kiln_delaunay_build(&delaunay, soup->context, soup->points.data, soup->points.count, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(soup->context, &soup->tets, delaunay.tets.count, error);
    for (size_t t = 0; t < delaunay.tets.count && status == KILN_OK; t++) {
        const uint32_t *v = delaunay.tets.data[t].v;
        soup->tets.data[soup->tets.count++] = (kiln_soup_tet){{v[0], v[1], v[2], v[3]}};
    }
    kiln_delaunay_destroy(&delaunay);
    return status;
}

kiln_status kiln_bench_random_mesh(kiln_context *context, uint32_t points, uint64_t seed,
                                   kiln_mesh **out, kiln_error *error)
{
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    kiln_status status = random_points(&soup, points, seed, error);
    if (status == KILN_OK)
        status = join_points(&soup, error);
    if (status == KILN_OK)
        status = kiln_mesh_build(context, &soup, NULL, out, NULL, error);
    kiln_soup_free(&soup);
    return status;
}

kiln_status kiln_bench_shape(kiln_context *context, const char *name, int settings,
                             const char *const *setting, kiln_mesh **out, kiln_error *error)
{
    size_t count;
    const kiln_shape *const *shapes = kiln_shapes(&count);
    const kiln_shape *shape;
    KILN_TRY(kiln_shape_find(shapes, count, name, &shape, error));
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    kiln_status status = kiln_shape_make(shape, settings, setting, &soup, error);
    if (status == KILN_OK)
        status = kiln_mesh_build(context, &soup, NULL, out, NULL, error);
    kiln_soup_free(&soup);
    return status;
}
