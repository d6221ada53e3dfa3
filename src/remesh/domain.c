#include "remesh/domain.h"

#include "base/clock.h"
#include "mesh/reorder.h"
#include "remesh/domain_impl.h"
#include "remesh/measured.h"
#include "remesh/remesher.h"
#include "remesh/transfer.h"

/* Where tets of sites cannot be made good, those of others mostly can. */
enum { SLIVER_ROUNDS = 30, ATTEMPTS = 3 };
/* In a cube of the size: 10 in the lattice, fewer where a surface cuts it off. */
static const double TETS_OF_SITES = 9.0;

kiln_domain_options kiln_domain_default_options(void)
{
    return (kiln_domain_options){.space = KILN_SPACE_WORLD,
                                 .feature_angle = 1.2,
                                 .rounds = 8,
                                 .goal = 0.3,
                                 .least = 0.25,
                                 .most_lost = 0.005,
                                 .most_gained = INFINITY,
                                 .most_bridged = 0.005};
}

/* Tets of sites in a cube of the size are fewer: sizes that ask for a number of them, as those of a
 * field do, are to be smaller. */
static void fit_sizes(kiln_domain *domain)
{
    double scale = cbrt(TETS_OF_SITES / KILN_DOMAIN_TETS_IN_CUBE);
    for (size_t v = 0; v < domain->local.count; v++)
        domain->local.data[v] *= scale;
}

/* From sites: what overlaps is one. */
static kiln_status join(kiln_domain *domain, kiln_mesh **out, kiln_error *error)
{
    fit_sizes(domain);
    kiln_domain_progress(domain, "placing sites", 0.0);
    KILN_TRY(kiln_domain_place_sites(domain, error));
    KILN_TRY(kiln_domain_relax(domain, error));
    KILN_TRY(kiln_domain_perturb(domain, SLIVER_ROUNDS, error));
    KILN_TRY(kiln_domain_conform(domain, error));
    kiln_domain_progress(domain, "choosing tets", 0.0);
    KILN_TRY(kiln_domain_extract(domain, error));
    KILN_TRY(kiln_domain_peel(domain, error));
    KILN_TRY(kiln_domain_fillet(domain, error));
    KILN_TRY(kiln_domain_mend(domain, error));
    kiln_domain_sweep(domain);
    kiln_domain_progress(domain, "building the mesh", 0.0);
    return kiln_domain_result(domain, out, error);
}

/* What came of the sites, made good and smooth, with the volume it is to have. */
static kiln_status refine(kiln_domain *domain, kiln_mesh *mesh, kiln_error *error)
{
    kiln_domain_progress(domain, "repairing", 0.0);
    KILN_TRY(kiln_domain_repair(domain, mesh, error));
    kiln_domain_progress(domain, "smoothing the seam", 0.0);
    KILN_TRY(kiln_domain_smooth_seam(domain, mesh, error));
    KILN_TRY(kiln_domain_match_volume(domain, mesh, error));
    return kiln_mesh_compact(mesh, NULL, error);
}

static kiln_status make(kiln_domain *domain, kiln_mesh **out, kiln_error *error)
{
    kiln_domain_progress(domain, "reading the outline", 0.0);
    KILN_TRY(kiln_domain_begin(domain, error));
    domain->report.joined = domain->joins;
    if (!domain->joins) {
        domain->report.volume_before = kiln_volume_in(domain->mesh, domain->options.space);
        return kiln_domain_adapt(domain, out, error);
    }
    KILN_TRY(join(domain, out, error));
    kiln_status status = refine(domain, *out, error);
    if (status != KILN_OK)
        kiln_mesh_destroy(*out);
    return status;
}

static kiln_status finish(kiln_domain *domain, kiln_mesh *mesh, kiln_error *error)
{
    kiln_space space = domain->options.space;
    kiln_domain_progress(domain, "carrying fields over", 0.0);
    double started = kiln_wall_seconds();
    KILN_TRY(
        kiln_transfer_between(domain->mesh, mesh, space, domain->options.transfer, NULL, error));
    domain->report.transfer_seconds = kiln_wall_seconds() - started;
    return KILN_OK;
}

static bool is_poor(const kiln_domain_options *options, const kiln_domain_report *report)
{
    return report->worst_after < fmin(report->worst_before, options->least);
}

static bool is_worse(kiln_domain *domain, const kiln_mesh *mesh)
{
    kiln_space space = domain->options.space;
    if (!domain->report.stretched) {
        domain->report.worst_before = kiln_worst_in(domain->mesh, space, KILN_MEASURE_QUALITY);
        domain->report.worst_after = kiln_worst_in(mesh, space, KILN_MEASURE_QUALITY);
    }
    domain->report.volume_after = kiln_volume_in(mesh, space);
    double gained = domain->report.volume_after / domain->report.volume_before - 1.0;
    return is_poor(&domain->options, &domain->report) || gained < -domain->options.most_lost ||
           gained > domain->options.most_gained;
}

static kiln_status remesh(kiln_domain *domain, kiln_mesh **out, kiln_error *error)
{
    kiln_mesh *mesh;
    KILN_TRY(make(domain, &mesh, error));
    bool worse = is_worse(domain, mesh);
    kiln_status status = worse ? KILN_OK : finish(domain, mesh, error);
    if (status == KILN_OK && !worse)
        *out = mesh;
    else
        kiln_mesh_destroy(mesh);
    return status;
}

/* Once, with sites thrown by this seed. */
static kiln_status attempt(const kiln_mesh *mesh, const kiln_domain_options *options, uint64_t seed,
                           kiln_mesh **out, kiln_domain_report *report, kiln_error *error)
{
    kiln_domain domain = {
        .context = mesh->context, .mesh = mesh, .options = *options, .seed = seed};
    domain.x = kiln_mesh_positions(mesh, options->space);
    kiln_status status = remesh(&domain, out, error);
    *report = domain.report;
    kiln_domain_end(&domain);
    return status;
}

kiln_status kiln_domain_remesh(const kiln_mesh *mesh, const kiln_domain_options *options,
                               kiln_mesh **out, kiln_domain_report *report, kiln_error *error)
{
    kiln_domain_report unused;
    report = report ? report : &unused;
    if (!(options->size >= 0.0) || !isfinite(options->size))
        return kiln_fail(error, KILN_ERR_INPUT, "size", 0, -1, "must be positive, got %g",
                         options->size);
    KILN_TRY(kiln_remesh_in_range(mesh, options->space, error));
    *out = NULL;
    kiln_status status = KILN_OK;
    bool again = true;
    for (uint64_t i = 0; i < ATTEMPTS && again && status == KILN_OK; i++) {
        status = attempt(mesh, options, mesh->context->seed + i, out, report, error);
        again = !*out && report->joined && is_poor(options, report);
    }
    return status;
}
