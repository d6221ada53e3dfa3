/* Every sum is over the tets at a vertex in ascending order, whichever tets those are: so a part of
 * the vertices can be done again and the bits are those of a build. */
#include "base/parallel.h"
#include "fem/mass_impl.h"
#include "solve/bsr_spill.h"

#include <string.h>

typedef struct renewal {
    kiln_mass *mass;
    const kiln_mesh *mesh;
    const double *tet_mass;
    const uint8_t *affected;      /* [vertex], NULL: all */
    const kiln_u32_array *around; /* tets at affected vertices, ascending; NULL: all */
} renewal;

static bool is_affected(const renewal *r, size_t vertex)
{
    return !r->affected || r->affected[vertex];
}

/* The tets that matter, one after the other. */
static size_t tet_count(const renewal *r)
{
    return r->around ? r->around->count : r->mesh->table[KILN_ON_TET].used;
}

static uint32_t tet_at(const renewal *r, size_t i)
{
    return r->around ? r->around->data[i] : (uint32_t)i;
}

static void sum_all(const renewal *r)
{
    const kiln_mesh *mesh = r->mesh;
    double *lumped = r->mass->lumped.data;
    if (r->mass->rows > 0)
        memset(lumped, 0, r->mass->rows * sizeof *lumped);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 4 && kiln_tet_live(mesh, t); k++)
            lumped[mesh->tet[t].v[k]] += 0.25 * r->tet_mass[t];
}

static void sum_affected(const renewal *r)
{
    const kiln_tet *tet = r->mesh->tet;
    const uint8_t *affected = r->affected;
    const uint32_t *around = r->around->data;
    double *lumped = r->mass->lumped.data;
    for (size_t v = 0; v < r->mass->rows; v++)
        lumped[v] = affected[v] ? 0.0 : lumped[v];
    for (size_t i = 0, count = r->around->count; i < count; i++) {
        const uint32_t *v = tet[around[i]].v;
        double share = 0.25 * r->tet_mass[around[i]];
        for (int k = 0; k < 4; k++)
            if (affected[v[k]])
                lumped[v[k]] += share;
    }
}

/* Tets at each affected vertex, ascending: at[first[v]] to at[first[v + 1] - 1]. */
typedef struct star_lists {
    uint32_t *first, *at;
    uint32_t *place; /* [rows] scratch: where a column is in the row being made */
    size_t rows, entries;
} star_lists;

static void free_stars(kiln_context *context, star_lists *stars)
{
    kiln_release(context, stars->first, (stars->rows + 2) * sizeof(uint32_t));
    kiln_release(context, stars->at, stars->entries * sizeof(uint32_t));
    kiln_release(context, stars->place, stars->rows * sizeof(uint32_t));
}

/* Counts two places ahead: after the fill, one place ahead is where the next list begins. */
static void count_stars(const renewal *r, star_lists *stars)
{
    const kiln_mesh *mesh = r->mesh;
    memset(stars->first, 0, (stars->rows + 2) * sizeof(uint32_t));
    for (size_t i = 0; i < tet_count(r); i++)
        for (int k = 0; k < 4 && kiln_tet_live(mesh, tet_at(r, i)); k++)
            if (is_affected(r, mesh->tet[tet_at(r, i)].v[k]))
                stars->first[mesh->tet[tet_at(r, i)].v[k] + 2]++;
    for (size_t v = 2; v <= stars->rows + 1; v++)
        stars->first[v] += stars->first[v - 1];
}

static void fill_stars(const renewal *r, star_lists *stars)
{
    const kiln_mesh *mesh = r->mesh;
    for (size_t i = 0; i < tet_count(r); i++)
        for (int k = 0; k < 4 && kiln_tet_live(mesh, tet_at(r, i)); k++)
            if (is_affected(r, mesh->tet[tet_at(r, i)].v[k]))
                stars->at[stars->first[mesh->tet[tet_at(r, i)].v[k] + 1]++] = tet_at(r, i);
}

static kiln_status list_stars(const renewal *r, star_lists *stars, kiln_error *error)
{
    kiln_context *context = r->mass->context;
    size_t rows = r->mass->rows;
    stars->rows = rows;
    stars->first = kiln_resize(context, NULL, 0, (rows + 2) * sizeof(uint32_t));
    stars->place = kiln_resize(context, NULL, 0, rows * sizeof(uint32_t));
    if (!stars->first || (rows && !stars->place))
        return kiln_fail_memory(error, 2 * rows * sizeof(uint32_t));
    count_stars(r, stars);
    stars->entries = stars->first[rows + 1];
    stars->at = kiln_resize(context, NULL, 0, stars->entries * sizeof(uint32_t));
    if (stars->entries && !stars->at)
        return kiln_fail_memory(error, stars->entries * sizeof(uint32_t));
    fill_stars(r, stars);
    if (rows)
        memset(stars->place, 0, rows * sizeof(uint32_t));
    return KILN_OK;
}

/* Columns of row v behind those there are, unsorted. */
static void find_columns(kiln_mass *out, const kiln_mesh *mesh, star_lists *stars, uint32_t v)
{
    size_t begin = out->column.count;
    for (uint32_t i = stars->first[v]; i < stars->first[v + 1]; i++)
        for (int k = 0; k < 4; k++) {
            uint32_t w = mesh->tet[stars->at[i]].v[k];
            /* `place` is stale unless it lies in this row and says w there. */
            uint32_t at = stars->place[w];
            if (at >= begin && at < out->column.count && out->column.data[at] == w)
                continue;
            stars->place[w] = (uint32_t)out->column.count;
            out->column.data[out->column.count++] = w;
        }
}

/* Integral of rho N_i N_j over a tet: m/10 on the diagonal, m/20 off it. */
static void fill_row(const renewal *r, kiln_mass *out, const star_lists *stars, uint32_t v)
{
    for (uint32_t i = stars->first[v]; i < stars->first[v + 1]; i++) {
        uint32_t t = stars->at[i];
        for (int k = 0; k < 4; k++) {
            uint32_t w = r->mesh->tet[t].v[k];
            out->value.data[stars->place[w]] += r->tet_mass[t] * (w == v ? 0.1 : 0.05);
        }
    }
}

static void make_row(const renewal *r, kiln_mass *out, star_lists *stars, uint32_t v)
{
    size_t begin = out->column.count;
    find_columns(out, r->mesh, stars, v);
    kiln_bsr_sort_columns(out->column.data + begin, out->column.count - begin);
    for (size_t i = begin; i < out->column.count; i++) {
        stars->place[out->column.data[i]] = (uint32_t)i;
        out->value.data[i] = 0.0;
    }
    fill_row(r, out, stars, v);
}

/* Rows v to end - 1 as they were. */
static void copy_rows(const kiln_mass *from, kiln_mass *out, uint32_t v, uint32_t end)
{
    uint64_t begin = from->start.data[v], at = out->column.count;
    size_t count = from->start.data[end] - begin;
    memcpy(out->column.data + at, from->column.data + begin, count * sizeof(uint32_t));
    memcpy(out->value.data + at, from->value.data + begin, count * sizeof(double));
    for (; v < end; v++)
        out->start.data[v] = from->start.data[v] - begin + at;
    out->column.count += count;
}

static kiln_status reserve_entries(kiln_mass *out, kiln_context *context, size_t count,
                                   kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(context, &out->column, out->column.count + count, error));
    return kiln_array_reserve(context, &out->value, out->column.count + count, error);
}

/* Into `out`, of which only the rows are used. */
static kiln_status make_rows(const renewal *r, kiln_mass *out, star_lists *stars, kiln_error *error)
{
    const kiln_mass *mass = r->mass;
    KILN_TRY(kiln_array_reserve(mass->context, &out->start, mass->rows + 1, error));
    KILN_TRY(reserve_entries(out, mass->context,
                             stars->entries + (r->affected ? mass->column.count : 0), error));
    for (uint32_t v = 0, end; v < mass->rows; v = end) {
        for (end = v; end < mass->rows && !is_affected(r, end);)
            end++;
        bool again = end == v;
        size_t most = again ? 4 * (stars->first[v + 1] - stars->first[v])
                            : mass->start.data[end] - mass->start.data[v];
        KILN_TRY(reserve_entries(out, mass->context, most, error));
        out->start.data[v] = out->column.count;
        if (again)
            make_row(r, out, stars, end++);
        else
            copy_rows(mass, out, v, end);
    }
    out->start.data[mass->rows] = out->value.count = out->column.count;
    return KILN_OK;
}

static void take_rows(kiln_mass *mass, const kiln_mass *from)
{
    kiln_array_free(mass->context, &mass->start);
    kiln_array_free(mass->context, &mass->column);
    kiln_array_free(mass->context, &mass->value);
    mass->start = from->start;
    mass->column = from->column;
    mass->value = from->value;
}

static kiln_status renew_consistent(const renewal *r, kiln_error *error)
{
    kiln_mass now = {.context = r->mass->context};
    star_lists stars = {0};
    kiln_status status = list_stars(r, &stars, error);
    if (status == KILN_OK)
        status = make_rows(r, &now, &stars, error);
    free_stars(now.context, &stars);
    take_rows(status == KILN_OK ? r->mass : &now, status == KILN_OK ? &now : &(kiln_mass){0});
    return status;
}

static kiln_status renew(const renewal *r, kiln_error *error)
{
    kiln_mass *mass = r->mass;
    size_t rows = r->mesh->table[KILN_ON_VERTEX].used;
    size_t sums = kiln_chunk_count(rows, KILN_MASS_GRAIN) * KILN_MASS_SUMS;
    mass->rows = 0; /* until all of it is there */
    KILN_TRY(kiln_array_reserve(mass->context, &mass->lumped, rows, error));
    KILN_TRY(kiln_array_reserve(mass->context, &mass->partial, sums, error));
    mass->rows = rows;
    if (r->affected)
        sum_affected(r);
    else
        sum_all(r);
    kiln_status status = mass->kind == KILN_MASS_LUMPED ? KILN_OK : renew_consistent(r, error);
    if (status != KILN_OK)
        mass->rows = 0;
    return status;
}

kiln_status kiln_mass_build(kiln_mass *mass, const kiln_mesh *mesh, kiln_mass_kind kind,
                            const double *tet_mass, kiln_error *error)
{
    mass->kind = kind;
    return renew(&(renewal){mass, mesh, tet_mass, NULL, NULL}, error);
}

kiln_status kiln_mass_update(kiln_mass *mass, const kiln_mesh *mesh, const double *tet_mass,
                             const kiln_changes *changes, kiln_error *error)
{
    if (changes->all || mass->rows == 0)
        return kiln_mass_build(mass, mesh, mass->kind, tet_mass, error);
    size_t bytes = mesh->table[KILN_ON_VERTEX].used + 1;
    uint8_t *affected = kiln_resize(mass->context, NULL, 0, bytes);
    if (!affected) {
        mass->rows = 0;
        return kiln_fail_memory(error, bytes);
    }
    memset(affected, 0, bytes);
    for (size_t i = 0; i < changes->rows[KILN_ON_VERTEX].count; i++)
        affected[changes->rows[KILN_ON_VERTEX].data[i]] = 1;
    renewal r = {mass, mesh, tet_mass, affected, &changes->around};
    kiln_status status = renew(&r, error);
    kiln_release(mass->context, affected, bytes);
    return status;
}
