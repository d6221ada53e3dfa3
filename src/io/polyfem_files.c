/* Files of a scene: those it includes, and its meshes. A collection whose folders were flattened
 * (ball-wall/3D.json is ball-wall_3D.json, meshes lie beside or above) is understood as well. */
#include "io/polyfem_impl.h"
#include "io/source.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, INCLUDES = 20 };

static bool is_there(const char *path)
{
    return access(path, R_OK) == 0;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int folder_size(const char *path)
{
    return (int)(base_of(path) - path);
}

/* Where `name` would be beside `from` if folders had become parts of names: of A_b.json the file
 * c.json is A_c.json, and ../c.json is c.json. False: `from` has no such name. */
static bool flattened(const char *from, const char *name, char *out, size_t size)
{
    const char *base = base_of(from), *bar = strchr(base, '_');
    if (!bar || name[0] == '/')
        return false;
    if (strncmp(name, "../", 3) == 0)
        snprintf(out, size, "%.*s%s", folder_size(from), from, name + 3);
    else
        snprintf(out, size, "%.*s%s", (int)(bar + 1 - from), from, name);
    char *rest = out + folder_size(from);
    if (strstr(rest, "../"))
        return false;
    for (; *rest; rest++)
        if (*rest == '/')
            *rest = '_';
    return true;
}

static kiln_status find_common(polyfem *p, const kiln_json_node *common, char *out)
{
    if (flattened(common->file, common->text, out, PATH_SIZE) && is_there(out)) {
        kiln_polyfem_say(p, KILN_LOG_INFO, common, "%s, because folders are parts of names here",
                         out);
        return KILN_OK;
    }
    int size = common->text[0] == '/' ? 0 : folder_size(common->file);
    int written = snprintf(out, PATH_SIZE, "%.*s%s", size, common->file, common->text);
    if (written < PATH_SIZE && is_there(out))
        return KILN_OK;
    return kiln_json_fail(common, p->error, "there is no file %.300s", out);
}

static kiln_status load(polyfem *p, const char *file, const char *text, size_t size, int depth,
                        kiln_json_node **root);

static kiln_status load_file(polyfem *p, const kiln_json_node *common, int depth,
                             kiln_json_node **root)
{
    char *path = kiln_arena_alloc(p->arena, PATH_SIZE);
    kiln_source source;
    if (!path)
        return kiln_fail_memory(p->error, PATH_SIZE);
    if (depth > INCLUDES)
        return kiln_json_fail(common, p->error, "files include each other without end");
    KILN_TRY(find_common(p, common, path));
    KILN_TRY(kiln_source_open(&source, p->context, path, p->error));
    kiln_status status = load(p, path, source.at, kiln_source_left(&source), depth, root);
    kiln_source_close(&source);
    return status;
}

/* What the file includes comes first, the file's own keys over it, then its patch. */
static kiln_status load(polyfem *p, const char *file, const char *text, size_t size, int depth,
                        kiln_json_node **root)
{
    kiln_json_node *own, *common, *patch;
    KILN_TRY(kiln_json_parse(p->arena, file, text, size, &own, p->error));
    *root = own;
    common = kiln_json_get(own, "common");
    patch = kiln_json_get(own, "patch");
    if (!common) {
        return patch ? kiln_json_fail(patch, p->error,
                                      "patches what `common` has, which is not "
                                      "given")
                     : KILN_OK;
    }
    if (common->type != KILN_JSON_IS_TEXT)
        return kiln_json_fail(common, p->error, "must be the name of a file");
    kiln_json_node *merged = NULL;
    if (common->text[0])
        KILN_TRY(load_file(p, common, depth + 1, &merged));
    kiln_json_remove(common);
    if (patch)
        kiln_json_remove(patch);
    KILN_TRY(kiln_json_merge(p->arena, &merged, own, p->error));
    if (patch)
        KILN_TRY(kiln_json_patch(merged, patch, p->error));
    merged->file = file; /* for what is missing from all of them */
    merged->line = own->line;
    *root = merged;
    return KILN_OK;
}

kiln_status kiln_polyfem_load(polyfem *p, const char *text, size_t size, kiln_json_node **root)
{
    return load(p, p->file, text, size, 0, root);
}

kiln_status kiln_polyfem_find_mesh(polyfem *p, const kiln_json_node *mesh, const char **path)
{
    static const char *const places[] = {"", "../"};
    char whole[PATH_SIZE];
    bool is_absolute = mesh->text[0] == '/';
    *path = mesh->text;
    snprintf(whole, sizeof whole, "%s%s", is_absolute ? "" : p->folder, mesh->text);
    if (is_there(whole))
        return KILN_OK;
    const char *base = base_of(mesh->text);
    size_t size = strlen(base) + 4;
    char *near = kiln_arena_alloc(p->arena, size);
    if (!near)
        return kiln_fail_memory(p->error, size);
    for (size_t i = 0; i < sizeof places / sizeof places[0] && base[0]; i++) {
        snprintf(near, size, "%s%s", places[i], base);
        snprintf(whole, sizeof whole, "%s%s", p->folder, near);
        if (!is_there(whole))
            continue;
        if (!p->mesh_path || strcmp(p->mesh_path, near) != 0)
            kiln_polyfem_say(p, KILN_LOG_INFO, mesh, "not there; taken from %s", whole);
        *path = near;
        return KILN_OK;
    }
    return kiln_json_fail(mesh, p->error,
                          "there is no file %.200s, nor %.60s beside the scene or "
                          "in the folder above",
                          mesh->text, base);
}

void kiln_polyfem_put_mesh_path(polyfem *p)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s%s", p->mesh_path[0] == '/' ? "" : p->meshes, p->mesh_path);
    kiln_lua_put_quoted(&p->scene, path);
}
