/* The tree of supernodes against a plain elimination of the pattern, and the factor on systems that
 * are large enough for every way of dividing the work. */
#include "dense.h"
#include "solve/dissect.h"
#include "solve/solver_backend.h"
#include "solve/symbolic.h"

enum { MOST_ROWS = 240 };

/* filled[i][j], j <= i by place: what elimination in this order leaves. */
static void eliminate_plainly(const kiln_bsr *matrix, const uint32_t *place,
                              bool filled[MOST_ROWS][MOST_ROWS])
{
    size_t n = matrix->rows;
    memset(filled, 0, sizeof(bool[MOST_ROWS][MOST_ROWS]));
    for (uint32_t i = 0; i < n; i++)
        for (uint64_t b = matrix->start[i]; b < matrix->start[i + 1]; b++) {
            uint32_t p = place[i], q = place[matrix->column[b]];
            filled[p > q ? p : q][p > q ? q : p] = true;
        }
    for (size_t k = 0; k < n; k++)
        for (size_t i = k + 1; i < n; i++)
            for (size_t j = k + 1; j <= i && filled[i][k]; j++)
                filled[i][j] |= filled[j][k];
}

static bool front_has(const kiln_symbolic *s, const kiln_supernode *node, uint32_t place)
{
    if (place >= node->first && place < node->first + node->width)
        return true;
    for (uint32_t k = 0; k < node->rows; k++)
        if (s->row[node->row + k] == place)
            return true;
    return false;
}

/* Fronts have all that fills, and each row of a child's is in its parent's where it says. */
static void check_nodes(const kiln_symbolic *s, bool filled[MOST_ROWS][MOST_ROWS])
{
    uint32_t column = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const kiln_supernode *node = &s->node[i];
        ck_assert_uint_eq(node->first, column);
        column += node->width;
        for (uint32_t c = node->first; c < column; c++)
            for (uint32_t r = c; r < s->rows; r++)
                ck_assert(!filled[r][c] || front_has(s, node, r));
        for (uint32_t k = 0; k < node->rows; k++) {
            uint32_t at = s->relative[node->row + k], row = s->row[node->row + k];
            ck_assert_uint_ne(node->parent, KILN_NO_PLACE);
            ck_assert_uint_gt(node->parent, i);
            const kiln_supernode *parent = &s->node[node->parent];
            ck_assert(k == 0 || row > s->row[node->row + k - 1]);
            ck_assert_uint_eq(row, at < parent->width ? parent->first + at
                                                      : s->row[parent->row + at - parent->width]);
        }
    }
    ck_assert_uint_eq(column, s->rows);
}

START_TEST(fronts_hold_what_fills)
{
    kiln_context *context = kiln_test_context(1);
    for (uint64_t round = 0; round < kiln_test_rounds(40, 400); round++) {
        static bool filled[MOST_ROWS][MOST_ROWS];
        kiln_random random = kiln_random_start(round, 21);
        uint32_t rows = 1 + kiln_random_below(&random, MOST_ROWS - 1), order[MOST_ROWS];
        kiln_bsr matrix;
        kiln_bsr_init(&matrix, context);
        random_matrix(&matrix, &random, rows, kiln_random_below(&random, rows), 20, 1.0);
        for (uint32_t i = 0; i < rows; i++) {
            uint32_t k = kiln_random_below(&random, i + 1);
            order[i] = order[k];
            order[k] = i;
        }
        kiln_symbolic symbolic;
        kiln_row_graph graph;
        ck_assert_int_eq(kiln_row_graph_make(&matrix, &graph, NULL), KILN_OK);
        ck_assert_int_eq(
            kiln_symbolic_build(&symbolic, context, &matrix, &graph, order, NULL, NULL), KILN_OK);
        kiln_row_graph_free(context, &graph);
        eliminate_plainly(&matrix, symbolic.place, filled);
        check_nodes(&symbolic, filled);
        ck_assert_uint_eq(symbolic.entry_count, matrix.start[rows]);
        kiln_symbolic_free(&symbolic);
        kiln_bsr_free(&matrix);
    }
    kiln_context_destroy(context);
}
END_TEST

/* A grid of rows in three dimensions, each coupled with its neighbours, of blocks of n, some rows
 * that are coupled with none, and `count` further pairs of rows. */
static void make_coupled(kiln_bsr *matrix, uint32_t side, uint32_t n, uint32_t alone,
                         const uint32_t *pair, size_t count)
{
    size_t cells = (size_t)(side - 1) * (side - 1) * (side - 1), at = 0;
    uint32_t *row = malloc(8 * cells * sizeof *row);
    for (uint32_t x = 0; x + 1 < side; x++)
        for (uint32_t y = 0; y + 1 < side; y++)
            for (uint32_t z = 0; z + 1 < side; z++)
                for (uint32_t k = 0; k < 8; k++)
                    row[at++] = ((x + (k & 1)) * side + y + (k >> 1 & 1)) * side + z + (k >> 2 & 1);
    kiln_cliques cliques[] = {{.count = cells, .size = 8, .row = row},
                              {.count = count, .size = 2, .row = pair}};
    size_t rows = (size_t)side * side * side + alone;
    ck_assert_int_eq(kiln_bsr_set_pattern(matrix, rows, cliques, count ? 2 : 1, NULL), KILN_OK);
    for (uint32_t i = 0; i < rows; i++)
        for (uint64_t b = matrix->start[i]; b < matrix->start[i + 1]; b++) {
            size_t stride;
            double *at_block = kiln_bsr_place(matrix, n, i, b, &stride);
            for (size_t r = 0; r < n; r++)
                for (size_t c = 0; c < n; c++)
                    at_block[r * stride + c] = matrix->column[b] == i
                                                   ? (r == c ? (count ? 60.0 : 30.0) * n : 0.3)
                                                   : sin((double)(7 * b + 3 * r + c));
        }
    free(row);
}

static void make_grid(kiln_bsr *matrix, uint32_t side, uint32_t n, uint32_t alone)
{
    make_coupled(matrix, side, n, alone, NULL, 0);
}

/* Work is divided alike in both precisions. */
static uint32_t side_of(uint32_t n, bool single)
{
    uint32_t side = n == 1 ? 24 : n == 3 ? 16 : 14;
    return single ? 3 * side / 4 : side;
}

/* Minus in the last component of each block. */
static void turn_last(kiln_bsr *matrix)
{
    for (uint32_t i = 0; i < matrix->rows; i++)
        for (uint64_t b = matrix->start[i]; b < matrix->start[i + 1]; b++) {
            size_t stride;
            double *at = kiln_bsr_place(matrix, 4, i, b, &stride);
            at[3 * stride + 3] *= -1.0;
        }
}

static double *solve_grid(uint32_t n, int threads, kiln_isa isa, bool single, bool quasidefinite,
                          double *worst)
{
    kiln_context *context = kiln_test_context(threads);
    context->isa = isa;
    kiln_bsr matrix;
    kiln_bsr_init_blocks(&matrix, context, n);
    make_grid(&matrix, side_of(n, single), n, 5);
    if (quasidefinite)
        turn_last(&matrix);
    size_t count = n * matrix.rows;
    double *b = malloc(count * sizeof *b), *x = malloc(count * sizeof *x);
    double *r = malloc(count * sizeof *r);
    for (size_t i = 0; i < count; i++)
        b[i] = cos((double)i);
    kiln_solver_options options = kiln_solver_default_options();
    options.backend = "multifrontal";
    options.quasidefinite = quasidefinite;
    kiln_solver *solver = NULL;
    kiln_solve_outcome outcome;
    ck_assert_int_eq(kiln_solver_create(context, &options, &solver, NULL), KILN_OK);
    kiln_solver_set_single(solver, single);
    ck_assert_int_eq(kiln_solver_factor(solver, &matrix, &outcome, NULL), KILN_OK);
    ck_assert_int_eq(outcome, KILN_SOLVE_OK);
    ck_assert_int_eq(kiln_solver_solve(solver, b, x, &outcome, NULL), KILN_OK);
    ck_assert_int_eq(kiln_solver_last(solver)->single, single);
    ck_assert_int_eq(kiln_bsr_multiply(&matrix, x, r, NULL), KILN_OK);
    *worst = 0.0;
    for (size_t i = 0; i < count; i++)
        *worst = fmax(*worst, fabs(r[i] - b[i]));
    free(b);
    free(r);
    kiln_solver_destroy(solver);
    kiln_bsr_free(&matrix);
    kiln_context_destroy(context);
    return x;
}

START_TEST(large_systems_have_the_same_bits_on_any_threads)
{
    static const uint32_t blocks[] = {1, 3, 4, 4};
    uint32_t n = blocks[_i % 4];
    bool single = _i >= 4, quasidefinite = _i % 4 == 3;
    for (kiln_isa isa = 0; isa <= kiln_isa_best(); isa++) {
        double worst, *first = solve_grid(n, 1, isa, single, quasidefinite, &worst);
        ck_assert_double_lt(worst, single ? 1e-5 : 1e-12);
        if (single)
            ck_assert_double_gt(worst, 1e-9);
        static const int threads[] = {2, 3, 8};
        int most = isa == kiln_isa_best() ? 3 : 1; /* who draws what does not hang on the set */
        for (int t = 0; t < most; t++) {
            double *x = solve_grid(n, threads[t], isa, single, quasidefinite, &worst);
            size_t side = side_of(n, single);
            ck_assert_mem_eq(first, x, n * (side * side * side + 5) * sizeof *x);
            free(x);
        }
        free(first);
    }
}
END_TEST

/* F7: a pivot of the wrong sign is told, in either precision. */
START_TEST(quasidefinite_matrices_have_their_signs)
{
    kiln_context *context = kiln_test_context(1);
    kiln_solver_options options = kiln_solver_default_options();
    options.quasidefinite = true;
    for (int wrong = 0; wrong < 3; wrong++) {
        kiln_bsr matrix;
        kiln_solver *solver = NULL;
        kiln_solve_outcome outcome;
        size_t stride;
        kiln_bsr_init_blocks(&matrix, context, 4);
        make_grid(&matrix, 6, 4, 3);
        turn_last(&matrix);
        double *at = kiln_bsr_place(&matrix, 4, 77, matrix.start[77], &stride);
        at[wrong ? (stride + 1) * (wrong == 1 ? 1 : 3) : 0] *= wrong ? -1.0 : 1.0;
        ck_assert_int_eq(kiln_solver_create(context, &options, &solver, NULL), KILN_OK);
        kiln_solver_set_single(solver, _i);
        ck_assert_int_eq(kiln_solver_factor(solver, &matrix, &outcome, NULL), KILN_OK);
        ck_assert_int_eq(outcome, wrong ? KILN_SOLVE_NOT_POSITIVE : KILN_SOLVE_OK);
        kiln_solver_destroy(solver);
        kiln_bsr_free(&matrix);
    }
    kiln_context_destroy(context);
}
END_TEST

static kiln_solver *start_solver(kiln_context *context, const kiln_solver_ground *ground)
{
    kiln_solver_options options = kiln_solver_default_options();
    options.backend = "multifrontal";
    kiln_solver *solver = NULL;
    ck_assert_int_eq(kiln_solver_create(context, &options, &solver, NULL), KILN_OK);
    kiln_solver_set_ground(solver, ground);
    kiln_solver_reconsider(solver);
    return solver;
}

/* A chain of springs whose ends are held: rows of 1, the stiffness of each spring given, and what
 * holds each row besides, as a part of its springs. */
static void make_chain(kiln_bsr *matrix, uint32_t rows, double (*stiffness)(uint32_t), double hold)
{
    uint32_t *pair = malloc(2 * rows * sizeof *pair);
    for (uint32_t i = 0; i + 1 < rows; i++)
        pair[2 * i] = i, pair[2 * i + 1] = i + 1;
    kiln_cliques cliques = {.count = rows - 1, .size = 2, .row = pair};
    ck_assert_int_eq(kiln_bsr_set_pattern(matrix, rows, &cliques, 1, NULL), KILN_OK);
    for (uint32_t i = 0; i < rows; i++)
        for (uint64_t b = matrix->start[i]; b < matrix->start[i + 1]; b++)
            matrix->value[b] = matrix->column[b] == i
                                   ? (1.0 + hold) * (stiffness(i) + stiffness(i + 1))
                                   : -stiffness(i + 1);
    free(pair);
}

static double soft_and_stiff(uint32_t i)
{
    return i % 100 < 50 ? 1e4 : 1e9;
}

static double all_over(uint32_t i)
{
    return pow(10.0, (double)(i % 80) - 40.0);
}

static double even(uint32_t i)
{
    (void)i;
    return 1.0;
}

static double soft_once(uint32_t i)
{
    return i == 1000 ? -1e-2 : 1.0;
}

/* F6: what the factor is of, and the largest part of the right side that a solve leaves, both
 * scaled by the diagonal. */
static bool solve_chain(kiln_solver *solver, kiln_bsr *matrix, double *rest,
                        kiln_solve_outcome *outcome)
{
    size_t rows = matrix->rows;
    double *b = malloc(rows * sizeof *b), *x = malloc(rows * sizeof *x), most = 0.0;
    double *r = malloc(rows * sizeof *r);
    for (size_t i = 0; i < rows; i++)
        b[i] = sqrt(matrix->value[matrix->start[i]]) * cos(3.0 * (double)i);
    memcpy(x, b, rows * sizeof *x);
    *rest = 0.0;
    ck_assert_int_eq(kiln_solver_factor(solver, matrix, outcome, NULL), KILN_OK);
    if (*outcome == KILN_SOLVE_OK) {
        ck_assert_int_eq(kiln_solver_solve(solver, x, x, outcome, NULL), KILN_OK);
        ck_assert_int_eq(kiln_bsr_multiply(matrix, x, r, NULL), KILN_OK);
        for (size_t i = 0; i < rows; i++) {
            double scale = sqrt(matrix->value[matrix->start[i]]);
            *rest = fmax(*rest, fabs(b[i] - r[i]) / scale);
            most = fmax(most, fabs(b[i]) / scale);
        }
        *rest /= most;
    }
    free(b);
    free(r);
    free(x);
    return kiln_solver_last(solver)->single;
}

/* Stiffness of any size beside any other is well scaled; where it is not enough for floats (a long
 * chain bends more than they can tell), or where they do not find the matrix positive, there are
 * doubles until the solver is reconsidered. */
START_TEST(floats_give_way_where_they_do_not_do)
{
    kiln_context *context = kiln_test_context(2);
    kiln_solver *solver = start_solver(context, NULL);
    kiln_solve_outcome outcome;
    kiln_bsr matrix[5];
    double rest;
    static double (*const stiffness[5])(uint32_t) = {soft_and_stiff, all_over, even, soft_once,
                                                     even};
    static const double hold[5] = {1e-3, 1e-3, 0.0, 0.0, 1e-3};
    static const uint32_t rows[5] = {400, 400, 50000, 2000, 400};
    for (int k = 0; k < 5; k++) {
        kiln_bsr_init_blocks(&matrix[k], context, 1);
        make_chain(&matrix[k], rows[k], stiffness[k], hold[k]);
    }
    ck_assert(!solve_chain(solver, &matrix[4], &rest, &outcome)); /* not asked for */
    kiln_solver_set_single(solver, true);
    for (int k = 0; k < 2; k++) {
        ck_assert(solve_chain(solver, &matrix[k], &rest, &outcome));
        ck_assert_int_eq(outcome, KILN_SOLVE_OK);
        ck_assert_double_le(rest, 1e-3);
    }
    ck_assert(!solve_chain(solver, &matrix[2], &rest, &outcome));
    ck_assert_int_eq(outcome, KILN_SOLVE_OK);
    ck_assert_double_le(rest, 1e-6);
    ck_assert(!solve_chain(solver, &matrix[4], &rest, &outcome));
    kiln_solver_reconsider(solver);
    ck_assert(solve_chain(solver, &matrix[4], &rest, &outcome));
    ck_assert(!solve_chain(solver, &matrix[3], &rest, &outcome));
    ck_assert_int_eq(outcome, KILN_SOLVE_NOT_POSITIVE);
    kiln_solver_destroy(solver);
    for (int k = 0; k < 5; k++)
        kiln_bsr_free(&matrix[k]);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(doubles_can_be_asked_for)
{
    kiln_context *context = kiln_test_context(1);
    kiln_solver_options options = kiln_solver_default_options();
    kiln_solver *solver = NULL;
    kiln_solve_outcome outcome;
    double rest;
    options.precision = "double";
    kiln_bsr matrix;
    kiln_bsr_init_blocks(&matrix, context, 1);
    make_chain(&matrix, 100, even, 1e-3);
    ck_assert_int_eq(kiln_solver_create(context, &options, &solver, NULL), KILN_OK);
    kiln_solver_set_single(solver, true);
    ck_assert(!solve_chain(solver, &matrix, &rest, &outcome));
    kiln_solver_destroy(solver);
    kiln_bsr_free(&matrix);
    kiln_context_destroy(context);
}
END_TEST

enum { SIDE = 8, PAIRS = 600, SIZE = 3 * SIDE * SIDE * SIDE };

static kiln_status find_grid(void *user, const kiln_bsr **pattern, kiln_error *error)
{
    (void)error;
    *pattern = user;
    return KILN_OK;
}

/* Returns whether it had to analyse. */
static bool factor_and_solve(kiln_solver *solver, const kiln_bsr *matrix, double x[SIZE])
{
    kiln_solve_outcome outcome;
    for (int i = 0; i < SIZE; i++)
        x[i] = cos((double)i);
    ck_assert_int_eq(kiln_solver_factor(solver, matrix, &outcome, NULL), KILN_OK);
    ck_assert_int_eq(outcome, KILN_SOLVE_OK);
    bool analysed = kiln_solver_last(solver)->analysed;
    ck_assert_int_eq(kiln_solver_solve(solver, x, x, &outcome, NULL), KILN_OK);
    return analysed;
}

/* An order that was found for one matrix serves the next ones, which alters their bits, but only
 * until the solver is reconsidered. */
START_TEST(orders_are_kept_until_reconsidered)
{
    static uint32_t pair[2 * PAIRS];
    static double x[SIZE], later[2][SIZE], alone[2][SIZE];
    kiln_context *context = kiln_test_context(2);
    kiln_random random = kiln_random_start(3, 0);
    kiln_bsr matrix[3];
    for (int i = 0; i < 2 * PAIRS; i++)
        pair[i] = kiln_random_below(&random, SIZE / 3);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 8; i++) /* others than before */
            pair[16 * k + i] = kiln_random_below(&random, SIZE / 3);
        kiln_bsr_init(&matrix[k], context);
        make_coupled(&matrix[k], SIDE, 3, 0, pair, PAIRS);
    }
    kiln_bsr grid;
    kiln_bsr_init(&grid, context);
    make_grid(&grid, SIDE, 3, 0);
    const kiln_solver_ground ground = {find_grid, &grid};
    kiln_solver *solver = start_solver(context, &ground), *fresh = start_solver(context, &ground);
    ck_assert(factor_and_solve(solver, &matrix[0], x));
    ck_assert(factor_and_solve(solver, &matrix[1], x));
    ck_assert(!factor_and_solve(solver, &matrix[1], x));
    kiln_solver_reconsider(solver);
    for (int k = 0; k < 2; k++) {
        ck_assert(factor_and_solve(solver, &matrix[1 + k], later[k]));
        ck_assert(factor_and_solve(fresh, &matrix[1 + k], alone[k]));
    }
    ck_assert_mem_eq(later, alone, sizeof later);
    ck_assert_int_ne(memcmp(x, alone[0], sizeof x), 0);
    /* What depends on its matrix alone stays, with what comes from it. */
    ck_assert(factor_and_solve(fresh, &matrix[0], x));
    kiln_solver_reconsider(solver);
    kiln_solver_reconsider(fresh);
    ck_assert(factor_and_solve(solver, &matrix[0], later[0]));
    ck_assert(factor_and_solve(fresh, &matrix[0], alone[0]));
    kiln_solver_reconsider(solver);
    ck_assert(!factor_and_solve(solver, &matrix[0], later[0]));
    ck_assert(factor_and_solve(solver, &matrix[2], later[1]));
    ck_assert(factor_and_solve(fresh, &matrix[2], alone[1]));
    ck_assert_mem_eq(later, alone, sizeof later);
    kiln_solver_destroy(solver);
    kiln_solver_destroy(fresh);
    kiln_bsr_free(&grid);
    for (int k = 0; k < 3; k++)
        kiln_bsr_free(&matrix[k]);
    kiln_context_destroy(context);
}
END_TEST

/* Rows of walls and held ones are not worth a front each. */
START_TEST(rows_that_are_alone_share_fronts)
{
    enum { ALONE = 100 };
    kiln_context *context = kiln_test_context(1);
    kiln_symbolic with, without;
    for (int k = 0; k < 2; k++) {
        kiln_bsr matrix;
        kiln_row_graph graph;
        kiln_dissection order;
        kiln_bsr_init(&matrix, context);
        make_grid(&matrix, 6, 3, k ? ALONE : 0);
        ck_assert_int_eq(kiln_row_graph_make(&matrix, &graph, NULL), KILN_OK);
        ck_assert_int_eq(kiln_dissect(context, &graph, &order, NULL), KILN_OK);
        ck_assert_int_eq(kiln_symbolic_build(k ? &with : &without, context, &matrix, &graph,
                                             order.order, NULL, NULL),
                         KILN_OK);
        kiln_dissection_free(context, &order);
        kiln_row_graph_free(context, &graph);
        kiln_bsr_free(&matrix);
    }
    ck_assert_uint_le(with.count, without.count + ALONE / 4);
    kiln_symbolic_free(&with);
    kiln_symbolic_free(&without);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("multifrontal");
    TCase *all = kiln_test_case(suite, "multifrontal");
    tcase_add_test(all, fronts_hold_what_fills);
    tcase_add_loop_test(all, large_systems_have_the_same_bits_on_any_threads, 0, 4);
    tcase_add_loop_test(all, quasidefinite_matrices_have_their_signs, 0, 2);
    tcase_add_test(all, orders_are_kept_until_reconsidered);
    tcase_add_test(all, rows_that_are_alone_share_fronts);
    TCase *floats = kiln_test_case(suite, "floats");
    tcase_add_loop_test(floats, large_systems_have_the_same_bits_on_any_threads, 4, 8);
    tcase_add_test(floats, floats_give_way_where_they_do_not_do);
    tcase_add_test(floats, doubles_can_be_asked_for);
    return suite;
}
