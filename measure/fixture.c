#include "measure/fixture.h"

#include "geom/predicates.h"
#include "mesh/build.h"
#include "mesh/jitter.h"
#include "mesh/shapes.h"

#include <stdio.h>
#include <string.h>

enum { SETTINGS = KILN_SHAPE_PARAMS };

/* A word without '=' belongs to the setting before it, as the corners of a polygon do. */
static char *end_of_setting(char *at)
{
    char *end = at + strcspn(at, " ");
    while (*end && end[1 + strcspn(end + 1, " =")] != '=')
        end += 1 + strcspn(end + 1, " =");
    return end;
}

kiln_status kiln_fixture_soup(kiln_context *context, const char *shape, const char *settings,
                              kiln_soup *soup, kiln_error *error)
{
    char copy[256];
    const char *list[SETTINGS];
    size_t count = 0, shape_count;
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *at = copy, *end; *at && count < SETTINGS; at = end) {
        end = end_of_setting(at);
        if (*end)
            *end++ = '\0';
        list[count++] = at;
    }
    kiln_soup_init(soup, context);
    const kiln_shape *const *shapes = kiln_shapes(&shape_count);
    const kiln_shape *row;
    KILN_TRY(kiln_shape_find(shapes, shape_count, shape, &row, error));
    return kiln_shape_make(row, count, list, soup, error);
}

kiln_status kiln_fixture_mesh(kiln_context *context, const char *shape, const char *settings,
                              double jitter, kiln_mesh **mesh, kiln_error *error)
{
    kiln_soup soup;
    KILN_TRY(kiln_fixture_soup(context, shape, settings, &soup, error));
    kiln_status status = kiln_mesh_build(context, &soup, NULL, mesh, NULL, error);
    kiln_soup_free(&soup);
    KILN_TRY(status);
    if (jitter > 0.0 && kiln_mesh_jitter(*mesh, jitter, 1) != KILN_ACCEPTED) {
        kiln_mesh_destroy(*mesh);
        return kiln_fail_memory(error, 0);
    }
    return KILN_OK;
}

long double kiln_fixture_volume(const kiln_mesh *mesh)
{
    long double sum = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            sum += kiln_mesh_tet_volume(mesh, t);
    return sum;
}

size_t kiln_fixture_non_positive(const kiln_mesh *mesh)
{
    size_t count = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        const uint32_t *v = mesh->tet[t].v;
        const kiln_vec3 *u = mesh->u, *x = mesh->x;
        count += kiln_orient3d_sign(u[v[0]], u[v[1]], u[v[2]], u[v[3]]) <= 0 ||
                 kiln_orient3d_sign(x[v[0]], x[v[1]], x[v[2]], x[v[3]]) <= 0;
    }
    return count;
}
