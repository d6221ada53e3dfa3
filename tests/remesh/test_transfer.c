#include "transfer_rig.h"

static kiln_mesh *box(kiln_context *context, const char *settings)
{
    kiln_mesh *mesh = kiln_test_mesh(context, "box", settings);
    kiln_test_jitter(mesh, 0.03, 2);
    return mesh;
}

static kiln_sym3 spd_at(kiln_vec3 u)
{
    return (kiln_sym3){1 + u.x, 2 + u.y, 1.5, 0.25 * u.z, 0.125, 0.25};
}

static void add_fields(kiln_mesh *mesh)
{
    rig_field(mesh, KILN_ON_VERTEX, "line", KILN_F64, 1, KILN_RULE_INTERPOLATE);
    rig_field(mesh, KILN_ON_VERTEX, "v", KILN_F64, 3, KILN_RULE_MOMENTUM);
    rig_field(mesh, KILN_ON_VERTEX, "fit", KILN_F64, 2, KILN_RULE_PROJECT);
    rig_field(mesh, KILN_ON_VERTEX, "load", KILN_F64, 2, KILN_RULE_CONSERVE);
    rig_field(mesh, KILN_ON_VERTEX, "bits", KILN_U32, 1, KILN_RULE_INHERIT);
    rig_field(mesh, KILN_ON_VERTEX, "left", KILN_F64, 1, KILN_RULE_RECOMPUTE);
    rig_field(mesh, KILN_ON_VERTEX, "spd", KILN_F64, 6, KILN_RULE_SPD_LOG);
    rig_field(mesh, KILN_ON_TET, "mean", KILN_F64, 2, KILN_RULE_AVERAGE);
    rig_field(mesh, KILN_ON_TET, "same", KILN_F64, 1, KILN_RULE_AVERAGE);
    rig_field(mesh, KILN_ON_TET, "mass", KILN_F64, 1, KILN_RULE_CONSERVE);
    rig_field(mesh, KILN_ON_TET, "spd", KILN_F64, 6, KILN_RULE_SPD_LOG);
    rig_field(mesh, KILN_ON_TET, "one", KILN_F64, 6, KILN_RULE_SPD_LOG);
    rig_field(mesh, KILN_ON_TET, "kind", KILN_U32, 1, KILN_RULE_COPY);
    rig_field(mesh, KILN_ON_TET, "bits", KILN_U32, 1, KILN_RULE_INHERIT);
    rig_field(mesh, KILN_ON_TET, "own", KILN_F64, 1, KILN_RULE_NONE);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = mesh->u[v], w = rig_velocity(u);
        kiln_sym3 spd = spd_at(u);
        *rig_row(mesh, KILN_ON_VERTEX, "line", v) = rig_linear(u);
        memcpy(rig_row(mesh, KILN_ON_VERTEX, "v", v), &w, sizeof w);
        rig_row(mesh, KILN_ON_VERTEX, "fit", v)[0] = rig_linear(u);
        rig_row(mesh, KILN_ON_VERTEX, "fit", v)[1] = w.x;
        rig_row(mesh, KILN_ON_VERTEX, "load", v)[0] = 1 + u.x;
        rig_row(mesh, KILN_ON_VERTEX, "load", v)[1] = u.z - 0.5;
        *(uint32_t *)rig_row(mesh, KILN_ON_VERTEX, "bits", v) = u.x < 0.5 ? 3 : 6;
        memcpy(rig_row(mesh, KILN_ON_VERTEX, "spd", v), &spd, sizeof spd);
    }
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        kiln_vec3 c = rig_centroid(mesh, t);
        kiln_sym3 spd = spd_at(c), one = {1.3, 0.8, 1, 0.1, 0, 0};
        rig_row(mesh, KILN_ON_TET, "mean", t)[0] = c.x;
        rig_row(mesh, KILN_ON_TET, "mean", t)[1] = sin(9 * c.y);
        *rig_row(mesh, KILN_ON_TET, "same", t) = 0.1;
        *rig_row(mesh, KILN_ON_TET, "mass", t) = (1 + c.z) * kiln_mesh_tet_volume(mesh, t);
        memcpy(rig_row(mesh, KILN_ON_TET, "spd", t), &spd, sizeof spd);
        memcpy(rig_row(mesh, KILN_ON_TET, "one", t), &one, sizeof one);
        *(uint32_t *)rig_row(mesh, KILN_ON_TET, "kind", t) = c.x < 0.5 ? 7 : 9;
        *(uint32_t *)rig_row(mesh, KILN_ON_TET, "bits", t) = c.x < 0.5 ? 3 : 6;
    }
}

static const kiln_transfer_options WITH_MASS = {.mass = "mass"};

/* Values that hold for any remeshing of the box, by what the fields were made of. */
static void check_values(const kiln_mesh *mesh)
{
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        if (!kiln_vertex_live(mesh, v))
            continue;
        double exact = rig_linear(mesh->u[v]);
        ck_assert_double_eq_tol(*rig_row(mesh, KILN_ON_VERTEX, "line", v), exact, 1e-11);
        ck_assert_double_eq_tol(rig_row(mesh, KILN_ON_VERTEX, "fit", v)[0], exact, 1e-11);
        uint32_t bits = *(uint32_t *)rig_row(mesh, KILN_ON_VERTEX, "bits", v);
        ck_assert(bits == 2 || bits == 3 || bits == 6);
        kiln_sym3 spd;
        memcpy(&spd, rig_row(mesh, KILN_ON_VERTEX, "spd", v), sizeof spd);
        ck_assert_double_gt(kiln_sym3_eigen(spd).values[2], 0.5);
    }
    const kiln_sym3 one = {1.3, 0.8, 1, 0.1, 0, 0};
    const double same = 0.1;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        ck_assert_mem_eq(rig_row(mesh, KILN_ON_TET, "one", t), &one, sizeof one);
        ck_assert_mem_eq(rig_row(mesh, KILN_ON_TET, "same", t), &same, sizeof same);
        uint32_t kind = *(uint32_t *)rig_row(mesh, KILN_ON_TET, "kind", t);
        ck_assert(kind == 7 || kind == 9);
        uint32_t bits = *(uint32_t *)rig_row(mesh, KILN_ON_TET, "bits", t);
        ck_assert(bits == 2 || bits == 3 || bits == 6);
        double mass = *rig_row(mesh, KILN_ON_TET, "mass", t);
        double density = mass / kiln_mesh_tet_volume(mesh, t);
        ck_assert_msg(density > 1.0 && density < 2.0, "density %g", density);
        double mean = rig_row(mesh, KILN_ON_TET, "mean", t)[0];
        ck_assert(mean > 0.0 && mean < 1.0);
    }
}

static void check_totals(const kiln_mesh *mesh, const double *before, double *now)
{
    now[0] = rig_sum(mesh, KILN_ON_TET, "mass", 0);
    now[1] = rig_sum(mesh, KILN_ON_VERTEX, "load", 0);
    now[2] = rig_sum(mesh, KILN_ON_VERTEX, "load", 1);
    for (uint32_t c = 0; c < 3; c++)
        now[3 + c] = rig_momentum(mesh, "mass", "v", c);
    for (int i = 0; before && i < 6; i++)
        ck_assert_msg(fabs(now[i] - before[i]) <= 1e-12 * (1 + fabs(before[i])),
                      "total %d: %.17g was %.17g", i, now[i], before[i]);
}

START_TEST(every_rule_holds_over_random_passes)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context, "nx=4 ny=4 nz=4");
    add_fields(mesh);
    kiln_random random = kiln_random_start(11, 1);
    double totals[6], now[6];
    check_totals(mesh, NULL, totals);
    for (int pass = 0; pass < (int)kiln_test_rounds(12, 100); pass++) {
        ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
        rig_changes(mesh, &random, 40 + pass % 5 * 60, 0.04);
        kiln_transfer_report report;
        rig_transfer(mesh, &WITH_MASS, &report);
        ck_assert_uint_gt(report.targets, 0);
        ck_assert_uint_eq(report.outside, 0);
        ck_assert_uint_eq(report.stray_sources + report.stray_targets + report.lost_sources, 0);
        for (size_t i = 0; i < report.regions.count; i++)
            ck_assert_double_eq_tol(report.regions.data[i].before, report.regions.data[i].after,
                                    1e-13);
        kiln_transfer_report_free(context, &report);
        check_values(mesh);
        check_totals(mesh, totals, now);
        kiln_archive_end(mesh);
        kiln_test_audit(mesh);
    }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Rows that the pass did not reach keep every bit; a pass that is rolled back after the transfer
 * leaves nothing behind. */
START_TEST(untouched_rows_keep_their_bits)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context, "nx=6 ny=6 nz=6");
    add_fields(mesh);
    kiln_random random = kiln_random_start(12, 1);
    uint64_t hash = kiln_mesh_hash(mesh);
    const kiln_table *tets = &mesh->table[KILN_ON_TET];
    uint32_t used = tets->used;
    const kiln_field *mean = kiln_mesh_field(mesh, KILN_ON_TET, "mean");
    char *copy = malloc(used * mean->stride);
    memcpy(copy, mean->data, used * mean->stride);
    uint32_t *stamps = malloc(used * sizeof *stamps);
    for (uint32_t t = 0; t < used; t++)
        stamps[t] = mesh->info[t].changed;
    ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
    rig_changes(mesh, &random, 40, 0.02);
    rig_transfer(mesh, &WITH_MASS, NULL);
    uint32_t same = 0, other = 0;
    mean = kiln_mesh_field(mesh, KILN_ON_TET, "mean");
    for (uint32_t t = 0; t < used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        if (mesh->info[t].changed == stamps[t]) {
            same++;
            ck_assert_mem_eq(mean->data + (size_t)t * mean->stride, copy + (size_t)t * mean->stride,
                             mean->stride);
        } else {
            other += memcmp(mean->data + (size_t)t * mean->stride, copy + (size_t)t * mean->stride,
                            mean->stride) != 0;
        }
    }
    ck_assert_uint_gt(same, used / 2);
    ck_assert_uint_gt(other, 20);
    kiln_archive_rollback(mesh);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    free(copy);
    free(stamps);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* There and back: provisional values were mixed on the way, the transfer puts the old ones back. */
START_TEST(a_tet_made_again_keeps_its_values)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context, "nx=3 ny=3 nz=3");
    add_fields(mesh);
    const char *names[] = {"mass", "mean", "spd", "kind", "bits"};
    ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
    uint32_t made[3] = {0}, back[2] = {0}, t = 0, f = 0;
    kiln_verdict verdict = KILN_REFUSED_DEAD;
    for (; t < 100 && verdict != KILN_ACCEPTED; t++)
        for (f = 0; f < 4 && verdict != KILN_ACCEPTED; f++) {
            kiln_txn txn = kiln_txn_begin(mesh);
            verdict = kiln_txn_settle(&txn, kiln_flip_23(&txn, t, f, made));
        }
    ck_assert_int_eq(verdict, KILN_ACCEPTED);
    /* The edge that all three new tets share. */
    uint32_t corner[2], count = 0;
    for (uint32_t k = 0; k < 4 && count < 2; k++) {
        uint32_t v = mesh->tet[made[0]].v[k];
        if (kiln_tet_corner(&mesh->tet[made[1]], v) < 4 &&
            kiln_tet_corner(&mesh->tet[made[2]], v) < 4)
            corner[count++] = k;
    }
    ck_assert_uint_eq(count, 2);
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_txn_settle(&txn, kiln_flip_32(&txn, made[0], corner[0], corner[1], back)),
                     KILN_ACCEPTED);
    kiln_transfer_report report;
    rig_transfer(mesh, &WITH_MASS, &report);
    ck_assert_uint_eq(report.targets, 2);
    ck_assert_uint_eq(report.kept, 2);
    for (int i = 0; i < 2; i++)
        for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
            /* The old tet with the same vertices. */
            uint32_t old = KILN_NONE;
            for (uint32_t s = 0; s < kiln_archive_rows(mesh, KILN_ON_TET); s++) {
                const kiln_tet *tet = kiln_archive_tet(mesh, s);
                uint32_t shared = 0;
                for (int k = 0; k < 4; k++)
                    shared += kiln_tet_corner(tet, mesh->tet[back[i]].v[k]) < 4;
                old = shared == 4 ? s : old;
            }
            ck_assert_uint_ne(old, KILN_NONE);
            const kiln_field *field = kiln_mesh_field(mesh, KILN_ON_TET, names[n]);
            char value[64];
            kiln_archive_value(mesh, KILN_ON_TET, field, old, value);
            ck_assert_msg(
                memcmp(value, field->data + (size_t)back[i] * field->stride, field->stride) == 0,
                "%s", names[n]);
        }
    kiln_transfer_report_free(context, &report);
    kiln_archive_end(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Two boxes in the same place, and a box of two regions: nothing crosses. */
START_TEST(bodies_and_regions_do_not_mix)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup = kiln_test_soup(context, "box", "nx=3 ny=3 nz=3");
    size_t points = soup.points.count, tets = soup.tets.count;
    kiln_vec3 *point = malloc(2 * points * sizeof *point);
    kiln_soup_tet *tet = malloc(2 * tets * sizeof *tet);
    int32_t *region = malloc(2 * tets * sizeof *region);
    for (size_t i = 0; i < 2 * points; i++)
        point[i] = soup.points.data[i % points];
    for (size_t i = 0; i < 2 * tets; i++) {
        kiln_vec3 c = {0, 0, 0};
        for (int k = 0; k < 4; k++) {
            tet[i].v[k] = soup.tets.data[i % tets].v[k] + (uint32_t)(i / tets * points);
            c = kiln_v3_madd(c, 0.25, point[tet[i].v[k]]);
        }
        region[i] = i < tets && c.x > 2.0 / 3.0 ? 5 : 1;
    }
    kiln_mesh *mesh =
        kiln_test_mesh_of(context, 2 * points, point, 2 * tets, tet, region, KILN_BUILD_STRICT);
    rig_field(mesh, KILN_ON_TET, "who", KILN_F64, 1, KILN_RULE_AVERAGE);
    rig_field(mesh, KILN_ON_TET, "amount", KILN_F64, 1, KILN_RULE_CONSERVE);
    rig_field(mesh, KILN_ON_VERTEX, "who", KILN_F64, 1, KILN_RULE_INTERPOLATE);
    for (uint32_t t = 0; t < 2 * tets; t++) {
        *rig_row(mesh, KILN_ON_TET, "who", t) = mesh->info[t].part * 10 + mesh->info[t].region;
        *rig_row(mesh, KILN_ON_TET, "amount", t) = 1.0;
        for (int k = 0; k < 4; k++)
            *rig_row(mesh, KILN_ON_VERTEX, "who", mesh->tet[t].v[k]) = mesh->info[t].part;
    }
    kiln_random random = kiln_random_start(13, 1);
    for (int pass = 0; pass < 6; pass++) {
        ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
        rig_changes(mesh, &random, 200, 0.05);
        kiln_transfer_report report;
        rig_transfer(mesh, NULL, &report);
        ck_assert_uint_gt(report.pairs, report.targets);
        kiln_transfer_report_free(context, &report);
        kiln_archive_end(mesh);
    }
    double sums[3] = {0};
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        uint32_t part = mesh->info[t].part;
        int32_t r = mesh->info[t].region;
        ck_assert_double_eq(*rig_row(mesh, KILN_ON_TET, "who", t), part * 10 + r);
        for (int k = 0; k < 4; k++)
            ck_assert_double_eq(*rig_row(mesh, KILN_ON_VERTEX, "who", mesh->tet[t].v[k]), part);
        sums[part ? 2 : r == 5] += *rig_row(mesh, KILN_ON_TET, "amount", t);
    }
    ck_assert_double_eq_tol(sums[0], 108, 1e-10);
    ck_assert_double_eq_tol(sums[1], 54, 1e-10);
    ck_assert_double_eq_tol(sums[2], 162, 1e-10);
    free(point);
    free(tet);
    free(region);
    kiln_soup_free(&soup);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A tet that is taken out without any new one leaves its amounts to a neighbour; one whose
 * neighbourhood has new tets, to the nearest of them. */
START_TEST(amounts_of_vanished_tets_stay)
{
    kiln_context *context = kiln_test_context(1);
    for (int with_targets = 0; with_targets < 2; with_targets++) {
        kiln_mesh *mesh = box(context, "nx=3 ny=3 nz=3");
        rig_field(mesh, KILN_ON_TET, "amount", KILN_F64, 2, KILN_RULE_CONSERVE);
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
            rig_row(mesh, KILN_ON_TET, "amount", t)[1] = 1.0 + t;
        double before = rig_sum(mesh, KILN_ON_TET, "amount", 1);
        ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
        uint32_t removed = 0;
        kiln_random random = kiln_random_start(14, 1);
        for (uint32_t t = 0; t < 60; t++) {
            kiln_txn txn = kiln_txn_begin(mesh);
            removed += kiln_txn_settle(&txn, kiln_test_remove_tet(&txn, t)) == KILN_ACCEPTED;
        }
        if (with_targets)
            rig_changes(mesh, &random, 100, 0.05);
        ck_assert_uint_gt(removed, 2);
        kiln_transfer_report report;
        rig_transfer(mesh, NULL, &report);
        ck_assert_uint_gt(report.stray_sources, 0);
        double lost = 0.0;
        if (report.lost_sources == 0)
            lost = before - rig_sum(mesh, KILN_ON_TET, "amount", 1);
        ck_assert_double_eq_tol(lost, 0.0, 1e-12 * before);
        ck_assert_uint_lt(report.lost_sources, removed);
        kiln_transfer_report_free(context, &report);
        kiln_archive_end(mesh);
        kiln_mesh_destroy(mesh);
    }
    kiln_context_destroy(context);
}
END_TEST

/* The surface moves out: places outside extrapolate, new tets beyond the old domain have values. */
START_TEST(outside_the_old_domain)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context, "nx=3 ny=3 nz=3");
    add_fields(mesh);
    double totals[6], now[6];
    check_totals(mesh, NULL, totals);
    kiln_random random = kiln_random_start(15, 1);
    ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
    for (int i = 0; i < 400; i++) {
        kiln_txn txn = kiln_txn_begin(mesh);
        kiln_txn_settle(&txn, kiln_test_change(&txn, &random, 0.08, false));
    }
    kiln_transfer_report report;
    rig_transfer(mesh, &WITH_MASS, &report);
    ck_assert_uint_gt(report.outside, 10);
    double change = 0.0;
    for (size_t i = 0; i < report.regions.count; i++)
        change += report.regions.data[i].after - report.regions.data[i].before;
    double booked = mesh->ledger.volume_gained - mesh->ledger.volume_lost;
    ck_assert_double_eq_tol(change, booked, 1e-12);
    check_totals(mesh, totals, now);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(mesh, v))
            ck_assert_double_eq_tol(*rig_row(mesh, KILN_ON_VERTEX, "line", v),
                                    rig_linear(mesh->u[v]), 0.1);
    kiln_transfer_report_free(context, &report);
    kiln_archive_end(mesh);
    kiln_test_audit(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Interpolation alone clips nothing; nor do amounts of vertices. */
START_TEST(vertex_fields_need_no_overlaps)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context, "nx=4 ny=4 nz=4");
    rig_field(mesh, KILN_ON_VERTEX, "line", KILN_F64, 1, KILN_RULE_INTERPOLATE);
    rig_field(mesh, KILN_ON_VERTEX, "load", KILN_F64, 1, KILN_RULE_CONSERVE);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        *rig_row(mesh, KILN_ON_VERTEX, "line", v) = rig_linear(mesh->u[v]);
        *rig_row(mesh, KILN_ON_VERTEX, "load", v) = 1.0 + v;
    }
    double load = rig_sum(mesh, KILN_ON_VERTEX, "load", 0);
    kiln_random random = kiln_random_start(19, 1);
    ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
    rig_changes(mesh, &random, 400, 0.04);
    kiln_transfer_report report;
    rig_transfer(mesh, NULL, &report);
    ck_assert_uint_eq(report.candidates, 0);
    ck_assert_uint_gt(report.vertices, 20);
    kiln_transfer_report_free(context, &report);
    kiln_archive_end(mesh);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(mesh, v))
            ck_assert_double_eq_tol(*rig_row(mesh, KILN_ON_VERTEX, "line", v),
                                    rig_linear(mesh->u[v]), 1e-12);
    ck_assert_double_eq_tol(rig_sum(mesh, KILN_ON_VERTEX, "load", 0), load, 1e-12 * load);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(the_impulse_keeps_velocities)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context, "nx=4 ny=4 nz=4");
    add_fields(mesh);
    rig_field(mesh, KILN_ON_VERTEX, "impulse", KILN_F64, 3, KILN_RULE_CONSERVE);
    const kiln_transfer_options options = {.mass = "mass", .velocity = "v", .impulse = "impulse"};
    double before[3], largest = 0.0;
    for (uint32_t c = 0; c < 3; c++)
        before[c] = rig_momentum(mesh, "mass", "v", c);
    kiln_random random = kiln_random_start(16, 1);
    for (int pass = 0; pass < 3; pass++) {
        ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
        rig_changes(mesh, &random, 200, 0.05);
        rig_transfer(mesh, &options, NULL);
        kiln_archive_end(mesh);
        for (uint32_t c = 0; c < 3; c++) {
            double impulse = rig_sum(mesh, KILN_ON_VERTEX, "impulse", c);
            double now = rig_momentum(mesh, "mass", "v", c);
            ck_assert_double_eq_tol(now + impulse, before[c], 1e-12);
            largest = fmax(largest, fabs(impulse));
        }
    }
    ck_assert_double_gt(largest, 1e-6); /* else the test says nothing */
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

static uint64_t hash_with(int threads)
{
    kiln_context *context = kiln_test_context(threads);
    kiln_mesh *mesh = box(context, "nx=5 ny=5 nz=5");
    add_fields(mesh);
    kiln_random random = kiln_random_start(17, 1);
    ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
    rig_changes(mesh, &random, 600, 0.03);
    rig_transfer(mesh, &WITH_MASS, NULL);
    kiln_archive_end(mesh);
    uint64_t hash = kiln_mesh_hash(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
    return hash;
}

START_TEST(threads_do_not_change_a_bit)
{
    uint64_t one = hash_with(1);
    ck_assert_uint_eq(hash_with(3), one);
}
END_TEST

START_TEST(without_memory_nothing_changes)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_mesh *mesh = box(context, "nx=2 ny=2 nz=2");
    add_fields(mesh);
    kiln_random random = kiln_random_start(18, 1);
    ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
    rig_changes(mesh, &random, 60, 0.05);
    uint64_t hash = kiln_mesh_hash(mesh), failures = 0;
    for (uint64_t step = 1;; step += 1 + step / 8) {
        heap.fail_at = heap.calls + step;
        kiln_error error = {0};
        int64_t blocks = heap.live_blocks;
        kiln_transfer_report report;
        kiln_status status = kiln_transfer(mesh, &WITH_MASS, &report, &error);
        heap.fail_at = 0;
        if (status == KILN_OK) {
            kiln_transfer_report_free(context, &report);
            break;
        }
        failures++;
        ck_assert_int_eq(status, KILN_ERR_MEMORY);
        ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
        /* The journal keeps what it grew to; nothing else stays. */
        ck_assert_int_le(heap.live_blocks, blocks + 4);
    }
    ck_assert_uint_gt(failures, 10);
    kiln_archive_end(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}
END_TEST

START_TEST(refusals_say_why)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context, "nx=2 ny=2 nz=2");
    kiln_error error = {0};
    ck_assert_int_eq(kiln_transfer(mesh, NULL, NULL, &error), KILN_ERR_STATE);
    ck_assert_int_eq(kiln_transfer_between(mesh, mesh, KILN_SPACE_MATERIAL, NULL, NULL, &error),
                     KILN_ERR_STATE);
    kiln_mesh *other = box(context, "nx=2 ny=2 nz=2");
    rig_field(mesh, KILN_ON_TET, "heat", KILN_F64, 3, KILN_RULE_AVERAGE);
    rig_field(other, KILN_ON_TET, "heat", KILN_F64, 1, KILN_RULE_AVERAGE);
    uint64_t hash = kiln_mesh_hash(other);
    ck_assert_int_eq(kiln_transfer_between(mesh, other, KILN_SPACE_MATERIAL, NULL, NULL, &error),
                     KILN_ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(error.message, "heat"));
    ck_assert_uint_eq(kiln_mesh_hash(other), hash);
    kiln_mesh_destroy(other);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("transfer");
    TCase *cases = kiln_test_case(suite, "pass");
    tcase_add_test(cases, every_rule_holds_over_random_passes);
    tcase_add_test(cases, untouched_rows_keep_their_bits);
    tcase_add_test(cases, a_tet_made_again_keeps_its_values);
    tcase_add_test(cases, bodies_and_regions_do_not_mix);
    tcase_add_test(cases, amounts_of_vanished_tets_stay);
    tcase_add_test(cases, outside_the_old_domain);
    tcase_add_test(cases, vertex_fields_need_no_overlaps);
    tcase_add_test(cases, the_impulse_keeps_velocities);
    tcase_add_test(cases, threads_do_not_change_a_bit);
    tcase_add_test(cases, without_memory_nothing_changes);
    tcase_add_test(cases, refusals_say_why);
    return suite;
}
