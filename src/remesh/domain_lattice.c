/* Sites inside: a body-centred cubic lattice, whose Delaunay tets are nearly regular (q 0.95),
 * refined where the sizes ask for it. The coarser lattice is part of the finer one, so that points
 * of two levels are never closer than those of the finer. */
#include "remesh/domain_impl.h"

static const double CELL = 1.1;       /* side of the cell whose mean edge is 1 */
static const double COARSER = 1.4142; /* a cell is halved above this times the side wanted */
static const double CLEARANCE = 0.55; /* of the size, from sheets */
static const double MOST_CELLS = 1e9;
enum { DEEPEST = 24 };

static kiln_status add_point(kiln_domain *domain, kiln_vec3 p, double size, kiln_error *error)
{
    kiln_vec3 nearest;
    if (kiln_domain_locate(domain, p) == KILN_NONE ||
        kiln_domain_closest(domain, p, CLEARANCE * size, &nearest) != KILN_BVH_NONE)
        return KILN_OK;
    kiln_site site = {
        .x = p, .size = size, .vertex = KILN_NONE, .part = KILN_NONE, .kind = KILN_SITE_INSIDE};
    domain->report.inside_sites++;
    return kiln_array_push(domain->context, &domain->sites, site, error);
}

static bool touch(void *user, uint32_t item)
{
    (void)item;
    *(bool *)user = true;
    return false;
}

static kiln_status fill_cell(kiln_domain *domain, kiln_vec3 low, double side, int depth,
                             kiln_error *error)
{
    kiln_vec3 high = kiln_v3_add(low, kiln_v3(side, side, side));
    bool touches = false;
    kiln_bvh_query_box(&domain->tets, (kiln_box){low, high}, touch, &touches);
    if (!touches)
        return KILN_OK;
    kiln_vec3 centre = kiln_v3_lerp(low, high, 0.5);
    double size;
    KILN_TRY(kiln_domain_size(domain, centre, &size, error));
    if (side <= COARSER * CELL * size || depth == DEEPEST) {
        KILN_TRY(add_point(domain, low, size, error));
        return add_point(domain, centre, size, error);
    }
    double half = 0.5 * side;
    for (int k = 0; k < 8; k++) {
        kiln_vec3 corner = kiln_v3((k & 1) * half, (k >> 1 & 1) * half, (k >> 2 & 1) * half);
        KILN_TRY(fill_cell(domain, kiln_v3_add(low, corner), half, depth + 1, error));
    }
    return KILN_OK;
}

/* The side of the root cells: a power of two times the one wanted for the smallest size, so that a
 * uniform size is met exactly. */
static double root_side(const kiln_domain *domain, double *least)
{
    double most = 0.0;
    *least = INFINITY;
    for (size_t i = 0; i < domain->sites.count; i++) {
        double size = domain->sites.data[i].size;
        *least = size < *least ? size : *least;
        most = size > most ? size : most;
    }
    double side = CELL * *least;
    while (side < CELL * most)
        side *= 2.0;
    return side;
}

kiln_status kiln_domain_fill_lattice(kiln_domain *domain, kiln_error *error)
{
    double least, side = root_side(domain, &least);
    kiln_vec3 extent = kiln_v3_sub(domain->high, domain->low);
    double cells[3] = {ceil(extent.x / side) + 1.0, ceil(extent.y / side) + 1.0,
                       ceil(extent.z / side) + 1.0};
    if (!(cells[0] * cells[1] * cells[2] < MOST_CELLS))
        return kiln_fail(error, KILN_ERR_LIMIT, "size", 0, -1,
                         "%g is too small for a body of %g by %g by %g", least, extent.x, extent.y,
                         extent.z);
    /* Centred on the body, so that a symmetric one gets symmetric sites. */
    kiln_vec3 middle = kiln_v3_lerp(domain->low, domain->high, 0.5);
    kiln_vec3 low = kiln_v3_madd(middle, -0.5 * side, kiln_v3(cells[0], cells[1], cells[2]));
    for (double z = 0.0; z < cells[2]; z += 1.0)
        for (double y = 0.0; y < cells[1]; y += 1.0)
            for (double x = 0.0; x < cells[0]; x += 1.0)
                KILN_TRY(
                    fill_cell(domain, kiln_v3_madd(low, side, kiln_v3(x, y, z)), side, 0, error));
    return KILN_OK;
}
