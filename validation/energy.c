/* Remeshing inside the step, judged by its energy: the cantilever of E2 on a coarse mesh that
 * follows. The discrete answer is below the true one on every mesh and rises with every split. */
#include "validation/thrown.h"

#include "measure/fixture.h"

#include <math.h>
#include <stdio.h>

/* E2: Timoshenko's tip, and the mean tip of the uniform mesh K(4) of 1,025 vertices, m. */
static const double theory = 4.0306e-3, uniform = 3.173102e-3;
enum { UNIFORM_VERTICES = 1025 };

static kiln_status make_beam(kiln_trial *trial, double split, kiln_error *error)
{
    kiln_picks where;
    kiln_vec3 traction = kiln_trial_vector(trial, kiln_v3(0, 0, 0.1 / 0.01), -1, 1, -2);
    KILN_TRY(kiln_trial_material(trial, "neo-hookean", 1e6, 0.3, 1000, error));
    KILN_TRY(kiln_trial_box(trial, kiln_v3(1, 0.1, 0.1), (int[]){20, 2, 2}, "kuhn", error));
    KILN_TRY(kiln_trial_pick_patch(trial, 1, &where, error));
    KILN_TRY(kiln_trial_hold(trial, &where, 7, NULL, error));
    KILN_TRY(kiln_trial_pick_patch(trial, 2, &where, error));
    KILN_TRY(
        kiln_trial_load(trial, KILN_LOAD_TRACTION, &where, kiln_quantity_vector(traction), error));
    trial->scene.remesh.method = split > 0.0 ? KILN_REMESH_ENERGY : KILN_REMESH_NONE;
    trial->scene.remesh.split = kiln_trial_number(trial, split, 2, 1, -2);
    return KILN_OK;
}

static kiln_status bend(kiln_validation *validation, const kiln_view *view, double split,
                        double *tip, double *vertices, kiln_error *error)
{
    kiln_trial trial;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_status status = make_beam(&trial, split, error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    if (status == KILN_OK) {
        *tip = kiln_trial_patch_mean(&trial, 2).z;
        *vertices = (double)trial.result.points.count;
    }
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_energy_beam(kiln_validation *validation, kiln_error *error)
{
    static const double splits[] = {0.0, 1e-6, 1e-7, 2e-8}; /* J */
    enum { SPLITS = sizeof splits / sizeof splits[0] };
    for (size_t v = 0; kiln_view_at(v); v++) {
        const kiln_view *view = kiln_view_at(v);
        double before = 0.0, tip, vertices;
        for (int i = 0; i < SPLITS; i++) {
            KILN_TRY(bend(validation, view, splits[i], &tip, &vertices, error));
            kiln_validation_report(validation, tip / theory, kiln_between(before, 1.005),
                                   "%s, %.0e J: tip over Timoshenko's, not below the coarser one",
                                   view->name, splits[i]);
            before = tip / theory;
            if (splits[i] != 1e-7)
                continue;
            kiln_validation_report(validation, tip / uniform, kiln_at_least(1.0),
                                   "%s: tip over that of K(4) with %d vertices", view->name,
                                   UNIFORM_VERTICES);
            kiln_validation_report(validation, vertices, kiln_at_most(UNIFORM_VERTICES / 3.0),
                                   "%s: vertices", view->name);
        }
    }
    return KILN_OK;
}

/* Cook's membrane: 48 mm long, left side 44 mm, right side 16 mm. Twice: a body 16 mm thick whose
 * left side is clamped and whose faces are free, with the cells of uniform meshes twice as many in
 * the plane as across; and a plate of one cell, 1 mm thick, in plane strain, where uniform meshes
 * are as good as ones of the plane. */
typedef struct refined {
    double vertices, rise, energy; /* m of the upper right corner; J, with that of the load */
} refined;

typedef struct membrane {
    const char *name;
    double thickness; /* m */
    int cells, layers;
    bool plane_strain;
    double rise, energy;    /* converged: Richardson from the last three, each twice as fine */
    const refined *uniform; /* coarsest first */
    int uniforms;
} membrane;

static const refined thick_uniform[] = {{405, 13.337423e-3, -0.12407098},
                                        {1183, 13.835746e-3, -0.13077334},
                                        {2601, 14.027439e-3, -0.13349072},
                                        {8125, 14.171909e-3, -0.13562937},
                                        {60025, 14.262043e-3, -0.13706639}};
static const refined plate_uniform[] = {{50, 10.96955e-3, -0.0060300366},
                                        {162, 12.846727e-3, -0.0073833987},
                                        {578, 13.517461e-3, -0.0079203695},
                                        {2178, 13.709906e-3, -0.0080862862},
                                        {8450, 13.759133e-3, -0.0081331359}};
static const membrane thick = {"16 mm", 16e-3, 4, 2, false, 14.295e-3, -0.13767, thick_uniform, 5},
                      plate = {"plate", 1e-3, 8, 1, true, 13.776e-3, -0.0081516, plate_uniform, 5};

static kiln_status cook_body(kiln_trial *trial, const membrane *m, kiln_error *error)
{
    char settings[100];
    kiln_soup soup;
    snprintf(settings, sizeof settings, "nx=%d ny=%d nz=%d pattern=mirrored", m->cells, m->cells,
             m->layers);
    KILN_TRY(kiln_fixture_soup(trial->context, "box", settings, &soup, error));
    for (size_t i = 0; i < soup.points.count; i++) {
        kiln_vec3 p = soup.points.data[i];
        soup.points.data[i] = kiln_v3(
            0.048 * p.x, (1 - p.y) * 0.044 * p.x + p.y * (0.044 + 0.016 * p.x), m->thickness * p.z);
    }
    return kiln_trial_body(trial, &soup, error);
}

static const double cook_pull = 1.0 / 16e-6; /* N/m^2 */

static kiln_status make_cook(kiln_trial *trial, const membrane *m, double split, kiln_error *error)
{
    const double mu = 422.5e3, nu = 0.3;
    const struct {
        int patch, components;
    } holds[] = {{1, m->plane_strain ? 3 : 7}, {5, 4}, {6, 4}};
    kiln_picks where;
    kiln_vec3 traction = kiln_trial_vector(trial, kiln_v3(0, cook_pull, 0), -1, 1, -2);
    KILN_TRY(kiln_trial_material(trial, "neo-hookean-split", 2 * mu * (1 + nu), nu, 1000, error));
    KILN_TRY(cook_body(trial, m, error));
    for (int i = 0; i < (m->plane_strain ? 3 : 1); i++) {
        KILN_TRY(kiln_trial_pick_patch(trial, holds[i].patch, &where, error));
        KILN_TRY(kiln_trial_hold(trial, &where, holds[i].components, NULL, error));
    }
    KILN_TRY(kiln_trial_pick_patch(trial, 2, &where, error));
    KILN_TRY(
        kiln_trial_load(trial, KILN_LOAD_TRACTION, &where, kiln_quantity_vector(traction), error));
    trial->scene.remesh.method = split > 0.0 ? KILN_REMESH_ENERGY : KILN_REMESH_NONE;
    trial->scene.remesh.split = kiln_trial_number(trial, split, 2, 1, -2);
    return KILN_OK;
}

/* Of a step, in the units of the scene. */
typedef struct energies {
    double elastic, gained;
} energies;

static kiln_status note_energies(kiln_trial *trial, const kiln_stats *stats, kiln_error *error)
{
    (void)error;
    energies *e = trial->user;
    *e = (energies){stats->e_elastic, stats->gained};
    return KILN_OK;
}

static double corner_rise(const kiln_trial *trial)
{
    double rise = 0.0;
    int found = 0;
    for (size_t i = 0; i < trial->result.points.count; i++) {
        kiln_vec3 u = kiln_trial_u(trial, i), x = kiln_trial_x(trial, i);
        if (fabs(u.x - 0.048) < 1e-9 && fabs(u.y - 0.060) < 1e-9) {
            rise += x.y - u.y;
            found++;
        }
    }
    return rise / found;
}

static kiln_status pull_cook(kiln_validation *validation, const kiln_view *view, const membrane *m,
                             double split, refined *out, double *gained, kiln_error *error)
{
    kiln_trial trial;
    energies e = {0};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.user = &e;
    trial.on_step = note_energies;
    kiln_status status = make_cook(&trial, m, split, error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    if (status == KILN_OK) {
        double joule = kiln_trial_number(&trial, 1.0, 2, 1, -2);
        double work = cook_pull * 16e-3 * m->thickness * kiln_trial_patch_mean(&trial, 2).y;
        *out = (refined){(double)trial.result.points.count, corner_rise(&trial),
                         e.elastic / joule - work};
        *gained = e.gained / joule;
    }
    kiln_trial_end(&trial);
    return status;
}

/* Vertices of the uniform mesh that errs as much: a power of their number between two that are
 * known. */
static double vertices_alike(const membrane *m, double error,
                             double (*error_of)(const membrane *, const refined *))
{
    int i = 0;
    while (i + 2 < m->uniforms && error_of(m, &m->uniform[i + 1]) > error)
        i++;
    const refined *p = &m->uniform[i], *q = p + 1;
    double slope = log(q->vertices / p->vertices) / log(error_of(m, q) / error_of(m, p));
    return p->vertices * pow(error / error_of(m, p), slope);
}

static double rise_missed(const membrane *m, const refined *r)
{
    return 1.0 - r->rise / m->rise;
}

static double energy_missed(const membrane *m, const refined *r)
{
    return 1.0 - r->energy / m->energy;
}

static kiln_status cook_in(kiln_validation *validation, const kiln_view *view, const membrane *m,
                           double split, refined *fine, kiln_error *error)
{
    double gained;
    KILN_TRY(pull_cook(validation, view, m, split, fine, &gained, error));
    const char *name = view->name;
    kiln_validation_report(validation, fine->vertices, kiln_unbound(), "%s, %s, %.0e J: vertices",
                           m->name, name, split);
    kiln_validation_report(validation, fine->rise / m->rise, kiln_between(0.0, 1.002),
                           "%s, %s, %.0e J: rise over the converged one", m->name, name, split);
    kiln_validation_report(validation, gained / (m->uniform[0].energy - fine->energy),
                           kiln_unbound(), "%s, %s, %.0e J: gained", m->name, name, split);
    kiln_validation_report(
        validation, fine->vertices / vertices_alike(m, rise_missed(m, fine), rise_missed),
        kiln_unbound(), "%s, %s, %.0e J: vertices, of a uniform mesh of that rise", m->name, name,
        split);
    kiln_validation_report(
        validation, fine->vertices / vertices_alike(m, energy_missed(m, fine), energy_missed),
        kiln_unbound(), "%s, %s, %.0e J: vertices, of a uniform mesh of that energy", m->name, name,
        split);
    return KILN_OK;
}

kiln_status kiln_validate_energy_cook(kiln_validation *validation, kiln_error *error)
{
    static const double splits[] = {1e-4, 1e-5, 2e-6, 1e-6}, thin[] = {1e-6, 2e-7, 1e-7, 4e-8};
    refined fine;
    for (int i = 0; i < 4; i++)
        KILN_TRY(cook_in(validation, kiln_view_at(0), &thick, splits[i], &fine, error));
    for (int i = 0; i < 4; i++)
        KILN_TRY(cook_in(validation, kiln_view_at(0), &plate, thin[i], &fine, error));
    for (int i = 1; i < 4; i++)
        KILN_TRY(cook_in(validation, kiln_view_at((size_t)i), &thick, 2e-6, &fine, error));
    return KILN_OK;
}
