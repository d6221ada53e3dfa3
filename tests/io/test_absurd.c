/* Absurd scenes: every key that a scene may have, set to every absurd value, one at a time, then
 * run for two steps. Each must end soon: done, given up, or refused with a message that names the
 * key; and the sanitizers have nothing to say. `make test` takes a sample, KILN_SOAK all. */
#include "fixture.h"
#include "io/scene.h"
#include "io/scene_schema.h"
#include "sim/run.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of everything there is one, near enough to act on the body. */
static const char base[] =
    "local m = material { young = 1e5, plastic = plastic { yield_stress = 1e3, rate = 1 } }\n"
    "return scene { duration = 0.03, gravity = {0, 0, -9.81},\n"
    " step = { dt = 0.01, newton = {}, solver = {} }, output = { frame = 0.01 },\n"
    " contact = { thickness = 0.02 }, remesh = { method = METHOD },\n"
    " bodies = { body { shape = shape.box { n = 1 }, material = m, at = {0, 0, 0},\n"
    "                   turn = { axis = {0, 0, 1}, degrees = 10 }, velocity = {0, 0, -1} },\n"
    "            body { shape = shape.box { n = 1 }, material = m, at = {0, 0, 1.05} } },\n"
    " holds = { hold { body = 'body1', where = select.half_space { point = {0, 0, 0.01},\n"
    "                  normal = {0, 0, -1} }, motion = motion.translate { shift = {0, 0, 0} } },\n"
    "           hold { body = 'body2', where = select.nearest { to = {0, 0, 3} },\n"
    "                  motion = motion.rotate { axis = {0, 0, 1}, angle = 0 } } },\n"
    " loads = { load.force { amount = {0, 0, 0.1} }, load.traction { amount = {0, 0, 0.1} },\n"
    "           load.pressure { amount = 0.1 }, load.body { amount = {0, 0, 0.1} } },\n"
    " obstacles = { obstacle.plane { point = {0, 0, -0.01}, motion = motion.translate { shift = "
    "{0, 0, 0} } },\n"
    "               obstacle.sphere { centre = {0, 0, 3}, radius = 0.5 },\n"
    "               obstacle.cylinder { from = {3, 0, 0}, to = {3, 0, 1}, radius = 0.5 },\n"
    "               obstacle.capsule { from = {5, 0, 0}, to = {5, 0, 1}, radius = 0.5 },\n"
    "               obstacle.box { from = {7, 0, 0}, to = {8, 1, 1} },\n"
    "               obstacle.cone { from = {9, 0, 0}, to = {9, 0, 1}, radius = 0.5 },\n"
    "               obstacle.torus { centre = {12, 0, 0}, radius = 1, tube = 0.2 },\n"
    "               obstacle.mesh { shape = shape.box { n = 1 }, at = {15, 0, 0} } } }\n";

static const struct {
    const char *path;
    const kiln_schema *schema;
} places[] = {
    {"", &kiln_scene_file_schema},
    {"bodies[1]", &kiln_body_schema},
    {"bodies[1].material", &kiln_material_schema},
    {"bodies[1].turn", &kiln_turn_schema},
    {"holds[1]", &kiln_hold_schema},
    {"holds[1].where", &kiln_select_schemas[KILN_SELECT_HALF_SPACE]},
    {"holds[1].motion", &kiln_motion_schemas[KILN_MOTION_TRANSLATE]},
    {"holds[2].where", &kiln_select_schemas[KILN_SELECT_NEAREST]},
    {"holds[2].motion", &kiln_motion_schemas[KILN_MOTION_ROTATE]},
    {"loads[1]", &kiln_load_schemas[KILN_LOAD_FORCE]},
    {"loads[2]", &kiln_load_schemas[KILN_LOAD_TRACTION]},
    {"loads[3]", &kiln_load_schemas[KILN_LOAD_PRESSURE]},
    {"loads[4]", &kiln_load_schemas[KILN_LOAD_BODY]},
    {"obstacles[1]", &kiln_obstacle_schemas[KILN_OBSTACLE_PLANE]},
    {"obstacles[1].motion", &kiln_motion_schemas[KILN_MOTION_TRANSLATE]},
    {"obstacles[2]", &kiln_obstacle_schemas[KILN_OBSTACLE_SPHERE]},
    {"obstacles[3]", &kiln_obstacle_schemas[KILN_OBSTACLE_CYLINDER]},
    {"obstacles[4]", &kiln_obstacle_schemas[KILN_OBSTACLE_CAPSULE]},
    {"obstacles[5]", &kiln_obstacle_schemas[KILN_OBSTACLE_BOX]},
    {"obstacles[6]", &kiln_obstacle_schemas[KILN_OBSTACLE_CONE]},
    {"obstacles[7]", &kiln_obstacle_schemas[KILN_OBSTACLE_TORUS]},
    {"obstacles[8]", &kiln_obstacle_schemas[KILN_OBSTACLE_MESH]},
};

static const char *const numbers[] = {
    "0",           "-1",    "1e308", "-1e308", "1e-308", "-1e-308", "5e-324",
    "1e30",        "-1e30", "1e29",  "1e-29",  "1e20",   "1e-18",   "9007199254740993",
    "-2147483649", "1e19",  "0/0",   "1/0",    "-1/0",   "0.5",     "1e6",
    "''",          "'abc'", "true",  "{}",     "{1}",    "print",   "nil"};
static const char *const vectors[] = {"{0,0,0}",
                                      "{1e308,1e308,1e308}",
                                      "{0,0,-1e308}",
                                      "{1e-308,0,0}",
                                      "{1e30,-1e30,1e30}",
                                      "{1e29,0,0}",
                                      "{0,0,1e20}",
                                      "{0,0,1e-20}",
                                      "{0/0,0,0}",
                                      "{0,1/0,0}",
                                      "{1,2}",
                                      "{1,2,3,4}",
                                      "{'a','b','c'}",
                                      "5",
                                      "''",
                                      "{0,0,{}}",
                                      "true"};
static const char *const functions[] = {"function() end",
                                        "function() return 1e308 end",
                                        "function() return 1e29, 1e29, 1e29 end",
                                        "function() return {1e29, -1e29, 1e29} end",
                                        "function() return 0/0 end",
                                        "function() return 1e-300 end",
                                        "function() return {} end",
                                        "function(t) return t > 0 and 1e30 or 0 end",
                                        "function() while true do end end",
                                        "function() error('x') end",
                                        "function() return ('x'):rep(1e9) end"};
static const char *const others[] = {
    "''", "5", "true", "{}", "{{}}", "'\\0'", "('x'):rep(1e5)", "print", "{1,2,3}", "1e308"};

#define LIST(list) list, sizeof list / sizeof list[0]

enum { SECONDS = 60 }; /* of the wall: the machine may be busy */

typedef struct campaign {
    kiln_context *context;
    char path[160];
    int tell; /* what is tried, to whoever waits for it */
    uint64_t every, count;
    char complaints[20000];
} campaign;

static void complain(campaign *c, const char *what, const char *how, int number)
{
    size_t used = strlen(c->complaints);
    snprintf(c->complaints + used, sizeof c->complaints - used, "\n%s %s %d", what, how, number);
}

static bool two_steps(void *self)
{
    int *left = self;
    return (*left)-- <= 0;
}

/* Refused, done or given up; `text` gets what was said. */
static kiln_status run_scene(kiln_context *context, const char *path, const char *set, char *text,
                             size_t size)
{
    const char *sets[] = {set};
    const kiln_scene_options options = {.sets = sets, .set_count = 1};
    kiln_scene_file *file = NULL;
    kiln_world *world = NULL;
    kiln_error error = {0};
    kiln_diagnosis diagnosis;
    kiln_run_end end;
    int left = 2;
    const kiln_run_output output = {.self = &left, .stop = two_steps};
    kiln_status status = kiln_scene_file_load(context, path, &options, &file, &error);
    if (status == KILN_OK)
        status = kiln_world_create(kiln_scene_file_scene(file), &world, &error);
    if (status == KILN_OK)
        status = kiln_run(world, kiln_scene_file_scene(file)->duration, &output, &end, &diagnosis,
                          &error);
    kiln_world_destroy(world);
    if (file)
        kiln_scene_file_destroy(file);
    kiln_error_format(&error, text, size);
    return status;
}

/* The key, in words perhaps, or the thing it is in, or what goes by the body. */
static bool names(const char *text, const char *path, const char *key)
{
    char words[64], thing[64];
    snprintf(words, sizeof words, "%s", key);
    snprintf(thing, sizeof thing, "%.*s", (int)strcspn(path, "."), path);
    for (char *at = words; *at; at++)
        *at = *at == '_' ? ' ' : *at;
    return strstr(text, key) || strstr(text, words) || (thing[0] && strstr(text, thing)) ||
           strstr(text, "body1") || (strncmp(path, "bodies", 6) == 0 && strstr(text, "holds["));
}

static void try_value(campaign *c, const char *path, const char *key, const char *value)
{
    char set[300], text[1200];
    if (c->count++ % c->every != 0)
        return;
    snprintf(set, sizeof set, "%s%s%s=%s", path, path[0] ? "." : "", key, value);
    dprintf(c->tell, "%s\n", set);
    alarm(SECONDS);
    kiln_status status = run_scene(c->context, c->path, set, text, sizeof text);
    alarm(0);
    if (status != KILN_OK && status != KILN_ERR_STATE && !names(text, path, key)) {
        dprintf(c->tell, "!%s: the message does not name it: %s\n", set, text);
    }
}

static void try_values(campaign *c, const char *path, const char *key, const char *const *values,
                       size_t count)
{
    for (size_t i = 0; i < count; i++)
        try_value(c, path, key, values[i]);
}

static void try_row(campaign *c, const char *path, const kiln_schema_row *row)
{
    switch (row->type) {
    case KILN_VALUE_NUMBER:
    case KILN_VALUE_WHOLE:
    case KILN_VALUE_LONG:
        try_values(c, path, row->key, LIST(numbers));
        break;
    case KILN_VALUE_AMOUNT:
        try_values(c, path, row->key, LIST(numbers));
        try_values(c, path, row->key, LIST(functions));
        break;
    case KILN_VALUE_FIELD:
        try_values(c, path, row->key, LIST(vectors));
        try_values(c, path, row->key, LIST(functions));
        break;
    case KILN_VALUE_VECTOR:
        try_values(c, path, row->key, LIST(vectors));
        break;
    default:
        try_values(c, path, row->key, LIST(others));
    }
}

static void walk(campaign *c, const char *path, const kiln_schema *schema)
{
    for (size_t i = 0; i < schema->count; i++) {
        const kiln_schema_row *row = &schema->rows[i];
        char inner[200];
        snprintf(inner, sizeof inner, "%s%s%s", path, path[0] ? "." : "", row->key ? row->key : "");
        if (row->type == KILN_VALUE_PART)
            walk(c, path, row->schema);
        else
            try_row(c, path, row);
        if (row->type == KILN_VALUE_TABLE)
            walk(c, inner, row->schema);
    }
}

/* Keeps the complaints among the lines that come through the pipe, and the last line. */
static void read_lines(campaign *c, int from, char *last, int size)
{
    FILE *lines = fdopen(from, "r");
    ck_assert_ptr_nonnull(lines);
    while (fgets(last, size, lines)) {
        last[strcspn(last, "\n")] = 0;
        if (last[0] == '!')
            complain(c, last + 1, "", 0);
    }
    fclose(lines);
}

/* In a process of its own, which says what it is about to try. */
static void try_place(campaign *c, const char *path, const kiln_schema *schema)
{
    char last[1600] = "";
    int ends[2], status;
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        close(ends[0]);
        c->tell = ends[1];
        walk(c, path, schema);
        _exit(0);
    }
    close(ends[1]);
    read_lines(c, ends[0], last, sizeof last);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        complain(c, last, "ended by signal", WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        complain(c, last, "exit", WEXITSTATUS(status));
    c->count += 7; /* another sample of the next place */
}

static void run_campaign(const char *method, uint64_t first)
{
    static campaign c;
    c = (campaign){.every = kiln_test_rounds(0, 1), .count = first};
    c.every = c.every ? 1 : 23; /* a prime: all values come up */
    folder where = make_folder();
    in_folder(&where, "absurd.lua", c.path);
    FILE *file = fopen(c.path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "local METHOD = '%s'\n%s", method, base);
    fclose(file);
    c.context = kiln_test_context(1);
    char text[1200];
    kiln_status status = run_scene(c.context, c.path, "duration=0.03", text, sizeof text);
    ck_assert_msg(status == KILN_OK, "%s", text);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        try_place(&c, places[i].path, places[i].schema);
    ck_assert_msg(!c.complaints[0], "%s", c.complaints);
    kiln_context_destroy(c.context);
    remove_folder(&where);
}

START_TEST(every_key_takes_every_value)
{
    run_campaign("none", 0);
}
END_TEST

START_TEST(and_so_it_does_while_the_mesh_changes)
{
    run_campaign("local", 11);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("absurd");
    TCase *still = kiln_test_case(suite, "still"), *remesh = kiln_test_case(suite, "remesh");
    tcase_set_timeout(still, 3600);
    tcase_set_timeout(remesh, 3600);
    tcase_add_test(still, every_key_takes_every_value);
    tcase_add_test(remesh, and_so_it_does_while_the_mesh_changes);
    return suite;
}
