#include "fixtures.h"
#include "mesh/replace.h"
#include "mesh/walk.h"
#include "support.h"

/* Tets with both vertices, by looking at all. */
static uint32_t count_sharing(const kiln_mesh *mesh, uint32_t a, uint32_t b)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        count += kiln_tet_live(mesh, t) && kiln_tet_corner(&mesh->tet[t], a) < 4 &&
                 kiln_tet_corner(&mesh->tet[t], b) < 4;
    return count;
}

/* Is the edge on a surface face, by looking at all? */
static bool on_surface(const kiln_mesh *mesh, uint32_t a, uint32_t b)
{
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t at = mesh->face[f].at;
        const kiln_tet *tet = &mesh->tet[at / 4];
        uint32_t ca = kiln_tet_corner(tet, a), cb = kiln_tet_corner(tet, b);
        if (ca < 4 && cb < 4 && ca != at % 4 && cb != at % 4)
            return true;
    }
    return false;
}

START_TEST(rings)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=2 ny=3 nz=2 pattern=mirrored");
    uint32_t ring[64], open_rings = 0, closed_rings = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (uint32_t a = 0; a < 4; a++)
            for (uint32_t b = 0; b < 4; b++) {
                if (a == b)
                    continue;
                uint32_t va = mesh->tet[t].v[a], vb = mesh->tet[t].v[b];
                kiln_ring shape = kiln_edge_ring(mesh, t, a, b, ring, 64);
                ck_assert_uint_eq(shape.count, count_sharing(mesh, va, vb));
                ck_assert_int_eq(shape.closed, !on_surface(mesh, va, vb));
                open_rings += !shape.closed;
                closed_rings += shape.closed;
                bool found = false, lowest = true;
                for (uint32_t i = 0; i < shape.count; i++) {
                    const kiln_tet *tet = &mesh->tet[ring[i] / 4];
                    lowest = lowest && ring[i] / 4 >= t;
                    ck_assert_uint_lt(kiln_tet_corner(tet, va), 4);
                    ck_assert_uint_lt(kiln_tet_corner(tet, vb), 4);
                    ck_assert(tet->v[ring[i] % 4] != va && tet->v[ring[i] % 4] != vb);
                    found |= ring[i] / 4 == t;
                    kiln_link link = tet->n[ring[i] % 4];
                    if (i + 1 < shape.count || shape.closed)
                        ck_assert_uint_eq(link / 4, ring[(i + 1) % shape.count] / 4);
                    else
                        ck_assert(kiln_link_is_surface(link));
                }
                ck_assert(found);
                ck_assert_int_eq(kiln_edge_is_own(mesh, t, a, b), lowest);
                if (shape.closed) {
                    ck_assert_uint_eq(ring[0] / 4, t);
                } else {
                    const kiln_tet *first = &mesh->tet[ring[0] / 4];
                    uint32_t entry =
                        6 - kiln_tet_corner(first, va) - kiln_tet_corner(first, vb) - ring[0] % 4;
                    ck_assert(kiln_link_is_surface(first->n[entry]));
                }
                /* Too little room: the count is still right, nothing beyond is written. */
                uint32_t little[2] = {KILN_NONE, KILN_NONE};
                ck_assert_uint_eq(kiln_edge_ring(mesh, t, a, b, little, 1).count, shape.count);
                ck_assert_uint_eq(little[0], ring[0]);
                ck_assert_uint_eq(little[1], KILN_NONE);
            }
    ck_assert_uint_gt(open_rings, 100);
    ck_assert_uint_gt(closed_rings, 100);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(stars_and_edges)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "ball", "h=0.4");
    kiln_walker walker;
    kiln_walker_init(&walker, context);
    uint32_t total = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        ck_assert_int_eq(kiln_star(mesh, v, &walker, NULL), KILN_OK);
        ck_assert_uint_eq(walker.tets.data[0], mesh->vertex[v].tet);
        for (size_t i = 0; i < walker.tets.count; i++) {
            ck_assert_uint_lt(kiln_tet_corner(&mesh->tet[walker.tets.data[i]], v), 4);
            ck_assert_uint_eq(kiln_idset_at(&walker.seen, walker.tets.data[i])->value, i);
        }
        total += (uint32_t)walker.tets.count;
        kiln_vertex_state state;
        uint32_t other, far_end = mesh->tet[mesh->vertex[v].tet].v[0];
        ck_assert_int_eq(kiln_vertex_examine(mesh, v, &walker, &state, &other, NULL), KILN_OK);
        ck_assert_int_eq(state, KILN_VERTEX_MANIFOLD);
        if (far_end == v)
            far_end = mesh->tet[mesh->vertex[v].tet].v[1];
        ck_assert_int_eq(kiln_edge_tets(mesh, v, far_end, &walker, NULL), KILN_OK);
        ck_assert_uint_eq(walker.tets.count, count_sharing(mesh, v, far_end));
    }
    ck_assert_uint_eq(total, 4 * mesh->table[KILN_ON_TET].live);
    kiln_walker_free(&walker);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

static kiln_vec3 centre(const kiln_mesh *mesh, uint32_t t)
{
    kiln_vec3 c = {0};
    for (int k = 0; k < 4; k++)
        c = kiln_v3_madd(c, 0.25, mesh->u[mesh->tet[t].v[k]]);
    return c;
}

START_TEST(every_tet_is_found_from_everywhere)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=3 ny=3 nz=3");
    kiln_test_jitter(mesh, 0.08, 4);
    uint32_t tets = mesh->table[KILN_ON_TET].used, last, visits;
    uint64_t total = 0;
    for (uint32_t goal = 0; goal < tets; goal++)
        for (uint32_t start = 0; start < tets; start++) {
            ck_assert_uint_eq(kiln_locate(mesh, centre(mesh, goal), start, &last, &visits), goal);
            ck_assert_uint_eq(last, goal);
            total += visits;
        }
    ck_assert_uint_lt(total, 16ull * tets * tets); /* a walk, not a search */
    /* Vertices lie in all tets of their star. */
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        for (uint32_t start = 0; start < tets; start += 7) {
            uint32_t found = kiln_locate(mesh, mesh->u[v], start, &last, &visits);
            ck_assert_uint_ne(found, KILN_NONE);
            ck_assert_uint_lt(kiln_tet_corner(&mesh->tet[found], v), 4);
        }
    const kiln_vec3 outside[] = {{2, .5, .5}, {-.1, .5, .5}, {.5, .5, 1.0000001}, {9, 9, 9}};
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++)
        for (uint32_t start = 0; start < tets; start++) {
            ck_assert_uint_eq(kiln_locate(mesh, outside[i], start, &last, &visits), KILN_NONE);
            bool at_surface = false;
            for (int f = 0; f < 4; f++)
                at_surface |= kiln_link_is_surface(mesh->tet[last].n[f]);
            ck_assert(at_surface);
        }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(classes_of_a_star)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=2 ny=2 nz=2");
    uint32_t middle = 0;
    while (mesh->vertex[middle].flags & KILN_VERTEX_SURFACE)
        middle++;
    kiln_walker walker;
    kiln_walker_init(&walker, context);
    kiln_u32_array class_of = {0};
    uint32_t classes;
    ck_assert_int_eq(kiln_star_classes(mesh, middle, true, &walker, &class_of, &classes, NULL),
                     KILN_OK);
    ck_assert_uint_eq(classes, 1);
    /* Split faces on the plane x = 1/2 cut the star in two; on half the plane they do not. */
    for (int whole = 0; whole < 2; whole++) {
        kiln_txn txn = kiln_txn_begin(mesh);
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
            for (uint32_t f = 0; f < 4; f++) {
                bool in_plane = true, low = true;
                for (int k = 0; k < 3; k++) {
                    kiln_vec3 p = mesh->u[mesh->tet[t].v[kiln_face_corner[f][k]]];
                    in_plane &= p.x == 0.5;
                    low &= p.y <= 0.5;
                }
                if (in_plane && (whole || low) && !kiln_link_is_surface(mesh->tet[t].n[f]))
                    ck_assert_int_eq(kiln_txn_mark_face(&txn, t, f, KILN_MARK_SPLIT_FACE, true),
                                     KILN_ACCEPTED);
            }
        ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
        kiln_test_audit(mesh);
        ck_assert_int_eq(kiln_star_classes(mesh, middle, true, &walker, &class_of, &classes, NULL),
                         KILN_OK);
        ck_assert_uint_eq(classes, whole ? 2 : 1);
        ck_assert_uint_eq(class_of.count, walker.tets.count);
        uint32_t lowest = KILN_NONE, lowest_class = 9;
        for (size_t i = 0; i < class_of.count; i++) {
            uint32_t t = walker.tets.data[i];
            if (t < lowest) {
                lowest = t;
                lowest_class = class_of.data[i];
            }
            for (size_t j = 0; j < i && whole; j++)
                ck_assert_int_eq(class_of.data[i] == class_of.data[j],
                                 (centre(mesh, t).x < 0.5) ==
                                     (centre(mesh, walker.tets.data[j]).x < 0.5));
        }
        ck_assert_uint_eq(lowest_class, 0);
        ck_assert_int_eq(kiln_star_classes(mesh, middle, false, &walker, &class_of, &classes, NULL),
                         KILN_OK);
        ck_assert_uint_eq(classes, 1);
    }
    kiln_array_free(context, &class_of);
    kiln_walker_free(&walker);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Taking out what joins them, inside a transaction: stars come from lists and may fall apart. */
START_TEST(states_of_a_vertex)
{
    kiln_context *context = kiln_test_context(1);
    /* Six tets round the edge 0-1, rim 2..7. */
    kiln_vec3 p[8] = {{0, 0, -1}, {0, 0, 1}};
    kiln_soup_tet t[6];
    for (uint32_t i = 0; i < 6; i++) {
        p[2 + i] = kiln_v3(cos(1.0471975511966 * i), sin(1.0471975511966 * i), 0);
        t[i] = (kiln_soup_tet){{0, 1, 2 + i, 2 + (i + 1) % 6}};
    }
    kiln_mesh *mesh = kiln_test_mesh_of(context, 8, p, 6, t, NULL, KILN_BUILD_STRICT);
    kiln_test_audit(mesh);
    uint64_t hash = kiln_mesh_hash(mesh);
    kiln_walker walker;
    kiln_walker_init(&walker, context);
    kiln_txn txn = kiln_txn_begin(mesh);
    /* Without tets 0 and 3 two fans remain at the edge. */
    const uint32_t old[2] = {0, 3};
    kiln_open_face opened[4];
    uint32_t count = 0;
    for (int i = 0; i < 2; i++)
        for (uint32_t f = 0; f < 4; f++)
            if (!kiln_link_is_surface(mesh->tet[old[i]].n[f]))
                opened[count++] = (kiln_open_face){.outside = mesh->tet[old[i]].n[f]};
    ck_assert_uint_eq(count, 4);
    kiln_cavity cavity = {.old = old,
                          .old_count = 2,
                          .opened = opened,
                          .opened_count = 4,
                          .flags = KILN_CAVITY_SURFACE | KILN_CAVITY_FEATURES};
    ck_assert_int_eq(kiln_replace(&txn, &cavity, NULL), KILN_ACCEPTED);
    kiln_vertex_state state;
    uint32_t other, classes;
    kiln_u32_array class_of = {0};
    ck_assert_int_eq(kiln_vertex_examine(mesh, 0, &walker, &state, &other, NULL), KILN_OK);
    ck_assert_int_eq(state, KILN_VERTEX_STAR_SPLIT);
    ck_assert_uint_eq(walker.tets.count, 4);
    ck_assert_int_eq(kiln_star_classes(mesh, 0, false, &walker, &class_of, &classes, NULL),
                     KILN_OK);
    ck_assert_uint_eq(classes, 2);
    ck_assert_int_eq(kiln_edge_tets(mesh, 0, 1, &walker, NULL), KILN_OK);
    ck_assert_uint_eq(walker.tets.count, 4);
    ck_assert_int_eq(kiln_vertex_examine(mesh, 3, &walker, &state, &other, NULL), KILN_OK);
    ck_assert_int_eq(state, KILN_VERTEX_MANIFOLD);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_REFUSED_NON_MANIFOLD);
    kiln_txn_rollback(&txn);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    kiln_array_free(context, &class_of);
    kiln_walker_free(&walker);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("walk");
    TCase *all = kiln_test_case(suite, "walk");
    tcase_add_test(all, rings);
    tcase_add_test(all, stars_and_edges);
    tcase_add_test(all, every_tet_is_found_from_everywhere);
    tcase_add_test(all, classes_of_a_star);
    tcase_add_test(all, states_of_a_vertex);
    return suite;
}
