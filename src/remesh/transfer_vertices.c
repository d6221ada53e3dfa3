/* The rules for vertex fields, from old vertices and weights. */
#include "base/parallel.h"
#include "geom/sym3.h"
#include "remesh/transfer_impl.h"

#include <string.h>

/* A corner of less weight is no parent: the point lies on the face opposite. */
static const double PARENT_WEIGHT = 1e-9;

bool kiln_transfer_is_linear(const kiln_field *field)
{
    return field->type == KILN_F64 &&
           (field->rule == KILN_RULE_INTERPOLATE || field->rule == KILN_RULE_AVERAGE ||
            field->rule == KILN_RULE_MOMENTUM || field->rule == KILN_RULE_PROJECT);
}

static const char *old_row(const kiln_transfer_field *field, uint32_t row)
{
    return kiln_begin_row(&field->from, row);
}

static bool all_equal(const kiln_transfer_field *field, const kiln_vertex_source *source)
{
    const char *first = old_row(field, source->row[0]);
    for (uint32_t i = 1; i < source->count; i++)
        if (memcmp(first, old_row(field, source->row[i]), field->to->stride) != 0)
            return false;
    return true;
}

static void set_linear(const kiln_transfer_field *field, const kiln_vertex_source *source,
                       double *value)
{
    for (uint32_t c = 0; c < field->to->components; c++) {
        double sum = 0.0;
        for (uint32_t i = 0; i < source->count; i++) {
            double corner;
            memcpy(&corner, old_row(field, source->row[i]) + 8 * c, sizeof corner);
            sum += source->weight[i] * corner;
        }
        value[c] = sum;
    }
}

static void set_spd(const kiln_transfer_field *field, const kiln_vertex_source *source, char *value)
{
    kiln_sym3 sum = {0};
    for (uint32_t i = 0; i < source->count; i++) {
        kiln_sym3 a;
        memcpy(&a, old_row(field, source->row[i]), sizeof a);
        sum = kiln_sym3_madd(sum, source->weight[i], kiln_sym3_log(a));
    }
    sum = kiln_sym3_exp(sum);
    memcpy(value, &sum, sizeof sum);
}

static void set_common_bits(const kiln_transfer_field *field, const kiln_vertex_source *source,
                            char *value)
{
    memset(value, 0xFF, field->to->stride);
    for (uint32_t i = 0; i < source->count; i++) {
        const char *row = old_row(field, source->row[i]);
        for (uint32_t b = 0; source->weight[i] > PARENT_WEIGHT && b < field->to->stride; b++)
            value[b] = (char)(value[b] & row[b]);
    }
}

static uint32_t heaviest(const kiln_vertex_source *source)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < source->count; i++)
        if (source->weight[i] > source->weight[best])
            best = i;
    return source->row[best];
}

static void set_value(const kiln_transfer_field *field, const kiln_vertex_source *source)
{
    char *value = kiln_transfer_row(field, source->vertex);
    kiln_rule rule = field->to->rule;
    if (source->count == 0)
        return;
    if (rule == KILN_RULE_INHERIT)
        set_common_bits(field, source, value);
    else if (all_equal(field, source))
        memcpy(value, old_row(field, source->row[0]), field->to->stride);
    else if (kiln_transfer_is_linear(field->to))
        set_linear(field, source, (double *)value);
    else if (rule == KILN_RULE_SPD_LOG)
        set_spd(field, source, value);
    else
        memcpy(value, old_row(field, heaviest(source)), field->to->stride);
}

typedef struct vertex_work {
    const kiln_transfer_job *job;
    const kiln_transfer_field *field;
} vertex_work;

static void set_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const vertex_work *work = user;
    for (size_t i = begin; i < end; i++)
        set_value(work->field, &work->job->vertices.data[i]);
}

/* The adjoint of interpolation keeps totals: what a vertex had goes to the corners of the new tet
 * that holds its old place. */
static void give_amounts(const kiln_transfer_job *job, const kiln_transfer_field *field)
{
    for (size_t i = 0; i < job->vertices.count; i++)
        memset(kiln_transfer_row(field, job->vertices.data[i].vertex), 0, field->to->stride);
    for (size_t i = 0; i < job->gone.count; i++) {
        const kiln_vertex_gone *gone = &job->gone.data[i];
        if (gone->heir == KILN_NONE)
            continue;
        const char *amounts = old_row(field, gone->row);
        const uint32_t *v = job->to->tet[job->targets.data[gone->heir].tet].v;
        for (uint32_t k = 0; k < 4; k++) {
            double *value = (double *)kiln_transfer_row(field, v[k]);
            for (uint32_t c = 0; c < field->to->components; c++) {
                double amount;
                memcpy(&amount, amounts + 8 * c, sizeof amount);
                value[c] += gone->weight[k] * amount;
            }
        }
    }
}

void kiln_transfer_vertices(kiln_transfer_job *job)
{
    for (size_t f = 0; f < job->fields[KILN_ON_VERTEX].count; f++) {
        const kiln_transfer_field *field = &job->fields[KILN_ON_VERTEX].data[f];
        vertex_work work = {job, field};
        if (field->to->rule == KILN_RULE_CONSERVE && field->to->type == KILN_F64)
            give_amounts(job, field);
        else
            kiln_parallel_for(job->context, job->vertices.count, KILN_TRANSFER_GRAIN, set_chunk,
                              &work);
    }
}
