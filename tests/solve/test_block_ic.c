#include "dense.h"
#include "solve/block_ic.h"
#include "solve/row_order.h"

/* Blocks `value * I` on the diagonal and between the given pairs. */
static void add_scaled(kiln_bsr *matrix, uint32_t i, uint32_t j, double value)
{
    kiln_bsr_add(matrix, i, j, (const double[3][3]){{value, 0, 0}, {0, value, 0}, {0, 0, value}});
}

/* A tree swept in one part has no fill: the incomplete factor is the whole one, up to single
 * precision. Rows in a random order. */
START_TEST(on_a_tree_it_is_the_inverse)
{
    enum { ROWS = 4000, N = 3 * ROWS };
    kiln_context *context = kiln_test_context(2);
    kiln_random random = kiln_random_start(1, 6);
    uint32_t *label = malloc(ROWS * sizeof *label), *pairs = malloc(2 * ROWS * sizeof *pairs);
    for (uint32_t i = 0; i < ROWS; i++)
        label[i] = i;
    for (uint32_t i = ROWS; i-- > 1;) {
        uint32_t j = kiln_random_below(&random, i + 1), t = label[i];
        label[i] = label[j];
        label[j] = t;
    }
    for (uint32_t i = 1; i < ROWS; i++) {
        uint32_t back = 1 + kiln_random_below(&random, i < 20 ? i : 20);
        pairs[2 * (i - 1)] = label[i];
        pairs[2 * (i - 1) + 1] = label[i - back];
    }
    kiln_cliques cliques = {.count = ROWS - 1, .size = 2, .row = pairs};
    kiln_bsr matrix;
    kiln_bsr_init(&matrix, context);
    ck_assert_int_eq(kiln_bsr_set_pattern(&matrix, ROWS, &cliques, 1, NULL), KILN_OK);
    for (uint32_t i = 0; i < ROWS; i++)
        add_scaled(&matrix, i, i, 0.01);
    for (uint32_t k = 0; k + 1 < ROWS; k++) {
        /* A spring with a random direction, and one without. */
        double v[3], b[3][3], minus[3][3];
        for (int c = 0; c < 3; c++)
            v[c] = kiln_random_range(&random, -1.0, 1.0);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) {
                b[r][c] = v[r] * v[c] + (r == c ? 1.0 : 0.0);
                minus[r][c] = -b[r][c];
            }
        kiln_bsr_add(&matrix, pairs[2 * k], pairs[2 * k], (const double(*)[3])b);
        kiln_bsr_add(&matrix, pairs[2 * k + 1], pairs[2 * k + 1], (const double(*)[3])b);
        kiln_bsr_add(&matrix, pairs[2 * k], pairs[2 * k + 1], (const double(*)[3])minus);
    }
    kiln_block_ic ic;
    kiln_block_ic_init(&ic, context);
    bool positive = false;
    ck_assert_int_eq(kiln_block_ic_analyse(&ic, &matrix, NULL), KILN_OK);
    ck_assert_int_eq(kiln_block_ic_factor(&ic, &matrix, &positive, NULL), KILN_OK);
    ck_assert(positive);
    ck_assert_double_eq(ic.shift, 0.0);
    ck_assert_uint_eq(ic.separators_begin, ROWS);
    double *x = random_vector(&random, N), *b = malloc(N * sizeof *b), *z = malloc(N * sizeof *z);
    ck_assert_int_eq(kiln_bsr_multiply(&matrix, x, b, NULL), KILN_OK);
    kiln_block_ic_apply(&ic, b, z);
    for (size_t i = 0; i < N; i++)
        ck_assert_double_eq_tol(z[i], x[i], 2e-4);
    kiln_block_ic_free(&ic);
    kiln_bsr_free(&matrix);
    free(label);
    free(pairs);
    free(x);
    free(b);
    free(z);
    kiln_context_destroy(context);
}
END_TEST

/* r = U' D U z from the arrays, by the definition. */
static void multiply_back(const kiln_block_ic *ic, const double *z, double *r)
{
    double *w = calloc(3 * ic->rows, sizeof *w), *v = calloc(3 * ic->rows, sizeof *v);
    for (size_t k = 0; k < ic->rows; k++) {
        double d[9];
        ck_assert(kiln_invert_positive(3, ic->inverse + 9 * k, 0.0, d));
        for (int c = 0; c < 3; c++)
            w[3 * k + c] = z[3 * ic->order[k] + c];
        for (uint64_t b = ic->start[k]; b < ic->start[k + 1]; b++)
            for (int e = 0; e < 9; e++)
                w[3 * k + e / 3] +=
                    (double)ic->value[9 * b + e] * z[3 * ic->order[ic->column[b]] + e % 3];
        for (int e = 0; e < 9; e++)
            v[3 * k + e / 3] += d[e] * w[3 * k + e % 3];
    }
    for (size_t i = 0; i < 3 * ic->rows; i++)
        r[i] = 0.0;
    for (size_t k = 0; k < ic->rows; k++) {
        for (int c = 0; c < 3; c++)
            r[3 * ic->order[k] + c] += v[3 * k + c];
        for (uint64_t b = ic->start[k]; b < ic->start[k + 1]; b++)
            for (int e = 0; e < 9; e++)
                r[3 * ic->order[ic->column[b]] + e % 3] +=
                    (double)ic->value[9 * b + e] * v[3 * k + e / 3];
    }
    free(w);
    free(v);
}

START_TEST(sweeps_through_all_parts_undo_the_factor)
{
    enum { ROWS = 6000, N = 3 * ROWS };
    static const char *const isas[] = {"scalar", "avx2", "avx512"};
    kiln_context *context = kiln_test_context(3);
    if (!kiln_isa_parse(isas[_i], &context->isa)) {
        kiln_context_destroy(context);
        return;
    }
    kiln_random random = kiln_random_start(5, 6);
    kiln_bsr matrix;
    kiln_block_ic ic;
    kiln_bsr_init(&matrix, context);
    kiln_block_ic_init(&ic, context);
    random_matrix(&matrix, &random, ROWS, 9000, 30, 0.1);
    bool positive = false;
    ck_assert_int_eq(kiln_block_ic_analyse(&ic, &matrix, NULL), KILN_OK);
    ck_assert_int_eq(kiln_block_ic_factor(&ic, &matrix, &positive, NULL), KILN_OK);
    ck_assert(positive);
    ck_assert_uint_gt(ic.part_begin[KILN_IC_PARTS - 1], 0);
    ck_assert_uint_lt(ic.separators_begin, ROWS);
    double *r = random_vector(&random, N), *z = malloc(N * sizeof *z),
           *back = malloc(N * sizeof *z);
    kiln_block_ic_apply(&ic, r, z);
    multiply_back(&ic, z, back);
    for (size_t i = 0; i < N; i++)
        ck_assert_double_eq_tol(back[i], r[i], 1e-10);
    free(r);
    free(z);
    free(back);
    kiln_block_ic_free(&ic);
    kiln_bsr_free(&matrix);
    kiln_context_destroy(context);
}
END_TEST

/* Kershaw 1978: positive definite, but the incomplete factor meets a negative pivot. */
START_TEST(a_negative_pivot_is_shifted_away)
{
    const double a[4][4] = {{3, -2, 0, 2}, {-2, 3, -2, 0}, {0, -2, 3, -2}, {2, 0, -2, 3}};
    kiln_context *context = kiln_test_context(1);
    kiln_bsr matrix;
    kiln_bsr_init(&matrix, context);
    const uint32_t pairs[] = {0, 1, 1, 2, 2, 3, 0, 3};
    kiln_cliques cliques = {.count = 4, .size = 2, .row = pairs};
    ck_assert_int_eq(kiln_bsr_set_pattern(&matrix, 4, &cliques, 1, NULL), KILN_OK);
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t j = i; j < 4; j++)
            if (a[i][j] != 0.0)
                add_scaled(&matrix, i, j, a[i][j]);
    kiln_block_ic ic;
    kiln_block_ic_init(&ic, context);
    bool positive = false;
    ck_assert_int_eq(kiln_block_ic_analyse(&ic, &matrix, NULL), KILN_OK);
    ck_assert_int_eq(kiln_block_ic_factor(&ic, &matrix, &positive, NULL), KILN_OK);
    ck_assert(positive);
    ck_assert_double_gt(ic.shift, 0.0);
    /* Still a positive definite preconditioner. */
    for (int k = 0; k < 12; k++) {
        double r[12] = {0}, z[12];
        r[k] = 1.0;
        kiln_block_ic_apply(&ic, r, z);
        ck_assert_double_gt(z[k], 0.0);
    }
    add_scaled(&matrix, 2, 2, -4.0);
    ck_assert_int_eq(kiln_block_ic_factor(&ic, &matrix, &positive, NULL), KILN_OK);
    ck_assert(!positive);
    kiln_block_ic_free(&ic);
    kiln_bsr_free(&matrix);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(order_is_a_permutation_with_near_neighbours)
{
    enum { SIDE = 12, ROWS = SIDE * SIDE * SIDE };
    kiln_context *context = kiln_test_context(1);
    kiln_random random = kiln_random_start(3, 6);
    static uint32_t label[ROWS], pairs[6 * ROWS], order[ROWS], mark[ROWS], place[ROWS];
    size_t count = 0;
    for (uint32_t i = 0; i < ROWS; i++)
        label[i] = i;
    for (uint32_t i = ROWS; i-- > 1;) {
        uint32_t j = kiln_random_below(&random, i + 1), t = label[i];
        label[i] = label[j];
        label[j] = t;
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        const uint32_t at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        const uint32_t step[3] = {1, SIDE, SIDE * SIDE};
        for (int c = 0; c < 3; c++)
            if (at[c] + 1 < SIDE) {
                pairs[count++] = label[i];
                pairs[count++] = label[i + step[c]];
            }
    }
    kiln_cliques cliques = {.count = count / 2, .size = 2, .row = pairs};
    kiln_bsr matrix;
    kiln_row_graph graph;
    kiln_bsr_init(&matrix, context);
    ck_assert_int_eq(kiln_bsr_set_pattern(&matrix, ROWS, &cliques, 1, NULL), KILN_OK);
    ck_assert_int_eq(kiln_row_graph_make(&matrix, &graph, NULL), KILN_OK);
    ck_assert_uint_eq(graph.edges, count);
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint64_t k = graph.start[i] + 1; k < graph.start[i + 1]; k++)
            ck_assert_uint_lt(graph.neighbour[k - 1], graph.neighbour[k]);
    kiln_row_order(&graph, order, mark);
    memset(place, 0xFF, sizeof place);
    for (uint32_t i = 0; i < ROWS; i++) {
        ck_assert_uint_eq(place[order[i]], UINT32_MAX);
        place[order[i]] = i;
    }
    for (size_t k = 0; k < count; k += 2)
        ck_assert_int_le(abs((int)place[pairs[k]] - (int)place[pairs[k + 1]]), SIDE * SIDE);
    kiln_row_graph_free(context, &graph);
    kiln_bsr_free(&matrix);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(positive_blocks_are_inverted)
{
    kiln_random random = kiln_random_start(4, 6);
    for (int round = 0; round < 200; round++) {
        double f[9], a[9] = {0}, inverse[9];
        for (int e = 0; e < 9; e++)
            f[e] = kiln_random_range(&random, -1.0, 1.0);
        for (int e = 0; e < 9; e++) {
            for (int k = 0; k < 3; k++)
                a[e] += f[3 * k + e / 3] * f[3 * k + e % 3];
            a[e] += e % 4 == 0 ? 0.1 : 0.0;
        }
        ck_assert(kiln_invert_positive(3, a, 0.0, inverse));
        for (int e = 0; e < 9; e++) {
            double sum = 0.0;
            for (int k = 0; k < 3; k++)
                sum += a[e / 3 * 3 + k] * inverse[3 * k + e % 3];
            ck_assert_double_eq_tol(sum, e % 4 == 0 ? 1.0 : 0.0, 1e-13);
        }
        a[round % 3 * 4] = -0.01;
        ck_assert(!kiln_invert_positive(3, a, 0.0, inverse));
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("block_ic");
    TCase *all = kiln_test_case(suite, "block_ic");
    tcase_add_test(all, on_a_tree_it_is_the_inverse);
    tcase_add_loop_test(all, sweeps_through_all_parts_undo_the_factor, 0, 3);
    tcase_add_test(all, a_negative_pivot_is_shifted_away);
    tcase_add_test(all, order_is_a_permutation_with_near_neighbours);
    tcase_add_test(all, positive_blocks_are_inverted);
    return suite;
}
