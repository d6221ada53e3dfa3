/* What is fixed over a film: the camera that sees every frame, the scale that covers every frame,
 * the colours of the regions. Found by a pass over the frames before the first is drawn. */
#ifndef KILN_APP_FILM_STAGE_H
#define KILN_APP_FILM_STAGE_H

#include "app/film_list.h"
#include "app/film_scenery.h"
#include "app/render.h"

typedef KILN_ARRAY_OF(uint32_t)
kiln_film_selection; /* numbers of frames in the list, in the order shown */

typedef struct kiln_film_stage {
    kiln_context *context; /* borrowed */
    kiln_render_stage stage;
    kiln_box bodies; /* over all frames, turned up */
    KILN_ARRAY_OF(int32_t)
    tags;
    char title[KILN_NAME_SIZE];
} kiln_film_stage;

/* Reads a frame (or the fine surfaces beside it, each a region) and prepares it to be coloured as
 * the options say (render_field.h). Without a colour bodies are tagged as regions when there
 * are several in the frame or in the run's first (options->by_body); in frames that do not know
 * bodies connected parts are, when there is only one region. */
kiln_status kiln_film_frame_read(kiln_context *context, const kiln_film_frame *frame,
                                 const kiln_render_options *options, kiln_soup *soup,
                                 kiln_error *error);

/* Completes `options`: stage, range (of the 0.5 to the 99.5 percentile of all values, from 0 when
 * they begin near it), title. They borrow the stage. */
kiln_status kiln_film_stage_set(kiln_context *context, const kiln_film_list *list,
                                const kiln_film_selection *shown, kiln_render_options *options,
                                kiln_film_stage *out, kiln_error *error);
void kiln_film_stage_free(kiln_film_stage *stage);

#endif
