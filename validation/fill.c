/* Filling surfaces that files got wrong: exactly where it is clear what they mean, within an
 * envelope where they are broken. Distances are taken here triangle by triangle, against all of the
 * surface. */
#include "base/random.h"
#include "geom/distance.h"
#include "geom/tet_quality.h"
#include "io/fill.h"
#include "measure/fixture.h"
#include "topology/surface_mend.h"
#include "validation/validation.h"

#include <stdio.h>

static double tet_volume(const kiln_soup *s)
{
    double volume = 0.0;
    for (size_t i = 0; i < s->tets.count; i++) {
        const uint32_t *v = s->tets.data[i].v;
        const kiln_vec3 *p = s->points.data;
        volume += kiln_tet_volume(p[v[0]], p[v[1]], p[v[2]], p[v[3]]);
    }
    return volume;
}

/* How a surface is damaged. */
typedef struct damage {
    double noise;           /* m, of every corner by itself */
    double missing, turned; /* parts of the triangles */
    double again;           /* given a second time, `beside` (m) the first */
    double beside;
} damage;

static kiln_vec3 anywhere(kiln_random *random, double reach)
{
    double x = kiln_random_range(random, -reach, reach);
    double y = kiln_random_range(random, -reach, reach);
    return kiln_v3(x, y, kiln_random_range(random, -reach, reach));
}

static kiln_status put(kiln_soup *out, const kiln_vec3 p[3], kiln_vec3 shift, bool turned,
                       kiln_error *error)
{
    uint32_t first = (uint32_t)out->points.count;
    kiln_soup_triangle t = {{first, first + (turned ? 2 : 1), first + (turned ? 1 : 2)}};
    for (int k = 0; k < 3; k++)
        KILN_TRY(kiln_array_push(out->context, &out->points, kiln_v3_add(p[k], shift), error));
    return kiln_array_push(out->context, &out->triangles, t, error);
}

static kiln_status break_surface(const kiln_soup *whole, const damage *how, uint64_t seed,
                                 kiln_soup *out, kiln_error *error)
{
    kiln_random random = kiln_random_start(seed, 17);
    for (size_t i = 0; i < whole->triangles.count; i++) {
        kiln_vec3 p[3], beside = anywhere(&random, how->beside);
        for (int k = 0; k < 3; k++)
            p[k] = kiln_v3_add(whole->points.data[whole->triangles.data[i].v[k]],
                               anywhere(&random, how->noise));
        bool gone = kiln_random_unit(&random) < how->missing;
        bool turned = kiln_random_unit(&random) < how->turned;
        bool again = kiln_random_unit(&random) < how->again;
        if (!gone)
            KILN_TRY(put(out, p, kiln_v3(0, 0, 0), turned, error));
        if (again)
            KILN_TRY(put(out, p, beside, turned, error));
    }
    return KILN_OK;
}

static double worst_quality(const kiln_soup *s)
{
    double worst = 1.0;
    for (size_t i = 0; i < s->tets.count; i++) {
        const uint32_t *v = s->tets.data[i].v;
        const kiln_vec3 *p = s->points.data;
        worst = fmin(worst, kiln_tet_quality(&p[v[0]], &p[v[1]], &p[v[2]], &p[v[3]]));
    }
    return worst;
}

/* Farthest that a corner or middle of the boundary is from the surface. */
static double farthest(const kiln_soup *boundary, const kiln_soup *surface)
{
    double far = 0.0;
    for (size_t i = 0; i < 4 * boundary->triangles.count; i++) {
        const uint32_t *v = boundary->triangles.data[i / 4].v;
        const kiln_vec3 *p = boundary->points.data;
        kiln_vec3 sum = kiln_v3_add(kiln_v3_add(p[v[0]], p[v[1]]), p[v[2]]);
        kiln_vec3 at = i % 4 < 3 ? p[v[i % 4]] : kiln_v3_scale(sum, 1.0 / 3.0);
        double best2 = INFINITY;
        for (size_t t = 0; t < surface->triangles.count; t++) {
            const uint32_t *w = surface->triangles.data[t].v;
            const kiln_vec3 *q = surface->points.data;
            const kiln_vec3 corners[3] = {q[w[0]], q[w[1]], q[w[2]]};
            best2 = fmin(best2, kiln_triangle_distance2(at, corners));
        }
        far = fmax(far, sqrt(best2));
    }
    return far;
}

static kiln_status fill_damaged(kiln_context *context, const char *shape, const char *settings,
                                const damage *how, uint64_t seed, const kiln_fill_options *options,
                                kiln_soup *broken, kiln_soup *out, double *volume,
                                kiln_error *error)
{
    kiln_soup whole;
    kiln_soup_init(broken, context);
    kiln_soup_init(out, context);
    KILN_TRY(kiln_fixture_soup(context, shape, settings, &whole, error));
    *volume = tet_volume(&whole);
    kiln_status status = break_surface(&whole, how, seed, broken, error);
    kiln_soup_free(&whole);
    if (status == KILN_OK)
        status = kiln_fill_surface(broken, shape, options, out, NULL, error);
    return status;
}

kiln_status kiln_validate_fill_mend(kiln_validation *validation, kiln_error *error)
{
    static const struct {
        const char *name;
        damage how;
    } rows[] = {{"corners apart by 1e-7", {.noise = 1e-7}},
                {"a third looks the other way", {.turned = 0.33}},
                {"a tenth given twice", {.again = 0.1}},
                {"all of these", {.noise = 1e-7, .turned = 0.33, .again = 0.1}}};
    static const char *const shapes[][2] = {{"ball", "h=0.3"}, {"box", "n=4"}, {"torus", "h=0.25"}};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        double off = 0.0, volume;
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
            kiln_soup broken, out;
            kiln_fill_options options = kiln_fill_default_options();
            kiln_status status =
                fill_damaged(kiln_validation_context(validation), shapes[s][0], shapes[s][1],
                             &rows[r].how, s, &options, &broken, &out, &volume, error);
            off = fmax(off, fabs(tet_volume(&out) / volume - 1.0));
            kiln_soup_free(&broken);
            kiln_soup_free(&out);
            KILN_TRY(status);
        }
        kiln_validation_report(validation, off, kiln_at_most(1e-5), "%s: volume, relative error",
                               rows[r].name);
    }
    return KILN_OK;
}

/* Holes are of one triangle and narrower than the distance, so all of the boundary must keep it. */
kiln_status kiln_validate_fill_envelope(kiln_validation *validation, kiln_error *error)
{
    static const damage kinds[] = {{.missing = 0.02},
                                   {.turned = 0.1, .missing = 0.01},
                                   {.again = 0.05, .beside = 0.03},
                                   {.noise = 0.01},
                                   {0.005, 0.01, 0.2, 0.05, 0.02}};
    static const char *const shapes[][2] = {{"ball", "radius=1 h=0.2"},
                                            {"box", "lx=2 ly=2 lz=1 n=5"},
                                            {"torus", "major=1 minor=0.4 h=0.2"}};
    const double distance = 0.09;
    uint64_t count = kiln_validation_is_brief(validation) ? 10 : 60;
    double far = 0.0, worst = 1.0, off = 0.0;
    size_t failed = 0;
    for (uint64_t i = 0; i < count; i++) {
        kiln_soup broken, out;
        kiln_fill_options options = kiln_fill_default_options();
        const char *const *shape = shapes[i / 5 % 3];
        double volume = 1.0;
        options.envelope = distance;
        options.size = 0.3;
        kiln_error inner;
        kiln_status status =
            fill_damaged(kiln_validation_context(validation), shape[0], shape[1], &kinds[i % 5], i,
                         &options, &broken, &out, &volume, &inner);
        failed += status != KILN_OK;
        if (status == KILN_OK) {
            far = fmax(far, farthest(&out, &broken));
            worst = fmin(worst, worst_quality(&out));
            off = fmax(off, fabs(tet_volume(&out) / volume - 1.0));
        }
        kiln_soup_free(&broken);
        kiln_soup_free(&out);
        if (status == KILN_ERR_MEMORY) {
            *error = inner;
            return status;
        }
    }
    kiln_validation_report(validation, (double)failed, kiln_exactly(0),
                           "broken surfaces that are not filled");
    kiln_validation_report(validation, far / distance, kiln_at_most(1.0),
                           "farthest point of a boundary from its surface, by the envelope");
    kiln_validation_report(validation, worst, kiln_at_least(0.1), "worst quality of a tet");
    kiln_validation_report(validation, off, kiln_at_most(0.1), "volume, relative error");
    return KILN_OK;
}
