/* Tearing: single cuts, tears through bodies, and random splits and merges of lumps, 500 in make
 * test and 10,000 in make soak: after each the surface is closed and manifold and all tets are
 * positive (the audit), rest volume, mass, momentum and angular momentum are those of before. */
#include "lumps.h"
#include "topology/concave.h"
#include "topology/tear.h"
#include "topology/tear_cut.h"

#include <string.h>

/* A pull that is the same everywhere, or falls off from a plane. */
typedef struct puller {
    kiln_vec3 along, at;
    double stress, reach; /* Pa; m, INFINITY: everywhere */
    uint32_t handed;
} puller;

static kiln_pull pull_at(void *user, const kiln_mesh *mesh, uint32_t tet)
{
    const puller *p = user;
    double off =
        kiln_v3_dot(kiln_v3_sub(kiln_tet_centre(mesh, tet, mesh->x), p->at), p->along) / p->reach;
    return (kiln_pull){p->stress * exp(-off * off), p->along};
}

static double across_at(void *user, const kiln_mesh *mesh, uint32_t tet, kiln_vec3 normal)
{
    kiln_pull pull = pull_at(user, mesh, tet);
    double part = kiln_v3_dot(pull.along, normal);
    return pull.stress * part * part;
}

static kiln_verdict count_handed(void *user, kiln_txn *txn, uint32_t tet, kiln_pull pull)
{
    (void)txn;
    (void)tet;
    ck_assert_double_gt(pull.stress, 0.0);
    ((puller *)user)->handed++;
    return KILN_ACCEPTED;
}

static kiln_tear_how how_of(puller *p)
{
    return (kiln_tear_how){.pull = pull_at,
                           .across = across_at,
                           .hand_on = count_handed,
                           .user = p,
                           .stress = 1.0,
                           .most = 1000,
                           .quality = 0.02,
                           .part = 0.1,
                           .tag = 9};
}

/* A surface tet whose middle is nearest to the plane of the pull. */
static uint32_t site_of(const kiln_mesh *mesh, const puller *p)
{
    uint32_t best = KILN_NONE;
    double least = INFINITY;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        if (!kiln_face_live(mesh, f))
            continue;
        uint32_t tet = mesh->face[f].at / 4;
        double off =
            fabs(kiln_v3_dot(kiln_v3_sub(kiln_tet_centre(mesh, tet, mesh->x), p->at), p->along));
        if (off < least) {
            least = off;
            best = tet;
        }
    }
    return best;
}

/* A tet of unit legs with another on each face, so that its edges are on the surface and nothing
 * is cut off alone. */
static kiln_mesh *five_tets(kiln_context *context)
{
    const kiln_vec3 p[8] = {{0, 0, 0},    {1, 0, 0},     {0, 1, 0},     {0, 0, 1},
                            {.8, .8, .8}, {-.5, .3, .3}, {.3, -.5, .3}, {.3, .3, -.5}};
    const kiln_soup_tet t[5] = {
        {{0, 1, 2, 3}}, {{4, 1, 3, 2}}, {{5, 0, 2, 3}}, {{6, 0, 3, 1}}, {{7, 0, 1, 2}}};
    kiln_soup_tet out[5];
    for (int i = 0; i < 5; i++) {
        const uint32_t *v = t[i].v;
        out[i] = t[i];
        if (kiln_tet_volume(p[v[0]], p[v[1]], p[v[2]], p[v[3]]) < 0)
            out[i] = (kiln_soup_tet){{v[0], v[1], v[3], v[2]}};
    }
    return kiln_test_mesh_of(context, 8, p, 5, out, NULL, KILN_BUILD_STRICT);
}

static kiln_verdict cut_one(kiln_mesh *mesh, uint32_t tet, kiln_vec3 along, kiln_tear_cut *cut,
                            bool keep)
{
    kiln_walker walker;
    kiln_walker_init(&walker, mesh->context);
    const kiln_tear_knife knife = {.quality = 0.01, .walker = &walker};
    kiln_txn txn = kiln_txn_begin(mesh);
    kiln_verdict verdict = kiln_tear_cut_tet(&txn, &knife, tet, along, cut);
    if (keep)
        verdict = kiln_txn_settle(&txn, verdict);
    else
        kiln_txn_rollback(&txn);
    kiln_walker_free(&walker);
    return verdict;
}

START_TEST(a_plane_cuts_a_tet)
{
    static const struct {
        kiln_vec3 along;
        int faces;
        uint32_t made; /* vertices */
        double off;    /* the plane */
    } rows[] = {
        {{1, 0, 0}, 1, 3, 1e-15},   /* one corner from three */
        {{1, 1, 1}, 1, 3, 1e-15},   /* likewise */
        {{1, 1, 0}, 2, 4, 1e-15},   /* two from two */
        {{1, 1, -1}, 2, 4, 1e-15},  /* likewise */
        {{1, -1, 0}, 1, 1, 1e-15},  /* through an edge */
        {{1, 1, 0.78}, 1, 2, 0.06}, /* so near to a corner that it goes through it */
    };
    kiln_context *context = kiln_test_context(1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        kiln_mesh *mesh = five_tets(context);
        double volume = kiln_mesh_volume(mesh);
        uint64_t hash = kiln_mesh_hash(mesh);
        kiln_tear_cut cut;
        kiln_vec3 along = kiln_v3_normalize(rows[i].along);
        ck_assert_int_eq(cut_one(mesh, 0, along, &cut, false), KILN_ACCEPTED);
        ck_assert(kiln_mesh_hash(mesh) == hash);
        ck_assert_int_eq(cut_one(mesh, 0, along, &cut, true), KILN_ACCEPTED);
        ck_assert_msg(cut.faces == rows[i].faces, "row %zu: %d faces", i, cut.faces);
        ck_assert_msg(mesh->table[KILN_ON_VERTEX].live == 8 + rows[i].made, "row %zu: %u", i,
                      mesh->table[KILN_ON_VERTEX].live);
        for (int k = 0; k < 3 * cut.faces; k++) {
            kiln_vec3 r = kiln_v3_sub(mesh->x[cut.face[k / 3][k % 3]], cut.origin);
            ck_assert_double_le(fabs(kiln_v3_dot(r, cut.normal)), rows[i].off);
        }
        ck_assert_double_eq_tol(kiln_mesh_volume(mesh), volume, 1e-14);
        kiln_test_audit(mesh);
        kiln_mesh_destroy(mesh);
    }
    kiln_context_destroy(context);
}
END_TEST

/* Interior faces of a box, marked as a cut would leave them: the first `count` of a tet. */
static void mark_faces(kiln_mesh *mesh, uint32_t tet, const uint32_t *faces, int count)
{
    kiln_txn txn = kiln_txn_begin(mesh);
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(kiln_txn_mark_face(&txn, tet, faces[i], KILN_MARK_SPLIT_FACE, true),
                         KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
}

static uint32_t inner_tet(const kiln_mesh *mesh)
{
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        bool inner = true;
        for (int k = 0; k < 4; k++)
            inner &= !(mesh->vertex[mesh->tet[t].v[k]].flags & KILN_VERTEX_SURFACE);
        if (inner)
            return t;
    }
    ck_abort_msg("no tet inside");
    return KILN_NONE;
}

/* Beyond a marked face the cut goes on through its edges: a tet with one of them is cut by a plane
 * that has the edge, and has one vertex more at most. */
START_TEST(a_cut_goes_on_through_snap_edges)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=5 ny=5 nz=5");
    kiln_test_jitter(mesh, 0.02, 3);
    uint32_t first = inner_tet(mesh), face = 0, ones = 0;
    mark_faces(mesh, first, &face, 1);
    const uint8_t *c = kiln_face_corner[face];
    const uint32_t w[3] = {mesh->tet[first].v[c[0]], mesh->tet[first].v[c[1]],
                           mesh->tet[first].v[c[2]]};
    kiln_vec3 along = kiln_v3_normalize(kiln_v3_cross(kiln_v3_sub(mesh->x[w[1]], mesh->x[w[0]]),
                                                      kiln_v3_sub(mesh->x[w[2]], mesh->x[w[0]])));
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        uint32_t snaps = kiln_tear_snap_edges(mesh, t), a = 0, b = 0;
        int count = 0, made;
        for (int e = 0; e < 6; e++)
            if (snaps >> e & 1) {
                a = mesh->tet[t].v[kiln_edge_ends[e][0]];
                b = mesh->tet[t].v[kiln_edge_ends[e][1]];
                count++;
            }
        ck_assert_int_eq(count == 3, kiln_tear_is_beside(mesh, t));
        if (count != 1 || !kiln_tear_goes_on(mesh, t, a, b, along))
            continue;
        uint32_t vertices = mesh->table[KILN_ON_VERTEX].live;
        kiln_tear_cut cut;
        kiln_txn txn = kiln_txn_begin(mesh);
        if (cut_one(mesh, t, along, &cut, true) == KILN_ACCEPTED) {
            int has = 0;
            for (int k = 0; k < 3; k++)
                has += cut.face[0][k] == a || cut.face[0][k] == b;
            made = (int)(mesh->table[KILN_ON_VERTEX].live - vertices);
            ck_assert_int_eq(cut.faces, 1);
            ck_assert_int_eq(has, 2);
            ck_assert_int_le(made, 1);
            ones++;
        }
        kiln_txn_rollback(&txn);
    }
    ck_assert_uint_ge(ones, 3);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A box of cells is pulled along x: it comes in two, each with the volume on its side. */
static void tear_box(kiln_mat3 turn, double scale, kiln_vec3 far)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=6 ly=3 lz=3 nx=6 ny=3 nz=3");
    kiln_test_jitter(mesh, 0.1, 5);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        mesh->x[v] = kiln_v3_add(far, kiln_v3_scale(kiln_m3_apply(turn, mesh->u[v]), scale));
    ck_assert_int_eq(kiln_mesh_place(mesh, mesh->x, NULL), KILN_OK);
    puller p = {.along = kiln_m3_apply(turn, kiln_v3(1, 0, 0)), .stress = 2.0, .reach = INFINITY};
    p.at = kiln_v3_add(far, kiln_m3_apply(turn, kiln_v3(2.9 * scale, 1.5 * scale, 1.5 * scale)));
    kiln_tear_how how = how_of(&p);
    how.part = 0.0;
    double volume = kiln_mesh_volume(mesh);
    kiln_tear_report report;
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_txn_settle(&txn, kiln_tear(&txn, site_of(mesh, &p), &how, &report)),
                     KILN_ACCEPTED);
    kiln_test_audit(mesh);
    ck_assert_uint_eq(live_parts(mesh), 2);
    /* places are rounded */
    ck_assert_double_eq_tol(kiln_mesh_volume(mesh) / volume, 1.0, 1e-12 + 1e-15 * fabs(far.x));
    ck_assert_double_ge(report.area, 9.0 * scale * scale * (1 - 1e-9));
    ck_assert_double_le(report.area, 9.5 * scale * scale);
    ck_assert_uint_gt(p.handed, 0);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}

START_TEST(a_box_is_torn_in_two)
{
    static const double scales[] = {1, 1e-3, 1e3, 1};
    kiln_mat3 turn = kiln_m3_rotation(kiln_v3_normalize(kiln_v3(1, 2, 3)), _i);
    tear_box(turn, scales[_i], _i == 3 ? kiln_v3(1e6, -1e6, 1e6) : kiln_v3(0, 0, 0));
}
END_TEST

typedef struct waist {
    double at, narrow, wide;
} waist;

static kiln_vec3 narrowed(const void *user, kiln_vec3 u)
{
    const waist *w = user;
    double off = (u.x - w->at) / w->wide, thin = 1 - (1 - w->narrow) * exp(-off * off);
    return kiln_v3(u.x - w->at, thin * (u.y - 1.5), thin * (u.z - 1.5));
}

/* A bar of 14 by 4 by 4 cells, at times narrow at one place. */
static void make_lump(lump *l, uint64_t seed)
{
    l->random = kiln_random_start(seed, 1);
    l->mesh = kiln_test_mesh(l->context, "box", "lx=10 ly=3 lz=3 nx=14 ny=4 nz=4");
    kiln_test_jitter(l->mesh, 0.08, seed);
    waist w = {uniform(l, 4, 6), uniform(l, 0.3, 1), uniform(l, 1.5, 2.5)};
    l->waist = 3 * w.narrow;
    place_lump(l, narrowed, &w);
}

/* Across any direction, through any surface tet, as far as the pull reaches. */
static kiln_verdict tear_it(lump *l)
{
    puller p = {.along = kiln_v3_normalize(random_vector(l)),
                .stress = uniform(l, 1.05, 3),
                .reach = uniform(l, 0.05, 0.5) * l->size};
    kiln_tear_how how = how_of(&p);
    uint32_t face;
    do
        face = kiln_random_below(&l->random, l->mesh->table[KILN_ON_FACE].used);
    while (!kiln_face_live(l->mesh, face));
    uint32_t tet = l->mesh->face[face].at / 4;
    p.at = kiln_tet_centre(l->mesh, tet, l->mesh->x);
    how.part = uniform(l, 0.05, 0.3);
    how.most = 1 + kiln_random_below(&l->random, 300);
    kiln_tear_report report;
    uint64_t hash = kiln_mesh_hash(l->mesh);
    kiln_txn txn = kiln_txn_begin(l->mesh);
    kiln_verdict verdict = kiln_txn_settle(&txn, kiln_tear(&txn, tet, &how, &report));
    if (verdict != KILN_ACCEPTED)
        ck_assert_msg(kiln_mesh_hash(l->mesh) == hash, "a refused tear left something");
    return verdict;
}

static kiln_vec3 middle_of(const kiln_mesh *mesh, uint32_t face, kiln_vec3 *normal)
{
    uint32_t at = mesh->face[face].at;
    const uint32_t *v = mesh->tet[at / 4].v;
    const uint8_t *k = kiln_face_corner[at % 4];
    kiln_vec3 a = mesh->x[v[k[0]]], b = mesh->x[v[k[1]]], c = mesh->x[v[k[2]]];
    *normal = kiln_v3_normalize(kiln_v3_cross(kiln_v3_sub(b, a), kiln_v3_sub(c, a)));
    return kiln_v3_scale(kiln_v3_add(a, kiln_v3_add(b, c)), 1.0 / 3.0);
}

static bool share_a_vertex(const kiln_mesh *mesh, uint32_t f, uint32_t g)
{
    uint32_t a = mesh->face[f].at, b = mesh->face[g].at;
    for (int i = 0; i < 9; i++)
        if (mesh->tet[a / 4].v[kiln_face_corner[a % 4][i / 3]] ==
            mesh->tet[b / 4].v[kiln_face_corner[b % 4][i % 3]])
            return true;
    return false;
}

/* From some face of a slit, the nearest that looks at it and bears a bridge. */
static kiln_verdict merge_it(lump *l)
{
    const kiln_mesh *mesh = l->mesh;
    uint32_t used = mesh->table[KILN_ON_FACE].used, best[2] = {KILN_NONE, KILN_NONE};
    uint32_t start = kiln_random_below(&l->random, used);
    double least = INFINITY;
    for (uint32_t i = 0; i < used; i++) {
        uint32_t f = (start + i) % used;
        kiln_vec3 n, m;
        if (!kiln_face_live(mesh, f) || mesh->face[f].tag != 9)
            continue;
        kiln_vec3 at = middle_of(mesh, f, &n);
        for (uint32_t g = 0; g < used; g++) {
            if (g == f || !kiln_face_live(mesh, g) || mesh->face[g].tag != 9 ||
                share_a_vertex(mesh, f, g))
                continue;
            kiln_vec3 way = kiln_v3_sub(middle_of(mesh, g, &m), at);
            if (kiln_v3_dot(n, m) < -0.5 && kiln_v3_dot(way, n) > 0 && kiln_v3_norm(way) < least) {
                least = kiln_v3_norm(way);
                best[0] = f;
                best[1] = g;
            }
        }
        if (best[0] != KILN_NONE)
            break;
    }
    if (best[0] == KILN_NONE)
        return KILN_REFUSED_JUDGED;
    kiln_txn txn = kiln_txn_begin(l->mesh);
    return kiln_txn_settle(&txn, kiln_bridge_faces(&txn, best[0], best[1], 9));
}

/* What is there has its share. */
static void expect_shares(const lump *l, uint64_t seed)
{
    const kiln_mesh *mesh = l->mesh;
    const double *mass = (const double *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, "mass")->data;
    const double *rest = (const double *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, "rest")->data;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        ck_assert_msg(!kiln_tet_live(mesh, t) || (mass[t] > 0 && rest[t] > 0),
                      "%llu: tet %u has %g kg, %g m^3 at rest, %g m^3", (unsigned long long)seed, t,
                      mass[t], rest[t], kiln_mesh_tet_volume(mesh, t));
}

START_TEST(lumps_are_torn_and_merged)
{
    enum { CHANGES = 8 }; /* of a lump at most */
    const kiln_transfer_options options = {.mass = "mass"};
    lump l = {.context = kiln_test_context(1)};
    uint64_t wanted = kiln_test_rounds(500, 10000), torn = 0, merged = 0, refused = 0, seed = 0;
    uint64_t apart = 0;
    while (torn + merged < wanted) {
        make_lump(&l, ++seed);
        totals before = sum(&l);
        bool bridged = false;
        for (int i = 0; i < CHANGES && torn + merged < wanted; i++) {
            bool merge = kiln_random_below(&l.random, 2) != 0;
            uint32_t parts = live_parts(l.mesh);
            ck_assert_int_eq(kiln_archive_begin(l.mesh, NULL), KILN_OK);
            kiln_verdict verdict = merge ? merge_it(&l) : tear_it(&l);
            ck_assert_int_eq(kiln_transfer(l.mesh, &options, NULL, NULL), KILN_OK);
            kiln_archive_end(l.mesh);
            *(verdict != KILN_ACCEPTED ? &refused : merge ? &merged : &torn) += 1;
            apart += live_parts(l.mesh) > parts;
            expect_kept(&l, &before, merge ? "merged" : "torn", seed);
            bridged |= merge && verdict == KILN_ACCEPTED; /* bridges have nothing */
            if (!bridged)
                expect_shares(&l, seed);
        }
        kiln_mesh_destroy(l.mesh);
    }
    printf("SOAK %llu lumps torn %llu times (%llu parts came off), merged %llu times, %llu "
           "refused\n",
           (unsigned long long)seed, (unsigned long long)torn, (unsigned long long)apart,
           (unsigned long long)merged, (unsigned long long)refused);
    ck_assert_uint_ge(4 * torn, wanted);
    ck_assert_uint_ge(8 * merged, wanted);
    kiln_context_destroy(l.context);
}
END_TEST

/* Of a ball the lesser curvature is that of the ball, of a saddle that of its hollow side. */
START_TEST(curvatures_are_found)
{
    static const double scales[] = {1, 1e-3, 1e3};
    kiln_context *context = kiln_test_context(1);
    for (int bent = 0; bent < 2; bent++) {
        double scale = scales[_i], curvature, edge, worst = 0;
        kiln_mesh *mesh = bent ? kiln_test_mesh(context, "box", "lx=10 ly=3 lz=3 nx=20 ny=8 nz=8")
                               : kiln_test_mesh(context, "ball", "h=0.2");
        kiln_walker walker;
        kiln_idset far = {0};
        kiln_walker_init(&walker, context);
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
            kiln_vec3 u = mesh->u[v];
            if (bent) /* the top is hollow along x, 0.1 / m, and flat along y */
                u.z += 0.05 * (u.x - 5) * (u.x - 5) * (u.z > 2.9);
            mesh->x[v] = kiln_v3_scale(u, scale);
        }
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
            kiln_vec3 u = mesh->u[v];
            bool counts = mesh->vertex[v].flags & KILN_VERTEX_SURFACE;
            if (bent)
                counts &= u.z > 2.99 && fabs(u.x - 5) < 1 && fabs(u.y - 1.5) < 0.5;
            if (!counts)
                continue;
            ck_assert_int_eq(kiln_least_curvature(mesh, v, &walker, &far, &curvature, &edge, NULL),
                             KILN_OK);
            worst = fmax(worst, fabs(curvature * scale - (bent ? -0.1 : 1.0)));
            ck_assert_double_gt(edge, 0.0);
        }
        ck_assert_msg(worst < (bent ? 0.01 : 0.25), "%d: off by %g", bent, worst);
        kiln_array_free(context, &far.slots);
        kiln_walker_free(&walker);
        kiln_mesh_destroy(mesh);
    }
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("tear");
    TCase *c = kiln_test_case(suite, "all");
    tcase_add_loop_test(c, curvatures_are_found, 0, 3);
    tcase_add_test(c, a_plane_cuts_a_tet);
    tcase_add_test(c, a_cut_goes_on_through_snap_edges);
    tcase_add_test(c, lumps_are_torn_and_merged);
    tcase_add_loop_test(c, a_box_is_torn_in_two, 0, 4);
    return suite;
}
