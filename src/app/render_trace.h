/* Rays against the triangles, by Embree. */
#ifndef KILN_APP_RENDER_TRACE_H
#define KILN_APP_RENDER_TRACE_H

#include "app/render_mesh.h"

typedef struct kiln_tracer kiln_tracer;

typedef struct kiln_hit {
    size_t triangle;
    double distance; /* in lengths of the direction */
    double u, v;     /* of corners 1 and 2 */
} kiln_hit;

/* Borrows the mesh until destroyed. */
kiln_status kiln_tracer_create(const kiln_render_mesh *mesh, kiln_tracer **out, kiln_error *error);
void kiln_tracer_destroy(kiln_tracer *tracer);

/* May be called from several threads. */
bool kiln_tracer_hit(const kiln_tracer *tracer, kiln_vec3 from, kiln_vec3 direction, kiln_hit *hit);
/* Of scenery alone, no farther than that. */
bool kiln_tracer_hit_scenery(const kiln_tracer *tracer, kiln_vec3 from, kiln_vec3 direction,
                             double within, kiln_hit *hit);
bool kiln_tracer_blocked(const kiln_tracer *tracer, kiln_vec3 from, kiln_vec3 direction);

#endif
