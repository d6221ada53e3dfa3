#include "dense.h"
#include "solve/constraints.h"

static kiln_mat3 random_axes(kiln_random *random)
{
    kiln_vec3 v[3];
    for (int i = 0; i < 2; i++)
        v[i] = kiln_v3(kiln_random_range(random, -1, 1), kiln_random_range(random, -1, 1),
                       kiln_random_range(random, -1, 1));
    v[0] = kiln_v3_normalize(v[0]);
    v[1] = kiln_v3_normalize(kiln_v3_madd(v[1], -kiln_v3_dot(v[0], v[1]), v[0]));
    v[2] = kiln_v3_cross(v[0], v[1]);
    return kiln_m3_transpose(kiln_m3_columns(v[0], v[1], v[2]));
}

static void fill_constraints(kiln_constraints *constraints, kiln_random *random, size_t rows)
{
    ck_assert_int_eq(kiln_constraints_reset(constraints, rows, NULL), KILN_OK);
    for (uint32_t row = 0; row < rows; row++) {
        if (row % 3 == 0)
            constraints->held[row] = (uint8_t)kiln_random_below(random, 8);
        constraints->target[row] = kiln_v3(row, 2.0 * row, 1.0);
        if (row % 6 == 0) {
            kiln_constraint_frame frame = {row, random_axes(random)};
            ck_assert_int_eq(
                kiln_array_push(constraints->context, &constraints->frames, frame, NULL), KILN_OK);
        }
    }
}

/* Dense projector to the free components, from the definition. */
static double *dense_projector(const kiln_constraints *constraints)
{
    size_t n = 3 * constraints->rows;
    double *p = calloc(n * n, sizeof *p);
    size_t frame = 0;
    for (size_t row = 0; row < constraints->rows; row++) {
        kiln_mat3 axes = kiln_m3_identity();
        if (frame < constraints->frames.count && constraints->frames.data[frame].row == row)
            axes = constraints->frames.data[frame++].axes;
        for (int a = 0; a < 3; a++)
            if (!(constraints->held[row] >> a & 1))
                for (size_t r = 0; r < 3; r++)
                    for (size_t c = 0; c < 3; c++)
                        p[(3 * row + r) * n + 3 * row + c] += axes.m[a][r] * axes.m[a][c];
    }
    return p;
}

START_TEST(matrix_and_vectors_are_those_of_dense_algebra)
{
    enum { ROWS = 30, N = 3 * ROWS };
    for (uint64_t round = 0; round < kiln_test_rounds(5, 200); round++) {
        kiln_context *context = kiln_test_context(2);
        kiln_random random = kiln_random_start(round, 3);
        kiln_bsr matrix;
        kiln_constraints constraints;
        kiln_bsr_init(&matrix, context);
        kiln_constraints_init(&constraints, context);
        random_matrix(&matrix, &random, ROWS, 40, 0, 1.0);
        fill_constraints(&constraints, &random, ROWS);
        double *a = dense_of(&matrix), *p = dense_projector(&constraints);
        kiln_constraints_apply(&constraints, &matrix, 5.0);
        double *applied = dense_of(&matrix);
        double half[N];
        for (size_t i = 0; i < N; i++) {
            for (size_t j = 0; j < N; j++) {
                half[j] = 0.0;
                for (size_t k = 0; k < N; k++)
                    half[j] += p[i * N + k] * a[k * N + j];
            }
            for (size_t j = 0; j < N; j++) {
                double whole = 5.0 * ((i == j) - p[i * N + j]);
                for (size_t k = 0; k < N; k++)
                    whole += half[k] * p[k * N + j];
                ck_assert_double_eq_tol(applied[i * N + j], whole, 1e-12);
            }
        }
        double *g = random_vector(&random, N), *x = random_vector(&random, N), gap[N], before[N];
        memcpy(before, g, sizeof before);
        kiln_constraints_project(&constraints, g);
        kiln_constraints_gap(&constraints, x, gap);
        for (size_t i = 0; i < N; i++) {
            double projected = 0.0, way = 0.0;
            for (size_t j = 0; j < N; j++) {
                double target = ((const double *)&constraints.target[j / 3])[j % 3];
                projected += p[i * N + j] * before[j];
                way += ((i == j) - p[i * N + j]) * (target - x[j]);
            }
            ck_assert_double_eq_tol(g[i], projected, 1e-13);
            ck_assert_double_eq_tol(gap[i], way, 1e-12);
        }
        free(a);
        free(p);
        free(applied);
        free(g);
        free(x);
        kiln_constraints_free(&constraints);
        kiln_bsr_free(&matrix);
        kiln_context_destroy(context);
    }
}
END_TEST

/* What is held may be nonsense in the matrix and in free targets. */
START_TEST(held_rows_forget_what_they_had)
{
    kiln_context *context = kiln_test_context(1);
    kiln_bsr matrix;
    kiln_constraints constraints;
    kiln_bsr_init(&matrix, context);
    kiln_constraints_init(&constraints, context);
    const uint32_t row[] = {0, 1};
    kiln_cliques cliques = {.count = 1, .size = 2, .row = row};
    ck_assert_int_eq(kiln_bsr_set_pattern(&matrix, 2, &cliques, 1, NULL), KILN_OK);
    for (int k = 0; k < 9; k++)
        matrix.value[k / 3 * 6 + 3 + k % 3] = matrix.value[k / 3 * 6 + k % 3] = NAN;
    ck_assert_int_eq(kiln_constraints_reset(&constraints, 2, NULL), KILN_OK);
    constraints.held[0] = 7;
    constraints.target[1] = kiln_v3(NAN, NAN, NAN);
    kiln_constraints_apply(&constraints, &matrix, 2.0);
    double x[6] = {0}, gap[6];
    kiln_constraints_gap(&constraints, x, gap);
    for (int k = 0; k < 6; k++)
        ck_assert_double_eq(gap[k], 0.0);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 6; c++)
            ck_assert_double_eq(matrix.value[6 * r + c], r == c ? 2.0 : 0.0);
    kiln_constraints_free(&constraints);
    kiln_bsr_free(&matrix);
    kiln_context_destroy(context);
}
END_TEST

static void check_meets(const kiln_constraints *constraints, uint32_t row, const kiln_hold *hold)
{
    kiln_held held = kiln_constraints_held(constraints, row);
    kiln_mat3 axes = hold->axes ? *hold->axes : kiln_m3_identity();
    kiln_vec3 reached = {0, 0, 0};
    for (int k = 0; k < held.count; k++)
        reached = kiln_v3_madd(reached, held.place[k], held.axis[k]);
    for (int k = 0; k < 3; k++) {
        if (!(hold->components >> k & 1))
            continue;
        kiln_vec3 axis = kiln_v3(axes.m[k][0], axes.m[k][1], axes.m[k][2]);
        ck_assert_double_le(kiln_v3_norm(kiln_held_free_part(&held, axis)), 1e-6);
        ck_assert_double_eq_tol(kiln_v3_dot(axis, reached), kiln_v3_dot(axis, hold->target), 1e-6);
    }
}

/* Orthonormal; what was held in world axes, by one hold or as a whole, has no frame. */
static void check_directions(const kiln_constraints *constraints, uint32_t row, int asked)
{
    kiln_held held = kiln_constraints_held(constraints, row);
    for (int k = 0; k < held.count; k++)
        for (int l = 0; l <= k; l++)
            ck_assert_double_eq_tol(kiln_v3_dot(held.axis[k], held.axis[l]), k == l, 1e-9);
    bool frame = false;
    for (size_t i = 0; i < constraints->frames.count; i++)
        frame |= constraints->frames.data[i].row == row;
    if (asked < 2 || held.count == 3)
        ck_assert(!frame);
    ck_assert_int_eq(held.count == 0, asked == 0);
}

START_TEST(a_failed_allocation_keeps_the_rows)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_constraints constraints;
    kiln_constraints_init(&constraints, context);
    ck_assert_int_eq(kiln_constraints_reset(&constraints, 5, NULL), KILN_OK);
    constraints.held[4] = 7;
    for (uint64_t k = 1; k <= 2; k++) {
        heap.fail_at = heap.calls + k;
        ck_assert_int_eq(kiln_constraints_reset(&constraints, 50, NULL), KILN_ERR_MEMORY);
        heap.fail_at = 0;
    }
    ck_assert_uint_eq(constraints.rows, 5);
    ck_assert_uint_eq(constraints.held[4], 7);
    ck_assert_int_eq(kiln_constraints_reset(&constraints, 5, NULL), KILN_OK);
    ck_assert_uint_eq(constraints.held[4], 0);
    kiln_constraints_free(&constraints);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}
END_TEST

/* Holds in any axes come together as directions: what they ask for is met where it can be, in rows
 * that come in any order, and what contradicts is told. */
START_TEST(holds_come_together_as_directions)
{
    enum { ROWS = 20 };
    kiln_context *context = kiln_test_context(1);
    for (uint64_t round = 0; round < kiln_test_rounds(200, 20000); round++) {
        kiln_random random = kiln_random_start(round, 0);
        kiln_constraints constraints;
        kiln_constraints_init(&constraints, context);
        ck_assert_int_eq(kiln_constraints_reset(&constraints, ROWS, NULL), KILN_OK);
        kiln_vec3 place[ROWS];
        for (size_t row = 0; row < ROWS; row++)
            place[row] = kiln_v3(kiln_random_unit(&random), kiln_random_unit(&random), 1.0);
        int asked[ROWS] = {0}; /* 0: not, 1: by one hold in world axes */
        for (int i = 0; i < 3 * ROWS; i++) {
            uint32_t row = (uint32_t)kiln_random_below(&random, ROWS);
            kiln_mat3 axes = random_axes(&random);
            kiln_hold hold = {.components = (int)kiln_random_below(&random, 7) + 1,
                              .axes = kiln_random_below(&random, 2) ? &axes : NULL,
                              .target = place[row],
                              .tolerance = 1e-9};
            bool agrees;
            ck_assert_int_eq(kiln_constraints_hold(&constraints, row, &hold, &agrees, NULL),
                             KILN_OK);
            ck_assert(agrees);
            asked[row] += hold.axes ? 2 : 1;
            check_meets(&constraints, row, &hold);
        }
        for (size_t i = 1; i < constraints.frames.count; i++)
            ck_assert_uint_lt(constraints.frames.data[i - 1].row, constraints.frames.data[i].row);
        for (uint32_t row = 0; row < ROWS; row++)
            check_directions(&constraints, row, asked[row]);
        kiln_constraints_free(&constraints);
    }
    kiln_context_destroy(context);
}
END_TEST

START_TEST(holds_that_contradict_are_told)
{
    kiln_context *context = kiln_test_context(1);
    kiln_constraints constraints;
    kiln_constraints_init(&constraints, context);
    ck_assert_int_eq(kiln_constraints_reset(&constraints, 2, NULL), KILN_OK);
    kiln_mat3 turned = kiln_m3_rotation(kiln_v3(0, 0, 1), 0.3);
    kiln_hold whole = {.components = 7, .target = {1, 2, 3}, .tolerance = 1e-9};
    kiln_hold other = whole, along = {.components = 4, .axes = &turned, .tolerance = 1e-9};
    other.target.y += 1e-6;
    along.target.z = 3.0;
    bool agrees;
    ck_assert_int_eq(kiln_constraints_hold(&constraints, 0, &whole, &agrees, NULL), KILN_OK);
    ck_assert_int_eq(kiln_constraints_hold(&constraints, 0, &whole, &agrees, NULL), KILN_OK);
    ck_assert(agrees);
    ck_assert_int_eq(kiln_constraints_hold(&constraints, 0, &other, &agrees, NULL), KILN_OK);
    ck_assert(!agrees);
    ck_assert_int_eq(kiln_constraints_hold(&constraints, 1, &along, &agrees, NULL), KILN_OK);
    along.target = kiln_v3(7, 7, 3.0); /* only along the axis */
    ck_assert_int_eq(kiln_constraints_hold(&constraints, 1, &along, &agrees, NULL), KILN_OK);
    ck_assert(agrees);
    along.target.z = 3.1;
    ck_assert_int_eq(kiln_constraints_hold(&constraints, 1, &along, &agrees, NULL), KILN_OK);
    ck_assert(!agrees);
    kiln_constraints_free(&constraints);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("constraints");
    TCase *all = kiln_test_case(suite, "constraints");
    tcase_add_test(all, matrix_and_vectors_are_those_of_dense_algebra);
    tcase_add_test(all, held_rows_forget_what_they_had);
    tcase_add_test(all, holds_come_together_as_directions);
    tcase_add_test(all, holds_that_contradict_are_told);
    tcase_add_test(all, a_failed_allocation_keeps_the_rows);
    return suite;
}
