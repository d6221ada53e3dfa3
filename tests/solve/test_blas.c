#include "solve/blas.h"
#include "support.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Has OpenBLAS take this machine for a Prescott, as version 0.3.21 does with those it does not
 * know. False when it cannot be done here. */
static bool forget_the_processor(void)
{
    void *library = dlopen("libopenblas.so.0", RTLD_LAZY);
    void *addresses[2] = {library ? dlsym(library, "gotoblas_dynamic_quit") : NULL,
                          library ? dlsym(library, "gotoblas_dynamic_init") : NULL};
    void (*functions[2])(void);
    memcpy(functions, addresses, sizeof functions);
    if (!functions[0] || !functions[1])
        return false;
    setenv("OPENBLAS_CORETYPE", "Prescott", 1);
    functions[0]();
    functions[1]();
    unsetenv("OPENBLAS_CORETYPE");
    return true;
}

static void *prepare(void *user)
{
    *(const kiln_blas_state **)user = kiln_blas_prepare();
    return NULL;
}

START_TEST(a_slow_kernel_is_corrected_once)
{
    if (!forget_the_processor()) {
        printf("SKIP OpenBLAS without a choice of kernels\n");
        return;
    }
    pthread_t threads[4];
    const kiln_blas_state *seen[4];
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, prepare, &seen[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    const kiln_blas_state *state = kiln_blas_prepare();
    for (int i = 0; i < 4; i++)
        ck_assert_ptr_eq(seen[i], state);
    ck_assert_str_eq(state->found, "Prescott");
    if (kiln_isa_best() == KILN_ISA_SCALAR) {
        ck_assert_str_eq(state->kernel, "Prescott");
    } else {
        ck_assert_str_eq(state->note, "corrected");
        ck_assert_str_eq(state->kernel,
                         kiln_isa_best() == KILN_ISA_AVX512 ? "SkylakeX" : "Haswell");
    }
    ck_assert_ptr_null(getenv("OPENBLAS_CORETYPE"));
}
END_TEST

START_TEST(what_the_user_asks_for_stays)
{
    if (!forget_the_processor())
        return;
    setenv("OPENBLAS_CORETYPE", "Prescott", 1);
    const kiln_blas_state *state = kiln_blas_prepare();
    ck_assert_str_eq(state->kernel, "Prescott");
    ck_assert_ptr_nonnull(strstr(state->note, "OPENBLAS_CORETYPE"));
}
END_TEST

START_TEST(openmp_is_given_back_as_it_was)
{
    int before = kiln_openmp_begin_serial(), again = kiln_openmp_begin_serial();
    ck_assert(again == 0 || before == -1);
    kiln_openmp_end_serial(again);
    kiln_openmp_end_serial(before);
    int after = kiln_openmp_begin_serial();
    ck_assert_int_eq(after, before);
    kiln_openmp_end_serial(after);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("blas");
    TCase *all = kiln_test_case(suite, "blas");
    tcase_add_test(all, a_slow_kernel_is_corrected_once);
    tcase_add_test(all, what_the_user_asks_for_stays);
    tcase_add_test(all, openmp_is_given_back_as_it_was);
    return suite;
}
