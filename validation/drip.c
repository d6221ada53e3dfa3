/* L15: water drips slowly from the end of a tube. What falls is a part of what tension along the
 * rim bears by Tate's law, 2 pi r tension / (density g): of 90.43 mm^3 Harkins and Brown (1919)
 * measured .648 where r over the cube root of the drop's volume is .515, which is 58.6 mm^3. */
#include "fem/offset.h"
#include "measure/fixture.h"
#include "sim/through.h"
#include "validation/trial.h"

#include <math.h>
#include <stdio.h>

static const double TUBE = 2e-3, HANGS = 5e-3, EDGE = 5e-4; /* m */
static const double TENSION = 70.38e-3, DENSITY = 997.0, VISCOSITY = 3e-3;
static const double FEED = 2e-3, DT = 1e-3; /* m/s, s */
/* s, after the first break: what lies between may break as well, and falls. */
static const double LATER = 0.02;
enum { STEPS = 2500, BRIEF_STEPS = 20 };

typedef struct drip {
    double fallen; /* m^3 */
    double volume; /* farthest off, of what there is */
    double ledger; /* in less what is there */
} drip;

/* m^3 of rest volume of all parts but that with the highest vertex. */
static double fallen_of(const kiln_trial *trial, kiln_world *world)
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const double *rest =
        (const double *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_REST_VOLUME)->data;
    double highest = -INFINITY, sum = 0.0;
    uint32_t top = KILN_NONE;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        double z = kiln_vertex_live(mesh, v) ? kiln_trial_vector_back(trial, mesh->x[v], 1, 0, 0).z
                                             : -INFINITY;
        if (z > highest) {
            highest = z;
            top = mesh->info[mesh->vertex[v].tet].part;
        }
    }
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t) && mesh->info[t].part != top)
            sum += rest[t];
    return sum / kiln_trial_number(trial, 1, 3, 0, 0);
}

static kiln_status watch(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    drip *out = trial->user;
    kiln_stats first, stats = {.time = 0.0};
    double until = INFINITY;
    kiln_world_measure(world, &first);
    *out = (drip){.fallen = NAN};
    while (stats.time < fmin(until, trial->scene.duration * (1 - 1e-9))) {
        kiln_passed in, gone;
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
        kiln_world_passed(world, &in, &gone);
        out->volume = fmax(out->volume, fabs(stats.volume / stats.rest_volume - 1.0));
        out->ledger = fmax(out->ledger, fabs(stats.rest_volume - first.rest_volume - in.volume) /
                                            first.rest_volume);
        if (stats.breaks > 0.0 && isinf(until))
            until = stats.time + kiln_trial_number(trial, LATER, 0, 0, 1);
    }
    if (!isinf(until))
        out->fallen = fallen_of(trial, world);
    return KILN_OK;
}

/* The top is the end of the tube: patch 3. */
static kiln_status make_tube(kiln_trial *trial, kiln_error *error)
{
    char settings[96];
    kiln_soup soup;
    void *through;
    kiln_vec3 feed = kiln_trial_vector(trial, kiln_v3(0, 0, -FEED), 1, 0, -1);
    snprintf(settings, sizeof settings, "radius=%.17g height=%.17g h=%.17g", TUBE, HANGS, EDGE);
    KILN_TRY(kiln_trial_liquid(trial, DENSITY, VISCOSITY, TENSION, error));
    kiln_scene_preset(&trial->scene);
    trial->scene.remesh.quality = 0.4;
    trial->scene.remesh.size_min = kiln_trial_number(trial, 0.6 * EDGE, 1, 0, 0);
    trial->scene.remesh.pinch = 0.9;
    KILN_TRY(kiln_fixture_soup(trial->context, "cylinder", settings, &soup, error));
    KILN_TRY(kiln_trial_body(trial, &soup, error));
    trial->scene.bodies.data[0].velocity = kiln_quantity_vector(feed);
    KILN_TRY(kiln_scene_add_settings(&trial->scene, &kiln_through_schema, &through, error));
    kiln_scene_inlet inlet = {.velocity = kiln_quantity_vector(feed)};
    KILN_TRY(kiln_trial_pick_patch(trial, 3, &inlet.where, error));
    return kiln_array_push(trial->context, &((kiln_scene_through *)through)->inlets, inlet, error);
}

static kiln_status let_drip(kiln_validation *validation, const kiln_view *view, drip *out,
                            kiln_error *error)
{
    kiln_trial trial;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_trial_set_steps(&trial, KILN_BDF2, DT,
                         kiln_validation_is_brief(validation) ? BRIEF_STEPS : STEPS);
    kiln_trial_set_gravity(&trial, 9.81);
    trial.user = out;
    kiln_status status = make_tube(&trial, error);
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, watch, error);
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_L15(kiln_validation *validation, kiln_error *error)
{
    bool brief = kiln_validation_is_brief(validation); /* it only begins to swing */
    for (size_t row = 0; row < (brief ? 1 : SIZE_MAX) && kiln_view_at(row); row++) {
        const char *name = kiln_view_at(row)->name;
        double tate = 2.0 * KILN_PI * TUBE * TENSION / (DENSITY * 9.81);
        drip d;
        KILN_TRY(let_drip(validation, kiln_view_at(row), &d, error));
        if (!brief) {
            kiln_validation_report(validation, 1e9 * d.fallen, kiln_near_relative(58.6, 0.08),
                                   "%s: volume that falls, mm^3", name);
            kiln_validation_report(validation, d.fallen / tate, kiln_at_most(1.0),
                                   "%s: the same, of Tate's", name);
        }
        kiln_validation_report(validation, d.volume, kiln_at_most(0.005),
                               "%s: world volume off, at most", name);
        kiln_validation_report(validation, d.ledger, kiln_at_most(1e-12),
                               "%s: what came in less what is there", name);
    }
    return KILN_OK;
}
