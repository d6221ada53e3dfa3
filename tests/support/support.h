/* What every test program shares: the main function, a context, an allocator that fails on demand,
 * and the campaign length (short in `make test`, long in `make soak`). */
#ifndef KILN_TESTS_SUPPORT_H
#define KILN_TESTS_SUPPORT_H

#include "base/context.h"
#include "base/random.h"

#include <check.h>
#include <stdint.h>

/* Check tells the process that waits of every assertion that holds, in microseconds and dozens of
 * bytes each: tests that look at millions of numbers took most of their time for it. Here it is
 * told of the first thousand and of one in a thousand after them; of what fails it is told as ever.
 */
void kiln_test_passed(const char *file, int line);
#undef ck_assert_msg
#define ck_assert_msg(expr, ...)                                                                   \
    (expr) ? kiln_test_passed(__FILE__, __LINE__)                                                  \
           : _ck_assert_failed(__FILE__, __LINE__, "Assertion '" #expr "' failed", ##__VA_ARGS__)

/* Each test program defines this and nothing called main. */
Suite *kiln_test_suite(void);

/* Every test case gets a generous time limit; sanitizers are slow. */
TCase *kiln_test_case(Suite *suite, const char *name);

/* Context on malloc; fails the test when it cannot be had. */
kiln_context *kiln_test_context(int threads);

/* `quick` rounds in make test, `full` when KILN_SOAK is set in the environment. */
uint64_t kiln_test_rounds(uint64_t quick, uint64_t full);

/* An allocator that counts live bytes and fails allocation number `fail_at` (counted from 1; 0:
 * never) and every one after it. Counts from any thread: what a parallel loop allocates is counted
 * too. */
typedef struct kiln_test_heap {
    _Atomic uint64_t calls;
    uint64_t fail_at;
    _Atomic int64_t live_bytes, live_blocks;
} kiln_test_heap;
kiln_context *kiln_test_context_on(kiln_test_heap *heap, int threads);

/* Path of a file in ../shared/data in `buffer`, or NULL when it is absent: then a line "SKIP ..."
 * is printed, which the runner counts (and with CI=true counts as a failure). */
const char *kiln_test_data(const char *name, char *buffer, size_t size);

#endif
