/* Shape and nothing else counts: not where matter is, nor how it has turned. */
#include "remesh/reshaped.h"
#include "fixtures.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

typedef struct rig {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_vec3 *then;
} rig;

static rig start(int threads, double scale)
{
    rig r = {.context = kiln_test_context(threads)};
    r.mesh = kiln_test_mesh(r.context, "box", "n=8");
    size_t rows = r.mesh->table[KILN_ON_VERTEX].used;
    r.then = malloc(rows * sizeof *r.then);
    for (size_t v = 0; v < rows; v++)
        r.mesh->x[v] = r.then[v] = kiln_v3_scale(r.mesh->u[v], scale);
    return r;
}

static void stop(rig *r)
{
    free(r->then);
    kiln_mesh_destroy(r->mesh);
    kiln_context_destroy(r->context);
}

static const double scales[] = {1e-3, 1.0, 1e3};

START_TEST(test_motion_is_no_shape)
{
    rig r = start(2, scales[_i]);
    kiln_mat3 turn = kiln_m3_rotation(kiln_v3(0.6, 0.0, 0.8), 1.1);
    kiln_vec3 way = kiln_v3_scale(kiln_v3(3e5, -1e6, 2e5), scales[_i]);
    for (size_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
        r.mesh->x[v] = kiln_v3_add(kiln_m3_apply(turn, r.then[v]), way);
    ck_assert(!kiln_reshaped(r.mesh, r.then, 1e-6));
    stop(&r);
}
END_TEST

START_TEST(test_stretch_and_shear)
{
    rig r = start(1, scales[_i]);
    size_t rows = r.mesh->table[KILN_ON_VERTEX].used;
    for (size_t v = 0; v < rows; v++)
        r.mesh->x[v].x = 1.02 * r.then[v].x;
    ck_assert(!kiln_reshaped(r.mesh, r.then, 0.03));
    for (size_t v = 0; v < rows; v++)
        r.mesh->x[v].x = 1.04 * r.then[v].x;
    ck_assert(kiln_reshaped(r.mesh, r.then, 0.03));
    for (size_t v = 0; v < rows; v++)
        r.mesh->x[v].x = r.then[v].x + 0.1 * r.then[v].y;
    ck_assert(kiln_reshaped(r.mesh, r.then, 0.03));
    stop(&r);
}
END_TEST

/* One flat tet: its volume halves while no edge changes by a hundredth. */
START_TEST(test_volume)
{
    kiln_context *context = kiln_test_context(1);
    const kiln_vec3 at[4] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0.02}, {0, 1, 0.1}};
    const kiln_soup_tet tet[1] = {{{0, 1, 2, 3}}};
    kiln_mesh *mesh = kiln_test_mesh_of(context, 4, at, 1, tet, NULL, KILN_BUILD_STRICT);
    kiln_vec3 then[4];
    memcpy(then, mesh->x, sizeof then);
    mesh->x[3].z -= 0.04;
    ck_assert(kiln_reshaped(mesh, then, 0.03));
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("reshaped");
    TCase *tests = kiln_test_case(suite, "shapes");
    tcase_add_loop_test(tests, test_motion_is_no_shape, 0, 3);
    tcase_add_loop_test(tests, test_stretch_and_shear, 0, 3);
    tcase_add_test(tests, test_volume);
    return suite;
}
