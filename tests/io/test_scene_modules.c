/* Settings of a module that nothing but its schema makes known: in a scene, in messages, in the
 * reference. */
#include "fixtures.h"
#include "scene_texts.h"

#include <string.h>

typedef struct lull {
    double from, until; /* s */
} lull;

typedef struct wind {
    kiln_said said;
    kiln_quantity velocity;
    double drag;
    int gusts;
    kiln_picks where;
    lull lull;
} wind;

static void start_lull(void *settings)
{
    *(lull *)settings = (lull){.until = INFINITY};
}

static kiln_status finish_lull(void *settings, const kiln_given *given, kiln_error *error)
{
    (void)given;
    const lull *l = settings;
    return l->until > l->from
               ? KILN_OK
               : kiln_fail_setting(error, "till", "must be after from, got %g", l->until);
}

static const kiln_schema_row lull_rows[] = {
    {"from", KILN_VALUE_NUMBER, offsetof(lull, from), KILN_NOT_NEGATIVE, "s", NULL,
     .meaning = "begins"},
    {"till", KILN_VALUE_NUMBER, offsetof(lull, until), KILN_POSITIVE, "s", "never",
     .meaning = "ends"},
};
static const kiln_schema lull_schema = {
    .name = "wind.lull",
    .about = "When there is none.",
    KILN_SCHEMA_ROWS(lull_rows),
    .size = sizeof(lull),
    .start = start_lull,
    .finish = finish_lull,
};

static void start_wind(void *settings)
{
    wind *w = settings;
    *w = (wind){.drag = 0.5};
    start_lull(&w->lull);
}

static const kiln_schema_row wind_rows[] = {
    {"velocity", KILN_VALUE_FIELD, offsetof(wind, velocity), KILN_ANY_NUMBER, "m/s", "",
     .meaning = "of the air", .signature = KILN_OF_TIME_AND_WORLD},
    {"drag", KILN_VALUE_NUMBER, offsetof(wind, drag), KILN_WITHIN(0, 2), NULL, NULL,
     .meaning = "coefficient"},
    {"gusts", KILN_VALUE_WHOLE, offsetof(wind, gusts), KILN_WITHIN(0, 9), NULL, NULL,
     .meaning = "how many"},
    {"where", KILN_VALUE_SELECTION, offsetof(wind, where), .preset = "everything",
     .meaning = "the faces"},
    {"lull", KILN_VALUE_TABLE, offsetof(wind, lull), .schema = &lull_schema, .preset = "none",
     .meaning = "when there is none"},
};
static const kiln_schema wind_schema = {
    .name = "wind",
    .about = "Air that pushes surfaces.",
    KILN_SCHEMA_ROWS(wind_rows),
    .size = sizeof(wind),
    .start = start_wind,
    .has_said = true,
};
static const kiln_module wind_module = {.name = "wind", .schema = &wind_schema};
static const kiln_module *const modules[] = {&wind_module, NULL};

#define SCENE_WITH(keys)                                                                           \
    "local jelly = material { young = 1 }\n"                                                       \
    "return scene { duration = 1,\n" keys ",\n"                                                    \
    "bodies = { body { name = 'cube', shape = shape.box { n = 1 }, material = jelly } } }\n"

static kiln_status read_text(kiln_context *context, const char *text, const char *set,
                             kiln_scene_file **file, kiln_error *error)
{
    kiln_scene_options options = {.text = text,
                                  .text_size = strlen(text),
                                  .sets = &set,
                                  .set_count = set != NULL,
                                  .modules = modules};
    *error = (kiln_error){0};
    return kiln_scene_file_load(context, "windy.lua", &options, file, error);
}

static const wind *wind_of(const kiln_scene_file *file)
{
    return kiln_scene_settings(kiln_scene_file_scene(file), &wind_schema);
}

static const char windy[] =
    SCENE_WITH("wind = wind { gusts = 3, lull = { from = 2, till = 3 },\n"
               "velocity = function(t, x) return t, x.x, 0 end,\n"
               "where = select.body { name = 'cube' } - select.corner {} }");

START_TEST(all_of_it)
{
    kiln_context *context = kiln_test_context(1);
    kiln_scene_file *file;
    kiln_error error;
    ck_assert_msg(read_text(context, windy, NULL, &file, &error) == KILN_OK, "%s", error.message);
    const wind *w = wind_of(file);
    ck_assert_ptr_nonnull(w);
    ck_assert(w->drag == 0.5 && w->gusts == 3 && w->lull.from == 2 && w->lull.until == 3);
    ck_assert_uint_eq(w->where.count, 3);
    ck_assert_str_eq(w->said.path, "wind");
    ck_assert_int_eq(w->said.line, 3);
    kiln_vec3 v = vector_at(&w->velocity, &somewhere);
    ck_assert(v.x == 2 && v.y == 6 && v.z == 0);
    kiln_scene_file_destroy(file);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(little_of_it)
{
    kiln_context *context = kiln_test_context(1);
    kiln_scene_file *file;
    kiln_error error;
    const char *still = SCENE_WITH("gravity = {0, 0, -1}");
    ck_assert_int_eq(read_text(context, still, NULL, &file, &error), KILN_OK);
    ck_assert_ptr_null(wind_of(file));
    kiln_scene_file_destroy(file);

    const char *set = "wind={velocity={1,2,3}}";
    ck_assert_msg(read_text(context, still, set, &file, &error) == KILN_OK, "%s", error.message);
    const wind *w = wind_of(file);
    ck_assert(w && w->velocity.constant[1] == 2 && w->drag == 0.5 && isinf(w->lull.until));
    kiln_scene_file_destroy(file);
    kiln_context_destroy(context);
}
END_TEST

static const struct {
    const char *text, *set;
    int line;
    const char *message;
} bad[] = {
    {SCENE_WITH("wind = wind {}"), NULL, 3, "wind.velocity: must be given: of the air"},
    {SCENE_WITH("wind = 5"), NULL, 2, "wind: must be a table wind { velocity = ..., ... }, got 5"},
    {SCENE_WITH("wind = contact {}"), NULL, 2,
     "wind: must be a table wind { velocity = ..., ... }, got a contact"},
    {SCENE_WITH("contact = wind {}"), NULL, 2,
     "contact: must be true, false or a table contact { bodies = ..., ... }, got a wind"},
    {SCENE_WITH("wnd = wind {}"), NULL, 2, "wnd: unknown key; did you mean 'wind'?"},
    {SCENE_WITH("\n\nwind = wind { velocity = {0, 0, 1},\ndrg = 1 }"), NULL, 5,
     "wind.drg: unknown key; did you mean 'drag'?"},
    {SCENE_WITH("wind = { velocity = {0, 0, 1}, drag = 3 }"), NULL, 2,
     "wind.drag: must be from 0 to 2, got 3"},
    {SCENE_WITH("wind = { velocity = {0, 0, 1}, lull = { from = 3, till = 2 } }"), NULL, 2,
     "wind.lull.till: must be after from, got 2"},
    {SCENE_WITH("wind = { velocity = {0, 0, 1}, lull = body {} }"), NULL, 2,
     "wind.lull: must be a table { from = ..., ... }, got a body"},
    {SCENE_WITH("wind = { velocity = {0, 0, 1}, where = select.body { name = 'cub' } }"), NULL, 3,
     "wind.where.name: there is no body \"cub\"; did you mean 'cube'?"},
    {SCENE_WITH("wind = { velocity = {0, 0, 1} }"), "wind.drag=-1", 2,
     "wind.drag: must be from 0 to 2, got -1 (by --set)"},
};

START_TEST(what_is_wrong_is_said)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_scene_file *file;
    kiln_error error;
    ck_assert_int_eq(read_text(context, bad[_i].text, bad[_i].set, &file, &error), KILN_ERR_INPUT);
    ck_assert_str_eq(error.message, bad[_i].message);
    ck_assert_msg(error.line == bad[_i].line, "line %lld: %s", error.line, error.message);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_bytes, 0);
}
END_TEST

START_TEST(functions_are_tried)
{
    kiln_context *context = kiln_test_context(1);
    kiln_scene_file *file;
    kiln_error error;
    const char *text = SCENE_WITH("wind = { velocity = function(t) return 1 / (1 - t), 0, 0 end }");
    ck_assert_int_eq(read_text(context, text, NULL, &file, &error), KILN_OK);
    ck_assert_int_eq(kiln_scene_try(kiln_scene_file_scene(file), &error), KILN_ERR_INPUT);
    ck_assert_msg(strstr(error.message, "wind.velocity: the function must return three finite"),
                  "%s", error.message);
    kiln_scene_file_destroy(file);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(the_reference_has_it)
{
    kiln_context *context = kiln_test_context(1);
    folder dir = make_folder();
    char path[160];
    in_folder(&dir, "scene.md", path);
    ck_assert_int_eq(kiln_scene_write_reference(context, modules, path, NULL), KILN_OK);
    size_t size;
    char *text = file_bytes(path, &size);
    text[size - 1] = 0;
    static const char *const wanted[] = {
        "| `wind` | table [wind](#wind) |  | none | Air that pushes surfaces. |\n",
        "\n## wind\n\nAir that pushes surfaces.\n",
        "| `velocity` | {x, y, z} or f(t, x) | m/s | **must be given** | of the air |\n",
        "| `drag` | number, from 0 to 2 |  | 0.5 | coefficient |\n",
        "| `lull` | table [wind.lull](#windlull) |  | none | when there is none |\n",
        "\n### wind.lull\n\nWhen there is none.\n",
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        ck_assert_msg(strstr(text, wanted[i]) != NULL, "no %s", wanted[i]);
    free(text);
    remove_folder(&dir);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(allocations_may_fail)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_scene_file *file = NULL;
    int64_t before = heap.live_bytes;
    kiln_status status = KILN_ERR_MEMORY;
    for (uint64_t fail = 1; status != KILN_OK; fail++) {
        kiln_error error;
        heap.calls = 0;
        heap.fail_at = fail;
        status = read_text(context, windy, NULL, &file, &error);
        heap.fail_at = 0;
        ck_assert_msg(status == KILN_OK || status == KILN_ERR_MEMORY, "allocation %llu: %s",
                      (unsigned long long)fail, error.message);
        ck_assert(status == KILN_OK || heap.live_bytes == before);
    }
    kiln_scene_file_destroy(file);
    ck_assert_int_eq(heap.live_bytes, before);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("settings of modules");
    TCase *reading = kiln_test_case(suite, "reading");
    tcase_add_test(reading, all_of_it);
    tcase_add_test(reading, little_of_it);
    tcase_add_loop_test(reading, what_is_wrong_is_said, 0, sizeof bad / sizeof bad[0]);
    tcase_add_test(reading, functions_are_tried);
    tcase_add_test(reading, the_reference_has_it);
    tcase_add_test(reading, allocations_may_fail);
    return suite;
}
