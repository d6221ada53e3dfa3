/* The scene that checkpoints keep: its text, and the settings a line each. */
#include "io/checkpoint.h"

#include <string.h>

kiln_status kiln_checkpoint_scene_keep(kiln_context *context, const kiln_scene_file *file,
                                       const char *const *sets, size_t set_count,
                                       kiln_checkpoint_scene *out, kiln_error *error)
{
    kiln_checkpoint_scene kept = {0};
    const char *text = kiln_scene_file_text(file, &kept.text_size);
    for (size_t i = 0; i < set_count; i++)
        kept.sets_size += strlen(sets[i]) + 1;
    kept.text = kiln_resize(context, NULL, 0, kept.text_size + 1);
    kept.sets = kiln_resize(context, NULL, 0, kept.sets_size + 1);
    if (!kept.text || !kept.sets) {
        size_t wanted = kept.text_size + kept.sets_size;
        kiln_checkpoint_scene_free(context, &kept);
        return kiln_fail_memory(error, wanted);
    }
    memcpy(kept.text, text, kept.text_size);
    kept.text[kept.text_size] = '\0';
    char *at = kept.sets;
    for (size_t i = 0; i < set_count; i++) {
        size_t length = strlen(sets[i]);
        memcpy(at, sets[i], length);
        at[length] = '\n';
        at += length + 1;
    }
    *at = '\0';
    *out = kept;
    return KILN_OK;
}

/* Ends the lines by zeros instead; returns how many there are, even past `most`. */
static size_t cut_lines(kiln_checkpoint_scene *scene, const char **lines, size_t most)
{
    size_t count = 0;
    for (size_t at = 0; at < scene->sets_size; count++) {
        char *end = memchr(scene->sets + at, '\n', scene->sets_size - at);
        if (count < most)
            lines[count] = scene->sets + at;
        if (!end)
            return count + 1;
        *end = '\0';
        at = (size_t)(end - scene->sets) + 1;
    }
    return count;
}

static void join_lines(kiln_checkpoint_scene *scene)
{
    for (size_t i = 0; i < scene->sets_size; i++)
        if (scene->sets[i] == '\0')
            scene->sets[i] = '\n';
}

enum { MOST_SETS = 1024 };

kiln_status kiln_checkpoint_scene_load(kiln_context *context, const char *path,
                                       kiln_checkpoint_scene *scene, kiln_scene_file **out,
                                       kiln_error *error)
{
    const char *sets[MOST_SETS];
    kiln_scene_options options = {.goes_on = true,
                                  .sets = sets,
                                  .set_count = cut_lines(scene, sets, MOST_SETS),
                                  .text = scene->text,
                                  .text_size = scene->text_size};
    kiln_status status =
        options.set_count > MOST_SETS
            ? kiln_fail(error, KILN_ERR_LIMIT, path, 0, -1,
                        "the checkpoint keeps %zu settings, at most %d can be applied",
                        options.set_count, MOST_SETS)
            : kiln_scene_file_load(context, path, &options, out, error);
    join_lines(scene);
    return status;
}

/* Whether the two set the same. */
static bool same_path(const char *a, const char *b)
{
    size_t size = strcspn(a, "=");
    return size == strcspn(b, "=") && memcmp(a, b, size) == 0;
}

static bool is_replaced(const char *set, const char *const *sets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (same_path(set, sets[i]))
            return true;
    return false;
}

/* `list` has `count` kept ones in a room of MOST_SETS; returns how many settings there are, even
 * past the room. */
static size_t merge_sets(const char **list, size_t count, const char *const *sets, size_t set_count)
{
    const char *kept[MOST_SETS];
    size_t left = 0;
    memcpy(kept, list, count * sizeof *kept);
    for (size_t i = 0; i < count; i++)
        if (!is_replaced(kept[i], sets, set_count))
            list[left++] = kept[i];
    for (size_t i = 0; i < set_count; i++) {
        const char *value = strchr(sets[i], '=');
        if (value && !value[1] && is_replaced(sets[i], kept, count))
            continue;
        if (left < MOST_SETS)
            list[left] = sets[i];
        left++;
    }
    return left;
}

kiln_status kiln_checkpoint_scene_change(kiln_context *context, const char *path,
                                         kiln_checkpoint_scene *kept, bool reread,
                                         const char *const *sets, size_t set_count,
                                         kiln_scene_file **file, kiln_checkpoint_scene *out,
                                         kiln_error *error)
{
    const char *list[MOST_SETS];
    size_t count = cut_lines(kept, list, MOST_SETS);
    if (count <= MOST_SETS)
        count = merge_sets(list, count, sets, set_count);
    kiln_scene_options options = {.goes_on = true,
                                  .sets = list,
                                  .set_count = count,
                                  .text = reread ? NULL : kept->text,
                                  .text_size = kept->text_size};
    kiln_status status =
        count > MOST_SETS ? kiln_fail(error, KILN_ERR_LIMIT, path, 0, -1,
                                      "more than %d settings, those of before included", MOST_SETS)
                          : kiln_scene_file_load(context, path, &options, file, error);
    if (status == KILN_OK)
        status = kiln_checkpoint_scene_keep(context, *file, list, count, out, error);
    join_lines(kept);
    return status;
}
