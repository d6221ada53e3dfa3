#include "fuzz.h"
#include "io/tetgen.h"

/* The four files of a set in one input, parted by zero bytes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kiln_context *context = fuzz_context();
    kiln_source sources[KILN_TETGEN_PARTS], *parts[KILN_TETGEN_PARTS] = {NULL};
    size_t at = 0;
    for (int i = 0; i < KILN_TETGEN_PARTS && at <= size; i++) {
        const uint8_t *zero = at < size ? memchr(data + at, 0, size - at) : NULL;
        size_t end = zero && i + 1 < KILN_TETGEN_PARTS ? (size_t)(zero - data) : size;
        kiln_source_from_memory(&sources[i], context, "fuzz", data + at, end - at);
        parts[i] = &sources[i];
        at = end + 1;
    }
    kiln_soup soup;
    kiln_error error = {0};
    kiln_soup_init(&soup, context);
    kiln_status status = kiln_tetgen_read_parts(parts, &soup, &error);
    if (status == KILN_OK && kiln_soup_check(&soup, "fuzz", &error) != KILN_OK)
        abort();
    if (status != KILN_OK && !error.message[0])
        abort();
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
    return 0;
}
