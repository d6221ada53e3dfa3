/* What local operators do for a mesh that was made from sites. */
#include "remesh/domain_impl.h"

#include "remesh/improve.h"
#include "remesh/volumes.h"

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

/* What parts of the new mesh are to have: together what the region had, less its share of what
 * covered each other. */
static void share_out(const kiln_domain *domain, const kiln_volumes *old, kiln_volumes *fresh)
{
    double all = 0.0;
    for (size_t i = 0; i < old->count; i++)
        all += old->data[i].volume;
    double once = domain->report.volume_before / all;
    kiln_volumes now = {.data = fresh->data, .count = fresh->count};
    for (size_t i = 0; i < fresh->count; i++) {
        bool first = true;
        for (size_t k = 0; k < i; k++)
            first &= fresh->data[k].region != fresh->data[i].region;
        if (!first)
            continue;
        int32_t region = fresh->data[i].region;
        double is = volume_of(&now, region), was = volume_of(old, region);
        for (size_t k = i; k < fresh->count && is > 0.0; k++)
            if (fresh->data[k].region == region)
                fresh->data[k].volume *= once * was / is;
    }
}

static kiln_status match(kiln_domain *domain, kiln_remesher *remesher, kiln_error *error)
{
    kiln_volumes old = {0}, fresh = {0};
    kiln_space space = domain->options.space;
    kiln_status status = kiln_volumes_note(domain->mesh, space, &old, error);
    if (status == KILN_OK)
        status = kiln_volumes_note(remesher->mesh, space, &fresh, error);
    if (status == KILN_OK) {
        share_out(domain, &old, &fresh);
        status = kiln_volumes_restore(remesher, &fresh, domain->options.goal, error);
    }
    kiln_array_free(domain->context, &old);
    kiln_array_free(domain->context, &fresh);
    return status;
}

kiln_status kiln_domain_match_volume(kiln_domain *domain, kiln_mesh *mesh, kiln_error *error)
{
    return in_a_pass(domain, mesh, match, error);
}
