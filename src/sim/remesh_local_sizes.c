/* The sizes that local remeshing goes by: those of the scene, those that follow the matter, and
 * those of what presses. */
#include "fem/offset.h"
#include "fem/plasticity.h"
#include "sim/pressed.h"
#include "sim/remesh_local_impl.h"
#include "topology/neck.h"

#include <math.h>
#include <string.h>

/* Where sizes follow the matter by themselves: an edge is out of place when it is that much longer
 * or shorter than what is asked for, so that a mesh of whatever shapes is let be until matter
 * moves; how much finer with plastic strain, at most; and without other word this many more
 * tets for each of the start, but no more than so many: fine meshes need it less. Finer early: a
 * vertex that comes while the surface is still flat goes where the matter goes. Sizes are fitted to
 * a part of the tets that may come: the rest is for edges that become long later. A mesh that has
 * spent all of them stretches, and its ridges become rows of spikes. */
static const double FOLLOW_LONGEST = 2.0, FOLLOW_SHORTEST = 0.4, FOLLOW_RATE = 6.0,
                    FOLLOW_FINEST = 2.0, FOLLOW_MORE = 8.5, FOLLOW_AT_MOST = 7000.0,
                    FOLLOW_SPENT = 0.8;
/* Radians that an edge may turn by, as long as it may be, along a ridge and across a bend of the
 * surface; how much finer than at the start, at most; and how much longer along a bend. */
static const double FOLLOW_TURN = 0.2, FOLLOW_RIDGE = 3.0, FOLLOW_BEND_TURN = 0.3,
                    FOLLOW_BEND = 6.0, FOLLOW_ALONG = 1.7;
/* An arc that turns by an angle is an eighth of that off its chord, of the chord's length. A
 * surface that has flowed is kept where it has by more than this. */
static const double CHORD_TURN = 8.0, CHORD_FLOWED = 0.02;
/* Under what presses (sim/pressed.h): the ratio of sizes one edge apart, which the force hangs on,
 * since its field falls off slowly; and the length in the metric that edges are given at first
 * which are much too long. */
static const double FOLLOW_WIDEN = 1.3, FOLLOW_LEAP = 4.0;
/* And the finest size there, of the start's mean edge, where the scene is silent. */
static const double FOLLOW_PRESSED = 0.05;
/* Tets that may come while something presses, over those that may by themselves: what it needs
 * does not come out of what the matter needs, which has most of them when it is deep in. */
static const double FOLLOW_BOTH = 2.0;
/* Sizes grow inwards by more than a scene asks for (remesh.gradation is for those it gives): what
 * the surface needs is not to fill the body. */
static const double FOLLOW_GROWTH = 2.0;
/* Where liquid breaks that becomes thin (remesh.pinch): edges no longer than it is thick, but than
 * this part of what breaks, from this multiple of that on. */
static const double FOLLOW_THIN = 0.5, FOLLOW_THINNING = 1.5;
/* Of the shortest edges that may be asked for: what liquid has of shorter ones was not asked for.
 */
#define RESOLVED (2.0 / 3.0)
/* Tets that sizes may ask for, in all and times those there are, before it is said. */
#define MANY_TETS  20000.0
#define MANY_TIMES 20.0
/* And what a step takes for each, at least. */
#define BYTES_A_TET 300.0

bool kiln_local_is_sized(const kiln_local *l)
{
    const kiln_scene_remesh *said = l->settings;
    return said->method == KILN_REMESH_LOCAL &&
           (said->follow || said->contact > 0.0 || kiln_remesh_has_wishes(said));
}

/* Where the scene is silent: a tenth of the start's edges, four times them. */
static kiln_metric_bounds bounds_of(const kiln_local *l)
{
    const kiln_scene_remesh *remesh = l->settings;
    double start = l->state.start_size;
    return (kiln_metric_bounds){.h_min = remesh->size_min > 0.0 ? remesh->size_min : 0.1 * start,
                                .h_max = remesh->size_max > 0.0 ? remesh->size_max : 4.0 * start,
                                .ratio = remesh->isotropic ? 1.0 : 0.0};
}

double kiln_local_resolved(const kiln_local *l)
{
    double edge = RESOLVED * bounds_of(l).h_min;
    return edge * edge * edge / (6.0 * sqrt(2.0)); /* of an even tet */
}

/* Deformation gradients with the plastic part taken out, for the gradient of the strain. */
static kiln_status add_strain(kiln_local *l, kiln_sizing *sizing, kiln_error *error)
{
    const kiln_world *world = l->world;
    const kiln_scene_remesh *remesh = l->settings;
    size_t tets = world->mesh->table[KILN_ON_TET].used;
    kiln_strain_sizing strain = {
        .accuracy = remesh->strain, .h_max = bounds_of(l).h_max, .printed = remesh->strain_printed};
    KILN_TRY(kiln_array_reserve(world->context, &l->gradients, 9 * tets, error));
    kiln_elements_output(kiln_solid_elements(world->solid), &world->mesh->x[0].x, KILN_OUTPUT_F,
                         l->gradients.data);
    strain.gradient = l->gradients.data;
    return kiln_sizing_add_strain(sizing, &strain, error);
}

/* The number of tets to keep to; 0: none. */
static size_t most_tets(const kiln_local *l)
{
    if (l->settings->most_tets > 0)
        return (size_t)l->settings->most_tets;
    double start = l->state.start_tets;
    double more = fmin(FOLLOW_MORE * start, FOLLOW_AT_MOST) * (l->is_pressed ? FOLLOW_BOTH : 1.0);
    return l->settings->follow ? (size_t)(start + more) : 0;
}

/* Of these, the number that sizes are fitted to. */
static double fitted_tets(const kiln_local *l)
{
    double start = l->state.start_tets, most = (double)most_tets(l);
    return most > start ? start + FOLLOW_SPENT * (most - start) : most;
}

bool kiln_local_follows_alone(const kiln_local *l)
{
    return l->settings->follow && !kiln_remesh_has_wishes(l->settings);
}

bool kiln_local_keeps_bends(const kiln_local *l)
{
    const kiln_scene_remesh *said = l->settings;
    return said->method == KILN_REMESH_LOCAL && !said->follow && kiln_remesh_has_wishes(said) &&
           said->chord > 0.0 && l->world->flows;
}

kiln_size_options kiln_local_size_options(const kiln_local *l)
{
    kiln_size_options size = kiln_size_default_options();
    size.worst = l->settings->quality; /* coarser meshes are not better */
    size.wait = KILN_FIELD_SIZE_WAIT;
    size.tried = KILN_FIELD_TRIED;
    size.way = l->way.count > 0 ? l->way.data : NULL;
    size.ways = (uint32_t)l->way.count;
    size.most_tets = most_tets(l);
    if (kiln_local_follows_alone(l)) {
        size.longest = FOLLOW_LONGEST;
        size.shortest = FOLLOW_SHORTEST;
    }
    return size;
}

static const double *column_of(const kiln_mesh *mesh, kiln_where on, const char *name)
{
    const kiln_field *field = kiln_mesh_field(mesh, on, name);
    return field ? (const double *)(const void *)field->data : NULL;
}

static double finest_pressed(const kiln_local *l)
{
    const double said = l->settings->size_min;
    return said > 0.0 ? said : FOLLOW_PRESSED * l->state.start_size;
}

/* How much longer edges may be than what is asked for, over what size control has for itself. */
static double longer(const kiln_local *l)
{
    return kiln_local_size_options(l).longest / kiln_size_default_options().longest;
}

kiln_status kiln_local_find_pressed(kiln_local *l, kiln_error *error)
{
    const kiln_world *world = l->world;
    size_t rows = world->mesh->table[KILN_ON_VERTEX].used;
    l->is_pressed = false;
    if (!(l->settings->contact > 0.0))
        return KILN_OK;
    const kiln_pressed_rules rules = {
        .start = column_of(world->mesh, KILN_ON_VERTEX, KILN_FIELD_START_SIZE),
        .part = l->settings->contact / (l->settings->follow ? longer(l) : 1.0),
        .finest = finest_pressed(l),
        .ratio = FOLLOW_ALONG,
        .leap = FOLLOW_LEAP};
    KILN_TRY(kiln_array_reserve(world->context, &l->load, rows, error));
    KILN_TRY(kiln_array_reserve(world->context, &l->pressed, rows, error));
    kiln_pressed_metrics(world, &rules, l->load.data, l->pressed.data, &l->is_pressed);
    return KILN_OK;
}

static kiln_status add_pressed(kiln_local *l, kiln_sizing *sizing, kiln_error *error)
{
    KILN_TRY(kiln_local_find_pressed(l, error));
    return l->is_pressed
               ? kiln_sizing_add_world_metrics(sizing, l->pressed.data, FOLLOW_WIDEN, error)
               : KILN_OK;
}

/* Where there is liquid the mesh is that of the world. What is elastic returns to its rest shape,
 * and that is where its tets are to be good: by their shape in the world they would be meshed anew
 * whenever they are strained, and lose of their strain by it. */
static kiln_status find_at_rest(kiln_local *l, kiln_error *error)
{
    const kiln_world *world = l->world;
    const kiln_mesh *mesh = world->mesh;
    size_t tets = mesh->table[KILN_ON_TET].used;
    l->at_rest.count = 0;
    if (!kiln_scene_has_liquid(world->scene) || !l->settings->follow)
        return KILN_OK;
    const uint32_t *material = kiln_world_material_of(mesh);
    KILN_TRY(kiln_array_reserve(world->context, &l->at_rest, tets, error));
    bool any = false;
    for (uint32_t t = 0; t < tets; t++) {
        const kiln_material *own = &world->materials[material[t]];
        l->at_rest.data[t] = kiln_tet_live(mesh, t) && !own->liquid && !own->plastic.flows;
        any |= l->at_rest.data[t];
    }
    l->at_rest.count = any ? tets : 0;
    return KILN_OK;
}

static kiln_status add_thin(kiln_local *l, kiln_sizing *sizing, kiln_error *error)
{
    const kiln_world *world = l->world;
    const kiln_mesh *mesh = world->mesh;
    const uint32_t *material = kiln_world_material_of(mesh);
    double widest = l->settings->pinch * l->state.start_size;
    bool any = false;
    if (!(l->settings->pinch > 0.0) || !kiln_scene_has_liquid(world->scene))
        return KILN_OK;
    size_t rows = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(world->context, &l->thin, rows, error));
    memset(l->thin.data, 0, rows * sizeof *l->thin.data);
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t tet, at = mesh->face[f].at;
        if (!kiln_face_live(mesh, f) || !world->materials[material[at / 4]].liquid)
            continue;
        double depth = kiln_neck_depth(mesh, f, FOLLOW_THINNING * widest, &tet);
        if (!(depth < FOLLOW_THINNING * widest))
            continue;
        double h = fmax(depth, FOLLOW_THIN * widest) / longer(l), m = 1.0 / (h * h);
        for (int k = 0; k < 3; k++) {
            kiln_sym3 *own = &l->thin.data[mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]];
            *own = kiln_sym3_scale(kiln_sym3_identity(), fmax(m, own->xx));
        }
        any = true;
    }
    return any ? kiln_sizing_add_world_metrics(sizing, l->thin.data, FOLLOW_GROWTH, error)
               : KILN_OK;
}

static kiln_status add_stretch(kiln_local *l, kiln_sizing *sizing, kiln_error *error)
{
    const kiln_mesh *mesh = l->world->mesh;
    const kiln_stretch_sizing stretch = {
        .start = column_of(mesh, KILN_ON_VERTEX, KILN_FIELD_START_SIZE),
        .flowed = column_of(mesh, KILN_ON_TET, KILN_FIELD_PLASTIC_STRAIN),
        .rate = FOLLOW_RATE,
        .most = FOLLOW_FINEST,
        .at_rest = l->at_rest.count > 0 ? l->at_rest.data : NULL,
        .offset = kiln_offsets_of(mesh).shape};
    const double edge = longer(l);
    const kiln_ridge_sizing ridges = {FOLLOW_TURN / edge, stretch.start,
                                      column_of(mesh, KILN_ON_VERTEX, KILN_FIELD_START_BENT),
                                      FOLLOW_RIDGE};
    const kiln_bend_sizing bends = {FOLLOW_BEND_TURN / edge, stretch.start,
                                    column_of(mesh, KILN_ON_VERTEX, KILN_FIELD_START_ROUND),
                                    FOLLOW_BEND, FOLLOW_ALONG};
    KILN_TRY(kiln_sizing_add_stretch(sizing, &stretch, error));
    KILN_TRY(kiln_sizing_add_bends(sizing, &bends, error));
    KILN_TRY(add_pressed(l, sizing, error));
    KILN_TRY(add_thin(l, sizing, error));
    KILN_TRY(kiln_sizing_fit(sizing, stretch.start, edge, fitted_tets(l), error));
    return kiln_sizing_add_ridges(sizing, &ridges, error);
}

/* l->bent = curvature that is let be: that of the start, and any where matter has not flowed. */
static kiln_status find_lasting(kiln_local *l, const char *start, kiln_error *error)
{
    const kiln_mesh *mesh = l->world->mesh;
    const double *then = column_of(mesh, KILN_ON_VERTEX, start);
    const double *flowed = column_of(mesh, KILN_ON_TET, KILN_FIELD_PLASTIC_STRAIN);
    uint32_t rows = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(l->world->context, &l->bent, rows, error));
    for (uint32_t v = 0; v < rows; v++)
        l->bent.data[v] = INFINITY;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 4 && kiln_tet_live(mesh, t) && flowed[t] > CHORD_FLOWED; k++)
            l->bent.data[mesh->tet[t].v[k]] = then[mesh->tet[t].v[k]];
    return KILN_OK;
}

/* Bends that stay when forces go: edges along them and along their ridges keep to their shape. */
static kiln_status add_lasting(kiln_local *l, kiln_sizing *sizing, kiln_error *error)
{
    const double *start = column_of(l->world->mesh, KILN_ON_VERTEX, KILN_FIELD_START_SIZE);
    const double turn = CHORD_TURN * l->settings->chord;
    KILN_TRY(find_lasting(l, KILN_FIELD_START_ROUND, error));
    const kiln_bend_sizing bends = {turn, start, l->bent.data, INFINITY, FOLLOW_ALONG};
    KILN_TRY(kiln_sizing_add_bends(sizing, &bends, error));
    KILN_TRY(find_lasting(l, KILN_FIELD_START_BENT, error));
    const kiln_ridge_sizing ridges = {turn, start, l->bent.data, INFINITY};
    return kiln_sizing_add_ridges(sizing, &ridges, error);
}

static kiln_status add_sources(kiln_local *l, kiln_sizing *sizing, kiln_error *error)
{
    const kiln_scene_remesh *remesh = l->settings;
    const kiln_mesh *mesh = l->world->mesh;
    bool in_world = l->world->space == KILN_SPACE_WORLD;
    kiln_metric_bounds bounds = bounds_of(l);
    KILN_TRY(find_at_rest(l, error));
    if (remesh->size_max == 0.0 && l->at_rest.count == 0) {
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
        KILN_TRY(add_strain(l, sizing, error));
    kiln_curvature_sizing round = {remesh->curvature, bounds.h_min, bounds.h_max, false};
    if (remesh->curvature > 0.0)
        KILN_TRY(kiln_sizing_add_curvature(sizing, &round, error));
    if (kiln_local_keeps_bends(l))
        KILN_TRY(add_lasting(l, sizing, error));
    KILN_TRY(remesh->follow ? add_stretch(l, sizing, error) : add_pressed(l, sizing, error));
    if (l->is_pressed)
        bounds.h_min = fmin(bounds.h_min, finest_pressed(l));
    kiln_sizing_limits limits = {bounds,
                                 kiln_local_follows_alone(l) ? FOLLOW_GROWTH : remesh->gradation};
    return kiln_sizing_finish(sizing, &limits, error);
}

kiln_status kiln_local_make_sizing(kiln_local *l, kiln_error *error)
{
    const kiln_world *world = l->world;
    KILN_TRY(l->sizing ? kiln_sizing_renew(l->sizing, world->mesh, world->space, error)
                       : kiln_sizing_create(world->mesh, world->space, &l->sizing, error));
    return add_sources(l, l->sizing, error);
}

kiln_status kiln_local_look_at_growth(kiln_local *l, kiln_error *error)
{
    double live = l->world->mesh->table[KILN_ON_TET].live;
    double time = l->world->state.clock.time, memory = kiln_machine_memory();
    if (l->growth_said || most_tets(l) > 0)
        return KILN_OK;
    double asked = kiln_sizing_tets(l->sizing);
    if (!(asked > MANY_TETS) || !(asked > MANY_TIMES * live))
        return KILN_OK;
    if (!(asked * BYTES_A_TET < memory))
        return kiln_said_fail(l->world->scene, &l->settings->said, error,
                              "at %.6g s the sizes that are asked for need about %.2g tets, which "
                              "take more than the %.0f GB there are: give larger sizes, size_min "
                              "or most_tets",
                              time, asked, 1e-9 * memory);
    l->growth_said = true;
    kiln_log(l->world->context, KILN_LOG_WARNING,
             "at %.6g s the sizes that are asked for need about %.2g tets, %.0f times those there "
             "are. They are made: remesh.most_tets limits them, remesh.size_min the sizes",
             time, asked, asked / live);
    return KILN_OK;
}
