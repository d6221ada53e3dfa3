/* E7, E8 and E11: finite strain. One cube whose answer is a formula, and Cook's membrane. */
#include "measure/fixture.h"
#include "validation/trial.h"

#include <stdio.h>

static const double young = 1e5, poisson = 0.4;

typedef struct cube_test {
    const char *model;
    double stretch[3]; /* along x, y, z; 0: free */
    kiln_mat3 F;       /* used when all corners are held */
    bool all_held;
} cube_test;

typedef struct cube_answer {
    double size[3]; /* m */
    kiln_mat3 P;    /* mean first Piola-Kirchhoff stress, from the forces: sum f (x) u / V */
    double largest; /* force at a corner, N */
} cube_answer;

static kiln_vec3 place_scaled(const void *user, kiln_vec3 u, double time)
{
    const double *s = user;
    (void)time;
    return kiln_v3(s[0] * u.x, s[1] * u.y, s[2] * u.z);
}

static kiln_vec3 place_mapped(const void *user, kiln_vec3 u, double time)
{
    (void)time;
    return kiln_m3_apply(*(const kiln_mat3 *)user, u);
}

/* Symmetry planes x, y, z = 0; the opposite faces moved where a stretch is given. */
static kiln_status hold_faces(kiln_trial *trial, const cube_test *test, kiln_trial_map *map,
                              kiln_error *error)
{
    kiln_picks where;
    for (int c = 0; c < 3; c++) {
        KILN_TRY(kiln_trial_pick_patch(trial, 2 * c + 1, &where, error));
        KILN_TRY(kiln_trial_hold(trial, &where, 1 << c, NULL, error));
        if (test->stretch[c] == 0.0)
            continue;
        KILN_TRY(kiln_trial_pick_patch(trial, 2 * c + 2, &where, error));
        KILN_TRY(kiln_trial_hold(trial, &where, 1 << c, map, error));
    }
    return KILN_OK;
}

static kiln_status hold_all(kiln_trial *trial, kiln_trial_map *map, kiln_error *error)
{
    kiln_picks where;
    KILN_TRY(kiln_trial_pick_all(trial, &where, error));
    return kiln_trial_hold(trial, &where, 7, map, error);
}

static void read_answer(const kiln_trial *trial, cube_answer *answer)
{
    const kiln_vec3 *force = kiln_trial_field(trial, "reaction");
    *answer = (cube_answer){.largest = force ? 0.0 : NAN};
    for (size_t i = 0; force && i < trial->result.points.count; i++) {
        kiln_vec3 u = kiln_trial_u(trial, i), x = kiln_trial_x(trial, i);
        for (int r = 0; r < 3; r++) {
            answer->size[r] = fmax(answer->size[r], (&x.x)[r]);
            answer->largest = fmax(answer->largest, fabs((&force[i].x)[r]));
            for (int c = 0; c < 3; c++)
                answer->P.m[r][c] += (&force[i].x)[r] * (&u.x)[c];
        }
    }
}

static kiln_status run_cube(kiln_validation *validation, const kiln_view *view,
                            const cube_test *test, cube_answer *answer, kiln_error *error)
{
    kiln_trial trial;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.scene.load_steps = 4;
    kiln_trial_map scaled = {&trial, place_scaled, test->stretch, 1, 0, 0};
    kiln_trial_map mapped = {&trial, place_mapped, &test->F, 1, 0, 0};
    kiln_status status = kiln_trial_material(&trial, test->model, young, poisson, 1000, error);
    if (status == KILN_OK)
        status = kiln_trial_box(&trial, kiln_v3(1, 1, 1), (int[]){1, 1, 1}, "kuhn", error);
    if (status == KILN_OK)
        status = test->all_held ? hold_all(&trial, &mapped, error)
                                : hold_faces(&trial, test, &scaled, error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    if (status == KILN_OK)
        read_answer(&trial, answer);
    kiln_trial_end(&trial);
    return status;
}

static void report_relative(kiln_validation *validation, double reference, double measured,
                            const char *what, const kiln_view *view)
{
    kiln_validation_report(validation, measured, kiln_near_relative(reference, 1e-8), "%s, %s",
                           what, view->name);
}

/* Root of the growing function f(s) = mu (s^2 - 1) + lambda ln(area s^power): the free direction of
 * a neo-Hookean body is without stress. */
static double free_stretch(double mu, double lambda, double fixed, int power)
{
    double low = 1e-3, high = 1e3;
    for (int i = 0; i < 200; i++) {
        double s = 0.5 * (low + high);
        double f = mu * (s * s - 1.0) + lambda * (log(fixed) + power * log(s));
        *(f > 0.0 ? &high : &low) = s;
    }
    return 0.5 * (low + high);
}

static double neo_hookean_stress(double mu, double lambda, double stretch, double J)
{
    return mu * (stretch - 1.0 / stretch) + lambda * log(J) / stretch;
}

static kiln_status neo_hookean_in(kiln_validation *validation, const kiln_view *view,
                                  kiln_error *error)
{
    /* The last column are the figures as the design prints them. */
    static const struct {
        double stretch, P, lateral;
    } uniaxial[] = {{0.5, -102511.1, 1.29814}, {1.5, 36529.4, 0.84603}, {2.0, 61457.7, 0.74724}};
    double mu, lambda;
    cube_answer answer;
    kiln_lame_from_young(young, poisson, &mu, &lambda);
    for (int i = 0; i < 3; i++) {
        double k = uniaxial[i].stretch, s = free_stretch(mu, lambda, k, 2);
        double P = neo_hookean_stress(mu, lambda, k, k * s * s);
        char text[80];
        cube_test test = {.model = "neo-hookean", .stretch = {k, 0, 0}};
        KILN_TRY(run_cube(validation, view, &test, &answer, error));
        snprintf(text, sizeof text, "uniaxial %g: P, Pa", k);
        report_relative(validation, P, answer.P.m[0][0], text, view);
        snprintf(text, sizeof text, "uniaxial %g: lateral stretch", k);
        report_relative(validation, s, answer.size[1], text, view);
        if (view != kiln_view_at(0))
            continue;
        kiln_validation_report(validation, P, kiln_near(uniaxial[i].P, 0.051),
                               "uniaxial %g: P as printed", k);
        kiln_validation_report(validation, s, kiln_near(uniaxial[i].lateral, 5.1e-6),
                               "uniaxial %g: lateral stretch as printed", k);
    }
    cube_test biaxial = {.model = "neo-hookean", .stretch = {1.5, 1.5, 0}};
    KILN_TRY(run_cube(validation, view, &biaxial, &answer, error));
    double t = free_stretch(mu, lambda, 2.25, 1);
    double P = neo_hookean_stress(mu, lambda, 1.5, 2.25 * t);
    report_relative(validation, P, answer.P.m[0][0], "equibiaxial 1.5: P, Pa", view);
    report_relative(validation, t, answer.size[2], "equibiaxial 1.5: thickness", view);
    if (view == kiln_view_at(0)) {
        kiln_validation_report(validation, P, kiln_near(46839.5, 0.051),
                               "equibiaxial 1.5: P as printed");
        kiln_validation_report(validation, t, kiln_near(0.53173, 5.1e-6),
                               "equibiaxial 1.5: thickness");
    }
    cube_test shear = {
        .model = "neo-hookean", .F = {{{1, 0.5, 0}, {0, 1, 0}, {0, 0, 1}}}, .all_held = true};
    KILN_TRY(run_cube(validation, view, &shear, &answer, error));
    kiln_mat3 sigma = kiln_m3_mul(answer.P, kiln_m3_transpose(shear.F)); /* J = 1 */
    report_relative(validation, 0.5 * mu, sigma.m[0][1], "shear 0.5: sigma12, Pa", view);
    report_relative(validation, 0.25 * mu, sigma.m[0][0] - sigma.m[1][1],
                    "shear 0.5: sigma11 - sigma22, Pa", view);
    return KILN_OK;
}

kiln_status kiln_validate_E7(kiln_validation *validation, kiln_error *error)
{
    for (size_t i = 0; kiln_view_at(i); i++)
        KILN_TRY(neo_hookean_in(validation, kiln_view_at(i), error));
    return KILN_OK;
}

/* P = R (2 mu (S - I) + lambda tr(S - I)) of simple shear; in the plane R turns by
 * atan(-shear / 2). */
static kiln_mat3 corotated_shear(double mu, double lambda, double shear)
{
    double angle = atan(-0.5 * shear), c = cos(angle), s = sin(angle);
    kiln_mat3 R = {{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}};
    kiln_mat3 F = {{{1, shear, 0}, {0, 1, 0}, {0, 0, 1}}};
    kiln_mat3 S = kiln_m3_mul(kiln_m3_transpose(R), F);
    double trace = S.m[0][0] + S.m[1][1] + S.m[2][2] - 3.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            S.m[i][j] = 2 * mu * (S.m[i][j] - (i == j)) + (i == j ? lambda * trace : 0.0);
    return kiln_m3_mul(R, S);
}

static kiln_status corotated_in(kiln_validation *validation, const kiln_view *view,
                                kiln_error *error)
{
    static const double stretches[] = {0.5, 1.5, 2.0};
    double mu, lambda;
    cube_answer answer;
    kiln_lame_from_young(young, poisson, &mu, &lambda);
    for (int i = 0; i < 3; i++) {
        double k = stretches[i];
        char text[80];
        cube_test test = {.model = "corotated", .stretch = {k, 0, 0}};
        KILN_TRY(run_cube(validation, view, &test, &answer, error));
        snprintf(text, sizeof text, "uniaxial %g: P, Pa", k);
        report_relative(validation, young * (k - 1), answer.P.m[0][0], text, view);
        snprintf(text, sizeof text, "uniaxial %g: lateral stretch", k);
        report_relative(validation, 1 - poisson * (k - 1), answer.size[1], text, view);
    }
    cube_test shear = {
        .model = "corotated", .F = {{{1, 0.5, 0}, {0, 1, 0}, {0, 0, 1}}}, .all_held = true};
    kiln_mat3 P = corotated_shear(mu, lambda, 0.5);
    KILN_TRY(run_cube(validation, view, &shear, &answer, error));
    report_relative(validation, P.m[0][1], answer.P.m[0][1], "shear 0.5: P12, Pa", view);
    report_relative(validation, P.m[1][0], answer.P.m[1][0], "shear 0.5: P21, Pa", view);
    report_relative(validation, P.m[0][0], answer.P.m[0][0], "shear 0.5: P11, Pa", view);
    if (view == kiln_view_at(0)) {
        kiln_validation_report(validation, P.m[0][1], kiln_near(20522.99, 0.0051),
                               "P12 as printed");
        kiln_validation_report(validation, P.m[1][0], kiln_near(15191.29, 0.0051),
                               "P21 as printed");
        kiln_validation_report(validation, P.m[0][0], kiln_near(10663.39, 0.0051),
                               "P11 as printed");
    }
    cube_test turn = {
        .model = "corotated", .F = {{{0, -1, 0}, {1, 0, 0}, {0, 0, 1}}}, .all_held = true};
    KILN_TRY(run_cube(validation, view, &turn, &answer, error));
    kiln_validation_report(validation, answer.largest / young, kiln_at_most(1e-8),
                           "quarter turn, %s: largest force over E", view->name);
    return KILN_OK;
}

kiln_status kiln_validate_E8(kiln_validation *validation, kiln_error *error)
{
    for (size_t i = 0; kiln_view_at(i); i++)
        KILN_TRY(corotated_in(validation, kiln_view_at(i), error));
    return KILN_OK;
}

/* Cook's membrane: 48 mm long, left side 44 mm, right side 16 mm from 44 to 60 mm, 1 mm thick. */
static kiln_status cook_mesh(kiln_trial *trial, int n, kiln_error *error)
{
    char settings[100];
    kiln_soup soup;
    snprintf(settings, sizeof settings, "nx=%d ny=%d nz=1 pattern=mirrored", n, n);
    KILN_TRY(kiln_fixture_soup(trial->context, "box", settings, &soup, error));
    for (size_t i = 0; i < soup.points.count; i++) {
        kiln_vec3 p = soup.points.data[i];
        soup.points.data[i] =
            kiln_v3(0.048 * p.x, (1 - p.y) * 0.044 * p.x + p.y * (0.044 + 0.016 * p.x), 1e-3 * p.z);
    }
    return kiln_trial_body(trial, &soup, error);
}

/* Rise of the upper right corner, m. u_z = 0 on one face, or on both (plane strain). The design
 * does not say where the reference was taken: a separate plane strain code with quadratic elements
 * gives 13.75 mm at this corner, where CalculiX has 13.727, and 14.71 mm at the middle of the side.
 */
static kiln_status cook(kiln_validation *validation, const kiln_view *view, int n, bool both,
                        double *rise, kiln_error *error)
{
    const double mu = 422.5e3, nu = 0.3;
    kiln_trial trial;
    kiln_picks where;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.scene.load_steps = 5;
    kiln_vec3 traction = kiln_trial_vector(&trial, kiln_v3(0, 1.0 / 16e-6, 0), -1, 1, -2);
    kiln_status status =
        kiln_trial_material(&trial, "neo-hookean-split", 2 * mu * (1 + nu), nu, 1000, error);
    if (status == KILN_OK)
        status = cook_mesh(&trial, n, error);
    const struct {
        int patch, components;
    } holds[] = {{1, 3}, {5, 4}, {6, 4}};
    for (int i = 0; i < 2 + both && status == KILN_OK; i++) {
        status = kiln_trial_pick_patch(&trial, holds[i].patch, &where, error);
        if (status == KILN_OK)
            status = kiln_trial_hold(&trial, &where, holds[i].components, NULL, error);
    }
    if (status == KILN_OK)
        status = kiln_trial_pick_patch(&trial, 2, &where, error);
    if (status == KILN_OK)
        status = kiln_trial_load(&trial, KILN_LOAD_TRACTION, &where, kiln_quantity_vector(traction),
                                 error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    int found = 0;
    *rise = 0.0;
    for (size_t i = 0; status == KILN_OK && i < trial.result.points.count; i++) {
        kiln_vec3 u = kiln_trial_u(&trial, i), x = kiln_trial_x(&trial, i);
        if (fabs(u.x - 0.048) < 1e-9 && fabs(u.y - 0.060) < 1e-9) {
            *rise += x.y - u.y;
            found++;
        }
    }
    *rise /= found;
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_E11(kiln_validation *validation, kiln_error *error)
{
    double rise, plain = 0.0, strain;
    for (size_t i = 0; kiln_view_at(i); i++) {
        KILN_TRY(cook(validation, kiln_view_at(i), 16, false, &rise, error));
        plain = i == 0 ? rise : plain;
        /* At least 97 % of the reference, and not above it by more than half a per cent. */
        kiln_validation_report(validation, rise / 14.33e-3, kiln_between(0.97, 1.005),
                               "n = 16, one face held, %s: rise over 14.33 mm",
                               kiln_view_at(i)->name);
        kiln_validation_report(validation, rise, kiln_near_relative(plain, 1e-6),
                               "n = 16, %s: rise, m", kiln_view_at(i)->name);
    }
    KILN_TRY(cook(validation, kiln_view_at(0), 16, true, &strain, error));
    kiln_validation_report(validation, strain / 13.727e-3, kiln_between(0.97, 1.005),
                           "n = 16, both faces held: rise over CalculiX's 13.727 mm");
    return KILN_OK;
}
