/* Uniform grid of cells, hashed: points or boxes near a place, when they are about as large as the
 * cells and spread anywhere. Memory goes with the items, not with the space they span.
 *
 * The order of results depends on the items and the query alone: cell by cell in the order of z, y,
 * x, and of the index within a cell; a search over more cells than there are entries goes through
 * the entries as they are stored instead. */
#ifndef KILN_GEOM_HASH_GRID_H
#define KILN_GEOM_HASH_GRID_H

#include "base/context.h"
#include "geom/box.h"

/* One item in one cell. */
typedef struct kiln_hash_grid_entry {
    int32_t cell[3];
    uint32_t item;
} kiln_hash_grid_entry;

/* Zero-initialise. */
typedef struct kiln_hash_grid {
    kiln_context *context;
    double cell_size;
    kiln_vec3 origin;            /* low corner of the items */
    int32_t last[3];             /* cells in use run from 0 to last */
    size_t items, entries;       /* entries > items when boxes reach over several cells */
    size_t buckets;              /* power of two */
    uint32_t *start;             /* [buckets + 1] into entry */
    kiln_hash_grid_entry *entry; /* by bucket, then item, then cell */
    const kiln_vec3 *points;     /* borrowed; NULL in a grid of boxes */
    const kiln_box *boxes;       /* borrowed; NULL in a grid of points */
} kiln_hash_grid;

/* The arrays are borrowed until the grid is built again or destroyed. KILN_ERR_INPUT: an item is
 * not finite or a box has low > high (named), or cell_size is not positive; KILN_ERR_LIMIT: more
 * than 2^30 cells along an axis, or boxes that reach over 2^31 cells in all (cells far too small).
 * On failure the grid is empty. */
kiln_status kiln_hash_grid_build_points(kiln_hash_grid *grid, kiln_context *context,
                                        const kiln_vec3 *points, size_t count, double cell_size,
                                        kiln_error *error);
kiln_status kiln_hash_grid_build_boxes(kiln_hash_grid *grid, kiln_context *context,
                                       const kiln_box *boxes, size_t count, double cell_size,
                                       kiln_error *error);
void kiln_hash_grid_destroy(kiln_hash_grid *grid);

/* Returning false ends the search. */
typedef bool (*kiln_hash_grid_visit)(void *user, uint32_t item);

/* Points with |x - centre|^2 <= radius^2, as rounded. For a grid of points. */
void kiln_hash_grid_query_radius(const kiln_hash_grid *grid, kiln_vec3 centre, double radius,
                                 kiln_hash_grid_visit visit, void *user);

/* Items (points or boxes) that overlap the box, each once. */
void kiln_hash_grid_query_box(const kiln_hash_grid *grid, kiln_box box, kiln_hash_grid_visit visit,
                              void *user);

#endif
