/* liquids-algorithms 13, items 11 to 13: opening, necks, films, repair. */
#include "fixtures.h"
#include "mesh/walk.h"
#include "mesh/parts.h"
#include "support.h"
#include "topology/layer.h"
#include "topology/open.h"
#include "topology/repair.h"
#include "topology/split.h"
#include "topology/weld.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static uint32_t live(const kiln_mesh *mesh, kiln_where where)
{
    return mesh->table[where].live;
}

/* The first interior face whose three vertices have `on_surface` surface flags among them, as
 * tet*4+face. */
static uint32_t find_face(const kiln_mesh *mesh, int on_surface)
{
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (uint32_t f = 0; f < 4; f++) {
            if (kiln_link_is_surface(mesh->tet[t].n[f]))
                continue;
            int count = 0;
            for (int k = 0; k < 3; k++)
                count += mesh->vertex[mesh->tet[t].v[kiln_face_corner[f][k]]].flags &
                         KILN_VERTEX_SURFACE;
            if (count == on_surface)
                return kiln_link_to(t, f);
        }
    ck_abort_msg("no such face");
    return KILN_NONE;
}

static kiln_open_report open_faces(kiln_mesh *mesh, const uint32_t *faces, size_t count)
{
    uint64_t before = kiln_mesh_hash(mesh);
    double volume = kiln_mesh_volume(mesh);
    kiln_open_report report;
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_open_faces(&txn, faces, count, 7, &report), KILN_ACCEPTED);
    kiln_txn_rollback(&txn);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), before);

    txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_open_faces(&txn, faces, count, 7, &report), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_manifold_repair(&txn, 7, NULL), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    kiln_test_audit(mesh);
    ck_assert_double_eq_tol(kiln_mesh_volume(mesh), volume, 1e-15);
    return report;
}

START_TEST(two_tets_come_apart)
{
    kiln_context *context = kiln_test_context(1);
    const kiln_vec3 p[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, -1}};
    const kiln_soup_tet t[2] = {{{0, 1, 2, 3}}, {{0, 2, 1, 4}}};
    kiln_mesh *mesh = kiln_test_mesh_of(context, 5, p, 2, t, NULL, KILN_BUILD_STRICT);
    ck_assert_uint_eq(kiln_part_count(mesh), 1);
    uint32_t face = 3;
    kiln_open_report report = open_faces(mesh, &face, 1);
    ck_assert_uint_eq(live(mesh, KILN_ON_VERTEX), 8);
    ck_assert_uint_eq(live(mesh, KILN_ON_FACE), 8);
    ck_assert_uint_eq(kiln_part_count(mesh), 2);
    ck_assert_uint_eq(report.copies, 3);
    ck_assert(mesh->ledger.volume_gained == 0.0 && mesh->ledger.volume_lost == 0.0);
    /* The two crack faces know each other, and so do the vertices. */
    uint32_t twins = 0;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        twins += mesh->face[f].twin != 0 && mesh->face[f].tag == 7;
    ck_assert_uint_eq(twins, 2);
    for (uint32_t v = 5; v < 8; v++)
        ck_assert_uint_ne(mesh->vertex[v].twin, 0);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(inner_face_becomes_a_lens)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=3 ny=3 nz=3");
    uint32_t vertices = live(mesh, KILN_ON_VERTEX), tets = live(mesh, KILN_ON_TET);
    uint32_t faces = live(mesh, KILN_ON_FACE), face = find_face(mesh, 0);
    kiln_open_report report = open_faces(mesh, &face, 1);
    ck_assert_uint_eq(report.faces_split, 1);
    ck_assert_uint_eq(report.edges_split, 0);
    ck_assert_uint_eq(live(mesh, KILN_ON_VERTEX), vertices + 2);
    ck_assert_uint_eq(live(mesh, KILN_ON_TET), tets + 4);
    ck_assert_uint_eq(live(mesh, KILN_ON_FACE), faces + 6);
    ck_assert_uint_eq(kiln_test_surface_of(mesh).components, 2);
    ck_assert_uint_eq(kiln_part_count(mesh), 1);
    ck_assert(mesh->ledger.volume_gained == 0.0 && mesh->ledger.volume_lost == 0.0);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A face with a surface edge opens along it; the crack joins the outer surface. */
START_TEST(face_at_the_surface_opens)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=3 ny=3 nz=3");
    uint32_t chosen = KILN_NONE;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used && chosen == KILN_NONE; t++)
        for (uint32_t f = 0; f < 4; f++) {
            const kiln_tet *tet = &mesh->tet[t];
            const uint8_t *c = kiln_face_corner[f];
            int open = 0, inner = 0;
            if (kiln_link_is_surface(tet->n[f]))
                continue;
            for (int side = 0; side < 3; side++) {
                open += !kiln_edge_ring(mesh, t, c[side], c[(side + 1) % 3], NULL, 0).closed;
                inner += !(mesh->vertex[tet->v[c[side]]].flags & KILN_VERTEX_SURFACE);
            }
            if (open == 1 && inner == 1)
                chosen = kiln_link_to(t, f);
        }
    ck_assert_uint_ne(chosen, KILN_NONE);
    kiln_open_report report = open_faces(mesh, &chosen, 1);
    ck_assert_uint_ge(report.edges_split, 1);
    kiln_surface_topology surface = kiln_test_surface_of(mesh);
    ck_assert_uint_eq(surface.components, 1);
    ck_assert_int_eq(surface.euler, 2);
    ck_assert_uint_eq(kiln_part_count(mesh), 1);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* All faces round an interior edge: its tets come away from each other there. */
START_TEST(fan_round_an_edge_opens)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=3 ny=3 nz=3");
    uint32_t ring[64], faces[64];
    kiln_ring shape = {0};
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used && shape.count == 0; t++)
        for (int e = 0; e < 6; e++) {
            uint32_t a = kiln_edge_ends[e][0], b = kiln_edge_ends[e][1];
            uint32_t flags =
                mesh->vertex[mesh->tet[t].v[a]].flags | mesh->vertex[mesh->tet[t].v[b]].flags;
            if (!(flags & KILN_VERTEX_SURFACE))
                shape = kiln_edge_ring(mesh, t, a, b, ring, 64);
        }
    ck_assert(shape.closed && shape.count >= 4);
    memcpy(faces, ring, shape.count * sizeof *ring);
    open_faces(mesh, faces, shape.count);
    ck_assert_uint_eq(kiln_part_count(mesh), 1);
    ck_assert(mesh->ledger.volume_gained == 0.0 && mesh->ledger.volume_lost == 0.0);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

static void shift_x(void *user, const kiln_mesh *mesh, uint32_t vertex, kiln_vec3 *u, kiln_vec3 *x)
{
    (void)mesh;
    (void)vertex;
    u->x += *(double *)user;
    x->x += *(double *)user;
}

static double field_total(const kiln_mesh *mesh, const char *name)
{
    const kiln_field *field = kiln_mesh_field(mesh, KILN_ON_TET, name);
    double sum = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            sum += ((const double *)field->data)[t];
    return sum;
}

/* A surface face, with its vertices, at plane x and with the given sum of y. */
static uint32_t find_surface(const kiln_mesh *mesh, double x, double sum_y, uint32_t v[3])
{
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        if (!kiln_face_live(mesh, f))
            continue;
        uint32_t at = mesh->face[f].at;
        double sum = 0.0;
        bool fits = true;
        for (int k = 0; k < 3; k++) {
            v[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
            fits &= fabs(mesh->u[v[k]].x - x) < 1e-12;
            sum += mesh->u[v[k]].y;
        }
        if (fits && fabs(sum - sum_y) < 1e-9)
            return f;
    }
    ck_abort_msg("no surface face at x = %g", x);
    return KILN_NONE;
}

/* Two cubes, one triangle of each joined by three prisms in a row: layers, welding, gluing; then
 * the neck opens without any volume, mass or momentum changing. */
START_TEST(neck_pinches_off)
{
    kiln_context *context = kiln_test_context(1);
    kiln_vec3 p[16];
    kiln_soup_tet t[12];
    kiln_mesh *cube = kiln_test_mesh(context, "box", "nx=1 ny=1 nz=1");
    kiln_soup soup;
    ck_assert_int_eq(kiln_mesh_to_soup(cube, &soup, NULL), KILN_OK);
    ck_assert_uint_eq(soup.tets.count, 6);
    kiln_vec3 low = soup.points.data[0];
    for (int i = 0; i < 8; i++)
        low.x = soup.points.data[i].x < low.x ? soup.points.data[i].x : low.x;
    double size = 0.0;
    for (int i = 0; i < 8; i++)
        size = fmax(size, soup.points.data[i].x - low.x);
    for (int i = 0; i < 16; i++) {
        p[i] = soup.points.data[i % 8];
        p[i].x += i < 8 ? 0.0 : 1.75 * size;
    }
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 4; k++)
            t[i].v[k] = soup.tets.data[i % 6].v[k] + (i < 6 ? 0 : 8);
    kiln_soup_free(&soup);
    kiln_mesh_destroy(cube);
    kiln_mesh *mesh = kiln_test_mesh_of(context, 16, p, 12, t, NULL, KILN_BUILD_STRICT);
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, "m", KILN_ON_TET, KILN_F64, 1, KILN_RULE_CONSERVE, NULL),
        KILN_OK);
    kiln_field *mass = kiln_mesh_field(mesh, KILN_ON_TET, "m");
    for (uint32_t i = 0; i < 12; i++)
        ((double *)mass->data)[i] = 1.0 + i;

    double step = 0.25 * size, right = low.x + size;
    uint32_t v[3], w[3], face;
    double sum_y = 0.0;
    kiln_txn txn = kiln_txn_begin(mesh);
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used && sum_y == 0.0; f++) {
        uint32_t at = mesh->face[f].at;
        double x = 0.0, y = 0.0;
        for (int k = 0; k < 3; k++) {
            x += mesh->u[mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]].x / 3;
            y += mesh->u[mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]].y;
        }
        if (fabs(x - right) < 1e-12)
            sum_y = y;
    }
    for (int layer = 0; layer < 3; layer++) {
        face = find_surface(mesh, right + layer * step, sum_y, v);
        ck_assert_int_eq(kiln_layer_add(&txn, &face, 1, shift_x, &step, 5), KILN_ACCEPTED);
    }
    double end = right + 3 * step;
    ck_assert_uint_eq(live(mesh, KILN_ON_TET), 21);
    /* Both the last prism's top and the second cube's face lie at `end`. */
    uint32_t top = find_surface(mesh, end, sum_y, v), other = KILN_NONE;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        if (f == top || !kiln_face_live(mesh, f))
            continue;
        uint32_t at = mesh->face[f].at;
        double y = 0.0;
        bool fits = true;
        for (int k = 0; k < 3; k++) {
            uint32_t n = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
            fits &= fabs(mesh->u[n].x - end) < 1e-12;
            y += mesh->u[n].y;
        }
        if (fits && fabs(y - sum_y) < 1e-9)
            other = f;
    }
    ck_assert_uint_ne(other, KILN_NONE);
    uint32_t at = mesh->face[other].at;
    for (int k = 0; k < 3; k++)
        w[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (kiln_v3_norm(kiln_v3_sub(mesh->u[v[i]], mesh->u[w[j]])) < 1e-9 * size)
                ck_assert_int_eq(kiln_vertex_weld(&txn, v[i], w[j]), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_face_glue(&txn, top, other), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    kiln_test_audit(mesh);
    ck_assert_uint_eq(kiln_part_count(mesh), 1);
    ck_assert_double_eq(field_total(mesh, "m"), 78.0);

    /* The neck: an interior face whose three edges all lie on the surface. */
    uint32_t neck = KILN_NONE;
    for (uint32_t i = 0; i < mesh->table[KILN_ON_TET].used; i++)
        for (uint32_t f = 0; f < 4; f++) {
            const uint8_t *c = kiln_face_corner[f];
            bool all = !kiln_link_is_surface(mesh->tet[i].n[f]);
            double x[3];
            for (int side = 0; side < 3 && all; side++) {
                all &= !kiln_edge_ring(mesh, i, c[side], c[(side + 1) % 3], NULL, 0).closed;
                x[side] = mesh->u[mesh->tet[i].v[c[side]]].x;
            }
            if (all && x[0] == x[1] && x[1] == x[2] && x[0] > right && x[0] < end)
                neck = kiln_link_to(i, f);
        }
    ck_assert_uint_ne(neck, KILN_NONE);
    double volume = kiln_mesh_volume(mesh), total = field_total(mesh, "m");
    kiln_ledger ledger = mesh->ledger;
    kiln_open_report report = open_faces(mesh, &neck, 1);
    ck_assert_uint_eq(report.copies, 3);
    ck_assert_uint_eq(kiln_part_count(mesh), 2);
    ck_assert(kiln_mesh_volume(mesh) == volume && field_total(mesh, "m") == total);
    ck_assert(memcmp(&ledger, &mesh->ledger, sizeof ledger) == 0);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(film_gets_a_hole)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=8 ny=8 nz=1");
    ck_assert_int_eq(kiln_test_surface_of(mesh).euler, 2);
    /* The two triangles of an upright grid face in the middle. */
    uint32_t faces[2], count = 0;
    kiln_vec3 low = mesh->u[0], high = mesh->u[0];
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        low.x = fmin(low.x, mesh->u[v].x), high.x = fmax(high.x, mesh->u[v].x);
        low.y = fmin(low.y, mesh->u[v].y), high.y = fmax(high.y, mesh->u[v].y);
    }
    double middle = 0.5 * (low.x + high.x), cell = (high.y - low.y) / 8;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (uint32_t f = 0; f < 4; f++) {
            kiln_link link = mesh->tet[t].n[f];
            bool fits = !kiln_link_is_surface(link) && kiln_link_to(t, f) < link;
            for (int k = 0; k < 3; k++) {
                kiln_vec3 u = mesh->u[mesh->tet[t].v[kiln_face_corner[f][k]]];
                fits &= fabs(u.x - middle) < 1e-9 && u.y > low.y + 3.5 * cell &&
                        u.y < low.y + 5.5 * cell;
            }
            if (fits && count < 2)
                faces[count++] = kiln_link_to(t, f);
        }
    ck_assert_uint_eq(count, 2);
    open_faces(mesh, faces, 2);
    kiln_surface_topology surface = kiln_test_surface_of(mesh);
    ck_assert_uint_eq(surface.components, 1);
    ck_assert_int_eq(surface.euler, 0); /* genus 1 */
    ck_assert_uint_eq(kiln_part_count(mesh), 1);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

static void repair(kiln_mesh *mesh, kiln_repair_report *report)
{
    double volume = kiln_mesh_volume(mesh);
    ck_assert_int_eq(kiln_mesh_repair(mesh, 3, report), KILN_ACCEPTED);
    kiln_test_audit(mesh);
    ck_assert_double_eq_tol(kiln_mesh_volume(mesh), volume, 1e-15);
}

START_TEST(tets_that_share_too_little)
{
    kiln_context *context = kiln_test_context(1);
    kiln_repair_report report;
    const kiln_vec3 p[7] = {{0, 0, 0},  {1, 0, 0},  {0, 1, 0}, {0, 0, 1},
                            {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
    const kiln_soup_tet at_vertex[2] = {{{0, 1, 2, 3}}, {{0, 5, 4, 6}}};
    kiln_mesh *mesh = kiln_test_mesh_of(context, 7, p, 2, at_vertex, NULL, KILN_BUILD_REPAIR);
    repair(mesh, &report);
    ck_assert_uint_eq(live(mesh, KILN_ON_VERTEX), 8);
    ck_assert_uint_eq(kiln_part_count(mesh), 2);
    ck_assert_uint_eq(report.vertices_split, 1);
    kiln_mesh_destroy(mesh);

    const kiln_vec3 q[6] = {{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}};
    const kiln_soup_tet at_edge[2] = {{{0, 2, 3, 1}}, {{0, 4, 5, 1}}};
    mesh = kiln_test_mesh_of(context, 6, q, 2, at_edge, NULL, KILN_BUILD_REPAIR);
    repair(mesh, &report);
    ck_assert_uint_eq(live(mesh, KILN_ON_VERTEX), 8);
    ck_assert_uint_eq(kiln_part_count(mesh), 2);
    ck_assert_uint_eq(report.vertices_split, 2);
    ck_assert_uint_eq(report.edges_split, 0);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* In the cells (1,1,1) and (2,2,2) of a box of 4 x 4 x 4 unit cells? */
static bool in_voids(void *user, const kiln_mesh *mesh, uint32_t tet)
{
    const kiln_vec3 *frame = user; /* low corner, cell size */
    kiln_vec3 c = {0, 0, 0};
    for (int k = 0; k < 4; k++)
        c = kiln_v3_madd(c, 0.25, mesh->u[mesh->tet[tet].v[k]]);
    int i = (int)floor((c.x - frame[0].x) / frame[1].x);
    int j = (int)floor((c.y - frame[0].y) / frame[1].y);
    int k = (int)floor((c.z - frame[0].z) / frame[1].z);
    return i == j && j == k && (i == 1 || i == 2);
}

START_TEST(voids_that_touch_get_a_tunnel)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=4 ny=4 nz=4");
    kiln_vec3 frame[2] = {mesh->u[0], mesh->u[0]};
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = mesh->u[v];
        frame[0] = kiln_v3(fmin(frame[0].x, u.x), fmin(frame[0].y, u.y), fmin(frame[0].z, u.z));
        frame[1] = kiln_v3(fmax(frame[1].x, u.x), fmax(frame[1].y, u.y), fmax(frame[1].z, u.z));
    }
    frame[1] = kiln_v3_scale(kiln_v3_sub(frame[1], frame[0]), 0.25);
    uint64_t before = kiln_mesh_hash(mesh);
    kiln_repair_report report;
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_tets_remove(&txn, in_voids, frame, 9, NULL), KILN_ACCEPTED);
    /* Touching voids are not manifold: the commit says so and leaves the transaction open. */
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_REFUSED_NON_MANIFOLD);
    ck_assert_int_eq(kiln_manifold_repair(&txn, 9, &report), KILN_ACCEPTED);
    kiln_txn_rollback(&txn);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), before);
    txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_tets_remove(&txn, in_voids, frame, 9, NULL), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_manifold_repair(&txn, 9, &report), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    kiln_test_audit(mesh);
    ck_assert_uint_eq(report.tunnels, 1);
    kiln_surface_topology surface = kiln_test_surface_of(mesh);
    ck_assert_uint_eq(surface.components, 2); /* the outside, and the two voids joined */
    ck_assert_uint_eq(kiln_part_count(mesh), 1);
    ck_assert_uint_eq(mesh->ledger.tets_removed, 12);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(bridge_joins_two_bodies)
{
    kiln_context *context = kiln_test_context(1);
    const kiln_vec3 p[8] = {{0, 0, 0},  {1, 0, 0},  {0, 1, 0},  {0, 0, -1},
                            {0, 0, .2}, {1, 0, .2}, {0, 1, .2}, {0, 0, 1.2}};
    const kiln_soup_tet t[2] = {{{0, 2, 1, 3}}, {{4, 5, 6, 7}}};
    kiln_mesh *mesh = kiln_test_mesh_of(context, 8, p, 2, t, NULL, KILN_BUILD_STRICT);
    ck_assert_uint_eq(kiln_part_count(mesh), 2);
    uint32_t lower = mesh->tet[0].n[3] - KILN_LINK_SURFACE;
    uint32_t upper = mesh->tet[1].n[3] - KILN_LINK_SURFACE;
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_bridge_faces(&txn, lower, upper, 4), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    kiln_test_audit(mesh);
    ck_assert_uint_eq(live(mesh, KILN_ON_TET), 5);
    ck_assert_uint_eq(kiln_part_count(mesh), 1);
    ck_assert_uint_eq(mesh->ledger.tets_injected, 3);
    ck_assert_double_eq_tol(mesh->ledger.volume_gained, 0.1, 1e-15);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Each kind of split, inside and on the surface, taken back in a later transaction. */
START_TEST(splits_are_taken_back)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=2 ny=2 nz=2");
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, "m", KILN_ON_TET, KILN_F64, 1, KILN_RULE_CONSERVE, NULL),
        KILN_OK);
    kiln_field *mass = kiln_mesh_field(mesh, KILN_ON_TET, "m");
    for (uint32_t i = 0; i < mesh->table[KILN_ON_TET].used; i++)
        ((double *)mass->data)[i] = 1.0 + i % 7;
    static const uint32_t corners[15][4] = {
        {0, 1},    {0, 2},    {0, 3},       {1, 2}, {1, 3}, {2, 3},    {1, 2, 3},   {0, 2, 3},
        {0, 1, 3}, {0, 1, 2}, {0, 1, 2, 3}, {1, 0}, {3, 2}, {3, 1, 0}, {3, 2, 1, 0}};
    for (uint32_t t = 0; t < 48; t++)
        for (int kind = 0; kind < 15; kind++) {
            int count = kind < 6 || kind == 11 || kind == 12 ? 2 : kind < 10 || kind == 13 ? 3 : 4;
            static kiln_tet before[512];
            static double masses[512];
            uint32_t tets = live(mesh, KILN_ON_TET), faces = live(mesh, KILN_ON_FACE);
            memcpy(before, mesh->tet, tets * sizeof *before);
            memcpy(masses, mass->data, tets * sizeof *masses);
            double total = field_total(mesh, "m");
            kiln_split split;
            kiln_txn txn = kiln_txn_begin(mesh);
            ck_assert_int_eq(kiln_split_middle(&txn, t, corners[kind], count, &split),
                             KILN_ACCEPTED);
            ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
            kiln_test_audit(mesh);
            ck_assert_uint_gt(live(mesh, KILN_ON_TET), tets);
            ck_assert_double_eq_tol(field_total(mesh, "m"), total, 1e-12);
            txn = kiln_txn_begin(mesh);
            ck_assert_int_eq(kiln_unsplit(&txn, &split), KILN_ACCEPTED);
            ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
            kiln_test_audit(mesh);
            ck_assert_uint_eq(live(mesh, KILN_ON_TET), tets);
            ck_assert_uint_eq(live(mesh, KILN_ON_FACE), faces);
            mass = kiln_mesh_field(mesh, KILN_ON_TET, "m");
            for (uint32_t i = 0; i < tets; i++) {
                ck_assert_int_eq(memcmp(before[i].v, mesh->tet[i].v, sizeof before[i].v), 0);
                ck_assert_double_eq_tol(masses[i], ((double *)mass->data)[i], 1e-12);
            }
        }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Faces here and there, all of whose corners stay where they are: each opens to a lens. CPU
 * seconds; the hash of the result goes to *hash. */
static double open_scattered(int cells, size_t *count)
{
    kiln_context *context = kiln_test_context(1);
    char settings[64];
    snprintf(settings, sizeof settings, "nx=%d ny=%d nz=%d", cells, cells, cells);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", settings);
    kiln_u32_array faces = {0};
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t += 8)
        if (!kiln_link_is_surface(mesh->tet[t].n[t / 8 % 4]))
            ck_assert_int_eq(kiln_array_push(context, &faces, kiln_link_to(t, t / 8 % 4), NULL),
                             KILN_OK);
    *count = faces.count;
    kiln_open_report report;
    uint64_t before = kiln_mesh_hash(mesh);
    kiln_txn txn = kiln_txn_begin(mesh);
    clock_t begin = clock();
    ck_assert_int_eq(kiln_open_faces(&txn, faces.data, faces.count, 7, &report), KILN_ACCEPTED);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    ck_assert_uint_gt(report.edges_split + report.faces_split, faces.count / 8);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        ck_assert_uint_eq(mesh->info[t].marks & 0xFu << KILN_MARK_SPLIT_FACE, 0);
    kiln_txn_rollback(&txn);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), before);
    kiln_array_free(context, &faces);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
    return seconds;
}

START_TEST(many_faces_open_at_a_price_in_proportion)
{
    size_t few, many;
    double short_time = open_scattered(15, &few);
    double long_time = open_scattered(24, &many);
    ck_assert_uint_gt(many, 9000);
    double ratio = (double)many / (double)few;
    ck_assert_msg(long_time < 2.5 * ratio * short_time, "%zu faces in %.3f s, %zu in %.3f s", few,
                  short_time, many, long_time);
}
END_TEST

/* Rows, twins and conserved amounts are written by hand: all of it comes back, from a transaction
 * and from a pass. */
START_TEST(copies_and_welds_roll_back)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=4 ny=4 nz=4");
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, "mass", KILN_ON_VERTEX, KILN_F64, 2, KILN_RULE_CONSERVE, NULL),
        KILN_OK);
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, "heat", KILN_ON_VERTEX, KILN_F64, 1, KILN_RULE_INTERPOLATE, NULL),
        KILN_OK);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        ((double *)(void *)kiln_mesh_field(mesh, KILN_ON_VERTEX, "mass")->data)[2 * v] = 1.0 + v;
        ((double *)(void *)kiln_mesh_field(mesh, KILN_ON_VERTEX, "heat")->data)[v] = 0.1 * v;
    }
    uint64_t hash = kiln_mesh_hash(mesh);
    for (int pass = 0; pass < 2; pass++) {
        if (pass)
            ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
        uint32_t face = find_face(mesh, 1), copy;
        kiln_txn txn = kiln_txn_begin(mesh);
        uint32_t tet = face / 4, vertex = mesh->tet[tet].v[kiln_face_corner[face % 4][0]];
        ck_assert_int_eq(kiln_vertex_duplicate(&txn, vertex, &tet, 1, 5, &copy), KILN_ACCEPTED);
        ck_assert_uint_ne(kiln_mesh_hash(mesh), hash);
        ck_assert_int_eq(kiln_vertex_weld(&txn, vertex, copy), KILN_ACCEPTED);
        uint32_t glued = 0;
        for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
            for (uint32_t g = 0; g < f; g++)
                if (kiln_face_live(mesh, f) && kiln_face_live(mesh, g) && mesh->face[f].twin &&
                    mesh->face[f].twin == mesh->face[g].twin) {
                    ck_assert_int_eq(kiln_face_glue(&txn, f, g), KILN_ACCEPTED);
                    glued++;
                }
        ck_assert_uint_gt(glued, 0);
        if (pass) {
            ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
            kiln_archive_rollback(mesh);
        } else {
            kiln_txn_rollback(&txn);
        }
        ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("open");
    TCase *all = kiln_test_case(suite, "open");
    tcase_add_test(all, two_tets_come_apart);
    tcase_add_test(all, inner_face_becomes_a_lens);
    tcase_add_test(all, face_at_the_surface_opens);
    tcase_add_test(all, fan_round_an_edge_opens);
    tcase_add_test(all, neck_pinches_off);
    tcase_add_test(all, film_gets_a_hole);
    tcase_add_test(all, tets_that_share_too_little);
    tcase_add_test(all, voids_that_touch_get_a_tunnel);
    tcase_add_test(all, bridge_joins_two_bodies);
    tcase_add_test(all, splits_are_taken_back);
    tcase_add_test(all, many_faces_open_at_a_price_in_proportion);
    tcase_add_test(all, copies_and_welds_roll_back);
    return suite;
}
