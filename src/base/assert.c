#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef KILN_ASSERTS
void kiln_assert_failed(const char *file, int line, const char *expression, long long left,
                        long long right)
{
    fprintf(stderr, "%s:%d: assertion failed: %s (left %lld, right %lld)\n", file, line, expression,
            left, right);
    abort();
}
#else
/* ISO C wants a translation unit to hold something. */
typedef int kiln_assert_is_off;
#endif
