/* What the renderer draws: triangles in a frame of their own (z up, centred, radius 1, so that
 * single precision is enough whatever the units), with corner normals and the values to colour by.
 */
#ifndef KILN_APP_RENDER_MESH_H
#define KILN_APP_RENDER_MESH_H

#include "app/color_map.h"
#include "app/render.h"
#include "app/skin.h"
#include "base/arena.h"

typedef enum kiln_paint {
    KILN_PAINT_BASE, /* one colour for all */
    KILN_PAINT_MAP,  /* value on the scale, 0 to 1 */
    KILN_PAINT_KIND, /* value is the number of a kind */
    KILN_PAINT_QUIET /* scenery */
} kiln_paint;

enum { KILN_MAX_KINDS = 12 }; /* shown in the legend */

typedef struct kiln_color_scale {
    kiln_paint paint; /* what the legend shows; BASE: no legend */
    kiln_color_map map;
    double low, high;
    double factor; /* numbers shown are divided by this; 0: as they are */
    char title[KILN_NAME_SIZE];
    size_t kind_count;
    int32_t kind_tags[KILN_MAX_KINDS];
    kiln_rgb base;
} kiln_color_scale;

typedef struct kiln_render_mesh {
    kiln_arena *arena; /* borrowed, owns the arrays */
    size_t vertex_count, triangle_count;
    size_t body_vertices, body_triangles; /* these come first, the rest is scenery */
    float (*position)[3];                 /* [vertex], one spare row for Embree's wide loads */
    uint32_t (*corner)[3];                /* [triangle] */
    uint32_t (*across)[3]; /* [triangle][edge from corner k to k + 1] another triangle there, or
                              UINT32_MAX */
    float (*normal)[3][3]; /* [triangle][corner] unit, outwards */
    float (*value)[3];     /* [triangle][corner] */
    uint8_t *paint;        /* [triangle] */
    double floor;          /* z of the lowest point */
    kiln_color_scale scale;
} kiln_render_mesh;

/* Of a triangle at u of its corner 1 and v of its corner 2. */
typedef struct kiln_surface_place {
    kiln_vec3 position, face_normal, normal; /* normals outwards, unit; the last is smooth */
} kiln_surface_place;
kiln_surface_place kiln_render_mesh_at(const kiln_render_mesh *mesh, size_t triangle, double u,
                                       double v);

/* Turns a direction or place of the soup so that the chosen axis points up. */
kiln_vec3 kiln_render_turn_up(kiln_vec3 p, char up);

/* Refuses a soup with nothing to show. */
kiln_status kiln_render_mesh_create(const kiln_soup *soup, const kiln_render_options *options,
                                    kiln_arena *arena, kiln_render_mesh *out, kiln_error *error);

#endif
