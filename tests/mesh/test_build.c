#include "fixtures.h"
#include "mesh/classify.h"
#include "mesh/parts.h"
#include "mesh/walk.h"
#include "support.h"

#include <string.h>

static kiln_soup soup_of(kiln_context *context, size_t points, const kiln_vec3 *point, size_t tets,
                         const kiln_soup_tet *tet)
{
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    for (size_t i = 0; i < points; i++)
        ck_assert_int_eq(kiln_array_push(context, &soup.points, point[i], NULL), KILN_OK);
    for (size_t i = 0; i < tets; i++)
        ck_assert_int_eq(kiln_array_push(context, &soup.tets, tet[i], NULL), KILN_OK);
    return soup;
}

static kiln_status build(const kiln_soup *soup, kiln_build_policy policy, kiln_mesh **mesh,
                         kiln_build_report *report, kiln_error *error)
{
    kiln_build_options options = kiln_build_default_options();
    options.policy = policy;
    options.place = "soup.mesh";
    *mesh = NULL;
    return kiln_mesh_build(soup->context, soup, &options, mesh, report, error);
}

static kiln_mesh *strict(const kiln_soup *soup, kiln_build_report *report)
{
    kiln_mesh *mesh;
    kiln_error error = {0};
    ck_assert_msg(build(soup, KILN_BUILD_STRICT, &mesh, report, &error) == KILN_OK, "%s",
                  error.message);
    kiln_test_audit(mesh);
    return mesh;
}

/* Point 0 is loose, so that soup and mesh numbers differ. 1-2-3 is the common face; 4 and 6 above
 * it, 5 below, 7 in its plane; 8.. a tet far away but for point 4. */
static const kiln_vec3 places[] = {{9, 9, 9},   {0, 0, 0},      {1, 0, 0},     {0, 1, 0},
                                   {.3, .3, 1}, {.3, .3, -1},   {.2, .2, 2},   {1, 1, 0},
                                   {.3, .3, 3}, {1.3, .3, 2.5}, {.3, 1.3, 2.5}};
#define ABOVE                                                                                      \
    {                                                                                              \
        {                                                                                          \
            1, 2, 3, 4                                                                             \
        }                                                                                          \
    }
#define BELOW                                                                                      \
    {                                                                                              \
        {                                                                                          \
            1, 3, 2, 5                                                                             \
        }                                                                                          \
    }
#define TURNED                                                                                     \
    {                                                                                              \
        {                                                                                          \
            1, 2, 3, 5                                                                             \
        }                                                                                          \
    }
#define ABOVE_TOO                                                                                  \
    {                                                                                              \
        {                                                                                          \
            1, 2, 3, 6                                                                             \
        }                                                                                          \
    }
#define FLAT                                                                                       \
    {                                                                                              \
        {                                                                                          \
            1, 2, 3, 7                                                                             \
        }                                                                                          \
    }
#define REPEATED                                                                                   \
    {                                                                                              \
        {                                                                                          \
            1, 2, 2, 4                                                                             \
        }                                                                                          \
    }
#define TIP_TO_TIP                                                                                 \
    {                                                                                              \
        {                                                                                          \
            4, 9, 10, 8                                                                            \
        }                                                                                          \
    }
#define EDGE_ONLY                                                                                  \
    {                                                                                              \
        {                                                                                          \
            1, 4, 9, 10                                                                            \
        }                                                                                          \
    }

typedef struct defect_case {
    kiln_soup_tet tet[4];
    size_t tets;
    kiln_defect defect;
    size_t count, first; /* as reported */
    bool accepted[3];    /* strict, repair, survey */
    size_t kept[3];      /* tets of the mesh where accepted */
    const char *message; /* part of the strict one */
} defect_case;

static const defect_case defect_cases[] = {
    {{ABOVE, TURNED},
     2,
     KILN_DEFECT_INVERTED,
     1,
     1,
     {0, 1, 1},
     {0, 2, 2},
     "tet 2: a tet must be p"},
    {{FLAT, ABOVE, BELOW},
     3,
     KILN_DEFECT_FLAT,
     1,
     0,
     {0, 0, 1},
     {0, 0, 3},
     "tet 1: a tet must have"},
    {{ABOVE, REPEATED, BELOW},
     3,
     KILN_DEFECT_REPEATED_CORNER,
     1,
     1,
     {0, 1, 1},
     {0, 2, 2},
     "tet 2: "},
    {{ABOVE, BELOW, {{2, 3, 1, 4}}, ABOVE},
     4,
     KILN_DEFECT_DUPLICATE,
     2,
     2,
     {0, 1, 1},
     {0, 2, 2},
     "tet 3: a tet may be given once"},
    {{BELOW, ABOVE, ABOVE_TOO},
     3,
     KILN_DEFECT_CROWDED_FACE,
     1,
     2,
     {0, 0, 1},
     {0, 0, 3},
     "tet 3: a face has at most two"},
    {{ABOVE, ABOVE_TOO},
     2,
     KILN_DEFECT_SAME_SIDE,
     1,
     1,
     {0, 0, 1},
     {0, 0, 2},
     "tet 2: two tets of"},
    {{ABOVE, TIP_TO_TIP},
     2,
     KILN_DEFECT_SPLIT_VERTEX,
     1,
     4,
     {0, 1, 1},
     {0, 2, 2},
     "vertex 5: the tets at"},
    /* Where tets share an edge only, both of its ends fall apart; that is what is reported. */
    {{ABOVE, EDGE_ONLY},
     2,
     KILN_DEFECT_SPLIT_VERTEX,
     2,
     1,
     {0, 1, 1},
     {0, 2, 2},
     "vertex 2: the tets at"},
};

START_TEST(defects_under_every_policy)
{
    kiln_context *context = kiln_test_context(1);
    const defect_case *c = &defect_cases[_i];
    kiln_soup soup = soup_of(context, sizeof places / sizeof places[0], places, c->tets, c->tet);
    for (int policy = KILN_BUILD_STRICT; policy <= KILN_BUILD_SURVEY; policy++) {
        kiln_mesh *mesh;
        kiln_build_report report;
        kiln_error error = {0};
        kiln_status status = build(&soup, (kiln_build_policy)policy, &mesh, &report, &error);
        ck_assert_msg((status == KILN_OK) == c->accepted[policy], "policy %d: %s", policy,
                      error.message);
        ck_assert_uint_eq(report.count[c->defect], c->count);
        ck_assert_uint_eq(report.first[c->defect], c->first);
        ck_assert(!report.reversed);
        if (status != KILN_OK) {
            ck_assert_int_eq(status, KILN_ERR_INPUT);
            ck_assert_ptr_null(mesh);
            ck_assert_str_eq(error.place, "soup.mesh");
            ck_assert_msg(strstr(error.message, kiln_defect_rule(c->defect)) != NULL, "%s",
                          error.message);
            ck_assert_msg(strstr(error.message, kiln_defect_name(c->defect)) != NULL, "%s",
                          error.message);
            if (policy == KILN_BUILD_STRICT)
                ck_assert_msg(strstr(error.message, c->message) != NULL, "%s", error.message);
            continue;
        }
        ck_assert_uint_eq(mesh->table[KILN_ON_TET].live, c->kept[policy]);
        if (policy == KILN_BUILD_REPAIR && c->defect != KILN_DEFECT_SPLIT_VERTEX)
            kiln_test_audit(mesh);
        kiln_mesh_destroy(mesh);
    }
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(all_reversed_is_the_other_convention)
{
    kiln_context *context = kiln_test_context(1);
    const kiln_soup_tet tets[2] = {{{1, 3, 2, 4}}, TURNED};
    kiln_soup soup = soup_of(context, 6, places, 2, tets);
    kiln_build_report report;
    kiln_mesh *mesh = strict(&soup, &report);
    ck_assert(report.reversed);
    ck_assert_uint_eq(report.count[KILN_DEFECT_INVERTED], 0);
    ck_assert_double_eq_tol(kiln_mesh_volume(mesh), 2.0 / 6.0, 1e-15);
    kiln_mesh_destroy(mesh);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

/* Tets that repair leaves out must not shift the numbers in reports and messages. */
START_TEST(numbers_are_those_of_the_soup)
{
    kiln_context *context = kiln_test_context(1);
    const kiln_soup_tet tets[4] = {REPEATED, BELOW, ABOVE, ABOVE_TOO};
    kiln_soup soup = soup_of(context, 7, places, 4, tets);
    kiln_mesh *mesh;
    kiln_build_report report;
    kiln_error error = {0};
    ck_assert_int_eq(build(&soup, KILN_BUILD_REPAIR, &mesh, &report, &error), KILN_ERR_INPUT);
    ck_assert_uint_eq(report.first[KILN_DEFECT_CROWDED_FACE], 3);
    ck_assert_msg(strstr(error.message, "tet 4") != NULL, "%s", error.message);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(loose_items_are_left_out_and_reported)
{
    kiln_context *context = kiln_test_context(1);
    const kiln_soup_tet tets[2] = {ABOVE, BELOW};
    kiln_soup soup = soup_of(context, 8, places, 2, tets);
    const kiln_soup_triangle triangles[4] = {
        {{1, 2, 4}}, {{0, 1, 2}}, {{2, 3, 1}}, {{1, 4, 5}}}; /* surface, loose, inside, loose */
    const int32_t triangle_tags[4] = {11, 12, 13, 14};
    const kiln_soup_edge edges[4] = {{{1, 2}}, {{4, 5}}, {{0, 1}}, {{3, 3}}};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(kiln_array_push(context, &soup.triangles, triangles[i], NULL), KILN_OK);
        ck_assert_int_eq(kiln_array_push(context, &soup.triangle_tags, triangle_tags[i], NULL),
                         KILN_OK);
        ck_assert_int_eq(kiln_array_push(context, &soup.edges, edges[i], NULL), KILN_OK);
        ck_assert_int_eq(kiln_array_push(context, &soup.ridges, (uint32_t)i, NULL), KILN_OK);
    }
    kiln_build_report report;
    kiln_mesh *mesh = strict(&soup, &report);
    ck_assert_uint_eq(report.count[KILN_DEFECT_LOOSE_VERTEX], 3);
    ck_assert_uint_eq(report.first[KILN_DEFECT_LOOSE_VERTEX], 0);
    ck_assert_uint_eq(report.count[KILN_DEFECT_LOOSE_TRIANGLE], 2);
    ck_assert_uint_eq(report.first[KILN_DEFECT_LOOSE_TRIANGLE], 1);
    ck_assert_uint_eq(report.count[KILN_DEFECT_LOOSE_EDGE], 3);
    ck_assert_uint_eq(report.first[KILN_DEFECT_LOOSE_EDGE], 1);
    ck_assert_uint_eq(report.interior_triangles, 1);
    ck_assert_uint_eq(mesh->table[KILN_ON_VERTEX].live, 5);
    uint32_t tagged = 0;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        tagged += mesh->face[f].tag == 11;
    ck_assert_uint_eq(tagged, 1);
    kiln_mesh_destroy(mesh);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

/* Two cells of the lower layer that meet in an edge only, joined by the upper layer. */
START_TEST(an_edge_with_two_fans)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup = kiln_test_soup(context, "box", "nx=2 ny=2 nz=2");
    size_t kept = 0;
    for (size_t t = 0; t < soup.tets.count; t++) {
        kiln_vec3 c = {0};
        for (int k = 0; k < 4; k++)
            c = kiln_v3_madd(c, 0.25, soup.points.data[soup.tets.data[t].v[k]]);
        if (c.z > 0.5 || (c.x > 0.5) == (c.y > 0.5))
            soup.tets.data[kept++] = soup.tets.data[t];
    }
    soup.tets.count = soup.tet_tags.count = kept;
    kiln_mesh *mesh;
    kiln_build_report report;
    kiln_error error = {0};
    ck_assert_int_eq(build(&soup, KILN_BUILD_STRICT, &mesh, &report, &error), KILN_ERR_INPUT);
    ck_assert_int_eq(build(&soup, KILN_BUILD_REPAIR, &mesh, &report, &error), KILN_OK);
    ck_assert_uint_eq(report.count[KILN_DEFECT_SPLIT_EDGE], 1);   /* seen from the centre */
    ck_assert_uint_eq(report.count[KILN_DEFECT_SPLIT_VERTEX], 1); /* its lower end falls apart */
    kiln_vec3 centre = soup.points.data[report.first[KILN_DEFECT_SPLIT_EDGE]];
    ck_assert_double_eq(centre.x, 0.5);
    ck_assert_double_eq(centre.y, 0.5);
    ck_assert_double_eq(centre.z, 0.5);
    kiln_audit_report audit;
    ck_assert_int_eq(kiln_mesh_audit(mesh, &audit, NULL), KILN_OK);
    ck_assert_ptr_nonnull(audit.invariant);
    kiln_mesh_destroy(mesh);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(disjoint_parts_and_regions)
{
    kiln_context *context = kiln_test_context(1);
    const kiln_vec3 p[9] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {.3, .3, 1}, {.3, .3, -1},
                            {5, 0, 0}, {6, 0, 0}, {5, 1, 0}, {5, 0, 1}};
    const kiln_soup_tet t[3] = {{{0, 1, 2, 3}}, {{5, 6, 7, 8}}, {{0, 2, 1, 4}}};
    const int32_t regions[3] = {3, -1, 4};
    kiln_mesh *mesh = kiln_test_mesh_of(context, 9, p, 3, t, regions, KILN_BUILD_STRICT);
    kiln_test_audit(mesh);
    ck_assert_uint_eq(kiln_part_count(mesh), 2);
    ck_assert_uint_eq(mesh->info[0].part, 0);
    ck_assert_uint_eq(mesh->info[1].part, 1);
    ck_assert_uint_eq(mesh->info[2].part, 0);
    ck_assert_uint_eq(mesh->parts.data[0].tets, 2);
    ck_assert_uint_eq(mesh->parts.data[1].body, 1);
    ck_assert_double_eq_tol(mesh->parts.data[0].volume, 1.0 / 3.0, 1e-15);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(mesh->info[i].region, regions[i]);
    for (uint32_t v = 0; v < 9; v++)
        ck_assert_int_eq((mesh->vertex[v].flags & KILN_VERTEX_INTERFACE) != 0, v < 3);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A box with everything a soup can carry. */
static kiln_soup rich_soup(kiln_context *context)
{
    kiln_soup soup = kiln_test_soup(context, "box", "nx=3 ny=2 nz=4");
    for (size_t t = 0; t < soup.tets.count; t++)
        soup.tet_tags.data[t] = soup.points.data[soup.tets.data[t].v[0]].z < 0.4 ? 5 : 8;
    for (size_t i = 0; i < soup.points.count; i++)
        ck_assert_int_eq(kiln_array_push(context, &soup.point_tags, (int32_t)i - 3, NULL), KILN_OK);
    kiln_soup_field *field;
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        ck_assert_int_eq(kiln_soup_add_field(&soup, where == 1 ? "stress" : "heat",
                                             (kiln_where)where, where == 1 ? 6 : 1, &field, NULL),
                         KILN_OK);
        for (size_t i = 0; i < field->data.count; i++)
            field->data.data[i] = 0.1 * (double)i + where;
    }
    ck_assert_int_eq(kiln_soup_add_field(&soup, "u", KILN_ON_VERTEX, 3, &field, NULL), KILN_OK);
    for (size_t i = 0; i < soup.points.count; i++) {
        kiln_vec3 p = soup.points.data[i], u = {2 * p.x + 0.1 * p.y, p.y, 3 * p.z};
        memcpy(field->data.data + 3 * i, &u, sizeof u);
    }
    /* An edge inside a face of the box, an edge inside the box, a corner and required things. */
    for (int k = 0; k < 2; k++) {
        const uint32_t *v = soup.tets.data[20 + k].v;
        kiln_soup_edge edge = {{v[1], v[2]}};
        ck_assert_int_eq(kiln_array_push(context, &soup.edges, edge, NULL), KILN_OK);
        ck_assert_int_eq(kiln_array_push(context, &soup.required_edges, (uint32_t)k, NULL),
                         KILN_OK);
        ck_assert_int_eq(
            kiln_array_push(context, k ? &soup.corners : &soup.required_points, v[3], NULL),
            KILN_OK);
    }
    ck_assert_int_eq(kiln_array_push(context, &soup.ridges, 0, NULL), KILN_OK);
    ck_assert_int_eq(kiln_array_push(context, &soup.required_triangles, 7, NULL), KILN_OK);
    return soup;
}

START_TEST(to_a_soup_and_back)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup = rich_soup(context);
    kiln_mesh *mesh = strict(&soup, NULL);
    ck_assert(memcmp(mesh->u, mesh->x, sizeof(kiln_vec3)) == 0);
    ck_assert_double_eq(mesh->u[7].z, 3 * mesh->x[7].z);
    ck_assert_double_eq(mesh->u[7].x, 2 * mesh->x[7].x + 0.1 * mesh->x[7].y);
    ck_assert_int_eq(mesh->vertex[7].tag, 4);
    const kiln_field *heat = kiln_mesh_field(mesh, KILN_ON_VERTEX, "heat");
    const kiln_field *stress = kiln_mesh_field(mesh, KILN_ON_TET, "stress");
    const kiln_field *face_heat = kiln_mesh_field(mesh, KILN_ON_FACE, "heat");
    ck_assert_int_eq(heat->rule, KILN_RULE_INTERPOLATE);
    ck_assert_int_eq(stress->rule, KILN_RULE_AVERAGE);
    ck_assert_int_eq(face_heat->rule, KILN_RULE_COPY);
    ck_assert_double_eq(((double *)heat->data)[7], 0.1 * 7);
    ck_assert_double_eq(((double *)stress->data)[6 * 9 + 2], 0.1 * 56 + 1);
    /* The mesh has its own face numbers: by the corners, back to the triangle. */
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t at = mesh->face[f].at;
        size_t i = (size_t)llround((((double *)face_heat->data)[f] - 2) / 0.1);
        for (int k = 0; k < 3; k++) {
            uint32_t v = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
            const uint32_t *w = soup.triangles.data[i].v;
            ck_assert(v == w[0] || v == w[1] || v == w[2]);
        }
        ck_assert_int_eq(mesh->face[f].tag, soup.triangle_tags.data[i]);
    }
    uint32_t required_edges = 0, required_faces = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        required_edges += (mesh->info[t].marks >> KILN_MARK_REQUIRED_EDGE & 63) != 0;
        required_faces += (mesh->info[t].marks >> KILN_MARK_REQUIRED_FACE & 15) != 0;
    }
    ck_assert_uint_gt(required_edges, 2);
    ck_assert_uint_eq(required_faces, 1);

    kiln_soup again;
    ck_assert_int_eq(kiln_mesh_to_soup(mesh, &again, NULL), KILN_OK);
    ck_assert_int_eq(kiln_soup_check(&again, NULL, NULL), KILN_OK);
    kiln_mesh *twin = strict(&again, NULL);
    ck_assert_uint_eq(kiln_mesh_hash(twin), kiln_mesh_hash(mesh));
    kiln_mesh_destroy(twin);
    kiln_soup_free(&again);
    kiln_mesh_destroy(mesh);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

/* More tets round an edge than any fixed buffer: still written once. */
START_TEST(an_edge_with_many_tets_is_written_once)
{
    enum { RIM = 200 };
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup = soup_of(context, 0, NULL, 0, NULL);
    const kiln_vec3 ends[2] = {{0, 0, 0}, {0, 0, 1}};
    for (int i = 0; i < RIM + 2; i++) {
        double angle = 2 * 3.14159265358979 * i / RIM;
        kiln_vec3 p = i < RIM ? kiln_v3(cos(angle), sin(angle), 0.5) : ends[i - RIM];
        ck_assert_int_eq(kiln_array_push(context, &soup.points, p, NULL), KILN_OK);
    }
    for (uint32_t i = 0; i < RIM; i++) {
        kiln_soup_tet tet = {{RIM, RIM + 1, i, (i + 1) % RIM}};
        ck_assert_int_eq(kiln_array_push(context, &soup.tets, tet, NULL), KILN_OK);
    }
    kiln_soup_edge edge = {{RIM, RIM + 1}};
    ck_assert_int_eq(kiln_array_push(context, &soup.edges, edge, NULL), KILN_OK);
    ck_assert_int_eq(kiln_array_push(context, &soup.ridges, 0, NULL), KILN_OK);
    kiln_mesh *mesh = strict(&soup, NULL);
    ck_assert_uint_ne(mesh->vertex[RIM].flags & KILN_VERTEX_FEATURE, 0);
    kiln_soup again;
    ck_assert_int_eq(kiln_mesh_to_soup(mesh, &again, NULL), KILN_OK);
    uint32_t written = 0;
    for (size_t i = 0; i < again.edges.count; i++)
        written += again.edges.data[i].v[0] + again.edges.data[i].v[1] == 2 * RIM + 1;
    ck_assert_uint_eq(written, 1);
    kiln_soup_free(&again);
    kiln_mesh_destroy(mesh);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

/* Material places decide the orientation; world places must agree with them. */
START_TEST(material_places_must_be_positive_too)
{
    kiln_context *context = kiln_test_context(1);
    for (int material_bad = 0; material_bad < 2; material_bad++) {
        kiln_soup soup = kiln_test_soup(context, "box", "nx=2 ny=2 nz=2");
        kiln_soup_field *u;
        ck_assert_int_eq(kiln_soup_add_field(&soup, "u", KILN_ON_VERTEX, 3, &u, NULL), KILN_OK);
        memcpy(u->data.data, soup.points.data, soup.points.count * sizeof(kiln_vec3));
        uint32_t moving = soup.tets.data[5].v[0];
        kiln_vec3 far_away = {7, -3, 11};
        if (material_bad)
            memcpy(u->data.data + 3 * moving, &far_away, sizeof far_away);
        else
            soup.points.data[moving] = far_away;
        kiln_mesh *mesh;
        kiln_build_report report;
        kiln_error error = {0};
        ck_assert_int_eq(build(&soup, KILN_BUILD_STRICT, &mesh, &report, &error), KILN_ERR_INPUT);
        ck_assert_uint_gt(report.count[KILN_DEFECT_INVERTED], 0);
        /* Turning a tet cannot mend one space without breaking the other. */
        ck_assert_int_eq(build(&soup, KILN_BUILD_REPAIR, &mesh, &report, &error), KILN_ERR_INPUT);
        ck_assert_int_eq(build(&soup, KILN_BUILD_SURVEY, &mesh, &report, &error), KILN_OK);
        kiln_audit_report audit;
        ck_assert_int_eq(kiln_mesh_audit(mesh, &audit, NULL), KILN_OK);
        ck_assert_str_eq(audit.invariant, "M3");
        kiln_mesh_destroy(mesh);
        kiln_soup_free(&soup);
    }
    kiln_context_destroy(context);
}
END_TEST

START_TEST(senseless_soups_are_refused)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup = soup_of(context, 0, NULL, 0, NULL);
    kiln_mesh *mesh;
    kiln_error error = {0};
    ck_assert_int_eq(build(&soup, KILN_BUILD_SURVEY, &mesh, NULL, &error), KILN_ERR_INPUT);
    ck_assert_msg(strstr(error.message, "no tets") != NULL, "%s", error.message);
    kiln_soup_free(&soup);

    const kiln_soup_tet out_of_range = {{1, 2, 3, 11}}, fine = ABOVE;
    soup = soup_of(context, 11, places, 1, &out_of_range);
    ck_assert_int_eq(build(&soup, KILN_BUILD_SURVEY, &mesh, NULL, &error), KILN_ERR_INPUT);
    kiln_soup_free(&soup);
    soup = soup_of(context, 11, places, 1, &fine);
    soup.points.data[2].y = NAN;
    ck_assert_int_eq(build(&soup, KILN_BUILD_SURVEY, &mesh, NULL, &error), KILN_ERR_INPUT);
    kiln_soup_free(&soup);
    /* Only repeated corners: nothing is left. */
    const kiln_soup_tet repeated = REPEATED;
    soup = soup_of(context, 11, places, 1, &repeated);
    ck_assert_int_eq(build(&soup, KILN_BUILD_REPAIR, &mesh, NULL, &error), KILN_ERR_INPUT);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

static uint32_t count_flags(const kiln_mesh *mesh, uint32_t flag)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        count += (mesh->vertex[v].flags & flag) != 0;
    return count;
}

/* Feature edges, each once. */
static uint32_t count_features(const kiln_mesh *mesh)
{
    kiln_soup soup;
    ck_assert_int_eq(kiln_mesh_to_soup(mesh, &soup, NULL), KILN_OK);
    uint32_t count = (uint32_t)soup.ridges.count;
    kiln_soup_free(&soup);
    return count;
}

START_TEST(classes_of_a_box)
{
    kiln_context *context = kiln_test_context(1);
    for (int tagged = 0; tagged < 2; tagged++) {
        kiln_soup soup = kiln_test_soup(context, "box", "nx=3 ny=4 nz=5");
        if (!tagged)
            soup.triangles.count = soup.triangle_tags.count = 0; /* then by angle alone */
        kiln_mesh *mesh = strict(&soup, NULL);
        ck_assert_uint_eq(count_features(mesh), 4 * (3 + 4 + 5));
        ck_assert_uint_eq(count_flags(mesh, KILN_VERTEX_CORNER), 8);
        ck_assert_uint_eq(count_flags(mesh, KILN_VERTEX_FEATURE), 8 + 4 * (2 + 3 + 4));
        ck_assert_uint_eq(count_flags(mesh, KILN_VERTEX_SURFACE), 4 * 5 * 6 - 2 * 3 * 4);
        kiln_mesh_destroy(mesh);
        kiln_soup_free(&soup);
    }
    kiln_context_destroy(context);
}
END_TEST

START_TEST(classes_of_a_cylinder)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "cylinder", "h=0.15");
    uint32_t rims = count_flags(mesh, KILN_VERTEX_FEATURE), on_rim = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 p = mesh->u[v];
        bool end = p.z == 0.0 || fabs(p.z - 1.0) < 1e-12;
        on_rim += end && fabs(hypot(p.x, p.y) - 0.5) < 1e-9;
    }
    ck_assert_uint_gt(rims, 30);
    ck_assert_uint_eq(rims, on_rim);
    ck_assert_uint_eq(count_features(mesh), rims); /* two closed lines */
    ck_assert_uint_eq(count_flags(mesh, KILN_VERTEX_CORNER), 0);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(classes_of_two_regions)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup = kiln_test_soup(context, "box", "nx=4 ny=3 nz=3");
    for (size_t t = 0; t < soup.tets.count; t++) {
        kiln_vec3 c = {0};
        for (int k = 0; k < 4; k++)
            c = kiln_v3_madd(c, 0.25, soup.points.data[soup.tets.data[t].v[k]]);
        soup.tet_tags.data[t] = c.x < 0.5 ? 1 : 2;
    }
    kiln_mesh *mesh = strict(&soup, NULL);
    /* The box as before, and the rectangle where the interface meets the surface. */
    ck_assert_uint_eq(count_features(mesh), 4 * (4 + 3 + 3) + 4 * 3);
    ck_assert_uint_eq(count_flags(mesh, KILN_VERTEX_CORNER), 8 + 4);
    ck_assert_uint_eq(count_flags(mesh, KILN_VERTEX_INTERFACE), 16);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        ck_assert_int_eq((mesh->vertex[v].flags & KILN_VERTEX_INTERFACE) != 0, mesh->u[v].x == 0.5);
    kiln_mesh_destroy(mesh);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(same_for_any_number_of_threads)
{
    uint64_t hash[3];
    for (int threads = 1; threads <= 3; threads++) {
        kiln_context *context = kiln_test_context(threads);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=16 ny=17 nz=18");
        hash[threads - 1] = kiln_mesh_hash(mesh);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
    ck_assert_uint_eq(hash[0], hash[2]);
}
END_TEST

START_TEST(every_failed_allocation_is_survived)
{
    kiln_test_heap soup_heap = {0}, heap = {0};
    kiln_context *soup_context = kiln_test_context_on(&soup_heap, 1);
    kiln_soup soup = rich_soup(soup_context);
    /* A duplicate, so that the second round of repair is walked too. */
    ck_assert_int_eq(kiln_array_push(soup_context, &soup.tets, soup.tets.data[3], NULL), KILN_OK);
    ck_assert_int_eq(kiln_array_push(soup_context, &soup.tet_tags, 1, NULL), KILN_OK);
    kiln_soup_field *stress = NULL;
    for (size_t i = 0; i < soup.fields.count; i++)
        if (soup.fields.data[i].where == KILN_ON_TET)
            stress = &soup.fields.data[i];
    for (int c = 0; c < 6; c++)
        ck_assert_int_eq(kiln_array_push(soup_context, &stress->data, 0.0, NULL), KILN_OK);
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_build_options options = kiln_build_default_options();
    options.policy = KILN_BUILD_REPAIR;
    int64_t blocks = heap.live_blocks;
    kiln_status status = KILN_ERR_MEMORY;
    uint64_t k;
    for (k = 1; status != KILN_OK; k++) {
        kiln_mesh *mesh = NULL;
        heap.calls = 0;
        heap.fail_at = k;
        status = kiln_mesh_build(context, &soup, &options, &mesh, NULL, NULL);
        heap.fail_at = 0;
        if (status == KILN_OK) {
            kiln_test_audit(mesh);
            kiln_mesh_destroy(mesh);
        } else {
            ck_assert_int_eq(status, KILN_ERR_MEMORY);
            ck_assert_ptr_null(mesh);
        }
        ck_assert_int_eq(heap.live_blocks, blocks);
    }
    ck_assert_uint_gt(k, 30);
    kiln_context_destroy(context);
    kiln_soup_free(&soup);
    kiln_context_destroy(soup_context);
    ck_assert_int_eq(heap.live_blocks, 0);
    ck_assert_int_eq(heap.live_bytes, 0);
    ck_assert_int_eq(soup_heap.live_blocks, 0);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("build");
    TCase *all = kiln_test_case(suite, "build");
    tcase_add_loop_test(all, defects_under_every_policy, 0,
                        sizeof defect_cases / sizeof defect_cases[0]);
    tcase_add_test(all, all_reversed_is_the_other_convention);
    tcase_add_test(all, numbers_are_those_of_the_soup);
    tcase_add_test(all, loose_items_are_left_out_and_reported);
    tcase_add_test(all, an_edge_with_two_fans);
    tcase_add_test(all, disjoint_parts_and_regions);
    tcase_add_test(all, to_a_soup_and_back);
    tcase_add_test(all, an_edge_with_many_tets_is_written_once);
    tcase_add_test(all, material_places_must_be_positive_too);
    tcase_add_test(all, senseless_soups_are_refused);
    tcase_add_test(all, classes_of_a_box);
    tcase_add_test(all, classes_of_a_cylinder);
    tcase_add_test(all, classes_of_two_regions);
    tcase_add_test(all, same_for_any_number_of_threads);
    tcase_add_test(all, every_failed_allocation_is_survived);
    return suite;
}
