#include "remesh/embedded.h"
#include "transfer_rig.h"

static kiln_vec3 deform(kiln_vec3 u)
{
    return kiln_v3(1.5 * u.x + 0.25 * u.y + 3, u.y - 0.25 * u.z, 2 * u.z + 0.5 * u.x);
}

static void deform_mesh(kiln_mesh *mesh)
{
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        mesh->x[v] = deform(mesh->u[v]);
}

static kiln_mesh *box(kiln_context *context)
{
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=5 ny=5 nz=5");
    kiln_test_jitter(mesh, 0.03, 2);
    deform_mesh(mesh);
    return mesh;
}

/* A grid of triangles on the sheet z = 0.5 + 0.3 sin(4x) cos(3y). */
static kiln_soup sheet(kiln_context *context, uint32_t n)
{
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    for (uint32_t i = 0; i <= n; i++)
        for (uint32_t j = 0; j <= n; j++) {
            double x = 0.02 + 0.96 * i / n, y = 0.02 + 0.96 * j / n;
            kiln_vec3 p = {x, y, 0.5 + 0.3 * sin(4 * x) * cos(3 * y)};
            ck_assert_int_eq(kiln_array_push(context, &soup.points, p, NULL), KILN_OK);
        }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            uint32_t a = i * (n + 1) + j, b = a + n + 1;
            kiln_soup_triangle t[2] = {{{a, b, a + 1}}, {{b, b + 1, a + 1}}};
            for (int32_t k = 0; k < 2; k++) {
                ck_assert_int_eq(kiln_array_push(context, &soup.triangles, t[k], NULL), KILN_OK);
                ck_assert_int_eq(kiln_array_push(context, &soup.triangle_tags, k, NULL), KILN_OK);
            }
        }
    return soup;
}

static kiln_embedded *hang_in(const kiln_mesh *mesh, const kiln_soup *soup, kiln_space space,
                              kiln_embedded_report *report)
{
    kiln_embedded *e = NULL;
    kiln_error error = {0};
    kiln_status status = kiln_embedded_create(mesh, soup, space, KILN_NONE, &e, report, &error);
    ck_assert_msg(status == KILN_OK, "%s", error.message);
    return e;
}

static kiln_embedded_report rehang(kiln_embedded *e, const kiln_mesh *mesh)
{
    kiln_embedded_report report;
    kiln_error error = {0};
    ck_assert_msg(kiln_embedded_rehang(e, mesh, &report, &error) == KILN_OK, "%s", error.message);
    return report;
}

/* Material positions as they were given, world positions by the map that moved the mesh. */
static void check(const kiln_embedded *e, const kiln_mesh *mesh, const kiln_vec3 *given)
{
    size_t count = kiln_embedded_vertices(e);
    kiln_vec3 *at = malloc(count * sizeof *at);
    for (int space = 0; space < 2; space++) {
        kiln_embedded_positions(e, mesh, space ? KILN_SPACE_WORLD : KILN_SPACE_MATERIAL, at, NULL);
        for (size_t i = 0; i < count; i++) {
            kiln_vec3 wanted = space ? deform(given[i]) : given[i];
            ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(at[i], wanted)), 1e-12);
        }
    }
    ck_assert_mem_eq(kiln_embedded_material(e), given, count * sizeof *given);
    free(at);
}

START_TEST(a_surface_follows_through_passes)
{
    kiln_context *context = kiln_test_context(2);
    kiln_mesh *mesh = box(context);
    kiln_soup soup = sheet(context, 40);
    kiln_embedded_report report;
    kiln_embedded *e = hang_in(mesh, &soup, KILN_SPACE_MATERIAL, &report);
    ck_assert_uint_eq(report.hung, 41 * 41);
    ck_assert_uint_eq(report.outside, 0);
    ck_assert_uint_eq(kiln_embedded_triangles(e), 3200);
    check(e, mesh, soup.points.data);
    kiln_random random = kiln_random_start(31, 1);
    size_t hung = 0;
    for (int pass = 0; pass < (int)kiln_test_rounds(20, 200); pass++) {
        bool open = pass % 5 != 4, back = pass % 4 == 1; /* some changes outside passes */
        if (open)
            ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
        rig_changes(mesh, &random, pass % 3 ? 30 : 300, 0.02);
        deform_mesh(mesh);
        report = rehang(e, mesh);
        hung += report.hung;
        ck_assert_uint_eq(report.outside, 0);
        if (pass % 3 && pass < 10)
            ck_assert_uint_lt(report.hung, 41 * 41 / 2);
        if (open)
            ck_assert_uint_le(report.visits, 30 * report.hung + 100);
        check(e, mesh, soup.points.data);
        ck_assert_uint_eq(rehang(e, mesh).hung, 0);
        if (open && back) {
            kiln_archive_rollback(mesh);
            deform_mesh(mesh);
            ck_assert_uint_eq(rehang(e, mesh).hung, report.hung);
            check(e, mesh, soup.points.data);
        } else if (open) {
            kiln_archive_end(mesh);
        }
    }
    ck_assert_uint_gt(hung, 41 * 41);
    kiln_embedded_destroy(e);
    kiln_soup_free(&soup);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(renumbering_and_files_keep_the_bits)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context);
    kiln_soup soup = sheet(context, 20);
    kiln_random random = kiln_random_start(32, 1);
    rig_changes(mesh, &random, 300, 0.02);
    deform_mesh(mesh);
    kiln_embedded *e = hang_in(mesh, &soup, KILN_SPACE_MATERIAL, NULL);
    size_t count = kiln_embedded_vertices(e);
    kiln_vec3 *before = malloc(count * sizeof *before), *after = malloc(count * sizeof *after);
    kiln_embedded_positions(e, mesh, KILN_SPACE_WORLD, before, NULL);
    kiln_renumbering now = {0};
    ck_assert_int_eq(kiln_mesh_reorder(mesh, KILN_SPACE_MATERIAL, &now, NULL), KILN_OK);
    ck_assert_int_eq(kiln_embedded_renumber(e, mesh, &now, NULL), KILN_OK);
    kiln_embedded_positions(e, mesh, KILN_SPACE_WORLD, after, NULL);
    ck_assert_mem_eq(before, after, count * sizeof *before);
    ck_assert_uint_eq(rehang(e, mesh).hung, 0);

    kiln_soup saved;
    kiln_soup_init(&saved, context);
    ck_assert_int_eq(kiln_embedded_to_soup(e, mesh, &saved, NULL), KILN_OK);
    ck_assert_int_eq(kiln_soup_check(&saved, "saved", NULL), KILN_OK);
    ck_assert_mem_eq(saved.points.data, before, count * sizeof *before);
    ck_assert_mem_eq(saved.triangle_tags.data, soup.triangle_tags.data, 800 * sizeof(int32_t));
    kiln_embedded_report report;
    kiln_embedded *loaded = hang_in(mesh, &saved, KILN_SPACE_WORLD, &report);
    ck_assert_uint_eq(report.hung, 0); /* all as they were saved */
    kiln_embedded_positions(loaded, mesh, KILN_SPACE_WORLD, after, NULL);
    ck_assert_mem_eq(before, after, count * sizeof *before);
    kiln_embedded_destroy(loaded);

    /* Saved for another mesh: what does not fit is hung anew. */
    kiln_mesh *other = kiln_test_mesh(context, "box", "nx=3 ny=3 nz=3");
    deform_mesh(other);
    loaded = hang_in(other, &saved, KILN_SPACE_WORLD, &report);
    ck_assert_uint_gt(report.hung, count / 2);
    check(loaded, other, soup.points.data);
    kiln_embedded_destroy(loaded);
    kiln_mesh_destroy(other);

    kiln_renumbering_free(context, &now);
    free(before);
    free(after);
    kiln_embedded_destroy(e);
    kiln_soup_free(&soup);
    kiln_soup_free(&saved);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Hung by world positions, taken to a new mesh whose rest is the deformed shape (VPF). */
START_TEST(another_mesh_takes_the_surface_over)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context);
    kiln_soup soup = sheet(context, 20);
    for (size_t i = 0; i < soup.points.count; i++)
        soup.points.data[i] = deform(soup.points.data[i]);
    kiln_embedded *e = hang_in(mesh, &soup, KILN_SPACE_WORLD, NULL);
    kiln_mesh *to = kiln_test_mesh(context, "box", "nx=3 ny=4 nz=2");
    deform_mesh(to);
    for (uint32_t v = 0; v < to->table[KILN_ON_VERTEX].used; v++)
        to->u[v] = kiln_v3_scale(to->x[v], 2.0);
    ck_assert_int_eq(kiln_embedded_move(e, mesh, to, KILN_SPACE_WORLD, NULL, NULL), KILN_OK);
    kiln_vec3 *at = malloc(soup.points.count * sizeof *at);
    kiln_embedded_positions(e, to, KILN_SPACE_WORLD, at, NULL);
    for (size_t i = 0; i < soup.points.count; i++) {
        kiln_vec3 p = soup.points.data[i], u = kiln_embedded_material(e)[i];
        ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(at[i], p)), 1e-12);
        ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(u, kiln_v3_scale(p, 2.0))), 1e-11);
    }
    free(at);
    kiln_embedded_destroy(e);
    kiln_soup_free(&soup);
    kiln_mesh_destroy(mesh);
    kiln_mesh_destroy(to);
    kiln_context_destroy(context);
}
END_TEST

/* A round surface in a coarse ball: most of it is outside, and still goes with an affine map. */
START_TEST(outside_the_surface_extrapolates)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "ball", "h=0.5");
    deform_mesh(mesh);
    kiln_soup soup = sheet(context, 20);
    for (size_t i = 0; i < soup.points.count; i++) {
        double a = 6.28 * soup.points.data[i].x, z = 1.98 * soup.points.data[i].y - 0.99;
        double r = sqrt(1 - z * z);
        soup.points.data[i] = kiln_v3(r * cos(a), r * sin(a), z);
    }
    kiln_embedded_report report;
    kiln_embedded *e = hang_in(mesh, &soup, KILN_SPACE_MATERIAL, &report);
    ck_assert_uint_gt(report.outside, soup.points.count / 2);
    check(e, mesh, soup.points.data);
    kiln_embedded_destroy(e);
    kiln_soup_free(&soup);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Two boxes in the same place of material space, far apart in the world. */
START_TEST(a_surface_stays_with_its_body)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup one = kiln_test_soup(context, "box", "nx=3 ny=3 nz=3");
    kiln_soup two = kiln_test_soup(context, "box", "nx=3 ny=3 nz=3");
    ck_assert_int_eq(kiln_soup_append(&one, &two, 0, NULL), KILN_OK);
    kiln_mesh *mesh = kiln_test_mesh_of(context, one.points.count, one.points.data, one.tets.count,
                                        one.tets.data, NULL, KILN_BUILD_STRICT);
    kiln_soup soup = sheet(context, 12);
    for (uint32_t body = 0; body < 2; body++) {
        kiln_embedded *e = NULL;
        ck_assert_int_eq(
            kiln_embedded_create(mesh, &soup, KILN_SPACE_MATERIAL, body, &e, NULL, NULL), KILN_OK);
        kiln_random random = kiln_random_start(34, body);
        for (int pass = 0; pass < 4; pass++) {
            ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
            rig_changes(mesh, &random, 200, 0.02);
            rehang(e, mesh);
            kiln_archive_end(mesh);
            for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
                for (int k = 0; kiln_tet_live(mesh, t) && k < 4; k++) {
                    uint32_t v = mesh->tet[t].v[k];
                    mesh->x[v] = mesh->u[v];
                    mesh->x[v].x += 5.0 * mesh->parts.data[mesh->info[t].part].body;
                }
            kiln_vec3 at[13 * 13];
            kiln_embedded_positions(e, mesh, KILN_SPACE_WORLD, at, NULL);
            for (int i = 0; i < 13 * 13; i++)
                ck_assert_double_eq_tol(at[i].x, soup.points.data[i].x + 5.0 * body, 1e-12);
        }
        kiln_embedded_destroy(e);
    }
    kiln_soup_free(&soup);
    kiln_soup_free(&one);
    kiln_soup_free(&two);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(without_memory_the_surface_stays)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_mesh *mesh = box(context);
    kiln_soup soup = sheet(context, 10);
    kiln_embedded *e = NULL;
    kiln_status status = KILN_ERR_MEMORY;
    uint64_t failures = 0;
    for (uint64_t step = 1; status != KILN_OK; step++) {
        int64_t blocks = heap.live_blocks;
        heap.fail_at = heap.calls + step;
        status = kiln_embedded_create(mesh, &soup, KILN_SPACE_MATERIAL, KILN_NONE, &e, NULL, NULL);
        heap.fail_at = 0;
        failures += status != KILN_OK;
        ck_assert(status == KILN_OK || status == KILN_ERR_MEMORY);
        ck_assert(status == KILN_OK || heap.live_blocks == blocks);
    }
    ck_assert_uint_gt(failures, 5);
    ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
    kiln_random random = kiln_random_start(33, 1);
    rig_changes(mesh, &random, 100, 0.02);
    deform_mesh(mesh);
    failures = 0;
    status = KILN_ERR_MEMORY;
    for (uint64_t step = 1; status != KILN_OK; step++) {
        heap.fail_at = heap.calls + step;
        status = kiln_embedded_rehang(e, mesh, NULL, NULL);
        heap.fail_at = 0;
        failures += status != KILN_OK;
    }
    ck_assert_uint_gt(failures, 1);
    check(e, mesh, soup.points.data);
    kiln_archive_end(mesh);
    kiln_embedded_destroy(e);
    kiln_soup_free(&soup);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("embedded");
    TCase *cases = kiln_test_case(suite, "embedded");
    tcase_add_test(cases, a_surface_follows_through_passes);
    tcase_add_test(cases, renumbering_and_files_keep_the_bits);
    tcase_add_test(cases, another_mesh_takes_the_surface_over);
    tcase_add_test(cases, outside_the_surface_extrapolates);
    tcase_add_test(cases, a_surface_stays_with_its_body);
    tcase_add_test(cases, without_memory_the_surface_stays);
    return suite;
}
