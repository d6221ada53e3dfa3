/* kiln mesh remesh, from file to file. */
#include "program.h"

enum { TEXT = 1 << 16 };

static char out[TEXT], err[TEXT];

static int kiln(const char *arguments)
{
    int code = run_program(arguments);
    read_file(".out", out, TEXT);
    read_file(".err", err, TEXT);
    return code;
}

static void expect(const char *text, const char *words)
{
    ck_assert_msg(strstr(text, words) != NULL, "no '%s' in:\n%s", words, text);
}

START_TEST(a_table_and_an_object)
{
    open_folder();
    ck_assert_int_eq(kiln("mesh generate box n=3 -o old.mesh"), 0);
    ck_assert_int_eq(kiln("mesh remesh old.mesh -o new.mesh --size 0.25"), 0);
    expect(out, "worst quality");
    expect(out, "surface moved by at most");
    expect(out, "edges split");
    ck_assert_str_eq(err, "");
    ck_assert_int_eq(kiln("mesh remesh new.mesh -o newer.vtu --json --goal 0 --rounds 2"), 0);
    expect(out, "\"joined\": false");
    expect(out, "\"material_reset\": false");
    ck_assert_int_eq(kiln("mesh info newer.vtu"), 0);
    leave_folder();
}
END_TEST

/* A ball in a cube: the face between them is jagged, the outside flat. Both are told of. */
START_TEST(what_is_between_regions_has_moved)
{
    char path[512], command[600];
    if (!kiln_test_data("hard/nestS.meshb", path, sizeof path))
        return;
    open_folder();
    snprintf(command, sizeof command, "mesh remesh %s -o new.mesh --json", path);
    ck_assert_int_eq(kiln(command), 0);
    const char *at = strstr(out, "\"hausdorff\": ");
    ck_assert_ptr_nonnull(at);
    ck_assert_double_gt(strtod(at + 13, NULL), 1e-6);
    leave_folder();
}
END_TEST

/* A plate's tets are judged in its own metric, and said to be; unless that is not wanted. */
START_TEST(plates_are_stretched)
{
    open_folder();
    ck_assert_int_eq(kiln("mesh generate box lz=0.001 nx=10 ny=10 nz=1 -o plate.mesh"), 0);
    ck_assert_int_eq(kiln("mesh remesh plate.mesh -o new.mesh --json"), 0);
    const char *at = strstr(out, "\"stretched\": ");
    ck_assert_ptr_nonnull(at);
    at = strstr(at, "\"q_min\": ");
    ck_assert_double_gt(strtod(at + 9, NULL), 0.3);
    ck_assert_int_eq(kiln("mesh remesh plate.mesh -o new.mesh --size 0.2 --layers 2"), 0);
    expect(out, "worst in the thin metric");
    expect(out, "0.001 thick at its thinnest");
    ck_assert_int_eq(kiln("mesh improve plate.mesh -o new.mesh --goal 0.3"), 0);
    expect(out, "worst in the thin metric");
    /* Without it no tet is good enough, and a plate of many takes long to find that out. */
    ck_assert_int_eq(kiln("mesh generate box lz=0.001 nx=2 ny=2 nz=1 -o small.mesh"), 0);
    ck_assert_int_eq(kiln("mesh improve small.mesh -o new.mesh"), 0);
    expect(out, "worst in the thin metric");
    ck_assert_int_eq(kiln("mesh improve small.mesh -o new.mesh --anisotropic never"), 0);
    ck_assert_ptr_null(strstr(out, "thin metric"));
    /* Nor where a slab has so few that equal ones can be had. */
    ck_assert_int_eq(kiln("mesh generate box lz=0.1 nx=2 ny=2 nz=1 -o slab.mesh"), 0);
    ck_assert_int_eq(kiln("mesh improve slab.mesh -o new.mesh --aggressive --json"), 0);
    ck_assert_ptr_null(strstr(out, "\"stretched\": "));
    at = strstr(strstr(out, "\"after\": "), "\"q_min\": ");
    ck_assert_double_gt(strtod(at + 9, NULL), 0.4);
    ck_assert_int_eq(kiln("mesh generate box n=3 -o cube.mesh"), 0);
    ck_assert_int_eq(kiln("mesh remesh cube.mesh -o new.mesh --anisotropic thin"), 0);
    ck_assert_ptr_null(strstr(out, "thin metric"));
    leave_folder();
}
END_TEST

static void expect_refusal(const char *arguments, const char *words)
{
    ck_assert_msg(kiln(arguments) != 0, "kiln %s was not refused", arguments);
    expect(err, words);
    ck_assert_int_ne(access("new.mesh", F_OK), 0);
}

START_TEST(what_cannot_be_done_is_refused)
{
    open_folder();
    ck_assert_int_eq(kiln("mesh generate box n=2 -o old.mesh"), 0);
    ck_assert_int_eq(kiln("mesh generate ball h=0.5 -o other.mesh"), 0);
    expect_refusal("mesh remesh old.mesh", "where to?");
    expect_refusal("mesh remesh old.mesh -o new.mesh --size 0", "must be positive");
    expect_refusal("mesh remesh old.mesh -o new.mesh --size tiny", "--size");
    expect_refusal("mesh remesh old.mesh -o new.mesh --size 1e-9", "too small");
    expect_refusal("mesh remesh old.mesh -o new.mesh --goal 1", "below 1");
    expect_refusal("mesh remesh old.mesh -o new.mesh --anisotropic much", "never, auto, thin");
    expect_refusal("mesh remesh old.mesh -o new.mesh --layers 0", "--layers");
    expect_refusal("mesh improve old.mesh -o new.mesh --within other.mesh", "not what the mesh");
    expect_refusal("mesh remesh none.mesh -o new.mesh", "none.mesh");
    leave_folder();
}
END_TEST

static const char one_tet[] = "MeshVersionFormatted 2\nDimension 3\nVertices 5\n0 0 0 0\n1 0 0 0\n"
                              "0 1 0 0\n0 0 1 0\n.5 .5 0 0\nTetrahedra ";

/* A flat tet on the surface, one given twice and one with a corner twice. */
START_TEST(bad_tets_are_mended_first)
{
    static const char *const commands[] = {"improve", "remesh"};
    char text[512], command[96];
    open_folder();
    snprintf(text, sizeof text, "%s4\n1 5 3 4 1\n1 2 5 4 1\n1 2 5 4 1\n1 2 3 5 1\nEnd\n", one_tet);
    write_file("bad.mesh", text);
    for (int i = 0; i < 2; i++) {
        snprintf(command, sizeof command, "mesh %s bad.mesh -o good.mesh", commands[i]);
        ck_assert_msg(kiln(command) == 0, "%s: %s", command, err);
        expect(out, "input: 1 tets given twice");
        expect(out, "input: 1 flat tets peeled off the surface");
        snprintf(command, sizeof command, "mesh %s bad.mesh -o good.mesh --json", commands[i]);
        ck_assert_int_eq(kiln(command), 0);
        expect(out, "\"flat tets peeled off the surface\": 1");
        expect(out, "\"tets given twice or with a corner twice dropped\": 1");
        ck_assert_int_eq(kiln("mesh info --json good.mesh"), 0);
        expect(out, "\"inverted\": 0");
    }
    leave_folder();
}
END_TEST

START_TEST(lengths_beyond_numbers_are_refused)
{
    static const char *const scales[] = {"e-100", "e-60", "e60", "e100", "e160"};
    char text[512], command[96];
    for (int i = 0; i < 5; i++) {
        open_folder();
        snprintf(text, sizeof text,
                 "MeshVersionFormatted 2\nDimension 3\nVertices 4\n0 0 0 0\n1%s 0 0 0\n"
                 "0 1%s 0 0\n0 0 1%s 0\nTetrahedra 1\n1 2 3 4 1\nEnd\n",
                 scales[i], scales[i], scales[i]);
        write_file("odd.mesh", text);
        for (int j = 0; j < 2; j++) {
            snprintf(command, sizeof command, "mesh %s odd.mesh -o new.mesh",
                     j ? "remesh" : "improve --aggressive");
            expect_refusal(command, "change the unit");
        }
        leave_folder();
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("mesh_remesh");
    TCase *tcase = kiln_test_case(suite, "mesh_remesh");
    tcase_add_test(tcase, a_table_and_an_object);
    tcase_add_test(tcase, what_is_between_regions_has_moved);
    tcase_add_test(tcase, plates_are_stretched);
    tcase_add_test(tcase, what_cannot_be_done_is_refused);
    tcase_add_test(tcase, bad_tets_are_mended_first);
    tcase_add_test(tcase, lengths_beyond_numbers_are_refused);
    return suite;
}
