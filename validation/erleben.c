/* Contacts that have no obvious normal (validation.md C8, scenes/erleben.lua): what falls meets
 * what is held with a tip, an edge or a face, exactly above it. */
#include "validation/thrown.h"
#include "validation/watch.h"

#include <math.h>

static const double gravity = 9.81, whole = 1.0; /* duration, s */

static const kiln_mat3 upright = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
static const kiln_mat3 upside_down = {{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}};
/* A polygon's y is up then, and its depth along -y or along x. */
static const kiln_mat3 along_y = {{{1, 0, 0}, {0, 0, -1}, {0, 1, 0}}};
static const kiln_mat3 along_x = {{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}};

static const kiln_mat3 by_45 = {{{0.70710678118654752, -0.70710678118654752, 0},
                                 {0.70710678118654752, 0.70710678118654752, 0},
                                 {0, 0, 1}}};

static const char spike[] = "radius=0.1 height=0.25 h=0.06";
static const char edge_up[] = "points=-0.1,0 0.1,0 0,0.2 depth=0.3 h=0.08";
static const char edge_down[] = "points=0,0 0.1,0.2 -0.1,0.2 depth=0.3 h=0.08";
static const char block[] = "lx=0.2 ly=0.3 lz=0.2 n=3";
static const char plate[] = "points=-0.2,-0.2 0.2,-0.2 0.2,0.2 -0.2,0.2; "
                            "-0.04,-0.04 0.04,-0.04 0.04,0.04 -0.04,0.04 depth=0.2 h=0.1";
static const char table[] = "lx=0.4 ly=0.3 lz=0.2 n=3", slab[] = "lx=0.4 ly=0.2 lz=0.1 n=2";
static const char cube[] = "lx=0.2 ly=0.2 lz=0.2 n=2";

typedef struct part {
    const char *shape, *settings;
    const kiln_mat3 *turn;
    kiln_vec3 place;
} part;

typedef enum outcome { ANY, STAYS, FALLS } outcome;

enum { PARTS = 4 };

/* A tip that falls begins two layers above what it falls on, or as far from the sides of the hole;
 * a block or a cube one. */
static const struct {
    const char *name;
    outcome outcome;
    bool cliff;
    part parts[PARTS];
} cases[] = {
    {"spike on spike",
     ANY,
     false,
     {{"cone", spike, &upright, {0, 0, 0}}, {"cone", spike, &upside_down, {0, 0, 0.508}}}},
    {"spike on wedge",
     ANY,
     false,
     {{"polygon", edge_up, &along_y, {0, 0.15, 0}}, {"cone", spike, &upside_down, {0, 0, 0.458}}}},
    {"wedge across wedge",
     ANY,
     false,
     {{"polygon", edge_up, &along_y, {0, 0.15, 0}},
      {"polygon", edge_down, &along_x, {-0.15, 0, 0.208}}}},
    {"wedge along wedge",
     ANY,
     false,
     {{"polygon", edge_up, &along_y, {0, 0.15, 0}},
      {"polygon", edge_down, &along_y, {0, 0.15, 0.208}}}},
    {"spike in a crack",
     ANY,
     false,
     {{"box", block, &upright, {-0.203, -0.15, 0}},
      {"box", block, &upright, {0.003, -0.15, 0}},
      {"cone", spike, &upside_down, {0, 0, 0.458}}}},
    {"spike in a hole",
     ANY,
     false,
     {{"polygon", plate, &upright, {0, 0, 0}}, {"cone", spike, &upside_down, {0, 0, 0.365}}}},
    {"cliff, 1 % inside",
     STAYS,
     true,
     {{"box", table, &upright, {-0.4, -0.15, 0}}, {"box", slab, &upright, {-0.204, -0.1, 0.201}}}},
    {"cliff, 1 % beyond",
     FALLS,
     true,
     {{"box", table, &upright, {-0.4, -0.15, 0}}, {"box", slab, &upright, {-0.196, -0.1, 0.201}}}},
    {"stack",
     STAYS,
     false,
     {{"box", cube, &upright, {-0.1, -0.1, 0}},
      {"box", cube, &upright, {-0.1, -0.1, 0.204}},
      {"box", cube, &upright, {-0.1, -0.1, 0.408}},
      {"box", cube, &upright, {-0.1, -0.1, 0.612}}}},
    {"stack, every other turned by 45 degrees",
     STAYS,
     false,
     {{"box", cube, &upright, {-0.1, -0.1, 0}},
      {"box", cube, &by_45, {0, -0.14142135623730951, 0.204}},
      {"box", cube, &upright, {-0.1, -0.1, 0.408}},
      {"box", cube, &by_45, {0, -0.14142135623730951, 0.612}}}},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static double layer_of(int row)
{
    return cases[row].cliff ? 0.001 : 0.004;
}

/* The edge of a table that gives way by more than 1 % of the block would decide otherwise. */
static kiln_status add_parts(kiln_trial *trial, int row, kiln_error *error)
{
    for (int i = 0; i < PARTS && cases[row].parts[i].shape; i++) {
        const part *p = &cases[row].parts[i];
        KILN_TRY(kiln_trial_material(trial, "neo-hookean", cases[row].cliff ? 1e8 : 1e6, 0.3, 1000,
                                     error));
        trial->scene.materials.data[i].base.damping_stiffness =
            kiln_trial_number(trial, 1e-3, 0, 0, 1);
        KILN_TRY(kiln_trial_turned_shape(trial, p->shape, p->settings, *p->turn, p->place, error));
    }
    return KILN_OK;
}

static kiln_status set_up(kiln_trial *trial, int row, double duration, kiln_error *error)
{
    kiln_scene *scene = &trial->scene;
    kiln_picks feet;
    scene->solid.integrator = KILN_IMPLICIT_EULER;
    scene->solid.newton.tolerance = 1e-6;
    scene->pace.dt = kiln_trial_number(trial, 0.005, 0, 0, 1);
    scene->pace.dt_min = 1e-4 * scene->pace.dt;
    scene->duration = kiln_trial_number(trial, duration, 0, 0, 1);
    scene->contact.bodies = scene->contact.self = true;
    scene->contact.thickness = kiln_trial_number(trial, layer_of(row), 1, 0, 0);
    scene->contact.friction = 0.3;
    scene->gravity =
        kiln_quantity_vector(kiln_trial_vector(trial, kiln_v3(0, 0, -gravity), 1, 0, -2));
    KILN_TRY(add_parts(trial, row, error));
    KILN_TRY(kiln_trial_plane(trial, 0.0, 0.5, error));
    KILN_TRY(kiln_trial_pick_below(trial, 1e-6, &feet, error));
    return kiln_trial_hold(trial, &feet, 7, NULL, error);
}

/* The most that the centre of a body has moved. */
static double moved(const kiln_watch *watch)
{
    double most = 0.0;
    for (int i = 0; i < PARTS; i++)
        most = fmax(most, kiln_v3_norm(kiln_v3_sub(watch->last[i], watch->first[i])));
    return most;
}

static void report(kiln_validation *validation, int row, const char *view, double duration,
                   const kiln_watch *watch)
{
    const char *name = cases[row].name;
    double layer = layer_of(row);
    kiln_validation_report(validation, watch->time / duration, kiln_near(1.0, 1e-9),
                           "%s, %s: part of the time that was reached", name, view);
    kiln_validation_report(validation, (double)watch->crossings, kiln_exactly(0),
                           "%s, %s: crossings after any step, exact", name, view);
    kiln_validation_report(validation, watch->nearest / layer, kiln_between(1e-6, 1.0),
                           "%s, %s: least distance, of the thickness", name, view);
    kiln_validation_report(validation, watch->rise / (watch->weight * layer), kiln_at_most(1e-4),
                           "%s, %s: energy gained, of weight times thickness", name, view);
    if (duration < whole || cases[row].outcome == ANY)
        return;
    bool stays = cases[row].outcome == STAYS;
    kiln_validation_report(validation, moved(watch),
                           stays ? kiln_at_most(layer) : kiln_at_least(0.05),
                           "%s, %s: way of a centre, m", name, view);
}

kiln_status kiln_validate_C8_set(kiln_validation *validation, kiln_error *error)
{
    bool brief = kiln_validation_is_brief(validation);
    double duration = brief ? 0.1 : whole;
    for (size_t v = 0; v < (brief ? 1 : SIZE_MAX) && kiln_view_at(v); v++)
        for (int i = 0; i < CASES; i++) {
            kiln_trial trial;
            kiln_watch watch = {.floor = -layer_of(i), .gravity = {0, 0, -gravity}};
            kiln_trial_begin(&trial, kiln_validation_context(validation), kiln_view_at(v));
            kiln_status status = set_up(&trial, i, duration, error);
            if (status == KILN_OK)
                status = kiln_watch_run(&watch, &trial, error);
            kiln_trial_end(&trial);
            KILN_TRY(status);
            report(validation, i, kiln_view_at(v)->name, duration, &watch);
        }
    return KILN_OK;
}
