#include "remesh/size_control_adapt.h"

#include "geom/tet_quality.h"
#include "remesh/passes.h"
#include "remesh/transfer.h"

kiln_adapt_options kiln_adapt_default_options(void)
{
    return (kiln_adapt_options){.remesh = kiln_remesh_default_options(),
                                .size = kiln_size_default_options(),
                                .improve = kiln_improve_default_options(),
                                .step = 2.0,
                                .passes = 24,
                                .settling = 3};
}

/* Flips and smoothing of everything that is not good: cheap, and enough for the next pass to find
 * room for its splits. */
static kiln_status even_out(kiln_remesher *remesher, kiln_error *error)
{
    enum { ROUNDS = 2 };
    static const kiln_pass_limits flips = {.target = 0.4};
    static const kiln_pass_limits moves = {.target = 0.5, .enough = 0.5, .least = -INFINITY};
    kiln_u32_array set = {0};
    for (uint32_t t = 0; t < remesher->mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(remesher->mesh, t))
            kiln_set_add(remesher, &set, &t, 1);
    for (int round = 0; round < ROUNDS; round++) {
        kiln_flip_pass(remesher, &set, &flips);
        kiln_smooth_pass(remesher, &set, &moves);
    }
    kiln_array_free(remesher->context, &set);
    return remesher->workspace.failed ? kiln_fail_memory(error, 0) : KILN_OK;
}

static bool has_fields(const kiln_mesh *mesh)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        for (size_t i = 0; i < mesh->table[where].fields.count; i++)
            if (!mesh->table[where].fields.data[i].core)
                return true;
    return false;
}

/* Repairs what is below the goal, then transfers. */
static kiln_status close_pass(kiln_remesher *remesher, const kiln_adapt_options *options, bool last,
                              kiln_adapt_report *report, kiln_error *error)
{
    if (last) {
        KILN_TRY(kiln_dynamic_improve(remesher, &options->improve, &report->improve, error));
        kiln_size_survey(remesher, &options->size, &report->edges);
    }
    return has_fields(remesher->mesh) ? kiln_transfer(remesher->mesh, NULL, NULL, error) : KILN_OK;
}

static kiln_status run_pass(kiln_mesh *mesh, const kiln_sizing *sizing,
                            const kiln_adapt_options *options, bool *last,
                            kiln_adapt_report *report, kiln_error *error)
{
    kiln_remesher remesher;
    kiln_remesh_options remesh = options->remesh;
    kiln_size_report size;
    remesh.sizing = sizing;
    KILN_TRY(kiln_remesher_begin(mesh, &remesh, &remesher, error));
    kiln_status status = kiln_size_control(&remesher, &options->size, &size, error);
    if (status == KILN_OK)
        status = even_out(&remesher, error);
    if (status == KILN_OK) {
        size_t changes = size.splits + size.contractions;
        report->splits += size.splits;
        report->contractions += size.contractions;
        *last = *last || (report->arrived && (double)changes <= options->size.enough * size.edges);
        status = close_pass(&remesher, options, *last, report, error);
    }
    kiln_remesher_end(&remesher);
    return status;
}

/* A mesh of regular tets of edge 1 in the metric has V sqrt(det M) / 0.1179 of them. One that
 * cannot be numbered would be found out only after hours. */
static kiln_status affordable(const kiln_mesh *mesh, const kiln_sizing *field, kiln_space space,
                              kiln_error *error)
{
    static const double REGULAR = 0.11785113019775793;
    const kiln_vec3 *x = kiln_mesh_positions(mesh, space);
    double tets = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        const uint32_t *v = mesh->tet[t].v;
        double density = 0.0;
        for (int k = 0; k < 4; k++)
            density += 0.25 * sqrt(kiln_sym3_det(kiln_sizing_at_vertex(field, v[k])));
        tets += density * kiln_tet_volume(x[v[0]], x[v[1]], x[v[2]], x[v[3]]) / REGULAR;
    }
    return tets <= KILN_MAX_TETS ? KILN_OK
                                 : kiln_fail(error, KILN_ERR_LIMIT, "size", 0, -1,
                                             "too small: it would take about %.1e tets", tets);
}

/* Whether the caller wants the mesh as it has become. */
static bool asked_to_stop(const kiln_mesh *mesh, const kiln_adapt_options *options, uint32_t pass)
{
    kiln_improve_progress progress = {
        .stage = "sizes", .round = pass, .tets = mesh->table[KILN_ON_TET].live};
    return options->improve.progress &&
           !options->improve.progress(options->improve.user, &progress);
}

kiln_status kiln_size_adapt(kiln_mesh *mesh, const kiln_sizing *field,
                            const kiln_adapt_options *options, kiln_adapt_report *report,
                            kiln_error *error)
{
    kiln_adapt_options usual = kiln_adapt_default_options();
    kiln_adapt_report own;
    options = options ? options : &usual;
    report = report ? report : &own;
    *report = (kiln_adapt_report){0};
    uint32_t in_field = 0;
    KILN_TRY(affordable(mesh, field, options->remesh.space, error));
    for (bool last = false; !last;) {
        kiln_sizing *sizing;
        if (asked_to_stop(mesh, options, report->passes)) {
            report->improve.stopped = true;
            break;
        }
        last = ++report->passes >= options->passes;
        report->arrived = last;
        KILN_TRY(last ? kiln_sizing_carry(field, mesh, NULL, &sizing, error)
                      : kiln_sizing_approach(field, mesh, options->step, &sizing, &report->arrived,
                                             error));
        in_field += report->arrived;
        last = last || in_field >= options->settling;
        kiln_status status = run_pass(mesh, sizing, options, &last, report, error);
        kiln_sizing_destroy(sizing);
        KILN_TRY(status);
    }
    return KILN_OK;
}
