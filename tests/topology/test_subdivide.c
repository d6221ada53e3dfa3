/* Division against locking: what is divided, what it does to the rank of the equations of volume,
 * and that it is taken back. */
#include "fem/ring_volume.h"
#include "fixtures.h"
#include "support.h"
#include "topology/subdivide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* By elimination with full pivoting; `a` [rows][columns] is lost. */
static size_t rank_of(double *a, size_t rows, size_t columns)
{
    size_t rank = 0;
    for (; rank < rows; rank++) {
        size_t at_row = rank, at_column = 0;
        double most = 0.0;
        for (size_t i = rank; i < rows; i++)
            for (size_t j = 0; j < columns; j++)
                if (fabs(a[i * columns + j]) > most) {
                    most = fabs(a[i * columns + j]);
                    at_row = i;
                    at_column = j;
                }
        if (most < 1e-10)
            break;
        for (size_t j = 0; j < columns; j++) {
            double t = a[rank * columns + j];
            a[rank * columns + j] = a[at_row * columns + j];
            a[at_row * columns + j] = t;
        }
        for (size_t i = rank + 1; i < rows; i++) {
            double part = a[i * columns + at_column] / a[rank * columns + at_column];
            for (size_t j = 0; j < columns; j++)
                a[i * columns + j] -= part * a[rank * columns + j];
        }
    }
    return rank;
}

/* Components that slip at the walls of a box that is open at the top leaves free: bits. */
static uint8_t held_at(kiln_vec3 p, kiln_vec3 high)
{
    return (uint8_t)((p.x == 0.0 || p.x == high.x ? 1 : 0) | (p.y == 0.0 || p.y == high.y ? 2 : 0) |
                     (p.z == 0.0 ? 4 : 0));
}

static size_t tank_rank(const kiln_mesh *mesh, kiln_vec3 high)
{
    size_t rows = mesh->table[KILN_ON_VERTEX].used, tets = mesh->table[KILN_ON_TET].used;
    uint8_t *keeps = malloc(tets);
    double *dense = calloc(3 * rows * rows, sizeof *dense);
    kiln_ring_volume rings;
    memset(keeps, 1, tets);
    kiln_ring_volume_init(&rings, mesh->context);
    ck_assert_int_eq(kiln_ring_volume_build(&rings, mesh, rows, keeps, NULL), KILN_OK);
    kiln_ring_volume_linearise(&rings, mesh, &mesh->x[0].x);
    const kiln_equations *e = &rings.equations;
    for (size_t i = 0; i < rows; i++)
        for (uint64_t k = e->start.data[i]; k < e->start.data[i + 1]; k++)
            for (int c = 0; c < 3; c++)
                if (!(held_at(mesh->x[e->column.data[k]], high) >> c & 1))
                    dense[3 * (rows * i + e->column.data[k]) + c] = e->value.data[3 * k + c];
    size_t rank = rank_of(dense, rows, 3 * rows);
    kiln_ring_volume_free(&rings);
    free(dense);
    free(keeps);
    return rank;
}

static size_t divide(kiln_mesh *mesh, kiln_splits *splits)
{
    uint8_t *may = malloc(mesh->table[KILN_ON_TET].used);
    memset(may, 1, mesh->table[KILN_ON_TET].used);
    ck_assert_int_eq(kiln_subdivide(mesh, may, splits, NULL), KILN_OK);
    kiln_test_audit(mesh);
    free(may);
    return splits->count;
}

static void undo(kiln_mesh *mesh, kiln_splits *splits)
{
    size_t left;
    ck_assert_int_eq(kiln_undo_subdivision(mesh, splits, &left, NULL), KILN_OK);
    ck_assert_uint_eq(left, 0);
    ck_assert_uint_eq(splits->count, 0);
    kiln_test_audit(mesh);
}

/* liquids-algorithms 13, test 2. */
START_TEST(ranks)
{
    static const struct {
        const char *settings;
        kiln_vec3 size;
        size_t rank, rows, splits, tets, then, of;
    } rows[] = {
        {"lx=2 ly=2 lz=5 nx=2 ny=2 nz=5", {2, 2, 5}, 51, 54, 24, 240, 78, 78},
        {"lx=2 ly=2 lz=5 nx=2 ny=2 nz=5 pattern=mirrored", {2, 2, 5}, 50, 54, 0, 0, 0, 0},
        {"lx=4 ly=4 lz=8 nx=4 ny=4 nz=8 pattern=mirrored", {4, 4, 8}, 221, 225, 0, 768, 221, 225},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        kiln_context *context = kiln_test_context(1);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", rows[i].settings);
        kiln_splits splits = {0};
        ck_assert_uint_eq(mesh->table[KILN_ON_VERTEX].used, rows[i].rows);
        ck_assert_uint_eq(tank_rank(mesh, rows[i].size), rows[i].rank);
        size_t made = divide(mesh, &splits);
        if (rows[i].tets) {
            ck_assert_uint_eq(made, rows[i].splits);
            ck_assert_uint_eq(mesh->table[KILN_ON_TET].live, rows[i].tets);
            ck_assert_uint_eq(mesh->table[KILN_ON_VERTEX].used, rows[i].of);
            ck_assert_uint_eq(tank_rank(mesh, rows[i].size), rows[i].then);
        }
        kiln_array_free(context, &splits);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
}
END_TEST

/* Numbers and corners are those of before, and amounts are summed up again. */
START_TEST(taken_back)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=2 ly=2 lz=5 nx=2 ny=2 nz=5");
    size_t tets = mesh->table[KILN_ON_TET].used;
    kiln_splits splits = {0};
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, "mass", KILN_ON_TET, KILN_F64, 1, KILN_RULE_CONSERVE, NULL),
        KILN_OK);
    double *mass = (double *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, "mass")->data, sum = 0.0;
    for (size_t t = 0; t < tets; t++)
        mass[t] = 1.0 + (double)(t % 7);
    uint32_t(*before)[4] = malloc(tets * sizeof *before);
    for (size_t t = 0; t < tets; t++)
        memcpy(before[t], mesh->tet[t].v, sizeof before[t]);
    ck_assert_uint_eq(divide(mesh, &splits), 24);
    mass = (double *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, "mass")->data;
    for (size_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        sum += mass[t];
    ck_assert_double_eq_tol(sum, 477.0, 1e-10);
    undo(mesh, &splits);
    mass = (double *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, "mass")->data;
    ck_assert_uint_eq(mesh->table[KILN_ON_TET].live, tets);
    for (size_t t = 0; t < tets; t++) {
        ck_assert_mem_eq(before[t], mesh->tet[t].v, sizeof before[t]);
        ck_assert_double_eq_tol(mass[t], 1.0 + (double)(t % 7), 1e-12);
    }
    free(before);
    kiln_array_free(context, &splits);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A single tet has nothing but its surface: it is divided at its centroid. Tets that may not be are
 * left alone. */
START_TEST(single_tets)
{
    kiln_context *context = kiln_test_context(1);
    static const kiln_vec3 points[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const kiln_soup_tet tet = {{0, 1, 2, 3}};
    kiln_mesh *mesh = kiln_test_mesh_of(context, 4, points, 1, &tet, NULL, KILN_BUILD_STRICT);
    kiln_splits splits = {0};
    const uint8_t none = 0;
    ck_assert_int_eq(kiln_subdivide(mesh, &none, &splits, NULL), KILN_OK);
    ck_assert_uint_eq(splits.count, 0);
    ck_assert_uint_eq(divide(mesh, &splits), 1);
    ck_assert_int_eq(splits.data[0].count, 4);
    ck_assert_uint_eq(mesh->table[KILN_ON_TET].live, 4);
    undo(mesh, &splits);
    ck_assert_uint_eq(mesh->table[KILN_ON_TET].live, 1);
    kiln_array_free(context, &splits);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("subdivision");
    TCase *c = kiln_test_case(suite, "all");
    tcase_add_test(c, ranks);
    tcase_add_test(c, taken_back);
    tcase_add_test(c, single_tets);
    return suite;
}
