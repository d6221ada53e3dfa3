#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void kiln_test_passed(const char *file, int line)
{
    static _Thread_local uint64_t passed;
    if (passed++ < 1000 || passed % 1000 == 0)
        _mark_point(file, line);
}

TCase *kiln_test_case(Suite *suite, const char *name)
{
    TCase *test_case = tcase_create(name);
    tcase_set_timeout(test_case, getenv("KILN_SOAK") ? 36000 : 600);
    suite_add_tcase(suite, test_case);
    return test_case;
}

kiln_context *kiln_test_context(int threads)
{
    kiln_context_options options = kiln_context_default_options();
    options.threads = threads;
    kiln_context *context = NULL;
    ck_assert_int_eq(kiln_context_create(&options, &context, NULL), KILN_OK);
    return context;
}

uint64_t kiln_test_rounds(uint64_t quick, uint64_t full)
{
    return getenv("KILN_SOAK") ? full : quick;
}

static void *counting_resize(void *user, void *block, size_t old_size, size_t new_size)
{
    kiln_test_heap *heap = user;
    if (new_size == 0) {
        if (block)
            heap->live_blocks--;
        heap->live_bytes -= (int64_t)old_size;
        free(block);
        return NULL;
    }
    uint64_t call = ++heap->calls;
    if (heap->fail_at && call >= heap->fail_at)
        return NULL;
    void *grown = realloc(block, new_size);
    if (grown) {
        heap->live_bytes += (int64_t)new_size - (int64_t)old_size;
        heap->live_blocks += block ? 0 : 1;
    }
    return grown;
}

kiln_context *kiln_test_context_on(kiln_test_heap *heap, int threads)
{
    kiln_context_options options = kiln_context_default_options();
    options.allocator = (kiln_allocator){counting_resize, heap};
    options.threads = threads;
    kiln_context *context = NULL;
    return kiln_context_create(&options, &context, NULL) == KILN_OK ? context : NULL;
}

const char *kiln_test_data(const char *name, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s/%s", KILN_SHARED_DATA, name);
    if (access(buffer, R_OK) == 0)
        return buffer;
    printf("SKIP %s is not there\n", buffer);
    fflush(stdout);
    return NULL;
}

int main(void)
{
    SRunner *runner = srunner_create(kiln_test_suite());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
