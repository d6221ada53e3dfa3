/* Poor tets off the surface (VPF 4.2, step 2).
 *
 * Delaunay sites on a surface make flat tets on it, with faces only a little off. They are told
 * apart by which of their dihedral angles are small, and each kind goes only where that leaves no
 * fold behind. Differences from the paper: only tets below POOR are poor (by angles alone, good
 * tets of sharp bodies would be), a tet with a corner inside stays (its removal would be a dent),
 * the last tet at a segment of a feature curve stays, and so does one without which the surface
 * would not be manifold: mending that would cost good tets. */
#include "remesh/domain_impl.h"

#include "geom/tet_quality.h"

#include <stdlib.h>
#include <string.h>

static const double POOR = 0.2, VERY_POOR = 0.1;
static const double LONGEST = 1.6; /* sizes, of edges that come in where a valley is filled */
static const double SHARP_VALLEY =
    1.4; /* radians; between bodies that became one these are filled */
enum { MOST_FILLETS = 6 };
static const double BEND = 0.25; /* of a segment, from it to a site that may take its place */
static const double SMALL = 0.8; /* cosine of an angle that is small; minus it, large */

/* Edge numbers of the three edges of each face, and the two faces at each edge (those opposite the
 * ends of the other edge). */
static const uint8_t edges_of_face[4][3] = {{3, 4, 5}, {1, 2, 5}, {0, 2, 4}, {0, 1, 3}};
static const uint8_t faces_at_edge[6][2] = {{2, 3}, {1, 3}, {1, 2}, {0, 3}, {0, 2}, {0, 1}};

static bool open_face(const kiln_domain *domain, uint32_t t, int face)
{
    kiln_link link = domain->delaunay.tets.data[t].n[face];
    return link == KILN_NONE || !domain->keep.data[link / 4];
}

/* Two small angles round a face: a cap when the third is below 90 degrees, else a sliver. */
static int cap_face(const double cosine[6])
{
    for (int face = 0; face < 4; face++) {
        int small = 0;
        bool sharp = true;
        for (int k = 0; k < 3; k++) {
            double c = cosine[edges_of_face[face][k]];
            small += c > SMALL;
            sharp &= c > 0.0;
        }
        if (small >= 2 && sharp)
            return face;
    }
    return -1;
}

static bool may_go(const kiln_domain *domain, uint32_t t, const double cosine[6])
{
    bool open[4];
    for (int i = 0; i < 4; i++)
        open[i] = open_face(domain, t, i);
    int small = 0, first = -1;
    for (int e = 5; e >= 0; e--)
        if (cosine[e] > SMALL) {
            small++;
            first = e;
        }
    if (small == 0)
        return false;
    if (small == 1) /* wedge */
        return open[faces_at_edge[first][0]] || open[faces_at_edge[first][1]];
    if (small == 2 && cosine[5 - first] > SMALL) /* splinter: edges e and 5 - e do not meet */
        return open[0] || open[1] || open[2] || open[3];
    int cap = small <= 3 ? cap_face(cosine) : -1;
    if (cap >= 0)
        return open[cap];
    /* Sliver: flat where it goes, at the edge between its open faces or at the one between those
     * that come. */
    for (int e = 0; e < 6; e++)
        for (int k = 0; k < 2 && cosine[e] < -SMALL; k++) {
            const uint8_t *faces = faces_at_edge[k ? 5 - e : e];
            if (open[faces[0]] && open[faces[1]])
                return true;
        }
    return false;
}

/* Kept tets round the edge between corners a and b of t; counts beyond `t` until two are found. */
static bool last_at_edge(const kiln_domain *domain, uint32_t t, uint32_t a, uint32_t b)
{
    const kiln_tet *tets = domain->delaunay.tets.data;
    uint32_t va = tets[t].v[a], vb = tets[t].v[b];
    for (uint32_t way = 0; way < 4; way++) {
        if (way == a || way == b)
            continue;
        /* Turn from t through the face opposite `way` until the edge's fan closes or ends. */
        uint32_t at = t, out = way;
        for (;;) {
            kiln_link link = tets[at].n[out];
            if (link == KILN_NONE || link / 4 == t)
                break;
            at = link / 4;
            if (domain->keep.data[at])
                return false;
            uint32_t in = link % 4;
            for (out = 0; out == in || tets[at].v[out] == va || tets[at].v[out] == vb;)
                out++;
        }
    }
    return true;
}

static int compare_segments(const void *a, const void *b)
{
    const kiln_soup_edge *p = a, *q = b;
    if (p->v[0] != q->v[0])
        return p->v[0] < q->v[0] ? -1 : 1;
    return p->v[1] < q->v[1] ? -1 : p->v[1] > q->v[1];
}

static kiln_soup_edge lower_first(uint32_t a, uint32_t b)
{
    return a < b ? (kiln_soup_edge){{a, b}} : (kiln_soup_edge){{b, a}};
}

static void sort_segments(kiln_domain *domain)
{
    for (size_t i = 0; i < domain->segments.count; i++) {
        const uint32_t *v = domain->segments.data[i].v;
        domain->segments.data[i] = lower_first(v[0], v[1]);
    }
    if (domain->segments.count)
        qsort(domain->segments.data, domain->segments.count, sizeof *domain->segments.data,
              compare_segments);
}

/* Whether the edge is one of a feature curve. */
static bool is_segment(const kiln_domain *domain, uint32_t a, uint32_t b)
{
    kiln_soup_edge edge = lower_first(a, b);
    return domain->segments.count > 0 &&
           bsearch(&edge, domain->segments.data, domain->segments.count, sizeof edge,
                   compare_segments) != NULL;
}

/* A curve may as well go by a corner of the tet that is this near to its segment: features of two
 * bodies that nearly meet. */
static bool may_bend(const kiln_domain *domain, const uint32_t v[4], uint32_t a, uint32_t b)
{
    const kiln_site *s = domain->sites.data;
    kiln_vec3 along = kiln_v3_sub(s[v[b]].x, s[v[a]].x);
    double length2 = kiln_v3_norm2(along);
    for (uint32_t c = 0; c < 4; c++) {
        kiln_vec3 to = kiln_v3_sub(s[v[c]].x, s[v[a]].x);
        double f = kiln_v3_dot(to, along);
        if (c != a && c != b && f > 0.0 && f < length2 &&
            kiln_v3_norm(kiln_v3_cross(to, along)) < BEND * length2)
            return true;
    }
    return false;
}

static bool holds_feature(const kiln_domain *domain, uint32_t t)
{
    const uint32_t *v = domain->delaunay.tets.data[t].v;
    for (int e = 0; e < 6; e++) {
        uint32_t a = kiln_edge_ends[e][0], b = kiln_edge_ends[e][1];
        if (domain->sites.data[v[a]].kind > KILN_SITE_CURVE ||
            domain->sites.data[v[b]].kind > KILN_SITE_CURVE)
            continue;
        if (is_segment(domain, v[a], v[b]) && !may_bend(domain, v, a, b) &&
            last_at_edge(domain, t, a, b))
            return true;
    }
    return false;
}

static bool is_poor(const kiln_domain *domain, uint32_t t, double cosine[6], double *quality)
{
    const uint32_t *v = domain->delaunay.tets.data[t].v;
    const kiln_site *s = domain->sites.data;
    for (int i = 0; i < 4; i++)
        if (s[v[i]].kind == KILN_SITE_INSIDE)
            return false;
    *quality = kiln_tet_quality(&s[v[0]].x, &s[v[1]].x, &s[v[2]].x, &s[v[3]].x);
    if (*quality >= POOR)
        return false;
    double angle[6];
    kiln_tet_dihedrals(&s[v[0]].x, &s[v[1]].x, &s[v[2]].x, &s[v[3]].x, angle);
    for (int e = 0; e < 6; e++)
        cosine[e] = cos(angle[e]);
    return true;
}

static void count_face(const kiln_domain *domain, uint32_t *open_at, uint32_t t, int face, int by)
{
    for (int k = 0; k < 4; k++)
        if (k != face)
            open_at[domain->delaunay.tets.data[t].v[k]] += (uint32_t)by;
}

/* Whether the edge of the two faces' other corners is inside: kept tets all round it. */
static bool edge_is_inside(const kiln_domain *domain, uint32_t t, uint32_t a, uint32_t b)
{
    const kiln_tet *tets = domain->delaunay.tets.data;
    uint32_t va = tets[t].v[a], vb = tets[t].v[b], at = t, out = 0;
    while (out == a || out == b)
        out++;
    for (;;) {
        kiln_link link = tets[at].n[out];
        if (link == KILN_NONE || !domain->keep.data[link / 4])
            return false;
        if (link / 4 == t)
            return true;
        at = link / 4;
        for (out = 0; out == link % 4 || tets[at].v[out] == va || tets[at].v[out] == vb;)
            out++;
    }
}

/* Taking the tet off must not make the surface meet itself: with one open face its corner inside
 * comes to the surface, with two the edge between the other two faces does. */
static bool leaves_manifold(const kiln_domain *domain, const uint32_t *open_at, uint32_t t)
{
    int open = 0, opposite = 0;
    uint32_t corner[4] = {0}; /* those opposite open faces */
    for (int i = 0; i < 4; i++)
        if (open_face(domain, t, i))
            corner[open++] = (uint32_t)(opposite = i);
    if (open == 1)
        return open_at[domain->delaunay.tets.data[t].v[opposite]] == 0;
    return open == 2 ? edge_is_inside(domain, t, corner[0], corner[1]) : open == 3;
}

static void take_off(kiln_domain *domain, uint32_t *open_at, uint32_t t)
{
    for (int i = 0; i < 4; i++)
        count_face(domain, open_at, t, i, open_face(domain, t, i) ? -1 : 1);
    domain->keep.data[t] = 0;
    domain->report.poor_removed++;
}

static bool goes(const kiln_domain *domain, const uint32_t *open_at, uint32_t t)
{
    double cosine[6], quality;
    if (!domain->keep.data[t] || !is_poor(domain, t, cosine, &quality) ||
        (quality > VERY_POOR && !leaves_manifold(domain, open_at, t)))
        return false;
    return may_go(domain, t, cosine) && !holds_feature(domain, t);
}

kiln_status kiln_domain_peel(kiln_domain *domain, kiln_error *error)
{
    size_t bytes = domain->sites.count * sizeof(uint32_t);
    uint32_t *open_at = kiln_resize(domain->context, NULL, 0, bytes); /* [site] open faces */
    if (!open_at)
        return kiln_fail_memory(error, bytes);
    memset(open_at, 0, bytes);
    sort_segments(domain);
    for (uint32_t t = 0; t < domain->delaunay.tets.count; t++)
        for (int i = 0; i < 4; i++)
            if (domain->keep.data[t] && open_face(domain, t, i))
                count_face(domain, open_at, t, i, 1);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t t = 0; t < domain->delaunay.tets.count; t++)
            if (goes(domain, open_at, t)) {
                take_off(domain, open_at, t);
                again = true;
            }
    }
    kiln_release(domain->context, open_at, bytes);
    return KILN_OK;
}

/* As good as tets that come in must be, and no longer than the sizes there. */
static bool may_come(const kiln_domain *domain, uint32_t t, double angle[6])
{
    const uint32_t *v = domain->delaunay.tets.data[t].v;
    const kiln_site *s = domain->sites.data;
    double size = 0.0, longest = 0.0;
    for (int i = 0; i < 4; i++)
        size += 0.25 * s[v[i]].size;
    for (int e = 0; e < 6; e++)
        longest = fmax(longest, kiln_v3_norm(kiln_v3_sub(s[v[kiln_edge_ends[e][0]]].x,
                                                         s[v[kiln_edge_ends[e][1]]].x)));
    if (longest > LONGEST * size ||
        kiln_tet_quality(&s[v[0]].x, &s[v[1]].x, &s[v[2]].x, &s[v[3]].x) < VERY_POOR)
        return false;
    kiln_tet_dihedrals(&s[v[0]].x, &s[v[1]].x, &s[v[2]].x, &s[v[3]].x, angle);
    return true;
}

/* A pit, or a sharp valley that is no feature. */
static bool is_filled(const kiln_domain *domain, uint32_t t)
{
    const kiln_tet *tet = &domain->delaunay.tets.data[t];
    double angle[6];
    uint32_t kept[4], count = 0;
    for (uint32_t i = 0; i < 4; i++)
        if (tet->n[i] != KILN_NONE && domain->keep.data[tet->n[i] / 4] == 1)
            kept[count++] = i;
    if (count < 2 || !may_come(domain, t, angle))
        return false;
    if (count > 2)
        return true;
    /* The two faces meet in the edge of the other two corners, which is that opposite theirs. */
    uint32_t e = 5u - kiln_edge_of[kept[0]][kept[1]];
    return angle[e] < SHARP_VALLEY &&
           !is_segment(domain, tet->v[kiln_edge_ends[e][0]], tet->v[kiln_edge_ends[e][1]]);
}

kiln_status kiln_domain_fillet(kiln_domain *domain, kiln_error *error)
{
    (void)error;
    bool again = true;
    for (int round = 0; round < MOST_FILLETS && again; round++) {
        again = false;
        for (uint32_t t = 0; t < domain->delaunay.tets.count; t++) {
            if (domain->keep.data[t] || !is_filled(domain, t))
                continue;
            domain->keep.data[t] = 2; /* counts from the next round on */
            again = true;
        }
        for (uint32_t t = 0; t < domain->delaunay.tets.count; t++)
            if (domain->keep.data[t] == 2)
                kiln_domain_put_in(domain, t);
    }
    return KILN_OK;
}
