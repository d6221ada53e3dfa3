#include "base/random.h"
#include "geom/predicates.h"
#include "geom/svd3.h"
#include "geom/sym3.h"
#include "geom/tet_clip.h"
#include "measure/fixture.h"
#include "validation/validation.h"

#include <string.h>

enum { LATTICE_ROUNDS = 20000, MATRIX_ROUNDS = 40000, KINDS = 6 };

typedef struct lattice_point {
    int64_t x[3];
} lattice_point;

static int64_t random_integer(kiln_random *random, uint32_t limit)
{
    return (int64_t)kiln_random_below(random, 2 * limit + 1) - (int64_t)limit;
}

/* Axes turned round by `turn` (which keeps signs) and everything moved; all exact. */
static kiln_vec3 place(lattice_point p, int turn, double shift)
{
    double c[3];
    for (int i = 0; i < 3; i++)
        c[i] = (double)p.x[(i + turn) % 3] + shift;
    return kiln_v3(c[0], c[1], c[2]);
}

static int sign_of(int64_t value)
{
    return (value > 0) - (value < 0);
}

/* d = a + i (b-a) + j (c-a) + k e_z: the determinant is k ((b-a) x (c-a))_z, whatever i and j. */
static int make_coplanar(kiln_random *random, lattice_point p[4], int64_t k)
{
    const uint32_t size = 1u << 26;
    for (int n = 0; n < 3; n++)
        for (int axis = 0; axis < 3; axis++)
            p[n].x[axis] = random_integer(random, size);
    int64_t i = random_integer(random, 8), j = random_integer(random, 8);
    int64_t u[3], v[3];
    for (int axis = 0; axis < 3; axis++) {
        u[axis] = p[1].x[axis] - p[0].x[axis];
        v[axis] = p[2].x[axis] - p[0].x[axis];
        p[3].x[axis] = p[0].x[axis] + i * u[axis] + j * v[axis] + (axis == 2 ? k : 0);
    }
    return sign_of(k) * sign_of(u[0] * v[1] - u[1] * v[0]);
}

/* Four points of the sphere through (+-a, +-b, +-c) and its permutations, and a fifth k units along
 * x away from another: inside when 2 k x + k^2 < 0. Returns the sign of the predicate. */
static int make_cospherical(kiln_random *random, lattice_point p[5], int64_t k)
{
    const uint32_t size = 1u << 17;
    int64_t radii[3], d[3][3];
    for (int i = 0; i < 3; i++)
        radii[i] = 1 + (int64_t)kiln_random_below(random, size);
    for (int n = 0; n < 5; n++) {
        uint32_t turn = kiln_random_below(random, 3), swap = kiln_random_below(random, 2);
        for (uint32_t axis = 0; axis < 3; axis++) {
            int64_t r = radii[(swap ? 5 - axis + turn : axis + turn) % 3];
            p[n].x[axis] = kiln_random_below(random, 2) ? r : -r;
        }
    }
    for (int i = 0; i < 3; i++)
        for (int axis = 0; axis < 3; axis++)
            d[i][axis] = p[i + 1].x[axis] - p[0].x[axis];
    int64_t det = d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) +
                  d[0][1] * (d[1][2] * d[2][0] - d[1][0] * d[2][2]) +
                  d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]);
    int64_t power = 2 * k * p[4].x[0] + k * k;
    p[4].x[0] += k;
    return -sign_of(det) * sign_of(power);
}

static void report_signs(kiln_validation *validation)
{
    kiln_random random = kiln_random_start(41, 0);
    size_t flat = 0, near_flat = 0, on = 0, near_sphere = 0, near_count = 0;
    for (int round = 0; round < LATTICE_ROUNDS; round++) {
        lattice_point p[5];
        kiln_vec3 q[5];
        int64_t k = round % 3 - 1;
        double shift = round % 2 ? 0x1p40 : 0.0;
        int expected = make_coplanar(&random, p, k);
        for (int i = 0; i < 4; i++)
            q[i] = place(p[i], round % 5, shift);
        size_t wrong = kiln_orient3d_sign(q[0], q[1], q[2], q[3]) != expected;
        *(k ? &near_flat : &flat) += wrong;

        expected = make_cospherical(&random, p, k);
        for (int i = 0; i < 5; i++)
            q[i] = place(p[i], round % 5, shift);
        /* The answer for a flat tet means nothing unless the fifth point is on the sphere. */
        bool sphere = kiln_orient3d_sign(q[0], q[1], q[2], q[3]) != 0;
        wrong = sphere && kiln_sign(kiln_insphere(q[0], q[1], q[2], q[3], q[4])) != expected;
        *(k ? &near_sphere : &on) += wrong;
        near_count += k != 0;
    }
    size_t even = LATTICE_ROUNDS - near_count;
    kiln_validation_report(validation, (double)flat, kiln_exactly(0),
                           "orient3d: wrong signs, %zu coplanar lattice points", even);
    kiln_validation_report(validation, (double)near_flat, kiln_exactly(0),
                           "orient3d: wrong signs, %zu points one unit off the plane", near_count);
    kiln_validation_report(validation, (double)on, kiln_exactly(0),
                           "insphere: wrong signs, %zu cospherical lattice points", even);
    kiln_validation_report(validation, (double)near_sphere, kiln_exactly(0),
                           "insphere: wrong signs, %zu points one unit off the sphere", near_count);
}

/* Batched values against the scalar ones, bit by bit, on degenerate and ordinary points. */
static void report_batches(kiln_validation *validation)
{
    enum { ITEMS = 1000 };
    static double lane[4][3][ITEMS], det[ITEMS];
    kiln_random random = kiln_random_start(41, 1);
    kiln_orient3d_lanes lanes;
    for (int i = 0; i < ITEMS; i++) {
        lattice_point p[4];
        make_coplanar(&random, p, i % 2);
        for (int n = 0; n < 4; n++) {
            kiln_vec3 at = place(p[n], i, 0.0);
            double scale = i % 3 ? 0.1 : 1.0;
            lane[n][0][i] = scale * at.x;
            lane[n][1][i] = scale * at.y;
            lane[n][2][i] = scale * at.z;
        }
    }
    for (int axis = 0; axis < 3; axis++) {
        lanes.a[axis] = lane[0][axis];
        lanes.b[axis] = lane[1][axis];
        lanes.c[axis] = lane[2][axis];
        lanes.d[axis] = lane[3][axis];
    }
    for (int isa = 0; isa <= (int)kiln_isa_best(); isa++) {
        size_t differ = 0;
        kiln_orient3d_batch((kiln_isa)isa, ITEMS, &lanes, det);
        for (int i = 0; i < ITEMS; i++) {
            kiln_vec3 q[4];
            for (int n = 0; n < 4; n++)
                q[n] = kiln_v3(lane[n][0][i], lane[n][1][i], lane[n][2][i]);
            double one = kiln_orient3d(q[0], q[1], q[2], q[3]);
            differ += memcmp(&one, &det[i], sizeof one) != 0;
        }
        kiln_validation_report(validation, (double)differ, kiln_exactly(0),
                               "orient3d in batches, %s: of %d values those unlike the scalar",
                               kiln_isa_name((kiln_isa)isa), ITEMS);
    }
}

kiln_status kiln_validate_predicates(kiln_validation *validation, kiln_error *error)
{
    (void)error;
    report_signs(validation);
    report_batches(validation);
    return KILN_OK;
}

static kiln_mat3 random_matrix(kiln_random *random)
{
    kiln_mat3 a;
    for (int i = 0; i < 9; i++)
        a.m[i / 3][i % 3] = kiln_random_range(random, -1.0, 1.0);
    return a;
}

/* Exponent of ten, uniform. */
static double random_scale(kiln_random *random, double low, double high)
{
    return pow(10.0, kiln_random_range(random, low, high));
}

static kiln_mat3 matrix_of_kind(kiln_random *random, int kind)
{
    kiln_mat3 a = random_matrix(random), b = random_matrix(random);
    switch (kind) {
    case 0:
        return a;
    case 1: /* near the identity */
        return kiln_m3_add(kiln_m3_identity(), kiln_m3_scale(a, random_scale(random, -18, 0)));
    case 2: /* wide spectrum */
        return kiln_m3_mul(
            a, kiln_m3_mul(kiln_m3_diagonal(1.0, random_scale(random, -12, 0), 1e-9), b));
    case 3: /* rank one */
        return kiln_m3_mul(a, kiln_m3_mul(kiln_m3_diagonal(1.0, 0.0, 0.0), b));
    case 4: /* whole numbers: equal and vanishing values */
        for (int i = 0; i < 9; i++)
            a.m[i / 3][i % 3] = (double)kiln_random_below(random, 3) - 1.0;
        return a;
    default: /* any magnitude */
        return kiln_m3_scale(a, random_scale(random, -290, 290));
    }
}

static void keep_worst(double *worst, double value)
{
    *worst = value > *worst || isnan(value) ? value : *worst;
}

/* Largest entry of Q'Q - I, in extended precision; infinite for a reflection. */
static double orthogonality(const kiln_mat3 *q)
{
    long double worst = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            long double sum = i == j ? -1 : 0;
            for (int k = 0; k < 3; k++)
                sum += (long double)q->m[k][i] * q->m[k][j];
            worst = fmaxl(worst, fabsl(sum));
        }
    return kiln_m3_det(*q) > 0.0 ? (double)worst : INFINITY;
}

/* ||U diag(s) V' - A|| / ||A|| in the Frobenius norm. */
static double reconstruction(const kiln_mat3 *u, const double s[3], const kiln_mat3 *v,
                             const kiln_mat3 *a)
{
    long double off = 0, whole = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            long double sum = -(long double)a->m[i][j];
            for (int k = 0; k < 3; k++)
                sum += (long double)u->m[i][k] * s[k] * v->m[j][k];
            off += sum * sum;
            whole += (long double)a->m[i][j] * a->m[i][j];
        }
    return whole > 0 ? (double)sqrtl(off / whole) : off > 0 ? INFINITY : 0.0;
}

static void report_svd(kiln_validation *validation)
{
    kiln_random random = kiln_random_start(42, 0);
    double off = 0.0, drift = 0.0, batch_off = 0.0, batch_drift = 0.0;
    kiln_isa isa = kiln_validation_context(validation)->isa;
    for (int round = 0; round < MATRIX_ROUNDS; round++) {
        kiln_mat3 a = matrix_of_kind(&random, round % KINDS), u, v;
        kiln_svd3 d = kiln_svd3_decompose(a);
        keep_worst(&off, reconstruction(&d.u, d.s, &d.v, &a));
        keep_worst(&drift, fmax(orthogonality(&d.u), orthogonality(&d.v)));
        double s[3];
        kiln_svd3_decompose_batch(isa, 1, 1, &a.m[0][0], &u.m[0][0], s, &v.m[0][0]);
        keep_worst(&batch_off, reconstruction(&u, s, &v, &a));
        keep_worst(&batch_drift, fmax(orthogonality(&u), orthogonality(&v)));
    }
    kiln_validation_report(validation, off, kiln_at_most(4e-15),
                           "SVD: worst |USV' - A| / |A| of %d matrices", MATRIX_ROUNDS);
    kiln_validation_report(validation, drift, kiln_at_most(4e-15),
                           "SVD: worst |U'U - I|, |V'V - I|");
    kiln_validation_report(validation, batch_off, kiln_at_most(4e-15),
                           "batched SVD: worst |USV' - A| / |A|");
    kiln_validation_report(validation, batch_drift, kiln_at_most(4e-15),
                           "batched SVD: worst |U'U - I|, |V'V - I|");
}

static double relative_distance(kiln_sym3 a, kiln_sym3 b)
{
    kiln_mat3 off = kiln_sym3_to_mat3(kiln_sym3_madd(a, -1.0, b));
    return sqrt(kiln_m3_norm2(off) / kiln_m3_norm2(kiln_sym3_to_mat3(b)));
}

static void report_symmetric(kiln_validation *validation)
{
    kiln_random random = kiln_random_start(42, 1);
    double off = 0.0, drift = 0.0, round_trip = 0.0, root = 0.0, polar = 0.0;
    for (int round = 0; round < MATRIX_ROUNDS; round++) {
        kiln_mat3 a = matrix_of_kind(&random, round % KINDS), full;
        kiln_sym3 s = kiln_sym3_from_mat3(a);
        full = kiln_sym3_to_mat3(s);
        kiln_eigen3 e = kiln_sym3_eigen(s);
        keep_worst(&off, reconstruction(&e.vectors, e.values, &e.vectors, &full));
        keep_worst(&drift, orthogonality(&e.vectors));
        /* Positive definite, condition up to 1e6: what strains and metrics are. */
        double values[3];
        for (int i = 0; i < 3; i++)
            values[i] = random_scale(&random, -3, 3);
        kiln_sym3 p = kiln_sym3_compose(values, &e.vectors);
        keep_worst(&round_trip, relative_distance(kiln_sym3_exp(kiln_sym3_log(p)), p));
        kiln_mat3 half = kiln_sym3_to_mat3(kiln_sym3_sqrt(p));
        keep_worst(&root, relative_distance(kiln_sym3_from_mat3(kiln_m3_mul(half, half)), p));
        kiln_mat3 b = random_matrix(&random);
        kiln_polar3 split = kiln_polar3_decompose(b);
        kiln_mat3 back = kiln_m3_mul(split.rotation, kiln_sym3_to_mat3(split.right));
        kiln_mat3 error = kiln_m3_add(back, kiln_m3_scale(b, -1.0));
        keep_worst(&polar, sqrt(kiln_m3_norm2(error) / kiln_m3_norm2(b)));
    }
    kiln_validation_report(validation, off, kiln_at_most(4e-15),
                           "eigenvalues: worst |VDV' - A| / |A|");
    kiln_validation_report(validation, drift, kiln_at_most(4e-15), "eigenvalues: worst |V'V - I|");
    kiln_validation_report(validation, round_trip, kiln_at_most(1e-14),
                           "worst |exp(log A) - A| / |A|, condition up to 1e6");
    kiln_validation_report(validation, root, kiln_at_most(4e-15),
                           "worst |sqrt(A) sqrt(A) - A| / |A|");
    kiln_validation_report(validation, polar, kiln_at_most(4e-15), "polar: worst |RU - A| / |A|");
}

kiln_status kiln_validate_matrices(kiln_validation *validation, kiln_error *error)
{
    (void)error;
    report_svd(validation);
    report_symmetric(validation);
    return KILN_OK;
}

static void load_tet(const kiln_mesh *mesh, uint32_t tet, kiln_vec3 out[4])
{
    for (int k = 0; k < 4; k++)
        out[k] = mesh->u[mesh->tet[tet].v[k]];
}

/* Every tet of one mesh cut by all tets of the other, which fill the same box. */
static double partition_error(const kiln_mesh *mesh, const kiln_mesh *other)
{
    double worst = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        kiln_vec3 a[4], b[4];
        long double sum = 0;
        load_tet(mesh, t, a);
        for (uint32_t s = 0; s < other->table[KILN_ON_TET].used; s++) {
            load_tet(other, s, b);
            sum += kiln_tet_overlap(a, b);
        }
        double whole = kiln_mesh_tet_volume(mesh, t);
        keep_worst(&worst, (double)fabsl(sum - whole) / whole);
    }
    return worst;
}

kiln_status kiln_validate_clipping(kiln_validation *validation, kiln_error *error)
{
    kiln_context *context = kiln_validation_context(validation);
    kiln_mesh *k = NULL, *km = NULL, *plain = NULL;
    kiln_status status = kiln_fixture_mesh(context, "box", "n=4", 0.05, &k, error);
    if (status == KILN_OK)
        status = kiln_fixture_mesh(context, "box", "n=3 pattern=mirrored", 0.06, &km, error);
    if (status == KILN_OK)
        status = kiln_fixture_mesh(context, "box", "n=4", 0.0, &plain, error);
    if (status == KILN_OK) {
        kiln_validation_report(validation, partition_error(k, km), kiln_at_most(1e-13),
                               "tets of jittered K(4) cut by jittered KM(3): worst relative error");
        kiln_validation_report(validation, partition_error(km, k), kiln_at_most(1e-13),
                               "tets of jittered KM(3) cut by jittered K(4): worst relative error");
        kiln_validation_report(validation, partition_error(plain, plain), kiln_at_most(1e-13),
                               "tets of K(4) cut by itself (all faces coincide): worst error");
        kiln_validation_report(validation, partition_error(plain, k), kiln_at_most(1e-13),
                               "tets of K(4) cut by jittered K(4): worst relative error");
    }
    kiln_mesh *all[3] = {k, km, plain};
    for (int i = 0; i < 3; i++)
        if (all[i])
            kiln_mesh_destroy(all[i]);
    return status;
}
