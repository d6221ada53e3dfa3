/* P1 to P3: plastic flow of a cube against its differential equations, and what must not change. */
#include "fem/plasticity.h"
#include "geom/svd3.h"
#include "measure/fixture.h"
#include "validation/trial.h"

#include <string.h>

/* Next to no inertia: the equations are those of equilibria. */
static const double young = 1e5, poisson = 0.3, rate = 5.0, tau0 = 1e4, density = 1e-3;

typedef struct law {
    const char *name;
    kiln_hardening_law kind;
    double hardening;
} law;

static kiln_status plastic_cube(kiln_trial *trial, const law *l, double dt, kiln_error *error)
{
    KILN_TRY(kiln_trial_material(trial, "corotated", young, poisson, density, error));
    int time = l->kind == KILN_HARDENING_STRESS ? -1 : 0;
    trial->scene.materials.data[0].base.plastic =
        (kiln_plastic){.flows = true,
                       .norm = KILN_YIELD_FROBENIUS,
                       .law = l->kind,
                       .yield = kiln_trial_number(trial, tau0, -1, 1, -2),
                       .rate = kiln_trial_number(trial, rate, 0, 0, -1),
                       .hardening = kiln_trial_number(trial, l->hardening, 0, 0, time)};
    trial->scene.pace.dt = kiln_trial_number(trial, dt, 0, 0, 1);
    trial->scene.pace.dt_min = 1e-3 * trial->scene.pace.dt;
    trial->scene.output.fields |= 1u << KILN_OUTPUT_F;
    trial->scene.output.hardening = true;
    return kiln_trial_box(trial, kiln_v3(1, 1, 1), (int[]){1, 1, 1}, "kuhn", error);
}

/* |P| of the corotated model at the stretches s. */
static double piola_norm(const double s[3])
{
    double mu, lambda, sum = 0.0;
    kiln_lame_from_young(young, poisson, &mu, &lambda);
    for (int i = 0; i < 3; i++) {
        double p = 2.0 * mu * (s[i] - 1.0) + lambda * (s[0] + s[1] + s[2] - 3.0);
        sum += p * p;
    }
    return sqrt(sum);
}

/* A state of P1 or P2 is two numbers; y' = slope(y), by the classical Runge-Kutta method. */
typedef void (*slope_function)(const law *l, const double y[2], double out[2]);

static void integrate(slope_function slope, const law *l, double time, double y[2])
{
    enum { STEPS = 2000 };
    double h = time / STEPS, k[4][2], at[2];
    for (int i = 0; i < STEPS; i++) {
        for (int s = 0; s < 4; s++) {
            double part = s == 0 ? 0.0 : s == 3 ? h : 0.5 * h;
            for (int c = 0; c < 2; c++)
                at[c] = y[c] + (s ? part * k[s - 1][c] : 0.0);
            slope(l, at, k[s]);
        }
        for (int c = 0; c < 2; c++)
            y[c] += h / 6.0 * (k[0][c] + 2.0 * k[1][c] + 2.0 * k[2][c] + k[3][c]);
    }
}

/* The second number of both is what the law adds up: the growth of tau, or alpha. */
static void add_law(const law *l, double norm, double hardening, double *threshold, double *growth)
{
    bool work = l->kind == KILN_HARDENING_WORK;
    *threshold = tau0 + (work ? hardening : l->hardening * hardening);
    *growth = work ? l->hardening * rate * fmax(norm - *threshold, 0.0) : norm;
}

/* P1: e = ln a of the elastic stretch a, a^-1/2, a^-1/2. */
static void relaxation(const law *l, const double y[2], double out[2])
{
    double norm = piola_norm((double[]){exp(y[0]), exp(-0.5 * y[0]), exp(-0.5 * y[0])}), threshold;
    add_law(l, norm, y[1], &threshold, &out[1]);
    out[0] = -rate * fmax(1.0 - threshold / norm, 0.0) * y[0];
}

/* What a frame shows, the largest of all tets and points; frames are 0.1 s apart. */
typedef struct record {
    double stretch, hardening, size[3];
} record;
enum { MOST_FRAMES = 24 };

typedef struct history {
    const law *law;
    int frames;
    record at[MOST_FRAMES];
} history;

static void look(kiln_trial *trial)
{
    history *h = trial->user;
    const kiln_soup *frame = &trial->result;
    const kiln_soup_field *F = kiln_soup_find_field(frame, KILN_ON_TET, "deformation");
    const kiln_soup_field *hardening = kiln_soup_find_field(frame, KILN_ON_TET, "hardening");
    double unit =
        kiln_trial_number(trial, 1, -1, 1, h->law->kind == KILN_HARDENING_STRESS ? -1 : -2);
    record r = {0};
    for (size_t t = 0; t < frame->tets.count; t++) {
        kiln_mat3 m;
        memcpy(m.m, F->data.data + 9 * t, sizeof m.m);
        r.stretch = fmax(r.stretch, kiln_svd3_decompose(m).s[0]);
        r.hardening = fmax(r.hardening, hardening->data.data[t] / unit);
    }
    for (size_t i = 0; i < frame->points.count; i++)
        for (int c = 0; c < 3; c++)
            r.size[c] = fmax(r.size[c], (&frame->points.data[i].x)[c]);
    if (h->frames < MOST_FRAMES)
        h->at[h->frames++] = r;
}

/* Time as the number of a frame. */
static const record *at_time(const history *h, double time)
{
    return &h->at[(int)(10.0 * time + 0.5)];
}

static kiln_vec3 place_stretched(const void *user, kiln_vec3 u, double time)
{
    (void)user, (void)time;
    return kiln_v3(1.5 * u.x, u.y / sqrt(1.5), u.z / sqrt(1.5));
}

/* P1: every vertex is held. */
static kiln_status hold_stretched(kiln_trial *trial, kiln_trial_map *map, kiln_error *error)
{
    kiln_picks where;
    trial->scene.bodies.data[0].position = kiln_trial_quantity(map);
    KILN_TRY(kiln_trial_pick_all(trial, &where, error));
    return kiln_trial_hold(trial, &where, 7, map, error);
}

static const double force = 2e4; /* P2, N */

/* P2: symmetry planes, and a force on the face +x. */
static kiln_status pull(kiln_trial *trial, kiln_error *error)
{
    kiln_picks where;
    kiln_vec3 traction = kiln_trial_vector(trial, kiln_v3(force, 0, 0), -1, 1, -2);
    for (int c = 0; c < 3; c++) {
        KILN_TRY(kiln_trial_pick_patch(trial, 2 * c + 1, &where, error));
        KILN_TRY(kiln_trial_hold(trial, &where, 1 << c, NULL, error));
    }
    KILN_TRY(kiln_trial_pick_patch(trial, 2, &where, error));
    return kiln_trial_load(trial, KILN_LOAD_TRACTION, &where, kiln_quantity_vector(traction),
                           error);
}

static kiln_status run_cube(kiln_validation *validation, const kiln_view *view, const law *l,
                            bool held, double dt, double duration, history *h, kiln_error *error)
{
    kiln_trial trial;
    *h = (history){.law = l};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_trial_map map = {&trial, place_stretched, NULL, 1, 0, 0};
    trial.scene.solid.integrator = KILN_IMPLICIT_EULER;
    trial.scene.duration = kiln_trial_number(&trial, duration, 0, 0, 1);
    trial.scene.output.frame = kiln_trial_number(&trial, 0.1, 0, 0, 1);
    trial.user = h;
    trial.on_frame = look;
    kiln_status status = plastic_cube(&trial, l, dt, error);
    if (status == KILN_OK)
        status = held ? hold_stretched(&trial, &map, error) : pull(&trial, error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    kiln_trial_end(&trial);
    return status;
}

static const law laws[] = {{"kappa = 0", KILN_HARDENING_WORK, 0.0},
                           {"kappa = .5", KILN_HARDENING_WORK, 0.5},
                           {"Bargteil, K = .2", KILN_HARDENING_STRESS, 0.2}};

/* Elastic stretches as the design prints them, at .1, .2, .5 and 1 s; then tau - tau0 or alpha. */
static const double times[4] = {0.1, 0.2, 0.5, 1.0};
static const double printed[3][5] = {{1.32523, 1.23193, 1.13289, 1.10992, 0.0},
                                     {1.34312, 1.27779, 1.23153, 1.22714, 10900.9},
                                     {1.32729, 1.23787, 1.15074, 1.14086, 17905.7}};

static kiln_status relaxation_in(kiln_validation *validation, const kiln_view *view, int l,
                                 kiln_error *error)
{
    const char *name = laws[l].name;
    history h;
    KILN_TRY(run_cube(validation, view, &laws[l], true, 1e-3, 1.0, &h, error));
    double y[2] = {log(1.5), 0.0}, before = 0.0;
    for (int k = 0; k < 4; k++) {
        integrate(relaxation, &laws[l], times[k] - before, y);
        before = times[k];
        double a = exp(y[0]);
        kiln_validation_report(validation, at_time(&h, times[k])->stretch,
                               kiln_near_relative(a, 5e-4), "%s, %s: a at %g s", name, view->name,
                               times[k]);
        if (view == kiln_view_at(0))
            kiln_validation_report(validation, a, kiln_near(printed[l][k], 6e-6),
                                   "%s: a at %g s as printed", name, times[k]);
    }
    kiln_validation_report(validation, at_time(&h, 1.0)->hardening, kiln_near_relative(y[1], 5e-4),
                           "%s, %s: hardening at 1 s", name, view->name);
    if (view == kiln_view_at(0) && printed[l][4] > 0.0)
        kiln_validation_report(validation, y[1], kiln_near(printed[l][4], 0.06),
                               "%s: hardening at 1 s as printed", name);
    return KILN_OK;
}

kiln_status kiln_validate_P1(kiln_validation *validation, kiln_error *error)
{
    history coarse, half;
    double y[2] = {log(1.5), 0.0};
    for (size_t i = 0; kiln_view_at(i); i++)
        for (int l = 0; l < 3; l++)
            KILN_TRY(relaxation_in(validation, kiln_view_at(i), l, error));
    integrate(relaxation, &laws[0], 0.2, y);
    KILN_TRY(run_cube(validation, kiln_view_at(0), &laws[0], true, 0.01, 0.2, &coarse, error));
    KILN_TRY(run_cube(validation, kiln_view_at(0), &laws[0], true, 0.005, 0.2, &half, error));
    double a = at_time(&coarse, 0.2)->stretch, b = at_time(&half, 0.2)->stretch;
    kiln_validation_report(validation, a, kiln_near(1.22824, 6e-6),
                           "dt = .01: a at .2 s as printed");
    kiln_validation_report(validation, log2((a - exp(y[0])) / (b - exp(y[0]))),
                           kiln_between(0.93, 1.07), "order at dt = .005");
    return KILN_OK;
}

/* P2: y[0] is ln p of the plastic stretch p under the constant force. */
static void creep(const law *l, const double y[2], double out[2])
{
    double P = force * exp(y[0]), threshold;
    add_law(l, P, y[1], &threshold, &out[1]);
    out[0] = rate * fmax(1.0 - threshold / P, 0.0) * 2.0 / 3.0 *
             log((1.0 + P / young) / (1.0 - poisson * P / young));
}

/* Total lengths as the design prints them; and the width at .5 s. */
static const struct {
    double kappa, duration;
    int count;
    double time[4], total[4];
} creeps[] = {{0, 0.5, 4, {0.1, 0.2, 0.3, 0.5}, {1.26097, 1.33107, 1.41238, 1.62064}},
              {1, 2.0, 2, {0.5, 2.0}, {1.32648, 1.34600}}};

static kiln_status creep_in(kiln_validation *validation, const kiln_view *view, int row,
                            kiln_error *error)
{
    law l = {"creep", KILN_HARDENING_WORK, creeps[row].kappa};
    history h;
    KILN_TRY(run_cube(validation, view, &l, false, 1e-3, creeps[row].duration, &h, error));
    double y[2] = {0, 0}, before = 0.0, lateral = 0.0;
    for (int k = 0; k < creeps[row].count; k++) {
        double time = creeps[row].time[k];
        integrate(creep, &l, time - before, y);
        before = time;
        double P = force * exp(y[0]), total = exp(y[0]) * (1.0 + P / young);
        lateral = exp(-0.5 * y[0]) * (1.0 - poisson * P / young);
        kiln_validation_report(validation, at_time(&h, time)->size[0],
                               kiln_near_relative(total, 2e-3), "kappa = %g, %s: length at %g s",
                               l.hardening, view->name, time);
        if (view == kiln_view_at(0))
            kiln_validation_report(validation, total, kiln_near(creeps[row].total[k], 6e-6),
                                   "kappa = %g: length at %g s as printed", l.hardening, time);
    }
    if (row > 0)
        return KILN_OK;
    kiln_validation_report(validation, at_time(&h, 0.5)->size[1], kiln_near_relative(lateral, 2e-3),
                           "kappa = 0, %s: width at .5 s", view->name);
    if (view == kiln_view_at(0))
        kiln_validation_report(validation, lateral, kiln_near(0.81283, 6e-6),
                               "kappa = 0: width at .5 s as printed");
    return KILN_OK;
}

kiln_status kiln_validate_P2(kiln_validation *validation, kiln_error *error)
{
    for (size_t v = 0; kiln_view_at(v); v++)
        for (int row = 0; row < 2; row++)
            KILN_TRY(creep_in(validation, kiln_view_at(v), row, error));
    return KILN_OK;
}

/* P3. Figures from the fields and from F at x = u, which is Pi. */
typedef struct block {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_elements *elements;
    uint32_t *material_of;
    double *F;
} block;

static kiln_status open_block(block *b, kiln_context *context, const kiln_plastic *plastic,
                              kiln_error *error)
{
    *b = (block){.context = context};
    KILN_TRY(kiln_fixture_mesh(context, "box", "n=2", 0.08, &b->mesh, error));
    size_t tets = b->mesh->table[KILN_ON_TET].used;
    b->material_of = kiln_resize(context, NULL, 0, tets * sizeof *b->material_of);
    b->F = kiln_resize(context, NULL, 0, 9 * tets * sizeof *b->F);
    if (!b->material_of || !b->F)
        return kiln_fail_memory(error, 9 * tets * sizeof *b->F);
    memset(b->material_of, 0, tets * sizeof *b->material_of);
    kiln_material material = {.density = 1000, .plastic = *plastic};
    KILN_TRY(kiln_material_model_find("corotated", &material.model, error));
    kiln_lame_from_young(young, poisson, &material.mu, &material.lambda);
    KILN_TRY(kiln_plastic_add_fields(b->mesh, error));
    KILN_TRY(kiln_elements_create(context, &b->elements, error));
    return kiln_elements_build(b->elements, b->mesh, &material, 1, b->material_of, error);
}

static void close_block(block *b)
{
    size_t tets = b->mesh ? b->mesh->table[KILN_ON_TET].used : 0;
    kiln_elements_destroy(b->elements);
    kiln_release(b->context, b->F, 9 * tets * sizeof *b->F);
    kiln_release(b->context, b->material_of, tets * sizeof *b->material_of);
    kiln_mesh_destroy(b->mesh);
}

static long double rest_volume(const block *b)
{
    const double *volume = kiln_offsets_of(b->mesh).rest_volume;
    long double sum = 0;
    for (uint32_t t = 0; t < b->mesh->table[KILN_ON_TET].used; t++)
        sum += volume[t];
    return sum;
}

/* A place for x by turns, an update of 1 ms, new rest shapes; `count` times. */
static kiln_status update_many(block *b, const kiln_mat3 way[2], int count, size_t *flowed,
                               kiln_error *error)
{
    *flowed = 0;
    for (int i = 0; i < count; i++) {
        kiln_flow_report report;
        for (uint32_t v = 0; v < b->mesh->table[KILN_ON_VERTEX].used; v++)
            b->mesh->x[v] = kiln_m3_apply(way[i % 2], b->mesh->u[v]);
        KILN_TRY(kiln_plastic_update(b->elements, b->mesh, NULL, 0.01, NULL, &report, error));
        KILN_TRY(kiln_elements_reform(b->elements, b->mesh, error));
        *flowed += report.flowed;
    }
    kiln_elements_output(b->elements, &b->mesh->u[0].x, KILN_OUTPUT_F, b->F);
    return KILN_OK;
}

/* Largest |det Pi - 1|, and largest entry of Pi - I. */
static void measure_offsets(const block *b, double *det, double *unit)
{
    *det = *unit = 0.0;
    for (uint32_t t = 0; t < b->mesh->table[KILN_ON_TET].used; t++) {
        kiln_mat3 Pi;
        memcpy(Pi.m, b->F + 9 * (size_t)t, sizeof Pi.m);
        *det = fmax(*det, fabs(kiln_m3_det(Pi) - 1.0));
        for (int k = 0; k < 9; k++)
            *unit = fmax(*unit, fabs(Pi.m[k / 3][k % 3] - (k % 4 == 0 ? 1.0 : 0.0)));
    }
}

static kiln_status flow_on(kiln_validation *validation, kiln_yield_norm norm, bool instant,
                           kiln_error *error)
{
    static const kiln_mat3 way[2] = {{{{1.3, 0.2, 0}, {0, 0.9, 0.1}, {0, 0, 0.95}}},
                                     {{{0.8, 0, 0.1}, {0.2, 1.1, 0}, {0, 0.3, 1.05}}}};
    static const kiln_mat3 squeezed[2] = {{{{0.99, 0, 0}, {0, 0.99, 0}, {0, 0, 0.99}}},
                                          {{{0.99, 0, 0}, {0, 0.99, 0}, {0, 0, 0.99}}}};
    const char *text = norm == KILN_YIELD_MISES ? "mises" : "frobenius";
    const char *kind = instant ? "instant" : "rate";
    kiln_plastic plastic = {
        .flows = true, .instant = instant, .norm = norm, .yield = 100, .rate = rate};
    block b;
    size_t flowed;
    double det = NAN, unit = NAN;
    kiln_status status = open_block(&b, kiln_validation_context(validation), &plastic, error);
    if (status == KILN_OK)
        status = update_many(&b, squeezed, 100, &flowed, error);
    if (status == KILN_OK)
        measure_offsets(&b, &det, &unit);
    kiln_validation_report(validation, unit, kiln_at_most(1e-12),
                           "%s, %s: |Pi - I| after compression by 1 %% above the threshold", text,
                           kind);
    long double before = status == KILN_OK ? rest_volume(&b) : NAN;
    if (status == KILN_OK)
        status = update_many(&b, way, 10000, &flowed, error);
    if (status == KILN_OK)
        measure_offsets(&b, &det, &unit);
    if (status == KILN_OK) {
        double drift = (double)fabsl(rest_volume(&b) / before - 1.0L);
        kiln_validation_report(validation, drift, kiln_at_most(1e-12),
                               "%s, %s: drift of the rest volume over 1e4 updates", text, kind);
        kiln_validation_report(validation, det, kiln_at_most(1e-10), "%s, %s: |det Pi - 1|", text,
                               kind);
        kiln_validation_report(validation, (double)flowed / b.mesh->table[KILN_ON_TET].used,
                               kiln_between(0.9e4, 1e4), "%s, %s: updates that flowed, per tet",
                               text, kind);
    }
    close_block(&b);
    return status;
}

kiln_status kiln_validate_P3(kiln_validation *validation, kiln_error *error)
{
    KILN_TRY(flow_on(validation, KILN_YIELD_FROBENIUS, false, error));
    KILN_TRY(flow_on(validation, KILN_YIELD_FROBENIUS, true, error));
    KILN_TRY(flow_on(validation, KILN_YIELD_MISES, false, error));
    return flow_on(validation, KILN_YIELD_MISES, true, error);
}
