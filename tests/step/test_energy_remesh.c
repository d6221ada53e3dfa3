/* Remeshing inside a step: patches are pieces of the whole, predictions are bounds, what is kept
 * gains what is asked for, and what is not leaves every bit. */
#include "energy_block.h"

#include "geom/tet_quality.h"
#include "remesh/transfer.h"
#include "step/energy_impl.h"

static rig make_block_on(const char *model, kiln_integrator integrator, int threads)
{
    return make_block_of(rig_material(model, 1e5, 0.3, 1000), integrator, threads);
}

static rig make_block(const char *model, kiln_integrator integrator)
{
    return make_block_on(model, integrator, 1);
}

static void check_patch(const rig *r, const kiln_local_objective *o, uint32_t vertex)
{
    check_patch_of(r, o, vertex, true);
}

START_TEST(a_patch_is_a_piece_of_the_step)
{
    static const char *const models[] = {"neo-hookean", "corotated", "stvk", "linear"};
    rig r = make_block(models[_i % 4], KILN_IMPLICIT_EULER);
    kiln_local_objective o = try_block(&r, 0.01);
    check_patch(&r, &o, inner_vertex(r.mesh));
    rig_free(&r);
}
END_TEST

/* The history of a first step is in columns only with implicit Euler: by that it is tried. */
START_TEST(a_patch_is_a_piece_of_the_first_step)
{
    static const kiln_integrator others[] = {KILN_NEWMARK, KILN_BDF2};
    rig r = make_block("neo-hookean", others[_i]);
    kiln_local_objective o = try_block(&r, 0.01);
    check_patch(&r, &o, inner_vertex(r.mesh));
    rig_step(&r, 0.01);
    ck_assert_int_eq(r.report.outcome, KILN_STEP_DONE);
    rig_free(&r);
}
END_TEST

/* One half is pulled aside by a load on its volume. */
static void pull_half(rig *r, kiln_solid *solid, double time, double load)
{
    (void)time;
    for (uint32_t t = 0; t < r->mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(r->mesh, t) && r->mesh->u[r->mesh->tet[t].v[0]].x < 0.5)
            kiln_loads_add_body(
                kiln_solid_loads(solid), t,
                kiln_v3_scale(kiln_v3(0, 4e5, 1e5), load * kiln_mesh_tet_volume(r->mesh, t)));
}

START_TEST(a_patch_is_pulled_as_the_step_is)
{
    rig r = make_block("neo-hookean", KILN_IMPLICIT_EULER);
    r.set = pull_half;
    kiln_local_objective o = try_block(&r, 0.01);
    check_patch(&r, &o, inner_vertex(r.mesh));
    uint32_t vertex = 0;
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
        if (r.mesh->u[v].x < r.mesh->u[vertex].x + 1e-9)
            vertex = v;
    check_patch(&r, &o, vertex);
    rig_free(&r);
}
END_TEST

/* Damping. */

static const kiln_integrator integrators[] = {KILN_IMPLICIT_EULER, KILN_NEWMARK, KILN_BDF2};

/* After a step, since first ones may have a history of their own. */
static rig make_damped(kiln_integrator integrator, int kind)
{
    kiln_material material = rig_material("neo-hookean", 1e5, 0.3, 1000);
    material.damping_stiffness = kind == 0 ? 0.05 : 0.0;
    material.viscosity = kind == 1 ? 3e3 : 0.0;
    material.damping_mass = kind == 2 ? 20.0 : 0.0;
    rig r = make_block_of(material, integrator, 1);
    rig_step(&r, 0.01);
    return r;
}

START_TEST(a_patch_is_damped_as_the_step_is)
{
    rig r = make_damped(integrators[_i / 3], _i % 3);
    kiln_local_objective o = try_block(&r, 0.01);
    bool potential = integrators[_i / 3] != KILN_NEWMARK || _i % 3 == 2;
    check_patch_of(&r, &o, inner_vertex(r.mesh), potential);
    rig_free(&r);
}
END_TEST

/* Matter that flows. */

static kiln_material flowing(const char *model, kiln_yield_norm norm, bool instant)
{
    kiln_material material = rig_material(model, 1e5, 0.3, 1000);
    material.plastic = (kiln_plastic){.flows = true,
                                      .instant = instant,
                                      .norm = norm,
                                      .law = KILN_HARDENING_WORK,
                                      .yield = 300.0,
                                      .rate = instant ? 0.0 : 50.0,
                                      .hardening = 0.05};
    return material;
}

/* After a step in which some of it has flowed, which is in its rest shapes now. */
static rig make_flowed(const char *model, kiln_yield_norm norm, bool instant)
{
    rig r = make_block_of(flowing(model, norm, instant), KILN_IMPLICIT_EULER, 1);
    kiln_flow_report report = {0};
    kiln_error error = {0};
    rig_step(&r, 0.01);
    rig_check(kiln_plastic_update(kiln_solid_elements(r.solid), r.mesh, NULL, 0.01, NULL, &report,
                                  &error),
              &error);
    rig_check(kiln_solid_reform(r.solid, &error), &error);
    ck_assert_uint_gt(report.flowed, 20);
    ck_assert_uint_lt(report.flowed, r.mesh->table[KILN_ON_TET].live);
    return r;
}

static rig make_flowed_case(int i)
{
    static const struct {
        const char *model;
        kiln_yield_norm norm;
        bool instant;
    } cases[] = {{"neo-hookean", KILN_YIELD_MISES, true},
                 {"corotated", KILN_YIELD_MISES, true},
                 {"linear", KILN_YIELD_MISES, true},
                 {"stvk", KILN_YIELD_FROBENIUS, true},
                 {"neo-hookean", KILN_YIELD_MISES, false}};
    return make_flowed(cases[i].model, cases[i].norm, cases[i].instant);
}

/* Vertices of tets that flow in the step, or have flowed. */
static uint32_t flowing_vertex(const kiln_local_objective *o)
{
    uint32_t found = KILN_NONE;
    double most = 0.0;
    for (uint32_t v = 0; v < o->mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_walker walker;
        kiln_walker_init(&walker, o->mesh->context);
        double strain = 0.0;
        ck_assert_int_eq(kiln_star(o->mesh, v, &walker, NULL), KILN_OK);
        for (size_t i = 0; i < walker.tets.count; i++)
            strain += o->hardening[walker.tets.data[i]];
        kiln_walker_free(&walker);
        if (strain > most) {
            most = strain;
            found = v;
        }
    }
    return found;
}

START_TEST(a_patch_flows_as_the_step_does)
{
    rig r = make_flowed_case(_i);
    kiln_local_objective o = try_block(&r, 0.01);
    check_patch(&r, &o, flowing_vertex(&o));
    check_patch(&r, &o, inner_vertex(r.mesh));
    rig_free(&r);
}
END_TEST

/* E1: the whole falls by what is reported, and by more than was asked for. */
START_TEST(what_is_kept_gains)
{
    rig r = make_block("neo-hookean", integrators[_i]);
    kiln_local_objective o = try_block(&r, 0.01);
    if (_i > 0) { /* a first step has a history of its own */
        rig_step(&r, 0.01);
        kiln_driver driver = rig_driver(&r);
        const kiln_vec3 *places;
        kiln_error error = {0};
        rig_check(kiln_solid_try(r.solid, &driver, 0.01, &r.clock, &r.report, &places, &error),
                  &error);
        memcpy(end_of(r.mesh), places, r.mesh->table[KILN_ON_VERTEX].used * sizeof *places);
        kiln_solid_objective(r.solid, 0.01, &r.clock, &o);
        kiln_objective_look(&o);
    }
    double before = whole(&o);
    kiln_energy_options options = options_of(0.1 * best_prediction(&o));
    kiln_energy_report report = remesh(&r, &o, &options);
    double gained =
        report.splits.gained + report.flips.gained + report.moves.gained + report.collapses.gained;
    ck_assert_uint_gt(report.splits.taken, 0);
    ck_assert_uint_gt(report.splits.trials, report.splits.taken);
    ck_assert_double_gt(report.splits.gained, (double)report.splits.taken * options.split);
    ck_assert_double_eq_tol(before - whole(&o), gained, 1e-9 * fabs(before));
    kiln_test_audit(r.mesh);
    for (uint32_t t = 0; t < r.mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = r.mesh->tet[t].v;
        if (kiln_tet_live(r.mesh, t))
            ck_assert_double_gt(kiln_tet_volume(o.end[v[0]], o.end[v[1]], o.end[v[2]], o.end[v[3]]),
                                0.0);
    }
    rig_free(&r);
}
END_TEST

/* The same of what is damped; predictions know of it, too. */
START_TEST(what_is_kept_gains_in_what_is_pulled)
{
    rig r = make_block("linear", KILN_IMPLICIT_EULER);
    r.set = pull_half;
    kiln_local_objective o = try_block(&r, 0.01);
    double before = whole(&o);
    kiln_energy_options options = options_of(0.1 * best_prediction(&o));
    kiln_energy_report report = remesh(&r, &o, &options);
    double gained =
        report.splits.gained + report.flips.gained + report.moves.gained + report.collapses.gained;
    ck_assert_uint_gt(report.splits.taken, 0);
    ck_assert_double_ge(report.splits.gained, (1.0 - 1e-6) * report.predicted);
    ck_assert_double_le(report.splits.gained, 4.0 * report.predicted);
    ck_assert_double_eq_tol(before - whole(&o), gained, 1e-9 * fabs(before));
    rig_free(&r);
}
END_TEST

START_TEST(what_is_kept_gains_in_what_is_damped)
{
    rig r = make_damped(integrators[_i / 3], _i % 3);
    kiln_local_objective o = try_block(&r, 0.01);
    double before = whole(&o);
    kiln_energy_options options = options_of(0.1 * best_prediction(&o));
    kiln_energy_report report = remesh(&r, &o, &options);
    double gained =
        report.splits.gained + report.flips.gained + report.moves.gained + report.collapses.gained;
    ck_assert_uint_gt(report.splits.taken, 0);
    ck_assert_double_ge(report.splits.gained, report.predicted);
    ck_assert_double_le(report.splits.gained, 4.0 * report.predicted);
    if (integrators[_i / 3] != KILN_NEWMARK || _i % 3 == 2)
        ck_assert_double_eq_tol(before - whole(&o), gained, 1e-9 * fabs(before));
    rig_free(&r);
}
END_TEST

static double sum_of(const kiln_mesh *mesh, const char *name, const char *times)
{
    const kiln_field *a = kiln_mesh_field(mesh, KILN_ON_TET, name);
    const kiln_field *b = kiln_mesh_field(mesh, KILN_ON_TET, times);
    double sum = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            sum += kiln_field_value(a, t, 0) * kiln_field_value(b, t, 0);
    return sum;
}

/* Of matter that has flowed only what is split is another, so that what it has been through is
 * where it was, tet by tet; and the gain is that of the whole. */
START_TEST(what_has_flowed_stays)
{
    rig r = make_flowed_case(_i);
    kiln_local_objective o = try_block(&r, 0.01);
    double before = whole(&o), fields[2], volume = 0.0, after = 0.0;
    fields[0] = sum_of(r.mesh, KILN_FIELD_HARDENING, KILN_FIELD_REST_VOLUME);
    fields[1] = sum_of(r.mesh, KILN_FIELD_PLASTIC_STRAIN, KILN_FIELD_REST_VOLUME);
    for (uint32_t t = 0; t < r.mesh->table[KILN_ON_TET].used; t++)
        volume += kiln_offsets_of(r.mesh).rest_volume[t];
    kiln_remesher remesher;
    kiln_energy_report report;
    kiln_energy_options options = options_of(0.1 * best_prediction(&o));
    kiln_error error = {0};
    kiln_remesh_options pass = kiln_remesh_default_options();
    pass.surface = KILN_SURFACE_KEEP;
    rig_check(kiln_remesher_begin(r.mesh, &pass, &remesher, &error), &error);
    rig_check(kiln_energy_remesh(&remesher, &o, &options, &report, &error), &error);
    kiln_objective_look(&o);
    double found = whole(&o);
    o.scheme.scale = 0.0;
    double stored = whole(&o);
    kiln_transfer_options transfer = {.mass = "mass"};
    rig_check(kiln_transfer(r.mesh, &transfer, NULL, &error), &error);
    kiln_remesher_end(&remesher);
    double gained =
        report.splits.gained + report.flips.gained + report.moves.gained + report.collapses.gained;
    ck_assert_uint_gt(report.splits.taken, 0);
    ck_assert_double_eq_tol(before - found, gained, 1e-9 * fabs(before));
    ck_assert_double_eq_tol(sum_of(r.mesh, KILN_FIELD_HARDENING, KILN_FIELD_REST_VOLUME), fields[0],
                            1e-11 * fields[0]);
    ck_assert_double_eq_tol(sum_of(r.mesh, KILN_FIELD_PLASTIC_STRAIN, KILN_FIELD_REST_VOLUME),
                            fields[1], 1e-11 * fields[1]);
    for (uint32_t t = 0; t < r.mesh->table[KILN_ON_TET].used; t++)
        after += kiln_tet_live(r.mesh, t) ? kiln_offsets_of(r.mesh).rest_volume[t] : 0.0;
    ck_assert_double_eq_tol(after, volume, 1e-12 * volume);
    /* What the transfer has given is what the trials were judged with. */
    kiln_objective_look(&o);
    for (uint32_t t = 0; t < r.mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(r.mesh, t))
            ck_assert_double_eq_tol(kiln_offsets_of(r.mesh).rest_volume[t],
                                    o.rest[t] * kiln_mesh_tet_volume(r.mesh, t), 1e-12 * volume);
    if (r.material.plastic.norm == KILN_YIELD_MISES) /* else thresholds are found again (lagged) */
        ck_assert_double_eq_tol(whole(&o), stored, 1e-9 * gained);
    rig_free(&r);
}
END_TEST

/* All that was tried in vain. */
/* What is asked for in vain is tried and leaves every bit, but for the memory of it. */
START_TEST(what_is_rejected_leaves_every_bit)
{
    rig r = make_block("neo-hookean", KILN_IMPLICIT_EULER);
    kiln_local_objective o = try_block(&r, 0.01);
    check_rejected(&r, &o);
    rig_free(&r);
}
END_TEST

/* What was tried in vain waits: until less is asked for, or until the mesh round it is another. */
START_TEST(what_was_tried_in_vain_waits)
{
    rig r = make_block("neo-hookean", KILN_IMPLICIT_EULER);
    kiln_local_objective o = try_block(&r, 0.01);
    double best = best_prediction(&o);
    kiln_energy_options options = options_of(2.4 * best);
    kiln_energy_report report = remesh(&r, &o, &options);
    ck_assert_uint_gt(report.splits.trials, 0);
    ck_assert_uint_eq(report.splits.taken, 0);
    /* Flips and moves are worth less: until there are none. */
    for (int i = 0; i < 20 && report.flips.taken + report.moves.taken > 0; i++)
        report = remesh(&r, &o, &options);
    report = remesh(&r, &o, &options);
    ck_assert_uint_eq(report.splits.trials, 0);
    ck_assert_uint_eq(report.moves.trials, 0);
    forget(r.mesh);
    best = best_prediction(&o); /* moves have made it less */
    options.split = 1.5 * best;
    ck_assert_uint_gt(remesh(&r, &o, &options).splits.trials, 0);
    options.split = 0.5 * best;
    ck_assert_uint_gt(remesh(&r, &o, &options).splits.taken, 0);
    rig_free(&r);
}
END_TEST

/* [tet][2][2] of energy_vain.c. */
static size_t count_flat(const kiln_mesh *mesh)
{
    const double *flat =
        (const double *)(const void *)kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_FLAT)->data;
    size_t count = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        count += kiln_tet_live(mesh, t) && flat[4 * t + 1] > 0.0 && flat[4 * t + 3] > 0.0;
    return count;
}

/* Flips that were looked at wait likewise, and hide hardly any: patches of splits that were made
 * have moved what is round them a little. */
START_TEST(flips_in_vain_wait)
{
    uint64_t made = 0, hidden = 0;
    for (int k = 0; k < 5; k++) {
        rig r = make_block("neo-hookean", KILN_IMPLICIT_EULER);
        kiln_local_objective o = try_block(&r, 0.01);
        kiln_energy_options options = options_of((0.1 + 0.05 * k) * best_prediction(&o));
        kiln_energy_report report = remesh(&r, &o, &options);
        made += report.flips.taken;
        for (int i = 0; i < 40 && report.splits.taken + report.flips.taken + report.moves.taken > 0;
             i++) {
            report = remesh(&r, &o, &options);
            made += report.flips.taken;
        }
        ck_assert_uint_eq(report.flips.taken, 0);
        ck_assert_uint_gt(2 * count_flat(r.mesh), r.mesh->table[KILN_ON_TET].live);
        forget(r.mesh);
        ck_assert_uint_eq(count_flat(r.mesh), 0);
        hidden += remesh(&r, &o, &options).flips.taken;
        rig_free(&r);
    }
    ck_assert_uint_gt(made, 250);
    ck_assert_uint_le(hidden, made / 20);
}
END_TEST

/* One look in vain at a vertex, which found this part of what was asked for; then something round
 * it has moved. */
static void look_in_vain(kiln_energy_pass *w, double found)
{
    kiln_mesh *mesh = w->remesher->mesh;
    kiln_energy_note_still(w, 0, found, 1.0);
    mesh->clock++;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        mesh->info[t].changed = mesh->clock;
    ck_assert_int_eq(kiln_energy_stamp(w), KILN_OK);
}

/* What is far from being worth it does not come to it by what neighbours do when they move, but may
 * by other tets; in static solves everything is looked at until nothing gains any more. */
START_TEST(what_is_hopeless_waits_through_moves)
{
    rig r = make_block("neo-hookean", KILN_IMPLICIT_EULER);
    kiln_local_objective o = try_block(&r, 0.01);
    kiln_energy_options options = options_of(best_prediction(&o));
    kiln_remesher remesher = {.mesh = r.mesh, .context = r.context};
    kiln_energy_pass w = {.remesher = &remesher, .objective = &o, .options = &options};
    const uint32_t vertex = 0;
    size_t count = r.mesh->table[KILN_ON_VERTEX].used;
    ck_assert_int_eq(kiln_array_reserve(r.context, &w.error_at, count, NULL), KILN_OK);
    w.error_at.count = count;
    for (size_t v = 0; v < count; v++)
        w.error_at.data[v] = options.split;
    kiln_energy_look(&w);
    look_in_vain(&w, 0.3);
    ck_assert(kiln_energy_is_still(&w, 0));
    kiln_energy_stir(&w, &vertex, 1);
    ck_assert(!kiln_energy_is_still(&w, 0));
    look_in_vain(&w, 0.9);
    ck_assert(!kiln_energy_is_still(&w, 0));
    look_in_vain(&w, 0.3);
    for (size_t v = 0; v < count; v++)
        w.error_at.data[v] *= 1.6;
    ck_assert(!kiln_energy_is_still(&w, 0));
    o.scheme.scale = 0.0;
    look_in_vain(&w, 0.3);
    ck_assert(!kiln_energy_is_still(&w, 0));
    kiln_array_free(r.context, &w.error_at);
    kiln_array_free(r.context, &w.stamp);
    rig_free(&r);
}
END_TEST

static double worst_quality(const kiln_mesh *mesh)
{
    double worst = 1.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        if (kiln_tet_live(mesh, t))
            worst = fmin(worst, kiln_tet_quality(&mesh->u[v[0]], &mesh->u[v[1]], &mesh->u[v[2]],
                                                 &mesh->u[v[3]]));
    }
    return worst;
}

/* Where all tets are below the quality that is asked for, as in plates thinner than their edges,
 * what is no worse than what goes is still made. */
START_TEST(bad_tets_are_split_where_they_become_no_worse)
{
    rig r = make_block("neo-hookean", KILN_IMPLICIT_EULER);
    kiln_local_objective o = try_block(&r, 0.01);
    kiln_energy_options options = options_of(0.05 * best_prediction(&o));
    double before = worst_quality(r.mesh);
    options.quality = 0.999;
    ck_assert_uint_gt(remesh(&r, &o, &options).splits.taken, 0);
    ck_assert_double_ge(worst_quality(r.mesh), (1.0 - 1e-12) * before);
    rig_free(&r);
}
END_TEST

/* So many splits are tried as a share of the edges, and no more. */
START_TEST(a_share_of_the_edges_is_tried)
{
    rig r = make_block("neo-hookean", KILN_IMPLICIT_EULER);
    kiln_local_objective o = try_block(&r, 0.01);
    kiln_energy_options options = options_of(1e-3 * best_prediction(&o));
    uint32_t edges = 0;
    for (uint32_t t = 0; t < r.mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 6; k++) {
            uint32_t ring[64];
            kiln_ring found =
                kiln_edge_ring(r.mesh, t, kiln_edge_ends[k][0], kiln_edge_ends[k][1], ring, 64);
            bool lowest = true;
            for (uint32_t i = 0; i < found.count; i++)
                lowest = lowest && ring[i] / 4 >= t;
            edges += lowest;
        }
    options.share = 0.05;
    kiln_energy_report report = remesh(&r, &o, &options);
    ck_assert_uint_gt(report.splits.taken, 0);
    ck_assert_uint_le(report.splits.trials, (uint64_t)ceil(0.05 * edges));
    rig_free(&r);
}
END_TEST

/* With a mark the best go first, and the rest are not forgotten: calls that follow make them. */
START_TEST(little_waits_for_much)
{
    uint64_t taken[2], later = 0;
    for (int marked = 0; marked < 2; marked++) {
        rig r = make_block("neo-hookean", KILN_IMPLICIT_EULER);
        kiln_local_objective o = try_block(&r, 0.01);
        kiln_energy_options options = options_of(0.02 * best_prediction(&o));
        options.mark = 0.5 * marked;
        kiln_energy_report report = remesh(&r, &o, &options);
        taken[marked] = report.splits.taken;
        if (marked) {
            double mean = report.predicted / (double)report.splits.taken;
            ck_assert_double_gt(mean, 0.5 * 0.4 / 0.02 * options.split);
            for (int i = 0; i < 100 && report.splits.taken > 0; i++) {
                report = remesh(&r, &o, &options);
                later += report.splits.taken;
            }
            options.mark = 0.0; /* nothing has been solved since flips and moves */
            ck_assert_uint_le(remesh(&r, &o, &options).splits.taken, later / 10);
        }
        rig_free(&r);
    }
    ck_assert_uint_gt(taken[1], 0);
    ck_assert_uint_lt(4 * taken[1], taken[0]);
    ck_assert_uint_gt(later, taken[1]);
}
END_TEST

static uint32_t *held_of(const kiln_mesh *mesh)
{
    return (uint32_t *)(void *)kiln_mesh_field(mesh, KILN_ON_VERTEX, KILN_FIELD_HELD)->data;
}

/* Splits have no room: what changes are the tets between the vertices, and where those are. */
static kiln_energy_report reshape(rig *r, kiln_local_objective *o)
{
    kiln_energy_options options = options_of(1e-4 * best_prediction(o));
    options.most_tets = 1;
    return remesh(r, o, &options);
}

/* A vertex that is held across its plane goes along it, where all of the plane is held; the border
 * of what is held stays. */
START_TEST(what_is_held_moves_where_all_is_held_alike)
{
    for (int some = 0; some < 2; some++) {
        rig r = make_block("neo-hookean", KILN_IMPLICIT_EULER);
        kiln_local_objective o = try_block(&r, 0.01);
        size_t rows = r.mesh->table[KILN_ON_VERTEX].used, moved = 0;
        kiln_vec3 before[256];
        ck_assert_uint_le(rows, 256);
        memcpy(before, r.mesh->u, rows * sizeof *before);
        for (uint32_t v = 0; v < rows; v++)
            if (before[v].z == 0.0 && (!some || fabs(before[v].y - 0.15) < 1e-9))
                held_of(r.mesh)[v] = 4;
        reshape(&r, &o);
        for (uint32_t v = 0; v < rows; v++) {
            if (!held_of(r.mesh)[v])
                continue;
            moved += kiln_v3_norm(kiln_v3_sub(r.mesh->u[v], before[v])) > 0.0;
            ck_assert_double_eq(r.mesh->u[v].z, 0.0);
        }
        if (some)
            ck_assert_uint_eq(moved, 0);
        else
            ck_assert_uint_gt(moved, 0);
        kiln_test_audit(r.mesh);
        rig_free(&r);
    }
}
END_TEST

/* Among tets that splits have made; what they gain is gained. */
START_TEST(faces_are_flipped_too)
{
    rig r = make_block("neo-hookean", KILN_IMPLICIT_EULER);
    kiln_local_objective o = try_block(&r, 0.01);
    kiln_energy_options options = options_of(0.05 * best_prediction(&o));
    remesh(&r, &o, &options);
    uint32_t vertices = r.mesh->table[KILN_ON_VERTEX].live;
    double before = whole(&o);
    kiln_energy_report report = reshape(&r, &o);
    ck_assert_uint_eq(r.mesh->table[KILN_ON_VERTEX].live, vertices);
    ck_assert_uint_gt(report.faces, 0);
    ck_assert_uint_gt(report.flips.taken, report.faces);
    ck_assert_double_eq_tol(before - whole(&o),
                            report.flips.gained + report.moves.gained + report.collapses.gained,
                            1e-9 * fabs(before));
    kiln_test_audit(r.mesh);
    rig_free(&r);
}
END_TEST

/* Flips and moves that gain enough as they are leave all other places to the solve that follows. */
START_TEST(what_gains_at_once_moves_nothing)
{
    rig r = make_block("neo-hookean", KILN_IMPLICIT_EULER);
    kiln_local_objective o = try_block(&r, 0.01);
    kiln_energy_options options = options_of(0.05 * best_prediction(&o));
    remesh(&r, &o, &options);
    size_t rows = r.mesh->table[KILN_ON_VERTEX].used, kept = 0;
    kiln_vec3 *places = malloc(rows * sizeof *places);
    memcpy(places, o.end, rows * sizeof *places);
    double before = whole(&o);
    kiln_energy_report report = reshape(&r, &o);
    ck_assert_uint_gt(report.flips.taken + report.moves.taken, rows / 4);
    for (size_t v = 0; v < rows; v++)
        kept += memcmp(&places[v], &o.end[v], sizeof *places) == 0;
    ck_assert_uint_gt(kept + report.moves.taken, rows / 2);
    ck_assert_double_gt(before, whole(&o));
    free(places);
    rig_free(&r);
}
END_TEST

static bool refuse(const void *self, uint32_t vertex, const kiln_vec3 (*old)[3], size_t old_count,
                   const kiln_vec3 (*fresh)[3], size_t fresh_count)
{
    (void)self, (void)vertex, (void)old, (void)old_count, (void)fresh, (void)fresh_count;
    return false;
}

/* What guards the surface at the step's begin is asked for moves, too. */
START_TEST(moves_are_guarded)
{
    const kiln_surface_guard guard = {NULL, refuse};
    size_t moved[2] = {0, 0};
    for (int guarded = 0; guarded < 2; guarded++) {
        rig r = make_block("neo-hookean", KILN_IMPLICIT_EULER);
        kiln_local_objective o = try_block(&r, 0.01);
        kiln_energy_options options = options_of(0.05 * best_prediction(&o));
        size_t rows = r.mesh->table[KILN_ON_VERTEX].used;
        kiln_vec3 *u = malloc(rows * sizeof *u);
        memcpy(u, r.mesh->u, rows * sizeof *u);
        remesh_guarded(&r, &o, &options, guarded ? &guard : NULL);
        for (uint32_t v = 0; v < rows; v++)
            moved[guarded] += kiln_vertex_live(r.mesh, v) &&
                              r.mesh->vertex[v].flags & KILN_VERTEX_SURFACE &&
                              memcmp(&u[v], &r.mesh->u[v], sizeof *u) != 0;
        free(u);
        rig_free(&r);
    }
    ck_assert_uint_gt(moved[0], 0);
    ck_assert_uint_eq(moved[1], 0);
}
END_TEST

/* E3 */
/* Matter so soft that each vertex goes its own way. Other tets, and vertices elsewhere, would store
 * less energy, by what they forget of the motion; inertia takes more than that. */
START_TEST(motion_is_not_forgotten)
{
    rig r = make_block_of(rig_material("neo-hookean", 10.0, 0.3, 1000), integrators[_i], 1);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
        rig_v(&r)[v] = kiln_v3(0.02 * sin(7.0 * v), 0.02 * cos(11.0 * v), 0.02 * sin(5.0 * v));
    kiln_local_objective o = try_block(&r, 0.01);
    double stored = kiln_objective_stored(&o);
    kiln_energy_options options = options_of(1e-4 * stored);
    options.most_tets = 1; /* no splits */
    kiln_energy_report report = remesh(&r, &o, &options);
    ck_assert_double_lt(report.flips.gained + report.moves.gained, stored);
    ck_assert_uint_lt(report.flips.taken + report.moves.taken, 5);
    rig_free(&r);
}
END_TEST

START_TEST(threads_change_nothing)
{
    uint64_t hash[3], trials[3];
    for (int threads = 1; threads <= 3; threads++) {
        rig r = make_block_on("neo-hookean", KILN_IMPLICIT_EULER, threads);
        kiln_local_objective o = try_block(&r, 0.01);
        kiln_energy_options options = options_of(0.02 * best_prediction(&o));
        kiln_energy_report report = remesh(&r, &o, &options);
        ck_assert_uint_gt(report.splits.taken, 100);
        hash[threads - 1] = kiln_mesh_hash(r.mesh);
        trials[threads - 1] = report.splits.trials + report.moves.trials + report.flips.trials;
        rig_free(&r);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
    ck_assert_uint_eq(hash[0], hash[2]);
    ck_assert_uint_eq(trials[0], trials[1]);
    ck_assert_uint_eq(trials[0], trials[2]);
}
END_TEST

/* Matter that deforms alike everywhere gains nothing by a finer mesh. */
START_TEST(uniform_strain_is_left_alone)
{
    rig r = make_block("neo-hookean", KILN_STATIC);
    check_uniform(&r);
    rig_free(&r);
}
END_TEST

/* On quadratic matter the prediction is what one vertex gains; its surroundings only add to it. */
START_TEST(a_prediction_is_a_lower_bound)
{
    rig r = make_block("linear", KILN_IMPLICIT_EULER);
    kiln_local_objective o = try_block(&r, 0.01);
    kiln_energy_options options = options_of(0.1 * best_prediction(&o));
    kiln_energy_report report = remesh(&r, &o, &options);
    ck_assert_uint_gt(report.splits.taken, 10);
    ck_assert_double_ge(report.splits.gained, (1.0 - 1e-6) * report.predicted);
    ck_assert_double_le(report.splits.gained, 4.0 * report.predicted);
    rig_free(&r);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("energy remesh");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, a_patch_is_a_piece_of_the_step, 0, 4);
    tcase_add_loop_test(all, a_patch_is_a_piece_of_the_first_step, 0, 2);
    tcase_add_loop_test(all, what_is_kept_gains, 0, 3);
    tcase_add_test(all, a_patch_is_pulled_as_the_step_is);
    tcase_add_test(all, what_is_kept_gains_in_what_is_pulled);
    tcase_add_loop_test(all, a_patch_is_damped_as_the_step_is, 0, 9);
    tcase_add_loop_test(all, what_is_kept_gains_in_what_is_damped, 0, 9);
    tcase_add_loop_test(all, a_patch_flows_as_the_step_does, 0, 5);
    tcase_add_loop_test(all, what_has_flowed_stays, 0, 5);
    tcase_add_test(all, what_is_rejected_leaves_every_bit);
    tcase_add_test(all, what_was_tried_in_vain_waits);
    tcase_add_test(all, bad_tets_are_split_where_they_become_no_worse);
    tcase_add_test(all, a_share_of_the_edges_is_tried);
    tcase_add_test(all, little_waits_for_much);
    tcase_add_test(all, what_is_held_moves_where_all_is_held_alike);
    tcase_add_test(all, faces_are_flipped_too);
    tcase_add_test(all, flips_in_vain_wait);
    tcase_add_test(all, what_is_hopeless_waits_through_moves);
    tcase_add_test(all, moves_are_guarded);
    tcase_add_test(all, what_gains_at_once_moves_nothing);
    tcase_add_test(all, threads_change_nothing);
    tcase_add_loop_test(all, motion_is_not_forgotten, 0, 3);
    tcase_add_test(all, uniform_strain_is_left_alone);
    tcase_add_test(all, a_prediction_is_a_lower_bound);
    suite_add_tcase(suite, all);
    return suite;
}
