/* E1, E2, E4 to E8 and E11 of the design's validation page: bodies in equilibrium. Every case is
 * set up through a scene and judged from the nodes, tets and forces its run wrote (trial.h). */
#include "base/random.h"
#include "measure/fixture.h"
#include "validation/trial.h"

#include <stdio.h>
#include <string.h>

static const double young = 1e6, poisson = 0.3;

#define FOR_EACH_VIEW(view)                                                                        \
    for (const kiln_view *view = kiln_view_at(0); view;                                            \
         view = kiln_view_at((size_t)(view - kiln_view_at(0)) + 1))

/* E1: patch tests. */
typedef struct affine {
    kiln_mat3 F;
    kiln_vec3 shift;
} affine;

static kiln_vec3 place_affine(const void *user, kiln_vec3 u, double time)
{
    const affine *a = user;
    (void)time;
    return kiln_v3_add(kiln_m3_apply(a->F, u), a->shift);
}

/* The unit cube K(3) with its interior points moved by up to a fifth of a cell. */
static kiln_status jittered_cube(kiln_trial *trial, kiln_error *error)
{
    kiln_soup soup;
    kiln_random random = kiln_random_start(11, 0);
    KILN_TRY(kiln_fixture_soup(trial->context, "box", "n=3 pattern=kuhn", &soup, error));
    for (size_t i = 0; i < soup.points.count; i++) {
        kiln_vec3 *p = &soup.points.data[i];
        for (int c = 0; c < 3; c++)
            if (p->x > 0.01 && p->x < 0.99 && p->y > 0.01 && p->y < 0.99 && p->z > 0.01 &&
                p->z < 0.99)
                (&p->x)[c] += kiln_random_range(&random, -0.2 / 3, 0.2 / 3);
    }
    return kiln_trial_body(trial, &soup, error);
}

static double gradient_error(const kiln_trial *trial, kiln_mat3 F)
{
    double worst = 0.0;
    for (size_t t = 0; t < trial->result.tets.count; t++) {
        kiln_mat3 G = kiln_trial_gradient(trial, t, NULL);
        double off = sqrt(kiln_m3_norm2(kiln_m3_add(G, kiln_m3_scale(F, -1.0))));
        worst = off > worst || isnan(off) ? off : worst;
    }
    return worst;
}

static const affine patch_strain = {
    {{{1.04, 0.03, -0.02}, {0.01, 0.97, 0.05}, {-0.03, 0.02, 1.02}}}, {0.1, -0.2, 0.05}};

static kiln_status patch_displaced(kiln_validation *validation, const kiln_view *view,
                                   const char *model, kiln_error *error)
{
    kiln_trial trial;
    kiln_picks where;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_trial_map map = {&trial, place_affine, &patch_strain, 1, 0, 0};
    kiln_status status = kiln_trial_material(&trial, model, young, poisson, 1000, error);
    if (status == KILN_OK)
        status = jittered_cube(&trial, error);
    if (status == KILN_OK)
        status = kiln_trial_pick_surface(&trial, &where, error);
    if (status == KILN_OK)
        status = kiln_trial_hold(&trial, &where, 7, &map, error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    if (status == KILN_OK)
        kiln_validation_report(validation, gradient_error(&trial, patch_strain.F),
                               kiln_at_most(1e-10), "%s, %s: error of F, surface displaced", model,
                               view->name);
    kiln_trial_end(&trial);
    return status;
}

/* Tractions P N of a symmetric stretch on all faces; a corner and, against turning, components of
 * three more are where the stretch puts them. P comes from the model's formula, which E7 and E8
 * check against numbers. */
static kiln_status patch_pulled(kiln_validation *validation, const kiln_view *view,
                                const char *model, kiln_error *error)
{
    static const affine stretch = {
        {{{1.04, 0.02, -0.01}, {0.02, 0.97, 0.015}, {-0.01, 0.015, 1.02}}}, {0, 0, 0}};
    static const struct {
        kiln_vec3 at;
        int components;
    } pins[] = {{{0, 0, 0}, 7}, {{1, 0, 0}, 6}, {{0, 1, 0}, 4}};
    static const kiln_vec3 normals[6] = {{-1, 0, 0}, {1, 0, 0},  {0, -1, 0},
                                         {0, 1, 0},  {0, 0, -1}, {0, 0, 1}};
    const kiln_material_model *row;
    kiln_trial trial;
    kiln_picks where;
    kiln_mat3 P;
    double mu, lambda;
    KILN_TRY(kiln_material_model_find(model, &row, error));
    kiln_lame_from_young(young, poisson, &mu, &lambda);
    kiln_material_stress(row, mu, lambda, &stretch.F, &P);
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_trial_map map = {&trial, place_affine, &stretch, 1, 0, 0};
    kiln_status status = kiln_trial_material(&trial, model, young, poisson, 1000, error);
    if (status == KILN_OK)
        status = jittered_cube(&trial, error);
    for (int i = 0; i < 3 && status == KILN_OK; i++) {
        status = kiln_trial_pick_ball(&trial, pins[i].at, 0.01, &where, error);
        if (status == KILN_OK)
            status = kiln_trial_hold(&trial, &where, pins[i].components, &map, error);
    }
    for (int i = 0; i < 6 && status == KILN_OK; i++) {
        kiln_vec3 t = kiln_trial_vector(&trial, kiln_m3_apply(P, normals[i]), -1, 1, -2);
        status = kiln_trial_pick_patch(&trial, i + 1, &where, error);
        if (status == KILN_OK)
            status =
                kiln_trial_load(&trial, KILN_LOAD_TRACTION, &where, kiln_quantity_vector(t), error);
    }
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    if (status == KILN_OK)
        kiln_validation_report(validation, gradient_error(&trial, stretch.F), kiln_at_most(1e-10),
                               "%s, %s: error of F, faces pulled", model, view->name);
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_E1(kiln_validation *validation, kiln_error *error)
{
    const kiln_material_model *model;
    FOR_EACH_VIEW(view)
    for (size_t m = 0; (model = kiln_material_model_at(m)); m++) {
        KILN_TRY(patch_displaced(validation, view, model->name, error));
        KILN_TRY(patch_pulled(validation, view, model->name, error));
    }
    return KILN_OK;
}

/* E2 and E4: 1 x 0.1 x 0.1 m of cells of 0.1/n, root clamped, a dead force along z shared evenly
 * over the tip. */
static kiln_status cantilever(kiln_trial *trial, const char *pattern, int n, const char *model,
                              double force, kiln_vec3 *tip, kiln_error *error)
{
    kiln_picks where;
    kiln_vec3 traction = kiln_trial_vector(trial, kiln_v3(0, 0, force / 0.01), -1, 1, -2);
    KILN_TRY(kiln_trial_material(trial, model, young, poisson, 1000, error));
    KILN_TRY(kiln_trial_box(trial, kiln_v3(1, 0.1, 0.1), (int[]){10 * n, n, n}, pattern, error));
    KILN_TRY(kiln_trial_pick_patch(trial, 1, &where, error));
    KILN_TRY(kiln_trial_hold(trial, &where, 7, NULL, error));
    KILN_TRY(kiln_trial_pick_patch(trial, 2, &where, error));
    KILN_TRY(
        kiln_trial_load(trial, KILN_LOAD_TRACTION, &where, kiln_quantity_vector(traction), error));
    KILN_TRY(kiln_trial_run(trial, error));
    *tip = kiln_trial_patch_mean(trial, 2);
    return KILN_OK;
}

static kiln_status tip_of(kiln_validation *validation, const kiln_view *view, const char *pattern,
                          int n, const char *model, double force, int load_steps, kiln_vec3 *tip,
                          kiln_error *error)
{
    kiln_trial trial;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.scene.load_steps = load_steps;
    kiln_status status = cantilever(&trial, pattern, n, model, force, tip, error);
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_E2(kiln_validation *validation, kiln_error *error)
{
    static const double timoshenko = 4.0306e-3;
    static const struct {
        const char *pattern, *name;
        int n;
        double golden;
    } goldens[] = {{"mirrored", "KM", 4, 3.427782e-3},
                   {"kuhn", "K", 4, 3.173102e-3},
                   {"kuhn", "K", 2, 2.030519e-3}};
    static const struct {
        const char *pattern, *name;
        double least[3], rounding;
    } series[] = {{"mirrored", "KM", {0.60, 0.85, 0.95}, 0.0},
                  {"kuhn", "K", {0.50, 0.79, 0.93}, 0.005}};
    kiln_vec3 tip;
    FOR_EACH_VIEW(view)
    for (int i = 0; i < 3; i++) {
        KILN_TRY(tip_of(validation, view, goldens[i].pattern, goldens[i].n, "linear", 0.1, 1, &tip,
                        error));
        kiln_validation_report(validation, tip.z, kiln_near_relative(goldens[i].golden, 1e-5),
                               "%s(%d), %s: mean tip deflection, m", goldens[i].name, goldens[i].n,
                               view->name);
    }
    for (int s = 0; s < 2; s++) {
        double ratio[3];
        for (int k = 0; k < 3; k++) {
            KILN_TRY(tip_of(validation, kiln_view_at(0), series[s].pattern, 2 << k, "linear", 0.1,
                            1, &tip, error));
            ratio[k] = tip.z / timoshenko;
            /* Those of K are rounded to two digits: K(4) has .7873 by the golden value itself, for
             * .79, and K(8) .92972 for .93. Above .99 an answer would be better than the mesh can
             * give. */
            kiln_validation_report(validation, ratio[k],
                                   kiln_between(series[s].least[k] - series[s].rounding, 0.99),
                                   "%s(%d): deflection over Timoshenko's", series[s].name, 2 << k);
        }
        double order = log2((1 - ratio[1]) / (1 - ratio[2]));
        kiln_validation_report(validation, order, kiln_between(1.55, 2.0),
                               "%s: order from n = 4 to 8", series[s].name);
    }
    return KILN_OK;
}

kiln_status kiln_validate_E4(kiln_validation *validation, kiln_error *error)
{
    static const struct {
        int n;
        double w, x;
    } golden[] = {{2, 0.4705, 0.8582}, {4, 0.5669, 0.7837}};
    const double force = 3.0 * young * 1e-4 / 12.0; /* P L^2 / E I = 3 */
    kiln_vec3 tip;
    for (int i = 0; i < 2; i++)
        FOR_EACH_VIEW(view)
        {
            if (golden[i].n == 2 && view->shuffle == 0 && view != kiln_view_at(0))
                continue; /* all views of the finer one, numbers of the coarser */
            KILN_TRY(tip_of(validation, view, "mirrored", golden[i].n, "neo-hookean", force, 8,
                            &tip, error));
            kiln_validation_report(validation, tip.z, kiln_near_relative(golden[i].w, 5e-3),
                                   "KM(%d), %s: w/L", golden[i].n, view->name);
            kiln_validation_report(validation, 1.0 + tip.x, kiln_near_relative(golden[i].x, 5e-3),
                                   "KM(%d), %s: x/L", golden[i].n, view->name);
        }
    return KILN_OK;
}

/* E5: small-strain twist by 0.1 rad over the length. */
static kiln_vec3 place_twist(const void *user, kiln_vec3 u, double time)
{
    double angle = 0.1 * u.x, y = u.y - 0.05, z = u.z - 0.05;
    (void)user, (void)time;
    return kiln_v3(u.x, u.y - angle * z, u.z + angle * y);
}

static kiln_status torque_of(kiln_validation *validation, const kiln_view *view, int n,
                             double *torque, kiln_error *error)
{
    kiln_trial trial;
    kiln_picks where;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_trial_map map = {&trial, place_twist, NULL, 1, 0, 0};
    kiln_status status = kiln_trial_material(&trial, "linear", young, poisson, 1000, error);
    if (status == KILN_OK)
        status =
            kiln_trial_box(&trial, kiln_v3(1, 0.1, 0.1), (int[]){10 * n, n, n}, "mirrored", error);
    for (int patch = 1; patch <= 2 && status == KILN_OK; patch++) {
        status = kiln_trial_pick_patch(&trial, patch, &where, error);
        if (status == KILN_OK)
            status = kiln_trial_hold(&trial, &where, 6, &map, error);
    }
    /* The bar must not slide along its axis. */
    if (status == KILN_OK)
        status = kiln_trial_pick_ball(&trial, kiln_v3(0, 0.05, 0.05), 1e-3, &where, error);
    if (status == KILN_OK)
        status = kiln_trial_hold(&trial, &where, 1, NULL, error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    const kiln_vec3 *force = status == KILN_OK ? kiln_trial_field(&trial, "reaction") : NULL;
    *torque = force ? 0.0 : NAN;
    for (size_t i = 0; force && i < trial.result.points.count; i++) {
        kiln_vec3 u = kiln_trial_u(&trial, i);
        if (u.x > 0.999)
            *torque += (u.y - 0.05) * force[i].z - (u.z - 0.05) * force[i].y;
    }
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_E5(kiln_validation *validation, kiln_error *error)
{
    static const double saint_venant = 0.540681, ratio[3] = {2.371, 1.367, 1.095};
    double torque[3];
    for (int k = 0; k < 3; k++) {
        KILN_TRY(torque_of(validation, kiln_view_at(0), 2 << k, &torque[k], error));
        kiln_validation_report(validation, torque[k] / saint_venant, kiln_near(ratio[k], 1e-3),
                               "KM(%d): torque over Saint-Venant's", 2 << k);
    }
    kiln_validation_report(validation, (4 * torque[2] - torque[1]) / 3,
                           kiln_near_relative(saint_venant, 0.01),
                           "torque extrapolated from KM(4) and KM(8), N m");
    FOR_EACH_VIEW(view)
    {
        double other;
        KILN_TRY(torque_of(validation, view, 4, &other, error));
        kiln_validation_report(validation, other, kiln_near_relative(torque[1], 1e-6),
                               "KM(4), %s: torque, N m", view->name);
    }
    return KILN_OK;
}

/* E6: a displacement field that is given, and the load that makes it. */
static kiln_vec3 sines(kiln_vec3 u)
{
    double s = sin(KILN_PI * u.x) * sin(KILN_PI * u.y) * sin(KILN_PI * u.z);
    return kiln_v3(s, 2 * s, 3 * s);
}

static kiln_mat3 sines_gradient(kiln_vec3 u)
{
    const double a[3] = {1, 2, 3};
    double s[3], c[3];
    kiln_mat3 g;
    for (int i = 0; i < 3; i++) {
        s[i] = sin(KILN_PI * (&u.x)[i]);
        c[i] = KILN_PI * cos(KILN_PI * (&u.x)[i]);
    }
    for (int i = 0; i < 3; i++) {
        g.m[i][0] = a[i] * c[0] * s[1] * s[2];
        g.m[i][1] = a[i] * s[0] * c[1] * s[2];
        g.m[i][2] = a[i] * s[0] * s[1] * c[2];
    }
    return g;
}

/* -div sigma = -(mu laplace u + (lambda + mu) grad div u), N/m^3. */
static kiln_vec3 sines_load(const void *user, kiln_vec3 u, double time)
{
    const double a[3] = {1, 2, 3};
    const double *lame = user;
    double s[3], c[3], grad_div[3];
    (void)time;
    for (int i = 0; i < 3; i++) {
        s[i] = sin(KILN_PI * (&u.x)[i]);
        c[i] = cos(KILN_PI * (&u.x)[i]);
    }
    const double pp = KILN_PI * KILN_PI, sss = s[0] * s[1] * s[2];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        grad_div[i] = pp * (-a[i] * sss + a[j] * c[i] * c[j] * s[k] + a[k] * c[i] * s[j] * c[k]);
    }
    kiln_vec3 f;
    for (int i = 0; i < 3; i++)
        (&f.x)[i] = 3 * pp * lame[0] * a[i] * sss - (lame[0] + lame[1]) * grad_div[i];
    return f;
}

/* By the 14-point rule of degree 5, {weight, barycentric coordinates, orbit}. */
static void manufactured_error(const kiln_trial *trial, double scale, double *l2, double *h1)
{
    static const struct {
        double weight, a, b;
        int orbit; /* 4: (a, b, b, b), 6: (a, a, b, b) */
    } rule[] = {{0.11268792571801585, 1 - 3 * 0.31088591926330061, 0.31088591926330061, 4},
                {0.07349304311636194, 1 - 3 * 0.09273525031089123, 0.09273525031089123, 4},
                {0.04254602077708147, 0.45449629587435036, 0.5 - 0.45449629587435036, 6}};
    static const int pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    double sum_l2 = 0.0, sum_h1 = 0.0;
    for (size_t t = 0; t < trial->result.tets.count; t++) {
        const uint32_t *v = trial->result.tets.data[t].v;
        double volume;
        kiln_mat3 F = kiln_trial_gradient(trial, t, &volume);
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < rule[r].orbit; k++) {
                double w[4];
                for (int c = 0; c < 4; c++) {
                    bool first = rule[r].orbit == 4 ? c == k : c == pairs[k][0] || c == pairs[k][1];
                    w[c] = first ? rule[r].a : rule[r].b;
                }
                kiln_vec3 at = {0, 0, 0}, moved = {0, 0, 0};
                for (int c = 0; c < 4; c++) {
                    kiln_vec3 u = kiln_trial_u(trial, v[c]), x = kiln_trial_x(trial, v[c]);
                    at = kiln_v3_madd(at, w[c], u);
                    moved = kiln_v3_madd(moved, w[c] / scale, kiln_v3_sub(x, u));
                }
                kiln_mat3 g = sines_gradient(at);
                sum_l2 += volume * rule[r].weight * kiln_v3_norm2(kiln_v3_sub(moved, sines(at)));
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++) {
                        double off = (F.m[i][j] - (i == j)) / scale - g.m[i][j];
                        sum_h1 += volume * rule[r].weight * off * off;
                    }
            }
    }
    *l2 = sqrt(sum_l2);
    *h1 = sqrt(sum_h1);
}

static kiln_status manufactured(kiln_validation *validation, const kiln_view *view, int n,
                                double *l2, double *h1, kiln_error *error)
{
    /* The field is as large as the cube; scaled down so that no tet turns inside out. */
    const double scale = 1e-3;
    double lame[2];
    kiln_trial trial;
    kiln_picks where;
    kiln_lame_from_young(scale * young, poisson, &lame[0], &lame[1]);
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_trial_map load = {&trial, sines_load, lame, -2, 1, -2};
    kiln_status status = kiln_trial_material(&trial, "linear", young, poisson, 1000, error);
    if (status == KILN_OK)
        status = kiln_trial_box(&trial, kiln_v3(1, 1, 1), (int[]){n, n, n}, "kuhn", error);
    if (status == KILN_OK)
        status = kiln_trial_pick_surface(&trial, &where, error);
    if (status == KILN_OK)
        status = kiln_trial_hold(&trial, &where, 7, NULL, error);
    if (status == KILN_OK)
        status = kiln_trial_pick_all(&trial, &where, error);
    if (status == KILN_OK)
        status = kiln_trial_load(&trial, KILN_LOAD_BODY, &where, kiln_trial_quantity(&load), error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    if (status == KILN_OK)
        manufactured_error(&trial, scale, l2, h1);
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_E6(kiln_validation *validation, kiln_error *error)
{
    double l2[3], h1[3];
    for (int k = 0; k < 3; k++)
        KILN_TRY(manufactured(validation, kiln_view_at(0), 4 << k, &l2[k], &h1[k], error));
    for (int k = 0; k < 2; k++) {
        /* Orders above 2.15 and 1.15 would be luck, not convergence. */
        double least_l2 = k ? 1.85 : 1.75, least_h1 = k ? 0.9 : 0.85;
        kiln_validation_report(validation, log2(l2[k] / l2[k + 1]), kiln_between(least_l2, 2.15),
                               "L2 order, n = %d to %d", 4 << k, 8 << k);
        kiln_validation_report(validation, log2(h1[k] / h1[k + 1]), kiln_between(least_h1, 1.15),
                               "H1 order, n = %d to %d", 4 << k, 8 << k);
    }
    FOR_EACH_VIEW(view)
    {
        double other_l2, other_h1;
        KILN_TRY(manufactured(validation, view, 8, &other_l2, &other_h1, error));
        kiln_validation_report(validation, other_l2, kiln_near_relative(l2[1], 1e-6),
                               "n = 8, %s: L2 error", view->name);
    }
    return KILN_OK;
}
