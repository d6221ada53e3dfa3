#include "app/film_list.h"

#include "io/source.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { MOST_ATTRIBUTES = 16 };

bool kiln_film_is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* The folder that 'kiln run' makes of a scene of that name, here or beside it. */
static bool find_run(const char *path, char run[1100])
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    size_t stem = dot && dot > name ? (size_t)(dot - path) : strlen(path);
    snprintf(run, 1100, "%.*s.run", stem < 1000 ? (int)stem : 1000, path);
    if (kiln_film_is_folder(run))
        return true;
    snprintf(run, 1100, "%.*s.run", stem < 1000 ? (int)(stem - (size_t)(name - path)) : 0, name);
    return kiln_film_is_folder(run);
}

kiln_status kiln_film_check_operand(const char *path, kiln_error *error)
{
    struct stat about;
    char run[1100];
    size_t length = strlen(path);
    bool scene = length > 4 && strcmp(path + length - 4, ".lua") == 0;
    bool missing = stat(path, &about) != 0;
    if (!missing && !scene)
        return KILN_OK;
    const char *what = missing ? "there is no such file or folder" : "is a scene, not a run";
    if (find_run(path, run))
        return kiln_fail(error, KILN_ERR_INPUT, path, 0, -1, "%s; did you mean '%.380s'?", what,
                         run);
    return kiln_fail(error, KILN_ERR_INPUT, path, 0, -1,
                     "%s; give the folder that 'kiln run SCENE.lua' has written (SCENE.run, or "
                     "what -o named), or a file",
                     what);
}

static kiln_status join(kiln_film_list *list, const char *folder, kiln_text name, const char **out,
                        kiln_error *error)
{
    bool absolute = name.size > 0 && name.data[0] == '/';
    size_t size = (absolute ? 0 : strlen(folder) + 1) + name.size + 1;
    char *text = kiln_arena_alloc(&list->strings, size);
    if (!text)
        return kiln_fail_memory(error, size);
    snprintf(text, size, "%s%s%.*s", absolute ? "" : folder, absolute ? "" : "/", (int)name.size,
             name.data);
    *out = text;
    return KILN_OK;
}

typedef struct attribute {
    kiln_text name, value;
} attribute;

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == ':' || c == '.';
}

static kiln_text take_name(kiln_source *source)
{
    kiln_text name = {source->at, 0};
    while (source->at < source->end && is_name(*source->at))
        source->at++;
    name.size = (size_t)(source->at - name.data);
    return name;
}

/* What is between the name of a tag and its end. */
static kiln_status take_attributes(kiln_source *source, attribute *list, int *count,
                                   kiln_error *error)
{
    for (*count = 0;; ++*count) {
        if (!kiln_source_skip_space(source))
            return kiln_source_fail(source, error, "the file ends inside a tag");
        if (*source->at == '>' || *source->at == '/' || *source->at == '?')
            return KILN_OK;
        kiln_text name = take_name(source), value;
        bool fine = name.size > 0 && kiln_source_skip_space(source) && *source->at == '=';
        if (fine)
            source->at++;
        fine =
            fine && kiln_source_skip_space(source) && (*source->at == '"' || *source->at == '\'');
        if (!fine)
            return kiln_source_fail(source, error, "expected name=\"value\"");
        char quote = *source->at++;
        const char *end = memchr(source->at, quote, kiln_source_left(source));
        if (!end)
            return kiln_source_fail(source, error, "a value has no end");
        value = (kiln_text){source->at, (size_t)(end - source->at)};
        source->at = end + 1;
        if (*count == MOST_ATTRIBUTES)
            return kiln_source_fail(source, error, "more than %d attributes", (int)MOST_ATTRIBUTES);
        list[*count] = (attribute){name, value};
    }
}

static const kiln_text *find_attribute(const attribute *list, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (kiln_text_is(list[i].name, name))
            return &list[i].value;
    return NULL;
}

static kiln_status take_dataset(kiln_source *source, const char *tag, const attribute *list,
                                int count, const char *folder, kiln_film_list *out,
                                kiln_error *error)
{
    const kiln_text *time = find_attribute(list, count, "timestep");
    const kiln_text *file = find_attribute(list, count, "file");
    const kiln_text *part = find_attribute(list, count, "part");
    if (part && !kiln_text_is(*part, "0"))
        return KILN_OK; /* obstacles, which are found beside the frames */
    if (!time || !file || file->size == 0)
        return kiln_source_fail_at(source, tag, error, "a DataSet needs timestep and file");
    char number[64], *end;
    snprintf(number, sizeof number, "%.*s", time->size < 60 ? (int)time->size : 60, time->data);
    kiln_film_frame frame = {.time = strtod(number, &end)};
    if (end == number || *end || !isfinite(frame.time))
        return kiln_source_fail_at(source, tag, error, "timestep must be a number, got '%s'",
                                   number);
    KILN_TRY(join(out, folder, *file, &frame.path, error));
    return kiln_array_push(source->context, &out->frames, frame, error);
}

static kiln_status read_tags(kiln_source *source, const char *folder, kiln_film_list *out,
                             kiln_error *error)
{
    bool collection = false;
    while ((source->at = memchr(source->at, '<', kiln_source_left(source)))) {
        const char *tag = source->at++;
        if (kiln_source_left(source) >= 3 && memcmp(source->at, "!--", 3) == 0) {
            while (kiln_source_left(source) >= 3 && memcmp(source->at, "-->", 3) != 0)
                source->at++;
            continue;
        }
        bool opens = kiln_source_left(source) > 0 && is_name(*source->at);
        if (!opens && kiln_source_left(source) > 0)
            source->at++; /* the slash or question mark before the name */
        kiln_text name = take_name(source);
        attribute list[MOST_ATTRIBUTES];
        int count;
        KILN_TRY(take_attributes(source, list, &count, error));
        collection |= kiln_text_is(name, "Collection");
        if (opens && kiln_text_is(name, "DataSet"))
            KILN_TRY(take_dataset(source, tag, list, count, folder, out, error));
    }
    source->at = source->end;
    if (!collection)
        return kiln_source_fail(source, error, "is no ParaView collection");
    if (out->frames.count == 0)
        return kiln_fail(error, KILN_ERR_INPUT, source->name, 0, -1, "lists no frames yet");
    return KILN_OK;
}

/* The digits before the ending of a file's name, as a number; -1: none. */
static long number_of(const char *path, const char *ending)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name), tail = strlen(ending);
    if (length <= tail || strcmp(name + length - tail, ending) != 0)
        return -1;
    const char *end = name + length - tail, *at = end;
    while (at > name && isdigit((unsigned char)at[-1]))
        at--;
    return at == end || end - at > 9 ? -1 : strtol(at, NULL, 10);
}

static bool is_obstacles(const char *name)
{
    return strncmp(name, "obstacles", 9) == 0;
}

static kiln_status add_surface(kiln_film_list *list, kiln_film_frame *frame, const char *folder,
                               const char *name, kiln_error *error)
{
    kiln_film_surface *made = kiln_arena_alloc(&list->strings, sizeof *made);
    if (!made)
        return kiln_fail_memory(error, sizeof *made);
    KILN_TRY(join(list, folder, (kiln_text){name, strlen(name)}, &made->path, error));
    kiln_film_surface **at = &frame->surfaces;
    while (*at && strcmp((*at)->path, made->path) < 0)
        at = &(*at)->next;
    made->next = *at;
    *at = made;
    return KILN_OK;
}

static kiln_status find_surfaces(const char *folder, kiln_film_list *out, kiln_error *error)
{
    char surface[1024];
    snprintf(surface, sizeof surface, "%.1000s/surface", folder);
    DIR *all = opendir(surface);
    kiln_status status = KILN_OK;
    for (struct dirent *one; status == KILN_OK && all && (one = readdir(all));) {
        long number = is_obstacles(one->d_name) ? -1 : number_of(one->d_name, ".ply");
        for (size_t i = 0; number >= 0 && status == KILN_OK && i < out->frames.count; i++) {
            long frame = number_of(out->frames.data[i].path, ".vtu");
            if (number == (frame < 0 ? (long)i : frame))
                status = add_surface(out, &out->frames.data[i], surface, one->d_name, error);
        }
    }
    if (all)
        closedir(all);
    return status;
}

static kiln_status find_obstacles(kiln_context *context, const char *folder, kiln_film_list *out,
                                  kiln_error *error)
{
    char surface[1024];
    snprintf(surface, sizeof surface, "%.1000s/surface", folder);
    DIR *all = opendir(surface);
    long *best = kiln_resize(context, NULL, 0, out->frames.count * sizeof *best);
    kiln_status status = best ? KILN_OK : kiln_fail_memory(error, out->frames.count * sizeof *best);
    for (size_t i = 0; best && i < out->frames.count; i++)
        best[i] = -2;
    for (struct dirent *one; status == KILN_OK && all && (one = readdir(all));) {
        size_t length = strlen(one->d_name);
        const char *ending = length > 4 ? one->d_name + length - 4 : "";
        bool named = is_obstacles(one->d_name) &&
                     (strcmp(ending, ".vtu") == 0 || strcmp(ending, ".ply") == 0);
        long number = named ? number_of(one->d_name, ending) : -2;
        const char *path = NULL;
        for (size_t i = 0; named && status == KILN_OK && i < out->frames.count; i++) {
            long frame = number_of(out->frames.data[i].path, ".vtu");
            if (number <= best[i] || number > (frame < 0 ? (long)i : frame))
                continue;
            if (!path)
                status = join(out, surface, (kiln_text){one->d_name, length}, &path, error);
            out->frames.data[i].obstacles = path;
            best[i] = number;
        }
    }
    if (all)
        closedir(all);
    if (best)
        kiln_release(context, best, out->frames.count * sizeof *best);
    return status;
}

kiln_status kiln_film_list_read(kiln_context *context, const char *folder, kiln_film_list *out,
                                kiln_error *error)
{
    *out = (kiln_film_list){0};
    kiln_arena_init(&out->strings, context);
    const char *path = NULL;
    kiln_source source;
    kiln_status status = join(out, folder, (kiln_text){"run.pvd", 7}, &path, error);
    struct stat about;
    if (status == KILN_OK && stat(path, &about) != 0)
        status = kiln_fail(
            error, KILN_ERR_INPUT, folder, 0, -1,
            "is no folder of a run: there is no run.pvd in it; give the folder that 'kiln "
            "run SCENE.lua' has written (SCENE.run, or what -o named)");
    if (status == KILN_OK)
        status = kiln_source_open(&source, context, path, error);
    if (status == KILN_OK) {
        status = read_tags(&source, folder, out, error);
        kiln_source_close(&source);
    }
    if (status == KILN_OK)
        status = find_obstacles(context, folder, out, error);
    if (status == KILN_OK)
        status = find_surfaces(folder, out, error);
    if (status != KILN_OK)
        kiln_film_list_free(out);
    return status;
}

void kiln_film_list_free(kiln_film_list *list)
{
    if (list->strings.context)
        kiln_array_free(list->strings.context, &list->frames);
    kiln_arena_destroy(&list->strings);
}
