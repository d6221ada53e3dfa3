#include "app/builtin_scenes.h"
#include "app/command.h"
#include "io/sink.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_SIZE = 700 };

static kiln_status make_folder(const char *path, kiln_error *error)
{
    char partial[512];
    snprintf(partial, sizeof partial, "%s", path);
    for (char *at = partial + 1;; at++) {
        if (*at && *at != '/')
            continue;
        char kept = *at;
        *at = 0;
        if (mkdir(partial, 0777) != 0 && errno != EEXIST)
            return kiln_fail(error, KILN_ERR_IO, partial, 0, -1, "cannot be made: %s",
                             strerror(errno));
        *at = kept;
        if (!kept)
            return KILN_OK;
    }
}

static kiln_status find_scene(const char *name, const kiln_builtin_scene **out, kiln_error *error)
{
    for (size_t i = 0; i < kiln_builtin_scene_count; i++)
        if (strcmp(kiln_builtin_scenes[i].name, name) == 0) {
            *out = &kiln_builtin_scenes[i];
            return KILN_OK;
        }
    const char *nearest = kiln_nearest_name(name, kiln_builtin_scenes, kiln_builtin_scene_count,
                                            sizeof kiln_builtin_scenes[0]);
    if (nearest)
        return kiln_fail(error, KILN_ERR_INPUT, "demo", 0, -1,
                         "there is no scene '%s'; did you mean '%s'?", name, nearest);
    return kiln_fail(error, KILN_ERR_INPUT, "demo", 0, -1,
                     "there is no scene '%s'; 'kiln demo --help' lists them", name);
}

typedef struct demo_paths {
    char folder[512];
    char scene[PATH_SIZE], run[PATH_SIZE], film[PATH_SIZE], sheet[PATH_SIZE], plot[PATH_SIZE];
} demo_paths;

static kiln_status locate(const kiln_arguments *arguments, const kiln_builtin_scene **scene,
                          demo_paths *paths, kiln_error *error)
{
    const char *name = arguments->operand_count ? arguments->operands[0] : "demo";
    const char *given = kiln_arguments_get(arguments, "output");
    KILN_TRY(find_scene(name, scene, error));
    int length = given ? snprintf(paths->folder, sizeof paths->folder, "%s", given)
                       : snprintf(paths->folder, sizeof paths->folder, "out/%s", name);
    if (length <= 0 || length >= 500)
        return kiln_fail(error, KILN_ERR_INPUT, "demo", 0, -1, "the folder's name is too long");
    snprintf(paths->scene, PATH_SIZE, "%s/%s.lua", paths->folder, name);
    snprintf(paths->run, PATH_SIZE, "%s/%s.run", paths->folder, name);
    snprintf(paths->film, PATH_SIZE, "%s/%s.mp4", paths->folder, name);
    snprintf(paths->sheet, PATH_SIZE, "%s/%s.png", paths->folder, name);
    snprintf(paths->plot, PATH_SIZE, "%s/%s.svg", paths->folder, name);
    return KILN_OK;
}

static kiln_status write_scene(kiln_context *context, const kiln_arguments *arguments,
                               kiln_error *error)
{
    const kiln_builtin_scene *scene;
    demo_paths paths;
    KILN_TRY(locate(arguments, &scene, &paths, error));
    KILN_TRY(make_folder(paths.folder, error));
    kiln_sink sink;
    KILN_TRY(kiln_sink_open(&sink, context, paths.scene, error));
    kiln_sink_bytes(&sink, scene->text, scene->size);
    return kiln_sink_commit(&sink, error);
}

enum { MOST_WORDS = 12 };

/* Adds --threads and --isa as they were given to the demo. */
static int call(int (*command)(int, char **), const kiln_arguments *arguments, int count,
                const char *const *words)
{
    char threads[40], isa[40], *argv[MOST_WORDS + 3];
    for (int i = 0; i < count; i++)
        argv[i] = (char *)words[i]; /* commands do not change their arguments */
    if (kiln_arguments_has(arguments, "threads")) {
        snprintf(threads, sizeof threads, "--threads=%s", kiln_arguments_get(arguments, "threads"));
        argv[count++] = threads;
    }
    if (kiln_arguments_has(arguments, "isa")) {
        snprintf(isa, sizeof isa, "--isa=%s", kiln_arguments_get(arguments, "isa"));
        argv[count++] = isa;
    }
    argv[count] = NULL;
    return command(count, argv);
}

/* What a user would type next, as commands of their own. */
static int play(const kiln_arguments *arguments, const demo_paths *p)
{
    const char *until = kiln_arguments_get(arguments, "until");
    const char *const run[] = {p->scene, "--force", "-o", p->run, "--until", until};
    int code = call(kiln_command_run, arguments, until ? 6 : 4, run);
    if (code != KILN_EXIT_FINE)
        return code;
    const char *const sheet[] = {p->run, "-o",     p->sheet,  "--sheet",
                                 "3x2",  "--size", "480x270", "--camera=-75,14"};
    const char *const film[] = {p->run, "-o", p->film, "--size", "640x360", "--camera=-75,14"};
    const char *const plot[] = {p->run, "-o", p->plot};
    printf("\nlook at\n");
    code = call(kiln_command_render, arguments, 8, sheet);
    if (code == KILN_EXIT_FINE)
        code = call(kiln_command_plot, arguments, 3, plot);
    if (code == KILN_EXIT_FINE && !kiln_arguments_has(arguments, "no-film"))
        code = call(kiln_command_render, arguments, 6, film);
    if (code == KILN_EXIT_FINE)
        printf("%s: the scene, to change and run again\n", p->scene);
    return code;
}

static void print_scenes(FILE *out)
{
    fputs("Scenes:", out);
    for (size_t i = 0; i < kiln_builtin_scene_count; i++)
        fprintf(out, " %s", kiln_builtin_scenes[i].name);
    fputs("\n", out);
}

int kiln_command_demo(int argc, char **argv)
{
    static const kiln_option options[] = {
        {"output", 'o', "FOLDER", "where to put the results (default: out/ and the scene's name)"},
        {"until", 0, "TIME", "end at this time in seconds (default: the scene's duration)"},
        {"no-film", 0, NULL, "pictures only"}};
    static const kiln_usage usage = {
        .command = "demo",
        .synopsis = "[SCENE] [-o FOLDER] [--until TIME] [--no-film]",
        .what = "Runs a built-in scene, then makes pictures, plots and a film of it.",
        .example = "  kiln demo\n"
                   "  kiln demo twist\n",
        .own = options,
        .own_count = sizeof options / sizeof options[0],
        .most_operands = 1,
        .details = print_scenes};
    int code = kiln_command_frame(&usage, argc, argv, write_scene);
    kiln_arguments arguments;
    demo_paths paths;
    const kiln_builtin_scene *scene;
    /* Again, because the commands that follow make contexts and watch signals themselves: the frame
     * above, which did both, must be over. */
    if (code != KILN_EXIT_FINE ||
        kiln_arguments_parse(&usage, argc, argv, &arguments, NULL) != KILN_OK ||
        kiln_arguments_has(&arguments, "help") ||
        locate(&arguments, &scene, &paths, NULL) != KILN_OK)
        return code;
    return play(&arguments, &paths);
}
