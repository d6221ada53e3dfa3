/* The obstacles beside a frame: which are the ground, which are drawn, which are framed. */
#ifndef KILN_APP_FILM_SCENERY_H
#define KILN_APP_FILM_SCENERY_H

#include "geom/box.h"
#include "mesh/soup.h"

typedef struct kiln_film_scenery {
    kiln_soup surface; /* triangles to draw: all but the ground's */
    bool has_ground;
    double ground;         /* height, turned up */
    kiln_u32_array framed; /* points of `surface` that belong in the picture */
    kiln_u32_array hollow; /* triangles of it, ascending, of walls all round the bodies */
} kiln_film_scenery;

/* Reads `path` (NULL: nothing). A flat level piece at the foot of the bodies, whose box over the
 * film is `bodies` (turned up), is the ground: a shadow catcher without end, not a square. Pieces
 * much larger than the bodies (walls, slopes) are drawn but do not decide what is framed. */
kiln_status kiln_film_scenery_read(kiln_context *context, const char *path, char up,
                                   const kiln_box *bodies, kiln_film_scenery *out,
                                   kiln_error *error);
/* Takes away what hides the inside of hollow pieces from `eye`, turned up. */
void kiln_film_scenery_open(kiln_film_scenery *scenery, char up, kiln_vec3 eye);
void kiln_film_scenery_free(kiln_film_scenery *scenery);

#endif
