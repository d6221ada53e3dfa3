/* What the fuzzers of readers share. The driver is libFuzzer's. */
#ifndef KILN_FUZZ_FUZZ_H
#define KILN_FUZZ_FUZZ_H

#include "io/format.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

KILN_INLINE kiln_context *fuzz_context(void)
{
    kiln_context_options options = kiln_context_default_options();
    options.threads = 1;
    kiln_context *context = NULL;
    if (kiln_context_create(&options, &context, NULL) != KILN_OK)
        abort();
    return context;
}

/* Reads `data` with a format of the table; a failure must leave an empty soup and a message. */
KILN_INLINE void fuzz_format(const char *format, const uint8_t *data, size_t size)
{
    kiln_context *context = fuzz_context();
    kiln_source source;
    kiln_soup soup;
    kiln_error error = {0};
    kiln_source_from_memory(&source, context, "fuzz", data, size);
    kiln_soup_init(&soup, context);
    kiln_status status = kiln_soup_read_source(kiln_format_by_name(format), &source, &soup, &error);
    if (status != KILN_OK && (!error.message[0] || soup.points.data))
        abort();
    kiln_soup_free(&soup);
    kiln_source_close(&source);
    kiln_context_destroy(context);
}

#endif
