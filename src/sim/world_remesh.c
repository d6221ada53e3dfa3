/* Local remeshing inside a run (DLR 4): sizes from what goes on, splits and contractions, repairs
 * of bad tets, fields carried over. A step in which nothing had to change costs a look at the mesh.
 */
#include "base/clock.h"
#include "geom/tet_quality.h"
#include "mesh/reorder.h"
#include "remesh/improve.h"
#include "remesh/needed.h"
#include "remesh/size_control.h"
#include "remesh/transfer.h"
#include "sim/world_impl.h"

#include <string.h>

#define KILN_FIELD_SIZE_WAIT "size_wait"

/* Mean length of the edges at each vertex of the start's mesh: without other word, matter is not
 * meshed coarser than it began. */
kiln_status kiln_world_note_sizes(kiln_world *world, kiln_error *error)
{
    kiln_mesh *mesh = world->mesh;
    KILN_TRY(kiln_mesh_add_field(mesh, KILN_FIELD_START_SIZE, KILN_ON_VERTEX, KILN_F64, 1,
                                 KILN_RULE_INTERPOLATE, error));
    KILN_TRY(kiln_mesh_add_field(mesh, KILN_FIELD_SIZE_WAIT, KILN_ON_VERTEX, KILN_U32, 2,
                                 KILN_RULE_NONE, error));
    size_t rows = mesh->table[KILN_ON_VERTEX].used;
    kiln_f64_array count = {0};
    KILN_TRY(kiln_array_reserve(world->context, &count, rows, error));
    memset(count.data, 0, rows * sizeof(double));
    double *size =
        (double *)(void *)kiln_mesh_field(mesh, KILN_ON_VERTEX, KILN_FIELD_START_SIZE)->data;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 6 && kiln_tet_live(mesh, t); k++) {
            uint32_t a = mesh->tet[t].v[kiln_edge_ends[k][0]];
            uint32_t b = mesh->tet[t].v[kiln_edge_ends[k][1]];
            double length = kiln_v3_norm(kiln_v3_sub(mesh->u[a], mesh->u[b]));
            size[a] += length, size[b] += length;
            count.data[a]++, count.data[b]++;
        }
    double sum = 0.0;
    for (size_t v = 0; v < rows; v++) {
        size[v] /= count.data[v];
        sum += size[v];
    }
    world->state.start_size = sum / (double)rows;
    kiln_array_free(world->context, &count);
    return KILN_OK;
}

bool kiln_remesh_is_sized(const kiln_scene_remesh *remesh)
{
    return remesh->size > 0.0 || remesh->deformation > 0.0 || remesh->strain > 0.0 ||
           remesh->curvature > 0.0;
}

/* Where the scene is silent: a tenth of the start's edges, four times them. */
static kiln_metric_bounds bounds_of(const kiln_world *world)
{
    const kiln_scene_remesh *remesh = &world->scene->remesh;
    double start = world->state.start_size;
    return (kiln_metric_bounds){.h_min = remesh->size_min > 0.0 ? remesh->size_min : 0.1 * start,
                                .h_max = remesh->size_max > 0.0 ? remesh->size_max : 4.0 * start,
                                .ratio = remesh->isotropic ? 1.0 : 0.0};
}

/* Deformation gradients with the plastic part taken out, for the gradient of the strain. */
static kiln_status add_strain(kiln_world *world, kiln_sizing *sizing, kiln_error *error)
{
    const kiln_scene_remesh *remesh = &world->scene->remesh;
    size_t tets = world->mesh->table[KILN_ON_TET].used;
    kiln_strain_sizing strain = {.accuracy = remesh->strain,
                                 .h_max = bounds_of(world).h_max,
                                 .printed = remesh->strain_printed};
    KILN_TRY(kiln_array_reserve(world->context, &world->gradients, 9 * tets, error));
    kiln_elements_output(kiln_solid_elements(world->solid), &world->mesh->x[0].x, KILN_OUTPUT_F,
                         world->gradients.data);
    strain.gradient = world->gradients.data;
    return kiln_sizing_add_strain(sizing, &strain, error);
}

static kiln_status add_sources(kiln_world *world, kiln_sizing *sizing, kiln_error *error)
{
    const kiln_scene_remesh *remesh = &world->scene->remesh;
    const kiln_mesh *mesh = world->mesh;
    bool in_world = kiln_world_in_world_space(world->scene);
    kiln_metric_bounds bounds = bounds_of(world);
    if (remesh->size_max == 0.0) {
        const kiln_field *start = kiln_mesh_field(mesh, KILN_ON_VERTEX, KILN_FIELD_START_SIZE);
        KILN_TRY(kiln_sizing_add_values(sizing, (const double *)(const void *)start->data,
                                        mesh->table[KILN_ON_VERTEX].used, 1, error));
    }
    if (remesh->size > 0.0)
        KILN_TRY(kiln_sizing_add_size(sizing, remesh->size, error));
    if (remesh->deformation > 0.0)
        KILN_TRY(in_world ? kiln_sizing_add_size(sizing, remesh->deformation, error)
                          : kiln_sizing_add_world(sizing, remesh->deformation, error));
    if (remesh->strain > 0.0)
        KILN_TRY(add_strain(world, sizing, error));
    kiln_curvature_sizing round = {remesh->curvature, bounds.h_min, bounds.h_max, false};
    if (remesh->curvature > 0.0)
        KILN_TRY(kiln_sizing_add_curvature(sizing, &round, error));
    kiln_sizing_limits limits = {bounds, remesh->gradation};
    return kiln_sizing_finish(sizing, &limits, error);
}

static kiln_status make_sizing(kiln_world *world, kiln_error *error)
{
    kiln_space space =
        kiln_world_in_world_space(world->scene) ? KILN_SPACE_WORLD : KILN_SPACE_MATERIAL;
    KILN_TRY(world->sizing ? kiln_sizing_renew(world->sizing, world->mesh, space, error)
                           : kiln_sizing_create(world->mesh, space, &world->sizing, error));
    return add_sources(world, world->sizing, error);
}

static kiln_size_options size_options(const kiln_scene_remesh *settings)
{
    kiln_size_options size = kiln_size_default_options();
    size.worst = settings->quality; /* coarser meshes are not better */
    size.wait = KILN_FIELD_SIZE_WAIT;
    size.most_tets = (size_t)settings->most_tets;
    return size;
}

/* Everything in the pass: sizes, quality, fields, surfaces. Not clear: with contact surfaces would
 * be in each other, and the pass is to be undone; fields and surfaces are untouched then. */
static kiln_status run_pass(kiln_world *world, kiln_remesher *remesher, bool sized, bool *clear,
                            kiln_evolution *evolution, kiln_error *error)
{
    const kiln_scene_remesh *settings = &world->scene->remesh;
    kiln_size_options size = size_options(settings);
    kiln_improve_options improve = kiln_improve_default_options();
    kiln_improve_report report;
    double started = kiln_wall_seconds();
    uint32_t since = world->mesh->clock;
    improve.goal = settings->quality;
    improve.spread = 300;
    if (sized)
        KILN_TRY(kiln_size_control(remesher, &size, NULL, error));
    KILN_TRY(kiln_dynamic_improve(remesher, &improve, &report, error));
    KILN_TRY(kiln_solid_is_clear(world->solid, since, clear, error));
    double improved = kiln_wall_seconds();
    evolution->changed = *clear ? report.changed : 0;
    evolution->worst = *clear ? report.worst_after : report.worst_before;
    evolution->remesh_seconds += improved - started;
    if (evolution->changed == 0)
        return KILN_OK;
    kiln_transfer_options transfer = {.mass = KILN_FIELD_MASS};
    KILN_TRY(kiln_transfer(world->mesh, &transfer, NULL, error));
    KILN_TRY(kiln_world_rehang(world, error));
    evolution->transfer_seconds += kiln_wall_seconds() - improved;
    return KILN_OK;
}

kiln_status kiln_world_mesh_changed(kiln_world *world, kiln_error *error)
{
    kiln_mesh *mesh = world->mesh;
    double gained = 0.0;
    /* A whole-domain remesh keeps rest volumes to the last bit: bodies may have merged. */
    if (world->scene->remesh.method == KILN_REMESH_LOCAL)
        kiln_offsets_settle(mesh, &gained);
    world->state.volume_gained += gained;
    kiln_renumbering now = {0};
    KILN_TRY(kiln_mesh_reorder(mesh, KILN_SPACE_MATERIAL, &now, error));
    kiln_status status = kiln_world_renumber_surfaces(world, &now, error);
    kiln_renumbering_free(world->context, &now);
    KILN_TRY(status);
    KILN_TRY(kiln_world_refresh_sets(world, error));
    return kiln_world_renew(world, error);
}

/* Rows are compact. */
static bool below(kiln_world *world, kiln_space space, double quality)
{
    const kiln_mesh *mesh = world->mesh;
    size_t tets = mesh->table[KILN_ON_TET].used;
    kiln_tet_quality_batch(mesh->context->isa, tets, NULL, mesh->tet[0].v, sizeof(kiln_tet),
                           kiln_mesh_positions(mesh, space), world->quality.data);
    for (size_t t = 0; t < tets; t++)
        if (world->quality.data[t] < quality)
            return true;
    return false;
}

/* One pass, undone where it is not clear. */
static kiln_status remesh(kiln_world *world, const kiln_remesh_options *options, bool sized,
                          bool *clear, kiln_evolution *evolution, kiln_error *error)
{
    kiln_remesher remesher;
    double started = kiln_wall_seconds();
    *clear = true;
    KILN_TRY(kiln_remesher_begin(world->mesh, options, &remesher, error));
    evolution->remesh_seconds += kiln_wall_seconds() - started;
    kiln_status status = run_pass(world, &remesher, sized, clear, evolution, error);
    if (*clear)
        kiln_remesher_end(&remesher);
    else
        kiln_remesher_abandon(&remesher);
    return status;
}

kiln_status kiln_world_remesh_local(kiln_world *world, kiln_evolution *evolution, kiln_error *error)
{
    const kiln_scene_remesh *settings = &world->scene->remesh;
    kiln_remesh_options options = kiln_remesh_default_options();
    bool in_world = kiln_world_in_world_space(world->scene);
    bool sized = settings->method == KILN_REMESH_LOCAL && kiln_remesh_is_sized(settings);
    options.space = in_world ? KILN_SPACE_WORLD : KILN_SPACE_MATERIAL;
    if (sized ? world->state.step % (uint64_t)settings->every != 0
              : !below(world, options.space, settings->quality))
        return KILN_OK;
    options.volume_elsewhere = !in_world;
    options.edge_limit[0] = 0.0;
    options.edge_limit[1] = INFINITY;
    double started = kiln_wall_seconds();
    bool needed = true;
    if (sized) {
        kiln_size_options size = size_options(settings);
        KILN_TRY(make_sizing(world, error));
        options.sizing = world->sizing;
        KILN_TRY(kiln_remesh_needed(world->mesh, &options, &size, settings->quality, &needed,
                                    &evolution->worst, error));
    }
    evolution->size_seconds += kiln_wall_seconds() - started;
    if (!needed)
        return KILN_OK;
    bool clear;
    KILN_TRY(remesh(world, &options, sized, &clear, evolution, error));
    bool undone = !clear;
    if (undone && !world->crossed)
        kiln_log(
            world->context, KILN_LOG_WARNING,
            "at %.6g s remeshing would have made surfaces cross: it is undone, and tried again "
            "in later steps",
            world->state.clock.time);
    if (undone && sized) /* bad tets cannot wait, and their repair moves less */
        KILN_TRY(remesh(world, &options, false, &clear, evolution, error));
    world->crossed = undone;
    if (!undone && evolution->changed == 0)
        return KILN_OK;
    started = kiln_wall_seconds();
    kiln_status status =
        evolution->changed ? kiln_world_mesh_changed(world, error) : kiln_world_renew(world, error);
    evolution->transfer_seconds += kiln_wall_seconds() - started;
    return status;
}
