#include "sim/keep_energy.h"

#include "fem/offset.h"

#include <math.h>
#include <string.h>

enum { HALVINGS = 7 };
/* Rounding is no reason to touch anything. */
static const double SAME = 1e-9;

typedef struct keeping {
    kiln_world *world;
    const uint8_t *fresh;
    kiln_offsets offsets;
    KILN_ARRAY_OF(kiln_sym3)
    shape;               /* [new tet] its logarithm, as it came */
    kiln_f64_array rest; /* [new tet] likewise */
    kiln_f64_array even; /* [part] rest volume for each of volume; NAN: several materials */
} keeping;

static kiln_status note(keeping *k, kiln_error *error)
{
    const kiln_mesh *mesh = k->world->mesh;
    kiln_context *context = k->world->context;
    uint32_t tets = mesh->table[KILN_ON_TET].used;
    size_t parts = mesh->parts.count, count = 0;
    kiln_f64_array volume = {0};
    for (uint32_t t = 0; t < tets; t++)
        count += k->fresh[t];
    KILN_TRY(kiln_array_reserve(context, &k->shape, count, error));
    KILN_TRY(kiln_array_reserve(context, &k->rest, count, error));
    KILN_TRY(kiln_array_reserve(context, &k->even, parts, error));
    KILN_TRY(kiln_array_reserve(context, &volume, 2 * parts, error));
    double *first = volume.data + parts; /* region of a part's first tet */
    memset(k->even.data, 0, parts * sizeof(double));
    memset(volume.data, 0, parts * sizeof(double));
    for (size_t p = 0; p < parts; p++)
        first[p] = NAN;
    for (uint32_t t = 0; t < tets; t++) {
        uint32_t p = mesh->info[t].part;
        k->even.data[p] += k->offsets.rest_volume[t];
        volume.data[p] += kiln_mesh_tet_volume(mesh, t);
        if (isnan(first[p]))
            first[p] = mesh->info[t].region;
        if (first[p] != mesh->info[t].region)
            k->even.data[p] = NAN;
        if (!k->fresh[t])
            continue;
        k->shape.data[k->shape.count++] = kiln_sym3_log(k->offsets.shape[t]);
        k->rest.data[k->rest.count++] = k->offsets.rest_volume[t];
    }
    for (size_t p = 0; p < parts; p++)
        k->even.data[p] /= volume.data[p];
    kiln_array_free(context, &volume);
    return KILN_OK;
}

/* `part` of the way, 0 to 1. */
static kiln_status let_flow(keeping *k, double part, kiln_error *error)
{
    const kiln_mesh *mesh = k->world->mesh;
    size_t i = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!k->fresh[t])
            continue;
        double even = k->even.data[mesh->info[t].part] * kiln_mesh_tet_volume(mesh, t);
        k->offsets.shape[t] =
            kiln_offset_unit(kiln_sym3_exp(kiln_sym3_scale(k->shape.data[i], 1.0 - part)));
        if (!isnan(even))
            k->offsets.rest_volume[t] = (1.0 - part) * k->rest.data[i] + part * even;
        i++;
    }
    return kiln_solid_reform(k->world->solid, error);
}

static kiln_status find_part(keeping *k, double most, double (*energy)(const kiln_world *world),
                             kiln_error *error)
{
    double low = 0.0, high = 1.0;
    KILN_TRY(note(k, error));
    KILN_TRY(let_flow(k, high, error));
    if (energy(k->world) > most)
        return KILN_OK;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = 0.5 * (low + high);
        KILN_TRY(let_flow(k, middle, error));
        *(energy(k->world) > most ? &low : &high) = middle;
    }
    return let_flow(k, high, error);
}

kiln_status kiln_energy_keep(kiln_world *world, const uint8_t *fresh, double most,
                             double (*energy)(const kiln_world *world), kiln_error *error)
{
    keeping k = {.world = world, .fresh = fresh, .offsets = kiln_offsets_of(world->mesh)};
    if (!k.offsets.shape || energy(world) <= most * (1.0 + SAME))
        return KILN_OK;
    kiln_status status = find_part(&k, most, energy, error);
    kiln_array_free(world->context, &k.shape);
    kiln_array_free(world->context, &k.rest);
    kiln_array_free(world->context, &k.even);
    return status;
}
