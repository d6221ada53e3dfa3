#include "fuzz.h"
#include "io/medit.h"

/* Fields for a mesh of four points, two triangles and one tet. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kiln_context *context = fuzz_context();
    kiln_source source;
    kiln_soup soup;
    kiln_error error = {0};
    kiln_soup_init(&soup, context);
    for (int i = 0; i < 4; i++)
        if (kiln_array_push(context, &soup.points, ((kiln_vec3){i, 0, 0}), NULL) != KILN_OK)
            abort();
    for (int i = 0; i < 2; i++)
        if (kiln_array_push(context, &soup.triangles, ((kiln_soup_triangle){{0, 1, 2}}), NULL) !=
            KILN_OK)
            abort();
    if (kiln_array_push(context, &soup.tets, ((kiln_soup_tet){{0, 1, 2, 3}}), NULL) != KILN_OK)
        abort();
    kiln_source_from_memory(&source, context, "fuzz", data, size);
    kiln_status status = kiln_sol_read(&source, &soup, &error);
    if (status == KILN_OK && kiln_soup_check(&soup, "fuzz", &error) != KILN_OK)
        abort();
    if (status != KILN_OK && !error.message[0])
        abort();
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
    return 0;
}
