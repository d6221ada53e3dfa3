#include "dense.h"
#include "solve/vectors.h"

/* Lengths of one chunk, of several of the least size, and of the most there are. */
START_TEST(long_vectors_have_the_same_bits_on_any_threads)
{
    static const size_t counts[] = {0, 1, 7, 4096, 30011, 1500001};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        size_t count = counts[c];
        kiln_random random = kiln_random_start(c, 2);
        double *a = random_vector(&random, count + 1), *b = random_vector(&random, count + 1);
        double *out = malloc((count + 1) * sizeof *out), sum = 0.0, most = 0.0, first = 0.0;
        for (size_t i = 0; i < count; i++) {
            sum += a[i] * b[i];
            most = fmax(most, fabs(a[i]));
        }
        for (int threads = 1; threads <= 3; threads++) {
            kiln_context *context = kiln_test_context(threads);
            double dot = kiln_vector_dot(context, a, b, count);
            first = threads == 1 ? dot : first;
            ck_assert_double_eq(dot, first);
            ck_assert_double_eq_tol(dot, sum, 1e-12 * (1.0 + (double)count));
            ck_assert_double_eq(kiln_vector_largest(context, a, count), most);
            kiln_vector_combine(context, 2.0, a, -0.5, b, out, count);
            for (size_t i = 0; i < count; i++)
                ck_assert(out[i] == 2.0 * a[i] - 0.5 * b[i]);
            double with = kiln_vector_dot(context, a, out, count);
            kiln_vector_step steps[] = {{2.0, a, -0.5, b, .out = out, .with = a},
                                        {.a = b, .with = a},
                                        {1.0, out, 1.0, out, .out = out}};
            kiln_vector_take_steps(context, steps, 3, count);
            ck_assert(steps[0].dot == with && steps[1].dot == dot);
            for (size_t i = 0; i < count; i++)
                ck_assert(out[i] == 2.0 * (2.0 * a[i] - 0.5 * b[i]));
            kiln_vector_take_steps(context, steps, 1, count);
            for (size_t i = 0; i < count; i++)
                ck_assert(out[i] == 2.0 * a[i] - 0.5 * b[i]);
            ck_assert(kiln_vector_is_finite(context, out, count));
            for (int bad = 0; bad < 2 && count; bad++) {
                out[count - 1] = bad ? NAN : -INFINITY;
                ck_assert(!kiln_vector_is_finite(context, out, count));
            }
            kiln_context_destroy(context);
        }
        free(a), free(b), free(out);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("vectors");
    TCase *all = kiln_test_case(suite, "vectors");
    tcase_add_test(all, long_vectors_have_the_same_bits_on_any_threads);
    return suite;
}
