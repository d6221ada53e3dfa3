/* Sizes from length in world space. */
#include "remesh/sizing_impl.h"

#include <string.h>

typedef struct deformation_job {
    const kiln_sizing *sizing;
    double scale;                       /* of F'F, where there is no ... */
    const kiln_stretch_sizing *stretch; /* NULL: none */
    kiln_sym3 *log_metric;              /* [tet] */
} deformation_job;

static kiln_mat3 edges(const kiln_vec3 *p, const uint32_t v[4])
{
    return kiln_m3_columns(kiln_v3_sub(p[v[1]], p[v[0]]), kiln_v3_sub(p[v[2]], p[v[0]]),
                           kiln_v3_sub(p[v[3]], p[v[0]]));
}

kiln_mat3 kiln_sizing_gradient(const kiln_mesh *mesh, const uint32_t v[4])
{
    return kiln_m3_mul(edges(mesh->x, v), kiln_m3_inverse(edges(mesh->u, v)));
}

static double stretch_scale(const kiln_stretch_sizing *stretch, const kiln_tet *tet, uint32_t t)
{
    const double *start = stretch->start;
    const uint32_t *v = tet->v;
    double h = 0.25 * ((start[v[0]] + start[v[1]]) + (start[v[2]] + start[v[3]]));
    double strain = stretch->flowed ? stretch->flowed[t] : 0.0;
    double finer = fmin(1.0 + stretch->rate * strain, stretch->most);
    return finer * finer / (h * h);
}

/* Of lengths in the space of the field, where they are to be those of the world or of rest. */
static kiln_sym3 metric_of(const deformation_job *job, uint32_t t)
{
    const kiln_stretch_sizing *stretch = job->stretch;
    if (stretch && stretch->at_rest && stretch->at_rest[t]) {
        kiln_sym3 G =
            kiln_sym3_scale(stretch->offset[t], 1.0 / cbrt(kiln_sym3_det(stretch->offset[t])));
        return kiln_sym3_from_mat3(kiln_m3_inverse(kiln_sym3_to_mat3(G)));
    }
    kiln_mat3 f = job->sizing->space == KILN_SPACE_MATERIAL
                      ? kiln_sizing_gradient(job->sizing->mesh, job->sizing->tet[t].v)
                      : kiln_m3_identity();
    return kiln_sizing_squared(&f);
}

static void world_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    deformation_job *job = user;
    (void)chunk, (void)worker;
    for (uint32_t t = (uint32_t)begin; t < end; t++) {
        job->log_metric[t] = (kiln_sym3){0};
        if (!kiln_sizing_live(job->sizing, t))
            continue;
        const kiln_tet *tet = &job->sizing->tet[t];
        double scale = job->stretch ? stretch_scale(job->stretch, tet, t) : job->scale;
        job->log_metric[t] = kiln_sym3_scale(metric_of(job, t), scale);
    }
    kiln_metric_log_batch(job->sizing->context->isa, end - begin, &(kiln_metric_bounds){0},
                          job->log_metric + begin);
}

kiln_status kiln_sizing_check_space(const kiln_sizing *sizing, const char *what, kiln_error *error)
{
    if (sizing->space == KILN_SPACE_MATERIAL)
        return KILN_OK;
    return kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1,
                     "%s is for sizing fields in material space", what);
}

static kiln_status add_lengths(kiln_sizing *sizing, deformation_job *job, kiln_error *error)
{
    KILN_TRY(kiln_sizing_need_stars(sizing, error));
    kiln_arena_mark mark = kiln_arena_set_mark(&sizing->arena);
    job->sizing = sizing;
    job->log_metric = kiln_sizing_room(sizing, kiln_sym3, sizing->tet_rows);
    kiln_status status = KILN_OK;
    if (job->log_metric) {
        kiln_parallel_for(sizing->context, sizing->tet_rows, KILN_SIZING_GRAIN, world_chunk, job);
        const uint8_t *first = job->stretch ? job->stretch->at_rest : NULL;
        kiln_sizing_combine_tets(sizing, NULL, first, job->log_metric);
        sizing->sources++;
    } else {
        status = kiln_fail_memory(error, sizing->tet_rows * sizeof *job->log_metric);
    }
    kiln_arena_release(&sizing->arena, mark);
    return status;
}

kiln_status kiln_sizing_add_world(kiln_sizing *sizing, double h, kiln_error *error)
{
    KILN_TRY(kiln_sizing_check_space(sizing, "world length", error));
    KILN_TRY(kiln_sizing_check_size(h, "world size", error));
    return add_lengths(sizing, &(deformation_job){.scale = 1.0 / (h * h)}, error);
}

kiln_status kiln_sizing_add_stretch(kiln_sizing *sizing, const kiln_stretch_sizing *options,
                                    kiln_error *error)
{
    return add_lengths(sizing, &(deformation_job){.stretch = options}, error);
}

/* F at a vertex: the mean by volume of its tets. */
static kiln_mat3 gradient_at(const kiln_sizing *s, uint32_t v)
{
    kiln_mat3 sum = {0};
    double weight = 0.0;
    for (uint32_t i = s->stars.first[v]; i < s->stars.first[v + 1]; i++) {
        const uint32_t *c = s->tet[s->stars.tets[i]].v;
        double volume =
            kiln_tet_volume(s->point[c[0]], s->point[c[1]], s->point[c[2]], s->point[c[3]]);
        sum = kiln_m3_add(sum, kiln_m3_scale(kiln_sizing_gradient(s->mesh, c), volume));
        weight += volume;
    }
    return kiln_m3_scale(sum, 1.0 / weight);
}

kiln_sym3 kiln_sizing_pull_back(const kiln_sizing *s, uint32_t v, kiln_sym3 world)
{
    if (s->space == KILN_SPACE_WORLD)
        return world;
    kiln_mat3 f = gradient_at(s, v);
    return kiln_sym3_from_mat3(
        kiln_m3_mul(kiln_m3_transpose(f), kiln_m3_mul(kiln_sym3_to_mat3(world), f)));
}

typedef struct given_job {
    kiln_sizing *sizing;
    kiln_sym3 *own; /* [vertex] of the world */
} given_job;

static void pull_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    const given_job *job = user;
    (void)chunk, (void)worker;
    for (uint32_t v = (uint32_t)begin; v < end; v++)
        if (job->own[v].xx > 0.0) {
            kiln_sym3 metric = kiln_sizing_pull_back(job->sizing, v, job->own[v]);
            kiln_sizing_combine(job->sizing, v, &metric);
        }
}

/* Their own gradation is that of a field which has nothing else, in the world, and each is seen
 * from the material where it is then. Pulled back first, those where matter is drawn out would be
 * flat as it is, and growth, which keeps shapes, would hand that on to matter that is not. */
static kiln_status gradate_in_world(given_job *job, double ratio, kiln_error *error)
{
    kiln_sizing *s = job->sizing;
    kiln_sym3 *others = s->metric;
    kiln_vec3 *points = s->point;
    s->metric = job->own;
    s->point = s->mesh->x;
    kiln_status status = kiln_sizing_gradate(s, log(ratio), error);
    s->metric = others;
    s->point = points;
    return status;
}

kiln_status kiln_sizing_add_world_metrics(kiln_sizing *sizing, const kiln_sym3 *world, double ratio,
                                          kiln_error *error)
{
    KILN_TRY(kiln_sizing_need_stars(sizing, error));
    kiln_arena_mark mark = kiln_arena_set_mark(&sizing->arena);
    size_t rows = sizing->vertex_rows;
    given_job job = {sizing, kiln_sizing_room(sizing, kiln_sym3, rows)};
    kiln_status status = KILN_OK;
    if (job.own) {
        memcpy(job.own, world, rows * sizeof *world);
        status = gradate_in_world(&job, ratio, error);
    } else {
        status = kiln_fail_memory(error, rows * sizeof *job.own);
    }
    if (status == KILN_OK)
        kiln_parallel_for(sizing->context, rows, KILN_SIZING_GRAIN, pull_chunk, &job);
    sizing->sources++;
    kiln_arena_release(&sizing->arena, mark);
    return status;
}
