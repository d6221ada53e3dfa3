#include "fuzz.h"
#include "io/scene.h"

#include <stdio.h>

/* Scenes may ask for meshes of any size; the machine that fuzzes has an end. */
enum { HEAP_LIMIT = 6 << 20 };

static void *resize_limited(void *user, void *block, size_t old_size, size_t new_size)
{
    size_t *live = user;
    if (new_size > old_size && *live + (new_size - old_size) > HEAP_LIMIT)
        return NULL;
    if (new_size == 0) {
        free(block);
        *live -= old_size;
        return NULL;
    }
    void *grown = realloc(block, new_size);
    if (grown)
        *live = *live - old_size + new_size;
    return grown;
}

static void call_functions(const kiln_scene *scene)
{
    kiln_circumstances at = {.time = 0.5, .material = {1, 2, 3}, .world = {4, 5, 6}};
    kiln_error error;
    double out[3];
    kiln_quantity_get(&scene->gravity, &at, out, 3, &error);
    for (size_t i = 0; i < scene->materials.count && i < 4; i++)
        kiln_quantity_get(&scene->materials.data[i].young, &at, out, 1, &error);
    for (size_t i = 0; i < scene->loads.count && i < 4; i++)
        kiln_quantity_get(&scene->loads.data[i].amount, &at, out,
                          scene->loads.data[i].kind == KILN_LOAD_PRESSURE ? 1 : 3, &error);
}

/* A first line "--set path=value" is a setting, the rest is the scene. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t live = 0;
    kiln_context_options options = kiln_context_default_options();
    options.threads = 1;
    options.allocator = (kiln_allocator){resize_limited, &live};
    kiln_context *context = NULL;
    if (kiln_context_create(&options, &context, NULL) != KILN_OK)
        abort();
    char set[200];
    const char *sets[1] = {set + 6};
    const uint8_t *line = memchr(data, '\n', size);
    size_t length = line ? (size_t)(line - data) : 0;
    bool has_set = length >= 6 && length < sizeof set && memcmp(data, "--set ", 6) == 0;
    if (has_set) {
        memcpy(set, data, length);
        set[length] = 0;
    }
    kiln_scene_options scene = {.text = (const char *)data,
                                .text_size = size,
                                .sets = sets,
                                .set_count = has_set,
                                .memory = 4 << 20,
                                .instructions = 200000};
    kiln_scene_file *file = NULL;
    kiln_error error = {0};
    if (kiln_scene_file_load(context, "fuzz.lua", &scene, &file, &error) == KILN_OK)
        call_functions(kiln_scene_file_scene(file));
    else if (file || !error.message[0])
        abort();
    kiln_scene_file_destroy(file);
    kiln_context_destroy(context);
    if (live != 0)
        abort();
    return 0;
}
