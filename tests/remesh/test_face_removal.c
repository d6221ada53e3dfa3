#include "fixtures.h"
#include "remesh/face_removal.h"
#include "support.h"

#include <math.h>
#include <string.h>

enum { MOST = 20 };

/* Triangles between two poles, 0 and 1; ring vertices from 2 on. Tet 2i is at pole 0, tet 2i + 1 at
 * pole 1. */
typedef struct sandwich {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_remesher remesher;
} sandwich;

static void start(sandwich *s, uint32_t points, const kiln_vec3 *point, uint32_t triangles,
                  const uint32_t (*triangle)[3], const kiln_vec3 *world)
{
    kiln_soup_tet tet[2 * MOST];
    for (uint32_t i = 0; i < triangles; i++) {
        uint32_t p = triangle[i][0] + 2, q = triangle[i][1] + 2, r = triangle[i][2] + 2;
        tet[2 * i] = (kiln_soup_tet){{0, p, q, r}};
        tet[2 * i + 1] = (kiln_soup_tet){{1, p, r, q}};
    }
    s->context = kiln_test_context(1);
    s->mesh =
        kiln_test_mesh_of(s->context, points, point, 2 * triangles, tet, NULL, KILN_BUILD_STRICT);
    for (uint32_t i = 0; world && i < points; i++)
        s->mesh->x[i] = world[i];
    kiln_remesh_options options = kiln_remesh_default_options();
    ck_assert_int_eq(kiln_remesher_begin(s->mesh, &options, &s->remesher, NULL), KILN_OK);
}

static void finish(sandwich *s)
{
    kiln_remesher_end(&s->remesher);
    kiln_mesh_destroy(s->mesh);
    kiln_context_destroy(s->context);
}

static bool propose(sandwich *s, uint32_t triangle, kiln_proposal *out)
{
    uint32_t face = kiln_tet_corner(&s->mesh->tet[2 * triangle], 0);
    return kiln_face_removal_propose(&s->remesher, &s->remesher.workspace, 2 * triangle, face, out);
}

static void ring_points(uint32_t count, double h, double scale, kiln_vec3 *point)
{
    point[0] = kiln_v3(0, 0, -h * scale);
    point[1] = kiln_v3(0, 0, h * scale);
    for (uint32_t i = 0; i < count; i++) {
        double angle = 2 * KILN_PI * i / count;
        point[2 + i] = kiln_v3(cos(angle) * scale, sin(angle) * scale, 0);
    }
}

static void check_gain(uint32_t count, double h, const uint32_t (*triangle)[3], double before,
                       double after)
{
    static const double scales[] = {1.0, 1e-6, 1e6};
    for (int k = 0; k < 3; k++)
        for (uint32_t root = 0; root < count - 2; root++) {
            kiln_vec3 point[MOST];
            ring_points(count, h, scales[k], point);
            sandwich s;
            start(&s, count + 2, point, count - 2, triangle, NULL);
            kiln_proposal proposal;
            ck_assert(propose(&s, root, &proposal));
            ck_assert_double_eq_tol(proposal.before, before, 5e-5);
            ck_assert_double_eq_tol(proposal.after, after, 5e-5);
            ck_assert_uint_eq(proposal.old_count, 2 * count - 4);
            ck_assert_uint_eq(proposal.fresh_count, count);
            ck_assert_int_eq(kiln_remesher_apply(&s.remesher, &proposal), KILN_ACCEPTED);
            ck_assert_uint_eq(s.mesh->table[KILN_ON_TET].live, count);
            kiln_test_audit(s.mesh);
            finish(&s);
        }
}

/* Figures of remesher-algorithms section 11, from every face of the set. */
START_TEST(sets_of_faces)
{
    const uint32_t hexagon[4][3] = {{0, 2, 4}, {0, 1, 2}, {2, 3, 4}, {4, 5, 0}};
    check_gain(6, 0.5, hexagon, 0.3284, 0.9679);
    const uint32_t pentagon[3][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}};
    check_gain(5, 0.5, pentagon, 0.3982, 0.9821);
    const uint32_t triangle[1][3] = {{0, 1, 2}};
    check_gain(3, 0.4, triangle, 0.4512, 0.5571);
}
END_TEST

/* The line of the apexes passes beside the face: illegal; and where that is so in one space, the
 * other does not help. */
START_TEST(beside_the_face)
{
    const uint32_t triangle[1][3] = {{0, 1, 2}};
    kiln_vec3 pierced[5], beside[5];
    ring_points(3, 0.4, 1.0, pierced);
    ring_points(3, 0.4, 1.0, beside);
    beside[0] = kiln_v3(0.9, 0, -0.4);
    beside[1] = kiln_v3(1.2, 0, 0.4);
    kiln_proposal proposal;
    sandwich s;
    start(&s, 5, beside, 1, triangle, NULL);
    ck_assert(!propose(&s, 0, &proposal));
    finish(&s);
    start(&s, 5, pierced, 1, triangle, beside);
    ck_assert(!propose(&s, 0, &proposal));
    finish(&s);
    start(&s, 5, pierced, 1, triangle, pierced);
    ck_assert(propose(&s, 0, &proposal));
    finish(&s);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("face_removal");
    TCase *all = kiln_test_case(suite, "face_removal");
    tcase_add_test(all, sets_of_faces);
    tcase_add_test(all, beside_the_face);
    return suite;
}
