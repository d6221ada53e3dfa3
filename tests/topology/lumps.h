/* Bodies of random shape, place, size and turn, with random masses and velocities, and what of them
 * is to be kept when they break. */
#ifndef KILN_TESTS_LUMPS_H
#define KILN_TESTS_LUMPS_H

#include "fixtures.h"
#include "mesh/parts.h"
#include "remesh/transfer.h"
#include "support.h"

#include <math.h>
#include <stdio.h>

typedef struct totals {
    double mass, volume, rest; /* rest: m^3 at rest, a field */
    kiln_vec3 momentum, spin;  /* about `about` */
} totals;

typedef struct lump {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_random random;
    kiln_vec3 about;
    double size, waist; /* m; the waist's width */
} lump;

static double uniform(lump *l, double low, double high)
{
    return kiln_random_range(&l->random, low, high);
}

static kiln_vec3 random_vector(lump *l)
{
    kiln_vec3 v;
    do {
        v.x = uniform(l, -1, 1);
        v.y = uniform(l, -1, 1);
        v.z = uniform(l, -1, 1);
    } while (kiln_v3_norm(v) > 1 || kiln_v3_norm(v) < 0.1);
    return v;
}

static void add(kiln_mesh *mesh, const char *name, kiln_where where, uint32_t components,
                kiln_rule rule)
{
    ck_assert_int_eq(kiln_mesh_add_field(mesh, name, where, KILN_F64, components, rule, NULL),
                     KILN_OK);
}

/* At about `about`, ten units of `scale` large and turned, with fields. `shape` says where a point
 * of the mesh is in those units. */
static void place_lump(lump *l, kiln_vec3 (*shape)(const void *user, kiln_vec3 u), const void *user)
{
    kiln_mesh *mesh = l->mesh;
    double scale = pow(10.0, uniform(l, -4, 3));
    kiln_mat3 turn = kiln_m3_rotation(kiln_v3_normalize(random_vector(l)), uniform(l, 0, 3));
    l->about = kiln_v3_scale(random_vector(l), 100 * scale);
    l->size = 10 * scale;
    l->waist *= scale;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        mesh->x[v] = kiln_v3_add(
            l->about, kiln_v3_scale(kiln_m3_apply(turn, shape(user, mesh->u[v])), scale));
    ck_assert_int_eq(kiln_mesh_place(mesh, mesh->x, NULL), KILN_OK);
    add(mesh, "mass", KILN_ON_TET, 1, KILN_RULE_CONSERVE);
    add(mesh, "rest", KILN_ON_TET, 1, KILN_RULE_CONSERVE);
    add(mesh, "v", KILN_ON_VERTEX, 3, KILN_RULE_MOMENTUM);
    double *rest = (double *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, "rest")->data;
    double *mass = (double *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, "mass")->data;
    kiln_vec3 *v = (kiln_vec3 *)(void *)kiln_mesh_field(mesh, KILN_ON_VERTEX, "v")->data;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        mass[t] = uniform(l, 0.5, 2) * (rest[t] = kiln_mesh_tet_volume(mesh, t));
    for (uint32_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++)
        v[i] = random_vector(l);
}

static totals sum(const lump *l)
{
    const kiln_mesh *mesh = l->mesh;
    const double *mass = (const double *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, "mass")->data;
    const kiln_vec3 *v =
        (const kiln_vec3 *)(void *)kiln_mesh_field(mesh, KILN_ON_VERTEX, "v")->data;
    const double *rest = (const double *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, "rest")->data;
    totals s = {0};
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        const uint32_t *c = mesh->tet[t].v;
        s.mass += mass[t];
        s.rest += rest[t];
        s.volume += kiln_mesh_tet_volume(mesh, t);
        for (int i = 0; i < 4; i++) {
            s.momentum = kiln_v3_madd(s.momentum, 0.25 * mass[t], v[c[i]]);
            for (int k = 0; k < 4; k++)
                s.spin = kiln_v3_madd(s.spin, mass[t] * (i == k ? 0.1 : 0.05),
                                      kiln_v3_cross(kiln_v3_sub(mesh->x[c[i]], l->about), v[c[k]]));
        }
    }
    return s;
}

static kiln_vec3 middle_of_face(const kiln_mesh *mesh, uint32_t face)
{
    uint32_t at = mesh->face[face].at;
    kiln_vec3 sum = {0, 0, 0};
    for (int k = 0; k < 3; k++)
        sum = kiln_v3_add(sum, mesh->x[mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]]);
    return kiln_v3_scale(sum, 1.0 / 3.0);
}

/* Faces that remeshing takes for one side of a crack, and leaves as they are, though the other is
 * elsewhere. */
static uint32_t cracks(const lump *l)
{
    const kiln_mesh *mesh = l->mesh;
    uint32_t count = 0;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        if (!kiln_face_live(mesh, f) || mesh->face[f].twin == 0)
            continue;
        double least = INFINITY;
        for (uint32_t g = 0; g < mesh->table[KILN_ON_FACE].used; g++)
            if (g != f && kiln_face_live(mesh, g) && mesh->face[g].twin == mesh->face[f].twin)
                least = fmin(least, kiln_v3_norm(kiln_v3_sub(middle_of_face(mesh, f),
                                                             middle_of_face(mesh, g))));
        count += least > 0.01 * l->size / 20;
    }
    return count;
}

static void expect_kept(const lump *l, const totals *before, const char *what, uint64_t seed)
{
    totals now = sum(l);
    kiln_test_audit(l->mesh);
    ck_assert_msg(cracks(l) == 0, "%s %llu: a crack", what, (unsigned long long)seed);
    ck_assert_msg(fabs(now.mass / before->mass - 1) <= 1e-12, "%s %llu: mass", what,
                  (unsigned long long)seed);
    ck_assert_msg(fabs(now.rest / before->rest - 1) <= 1e-12, "%s %llu: rest volume", what,
                  (unsigned long long)seed);
    ck_assert_msg(kiln_v3_norm(kiln_v3_sub(now.momentum, before->momentum)) <= 1e-10 * now.mass,
                  "%s %llu: momentum", what, (unsigned long long)seed);
    ck_assert_msg(kiln_v3_norm(kiln_v3_sub(now.spin, before->spin)) <= 1e-10 * now.mass * l->size,
                  "%s %llu: angular momentum", what, (unsigned long long)seed);
}

static uint32_t live_parts(const kiln_mesh *mesh)
{
    uint32_t parts = 0;
    for (size_t p = 0; p < mesh->parts.count; p++)
        parts += mesh->parts.data[p].tets > 0;
    return parts;
}

#endif
