/* Scenes of PolyFEM: the whole way from JSON to a scene, with a mesh that is there. */
#include "fuzz.h"
#include "io/scene.h"

#include <stdio.h>
#include <unistd.h>

static const char mesh[] = "MeshVersionFormatted 2\nDimension 3\nVertices 4\n"
                           "0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\nTetrahedra 1\n1 2 3 4 1\nEnd\n";

static void put_mesh(void)
{
    static bool is_there;
    FILE *file = is_there ? NULL : fopen("/tmp/kiln-fuzz-tet.mesh", "wb");
    is_there = true;
    if (!file)
        return;
    fputs(mesh, file);
    fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kiln_context *context = fuzz_context();
    kiln_scene_options options = {.text = (const char *)data, .text_size = size};
    kiln_scene_file *file = NULL;
    kiln_error error = {0};
    put_mesh();
    bool is_json = size > 0 && data[0] == '{';
    if (is_json &&
        kiln_scene_file_load(context, "/tmp/fuzz.json", &options, &file, &error) == KILN_OK)
        kiln_scene_try(kiln_scene_file_scene(file), &error);
    else if (is_json && (file || !error.message[0]))
        abort();
    kiln_scene_file_destroy(file);
    kiln_context_destroy(context);
    return 0;
}
