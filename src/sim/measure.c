/* The row of statistics of a world: what is known of every world; modules add theirs. */
#include "base/parallel.h"
#include "fem/offset.h"
#include "geom/tet_quality.h"
#include "sim/world_impl.h"

#include <math.h>

enum { GRAIN = 1024, BATCH = 512, CHUNKS = 64 };

const char *kiln_stats_name(size_t column)
{
    static const char *const names[] = {
#define STATS_NAME(name) #name,
        KILN_STATS_TABLE(STATS_NAME)
#undef STATS_NAME
    };
    return column < sizeof names / sizeof names[0] ? names[column] : NULL;
}

/* Sums over tets, chunk by chunk so that threads do not matter. */
typedef struct tet_sum {
    double volume, rest_volume;
    double quality[2], least[2]; /* [kiln_space] sum, worst */
} tet_sum;

typedef struct tet_sums {
    const kiln_world *world;
    kiln_offsets offsets;
    tet_sum *chunk;
} tet_sums;

static void sum_quality(const kiln_mesh *mesh, kiln_space space, size_t begin, size_t end,
                        tet_sum *sum)
{
    double quality[BATCH];
    sum->quality[space] = 0.0;
    sum->least[space] = INFINITY;
    for (; begin < end; begin += BATCH) {
        size_t count = end - begin < BATCH ? end - begin : BATCH;
        kiln_tet_quality_batch(mesh->context->isa, count, NULL, mesh->tet[begin].v,
                               sizeof(kiln_tet), kiln_mesh_positions(mesh, space), quality);
        for (size_t t = 0; t < count; t++) {
            sum->quality[space] += quality[t];
            sum->least[space] = fmin(sum->least[space], quality[t]);
        }
    }
}

static void sum_tets(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    const tet_sums *s = user;
    const kiln_mesh *mesh = s->world->mesh;
    const double *rest = s->offsets.rest_volume;
    tet_sum *sum = &s->chunk[chunk];
    sum->volume = sum->rest_volume = 0.0;
    for (size_t t = begin; t < end; t++) {
        const uint32_t *v = mesh->tet[t].v;
        sum->volume += kiln_tet_volume(mesh->x[v[0]], mesh->x[v[1]], mesh->x[v[2]], mesh->x[v[3]]);
        sum->rest_volume += rest ? rest[t] : kiln_mesh_tet_volume(mesh, (uint32_t)t);
    }
    sum_quality(mesh, KILN_SPACE_MATERIAL, begin, end, sum);
    sum_quality(mesh, KILN_SPACE_WORLD, begin, end, sum);
}

/* Rows are compact: nothing in a world frees any without closing ranks. */
static void measure_tets(kiln_world *world, kiln_stats *stats)
{
    uint32_t tets = world->mesh->table[KILN_ON_TET].used;
    size_t grain = tets / CHUNKS < GRAIN ? GRAIN : tets / CHUNKS + 1;
    size_t chunks = kiln_chunk_count(tets, grain);
    tet_sum part[CHUNKS];
    tet_sums sums = {.world = world, .offsets = kiln_offsets_of(world->mesh), .chunk = part};
    kiln_parallel_for(world->context, tets, grain, sum_tets, &sums);
    kiln_space space = world->remeshes ? world->space : KILN_SPACE_WORLD;
    double least[2] = {INFINITY, INFINITY};
    stats->volume = stats->rest_volume = stats->q_mean = 0.0;
    for (size_t c = 0; c < chunks; c++) {
        stats->volume += sums.chunk[c].volume;
        stats->rest_volume += sums.chunk[c].rest_volume;
        stats->q_mean += sums.chunk[c].quality[space] / tets;
        for (int k = 0; k < 2; k++)
            least[k] = fmin(least[k], sums.chunk[c].least[k]);
    }
    stats->q_min = least[space];
    stats->q_material_min = least[KILN_SPACE_MATERIAL];
    stats->q_world_min = least[KILN_SPACE_WORLD];
}

static void measure_motion(const kiln_world *world, kiln_stats *stats)
{
    const kiln_mesh *mesh = world->mesh;
    const kiln_field *v = kiln_mesh_field(mesh, KILN_ON_VERTEX, "v");
    if (!v || !world->moves)
        return;
    kiln_motion_sums sums =
        kiln_mass_sums(kiln_solid_mass(world->solid), &mesh->x[0].x, (const double *)v->data);
    stats->px = sums.momentum.x;
    stats->py = sums.momentum.y;
    stats->pz = sums.momentum.z;
    stats->lx = sums.angular_momentum.x;
    stats->ly = sums.angular_momentum.y;
    stats->lz = sums.angular_momentum.z;
    stats->e_kinetic = sums.kinetic;
}

static void measure_step(const kiln_world *world, kiln_stats *stats)
{
    const kiln_step_report *report = &world->report;
    stats->e_elastic = report->e_elastic;
    stats->e_load = report->work_loads;
    stats->newton = report->newton.iterations;
    stats->linear = report->newton.linear_iterations;
    stats->t_assemble = report->newton.assemble_seconds;
    stats->t_factor = report->newton.factor_seconds;
    stats->t_solve = report->newton.solve_seconds;
    stats->rejected = 0.0;
}

/* Potential of the loads before the first step, which has not asked for them yet; a static solve
 * begins without any. The step resets what is set here. */
static double load_of_start(kiln_world *world)
{
    const kiln_driver *driver = &world->course.driver;
    kiln_loads *loads = kiln_solid_loads(world->solid);
    kiln_constraints *held = kiln_solid_constraints(world->solid);
    kiln_mesh *mesh = world->mesh;
    if (!world->moves)
        return 0.0;
    bool set =
        kiln_loads_reset(loads, mesh, NULL) == KILN_OK &&
        kiln_constraints_reset(held, mesh->table[KILN_ON_VERTEX].used, NULL) == KILN_OK &&
        driver->set(driver->self, world->solid, world->state.clock.time, 1.0, NULL) == KILN_OK;
    return set ? kiln_loads_potential(loads, &mesh->x[0].x) : NAN;
}

void kiln_world_measure(kiln_world *world, kiln_stats *stats)
{
    const kiln_mesh *mesh = world->mesh;
#define STATS_NAN(name) stats->name = NAN;
    KILN_STATS_TABLE(STATS_NAN)
#undef STATS_NAN
    stats->step = (double)world->state.step;
    stats->time = world->state.clock.time;
    stats->vertices = mesh->table[KILN_ON_VERTEX].live;
    stats->tets = mesh->table[KILN_ON_TET].live;
    measure_tets(world, stats);
    measure_motion(world, stats);
    if (world->state.step > 0) {
        measure_step(world, stats);
    } else {
        stats->e_elastic = kiln_solid_elastic_energy(world->solid, &mesh->x[0].x);
        stats->e_load = load_of_start(world);
    }
    for (size_t m = 0; world->modules[m]; m++)
        if (world->self[m] && world->modules[m]->measure)
            world->modules[m]->measure(world->self[m], stats);
}
