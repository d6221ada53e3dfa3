/* Blocks of 1, 3 and 4 through every solver, and solves of a part of the whole with rows of its
 * own. */
#include "dense.h"
#include "solve/newton.h"
#include "solve/unknowns.h"

static const char *const backends[] = {"auto", "pcg-ic", "pcg-jacobi"};
enum { BACKENDS = 3 };

/* A positive definite matrix of blocks of n over random cliques of four rows. */
static void fill_blocks(kiln_bsr *matrix, kiln_random *random, size_t rows, size_t count)
{
    size_t n = matrix->block;
    uint32_t *row = random_cliques(random, rows, count, 4, 30);
    kiln_cliques cliques = {.count = count, .size = 4, .row = row};
    ck_assert_int_eq(kiln_bsr_set_pattern(matrix, rows, &cliques, 1, NULL), KILN_OK);
    double block[16];
    for (uint32_t i = 0; i < rows; i++) {
        for (size_t e = 0; e < n * n; e++)
            block[e] = e % (n + 1) == 0 ? 0.5 : 0.0;
        kiln_bsr_add_block(matrix, i, i, block);
    }
    /* v v' with v over the distinct rows of a clique */
    for (size_t c = 0; c < count; c++) {
        double *v = random_vector(random, 4 * n);
        for (size_t p = 0; p < 4; p++)
            for (size_t q = 0; q < 4; q++) {
                uint32_t i = row[4 * c + p], j = row[4 * c + q];
                bool repeated = false;
                for (size_t k = 0; k < 4; k++)
                    repeated |= (k < p && row[4 * c + k] == i) || (k < q && row[4 * c + k] == j);
                if (i > j || repeated)
                    continue;
                for (size_t e = 0; e < n * n; e++)
                    block[e] = v[n * p + e / n] * v[n * q + e % n];
                kiln_bsr_add_block(matrix, i, j, block);
            }
        free(v);
    }
    free(row);
}

static double largest_difference(const double *a, const double *b, size_t count)
{
    double most = 0.0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static void solve_with(kiln_context *context, const char *backend, const kiln_bsr *matrix,
                       const double *b, double *x)
{
    kiln_solver_options options = kiln_solver_default_options();
    options.backend = backend;
    options.tolerance = 1e-13;
    kiln_solver *solver;
    kiln_solve_outcome outcome;
    ck_assert_int_eq(kiln_solver_create(context, &options, &solver, NULL), KILN_OK);
    ck_assert_int_eq(kiln_solver_factor(solver, matrix, &outcome, NULL), KILN_OK);
    ck_assert_int_eq(outcome, KILN_SOLVE_OK);
    ck_assert_int_eq(kiln_solver_solve(solver, b, x, &outcome, NULL), KILN_OK);
    ck_assert_int_eq(outcome, KILN_SOLVE_OK);
    kiln_solver_destroy(solver);
}

START_TEST(blocks_of_any_size_multiply_and_solve)
{
    static const uint32_t sizes[] = {1, 3, 4};
    const uint32_t n = sizes[_i];
    enum { ROWS = 90 };
    kiln_context *context = kiln_test_context(2);
    kiln_random random = kiln_random_start(7, n);
    kiln_bsr matrix;
    kiln_bsr_init_blocks(&matrix, context, n);
    fill_blocks(&matrix, &random, ROWS, 200);
    size_t count = n * ROWS;
    double *a = dense_of(&matrix), *x = random_vector(&random, count);
    double *y = calloc(3 * count, sizeof *y), *expected = y + count, *found = y + 2 * count;
    for (size_t i = 0; i < count * count; i++)
        expected[i / count] += a[i] * x[i % count];
    ck_assert_int_eq(kiln_bsr_multiply(&matrix, x, y, NULL), KILN_OK);
    ck_assert_double_le(largest_difference(y, expected, count), 1e-12);
    dense_solve(a, count, x, expected);
    for (int k = 0; k < BACKENDS; k++) {
        solve_with(context, backends[k], &matrix, x, found);
        ck_assert_msg(largest_difference(found, expected, count) < 1e-9, "%s, n = %u", backends[k],
                      n);
    }
    kiln_bsr_free(&matrix);
    free(a), free(x), free(y);
    kiln_context_destroy(context);
}
END_TEST

/* Large enough for several chunks, spilled sums and the parts of the incomplete factor. */
START_TEST(large_blocks_have_the_same_bits_on_any_threads)
{
    const uint32_t n = _i ? 4 : 1;
    enum { ROWS = 5000 };
    double *x[3], residual = 0.0;
    for (int threads = 1; threads <= 3; threads++) {
        kiln_context *context = kiln_test_context(threads);
        kiln_random random = kiln_random_start(8, n);
        kiln_bsr matrix;
        kiln_bsr_init_blocks(&matrix, context, n);
        fill_blocks(&matrix, &random, ROWS, 11000);
        double *b = random_vector(&random, n * ROWS), *back = calloc(n * ROWS, sizeof *back);
        x[threads - 1] = calloc(n * ROWS, sizeof **x);
        solve_with(context, "pcg-ic", &matrix, b, x[threads - 1]);
        ck_assert_int_eq(kiln_bsr_multiply(&matrix, x[threads - 1], back, NULL), KILN_OK);
        residual = fmax(residual, largest_difference(back, b, n * ROWS));
        kiln_bsr_free(&matrix);
        free(b), free(back);
        kiln_context_destroy(context);
    }
    ck_assert_double_le(residual, 1e-9);
    for (int i = 1; i < 3; i++)
        ck_assert_mem_eq(x[i], x[0], n * ROWS * sizeof **x);
    for (int i = 0; i < 3; i++)
        free(x[i]);
}
END_TEST

/* Held components of blocks of 4 are taken out one by one. */
START_TEST(components_are_held_one_by_one)
{
    enum { ROWS = 40, SIZE = 4, COUNT = SIZE * ROWS };
    kiln_context *context = kiln_test_context(2);
    kiln_random random = kiln_random_start(9, 4);
    kiln_bsr matrix;
    kiln_constraints held;
    kiln_bsr_init_blocks(&matrix, context, SIZE);
    kiln_constraints_init_blocks(&held, context, SIZE);
    fill_blocks(&matrix, &random, ROWS, 80);
    ck_assert_int_eq(kiln_constraints_reset(&held, ROWS, NULL), KILN_OK);
    for (size_t row = 0; row < ROWS; row++) {
        held.held[row] = (uint8_t)kiln_random_below(&random, 16);
        for (size_t c = 0; c < SIZE; c++)
            held.goal[SIZE * row + c] = (double)(row + c);
    }
    double *x = random_vector(&random, COUNT), gap[COUNT], g[COUNT], *before = dense_of(&matrix);
    kiln_constraints_gap(&held, x, gap);
    memcpy(g, x, sizeof g);
    kiln_constraints_project(&held, g);
    kiln_constraints_apply(&held, &matrix, 2.5);
    double *after = dense_of(&matrix);
    for (size_t i = 0; i < COUNT; i++) {
        bool fixed = held.held[i / SIZE] >> i % SIZE & 1;
        ck_assert_double_eq(gap[i], fixed ? (double)(i / SIZE + i % SIZE) - x[i] : 0.0);
        ck_assert_double_eq(g[i], fixed ? 0.0 : x[i]);
        for (size_t j = 0; j < COUNT; j++) {
            bool out = fixed || held.held[j / SIZE] >> j % SIZE & 1;
            double expected = out ? (i == j ? 2.5 : 0.0) : before[COUNT * i + j];
            ck_assert_double_eq(after[COUNT * i + j], expected);
        }
    }
    kiln_bsr_free(&matrix);
    kiln_constraints_free(&held);
    free(x), free(before), free(after);
    kiln_context_destroy(context);
}
END_TEST

/* Heat in a cube of tets: a term of one number per row. Corner (i, j, k) of the grid is a row; each
 * cell is six tets around its diagonal. */
enum { SIDE = 7, CORNERS = SIDE * SIDE * SIDE, CELLS = (SIDE - 1) * (SIDE - 1) * (SIDE - 1) };

typedef struct heat {
    uint32_t tet[6 * CELLS][4];
    double stiffness[6 * CELLS][4][4];
    kiln_vec3 at[CORNERS];
} heat;

static uint32_t corner(size_t i, size_t j, size_t k)
{
    return (uint32_t)((i * SIDE + j) * SIDE + k);
}

static void add_tet(heat *h, size_t t, const uint32_t v[4])
{
    kiln_vec3 e[3], g[4] = {{0}};
    memcpy(h->tet[t], v, sizeof h->tet[t]);
    for (int a = 0; a < 3; a++)
        e[a] = kiln_v3_sub(h->at[v[a + 1]], h->at[v[0]]);
    double six = kiln_v3_dot(e[0], kiln_v3_cross(e[1], e[2]));
    for (int a = 0; a < 3; a++) {
        g[a + 1] = kiln_v3_scale(kiln_v3_cross(e[(a + 1) % 3], e[(a + 2) % 3]), 1.0 / six);
        g[0] = kiln_v3_sub(g[0], g[a + 1]);
    }
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            h->stiffness[t][a][b] = fabs(six) / 6.0 * kiln_v3_dot(g[a], g[b]);
}

static heat *make_heat(void)
{
    static const int paths[6][2] = {{0, 1}, {1, 0}, {0, 2}, {2, 0}, {1, 2}, {2, 1}};
    heat *h = calloc(1, sizeof *h);
    size_t t = 0;
    for (size_t v = 0; v < CORNERS; v++)
        h->at[v] = kiln_v3((double)(v / (SIDE * SIDE)), 1.3 * (double)(v / SIDE % SIDE),
                           0.8 * (double)(v % SIDE));
    for (size_t c = 0; c < CELLS; c++)
        for (int p = 0; p < 6; p++, t++) {
            size_t at[3] = {c / (SIDE - 1) / (SIDE - 1), c / (SIDE - 1) % (SIDE - 1),
                            c % (SIDE - 1)};
            uint32_t v[4] = {corner(at[0], at[1], at[2])};
            for (int s = 0; s < 2; s++) {
                at[paths[p][s]]++;
                v[s + 1] = corner(at[0], at[1], at[2]);
            }
            at[3 - paths[p][0] - paths[p][1]]++;
            v[3] = corner(at[0], at[1], at[2]);
            add_tet(h, t, v);
        }
    return h;
}

static double heat_value(void *self, const double *x)
{
    const heat *h = self;
    double sum = 0.0;
    for (size_t t = 0; t < 6 * CELLS; t++)
        for (int e = 0; e < 16; e++)
            sum += 0.5 * h->stiffness[t][e / 4][e % 4] * x[h->tet[t][e / 4]] * x[h->tet[t][e % 4]];
    return sum;
}

static void heat_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    const heat *h = self;
    for (size_t t = 0; t < 6 * CELLS; t++)
        for (int e = 0; e < 16; e++) {
            uint32_t i = h->tet[t][e / 4], j = h->tet[t][e % 4];
            double k = scale * h->stiffness[t][e / 4][e % 4];
            g[i] += k * x[j];
            if (H && i <= j)
                kiln_bsr_add_block(H, i, j, &k);
        }
}

static kiln_cliques heat_cliques(void *self)
{
    const heat *h = self;
    return (kiln_cliques){.count = 6 * CELLS, .size = 4, .row = h->tet[0]};
}

static double temperature(kiln_vec3 at)
{
    return 3.0 + 2.0 * at.x - at.y + 0.5 * at.z;
}

/* What is linear and held at the boundary is linear inside. */
START_TEST(heat_has_one_number_per_row)
{
    kiln_context *context = kiln_test_context(2);
    heat *h = make_heat();
    kiln_term term = {.name = "heat",
                      .self = h,
                      .weight = 1.0,
                      .value = heat_value,
                      .add = heat_add,
                      .cliques = heat_cliques};
    kiln_constraints held;
    kiln_constraints_init_blocks(&held, context, 1);
    ck_assert_int_eq(kiln_constraints_reset(&held, CORNERS, NULL), KILN_OK);
    for (size_t v = 0; v < CORNERS; v++) {
        size_t i = v / SIDE / SIDE, j = v / SIDE % SIDE, k = v % SIDE;
        held.held[v] = i % (SIDE - 1) == 0 || j % (SIDE - 1) == 0 || k % (SIDE - 1) == 0;
        held.goal[v] = held.held[v] ? temperature(h->at[v]) : -77.0;
    }
    kiln_solver_options options = kiln_solver_default_options();
    kiln_newton_options newton_options = kiln_newton_default_options();
    for (int k = 0; k < BACKENDS; k++) {
        kiln_newton *newton;
        kiln_newton_report report;
        double x[CORNERS] = {0.0};
        options.backend = backends[k];
        ck_assert_int_eq(kiln_newton_create(context, &options, &newton, NULL), KILN_OK);
        kiln_term *terms[] = {&term};
        ck_assert_int_eq(
            kiln_newton_minimise(newton, &newton_options, terms, 1, &held, x, &report, NULL),
            KILN_OK);
        ck_assert_int_eq(report.outcome, KILN_NEWTON_CONVERGED);
        for (size_t v = 0; v < CORNERS; v++)
            ck_assert_double_eq_tol(x[v], temperature(h->at[v]), 1e-8);
        kiln_newton_destroy(newton);
    }
    kiln_constraints_free(&held);
    free(h);
    kiln_context_destroy(context);
}
END_TEST

/* Springs between the corners of the grid, some of them; counts how often one is looked at. */
typedef struct springs {
    uint32_t *end; /* [spring][2], ascending rows or slots */
    double *length;
    size_t count, looks;
} springs;

static double spring_vector(const springs *s, size_t i, const double *x, double d[3])
{
    const double *a = x + 3 * (size_t)s->end[2 * i], *b = x + 3 * (size_t)s->end[2 * i + 1];
    for (int c = 0; c < 3; c++)
        d[c] = b[c] - a[c];
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

static double springs_value(void *self, const double *x)
{
    springs *s = self;
    double sum = 0.0, d[3];
    s->looks += s->count;
    for (size_t i = 0; i < s->count; i++)
        sum += 0.5 * pow(spring_vector(s, i, x, d) - s->length[i], 2.0);
    return sum;
}

static void springs_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    springs *s = self;
    s->looks += s->count;
    for (size_t i = 0; i < s->count; i++) {
        double d[3], block[3][3], minus[3][3], now = spring_vector(s, i, x, d);
        double pull = 1.0 - s->length[i] / now, side = pull > 0.0 ? pull : 0.0;
        uint32_t a = s->end[2 * i], b = s->end[2 * i + 1];
        for (int c = 0; c < 3; c++) {
            g[3 * a + (uint32_t)c] -= scale * pull * d[c];
            g[3 * b + (uint32_t)c] += scale * pull * d[c];
            for (int e = 0; e < 3; e++) {
                block[c][e] =
                    scale * ((1.0 - side) * d[c] * d[e] / (now * now) + (c == e ? side : 0.0));
                minus[c][e] = -block[c][e];
            }
        }
        if (!H)
            continue;
        kiln_bsr_add(H, a, a, (const double(*)[3])block);
        kiln_bsr_add(H, b, b, (const double(*)[3])block);
        kiln_bsr_add(H, a, b, (const double(*)[3])minus);
    }
}

static kiln_cliques springs_cliques(void *self)
{
    const springs *s = self;
    return (kiln_cliques){.count = s->count, .size = 2, .row = s->end};
}

static kiln_term springs_term(springs *s)
{
    return (kiln_term){.name = "springs",
                       .self = s,
                       .weight = 1.0,
                       .value = springs_value,
                       .add = springs_add,
                       .cliques = springs_cliques};
}

static springs make_springs(const heat *h)
{
    springs s = {.end = malloc(12 * 6 * CELLS * sizeof(uint32_t)),
                 .length = malloc(6 * 6 * CELLS * sizeof(double))};
    for (size_t t = 0; t < 6 * CELLS; t++)
        for (int a = 0; a < 4; a++)
            for (int b = a + 1; b < 4; b++) {
                s.end[2 * s.count] = h->tet[t][a];
                s.end[2 * s.count + 1] = h->tet[t][b];
                s.length[s.count++] =
                    0.9 * kiln_v3_norm(kiln_v3_sub(h->at[h->tet[t][a]], h->at[h->tet[t][b]]));
            }
    return s;
}

static void minimise(kiln_context *context, springs *s, const kiln_constraints *held, double *x)
{
    kiln_newton_options options = kiln_newton_default_options();
    kiln_newton_report report;
    kiln_newton *newton;
    kiln_term term = springs_term(s), *terms[] = {&term};
    options.tolerance = 1e-13;
    ck_assert_int_eq(kiln_newton_create(context, NULL, &newton, NULL), KILN_OK);
    ck_assert_int_eq(kiln_newton_minimise(newton, &options, terms, 1, held, x, &report, NULL),
                     KILN_OK);
    ck_assert_int_eq(report.outcome, KILN_NEWTON_CONVERGED);
    kiln_newton_destroy(newton);
}

/* The springs at the slots that are free, with rows of their own. */
static springs number_patch(const springs *all, const kiln_constraints *held,
                            kiln_unknowns *unknowns)
{
    springs s = {.end = malloc(2 * all->count * sizeof(uint32_t)),
                 .length = malloc(all->count * sizeof(double))};
    for (size_t i = 0; i < all->count; i++) {
        const uint32_t *slot = all->end + 2 * i;
        uint32_t row[2];
        if (held->held[slot[0]] == 7 && held->held[slot[1]] == 7)
            continue;
        for (int k = 0; k < 2; k++)
            ck_assert_int_eq(kiln_unknowns_add(unknowns, slot[k], &row[k], NULL), KILN_OK);
        memcpy(s.end + 2 * s.count, row, sizeof row);
        s.length[s.count++] = all->length[i];
    }
    return s;
}

/* A few corners may move, one of them along a slope only; all others are held. The same from a
 * solve over all rows and from one over the rows that the springs there touch. */
START_TEST(a_patch_is_the_whole_with_the_rest_held)
{
    enum { N = 3 * CORNERS };
    kiln_context *context = kiln_test_context(2);
    heat *h = make_heat();
    springs all = make_springs(h);
    kiln_unknowns unknowns;
    kiln_constraints held, patch_held;
    kiln_unknowns_init(&unknowns, context, 3);
    kiln_constraints_init(&held, context), kiln_constraints_init(&patch_held, context);
    for (uint64_t round = 0; round < 4; round++) {
        kiln_random random = kiln_random_start(round, 3);
        double whole[N], part[N], x[N];
        for (size_t i = 0; i < N; i++)
            part[i] = whole[i] = (&h->at[0].x)[i] + kiln_random_range(&random, -0.1, 0.1);
        ck_assert_int_eq(kiln_constraints_reset(&held, CORNERS, NULL), KILN_OK);
        memset(held.held, 7, CORNERS);
        memcpy(held.goal, whole, sizeof whole);
        uint32_t base = corner(1 + round % 3, 2, 3), free_ones[] = {base, base + 1, base + SIDE};
        for (int k = 0; k < 3; k++)
            held.held[free_ones[k]] = 0;
        held.held[base] = 1;
        kiln_constraint_frame frame = {base, {{{0.6, 0.8, 0}, {-0.8, 0.6, 0}, {0, 0, 1}}}};
        ck_assert_int_eq(kiln_array_push(context, &held.frames, frame, NULL), KILN_OK);

        all.looks = 0;
        minimise(context, &all, &held, whole);
        springs patch = number_patch(&all, &held, &unknowns);
        ck_assert_uint_lt(unknowns.rows, 60);
        ck_assert_int_eq(kiln_unknowns_hold(&unknowns, &held, &patch_held, NULL), KILN_OK);
        kiln_unknowns_gather(&unknowns, part, x);
        minimise(context, &patch, &patch_held, x);
        kiln_unknowns_scatter(&unknowns, x, part);
        for (size_t i = 0; i < N; i++)
            ck_assert_double_eq_tol(part[i], whole[i], 1e-12);
        ck_assert_double_gt(fabs(whole[3 * (base + 1)] - (&h->at[0].x)[3 * (base + 1)]), 1e-4);
        ck_assert_uint_lt(10 * patch.looks, all.looks);
        for (uint32_t row = 0; row < unknowns.rows; row++)
            ck_assert_uint_eq(kiln_unknowns_row(&unknowns, kiln_unknowns_slot(&unknowns, row)),
                              row);
        kiln_unknowns_clear(&unknowns);
        for (uint32_t slot = 0; slot < CORNERS + 9; slot++)
            ck_assert_uint_eq(kiln_unknowns_row(&unknowns, slot), KILN_BSR_NO_ROW);
        free(patch.end), free(patch.length);
    }
    kiln_unknowns_free(&unknowns);
    kiln_constraints_free(&held), kiln_constraints_free(&patch_held);
    free(all.end), free(all.length), free(h);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("unknowns");
    TCase *all = kiln_test_case(suite, "unknowns");
    tcase_add_loop_test(all, blocks_of_any_size_multiply_and_solve, 0, 3);
    tcase_add_loop_test(all, large_blocks_have_the_same_bits_on_any_threads, 0, 2);
    tcase_add_test(all, components_are_held_one_by_one);
    tcase_add_test(all, heat_has_one_number_per_row);
    tcase_add_test(all, a_patch_is_the_whole_with_the_rest_held);
    return suite;
}
