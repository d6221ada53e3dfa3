#include "fixtures.h"
#include "geom/sym3.h"
#include "remesh/flip.h"
#include "support.h"
#include "topology/split.h"

#include <string.h>

static kiln_mesh *box(kiln_context *context)
{
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=3 ny=3 nz=3");
    kiln_test_jitter(mesh, 0.05, 6);
    return mesh;
}

static kiln_field *add(kiln_mesh *mesh, const char *name, kiln_where where, kiln_type type,
                       uint32_t components, kiln_rule rule)
{
    ck_assert_int_eq(kiln_mesh_add_field(mesh, name, where, type, components, rule, NULL), KILN_OK);
    return kiln_mesh_field(mesh, where, name);
}

/* By name each time: adding a field moves the records of the others. */
static double *f64(const kiln_mesh *mesh, kiln_where where, const char *name, uint32_t row)
{
    const kiln_field *field = kiln_mesh_field(mesh, where, name);
    return (double *)(field->data + (size_t)row * field->stride);
}

START_TEST(registering)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context);
    const struct {
        const char *name;
        kiln_type type;
        uint32_t components;
        kiln_rule rule;
        kiln_status status;
    } cases[] = {
        {"", KILN_F64, 1, KILN_RULE_COPY, KILN_ERR_INPUT},
        {".tet", KILN_F64, 1, KILN_RULE_COPY, KILN_ERR_INPUT}, /* a core column */
        {"a", KILN_F64, 0, KILN_RULE_COPY, KILN_ERR_INPUT},
        {"a", KILN_F64, 257, KILN_RULE_COPY, KILN_ERR_INPUT},
        {"a", KILN_F64, 3, KILN_RULE_SPD_LOG, KILN_ERR_INPUT},
        {"a", KILN_U32, 6, KILN_RULE_SPD_LOG, KILN_ERR_INPUT},
        {"a", KILN_U32, 1, KILN_RULE_CONSERVE, KILN_ERR_INPUT},
        {"a", KILN_I32, 256, KILN_RULE_COPY, KILN_OK},
        {"a", KILN_F64, 1, KILN_RULE_COPY, KILN_ERR_INPUT}, /* taken */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ck_assert_int_eq(kiln_mesh_add_field(mesh, cases[i].name, KILN_ON_TET, cases[i].type,
                                             cases[i].components, cases[i].rule, NULL),
                         cases[i].status);
    char name[KILN_NAME_SIZE + 1];
    memset(name, 'n', KILN_NAME_SIZE);
    name[KILN_NAME_SIZE] = '\0';
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, name, KILN_ON_TET, KILN_F64, 1, KILN_RULE_COPY, NULL),
        KILN_ERR_INPUT);
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_mesh_add_field(mesh, "b", KILN_ON_TET, KILN_F64, 1, KILN_RULE_COPY, NULL),
                     KILN_ERR_STATE);
    kiln_txn_rollback(&txn);
    /* The same name on another table is another field; all zero. */
    const kiln_field *a = add(mesh, "a", KILN_ON_VERTEX, KILN_F64, 2, KILN_RULE_COPY);
    for (uint32_t v = 0; v < 2 * mesh->table[KILN_ON_VERTEX].used; v++)
        ck_assert_double_eq(((double *)a->data)[v], 0.0);
    ck_assert_ptr_null(kiln_mesh_field(mesh, KILN_ON_FACE, "a"));
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Every rule on a new vertex of three parents. */
START_TEST(rules_on_a_new_vertex)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context);
    const kiln_where on = KILN_ON_VERTEX;
    for (int rule = 0; rule < KILN_RULE_COUNT; rule++)
        add(mesh, kiln_rule_name((kiln_rule)rule), on,
            rule == KILN_RULE_INHERIT ? KILN_U32 : KILN_F64, rule == KILN_RULE_SPD_LOG ? 6 : 2,
            (kiln_rule)rule);
    const uint32_t parents[3] = {4, 9, 14};
    const double weights[3] = {0.25, 0.5, 0.25};
    for (int rule = 0; rule < KILN_RULE_COUNT; rule++)
        for (uint32_t i = 0; i < 3; i++) {
            const char *name = kiln_rule_name((kiln_rule)rule);
            kiln_field *field = kiln_mesh_field(mesh, on, name);
            double *value = f64(mesh, on, name, parents[i]);
            if (rule == KILN_RULE_INHERIT) {
                uint32_t bits[2] = {0xF0u | 1u << i, 0xFFu << i};
                memcpy(field->data + (size_t)parents[i] * field->stride, bits, sizeof bits);
            } else if (rule == KILN_RULE_SPD_LOG) {
                kiln_sym3 a = {0};
                double scale = i == 1 ? 2.0 : 8.0;
                a.xx = scale, a.yy = 3.0, a.zz = 1.0 / scale;
                memcpy(value, &a, sizeof a);
            } else {
                value[0] = 1.0 + i;
                value[1] = -10.0 * i;
            }
        }
    kiln_txn txn = kiln_txn_begin(mesh);
    uint64_t hash = kiln_mesh_hash(mesh);
    kiln_vec3 place = {.1, .2, .3};
    uint32_t v = kiln_txn_add_vertex(&txn, place, place, parents, weights, 3);
    ck_assert_uint_ne(v, KILN_NONE);
    static const kiln_rule linear[] = {KILN_RULE_INTERPOLATE, KILN_RULE_AVERAGE, KILN_RULE_MOMENTUM,
                                       KILN_RULE_PROJECT};
    for (size_t i = 0; i < sizeof linear / sizeof linear[0]; i++) {
        ck_assert_double_eq(f64(mesh, on, kiln_rule_name(linear[i]), v)[0], 2.0);
        ck_assert_double_eq(f64(mesh, on, kiln_rule_name(linear[i]), v)[1], -10.0);
    }
    static const kiln_rule heaviest[] = {KILN_RULE_COPY, KILN_RULE_DIRECT};
    for (size_t i = 0; i < sizeof heaviest / sizeof heaviest[0]; i++)
        ck_assert_double_eq(f64(mesh, on, kiln_rule_name(heaviest[i]), v)[1], -10.0);
    static const kiln_rule zero[] = {KILN_RULE_NONE, KILN_RULE_RECOMPUTE, KILN_RULE_CONSERVE};
    for (size_t i = 0; i < sizeof zero / sizeof zero[0]; i++)
        ck_assert_double_eq(f64(mesh, on, kiln_rule_name(zero[i]), v)[0], 0.0);
    uint32_t bits[2];
    memcpy(bits, f64(mesh, on, "inherit", v), sizeof bits);
    ck_assert_uint_eq(bits[0], 0xF0);
    ck_assert_uint_eq(bits[1], 0xFC);
    kiln_sym3 mean;
    memcpy(&mean, f64(mesh, on, "spd-log", v), sizeof mean);
    ck_assert_double_eq_tol(mean.xx, 4.0, 1e-14); /* sqrt(2 * 8) */
    ck_assert_double_eq_tol(mean.yy, 3.0, 1e-14);
    ck_assert_double_eq_tol(mean.zz, 0.25, 1e-15);
    ck_assert_double_eq_tol(mean.xy, 0.0, 1e-15);

    /* Equal parents: the very bits, whatever the weights. No parents: zero. */
    kiln_sym3 odd = {0};
    odd.xx = 1.1, odd.yy = 2.3, odd.zz = 0.7, odd.xy = 0.13, odd.xz = -0.2, odd.yz = 0.05;
    for (int i = 0; i < 3; i++)
        memcpy(f64(mesh, on, "spd-log", parents[i]), &odd, sizeof odd);
    uint32_t w = kiln_txn_add_vertex(&txn, place, place, parents, weights, 3);
    ck_assert_mem_eq(f64(mesh, on, "spd-log", w), &odd, sizeof odd);
    uint32_t z = kiln_txn_add_vertex(&txn, place, place, NULL, NULL, 0);
    ck_assert_double_eq(f64(mesh, on, "interpolate", z)[0], 0.0);
    ck_assert_double_eq(f64(mesh, on, "copy", z)[0], 0.0);
    for (int i = 0; i < 3; i++) { /* as they were, for the hash */
        kiln_sym3 a = {0};
        double scale = i == 1 ? 2.0 : 8.0;
        a.xx = scale, a.yy = 3.0, a.zz = 1.0 / scale;
        memcpy(f64(mesh, on, "spd-log", parents[i]), &a, sizeof a);
    }
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_REFUSED_NON_MANIFOLD); /* loose vertices */
    kiln_txn_rollback(&txn);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A tet split in four: what each rule gives the children, and that a parent outside is read. */
START_TEST(rules_on_new_tets)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context);
    const kiln_where on = KILN_ON_TET;
    for (int rule = 0; rule < KILN_RULE_COUNT; rule++)
        add(mesh, kiln_rule_name((kiln_rule)rule), on,
            rule == KILN_RULE_INHERIT ? KILN_U64 : KILN_F64, rule == KILN_RULE_SPD_LOG ? 6 : 1,
            (kiln_rule)rule);
    const uint32_t tet = 17;
    kiln_sym3 spd = {0};
    spd.xx = 1.1, spd.yy = 2.3, spd.zz = 0.7, spd.xy = 0.13, spd.xz = -0.2, spd.yz = 0.05;
    uint64_t bits = 0x123456789abcdef0u;
    for (int rule = 0; rule < KILN_RULE_COUNT; rule++) {
        double *value = f64(mesh, on, kiln_rule_name((kiln_rule)rule), tet);
        if (rule == KILN_RULE_INHERIT)
            memcpy(value, &bits, sizeof bits);
        else if (rule == KILN_RULE_SPD_LOG)
            memcpy(value, &spd, sizeof spd);
        else
            *value = 0.1 + rule;
    }
    double volume = kiln_mesh_tet_volume(mesh, tet);
    const uint32_t corners[4] = {0, 1, 2, 3};
    const double weights[4] = {0.1, 0.2, 0.3, 0.4};
    kiln_txn txn = kiln_txn_begin(mesh);
    uint32_t used = mesh->table[on].used;
    kiln_split split;
    ck_assert_int_eq(kiln_split_at(&txn, tet, corners, 4, weights, &split), KILN_ACCEPTED);
    ck_assert_uint_eq(mesh->table[on].used, used + 3);
    double total = 0.0;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t child = i == 3 ? tet : used + i;
        for (int rule = 0; rule < KILN_RULE_COUNT; rule++) {
            const double *value = f64(mesh, on, kiln_rule_name((kiln_rule)rule), child);
            if (rule == KILN_RULE_INHERIT)
                ck_assert_mem_eq(value, &bits, sizeof bits);
            else if (rule == KILN_RULE_SPD_LOG)
                ck_assert_mem_eq(value, &spd, sizeof spd);
            else if (rule == KILN_RULE_NONE || rule == KILN_RULE_RECOMPUTE)
                ck_assert_double_eq(*value, 0.0);
            else if (rule == KILN_RULE_CONSERVE)
                ck_assert_double_eq_tol(
                    *value, (0.1 + rule) * kiln_mesh_tet_volume(mesh, child) / volume, 1e-14);
            else
                ck_assert_double_eq(*value, 0.1 + rule);
        }
        total += *f64(mesh, on, "conserve", child);
    }
    ck_assert_double_eq_tol(total, 0.1 + KILN_RULE_CONSERVE, 1e-14);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* In long double, so that only the changes' own rounding counts. */
static double total_of(const kiln_mesh *mesh, const char *name, uint32_t component)
{
    long double sum = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            sum += f64(mesh, KILN_ON_TET, name, t)[component];
    return (double)sum;
}

START_TEST(totals_are_kept_through_splits_and_flips)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context);
    add(mesh, "mass", KILN_ON_TET, KILN_F64, 2, KILN_RULE_CONSERVE);
    kiln_random random = kiln_random_start(12, 0);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        f64(mesh, KILN_ON_TET, "mass", t)[0] = kiln_random_range(&random, 0.5, 1.5);
        f64(mesh, KILN_ON_TET, "mass", t)[1] = kiln_random_range(&random, -1.0, 1.0);
    }
    double mass = total_of(mesh, "mass", 0), charge = total_of(mesh, "mass", 1);
    int done = 0;
    for (uint64_t i = 0; i < kiln_test_rounds(2000, 100000); i++) {
        kiln_txn txn = kiln_txn_begin(mesh);
        done +=
            kiln_txn_settle(&txn, kiln_test_change(&txn, &random, 0.01, false)) == KILN_ACCEPTED;
        if (i % 100 == 0) {
            ck_assert_double_eq_tol(total_of(mesh, "mass", 0), mass, 1e-14 * mass);
            ck_assert_double_eq_tol(total_of(mesh, "mass", 1), charge, 1e-14 * mass);
        }
    }
    ck_assert_int_gt(done, 300);
    ck_assert_double_eq_tol(total_of(mesh, "mass", 0), mass, 1e-14 * mass);
    ck_assert_double_eq_tol(total_of(mesh, "mass", 1), charge, 1e-14 * mass);
    kiln_test_audit(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A split surface edge: both halves of a face have its fields; the record stays with the first. */
START_TEST(rules_on_new_faces)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context);
    add(mesh, "heat", KILN_ON_FACE, KILN_F64, 1, KILN_RULE_COPY);
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        *f64(mesh, KILN_ON_FACE, "heat", f) = 10.0 + f;
    const uint32_t face = 11, at = mesh->face[face].at;
    int32_t tag = mesh->face[face].tag;
    const uint8_t *corner = kiln_face_corner[at % 4];
    const uint32_t corners[3] = {corner[0], corner[1], corner[2]};
    uint32_t used = mesh->table[KILN_ON_FACE].used;
    kiln_txn txn = kiln_txn_begin(mesh);
    kiln_split split;
    ck_assert_int_eq(kiln_split_middle(&txn, at / 4, corners, 3, &split), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    ck_assert_uint_eq(mesh->table[KILN_ON_FACE].live, used + 2);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t piece = i == 2 ? face : used + i;
        ck_assert_double_eq(*f64(mesh, KILN_ON_FACE, "heat", piece), 10.0 + face);
        ck_assert_int_eq(mesh->face[piece].tag, tag);
    }
    kiln_test_audit(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(writing_and_taking_back)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context);
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        add(mesh, "a", (kiln_where)where, KILN_F64, 3, KILN_RULE_DIRECT);
    uint64_t hash = kiln_mesh_hash(mesh);
    kiln_txn outer = kiln_txn_begin(mesh);
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        const kiln_field *field = kiln_mesh_field(mesh, (kiln_where)where, "a");
        const double first[3] = {1, 2, 3}, second[3] = {4, 5, 6};
        ck_assert_int_eq(kiln_txn_write(&outer, (kiln_where)where, field, 5, first), KILN_ACCEPTED);
        kiln_txn inner = kiln_txn_begin(mesh);
        ck_assert_int_eq(kiln_txn_write(&inner, (kiln_where)where, field, 5, second),
                         KILN_ACCEPTED);
        ck_assert_mem_eq(f64(mesh, (kiln_where)where, "a", 5), second, sizeof second);
        ck_assert_mem_eq(f64(mesh, (kiln_where)where, "a", 6), (double[3]){0}, sizeof first);
        kiln_txn_rollback(&inner);
        ck_assert_mem_eq(f64(mesh, (kiln_where)where, "a", 5), first, sizeof first);
    }
    kiln_txn_rollback(&outer);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    /* Written by the operator after a flip: `direct` keeps what is written. */
    uint32_t made[3];
    kiln_txn txn = kiln_txn_begin(mesh);
    kiln_verdict verdict = KILN_REFUSED_DEAD;
    for (uint32_t t = 0; verdict != KILN_ACCEPTED; t++)
        verdict = kiln_flip_23(&txn, t / 4, t % 4, made);
    const double value[3] = {7, 8, 9};
    ck_assert_int_eq(
        kiln_txn_write(&txn, KILN_ON_TET, kiln_mesh_field(mesh, KILN_ON_TET, "a"), made[1], value),
        KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    ck_assert_mem_eq(f64(mesh, KILN_ON_TET, "a", made[1]), value, sizeof value);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("fields");
    TCase *all = kiln_test_case(suite, "fields");
    tcase_add_test(all, registering);
    tcase_add_test(all, rules_on_a_new_vertex);
    tcase_add_test(all, rules_on_new_tets);
    tcase_add_test(all, totals_are_kept_through_splits_and_flips);
    tcase_add_test(all, rules_on_new_faces);
    tcase_add_test(all, writing_and_taking_back);
    return suite;
}
