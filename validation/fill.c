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
    int around; /* corners of which all triangles are missing */
} damage;

/* A surface, what was made of it, and what of that. */
typedef struct filled {
    kiln_soup broken, gone; /* gone: the triangles that are missing, where they would be */
    kiln_soup out;
    double volume; /* m3, of the whole one */
} filled;

static void free_filled(filled *f)
{
    kiln_soup_free(&f->broken);
    kiln_soup_free(&f->gone);
    kiln_soup_free(&f->out);
}

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

/* Corners that all triangles round them leave. */
typedef struct bared {
    uint32_t corner[4];
    int count;
} bared;

static bared choose_bared(const kiln_soup *whole, const damage *how, uint64_t seed)
{
    kiln_random random = kiln_random_start(seed, 23);
    bared b = {.count = how->around};
    for (int k = 0; k < b.count; k++)
        b.corner[k] =
            whole->triangles.data[kiln_random_below(&random, (uint32_t)whole->triangles.count)]
                .v[0];
    return b;
}

static bool has_bared(const kiln_soup_triangle *t, const bared *b)
{
    for (int k = 0; k < 3 * b->count; k++)
        if (t->v[k % 3] == b->corner[k / 3])
            return true;
    return false;
}

static kiln_status break_surface(const kiln_soup *whole, const damage *how, uint64_t seed,
                                 filled *f, kiln_error *error)
{
    kiln_random random = kiln_random_start(seed, 17);
    const bared bare = choose_bared(whole, how, seed);
    for (size_t i = 0; i < whole->triangles.count; i++) {
        kiln_vec3 p[3], beside = anywhere(&random, how->beside);
        for (int k = 0; k < 3; k++)
            p[k] = kiln_v3_add(whole->points.data[whole->triangles.data[i].v[k]],
                               anywhere(&random, how->noise));
        bool missing = kiln_random_unit(&random) < how->missing;
        bool turned = kiln_random_unit(&random) < how->turned;
        bool again = kiln_random_unit(&random) < how->again;
        missing = missing || has_bared(&whole->triangles.data[i], &bare);
        KILN_TRY(put(missing ? &f->gone : &f->broken, p, kiln_v3(0, 0, 0), turned, error));
        if (again)
            KILN_TRY(put(&f->broken, p, beside, turned, error));
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

static double distance_to(const kiln_soup *surface, kiln_vec3 at)
{
    double best2 = INFINITY;
    for (size_t t = 0; t < surface->triangles.count; t++) {
        const uint32_t *w = surface->triangles.data[t].v;
        const kiln_vec3 *q = surface->points.data;
        const kiln_vec3 corners[3] = {q[w[0]], q[w[1]], q[w[2]]};
        best2 = fmin(best2, kiln_triangle_distance2(at, corners));
    }
    return sqrt(best2);
}

/* Farthest that a corner or middle of the boundary is from what is left of the surface, and from
 * that with what is missing. */
typedef struct strayed {
    double left, whole;
} strayed;

static strayed farthest(const filled *f)
{
    strayed far = {0};
    for (size_t i = 0; i < 4 * f->out.triangles.count; i++) {
        const uint32_t *v = f->out.triangles.data[i / 4].v;
        const kiln_vec3 *p = f->out.points.data;
        kiln_vec3 sum = kiln_v3_add(kiln_v3_add(p[v[0]], p[v[1]]), p[v[2]]);
        kiln_vec3 at = i % 4 < 3 ? p[v[i % 4]] : kiln_v3_scale(sum, 1.0 / 3.0);
        double left = distance_to(&f->broken, at);
        far.left = fmax(far.left, left);
        if (left > far.whole)
            far.whole = fmax(far.whole, fmin(left, distance_to(&f->gone, at)));
    }
    return far;
}

/* Of the corners of two missing triangles, those that they share. */
static int shared_corners(const filled *f, size_t one, size_t other, double noise)
{
    const kiln_vec3 *p = f->gone.points.data;
    const uint32_t *v = f->gone.triangles.data[one].v, *w = f->gone.triangles.data[other].v;
    int shared = 0;
    for (int k = 0; k < 9; k++)
        shared += kiln_v3_norm(kiln_v3_sub(p[v[k / 3]], p[w[k % 3]])) <= 2.0 * sqrt(3.0) * noise;
    return shared;
}

/* Whether holes are of one triangle each. */
static bool has_small_holes(const filled *f, double noise)
{
    for (size_t i = 0; i < f->gone.triangles.count; i++)
        for (size_t k = 0; k < i; k++)
            if (shared_corners(f, i, k, noise) > 1)
                return false;
    return true;
}

/* How far what is missing is from what is left: of a flat hole half its width, and no surface that
 * closes it stays nearer (docs/decisions.md). */
static double widest_hole(const filled *f)
{
    enum { PARTS = 8 };
    double widest = 0.0;
    for (size_t i = 0; i < f->gone.triangles.count; i++) {
        const uint32_t *v = f->gone.triangles.data[i].v;
        const kiln_vec3 *p = f->gone.points.data;
        for (int a = 0; a <= PARTS; a++)
            for (int b = 0; a + b <= PARTS; b++) {
                kiln_vec3 at = kiln_v3_scale(p[v[0]], 1.0 - (a + b) / (double)PARTS);
                at = kiln_v3_madd(at, a / (double)PARTS, p[v[1]]);
                at = kiln_v3_madd(at, b / (double)PARTS, p[v[2]]);
                widest = fmax(widest, distance_to(&f->broken, at));
            }
    }
    return widest;
}

static kiln_status fill_damaged(kiln_context *context, const char *const shape[2],
                                const damage *how, uint64_t seed, const kiln_fill_options *options,
                                filled *f, kiln_error *error)
{
    kiln_soup whole;
    kiln_soup_init(&f->broken, context);
    kiln_soup_init(&f->gone, context);
    kiln_soup_init(&f->out, context);
    KILN_TRY(kiln_fixture_soup(context, shape[0], shape[1], &whole, error));
    f->volume = tet_volume(&whole);
    kiln_status status = break_surface(&whole, how, seed, f, error);
    kiln_soup_free(&whole);
    if (status == KILN_OK)
        status = kiln_fill_surface(&f->broken, shape[0], options, &f->out, NULL, error);
    return status;
}

static double volume_error(const filled *f)
{
    return fabs(tet_volume(&f->out) / f->volume - 1.0);
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
        double off = 0.0;
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
            filled f;
            kiln_fill_options options = kiln_fill_default_options();
            kiln_status status = fill_damaged(kiln_validation_context(validation), shapes[s],
                                              &rows[r].how, s, &options, &f, error);
            off = fmax(off, volume_error(&f));
            free_filled(&f);
            KILN_TRY(status);
        }
        kiln_validation_report(validation, off, kiln_at_most(1e-5), "%s: volume, relative error",
                               rows[r].name);
    }
    return KILN_OK;
}

static const char *const enveloped[][2] = {{"ball", "radius=1 h=0.2"},
                                           {"box", "lx=2 ly=2 lz=1 n=5"},
                                           {"torus", "major=1 minor=0.4 h=0.2"}};
static const double envelope = 0.09;

/* Of many surfaces, the worst. */
typedef struct tally {
    size_t failed, wide;
    double whole;          /* from the surface before parts of it were missing */
    double near, spanning; /* from what is left of it: with small holes, and with others */
    double worst, off;
} tally;

static void add_filled(tally *t, const filled *f, double noise)
{
    const strayed far = farthest(f);
    t->whole = fmax(t->whole, far.whole / envelope);
    if (has_small_holes(f, noise)) {
        t->near = fmax(t->near, far.left / envelope);
    } else {
        t->spanning = fmax(t->spanning, far.left / hypot(widest_hole(f), envelope));
        t->wide++;
    }
    t->worst = fmin(t->worst, worst_quality(&f->out));
    t->off = fmax(t->off, volume_error(f));
}

static kiln_status fill_all(kiln_validation *validation, const damage *kinds, size_t kind_count,
                            uint64_t count, tally *t, kiln_error *error)
{
    *t = (tally){.worst = 1.0};
    for (uint64_t i = 0; i < count; i++) {
        filled f;
        kiln_error inner;
        kiln_fill_options options = kiln_fill_default_options();
        options.envelope = envelope;
        options.size = 0.3;
        kiln_status status =
            fill_damaged(kiln_validation_context(validation), enveloped[i / kind_count % 3],
                         &kinds[i % kind_count], i, &options, &f, &inner);
        t->failed += status != KILN_OK;
        if (status == KILN_OK)
            add_filled(t, &f, kinds[i % kind_count].noise);
        free_filled(&f);
        if (status == KILN_ERR_MEMORY) {
            *error = inner;
            return status;
        }
    }
    return KILN_OK;
}

static void report_tally(kiln_validation *validation, const tally *t)
{
    kiln_validation_report(validation, (double)t->failed, kiln_exactly(0),
                           "broken surfaces that are not filled");
    kiln_validation_report(validation, t->whole, kiln_at_most(1.0),
                           "farthest point of a boundary from its surface before it was broken, by "
                           "the envelope");
    if (t->near > 0.0)
        kiln_validation_report(
            validation, t->near, kiln_at_most(1.0),
            "holes of one triangle: farthest from what is left, by the envelope");
    if (t->wide)
        kiln_validation_report(validation, t->spanning, kiln_at_most(1.0),
                               "%zu with wider holes: farthest from what is left, by the hole and "
                               "the envelope across",
                               t->wide);
    kiln_validation_report(validation, t->worst, kiln_at_least(0.1), "worst quality of a tet");
    kiln_validation_report(validation, t->off, kiln_at_most(0.1), "volume, relative error");
}

/* All of the boundary must keep the distance, from what is left of the surface where holes are
 * narrower than that, and from where it was where they are wider. */
kiln_status kiln_validate_fill_envelope(kiln_validation *validation, kiln_error *error)
{
    static const damage kinds[] = {{.missing = 0.02},
                                   {.turned = 0.1, .missing = 0.01},
                                   {.again = 0.05, .beside = 0.03},
                                   {.noise = 0.01},
                                   {0.005, 0.01, 0.2, 0.05, 0.02, 0}};
    tally t;
    KILN_TRY(fill_all(validation, kinds, sizeof kinds / sizeof kinds[0],
                      kiln_validation_is_brief(validation) ? 10 : 200, &t, error));
    report_tally(validation, &t);
    return KILN_OK;
}

/* Everything round a corner is missing: holes of 2 to 5 envelopes across, also on edges. */
kiln_status kiln_validate_fill_holes(kiln_validation *validation, kiln_error *error)
{
    static const damage kinds[] = {{.around = 1}, {.around = 3}, {.around = 1, .noise = 0.01}};
    tally t;
    KILN_TRY(fill_all(validation, kinds, sizeof kinds / sizeof kinds[0],
                      kiln_validation_is_brief(validation) ? 9 : 45, &t, error));
    report_tally(validation, &t);
    return KILN_OK;
}
