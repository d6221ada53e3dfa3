/* Lookups. The walk uses rounded volumes: a point within rounding of a face is in either tet, and
 * the interpolated metric is the same to rounding. */
#include "base/hash.h"
#include "remesh/sizing_impl.h"

enum {
    STEEPEST = 32,    /* steps towards the farthest face; then at random, which breaks circles */
    WALK_LIMIT = 4096 /* steps before the nearest place in the present tet has to do */
};

/* Six times the volumes with p in place of each corner; their sum is that of the tet. */
static void volumes(const kiln_vec3 *point, const uint32_t v[4], kiln_vec3 p, double w[4])
{
    kiln_vec3 a = kiln_v3_sub(point[v[0]], p), b = kiln_v3_sub(point[v[1]], p);
    kiln_vec3 c = kiln_v3_sub(point[v[2]], p), d = kiln_v3_sub(point[v[3]], p);
    kiln_vec3 ab = kiln_v3_cross(a, b), cd = kiln_v3_cross(c, d);
    w[0] = kiln_v3_dot(b, cd);
    w[1] = -kiln_v3_dot(a, cd);
    w[2] = kiln_v3_dot(d, ab);
    w[3] = -kiln_v3_dot(c, ab);
}

/* The interior face the point is farthest beyond, or 4; `came` is not taken again. */
static unsigned choose_face(const kiln_tet *tet, const double w[4], double negligible,
                            uint32_t step, uint32_t came)
{
    unsigned chosen = 4, first = step < STEEPEST ? 0 : (unsigned)kiln_hash_mix(step) & 3;
    double most = -negligible;
    for (unsigned k = 0; k < 4; k++) {
        unsigned i = (first + k) & 3;
        if (w[i] >= most || kiln_link_is_surface(tet->n[i]) || tet->n[i] / 4 == came)
            continue;
        chosen = i;
        most = step < STEEPEST ? w[i] : -INFINITY;
    }
    return chosen;
}

kiln_sizing_place kiln_sizing_locate(const kiln_sizing *sizing, kiln_vec3 p, uint32_t hint)
{
    bool usable = hint < sizing->tet_rows && kiln_sizing_live(sizing, hint);
    kiln_sizing_place place = {.tet = usable ? hint : sizing->first_tet};
    uint32_t came = KILN_NONE;
    double w[4], sum;
    for (;;) {
        const kiln_tet *tet = &sizing->tet[place.tet];
        volumes(sizing->point, tet->v, p, w);
        sum = (w[0] + w[1]) + (w[2] + w[3]);
        unsigned leave = choose_face(tet, w, 0x1p-40 * sum, place.visits, came);
        place.visits++;
        if (leave == 4 || place.visits == WALK_LIMIT)
            break;
        came = place.tet;
        place.tet = tet->n[leave] / 4;
    }
    double total = 0.0;
    for (int i = 0; i < 4; i++) {
        place.weight[i] = w[i] > 0.0 ? w[i] : 0.0;
        total += place.weight[i];
    }
    for (int i = 0; i < 4; i++)
        place.weight[i] = total > 0.0 ? place.weight[i] / total : 0.25;
    return place;
}

/* What the functions ask for at p, intersected with m. */
static kiln_sym3 with_functions(const kiln_sizing *sizing, kiln_vec3 p, bool has, kiln_sym3 m)
{
    for (int i = 0; i < sizing->directs; i++) {
        kiln_sym3 f = sizing->direct[i].function(sizing->direct[i].user, p);
        f = kiln_metric_bound(f, &sizing->bounds);
        m = has ? kiln_metric_intersect(m, f) : f;
        has = true;
    }
    return m;
}

kiln_sym3 kiln_sizing_in(const kiln_sizing *sizing, kiln_vec3 p, const uint32_t v[4],
                         const double weight[4])
{
    if (sizing->constant)
        return sizing->constant_metric;
    if (sizing->by_functions)
        return with_functions(sizing, p, false, kiln_sym3_identity());
    kiln_sym3 mean = {0};
    for (int i = 0; i < 4; i++)
        mean = kiln_sym3_madd(mean, weight[i], sizing->metric[v[i]]);
    return with_functions(sizing, p, true, kiln_metric_exp(&mean));
}

kiln_sym3 kiln_sizing_at(const kiln_sizing *sizing, kiln_vec3 p, uint32_t *hint)
{
    if (sizing->constant)
        return sizing->constant_metric;
    if (sizing->by_functions)
        return with_functions(sizing, p, false, kiln_sym3_identity());
    kiln_sizing_place place = kiln_sizing_locate(sizing, p, *hint);
    *hint = place.tet;
    return kiln_sizing_in(sizing, p, sizing->tet[place.tet].v, place.weight);
}

kiln_sym3 kiln_sizing_at_vertex(const kiln_sizing *sizing, uint32_t vertex)
{
    const uint32_t v[4] = {vertex, vertex, vertex, vertex};
    const double weight[4] = {1, 0, 0, 0};
    return kiln_sizing_in(sizing, sizing->point[vertex], v, weight);
}

bool kiln_sizing_is_constant(const kiln_sizing *sizing, kiln_sym3 *metric)
{
    *metric = sizing->constant_metric;
    return sizing->constant;
}

bool kiln_sizing_is_direct(const kiln_sizing *sizing)
{
    return sizing->directs > 0;
}
