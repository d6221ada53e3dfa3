/* Pictures of a soup: its surface (or the tets on one side of a plane) ray-traced with a soft key
 * light, sky light with occlusion and a shadow on the ground. The same bytes for any number of
 * threads. */
#ifndef KILN_APP_RENDER_H
#define KILN_APP_RENDER_H

#include "app/image.h"
#include "app/render_camera.h"
#include "mesh/soup.h"

#include <stdbool.h>

/* What stays fixed from picture to picture of a film. Places are those of the soup, turned up
 * (render_mesh.h). */
typedef struct kiln_render_stage {
    kiln_vec3 center; /* drawn as the origin ... */
    double reach;     /* ... and this as the unit of length */
    double floor;     /* height of the ground */
    kiln_camera camera;
    const int32_t *tags; /* [tag_count] ascending: the regions, in the order of their colours */
    size_t tag_count;
} kiln_render_stage;

typedef struct kiln_render_options {
    int width, height;     /* pixels */
    double azimuth;        /* degrees, from which side: 0 looks along -x, 90 along -y */
    double elevation;      /* degrees above the horizon */
    char up;               /* which axis of the mesh is up: x, y or z */
    bool clip;             /* keep tets whose centroid has n.c <= d ... */
    kiln_vec3 clip_normal; /* ... with this n, not zero ... */
    double clip_offset;    /* ... and this d, n not normalised */
    bool by_body; /* no colour asked for: bodies have theirs, in a run that begins with several */
    const char *color; /* "quality", "region", "none" or a field's name; NULL: quality when clipped,
                          region when there are several, else none */
    bool range;        /* the scale goes ... */
    double low, high;  /* ... from here to there, low < high; else as the values do */
    bool smooth;       /* fields on tets are averaged around vertices */
    bool tracers;      /* of a run: its particles, and hollows, in place of the bodies */
    bool surfaces;     /* of a run: the fine surfaces that bodies carry in place of their meshes */
    const struct kiln_look *look; /* of bodies (render_look.h); NULL: clay, or coloured */
    bool edges;
    bool flat;              /* no smooth shading across surface edges */
    bool no_ground;         /* leave the shadow on the ground out */
    int samples;            /* paths per pixel; a power of two is best */
    const char *background; /* "light", "dark", "white", "black" or "#rrggbb" */
    const char *title;      /* above the legend's scale; NULL: what is coloured */
    double legend_factor;   /* the legend shows values divided by this; 0: as they are */
    bool no_legend;
    const char *caption;            /* in the lower left corner; NULL: none */
    double zoom;                    /* larger than what fits the picture by this factor */
    const kiln_render_stage *stage; /* NULL: made to fit the soup */
    const kiln_soup *scenery;       /* triangles in a quiet colour; not framed; NULL: none */
} kiln_render_options;

kiln_render_options kiln_render_default_options(void);

/* Turns the view so that it looks at the cut from a little to the side. */
void kiln_render_face_clip(kiln_render_options *options);

/* Pixels at the right of the picture that the legend takes, for whoever frames a stage. `title` is
 * that of a colour scale; NULL: there is none. */
int kiln_render_legend_width(const char *title, int width, int height);

/* KILN_ERR_STATE when the context stops in the middle: there is no picture then. */
kiln_status kiln_render(kiln_context *context, const kiln_soup *soup,
                        const kiln_render_options *options, kiln_image *out, kiln_error *error);

#endif
