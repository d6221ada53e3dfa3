/* Sites inside: a body-centred cubic lattice, whose Delaunay tets are nearly regular (q 0.95),
 * refined where the sizes ask for it. The coarser lattice is part of the finer one, so that points
 * of two levels are never closer than those of the finer. */
#include "remesh/domain_impl.h"

static const double CELL = 1.05;   /* sizes: mean edge 0.97, for those next to a sheet are longer */
static const double COARSER = 1.5; /* times the side wanted: halved above; right on the average */
static const double CLEARANCE = 0.5; /* of the size, from sheets */
static const double CLOSE = 0.02;    /* enough, of the number of tets */
/* Of the tets of sites that have not been moved yet, as measured on several bodies. */
static const double LEFT_AT_THE_END = 0.965;
enum { DEEPEST = 24, ATTEMPTS = 5, MOST_SITES = KILN_MAX_TETS / 16 };

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

typedef struct filler {
    kiln_domain *domain;
    double scale; /* of all sizes */
} filler;

static kiln_status fill_cell(const filler *f, kiln_vec3 low, double side, int depth,
                             kiln_error *error)
{
    kiln_domain *domain = f->domain;
    kiln_vec3 high = kiln_v3_add(low, kiln_v3(side, side, side));
    bool touches = false;
    kiln_bvh_query_box(&domain->tets, (kiln_box){low, high}, touch, &touches);
    if (!touches)
        return KILN_OK;
    kiln_vec3 centre = kiln_v3_lerp(low, high, 0.5);
    double size;
    KILN_TRY(kiln_domain_size(domain, centre, &size, error));
    size *= f->scale;
    if (side <= COARSER * CELL * size || depth == DEEPEST) {
        KILN_TRY(add_point(domain, low, size, error));
        return add_point(domain, centre, size, error);
    }
    double half = 0.5 * side;
    for (int k = 0; k < 8; k++) {
        kiln_vec3 corner = kiln_v3((k & 1) * half, (k >> 1 & 1) * half, (k >> 2 & 1) * half);
        KILN_TRY(fill_cell(f, kiln_v3_add(low, corner), half, depth + 1, error));
    }
    return KILN_OK;
}

/* The side of the root cells: a power of two times the one wanted for the mean size, so that a
 * uniform size is met exactly and a nearly uniform one on the average. */
static double root_side(const kiln_domain *domain)
{
    double most = 0.0, sum = 0.0;
    for (size_t i = 0; i < domain->sites.count; i++) {
        double size = domain->sites.data[i].size;
        most = size > most ? size : most;
        sum += log(size);
    }
    double side = CELL * exp(sum / (double)domain->sites.count);
    while (side < CELL * most)
        side *= 2.0;
    return side;
}

static kiln_status fill_once(const filler *f, double side, kiln_error *error)
{
    kiln_domain *domain = f->domain;
    kiln_vec3 extent = kiln_v3_sub(domain->high, domain->low);
    double cells[3] = {ceil(extent.x / side) + 1.0, ceil(extent.y / side) + 1.0,
                       ceil(extent.z / side) + 1.0};
    if (!(cells[0] * cells[1] * cells[2] < MOST_SITES))
        return kiln_fail(error, KILN_ERR_LIMIT, "size", 0, -1,
                         "too small for a body of %g by %g by %g", extent.x, extent.y, extent.z);
    /* Centred on the body, so that a symmetric one gets symmetric sites. */
    kiln_vec3 middle = kiln_v3_lerp(domain->low, domain->high, 0.5);
    kiln_vec3 low = kiln_v3_madd(middle, -0.5 * side, kiln_v3(cells[0], cells[1], cells[2]));
    for (double z = 0.0; z < cells[2]; z += 1.0)
        for (double y = 0.0; y < cells[1]; y += 1.0)
            for (double x = 0.0; x < cells[0]; x += 1.0)
                KILN_TRY(fill_cell(f, kiln_v3_madd(low, side, kiln_v3(x, y, z)), side, 0, error));
    return KILN_OK;
}

/* Delaunay tets of the sites with their centre in the domain. */
static kiln_status count_tets(kiln_domain *domain, double *count, kiln_error *error)
{
    size_t sites = domain->sites.count;
    kiln_vec3 *x = kiln_resize(domain->context, NULL, 0, sites * sizeof *x);
    if (!x)
        return kiln_fail_memory(error, sites * sizeof *x);
    const kiln_delaunay *delaunay = &domain->delaunay;
    kiln_status status = kiln_domain_triangulate(domain, x, error);
    *count = 0.0;
    for (size_t t = 0; t < delaunay->tets.count; t++) {
        const uint32_t *v = delaunay->tets.data[t].v;
        bool inner = false;
        for (int i = 0; i < 4; i++)
            inner |= domain->sites.data[v[i]].kind == KILN_SITE_INSIDE;
        kiln_vec3 pair = kiln_v3_add(x[v[0]], x[v[1]]), other = kiln_v3_add(x[v[2]], x[v[3]]);
        kiln_vec3 centre = kiln_v3_scale(kiln_v3_add(pair, other), 0.25);
        *count += inner || kiln_domain_locate(domain, centre) != KILN_NONE;
    }
    kiln_release(domain->context, x, sites * sizeof *x);
    return status;
}

/* Without a size asked for, there should be about as many tets as there were, or a mesh remeshed
 * again and again would become ever finer or coarser. */
kiln_status kiln_domain_fill_lattice(kiln_domain *domain, kiln_error *error)
{
    filler f = {domain, 1.0};
    size_t outer = domain->sites.count;
    double side = root_side(domain), wanted = (double)domain->live.count;
    const kiln_domain_options *options = &domain->options;
    bool as_before = options->size == 0.0 && !options->size_at && !options->size_field &&
                     options->size_min == 0.0 && options->size_max == 0.0;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        double tets = 0.0;
        domain->sites.count = outer;
        domain->report.inside_sites = 0;
        KILN_TRY(fill_once(&f, f.scale * side, error));
        if (!as_before)
            break;
        KILN_TRY(count_tets(domain, &tets, error));
        tets *= LEFT_AT_THE_END;
        if (fabs(tets - wanted) < CLOSE * wanted)
            break;
        f.scale *= fmin(fmax(cbrt(tets / wanted), 0.7), 1.4);
    }
    return KILN_OK;
}
