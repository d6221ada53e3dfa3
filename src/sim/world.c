#include "sim/world_impl.h"

#include "base/clock.h"
#include "mesh/reorder.h"

#include <stdio.h>
#include <string.h>

enum { MOST_FLOWS = 100 }; /* of a static step */
/* Static steps end when no tet has more than this part of its elastic strain beyond yield. */
#define SETTLED 1e-3

kiln_mesh *kiln_world_mesh(kiln_world *world)
{
    return world->mesh;
}

kiln_solid *kiln_world_solid(kiln_world *world)
{
    return world->solid;
}

const kiln_scene *kiln_world_scene(const kiln_world *world)
{
    return world->scene;
}

kiln_world_state *kiln_world_get_state(kiln_world *world)
{
    return &world->state;
}

const char *kiln_world_backend(const kiln_world *world)
{
    return world->report.newton.backend;
}

const char *kiln_world_backend_reason(const kiln_world *world)
{
    return world->report.newton.reason;
}

static kiln_status make_materials(kiln_world *world, kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    for (size_t i = 0; i < scene->materials.count; i++) {
        const kiln_scene_material *row = &scene->materials.data[i];
        kiln_material *material = &world->materials[i];
        *material = row->base;
        material->plastic.varies = row->flow_varies;
        if (scene->solid.integrator == KILN_STATIC &&
            material->plastic.norm == KILN_YIELD_FROBENIUS)
            material->plastic.approach = 0.5;
        kiln_circumstances start = {.time = 0.0};
        double young, poisson;
        if (!row->varies)
            continue;
        world->varies = true;
        world->viscosity_varies |= row->viscosity.evaluate != NULL;
        KILN_TRY(kiln_quantity_get(&row->young, &start, &young, 1, error));
        KILN_TRY(kiln_quantity_get(&row->poisson, &start, &poisson, 1, error));
        kiln_lame_from_young(young, poisson, &material->mu, &material->lambda);
    }
    return KILN_OK;
}

static kiln_status make_obstacles(kiln_world *world, kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    for (size_t i = 0; i < scene->obstacles.count; i++) {
        const kiln_scene_obstacle *row = &scene->obstacles.data[i];
        kiln_obstacle_shape shape = row->shape;
        kiln_soup_init(&shape.surface, world->context);
        kiln_status status = KILN_OK;
        if (row->shape.kind == KILN_OBSTACLE_MESH)
            status = kiln_soup_append(&shape.surface, &row->shape.surface, 0, error);
        if (status == KILN_OK)
            status = kiln_obstacle_create(world->context, &shape, row->friction,
                                          &world->obstacles[i], error);
        kiln_soup_free(&shape.surface);
        KILN_TRY(kiln_said_wrap(scene, &row->said, status, error));
    }
    return kiln_world_set_poses(world, 0.0, 0.0, error);
}

static bool density_varies(const kiln_scene *scene)
{
    for (size_t i = 0; i < scene->materials.count; i++)
        if (scene->materials.data[i].density.evaluate)
            return true;
    return false;
}

/* Density as a function of the place is asked for once: mass does not come or go. */
static kiln_status make_density(kiln_world *world, kiln_error *error)
{
    kiln_mesh *mesh = world->mesh;
    if (!density_varies(world->scene))
        return KILN_OK;
    KILN_TRY(kiln_mesh_add_field(mesh, KILN_FIELD_DENSITY, KILN_ON_TET, KILN_F64, 1,
                                 KILN_RULE_AVERAGE, error));
    double *density = (double *)kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_DENSITY)->data;
    const uint32_t *material =
        (const uint32_t *)kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_MATERIAL)->data;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const kiln_scene_material *row = &world->scene->materials.data[material[t]];
        const uint32_t *v = mesh->tet[t].v;
        kiln_vec3 sum = kiln_v3_add(kiln_v3_add(mesh->u[v[0]], mesh->u[v[1]]),
                                    kiln_v3_add(mesh->u[v[2]], mesh->u[v[3]]));
        kiln_circumstances at = {.material = kiln_v3_scale(sum, 0.25)};
        at.world = at.material;
        density[t] = row->base.density;
        if (row->density.evaluate)
            KILN_TRY(kiln_quantity_get(&row->density, &at, &density[t], 1, error));
        if (!(density[t] > 0.0))
            return kiln_said_fail(world->scene, &row->said, error,
                                  "density must be positive, got %g at (%g, %g, %g)", density[t],
                                  at.material.x, at.material.y, at.material.z);
    }
    return KILN_OK;
}

/* Steps in which vertices that remeshing made inside an obstacle are led out of it. */
enum { RECOVER_STEPS = 4 };

static kiln_status make_solid(kiln_world *world, kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    KILN_TRY(make_density(world, error));
    KILN_TRY(kiln_world_add_history(world, error));
    KILN_TRY(kiln_world_keep_start(world, error));
    if (world->varies)
        KILN_TRY(kiln_mesh_add_field(world->mesh, KILN_FIELD_LAME, KILN_ON_TET, KILN_F64, 2,
                                     KILN_RULE_AVERAGE, error));
    kiln_solid_options options = scene->solid;
    if (scene->remesh.method != KILN_REMESH_NONE)
        options.recover = RECOVER_STEPS * scene->pace.dt;
    options.contact = kiln_world_contact_options(scene);
    KILN_TRY(kiln_solid_create(world->mesh, &options, world->materials, scene->materials.count,
                               world->obstacles, scene->obstacles.count, &world->solid, error));
    KILN_TRY(kiln_world_resize(world, error));
    KILN_TRY(kiln_world_set_motion(world, error));
    return world->varies ? kiln_world_vary_start(world, error) : KILN_OK;
}

/* An energy that is infinite at the start cannot be minimised from there. */
static kiln_status check_energy(kiln_world *world, kiln_error *error)
{
    if (isfinite(kiln_solid_elastic_energy(world->solid, &world->mesh->x[0].x)))
        return KILN_OK;
    uint32_t first = KILN_NONE;
    kiln_elements_inverted(kiln_solid_elements(world->solid), &world->mesh->x[0].x, &first);
    kiln_vec3 at =
        first == KILN_NONE ? kiln_v3(0, 0, 0) : world->mesh->x[world->mesh->tet[first].v[0]];
    return kiln_fail(error, KILN_ERR_INPUT, world->scene->file, 0, -1,
                     "the elastic energy is not finite at the start; look at the tet near (%g, %g, "
                     "%g): its material cannot bear inversion",
                     at.x, at.y, at.z);
}

/* A step takes a body out of an obstacle it starts in, however fast that is: rarely what was meant.
 * Depths of less than a thousandth of the way across everything are taken for rounding. */
static void warn_of_bodies_inside(const kiln_world *world)
{
    const kiln_mesh *mesh = world->mesh;
    const kiln_scene *scene = world->scene;
    for (size_t o = 0; o < scene->obstacles.count; o++) {
        double deepest = 0.0;
        kiln_vec3 normal, point, at = {0, 0, 0}, low = {INFINITY, INFINITY, INFINITY};
        kiln_vec3 high = kiln_v3_scale(low, -1.0);
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
            if (!kiln_vertex_live(mesh, v) || !(mesh->vertex[v].flags & KILN_VERTEX_SURFACE))
                continue;
            kiln_vec3 x = mesh->x[v];
            low = kiln_v3(fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z));
            high = kiln_v3(fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z));
            double d = kiln_obstacle_distance(world->obstacles[o], x, &normal, &point);
            if (d < deepest) {
                deepest = d;
                at = x;
            }
        }
        if (-deepest > 1e-3 * kiln_v3_norm(kiln_v3_sub(high, low)))
            kiln_log(world->context, KILN_LOG_WARNING,
                     "a body starts %.3g m inside obstacle '%s', at (%.4g, %.4g, %.4g): it will be "
                     "thrown out",
                     -deepest, scene->obstacles.data[o].name, at.x, at.y, at.z);
    }
}

static kiln_status build(kiln_world *world, kiln_error *error)
{
    KILN_TRY(make_materials(world, error));
    KILN_TRY(kiln_world_build_mesh(world, error));
    KILN_TRY(kiln_world_hang(world, error));
    KILN_TRY(kiln_world_build_sets(world, error));
    KILN_TRY(make_obstacles(world, error));
    KILN_TRY(kiln_world_check_holds(world, error));
    KILN_TRY(make_solid(world, error));
    KILN_TRY(check_energy(world, error));
    KILN_TRY(kiln_world_check_surfaces(world, error));
    if (world->scene->solid.integrator != KILN_STATIC)
        warn_of_bodies_inside(world);
    kiln_pace_init(&world->state.pace, &world->scene->pace);
    return KILN_OK;
}

/* Zeroed; one byte more than nothing, so that a list of none has an address. */
static void *make_rows(kiln_context *context, size_t count, size_t size)
{
    void *rows = kiln_resize(context, NULL, 0, count * size + 1);
    if (rows)
        memset(rows, 0, count * size + 1);
    return rows;
}

kiln_status kiln_world_create(const kiln_scene *scene, kiln_world **out, kiln_error *error)
{
    kiln_context *context = scene->context;
    kiln_world *world = kiln_resize(context, NULL, 0, sizeof *world);
    if (!world)
        return kiln_fail_memory(error, sizeof *world);
    memset(world, 0, sizeof *world);
    world->context = context;
    world->scene = scene;
    world->obstacles = make_rows(context, scene->obstacles.count, sizeof *world->obstacles);
    world->holds = make_rows(context, scene->holds.count, sizeof *world->holds);
    world->loads = make_rows(context, scene->loads.count, sizeof *world->loads);
    world->materials = make_rows(context, scene->materials.count, sizeof *world->materials);
    world->surfaces = make_rows(context, scene->bodies.count, sizeof *world->surfaces);
    bool memory =
        world->obstacles && world->holds && world->loads && world->materials && world->surfaces;
    kiln_status status = memory ? build(world, error) : kiln_fail_memory(error, sizeof *world);
    if (status != KILN_OK) {
        kiln_world_destroy(world);
        return status;
    }
    *out = world;
    return KILN_OK;
}

static void free_rows(kiln_context *context, void *rows, size_t count, size_t size)
{
    if (rows)
        kiln_release(context, rows, count * size + 1);
}

void kiln_world_destroy(kiln_world *world)
{
    if (!world)
        return;
    kiln_context *context = world->context;
    const kiln_scene *scene = world->scene;
    kiln_relax_destroy(world->relax);
    kiln_solid_destroy(world->solid);
    for (size_t i = 0; i < scene->obstacles.count && world->obstacles; i++)
        kiln_obstacle_destroy(world->obstacles[i]);
    for (size_t i = 0; i < scene->holds.count && world->holds; i++)
        kiln_array_free(context, &world->holds[i].vertices);
    for (size_t i = 0; i < scene->loads.count && world->loads; i++)
        kiln_array_free(context, &world->loads[i].rows);
    kiln_world_unhang(world);
    free_rows(context, world->surfaces, scene->bodies.count, sizeof *world->surfaces);
    free_rows(context, world->obstacles, scene->obstacles.count, sizeof *world->obstacles);
    free_rows(context, world->holds, scene->holds.count, sizeof *world->holds);
    free_rows(context, world->loads, scene->loads.count, sizeof *world->loads);
    free_rows(context, world->materials, scene->materials.count, sizeof *world->materials);
    kiln_array_free(context, &world->events);
    kiln_array_free(context, &world->mu);
    kiln_array_free(context, &world->lambda);
    kiln_array_free(context, &world->mises);
    kiln_array_free(context, &world->viscosity);
    kiln_array_free(context, &world->laws);
    kiln_array_free(context, &world->norms);
    kiln_array_free(context, &world->flowed);
    kiln_array_free(context, &world->gradients);
    kiln_sizing_destroy(world->sizing);
    kiln_array_free(context, &world->quality);
    kiln_mesh_destroy(world->mesh);
    kiln_release(context, world, sizeof *world);
}

kiln_status kiln_world_renew(kiln_world *world, kiln_error *error)
{
    KILN_TRY(kiln_world_resize(world, error));
    kiln_solid_forget(world->solid);
    KILN_TRY(kiln_solid_rebuild(world->solid, NULL, error));
    return world->varies ? kiln_world_restore_lame(world, error) : KILN_OK;
}

static bool same_columns(const kiln_mesh *a, const kiln_mesh *b)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        const kiln_table *left = &a->table[where], *right = &b->table[where];
        if (left->fields.count != right->fields.count)
            return false;
        for (size_t i = 0; i < left->fields.count; i++) {
            const kiln_field *f = &left->fields.data[i], *g = &right->fields.data[i];
            if (strcmp(f->name, g->name) != 0 || f->type != g->type || f->rule != g->rule ||
                f->components != g->components || f->stride != g->stride)
                return false;
        }
    }
    return true;
}

/* All but where things are and how they move. Where matter flows, its material moves too. */
static bool same_body(const kiln_world *world, const kiln_mesh *b)
{
    const kiln_mesh *a = world->mesh;
    const size_t vertices = a->table[KILN_ON_VERTEX].used, tets = a->table[KILN_ON_TET].used;
    const size_t faces = a->table[KILN_ON_FACE].used;
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        if (a->table[where].used != b->table[where].used)
            return false;
    if (a->parts.count != b->parts.count)
        return false;
    for (size_t p = 0; p < a->parts.count; p++)
        if (a->parts.data[p].body != b->parts.data[p].body)
            return false;
    return (world->yields || memcmp(a->u, b->u, vertices * sizeof *a->u) == 0) &&
           memcmp(a->vertex, b->vertex, vertices * sizeof *a->vertex) == 0 &&
           memcmp(a->tet, b->tet, tets * sizeof *a->tet) == 0 &&
           memcmp(a->info, b->info, tets * sizeof *a->info) == 0 &&
           memcmp(a->face, b->face, faces * sizeof *a->face) == 0;
}

/* A mesh that was changed in the run can be any of the scene's matter. */
static bool fits_scene(const kiln_world *world, const kiln_mesh *mesh)
{
    const kiln_scene *scene = world->scene;
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        if (mesh->table[where].used == 0 || mesh->table[where].live != mesh->table[where].used)
            return false;
    for (size_t p = 0; p < mesh->parts.count; p++)
        if (mesh->parts.data[p].tets > 0 && mesh->parts.data[p].body >= scene->bodies.count)
            return false;
    const uint32_t *material =
        (const uint32_t *)kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_MATERIAL)->data;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (material[t] >= scene->materials.count)
            return false;
    return true;
}

static kiln_status check_mesh(const kiln_world *world, const kiln_mesh *mesh, kiln_error *error)
{
    if (!same_columns(world->mesh, mesh))
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                         "its fields are not those this scene has; was it written by another "
                         "version or another scene?");
    bool fixed = world->scene->remesh.method == KILN_REMESH_NONE;
    if (!fits_scene(world, mesh) || (fixed && !same_body(world, mesh)))
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                         "its mesh is not one this scene makes; has a mesh file changed?");
    return KILN_OK;
}

kiln_status kiln_world_replace_mesh(kiln_world *world, kiln_mesh *take_mesh, kiln_error *error)
{
    kiln_status status = check_mesh(world, take_mesh, error);
    if (status == KILN_OK) {
        /* The solid borrows the mesh by its address, so the contents change places. */
        kiln_mesh swap = *world->mesh;
        *world->mesh = *take_mesh;
        *take_mesh = swap;
    }
    kiln_mesh_destroy(take_mesh);
    KILN_TRY(status);
    KILN_TRY(kiln_world_list_sets(world, error));
    return kiln_world_renew(world, error);
}

static double next_event(const kiln_world *world, double time)
{
    for (size_t i = 0; i < world->events.count; i++)
        if (world->events.data[i] > time + kiln_world_moment(world))
            return world->events.data[i];
    return INFINITY;
}

/* What to try, by what failed. */
static const char *advice(const kiln_step_report *report, bool moving)
{
    switch (report->outcome) {
    case KILN_STEP_INVERTED:
        return "try a finer mesh there, slower motion, a material that cannot be inverted "
               "(neo-hookean), or tolerate_inverted";
    case KILN_STEP_NOT_FINITE:
        return "look for absurd parameters or forces";
    case KILN_STEP_STRETCH:
        return "try a larger max_stretch or slower motion";
    case KILN_STEP_ACCELERATION:
        return "try a larger max_acceleration or a softer start";
    case KILN_STEP_CROSSING:
        return "do surfaces touch from the start? Leave a gap, or try slower motion or a larger "
               "thickness";
    case KILN_STEP_ADRIFT:
        return "is every body held, or do its loads cancel?";
    default:
        break;
    }
    switch (report->newton.outcome) {
    case KILN_NEWTON_BLOCKED:
        return "held vertices are sent where the body cannot follow: try slower motion, or other "
               "holds";
    case KILN_NEWTON_ITERATIONS:
        return moving ? "try more Newton iterations or a looser tolerance"
                      : "try more load_steps or Newton iterations; is every body held?";
    case KILN_NEWTON_NOT_FINITE:
        return "is a body crushed to nothing, or sent into an obstacle? Try slower motion";
    case KILN_NEWTON_SOLVER:
        return "is every body held, or has it mass (a static body that floats has no equilibrium)?";
    default:
        return "try a smaller dt_min, a finer mesh or a softer load";
    }
}

static void diagnose(const kiln_world *world, const kiln_step_report *report, double tried,
                     kiln_diagnosis *diagnosis)
{
    const kiln_mesh *mesh = world->mesh;
    char where[160] = "", newton[120] = "";
    bool vertex = kiln_step_outcome_where(report->outcome) == KILN_ON_VERTEX;
    if (report->element != KILN_NONE) {
        uint32_t v = vertex ? report->element : mesh->tet[report->element].v[0];
        uint32_t t = vertex ? mesh->vertex[v].tet : report->element;
        kiln_vec3 p = mesh->x[v];
        snprintf(where, sizeof where, " (%s %u of body '%.40s', near (%.4g, %.4g, %.4g))",
                 vertex ? "vertex" : "tet", report->element,
                 world->scene->bodies.data[mesh->parts.data[mesh->info[t].part].body].name, p.x,
                 p.y, p.z);
    }
    if (report->outcome == KILN_STEP_NEWTON)
        snprintf(newton, sizeof newton, ": %s", kiln_newton_outcome_text(report->newton.outcome));
    char length[60] = "the load could not be applied in smaller parts";
    if (world->scene->solid.integrator != KILN_STATIC)
        snprintf(length, sizeof length, "a step of %.3g s, the shortest allowed, failed", tried);
    snprintf(diagnosis->text, sizeof diagnosis->text, "gave up at %.6g s: %s: %s%s%s; %s",
             world->state.clock.time, length, kiln_step_outcome_text(report->outcome), newton,
             where, advice(report, world->scene->solid.integrator != KILN_STATIC));
}

/* Work is the sum over all tries; the rest is the last one's. */
static void add_try(kiln_step_report *sum, const kiln_step_report *one)
{
    kiln_newton_report before = sum->newton;
    double contact = sum->contact_seconds;
    *sum = *one;
    sum->newton.iterations += before.iterations;
    sum->newton.linear_iterations += before.linear_iterations;
    sum->newton.line_searches += before.line_searches;
    sum->newton.assemble_seconds += before.assemble_seconds;
    sum->newton.factor_seconds += before.factor_seconds;
    sum->newton.solve_seconds += before.solve_seconds;
    sum->contact_seconds += contact;
}

static kiln_status try_step(kiln_world *world, double h, int load_steps, kiln_step_report *report,
                            kiln_error *error)
{
    kiln_driver driver = kiln_world_driver(world);
    kiln_solid_clock *clock = &world->state.clock;
    *report = (kiln_step_report){.element = KILN_NONE};
    if (world->scene->solid.integrator != KILN_STATIC)
        return kiln_solid_step(world->solid, &driver, h, clock, report, error);
    kiln_solid_clock before = *clock;
    clock->time += h;
    load_steps = load_steps > 1 ? load_steps : 1;
    kiln_status status =
        kiln_solid_equilibrium(world->solid, &driver, load_steps, clock, report, error);
    if (status != KILN_OK || report->outcome != KILN_STEP_DONE)
        *clock = before;
    return status;
}

/* Matter flows. Equilibrium is another then, so a static step goes on: equilibrium, flow of what is
 * still beyond its threshold (instant laws only: no time passes), until that is little. */
static kiln_status flow(kiln_world *world, double h, kiln_error *error)
{
    kiln_evolution *evolution = &world->evolution;
    *evolution = (kiln_evolution){0};
    KILN_TRY(kiln_world_flow(world, h, evolution, error));
    if (world->scene->solid.integrator != KILN_STATIC)
        return KILN_OK;
    kiln_evolution whole = *evolution;
    for (int pass = 0; pass < MOST_FLOWS && evolution->flow.greatest > SETTLED; pass++) {
        kiln_step_report again;
        KILN_TRY(try_step(world, 0.0, 1, &again, error));
        add_try(&world->report, &again);
        if (again.outcome != KILN_STEP_DONE)
            break;
        evolution->flow = (kiln_flow_report){0};
        KILN_TRY(kiln_world_flow(world, 0.0, evolution, error));
    }
    whole.plastic_seconds = evolution->plastic_seconds;
    *evolution = whole;
    return KILN_OK;
}

kiln_status kiln_world_step(kiln_world *world, double stop, kiln_stats *stats, bool *gave_up,
                            kiln_diagnosis *diagnosis, kiln_error *error)
{
    kiln_world_state *state = &world->state;
    bool still = world->scene->solid.integrator == KILN_STATIC;
    double started = kiln_wall_seconds(), begin = state->clock.time,
           moment = kiln_world_moment(world);
    double event = next_event(world, begin);
    stop = event < stop - moment ? event : stop;
    world->step_begin = begin;
    world->first = still && state->step <= 1;
    KILN_TRY(kiln_world_catch(world, error));
    if (world->varies)
        kiln_elements_output(kiln_solid_elements(world->solid), &world->mesh->x[0].x,
                             KILN_OUTPUT_MISES, world->mises.data);
    kiln_step_report sum = {0};
    *gave_up = false;
    double h, rejected = 0.0;
    for (;;) {
        h = still ? stop - begin : kiln_pace_length(&state->pace, begin, stop);
        KILN_TRY(try_step(world, h, world->scene->load_steps, &world->report, error));
        add_try(&sum, &world->report);
        if (world->report.outcome == KILN_STEP_DONE)
            break;
        state->rejected++;
        rejected++;
        if (still || !kiln_pace_reject(&state->pace, &world->scene->pace, h)) {
            diagnose(world, &world->report, h, diagnosis);
            *gave_up = true;
            return world->varies ? kiln_world_restore_lame(world, error) : KILN_OK;
        }
    }
    kiln_pace_accept(&state->pace, &world->scene->pace);
    /* begin + (stop - begin) may miss it by a rounding. */
    if (fabs(state->clock.time - stop) <= moment)
        state->clock.time = stop;
    if (world->varies)
        kiln_world_keep_lame(world);
    world->report = sum;
    KILN_TRY(flow(world, state->clock.time - begin, error));
    kiln_world_keep_forces(world);
    if (world->report.outcome != KILN_STEP_DONE) {
        diagnose(world, &world->report, h, diagnosis);
        *gave_up = true;
        return KILN_OK;
    }
    KILN_TRY(kiln_world_remesh(world, &world->evolution, error));
    state->step = state->step > 0 ? state->step : 1;
    kiln_world_measure(world, stats);
    state->step++;
    stats->dt = state->clock.time - begin;
    stats->rejected = rejected;
    stats->t_step = kiln_wall_seconds() - started;
    return KILN_OK;
}
