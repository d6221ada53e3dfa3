#include "app/aside.h"

#include "io/sink.h"

#include <stdlib.h>

kiln_status kiln_aside_open(kiln_aside *aside, kiln_context *context, const char *path,
                            kiln_error *error)
{
    *aside = (kiln_aside){.context = context, .path = path};
    aside->file = open_memstream(&aside->text, &aside->size);
    return aside->file ? KILN_OK : kiln_fail_memory(error, BUFSIZ);
}

kiln_status kiln_aside_commit(kiln_aside *aside, kiln_error *error)
{
    kiln_sink sink;
    kiln_status status = KILN_OK;
    if (fclose(aside->file) != 0)
        status = kiln_fail_memory(error, aside->size);
    if (status == KILN_OK)
        status = kiln_sink_open(&sink, aside->context, aside->path, error);
    if (status == KILN_OK) {
        kiln_sink_bytes(&sink, aside->text, aside->size);
        status = kiln_sink_commit(&sink, error);
    }
    free(aside->text);
    *aside = (kiln_aside){0};
    return status;
}

void kiln_aside_discard(kiln_aside *aside)
{
    fclose(aside->file);
    free(aside->text);
    *aside = (kiln_aside){0};
}
