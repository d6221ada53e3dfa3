/* What local operators do for a mesh that was made from sites. */
#include "remesh/domain_impl.h"

#include "remesh/improve.h"
#include "remesh/measured.h"
#include "remesh/volumes.h"

#include <string.h>

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

/* The new tets of each old matter in each new one, by their centres: [new][old] volume. */
static kiln_status find_origins(const kiln_domain *domain, const kiln_mesh *mesh,
                                const kiln_volumes *fresh, kiln_f64_array *came, kiln_error *error)
{
    const kiln_vec3 *x = kiln_mesh_positions(mesh, domain->options.space);
    size_t old = domain->volumes.count;
    KILN_TRY(kiln_array_reserve(domain->context, came, old * fresh->count, error));
    memset(came->data, 0, old * fresh->count * sizeof(double));
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        const uint32_t *v = mesh->tet[t].v;
        kiln_vec3 pair = kiln_v3_add(x[v[0]], x[v[1]]), other = kiln_v3_add(x[v[2]], x[v[3]]);
        uint32_t at = kiln_domain_locate(domain, kiln_v3_scale(kiln_v3_add(pair, other), 0.25));
        if (at == KILN_NONE || domain->mesh->info[at].region != mesh->info[t].region)
            continue;
        size_t row = 0;
        while (fresh->data[row].part != mesh->info[t].part ||
               fresh->data[row].region != mesh->info[t].region)
            row++;
        came->data[row * old + kiln_domain_matter(domain, at)] +=
            kiln_tet_volume_in(mesh, domain->options.space, t);
    }
    return KILN_OK;
}

/* What parts of the new mesh are to have: that of the old matter in them; what is in several is
 * shared out as it is. */
static void share_out(const kiln_domain *domain, const double *came, kiln_volumes *fresh)
{
    size_t old = domain->volumes.count;
    for (size_t i = 0; i < fresh->count; i++)
        fresh->data[i].volume = 0.0;
    for (size_t k = 0; k < old; k++) {
        double all = 0.0;
        for (size_t i = 0; i < fresh->count; i++)
            all += came[i * old + k];
        for (size_t i = 0; i < fresh->count && all > 0.0; i++)
            fresh->data[i].volume += domain->volumes.data[k].volume * came[i * old + k] / all;
    }
}

static kiln_status match(kiln_domain *domain, kiln_remesher *remesher, kiln_error *error)
{
    kiln_volumes fresh = {0};
    kiln_f64_array came = {0};
    kiln_status status = kiln_volumes_note(remesher->mesh, domain->options.space, &fresh, error);
    if (status == KILN_OK)
        status = find_origins(domain, remesher->mesh, &fresh, &came, error);
    if (status == KILN_OK) {
        share_out(domain, came.data, &fresh);
        double floor = fmin(domain->options.goal, domain->options.least);
        status = kiln_volumes_restore(remesher, &fresh, floor, error);
    }
    kiln_array_free(domain->context, &fresh);
    kiln_array_free(domain->context, &came);
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
