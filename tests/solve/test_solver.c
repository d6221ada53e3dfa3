#include "dense.h"
#include "solve/solver_backend.h"

static kiln_solver *solver_named(kiln_context *context, const char *name)
{
    kiln_solver_options options = kiln_solver_default_options();
    options.backend = strcmp(name, "direct") == 0 ? KILN_SOLVER_DIRECT.name : name;
    options.tolerance = 1e-13;
    kiln_solver *solver = NULL;
    ck_assert_int_eq(kiln_solver_create(context, &options, &solver, NULL), KILN_OK);
    return solver;
}

static const char *const backends[] = {"auto", "multifrontal", "direct", "pcg-ic", "pcg-jacobi"};
enum { BACKENDS = sizeof backends / sizeof backends[0] };

START_TEST(solution_is_that_of_the_dense_system)
{
    enum { ROWS = 60, N = 3 * ROWS };
    kiln_context *context = kiln_test_context(2);
    kiln_solver *solver = solver_named(context, backends[_i]);
    for (uint64_t round = 0; round < kiln_test_rounds(5, 100); round++) {
        kiln_random random = kiln_random_start(round, 4);
        kiln_bsr matrix;
        kiln_bsr_init(&matrix, context);
        random_matrix(&matrix, &random, ROWS, 40 + 10 * round % 60, 0, 0.1);
        double *a = dense_of(&matrix), *b = random_vector(&random, N), x[N], reference[N], r[N];
        dense_solve(a, N, b, reference);
        kiln_solve_outcome outcome;
        ck_assert_int_eq(kiln_solver_factor(solver, &matrix, &outcome, NULL), KILN_OK);
        ck_assert_int_eq(outcome, KILN_SOLVE_OK);
        ck_assert_int_eq(kiln_solver_solve(solver, b, x, &outcome, NULL), KILN_OK);
        ck_assert_int_eq(outcome, KILN_SOLVE_OK);
        ck_assert_int_eq(kiln_bsr_multiply(&matrix, x, r, NULL), KILN_OK);
        for (size_t i = 0; i < N; i++) {
            ck_assert_double_eq_tol(x[i], reference[i], 1e-10);
            ck_assert_double_eq_tol(r[i], b[i], 1e-11);
        }
        /* In place, and with other values on the same pattern. */
        ck_assert(kiln_solver_last(solver)->analysed);
        for (uint64_t k = 0; k < 9 * matrix.start[ROWS]; k++)
            matrix.value[k] *= 2.0;
        ck_assert_int_eq(kiln_solver_factor(solver, &matrix, &outcome, NULL), KILN_OK);
        ck_assert(!kiln_solver_last(solver)->analysed);
        ck_assert_int_eq(kiln_solver_solve(solver, b, b, &outcome, NULL), KILN_OK);
        for (size_t i = 0; i < N; i++)
            ck_assert_double_eq_tol(b[i], 0.5 * reference[i], 1e-10);
        kiln_solver_forget(solver);
        ck_assert_int_eq(kiln_solver_factor(solver, &matrix, &outcome, NULL), KILN_OK);
        ck_assert(kiln_solver_last(solver)->analysed);
        ck_assert_uint_gt(kiln_solver_last(solver)->bytes, 0);
        free(a);
        free(b);
        kiln_bsr_free(&matrix);
    }
    kiln_solver_destroy(solver);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(bad_matrices_are_outcomes)
{
    enum { ROWS = 40, N = 3 * ROWS };
    kiln_context *context = kiln_test_context(1);
    kiln_solver *solver = solver_named(context, backends[_i]);
    kiln_random random = kiln_random_start(1, 4);
    kiln_bsr matrix;
    kiln_bsr_init(&matrix, context);
    random_matrix(&matrix, &random, ROWS, 50, 0, 0.1);
    double *b = random_vector(&random, N), x[N];
    kiln_solve_outcome outcome;
    kiln_error error;
    ck_assert_int_ne(kiln_solver_solve(solver, b, x, &outcome, &error), KILN_OK);
    double kept = matrix.value[9 * matrix.start[20]];
    matrix.value[9 * matrix.start[20]] = -50.0;
    ck_assert_int_eq(kiln_solver_factor(solver, &matrix, &outcome, NULL), KILN_OK);
    ck_assert_int_eq(outcome, KILN_SOLVE_NOT_POSITIVE);
    ck_assert_int_ne(kiln_solver_solve(solver, b, x, &outcome, &error), KILN_OK);
    matrix.value[9 * matrix.start[20]] = NAN;
    ck_assert_int_eq(kiln_solver_factor(solver, &matrix, &outcome, NULL), KILN_OK);
    ck_assert_int_eq(outcome, KILN_SOLVE_NOT_FINITE);
    matrix.value[9 * matrix.start[20]] = kept;
    ck_assert_int_eq(kiln_solver_factor(solver, &matrix, &outcome, NULL), KILN_OK);
    ck_assert_int_eq(outcome, KILN_SOLVE_OK);
    b[5] = NAN;
    ck_assert_int_eq(kiln_solver_solve(solver, b, x, &outcome, NULL), KILN_OK);
    ck_assert_int_eq(outcome, KILN_SOLVE_NOT_FINITE);
    free(b);
    kiln_bsr_free(&matrix);
    kiln_solver_destroy(solver);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(bits_do_not_depend_on_threads)
{
    enum { ROWS = 6000, N = 3 * ROWS }; /* enough for the parts of the incomplete factor */
    double *first = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        kiln_context *context = kiln_test_context(threads);
        kiln_solver *solver = solver_named(context, backends[_i]);
        kiln_random random = kiln_random_start(9, 4);
        kiln_bsr matrix;
        kiln_bsr_init(&matrix, context);
        random_matrix(&matrix, &random, ROWS, 9000, 30, 0.1);
        double *b = random_vector(&random, N), *x = calloc(N, sizeof *x);
        kiln_solve_outcome outcome;
        ck_assert_int_eq(kiln_solver_factor(solver, &matrix, &outcome, NULL), KILN_OK);
        ck_assert_int_eq(kiln_solver_solve(solver, b, x, &outcome, NULL), KILN_OK);
        ck_assert_int_eq(outcome, KILN_SOLVE_OK);
        free(b);
        kiln_bsr_free(&matrix);
        kiln_solver_destroy(solver);
        kiln_context_destroy(context);
        if (!first) {
            first = x;
            continue;
        }
        ck_assert_int_eq(memcmp(first, x, N * sizeof *x), 0);
        free(x);
    }
    free(first);
}
END_TEST

static void solve_once(kiln_solver *solver, const kiln_bsr *matrix, const double *b, double *x,
                       kiln_solve_outcome *outcome)
{
    ck_assert_int_eq(kiln_solver_factor(solver, matrix, outcome, NULL), KILN_OK);
    ck_assert_int_eq(*outcome, KILN_SOLVE_OK);
    ck_assert_int_eq(kiln_solver_solve(solver, b, x, outcome, NULL), KILN_OK);
}

/* Little memory: iterate. A factor that looks dear: iterate, and turn to the factor when that does
 * not get there; with too little memory for it, say that it stalled. */
START_TEST(auto_chooses_and_says_why)
{
    enum { ROWS = 200, N = 3 * ROWS };
    kiln_context *context = kiln_test_context(1);
    kiln_random random = kiln_random_start(11, 4);
    kiln_bsr matrix;
    kiln_bsr_init(&matrix, context);
    random_matrix(&matrix, &random, ROWS, 400, 20, 1e-3);
    double *b = random_vector(&random, N), x[N], r[N];
    const char *direct = kiln_solver_multifrontal.name;
    const struct {
        size_t memory;
        int max_iterations;
        double cost;
        const char *chosen, *after, *reason;
        kiln_solve_outcome outcome;
    } rows[] = {
        {0, 5000, 450, direct, direct, "cheap enough", KILN_SOLVE_OK},
        {1, 5000, 450, "pcg-ic", "pcg-ic", "not fit in memory", KILN_SOLVE_OK},
        {0, 5000, 1e-9, "pcg-ic", "pcg-ic", "much cheaper", KILN_SOLVE_OK},
        {0, 2, 1e-9, "pcg-ic", direct, "as long as a factor", KILN_SOLVE_OK},
        {1, 2, 1e-9, "pcg-ic", "pcg-ic", "not fit in memory", KILN_SOLVE_STALLED},
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        kiln_solver_options options = kiln_solver_default_options();
        options.memory = rows[k].memory;
        options.max_iterations = rows[k].max_iterations;
        kiln_solver *solver = NULL;
        kiln_solve_outcome outcome;
        ck_assert_int_eq(kiln_solver_create(context, &options, &solver, NULL), KILN_OK);
        kiln_solver_weigh(solver, rows[k].cost);
        /* Twice: what was learnt stays; then as if nothing had been, whether that is forgotten with
         * the analysis or without. */
        double first[N];
        for (int round = 0; round < 5; round++) {
            if (round == 2)
                kiln_solver_forget(solver);
            if (round > 2)
                kiln_solver_reconsider(solver);
            ck_assert_int_eq(kiln_solver_factor(solver, &matrix, &outcome, NULL), KILN_OK);
            ck_assert_str_eq(kiln_solver_last(solver)->backend,
                             round == 1 ? rows[k].after : rows[k].chosen);
            solve_once(solver, &matrix, b, x, &outcome);
            const kiln_solver_report *report = kiln_solver_last(solver);
            if (round == 0)
                memcpy(first, x, sizeof first);
            ck_assert_mem_eq(first, x, sizeof first);
            ck_assert(round < 3 || !report->analysed);
            ck_assert_int_eq(outcome, rows[k].outcome);
            ck_assert_str_eq(report->backend, rows[k].after);
            ck_assert_ptr_nonnull(strstr(report->reason, rows[k].reason));
            ck_assert(report->direct == (rows[k].after == direct));
            if (outcome != KILN_SOLVE_OK)
                continue;
            ck_assert_int_eq(kiln_bsr_multiply(&matrix, x, r, NULL), KILN_OK);
            for (size_t i = 0; i < N; i++)
                ck_assert_double_eq_tol(r[i], b[i], 1e-8);
        }
        kiln_solver_destroy(solver);
    }
    free(b);
    kiln_bsr_free(&matrix);
    kiln_context_destroy(context);
}
END_TEST

/* Definite diagonal blocks, indefinite matrix: only the iteration can find out. */
START_TEST(iterating_finds_what_is_not_positive)
{
    kiln_context *context = kiln_test_context(1);
    kiln_bsr matrix;
    kiln_bsr_init(&matrix, context);
    const uint32_t row[] = {0, 1};
    kiln_cliques cliques = {.count = 1, .size = 2, .row = row};
    ck_assert_int_eq(kiln_bsr_set_pattern(&matrix, 2, &cliques, 1, NULL), KILN_OK);
    const double one[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const double three[3][3] = {{3, 0, 0}, {0, 3, 0}, {0, 0, 3}};
    kiln_bsr_add(&matrix, 0, 0, one);
    kiln_bsr_add(&matrix, 1, 1, one);
    kiln_bsr_add(&matrix, 0, 1, three);
    kiln_solver *solver = solver_named(context, _i ? "pcg-ic" : "pcg-jacobi");
    kiln_solve_outcome outcome;
    double b[6] = {1, 2, 3, -1, -2, -3.5}, x[6];
    solve_once(solver, &matrix, b, x, &outcome);
    ck_assert_int_eq(outcome, KILN_SOLVE_NOT_POSITIVE);
    kiln_solver_destroy(solver);
    kiln_bsr_free(&matrix);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(unknown_back_ends_are_refused_by_name)
{
    kiln_context *context = kiln_test_context(1);
    kiln_solver_options options = kiln_solver_default_options();
    options.backend = "lu";
    kiln_solver *solver = NULL;
    kiln_error error;
    char text[256];
    ck_assert_int_eq(kiln_solver_create(context, &options, &solver, &error), KILN_ERR_UNSUPPORTED);
    ck_assert_ptr_null(solver);
    kiln_error_format(&error, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "'lu' is none of auto"));
    options.backend = strcmp(KILN_SOLVER_DIRECT.name, "mumps") == 0 ? "cholmod" : "mumps";
    ck_assert_int_eq(kiln_solver_create(context, &options, &solver, &error), KILN_ERR_UNSUPPORTED);
    kiln_error_format(&error, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "not in this build"));
    kiln_context_destroy(context);
}
END_TEST

START_TEST(description_names_solvers_and_kernel)
{
    char text[1024], little[8];
    kiln_solver_describe(text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "kernel"));
    kiln_solver_describe(little, sizeof little);
    ck_assert_uint_lt(strlen(little), sizeof little);
}
END_TEST

START_TEST(allocation_failures_are_reported)
{
    enum { ROWS = 30, N = 3 * ROWS };
    bool finished = false;
    for (uint64_t k = 1; !finished; k++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_random random = kiln_random_start(2, 4);
        kiln_bsr matrix;
        kiln_bsr_init(&matrix, context);
        random_matrix(&matrix, &random, ROWS, 30, 0, 0.1);
        double *b = random_vector(&random, N), x[N];
        heap.fail_at = heap.calls + k;
        kiln_solver_options options = kiln_solver_default_options();
        options.backend =
            strcmp(backends[_i], "direct") == 0 ? KILN_SOLVER_DIRECT.name : backends[_i];
        kiln_solver *solver = NULL;
        kiln_solve_outcome outcome;
        kiln_status status = kiln_solver_create(context, &options, &solver, NULL);
        if (status == KILN_OK)
            status = kiln_solver_factor(solver, &matrix, &outcome, NULL);
        if (status == KILN_OK)
            status = kiln_solver_solve(solver, b, x, &outcome, NULL);
        finished = status == KILN_OK;
        if (!finished)
            ck_assert_int_eq(status, KILN_ERR_MEMORY);
        kiln_solver_destroy(solver);
        kiln_bsr_free(&matrix);
        kiln_context_destroy(context);
        free(b);
        ck_assert_int_eq(heap.live_blocks, 0);
        ck_assert_int_eq(heap.live_bytes, 0);
        ck_assert_uint_lt(k, 100);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("solver");
    TCase *all = kiln_test_case(suite, "solver");
    tcase_add_loop_test(all, solution_is_that_of_the_dense_system, 0, BACKENDS);
    tcase_add_loop_test(all, bad_matrices_are_outcomes, 0, BACKENDS);
    tcase_add_loop_test(all, bits_do_not_depend_on_threads, 0, BACKENDS);
    tcase_add_loop_test(all, allocation_failures_are_reported, 0, BACKENDS);
    tcase_add_test(all, auto_chooses_and_says_why);
    tcase_add_loop_test(all, iterating_finds_what_is_not_positive, 0, 2);
    tcase_add_test(all, unknown_back_ends_are_refused_by_name);
    tcase_add_test(all, description_names_solvers_and_kernel);
    return suite;
}
