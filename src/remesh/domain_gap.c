/* Gaps that count as filled: a point outside the old mesh lies in one when surfaces on both sides
 * of it look at each other from no farther than the gap asked for (VPF 4.2: regions that nearly
 * touch are joined). */
#include "remesh/domain_impl.h"

#include "geom/distance.h"

static const double FACING = -0.5; /* cosine between what the two sides look at, at most */
static const double BEYOND = 0.5;  /* cosine of the way to the far side with that from the near */

typedef struct side {
    const kiln_domain *domain;
    kiln_vec3 away; /* from the near side; zero: this is it */
    double spent;   /* distance to the near side */
} side;

static kiln_vec3 normal_of(const kiln_domain *domain, uint32_t face)
{
    return kiln_piece_normal(&domain->skin.data[face]);
}

static double distance2_to_near(void *user, uint32_t item, kiln_vec3 p)
{
    const kiln_domain *domain = ((const side *)user)->domain;
    double distance2 = kiln_closest_on_triangle(p, domain->skin.data[item].p).distance2;
    return distance2 < domain->width.data[item] * domain->width.data[item] ? distance2 : INFINITY;
}

static double distance2_to_far(void *user, uint32_t item, kiln_vec3 p)
{
    const side *s = user;
    if (!(kiln_v3_dot(normal_of(s->domain, item), s->away) < FACING))
        return INFINITY;
    kiln_closest_point at = kiln_closest_on_triangle(p, s->domain->skin.data[item].p);
    double distance = sqrt(at.distance2);
    if (s->spent + distance > s->domain->width.data[item] ||
        -kiln_v3_dot(at.offset, s->away) < BEYOND * distance)
        return INFINITY;
    return at.distance2;
}

uint32_t kiln_domain_gap_at(const kiln_domain *domain, kiln_vec3 p)
{
    if (domain->skin.count == 0)
        return KILN_NONE;
    side s = {.domain = domain};
    double widest2 = domain->widest * domain->widest, near2;
    uint32_t near = kiln_bvh_closest(&domain->skin_tree, p, widest2, distance2_to_near, &s, &near2);
    if (near == KILN_BVH_NONE)
        return KILN_NONE;
    kiln_closest_point at = kiln_closest_on_triangle(p, domain->skin.data[near].p);
    s.spent = sqrt(near2);
    /* On an edge the way from it says what is across; on the face itself only its normal does. */
    bool clear = s.spent > 1e-2 * domain->width.data[near];
    s.away = clear ? kiln_v3_scale(at.offset, 1.0 / s.spent) : normal_of(domain, near);
    uint32_t far = kiln_bvh_closest(&domain->skin_tree, p, widest2, distance2_to_far, &s, NULL);
    if (far == KILN_BVH_NONE)
        return KILN_NONE;
    uint32_t tet = domain->skin.data[near].at / 4, other = domain->skin.data[far].at / 4;
    return kiln_domain_outranks(domain, tet, other) ? other : tet;
}

/* All surface faces, whatever covers them, with the width of the gaps in front of them. */
kiln_status kiln_domain_find_skin(kiln_domain *domain, kiln_error *error)
{
    const kiln_mesh *mesh = domain->mesh;
    kiln_context *context = domain->context;
    if (domain->options.gap <= 0.0)
        return KILN_OK;
    KILN_ARRAY_OF(kiln_box)
    boxes = {0};
    size_t count = mesh->table[KILN_ON_FACE].live;
    KILN_TRY(kiln_array_reserve(context, &domain->skin, count, error));
    KILN_TRY(kiln_array_reserve(context, &domain->width, count, error));
    KILN_TRY(kiln_array_reserve(context, &boxes, count, error));
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        if (!kiln_face_live(mesh, f))
            continue;
        kiln_piece *piece = &domain->skin.data[domain->skin.count++];
        piece->at = mesh->face[f].at;
        double width = domain->options.gap * kiln_domain_face_size(domain, piece->at);
        for (int k = 0; k < 3; k++)
            piece->p[k] = domain->x[mesh->tet[piece->at / 4].v[kiln_face_corner[piece->at % 4][k]]];
        domain->width.data[domain->width.count++] = width;
        domain->widest = width > domain->widest ? width : domain->widest;
        boxes.data[boxes.count++] = kiln_box_of(piece->p, 3);
    }
    kiln_status status = kiln_bvh_build(&domain->skin_tree, context, boxes.data, count, error);
    kiln_array_free(context, &boxes);
    return status;
}
