#include "solve/constraints.h"

#include "base/assert.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { ALL_HELD = 7, GRAIN = 4096, APPLY_GRAIN = 256 };
/* Length of what is free of an axis below which it is held already. */
#define INDEPENDENT 1e-6

void kiln_constraints_init_blocks(kiln_constraints *constraints, kiln_context *context,
                                  uint32_t block)
{
    *constraints = (kiln_constraints){.context = context, .block = block};
}

void kiln_constraints_init(kiln_constraints *constraints, kiln_context *context)
{
    kiln_constraints_init_blocks(constraints, context, 3);
}

static size_t goal_bytes(const kiln_constraints *constraints, size_t rows)
{
    return rows * constraints->block * sizeof(double);
}

void kiln_constraints_free(kiln_constraints *constraints)
{
    kiln_context *context = constraints->context;
    kiln_release(context, constraints->held, constraints->rows * sizeof(uint8_t));
    kiln_release(context, constraints->goal, goal_bytes(constraints, constraints->rows));
    kiln_array_free(context, &constraints->frames);
    kiln_constraints_init_blocks(constraints, context, constraints->block);
}

kiln_status kiln_constraints_reset(kiln_constraints *constraints, size_t rows, kiln_error *error)
{
    kiln_context *context = constraints->context;
    size_t bytes = goal_bytes(constraints, rows);
    if (rows != constraints->rows) {
        uint8_t *held = rows ? kiln_resize(context, NULL, 0, rows) : NULL;
        double *goal = rows ? kiln_resize(context, NULL, 0, bytes) : NULL;
        if (rows && (!held || !goal)) {
            kiln_release(context, held, rows);
            kiln_release(context, goal, bytes);
            return kiln_fail_memory(error, rows + bytes);
        }
        kiln_release(context, constraints->held, constraints->rows);
        kiln_release(context, constraints->goal, goal_bytes(constraints, constraints->rows));
        constraints->held = held;
        constraints->goal = goal;
        constraints->rows = rows;
    }
    if (rows) {
        memset(constraints->held, 0, rows);
        memset(constraints->goal, 0, bytes);
    }
    constraints->frames.count = 0;
    return KILN_OK;
}

/* Where the frame of a row is or would be. */
static size_t frame_place(const kiln_constraints *constraints, uint32_t row, bool *found)
{
    const kiln_constraint_frame *frames = constraints->frames.data;
    size_t low = 0, high = constraints->frames.count;
    if (high && frames[high - 1].row < row)
        low = high; /* rows that come in order */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (frames[middle].row < row)
            low = middle + 1;
        else
            high = middle;
    }
    *found = low < constraints->frames.count && frames[low].row == row;
    return low;
}

const kiln_mat3 *kiln_constraints_frame(const kiln_constraints *constraints, uint32_t row)
{
    if (constraints->frames.count == 0)
        return NULL;
    bool found;
    size_t place = frame_place(constraints, row, &found);
    return found ? &constraints->frames.data[place].axes : NULL;
}

static kiln_status write_frame(kiln_constraints *c, uint32_t row, const kiln_mat3 *axes,
                               kiln_error *error)
{
    bool found;
    size_t place = frame_place(c, row, &found);
    if (!found) {
        kiln_constraint_frame none = {.row = row};
        KILN_TRY(kiln_array_push(c->context, &c->frames, none, error));
        memmove(c->frames.data + place + 1, c->frames.data + place,
                (c->frames.count - 1 - place) * sizeof none);
    }
    c->frames.data[place] = (kiln_constraint_frame){row, *axes};
    return KILN_OK;
}

static void drop_frame(kiln_constraints *c, uint32_t row)
{
    bool found;
    size_t place = frame_place(c, row, &found);
    if (!found)
        return;
    memmove(c->frames.data + place, c->frames.data + place + 1,
            (c->frames.count - 1 - place) * sizeof *c->frames.data);
    c->frames.count--;
}

static kiln_vec3 row_of(const kiln_mat3 *m, int i)
{
    return kiln_v3(m->m[i][0], m->m[i][1], m->m[i][2]);
}

kiln_held kiln_constraints_held(const kiln_constraints *constraints, uint32_t row)
{
    kiln_held held = {.count = 0};
    if (!constraints->held[row])
        return held;
    const kiln_mat3 *frame = kiln_constraints_frame(constraints, row);
    kiln_mat3 axes = frame ? *frame : kiln_m3_identity();
    for (int c = 0; c < 3; c++)
        if (constraints->held[row] >> c & 1) {
            held.axis[held.count] = row_of(&axes, c);
            held.place[held.count] = kiln_v3_dot(held.axis[held.count], constraints->target[row]);
            held.count++;
        }
    return held;
}

/* Right-handed, the one or two directions that are held first. */
static kiln_mat3 complete(const kiln_held *held)
{
    kiln_vec3 a = held->axis[0], b = held->axis[1];
    if (held->count < 2) {
        kiln_vec3 other = fabs(a.x) < 0.6 ? kiln_v3(1, 0, 0) : kiln_v3(0, 1, 0);
        b = kiln_v3_normalize(kiln_v3_cross(a, other));
    }
    kiln_vec3 c = kiln_v3_cross(a, b);
    return (kiln_mat3){{{a.x, a.y, a.z}, {b.x, b.y, b.z}, {c.x, c.y, c.z}}};
}

kiln_status kiln_constraints_set_held(kiln_constraints *constraints, uint32_t row,
                                      const kiln_held *held, kiln_error *error)
{
    if (held->count == 0 || held->count == 3) {
        drop_frame(constraints, row);
    } else {
        kiln_mat3 axes = complete(held);
        KILN_TRY(write_frame(constraints, row, &axes, error));
    }
    kiln_vec3 target = {0, 0, 0};
    for (int k = 0; k < held->count; k++)
        target = kiln_v3_madd(target, held->place[k], held->axis[k]);
    constraints->held[row] = (uint8_t)((1 << held->count) - 1);
    constraints->target[row] = target;
    return KILN_OK;
}

double kiln_held_add(kiln_held *held, kiln_vec3 axis, double place, double least, double *gap)
{
    for (int k = 0; k < held->count; k++) {
        double along = kiln_v3_dot(axis, held->axis[k]);
        axis = kiln_v3_madd(axis, -along, held->axis[k]);
        place -= along * held->place[k];
    }
    double length = kiln_v3_norm(axis);
    bool depends = held->count == 3 || length < least;
    if (gap)
        *gap = depends ? fabs(place) : 0.0;
    if (depends)
        return 0.0;
    held->axis[held->count] = kiln_v3_scale(axis, 1.0 / length);
    held->place[held->count++] = place / length;
    return length;
}

kiln_vec3 kiln_held_free_part(const kiln_held *held, kiln_vec3 direction)
{
    for (int k = 0; k < held->count; k++)
        direction = kiln_v3_madd(direction, -kiln_v3_dot(direction, held->axis[k]), held->axis[k]);
    return direction;
}

/* In world axes a row that was free, or is sent as a whole where it goes as a whole already. */
static bool hold_plainly(kiln_constraints *c, uint32_t row, const kiln_hold *hold, bool *agrees)
{
    uint8_t before = c->held[row];
    bool whole = before == ALL_HELD && hold->components == ALL_HELD;
    if (hold->axes || (before && !(whole && !kiln_constraints_frame(c, row))))
        return false;
    *agrees = !before || kiln_v3_norm(kiln_v3_sub(hold->target, c->target[row])) <= hold->tolerance;
    c->held[row] = (uint8_t)hold->components;
    c->target[row] = hold->target;
    return true;
}

kiln_status kiln_constraints_hold(kiln_constraints *constraints, uint32_t row,
                                  const kiln_hold *hold, bool *agrees, kiln_error *error)
{
    *agrees = true;
    if (hold_plainly(constraints, row, hold, agrees))
        return KILN_OK;
    kiln_mat3 axes = hold->axes ? *hold->axes : kiln_m3_identity();
    kiln_held held = kiln_constraints_held(constraints, row);
    for (int k = 0; k < 3; k++)
        if (hold->components >> k & 1) {
            kiln_vec3 axis = row_of(&axes, k);
            double gap;
            kiln_held_add(&held, axis, kiln_v3_dot(axis, hold->target), INDEPENDENT, &gap);
            *agrees = *agrees && gap <= hold->tolerance;
        }
    return kiln_constraints_set_held(constraints, row, &held, error);
}

/* Projector to the free directions of a row. */
static void free_projector(const kiln_constraints *constraints, uint32_t row, double p[3][3])
{
    uint8_t held = constraints->held[row];
    const kiln_mat3 *axes = held ? kiln_constraints_frame(constraints, row) : NULL;
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

typedef struct row_job {
    const kiln_constraints *constraints;
    const double *x;
    double *out; /* gap, or what is projected in place */
    kiln_bsr *matrix;
    double scale;
} row_job;

/* Along the axes of a frame. */
static void turned_gap(const kiln_mat3 *axes, uint8_t held, const double way[3], double out[3])
{
    for (int a = 0; a < 3; a++) {
        if (!(held >> a & 1))
            continue;
        const double *axis = axes->m[a];
        double along = axis[0] * way[0] + axis[1] * way[1] + axis[2] * way[2];
        for (int c = 0; c < 3; c++)
            out[c] += along * axis[c];
    }
}

static void gap_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const row_job *job = user;
    const kiln_constraints *constraints = job->constraints;
    size_t n = constraints->block;
    memset(job->out + n * begin, 0, n * (end - begin) * sizeof(double));
    for (size_t row = begin; row < end; row++) {
        uint8_t held = constraints->held[row];
        if (!held)
            continue;
        const kiln_mat3 *axes = kiln_constraints_frame(constraints, (uint32_t)row);
        double *out = job->out + n * row, way[KILN_BSR_MOST];
        for (size_t c = 0; c < n; c++)
            way[c] = constraints->goal[n * row + c] - job->x[n * row + c];
        if (axes)
            turned_gap(axes, held, way, out);
        for (size_t c = 0; c < n && !axes; c++)
            out[c] = held >> c & 1 ? way[c] : 0.0;
    }
}

void kiln_constraints_gap(const kiln_constraints *constraints, const double *x, double *gap)
{
    row_job job = {.constraints = constraints, .x = x, .out = gap};
    kiln_parallel_for(constraints->context, constraints->rows, GRAIN, gap_chunk, &job);
}

void kiln_constraints_project_rows(const kiln_constraints *constraints, double *g, size_t begin,
                                   size_t end)
{
    size_t n = constraints->block;
    for (size_t row = begin; row < end; row++) {
        uint8_t held = constraints->held[row];
        double *at = g + n * row, p[3][3];
        if (!held)
            continue;
        if (!kiln_constraints_frame(constraints, (uint32_t)row)) {
            for (size_t c = 0; c < n; c++)
                at[c] = held >> c & 1 ? 0.0 : at[c];
            continue;
        }
        double from[3] = {at[0], at[1], at[2]};
        free_projector(constraints, (uint32_t)row, p);
        for (int r = 0; r < 3; r++)
            at[r] =
                held == ALL_HELD ? 0.0 : p[r][0] * from[0] + p[r][1] * from[1] + p[r][2] * from[2];
    }
}

static void project_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const row_job *job = user;
    kiln_constraints_project_rows(job->constraints, job->out, begin, end);
}

void kiln_constraints_project(const kiln_constraints *constraints, double *g)
{
    row_job job = {.constraints = constraints, .out = g};
    kiln_parallel_for(constraints->context, constraints->rows, GRAIN, project_chunk, &job);
}

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

/* Block (i, j), one of whose rows has a frame. */
static void apply_turned(const row_job *job, uint32_t i, uint32_t j, double *at, size_t stride)
{
    double p[3][3], q[3][3];
    free_projector(job->constraints, i, p);
    free_projector(job->constraints, j, q);
    project_block(at, stride, (const double(*)[3])p, (const double(*)[3])q);
    for (int r = 0; r < 3 && i == j; r++)
        for (int c = 0; c < 3; c++)
            at[r * stride + c] += job->scale * ((r == c ? 1.0 : 0.0) - p[r][c]);
}

static void apply_straight(const row_job *job, uint32_t i, uint32_t j, double *at, size_t stride)
{
    uint8_t above = job->constraints->held[i], across = job->constraints->held[j];
    size_t n = job->constraints->block;
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < n; c++)
            if (above >> r & 1 || across >> c & 1)
                at[r * stride + c] = i == j && r == c ? job->scale : 0.0;
}

static void apply_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const row_job *job = user;
    const kiln_constraints *constraints = job->constraints;
    const kiln_bsr *matrix = job->matrix;
    for (uint32_t i = (uint32_t)begin; i < end; i++)
        for (uint64_t b = matrix->start[i]; b < matrix->start[i + 1]; b++) {
            uint32_t j = matrix->column[b];
            if (!constraints->held[i] && !constraints->held[j])
                continue;
            size_t stride;
            double *at = kiln_bsr_place(matrix, constraints->block, i, b, &stride);
            if (kiln_constraints_frame(constraints, i) || kiln_constraints_frame(constraints, j))
                apply_turned(job, i, j, at, stride);
            else
                apply_straight(job, i, j, at, stride);
        }
}

void kiln_constraints_apply(const kiln_constraints *constraints, kiln_bsr *matrix, double scale)
{
    KILN_ASSERT_OP(matrix->block, ==, constraints->block);
    row_job job = {.constraints = constraints, .matrix = matrix, .scale = scale};
    kiln_parallel_for(matrix->context, matrix->rows, APPLY_GRAIN, apply_chunk, &job);
}
