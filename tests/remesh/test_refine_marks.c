/* Features, required entities and tags under refinement: handed on to parts, given back to the
 * whole, and respected where somebody gave them to a part. */
#include "mesh/reorder.h"
#include "refined.h"

/* Length of the feature edges and area of the surface by tag. */
static double feature_length(const kiln_mesh *mesh)
{
    double sum = 0;
    uint32_t ring[64];
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (uint32_t e = 0; e < 6 && kiln_tet_live(mesh, t); e++) {
            uint32_t a = kiln_edge_ends[e][0], b = kiln_edge_ends[e][1];
            if (!(mesh->info[t].marks >> (KILN_MARK_FEATURE_EDGE + e) & 1))
                continue;
            const uint32_t *v = mesh->tet[t].v;
            ck_assert(mesh->vertex[v[a]].flags & mesh->vertex[v[b]].flags & KILN_VERTEX_FEATURE);
            sum += kiln_v3_norm(kiln_v3_sub(mesh->u[v[a]], mesh->u[v[b]])) /
                   kiln_edge_ring(mesh, t, a, b, ring, 64).count;
        }
    return sum;
}

/* Area, and in `moment` its sum weighted by place, of the surface faces with a tag, or (KILN_NONE)
 * of the required ones. */
static double area_of(const kiln_mesh *mesh, uint32_t tag, double *moment)
{
    double sum = 0;
    *moment = 0;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        if (!kiln_face_live(mesh, f))
            continue;
        uint32_t tet = mesh->face[f].at / 4, face = mesh->face[f].at % 4;
        bool required = (mesh->info[tet].marks >> (KILN_MARK_REQUIRED_FACE + face)) & 1;
        if (tag == KILN_NONE ? !required : (uint32_t)mesh->face[f].tag != tag)
            continue;
        const uint32_t *v = mesh->tet[tet].v;
        const uint8_t *c = kiln_face_corner[face];
        kiln_vec3 p[3] = {mesh->u[v[c[0]]], mesh->u[v[c[1]]], mesh->u[v[c[2]]]};
        double area =
            kiln_v3_norm(kiln_v3_cross(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0]))) / 2;
        sum += area;
        for (int k = 0; k < 3; k++)
            *moment += area * (p[k].x + 2 * p[k].y + 4 * p[k].z);
    }
    return sum;
}

static void expect_area(const kiln_mesh *mesh, uint32_t tag, double area, double moment)
{
    double now, area_now = area_of(mesh, tag, &now);
    ck_assert_double_eq_tol(area_now, area, 1e-12);
    ck_assert_double_eq_tol(now, moment, 1e-12);
}

START_TEST(features_and_tags_are_handed_on)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=2 ny=2 nz=2");
    kiln_refiner *refiner = refiner_on(mesh);
    ck_assert_double_eq_tol(feature_length(mesh), 12, 1e-12);
    double moment[7];
    for (uint32_t tag = 1; tag <= 6; tag++)
        ck_assert_double_eq_tol(area_of(mesh, tag, &moment[tag]), 1, 1e-12);
    for (uint32_t g = 1; g <= 8; g++) {
        refine_all(refiner, mesh, g);
        ck_assert_double_eq_tol(feature_length(mesh), 12, 1e-12);
        for (uint32_t tag = 1; tag <= 6; tag++)
            expect_area(mesh, tag, 1, moment[tag]);
    }
    kiln_refiner_destroy(refiner);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

static void set_tag(kiln_mesh *mesh, uint32_t face, int32_t tag)
{
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_txn_set_face_tag(&txn, face, tag), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
}

static void set_mark(kiln_mesh *mesh, uint32_t tet, uint32_t edge, bool on)
{
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_txn_mark_edge(&txn, tet, edge, KILN_MARK_REQUIRED_EDGE, on),
                     KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
}

/* One part of a face or edge with a tag or mark of its own: neither merged nor flipped away. */
START_TEST(what_somebody_gave_a_part_is_not_lost)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=1 ny=1 nz=1");
    kiln_refiner *refiner = refiner_on(mesh);
    picture before = take_picture(mesh);
    for (uint32_t goal = 2; goal <= 7; goal++) {
        refine_all(refiner, mesh, goal);
        uint32_t face = mesh->table[KILN_ON_FACE].used - 1;
        int32_t tag = mesh->face[face].tag;
        set_tag(mesh, face, 77);
        double moment, area = area_of(mesh, 77, &moment);
        kiln_refine_report report;
        kiln_refine_choice everything = {0};
        ck_assert_int_eq(kiln_refine_where(refiner, everything, 2, &report, NULL), KILN_OK);
        expect_area(mesh, 77, area, moment);
        ck_assert_uint_gt(coarsen_all(refiner).blocked, 0);
        expect_area(mesh, 77, area, moment);
        kiln_test_audit(mesh);
        for (face = 0; face < mesh->table[KILN_ON_FACE].used; face++)
            if (kiln_face_live(mesh, face) && mesh->face[face].tag == 77)
                set_tag(mesh, face, tag);
        refine_all(refiner, mesh, goal);
        /* Every edge of a new tet: some only this cycle has, some are parts of initial ones. */
        uint32_t tet = mesh->table[KILN_ON_TET].used - 1;
        while (!kiln_tet_live(mesh, tet))
            tet--;
        uint32_t v[2] = {mesh->tet[tet].v[kiln_edge_ends[goal % 6][0]],
                         mesh->tet[tet].v[kiln_edge_ends[goal % 6][1]]};
        set_mark(mesh, tet, goal % 6, true);
        coarsen_all(refiner);
        kiln_walker walker;
        kiln_walker_init(&walker, context);
        ck_assert_int_eq(kiln_edge_tets(mesh, v[0], v[1], &walker, NULL), KILN_OK);
        ck_assert_uint_gt(walker.tets.count, 0);
        tet = walker.tets.data[0];
        set_mark(mesh, tet,
                 kiln_edge_of[kiln_tet_corner(&mesh->tet[tet], v[0])]
                             [kiln_tet_corner(&mesh->tet[tet], v[1])],
                 false);
        kiln_walker_free(&walker);
        ck_assert_uint_eq(coarsen_all(refiner).blocked, 0);
        compare_picture(mesh, &before);
        ck_assert_int_eq(kiln_mesh_compact(mesh, NULL, NULL), KILN_OK);
    }
    drop_picture(&before);
    kiln_refiner_destroy(refiner);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

static void set_corner(kiln_mesh *mesh, uint32_t vertex, bool on)
{
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(
        kiln_txn_set_vertex(&txn, vertex, on ? KILN_VERTEX_CORNER : 0, on ? 0 : KILN_VERTEX_CORNER),
        KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
}

static bool edge_is_there(const kiln_mesh *mesh, uint32_t a, uint32_t b, uint32_t *tet,
                          uint32_t *edge)
{
    for (*tet = 0; *tet < mesh->table[KILN_ON_TET].used; ++*tet) {
        uint32_t i = kiln_tet_corner(&mesh->tet[*tet], a), j = kiln_tet_corner(&mesh->tet[*tet], b);
        if (kiln_tet_live(mesh, *tet) && i < 4 && j < 4) {
            *edge = kiln_edge_of[i][j];
            return true;
        }
    }
    return false;
}

static void mark_face(kiln_mesh *mesh, uint32_t at, bool on)
{
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_txn_mark_face(&txn, at / 4, at % 4, KILN_MARK_REQUIRED_FACE, on),
                     KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
}

/* Of three vertices, tet*4+face; KILN_NONE when there is none. */
static uint32_t face_of(const kiln_mesh *mesh, const uint32_t v[3])
{
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        uint32_t corners = 0, found = 0;
        for (uint32_t k = 0; k < 3 && kiln_tet_live(mesh, t); k++) {
            uint32_t corner = kiln_tet_corner(&mesh->tet[t], v[k]);
            found += corner < 4;
            corners += corner;
        }
        if (found == 3)
            return kiln_link_to(t, 6 - corners);
    }
    return KILN_NONE;
}

/* A face that gets the mark, or a part of the surface that loses it: kept as it is. */
static void check_face_mark(kiln_refiner *refiner, kiln_mesh *mesh, uint32_t i, uint32_t goal)
{
    kiln_refine_report report;
    kiln_refine_choice everything = {0};
    coarsen_all(refiner);
    refine_all(refiner, mesh, goal);
    uint32_t tet = (i * 41) % mesh->table[KILN_ON_TET].used, f = i % 4, v[3];
    while (!kiln_tet_live(mesh, tet))
        tet--;
    for (int k = 0; k < 3; k++)
        v[k] = mesh->tet[tet].v[kiln_face_corner[f][k]];
    bool was = (mesh->info[tet].marks >> (KILN_MARK_REQUIRED_FACE + f)) & 1;
    mark_face(mesh, kiln_link_to(tet, f), !was);
    double moment, area = area_of(mesh, KILN_NONE, &moment);
    ck_assert_int_eq(kiln_refine_where(refiner, everything, 1, &report, NULL), KILN_OK);
    expect_area(mesh, KILN_NONE, area, moment);
    coarsen_all(refiner);
    expect_area(mesh, KILN_NONE, area, moment);
    uint32_t at = face_of(mesh, v);
    ck_assert_uint_ne(at, KILN_NONE);
    ck_assert_int_eq((mesh->info[at / 4].marks >> (KILN_MARK_REQUIRED_FACE + at % 4)) & 1, !was);
    mark_face(mesh, at, was);
    coarsen_all(refiner);
}

/* As many edges as there are kinds, each marked as required while its mesh, whose surface is
 * required and has features, is refined further and coarsened. */
START_TEST(an_edge_that_somebody_marked_stays)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=1 ny=1 nz=1");
    kiln_txn txn = kiln_txn_begin(mesh);
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        kiln_txn_mark_face(&txn, mesh->face[f].at / 4, mesh->face[f].at % 4,
                           KILN_MARK_REQUIRED_FACE, true);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    kiln_refiner *refiner = refiner_on(mesh);
    picture before = take_picture(mesh);
    for (uint32_t goal = 1; goal <= 5; goal++)
        for (uint32_t i = 0; i < kiln_test_rounds(18, 200); i++) {
            refine_all(refiner, mesh, goal);
            uint32_t tet = (i * 37) % mesh->table[KILN_ON_TET].used, edge = i % 6;
            while (!kiln_tet_live(mesh, tet))
                tet--;
            uint32_t a = mesh->tet[tet].v[kiln_edge_ends[edge][0]];
            uint32_t b = mesh->tet[tet].v[kiln_edge_ends[edge][1]];
            if ((mesh->info[tet].marks >> (KILN_MARK_REQUIRED_EDGE + edge)) & 1)
                continue;
            set_mark(mesh, tet, edge, true);
            kiln_refine_report report;
            kiln_refine_choice everything = {0};
            /* A marked initial edge may be cut: its parts have the mark. */
            bool initial = a < 8 && b < 8;
            for (int back = 0; back < 2; back++) {
                if (back)
                    coarsen_all(refiner);
                else if (!initial)
                    ck_assert_int_eq(kiln_refine_where(refiner, everything, 1, &report, NULL),
                                     KILN_OK);
                ck_assert_msg(edge_is_there(mesh, a, b, &tet, &edge),
                              "goal %u i %u back %d a %u b %u", goal, i, back, a, b);
                ck_assert((mesh->info[tet].marks >> (KILN_MARK_REQUIRED_EDGE + edge)) & 1);
            }
            set_mark(mesh, tet, edge, false);
            check_face_mark(refiner, mesh, i, goal);
            if (goal == 3 && a >= 8 && kiln_vertex_live(mesh, a)) {
                set_corner(mesh, a, true);
                coarsen_all(refiner);
                ck_assert(kiln_vertex_live(mesh, a));
                set_corner(mesh, a, false);
            }
            ck_assert_uint_eq(coarsen_all(refiner).blocked, 0);
            compare_picture(mesh, &before);
            ck_assert_int_eq(kiln_mesh_compact(mesh, NULL, NULL), KILN_OK);
        }
    drop_picture(&before);
    kiln_refiner_destroy(refiner);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("refine_marks");
    TCase *all = kiln_test_case(suite, "marks");
    tcase_add_test(all, features_and_tags_are_handed_on);
    tcase_add_test(all, what_somebody_gave_a_part_is_not_lost);
    tcase_add_test(all, an_edge_that_somebody_marked_stays);
    return suite;
}
