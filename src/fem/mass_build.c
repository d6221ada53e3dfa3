/* Every sum is over the tets at a vertex in ascending order, whichever tets those are: so a part of
 * the vertices can be done again and the bits are those of a build. */
#include "base/parallel.h"
#include "fem/mass_impl.h"
#include "solve/bsr_spill.h"

#include <string.h>

static const double WASTE = 0.5; /* entries of rows that moved, of those in use: then built anew */

typedef struct weighed_tet {
    uint32_t v[4];
    double mass; /* kg */
} weighed_tet;

typedef struct renewal {
    kiln_mass *mass;
    const kiln_mesh *mesh;
    KILN_ARRAY_OF(weighed_tet)
    tets;                     /* at the affected vertices, ascending */
    uint32_t *number;         /* [vertex] of the affected, others KILN_NONE */
    kiln_u32_array vertices;  /* [number] */
    kiln_u32_array first, at; /* tets at each, ascending: at[first[n]] to at[first[n + 1] - 1] */
    uint32_t *place;          /* [vertex] scratch: where a column is in the row being made */
} renewal;

static size_t scratch_bytes(const renewal *r)
{
    return (2 * r->mass->rows + 1) * sizeof(uint32_t);
}

static kiln_status begin(renewal *r, kiln_error *error)
{
    r->number = kiln_resize(r->mass->context, NULL, 0, scratch_bytes(r));
    if (!r->number)
        return kiln_fail_memory(error, scratch_bytes(r));
    memset(r->number, 0xff, r->mass->rows * sizeof(uint32_t));
    r->place = r->number + r->mass->rows;
    memset(r->place, 0, r->mass->rows * sizeof(uint32_t));
    return KILN_OK;
}

static void end(renewal *r)
{
    kiln_context *context = r->mass->context;
    kiln_release(context, r->number, scratch_bytes(r));
    kiln_array_free(context, &r->tets);
    kiln_array_free(context, &r->vertices);
    kiln_array_free(context, &r->first);
    kiln_array_free(context, &r->at);
}

static kiln_status affect(renewal *r, uint32_t vertex, kiln_error *error)
{
    if (r->number[vertex] != KILN_NONE)
        return KILN_OK;
    r->number[vertex] = (uint32_t)r->vertices.count;
    return kiln_array_push(r->mass->context, &r->vertices, vertex, error);
}

static kiln_status affect_all(renewal *r, kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(r->mass->context, &r->vertices, r->mass->rows, error));
    for (uint32_t v = 0; v < r->mass->rows; v++)
        r->number[v] = r->vertices.data[v] = v;
    r->vertices.count = r->mass->rows;
    return KILN_OK;
}

static kiln_status affect_changed(renewal *r, const kiln_changes *changes, kiln_error *error)
{
    const kiln_u32_array *rows = &changes->rows[KILN_ON_VERTEX], *tets = &changes->reweighed;
    KILN_TRY(kiln_array_reserve(r->mass->context, &r->vertices, rows->count, error));
    for (size_t i = 0; i < rows->count; i++)
        KILN_TRY(affect(r, rows->data[i], error));
    for (size_t i = 0; i < 4 * tets->count; i++)
        KILN_TRY(affect(r, r->mesh->tet[tets->data[i / 4]].v[i % 4], error));
    return KILN_OK;
}

/* `around` NULL: all there are. Side by side, for they are looked at more than once, and counted
 * two places ahead: after the fill, one place ahead is where the next list begins. */
static kiln_status gather_tets(renewal *r, const double *tet_mass, const kiln_u32_array *around,
                               kiln_error *error)
{
    const kiln_mesh *mesh = r->mesh;
    size_t count = around ? around->count : mesh->table[KILN_ON_TET].used, gathered = 0;
    KILN_TRY(kiln_array_reserve(r->mass->context, &r->tets, count, error));
    for (size_t i = 0; i < count; i++) {
        uint32_t t = around ? around->data[i] : (uint32_t)i;
        if (!kiln_tet_live(mesh, t))
            continue;
        weighed_tet *tet = &r->tets.data[gathered++];
        memcpy(tet->v, mesh->tet[t].v, sizeof tet->v);
        tet->mass = tet_mass[t];
        for (int k = 0; k < 4; k++)
            r->first.data[r->number[tet->v[k]] + 2]++;
    }
    r->tets.count = gathered;
    return KILN_OK;
}

static void fill_stars(renewal *r)
{
    uint32_t *first = r->first.data, *at = r->at.data;
    const uint32_t *number = r->number;
    for (size_t i = 0; i < r->tets.count; i++)
        for (size_t k = 0; k < 4; k++)
            at[first[number[r->tets.data[i].v[k]] + 1]++] = (uint32_t)(4 * i + k);
}

/* Vertices that are not affected get a last list, all together: asking would take longer. */
static kiln_status list_stars(renewal *r, const double *tet_mass, const kiln_u32_array *around,
                              kiln_error *error)
{
    kiln_context *context = r->mass->context;
    uint32_t others = (uint32_t)r->vertices.count;
    for (size_t v = 0; v < r->mass->rows; v++)
        r->number[v] = r->number[v] < others ? r->number[v] : others;
    r->first.count = r->vertices.count + 3;
    KILN_TRY(kiln_array_reserve(context, &r->first, r->first.count, error));
    memset(r->first.data, 0, r->first.count * sizeof(uint32_t));
    KILN_TRY(gather_tets(r, tet_mass, around, error));
    KILN_TRY(kiln_array_reserve(context, &r->at, 4 * r->tets.count, error));
    for (size_t n = 2; n < r->first.count; n++)
        r->first.data[n] += r->first.data[n - 1];
    fill_stars(r);
    return KILN_OK;
}

static void sum_lumped(const renewal *r)
{
    for (size_t n = 0; n < r->vertices.count; n++) {
        double sum = 0.0;
        for (uint32_t i = r->first.data[n]; i < r->first.data[n + 1]; i++)
            sum += 0.25 * r->tets.data[r->at.data[i] / 4].mass;
        r->mass->lumped.data[r->vertices.data[n]] = sum;
    }
}

/* A row behind those there are, of columns that are not yet sorted. */
static void find_columns(const renewal *r, size_t n, kiln_mass_row *row)
{
    kiln_mass *mass = r->mass;
    size_t begin = mass->column.count;
    for (uint32_t i = r->first.data[n]; i < r->first.data[n + 1]; i++)
        for (int k = 0; k < 4; k++) {
            uint32_t w = r->tets.data[r->at.data[i] / 4].v[k];
            /* `place` is stale unless it lies in this row and says w there. */
            uint32_t at = r->place[w];
            if (at >= begin && at < mass->column.count && mass->column.data[at] == w)
                continue;
            r->place[w] = (uint32_t)mass->column.count;
            mass->column.data[mass->column.count++] = w;
        }
    *row = (kiln_mass_row){(uint32_t)begin, (uint32_t)mass->column.count};
    mass->value.count = mass->column.count;
}

/* Integral of rho N_i N_j over a tet: m/10 on the diagonal, m/20 off it. */
static void fill_row(const renewal *r, size_t n)
{
    const kiln_mass_row *row = &r->mass->row.data[r->vertices.data[n]];
    uint32_t *place = r->place, *column = r->mass->column.data;
    double *value = r->mass->value.data;
    for (uint32_t i = row->begin; i < row->end; i++) {
        place[column[i]] = i;
        value[i] = 0.0;
    }
    for (uint32_t i = r->first.data[n]; i < r->first.data[n + 1]; i++) {
        const weighed_tet *tet = &r->tets.data[r->at.data[i] / 4];
        for (uint32_t k = 1; k < 4; k++)
            value[place[tet->v[(r->at.data[i] + k) % 4]]] += 0.05 * tet->mass;
    }
    uint32_t vertex = r->vertices.data[n];
    if (row->begin < row->end)
        value[place[vertex]] = 0.4 * r->mass->lumped.data[vertex];
}

static kiln_status reserve_entries(kiln_mass *mass, size_t count, kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(mass->context, &mass->column, mass->column.count + count, error));
    return kiln_array_reserve(mass->context, &mass->value, mass->column.count + count, error);
}

/* With columns found anew, too. */
static kiln_status make_row(const renewal *r, size_t n, kiln_error *error)
{
    kiln_mass *mass = r->mass;
    kiln_mass_row *row = &mass->row.data[r->vertices.data[n]];
    KILN_TRY(reserve_entries(mass, 4 * (r->first.data[n + 1] - r->first.data[n]), error));
    find_columns(r, n, row);
    kiln_bsr_sort_columns(mass->column.data + row->begin, row->end - row->begin);
    return KILN_OK;
}

/* The rows of vertices that are tied anew go to the end. */
static kiln_status renew_rows(const renewal *r, const kiln_changes *changes, kiln_error *error)
{
    const kiln_u32_array *retied = &changes->retied_vertices;
    for (size_t i = 0; i < retied->count; i++)
        KILN_TRY(make_row(r, r->number[retied->data[i]], error));
    for (size_t n = 0; n < r->vertices.count; n++)
        fill_row(r, n);
    return KILN_OK;
}

static kiln_status make_rows(const renewal *r, kiln_error *error)
{
    kiln_mass *mass = r->mass;
    mass->column.count = mass->value.count = 0;
    for (size_t n = 0; n < r->vertices.count; n++) {
        KILN_TRY(make_row(r, n, error));
        fill_row(r, n);
    }
    mass->compact = mass->column.count;
    return KILN_OK;
}

static kiln_status make_room(kiln_mass *mass, size_t rows, kiln_error *error)
{
    size_t sums = kiln_chunk_count(rows, KILN_MASS_GRAIN) * KILN_MASS_SUMS;
    KILN_TRY(kiln_array_reserve(mass->context, &mass->lumped, rows, error));
    KILN_TRY(kiln_array_reserve(mass->context, &mass->partial, sums, error));
    if (mass->kind == KILN_MASS_CONSISTENT)
        KILN_TRY(kiln_array_reserve(mass->context, &mass->row, rows, error));
    mass->rows = rows;
    return KILN_OK;
}

static kiln_status renew(renewal *r, const double *tet_mass, const kiln_changes *changes,
                         kiln_error *error)
{
    KILN_TRY(begin(r, error));
    KILN_TRY(changes ? affect_changed(r, changes, error) : affect_all(r, error));
    KILN_TRY(list_stars(r, tet_mass, changes ? &changes->around : NULL, error));
    sum_lumped(r);
    if (r->mass->kind == KILN_MASS_LUMPED)
        return KILN_OK;
    return changes ? renew_rows(r, changes, error) : make_rows(r, error);
}

/* NULL: all of it. */
static kiln_status build(kiln_mass *mass, const kiln_mesh *mesh, const double *tet_mass,
                         const kiln_changes *changes, kiln_error *error)
{
    renewal r = {.mass = mass, .mesh = mesh};
    kiln_status status = make_room(mass, mesh->table[KILN_ON_VERTEX].used, error);
    if (status == KILN_OK) {
        status = renew(&r, tet_mass, changes, error);
        end(&r);
    }
    if (status != KILN_OK)
        mass->rows = 0;
    return status;
}

kiln_status kiln_mass_build(kiln_mass *mass, const kiln_mesh *mesh, kiln_mass_kind kind,
                            const double *tet_mass, kiln_error *error)
{
    mass->kind = kind;
    return build(mass, mesh, tet_mass, NULL, error);
}

kiln_status kiln_mass_update(kiln_mass *mass, const kiln_mesh *mesh, const double *tet_mass,
                             const kiln_changes *changes, kiln_error *error)
{
    bool all = changes->all || mass->rows == 0 ||
               (double)mass->column.count > (1.0 + WASTE) * (double)mass->compact;
    return build(mass, mesh, tet_mass, all ? NULL : changes, error);
}
