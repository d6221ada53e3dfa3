/* Status values and the error that explains them. Bad input and failing resources only: a bug is
 * an assert, a numerical outcome is a report enum of the module that has it. */
#ifndef KILN_BASE_ERROR_H
#define KILN_BASE_ERROR_H

#include "base/platform.h"
#include "kiln/kiln.h"

/* Return on the first call that is not KILN_OK. */
#define KILN_TRY(call)                                                                             \
    do {                                                                                           \
        kiln_status kiln_try_status_ = (call);                                                     \
        if (KILN_UNLIKELY(kiln_try_status_ != KILN_OK))                                            \
            return kiln_try_status_;                                                               \
    } while (0)

/* Fill `error` (may be NULL) and return `status`. `place` may be NULL; line 0 and byte -1 mean
 * unknown. */
kiln_status kiln_fail(kiln_error *error, kiln_status status, const char *place, long long line,
                      long long byte, const char *format, ...) KILN_PRINTF(6, 7);

/* KILN_ERR_INPUT when a pointer that a caller of the library must give is NULL. */
kiln_status kiln_need(const void *pointer, const char *name, kiln_error *error);
/* The same for `count` texts, the list and each of them. */
kiln_status kiln_need_texts(const char *const *texts, size_t count, const char *name,
                            kiln_error *error);

/* Shorthand for KILN_ERR_MEMORY. */
kiln_status kiln_fail_memory(kiln_error *error, size_t bytes);

#endif
