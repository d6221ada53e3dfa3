/* What a user reads of a mesh and writes into its fields, with and without gaps in the rows. */
#include "fixtures.h"
#include "geom/tet_quality.h"
#include "support.h"
#include "topology/layer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct copies {
    size_t vertices, tets, triangles;
    double *x;
    uint32_t *tet, *triangle;
    int32_t *region, *tag;
    double *quality;
} copies;

static copies copy_all(const kiln_mesh *mesh)
{
    copies c = {.vertices = kiln_mesh_count(mesh, KILN_ON_VERTEX),
                .tets = kiln_mesh_count(mesh, KILN_ON_TET),
                .triangles = kiln_mesh_count(mesh, KILN_ON_FACE)};
    /* Of exactly the size documented, so that a write past the end is seen. */
    c.x = malloc(c.vertices * 3 * sizeof(double));
    c.tet = malloc(c.tets * 4 * sizeof(uint32_t));
    c.triangle = malloc(c.triangles * 3 * sizeof(uint32_t));
    c.region = malloc(c.tets * sizeof(int32_t));
    c.tag = malloc(c.triangles * sizeof(int32_t));
    c.quality = malloc(c.tets * sizeof(double));
    kiln_mesh_copy_positions(mesh, KILN_SPACE_WORLD, c.x);
    ck_assert_int_eq(kiln_mesh_copy_tets(mesh, c.tet, NULL), KILN_OK);
    ck_assert_int_eq(kiln_mesh_copy_triangles(mesh, c.triangle, NULL), KILN_OK);
    kiln_mesh_copy_tags(mesh, KILN_ON_TET, c.region);
    kiln_mesh_copy_tags(mesh, KILN_ON_FACE, c.tag);
    kiln_mesh_copy_quality(mesh, KILN_SPACE_WORLD, c.quality);
    return c;
}

static void free_copies(copies *c)
{
    free(c->x);
    free(c->tet);
    free(c->triangle);
    free(c->region);
    free(c->tag);
    free(c->quality);
}

static kiln_vec3 point(const copies *c, uint32_t v)
{
    ck_assert_uint_lt(v, c->vertices);
    return kiln_v3(c->x[3 * v], c->x[3 * v + 1], c->x[3 * v + 2]);
}

/* The tets fill the volume and the triangles enclose it: both by numbers alone. */
static void check_copies(const kiln_mesh *mesh)
{
    copies c = copy_all(mesh);
    double inside = 0, enclosed = 0, least = 2, sum = 0;
    for (size_t t = 0; t < c.tets; t++) {
        kiln_vec3 p[4];
        for (int k = 0; k < 4; k++)
            p[k] = point(&c, c.tet[4 * t + k]);
        inside += kiln_tet_volume(p[0], p[1], p[2], p[3]);
        ck_assert_double_eq_tol(c.quality[t], kiln_tet_quality(&p[0], &p[1], &p[2], &p[3]), 4e-15);
        least = fmin(least, c.quality[t]);
        sum += c.quality[t];
    }
    for (size_t f = 0; f < c.triangles; f++)
        enclosed +=
            kiln_tet_volume(kiln_v3(0, 0, 0), point(&c, c.triangle[3 * f]),
                            point(&c, c.triangle[3 * f + 1]), point(&c, c.triangle[3 * f + 2]));
    double volume = kiln_mesh_volume(mesh), min, mean;
    ck_assert_double_eq_tol(inside, volume, 1e-13 * volume);
    ck_assert_double_eq_tol(enclosed, volume, 1e-12 * volume);
    kiln_mesh_quality(mesh, KILN_SPACE_WORLD, &min, &mean);
    ck_assert_double_eq(min, least);
    ck_assert_double_eq_tol(mean, sum / (double)c.tets, 1e-14);
    free_copies(&c);
}

static bool in_front(void *user, const kiln_mesh *mesh, uint32_t tet)
{
    double sum = 0;
    for (int k = 0; k < 4; k++)
        sum += mesh->u[mesh->tet[tet].v[k]].x;
    return 0.25 * sum < *(const double *)user;
}

/* A box without its first layer of cells, so that all three tables have gaps. */
static kiln_mesh *box_with_gaps(kiln_context *context)
{
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "n=4 lx=2");
    double low = HUGE_VAL;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        low = fmin(low, mesh->u[v].x);
    double middle = low + 0.25;
    kiln_txn txn = kiln_txn_begin(mesh);
    kiln_verdict verdict = kiln_tets_remove(&txn, in_front, &middle, 9, NULL);
    ck_assert_int_eq(kiln_txn_settle(&txn, verdict), KILN_ACCEPTED);
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        ck_assert_uint_lt(mesh->table[where].live, mesh->table[where].used);
    ck_assert_double_eq_tol(kiln_mesh_volume(mesh), 1.75, 1e-12);
    return mesh;
}

START_TEST(copies_are_the_mesh)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "n=3");
    ck_assert_uint_eq(kiln_mesh_count(mesh, KILN_ON_VERTEX), 64);
    ck_assert_uint_eq(kiln_mesh_count(mesh, KILN_ON_TET), 162);
    ck_assert_uint_eq(kiln_mesh_count(mesh, KILN_ON_FACE), 108);
    check_copies(mesh);
    copies c = copy_all(mesh);
    int patch[7] = {0};
    for (size_t f = 0; f < c.triangles; f++)
        patch[c.tag[f]]++;
    for (int i = 1; i <= 6; i++)
        ck_assert_int_eq(patch[i], 18);
    for (size_t t = 0; t < c.tets; t++)
        ck_assert_int_eq(c.region[t], 1);
    free_copies(&c);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(gaps_are_not_seen)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box_with_gaps(context);
    kiln_test_audit(mesh);
    check_copies(mesh);
    copies c = copy_all(mesh);
    kiln_mesh *again = NULL;
    const kiln_mesh_arrays arrays = {.point_count = c.vertices,
                                     .points = c.x,
                                     .tet_count = c.tets,
                                     .tets = c.tet,
                                     .regions = c.region,
                                     .triangle_count = c.triangles,
                                     .triangles = c.triangle,
                                     .triangle_tags = c.tag};
    ck_assert_int_eq(kiln_mesh_from_arrays(context, &arrays, NULL, &again, NULL, NULL), KILN_OK);
    ck_assert_uint_eq(kiln_mesh_count(again, KILN_ON_FACE), c.triangles);
    copies d = copy_all(again);
    ck_assert_int_eq(memcmp(c.x, d.x, c.vertices * 3 * sizeof *c.x), 0);
    ck_assert_int_eq(memcmp(c.tet, d.tet, c.tets * 4 * sizeof *c.tet), 0);
    free_copies(&c);
    free_copies(&d);
    kiln_mesh_destroy(again);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(fields_by_name)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box_with_gaps(context);
    kiln_mesh *twin = box_with_gaps(context);
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        kiln_where on = (kiln_where)where;
        size_t count = kiln_mesh_count(mesh, on);
        double *in = malloc(2 * count * sizeof *in), *out = malloc(2 * count * sizeof *out);
        for (size_t i = 0; i < 2 * count; i++)
            in[i] = 0.5 * (double)i - 3.0;
        ck_assert_ptr_null(kiln_mesh_field_name(mesh, on, 0));
        ck_assert_uint_eq(kiln_mesh_field_components(mesh, on, "heat flow"), 0);
        ck_assert_int_eq(kiln_mesh_get_field(mesh, on, "heat flow", out, NULL), KILN_ERR_INPUT);
        uint64_t revision = mesh->revision;
        ck_assert_int_eq(kiln_mesh_set_field(mesh, on, "heat flow", 2, in, NULL), KILN_OK);
        ck_assert_uint_gt(mesh->revision, revision);
        ck_assert_str_eq(kiln_mesh_field_name(mesh, on, 0), "heat flow");
        ck_assert_ptr_null(kiln_mesh_field_name(mesh, on, 1));
        ck_assert_uint_eq(kiln_mesh_field_components(mesh, on, "heat flow"), 2);
        in[1] = 77;
        ck_assert_int_eq(kiln_mesh_set_field(mesh, on, "heat flow", 2, in, NULL), KILN_OK);
        ck_assert_int_eq(kiln_mesh_get_field(mesh, on, "heat flow", out, NULL), KILN_OK);
        ck_assert_int_eq(memcmp(in, out, 2 * count * sizeof *in), 0);
        free(in);
        free(out);
    }
    kiln_test_audit(mesh);
    check_copies(mesh);
    ck_assert_uint_ne(kiln_mesh_hash(mesh), kiln_mesh_hash(twin));
    kiln_mesh_destroy(mesh);
    kiln_mesh_destroy(twin);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(fields_that_are_refused)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "n=1");
    double values[24] = {0}, odd[24] = {0};
    odd[5] = NAN;
    kiln_error error;
    const uint32_t tags[4] = {1, 2, 3, 4};
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, "ids", KILN_ON_VERTEX, KILN_U32, 1, KILN_RULE_COPY, NULL),
        KILN_OK);
    memcpy(kiln_mesh_field(mesh, KILN_ON_VERTEX, "ids")->data, tags, sizeof tags);
    ck_assert_int_eq(kiln_mesh_set_field(mesh, KILN_ON_VERTEX, "a", 1, values, NULL), KILN_OK);
    uint64_t hash = kiln_mesh_hash(mesh);
    const struct {
        const char *name;
        uint32_t components;
        const double *values;
        kiln_status status;
        const char *words;
    } cases[] = {{"a", 3, values, KILN_ERR_INPUT, "has 1 components, not 3"},
                 {"a", 1, odd, KILN_ERR_INPUT, "item 5 (from 0) is not finite"},
                 {"b", 3, odd, KILN_ERR_INPUT, "item 1 (from 0) is not finite"},
                 {"b", 0, values, KILN_ERR_INPUT, "1 to 256 components"},
                 {"b", 257, values, KILN_ERR_INPUT, "1 to 256 components"},
                 {"b", 1000000000, values, KILN_ERR_INPUT, "1 to 256 components"},
                 {"", 1, values, KILN_ERR_INPUT, "1 to 63 characters"},
                 {"u", 3, values, KILN_ERR_INPUT, "taken by the mesh"},
                 {".x", 3, values, KILN_ERR_INPUT, "taken by the mesh"},
                 {"ids", 1, values, KILN_ERR_UNSUPPORTED, "not of doubles"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kiln_status status = kiln_mesh_set_field(mesh, KILN_ON_VERTEX, cases[i].name,
                                                 cases[i].components, cases[i].values, &error);
        ck_assert_int_eq(status, cases[i].status);
        ck_assert_msg(strstr(error.message, cases[i].words), "%s: %s", cases[i].name,
                      error.message);
        ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    }
    double ids[8];
    ck_assert_int_eq(kiln_mesh_get_field(mesh, KILN_ON_VERTEX, "ids", ids, NULL), KILN_OK);
    ck_assert_double_eq(ids[3], 4);
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_mesh_set_field(mesh, KILN_ON_VERTEX, "a", 1, values, NULL),
                     KILN_ERR_STATE);
    kiln_txn_rollback(&txn);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("copy_out");
    TCase *all = kiln_test_case(suite, "copy_out");
    tcase_add_test(all, copies_are_the_mesh);
    tcase_add_test(all, gaps_are_not_seen);
    tcase_add_test(all, fields_by_name);
    tcase_add_test(all, fields_that_are_refused);
    return suite;
}
