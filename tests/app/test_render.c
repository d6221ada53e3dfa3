/* Pictures made by the built program: really there, the same for any number of threads, and never
 * half written. */
#include "program.h"

#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void enter_folder(void)
{
    open_folder();
    ck_assert_int_eq(run_program("mesh generate ball h=0.4 -o ball.mesh"), 0);
}

typedef struct picture {
    int width, height;
    uint8_t *rgb;
} picture;

static picture load(const char *path)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    ck_assert_msg(png_image_begin_read_from_file(&image, path), "%s: %s", path, image.message);
    ck_assert_uint_eq(image.format & PNG_FORMAT_FLAG_ALPHA, 0);
    image.format = PNG_FORMAT_RGB;
    picture p = {(int)image.width, (int)image.height, malloc(PNG_IMAGE_SIZE(image))};
    ck_assert_msg(png_image_finish_read(&image, NULL, p.rgb, 0, NULL), "%s", path);
    return p;
}

static const uint8_t *pixel(const picture *p, double x, double y)
{
    return p->rgb + 3 * ((size_t)(y * p->height) * (size_t)p->width + (size_t)(x * p->width));
}

static int different_colors(const picture *p)
{
    static unsigned char seen[1 << 15];
    int count = 0;
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < p->width * p->height; i++) {
        const uint8_t *c = p->rgb + 3 * i;
        int key = (c[0] >> 3) << 10 | (c[1] >> 3) << 5 | c[2] >> 3;
        count += !seen[key];
        seen[key] = 1;
    }
    return count;
}

START_TEST(a_ball_is_seen_and_framed)
{
    ck_assert_int_eq(run_program("render ball.mesh -o a.png --size 320x200"), 0);
    picture p = load("a.png");
    ck_assert_int_eq(p.width, 320);
    ck_assert_int_eq(p.height, 200);
    ck_assert_int_gt(different_colors(&p), 60);
    /* Clay in the middle, backdrop in the corners; the ball fills most of the height. */
    const uint8_t *middle = pixel(&p, 0.5, 0.5), *corner = pixel(&p, 0.02, 0.05);
    ck_assert_int_gt(middle[0], middle[2] + 40);
    ck_assert_int_lt(abs(corner[0] - corner[2]), 20);
    int inside = 0;
    for (int y = 0; y < p.height; y++) {
        const uint8_t *c = pixel(&p, 0.5, (y + 0.5) / p.height);
        inside += c[0] > c[2] + 30;
    }
    ck_assert_int_gt(inside, 155);
    ck_assert_int_lt(inside, 175);
    free(p.rgb);
}
END_TEST

START_TEST(threads_do_not_change_a_bit)
{
    const char *look[] = {"--edges", "--edges --clip x=50%", "--clip 1,1,1,0 --background dark",
                          "--look honey"};
    for (int i = 0; i < 4; i++) {
        char arguments[200];
        for (int threads = 1; threads <= 2; threads++) {
            snprintf(arguments, sizeof arguments,
                     "render ball.mesh -o %d.png --size 200x150 %s --threads %d", threads, look[i],
                     threads);
            ck_assert_int_eq(run_program(arguments), 0);
        }
        ck_assert_msg(run_shell("cmp 1.png 2.png") == 0, "%s", look[i]);
    }
}
END_TEST

/* A coarse ball of honey: amber, since it takes blue away, brighter in its middle than clay could
 * be, and round: facets would leave gaps between it and its circle. */
START_TEST(light_goes_through_honey)
{
    ck_assert_int_eq(
        run_program("render ball.mesh -o a.png --size 320x200 --look honey --no-ground"), 0);
    picture p = load("a.png");
    const uint8_t *middle = pixel(&p, 0.5, 0.5);
    ck_assert_int_gt(middle[0], middle[1] + 20);
    ck_assert_int_gt(middle[0], middle[2] + 20);
    double high = 0.0, wide = 0.0; /* of what is amber, through the middle */
    for (int y = 0; y < p.height; y++) {
        const uint8_t *c = pixel(&p, 0.5, (y + 0.5) / p.height);
        high += c[0] > c[2] + 12;
    }
    for (int x = 0; x < p.width; x++) {
        const uint8_t *c = pixel(&p, (x + 0.5) / p.width, 0.5);
        wide += c[0] > c[2] + 12;
    }
    ck_assert_msg(fabs(high / wide - 1.0) < 0.03, "%g high, %g wide", high, wide);
    free(p.rgb);
    ck_assert_int_eq(run_program("render ball.mesh -o b.png --look honey --color quality"), 2);
    ck_assert_int_eq(run_program("render ball.mesh -o b.png --look tea"), 2);
    ck_assert_int_eq(run_program("render ball.mesh -o b.png --size 120x80 --look clay"), 0);
    ck_assert_int_eq(run_program("render ball.mesh -o c.png --size 120x80"), 0);
    ck_assert_int_eq(run_shell("cmp b.png c.png"), 0);
}
END_TEST

/* Light that enters the top of a block leaves its far side at a grazing angle or not at all. Under
 * a bright sky nothing is dark there: what is not let out goes on inside. */
START_TEST(what_is_thrown_back_inside_is_seen)
{
    static const char *const from[] = {"30,22", "30,27"};
    ck_assert_int_eq(run_program("mesh generate box n=6 -o block.mesh"), 0);
    for (int i = 0; i < 2; i++) {
        char command[160];
        snprintf(command, sizeof command,
                 "render block.mesh -o a.png --size 320x200 --look water --no-ground --camera %s",
                 from[i]);
        ck_assert_int_eq(run_program(command), 0);
        picture p = load("a.png");
        for (int k = 0; k < p.width * p.height; k++)
            ck_assert_int_gt(p.rgb[3 * k] + p.rgb[3 * k + 1] + p.rgb[3 * k + 2], 400);
        free(p.rgb);
    }
}
END_TEST

START_TEST(every_option_shows)
{
    const char *look[] = {"",
                          "--edges",
                          "--flat",
                          "--clip x=50%",
                          "--clip=-x=50%",
                          "--clip x=0 --color none",
                          "--color quality",
                          "--color quality --title other",
                          "--color region",
                          "--view 10,40",
                          "--up x",
                          "--no-ground",
                          "--look water",
                          "--look honey",
                          "--look glass",
                          "--background black",
                          "--background '#ff8800'"};
    enum { LOOKS = sizeof look / sizeof look[0] };
    char arguments[200], command[100];
    for (int i = 0; i < LOOKS; i++) {
        snprintf(arguments, sizeof arguments, "render ball.mesh -o %d.png --size 120x80 %s", i,
                 look[i]);
        ck_assert_msg(run_program(arguments) == 0, "%s", arguments);
        for (int j = 0; j < i; j++) {
            snprintf(command, sizeof command, "cmp -s %d.png %d.png", i, j);
            ck_assert_msg(run_shell(command) != 0, "'%s' looks like '%s'", look[i], look[j]);
        }
    }
}
END_TEST

START_TEST(defective_meshes_are_drawn)
{
    FILE *file = fopen("bad.mesh", "w");
    fputs("MeshVersionFormatted 2\nDimension 3\nVertices\n6\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
          "1 1 0 0\n5 5 5 0\nTetrahedra\n5\n1 2 3 4 1\n1 2 3 4 1\n1 3 2 4 2\n1 2 3 5 3\n"
          "1 1 2 3 4\nEnd\n",
          file);
    fclose(file);
    ck_assert_int_eq(run_program("render bad.mesh -o bad.png --size 64x64 --edges --color quality"),
                     0);
    ck_assert_int_eq(run_program("render bad.mesh -o bad.png --size 64x64 --color region"), 0);
}
END_TEST

static void expect_refusal(const char *arguments, const char *words)
{
    char command[300];
    ck_assert_msg(run_program(arguments) == 2, "%s", arguments);
    snprintf(command, sizeof command, "grep -q -e '%s' .err", words);
    ck_assert_msg(run_shell(command) == 0, "%s: no '%s'", arguments, words);
    ck_assert_msg(run_shell("ls | grep -q png") != 0, "%s left a picture", arguments);
}

START_TEST(bad_requests_leave_nothing)
{
    expect_refusal("render ball.mesh", "-o");
    expect_refusal("render ball.mesh -o a.jpg", "end in .png");
    expect_refusal("render absent.mesh -o a.png", "absent.mesh");
    expect_refusal("render ball.mesh -o nowhere/a.png --size 32x32", "nowhere/a.png");
    expect_refusal("render ball.mesh -o a.png --size 10x", "--size");
    expect_refusal("render ball.mesh -o a.png --size 99999x99999", "--size");
    expect_refusal("render ball.mesh -o a.png --clip w=3", "x=0.5, y=50%");
    expect_refusal("render ball.mesh -o a.png --clip x=", "--clip");
    expect_refusal("render ball.mesh -o a.png --clip 0,0,0,1", "normal");
    expect_refusal("render ball.mesh -o a.png --clip x=-9", "nothing to show");
    expect_refusal("render ball.mesh -o a.png --view 10", "--view");
    expect_refusal("render ball.mesh -o a.png --view 10,95", "elevation");
    expect_refusal("render ball.mesh -o a.png --up q", "--up");
    expect_refusal("render ball.mesh -o a.png --color warmth", "warmth");
    expect_refusal("render ball.mesh -o a.png --background puce", "puce");
    expect_refusal("render ball.mesh -o a.png --samples 0", "--samples");
}
END_TEST

START_TEST(an_old_picture_survives_a_failure)
{
    ck_assert_int_eq(run_program("render ball.mesh -o a.png --size 64x64"), 0);
    ck_assert_int_eq(run_shell("cp a.png b.png"), 0);
    ck_assert_int_eq(run_program("render absent.mesh -o a.png"), 2);
    ck_assert_int_eq(run_shell("mkdir taken.png"), 0);
    ck_assert_int_eq(run_program("render ball.mesh -o taken.png --size 64x64"), 2);
    ck_assert_int_eq(run_shell("cmp a.png b.png"), 0);
    ck_assert_msg(run_shell("ls | grep -q kiln-") != 0, "a partial file is left");
}
END_TEST

/* Darkness of the line nearest to x = `at` in a row of pixels, against the face beside it. */
static double ink(const picture *p, double at, double row)
{
    double sum = 0.0, face = pixel(p, at - 0.05 * (at > 0.5 ? 1 : -1), row)[0];
    for (int i = -4; i <= 4; i++) {
        double c = pixel(p, at + (i + 0.5) / p->width, row)[0];
        sum += c < face - 4.0 ? face - c : 0.0; /* light varies by less than that */
    }
    return sum;
}

/* A sheet of two by two squares from above: the lines at its rim are as strong as the one inside.
 */
START_TEST(outlines_are_as_strong_as_inner_edges)
{
    FILE *file = fopen("sheet.off", "w");
    fputs("OFF\n9 8 0\n-1 -1 0\n0 -1 0\n1 -1 0\n-1 0 0\n0 0 0\n1 0 0\n-1 1 0\n0 1 0\n1 1 0\n"
          "3 0 1 4\n3 0 4 3\n3 1 2 5\n3 1 5 4\n3 3 4 7\n3 3 7 6\n3 4 5 8\n3 4 8 7\n",
          file);
    fclose(file);
    ck_assert_int_eq(run_program("render sheet.off -o s.png --edges --no-ground --background white "
                                 "--view=-90,89.9 --size 400x400 --samples 64"),
                     0);
    picture p = load("s.png");
    double row = 0.5 - 0.42 * 0.2; /* clear of the diagonals near both lines */
    double inner = ink(&p, 0.5, row), rim = ink(&p, 0.5 + 0.42, row);
    ck_assert_msg(inner > 50.0 && rim > 0.8 * inner && rim < 1.3 * inner, "rim %g, inner %g", rim,
                  inner);
    free(p.rgb);
}
END_TEST

START_TEST(long_titles_stay_in_the_picture)
{
    ck_assert_int_eq(
        run_program("render ball.mesh -o a.png --size 300x200 --color quality --background "
                    "white --no-ground --title "
                    "MMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMM"),
        0);
    picture p = load("a.png");
    for (int y = 0; y < p.height; y++)
        ck_assert_int_eq(pixel(&p, 1.0 - 0.5 / p.width, (y + 0.5) / p.height)[0], 255);
    free(p.rgb);
}
END_TEST

/* Links are followed, and what is not a file (a device, a pipe) is written to, never replaced. */
START_TEST(pictures_go_where_the_name_leads)
{
    ck_assert_int_eq(run_shell("mkdir there && ln -s there/a.png a.png && mkfifo pipe"), 0);
    ck_assert_int_eq(run_shell("touch there/a.png"), 0);
    ck_assert_int_eq(run_program("render ball.mesh -o a.png --size 64x64"), 0);
    ck_assert_int_eq(run_shell("test -L a.png && test -s there/a.png"), 0);
    char command[300];
    snprintf(command, sizeof command,
             "cat pipe >b.png & '%s' render ball.mesh -o pipe --size 64x64; wait; test -p pipe",
             KILN_PROGRAM);
    ck_assert_int_eq(run_shell(command), 0);
    ck_assert_int_eq(run_shell("cmp b.png there/a.png"), 0);
}
END_TEST

START_TEST(demo_leaves_a_run_and_pictures)
{
    ck_assert_int_eq(run_program("demo spin -o some/where --until 0.05 --no-film"), 0);
    picture sheet = load("some/where/spin.png");
    ck_assert_int_gt(different_colors(&sheet), 50);
    ck_assert_int_eq(run_shell("grep -q some/where/spin.lua .out"), 0);
    ck_assert_int_eq(
        run_shell("test -s some/where/spin.svg && test -s some/where/spin.run/run.pvd"), 0);
    ck_assert_int_eq(run_program("check some/where/spin.lua"), 0);
    free(sheet.rgb);
    ck_assert_int_eq(run_program("demo sping"), 2);
    ck_assert_int_eq(run_shell("grep -q \"did you mean 'spin'\" .err"), 0);
}
END_TEST

/* Scenes as they are in the source tree; installed ones come from the same files. */
START_TEST(every_scene_is_fine)
{
    char command[300];
    snprintf(command, sizeof command,
             "for s in '%s'/scenes/*.lua; do '%s' check \"$s\" >.out 2>.err || exit 1; done",
             KILN_SOURCE_DIR, KILN_PROGRAM);
    ck_assert_int_eq(run_shell(command), 0);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("render");
    TCase *all = kiln_test_case(suite, "render");
    tcase_add_checked_fixture(all, enter_folder, leave_folder);
    tcase_add_test(all, a_ball_is_seen_and_framed);
    tcase_add_test(all, threads_do_not_change_a_bit);
    tcase_add_test(all, light_goes_through_honey);
    tcase_add_test(all, what_is_thrown_back_inside_is_seen);
    tcase_add_test(all, every_option_shows);
    tcase_add_test(all, defective_meshes_are_drawn);
    tcase_add_test(all, bad_requests_leave_nothing);
    tcase_add_test(all, an_old_picture_survives_a_failure);
    tcase_add_test(all, outlines_are_as_strong_as_inner_edges);
    tcase_add_test(all, long_titles_stay_in_the_picture);
    tcase_add_test(all, pictures_go_where_the_name_leads);
    tcase_add_test(all, demo_leaves_a_run_and_pictures);
    tcase_add_test(all, every_scene_is_fine);
    return suite;
}
