/* Small dense matrices to compare with, and random block matrices. */
#ifndef KILN_TESTS_SOLVE_DENSE_H
#define KILN_TESTS_SOLVE_DENSE_H

#include "solve/bsr.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static inline double *dense_of(const kiln_bsr *matrix)
{
    size_t size = matrix->block, n = size * matrix->rows;
    double *a = calloc(n * n, sizeof *a);
    for (uint32_t i = 0; i < matrix->rows; i++)
        for (uint64_t b = matrix->start[i]; b < matrix->start[i + 1]; b++) {
            size_t stride, j = matrix->column[b];
            const double *at = kiln_bsr_place(matrix, matrix->block, i, b, &stride);
            for (size_t r = 0; r < size; r++)
                for (size_t c = 0; c < size; c++) {
                    a[(size * i + r) * n + size * j + c] = at[r * stride + c];
                    a[(size * j + c) * n + size * i + r] = at[r * stride + c];
                }
        }
    return a;
}

/* x = A^-1 b by elimination with pivoting; destroys a. */
static inline void dense_solve(double *a, size_t n, const double *b, double *x)
{
    memcpy(x, b, n * sizeof *x);
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < n; i++)
            pivot = fabs(a[i * n + k]) > fabs(a[pivot * n + k]) ? i : pivot;
        for (size_t j = 0; j < n; j++) {
            double t = a[k * n + j];
            a[k * n + j] = a[pivot * n + j];
            a[pivot * n + j] = t;
        }
        double t = x[k];
        x[k] = x[pivot];
        x[pivot] = t;
        for (size_t i = k + 1; i < n; i++) {
            double f = a[i * n + k] / a[k * n + k];
            for (size_t j = k; j < n; j++)
                a[i * n + j] -= f * a[k * n + j];
            x[i] -= f * x[k];
        }
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t j = k + 1; j < n; j++)
            x[k] -= a[k * n + j] * x[j];
        x[k] /= a[k * n + k];
    }
}

/* `count` cliques of `size` random rows; with `local`, rows near each other. */
static inline uint32_t *random_cliques(kiln_random *random, size_t rows, size_t count,
                                       uint32_t size, uint32_t local)
{
    uint32_t *row = malloc(count * size * sizeof *row);
    for (size_t c = 0; c < count; c++) {
        uint32_t base = kiln_random_below(random, (uint32_t)rows);
        for (uint32_t k = 0; k < size; k++)
            row[c * size + k] = local ? (base + kiln_random_below(random, local)) % (uint32_t)rows
                                      : kiln_random_below(random, (uint32_t)rows);
    }
    return row;
}

/* For each clique a random PSD matrix of rank 2 over its rows, and `ground` on the diagonal. */
static inline void fill_positive(kiln_bsr *matrix, kiln_random *random, const uint32_t *row,
                                 size_t count, uint32_t size, double ground)
{
    for (uint32_t i = 0; i < matrix->rows; i++)
        kiln_bsr_add(matrix, i, i,
                     (const double[3][3]){{ground, 0, 0}, {0, ground, 0}, {0, 0, ground}});
    for (size_t c = 0; c < 2 * count; c++) {
        double v[8][3];
        const uint32_t *at = row + c / 2 * size;
        for (uint32_t k = 0; k < size; k++)
            for (int d = 0; d < 3; d++)
                v[k][d] = kiln_random_range(random, -1.0, 1.0);
        for (uint32_t p = 0; p < size; p++)
            for (uint32_t q = 0; q < size; q++) {
                if (at[p] > at[q] || (at[p] == at[q] && p > q))
                    continue;
                double b[3][3];
                for (int r = 0; r < 3; r++)
                    for (int d = 0; d < 3; d++) {
                        b[r][d] = v[p][r] * v[q][d];
                        if (at[p] == at[q] && p != q)
                            b[r][d] += v[q][r] * v[p][d];
                    }
                kiln_bsr_add(matrix, at[p], at[q], (const double(*)[3])b);
            }
    }
}

/* A positive definite matrix of random cliques of four. */
static inline void random_matrix(kiln_bsr *matrix, kiln_random *random, size_t rows, size_t count,
                                 uint32_t local, double ground)
{
    uint32_t *row = random_cliques(random, rows, count, 4, local);
    kiln_cliques cliques = {.count = count, .size = 4, .row = row};
    ck_assert_int_eq(kiln_bsr_set_pattern(matrix, rows, &cliques, 1, NULL), KILN_OK);
    fill_positive(matrix, random, row, count, 4, ground);
    free(row);
}

static inline double *random_vector(kiln_random *random, size_t count)
{
    double *v = malloc(count * sizeof *v);
    for (size_t i = 0; i < count; i++)
        v[i] = kiln_random_range(random, -1.0, 1.0);
    return v;
}

#endif
