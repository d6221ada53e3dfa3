#include "base/random.h"
#include "measure/fixture.h"
#include "mesh/build.h"
#include "mesh/parts.h"
#include "mesh/reorder.h"
#include "mesh/txn.h"
#include "remesh/flip.h"
#include "topology/split.h"
#include "validation/validation.h"

#include <string.h>

/* Big enough for several chunks of every parallel loop. */
static const char *const big_box = "n=24 pattern=mirrored";

/* One attempt at a flip, split or move of a random tet. */
static void change(kiln_txn *txn, kiln_random *random)
{
    kiln_mesh *mesh = txn->mesh;
    uint32_t t = kiln_random_below(random, mesh->table[KILN_ON_TET].used), made[3];
    uint32_t a = kiln_random_below(random, 4), b = (a + 1 + kiln_random_below(random, 3)) % 4;
    uint32_t edge[2] = {a, b}, kind = kiln_random_below(random, 4);
    kiln_split split;
    if (!kiln_tet_live(mesh, t))
        return;
    kiln_txn inner = kiln_txn_begin(mesh);
    kiln_vec3 to = mesh->u[mesh->tet[t].v[a]];
    to.x += kiln_random_range(random, -0.01, 0.01);
    kiln_txn_settle(&inner, kind == 0   ? kiln_flip_23(&inner, t, a, made)
                            : kind == 1 ? kiln_flip_32(&inner, t, a, b, made)
                            : kind == 2 ? kiln_split_middle(&inner, t, edge, 2, &split)
                                        : kiln_txn_move_vertex(&inner, mesh->tet[t].v[a], to, to));
}

/* Mesh of a box, built, changed and reordered with that many threads. */
static kiln_status hashes_with(int threads, uint64_t hash[3], kiln_error *error)
{
    kiln_context_options options = kiln_context_default_options();
    options.threads = threads;
    kiln_context *context;
    KILN_TRY(kiln_context_create(&options, &context, error));
    kiln_mesh *mesh = NULL;
    kiln_status status = kiln_fixture_mesh(context, "box", big_box, 0.01, &mesh, error);
    if (status == KILN_OK) {
        hash[0] = kiln_mesh_hash(mesh);
        kiln_random random = kiln_random_start(51, 0);
        kiln_txn txn = kiln_txn_begin(mesh);
        for (int i = 0; i < 5000; i++)
            change(&txn, &random);
        kiln_txn_settle(&txn, KILN_ACCEPTED);
        hash[1] = kiln_mesh_hash(mesh);
        status = kiln_mesh_reorder(mesh, KILN_SPACE_MATERIAL, NULL, error);
        hash[2] = kiln_mesh_hash(mesh);
        kiln_mesh_destroy(mesh);
    }
    kiln_context_destroy(context);
    return status;
}

kiln_status kiln_validate_threads(kiln_validation *validation, kiln_error *error)
{
    static const char *const stages[3] = {"built", "changed 5000 times", "reordered"};
    uint64_t one[3], several[3];
    KILN_TRY(hashes_with(1, one, error));
    for (int threads = 2; threads <= 4; threads++) {
        KILN_TRY(hashes_with(threads, several, error));
        for (int i = 0; i < 3; i++)
            kiln_validation_report(validation, one[i] != several[i], kiln_exactly(0),
                                   "mesh %s with %d threads: hashes that differ from one thread",
                                   stages[i], threads);
    }
    return KILN_OK;
}

/* Nested transactions `depth` deep, changes at every level, then all rolled back. */
static size_t roll_back_nested(kiln_mesh *mesh, kiln_random *random, int depth)
{
    enum { MOST = 16 };
    uint64_t hash[MOST];
    kiln_txn txn[MOST];
    size_t wrong = 0;
    for (int level = 0; level < depth; level++) {
        hash[level] = kiln_mesh_hash(mesh);
        txn[level] = kiln_txn_begin(mesh);
        for (int i = 0; i < 40; i++)
            change(&txn[level], random);
    }
    for (int level = depth - 1; level >= 0; level--) {
        kiln_txn_rollback(&txn[level]);
        wrong += kiln_mesh_hash(mesh) != hash[level];
    }
    return wrong;
}

kiln_status kiln_validate_rollback(kiln_validation *validation, kiln_error *error)
{
    enum { ROUNDS = 50, DEPTH = 8 };
    kiln_mesh *mesh;
    KILN_TRY(
        kiln_fixture_mesh(kiln_validation_context(validation), "box", "n=5", 0.03, &mesh, error));
    kiln_random random = kiln_random_start(52, 0);
    size_t wrong = 0;
    for (int round = 0; round < ROUNDS; round++) {
        wrong += roll_back_nested(mesh, &random, DEPTH);
        kiln_txn txn = kiln_txn_begin(mesh); /* another mesh for the next round */
        for (int i = 0; i < 20; i++)
            change(&txn, &random);
        kiln_txn_settle(&txn, KILN_ACCEPTED);
    }
    kiln_validation_report(validation, (double)wrong, kiln_exactly(0),
                           "%d transactions rolled back, %d deep: hashes that differ",
                           ROUNDS * DEPTH, DEPTH);
    uint64_t before = kiln_mesh_hash(mesh);
    kiln_status status = kiln_archive_begin(mesh, error);
    if (status == KILN_OK) {
        for (int i = 0; i < 500; i++) {
            kiln_txn txn = kiln_txn_begin(mesh);
            change(&txn, &random);
            kiln_txn_settle(&txn, KILN_ACCEPTED);
        }
        size_t same = kiln_mesh_hash(mesh) == before;
        kiln_validation_report(validation, (double)same, kiln_exactly(0),
                               "pass of 500 commits: hashes that did not change");
        kiln_archive_rollback(mesh);
        kiln_validation_report(validation, kiln_mesh_hash(mesh) != before, kiln_exactly(0),
                               "pass of 500 commits rolled back from the archive: hashes that "
                               "differ");
    }
    kiln_mesh_destroy(mesh);
    return status;
}

/* Tets whose volume has other bits than the tet they were, or other vertices. */
static size_t moved_tets(const kiln_mesh *mesh, const kiln_renumbering *now, const double *volume,
                         const kiln_tet *old)
{
    size_t wrong = 0;
    const kiln_u32_array *tets = &now->row[KILN_ON_TET], *vertices = &now->row[KILN_ON_VERTEX];
    for (size_t t = 0; t < tets->count; t++) {
        uint32_t to = tets->data[t];
        if (to == KILN_NONE)
            continue;
        double v = kiln_mesh_tet_volume(mesh, to);
        wrong += memcmp(&v, &volume[t], sizeof v) != 0;
        for (int k = 0; k < 4; k++)
            wrong += mesh->tet[to].v[k] != vertices->data[old[t].v[k]];
    }
    return wrong;
}

static kiln_status renumber(kiln_validation *validation, kiln_mesh *mesh, const char *name,
                            bool reorder, kiln_error *error)
{
    kiln_context *context = mesh->context;
    kiln_renumbering now = {0};
    kiln_f64_array volume = {0};
    KILN_ARRAY_OF(kiln_tet)
    old = {0};
    uint32_t used = mesh->table[KILN_ON_TET].used, live = mesh->table[KILN_ON_TET].live;
    double whole = (double)kiln_fixture_volume(mesh);
    kiln_status status = kiln_array_reserve(context, &volume, used, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(context, &old, used, error);
    for (uint32_t t = 0; t < used && status == KILN_OK; t++) {
        old.data[t] = mesh->tet[t];
        volume.data[t] = kiln_tet_live(mesh, t) ? kiln_mesh_tet_volume(mesh, t) : 0.0;
    }
    if (status == KILN_OK)
        status = reorder ? kiln_mesh_reorder(mesh, KILN_SPACE_MATERIAL, &now, error)
                         : kiln_mesh_compact(mesh, &now, error);
    if (status == KILN_OK) {
        kiln_validation_report(validation, mesh->table[KILN_ON_TET].used, kiln_exactly(live),
                               "%s: rows of the tet table", name);
        kiln_validation_report(validation, (double)moved_tets(mesh, &now, volume.data, old.data),
                               kiln_exactly(0),
                               "%s: tets with other vertices or other bits of volume", name);
        kiln_validation_report(validation, (double)kiln_fixture_volume(mesh),
                               kiln_near_relative(whole, 1e-15), "%s: volume", name);
        kiln_renumbering_free(context, &now);
        uint64_t hash = kiln_mesh_hash(mesh);
        status = reorder ? kiln_mesh_reorder(mesh, KILN_SPACE_MATERIAL, NULL, error)
                         : kiln_mesh_compact(mesh, NULL, error);
        kiln_validation_report(validation, kiln_mesh_hash(mesh) != hash, kiln_exactly(0),
                               "%s again: hashes that differ", name);
    }
    kiln_array_free(context, &volume);
    kiln_array_free(context, &old);
    return status;
}

kiln_status kiln_validate_renumbering(kiln_validation *validation, kiln_error *error)
{
    kiln_mesh *mesh;
    KILN_TRY(
        kiln_fixture_mesh(kiln_validation_context(validation), "box", "n=8", 0.02, &mesh, error));
    kiln_random random = kiln_random_start(53, 0);
    kiln_txn txn = kiln_txn_begin(mesh);
    for (int i = 0; i < 5000; i++)
        change(&txn, &random);
    kiln_txn_settle(&txn, KILN_ACCEPTED);
    kiln_status status = renumber(validation, mesh, "compaction", false, error);
    if (status == KILN_OK)
        status = renumber(validation, mesh, "reordering", true, error);
    kiln_mesh_destroy(mesh);
    return status;
}
