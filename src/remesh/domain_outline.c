/* The space an old mesh fills: where its outline is, what is inside, how large its edges are. */
#include "remesh/domain_impl.h"

#include "geom/distance.h"
#include "geom/tet_location.h"
#include "remesh/nearby.h"
#include "topology/crossing.h"

#include <string.h>

/* Parts of a face are looked at down to this fraction of the size where a body covers some of it.
 */
static const double FINEST_PIECE = 0.125;
/* How far outside a face one looks for a tet that covers it, as a fraction of its longest edge. */
static const double PROBE = 1e-3;
static const double SAME_VOLUME = 1e-6;
enum { SMOOTHING_PASSES = 1, DEEPEST_SPLIT = 12 };

void kiln_domain_progress(const kiln_domain *domain, const char *stage, double done)
{
    if (domain->options.progress)
        domain->options.progress(domain->options.progress_user, stage, done);
}

void kiln_domain_tet(const kiln_domain *domain, uint32_t tet, kiln_vec3 out[4])
{
    const uint32_t *v = domain->mesh->tet[tet].v;
    for (int i = 0; i < 4; i++)
        out[i] = domain->x[v[i]];
    if (kiln_orient3d(out[0], out[1], out[2], out[3]) < 0.0) {
        kiln_vec3 swap = out[2];
        out[2] = out[3];
        out[3] = swap;
    }
}

typedef struct location {
    const kiln_domain *domain;
    kiln_vec3 p;
    uint32_t tet;
} location;

static bool hold(void *user, uint32_t item)
{
    location *l = user;
    kiln_vec3 x[4];
    kiln_domain_tet(l->domain, l->domain->live.data[item], x);
    if (kiln_tet_locate(x, l->p).place == KILN_TET_OUTSIDE)
        return true;
    uint32_t tet = l->domain->live.data[item];
    if (l->tet == KILN_NONE || kiln_domain_outranks(l->domain, tet, l->tet))
        l->tet = tet;
    return l->domain->several_parts;
}

bool kiln_domain_outranks(const kiln_domain *domain, uint32_t tet, uint32_t other)
{
    const kiln_tet_info *info = domain->mesh->info;
    return domain->rank.data[info[tet].part] < domain->rank.data[info[other].part];
}

uint32_t kiln_domain_locate(const kiln_domain *domain, kiln_vec3 p)
{
    location l = {domain, p, KILN_NONE};
    kiln_bvh_query_box(&domain->tets, (kiln_box){p, p}, hold, &l);
    return l.tet == KILN_NONE ? kiln_domain_gap_at(domain, p) : l.tet;
}

kiln_vec3 kiln_piece_normal(const kiln_piece *piece)
{
    return kiln_v3_normalize(kiln_v3_cross(kiln_v3_sub(piece->p[1], piece->p[0]),
                                           kiln_v3_sub(piece->p[2], piece->p[0])));
}

static double distance2_to_piece(void *user, uint32_t item, kiln_vec3 p)
{
    const kiln_domain *domain = user;
    return kiln_closest_on_triangle(p, domain->pieces.data[item].p).distance2;
}

uint32_t kiln_domain_closest(const kiln_domain *domain, kiln_vec3 p, double limit,
                             kiln_vec3 *nearest)
{
    *nearest = p;
    uint32_t item = kiln_bvh_closest(&domain->outline, p, limit * limit, distance2_to_piece,
                                     (void *)(uintptr_t)domain, NULL);
    if (item != KILN_BVH_NONE)
        *nearest = kiln_v3_sub(p, kiln_closest_on_triangle(p, domain->pieces.data[item].p).offset);
    return item;
}

typedef struct facing {
    const kiln_domain *domain;
    kiln_vec3 normal;
} facing;

static double distance2_facing(void *user, uint32_t item, kiln_vec3 p)
{
    const facing *f = user;
    const kiln_piece *piece = &f->domain->pieces.data[item];
    if (piece->interface || kiln_v3_dot(kiln_piece_normal(piece), f->normal) <= 0.0)
        return INFINITY;
    return kiln_closest_on_triangle(p, piece->p).distance2;
}

uint32_t kiln_domain_closest_facing(const kiln_domain *domain, kiln_vec3 p, kiln_vec3 normal)
{
    facing f = {domain, normal};
    return kiln_bvh_closest(&domain->outline, p, INFINITY, distance2_facing, &f, NULL);
}

static double distance2_to_interface(void *user, uint32_t item, kiln_vec3 p)
{
    const kiln_domain *domain = user;
    const kiln_piece *piece = &domain->pieces.data[item];
    return piece->interface ? kiln_closest_on_triangle(p, piece->p).distance2 : INFINITY;
}

bool kiln_domain_near_interface(const kiln_domain *domain, kiln_vec3 p, double limit)
{
    return kiln_bvh_closest(&domain->outline, p, limit * limit, distance2_to_interface,
                            (void *)(uintptr_t)domain, NULL) != KILN_BVH_NONE;
}

static double size_of_old(const kiln_domain *domain, kiln_vec3 p)
{
    const kiln_mesh *mesh = domain->mesh;
    const double *local = domain->local.data;
    uint32_t tet = kiln_domain_locate(domain, p);
    if (tet == KILN_NONE) {
        kiln_vec3 nearest;
        uint32_t piece = kiln_domain_closest(domain, p, INFINITY, &nearest);
        tet = domain->pieces.data[piece].at / 4;
        p = nearest;
    }
    kiln_vec3 x[4];
    const uint32_t *v = mesh->tet[tet].v;
    for (int i = 0; i < 4; i++)
        x[i] = domain->x[v[i]];
    const double *w = kiln_closest_on_tet(p, x).weight;
    return w[0] * local[v[0]] + w[1] * local[v[1]] + w[2] * local[v[2]] + w[3] * local[v[3]];
}

double kiln_domain_limited(const kiln_domain_options *options, double size)
{
    if (size < options->size_min)
        return options->size_min;
    return options->size_max > 0.0 && size > options->size_max ? options->size_max : size;
}

double kiln_domain_face_size(const kiln_domain *domain, uint32_t at)
{
    double size = 0.0;
    for (int k = 0; k < 3; k++)
        size += domain->local.data[domain->mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]] / 3.0;
    return kiln_domain_limited(&domain->options,
                               domain->options.size > 0.0 ? domain->options.size : size);
}

kiln_status kiln_domain_size(const kiln_domain *domain, kiln_vec3 p, double *size,
                             kiln_error *error)
{
    const kiln_domain_options *options = &domain->options;
    *size = options->size > 0.0 ? options->size
            : options->size_at  ? options->size_at(options->size_user, p)
                                : size_of_old(domain, p);
    *size = kiln_domain_limited(options, *size);
    if (!(*size > 0.0) || !isfinite(*size))
        return kiln_fail(error, KILN_ERR_INPUT, "size", 0, -1, "must be positive, got %g", *size);
    return KILN_OK;
}

static kiln_status list_tets(kiln_domain *domain, kiln_error *error)
{
    const kiln_mesh *mesh = domain->mesh;
    kiln_context *context = domain->context;
    size_t used = mesh->table[KILN_ON_TET].used, live = mesh->table[KILN_ON_TET].live;
    if (live == 0)
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1, "the mesh has no tets");
    KILN_TRY(kiln_array_reserve(context, &domain->live, live, error));
    KILN_ARRAY_OF(kiln_box)
    boxes = {0};
    KILN_TRY(kiln_array_reserve(context, &boxes, live, error));
    kiln_box whole = kiln_box_empty();
    for (uint32_t t = 0; t < used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        kiln_box box = kiln_box_empty();
        for (int i = 0; i < 4; i++)
            box = kiln_box_grow(box, domain->x[mesh->tet[t].v[i]]);
        domain->live.data[domain->live.count++] = t;
        boxes.data[boxes.count++] = box;
        whole = kiln_box_join(whole, box);
        domain->several_parts |= mesh->info[t].part != mesh->info[domain->live.data[0]].part;
    }
    domain->low = whole.low;
    domain->high = whole.high;
    kiln_status status = kiln_bvh_build(&domain->tets, context, boxes.data, boxes.count, error);
    kiln_array_free(context, &boxes);
    return status;
}

/* By volume; the number of the part where that is the same but for rounding. */
static kiln_status rank_parts(kiln_domain *domain, kiln_error *error)
{
    size_t parts = domain->mesh->parts.count;
    kiln_f64_array volume = {0};
    KILN_TRY(kiln_array_reserve(domain->context, &domain->rank, parts, error));
    KILN_TRY(kiln_array_reserve(domain->context, &volume, parts, error));
    memset(volume.data, 0, parts * sizeof(double));
    for (size_t i = 0; i < domain->live.count; i++) {
        kiln_vec3 x[4];
        kiln_domain_tet(domain, domain->live.data[i], x);
        volume.data[domain->mesh->info[domain->live.data[i]].part] +=
            kiln_tet_volume(x[0], x[1], x[2], x[3]);
    }
    for (size_t p = 0; p < parts; p++) {
        domain->rank.data[p] = 0;
        for (size_t q = 0; q < parts; q++) {
            double apart = volume.data[q] - volume.data[p];
            bool same = fabs(apart) < SAME_VOLUME * volume.data[p];
            domain->rank.data[p] += q != p && (same ? q < p : apart < 0.0);
        }
    }
    kiln_array_free(domain->context, &volume);
    return KILN_OK;
}

/* Mean length of the edges at each vertex (those of many tets count more), on the surface of those
 * along it; then smoothed, so that one short edge makes no hole in the sizes. */
static kiln_status measure_edges(kiln_domain *domain, kiln_error *error)
{
    const kiln_mesh *mesh = domain->mesh;
    size_t used = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(domain->context, &domain->local, 3 * used, error));
    domain->local.count = used;
    double *local = domain->local.data, *sum = local + used, *count = sum + used;
    for (int pass = 0; pass <= SMOOTHING_PASSES; pass++) {
        memset(sum, 0, 2 * used * sizeof *sum);
        for (size_t i = 0; i < domain->live.count; i++)
            for (int e = 0; e < 6; e++) {
                const uint32_t *v = mesh->tet[domain->live.data[i]].v;
                uint32_t a = v[kiln_edge_ends[e][0]], b = v[kiln_edge_ends[e][1]];
                bool at_a = mesh->vertex[a].flags & KILN_VERTEX_SURFACE;
                bool at_b = mesh->vertex[b].flags & KILN_VERTEX_SURFACE;
                double length = kiln_v3_norm(kiln_v3_sub(domain->x[a], domain->x[b]));
                if (!at_a || at_b) {
                    sum[a] += pass ? local[b] : length;
                    count[a] += 1.0;
                }
                if (!at_b || at_a) {
                    sum[b] += pass ? local[a] : length;
                    count[b] += 1.0;
                }
            }
        for (size_t v = 0; v < used; v++)
            local[v] = count[v] > 0.0 ? sum[v] / count[v] : 0.0;
    }
    return KILN_OK;
}

/* The mean edge is not yet the size that gives as many tets as there were: a mesh remeshed as it is
 * again and again would drift. */
static void calibrate_sizes(kiln_domain *domain)
{
    double expected = 0.0;
    for (size_t i = 0; i < domain->live.count; i++) {
        const uint32_t *v = domain->mesh->tet[domain->live.data[i]].v;
        const double *local = domain->local.data;
        kiln_vec3 x[4];
        kiln_domain_tet(domain, domain->live.data[i], x);
        double size = 0.25 * (local[v[0]] + local[v[1]] + local[v[2]] + local[v[3]]);
        expected += KILN_DOMAIN_TETS_IN_CUBE * kiln_tet_volume(x[0], x[1], x[2], x[3]) /
                    (size * size * size);
    }
    double scale = cbrt(expected / (double)domain->live.count);
    for (size_t v = 0; v < domain->local.count; v++)
        domain->local.data[v] *= scale;
}

/* What becomes of a surface face. */
typedef enum fate { FREE, MIXED, COVERED, INTERFACE } fate;

/* By what is in front of it there. */
static fate fate_at(const kiln_domain *domain, uint32_t tet, kiln_vec3 front)
{
    uint32_t other = kiln_domain_locate(domain, front);
    if (other == KILN_NONE)
        return FREE;
    const kiln_tet_info *info = domain->mesh->info;
    return info[tet].region != info[other].region && kiln_domain_outranks(domain, tet, other)
               ? INTERFACE
               : COVERED;
}

static fate fate_of(const kiln_domain *domain, const kiln_piece *piece, double longest)
{
    kiln_vec3 offset = kiln_v3_scale(kiln_piece_normal(piece), PROBE * longest);
    kiln_vec3 centre =
        kiln_v3_scale(kiln_v3_add(kiln_v3_add(piece->p[0], piece->p[1]), piece->p[2]), 1.0 / 3.0);
    fate out = fate_at(domain, piece->at / 4, kiln_v3_add(centre, offset));
    for (int i = 0; i < 3 && out != MIXED; i++) {
        kiln_vec3 p = kiln_v3_add(kiln_v3_lerp(piece->p[i], centre, 0.05), offset);
        out = fate_at(domain, piece->at / 4, p) == out ? out : MIXED;
    }
    return out;
}

static double longest_edge(const kiln_piece *piece)
{
    double longest = 0.0;
    for (int i = 0; i < 3; i++) {
        double l = kiln_v3_norm(kiln_v3_sub(piece->p[i], piece->p[(i + 1) % 3]));
        longest = l > longest ? l : longest;
    }
    return longest;
}

static kiln_status add_uncovered(kiln_domain *domain, const kiln_piece *piece, double size,
                                 int depth, kiln_error *error)
{
    double longest = longest_edge(piece);
    fate comes = fate_of(domain, piece, longest);
    domain->joins |= comes != FREE;
    bool small = longest <= FINEST_PIECE * size || depth == DEEPEST_SPLIT;
    bool may_be_covered = domain->several_parts || domain->skin.count > 0;
    bool split = !small && (comes == MIXED || (may_be_covered && longest > size));
    if (!split) {
        kiln_piece whole = *piece;
        whole.interface = comes == INTERFACE;
        return comes == MIXED || comes == COVERED
                   ? KILN_OK
                   : kiln_array_push(domain->context, &domain->pieces, whole, error);
    }
    kiln_vec3 mid[3];
    for (int i = 0; i < 3; i++)
        mid[i] = kiln_v3_lerp(piece->p[i], piece->p[(i + 1) % 3], 0.5);
    for (int i = 0; i < 4; i++) {
        kiln_piece quarter = {.at = piece->at};
        quarter.p[0] = i < 3 ? piece->p[i] : mid[0];
        quarter.p[1] = i < 3 ? mid[i] : mid[1];
        quarter.p[2] = i < 3 ? mid[(i + 2) % 3] : mid[2];
        KILN_TRY(add_uncovered(domain, &quarter, size, depth + 1, error));
    }
    return KILN_OK;
}

/* An interface where another part has the place. */
static bool is_another_s(const kiln_domain *domain, const kiln_piece *piece)
{
    kiln_vec3 sum = kiln_v3_add(kiln_v3_add(piece->p[0], piece->p[1]), piece->p[2]);
    uint32_t tet = domain->several_parts ? kiln_domain_locate(domain, kiln_v3_scale(sum, 1.0 / 3.0))
                                         : KILN_NONE;
    return tet != KILN_NONE && kiln_domain_outranks(domain, tet, piece->at / 4);
}

static kiln_status list_pieces(kiln_domain *domain, kiln_error *error)
{
    const kiln_mesh *mesh = domain->mesh;
    for (size_t i = 0; i < domain->live.count; i++)
        for (uint32_t f = 0; f < 4; f++) {
            uint32_t t = domain->live.data[i];
            kiln_link link = mesh->tet[t].n[f];
            bool surface = kiln_link_is_surface(link);
            if (!surface && !(kiln_link_is_interface(mesh, t, link) && t < link / 4))
                continue;
            kiln_piece piece = {.at = kiln_link_to(t, f), .interface = !surface};
            for (int k = 0; k < 3; k++)
                piece.p[k] = domain->x[mesh->tet[t].v[kiln_face_corner[f][k]]];
            if (surface)
                KILN_TRY(add_uncovered(domain, &piece, kiln_domain_face_size(domain, piece.at), 0,
                                       error));
            else if (!is_another_s(domain, &piece))
                KILN_TRY(kiln_array_push(domain->context, &domain->pieces, piece, error));
        }
    return KILN_OK;
}

static kiln_status build_outline(kiln_domain *domain, kiln_error *error)
{
    KILN_ARRAY_OF(kiln_box)
    boxes = {0};
    KILN_TRY(kiln_array_reserve(domain->context, &boxes, domain->pieces.count, error));
    for (size_t i = 0; i < domain->pieces.count; i++) {
        boxes.data[i] = kiln_box_of(domain->pieces.data[i].p, 3);
    }
    kiln_status status =
        kiln_bvh_build(&domain->outline, domain->context, boxes.data, domain->pieces.count, error);
    kiln_array_free(domain->context, &boxes);
    return status;
}

static kiln_status take_sizes(kiln_domain *domain, const kiln_field *field, kiln_error *error)
{
    size_t used = domain->mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(domain->context, &domain->local, used, error));
    domain->local.count = used;
    for (uint32_t v = 0; v < used; v++)
        domain->local.data[v] = kiln_field_value(field, v, 0);
    return KILN_OK;
}

static kiln_status find_sizes(kiln_domain *domain, kiln_error *error)
{
    const char *name = domain->options.size_field;
    const kiln_field *field = name ? kiln_mesh_field(domain->mesh, KILN_ON_VERTEX, name) : NULL;
    if (field)
        return take_sizes(domain, field, error);
    KILN_TRY(measure_edges(domain, error));
    calibrate_sizes(domain);
    return KILN_OK;
}

/* Are there surfaces that look at each other across a gap to be filled? */
static kiln_status find_gaps(kiln_domain *domain, kiln_error *error)
{
    const kiln_mesh *mesh = domain->mesh;
    kiln_context *context = domain->context;
    size_t parts = mesh->parts.count;
    kiln_nearby nearby = {0};
    uint8_t *all = kiln_resize(context, NULL, 0, parts);
    if (!all)
        return kiln_fail_memory(error, parts);
    memset(all, 1, parts);
    kiln_status status =
        kiln_nearby_find(mesh, domain->options.space, domain->options.gap, all, &nearby, error);
    domain->joins = nearby.facing.count > 0;
    kiln_nearby_free(context, &nearby);
    kiln_release(context, all, parts);
    return status;
}

/* Does the mesh pass through itself, or inside out? What faces look at has been seen to already. */
static kiln_status find_overlaps(kiln_domain *domain, kiln_error *error)
{
    const kiln_mesh *mesh = domain->mesh;
    for (size_t i = 0; i < domain->live.count && !domain->joins; i++) {
        const uint32_t *v = mesh->tet[domain->live.data[i]].v;
        const kiln_vec3 *x = domain->x;
        domain->joins = kiln_orient3d(x[v[0]], x[v[1]], x[v[2]], x[v[3]]) <= 0.0;
    }
    if (domain->joins)
        return KILN_OK;
    kiln_crossing crossing;
    KILN_TRY(kiln_surface_find_crossing(mesh, domain->options.space, &crossing, error));
    domain->joins = crossing.pairs > 0 || crossing.touching > 0;
    return domain->joins || domain->options.gap <= 0.0 ? KILN_OK : find_gaps(domain, error);
}

kiln_status kiln_domain_begin(kiln_domain *domain, kiln_error *error)
{
    KILN_TRY(list_tets(domain, error));
    KILN_TRY(rank_parts(domain, error));
    KILN_TRY(find_sizes(domain, error));
    KILN_TRY(kiln_domain_find_skin(domain, error));
    KILN_TRY(list_pieces(domain, error));
    if (domain->pieces.count == 0)
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1, "the mesh has no surface");
    KILN_TRY(find_overlaps(domain, error));
    return build_outline(domain, error);
}

void kiln_domain_end(kiln_domain *domain)
{
    kiln_context *context = domain->context;
    kiln_bvh_destroy(&domain->tets);
    kiln_bvh_destroy(&domain->outline);
    kiln_bvh_destroy(&domain->skin_tree);
    kiln_delaunay_destroy(&domain->delaunay);
    kiln_array_free(context, &domain->live);
    kiln_array_free(context, &domain->rank);
    kiln_array_free(context, &domain->pieces);
    kiln_array_free(context, &domain->skin);
    kiln_array_free(context, &domain->width);
    kiln_array_free(context, &domain->local);
    kiln_array_free(context, &domain->sites);
    kiln_array_free(context, &domain->segments);
    kiln_array_free(context, &domain->samples);
    kiln_array_free(context, &domain->keep);
    kiln_array_free(context, &domain->region);
    kiln_array_free(context, &domain->volumes);
}
