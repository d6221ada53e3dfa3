/* Sizes from the deformation of the mesh: length in world space, and the gradient of the strain. */
#include "remesh/sizing_impl.h"

#include <string.h>

typedef struct deformation_job {
    const kiln_sizing *sizing;
    const kiln_sizing_stars *stars;
    double scale;
    kiln_strain_sizing strain;
    kiln_mat3 *gradient, *inverse; /* [tet] F and its inverse; strain only */
    kiln_sym3 *log_metric;         /* [tet] */
} deformation_job;

static kiln_mat3 edges(const kiln_vec3 *p, const uint32_t v[4])
{
    return kiln_m3_columns(kiln_v3_sub(p[v[1]], p[v[0]]), kiln_v3_sub(p[v[2]], p[v[0]]),
                           kiln_v3_sub(p[v[3]], p[v[0]]));
}

/* Dw Dm^-1 (DLR eq. 1 without the plastic offset). */
static kiln_mat3 deformation_gradient(const kiln_mesh *mesh, const uint32_t v[4])
{
    return kiln_m3_mul(edges(mesh->x, v), kiln_m3_inverse(edges(mesh->u, v)));
}

/* F'F */
static kiln_sym3 squared(const kiln_mat3 *f)
{
    return kiln_sym3_from_mat3(kiln_m3_mul(kiln_m3_transpose(*f), *f));
}

static void world_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    deformation_job *job = user;
    (void)chunk, (void)worker;
    for (uint32_t t = (uint32_t)begin; t < end; t++) {
        if (!kiln_sizing_live(job->sizing, t))
            continue;
        kiln_mat3 f = deformation_gradient(job->sizing->mesh, job->sizing->tet[t].v);
        job->log_metric[t] = kiln_sym3_log(kiln_sym3_scale(squared(&f), job->scale));
    }
}

static void gradient_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    deformation_job *job = user;
    (void)chunk, (void)worker;
    for (uint32_t t = (uint32_t)begin; t < end; t++) {
        if (!kiln_sizing_live(job->sizing, t))
            continue;
        if (job->strain.gradient)
            memcpy(job->gradient[t].m, job->strain.gradient + 9 * (size_t)t, sizeof(kiln_mat3));
        else
            job->gradient[t] = deformation_gradient(job->sizing->mesh, job->sizing->tet[t].v);
        job->inverse[t] = kiln_m3_inverse(job->gradient[t]);
    }
}

static kiln_vec3 barycentre(const kiln_sizing *s, uint32_t t)
{
    kiln_vec3 c = {0};
    for (int k = 0; k < 4; k++)
        c = kiln_v3_madd(c, 0.25, s->point[s->tet[t].v[k]]);
    return c;
}

/* max(|A|, |A^-1|) in the spectral norm, from the eigenvalues of A'A in closed form: a fifth of
 * what an SVD costs, and its error of 1e-8 where A is a rotation is no gradient of the strain. */
static double distortion(const kiln_mat3 *a)
{
    kiln_sym3 b = squared(a);
    double q = (b.xx + b.yy + b.zz) / 3.0, dx = b.xx - q, dy = b.yy - q, dz = b.zz - q;
    double p =
        sqrt((dx * dx + dy * dy + dz * dz + 2.0 * (b.yz * b.yz + b.xz * b.xz + b.xy * b.xy)) / 6.0);
    if (!(p > 1e-9 * q))
        return q > 1.0 ? sqrt(q) : 1.0 / sqrt(q);
    kiln_sym3 c = {dx / p, dy / p, dz / p, b.yz / p, b.xz / p, b.xy / p};
    double r = 0.5 * kiln_sym3_det(c);
    double angle = acos(r < -1.0 ? -1.0 : r > 1.0 ? 1.0 : r) / 3.0;
    double most = q + 2.0 * p * cos(angle), least = q + 2.0 * p * cos(angle + 2.0 * KILN_PI / 3.0);
    double product = kiln_sym3_det(b), middle = 3.0 * q - most - least;
    least = product / (most * middle); /* free of cancellation */
    return most * least > 1.0 ? sqrt(most) : 1.0 / sqrt(least);
}

/* The sum of DLR eq. 7 over the tets t that share a vertex with s, and their number. */
static kiln_sym3 gather(const deformation_job *job, uint32_t s, uint32_t *count)
{
    const kiln_tet *tets = job->sizing->tet;
    const uint32_t *v = tets[s].v;
    kiln_vec3 centre = barycentre(job->sizing, s);
    kiln_sym3 sum = {0};
    *count = 0;
    for (int k = 0; k < 4; k++)
        for (uint32_t i = job->stars->first[v[k]]; i < job->stars->first[v[k] + 1]; i++) {
            uint32_t t = job->stars->tets[i];
            bool met = t == s; /* at an earlier corner */
            for (int j = 0; j < k; j++)
                met = met || kiln_tet_corner(&tets[t], v[j]) < 4;
            if (met)
                continue;
            kiln_vec3 d = kiln_v3_sub(barycentre(job->sizing, t), centre);
            double length = kiln_v3_norm(d);
            kiln_mat3 a = kiln_m3_mul(job->gradient[s], job->inverse[t]);
            double change = distortion(&a) - (job->strain.printed ? 0.0 : 1.0);
            double weight = change / (length * length * length);
            kiln_sym3 outer = {d.x * d.x, d.y * d.y, d.z * d.z, d.y * d.z, d.x * d.z, d.x * d.y};
            sum = kiln_sym3_madd(sum, weight > 0.0 ? weight : 0.0, outer);
            ++*count;
        }
    return sum;
}

static void strain_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    deformation_job *job = user;
    const kiln_metric_bounds bounds = {.h_max = job->strain.h_max};
    (void)chunk, (void)worker;
    for (uint32_t t = (uint32_t)begin; t < end; t++) {
        if (!kiln_sizing_live(job->sizing, t))
            continue;
        uint32_t count;
        kiln_sym3 m = gather(job, t, &count);
        m = kiln_sym3_scale(m, count ? job->strain.accuracy / count : 0.0);
        job->log_metric[t] = kiln_sym3_log(kiln_metric_bound(m, &bounds));
    }
}

static kiln_status check_space(const kiln_sizing *sizing, const char *what, kiln_error *error)
{
    if (sizing->space == KILN_SPACE_MATERIAL)
        return KILN_OK;
    return kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1,
                     "%s is for sizing fields in material space", what);
}

kiln_status kiln_sizing_add_world(kiln_sizing *sizing, double h, kiln_error *error)
{
    KILN_TRY(check_space(sizing, "world length", error));
    KILN_TRY(kiln_sizing_check_size(h, "world size", error));
    kiln_sizing_stars stars;
    KILN_TRY(kiln_sizing_stars_create(sizing, &stars, error));
    deformation_job job = {.sizing = sizing, .scale = 1.0 / (h * h)};
    job.log_metric = kiln_sizing_alloc(sizing, sizing->tet_rows, sizeof *job.log_metric);
    kiln_status status = KILN_OK;
    if (job.log_metric) {
        kiln_parallel_for(sizing->context, sizing->tet_rows, KILN_SIZING_GRAIN, world_chunk, &job);
        kiln_sizing_combine_tets(sizing, &stars, job.log_metric);
        sizing->sources++;
    } else {
        status = kiln_fail_memory(error, sizing->tet_rows * sizeof *job.log_metric);
    }
    kiln_sizing_free(sizing, job.log_metric, sizing->tet_rows, sizeof *job.log_metric);
    kiln_sizing_stars_free(sizing, &stars);
    return status;
}

kiln_status kiln_sizing_add_strain(kiln_sizing *sizing, const kiln_strain_sizing *options,
                                   kiln_error *error)
{
    if (!options->gradient)
        KILN_TRY(check_space(sizing, "the gradient of the strain", error));
    KILN_TRY(kiln_sizing_check_size(options->accuracy, "accuracy", error));
    KILN_TRY(kiln_sizing_check_size(options->h_max, "largest size", error));
    kiln_sizing_stars stars;
    KILN_TRY(kiln_sizing_stars_create(sizing, &stars, error));
    deformation_job job = {.sizing = sizing, .stars = &stars, .strain = *options};
    size_t rows = sizing->tet_rows;
    job.log_metric = kiln_sizing_alloc(sizing, rows, sizeof *job.log_metric);
    job.gradient = kiln_sizing_alloc(sizing, rows, sizeof *job.gradient);
    job.inverse = kiln_sizing_alloc(sizing, rows, sizeof *job.inverse);
    kiln_status status = KILN_OK;
    if (job.log_metric && job.gradient && job.inverse) {
        kiln_parallel_for(sizing->context, rows, KILN_SIZING_GRAIN, gradient_chunk, &job);
        kiln_parallel_for(sizing->context, rows, KILN_SIZING_GRAIN, strain_chunk, &job);
        kiln_sizing_combine_tets(sizing, &stars, job.log_metric);
        sizing->sources++;
    } else {
        status = kiln_fail_memory(error, rows * sizeof *job.gradient);
    }
    kiln_sizing_free(sizing, job.log_metric, rows, sizeof *job.log_metric);
    kiln_sizing_free(sizing, job.gradient, rows, sizeof *job.gradient);
    kiln_sizing_free(sizing, job.inverse, rows, sizeof *job.inverse);
    kiln_sizing_stars_free(sizing, &stars);
    return status;
}
