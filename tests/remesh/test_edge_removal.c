#include "fixtures.h"
#include "geom/tet_quality.h"
#include "remesh/edge_removal.h"
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

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("edge_removal");
    TCase *all = kiln_test_case(suite, "edge_removal");
    tcase_add_test(all, regular_rings);
    tcase_add_test(all, star_is_not_a_fan);
    tcase_add_test(all, octahedra);
    return suite;
}
