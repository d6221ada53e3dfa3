/* What was tried in vain waits.
 *
 * Splits. What a trial found, of what was predicted, stays with the
 * edge until one of the tets round it is another; from then on the prediction times that is what is
 * expected, and the edge is tried again when it is enough. So a mesh that has come to rest costs
 * nothing but predictions, and one whose load grows is tried where the growth has arrived.
 *
 * Flips. An edge, or a face, is looked at unless all tets round it are flat: flips of theirs were
 * looked at and gained nothing, and since then neither has the tet changed nor have the predictions
 * round it grown. So when the last of them became flat it had been looked at.
 *
 * Vertices that could not be spared are looked at again when a tet of theirs is another, or the
 * predictions round them, which say what they are there for, have fallen.
 *
 * Kept by all tets of the edge, in a field under the rule none: a new tet has not been tried.
 * Saved, taken back and resumed with the mesh. */
#include "step/energy_impl.h"

#include <math.h>
#include <string.h>

/* 0 means not tried; a split that nothing could be found of is worth another try when the
 * prediction is so many times as large. */
#define LEAST_FOUND 1e-3
/* Growth of predictions by which a vertex, or a flip, is looked at again: gains grow as they do, so
 * as much as was missing, between these. And what of them, over
 * what a split must gain, is nothing, as in matter that flies, where rounding makes them grow: no
 * move gains a hundred times the prediction. */
#define GROWTH   1.1
#define PATIENCE 1.5
#define ALWAYS   4294967295.0 /* no clock is later */
/* A move that gains less than this part of what is asked for does not come to it by other moves
 * round it: only by other tets, or by predictions. */
#define HOPELESS (1.0 / 3.0)
#define LITTLE   1e-4

static int edge_of(uint32_t corner_a, uint32_t corner_b)
{
    int k = 0;
    while ((kiln_edge_ends[k][0] != corner_a || kiln_edge_ends[k][1] != corner_b) &&
           (kiln_edge_ends[k][0] != corner_b || kiln_edge_ends[k][1] != corner_a))
        k++;
    return k;
}

/* Its place in the column, in the i-th tet of the edge's ring. */
static double *place_of(const kiln_energy_pass *w, uint32_t packed, uint32_t a, uint32_t b)
{
    uint32_t t = packed / 4;
    const kiln_tet *tet = &w->remesher->mesh->tet[t];
    return &w->vain[6 * (size_t)t +
                    (size_t)edge_of(kiln_tet_corner(tet, a), kiln_tet_corner(tet, b))];
}

double kiln_energy_vain(const kiln_energy_pass *pass, uint32_t tet, uint32_t corner_a,
                        uint32_t corner_b)
{
    const kiln_mesh *mesh = pass->remesher->mesh;
    uint32_t ring[KILN_ENERGY_RING], a = mesh->tet[tet].v[corner_a], b = mesh->tet[tet].v[corner_b];
    if (!pass->vain || pass->vain[6 * (size_t)tet + (size_t)edge_of(corner_a, corner_b)] == 0.0)
        return 0.0;
    double least = INFINITY;
    uint32_t count = kiln_edge_ring(mesh, tet, corner_a, corner_b, ring, KILN_ENERGY_RING).count;
    for (uint32_t i = 0; i < count && i < KILN_ENERGY_RING; i++)
        least = fmin(least, *place_of(pass, ring[i], a, b));
    return least;
}

void kiln_energy_note_vain(kiln_energy_pass *pass, uint32_t tet, uint32_t corner_a,
                           uint32_t corner_b, double found)
{
    const kiln_mesh *mesh = pass->remesher->mesh;
    uint32_t ring[KILN_ENERGY_RING], a = mesh->tet[tet].v[corner_a], b = mesh->tet[tet].v[corner_b];
    if (!pass->vain)
        return;
    uint32_t count = kiln_edge_ring(mesh, tet, corner_a, corner_b, ring, KILN_ENERGY_RING).count;
    for (uint32_t i = 0; i < count && i < KILN_ENERGY_RING; i++)
        *place_of(pass, ring[i], a, b) = fmax(found, LEAST_FOUND);
}

/* Over what a split must gain, so that it grows where that falls. Vertices of this pass have none
 * of the survey. */
static double error_at(const kiln_energy_pass *w, uint32_t vertex)
{
    return vertex < w->error_at.count ? fmax(w->error_at.data[vertex] / w->options->split, LITTLE)
                                      : INFINITY;
}

/* How far it was from being worth it says when to look again, as what moves is looked at again and
 * again; static solves end when nothing gains any more. */
static double patience_of(const kiln_energy_pass *w, double gain, double least)
{
    double most = w->objective->scheme.scale > 0.0 ? PATIENCE : GROWTH;
    return gain > 0.0 ? fmax(GROWTH, fmin(most, least / gain)) : most;
}

kiln_status kiln_energy_stamp(kiln_energy_pass *pass)
{
    const kiln_mesh *mesh = pass->remesher->mesh;
    size_t vertices = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(pass->remesher->context, &pass->stamp, vertices, pass->error));
    uint32_t *stamp = pass->stamp.data;
    memset(stamp, 0, vertices * sizeof *stamp);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 4 && kiln_tet_live(mesh, t); k++) {
            uint32_t v = mesh->tet[t].v[k], changed = mesh->info[t].changed;
            stamp[v] = changed > stamp[v] ? changed : stamp[v];
        }
    return KILN_OK;
}

static bool is_as_it_was(const kiln_energy_pass *w, uint32_t vertex, const double *noted)
{
    return noted[1] > 0.0 && w->stamp.data[vertex] <= noted[1];
}

bool kiln_energy_is_still(const kiln_energy_pass *pass, uint32_t vertex)
{
    const double *still = pass->still ? pass->still + 2 * (size_t)vertex : NULL;
    return still && is_as_it_was(pass, vertex, still) && error_at(pass, vertex) <= still[0];
}

void kiln_energy_note_still(const kiln_energy_pass *pass, uint32_t vertex, double gain,
                            double least)
{
    if (!pass->still || !isfinite(error_at(pass, vertex)))
        return;
    double *still = pass->still + 2 * (size_t)vertex;
    still[0] = patience_of(pass, gain, least) * error_at(pass, vertex);
    bool hopeless = pass->objective->scheme.scale > 0.0 && gain < HOPELESS * least;
    still[1] = hopeless ? ALWAYS : pass->remesher->mesh->clock;
}

void kiln_energy_stir(const kiln_energy_pass *pass, const uint32_t *vertices, size_t count)
{
    for (size_t i = 0; i < count && pass->still; i++)
        pass->still[2 * (size_t)vertices[i] + 1] = 0.0;
}

bool kiln_energy_is_needed(const kiln_energy_pass *pass, uint32_t vertex)
{
    const double *needed = pass->needed ? pass->needed + 2 * (size_t)vertex : NULL;
    return needed && is_as_it_was(pass, vertex, needed) && error_at(pass, vertex) >= needed[0];
}

/* Where it was the cost that kept it, predictions say when that has become less; else what is in
 * its way may have gone when something has changed. */
void kiln_energy_note_needed(const kiln_energy_pass *pass, uint32_t vertex, double cost,
                             double most)
{
    if (!pass->needed || !isfinite(error_at(pass, vertex)))
        return;
    double *needed = pass->needed + 2 * (size_t)vertex;
    needed[0] = error_at(pass, vertex) / patience_of(pass, most, cost);
    needed[1] = cost >= most && isfinite(cost) ? ALWAYS : pass->remesher->mesh->clock;
}

/* The largest prediction at its vertices. */
static double error_round(const kiln_energy_pass *w, uint32_t tet)
{
    double most = 0.0;
    for (int k = 0; k < 4; k++)
        most = fmax(most, error_at(w, w->remesher->mesh->tet[tet].v[k]));
    return most;
}

bool kiln_energy_is_flat(const kiln_energy_pass *pass, uint32_t tet, kiln_energy_flips kind)
{
    const kiln_energy_flat *flat = pass->flat ? &pass->flat[tet][kind] : NULL;
    return flat && flat->clock > 0.0 && pass->remesher->mesh->info[tet].changed <= flat->clock &&
           error_round(pass, tet) <= flat->error;
}

void kiln_energy_note_flat(const kiln_energy_pass *pass, uint32_t tet, kiln_energy_flips kind,
                           double gain, double least)
{
    double error = patience_of(pass, gain, least) * error_round(pass, tet);
    if (pass->flat && isfinite(error))
        pass->flat[tet][kind] = (kiln_energy_flat){error, pass->remesher->mesh->clock};
}
