#include "base/random.h"
#include "measure/fixture.h"
#include "mesh/build.h"
#include "remesh/refine.h"
#include "validation/validation.h"

#include <stdlib.h>
#include <string.h>

/* Counted from the tets alone. */
typedef struct census {
    double tets, vertices, edges, boundary, interface;
    double least_angle, best_angle; /* smallest, and best of the tets' smallest; degrees */
} census;

typedef struct corners {
    uint32_t v[3]; /* ascending; an edge has v[2] = KILN_NONE */
    int32_t region;
} corners;

static int compare_corners(const void *a, const void *b)
{
    return memcmp(((const corners *)a)->v, ((const corners *)b)->v, sizeof((corners *)0)->v);
}

static corners sorted(uint32_t a, uint32_t b, uint32_t c, int32_t region)
{
    corners s = {{a, b, c}, region};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2 - i; j++)
            if (s.v[j] > s.v[j + 1]) {
                uint32_t swap = s.v[j];
                s.v[j] = s.v[j + 1];
                s.v[j + 1] = swap;
            }
    return s;
}

/* The smallest angle between two faces, from their normals. */
static double least_dihedral(const kiln_mesh *mesh, uint32_t tet)
{
    double least = 180;
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++) {
            int k = 0;
            while (k == i || k == j)
                k++;
            int l = 6 - i - j - k; /* the edge k-l is where the faces opposite i and j meet */
            const uint32_t *v = mesh->tet[tet].v;
            kiln_vec3 at = mesh->u[v[k]], edge = kiln_v3_sub(mesh->u[v[l]], at);
            kiln_vec3 m = kiln_v3_cross(edge, kiln_v3_sub(mesh->u[v[i]], at)),
                      n = kiln_v3_cross(edge, kiln_v3_sub(mesh->u[v[j]], at));
            double angle = atan2(kiln_v3_norm(kiln_v3_cross(m, n)), kiln_v3_dot(m, n));
            least = fmin(least, angle * 180 / KILN_PI);
        }
    return least;
}

static kiln_status take_census(const kiln_mesh *mesh, census *c, kiln_error *error)
{
    KILN_ARRAY_OF(corners)
    edges = {0}, faces = {0};
    kiln_context *context = mesh->context;
    *c = (census){.tets = mesh->table[KILN_ON_TET].live,
                  .vertices = mesh->table[KILN_ON_VERTEX].live,
                  .least_angle = 180};
    kiln_status status = kiln_array_reserve(context, &edges, 6 * (size_t)c->tets, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(context, &faces, 4 * (size_t)c->tets, error);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used && status == KILN_OK; t++) {
        const uint32_t *v = mesh->tet[t].v;
        if (!kiln_tet_live(mesh, t))
            continue;
        for (int i = 0; i < 4; i++) {
            faces.data[faces.count++] =
                sorted(v[(i + 1) % 4], v[(i + 2) % 4], v[(i + 3) % 4], mesh->info[t].region);
            for (int j = i + 1; j < 4; j++)
                edges.data[edges.count++] = sorted(v[i], v[j], KILN_NONE, 0);
        }
        double angle = least_dihedral(mesh, t);
        c->least_angle = fmin(c->least_angle, angle);
        c->best_angle = fmax(c->best_angle, angle);
    }
    if (status == KILN_OK) {
        qsort(edges.data, edges.count, sizeof *edges.data, compare_corners);
        qsort(faces.data, faces.count, sizeof *faces.data, compare_corners);
        for (size_t i = 0; i < edges.count; i++)
            c->edges += i == 0 || compare_corners(&edges.data[i - 1], &edges.data[i]) != 0;
        for (size_t i = 0; i < faces.count; i++) {
            bool again = i > 0 && compare_corners(&faces.data[i - 1], &faces.data[i]) == 0;
            c->boundary += again ? -1 : 1; /* once: surface, twice: inside */
            c->interface += again && faces.data[i - 1].region != faces.data[i].region;
        }
    }
    kiln_array_free(context, &edges);
    kiln_array_free(context, &faces);
    return status;
}

static kiln_status refine_all(kiln_refiner *refiner, const kiln_mesh *mesh, uint32_t goal,
                              kiln_error *error)
{
    kiln_u32_array all = {0};
    kiln_refine_report report;
    kiln_status status = KILN_OK;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used && status == KILN_OK; t++)
        if (kiln_tet_live(mesh, t))
            status = kiln_array_push(mesh->context, &all, t, error);
    if (status == KILN_OK)
        status = kiln_refine_tets(refiner, all.data, all.count, goal, &report, error);
    kiln_array_free(mesh->context, &all);
    if (status == KILN_OK && report.blocked > 0)
        return kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1, "a step is refused: %s",
                         kiln_verdict_reason(report.first_refusal));
    return status;
}

/* The regular tet with corners at every other one of a cube. */
static kiln_status regular_tet(kiln_context *context, kiln_mesh **mesh, kiln_error *error)
{
    static const kiln_vec3 points[4] = {{0, 0, 0}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}};
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    kiln_status status = KILN_OK;
    for (int i = 0; i < 4 && status == KILN_OK; i++)
        status = kiln_array_push(context, &soup.points, points[i], error);
    if (status == KILN_OK)
        status = kiln_array_push(context, &soup.tets, ((kiln_soup_tet){{0, 2, 1, 3}}), error);
    if (status == KILN_OK)
        status = kiln_mesh_build(context, &soup, NULL, mesh, NULL, error);
    kiln_soup_free(&soup);
    return status;
}

/* Tets and vertices after each of the ten steps of two cycles, angles after each cycle. */
typedef struct history {
    const char *name;
    double tets[10], vertices[10]; /* 0: not looked at */
    double angle[2], best;         /* degrees; best 0: not looked at */
} history;

static const history one_tet = {"regular tet",
                                {4, 12, 36, 36, 32, 0, 0, 0, 0, 748},
                                {5, 9, 21, 21, 21, 0, 0, 0, 0, 229},
                                {35.264, 19.471},
                                70.529};
static const history cube = {"K(2) of a cube",
                             {0, 0, 0, 0, 1104, 0, 0, 0, 0, 23376},
                             {0, 0, 0, 0, 319, 0, 0, 0, 0, 5131},
                             {26.565, 16.376},
                             0};

static kiln_status check_history(kiln_validation *validation, kiln_mesh *mesh, const history *h,
                                 kiln_error *error)
{
    kiln_refiner *refiner;
    KILN_TRY(kiln_refiner_create(mesh, &refiner, error));
    double volume = (double)kiln_fixture_volume(mesh);
    kiln_status status = KILN_OK;
    for (uint32_t step = 0; step < 10 && status == KILN_OK; step++) {
        census c;
        status = refine_all(refiner, mesh, step + 1, error);
        if (status == KILN_OK)
            status = take_census(mesh, &c, error);
        if (status != KILN_OK || h->tets[step] == 0)
            continue;
        kiln_validation_report(validation, c.tets, kiln_exactly(h->tets[step]),
                               "%s, cycle %u, step %c: tets", h->name, step / 5 + 1,
                               (int)('A' + step % 5));
        kiln_validation_report(validation, c.vertices, kiln_exactly(h->vertices[step]),
                               "%s, cycle %u, step %c: vertices", h->name, step / 5 + 1,
                               (int)('A' + step % 5));
        if (step % 5 != 4)
            continue;
        kiln_validation_report(validation, c.least_angle, kiln_near(h->angle[step / 5], 5e-4),
                               "%s, cycle %u: smallest dihedral angle, degrees", h->name,
                               step / 5 + 1);
        if (h->best > 0)
            kiln_validation_report(validation, c.best_angle, kiln_near(h->best, 5e-4),
                                   "%s, cycle %u: best smallest angle of a tet, degrees", h->name,
                                   step / 5 + 1);
        kiln_validation_report(validation, (double)kiln_fixture_volume(mesh),
                               kiln_near_relative(volume, 1e-12), "%s, cycle %u: volume", h->name,
                               step / 5 + 1);
        kiln_validation_report(validation, (double)kiln_fixture_non_positive(mesh), kiln_exactly(0),
                               "%s, cycle %u: tets that are not positive", h->name, step / 5 + 1);
    }
    kiln_refiner_destroy(refiner);
    return status;
}

/* T' = 20 T + 3 fb + 6 fx, V' = V + T + fb + fx + 2 E, fb' = 9 fb, fx' = 9 fx, as long as no face
 * inside has to be treated as one between regions. */
static kiln_status check_formula(kiln_validation *validation, const char *name, kiln_mesh *mesh,
                                 kiln_error *error)
{
    census before, after;
    kiln_refiner *refiner;
    KILN_TRY(kiln_refiner_create(mesh, &refiner, error));
    kiln_status status = take_census(mesh, &before, error);
    if (status == KILN_OK)
        status = refine_all(refiner, mesh, 5, error);
    if (status == KILN_OK)
        status = take_census(mesh, &after, error);
    kiln_refiner_destroy(refiner);
    KILN_TRY(status);
    kiln_validation_report(
        validation, after.tets,
        kiln_exactly(20 * before.tets + 3 * before.boundary + 6 * before.interface),
        "%s: tets after a cycle", name);
    kiln_validation_report(validation, after.vertices,
                           kiln_exactly(before.vertices + before.tets + before.boundary +
                                        before.interface + 2 * before.edges),
                           "%s: vertices after a cycle", name);
    kiln_validation_report(validation, after.boundary, kiln_exactly(9 * before.boundary),
                           "%s: surface faces after a cycle", name);
    kiln_validation_report(validation, after.interface, kiln_exactly(9 * before.interface),
                           "%s: faces between regions after a cycle", name);
    return KILN_OK;
}

/* Rows of the mesh as it was, and how many of them are not as they were. */
typedef struct image {
    kiln_vec3 *u;
    kiln_tet *tet;
    uint32_t vertices, tets;
} image;

static double differing_rows(const kiln_mesh *mesh, const image *before)
{
    double differ = fabs((double)mesh->table[KILN_ON_TET].live - before->tets) +
                    fabs((double)mesh->table[KILN_ON_VERTEX].live - before->vertices);
    for (uint32_t v = 0; v < before->vertices; v++)
        differ += memcmp(&mesh->u[v], &before->u[v], sizeof mesh->u[v]) != 0;
    for (uint32_t t = 0; t < before->tets; t++)
        differ += memcmp(&mesh->tet[t], &before->tet[t], sizeof mesh->tet[t]) != 0;
    return differ;
}

/* One half back: what is initial again must be as it was, and some of it must. */
static bool in_one_half(void *user, const kiln_mesh *mesh, uint32_t tet)
{
    (void)user;
    double x = 0;
    for (int k = 0; k < 4; k++)
        x += mesh->u[mesh->tet[tet].v[k]].x / 4;
    return x < 0.5;
}

static kiln_status check_partial(kiln_validation *validation, const char *name,
                                 kiln_refiner *refiner, const kiln_mesh *mesh, const image *before,
                                 kiln_error *error)
{
    kiln_refine_report report;
    kiln_refine_choice half = {in_one_half, NULL};
    KILN_TRY(kiln_coarsen_where(refiner, half, 0, &report, error));
    double initial = 0, differ = 0;
    for (uint32_t t = 0; t < before->tets; t++) {
        bool back = kiln_tet_live(mesh, t) && kiln_refine_generation(refiner, t) == 0;
        initial += back;
        differ += back && memcmp(mesh->tet[t].v, before->tet[t].v, sizeof mesh->tet[t].v) != 0;
    }
    kiln_validation_report(validation, initial, kiln_between(1, before->tets - 1),
                           "%s, one half back: tets of the initial mesh", name);
    kiln_validation_report(validation, differ, kiln_exactly(0), "%s, one half back: of them differ",
                           name);
    return KILN_OK;
}

static double refined_tets(const kiln_refiner *refiner, const kiln_mesh *mesh)
{
    double count = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        count += kiln_tet_live(mesh, t) && kiln_refine_generation(refiner, t) > 0;
    return count;
}

/* Tries at random tets: steps up to a generation (undo: backwards) until enough have been done. */
static kiln_status wander(kiln_refiner *refiner, kiln_mesh *mesh, kiln_random *random, bool undo,
                          uint32_t goal, uint64_t wanted, kiln_error *error)
{
    uint64_t done = 0;
    for (uint64_t tries = 0; done < wanted; tries++) {
        if (tries > 10000 * (wanted + 1000))
            return kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1, "the mesh is stuck");
        uint32_t t = kiln_random_below(random, mesh->table[KILN_ON_TET].used);
        if (!kiln_tet_live(mesh, t) || (!undo && kiln_refine_generation(refiner, t) >= goal))
            continue;
        kiln_txn txn = kiln_txn_begin(mesh);
        kiln_verdict verdict =
            undo ? kiln_refine_undo(refiner, &txn, t) : kiln_refine_step(refiner, &txn, t);
        done += kiln_txn_settle(&txn, verdict) == KILN_ACCEPTED;
        if (undo && tries % 64 == 0 && refined_tets(refiner, mesh) == 0)
            return KILN_OK;
    }
    return KILN_OK;
}

/* Up at random, partly back, up again, all back in random order; twice. */
static kiln_status check_reversal(kiln_validation *validation, const char *name, kiln_mesh *mesh,
                                  kiln_error *error)
{
    kiln_refiner *refiner;
    KILN_TRY(kiln_refiner_create(mesh, &refiner, error));
    image before = {.vertices = mesh->table[KILN_ON_VERTEX].used,
                    .tets = mesh->table[KILN_ON_TET].used};
    size_t points = before.vertices * sizeof *before.u, tets = before.tets * sizeof *before.tet;
    before.u = kiln_resize(mesh->context, NULL, 0, points);
    before.tet = kiln_resize(mesh->context, NULL, 0, tets);
    kiln_status status = before.u && before.tet ? KILN_OK : kiln_fail_memory(error, points + tets);
    kiln_random random = kiln_random_start(33, 0);
    if (status == KILN_OK) {
        memcpy(before.u, mesh->u, points);
        memcpy(before.tet, mesh->tet, tets);
    }
    for (int time = 1; time <= 2 && status == KILN_OK; time++) {
        status = wander(refiner, mesh, &random, false, 11, 400, error);
        if (status == KILN_OK)
            status = wander(refiner, mesh, &random, true, 0, 200, error);
        if (status == KILN_OK)
            status = wander(refiner, mesh, &random, false, 13, 200, error);
        double most = mesh->table[KILN_ON_TET].live;
        if (status == KILN_OK)
            status = check_partial(validation, name, refiner, mesh, &before, error);
        if (status == KILN_OK)
            status = wander(refiner, mesh, &random, true, 0, UINT64_MAX / 100000, error);
        if (status == KILN_OK)
            kiln_validation_report(validation, differing_rows(mesh, &before), kiln_exactly(0),
                                   "%s, from %g tets back at random, %s: rows that differ", name,
                                   most, time == 1 ? "once" : "twice");
    }
    kiln_release(mesh->context, before.u, points);
    kiln_release(mesh->context, before.tet, tets);
    kiln_refiner_destroy(refiner);
    return status;
}

/* A cube of two regions. */
static kiln_status halved_cube(kiln_context *context, kiln_mesh **mesh, kiln_error *error)
{
    KILN_TRY(kiln_fixture_mesh(context, "box", "n=2", 0.0, mesh, error));
    kiln_txn txn = kiln_txn_begin(*mesh);
    kiln_verdict verdict = KILN_ACCEPTED;
    for (uint32_t t = 0; t < (*mesh)->table[KILN_ON_TET].used && verdict == KILN_ACCEPTED; t++) {
        double x = 0;
        for (int k = 0; k < 4; k++)
            x += (*mesh)->u[(*mesh)->tet[t].v[k]].x / 4;
        verdict = kiln_txn_set_region(&txn, t, x < 0.5 ? 1 : 2);
    }
    if (kiln_txn_settle(&txn, verdict) == KILN_ACCEPTED)
        return KILN_OK;
    kiln_mesh_destroy(*mesh);
    return kiln_fail_memory(error, 0);
}

typedef kiln_status (*mesh_check)(kiln_validation *validation, const char *name, kiln_mesh *mesh,
                                  kiln_error *error);

static kiln_status with_box(kiln_validation *validation, const char *name, const char *settings,
                            double jitter, mesh_check check, kiln_error *error)
{
    kiln_mesh *mesh;
    KILN_TRY(kiln_fixture_mesh(kiln_validation_context(validation), "box", settings, jitter, &mesh,
                               error));
    kiln_status status = check(validation, name, mesh, error);
    kiln_mesh_destroy(mesh);
    return status;
}

static kiln_status with_halves(kiln_validation *validation, mesh_check check, kiln_error *error)
{
    kiln_mesh *mesh;
    KILN_TRY(halved_cube(kiln_validation_context(validation), &mesh, error));
    kiln_status status = check(validation, "K(2) of a cube in two regions", mesh, error);
    kiln_mesh_destroy(mesh);
    return status;
}

kiln_status kiln_validate_F3(kiln_validation *validation, kiln_error *error)
{
    kiln_context *context = kiln_validation_context(validation);
    kiln_mesh *mesh;
    KILN_TRY(regular_tet(context, &mesh, error));
    kiln_status status = check_history(validation, mesh, &one_tet, error);
    kiln_mesh_destroy(mesh);
    KILN_TRY(status);
    KILN_TRY(kiln_fixture_mesh(context, "box", "n=2", 0.0, &mesh, error));
    status = check_history(validation, mesh, &cube, error);
    kiln_mesh_destroy(mesh);
    KILN_TRY(status);
    KILN_TRY(with_box(validation, "KM(4) of a cube, jittered", "n=4 pattern=mirrored", 0.02,
                      check_formula, error));
    KILN_TRY(with_box(validation, "BCC of a bar", "lx=4 nx=8 ny=2 nz=2 pattern=bcc", 0.0,
                      check_formula, error));
    KILN_TRY(with_halves(validation, check_formula, error));
    KILN_TRY(with_box(validation, "K(2) of a cube, jittered", "n=2", 0.05, check_reversal, error));
    return with_halves(validation, check_reversal, error);
}
