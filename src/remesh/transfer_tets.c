/* The rules for tet fields, from the overlaps. */
#include "base/parallel.h"
#include "geom/distance.h"
#include "geom/sym3.h"
#include "remesh/transfer_impl.h"

#include <string.h>

typedef struct tet_work {
    const kiln_transfer_job *job;
    const kiln_transfer_field *field;
    const double *weight;  /* [overlap] for means */
    const kiln_sym3 *logs; /* [source] */
    kiln_sym3 *make_logs;
} tet_work;

static const char *old_row(const tet_work *work, const kiln_overlap *overlap)
{
    return kiln_begin_row(&work->field->from, work->job->sources.data[overlap->source].tet);
}

static bool all_equal(const tet_work *work, const kiln_overlap *overlap, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (memcmp(old_row(work, overlap), old_row(work, overlap + i), work->field->to->stride))
            return false;
    return true;
}

/* False when there is no weight at all. */
static bool set_mean(const tet_work *work, size_t first, uint32_t count, double *value)
{
    const kiln_overlap *overlap = &work->job->overlaps.data[first];
    double total = 0.0;
    for (uint32_t i = 0; i < count; i++)
        total += work->weight[first + i];
    for (uint32_t c = 0; total > 0.0 && c < work->field->to->components; c++) {
        double sum = 0.0;
        for (uint32_t i = 0; i < count; i++) {
            double source;
            memcpy(&source, old_row(work, overlap + i) + 8 * c, sizeof source);
            sum += work->weight[first + i] * source;
        }
        value[c] = sum / total;
    }
    return total > 0.0;
}

static bool set_spd(const tet_work *work, const kiln_overlap *overlap, uint32_t count, char *value)
{
    kiln_sym3 sum = {0};
    double total = 0.0;
    for (uint32_t i = 0; i < count; i++)
        total += overlap[i].volume;
    for (uint32_t i = 0; total > 0.0 && i < count; i++)
        sum = kiln_sym3_madd(sum, overlap[i].volume / total, work->logs[overlap[i].source]);
    sum = kiln_sym3_exp(sum);
    if (total > 0.0)
        memcpy(value, &sum, sizeof sum);
    return total > 0.0;
}

static void set_common_bits(const tet_work *work, const kiln_overlap *overlap, uint32_t count,
                            char *value)
{
    memset(value, 0xFF, work->field->to->stride);
    for (uint32_t i = 0; i < count; i++) {
        const char *row = old_row(work, overlap + i);
        for (uint32_t b = 0; b < work->field->to->stride; b++)
            value[b] = (char)(value[b] & row[b]);
    }
}

static const kiln_overlap *heaviest(const kiln_overlap *overlap, uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++)
        if (overlap[i].volume > overlap[best].volume)
            best = i;
    return overlap + best;
}

static const kiln_overlap *holder_of_centroid(const tet_work *work, const kiln_overlap *overlap,
                                              uint32_t count)
{
    const kiln_transfer_job *job = work->job;
    kiln_vec3 centroid = kiln_transfer_centroid(job->targets.data[overlap->target].corner);
    uint32_t best = 0;
    double nearest = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        const kiln_transfer_tet *source = &job->sources.data[overlap[i].source];
        double distance2 = kiln_closest_on_tet(centroid, source->corner).distance2;
        if (distance2 < nearest) {
            nearest = distance2;
            best = i;
        }
    }
    return overlap + best;
}

static void set_value(const tet_work *work, size_t target)
{
    const kiln_transfer_job *job = work->job;
    const kiln_field *to = work->field->to;
    uint32_t first = job->first.data[target], count = job->first.data[target + 1] - first;
    const kiln_overlap *overlap = &job->overlaps.data[first];
    char *value = kiln_transfer_row(work->field, job->targets.data[target].tet);
    if (count == 0)
        return;
    if (to->rule == KILN_RULE_INHERIT) {
        set_common_bits(work, overlap, count, value);
        return;
    }
    if (all_equal(work, overlap, count)) {
        memcpy(value, old_row(work, overlap), to->stride);
        return;
    }
    bool done = false;
    if (to->rule == KILN_RULE_SPD_LOG)
        done = set_spd(work, overlap, count, value);
    else if (kiln_transfer_is_linear(to) && to->rule != KILN_RULE_INTERPOLATE)
        done = set_mean(work, first, count, (double *)value);
    else if (to->rule == KILN_RULE_INTERPOLATE)
        overlap = holder_of_centroid(work, overlap, count);
    else
        overlap = heaviest(overlap, count);
    if (!done)
        memcpy(value, old_row(work, overlap), to->stride);
}

static void set_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    for (size_t t = begin; t < end; t++)
        set_value(user, t);
}

static void log_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const tet_work *work = user;
    for (size_t s = begin; s < end; s++) {
        kiln_sym3 a;
        memcpy(&a, kiln_begin_row(&work->field->from, work->job->sources.data[s].tet), sizeof a);
        work->make_logs[s] = kiln_sym3_log(a);
    }
}

static kiln_status set_by_logarithms(tet_work *work, kiln_error *error)
{
    const kiln_transfer_job *job = work->job;
    size_t bytes = (job->sources.count + 1) * sizeof(kiln_sym3);
    work->make_logs = kiln_resize(job->context, NULL, 0, bytes);
    if (!work->make_logs)
        return kiln_fail_memory(error, bytes);
    kiln_parallel_for(job->context, job->sources.count, KILN_TRANSFER_GRAIN, log_chunk, work);
    work->logs = work->make_logs;
    kiln_parallel_for(job->context, job->targets.count, KILN_TRANSFER_GRAIN, set_chunk, work);
    kiln_release(job->context, work->make_logs, bytes);
    return KILN_OK;
}

kiln_status kiln_transfer_tets(kiln_transfer_job *job, kiln_error *error)
{
    kiln_context *context = job->context;
    size_t count = job->overlaps.count, bytes = 2 * (count + 1) * sizeof(double);
    double *volume = kiln_resize(context, NULL, 0, bytes);
    if (!volume)
        return kiln_fail_memory(error, bytes);
    double *mass = volume + count;
    for (size_t i = 0; i < count; i++) {
        const kiln_overlap *overlap = &job->overlaps.data[i];
        double covered = job->covered.data[overlap->source];
        volume[i] = overlap->volume;
        mass[i] = covered > 0.0
                      ? overlap->volume / covered *
                            kiln_transfer_source_mass(job, &job->sources.data[overlap->source])
                      : 0.0;
    }
    kiln_status status = KILN_OK;
    for (size_t f = 0; f < job->fields[KILN_ON_TET].count && status == KILN_OK; f++) {
        const kiln_transfer_field *field = &job->fields[KILN_ON_TET].data[f];
        kiln_rule rule = field->to->rule;
        tet_work work = {job, field, rule == KILN_RULE_MOMENTUM ? mass : volume, NULL, NULL};
        if (rule == KILN_RULE_CONSERVE && field->to->type == KILN_F64)
            status = kiln_transfer_amounts(job, field, error);
        else if (rule == KILN_RULE_SPD_LOG)
            status = set_by_logarithms(&work, error);
        else
            kiln_parallel_for(context, job->targets.count, KILN_TRANSFER_GRAIN, set_chunk, &work);
    }
    kiln_release(context, volume, bytes);
    return status;
}
