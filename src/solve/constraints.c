#include "solve/constraints.h"

#include "base/parallel.h"

#include <string.h>

enum { ALL_HELD = 7, GRAIN = 4096 };

void kiln_constraints_init(kiln_constraints *constraints, kiln_context *context)
{
    *constraints = (kiln_constraints){.context = context};
}

void kiln_constraints_free(kiln_constraints *constraints)
{
    kiln_context *context = constraints->context;
    kiln_release(context, constraints->held, constraints->rows * sizeof(uint8_t));
    kiln_release(context, constraints->target, constraints->rows * sizeof(kiln_vec3));
    kiln_array_free(context, &constraints->frames);
    kiln_constraints_init(constraints, context);
}

kiln_status kiln_constraints_reset(kiln_constraints *constraints, size_t rows, kiln_error *error)
{
    kiln_context *context = constraints->context;
    if (rows != constraints->rows) {
        uint8_t *held = rows ? kiln_resize(context, NULL, 0, rows) : NULL;
        kiln_vec3 *target = rows ? kiln_resize(context, NULL, 0, rows * sizeof *target) : NULL;
        if (rows && (!held || !target)) {
            kiln_release(context, held, rows);
            kiln_release(context, target, rows * sizeof *target);
            return kiln_fail_memory(error, rows * (1 + sizeof *target));
        }
        kiln_release(context, constraints->held, constraints->rows);
        kiln_release(context, constraints->target, constraints->rows * sizeof *target);
        constraints->held = held;
        constraints->target = target;
        constraints->rows = rows;
    }
    if (rows) {
        memset(constraints->held, 0, rows);
        memset(constraints->target, 0, rows * sizeof *constraints->target);
    }
    constraints->frames.count = 0;
    return KILN_OK;
}

/* Axes of the row, or NULL when they are x, y, z. */
static const kiln_mat3 *frame_of(const kiln_constraints *constraints, uint32_t row)
{
    size_t low = 0, high = constraints->frames.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (constraints->frames.data[middle].row < row)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < constraints->frames.count && constraints->frames.data[low].row == row;
    return found ? &constraints->frames.data[low].axes : NULL;
}

/* Projector to the free directions of a row. */
static void free_projector(const kiln_constraints *constraints, uint32_t row, double p[3][3])
{
    uint8_t held = constraints->held[row];
    const kiln_mat3 *axes = held ? frame_of(constraints, row) : NULL;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            p[r][c] = 0.0;
            if (!axes)
                p[r][c] = r == c && !(held >> c & 1) ? 1.0 : 0.0;
            else
                for (int a = 0; a < 3; a++)
                    if (!(held >> a & 1))
                        p[r][c] += axes->m[a][r] * axes->m[a][c];
        }
}

void kiln_constraints_gap(const kiln_constraints *constraints, const double *x, double *gap)
{
    for (size_t row = 0; row < constraints->rows; row++) {
        uint8_t held = constraints->held[row];
        double *out = gap + 3 * row;
        out[0] = out[1] = out[2] = 0.0;
        if (!held)
            continue;
        const kiln_mat3 *axes = frame_of(constraints, (uint32_t)row);
        const kiln_vec3 *t = &constraints->target[row];
        double way[3] = {t->x - x[3 * row], t->y - x[3 * row + 1], t->z - x[3 * row + 2]};
        for (int a = 0; a < 3; a++) {
            if (!(held >> a & 1))
                continue;
            if (!axes) {
                out[a] = way[a];
                continue;
            }
            const double *axis = axes->m[a];
            double along = axis[0] * way[0] + axis[1] * way[1] + axis[2] * way[2];
            for (int c = 0; c < 3; c++)
                out[c] += along * axis[c];
        }
    }
}

void kiln_constraints_project(const kiln_constraints *constraints, double *g)
{
    for (size_t row = 0; row < constraints->rows; row++) {
        uint8_t held = constraints->held[row];
        if (!held)
            continue;
        double *at = g + 3 * row;
        double from[3] = {at[0], at[1], at[2]}, p[3][3];
        if (held == ALL_HELD || !frame_of(constraints, (uint32_t)row)) {
            for (int c = 0; c < 3; c++)
                at[c] = held >> c & 1 ? 0.0 : from[c];
            continue;
        }
        free_projector(constraints, (uint32_t)row, p);
        for (int r = 0; r < 3; r++)
            at[r] = p[r][0] * from[0] + p[r][1] * from[1] + p[r][2] * from[2];
    }
}

typedef struct apply_job {
    const kiln_constraints *constraints;
    kiln_bsr *matrix;
    double scale;
} apply_job;

/* B <- P B Q, as products, so that a NaN in a held row does not stay. */
static void project_block(double *at, size_t stride, const double p[3][3], const double q[3][3])
{
    double half[3][3], whole[3][3];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            half[r][c] = 0.0;
            for (int k = 0; k < 3; k++)
                if (p[r][k] != 0.0)
                    half[r][c] += p[r][k] * at[k * stride + c];
        }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            whole[r][c] = 0.0;
            for (int k = 0; k < 3; k++)
                if (q[k][c] != 0.0)
                    whole[r][c] += half[r][k] * q[k][c];
        }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            at[r * stride + c] = whole[r][c];
}

static void apply_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    apply_job *job = user;
    const kiln_constraints *constraints = job->constraints;
    kiln_bsr *matrix = job->matrix;
    for (size_t i = begin; i < end; i++) {
        uint8_t held = constraints->held[i];
        double p[3][3], q[3][3];
        bool have_p = false;
        for (uint64_t b = matrix->start[i]; b < matrix->start[i + 1]; b++) {
            uint32_t j = matrix->column[b];
            if (!held && !constraints->held[j])
                continue;
            if (!have_p)
                free_projector(constraints, (uint32_t)i, p);
            have_p = true;
            free_projector(constraints, j, q);
            size_t stride;
            double *at = kiln_bsr_at(matrix, (uint32_t)i, b, &stride);
            project_block(at, stride, (const double(*)[3])p, (const double(*)[3])q);
            if (i == j)
                for (int r = 0; r < 3; r++)
                    for (int c = 0; c < 3; c++)
                        at[r * stride + c] += job->scale * ((r == c ? 1.0 : 0.0) - p[r][c]);
        }
    }
}

void kiln_constraints_apply(const kiln_constraints *constraints, kiln_bsr *matrix, double scale)
{
    apply_job job = {constraints, matrix, scale};
    kiln_parallel_for(matrix->context, matrix->rows, GRAIN, apply_chunk, &job);
}
