/* Interfaces between regions as faces of the triangulation: where an edge of it passes from one
 * region into another, a site is put on the interface there, a few rounds over. */
#include "remesh/domain_impl.h"

#include <string.h>

static const double ON_INTERFACE = 1e-6; /* of the size */
static const double APART = 0.4;         /* of the size, between new sites of one round */
enum { ROUNDS = 5, BISECTIONS = 40 };

typedef struct conformer {
    kiln_domain *domain;
    KILN_ARRAY_OF(int32_t)
    region; /* [site] */
    KILN_ARRAY_OF(uint8_t)
    neutral; /* [site] on an interface, or outside */
    KILN_ARRAY_OF(kiln_vec3)
    points;
    size_t classified, first_new;
} conformer;

static bool region_at(const kiln_domain *domain, kiln_vec3 p, int32_t *region)
{
    uint32_t tet = kiln_domain_locate(domain, p);
    if (tet != KILN_NONE)
        *region = domain->mesh->info[tet].region;
    return tet != KILN_NONE;
}

static bool is_interface(const kiln_domain *domain, uint32_t piece)
{
    uint32_t at = domain->pieces.data[piece].at;
    return !kiln_link_is_surface(domain->mesh->tet[at / 4].n[at % 4]);
}

static bool has_interfaces(const kiln_domain *domain)
{
    for (uint32_t i = 0; i < domain->pieces.count; i++)
        if (is_interface(domain, i))
            return true;
    return false;
}

static kiln_status classify(conformer *c, kiln_error *error)
{
    kiln_domain *domain = c->domain;
    size_t count = domain->sites.count;
    KILN_TRY(kiln_array_reserve(domain->context, &c->region, count, error));
    KILN_TRY(kiln_array_reserve(domain->context, &c->neutral, count, error));
    KILN_TRY(kiln_array_reserve(domain->context, &c->points, count, error));
    for (; c->classified < count; c->classified++) {
        const kiln_site *site = &domain->sites.data[c->classified];
        size_t i = c->classified;
        c->region.data[i] = 0;
        c->neutral.data[i] = !region_at(domain, site->x, &c->region.data[i]) ||
                             kiln_domain_near_interface(domain, site->x, ON_INTERFACE * site->size);
        c->points.data[i] = site->x;
    }
    return KILN_OK;
}

static bool crowded(const conformer *c, kiln_vec3 p, double distance)
{
    for (size_t i = c->first_new; i < c->domain->sites.count; i++)
        if (kiln_v3_norm2(kiln_v3_sub(c->domain->sites.data[i].x, p)) < distance * distance)
            return true;
    return false;
}

/* A site where the edge between two sites of different regions leaves the first. */
static kiln_status split_edge(conformer *c, uint32_t a, uint32_t b, kiln_error *error)
{
    kiln_domain *domain = c->domain;
    kiln_vec3 in = c->points.data[a], out = c->points.data[b];
    for (int i = 0; i < BISECTIONS; i++) {
        kiln_vec3 mid = kiln_v3_lerp(in, out, 0.5);
        int32_t region;
        if (region_at(domain, mid, &region) && region == c->region.data[a])
            in = mid;
        else
            out = mid;
    }
    kiln_site site = {
        .x = in, .vertex = KILN_NONE, .part = KILN_NONE, .kind = KILN_SITE_SHEET, .pinned = true};
    KILN_TRY(kiln_domain_size(domain, in, &site.size, error));
    kiln_vec3 nearest;
    uint32_t piece = kiln_domain_closest(domain, in, ON_INTERFACE * site.size, &nearest);
    if (piece == KILN_BVH_NONE || !is_interface(domain, piece) ||
        crowded(c, nearest, APART * site.size))
        return KILN_OK;
    site.x = nearest;
    site.normal = kiln_piece_normal(&domain->pieces.data[piece]);
    domain->report.surface_sites++;
    return kiln_array_push(domain->context, &domain->sites, site, error);
}

static kiln_status split_edges(conformer *c, kiln_error *error)
{
    const kiln_delaunay *delaunay = &c->domain->delaunay;
    c->first_new = c->domain->sites.count;
    for (size_t t = 0; t < delaunay->tets.count; t++)
        for (int e = 0; e < 6; e++) {
            uint32_t a = delaunay->tets.data[t].v[kiln_edge_ends[e][0]];
            uint32_t b = delaunay->tets.data[t].v[kiln_edge_ends[e][1]];
            if (!c->neutral.data[a] && !c->neutral.data[b] &&
                c->region.data[a] != c->region.data[b])
                KILN_TRY(split_edge(c, a, b, error));
        }
    return KILN_OK;
}

static kiln_status conform(conformer *c, kiln_error *error)
{
    kiln_domain *domain = c->domain;
    for (int round = 0; round < ROUNDS; round++) {
        KILN_TRY(classify(c, error));
        KILN_TRY(kiln_delaunay_build(&domain->delaunay, domain->context, c->points.data,
                                     domain->sites.count, error));
        KILN_TRY(split_edges(c, error));
        if (domain->sites.count == c->first_new)
            break;
    }
    return KILN_OK;
}

kiln_status kiln_domain_conform(kiln_domain *domain, kiln_error *error)
{
    if (!has_interfaces(domain))
        return KILN_OK;
    conformer c = {.domain = domain};
    kiln_status status = conform(&c, error);
    kiln_array_free(domain->context, &c.region);
    kiln_array_free(domain->context, &c.neutral);
    kiln_array_free(domain->context, &c.points);
    return status;
}
