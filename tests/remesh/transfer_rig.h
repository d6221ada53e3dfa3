/* A box with a field under every rule, and random changes that keep its outline. */
#ifndef KILN_TESTS_TRANSFER_RIG_H
#define KILN_TESTS_TRANSFER_RIG_H

#include "fixtures.h"
#include "geom/sym3.h"
#include "remesh/flip.h"
#include "remesh/transfer.h"
#include "support.h"
#include "topology/split.h"

#include <stdlib.h>
#include <string.h>

KILN_UNUSED static kiln_field *rig_field(kiln_mesh *mesh, kiln_where where, const char *name,
                                         kiln_type type, uint32_t components, kiln_rule rule)
{
    kiln_error error = {0};
    ck_assert_msg(kiln_mesh_add_field(mesh, name, where, type, components, rule, &error) == KILN_OK,
                  "%s", error.message);
    return kiln_mesh_field(mesh, where, name);
}

KILN_UNUSED static double *rig_row(const kiln_mesh *mesh, kiln_where where, const char *name,
                                   uint32_t row)
{
    const kiln_field *field = kiln_mesh_field(mesh, where, name);
    return (double *)(field->data + (size_t)row * field->stride);
}

KILN_UNUSED static kiln_vec3 rig_centroid(const kiln_mesh *mesh, uint32_t tet)
{
    kiln_vec3 sum = {0, 0, 0};
    for (int i = 0; i < 4; i++)
        sum = kiln_v3_madd(sum, 0.25, mesh->u[mesh->tet[tet].v[i]]);
    return sum;
}

KILN_UNUSED static double rig_linear(kiln_vec3 u)
{
    return 3.0 + 2.0 * u.x - 0.75 * u.y + 0.5 * u.z;
}

KILN_UNUSED static kiln_vec3 rig_velocity(kiln_vec3 u)
{
    return kiln_v3(sin(3 * u.x), u.x * u.y, u.z * u.z);
}

/* Acceptance only when the new tets are no flatter than is good for densities. */
KILN_UNUSED static kiln_verdict rig_judge(const kiln_mesh *mesh, kiln_verdict verdict,
                                          const uint32_t *made, int count)
{
    for (int i = 0; verdict == KILN_ACCEPTED && i < count; i++)
        if (kiln_mesh_tet_volume(mesh, made[i]) < 1e-7)
            verdict = KILN_REFUSED_INVERTED;
    return verdict;
}

/* One attempt at a flip, a split or a move of an inner vertex up to `size` each way. */
KILN_UNUSED static kiln_verdict rig_change(kiln_mesh *mesh, kiln_random *random, double size)
{
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
    kiln_txn txn = kiln_txn_begin(mesh);
    kiln_verdict verdict = KILN_REFUSED_REQUIRED;
    switch (kiln_random_below(random, 8)) {
    case 0:
    case 1:
    case 2:
        verdict = rig_judge(mesh, kiln_flip_23(&txn, t, a, made), made, 3);
        break;
    case 3:
    case 4:
        verdict = rig_judge(mesh, kiln_flip_32(&txn, t, a, b, made), made, 2);
        break;
    case 5:
    case 6:
        if (!(mesh->vertex[v].flags & KILN_VERTEX_SURFACE))
            verdict = kiln_txn_move_vertex(&txn, v, kiln_v3_add(mesh->u[v], step),
                                           kiln_v3_add(mesh->x[v], step));
        break;
    default:
        verdict =
            kiln_split_middle(&txn, t, corners, 2 + (int)kiln_random_below(random, 3), &split);
    }
    return kiln_txn_settle(&txn, verdict);
}

KILN_UNUSED static void rig_changes(kiln_mesh *mesh, kiln_random *random, int attempts, double size)
{
    for (int i = 0; i < attempts; i++)
        rig_change(mesh, random, size);
}

KILN_UNUSED static double rig_sum(const kiln_mesh *mesh, kiln_where where, const char *name,
                                  uint32_t c)
{
    const kiln_field *field = kiln_mesh_field(mesh, where, name);
    long double sum = 0.0;
    for (uint32_t row = 0; row < mesh->table[where].used; row++)
        if (kiln_row_live(mesh, where, row))
            sum += kiln_field_value(field, row, c);
    return (double)sum;
}

/* Sum of m v, the mass of each tet shared by its corners. */
KILN_UNUSED static double rig_momentum(const kiln_mesh *mesh, const char *mass,
                                       const char *velocity, uint32_t c)
{
    long double sum = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        double m = mass ? *rig_row(mesh, KILN_ON_TET, mass, t) : kiln_mesh_tet_volume(mesh, t);
        for (int i = 0; i < 4; i++)
            sum += 0.25L * m * rig_row(mesh, KILN_ON_VERTEX, velocity, mesh->tet[t].v[i])[c];
    }
    return (double)sum;
}

KILN_UNUSED static void rig_transfer(kiln_mesh *mesh, const kiln_transfer_options *options,
                                     kiln_transfer_report *report)
{
    kiln_error error = {0};
    ck_assert_msg(kiln_transfer(mesh, options, report, &error) == KILN_OK, "%s", error.message);
}

#endif
