#include "solve/diagonal.h"

#include <math.h>

static const double LEAST = 1e-8; /* of the mean */

static double *entry(const kiln_bsr *matrix, size_t i)
{
    size_t stride, row = i / matrix->block, c = i % matrix->block;
    double *at = kiln_bsr_place(matrix, matrix->block, (uint32_t)row, matrix->start[row], &stride);
    return at + c * stride + c;
}

double kiln_diagonal_mean(const kiln_bsr *matrix)
{
    double sum = 0.0;
    for (size_t row = 0; row < matrix->rows; row++) {
        size_t stride;
        const double *at =
            kiln_bsr_place(matrix, matrix->block, (uint32_t)row, matrix->start[row], &stride);
        for (size_t c = 0; c < matrix->block; c++)
            sum += fabs(at[c * stride + c]);
    }
    double mean = sum / (double)(matrix->rows * matrix->block);
    return mean > 0.0 && isfinite(mean) ? mean : 1.0;
}

void kiln_diagonal_keep(const kiln_bsr *matrix, double mean, double *diagonal)
{
    for (size_t i = 0; i < matrix->rows * matrix->block; i++) {
        double d = fabs(*entry(matrix, i));
        diagonal[i] = d > LEAST * mean ? d : LEAST * mean;
    }
}

void kiln_diagonal_add(kiln_bsr *matrix, double factor, const double *diagonal)
{
    for (size_t i = 0; i < matrix->rows * matrix->block; i++)
        *entry(matrix, i) += factor * diagonal[i];
}
