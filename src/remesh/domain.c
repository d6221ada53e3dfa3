#include "remesh/domain.h"

#include "remesh/domain_impl.h"

enum { SLIVER_ROUNDS = 30 };

kiln_domain_options kiln_domain_default_options(void)
{
    return (kiln_domain_options){.space = KILN_SPACE_WORLD, .rounds = 8};
}

static kiln_status remesh(kiln_domain *domain, kiln_mesh **out, kiln_error *error)
{
    kiln_domain_progress(domain, "reading the outline", 0.0);
    KILN_TRY(kiln_domain_begin(domain, error));
    kiln_domain_progress(domain, "placing sites", 0.0);
    KILN_TRY(kiln_domain_place_sites(domain, error));
    KILN_TRY(kiln_domain_relax(domain, error));
    KILN_TRY(kiln_domain_perturb(domain, SLIVER_ROUNDS, error));
    kiln_domain_progress(domain, "choosing tets", 0.0);
    KILN_TRY(kiln_domain_extract(domain, error));
    kiln_domain_peel(domain);
    KILN_TRY(kiln_domain_mend(domain, error));
    KILN_TRY(kiln_domain_match_volume(domain, error));
    kiln_domain_progress(domain, "building the mesh", 0.0);
    return kiln_domain_result(domain, out, error);
}

kiln_status kiln_domain_remesh(const kiln_mesh *mesh, const kiln_domain_options *options,
                               kiln_mesh **out, kiln_domain_report *report, kiln_error *error)
{
    kiln_domain domain = {.context = mesh->context, .mesh = mesh, .options = *options};
    if (!(options->size >= 0.0) || !isfinite(options->size))
        return kiln_fail(error, KILN_ERR_INPUT, "size", 0, -1, "must be positive, got %g",
                         options->size);
    domain.x = kiln_mesh_positions(mesh, options->space);
    kiln_status status = remesh(&domain, out, error);
    if (status == KILN_OK && report)
        *report = domain.report;
    kiln_domain_end(&domain);
    return status;
}
