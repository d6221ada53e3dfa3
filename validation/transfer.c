/* M2, M3, M4: what fields are after many remeshes. */
#include "fem/elements.h"
#include "fem/offset.h"
#include "geom/tet_clip.h"
#include "measure/change.h"
#include "measure/fixture.h"
#include "mesh/build.h"
#include "mesh/jitter.h"
#include "remesh/improve.h"
#include "remesh/transfer.h"
#include "validation/validation.h"

#include <stdio.h>
#include <string.h>

static double *row(const kiln_mesh *mesh, kiln_where where, const char *name, uint32_t r)
{
    const kiln_field *field = kiln_mesh_field(mesh, where, name);
    return (double *)(field->data + (size_t)r * field->stride);
}

/* The sums that must stay, in extended precision. */
typedef struct sums {
    long double rest, mass, momentum[3], angular[3], size; /* size: sum of m |v| */
} sums;

static sums take_sums(const kiln_mesh *mesh)
{
    sums s = {0};
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        s.rest += *row(mesh, KILN_ON_TET, "rest", t);
        double mass = *row(mesh, KILN_ON_TET, "mass", t);
        s.mass += mass;
        kiln_vec3 x[5] = {{0}}, v[5] = {{0}}; /* the last: sums of the corners */
        for (int k = 0; k < 4; k++) {
            uint32_t i = mesh->tet[t].v[k];
            memcpy(&v[k], row(mesh, KILN_ON_VERTEX, "v", i), sizeof v[k]);
            x[k] = mesh->x[i];
            x[4] = kiln_v3_add(x[4], x[k]);
            v[4] = kiln_v3_add(v[4], v[k]);
            s.size += 0.25L * mass * kiln_v3_norm(v[k]);
        }
        s.momentum[0] += 0.25L * mass * v[4].x;
        s.momentum[1] += 0.25L * mass * v[4].y;
        s.momentum[2] += 0.25L * mass * v[4].z;
        for (int k = 0; k < 5; k++) { /* of the linear field */
            kiln_vec3 l = kiln_v3_cross(x[k], v[k]);
            s.angular[0] += 0.05L * mass * l.x;
            s.angular[1] += 0.05L * mass * l.y;
            s.angular[2] += 0.05L * mass * l.z;
        }
    }
    return s;
}

static double distance(const long double a[3], const long double b[3])
{
    long double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return (double)sqrtl(sum);
}

static double linear_at(kiln_vec3 u, double scale)
{
    return 3.0 + (2.0 * u.x - 0.75 * u.y + 0.5 * u.z) / scale;
}

static kiln_status prepare(kiln_mesh *mesh, double scale, kiln_error *error)
{
    KILN_TRY(kiln_mesh_add_field(mesh, "line", KILN_ON_VERTEX, KILN_F64, 1, KILN_RULE_INTERPOLATE,
                                 error));
    KILN_TRY(
        kiln_mesh_add_field(mesh, "v", KILN_ON_VERTEX, KILN_F64, 3, KILN_RULE_MOMENTUM, error));
    KILN_TRY(
        kiln_mesh_add_field(mesh, "rest", KILN_ON_TET, KILN_F64, 1, KILN_RULE_CONSERVE, error));
    KILN_TRY(
        kiln_mesh_add_field(mesh, "mass", KILN_ON_TET, KILN_F64, 1, KILN_RULE_CONSERVE, error));
    for (uint32_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++) {
        kiln_vec3 p = kiln_v3_scale(mesh->u[i], 1.0 / scale);
        kiln_vec3 v = {sin(3 * p.x), p.x * p.y, p.z * p.z};
        *row(mesh, KILN_ON_VERTEX, "line", i) = linear_at(mesh->u[i], scale);
        memcpy(row(mesh, KILN_ON_VERTEX, "v", i), &v, sizeof v);
    }
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        double volume = kiln_mesh_tet_volume(mesh, t);
        *row(mesh, KILN_ON_TET, "rest", t) = volume;
        *row(mesh, KILN_ON_TET, "mass", t) = 1000 * volume;
    }
    return KILN_OK;
}

/* Odd rounds: random changes; even ones: the remesher repairs what they left. */
static kiln_status remesh_once(kiln_mesh *mesh, kiln_random *random, int round, double scale,
                               kiln_error *error)
{
    const kiln_transfer_options options = {.mass = "mass"};
    if (round % 2 == 1) {
        kiln_change_limits limits = {.move = 0.04 * scale,
                                     .flattest = 1e-6 * scale * scale * scale};
        KILN_TRY(kiln_archive_begin(mesh, error));
        kiln_fixture_change(mesh, random, 100, &limits);
        KILN_TRY(kiln_transfer(mesh, &options, NULL, error));
        kiln_archive_end(mesh);
        return KILN_OK;
    }
    kiln_remesh_options remesh = kiln_remesh_default_options();
    kiln_improve_options improve = kiln_improve_default_options();
    improve.goal = 0.35;
    kiln_remesher remesher;
    KILN_TRY(kiln_remesher_begin(mesh, &remesh, &remesher, error));
    kiln_improve_report report;
    kiln_status status = kiln_dynamic_improve(&remesher, &improve, &report, error);
    if (status == KILN_OK)
        status = kiln_transfer(mesh, &options, NULL, error);
    kiln_remesher_end(&remesher);
    return status;
}

static double line_error(const kiln_mesh *mesh, double scale)
{
    double worst = 0.0;
    for (uint32_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++)
        if (kiln_vertex_live(mesh, i))
            worst = fmax(
                worst, fabs(*row(mesh, KILN_ON_VERTEX, "line", i) - linear_at(mesh->u[i], scale)));
    return worst;
}

static kiln_status remesh_often(kiln_validation *validation, double scale, int rounds,
                                kiln_error *error)
{
    kiln_mesh *mesh;
    kiln_context *context = kiln_validation_context(validation);
    KILN_TRY(kiln_fixture_mesh(context, "box", "n=4", 0.0, &mesh, error));
    for (uint32_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++)
        mesh->u[i] = mesh->x[i] = kiln_v3_scale(mesh->u[i], scale);
    kiln_status status = kiln_mesh_jitter(mesh, 0.03 * scale, 1) == KILN_ACCEPTED
                             ? prepare(mesh, scale, error)
                             : kiln_fail_memory(error, 0);
    kiln_random random = kiln_random_start(2, (uint64_t)rounds);
    double worst_rest = 0.0, worst_momentum = 0.0, worst_line = 0.0;
    sums before = {0}, now = {0};
    if (status == KILN_OK)
        before = take_sums(mesh);
    for (int round = 1; round <= rounds && status == KILN_OK; round++) {
        status = remesh_once(mesh, &random, round, scale, error);
        now = take_sums(mesh);
        worst_rest = fmax(worst_rest, (double)(fabsl(now.rest - before.rest) / before.rest));
        worst_momentum =
            fmax(worst_momentum, distance(now.momentum, before.momentum) / (double)before.size);
        worst_line = fmax(worst_line, line_error(mesh, scale));
    }
    if (status == KILN_OK) {
        kiln_validation_report(validation, worst_rest, kiln_at_most(1e-12),
                               "%d remeshes of K(4), %g m: rest volume, relative error", rounds,
                               scale);
        kiln_validation_report(validation, worst_momentum, kiln_at_most(1e-10),
                               "%d remeshes of K(4), %g m: momentum, error over sum m|v|", rounds,
                               scale);
        kiln_validation_report(validation, worst_line, kiln_at_most(1e-10),
                               "%d remeshes of K(4), %g m: linear field, largest error", rounds,
                               scale);
        kiln_validation_report(
            validation, distance(now.angular, before.angular) / ((double)before.size * scale),
            kiln_at_most(1e-10),
            "%d remeshes of K(4), %g m: drift of angular momentum over sum m|v| L", rounds, scale);
    }
    kiln_mesh_destroy(mesh);
    return status;
}

kiln_status kiln_validate_M2(kiln_validation *validation, kiln_error *error)
{
    KILN_TRY(remesh_often(validation, 1.0, 100, error));
    KILN_TRY(remesh_often(validation, 1e-6, 20, error));
    return remesh_often(validation, 1e6, 20, error);
}

/* M3. */

static const double young = 1e5, poisson = 0.3;

/* Pi = G^(1/2) with the determinant that the rest volume gives. */
static kiln_sym3 offset_of(const kiln_mesh *mesh, uint32_t tet)
{
    kiln_offsets offsets = kiln_offsets_of(mesh);
    kiln_sym3 pi = kiln_sym3_sqrt(offsets.shape[tet]);
    double wanted = kiln_mesh_tet_volume(mesh, tet) / offsets.rest_volume[tet];
    return kiln_sym3_scale(pi, cbrt(wanted / kiln_sym3_det(pi)));
}

static kiln_mat3 world_gradient(const kiln_mesh *mesh, uint32_t tet)
{
    const uint32_t *v = mesh->tet[tet].v;
    kiln_vec3 u[3], x[3];
    for (int i = 0; i < 3; i++) {
        u[i] = kiln_v3_sub(mesh->u[v[i + 1]], mesh->u[v[0]]);
        x[i] = kiln_v3_sub(mesh->x[v[i + 1]], mesh->x[v[0]]);
    }
    return kiln_m3_mul(kiln_m3_columns(x[0], x[1], x[2]),
                       kiln_m3_inverse(kiln_m3_columns(u[0], u[1], u[2])));
}

/* Corotated: P = R (2 mu (S - I) + lambda tr(S - I) I), Cauchy stress P F' / J. */
static kiln_sym3 cauchy(kiln_mat3 f)
{
    double mu, lambda;
    kiln_lame_from_young(young, poisson, &mu, &lambda);
    kiln_polar3 polar = kiln_polar3_decompose(f);
    kiln_sym3 s = polar.right;
    double trace = s.xx + s.yy + s.zz - 3;
    kiln_sym3 t = kiln_sym3_scale(kiln_sym3_madd(s, -1.0, kiln_sym3_identity()), 2 * mu);
    t = kiln_sym3_madd(t, lambda * trace, kiln_sym3_identity());
    kiln_mat3 p = kiln_m3_mul(polar.rotation, kiln_sym3_to_mat3(t));
    kiln_mat3 sigma = kiln_m3_scale(kiln_m3_mul(p, kiln_m3_transpose(f)), 1.0 / kiln_m3_det(f));
    return kiln_sym3_from_mat3(sigma);
}

/* Largest errors over the tets: of the principal stresses, relative, and of the axis. */
typedef struct misfit {
    double values, turned;
} misfit;

static void compare_stress(kiln_sym3 stress, kiln_vec3 axis, misfit *worst)
{
    /* By hand for the stretch 1.3, 1.3^-1/2, 1.3^-1/2. */
    double a = 1.3, b = 1 / sqrt(1.3), mu = 1e5 / 2.6, lambda = 3e4 / 0.52;
    double trace = a + 2 * b - 3;
    double first = a * (2 * mu * (a - 1) + lambda * trace);
    double other = b * (2 * mu * (b - 1) + lambda * trace);
    kiln_eigen3 eigen = kiln_sym3_eigen(stress);
    worst->values = fmax(worst->values, fabs(eigen.values[0] - first) / first);
    worst->values = fmax(worst->values, fabs(eigen.values[1] - other) / first);
    worst->values = fmax(worst->values, fabs(eigen.values[2] - other) / first);
    kiln_vec3 e = {eigen.vectors.m[0][0], eigen.vectors.m[1][0], eigen.vectors.m[2][0]};
    worst->turned = fmax(worst->turned, kiln_v3_norm(kiln_v3_cross(e, axis)));
}

/* From positions and offsets. */
static misfit examine_mesh(const kiln_mesh *mesh, kiln_vec3 axis)
{
    misfit worst = {0, 0};
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            compare_stress(
                cauchy(kiln_m3_mul(world_gradient(mesh, t), kiln_sym3_to_mat3(offset_of(mesh, t)))),
                axis, &worst);
    return worst;
}

/* As the elements of a simulation see it. */
static kiln_status examine_elements(const kiln_mesh *mesh, kiln_vec3 axis, misfit *worst,
                                    kiln_error *error)
{
    size_t rows = mesh->table[KILN_ON_TET].used;
    kiln_context *context = mesh->context;
    kiln_material material = {.density = 1000};
    kiln_elements *elements;
    kiln_u32_array material_of = {0};
    kiln_f64_array stress = {0};
    kiln_lame_from_young(young, poisson, &material.mu, &material.lambda);
    KILN_TRY(kiln_material_model_find("corotated", &material.model, error));
    KILN_TRY(kiln_elements_create(context, &elements, error));
    kiln_status status = kiln_array_reserve(context, &material_of, rows, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(context, &stress, 6 * rows, error);
    if (status == KILN_OK) {
        memset(material_of.data, 0, rows * sizeof *material_of.data);
        status = kiln_elements_build(elements, mesh, &material, 1, material_of.data, error);
    }
    if (status == KILN_OK)
        kiln_elements_output(elements, &mesh->x[0].x, KILN_OUTPUT_CAUCHY, stress.data);
    for (uint32_t t = 0; status == KILN_OK && t < rows; t++) {
        const double *s = &stress.data[6 * t];
        if (kiln_tet_live(mesh, t))
            compare_stress(
                (kiln_sym3){.xx = s[0], .yy = s[1], .zz = s[2], .xy = s[3], .yz = s[4], .xz = s[5]},
                axis, worst);
    }
    kiln_array_free(context, &stress);
    kiln_array_free(context, &material_of);
    kiln_elements_destroy(elements);
    return status;
}

static kiln_status report_stress(kiln_validation *validation, const kiln_mesh *mesh, kiln_vec3 axis,
                                 const char *how, kiln_error *error)
{
    misfit own = examine_mesh(mesh, axis), elements = {0, 0};
    KILN_TRY(examine_elements(mesh, axis, &elements, error));
    kiln_validation_report(validation, own.values, kiln_at_most(1e-8),
                           "%s: principal stresses, relative error", how);
    kiln_validation_report(validation, own.turned, kiln_at_most(1e-8), "%s: axis, error in radians",
                           how);
    kiln_validation_report(validation, elements.values, kiln_at_most(1e-8),
                           "%s: principal stresses of the elements, relative error", how);
    kiln_validation_report(validation, elements.turned, kiln_at_most(1e-8),
                           "%s: axis of the elements, error in radians", how);
    return KILN_OK;
}

/* The block with the stretch along x stored in its offsets, then turned as a whole. */
static kiln_status turned_block(kiln_context *context, kiln_mat3 turn, kiln_mesh **out,
                                kiln_error *error)
{
    KILN_TRY(kiln_fixture_mesh(context, "box", "n=4", 0.03, out, error));
    kiln_mesh *mesh = *out;
    kiln_status status = kiln_offsets_add(mesh, error);
    for (uint32_t t = 0; status == KILN_OK && t < mesh->table[KILN_ON_TET].used; t++)
        kiln_offsets_of(mesh).shape[t] = (kiln_sym3){1.3 * 1.3, 1 / 1.3, 1 / 1.3, 0, 0, 0};
    for (uint32_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++)
        mesh->x[i] = kiln_m3_apply(turn, mesh->u[i]);
    if (status != KILN_OK)
        kiln_mesh_destroy(mesh);
    return status;
}

/* Local remeshing in material space: u is kept, the world turn stays in the positions. */
static kiln_status resample_locally(kiln_mesh *mesh, kiln_mat3 turn, kiln_error *error)
{
    kiln_random random = kiln_random_start(3, 1);
    const kiln_change_limits limits = {.move = 0.04, .flattest = 1e-6};
    for (int pass = 0; pass < 10; pass++) {
        /* The changes move vertices by the same step in both spaces: turned back meanwhile. */
        for (uint32_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++)
            mesh->x[i] = mesh->u[i];
        KILN_TRY(kiln_archive_begin(mesh, error));
        kiln_fixture_change(mesh, &random, 300, &limits);
        KILN_TRY(kiln_transfer(mesh, NULL, NULL, error));
        kiln_archive_end(mesh);
    }
    for (uint32_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++)
        mesh->x[i] = kiln_m3_apply(turn, mesh->u[i]);
    return KILN_OK;
}

/* Whole-domain: the new mesh is made in the world, which becomes the material space. */
static kiln_status resample_whole(kiln_mesh *from, kiln_mat3 turn, kiln_mesh **out,
                                  kiln_error *error)
{
    KILN_TRY(kiln_offsets_follow(from, from->x, error));
    KILN_TRY(kiln_fixture_mesh(from->context, "box", "n=5", 0.03, out, error));
    kiln_mesh *to = *out;
    for (uint32_t i = 0; i < to->table[KILN_ON_VERTEX].used; i++)
        to->u[i] = to->x[i] = kiln_m3_apply(turn, to->u[i]);
    kiln_status status = kiln_transfer_between(from, to, KILN_SPACE_WORLD, NULL, NULL, error);
    if (status != KILN_OK)
        kiln_mesh_destroy(to);
    return status;
}

static kiln_status turn_and_resample(kiln_validation *validation, kiln_mat3 turn, const char *how,
                                     kiln_error *error)
{
    kiln_mesh *mesh, *to;
    char text[80];
    kiln_vec3 axis = kiln_m3_apply(turn, kiln_v3(1, 0, 0));
    KILN_TRY(turned_block(kiln_validation_context(validation), turn, &mesh, error));
    kiln_status status = resample_locally(mesh, turn, error);
    if (status == KILN_OK) {
        snprintf(text, sizeof text, "%s, remeshed locally", how);
        status = report_stress(validation, mesh, axis, text, error);
    }
    if (status == KILN_OK)
        status = resample_whole(mesh, turn, &to, error);
    kiln_mesh_destroy(mesh);
    KILN_TRY(status);
    snprintf(text, sizeof text, "%s, whole mesh resampled", how);
    status = report_stress(validation, to, axis, text, error);
    kiln_mesh_destroy(to);
    return status;
}

kiln_status kiln_validate_M3(kiln_validation *validation, kiln_error *error)
{
    kiln_mat3 quarter = {{{0, -1, 0}, {1, 0, 0}, {0, 0, 1}}};
    KILN_TRY(turn_and_resample(validation, quarter, "quarter turn about z", error));
    kiln_mat3 any = kiln_m3_rotation(kiln_v3(0.3, -0.8, 0.5), 2.1);
    return turn_and_resample(validation, any, "turn by 2.1 about (.3 -.8 .5)", error);
}

/* M4. */

enum { LAYERS = 8 };

/* Integral of |a - a_exact| over the box, where a is the stretch that Pi holds: a tet that lies on
 * both sides of the plane counts each part against its own side. */
static double stretch_error(const kiln_mesh *mesh)
{
    double sum = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        kiln_vec3 corner[4];
        for (int k = 0; k < 4; k++)
            corner[k] = mesh->u[mesh->tet[t].v[k]];
        double stretch = offset_of(mesh, t).xx;
        double left = kiln_tet_half_moments(corner, kiln_v3(0.5, 0, 0), kiln_v3(-1, 0, 0),
                                            corner[0], KILN_MOMENT_VOLUME)
                          .volume;
        double right = kiln_tet_half_moments(corner, kiln_v3(0.5, 0, 0), kiln_v3(1, 0, 0),
                                             corner[0], KILN_MOMENT_VOLUME)
                           .volume;
        sum += fabs(stretch - 1.2) * left + fabs(stretch - 1.0) * right;
    }
    return sum;
}

static bool is_right(const kiln_mesh *mesh, uint32_t tet)
{
    double x = 0.0;
    for (int k = 0; k < 4; k++)
        x += 0.25 * mesh->u[mesh->tet[tet].v[k]].x;
    return x > 0.5;
}

/* Tets whose shape is not to the bit what their side of the plane has; how far their volumes
 * at rest and in the material, the same at the start, are apart. */
static size_t changed_offsets(const kiln_mesh *mesh, const kiln_sym3 side[2], double *volumes)
{
    kiln_offsets offsets = kiln_offsets_of(mesh);
    size_t wrong = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        wrong += memcmp(&offsets.shape[t], &side[is_right(mesh, t)], sizeof *side) != 0;
        *volumes =
            fmax(*volumes, fabs(offsets.rest_volume[t] / kiln_mesh_tet_volume(mesh, t) - 1.0));
    }
    return wrong;
}

static kiln_status remesh_near(kiln_mesh *mesh, bool across, int *changes, kiln_error *error)
{
    kiln_random random = kiln_random_start(4, across);
    double gained = 0.0; /* the box is flat: none */
    for (int pass = 0; pass < 50; pass++) {
        double x = across ? 0.5 : kiln_random_unit(&random) < 0.5 ? 0.2 : 0.8;
        double y = kiln_random_range(&random, 0.2, 0.8);
        const kiln_change_limits limits = {.move = 0.25 / LAYERS,
                                           .flattest = 1e-3 / (LAYERS * LAYERS * LAYERS),
                                           .centre = {x, y, kiln_random_range(&random, 0.2, 0.8)},
                                           .reach = 2.3 / LAYERS};
        KILN_TRY(kiln_archive_begin(mesh, error));
        *changes += kiln_fixture_change(mesh, &random, 4000, &limits);
        KILN_TRY(kiln_transfer(mesh, NULL, NULL, error));
        kiln_archive_end(mesh);
        kiln_offsets_settle(mesh, &gained);
    }
    return KILN_OK;
}

static kiln_status diffuse(kiln_validation *validation, bool across, kiln_error *error)
{
    kiln_mesh *mesh;
    KILN_TRY(
        kiln_fixture_mesh(kiln_validation_context(validation), "box", "n=8", 0.0, &mesh, error));
    kiln_status status = kiln_offsets_add(mesh, error);
    const kiln_sym3 side[2] = {{1.2 * 1.2, 1 / 1.2, 1 / 1.2, 0, 0, 0}, {1, 1, 1, 0, 0, 0}};
    for (uint32_t t = 0; status == KILN_OK && t < mesh->table[KILN_ON_TET].used; t++)
        kiln_offsets_of(mesh).shape[t] = side[is_right(mesh, t)];
    int changes = 0;
    if (status == KILN_OK)
        status = remesh_near(mesh, across, &changes, error);
    if (status == KILN_OK && across)
        kiln_validation_report(validation, stretch_error(mesh), kiln_at_most(0.2 / LAYERS),
                               "50 remeshes across the plane, %d changes: integral of the "
                               "error of a, at most jump times one layer",
                               changes);
    if (status == KILN_OK && !across) {
        double volumes = 0.0;
        kiln_validation_report(validation, (double)changed_offsets(mesh, side, &volumes),
                               kiln_exactly(0),
                               "50 remeshes away from the plane, %d changes: tets whose offset "
                               "has other bits",
                               changes);
        kiln_validation_report(validation, volumes, kiln_at_most(1e-12),
                               "50 remeshes away from the plane: rest volume of a tet, relative "
                               "error");
    }
    kiln_mesh_destroy(mesh);
    return status;
}

kiln_status kiln_validate_M4(kiln_validation *validation, kiln_error *error)
{
    KILN_TRY(diffuse(validation, false, error));
    return diffuse(validation, true, error);
}
