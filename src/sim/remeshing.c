#include "sim/remeshing.h"
#include "geom/tet_quality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Mean length of the edges at each vertex: without other word, matter is not meshed coarser than it
 * began. */
kiln_status kiln_remesh_note_sizes(kiln_world *world, double *mean, kiln_error *error)
{
    kiln_mesh *mesh = world->mesh;
    KILN_TRY(kiln_mesh_add_field(mesh, KILN_FIELD_START_SIZE, KILN_ON_VERTEX, KILN_F64, 1,
                                 KILN_RULE_INTERPOLATE, error));
    size_t rows = mesh->table[KILN_ON_VERTEX].used;
    kiln_f64_array count = {0};
    KILN_TRY(kiln_array_reserve(world->context, &count, rows, error));
    memset(count.data, 0, rows * sizeof(double));
    double *size = kiln_world_column(world, KILN_ON_VERTEX, KILN_FIELD_START_SIZE), sum = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 6; k++) {
            uint32_t a = mesh->tet[t].v[kiln_edge_ends[k][0]];
            uint32_t b = mesh->tet[t].v[kiln_edge_ends[k][1]];
            double length = kiln_v3_norm(kiln_v3_sub(mesh->u[a], mesh->u[b]));
            size[a] += length, size[b] += length;
            count.data[a]++, count.data[b]++;
        }
    for (size_t v = 0; v < rows; v++) {
        size[v] /= count.data[v];
        sum += size[v];
    }
    *mean = sum / (double)rows;
    kiln_array_free(world->context, &count);
    return KILN_OK;
}

static int by_size(const void *p, const void *q)
{
    const double *a = p, *b = q;
    return (*a > *b) - (*a < *b);
}

/* Of the quality that is asked for, or of the start's. Three splits of a good tet come to a sixth;
 * in static solves a half stalls 1.3 % short where a sixth, or less, comes to 0.6 %. What moves has
 * to bear more with its tets. */
#define LEAST_MOVING 0.5
#define LEAST_STATIC (1.0 / 6.0)

kiln_status kiln_remesh_note_shape(const kiln_world *world, double *least, kiln_error *error)
{
    const kiln_mesh *mesh = world->mesh;
    const kiln_vec3 *u = mesh->u;
    kiln_f64_array all = {0};
    double part = world->moves ? LEAST_MOVING : LEAST_STATIC;
    *least = part * world->scene->remesh.quality;
    KILN_TRY(kiln_array_reserve(world->context, &all, mesh->table[KILN_ON_TET].used, error));
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        if (kiln_tet_live(mesh, t))
            all.data[all.count++] = kiln_tet_quality(&u[v[0]], &u[v[1]], &u[v[2]], &u[v[3]]);
    }
    if (all.count > 0) {
        qsort(all.data, all.count, sizeof(double), by_size);
        *least = fmin(*least, part * all.data[all.count / 2]);
    }
    kiln_array_free(world->context, &all);
    return KILN_OK;
}

kiln_status kiln_remesh_keep_memory(const kiln_mesh *mesh, const kiln_memory_column *columns,
                                    int count, kiln_memory *kept, kiln_error *error)
{
    kept->count = 0;
    for (int i = 0; i < count; i++) {
        const kiln_field *field = kiln_mesh_field(mesh, columns[i].where, columns[i].name);
        size_t bytes = field ? (size_t)mesh->table[columns[i].where].used * field->stride : 0;
        KILN_TRY(kiln_array_reserve(mesh->context, kept, kept->count + bytes, error));
        if (bytes > 0)
            memcpy(kept->data + kept->count, field->data, bytes);
        kept->count += bytes;
    }
    return KILN_OK;
}

void kiln_remesh_restore_memory(const kiln_mesh *mesh, const kiln_memory_column *columns, int count,
                                const kiln_memory *kept)
{
    const uint8_t *from = kept->data;
    for (int i = 0; i < count; i++) {
        const kiln_field *field = kiln_mesh_field(mesh, columns[i].where, columns[i].name);
        size_t bytes = field ? (size_t)mesh->table[columns[i].where].used * field->stride : 0;
        if (bytes > 0)
            memcpy(field->data, from, bytes);
        from += bytes;
    }
}

static void add(double *sum, double more)
{
    *sum = isnan(*sum) ? more : *sum + more;
}

void kiln_remesh_measure(const kiln_remesh_work *work, kiln_stats *stats)
{
    if (work->worst != 0.0)
        stats->q_min = work->worst;
    add(&stats->changed, (double)work->changed);
    add(&stats->t_size, work->size_seconds);
    add(&stats->t_remesh, work->remesh_seconds);
    add(&stats->t_transfer, work->transfer_seconds);
}

void kiln_remesh_measure_energy(const kiln_energy_report *report, kiln_stats *stats)
{
    const kiln_energy_count *s = &report->splits, *f = &report->flips, *m = &report->moves;
    const kiln_energy_count *c = &report->collapses;
    stats->trials = (double)(s->trials + f->trials + m->trials + c->trials);
    stats->splits = (double)s->taken;
    stats->flips = (double)f->taken;
    stats->moves = (double)m->taken;
    stats->collapses = (double)c->taken;
    stats->gained = s->gained + f->gained + m->gained + c->gained;
    stats->by_splits = s->gained;
    stats->foreseen = report->predicted;
    stats->t_splits = s->seconds;
    stats->t_flips = f->seconds;
    stats->t_moves = m->seconds;
    stats->t_collapses = c->seconds;
}
