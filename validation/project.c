/* M6: L2 projection against interpolation. Integrals are taken over all pairs of old and new tets
 * from the moments of their overlaps (the clipping case looks at those). */
#include "geom/box.h"
#include "geom/sym3.h"
#include "geom/tet_clip.h"
#include "measure/change.h"
#include "measure/fixture.h"
#include "remesh/transfer.h"
#include "topology/split.h"
#include "validation/validation.h"

#include <stdlib.h>
#include <string.h>

enum { PASSES = 20, SPLITS = 40 };
static const double density = 1000; /* kg/m^3 */

static double *row(const kiln_mesh *mesh, const char *name, uint32_t vertex)
{
    const kiln_field *field = kiln_mesh_field(mesh, KILN_ON_VERTEX, name);
    return (double *)(field->data + (size_t)vertex * field->stride);
}

/* A mesh with one component of a field, as it was. */
typedef struct linear_tet {
    kiln_vec3 corner[4], slope;
    double value[4];
} linear_tet;
typedef struct snapshot {
    linear_tet *tets; /* malloc */
    size_t count;
} snapshot;

static snapshot take_snapshot(const kiln_mesh *mesh, const char *name, int c)
{
    snapshot s = {malloc(mesh->table[KILN_ON_TET].used * sizeof *s.tets), 0};
    for (uint32_t t = 0; s.tets && t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        linear_tet *tet = &s.tets[s.count++];
        for (int k = 0; k < 4; k++) {
            tet->corner[k] = mesh->u[mesh->tet[t].v[k]];
            tet->value[k] = row(mesh, name, mesh->tet[t].v[k])[c];
        }
        kiln_vec3 e1 = kiln_v3_sub(tet->corner[1], tet->corner[0]);
        kiln_vec3 e2 = kiln_v3_sub(tet->corner[2], tet->corner[0]);
        kiln_vec3 e3 = kiln_v3_sub(tet->corner[3], tet->corner[0]);
        kiln_vec3 sum = kiln_v3_scale(kiln_v3_cross(e2, e3), tet->value[1] - tet->value[0]);
        sum = kiln_v3_madd(sum, tet->value[2] - tet->value[0], kiln_v3_cross(e3, e1));
        sum = kiln_v3_madd(sum, tet->value[3] - tet->value[0], kiln_v3_cross(e1, e2));
        tet->slope = kiln_v3_scale(sum, 1.0 / kiln_v3_triple(e1, e2, e3));
    }
    return s;
}

static bool apart(const linear_tet *a, const linear_tet *b)
{
    kiln_box box_a = kiln_box_empty(), box_b = kiln_box_empty();
    for (int k = 0; k < 4; k++) {
        box_a = kiln_box_grow(box_a, a->corner[k]);
        box_b = kiln_box_grow(box_b, b->corner[k]);
    }
    return !kiln_box_overlap(box_a, box_b);
}

/* Integral of the squared difference. */
static double residual(const snapshot *a, const snapshot *b)
{
    double total = 0.0;
    for (size_t i = 0; i < a->count; i++)
        for (size_t j = 0; j < b->count; j++) {
            const linear_tet *s = &a->tets[i], *t = &b->tets[j];
            if (apart(s, t))
                continue;
            kiln_moments m =
                kiln_tet_overlap_moments(s->corner, t->corner, t->corner[0], KILN_MOMENT_SECOND);
            kiln_vec3 h = kiln_v3_sub(s->slope, t->slope);
            double d = s->value[0] - t->value[0] +
                       kiln_v3_dot(s->slope, kiln_v3_sub(t->corner[0], s->corner[0]));
            const double *q = m.second;
            kiln_sym3 second = {q[0], q[1], q[2], q[3], q[4], q[5]};
            total += d * d * m.volume + 2 * d * kiln_v3_dot(h, m.first) +
                     kiln_v3_dot(h, kiln_sym3_apply(second, h));
        }
    return total;
}

static double integral(const snapshot *s)
{
    long double sum = 0.0;
    for (size_t i = 0; i < s->count; i++) {
        const linear_tet *t = &s->tets[i];
        sum += density * kiln_tet_volume(t->corner[0], t->corner[1], t->corner[2], t->corner[3]) *
               0.25L * (t->value[0] + t->value[1] + t->value[2] + t->value[3]);
    }
    return (double)sum;
}

static double linear_at(kiln_vec3 u)
{
    return 3.0 + 2.0 * u.x - 0.75 * u.y + 0.5 * u.z;
}

/* Component 0 a velocity, 1 constant, 2 linear; "at" is the velocity by interpolation. */
static void set_fields(kiln_mesh *mesh)
{
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        if (!kiln_vertex_live(mesh, v))
            continue;
        kiln_vec3 u = mesh->u[v];
        double *fit = row(mesh, "fit", v);
        fit[0] = *row(mesh, "at", v) = sin(7 * u.x) * cos(5 * u.y) + u.z * u.z;
        fit[1] = -4.25;
        fit[2] = linear_at(u);
    }
}

static kiln_status make_mesh(kiln_context *context, kiln_mesh **mesh, kiln_error *error)
{
    KILN_TRY(kiln_fixture_mesh(context, "box", "n=3", 0.04, mesh, error));
    kiln_status status =
        kiln_mesh_add_field(*mesh, "fit", KILN_ON_VERTEX, KILN_F64, 3, KILN_RULE_PROJECT, error);
    if (status == KILN_OK)
        status = kiln_mesh_add_field(*mesh, "at", KILN_ON_VERTEX, KILN_F64, 1,
                                     KILN_RULE_INTERPOLATE, error);
    if (status == KILN_OK)
        status = kiln_mesh_add_field(*mesh, "safe", KILN_ON_VERTEX, KILN_F64, 3, KILN_RULE_PROJECT,
                                     error);
    if (status != KILN_OK)
        kiln_mesh_destroy(*mesh);
    return status;
}

typedef struct findings {
    double constant, linear, integral, gain;
    size_t worse;
} findings;

static void compare(const kiln_mesh *mesh, const snapshot *old, findings *f)
{
    snapshot fit = take_snapshot(mesh, "fit", 0), at = take_snapshot(mesh, "at", 0);
    double projected = residual(old, &fit), interpolated = residual(old, &at);
    f->worse += !(projected <= interpolated);
    f->gain = fmax(f->gain, 1 - projected / interpolated);
    f->integral = fmax(f->integral, fabs(integral(&fit) / integral(old) - 1));
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        if (!kiln_vertex_live(mesh, v))
            continue;
        f->constant = fmax(f->constant, fabs(row(mesh, "fit", v)[1] + 4.25));
        f->linear = fmax(f->linear, fabs(row(mesh, "fit", v)[2] - linear_at(mesh->u[v])));
    }
    free(fit.tets);
    free(at.tets);
}

static kiln_status project_often(kiln_validation *validation, kiln_mesh *mesh, kiln_error *error)
{
    kiln_random random = kiln_random_start(6, 1);
    const kiln_change_limits limits = {.move = 0.05, .flattest = 1e-5};
    findings f = {0};
    for (int pass = 0; pass < PASSES; pass++) {
        set_fields(mesh);
        KILN_TRY(kiln_archive_begin(mesh, error));
        snapshot old = take_snapshot(mesh, "fit", 0);
        kiln_fixture_change(mesh, &random, pass % 4 ? 15 : 60, &limits);
        kiln_status status = kiln_transfer(mesh, NULL, NULL, error);
        kiln_archive_end(mesh);
        if (status == KILN_OK)
            compare(mesh, &old, &f);
        free(old.tets);
        KILN_TRY(status);
    }
    kiln_validation_report(validation, f.constant, kiln_at_most(1e-12), "constants, largest error");
    kiln_validation_report(validation, f.linear, kiln_at_most(1e-12),
                           "linear fields, largest error");
    kiln_validation_report(validation, f.integral, kiln_at_most(1e-12),
                           "integral of rho v, relative error");
    kiln_validation_report(validation, (double)f.worse, kiln_exactly(0),
                           "remeshes of %d with a residual above that of interpolation", PASSES);
    kiln_validation_report(validation, f.gain, kiln_at_least(0.4),
                           "largest share of the residual that projection saves");
    return KILN_OK;
}

static kiln_status project_splits(kiln_validation *validation, kiln_mesh *mesh, kiln_error *error)
{
    kiln_random random = kiln_random_start(6, 2);
    const uint32_t corners[4] = {2, 0, 3, 1};
    set_fields(mesh);
    KILN_TRY(kiln_archive_begin(mesh, error));
    for (int i = 0; i < SPLITS; i++) {
        kiln_split split;
        kiln_txn txn = kiln_txn_begin(mesh);
        uint32_t t = kiln_random_below(&random, mesh->table[KILN_ON_TET].used);
        if (txn.depth)
            kiln_txn_settle(&txn, kiln_split_middle(&txn, t, corners, 2 + i % 3, &split));
    }
    kiln_status status = kiln_transfer(mesh, NULL, NULL, error);
    kiln_archive_end(mesh);
    KILN_TRY(status);
    double worst = 0.0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(mesh, v))
            worst = fmax(worst, fabs(row(mesh, "fit", v)[0] - *row(mesh, "at", v)));
    kiln_validation_report(validation, worst, kiln_at_most(1e-12),
                           "splits: difference of projection and interpolation");
    return KILN_OK;
}

static size_t count_inverted(const kiln_mesh *mesh, const char *name)
{
    size_t count = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        kiln_vec3 x[4];
        for (int k = 0; kiln_tet_live(mesh, t) && k < 4; k++)
            memcpy(&x[k], row(mesh, name, mesh->tet[t].v[k]), sizeof x[k]);
        count += kiln_tet_live(mesh, t) && kiln_tet_volume(x[0], x[1], x[2], x[3]) <= 0.0;
    }
    return count;
}

/* Tets are split at their centroids, the new vertices driven far along x, and the splits undone:
 * the coarse positions that fit best would turn tets over. */
static kiln_status project_safely(kiln_validation *validation, kiln_mesh *mesh, kiln_error *error)
{
    kiln_random random = kiln_random_start(6, 3);
    kiln_split splits[SPLITS];
    uint32_t old = mesh->table[KILN_ON_VERTEX].used;
    const uint32_t corners[4] = {0, 1, 2, 3};
    int count = 0;
    for (int i = 0; i < 10 * SPLITS && count < SPLITS; i++) {
        kiln_txn txn = kiln_txn_begin(mesh);
        uint32_t t = kiln_random_below(&random, mesh->table[KILN_ON_TET].used);
        if (txn.depth && kiln_txn_settle(&txn, kiln_split_middle(&txn, t, corners, 4,
                                                                 &splits[count])) == KILN_ACCEPTED)
            count++;
    }
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 at = mesh->u[v];
        at.x += v >= old ? kiln_random_range(&random, -0.15, 2.5) : 0.0;
        memcpy(row(mesh, "safe", v), &at, sizeof at);
        memcpy(row(mesh, "fit", v), &at, sizeof at);
    }
    KILN_TRY(kiln_archive_begin(mesh, error));
    for (int i = count; i-- > 0;) {
        kiln_txn txn = kiln_txn_begin(mesh);
        if (txn.depth)
            kiln_txn_settle(&txn, kiln_unsplit(&txn, &splits[i]));
    }
    const kiln_transfer_options options = {.positions = "safe"};
    kiln_status status = kiln_transfer(mesh, &options, NULL, error);
    kiln_archive_end(mesh);
    KILN_TRY(status);
    kiln_validation_report(validation, (double)count_inverted(mesh, "safe"), kiln_exactly(0),
                           "safe projection: inverted tets, where the plain one has %zu",
                           count_inverted(mesh, "fit"));
    return KILN_OK;
}

kiln_status kiln_validate_M6(kiln_validation *validation, kiln_error *error)
{
    static kiln_status (*const parts[])(kiln_validation *, kiln_mesh *, kiln_error *) = {
        project_often, project_splits, project_safely};
    for (int i = 0; i < 3; i++) {
        kiln_mesh *mesh;
        KILN_TRY(make_mesh(kiln_validation_context(validation), &mesh, error));
        kiln_status status = parts[i](validation, mesh, error);
        kiln_mesh_destroy(mesh);
        KILN_TRY(status);
    }
    return KILN_OK;
}
