/* Volumes about vertices: sums, derivatives, ranks, what stabilises leaves alone. */
#include "fem/ring_volume.h"
#include "fixtures.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_ring_volume rings;
    size_t rows;
    const double *x;
} fixture;

static fixture make(const char *shape, const char *settings, int threads)
{
    fixture f = {.context = kiln_test_context(threads)};
    f.mesh = kiln_test_mesh(f.context, shape, settings);
    size_t tets = f.mesh->table[KILN_ON_TET].used;
    uint8_t *keeps = malloc(tets);
    memset(keeps, 1, tets);
    f.rows = f.mesh->table[KILN_ON_VERTEX].used;
    f.x = &f.mesh->x[0].x;
    kiln_ring_volume_init(&f.rings, f.context);
    ck_assert_int_eq(kiln_ring_volume_build(&f.rings, f.mesh, f.rows, keeps, NULL), KILN_OK);
    free(keeps);
    return f;
}

static void drop(fixture *f)
{
    kiln_ring_volume_free(&f->rings);
    kiln_mesh_destroy(f->mesh);
    kiln_context_destroy(f->context);
}

/* J dx is the change of R, J' the gradient of p . R, and all of R the volume. */
START_TEST(volumes_and_their_derivatives)
{
    fixture f = make("ball", "radius=1 h=0.5", 1);
    size_t size = 3 * f.rows;
    double *R = malloc(f.rows * sizeof *R), *change = malloc(f.rows * sizeof *change);
    double *dx = malloc(size * sizeof *dx), *to = malloc(size * sizeof *to);
    double *g = calloc(size, sizeof *g), *other = calloc(size, sizeof *other), total = 0.0;
    kiln_random random = kiln_random_start(7, 0);
    kiln_ring_volume_find(&f.rings, f.mesh, NULL, f.x, R);
    for (size_t i = 0; i < f.rows; i++)
        total += R[i];
    ck_assert_double_eq_tol(total, kiln_mesh_volume(f.mesh), 1e-13 * total);
    for (size_t i = 0; i < size; i++) {
        dx[i] = kiln_random_range(&random, -0.5, 0.5);
        to[i] = f.x[i] + 1e-6 * dx[i];
    }
    kiln_ring_volume_linearise(&f.rings, f.mesh, f.x);
    kiln_equations_multiply(&f.rings.equations, dx, change);
    kiln_ring_volume_find(&f.rings, f.mesh, f.x, to, R);
    for (size_t i = 0; i < f.rows; i++)
        ck_assert_double_eq_tol(R[i], 1e-6 * change[i], 1e-11);
    kiln_ring_volume_add_gradient(&f.rings, f.mesh, f.x, change, 2.0, g);
    kiln_equations_add_transposed(&f.rings.equations, change, 2.0, other);
    for (size_t i = 0; i < size; i++)
        ck_assert_double_eq_tol(g[i], other[i], 1e-14);
    free(R);
    free(change);
    free(dx);
    free(to);
    free(g);
    free(other);
    drop(&f);
}
END_TEST

/* H v is the change of the gradient along v. */
START_TEST(the_hessian_is_that_of_the_volume)
{
    fixture f = make("ball", "radius=1 h=0.5", 1);
    size_t size = 3 * f.rows;
    const kiln_cliques tets = {
        .count = f.rings.corner.count / 4, .size = 4, .row = f.rings.corner.data};
    double *p = malloc(f.rows * sizeof *p), *v = malloc(size * sizeof *v), step = 1e-5;
    double *x = malloc(size * sizeof *x),
           *g[2] = {calloc(size, sizeof *x), calloc(size, sizeof *x)};
    double *Hv = malloc(size * sizeof *Hv);
    uint64_t *blocks = malloc(4 * f.rings.first.data[f.rows] * sizeof *blocks);
    kiln_bsr H;
    kiln_bsr_init(&H, f.context);
    ck_assert_int_eq(kiln_bsr_set_pattern(&H, f.rows, &tets, 1, NULL), KILN_OK);
    for (size_t i = 0; i < f.rows; i++)
        p[i] = cos((double)i);
    for (size_t i = 0; i < size; i++)
        v[i] = sin((double)i);
    kiln_ring_volume_find_blocks(&f.rings, f.mesh, &H, blocks);
    kiln_ring_volume_add_hessian(&f.rings, f.mesh, f.x, p, 3.0, blocks, &H);
    ck_assert_int_eq(kiln_bsr_multiply(&H, v, Hv, NULL), KILN_OK);
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < size; i++)
            x[i] = f.x[i] + (side ? step : -step) * v[i];
        kiln_ring_volume_add_gradient(&f.rings, f.mesh, x, p, 3.0, g[side]);
    }
    for (size_t i = 0; i < size; i++)
        ck_assert_double_eq_tol(Hv[i], (g[1][i] - g[0][i]) / (2.0 * step), 1e-9);
    kiln_bsr_free(&H);
    free(p);
    free(v);
    free(x);
    free(g[0]);
    free(g[1]);
    free(Hv);
    free(blocks);
    drop(&f);
}
END_TEST

/* By elimination with full pivoting. */
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

/* A tank open at the top with slip at its other walls: pressures that no motion sees. */
static size_t tank_rank(const char *settings)
{
    fixture f = make("box", settings, 1);
    kiln_constraints walls;
    kiln_constraints_init(&walls, f.context);
    ck_assert_int_eq(kiln_constraints_reset(&walls, f.rows, NULL), KILN_OK);
    kiln_vec3 low = f.mesh->x[0], high = low;
    for (size_t v = 0; v < f.rows; v++) {
        kiln_vec3 p = f.mesh->x[v];
        low = kiln_v3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        high = kiln_v3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
    }
    for (size_t v = 0; v < f.rows; v++) {
        kiln_vec3 p = f.mesh->x[v];
        walls.held[v] = (uint8_t)((p.x == low.x || p.x == high.x ? 1 : 0) |
                                  (p.y == low.y || p.y == high.y ? 2 : 0) | (p.z == low.z ? 4 : 0));
    }
    kiln_ring_volume_linearise(&f.rings, f.mesh, f.x);
    kiln_equations_project(&f.rings.equations, &walls);
    double *dense = calloc(3 * f.rows * f.rows, sizeof *dense);
    const kiln_equations *e = &f.rings.equations;
    for (size_t i = 0; i < f.rows; i++)
        for (uint64_t k = e->start.data[i]; k < e->start.data[i + 1]; k++)
            for (int c = 0; c < 3; c++)
                dense[3 * (f.rows * i + e->column.data[k]) + c] = e->value.data[3 * k + c];
    size_t rank = rank_of(dense, f.rows, 3 * f.rows);
    free(dense);
    kiln_constraints_free(&walls);
    drop(&f);
    return rank;
}

/* liquids-algorithms 13, test 2. */
START_TEST(equal_order_has_null_pressures)
{
    ck_assert_uint_eq(tank_rank("lx=2 ly=2 lz=5 nx=2 ny=2 nz=5"), 51);
}
END_TEST

/* C lets constants alone, and what each tet has by gravity is taken out by the shift. */
START_TEST(rest_stays_rest)
{
    fixture f = make("ball", "radius=1 h=0.4", 1);
    size_t tets = f.mesh->table[KILN_ON_TET].used;
    double *give = malloc(tets * sizeof *give), *density = malloc(tets * sizeof *density);
    double *p = malloc(f.rows * sizeof *p), *out = malloc(f.rows * sizeof *out), size = 0.0;
    for (size_t t = 0; t < tets; t++) {
        give[t] = 1.0 + 0.1 * (double)(t % 7);
        density[t] = 1000.0;
    }
    kiln_ring_volume_stabilise(&f.rings, give);
    for (size_t i = 0; i < f.rows; i++)
        p[i] = 1.0;
    ck_assert_int_eq(kiln_bsr_multiply(&f.rings.equations.give, p, out, NULL), KILN_OK);
    for (size_t i = 0; i < f.rows; i++)
        ck_assert_double_eq_tol(out[i], 0.0, 1e-14);
    const kiln_vec3 gravity = {1.0, -2.0, -9.81};
    for (size_t i = 0; i < f.rows; i++)
        p[i] = -1000.0 * kiln_v3_dot(gravity, f.mesh->x[i]);
    ck_assert_int_eq(kiln_bsr_multiply(&f.rings.equations.give, p, out, NULL), KILN_OK);
    for (size_t i = 0; i < f.rows; i++)
        size = fmax(size, fabs(out[i]));
    ck_assert_double_gt(size, 1.0);
    kiln_ring_volume_add_hydrostatic(&f.rings, f.mesh, give, density, gravity, f.x, out);
    for (size_t i = 0; i < f.rows; i++)
        ck_assert_double_eq_tol(out[i], 0.0, 1e-13 * size);
    free(give);
    free(density);
    free(p);
    free(out);
    drop(&f);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("ring volume");
    TCase *c = kiln_test_case(suite, "all");
    tcase_add_test(c, volumes_and_their_derivatives);
    tcase_add_test(c, the_hessian_is_that_of_the_volume);
    tcase_add_test(c, equal_order_has_null_pressures);
    tcase_add_test(c, rest_stays_rest);
    return suite;
}
