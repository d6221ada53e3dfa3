/* Any soup of small numbers through every policy of the builder: what is accepted must pass the
 * audit, what is repaired must pass it after the manifold repair, and nothing may break.
 *
 * Input: number of points, then per point three bytes on a coarse lattice, the rest tets by four
 * bytes each (taken modulo the number of points), every 16th followed by triangle and edge marks.
 */
#include "fuzz.h"
#include "mesh/audit.h"
#include "mesh/build.h"
#include "topology/repair.h"

#include <string.h>

static void fill_soup(kiln_soup *soup, const uint8_t *data, size_t size)
{
    kiln_context *context = soup->context;
    uint32_t points = size ? 4 + data[0] % 60 : 0;
    if (size < 1 + 3 * (size_t)points)
        return;
    const uint8_t *at = data + 1, *end = data + size;
    for (uint32_t i = 0; i < points; i++, at += 3) {
        kiln_vec3 p = {at[0] % 16, at[1] % 16, at[2] % 16};
        if (kiln_array_push(context, &soup->points, p, NULL) != KILN_OK)
            abort();
    }
    for (; end - at >= 5; at += 5) {
        kiln_soup_tet tet;
        for (int k = 0; k < 4; k++)
            tet.v[k] = at[k] % points;
        if (kiln_array_push(context, &soup->tets, tet, NULL) != KILN_OK ||
            kiln_array_push(context, &soup->tet_tags, at[4] % 3, NULL) != KILN_OK)
            abort();
        if (at[4] >= 0xF0) {
            kiln_soup_triangle triangle = {{tet.v[0], tet.v[1], tet.v[2]}};
            kiln_soup_edge edge = {{tet.v[0], tet.v[3]}};
            uint32_t t = (uint32_t)soup->triangles.count, e = (uint32_t)soup->edges.count;
            if (kiln_array_push(context, &soup->triangles, triangle, NULL) != KILN_OK ||
                kiln_array_push(context, &soup->edges, edge, NULL) != KILN_OK ||
                kiln_array_push(context, &soup->required_triangles, t, NULL) != KILN_OK ||
                kiln_array_push(context, &soup->ridges, e, NULL) != KILN_OK)
                abort();
        }
    }
}

static void must_be_sound(const kiln_mesh *mesh)
{
    kiln_audit_report report;
    if (kiln_mesh_audit(mesh, &report, NULL) != KILN_OK || report.invariant)
        abort();
}

static void build(kiln_context *context, const kiln_soup *soup, kiln_build_policy policy)
{
    kiln_build_options options = kiln_build_default_options();
    kiln_build_report report;
    kiln_error error = {0};
    kiln_mesh *mesh = NULL;
    options.policy = policy;
    if (kiln_mesh_build(context, soup, &options, &mesh, &report, &error) != KILN_OK) {
        if (!error.message[0] || mesh)
            abort();
        return;
    }
    if (policy == KILN_BUILD_STRICT)
        must_be_sound(mesh);
    if (policy == KILN_BUILD_REPAIR && kiln_mesh_repair(mesh, 1, NULL) == KILN_ACCEPTED)
        must_be_sound(mesh);
    kiln_soup back;
    if (kiln_mesh_to_soup(mesh, &back, NULL) != KILN_OK)
        abort();
    kiln_soup_free(&back);
    kiln_mesh_destroy(mesh);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kiln_context *context = fuzz_context();
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    fill_soup(&soup, data, size);
    build(context, &soup, KILN_BUILD_STRICT);
    build(context, &soup, KILN_BUILD_REPAIR);
    build(context, &soup, KILN_BUILD_SURVEY);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
    return 0;
}
