/* The tree of supernodes against a plain elimination of the pattern, and the factor on systems that
 * are large enough for every way of dividing the work. */
#include "dense.h"
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
        ck_assert_int_eq(kiln_symbolic_build(&symbolic, context, &matrix, &graph, order, NULL),
                         KILN_OK);
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

/* A grid of rows in three dimensions, each coupled with its neighbours, of blocks of n, and some
 * rows that are coupled with none. */
static void make_grid(kiln_bsr *matrix, uint32_t side, uint32_t n, uint32_t alone)
{
    size_t cells = (size_t)(side - 1) * (side - 1) * (side - 1), at = 0;
    uint32_t *row = malloc(8 * cells * sizeof *row);
    for (uint32_t x = 0; x + 1 < side; x++)
        for (uint32_t y = 0; y + 1 < side; y++)
            for (uint32_t z = 0; z + 1 < side; z++)
                for (uint32_t k = 0; k < 8; k++)
                    row[at++] = ((x + (k & 1)) * side + y + (k >> 1 & 1)) * side + z + (k >> 2 & 1);
    kiln_cliques cliques = {.count = cells, .size = 8, .row = row};
    size_t rows = (size_t)side * side * side + alone;
    ck_assert_int_eq(kiln_bsr_set_pattern(matrix, rows, &cliques, 1, NULL), KILN_OK);
    for (uint32_t i = 0; i < rows; i++)
        for (uint64_t b = matrix->start[i]; b < matrix->start[i + 1]; b++) {
            size_t stride;
            double *at_block = kiln_bsr_place(matrix, n, i, b, &stride);
            for (size_t r = 0; r < n; r++)
                for (size_t c = 0; c < n; c++)
                    at_block[r * stride + c] = matrix->column[b] == i
                                                   ? (r == c ? 30.0 * n : 0.3)
                                                   : sin((double)(7 * b + 3 * r + c));
        }
    free(row);
}

static double *solve_grid(uint32_t n, int threads, kiln_isa isa, double *worst)
{
    kiln_context *context = kiln_test_context(threads);
    context->isa = isa;
    kiln_bsr matrix;
    kiln_bsr_init_blocks(&matrix, context, n);
    make_grid(&matrix, n == 1 ? 24 : 16, n, 5);
    size_t count = n * matrix.rows;
    double *b = malloc(count * sizeof *b), *x = malloc(count * sizeof *x);
    double *r = malloc(count * sizeof *r);
    for (size_t i = 0; i < count; i++)
        b[i] = cos((double)i);
    kiln_solver_options options = kiln_solver_default_options();
    options.backend = "multifrontal";
    kiln_solver *solver = NULL;
    kiln_solve_outcome outcome;
    ck_assert_int_eq(kiln_solver_create(context, &options, &solver, NULL), KILN_OK);
    ck_assert_int_eq(kiln_solver_factor(solver, &matrix, &outcome, NULL), KILN_OK);
    ck_assert_int_eq(outcome, KILN_SOLVE_OK);
    ck_assert_int_eq(kiln_solver_solve(solver, b, x, &outcome, NULL), KILN_OK);
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
    static const uint32_t blocks[] = {1, 3, 4};
    uint32_t n = blocks[_i];
    for (kiln_isa isa = 0; isa <= kiln_isa_best(); isa++) {
        double worst, *first = solve_grid(n, 1, isa, &worst);
        ck_assert_double_lt(worst, 1e-12);
        static const int threads[] = {2, 3, 8};
        for (int t = 0; t < 3; t++) {
            double *x = solve_grid(n, threads[t], isa, &worst);
            size_t side = n == 1 ? 24 : 16;
            ck_assert_mem_eq(first, x, n * (side * side * side + 5) * sizeof *x);
            free(x);
        }
        free(first);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("multifrontal");
    TCase *all = kiln_test_case(suite, "multifrontal");
    tcase_add_test(all, fronts_hold_what_fills);
    tcase_add_loop_test(all, large_systems_have_the_same_bits_on_any_threads, 0, 3);
    return suite;
}
