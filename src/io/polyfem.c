#include "io/polyfem.h"

#include "io/polyfem_impl.h"
#include "io/polyfem_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char heading[] =
    "-- A PolyFEM scene, made into Kiln's by kiln; --:n is a line of it.\n";

bool kiln_polyfem_is_json(const char *text, size_t size)
{
    size_t at = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < size && strchr(" \t\r\n", text[at]) && text[at])
        at++;
    return at < size && text[at] == '{';
}

static void say(void *user, const kiln_json_node *node, const char *note)
{
    kiln_polyfem_say(user, KILN_LOG_WARNING, node, "ignored: %s", note);
}

static kiln_status check_keys(polyfem *p, kiln_json_node *root)
{
    polyfem_survey survey = {.say = say, .user = p};
    KILN_TRY(kiln_polyfem_check_keys(p->arena, root, &survey, p->error));
    if (survey.ignored[0] && !p->quiet)
        kiln_log(p->context, KILN_LOG_INFO,
                 "%s: ignored, since they are about output or the solver: %s", p->file,
                 survey.ignored);
    return KILN_OK;
}

/* The scene's parts, each into the texts. */
static kiln_status put_all(polyfem *p, const char *text, size_t size)
{
    kiln_json_node *root;
    KILN_TRY(kiln_polyfem_load(p, text, size, &root));
    KILN_TRY(check_keys(p, root));
    p->root = root;
    KILN_TRY(kiln_polyfem_number(p, kiln_polyfem_get(root, "time"), "t0",
                                 (kiln_bounds)KILN_NOT_NEGATIVE, &p->t0));
    KILN_TRY(kiln_polyfem_find_dimension(p));
    KILN_TRY(kiln_polyfem_put_materials(p));
    KILN_TRY(kiln_polyfem_put_settings(p));
    KILN_TRY(kiln_polyfem_put_bodies(p));
    KILN_TRY(kiln_polyfem_put_obstacles(p));
    return kiln_polyfem_put_conditions(p);
}

static void join(polyfem *p, lua_text *out)
{
    kiln_lua_put(out, "%s", heading);
    kiln_polyfem_put_helpers(out, p->helpers);
    if (p->locals.text.count > 0)
        kiln_lua_put_text(out, p->locals.text.data, p->locals.text.count);
    kiln_lua_put(out, "return scene {\n");
    if (p->scene.text.count > 0)
        kiln_lua_put_text(out, p->scene.text.data, p->scene.text.count);
    kiln_lua_put(out, "}\n");
    out->failed |= p->locals.failed || p->scene.failed;
}

kiln_status kiln_polyfem_translate(kiln_context *context, const char *path, const char *text,
                                   size_t size, bool quiet, const char *meshes, lua_text *out,
                                   kiln_error *error)
{
    kiln_arena arena;
    const char *slash = strrchr(path, '/');
    kiln_arena_init(&arena, context);
    polyfem p = {.context = context,
                 .arena = &arena,
                 .error = error,
                 .file = path,
                 .quiet = quiet,
                 .meshes = meshes,
                 .locals = {.context = context},
                 .scene = {.context = context}};
    snprintf(p.folder, sizeof p.folder, "%.*s", slash ? (int)(slash - path + 1) : 0, path);
    kiln_soup_init(&p.mesh, context);
    *out = (lua_text){.context = context};
    kiln_status status = put_all(&p, text, size);
    if (status == KILN_OK) {
        join(&p, out);
        status = kiln_lua_status(out, error);
    }
    kiln_soup_free(&p.mesh);
    kiln_lua_free(&p.locals);
    kiln_lua_free(&p.scene);
    kiln_array_free(context, &p.surface_ids);
    kiln_arena_destroy(&arena);
    return status;
}

/* The number after the last "--:" of a line, 0: none. */
static int line_said(const char *line, const char *end)
{
    for (const char *at = end; at - line >= 3; at--)
        if (memcmp(at - 3, "--:", 3) == 0)
            return atoi(at); /* ends at the line's end, or at the text's zero */
    return 0;
}

kiln_status kiln_polyfem_lines(kiln_context *context, const char *text, size_t size,
                               polyfem_lines *lines, kiln_error *error)
{
    const char *end = text + size, *next;
    size_t head = strlen(heading);
    if (size < head || memcmp(text, heading, head) != 0)
        return KILN_OK;
    KILN_TRY(kiln_array_push(context, lines, 0, error));
    for (const char *at = text + head; at < end; at = next + 1) {
        next = memchr(at, '\n', (size_t)(end - at));
        next = next ? next : end;
        KILN_TRY(kiln_array_push(context, lines, line_said(at, next), error));
    }
    return KILN_OK;
}
