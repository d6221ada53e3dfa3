/* Fine surfaces that are drawn out: they stay closed, their triangles as large as they began. */
#include "remesh/embedded.h"
#include "topology/edge_table.h"
#include "transfer_rig.h"

static kiln_context *context;
static kiln_mesh *mesh;
static kiln_soup ball;

/* Points that no triangle has. */
static void drop_inner(void)
{
    uint32_t *row = calloc(ball.points.count, sizeof *row), rows = 0;
    for (size_t s = 0; s < 3 * ball.triangles.count; s++)
        row[ball.triangles.data[s / 3].v[s % 3]] = 1;
    for (size_t i = 0; i < ball.points.count; i++)
        if (row[i]) {
            ball.points.data[rows] = ball.points.data[i];
            row[i] = rows++;
        }
    for (size_t s = 0; s < 3 * ball.triangles.count; s++)
        ball.triangles.data[s / 3].v[s % 3] = row[ball.triangles.data[s / 3].v[s % 3]];
    ball.points.count = rows;
    ball.tets.count = ball.tet_tags.count = 0;
    free(row);
}

/* A ball of edges 0.1 in a box of 3 x 1 x 1, or round a coarser one. */
static void begin(double radius)
{
    context = kiln_test_context(2);
    mesh = kiln_test_mesh(context, "box", "lx=3 ly=1 lz=1 nx=9 ny=4 nz=4");
    ball = kiln_test_soup(context, "ball", "radius=0.4 h=0.1");
    drop_inner();
    for (size_t i = 0; i < ball.points.count; i++)
        ball.points.data[i] =
            kiln_v3_add(kiln_v3_scale(ball.points.data[i], radius / 0.4), kiln_v3(1.5, 0.5, 0.5));
}

static void end(kiln_embedded *e)
{
    kiln_embedded_destroy(e);
    kiln_soup_free(&ball);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}

static kiln_embedded *hang(void)
{
    kiln_embedded *e = NULL;
    ck_assert_int_eq(
        kiln_embedded_create(mesh, &ball, KILN_SPACE_MATERIAL, KILN_NONE, &e, NULL, NULL), KILN_OK);
    return e;
}

/* Drawn out along x and sheared, volume kept. */
static kiln_vec3 drawn(kiln_vec3 p, double stretch)
{
    double thin = 1.0 / sqrt(stretch);
    return kiln_v3(stretch * p.x + (stretch - 1.0) * p.y, thin * p.y, thin * p.z);
}

static void draw(double stretch)
{
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        mesh->x[v] = drawn(mesh->u[v], stretch);
}

static kiln_refine_report refine(kiln_embedded *e, const double *flowed)
{
    kiln_refine_report report;
    ck_assert_int_eq(kiln_embedded_refine(e, mesh, flowed, &report, NULL), KILN_OK);
    return report;
}

static kiln_soup soup_of(const kiln_embedded *e)
{
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    ck_assert_int_eq(kiln_embedded_to_soup(e, mesh, &soup, NULL), KILN_OK);
    ck_assert_int_eq(kiln_soup_check(&soup, "surface", NULL), KILN_OK);
    return soup;
}

static double volume_of(const kiln_soup *soup)
{
    double sum = 0.0;
    const kiln_vec3 *p = soup->points.data, o = p[0];
    for (size_t t = 0; t < soup->triangles.count; t++) {
        const uint32_t *v = soup->triangles.data[t].v;
        sum += kiln_v3_triple(kiln_v3_sub(p[v[0]], o), kiln_v3_sub(p[v[1]], o),
                              kiln_v3_sub(p[v[2]], o)) /
               6.0;
    }
    return sum;
}

/* Every edge has two triangles that run along it in opposite ways; a sphere by Euler's count. */
static double longest_of_closed(const kiln_soup *soup)
{
    kiln_edge_table table = {0};
    double longest = 0.0;
    ck_assert_int_eq(
        kiln_edge_table_build(&table, context, soup->triangles.data, soup->triangles.count, NULL),
        KILN_OK);
    for (size_t s = 0; s < 3 * soup->triangles.count; s++) {
        const uint32_t *v = soup->triangles.data[s / 3].v;
        uint32_t a = v[s % 3], b = v[(s + 1) % 3];
        const kiln_edge_slot *edge = kiln_edge_table_find(&table, a, b);
        ck_assert_uint_eq(edge->count, 2);
        ck_assert(!kiln_edge_is_turned(edge, soup->triangles.data));
        longest =
            fmax(longest, kiln_v3_norm(kiln_v3_sub(soup->points.data[a], soup->points.data[b])));
    }
    ck_assert_uint_eq(soup->points.count + soup->triangles.count / 2 - soup->triangles.count, 2);
    kiln_edge_table_free(&table);
    return longest;
}

START_TEST(drawn_out_it_is_refined_and_comes_back)
{
    begin(0.4);
    kiln_embedded *e = hang();
    kiln_soup start = soup_of(e);
    double volume = volume_of(&start), longest = longest_of_closed(&start);
    size_t splits = 0, collapses = 0;
    for (int step = 1; step <= 40; step++) {
        draw(1.0 + 0.1 * (step <= 20 ? step : 40 - step));
        kiln_refine_report report = refine(e, NULL);
        splits += report.splits;
        collapses += report.collapses;
        kiln_soup now = soup_of(e);
        ck_assert_double_le(longest_of_closed(&now), 3.0 * longest);
        ck_assert_double_eq_tol(volume_of(&now) / volume, 1.0, 0.005);
        for (size_t i = 0; i < now.points.count; i++) { /* what was made is where it belongs */
            const double *u = &kiln_soup_find_field(&now, KILN_ON_VERTEX, "u")->data.data[3 * i];
            kiln_vec3 at =
                drawn(kiln_v3(u[0], u[1], u[2]), 1.0 + 0.1 * (step <= 20 ? step : 40 - step));
            ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(now.points.data[i], at)), 1e-12);
        }
        kiln_soup_free(&now);
    }
    kiln_soup back = soup_of(e);
    ck_assert_uint_gt(splits, start.points.count);
    ck_assert_uint_gt(collapses, 4 * splits / 5); /* what came has gone */
    ck_assert_uint_le(back.points.count, 5 * start.points.count / 4);
    ck_assert_double_eq_tol(volume_of(&back) / volume, 1.0, 2e-3);
    kiln_soup_free(&start);
    kiln_soup_free(&back);
    end(e);
}
END_TEST

START_TEST(at_rest_and_bent_it_is_let_be)
{
    begin(0.4);
    kiln_embedded *e = hang();
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        double angle = 0.4 * mesh->u[v].x;
        double r = mesh->u[v].z + 2.0;
        mesh->x[v] = kiln_v3(r * sin(angle), mesh->u[v].y, r * cos(angle));
    }
    for (int turn = 0; turn < 2; turn++) {
        kiln_refine_report report = refine(e, NULL);
        ck_assert_uint_eq(report.splits + report.flips + report.collapses + report.smoothed, 0);
        draw(1.0);
    }
    ck_assert_uint_eq(kiln_embedded_vertices(e), ball.points.count);
    ck_assert_mem_eq(kiln_embedded_material(e), ball.points.data,
                     ball.points.count * sizeof *ball.points.data);
    /* What was drawn out and stays there is soon let be as well. */
    draw(2.7);
    for (int again = 0; again < 4; again++)
        refine(e, NULL);
    kiln_refine_report report = refine(e, NULL);
    ck_assert_uint_eq(report.splits + report.flips + report.collapses + report.smoothed, 0);
    end(e);
}
END_TEST

/* Texture coordinates are interpolated, patches keep their rim, and a step is taken back. */
START_TEST(what_it_carries_goes_along)
{
    begin(0.4);
    kiln_soup_field *texture;
    ck_assert_int_eq(kiln_soup_add_field(&ball, "st", KILN_ON_VERTEX, 2, &texture, NULL), KILN_OK);
    for (size_t i = 0; i < ball.points.count; i++) {
        texture->data.data[2 * i] = 2.0 * ball.points.data[i].x - ball.points.data[i].z;
        texture->data.data[2 * i + 1] = ball.points.data[i].y;
    }
    kiln_embedded *e = hang();
    kiln_soup before = soup_of(e);
    ck_assert_int_eq(kiln_embedded_save(e, NULL), KILN_OK);
    draw(2.5);
    ck_assert_uint_gt(refine(e, NULL).splits, 100);
    kiln_soup now = soup_of(e);
    const double *st = kiln_soup_find_field(&now, KILN_ON_VERTEX, "st")->data.data;
    for (size_t i = 0; i < now.points.count; i++) {
        kiln_vec3 u = kiln_embedded_material(e)[i];
        ck_assert_double_eq_tol(st[2 * i], 2.0 * u.x - u.z, 1e-12);
        ck_assert_double_eq_tol(st[2 * i + 1], u.y, 1e-12);
    }
    ck_assert_int_eq(kiln_embedded_restore(e, mesh, &now, NULL), KILN_OK);
    kiln_soup again = soup_of(e);
    ck_assert_uint_eq(again.points.count, now.points.count);
    ck_assert_mem_eq(again.points.data, now.points.data, now.points.count * sizeof(kiln_vec3));
    kiln_embedded_take_back(e);
    draw(1.0);
    kiln_soup back = soup_of(e);
    ck_assert_uint_eq(back.triangles.count, before.triangles.count);
    ck_assert_mem_eq(back.points.data, before.points.data, before.points.count * sizeof(kiln_vec3));
    kiln_soup_free(&before);
    kiln_soup_free(&now);
    kiln_soup_free(&again);
    kiln_soup_free(&back);
    end(e);
}
END_TEST

/* Round a body, through a hundred passes and changes of its material: no drift. */
START_TEST(a_hundred_remeshes_do_not_move_it)
{
    begin(0.55); /* reaches out of the box by up to 0.05 */
    kiln_embedded *e = hang();
    kiln_random random = kiln_random_start(33, 1);
    for (int pass = 0; pass < 100; pass++) {
        ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
        rig_changes(mesh, &random, 60, 0.02);
        draw(1.3);
        ck_assert_int_eq(kiln_embedded_rehang(e, mesh, NULL, NULL), KILN_OK);
        kiln_archive_end(mesh);
    }
    kiln_soup now = soup_of(e);
    for (size_t i = 0; i < now.points.count; i++)
        ck_assert_double_le(
            kiln_v3_norm(kiln_v3_sub(now.points.data[i], drawn(ball.points.data[i], 1.3))), 1e-12);
    kiln_soup_free(&now);
    end(e);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("embedded surfaces that flow");
    TCase *all = kiln_test_case(suite, "refine");
    tcase_add_test(all, drawn_out_it_is_refined_and_comes_back);
    tcase_add_test(all, at_rest_and_bent_it_is_let_be);
    tcase_add_test(all, what_it_carries_goes_along);
    tcase_add_test(all, a_hundred_remeshes_do_not_move_it);
    return suite;
}
