#include "app/film_tracers.h"

#include "app/film_parts.h"
#include "geom/box.h"
#include "io/format.h"
#include "io/tracers.h"

#include <limits.h>
#include <stdio.h>

/* Of the bodies' box, the radius of a bead. */
static const double BEAD = 0.0035;

/* frames/frame-N.vtu becomes surface/tracers-N.vtp. */
static kiln_status tracers_beside(const kiln_film_frame *frame, char path[PATH_MAX],
                                  kiln_error *error)
{
    const char *name = strstr(frame->path, "frames/frame-");
    for (const char *next = name; next; next = strstr(next + 1, "frames/frame-"))
        name = next;
    int head = name ? (int)(name - frame->path) : 0;
    if (!name || snprintf(path, PATH_MAX, "%.*ssurface/tracers-%.*s.vtp", head, frame->path,
                          (int)strspn(name + 13, "0123456789"), name + 13) >= PATH_MAX)
        return kiln_fail(error, KILN_ERR_INPUT, frame->path, 0, -1, "is no frame of a run");
    return KILN_OK;
}

static kiln_status push_triangle(kiln_soup *soup, uint32_t a, uint32_t b, uint32_t c, int32_t tag,
                                 kiln_error *error)
{
    kiln_soup_triangle triangle = {{a, b, c}};
    KILN_TRY(kiln_array_push(soup->context, &soup->triangles, triangle, error));
    return kiln_array_push(soup->context, &soup->triangle_tags, tag, error);
}

/* Pieces of the surface that enclose a volume from outside. */
static kiln_status add_hollows(kiln_soup *soup, const kiln_soup *bodies, uint32_t *root,
                               double *volume, kiln_error *error)
{
    const kiln_vec3 *p = bodies->points.data;
    for (uint32_t v = 0; v < bodies->points.count; v++) {
        root[v] = v;
        volume[v] = 0.0;
        KILN_TRY(kiln_array_push(soup->context, &soup->points, p[v], error));
    }
    for (size_t i = 0; i < bodies->triangles.count; i++) {
        const uint32_t *v = bodies->triangles.data[i].v;
        kiln_part_connect(root, v[0], v[1]);
        kiln_part_connect(root, v[0], v[2]);
    }
    for (size_t i = 0; i < bodies->triangles.count; i++) {
        const uint32_t *v = bodies->triangles.data[i].v, first = kiln_part_root(root, v[0]);
        volume[first] +=
            kiln_v3_triple(kiln_v3_sub(p[v[0]], p[first]), kiln_v3_sub(p[v[1]], p[first]),
                           kiln_v3_sub(p[v[2]], p[first]));
    }
    for (size_t i = 0; i < bodies->triangles.count; i++) {
        const uint32_t *v = bodies->triangles.data[i].v;
        if (volume[kiln_part_root(root, v[0])] < 0.0) /* seen from within the hollow */
            KILN_TRY(push_triangle(soup, v[0], v[2], v[1], 1, error));
    }
    return KILN_OK;
}

static kiln_status add_bead(kiln_soup *soup, kiln_vec3 at, double radius, kiln_error *error)
{
    static const uint8_t faces[8][3] = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                                        {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
    uint32_t first = (uint32_t)soup->points.count;
    for (int k = 0; k < 6; k++) {
        double off = k % 2 ? -radius : radius;
        kiln_vec3 p = kiln_v3_add(
            at, kiln_v3(k / 2 == 0 ? off : 0, k / 2 == 1 ? off : 0, k / 2 == 2 ? off : 0));
        KILN_TRY(kiln_array_push(soup->context, &soup->points, p, error));
    }
    for (int k = 0; k < 8; k++)
        KILN_TRY(push_triangle(soup, first + faces[k][0], first + faces[k][1], first + faces[k][2],
                               2, error));
    return KILN_OK;
}

static kiln_status string_beads(kiln_soup *soup, const kiln_soup *bodies, const kiln_soup *beads,
                                kiln_error *error)
{
    size_t points = bodies->points.count,
           bytes = (points + 1) * (sizeof(uint32_t) + sizeof(double));
    double *volume = kiln_resize(soup->context, NULL, 0, bytes);
    if (!volume)
        return kiln_fail_memory(error, bytes);
    kiln_status status =
        add_hollows(soup, bodies, (uint32_t *)(void *)(volume + points + 1), volume, error);
    kiln_release(soup->context, volume, bytes);
    KILN_TRY(status);
    kiln_box box = kiln_box_of(bodies->points.data, points);
    double radius = BEAD * kiln_v3_norm(kiln_v3_sub(box.high, box.low));
    for (size_t i = 0; i < beads->points.count; i++)
        KILN_TRY(add_bead(soup, beads->points.data[i], radius, error));
    kiln_soup_field *field;
    const double *velocity = kiln_soup_find_field(beads, KILN_ON_VERTEX, "v")->data.data;
    KILN_TRY(kiln_soup_add_field(soup, "v", KILN_ON_VERTEX, 3, &field, error));
    for (size_t i = 0; i < 6 * beads->points.count; i++)
        for (int c = 0; c < 3; c++)
            field->data.data[3 * (points + i) + c] = velocity[3 * (i / 6) + c];
    return KILN_OK;
}

kiln_status kiln_film_tracers_read(kiln_context *context, const kiln_film_frame *frame,
                                   kiln_soup *soup, kiln_error *error)
{
    char path[PATH_MAX];
    kiln_soup bodies, beads;
    KILN_TRY(tracers_beside(frame, path, error));
    kiln_soup_init(&bodies, context);
    kiln_soup_init(&beads, context);
    kiln_status status = kiln_soup_read(context, frame->path, NULL, &bodies, error);
    if (status == KILN_OK)
        status = kiln_tracers_read(context, path, &beads, error);
    if (status == KILN_OK)
        status = string_beads(soup, &bodies, &beads, error);
    kiln_soup_free(&beads);
    kiln_soup_free(&bodies);
    return status;
}
