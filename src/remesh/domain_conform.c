/* Interfaces between regions as faces of the triangulation: where an edge of it passes from one
 * region into another, a site is put on the interface there, a few rounds over. */
#include "remesh/domain_impl.h"

#include <stdlib.h>
#include <string.h>

static const double ON_INTERFACE = 1e-6; /* of the size */
static const double WITHIN = 1e-3;       /* of the size, from where an edge crosses */
static const double APART = 0.4;         /* of the size, between new sites of one round */
static const double CLEAR = 0.25;        /* of the size, to sites that are there already: nearer,
                                            the interface goes by those */
enum { ROUNDS = 5, BISECTIONS = 12 };

typedef struct conformer {
    kiln_domain *domain;
    KILN_ARRAY_OF(int32_t)
    region; /* [site] */
    KILN_ARRAY_OF(uint8_t)
    neutral; /* [site] on an interface, or outside */
    KILN_ARRAY_OF(kiln_vec3)
    points;
    KILN_ARRAY_OF(kiln_soup_edge)
    edges; /* of the triangulation, from one region into another */
    kiln_site_array candidates;
    KILN_ARRAY_OF(uint8_t)
    blocked;       /* [candidate] */
    kiln_bvh tree; /* over the sites, then over the candidates */
    size_t classified;
} conformer;

static bool region_at(const kiln_domain *domain, kiln_vec3 p, int32_t *region)
{
    uint32_t tet = kiln_domain_locate(domain, p);
    if (tet != KILN_NONE)
        *region = domain->mesh->info[tet].region;
    return tet != KILN_NONE;
}

static bool has_interfaces(const kiln_domain *domain)
{
    for (uint32_t i = 0; i < domain->pieces.count; i++)
        if (domain->pieces.data[i].interface)
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

static int compare_edges(const void *a, const void *b)
{
    const kiln_soup_edge *p = a, *q = b;
    if (p->v[0] != q->v[0])
        return p->v[0] < q->v[0] ? -1 : 1;
    return p->v[1] < q->v[1] ? -1 : p->v[1] > q->v[1];
}

/* Each once. */
static kiln_status list_edges(conformer *c, kiln_error *error)
{
    const kiln_delaunay *delaunay = &c->domain->delaunay;
    c->edges.count = 0;
    for (size_t t = 0; t < delaunay->tets.count; t++)
        for (int e = 0; e < 6; e++) {
            uint32_t a = delaunay->tets.data[t].v[kiln_edge_ends[e][0]];
            uint32_t b = delaunay->tets.data[t].v[kiln_edge_ends[e][1]];
            kiln_soup_edge edge = {{a < b ? a : b, a < b ? b : a}};
            if (!c->neutral.data[a] && !c->neutral.data[b] &&
                c->region.data[a] != c->region.data[b])
                KILN_TRY(kiln_array_push(c->domain->context, &c->edges, edge, error));
        }
    if (c->edges.count)
        qsort(c->edges.data, c->edges.count, sizeof *c->edges.data, compare_edges);
    size_t kept = 0;
    for (size_t i = 0; i < c->edges.count; i++)
        if (i == 0 || compare_edges(&c->edges.data[i], &c->edges.data[kept - 1]) != 0)
            c->edges.data[kept++] = c->edges.data[i];
    c->edges.count = kept;
    return KILN_OK;
}

static kiln_status index_points(conformer *c, const kiln_site *sites, size_t count,
                                kiln_error *error)
{
    KILN_ARRAY_OF(kiln_box)
    boxes = {0};
    KILN_TRY(kiln_array_reserve(c->domain->context, &boxes, count, error));
    for (size_t i = 0; i < count; i++)
        boxes.data[i] = (kiln_box){sites[i].x, sites[i].x};
    kiln_status status = kiln_bvh_build(&c->tree, c->domain->context, boxes.data, count, error);
    kiln_array_free(c->domain->context, &boxes);
    return status;
}

static double distance2_to_site(void *user, uint32_t item, kiln_vec3 p)
{
    return kiln_v3_norm2(kiln_v3_sub(((const kiln_site *)user)[item].x, p));
}

/* A site where the edge between two sites of different regions leaves the first. */
static kiln_status split_edge(conformer *c, const uint32_t v[2], kiln_error *error)
{
    kiln_domain *domain = c->domain;
    kiln_vec3 in = c->points.data[v[0]], out = c->points.data[v[1]];
    for (int i = 0; i < BISECTIONS; i++) {
        kiln_vec3 mid = kiln_v3_lerp(in, out, 0.5);
        int32_t region;
        if (region_at(domain, mid, &region) && region == c->region.data[v[0]])
            in = mid;
        else
            out = mid;
    }
    kiln_site site = {.vertex = KILN_NONE, .part = KILN_NONE, .kind = KILN_SITE_SHEET};
    site.pinned = true;
    KILN_TRY(kiln_domain_size(domain, in, &site.size, error));
    uint32_t piece = kiln_domain_closest(domain, in, WITHIN * site.size, &site.x);
    double clear = CLEAR * site.size;
    if (piece == KILN_BVH_NONE || !domain->pieces.data[piece].interface ||
        kiln_bvh_closest(&c->tree, site.x, clear * clear, distance2_to_site, domain->sites.data,
                         NULL) != KILN_BVH_NONE)
        return KILN_OK;
    site.normal = kiln_piece_normal(&domain->pieces.data[piece]);
    return kiln_array_push(domain->context, &c->candidates, site, error);
}

typedef struct taking {
    conformer *c;
    uint32_t item;
} taking;

static bool block(void *user, uint32_t item)
{
    const taking *t = user;
    const kiln_site *by = &t->c->candidates.data[t->item], *it = &t->c->candidates.data[item];
    double reach = APART * by->size;
    if (item > t->item && kiln_v3_norm2(kiln_v3_sub(by->x, it->x)) < reach * reach)
        t->c->blocked.data[item] = 1;
    return true;
}

/* Those that no earlier one is near. */
static kiln_status take_candidates(conformer *c, kiln_error *error)
{
    kiln_domain *domain = c->domain;
    size_t count = c->candidates.count;
    KILN_TRY(index_points(c, c->candidates.data, count, error));
    KILN_TRY(kiln_array_reserve(domain->context, &c->blocked, count, error));
    memset(c->blocked.data, 0, count);
    for (uint32_t i = 0; i < count; i++) {
        if (c->blocked.data[i])
            continue;
        const kiln_site *site = &c->candidates.data[i];
        kiln_vec3 reach = kiln_v3_scale(kiln_v3(1, 1, 1), APART * site->size);
        taking t = {c, i};
        kiln_bvh_query_box(&c->tree,
                           (kiln_box){kiln_v3_sub(site->x, reach), kiln_v3_add(site->x, reach)},
                           block, &t);
        domain->report.surface_sites++;
        KILN_TRY(kiln_array_push(domain->context, &domain->sites, *site, error));
    }
    return KILN_OK;
}

static kiln_status split_edges(conformer *c, kiln_error *error)
{
    KILN_TRY(list_edges(c, error));
    KILN_TRY(index_points(c, c->domain->sites.data, c->domain->sites.count, error));
    c->candidates.count = 0;
    for (size_t i = 0; i < c->edges.count; i++)
        KILN_TRY(split_edge(c, c->edges.data[i].v, error));
    return c->candidates.count ? take_candidates(c, error) : KILN_OK;
}

static kiln_status conform(conformer *c, kiln_error *error)
{
    kiln_domain *domain = c->domain;
    for (int round = 0; round < ROUNDS; round++) {
        KILN_TRY(classify(c, error));
        KILN_TRY(kiln_delaunay_build(&domain->delaunay, domain->context, c->points.data,
                                     domain->sites.count, error));
        KILN_TRY(split_edges(c, error));
        if (c->candidates.count == 0)
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
    kiln_array_free(domain->context, &c.edges);
    kiln_array_free(domain->context, &c.candidates);
    kiln_array_free(domain->context, &c.blocked);
    kiln_bvh_destroy(&c.tree);
    return status;
}
