/* Gaps that are filled: two blocks with meshes of their own, bulged, turned against each other, at
 * random places and sizes, near enough to become one. 200 in make test, 10,000 in make soak. After
 * each the surface is closed and manifold and all tets are positive (the audit), it is a sphere,
 * amounts, momentum and angular momentum are those of before, and what is not beside the gap has
 * its bits. */
#include "geom/tet_quality.h"
#include "lumps.h"
#include "mesh/divide.h"
#include "remesh/nearby.h"
#include "topology/gap.h"

#include <string.h>

static const double SIDE = 4, NEAR = 0.3;
enum { CELLS = 6 };

typedef struct meeting {
    double gap, bulge, turn;
} meeting;

/* The second block is that beyond the gap. */
static kiln_vec3 met(const void *user, kiln_vec3 u)
{
    const meeting *m = user;
    bool second = u.x > SIDE + 0.5 * m->gap;
    double y = u.y - 0.5 * SIDE, z = u.z - 0.5 * SIDE;
    double c = second ? cos(m->turn) : 1, s = second ? sin(m->turn) : 0;
    double bent = m->bulge * (y * y + z * z);
    return kiln_v3(u.x - SIDE + (second ? bent : -bent), c * y - s * z, s * y + c * z);
}

static kiln_mesh *make_block(const lump *l, uint64_t seed, double shift, const char *numbers)
{
    kiln_mesh *mesh = kiln_test_mesh(l->context, "box", numbers);
    kiln_test_jitter(mesh, 0.05, seed);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        mesh->x[v] = kiln_v3_add(mesh->u[v], kiln_v3(shift, 0, 0));
    ck_assert_int_eq(kiln_mesh_place(mesh, mesh->x, NULL), KILN_OK);
    return mesh;
}

static void make_blocks(lump *l, uint64_t seed)
{
    l->random = kiln_random_start(seed, 2);
    double cell = SIDE / CELLS;
    meeting m = {.gap = cell * uniform(l, 0.05, 0.2),
                 .bulge = uniform(l, 0, 0.03),
                 .turn = uniform(l, 0, 1.5)};
    l->mesh = make_block(l, seed, 0, "lx=4 ly=4 lz=4 nx=6 ny=6 nz=6");
    kiln_mesh *other =
        make_block(l, seed + 1, SIDE + m.gap, "lx=4 ly=4 lz=4 nx=6 ny=7 nz=6 pattern=mirrored");
    ck_assert_int_eq(kiln_mesh_append(l->mesh, other, NULL), KILN_OK);
    kiln_mesh_destroy(other);
    l->waist = cell;
    place_lump(l, met, &m);
}

/* Vertices less edges plus faces of the surface. */
static int euler_of(const kiln_mesh *mesh)
{
    int euler = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        euler += kiln_vertex_live(mesh, v) && mesh->vertex[v].flags & KILN_VERTEX_SURFACE ? 2 : 0;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        euler -= kiln_face_live(mesh, f);
    return euler / 2;
}

static double area_of(const kiln_mesh *mesh)
{
    double area = 0;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        if (!kiln_face_live(mesh, f))
            continue;
        uint32_t at = mesh->face[f].at;
        kiln_vec3 p[3];
        for (int k = 0; k < 3; k++)
            p[k] = mesh->x[mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]];
        area += 0.5 * kiln_v3_norm(kiln_v3_cross(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0])));
    }
    return area;
}

static double worst_of(const kiln_mesh *mesh)
{
    double worst = 1;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        const kiln_vec3 *x = mesh->x;
        if (kiln_tet_live(mesh, t))
            worst = fmin(worst, kiln_tet_quality(&x[v[0]], &x[v[1]], &x[v[2]], &x[v[3]]));
    }
    return worst;
}

/* In a pass, from the vertex that is nearest to the other side, with fields carried over. */
static kiln_verdict fill(lump *l)
{
    static const uint8_t both[2] = {1, 1};
    kiln_mesh *mesh = l->mesh;
    kiln_nearby nearby = {0};
    kiln_gap_report report;
    ck_assert_int_eq(kiln_nearby_find(mesh, KILN_SPACE_WORLD, NEAR, both, &nearby, NULL), KILN_OK);
    ck_assert_uint_gt(nearby.sights.count, 0);
    uint8_t *near = calloc(mesh->table[KILN_ON_VERTEX].used, 1);
    const kiln_facing *first = &nearby.sights.data[0];
    for (size_t i = 0; i < nearby.sights.count; i++) {
        near[nearby.sights.data[i].vertex] = 1;
        first = nearby.sights.data[i].part < first->part ? &nearby.sights.data[i] : first;
    }
    const kiln_gap gap = {first->vertex, first->face, near, 1.2 * NEAR, 4.0};
    const kiln_merged_body merged = {1, 0};
    const kiln_transfer_options options = {.mass = "mass", .merged = &merged, .merged_count = 1};
    ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
    kiln_txn txn = kiln_txn_begin(mesh);
    uint64_t hash = kiln_mesh_hash(mesh);
    kiln_verdict verdict = kiln_txn_settle(&txn, kiln_gap_fill(&txn, &gap, NULL, &report));
    if (verdict != KILN_ACCEPTED)
        ck_assert(kiln_mesh_hash(mesh) == hash);
    ck_assert_int_eq(kiln_transfer(mesh, &options, NULL, NULL), KILN_OK);
    kiln_archive_end(mesh);
    kiln_nearby_free(l->context, &nearby);
    free(near);
    return verdict;
}

/* Tets all of whose corners are two cells from the gap, as they were. */
typedef struct far_tets {
    kiln_tet *tet;
    double *mass;
    uint8_t *is_far;
    size_t count, far;
} far_tets;

static far_tets note_far(const lump *l)
{
    const kiln_mesh *mesh = l->mesh;
    far_tets n = {.count = mesh->table[KILN_ON_TET].used};
    n.tet = malloc(n.count * sizeof *n.tet);
    n.mass = malloc(n.count * sizeof *n.mass);
    n.is_far = malloc(n.count);
    memcpy(n.tet, mesh->tet, n.count * sizeof *n.tet);
    memcpy(n.mass, kiln_mesh_field(mesh, KILN_ON_TET, "mass")->data, n.count * sizeof *n.mass);
    kiln_vec3 axis = {0};
    uint32_t half = mesh->table[KILN_ON_VERTEX].used;
    for (uint32_t v = 0; v < half; v++) /* from the one block to the other */
        axis = kiln_v3_madd(axis, mesh->info[mesh->vertex[v].tet].part ? 1.0 : -1.0,
                            kiln_v3_sub(mesh->x[v], l->about));
    axis = kiln_v3_normalize(axis);
    for (size_t t = 0; t < n.count; t++) {
        n.is_far[t] = 1;
        for (int k = 0; k < 4; k++) {
            kiln_vec3 off = kiln_v3_sub(mesh->x[mesh->tet[t].v[k]], l->about);
            n.is_far[t] &= fabs(kiln_v3_dot(off, axis)) > 2 * l->waist;
        }
        n.far += n.is_far[t];
    }
    return n;
}

static void expect_far(const lump *l, far_tets *n)
{
    const double *mass =
        (const double *)(void *)kiln_mesh_field(l->mesh, KILN_ON_TET, "mass")->data;
    for (size_t t = 0; t < n->count; t++)
        if (n->is_far[t]) {
            ck_assert(memcmp(&n->tet[t], &l->mesh->tet[t], sizeof n->tet[t]) == 0);
            ck_assert(n->mass[t] == mass[t]);
        }
    ck_assert_uint_gt(n->far, n->count / 4);
    free(n->tet);
    free(n->mass);
    free(n->is_far);
}

START_TEST(blocks_become_one)
{
    lump l = {.context = kiln_test_context(1)};
    uint64_t blocks = kiln_test_rounds(200, 10000), joined = 0;
    double most = 0, worst = 1;
    for (uint64_t seed = 1; seed <= blocks; seed++) {
        make_blocks(&l, seed);
        totals before = sum(&l);
        double area = area_of(l.mesh);
        far_tets far = note_far(&l);
        ck_assert_uint_eq(live_parts(l.mesh), 2);
        bool done = fill(&l) == KILN_ACCEPTED;
        expect_kept(&l, &before, "filled", seed);
        expect_far(&l, &far);
        if (done) {
            joined++;
            ck_assert_uint_eq(live_parts(l.mesh), 1);
            ck_assert_int_eq(euler_of(l.mesh), 2);
            ck_assert_double_lt(area_of(l.mesh), area);
            most = fmax(most, sum(&l).volume / before.volume - 1);
            worst = fmin(worst, worst_of(l.mesh));
        }
        kiln_mesh_destroy(l.mesh);
    }
    printf("of %llu pairs %llu became one; room more by at most %.2g, worst quality %.2g\n",
           (unsigned long long)blocks, (unsigned long long)joined, most, worst);
    ck_assert_uint_ge(10 * joined, 9 * blocks);
    ck_assert_double_le(most, 0.04); /* a fifth of a cell in blocks of six */
    kiln_context_destroy(l.context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("gap");
    TCase *c = kiln_test_case(suite, "all");
    tcase_add_test(c, blocks_become_one);
    return suite;
}
