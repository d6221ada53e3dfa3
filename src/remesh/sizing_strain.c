#include "remesh/sizing_strain.h"

#include "remesh/sizing_impl.h"

#include <string.h>

enum { STAR_GRAIN = 64 };

/* What is evaluated. The metric of a vertex that has one already matters only where some tet round
 * it asks for something finer, and most of a mesh is deformed nearly evenly: a bound from the
 * spread of F'F round each vertex tells where that cannot be, and there nothing is computed. The
 * result is the same to the bit. */
typedef struct strain_bound {
    double change;   /* of the distortion from 1, between any two tets of the star */
    double distance; /* the least from a tet's centre to its faces, in the star */
} strain_bound;

typedef struct strain_job {
    kiln_sizing *sizing;
    kiln_strain_sizing options;
    kiln_strain_tet *tets; /* [tet] */
    kiln_strain_sum *sums; /* [tet][4] */
    kiln_sym3 *log_metric; /* [tet] */
    strain_bound *bound;   /* [vertex] */
    double *finest;        /* [tet] no eigenvalue of its metric is above */
    uint8_t *vertex_asks;  /* [vertex] its metric may change */
    uint8_t *tet_asked;    /* [tet] its metric is needed for that */
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

/* From the centre to the nearest face: a quarter of the least height. */
static double clearance(const kiln_vec3 *p, const uint32_t v[4])
{
    double widest = 0.0;
    for (int k = 0; k < 4; k++) {
        const uint8_t *c = kiln_face_corner[k];
        kiln_vec3 a = kiln_v3_sub(p[v[c[1]]], p[v[c[0]]]), b = kiln_v3_sub(p[v[c[2]]], p[v[c[0]]]);
        double area2 = kiln_v3_norm2(kiln_v3_cross(a, b));
        widest = area2 > widest ? area2 : widest;
    }
    return 1.5 * fabs(kiln_tet_volume(p[v[0]], p[v[1]], p[v[2]], p[v[3]])) / sqrt(widest);
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
    out.det = det * det;
    out.over_det = 1.0 / out.det;
    kiln_mat3 back = kiln_m3_transpose(kiln_m3_inverse(f)); /* the adjugate of c is less exact */
    kiln_sym3 inverse = kiln_sizing_squared(&back);
    memcpy(out.c, &c, sizeof c);
    memcpy(out.inverse, &inverse, sizeof inverse);
    kiln_vec3 centre = {0};
    for (int k = 0; k < 4; k++)
        centre = kiln_v3_madd(centre, 0.25, s->point[s->tet[t].v[k]]);
    memcpy(out.centre, &centre, sizeof centre);
    out.clearance = clearance(s->point, s->tet[t].v);
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

/* What is not a number is larger than any. */
static double larger(double a, double b)
{
    return a > b || isnan(a) ? a : b;
}

/* The eigenvalues of (C_s - C_t) C_t^-1 are below |C_s - C_t| tr C_t^-1, and sqrt(1 + e) - 1 is
 * below e / 2. */
static void bound_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    strain_job *job = user;
    const kiln_sizing_stars *stars = &job->sizing->stars;
    double least = job->options.printed ? 1.0 : 0.0;
    (void)chunk, (void)worker;
    for (size_t v = begin; v < end; v++) {
        double low[6], high[6], trace = 0.0, distance = INFINITY, spread = 0.0;
        for (int k = 0; k < 6; k++)
            low[k] = INFINITY, high[k] = -INFINITY;
        for (uint32_t i = stars->first[v]; i < stars->first[v + 1]; i++) {
            const kiln_strain_tet *t = &job->tets[stars->tets[i]];
            for (int k = 0; k < 6; k++) {
                low[k] = t->c[k] < low[k] ? t->c[k] : low[k];
                high[k] = t->c[k] > high[k] ? t->c[k] : high[k];
            }
            double own = t->inverse[0] + t->inverse[1] + t->inverse[2];
            trace = larger(own, trace);
            distance = t->clearance < distance ? t->clearance : distance;
        }
        for (int k = 0; k < 6; k++)
            spread += (k < 3 ? 1.0 : 2.0) * (high[k] - low[k]) * (high[k] - low[k]);
        job->bound[v] = (strain_bound){least + 0.5 * sqrt(spread) * trace, distance};
    }
}

/* The mean over pairs of kappa * change / distance is no more than the largest of them; tets do not
 * overlap, so that their centres are as far apart as both are from their faces. */
static void finest_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    strain_job *job = user;
    double least = 1.0 / (job->options.h_max * job->options.h_max);
    (void)chunk, (void)worker;
    for (size_t t = begin; t < end; t++) {
        double most = 0.0;
        for (int k = 0; k < 4 && kiln_sizing_live(job->sizing, (uint32_t)t); k++) {
            const strain_bound *at = &job->bound[job->sizing->tet[t].v[k]];
            double ask = at->change / (at->distance + job->tets[t].clearance);
            most = larger(ask, most);
        }
        most *= job->options.accuracy;
        job->finest[t] = most <= least ? least : most;
    }
}

/* The size that a vertex has in all directions at least; 0: none, or not known at a glance. */
static double coarsest(const kiln_sym3 *m)
{
    return m->yz == 0.0 && m->xz == 0.0 && m->xy == 0.0 ? fmin(m->xx, fmin(m->yy, m->zz)) : 0.0;
}

static void ask_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    strain_job *job = user;
    const kiln_sizing_stars *stars = &job->sizing->stars;
    kiln_sym3 largest = kiln_metric_from_size(job->options.h_max);
    (void)chunk, (void)worker;
    for (size_t v = begin; v < end; v++) {
        kiln_sym3 *m = &job->sizing->metric[v];
        bool has = m->xx > 0.0, asks = false;
        double enough = has ? coarsest(m) : largest.xx;
        for (uint32_t i = stars->first[v]; i < stars->first[v + 1] && !asks; i++)
            asks = !(job->finest[stars->tets[i]] <= enough);
        job->vertex_asks[v] = asks;
        if (!has && !asks && stars->first[v + 1] > stars->first[v])
            *m = largest;
    }
}

static void asked_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    strain_job *job = user;
    (void)chunk, (void)worker;
    for (size_t t = begin; t < end; t++) {
        const uint32_t *v = job->sizing->tet[t].v;
        job->tet_asked[t] = kiln_sizing_live(job->sizing, (uint32_t)t) &&
                            (job->vertex_asks[v[0]] || job->vertex_asks[v[1]] ||
                             job->vertex_asks[v[2]] || job->vertex_asks[v[3]]);
    }
}

static void star_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    strain_job *job = user;
    const kiln_sizing *s = job->sizing;
    const uint32_t *first = s->stars.first, *tets = s->stars.tets;
    (void)chunk;
    for (uint32_t v = (uint32_t)begin; v < end; v++) {
        bool asked = false;
        for (uint32_t i = first[v]; i < first[v + 1] && !asked; i++)
            asked = job->tet_asked[tets[i]];
        if (asked)
            kiln_strain_star(s->context->isa, job->tets, s->tet, v, tets + first[v],
                             first[v + 1] - first[v], job->options.printed ? 0.0 : 1.0,
                             job->scratch + (size_t)worker * job->room, job->sums);
    }
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
        *m = (kiln_sym3){0};
        if (!job->tet_asked[t])
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
    size_t tets = s->tet_rows, vertices = s->vertex_rows;
    kiln_parallel_for(s->context, tets, KILN_SIZING_GRAIN, describe_chunk, job);
    kiln_parallel_for(s->context, vertices, KILN_SIZING_GRAIN, bound_chunk, job);
    kiln_parallel_for(s->context, tets, KILN_SIZING_GRAIN, finest_chunk, job);
    kiln_parallel_for(s->context, vertices, KILN_SIZING_GRAIN, ask_chunk, job);
    kiln_parallel_for(s->context, tets, KILN_SIZING_GRAIN, asked_chunk, job);
    kiln_parallel_for(s->context, vertices, STAR_GRAIN, star_chunk, job);
    kiln_parallel_for(s->context, tets, KILN_SIZING_GRAIN, metric_chunk, job);
    kiln_sizing_combine_tets(s, job->vertex_asks, NULL, job->log_metric);
    s->sources++;
}

static kiln_status allocate(strain_job *job, kiln_error *error)
{
    kiln_sizing *s = job->sizing;
    size_t tets = s->tet_rows, vertices = s->vertex_rows;
    job->room = kiln_strain_scratch(s->stars.largest);
    job->tets = kiln_sizing_room(s, kiln_strain_tet, tets);
    job->sums = kiln_sizing_room(s, kiln_strain_sum, 4 * tets);
    job->log_metric = kiln_sizing_room(s, kiln_sym3, tets);
    job->bound = kiln_sizing_room(s, strain_bound, vertices);
    job->finest = kiln_sizing_room(s, double, tets);
    job->vertex_asks = kiln_sizing_room(s, uint8_t, vertices);
    job->tet_asked = kiln_sizing_room(s, uint8_t, tets);
    job->scratch = kiln_sizing_room(s, double, (size_t)s->context->threads * job->room);
    bool all = job->tets && job->sums && job->log_metric && job->bound && job->finest &&
               job->vertex_asks && job->tet_asked && job->scratch;
    return all ? KILN_OK : kiln_fail_memory(error, 4 * tets * sizeof *job->sums);
}

kiln_status kiln_sizing_add_strain(kiln_sizing *sizing, const kiln_strain_sizing *options,
                                   kiln_error *error)
{
    if (!options->gradient)
        KILN_TRY(kiln_sizing_check_space(sizing, "the gradient of the strain", error));
    KILN_TRY(kiln_sizing_check_size(options->accuracy, "accuracy", error));
    KILN_TRY(kiln_sizing_check_size(options->h_max, "largest size", error));
    KILN_TRY(kiln_sizing_need_stars(sizing, error));
    strain_job job = {.sizing = sizing, .options = *options};
    kiln_arena_mark mark = kiln_arena_set_mark(&sizing->arena);
    kiln_status status = allocate(&job, error);
    if (status == KILN_OK)
        run(&job);
    kiln_arena_release(&sizing->arena, mark);
    return status;
}
