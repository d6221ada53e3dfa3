/* Films and stills of runs, made by the built program from made-up frames. */
#include "program.h"
#include "synthetic_run.h"

#include <png.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void enter_folder(void)
{
    open_folder();
    /* What the program leaves behind must be found, so it gets a place of its own. */
    ck_assert_int_eq(mkdir("scratch", 0777), 0);
    ck_assert_int_eq(setenv("TMPDIR", "scratch", 1), 0);
    synthetic_run run = {.folder = "run", .frames = 7, .obstacles = true};
    synthetic_write(&run);
}

typedef struct picture {
    int width, height;
    uint8_t *rgb;
} picture;

static picture load(const char *path)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    ck_assert_msg(png_image_begin_read_from_file(&image, path), "%s: %s", path, image.message);
    image.format = PNG_FORMAT_RGB;
    picture p = {(int)image.width, (int)image.height, malloc(PNG_IMAGE_SIZE(image))};
    ck_assert_msg(png_image_finish_read(&image, NULL, p.rgb, 0, NULL), "%s", path);
    return p;
}

/* Rows of the picture that the ball (clay, the first region) covers. */
static void rows_of_clay(const picture *p, int *top, int *bottom)
{
    *top = p->height;
    *bottom = -1;
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) {
            const uint8_t *c = p->rgb + 3 * (y * p->width + x);
            if (c[0] > c[2] + 50) {
                *top = y < *top ? y : *top;
                *bottom = y;
            }
        }
}

START_TEST(stills_share_the_films_camera)
{
    ck_assert_int_eq(run_program("render run -o all/ --size 160x120 --samples 2 --every 2"), 0);
    int top[4], bottom[4];
    for (int i = 0; i < 4; i++) {
        char path[40];
        snprintf(path, sizeof path, "all/%06d.png", 2 * i);
        picture p = load(path);
        ck_assert_int_eq(p.width, 160);
        ck_assert_int_eq(p.height, 120);
        rows_of_clay(&p, &top[i], &bottom[i]);
        ck_assert_int_lt(top[i], bottom[i]);
        free(p.rgb);
    }
    /* The highest frame fits, and the ball sinks through one and the same picture. */
    ck_assert_int_ge(top[0], 4);
    for (int i = 1; i < 4; i++)
        ck_assert_msg(top[i] > top[i - 1] && bottom[i] > bottom[i - 1], "frame %d", 2 * i);
    ck_assert_int_eq(run_shell("test $(ls all | wc -l) = 4"), 0);
}
END_TEST

START_TEST(a_still_is_the_last_frame_unless_told)
{
    ck_assert_int_eq(run_program("render run -o a.png --size 96x64 --samples 1"), 0);
    ck_assert_int_eq(run_program("render run -o b.png --size 96x64 --samples 1 --frame last"), 0);
    ck_assert_int_eq(run_program("render run -o c.png --size 96x64 --samples 1 --frame 6"), 0);
    ck_assert_int_eq(run_program("render run -o d.png --size 96x64 --samples 1 --frame 2"), 0);
    ck_assert_int_eq(run_shell("cmp a.png b.png && cmp b.png c.png"), 0);
    ck_assert_int_ne(run_shell("cmp -s c.png d.png"), 0);
}
END_TEST

START_TEST(fine_surfaces_in_place_of_the_bodies)
{
    const char *render = "render run -o %s --size 96x64 --samples 1 --frame %s %s";
    char arguments[200];
    snprintf(arguments, sizeof arguments, render, "a.png", "6", "--surface");
    ck_assert_int_eq(run_program(arguments), 2); /* there are none */
    /* Of two bodies at the last frame, of one at the first. */
    ck_assert_int_eq(run_shell("cd run/surface && cp obstacles-000006.ply rock-000006.ply && "
                               "cp obstacles-000000.ply b-000006.ply && "
                               "cp obstacles-000000.ply b-000000.ply"),
                     0);
    static const char *const rows[][3] = {{"a.png", "6", "--surface"},
                                          {"b.png", "6", "--surface --color none"},
                                          {"c.png", "6", ""},
                                          {"d.png", "0", "--surface"}};
    for (int i = 0; i < 4; i++) {
        snprintf(arguments, sizeof arguments, render, rows[i][0], rows[i][1], rows[i][2]);
        ck_assert_msg(run_program(arguments) == 0, "%s", arguments);
    }
    ck_assert_int_eq(run_shell("! cmp -s a.png b.png && ! cmp -s a.png c.png && "
                               "! cmp -s a.png d.png"),
                     0);
    snprintf(arguments, sizeof arguments, render, "e.png", "3", "--surface");
    ck_assert_int_eq(run_program(arguments), 2); /* none at this frame */
}
END_TEST

START_TEST(every_option_shows)
{
    const char *look[] = {"",
                          "--field v",
                          "--field stress",
                          "--field mises --range 0:100",
                          "--field mises --smooth",
                          "--field stress.zz",
                          "--field v.z",
                          "--field displacement",
                          "--field quality",
                          "--edges",
                          "--clip y=50%",
                          "--camera 10,40",
                          "--camera 10,40,2",
                          "--up y",
                          "--no-ground",
                          "--title other --field v"};
    enum { LOOKS = sizeof look / sizeof look[0] };
    char arguments[200], command[100];
    for (int i = 0; i < LOOKS; i++) {
        snprintf(arguments, sizeof arguments,
                 "render run -o %d.png --frame 4 --size 96x64 --samples 1 %s", i, look[i]);
        ck_assert_msg(run_program(arguments) == 0, "%s", arguments);
        for (int j = 0; j < i; j++) {
            snprintf(command, sizeof command, "cmp -s %d.png %d.png", i, j);
            ck_assert_msg(run_shell(command) != 0, "'%s' looks like '%s'", look[i], look[j]);
        }
    }
    /* Length of v and speed are one thing under two names, as are both kinds of von Mises. */
    ck_assert_int_eq(
        run_program("render run -o s.png --frame 4 --size 96x64 --samples 1 --field speed"), 0);
    ck_assert_int_eq(run_shell("cmp s.png 1.png"), 0);
    ck_assert_int_eq(
        run_program("render run -o m.png --frame 4 --size 96x64 --samples 1 --color mises"), 0);
    ck_assert_int_eq(run_shell("cmp m.png 2.png"), 0);
}
END_TEST

START_TEST(obstacles_are_drawn_and_the_ground_is_no_square)
{
    const char *request = "render run -o %s.png --frame 0 --size 160x120 --samples 2";
    char arguments[200];
    snprintf(arguments, sizeof arguments, request, "with");
    ck_assert_int_eq(run_program(arguments), 0);
    ck_assert_int_eq(run_shell("mv run/surface run/elsewhere"), 0);
    snprintf(arguments, sizeof arguments, request, "without");
    ck_assert_int_eq(run_program(arguments), 0);
    ck_assert_int_ne(run_shell("cmp -s with.png without.png"), 0);
    picture p = load("with.png");
    /* The ground is backdrop: light in all corners, whatever the extent of the patch. */
    const int corners[4] = {0, p.width - 1, (p.height - 1) * p.width, p.height * p.width - 1};
    for (int i = 0; i < 4; i++)
        ck_assert_int_gt(p.rgb[3 * corners[i]], 210);
    free(p.rgb);
}
END_TEST

static void count_colors(const char *path, int *clay, int *blue)
{
    picture p = load(path);
    *clay = *blue = 0;
    for (int i = 0; i < p.width * p.height; i++) {
        const uint8_t *c = p.rgb + 3 * i;
        *clay += c[0] > c[2] + 50;
        *blue += c[2] > c[0] + 30;
    }
    free(p.rgb);
}

START_TEST(bodies_of_one_region_have_colors_of_their_own)
{
    synthetic_run run = {.folder = "plain", .frames = 2, .one_region = true};
    synthetic_write(&run);
    int clay, blue;
    ck_assert_int_eq(run_program("render plain -o a.png --size 96x64 --samples 1"), 0);
    count_colors("a.png", &clay, &blue);
    ck_assert_msg(clay > 50 && blue > 50, "%d %d", clay, blue);
    ck_assert_int_eq(run_program("render plain -o b.png --size 96x64 --samples 1 --color region"),
                     0);
    count_colors("b.png", &clay, &blue);
    ck_assert_msg(clay > 100 && blue < 10, "%d %d", clay, blue);
}
END_TEST

/* Two blocks, the left one body 1. The points of the first in the file come first; `merged`: both
 * are body 1. */
static void write_blocks(kiln_context *context, const char *path, bool right_first, bool merged)
{
    kiln_error error = {0};
    kiln_soup both;
    kiln_soup_init(&both, context);
    for (int i = 0; i < 2; i++) {
        kiln_soup one = kiln_test_soup(context, "box", "n=1");
        bool right = (i == 0) == right_first;
        for (size_t k = 0; k < one.points.count; k++)
            one.points.data[k].y += right ? 1.5 : 0.0;
        ck_assert_int_eq(kiln_soup_append(&both, &one, 0, &error), KILN_OK);
        kiln_soup_free(&one);
    }
    kiln_soup_field *body;
    ck_assert_int_eq(kiln_soup_add_field(&both, "body", KILN_ON_TET, 1, &body, &error), KILN_OK);
    for (size_t t = 0; t < both.tets.count; t++)
        body->data.data[t] = !merged && both.points.data[both.tets.data[t].v[0]].y > 1.2 ? 2 : 1;
    ck_assert_int_eq(kiln_soup_write(context, path, NULL, &both, &error), KILN_OK);
    kiln_soup_free(&both);
}

/* Pixels of the two colours in a half of the picture. */
static void count_half(const char *path, bool right, int *clay, int *blue)
{
    picture p = load(path);
    *clay = *blue = 0;
    for (int y = 0; y < p.height; y++)
        for (int x = 0; x < p.width / 2; x++) {
            const uint8_t *c = p.rgb + 3 * (y * p.width + x + (right ? p.width / 2 : 0));
            *clay += c[0] > c[2] + 50;
            *blue += c[2] > c[0] + 30;
        }
    free(p.rgb);
}

/* Whatever the order of the rows, which remeshing changes; of two that merge the first one's
 * colour is left. */
START_TEST(a_body_keeps_its_color)
{
    kiln_context *context = kiln_test_context(1);
    ck_assert_int_eq(run_shell("mkdir -p blocks/frames"), 0);
    write_blocks(context, "blocks/frames/000000.vtu", false, false);
    write_blocks(context, "blocks/frames/000001.vtu", true, false);
    write_blocks(context, "blocks/frames/000002.vtu", true, true);
    kiln_context_destroy(context);
    write_file("blocks/run.pvd", "<VTKFile type=\"Collection\"><Collection>\n"
                                 "<DataSet timestep=\"0\" part=\"0\" file=\"frames/000000.vtu\"/>\n"
                                 "<DataSet timestep=\"0\" part=\"1\" file=\"surface/none.vtu\"/>\n"
                                 "<DataSet timestep=\"1\" part=\"0\" file=\"frames/000001.vtu\"/>\n"
                                 "<DataSet timestep=\"2\" part=\"0\" file=\"frames/000002.vtu\"/>\n"
                                 "</Collection></VTKFile>\n");
    const char *view = "render blocks -o b/ --size 96x64 --samples 1 --camera 0,20";
    ck_assert_int_eq(run_program(view), 0);
    int clay, blue;
    for (int frame = 0; frame < 3; frame++)
        for (int right = 0; right < 2; right++) {
            char path[40];
            snprintf(path, sizeof path, "b/%06d.png", frame);
            count_half(path, right, &clay, &blue);
            bool first = !right || frame == 2;
            ck_assert_msg(first ? clay > 100 && blue < 20 : blue > 100 && clay < 20,
                          "frame %d, right %d: %d of clay, %d blue", frame, right, clay, blue);
        }
    /* The last frame alone has the colours of the film. */
    ck_assert_int_eq(run_program("render blocks -o c.png --frame 2 --size 96x64 --samples 1"), 0);
}
END_TEST

/* Where nothing moves the pictures of a film must not change, though the square that stands for the
 * plane is another one in each frame. */
START_TEST(a_slope_stands_still)
{
    synthetic_run run = {.folder = "hill", .frames = 3, .obstacles = true, .slope = true};
    synthetic_write(&run);
    ck_assert_int_eq(run_program("render hill -o all/ --size 96x64 --samples 2"), 0);
    picture a = load("all/000000.png"), b = load("all/000002.png");
    for (int y = 0; y < a.height - 8; y++) /* above the time */
        for (int x = 0; x < 28; x++)
            for (int k = 0; k < 3; k++) {
                int at = 3 * (y * a.width + x) + k;
                ck_assert_msg(abs(a.rgb[at] - b.rgb[at]) < 12, "(%d, %d)", x, y);
            }
    free(a.rgb);
    free(b.rgb);
}
END_TEST

/* What is all round the bodies does not hide them: a tub, and a box. */
START_TEST(walls_round_the_bodies_are_open_to_the_camera)
{
    static const char *const walls[] = {
        "cylinder { from = { 0, 0, 0 }, to = { 0, 0, 4 }, radius = 1.5",
        "box { from = { -2, -2, -2 }, to = { 2, 2, 2 }"};
    for (size_t i = 0; i < sizeof walls / sizeof *walls; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "return scene { duration = 0.01, step = { dt = 0.01 }, bodies = { body { shape = "
                 "shape.ball { radius = 0.5, h = 0.3 }, at = { 0, 0, 1 }, material = material { "
                 "young = 1e6 } } }, obstacles = { obstacle.%s, inside_out = true } } }\n",
                 walls[i]);
        write_file("tub.lua", text);
        ck_assert_int_eq(run_program("run tub.lua -o tub --force --quiet"), 0);
        ck_assert_int_eq(run_program("render tub -o tub.png --size 96x64 --samples 2"), 0);
        int clay, blue;
        count_colors("tub.png", &clay, &blue);
        ck_assert_int_gt(clay, 100);
    }
}
END_TEST

START_TEST(a_film_plays)
{
    ck_assert_int_eq(run_program("render run -o film.mp4 --size 96x64 --samples 1 --field speed"),
                     0);
    ck_assert_int_eq(run_shell("grep -q 'film.mp4: 7 frames' .out"), 0);
    ck_assert_int_eq(run_shell("ffprobe -v error -show_entries "
                               "stream=codec_name,width,height,pix_fmt,r_frame_rate,nb_frames -of "
                               "csv=p=0 film.mp4 > probe"),
                     0);
    ck_assert_int_eq(
        run_shell("grep -q '^h264,96,64,yuv420p,25/1,7$' probe || { cat probe; false; }"), 0);
    ck_assert_int_eq(run_program("render run --size 96x64 --samples 1 --fps 12 --every 3"), 0);
    ck_assert_int_eq(run_shell("ffprobe -v error -show_entries stream=r_frame_rate,nb_frames -of "
                               "csv=p=0 run/film.mp4 | grep -q '^12/1,3$'"),
                     0);
    ck_assert_int_ne(run_shell("ls scratch | grep ."), 0);
}
END_TEST

START_TEST(threads_do_not_change_a_film)
{
    ck_assert_int_eq(run_program("render run -o 1.mp4 --size 96x64 --samples 1 --threads 1"), 0);
    ck_assert_int_eq(run_program("render run -o 2.mp4 --size 96x64 --samples 1 --threads 2"), 0);
    ck_assert_int_eq(run_shell("cmp 1.mp4 2.mp4"), 0);
}
END_TEST

START_TEST(a_sheet_has_all_tiles)
{
    ck_assert_int_eq(run_program("render run -o a.png --sheet 3x2 --size 80x60 --samples 1"), 0);
    picture p = load("a.png");
    ck_assert_int_eq(p.width, 3 * 80 + 2 * 2);
    ck_assert_int_eq(p.height, 2 * 60 + 2);
    for (int i = 0; i < 6; i++) {
        int clay = 0;
        for (int y = 0; y < 60; y++)
            for (int x = 0; x < 80; x++) {
                const uint8_t *c = p.rgb + 3 * ((y + i / 3 * 62) * p.width + x + i % 3 * 82);
                clay += c[0] > c[2] + 50;
            }
        ck_assert_msg(clay > 20, "tile %d is empty", i);
    }
    free(p.rgb);
    ck_assert_int_eq(run_program("render run -o b.png --sheet 9x9 --size 32x32 --samples 1"), 0);
    /* One tile is the last frame. */
    ck_assert_int_eq(run_program("render run -o c.png --sheet 1x1 --size 80x60 --samples 1"), 0);
    ck_assert_int_eq(run_program("render run -o d.png --size 80x60 --samples 1"), 0);
    ck_assert_int_eq(run_shell("cmp c.png d.png"), 0);
}
END_TEST

/* A run that is still going: the list names what is complete, more files may be there. */
START_TEST(what_is_listed_counts)
{
    ck_assert_int_eq(
        run_shell("sed -i '/00000[3456].vtu/d' run/run.pvd && "
                  "head -c 200 run/frames/000003.vtu > x && mv x run/frames/000003.vtu"),
        0);
    ck_assert_int_eq(run_program("render run -o all/ --size 32x32 --samples 1"), 0);
    ck_assert_int_eq(run_shell("test $(ls all | wc -l) = 3"), 0);
}
END_TEST

/* Frames at 0.2 and at 0.25 s are told apart. */
START_TEST(captions_tell_the_time)
{
    for (int i = 0; i < 2; i++) {
        char command[500];
        snprintf(command, sizeof command,
                 "printf '<VTKFile><Collection>\n"
                 "<DataSet timestep=\"0\" file=\"frames/000000.vtu\"/>\n"
                 "<DataSet timestep=\"%g\" file=\"frames/000001.vtu\"/>\n"
                 "<DataSet timestep=\"%g\" file=\"frames/000002.vtu\"/>\n"
                 "</Collection></VTKFile>\n' >run/run.pvd",
                 i ? 0.25 : 0.2, i ? 0.5 : 0.4);
        ck_assert_int_eq(run_shell(command), 0);
        ck_assert_int_eq(
            run_program(i ? "render run -o b.png --frame 1 --size 160x120 --samples 1"
                          : "render run -o a.png --frame 1 --size 160x120 --samples 1"),
            0);
    }
    ck_assert_int_ne(run_shell("cmp -s a.png b.png"), 0);
}
END_TEST

static void expect_refusal(const char *arguments, const char *words)
{
    char command[300];
    ck_assert_msg(run_program(arguments) == 2, "%s", arguments);
    snprintf(command, sizeof command, "grep -q -e '%s' .err || { cat .err; false; }", words);
    ck_assert_msg(run_shell(command) == 0, "%s: no '%s'", arguments, words);
    ck_assert_msg(run_shell("ls . scratch | grep -e png -e mp4 -e kiln-") != 0, "%s left a file",
                  arguments);
}

START_TEST(bad_requests_leave_nothing)
{
    expect_refusal("render run -o a.avi", "mp4");
    expect_refusal("render scratch", "run.pvd");
    expect_refusal("render run -o nowhere/a.mp4 --size 32x32", "nowhere/a.mp4");
    expect_refusal("render run -o a.mp4 --size 33x32", "even");
    expect_refusal("render run -o a.png --frame 7", "0 to 6");
    expect_refusal("render run -o a.png --frame -1", "--frame");
    expect_refusal("render run -o a.png --frame 3:1", "--frame");
    expect_refusal("render run -o a.png --frame x", "--frame");
    expect_refusal("render run -o a.png --frame 0:3", "one frame");
    expect_refusal("render run -o a.png --sheet 0x4", "--sheet");
    expect_refusal("render run -o a.mp4 --sheet 2x2", "png");
    expect_refusal("render run -o a.mp4 --every 0", "--every");
    expect_refusal("render run -o a.mp4 --fps 0", "--fps");
    expect_refusal("render run -o a.mp4 --field sped", "did you mean .speed");
    expect_refusal("render run -o a.mp4 --field v.w", "v.w");
    expect_refusal("render run -o a.mp4 --range 5:2 --field v", "--range");
    expect_refusal("render run -o a.mp4 --camera 1,2,0", "zoom");
    expect_refusal("render run/frames/000000.vtu -o a.png --sheet 2x2", "folder of a run");
}
END_TEST

static void replace_list(const char *text)
{
    FILE *file = fopen("run/run.pvd", "w");
    fputs(text, file);
    fclose(file);
}

START_TEST(bad_lists_are_refused_with_their_line)
{
    replace_list("");
    expect_refusal("render run -o a.mp4", "run.pvd");
    replace_list("<VTKFile><Collection>\n</Collection></VTKFile>\n");
    expect_refusal("render run -o a.mp4", "no frames");
    replace_list("<VTKFile><Collection>\n<DataSet file=\"frames/000000.vtu\"/>\n");
    expect_refusal("render run -o a.mp4", "run.pvd:2: .*timestep");
    replace_list("<VTKFile><Collection>\n<DataSet timestep=\"x\" file=\"frames/000000.vtu\"/>\n");
    expect_refusal("render run -o a.mp4", "run.pvd:2: .*number");
    replace_list("<VTKFile><Collection>\n\n<DataSet timestep=\"1\" file=\"frames/0000");
    expect_refusal("render run -o a.mp4", "run.pvd:3: ");
    replace_list("<VTKFile><Collection>\n<DataSet timestep=\"1\" file=\"frames/gone.vtu\"/>\n");
    expect_refusal("render run -o a.mp4", "gone.vtu");
    replace_list("<!-- <DataSet --><VTKFile><Collection>\n"
                 "<DataSet timestep='1' file='frames/000000.vtu'></DataSet>\n");
    ck_assert_int_eq(run_program("render run -o a.png --size 32x32 --samples 1"), 0);
}
END_TEST

START_TEST(without_ffmpeg_it_says_what_to_do)
{
    ck_assert_int_eq(run_shell("mkdir empty"), 0);
    char command[300];
    snprintf(command, sizeof command,
             "env PATH=$PWD/empty '%s' render run -o a.mp4 --size 32x32 2>.err", KILN_PROGRAM);
    ck_assert_int_eq(run_shell(command), 2);
    ck_assert_int_eq(run_shell("grep -q 'apt-get install ffmpeg' .err"), 0);
    /* One that breaks off: its last words are in the message. */
    ck_assert_int_eq(
        run_shell("printf '#!/bin/sh\\necho it hurts >&2\\nexit 3\\n' > empty/ffmpeg && "
                  "chmod +x empty/ffmpeg"),
        0);
    ck_assert_int_eq(run_shell(command), 2);
    ck_assert_int_eq(run_shell("grep -q 'exit code 3: it hurts' .err"), 0);
    ck_assert_int_ne(run_shell("ls -A . scratch | grep -e mp4 -e kiln-"), 0);
}
END_TEST

START_TEST(an_interrupted_film_leaves_nothing)
{
    for (int wait = 100; wait <= 700; wait += 300) {
        pid_t child = fork();
        if (child == 0) {
            execl(KILN_PROGRAM, "kiln", "render", "run", "-o", "a.mp4", "--samples", "64", NULL);
            _exit(127);
        }
        nanosleep(&(struct timespec){0, wait * 1000000L}, NULL);
        ck_assert_int_eq(kill(child, SIGINT), 0);
        int state;
        ck_assert_int_eq(waitpid(child, &state, 0), child);
        ck_assert(WIFSIGNALED(state) && WTERMSIG(state) == SIGINT);
        ck_assert_int_ne(run_shell("ls -A . scratch | grep -e mp4 -e kiln-"), 0);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("film");
    TCase *all = kiln_test_case(suite, "film");
    tcase_add_checked_fixture(all, enter_folder, leave_folder);
    tcase_add_test(all, stills_share_the_films_camera);
    tcase_add_test(all, a_still_is_the_last_frame_unless_told);
    tcase_add_test(all, fine_surfaces_in_place_of_the_bodies);
    tcase_add_test(all, every_option_shows);
    tcase_add_test(all, obstacles_are_drawn_and_the_ground_is_no_square);
    tcase_add_test(all, bodies_of_one_region_have_colors_of_their_own);
    tcase_add_test(all, a_body_keeps_its_color);
    tcase_add_test(all, a_slope_stands_still);
    tcase_add_test(all, walls_round_the_bodies_are_open_to_the_camera);
    tcase_add_test(all, a_film_plays);
    tcase_add_test(all, threads_do_not_change_a_film);
    tcase_add_test(all, a_sheet_has_all_tiles);
    tcase_add_test(all, what_is_listed_counts);
    tcase_add_test(all, captions_tell_the_time);
    tcase_add_test(all, bad_requests_leave_nothing);
    tcase_add_test(all, bad_lists_are_refused_with_their_line);
    tcase_add_test(all, without_ffmpeg_it_says_what_to_do);
    tcase_add_test(all, an_interrupted_film_leaves_nothing);
    return suite;
}
