/* Selections in the words of scenes, without a scene. */
#include "fixtures.h"
#include "io/scene_selection.h"
#include "sim/pick.h"
#include "support.h"

#include <string.h>

static size_t chosen(const kiln_mesh *mesh, const char *text)
{
    kiln_picks picks = {0};
    kiln_u32_array rows = {0};
    kiln_error error = {0};
    ck_assert_msg(kiln_selection_read(mesh->context, "--where", text, &picks, &error) == KILN_OK,
                  "%s", error.message);
    ck_assert_msg(kiln_picks_select(mesh, KILN_ON_TET, &picks, &rows, &error) == KILN_OK, "%s",
                  error.message);
    size_t count = rows.count;
    for (size_t i = 1; i < count; i++)
        ck_assert_uint_lt(rows.data[i - 1], rows.data[i]);
    kiln_array_free(mesh->context, &rows);
    kiln_array_free(mesh->context, &picks);
    return count;
}

START_TEST(chooses)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "n=2");
    ck_assert_uint_eq(chosen(mesh, "select.all {}"), 48);
    ck_assert_uint_eq(chosen(mesh, "select.box { from = {0, 0, 0}, to = {.5, 1, 1} }"), 24);
    ck_assert_uint_eq(chosen(mesh, "~select.box { from = {0, 0, 0}, to = {.5, .5, .5} }"), 42);
    ck_assert_uint_eq(chosen(mesh, "select.all {} - select.half_space { point = {.5, 0, 0}, "
                                   "normal = {1, 0, 0} } & select.patch { tag = 1 }"),
                      8);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(refuses)
{
    static const struct {
        const char *text, *message;
    } rows[] = {{"select.bx {}", "did you mean select.box?"},
                {"3", "must be a selection"},
                {"", "must be a selection"},
                {"select.box {", "near <eof>"},
                {"select.body { name = 'a' }", "name of a body"},
                {"(function() while true do end end)()", "instructions"},
                {"select.sphere { radius = -1 }", "radius: must be positive"}};
    kiln_context *context = kiln_test_context(1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        kiln_picks picks = {0};
        kiln_error error = {0};
        ck_assert_int_eq(kiln_selection_read(context, "--where", rows[i].text, &picks, &error),
                         KILN_ERR_INPUT);
        ck_assert_msg(strstr(error.message, rows[i].message) != NULL, "%s: %s", rows[i].text,
                      error.message);
        ck_assert_ptr_null(picks.data);
    }
    kiln_context_destroy(context);
}
END_TEST

START_TEST(survives_want_of_memory)
{
    for (uint64_t fail_at = 1;; fail_at++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_picks picks = {0};
        kiln_error error = {0};
        heap.fail_at = heap.calls + fail_at;
        kiln_status status = kiln_selection_read(
            context, "--where", "select.surface {} | select.patch { tag = 1 }", &picks, &error);
        heap.fail_at = 0;
        if (status == KILN_OK)
            ck_assert_uint_eq(picks.count, 3);
        else
            ck_assert_int_eq(status, KILN_ERR_MEMORY);
        kiln_array_free(context, &picks);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_blocks, 0);
        if (status == KILN_OK)
            break;
        /* Lua allocates a thousand times before it says anything. */
        fail_at += fail_at / 16;
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("selection");
    TCase *all = kiln_test_case(suite, "selection");
    tcase_add_test(all, chooses);
    tcase_add_test(all, refuses);
    tcase_add_test(all, survives_want_of_memory);
    return suite;
}
