/* Liquid on a solid of its own mesh that it wets: a ridge of liquid across a stiff slab comes to
 * rest as the part of a cylinder that meets the slab at its contact angle (L18). */
#include "measure/fixture.h"
#include "mesh/walk.h"
#include "validation/trial.h"

#include <math.h>
#include <stdio.h>

static const double PI = 3.14159265358979323846;
static const double CELL = 0.25e-3, TENSION = 0.07, DENSITY = 1000.0;
/* Cells: of the slab, and of the liquid on it at the start. */
enum { LENGTH = 16, DEPTH = 2, THICK = 3, FROM = 5, TO = 11, HIGH = 4 };

static bool is_left(kiln_vec3 c)
{
    return c.z > THICK * CELL && (c.x < FROM * CELL || c.x > TO * CELL);
}

static kiln_vec3 centre_of(const kiln_soup *soup, const uint32_t *v, int count)
{
    kiln_vec3 c = {0, 0, 0};
    for (int k = 0; k < count; k++)
        c = kiln_v3_madd(c, 1.0 / count, soup->points.data[v[k]]);
    return c;
}

/* Points that nothing has any more go. */
static kiln_status drop_points(kiln_soup *soup, kiln_error *error)
{
    kiln_u32_array now = {0};
    size_t kept = 0;
    KILN_TRY(kiln_array_reserve(soup->context, &now, soup->points.count, error));
    for (size_t i = 0; i < soup->points.count; i++)
        now.data[i] = UINT32_MAX;
    for (size_t t = 0; t < soup->tets.count; t++)
        for (int k = 0; k < 4; k++)
            now.data[soup->tets.data[t].v[k]] = 0;
    for (size_t i = 0; i < soup->points.count; i++)
        if (now.data[i] == 0) {
            soup->points.data[kept] = soup->points.data[i];
            now.data[i] = (uint32_t)kept++;
        }
    soup->points.count = kept;
    for (size_t t = 0; t < soup->tets.count; t++)
        for (int k = 0; k < 4; k++)
            soup->tets.data[t].v[k] = now.data[soup->tets.data[t].v[k]];
    for (size_t t = 0; t < soup->triangles.count; t++)
        for (int k = 0; k < 3; k++)
            soup->triangles.data[t].v[k] = now.data[soup->triangles.data[t].v[k]];
    kiln_array_free(soup->context, &now);
    return KILN_OK;
}

/* A box without what is beside the liquid. */
static kiln_status make_soup(kiln_context *context, kiln_soup *soup, kiln_error *error)
{
    char settings[200];
    size_t tets = 0, triangles = 0;
    snprintf(settings, sizeof settings,
             "lx=%.17g ly=%.17g lz=%.17g nx=%d ny=%d nz=%d pattern=mirrored", LENGTH * CELL,
             DEPTH * CELL, (THICK + HIGH) * CELL, LENGTH, DEPTH, THICK + HIGH);
    KILN_TRY(kiln_fixture_soup(context, "box", settings, soup, error));
    for (size_t t = 0; t < soup->tets.count; t++)
        if (!is_left(centre_of(soup, soup->tets.data[t].v, 4)))
            soup->tets.data[tets++] = soup->tets.data[t];
    for (size_t t = 0; t < soup->triangles.count; t++) {
        if (is_left(centre_of(soup, soup->triangles.data[t].v, 3)))
            continue;
        soup->triangles.data[triangles] = soup->triangles.data[t];
        soup->triangle_tags.data[triangles++] = soup->triangle_tags.data[t];
    }
    soup->tets.count = tets;
    soup->tet_tags.count = soup->tet_tags.count ? tets : 0;
    soup->triangles.count = soup->triangle_tags.count = triangles;
    return drop_points(soup, error);
}

static kiln_status make_ridge(kiln_trial *trial, double angle, kiln_error *error)
{
    kiln_soup soup;
    kiln_scene_region liquid = {.tag = -1};
    KILN_TRY(kiln_trial_liquid(trial, DENSITY, 0.02, TENSION, error));
    liquid.material = (uint32_t)trial->scene.materials.count - 1;
    KILN_TRY(kiln_trial_material(trial, "stable-neo-hookean", 1e5, 0.3, DENSITY, error));
    trial->scene.materials.data[1].base.wettable = true;
    trial->scene.materials.data[1].base.contact_angle = angle;
    KILN_TRY(make_soup(trial->context, &soup, error));
    KILN_TRY(kiln_trial_body(trial, &soup, error));
    /* All that is nearer to a point far above than the slab is. */
    const double far = 1e3 * CELL;
    KILN_TRY(kiln_trial_pick_ball(
        trial, kiln_v3(0.5 * LENGTH * CELL, 0.5 * DEPTH * CELL, THICK * CELL + far),
        far + 0.03 * CELL, &liquid.where, error));
    return kiln_array_push(trial->context, &trial->scene.bodies.data[0].regions, liquid, error);
}

static kiln_status hold(kiln_trial *trial, kiln_error *error)
{
    kiln_picks picks;
    for (int patch = 3; patch <= 4; patch++) {
        KILN_TRY(kiln_trial_pick_patch(trial, patch, &picks, error));
        KILN_TRY(kiln_trial_hold(trial, &picks, 2, NULL, error));
    }
    KILN_TRY(kiln_trial_pick_patch(trial, 5, &picks, error));
    return kiln_trial_hold(trial, &picks, 7, NULL, error);
}

typedef struct ridge {
    double height, base; /* m */
    double volume;       /* of the liquid, off, of it */
    double mass;         /* of the solid, off, of it */
} ridge;

static ridge measure(const kiln_trial *trial, kiln_world *world)
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const double *mass =
        (const double *)(const void *)kiln_mesh_field(mesh, KILN_ON_TET, "mass")->data;
    const uint32_t *material =
        (const uint32_t *)(const void *)kiln_mesh_field(mesh, KILN_ON_TET, "material")->data;
    ridge r = {0};
    double low = INFINITY, high = -INFINITY;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        kiln_vec3 x[4];
        if (!kiln_tet_live(mesh, t))
            continue;
        for (int k = 0; k < 4; k++)
            x[k] = kiln_trial_vector_back(trial, mesh->x[mesh->tet[t].v[k]], 1, 0, 0);
        if (material[t] == 1) {
            r.mass += mass[t] / kiln_trial_number(trial, 1, 0, 1, 0);
            continue;
        }
        r.volume += kiln_v3_dot(kiln_v3_cross(kiln_v3_sub(x[1], x[0]), kiln_v3_sub(x[2], x[0])),
                                kiln_v3_sub(x[3], x[0])) /
                    6.0;
        for (int k = 0; k < 4; k++) {
            r.height = fmax(r.height, x[k].z - THICK * CELL);
            if (!(mesh->vertex[mesh->tet[t].v[k]].flags & KILN_VERTEX_INTERFACE))
                continue;
            low = fmin(low, x[k].x);
            high = fmax(high, x[k].x);
        }
    }
    r.base = high - low;
    return r;
}

static kiln_status settle(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    ridge *out = trial->user;
    const ridge begin = measure(trial, world);
    kiln_stats stats = {.time = 0.0};
    while (stats.time < trial->scene.duration * (1 - 1e-9))
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
    *out = measure(trial, world);
    out->volume = fabs(out->volume / begin.volume - 1.0);
    out->mass = fabs(out->mass / begin.mass - 1.0);
    return KILN_OK;
}

static kiln_status run(kiln_validation *validation, const kiln_view *view, double angle, ridge *out,
                       kiln_error *error)
{
    kiln_trial trial;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_trial_set_steps(&trial, KILN_IMPLICIT_EULER, 0.5e-3, 160);
    trial.user = out;
    kiln_status status = make_ridge(&trial, angle, error);
    kiln_scene_preset(&trial.scene);
    if (status == KILN_OK)
        status = hold(&trial, error);
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, settle, error);
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_L18(kiln_validation *validation, kiln_error *error)
{
    static const double angles[] = {60.0, 90.0, 120.0};
    bool brief = kiln_validation_is_brief(validation);
    const double area = (TO - FROM) * HIGH * CELL * CELL;
    for (size_t row = 0; row < (brief ? 1 : SIZE_MAX) && kiln_view_at(row); row++)
        for (int i = 0; i < 3; i++) {
            double a = angles[i] * PI / 180.0, radius = sqrt(area / (a - sin(a) * cos(a)));
            const kiln_view *view = kiln_view_at(row);
            ridge r;
            KILN_TRY(run(validation, view, angles[i], &r, error));
            /* Of the circle through both ends and the top. The line rests at 3 % of the tension. */
            kiln_validation_report(validation, 360.0 / PI * atan(2.0 * r.height / r.base),
                                   kiln_near(angles[i], 5.0), "%s, %g degrees: angle, degrees",
                                   view->name, angles[i]);
            kiln_validation_report(validation, 1e3 * r.height,
                                   kiln_near_relative(1e3 * radius * (1.0 - cos(a)), 0.03),
                                   "%s, %g degrees: height, mm", view->name, angles[i]);
            kiln_validation_report(validation, r.volume, kiln_at_most(5e-3),
                                   "%s, %g degrees: volume of the liquid, off, of it", view->name,
                                   angles[i]);
            kiln_validation_report(validation, r.mass, kiln_at_most(1e-12),
                                   "%s, %g degrees: mass of the solid, off, of it", view->name,
                                   angles[i]);
        }
    return KILN_OK;
}
