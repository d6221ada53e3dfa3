/* What the tests of remeshing operators share: irregular meshes, and what a pass must keep. */
#ifndef KILN_TESTS_REMESH_IRREGULAR_H
#define KILN_TESTS_REMESH_IRREGULAR_H

#include "fixtures.h"
#include "mesh/classify.h"
#include "remesh/delaunay.h"
#include "remesh/remesher.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Delaunay tets of the corners of the unit cube and random points inside. */
KILN_INLINE kiln_mesh *kiln_test_random_mesh(kiln_context *context, uint32_t inside, uint64_t seed)
{
    kiln_random random = kiln_random_start(seed, 1);
    uint32_t count = inside + 8;
    kiln_vec3 *point = malloc(count * sizeof *point);
    for (uint32_t i = 0; i < count; i++) {
        double x = kiln_random_unit(&random), y = kiln_random_unit(&random);
        point[i] =
            i < 8 ? kiln_v3(i & 1, i >> 1 & 1, i >> 2) : kiln_v3(x, y, kiln_random_unit(&random));
    }
    kiln_delaunay delaunay = {0};
    ck_assert_int_eq(kiln_delaunay_build(&delaunay, context, point, count, NULL), KILN_OK);
    kiln_soup_tet *tet = malloc(delaunay.tets.count * sizeof *tet);
    for (size_t i = 0; i < delaunay.tets.count; i++)
        memcpy(tet[i].v, delaunay.tets.data[i].v, sizeof tet[i].v);
    kiln_mesh *mesh =
        kiln_test_mesh_of(context, count, point, delaunay.tets.count, tet, NULL, KILN_BUILD_STRICT);
    kiln_delaunay_destroy(&delaunay);
    free(tet);
    free(point);
    return mesh;
}

KILN_INLINE uint64_t kiln_test_columns_hash(const kiln_remesher *r)
{
    uint64_t hash = kiln_hash_bytes(1, r->quality.data,
                                    r->mesh->table[KILN_ON_TET].used * sizeof *r->quality.data);
    for (uint32_t v = 0; v < r->mesh->table[KILN_ON_VERTEX].used; v++)
        hash = kiln_hash_add(kiln_hash_bytes(hash, &r->side.data[v].begin, sizeof(kiln_vec3)),
                             r->side.data[v].freedom);
    return hash;
}

/* A jittered box of regions 1, 2, 3 along x, whose interfaces at x = 1/3 and 2/3 are flat. */
KILN_INLINE kiln_mesh *kiln_test_layered_box(kiln_context *context, double jitter, uint64_t seed)
{
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=6 ny=5 nz=4");
    const uint32_t vertices = mesh->table[KILN_ON_VERTEX].used;
    kiln_vec3 *begin = malloc(vertices * sizeof *begin);
    memcpy(begin, mesh->u, vertices * sizeof *begin);
    kiln_test_jitter(mesh, jitter, seed);
    kiln_txn txn = kiln_txn_begin(mesh);
    for (uint32_t v = 0; v < vertices; v++) {
        double layer = begin[v].x * 3;
        kiln_vec3 back = kiln_v3(begin[v].x, mesh->u[v].y, mesh->u[v].z);
        if (fabs(layer - 1) < 1e-9 || fabs(layer - 2) < 1e-9)
            ck_assert_int_eq(kiln_txn_move_vertex(&txn, v, back, back), KILN_ACCEPTED);
    }
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        double x = 0.0;
        for (int k = 0; k < 4; k++)
            x += 0.25 * begin[mesh->tet[t].v[k]].x;
        int32_t region = 1 + (x > 1 / 3.0) + (x > 2 / 3.0);
        ck_assert_int_eq(kiln_txn_set_region(&txn, t, region), KILN_ACCEPTED);
    }
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_mesh_classify(mesh, kiln_build_default_options().feature_angle, NULL),
                     KILN_OK);
    free(begin);
    return mesh;
}

/* What a pass that keeps the shape must not change: volumes of regions, areas of patches (tags and
 * interfaces), length of features, corners, required vertices. */
enum { KILN_TEST_KEYS = 16 };
typedef struct kiln_test_shape {
    double volume[KILN_TEST_KEYS], area[KILN_TEST_KEYS], interface, features;
    uint32_t corners, required;
    int64_t euler[KILN_TEST_KEYS]; /* of patches: V - E + F */
} kiln_test_shape;

KILN_INLINE double kiln_test_triangle_area(const kiln_mesh *mesh, uint32_t tet, uint32_t f)
{
    const uint32_t *v = mesh->tet[tet].v;
    const uint8_t *c = kiln_face_corner[f];
    kiln_vec3 p = mesh->u[v[c[0]]];
    return 0.5 * kiln_v3_norm(kiln_v3_cross(kiln_v3_sub(mesh->u[v[c[1]]], p),
                                            kiln_v3_sub(mesh->u[v[c[2]]], p)));
}

/* V - E + F of the faces with a tag: the corner fractions of a vertex and edge are summed by
 * counting each once, at its lowest face. */
KILN_INLINE int64_t kiln_test_patch_euler(const kiln_mesh *mesh, int32_t tag)
{
    uint8_t *seen = calloc(mesh->table[KILN_ON_VERTEX].used, 1);
    int64_t faces = 0, vertices = 0, shared = 0;
    for (uint32_t i = 0; i < mesh->table[KILN_ON_FACE].used; i++) {
        if (!kiln_face_live(mesh, i) || mesh->face[i].tag != tag)
            continue;
        uint32_t tet = mesh->face[i].at / 4, f = mesh->face[i].at % 4;
        faces++;
        for (uint32_t k = 0; k < 4; k++) {
            if (k == f)
                continue;
            uint32_t vertex = mesh->tet[tet].v[k];
            vertices += !seen[vertex];
            seen[vertex] = 1;
            /* The edge opposite k in the face: the other face at the end of its fan. */
            uint32_t a = 0, b;
            while (a == k || a == f)
                a++;
            b = 6 - k - f - a;
            uint32_t ring[64];
            kiln_ring shape = kiln_edge_ring(mesh, tet, a, b, ring, 64);
            if (shape.closed || shape.count > 64)
                ck_abort_msg("face %u: no edge of the surface", i);
            uint32_t ends[2] = {ring[0] / 4, ring[shape.count - 1] / 4};
            uint32_t same = 0;
            for (int e = 0; e < (shape.count == 1 ? 1 : 2); e++)
                for (uint32_t g = 0; g < 4; g++) {
                    kiln_link link = mesh->tet[ends[e]].n[g];
                    uint32_t ca = kiln_tet_corner(&mesh->tet[ends[e]], mesh->tet[tet].v[a]);
                    uint32_t cb = kiln_tet_corner(&mesh->tet[ends[e]], mesh->tet[tet].v[b]);
                    same += g != ca && g != cb && kiln_link_is_surface(link) &&
                            mesh->face[link - KILN_LINK_SURFACE].tag == tag;
                }
            shared += same == 2;
        }
    }
    free(seen);
    /* Edges: three of each face, shared ones counted twice. */
    return vertices - (3 * faces - shared / 2) + faces;
}

KILN_INLINE kiln_test_shape kiln_test_shape_of(const kiln_mesh *mesh)
{
    kiln_test_shape s = {0};
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        int32_t region = mesh->info[t].region;
        if (region < 0 || region >= KILN_TEST_KEYS)
            ck_abort_msg("tet %u: region %d", t, region);
        s.volume[region] += kiln_mesh_tet_volume(mesh, t);
        for (uint32_t f = 0; f < 4; f++) {
            kiln_link link = mesh->tet[t].n[f];
            if (kiln_link_is_surface(link))
                s.area[mesh->face[link - KILN_LINK_SURFACE].tag] +=
                    kiln_test_triangle_area(mesh, t, f);
            else if (kiln_link_is_interface(mesh, t, link))
                s.interface += 0.5 * kiln_test_triangle_area(mesh, t, f);
        }
        for (uint32_t e = 0; e < 6; e++) {
            if (!(mesh->info[t].marks >> (KILN_MARK_FEATURE_EDGE + e) & 1))
                continue;
            uint32_t a = kiln_edge_ends[e][0], b = kiln_edge_ends[e][1];
            uint32_t ring = kiln_edge_ring(mesh, t, a, b, NULL, 0).count;
            const uint32_t *v = mesh->tet[t].v;
            s.features += kiln_v3_norm(kiln_v3_sub(mesh->u[v[a]], mesh->u[v[b]])) / ring;
        }
    }
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        s.corners += kiln_vertex_live(mesh, v) && mesh->vertex[v].flags & KILN_VERTEX_CORNER;
        s.required += kiln_vertex_live(mesh, v) && mesh->vertex[v].flags & KILN_VERTEX_REQUIRED;
    }
    for (int tag = 0; tag < KILN_TEST_KEYS; tag++)
        s.euler[tag] = kiln_test_patch_euler(mesh, tag);
    return s;
}

/* Equal up to rounding, relative to a shape of size `size`. */
KILN_INLINE void kiln_test_same_shape(const kiln_test_shape *a, const kiln_test_shape *b,
                                      double size, double tolerance)
{
    for (int i = 0; i < KILN_TEST_KEYS; i++) {
        ck_assert_double_eq_tol(a->volume[i], b->volume[i], tolerance * size * size * size);
        ck_assert_double_eq_tol(a->area[i], b->area[i], tolerance * size * size);
        ck_assert_msg((a->volume[i] > 0.0) == (b->volume[i] > 0.0), "region %d", i);
        ck_assert_msg((a->area[i] > 0.0) == (b->area[i] > 0.0), "patch %d", i);
        ck_assert_int_eq(a->euler[i], b->euler[i]);
    }
    ck_assert_double_eq_tol(a->interface, b->interface, tolerance * size * size);
    ck_assert_double_eq_tol(a->features, b->features, tolerance * size);
    ck_assert_uint_eq(a->corners, b->corners);
    ck_assert_uint_eq(a->required, b->required);
}

#endif
