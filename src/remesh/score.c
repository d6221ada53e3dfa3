/* Scores of tets, and what is known about a proposed place. */
#include "geom/predicates.h"
#include "remesh/begin_mesh.h"
#include "remesh/bend.h"
#include "remesh/remesher.h"
#include "remesh/sizing.h"
#include "remesh/space.h"

static const kiln_vec3 *point_of(const kiln_vec3 *points, const kiln_vec3 *proposed, uint32_t v)
{
    return v == KILN_PROPOSED ? proposed : &points[v];
}

static const kiln_sym3 *metric_of(const kiln_remesher *remesher, const kiln_place *place,
                                  uint32_t v)
{
    return v == KILN_PROPOSED ? &place->metric : &remesher->metric.data[v];
}

static const kiln_vec3 *place_in(const kiln_place *place, kiln_space space)
{
    return !place ? NULL : space == KILN_SPACE_WORLD ? &place->x : &place->u;
}

static kiln_space other_space(kiln_space space)
{
    return space == KILN_SPACE_WORLD ? KILN_SPACE_MATERIAL : KILN_SPACE_WORLD;
}

/* The tet in the mean metric of its corners. */
static double score_in_metric(const kiln_remesher *remesher, const kiln_place *place,
                              const uint32_t v[4], const kiln_vec3 *const p[4])
{
    kiln_sym3 mean = {0};
    for (int k = 0; k < 4; k++)
        mean = kiln_sym3_madd(mean, 0.25, *metric_of(remesher, place, v[k]));
    if (remesher->options.measure == KILN_MEASURE_QUALITY)
        return kiln_tet_quality_metric(p[0], p[1], p[2], p[3], &mean);
    kiln_sym3 root = kiln_sym3_sqrt(mean);
    kiln_vec3 q[4];
    for (int k = 0; k < 4; k++)
        q[k] = kiln_sym3_apply(root, *p[k]);
    return kiln_tet_measure(remesher->options.measure, &q[0], &q[1], &q[2], &q[3]);
}

/* The part of its volume that a tet has in the other space; at most 1. */
static double volume_kept_elsewhere(const kiln_remesher *remesher, const kiln_place *place,
                                    const uint32_t v[4], const kiln_vec3 *const p[4])
{
    kiln_space other = other_space(remesher->options.space);
    const kiln_vec3 *points = kiln_mesh_positions(remesher->mesh, other);
    const kiln_vec3 *proposed = place_in(place, other), *q[4];
    for (int k = 0; k < 4; k++)
        q[k] = point_of(points, proposed, v[k]);
    double here = kiln_tet_volume(*p[0], *p[1], *p[2], *p[3]);
    double there = kiln_tet_volume(*q[0], *q[1], *q[2], *q[3]);
    return here > 0.0 && there < here ? there / here : 1.0;
}

/* What counts in x beside others is liquid, and has no volume but that. */
static bool counts_elsewhere(const kiln_remesher *remesher, kiln_space space)
{
    return remesher->options.volume_elsewhere && !remesher->one_space &&
           space == remesher->options.space;
}

static double score_in_both(const kiln_remesher *remesher, const kiln_place *place,
                            const uint32_t v[4])
{
    double worse = INFINITY;
    for (int i = 0; i < (remesher->one_space ? 1 : 2); i++) {
        kiln_space space = i ? KILN_SPACE_WORLD : KILN_SPACE_MATERIAL;
        const kiln_vec3 *points = kiln_mesh_positions(remesher->mesh, space), *p[4];
        for (int k = 0; k < 4; k++)
            p[k] = point_of(points, place_in(place, space), v[k]);
        worse = fmin(worse, kiln_tet_measure(remesher->options.measure, p[0], p[1], p[2], p[3]));
    }
    return worse;
}

double kiln_remesher_score_in(const kiln_remesher *remesher, kiln_space space,
                              const kiln_place *place, const uint32_t v[4])
{
    if (remesher->options.both_shapes && space == KILN_SPACE_MATERIAL)
        return score_in_both(remesher, place, v);
    const kiln_vec3 *points = kiln_mesh_positions(remesher->mesh, space);
    const kiln_vec3 *proposed = place_in(place, space);
    const kiln_vec3 *p[4];
    for (int k = 0; k < 4; k++)
        p[k] = point_of(points, proposed, v[k]);
    double score = remesher->options.sizing
                       ? score_in_metric(remesher, place, v, p)
                       : kiln_tet_measure(remesher->options.measure, p[0], p[1], p[2], p[3]);
    if (counts_elsewhere(remesher, space))
        score *= volume_kept_elsewhere(remesher, place, v, p);
    return score;
}

bool kiln_remesher_score_above(const kiln_remesher *remesher, kiln_space space,
                               const kiln_place *place, const uint32_t v[4], double threshold)
{
    if (remesher->options.sizing || remesher->options.measure != KILN_MEASURE_QUALITY ||
        counts_elsewhere(remesher, space))
        return kiln_remesher_score_in(remesher, space, place, v) > threshold;
    const kiln_vec3 *points = kiln_mesh_positions(remesher->mesh, space);
    const kiln_vec3 *proposed = place_in(place, space);
    return kiln_tet_quality_above(
        point_of(points, proposed, v[0]), point_of(points, proposed, v[1]),
        point_of(points, proposed, v[2]), point_of(points, proposed, v[3]), threshold);
}

bool kiln_remesher_valid_elsewhere(const kiln_remesher *remesher, kiln_space space,
                                   const kiln_place *place, const uint32_t v[4])
{
    if (remesher->one_space)
        return true;
    kiln_space other = other_space(space);
    const kiln_vec3 *points = kiln_mesh_positions(remesher->mesh, other);
    const kiln_vec3 *proposed = place_in(place, other);
    return kiln_orient3d_sign(*point_of(points, proposed, v[0]), *point_of(points, proposed, v[1]),
                              *point_of(points, proposed, v[2]),
                              *point_of(points, proposed, v[3])) > 0;
}

/* An edge of a vertex that is looked at in x is, too. */
static kiln_space edge_space(const kiln_remesher *remesher, const kiln_place *place, uint32_t a,
                             uint32_t b)
{
    const uint32_t end[2] = {a, b};
    for (int i = 0; i < 2 && remesher->mixed; i++)
        if (end[i] == KILN_PROPOSED ? place->side.world : remesher->side.data[end[i]].world)
            return KILN_SPACE_WORLD;
    return remesher->options.space;
}

double kiln_remesher_edge_length(const kiln_remesher *remesher, const kiln_place *place, uint32_t a,
                                 uint32_t b)
{
    kiln_space space = edge_space(remesher, place, a, b);
    const kiln_vec3 *points = kiln_mesh_positions(remesher->mesh, space);
    const kiln_vec3 *proposed = place_in(place, space);
    kiln_vec3 edge = kiln_v3_sub(*point_of(points, proposed, b), *point_of(points, proposed, a));
    if (!remesher->options.sizing)
        return kiln_v3_norm(edge);
    return kiln_metric_edge_length(metric_of(remesher, place, a), metric_of(remesher, place, b),
                                   edge);
}

void kiln_remesher_locate(const kiln_remesher *remesher, kiln_vec3 p, kiln_place *place)
{
    place->u = place->x = p;
    if (!remesher->one_space && !(remesher->mixed && place->side.world)) {
        bool world = remesher->options.space == KILN_SPACE_WORLD;
        kiln_begin_place where;
        kiln_begin_locate(remesher->mesh, remesher->options.space, p, place->side.hint, &where);
        if (world)
            place->u = kiln_begin_point(remesher->mesh, KILN_SPACE_MATERIAL, &where);
        else if (remesher->gradient.count > 0)
            place->x = kiln_bend_point(remesher, p, &where);
        else
            place->x = kiln_begin_point(remesher->mesh, KILN_SPACE_WORLD, &where);
        place->side.hint = where.tet;
    }
    if (remesher->options.sizing)
        place->metric = kiln_sizing_at(remesher->options.sizing, p, &place->side.hint);
}
