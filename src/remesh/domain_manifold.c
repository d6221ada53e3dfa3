/* A manifold surface, by putting Delaunay tets in and taking others out (VPF 4.2, step 3).
 *
 * A vertex is manifold when the kept tets at it hang together through faces, and the others
 * (with the outside of the hull) do too; an edge, when the kept tets round it are one fan. What is
 * the smaller by volume goes, or comes in if its tets are good enough. A tet changes sides at most
 * MOST_FLIPS times, so that this ends; topology/repair.h cuts what is left.
 *
 * Coarse bodies that meet in an edge only would be bridged by a large part of what they are. Where
 * all that comes and goes is too much, it is done again for small tets alone: the rest is cut. */
#include "remesh/domain_impl.h"

#include "geom/tet_quality.h"

#include <string.h>

static const double GOOD_ENOUGH = 0.05;     /* quality of tets put in */
static const double SMALL_OF_BRIDGED = 0.1; /* what goes at once, where all was too much */
enum { MOST_FLIPS = 2, MOST_ROUNDS = 20, MOST_FAN = 512 };

typedef struct mender {
    kiln_domain *domain;
    kiln_u32_array start, star; /* tets of each site */
    KILN_ARRAY_OF(uint8_t)
    flips;                   /* [tet] */
    kiln_u32_array class_of; /* [tet] in the star at hand; KILN_NONE elsewhere */
    kiln_u32_array queue;
    double most;    /* m^3, of what changes sides at once */
    double small;   /* m^3, of a body's corner that goes */
    double flipped; /* m^3, of all that has */
    bool changed;
} mender;

static double volume_of(const kiln_domain *domain, uint32_t t)
{
    const uint32_t *v = domain->delaunay.tets.data[t].v;
    const kiln_site *s = domain->sites.data;
    return kiln_tet_volume(s[v[0]].x, s[v[1]].x, s[v[2]].x, s[v[3]].x);
}

static double quality_of(const kiln_domain *domain, uint32_t t)
{
    const uint32_t *v = domain->delaunay.tets.data[t].v;
    const kiln_site *s = domain->sites.data;
    return kiln_tet_quality(&s[v[0]].x, &s[v[1]].x, &s[v[2]].x, &s[v[3]].x);
}

/* Of the old tet nearest to the centre: what is put in may be outside all of them. */
static int32_t nearest_region(const kiln_domain *domain, uint32_t t)
{
    const uint32_t *v = domain->delaunay.tets.data[t].v;
    const kiln_site *s = domain->sites.data;
    kiln_vec3 sum =
        kiln_v3_add(kiln_v3_add(s[v[0]].x, s[v[1]].x), kiln_v3_add(s[v[2]].x, s[v[3]].x));
    kiln_vec3 point;
    uint32_t item = kiln_domain_closest(domain, kiln_v3_scale(sum, 0.25), INFINITY, &point);
    return item == KILN_BVH_NONE ? 0 : domain->mesh->info[domain->pieces.data[item].at / 4].region;
}

void kiln_domain_put_in(kiln_domain *domain, uint32_t t)
{
    domain->keep.data[t] = 1;
    if (domain->region.data[t] == KILN_NO_REGION)
        domain->region.data[t] = nearest_region(domain, t);
    domain->report.filled++;
}

static void flip(mender *m, uint32_t t)
{
    kiln_domain *domain = m->domain;
    if (!domain->keep.data[t]) {
        kiln_domain_put_in(domain, t);
    } else {
        domain->keep.data[t] = 0;
        domain->report.dug++;
    }
    m->flips.data[t]++;
    m->flipped += volume_of(domain, t);
    m->changed = true;
}

static kiln_status list_stars(mender *m, kiln_error *error)
{
    kiln_context *context = m->domain->context;
    size_t sites = m->domain->sites.count, tets = m->domain->delaunay.tets.count;
    const kiln_tet *tet = m->domain->delaunay.tets.data;
    KILN_TRY(kiln_array_reserve(context, &m->start, sites + 2, error));
    KILN_TRY(kiln_array_reserve(context, &m->star, 4 * tets, error));
    KILN_TRY(kiln_array_reserve(context, &m->flips, tets, error));
    KILN_TRY(kiln_array_reserve(context, &m->class_of, tets, error));
    KILN_TRY(kiln_array_reserve(context, &m->queue, tets, error));
    memset(m->start.data, 0, (sites + 2) * sizeof *m->start.data);
    memset(m->flips.data, 0, tets);
    memset(m->class_of.data, 0xFF, tets * sizeof *m->class_of.data);
    for (size_t i = 0; i < 4 * tets; i++)
        m->start.data[tet[i / 4].v[i % 4] + 2]++;
    for (size_t v = 2; v <= sites + 1; v++)
        m->start.data[v] += m->start.data[v - 1];
    for (size_t i = 0; i < 4 * tets; i++)
        m->star.data[m->start.data[tet[i / 4].v[i % 4] + 1]++] = (uint32_t)(i / 4);
    return KILN_OK;
}

/* What hangs together of one kind of tets at a site. */
typedef struct class_sum {
    double volume;
    bool outside; /* reaches the outside of the hull */
} class_sum;

enum { MOST_CLASSES = 16 };

/* Classes of the site's tets with that `keep`; those that reach the outside are one. Returns how
 * many there are, at most MOST_CLASSES are told apart. */
static int classify(mender *m, uint32_t site, uint8_t keep, class_sum sum[MOST_CLASSES])
{
    const kiln_domain *domain = m->domain;
    const uint32_t *star = m->star.data + m->start.data[site];
    uint32_t degree = m->start.data[site + 1] - m->start.data[site];
    int classes = 0;
    for (uint32_t i = 0; i < degree; i++) {
        if (domain->keep.data[star[i]] != keep || m->class_of.data[star[i]] != KILN_NONE)
            continue;
        int number = classes < MOST_CLASSES ? classes++ : MOST_CLASSES - 1;
        class_sum *s = &sum[number];
        *s = (class_sum){0.0, false};
        m->queue.count = 0;
        m->queue.data[m->queue.count++] = star[i];
        m->class_of.data[star[i]] = (uint32_t)number;
        for (size_t at = 0; at < m->queue.count; at++) {
            uint32_t t = m->queue.data[at];
            const kiln_tet *tet = &domain->delaunay.tets.data[t];
            s->volume += volume_of(domain, t);
            for (int k = 0; k < 4; k++) {
                if (tet->v[k] == site)
                    continue;
                s->outside |= tet->n[k] == KILN_NONE;
                uint32_t other = tet->n[k] == KILN_NONE ? t : tet->n[k] / 4;
                if (domain->keep.data[other] != keep || m->class_of.data[other] != KILN_NONE)
                    continue;
                m->class_of.data[other] = (uint32_t)number;
                m->queue.data[m->queue.count++] = other;
            }
        }
    }
    return classes;
}

static void forget_classes(mender *m, uint32_t site)
{
    for (uint32_t i = m->start.data[site]; i < m->start.data[site + 1]; i++)
        m->class_of.data[m->star.data[i]] = KILN_NONE;
}

/* The smaller of two bodies that meet in a corner would lose it; there they are cut. */
static double most_at(const mender *m, uint32_t site, bool goes)
{
    bool corner = m->domain->sites.data[site].kind == KILN_SITE_CORNER;
    return goes && corner ? fmin(m->small, m->most) : m->most;
}

static bool may_flip(const mender *m, uint32_t site, uint32_t number)
{
    for (uint32_t i = m->start.data[site]; i < m->start.data[site + 1]; i++) {
        uint32_t t = m->star.data[i];
        if (m->class_of.data[t] != number)
            continue;
        bool comes = !m->domain->keep.data[t];
        if (m->flips.data[t] >= MOST_FLIPS || (comes && quality_of(m->domain, t) < GOOD_ENOUGH))
            return false;
    }
    return true;
}

static void flip_class(mender *m, uint32_t site, uint32_t number)
{
    for (uint32_t i = m->start.data[site]; i < m->start.data[site + 1]; i++)
        if (m->class_of.data[m->star.data[i]] == number)
            flip(m, m->star.data[i]);
}

static bool on_hull(const mender *m, uint32_t site)
{
    for (uint32_t i = m->start.data[site]; i < m->start.data[site + 1]; i++) {
        const kiln_tet *tet = &m->domain->delaunay.tets.data[m->star.data[i]];
        for (int k = 0; k < 4; k++)
            if (tet->n[k] == KILN_NONE && tet->v[k] != site)
                return true;
    }
    return false;
}

/* All kept classes but the largest go; all others but the largest (or the one outside) come in. */
static void mend_site(mender *m, uint32_t site, uint8_t keep)
{
    class_sum sum[MOST_CLASSES];
    int classes = classify(m, site, keep, sum);
    int largest = 0;
    bool hull = !keep && on_hull(m, site);
    for (int k = 1; k < classes; k++)
        if (sum[k].outside > sum[largest].outside ||
            (sum[k].outside == sum[largest].outside && sum[k].volume > sum[largest].volume))
            largest = k;
    for (int k = 0; k < classes; k++) {
        bool stays = keep ? k == largest : sum[k].outside || (!hull && k == largest);
        if (!stays && sum[k].volume <= most_at(m, site, keep) && may_flip(m, site, (uint32_t)k))
            flip_class(m, site, (uint32_t)k);
    }
    forget_classes(m, site);
}

/* Tets round an edge in order of rotation; an open fan is that of a hull edge. */
typedef struct fan {
    uint32_t tet[MOST_FAN];
    int count;
    bool closed;
} fan;

static void turn(const kiln_domain *domain, uint32_t t, uint32_t out, uint32_t va, uint32_t vb,
                 fan *f)
{
    const kiln_tet *tets = domain->delaunay.tets.data;
    for (uint32_t at = t;;) {
        kiln_link link = tets[at].n[out];
        if (link == KILN_NONE || f->count == MOST_FAN)
            return;
        if (link / 4 == t) {
            f->closed = true;
            return;
        }
        at = link / 4;
        f->tet[f->count++] = at;
        uint32_t in = link % 4;
        for (out = 0; out == in || tets[at].v[out] == va || tets[at].v[out] == vb;)
            out++;
    }
}

static void collect_fan(const kiln_domain *domain, uint32_t t, uint32_t a, uint32_t b, fan *f)
{
    const uint32_t *v = domain->delaunay.tets.data[t].v;
    uint32_t c = 0, d;
    while (c == a || c == b)
        c++;
    d = 6 - a - b - c;
    f->count = 1;
    f->tet[0] = t;
    f->closed = false;
    turn(domain, t, c, v[a], v[b], f);
    if (f->closed)
        return;
    for (int i = 0, j = f->count - 1; i < j; i++, j--) {
        uint32_t swap = f->tet[i];
        f->tet[i] = f->tet[j];
        f->tet[j] = swap;
    }
    turn(domain, t, d, v[a], v[b], f);
}

/* Runs of equal `keep` round the edge; the best one to change sides, or none. */
static void mend_fan(mender *m, const fan *f)
{
    const uint8_t *keep = m->domain->keep.data;
    int changes = 0, begin = 0;
    for (int i = 0; i < f->count; i++) {
        int before = i ? i - 1 : f->count - 1;
        if ((i || f->closed) && keep[f->tet[i]] != keep[f->tet[before]]) {
            changes++;
            begin = i;
        }
    }
    if (f->closed ? changes <= 2 : changes + keep[f->tet[0]] + keep[f->tet[f->count - 1]] <= 2)
        return;
    begin = f->closed ? begin : 0;
    double best = INFINITY;
    int best_from = -1, best_count = 0;
    for (int i = 0; i < f->count;) {
        int n = 0;
        double volume = 0.0;
        bool allowed = true;
        uint8_t kind = keep[f->tet[(begin + i) % f->count]];
        for (; i + n < f->count && keep[f->tet[(begin + i + n) % f->count]] == kind; n++) {
            uint32_t t = f->tet[(begin + i + n) % f->count];
            volume += volume_of(m->domain, t);
            allowed &= m->flips.data[t] < MOST_FLIPS;
            allowed &= kind || quality_of(m->domain, t) >= GOOD_ENOUGH;
        }
        /* A gap at either end of an open fan is the outside. */
        bool outside = !f->closed && !kind && (i == 0 || i + n == f->count);
        if (allowed && !outside && volume <= m->most && volume < best) {
            best = volume;
            best_from = i;
            best_count = n;
        }
        i += n;
    }
    for (int k = 0; best_from >= 0 && k < best_count; k++)
        flip(m, f->tet[(begin + best_from + k) % f->count]);
}

static void mend_edges(mender *m)
{
    const kiln_domain *domain = m->domain;
    fan f;
    for (uint32_t t = 0; t < domain->delaunay.tets.count; t++)
        for (int e = 0; e < 6 && domain->keep.data[t]; e++) {
            const uint32_t *v = domain->delaunay.tets.data[t].v;
            uint32_t a = kiln_edge_ends[e][0], b = kiln_edge_ends[e][1];
            if (domain->sites.data[v[a]].kind == KILN_SITE_INSIDE &&
                domain->sites.data[v[b]].kind == KILN_SITE_INSIDE)
                continue;
            collect_fan(domain, t, a, b, &f);
            if (f.count < MOST_FAN)
                mend_fan(m, &f);
        }
}

static void mend_all(mender *m)
{
    m->changed = true;
    for (int round = 0; round < MOST_ROUNDS && m->changed; round++) {
        m->changed = false;
        mend_edges(m);
        for (uint32_t site = 0; site < m->domain->sites.count; site++) {
            mend_site(m, site, 1);
            mend_site(m, site, 0);
        }
    }
}

/* Which tets are kept as it was before, so that it can be done in another way. */
typedef struct choice {
    uint8_t *keep;
    int32_t *region;
    size_t tets, filled, dug;
} choice;

static kiln_status note_choice(const kiln_domain *domain, choice *c, kiln_error *error)
{
    c->tets = domain->delaunay.tets.count;
    c->filled = domain->report.filled;
    c->dug = domain->report.dug;
    c->keep = kiln_resize(domain->context, NULL, 0, c->tets);
    c->region = kiln_resize(domain->context, NULL, 0, c->tets * sizeof *c->region);
    if (!c->keep || !c->region)
        return kiln_fail_memory(error, c->tets * sizeof *c->region);
    memcpy(c->keep, domain->keep.data, c->tets);
    memcpy(c->region, domain->region.data, c->tets * sizeof *c->region);
    return KILN_OK;
}

static void go_back(mender *m, const choice *c)
{
    kiln_domain *domain = m->domain;
    memcpy(domain->keep.data, c->keep, c->tets);
    memcpy(domain->region.data, c->region, c->tets * sizeof *c->region);
    memset(m->flips.data, 0, c->tets);
    domain->report.filled = c->filled;
    domain->report.dug = c->dug;
    m->flipped = 0.0;
}

kiln_status kiln_domain_mend(kiln_domain *domain, kiln_error *error)
{
    mender m = {.domain = domain, .most = INFINITY};
    double bridged = domain->options.most_bridged * domain->report.volume_before;
    choice before = {0};
    m.small = SMALL_OF_BRIDGED * bridged;
    kiln_status status = list_stars(&m, error);
    if (status == KILN_OK)
        status = note_choice(domain, &before, error);
    if (status == KILN_OK) {
        mend_all(&m);
        if (m.flipped > bridged) {
            go_back(&m, &before);
            m.most = m.small;
            mend_all(&m);
        }
    }
    kiln_release(domain->context, before.keep, before.tets);
    kiln_release(domain->context, before.region, before.tets * sizeof *before.region);
    kiln_array_free(domain->context, &m.start);
    kiln_array_free(domain->context, &m.star);
    kiln_array_free(domain->context, &m.flips);
    kiln_array_free(domain->context, &m.class_of);
    kiln_array_free(domain->context, &m.queue);
    return status;
}
