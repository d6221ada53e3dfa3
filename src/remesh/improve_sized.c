#include "remesh/improve_sized.h"

#include "geom/box.h"
#include "geom/tet_quality.h"
#include "mesh/reorder.h"
#include "remesh/facets.h"
#include "remesh/measured.h"
#include "remesh/surface.h"
#include "remesh/transfer.h"
#include "remesh/volumes.h"

kiln_status kiln_improve_finish_sizing(const kiln_mesh *mesh, kiln_space space, kiln_sizing *field,
                                       double ratio, kiln_error *error)
{
    const kiln_sizing_limits limits = {.ratio = ratio};
    const kiln_vec3 *points = kiln_mesh_positions(mesh, space);
    kiln_box box = kiln_box_empty();
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(mesh, v))
            box = kiln_box_grow(box, points[v]);
    kiln_vec3 side = kiln_v3_sub(box.high, box.low);
    double size = fmax(side.x, fmax(side.y, side.z));
    const kiln_chord_sizing chords = {KILN_BAND_OF_SIZE * size, KILN_BAND_OF_EDGE, size};
    KILN_TRY(kiln_sizing_add_chords(field, &chords, error));
    return kiln_sizing_finish(field, &limits, error);
}

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

/* Sines gain a little for a very long time; as many attempts as q needed are enough. */
enum { OTHER_EFFORT = 1 };

/* The whole mesh by q, as what another measure begins with; nothing where that one would lose. */
static kiln_status improve_by_q(kiln_mesh *mesh, const kiln_improve_request *request,
                                kiln_improve_report *report, uint64_t *effort, kiln_error *error)
{
    kiln_remesher remesher;
    kiln_remesh_options remesh = request->remesh;
    kiln_improve_options options = request->improve;
    const double before = kiln_worst_in(mesh, remesh.space, remesh.measure);
    remesh.measure = KILN_MEASURE_QUALITY;
    options.goal = INFINITY;
    KILN_TRY(kiln_remesher_begin(mesh, &remesh, &remesher, error));
    kiln_status status = kiln_improve_mesh(&remesher, &options, report, error);
    *effort = kiln_remesher_effort(&remesher);
    if (status == KILN_OK && kiln_worst_in(mesh, remesh.space, request->remesh.measure) < before) {
        kiln_remesher_abandon(&remesher);
        return KILN_OK;
    }
    if (status == KILN_OK)
        status = kiln_transfer(mesh, NULL, NULL, error);
    kiln_remesher_end(&remesher);
    return status;
}

/* A measure that is less smooth than q, or sees less, gets stuck where q does not: the end of the
 * one is the begin of the other, and every measure does best by itself. */
static kiln_status improve_by_other(kiln_mesh *mesh, const kiln_improve_request *request,
                                    kiln_improve_report *report, kiln_error *error)
{
    kiln_improve_report first;
    kiln_improve_request second = *request;
    KILN_TRY(improve_by_q(mesh, request, &first, &second.improve.effort, error));
    second.improve.effort *= OTHER_EFFORT;
    KILN_TRY(improve_once(mesh, &second, NULL, report, error));
    report->tets_before = first.tets_before;
    report->stopped |= first.stopped;
    for (int k = 0; k < KILN_OP_COUNT; k++) {
        report->count[k].attempts += first.count[k].attempts;
        report->count[k].successes += first.count[k].successes;
    }
    return KILN_OK;
}

static void add_report(kiln_improve_report *sum, const kiln_improve_report *next)
{
    kiln_improve_report all = *next;
    all.effort += sum->effort;
    all.tets_before = sum->tets_before;
    all.worst_before = sum->worst_before;
    all.mean_before = sum->mean_before;
    all.bad_before = sum->bad_before;
    all.short_before = sum->short_before;
    all.changed = sum->changed > next->changed ? sum->changed : next->changed;
    for (int k = 0; k < KILN_OP_COUNT; k++) {
        all.count[k].attempts += sum->count[k].attempts;
        all.count[k].successes += sum->count[k].successes;
    }
    *sum = all;
}

/* Tets in other rows are looked at in another order, and where the worst is low that may find what
 * the first order did not: so the whole is done again until that is in vain. Not where many tets
 * are about as bad as the worst, as those of a plate are, whose thickness caps them all. */
enum { MOST_ORDERS = 4 };
static const double LOW = 0.5, GAIN_OF_ORDER = 0.005, LIKE_WORST = 0.02, MANY = 0.02;

/* For the mean: gains of an order, part of the attempts, and a mean below which no order helps:
 * that of thin bodies, whose thickness caps their tets. */
static const double GAIN_OF_MEAN = 1e-3, EFFORT_FOR_MEAN = 0.33, MEAN_OF_THIN = 0.7;

static bool is_held_by_few(const kiln_mesh *mesh, kiln_space space, double worst)
{
    const kiln_vec3 *p = kiln_mesh_positions(mesh, space);
    size_t count = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        count += kiln_tet_live(mesh, t) &&
                 kiln_tet_quality(&p[v[0]], &p[v[1]], &p[v[2]], &p[v[3]]) < worst + LIKE_WORST;
    }
    return worst < LOW && (double)count <= MANY * mesh->table[KILN_ON_TET].live;
}

/* `held`: the same request, held to the surface there was at first. */
static kiln_status improve_in_orders(kiln_mesh *mesh, const kiln_improve_request *request,
                                     const kiln_improve_request *held, kiln_improve_report *report,
                                     kiln_error *error)
{
    KILN_TRY(improve_once(mesh, request, NULL, report, error));
    double before = -INFINITY;
    for (int i = 1;
         i < MOST_ORDERS && !report->stopped && report->worst_after > before + GAIN_OF_ORDER &&
         is_held_by_few(mesh, request->remesh.space, report->worst_after);
         i++) {
        kiln_improve_report next;
        before = report->worst_after;
        KILN_TRY(kiln_mesh_compact(mesh, NULL, error));
        KILN_TRY(improve_once(mesh, held, NULL, &next, error));
        add_report(report, &next);
    }
    return KILN_OK;
}

/* One more run in another order, taken back where the mean falls. Whether it gained. */
static kiln_status try_order(kiln_mesh *mesh, const kiln_improve_request *held, uint64_t effort,
                             kiln_improve_report *report, bool *gained, kiln_error *error)
{
    kiln_improve_report next;
    kiln_remesher remesher;
    kiln_remesh_options remesh = held->remesh;
    kiln_improve_options options = held->improve;
    options.effort = effort;
    options.goal = INFINITY;
    KILN_TRY(kiln_mesh_compact(mesh, NULL, error));
    KILN_TRY(kiln_remesher_begin(mesh, &remesh, &remesher, error));
    kiln_status status = kiln_improve_mesh(&remesher, &options, &next, error);
    const double gain = next.mean_after - next.mean_before;
    *gained = status == KILN_OK && gain > GAIN_OF_MEAN;
    if (status == KILN_OK && gain < 0.0) {
        report->effort += next.effort;
        report->stopped |= next.stopped;
        kiln_remesher_abandon(&remesher);
        return KILN_OK;
    }
    if (status == KILN_OK)
        status = kiln_transfer(mesh, NULL, NULL, error);
    add_report(report, &next);
    kiln_remesher_end(&remesher);
    return status;
}

/* What the mean gains by another order is less with each. It is looked for while it is there and
 * all that takes no more than so much of the attempts that came before. */
static kiln_status raise_mean_in_orders(kiln_mesh *mesh, const kiln_improve_request *held,
                                        kiln_improve_report *report, kiln_error *error)
{
    const uint64_t end = (uint64_t)((1.0 + EFFORT_FOR_MEAN) * (double)report->effort);
    uint64_t took = 0;
    bool gained = report->mean_after > MEAN_OF_THIN;
    while (gained && !report->stopped && report->effort + took < end) {
        const uint64_t begin = report->effort;
        KILN_TRY(try_order(mesh, held, end - begin, report, &gained, error));
        took = report->effort - begin;
    }
    return KILN_OK;
}

/* A mesh at rest has had its surface's band: only by moving that once more would it gain, and so it
 * would again with each run. */
static kiln_status find_rest(kiln_mesh *mesh, const kiln_improve_request *request,
                             kiln_improve_report *report, kiln_error *error)
{
    kiln_remesher remesher;
    kiln_remesh_options remesh = request->remesh;
    kiln_improve_options options = request->improve;
    remesh.surface = KILN_SURFACE_KEEP;
    options.goal = INFINITY;
    KILN_TRY(kiln_remesher_begin(mesh, &remesh, &remesher, error));
    kiln_improve_report_begin(&remesher, &options, report);
    kiln_status status = kiln_improve_report_end(&remesher, &options, report, error);
    report->rests = status == KILN_OK && kiln_improve_rests(&remesher, &options);
    if (remesher.workspace.failed)
        status = kiln_fail_memory(error, 0);
    kiln_remesher_abandon(&remesher);
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
    if (request->longest > 0.0)
        adapt.size.longest = request->longest;
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

/* Many passes in a row, each within its band, must not make a body lose or gain. */
static kiln_status give_back_in(kiln_mesh *mesh, const kiln_improve_request *request,
                                const kiln_sizing *sizing, const kiln_volumes *noted,
                                kiln_error *error)
{
    kiln_remesher remesher;
    kiln_remesh_options remesh = request->remesh;
    remesh.sizing = sizing;
    KILN_TRY(kiln_remesher_begin(mesh, &remesh, &remesher, error));
    double floor = request->whole ? INFINITY : request->improve.goal;
    kiln_status status = kiln_volumes_restore(&remesher, noted, floor, error);
    if (status == KILN_OK)
        status = kiln_transfer(mesh, NULL, NULL, error);
    kiln_remesher_end(&remesher);
    return status;
}

static kiln_status give_back(kiln_mesh *mesh, const kiln_improve_request *request,
                             const kiln_sizing *field, const kiln_volumes *noted, kiln_error *error)
{
    kiln_sizing *carried = NULL;
    if (request->stretched)
        KILN_TRY(kiln_sizing_carry(field, mesh, NULL, &carried, error));
    kiln_status status = give_back_in(mesh, request, carried, noted, error);
    kiln_sizing_destroy(carried);
    return status;
}

static kiln_status improve_held(kiln_mesh *mesh, const kiln_improve_request *request,
                                const kiln_sizing *field, kiln_improve_report *report,
                                kiln_adapt_report *adapted, kiln_error *error)
{
    kiln_volumes noted = {0};
    kiln_status status = kiln_volumes_note(mesh, request->remesh.space, &noted, error);
    if (status == KILN_OK)
        status = adapt_and_improve(mesh, request, field, report, adapted, error);
    if (status == KILN_OK && !report->stopped)
        status = give_back(mesh, request, field, &noted, error);
    kiln_array_free(mesh->context, &noted);
    return status;
}

static kiln_status improve_for_both(kiln_mesh *mesh, const kiln_improve_request *request,
                                    const kiln_improve_request *held, kiln_improve_report *report,
                                    kiln_error *error)
{
    kiln_volumes noted = {0};
    kiln_status status = kiln_volumes_note(mesh, request->remesh.space, &noted, error);
    if (status == KILN_OK)
        status = improve_in_orders(mesh, request, held, report, error);
    if (status == KILN_OK)
        status = raise_mean_in_orders(mesh, held, report, error);
    if (status == KILN_OK && !report->stopped)
        status = give_back_in(mesh, held, NULL, &noted, error);
    kiln_array_free(mesh->context, &noted);
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
    KILN_TRY(
        kiln_mark_facets(mesh, request->ridge_angle > 0.0 ? request->ridge_angle : KILN_PI, error));
    const bool other = request->whole && request->remesh.measure != KILN_MEASURE_QUALITY;
    if (request->whole && !field && !other && !request->move_again)
        KILN_TRY(find_rest(mesh, request, report, error));
    if (report->rests)
        return KILN_OK;
    const bool once =
        field ? request->keep_sizes : !request->whole || (!other && request->remesh.held);
    if (once && (!field || request->remesh.held))
        return improve_once(mesh, request, field, report, error);
    KILN_TRY(kiln_surface_freeze(mesh, &request->remesh, &first, error));
    if (!held.remesh.held)
        held.remesh.held = first;
    kiln_status status;
    if (once) /* where longer edges are asked for a pass has a wider band */
        status = improve_once(mesh, &held, field, report, error);
    else if (field)
        status = improve_held(mesh, &held, field, report, adapted, error);
    else if (other)
        status = improve_by_other(mesh, &held, report, error);
    else
        status = improve_for_both(mesh, request, &held, report, error);
    kiln_surface_release(mesh->context, first);
    return status;
}
