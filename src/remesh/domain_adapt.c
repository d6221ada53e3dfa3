/* A new mesh where nothing becomes one: the old one brought to the sizes asked for and made good by
 * local operators. It keeps what Delaunay tets of sites have to find again: flat sides, features,
 * regions, narrow gaps and thin walls, at any place and in any position. */
#include "remesh/domain_impl.h"

#include "mesh/divide.h"
#include "mesh/reorder.h"
#include "remesh/improve_sized.h"
#include "remesh/measured.h"

/* Attempts for each tet: ten times what bodies take that are as thick as their edges are long.
 * Plates and needles whose size does not fit them have more bad tets than could be repaired. */
static const double EFFORT_A_TET = 400.0, LEAST_EFFORT = 4e6;

/* Sizes that edges may have where they are to be as before: the diagonals of cubes stay, which
 * would be split by the usual bound, and there would be a third more tets. */
static const double AS_BEFORE = 1.5;

/* Metric of the sizes at a point. */
static kiln_sym3 metric_at(void *user, kiln_vec3 p)
{
    const kiln_domain_options *options = user;
    double h = kiln_domain_limited(options, options->size_at(options->size_user, p));
    double m = 1.0 / (h * h);
    return (kiln_sym3){.xx = m, .yy = m, .zz = m};
}

/* Sizes of the old vertices, in the rows of the copy, which has no gaps. */
static kiln_status add_old_sizes(const kiln_domain *domain, kiln_sizing *field, kiln_error *error)
{
    const kiln_mesh *mesh = domain->mesh;
    kiln_f64_array values = {0};
    KILN_TRY(kiln_array_reserve(domain->context, &values, mesh->table[KILN_ON_VERTEX].live, error));
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(mesh, v))
            values.data[values.count++] =
                kiln_domain_limited(&domain->options, domain->local.data[v]);
    kiln_status status = kiln_sizing_add_values(field, values.data, values.count, 1, error);
    kiln_array_free(domain->context, &values);
    return status;
}

static kiln_status add_sizes(kiln_domain *domain, kiln_sizing *field, kiln_error *error)
{
    kiln_domain_options *options = &domain->options;
    if (options->size > 0.0)
        return kiln_sizing_add_size(field, kiln_domain_limited(options, options->size), error);
    if (options->size_at)
        return kiln_sizing_add_function(field, metric_at, options, false, error);
    return add_old_sizes(domain, field, error);
}

/* Sizes in all directions alike. */
static kiln_status make_field(kiln_domain *domain, const kiln_mesh *mesh, kiln_sizing **out,
                              kiln_error *error)
{
    kiln_sizing *field;
    KILN_TRY(kiln_sizing_create(mesh, domain->options.space, &field, error));
    kiln_status status = add_sizes(domain, field, error);
    if (status == KILN_OK)
        status = kiln_improve_finish_sizing(mesh, domain->options.space, field, KILN_IMPROVE_RATIO,
                                            error);
    if (status == KILN_OK)
        *out = field;
    else
        kiln_sizing_destroy(field);
    return status;
}

/* Sizes for thin bodies, where they are those of the old mesh or one for all; else NULL. */
static kiln_status make_thin_field(kiln_domain *domain, const kiln_mesh *mesh, kiln_sizing **out,
                                   kiln_error *error)
{
    const kiln_domain_options *options = &domain->options;
    const kiln_thin_request request = {options->thin,
                                       {.size = options->size, .layers = options->layers}};
    kiln_thin_report report = {0};
    bool plain = !options->size_at && !options->size_field && !(options->size_min > 0.0) &&
                 !(options->size_max > 0.0);
    if (plain)
        KILN_TRY(kiln_thin_field(mesh, options->space, &request, out, &report, error));
    domain->report.stretched = *out;
    domain->report.thickness = *out ? report.thickness : 0.0;
    return KILN_OK;
}

static kiln_status improve(kiln_domain *domain, kiln_mesh *mesh, const kiln_sizing *field,
                           double band, kiln_error *error)
{
    const kiln_domain_options *options = &domain->options;
    kiln_improve_request request = {.remesh = kiln_remesh_default_options(),
                                    .improve = kiln_improve_default_options()};
    kiln_improve_report report;
    kiln_adapt_report adapted;
    request.remesh.space = options->space;
    request.remesh.band = band;
    request.improve.goal = options->goal;
    request.stretched = domain->report.stretched;
    if (options->size == 0.0 && !options->size_at)
        request.longest = AS_BEFORE;
    double tets = fmax(kiln_sizing_tets(field), (double)domain->live.count);
    request.improve.effort = (uint64_t)fmax(EFFORT_A_TET * tets, LEAST_EFFORT);
    KILN_TRY(kiln_improve_sized(mesh, &request, field, &report, &adapted, error));
    domain->report.splits = adapted.splits;
    domain->report.contractions = adapted.contractions;
    domain->report.below_goal = report.bad_before;
    domain->report.left_below_goal = report.bad_after;
    return kiln_mesh_compact(mesh, NULL, error);
}

/* How good tets that are stretched are in their metric, before and after. */
static kiln_status adapt(kiln_domain *domain, kiln_mesh *mesh, const kiln_sizing *field,
                         double band, kiln_error *error)
{
    kiln_space space = domain->options.space;
    kiln_domain_report *report = &domain->report;
    kiln_metric_quality before, after;
    if (!report->stretched)
        return improve(domain, mesh, field, band, error);
    KILN_TRY(kiln_metric_quality_of(mesh, space, field, &before, error));
    KILN_TRY(improve(domain, mesh, field, band, error));
    KILN_TRY(kiln_metric_quality_of(mesh, space, field, &after, error));
    report->worst_before = before.worst, report->worst_after = after.worst;
    report->mean_before = before.mean, report->mean_after = after.mean;
    return KILN_OK;
}

static kiln_status adapt_within(kiln_domain *domain, double band, kiln_mesh **out,
                                kiln_error *error)
{
    kiln_mesh *mesh;
    kiln_sizing *field = NULL;
    kiln_domain_progress(domain, "adapting", 0.0);
    KILN_TRY(kiln_mesh_copy_bare(domain->mesh, &mesh, error));
    kiln_status status = make_thin_field(domain, mesh, &field, error);
    if (status == KILN_OK && !field)
        status = make_field(domain, mesh, &field, error);
    if (status == KILN_OK)
        status = adapt(domain, mesh, field, band, error);
    kiln_sizing_destroy(field);
    if (status == KILN_OK)
        *out = mesh;
    else
        kiln_mesh_destroy(mesh);
    return status;
}

/* Where few vertices make out what is curved, as the corners of a coarse arc do, all of them may go
 * within the band, and nothing is left to give back what chords took: then it is made again in that
 * part of the band. */
static const double TIGHT = 0.02, KEPT = 1e-5;

static double volume_off(const kiln_domain *domain, const kiln_mesh *mesh)
{
    kiln_space space = domain->options.space;
    return fabs(kiln_volume_in(mesh, space) / kiln_volume_in(domain->mesh, space) - 1.0);
}

kiln_status kiln_domain_adapt(kiln_domain *domain, kiln_mesh **out, kiln_error *error)
{
    kiln_mesh *wide, *tight;
    KILN_TRY(adapt_within(domain, 1.0, &wide, error));
    *out = wide;
    if (volume_off(domain, wide) <= KEPT)
        return KILN_OK;
    const kiln_domain_report first = domain->report;
    kiln_status status = adapt_within(domain, TIGHT, &tight, error);
    if (status != KILN_OK) {
        kiln_mesh_destroy(wide);
        return status;
    }
    bool better = volume_off(domain, tight) < volume_off(domain, wide) &&
                  domain->report.left_below_goal <= first.left_below_goal;
    *out = better ? tight : wide;
    kiln_mesh_destroy(better ? wide : tight);
    if (!better)
        domain->report = first;
    return KILN_OK;
}
