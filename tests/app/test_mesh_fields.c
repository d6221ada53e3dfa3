/* Fields of a file go through the commands that change its mesh. */
#include "fixtures.h"
#include "io/format.h"
#include "program.h"

static double linear(kiln_vec3 p)
{
    return 1 + 2 * p.x - p.y + 0.5 * p.z;
}

/* A jittered box with a linear field on its points and a constant one on its tets. */
static void write_input(kiln_context *context)
{
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=4 ny=4 nz=4");
    kiln_test_jitter(mesh, 0.06, 3);
    kiln_soup soup;
    kiln_soup_field *field;
    kiln_soup_init(&soup, context);
    ck_assert_int_eq(kiln_mesh_to_soup(mesh, &soup, NULL), KILN_OK);
    ck_assert_int_eq(kiln_soup_add_field(&soup, "line", KILN_ON_VERTEX, 1, &field, NULL), KILN_OK);
    for (size_t i = 0; i < soup.points.count; i++)
        field->data.data[i] = linear(soup.points.data[i]);
    ck_assert_int_eq(kiln_soup_add_field(&soup, "same", KILN_ON_TET, 1, &field, NULL), KILN_OK);
    for (size_t i = 0; i < soup.tets.count; i++)
        field->data.data[i] = 0.1;
    ck_assert_int_eq(kiln_soup_write(context, "in.vtu", NULL, &soup, NULL), KILN_OK);
    kiln_soup_free(&soup);
    kiln_mesh_destroy(mesh);
}

START_TEST(fields_come_along)
{
    static const char *const commands[] = {"mesh improve in.vtu -o out.vtu --aggressive",
                                           "mesh remesh in.vtu -o out.vtu --size 0.2"};
    kiln_context *context = kiln_test_context(1);
    open_folder();
    write_input(context);
    for (size_t c = 0; c < sizeof commands / sizeof commands[0]; c++) {
        ck_assert_int_eq(run_program(commands[c]), 0);
        kiln_soup soup;
        kiln_soup_init(&soup, context);
        ck_assert_int_eq(kiln_soup_read(context, "out.vtu", NULL, &soup, NULL), KILN_OK);
        const kiln_soup_field *line = kiln_soup_find_field(&soup, KILN_ON_VERTEX, "line");
        const kiln_soup_field *same = kiln_soup_find_field(&soup, KILN_ON_TET, "same");
        ck_assert_msg(line && same, "kiln %s", commands[c]);
        for (size_t i = 0; i < soup.points.count; i++)
            ck_assert_double_eq_tol(line->data.data[i], linear(soup.points.data[i]), 1e-10);
        for (size_t i = 0; i < soup.tets.count; i++)
            ck_assert_double_eq(same->data.data[i], 0.1);
        kiln_soup_free(&soup);
    }
    leave_folder();
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("mesh_fields");
    TCase *cases = kiln_test_case(suite, "fields");
    tcase_add_test(cases, fields_come_along);
    return suite;
}
