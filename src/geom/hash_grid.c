#include "geom/hash_grid.h"

#include "base/assert.h"
#include "base/hash.h"

#include <string.h>

enum { MAX_CELLS = 1 << 30 };

void kiln_hash_grid_destroy(kiln_hash_grid *grid)
{
    if (grid->context) {
        kiln_release(grid->context, grid->start, (grid->buckets + 1) * sizeof *grid->start);
        kiln_release(grid->context, grid->entry, grid->entries * sizeof *grid->entry);
    }
    *grid = (kiln_hash_grid){0};
}

static kiln_box item_box(const kiln_hash_grid *grid, size_t i)
{
    return grid->boxes ? grid->boxes[i] : (kiln_box){grid->points[i], grid->points[i]};
}

static size_t bucket_of(const kiln_hash_grid *grid, const int32_t c[3])
{
    uint64_t low = (uint64_t)(uint32_t)c[0] | (uint64_t)(uint32_t)c[1] << 32;
    return kiln_hash_mix(low * 0x9e3779b97f4a7c15u + (uint32_t)c[2]) & (grid->buckets - 1);
}

/* Cell of a coordinate, kept within the cells in use. The difference and the quotient round
 * monotonically, so the cells of a box cover the cells of what it contains. */
static int32_t cell_along(double x, double low, double size, int32_t last)
{
    double c = floor((x - low) / size);
    return c >= last ? last : c <= 0.0 ? 0 : (int32_t)c;
}

static void cells_of(const kiln_hash_grid *grid, kiln_box b, int32_t from[3], int32_t to[3])
{
    double size = grid->cell_size;
    from[0] = cell_along(b.low.x, grid->origin.x, size, grid->last[0]);
    from[1] = cell_along(b.low.y, grid->origin.y, size, grid->last[1]);
    from[2] = cell_along(b.low.z, grid->origin.z, size, grid->last[2]);
    to[0] = cell_along(b.high.x, grid->origin.x, size, grid->last[0]);
    to[1] = cell_along(b.high.y, grid->origin.y, size, grid->last[1]);
    to[2] = cell_along(b.high.z, grid->origin.z, size, grid->last[2]);
}

static double cell_count(const int32_t from[3], const int32_t to[3])
{
    return ((double)to[0] - from[0] + 1) * ((double)to[1] - from[1] + 1) *
           ((double)to[2] - from[2] + 1);
}

static kiln_status fit_cells(kiln_hash_grid *grid, kiln_error *error)
{
    kiln_box all = kiln_box_empty();
    for (size_t i = 0; i < grid->items; i++) {
        kiln_box b = item_box(grid, i);
        if (!kiln_v3_finite(b.low) || !kiln_v3_finite(b.high) || b.low.x > b.high.x ||
            b.low.y > b.high.y || b.low.z > b.high.z)
            return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                             "item %zu is not finite or has low > high", i);
        all = kiln_box_join(all, b);
    }
    grid->origin = all.low;
    const double size[3] = {all.high.x - all.low.x, all.high.y - all.low.y, all.high.z - all.low.z};
    for (int j = 0; j < 3; j++) {
        double cells = floor(size[j] / grid->cell_size);
        if (!(cells < MAX_CELLS))
            return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1,
                             "cell size %g gives too many cells over a length of %g",
                             grid->cell_size, size[j]);
        grid->last[j] = (int32_t)cells;
    }
    return KILN_OK;
}

static kiln_status count_entries(kiln_hash_grid *grid, kiln_error *error)
{
    double total = 0.0;
    for (size_t i = 0; i < grid->items; i++) {
        int32_t from[3], to[3];
        cells_of(grid, item_box(grid, i), from, to);
        total += cell_count(from, to);
    }
    if (total > INT32_MAX)
        return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1,
                         "the items reach over %g cells of size %g", total, grid->cell_size);
    grid->entries = (size_t)total;
    grid->buckets = 1;
    while (grid->buckets < grid->entries)
        grid->buckets *= 2;
    return KILN_OK;
}

/* The two sweeps of a counting sort by bucket: count, then place. */
static void sweep_entries(kiln_hash_grid *grid, bool place)
{
    for (size_t i = 0; i < grid->items; i++) {
        int32_t from[3], to[3], c[3];
        cells_of(grid, item_box(grid, i), from, to);
        for (c[2] = from[2]; c[2] <= to[2]; c[2]++)
            for (c[1] = from[1]; c[1] <= to[1]; c[1]++)
                for (c[0] = from[0]; c[0] <= to[0]; c[0]++) {
                    size_t bucket = bucket_of(grid, c);
                    if (place)
                        grid->entry[grid->start[bucket]++] =
                            (kiln_hash_grid_entry){{c[0], c[1], c[2]}, (uint32_t)i};
                    else
                        grid->start[bucket]++;
                }
    }
}

static kiln_status fill(kiln_hash_grid *grid, kiln_error *error)
{
    size_t bytes = (grid->buckets + 1) * sizeof *grid->start;
    grid->start = kiln_resize(grid->context, NULL, 0, bytes);
    grid->entry = kiln_resize(grid->context, NULL, 0, grid->entries * sizeof *grid->entry);
    if (!grid->start || !grid->entry)
        return kiln_fail_memory(error, bytes + grid->entries * sizeof *grid->entry);
    memset(grid->start, 0, bytes);
    sweep_entries(grid, false);
    uint32_t sum = 0;
    for (size_t b = 0; b <= grid->buckets; b++) {
        uint32_t n = grid->start[b];
        grid->start[b] = sum;
        sum += n;
    }
    sweep_entries(grid, true);
    /* Placing moved each start to the end of its bucket, which is the start of the next. */
    memmove(grid->start + 1, grid->start, grid->buckets * sizeof *grid->start);
    grid->start[0] = 0;
    return KILN_OK;
}

static kiln_status build(kiln_hash_grid *grid, kiln_error *error)
{
    if (grid->items > UINT32_MAX - 1)
        return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1, "%zu items are too many", grid->items);
    if (!(grid->cell_size > 0.0) || !isfinite(grid->cell_size))
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1, "cell size must be positive, got %g",
                         grid->cell_size);
    if (grid->items == 0)
        return KILN_OK;
    KILN_TRY(fit_cells(grid, error));
    KILN_TRY(count_entries(grid, error));
    return fill(grid, error);
}

static kiln_status build_new(kiln_hash_grid *grid, kiln_hash_grid made, kiln_error *error)
{
    kiln_hash_grid_destroy(grid);
    *grid = made;
    kiln_status status = build(grid, error);
    if (status != KILN_OK)
        kiln_hash_grid_destroy(grid);
    return status;
}

kiln_status kiln_hash_grid_build_points(kiln_hash_grid *grid, kiln_context *context,
                                        const kiln_vec3 *points, size_t count, double cell_size,
                                        kiln_error *error)
{
    kiln_hash_grid made = {
        .context = context, .points = points, .items = count, .cell_size = cell_size};
    return build_new(grid, made, error);
}

kiln_status kiln_hash_grid_build_boxes(kiln_hash_grid *grid, kiln_context *context,
                                       const kiln_box *boxes, size_t count, double cell_size,
                                       kiln_error *error)
{
    kiln_hash_grid made = {
        .context = context, .boxes = boxes, .items = count, .cell_size = cell_size};
    return build_new(grid, made, error);
}

typedef struct search {
    const kiln_hash_grid *grid;
    kiln_box box;
    int32_t from[3];
    kiln_vec3 centre;
    double radius2; /* infinite: the box alone decides */
    kiln_hash_grid_visit visit;
    void *user;
} search;

/* An item over several cells is reported in the first cell it shares with the search. */
static bool wanted(const search *s, const kiln_hash_grid_entry *e)
{
    kiln_box b = item_box(s->grid, e->item);
    if (!kiln_box_overlap(b, s->box))
        return false;
    if (s->grid->boxes) {
        int32_t from[3], to[3];
        cells_of(s->grid, b, from, to);
        for (int j = 0; j < 3; j++)
            if (e->cell[j] != (from[j] > s->from[j] ? from[j] : s->from[j]))
                return false;
    }
    return s->radius2 == INFINITY || kiln_v3_norm2(kiln_v3_sub(b.low, s->centre)) <= s->radius2;
}

static bool search_cell(const search *s, const int32_t c[3])
{
    const kiln_hash_grid *grid = s->grid;
    size_t bucket = bucket_of(grid, c);
    for (size_t i = grid->start[bucket]; i < grid->start[bucket + 1]; i++) {
        const kiln_hash_grid_entry *e = &grid->entry[i];
        if (e->cell[0] == c[0] && e->cell[1] == c[1] && e->cell[2] == c[2] && wanted(s, e) &&
            !s->visit(s->user, e->item))
            return false;
    }
    return true;
}

/* When the search covers more cells than there are entries. */
static void search_entries(const search *s, const int32_t to[3])
{
    for (size_t i = 0; i < s->grid->entries; i++) {
        const kiln_hash_grid_entry *e = &s->grid->entry[i];
        bool inside = true;
        for (int j = 0; j < 3; j++)
            inside &= e->cell[j] >= s->from[j] && e->cell[j] <= to[j];
        if (inside && wanted(s, e) && !s->visit(s->user, e->item))
            return;
    }
}

static void run_search(search *s)
{
    int32_t to[3], c[3];
    kiln_box b = s->box;
    if (s->grid->entries == 0 ||
        !(b.low.x <= b.high.x && b.low.y <= b.high.y && b.low.z <= b.high.z))
        return;
    cells_of(s->grid, b, s->from, to);
    if (cell_count(s->from, to) > (double)s->grid->entries) {
        search_entries(s, to);
        return;
    }
    for (c[2] = s->from[2]; c[2] <= to[2]; c[2]++)
        for (c[1] = s->from[1]; c[1] <= to[1]; c[1]++)
            for (c[0] = s->from[0]; c[0] <= to[0]; c[0]++)
                if (!search_cell(s, c))
                    return;
}

void kiln_hash_grid_query_radius(const kiln_hash_grid *grid, kiln_vec3 centre, double radius,
                                 kiln_hash_grid_visit visit, void *user)
{
    KILN_ASSERT(grid->boxes == NULL);
    /* Slightly wide: the exact test follows. */
    double r =
        radius * (1.0 + 0x1p-50) + 0x1p-50 * (fabs(centre.x) + fabs(centre.y) + fabs(centre.z));
    kiln_vec3 reach = {r, r, r};
    search s = {.grid = grid,
                .box = {kiln_v3_sub(centre, reach), kiln_v3_add(centre, reach)},
                .centre = centre,
                .radius2 = radius * radius,
                .visit = visit,
                .user = user};
    if (radius >= 0.0)
        run_search(&s);
}

void kiln_hash_grid_query_box(const kiln_hash_grid *grid, kiln_box box, kiln_hash_grid_visit visit,
                              void *user)
{
    search s = {.grid = grid, .box = box, .radius2 = INFINITY, .visit = visit, .user = user};
    run_search(&s);
}
