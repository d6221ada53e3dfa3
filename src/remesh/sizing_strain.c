#include "remesh/sizing_strain.h"

#include "remesh/sizing_impl.h"

#include <string.h>

enum { STAR_GRAIN = 64 };

typedef struct strain_job {
    kiln_sizing *sizing;
    kiln_strain_sizing options;
    kiln_strain_tet *tets; /* [tet] */
    kiln_strain_sum *sums; /* [tet][4] */
    kiln_sym3 *log_metric; /* [tet] */
    double *scratch;       /* [thread][room] */
    size_t room;
} strain_job;

void kiln_strain_star(kiln_isa isa, const kiln_strain_tet *tets, const kiln_tet *records,
                      uint32_t vertex, const uint32_t *star, uint32_t count, double taken_off,
                      double *scratch, kiln_strain_sum *sums)
{
    static void (*const variants[KILN_ISA_COUNT])(
        const kiln_strain_tet *, const kiln_tet *, uint32_t, const uint32_t *, uint32_t, double,
        double *, kiln_strain_sum *) = KILN_SIMD_TABLE(kiln_strain_star);
    variants[isa](tets, records, vertex, star, count, taken_off, scratch, sums);
}

static kiln_strain_tet describe(const strain_job *job, uint32_t t)
{
    const kiln_sizing *s = job->sizing;
    kiln_mat3 f;
    kiln_strain_tet out = {0};
    if (job->options.gradient)
        memcpy(f.m, job->options.gradient + 9 * (size_t)t, sizeof f);
    else
        f = kiln_sizing_gradient(s->mesh, s->tet[t].v);
    kiln_sym3 c = kiln_sizing_squared(&f);
    double det = kiln_m3_det(f);
    out.det[0] = det * det;
    out.det[1] = 1.0 / out.det[0];
    kiln_sym3 adjugate = {c.yy * c.zz - c.yz * c.yz, c.xx * c.zz - c.xz * c.xz,
                          c.xx * c.yy - c.xy * c.xy, c.xz * c.xy - c.xx * c.yz,
                          c.xy * c.yz - c.xz * c.yy, c.xz * c.yz - c.xy * c.zz};
    kiln_sym3 inverse = kiln_sym3_scale(adjugate, out.det[1]);
    memcpy(out.c, &c, sizeof c);
    memcpy(out.inverse, &inverse, sizeof inverse);
    kiln_vec3 centre = {0};
    for (int k = 0; k < 4; k++)
        centre = kiln_v3_madd(centre, 0.25, s->point[s->tet[t].v[k]]);
    memcpy(out.centre, &centre, sizeof centre);
    return out;
}

static void describe_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    strain_job *job = user;
    (void)chunk, (void)worker;
    for (uint32_t t = (uint32_t)begin; t < end; t++)
        if (kiln_sizing_live(job->sizing, t))
            job->tets[t] = describe(job, t);
}

static void star_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    strain_job *job = user;
    const kiln_sizing *s = job->sizing;
    const uint32_t *first = s->stars.first;
    (void)chunk;
    for (uint32_t v = (uint32_t)begin; v < end; v++)
        if (first[v + 1] > first[v])
            kiln_strain_star(s->context->isa, job->tets, s->tet, v, s->stars.tets + first[v],
                             first[v + 1] - first[v], job->options.printed ? 0.0 : 1.0,
                             job->scratch + (size_t)worker * job->room, job->sums);
}

/* The mean over the pairs, kappa times, and no coarser than h_max. */
static void metric_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    strain_job *job = user;
    const kiln_metric_bounds bounds = {.h_max = job->options.h_max};
    (void)chunk, (void)worker;
    for (size_t t = begin; t < end; t++) {
        kiln_sym3 *m = &job->log_metric[t];
        const kiln_strain_sum *sum = &job->sums[4 * t];
        if (!kiln_sizing_live(job->sizing, (uint32_t)t))
            continue;
        double total[6] = {0}, count = 0.0;
        for (int k = 0; k < 4; k++) {
            for (int i = 0; i < 6; i++)
                total[i] += sum[k].m[i];
            count += sum[k].count;
        }
        double scale = count > 0.0 ? job->options.accuracy / count : 0.0;
        memcpy(m, total, sizeof *m);
        *m = kiln_sym3_scale(*m, scale);
        if ((m->xx + m->yy + m->zz) * bounds.h_max * bounds.h_max <= 1.0)
            *m = kiln_metric_from_size(bounds.h_max);
    }
    kiln_metric_log_batch(job->sizing->context->isa, end - begin, &bounds, job->log_metric + begin);
}

static void run(strain_job *job)
{
    kiln_sizing *s = job->sizing;
    kiln_parallel_for(s->context, s->tet_rows, KILN_SIZING_GRAIN, describe_chunk, job);
    kiln_parallel_for(s->context, s->vertex_rows, STAR_GRAIN, star_chunk, job);
    kiln_parallel_for(s->context, s->tet_rows, KILN_SIZING_GRAIN, metric_chunk, job);
    kiln_sizing_combine_tets(s, job->log_metric);
    s->sources++;
}

kiln_status kiln_sizing_add_strain(kiln_sizing *sizing, const kiln_strain_sizing *options,
                                   kiln_error *error)
{
    if (!options->gradient)
        KILN_TRY(kiln_sizing_check_space(sizing, "the gradient of the strain", error));
    KILN_TRY(kiln_sizing_check_size(options->accuracy, "accuracy", error));
    KILN_TRY(kiln_sizing_check_size(options->h_max, "largest size", error));
    KILN_TRY(kiln_sizing_need_stars(sizing, error));
    size_t rows = sizing->tet_rows, threads = (size_t)sizing->context->threads;
    strain_job job = {.sizing = sizing, .options = *options};
    job.room = kiln_strain_scratch(sizing->stars.largest);
    job.tets = kiln_sizing_alloc(sizing, rows, sizeof *job.tets);
    job.sums = kiln_sizing_alloc(sizing, 4 * rows, sizeof *job.sums);
    job.log_metric = kiln_sizing_alloc(sizing, rows, sizeof *job.log_metric);
    job.scratch = kiln_sizing_alloc(sizing, threads * job.room, sizeof *job.scratch);
    kiln_status status = KILN_OK;
    if (job.tets && job.sums && job.log_metric && job.scratch)
        run(&job);
    else
        status = kiln_fail_memory(error, 4 * rows * sizeof *job.sums);
    kiln_sizing_free(sizing, job.tets, rows, sizeof *job.tets);
    kiln_sizing_free(sizing, job.sums, 4 * rows, sizeof *job.sums);
    kiln_sizing_free(sizing, job.log_metric, rows, sizeof *job.log_metric);
    kiln_sizing_free(sizing, job.scratch, threads * job.room, sizeof *job.scratch);
    return status;
}
