/* A broken promise of our own code. On in test builds; prints both values and stops there. */
#ifndef KILN_BASE_ASSERT_H
#define KILN_BASE_ASSERT_H

#ifdef KILN_ASSERTS
void kiln_assert_failed(const char *file, int line, const char *expression, long long left,
                        long long right);
#define KILN_ASSERT(c)                                                                             \
    do {                                                                                           \
        if (!(c))                                                                                  \
            kiln_assert_failed(__FILE__, __LINE__, #c, 0, 0);                                      \
    } while (0)
#define KILN_ASSERT_OP(a, op, b)                                                                   \
    do {                                                                                           \
        if (!((a)op(b)))                                                                           \
            kiln_assert_failed(__FILE__, __LINE__, #a " " #op " " #b, (long long)(a),              \
                               (long long)(b));                                                    \
    } while (0)
#else
#define KILN_ASSERT(c)           ((void)0)
#define KILN_ASSERT_OP(a, op, b) ((void)0)
#endif

#endif
