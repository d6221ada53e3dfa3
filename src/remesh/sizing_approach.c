/* A field that is too far from the mesh is approached: tets that are a hundred times longer than
 * they are asked to be, in one direction, are so bad in the metric that quality says nothing about
 * how to get there. The metric of a vertex is brought no more than a factor finer, in each
 * direction, than the mesh is there. */
#include "remesh/sizing_impl.h"

#include <math.h>
#include <string.h>

typedef struct approach_job {
    const kiln_sizing_index *target;
    kiln_sizing *sizing;
    double factor2;
    kiln_sym3 *log_implied; /* [tet] */
    kiln_sym3 *wanted;      /* [vertex] of the target */
    uint8_t *far;           /* [vertex] held back */
} approach_job;

/* The metric in which a tet is regular with edges of length 1: (JJ')^-1, J its map from such a one
 * with edge vectors (1, 0, 0), (1/2, sqrt 3 / 2, 0), (1/2, 1 / sqrt 12, sqrt(2/3)). */
static kiln_sym3 implied_metric(const kiln_vec3 *p, const uint32_t v[4])
{
    kiln_vec3 a = kiln_v3_sub(p[v[1]], p[v[0]]), b = kiln_v3_sub(p[v[2]], p[v[0]]);
    kiln_vec3 c = kiln_v3_sub(p[v[3]], p[v[0]]);
    kiln_vec3 second = kiln_v3_scale(kiln_v3_madd(b, -0.5, a), 2.0 / sqrt(3.0));
    kiln_vec3 third = kiln_v3_madd(kiln_v3_madd(c, -0.5, a), -1.0 / sqrt(12.0), second);
    kiln_mat3 inverse =
        kiln_m3_inverse(kiln_m3_columns(a, second, kiln_v3_scale(third, sqrt(1.5))));
    return kiln_sym3_from_mat3(kiln_m3_mul(kiln_m3_transpose(inverse), inverse));
}

/* A tet that rounding cannot tell from a flat one implies none, and its volume weighs nothing. */
static kiln_sym3 log_implied(const kiln_vec3 *p, const uint32_t v[4])
{
    kiln_sym3 m = kiln_sym3_log(implied_metric(p, v));
    return isfinite(m.xx + m.yy + m.zz + m.yz + m.xz + m.xy) ? m : (kiln_sym3){0};
}

static void implied_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    approach_job *job = user;
    const kiln_sizing *s = job->sizing;
    (void)chunk, (void)worker;
    for (uint32_t t = (uint32_t)begin; t < end; t++)
        if (kiln_sizing_live(s, t))
            job->log_implied[t] = log_implied(s->point, s->tet[t].v);
}

static void limit_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    approach_job *job = user;
    kiln_sizing *s = job->sizing;
    (void)chunk, (void)worker;
    uint32_t near = KILN_NONE; /* numbers follow places: the last vertex is a hint for the next */
    for (uint32_t v = (uint32_t)begin; v < end; v++) {
        if (!(s->metric[v].xx > 0.0))
            continue;
        kiln_sym3 wanted = kiln_sizing_find(job->target, s->point[v], &near);
        kiln_sym3 finest = kiln_sym3_scale(s->metric[v], job->factor2);
        kiln_sym3 within_reach = kiln_sym3_scale(finest, job->factor2);
        job->wanted[v] = wanted;
        job->far[v] = !kiln_metric_covers(&within_reach, &wanted);
        s->metric[v] = kiln_metric_unite(wanted, finest);
    }
}

static kiln_status approach(approach_job *job, bool *arrived, kiln_error *error)
{
    kiln_sizing *s = job->sizing;
    job->log_implied = kiln_sizing_room(s, kiln_sym3, s->tet_rows);
    job->wanted = kiln_sizing_zeros(s, kiln_sym3, s->vertex_rows);
    job->far = kiln_sizing_zeros(s, uint8_t, s->vertex_rows);
    if (!job->log_implied || !job->wanted || !job->far)
        return kiln_fail_memory(error, s->tet_rows * sizeof *job->log_implied);
    kiln_parallel_for(s->context, s->tet_rows, KILN_SIZING_GRAIN, implied_chunk, job);
    kiln_sizing_combine_tets(s, NULL, NULL, job->log_implied);
    kiln_parallel_for(s->context, s->vertex_rows, KILN_SIZING_GRAIN, limit_chunk, job);
    *arrived = true;
    for (uint32_t v = 0; v < s->vertex_rows; v++)
        *arrived = *arrived && !job->far[v];
    if (!*arrived)
        return KILN_OK;
    memcpy(s->metric, job->wanted, s->vertex_rows * sizeof *s->metric);
    kiln_sizing_adopt(s, job->target->sizing);
    return KILN_OK;
}

kiln_status kiln_sizing_approach(const kiln_sizing *target, const kiln_mesh *mesh, double factor,
                                 kiln_sizing **out, bool *arrived, kiln_error *error)
{
    kiln_sizing_index index;
    KILN_TRY(kiln_sizing_create(mesh, target->space, out, error));
    kiln_sizing *s = *out;
    approach_job job = {.target = &index, .sizing = s, .factor2 = factor * factor};
    kiln_status status = kiln_sizing_index_build(target, &index, error);
    if (status == KILN_OK)
        status = kiln_sizing_need_stars(s, error);
    kiln_arena_mark mark = kiln_arena_set_mark(&s->arena);
    if (status == KILN_OK)
        status = approach(&job, arrived, error);
    kiln_arena_release(&s->arena, mark);
    kiln_sizing_index_free(&index);
    if (status == KILN_OK)
        status = kiln_sizing_finish(s, &(kiln_sizing_limits){.bounds = target->bounds}, error);
    if (status != KILN_OK) {
        kiln_sizing_destroy(s);
        *out = NULL;
    }
    return status;
}
