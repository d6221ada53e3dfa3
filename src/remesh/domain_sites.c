/* Where the sites on the outline begin: corners and curves (domain_curves.c), then sheets.
 *
 * On sheets, candidates are the old vertices and then random samples; each is taken unless a site
 * taken before is nearer than SPACING sizes, so that the sites are as dense as they may be (a
 * maximal Poisson-disk set). From curves it is more than sqrt(1/2): no sheet site is then inside
 * the diametral sphere of a segment, so that curves are edges of the Delaunay triangulation. */
#include "remesh/domain_impl.h"

#include "base/random.h"

static const double SPACING = 0.67; /* of the size: this densely, sites are 1 apart on average */
static const double FROM_CURVES = 0.72; /* of the size */
static const double BETWEEN_BENT = 0.6; /* of the size, between old vertices that hold the shape */
static const double OTHER_PART = 0.6;   /* of the size, to features of another body */
static const double FACING = -0.5;      /* cosine between normals: the two sides of a gap */
static const double RIM = 1.5; /* gaps, between sites across one: its rim has them on one side */
static const double SAMPLES = 12.0; /* for each square of the size */
static const double FLAT = 1e-8;    /* 1 - |mean of unit normals|, half the angle squared */
enum { MOST_SAMPLES = 1 << 16 };

typedef struct thrower {
    kiln_domain *domain;
    kiln_site_array candidates; /* in order of priority */
    KILN_ARRAY_OF(uint8_t)
    blocked;
    kiln_u32_array site_of; /* [candidate] */
    kiln_bvh tree;          /* over the candidates */
    uint32_t taking;        /* the candidate that blocks others just now */
} thrower;

/* Sum of the unit normals of the pieces at an old vertex. */
typedef struct normal_sum {
    kiln_vec3 sum;
    double count;
} normal_sum;

static void sum_normals(const kiln_domain *domain, normal_sum *at)
{
    for (size_t i = 0; i < domain->pieces.count; i++) {
        const kiln_piece *piece = &domain->pieces.data[i];
        kiln_vec3 normal = kiln_piece_normal(piece);
        for (int k = 0; k < 3; k++) {
            uint32_t corner = kiln_face_corner[piece->at % 4][k];
            normal_sum *s = &at[domain->mesh->tet[piece->at / 4].v[corner]];
            s->sum = kiln_v3_add(s->sum, normal);
            s->count += kiln_v3_norm(normal);
        }
    }
}

static kiln_status add_vertex(thrower *w, uint32_t v, kiln_vec3 normal, bool bent,
                              kiln_error *error)
{
    kiln_domain *domain = w->domain;
    const kiln_mesh *mesh = domain->mesh;
    kiln_site site = {.x = domain->x[v],
                      .normal = kiln_v3_normalize(normal),
                      .vertex = v,
                      .part = mesh->info[mesh->vertex[v].tet].part,
                      .kind = KILN_SITE_SHEET,
                      .pinned = bent};
    KILN_TRY(kiln_domain_size(domain, site.x, &site.size, error));
    kiln_vec3 nearest;
    if (kiln_domain_closest(domain, site.x, 1e-6 * site.size, &nearest) == KILN_BVH_NONE)
        return KILN_OK; /* covered by another body */
    return kiln_array_push(domain->context, &w->candidates, site, error);
}

/* Old vertices on sheets but not on features. Where the sheet is bent they come first and are
 * pinned: moving them would wear the shape down. */
static kiln_status add_vertices(thrower *w, const normal_sum *normals, kiln_error *error)
{
    const kiln_mesh *mesh = w->domain->mesh;
    const uint32_t other = KILN_VERTEX_FEATURE | KILN_VERTEX_CORNER | KILN_VERTEX_REQUIRED;
    for (int bent = 1; bent >= 0; bent--)
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
            const normal_sum *s = &normals[v];
            if (s->count == 0.0 || (mesh->vertex[v].flags & other))
                continue;
            if ((1.0 - kiln_v3_norm(s->sum) / s->count > FLAT) == (bent == 1))
                KILN_TRY(add_vertex(w, v, s->sum, bent == 1, error));
        }
    return KILN_OK;
}

static kiln_status add_old_vertices(thrower *w, kiln_error *error)
{
    kiln_context *context = w->domain->context;
    size_t bytes = w->domain->mesh->table[KILN_ON_VERTEX].used * sizeof(normal_sum);
    normal_sum *normals = kiln_resize(context, NULL, 0, bytes);
    if (!normals)
        return kiln_fail_memory(error, bytes);
    for (size_t i = 0; i < bytes / sizeof *normals; i++)
        normals[i] = (normal_sum){{0, 0, 0}, 0.0};
    sum_normals(w->domain, normals);
    kiln_status status = add_vertices(w, normals, error);
    kiln_release(context, normals, bytes);
    return status;
}

/* Uniform in each piece; also kept for the optimisation. */
static kiln_status sample_pieces(kiln_domain *domain, kiln_error *error)
{
    for (size_t i = 0; i < domain->pieces.count; i++) {
        const kiln_piece *piece = &domain->pieces.data[i];
        kiln_vec3 e = kiln_v3_sub(piece->p[1], piece->p[0]);
        kiln_vec3 f = kiln_v3_sub(piece->p[2], piece->p[0]);
        kiln_vec3 centre = kiln_v3_madd(piece->p[0], 1.0 / 3.0, kiln_v3_add(e, f));
        kiln_site site = {.normal = kiln_piece_normal(piece),
                          .vertex = KILN_NONE,
                          .part = domain->mesh->info[piece->at / 4].part,
                          .kind = KILN_SITE_SHEET};
        KILN_TRY(kiln_domain_size(domain, centre, &site.size, error));
        double area = 0.5 * kiln_v3_norm(kiln_v3_cross(e, f));
        kiln_random random = kiln_random_start(domain->seed, i);
        double wanted = SAMPLES * area / (site.size * site.size) + kiln_random_unit(&random);
        wanted = wanted < MOST_SAMPLES ? wanted : MOST_SAMPLES;
        for (double k = 1.0; k <= wanted; k += 1.0) {
            double a = kiln_random_unit(&random), b = kiln_random_unit(&random);
            if (a + b > 1.0) {
                a = 1.0 - a;
                b = 1.0 - b;
            }
            site.x = kiln_v3_madd(kiln_v3_madd(piece->p[0], a, e), b, f);
            KILN_TRY(kiln_array_push(domain->context, &domain->samples, site, error));
        }
    }
    return KILN_OK;
}

/* Samples in an order without pattern: piece by piece, sites would line up with the old mesh. */
static kiln_status add_samples(thrower *w, kiln_error *error)
{
    kiln_domain *domain = w->domain;
    KILN_TRY(sample_pieces(domain, error));
    size_t count = domain->samples.count, first = w->candidates.count;
    KILN_TRY(kiln_array_reserve(domain->context, &w->candidates, first + count, error));
    kiln_random random = kiln_random_start(domain->seed, KILN_NONE);
    kiln_site *to = w->candidates.data + first;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t j = kiln_random_below(&random, i + 1);
        to[i] = to[j];
        to[j] = domain->samples.data[i];
    }
    w->candidates.count += count;
    return KILN_OK;
}

static bool block(void *user, uint32_t item)
{
    thrower *w = user;
    const kiln_site *by = &w->candidates.data[w->taking], *it = &w->candidates.data[item];
    if (item <= w->taking)
        return true;
    bool same_part = by->part == it->part;
    bool on_feature = it->kind != KILN_SITE_SHEET;
    if (on_feature && same_part)
        return true;
    double facing = by->kind == KILN_SITE_SHEET ? kiln_v3_dot(by->normal, it->normal) : 1.0;
    bool across = facing < FACING && w->domain->options.gap > 0.0 &&
                  kiln_v3_dot(kiln_v3_sub(it->x, by->x), by->normal) > 0.0;
    /* The other side of something thin is another matter. */
    if (same_part && !across && facing <= 0.0)
        return true;
    bool bent = by->kind == KILN_SITE_SHEET && it->pinned && same_part;
    double reach = by->size * (across                        ? RIM * w->domain->options.gap
                               : on_feature                  ? OTHER_PART
                               : by->kind != KILN_SITE_SHEET ? FROM_CURVES
                               : bent                        ? BETWEEN_BENT
                                                             : SPACING);
    if (kiln_v3_norm2(kiln_v3_sub(by->x, it->x)) < reach * reach)
        w->blocked.data[item] = 1;
    return true;
}

static void count_site(kiln_domain_report *report, const kiln_site *site)
{
    report->corner_sites += site->kind == KILN_SITE_CORNER;
    report->curve_sites += site->kind == KILN_SITE_CURVE;
    report->surface_sites += site->kind == KILN_SITE_SHEET;
    report->kept_vertices += site->kind == KILN_SITE_SHEET && site->vertex != KILN_NONE;
}

static kiln_status throw_darts(thrower *w, kiln_error *error)
{
    kiln_domain *domain = w->domain;
    size_t count = w->candidates.count;
    KILN_ARRAY_OF(kiln_box)
    boxes = {0};
    KILN_TRY(kiln_array_reserve(domain->context, &w->blocked, count, error));
    KILN_TRY(kiln_array_reserve(domain->context, &w->site_of, count, error));
    KILN_TRY(kiln_array_reserve(domain->context, &boxes, count, error));
    for (size_t i = 0; i < count; i++) {
        boxes.data[i] = (kiln_box){w->candidates.data[i].x, w->candidates.data[i].x};
        w->blocked.data[i] = 0;
    }
    kiln_status status = kiln_bvh_build(&w->tree, domain->context, boxes.data, count, error);
    kiln_array_free(domain->context, &boxes);
    for (size_t i = 0; i < count && status == KILN_OK; i++) {
        w->site_of.data[i] = w->blocked.data[i] ? KILN_NONE : (uint32_t)domain->sites.count;
        if (w->blocked.data[i])
            continue;
        const kiln_site *site = &w->candidates.data[i];
        kiln_vec3 reach = kiln_v3_scale(kiln_v3(1, 1, 1), FROM_CURVES * site->size);
        w->taking = (uint32_t)i;
        kiln_bvh_query_box(&w->tree,
                           (kiln_box){kiln_v3_sub(site->x, reach), kiln_v3_add(site->x, reach)},
                           block, w);
        count_site(&domain->report, site);
        status = kiln_array_push(domain->context, &domain->sites, *site, error);
    }
    return status;
}

/* Segments of the curves between sites, by their numbers; those that lost an end go. */
static void renumber_segments(const thrower *w)
{
    kiln_domain *domain = w->domain;
    size_t kept = 0;
    for (size_t i = 0; i < domain->segments.count; i++) {
        const uint32_t *v = domain->segments.data[i].v;
        uint32_t a = w->site_of.data[v[0]], b = w->site_of.data[v[1]];
        if (a != KILN_NONE && b != KILN_NONE)
            domain->segments.data[kept++] = (kiln_soup_edge){{a, b}};
    }
    domain->segments.count = kept;
}

static kiln_status place(thrower *w, kiln_error *error)
{
    KILN_TRY(kiln_domain_trace_curves(w->domain, &w->candidates, error));
    KILN_TRY(add_old_vertices(w, error));
    KILN_TRY(add_samples(w, error));
    KILN_TRY(throw_darts(w, error));
    renumber_segments(w);
    return KILN_OK;
}

kiln_status kiln_domain_place_sites(kiln_domain *domain, kiln_error *error)
{
    thrower w = {.domain = domain};
    kiln_status status = place(&w, error);
    kiln_bvh_destroy(&w.tree);
    kiln_array_free(domain->context, &w.blocked);
    kiln_array_free(domain->context, &w.site_of);
    kiln_array_free(domain->context, &w.candidates);
    KILN_TRY(status);
    return kiln_domain_fill_lattice(domain, error);
}
