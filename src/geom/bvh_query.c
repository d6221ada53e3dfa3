/* Searches of one box or point through the tree. */
#include "geom/bvh.h"

typedef struct waiting_group {
    size_t group;
    int level;
    double key; /* lower bound of what the search minimises */
} waiting_group;
enum { STACK = KILN_BVH_WIDTH * KILN_BVH_LEVELS };

void kiln_bvh_query_box(const kiln_bvh *bvh, kiln_box box, kiln_bvh_visit visit, void *user)
{
    if (bvh->count == 0)
        return;
    /* The same rounding as the tree's own boxes had: monotone, so nothing is missed. */
    const float low[3] = {kiln_bvh_coordinate(box.low.x - bvh->origin.x),
                          kiln_bvh_coordinate(box.low.y - bvh->origin.y),
                          kiln_bvh_coordinate(box.low.z - bvh->origin.z)};
    const float high[3] = {kiln_bvh_coordinate(box.high.x - bvh->origin.x),
                           kiln_bvh_coordinate(box.high.y - bvh->origin.y),
                           kiln_bvh_coordinate(box.high.z - bvh->origin.z)};
    waiting_group stack[STACK] = {{0, bvh->levels - 1, 0.0}};
    int waiting = 1;
    while (waiting > 0) {
        waiting_group at = stack[--waiting];
        const kiln_bvh_group *g = &bvh->level[at.level][at.group];
        unsigned hit[KILN_BVH_WIDTH];
        for (int k = 0; k < KILN_BVH_WIDTH; k++)
            hit[k] = (g->low[0][k] <= high[0]) & (g->high[0][k] >= low[0]) &
                     (g->low[1][k] <= high[1]) & (g->high[1][k] >= low[1]) &
                     (g->low[2][k] <= high[2]) & (g->high[2][k] >= low[2]);
        size_t first = at.group * KILN_BVH_WIDTH;
        for (size_t i = 0; i < KILN_BVH_WIDTH; i++) {
            size_t k = at.level == 0 ? i : KILN_BVH_WIDTH - 1 - i;
            if (!hit[k])
                continue;
            if (at.level > 0)
                stack[waiting++] = (waiting_group){first + k, at.level - 1, 0.0};
            else if (!visit(user, bvh->item[first + k]))
                return;
        }
    }
}

/* Lanes with key <= limit, nearest first. An infinite key is an unused lane or a miss, whatever the
 * limit. */
static int sort_lanes(const double key[KILN_BVH_WIDTH], double limit, int lanes[KILN_BVH_WIDTH])
{
    int count = 0;
    for (int k = 0; k < KILN_BVH_WIDTH; k++) {
        if (!(key[k] <= limit) || key[k] == INFINITY)
            continue;
        int j = count++;
        for (; j > 0 && key[lanes[j - 1]] > key[k]; j--)
            lanes[j] = lanes[j - 1];
        lanes[j] = k;
    }
    return count;
}

/* Never above the squared distance to the true boxes; infinite for unused lanes, and no number for
 * a point that is none: its lanes must not count as near, unused ones have no item. */
static void lane_distances2(const kiln_bvh_group *g, const double p[3], double slack,
                            double key[KILN_BVH_WIDTH])
{
    for (int k = 0; k < KILN_BVH_WIDTH; k++)
        key[k] = 0.0;
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < KILN_BVH_WIDTH; k++) {
            double below = (double)g->low[j][k] - p[j], above = p[j] - (double)g->high[j][k];
            double d = (below > above ? below : above) - slack;
            d = d <= 0.0 ? 0.0 : d;
            key[k] += d * d;
        }
    for (int k = 0; k < KILN_BVH_WIDTH; k++)
        key[k] *= 1.0 - 0x1p-40;
}

uint32_t kiln_bvh_closest(const kiln_bvh *bvh, kiln_vec3 point, double limit2,
                          kiln_bvh_distance2 distance2, void *user, double *best2)
{
    uint32_t best = KILN_BVH_NONE;
    const double p[3] = {point.x - bvh->origin.x, point.y - bvh->origin.y, point.z - bvh->origin.z};
    waiting_group stack[STACK] = {{0, bvh->levels - 1, 0.0}};
    int waiting = bvh->count > 0;
    while (waiting > 0) {
        waiting_group at = stack[--waiting];
        if (at.key > limit2)
            continue;
        double key[KILN_BVH_WIDTH];
        int lanes[KILN_BVH_WIDTH];
        lane_distances2(&bvh->level[at.level][at.group], p, bvh->slack, key);
        int count = sort_lanes(key, limit2, lanes);
        size_t first = at.group * KILN_BVH_WIDTH;
        if (at.level > 0) {
            for (int i = count - 1; i >= 0; i--)
                stack[waiting++] =
                    (waiting_group){first + (size_t)lanes[i], at.level - 1, key[lanes[i]]};
            continue;
        }
        for (int i = 0; i < count && key[lanes[i]] <= limit2; i++) {
            uint32_t item = bvh->item[first + (size_t)lanes[i]];
            double d2 = distance2(user, item, point);
            if (d2 < limit2 || (d2 == limit2 && d2 < INFINITY && item < best)) {
                limit2 = d2;
                best = item;
            }
        }
    }
    if (best2 && best != KILN_BVH_NONE)
        *best2 = limit2;
    return best;
}
