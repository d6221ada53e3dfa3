/* Mesh improvement: what it must keep, on shapes with known volume, and what it must reach. */
#include "geom/tet_quality.h"
#include "measure/fixture.h"
#include "remesh/improve.h"
#include "remesh/shape_change.h"
#include "validation/validation.h"

#include <stdlib.h>

typedef struct subject {
    const char *shape, *settings;
    double jitter; /* m */
    bool flat;     /* its surface can be kept exactly */
} subject;

static int by_value(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

/* Qualities of the live tets, worst first. */
static kiln_status sorted_qualities(const kiln_mesh *mesh, kiln_f64_array *out, kiln_error *error)
{
    out->count = 0;
    KILN_TRY(kiln_array_reserve(mesh->context, out, mesh->table[KILN_ON_TET].live, error));
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        if (kiln_tet_live(mesh, t))
            out->data[out->count++] =
                kiln_tet_quality(&mesh->u[v[0]], &mesh->u[v[1]], &mesh->u[v[2]], &mesh->u[v[3]]);
    }
    qsort(out->data, out->count, sizeof *out->data, by_value);
    return KILN_OK;
}

/* Below zero where the first difference of the sorted lists is a loss. */
static double first_difference(const kiln_f64_array *before, const kiln_f64_array *after)
{
    for (size_t i = 0; i < before->count && i < after->count; i++)
        if (before->data[i] != after->data[i])
            return after->data[i] - before->data[i];
    return 0.0;
}

static kiln_status run(kiln_mesh *mesh, bool whole, kiln_error *error)
{
    kiln_remesh_options remesh = kiln_remesh_default_options();
    kiln_improve_options options = kiln_improve_default_options();
    kiln_improve_report report;
    kiln_remesher remesher;
    options.goal = whole ? INFINITY : 0.3;
    KILN_TRY(kiln_remesher_begin(mesh, &remesh, &remesher, error));
    kiln_status status =
        (whole ? kiln_improve_mesh : kiln_dynamic_improve)(&remesher, &options, &report, error);
    kiln_remesher_end(&remesher);
    return status;
}

typedef struct state {
    kiln_mesh_shape shape;
    kiln_f64_array quality;
    long double volume;
} state;

static kiln_status take(const kiln_mesh *mesh, state *out, kiln_error *error)
{
    out->volume = kiln_fixture_volume(mesh);
    KILN_TRY(kiln_mesh_shape_take(mesh, KILN_SPACE_MATERIAL, &out->shape, error));
    return sorted_qualities(mesh, &out->quality, error);
}

static void free_state(kiln_context *context, state *s)
{
    kiln_mesh_shape_free(context, &s->shape);
    kiln_array_free(context, &s->quality);
}

static kiln_status compare(kiln_validation *validation, const kiln_mesh *mesh, const subject *s,
                           const char *mode, const state *before, const state *after,
                           kiln_error *error)
{
    kiln_shape_change change;
    KILN_TRY(kiln_shape_compare(mesh->context, &before->shape, &after->shape, &change, error));
    double gain = first_difference(&before->quality, &after->quality);
    kiln_validation_report(validation, gain, kiln_at_least(0.0),
                           "%s, %s: first difference in the sorted qualities", s->shape, mode);
    kiln_validation_report(validation, (double)kiln_fixture_non_positive(mesh), kiln_exactly(0),
                           "%s, %s: tets that are not positive", s->shape, mode);
    if (s->flat) {
        double volume = (double)((after->volume - before->volume) / before->volume);
        kiln_validation_report(validation, volume, kiln_near(0, 1e-12),
                               "%s, %s: relative change of volume", s->shape, mode);
        kiln_validation_report(validation, change.hausdorff / change.size, kiln_at_most(1e-14),
                               "%s, %s: surface moved, of the size", s->shape, mode);
    } else {
        kiln_validation_report(validation, change.of_band, kiln_at_most(1),
                               "%s, %s: surface moved, of max(0.1 %% of the size, 5 %% of "
                               "the local edge)",
                               s->shape, mode);
    }
    return KILN_OK;
}

static kiln_status improve_once(kiln_validation *validation, const subject *s, bool whole,
                                kiln_error *error)
{
    kiln_context *context = kiln_validation_context(validation);
    const char *mode = whole ? "aggressive" : "goal 0.3";
    state before = {0}, after = {0};
    kiln_mesh *mesh;
    KILN_TRY(kiln_fixture_mesh(context, s->shape, s->settings, s->jitter, &mesh, error));
    kiln_status status = take(mesh, &before, error);
    if (status == KILN_OK)
        status = run(mesh, whole, error);
    if (status == KILN_OK)
        status = take(mesh, &after, error);
    if (status == KILN_OK)
        status = compare(validation, mesh, s, mode, &before, &after, error);
    if (status == KILN_OK)
        kiln_validation_report(validation, after.quality.data[0], kiln_at_least(whole ? 0.55 : 0.3),
                               "%s, %s: worst quality (from %.3g)", s->shape, mode,
                               before.quality.data[0]);
    free_state(context, &before);
    free_state(context, &after);
    kiln_mesh_destroy(mesh);
    return status;
}

kiln_status kiln_validate_improve(kiln_validation *validation, kiln_error *error)
{
    static const subject subjects[] = {{"box", "n=8", 0.05, true},
                                       {"ball", "h=0.25", 0.06, false},
                                       {"cylinder", "h=0.15", 0.04, false},
                                       {"torus", "", 0.04, false}};
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        KILN_TRY(improve_once(validation, &subjects[i], false, error));
        KILN_TRY(improve_once(validation, &subjects[i], true, error));
    }
    return KILN_OK;
}
