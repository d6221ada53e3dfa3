#include "app/survey.h"

#include "base/parallel.h"
#include "geom/predicates.h"
#include "geom/tet_quality.h"

#include <stdlib.h>

enum { GRAIN = 8192 };

typedef struct tet_sums {
    double q_sum, q_min, dihedral_min, dihedral_max;
    size_t q_bins[KILN_QUALITY_BINS], dihedral_bins[KILN_ANGLE_BINS];
    size_t inverted, flat, repeated;
} tet_sums;

typedef struct measure_job {
    const kiln_soup *soup;
    tet_sums *chunks;
} measure_job;

static int bin_of(double value, double width, int bins)
{
    int bin = (int)(value / width);
    return bin < 0 ? 0 : bin >= bins ? bins - 1 : bin;
}

static void add_dihedrals(const kiln_vec3 p[4], tet_sums *sums)
{
    double angles[6];
    kiln_tet_dihedrals(&p[0], &p[1], &p[2], &p[3], angles);
    for (int i = 0; i < 6; i++) {
        double angle = angles[i] * 57.29577951308232;
        sums->dihedral_min = fmin(sums->dihedral_min, angle);
        sums->dihedral_max = fmax(sums->dihedral_max, angle);
        sums->dihedral_bins[bin_of(angle, 180.0 / KILN_ANGLE_BINS, KILN_ANGLE_BINS)]++;
    }
}

/* Quality and angles do not depend on the size, but their intermediate products leave the range of
 * doubles for tets beyond 1e60 or below 1e-60: those are measured at another scale. */
static void rescale(kiln_vec3 p[4])
{
    double largest = 0.0;
    for (int k = 0; k < 4; k++)
        largest = fmax(largest, fmax(fabs(p[k].x), fmax(fabs(p[k].y), fabs(p[k].z))));
    int exponent;
    frexp(largest, &exponent);
    if (abs(exponent) < 200)
        return;
    for (int k = 0; k < 4; k++)
        p[k] =
            kiln_v3(ldexp(p[k].x, -exponent), ldexp(p[k].y, -exponent), ldexp(p[k].z, -exponent));
}

static void measure_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    const measure_job *job = user;
    tet_sums sums = {.q_min = HUGE_VAL, .dihedral_min = HUGE_VAL, .dihedral_max = -HUGE_VAL};
    for (size_t t = begin; t < end; t++) {
        const kiln_soup_tet *tet = &job->soup->tets.data[t];
        if (kiln_soup_tet_repeats(tet)) {
            sums.repeated++;
            continue;
        }
        kiln_vec3 p[4];
        for (int k = 0; k < 4; k++)
            p[k] = job->soup->points.data[tet->v[k]];
        int sign = kiln_orient3d_sign(p[0], p[1], p[2], p[3]);
        sums.inverted += sign < 0;
        sums.flat += sign == 0;
        rescale(p);
        double quality = kiln_tet_quality(&p[0], &p[1], &p[2], &p[3]);
        quality = isfinite(quality) ? quality : 0.0;
        sums.q_sum += quality;
        sums.q_min = fmin(sums.q_min, quality);
        if (sign >= 0)
            sums.q_bins[bin_of(quality, 1.0 / KILN_QUALITY_BINS, KILN_QUALITY_BINS)]++;
        add_dihedrals(p, &sums);
    }
    job->chunks[chunk] = sums;
}

static void combine(kiln_survey *survey, const tet_sums *chunks, size_t count)
{
    double q_sum = 0.0;
    survey->q_min = survey->dihedral_min = HUGE_VAL;
    survey->dihedral_max = -HUGE_VAL;
    for (size_t c = 0; c < count; c++) {
        q_sum += chunks[c].q_sum;
        survey->q_min = fmin(survey->q_min, chunks[c].q_min);
        survey->dihedral_min = fmin(survey->dihedral_min, chunks[c].dihedral_min);
        survey->dihedral_max = fmax(survey->dihedral_max, chunks[c].dihedral_max);
        survey->inverted += chunks[c].inverted;
        survey->flat += chunks[c].flat;
        survey->repeated += chunks[c].repeated;
        for (int i = 0; i < KILN_QUALITY_BINS; i++)
            survey->q_bins[i] += chunks[c].q_bins[i];
        for (int i = 0; i < KILN_ANGLE_BINS; i++)
            survey->dihedral_bins[i] += chunks[c].dihedral_bins[i];
    }
    size_t measured = survey->tets - survey->repeated;
    survey->q_mean = measured ? q_sum / (double)measured : NAN;
    if (!measured)
        survey->q_min = survey->dihedral_min = survey->dihedral_max = NAN;
}

static kiln_status measure_tets(const kiln_soup *soup, kiln_survey *survey, kiln_error *error)
{
    size_t chunks = kiln_chunk_count(soup->tets.count, GRAIN);
    size_t bytes = (chunks + 1) * sizeof(tet_sums);
    measure_job job = {soup, kiln_resize(soup->context, NULL, 0, bytes)};
    if (!job.chunks)
        return kiln_fail_memory(error, bytes);
    kiln_parallel_for(soup->context, soup->tets.count, GRAIN, measure_chunk, &job);
    combine(survey, job.chunks, chunks);
    kiln_release(soup->context, job.chunks, bytes);
    return KILN_OK;
}

/* Items of one tag in a row; by tag, then in order, so that sums do not depend on the sort. */
typedef struct run {
    kiln_survey_group sum;
    double lost; /* what rounding has kept out of the measure (Kahan) */
    size_t order;
} run;

static int compare_runs(const void *left, const void *right)
{
    const run *a = left, *b = right;
    if (a->sum.tag != b->sum.tag)
        return a->sum.tag < b->sum.tag ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Counts and measures of the items by tag. `tags` may be NULL: all zero. */
static kiln_status group(const kiln_soup *soup, const int32_t *tags, size_t count,
                         double (*measure)(const kiln_soup *soup, size_t item),
                         kiln_survey_groups *out, kiln_error *error)
{
    kiln_context *context = soup->context;
    KILN_ARRAY_OF(run)
    runs = {0};
    kiln_status status = KILN_OK;
    for (size_t i = 0; status == KILN_OK && i < count; i++) {
        int32_t tag = tags ? tags[i] : 0;
        if (runs.count == 0 || runs.data[runs.count - 1].sum.tag != tag) {
            run next = {.sum = {.tag = tag}, .order = runs.count};
            status = kiln_array_push(context, &runs, next, error);
        }
        if (status == KILN_OK) {
            run *last = &runs.data[runs.count - 1];
            double term = measure(soup, i) - last->lost, total = last->sum.measure + term;
            last->lost = isfinite(total) ? (total - last->sum.measure) - term : 0.0;
            last->sum.measure = total;
            last->sum.count++;
        }
    }
    if (runs.count > 1)
        qsort(runs.data, runs.count, sizeof *runs.data, compare_runs);
    for (size_t i = 0; status == KILN_OK && i < runs.count; i++) {
        const kiln_survey_group *sum = &runs.data[i].sum;
        if (i == 0 || runs.data[i - 1].sum.tag != sum->tag) {
            status = kiln_array_push(context, out, *sum, error);
        } else {
            out->data[out->count - 1].count += sum->count;
            out->data[out->count - 1].measure += sum->measure;
        }
    }
    kiln_array_free(context, &runs);
    return status;
}

static double tet_volume(const kiln_soup *soup, size_t t)
{
    const uint32_t *v = soup->tets.data[t].v;
    const kiln_vec3 *p = soup->points.data;
    return kiln_tet_volume(p[v[0]], p[v[1]], p[v[2]], p[v[3]]);
}

static double triangle_area(const kiln_soup *soup, size_t i)
{
    const uint32_t *v = soup->triangles.data[i].v;
    const kiln_vec3 *p = soup->points.data;
    return 0.5 * kiln_v3_norm(
                     kiln_v3_cross(kiln_v3_sub(p[v[1]], p[v[0]]), kiln_v3_sub(p[v[2]], p[v[0]])));
}

static void measure_box(const kiln_soup *soup, kiln_survey *survey)
{
    if (soup->points.count == 0)
        return;
    kiln_vec3 low = soup->points.data[0], high = low;
    for (size_t i = 1; i < soup->points.count; i++) {
        kiln_vec3 p = soup->points.data[i];
        low = kiln_v3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        high = kiln_v3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
    }
    survey->low = low;
    survey->high = high;
}

static kiln_status take_fields(const kiln_soup *soup, kiln_survey *survey, kiln_error *error)
{
    for (size_t i = 0; i < soup->fields.count; i++) {
        const kiln_soup_field *field = &soup->fields.data[i];
        kiln_survey_field out = {.where = field->where,
                                 .components = field->components,
                                 .low = HUGE_VAL,
                                 .high = -HUGE_VAL};
        snprintf(out.name, sizeof out.name, "%s", field->name);
        for (size_t item = 0; item < field->data.count / field->components; item++) {
            double value = kiln_soup_field_size(field, item);
            if (!isfinite(value))
                continue;
            out.low = fmin(out.low, value);
            out.high = fmax(out.high, value);
        }
        if (!(out.low <= out.high))
            out.low = out.high = NAN;
        KILN_TRY(kiln_array_push(soup->context, &survey->fields, out, error));
    }
    return KILN_OK;
}

/* Signed volume of the cones from one corner of the box to the triangles. */
static double inside_triangles(const kiln_soup *soup, kiln_vec3 origin)
{
    double volume = 0.0;
    for (size_t i = 0; i < soup->triangles.count; i++) {
        const uint32_t *v = soup->triangles.data[i].v;
        const kiln_vec3 *p = soup->points.data;
        volume += kiln_v3_triple(kiln_v3_sub(p[v[0]], origin), kiln_v3_sub(p[v[1]], origin),
                                 kiln_v3_sub(p[v[2]], origin)) /
                  6.0;
    }
    return volume;
}

static kiln_status take(const kiln_soup *soup, kiln_survey *survey, kiln_error *error)
{
    measure_box(soup, survey);
    KILN_TRY(measure_tets(soup, survey, error));
    KILN_TRY(group(soup, soup->tet_tags.count ? soup->tet_tags.data : NULL, soup->tets.count,
                   tet_volume, &survey->regions, error));
    KILN_TRY(group(soup, soup->triangle_tags.count ? soup->triangle_tags.data : NULL,
                   soup->triangles.count, triangle_area, &survey->patches, error));
    KILN_TRY(kiln_survey_topology(soup, survey, error));
    for (size_t i = 0; i < survey->regions.count; i++)
        survey->volume += survey->regions.data[i].measure;
    for (size_t i = 0; soup->tets.count == 0 && i < survey->patches.count; i++)
        survey->area += survey->patches.data[i].measure;
    if (soup->tets.count == 0)
        survey->volume = soup->triangles.count && survey->bad_edges == 0
                             ? inside_triangles(soup, survey->low)
                             : NAN;
    return take_fields(soup, survey, error);
}

kiln_status kiln_survey_take(const kiln_soup *soup, kiln_survey *out, kiln_error *error)
{
    kiln_survey survey = {
        .context = soup->context, .vertices = soup->points.count, .tets = soup->tets.count};
    kiln_status status = take(soup, &survey, error);
    if (status != KILN_OK)
        kiln_survey_free(&survey);
    else
        *out = survey;
    return status;
}

void kiln_survey_free(kiln_survey *survey)
{
    kiln_array_free(survey->context, &survey->regions);
    kiln_array_free(survey->context, &survey->patches);
    kiln_array_free(survey->context, &survey->fields);
}
