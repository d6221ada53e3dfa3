#include "geom/curve_order.h"

#include "base/parallel.h"

#include <stdbool.h>
#include <string.h>

/* C. Hamilton, Compact Hilbert Indices (2006), section 2: the state is the corner e where the curve
 * enters the cube and the axis d along which it leaves; state = 8 d + e. Axis 0 is z here. */
static unsigned rotate_left(unsigned b, unsigned by)
{
    by %= 3;
    return ((b << by) | (b >> (3 - by))) & 7;
}

static unsigned trailing_ones(unsigned w)
{
    unsigned n = 0;
    for (; w & 1; w >>= 1)
        n++;
    return n;
}

static unsigned entry_corner(unsigned w)
{
    unsigned v = w ? 2 * ((w - 1) / 2) : 0;
    return v ^ (v >> 1);
}

static unsigned direction_in(unsigned w)
{
    return w == 0 ? 0 : trailing_ones(w % 2 ? w : w - 1) % 3;
}

void kiln_curve_init(kiln_curve *curve)
{
    for (unsigned state = 0; state < 24; state++)
        for (unsigned octant = 0; octant < 8; octant++) {
            unsigned e = state % 8, d = state / 8;
            unsigned gray = rotate_left(octant ^ e, 3 - (d + 1) % 3);
            unsigned w = gray ^ (gray >> 1) ^ (gray >> 2);
            unsigned e_next = e ^ rotate_left(entry_corner(w), d + 1);
            unsigned d_next = (d + direction_in(w) + 1) % 3;
            curve->single[state][octant] = (uint8_t)(w * 32 + d_next * 8 + e_next);
        }
    for (unsigned state = 0; state < 24; state++)
        for (unsigned pair = 0; pair < 64; pair++) {
            unsigned high = (pair >> 5 & 1) * 4 + (pair >> 3 & 1) * 2 + (pair >> 1 & 1);
            unsigned low = (pair >> 4 & 1) * 4 + (pair >> 2 & 1) * 2 + (pair & 1);
            unsigned a = curve->single[state][high], b = curve->single[a % 32][low];
            curve->step[state][pair] = (uint16_t)((a / 32 * 8 + b / 32) * 32 + b % 32);
        }
}

uint64_t kiln_curve_key(const kiln_curve *curve, uint32_t x, uint32_t y, uint32_t z, int bits)
{
    uint64_t key = 0;
    unsigned state = 0;
    if (bits % 2) {
        bits--;
        unsigned s = curve->single[0][(x >> bits & 1) * 4 + (y >> bits & 1) * 2 + (z >> bits & 1)];
        key = s / 32;
        state = s % 32;
    }
    while (bits > 0) {
        bits -= 2;
        unsigned s =
            curve->step[state][(x >> bits & 3) * 16 + (y >> bits & 3) * 4 + (z >> bits & 3)];
        key = key << 6 | s / 32;
        state = s % 32;
    }
    return key;
}

/* Sorting. Large arrays are first split by their leading bits into BUCKETS runs, which then sort
 * in cache, by themselves, least significant digit first. */
enum { DIGIT = 11, BUCKETS = 1 << DIGIT, SPLIT_GRAIN = 1 << 16, SPLIT_FROM = 1 << 18 };

/* Insertion beats counting below this. */
enum { INSERTION = 32 };

static void insertion_sort(uint64_t *v, size_t count, uint64_t mask)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t value = v[i];
        size_t j = i;
        for (; j > 0 && (v[j - 1] & mask) > (value & mask); j--)
            v[j] = v[j - 1];
        v[j] = value;
    }
}

/* Returns the array that holds the result, `values` or `scratch`. */
static uint64_t *local_sort(uint64_t *values, uint64_t *scratch, size_t count, int low, int high)
{
    uint64_t *from = values, *to = scratch;
    int passes = (high - low + DIGIT - 1) / DIGIT;
    if (count < INSERTION) {
        uint64_t mask =
            high - low >= 64 ? ~(uint64_t)0 : (((uint64_t)1 << (high - low)) - 1) << low;
        insertion_sort(values, count, mask);
        return values;
    }
    /* Digits no wider than the items pay for: clearing counters must not dominate. */
    int width = (high - low + passes - 1) / (passes ? passes : 1);
    while (width > 6 && (size_t)1 << width > 2 * count) {
        passes++;
        width = (high - low + passes - 1) / passes;
    }
    for (int bit = low; bit < high; bit += width) {
        uint32_t at[BUCKETS];
        int w = high - bit < width ? high - bit : width;
        uint64_t mask = ((uint64_t)1 << w) - 1;
        memset(at, 0, sizeof at[0] << w);
        for (size_t i = 0; i < count; i++)
            at[from[i] >> bit & mask]++;
        if (at[from[0] >> bit & mask] == count)
            continue;
        uint32_t sum = 0;
        for (size_t k = 0; k <= mask; k++) {
            uint32_t n = at[k];
            at[k] = sum;
            sum += n;
        }
        for (size_t i = 0; i < count; i++)
            to[at[from[i] >> bit & mask]++] = from[i];
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

typedef struct split_job {
    uint64_t *values, *scratch;
    uint32_t (*start)[BUCKETS]; /* [chunk][bucket]: counts, then where the chunk's run begins */
    const uint32_t *limit;      /* end of each bucket */
    int low, top;               /* the bits sorted inside the buckets: low .. top-1 */
} split_job;

static void count_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    split_job *job = user;
    uint32_t *count = job->start[chunk];
    memset(count, 0, sizeof job->start[0]);
    for (size_t i = begin; i < end; i++)
        count[job->values[i] >> job->top & (BUCKETS - 1)]++;
}

static void scatter_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    split_job *job = user;
    uint32_t *at = job->start[chunk];
    for (size_t i = begin; i < end; i++)
        job->scratch[at[job->values[i] >> job->top & (BUCKETS - 1)]++] = job->values[i];
}

static void sort_buckets(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    split_job *job = user;
    for (size_t b = begin; b < end; b++) {
        size_t first = b ? job->limit[b - 1] : 0, count = job->limit[b] - first;
        uint64_t *to = job->values + first;
        uint64_t *sorted = local_sort(job->scratch + first, to, count, job->low, job->top);
        if (sorted != to && count > 0)
            memcpy(to, sorted, count * sizeof *to);
    }
}

void kiln_radix_sort(kiln_context *context, uint64_t *values, uint64_t *scratch, size_t count,
                     int low_bit, int high_bit)
{
    split_job job = {values, scratch, NULL, NULL, low_bit, high_bit - DIGIT};
    size_t chunks = kiln_chunk_count(count, SPLIT_GRAIN), bytes = (chunks + 1) * sizeof *job.start;
    if (count >= SPLIT_FROM && high_bit - low_bit > DIGIT)
        job.start = kiln_resize(context, NULL, 0, bytes);
    if (!job.start) { /* small, or no memory for the split: slower, same result */
        if (local_sort(values, scratch, count, low_bit, high_bit) != values)
            memcpy(values, scratch, count * sizeof *values);
        return;
    }
    uint32_t *limit = job.start[chunks], sum = 0;
    kiln_parallel_for(context, count, SPLIT_GRAIN, count_chunk, &job);
    for (size_t b = 0; b < BUCKETS; b++) {
        for (size_t chunk = 0; chunk < chunks; chunk++) {
            uint32_t n = job.start[chunk][b];
            job.start[chunk][b] = sum;
            sum += n;
        }
        limit[b] = sum;
    }
    job.limit = limit;
    kiln_parallel_for(context, count, SPLIT_GRAIN, scatter_chunk, &job);
    kiln_parallel_for(context, BUCKETS, 16, sort_buckets, &job);
    kiln_release(context, job.start, bytes);
}

/* Keys. */
enum { KEY_GRAIN = 1 << 14 };

typedef struct key_job {
    const kiln_vec3 *points;
    double (*bounds)[6]; /* per chunk: low, high */
    uint64_t *values;
    uint32_t *order;
    kiln_curve curve;
    double low[3], scale, side;
    int bits, index_bits;
} key_job;

static void bound_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    key_job *job = user;
    double *bounds = job->bounds[chunk];
    kiln_vec3 low = job->points[begin], high = low, finite = {0, 0, 0};
    for (size_t i = begin; i < end; i++) {
        kiln_vec3 p = job->points[i];
        low = kiln_v3(p.x < low.x ? p.x : low.x, p.y < low.y ? p.y : low.y,
                      p.z < low.z ? p.z : low.z);
        high = kiln_v3(p.x > high.x ? p.x : high.x, p.y > high.y ? p.y : high.y,
                       p.z > high.z ? p.z : high.z);
        finite = kiln_v3_madd(finite, 0.0, p); /* NaN from here on when p is not finite */
    }
    low = kiln_v3_add(low, finite);
    high = kiln_v3_add(high, finite);
    const double all[6] = {low.x, low.y, low.z, high.x, high.y, high.z};
    memcpy(bounds, all, sizeof all);
}

KILN_INLINE uint32_t cell_of(double x, double low, double scale, double side)
{
    double c = (x - low) * scale;
    return (uint32_t)(c < side ? c : side);
}

static void key_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    key_job *job = user;
    for (size_t i = begin; i < end; i++) {
        kiln_vec3 p = job->points[i];
        uint32_t x = cell_of(p.x, job->low[0], job->scale, job->side);
        uint32_t y = cell_of(p.y, job->low[1], job->scale, job->side);
        uint32_t z = cell_of(p.z, job->low[2], job->scale, job->side);
        uint64_t key = kiln_curve_key(&job->curve, x, y, z, job->bits);
        job->values[i] = key << job->index_bits | i;
    }
}

static void order_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    key_job *job = user;
    uint64_t mask = ((uint64_t)1 << job->index_bits) - 1;
    for (size_t i = begin; i < end; i++)
        job->order[i] = (uint32_t)(job->values[i] & mask);
}

/* Cells are cubes: equal sides keep the curve local when the set is long and thin. */
static kiln_status fit_cells(key_job *job, size_t chunks, kiln_error *error)
{
    double extent = 0.0;
    for (int j = 0; j < 3; j++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t chunk = 0; chunk < chunks; chunk++) {
            double l = job->bounds[chunk][j], h = job->bounds[chunk][j + 3];
            if (!isfinite(l) || !isfinite(h))
                return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                                 "a point to be ordered is not finite");
            low = l < low ? l : low;
            high = h > high ? h : high;
        }
        job->low[j] = low;
        extent = high - low > extent ? high - low : extent;
    }
    if (!isfinite(extent))
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1, "points to be ordered span infinity");
    int exponent;
    frexp(extent, &exponent);
    /* A power of two, so that scaling the input by one leaves the order. */
    job->scale = extent > 0.0 && exponent > -900 ? ldexp(1.0, job->bits - exponent) : 0.0;
    job->side = ldexp(1.0, job->bits) - 1.0;
    return KILN_OK;
}

kiln_status kiln_curve_order(kiln_context *context, const kiln_vec3 *points, size_t count, int bits,
                             uint32_t *order, kiln_error *error)
{
    if (count > UINT32_MAX)
        return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1, "%zu points cannot be ordered", count);
    if (count == 0)
        return KILN_OK;
    key_job job = {.points = points, .order = order, .index_bits = 1};
    while ((count - 1) >> job.index_bits)
        job.index_bits++;
    job.bits = (64 - job.index_bits) / 3;
    job.bits = bits < job.bits ? bits : job.bits;
    job.bits = job.bits < 21 ? job.bits : 21;

    size_t chunks = kiln_chunk_count(count, KEY_GRAIN);
    size_t bytes = 2 * count * sizeof(uint64_t) + chunks * sizeof *job.bounds;
    job.values = kiln_resize(context, NULL, 0, bytes);
    if (!job.values)
        return kiln_fail_memory(error, bytes);
    job.bounds = (double(*)[6])(void *)(job.values + 2 * count);
    kiln_parallel_for(context, count, KEY_GRAIN, bound_chunk, &job);
    kiln_status status = fit_cells(&job, chunks, error);
    if (status == KILN_OK) {
        kiln_curve_init(&job.curve);
        kiln_parallel_for(context, count, KEY_GRAIN, key_chunk, &job);
        kiln_radix_sort(context, job.values, job.values + count, count, job.index_bits,
                        job.index_bits + 3 * job.bits);
        kiln_parallel_for(context, count, KEY_GRAIN, order_chunk, &job);
    }
    kiln_release(context, job.values, bytes);
    return status;
}
