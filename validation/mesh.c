#include "measure/fixture.h"
#include "mesh/build.h"
#include "mesh/parts.h"
#include "mesh/surface.h"
#include "validation/validation.h"

#include <stdio.h>

/* A box of lx, ly, lz cells: 6 tets a cell, 12 edges and 8 corners that are features. */
static kiln_status check_box(kiln_validation *validation, const char *name, const char *pattern,
                             const int cells[3], double h, kiln_error *error)
{
    char settings[160];
    kiln_mesh *mesh;
    kiln_soup soup;
    kiln_surface_topology surface;
    snprintf(settings, sizeof settings, "lx=%.17g ly=%.17g lz=%.17g nx=%d ny=%d nz=%d pattern=%s",
             h * cells[0], h * cells[1], h * cells[2], cells[0], cells[1], cells[2], pattern);
    KILN_TRY(
        kiln_fixture_mesh(kiln_validation_context(validation), "box", settings, 0.0, &mesh, error));
    kiln_status status = kiln_mesh_surface_topology(mesh, &surface, error);
    if (status == KILN_OK)
        status = kiln_mesh_to_soup(mesh, &soup, error);
    if (status == KILN_OK) {
        double count = (double)cells[0] * cells[1] * cells[2], volume = count * h * h * h;
        kiln_validation_report(validation, mesh->table[KILN_ON_TET].live, kiln_exactly(6 * count),
                               "%s: tets", name);
        kiln_validation_report(validation, (double)kiln_fixture_volume(mesh),
                               kiln_near_relative(volume, 1e-14), "%s: volume", name);
        kiln_validation_report(validation, kiln_part_count(mesh), kiln_exactly(1), "%s: parts",
                               name);
        kiln_validation_report(validation, (double)soup.ridges.count,
                               kiln_exactly(4 * (cells[0] + cells[1] + cells[2])),
                               "%s: feature edges", name);
        kiln_validation_report(validation, (double)soup.corners.count, kiln_exactly(8),
                               "%s: corners", name);
        kiln_validation_report(validation, (double)surface.euler, kiln_exactly(2),
                               "%s: surface V - E + F", name);
        kiln_soup_free(&soup);
    }
    kiln_mesh_destroy(mesh);
    return status;
}

kiln_status kiln_validate_boxes(kiln_validation *validation, kiln_error *error)
{
    static const struct {
        const char *name, *pattern;
        int cells[3];
        double h;
    } rows[] = {{"K(1) of a cube", "kuhn", {1, 1, 1}, 1.0},
                {"K(4) of a cube", "kuhn", {4, 4, 4}, 0.25},
                {"K(10) of a cube", "kuhn", {10, 10, 10}, 0.1},
                {"KM(1) of a cube", "mirrored", {1, 1, 1}, 1.0},
                {"KM(4) of a cube", "mirrored", {4, 4, 4}, 0.25},
                {"KM(10) of a cube", "mirrored", {10, 10, 10}, 0.1},
                {"K(2) of the bar 1 x .1 x .1", "kuhn", {20, 2, 2}, 0.05},
                {"KM(4) of the bar 1 x .1 x .1", "mirrored", {40, 4, 4}, 0.025}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        KILN_TRY(
            check_box(validation, rows[i].name, rows[i].pattern, rows[i].cells, rows[i].h, error));
    return KILN_OK;
}

typedef struct solid {
    const char *shape, *settings;
    double volume;    /* analytic */
    double curvature; /* smallest radius of curvature */
    double share;     /* of (h / curvature)^2 that the volume may lack; chords of a circle: 1/6 */
    double h;         /* coarsest */
    double euler;
} solid;

/* Surface vertices lie on the solid's surface, so a mesh of edge h falls short of its volume by a
 * part of the order (h / radius of curvature)^2. Generators round to whole cells, so the order is
 * taken with the edge length that they made, which goes with the root of the surface faces. */
static kiln_status check_solid(kiln_validation *validation, const solid *s, kiln_error *error)
{
    enum { LEVELS = 3 };
    double off[LEVELS], faces[LEVELS], h = s->h;
    for (int level = 0; level < LEVELS; level++, h /= 2) {
        char settings[160];
        kiln_mesh *mesh;
        kiln_surface_topology surface;
        snprintf(settings, sizeof settings, "%s h=%.17g", s->settings, h);
        KILN_TRY(kiln_fixture_mesh(kiln_validation_context(validation), s->shape, settings, 0.0,
                                   &mesh, error));
        double volume = (double)kiln_fixture_volume(mesh),
               bound = s->share * h * h / (s->curvature * s->curvature);
        kiln_status status = kiln_mesh_surface_topology(mesh, &surface, error);
        off[level] = fabs(volume - s->volume);
        faces[level] = mesh->table[KILN_ON_FACE].live;
        kiln_validation_report(validation, volume, kiln_near_relative(s->volume, bound),
                               "%s, h = %g: volume", s->shape, h);
        kiln_mesh_destroy(mesh);
        KILN_TRY(status);
        if (level == 0)
            kiln_validation_report(validation, (double)surface.euler, kiln_exactly(s->euler),
                                   "%s: surface V - E + F", s->shape);
        else
            kiln_validation_report(
                validation,
                2 * log(off[level - 1] / off[level]) / log(faces[level] / faces[level - 1]),
                kiln_near(2, 0.03), "%s, h = %g to %g: order of the volume", s->shape, 2 * h, h);
    }
    return KILN_OK;
}

kiln_status kiln_validate_solids(kiln_validation *validation, kiln_error *error)
{
    const double pi = acos(-1.0);
    const solid solids[] = {
        {"ball", "radius=1", 4 * pi / 3, 1.0, 0.75, 0.25, 2},
        {"cylinder", "radius=0.5 height=1", pi / 4, 0.5, 0.25, 0.125, 2},
        {"torus", "major=1 minor=0.35", 2 * pi * pi * 0.35 * 0.35, 0.35, 0.25, 0.12, 0},
    };
    for (size_t i = 0; i < sizeof solids / sizeof solids[0]; i++)
        KILN_TRY(check_solid(validation, &solids[i], error));
    return KILN_OK;
}
