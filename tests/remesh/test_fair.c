/* Noise of a surface goes, its volume and what is smooth stay. */
#include "base/random.h"
#include "fixtures.h"
#include "remesh/fair.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

typedef struct rig {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_vec3 *shift;
    uint8_t *open;
    size_t moved;
} rig;

static kiln_vec3 anywhere(const void *user, uint32_t vertex, kiln_vec3 direction)
{
    (void)user, (void)vertex;
    return direction;
}

/* Between walls: within them what lies at one. */
static kiln_vec3 between_walls(const void *user, uint32_t vertex, kiln_vec3 direction)
{
    kiln_vec3 u = ((const kiln_mesh *)user)->u[vertex];
    direction.x = u.x == 0.0 || u.x == 1.0 ? 0.0 : direction.x;
    direction.y = u.y == 0.0 || u.y == 1.0 ? 0.0 : direction.y;
    return direction;
}

static rig start(const char *shape, const char *settings)
{
    rig r = {.context = kiln_test_context(1)};
    r.mesh = kiln_test_mesh(r.context, shape, settings);
    r.shift = malloc(r.mesh->table[KILN_ON_VERTEX].used * sizeof *r.shift);
    r.open = malloc(r.mesh->table[KILN_ON_FACE].used);
    for (uint32_t f = 0; f < r.mesh->table[KILN_ON_FACE].used; f++)
        r.open[f] = 1;
    return r;
}

static void stop(rig *r)
{
    free(r->shift);
    free(r->open);
    kiln_mesh_destroy(r->mesh);
    kiln_context_destroy(r->context);
}

static double volume_of(const rig *r)
{
    double sum = 0.0;
    for (uint32_t t = 0; t < r->mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = r->mesh->tet[t].v;
        const kiln_vec3 *x = r->mesh->x;
        sum +=
            kiln_v3_dot(kiln_v3_cross(kiln_v3_sub(x[v[1]], x[v[0]]), kiln_v3_sub(x[v[2]], x[v[0]])),
                        kiln_v3_sub(x[v[3]], x[v[0]])) /
            6.0;
    }
    return sum;
}

static void fair(rig *r, kiln_vec3 (*may_go)(const void *, uint32_t, kiln_vec3))
{
    const kiln_fair_options options = {r->open, may_go, r->mesh, 0.0};
    memset(r->shift, 0, r->mesh->table[KILN_ON_VERTEX].used * sizeof *r->shift);
    ck_assert_int_eq(kiln_fair(r->mesh, &options, r->shift, &r->moved, NULL), KILN_OK);
    for (uint32_t v = 0; v < r->mesh->table[KILN_ON_VERTEX].used; v++)
        r->mesh->x[v] = kiln_v3_add(r->mesh->x[v], r->shift[v]);
}

/* A ball keeps its bits, and so does one of another shape. */
START_TEST(what_is_smooth_stays)
{
    rig r = start("ball", "radius=1 h=0.25");
    fair(&r, anywhere);
    ck_assert_uint_eq(r.moved, 0);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
        r.mesh->x[v].x *= 1.8;
    fair(&r, anywhere);
    ck_assert_uint_eq(r.moved, 0);
    stop(&r);
}
END_TEST

/* The free top of a tank, its vertices up and down by a tenth of an edge. */
static double noise_of(const rig *r)
{
    double sum = 0.0;
    for (uint32_t v = 0; v < r->mesh->table[KILN_ON_VERTEX].used; v++)
        if (r->mesh->u[v].z == 0.5)
            sum += (r->mesh->x[v].z - 0.5) * (r->mesh->x[v].z - 0.5);
    return sqrt(sum);
}

START_TEST(noise_goes_and_volume_stays)
{
    rig r = start("box", "lx=1 ly=1 lz=0.5 nx=8 ny=8 nz=4 pattern=mirrored");
    for (uint32_t f = 0; f < r.mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t at = r.mesh->face[f].at;
        for (int k = 0; k < 3; k++)
            r.open[f] &= r.mesh->u[r.mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]].z == 0.5;
    }
    kiln_random noise_at = kiln_random_start(7, 0);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
        if (r.mesh->u[v].z == 0.5)
            r.mesh->x[v].z += kiln_random_range(&noise_at, -0.0125, 0.0125);
    double volume = volume_of(&r), noise = noise_of(&r);
    for (int i = 0; i < 10; i++)
        fair(&r, between_walls);
    ck_assert_double_lt(noise_of(&r), 0.7 * noise);
    ck_assert_double_eq_tol(volume_of(&r), volume, 1e-7);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = r.mesh->u[v], x = r.mesh->x[v];
        if (u.x == 0.0 || u.x == 1.0)
            ck_assert_double_eq(x.x, u.x);
        if (u.y == 0.0 || u.y == 1.0)
            ck_assert_double_eq(x.y, u.y);
        if (u.z < 0.5)
            ck_assert(x.x == u.x && x.y == u.y && x.z == u.z);
    }
    stop(&r);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("fair");
    TCase *c = kiln_test_case(suite, "all");
    tcase_add_test(c, what_is_smooth_stays);
    tcase_add_test(c, noise_goes_and_volume_stays);
    return suite;
}
