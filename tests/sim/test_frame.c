/* What frames say beside places: bodies, regions, displacement, quality. */
#include "scenes.h"

#include <math.h>

/* Bodies by number, regions of the tets behind triangles, displacement from the start, quality; and
 * a grid of tets alone. */
START_TEST(frames_tell_bodies_apart)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 2);
    kiln_scene scene_here, *const scene = &scene_here;
    scene_cantilever(scene, context);
    kiln_scene_body *other = scene_body(scene, "box", "n=1");
    for (size_t i = 0; i < other->mesh.points.count; i++)
        other->mesh.points.data[i].y += 3.0;
    for (size_t i = 0; i < other->mesh.tet_tags.count; i++)
        other->mesh.tet_tags.data[i] = 7;
    scene->output.displacement = scene->output.quality = true;
    kiln_world *world = scene_world(scene);
    scene_step(world, 0.01);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    kiln_soup soup;
    ck_assert_int_eq(kiln_world_frame(world, &soup, NULL), KILN_OK);
    const double *body = kiln_soup_find_field(&soup, KILN_ON_TET, "body")->data.data;
    const double *behind = kiln_soup_find_field(&soup, KILN_ON_FACE, "body")->data.data;
    const double *quality = kiln_soup_find_field(&soup, KILN_ON_TET, "quality")->data.data;
    const double *way = kiln_soup_find_field(&soup, KILN_ON_VERTEX, "displacement")->data.data;
    ck_assert_uint_eq(soup.triangle_regions.count, soup.triangles.count);
    for (size_t t = 0; t < soup.tets.count; t++) {
        bool second = soup.points.data[soup.tets.data[t].v[0]].y > 2.0;
        ck_assert_double_eq(body[t], second ? 2.0 : 1.0);
        ck_assert_int_eq(soup.tet_tags.data[t], second ? 7 : 1);
        ck_assert(quality[t] > 0.1 && quality[t] <= 1.0);
    }
    for (size_t f = 0; f < soup.triangles.count; f++) {
        bool second = soup.points.data[soup.triangles.data[f].v[0]].y > 2.0;
        ck_assert_double_eq(behind[f], second ? 2.0 : 1.0);
        ck_assert_int_eq(soup.triangle_regions.data[f], second ? 7 : 1);
        ck_assert_int_le(soup.triangle_tags.data[f], 6);
    }
    double farthest = 0.0;
    for (size_t v = 0; v < soup.points.count; v++) {
        farthest = fmax(farthest, fabs(way[3 * v + 2]));
        ck_assert_double_eq(way[3 * v + 2], mesh->x[v].z - mesh->u[v].z);
    }
    ck_assert_double_gt(farthest, 1e-4);
    kiln_soup_free(&soup);
    scene->output.triangles = false;
    ck_assert_int_eq(kiln_world_frame(world, &soup, NULL), KILN_OK);
    ck_assert_uint_eq(soup.triangles.count, 0);
    ck_assert_ptr_null(kiln_soup_find_field(&soup, KILN_ON_FACE, "mises"));
    kiln_soup_free(&soup);
    kiln_world_destroy(world);
    kiln_scene_free(scene);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("frame");
    TCase *all = kiln_test_case(suite, "frame");
    tcase_add_test(all, frames_tell_bodies_apart);
    return suite;
}
