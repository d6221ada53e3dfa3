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

/* The corners i..j of a polygon in random triangles, with the one across each side. */
static uint32_t triangulate(kiln_random *random, uint32_t i, uint32_t j, uint32_t (*triangle)[3],
                            uint32_t count)
{
    if (j < i + 2)
        return count;
    uint32_t k = i + 1 + kiln_random_below(random, j - i - 1);
    triangle[count][0] = i;
    triangle[count][1] = k;
    triangle[count][2] = j;
    count = triangulate(random, i, k, triangle, count + 1);
    return triangulate(random, k, j, triangle, count);
}

/* Brute force over all sets of triangles that hang together and have the root. */
typedef struct subsets {
    uint32_t count; /* triangles */
    const uint32_t (*triangle)[3];
    double old[MOST], ring[MOST][3]; /* worst of the two tets; the tet that comes at a side */
    uint32_t across[MOST][3];        /* triangle beyond a side, or `count` */
} subsets;

static double least_old(const subsets *s, uint32_t set)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < s->count; i++)
        if (set >> i & 1)
            least = fmin(least, s->old[i]);
    return least;
}

static double least_fresh(const subsets *s, uint32_t set)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < s->count; i++)
        for (int k = 0; set >> i & 1 && k < 3; k++)
            if (s->across[i][k] == s->count || !(set >> s->across[i][k] & 1))
                least = fmin(least, s->ring[i][k]);
    return least;
}

static bool hangs_together(const subsets *s, uint32_t set)
{
    uint32_t reached = set & -set, before = 0;
    while (reached != before) {
        before = reached;
        for (uint32_t i = 0; i < s->count; i++)
            for (int k = 0; before >> i & 1 && k < 3; k++)
                reached |= set & (s->across[i][k] < s->count ? 1u << s->across[i][k] : 0);
    }
    return reached == set;
}

static void fill_subsets(subsets *s, const sandwich *w, uint32_t count,
                         const uint32_t (*triangle)[3])
{
    const kiln_vec3 *u = w->mesh->u;
    s->count = count;
    s->triangle = triangle;
    for (uint32_t i = 0; i < count; i++) {
        s->old[i] = fmin(w->remesher.quality.data[2 * i], w->remesher.quality.data[2 * i + 1]);
        for (int k = 0; k < 3; k++) {
            uint32_t p = triangle[i][k], q = triangle[i][(k + 1) % 3];
            s->ring[i][k] = kiln_tet_quality(&u[0], &u[1], &u[2 + p], &u[2 + q]);
            s->across[i][k] = count;
            for (uint32_t j = 0; j < count; j++)
                for (int l = 0; l < 3; l++)
                    if (triangle[j][l] == q && triangle[j][(l + 1) % 3] == p)
                        s->across[i][k] = j;
        }
    }
}

/* The set a proposal takes. */
static uint32_t set_of(const kiln_proposal *proposal)
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < proposal->old_count; i++)
        set |= 1u << proposal->old[i] / 2;
    return set;
}

/* Of all sets the one is proposed after which the worst of everything, tets that stay included, is
 * best; nothing is proposed only where no set gains. */
START_TEST(best_of_all_sets)
{
    kiln_random random = kiln_random_start(5, 0);
    uint64_t rounds = kiln_test_rounds(4000, 400000);
    int made[MOST] = {0}, refused = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        uint32_t count = 3 + kiln_random_below(&random, 6), triangle[MOST][3];
        kiln_vec3 point[MOST];
        double h = kiln_random_range(&random, 0.2, 1.0);
        ring_points(count, h, 1.0, point);
        for (uint32_t v = 0; v < count + 2; v++) {
            double r = kiln_random_range(&random, 0.6, 1.1), shift = v < 2 ? 0.5 : 0.1;
            point[v] = kiln_v3(r * point[v].x + kiln_random_range(&random, -shift, shift),
                               r * point[v].y + kiln_random_range(&random, -shift, shift),
                               point[v].z + kiln_random_range(&random, -.05, .05));
        }
        uint32_t faces = triangulate(&random, 0, count - 1, triangle, 0);
        bool valid = true;
        for (uint32_t i = 0; i < faces; i++) {
            const uint32_t *t = triangle[i];
            valid &=
                kiln_tet_volume(point[0], point[2 + t[0]], point[2 + t[1]], point[2 + t[2]]) > 0 &&
                kiln_tet_volume(point[1], point[2 + t[0]], point[2 + t[2]], point[2 + t[1]]) > 0;
        }
        if (!valid)
            continue;
        sandwich w;
        start(&w, count + 2, point, faces, triangle, NULL);
        subsets s;
        fill_subsets(&s, &w, faces, triangle);
        uint32_t root = kiln_random_below(&random, faces), all = (1u << faces) - 1;
        double best = -INFINITY, gain = -INFINITY;
        for (uint32_t set = 1; set <= all; set++) {
            if (!(set >> root & 1) || !hangs_together(&s, set) || least_fresh(&s, set) <= 0)
                continue;
            best = fmax(best, fmin(least_fresh(&s, set), least_old(&s, all & ~set)));
            gain = fmax(gain, least_fresh(&s, set) - least_old(&s, set));
        }
        kiln_proposal proposal;
        bool found = propose(&w, root, &proposal);
        if (fabs(gain) > 1e-5)
            ck_assert_msg(found == (gain > 0), "round %d: gain %g, proposed %d", (int)round, gain,
                          found);
        if (found) {
            uint32_t set = set_of(&proposal);
            ck_assert_double_eq_tol(proposal.after, least_fresh(&s, set), 1e-13);
            ck_assert_double_eq_tol(proposal.before, least_old(&s, set), 1e-13);
            ck_assert_double_eq_tol(fmin(proposal.after, least_old(&s, all & ~set)), best, 1e-13);
            ck_assert_int_eq(kiln_remesher_apply(&w.remesher, &proposal), KILN_ACCEPTED);
            kiln_test_audit(w.mesh);
            made[proposal.old_count / 2]++;
        }
        refused += !found;
        finish(&w);
    }
    for (int f = 1; f <= 4; f++)
        ck_assert_msg(made[f] > 10, "%d faces: %d", f, made[f]);
    ck_assert_int_gt(refused, 100);
}
END_TEST

/* What lies in the way of the set of the pentagon: the set ends there, or there is none. */
START_TEST(faces_refused)
{
    const uint32_t pentagon[3][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}};
    for (int reason = 0; reason < 7; reason++) {
        kiln_vec3 point[7];
        ring_points(5, 0.5, 1.0, point);
        sandwich s;
        start(&s, 7, point, 3, pentagon, NULL);
        const kiln_tet *tet = &s.mesh->tet[2]; /* of the middle triangle */
        kiln_txn txn = kiln_txn_begin(s.mesh);
        uint32_t edge = kiln_edge_of[kiln_tet_corner(tet, 2)][kiln_tet_corner(tet, 4)];
        kiln_verdict verdict =
            reason == 0   ? kiln_txn_mark_edge(&txn, 2, edge, KILN_MARK_FEATURE_EDGE, true)
            : reason == 1 ? kiln_txn_mark_edge(&txn, 2, edge, KILN_MARK_REQUIRED_EDGE, true)
            : reason == 2 ? kiln_txn_mark_face(&txn, 2, kiln_tet_corner(tet, 0),
                                               KILN_MARK_REQUIRED_FACE, true)
            : reason == 3
                ? kiln_txn_mark_face(&txn, 2, kiln_tet_corner(tet, 5), KILN_MARK_SPLIT_FACE, true)
            : reason == 4 ? kiln_txn_mark_tet(&txn, 3, KILN_MARK_LOCKED, 0)
            : reason == 5 ? kiln_txn_set_region(&txn, 3, 7)
                          : kiln_txn_mark_tet(&txn, 0, KILN_MARK_LOCKED, 0);
        ck_assert_int_eq(verdict, KILN_ACCEPTED);
        ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
        for (uint32_t root = 0; root < 3; root++) {
            kiln_proposal proposal;
            if (!propose(&s, root, &proposal))
                continue;
            ck_assert_uint_lt(proposal.old_count, 6);
            ck_assert_int_eq(kiln_remesher_apply(&s.remesher, &proposal), KILN_ACCEPTED);
            kiln_test_audit(s.mesh);
            break;
        }
        finish(&s);
    }
}
END_TEST

/* A set ends at 12 faces, wherever it begins. */
START_TEST(large_sets)
{
    enum { CORNERS = 18 };
    uint32_t fan[CORNERS - 2][3], largest = 0;
    kiln_vec3 point[CORNERS + 2];
    ring_points(CORNERS, 0.1, 1.0, point);
    for (uint32_t i = 0; i < CORNERS - 2; i++) {
        fan[i][0] = 0;
        fan[i][1] = i + 1;
        fan[i][2] = i + 2;
    }
    for (uint32_t root = 0; root < CORNERS - 2; root++) {
        sandwich s;
        start(&s, CORNERS + 2, point, CORNERS - 2, fan, NULL);
        kiln_proposal proposal;
        if (propose(&s, root, &proposal)) {
            ck_assert_uint_le(proposal.old_count, 24);
            ck_assert_int_eq(kiln_remesher_apply(&s.remesher, &proposal), KILN_ACCEPTED);
            kiln_test_audit(s.mesh);
            largest = proposal.old_count > largest ? proposal.old_count : largest;
        }
        finish(&s);
    }
    ck_assert_uint_eq(largest, 24);
}
END_TEST

/* Every 2-3 flip of the Kuhn box makes a flat tet. */
START_TEST(kuhn_box_keeps_its_faces)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=1 ny=1 nz=1");
    kiln_remesh_options options = kiln_remesh_default_options();
    kiln_remesher remesher;
    ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &remesher, NULL), KILN_OK);
    kiln_proposal proposal;
    for (uint32_t at = 0; at < 24; at++)
        ck_assert(
            !kiln_face_removal_propose(&remesher, &remesher.workspace, at / 4, at % 4, &proposal));
    kiln_remesher_end(&remesher);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("face_removal");
    TCase *all = kiln_test_case(suite, "face_removal");
    tcase_add_test(all, sets_of_faces);
    tcase_add_test(all, beside_the_face);
    tcase_add_test(all, best_of_all_sets);
    tcase_add_test(all, faces_refused);
    tcase_add_test(all, large_sets);
    tcase_add_test(all, kuhn_box_keeps_its_faces);
    return suite;
}
