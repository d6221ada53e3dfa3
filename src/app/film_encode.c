#include "app/film_encode.h"

#include "io/source.h"

#include <stdio.h>

kiln_status kiln_film_encoder_open(kiln_film_encoder *encoder, kiln_context *context,
                                   const char *path, int width, int height, double fps,
                                   kiln_error *error)
{
    *encoder = (kiln_film_encoder){.feed = {.channel = -1}};
    KILN_TRY(kiln_sink_open(&encoder->sink, context, path, error));
    kiln_status status = kiln_scratch_make(&encoder->scratch, context, error);
    if (status != KILN_OK) {
        kiln_sink_discard(&encoder->sink);
        return status;
    }
    kiln_scratch_file(&encoder->scratch, "film.mp4", encoder->film);
    kiln_scratch_file(&encoder->scratch, "ffmpeg.log", encoder->log);
    char size[32], rate[32];
    snprintf(size, sizeof size, "%dx%d", width, height);
    snprintf(rate, sizeof rate, "%.6g", fps);
    /* The number of encoding threads is fixed: the bytes depend on it. */
    const char *const arguments[] = {"ffmpeg",
                                     "-hide_banner",
                                     "-loglevel",
                                     "error",
                                     "-y",
                                     "-f",
                                     "rawvideo",
                                     "-pixel_format",
                                     "rgb24",
                                     "-video_size",
                                     size,
                                     "-framerate",
                                     rate,
                                     "-i",
                                     "pipe:0",
                                     "-an",
                                     "-vf",
                                     "scale=out_color_matrix=bt709:out_range=tv",
                                     "-c:v",
                                     "libx264",
                                     "-preset",
                                     "medium",
                                     "-crf",
                                     "17",
                                     "-pix_fmt",
                                     "yuv420p",
                                     "-colorspace",
                                     "bt709",
                                     "-color_primaries",
                                     "bt709",
                                     "-color_trc",
                                     "bt709",
                                     "-color_range",
                                     "tv",
                                     "-threads",
                                     "4",
                                     "-movflags",
                                     "+faststart",
                                     "-fflags",
                                     "+bitexact",
                                     "-flags:v",
                                     "+bitexact",
                                     encoder->film,
                                     NULL};
    status = kiln_feed_start(&encoder->feed, context, arguments, encoder->log, "ffmpeg", error);
    if (status != KILN_OK)
        kiln_film_encoder_discard(encoder);
    return status;
}

kiln_status kiln_film_encoder_add(kiln_film_encoder *encoder, const kiln_image *image,
                                  kiln_error *error)
{
    size_t bytes = (size_t)image->width * (size_t)image->height * 3;
    return kiln_feed_write(&encoder->feed, image->pixels, bytes, error);
}

static kiln_status copy_film(kiln_film_encoder *encoder, kiln_error *error)
{
    kiln_source source;
    KILN_TRY(kiln_source_open(&source, encoder->sink.context, encoder->film, error));
    kiln_sink_bytes(&encoder->sink, source.at, kiln_source_left(&source));
    kiln_source_close(&source);
    return kiln_sink_commit(&encoder->sink, error);
}

kiln_status kiln_film_encoder_commit(kiln_film_encoder *encoder, kiln_error *error)
{
    kiln_status status = kiln_feed_finish(&encoder->feed, 0.0, error);
    if (status == KILN_OK)
        status = copy_film(encoder, error);
    kiln_film_encoder_discard(encoder);
    return status;
}

void kiln_film_encoder_discard(kiln_film_encoder *encoder)
{
    kiln_feed_abort(&encoder->feed);
    kiln_sink_discard(&encoder->sink);
    kiln_scratch_remove(&encoder->scratch);
}
