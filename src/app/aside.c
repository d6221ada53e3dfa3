#include "app/aside.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

kiln_status kiln_aside_open(kiln_aside *aside, const char *path, kiln_error *error)
{
    *aside = (kiln_aside){.path = path};
    int length =
        snprintf(aside->temporary, sizeof aside->temporary, "%s.%ld.part", path, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof aside->temporary)
        return kiln_fail(error, KILN_ERR_INPUT, path, 0, -1, "the file name is too long");
    aside->file = fopen(aside->temporary, "wb");
    if (!aside->file)
        return kiln_fail(error, KILN_ERR_IO, path, 0, -1, "cannot be written: %s", strerror(errno));
    return KILN_OK;
}

kiln_status kiln_aside_commit(kiln_aside *aside, kiln_error *error)
{
    FILE *file = aside->file;
    bool fine = !ferror(file) && fflush(file) == 0 && fsync(fileno(file)) == 0;
    int reason = fine ? 0 : errno;
    if (fclose(file) != 0 && fine) {
        fine = false;
        reason = errno;
    }
    aside->file = NULL;
    if (fine && rename(aside->temporary, aside->path) != 0) {
        fine = false;
        reason = errno;
    }
    if (fine)
        return KILN_OK;
    unlink(aside->temporary);
    return kiln_fail(error, KILN_ERR_IO, aside->path, 0, -1, "cannot be written: %s",
                     reason ? strerror(reason) : "write error");
}

void kiln_aside_discard(kiln_aside *aside)
{
    fclose(aside->file);
    aside->file = NULL;
    unlink(aside->temporary);
}
