#include "broken.h"

#include "fixtures.h"
#include "support.h"

void kiln_test_turn(kiln_soup *soup, uint64_t seed)
{
    kiln_random random = kiln_random_start(seed, 1);
    double q[4], length = 0;
    for (int i = 0; i < 4; i++) {
        q[i] = kiln_random_range(&random, -1, 1) + 1e-3;
        length += q[i] * q[i];
    }
    for (int i = 0; i < 4; i++)
        q[i] /= sqrt(length);
    kiln_vec3 axis = {q[1], q[2], q[3]};
    for (size_t i = 0; i < soup->points.count; i++) {
        kiln_vec3 p = soup->points.data[i];
        kiln_vec3 t = kiln_v3_scale(kiln_v3_cross(axis, p), 2);
        soup->points.data[i] = kiln_v3_add(kiln_v3_madd(p, q[0], t), kiln_v3_cross(axis, t));
    }
}

typedef struct breaking {
    kiln_soup *out;
    kiln_random random;
    double missing, turned, noise;
} breaking;

static double bell(kiln_random *random)
{
    return kiln_random_unit(random) + kiln_random_unit(random) + kiln_random_unit(random) - 1.5;
}

static void add(breaking *b, const kiln_vec3 p[3], kiln_vec3 shift)
{
    uint32_t first = (uint32_t)b->out->points.count;
    kiln_soup_triangle t = {{first, first + 1, first + 2}};
    if (kiln_random_unit(&b->random) < b->turned)
        t = (kiln_soup_triangle){{first, first + 2, first + 1}};
    for (int k = 0; k < 3; k++) {
        kiln_vec3 off = {bell(&b->random), bell(&b->random), bell(&b->random)};
        kiln_vec3 at = kiln_v3_add(kiln_v3_madd(p[k], 2 * b->noise, off), shift);
        ck_assert_int_eq(kiln_array_push(b->out->context, &b->out->points, at, NULL), KILN_OK);
    }
    ck_assert_int_eq(kiln_array_push(b->out->context, &b->out->triangles, t, NULL), KILN_OK);
}

static void add_body(breaking *b, const char *shape, const char *settings, double scale,
                     kiln_vec3 shift)
{
    kiln_soup solid = kiln_test_soup(b->out->context, shape, settings);
    kiln_test_turn(&solid, kiln_random_u64(&b->random));
    uint32_t middle = kiln_random_below(&b->random, (uint32_t)solid.triangles.count);
    kiln_vec3 hole = solid.points.data[solid.triangles.data[middle].v[0]];
    double radius = kiln_random_unit(&b->random) < 0.5 ? 0.0 : 0.25;
    for (size_t i = 0; i < solid.triangles.count; i++) {
        kiln_vec3 p[3];
        for (int k = 0; k < 3; k++)
            p[k] = solid.points.data[solid.triangles.data[i].v[k]];
        bool gone = kiln_v3_norm(kiln_v3_sub(p[0], hole)) < radius;
        if (gone || kiln_random_unit(&b->random) < b->missing)
            continue;
        for (int k = 0; k < 3; k++)
            p[k] = kiln_v3_scale(p[k], scale);
        add(b, p, shift);
        kiln_vec3 beside = {bell(&b->random), bell(&b->random), bell(&b->random)};
        if (kiln_random_unit(&b->random) < 0.03) /* the same again, beside itself */
            add(b, p, kiln_v3_madd(shift, 0.05, beside));
    }
    kiln_soup_free(&solid);
}

kiln_soup kiln_test_broken(kiln_context *context, uint64_t seed)
{
    static const char *const shapes[][2] = {{"ball", "radius=1 h=0.3"},
                                            {"box", "lx=1 ly=1 lz=1 n=4"},
                                            {"torus", "major=0.8 minor=0.35 h=0.25"},
                                            {"cylinder", "radius=0.5 height=2 h=0.25"},
                                            {"box", "lx=2 ly=1 lz=0.5 n=2"}};
    static const double missing[] = {0, 0.01, 0.05}, turned[] = {0, 0.02, 0.1, 0.3};
    static const double noise[] = {0, 1e-6, 1e-4, 2e-3, 1e-2};
    kiln_soup out;
    kiln_soup_init(&out, context);
    breaking b = {.out = &out, .random = kiln_random_start(seed, 0)};
    b.missing = missing[kiln_random_below(&b.random, 3)];
    b.turned = turned[kiln_random_below(&b.random, 4)];
    b.noise = noise[kiln_random_below(&b.random, 5)];
    const char *const *row = shapes[seed % 5];
    add_body(&b, row[0], row[1], 1.0, kiln_v3(0, 0, 0));
    if (kiln_random_unit(&b.random) < 0.5) {
        kiln_vec3 shift = {bell(&b.random), bell(&b.random), bell(&b.random)};
        row = shapes[kiln_random_below(&b.random, 3)];
        add_body(&b, row[0], row[1], 0.6, shift);
    }
    return out;
}
