/* Slivers away by moving sites: optimal positions leave flat tets of four sites nearly on a circle,
 * which a small move of one of them makes vanish from the triangulation (Li 2000).
 *
 * In each round an inside site of every tet below GOAL is tried at another place (along its sheet,
 * a site of a tet that has none inside), all of them at once; after the triangulation, those whose
 * worst tet has become worse go back. */
#include "remesh/domain_impl.h"

#include "base/random.h"
#include "geom/tet_quality.h"

static const double GOAL = 0.3;
static const double GOAL_ON_SHEETS =
    0.01;                                 /* of tets without an inside site: the shape goes first */
static const double MOST_ON_SHEET = 0.12; /* of the size */
static const double SAME_SHEET = 0.8;     /* cosine between its normal before and after */
static const double LEAST_STEP = 0.04, MOST_STEP = 0.25; /* of the size */
static const double OUTSIDE = 3.0;                       /* sizes: no tet of the domain is longer */
static const double BETTER = 0.97;    /* of the number of bad tets, or the round brought nothing */
static const double CLEARANCE = 0.35; /* of the size, from sheets */

enum { VAIN_ROUNDS = 4 }; /* one after the other: what is left cannot be had by moves */

typedef struct trial {
    double worst; /* of the site's tets now */
    double before;
    kiln_vec3 from; /* where it was before it was tried elsewhere */
    uint32_t vertex;
    bool tried;
} trial;

typedef struct perturber {
    kiln_domain *domain;
    trial *trial; /* [site] */
    kiln_vec3 *points;
    size_t bad; /* tets below GOAL */
} perturber;

/* Tets outside the domain do not count; one with an inside site is not outside. */
static bool is_inside(const perturber *p, const uint32_t v[4])
{
    for (int i = 0; i < 4; i++)
        if (p->domain->sites.data[v[i]].kind == KILN_SITE_INSIDE)
            return true;
    const kiln_vec3 *x = p->points;
    for (int e = 0; e < 6; e++) {
        uint32_t a = v[kiln_edge_ends[e][0]], b = v[kiln_edge_ends[e][1]];
        double most = OUTSIDE * p->domain->sites.data[a].size;
        if (kiln_v3_norm2(kiln_v3_sub(x[a], x[b])) > most * most)
            return false;
    }
    kiln_vec3 pair = kiln_v3_add(x[v[0]], x[v[1]]), other = kiln_v3_add(x[v[2]], x[v[3]]);
    return kiln_domain_locate(p->domain, kiln_v3_scale(kiln_v3_add(pair, other), 0.25)) !=
           KILN_NONE;
}

static kiln_status triangulate(perturber *p, kiln_error *error)
{
    kiln_domain *domain = p->domain;
    for (size_t i = 0; i < domain->sites.count; i++)
        p->trial[i].worst = 1.0;
    p->bad = 0;
    KILN_TRY(kiln_domain_triangulate(domain, p->points, error));
    for (size_t t = 0; t < domain->delaunay.tets.count; t++) {
        const uint32_t *v = domain->delaunay.tets.data[t].v;
        const kiln_vec3 *x = p->points;
        double quality = kiln_tet_quality(&x[v[0]], &x[v[1]], &x[v[2]], &x[v[3]]);
        if (quality >= GOAL || !is_inside(p, v))
            continue;
        p->bad++;
        for (int i = 0; i < 4; i++)
            if (quality < p->trial[v[i]].worst)
                p->trial[v[i]].worst = quality;
    }
    return KILN_OK;
}

/* Back to where they were; returns whether any did. */
static bool take_back(perturber *p)
{
    bool any = false;
    for (size_t i = 0; i < p->domain->sites.count; i++) {
        trial *t = &p->trial[i];
        if (t->tried && t->worst <= t->before) {
            p->domain->sites.data[i].x = t->from;
            p->domain->sites.data[i].vertex = t->vertex;
            any = true;
        }
        t->tried = false;
    }
    return any;
}

/* Inside sites keep clear of sheets, those of sheets stay on theirs. */
static bool is_possible(const kiln_domain *domain, const kiln_site *site, kiln_vec3 *to)
{
    kiln_vec3 nearest;
    if (site->kind == KILN_SITE_INSIDE)
        return kiln_domain_closest(domain, *to, CLEARANCE * site->size, &nearest) ==
                   KILN_BVH_NONE &&
               kiln_domain_locate(domain, *to) != KILN_NONE;
    uint32_t piece = kiln_domain_closest(domain, *to, MOST_STEP * site->size, &nearest);
    if (piece == KILN_BVH_NONE ||
        kiln_v3_dot(kiln_piece_normal(&domain->pieces.data[piece]), site->normal) < SAME_SHEET)
        return false;
    *to = nearest;
    return true;
}

static bool try_elsewhere(perturber *p, uint32_t i, int round)
{
    kiln_domain *domain = p->domain;
    kiln_site *site = &domain->sites.data[i];
    kiln_random random = kiln_random_start(domain->seed + (uint64_t)round, i);
    kiln_vec3 d;
    do {
        d.x = kiln_random_range(&random, -1.0, 1.0);
        d.y = kiln_random_range(&random, -1.0, 1.0);
        d.z = kiln_random_range(&random, -1.0, 1.0);
    } while (kiln_v3_norm2(d) > 1.0 || kiln_v3_norm2(d) < 0.01);
    double most = site->kind == KILN_SITE_INSIDE ? MOST_STEP : MOST_ON_SHEET;
    double step = kiln_random_range(&random, LEAST_STEP, most) * site->size;
    kiln_vec3 to = kiln_v3_madd(site->x, step, kiln_v3_normalize(d));
    if (!is_possible(domain, site, &to))
        return false;
    p->trial[i] = (trial){p->trial[i].worst, p->trial[i].worst, site->x, site->vertex, true};
    site->x = to;
    site->vertex = KILN_NONE;
    return true;
}

/* One site a bad tet, the one with the worst tets that is not tried yet; neighbours that were tried
 * at once would judge each other's moves. */
static bool try_others(perturber *p, int round)
{
    const kiln_domain *domain = p->domain;
    bool any = false;
    for (size_t t = 0; t < domain->delaunay.tets.count; t++) {
        const uint32_t *v = domain->delaunay.tets.data[t].v;
        const kiln_vec3 *x = p->points;
        bool busy = false;
        uint32_t choice = KILN_NONE;
        uint32_t on_sheet = KILN_NONE;
        for (int k = 0; k < 4; k++) {
            uint32_t i = v[(k + round) % 4];
            busy |= p->trial[i].tried;
            if (domain->sites.data[i].kind == KILN_SITE_INSIDE && choice == KILN_NONE)
                choice = i;
            if (domain->sites.data[i].kind == KILN_SITE_SHEET && on_sheet == KILN_NONE)
                on_sheet = i;
        }
        double quality = kiln_tet_quality(&x[v[0]], &x[v[1]], &x[v[2]], &x[v[3]]);
        if (choice == KILN_NONE && quality < GOAL_ON_SHEETS)
            choice = on_sheet;
        if (busy || choice == KILN_NONE || quality >= GOAL || !is_inside(p, v))
            continue;
        any |= try_elsewhere(p, choice, round);
    }
    return any;
}

static kiln_status perturb(perturber *p, int rounds, kiln_error *error)
{
    KILN_TRY(triangulate(p, error));
    double least = (double)p->bad;
    int vain = 0;
    for (int round = 0; round < rounds && vain < VAIN_ROUNDS; round++) {
        if (!try_others(p, round))
            break;
        KILN_TRY(triangulate(p, error));
        if (take_back(p))
            KILN_TRY(triangulate(p, error));
        vain = (double)p->bad < BETTER * least ? 0 : vain + 1;
        least = (double)p->bad < least ? (double)p->bad : least;
        kiln_domain_progress(p->domain, "removing slivers", (round + 1.0) / rounds);
    }
    return KILN_OK;
}

kiln_status kiln_domain_perturb(kiln_domain *domain, int rounds, kiln_error *error)
{
    size_t count = domain->sites.count, bytes = count * (sizeof(trial) + sizeof(kiln_vec3));
    perturber p = {.domain = domain, .trial = kiln_resize(domain->context, NULL, 0, bytes)};
    if (!p.trial)
        return kiln_fail_memory(error, bytes);
    p.points = (kiln_vec3 *)(void *)(p.trial + count);
    for (size_t i = 0; i < count; i++)
        p.trial[i] = (trial){.tried = false};
    kiln_status status = perturb(&p, rounds, error);
    kiln_release(domain->context, p.trial, bytes);
    return status;
}
