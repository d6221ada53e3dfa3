/* The material follows plastic flow: what is kept, what moves, and when it must not. */
#include "fem/plasticity.h"
#include "geom/svd3.h"
#include "rig.h"
#include "step/relax.h"

typedef struct bench {
    rig r;
    kiln_relax *relax;
    kiln_relax_report report;
    double moved; /* since the surface was last searched */
    uint8_t *flowed;
} bench;

static kiln_offsets offsets_of(const bench *b)
{
    return kiln_offsets_of(b->r.mesh);
}

static bench make(const char *model, const char *shape, const char *settings, bool pressure)
{
    bench b = {0};
    kiln_context *context = kiln_test_context(2);
    kiln_mesh *mesh = kiln_test_mesh(context, shape, settings);
    ck_assert_int_eq(kiln_offsets_add(mesh, NULL), KILN_OK);
    kiln_material material = rig_material(model, 1e5, 0.3, 1000);
    material.nodal_pressure = pressure;
    b.r = rig_of(context, mesh, material, KILN_IMPLICIT_EULER);
    rig_build(&b.r);
    ck_assert_int_eq(kiln_relax_create(b.r.solid, &b.relax, NULL), KILN_OK);
    b.flowed = calloc(mesh->table[KILN_ON_TET].used, 1);
    return b;
}

static void drop(bench *b)
{
    free(b->flowed);
    kiln_relax_destroy(b->relax);
    rig_free(&b->r);
}

static void run(bench *b, double tolerance)
{
    kiln_error error = {0};
    kiln_relax_options options = kiln_relax_default_options();
    options.moved = &b->moved;
    options.tolerance = tolerance;
    options.max_iterations = 40;
    rig_check(kiln_solid_reform(b->r.solid, &error), &error);
    rig_check(kiln_relax_run(b->relax, &options, b->flowed, &b->report, &error), &error);
    kiln_test_audit(b->r.mesh);
}

/* G of a stretch by `a` along `axis` that keeps the volume. */
static kiln_sym3 stretch_along(kiln_vec3 axis, double a)
{
    kiln_vec3 n = kiln_v3_normalize(axis);
    double across = 1.0 / a, more = a * a - across;
    return (kiln_sym3){across + more * n.x * n.x, across + more * n.y * n.y,
                       across + more * n.z * n.z, more * n.y * n.z,
                       more * n.x * n.z,          more * n.x * n.y};
}

/* G of a tet with a further stretch by `a` along `axis`. */
static kiln_sym3 stretched(kiln_sym3 G, kiln_vec3 axis, double a)
{
    kiln_mat3 S = kiln_sym3_to_mat3(kiln_sym3_sqrt(stretch_along(axis, a)));
    kiln_mat3 SG = kiln_m3_mul(S, kiln_sym3_to_mat3(G));
    return kiln_sym3_from_mat3(kiln_m3_mul(SG, S));
}

static kiln_mat3 deformation(const bench *b, uint32_t t)
{
    const kiln_mesh *mesh = b->r.mesh;
    const uint32_t *v = mesh->tet[t].v;
    kiln_offsets offsets = offsets_of(b);
    kiln_mat3 D[2];
    for (int k = 0; k < 2; k++) {
        const kiln_vec3 *p = k ? mesh->x : mesh->u;
        D[k] = kiln_m3_columns(kiln_v3_sub(p[v[1]], p[v[0]]), kiln_v3_sub(p[v[2]], p[v[0]]),
                               kiln_v3_sub(p[v[3]], p[v[0]]));
    }
    kiln_mat3 Pi =
        kiln_offset_map(&offsets.shape[t], kiln_mesh_tet_volume(mesh, t), offsets.rest_volume[t]);
    return kiln_m3_mul(kiln_m3_mul(D[1], kiln_m3_inverse(D[0])), Pi);
}

/* The largest difference of F F' to that of before, which is left in `before`. */
static double change_of_strain(const bench *b, kiln_mat3 *before)
{
    double worst = 0.0;
    for (uint32_t t = 0; t < b->r.mesh->table[KILN_ON_TET].used; t++) {
        kiln_mat3 F = deformation(b, t), C = kiln_m3_mul(F, kiln_m3_transpose(F));
        for (int k = 0; k < 9; k++)
            worst = fmax(worst, fabs(C.m[k / 3][k % 3] - before[t].m[k / 3][k % 3]));
        before[t] = C;
    }
    return worst;
}

/* A stretch that is the same everywhere is no strain at all: all of it goes into positions. */
START_TEST(even_flow_is_embedded)
{
    static const char *const models[] = {"corotated", "fixed-corotated", "neo-hookean",
                                         "stable-neo-hookean", "stvk"};
    for (size_t m = 0; m < 2 * sizeof models / sizeof models[0]; m++) {
        bench b = make(models[m / 2], "box", "lx=2 nx=4 ny=2 nz=2", m % 2 == 1);
        kiln_mesh *mesh = b.r.mesh;
        kiln_vec3 axis = kiln_v3(3, 1, -2);
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
            offsets_of(&b).shape[t] = stretch_along(axis, 1.0 / 1.3);
            b.flowed[t] = 1;
        }
        kiln_vec3 first = mesh->u[0], last = mesh->u[mesh->table[KILN_ON_VERTEX].used - 1];
        run(&b, 1e-9);
        ck_assert_uint_eq(b.report.parts, 1);
        ck_assert(!b.report.shortened);
        ck_assert_double_lt(b.report.energy_after, 1e-12 * b.report.energy_before);
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
            kiln_sym3 G = offsets_of(&b).shape[t];
            ck_assert_double_lt(fabs(G.xx - 1) + fabs(G.yy - 1) + fabs(G.zz - 1), 1e-7);
            ck_assert_double_lt(fabs(G.xy) + fabs(G.yz) + fabs(G.xz), 1e-7);
        }
        /* Exactly the stretch, about the centre and unturned. */
        kiln_vec3 n = kiln_v3_normalize(axis), d = kiln_v3_sub(last, first);
        kiln_vec3 want = kiln_v3_scale(d, 1.0 / sqrt(1.3));
        want = kiln_v3_add(want, kiln_v3_scale(n, (1.3 - 1.0 / sqrt(1.3)) * kiln_v3_dot(n, d)));
        kiln_vec3 got = kiln_v3_sub(mesh->u[mesh->table[KILN_ON_VERTEX].used - 1], mesh->u[0]);
        ck_assert_double_lt(kiln_v3_norm(kiln_v3_sub(got, want)), 1e-7);
        drop(&b);
    }
}
END_TEST

/* What neighbours do not share cannot be embedded; it stays, and no strain against the world is
 * lost, in positions that have nothing to do with the material's. */
START_TEST(the_strain_of_the_world_is_kept)
{
    for (int pressure = 0; pressure < 2; pressure++) {
        bench b = make("corotated", "ball", "h=0.4", pressure);
        kiln_mesh *mesh = b.r.mesh;
        size_t tets = mesh->table[KILN_ON_TET].used;
        kiln_random random = kiln_random_start(7, 1);
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
            kiln_vec3 u = mesh->u[v];
            mesh->x[v] = kiln_v3(3 + 1.2 * u.x + 0.1 * u.y * u.y, u.z, -0.9 * u.y + 0.2 * u.x);
        }
        kiln_mat3 *strain = calloc(tets, sizeof *strain);
        double volume = 0.0;
        for (int round = 0; round < 5; round++) {
            for (uint32_t t = 0; t < tets; t++) {
                kiln_vec3 axis = kiln_v3(kiln_random_range(&random, -1, 1),
                                         kiln_random_range(&random, -1, 1), 0.3);
                kiln_sym3 *G = &offsets_of(&b).shape[t];
                *G = stretched(*G, axis, 1.1);
                b.flowed[t] = 1;
            }
            change_of_strain(&b, strain);
            run(&b, 0.1);
            ck_assert_double_lt(change_of_strain(&b, strain), 1e-13);
            ck_assert_double_lt(b.report.energy_after, b.report.energy_before);
            ck_assert_double_gt(b.report.energy_after, 0.0);
        }
        for (uint32_t t = 0; t < tets; t++)
            volume += offsets_of(&b).rest_volume[t];
        ck_assert_double_eq_tol(kiln_mesh_volume(mesh), mesh->parts.data[0].volume, 1e-12);
        ck_assert_double_eq_tol(kiln_mesh_volume(mesh), volume, 0.1 * volume);
        free(strain);
        drop(&b);
    }
}
END_TEST

/* By how much the affine map that fits best shifts and turns. */
static void average_motion(const bench *b, const kiln_vec3 *before, double *shift, double *turn)
{
    const kiln_mesh *mesh = b->r.mesh;
    const double *mass = kiln_mass_lumped(kiln_solid_mass(b->r.solid));
    kiln_vec3 from = {0, 0, 0}, to = {0, 0, 0};
    double sum = 0.0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        from = kiln_v3_add(from, kiln_v3_scale(before[v], mass[v]));
        to = kiln_v3_add(to, kiln_v3_scale(mesh->u[v], mass[v]));
        sum += mass[v];
    }
    from = kiln_v3_scale(from, 1.0 / sum), to = kiln_v3_scale(to, 1.0 / sum);
    kiln_mat3 M = {{{0}}}, N = {{{0}}};
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 a = kiln_v3_sub(before[v], from), c = kiln_v3_sub(mesh->u[v], to);
        const double p[3] = {a.x, a.y, a.z}, q[3] = {c.x, c.y, c.z};
        for (int i = 0; i < 9; i++) {
            M.m[i / 3][i % 3] += mass[v] * p[i / 3] * p[i % 3];
            N.m[i / 3][i % 3] += mass[v] * q[i / 3] * p[i % 3];
        }
    }
    kiln_mat3 A = kiln_m3_mul(N, kiln_m3_inverse(M));
    *shift = kiln_v3_norm(kiln_v3_sub(to, from));
    *turn = fabs(A.m[0][1] - A.m[1][0]) + fabs(A.m[1][2] - A.m[2][1]) + fabs(A.m[0][2] - A.m[2][0]);
}

/* One end of a bar yields lengthwise on its upper side: the bar bends, and what did not yield turns
 * without strain as far as a bar can. */
START_TEST(matter_that_does_not_yield_only_turns)
{
    bench b = make("neo-hookean", "box", "lx=6 nx=24 ny=4 nz=4", false);
    kiln_mesh *mesh = b.r.mesh;
    size_t vertices = mesh->table[KILN_ON_VERTEX].used, tets = mesh->table[KILN_ON_TET].used;
    for (uint32_t t = 0; t < tets; t++) {
        kiln_vec3 c = mesh->u[mesh->tet[t].v[0]];
        if (c.x < 2.0 && c.z > 0.5) {
            offsets_of(&b).shape[t] = stretch_along(kiln_v3(1, 0, 0), 1.0 / 1.1);
            b.flowed[t] = 1;
        }
    }
    kiln_vec3 *before = malloc(vertices * sizeof *before);
    double shift, turn;
    memcpy(before, mesh->u, vertices * sizeof *before);
    run(&b, 1e-6);
    average_motion(&b, before, &shift, &turn);
    ck_assert_double_lt(shift, 1e-13);
    ck_assert_double_lt(turn, 1e-12);
    ck_assert_double_gt(b.report.moved, 0.1);
    size_t far = 0;
    for (uint32_t t = 0; t < tets; t++) {
        if (before[mesh->tet[t].v[0]].x < 4.5)
            continue;
        kiln_sym3 G = offsets_of(&b).shape[t];
        far++;
        ck_assert_double_lt(fabs(G.xx - 1) + fabs(G.yy - 1) + fabs(G.zz - 1), 1e-3);
    }
    ck_assert_uint_gt(far, 100);
    free(before);
    drop(&b);
}
END_TEST

START_TEST(parts_that_did_not_yield_keep_their_bits)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup = kiln_test_soup(context, "box", "nx=2 ny=2 nz=2");
    kiln_soup other = kiln_test_soup(context, "box", "nx=2 ny=2 nz=2");
    for (size_t i = 0; i < other.points.count; i++)
        other.points.data[i].x += 5.0;
    ck_assert_int_eq(kiln_soup_append(&soup, &other, 0, NULL), KILN_OK);
    kiln_soup_free(&other);
    kiln_mesh *mesh = NULL;
    kiln_build_options how = {0};
    ck_assert_int_eq(kiln_mesh_build(context, &soup, &how, &mesh, NULL, NULL), KILN_OK);
    kiln_soup_free(&soup);
    ck_assert_int_eq(kiln_offsets_add(mesh, NULL), KILN_OK);
    bench b = {
        .r = rig_of(context, mesh, rig_material("corotated", 1e5, 0.3, 1000), KILN_IMPLICIT_EULER)};
    rig_build(&b.r);
    ck_assert_int_eq(kiln_relax_create(b.r.solid, &b.relax, NULL), KILN_OK);
    size_t tets = mesh->table[KILN_ON_TET].used, vertices = mesh->table[KILN_ON_VERTEX].used;
    b.flowed = calloc(tets, 1);
    for (uint32_t t = 0; t < tets; t++)
        offsets_of(&b).shape[t] = stretch_along(kiln_v3(1, 1, 0), 1.2);
    for (uint32_t t = 0; t < tets; t++)
        b.flowed[t] = mesh->u[mesh->tet[t].v[0]].x < 2.5;
    kiln_vec3 *before = malloc(vertices * sizeof *before);
    memcpy(before, mesh->u, vertices * sizeof *before);
    run(&b, 1e-3);
    ck_assert_uint_eq(b.report.parts, 1);
    ck_assert_double_gt(b.report.moved, 0.05);
    for (uint32_t v = 0; v < vertices; v++)
        ck_assert(before[v].x < 2.5 || memcmp(&before[v], &mesh->u[v], sizeof *before) == 0);
    memset(b.flowed, 0, tets);
    memcpy(before, mesh->u, vertices * sizeof *before);
    run(&b, 1e-3);
    ck_assert_uint_eq(b.report.parts, 0);
    ck_assert_int_eq(memcmp(before, mesh->u, vertices * sizeof *before), 0);
    free(before);
    drop(&b);
}
END_TEST

/* Flow that would turn tets inside out on the way to equilibrium, again and again: no tet is ever
 * flatter than can be repaired. */
START_TEST(no_tet_is_inverted)
{
    bench b = make("corotated", "ball", "h=0.4", false);
    kiln_mesh *mesh = b.r.mesh;
    kiln_random random = kiln_random_start((uint64_t)_i, 1);
    bool shortened = false;
    for (int round = 0; round < 6; round++) {
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
            kiln_vec3 axis =
                kiln_v3(kiln_random_range(&random, -1, 1), kiln_random_range(&random, -1, 1),
                        kiln_random_range(&random, -1, 1));
            offsets_of(&b).shape[t] = stretch_along(axis, 8.0);
            b.flowed[t] = 1;
        }
        run(&b, 1e-3); /* audits: M3 */
        shortened |= b.report.shortened;
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
            ck_assert_double_gt(kiln_mesh_tet_volume(mesh, t),
                                0.019 * offsets_of(&b).rest_volume[t]);
    }
    ck_assert(shortened);
    drop(&b);
}
END_TEST

/* A bar bends until its ends have passed through each other; x remembers the straight bar. */
START_TEST(overlap_is_seen)
{
    bench b = make("corotated", "box", "lx=10 ly=1 lz=1 nx=40 ny=2 nz=6 pattern=mirrored", false);
    kiln_mesh *mesh = b.r.mesh;
    int seen = -1;
    for (int round = 0; round < 60 && seen < 0; round++) {
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
            const uint32_t *v = mesh->tet[t].v;
            kiln_mat3 D[2];
            double z = 0.0;
            for (int k = 0; k < 2; k++) {
                const kiln_vec3 *p = k ? mesh->x : mesh->u;
                D[k] = kiln_m3_columns(kiln_v3_sub(p[v[1]], p[v[0]]), kiln_v3_sub(p[v[2]], p[v[0]]),
                                       kiln_v3_sub(p[v[3]], p[v[0]]));
            }
            for (int k = 0; k < 4; k++)
                z += 0.25 * mesh->x[v[k]].z - 0.125;
            kiln_mat3 A = kiln_m3_mul(D[0], kiln_m3_inverse(D[1]));
            kiln_vec3 along = kiln_v3(A.m[0][0], A.m[1][0], A.m[2][0]);
            offsets_of(&b).shape[t] = stretched(offsets_of(&b).shape[t], along, 1.0 - 0.04 * z);
            b.flowed[t] = 1;
        }
        run(&b, 0.1);
        if (b.report.overlaps && seen < 0)
            seen = round;
    }
    ck_assert_int_gt(seen, 10);
    uint32_t ends[2] = {0, 0};
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        for (int k = 0; k < 2; k++)
            if (kiln_v3_norm(kiln_v3_sub(mesh->x[v], kiln_v3(10 * k, 0, 0))) < 1e-9)
                ends[k] = v;
    ck_assert_double_lt(kiln_v3_norm(kiln_v3_sub(mesh->u[ends[0]], mesh->u[ends[1]])), 1.5);
    drop(&b);
}
END_TEST

/* A failed allocation leaves a mesh that is either as before or relaxed, and no leak. */
START_TEST(memory_may_run_out_anywhere)
{
    kiln_test_heap heap = {0};
    for (uint64_t fail = 1;; fail++) {
        heap = (kiln_test_heap){0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=2 ny=2 nz=2");
        ck_assert_int_eq(kiln_offsets_add(mesh, NULL), KILN_OK);
        bench b = {.r = rig_of(context, mesh, rig_material("corotated", 1e5, 0.3, 1000),
                               KILN_IMPLICIT_EULER)};
        rig_build(&b.r);
        b.flowed = calloc(mesh->table[KILN_ON_TET].used, 1);
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
            offsets_of(&b).shape[t] = stretch_along(kiln_v3(1, 0, 0), 1.2);
            b.flowed[t] = 1;
        }
        ck_assert_int_eq(kiln_solid_reform(b.r.solid, NULL), KILN_OK);
        kiln_relax_options options = kiln_relax_default_options();
        kiln_error error = {0};
        heap.fail_at = heap.calls + fail;
        kiln_status status = kiln_relax_create(b.r.solid, &b.relax, &error);
        if (status == KILN_OK)
            status = kiln_relax_run(b.relax, &options, b.flowed, &b.report, &error);
        ck_assert(status == KILN_OK || status == KILN_ERR_MEMORY);
        heap.fail_at = 0;
        kiln_test_audit(mesh);
        drop(&b);
        ck_assert_int_eq(heap.live_blocks, 0);
        if (status == KILN_OK) {
            ck_assert_uint_gt(fail, 5);
            break;
        }
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("step/relax");
    TCase *tc = kiln_test_case(suite, "relax");
    tcase_add_test(tc, even_flow_is_embedded);
    tcase_add_test(tc, the_strain_of_the_world_is_kept);
    tcase_add_test(tc, matter_that_does_not_yield_only_turns);
    tcase_add_test(tc, parts_that_did_not_yield_keep_their_bits);
    tcase_add_loop_test(tc, no_tet_is_inverted, 0, 12);
    tcase_add_test(tc, overlap_is_seen);
    tcase_add_test(tc, memory_may_run_out_anywhere);
    return suite;
}
