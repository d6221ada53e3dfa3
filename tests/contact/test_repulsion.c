/* The repulsion over a step: its slope and curvature are those of its value, and what a secant
 * gives back is all there was. */
#include "contact/repulsion.h"
#include "support.h"

static const double places[] = {0.2, 0.5, 0.9, 0.97, 1.3};
enum { PLACES = sizeof places / sizeof places[0] };

START_TEST(derivatives)
{
    const double h = 1e-6, calm[] = {0.0, 0.3, 1.0};
    for (int a = 0; a < PLACES; a++)
        for (int b = 0; b < PLACES; b++)
            for (int k = 0; k < 3; k++) {
                double s0 = places[a], s1 = places[b] + 1e-2;
                kiln_repulsion at = kiln_repulsion_over(s0, s1, false, calm[k]);
                kiln_repulsion less = kiln_repulsion_over(s0, s1 - h, false, calm[k]);
                kiln_repulsion more = kiln_repulsion_over(s0, s1 + h, false, calm[k]);
                ck_assert_double_eq_tol(at.slope, (more.value - less.value) / (2 * h), 1e-7);
                ck_assert_double_eq_tol(at.curvature, (more.slope - less.slope) / (2 * h), 1e-6);
                ck_assert_double_ge(at.curvature, 0.0);
            }
}
END_TEST

/* The work of the force is what b falls by, less `calm` of the loss. */
START_TEST(losses)
{
    for (int a = 0; a < PLACES; a++)
        for (int b = 0; b < PLACES; b++) {
            double s0 = places[a], s1 = places[b], loss = kiln_repulsion_loss(s0, s1);
            double falls = kiln_repulsion_at(s0).value - kiln_repulsion_at(s1).value;
            ck_assert_double_ge(loss, 0.0);
            for (double calm = 0.0; calm <= 1.0; calm += 0.25) {
                double work = -kiln_repulsion_over(s0, s1, false, calm).slope * (s1 - s0);
                ck_assert_double_eq_tol(work, falls - calm * loss, 1e-9);
            }
        }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("repulsion");
    TCase *tc = kiln_test_case(suite, "repulsion");
    tcase_add_test(tc, derivatives);
    tcase_add_test(tc, losses);
    suite_add_tcase(suite, tc);
    return suite;
}
