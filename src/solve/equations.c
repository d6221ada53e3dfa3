#include "solve/equations.h"

#include "base/assert.h"
#include "base/parallel.h"

#include <string.h>

enum { GRAIN = 512 };

void kiln_equations_init(kiln_equations *equations, kiln_context *context)
{
    *equations = (kiln_equations){.context = context};
    kiln_bsr_init_blocks(&equations->give, context, 1);
}

void kiln_equations_free(kiln_equations *equations)
{
    kiln_bsr_free(&equations->give);
    kiln_array_free(equations->context, &equations->start);
    kiln_array_free(equations->context, &equations->column);
    kiln_array_free(equations->context, &equations->mirror);
    kiln_array_free(equations->context, &equations->value);
    equations->rows = 0;
}

/* Both triangles of what `give` has the upper one of: in each row first the columns before it. */
static void fill_rings(kiln_equations *e, uint32_t *before)
{
    const kiln_bsr *upper = &e->give;
    memset(before, 0, e->rows * sizeof *before);
    for (uint64_t b = 0; b < upper->start[e->rows]; b++)
        before[upper->column[b]]++;
    e->start.data[0] = 0;
    for (size_t i = 0; i < e->rows; i++) { /* its diagonal is in both counts */
        e->start.data[i + 1] =
            e->start.data[i] + before[i] - 1 + (upper->start[i + 1] - upper->start[i]);
        before[i] = 0;
    }
    for (uint32_t i = 0; i < e->rows; i++)
        for (uint64_t b = upper->start[i]; b < upper->start[i + 1]; b++) {
            uint32_t j = upper->column[b];
            uint64_t own = e->start.data[i + 1] - (upper->start[i + 1] - b);
            uint64_t other = i == j ? own : e->start.data[j] + before[j]++;
            e->column.data[own] = j;
            e->column.data[other] = i;
            e->mirror.data[own] = (uint32_t)(other - e->start.data[j]);
            e->mirror.data[other] = (uint32_t)(own - e->start.data[i]);
        }
}

static kiln_status make_rings(kiln_equations *e, kiln_error *error)
{
    kiln_context *context = e->context;
    size_t entries = 2 * (size_t)e->give.start[e->rows] - e->rows;
    KILN_TRY(kiln_array_reserve(context, &e->start, e->rows + 1, error));
    KILN_TRY(kiln_array_reserve(context, &e->column, entries + 1, error));
    KILN_TRY(kiln_array_reserve(context, &e->mirror, entries + 1, error));
    KILN_TRY(kiln_array_reserve(context, &e->value, 3 * entries + 1, error));
    uint32_t *before = kiln_resize(context, NULL, 0, (e->rows + 1) * sizeof *before);
    if (!before)
        return kiln_fail_memory(error, (e->rows + 1) * sizeof *before);
    fill_rings(e, before);
    kiln_release(context, before, (e->rows + 1) * sizeof *before);
    return KILN_OK;
}

kiln_status kiln_equations_set_pattern(kiln_equations *equations, size_t rows,
                                       const kiln_cliques *cliques, size_t clique_sets,
                                       kiln_error *error)
{
    kiln_status status = kiln_bsr_set_pattern(&equations->give, rows, cliques, clique_sets, error);
    equations->rows = rows;
    if (status == KILN_OK)
        status = make_rings(equations, error);
    if (status == KILN_OK)
        kiln_equations_clear(equations);
    else
        kiln_equations_free(equations);
    return status;
}

void kiln_equations_clear(kiln_equations *equations)
{
    kiln_bsr_clear(&equations->give);
    memset(equations->value.data, 0,
           3 * (size_t)equations->start.data[equations->rows] * sizeof(double));
}

uint64_t kiln_equations_find(const kiln_equations *equations, uint32_t i, uint32_t j)
{
    uint64_t low = equations->start.data[i], high = equations->start.data[i + 1];
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        *(equations->column.data[middle] <= j ? &low : &high) = middle;
    }
    KILN_ASSERT_OP(equations->column.data[low], ==, j);
    return low;
}

/* Column by column, through the mirrors: what holds a row is asked for once. */
void kiln_equations_project(kiln_equations *equations, const kiln_constraints *constraints)
{
    const uint64_t *start = equations->start.data;
    for (uint32_t j = 0; j < equations->rows; j++) {
        if (!constraints->held[j])
            continue;
        const kiln_held held = kiln_constraints_held(constraints, j);
        for (uint64_t k = start[j]; k < start[j + 1]; k++) {
            uint32_t i = equations->column.data[k];
            double *value = equations->value.data + 3 * (start[i] + equations->mirror.data[k]);
            kiln_vec3 free = kiln_held_free_part(&held, kiln_v3(value[0], value[1], value[2]));
            value[0] = free.x;
            value[1] = free.y;
            value[2] = free.z;
        }
    }
}

typedef struct product {
    const kiln_equations *equations;
    const double *in;
    double scale, *out;
} product;

static void multiply_rows(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const product *m = user;
    const kiln_equations *e = m->equations;
    for (size_t i = begin; i < end; i++) {
        double sum = 0.0;
        for (uint64_t k = e->start.data[i]; k < e->start.data[i + 1]; k++) {
            const double *J = e->value.data + 3 * k;
            const double *v = m->in + 3 * (size_t)e->column.data[k];
            sum += J[0] * v[0] + J[1] * v[1] + J[2] * v[2];
        }
        m->out[i] = sum;
    }
}

void kiln_equations_multiply(const kiln_equations *equations, const double *v, double *out)
{
    product m = {equations, v, 1.0, out};
    kiln_parallel_for(equations->context, equations->rows, GRAIN, multiply_rows, &m);
}

static void add_transposed_rows(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const product *m = user;
    const kiln_equations *e = m->equations;
    for (size_t j = begin; j < end; j++) {
        double sum[3] = {0};
        for (uint64_t k = e->start.data[j]; k < e->start.data[j + 1]; k++) {
            uint32_t i = e->column.data[k];
            const double *J = e->value.data + 3 * (e->start.data[i] + e->mirror.data[k]);
            for (int c = 0; c < 3; c++)
                sum[c] += J[c] * m->in[i];
        }
        for (int c = 0; c < 3; c++)
            m->out[3 * j + c] += m->scale * sum[c];
    }
}

void kiln_equations_add_transposed(const kiln_equations *equations, const double *p, double scale,
                                   double *out)
{
    product m = {equations, p, scale, out};
    kiln_parallel_for(equations->context, equations->rows, GRAIN, add_transposed_rows, &m);
}

/* Equations meet in S where they share an unknown: the rings are its cliques. */
kiln_status kiln_equations_complement_pattern(const kiln_equations *equations, kiln_bsr *S,
                                              kiln_error *error)
{
    const kiln_cliques rings = {
        .count = equations->rows, .start = equations->start.data, .row = equations->column.data};
    return kiln_bsr_set_pattern(S, equations->rows, &rings, 1, error);
}

typedef struct complement {
    const kiln_equations *equations;
    const double *D;
    kiln_bsr *S;
    uint32_t *place; /* [worker][rows] of a column in the row at hand */
} complement;

static void add_row(const complement *m, uint32_t i, uint32_t *place)
{
    const kiln_equations *e = m->equations;
    const kiln_bsr *give = &e->give;
    double *row = m->S->value + m->S->start[i];
    for (uint64_t b = m->S->start[i]; b < m->S->start[i + 1]; b++)
        place[m->S->column[b]] = (uint32_t)(b - m->S->start[i]);
    for (uint64_t b = give->start[i]; b < give->start[i + 1]; b++)
        row[place[give->column[b]]] += give->value[b];
    for (uint64_t k = e->start.data[i]; k < e->start.data[i + 1]; k++) {
        uint32_t j = e->column.data[k];
        const double *J = e->value.data + 3 * k, *D = m->D + 9 * (size_t)j;
        double DJ[3];
        for (int c = 0; c < 3; c++)
            DJ[c] = D[c] * J[0] + D[3 + c] * J[1] + D[6 + c] * J[2];
        for (uint64_t l = e->start.data[j + 1]; l-- > e->start.data[j];) {
            uint32_t other = e->column.data[l];
            if (other < i)
                break;
            const double *K = e->value.data + 3 * (e->start.data[other] + e->mirror.data[l]);
            row[place[other]] += DJ[0] * K[0] + DJ[1] * K[1] + DJ[2] * K[2];
        }
    }
}

static void add_rows(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    const complement *m = user;
    for (size_t i = begin; i < end; i++)
        add_row(m, (uint32_t)i, m->place + (size_t)worker * m->equations->rows);
}

kiln_status kiln_equations_complement(const kiln_equations *equations, const double *D, kiln_bsr *S,
                                      kiln_error *error)
{
    kiln_context *context = equations->context;
    size_t bytes = (size_t)context->threads * equations->rows * sizeof(uint32_t) + 1;
    complement m = {equations, D, S, kiln_resize(context, NULL, 0, bytes)};
    if (!m.place)
        return kiln_fail_memory(error, bytes);
    kiln_bsr_clear(S);
    kiln_parallel_for(context, equations->rows, GRAIN, add_rows, &m);
    kiln_release(context, m.place, bytes);
    return KILN_OK;
}
