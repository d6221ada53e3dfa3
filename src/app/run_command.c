#include "app/command.h"
#include "app/progress.h"
#include "app/shell_words.h"
#include "io/run_folder.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Everything of one run, from the command line to its folder. */
typedef struct job {
    kiln_context *context;
    const kiln_arguments *arguments;
    kiln_asked *asked;
    char folder_path[PATH_MAX];
    char checkpoint[PATH_MAX];    /* to go on from; empty: a new run */
    kiln_checkpoint_scene kept;   /* text and settings that run */
    kiln_checkpoint_scene before; /* those of the checkpoint, if they are others; else empty */
    bool lost;                    /* there are checkpoints, and none can be read */
    kiln_scene_file *file;
    kiln_scene scene; /* the file's, with what the command line changes */
    kiln_world *world;
    kiln_run_about about;
    kiln_run_folder *folder;
    kiln_progress progress;
    double until;
} job;

static kiln_status usage_error(const job *now, kiln_error *error, const char *message)
{
    return kiln_fail(error, KILN_ERR_INPUT, now->arguments->usage->command, 0, -1, "%s", message);
}

/* "dir/bar.lua" runs into "bar.run" here, unless -o says otherwise. */
static kiln_status choose_folder(job *now, kiln_error *error)
{
    const char *given = kiln_arguments_get(now->arguments, "output");
    const char *scene = now->arguments->operands[0];
    int length;
    if (given) {
        length = snprintf(now->folder_path, sizeof now->folder_path, "%s", given);
    } else {
        const char *slash = strrchr(scene, '/'), *name = slash ? slash + 1 : scene;
        const char *dot = strrchr(name, '.');
        int stem = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
        length = snprintf(now->folder_path, sizeof now->folder_path, "%.*s.run", stem, name);
    }
    if (length <= 0 || (size_t)length >= sizeof now->folder_path)
        return usage_error(now, error, "the folder's name is empty or too long");
    return KILN_OK;
}

static void warn(job *now, const char *text)
{
    fprintf(stderr, "kiln: %s\n", text);
    if (now->folder)
        kiln_run_folder_log(now->folder, text);
}

/* The scene's file may have changed since, or be gone: the run goes on with what it was. */
static void compare_text(job *now)
{
    const char *path = now->arguments->operands[0];
    if (!kiln_scene_file_has_text(now->context, path, now->kept.text, now->kept.text_size))
        warn(now, "the scene's file has changed since; the run goes on with the text it has "
                  "had so far (--changed: with the file as it is now)");
}

static kiln_status find_checkpoint(job *now, kiln_error *error)
{
    struct stat info;
    if (stat(now->folder_path, &info) != 0)
        return kiln_fail(error, KILN_ERR_INPUT, now->folder_path, 0, -1,
                         "there is no run to resume here");
    int passed;
    kiln_status status = kiln_run_folder_find(now->context, now->folder_path, now->checkpoint,
                                              sizeof now->checkpoint, &passed, error);
    now->lost = passed > 0 && status != KILN_OK && status != KILN_ERR_MEMORY;
    KILN_TRY(status);
    if (passed > 0)
        warn(now, "the newest checkpoint is damaged; going on from the one before");
    if (!now->checkpoint[0]) {
        warn(now,
             "there is no checkpoint yet; the run starts from the beginning, with the scene as "
             "it is now and the --set of this command");
        return KILN_OK;
    }
    return kiln_checkpoint_read_scene(now->context, now->checkpoint, &now->kept, error);
}

static bool same_scene(const kiln_checkpoint_scene *a, const kiln_checkpoint_scene *b)
{
    return a->text_size == b->text_size && a->sets_size == b->sets_size &&
           memcmp(a->text, b->text, a->text_size) == 0 &&
           memcmp(a->sets, b->sets, a->sets_size) == 0;
}

/* The scene a run goes on with: as it was, unless changes are asked for. */
static kiln_status load_kept(job *now, const char *const *sets, size_t count, kiln_error *error)
{
    const char *path = now->arguments->operands[0];
    bool reread = kiln_arguments_has(now->arguments, "changed");
    if (!reread)
        compare_text(now);
    if (!reread && count == 0)
        return kiln_checkpoint_scene_load(now->context, path, &now->kept, &now->file, error);
    now->before = now->kept;
    now->kept = (kiln_checkpoint_scene){0};
    KILN_TRY(kiln_checkpoint_scene_change(now->context, path, &now->before, reread, sets, count,
                                          &now->file, &now->kept, error));
    if (same_scene(&now->before, &now->kept))
        kiln_checkpoint_scene_free(now->context, &now->before);
    return KILN_OK;
}

static kiln_status load_scene(job *now, kiln_error *error)
{
    const char *sets[KILN_MAX_GIVEN], *path = now->arguments->operands[0];
    kiln_scene_options options = {.sets = sets,
                                  .set_count = kiln_arguments_all(now->arguments, "set", sets)};
    if (now->checkpoint[0])
        return load_kept(now, sets, options.set_count, error);
    KILN_TRY(kiln_scene_file_load(now->context, path, &options, &now->file, error));
    return kiln_checkpoint_scene_keep(now->context, now->file, sets, options.set_count, &now->kept,
                                      error);
}

static kiln_status apply_options(job *now, kiln_error *error)
{
    now->scene = *kiln_scene_file_scene(now->file);
    now->until = now->scene.duration;
    const char *until = kiln_arguments_get(now->arguments, "until");
    if (until)
        KILN_TRY(kiln_numbers_parse(until, 1, &now->until, "--until", error));
    if (now->until < 0.0)
        return usage_error(now, error, "--until must not be negative");
    int *blas = &now->scene.solid.solver.blas_threads;
    KILN_TRY(kiln_arguments_integer(now->arguments, "blas-threads", 1, 1024, blas, error));
    if (*blas > 1)
        warn(now, "with more than one BLAS thread the last bits depend on their number");
    return KILN_OK;
}

static kiln_status read_state(job *now, kiln_error *error)
{
    if (!now->checkpoint[0])
        return KILN_OK;
    return now->before.text
               ? kiln_checkpoint_read_changed(now->checkpoint, &now->before,
                                              now->arguments->operands[0], now->world, error)
               : kiln_checkpoint_read(now->checkpoint, now->world, error);
}

/* The text of before stays in the folder; the settings of before in the log. */
static kiln_status note_change(job *now, kiln_error *error)
{
    const kiln_world_state *state = kiln_world_get_state(now->world);
    char name[64], text[1000];
    KILN_TRY(kiln_run_folder_keep_scene(now->folder, &now->before, name, sizeof name, error));
    snprintf(text, sizeof text,
             "changed at %.6g s, after step %llu: from here on the run is of the scene as it is "
             "given now; until then it was of %s",
             state->clock.time, (unsigned long long)(state->step > 0 ? state->step - 1 : 0), name);
    warn(now, text);
    for (const char *at = now->before.sets; *at; at += strcspn(at, "\n") + 1) {
        snprintf(text, sizeof text, "until then with --set %.*s", (int)strcspn(at, "\n"), at);
        kiln_run_folder_log(now->folder, text);
    }
    return KILN_OK;
}

/* Nothing goes back: an end before the time that is reached is not one that was meant. */
static kiln_status check_end(const job *now, kiln_error *error)
{
    double time = kiln_world_get_state(now->world)->clock.time;
    if (now->until >= time - kiln_scene_moment(&now->scene))
        return KILN_OK;
    return kiln_fail(error, KILN_ERR_INPUT, now->folder_path, 0, -1,
                     "the run is at %.6g s, past the end that is asked for, %.6g s (%s); it does "
                     "not go back",
                     time, now->until,
                     kiln_arguments_has(now->arguments, "until") ? "--until" : "duration");
}

static kiln_status go_on(job *now, kiln_error *error)
{
    KILN_TRY(kiln_run_folder_resume(now->context, now->folder_path,
                                    kiln_world_get_state(now->world), &now->about, &now->folder,
                                    error));
    return now->before.text ? note_change(now, error) : KILN_OK;
}

/* The folder comes last: a scene that cannot run leaves none behind, or as it was. */
static kiln_status prepare(job *now, kiln_error *error)
{
    bool resume = kiln_arguments_has(now->arguments, "resume");
    bool force = kiln_arguments_has(now->arguments, "force");
    if (resume && force)
        return usage_error(now, error, "--resume and --force exclude each other");
    if (!resume && kiln_arguments_has(now->arguments, "changed"))
        return usage_error(now, error, "--changed is for runs that go on: with --resume");
    KILN_TRY(choose_folder(now, error));
    if (resume)
        KILN_TRY(find_checkpoint(now, error));
    KILN_TRY(load_scene(now, error));
    KILN_TRY(apply_options(now, error));
    KILN_TRY(kiln_world_create(&now->scene, &now->world, error));
    KILN_TRY(read_state(now, error));
    now->about = (kiln_run_about){
        .file = now->arguments->operands[0], .name = now->scene.name, .scene = now->kept};
    (void)kiln_is_asked(now->asked); /* from here on there is something to keep */
    if (now->checkpoint[0]) {
        KILN_TRY(check_end(now, error));
        return go_on(now, error);
    }
    return kiln_run_folder_create(now->context, now->folder_path, force || resume, &now->about,
                                  &now->folder, error);
}

static kiln_status on_frame(void *self, kiln_world *world, kiln_error *error)
{
    job *now = self;
    KILN_TRY(kiln_run_folder_frame(now->folder, world, error));
    kiln_progress_say(&now->progress, "frame", "file", kiln_run_folder_last_frame(now->folder),
                      true);
    return KILN_OK;
}

static kiln_status on_stats(void *self, const kiln_stats *stats, kiln_error *error)
{
    job *now = self;
    return kiln_run_folder_stats(now->folder, stats, error);
}

static kiln_status on_probes(void *self, kiln_world *world, const kiln_stats *stats,
                             kiln_error *error)
{
    return kiln_run_folder_probes(((job *)self)->folder, world, stats, error);
}

static kiln_status on_checkpoint(void *self, kiln_world *world, kiln_error *error)
{
    job *now = self;
    KILN_TRY(kiln_run_folder_checkpoint(now->folder, world, error));
    const char *name = kiln_run_folder_last_checkpoint(now->folder);
    kiln_progress_say(&now->progress, "checkpoint", "file", name, true);
    kiln_run_folder_log(now->folder, name);
    return kiln_run_folder_describe(now->folder, world, "running", error);
}

static void on_progress(void *self, const kiln_world *world, const kiln_stats *stats)
{
    (void)world;
    job *now = self;
    kiln_progress_step(&now->progress, stats);
}

static bool on_stop(void *self)
{
    const job *now = self;
    return kiln_is_asked(now->asked);
}

static void on_log(void *user, kiln_log_level level, const char *message)
{
    job *now = user;
    if (now->folder && level != KILN_LOG_DEBUG)
        kiln_run_folder_log(now->folder, message);
    /* Before there is a log, it is the scene that prints. */
    bool shown = level == KILN_LOG_WARNING || (level == KILN_LOG_INFO && !now->folder);
    if (shown && !kiln_arguments_has(now->arguments, "quiet"))
        fprintf(stderr, "kiln: %s\n", message);
}

/* Why a run does not go on as it is. */
typedef enum need { NEED_NOTHING, NEED_MENDING, NEED_MEMORY } need;

/* What was given by --set is not mended in the file: which, and how to change it. */
static void say_sets(const job *now, char *text, size_t size)
{
    const char *gap = " (what --set gave stays in force: to change it add ";
    size_t used = 0;
    text[0] = 0;
    for (const char *at = now->kept.sets; at && *at && used < size; gap = ", ") {
        used += (size_t)snprintf(text + used, size - used, "%s--set %.*s=...", gap,
                                 (int)strcspn(at, "=\n"), at);
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    if (used && used < size)
        snprintf(text + used, size - used, ")");
}

/* How to go on: a command, and for people (not scripts) when. To be freed; NULL: no memory. */
static char *way_on(const job *now, need what, bool for_people)
{
    char lead[700] = "to go on: ", sets[500];
    if (what == NEED_MENDING) {
        say_sets(now, sets, sizeof sets);
        snprintf(lead, sizeof lead,
                 "mend the scene%s; then, to go on from the last good step: ", sets);
    }
    if (what == NEED_MEMORY)
        snprintf(lead, sizeof lead,
                 "it will want that memory again: where there is more of it, or with a scene that "
                 "takes less and --changed, to go on: ");
    return kiln_shell_run(now->arguments, now->folder_path, for_people ? lead : "",
                          what == NEED_MENDING ? "--resume --changed" : "--resume");
}

static void say_text(job *now, const char *event, const char *key, char *take_text)
{
    if (take_text)
        kiln_progress_say(&now->progress, event, key, take_text, false);
    free(take_text);
}

static void say_missed_goal(job *now)
{
    kiln_goal_missed missed = kiln_world_goal_missed(now->world);
    char text[200];
    if (missed.steps == 0)
        return;
    snprintf(text, sizeof text,
             "%llu steps ended with tets below %.3g, which remesh.quality asks for at least, the "
             "worst at %.3g",
             (unsigned long long)missed.steps, missed.goal, missed.worst);
    kiln_run_folder_log(now->folder, text);
    kiln_progress_say(&now->progress, "quality", "text", text, false);
}

static void say_end(job *now, kiln_run_end end, const kiln_diagnosis *diagnosis)
{
    static const char *const status[] = {"done", "stopped", "gave up"};
    const kiln_world_state *state = kiln_world_get_state(now->world);
    char text[1400];
    snprintf(text, sizeof text, "%s at %.6g s: %llu steps, %llu frames, %.1f s of the clock",
             status[end], state->clock.time,
             (unsigned long long)(state->step > 0 ? state->step - 1 : 0),
             (unsigned long long)state->frame, kiln_progress_seconds(&now->progress));
    kiln_run_folder_log(now->folder, text);
    const char *backend = kiln_world_backend(now->world);
    if (backend && backend[0]) {
        const char *reason = kiln_world_backend_reason(now->world);
        char solver[300];
        snprintf(solver, sizeof solver, "solver %.40s: %.200s", backend, reason ? reason : "");
        kiln_run_folder_log(now->folder, solver);
    }
    kiln_progress_say(&now->progress, "end", "status",
                      now->progress.kind == KILN_PROGRESS_JSON ? status[end] : text, false);
    say_missed_goal(now);
    if (end == KILN_RUN_GAVE_UP) {
        kiln_run_folder_log(now->folder, diagnosis->text);
        kiln_progress_say(&now->progress, "diagnosis", "text", diagnosis->text, true);
        fprintf(stderr, "kiln: %s\n", diagnosis->text);
    }
    bool for_people = now->progress.kind != KILN_PROGRESS_JSON;
    if (end != KILN_RUN_DONE)
        say_text(now, "resume", "command",
                 way_on(now, end == KILN_RUN_GAVE_UP ? NEED_MENDING : NEED_NOTHING, for_people));
    if (for_people)
        say_text(now, "results", "folder", kiln_shell_results(now->folder_path));
    else
        kiln_progress_say(&now->progress, "results", "folder", now->folder_path, false);
}

static kiln_progress_kind progress_kind(const kiln_arguments *arguments)
{
    if (kiln_arguments_has(arguments, "json"))
        return KILN_PROGRESS_JSON;
    if (kiln_arguments_has(arguments, "quiet"))
        return KILN_PROGRESS_QUIET;
    return kiln_stream_is_terminal(stdout) ? KILN_PROGRESS_LINE : KILN_PROGRESS_PLAIN;
}

static void say_begin(job *now)
{
    const kiln_mesh *mesh = kiln_world_mesh(now->world);
    const kiln_world_state *state = kiln_world_get_state(now->world);
    char text[600];
    snprintf(text, sizeof text, "%.60s: %u tets, %u vertices, %s, %s %.6g s to %.6g s, into %.300s",
             now->scene.name[0] ? now->scene.name : now->arguments->operands[0],
             mesh->table[KILN_ON_TET].live, mesh->table[KILN_ON_VERTEX].live,
             kiln_integrator_name(now->scene.solid.integrator),
             now->checkpoint[0] ? "resumed at" : "from", state->clock.time, now->until,
             now->folder_path);
    kiln_run_folder_log(now->folder, text);
    kiln_progress_say(&now->progress, now->checkpoint[0] ? "resume" : "start", "text", text, false);
    for (size_t i = 0; i < now->scene.materials.count; i++) {
        const kiln_scene_material *material = &now->scene.materials.data[i];
        if (!material->base.nodal_pressure)
            continue;
        snprintf(text, sizeof text, "material %.60s: averaged nodal pressure, against locking",
                 material->name);
        kiln_run_folder_log(now->folder, text);
    }
}

static kiln_status go(job *now, int *code, kiln_error *error)
{
    kiln_run_output output = {.self = now,
                              .frame = on_frame,
                              .stats = on_stats,
                              .probes = on_probes,
                              .checkpoint = on_checkpoint,
                              .progress = on_progress,
                              .stop = on_stop,
                              .audit = kiln_arguments_has(now->arguments, "audit"),
                              .changed = now->before.text != NULL};
    kiln_run_end end = KILN_RUN_DONE;
    kiln_diagnosis diagnosis = {{0}};
    static const char *const status_text[] = {"done", "stopped", "gave up"};
    say_begin(now);
    kiln_status status = kiln_run_folder_describe(now->folder, now->world, "running", error);
    if (status == KILN_OK)
        status = kiln_run(now->world, now->until, &output, &end, &diagnosis, error);
    if (status == KILN_OK)
        status = kiln_run_folder_describe(now->folder, now->world, status_text[end], error);
    if (status == KILN_OK)
        say_end(now, end, &diagnosis);
    *code = status == KILN_OK && end == KILN_RUN_DONE ? KILN_EXIT_FINE : KILN_EXIT_FAILED;
    return status;
}

/* Why the run has failed, and what can still be done. Ends the progress. */
static void say_failure(job *now, const kiln_error *error)
{
    char text[1100], found[PATH_MAX];
    int passed;
    kiln_error_format(error, text, sizeof text);
    kiln_run_folder_log(now->folder, text);
    kiln_run_folder_describe(now->folder, now->world, "failed", NULL);
    bool kept = kiln_run_folder_find(now->context, now->folder_path, found, sizeof found, &passed,
                                     NULL) == KILN_OK &&
                found[0];
    need what = error->status == KILN_ERR_INPUT    ? NEED_MENDING
                : error->status == KILN_ERR_MEMORY ? NEED_MEMORY
                                                   : NEED_NOTHING;
    bool for_scripts = now->progress.kind == KILN_PROGRESS_JSON;
    kiln_progress_say(&now->progress, "end", "status", "failed", true);
    if (kept && for_scripts)
        say_text(now, "resume", "command", way_on(now, what, false));
    kiln_progress_end(&now->progress);
    kiln_complain(error);
    char *way = kept ? way_on(now, what, true) : NULL;
    if (way)
        fprintf(stderr, "kiln: %s\n", way);
    free(way);
}

/* No checkpoint is left to go on from. */
static void say_lost(const job *now)
{
    char *command = kiln_shell_run(now->arguments, now->folder_path, "", "--force");
    fprintf(stderr,
            "kiln: no checkpoint of this run can be read, so it cannot go on; its %zu frames, "
            "stats.csv and log.txt are still there (-o chooses another folder and keeps them)\n",
            kiln_run_folder_frames(now->folder_path));
    if (command)
        fprintf(stderr, "kiln: to begin anew, with the --set that run.json lists: %s\n", command);
    free(command);
}

static kiln_status run_scene(kiln_context *context, const kiln_arguments *arguments,
                             kiln_asked *asked, int *code, kiln_error *error)
{
    job now = {.context = context, .arguments = arguments, .asked = asked};
    if (kiln_arguments_has(arguments, "json") && kiln_arguments_has(arguments, "quiet"))
        return usage_error(&now, error, "--quiet and --json exclude each other");
    context->log = on_log;
    context->log_user = &now;
    kiln_status status = prepare(&now, error);
    if (status == KILN_OK) {
        kiln_progress_begin(&now.progress, progress_kind(arguments),
                            kiln_world_get_state(now.world)->clock.time, now.until);
        status = go(&now, code, error);
        if (status != KILN_OK)
            say_failure(&now, error);
        else
            kiln_progress_end(&now.progress);
        status = KILN_OK; /* all is said */
    } else if (now.lost) {
        *code = kiln_complain(error);
        say_lost(&now);
        status = KILN_OK;
    }
    context->log = NULL;
    kiln_run_folder_close(now.folder);
    kiln_world_destroy(now.world);
    kiln_checkpoint_scene_free(context, &now.kept);
    kiln_checkpoint_scene_free(context, &now.before);
    kiln_scene_file_destroy(now.file);
    return status;
}

static void print_details(FILE *out)
{
    fputs(
        "The folder gets run.pvd and frames/*.vtu (ParaView), surface/ with fine surfaces and\n"
        "obstacles, stats.csv, probes.csv, run.json, log.txt and the last two checkpoints.\n"
        " Ctrl-C or SIGTERM finishes the step and writes a checkpoint;\n"
        "a second one ends at once, and the last checkpoint stays valid. Exit codes: 0 the end\n"
        "was reached, 1 the run failed or was stopped, 2 wrong usage or a bad scene (also: an end\n"
        "before the time that a resumed run has reached).\n\n"
        "--resume goes on with the text and the --set that the run has had so far; with\n"
        "--changed, with the scene's file as it is now. --set is added to those of before; an\n"
        "empty one (--set path=) takes one of before away. In a run that goes on\n"
        "  stay        bodies: number, order, names, shapes, places, regions, mass, and the\n"
        "              velocities they began with; holds, loads, obstacles: number, order, names;\n"
        "              what holds and loads select, the shapes of obstacles, what has begun or\n"
        "              ended; plastic and remesh (method, space) once they are there; pairs\n"
        "              of bodies that probes look at\n"
        "  may change  all the rest: duration, step, integrator, solver, output, gravity,\n"
        "              numbers and functions of materials, motions, amounts, times that lie\n"
        "              ahead, friction, contact, sizes and quality of remeshing\n",
        out);
}

int kiln_command_run(int argc, char **argv)
{
    static const kiln_option options[] = {
        {"output", 'o', "DIR", "folder for the results (default: the scene's name with .run)"},
        {"resume", 0, NULL,
         "go on from the last checkpoint in the folder, to the same bits on one --isa"},
        {"changed", 0, NULL, "with --resume: with the scene's file as it is now, see below"},
        {"force", 0, NULL, "replace the run that is in the folder"},
        {"until", 0, "TIME", "end at this time in seconds (default: the scene's duration)"},
        {"set", 0, "PATH=VALUE", "change a value of the scene; may be given several times"},
        {"blas-threads", 0, "N",
         "threads inside the solver (default: 1, the same bits for any --threads)"},
        {"audit", 0, NULL,
         "check the whole mesh after each step, and with contact that no surfaces cross"},
        {"quiet", 'q', NULL, "print errors only"},
        {"json", 0, NULL, "one JSON object a line: every step, frame and checkpoint"}};
    static const kiln_usage usage = {
        .command = "run",
        .synopsis = "SCENE.lua|SCENE.json [-o DIR] [--resume [--changed] | --force] [--until TIME] "
                    "[--set path=value]...",
        .what = "Runs a scene: Kiln's (Lua) or PolyFEM's (JSON, docs/polyfem.md).",
        .example = "  kiln run jelly.lua\n  kiln run jelly.lua -o soft --set "
                   "'bodies[1].material.young=2e4'\n  kiln run jelly.lua --resume --until 10\n"
                   "  kiln run jelly.lua --resume --changed\n",
        .own = options,
        .own_count = sizeof options / sizeof options[0],
        .least_operands = 1,
        .most_operands = 1,
        .details = print_details};
    return kiln_command_frame_patient(&usage, argc, argv, run_scene);
}
