/* The module of plastic flow: after a step matter that is beyond its threshold yields, and its
 * material follows: it relaxes, or where the mesh is that of the world goes where the world is. */
#include "base/clock.h"
#include "fem/yield_surfaces.h"
#include "sim/world_impl.h"
#include "step/relax.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    MOST_FLOWS = 1000, /* of a static step */
    MOST_LAWS = 30     /* solves of one, while functions change with what they bring about */
};
/* Static steps end when flow has left equilibrium as it was to this part of the largest elastic
 * strain of what flows; of functions, when a yield changes by no more. */
#define SETTLED 1e-3

typedef struct flow_state {
    double moved;      /* m, the material since its surface was last searched for crossings */
    uint64_t overlaps; /* it was seen to overlap itself */
} flow_state;

typedef struct flow {
    kiln_world *world;
    bool varies; /* parameters are functions */
    /* Those of flow inside the step: nobody's concern between steps, asked for, or given. */
    enum { LAWS_REST, LAWS_ASKED, LAWS_GIVEN } phase;
    KILN_ARRAY_OF(kiln_plastic)
    laws;                 /* [tet slot], where they are */
    kiln_f64_array norms; /* [tet slot] of stress, for them */
    double change;        /* of a yield by the last look at them, Pa per Pa */
    KILN_ARRAY_OF(uint8_t)
    flowed;            /* [tet slot] not 0: in this step */
    kiln_relax *relax; /* made when it is first needed */
    flow_state state;
    kiln_flow_report report; /* of the last step, for statistics */
    kiln_relax_report relaxed;
    double seconds;
} flow;

static void plan(kiln_world *world)
{
    for (size_t i = 0; i < world->scene->materials.count; i++) {
        const kiln_material *material = &world->scene->materials.data[i].base;
        world->flows |= material->plastic.flows;
        if (material->liquid)
            world->space = KILN_SPACE_WORLD;
    }
}

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    if (!world->flows && world->space == KILN_SPACE_MATERIAL)
        return KILN_OK;
    flow *f = kiln_module_make(world, sizeof *f, self, error);
    if (!f)
        return KILN_ERR_MEMORY;
    f->world = world;
    for (size_t i = 0; i < scene->materials.count; i++)
        f->varies |= scene->materials.data[i].flow_varies;
    return world->flows ? kiln_plastic_add_fields(world->mesh, error)
                        : kiln_offsets_add(world->mesh, error);
}

static void destroy(void *self)
{
    flow *f = self;
    kiln_context *context = f->world->context;
    kiln_relax_destroy(f->relax);
    kiln_array_free(context, &f->laws);
    kiln_array_free(context, &f->norms);
    kiln_array_free(context, &f->flowed);
}

static kiln_status ask_law(const flow *f, uint32_t t, double time, double stress,
                           const kiln_scene_material *row, kiln_plastic *law, kiln_error *error)
{
    kiln_circumstances at = kiln_world_circumstances(f->world, t);
    at.time = time;
    at.stress = stress;
    KILN_TRY(kiln_quantity_get(&row->yield, &at, &law->yield, 1, error));
    KILN_TRY(kiln_quantity_get(&row->rate, &at, &law->rate, 1, error));
    KILN_TRY(kiln_quantity_get(&row->hardening, &at, &law->hardening, 1, error));
    if (!(law->yield >= 0.0) || !(law->rate >= 0.0))
        return kiln_said_fail(f->world->scene, &row->said, error,
                              "yield and rate must be 0 or more: got %g Pa and %g 1/s at %g s in "
                              "the tet at (%g, %g, %g)",
                              law->yield, law->rate, at.time, at.world.x, at.world.y, at.world.z);
    return KILN_OK;
}

static kiln_status look_at_stress(flow *f, kiln_error *error)
{
    const kiln_mesh *mesh = f->world->mesh;
    size_t tets = mesh->table[KILN_ON_TET].used;
    KILN_TRY(kiln_array_reserve(f->world->context, &f->laws, tets, error));
    KILN_TRY(kiln_array_reserve(f->world->context, &f->norms, tets, error));
    for (; f->laws.count < tets; f->laws.count++)
        f->laws.data[f->laws.count] = (kiln_plastic){0};
    kiln_plastic_norms(kiln_solid_elements(f->world->solid), &mesh->x[0].x, f->norms.data);
    return KILN_OK;
}

/* The laws of the tets that flow inside the step, or of all others, where some are functions of
 * what goes on in them. */
static kiln_status vary_laws(flow *f, double time, bool within, kiln_error *error)
{
    const kiln_world *world = f->world;
    const uint32_t *material = kiln_world_material_of(world->mesh);
    f->change = 0.0;
    for (uint32_t t = 0; t < world->mesh->table[KILN_ON_TET].used; t++) {
        const kiln_scene_material *row = &world->scene->materials.data[material[t]];
        if (kiln_flow_is_within(&world->materials[material[t]]) != within)
            continue;
        double before = f->laws.data[t].yield;
        f->laws.data[t] = world->materials[material[t]].plastic;
        if (row->flow_varies)
            KILN_TRY(kiln_said_wrap(
                world->scene, &row->said,
                ask_law(f, t, time, f->norms.data[t], row, &f->laws.data[t], error), error));
        double yield = f->laws.data[t].yield;
        f->change = fmax(f->change, fabs(yield - before) / fmax(fmin(yield, before), DBL_MIN));
    }
    return KILN_OK;
}

/* Flow inside a step is by the laws of its begin, at the time of its end. */
static kiln_status before_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    (void)moment;
    flow *f = self;
    f->phase = LAWS_ASKED;
    if (!f->varies)
        return KILN_OK;
    kiln_yield_surfaces_set_laws(kiln_solid_elements(f->world->solid), NULL, f->world->mesh);
    return look_at_stress(f, error);
}

/* A static step may be long: where a yield depends on the stress, which is another at its end, it
 * is found elastic first. */
static kiln_status stiffen(flow *f, double time, kiln_error *error)
{
    const kiln_world *world = f->world;
    const uint32_t *material = kiln_world_material_of(world->mesh);
    for (uint32_t t = 0; t < world->mesh->table[KILN_ON_TET].used; t++) {
        const kiln_scene_material *row = &world->scene->materials.data[material[t]];
        kiln_plastic *law = &f->laws.data[t], other = *law;
        if (!row->flow_varies)
            continue;
        double stress = f->norms.data[t] + 2.0 * law->yield;
        KILN_TRY(kiln_said_wrap(world->scene, &row->said,
                                ask_law(f, t, time, stress, row, &other, error), error));
        if (other.yield != law->yield)
            law->yield = INFINITY;
    }
    return KILN_OK;
}

static kiln_status drive(void *self, const kiln_drive *drive, kiln_error *error)
{
    flow *f = self;
    if (!f->varies || f->phase == LAWS_REST)
        return KILN_OK;
    if (f->phase == LAWS_ASKED)
        KILN_TRY(vary_laws(f, drive->time, true, error));
    if (f->phase == LAWS_ASKED && !f->world->moves)
        KILN_TRY(stiffen(f, drive->time, error));
    kiln_yield_surfaces_set_laws(kiln_solid_elements(drive->solid), f->laws.data, f->world->mesh);
    return KILN_OK;
}

/* Of a static step the laws are those of its end, where they settle. */
static kiln_status settle_laws(flow *f, kiln_error *error)
{
    const kiln_world *world = f->world;
    f->phase = LAWS_GIVEN;
    for (int round = 0; round < MOST_LAWS; round++) {
        KILN_TRY(look_at_stress(f, error));
        KILN_TRY(vary_laws(f, world->state.clock.time, true, error));
        if (!(f->change > SETTLED))
            return KILN_OK;
        KILN_TRY(kiln_world_settle(f->world, error));
        if (world->report.outcome != KILN_STEP_DONE)
            return KILN_OK;
    }
    f->world->report.outcome = KILN_STEP_UNSETTLED;
    return KILN_OK;
}

static kiln_status begin_flowed(flow *f, kiln_error *error)
{
    size_t tets = f->world->mesh->table[KILN_ON_TET].used;
    KILN_TRY(kiln_array_reserve(f->world->context, &f->flowed, tets, error));
    memset(f->flowed.data, 0, tets);
    return KILN_OK;
}

static kiln_status yield(flow *f, double h, kiln_flow_report *report, kiln_error *error)
{
    const kiln_world *world = f->world;
    if (f->varies) {
        KILN_TRY(look_at_stress(f, error));
        KILN_TRY(vary_laws(f, world->state.clock.time, false, error));
    }
    return kiln_plastic_update(kiln_solid_elements(world->solid), world->mesh,
                               f->varies ? f->laws.data : NULL, h, f->flowed.data, report, error);
}

static kiln_status relax(flow *f, kiln_error *error)
{
    kiln_world *world = f->world;
    kiln_relax_options options = kiln_relax_default_options();
    options.moved = &f->state.moved;
    if (!f->relax)
        KILN_TRY(kiln_relax_create(world->solid, &f->relax, error));
    KILN_TRY(kiln_world_material_moves(world, error));
    KILN_TRY(kiln_relax_run(f->relax, &options, f->flowed.data, &f->relaxed, error));
    KILN_TRY(kiln_world_material_moved(world, error));
    if (f->relaxed.overlaps && !f->state.overlaps) {
        f->state.overlaps = true;
        kiln_log(world->context, KILN_LOG_WARNING,
                 "at %.6g s the material of a body has flowed through itself: where it overlaps, "
                 "remeshing and sizes are those of two bodies in one place",
                 world->state.clock.time);
    }
    return KILN_OK;
}

/* One round of flow over h seconds. */
static kiln_status pass(flow *f, double h, kiln_flow_report *report, kiln_error *error)
{
    kiln_world *world = f->world;
    if (world->flows)
        KILN_TRY(yield(f, h, report, error));
    if (report->flowed == 0)
        return KILN_OK;
    KILN_TRY(kiln_solid_reform(world->solid, error));
    /* The step counted what flow has taken since. */
    world->report.e_elastic = kiln_solid_elastic_energy(world->solid, &world->mesh->x[0].x);
    return KILN_OK;
}

/* Whether the equilibrium that was found is still one. */
static bool is_settled(const kiln_flow_report *report)
{
    return report->off <= SETTLED * fmax(report->kept, SETTLED * report->elastic);
}

/* Equilibrium is another once matter has flowed in ways that it did not know of, so a static step
 * goes on: equilibrium, flow of what is still beyond its threshold (instant laws only: no time
 * passes), until that is little. The material stays where it is meanwhile: small strains are about
 * the shape at the begin of a step, and on a shape that follows within it they would be another
 * problem in each round. */
static kiln_status settle(flow *f, kiln_error *error)
{
    kiln_step_report *step = &f->world->report;
    kiln_flow_report again = f->report;
    for (int round = 0; round < MOST_FLOWS && !is_settled(&again); round++) {
        KILN_TRY(kiln_world_settle(f->world, error));
        if (step->outcome != KILN_STEP_DONE)
            return KILN_OK;
        again = (kiln_flow_report){0};
        KILN_TRY(pass(f, 0.0, &again, error));
    }
    if (!is_settled(&again))
        step->outcome = KILN_STEP_UNSETTLED;
    return KILN_OK;
}

/* Liquid remembers its volume, and no shape: that of a ball, but not Pi = I to the bit, which would
 * mean that its volume is what it has in the material (kiln_offsets_settle). */
static void forget_shapes(const kiln_world *world)
{
    const kiln_mesh *mesh = world->mesh;
    const uint32_t *material = kiln_world_material_of(mesh);
    const kiln_offsets offsets = kiln_offsets_of(mesh);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t) && world->materials[material[t]].liquid)
            offsets.shape[t] = kiln_sym3_scale(kiln_sym3_identity(), 2.0);
}

/* The material follows what flowed. */
static kiln_status follow(flow *f, kiln_error *error)
{
    kiln_world *world = f->world;
    if (world->space != KILN_SPACE_WORLD)
        return f->report.flowed > 0 ? relax(f, error) : KILN_OK;
    KILN_TRY(kiln_world_material_moves(world, error));
    KILN_TRY(kiln_offsets_follow(world->mesh, world->mesh->x, error));
    forget_shapes(world);
    KILN_TRY(kiln_world_material_moved(world, error));
    KILN_TRY(kiln_solid_reform(world->solid, error));
    world->report.e_elastic = kiln_solid_elastic_energy(world->solid, &world->mesh->x[0].x);
    return KILN_OK;
}

static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    flow *f = self;
    double started = kiln_wall_seconds();
    f->report = (kiln_flow_report){0};
    f->relaxed = (kiln_relax_report){0};
    if (!f->world->moves && f->varies)
        KILN_TRY(settle_laws(f, error));
    if (f->world->report.outcome != KILN_STEP_DONE)
        return KILN_OK;
    KILN_TRY(begin_flowed(f, error));
    KILN_TRY(pass(f, moment->end - moment->begin, &f->report, error));
    if (!f->world->moves)
        KILN_TRY(settle(f, error));
    if (f->world->report.outcome != KILN_STEP_DONE)
        return KILN_OK;
    KILN_TRY(follow(f, error));
    f->phase = LAWS_REST;
    f->seconds = kiln_wall_seconds() - started;
    return KILN_OK;
}

static void step_back(void *self)
{
    flow *f = self;
    f->phase = LAWS_REST;
}

static void *state(void *self, size_t *size)
{
    flow *f = self;
    *size = sizeof f->state;
    return &f->state;
}

static void measure(const void *self, kiln_stats *stats)
{
    const flow *f = self;
    if (!f->world->flows || f->world->state.step == 0)
        return;
    stats->flowed = (double)f->report.flowed;
    stats->t_plastic = f->seconds;
    if (f->world->space == KILN_SPACE_MATERIAL)
        stats->relax = f->relaxed.iterations;
}

const kiln_module kiln_module_flow = {.name = "flow",
                                      .plan = plan,
                                      .create = create,
                                      .destroy = destroy,
                                      .before_step = before_step,
                                      .drive = drive,
                                      .after_step = after_step,
                                      .step_back = step_back,
                                      .state = state,
                                      .measure = measure};
