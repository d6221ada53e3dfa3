/* M1: what an operator does to a mesh. Each runs many times on irregular boxes and on a ball; after
 * every commit the volume is compared with the one at the start (plus, for operators that change
 * the outline, what the ledger booked), at the end signs, invariants and topology are looked at. */
#include "base/random.h"
#include "geom/tet_quality.h"
#include "measure/fixture.h"
#include "mesh/audit.h"
#include "mesh/build.h"
#include "mesh/jitter.h"
#include "mesh/parts.h"
#include "mesh/surface.h"
#include "remesh/flip.h"
#include "topology/layer.h"
#include "topology/open.h"
#include "topology/repair.h"
#include "topology/split.h"
#include "topology/weld.h"
#include "validation/validation.h"

#include <string.h>

enum { FLIPS = 100, SPLITS = 60, LENSES = 4, BRIDGES = 3, LAYERS = 3, TAG = 7 };

typedef struct subject {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_random random;
    kiln_split splits[SPLITS];
    long double volume; /* at the start, and what was booked then */
    kiln_ledger ledger;
    bool books;   /* the outline changes: what the ledger booked counts as known */
    double worst; /* relative error of the volume so far */
    int done, wanted;
    int64_t euler; /* expected at the end */
    uint32_t parts;
} subject;

typedef kiln_verdict (*attempt)(subject *s, kiln_txn *txn);

/* From here on volumes count. */
static void start_counting(subject *s)
{
    s->volume = kiln_fixture_volume(s->mesh);
    s->ledger = s->mesh->ledger;
    s->done = 0;
    s->worst = 0.0;
}

static void measure(subject *s)
{
    const kiln_ledger *now = &s->mesh->ledger;
    double booked =
        (now->volume_gained - s->ledger.volume_gained) - (now->volume_lost - s->ledger.volume_lost);
    double off = (double)(fabsl(kiln_fixture_volume(s->mesh) - s->volume - booked) / s->volume);
    s->worst = off > s->worst || isnan(off) ? off : s->worst;
}

static bool try_once(subject *s, attempt operation)
{
    kiln_txn txn = kiln_txn_begin(s->mesh);
    if (txn.depth == 0 || kiln_txn_settle(&txn, operation(s, &txn)) != KILN_ACCEPTED)
        return false;
    s->done++;
    measure(s);
    return true;
}

static void try_many(subject *s, attempt operation, int wanted)
{
    for (int i = 0; i < 500 * wanted && s->done < wanted; i++)
        try_once(s, operation);
    s->wanted = wanted;
}

/* A random live tet and its corners in random order. */
static uint32_t random_tet(subject *s, uint32_t corners[4])
{
    uint32_t tet;
    do {
        tet = kiln_random_below(&s->random, s->mesh->table[KILN_ON_TET].used);
    } while (!kiln_tet_live(s->mesh, tet));
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t j = kiln_random_below(&s->random, i + 1);
        corners[i] = corners[j];
        corners[j] = i;
    }
    return tet;
}

static kiln_verdict flip_23(subject *s, kiln_txn *txn)
{
    uint32_t c[4] = {0}, made[3], tet = random_tet(s, c);
    return kiln_flip_23(txn, tet, c[0], made);
}

static kiln_verdict flip_32(subject *s, kiln_txn *txn)
{
    uint32_t c[4] = {0}, made[2], tet = random_tet(s, c);
    return kiln_flip_32(txn, tet, c[0], c[1], made);
}

static kiln_verdict flip_22(subject *s, kiln_txn *txn)
{
    uint32_t c[4] = {0}, made[2], tet = random_tet(s, c);
    return kiln_flip_22(txn, tet, c[0], c[1], made);
}

/* At a random point of an edge, face or tet. */
static kiln_verdict split(subject *s, kiln_txn *txn, int count)
{
    uint32_t c[4] = {0}, tet = random_tet(s, c);
    double weights[4], sum = 0.0;
    for (int i = 0; i < count; i++)
        sum += weights[i] = kiln_random_range(&s->random, 0.5, 1.0);
    for (int i = 0; i < count; i++)
        weights[i] /= sum;
    return kiln_split_at(txn, tet, c, count, weights, &s->splits[s->done % SPLITS]);
}

static kiln_verdict split_edge(subject *s, kiln_txn *txn)
{
    return split(s, txn, 2);
}

static kiln_verdict split_face(subject *s, kiln_txn *txn)
{
    return split(s, txn, 3);
}

static kiln_verdict split_tet(subject *s, kiln_txn *txn)
{
    return split(s, txn, 4);
}

static kiln_verdict split_any(subject *s, kiln_txn *txn)
{
    return split(s, txn, 2 + s->done % 3);
}

static kiln_verdict unsplit_last(subject *s, kiln_txn *txn)
{
    return kiln_unsplit(txn, &s->splits[SPLITS - 1 - s->done]);
}

static kiln_status run_flips_23(subject *s, kiln_error *error)
{
    (void)error;
    try_many(s, flip_23, FLIPS);
    return KILN_OK;
}

/* A box has few rings of three before some 2-3 flips. */
static kiln_status run_flips_32(subject *s, kiln_error *error)
{
    (void)error;
    try_many(s, flip_23, 2 * FLIPS);
    start_counting(s);
    try_many(s, flip_32, FLIPS);
    return KILN_OK;
}

static kiln_status run_flips_22(subject *s, kiln_error *error)
{
    (void)error;
    s->books = true;
    try_many(s, flip_22, FLIPS / 4);
    return KILN_OK;
}

static kiln_status run_edge_splits(subject *s, kiln_error *error)
{
    (void)error;
    try_many(s, split_edge, SPLITS);
    return KILN_OK;
}

static kiln_status run_face_splits(subject *s, kiln_error *error)
{
    (void)error;
    try_many(s, split_face, SPLITS);
    return KILN_OK;
}

static kiln_status run_tet_splits(subject *s, kiln_error *error)
{
    (void)error;
    try_many(s, split_tet, SPLITS);
    return KILN_OK;
}

static kiln_status run_unsplits(subject *s, kiln_error *error)
{
    (void)error;
    try_many(s, split_any, SPLITS);
    start_counting(s);
    while (s->done < SPLITS && try_once(s, unsplit_last))
        ;
    return KILN_OK;
}

/* An inner face with no vertex on any surface becomes a lens: a surface of its own. */
static kiln_verdict open_lens(subject *s, kiln_txn *txn)
{
    const kiln_mesh *mesh = s->mesh;
    uint32_t c[4] = {0}, tet = random_tet(s, c), face = kiln_link_to(tet, c[0]), flags = 0;
    for (int k = 1; k < 4; k++)
        flags |= mesh->vertex[mesh->tet[tet].v[c[k]]].flags;
    if (flags & KILN_VERTEX_SURFACE)
        return KILN_REFUSED_DECLARATION;
    kiln_verdict verdict = kiln_open_faces(txn, &face, 1, TAG, NULL);
    return verdict == KILN_ACCEPTED ? kiln_manifold_repair(txn, TAG, NULL) : verdict;
}

static kiln_status run_lenses(subject *s, kiln_error *error)
{
    (void)error;
    try_many(s, open_lens, LENSES);
    s->euler = 2 + 2 * LENSES;
    return KILN_OK;
}

static kiln_vec3 tet_centre(const kiln_mesh *mesh, uint32_t tet)
{
    kiln_vec3 sum = kiln_v3(0, 0, 0);
    for (int k = 0; k < 4; k++)
        sum = kiln_v3_add(sum, mesh->u[mesh->tet[tet].v[k]]);
    return kiln_v3_scale(sum, 0.25);
}

/* The faces between the tets on this and that side of the middle (a plane of the boxes' grid). */
static kiln_status find_middle(const kiln_mesh *mesh, kiln_u32_array *faces, kiln_error *error)
{
    double low = INFINITY, high = -INFINITY;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        low = fmin(low, mesh->u[v].x);
        high = fmax(high, mesh->u[v].x);
    }
    double middle = 0.5 * (low + high);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (uint32_t f = 0; f < 4; f++) {
            kiln_link link = mesh->tet[t].n[f];
            if (!kiln_link_is_surface(link) && tet_centre(mesh, t).x < middle &&
                tet_centre(mesh, link / 4).x >= middle)
                KILN_TRY(kiln_array_push(mesh->context, faces, kiln_link_to(t, f), error));
        }
    return KILN_OK;
}

static kiln_status cut_in_two(subject *s, kiln_error *error)
{
    kiln_u32_array faces = {0};
    kiln_status status = find_middle(s->mesh, &faces, error);
    if (status == KILN_OK) {
        kiln_txn txn = kiln_txn_begin(s->mesh);
        kiln_verdict verdict = kiln_open_faces(&txn, faces.data, faces.count, TAG, NULL);
        if (verdict == KILN_ACCEPTED)
            verdict = kiln_manifold_repair(&txn, TAG, NULL);
        if (kiln_txn_settle(&txn, verdict) == KILN_ACCEPTED)
            s->done = (int)faces.count;
        measure(s);
        s->wanted = (int)faces.count;
    }
    kiln_array_free(s->context, &faces);
    return status;
}

static kiln_status run_cut(subject *s, kiln_error *error)
{
    s->euler = 4;
    s->parts = 2;
    return cut_in_two(s, error);
}

static uint32_t face_vertex(const kiln_mesh *mesh, uint32_t face, int k)
{
    uint32_t at = mesh->face[face].at;
    return mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
}

static uint32_t find_twin(const kiln_mesh *mesh, uint32_t face)
{
    for (uint32_t other = face + 1; other < mesh->table[KILN_ON_FACE].used; other++)
        if (kiln_face_live(mesh, other) && mesh->face[other].twin == mesh->face[face].twin)
            return other;
    return KILN_NONE;
}

static kiln_verdict weld_corners(kiln_txn *txn, uint32_t face, uint32_t twin)
{
    const kiln_mesh *mesh = txn->mesh;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            uint32_t a = face_vertex(mesh, face, i), b = face_vertex(mesh, twin, j);
            if (a == b || memcmp(&mesh->u[a], &mesh->u[b], sizeof(kiln_vec3)) != 0)
                continue;
            kiln_verdict verdict = kiln_vertex_weld(txn, a, b);
            if (verdict != KILN_ACCEPTED)
                return verdict;
        }
    return KILN_ACCEPTED;
}

/* Every crack face welded to its twin, then all glued. */
static kiln_verdict close_crack(subject *s, kiln_txn *txn)
{
    const kiln_mesh *mesh = s->mesh;
    kiln_verdict verdict = KILN_ACCEPTED;
    int glued = 0;
    for (int gluing = 0; gluing < 2; gluing++)
        for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
            if (!kiln_face_live(mesh, f) || mesh->face[f].twin == 0)
                continue;
            uint32_t twin = find_twin(mesh, f);
            if (twin == KILN_NONE)
                continue;
            verdict = gluing ? kiln_face_glue(txn, f, twin) : weld_corners(txn, f, twin);
            if (verdict != KILN_ACCEPTED)
                return verdict;
            glued += gluing;
        }
    s->done = glued - 1; /* try_once counts one */
    return verdict;
}

static kiln_status run_close(subject *s, kiln_error *error)
{
    KILN_TRY(cut_in_two(s, error));
    start_counting(s);
    try_once(s, close_crack);
    return KILN_OK;
}

/* Appends the mirror image beyond the plane x = at. */
static kiln_status append_mirrored(kiln_soup *soup, double at, kiln_error *error)
{
    kiln_soup image;
    kiln_soup_init(&image, soup->context);
    kiln_status status = kiln_soup_append(&image, soup, 0, error);
    for (size_t i = 0; i < image.points.count; i++)
        image.points.data[i].x = 2 * at - image.points.data[i].x;
    for (size_t i = 0; i < image.tets.count; i++) {
        uint32_t *v = image.tets.data[i].v, swap = v[2];
        v[2] = v[3];
        v[3] = swap;
    }
    if (status == KILN_OK)
        status = kiln_soup_append(soup, &image, 0, error);
    kiln_soup_free(&image);
    return status;
}

/* Replaces the subject's mesh by itself and its image in a mirror `gap`/2 beyond its end. */
static kiln_status add_mirror_image(subject *s, double gap, double *mirror, kiln_error *error)
{
    kiln_soup soup;
    kiln_mesh *both = NULL;
    KILN_TRY(kiln_mesh_to_soup(s->mesh, &soup, error));
    *mirror = -INFINITY;
    for (size_t i = 0; i < soup.points.count; i++)
        *mirror = fmax(*mirror, soup.points.data[i].x + 0.5 * gap);
    kiln_status status = append_mirrored(&soup, *mirror, error);
    if (status == KILN_OK)
        status = kiln_mesh_build(s->context, &soup, NULL, &both, NULL, error);
    kiln_soup_free(&soup);
    KILN_TRY(status);
    kiln_mesh_destroy(s->mesh);
    s->mesh = both;
    start_counting(s);
    return KILN_OK;
}

static kiln_vec3 face_normal(const kiln_mesh *mesh, uint32_t face)
{
    kiln_vec3 a = mesh->u[face_vertex(mesh, face, 0)];
    return kiln_v3_normalize(kiln_v3_cross(kiln_v3_sub(mesh->u[face_vertex(mesh, face, 1)], a),
                                           kiln_v3_sub(mesh->u[face_vertex(mesh, face, 2)], a)));
}

/* The surface face that is the mirror image of another. */
static uint32_t find_image(const kiln_mesh *mesh, uint32_t face, double mirror)
{
    for (uint32_t other = 0; other < mesh->table[KILN_ON_FACE].used; other++) {
        int found = 0;
        for (int i = 0; i < 9 && kiln_face_live(mesh, other); i++) {
            kiln_vec3 u = mesh->u[face_vertex(mesh, face, i / 3)];
            kiln_vec3 w = mesh->u[face_vertex(mesh, other, i % 3)];
            found += u.y == w.y && u.z == w.z && w.x == 2 * mirror - u.x;
        }
        if (found == 3)
            return other;
    }
    return KILN_NONE;
}

/* Prisms between faces that look at each other, no two with a vertex in common: the first joins the
 * two spheres to one, each further one adds a handle. */
static kiln_status run_bridges(subject *s, kiln_error *error)
{
    double mirror;
    KILN_TRY(add_mirror_image(s, 0.4, &mirror, error));
    kiln_mesh *mesh = s->mesh;
    kiln_u32_array taken = {0};
    uint32_t vertices = mesh->table[KILN_ON_VERTEX].used, faces = mesh->table[KILN_ON_FACE].used;
    KILN_TRY(kiln_array_reserve(s->context, &taken, vertices + 1, error));
    memset(taken.data, 0, vertices * sizeof *taken.data);
    s->wanted = BRIDGES;
    s->books = true;
    for (uint32_t f = 0; f < faces && s->done < BRIDGES; f++) {
        if (!kiln_face_live(mesh, f) || face_normal(mesh, f).x < 0.9)
            continue;
        uint32_t v[3], image = find_image(mesh, f, mirror);
        for (int k = 0; k < 3; k++)
            v[k] = face_vertex(mesh, f, k);
        if (image == KILN_NONE || taken.data[v[0]] || taken.data[v[1]] || taken.data[v[2]])
            continue;
        kiln_txn txn = kiln_txn_begin(mesh);
        if (kiln_txn_settle(&txn, kiln_bridge_faces(&txn, f, image, TAG)) != KILN_ACCEPTED)
            continue;
        taken.data[v[0]] = taken.data[v[1]] = taken.data[v[2]] = 1;
        s->done++;
        measure(s);
    }
    kiln_array_free(s->context, &taken);
    s->euler = 4 - 2 * BRIDGES;
    return KILN_OK;
}

static void shift_x(void *user, const kiln_mesh *mesh, uint32_t vertex, kiln_vec3 *u, kiln_vec3 *x)
{
    (void)mesh;
    (void)vertex;
    u->x += *(const double *)user;
    x->x += *(const double *)user;
}

/* Everything that looks along x grows that way. */
static kiln_status run_layers(subject *s, kiln_error *error)
{
    kiln_mesh *mesh = s->mesh;
    double thickness = 0.1;
    s->wanted = LAYERS;
    s->books = true;
    for (int layer = 0; layer < LAYERS; layer++) {
        kiln_u32_array faces = {0};
        kiln_status status = KILN_OK;
        for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used && status == KILN_OK; f++)
            if (kiln_face_live(mesh, f) && face_normal(mesh, f).x > 0.5)
                status = kiln_array_push(s->context, &faces, f, error);
        if (status == KILN_OK) {
            kiln_txn txn = kiln_txn_begin(mesh);
            kiln_verdict verdict =
                kiln_layer_add(&txn, faces.data, faces.count, shift_x, &thickness, TAG);
            s->done += kiln_txn_settle(&txn, verdict) == KILN_ACCEPTED;
            measure(s);
        }
        kiln_array_free(s->context, &faces);
        KILN_TRY(status);
    }
    return KILN_OK;
}

static kiln_status report_subject(kiln_validation *validation, subject *s, const char *name,
                                  const char *where, kiln_error *error)
{
    kiln_audit_report audit;
    kiln_surface_topology surface;
    KILN_TRY(kiln_mesh_audit(s->mesh, &audit, error));
    KILN_TRY(kiln_mesh_surface_topology(s->mesh, &surface, error));
    kiln_validation_report(validation, s->done, kiln_exactly(s->wanted), "%s, %s: times done", name,
                           where);
    kiln_validation_report(validation, s->worst, kiln_at_most(1e-12),
                           "%s, %s: relative volume error", name, where);
    kiln_validation_report(validation, (double)kiln_fixture_non_positive(s->mesh), kiln_exactly(0),
                           "%s, %s: tets not positive", name, where);
    kiln_validation_report(validation, audit.invariant != NULL, kiln_exactly(0),
                           "%s, %s: invariants broken%s%s", name, where, audit.invariant ? " " : "",
                           audit.invariant ? audit.invariant : "");
    kiln_validation_report(validation, (double)surface.euler, kiln_exactly((double)s->euler),
                           "%s, %s: surface V - E + F", name, where);
    kiln_validation_report(validation, kiln_part_count(s->mesh), kiln_exactly(s->parts),
                           "%s, %s: parts", name, where);
    return KILN_OK;
}

static void report_quality(kiln_validation *validation)
{
    /* To the digits of validation.md, section 3. */
    static const struct {
        const char *name;
        kiln_vec3 corner[4];
        double q;
    } rows[] = {{"regular tet", {{1, 1, 1}, {-1, 1, -1}, {1, -1, -1}, {-1, -1, 1}}, 1.0},
                {"corner tet", {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, 0.736380},
                {"Kuhn tet", {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {1, 1, 1}}, 0.611973}};
    static const uint32_t order[4] = {0, 1, 2, 3};
    kiln_isa isa = kiln_validation_context(validation)->isa;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const kiln_vec3 *p = rows[i].corner;
        double batched, tolerance = i == 0 ? 1e-15 : 5e-7;
        kiln_tet_quality_batch(isa, 1, NULL, order, sizeof order, p, &batched);
        kiln_validation_report(validation, kiln_tet_quality(&p[0], &p[1], &p[2], &p[3]),
                               kiln_near(rows[i].q, tolerance), "quality of the %s", rows[i].name);
        kiln_validation_report(validation, batched,
                               kiln_near(rows[i].q, i == 0 ? 4e-15 : tolerance),
                               "quality of the %s, batched", rows[i].name);
    }
}

kiln_status kiln_validate_M1(kiln_validation *validation, kiln_error *error)
{
    static const struct {
        const char *name;
        kiln_status (*run)(subject *s, kiln_error *error);
    } operators[] = {{"2-3 flip", run_flips_23},      {"3-2 flip", run_flips_32},
                     {"2-2 flip", run_flips_22},      {"edge split", run_edge_splits},
                     {"face split", run_face_splits}, {"tet split", run_tet_splits},
                     {"unsplit", run_unsplits},       {"open a lens", run_lenses},
                     {"open a cut", run_cut},         {"weld and glue", run_close},
                     {"bridge", run_bridges},         {"layer", run_layers}};
    static const struct {
        const char *name, *shape, *settings;
        double jitter;
    } meshes[] = {{"jittered K(4)", "box", "n=4", 0.05},
                  {"jittered KM(4)", "box", "n=4 pattern=mirrored", 0.05},
                  {"jittered ball", "ball", "h=0.3", 0.05}};
    report_quality(validation);
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
        for (size_t k = 0; k < sizeof meshes / sizeof meshes[0]; k++) {
            subject s = {.context = kiln_validation_context(validation),
                         .random = kiln_random_start(7, k),
                         .euler = 2,
                         .parts = 1};
            KILN_TRY(kiln_fixture_mesh(s.context, meshes[k].shape, meshes[k].settings,
                                       meshes[k].jitter, &s.mesh, error));
            start_counting(&s);
            kiln_status status = operators[i].run(&s, error);
            if (status == KILN_OK)
                status = report_subject(validation, &s, operators[i].name, meshes[k].name, error);
            kiln_mesh_destroy(s.mesh);
            KILN_TRY(status);
        }
    return KILN_OK;
}
