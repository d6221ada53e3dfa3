/* Random edge and face removals on meshes of all kinds: what they keep, what undo gives back, and
 * that several threads propose the same. */
#include "base/hash.h"
#include "base/parallel.h"
#include "fixtures.h"
#include "remesh/delaunay.h"
#include "remesh/edge_removal.h"
#include "remesh/face_removal.h"
#include "remesh/sizing.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points of a cube: corners, on edges, on faces, inside; their Delaunay tets. */
static kiln_mesh *random_cube(kiln_context *context, uint32_t count, double scale, uint64_t seed)
{
    kiln_random random = kiln_random_start(seed, 1);
    kiln_vec3 *point = malloc(count * sizeof *point);
    for (uint32_t i = 0; i < count; i++) {
        /* Axes that are free: none for the corners, one on edges, two on faces. */
        uint32_t ends = kiln_random_below(&random, 8), free_axes = 7;
        if (i < 8) {
            free_axes = 0;
            ends = i;
        } else if (i < count / 8) {
            free_axes = 1u << kiln_random_below(&random, 3);
        } else if (i < count / 3) {
            free_axes = 7u & ~(1u << kiln_random_below(&random, 3));
        }
        double x[3];
        for (int axis = 0; axis < 3; axis++)
            x[axis] = free_axes >> axis & 1 ? scale * kiln_random_unit(&random)
                                            : scale * (ends >> axis & 1);
        point[i] = kiln_v3(x[0], x[1], x[2]);
    }
    kiln_delaunay delaunay = {0};
    ck_assert_int_eq(kiln_delaunay_build(&delaunay, context, point, count, NULL), KILN_OK);
    kiln_soup_tet *tet = malloc(delaunay.tets.count * sizeof *tet);
    for (size_t i = 0; i < delaunay.tets.count; i++)
        memcpy(tet[i].v, delaunay.tets.data[i].v, sizeof tet[i].v);
    kiln_mesh *mesh =
        kiln_test_mesh_of(context, count, point, delaunay.tets.count, tet, NULL, KILN_BUILD_STRICT);
    kiln_delaunay_destroy(&delaunay);
    free(tet);
    free(point);
    return mesh;
}

static bool on_grid_plane(double x, double size)
{
    return x == 0.0 || x == 0.5 * size || x == size;
}

/* A box of two regions that meet in the middle plane; vertices jittered, those on faces and on the
 * interface within them. */
static kiln_mesh *two_regions(kiln_context *context, double scale, uint64_t seed)
{
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "n=6");
    kiln_random random = kiln_random_start(seed, 2);
    kiln_txn txn = kiln_txn_begin(mesh);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        double x = 0.0;
        for (int k = 0; k < 4; k++)
            x += 0.25 * mesh->u[mesh->tet[t].v[k]].x;
        ck_assert_int_eq(kiln_txn_set_region(&txn, t, x < 0.5 ? 1 : 2), KILN_ACCEPTED);
    }
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        double p[3] = {mesh->u[v].x, mesh->u[v].y, mesh->u[v].z};
        for (int axis = 0; axis < 3; axis++) {
            bool held = axis == 0 ? on_grid_plane(p[0], 1.0) : p[axis] == 0.0 || p[axis] == 1.0;
            p[axis] += held ? 0.0 : kiln_random_range(&random, -.07, .07);
        }
        txn = kiln_txn_begin(mesh);
        kiln_vec3 at = kiln_v3(p[0], p[1], p[2]);
        kiln_txn_settle(&txn, kiln_txn_move_vertex(&txn, v, at, at));
    }
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        mesh->u[v] = mesh->x[v] = kiln_v3_scale(mesh->u[v], scale);
    return mesh;
}

/* Another world shape: stretched and bent, so that some flips that are legal in u are not in x. */
static void deform(kiln_mesh *mesh)
{
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 p = mesh->u[v];
        mesh->x[v] = kiln_v3(1.8 * p.x + 0.4 * p.y * p.y, 0.7 * p.y + 0.2 * p.x * p.z,
                             p.z + 0.3 * p.x * p.x);
    }
    kiln_test_audit(mesh);
}

/* Marks on random edges, faces and tets. */
static void mark_some(kiln_mesh *mesh, uint64_t seed)
{
    kiln_random random = kiln_random_start(seed, 3);
    kiln_txn txn = kiln_txn_begin(mesh);
    for (int i = 0; i < 60; i++) {
        uint32_t t = kiln_random_below(&random, mesh->table[KILN_ON_TET].used);
        uint32_t edge = kiln_random_below(&random, 6), face = kiln_random_below(&random, 4);
        kiln_verdict verdict =
            i % 3 == 0   ? kiln_txn_mark_edge(&txn, t, edge, KILN_MARK_REQUIRED_EDGE, true)
            : i % 3 == 1 ? kiln_txn_mark_face(&txn, t, face, KILN_MARK_REQUIRED_FACE, true)
                         : kiln_txn_mark_tet(&txn, t, KILN_MARK_LOCKED, 0);
        ck_assert_int_eq(verdict, KILN_ACCEPTED);
    }
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
}

/* What no flip may change. */
typedef struct keepsake {
    double volume, of_region[3];
    size_t ridges, corners, required_edges, required_triangles, locked;
    double area_of_tag[8];
} keepsake;

static keepsake remember(const kiln_mesh *mesh)
{
    keepsake k = {.volume = kiln_mesh_volume(mesh)};
    kiln_soup soup;
    kiln_soup_init(&soup, mesh->context);
    ck_assert_int_eq(kiln_mesh_to_soup(mesh, &soup, NULL), KILN_OK);
    k.ridges = soup.ridges.count;
    k.corners = soup.corners.count;
    k.required_edges = soup.required_edges.count;
    k.required_triangles = soup.required_triangles.count;
    kiln_soup_free(&soup);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        k.of_region[mesh->info[t].region] += kiln_mesh_tet_volume(mesh, t);
        k.locked += (mesh->info[t].marks & KILN_MARK_LOCKED) != 0;
        for (int f = 0; f < 4; f++) {
            const uint32_t *v = mesh->tet[t].v;
            const uint8_t *corner = kiln_face_corner[f];
            if (!kiln_link_is_surface(mesh->tet[t].n[f]))
                continue;
            kiln_vec3 p = mesh->u[v[corner[0]]];
            kiln_vec3 n = kiln_v3_cross(kiln_v3_sub(mesh->u[v[corner[1]]], p),
                                        kiln_v3_sub(mesh->u[v[corner[2]]], p));
            int32_t tag = mesh->face[mesh->tet[t].n[f] - KILN_LINK_SURFACE].tag;
            k.area_of_tag[tag & 7] += kiln_v3_norm(n);
        }
    }
    return k;
}

static void check_kept(const kiln_mesh *mesh, const keepsake *before, double tolerance)
{
    keepsake now = remember(mesh);
    ck_assert_double_eq_tol(now.volume / before->volume, 1.0, tolerance);
    ck_assert_uint_eq(now.ridges, before->ridges);
    ck_assert_uint_eq(now.corners, before->corners);
    ck_assert_uint_eq(now.required_edges, before->required_edges);
    ck_assert_uint_eq(now.required_triangles, before->required_triangles);
    ck_assert_uint_eq(now.locked, before->locked);
    for (int i = 0; i < 3; i++)
        ck_assert_double_eq_tol(now.of_region[i] / before->volume,
                                before->of_region[i] / before->volume, tolerance);
    for (int i = 0; i < 8; i++)
        if (before->area_of_tag[i] > 0.0)
            ck_assert_double_eq_tol(now.area_of_tag[i] / before->area_of_tag[i], 1.0, tolerance);
        else
            ck_assert_double_eq(now.area_of_tag[i], 0.0);
}

static uint64_t state_hash(const kiln_remesher *r)
{
    uint64_t hash = kiln_hash_bytes(kiln_mesh_hash(r->mesh), r->quality.data,
                                    r->mesh->table[KILN_ON_TET].used * sizeof *r->quality.data);
    return kiln_hash_bytes(hash, r->side.data,
                           r->mesh->table[KILN_ON_VERTEX].used * sizeof *r->side.data);
}

/* Attempt number `site` of all: edges and faces of a tet by turns. */
static bool propose_at(const kiln_remesher *r, kiln_workspace *workspace, uint32_t site,
                       kiln_proposal *out)
{
    uint32_t tet = site / 10, which = site % 10;
    if (!kiln_tet_live(r->mesh, tet))
        return false;
    if (which < 4)
        return kiln_face_removal_propose(r, workspace, tet, which, out);
    const uint8_t *ends = kiln_edge_ends[which - 4];
    bool turned = tet & 1;
    return kiln_edge_removal_propose(r, workspace, tet, ends[turned], ends[!turned], out);
}

/* What happened: inside, to the surface, to an interface, by edges of each ring, by faces. */
typedef struct tally {
    uint64_t edges, faces, surface, interface, sets, longest, undone;
} tally;

/* The longest (or, sign -1, minus the shortest) edge of a tet in the metric. */
static double edge_extreme(const kiln_remesher *r, const uint32_t v[4], double sign)
{
    double most = -INFINITY;
    for (int e = 0; e < 6; e++) {
        uint32_t p = v[kiln_edge_ends[e][0]], q = v[kiln_edge_ends[e][1]];
        kiln_vec3 along = kiln_v3_sub(r->mesh->u[q], r->mesh->u[p]);
        most = fmax(most,
                    sign * kiln_metric_edge_length(&r->metric.data[p], &r->metric.data[q], along));
    }
    return most;
}

static void check_lengths(const kiln_remesher *r, const kiln_proposal *p)
{
    for (int which = 0; which < 2; which++) {
        double sign = which ? 1.0 : -1.0, old = sign * r->options.edge_limit[which];
        for (uint32_t i = 0; i < p->old_count; i++)
            old = fmax(old, edge_extreme(r, r->mesh->tet[p->old[i]].v, sign));
        for (uint32_t i = 0; i < p->fresh_count; i++)
            ck_assert_double_le(edge_extreme(r, p->fresh[i].v, sign), old);
    }
}

static void check_proposal(const kiln_remesher *r, const kiln_proposal *p, tally *count)
{
    const kiln_mesh *mesh = r->mesh;
    double after = INFINITY;
    for (uint32_t i = 0; i < p->fresh_count; i++) {
        ck_assert_double_eq(p->quality[i], kiln_remesher_score(r, NULL, p->fresh[i].v));
        after = fmin(after, p->quality[i]);
    }
    ck_assert_double_eq(p->after, after);
    ck_assert_double_eq(p->before, kiln_remesher_worst(r, p->old, p->old_count));
    ck_assert(p->after > p->before + 0.999 * KILN_LEAST_GAIN);
    ck_assert_uint_eq(p->stamp, mesh->clock);
    bool edge = p->kind == KILN_OP_EDGE_REMOVAL, surface = p->surface_count > 0;
    bool interface = (p->flags & KILN_CAVITY_REGIONS) != 0;
    if (edge)
        ck_assert_uint_eq(p->fresh_count, 2 * p->old_count - (surface ? 2 : 4));
    else
        ck_assert_uint_eq(p->fresh_count, p->old_count / 2 + 2);
    if (r->options.sizing)
        check_lengths(r, p);
    count->edges += edge && !surface && !interface;
    count->faces += !edge;
    count->surface += surface;
    count->interface += interface;
    count->sets += !edge && p->old_count > 2;
    count->longest += edge && p->old_count > 5;
}

static void audit_changed(const kiln_remesher *r, kiln_walker *walker)
{
    for (size_t i = 0; i < r->changed.count; i++) {
        kiln_audit_report report = {0};
        uint32_t t = r->changed.data[i];
        ck_assert_int_eq(kiln_mesh_audit_tet(r->mesh, t, walker, &report, NULL), KILN_OK);
        ck_assert_msg(!report.invariant, "%s", report.invariant);
        ck_assert_double_eq(r->quality.data[t], kiln_remesher_score(r, NULL, r->mesh->tet[t].v));
    }
}

/* A random interior vertex is put off its place, so that there is something to gain again. */
static void disturb(kiln_remesher *r, kiln_random *random, double size)
{
    const kiln_mesh *mesh = r->mesh;
    uint32_t v = kiln_random_below(random, mesh->table[KILN_ON_VERTEX].used);
    if (!kiln_vertex_live(mesh, v) || r->side.data[v].freedom != KILN_FREE)
        return;
    kiln_vec3 p = kiln_remesher_points(r)[v];
    kiln_place place = {.side = r->side.data[v]};
    double step[3];
    for (int axis = 0; axis < 3; axis++)
        step[axis] = kiln_random_range(random, -size, size);
    kiln_remesher_locate(r, kiln_v3_add(p, kiln_v3(step[0], step[1], step[2])), &place);
    kiln_remesher_move(r, v, &place);
}

static tally campaign(kiln_mesh *mesh, const kiln_remesh_options *options, uint64_t attempts,
                      double size, double tolerance)
{
    kiln_remesher r;
    ck_assert_int_eq(kiln_remesher_begin(mesh, options, &r, NULL), KILN_OK);
    kiln_random random = kiln_random_start(21, attempts);
    kiln_walker walker;
    kiln_walker_init(&walker, mesh->context);
    keepsake before = remember(mesh);
    tally count = {0};
    uint64_t applied = 0;
    for (uint64_t i = 0; i < attempts; i++) {
        uint32_t site = kiln_random_below(&random, 10 * mesh->table[KILN_ON_TET].used);
        kiln_arena_mark scratch = kiln_arena_set_mark(&r.workspace.arena);
        kiln_proposal proposal;
        if (propose_at(&r, &r.workspace, site, &proposal)) {
            check_proposal(&r, &proposal, &count);
            bool undo = applied++ % 16 == 0;
            uint64_t hash = undo ? state_hash(&r) : 0;
            kiln_pass_mark mark = kiln_remesher_mark(&r);
            ck_assert_int_eq(kiln_remesher_apply(&r, &proposal), KILN_ACCEPTED);
            ck_assert_uint_eq(r.changed.count, proposal.fresh_count);
            if (undo) {
                kiln_remesher_undo(&r, &mark);
                ck_assert_uint_eq(state_hash(&r), hash);
                count.undone++;
            } else {
                ck_assert_int_eq(kiln_remesher_keep(&r, &mark), KILN_ACCEPTED);
                audit_changed(&r, &walker);
            }
        }
        kiln_arena_release(&r.workspace.arena, scratch);
        if (i % 8 == 0)
            disturb(&r, &random, size);
        if (i % (attempts / 8) == 0) {
            kiln_test_audit(mesh);
            check_kept(mesh, &before, tolerance);
        }
    }
    check_kept(mesh, &before, tolerance);
    kiln_walker_free(&walker);
    kiln_remesher_end(&r);
    kiln_test_audit(mesh);
    ck_assert_uint_gt(count.undone, 10);
    return count;
}

START_TEST(random_cube_of_any_size)
{
    for (int s = 0; s < 3; s++) {
        double scale = (double[3]){1.0, 1e-6, 1e6}[s];
        kiln_context *context = kiln_test_context(1);
        kiln_mesh *mesh = random_cube(context, 600, scale, 1);
        kiln_remesh_options options = kiln_remesh_default_options();
        tally count =
            campaign(mesh, &options, kiln_test_rounds(20000, 1000000), 0.05 * scale, 1e-11);
        ck_assert_uint_gt(count.edges, 300);
        ck_assert_uint_gt(count.faces, 100);
        ck_assert_uint_gt(count.surface, 10);
        ck_assert_uint_gt(count.sets, 5);
        ck_assert_uint_gt(count.longest, 20);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
}
END_TEST

START_TEST(regions_marks_and_two_spaces)
{
    for (int space = 0; space < 3; space++) {
        kiln_context *context = kiln_test_context(1);
        kiln_mesh *mesh = two_regions(context, 1.0, 4);
        mark_some(mesh, 4);
        if (space > 0)
            deform(mesh);
        kiln_remesh_options options = kiln_remesh_default_options();
        options.space = space == 2 ? KILN_SPACE_WORLD : KILN_SPACE_MATERIAL;
        tally count = campaign(mesh, &options, kiln_test_rounds(15000, 1000000), 0.04, 1e-11);
        ck_assert_uint_gt(count.edges, 50);
        ck_assert_uint_gt(count.faces, 50);
        if (space < 2) {
            ck_assert_uint_gt(count.surface, 0);
            ck_assert_uint_gt(count.interface, 0);
        }
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
}
END_TEST

/* On a curved surface volume and area may change within what kiln_surface_allows. */
START_TEST(curved_surface)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "ball", "h=0.3");
    kiln_remesh_options options = kiln_remesh_default_options();
    tally count = campaign(mesh, &options, kiln_test_rounds(10000, 1000000), 0.1, 5e-3);
    ck_assert_uint_gt(count.edges, 50);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

static kiln_sym3 stretched(void *user, kiln_vec3 p)
{
    (void)user;
    double along = 0.1 + 0.1 * p.x;
    return (kiln_sym3){.xx = 1 / (along * along), .yy = 25, .zz = 36};
}

START_TEST(metric_and_measures)
{
    for (int kind = 0; kind < 3; kind++) {
        kiln_context *context = kiln_test_context(1);
        kiln_mesh *mesh = random_cube(context, 500, 1.0, 2);
        kiln_sizing *sizing = NULL;
        kiln_remesh_options options = kiln_remesh_default_options();
        options.measure = kind == 1 ? KILN_MEASURE_MIN_SINE : KILN_MEASURE_QUALITY;
        if (kind != 1) {
            ck_assert_int_eq(kiln_sizing_create(mesh, KILN_SPACE_MATERIAL, &sizing, NULL), KILN_OK);
            ck_assert_int_eq(kiln_sizing_add_function(sizing, stretched, NULL, false, NULL),
                             KILN_OK);
            ck_assert_int_eq(kiln_sizing_finish(sizing, &(kiln_sizing_limits){0}, NULL), KILN_OK);
            options.sizing = sizing;
        }
        /* Hard limits: nothing longer than what goes. */
        if (kind == 2)
            options.edge_limit[1] = 0.0;
        tally count = campaign(mesh, &options, kiln_test_rounds(8000, 500000), 0.05, 1e-11);
        ck_assert_uint_gt(count.edges, 100);
        ck_assert_uint_gt(count.faces, 20);
        kiln_mesh_destroy(mesh);
        kiln_sizing_destroy(sizing);
        kiln_context_destroy(context);
    }
}
END_TEST

/* Where a flat tet was taken out, the surface of the hole has both diagonals as edges: flipping one
 * would give the other a second fan. */
START_TEST(diagonals_that_are_there)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = random_cube(context, 1500, 1.0, 6);
    uint32_t holes = 0, across[6][64];
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used && holes < 64; t++) {
        uint32_t v[4], surface = 0;
        memcpy(v, mesh->tet[t].v, sizeof v);
        const kiln_vec3 *u = mesh->u;
        for (int k = 0; kiln_tet_live(mesh, t) && k < 4; k++)
            surface |= mesh->vertex[v[k]].flags & KILN_VERTEX_SURFACE;
        if (!kiln_tet_live(mesh, t) || surface ||
            kiln_tet_quality(&u[v[0]], &u[v[1]], &u[v[2]], &u[v[3]]) > 0.1)
            continue;
        for (int e = 0; e < 6; e++) {
            uint32_t c = mesh->tet[t].n[kiln_edge_ends[5 - e][0]];
            across[e][holes] = c / 4; /* has edge e, and the hole beside it */
        }
        kiln_txn txn = kiln_txn_begin(mesh);
        holes += kiln_txn_settle(&txn, kiln_test_remove_tet(&txn, t)) == KILN_ACCEPTED;
    }
    ck_assert_uint_gt(holes, 20);
    kiln_remesher r;
    kiln_remesh_options options = kiln_remesh_default_options();
    ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &r, NULL), KILN_OK);
    for (uint32_t h = 0; h < holes; h++)
        for (int e = 0; e < 6; e++)
            for (int edge = 0; edge < 6; edge++) {
                kiln_proposal proposal;
                uint32_t t = across[e][h];
                if (!kiln_tet_live(mesh, t) ||
                    !kiln_edge_removal_propose(&r, &r.workspace, t, kiln_edge_ends[edge][0],
                                               kiln_edge_ends[edge][1], &proposal))
                    continue;
                ck_assert_int_eq(kiln_remesher_apply(&r, &proposal), KILN_ACCEPTED);
            }
    kiln_remesher_end(&r);
    kiln_test_audit(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

typedef struct survey {
    const kiln_remesher *r;
    kiln_workspace workspace[8];
    uint64_t *hash; /* [site] of the proposal, 0 for none */
} survey;

static void survey_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    survey *s = user;
    kiln_workspace *workspace = &s->workspace[worker];
    (void)chunk;
    for (size_t site = begin; site < end; site++) {
        kiln_arena_mark mark = kiln_arena_set_mark(&workspace->arena);
        kiln_proposal p;
        s->hash[site] = 0;
        if (propose_at(s->r, workspace, (uint32_t)site, &p)) {
            uint64_t hash = kiln_hash_bytes(p.kind, p.old, p.old_count * sizeof *p.old);
            hash = kiln_hash_bytes(hash, p.fresh, p.fresh_count * sizeof *p.fresh);
            hash = kiln_hash_bytes(hash, p.quality, p.fresh_count * sizeof *p.quality);
            hash = kiln_hash_bytes(hash, p.surface, p.surface_count * sizeof *p.surface);
            s->hash[site] = kiln_hash_add(hash, p.flags);
        }
        kiln_arena_release(&workspace->arena, mark);
    }
}

/* One, two and eight threads, and every instruction set, propose the same bits everywhere. */
START_TEST(threads_and_instructions_agree)
{
    uint64_t *first = NULL;
    size_t sites = 0, made = 0;
    for (int variant = 0; variant < 5; variant++) {
        int threads = (int[5]){1, 2, 8, 1, 1}[variant];
        kiln_context *context = kiln_test_context(threads);
        if (variant >= 3) {
            kiln_isa isa = variant == 3 ? KILN_ISA_SCALAR : KILN_ISA_AVX2;
            context->isa = isa < kiln_isa_best() ? isa : KILN_ISA_SCALAR;
        }
        kiln_mesh *mesh = random_cube(context, 1500, 1.0, 3);
        kiln_remesher r;
        kiln_remesh_options options = kiln_remesh_default_options();
        ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &r, NULL), KILN_OK);
        survey s = {.r = &r};
        sites = 10 * (size_t)mesh->table[KILN_ON_TET].used;
        s.hash = calloc(sites, sizeof *s.hash);
        for (int i = 0; i < 8; i++)
            kiln_workspace_init(&s.workspace[i], context);
        kiln_parallel_for(context, sites, 64, survey_chunk, &s);
        for (int i = 0; i < 8; i++)
            kiln_workspace_free(&s.workspace[i]);
        if (first) {
            ck_assert_int_eq(memcmp(first, s.hash, sites * sizeof *first), 0);
            free(s.hash);
        } else {
            first = s.hash;
        }
        kiln_remesher_end(&r);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
    for (size_t i = 0; i < sites; i++)
        made += first[i] != 0;
    ck_assert_uint_gt(made, 500);
    free(first);
}
END_TEST

/* Without memory nothing is proposed, the workspace says so, and nothing is lost. */
START_TEST(out_of_memory)
{
    uint64_t failures = 0;
    for (uint64_t fail = 1; fail < 40; fail++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_mesh *mesh = two_regions(context, 1.0, 5);
        kiln_remesher r;
        kiln_remesh_options options = kiln_remesh_default_options();
        ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &r, NULL), KILN_OK);
        kiln_workspace workspace;
        kiln_workspace_init(&workspace, context);
        uint64_t hash = state_hash(&r);
        heap.fail_at = heap.calls + fail;
        kiln_proposal proposal;
        for (uint32_t site = 0; site < 10 * mesh->table[KILN_ON_TET].used; site++)
            if (!propose_at(&r, &workspace, site, &proposal) && workspace.failed)
                break;
        failures += workspace.failed;
        heap.fail_at = 0;
        ck_assert_uint_eq(state_hash(&r), hash);
        kiln_workspace_free(&workspace);
        kiln_remesher_end(&r);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_blocks, 0);
        if (fail > 1 && !workspace.failed)
            break;
    }
    ck_assert_uint_gt(failures, 0);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("flips_campaign");
    TCase *all = kiln_test_case(suite, "flips_campaign");
    tcase_add_test(all, random_cube_of_any_size);
    tcase_add_test(all, regions_marks_and_two_spaces);
    tcase_add_test(all, curved_surface);
    tcase_add_test(all, metric_and_measures);
    tcase_add_test(all, diagonals_that_are_there);
    tcase_add_test(all, threads_and_instructions_agree);
    tcase_add_test(all, out_of_memory);
    return suite;
}
