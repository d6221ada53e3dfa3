/* Random points in a cube, as in the tests of mesh improvement: corners, points on the edges and on
 * the faces as dense as inside, and the rest inside, joined by Delaunay tets. */
#include "io/fill.h"

#include "base/random.h"
#include "mesh/shape_build.h"

enum { RANDOM_POINTS, RANDOM_SIZE, RANDOM_SEED };

/* A point on the part of the cube where the axes not in `free_axes` are at the given ends. */
static kiln_vec3 sample(kiln_random *random, double size, unsigned free_axes, unsigned ends)
{
    double x[3];
    for (unsigned axis = 0; axis < 3; axis++)
        x[axis] = free_axes >> axis & 1 ? size * kiln_random_unit(random)
                                        : (ends >> axis & 1 ? size : 0.0);
    return kiln_v3(x[0], x[1], x[2]);
}

static kiln_status add_samples(kiln_soup *cloud, kiln_random *random, double size, uint32_t count,
                               unsigned free_axes, unsigned ends, kiln_error *error)
{
    for (uint32_t i = 0; i < count; i++)
        KILN_TRY(kiln_array_push(cloud->context, &cloud->points,
                                 sample(random, size, free_axes, ends), error));
    return KILN_OK;
}

static kiln_status make_cloud(kiln_soup *cloud, const kiln_shape_values *values, kiln_error *error)
{
    double count = values->number[RANDOM_POINTS], size = values->number[RANDOM_SIZE];
    kiln_random random = kiln_random_start((uint64_t)values->number[RANDOM_SEED], 0);
    /* Points at a mean distance of 1/n of the side. */
    double n = cbrt(count);
    uint32_t on_edge = (uint32_t)n, on_face = (uint32_t)(n * n);
    while (8 + 12.0 * on_edge + 6.0 * on_face > 0.75 * count && on_face + on_edge > 0) {
        on_face -= on_face ? on_face / 8 + 1 : 0;
        on_edge -= on_edge > 0;
    }
    double rest = count - 8 - 12.0 * on_edge - 6.0 * on_face;
    for (unsigned ends = 0; ends < 8; ends++)
        KILN_TRY(add_samples(cloud, &random, size, 1, 0, ends, error));
    for (unsigned axis = 0; axis < 3; axis++)
        for (unsigned ends = 0; ends < 8; ends++)
            if (!(ends >> axis & 1))
                KILN_TRY(add_samples(cloud, &random, size, on_edge, 1u << axis, ends, error));
    for (unsigned axis = 0; axis < 3; axis++)
        for (unsigned end = 0; end < 2; end++)
            KILN_TRY(
                add_samples(cloud, &random, size, on_face, 7u & ~(1u << axis), end << axis, error));
    return add_samples(cloud, &random, size, rest > 0 ? (uint32_t)rest : 0, 7, 0, error);
}

typedef struct cube {
    const kiln_soup *soup;
    double size;
} cube;

static int32_t cube_patch(void *user, const uint32_t v[3])
{
    const cube *c = user;
    for (int axis = 0; axis < 3; axis++)
        for (int end = 0; end < 2; end++) {
            int on = 1;
            for (int i = 0; i < 3; i++) {
                kiln_vec3 p = c->soup->points.data[v[i]];
                double x = axis == 0 ? p.x : axis == 1 ? p.y : p.z;
                on &= x == (end ? c->size : 0.0);
            }
            if (on)
                return 2 * axis + end + 1;
        }
    return 0;
}

static kiln_status generate(const kiln_shape_values *values, kiln_soup *soup, kiln_error *error)
{
    kiln_soup cloud;
    kiln_soup_init(&cloud, soup->context);
    kiln_fill_options options = kiln_fill_default_options();
    kiln_status status = make_cloud(&cloud, values, error);
    if (status == KILN_OK)
        status = kiln_fill_points(&cloud, &options, soup, error);
    kiln_soup_free(&cloud);
    KILN_TRY(status);
    cube c = {soup, values->number[RANDOM_SIZE]};
    return kiln_shape_surface(soup, cube_patch, &c, error);
}

static const kiln_shape_param params[] = {
    [RANDOM_POINTS] = {"points", KILN_PARAM_COUNT, 1000, 8, 1e7, NULL,
                       "number of points, those on the surface included"},
    [RANDOM_SIZE] = {"size", KILN_PARAM_NUMBER, 1, 1e-6, 1e6, NULL, "side of the cube"},
    [RANDOM_SEED] = {"seed", KILN_PARAM_COUNT, 1, 0, 1e15, NULL, "another seed, another mesh"},
};

const kiln_shape kiln_shape_random = {
    "random",
    "random points in a cube with a corner at the origin, joined by Delaunay tets (runs tetgen)",
    "1 -x, 2 +x, 3 -y, 4 +y, 5 -z, 6 +z",
    params,
    sizeof params / sizeof params[0],
    generate,
};

const kiln_shape *kiln_generator_at(size_t row)
{
    size_t count;
    const kiln_shape *const *shapes = kiln_shapes(&count);
    return row < count ? shapes[row] : row == count ? &kiln_shape_random : NULL;
}

kiln_status kiln_generator_find(const char *name, const kiln_shape **out, kiln_error *error)
{
    const kiln_shape *all[32];
    size_t count = 0;
    while (count < 32 && (all[count] = kiln_generator_at(count)))
        count++;
    return kiln_shape_find(all, count, name, out, error);
}
