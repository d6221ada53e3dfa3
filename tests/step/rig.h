/* A solid on a mesh with everything round it that a test of the time step needs. */
#ifndef KILN_TESTS_STEP_RIG_H
#define KILN_TESTS_STEP_RIG_H

#include "fixtures.h"
#include "step/solid.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct rig rig;
struct rig {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_material material;
    kiln_solid_options options;
    kiln_obstacle *obstacles[4];
    size_t obstacle_count;
    kiln_vec3 gravity;
    void (*set)(rig *r, kiln_solid *solid, double time, double load); /* NULL: gravity only */
    double parameter;                                                 /* for `set` */

    kiln_solid *solid;
    kiln_solid_clock clock;
    kiln_step_report report;
};

static inline kiln_material rig_material(const char *model, double young, double poisson,
                                         double density)
{
    kiln_material material = {.density = density};
    ck_assert_int_eq(kiln_material_model_find(model, &material.model, NULL), KILN_OK);
    kiln_lame_from_young(young, poisson, &material.mu, &material.lambda);
    return material;
}

static inline rig rig_of(kiln_context *context, kiln_mesh *mesh, kiln_material material,
                         kiln_integrator integrator)
{
    rig r = {.context = context, .mesh = mesh, .material = material};
    r.options = kiln_solid_default_options();
    r.options.integrator = integrator;
    return r;
}

static inline kiln_status rig_set(void *self, kiln_solid *solid, double time, double load,
                                  kiln_error *error)
{
    (void)error;
    rig *r = self;
    kiln_loads_add_acceleration(kiln_solid_loads(solid), kiln_solid_mass(solid),
                                kiln_v3_scale(r->gravity, load));
    if (r->set)
        r->set(r, solid, time, load);
    return KILN_OK;
}

static inline kiln_driver rig_driver(rig *r)
{
    return (kiln_driver){.self = r, .set = rig_set};
}

static inline void rig_check(kiln_status status, const kiln_error *error)
{
    if (status != KILN_OK)
        ck_abort_msg("%s", error->message);
}

static inline void rig_build(rig *r)
{
    kiln_error error = {0};
    rig_check(kiln_solid_create(r->mesh, &r->options, &r->material, 1, r->obstacles,
                                r->obstacle_count, &r->solid, &error),
              &error);
}

static inline void rig_free(rig *r)
{
    kiln_solid_destroy(r->solid);
    for (size_t i = 0; i < r->obstacle_count; i++)
        kiln_obstacle_destroy(r->obstacles[i]);
    kiln_mesh_destroy(r->mesh);
    kiln_context_destroy(r->context);
}

/* The outcome is in r->report. */
static inline void rig_try(rig *r, double h)
{
    kiln_error error = {0};
    kiln_driver driver = rig_driver(r);
    rig_check(kiln_solid_step(r->solid, &driver, h, &r->clock, &r->report, &error), &error);
}

static inline void rig_step(rig *r, double h)
{
    rig_try(r, h);
    if (r->report.outcome != KILN_STEP_DONE)
        ck_abort_msg("t %g: %s, %s", r->clock.time, kiln_step_outcome_text(r->report.outcome),
                     kiln_newton_outcome_text(r->report.newton.outcome));
}

static inline double *rig_column(const rig *r, const char *name)
{
    kiln_field *field = kiln_mesh_field(r->mesh, KILN_ON_VERTEX, name);
    ck_assert_ptr_nonnull(field);
    return (double *)(void *)field->data;
}

static inline kiln_vec3 *rig_v(const rig *r)
{
    return (kiln_vec3 *)(void *)rig_column(r, "v");
}

static inline kiln_motion_sums rig_sums(const rig *r)
{
    return kiln_mass_sums(kiln_solid_mass(r->solid), &r->mesh->x[0].x, rig_column(r, "v"));
}

/* All three components of the vertices with u.x below `limit` stay where they were at rest. */
static inline void rig_clamp(kiln_solid *solid, double limit)
{
    const kiln_mesh *mesh = kiln_solid_mesh(solid);
    kiln_constraints *held = kiln_solid_constraints(solid);
    for (uint32_t v = 0; v < held->rows; v++)
        if (kiln_vertex_live(mesh, v) && mesh->u[v].x < limit) {
            held->held[v] = 7;
            held->target[v] = mesh->u[v];
        }
}

static inline kiln_vec3 rig_sum(const rig *r, const double *forces)
{
    kiln_vec3 sum = {0, 0, 0};
    for (uint32_t v = 0; v < r->mesh->table[KILN_ON_VERTEX].used; v++)
        sum = kiln_v3_add(sum, kiln_v3(forces[3 * v], forces[3 * v + 1], forces[3 * v + 2]));
    return sum;
}

#endif
