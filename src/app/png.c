#include "app/image.h"

#include "io/sink.h"

#include <png.h>
#include <setjmp.h>

enum { REASON_SIZE = 200 };

static void keep_message(png_structp png, png_const_charp message)
{
    char *text = png_get_error_ptr(png);
    snprintf(text, REASON_SIZE, "%s", message);
    longjmp(png_jmpbuf(png), 1);
}

static void ignore_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void put_bytes(png_structp png, png_bytep bytes, size_t size)
{
    kiln_sink_bytes(png_get_io_ptr(png), bytes, size);
}

/* The sink remembers what fails. */
static void flush_nothing(png_structp png)
{
    (void)png;
}

/* False with the reason in `text` [REASON_SIZE]. Nothing here changes between setjmp and longjmp
 * but what the pointers lead to. */
static int encode(const kiln_image *image, kiln_sink *sink, char *text)
{
    png_structp png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, text, keep_message, ignore_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        png_destroy_write_struct(png ? &png : NULL, NULL);
        snprintf(text, REASON_SIZE, "out of memory");
        return 0;
    }
    if (setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return 0;
    }
    png_set_write_fn(png, sink, put_bytes, flush_nothing);
    png_set_IHDR(png, info, (png_uint_32)image->width, (png_uint_32)image->height, 8,
                 PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_write_info(png, info);
    for (int y = 0; y < image->height; y++)
        png_write_row(png, image->pixels + (size_t)y * (size_t)image->width * 3);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return 1;
}

kiln_status kiln_png_write(const kiln_image *image, const char *path, kiln_error *error)
{
    kiln_sink sink;
    char reason[REASON_SIZE] = "";
    KILN_TRY(kiln_sink_open(&sink, image->context, path, error));
    if (!encode(image, &sink, reason)) {
        kiln_sink_discard(&sink);
        return kiln_fail(error, KILN_ERR_IO, path, 0, -1, "cannot write: %s", reason);
    }
    return kiln_sink_commit(&sink, error);
}
