/* Which Delaunay tets are the new mesh: those at least half of which the old one fills (VPF 4.2,
 * step 1), with the region that fills most of them. */
#include "remesh/domain_impl.h"

#include "base/parallel.h"
#include "base/random.h"
#include "geom/distance.h"
#include "geom/tet_clip.h"
#include "geom/tet_quality.h"

/* Quality of a tet without volume: its sites are on a plane or a line but for rounding, a million
 * sizes from the origin too. */
static const double FLAT = 1e-6;
static const double POOR = 0.2;
static const double ON_SHEET = 1e-4;     /* of the size, from the outline */
static const double ALONG_SHEET = 0.999; /* cosine between normals, either way */

enum { UNION_SAMPLES = 128, MOST_REGIONS = 8, GRAIN = 256 };

typedef struct region_share {
    int32_t region;
    double volume;
} region_share;

/* What the old mesh has in common with one tet. */
typedef struct overlap {
    const kiln_domain *domain;
    kiln_vec3 x[4];
    double volume; /* of the overlaps, those that cover each other counted twice */
    uint32_t part;
    bool several; /* parts */
    int regions;
    region_share share[MOST_REGIONS]; /* further regions are not told apart */
} overlap;

static void add_share(overlap *o, int32_t region, double volume)
{
    int k = 0;
    while (k < o->regions && o->share[k].region != region)
        k++;
    if (k == o->regions && k < MOST_REGIONS)
        o->share[o->regions++] = (region_share){region, 0.0};
    if (k < MOST_REGIONS)
        o->share[k].volume += volume;
}

static bool add_overlap(void *user, uint32_t item)
{
    overlap *o = user;
    uint32_t tet = o->domain->live.data[item];
    kiln_vec3 x[4];
    kiln_domain_tet(o->domain, tet, x);
    double volume = kiln_tet_overlap(o->x, x);
    if (volume <= 0.0)
        return true;
    const kiln_tet_info *info = &o->domain->mesh->info[tet];
    o->several |= o->volume > 0.0 && info->part != o->part;
    o->part = info->part;
    o->volume += volume;
    add_share(o, info->region, volume);
    return true;
}

/* Where bodies cover each other their overlaps do not add up: by points. */
static double filled_fraction(overlap *o, uint64_t stream)
{
    const kiln_domain *domain = o->domain;
    kiln_random random = kiln_random_start(domain->seed, stream);
    int inside = 0;
    o->regions = 0;
    for (int i = 0; i < UNION_SAMPLES; i++) {
        double w[4], sum = 0.0;
        for (int k = 0; k < 4; k++)
            sum += w[k] = -log(1.0 - kiln_random_unit(&random));
        kiln_vec3 p = kiln_v3(0, 0, 0);
        for (int k = 0; k < 4; k++)
            p = kiln_v3_madd(p, w[k] / sum, o->x[k]);
        uint32_t tet = kiln_domain_locate(domain, p);
        if (tet == KILN_NONE)
            continue;
        inside++;
        add_share(o, domain->mesh->info[tet].region, 1.0);
    }
    return (double)inside / UNION_SAMPLES;
}

/* A tet that no sheet comes near is in or out with its centre. */
static bool decide_by_centre(const kiln_domain *domain, const kiln_vec3 x[4], uint32_t *tet)
{
    kiln_vec3 centre =
        kiln_v3_scale(kiln_v3_add(kiln_v3_add(x[0], x[1]), kiln_v3_add(x[2], x[3])), 0.25);
    double radius2 = 0.0;
    for (int i = 0; i < 4; i++) {
        double d2 = kiln_v3_norm2(kiln_v3_sub(x[i], centre));
        radius2 = d2 > radius2 ? d2 : radius2;
    }
    kiln_vec3 nearest;
    if (kiln_domain_closest(domain, centre, sqrt(radius2), &nearest) != KILN_BVH_NONE)
        return false;
    *tet = kiln_domain_locate(domain, centre);
    return true;
}

typedef struct sheet {
    const kiln_domain *domain;
    kiln_vec3 normal;
} sheet;

/* To pieces of the surface that lie as the sheet does. */
static double distance2_along(void *user, uint32_t item, kiln_vec3 p)
{
    const sheet *s = user;
    const kiln_piece *piece = &s->domain->pieces.data[item];
    if (piece->interface || fabs(kiln_v3_dot(kiln_piece_normal(piece), s->normal)) < ALONG_SHEET)
        return INFINITY;
    return kiln_closest_on_triangle(p, piece->p).distance2;
}

/* A tet of sites on one flat side. Last bits say whether there is one, and on which side of the
 * plane; without all of them, faces of the tets inside are the side. */
static bool is_of_flat_side(const kiln_domain *domain, const uint32_t v[4], const kiln_vec3 x[4])
{
    double size = domain->sites.data[v[0]].size, most = 0.0;
    for (int i = 0; i < 4; i++)
        if (domain->sites.data[v[i]].kind == KILN_SITE_INSIDE)
            return false;
    if (kiln_tet_quality(&x[0], &x[1], &x[2], &x[3]) >= FLAT)
        return false;
    sheet s = {.domain = domain};
    for (int i = 0; i < 4; i++) {
        const uint8_t *f = kiln_face_corner[i];
        kiln_vec3 area =
            kiln_v3_cross(kiln_v3_sub(x[f[1]], x[f[0]]), kiln_v3_sub(x[f[2]], x[f[0]]));
        if (kiln_v3_norm(area) > most) {
            most = kiln_v3_norm(area);
            s.normal = kiln_v3_normalize(area);
        }
    }
    if (most < FLAT * size * size)
        return true; /* on one line */
    kiln_vec3 centre =
        kiln_v3_scale(kiln_v3_add(kiln_v3_add(x[0], x[1]), kiln_v3_add(x[2], x[3])), 0.25);
    double limit = ON_SHEET * size;
    return kiln_bvh_closest(&domain->outline, centre, limit * limit, distance2_along, &s, NULL) !=
           KILN_BVH_NONE;
}

static void judge(kiln_domain *domain, size_t t)
{
    overlap o = {.domain = domain};
    kiln_box box = kiln_box_empty();
    for (int i = 0; i < 4; i++) {
        o.x[i] = domain->sites.data[domain->delaunay.tets.data[t].v[i]].x;
        box = kiln_box_grow(box, o.x[i]);
    }
    domain->keep.data[t] = 0;
    domain->region.data[t] = KILN_NO_REGION;
    if (is_of_flat_side(domain, domain->delaunay.tets.data[t].v, o.x))
        return;
    uint32_t holder;
    if (!domain->several_parts && decide_by_centre(domain, o.x, &holder)) {
        bool inside = holder != KILN_NONE;
        domain->keep.data[t] = inside;
        domain->region.data[t] = inside ? domain->mesh->info[holder].region : KILN_NO_REGION;
        return;
    }
    kiln_bvh_query_box(&domain->tets, box, add_overlap, &o);
    double volume = kiln_tet_volume(o.x[0], o.x[1], o.x[2], o.x[3]);
    double filled = o.volume / volume;
    if (o.several || (filled < 0.5 && domain->skin.count > 0))
        filled = filled_fraction(&o, t);
    int best = 0;
    for (int k = 1; k < o.regions; k++)
        if (o.share[k].volume > o.share[best].volume)
            best = k;
    domain->region.data[t] = o.regions ? o.share[best].region : KILN_NO_REGION;
    domain->keep.data[t] = filled >= 0.5 && domain->region.data[t] != KILN_NO_REGION;
}

static void judge_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    for (size_t t = begin; t < end; t++)
        judge(user, t);
}

size_t kiln_domain_matter(const kiln_domain *domain, uint32_t tet)
{
    const kiln_tet_info *info = &domain->mesh->info[tet];
    const kiln_volume *matter = domain->volumes.data;
    for (size_t i = 0; i < domain->volumes.count; i++)
        if (matter[i].part == info->part && matter[i].region == info->region)
            return i;
    return SIZE_MAX;
}

static bool add_double_cover(void *user, const kiln_bvh_pair *pairs, size_t count)
{
    kiln_domain *domain = user;
    for (size_t i = 0; i < count; i++) {
        uint32_t a = domain->live.data[pairs[i].a], b = domain->live.data[pairs[i].b];
        if (domain->mesh->info[a].part == domain->mesh->info[b].part)
            continue;
        kiln_vec3 x[4], y[4];
        kiln_domain_tet(domain, a, x);
        kiln_domain_tet(domain, b, y);
        size_t loser = kiln_domain_matter(domain, kiln_domain_outranks(domain, a, b) ? b : a);
        domain->volumes.data[loser].volume -= kiln_tet_overlap(x, y);
    }
    return true;
}

/* All old tets, less what two bodies cover both, which is the one's of lower rank; three in one
 * place are counted wrong. */
static kiln_status find_volumes(kiln_domain *domain, kiln_error *error)
{
    for (size_t i = 0; i < domain->live.count; i++) {
        uint32_t tet = domain->live.data[i];
        const kiln_tet_info *info = &domain->mesh->info[tet];
        kiln_volume fresh = {.region = info->region, .part = info->part};
        kiln_vec3 x[4];
        if (kiln_domain_matter(domain, tet) == SIZE_MAX)
            KILN_TRY(kiln_array_push(domain->context, &domain->volumes, fresh, error));
        kiln_domain_tet(domain, tet, x);
        domain->volumes.data[kiln_domain_matter(domain, tet)].volume +=
            kiln_tet_volume(x[0], x[1], x[2], x[3]);
    }
    if (domain->several_parts)
        kiln_bvh_visit_self_overlap(&domain->tets, add_double_cover, domain);
    domain->report.volume_before = 0.0;
    for (size_t i = 0; i < domain->volumes.count; i++)
        domain->report.volume_before += domain->volumes.data[i].volume;
    return KILN_OK;
}

/* A tet that no other of its region hangs on is a crumb of what has no room for itself here: it
 * goes to a neighbour. So does a poor one that most of its neighbours are not of the region of: an
 * interface on two of its sides would hold it for ever. */
void kiln_domain_sweep(kiln_domain *domain)
{
    const kiln_delaunay *delaunay = &domain->delaunay;
    const kiln_site *s = domain->sites.data;
    for (size_t t = 0; t < delaunay->tets.count; t++) {
        const uint32_t *v = delaunay->tets.data[t].v;
        int32_t *region = &domain->region.data[t], other = *region;
        int alike = 0, others = 0;
        for (int i = 0; i < 4 && domain->keep.data[t]; i++) {
            kiln_link link = delaunay->tets.data[t].n[i];
            if (link == KILN_NONE || !domain->keep.data[link / 4])
                continue;
            bool same = domain->region.data[link / 4] == *region;
            alike += same;
            others += !same;
            other = same ? other : domain->region.data[link / 4];
        }
        bool poor = others > alike &&
                    kiln_tet_quality(&s[v[0]].x, &s[v[1]].x, &s[v[2]].x, &s[v[3]].x) < POOR;
        if (others > 0 && (alike == 0 || poor))
            *region = other;
    }
}

kiln_status kiln_domain_extract(kiln_domain *domain, kiln_error *error)
{
    size_t count = domain->delaunay.tets.count;
    KILN_TRY(kiln_array_reserve(domain->context, &domain->keep, count, error));
    KILN_TRY(kiln_array_reserve(domain->context, &domain->region, count, error));
    domain->keep.count = domain->region.count = count;
    kiln_parallel_for(domain->context, count, GRAIN, judge_chunk, domain);
    return find_volumes(domain, error);
}
