/* The module of remeshing inside the step (ITR): a stepper around that of the solid. A step is
 * solved; the mesh changes where that lowers the energy of the solution; the state of the step's
 * begin is carried over; and the step is solved again on the new mesh, from where the patches have
 * come to rest. In static steps that is done again until nothing gains any more. */
#include "base/clock.h"
#include "mesh/rewind.h"
#include "remesh/transfer.h"
#include "sim/remeshing.h"
#include "step/energy_remesh.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Of the energy that a step stores and moves, for tolerances that are not given. */
#define SPLIT_PART 1e-5
/* Of what a split must gain. In motion what gains less than a split would is in the way of the next
 * step: with a hundredth a shaken rod has twice the vertices for the same shape. Static solves
 * would undo on one patch what they have done on another. */
#define COLLAPSE_PART        1e-2
#define COLLAPSE_PART_MOVING 1.0
#define FINEST_PART          0.02 /* of the start's mean edge */
#define ROUNDED              30.0 /* times the rounding of a place: of places after some steps */
/* Static: a round makes the splits that promise at least this part of the best. Flips and moves
 * cost no unknowns, so they are to have their turn before less is split: half again as many
 * vertices for the same energy without. */
#define MARK 0.5
enum {
    DEPTH = 3,
    TRIES = 4, /* of a pass that comes out with surfaces through each other */
};

typedef struct energy_state {
    double start_size;  /* m */
    double least_shape; /* no change makes a tet worse, in quality */
    double start_tets;
} energy_state;

typedef struct energy {
    kiln_world *world;
    const kiln_scene_remesh *settings;
    energy_state state;
    kiln_changes changes;
    kiln_remesh_work work;
    kiln_f64_array sums;       /* scratch of densities */
    kiln_f64_array lost;       /* J, [part] that a pass has taken of what the step begins with */
    kiln_memory kept;          /* what was known of tries in vain, before the pass */
    kiln_energy_report report; /* of the last step */
    bool changed;              /* in this try of a step: what is derived is of another mesh */
    uint32_t since;            /* the mesh's clock before it changed in this step */
} energy;

static kiln_status add_field(kiln_world *world, const char *name, kiln_where where, kiln_type type,
                             uint32_t components, kiln_rule rule, kiln_error *error)
{
    return kiln_mesh_add_field(world->mesh, name, where, type, components, rule, error);
}

static bool has_load(const kiln_world *world, kiln_load_kind kind)
{
    for (size_t i = 0; i < world->scene->loads.count; i++)
        if (world->scene->loads.data[i].kind == kind)
            return true;
    return false;
}

/* Along some axes of their own. */
static bool has_turned_holds(const kiln_world *world)
{
    for (size_t i = 0; i < world->scene->holds.count; i++) {
        const kiln_scene_hold *hold = &world->scene->holds.data[i];
        if (hold->components != KILN_TIE_ALL && kiln_m3_norm2(hold->axes) > 0.0)
            return true;
    }
    return false;
}

static bool varies(const kiln_world *world)
{
    for (size_t i = 0; i < world->scene->materials.count; i++)
        if (world->scene->materials.data[i].varies)
            return true;
    return false;
}

static bool has_friction(const kiln_scene *scene)
{
    bool any = scene->contact.friction > 0.0;
    for (size_t i = 0; i < scene->contact.pairs.count; i++)
        any |= scene->contact.pairs.data[i].friction > 0.0;
    for (size_t i = 0; i < scene->obstacles.count; i++)
        any |= scene->obstacles.data[i].friction > 0.0;
    return any;
}

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    if (world->scene->remesh.method != KILN_REMESH_ENERGY)
        return KILN_OK;
    energy *e = kiln_module_make(world, sizeof *e, self, error);
    if (!e)
        return KILN_ERR_MEMORY;
    e->world = world;
    e->settings = &world->scene->remesh;
    e->state.start_tets = world->mesh->table[KILN_ON_TET].live;
    KILN_TRY(kiln_remesh_note_shape(world, &e->state.least_shape, error));
    KILN_TRY(
        add_field(world, KILN_FIELD_END, KILN_ON_VERTEX, KILN_F64, 3, KILN_RULE_DIRECT, error));
    KILN_TRY(
        add_field(world, KILN_FIELD_HELD, KILN_ON_VERTEX, KILN_U32, 1, KILN_RULE_INHERIT, error));
    KILN_TRY(
        add_field(world, KILN_FIELD_POINTS, KILN_ON_VERTEX, KILN_F64, 3, KILN_RULE_NONE, error));
    KILN_TRY(
        add_field(world, KILN_FIELD_STILL, KILN_ON_VERTEX, KILN_F64, 2, KILN_RULE_NONE, error));
    KILN_TRY(
        add_field(world, KILN_FIELD_NEEDED, KILN_ON_VERTEX, KILN_F64, 2, KILN_RULE_NONE, error));
    KILN_TRY(add_field(world, KILN_FIELD_VAIN, KILN_ON_TET, KILN_F64, 6, KILN_RULE_NONE, error));
    KILN_TRY(add_field(world, KILN_FIELD_FLAT, KILN_ON_TET, KILN_F64, 4, KILN_RULE_NONE, error));
    KILN_TRY(add_field(world, KILN_FIELD_EVENLY, KILN_ON_TET, KILN_F64, 1, KILN_RULE_COPY, error));
    if (has_turned_holds(world))
        KILN_TRY(
            add_field(world, KILN_FIELD_AXIS, KILN_ON_VERTEX, KILN_F64, 3, KILN_RULE_NONE, error));
    if (varies(world)) {
        KILN_TRY(add_field(world, KILN_FIELD_STIFFNESS, KILN_ON_TET, KILN_F64, 2, KILN_RULE_COPY,
                           error));
        KILN_TRY(add_field(world, KILN_FIELD_VISCOSITY, KILN_ON_TET, KILN_F64, 1, KILN_RULE_COPY,
                           error));
    }
    if (world->scene->contact.steady && has_friction(world->scene))
        KILN_TRY(
            add_field(world, KILN_FIELD_STEADY, KILN_ON_TET, KILN_F64, 1, KILN_RULE_COPY, error));
    if (world->scene->solid.integrator == KILN_BDF2)
        KILN_TRY(add_field(world, KILN_FIELD_SETTLED, KILN_ON_VERTEX, KILN_F64, 3, KILN_RULE_NONE,
                           error));
    if (has_load(world, KILN_LOAD_BODY))
        KILN_TRY(
            add_field(world, KILN_FIELD_BULK, KILN_ON_TET, KILN_F64, 3, KILN_RULE_COPY, error));
    if (has_load(world, KILN_LOAD_PRESSURE))
        KILN_TRY(add_field(world, KILN_FIELD_PRESSURE, KILN_ON_FACE, KILN_F64, 1, KILN_RULE_COPY,
                           error));
    if (world->flows) {
        KILN_TRY(
            add_field(world, KILN_FIELD_YIELD, KILN_ON_TET, KILN_F64, 2, KILN_RULE_COPY, error));
        KILN_TRY(
            add_field(world, KILN_FIELD_REST, KILN_ON_TET, KILN_F64, 1, KILN_RULE_COPY, error));
    }
    return add_field(world, KILN_FIELD_TRACTION, KILN_ON_FACE, KILN_F64, 3, KILN_RULE_COPY, error);
}

static void destroy(void *self)
{
    energy *e = self;
    kiln_changes_free(e->world->context, &e->changes);
    kiln_array_free(e->world->context, &e->sums);
    kiln_array_free(e->world->context, &e->lost);
    kiln_array_free(e->world->context, &e->kept);
}

/* kg/m^3 of each part and material, to its tets; where it is a function, its field as a whole. */
static kiln_status fill_density(energy *e, kiln_error *error)
{
    kiln_world *world = e->world;
    const kiln_mesh *mesh = world->mesh;
    size_t materials = world->scene->materials.count, kinds = mesh->parts.count * materials;
    const uint32_t *material =
        (const uint32_t *)(const void *)kiln_mesh_field(mesh, KILN_ON_TET, "material")->data;
    const double *mass = kiln_world_column(world, KILN_ON_TET, KILN_FIELD_MASS);
    const double *given = kiln_world_column(world, KILN_ON_TET, KILN_FIELD_DENSITY);
    double *density = kiln_world_column(world, KILN_ON_TET, KILN_FIELD_EVENLY);
    kiln_f64_array *sums = &e->sums; /* [part][material][2] kg, m^3 or kg */
    KILN_TRY(kiln_array_reserve(world->context, sums, 2 * kinds, error));
    memset(sums->data, 0, 2 * kinds * sizeof(double));
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
            if (!kiln_tet_live(mesh, t))
                continue;
            double *of = sums->data + 2 * (mesh->info[t].part * materials + material[t]);
            if (pass == 1) {
                density[t] = of[0] / of[1] * (given ? given[t] : 1.0);
                continue;
            }
            of[0] += mass[t];
            of[1] += kiln_mesh_tet_volume(mesh, t) * (given ? given[t] : 1.0);
        }
    return KILN_OK;
}

/* How vertices are held; where several holds meet a frame has them in an order of its own. */
static kiln_status fill_ties(kiln_world *world, kiln_error *error)
{
    kiln_mesh *mesh = world->mesh;
    const kiln_constraints *given = kiln_solid_constraints(world->solid);
    const kiln_field *bits = kiln_mesh_field(mesh, KILN_ON_VERTEX, KILN_FIELD_HELD);
    if (has_turned_holds(world))
        KILN_TRY(kiln_rewind_save(mesh, KILN_ON_VERTEX, KILN_FIELD_AXIS, KILN_SAVE_COPY, error));
    double *axis = kiln_world_column(world, KILN_ON_VERTEX, KILN_FIELD_AXIS);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_held held = kiln_constraints_held(given, v);
        kiln_tie tie = kiln_tie_of(held.axis, held.count);
        ((uint32_t *)(void *)bits->data)[v] =
            axis || tie.bits < KILN_TIE_ALL ? tie.bits : KILN_TIE_ALL;
        if (axis)
            memcpy(axis + 3 * (size_t)v, &tie.axis, sizeof tie.axis);
    }
    return KILN_OK;
}

/* What patches look at, in columns that go through changes of the mesh. */
static kiln_status fill_columns(energy *e, const kiln_vec3 *places, kiln_error *error)
{
    kiln_world *world = e->world;
    kiln_mesh *mesh = world->mesh;
    static const struct {
        kiln_where where;
        const char *name;
    } columns[] = {{KILN_ON_VERTEX, KILN_FIELD_END},    {KILN_ON_VERTEX, KILN_FIELD_HELD},
                   {KILN_ON_VERTEX, KILN_FIELD_POINTS}, {KILN_ON_FACE, KILN_FIELD_TRACTION},
                   {KILN_ON_TET, KILN_FIELD_VAIN},      {KILN_ON_VERTEX, KILN_FIELD_STILL},
                   {KILN_ON_VERTEX, KILN_FIELD_NEEDED}, {KILN_ON_TET, KILN_FIELD_FLAT}};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        KILN_TRY(kiln_rewind_save(mesh, columns[i].where, columns[i].name, KILN_SAVE_COPY, error));
    KILN_TRY(fill_density(e, error));
    kiln_solid_fill_matter(world->solid);
    size_t rows = mesh->table[KILN_ON_VERTEX].used, faces = mesh->table[KILN_ON_FACE].used;
    const kiln_loads *loads = kiln_solid_loads(world->solid);
    KILN_TRY(fill_ties(world, error));
    memcpy(kiln_world_column(world, KILN_ON_VERTEX, KILN_FIELD_END), places,
           rows * sizeof(kiln_vec3));
    memcpy(kiln_world_column(world, KILN_ON_VERTEX, KILN_FIELD_POINTS), kiln_loads_points(loads),
           rows * sizeof(kiln_vec3));
    if (kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_BULK))
        memcpy(kiln_world_column(world, KILN_ON_TET, KILN_FIELD_BULK), kiln_loads_bulk(loads),
               mesh->table[KILN_ON_TET].used * sizeof(kiln_vec3));
    if (kiln_mesh_field(mesh, KILN_ON_FACE, KILN_FIELD_PRESSURE)) {
        KILN_TRY(kiln_rewind_save(mesh, KILN_ON_FACE, KILN_FIELD_PRESSURE, KILN_SAVE_COPY, error));
        memcpy(kiln_world_column(world, KILN_ON_FACE, KILN_FIELD_PRESSURE),
               kiln_loads_pressures(loads), faces * sizeof(double));
    }
    memcpy(kiln_world_column(world, KILN_ON_FACE, KILN_FIELD_TRACTION), kiln_loads_pulls(loads),
           faces * sizeof(kiln_vec3));
    return KILN_OK;
}

static double energy_of_step(const energy *e, const kiln_local_objective *objective)
{
    const kiln_world *world = e->world;
    const double *end = kiln_world_column(world, KILN_ON_VERTEX, KILN_FIELD_END);
    double sum = world->flows ? kiln_objective_stored(objective)
                              : kiln_solid_elastic_energy(world->solid, end);
    if (!world->moves)
        return sum;
    const double *v = kiln_world_column(world, KILN_ON_VERTEX, "v");
    return sum + kiln_mass_sums(kiln_solid_mass(world->solid), &world->mesh->x[0].x, v).kinetic;
}

/* Of a motion that begins, what is small against all that will move is not small against what
 * moves: errors of the first steps stay in it. */
static double split_of(const kiln_scene_remesh *said, double whole)
{
    double part = said->part > 0.0 ? said->part : SPLIT_PART;
    if (!(said->split > 0.0))
        return part * whole;
    return said->part > 0.0 ? fmin(said->split, part * whole) : said->split;
}

/* Of matter at rest, J: strains are off by what rounding does to the length of an edge, and splits
 * that gain that follow each other without end. */
static double energy_of_rounding(const energy *e)
{
    const kiln_mesh *mesh = e->world->mesh;
    const uint32_t *material = kiln_world_material_of(mesh);
    double largest = 0.0, sum = 0.0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(mesh, v))
            largest = fmax(largest, kiln_v3_norm(mesh->x[v]));
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            sum += e->world->materials[material[t]].mu * kiln_mesh_tet_volume(mesh, t);
    double strain = ROUNDED * DBL_EPSILON * largest / e->state.start_size;
    return strain * strain * sum;
}

static kiln_energy_options options_of(const energy *e, const kiln_local_objective *objective,
                                      double h)
{
    double whole = energy_of_step(e, objective);
    const kiln_scene_remesh *said = e->settings;
    kiln_energy_options options = {
        .depth = DEPTH, .quality = e->state.least_shape, .most_tets = (size_t)said->most_tets};
    options.split = fmax(split_of(said, whole), energy_of_rounding(e));
    double cheap = said->collapse_part > 0.0 ? said->collapse_part
                   : e->world->moves         ? COLLAPSE_PART_MOVING
                                             : COLLAPSE_PART;
    options.collapse = said->collapse > 0.0 ? said->collapse : cheap * options.split;
    options.sizes = KILN_FIELD_START_SIZE;
    options.settles = true;
    options.finest = said->size_min > 0.0 ? said->size_min : FINEST_PART * e->state.start_size;
    options.share = e->world->moves ? said->share : 0.0;
    options.mark = e->world->moves ? 0.0 : MARK;
    options.tolerance = kiln_solid_tolerance(e->world->solid, h);
    return options;
}

/* What bdf2 remembers of the step before goes along with the begin of this one. */
static void shift_past(const kiln_world *world)
{
    double *before = kiln_world_column(world, KILN_ON_VERTEX, "x_before");
    const double *shift = kiln_world_column(world, KILN_ON_VERTEX, KILN_FIELD_SETTLED);
    for (size_t i = 0; shift && i < 3 * world->mesh->table[KILN_ON_VERTEX].used; i++)
        before[i] += shift[i];
}

/* A mesh is too stiff, and a better one has less of the elastic energy that the step begins with.
 * In slow motion it should never have been there; what swings has it from its motion, and is to
 * have it back. */
static kiln_status carry_over(energy *e, kiln_error *error)
{
    kiln_world *world = e->world;
    kiln_transfer_options transfer = {.mass = KILN_FIELD_MASS,
                                      .even = KILN_FIELD_EVEN,
                                      .lost = e->lost.data,
                                      .quickened = {"v", "v_before"}};
    for (size_t part = 0; part < world->mesh->parts.count; part++)
        e->lost.data[part] = fmax(e->lost.data[part], 0.0);
    KILN_TRY(kiln_transfer(world->mesh, &transfer, NULL, error));
    shift_past(world);
    KILN_TRY(kiln_world_carry(world, NULL, error));
    return kiln_changes_note_pass(&e->changes, world->mesh, error);
}

/* What was undone was tried, and took its time. */
static void add_count(kiln_energy_count *sum, const kiln_energy_count *one, bool undone)
{
    sum->trials += one->trials;
    sum->taken += undone ? 0 : one->taken;
    sum->gained += undone ? 0.0 : one->gained;
    sum->seconds += one->seconds;
}

static void add_report(energy *e, const kiln_energy_report *report, bool undone)
{
    add_count(&e->report.splits, &report->splits, undone);
    add_count(&e->report.collapses, &report->collapses, undone);
    add_count(&e->report.flips, &report->flips, undone);
    add_count(&e->report.moves, &report->moves, undone);
    e->report.predicted += undone ? 0.0 : report->predicted;
}

static kiln_status remesh(energy *e, kiln_remesher *remesher, double h, kiln_energy_report *report,
                          kiln_error *error)
{
    kiln_local_objective objective;
    kiln_vicinity_surface surface;
    kiln_solid_objective(e->world->solid, h, &e->world->state.clock, &objective);
    kiln_objective_look(&objective);
    kiln_energy_options options = options_of(e, &objective, h);
    size_t parts = e->world->mesh->parts.count;
    KILN_TRY(kiln_array_reserve(e->world->context, &e->lost, parts, error));
    memset(e->lost.data, 0, parts * sizeof(double));
    options.lost =
        objective.nodal ? NULL : e->lost.data; /* nodes store, too, and are not counted */
    if (!kiln_solid_surface(e->world->solid, h, &objective, &surface))
        return kiln_energy_remesh(remesher, &objective, &options, report, error);
    objective.surface = &surface;
    kiln_status status = kiln_vicinity_surface_begin(&surface, &objective, error);
    if (status == KILN_OK)
        status = kiln_energy_remesh(remesher, &objective, &options, report, error);
    kiln_vicinity_surface_end(&surface);
    return status;
}

static bool has_changed(const kiln_energy_report *r)
{
    return r->splits.taken + r->collapses.taken + r->flips.taken + r->moves.taken > 0;
}

static kiln_status change_mesh(energy *e, kiln_remesher *remesher, double h,
                               kiln_energy_report *report, bool *changed, kiln_error *error)
{
    KILN_TRY(remesh(e, remesher, h, report, error));
    *changed = has_changed(report);
    double started = kiln_wall_seconds();
    kiln_status status = *changed ? carry_over(e, error) : KILN_OK;
    e->work.transfer_seconds += kiln_wall_seconds() - started;
    return status;
}

static const kiln_memory_column memory[] = {{KILN_ON_TET, KILN_FIELD_VAIN},
                                            {KILN_ON_TET, KILN_FIELD_FLAT},
                                            {KILN_ON_VERTEX, KILN_FIELD_STILL},
                                            {KILN_ON_VERTEX, KILN_FIELD_NEEDED}};
enum { MEMORIES = sizeof memory / sizeof memory[0] };

/* One pass; false in *kept: it is taken back, because surfaces would not be clear of each other, or
 * nothing has changed. */
static kiln_status change_once(energy *e, const kiln_remesh_options *options, double h,
                               kiln_keep_out *guard, bool *kept, kiln_error *error)
{
    kiln_world *world = e->world;
    kiln_remesher remesher;
    kiln_energy_report report = {0};
    kiln_changes_start(&e->changes, world->mesh);
    KILN_TRY(kiln_remesher_begin(world->mesh, options, &remesher, error));
    uint32_t since = world->mesh->clock;
    bool changed = false;
    kiln_status status = change_mesh(e, &remesher, h, &report, &changed, error);
    *kept = status == KILN_OK && changed;
    if (*kept)
        status = kiln_solid_is_clear(world->solid, since, world->moves, kept, guard, error);
    *kept = *kept && status == KILN_OK;
    if (*kept)
        kiln_remesher_end(&remesher);
    else
        kiln_remesher_abandon(&remesher);
    if (!*kept && changed)
        kiln_remesh_restore_memory(world->mesh, memory, MEMORIES, &e->kept);
    add_report(e, &report, !*kept);
    return status;
}

/* At the end of the step patches see to it that nothing comes near; at its begin, where surfaces
 * are bent otherwise, the guard does, and what two have done at the same place, or a body to
 * itself, is looked at. Where that is not clear surfaces stay as they are in the next try. */
static kiln_status change_guarded(energy *e, const kiln_remesh_options *options, double h,
                                  kiln_keep_out *guard, bool *changed, kiln_error *error)
{
    KILN_TRY(kiln_remesh_keep_memory(e->world->mesh, memory, MEMORIES, &e->kept, error));
    for (int tries = 0; tries < TRIES; tries++) {
        size_t known = guard->shut.count;
        KILN_TRY(change_once(e, options, h, guard, changed, error));
        if (*changed || guard->shut.count == known)
            break;
    }
    return KILN_OK;
}

/* From the solution at `places`: a mesh on which it is better. */
static kiln_status adapt(energy *e, const kiln_vec3 *places, double h, bool *changed,
                         kiln_error *error)
{
    kiln_world *world = e->world;
    kiln_keep_out guard;
    kiln_remesh_options options = kiln_remesh_default_options();
    options.surface = KILN_SURFACE_KEEP;
    double started = kiln_wall_seconds(), carried = e->work.transfer_seconds;
    *changed = false;
    e->since = world->mesh->clock;
    KILN_TRY(fill_columns(e, places, error));
    KILN_TRY(kiln_solid_note_past(world->solid, error));
    e->changes.weight = KILN_FIELD_MASS;
    KILN_TRY(kiln_solid_keep_out(world->solid, world->moves, &guard, error));
    options.guard = guard.mesh ? &guard.guard : NULL;
    kiln_status status = change_guarded(e, &options, h, &guard, changed, error);
    kiln_keep_out_end(&guard);
    e->work.remesh_seconds += kiln_wall_seconds() - started - (e->work.transfer_seconds - carried);
    if (status != KILN_OK || !*changed)
        return status;
    e->changed = true;
    KILN_TRY(kiln_changes_close(&e->changes, world->mesh, error));
    KILN_TRY(kiln_world_changed(world, &e->changes, error));
    kiln_solid_restore_past(world->solid);
    return KILN_OK;
}

static const kiln_vec3 *end_column(const energy *e)
{
    return (const kiln_vec3 *)(const void *)kiln_world_column(e->world, KILN_ON_VERTEX,
                                                              KILN_FIELD_END);
}

static kiln_status advance_moving(energy *e, const kiln_interval *interval,
                                  kiln_step_report *report, kiln_error *error)
{
    kiln_world *world = e->world;
    const kiln_solid_course *course = &world->course;
    double h = interval->end - interval->begin;
    const kiln_vec3 *places;
    kiln_step_report again;
    bool changed = false;
    KILN_TRY(
        kiln_solid_try(course->solid, &course->driver, h, course->clock, report, &places, error));
    if (report->outcome != KILN_STEP_DONE)
        return KILN_OK;
    KILN_TRY(adapt(e, places, h, &changed, error));
    kiln_solid_start_at(course->solid, end_column(e), changed ? e->since : world->mesh->clock);
    kiln_status status =
        kiln_solid_step(course->solid, &course->driver, h, course->clock, &again, error);
    kiln_solid_start_at(course->solid, NULL, 0);
    kiln_step_report_add(report, &again);
    return status;
}

static kiln_status advance_static(energy *e, const kiln_interval *interval,
                                  kiln_step_report *report, kiln_error *error)
{
    kiln_world *world = e->world;
    const kiln_solid_course *course = &world->course;
    bool changed = true;
    int parts = interval->parts;
    course->clock->time = interval->end;
    *report = (kiln_step_report){0};
    for (int round = 0; changed; round++) {
        kiln_step_report one;
        KILN_TRY(kiln_solid_equilibrium(course->solid, &course->driver, parts, course->clock, &one,
                                        error));
        kiln_solid_start_at(course->solid, NULL, 0);
        kiln_step_report_add(report, &one);
        if (report->outcome != KILN_STEP_DONE || round == e->settings->rounds)
            return KILN_OK;
        KILN_TRY(adapt(e, world->mesh->x, 1.0, &changed, error));
        kiln_solid_start_at(course->solid, changed ? end_column(e) : NULL, e->since);
        parts = 1;
    }
    return KILN_OK;
}

static kiln_status advance(void *self, const kiln_interval *interval, kiln_step_report *report,
                           kiln_error *error)
{
    energy *e = self;
    e->work = (kiln_remesh_work){0};
    e->report = (kiln_energy_report){0};
    e->changed = false;
    return e->world->moves ? advance_moving(e, interval, report, error)
                           : advance_static(e, interval, report, error);
}

/* The mesh is the one of before. */
static void step_back(void *self)
{
    energy *e = self;
    e->world->stale |= e->changed;
}

static kiln_status mesh_changed(void *self, const kiln_changes *changes, kiln_error *error)
{
    energy *e = self;
    return kiln_solid_update(e->world->solid, changes, error);
}

static kiln_status renew(void *self, kiln_error *error)
{
    energy *e = self;
    kiln_solid_forget(e->world->solid);
    return kiln_solid_rebuild(e->world->solid, NULL, error);
}

/* In the place of the solid's own stepper. */
static kiln_status start(void *self, kiln_error *error)
{
    (void)error;
    energy *e = self;
    const double *size = kiln_world_column(e->world, KILN_ON_VERTEX, KILN_FIELD_START_SIZE);
    size_t rows = e->world->mesh->table[KILN_ON_VERTEX].used;
    double sum = 0.0;
    for (size_t v = 0; v < rows; v++)
        sum += size[v];
    e->state.start_size = sum / (double)rows;
    const kiln_stepper stepper = {
        .self = e, .advance = advance, .mesh_changed = mesh_changed, .renew = renew};
    kiln_world_wrap_solid(e->world, &stepper);
    return KILN_OK;
}

static void *state(void *self, size_t *size)
{
    energy *e = self;
    *size = sizeof e->state;
    return &e->state;
}

static void measure(const void *self, kiln_stats *stats)
{
    const energy *e = self;
    if (e->world->state.step == 0)
        return;
    kiln_remesh_measure(&e->work, stats);
    const kiln_energy_report *r = &e->report;
    kiln_remesh_measure_energy(r, stats);
    if (!has_changed(r))
        return;
    kiln_log(
        e->world->context, KILN_LOG_INFO,
        "splits %.0f of %.0f, %.3g J (predicted %.3g); flips %.0f of %.0f, %.3g J; moves %.0f of "
        "%.0f, %.3g J; collapses %.0f of %.0f, %.3g J",
        (double)r->splits.taken, (double)r->splits.trials, r->splits.gained, r->predicted,
        (double)r->flips.taken, (double)r->flips.trials, r->flips.gained, (double)r->moves.taken,
        (double)r->moves.trials, r->moves.gained, (double)r->collapses.taken,
        (double)r->collapses.trials, r->collapses.gained);
}

const kiln_module kiln_module_remesh_energy = {.name = "remesh_energy",
                                               .create = create,
                                               .start = start,
                                               .step_back = step_back,
                                               .destroy = destroy,
                                               .state = state,
                                               .measure = measure};
