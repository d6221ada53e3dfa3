#include "geom/bvh_kernel.h"

/* One group of eight boxes in the frame of the tree that is searched. */
typedef struct query {
    const kiln_bvh_group *boxes;
    const uint32_t *item;
    const uint32_t *vertex; /* [arity][8] or NULL */
    int arity;              /* then; else 0 */
    float low[3], high[3];  /* around all eight */
    size_t self;            /* own group, when the tree is searched for itself */
    bool is_self;
} query;

KILN_INLINE unsigned overlap_bits(const kiln_bvh_group *g, const float low[3], const float high[3])
{
    kiln_vi8 hit = kiln_vf8_le(kiln_vf8_load(g->low[0]), kiln_vf8_set(high[0]));
    hit = kiln_vi8_and(hit, kiln_vf8_le(kiln_vf8_set(low[0]), kiln_vf8_load(g->high[0])));
    for (int j = 1; j < 3; j++) {
        hit = kiln_vi8_and(hit, kiln_vf8_le(kiln_vf8_load(g->low[j]), kiln_vf8_set(high[j])));
        hit = kiln_vi8_and(hit, kiln_vf8_le(kiln_vf8_set(low[j]), kiln_vf8_load(g->high[j])));
    }
    return kiln_vi8_bits(hit);
}

/* Lanes of group `g` that share a vertex with lane `lane` of the query. */
KILN_INLINE unsigned adjacent_bits(const query *q, int lane, int own_arity, const uint32_t *vertex,
                                   int arity)
{
    kiln_vi8 shared = kiln_vi8_set(0);
    for (int j = 0; j < arity; j++) {
        kiln_vi8 other = kiln_vi8_load(vertex + KILN_BVH_WIDTH * j);
        for (int i = 0; i < own_arity; i++) {
            kiln_vi8 own = kiln_vi8_set(q->vertex[KILN_BVH_WIDTH * i + lane]);
            shared = kiln_vi8_or(shared, kiln_vi8_eq(other, own));
        }
    }
    return kiln_vi8_bits(shared);
}

static void flush(kiln_bvh_output *out)
{
    out->stopped = !out->flush(out->user, out->batch, out->count);
    out->count = 0;
}

KILN_INLINE void emit(const query *q, int lane, const uint32_t *item, unsigned bits,
                      kiln_bvh_output *out)
{
    uint32_t a = q->item[lane];
    for (; bits; bits &= bits - 1) {
        uint32_t b = item[kiln_lowest_bit(bits)];
        bool swap = q->is_self && b < a;
        out->batch[out->count++] = (kiln_bvh_pair){swap ? b : a, swap ? a : b};
    }
    if (out->count > KILN_BVH_BATCH - KILN_BVH_WIDTH)
        flush(out);
}

/* The lanes of the query given against leaf group g. */
KILN_INLINE void match_leaf(const query *q, const kiln_bvh *bvh, size_t g, unsigned lanes,
                            kiln_bvh_output *out)
{
    const kiln_bvh_group *leaf = &bvh->level[0][g];
    const uint32_t *vertex = NULL;
    int arity = q->arity ? bvh->arity : 0;
    if (arity)
        vertex = bvh->vertex + g * (size_t)arity * KILN_BVH_WIDTH;
    for (; lanes && !out->stopped; lanes &= lanes - 1) {
        int lane = kiln_lowest_bit(lanes);
        const kiln_bvh_group *boxes = q->boxes;
        const float low[3] = {boxes->low[0][lane], boxes->low[1][lane], boxes->low[2][lane]};
        const float high[3] = {boxes->high[0][lane], boxes->high[1][lane], boxes->high[2][lane]};
        unsigned bits = overlap_bits(leaf, low, high);
        if (q->is_self && g == q->self)
            bits &= 0xFEu << lane;
        if (!bits)
            continue;
        if (arity == 3 && q->arity == 1) /* with such numbers in the code */
            bits &= ~adjacent_bits(q, lane, 1, vertex, 3);
        else if (arity == 2 && q->arity == 2)
            bits &= ~adjacent_bits(q, lane, 2, vertex, 2);
        else if (arity == 3 && q->arity == 3)
            bits &= ~adjacent_bits(q, lane, 3, vertex, 3);
        else if (arity)
            bits &= ~adjacent_bits(q, lane, q->arity, vertex, arity);
        if (bits)
            emit(q, lane, bvh->item + g * KILN_BVH_WIDTH, bits, out);
    }
}

KILN_INLINE unsigned query_lanes(const query *q, const kiln_bvh_group *parent, int k)
{
    const float low[3] = {parent->low[0][k], parent->low[1][k], parent->low[2][k]};
    const float high[3] = {parent->high[0][k], parent->high[1][k], parent->high[2][k]};
    return overlap_bits(q->boxes, low, high);
}

/* Depth first, lower groups first; at most 7 siblings wait on each level. */
static void search(const query *q, const kiln_bvh *bvh, kiln_bvh_output *out)
{
    struct {
        size_t group;
        int level;
    } stack[KILN_BVH_WIDTH * KILN_BVH_LEVELS];
    int waiting = 0;
    stack[waiting].group = 0;
    stack[waiting++].level = bvh->levels - 1;
    if (bvh->levels == 1) {
        match_leaf(q, bvh, 0, 0xFF, out);
        return;
    }
    while (waiting > 0 && !out->stopped) {
        waiting--;
        size_t g = stack[waiting].group, first = g * KILN_BVH_WIDTH;
        int level = stack[waiting].level;
        const kiln_bvh_group *group = &bvh->level[level][g];
        unsigned bits = overlap_bits(group, q->low, q->high);
        if (q->is_self) {
            size_t own = q->self >> 3 * (level - 1);
            if (own > first)
                bits &= 0xFFu << (own - first);
        }
        if (level == 1) {
            for (; bits && !out->stopped; bits &= bits - 1) {
                int k = kiln_lowest_bit(bits);
                match_leaf(q, bvh, first + (size_t)k, query_lanes(q, group, k), out);
            }
            continue;
        }
        for (unsigned k = KILN_BVH_WIDTH; k-- > 0;)
            if (bits >> k & 1) {
                stack[waiting].group = first + k;
                stack[waiting++].level = level - 1;
            }
    }
}

/* Outward where the frames are too far apart for numbers at all (inf - inf). */
static float lower_bound(double x)
{
    return x >= -FLT_MAX ? kiln_bvh_coordinate(x) : -FLT_MAX;
}

static float upper_bound(double x)
{
    return x <= FLT_MAX ? kiln_bvh_coordinate(x) : FLT_MAX;
}

/* Boxes of `a` in the frame of `b`, outward by the rounding of both. */
static void change_frame(const kiln_bvh_group *from, const kiln_bvh *a, const kiln_bvh *b,
                         kiln_bvh_group *to)
{
    const double shift[3] = {a->origin.x - b->origin.x, a->origin.y - b->origin.y,
                             a->origin.z - b->origin.z};
    double slack = a->slack + b->slack;
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < KILN_BVH_WIDTH; k++) {
            double low = from->low[j][k] + shift[j], high = from->high[j][k] + shift[j];
            double far = slack + 0x1p-22 * (fabs(low) > fabs(high) ? fabs(low) : fabs(high));
            bool used = from->low[j][k] <= from->high[j][k];
            to->low[j][k] = used ? lower_bound(low - far) : INFINITY;
            to->high[j][k] = used ? upper_bound(high + far) : -INFINITY;
        }
}

static void surround(query *q)
{
    for (int j = 0; j < 3; j++) {
        float low = q->boxes->low[j][0], high = q->boxes->high[j][0];
        for (int k = 1; k < KILN_BVH_WIDTH; k++) {
            low = q->boxes->low[j][k] < low ? q->boxes->low[j][k] : low;
            high = q->boxes->high[j][k] > high ? q->boxes->high[j][k] : high;
        }
        q->low[j] = low;
        q->high[j] = high;
    }
}

void KILN_SIMD(kiln_bvh_overlap_range)(const kiln_bvh *a, const kiln_bvh *b, size_t begin,
                                       size_t end, kiln_bvh_output *out)
{
    bool filter = a->vertex && b->vertex;
    for (size_t g = begin; g < end && !out->stopped; g++) {
        kiln_bvh_group moved;
        query q = {.boxes = &a->level[0][g],
                   .item = a->item + g * KILN_BVH_WIDTH,
                   .vertex = filter ? a->vertex + g * (size_t)a->arity * KILN_BVH_WIDTH : NULL,
                   .arity = filter ? a->arity : 0,
                   .self = g,
                   .is_self = a == b};
        if (a != b) {
            change_frame(q.boxes, a, b, &moved);
            q.boxes = &moved;
        }
        surround(&q);
        search(&q, b, out);
    }
}
