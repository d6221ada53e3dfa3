#include "fixtures.h"
#include "mesh/parts.h"
#include "mesh/replace.h"
#include "mesh/select.h"
#include "support.h"

#include <string.h>

static kiln_u32_array chosen(const kiln_mesh *mesh, kiln_where where, kiln_selector selector)
{
    kiln_u32_array rows = {0};
    kiln_error error = {0};
    ck_assert_msg(kiln_select(mesh, where, &selector, &rows, &error) == KILN_OK, "%s",
                  error.message);
    for (size_t i = 0; i < rows.count; i++) {
        ck_assert(kiln_row_live(mesh, where, rows.data[i]));
        ck_assert(i == 0 || rows.data[i - 1] < rows.data[i]);
    }
    return rows;
}

static size_t count_of(const kiln_mesh *mesh, kiln_where where, kiln_selector selector)
{
    kiln_u32_array rows = chosen(mesh, where, selector);
    size_t count = rows.count;
    kiln_array_free(mesh->context, &rows);
    return count;
}

/* The box shape is [0,lx]x...; here 4x4x4 cells of a unit cube whatever its place. */
static kiln_mesh *cube(kiln_context *context, kiln_vec3 *low)
{
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=4 ny=4 nz=4");
    *low = mesh->u[0];
    kiln_vec3 high = *low;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 p = mesh->u[v];
        *low = kiln_v3(fmin(low->x, p.x), fmin(low->y, p.y), fmin(low->z, p.z));
        high = kiln_v3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
    }
    ck_assert_double_eq(high.x - low->x, 1.0);
    ck_assert_double_eq(high.z - low->z, 1.0);
    return mesh;
}

static kiln_vec3 at(kiln_vec3 low, double x, double y, double z)
{
    return kiln_v3_add(low, kiln_v3(x, y, z));
}

START_TEST(shapes_choose_by_place)
{
    kiln_context *context = kiln_test_context(1);
    kiln_vec3 low;
    kiln_mesh *mesh = cube(context, &low);
    uint32_t tets = mesh->table[KILN_ON_TET].live;
    ck_assert_uint_eq(count_of(mesh, KILN_ON_VERTEX, (kiln_selector){.kind = KILN_SELECT_ALL}),
                      125);
    ck_assert_uint_eq(count_of(mesh, KILN_ON_TET, (kiln_selector){.kind = KILN_SELECT_ALL}), tets);
    kiln_selector box = {.kind = KILN_SELECT_BOX, .a = low, .b = at(low, 0.25, 0.25, 0.25)};
    ck_assert_uint_eq(count_of(mesh, KILN_ON_VERTEX, box), 8);
    /* One cell: the tets with all corners in it are those with their centre in it. */
    size_t inside = count_of(mesh, KILN_ON_TET, box);
    ck_assert_uint_eq(inside, tets / 64);
    box.reach = KILN_REACH_ALL;
    ck_assert_uint_eq(count_of(mesh, KILN_ON_TET, box), inside);
    box.reach = KILN_REACH_ANY;
    ck_assert_uint_gt(count_of(mesh, KILN_ON_TET, box), inside);

    /* Seven vertices of the grid lie within one edge of an inner one. */
    kiln_selector sphere = {
        .kind = KILN_SELECT_SPHERE, .a = at(low, 0.5, 0.5, 0.5), .radius = 0.26};
    ck_assert_uint_eq(count_of(mesh, KILN_ON_VERTEX, sphere), 7);
    sphere.radius = 0.25;
    ck_assert_uint_eq(count_of(mesh, KILN_ON_VERTEX, sphere), 7);
    sphere.radius = 0.24;
    ck_assert_uint_eq(count_of(mesh, KILN_ON_VERTEX, sphere), 1);

    kiln_selector half = {.kind = KILN_SELECT_HALF_SPACE, .a = at(low, 0.5, 0, 0), .b = {3, 0, 0}};
    ck_assert_uint_eq(count_of(mesh, KILN_ON_VERTEX, half), 75);
    ck_assert_uint_eq(count_of(mesh, KILN_ON_TET, half), tets / 2);
    half.b.x = -1;
    ck_assert_uint_eq(count_of(mesh, KILN_ON_TET, half), tets / 2);

    /* Round an axis through five vertices: four neighbours each, the ends cut flat. */
    kiln_selector rod = {.kind = KILN_SELECT_CYLINDER,
                         .a = at(low, 0.5, 0.5, -1),
                         .b = at(low, 0.5, 0.5, 0.5),
                         .radius = 0.25};
    ck_assert_uint_eq(count_of(mesh, KILN_ON_VERTEX, rod), 15);
    rod.radius = 0.2;
    ck_assert_uint_eq(count_of(mesh, KILN_ON_VERTEX, rod), 3);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(nearest_breaks_ties_by_number)
{
    kiln_context *context = kiln_test_context(1);
    kiln_vec3 low;
    kiln_mesh *mesh = cube(context, &low);
    kiln_selector near_by = {.kind = KILN_SELECT_NEAREST, .a = at(low, 0.5, 0.5, 0.5), .number = 1};
    kiln_u32_array rows = chosen(mesh, KILN_ON_VERTEX, near_by);
    ck_assert_uint_eq(rows.count, 1);
    ck_assert_double_lt(kiln_v3_norm(kiln_v3_sub(mesh->u[rows.data[0]], near_by.a)), 1e-12);
    kiln_array_free(context, &rows);

    /* Six at the same distance: the lowest four numbers of them. */
    kiln_selector sphere = {.kind = KILN_SELECT_SPHERE, .a = near_by.a, .radius = 0.25};
    kiln_u32_array seven = chosen(mesh, KILN_ON_VERTEX, sphere);
    near_by.number = 5;
    rows = chosen(mesh, KILN_ON_VERTEX, near_by);
    ck_assert_uint_eq(rows.count, 5);
    size_t found = 0, others = 0;
    for (size_t i = 0; i < seven.count; i++) {
        bool centre = kiln_v3_norm(kiln_v3_sub(mesh->u[seven.data[i]], near_by.a)) < 0.1;
        if (centre || others++ < 4)
            ck_assert_uint_eq(rows.data[found++], seven.data[i]);
    }
    ck_assert_uint_eq(found, 5);
    kiln_array_free(context, &rows);
    kiln_array_free(context, &seven);

    near_by.number = 1000;
    near_by.radius = 0.25;
    ck_assert_uint_eq(count_of(mesh, KILN_ON_VERTEX, near_by), 7);
    near_by.radius = 0.0;
    ck_assert_uint_eq(count_of(mesh, KILN_ON_VERTEX, near_by), 125);
    /* Against a full sort, for tets and faces, at a place without ties. */
    near_by.a = at(low, 0.3127, 0.4411, 0.5779);
    near_by.number = 37;
    for (int where = KILN_ON_TET; where <= KILN_ON_FACE; where++) {
        rows = chosen(mesh, (kiln_where)where, near_by);
        ck_assert_uint_eq(rows.count, 37);
        double farthest = 0.0;
        size_t next = 0, closer = 0;
        double distance[2000];
        for (uint32_t row = 0; row < mesh->table[where].used; row++) {
            kiln_vec3 sum = {0};
            uint32_t face = where == KILN_ON_FACE ? mesh->face[row].at : row * 4;
            int corners = where == KILN_ON_FACE ? 3 : 4;
            for (int k = 0; k < corners; k++) {
                uint32_t corner = corners == 3 ? kiln_face_corner[face % 4][k] : (uint32_t)k;
                sum = kiln_v3_add(sum, mesh->u[mesh->tet[face / 4].v[corner]]);
            }
            distance[row] = kiln_v3_norm(kiln_v3_sub(kiln_v3_scale(sum, 1.0 / corners), near_by.a));
            if (next < rows.count && rows.data[next] == row) {
                next++;
                farthest = fmax(farthest, distance[row]);
            }
        }
        for (uint32_t row = 0; row < mesh->table[where].used; row++)
            closer += distance[row] <= farthest + 1e-12;
        ck_assert_uint_eq(closer, 37);
        kiln_array_free(context, &rows);
    }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(space_is_the_one_asked_for)
{
    kiln_context *context = kiln_test_context(1);
    kiln_vec3 low;
    kiln_mesh *mesh = cube(context, &low);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        mesh->x[v].x += 10.0;
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        kiln_selector half = {.kind = KILN_SELECT_HALF_SPACE, .a = {5, 0, 0}, .b = {1, 0, 0}};
        ck_assert_uint_eq(count_of(mesh, (kiln_where)where, half), 0);
        half.space = KILN_SPACE_WORLD;
        ck_assert_uint_eq(count_of(mesh, (kiln_where)where, half), mesh->table[where].live);
    }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(flags_regions_parts_bodies_patches)
{
    kiln_context *context = kiln_test_context(1);
    kiln_vec3 low;
    kiln_mesh *mesh = cube(context, &low);
    kiln_selector s = {.kind = KILN_SELECT_SURFACE};
    ck_assert_uint_eq(count_of(mesh, KILN_ON_VERTEX, s), 98);
    ck_assert_uint_eq(count_of(mesh, KILN_ON_FACE, s), 6 * 16 * 2);
    s.kind = KILN_SELECT_FEATURE;
    ck_assert_uint_eq(count_of(mesh, KILN_ON_VERTEX, s), 8 + 12 * 3);
    s.kind = KILN_SELECT_CORNER;
    ck_assert_uint_eq(count_of(mesh, KILN_ON_VERTEX, s), 8);
    s.reach = KILN_REACH_ANY;
    ck_assert_uint_ge(count_of(mesh, KILN_ON_FACE, s), 24);
    s.reach = KILN_REACH_ALL;
    ck_assert_uint_eq(count_of(mesh, KILN_ON_FACE, s), 0);

    /* The tets beyond the middle plane become region 9. */
    kiln_selector half = {.kind = KILN_SELECT_HALF_SPACE, .a = at(low, 0, 0, 0.5), .b = {0, 0, 1}};
    kiln_u32_array upper = chosen(mesh, KILN_ON_TET, half);
    kiln_txn txn = kiln_txn_begin(mesh);
    for (size_t i = 0; i < upper.count; i++)
        ck_assert_int_eq(kiln_txn_set_region(&txn, upper.data[i], 9), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_set_vertex(&txn, 3, KILN_VERTEX_REQUIRED, 0), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    kiln_selector region = {.kind = KILN_SELECT_REGION, .number = 9};
    kiln_u32_array rows = chosen(mesh, KILN_ON_TET, region);
    ck_assert_uint_eq(rows.count, upper.count);
    ck_assert_mem_eq(rows.data, upper.data, rows.count * sizeof(uint32_t));
    kiln_array_free(context, &rows);
    kiln_array_free(context, &upper);
    ck_assert_uint_eq(count_of(mesh, KILN_ON_VERTEX, region), 75);
    region.number = 1;
    ck_assert_uint_eq(count_of(mesh, KILN_ON_VERTEX, region), 75);
    ck_assert_uint_eq(count_of(mesh, KILN_ON_FACE, region), 32 + 4 * 16);
    s = (kiln_selector){.kind = KILN_SELECT_INTERFACE};
    ck_assert_uint_eq(count_of(mesh, KILN_ON_VERTEX, s), 25);
    s.kind = KILN_SELECT_REQUIRED;
    rows = chosen(mesh, KILN_ON_VERTEX, s);
    ck_assert_uint_eq(rows.count, 1);
    ck_assert_uint_eq(rows.data[0], 3);
    kiln_array_free(context, &rows);

    /* Each side of the box is a patch of 32 triangles on 25 vertices. */
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f += 31) {
        kiln_selector patch = {.kind = KILN_SELECT_PATCH, .number = mesh->face[f].tag};
        ck_assert_uint_eq(count_of(mesh, KILN_ON_FACE, patch), 32);
        ck_assert_uint_eq(count_of(mesh, KILN_ON_VERTEX, patch), 25);
        size_t touching = 0;
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
            bool has = false;
            for (int k = 0; k < 4; k++)
                has |= kiln_link_is_surface(mesh->tet[t].n[k]) &&
                       mesh->face[mesh->tet[t].n[k] - KILN_LINK_SURFACE].tag == patch.number;
            touching += has;
        }
        ck_assert_uint_eq(count_of(mesh, KILN_ON_TET, patch), touching);
    }
    kiln_mesh_destroy(mesh);

    const kiln_vec3 p[8] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                            {5, 0, 0}, {6, 0, 0}, {5, 1, 0}, {5, 0, 1}};
    const kiln_soup_tet t[2] = {{{0, 1, 2, 3}}, {{4, 5, 6, 7}}};
    mesh = kiln_test_mesh_of(context, 8, p, 2, t, NULL, KILN_BUILD_STRICT);
    kiln_body_assign(mesh, 1, 42);
    s = (kiln_selector){.kind = KILN_SELECT_PART, .number = 1};
    rows = chosen(mesh, KILN_ON_VERTEX, s);
    ck_assert_uint_eq(rows.count, 4);
    ck_assert_uint_eq(rows.data[0], 4);
    kiln_array_free(context, &rows);
    s = (kiln_selector){.kind = KILN_SELECT_BODY, .number = 42};
    ck_assert_uint_eq(count_of(mesh, KILN_ON_TET, s), 1);
    ck_assert_uint_eq(count_of(mesh, KILN_ON_FACE, s), 4);
    s.number = 1;
    ck_assert_uint_eq(count_of(mesh, KILN_ON_TET, s), 0);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Boolean algebra against sets of bits, operands reused as results. */
START_TEST(sets_combine)
{
    kiln_context *context = kiln_test_context(1);
    kiln_vec3 low;
    kiln_mesh *mesh = cube(context, &low);
    kiln_random random = kiln_random_start(5, 0);
    for (int round = 0; round < 200; round++) {
        kiln_u32_array set[3] = {{0}};
        uint8_t bit[2][125];
        for (int k = 0; k < 2; k++)
            for (uint32_t v = 0; v < 125; v++) {
                bit[k][v] = kiln_random_below(&random, (uint32_t)round % 5 + 1) == 0;
                if (bit[k][v])
                    ck_assert_int_eq(kiln_array_push(context, &set[k], v, NULL), KILN_OK);
            }
        int operation = round % 4, target = round % 3;
        if (operation < 3)
            ck_assert_int_eq(kiln_select_combine(context, (kiln_select_operation)operation, &set[0],
                                                 &set[1], &set[target], NULL),
                             KILN_OK);
        else
            ck_assert_int_eq(kiln_select_not(mesh, KILN_ON_VERTEX, &set[0], &set[target], NULL),
                             KILN_OK);
        size_t next = 0;
        for (uint32_t v = 0; v < 125; v++) {
            bool expected = operation == KILN_SELECT_AND     ? bit[0][v] && bit[1][v]
                            : operation == KILN_SELECT_OR    ? bit[0][v] || bit[1][v]
                            : operation == KILN_SELECT_MINUS ? bit[0][v] && !bit[1][v]
                                                             : !bit[0][v];
            bool found = next < set[target].count && set[target].data[next] == v;
            ck_assert_int_eq(found, expected);
            next += found;
        }
        ck_assert_uint_eq(next, set[target].count);
        for (int k = 0; k < 3; k++)
            kiln_array_free(context, &set[k]);
    }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(conversions)
{
    kiln_context *context = kiln_test_context(1);
    kiln_vec3 low;
    kiln_mesh *mesh = cube(context, &low);
    kiln_selector patch = {.kind = KILN_SELECT_PATCH, .number = mesh->face[0].tag};
    kiln_u32_array faces = chosen(mesh, KILN_ON_FACE, patch), rows = {0}, back = {0};
    ck_assert_int_eq(kiln_select_convert(mesh, KILN_ON_FACE, &faces, KILN_ON_VERTEX, KILN_REACH_ALL,
                                         &rows, NULL),
                     KILN_OK);
    ck_assert_uint_eq(rows.count, 25);
    ck_assert_int_eq(
        kiln_select_convert(mesh, KILN_ON_VERTEX, &rows, KILN_ON_FACE, KILN_REACH_ALL, &back, NULL),
        KILN_OK);
    ck_assert_uint_eq(back.count, faces.count);
    ck_assert_mem_eq(back.data, faces.data, back.count * sizeof(uint32_t));
    ck_assert_int_eq(
        kiln_select_convert(mesh, KILN_ON_VERTEX, &rows, KILN_ON_TET, KILN_REACH_ALL, &back, NULL),
        KILN_OK);
    ck_assert_uint_eq(back.count, 0);
    ck_assert_int_eq(
        kiln_select_convert(mesh, KILN_ON_VERTEX, &rows, KILN_ON_TET, KILN_REACH_ANY, &back, NULL),
        KILN_OK);
    ck_assert_uint_eq(back.count, mesh->table[KILN_ON_TET].live / 4); /* one layer of cells */
    /* To their vertices, in place: two layers of the grid. */
    ck_assert_int_eq(
        kiln_select_convert(mesh, KILN_ON_TET, &back, KILN_ON_VERTEX, KILN_REACH_ALL, &back, NULL),
        KILN_OK);
    ck_assert_uint_eq(back.count, 50);
    ck_assert_int_eq(
        kiln_select_convert(mesh, KILN_ON_FACE, &faces, KILN_ON_TET, KILN_REACH_ALL, &rows, NULL),
        KILN_OK);
    ck_assert_uint_eq(rows.count, 32);
    ck_assert_int_eq(
        kiln_select_convert(mesh, KILN_ON_TET, &rows, KILN_ON_FACE, KILN_REACH_ALL, &back, NULL),
        KILN_OK);
    ck_assert_uint_ge(back.count, 32);
    kiln_array_free(context, &rows);
    kiln_array_free(context, &back);
    kiln_array_free(context, &faces);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(bad_shapes_are_refused)
{
    kiln_context *context = kiln_test_context(1);
    kiln_vec3 low;
    kiln_mesh *mesh = cube(context, &low);
    const kiln_selector bad[] = {
        {.kind = KILN_SELECT_SPHERE},
        {.kind = KILN_SELECT_SPHERE, .radius = -1},
        {.kind = KILN_SELECT_SPHERE, .radius = NAN},
        {.kind = KILN_SELECT_BOX, .a = {0, 1, 0}, .b = {1, 0, 1}},
        {.kind = KILN_SELECT_BOX, .a = {0, 0, 0}, .b = {1, INFINITY, 1}},
        {.kind = KILN_SELECT_HALF_SPACE},
        {.kind = KILN_SELECT_CYLINDER, .radius = 1},
        {.kind = KILN_SELECT_CYLINDER, .b = {1, 0, 0}},
        {.kind = KILN_SELECT_NEAREST},
    };
    kiln_u32_array rows = {0};
    ck_assert_int_eq(kiln_array_push(context, &rows, 77, NULL), KILN_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        kiln_error error = {0};
        ck_assert_int_eq(kiln_select(mesh, KILN_ON_VERTEX, &bad[i], &rows, &error), KILN_ERR_INPUT);
        ck_assert_str_eq(error.place, kiln_select_name(bad[i].kind));
        ck_assert_uint_eq(rows.count, 1);
        ck_assert_uint_eq(rows.data[0], 77);
    }
    for (int k = 0; k < KILN_SELECT_COUNT; k++) {
        kiln_select_kind kind;
        ck_assert(kiln_select_parse(kiln_select_name((kiln_select_kind)k), &kind));
        ck_assert_int_eq((int)kind, k);
    }
    kiln_select_kind kind;
    ck_assert(!kiln_select_parse("boxes", &kind));
    kiln_array_free(context, &rows);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(same_for_any_number_of_threads)
{
    uint64_t hash[3] = {0};
    for (int threads = 1; threads <= 3; threads++) {
        kiln_context *context = kiln_test_context(threads);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=14 ny=14 nz=14");
        for (int k = 0; k < KILN_SELECT_COUNT; k++)
            for (int where = 0; where < KILN_WHERE_COUNT; where++) {
                kiln_selector s = {.kind = (kiln_select_kind)k,
                                   .b = {.5, .5, .5},
                                   .radius = 0.3,
                                   .number = k == KILN_SELECT_NEAREST ? 5000 : 1};
                kiln_u32_array rows = chosen(mesh, (kiln_where)where, s);
                hash[threads - 1] =
                    kiln_hash_bytes(hash[threads - 1], rows.data, rows.count * sizeof(uint32_t));
                kiln_array_free(context, &rows);
            }
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
    ck_assert_uint_eq(hash[0], hash[2]);
}
END_TEST

START_TEST(nothing_happens_without_memory)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_vec3 low;
    kiln_mesh *mesh = cube(context, &low);
    const kiln_selector s[] = {{.kind = KILN_SELECT_NEAREST, .number = 50},
                               {.kind = KILN_SELECT_REGION, .number = 1}};
    for (int i = 0; i < 2; i++) {
        kiln_u32_array rows = {0};
        kiln_status status = KILN_ERR_MEMORY;
        int64_t blocks = heap.live_blocks;
        int failures = 0;
        for (uint64_t k = 1; status != KILN_OK; k++) {
            heap.calls = 0;
            heap.fail_at = k;
            status = kiln_select(mesh, KILN_ON_VERTEX, &s[i], &rows, NULL);
            heap.fail_at = 0;
            failures += status != KILN_OK;
            if (status != KILN_OK)
                ck_assert_int_eq(heap.live_blocks, blocks);
        }
        ck_assert_int_ge(failures, 3);
        kiln_array_free(context, &rows);
        ck_assert_int_eq(heap.live_blocks, blocks);
    }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("select");
    TCase *all = kiln_test_case(suite, "select");
    tcase_add_test(all, shapes_choose_by_place);
    tcase_add_test(all, nearest_breaks_ties_by_number);
    tcase_add_test(all, space_is_the_one_asked_for);
    tcase_add_test(all, flags_regions_parts_bodies_patches);
    tcase_add_test(all, sets_combine);
    tcase_add_test(all, conversions);
    tcase_add_test(all, bad_shapes_are_refused);
    tcase_add_test(all, same_for_any_number_of_threads);
    tcase_add_test(all, nothing_happens_without_memory);
    return suite;
}
