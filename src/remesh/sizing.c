#include "remesh/sizing.h"

#include "remesh/sizing_impl.h"

#include <string.h>

void *kiln_sizing_cleared(kiln_sizing *sizing, size_t count, size_t size)
{
    void *block = kiln_arena_alloc(&sizing->arena, (count + 1) * size);
    if (block)
        memset(block, 0, count * size);
    return block;
}

static kiln_status copy_mesh(kiln_sizing *s, const kiln_mesh *mesh, kiln_error *error)
{
    s->point = kiln_sizing_room(s, kiln_vec3, s->vertex_rows);
    s->tet = kiln_sizing_room(s, kiln_tet, s->tet_rows);
    s->metric = kiln_sizing_zeros(s, kiln_sym3, s->vertex_rows);
    if (!s->point || !s->tet || !s->metric)
        return kiln_fail_memory(error, s->tet_rows * sizeof *s->tet);
    memcpy(s->point, kiln_mesh_positions(mesh, s->space), s->vertex_rows * sizeof *s->point);
    memcpy(s->tet, mesh->tet, s->tet_rows * sizeof *s->tet);
    while (s->first_tet < s->tet_rows && !kiln_sizing_live(s, s->first_tet))
        s->first_tet++;
    if (s->first_tet == s->tet_rows)
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                         "a sizing field needs a mesh with tets");
    return KILN_OK;
}

kiln_status kiln_sizing_create(const kiln_mesh *mesh, kiln_space space, kiln_sizing **out,
                               kiln_error *error)
{
    *out = NULL;
    kiln_sizing *s = kiln_resize(mesh->context, NULL, 0, sizeof *s);
    if (!s)
        return kiln_fail_memory(error, sizeof *s);
    s->context = mesh->context;
    kiln_arena_init(&s->arena, mesh->context);
    kiln_status status = kiln_sizing_renew(s, mesh, space, error);
    if (status == KILN_OK)
        *out = s;
    else
        kiln_sizing_destroy(s);
    return status;
}

kiln_status kiln_sizing_renew(kiln_sizing *sizing, const kiln_mesh *mesh, kiln_space space,
                              kiln_error *error)
{
    kiln_arena arena = sizing->arena;
    kiln_arena_release(&arena, (kiln_arena_mark){0});
    *sizing = (kiln_sizing){.context = mesh->context,
                            .arena = arena,
                            .mesh = mesh,
                            .space = space,
                            .vertex_rows = mesh->table[KILN_ON_VERTEX].used,
                            .tet_rows = mesh->table[KILN_ON_TET].used};
    return copy_mesh(sizing, mesh, error);
}

void kiln_sizing_destroy(kiln_sizing *sizing)
{
    if (!sizing)
        return;
    kiln_arena_destroy(&sizing->arena);
    kiln_release(sizing->context, sizing, sizeof *sizing);
}

kiln_status kiln_sizing_need_stars(kiln_sizing *sizing, kiln_error *error)
{
    size_t rows = sizing->vertex_rows, links = 4 * (size_t)sizing->tet_rows;
    kiln_sizing_stars *stars = &sizing->stars;
    if (stars->first)
        return KILN_OK;
    uint32_t *first = kiln_sizing_zeros(sizing, uint32_t, rows + 2);
    stars->tets = kiln_sizing_room(sizing, uint32_t, links);
    if (!first || !stars->tets)
        return kiln_fail_memory(error, links * sizeof *stars->tets);
    stars->first = first;
    /* Counts two places up, so that filling leaves the beginnings one place up where they belong.
     */
    uint32_t *next = stars->first + 1;
    for (uint32_t t = 0; t < sizing->tet_rows; t++)
        for (int k = 0; k < 4 && kiln_sizing_live(sizing, t); k++)
            next[sizing->tet[t].v[k] + 1]++;
    for (size_t v = 0; v < rows; v++) {
        stars->largest = next[v + 1] > stars->largest ? next[v + 1] : stars->largest;
        next[v + 1] += next[v];
    }
    for (uint32_t t = 0; t < sizing->tet_rows; t++)
        for (int k = 0; k < 4 && kiln_sizing_live(sizing, t); k++)
            stars->tets[next[sizing->tet[t].v[k]]++] = t;
    return KILN_OK;
}

void kiln_sizing_combine(kiln_sizing *sizing, uint32_t vertex, const kiln_sym3 *metric)
{
    kiln_sym3 *m = &sizing->metric[vertex];
    *m = m->xx > 0.0 ? kiln_metric_intersect(*m, *metric) : *metric;
}

typedef struct combine_job {
    kiln_sizing *sizing;
    const uint8_t *only;         /* [vertex] or NULL */
    const uint8_t *first;        /* [tet] or NULL */
    const kiln_sym3 *log_metric; /* [tet] */
} combine_job;

static bool has_first(const combine_job *job, uint32_t v)
{
    const kiln_sizing *s = job->sizing;
    for (uint32_t i = s->stars.first[v]; job->first && i < s->stars.first[v + 1]; i++)
        if (job->first[s->stars.tets[i]])
            return true;
    return false;
}

static void combine_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    combine_job *job = user;
    kiln_sizing *s = job->sizing;
    (void)chunk, (void)worker;
    for (uint32_t v = (uint32_t)begin; v < end; v++) {
        kiln_sym3 sum = {0};
        double total = 0.0;
        if (job->only && !job->only[v])
            continue;
        bool choosy = has_first(job, v);
        for (uint32_t i = s->stars.first[v]; i < s->stars.first[v + 1]; i++) {
            uint32_t t = s->stars.tets[i];
            const uint32_t *c = s->tet[t].v;
            if (choosy && !job->first[t])
                continue;
            double volume = fabs(
                kiln_tet_volume(s->point[c[0]], s->point[c[1]], s->point[c[2]], s->point[c[3]]));
            sum = kiln_sym3_madd(sum, volume, job->log_metric[t]);
            total += volume;
        }
        if (!(total > 0.0))
            continue;
        sum = kiln_sym3_scale(sum, 1.0 / total);
        kiln_sym3 mean = kiln_metric_exp(&sum);
        kiln_sizing_combine(s, v, &mean);
    }
}

void kiln_sizing_combine_tets(kiln_sizing *sizing, const uint8_t *only, const uint8_t *first,
                              const kiln_sym3 *log_metric)
{
    combine_job job = {sizing, only, first, log_metric};
    kiln_parallel_for(sizing->context, sizing->vertex_rows, KILN_SIZING_GRAIN, combine_chunk, &job);
}

static bool vertex_live(const kiln_sizing *s, uint32_t v)
{
    return kiln_vertex_live(s->mesh, v) && s->mesh->vertex[v].tet != KILN_NONE;
}

kiln_status kiln_sizing_check_size(double h, const char *what, kiln_error *error)
{
    if (isfinite(h) && h > 0.0)
        return KILN_OK;
    return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1, "%s must be positive, got %g", what, h);
}

kiln_status kiln_sizing_add_size(kiln_sizing *sizing, double h, kiln_error *error)
{
    KILN_TRY(kiln_sizing_check_size(h, "size", error));
    kiln_sym3 m = kiln_metric_from_size(h);
    for (uint32_t v = 0; v < sizing->vertex_rows; v++)
        kiln_sizing_combine(sizing, v, &m);
    sizing->sources++;
    return KILN_OK;
}

static bool positive_definite(const kiln_sym3 *m)
{
    double minor = m->xx * m->yy - m->xy * m->xy;
    return m->xx > 0.0 && minor > 0.0 && kiln_sym3_det(*m) > 0.0 && isfinite(m->xx) &&
           isfinite(m->yy) && isfinite(m->zz);
}

kiln_status kiln_sizing_add_values(kiln_sizing *sizing, const double *values, size_t rows,
                                   int components, kiln_error *error)
{
    if (rows != sizing->vertex_rows || (components != 1 && components != 6))
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                         "sizes for %zu vertices with %d components; the mesh has %u, and 1 or 6 "
                         "components are wanted",
                         rows, components, sizing->vertex_rows);
    for (uint32_t v = 0; v < rows; v++) {
        if (!vertex_live(sizing, v))
            continue;
        const double *a = values + (size_t)components * v;
        if (components == 1)
            KILN_TRY(kiln_sizing_check_size(a[0], "size of a vertex", error));
        kiln_sym3 m = components == 1 ? kiln_metric_from_size(a[0])
                                      : (kiln_sym3){a[0], a[2], a[5], a[4], a[3], a[1]};
        if (!positive_definite(&m))
            return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                             "the metric of vertex %u is not positive definite", v + 1);
        kiln_sizing_combine(sizing, v, &m);
    }
    sizing->sources++;
    return KILN_OK;
}

static kiln_status sample(kiln_sizing *s, kiln_sizing_function function, void *user,
                          kiln_error *error)
{
    for (uint32_t v = 0; v < s->vertex_rows; v++) {
        if (!vertex_live(s, v))
            continue;
        kiln_sym3 m = function(user, s->point[v]);
        if (!positive_definite(&m))
            return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                             "the function gives a metric that is not positive definite at "
                             "(%g, %g, %g)",
                             s->point[v].x, s->point[v].y, s->point[v].z);
        kiln_sizing_combine(s, v, &m);
    }
    return KILN_OK;
}

kiln_status kiln_sizing_add_function(kiln_sizing *sizing, kiln_sizing_function function, void *user,
                                     bool direct, kiln_error *error)
{
    if (direct && sizing->directs == KILN_SIZING_FUNCTIONS)
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                         "at most %d functions may be asked at lookups", KILN_SIZING_FUNCTIONS);
    KILN_TRY(sample(sizing, function, user, error));
    sizing->sources++;
    if (direct) {
        sizing->direct[sizing->directs].function = function;
        sizing->direct[sizing->directs++].user = user;
    }
    return KILN_OK;
}

typedef struct finish_job {
    kiln_sizing *sizing;
    const kiln_metric_bounds *bounds;
} finish_job;

static void bound_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    finish_job *job = user;
    (void)chunk, (void)worker;
    kiln_metric_bound_batch(job->sizing->context->isa, end - begin, job->bounds,
                            job->sizing->metric + begin);
}

static void log_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    finish_job *job = user;
    (void)chunk, (void)worker;
    kiln_metric_log_batch(job->sizing->context->isa, end - begin, &(kiln_metric_bounds){0},
                          job->sizing->metric + begin);
}

/* Vertices without a size get h_max; a field that is the same at all vertices is told apart. */
static kiln_status settle(kiln_sizing *s, const kiln_metric_bounds *bounds, kiln_error *error)
{
    const kiln_sym3 *first = NULL;
    s->constant = s->directs == 0;
    for (uint32_t v = 0; v < s->vertex_rows; v++) {
        if (!vertex_live(s, v)) {
            s->metric[v] = (kiln_sym3){0};
            continue;
        }
        if (!(s->metric[v].xx > 0.0)) {
            if (!(bounds->h_max > 0.0))
                return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                                 "no source gives a size at vertex %u and there is no largest size",
                                 v);
            s->metric[v] = kiln_metric_from_size(bounds->h_max);
        }
        first = first ? first : &s->metric[v];
        s->constant = s->constant && memcmp(first, &s->metric[v], sizeof *first) == 0;
    }
    s->constant_metric = first ? *first : kiln_sym3_identity();
    return KILN_OK;
}

kiln_status kiln_sizing_finish(kiln_sizing *sizing, const kiln_sizing_limits *limits,
                               kiln_error *error)
{
    static const kiln_sizing_limits none = {0};
    limits = limits ? limits : &none;
    finish_job job = {sizing, &limits->bounds};
    kiln_parallel_for(sizing->context, sizing->vertex_rows, KILN_SIZING_GRAIN, bound_chunk, &job);
    if (limits->ratio > 1.0)
        KILN_TRY(kiln_sizing_gradate(sizing, log(limits->ratio), error));
    sizing->bounds = limits->bounds;
    KILN_TRY(settle(sizing, &limits->bounds, error));
    sizing->by_functions =
        sizing->directs > 0 && sizing->directs == sizing->sources && !(limits->ratio > 1.0);
    kiln_parallel_for(sizing->context, sizing->vertex_rows, KILN_SIZING_GRAIN, log_chunk, &job);
    sizing->mesh = NULL;
    return KILN_OK;
}

void kiln_sizing_adopt(kiln_sizing *sizing, const kiln_sizing *from)
{
    memcpy(sizing->direct, from->direct, sizeof sizing->direct);
    sizing->directs = from->directs;
    sizing->sources = from->by_functions ? from->directs : from->directs + 1;
}

static void copy_metrics(const kiln_sizing_index *index, const uint32_t *hints, kiln_sizing *s)
{
    uint32_t near = index->sizing->first_tet;
    for (uint32_t v = 0; v < s->vertex_rows; v++) {
        if (!vertex_live(s, v))
            continue;
        near = hints ? hints[v] : near;
        s->metric[v] = kiln_sizing_find(index, s->point[v], &near);
    }
}

kiln_status kiln_sizing_carry(const kiln_sizing *sizing, const kiln_mesh *mesh,
                              const uint32_t *hints, kiln_sizing **out, kiln_error *error)
{
    kiln_sizing_index index;
    KILN_TRY(kiln_sizing_index_build(sizing, &index, error));
    kiln_status status = kiln_sizing_create(mesh, sizing->space, out, error);
    if (status == KILN_OK)
        copy_metrics(&index, hints, *out);
    kiln_sizing_index_free(&index);
    KILN_TRY(status);
    kiln_sizing *s = *out;
    kiln_sizing_adopt(s, sizing);
    kiln_sizing_limits limits = {.bounds = sizing->bounds};
    status = kiln_sizing_finish(s, &limits, error);
    if (status != KILN_OK) {
        kiln_sizing_destroy(s);
        *out = NULL;
    }
    return status;
}
