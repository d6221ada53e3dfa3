/* Improvement as a user of the library asks for it (kiln/kiln.h). */
#include "base/schema.h"
#include "mesh/reorder.h"
#include "remesh/improve_sized.h"
#include "remesh/shape_change.h"

kiln_mesh_improve_options kiln_mesh_improve_default_options(void)
{
    const kiln_remesh_options remesh = kiln_remesh_default_options();
    return (kiln_mesh_improve_options){.goal = kiln_improve_default_options().goal,
                                       .measure = remesh.measure,
                                       .surface = remesh.surface};
}

static kiln_status check(const kiln_mesh_improve_options *options, kiln_error *error)
{
    if (!(options->goal > 0.0 && options->goal < 1.0))
        return kiln_fail(error, KILN_ERR_INPUT, "goal", 0, -1,
                         "must be above 0 and below 1, got %g", options->goal);
    if (options->size != 0.0 && !(options->size >= KILN_SMALLEST && options->size <= KILN_LARGEST))
        return kiln_fail(error, KILN_ERR_INPUT, "size", 0, -1,
                         "must be a length from %g to %g m, or 0 for none, got %g", KILN_SMALLEST,
                         KILN_LARGEST, options->size);
    if (options->measure > KILN_MEASURE_VOLUME_LENGTH || options->surface > KILN_SURFACE_SMOOTH)
        return kiln_fail(error, KILN_ERR_INPUT, "measure or surface", 0, -1, "there is no such");
    return KILN_OK;
}

/* What the drivers are asked, and the caller to tell. */
typedef struct request {
    const kiln_mesh_improve_options *wanted;
    kiln_improve_request asked;
    bool stopped;
} request;

static bool tell(void *user, const kiln_improve_progress *progress)
{
    const kiln_mesh_improve_options *wanted = ((request *)user)->wanted;
    return !wanted->progress || wanted->progress(wanted->user, progress->tets, progress->worst);
}

static kiln_status make_field(const kiln_mesh *mesh, const request *r, kiln_sizing **out,
                              kiln_error *error)
{
    kiln_sizing *field;
    KILN_TRY(kiln_sizing_create(mesh, r->asked.remesh.space, &field, error));
    kiln_status status = kiln_sizing_add_size(field, r->wanted->size, error);
    if (status == KILN_OK)
        status = kiln_improve_finish_sizing(mesh, r->asked.remesh.space, field, KILN_IMPROVE_RATIO,
                                            error);
    if (status == KILN_OK)
        *out = field;
    else
        kiln_sizing_destroy(field);
    return status;
}

static kiln_status improve(kiln_mesh *mesh, request *r, kiln_error *error)
{
    kiln_sizing *field = NULL;
    kiln_improve_report report;
    kiln_adapt_report adapted;
    if (r->wanted->size > 0.0)
        KILN_TRY(make_field(mesh, r, &field, error));
    kiln_status status = kiln_improve_sized(mesh, &r->asked, field, &report, &adapted, error);
    kiln_sizing_destroy(field);
    r->stopped = report.stopped;
    return status == KILN_OK ? kiln_mesh_compact(mesh, NULL, error) : status;
}

typedef struct standing {
    size_t tets, below;
    double worst, mean;
} standing;

static standing take_standing(const kiln_mesh *mesh, const request *r)
{
    standing s = {.worst = INFINITY};
    const kiln_vec3 *p = kiln_mesh_positions(mesh, r->asked.remesh.space);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        if (!kiln_tet_live(mesh, t))
            continue;
        double score =
            kiln_tet_measure(r->asked.remesh.measure, &p[v[0]], &p[v[1]], &p[v[2]], &p[v[3]]);
        s.tets++;
        s.below += score < r->asked.improve.goal;
        s.mean += score;
        s.worst = fmin(s.worst, score);
    }
    s.mean /= (double)s.tets;
    return s;
}

static kiln_status improve_and_report(kiln_mesh *mesh, request *r, kiln_mesh_shape shape[2],
                                      kiln_mesh_improve_report *report, kiln_error *error)
{
    kiln_shape_change change;
    const standing before = take_standing(mesh, r);
    KILN_TRY(kiln_mesh_shape_take(mesh, r->asked.remesh.space, &shape[0], error));
    KILN_TRY(improve(mesh, r, error));
    KILN_TRY(kiln_mesh_shape_take(mesh, r->asked.remesh.space, &shape[1], error));
    KILN_TRY(kiln_shape_compare(mesh->context, &shape[0], &shape[1], &change, error));
    const standing after = take_standing(mesh, r);
    if (change.of_band > 1.0)
        kiln_log(mesh->context, KILN_LOG_WARNING,
                 "the surface moved by %.3g times its band, %.3g m", change.of_band,
                 change.hausdorff);
    *report = (kiln_mesh_improve_report){.tets_before = before.tets,
                                         .tets_after = after.tets,
                                         .below_goal = after.below,
                                         .worst_before = before.worst,
                                         .worst_after = after.worst,
                                         .mean_before = before.mean,
                                         .mean_after = after.mean,
                                         .hausdorff = change.hausdorff,
                                         .of_band = change.of_band,
                                         .volume_change = change.volume,
                                         .stopped = r->stopped};
    return KILN_OK;
}

kiln_status kiln_mesh_improve(kiln_mesh *mesh, const kiln_mesh_improve_options *options,
                              kiln_mesh_improve_report *report, kiln_error *error)
{
    KILN_TRY(kiln_need(mesh, "mesh", error));
    const kiln_mesh_improve_options usual = kiln_mesh_improve_default_options();
    request r = {.wanted = options ? options : &usual,
                 .asked = {.remesh = kiln_remesh_default_options(),
                           .improve = kiln_improve_default_options()}};
    KILN_TRY(check(r.wanted, error));
    r.asked.remesh.measure = r.wanted->measure;
    r.asked.remesh.surface = r.wanted->surface;
    r.asked.improve.goal = r.wanted->goal;
    r.asked.improve.progress = tell;
    r.asked.improve.user = &r;
    r.asked.whole = r.wanted->aggressive;
    if (!report)
        return improve(mesh, &r, error);
    kiln_mesh_shape shape[2] = {0};
    kiln_status status = improve_and_report(mesh, &r, shape, report, error);
    kiln_mesh_shape_free(mesh->context, &shape[0]);
    kiln_mesh_shape_free(mesh->context, &shape[1]);
    return status;
}
