#include "fixtures.h"
#include "mesh/parts.h"
#include "mesh/reorder.h"
#include "remesh/flip.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A box with fields, flips, holes and (where manifold) missing tets: dead rows in all tables. */
static kiln_mesh *worn_mesh(kiln_context *context)
{
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=5 ny=4 nz=4");
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, "heat", KILN_ON_VERTEX, KILN_F64, 1, KILN_RULE_INTERPOLATE, NULL),
        KILN_OK);
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, "word", KILN_ON_TET, KILN_U64, 1, KILN_RULE_COPY, NULL), KILN_OK);
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, "name", KILN_ON_FACE, KILN_U32, 3, KILN_RULE_COPY, NULL),
        KILN_OK);
    kiln_test_jitter(mesh, 0.02, 3);
    kiln_random random = kiln_random_start(11, 0);
    for (int round = 0; round < 900; round++) {
        kiln_txn txn = kiln_txn_begin(mesh);
        uint32_t t = kiln_random_below(&random, mesh->table[KILN_ON_TET].used), made[3];
        uint32_t a = kiln_random_below(&random, 4), b = (a + 1 + kiln_random_below(&random, 3)) % 4;
        kiln_verdict verdict = KILN_REFUSED_DEAD;
        if (kiln_tet_live(mesh, t))
            verdict = round % 3 == 0   ? kiln_test_remove_tet(&txn, t)
                      : round % 3 == 1 ? kiln_flip_23(&txn, t, a, made)
                                       : kiln_flip_32(&txn, t, a, b, made);
        if (verdict != KILN_ACCEPTED || kiln_txn_commit(&txn) != KILN_ACCEPTED)
            kiln_txn_rollback(&txn);
    }
    double *heat = (double *)kiln_mesh_field(mesh, KILN_ON_VERTEX, "heat")->data;
    uint64_t *word = (uint64_t *)kiln_mesh_field(mesh, KILN_ON_TET, "word")->data;
    uint32_t *name = (uint32_t *)kiln_mesh_field(mesh, KILN_ON_FACE, "name")->data;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        heat[v] = v + 0.5;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        word[t] = (uint64_t)t << 32 | 5;
    for (uint32_t i = 0; i < 3 * mesh->table[KILN_ON_FACE].used; i++)
        name[i] = i;
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        ck_assert_uint_lt(mesh->table[where].live, mesh->table[where].used);
    kiln_test_audit(mesh);
    return mesh;
}

/* Values of all columns, to be compared with the renumbered mesh. */
typedef struct snapshot {
    kiln_vec3 *u, *x;
    kiln_vertex_info *vertex;
    kiln_tet *tet;
    kiln_tet_info *info;
    kiln_face *face;
    kiln_part *parts;
    uint32_t used[KILN_WHERE_COUNT];
    size_t part_count;
} snapshot;

static void *copy_of(const void *data, size_t size)
{
    void *copy = malloc(size + 1);
    ck_assert_ptr_nonnull(copy);
    if (size)
        memcpy(copy, data, size);
    return copy;
}

static snapshot take_snapshot(const kiln_mesh *mesh)
{
    uint32_t vertices = mesh->table[KILN_ON_VERTEX].used, tets = mesh->table[KILN_ON_TET].used;
    uint32_t faces = mesh->table[KILN_ON_FACE].used;
    return (snapshot){copy_of(mesh->u, vertices * sizeof *mesh->u),
                      copy_of(mesh->x, vertices * sizeof *mesh->x),
                      copy_of(mesh->vertex, vertices * sizeof *mesh->vertex),
                      copy_of(mesh->tet, tets * sizeof *mesh->tet),
                      copy_of(mesh->info, tets * sizeof *mesh->info),
                      copy_of(mesh->face, faces * sizeof *mesh->face),
                      copy_of(mesh->parts.data, mesh->parts.count * sizeof(kiln_part)),
                      {vertices, tets, faces},
                      mesh->parts.count};
}

static void free_snapshot(snapshot *s)
{
    free(s->u), free(s->x), free(s->vertex), free(s->tet), free(s->info), free(s->face);
    free(s->parts);
}

static kiln_link mapped(const kiln_renumbering *r, kiln_link link)
{
    return kiln_link_is_surface(link)
               ? KILN_LINK_SURFACE + r->row[KILN_ON_FACE].data[link - KILN_LINK_SURFACE]
               : r->row[KILN_ON_TET].data[link / 4] * 4 + link % 4;
}

static void compare(const kiln_mesh *mesh, const snapshot *old, const kiln_renumbering *r)
{
    const double *heat = (double *)kiln_mesh_field(mesh, KILN_ON_VERTEX, "heat")->data;
    const uint64_t *word = (uint64_t *)kiln_mesh_field(mesh, KILN_ON_TET, "word")->data;
    const uint32_t *name = (uint32_t *)kiln_mesh_field(mesh, KILN_ON_FACE, "name")->data;
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        ck_assert_uint_eq(r->row[where].count, old->used[where]);
        ck_assert_uint_eq(mesh->table[where].used, mesh->table[where].live);
        ck_assert_uint_eq(mesh->table[where].free, KILN_NONE);
    }
    uint32_t seen[KILN_WHERE_COUNT] = {0};
    for (uint32_t v = 0; v < old->used[KILN_ON_VERTEX]; v++) {
        uint32_t to = r->row[KILN_ON_VERTEX].data[v];
        ck_assert_int_eq(to == KILN_NONE, (old->vertex[v].flags & KILN_VERTEX_DEAD) != 0);
        if (to == KILN_NONE)
            continue;
        seen[KILN_ON_VERTEX]++;
        kiln_vertex_info expected = old->vertex[v];
        expected.tet = r->row[KILN_ON_TET].data[expected.tet];
        ck_assert_mem_eq(&mesh->u[to], &old->u[v], sizeof(kiln_vec3));
        ck_assert_mem_eq(&mesh->x[to], &old->x[v], sizeof(kiln_vec3));
        ck_assert_mem_eq(&mesh->vertex[to], &expected, sizeof expected);
        ck_assert_double_eq(heat[to], v + 0.5);
    }
    for (uint32_t t = 0; t < old->used[KILN_ON_TET]; t++) {
        uint32_t to = r->row[KILN_ON_TET].data[t];
        ck_assert_int_eq(to == KILN_NONE, old->tet[t].v[0] == KILN_NONE);
        if (to == KILN_NONE)
            continue;
        seen[KILN_ON_TET]++;
        for (int k = 0; k < 4; k++) {
            ck_assert_uint_eq(mesh->tet[to].v[k], r->row[KILN_ON_VERTEX].data[old->tet[t].v[k]]);
            ck_assert_uint_eq(mesh->tet[to].n[k], mapped(r, old->tet[t].n[k]));
        }
        kiln_tet_info expected = old->info[t];
        expected.part = r->part.data[expected.part];
        ck_assert_mem_eq(&mesh->info[to], &expected, sizeof expected);
        ck_assert_uint_eq(word[to], (uint64_t)t << 32 | 5);
    }
    for (uint32_t f = 0; f < old->used[KILN_ON_FACE]; f++) {
        uint32_t to = r->row[KILN_ON_FACE].data[f];
        ck_assert_int_eq(to == KILN_NONE, old->face[f].at == KILN_NONE);
        if (to == KILN_NONE)
            continue;
        seen[KILN_ON_FACE]++;
        kiln_face expected = old->face[f];
        expected.at = mapped(r, expected.at);
        ck_assert_mem_eq(&mesh->face[to], &expected, sizeof expected);
        for (uint32_t c = 0; c < 3; c++)
            ck_assert_uint_eq(name[3 * to + c], 3 * f + c);
    }
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        ck_assert_uint_eq(seen[where], mesh->table[where].live);
    for (size_t p = 0; p < old->part_count; p++) {
        uint32_t to = r->part.data[p];
        ck_assert_int_eq(to == KILN_NONE, old->parts[p].tets == 0);
        if (to == KILN_NONE)
            continue;
        ck_assert_uint_eq(mesh->parts.data[to].body, old->parts[p].body);
        ck_assert_uint_eq(mesh->parts.data[to].tets, old->parts[p].tets);
        ck_assert_uint_eq(mesh->parts.data[to].stamp, mesh->revision);
    }
    ck_assert_uint_eq(mesh->parts.count, kiln_part_count(mesh));
}

START_TEST(compaction_keeps_everything_in_order)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = worn_mesh(context);
    snapshot old = take_snapshot(mesh);
    uint64_t revision = mesh->revision;
    kiln_renumbering r;
    ck_assert_int_eq(kiln_mesh_compact(mesh, &r, NULL), KILN_OK);
    compare(mesh, &old, &r);
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        for (uint32_t i = 0, last = 0; i < r.row[where].count; i++)
            if (r.row[where].data[i] != KILN_NONE)
                ck_assert_uint_eq(r.row[where].data[i], last++);
    ck_assert_uint_eq(mesh->revision, revision + 1);
    kiln_test_audit(mesh);
    kiln_renumbering_free(context, &r);

    uint64_t hash = kiln_mesh_hash(mesh);
    ck_assert_int_eq(kiln_mesh_compact(mesh, NULL, NULL), KILN_OK);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    ck_assert_uint_eq(mesh->revision, revision + 1);
    free_snapshot(&old);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Share of linked tets more than 512 rows apart: the curve has few jumps, some of them long. */
static double far_links(const kiln_mesh *mesh)
{
    uint32_t far_apart = 0, links = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 4; k++) {
            kiln_link link = mesh->tet[t].n[k];
            if (kiln_link_is_surface(link))
                continue;
            links++;
            far_apart += link / 4 > t + 512 || link / 4 + 512 < t;
        }
    return (double)far_apart / links;
}

START_TEST(the_curve_brings_neighbours_together)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = worn_mesh(context);
    snapshot old = take_snapshot(mesh);
    kiln_renumbering r;
    ck_assert_int_eq(kiln_mesh_reorder(mesh, KILN_SPACE_MATERIAL, &r, NULL), KILN_OK);
    compare(mesh, &old, &r);
    kiln_test_audit(mesh);
    kiln_renumbering_free(context, &r);
    uint64_t hash = kiln_mesh_hash(mesh);
    ck_assert_int_eq(kiln_mesh_reorder(mesh, KILN_SPACE_MATERIAL, NULL, NULL), KILN_OK);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    free_snapshot(&old);
    kiln_mesh_destroy(mesh);

    mesh = kiln_test_mesh(context, "box", "nx=20 ny=20 nz=20");
    double before = far_links(mesh);
    ck_assert_int_eq(kiln_mesh_reorder(mesh, KILN_SPACE_WORLD, NULL, NULL), KILN_OK);
    ck_assert_double_lt(far_links(mesh), 0.7 * before);
    kiln_test_audit(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* World places mirror the material ones, so the two orders differ and world order is the one that
 * would result from material places x. */
START_TEST(the_space_is_the_one_asked_for)
{
    kiln_context *context = kiln_test_context(1);
    uint64_t hash[2];
    for (int swapped = 0; swapped < 2; swapped++) {
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=6 ny=5 nz=4");
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
            kiln_vec3 p = mesh->u[v], q = kiln_v3(3 * p.z, p.x, p.y);
            mesh->u[v] = swapped ? q : p;
            mesh->x[v] = swapped ? p : q;
        }
        kiln_renumbering r;
        kiln_space space = swapped ? KILN_SPACE_MATERIAL : KILN_SPACE_WORLD;
        ck_assert_int_eq(kiln_mesh_reorder(mesh, space, &r, NULL), KILN_OK);
        hash[swapped] = kiln_hash_bytes(1, r.row[KILN_ON_TET].data, 4 * r.row[KILN_ON_TET].count);
        kiln_renumbering_free(context, &r);
        kiln_test_audit(mesh);
        kiln_mesh_destroy(mesh);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(parts_close_ranks_and_bodies_stay)
{
    kiln_context *context = kiln_test_context(1);
    const kiln_vec3 p[8] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                            {5, 0, 0}, {6, 0, 0}, {5, 1, 0}, {5, 0, 1}};
    const kiln_soup_tet t[2] = {{{0, 1, 2, 3}}, {{4, 5, 6, 7}}};
    kiln_mesh *mesh = kiln_test_mesh_of(context, 8, p, 2, t, NULL, KILN_BUILD_STRICT);
    kiln_body_assign(mesh, 1, 42);
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_test_remove_tet(&txn, 0), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    kiln_test_audit(mesh);
    kiln_renumbering r;
    ck_assert_int_eq(kiln_mesh_compact(mesh, &r, NULL), KILN_OK);
    ck_assert_uint_eq(r.part.count, 2);
    ck_assert_uint_eq(r.part.data[0], KILN_NONE);
    ck_assert_uint_eq(r.part.data[1], 0);
    ck_assert_uint_eq(mesh->parts.count, 1);
    ck_assert_uint_eq(mesh->parts.data[0].body, 42);
    ck_assert_uint_eq(mesh->info[0].part, 0);
    ck_assert_uint_eq(mesh->table[KILN_ON_VERTEX].used, 4);
    ck_assert_uint_eq(mesh->table[KILN_ON_FACE].used, 4);
    kiln_test_audit(mesh);
    kiln_renumbering_free(context, &r);

    txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_test_remove_tet(&txn, 0), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_mesh_reorder(mesh, KILN_SPACE_WORLD, NULL, NULL), KILN_OK);
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        ck_assert_uint_eq(mesh->table[where].used, 0);
    ck_assert_uint_eq(mesh->parts.count, 0);
    kiln_test_audit(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(not_inside_transactions_and_passes)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = worn_mesh(context);
    uint64_t hash = kiln_mesh_hash(mesh);
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_mesh_compact(mesh, NULL, NULL), KILN_ERR_STATE);
    ck_assert_int_eq(kiln_mesh_reorder(mesh, KILN_SPACE_WORLD, NULL, NULL), KILN_ERR_STATE);
    kiln_txn_rollback(&txn);
    ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
    ck_assert_int_eq(kiln_mesh_compact(mesh, NULL, NULL), KILN_ERR_STATE);
    kiln_archive_end(mesh);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    ck_assert_int_eq(kiln_mesh_compact(mesh, NULL, NULL), KILN_OK);
    /* A pass afterwards must find its image table sound. */
    hash = kiln_mesh_hash(mesh);
    ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
    kiln_test_jitter(mesh, 0.01, 5);
    kiln_archive_rollback(mesh);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(same_for_any_number_of_threads)
{
    uint64_t hash[3];
    for (int threads = 1; threads <= 3; threads++) {
        kiln_context *context = kiln_test_context(threads);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=16 ny=15 nz=14");
        ck_assert_int_eq(kiln_mesh_reorder(mesh, KILN_SPACE_MATERIAL, NULL, NULL), KILN_OK);
        hash[threads - 1] = kiln_mesh_hash(mesh);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
    ck_assert_uint_eq(hash[0], hash[2]);
}
END_TEST

/* A share of the tets swapped with others at random, before the mesh is built. */
static kiln_mesh *thrown_about(kiln_context *context, double share)
{
    kiln_soup soup = kiln_test_soup(context, "ball", "h=0.1");
    kiln_mesh *mesh, *sorted = NULL;
    kiln_build_options options = kiln_build_default_options();
    ck_assert_int_eq(kiln_mesh_build(context, &soup, &options, &sorted, NULL, NULL), KILN_OK);
    kiln_soup_free(&soup);
    ck_assert_int_eq(kiln_mesh_reorder(sorted, KILN_SPACE_MATERIAL, NULL, NULL), KILN_OK);
    kiln_soup_init(&soup, context);
    ck_assert_int_eq(kiln_mesh_to_soup(sorted, &soup, NULL), KILN_OK);
    kiln_random random = kiln_random_start(5, 1);
    uint32_t count = (uint32_t)soup.tets.count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t j = kiln_random_below(&random, count);
        kiln_soup_tet swap = soup.tets.data[i];
        if (kiln_random_below(&random, 1000) >= 500.0 * share)
            continue;
        soup.tets.data[i] = soup.tets.data[j];
        soup.tets.data[j] = swap;
    }
    soup.triangles.count = soup.triangle_tags.count = 0;
    ck_assert_int_eq(kiln_mesh_build(context, &soup, &options, &mesh, NULL, NULL), KILN_OK);
    kiln_soup_free(&soup);
    kiln_mesh_destroy(sorted);
    return mesh;
}

START_TEST(locality_tells_how_much_is_out_of_place)
{
    double last = 0.0;
    for (int tenths = 0; tenths <= 4; tenths++) {
        double found[3];
        for (int threads = 1; threads <= 3; threads++) {
            kiln_context *context = kiln_test_context(threads);
            kiln_mesh *mesh = thrown_about(context, tenths / 10.0);
            found[threads - 1] = kiln_mesh_locality(mesh);
            ck_assert_int_eq(kiln_mesh_reorder(mesh, KILN_SPACE_MATERIAL, NULL, NULL), KILN_OK);
            ck_assert_double_lt(fabs(kiln_mesh_locality(mesh) - 1.0), 0.1);
            kiln_mesh_destroy(mesh);
            kiln_context_destroy(context);
        }
        ck_assert_mem_eq(&found[0], &found[1], sizeof found[0]);
        ck_assert_mem_eq(&found[0], &found[2], sizeof found[0]);
        if (tenths == 0)
            ck_assert_double_lt(fabs(found[0] - 1.0), 0.1);
        else
            ck_assert_double_gt(found[0], last + 0.1);
        last = found[0];
    }
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *empty;
    ck_assert_int_eq(kiln_mesh_create(context, &empty, NULL), KILN_OK);
    ck_assert_double_eq(kiln_mesh_locality(empty), 1.0);
    kiln_mesh_destroy(empty);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(all_or_nothing_without_memory)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_mesh *mesh = worn_mesh(context);
    int64_t blocks = heap.live_blocks;
    uint64_t hash = kiln_mesh_hash(mesh), revision = mesh->revision;
    kiln_status status = KILN_ERR_MEMORY;
    int failures = 0;
    for (uint64_t k = 1; status != KILN_OK; k++) {
        heap.calls = 0;
        heap.fail_at = k;
        status = kiln_mesh_reorder(mesh, KILN_SPACE_MATERIAL, NULL, NULL);
        heap.fail_at = 0;
        ck_assert_int_eq(heap.live_blocks, blocks);
        if (status == KILN_OK)
            break;
        failures++;
        ck_assert_int_eq(status, KILN_ERR_MEMORY);
        ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
        ck_assert_uint_eq(mesh->revision, revision);
    }
    ck_assert_int_gt(failures, 10);
    ck_assert_uint_ne(kiln_mesh_hash(mesh), hash);
    kiln_test_audit(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
    ck_assert_int_eq(heap.live_bytes, 0);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("reorder");
    TCase *all = kiln_test_case(suite, "reorder");
    tcase_add_test(all, compaction_keeps_everything_in_order);
    tcase_add_test(all, the_curve_brings_neighbours_together);
    tcase_add_test(all, the_space_is_the_one_asked_for);
    tcase_add_test(all, parts_close_ranks_and_bodies_stay);
    tcase_add_test(all, not_inside_transactions_and_passes);
    tcase_add_test(all, same_for_any_number_of_threads);
    tcase_add_test(all, locality_tells_how_much_is_out_of_place);
    tcase_add_test(all, all_or_nothing_without_memory);
    return suite;
}
