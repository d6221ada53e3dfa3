#include "app/render_filter.h"

#include "base/parallel.h"

enum { RADIUS = 3, BAND = 8 };

typedef struct filter_job {
    const kiln_light_job *light;
    kiln_light_pixel *smooth;
    float weight[2 * RADIUS + 1];
    float thickness; /* how far off the tangent plane counts as another surface */
} filter_job;

/* Joint bilateral weight: alike in direction, and in one another's tangent plane. */
static float kinship(const filter_job *job, const kiln_light_pixel *p, const kiln_light_pixel *q)
{
    float dot = 0.0f, away = 0.0f;
    for (int i = 0; i < 3; i++) {
        dot += p->normal[i] * q->normal[i];
        away += p->normal[i] * (q->position[i] - p->position[i]);
    }
    dot = dot < 0.0f ? 0.0f : dot > 1.0f ? 1.0f : dot;
    float d2 = dot * dot, d8 = d2 * d2 * d2 * d2, d32 = d8 * d8 * d8 * d8;
    float plane = 1.0f - fabsf(away) / job->thickness;
    return plane <= 0.0f ? 0.0f : d32 * plane;
}

static void filter_pixel(const filter_job *job, int x, int y)
{
    const kiln_light_job *light = job->light;
    size_t here = (size_t)y * (size_t)light->width + (size_t)x;
    const kiln_light_pixel *p = &light->pixels[here];
    kiln_light_pixel out = *p;
    float total = 0.0f, sum[5] = {0}, ground_total = 0.0f, open = 0.0f;
    for (int dy = -RADIUS; dy <= RADIUS; dy++)
        for (int dx = -RADIUS; dx <= RADIUS; dx++) {
            int qx = x + dx, qy = y + dy;
            if (qx < 0 || qy < 0 || qx >= light->width || qy >= light->height)
                continue;
            const kiln_light_pixel *q =
                &light->pixels[(size_t)qy * (size_t)light->width + (size_t)qx];
            float near = job->weight[dx + RADIUS] * job->weight[dy + RADIUS];
            if (p->coverage > 0.0f && q->coverage > 0.0f) {
                float w = near * q->coverage * kinship(job, p, q);
                total += w;
                for (int i = 0; i < 5; i++)
                    sum[i] += w * q->light[i];
            }
            ground_total += near * q->ground;
            open += near * q->ground * q->openness;
        }
    if (total > 0.0f)
        for (int i = 0; i < 5; i++)
            out.light[i] = sum[i] / total;
    if (ground_total > 0.0f)
        out.openness = open / ground_total;
    job->smooth[here] = out;
}

static void filter_band(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const filter_job *job = user;
    if (kiln_context_is_stopping(job->light->mesh->arena->context))
        return;
    for (size_t y = begin; y < end; y++)
        for (int x = 0; x < job->light->width; x++)
            filter_pixel(job, x, (int)y);
}

void kiln_light_filter(kiln_context *context, const kiln_light_job *light, kiln_light_pixel *smooth)
{
    filter_job job = {.light = light, .smooth = smooth};
    for (int i = -RADIUS; i <= RADIUS; i++)
        job.weight[i + RADIUS] = expf(-0.5f * (float)(i * i) / (0.55f * RADIUS * RADIUS));
    /* A few pixels' worth of depth at the distance of the mesh. */
    job.thickness = (float)(4.0 * light->camera->scale * kiln_v3_norm(light->camera->eye));
    kiln_parallel_for(context, (size_t)light->height, BAND, filter_band, &job);
}
