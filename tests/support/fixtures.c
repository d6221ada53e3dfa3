#include "fixtures.h"
#include "mesh/jitter.h"
#include "mesh/shapes.h"
#include "mesh/txn.h"
#include "remesh/flip.h"
#include "support.h"
#include "topology/split.h"

#include <stdio.h>
#include <string.h>

static kiln_mesh *build(kiln_context *context, kiln_soup *soup, kiln_build_policy policy)
{
    kiln_mesh *mesh = NULL;
    kiln_error error = {0};
    kiln_build_options options = kiln_build_default_options();
    options.policy = policy;
    kiln_status status = kiln_mesh_build(context, soup, &options, &mesh, NULL, &error);
    ck_assert_msg(status == KILN_OK, "%s", error.message);
    kiln_soup_free(soup);
    return mesh;
}

kiln_soup kiln_test_soup(kiln_context *context, const char *shape, const char *settings)
{
    char copy[256];
    const char *list[16];
    size_t count = 0, shape_count;
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *at = copy, *end; *at && count < 16; at = end) {
        end = at + strcspn(at, " ");
        if (*end)
            *end++ = '\0';
        list[count++] = at;
    }
    kiln_soup soup;
    kiln_error error = {0};
    kiln_soup_init(&soup, context);
    const kiln_shape *const *shapes = kiln_shapes(&shape_count);
    const kiln_shape *row = NULL;
    ck_assert_msg(kiln_shape_find(shapes, shape_count, shape, &row, &error) == KILN_OK, "%s",
                  error.message);
    ck_assert_msg(kiln_shape_make(row, count, list, &soup, &error) == KILN_OK, "%s", error.message);
    return soup;
}

kiln_mesh *kiln_test_mesh(kiln_context *context, const char *shape, const char *settings)
{
    kiln_soup soup = kiln_test_soup(context, shape, settings);
    return build(context, &soup, KILN_BUILD_STRICT);
}

kiln_mesh *kiln_test_mesh_of(kiln_context *context, size_t points, const kiln_vec3 *point,
                             size_t tets, const kiln_soup_tet *tet, const int32_t *region,
                             kiln_build_policy policy)
{
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    for (size_t i = 0; i < points; i++)
        ck_assert_int_eq(kiln_array_push(context, &soup.points, point[i], NULL), KILN_OK);
    for (size_t i = 0; i < tets; i++)
        ck_assert_int_eq(kiln_array_push(context, &soup.tets, tet[i], NULL), KILN_OK);
    for (size_t i = 0; region && i < tets; i++)
        ck_assert_int_eq(kiln_array_push(context, &soup.tet_tags, region[i], NULL), KILN_OK);
    return build(context, &soup, policy);
}

void kiln_test_jitter(kiln_mesh *mesh, double size, uint64_t seed)
{
    ck_assert_int_eq(kiln_mesh_jitter(mesh, size, seed), KILN_ACCEPTED);
}

kiln_verdict kiln_test_remove_tet(kiln_txn *txn, uint32_t tet)
{
    const kiln_mesh *mesh = txn->mesh;
    kiln_open_face opened[4];
    uint32_t count = 0;
    for (uint32_t f = 0; f < 4; f++)
        if (!kiln_link_is_surface(mesh->tet[tet].n[f]))
            opened[count++] = (kiln_open_face){.outside = mesh->tet[tet].n[f], .tag = 7};
    kiln_cavity cavity = {.old = &tet,
                          .old_count = 1,
                          .opened = opened,
                          .opened_count = count,
                          .flags = KILN_CAVITY_SURFACE | KILN_CAVITY_FEATURES};
    return kiln_replace(txn, &cavity, NULL);
}

kiln_verdict kiln_test_change(kiln_txn *txn, kiln_random *random, double size, bool holes)
{
    kiln_mesh *mesh = txn->mesh;
    uint32_t t = kiln_random_below(random, mesh->table[KILN_ON_TET].used), made[3];
    uint32_t a = kiln_random_below(random, 4), b = (a + 1 + kiln_random_below(random, 3)) % 4;
    if (!kiln_tet_live(mesh, t))
        return KILN_REFUSED_DEAD;
    uint32_t v = mesh->tet[t].v[a], corners[4] = {a, b, 4, 4};
    for (uint32_t k = 0; k < 4; k++)
        if (k != a && k != b)
            corners[corners[2] == 4 ? 2 : 3] = k;
    kiln_split split;
    kiln_vec3 step = {kiln_random_range(random, -size, size),
                      kiln_random_range(random, -size, size),
                      kiln_random_range(random, -size, size)};
    switch (kiln_random_below(random, holes ? 6 : 5)) {
    case 0:
        return kiln_flip_23(txn, t, a, made);
    case 1:
        return kiln_flip_32(txn, t, a, b, made);
    case 2:
        return kiln_flip_22(txn, t, a, b, made);
    case 3:
        return kiln_txn_move_vertex(txn, v, kiln_v3_add(mesh->u[v], step),
                                    kiln_v3_madd(mesh->x[v], 0.5, step));
    case 4:
        return kiln_split_middle(txn, t, corners, 2 + (int)kiln_random_below(random, 3), &split);
    default:
        return kiln_test_remove_tet(txn, t);
    }
}

void kiln_test_audit(const kiln_mesh *mesh)
{
    kiln_audit_report report;
    kiln_error error;
    ck_assert_msg(kiln_mesh_audit(mesh, &report, &error) == KILN_OK, "%s", error.message);
    ck_assert_msg(report.invariant == NULL, "%s: %s", report.invariant, report.message);
}

kiln_surface_topology kiln_test_surface_of(const kiln_mesh *mesh)
{
    kiln_surface_topology result;
    ck_assert_int_eq(kiln_mesh_surface_topology(mesh, &result, NULL), KILN_OK);
    return result;
}
