#include "fem/nodal_stars.h"

#include "solve/bsr_spill.h"

#include <string.h>

/* Stars are made beside those there are; what is not affected is copied in long runs. */
typedef struct renewal {
    const kiln_nodal_stars *before;
    kiln_nodal_stars *now;
    const kiln_elements *e;
    const uint8_t *affected; /* [vertex], NULL: all */
    uint32_t *where;         /* [vertex] scratch */
} renewal;

static bool is_affected(const renewal *r, size_t vertex)
{
    return !r->affected || vertex >= r->before->vertices || r->affected[vertex];
}

/* The materials with nodal pressure. */
static kiln_status rank_materials(kiln_nodal_stars *stars, const kiln_elements *e,
                                  kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(e->context, &stars->rank, e->materials.count, error));
    KILN_TRY(kiln_array_reserve(e->context, &stars->material, e->materials.count, error));
    stars->rank.count = e->materials.count;
    for (uint32_t m = 0; m < e->materials.count; m++) {
        bool wanted = e->materials.data[m].nodal_pressure && e->tets_of.data[m] > 0;
        stars->rank.data[m] = wanted ? (uint32_t)stars->material.count : KILN_NONE;
        if (wanted)
            stars->material.data[stars->material.count++] = m;
    }
    stars->vertices = e->vertices;
    stars->nodes = e->vertices * stars->material.count;
    return KILN_OK;
}

static bool is_any_affected(const renewal *r, const uint32_t v[4])
{
    if (v[0] == KILN_NONE) /* in no chunk */
        return false;
    return is_affected(r, v[0]) | is_affected(r, v[1]) | is_affected(r, v[2]) |
           is_affected(r, v[3]);
}

/* Calls for every corner of the affected nodes, in the order of element numbers. */
KILN_INLINE void visit_corners(const renewal *r,
                               void (*visit)(kiln_nodal_stars *, size_t, uint32_t))
{
    const kiln_elements *e = r->e;
    for (size_t n = 0; n < kiln_elements_room(e); n++) {
        const uint32_t *v = e->vertex.data + 4 * n;
        uint32_t rank = is_any_affected(r, v) ? kiln_nodal_rank(r->now, e, n) : KILN_NONE;
        for (uint32_t k = 0; k < 4 && rank != KILN_NONE; k++)
            if (is_affected(r, v[k]))
                visit(r->now, kiln_nodal_node(r->now, v[k], rank), 4 * (uint32_t)n + k);
    }
}

static void count_corner(kiln_nodal_stars *stars, size_t node, uint32_t corner)
{
    (void)corner;
    stars->first.data[node]++;
}

static void list_corner(kiln_nodal_stars *stars, size_t node, uint32_t corner)
{
    stars->tet.data[stars->first.data[node]++] = corner;
}

/* Lengths to beginnings; returns the sum. */
static uint64_t add_up(uint64_t *first, size_t nodes)
{
    uint64_t sum = 0;
    for (size_t n = 0; n <= nodes; n++) {
        uint64_t here = n < nodes ? first[n] : 0;
        first[n] = sum;
        sum += here;
    }
    return sum;
}

/* The end of the run of nodes from `node` on whose vertices are not affected. */
static size_t run_end(const renewal *r, size_t node)
{
    size_t ranks = r->now->material.count, vertex = node / ranks;
    while (vertex < r->now->vertices && !is_affected(r, vertex))
        vertex++;
    return vertex * ranks;
}

static void copy_tets(const renewal *r, size_t node, size_t end)
{
    const uint64_t *from = r->before->first.data;
    uint64_t *first = r->now->first.data;
    memcpy(r->now->tet.data + first[node], r->before->tet.data + from[node],
           (from[end] - from[node]) * sizeof(uint32_t));
    for (; node < end; node++)
        first[node] += from[node + 1] - from[node];
}

static kiln_status list_tets(const renewal *r, kiln_error *error)
{
    kiln_nodal_stars *stars = r->now;
    size_t nodes = stars->nodes;
    KILN_TRY(kiln_array_reserve(r->e->context, &stars->first, nodes + 1, error));
    uint64_t *first = stars->first.data;
    memset(first, 0, (nodes + 1) * sizeof *first);
    visit_corners(r, count_corner);
    for (size_t n = 0; n < nodes; n++)
        if (!is_affected(r, n / stars->material.count))
            first[n] = r->before->first.data[n + 1] - r->before->first.data[n];
    stars->tet.count = add_up(first, nodes);
    KILN_TRY(kiln_array_reserve(r->e->context, &stars->tet, stars->tet.count, error));
    visit_corners(r, list_corner);
    for (size_t n = 0; n < nodes;) {
        size_t end = run_end(r, n);
        if (end > n)
            copy_tets(r, n, end);
        n = end > n ? end : n + 1;
    }
    /* Filling moved each begin to its end, which is the next one's begin. */
    memmove(first + 1, first, nodes * sizeof *first);
    first[0] = 0;
    return KILN_OK;
}

/* The vertices of a node's tets, each once, ascending. `where` [vertex] then has the place of each;
 * before, it is stale unless it lies in the row and names the vertex there. */
static size_t list_vertices(const renewal *r, size_t node, uint32_t *row)
{
    const kiln_nodal_stars *stars = r->now;
    size_t count = 0;
    for (uint64_t i = stars->first.data[node]; i < stars->first.data[node + 1]; i++) {
        const uint32_t *v = r->e->vertex.data + 4 * (size_t)(stars->tet.data[i] / 4);
        for (int k = 0; k < 4; k++) {
            uint32_t at = r->where[v[k]];
            if (at < count && row[at] == v[k])
                continue;
            r->where[v[k]] = (uint32_t)count;
            row[count++] = v[k];
        }
    }
    kiln_bsr_sort_columns(row, count);
    for (size_t i = 0; i < count; i++)
        r->where[row[i]] = (uint32_t)i;
    return count;
}

static kiln_status list_star(const renewal *r, size_t node, kiln_error *error)
{
    kiln_nodal_stars *stars = r->now;
    size_t count = list_vertices(r, node, stars->row.data + stars->row.count);
    if (count > UINT16_MAX)
        return kiln_fail(error, KILN_ERR_LIMIT, "nodal pressure", 0, -1,
                         "%zu vertices round one vertex, at most %d are possible", count,
                         UINT16_MAX);
    for (uint64_t i = stars->first.data[node]; i < stars->first.data[node + 1]; i++) {
        const uint32_t *v = r->e->vertex.data + 4 * (size_t)(stars->tet.data[i] / 4);
        for (size_t k = 0; k < 4; k++)
            stars->place.data[4 * i + k] = (uint16_t)r->where[v[k]];
    }
    stars->row.count += count;
    stars->start.data[node + 1] = stars->row.count;
    return KILN_OK;
}

static void copy_stars(const renewal *r, size_t node, size_t end)
{
    const kiln_nodal_stars *before = r->before;
    kiln_nodal_stars *now = r->now;
    const uint64_t *first = before->first.data, *start = before->start.data;
    memcpy(now->place.data + 4 * now->first.data[node], before->place.data + 4 * first[node],
           4 * (first[end] - first[node]) * sizeof(uint16_t));
    memcpy(now->row.data + now->row.count, before->row.data + start[node],
           (start[end] - start[node]) * sizeof(uint32_t));
    for (size_t n = node; n < end; n++)
        now->start.data[n + 1] = now->row.count + (start[n + 1] - start[node]);
    now->row.count += start[end] - start[node];
}

static kiln_status list_stars(const renewal *r, kiln_error *error)
{
    kiln_nodal_stars *stars = r->now;
    KILN_TRY(kiln_array_reserve(r->e->context, &stars->place, 4 * stars->tet.count, error));
    KILN_TRY(kiln_array_reserve(r->e->context, &stars->start, stars->nodes + 1, error));
    stars->start.data[0] = 0;
    if (r->affected) /* about as many as there were, a little at a time costs copies */
        KILN_TRY(kiln_array_reserve(r->e->context, &stars->row,
                                    r->before->row.count + r->before->row.count / 8, error));
    for (size_t n = 0, end; n < stars->nodes; n = end) {
        end = run_end(r, n);
        bool kept = end > n;
        uint64_t most = kept ? r->before->start.data[end] - r->before->start.data[n]
                             : 4 * (stars->first.data[n + 1] - stars->first.data[n]);
        KILN_TRY(kiln_array_reserve(r->e->context, &stars->row, stars->row.count + most, error));
        if (kept) {
            copy_stars(r, n, end);
        } else {
            KILN_TRY(list_star(r, n, error));
            end = n + 1;
        }
    }
    return KILN_OK;
}

static kiln_status renew(renewal *r, kiln_error *error)
{
    kiln_context *context = r->e->context;
    size_t bytes = r->e->vertices * sizeof *r->where;
    KILN_TRY(rank_materials(r->now, r->e, error));
    if (r->now->nodes == 0)
        return KILN_OK;
    KILN_TRY(list_tets(r, error));
    r->where = kiln_resize(context, NULL, 0, bytes);
    if (!r->where)
        return kiln_fail_memory(error, bytes);
    memset(r->where, 0, bytes);
    kiln_status status = list_stars(r, error);
    kiln_release(context, r->where, bytes);
    return status;
}

bool kiln_nodal_stars_can_stay(const kiln_nodal_stars *stars, const kiln_elements *elements)
{
    if (stars->nodes == 0 || stars->rank.count != elements->materials.count)
        return false;
    for (size_t m = 0; m < elements->materials.count; m++) {
        bool wanted = elements->materials.data[m].nodal_pressure && elements->tets_of.data[m] > 0;
        if (wanted != (stars->rank.data[m] != KILN_NONE))
            return false;
    }
    return true;
}

kiln_status kiln_nodal_stars_update(kiln_nodal_stars *stars, const kiln_elements *elements,
                                    const uint8_t *affected, kiln_error *error)
{
    kiln_nodal_stars now = {0};
    renewal r = {stars, &now, elements, affected, NULL};
    kiln_status status = renew(&r, error);
    kiln_nodal_stars_free(stars, elements->context);
    if (status == KILN_OK && now.nodes > 0)
        *stars = now;
    else
        kiln_nodal_stars_free(&now, elements->context); /* most bodies need none of it */
    return status;
}

kiln_status kiln_nodal_stars_build(kiln_nodal_stars *stars, const kiln_elements *elements,
                                   kiln_error *error)
{
    return kiln_nodal_stars_update(stars, elements, NULL, error);
}

void kiln_nodal_stars_free(kiln_nodal_stars *stars, kiln_context *context)
{
    kiln_array_free(context, &stars->material);
    kiln_array_free(context, &stars->rank);
    kiln_array_free(context, &stars->first);
    kiln_array_free(context, &stars->tet);
    kiln_array_free(context, &stars->start);
    kiln_array_free(context, &stars->row);
    kiln_array_free(context, &stars->place);
    stars->nodes = stars->vertices = 0;
}

size_t kiln_nodal_stars_bytes(const kiln_nodal_stars *stars)
{
    const kiln_nodal_stars *s = stars;
    return (s->material.capacity + s->rank.capacity + s->tet.capacity + s->row.capacity) *
               sizeof(uint32_t) +
           (s->first.capacity + s->start.capacity) * sizeof(uint64_t) +
           s->place.capacity * sizeof(uint16_t);
}
