/* What local operators do for a mesh that was made from sites. */
#include "remesh/domain_impl.h"

#include "remesh/improve.h"
#include "remesh/measured.h"
#include "remesh/volumes.h"

static const double MATCHED = 1e-9; /* of the volume: near enough */
enum { MOST_MATCHES = 4 };

typedef kiln_status (*worker)(kiln_domain *domain, kiln_remesher *remesher, kiln_error *error);

static kiln_status in_a_pass(kiln_domain *domain, kiln_mesh *mesh, worker work, kiln_error *error)
{
    kiln_remesh_options how = kiln_remesh_default_options();
    kiln_remesher remesher;
    how.space = domain->options.space;
    KILN_TRY(kiln_remesher_begin(mesh, &how, &remesher, error));
    kiln_status status = work(domain, &remesher, error);
    kiln_remesher_end(&remesher);
    return status;
}

static kiln_status improve(kiln_domain *domain, kiln_remesher *remesher, kiln_error *error)
{
    kiln_improve_options options = kiln_improve_default_options();
    kiln_improve_report report;
    options.goal = domain->options.goal;
    KILN_TRY(kiln_dynamic_improve(remesher, &options, &report, error));
    domain->report.below_goal += report.bad_before;
    domain->report.left_below_goal = report.bad_after;
    return KILN_OK;
}

kiln_status kiln_domain_repair(kiln_domain *domain, kiln_mesh *mesh, kiln_error *error)
{
    return domain->options.goal > 0.0 ? in_a_pass(domain, mesh, improve, error) : KILN_OK;
}

/* Of a region in all parts. */
static double volume_of(const kiln_volumes *volumes, int32_t region)
{
    double sum = 0.0;
    for (size_t i = 0; i < volumes->count; i++)
        sum += volumes->data[i].region == region ? volumes->data[i].volume : 0.0;
    return sum;
}

/* What parts of the new mesh are to have: together what the region had. */
static void share_out(const kiln_domain *domain, kiln_volumes *fresh)
{
    for (size_t i = 0; i < domain->volumes.count; i++) {
        int32_t region = domain->volumes.data[i].region;
        double is = volume_of(fresh, region);
        for (size_t k = 0; k < fresh->count && is > 0.0; k++)
            if (fresh->data[k].region == region)
                fresh->data[k].volume *= domain->volumes.data[i].volume / is;
    }
}

static kiln_status match(kiln_domain *domain, kiln_remesher *remesher, kiln_error *error)
{
    kiln_volumes fresh = {0};
    kiln_status status = kiln_volumes_note(remesher->mesh, domain->options.space, &fresh, error);
    if (status == KILN_OK) {
        share_out(domain, &fresh);
        double floor = fmin(domain->options.goal, domain->options.least);
        status = kiln_volumes_restore(remesher, &fresh, floor, error);
    }
    kiln_array_free(domain->context, &fresh);
    return status;
}

/* Tets that fall below the goal on the way are repaired in between. */
kiln_status kiln_domain_match_volume(kiln_domain *domain, kiln_mesh *mesh, kiln_error *error)
{
    double wanted = domain->report.volume_before;
    for (int round = 0; round < MOST_MATCHES; round++) {
        KILN_TRY(in_a_pass(domain, mesh, match, error));
        KILN_TRY(kiln_domain_repair(domain, mesh, error));
        if (fabs(kiln_volume_in(mesh, domain->options.space) - wanted) < MATCHED * wanted)
            break;
    }
    return KILN_OK;
}
