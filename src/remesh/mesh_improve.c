/* Improvement as a user of the library asks for it (kiln/kiln.h). */
#include "mesh/reorder.h"
#include "remesh/shape_change.h"
#include "remesh/size_control_adapt.h"
#include "remesh/transfer.h"

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
    if (!(options->size >= 0.0 && isfinite(options->size)))
        return kiln_fail(error, KILN_ERR_INPUT, "size", 0, -1,
                         "must be a length, or 0 for none, got %g", options->size);
    if (options->measure > KILN_MEASURE_VOLUME_LENGTH || options->surface > KILN_SURFACE_SMOOTH)
        return kiln_fail(error, KILN_ERR_INPUT, "measure or surface", 0, -1, "there is no such");
    return KILN_OK;
}

/* What the drivers are asked, and the caller to tell. */
typedef struct request {
    const kiln_mesh_improve_options *wanted;
    kiln_remesh_options remesh;
    kiln_improve_options improve;
    bool stopped;
} request;

static bool tell(void *user, const kiln_improve_progress *progress)
{
    const kiln_mesh_improve_options *wanted = ((request *)user)->wanted;
    return !wanted->progress || wanted->progress(wanted->user, progress->tets, progress->worst);
}

static kiln_status improve(kiln_mesh *mesh, request *r, const kiln_sizing *sizing,
                           kiln_error *error)
{
    kiln_remesher remesher;
    kiln_improve_report report = {0};
    kiln_remesh_options remesh = r->remesh;
    kiln_improve_options options = r->improve;
    remesh.sizing = sizing;
    if (r->wanted->aggressive)
        options.goal = INFINITY;
    KILN_TRY(kiln_remesher_begin(mesh, &remesh, &remesher, error));
    kiln_status status = (r->wanted->aggressive ? kiln_improve_mesh : kiln_dynamic_improve)(
        &remesher, &options, &report, error);
    if (status == KILN_OK)
        status = kiln_transfer(mesh, NULL, NULL, error);
    kiln_remesher_end(&remesher);
    r->stopped = report.stopped;
    return status;
}

/* The mesh brought to the size, and repaired there; then the rest, which keeps to the size. */
static kiln_status improve_to(kiln_mesh *mesh, request *r, const kiln_sizing *field,
                              kiln_error *error)
{
    kiln_adapt_options adapt = kiln_adapt_default_options();
    kiln_adapt_report report;
    adapt.remesh = r->remesh;
    adapt.improve = r->improve;
    KILN_TRY(kiln_size_adapt(mesh, field, &adapt, &report, error));
    r->stopped = report.improve.stopped;
    if (!r->wanted->aggressive || r->stopped)
        return KILN_OK;
    kiln_sizing *carried;
    KILN_TRY(kiln_sizing_carry(field, mesh, NULL, &carried, error));
    kiln_status status = improve(mesh, r, carried, error);
    kiln_sizing_destroy(carried);
    return status;
}

static kiln_status improve_sized(kiln_mesh *mesh, request *r, kiln_error *error)
{
    const kiln_sizing_limits none = {0};
    kiln_sizing *field;
    if (r->wanted->size == 0.0)
        return improve(mesh, r, NULL, error);
    KILN_TRY(kiln_sizing_create(mesh, r->remesh.space, &field, error));
    kiln_status status = kiln_sizing_add_size(field, r->wanted->size, error);
    if (status == KILN_OK)
        status = kiln_sizing_finish(field, &none, error);
    if (status == KILN_OK)
        status = improve_to(mesh, r, field, error);
    kiln_sizing_destroy(field);
    return status;
}

typedef struct standing {
    size_t tets, below;
    double worst, mean;
} standing;

static standing take_standing(const kiln_mesh *mesh, const request *r)
{
    standing s = {.worst = INFINITY};
    const kiln_vec3 *p = kiln_mesh_positions(mesh, r->remesh.space);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        if (!kiln_tet_live(mesh, t))
            continue;
        double score = kiln_tet_measure(r->remesh.measure, &p[v[0]], &p[v[1]], &p[v[2]], &p[v[3]]);
        s.tets++;
        s.below += score < r->improve.goal;
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
    KILN_TRY(kiln_mesh_shape_take(mesh, r->remesh.space, &shape[0], error));
    KILN_TRY(improve_sized(mesh, r, error));
    KILN_TRY(kiln_mesh_compact(mesh, NULL, error));
    KILN_TRY(kiln_mesh_shape_take(mesh, r->remesh.space, &shape[1], error));
    KILN_TRY(kiln_shape_compare(mesh->context, &shape[0], &shape[1], &change, error));
    const standing after = take_standing(mesh, r);
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
    const kiln_mesh_improve_options usual = kiln_mesh_improve_default_options();
    request r = {.wanted = options ? options : &usual,
                 .remesh = kiln_remesh_default_options(),
                 .improve = kiln_improve_default_options()};
    KILN_TRY(check(r.wanted, error));
    r.remesh.measure = r.wanted->measure;
    r.remesh.surface = r.wanted->surface;
    r.improve.goal = r.wanted->goal;
    r.improve.progress = tell;
    r.improve.user = &r;
    if (!report) {
        KILN_TRY(improve_sized(mesh, &r, error));
        return kiln_mesh_compact(mesh, NULL, error);
    }
    kiln_mesh_shape shape[2] = {0};
    kiln_status status = improve_and_report(mesh, &r, shape, report, error);
    kiln_mesh_shape_free(mesh->context, &shape[0]);
    kiln_mesh_shape_free(mesh->context, &shape[1]);
    return status;
}
