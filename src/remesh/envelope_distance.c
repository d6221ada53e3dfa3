/* How far the boundary of an envelope is from its surface, and the surface from the boundary. */
#include "base/parallel.h"
#include "remesh/envelope_impl.h"

/* At most about so many samples of the surface, and so many parts of an edge of the boundary. */
enum { MOST_SAMPLES = 20000, MOST_PARTS = 15, GRAIN = 64 };

/* Winding number of a point that is inside beyond doubt: a loose sheet in the open has 1/2 behind
 * it, one in matter 1/2 before it, and neither bounds anything. */
#define SURELY 0.65

static bool is_inside(const kiln_envelope *e, kiln_vec3 p)
{
    return kiln_triangle_tree_winding(&e->surface, p) > 0.5;
}

bool kiln_envelope_is_near(const kiln_envelope *e, kiln_vec3 p, kiln_vec3 normal, double distance,
                           double *off)
{
    const kiln_vec3 way[4] = {normal, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    if (kiln_triangle_tree_closest(&e->surface, p, distance, off) != KILN_BVH_NONE)
        return true;
    bool here = is_inside(e, p);
    for (int k = 0; k < 8; k++)
        if (is_inside(e, kiln_v3_madd(p, k % 2 ? -distance : distance, way[k / 2])) != here)
            return true;
    return false;
}

static double longest_edge(const kiln_triangle *t)
{
    double longest2 = 0.0;
    for (int k = 0; k < 3; k++)
        longest2 = fmax(longest2, kiln_v3_norm2(kiln_v3_sub(t->p[k], t->p[(k + 1) % 3])));
    return sqrt(longest2);
}

static kiln_vec3 normal_of(const kiln_triangle *t)
{
    return kiln_v3_cross(kiln_v3_sub(t->p[1], t->p[0]), kiln_v3_sub(t->p[2], t->p[0]));
}

static kiln_vec3 point_at(const kiln_triangle *t, double u, double v)
{
    kiln_vec3 p = kiln_v3_scale(t->p[0], 1.0 - u - v);
    return kiln_v3_madd(kiln_v3_madd(p, u, t->p[1]), v, t->p[2]);
}

static void judge_samples(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    kiln_envelope *e = user;
    (void)chunk;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        kiln_envelope_sample *s = &e->samples.data[i];
        kiln_vec3 away = kiln_v3_scale(s->normal, 0.5 * e->distance);
        double behind = kiln_triangle_tree_winding(&e->surface, kiln_v3_sub(s->at, away));
        double before = kiln_triangle_tree_winding(&e->surface, kiln_v3_add(s->at, away));
        s->boundary = fmax(behind, before) > SURELY && fmin(behind, before) < 1.0 - SURELY;
    }
}

kiln_status kiln_envelope_sample_surface(kiln_envelope *e, kiln_error *error)
{
    double area = 0.0;
    for (size_t i = 0; i < e->surface.count; i++)
        area += 0.5 * kiln_v3_norm(normal_of(&e->surface.triangle[i]));
    double spacing = fmax(e->distance, sqrt(area / MOST_SAMPLES));
    for (size_t i = 0; i < e->surface.count; i++) {
        const kiln_triangle *t = &e->surface.triangle[i];
        kiln_vec3 normal = kiln_v3_normalize(normal_of(t));
        double parts = fmin(fmax(ceil(longest_edge(t) / spacing), 1.0), 1000.0);
        int n = (int)parts;
        for (int a = 0; a < n; a++)
            for (int b = 0; a + b < n; b++) {
                kiln_vec3 at = point_at(t, (a + 1.0 / 3) / parts, (b + 1.0 / 3) / parts);
                kiln_envelope_sample sample = {at, normal, false};
                KILN_TRY(kiln_array_push(e->context, &e->samples, sample, error));
            }
    }
    kiln_parallel_for(e->context, e->samples.count, GRAIN, judge_samples, e);
    return KILN_OK;
}

typedef struct reaching {
    const kiln_envelope *e;
    const kiln_triangle_tree *boundary;
    double *off; /* [sample], 0: it is not a boundary */
} reaching;

static void reach(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    const reaching *r = user;
    (void)chunk;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        const kiln_envelope_sample *s = &r->e->samples.data[i];
        r->off[i] = 0.0;
        if (s->boundary)
            kiln_triangle_tree_closest(r->boundary, s->at, INFINITY, &r->off[i]);
    }
}

kiln_status kiln_envelope_far_samples(const kiln_envelope *e, const kiln_triangle *triangles,
                                      size_t count, double distance, uint8_t *far, double *farthest,
                                      kiln_error *error)
{
    size_t samples = e->samples.count;
    kiln_triangle_tree tree;
    double *off = kiln_resize(e->context, NULL, 0, (samples + 1) * sizeof *off);
    if (!off)
        return kiln_fail_memory(error, samples * sizeof *off);
    kiln_status status = kiln_triangle_tree_build(&tree, e->context, triangles, count, error);
    if (status == KILN_OK) {
        reaching r = {e, &tree, off};
        kiln_parallel_for(e->context, samples, GRAIN, reach, &r);
        kiln_triangle_tree_destroy(&tree);
    }
    *farthest = 0.0;
    for (size_t i = 0; i < samples && status == KILN_OK; i++) {
        *farthest = fmax(*farthest, off[i]);
        if (far)
            far[i] = off[i] > distance;
    }
    kiln_release(e->context, off, (samples + 1) * sizeof *off);
    return status;
}

/* Of one triangle of the boundary. */
typedef struct straying {
    double area, off; /* off: farthest point that is near the surface */
    double spanned, widest;
    bool lost; /* a point is near nothing */
} straying;

typedef struct measuring {
    const kiln_envelope *e;
    const kiln_triangle *triangles;
    double distance;
    straying *found;
} measuring;

static void measure_point(const kiln_envelope *e, kiln_vec3 p, kiln_vec3 normal, double distance,
                          double weight, straying *out)
{
    double off;
    bool near = kiln_envelope_is_near(e, p, normal, distance, &off);
    if (near && off <= distance) {
        out->off = fmax(out->off, off);
        return;
    }
    kiln_triangle_tree_closest(&e->surface, p, INFINITY, &off);
    out->widest = fmax(out->widest, off);
    out->spanned += weight;
    out->lost = out->lost || !near;
}

static void measure_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    const measuring *m = user;
    (void)chunk;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        const kiln_triangle *t = &m->triangles[i];
        kiln_vec3 normal = normal_of(t);
        straying *out = &m->found[i];
        double thirds = ceil(longest_edge(t) / (1.5 * m->e->distance)); /* the middle is a point */
        double parts = 3.0 * fmin(fmax(thirds, 1.0), MOST_PARTS / 3);
        int n = (int)parts;
        *out = (straying){.area = 0.5 * kiln_v3_norm(normal)};
        double weight = 2.0 * out->area / ((n + 1) * (n + 2));
        normal = kiln_v3_normalize(normal);
        for (int a = 0; a <= n; a++)
            for (int b = 0; a + b <= n; b++)
                measure_point(m->e, point_at(t, a / parts, b / parts), normal, m->distance, weight,
                              out);
    }
}

static void sum_up(const kiln_envelope *e, const straying *found, size_t count, double farthest,
                   kiln_envelope_report *report)
{
    double area = 0.0, spanned = 0.0;
    size_t hidden = 0;
    report->outward = report->widest = 0.0;
    report->kept = true;
    for (size_t i = 0; i < count; i++) {
        area += found[i].area;
        spanned += found[i].spanned;
        report->outward = fmax(report->outward, found[i].off);
        report->widest = fmax(report->widest, found[i].widest);
        report->kept = report->kept && !found[i].lost;
    }
    for (size_t i = 0; i < e->samples.count; i++)
        hidden += !e->samples.data[i].boundary;
    report->spanned = area > 0.0 ? spanned / area : 0.0;
    report->hidden = e->samples.count ? (double)hidden / (double)e->samples.count : 0.0;
    report->backward = farthest;
}

static kiln_status take_triangles(const kiln_soup *s, kiln_triangle_array *out, kiln_error *error)
{
    size_t count = s->triangles.count;
    KILN_TRY(kiln_array_reserve(s->context, out, count, error));
    for (size_t i = 0; i < 3 * count; i++)
        out->data[i / 3].p[i % 3] = s->points.data[s->triangles.data[i / 3].v[i % 3]];
    out->count = count;
    return KILN_OK;
}

kiln_status kiln_envelope_measure(const kiln_envelope *e, const kiln_soup *result,
                                  kiln_envelope_report *report, kiln_error *error)
{
    size_t count = result->triangles.count;
    kiln_triangle_array triangles = {0};
    double farthest = 0.0;
    straying *found = kiln_resize(e->context, NULL, 0, (count + 1) * sizeof *found);
    kiln_status status = found ? take_triangles(result, &triangles, error)
                               : kiln_fail_memory(error, count * sizeof *found);
    if (status == KILN_OK) {
        measuring m = {e, triangles.data, e->distance, found};
        kiln_parallel_for(e->context, count, GRAIN, measure_chunk, &m);
        status = kiln_envelope_far_samples(e, triangles.data, count, e->distance, NULL, &farthest,
                                           error);
    }
    if (status == KILN_OK)
        sum_up(e, found, count, farthest, report);
    kiln_array_free(e->context, &triangles);
    kiln_release(e->context, found, (count + 1) * sizeof *found);
    return status;
}

static kiln_status list_strays(const kiln_envelope *e, const kiln_triangle_array *triangles,
                               double distance, straying *found, uint8_t *far,
                               kiln_envelope_places *out, kiln_error *error)
{
    double farthest;
    measuring m = {e, triangles->data, distance, found};
    kiln_parallel_for(e->context, triangles->count, GRAIN, measure_chunk, &m);
    KILN_TRY(kiln_envelope_far_samples(e, triangles->data, triangles->count, distance, far,
                                       &farthest, error));
    for (size_t i = 0; i < triangles->count; i++)
        if (found[i].lost)
            KILN_TRY(kiln_array_push(e->context, &out->triangles,
                                     kiln_box_of(triangles->data[i].p, 3), error));
    for (size_t i = 0; i < e->samples.count; i++)
        if (far[i])
            KILN_TRY(kiln_array_push(e->context, &out->samples,
                                     kiln_box_of(&e->samples.data[i].at, 1), error));
    return KILN_OK;
}

kiln_status kiln_envelope_strays(const kiln_envelope *e, const kiln_soup *result, double distance,
                                 kiln_envelope_places *out, kiln_error *error)
{
    size_t count = result->triangles.count, samples = e->samples.count;
    kiln_triangle_array triangles = {0};
    straying *found = kiln_resize(e->context, NULL, 0, (count + 1) * sizeof *found);
    uint8_t *far = kiln_resize(e->context, NULL, 0, samples + 1);
    kiln_status status = found && far ? take_triangles(result, &triangles, error)
                                      : kiln_fail_memory(error, count * sizeof *found);
    if (status == KILN_OK)
        status = list_strays(e, &triangles, distance, found, far, out, error);
    kiln_array_free(e->context, &triangles);
    kiln_release(e->context, found, (count + 1) * sizeof *found);
    kiln_release(e->context, far, samples + 1);
    return status;
}
