/* Fine surfaces in a world: they are where the body carries them, and come back as they were. */
#include "mesh/reorder.h"
#include "scenes.h"
#include "sim/world_impl.h"

#include <math.h>

static kiln_context *context;
static kiln_test_heap heap;
static kiln_scene scene_here, *const scene = &scene_here;

/* The cantilever with the surface of a ball in it, and a second body without. */
static void begin(void)
{
    heap = (kiln_test_heap){0};
    context = kiln_test_context_on(&heap, 2);
    scene_cantilever(scene, context);
    scene_body(scene, "box", "n=1");
    kiln_scene_body *body = &scene->bodies.data[0];
    kiln_soup ball = kiln_test_soup(context, "ball", "radius=0.1 h=0.05");
    body->surface = ball;
    body->surface.tets.count = body->surface.tet_tags.count = 0;
    for (size_t i = 0; i < ball.points.count; i++)
        body->surface.points.data[i] = kiln_v3_add(ball.points.data[i], kiln_v3(0.5, 0.125, 0.125));
}

static void end(void)
{
    kiln_scene_free(scene);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}

static kiln_soup surface_of(const kiln_world *world, size_t body)
{
    kiln_soup soup;
    ck_assert_int_eq(kiln_world_surface(world, body, &soup, NULL), KILN_OK);
    return soup;
}

static kiln_vec3 sheared(kiln_vec3 p)
{
    return kiln_v3(2.0 * p.x + 0.3 * p.y, p.y - 0.2 * p.z, 0.5 * p.z + 1.0);
}

static void shear(kiln_mesh *mesh)
{
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        mesh->x[v] = sheared(mesh->u[v]);
}

static void assert_sheared(const kiln_world *world)
{
    kiln_soup soup = surface_of(world, 0);
    const kiln_soup *start = &scene->bodies.data[0].surface;
    ck_assert_uint_eq(soup.triangles.count, start->triangles.count);
    for (size_t i = 0; i < soup.points.count; i++) {
        kiln_vec3 off = kiln_v3_sub(soup.points.data[i], sheared(start->points.data[i]));
        ck_assert_double_le(kiln_v3_norm(off), 1e-13);
    }
    kiln_soup_free(&soup);
}

START_TEST(the_body_carries_its_surface)
{
    begin();
    kiln_world *world = scene_world(scene);
    shear(kiln_world_mesh(world));
    assert_sheared(world);
    kiln_soup none = surface_of(world, 1);
    ck_assert_uint_eq(none.points.count, 0);
    kiln_world_destroy(world);
    end();
}
END_TEST

START_TEST(renumbered_it_stays_where_it_is)
{
    begin();
    kiln_world *world = scene_world(scene);
    kiln_mesh *mesh = kiln_world_mesh(world);
    shear(mesh);
    kiln_renumbering now = {0};
    ck_assert_int_eq(kiln_mesh_reorder(mesh, KILN_SPACE_WORLD, &now, NULL), KILN_OK);
    const kiln_changes changes = {.all = true, .renumbered = &now};
    ck_assert_int_eq(kiln_world_changed(world, &changes, NULL), KILN_OK);
    assert_sheared(world);
    ck_assert_int_eq(kiln_world_carry(world, NULL, NULL), KILN_OK);
    assert_sheared(world);
    kiln_renumbering_free(context, &now);
    kiln_world_destroy(world);
    end();
}
END_TEST

/* World space: the material goes where the world is, and with it the surface's own positions. */
START_TEST(rebased_its_material_is_the_mesh_s)
{
    begin();
    kiln_world *world = scene_world(scene);
    kiln_mesh *mesh = kiln_world_mesh(world);
    shear(mesh);
    ck_assert_int_eq(kiln_world_material_moves(world, NULL), KILN_OK);
    memcpy(mesh->u, mesh->x, mesh->table[KILN_ON_VERTEX].used * sizeof *mesh->u);
    ck_assert_int_eq(kiln_world_material_moved(world, NULL), KILN_OK);
    kiln_soup soup = surface_of(world, 0);
    const double *u = kiln_soup_find_field(&soup, KILN_ON_VERTEX, "u")->data.data;
    ck_assert_mem_eq(u, soup.points.data, soup.points.count * sizeof *soup.points.data);
    kiln_soup_free(&soup);
    assert_sheared(world);
    kiln_world_destroy(world);
    end();
}
END_TEST

START_TEST(another_mesh_takes_it_over)
{
    begin();
    kiln_world *world = scene_world(scene);
    kiln_mesh *mesh = kiln_world_mesh(world);
    shear(mesh);
    kiln_mesh *other = kiln_test_mesh(context, "box", "lx=1 ly=0.25 lz=0.25 nx=4 ny=3 nz=1");
    shear(other);
    memcpy(other->u, other->x, other->table[KILN_ON_VERTEX].used * sizeof *other->u);
    ck_assert_int_eq(kiln_world_carry(world, other, NULL), KILN_OK);
    kiln_mesh *kept = world->mesh;
    world->mesh = other;
    assert_sheared(world);
    world->mesh = kept;
    kiln_mesh_destroy(other);
    kiln_world_destroy(world);
    end();
}
END_TEST

START_TEST(restored_it_hangs_as_it_did)
{
    begin();
    kiln_world *world = scene_world(scene), *again = scene_world(scene);
    shear(kiln_world_mesh(world));
    shear(kiln_world_mesh(again));
    kiln_soup saved = surface_of(world, 0);
    /* A vertex outside hangs at the closest point, not where it should be: that too is kept. */
    kiln_soup_field *weights = NULL;
    for (size_t i = 0; i < saved.fields.count; i++)
        if (strcmp(saved.fields.data[i].name, "hung_weights") == 0)
            weights = &saved.fields.data[i];
    for (int k = 0; k < 4; k++)
        weights->data.data[k] = 0.25;
    ck_assert_int_eq(kiln_world_restore_surface(again, 0, &saved, NULL), KILN_OK);
    kiln_soup back = surface_of(again, 0);
    for (size_t i = 0; i < saved.fields.count; i++)
        ck_assert_mem_eq(back.fields.data[i].data.data, saved.fields.data[i].data.data,
                         saved.fields.data[i].data.count * sizeof(double));
    kiln_soup_free(&back);
    for (size_t i = 0; i < saved.fields.count; i++)
        if (strcmp(saved.fields.data[i].name, "hung_in") == 0)
            saved.fields.data[i].data.data[5] = 1e6;
    ck_assert_int_eq(kiln_world_restore_surface(again, 0, &saved, NULL), KILN_ERR_INPUT);
    kiln_soup_free(&saved);
    kiln_world_destroy(world);
    kiln_world_destroy(again);
    end();
}
END_TEST

START_TEST(memory_may_run_out_anywhere)
{
    begin();
    for (uint64_t k = 1;; k += kiln_test_rounds(11, 1)) {
        kiln_world *world = NULL;
        kiln_soup soup;
        kiln_error error;
        heap.calls = 0;
        heap.fail_at = k;
        kiln_status status = kiln_world_create(scene, &world, &error);
        bool made = status == KILN_OK;
        if (made)
            status = kiln_world_surface(world, 0, &soup, &error);
        heap.fail_at = 0;
        ck_assert(status == KILN_OK || status == KILN_ERR_MEMORY);
        if (status == KILN_OK)
            kiln_soup_free(&soup);
        if (made)
            kiln_world_destroy(world);
        if (status == KILN_OK)
            break;
    }
    end();
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("surfaces in a world");
    TCase *all = kiln_test_case(suite, "surfaces");
    tcase_add_test(all, the_body_carries_its_surface);
    tcase_add_test(all, renumbered_it_stays_where_it_is);
    tcase_add_test(all, rebased_its_material_is_the_mesh_s);
    tcase_add_test(all, another_mesh_takes_it_over);
    tcase_add_test(all, restored_it_hangs_as_it_did);
    tcase_add_test(all, memory_may_run_out_anywhere);
    return suite;
}
