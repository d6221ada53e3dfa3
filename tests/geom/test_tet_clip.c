#include "geom/tet_clip.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static kiln_vec3 random_point(kiln_random *random, double low, double high)
{
    double x = kiln_random_range(random, low, high), y = kiln_random_range(random, low, high);
    return kiln_v3(x, y, kiln_random_range(random, low, high));
}

static void random_tet(kiln_random *random, kiln_vec3 tet[4])
{
    for (int i = 0; i < 4; i++)
        tet[i] = random_point(random, 0.0, 1.0);
}

/* Reference by another route: cut tets into tets, recursively, in extended precision. */
typedef struct point80 {
    long double x[3];
} point80;

static void reference_add(const point80 t[4], long double m[10])
{
    long double e[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            e[i][j] = t[i + 1].x[j] - t[0].x[j];
    long double det = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                      e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                      e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
    long double volume = fabsl(det) / 6;
    static const int PAIR[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};
    m[0] += volume;
    for (int j = 0; j < 3; j++)
        m[1 + j] += volume * (t[0].x[j] + t[1].x[j] + t[2].x[j] + t[3].x[j]) / 4;
    for (int q = 0; q < 6; q++) {
        long double sum = 0, si = 0, sj = 0;
        for (int v = 0; v < 4; v++) {
            sum += t[v].x[PAIR[q][0]] * t[v].x[PAIR[q][1]];
            si += t[v].x[PAIR[q][0]];
            sj += t[v].x[PAIR[q][1]];
        }
        m[4 + q] += volume * (sum + si * sj) / 20;
    }
}

static point80 cross_edge(point80 in, point80 out, long double din, long double dout)
{
    long double t = din / (din - dout);
    for (int j = 0; j < 3; j++)
        in.x[j] += t * (out.x[j] - in.x[j]);
    return in;
}

static void reference_clip(const point80 t[4], const point80 b[4], int face, long double m[10])
{
    if (face == 4) {
        reference_add(t, m);
        return;
    }
    const point80 *p = &b[(face + 1) % 4], *q = &b[(face + 2) % 4], *r = &b[(face + 3) % 4];
    long double u[3], v[3], n[3], side = 0;
    for (int j = 0; j < 3; j++) {
        u[j] = q->x[j] - p->x[j];
        v[j] = r->x[j] - p->x[j];
    }
    for (int j = 0; j < 3; j++) {
        n[j] = u[(j + 1) % 3] * v[(j + 2) % 3] - u[(j + 2) % 3] * v[(j + 1) % 3];
        side += n[j] * (b[face].x[j] - p->x[j]);
    }
    point80 in[4], out[4];
    long double din[4], dout[4];
    int ins = 0, outs = 0;
    for (int i = 0; i < 4; i++) {
        long double d = 0;
        for (int j = 0; j < 3; j++)
            d += n[j] * (t[i].x[j] - p->x[j]);
        d = side < 0 ? -d : d;
        if (d >= 0) {
            in[ins] = t[i];
            din[ins++] = d;
        } else {
            out[outs] = t[i];
            dout[outs++] = d;
        }
    }
    if (ins == 0)
        return;
    if (ins == 4) {
        reference_clip(t, b, face + 1, m);
    } else if (ins == 1) {
        point80 s[4] = {in[0]};
        for (int i = 0; i < 3; i++)
            s[i + 1] = cross_edge(in[0], out[i], din[0], dout[i]);
        reference_clip(s, b, face + 1, m);
    } else {
        point80 w[6]; /* prism 012-345 */
        for (int i = 0; i < 3 && ins == 3; i++) {
            w[i] = in[i];
            w[i + 3] = cross_edge(in[i], out[0], din[i], dout[0]);
        }
        for (int i = 0; i < 2 && ins == 2; i++) {
            w[3 * i] = in[i];
            w[3 * i + 1] = cross_edge(in[i], out[0], din[i], dout[0]);
            w[3 * i + 2] = cross_edge(in[i], out[1], din[i], dout[1]);
        }
        static const int PART[3][4] = {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}};
        for (int k = 0; k < 3; k++) {
            point80 s[4];
            for (int i = 0; i < 4; i++)
                s[i] = w[PART[k][i]];
            reference_clip(s, b, face + 1, m);
        }
    }
}

static void reference_overlap(const kiln_vec3 a[4], const kiln_vec3 b[4], kiln_vec3 origin,
                              long double m[10])
{
    point80 p[4], q[4];
    for (int i = 0; i < 4; i++) {
        p[i] = (point80){{(long double)a[i].x - origin.x, (long double)a[i].y - origin.y,
                          (long double)a[i].z - origin.z}};
        q[i] = (point80){{(long double)b[i].x - origin.x, (long double)b[i].y - origin.y,
                          (long double)b[i].z - origin.z}};
    }
    for (int i = 0; i < 10; i++)
        m[i] = 0;
    reference_clip(p, q, 0, m);
}

static double moment(const kiln_moments *m, int i)
{
    const double first[3] = {m->first.x, m->first.y, m->first.z};
    return i == 0 ? m->volume : i < 4 ? first[i - 1] : m->second[i - 4];
}

/* Check's own assertions write to a pipe each time: too slow for every number of a campaign. */
static void check_moments(const kiln_moments *got, const long double expected[10], double bound)
{
    for (int i = 0; i < 10; i++)
        if (!(fabsl(moment(got, i) - expected[i]) <= bound))
            ck_abort_msg("moment %d is %.17g, not %.17Lg", i, moment(got, i), expected[i]);
}

START_TEST(random_pairs_match_the_reference)
{
    kiln_random random = kiln_random_start(11, 0);
    uint64_t rounds = kiln_test_rounds(20000, 2000000), hits = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        kiln_vec3 a[4], b[4], origin = random_point(&random, 0, 1);
        random_tet(&random, a);
        random_tet(&random, b);
        long double m[10];
        reference_overlap(a, b, origin, m);
        kiln_moments got = kiln_tet_overlap_moments(a, b, origin, KILN_MOMENT_SECOND);
        check_moments(&got, m, 2e-15);
        kiln_moments first = kiln_tet_overlap_moments(a, b, origin, KILN_MOMENT_FIRST);
        ck_assert_int_eq(memcmp(&first, &got, offsetof(kiln_moments, second)), 0);
        ck_assert(kiln_tet_overlap(a, b) == got.volume);
        hits += got.volume > 0;
    }
    ck_assert_uint_gt(hits, rounds / 2);
}
END_TEST

/* Half of the pairs far from the origin and from each other's corners; on every instruction set the
 * quick test says what the clipping finds. */
START_TEST(tets_made_ready_overlap_alike)
{
    kiln_random random = kiln_random_start(17, 0);
    int apart = 0, rounds = 20000;
    for (int round = 0; round < rounds; round++) {
        kiln_vec3 a[4], b[4], shift = random_point(&random, -0.4, 0.4);
        kiln_vec3 far = round % 2 ? kiln_v3(1048576, -524288, 4194304) : kiln_v3(0, 0, 0);
        random_tet(&random, a);
        random_tet(&random, b);
        for (int i = 0; i < 4; i++) {
            a[i] = kiln_v3_add(a[i], far);
            b[i] = kiln_v3_add(kiln_v3_add(b[i], shift), far);
        }
        kiln_clip_tet ready_a, ready_b;
        kiln_clip_tet_init(&ready_a, a);
        kiln_clip_tet_init(&ready_b, b);
        kiln_moments once = kiln_tet_overlap_moments(a, b, b[0], KILN_MOMENT_SECOND);
        kiln_moments got = kiln_clip_overlap(&ready_a, &ready_b, b[0], KILN_MOMENT_SECOND);
        for (int i = 0; i < 10; i++)
            if (!(fabs(moment(&got, i) - moment(&once, i)) <= 2e-15))
                ck_abort_msg("moment %d is %.17g, not %.17g", i, moment(&got, i), moment(&once, i));
        bool first = kiln_clip_apart(KILN_ISA_SCALAR, &ready_a, &ready_b);
        for (int isa = 0; isa <= (int)kiln_isa_best(); isa++)
            ck_assert(kiln_clip_apart((kiln_isa)isa, &ready_a, &ready_b) == first);
        ck_assert(!first || got.volume == 0.0);
        apart += first;
    }
    ck_assert_int_gt(apart, rounds / 4);
    ck_assert_int_lt(apart, rounds * 3 / 4);
}
END_TEST

/* A tiny tet across a corner of a big one: the big one's planes are known to rounding of its own
 * size, which is 1/h sizes of the small one. */
START_TEST(small_pieces_keep_their_digits)
{
    kiln_random random = kiln_random_start(12, 0);
    for (int round = 0; round < 2000; round++) {
        kiln_vec3 a[4], b[4];
        double h = ldexp(1.0, -(int)kiln_random_below(&random, 12));
        random_tet(&random, b);
        kiln_vec3 at = b[kiln_random_below(&random, 4)];
        for (int i = 0; i < 4; i++)
            a[i] = kiln_v3_madd(at, h, random_point(&random, -1, 1));
        double va = kiln_tet_moments(a, at, KILN_MOMENT_VOLUME).volume;
        double vb = kiln_tet_moments(b, at, KILN_MOMENT_VOLUME).volume;
        if (va < 0.05 * h * h * h || vb < 0.02)
            continue;
        long double m[10];
        reference_overlap(a, b, at, m);
        double got = kiln_tet_overlap(a, b);
        ck_assert_double_le(fabs((double)(got - m[0])), 1e-14 * va / h);
        ck_assert_double_le(fabs((double)(kiln_tet_overlap(b, a) - m[0])), 1e-14 * va / h);
    }
}
END_TEST

/* The unit cube in n^3 cells of 6 tets, inner vertices moved by up to 0.15 of a cell. */
static kiln_vec3 (*jittered_cube(int n, uint64_t seed, size_t *count))[4]
{
    static const int PATH[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                   {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    kiln_vec3(*tets)[4] = malloc(sizeof *tets * 6 * (size_t)(n * n * n));
    *count = 0;
    for (int cell = 0; cell < n * n * n; cell++)
        for (int p = 0; p < 6; p++) {
            int at[3] = {cell % n, cell / n % n, cell / n / n};
            for (int k = 0; k < 4; k++) {
                kiln_random r =
                    kiln_random_start(seed, (uint64_t)(at[0] + 100 * at[1] + 10000 * at[2]));
                double x[3];
                for (int j = 0; j < 3; j++) {
                    double move = kiln_random_range(&r, -0.15, 0.15);
                    x[j] = (at[j] + (at[j] > 0 && at[j] < n ? move : 0.0)) / n;
                }
                tets[*count][k] = kiln_v3(x[0], x[1], x[2]);
                if (k < 3)
                    at[PATH[p][k]]++;
            }
            ++*count;
        }
    return tets;
}

/* 1-4 splits of the big tet that holds the unit cube: a partition with needles and slivers. */
static kiln_vec3 (*split_tets(int splits, uint64_t seed, size_t *count))[4]
{
    kiln_random random = kiln_random_start(seed, 5);
    kiln_vec3(*tets)[4] = malloc(sizeof *tets * (size_t)(1 + 3 * splits));
    const kiln_vec3 big[4] = {{-1, -1, -1}, {6, -1, -1}, {-1, 6, -1}, {-1, -1, 6}};
    memcpy(tets[0], big, sizeof big);
    *count = 1;
    for (int s = 0; s < splits; s++) {
        size_t t = kiln_random_below(&random, (uint32_t)*count);
        kiln_vec3 p = kiln_v3(0, 0, 0), old[4];
        double w[4], sum = 0;
        memcpy(old, tets[t], sizeof old);
        for (int i = 0; i < 4; i++)
            sum += w[i] = kiln_random_range(&random, 0.1, 1.0);
        for (int i = 0; i < 4; i++)
            p = kiln_v3_madd(p, w[i] / sum, old[i]);
        for (int i = 0; i < 4; i++) {
            kiln_vec3 *made = tets[i ? (*count)++ : t];
            memcpy(made, old, sizeof old);
            made[i] = p;
        }
    }
    return tets;
}

static void check_partition(kiln_vec3 (*tets)[4], size_t count, uint64_t seed, uint64_t rounds)
{
    kiln_random random = kiln_random_start(seed, 1);
    for (uint64_t round = 0; round < rounds; round++) {
        kiln_vec3 a[4];
        random_tet(&random, a);
        kiln_moments whole = kiln_tet_moments(a, a[0], KILN_MOMENT_SECOND), sum = {0};
        for (size_t i = 0; i < count; i++) {
            kiln_moments part = kiln_tet_overlap_moments(a, tets[i], a[0], KILN_MOMENT_SECOND);
            if (!(part.volume >= 0.0))
                ck_abort_msg("negative overlap %g", part.volume);
            sum.volume += part.volume;
            sum.first = kiln_v3_add(sum.first, part.first);
            for (int k = 0; k < 6; k++)
                sum.second[k] += part.second[k];
        }
        /* Flat tets: rounding goes with the size, not with the volume. */
        double size = whole.volume > 5e-3 ? whole.volume : 5e-3;
        for (int i = 0; i < 10; i++)
            ck_assert_double_le(fabs(moment(&sum, i) - moment(&whole, i)), 1e-13 * size);
    }
}

START_TEST(a_partition_sums_to_the_whole)
{
    size_t count;
    for (uint64_t seed = 0; seed < kiln_test_rounds(2, 40); seed++) {
        kiln_vec3(*tets)[4] = jittered_cube(4, seed, &count);
        check_partition(tets, count, seed, kiln_test_rounds(50, 1000));
        free(tets);
        tets = split_tets(200, seed, &count);
        check_partition(tets, count, seed, kiln_test_rounds(50, 1000));
        free(tets);
    }
}
END_TEST

START_TEST(tets_of_one_mesh_overlap_only_themselves)
{
    size_t count;
    for (int jitter = 0; jitter < 2; jitter++) {
        kiln_vec3(*tets)[4] = jittered_cube(3, 7, &count);
        if (!jitter) { /* exact lattice: every coincidence is exact */
            for (size_t i = 0; i < count; i++)
                for (int k = 0; k < 4; k++)
                    tets[i][k] = kiln_v3(round(3 * tets[i][k].x), round(3 * tets[i][k].y),
                                         round(3 * tets[i][k].z));
        }
        double unit = jitter ? 1.0 / 27 : 1.0;
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < count; j++) {
                double v = kiln_tet_overlap(tets[i], tets[j]);
                double own = kiln_tet_moments(tets[i], tets[i][0], KILN_MOMENT_VOLUME).volume;
                if (i == j)
                    ck_assert_double_le(fabs(v - own), 1e-15 * own);
                else if (jitter)
                    ck_assert_double_le(v, 1e-15 * unit);
                else
                    ck_assert_double_eq(v, 0.0);
            }
        free(tets);
    }
}
END_TEST

START_TEST(orientation_and_order_do_not_matter)
{
    kiln_random random = kiln_random_start(13, 0);
    for (int round = 0; round < 500; round++) {
        kiln_vec3 a[4], b[4];
        random_tet(&random, a);
        random_tet(&random, b);
        double expected = kiln_tet_overlap(a, b);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                kiln_vec3 p[4], q[4];
                memcpy(p, a, sizeof p);
                memcpy(q, b, sizeof q);
                p[0] = a[i];
                p[i] = a[0];
                q[3] = b[j];
                q[j] = b[3];
                ck_assert_double_le(fabs(kiln_tet_overlap(p, q) - expected), 1e-15);
                ck_assert_double_le(fabs(kiln_tet_overlap(q, p) - expected), 1e-15);
            }
    }
}
END_TEST

START_TEST(degenerate_tets_are_safe)
{
    const kiln_vec3 flat[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
    const kiln_vec3 point[4] = {{.1, .1, .1}, {.1, .1, .1}, {.1, .1, .1}, {.1, .1, .1}};
    const kiln_vec3 unit[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    ck_assert_double_eq(kiln_tet_overlap(flat, unit), 0.0);
    ck_assert_double_eq(kiln_tet_overlap(unit, flat), 0.0);
    ck_assert_double_eq(kiln_tet_overlap(flat, flat), 0.0);
    ck_assert_double_eq(kiln_tet_overlap(point, unit), 0.0);
    ck_assert_double_eq(kiln_tet_overlap(unit, unit), 1.0 / 6.0);
    kiln_random random = kiln_random_start(14, 0);
    for (uint64_t round = 0; round < kiln_test_rounds(20000, 1000000); round++) {
        /* Nearly flat in a tilted plane, and copies moved by rounding. */
        kiln_vec3 a[4], b[4];
        random_tet(&random, b);
        double s = kiln_random_unit(&random), t = kiln_random_unit(&random);
        memcpy(a, b, sizeof a);
        a[3] = kiln_v3_lerp(kiln_v3_lerp(b[0], b[1], s), b[2], t);
        double e = ldexp(1.0, -(int)kiln_random_below(&random, 60));
        a[3] = kiln_v3_madd(a[3], e, random_point(&random, -1, 1));
        if (round % 2)
            for (int i = 0; i < 4; i++)
                a[i] = kiln_v3_madd(b[i], e, random_point(&random, -1, 1));
        long double m[10];
        reference_overlap(a, b, a[0], m);
        kiln_moments got = kiln_tet_overlap_moments(a, b, a[0], KILN_MOMENT_SECOND);
        check_moments(&got, m, 5e-15);
    }
}
END_TEST

START_TEST(shift_and_scale_are_exact)
{
    kiln_random random = kiln_random_start(15, 0);
    for (int round = 0; round < 5000; round++) {
        kiln_vec3 a[4], b[4], o[1];
        kiln_vec3 *all[3] = {a, b, o};
        random_tet(&random, a);
        random_tet(&random, b);
        o[0] = random_point(&random, 0, 1);
        for (int i = 0; i < 9; i++) { /* 20 bits, so that the shift is exact */
            kiln_vec3 *p = &all[i / 4][i % 4];
            *p = kiln_v3(floor(p->x * 0x1p20) * 0x1p-20, floor(p->y * 0x1p20) * 0x1p-20,
                         floor(p->z * 0x1p20) * 0x1p-20);
        }
        kiln_moments m = kiln_tet_overlap_moments(a, b, o[0], KILN_MOMENT_SECOND);
        for (int i = 0; i < 9; i++)
            all[i / 4][i % 4] = kiln_v3_add(all[i / 4][i % 4], kiln_v3(0x1p20, -0x1p20, 0x1p20));
        kiln_moments far = kiln_tet_overlap_moments(a, b, o[0], KILN_MOMENT_SECOND);
        ck_assert_int_eq(memcmp(&m, &far, sizeof m), 0);
        double s = round % 2 ? 0x1p20 : 0x1p-20;
        for (int i = 0; i < 9; i++)
            all[i / 4][i % 4] = kiln_v3_scale(all[i / 4][i % 4], s);
        kiln_moments scaled = kiln_tet_overlap_moments(a, b, o[0], KILN_MOMENT_SECOND);
        for (int i = 0; i < 10; i++)
            ck_assert(moment(&scaled, i) ==
                      moment(&m, i) * s * s * s * (i ? s : 1) * (i > 3 ? s : 1));
    }
}
END_TEST

START_TEST(half_spaces_split_a_tet)
{
    kiln_random random = kiln_random_start(16, 0);
    for (int round = 0; round < 5000; round++) {
        kiln_vec3 t[4], o = random_point(&random, 0, 1);
        random_tet(&random, t);
        kiln_vec3 p = round % 3 ? random_point(&random, 0, 1) : t[round % 4];
        kiln_vec3 n = random_point(&random, -1, 1);
        if (round % 7 == 0) /* the plane of a face */
            n = kiln_v3_cross(kiln_v3_sub(t[1], t[0]), kiln_v3_sub(t[2], t[0])), p = t[0];
        kiln_moments m = kiln_tet_moments(t, o, KILN_MOMENT_SECOND);
        kiln_moments above = kiln_tet_half_moments(t, p, n, o, KILN_MOMENT_SECOND);
        kiln_moments below =
            kiln_tet_half_moments(t, p, kiln_v3_scale(n, -1), o, KILN_MOMENT_SECOND);
        for (int i = 0; i < 10; i++)
            ck_assert_double_le(fabs(moment(&above, i) + moment(&below, i) - moment(&m, i)), 1e-15);
        if (above.volume > 1e-6) { /* the centroid lies on the right side */
            kiln_vec3 c = kiln_v3_madd(o, 1 / above.volume, above.first);
            ck_assert_double_gt(kiln_v3_dot(n, kiln_v3_sub(c, p)), 0.0);
        }
    }
}
END_TEST

/* A cube cut out of a tet: known volume, known faces. */
START_TEST(many_cuts_give_a_cube)
{
    const kiln_vec3 t[4] = {{-5, -5, -5}, {20, -5, -5}, {-5, 20, -5}, {-5, -5, 20}};
    kiln_convex body;
    kiln_convex_from_tet(&body, t);
    const kiln_vec3 n[6] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 0, 0}, {0, -2, 0}, {0, 0, -1}};
    for (int i = 0; i < 6; i++)
        ck_assert(kiln_convex_clip(&body, i < 3 ? kiln_v3(0, 0, 0) : kiln_v3(1, 1, 1), n[i]));
    kiln_moments m = kiln_convex_moments(&body, kiln_v3(0, 0, 0), KILN_MOMENT_SECOND);
    const double expected[10] = {1, .5, .5, .5, 1. / 3, 1. / 3, 1. / 3, .25, .25, .25};
    for (int i = 0; i < 10; i++)
        ck_assert_double_le(fabs(moment(&m, i) - expected[i]), 1e-15);
    int corners = 0;
    for (int face = 0; face < body.faces; face++) {
        kiln_vec3 c[8];
        int k = kiln_convex_face(&body, face, c, 8);
        corners += k;
        if (k == 0)
            continue;
        ck_assert_int_eq(k, 4);
        kiln_vec3 normal = kiln_v3_cross(kiln_v3_sub(c[1], c[0]), kiln_v3_sub(c[2], c[1]));
        ck_assert_double_gt(kiln_v3_dot(normal, kiln_v3_sub(c[0], kiln_v3(.5, .5, .5))), 0.0);
    }
    ck_assert_int_eq(corners, 24);
    ck_assert_int_eq(kiln_convex_face(&body, 40, NULL, 0), 0);
    ck_assert(kiln_convex_clip(&body, kiln_v3(0, 0, -1), kiln_v3(0, 0, -1)));
    ck_assert_int_eq(body.edges, 0);
    ck_assert_double_eq(kiln_convex_moments(&body, t[0], KILN_MOMENT_SECOND).volume, 0.0);
}
END_TEST

START_TEST(clip_refuses_when_full)
{
    const kiln_vec3 t[4] = {{-5, -5, -5}, {20, -5, -5}, {-5, 20, -5}, {-5, -5, 20}};
    kiln_convex body;
    kiln_convex_from_tet(&body, t);
    kiln_random random = kiln_random_start(17, 0);
    int cuts = 0;
    for (; cuts < 1000; cuts++) {
        kiln_vec3 n = kiln_v3_normalize(random_point(&random, -1, 1));
        if (!kiln_convex_clip(&body, kiln_v3_scale(n, -1), n))
            break;
    }
    ck_assert_int_ge(cuts, 8);
    ck_assert_int_lt(cuts, 1000);
    double v = kiln_convex_moments(&body, t[0], KILN_MOMENT_VOLUME).volume;
    ck_assert_double_gt(v, 4.18);
    ck_assert_double_lt(v, 100);
}
END_TEST

START_TEST(sections_are_where_the_plane_is)
{
    const kiln_vec3 t[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    kiln_random random = kiln_random_start(18, 0);
    int seen[16] = {0};
    for (int round = 0; round < 2000; round++) {
        kiln_vec3 p = random_point(&random, 0, 0.5), n = random_point(&random, -1, 1);
        double d[4];
        int mask = 0;
        for (int i = 0; i < 4; i++) {
            d[i] = kiln_v3_dot(n, kiln_v3_sub(t[i], p));
            mask |= (d[i] >= 0) << i;
        }
        kiln_tet_cut cut[4];
        int count = kiln_tet_section(d, cut);
        seen[mask]++;
        ck_assert_int_eq(count == 0, mask == 0 || mask == 15);
        kiln_vec3 c[4], area = kiln_v3(0, 0, 0);
        for (int j = 0; j < count; j++) {
            c[j] = kiln_v3_lerp(t[cut[j].from], t[cut[j].to], cut[j].t);
            ck_assert_double_le(fabs(kiln_v3_dot(n, kiln_v3_sub(c[j], p))), 1e-15);
        }
        for (int j = 0; j < count; j++) {
            kiln_vec3 u = kiln_v3_sub(c[(j + 1) % count], c[j]);
            kiln_vec3 v = kiln_v3_sub(c[(j + 2) % count], c[(j + 1) % count]);
            kiln_vec3 x = kiln_v3_cross(u, v);
            if (kiln_v3_norm2(x) > 1e-20) /* convex, normal towards the negative side */
                ck_assert_double_lt(kiln_v3_dot(x, n), 0.0);
            area = kiln_v3_madd(area, 0.5, kiln_v3_cross(c[j], c[(j + 1) % count]));
        }
        /* The same area as the cap of the clipped body. */
        kiln_convex body;
        kiln_convex_from_tet(&body, t);
        kiln_convex_clip(&body, p, n);
        kiln_vec3 cap[4], cap_area = kiln_v3(0, 0, 0);
        int k = kiln_convex_face(&body, 4, cap, 4);
        ck_assert_int_eq(k, count);
        for (int j = 0; j < k; j++)
            cap_area = kiln_v3_madd(cap_area, 0.5, kiln_v3_cross(cap[j], cap[(j + 1) % k]));
        ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(area, cap_area)), 1e-15);
    }
    for (int mask = 0; mask < 15; mask++)
        ck_assert_int_gt(seen[mask], 0);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("tet_clip");
    TCase *all = kiln_test_case(suite, "tet_clip");
    tcase_add_test(all, random_pairs_match_the_reference);
    tcase_add_test(all, tets_made_ready_overlap_alike);
    tcase_add_test(all, small_pieces_keep_their_digits);
    tcase_add_test(all, a_partition_sums_to_the_whole);
    tcase_add_test(all, tets_of_one_mesh_overlap_only_themselves);
    tcase_add_test(all, orientation_and_order_do_not_matter);
    tcase_add_test(all, degenerate_tets_are_safe);
    tcase_add_test(all, shift_and_scale_are_exact);
    tcase_add_test(all, half_spaces_split_a_tet);
    tcase_add_test(all, many_cuts_give_a_cube);
    tcase_add_test(all, clip_refuses_when_full);
    tcase_add_test(all, sections_are_where_the_plane_is);
    return suite;
}
