/* Extensive amounts of tets, shared out by overlap.
 *
 * In a pass the outline hardly changes, and every source gives all it has to the targets it meets.
 * Between two meshes of a bent body that would starve a new tet that sticks out of the old surface
 * and stuff one that stays behind it: a rest volume half of what it should be is a tet that pulls
 * itself together with all its might. There a target takes the density of what it meets for all of
 * its volume (amounts add up where sources overlap each other), and then everything of a region in
 * a part is scaled, by a factor near 1, to the amount that came there. */
#include "base/parallel.h"
#include "remesh/transfer_impl.h"

#include <string.h>

static const double SAME = 1e-14; /* of a total: rounding is no reason to touch every bit */

typedef struct sharing {
    const kiln_transfer_job *job;
    const kiln_transfer_field *field;
    kiln_u32_array cell; /* [target] number of its part and region, where totals are kept */
    uint32_t cells;
    double *total; /* [cell][component] that came there, that is there now */
} sharing;

static const char *source_row(const sharing *s, uint32_t source)
{
    return kiln_begin_row(&s->field->from, s->job->sources.data[source].tet);
}

static void add_amounts(const kiln_transfer_field *field, const char *amounts, double share,
                        double *value)
{
    for (uint32_t c = 0; c < field->to->components; c++) {
        double amount;
        memcpy(&amount, amounts + 8 * c, sizeof amount);
        value[c] += share * amount;
    }
}

static double share_of(const kiln_transfer_job *job, const kiln_overlap *overlap)
{
    double covered = job->covered.data[overlap->source];
    return covered > 0.0 ? overlap->volume / covered : 0.0;
}

static double *value_of(const sharing *s, size_t target)
{
    return (double *)(void *)kiln_transfer_row(s->field, s->job->targets.data[target].tet);
}

static void share_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const sharing *s = user;
    const kiln_transfer_job *job = s->job;
    for (size_t t = begin; t < end; t++) {
        memset(value_of(s, t), 0, s->field->to->stride);
        for (uint32_t i = job->first.data[t]; i < job->first.data[t + 1]; i++) {
            const kiln_overlap *overlap = &job->overlaps.data[i];
            add_amounts(s->field, source_row(s, overlap->source), share_of(job, overlap),
                        value_of(s, t));
        }
    }
}

static void spread_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const sharing *s = user;
    const kiln_transfer_job *job = s->job;
    for (size_t t = begin; t < end; t++) {
        double met = 0.0, volume = job->targets.data[t].volume;
        for (uint32_t i = job->first.data[t]; i < job->first.data[t + 1]; i++)
            met += job->overlaps.data[i].volume;
        double fill = met < volume ? volume / met : 1.0;
        memset(value_of(s, t), 0, s->field->to->stride);
        for (uint32_t i = job->first.data[t]; i < job->first.data[t + 1]; i++) {
            const kiln_overlap *overlap = &job->overlaps.data[i];
            double whole = job->sources.data[overlap->source].volume;
            if (whole > 0.0)
                add_amounts(s->field, source_row(s, overlap->source),
                            fill * overlap->volume / whole, value_of(s, t));
        }
    }
}

static void give_strays(const sharing *s)
{
    const kiln_transfer_job *job = s->job;
    for (size_t i = 0; i < job->strays.count; i++)
        add_amounts(s->field, source_row(s, job->strays.data[i].a), 1.0,
                    value_of(s, job->strays.data[i].b));
    for (size_t i = 0; i < job->heirs.count; i++)
        add_amounts(s->field, source_row(s, job->heirs.data[i].a), 1.0,
                    (double *)(void *)kiln_transfer_row(s->field, job->heirs.data[i].b));
}

/* Densities mean something for amounts that are nowhere negative. */
static bool is_a_density(const sharing *s)
{
    for (uint32_t i = 0; i < s->job->sources.count; i++)
        for (uint32_t c = 0; c < s->field->to->components; c++) {
            double amount;
            memcpy(&amount, source_row(s, i) + 8 * c, sizeof amount);
            if (!(amount >= 0.0))
                return false;
        }
    return true;
}

/* Cells are few: a search from the last one found is as good as a table. */
static kiln_status number_cells(sharing *s, kiln_error *error)
{
    const kiln_transfer_job *job = s->job;
    kiln_u32_array firsts = {0}; /* [cell] a target of it */
    KILN_TRY(kiln_array_reserve(job->context, &s->cell, job->targets.count + 1, error));
    kiln_status status = KILN_OK;
    uint32_t at = 0;
    for (uint32_t t = 0; t < job->targets.count && status == KILN_OK; t++) {
        const kiln_tet_info *info = &job->to->info[job->targets.data[t].tet];
        uint32_t looked = 0;
        for (; looked < firsts.count; looked++, at = (at + 1) % (uint32_t)firsts.count) {
            const kiln_tet_info *other = &job->to->info[job->targets.data[firsts.data[at]].tet];
            if (other->part == info->part && other->region == info->region)
                break;
        }
        if (looked == firsts.count) {
            at = (uint32_t)firsts.count;
            status = kiln_array_push(job->context, &firsts, t, error);
        }
        s->cell.data[t] = at;
    }
    s->cells = (uint32_t)firsts.count;
    kiln_array_free(job->context, &firsts);
    return status;
}

static void add_totals(const sharing *s, int which)
{
    uint32_t components = s->field->to->components;
    for (size_t t = 0; t < s->job->targets.count; t++)
        for (uint32_t c = 0; c < components; c++)
            s->total[2 * ((size_t)s->cell.data[t] * components + c) + (size_t)which] +=
                value_of(s, t)[c];
}

static void scale_cells(const sharing *s)
{
    uint32_t components = s->field->to->components;
    for (size_t t = 0; t < s->job->targets.count; t++)
        for (uint32_t c = 0; c < components; c++) {
            const double *total = &s->total[2 * ((size_t)s->cell.data[t] * components + c)];
            if (total[1] > 0.0 && fabs(total[0] - total[1]) > SAME * total[0])
                value_of(s, t)[c] *= total[0] / total[1];
        }
}

static kiln_status spread(sharing *s, kiln_error *error)
{
    kiln_context *context = s->job->context;
    KILN_TRY(number_cells(s, error));
    size_t bytes = 2 * ((size_t)s->cells * s->field->to->components + 1) * sizeof(double);
    s->total = kiln_resize(context, NULL, 0, bytes);
    if (!s->total)
        return kiln_fail_memory(error, bytes);
    memset(s->total, 0, bytes);
    add_totals(s, 0);
    kiln_parallel_for(context, s->job->targets.count, KILN_TRANSFER_GRAIN, spread_chunk, s);
    add_totals(s, 1);
    scale_cells(s);
    kiln_release(context, s->total, bytes);
    return KILN_OK;
}

kiln_status kiln_transfer_amounts(const kiln_transfer_job *job, const kiln_transfer_field *field,
                                  kiln_error *error)
{
    sharing s = {.job = job, .field = field};
    kiln_parallel_for(job->context, job->targets.count, KILN_TRANSFER_GRAIN, share_chunk, &s);
    give_strays(&s);
    if (job->pass || !is_a_density(&s))
        return KILN_OK;
    kiln_status status = spread(&s, error);
    kiln_array_free(job->context, &s.cell);
    return status;
}
