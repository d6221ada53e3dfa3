/* Several steppers in one try: one outcome for all, and a step that takes all of them back. */
#include "fixtures.h"
#include "mesh/rewind.h"
#include "step/stepper.h"
#include "support.h"

/* Moves everything by the length of the interval, or fails to. */
typedef struct toy {
    kiln_mesh *mesh;
    kiln_step_outcome outcome;
    kiln_status status;
    int calls;
} toy;

static kiln_status advance(void *self, const kiln_interval *interval, kiln_step_report *report,
                           kiln_error *error)
{
    toy *t = self;
    t->calls++;
    KILN_TRY(kiln_rewind_save(t->mesh, KILN_ON_VERTEX, ".x", KILN_SAVE_COPY, error));
    for (uint32_t v = 0; v < t->mesh->table[KILN_ON_VERTEX].used; v++)
        t->mesh->x[v].x += interval->end - interval->begin;
    report->newton.iterations = 3;
    report->contact_seconds = 0.5;
    report->outcome = t->outcome;
    return t->status;
}

static kiln_status run(toy *toys, size_t count, kiln_step_report *report)
{
    kiln_stepper steppers[3];
    const kiln_interval interval = {1.0, 1.5, 1};
    for (size_t i = 0; i < count; i++)
        steppers[i] = (kiln_stepper){.self = &toys[i], .advance = advance};
    return kiln_steppers_advance(steppers, count, &interval, report, NULL);
}

START_TEST(test_all_done)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "n=2");
    toy toys[2] = {{.mesh = mesh}, {.mesh = mesh}};
    kiln_step_report report;
    double before = mesh->x[0].x;
    ck_assert_int_eq(run(toys, 2, &report), KILN_OK);
    ck_assert_int_eq(report.outcome, KILN_STEP_DONE);
    ck_assert_int_eq(report.newton.iterations, 6);
    ck_assert_double_eq(report.contact_seconds, 1.0);
    ck_assert_double_eq(mesh->x[0].x, before + 1.0);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* The second does not get there: the third is not asked, and what the first wrote goes back. */
START_TEST(test_one_fails)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "n=2");
    toy toys[3] = {{.mesh = mesh}, {.mesh = mesh}, {.mesh = mesh}};
    kiln_step_report report;
    uint64_t hash = kiln_mesh_hash(mesh);
    for (int error = 0; error < 2; error++) {
        toys[1].outcome = error ? KILN_STEP_DONE : KILN_STEP_INVERTED;
        toys[1].status = error ? KILN_ERR_INPUT : KILN_OK;
        ck_assert_int_eq(kiln_rewind_begin(mesh, NULL), KILN_OK);
        ck_assert_int_eq(run(toys, 3, &report), toys[1].status);
        if (!error)
            ck_assert_int_eq(report.outcome, KILN_STEP_INVERTED);
        ck_assert_uint_ne(kiln_mesh_hash(mesh), hash);
        kiln_rewind_back(mesh);
        ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
        ck_assert_int_eq(toys[2].calls, 0);
    }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("steppers");
    TCase *tests = kiln_test_case(suite, "several");
    tcase_add_test(tests, test_all_done);
    tcase_add_test(tests, test_one_fails);
    return suite;
}
