#include "dense.h"

/* The pattern, by the definition: every pair of every clique, and the diagonal. */
static bool *dense_pattern(size_t rows, const kiln_cliques *sets, size_t set_count)
{
    bool *coupled = calloc(rows * rows, sizeof *coupled);
    for (size_t i = 0; i < rows; i++)
        coupled[i * rows + i] = true;
    for (size_t s = 0; s < set_count; s++)
        for (size_t c = 0; c < sets[s].count; c++) {
            uint64_t begin = sets[s].start ? sets[s].start[c] : c * sets[s].size;
            uint64_t end = sets[s].start ? sets[s].start[c + 1] : begin + sets[s].size;
            for (uint64_t p = begin; p < end; p++)
                for (uint64_t q = begin; q < end; q++)
                    if (sets[s].row[p] != KILN_BSR_NO_ROW && sets[s].row[q] != KILN_BSR_NO_ROW)
                        coupled[sets[s].row[p] * rows + sets[s].row[q]] = true;
        }
    return coupled;
}

static void check_pattern(const kiln_bsr *matrix, const bool *coupled)
{
    uint64_t block = 0;
    for (uint32_t i = 0; i < matrix->rows; i++) {
        ck_assert_uint_eq(matrix->start[i], block);
        for (uint32_t j = i; j < matrix->rows; j++)
            if (coupled[i * matrix->rows + j]) {
                ck_assert_uint_eq(matrix->column[block], j);
                ck_assert_uint_eq(kiln_bsr_find(matrix, i, j), block);
                block++;
            }
    }
    ck_assert_uint_eq(matrix->start[matrix->rows], block);
    for (uint64_t k = 0; k < 9 * block; k++)
        ck_assert_double_eq(matrix->value[k], 0.0);
}

START_TEST(pattern_is_every_pair_of_every_clique)
{
    for (uint64_t round = 0; round < kiln_test_rounds(40, 2000); round++) {
        kiln_context *context = kiln_test_context(1 + (int)(round % 3));
        kiln_random random = kiln_random_start(round, 1);
        size_t rows = 1 + kiln_random_below(&random, 120);
        size_t count = kiln_random_below(&random, 100);
        uint32_t *tets = random_cliques(&random, rows, count, 4, round % 2 ? 9 : 0);
        uint32_t *mixed = random_cliques(&random, rows, 10, 9, 0);
        if (count)
            tets[0] = KILN_BSR_NO_ROW;
        const uint64_t start[] = {0, 0, 1, 60, 90};
        kiln_cliques sets[] = {{.count = count, .size = 4, .row = tets},
                               {.count = 4, .start = start, .row = mixed}};
        kiln_bsr matrix;
        kiln_bsr_init(&matrix, context);
        ck_assert_int_eq(kiln_bsr_set_pattern(&matrix, rows, sets, 2, NULL), KILN_OK);
        bool *coupled = dense_pattern(rows, sets, 2);
        check_pattern(&matrix, coupled);
        /* The same cliques the other way round keep the arrays; values are zero again. */
        double *values = matrix.value;
        uint64_t pattern = matrix.pattern;
        values[0] = 7.0;
        kiln_cliques turned[] = {sets[1], sets[0]};
        ck_assert_int_eq(kiln_bsr_set_pattern(&matrix, rows, turned, 2, NULL), KILN_OK);
        ck_assert_ptr_eq(matrix.value, values);
        ck_assert_uint_eq(matrix.pattern, pattern);
        check_pattern(&matrix, coupled);
        ck_assert_uint_ge(kiln_bsr_bytes(&matrix), 76 * matrix.start[rows]);
        /* One set over the pattern of the other. */
        kiln_bsr under, over;
        kiln_bsr_init_pattern(&under, context, 3);
        kiln_bsr_init(&over, context);
        ck_assert_int_eq(kiln_bsr_set_pattern(&under, rows, sets, 1, NULL), KILN_OK);
        ck_assert_ptr_null(under.value);
        ck_assert_int_eq(kiln_bsr_set_pattern_over(&over, &under, sets + 1, 1, NULL), KILN_OK);
        ck_assert_uint_eq(over.pattern, pattern);
        check_pattern(&over, coupled);
        kiln_bsr_free(&under);
        kiln_bsr_free(&over);
        ck_assert_int_eq(kiln_bsr_set_pattern(&matrix, rows + 1, sets, 2, NULL), KILN_OK);
        ck_assert_uint_ne(matrix.pattern, pattern);
        kiln_bsr_free(&matrix);
        free(coupled);
        free(tets);
        free(mixed);
        kiln_context_destroy(context);
    }
}
END_TEST

/* Rows of the cliques, without padding, to be formed again: `changed` gets those of clique c. */
static void mark_rows(const uint32_t *clique, bool *changed)
{
    for (int k = 0; k < 4; k++)
        if (clique[k] != KILN_BSR_NO_ROW)
            changed[clique[k]] = true;
}

/* Some cliques are exchanged and rows added or taken away at the end: renewing the rows concerned
 * gives what forming all of it gives. */
START_TEST(renewed_rows_give_the_whole_pattern)
{
    for (uint64_t round = 0; round < kiln_test_rounds(15, 1500); round++) {
        kiln_context *context = kiln_test_context(1 + (int)(round % 3));
        kiln_random random = kiln_random_start(round, 9);
        uint32_t before = 30 + kiln_random_below(&random, 3000);
        uint32_t after = before - 20 + kiln_random_below(&random, 40);
        uint32_t least = before < after ? before : after;
        size_t count = 2 * before;
        uint32_t *tets = random_cliques(&random, before, count, 4, 9);
        kiln_cliques set = {.count = count, .size = 4, .row = tets};
        kiln_bsr a, b;
        kiln_bsr_init(&a, context), kiln_bsr_init(&b, context);
        ck_assert_int_eq(kiln_bsr_set_pattern(&a, before, &set, 1, NULL), KILN_OK);
        bool *marked = calloc(before + after, sizeof *marked);
        for (size_t c = 0; c < count; c++) {
            bool gone = kiln_random_below(&random, 50) == 0;
            for (int k = 0; k < 4; k++)
                gone = gone || tets[4 * c + (size_t)k] >= after;
            if (!gone)
                continue;
            mark_rows(tets + 4 * c, marked);
            for (int k = 0; k < 4; k++)
                tets[4 * c + (size_t)k] = kiln_random_below(&random, after);
            mark_rows(tets + 4 * c, marked);
        }
        uint32_t *changed = malloc(after * sizeof *changed), changes = 0;
        for (uint32_t row = 0; row < least; row++)
            if (marked[row])
                changed[changes++] = row;
        ck_assert_int_eq(kiln_bsr_renew_pattern(&a, after, &set, 1, changed, changes, NULL),
                         KILN_OK);
        ck_assert_int_eq(kiln_bsr_set_pattern(&b, after, &set, 1, NULL), KILN_OK);
        ck_assert_uint_eq(a.pattern, b.pattern);
        ck_assert_mem_eq(a.start, b.start, (after + 1) * sizeof *a.start);
        ck_assert_mem_eq(a.column, b.column, a.start[after] * sizeof *a.column);
        kiln_bsr_clear(&a);
        fill_positive(&a, &random, tets, count, 4, 0.5);
        double *x = random_vector(&random, 3 * after), *y = calloc(6 * after, sizeof *y);
        memcpy(b.value, a.value, 9 * a.start[after] * sizeof *a.value);
        ck_assert_int_eq(kiln_bsr_multiply(&a, x, y, NULL), KILN_OK);
        ck_assert_int_eq(kiln_bsr_multiply(&b, x, y + 3 * after, NULL), KILN_OK);
        ck_assert_mem_eq(y, y + 3 * after, 3 * after * sizeof *y);
        kiln_bsr_free(&a), kiln_bsr_free(&b);
        free(marked), free(changed), free(tets), free(x), free(y);
        kiln_context_destroy(context);
    }
}
END_TEST

/* Padding may stand anywhere in a clique. */
START_TEST(padding_is_no_row)
{
    kiln_context *context = kiln_test_context(1);
    const uint32_t none = KILN_BSR_NO_ROW, rows[] = {0, 1, 2, 3, 2, none, 4, 3, none, 0, 4, none};
    const kiln_cliques set = {.count = 3, .size = 4, .row = rows};
    const uint32_t changed[] = {4};
    kiln_bsr a, b;
    kiln_bsr_init(&a, context), kiln_bsr_init(&b, context);
    ck_assert_int_eq(kiln_bsr_set_pattern(&a, 5, &set, 1, NULL), KILN_OK);
    ck_assert_int_eq(kiln_bsr_set_pattern(&b, 5, &set, 1, NULL), KILN_OK);
    ck_assert_int_eq(kiln_bsr_renew_pattern(&a, 5, &set, 1, changed, 1, NULL), KILN_OK);
    ck_assert_uint_eq(a.pattern, b.pattern);
    ck_assert_uint_eq(a.start[5], 5 + 6 + 2 + 1);
    kiln_bsr_free(&a), kiln_bsr_free(&b);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(a_matrix_may_be_empty)
{
    kiln_context *context = kiln_test_context(2);
    kiln_bsr matrix;
    kiln_bsr_init(&matrix, context);
    ck_assert_uint_eq(kiln_bsr_bytes(&matrix), 0);
    ck_assert_int_eq(kiln_bsr_set_pattern(&matrix, 0, NULL, 0, NULL), KILN_OK);
    ck_assert_uint_eq(matrix.start[0], 0);
    double nothing;
    ck_assert_int_eq(kiln_bsr_multiply(&matrix, &nothing, &nothing, NULL), KILN_OK);
    kiln_bsr_free(&matrix);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(product_is_that_of_the_dense_matrix)
{
    static const char *const isas[] = {"scalar", "avx2", "avx512"};
    for (int isa = 0; isa < 3; isa++) {
        kiln_context *context = kiln_test_context(2);
        if (!kiln_isa_parse(isas[isa], &context->isa)) {
            kiln_context_destroy(context);
            continue;
        }
        kiln_random random = kiln_random_start(3, 2);
        size_t rows = 150, n = 3 * rows;
        kiln_bsr matrix;
        kiln_bsr_init(&matrix, context);
        random_matrix(&matrix, &random, rows, 200, 0, 1.0);
        double *a = dense_of(&matrix), *x = random_vector(&random, n), *y = calloc(n, sizeof *y);
        ck_assert_int_eq(kiln_bsr_multiply(&matrix, x, y, NULL), KILN_OK);
        for (size_t i = 0; i < n; i++) {
            double sum = 0.0;
            for (size_t j = 0; j < n; j++)
                sum += a[i * n + j] * x[j];
            ck_assert_double_eq_tol(y[i], sum, 1e-12);
        }
        free(a);
        free(x);
        free(y);
        kiln_bsr_free(&matrix);
        kiln_context_destroy(context);
    }
}
END_TEST

/* Several chunks, coupled near and far, and their spill. */
START_TEST(product_has_the_same_bits_for_any_number_of_threads)
{
    enum { ROWS = 7000, CLIQUES = 9000, N = 3 * ROWS };
    double *first = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        kiln_context *context = kiln_test_context(threads);
        kiln_random random = kiln_random_start(5, 2);
        kiln_bsr matrix;
        kiln_bsr_init(&matrix, context);
        random_matrix(&matrix, &random, ROWS, CLIQUES, 0, 1.0);
        double *x = random_vector(&random, N), *y = calloc(N, sizeof *y);
        double *plain = calloc(N, sizeof *plain);
        ck_assert_int_eq(kiln_bsr_multiply(&matrix, x, y, NULL), KILN_OK);
        for (uint32_t i = 0; i < ROWS; i++)
            for (uint64_t b = matrix.start[i]; b < matrix.start[i + 1]; b++) {
                size_t stride, j = matrix.column[b];
                const double *at = kiln_bsr_at(&matrix, i, b, &stride);
                for (size_t r = 0; r < 3; r++)
                    for (size_t c = 0; c < 3; c++) {
                        plain[3 * i + r] += at[r * stride + c] * x[3 * j + c];
                        if (i != j)
                            plain[3 * j + c] += at[r * stride + c] * x[3 * i + r];
                    }
            }
        for (size_t i = 0; i < N; i++)
            ck_assert_double_eq_tol(y[i], plain[i], 1e-11);
        if (!first) {
            first = y;
        } else {
            ck_assert_int_eq(memcmp(first, y, N * sizeof *y), 0);
            free(y);
        }
        free(x);
        free(plain);
        kiln_bsr_free(&matrix);
        kiln_context_destroy(context);
    }
    free(first);
}
END_TEST

/* Renumbering rows renumbers the product. */
START_TEST(renumbering_changes_nothing_but_the_order)
{
    enum { ROWS = 60, CLIQUES = 80, N = 3 * ROWS };
    kiln_context *context = kiln_test_context(1);
    kiln_random random = kiln_random_start(6, 2);
    uint32_t *row = random_cliques(&random, ROWS, CLIQUES, 4, 0), turned[4 * CLIQUES], to[ROWS];
    for (uint32_t i = 0; i < ROWS; i++)
        to[i] = i;
    for (uint32_t i = ROWS; i-- > 1;) {
        uint32_t j = kiln_random_below(&random, i + 1), t = to[i];
        to[i] = to[j];
        to[j] = t;
    }
    for (size_t k = 0; k < 4 * CLIQUES; k++)
        turned[k] = to[row[k]];
    kiln_cliques sets[2] = {{.count = CLIQUES, .size = 4, .row = row},
                            {.count = CLIQUES, .size = 4, .row = turned}};
    double y[2][N], x[2][N];
    for (size_t i = 0; i < N; i++)
        x[1][3 * to[i / 3] + i % 3] = x[0][i] = kiln_random_range(&random, -1.0, 1.0);
    for (int k = 0; k < 2; k++) {
        kiln_random values = kiln_random_start(7, 0);
        kiln_bsr matrix;
        kiln_bsr_init(&matrix, context);
        ck_assert_int_eq(kiln_bsr_set_pattern(&matrix, ROWS, &sets[k], 1, NULL), KILN_OK);
        /* Cliques without repeated rows only: their blocks do not depend on the numbering. */
        for (size_t c = 0; c < CLIQUES; c++) {
            const double b[3][3] = {{kiln_random_unit(&values), 1, 2}, {3, 4, 5}, {6, 7, 8}};
            kiln_bsr_add(&matrix, sets[k].row[4 * c], sets[k].row[4 * c + 1], b);
        }
        ck_assert_int_eq(kiln_bsr_multiply(&matrix, x[k], y[k], NULL), KILN_OK);
        kiln_bsr_free(&matrix);
    }
    for (size_t i = 0; i < N; i++)
        ck_assert_double_eq_tol(y[0][i], y[1][3 * to[i / 3] + i % 3], 1e-12);
    free(row);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(a_failed_allocation_leaves_the_old_matrix)
{
    enum { ROWS = 3000, CLIQUES = 500 };
    kiln_random random = kiln_random_start(8, 2);
    uint32_t *row = random_cliques(&random, ROWS, CLIQUES, 4, 0);
    kiln_cliques all = {.count = CLIQUES, .size = 4, .row = row}, few = all;
    few.count = 10;
    bool finished = false;
    for (uint64_t k = 1; !finished; k++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_bsr matrix;
        kiln_bsr_init(&matrix, context);
        ck_assert_int_eq(kiln_bsr_set_pattern(&matrix, ROWS, &few, 1, NULL), KILN_OK);
        uint64_t pattern = matrix.pattern;
        matrix.value[0] = 3.0;
        heap.fail_at = heap.calls + k;
        kiln_status status = kiln_bsr_set_pattern(&matrix, ROWS, &all, 1, NULL);
        finished = status == KILN_OK;
        if (!finished) {
            ck_assert_int_eq(status, KILN_ERR_MEMORY);
            ck_assert_uint_eq(matrix.pattern, pattern);
            ck_assert_double_eq(matrix.value[0], 3.0);
        } else {
            double *x = random_vector(&random, 6 * ROWS);
            heap.fail_at = heap.calls + 1;
            ck_assert_int_eq(kiln_bsr_multiply(&matrix, x, x + 3 * ROWS, NULL), KILN_ERR_MEMORY);
            free(x);
        }
        kiln_bsr_free(&matrix);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_blocks, 0);
        ck_assert_int_eq(heap.live_bytes, 0);
        ck_assert_uint_lt(k, 100);
    }
    free(row);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("bsr");
    TCase *all = kiln_test_case(suite, "bsr");
    tcase_add_test(all, pattern_is_every_pair_of_every_clique);
    tcase_add_test(all, renewed_rows_give_the_whole_pattern);
    tcase_add_test(all, padding_is_no_row);
    tcase_add_test(all, a_matrix_may_be_empty);
    tcase_add_test(all, product_is_that_of_the_dense_matrix);
    tcase_add_test(all, product_has_the_same_bits_for_any_number_of_threads);
    tcase_add_test(all, renumbering_changes_nothing_but_the_order);
    tcase_add_test(all, a_failed_allocation_leaves_the_old_matrix);
    return suite;
}
