/* What of a body's surface is a feature in a run: by angle, and between flat facets at any. */
#include "scenes.h"
#include "sim/world_impl.h"

static kiln_context *context;
static kiln_scene scene_here, *const scene = &scene_here;

/* A house: the two sides of its roof turn by 23 degrees, and all is of one patch. */
static kiln_world *house(kiln_remesh_method method, double ridge_angle)
{
    context = kiln_test_context(1);
    kiln_scene_init(scene, context);
    snprintf(scene->file, sizeof scene->file, "house.lua");
    scene->duration = 1.0;
    scene_material(scene, "corotated", 1e5, 0.4, 1000);
    kiln_scene_body *body = scene_body(scene, "box", "n=4");
    for (size_t i = 0; i < body->mesh.points.count; i++) {
        kiln_vec3 *p = &body->mesh.points.data[i];
        p->z -= 0.2 * p->z * fabs(p->x - 0.5);
    }
    for (size_t i = 0; i < body->mesh.triangle_tags.count; i++)
        body->mesh.triangle_tags.data[i] = 1;
    scene->remesh.method = method;
    scene->remesh.ridge_angle = ridge_angle;
    return scene_world(scene);
}

/* Features along the ridge, m. */
static double ridge(kiln_world *world)
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    double sum = 0.0;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        for (int k = 0; k < 3; k++) {
            uint32_t at = mesh->face[f].at, t = at / 4;
            uint32_t a = kiln_face_corner[at % 4][k], b = kiln_face_corner[at % 4][(k + 1) % 3];
            kiln_vec3 p = mesh->u[mesh->tet[t].v[a]], q = mesh->u[mesh->tet[t].v[b]];
            bool feature = mesh->info[t].marks >> (KILN_MARK_FEATURE_EDGE + kiln_edge_of[a][b]) & 1;
            if (feature && p.x == 0.5 && q.x == 0.5 && p.z == 1.0 && q.z == 1.0)
                sum += 0.5 * fabs(q.y - p.y);
        }
    return sum;
}

START_TEST(facets_and_ridges)
{
    const struct {
        kiln_remesh_method method;
        double angle, length;
    } rows[] = {{KILN_REMESH_NONE, 45.0, 0.0},
                {KILN_REMESH_NONE, 20.0, 1.0},
                {KILN_REMESH_LOCAL, 45.0, 1.0},
                {KILN_REMESH_LOCAL, 20.0, 1.0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        kiln_world *world = house(rows[i].method, rows[i].angle);
        ck_assert_double_eq_tol(ridge(world), rows[i].length, 1e-9);
        kiln_world_destroy(world);
        kiln_scene_free(scene);
        kiln_context_destroy(context);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("features");
    tcase_add_test(kiln_test_case(suite, "features"), facets_and_ridges);
    return suite;
}
