#include "io/run_folder.h"

#include "base/hash.h"
#include "io/format.h"
#include "io/json.h"
#include "io/run_tables.h"
#include "io/sink.h"
#include "io/source.h"
#include "io/tracers.h"
#include "io/vtu.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { NAME_SIZE = 96, KEPT_CHECKPOINTS = 2 };

typedef KILN_ARRAY_OF(long long)
number_list;

struct kiln_run_folder {
    kiln_context *context; /* borrowed */
    const kiln_run_about *about;
    char path[PATH_MAX];
    int log; /* file; -1: closed */
    kiln_run_tables tables;
    kiln_f64_array times;       /* of the frames */
    kiln_soup frame;            /* the last one; its memory serves the next */
    kiln_soup obstacles;        /* as they were written last */
    number_list obstacle_files; /* frames that they were written with, ascending */
    char last_frame[NAME_SIZE], last_checkpoint[NAME_SIZE];
};

static kiln_status fail(const char *path, const char *what, int code, kiln_error *error)
{
    return kiln_fail(error, KILN_ERR_IO, path, 0, -1, "%s: %s", what, strerror(code));
}

static kiln_status join(const char *folder, const char *name, char out[PATH_MAX], kiln_error *error)
{
    int length = snprintf(out, PATH_MAX, "%s/%s", folder, name);
    if (length < 0 || length >= PATH_MAX)
        return kiln_fail(error, KILN_ERR_INPUT, folder, 0, -1, "the path is too long");
    return KILN_OK;
}

/* Like mkdir -p. */
static kiln_status make_folder(const char *path, kiln_error *error)
{
    char part[PATH_MAX];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof part)
        return kiln_fail(error, KILN_ERR_INPUT, path, 0, -1, "is not a folder's name");
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != 0)
            continue;
        memcpy(part, path, i);
        part[i] = 0;
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return fail(part, "cannot make the folder", errno, error);
    }
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return kiln_fail(error, KILN_ERR_IO, path, 0, -1, "is not a folder");
    return KILN_OK;
}

/* The number in "<prefix>N<suffix>", -1 when the name is another. */
static long long numbered(const char *name, const char *prefix, const char *suffix)
{
    size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0 || name[length] < '0' || name[length] > '9')
        return -1;
    char *end;
    errno = 0;
    long long number = strtoll(name + length, &end, 10);
    return errno == 0 && strcmp(end, suffix) == 0 ? number : -1;
}

/* "x.kiln-PID-N", what a killed writer leaves (sink.h). */
static bool is_aside(const char *name)
{
    const char *at = strstr(name, ".kiln-");
    long pid, number;
    int used = 0;
    return at && sscanf(at, ".kiln-%ld-%ld%n", &pid, &number, &used) == 2 && at[used] == 0;
}

static long long frame_number(const char *name)
{
    return numbered(name, "frame-", ".vtu");
}
static bool is_frame(const char *name)
{
    return frame_number(name) >= 0;
}
static long long obstacles_number(const char *name)
{
    return numbered(name, "obstacles-", ".vtu");
}
/* That, or "BODY-N.ply" (and "obstacles-N.ply" of earlier versions). */
static long long surface_number(const char *name)
{
    const char *dash = strrchr(name, '-');
    long long number = dash && dash > name ? numbered(dash, "-", ".ply") : -1;
    number = number >= 0 ? number : numbered(name, "tracers-", ".vtp");
    return number >= 0 ? number : obstacles_number(name);
}
static bool is_surface(const char *name)
{
    return surface_number(name) >= 0;
}
static long long checkpoint_number(const char *name)
{
    return numbered(name, "checkpoint-", ".h5");
}
static bool is_checkpoint(const char *name)
{
    return checkpoint_number(name) >= 0;
}
static bool is_top(const char *name)
{
    static const char *const names[] = {"run.json", "run.pvd", "stats.csv", "probes.csv"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return is_checkpoint(name) || numbered(name, "scene-", ".lua") >= 0 ||
           numbered(name, "probes-", ".csv") >= 0;
}

/* Where files of a run may be, and which they are. */
static const struct {
    const char *folder;
    bool (*ours)(const char *name);
} places[] = {{".", is_top}, {"frames", is_frame}, {"surface", is_surface}};
enum { PLACE_COUNT = sizeof places / sizeof places[0] };

/* Counts what `wanted` finds in a folder and, if asked, removes it. A folder that is not there has
 * nothing. */
static kiln_status sweep(const char *folder, const char *sub, bool (*wanted)(const char *),
                         bool remove_them, size_t *count, kiln_error *error)
{
    char path[PATH_MAX], file[PATH_MAX];
    KILN_TRY(join(folder, sub, path, error));
    DIR *here = opendir(path);
    if (!here)
        return errno == ENOENT ? KILN_OK : fail(path, "cannot be looked into", errno, error);
    kiln_status status = KILN_OK;
    for (struct dirent *entry; status == KILN_OK && (entry = readdir(here));) {
        if (!wanted(entry->d_name))
            continue;
        ++*count;
        if (!remove_them)
            continue;
        status = join(path, entry->d_name, file, error);
        if (status == KILN_OK && unlink(file) != 0 && errno != ENOENT)
            status = fail(file, "cannot be removed", errno, error);
    }
    closedir(here);
    return status;
}

static kiln_status sweep_all(const char *path, bool remove_them, size_t *count, kiln_error *error)
{
    *count = 0;
    for (size_t i = 0; i < PLACE_COUNT; i++)
        KILN_TRY(sweep(path, places[i].folder, places[i].ours, remove_them, count, error));
    return KILN_OK;
}

static kiln_status sweep_asides(const char *path, kiln_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < PLACE_COUNT; i++)
        KILN_TRY(sweep(path, places[i].folder, is_aside, true, &count, error));
    return KILN_OK;
}

/* log.txt stays open, and locked, as long as the run: one process writes to a folder. */
static kiln_status open_log(kiln_run_folder *folder, kiln_error *error)
{
    char path[PATH_MAX];
    KILN_TRY(join(folder->path, "log.txt", path, error));
    KILN_TRY(kiln_append_open(path, 0, &folder->log, error));
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(folder->log, F_SETLK, &lock) != 0 && (errno == EACCES || errno == EAGAIN))
        return kiln_fail(error, KILN_ERR_IO, folder->path, 0, -1,
                         "another kiln is writing to this folder");
    return KILN_OK;
}

static kiln_status allocate(kiln_context *context, const char *path, const kiln_run_about *about,
                            kiln_run_folder **out, kiln_error *error)
{
    kiln_run_folder *folder = kiln_resize(context, NULL, 0, sizeof *folder);
    if (!folder)
        return kiln_fail_memory(error, sizeof *folder);
    memset(folder, 0, sizeof *folder);
    folder->context = context;
    folder->about = about;
    folder->log = -1;
    kiln_run_tables_init(&folder->tables, context);
    kiln_soup_init(&folder->frame, context);
    kiln_soup_init(&folder->obstacles, context);
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (length == 0 || length >= sizeof folder->path) {
        kiln_release(context, folder, sizeof *folder);
        return kiln_fail(error, KILN_ERR_INPUT, path, 0, -1, "is not a folder's name");
    }
    memcpy(folder->path, path, length);
    *out = folder;
    return KILN_OK;
}

void kiln_run_folder_close(kiln_run_folder *folder)
{
    if (!folder)
        return;
    kiln_run_tables_close(&folder->tables);
    if (folder->log >= 0)
        close(folder->log);
    kiln_array_free(folder->context, &folder->times);
    kiln_array_free(folder->context, &folder->obstacle_files);
    kiln_soup_free(&folder->frame);
    kiln_soup_free(&folder->obstacles);
    kiln_release(folder->context, folder, sizeof *folder);
}

static kiln_status make_places(const kiln_run_folder *folder, kiln_error *error)
{
    for (size_t i = 0; i < PLACE_COUNT; i++) {
        if (places[i].ours == is_surface)
            continue; /* when the first one is written */
        char path[PATH_MAX];
        KILN_TRY(join(folder->path, places[i].folder, path, error));
        KILN_TRY(make_folder(path, error));
    }
    return KILN_OK;
}

static kiln_status begin_new(kiln_run_folder *folder, bool force, kiln_error *error)
{
    size_t found;
    KILN_TRY(make_folder(folder->path, error));
    KILN_TRY(sweep_all(folder->path, false, &found, error));
    if (found > 0 && !force)
        return kiln_fail(error, KILN_ERR_INPUT, folder->path, 0, -1,
                         "holds a run already; --resume goes on with it, --force replaces it, -o "
                         "chooses another folder");
    KILN_TRY(open_log(folder, error));
    KILN_TRY(sweep_all(folder->path, true, &found, error));
    KILN_TRY(sweep_asides(folder->path, error));
    KILN_TRY(make_places(folder, error));
    return kiln_run_tables_create(&folder->tables, folder->path, error);
}

kiln_status kiln_run_folder_stats(kiln_run_folder *folder, const kiln_stats *stats,
                                  kiln_error *error)
{
    return kiln_run_tables_stats(&folder->tables, stats, error);
}

kiln_status kiln_run_folder_probes(kiln_run_folder *folder, kiln_world *world,
                                   const kiln_stats *stats, kiln_error *error)
{
    return kiln_run_tables_probes(&folder->tables, world, stats, error);
}

kiln_status kiln_run_folder_create(kiln_context *context, const char *path, bool force,
                                   const kiln_run_about *about, kiln_run_folder **out,
                                   kiln_error *error)
{
    kiln_run_folder *folder;
    KILN_TRY(allocate(context, path, about, &folder, error));
    kiln_status status = begin_new(folder, force, error);
    if (status == KILN_OK)
        *out = folder;
    else
        kiln_run_folder_close(folder);
    return status;
}

static int by_number_down(const void *a, const void *b)
{
    long long left = *(const long long *)a, right = *(const long long *)b;
    return left > right ? -1 : left < right;
}

/* Numbers of the files that have one, the highest first. */
static kiln_status list_numbers(kiln_context *context, const char *path,
                                long long (*number_of)(const char *name), number_list *found,
                                kiln_error *error)
{
    DIR *here = opendir(path);
    if (!here)
        return fail(path, "cannot be looked into", errno, error);
    kiln_status status = KILN_OK;
    for (struct dirent *entry; status == KILN_OK && (entry = readdir(here));) {
        long long number = number_of(entry->d_name);
        if (number >= 0)
            status = kiln_array_push(context, found, number, error);
    }
    closedir(here);
    if (found->count > 1)
        qsort(found->data, found->count, sizeof *found->data, by_number_down);
    return status;
}

kiln_status kiln_run_folder_find(kiln_context *context, const char *path, char *checkpoint,
                                 size_t size, int *passed, kiln_error *error)
{
    number_list numbers = {0};
    checkpoint[0] = 0;
    *passed = 0;
    kiln_status status = list_numbers(context, path, checkpoint_number, &numbers, error);
    for (size_t i = 0; i < numbers.count && status != KILN_ERR_MEMORY; i++) {
        kiln_checkpoint_scene scene;
        int length = snprintf(checkpoint, size, "%s/checkpoint-%06lld.h5", path, numbers.data[i]);
        if (length < 0 || (size_t)length >= size) {
            status = kiln_fail(error, KILN_ERR_INPUT, path, 0, -1, "the path is too long");
            break;
        }
        status = kiln_checkpoint_read_scene(context, checkpoint, &scene, error);
        if (status == KILN_OK)
            kiln_checkpoint_scene_free(context, &scene);
        if (status == KILN_OK || status == KILN_ERR_MEMORY)
            break;
        ++*passed;
    }
    kiln_array_free(context, &numbers);
    /* The last error stands when none was whole; without any there is none. */
    if (status != KILN_OK)
        checkpoint[0] = 0;
    return status;
}

size_t kiln_run_folder_frames(const char *path)
{
    size_t count = 0;
    return sweep(path, "frames", is_frame, false, &count, NULL) == KILN_OK ? count : 0;
}

/* Time and number of the frame in a line of our own run.pvd; false: it names none. */
static bool read_frame_row(kiln_text line, double *time, uint64_t *number)
{
    static const char file[] = "file=\"frames/frame-";
    char row[200];
    unsigned long long found;
    snprintf(row, sizeof row, "%.*s", (int)(line.size < 190 ? line.size : 190), line.data);
    const char *at = strstr(row, file);
    if (!at || sscanf(row, " <DataSet timestep=\"%lf\"", time) != 1 ||
        sscanf(at + sizeof file - 1, "%llu.vtu\"", &found) != 1)
        return false;
    *number = found;
    return true;
}

/* A frame that someone has removed is listed no more; one that is there must be. */
static kiln_status drop_missing(kiln_run_folder *folder, const char *list, kiln_error *error)
{
    for (size_t i = 0; i < folder->times.count; i++) {
        char name[40], path[PATH_MAX];
        snprintf(name, sizeof name, "frames/frame-%06zu.vtu", i);
        KILN_TRY(join(folder->path, name, path, error));
        bool exists = access(path, F_OK) == 0;
        if (exists && isnan(folder->times.data[i]))
            return kiln_fail(error, KILN_ERR_INPUT, list, 0, -1,
                             "does not name %s, which is there; it was changed since (without "
                             "such frames the run goes on, and lists those from here)",
                             name);
        if (!exists)
            folder->times.data[i] = NAN;
    }
    return KILN_OK;
}

/* Times of the first `count` frames, from our own run.pvd; NaN: there is none any more. */
static kiln_status read_times(kiln_run_folder *folder, uint64_t count, kiln_error *error)
{
    char path[PATH_MAX];
    KILN_TRY(join(folder->path, "run.pvd", path, error));
    KILN_TRY(kiln_array_reserve(folder->context, &folder->times, count, error));
    for (folder->times.count = 0; folder->times.count < count;)
        folder->times.data[folder->times.count++] = NAN;
    struct stat info;
    if (stat(path, &info) != 0 && errno == ENOENT)
        return drop_missing(folder, path, error);
    kiln_source source;
    KILN_TRY(kiln_source_open(&source, folder->context, path, error));
    kiln_text line;
    double time;
    for (uint64_t number; kiln_source_line(&source, &line);)
        if (read_frame_row(line, &time, &number) && number < count)
            folder->times.data[number] = time;
    kiln_source_close(&source);
    return drop_missing(folder, path, error);
}

#define OBSTACLES_FILE "surface/obstacles-%06llu.vtu"

static void put_dataset(kiln_sink *sink, double time, int part, const char *name, const char *file)
{
    kiln_sink_text(sink, "  <DataSet timestep=\"");
    kiln_sink_double(sink, time);
    kiln_sink_format(sink, "\" part=\"%d\" name=\"%s\" file=\"%s\"/>\n", part, name, file);
}

/* With each frame the obstacles as they were written last. */
static kiln_status write_pvd(const kiln_run_folder *folder, kiln_error *error)
{
    size_t next = 0; /* file of obstacles that is later than the frame */
    char path[PATH_MAX];
    KILN_TRY(join(folder->path, "run.pvd", path, error));
    kiln_sink sink;
    KILN_TRY(kiln_sink_open(&sink, folder->context, path, error));
    kiln_sink_text(&sink, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
                          "byte_order=\"LittleEndian\">\n <Collection>\n");
    for (size_t i = 0; i < folder->times.count; i++) {
        char file[NAME_SIZE];
        if (isnan(folder->times.data[i]))
            continue;
        snprintf(file, sizeof file, "frames/frame-%06zu.vtu", i);
        put_dataset(&sink, folder->times.data[i], 0, "bodies", file);
        while (next < folder->obstacle_files.count &&
               folder->obstacle_files.data[next] <= (long long)i)
            next++;
        if (next == 0)
            continue;
        snprintf(file, sizeof file, OBSTACLES_FILE,
                 (unsigned long long)folder->obstacle_files.data[next - 1]);
        put_dataset(&sink, folder->times.data[i], 1, "obstacles", file);
    }
    kiln_sink_text(&sink, " </Collection>\n</VTKFile>\n");
    return kiln_sink_commit(&sink, error);
}

/* Frames later than the checkpoint are written again; those of another ending must not stay. */
static kiln_status drop_frames(const kiln_run_folder *folder, uint64_t from, kiln_error *error)
{
    static const struct {
        const char *sub;
        long long (*number)(const char *name);
    } kinds[] = {{"frames", frame_number}, {"surface", surface_number}};
    for (size_t k = 0; k < 2; k++) {
        char path[PATH_MAX], file[PATH_MAX];
        KILN_TRY(join(folder->path, kinds[k].sub, path, error));
        DIR *here = opendir(path);
        kiln_status status = KILN_OK;
        for (struct dirent *entry; here && status == KILN_OK && (entry = readdir(here));) {
            long long number = kinds[k].number(entry->d_name);
            if (number < 0 || (uint64_t)number < from)
                continue;
            status = join(path, entry->d_name, file, error);
            if (status == KILN_OK && unlink(file) != 0)
                status = fail(file, "cannot be removed", errno, error);
        }
        if (here)
            closedir(here);
        KILN_TRY(status);
    }
    return KILN_OK;
}

/* The files of obstacles that are there, and what the last of them holds. */
static kiln_status find_obstacles(kiln_run_folder *folder, kiln_error *error)
{
    char path[PATH_MAX], name[NAME_SIZE];
    number_list *files = &folder->obstacle_files;
    struct stat info;
    KILN_TRY(join(folder->path, "surface", path, error));
    if (stat(path, &info) != 0)
        return KILN_OK;
    KILN_TRY(list_numbers(folder->context, path, obstacles_number, files, error));
    for (size_t i = 0; i < files->count / 2; i++) {
        long long number = files->data[i];
        files->data[i] = files->data[files->count - 1 - i];
        files->data[files->count - 1 - i] = number;
    }
    if (files->count == 0)
        return KILN_OK;
    snprintf(name, sizeof name, OBSTACLES_FILE, (unsigned long long)files->data[files->count - 1]);
    KILN_TRY(join(folder->path, name, path, error));
    return kiln_soup_read(folder->context, path, NULL, &folder->obstacles, error);
}

static kiln_status begin_again(kiln_run_folder *folder, const kiln_world_state *state,
                               kiln_error *error)
{
    KILN_TRY(open_log(folder, error));
    KILN_TRY(sweep_asides(folder->path, error));
    KILN_TRY(read_times(folder, state->frame, error));
    KILN_TRY(kiln_run_tables_resume(&folder->tables, folder->path, state->step, error));
    KILN_TRY(make_places(folder, error));
    KILN_TRY(drop_frames(folder, state->frame, error));
    KILN_TRY(find_obstacles(folder, error));
    return write_pvd(folder, error);
}

kiln_status kiln_run_folder_resume(kiln_context *context, const char *path,
                                   const kiln_world_state *state, const kiln_run_about *about,
                                   kiln_run_folder **out, kiln_error *error)
{
    kiln_run_folder *folder;
    KILN_TRY(allocate(context, path, about, &folder, error));
    kiln_status status = begin_again(folder, state, error);
    if (status == KILN_OK)
        *out = folder;
    else
        kiln_run_folder_close(folder);
    return status;
}

static bool same_surface(const kiln_soup *a, const kiln_soup *b)
{
    return a->points.count == b->points.count && a->triangles.count == b->triangles.count &&
           memcmp(a->points.data, b->points.data, a->points.count * sizeof *a->points.data) == 0 &&
           memcmp(a->triangles.data, b->triangles.data,
                  a->triangles.count * sizeof *a->triangles.data) == 0;
}

/* The path of a file in the folder of surfaces, which is made. */
static kiln_status join_surface(const kiln_run_folder *folder, const char *name,
                                char path[PATH_MAX], kiln_error *error)
{
    KILN_TRY(join(folder->path, "surface", path, error));
    KILN_TRY(make_folder(path, error));
    return join(folder->path, name, path, error);
}

/* Those that are where they were are not written again. What is written is taken from the soup. */
static kiln_status write_obstacles(kiln_run_folder *folder, uint64_t number, kiln_soup *soup,
                                   kiln_error *error)
{
    char path[PATH_MAX], name[NAME_SIZE];
    if (folder->obstacle_files.count > 0 && same_surface(soup, &folder->obstacles))
        return KILN_OK;
    snprintf(name, sizeof name, OBSTACLES_FILE, (unsigned long long)number);
    KILN_TRY(join_surface(folder, name, path, error));
    KILN_TRY(kiln_vtu_write(folder->context, path, KILN_ENCODING_BINARY, soup, error));
    KILN_TRY(kiln_array_push(folder->context, &folder->obstacle_files, (long long)number, error));
    kiln_soup_free(&folder->obstacles);
    folder->obstacles = *soup;
    kiln_soup_init(soup, folder->context);
    return KILN_OK;
}

/* The soup is freed. */
static kiln_status write_surface(kiln_run_folder *folder, const char *stem, uint64_t number,
                                 kiln_soup *soup, kiln_error *error)
{
    char path[PATH_MAX], name[NAME_SIZE];
    kiln_format_options options = {"ply", KILN_ENCODING_BINARY};
    snprintf(name, sizeof name, "surface/%s-%06llu.ply", stem, (unsigned long long)number);
    kiln_status status = join_surface(folder, name, path, error);
    if (status == KILN_OK)
        status = kiln_soup_write(folder->context, path, &options, soup, error);
    kiln_soup_free(soup);
    return status;
}

/* The body's name where it is one for a file too, and not that of the obstacles; the dot of the
 * others keeps them apart. */
static void name_surface(const kiln_scene *scene, size_t body, char stem[KILN_NAME_SIZE])
{
    const char *name = scene->bodies.data[body].name, *at = name;
    while (isalnum((unsigned char)*at) || *at == '_' || *at == '-')
        at++;
    if (*at || strcmp(name, "obstacles") == 0)
        snprintf(stem, KILN_NAME_SIZE, "body.%zu", body + 1);
    else
        snprintf(stem, KILN_NAME_SIZE, "%s", name);
}

static kiln_status write_surfaces(kiln_run_folder *folder, kiln_world *world, uint64_t number,
                                  kiln_error *error)
{
    const kiln_scene *scene = kiln_world_scene(world);
    char path[PATH_MAX], name[NAME_SIZE];
    kiln_soup soup;
    if (kiln_world_has_tracers(world)) {
        snprintf(name, sizeof name, "surface/tracers-%06llu.vtp", (unsigned long long)number);
        KILN_TRY(join_surface(folder, name, path, error));
        KILN_TRY(kiln_tracers_write(folder->context, path, world, error));
    }
    if (scene->output.obstacles && scene->obstacles.count > 0) {
        KILN_TRY(kiln_world_obstacle_surfaces(world, &soup, error));
        kiln_status status = write_obstacles(folder, number, &soup, error);
        kiln_soup_free(&soup);
        KILN_TRY(status);
    }
    for (size_t b = 0; b < scene->bodies.count; b++) {
        char stem[KILN_NAME_SIZE];
        KILN_TRY(kiln_world_surface(world, b, &soup, error));
        if (soup.triangles.count == 0) { /* none, or part of another body's */
            kiln_soup_free(&soup);
            continue;
        }
        name_surface(scene, b, stem);
        KILN_TRY(write_surface(folder, stem, number, &soup, error));
    }
    return KILN_OK;
}

kiln_status kiln_run_folder_frame(kiln_run_folder *folder, kiln_world *world, kiln_error *error)
{
    const kiln_world_state *state = kiln_world_get_state(world);
    char path[PATH_MAX], name[NAME_SIZE];
    snprintf(name, sizeof name, "frames/frame-%06llu.vtu", (unsigned long long)state->frame);
    KILN_TRY(join(folder->path, name, path, error));
    KILN_TRY(kiln_array_reserve(folder->context, &folder->times, folder->times.count + 1, error));
    KILN_TRY(kiln_world_refill_frame(world, &folder->frame, error));
    KILN_TRY(kiln_vtu_write(folder->context, path, KILN_ENCODING_BINARY, &folder->frame, error));
    KILN_TRY(write_surfaces(folder, world, state->frame, error));
    folder->times.data[folder->times.count++] = state->clock.time;
    kiln_status status = write_pvd(folder, error);
    if (status == KILN_OK)
        memcpy(folder->last_frame, name, sizeof name);
    else
        folder->times.count--;
    return status;
}

/* All up to number `last`: a killed run may have left more. One that stays does no harm. */
static void drop_checkpoints(const kiln_run_folder *folder, long long last)
{
    char file[PATH_MAX];
    DIR *here = opendir(folder->path);
    for (struct dirent *entry; here && (entry = readdir(here));) {
        long long number = checkpoint_number(entry->d_name);
        if (number >= 0 && number <= last &&
            join(folder->path, entry->d_name, file, NULL) == KILN_OK)
            unlink(file);
    }
    if (here)
        closedir(here);
}

/* The state names the next checkpoint, so this one is the number before. */
kiln_status kiln_run_folder_checkpoint(kiln_run_folder *folder, kiln_world *world,
                                       kiln_error *error)
{
    unsigned long long number = kiln_world_get_state(world)->checkpoint - 1;
    char path[PATH_MAX], name[NAME_SIZE];
    kiln_soup_free(&folder->frame); /* not both at a time */
    KILN_TRY(kiln_run_tables_sync(&folder->tables, error));
    snprintf(name, sizeof name, "checkpoint-%06llu.h5", number);
    KILN_TRY(join(folder->path, name, path, error));
    KILN_TRY(kiln_checkpoint_write(world, &folder->about->scene, path, error));
    memcpy(folder->last_checkpoint, name, sizeof name);
    drop_checkpoints(folder, (long long)number - KEPT_CHECKPOINTS);
    return KILN_OK;
}

void kiln_run_folder_log(kiln_run_folder *folder, const char *text)
{
    char line[1200];
    time_t now = time(NULL);
    struct tm parts;
    size_t used = 0;
    if (gmtime_r(&now, &parts))
        used = strftime(line, sizeof line, "%Y-%m-%dT%H:%M:%SZ ", &parts);
    used += (size_t)snprintf(line + used, 1100, "%.1000s\n", text);
    if (write(folder->log, line, used) < 0)
        return;
}

static void put_sets(kiln_json *json, const kiln_checkpoint_scene *scene)
{
    kiln_json_list(json, "sets");
    for (size_t at = 0; at < scene->sets_size;) {
        const char *line = scene->sets + at;
        const char *end = memchr(line, '\n', scene->sets_size - at);
        size_t length = end ? (size_t)(end - line) : scene->sets_size - at;
        kiln_json_text_part(json, NULL, line, length);
        at += length + 1;
    }
    kiln_json_end(json);
}

/* What the kernel calls the processor; empty where it does not say. */
static void processor_name(char *name, size_t size)
{
    char line[256];
    name[0] = 0;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && !name[0] && fgets(line, sizeof line, file)) {
        char *colon = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (!colon)
            continue;
        colon[strcspn(colon, "\n")] = 0;
        snprintf(name, size, "%s", colon + (colon[1] == ' ' ? 2 : 1));
    }
    if (file)
        fclose(file);
}

static void put_machine(kiln_json *json, const kiln_context *context)
{
    struct utsname system;
    char name[256], text[512] = "";
    if (uname(&system) == 0)
        snprintf(text, sizeof text, "%.80s %.80s %.80s", system.sysname, system.release,
                 system.machine);
    kiln_json_text(json, "system", text);
    processor_name(name, sizeof name);
    kiln_json_text(json, "processor", name);
    kiln_json_text(json, "instructions", kiln_isa_name(context->isa));
    kiln_json_text(json, "compiler", KILN_COMPILER);
    kiln_json_integer(json, "threads", context->threads);
    kiln_json_count(json, "seed", context->seed);
}

static void put_solver(kiln_json *json, kiln_world *world)
{
    const kiln_solid_options *solid = &kiln_world_scene(world)->solid;
    const char *backend = kiln_world_backend(world), *reason = kiln_world_backend_reason(world);
    kiln_json_text(json, "integrator", kiln_integrator_name(solid->integrator));
    kiln_json_text(json, "solver", solid->solver.backend ? solid->solver.backend : "auto");
    kiln_json_text(json, "solver_used", backend ? backend : "");
    kiln_json_text(json, "solver_reason", reason ? reason : "");
    kiln_json_integer(json, "blas_threads",
                      solid->solver.blas_threads > 0 ? solid->solver.blas_threads : 1);
}

/* What the numbers 1, 2, ... in frames ("body") and in surface/obstacles ("region") stand for. */
static void put_names(kiln_json *json, const kiln_scene *scene)
{
    kiln_json_list(json, "bodies");
    for (size_t i = 0; i < scene->bodies.count; i++)
        kiln_json_text(json, NULL, scene->bodies.data[i].name);
    kiln_json_end(json);
    kiln_json_list(json, "obstacles");
    for (size_t i = 0; i < scene->obstacles.count; i++)
        kiln_json_text(json, NULL, scene->obstacles.data[i].name);
    kiln_json_end(json);
}

kiln_status kiln_run_folder_describe(kiln_run_folder *folder, kiln_world *world, const char *status,
                                     kiln_error *error)
{
    const kiln_run_about *about = folder->about;
    const kiln_world_state *state = kiln_world_get_state(world);
    char path[PATH_MAX], hash[32];
    KILN_TRY(join(folder->path, "run.json", path, error));
    kiln_sink sink;
    KILN_TRY(kiln_sink_open(&sink, folder->context, path, error));
    kiln_json json = kiln_json_to_sink(&sink);
    kiln_json_object(&json, NULL);
    kiln_json_text(&json, "scene", about->name);
    kiln_json_text(&json, "file", about->file);
    snprintf(hash, sizeof hash, "%016llx",
             (unsigned long long)kiln_hash_bytes(0, about->scene.text, about->scene.text_size));
    kiln_json_text(&json, "text_hash", hash);
    put_sets(&json, &about->scene);
    kiln_json_text(&json, "version", kiln_version());
    put_machine(&json, folder->context);
    put_solver(&json, world);
    put_names(&json, kiln_world_scene(world));
    kiln_json_text(&json, "status", status);
    kiln_json_number(&json, "time", state->clock.time);
    kiln_json_count(&json, "steps", state->step > 0 ? state->step - 1 : 0);
    kiln_json_count(&json, "frames", state->frame);
    kiln_json_end(&json);
    return kiln_sink_commit(&sink, error);
}

kiln_status kiln_run_folder_keep_scene(kiln_run_folder *folder, const kiln_checkpoint_scene *scene,
                                       char *name, size_t size, kiln_error *error)
{
    char path[PATH_MAX];
    int number = 0;
    do {
        snprintf(name, size, "scene-%d.lua", ++number);
        KILN_TRY(join(folder->path, name, path, error));
    } while (access(path, F_OK) == 0);
    kiln_sink sink;
    KILN_TRY(kiln_sink_open(&sink, folder->context, path, error));
    kiln_sink_bytes(&sink, scene->text, scene->text_size);
    return kiln_sink_commit(&sink, error);
}

const char *kiln_run_folder_last_frame(const kiln_run_folder *folder)
{
    return folder->last_frame;
}

const char *kiln_run_folder_last_checkpoint(const kiln_run_folder *folder)
{
    return folder->last_checkpoint;
}
