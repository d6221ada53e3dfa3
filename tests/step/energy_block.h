/* A block in a step that is remeshed by energy: its patches, what it could gain, what it gains. */
#ifndef KILN_TESTS_STEP_ENERGY_BLOCK_H
#define KILN_TESTS_STEP_ENERGY_BLOCK_H

#include "energy_rig.h"

#include "fem/plasticity.h"
#include "step/nodes.h"

/* A block that is bent, thrown and loaded: every term counts. */
static inline rig make_block_of(kiln_material material, kiln_integrator integrator, int threads)
{
    kiln_context *context = kiln_test_context(threads);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=1 ly=.3 lz=.3 nx=6 ny=2 nz=2");
    add_fields(mesh);
    if (material.plastic.flows)
        ck_assert_int_eq(kiln_plastic_add_fields(mesh, NULL), KILN_OK);
    rig r = rig_of(context, mesh, material, integrator);
    r.options.mass = KILN_MASS_CONSISTENT;
    r.gravity = kiln_v3(0, 0, -9.81);
    rig_build(&r);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = mesh->u[v];
        rig_v(&r)[v] = kiln_v3(0.1 * u.z, 0.2 * u.x * u.x, 0.5 * sin(3 * u.x));
    }
    return r;
}

/* The step of the block, tried: its places are the field's. */
static inline kiln_local_objective try_block(rig *r, double h)
{
    kiln_driver driver = rig_driver(r);
    const kiln_vec3 *places;
    kiln_error error = {0};
    uint64_t before = kiln_mesh_hash(r->mesh);
    double time = r->clock.time;
    rig_check(kiln_solid_try(r->solid, &driver, h, &r->clock, &r->report, &places, &error), &error);
    ck_assert_int_eq(r->report.outcome, KILN_STEP_DONE);
    ck_assert_uint_eq(kiln_mesh_hash(r->mesh), before);
    ck_assert_double_eq(r->clock.time, time);
    memcpy(end_of(r->mesh), places, r->mesh->table[KILN_ON_VERTEX].used * sizeof *places);
    kiln_local_objective objective;
    kiln_solid_fill_matter(r->solid);
    memcpy(kiln_mesh_field(r->mesh, KILN_ON_TET, KILN_FIELD_BULK)->data,
           kiln_loads_bulk(kiln_solid_loads(r->solid)),
           r->mesh->table[KILN_ON_TET].used * sizeof(kiln_vec3));
    const kiln_field *pressure = kiln_mesh_field(r->mesh, KILN_ON_FACE, KILN_FIELD_PRESSURE);
    if (pressure)
        memcpy(pressure->data, kiln_loads_pressures(kiln_solid_loads(r->solid)),
               r->mesh->table[KILN_ON_FACE].used * sizeof(double));
    kiln_solid_objective(r->solid, h, &r->clock, &objective);
    kiln_objective_look(&objective);
    return objective;
}

static inline double whole(const kiln_local_objective *o)
{
    uint32_t tets[4096], count = 0;
    for (uint32_t t = 0; t < o->mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(o->mesh, t))
            tets[count++] = t;
    return kiln_patch_sum(o, tets, count) + kiln_objective_nodal(o);
}

/* At the solution nothing is left to gain on a patch; off it a patch finds back. What that gains is
 * a difference, where forces have a potential. */
static inline void check_patch_of(const rig *r, const kiln_local_objective *o, uint32_t vertex,
                                  bool potential)
{
    kiln_patch patch;
    kiln_patch_init(&patch, r->context);
    double at_rest = whole(o), scale = fabs(at_rest);
    ck_assert_int_eq(kiln_patch_gather(&patch, o, &vertex, 1, NULL), KILN_OK);
    ck_assert_double_le(kiln_patch_relax(&patch, o, 5, 0.0, 0.0), 1e-12 * scale);
    kiln_vec3 place = o->end[vertex];
    o->end[vertex] = kiln_v3_add(place, kiln_v3(3e-3, -2e-3, 1e-3));
    double off = whole(o) - at_rest;
    ck_assert_double_gt(off, 0.0);
    ck_assert_int_eq(kiln_patch_gather(&patch, o, &vertex, 1, NULL), KILN_OK);
    double gained = kiln_patch_relax(&patch, o, 40, 0.0, 0.0);
    if (potential)
        ck_assert_double_eq_tol(gained, off, 1e-9 * off + 1e-12 * scale);
    ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(patch.x.data[0], place)), 1e-8);
    o->end[vertex] = place;
    kiln_patch_free(&patch);
}

static inline uint32_t inner_vertex(const kiln_mesh *mesh)
{
    uint32_t inner = KILN_NONE;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (!(mesh->vertex[v].flags & KILN_VERTEX_SURFACE))
            inner = v;
    return inner;
}

static inline double best_prediction(const kiln_local_objective *o)
{
    double best = 0.0;
    for (uint32_t t = 0; t < o->mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 6 && kiln_tet_live(o->mesh, t); k++)
            best =
                fmax(best, kiln_energy_predict(o, t, kiln_edge_ends[k][0], kiln_edge_ends[k][1]));
    return best;
}

static inline kiln_energy_options options_of(double split)
{
    return (kiln_energy_options){
        .split = split, .collapse = 0.01 * split, .quality = 0.05, .depth = 3, .tolerance = 1e-12};
}

static inline kiln_energy_report remesh_guarded(rig *r, kiln_local_objective *o,
                                                const kiln_energy_options *options,
                                                const kiln_surface_guard *guard)
{
    kiln_remesher remesher;
    kiln_energy_report report;
    kiln_error error = {0};
    kiln_remesh_options pass = kiln_remesh_default_options();
    pass.surface = KILN_SURFACE_KEEP;
    pass.guard = guard;
    rig_check(kiln_remesher_begin(r->mesh, &pass, &remesher, &error), &error);
    rig_check(kiln_energy_remesh(&remesher, o, options, &report, &error), &error);
    kiln_remesher_end(&remesher);
    kiln_objective_look(o);
    return report;
}

static inline kiln_energy_report remesh(rig *r, kiln_local_objective *o,
                                        const kiln_energy_options *options)
{
    return remesh_guarded(r, o, options, NULL);
}

/* What was tried in vain (energy_vain.c). */
static inline void forget(const kiln_mesh *mesh)
{
    memset(kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_VAIN)->data, 0,
           mesh->table[KILN_ON_TET].used * 6 * sizeof(double));
    memset(kiln_mesh_field(mesh, KILN_ON_VERTEX, KILN_FIELD_STILL)->data, 0,
           mesh->table[KILN_ON_VERTEX].used * 2 * sizeof(double));
    memset(kiln_mesh_field(mesh, KILN_ON_VERTEX, KILN_FIELD_NEEDED)->data, 0,
           mesh->table[KILN_ON_VERTEX].used * 2 * sizeof(double));
    memset(kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_FLAT)->data, 0,
           mesh->table[KILN_ON_TET].used * 4 * sizeof(double));
}

/* Asked for more than twice the best prediction, splits are tried in vain. Flips and moves, which
 * are worth less, come first; when there are none left every bit is as it was. */
static inline void check_rejected(rig *r, kiln_local_objective *o)
{
    for (int i = 0; i < 40; i++) {
        forget(r->mesh);
        kiln_energy_options options = options_of(2.4 * best_prediction(o));
        uint64_t before = kiln_mesh_hash(r->mesh);
        kiln_energy_report report = remesh(r, o, &options);
        if (report.splits.taken + report.flips.taken + report.moves.taken + report.collapses.taken)
            continue;
        ck_assert_uint_gt(report.splits.trials, 0);
        forget(r->mesh);
        ck_assert_uint_eq(kiln_mesh_hash(r->mesh), before);
        return;
    }
    ck_abort_msg("something is taken in every round");
}

static inline double gained_by(const kiln_energy_report *report)
{
    return report->splits.gained + report->flips.gained + report->moves.gained +
           report->collapses.gained;
}

/* A static block that is strained alike everywhere gains nothing by another mesh. */
static inline void check_uniform(rig *r)
{
    kiln_local_objective o;
    kiln_solid_objective(r->solid, 1.0, &r->clock, &o);
    o.acceleration = kiln_v3(0, 0, 0);
    const kiln_mat3 F = {{{1.2, 0.1, 0}, {0, 0.9, 0.05}, {0.02, 0, 1.1}}};
    uint32_t *held =
        (uint32_t *)(void *)kiln_mesh_field(r->mesh, KILN_ON_VERTEX, KILN_FIELD_HELD)->data;
    for (uint32_t v = 0; v < r->mesh->table[KILN_ON_VERTEX].used; v++) {
        end_of(r->mesh)[v] = kiln_m3_apply(F, r->mesh->u[v]);
        held[v] = r->mesh->vertex[v].flags & KILN_VERTEX_SURFACE ? 7 : 0;
    }
    kiln_objective_look(&o);
    kiln_energy_options options = options_of(1e-9 * whole(&o));
    kiln_energy_report report = remesh(r, &o, &options);
    ck_assert_uint_eq(report.splits.taken + report.flips.taken + report.moves.taken, 0);
}

#endif
