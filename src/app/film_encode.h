/* Pictures in, an H.264 film out, by ffmpeg. The film appears whole or not at all. */
#ifndef KILN_APP_FILM_ENCODE_H
#define KILN_APP_FILM_ENCODE_H

#include "app/image.h"
#include "io/process.h"
#include "io/sink.h"

typedef struct kiln_film_encoder {
    kiln_scratch scratch;
    kiln_sink sink;
    kiln_feed feed;
    char film[KILN_SCRATCH_PATH], log[KILN_SCRATCH_PATH];
} kiln_film_encoder;

/* Width and height must be even: the film has one colour for four pixels. Fails before the first
 * picture is made when the path cannot be written or ffmpeg is not there. */
kiln_status kiln_film_encoder_open(kiln_film_encoder *encoder, kiln_context *context,
                                   const char *path, int width, int height, double fps,
                                   kiln_error *error);
kiln_status kiln_film_encoder_add(kiln_film_encoder *encoder, const kiln_image *image,
                                  kiln_error *error);
/* The encoder is gone afterwards, whatever happened. */
kiln_status kiln_film_encoder_commit(kiln_film_encoder *encoder, kiln_error *error);
void kiln_film_encoder_discard(kiln_film_encoder *encoder);

#endif
