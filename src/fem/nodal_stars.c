#include "fem/nodal_stars.h"

#include "solve/bsr_spill.h"

#include <string.h>

enum { LANES = KILN_ELEMENT_LANES };

/* Numbers the vertices of the elements [begin, end) from stars->nodes on, ascending. `number`
 * [vertices] is all KILN_NONE and is so again afterwards. */
static kiln_status number_nodes(kiln_nodal_stars *stars, const kiln_elements *e, uint32_t material,
                                uint32_t *number, kiln_error *error)
{
    size_t begin = LANES * e->first.data[material], end = LANES * e->first.data[material + 1];
    for (size_t i = begin; i < end; i++)
        for (int k = 0; k < 4; k++)
            if (e->batches.data[i / LANES].slot[i % LANES] != KILN_NONE)
                number[e->vertex.data[4 * i + (size_t)k]] = 0;
    for (size_t v = 0; v < e->vertices; v++) {
        if (number[v] == KILN_NONE)
            continue;
        number[v] = (uint32_t)stars->nodes++;
        KILN_TRY(kiln_array_push(e->context, &stars->material, material, error));
    }
    for (size_t i = begin; i < end; i++)
        for (size_t k = 0; k < 4; k++)
            if (e->batches.data[i / LANES].slot[i % LANES] != KILN_NONE)
                stars->node_of.data[4 * i + k] = number[e->vertex.data[4 * i + k]];
    memset(number, 0xFF, e->vertices * sizeof *number);
    return KILN_OK;
}

static kiln_status find_nodes(kiln_nodal_stars *stars, const kiln_elements *e, kiln_error *error)
{
    size_t room = kiln_elements_room(e), bytes = e->vertices * sizeof(uint32_t);
    KILN_TRY(kiln_array_reserve(e->context, &stars->node_of, 4 * room, error));
    memset(stars->node_of.data, 0xFF, 4 * room * sizeof(uint32_t));
    stars->node_of.count = 4 * room;
    uint32_t *number = kiln_resize(e->context, NULL, 0, bytes);
    if (!number)
        return kiln_fail_memory(error, bytes);
    memset(number, 0xFF, bytes);
    kiln_status status = KILN_OK;
    for (uint32_t m = 0; m < e->materials.count && status == KILN_OK; m++)
        if (e->materials.data[m].nodal_pressure)
            status = number_nodes(stars, e, m, number, error);
    kiln_release(e->context, number, bytes);
    return status;
}

/* By counting two places ahead: after the fill, one place ahead is where the next list begins. */
static kiln_status list_tets(kiln_nodal_stars *stars, kiln_context *context, kiln_error *error)
{
    size_t entries = 0;
    KILN_TRY(kiln_array_reserve(context, &stars->first, stars->nodes + 2, error));
    uint64_t *first = stars->first.data;
    memset(first, 0, (stars->nodes + 2) * sizeof *first);
    for (size_t i = 0; i < stars->node_of.count; i++)
        if (stars->node_of.data[i] != KILN_NONE) {
            first[stars->node_of.data[i] + 2]++;
            entries++;
        }
    for (size_t n = 2; n <= stars->nodes + 1; n++)
        first[n] += first[n - 1];
    KILN_TRY(kiln_array_reserve(context, &stars->tet, entries, error));
    stars->tet.count = entries;
    for (size_t i = 0; i < stars->node_of.count; i++)
        if (stars->node_of.data[i] != KILN_NONE)
            stars->tet.data[first[stars->node_of.data[i] + 1]++] = (uint32_t)i;
    return KILN_OK;
}

static size_t unique(uint32_t *row, size_t count)
{
    size_t kept = 0;
    kiln_bsr_sort_columns(row, count);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || row[kept - 1] != row[i])
            row[kept++] = row[i];
    return kept;
}

static uint16_t find_place(const uint32_t *row, size_t count, uint32_t vertex)
{
    size_t low = 0, high = count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (row[middle] <= vertex)
            low = middle;
        else
            high = middle;
    }
    return (uint16_t)low;
}

static kiln_status list_star(kiln_nodal_stars *stars, const kiln_elements *e, size_t node,
                             kiln_error *error)
{
    uint64_t begin = stars->first.data[node], end = stars->first.data[node + 1];
    size_t at = stars->row.count;
    KILN_TRY(kiln_array_reserve(e->context, &stars->row, at + 4 * (end - begin), error));
    uint32_t *row = stars->row.data + at;
    for (uint64_t i = begin; i < end; i++)
        memcpy(row + 4 * (i - begin), e->vertex.data + 4 * (size_t)(stars->tet.data[i] / 4),
               4 * sizeof *row);
    size_t count = unique(row, 4 * (end - begin));
    if (count > UINT16_MAX)
        return kiln_fail(error, KILN_ERR_LIMIT, "nodal pressure", 0, -1,
                         "%zu vertices round one vertex, at most %d are possible", count,
                         UINT16_MAX);
    for (uint64_t i = begin; i < end; i++)
        for (size_t k = 0; k < 4; k++)
            stars->place.data[4 * i + k] =
                find_place(row, count, e->vertex.data[4 * (size_t)(stars->tet.data[i] / 4) + k]);
    stars->row.count = at + count;
    stars->start.data[node + 1] = stars->row.count;
    return KILN_OK;
}

static kiln_status list_inverse(kiln_nodal_stars *stars, kiln_context *context, kiln_error *error)
{
    size_t vertices = stars->vertices;
    KILN_TRY(kiln_array_reserve(context, &stars->inverse_first, vertices + 2, error));
    KILN_TRY(kiln_array_reserve(context, &stars->inverse, stars->row.count, error));
    uint64_t *first = stars->inverse_first.data;
    memset(first, 0, (vertices + 2) * sizeof *first);
    for (size_t i = 0; i < stars->row.count; i++)
        first[stars->row.data[i] + 2]++;
    for (size_t v = 2; v <= vertices + 1; v++)
        first[v] += first[v - 1];
    for (size_t n = 0; n < stars->nodes; n++)
        for (uint64_t i = stars->start.data[n]; i < stars->start.data[n + 1]; i++)
            stars->inverse.data[first[stars->row.data[i] + 1]++] = (uint32_t)n;
    return KILN_OK;
}

static kiln_status build(kiln_nodal_stars *stars, const kiln_elements *e, kiln_error *error)
{
    bool wanted = false;
    for (size_t m = 0; m < e->materials.count; m++)
        wanted |= e->materials.data[m].nodal_pressure;
    if (!wanted) {
        kiln_nodal_stars_free(stars, e->context); /* most bodies need none of it */
        return KILN_OK;
    }
    stars->vertices = e->vertices;
    KILN_TRY(find_nodes(stars, e, error));
    if (stars->nodes == 0)
        return KILN_OK;
    KILN_TRY(list_tets(stars, e->context, error));
    KILN_TRY(kiln_array_reserve(e->context, &stars->place, 4 * stars->tet.count, error));
    KILN_TRY(kiln_array_reserve(e->context, &stars->start, stars->nodes + 1, error));
    stars->start.data[0] = 0;
    for (size_t n = 0; n < stars->nodes; n++)
        KILN_TRY(list_star(stars, e, n, error));
    return list_inverse(stars, e->context, error);
}

kiln_status kiln_nodal_stars_build(kiln_nodal_stars *stars, const kiln_elements *elements,
                                   kiln_error *error)
{
    stars->nodes = 0;
    stars->node_of.count = stars->material.count = stars->tet.count = stars->row.count = 0;
    kiln_status status = build(stars, elements, error);
    if (status != KILN_OK)
        kiln_nodal_stars_free(stars, elements->context);
    return status;
}

void kiln_nodal_stars_free(kiln_nodal_stars *stars, kiln_context *context)
{
    kiln_array_free(context, &stars->node_of);
    kiln_array_free(context, &stars->material);
    kiln_array_free(context, &stars->first);
    kiln_array_free(context, &stars->tet);
    kiln_array_free(context, &stars->start);
    kiln_array_free(context, &stars->row);
    kiln_array_free(context, &stars->place);
    kiln_array_free(context, &stars->inverse_first);
    kiln_array_free(context, &stars->inverse);
    stars->nodes = 0;
}

size_t kiln_nodal_stars_bytes(const kiln_nodal_stars *stars)
{
    const kiln_nodal_stars *s = stars;
    return (s->node_of.capacity + s->material.capacity + s->tet.capacity + s->row.capacity +
            s->inverse.capacity) *
               sizeof(uint32_t) +
           (s->first.capacity + s->start.capacity + s->inverse_first.capacity) * sizeof(uint64_t) +
           s->place.capacity * sizeof(uint16_t);
}
