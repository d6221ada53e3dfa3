/* What of a body's surface is a feature in a run: by angle, and between flat facets at any. */
#include "scenes.h"
#include "sim/held_tets.h"
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

/* A bar of dough of one cell across: every vertex is on one of its edges. */
static kiln_world *bar(bool one_patch)
{
    context = kiln_test_context(1);
    kiln_scene_init(scene, context);
    snprintf(scene->file, sizeof scene->file, "bar.lua");
    scene->duration = 1.0;
    scene_material(scene, "corotated", 1e5, 0.4, 1000);
    scene->materials.data[0].base.plastic =
        (kiln_plastic){.flows = true, .yield = 1e3, .rate = 20.0};
    kiln_scene_body *body = scene_body(scene, "box", "lx=2 ly=0.2 lz=0.2 nx=10 ny=1 nz=1");
    for (size_t i = 0; i < body->mesh.triangle_tags.count && one_patch; i++)
        body->mesh.triangle_tags.data[i] = 1;
    scene->remesh.method = KILN_REMESH_GLOBAL;
    return scene_world(scene);
}

/* Feature edges beside the middle of the bar, or elsewhere, each twice. */
static size_t features(const kiln_mesh *mesh, bool middle)
{
    size_t count = 0;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        for (int k = 0; k < 3; k++) {
            uint32_t at = mesh->face[f].at, t = at / 4;
            uint32_t a = kiln_face_corner[at % 4][k], b = kiln_face_corner[at % 4][(k + 1) % 3];
            double x = 0.5 * (mesh->u[mesh->tet[t].v[a]].x + mesh->u[mesh->tet[t].v[b]].x);
            count += (mesh->info[t].marks >> (KILN_MARK_FEATURE_EDGE + kiln_edge_of[a][b]) & 1) &&
                     (fabs(x - 1.0) < 0.15) == middle;
        }
    return count;
}

/* Brings the vertices of two edges in the middle of the bar together, but for a little. */
static void squeeze(kiln_mesh *mesh)
{
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (fabs(mesh->u[v].x - 1.0) < 1e-9 && mesh->u[v].z > 0.1)
            mesh->x[v].z = 0.02;
}

/* Where edges alone hold a tet that has become flat they are let go, and only there; rims of
 * patches stay. */
START_TEST(edges_let_go_of_flat_tets)
{
    for (int one_patch = 0; one_patch < 2; one_patch++) {
        kiln_world *world = bar(one_patch);
        kiln_mesh *mesh = world->mesh;
        size_t middle = features(mesh, true), elsewhere = features(mesh, false), released;
        ck_assert_int_eq(kiln_release_held_tets(world, 0.18, &released, NULL), KILN_OK);
        ck_assert_uint_eq(released, 0);
        squeeze(mesh);
        ck_assert_int_eq(kiln_release_held_tets(world, 0.18, &released, NULL), KILN_OK);
        ck_assert_uint_gt(released, 0);
        if (one_patch)
            ck_assert_uint_lt(features(mesh, true), middle);
        else
            ck_assert_uint_eq(features(mesh, true), middle);
        ck_assert_uint_ge(features(mesh, false), elsewhere * 2 / 3);
        kiln_test_audit(mesh);
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
    tcase_add_test(kiln_test_case(suite, "held"), edges_let_go_of_flat_tets);
    return suite;
}
