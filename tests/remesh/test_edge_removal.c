#include "fixtures.h"
#include "geom/tet_quality.h"
#include "remesh/edge_removal.h"
#include "remesh/edge_removal_ears.h"
#include "support.h"

#include <math.h>
#include <string.h>

enum { MOST = 20 };

/* A pass over a mesh of one ring: poles 0 and 1, ring vertices from 2 on. */
typedef struct ring_case {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_remesher remesher;
} ring_case;

static void begin(ring_case *ring, const kiln_remesh_options *options)
{
    ck_assert_int_eq(kiln_remesher_begin(ring->mesh, options, &ring->remesher, NULL), KILN_OK);
}

static void start(ring_case *ring, uint32_t count, const kiln_vec3 *point)
{
    kiln_soup_tet tet[MOST];
    for (uint32_t i = 0; i < count; i++)
        tet[i] = (kiln_soup_tet){{0, 1, 2 + i, 2 + (i + 1) % count}};
    ring->context = kiln_test_context(1);
    ring->mesh =
        kiln_test_mesh_of(ring->context, count + 2, point, count, tet, NULL, KILN_BUILD_STRICT);
    kiln_remesh_options options = kiln_remesh_default_options();
    begin(ring, &options);
}

static void finish(ring_case *ring)
{
    kiln_remesher_end(&ring->remesher);
    kiln_mesh_destroy(ring->mesh);
    kiln_context_destroy(ring->context);
}

/* Poles at z = -h, h; ring vertices at radius 1, or `odd` for every second. */
static void ring_points(uint32_t count, double h, double odd, double scale, kiln_vec3 *point)
{
    point[0] = kiln_v3(0, 0, -h * scale);
    point[1] = kiln_v3(0, 0, h * scale);
    for (uint32_t i = 0; i < count; i++) {
        double angle = 2 * KILN_PI * i / count, r = (i % 2 ? odd : 1.0) * scale;
        point[2 + i] = kiln_v3(r * cos(angle), r * sin(angle), 0);
    }
}

static bool propose(ring_case *ring, uint32_t tet, kiln_proposal *out)
{
    const kiln_tet *at = &ring->mesh->tet[tet];
    return kiln_edge_removal_propose(&ring->remesher, &ring->remesher.workspace, tet,
                                     kiln_tet_corner(at, 0), kiln_tet_corner(at, 1), out);
}

/* Old and new worst to the 4 digits of remesher-algorithms section 11; after 0: refused. */
static void check_ring(uint32_t count, double h, double odd, double before, double after)
{
    static const double scales[] = {1.0, 1e-6, 1e6};
    for (int s = 0; s < 3; s++) {
        kiln_vec3 point[MOST];
        ring_points(count, h, odd, scales[s], point);
        for (uint32_t tet = 0; tet < count; tet++) {
            ring_case ring;
            start(&ring, count, point);
            kiln_proposal proposal;
            double worst = kiln_remesher_worst(&ring.remesher, &tet, 1);
            ck_assert_double_eq_tol(worst, before, 5e-5);
            bool made = propose(&ring, tet, &proposal);
            ck_assert_int_eq(made, after > 0.0);
            if (made) {
                ck_assert_double_eq_tol(proposal.before, before, 5e-5);
                ck_assert_double_eq_tol(proposal.after, after, 5e-5);
                ck_assert_uint_eq(proposal.fresh_count, 2 * count - 4);
                ck_assert_int_eq(kiln_remesher_apply(&ring.remesher, &proposal), KILN_ACCEPTED);
                ck_assert_uint_eq(ring.mesh->table[KILN_ON_TET].live, 2 * count - 4);
                for (size_t i = 0; i < ring.remesher.changed.count; i++) {
                    uint32_t t = ring.remesher.changed.data[i];
                    ck_assert_double_eq(
                        ring.remesher.quality.data[t],
                        kiln_remesher_score(&ring.remesher, NULL, ring.mesh->tet[t].v));
                }
                kiln_test_audit(ring.mesh);
            }
            finish(&ring);
        }
    }
}

START_TEST(regular_rings)
{
    check_ring(6, 2.0, 1.0, 0.2544, 0.3375);
    check_ring(6, 1.0, 1.0, 0.7233, 0.0);
    check_ring(3, 1.0, 1.0, 0.6021, 0.9154);
    check_ring(5, 2.0, 1.0, 0.2878, 0.4922);
}
END_TEST

/* The best triangulation is the one with a central triangle, which no fan is. */
START_TEST(star_is_not_a_fan)
{
    check_ring(6, 1.0, 0.5, 0.4303, 0.7306);
}
END_TEST

START_TEST(octahedra)
{
    check_ring(4, 1.0, 1.0, 0.7724, 0.0);
    check_ring(4, 2.0, 1.0, 0.3082, 0.7094);
}
END_TEST

/* Best worst of all triangulations of corners i..j by plain enumeration. */
static double enumerate(double score[8][8][8], int i, int j)
{
    if (j < i + 2)
        return INFINITY;
    double best = -INFINITY;
    for (int k = i + 1; k < j; k++) {
        double one = fmin(score[i][k][j], fmin(enumerate(score, i, k), enumerate(score, k, j)));
        best = fmax(best, one);
    }
    return best;
}

/* Rings of all shapes, many not convex, some with tets that are not positive: what is proposed is
 * the best that there is, and nothing is proposed only where the best is no gain. */
START_TEST(best_of_all_triangulations)
{
    kiln_random random = kiln_random_start(3, 0);
    uint64_t rounds = kiln_test_rounds(20000, 1000000);
    int made = 0, refused = 0, rotated = 0;
    for (uint32_t count = 3; count <= 8; count++) {
        kiln_vec3 point[MOST];
        ring_points(count, 1.0, 1.0, 1.0, point);
        ring_case ring;
        start(&ring, count, point);
        for (uint64_t round = 0; round < rounds / 6; round++) {
            kiln_vec3 *u = ring.mesh->u;
            double flat = kiln_random_range(&random, 0.2, 2.5), before = INFINITY, angle = 0.0;
            u[0] = kiln_v3(kiln_random_range(&random, -.2, .2), 0, -flat);
            u[1] = kiln_v3(0, kiln_random_range(&random, -.2, .2), flat);
            for (uint32_t i = 0; i < count; i++) {
                double r = kiln_random_range(&random, 0.3, 1.2);
                angle += 2 * KILN_PI / count * kiln_random_range(&random, 0.6, 1.2);
                u[2 + i] =
                    kiln_v3(r * cos(angle), r * sin(angle), kiln_random_range(&random, -.3, .3));
            }
            for (uint32_t t = 0; t < count; t++) {
                double q = kiln_remesher_score(&ring.remesher, NULL, ring.mesh->tet[t].v);
                ring.remesher.quality.data[t] = q;
                before = fmin(before, q);
            }
            double score[8][8][8];
            for (uint32_t i = 0; i < count; i++)
                for (uint32_t k = i + 1; k < count; k++)
                    for (uint32_t j = k + 1; j < count; j++)
                        score[i][k][j] =
                            fmin(kiln_tet_quality(&u[2 + i], &u[2 + k], &u[2 + j], &u[1]),
                                 kiln_tet_quality(&u[2 + k], &u[2 + i], &u[2 + j], &u[0]));
            double best = enumerate(score, 0, (int)count - 1), gain = best - fmax(before, 0.0);
            kiln_proposal proposal;
            uint32_t tet = kiln_random_below(&random, count);
            if (fabs(gain - KILN_LEAST_GAIN) < 1e-12)
                continue;
            bool found = propose(&ring, tet, &proposal);
            ck_assert_msg(found == (gain > KILN_LEAST_GAIN), "%u: %.17g to %.17g, proposed: %d",
                          count, before, best, found);
            if (found)
                ck_assert_double_eq_tol(proposal.after, best, 1e-13);
            made += found;
            refused += !found;
            rotated += found && tet > 0;
        }
        finish(&ring);
    }
    ck_assert_int_gt(made, 1000);
    ck_assert_int_gt(refused, 1000);
    ck_assert_int_gt(rotated, 500);
}
END_TEST

/* No instruction set may drop an ear that is above the floor, at any scale that tets may have. */
START_TEST(ears_are_not_dropped)
{
    static uint32_t (*const table[])(const kiln_ear_points *, uint32_t, kiln_vec3, kiln_vec3,
                                     double) = KILN_SIMD_TABLE(kiln_ears_above);
    static const double scales[] = {1.0, 1e-80, 1e-46, 1e-20, 1e20, 1e44, 1e46, 1e80};
    kiln_random random = kiln_random_start(8, 0);
    uint64_t above = 0, dropped = 0;
    for (uint64_t round = 0; round < kiln_test_rounds(4000, 400000); round++) {
        uint32_t count = 3 + kiln_random_below(&random, 15);
        double scale = scales[round % 8], floor = round % 5 ? kiln_random_unit(&random) : 0.0;
        kiln_vec3 p[KILN_RING_MOST + 3];
        for (uint32_t i = 0; i < count + 2; i++) {
            double angle = 2 * KILN_PI * i / count, r = kiln_random_range(&random, 0.4, 1.0);
            double z = i < count ? 0.2 * r : i == count ? -r : r;
            p[i] = i < count ? kiln_v3(r * cos(angle), r * sin(angle), z) : kiln_v3(0, 0, z);
            p[i] = kiln_v3_scale(p[i], scale);
        }
        kiln_ear_points ring;
        for (uint32_t i = 0; i < KILN_EAR_ROOM; i++) {
            kiln_vec3 at = p[(i + count - 1) % count];
            ring.x[i] = at.x;
            ring.y[i] = at.y;
            ring.z[i] = at.z;
        }
        for (int isa = 0; isa <= (int)kiln_isa_best(); isa++) {
            uint32_t ears = table[isa](&ring, count, p[count], p[count + 1], floor);
            ck_assert_uint_eq(ears >> count, 0);
            for (uint32_t i = 0; i < count; i++) {
                const kiln_vec3 *l = &p[(i + count - 1) % count], *r = &p[(i + 1) % count];
                bool good = kiln_tet_quality(&p[count], l, &p[i], r) > floor &&
                            kiln_tet_quality(&p[count + 1], l, r, &p[i]) > floor;
                ck_assert(!good || ears >> i & 1);
                above += good;
                dropped += !(ears >> i & 1);
            }
        }
    }
    ck_assert_uint_gt(above, 1000);
    ck_assert_uint_gt(dropped, 1000);
}
END_TEST

/* Rings of up to 12, of up to 16 where a tet is really bad, none beyond; all would gain. */
START_TEST(long_rings)
{
    static const struct {
        uint32_t count;
        double h, width, before, after;
    } cases[] = {{12, 1, 1, 0.2787, 0.3530},
                 {14, 1, 1, 0.2380, 0},
                 {14, 2, 1, 0.0650, 0.0970},
                 {16, 2, 1, 0.0560, 0.0646},
                 {17, 2, 0.5, 0.0191, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kiln_vec3 point[MOST];
        ring_points(cases[i].count, cases[i].h, 0.6, 1.0, point);
        for (uint32_t v = 0; v < cases[i].count + 2; v++)
            point[v].y *= cases[i].width;
        ring_case ring;
        start(&ring, cases[i].count, point);
        double worst = INFINITY;
        for (uint32_t t = 0; t < cases[i].count; t++)
            worst = fmin(worst, ring.remesher.quality.data[t]);
        ck_assert_double_eq_tol(worst, cases[i].before, 5e-5);
        kiln_proposal proposal;
        bool made = propose(&ring, 0, &proposal);
        ck_assert_int_eq(made, cases[i].after > 0.0);
        if (made) {
            ck_assert_double_eq_tol(proposal.after, cases[i].after, 5e-5);
            ck_assert_int_eq(kiln_remesher_apply(&ring.remesher, &proposal), KILN_ACCEPTED);
            kiln_test_audit(ring.mesh);
        }
        finish(&ring);
    }
}
END_TEST

/* Every diagonal of the Kuhn box lies in flat ears. */
START_TEST(kuhn_box_keeps_its_edges)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=1 ny=1 nz=1");
    kiln_remesh_options options = kiln_remesh_default_options();
    kiln_remesher remesher;
    ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &remesher, NULL), KILN_OK);
    kiln_proposal proposal;
    for (uint32_t t = 0; t < 6; t++)
        for (int e = 0; e < 6; e++)
            ck_assert(!kiln_edge_removal_propose(&remesher, &remesher.workspace, t,
                                                 kiln_edge_ends[e][0], kiln_edge_ends[e][1],
                                                 &proposal));
    kiln_remesher_end(&remesher);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* The rhombus of test 12, long diagonal 0-2, bent by moving 1 and 3 down by `bend`; apex 4 below,
 * and 5 above when there is another side. */
typedef struct rhombus {
    ring_case ring;
    uint32_t tets;
} rhombus;

static void rhombus_points(double height, double bend, double scale, kiln_vec3 point[6])
{
    const kiln_vec3 p[6] = {{0, 0, 0},       {1, 0, -bend},     {1.6, .8, 0},
                            {.6, .8, -bend}, {.8, .4, -height}, {.8, .4, height}};
    for (int i = 0; i < 6; i++)
        point[i] = kiln_v3_scale(p[i], scale);
}

static const kiln_soup_tet rhombus_tet[4] = {
    {{0, 1, 2, 4}}, {{0, 2, 3, 4}}, {{0, 2, 1, 5}}, {{0, 3, 2, 5}}};

static void start_rhombus(rhombus *r, double height, double bend, double scale,
                          const int32_t *region)
{
    kiln_vec3 point[6];
    rhombus_points(height, bend, scale, point);
    /* Apex below: the tets are seen from the other side. */
    kiln_soup_tet tet[4];
    for (int i = 0; i < 4; i++)
        tet[i] = (kiln_soup_tet){
            {rhombus_tet[i].v[1], rhombus_tet[i].v[0], rhombus_tet[i].v[2], rhombus_tet[i].v[3]}};
    r->tets = region ? 4 : 2;
    r->ring.context = kiln_test_context(1);
    r->ring.mesh = kiln_test_mesh_of(r->ring.context, region ? 6 : 5, point, r->tets, tet, region,
                                     KILN_BUILD_STRICT);
    kiln_remesh_options options = kiln_remesh_default_options();
    begin(&r->ring, &options);
}

static bool propose_diagonal(rhombus *r, kiln_proposal *out)
{
    const kiln_tet *at = &r->ring.mesh->tet[0];
    return kiln_edge_removal_propose(&r->ring.remesher, &r->ring.remesher.workspace, 0,
                                     kiln_tet_corner(at, 0), kiln_tet_corner(at, 2), out);
}

START_TEST(flat_surface_edge)
{
    static const double scales[] = {1.0, 1e-6, 1e6};
    for (int s = 0; s < 3; s++) {
        rhombus r;
        start_rhombus(&r, 0.8, 0.0, scales[s], NULL);
        kiln_mesh *mesh = r.ring.mesh;
        double volume = kiln_mesh_volume(mesh);
        kiln_proposal proposal;
        ck_assert(propose_diagonal(&r, &proposal));
        ck_assert_double_eq_tol(proposal.before, 0.4621, 5e-5);
        ck_assert_double_eq_tol(proposal.after, 0.9095, 5e-5);
        ck_assert_int_eq(kiln_remesher_apply(&r.ring.remesher, &proposal), KILN_ACCEPTED);
        ck_assert_uint_eq(mesh->table[KILN_ON_TET].live, 2);
        ck_assert_double_eq_tol(kiln_mesh_volume(mesh) / volume, 1.0, 1e-14);
        kiln_test_audit(mesh);
        finish(&r.ring);
    }
}
END_TEST

/* Change of volume, and largest turn of a normal in degrees, of the bent flip. */
static double bent_volume_change(double height, double bend)
{
    kiln_vec3 p[6];
    rhombus_points(height, bend, 1.0, p);
    double old = kiln_tet_volume(p[1], p[0], p[2], p[4]) + kiln_tet_volume(p[2], p[0], p[3], p[4]);
    double fresh =
        kiln_tet_volume(p[1], p[0], p[3], p[4]) + kiln_tet_volume(p[2], p[1], p[3], p[4]);
    return fabs(fresh - old) / old;
}

static double bent_turn(double height, double bend)
{
    static const int old[2][3] = {{0, 1, 2}, {0, 2, 3}}, fresh[2][3] = {{0, 1, 3}, {1, 2, 3}};
    kiln_vec3 p[6];
    double most = 0.0;
    rhombus_points(height, bend, 1.0, p);
    for (int i = 0; i < 4; i++) {
        const int *a = old[i / 2], *b = fresh[i % 2];
        kiln_vec3 m = kiln_v3_cross(kiln_v3_sub(p[a[1]], p[a[0]]), kiln_v3_sub(p[a[2]], p[a[0]]));
        kiln_vec3 n = kiln_v3_cross(kiln_v3_sub(p[b[1]], p[b[0]]), kiln_v3_sub(p[b[2]], p[b[0]]));
        double angle = acos(kiln_v3_dot(kiln_v3_normalize(m), kiln_v3_normalize(n)));
        most = fmax(most, angle * 180 / KILN_PI);
    }
    return most;
}

static double bend_for(double (*figure)(double, double), double height, double wanted)
{
    double low = 0.0, high = 0.5;
    for (int i = 0; i < 60; i++) {
        double bend = 0.5 * (low + high);
        *(figure(height, bend) < wanted ? &low : &high) = bend;
    }
    return low;
}

/* DLR 4.4: 9 % of the volume, 8 degrees. A low apex makes the volume count first, a high one the
 * normals. */
START_TEST(bent_surface_edge)
{
    static const struct {
        double (*figure)(double, double);
        double height, wanted;
        bool interface, made;
    } cases[] = {{bent_volume_change, 0.3, 0.089, false, true},
                 {bent_volume_change, 0.3, 0.091, false, false},
                 {bent_turn, 1.2, 7.9, false, true},
                 {bent_turn, 1.2, 8.1, false, false},
                 {bent_volume_change, 0.3, 0.089, true, true},
                 {bent_volume_change, 0.3, 0.091, true, false}};
    const int32_t region[4] = {1, 1, 2, 2};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int s = 0; s < 3; s++) {
            double scale = (double[3]){1.0, 1e-6, 1e6}[s];
            double bend = bend_for(cases[i].figure, cases[i].height, cases[i].wanted);
            ck_assert((cases[i].figure == bent_turn) ==
                      (bent_volume_change(cases[i].height, bend) < 0.08));
            rhombus r;
            start_rhombus(&r, cases[i].height, bend, scale, cases[i].interface ? region : NULL);
            kiln_proposal proposal;
            bool made = propose_diagonal(&r, &proposal);
            ck_assert_msg(made == cases[i].made, "case %zu, scale %g: %d", i, scale, made);
            if (made)
                ck_assert_int_eq(kiln_remesher_apply(&r.ring.remesher, &proposal), KILN_ACCEPTED);
            kiln_test_audit(r.ring.mesh);
            finish(&r.ring);
        }
}
END_TEST

/* Marks, tags and regions that forbid what flat_surface_edge does. */
START_TEST(surface_edge_refused)
{
    for (int reason = 0; reason < 8; reason++) {
        rhombus r;
        start_rhombus(&r, 0.8, 0.0, 1.0, NULL);
        kiln_mesh *mesh = r.ring.mesh;
        const kiln_tet *tet = &mesh->tet[0];
        uint32_t edge = kiln_edge_of[kiln_tet_corner(tet, 0)][kiln_tet_corner(tet, 2)];
        uint32_t face = kiln_tet_corner(tet, 4); /* on the surface */
        kiln_txn txn = kiln_txn_begin(mesh);
        kiln_verdict verdict =
            reason == 0   ? kiln_txn_mark_edge(&txn, 0, edge, KILN_MARK_FEATURE_EDGE, true)
            : reason == 1 ? kiln_txn_mark_edge(&txn, 0, edge, KILN_MARK_REQUIRED_EDGE, true)
            : reason == 2 ? kiln_txn_mark_face(&txn, 0, face, KILN_MARK_REQUIRED_FACE, true)
            : reason == 3
                ? kiln_txn_mark_face(&txn, 0, kiln_tet_corner(tet, 1), KILN_MARK_SPLIT_FACE, true)
            : reason == 4 ? kiln_txn_mark_tet(&txn, 1, KILN_MARK_LOCKED, 0)
            : reason == 5 ? kiln_txn_set_face_tag(&txn, tet->n[face] - KILN_LINK_SURFACE, 9)
            : reason == 6 ? kiln_txn_set_region(&txn, 1, 5)
                          : KILN_ACCEPTED;
        ck_assert_int_eq(verdict, KILN_ACCEPTED);
        ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
        if (reason == 7) /* one side of a crack */
            mesh->face[tet->n[face] - KILN_LINK_SURFACE].twin = 3;
        kiln_proposal proposal;
        ck_assert_msg(!propose_diagonal(&r, &proposal), "reason %d", reason);
        finish(&r.ring);
    }
}
END_TEST

/* The only tet of a surface edge cannot go. */
START_TEST(no_tet_is_carved_out)
{
    ring_case ring;
    const kiln_vec3 p[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, .01}};
    const kiln_soup_tet t[1] = {{{0, 1, 2, 3}}};
    ring.context = kiln_test_context(1);
    ring.mesh = kiln_test_mesh_of(ring.context, 4, p, 1, t, NULL, KILN_BUILD_STRICT);
    kiln_remesh_options options = kiln_remesh_default_options();
    begin(&ring, &options);
    kiln_proposal proposal;
    ck_assert(!propose(&ring, 0, &proposal));
    finish(&ring);
}
END_TEST

/* A quad of two tets with apex 4 below, and on it a tet of its four corners, whose edge 0-2 is a
 * ridge in the surface with that tet alone; `under`: what is beneath it. */
static void start_lid(rhombus *r, double bend, double scale, bool under)
{
    kiln_vec3 point[6];
    rhombus_points(0.8, bend, scale, point);
    kiln_soup_tet tet[3] = {{{0, 1, 2, 3}}, {{0, 1, 3, 4}}, {{1, 2, 3, 4}}};
    for (int i = 0; i < 3; i++) {
        const uint32_t *v = tet[i].v;
        if (kiln_tet_volume(point[v[0]], point[v[1]], point[v[2]], point[v[3]]) < 0)
            tet[i] = (kiln_soup_tet){{v[1], v[0], v[2], v[3]}};
    }
    r->tets = under ? 3 : 2;
    r->ring.context = kiln_test_context(1);
    r->ring.mesh =
        kiln_test_mesh_of(r->ring.context, 5, point, r->tets, tet, NULL, KILN_BUILD_STRICT);
    kiln_remesh_options options = kiln_remesh_default_options();
    begin(&r->ring, &options);
}

/* The only tet of a surface edge goes where it lies flat in the surface: what is behind it is that
 * surface. Not where that turns by more than 8 degrees, or one of its other faces is surface too.
 */
START_TEST(a_flat_lid_goes)
{
    static const struct {
        double bend;
        bool under, goes;
    } cases[] = {{0.02, true, true}, {0.2, true, false}, {0.02, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int s = 0; s < 3; s++) {
            rhombus r;
            start_lid(&r, cases[i].bend, (double[3]){1.0, 1e-6, 1e6}[s], cases[i].under);
            kiln_mesh *mesh = r.ring.mesh;
            kiln_proposal proposal;
            double volume = kiln_mesh_volume(mesh);
            bool made = propose_diagonal(&r, &proposal);
            ck_assert_msg(made == cases[i].goes, "case %zu: %d", i, made);
            if (made) {
                ck_assert_double_lt(proposal.before, 0.15);
                ck_assert_int_eq(kiln_remesher_apply(&r.ring.remesher, &proposal), KILN_ACCEPTED);
                ck_assert_uint_eq(mesh->table[KILN_ON_TET].live, 2);
                ck_assert_double_eq_tol(kiln_mesh_volume(mesh) / volume, 1.0, 0.06);
            }
            kiln_test_audit(mesh);
            finish(&r.ring);
        }
}
END_TEST

/* A face that is a needle, 2 % as high as it is long, has no normal that a flip would have to keep.
 */
START_TEST(needles_turn)
{
    for (int s = 0; s < 3; s++) {
        kiln_vec3 point[6];
        rhombus r;
        double scale = (double[3]){1.0, 1e-6, 1e6}[s];
        rhombus_points(0.8, 0.0, scale, point);
        /* 1 is all but on the edge 0-2, and a little below it */
        point[1] = kiln_v3_scale(kiln_v3(0.8, 0.385, -0.005), scale);
        kiln_soup_tet tet[2] = {{{0, 1, 2, 4}}, {{0, 2, 3, 4}}};
        for (int i = 0; i < 2; i++) {
            const uint32_t *v = tet[i].v;
            if (kiln_tet_volume(point[v[0]], point[v[1]], point[v[2]], point[v[3]]) < 0)
                tet[i] = (kiln_soup_tet){{v[1], v[0], v[2], v[3]}};
        }
        r.ring.context = kiln_test_context(1);
        r.ring.mesh = kiln_test_mesh_of(r.ring.context, 5, point, 2, tet, NULL, KILN_BUILD_STRICT);
        kiln_remesh_options options = kiln_remesh_default_options();
        begin(&r.ring, &options);
        kiln_proposal proposal;
        ck_assert(propose_diagonal(&r, &proposal));
        ck_assert_int_eq(kiln_remesher_apply(&r.ring.remesher, &proposal), KILN_ACCEPTED);
        kiln_test_audit(r.ring.mesh);
        finish(&r.ring);
    }
}
END_TEST

/* Both sides of an interface take the same new diagonal: 4-4. Regions keep their volume. */
START_TEST(interface_edge)
{
    static const struct {
        int32_t region[4];
        bool made;
    } cases[] = {{{1, 1, 2, 2}, true},  {{1, 1, 1, 1}, true},
                 {{1, 2, 1, 2}, true},                         /* the interface stands upright */
                 {{1, 1, 1, 2}, false}, {{1, 2, 2, 1}, false}, /* by turns */
                 {{1, 1, 2, 3}, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rhombus r;
        start_rhombus(&r, 0.8, 0.0, 1.0, cases[i].region);
        kiln_mesh *mesh = r.ring.mesh;
        kiln_proposal proposal;
        bool made = propose_diagonal(&r, &proposal);
        ck_assert_msg(made == cases[i].made, "case %zu: %d", i, made);
        if (made) {
            ck_assert_double_eq_tol(proposal.before, 0.4621, 5e-5);
            ck_assert_int_eq(kiln_remesher_apply(&r.ring.remesher, &proposal), KILN_ACCEPTED);
            kiln_test_audit(mesh);
            int32_t count[4] = {0};
            uint32_t walls = 0;
            for (uint32_t t = 0; t < 4; t++) {
                count[mesh->info[t].region]++;
                for (int f = 0; f < 4; f++)
                    walls += kiln_link_is_interface(mesh, t, mesh->tet[t].n[f]);
            }
            ck_assert_uint_eq(walls, i == 1 ? 0 : 4);
            ck_assert_int_eq(count[1], i == 1 ? 4 : 2);
        }
        finish(&r.ring);
    }
}
END_TEST

/* Of two diagonals the better one, unless it makes a tet with no free vertex. */
START_TEST(tets_without_a_free_vertex)
{
    for (int free_one = 0; free_one < 2; free_one++) {
        kiln_vec3 point[MOST];
        ring_points(4, 2.0, 0.9, 1.0, point);
        ring_case ring;
        start(&ring, 4, point);
        if (free_one)
            ring.mesh->vertex[2].flags &= ~(uint32_t)KILN_VERTEX_SURFACE;
        kiln_proposal proposal;
        ck_assert(propose(&ring, 0, &proposal));
        /* 3 and 5 are closer together; but 3, 4, 5 and a pole would all be on the surface. */
        int with_odd = 0;
        for (uint32_t i = 0; i < proposal.fresh_count; i++) {
            bool has[2] = {false, false};
            for (int k = 0; k < 4; k++) {
                has[0] |= proposal.fresh[i].v[k] == 3;
                has[1] |= proposal.fresh[i].v[k] == 5;
            }
            with_odd += has[0] && has[1];
        }
        ck_assert_int_eq(with_odd, free_one ? 0 : 4);
        finish(&ring);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("edge_removal");
    TCase *all = kiln_test_case(suite, "edge_removal");
    tcase_add_test(all, regular_rings);
    tcase_add_test(all, star_is_not_a_fan);
    tcase_add_test(all, octahedra);
    tcase_add_test(all, best_of_all_triangulations);
    tcase_add_test(all, ears_are_not_dropped);
    tcase_add_test(all, long_rings);
    tcase_add_test(all, kuhn_box_keeps_its_edges);
    tcase_add_test(all, flat_surface_edge);
    tcase_add_test(all, bent_surface_edge);
    tcase_add_test(all, surface_edge_refused);
    tcase_add_test(all, a_flat_lid_goes);
    tcase_add_test(all, needles_turn);
    tcase_add_test(all, no_tet_is_carved_out);
    tcase_add_test(all, interface_edge);
    tcase_add_test(all, tets_without_a_free_vertex);
    return suite;
}
