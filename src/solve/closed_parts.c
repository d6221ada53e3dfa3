#include "solve/closed_parts.h"

#include <math.h>
#include <string.h>

/* Of the squares of J, those of what its columns sum up to, where that is rounding. One open vertex
 * among a million leaves 1e-8. */
static const double CLOSED = 1e-18;

void kiln_closed_parts_free(kiln_closed_parts *parts)
{
    kiln_array_free(parts->context, &parts->part);
    kiln_array_free(parts->context, &parts->first);
    kiln_array_free(parts->context, &parts->sums);
    parts->pattern = 0;
    parts->parts = parts->closed = 0;
}

static uint32_t find_root(uint32_t *above, uint32_t i)
{
    while (above[i] != i)
        i = above[i] = above[above[i]];
    return i;
}

/* Roots are the lowest of their part, so they can be numbered as they are met. */
static kiln_status number_parts(kiln_closed_parts *parts, const kiln_equations *e,
                                kiln_error *error)
{
    const kiln_bsr *upper = &e->give;
    if (parts->pattern == upper->pattern && parts->part.count == e->rows)
        return KILN_OK;
    parts->pattern = 0;
    KILN_TRY(kiln_array_reserve(parts->context, &parts->part, e->rows + 1, error));
    uint32_t *above = parts->part.data;
    for (uint32_t i = 0; i < e->rows; i++)
        above[i] = i;
    for (uint32_t i = 0; i < e->rows; i++)
        for (uint64_t b = upper->start[i] + 1; b < upper->start[i + 1]; b++) {
            uint32_t one = find_root(above, i), other = find_root(above, upper->column[b]);
            above[one < other ? other : one] = one < other ? one : other;
        }
    parts->parts = 0;
    for (uint32_t i = 0; i < e->rows; i++)
        above[i] = above[i] == i ? (uint32_t)parts->parts++ : above[above[i]];
    KILN_TRY(kiln_array_reserve(parts->context, &parts->first, parts->parts + 1, error));
    KILN_TRY(kiln_array_reserve(parts->context, &parts->sums, 2 * parts->parts + 1, error));
    parts->part.count = e->rows;
    parts->pattern = upper->pattern;
    return KILN_OK;
}

/* Column j of J: the squares of its sum, and of its numbers. */
static void add_column(const kiln_equations *e, uint32_t j, double *sums)
{
    double sum[3] = {0};
    for (uint64_t k = e->start.data[j]; k < e->start.data[j + 1]; k++) {
        uint32_t i = e->column.data[k];
        const double *J = e->value.data + 3 * (e->start.data[i] + e->mirror.data[k]);
        for (int c = 0; c < 3; c++) {
            sum[c] += J[c];
            sums[1] += J[c] * J[c];
        }
    }
    for (int c = 0; c < 3; c++)
        sums[0] += sum[c] * sum[c];
}

kiln_status kiln_closed_parts_find(kiln_closed_parts *parts, const kiln_equations *equations,
                                   kiln_error *error)
{
    KILN_TRY(number_parts(parts, equations, error));
    double *sums = parts->sums.data;
    memset(sums, 0, 2 * parts->parts * sizeof *sums);
    for (uint32_t q = 0; q < parts->parts; q++)
        parts->first.data[q] = KILN_ROW_NONE;
    for (uint32_t j = 0; j < equations->rows; j++)
        add_column(equations, j, sums + 2 * (size_t)parts->part.data[j]);
    parts->closed = 0;
    for (uint32_t i = 0; i < equations->rows; i++) {
        uint32_t q = parts->part.data[i];
        if (parts->first.data[q] != KILN_ROW_NONE || !(sums[2 * (size_t)q + 1] > 0.0) ||
            sums[2 * (size_t)q] > CLOSED * sums[2 * (size_t)q + 1])
            continue;
        parts->first.data[q] = i;
        parts->closed++;
    }
    return KILN_OK;
}

/* [part][2]: of v, and of the shares. */
static double *sum_up(const kiln_closed_parts *parts, const double *share, const double *v)
{
    double *sums = parts->sums.data;
    memset(sums, 0, 2 * parts->parts * sizeof *sums);
    for (size_t i = 0; i < parts->part.count; i++) {
        double *sum = sums + 2 * (size_t)parts->part.data[i];
        sum[0] += v[i];
        sum[1] += share ? share[i] : 1.0;
    }
    return sums;
}

void kiln_closed_parts_take_out(const kiln_closed_parts *parts, const double *share, double *v)
{
    if (!parts->closed)
        return;
    const double *sums = sum_up(parts, share, v);
    for (size_t i = 0; i < parts->part.count; i++) {
        const double *sum = sums + 2 * (size_t)parts->part.data[i];
        if (parts->first.data[parts->part.data[i]] != KILN_ROW_NONE)
            v[i] -= sum[0] / sum[1] * (share ? share[i] : 1.0);
    }
}

double kiln_closed_parts_unkept(const kiln_closed_parts *parts, const double *e,
                                const double *amount)
{
    double most = 0.0;
    if (!parts->closed)
        return most;
    const double *sums = sum_up(parts, amount, e);
    for (size_t q = 0; q < parts->parts; q++)
        if (parts->first.data[q] != KILN_ROW_NONE)
            most = fmax(most, fabs(sums[2 * q]) / sums[2 * q + 1]);
    return most;
}
