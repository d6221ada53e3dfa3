/* Site optimisation: rounds of triangulating and moving (VPF section 4, Alliez et al. 2005).
 *
 * Inside, a site goes to the mean of the circumcentres of its tets weighted by volume, the optimum
 * for its star (Alliez et al. eq. 9; Chen 2004). On sheets, a site that may move goes to the mean
 * of the samples it is nearest to, and back onto the sheet (VPF 4.1). A sample that no site of its
 * sheet is near draws the nearest one from inside: VPF 4.1 does only this, in order not to smooth,
 * and we pin the old vertices of bent sheets for the same reason. */
#include "remesh/domain_impl.h"

static const double LONGEST_MOVE = 0.3; /* of the size, in one round */
static const double CLEARANCE = 0.5;    /* of the size, from sheets to inside sites */
static const double COVERED = 0.9;      /* of the size, from a sample to the nearest sheet site */
enum { PROMOTION_ROUND = 2 };           /* rounds after it let the neighbours settle */

/* Sums of one site. */
typedef struct pull {
    kiln_vec3 sum; /* relative to the site */
    double weight;
} pull;

typedef struct relaxer {
    kiln_domain *domain;
    KILN_ARRAY_OF(pull)
    pulls; /* [site] */
    KILN_ARRAY_OF(kiln_vec3)
    points;
    kiln_bvh tree; /* over the sites */
    const kiln_site *sample;
    bool among_inside;
} relaxer;

kiln_status kiln_domain_triangulate(kiln_domain *domain, kiln_vec3 *points, kiln_error *error)
{
    for (size_t i = 0; i < domain->sites.count; i++)
        points[i] = domain->sites.data[i].x;
    kiln_status status =
        kiln_delaunay_build(&domain->delaunay, domain->context, points, domain->sites.count, error);
    if (status == KILN_ERR_INPUT)
        return kiln_fail(error, status, "size", 0, -1,
                         "too large: nothing of the domain is left at this size");
    return status;
}

/* Relative to the first corner; false for a tet too flat to have one within reach. */
static bool circumcentre(const kiln_vec3 x[4], kiln_vec3 *out)
{
    kiln_vec3 a = kiln_v3_sub(x[1], x[0]), b = kiln_v3_sub(x[2], x[0]), c = kiln_v3_sub(x[3], x[0]);
    kiln_vec3 bc = kiln_v3_cross(b, c), ca = kiln_v3_cross(c, a), ab = kiln_v3_cross(a, b);
    double det = 2.0 * kiln_v3_dot(a, bc);
    double a2 = kiln_v3_norm2(a), b2 = kiln_v3_norm2(b), c2 = kiln_v3_norm2(c);
    double longest2 = a2 > b2 ? a2 : b2;
    longest2 = c2 > longest2 ? c2 : longest2;
    if (!(det > 1e-3 * longest2 * sqrt(longest2)))
        return false;
    *out =
        kiln_v3_scale(kiln_v3_madd(kiln_v3_madd(kiln_v3_scale(bc, a2), b2, ca), c2, ab), 1.0 / det);
    return true;
}

static void pull_inside(relaxer *r)
{
    const kiln_site *sites = r->domain->sites.data;
    for (size_t t = 0; t < r->domain->delaunay.tets.count; t++) {
        const uint32_t *v = r->domain->delaunay.tets.data[t].v;
        kiln_vec3 x[4], centre;
        double size = 0.0;
        bool any = false;
        for (int i = 0; i < 4; i++) {
            x[i] = sites[v[i]].x;
            size += 0.25 * sites[v[i]].size;
            any |= sites[v[i]].kind == KILN_SITE_INSIDE;
        }
        if (!any || !circumcentre(x, &centre))
            continue;
        double weight = kiln_tet_volume(x[0], x[1], x[2], x[3]) / (size * size * size);
        centre = kiln_v3_add(x[0], centre);
        for (int i = 0; i < 4; i++) {
            pull *p = &r->pulls.data[v[i]];
            if (sites[v[i]].kind != KILN_SITE_INSIDE)
                continue;
            p->sum = kiln_v3_madd(p->sum, weight, kiln_v3_sub(centre, x[i]));
            p->weight += weight;
        }
    }
}

static double distance2_to_site(void *user, uint32_t item, kiln_vec3 p)
{
    const relaxer *r = user;
    const kiln_site *site = &r->domain->sites.data[item];
    bool inside = site->kind == KILN_SITE_INSIDE;
    if (inside != r->among_inside ||
        (site->kind == KILN_SITE_SHEET && kiln_v3_dot(site->normal, r->sample->normal) <= 0.0))
        return INFINITY;
    return kiln_v3_norm2(kiln_v3_sub(site->x, p));
}

/* The site nearest to the sample, within `reach` sizes. */
static kiln_site *nearest_site(relaxer *r, bool among_inside, double reach, uint32_t *item)
{
    double limit = reach * r->sample->size;
    r->among_inside = among_inside;
    *item = kiln_bvh_closest(&r->tree, r->sample->x, limit * limit, distance2_to_site, r, NULL);
    return *item == KILN_BVH_NONE ? NULL : &r->domain->sites.data[*item];
}

static kiln_status index_sites(relaxer *r, kiln_error *error)
{
    size_t count = r->domain->sites.count;
    KILN_ARRAY_OF(kiln_box)
    boxes = {0};
    KILN_TRY(kiln_array_reserve(r->domain->context, &boxes, count, error));
    for (size_t i = 0; i < count; i++)
        boxes.data[i] = (kiln_box){r->points.data[i], r->points.data[i]};
    kiln_status status = kiln_bvh_build(&r->tree, r->domain->context, boxes.data, count, error);
    kiln_array_free(r->domain->context, &boxes);
    return status;
}

/* Onto the sheet, near the present sample. */
static void promote(relaxer *r, kiln_site *site)
{
    kiln_domain_report *report = &r->domain->report;
    site->kind = KILN_SITE_SHEET;
    site->normal = r->sample->normal;
    site->part = r->sample->part;
    report->promoted_sites++;
    report->inside_sites--;
    report->surface_sites++;
}

static void pull_sheets(relaxer *r, bool may_promote)
{
    const kiln_domain *domain = r->domain;
    for (size_t i = 0; i < domain->samples.count; i++) {
        uint32_t item;
        r->sample = &domain->samples.data[i];
        kiln_site *site = nearest_site(r, false, COVERED, &item);
        if (!site && may_promote) {
            site = nearest_site(r, true, 1.0, &item);
            if (site) {
                promote(r, site);
                r->pulls.data[item] = (pull){{0, 0, 0}, 0.0};
            }
        }
        if (!site || site->kind != KILN_SITE_SHEET || site->pinned)
            continue;
        pull *p = &r->pulls.data[item];
        p->sum = kiln_v3_add(p->sum, kiln_v3_sub(r->sample->x, site->x));
        p->weight += 1.0;
    }
}

/* Inside sites keep clear of the sheets; one that would leave the domain stays. */
static void move_inside(kiln_domain *domain, kiln_site *site, kiln_vec3 to)
{
    kiln_vec3 nearest;
    double clear = CLEARANCE * site->size;
    if (kiln_domain_closest(domain, to, clear, &nearest) != KILN_BVH_NONE) {
        kiln_vec3 away = kiln_v3_sub(to, nearest);
        double distance = kiln_v3_norm(away);
        if (distance < 0.1 * clear)
            return;
        to = kiln_v3_madd(nearest, clear / distance, away);
    }
    if (kiln_domain_locate(domain, to) != KILN_NONE)
        site->x = to;
}

static void move_on_sheet(kiln_domain *domain, kiln_site *site, kiln_vec3 to)
{
    kiln_vec3 nearest;
    uint32_t piece = kiln_domain_closest(domain, to, 2.0 * site->size, &nearest);
    if (piece == KILN_BVH_NONE)
        return;
    kiln_vec3 normal = kiln_piece_normal(&domain->pieces.data[piece]);
    if (kiln_v3_dot(normal, site->normal) <= 0.0)
        return;
    site->x = nearest;
    site->normal = normal;
    site->vertex = KILN_NONE;
}

static void move_sites(relaxer *r)
{
    for (size_t i = 0; i < r->domain->sites.count; i++) {
        kiln_site *site = &r->domain->sites.data[i];
        const pull *p = &r->pulls.data[i];
        if (p->weight == 0.0)
            continue;
        kiln_vec3 step = kiln_v3_scale(p->sum, 1.0 / p->weight);
        double length = kiln_v3_norm(step), most = LONGEST_MOVE * site->size;
        if (site->kind == KILN_SITE_INSIDE && length > most)
            step = kiln_v3_scale(step, most / length);
        kiln_vec3 to = kiln_v3_add(site->x, step);
        if (site->kind == KILN_SITE_INSIDE)
            move_inside(r->domain, site, to);
        else
            move_on_sheet(r->domain, site, to);
    }
}

static kiln_status relax(relaxer *r, kiln_error *error)
{
    kiln_domain *domain = r->domain;
    size_t count = domain->sites.count;
    int rounds = domain->options.rounds;
    KILN_TRY(kiln_array_reserve(domain->context, &r->pulls, count, error));
    KILN_TRY(kiln_array_reserve(domain->context, &r->points, count, error));
    for (int round = 0; round < rounds; round++) {
        KILN_TRY(kiln_domain_triangulate(domain, r->points.data, error));
        for (size_t i = 0; i < count; i++)
            r->pulls.data[i] = (pull){{0, 0, 0}, 0.0};
        pull_inside(r);
        KILN_TRY(index_sites(r, error));
        pull_sheets(r, round + 1 == (rounds > PROMOTION_ROUND ? rounds - PROMOTION_ROUND : 1));
        move_sites(r);
        kiln_domain_progress(domain, "moving sites", (round + 1.0) / rounds);
    }
    return kiln_domain_triangulate(domain, r->points.data, error);
}

kiln_status kiln_domain_relax(kiln_domain *domain, kiln_error *error)
{
    relaxer r = {.domain = domain};
    kiln_status status = relax(&r, error);
    kiln_bvh_destroy(&r.tree);
    kiln_array_free(domain->context, &r.pulls);
    kiln_array_free(domain->context, &r.points);
    return status;
}
