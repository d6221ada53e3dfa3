/* The built program as a script sees it: exit codes, messages, files left behind. */
#include "program.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT = 1 << 18 };

static char out[TEXT], err[TEXT];

static void enter_folder(void)
{
    open_folder();
}

static void slurp(const char *path, char *text)
{
    read_file(path, text, TEXT);
    unlink(path);
}

/* Exit code of the program; its words are in out and err. */
static int kiln(const char *arguments)
{
    int code = run_program(arguments);
    slurp(".out", out);
    slurp(".err", err);
    return code;
}

static int files_here(void)
{
    DIR *here = opendir(".");
    int count = 0;
    for (struct dirent *entry; (entry = readdir(here));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(here);
    return count;
}

static void expect_refusal(const char *arguments, const char *words)
{
    int before = files_here();
    ck_assert_msg(kiln(arguments) == 2, "kiln %s should exit with 2: %s", arguments, err);
    ck_assert_msg(strncmp(err, "kiln: ", 6) == 0, "kiln %s: '%s'", arguments, err);
    ck_assert_msg(strstr(err, words) != NULL, "kiln %s: '%s' lacks '%s'", arguments, err, words);
    ck_assert_msg(out[0] == 0, "kiln %s printed '%s'", arguments, out);
    ck_assert_msg(files_here() == before, "kiln %s left files behind", arguments);
}

/* Skips one JSON value; NULL when it is none. */
static const char *json_skip(const char *at);

static const char *json_space(const char *at)
{
    while (at && isspace((unsigned char)*at))
        at++;
    return at;
}

static const char *json_string(const char *at)
{
    if (*at++ != '"')
        return NULL;
    for (; *at && *at != '"'; at++)
        if ((unsigned char)*at < 32 || (*at == '\\' && !*++at))
            return NULL;
    return *at ? at + 1 : NULL;
}

static const char *json_members(const char *at, char close, bool keyed)
{
    at = json_space(at + 1);
    if (*at == close)
        return at + 1;
    for (;;) {
        if (keyed) {
            at = json_space(json_string(at));
            if (!at || *at++ != ':')
                return NULL;
        }
        at = json_space(json_skip(json_space(at)));
        if (!at || (*at != ',' && *at != close))
            return NULL;
        if (*at++ == close)
            return at;
        at = json_space(at);
    }
}

static const char *json_skip(const char *at)
{
    static const char *const words[] = {"true", "false", "null"};
    if (*at == '{')
        return json_members(at, '}', true);
    if (*at == '[')
        return json_members(at, ']', false);
    if (*at == '"')
        return json_string(at);
    for (int i = 0; i < 3; i++)
        if (strncmp(at, words[i], strlen(words[i])) == 0)
            return at + strlen(words[i]);
    char *end;
    strtod(at, &end);
    return end == at || !(isdigit((unsigned char)*at) || *at == '-') ? NULL : end;
}

static void check_json(const char *text)
{
    const char *end = json_space(json_skip(json_space(text)));
    ck_assert_msg(end && *end == 0, "not JSON: %s", text);
}

static double json_value(const char *key)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"%s\":", key);
    const char *at = strstr(out, wanted);
    ck_assert_msg(at != NULL, "no %s in %s", key, out);
    at = json_space(at + strlen(wanted));
    return strncmp(at, "true", 4) == 0 ? 1.0 : strncmp(at, "false", 5) == 0 ? 0.0 : atof(at);
}

START_TEST(every_command_explains_itself)
{
    static const char *const with_example[] = {"mesh info", "mesh generate", "mesh convert",
                                               "render",    "bench",         "validate",
                                               "demo",      "--version"};
    char arguments[64];
    for (size_t i = 0; i < sizeof with_example / sizeof with_example[0]; i++) {
        snprintf(arguments, sizeof arguments, "%s --help", with_example[i]);
        ck_assert_int_eq(kiln(arguments), 0);
        ck_assert_msg(strstr(out, "Example:") && strstr(out, "--threads"), "%s: %s", arguments,
                      out);
        ck_assert_str_eq(err, "");
    }
    ck_assert_int_eq(kiln("--help"), 0);
    ck_assert_ptr_nonnull(strstr(out, "render"));
    ck_assert_int_eq(kiln("mesh -h"), 0);
    ck_assert_ptr_nonnull(strstr(out, "convert"));
    ck_assert_int_eq(kiln(""), 2);
    ck_assert_str_eq(out, "");
    ck_assert_int_eq(kiln("--version"), 0);
    ck_assert_ptr_nonnull(strstr(out, "kiln " KILN_VERSION));
    ck_assert_int_eq(kiln("--version --verbose --isa scalar --threads 3"), 0);
    ck_assert_ptr_nonnull(strstr(out, "scalar"));
    ck_assert_ptr_nonnull(strstr(out, "threads       3"));
}
END_TEST

START_TEST(misspelt_words_are_answered_with_the_nearest)
{
    expect_refusal("rendre x", "did you mean 'render'?");
    expect_refusal("mesh inof x", "did you mean 'mesh info'?");
    expect_refusal("mesh info --jsno x", "did you mean '--json'?");
    expect_refusal("mesh frobnicate", "'kiln mesh --help' lists them");
    expect_refusal("mesh generate bal -o x.mesh", "ball");
    expect_refusal("mesh generate ball radis=1 -o x.mesh", "radius");
    expect_refusal("bench nosuchsuite", "unknown suite 'nosuchsuite'");
}
END_TEST

START_TEST(bad_arguments_are_refused)
{
    write_file("a.mesh", "");
    ck_assert_int_eq(kiln("mesh generate box n=1 -o box.mesh"), 0);
    expect_refusal("mesh convert box.mesh b.vtk", "can only be read");
    expect_refusal("mesh convert box.mesh b", "ends in none of the known ways");
    expect_refusal("mesh info", "usage: kiln mesh info");
    expect_refusal("mesh info a.mesh b.mesh", "unexpected 'b.mesh'");
    expect_refusal("mesh info --json=1 a.mesh", "takes no value");
    expect_refusal("mesh info -q a.mesh", "unknown option '-q'");
    expect_refusal("mesh info a.mesh --threads", "needs a value");
    expect_refusal("mesh info a.mesh --threads 0", "--threads must be");
    expect_refusal("mesh info a.mesh --threads two", "--threads must be");
    expect_refusal("mesh info a.mesh --isa mmx", "mmx");
    expect_refusal("mesh generate box", "-o");
    expect_refusal("mesh generate box -o x.mesh --ascii --binary", "exclude");
    expect_refusal("mesh generate box n=-3 -o x.mesh", "n");
    expect_refusal("mesh generate box -o x.nosuch", "x.nosuch");
    expect_refusal("mesh generate box -o nowhere/x.mesh", "nowhere");
    expect_refusal("mesh convert a.mesh", "usage");
}
END_TEST

START_TEST(bad_files_are_refused_with_their_place)
{
    expect_refusal("mesh info absent.mesh", "absent.mesh");
    write_file("cut.mesh", "MeshVersionFormatted 2\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n");
    expect_refusal("mesh info cut.mesh", "cut.mesh:");
    expect_refusal("mesh convert cut.mesh out.mesh", "cut.mesh:");
    expect_refusal("render cut.mesh -o out.png", "cut.mesh:");
    write_file("range.mesh", "MeshVersionFormatted 2\nDimension 3\nVertices\n1\n0 0 0 0\n"
                             "Tetrahedra\n1\n1 2 3 9 0\nEnd\n");
    expect_refusal("mesh info range.mesh", "range.mesh:");
}
END_TEST

START_TEST(info_knows_a_box)
{
    ck_assert_int_eq(kiln("mesh generate box n=2 -o box.mesh"), 0);
    ck_assert_int_eq(kiln("mesh info --json box.mesh"), 0);
    check_json(out);
    static const struct {
        const char *key;
        double value;
    } wanted[] = {{"vertices", 27},      {"tets", 48},    {"boundary_triangles", 48},
                  {"edges", 98},         {"parts", 1},    {"regions", 1},
                  {"volume", 1},         {"area", 6},     {"inverted", 0},
                  {"dihedral_min", 45},  {"manifold", 1}, {"dihedral_max", 90},
                  {"duplicate_tets", 0}, {"flat", 0},     {"unused_vertices", 0},
                  {"edge_min", 0.5}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        ck_assert_msg(fabs(json_value(wanted[i].key) - wanted[i].value) < 1e-12, "%s is %.17g",
                      wanted[i].key, json_value(wanted[i].key));
    /* Kuhn's tet: edges 1, 1, 1, sqrt2, sqrt2, sqrt3; volume 1/6. */
    double harmonic = 6 / (3 + 2 / sqrt(2.0) + 1 / sqrt(3.0)), mean_square = 10.0 / 6;
    double q = 6 * sqrt(2.0) / 6 * harmonic / (mean_square * mean_square);
    ck_assert_double_eq_tol(json_value("q_min"), q, 1e-14);
    ck_assert_double_eq_tol(json_value("q_mean"), q, 1e-14);
    ck_assert_int_eq(kiln("mesh info box.mesh"), 0);
    ck_assert_ptr_nonnull(strstr(out, "none found"));
}
END_TEST

START_TEST(info_measures_any_size)
{
    static const char *const lengths[] = {"1", "1e12", "1e-12", "1e300", "1e-300"};
    double q = 0.0;
    for (int i = 0; i < 5; i++) {
        char text[400];
        const char *l = lengths[i];
        snprintf(text, sizeof text,
                 "MeshVersionFormatted 2\nDimension 3\nVertices\n4\n0 0 0 0\n%s 0 0 0\n"
                 "0 %s 0 0\n0 0 %s 0\nTetrahedra\n1\n1 2 3 4 1\nEnd\n",
                 l, l, l);
        write_file("one.mesh", text);
        ck_assert_int_eq(kiln("mesh info --json one.mesh"), 0);
        check_json(out);
        q = i ? q : json_value("q_min");
        ck_assert_msg(fabs(json_value("q_min") - q) < 1e-12, "%s: %g", l, json_value("q_min"));
        ck_assert_double_eq_tol(json_value("dihedral_max"), 90.0, 1e-9);
        ck_assert_double_eq(json_value("flat"), 0);
    }
}
END_TEST

START_TEST(info_counts_defects)
{
    /* Tets 1 and 2 share a face, 3 repeats 2, 4 is inverted, 5 flat, 6 names a vertex twice; 4
     * meets 1 in an edge. Vertex 9 is unused, and in the place of vertex 1. */
    write_file("bad.mesh", "MeshVersionFormatted 2\nDimension 3\nVertices\n9\n"
                           "0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n1 1 1 0\n"
                           "0 -1 0 0\n0 0 -1 0\n1 1 0 0\n0 0 0 0\n"
                           "Tetrahedra\n6\n1 2 3 4 1\n2 3 4 5 1\n3 4 2 5 1\n1 2 6 7 2\n"
                           "1 2 3 8 2\n1 1 2 3 2\nEnd\n");
    ck_assert_int_eq(kiln("mesh info --json bad.mesh"), 0);
    check_json(out);
    ck_assert_double_eq(json_value("tets"), 6);
    ck_assert_double_eq(json_value("regions"), 2);
    ck_assert_double_eq(json_value("repeated"), 1);
    ck_assert_double_eq(json_value("duplicate_tets"), 1);
    ck_assert_double_eq(json_value("flat"), 1);
    ck_assert_double_eq(json_value("unused_vertices"), 1);
    ck_assert_double_eq(json_value("duplicate_vertices"), 1);
    ck_assert_double_eq(json_value("manifold"), 0);
    ck_assert_double_ge(json_value("bad_edges"), 1);
    ck_assert_double_ge(json_value("crowded_faces"), 1);
    ck_assert_int_eq(kiln("mesh info bad.mesh"), 0);
    ck_assert_ptr_nonnull(strstr(out, "duplicate tets"));
}
END_TEST

START_TEST(info_sees_tets_that_only_touch)
{
    const char *points = "MeshVersionFormatted 2\nDimension 3\nVertices\n7\n0 0 0 0\n1 0 0 0\n"
                         "0 1 0 0\n0 0 1 0\n-1 0 0 0\n0 -1 0 0\n0 0 -1 0\n";
    char text[1000];
    snprintf(text, sizeof text, "%sTetrahedra\n2\n1 2 3 4 0\n1 6 5 7 0\nEnd\n", points);
    write_file("vertex.mesh", text);
    ck_assert_int_eq(kiln("mesh info --json vertex.mesh"), 0);
    ck_assert_double_eq(json_value("parts"), 2);
    ck_assert_double_eq(json_value("bad_vertices"), 1);
    ck_assert_double_eq(json_value("bad_edges"), 0);
    ck_assert_double_eq(json_value("unused_vertices"), 0);
    ck_assert_double_eq(json_value("inverted"), 0);
    ck_assert_double_eq(json_value("manifold"), 0);
    snprintf(text, sizeof text, "%sTetrahedra\n2\n1 2 3 4 0\n1 2 6 7 0\nEnd\n", points);
    write_file("edge.mesh", text);
    ck_assert_int_eq(kiln("mesh info --json edge.mesh"), 0);
    ck_assert_double_eq(json_value("bad_edges"), 1);
    ck_assert_double_eq(json_value("manifold"), 0);
    snprintf(text, sizeof text, "%sTetrahedra\n1\n1 3 2 4 0\nEnd\n", points);
    write_file("turned.mesh", text);
    ck_assert_int_eq(kiln("mesh info --json turned.mesh"), 0);
    ck_assert_double_eq(json_value("inverted"), 1);
    ck_assert_double_lt(json_value("q_min"), 0.0);
    ck_assert_double_eq(json_value("manifold"), 1);
    ck_assert_double_eq(json_value("unused_vertices"), 3);
}
END_TEST

START_TEST(info_checks_surface_files)
{
    const char *points = "MeshVersionFormatted 2\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n"
                         "0 1 0 0\n0 0 1 0\n";
    char text[1000];
    snprintf(text, sizeof text, "%sTriangles\n4\n1 3 2 1\n1 2 4 1\n1 4 3 2\n2 3 4 2\nEnd\n",
             points);
    write_file("closed.mesh", text);
    ck_assert_int_eq(kiln("mesh info --json closed.mesh"), 0);
    check_json(out);
    ck_assert_double_eq(json_value("boundary_triangles"), 4);
    ck_assert_double_eq(json_value("patches"), 2);
    ck_assert_double_eq(json_value("manifold"), 1);
    ck_assert_double_eq_tol(json_value("area"), 1.5 + sqrt(3.0) / 2, 1e-14);
    ck_assert_double_eq_tol(json_value("volume"), 1.0 / 6, 1e-15);
    ck_assert_double_eq(json_value("edges"), 6);
    ck_assert_double_eq(json_value("edge_min"), 1);
    snprintf(text, sizeof text, "%sTriangles\n4\n1 3 2 1\n1 2 4 1\n1 4 3 2\n2 2 4 2\nEnd\n",
             points);
    write_file("open.mesh", text);
    ck_assert_int_eq(kiln("mesh info --json open.mesh"), 0);
    ck_assert_double_eq(json_value("boundary_triangles"), 3);
    ck_assert_double_eq(json_value("repeated"), 1);
    ck_assert_double_eq(json_value("bad_edges"), 3);
    ck_assert_double_eq(json_value("open_edges"), 3);
    ck_assert_double_eq(json_value("manifold"), 0);
    ck_assert_ptr_nonnull(strstr(out, "\"volume\": null"));
    ck_assert_int_eq(kiln("mesh info open.mesh"), 0);
    ck_assert_ptr_nonnull(strstr(out, "open edges"));
    ck_assert_ptr_null(strstr(out, "non-manifold"));
    ck_assert_int_eq(kiln("render open.mesh -o open.png --size 40x40"), 0);
    ck_assert_int_eq(kiln("render open.mesh -o open.png --size 40x40 --color quality"), 2);
}
END_TEST

START_TEST(info_lists_fields)
{
    write_file("a.vtk", "# vtk DataFile Version 3.0\na\nASCII\nDATASET UNSTRUCTURED_GRID\n"
                        "POINTS 4 double\n0 0 0 1 0 0 0 1 0 0 0 1\nCELLS 1 5\n4 0 1 2 3\n"
                        "CELL_TYPES 1\n10\nPOINT_DATA 4\nSCALARS heat double 1\n"
                        "LOOKUP_TABLE default\n-1 2 3 7\nVECTORS wind double\n"
                        "3 4 0 0 0 0 1 0 0 0 0 1\n");
    ck_assert_int_eq(kiln("mesh info a.vtk"), 0);
    ck_assert_ptr_nonnull(strstr(out, "heat"));
    ck_assert_int_eq(kiln("mesh info --json a.vtk"), 0);
    check_json(out);
    const char *heat = strstr(out, "\"heat\""), *wind = strstr(out, "\"wind\"");
    ck_assert(heat && wind);
    ck_assert_ptr_nonnull(strstr(heat, "\"low\": -1, \"high\": 7"));
    ck_assert_ptr_nonnull(strstr(wind, "\"components\": 3, \"low\": 0, \"high\": 5"));
    /* The ends of the scale can be set, the same numbers then get the same colours. */
    ck_assert_int_eq(kiln("render a.vtk -o a.png --size 60x40 --color heat"), 0);
    ck_assert_int_eq(kiln("render a.vtk -o b.png --size 60x40 --color heat --range -1,7"), 0);
    ck_assert_int_eq(kiln("render a.vtk -o c.png --size 60x40 --color heat --range 0,100"), 0);
    ck_assert_int_eq(system("cmp a.png b.png"), 0);
    ck_assert_int_ne(system("cmp -s a.png c.png"), 0);
    expect_refusal("render a.vtk -o d.png --color heat --range 7,-1", "--range");
    expect_refusal("render a.vtk -o d.png --color heat --range 7", "--range");
    expect_refusal("render a.vtk -o d.png --range 0,1", "--range");
}
END_TEST

START_TEST(bench_prints_figures_and_a_page)
{
    /* 1 where the sanitizers make a row miss its bar. */
    ck_assert_int_le(kiln("bench predicates --json --write page.md"), 1);
    check_json(out);
    ck_assert_double_gt(json_value("value"), 0.0);
    ck_assert_double_gt(json_value("baseline"), 0.0);
    ck_assert_ptr_nonnull(strstr(out, "\"unit\": \"ns\""));
    char page[TEXT];
    slurp("page.md", page);
    ck_assert_ptr_nonnull(strstr(page, "## predicates"));
    ck_assert_ptr_nonnull(strstr(page, "| orient3d"));
    expect_refusal("bench predcates", "did you mean 'predicates'?");
}
END_TEST

/* The suite writes a file, and may not. */
START_TEST(bench_that_cannot_measure_fails)
{
    char command[300];
    snprintf(command, sizeof command, "ulimit -f 8; '%s' bench store >table.txt 2>/dev/null",
             KILN_PROGRAM);
    int status = system(command);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 1, "status %d", status);
    char table[TEXT];
    slurp("table.txt", table);
    ck_assert_msg(strstr(table, "MISSED") != NULL, "%s", table);
    ck_assert_msg(strstr(table, "1 figures: 0 ok, 1 missed their bar") != NULL, "%s", table);
}
END_TEST

/* How often the text has the word. */
static int occurrences(const char *text, const char *word)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
        count++;
    return count;
}

START_TEST(validate_prints_figures_and_a_page)
{
    /* Physics is run by the optimised program (tools/run_tests); this looks at the output. */
    ck_assert_int_eq(kiln("validate geometry mesh operators determinism files E8 --json "
                          "--write page.md"),
                     0);
    check_json(out);
    int rows = occurrences(out, "\"case\":");
    ck_assert_int_ge(rows, 300);
    static const char *const keys[] = {"quantity", "reference", "measured", "tolerance"};
    for (int i = 0; i < 4; i++) {
        char key[32];
        snprintf(key, sizeof key, "\"%s\":", keys[i]);
        ck_assert_int_eq(occurrences(out, key), rows);
    }
    ck_assert_int_eq(occurrences(out, "\"pass\": true"), rows);
    char page[TEXT];
    slurp("page.md", page);
    ck_assert_ptr_nonnull(strstr(page, "E8 --write page.md`"));
    ck_assert_ptr_nonnull(strstr(page, "\n## M1\n"));
    ck_assert_int_eq(occurrences(page, " | ok |\n"), rows);
}
END_TEST

START_TEST(validate_runs_what_is_named)
{
    ck_assert_int_eq(kiln("validate boxes --json"), 0);
    check_json(out);
    ck_assert_int_eq(occurrences(out, "\"case\":"), occurrences(out, "\"case\": \"boxes\""));
    ck_assert_int_eq(kiln("validate mesh predicates"), 0); /* an area and a case */
    ck_assert_ptr_nonnull(strstr(out, "boxes:"));
    ck_assert_ptr_nonnull(strstr(out, "solids:"));
    ck_assert_ptr_nonnull(strstr(out, "predicates:"));
    ck_assert_ptr_null(strstr(out, "M1:"));
    ck_assert_int_eq(kiln("validate boxes --isa scalar --threads 2 --write page.md"), 0);
    ck_assert_ptr_nonnull(strstr(out, ", scalar instructions, 2 threads\n"));
    char page[TEXT];
    slurp("page.md", page);
    ck_assert_ptr_nonnull(strstr(page, "`kiln validate boxes --isa scalar --write page.md`"));
    ck_assert_ptr_nonnull(strstr(page, ", scalar instructions, 2 threads\n"));
    expect_refusal("validate boxs", "did you mean 'boxes'?");
    expect_refusal("validate geometri", "did you mean 'geometry'?");
    expect_refusal("validate zzzzzzzz", "'kiln validate --help' lists them");
}
END_TEST

/* A case that cannot run is a row that fails; the others are still measured. */
START_TEST(validate_tells_a_failure)
{
    ck_assert_int_eq(setenv("TMPDIR", "/nowhere", 1), 0);
    ck_assert_int_eq(kiln("validate files predicates --json --write page.md"), 1);
    check_json(out);
    ck_assert_int_eq(occurrences(out, "\"pass\": false"), 1);
    ck_assert_int_ge(occurrences(out, "\"pass\": true"), 4);
    ck_assert_ptr_nonnull(strstr(err, "/nowhere"));
    ck_assert_ptr_nonnull(strstr(err, "out of tolerance"));
    char page[TEXT];
    slurp("page.md", page);
    ck_assert_int_eq(occurrences(page, "FAILED"), 1);
}
END_TEST

START_TEST(info_survives_nothing)
{
    write_file("empty.mesh", "MeshVersionFormatted 2\nDimension 3\nVertices\n0\nEnd\n");
    int code = kiln("mesh info --json empty.mesh");
    ck_assert_msg(code == 0 || code == 2, "exit %d", code);
    if (code == 0)
        check_json(out);
    write_file("points.mesh", "MeshVersionFormatted 2\nDimension 3\nVertices\n1\n2 3 4 0\nEnd\n");
    ck_assert_int_eq(kiln("mesh info --json points.mesh"), 0);
    check_json(out);
    ck_assert_ptr_nonnull(strstr(out, "\"q_min\": null"));
    ck_assert_int_eq(kiln("mesh info points.mesh"), 0);
}
END_TEST

START_TEST(conversion_keeps_the_mesh_and_old_files)
{
    ck_assert_int_eq(kiln("mesh generate ball h=0.6 -o a.mesh"), 0);
    ck_assert_int_eq(kiln("mesh convert a.mesh b.meshb"), 0);
    ck_assert_int_eq(kiln("mesh convert b.meshb c.mesh --ascii"), 0);
    ck_assert_int_eq(system("cmp a.mesh c.mesh"), 0);
    write_file("cut.mesh", "MeshVersionFormatted 2\nDimension 3\nVertices\n4\n0 0");
    ck_assert_int_eq(kiln("mesh convert cut.mesh c.mesh"), 2);
    ck_assert_int_eq(system("cmp a.mesh c.mesh"), 0);
    ck_assert_int_eq(files_here(), 4);
}
END_TEST

START_TEST(surfaces_are_filled)
{
    if (system("command -v tetgen >/dev/null") != 0) {
        printf("SKIP tetgen is not there\n");
        fflush(stdout);
        return;
    }
    ck_assert_int_eq(kiln("mesh generate box n=2 -o box.mesh"), 0);
    ck_assert_int_eq(kiln("mesh convert box.mesh box.off"), 0);
    ck_assert_int_eq(kiln("mesh fill box.off full.mesh"), 0);
    ck_assert_ptr_nonnull(strstr(out, "of them TetGen's"));
    ck_assert_int_eq(kiln("mesh info --json full.mesh"), 0);
    ck_assert_double_eq(json_value("boundary_triangles"), 48);
    ck_assert_double_eq_tol(json_value("volume"), 1.0, 1e-12);
    ck_assert_double_eq(json_value("manifold"), 1);
    double few = json_value("tets");
    ck_assert_int_eq(kiln("mesh fill box.off full.mesh --edge 0.2 --refine-surface"), 0);
    ck_assert_int_eq(kiln("mesh info --json full.mesh"), 0);
    ck_assert_double_gt(json_value("tets"), 2 * few);
    write_file("open.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
    expect_refusal("mesh fill open.off x.mesh", "not closed");
    expect_refusal("mesh fill box.off x.mesh --edge -1", "--edge");
    expect_refusal("mesh fill box.off x.mesh --edge wide", "--edge");
    expect_refusal("mesh fill box.off x.mesh --dihedral 80", "--dihedral");
    expect_refusal("mesh fill box.off x.mesh --patch-angle 200", "--patch-angle");
    expect_refusal("mesh fill box.off x.mesh --weld -1", "--weld");
    expect_refusal("mesh fill box.off x.mesh --envelope 0", "--envelope");
    expect_refusal("mesh fill box.off x.mesh --envelope 0.1 --exact", "--exact");
    expect_refusal("mesh fill box.off x.mesh --envelope 0.1 --regions", "--regions");
    expect_refusal("mesh fill box.off x.mesh --envelope 1e-4 --most-tets 5000",
                   "the most are 5000");
    expect_refusal("mesh fill open.off x.mesh --envelope 0.01", "nothing is inside, near (");
    ck_assert_int_eq(kiln("mesh fill box.off full.mesh --size 0.25 --patch-angle 40"), 0);
    ck_assert_int_eq(kiln("mesh fill box.off full.mesh --envelope 0.05"), 0);
    ck_assert_int_eq(kiln("mesh info --json full.mesh"), 0);
    ck_assert_double_eq(json_value("manifold"), 1);
    ck_assert_double_eq_tol(json_value("volume"), 1.0, 0.05);
}
END_TEST

START_TEST(a_full_disk_is_noticed)
{
    if (access("/dev/full", W_OK) != 0)
        return;
    char command[300];
    snprintf(command, sizeof command, "'%s' --help >/dev/full 2>.err", KILN_PROGRAM);
    ck_assert_int_eq(WEXITSTATUS(system(command)), 1);
    slurp(".err", err);
    ck_assert_ptr_nonnull(strstr(err, "standard output"));
}
END_TEST

START_TEST(a_limit_on_file_sizes_is_noticed)
{
    ck_assert_int_eq(kiln("mesh generate ball h=0.2 -o a.mesh"), 0);
    char command[300];
    snprintf(command, sizeof command, "ulimit -f 8; '%s' mesh convert a.mesh b.mesh 2>/dev/null",
             KILN_PROGRAM);
    int status = system(command);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 2, "status %d", status);
    ck_assert_int_eq(files_here(), 1);
}
END_TEST

START_TEST(names_may_be_as_long_as_the_file_system_allows)
{
    char name[256], arguments[400];
    memset(name, 'n', 250);
    snprintf(name + 250, 6, ".mesh");
    snprintf(arguments, sizeof arguments, "mesh generate box n=1 -o %s", name);
    ck_assert_msg(kiln(arguments) == 0, "%s", err);
    ck_assert_int_eq(access(name, R_OK), 0);
    ck_assert_int_eq(files_here(), 1);
}
END_TEST

/* A stand-in for tetgen that never ends, in a folder for temporary files that must come out empty.
 */
START_TEST(a_signal_leaves_nothing_behind)
{
    ck_assert_int_eq(kiln("mesh generate box n=1 -o box.off"), 0);
    ck_assert_int_eq(system("mkdir bin tmp && printf '#!/bin/sh\\necho $$ >pid\\nexec sleep 60\\n'"
                            " >bin/tetgen && chmod +x bin/tetgen"),
                     0);
    char command[600];
    snprintf(command, sizeof command,
             "PATH=$PWD/bin:$PATH TMPDIR=$PWD/tmp '%s' mesh fill box.off x.mesh 2>/dev/null & "
             "i=0; while [ ! -s pid ] && [ $i -lt 100 ]; do sleep 0.1; i=$((i+1)); done; "
             "ls tmp | grep -q kiln || exit 90; kill -TERM $!; wait $!; code=$?; "
             "kill -0 $(cat pid) 2>/dev/null && exit 91; ls tmp | grep -q . && exit 92; "
             "test -e x.mesh && exit 93; exit $code",
             KILN_PROGRAM);
    int status = system(command);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 128 + 15, "status %x", status);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("command line");
    TCase *all = kiln_test_case(suite, "command line");
    tcase_add_checked_fixture(all, enter_folder, leave_folder);
    tcase_add_test(all, every_command_explains_itself);
    tcase_add_test(all, misspelt_words_are_answered_with_the_nearest);
    tcase_add_test(all, bad_arguments_are_refused);
    tcase_add_test(all, bad_files_are_refused_with_their_place);
    tcase_add_test(all, info_knows_a_box);
    tcase_add_test(all, info_measures_any_size);
    tcase_add_test(all, info_counts_defects);
    tcase_add_test(all, info_sees_tets_that_only_touch);
    tcase_add_test(all, info_checks_surface_files);
    tcase_add_test(all, info_lists_fields);
    tcase_add_test(all, info_survives_nothing);
    tcase_add_test(all, bench_prints_figures_and_a_page);
    tcase_add_test(all, bench_that_cannot_measure_fails);
    tcase_add_test(all, validate_prints_figures_and_a_page);
    tcase_add_test(all, validate_runs_what_is_named);
    tcase_add_test(all, validate_tells_a_failure);
    tcase_add_test(all, conversion_keeps_the_mesh_and_old_files);
    tcase_add_test(all, surfaces_are_filled);
    tcase_add_test(all, a_full_disk_is_noticed);
    tcase_add_test(all, a_limit_on_file_sizes_is_noticed);
    tcase_add_test(all, names_may_be_as_long_as_the_file_system_allows);
    tcase_add_test(all, a_signal_leaves_nothing_behind);
    return suite;
}
