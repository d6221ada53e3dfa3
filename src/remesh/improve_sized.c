#include "remesh/improve_sized.h"
#include "remesh/surface.h"
#include "remesh/transfer.h"

/* One pass, in the metric of `sizing` if there is one. */
static kiln_status improve_once(kiln_mesh *mesh, const kiln_improve_request *request,
                                const kiln_sizing *sizing, kiln_improve_report *report,
                                kiln_error *error)
{
    kiln_remesher remesher;
    kiln_remesh_options remesh = request->remesh;
    kiln_improve_options options = request->improve;
    remesh.sizing = sizing;
    if (request->whole)
        options.goal = INFINITY;
    KILN_TRY(kiln_remesher_begin(mesh, &remesh, &remesher, error));
    kiln_status status = (request->whole ? kiln_improve_mesh : kiln_dynamic_improve)(
        &remesher, &options, report, error);
    if (status == KILN_OK)
        status = kiln_transfer(mesh, NULL, NULL, error);
    kiln_remesher_end(&remesher);
    return status;
}

/* Sizes, then the whole mesh if that is asked for. */
static kiln_status adapt_and_improve(kiln_mesh *mesh, const kiln_improve_request *request,
                                     const kiln_sizing *field, kiln_improve_report *report,
                                     kiln_adapt_report *adapted, kiln_error *error)
{
    kiln_adapt_options adapt = kiln_adapt_default_options();
    kiln_sizing *carried;
    adapt.remesh = request->remesh;
    adapt.improve = request->improve;
    if (request->whole) /* what comes afterwards goes beyond any goal */
        adapt.improve.goal = kiln_improve_default_options().goal;
    KILN_TRY(kiln_size_adapt(mesh, field, &adapt, adapted, error));
    *report = adapted->improve;
    if (!request->whole || report->stopped)
        return KILN_OK;
    KILN_TRY(kiln_sizing_carry(field, mesh, NULL, &carried, error));
    kiln_status status = improve_once(mesh, request, carried, report, error);
    kiln_sizing_destroy(carried);
    return status;
}

kiln_status kiln_improve_sized(kiln_mesh *mesh, const kiln_improve_request *request,
                               const kiln_sizing *field, kiln_improve_report *report,
                               kiln_adapt_report *adapted, kiln_error *error)
{
    struct kiln_surface *first;
    kiln_improve_request held = *request;
    *report = (kiln_improve_report){0};
    *adapted = (kiln_adapt_report){0};
    if (!field)
        return improve_once(mesh, request, NULL, report, error);
    KILN_TRY(kiln_surface_freeze(mesh, &request->remesh, &first, error));
    held.remesh.held = first;
    kiln_status status = adapt_and_improve(mesh, &held, field, report, adapted, error);
    kiln_surface_release(mesh->context, first);
    return status;
}
