#include "fixtures.h"
#include "support.h"

#include <string.h>

/* Each row breaks one invariant by hand on a fresh mesh of two regions with free rows. */
typedef struct breakage {
    const char *invariant;
    void (*spoil)(kiln_mesh *mesh);
    const char *what;
} breakage;

/* Some interior face of a live tet, as tet*4+face. */
static uint32_t interior_face(const kiln_mesh *mesh)
{
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (uint32_t f = 0; f < 4; f++)
            if (kiln_tet_live(mesh, t) && !kiln_link_is_surface(mesh->tet[t].n[f]))
                return kiln_link_to(t, f);
    return KILN_NONE;
}

static uint32_t live_row(const kiln_mesh *mesh, kiln_where where)
{
    uint32_t row = 0;
    while (!kiln_row_live(mesh, where, row))
        row++;
    return row;
}

static kiln_link *some_link(kiln_mesh *mesh)
{
    uint32_t at = interior_face(mesh);
    return &mesh->tet[at / 4].n[at % 4];
}

static void link_out_of_range(kiln_mesh *mesh)
{
    *some_link(mesh) = kiln_link_to(mesh->table[KILN_ON_TET].used, 0);
}
static void link_to_dead(kiln_mesh *mesh)
{
    *some_link(mesh) = kiln_link_to(mesh->table[KILN_ON_TET].free, 0);
}
static void link_one_way(kiln_mesh *mesh)
{
    uint32_t at = interior_face(mesh);
    kiln_link there = mesh->tet[at / 4].n[at % 4];
    mesh->tet[there / 4].n[there % 4] = kiln_link_to(at / 4, (at % 4 + 1) % 4);
}
static void link_other_corners(kiln_mesh *mesh)
{
    /* Two faces of a tet exchange their neighbours, who agree. */
    for (uint32_t t = 0;; t++) {
        kiln_tet *tet = &mesh->tet[t];
        uint32_t found[4], count = 0;
        for (uint32_t f = 0; f < 4 && kiln_tet_live(mesh, t); f++)
            if (!kiln_link_is_surface(tet->n[f]))
                found[count++] = f;
        if (count < 2)
            continue;
        kiln_link a = tet->n[found[0]], b = tet->n[found[1]];
        tet->n[found[0]] = b;
        tet->n[found[1]] = a;
        mesh->tet[a / 4].n[a % 4] = kiln_link_to(t, found[1]);
        mesh->tet[b / 4].n[b % 4] = kiln_link_to(t, found[0]);
        return;
    }
}
static void turn_tet(kiln_mesh *mesh)
{
    /* With its links, so that only the side is wrong. */
    uint32_t at = interior_face(mesh);
    kiln_tet *tet = &mesh->tet[at / 4];
    uint32_t a = (at + 1) % 4, b = (at + 2) % 4, swap = tet->v[a];
    tet->v[a] = tet->v[b];
    tet->v[b] = swap;
    swap = tet->n[a];
    tet->n[a] = tet->n[b];
    tet->n[b] = swap;
    for (uint32_t f = 0; f < 4; f++) {
        if (kiln_link_is_surface(tet->n[f]))
            mesh->face[tet->n[f] - KILN_LINK_SURFACE].at = kiln_link_to(at / 4, f);
        else
            mesh->tet[tet->n[f] / 4].n[tet->n[f] % 4] = kiln_link_to(at / 4, f);
    }
    mesh->info[at / 4].marks = 0;
}
static void face_record_out_of_range(kiln_mesh *mesh)
{
    uint32_t at = mesh->face[live_row(mesh, KILN_ON_FACE)].at;
    mesh->tet[at / 4].n[at % 4] = KILN_LINK_SURFACE + mesh->table[KILN_ON_FACE].used;
}
static void face_names_other_tet(kiln_mesh *mesh)
{
    mesh->face[live_row(mesh, KILN_ON_FACE)].at ^= 1;
}
static void face_record_unused(kiln_mesh *mesh)
{
    /* A record come alive that no tet names. */
    uint32_t face = mesh->table[KILN_ON_FACE].free;
    mesh->table[KILN_ON_FACE].free = mesh->face[face].twin;
    mesh->table[KILN_ON_FACE].live++;
    mesh->face[face].at = interior_face(mesh);
}
static void move_far(kiln_vec3 *places, const kiln_mesh *mesh)
{
    places[mesh->tet[live_row(mesh, KILN_ON_TET)].v[1]].x += 50.0;
}
static void negative_in_u(kiln_mesh *mesh)
{
    move_far(mesh->u, mesh);
}
static void negative_in_x(kiln_mesh *mesh)
{
    move_far(mesh->x, mesh);
}
static void flat_in_u(kiln_mesh *mesh)
{
    const uint32_t *v = mesh->tet[live_row(mesh, KILN_ON_TET)].v;
    mesh->u[v[1]] = mesh->u[v[0]];
}
static void anchor_elsewhere(kiln_mesh *mesh)
{
    for (uint32_t t = 0;; t++)
        if (kiln_tet_live(mesh, t) && kiln_tet_corner(&mesh->tet[t], 0) == 4) {
            mesh->vertex[0].tet = t;
            return;
        }
}
static void anchor_none(kiln_mesh *mesh)
{
    mesh->vertex[0].tet = KILN_NONE;
}
static void vertex_without_tets(kiln_mesh *mesh)
{
    uint32_t vertex = mesh->table[KILN_ON_VERTEX].free;
    mesh->table[KILN_ON_VERTEX].free = (uint32_t)mesh->vertex[vertex].tag;
    mesh->table[KILN_ON_VERTEX].live++;
    mesh->vertex[vertex] = (kiln_vertex_info){.tet = KILN_NONE};
}
static void tet_with_dead_vertex(kiln_mesh *mesh)
{
    mesh->vertex[mesh->tet[live_row(mesh, KILN_ON_TET)].v[2]].flags |= KILN_VERTEX_DEAD;
}
static void other_part(kiln_mesh *mesh)
{
    mesh->info[interior_face(mesh) / 4].part = 1;
}
static void part_out_of_range(kiln_mesh *mesh)
{
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        mesh->info[t].part = 77;
}
static void part_miscounted(kiln_mesh *mesh)
{
    mesh->parts.data[0].tets++;
}
static void parts_that_share_a_number(kiln_mesh *mesh)
{
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        mesh->info[t].part = 0;
}
static void edge_mark_on_one_side(kiln_mesh *mesh)
{
    uint32_t at = interior_face(mesh);
    const uint8_t *c = kiln_face_corner[at % 4];
    mesh->info[at / 4].marks ^= 1u << (KILN_MARK_REQUIRED_EDGE + kiln_edge_of[c[0]][c[1]]);
}
static void face_mark_on_one_side(kiln_mesh *mesh)
{
    uint32_t at = interior_face(mesh);
    mesh->info[at / 4].marks ^= 1u << (KILN_MARK_SPLIT_FACE + at % 4);
}
static void surface_flag(kiln_mesh *mesh)
{
    mesh->vertex[live_row(mesh, KILN_ON_VERTEX)].flags ^= KILN_VERTEX_SURFACE;
}
static void interface_flag(kiln_mesh *mesh)
{
    mesh->vertex[live_row(mesh, KILN_ON_VERTEX)].flags ^= KILN_VERTEX_INTERFACE;
}
static void free_list_short(kiln_mesh *mesh)
{
    mesh->table[KILN_ON_TET].free = KILN_NONE;
}
static void free_list_in_a_circle(kiln_mesh *mesh)
{
    uint32_t first = mesh->table[KILN_ON_FACE].free;
    mesh->face[first].twin = first;
}
static void free_list_of_live_rows(kiln_mesh *mesh)
{
    mesh->table[KILN_ON_VERTEX].free = live_row(mesh, KILN_ON_VERTEX);
}
static void live_tets_miscounted(kiln_mesh *mesh)
{
    mesh->table[KILN_ON_TET].live++;
}
static void material_not_finite(kiln_mesh *mesh)
{
    mesh->u[live_row(mesh, KILN_ON_VERTEX)].z = NAN;
}
static void world_not_finite(kiln_mesh *mesh)
{
    mesh->x[live_row(mesh, KILN_ON_VERTEX)].y = INFINITY;
}
static void field_not_finite(kiln_mesh *mesh)
{
    double *heat = (double *)kiln_mesh_field(mesh, KILN_ON_TET, "heat")->data;
    heat[2 * live_row(mesh, KILN_ON_TET) + 1] = NAN;
}

static const breakage breakages[] = {
    {"M1", link_out_of_range, "which is not there"},
    {"M1", link_to_dead, "which is not there"},
    {"M1", link_one_way, "but not back"},
    {"M1", link_other_corners, "other corners"},
    {"M1", turn_tet, "same side"},
    {"M2", face_record_out_of_range, "names surface face"},
    {"M2", face_names_other_tet, "does not name"},
    {"M2", face_record_unused, "names another"},
    {"M3", negative_in_u, "material"},
    {"M3", negative_in_x, "world"},
    {"M3", flat_in_u, "material"},
    {"M4", anchor_elsewhere, "anchor"},
    {"M4", anchor_none, "anchor"},
    {"M4", vertex_without_tets, "anchor"},
    {"M4", tet_with_dead_vertex, "not there"},
    {"M6", other_part, "parts"},
    {"M6", part_out_of_range, "part 77"},
    {"M6", part_miscounted, "counts"},
    {"M6", parts_that_share_a_number, "hang together"},
    {"M7", edge_mark_on_one_side, "edge"},
    {"M7", face_mark_on_one_side, "face"},
    {"M7", surface_flag, "flags"},
    {"M7", interface_flag, "flags"},
    {"M8", free_list_short, "on the free list"},
    {"M8", free_list_in_a_circle, "free list"},
    {"M8", free_list_of_live_rows, "free list"},
    {"M8", live_tets_miscounted, "live tets"},
    {"M9", material_not_finite, "not finite"},
    {"M9", world_not_finite, "not finite"},
    {"M9", field_not_finite, "heat"},
};

/* A box and a tet beside it (parts 0 and 1), holes in all tables. */
static kiln_mesh *sound_mesh(kiln_context *context)
{
    kiln_soup soup = kiln_test_soup(context, "box", "nx=3 ny=2 nz=2");
    uint32_t first = (uint32_t)soup.points.count;
    for (int i = 0; i < 2; i++) {
        const kiln_vec3 p[4] = {
            {5.0 + 3 * i, 0, 0}, {6.0 + 3 * i, 0, 0}, {5.0 + 3 * i, 1, 0}, {5.0 + 3 * i, 0, 1}};
        for (int k = 0; k < 4; k++)
            ck_assert_int_eq(kiln_array_push(context, &soup.points, p[k], NULL), KILN_OK);
        uint32_t v = first + 4 * (uint32_t)i;
        kiln_soup_tet tet = {{v, v + 1, v + 2, v + 3}};
        ck_assert_int_eq(kiln_array_push(context, &soup.tets, tet, NULL), KILN_OK);
        ck_assert_int_eq(kiln_array_push(context, &soup.tet_tags, 4, NULL), KILN_OK);
    }
    kiln_mesh *mesh = NULL;
    ck_assert_int_eq(kiln_mesh_build(context, &soup, NULL, &mesh, NULL, NULL), KILN_OK);
    kiln_soup_free(&soup);
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, "heat", KILN_ON_TET, KILN_F64, 2, KILN_RULE_AVERAGE, NULL),
        KILN_OK);
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_test_remove_tet(&txn, mesh->table[KILN_ON_TET].used - 1), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        ck_assert_uint_ne(mesh->table[where].free, KILN_NONE);
    return mesh;
}

START_TEST(each_breakage_is_named)
{
    kiln_context *context = kiln_test_context(1);
    const breakage *b = &breakages[_i];
    kiln_mesh *mesh = sound_mesh(context);
    kiln_test_audit(mesh);
    b->spoil(mesh);
    kiln_audit_report report;
    ck_assert_int_eq(kiln_mesh_audit(mesh, &report, NULL), KILN_OK);
    ck_assert_msg(report.invariant && strcmp(report.invariant, b->invariant) == 0,
                  "case %d: %s expected, got %s: %s", _i, b->invariant,
                  report.invariant ? report.invariant : "nothing", report.message);
    ck_assert_msg(strstr(report.message, b->what) != NULL, "case %d: %s", _i, report.message);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* M4 and M5 need whole meshes that are wrong, which only a survey builds. */
START_TEST(stars_and_surfaces_that_fall_apart)
{
    kiln_context *context = kiln_test_context(1);
    /* Two tets that share a vertex: the star through the anchor misses one of them, which shows
     * when the other is asked for its corners. */
    const kiln_vec3 tips[7] = {{0, 0, 0},  {1, 0, 0},  {0, 1, 0}, {0, 0, 1},
                               {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
    const kiln_soup_tet pair[2] = {{{0, 1, 2, 3}}, {{0, 5, 4, 6}}};
    kiln_mesh *mesh = kiln_test_mesh_of(context, 7, tips, 2, pair, NULL, KILN_BUILD_SURVEY);
    kiln_audit_report report;
    ck_assert_int_eq(kiln_mesh_audit(mesh, &report, NULL), KILN_OK);
    ck_assert_msg(report.invariant && strcmp(report.invariant, "M4") == 0, "%s: %s",
                  report.invariant ? report.invariant : "nothing", report.message);
    kiln_mesh_destroy(mesh);

    /* The pinched box of two diagonal cells below a full layer: M5 at the edge's upper end, M4 at
     * its lower end; the first in order of vertices is named. */
    kiln_soup soup = kiln_test_soup(context, "box", "nx=2 ny=2 nz=2");
    size_t kept = 0;
    for (size_t t = 0; t < soup.tets.count; t++) {
        kiln_vec3 c = {0};
        for (int k = 0; k < 4; k++)
            c = kiln_v3_madd(c, 0.25, soup.points.data[soup.tets.data[t].v[k]]);
        if (c.z < 0.5 || (c.x > 0.5) == (c.y > 0.5))
            soup.tets.data[kept++] = soup.tets.data[t];
    }
    soup.tets.count = soup.tet_tags.count = kept;
    kiln_build_options options = kiln_build_default_options();
    options.policy = KILN_BUILD_SURVEY;
    ck_assert_int_eq(kiln_mesh_build(context, &soup, &options, &mesh, NULL, NULL), KILN_OK);
    ck_assert_int_eq(kiln_mesh_audit(mesh, &report, NULL), KILN_OK);
    ck_assert_msg(report.invariant && strcmp(report.invariant, "M5") == 0, "%s: %s",
                  report.invariant ? report.invariant : "nothing", report.message);
    ck_assert_msg(strstr(report.message, "more than one fan") != NULL, "%s", report.message);
    kiln_soup_free(&soup);
    kiln_mesh_destroy(mesh);

    /* An inner vertex whose star lost one tet and, opposite, another: two holes in its link. */
    mesh = kiln_test_mesh(context, "box", "nx=4 ny=4 nz=4 pattern=bcc");
    uint32_t centre = 0;
    while (mesh->vertex[centre].flags & KILN_VERTEX_SURFACE)
        centre++;
    kiln_walker walker;
    kiln_walker_init(&walker, context);
    ck_assert_int_eq(kiln_star(mesh, centre, &walker, NULL), KILN_OK);
    uint32_t first = walker.tets.data[0], second = KILN_NONE;
    for (size_t i = 1; i < walker.tets.count && second == KILN_NONE; i++) {
        uint32_t shared = 0;
        for (int k = 0; k < 4; k++)
            shared += kiln_tet_corner(&mesh->tet[walker.tets.data[i]], mesh->tet[first].v[k]) < 4;
        if (shared == 1)
            second = walker.tets.data[i];
    }
    ck_assert_uint_ne(second, KILN_NONE);
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_test_remove_tet(&txn, first), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_test_remove_tet(&txn, second), KILN_ACCEPTED);
    kiln_vertex_state state;
    uint32_t other;
    ck_assert_int_eq(kiln_vertex_examine(mesh, centre, &walker, &state, &other, NULL), KILN_OK);
    ck_assert_int_eq(state, KILN_VERTEX_SURFACE_CYCLES);
    ck_assert_int_eq(kiln_mesh_audit_tet(mesh, walker.tets.data[0], &walker, &report, NULL),
                     KILN_OK);
    ck_assert_msg(report.invariant && strcmp(report.invariant, "M5") == 0, "%s: %s",
                  report.invariant ? report.invariant : "nothing", report.message);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_REFUSED_NON_MANIFOLD);
    kiln_txn_rollback(&txn);
    kiln_test_audit(mesh);
    kiln_walker_free(&walker);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("audit");
    TCase *all = kiln_test_case(suite, "audit");
    tcase_add_loop_test(all, each_breakage_is_named, 0, sizeof breakages / sizeof breakages[0]);
    tcase_add_test(all, stars_and_surfaces_that_fall_apart);
    return suite;
}
