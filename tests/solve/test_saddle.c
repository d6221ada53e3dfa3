/* Minima with equations against dense elimination; closed parts; bits on two threads. */
#include "dense.h"
#include "solve/saddle.h"

enum { ROWS = 24 };

typedef struct fixture {
    kiln_context *context;
    kiln_bsr A;
    kiln_equations equations;
    kiln_saddle *saddle;
} fixture;

/* A chain of overlapping cliques; row ROWS - 1 has no equation. */
static fixture make(int threads, bool closed)
{
    fixture f = {.context = kiln_test_context(threads)};
    kiln_random random = kiln_random_start(3, 0);
    uint32_t row[ROWS - 3][4];
    for (uint32_t c = 0; c < ROWS - 3; c++)
        for (uint32_t k = 0; k < 4; k++)
            row[c][k] = c + k;
    const kiln_cliques all = {.count = ROWS - 3, .size = 4, .row = row[0]};
    const kiln_cliques some = {.count = ROWS - 4, .size = 4, .row = row[0]};
    kiln_bsr_init(&f.A, f.context);
    ck_assert_int_eq(kiln_bsr_set_pattern(&f.A, ROWS, &all, 1, NULL), KILN_OK);
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint64_t b = f.A.start[i]; b < f.A.start[i + 1]; b++) {
            size_t stride;
            double *at = kiln_bsr_at(&f.A, i, b, &stride);
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++)
                    at[r * stride + c] = f.A.column[b] == i ? (r == c ? 4.0 + i % 3 : 0.2)
                                                            : kiln_random_range(&random, -0.2, 0.2);
        }
    kiln_equations_init(&f.equations, f.context);
    ck_assert_int_eq(kiln_equations_set_pattern(&f.equations, ROWS, &some, 1, NULL), KILN_OK);
    kiln_equations *e = &f.equations;
    for (uint64_t k = 0; k < 3 * e->start.data[ROWS]; k++)
        e->value.data[k] = kiln_random_range(&random, -1.0, 1.0);
    for (int c = 0; c < 3; c++)
        e->value.data[3 * kiln_equations_find(e, ROWS - 1, ROWS - 1) + c] = 0.0;
    e->give.value[e->give.start[ROWS - 1]] = 1.0;
    /* Columns that sum up to nothing: what is lost here is found there. */
    for (uint32_t j = 0; j < ROWS && closed; j++)
        for (int c = 0; c < 3; c++) {
            double sum = 0.0, *last = NULL;
            for (uint64_t k = e->start.data[j]; k < e->start.data[j + 1]; k++) {
                uint32_t i = e->column.data[k];
                last = &e->value.data[3 * (e->start.data[i] + e->mirror.data[k]) + c];
                sum += *last;
            }
            *last -= sum;
        }
    ck_assert_int_eq(
        kiln_saddle_create(f.context,
                           &(kiln_solver_options){.backend = "auto", .precision = "double"},
                           &f.saddle, NULL),
        KILN_OK);
    return f;
}

static void drop(fixture *f)
{
    kiln_saddle_destroy(f->saddle);
    kiln_equations_free(&f->equations);
    kiln_bsr_free(&f->A);
    kiln_context_destroy(f->context);
}

static void solve(fixture *f, bool stiff, const double *right, double *result)
{
    kiln_solve_outcome outcome;
    const kiln_saddle_options options = {stiff ? 1e-10 : 1e-13, 400, NULL};
    ck_assert_int_eq(kiln_saddle_factor(f->saddle, &f->A, &f->equations, stiff, &outcome, NULL),
                     KILN_OK);
    ck_assert_int_eq(outcome, KILN_SOLVE_OK);
    ck_assert_int_eq(kiln_saddle_solve(f->saddle, &options, right, right + 3 * ROWS, result,
                                       result + 3 * ROWS, &outcome, NULL),
                     KILN_OK);
    ck_assert_int_eq(outcome, KILN_SOLVE_OK);
}

static void fill_dense(const fixture *f, double *K)
{
    enum { N = 4 * ROWS };
    double *A = dense_of(&f->A), *C = dense_of(&f->equations.give);
    memset(K, 0, N * N * sizeof *K);
    for (int i = 0; i < 3 * ROWS; i++)
        memcpy(K + i * N, A + i * 3 * ROWS, 3 * ROWS * sizeof *K);
    const kiln_equations *e = &f->equations;
    for (int i = 0; i < ROWS; i++) {
        for (uint64_t k = e->start.data[i]; k < e->start.data[i + 1]; k++)
            for (int c = 0; c < 3; c++)
                K[(3 * ROWS + i) * N + 3 * e->column.data[k] + c] =
                    K[(3 * e->column.data[k] + c) * N + 3 * ROWS + i] = e->value.data[3 * k + c];
        for (int j = 0; j < ROWS; j++)
            K[(3 * ROWS + i) * N + 3 * ROWS + j] = -C[i * ROWS + j];
    }
    free(A);
    free(C);
}

START_TEST(agrees_with_elimination)
{
    enum { N = 4 * ROWS };
    fixture f = make(1, false);
    double *K = malloc(N * N * sizeof *K), right[N], found[N], exact[N];
    for (int i = 0; i < N; i++)
        right[i] = cos(i);
    fill_dense(&f, K);
    dense_solve(K, N, right, exact);
    for (int k = 0; k < 2; k++) { /* iterated and factored */
        solve(&f, k, right, found);
        ck_assert_str_eq(kiln_saddle_last(f.saddle)->way, k ? "factor" : "minres");
        for (int i = 0; i < N; i++)
            ck_assert_double_eq_tol(found[i], exact[i], 1e-9);
    }
    ck_assert_uint_eq(kiln_saddle_last(f.saddle)->closed, 0);
    free(K);
    drop(&f);
}
END_TEST

/* Nothing can change the sum of what the equations are about: its share of e is not asked for. */
START_TEST(closed_parts_keep_their_sum)
{
    enum { N = 4 * ROWS };
    fixture f = make(1, true);
    double *K = malloc(N * N * sizeof *K), right[N], found[N], sum = 0.0, mean = 0.0, off = 0.0;
    for (int i = 0; i < N; i++)
        right[i] = i < 3 * ROWS ? sin(i) : 1.0;
    solve(&f, _i, right, found);
    ck_assert_uint_eq(kiln_saddle_last(f.saddle)->closed, 1);
    fill_dense(&f, K);
    for (int i = 0; i < N; i++) {
        double left = -right[i];
        for (int j = 0; j < N; j++)
            left += K[i * N + j] * found[j];
        if (i < 3 * ROWS)
            ck_assert_double_eq_tol(left, 0.0, 1e-9);
        else if (i < N - 1)
            off += left;
    }
    for (int i = 0; i < ROWS - 1; i++) {
        sum += right[3 * ROWS + i];
        mean += found[3 * ROWS + i];
    }
    ck_assert_double_eq_tol(off, -sum, 1e-9);
    ck_assert_double_eq_tol(mean, 0.0, 1e-9);
    free(K);
    drop(&f);
}
END_TEST

START_TEST(two_threads_give_the_same_bits)
{
    double right[4 * ROWS], found[2][4 * ROWS];
    for (int i = 0; i < 4 * ROWS; i++)
        right[i] = sin(3 * i);
    for (int i = 0; i < 2; i++) {
        fixture f = make(i + 1, false);
        solve(&f, _i, right, found[i]);
        drop(&f);
    }
    ck_assert_mem_eq(found[0], found[1], sizeof found[0]);
}
END_TEST

/* Too few iterations: the factor takes over, with the same result, and says why. */
START_TEST(what_stalls_is_factored)
{
    enum { N = 4 * ROWS };
    fixture f = make(1, false);
    double right[N], found[N], exact[N];
    kiln_solve_outcome outcome;
    for (int i = 0; i < N; i++)
        right[i] = cos(i);
    solve(&f, false, right, exact);
    const kiln_saddle_options few = {1e-10, 3, NULL};
    ck_assert_int_eq(kiln_saddle_factor(f.saddle, &f.A, &f.equations, false, &outcome, NULL),
                     KILN_OK);
    ck_assert_int_eq(kiln_saddle_solve(f.saddle, &few, right, right + 3 * ROWS, found,
                                       found + 3 * ROWS, &outcome, NULL),
                     KILN_OK);
    ck_assert_int_eq(outcome, KILN_SOLVE_OK);
    ck_assert_str_eq(kiln_saddle_last(f.saddle)->way, "factor");
    ck_assert_str_eq(kiln_saddle_last(f.saddle)->reason, "the iteration stalled");
    ck_assert_int_ge(kiln_saddle_last(f.saddle)->iterations, 4);
    for (int i = 0; i < N; i++)
        ck_assert_double_eq_tol(found[i], exact[i], 1e-9);
    drop(&f);
}
END_TEST

/* With no memory allowed a factor of the whole is refused, never a wrong result passed on. */
START_TEST(what_stalls_and_does_not_fit_is_reported)
{
    enum { N = 4 * ROWS };
    fixture f = make(1, false);
    double right[N], found[N];
    kiln_solve_outcome outcome;
    for (int i = 0; i < N; i++)
        right[i] = cos(i);
    kiln_saddle_destroy(f.saddle);
    const kiln_solver_options little = {
        .backend = "pcg-ic", .tolerance = 1e-12, .max_iterations = 500, .memory = 1};
    ck_assert_int_eq(kiln_saddle_create(f.context, &little, &f.saddle, NULL), KILN_OK);
    for (int stiff = 0; stiff < 2; stiff++) {
        const kiln_saddle_options few = {1e-10, 3, NULL};
        ck_assert_int_eq(kiln_saddle_factor(f.saddle, &f.A, &f.equations, stiff, &outcome, NULL),
                         KILN_OK);
        ck_assert_int_eq(outcome, KILN_SOLVE_OK);
        ck_assert_int_eq(kiln_saddle_solve(f.saddle, &few, right, right + 3 * ROWS, found,
                                           found + 3 * ROWS, &outcome, NULL),
                         KILN_OK);
        ck_assert_int_eq(outcome, KILN_SOLVE_STALLED);
        ck_assert_str_eq(kiln_saddle_last(f.saddle)->way, "minres");
        ck_assert_double_gt(kiln_saddle_last(f.saddle)->residual, 1e-10);
    }
    drop(&f);
}
END_TEST

START_TEST(what_cannot_be_kept_is_measured)
{
    enum { N = 4 * ROWS };
    for (int closed = 0; closed < 2; closed++) {
        fixture f = make(1, closed);
        double right[N] = {0}, found[N], amount[ROWS];
        kiln_solve_outcome outcome;
        for (int i = 0; i < ROWS; i++)
            amount[i] = 2.0;
        right[3 * ROWS] = 0.5;
        right[3 * ROWS + 1] = -0.25;
        const kiln_saddle_options options = {1e-10, 400, amount};
        ck_assert_int_eq(kiln_saddle_factor(f.saddle, &f.A, &f.equations, false, &outcome, NULL),
                         KILN_OK);
        ck_assert_int_eq(kiln_saddle_solve(f.saddle, &options, right, right + 3 * ROWS, found,
                                           found + 3 * ROWS, &outcome, NULL),
                         KILN_OK);
        ck_assert_int_eq(outcome, KILN_SOLVE_OK);
        double expected = closed ? 0.25 / (2.0 * (ROWS - 1)) : 0.0;
        ck_assert_double_eq_tol(kiln_saddle_last(f.saddle)->unkept, expected, 1e-15);
        drop(&f);
    }
}
END_TEST

/* J along what is free only, and mirrors that find each other. */
START_TEST(held_components_are_left_out)
{
    fixture f = make(1, false);
    kiln_constraints held;
    double v[3 * ROWS] = {0}, out[ROWS], back[3 * ROWS] = {0}, one[ROWS] = {0};
    kiln_constraints_init(&held, f.context);
    ck_assert_int_eq(kiln_constraints_reset(&held, ROWS, NULL), KILN_OK);
    held.held[5] = 2;
    kiln_equations_project(&f.equations, &held);
    v[3 * 5 + 1] = 1.0;
    kiln_equations_multiply(&f.equations, v, out);
    for (int i = 0; i < ROWS; i++)
        ck_assert_double_eq(out[i], 0.0);
    v[3 * 5] = 1.0;
    kiln_equations_multiply(&f.equations, v, out);
    for (int i = 0; i < ROWS; i++) {
        one[i] = 1.0;
        memset(back, 0, sizeof back);
        kiln_equations_add_transposed(&f.equations, one, 1.0, back);
        ck_assert_double_eq(back[3 * 5], out[i]);
        one[i] = 0.0;
    }
    kiln_constraints_free(&held);
    drop(&f);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("saddle");
    TCase *c = kiln_test_case(suite, "all");
    tcase_add_test(c, agrees_with_elimination);
    tcase_add_loop_test(c, closed_parts_keep_their_sum, 0, 2); /* iterated, factored */
    tcase_add_loop_test(c, two_threads_give_the_same_bits, 0, 2);
    tcase_add_test(c, what_stalls_is_factored);
    tcase_add_test(c, what_stalls_and_does_not_fit_is_reported);
    tcase_add_test(c, what_cannot_be_kept_is_measured);
    tcase_add_test(c, held_components_are_left_out);
    return suite;
}
