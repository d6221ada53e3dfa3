/* The module of local remeshing (DLR 4): sizes from what goes on, splits and contractions, repairs
 * of bad tets, fields carried over. A step in which nothing had to change costs a look at the mesh.
 * With whole-domain remeshing only single bad tets are repaired in this way. */
#include "base/clock.h"
#include "fem/offset.h"
#include "fem/plasticity.h"
#include "mesh/reorder.h"
#include "mesh/rewind.h"
#include "remesh/improve.h"
#include "remesh/needed.h"
#include "remesh/reshaped.h"
#include "remesh/size_control.h"
#include "remesh/sizing.h"
#include "remesh/surface_begin.h"
#include "remesh/transfer.h"
#include "remesh/tried.h"
#include "remesh/unfold.h"
#include "remesh/vain.h"
#include "sim/held_tets.h"
#include "sim/remesh_local_impl.h"

#include <math.h>
#include <string.h>

#define KILN_FIELD_REPAIR_VAIN "repair_vain"
#define KILN_FIELD_LOOKED_AT   "looked_at"

/* Steps in which vertices that remeshing made inside an obstacle are led out of it. */
enum { RECOVER_STEPS = 4 };
/* Rows are put in Hilbert order again when their locality has become worse by this factor, which it
 * does when about a tenth of them lie elsewhere. */
#define DECAYED 1.1
/* Until this part of them has come or moved since it was last measured, it cannot have. */
#define DISPLACED 0.05
/* Tets that distort by flow are repaired before they are worse than what was asked for: later
 * there is less that helps. */
static const double FOLLOW_AHEAD = 1.2;
/* That is for what fails within so many steps as things go. Liquid that rests is left alone:
 * tension answers a repair with a current, and that distorts other tets. */
static const double AHEAD_STEPS = 20.0;
/* And they are looked at when some tet has changed its shape by this part since they last were: ten
 * times that is far from what puts an edge out of place. */
static const double FOLLOW_RESHAPED = 0.03;
/* Of what a tet lacks to the goal, what its repair is to make up for where it does not get there.
 * The strained tets around do not care whether the worst has q 0.060 or 0.068, but they are
 * changed. */
static const double REPAIR_WORTH = 0.25;
/* Attempts of a pass (kiln_remesher_effort), and of it for each tet. */
enum { EFFORT = 30000, EFFORT_A_TET = 300 };
/* Of that for liquid: what cannot be repaired now, in sharp creases, flows into what can. */
static const double LIQUID_EFFORT = 0.15;
/* Of the quality asked for, below which what flows is mended in a band so many times the usual.
 * Liquid has no shape to keep. Solids that yield get a new mesh of all below 0.8: that is the time
 * for the widest. */
typedef struct mend {
    double part, wider;
} mend;
enum { MENDS = 2 };
static const mend of_liquid[MENDS] = {{0.5, 10.0}, {0.4, 30.0}},
                  of_dough[MENDS] = {{0.9, 3.0}, {0.8, 10.0}};
/* Edges of liquid, in the metric: no repair makes shorter ones, and those that are much shorter go,
 * down to this part of the quality asked for. */
static const double REPAIRED_SHORTEST = 0.2, SHORT = 0.2, SHORT_QUALITY = 0.1;
/* Of a pass that comes out with surfaces through each other, with those places shut. */
enum { TRIES = 4 };
/* Looks that find the goal missed, one after the other, before it is said. */
enum { MISSED_LONG = 20 };

/* Tets that only edges of bodies hold are let go below this part of the quality, before a new mesh
 * would be asked for. */
static const double HELD = 0.9;

static void plan(kiln_world *world)
{
    const kiln_scene_remesh *settings = &world->scene->remesh;
    if (settings->method == KILN_REMESH_NONE)
        return;
    world->remeshes = true;
    world->options.recover = RECOVER_STEPS * world->scene->pace.dt;
    if (settings->space == KILN_SPACE_WORLD)
        world->space = KILN_SPACE_WORLD;
    if (settings->contact > 0.0)
        world->options.watch.presses = true;
}

static kiln_status add_following(kiln_world *world, kiln_error *error)
{
    KILN_TRY(kiln_mesh_add_field(world->mesh, KILN_FIELD_START_BENT, KILN_ON_VERTEX, KILN_F64, 1,
                                 KILN_RULE_INTERPOLATE, error));
    KILN_TRY(kiln_mesh_add_field(world->mesh, KILN_FIELD_START_ROUND, KILN_ON_VERTEX, KILN_F64, 1,
                                 KILN_RULE_INTERPOLATE, error));
    KILN_TRY(kiln_ridge_curvatures(
        world->mesh, kiln_world_column(world, KILN_ON_VERTEX, KILN_FIELD_START_BENT), error));
    return kiln_surface_curvatures(
        world->mesh, kiln_world_column(world, KILN_ON_VERTEX, KILN_FIELD_START_ROUND), error);
}

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    if (world->scene->remesh.method == KILN_REMESH_NONE)
        return KILN_OK;
    kiln_local *l = kiln_module_make(world, sizeof *l, self, error);
    if (!l)
        return KILN_ERR_MEMORY;
    l->world = world;
    l->settings = &world->scene->remesh;
    l->state.locality = kiln_mesh_locality(world->mesh);
    l->state.start_tets = world->mesh->table[KILN_ON_TET].live;
    KILN_TRY(kiln_vain_add(world->mesh, KILN_FIELD_REPAIR_VAIN, error));
    l->state.least_shape = l->settings->quality;
    if (l->settings->method == KILN_REMESH_GLOBAL)
        return KILN_OK;
    if (l->settings->method == KILN_REMESH_ENERGY)
        KILN_TRY(kiln_remesh_note_shape(world, &l->state.least_shape, error));
    KILN_TRY(kiln_remesh_note_sizes(world, &l->state.start_size, error));
    KILN_TRY(kiln_tried_add(world->mesh, KILN_FIELD_TRIED, error));
    KILN_TRY(kiln_mesh_add_field(world->mesh, KILN_FIELD_LOOKED_AT, KILN_ON_VERTEX, KILN_F64, 3,
                                 KILN_RULE_INTERPOLATE, error));
    if (l->settings->follow || kiln_local_keeps_bends(l))
        KILN_TRY(add_following(world, error));
    return kiln_mesh_add_field(world->mesh, KILN_FIELD_SIZE_WAIT, KILN_ON_VERTEX, KILN_U32, 2,
                               KILN_RULE_NONE, error);
}

static void destroy(void *self)
{
    kiln_local *l = self;
    kiln_context *context = l->world->context;
    kiln_sizing_destroy(l->sizing);
    kiln_array_free(context, &l->gradients);
    kiln_array_free(context, &l->flowed);
    kiln_array_free(context, &l->way);
    kiln_array_free(context, &l->at_rest);
    kiln_array_free(context, &l->line);
    kiln_array_free(context, &l->seams.open);
    kiln_array_free(context, &l->seams.shift);
    kiln_array_free(context, &l->seams.at);
    kiln_array_free(context, &l->load);
    kiln_array_free(context, &l->pressed);
    kiln_array_free(context, &l->thin);
    kiln_array_free(context, &l->bent);
    kiln_array_free(context, &l->begin);
    for (int aim = 0; aim < KILN_TRIED_AIMS; aim++)
        kiln_array_free(context, &l->tried[aim]);
    kiln_array_free(context, &l->strains);
    kiln_changes_free(context, &l->changes);
    kiln_array_free(context, &l->kept);
}

static kiln_improve_options improve_options(const kiln_local *l)
{
    kiln_improve_options improve = kiln_improve_default_options();
    improve.asked = l->state.least_shape;
    improve.goal = (l->settings->follow ? FOLLOW_AHEAD : 1.0) * improve.asked;
    improve.spread = 300;
    improve.effort = EFFORT + EFFORT_A_TET * (uint64_t)l->world->mesh->table[KILN_ON_TET].live;
    if (kiln_scene_has_liquid(l->world->scene))
        improve.effort = (uint64_t)(LIQUID_EFFORT * (double)improve.effort);
    /* In necks that are to break and creases of what became one it left tets of q 0.06 to 0.08
     * (0.11 without): there nothing rests. */
    improve.inside_first = kiln_scene_has_liquid(l->world->scene) && !(l->settings->pinch > 0.0) &&
                           !(l->settings->merge > 0.0);
    improve.way = l->way.count > 0 ? l->way.data : NULL;
    improve.ways = (uint32_t)l->way.count;
    improve.vain = KILN_FIELD_REPAIR_VAIN;
    improve.worth = REPAIR_WORTH;
    improve.tried = KILN_FIELD_TRIED;
    return improve;
}

/* The surface may from now on go so many times the usual band; `wide` is what it might before. */
static void widen(const kiln_remesher *remesher, double times, double *wide)
{
    kiln_surface_widen(remesher->surface, fmax(times / *wide, 1.0));
    *wide = fmax(times, *wide);
}

/* Liquid: what draws back from where it broke, and waves that close, leave cells much smaller than
 * what is asked for, on a surface that bends too much for them to go within the usual band. Steps
 * would be as short as they ask for, and what swings in them is smaller still. Not far where there
 * is contact: wide ways of a surface bring it through others, and what they were to mend is left as
 * it was with all the rest of the pass. */
static kiln_status contract_short(const kiln_local *l, kiln_remesher *remesher,
                                  const kiln_keep_out *guard, double *wide,
                                  kiln_improve_report *report, kiln_error *error)
{
    kiln_size_options size = kiln_local_size_options(l);
    kiln_size_report sizes;
    size.shortest = SHORT;
    size.longest = size.contract_ceiling = INFINITY;
    size.worst *= SHORT_QUALITY;
    size.flowed = INFINITY; /* as liquid has */
    size.wait = size.tried = NULL;
    size.way = NULL;
    if (!guard->mesh)
        widen(remesher, of_liquid[0].wider, wide);
    KILN_TRY(kiln_size_control(remesher, &size, &sizes, error));
    if (sizes.contractions > 0)
        report->worst_after = 0.0; /* not known: it is looked at again */
    return KILN_OK;
}

/* What flows: where bodies have just become one, a wave closes or a body hits another, the surface
 * moves by more than an edge in a few steps, and tets below it are crushed because nothing may
 * leave the band of a shape that is gone a moment later. Those are mended in a wider one. */
static kiln_status mend_crushed(const kiln_local *l, kiln_remesher *remesher,
                                kiln_improve_options improve, double *wide,
                                kiln_improve_report *report, kiln_error *error)
{
    bool liquid = kiln_scene_has_liquid(l->world->scene);
    const mend *mends = liquid ? of_liquid : of_dough;
    improve.vain = improve.tried = NULL; /* that was in the usual band */
    if (!liquid)
        improve.worth = 0.0; /* what is left bad costs a new mesh */
    for (int i = 0; i < MENDS && (liquid || l->settings->method == KILN_REMESH_GLOBAL); i++) {
        kiln_improve_report mended;
        improve.asked = improve.goal = mends[i].part * l->state.least_shape;
        if (!(report->worst_after < improve.goal))
            break;
        widen(remesher, mends[i].wider, wide);
        KILN_TRY(kiln_dynamic_improve(remesher, &improve, &mended, error));
        report->changed += mended.changed;
        report->worst_after = mended.worst_after;
    }
    return KILN_OK;
}

/* The surface is to look like what it is: diagonals that lie across its valleys are flipped. */
static kiln_status unfold(const kiln_local *l, kiln_remesher *remesher, kiln_error *error)
{
    kiln_unfold_options options = kiln_unfold_default_options();
    options.least = l->settings->quality;
    return kiln_unfold(remesher, &options, NULL, error);
}

/* Sizes and quality. Not clear: with contact surfaces would be in each other, and the guard
 * shuts those places. */
static kiln_status change_mesh(kiln_local *l, kiln_remesher *remesher, bool sized,
                               kiln_keep_out *guard, bool *clear, kiln_error *error)
{
    const kiln_world *world = l->world;
    kiln_size_options size = kiln_local_size_options(l);
    kiln_improve_options improve = improve_options(l);
    kiln_improve_report report;
    kiln_size_report sizes = {0};
    double wide = l->settings->band;
    uint32_t since = world->mesh->clock;
    kiln_local_slide_line(l, remesher);
    kiln_local_fair_seams(l, remesher);
    if (sized) {
        KILN_TRY(kiln_local_look_at_growth(l, error));
        KILN_TRY(kiln_size_control(remesher, &size, &sizes, error));
        KILN_TRY(kiln_tried_list(world->mesh, since, &l->tried[KILN_TRIED_SIZE], error));
        if (l->settings->follow)
            KILN_TRY(unfold(l, remesher, error));
    }
    uint32_t shaped = world->mesh->clock;
    KILN_TRY(kiln_dynamic_improve(remesher, &improve, &report, error));
    if (sized && kiln_scene_has_liquid(world->scene))
        KILN_TRY(contract_short(l, remesher, guard, &wide, &report, error));
    KILN_TRY(mend_crushed(l, remesher, improve, &wide, &report, error));
    KILN_TRY(kiln_tried_list(world->mesh, shaped, &l->tried[KILN_TRIED_REPAIR], error));
    KILN_TRY(kiln_may_go_on(world->context, error));
    KILN_TRY(kiln_solid_is_clear(world->solid, since, l->within, clear, guard, error));
    l->work.changed = *clear ? report.changed : 0;
    l->state.nearing = *clear && l->is_pressed && sizes.splits > 0;
    l->work.worst = *clear ? report.worst_after : report.worst_before;
    l->state.missed_tets = *clear ? report.short_after : report.short_before;
    return KILN_OK;
}

/* What the old mesh knew, over to the new one. */
static kiln_status carry_over(kiln_local *l, kiln_error *error)
{
    kiln_world *world = l->world;
    kiln_transfer_options transfer = {.mass = KILN_FIELD_MASS, .even = KILN_FIELD_EVEN};
    KILN_TRY(kiln_transfer(world->mesh, &transfer, NULL, error));
    KILN_TRY(kiln_local_settle_seams(l, error));
    KILN_TRY(kiln_world_carry(world, NULL, error));
    return kiln_changes_note_pass(&l->changes, world->mesh, error);
}

static kiln_status run_pass(kiln_local *l, kiln_remesher *remesher, bool sized,
                            kiln_keep_out *guard, bool *clear, kiln_error *error)
{
    double started = kiln_wall_seconds();
    KILN_TRY(change_mesh(l, remesher, sized, guard, clear, error));
    double changed = kiln_wall_seconds();
    if (l->work.changed > 0)
        KILN_TRY(carry_over(l, error));
    l->work.remesh_seconds += changed - started;
    l->work.transfer_seconds += kiln_wall_seconds() - changed;
    return KILN_OK;
}

/* Once all fields are carried over: new vertices have been tried as often as those round them. */
static void note_tries(kiln_local *l, bool sized)
{
    kiln_mesh *mesh = l->world->mesh;
    kiln_tried *tried = kiln_tried_of(mesh, KILN_FIELD_TRIED);
    const kiln_size_options size = kiln_local_size_options(l);
    if (tried && sized)
        kiln_tried_note(mesh, tried, KILN_TRIED_SIZE, &l->tried[KILN_TRIED_SIZE],
                        kiln_size_waits(mesh, &size));
    if (tried)
        kiln_tried_note(mesh, tried, KILN_TRIED_REPAIR, &l->tried[KILN_TRIED_REPAIR], NULL);
}

static const kiln_memory_column memory[] = {{KILN_ON_TET, KILN_FIELD_REPAIR_VAIN},
                                            {KILN_ON_VERTEX, KILN_FIELD_SIZE_WAIT}};
enum { MEMORIES = sizeof memory / sizeof memory[0] };

/* One pass, undone where it fails or is not clear. */
static kiln_status make_pass(kiln_local *l, const kiln_remesh_options *options, bool sized,
                             kiln_keep_out *guard, bool *clear, kiln_error *error)
{
    kiln_remesher remesher;
    double started = kiln_wall_seconds();
    *clear = true;
    l->changes.weight = KILN_FIELD_MASS;
    kiln_changes_start(&l->changes, l->world->mesh);
    KILN_TRY(kiln_remesher_begin(l->world->mesh, options, &remesher, error));
    l->work.remesh_seconds += kiln_wall_seconds() - started;
    kiln_status status = run_pass(l, &remesher, sized, guard, clear, error);
    if (status == KILN_OK && *clear)
        note_tries(l, sized);
    if (status == KILN_OK && *clear)
        kiln_remesher_end(&remesher);
    else
        kiln_remesher_abandon(&remesher);
    if (!*clear)
        kiln_remesh_restore_memory(l->world->mesh, memory, MEMORIES, &l->kept);
    return status;
}

/* Where two repairs at the same place, or a body and itself, get into each other's way, surfaces
 * stay as they are in the next try: all the others need not wait for them. */
static kiln_status make_clear_pass(kiln_local *l, const kiln_remesh_options *options, bool sized,
                                   kiln_keep_out *guard, bool *clear, kiln_error *error)
{
    KILN_TRY(kiln_remesh_keep_memory(l->world->mesh, memory, MEMORIES, &l->kept, error));
    for (int tries = 0; tries < TRIES; tries++) {
        size_t known = guard->shut.count;
        KILN_TRY(make_pass(l, options, sized, guard, clear, error));
        if (*clear || guard->shut.count == known)
            break;
    }
    return KILN_OK;
}

/* Bad tets cannot wait, and their repair moves less than sizes do. */
static kiln_status make_passes(kiln_local *l, const kiln_remesh_options *options, bool *clear,
                               kiln_error *error)
{
    kiln_keep_out guard;
    kiln_remesh_options guarded = *options;
    bool sized = kiln_local_is_sized(l);
    double started = kiln_wall_seconds();
    KILN_TRY(kiln_solid_keep_out(l->world->solid, l->within, &guard, error));
    l->work.remesh_seconds += kiln_wall_seconds() - started;
    guarded.guard = guard.mesh ? &guard.guard : NULL;
    if (kiln_scene_has_liquid(l->world->scene))
        guarded.edge_limit[0] = REPAIRED_SHORTEST;
    kiln_status status = make_clear_pass(l, &guarded, sized, &guard, clear, error);
    if (status == KILN_OK && !*clear && (sized || l->fairs)) {
        l->fairs = false;
        status = make_clear_pass(l, &guarded, false, &guard, clear, error);
    }
    kiln_keep_out_end(&guard);
    return status;
}

/* A whole-domain remesh keeps rest volumes to the last bit: bodies may have merged. */
static kiln_status settle_volumes(kiln_local *l, bool ordered, kiln_error *error)
{
    kiln_mesh *mesh = l->world->mesh;
    double gained = 0.0;
    if (l->settings->method == KILN_REMESH_GLOBAL || !kiln_offsets_of(mesh).shape)
        return KILN_OK;
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_TET, KILN_FIELD_REST_VOLUME, KILN_SAVE_COPY, error));
    if (ordered)
        kiln_offsets_settle(mesh, &gained);
    else
        kiln_offsets_settle_changed(mesh, &l->changes, &gained);
    l->state.volume_gained += gained;
    return KILN_OK;
}

static kiln_status put_in_order(kiln_local *l, kiln_error *error)
{
    kiln_world *world = l->world;
    kiln_renumbering now = {0};
    KILN_TRY(kiln_mesh_reorder(world->mesh, KILN_SPACE_MATERIAL, &now, error));
    l->state.locality = kiln_mesh_locality(world->mesh);
    kiln_status status = settle_volumes(l, true, error);
    const kiln_changes all = {.all = true, .renumbered = &now};
    if (status == KILN_OK)
        status = kiln_world_changed(world, &all, error);
    kiln_renumbering_free(world->context, &now);
    return status;
}

static bool has_decayed(kiln_local *l)
{
    const kiln_mesh *mesh = l->world->mesh;
    l->state.displaced += (double)l->work.changed / mesh->table[KILN_ON_TET].live;
    if (l->state.displaced < DISPLACED)
        return false;
    l->state.displaced = 0.0;
    return kiln_mesh_locality(mesh) > DECAYED * l->state.locality;
}

/* Rows close ranks; where they have lost their order in space, which is seldom, they all get new
 * numbers. */
static kiln_status finish(kiln_local *l, kiln_error *error)
{
    kiln_world *world = l->world;
    if (has_decayed(l))
        return put_in_order(l, error);
    KILN_TRY(kiln_changes_close(&l->changes, world->mesh, error));
    KILN_TRY(settle_volumes(l, false, error));
    return kiln_world_changed(world, &l->changes, error);
}

/* Sizes that follow the matter and nothing else need no look while it keeps its shape. */
static bool rests(const kiln_local *l)
{
    const kiln_mesh *mesh = l->world->mesh;
    if (!kiln_local_follows_alone(l) || l->state.last_worst == 0.0 || l->state.nearing)
        return false;
    const kiln_field *then = kiln_mesh_field(mesh, KILN_ON_VERTEX, KILN_FIELD_LOOKED_AT);
    return !kiln_reshaped(mesh, (const kiln_vec3 *)(const void *)then->data, FOLLOW_RESHAPED);
}

/* After a look, and what came of it. */
static kiln_status note_look(kiln_local *l, kiln_error *error)
{
    kiln_mesh *mesh = l->world->mesh;
    l->state.last_worst = l->work.worst;
    if (l->settings->method != KILN_REMESH_LOCAL)
        return KILN_OK;
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_VERTEX, KILN_FIELD_LOOKED_AT, KILN_SAVE_ALL, error));
    kiln_field *then = kiln_mesh_field(mesh, KILN_ON_VERTEX, KILN_FIELD_LOOKED_AT);
    memcpy(then->data, mesh->x, mesh->table[KILN_ON_VERTEX].used * sizeof *mesh->x);
    return KILN_OK;
}

/* Whether others than at the last look. */
static bool wishes_change(kiln_local *l)
{
    const kiln_scene_remesh *said = l->settings;
    const double now[KILN_LOCAL_WISHES] = {said->quality,  said->size,      said->deformation,
                                           said->strain,   said->curvature, said->size_min,
                                           said->size_max, said->gradation};
    bool other = memcmp(now, l->state.wishes, sizeof now) != 0;
    memcpy(l->state.wishes, now, sizeof now);
    return other;
}

/* Where matter has moved since the last look, what was tried there counts less, and nowhere where
 * another mesh is wanted than then. */
static kiln_status forget_tries(kiln_local *l, kiln_error *error)
{
    kiln_mesh *mesh = l->world->mesh;
    kiln_tried *tried = kiln_tried_of(mesh, KILN_FIELD_TRIED);
    bool other = wishes_change(l);
    if (!tried)
        return KILN_OK;
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_VERTEX, KILN_FIELD_TRIED, KILN_SAVE_COPY, error));
    if (l->state.last_worst == 0.0) /* nobody has looked */
        return KILN_OK;
    for (uint32_t v = 0; other && v < mesh->table[KILN_ON_VERTEX].used; v++)
        memset(tried[v], 0, sizeof tried[v]);
    const kiln_field *then = kiln_mesh_field(mesh, KILN_ON_VERTEX, KILN_FIELD_LOOKED_AT);
    return kiln_tried_forget(mesh, tried, (const kiln_vec3 *)(const void *)then->data, &l->strains,
                             error);
}

/* Matter that is drawn out under a tip by a factor of 20 can have no good shape in both spaces:
 * repairs in vain were most of the time, and splits that the sizes asked for were refused. There
 * shapes are those of the metric, which is that of the world. Matter that flows keeps what it is
 * drawn out to, and both its shapes. */
static bool counts_both_shapes(const kiln_local *l)
{
    return kiln_local_follows_alone(l) && l->world->space == KILN_SPACE_MATERIAL &&
           (!l->is_pressed || l->world->flows);
}

static kiln_status is_needed(kiln_local *l, kiln_remesh_options *options, bool *needed,
                             kiln_error *error)
{
    kiln_mesh *mesh = l->world->mesh;
    kiln_improve_options improve = improve_options(l);
    *needed = false;
    if (kiln_local_is_sized(l) && l->world->state.step % (uint64_t)l->settings->every != 0)
        return KILN_OK;
    KILN_TRY(forget_tries(l, error));
    if (!kiln_local_is_sized(l))
        return kiln_remesh_needed(mesh, options, NULL, &improve, needed, &l->work.worst, error);
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_VERTEX, KILN_FIELD_SIZE_WAIT, KILN_SAVE_COPY, error));
    KILN_TRY(kiln_local_make_sizing(l, error));
    options->sizing = l->sizing;
    options->both_shapes = counts_both_shapes(l);
    const kiln_size_options size = kiln_local_size_options(l); /* as what presses allows */
    return kiln_remesh_needed(mesh, options, &size, &improve, needed, &l->work.worst, error);
}

static kiln_remesh_options pass_options(const kiln_local *l)
{
    kiln_remesh_options options = kiln_remesh_default_options();
    options.space = l->world->space;
    options.band = l->settings->band;
    options.bodies_coincide = l->world->space == KILN_SPACE_MATERIAL;
    /* Remeshing by energy knows what squeezed tets are worth: repairs would undo what it did. */
    options.volume_elsewhere =
        l->world->space == KILN_SPACE_MATERIAL && l->settings->method != KILN_REMESH_ENERGY;
    options.bend_elsewhere = l->led;
    options.both_shapes = counts_both_shapes(l);
    options.edge_limit[0] = 0.0;
    options.edge_limit[1] = INFINITY;
    return options;
}

static void warn_of_crossing(const kiln_local *l)
{
    if (!l->state.crossed)
        kiln_log(l->world->context, KILN_LOG_WARNING,
                 "at %.6g s remeshing would have made surfaces cross, with the places shut where "
                 "they did as well: it is undone, and tried again in later steps",
                 l->world->state.clock.time);
}

/* The strain that the pass goes by is that of its begin: its tets change. */
static kiln_status note_flow(kiln_local *l, kiln_remesh_options *options, kiln_error *error)
{
    const kiln_mesh *mesh = l->world->mesh;
    const double *flowed = kiln_world_column(l->world, KILN_ON_TET, KILN_FIELD_PLASTIC_STRAIN);
    bool liquid = kiln_scene_has_liquid(l->world->scene);
    size_t tets = mesh->table[KILN_ON_TET].used;
    if (!l->settings->follow || !(flowed || liquid))
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(l->world->context, &l->flowed, tets, error));
    const uint32_t *material = kiln_world_material_of(mesh);
    for (uint32_t t = 0; t < tets; t++) /* liquid has flowed by more than any solid */
        l->flowed.data[t] = kiln_tet_live(mesh, t) && l->world->materials[material[t]].liquid
                                ? INFINITY
                            : flowed ? flowed[t]
                                     : 0.0;
    options->flowed = l->flowed.data;
    return KILN_OK;
}

/* With whole-domain remeshing edges of bodies last no longer than their tets: a new mesh of all
 * would cost as much as many steps. */
static kiln_status release_held(const kiln_local *l, kiln_error *error)
{
    size_t released;
    return l->settings->method == KILN_REMESH_GLOBAL
               ? kiln_release_held_tets(l->world, HELD * l->settings->quality, &released, error)
               : KILN_OK;
}

static kiln_status remesh(kiln_local *l, kiln_remesh_options *options, kiln_error *error)
{
    bool clear;
    l->work.changed = 0;
    KILN_TRY(release_held(l, error));
    KILN_TRY(note_flow(l, options, error));
    KILN_TRY(kiln_solid_note_past(l->world->solid, error));
    KILN_TRY(kiln_rewind_save(l->world->mesh, KILN_ON_TET, KILN_FIELD_REPAIR_VAIN, KILN_SAVE_COPY,
                              error));
    KILN_TRY(make_passes(l, options, &clear, error));
    if (!clear)
        warn_of_crossing(l);
    l->state.crossed = !clear;
    if (l->work.changed == 0)
        return KILN_OK;
    double started = kiln_wall_seconds();
    KILN_TRY(finish(l, error));
    kiln_solid_restore_past(l->world->solid);
    l->work.transfer_seconds += kiln_wall_seconds() - started;
    return KILN_OK;
}

kiln_status kiln_local_remesh_within(kiln_local *l, kiln_error *error)
{
    kiln_mesh *mesh = l->world->mesh;
    kiln_remesh_options options = pass_options(l);
    options.sizing = l->sizing;
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_VERTEX, KILN_FIELD_TRIED, KILN_SAVE_COPY, error));
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_VERTEX, KILN_FIELD_SIZE_WAIT, KILN_SAVE_COPY, error));
    l->within = true;
    l->way.count = 0;
    kiln_status status = remesh(l, &options, error);
    l->within = false;
    return status;
}

/* A goal that is missed for long is said once. */
static void watch_goal(kiln_local *l)
{
    kiln_local_state *s = &l->state;
    if (l->work.worst == 0.0) /* nobody looked */
        return;
    if (l->work.worst >= s->least_shape) {
        s->missed = 0;
        return;
    }
    s->missed_worst = s->missed_ever++ ? fmin(s->missed_worst, l->work.worst) : l->work.worst;
    if (s->missed++ == 0)
        s->missed_since = l->world->state.clock.time;
    if (s->missed < MISSED_LONG || s->missed_said)
        return;
    s->missed_said = 1;
    kiln_log(l->world->context, KILN_LOG_WARNING,
             "since %.6g s tets are worse than remesh.quality = %g asks for, at least %.3g, and "
             "repairs do not help: now %llu of %u are, the worst has %.3g. They are tried again as "
             "matter moves on; finer sizes or a lower quality may be within reach",
             s->missed_since, l->settings->quality, s->least_shape,
             (unsigned long long)s->missed_tets, l->world->mesh->table[KILN_ON_TET].live,
             l->work.worst);
}

/* Whether an end of some edge goes by more than its length. */
static bool any_goes_far(const kiln_local *l)
{
    const kiln_mesh *mesh = l->world->mesh;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 6 && kiln_tet_live(mesh, t); k++) {
            uint32_t a = mesh->tet[t].v[kiln_edge_ends[k][0]];
            uint32_t b = mesh->tet[t].v[kiln_edge_ends[k][1]];
            if (kiln_v3_norm2(kiln_v3_sub(l->way.data[b], l->way.data[a])) >
                kiln_v3_norm2(kiln_v3_sub(mesh->x[b], mesh->x[a])))
                return true;
        }
    return false;
}

/* Where the vertices of liquid would be if all went on as it does. In necks that are to break it
 * does not: with waiting q fell to 0.092 there (0.11 without). */
static kiln_status note_ways(kiln_local *l, kiln_error *error)
{
    const kiln_world *world = l->world;
    uint32_t vertices = world->mesh->table[KILN_ON_VERTEX].used;
    const double *v = kiln_world_column(world, KILN_ON_VERTEX, "v");
    double ahead = AHEAD_STEPS * world->scene->pace.dt;
    l->way.count = 0;
    if (!l->settings->follow || !kiln_scene_has_liquid(world->scene) || !v ||
        l->settings->pinch > 0.0)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(world->context, &l->way, vertices + 1, error));
    l->way.count = vertices;
    for (uint32_t i = 0; i < vertices; i++)
        l->way.data[i] = kiln_v3(ahead * v[3 * i], ahead * v[3 * i + 1], ahead * v[3 * i + 2]);
    if (any_goes_far(l))
        l->way.count = 0;
    return KILN_OK;
}

static kiln_status look_and_remesh(kiln_local *l, kiln_error *error)
{
    kiln_remesh_options options = pass_options(l);
    double started = kiln_wall_seconds();
    KILN_TRY(kiln_local_find_line(l, error));
    KILN_TRY(kiln_local_find_seams(l, error));
    KILN_TRY(note_ways(l, error));
    bool needed = false, resting = !l->slides && !l->fairs && rests(l);
    if (!resting)
        KILN_TRY(is_needed(l, &options, &needed, error));
    needed |= l->slides || l->fairs;
    l->work.size_seconds += kiln_wall_seconds() - started;
    if (resting) {
        l->work.worst = l->state.last_worst;
        return KILN_OK;
    }
    l->state.nearing = 0;
    if (needed)
        KILN_TRY(remesh(l, &options, error));
    l->fairs = false;
    watch_goal(l);
    return l->work.worst == 0.0 ? KILN_OK : note_look(l, error);
}

/* Forces bring matter to its place, wherever its vertices are put; what a field leads stays off by
 * what they were put off. */
static bool is_led(const kiln_world *world, const kiln_moment *moment)
{
    const kiln_scene *scene = world->scene;
    return scene->has_velocity_field &&
           kiln_world_acts(world, 0.0, scene->velocity_until, moment->begin, moment->end);
}

static kiln_status before_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    (void)moment, (void)error;
    kiln_local *l = self;
    l->work = (kiln_remesh_work){0};
    if (kiln_local_is_sized(l))
        kiln_solid_set_least_volume(l->world->solid, kiln_local_resolved(l));
    return KILN_OK;
}

static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    kiln_local *l = self;
    l->led = is_led(l->world, moment);
    return look_and_remesh(l, error);
}

static kiln_status start(void *self, kiln_error *error)
{
    (void)error;
    kiln_local_follow_within(self);
    return KILN_OK;
}

/* The mesh is the one of before. */
static void step_back(void *self)
{
    kiln_local *l = self;
    l->world->stale |= l->changed;
}

static void *state(void *self, size_t *size)
{
    kiln_local *l = self;
    *size = sizeof l->state;
    return &l->state;
}

/* What the mesher was asked for is known where it looked; elsewhere, when it goes by shape alone,
 * that is the quality in its space. */
static void measure(const void *self, kiln_stats *stats)
{
    const kiln_local *l = self;
    if (l->world->state.step == 0)
        return;
    if (kiln_local_is_sized(l) && l->work.worst == 0.0)
        stats->q_min = NAN;
    kiln_remesh_measure(&l->work, stats);
}

const kiln_module kiln_module_remesh_local = {.name = "remesh_local",
                                              .plan = plan,
                                              .create = create,
                                              .start = start,
                                              .destroy = destroy,
                                              .before_step = before_step,
                                              .after_step = after_step,
                                              .step_back = step_back,
                                              .state = state,
                                              .measure = measure};

double kiln_world_volume_gained(const kiln_world *world)
{
    const kiln_local *l = kiln_world_module(world, &kiln_module_remesh_local);
    return l ? l->state.volume_gained : 0.0;
}

kiln_goal_missed kiln_world_goal_missed(const kiln_world *world)
{
    const kiln_local *l = kiln_world_module(world, &kiln_module_remesh_local);
    if (!l || !l->state.missed_said)
        return (kiln_goal_missed){0};
    return (kiln_goal_missed){l->state.missed_ever, l->state.missed_worst, l->state.least_shape};
}
