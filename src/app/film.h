/* Pictures of a run: a film, a folder of pictures, a still, a sheet of stills. */
#ifndef KILN_APP_FILM_H
#define KILN_APP_FILM_H

#include "app/film_list.h"
#include "app/film_stage.h"
#include "app/render.h"

typedef struct kiln_film_request {
    const char *output;       /* .mp4: film; .png: still or sheet; a folder: every picture */
    const char *frames;       /* "7", "last", "3:20" or NULL: all (the last one for a still) */
    int every;                /* each so many of these */
    int columns, rows;        /* of a sheet; 0: none */
    double fps;               /* 0: as the run's time goes when 10 to 60 a second, else 30 */
    kiln_render_options look; /* size is that of each picture */
} kiln_film_request;

/* Refuses numbers of frames that are not there. */
kiln_status kiln_film_select(kiln_context *context, const kiln_film_list *list,
                             const kiln_film_request *request, kiln_film_selection *out,
                             kiln_error *error);

/* Prints what it made. */
kiln_status kiln_film_make(kiln_context *context, const kiln_film_list *list,
                           const kiln_film_selection *shown, kiln_film_request *request,
                           kiln_error *error);

#endif
