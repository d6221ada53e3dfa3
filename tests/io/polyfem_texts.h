/* A folder with small meshes, and scenes of PolyFEM read from texts in it. */
#ifndef KILN_TESTS_IO_POLYFEM_TEXTS_H
#define KILN_TESTS_IO_POLYFEM_TEXTS_H

#include "io/scene.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static kiln_context *context;
static char folder[64], logged[8192];

KILN_UNUSED static void note(void *user, kiln_log_level level, const char *message)
{
    (void)user;
    size_t used = strlen(logged);
    snprintf(logged + used, sizeof logged - used, "%d %s\n", (int)level, message);
}

KILN_UNUSED static void put_file(const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

/* The cube from 0 to 1 of six tets, with tags 1 and 2, and one that hangs at another by a vertex.
 */
static const char cube[] =
    "MeshVersionFormatted 2\nDimension 3\nVertices 8\n"
    "0 0 0 0\n1 0 0 0\n0 1 0 0\n1 1 0 0\n0 0 1 0\n1 0 1 0\n0 1 1 0\n1 1 1 0\n"
    "Tetrahedra 6\n1 2 4 8 1\n1 4 3 8 1\n1 3 7 8 1\n1 7 5 8 2\n1 5 6 8 2\n"
    "1 6 2 8 2\nEnd\n";
static const char hanging[] = "MeshVersionFormatted 2\nDimension 3\nVertices 7\n"
                              "0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n-1 0 0 0\n0 -1 0 0\n0 0 -1 0\n"
                              "Tetrahedra 2\n1 2 3 4 0\n1 5 7 6 0\nEnd\n";
static const char square[] = "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n";
static const char sheet[] = "v -5 7 5\nv 5 7 5\nv -5 7 -5\nv 5 7 -5\nf 2 3 1\nf 2 4 3\n";

KILN_UNUSED static void open_folder(void)
{
    context = kiln_test_context(1);
    context->log = note;
    logged[0] = 0;
    snprintf(folder, sizeof folder, "/tmp/kiln-polyfem-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    put_file("cube.mesh", cube);
    put_file("hanging.mesh", hanging);
    put_file("square.obj", square);
    put_file("sheet.obj", sheet);
}

KILN_UNUSED static void leave_folder(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
    kiln_context_destroy(context);
}

KILN_UNUSED static kiln_status load_text(const char *text, kiln_scene_file **file,
                                         kiln_error *error)
{
    char path[100];
    kiln_scene_options options = {.text = text, .text_size = strlen(text)};
    snprintf(path, sizeof path, "%s/s.json", folder);
    return kiln_scene_file_load(context, path, &options, file, error);
}

KILN_UNUSED static kiln_scene_file *load(const char *text)
{
    kiln_scene_file *file = NULL;
    kiln_error error = {0};
    char said[900];
    kiln_status status = load_text(text, &file, &error);
    ck_assert_msg(status == KILN_OK, "%s", kiln_error_format(&error, said, sizeof said));
    return file;
}

#define MATERIAL   "\"materials\": {\"type\": \"NeoHookean\", \"E\": 1e5, \"nu\": 0.3, \"rho\": 900}"
#define GEOMETRY   "\"geometry\": [{\"mesh\": \"cube.mesh\"}]"
#define TIME       "\"time\": {\"tend\": 2, \"dt\": 0.1}"
#define WITH(more) "{" GEOMETRY ", " MATERIAL ", " TIME more "}"

KILN_UNUSED static void assert_vector(kiln_vec3 v, double x, double y, double z)
{
    ck_assert_msg(fabs(v.x - x) < 1e-12 && fabs(v.y - y) < 1e-12 && fabs(v.z - z) < 1e-12,
                  "(%g, %g, %g) is not (%g, %g, %g)", v.x, v.y, v.z, x, y, z);
}

#endif
