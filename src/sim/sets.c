/* What the scene selects, carried through every change of the mesh.
 *
 * Holds and loads are sets; each has a bit, holds first. Bits are kept where operators and
 * transfer carry them without loss:
 *   faces     a surface patch (patches.c). Its rim is a feature, so that patches keep their
 *             shape and nothing is handed on across it.
 *   tets      a volume. Its faces inside the body are required: they stay as they are.
 *   vertices  what is in neither: required.
 * The vertices of a set are those of its faces and tets, and its own. Marks are only made where
 * the scene remeshes. Body loads act by an amount (m^3 of the start) that remeshing conserves. */
#include "mesh/build.h"
#include "mesh/classify.h"
#include "mesh/txn.h"
#include "mesh/walk.h"
#include "mesh/rewind.h"
#include "sim/sets.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

uint64_t *kiln_boundary_bits(const kiln_mesh *mesh, kiln_where where)
{
    return (uint64_t *)(void *)kiln_mesh_field(mesh, where, KILN_FIELD_SETS)->data;
}

static double until_of(const kiln_scene *scene, size_t set)
{
    return set < scene->holds.count ? scene->holds.data[set].until
                                    : scene->loads.data[set - scene->holds.count].until;
}

static void set_bits(const kiln_mesh *mesh, kiln_where where, size_t words, size_t set,
                     const kiln_u32_array *rows)
{
    uint64_t *bits = kiln_boundary_bits(mesh, where);
    for (size_t i = 0; i < rows->count; i++)
        bits[rows->data[i] * words + set / 64] |= (uint64_t)1 << set % 64;
}

static kiln_status write_amount(kiln_boundary *b, size_t load, kiln_error *error)
{
    kiln_load_set *set = &b->loads[load];
    kiln_mesh *mesh = b->world->mesh;
    snprintf(set->amount, sizeof set->amount, "load%u", (unsigned)load + 1);
    KILN_TRY(kiln_mesh_add_field(mesh, set->amount, KILN_ON_TET, KILN_F64, 1, KILN_RULE_CONSERVE,
                                 error));
    double *amount = kiln_set_amounts(b, load);
    for (size_t i = 0; i < set->rows.count; i++)
        amount[set->rows.data[i]] = kiln_mesh_tet_volume(mesh, set->rows.data[i]);
    return KILN_OK;
}

static kiln_status add_fields(kiln_boundary *b, kiln_error *error)
{
    static const kiln_rule rules[KILN_WHERE_COUNT] = {[KILN_ON_VERTEX] = KILN_RULE_INHERIT,
                                                      [KILN_ON_TET] = KILN_RULE_COPY,
                                                      [KILN_ON_FACE] = KILN_RULE_COPY};
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        KILN_TRY(kiln_mesh_add_field(b->world->mesh, KILN_FIELD_SETS, (kiln_where)where, KILN_U64,
                                     (uint32_t)kiln_set_words(b->world->scene), rules[where],
                                     error));
    for (size_t i = 0; i < b->world->scene->loads.count; i++) {
        kiln_load_kind kind = b->world->scene->loads.data[i].kind;
        if (kiln_load_where(kind) == KILN_ON_TET)
            KILN_TRY(write_amount(b, i, error));
        if (kind == KILN_LOAD_TRACTION)
            b->loads[i].area = kiln_boundary_load_area(b, i);
    }
    return KILN_OK;
}

/* From lists to bits. */
static kiln_status write_bits(kiln_boundary *b, kiln_error *error)
{
    const kiln_mesh *mesh = b->world->mesh;
    size_t words = kiln_set_words(b->world->scene), sets = kiln_set_count(b->world->scene), bytes;
    for (size_t s = 0; s < sets; s++)
        if (kiln_set_where(b->world->scene, s) == KILN_ON_VERTEX)
            set_bits(mesh, KILN_ON_VERTEX, words, s, kiln_set_list(b, s));
    KILN_TRY(kiln_boundary_gather(b->world->mesh, KILN_ON_TET, words, error));
    KILN_TRY(kiln_boundary_gather(b->world->mesh, KILN_ON_FACE, words, error));
    for (size_t s = 0; s < sets; s++)
        if (kiln_set_where(b->world->scene, s) == KILN_ON_FACE)
            set_bits(mesh, KILN_ON_FACE, words, s, kiln_set_list(b, s));
    uint64_t *cover, *vertex = kiln_boundary_bits(mesh, KILN_ON_VERTEX);
    KILN_TRY(kiln_set_cover(b, &cover, &bytes, error));
    for (size_t i = 0; i < mesh->table[KILN_ON_VERTEX].used * words; i++)
        vertex[i] &= ~cover[i];
    kiln_release(b->world->context, cover, bytes);
    return KILN_OK;
}

/* Bits of two rows that differ, but for one set (KILN_NONE: none). */
static bool differ(const uint64_t *a, const uint64_t *b, size_t words, size_t but)
{
    for (size_t w = 0; w < words; w++) {
        uint64_t mask = but / 64 == w ? ~((uint64_t)1 << but % 64) : ~(uint64_t)0;
        if ((a[w] ^ b[w]) & mask)
            return true;
    }
    return false;
}

/* What one marking has to know. */
typedef struct marking {
    kiln_txn txn;
    const uint64_t *bits[KILN_WHERE_COUNT];
    size_t words;
    size_t ended; /* the set whose marks go; KILN_NONE: all sets get theirs */
    bool edges;   /* some feature came or went */
} marking;

/* Corners are found by classification, which only adds them. */
static kiln_verdict mark_edge(marking *m, uint32_t tet, uint32_t a, uint32_t b, bool on)
{
    const kiln_mesh *mesh = m->txn.mesh;
    const kiln_tet *record = &mesh->tet[tet];
    uint32_t edge = kiln_edge_of[kiln_tet_corner(record, a)][kiln_tet_corner(record, b)];
    if ((mesh->info[tet].marks >> (KILN_MARK_FEATURE_EDGE + edge) & 1) == on)
        return KILN_ACCEPTED;
    m->edges = true;
    kiln_verdict verdict = kiln_txn_mark_edge(&m->txn, tet, edge, KILN_MARK_FEATURE_EDGE, on);
    if (!on && verdict == KILN_ACCEPTED)
        verdict = kiln_txn_set_vertex(&m->txn, a, 0, KILN_VERTEX_CORNER);
    if (!on && verdict == KILN_ACCEPTED)
        verdict = kiln_txn_set_vertex(&m->txn, b, 0, KILN_VERTEX_CORNER);
    return verdict;
}

static kiln_verdict mark_face_rim(marking *m, uint32_t face)
{
    const kiln_mesh *mesh = m->txn.mesh;
    const uint64_t *bits = m->bits[KILN_ON_FACE], *mine = bits + face * m->words;
    uint32_t v[4];
    kiln_boundary_corners(mesh, KILN_ON_FACE, face, v);
    kiln_verdict verdict = KILN_ACCEPTED;
    for (int k = 0; k < 3 && verdict == KILN_ACCEPTED; k++) {
        uint32_t a = v[k], b = v[(k + 1) % 3];
        const uint64_t *other = bits + kiln_surface_across(mesh, face, a, b) * m->words;
        bool rim = differ(mine, other, m->words, m->ended);
        bool ends = m->ended != KILN_NONE && !rim && !kiln_set_has(other, m->ended);
        if (m->ended == KILN_NONE ? rim : ends)
            verdict = mark_edge(m, mesh->face[face].at / 4, a, b, rim);
    }
    return verdict;
}

static kiln_verdict mark_tet_rim(marking *m, uint32_t tet)
{
    const kiln_mesh *mesh = m->txn.mesh;
    const uint64_t *bits = m->bits[KILN_ON_TET], *mine = bits + tet * m->words;
    kiln_verdict verdict = KILN_ACCEPTED;
    for (uint32_t f = 0; f < 4 && verdict == KILN_ACCEPTED; f++) {
        kiln_link link = mesh->tet[tet].n[f];
        if (kiln_link_is_surface(link))
            continue;
        const uint64_t *other = bits + link / 4 * m->words;
        bool rim = differ(mine, other, m->words, m->ended);
        bool ends = m->ended != KILN_NONE && !rim && !kiln_set_has(other, m->ended);
        bool marked = mesh->info[tet].marks >> (KILN_MARK_REQUIRED_FACE + f) & 1;
        if (marked != rim && (m->ended == KILN_NONE ? rim : ends))
            verdict = kiln_txn_mark_face(&m->txn, tet, f, KILN_MARK_REQUIRED_FACE, rim);
    }
    return verdict;
}

static kiln_verdict mark_vertex(marking *m, uint32_t vertex)
{
    bool on = m->ended == KILN_NONE;
    if (on && m->txn.mesh->vertex[vertex].flags & KILN_VERTEX_REQUIRED)
        return KILN_ACCEPTED;
    return kiln_txn_set_vertex(&m->txn, vertex, on ? KILN_VERTEX_REQUIRED : 0,
                               on ? 0 : KILN_VERTEX_REQUIRED);
}

static kiln_verdict mark_row(marking *m, kiln_where where, uint32_t row)
{
    static kiln_verdict (*const mark[KILN_WHERE_COUNT])(marking *, uint32_t) = {
        [KILN_ON_VERTEX] = mark_vertex,
        [KILN_ON_TET] = mark_tet_rim,
        [KILN_ON_FACE] = mark_face_rim};
    const kiln_mesh *mesh = m->txn.mesh;
    const uint64_t *mine = m->bits[where] + row * m->words;
    if (m->ended == KILN_NONE ? !kiln_set_any(mine, m->words) : !kiln_set_has(mine, m->ended))
        return KILN_ACCEPTED;
    return kiln_row_live(mesh, where, row) ? mark[where](m, row) : KILN_ACCEPTED;
}

/* Of the rows that changed, or of all (NULL), those with bits, or with the bit of the set that has
 * ended. What a mark depends on is in the row and its neighbours across, of which one is new where
 * it is to be set. */
static kiln_verdict mark_rows(marking *m, const kiln_changes *changes)
{
    const kiln_mesh *mesh = m->txn.mesh;
    kiln_verdict verdict = KILN_ACCEPTED;
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        const kiln_u32_array *rows = changes ? &changes->rows[where] : NULL;
        size_t count = rows ? rows->count : mesh->table[where].used;
        for (size_t i = 0; i < count && verdict == KILN_ACCEPTED; i++)
            verdict = mark_row(m, (kiln_where)where, rows ? rows->data[i] : (uint32_t)i);
    }
    return verdict;
}

static kiln_status mark_sets(kiln_boundary *b, size_t ended, const kiln_changes *changes,
                             bool *features, kiln_error *error)
{
    marking m = {.txn = kiln_txn_begin(b->world->mesh),
                 .words = kiln_set_words(b->world->scene),
                 .ended = ended};
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        m.bits[where] = kiln_boundary_bits(b->world->mesh, (kiln_where)where);
    kiln_verdict verdict =
        m.txn.depth ? kiln_txn_settle(&m.txn, mark_rows(&m, changes)) : KILN_REFUSED_MEMORY;
    if (verdict != KILN_ACCEPTED)
        return kiln_txn_fail(verdict, error);
    *features |= m.edges;
    return KILN_OK;
}

static kiln_status mark_all(kiln_boundary *b, const kiln_changes *changes, bool features,
                            kiln_error *error)
{
    KILN_TRY(mark_sets(b, KILN_NONE, changes, &features, error));
    return features ? kiln_mesh_classify(b->world->mesh, kiln_world_ridge_angle(b->world), error)
                    : KILN_OK;
}

/* Whether liquid sticks to what the set holds, for ever. */
static bool sticks(const kiln_scene *scene, size_t set)
{
    const kiln_scene_hold *hold = set < scene->holds.count ? &scene->holds.data[set] : NULL;
    return hold && hold->components == 7 && hold->motion.kind == KILN_MOTION_STILL &&
           hold->from <= 0.0 && isinf(hold->until);
}

static kiln_verdict require_face(kiln_txn *txn, uint32_t face)
{
    uint32_t v[4], at = txn->mesh->face[face].at;
    kiln_verdict verdict = kiln_txn_mark_face(txn, at / 4, at % 4, KILN_MARK_REQUIRED_FACE, true);
    kiln_boundary_corners(txn->mesh, KILN_ON_FACE, face, v);
    for (int k = 0; k < 3 && verdict == KILN_ACCEPTED; k++)
        verdict = kiln_txn_set_vertex(txn, v[k], KILN_VERTEX_REQUIRED, 0);
    return verdict;
}

/* Faces that liquid sticks to do not move, so nothing makes them worse, and they stay as they are.
 * Meshed anew, a round one would be off its place by its bulge, and the next step would throw it
 * back there. */
static kiln_status require_stuck(kiln_boundary *b, kiln_error *error)
{
    const kiln_scene *scene = b->world->scene;
    kiln_mesh *mesh = b->world->mesh;
    const uint64_t *bits = kiln_boundary_bits(mesh, KILN_ON_FACE);
    const uint32_t *material = kiln_world_material_of(mesh);
    kiln_txn txn = kiln_txn_begin(mesh);
    kiln_verdict verdict = txn.depth ? KILN_ACCEPTED : KILN_REFUSED_MEMORY;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        bool stuck = false;
        if (!b->world->materials[material[mesh->face[f].at / 4]].liquid)
            continue;
        for (size_t s = 0; s < scene->holds.count; s++)
            stuck |= kiln_set_has(bits + f * kiln_set_words(scene), s) && sticks(scene, s);
        if (stuck && verdict == KILN_ACCEPTED)
            verdict = require_face(&txn, f);
    }
    verdict = txn.depth ? kiln_txn_settle(&txn, verdict) : verdict;
    return verdict == KILN_ACCEPTED ? KILN_OK : kiln_txn_fail(verdict, error);
}

kiln_status kiln_boundary_write_sets(kiln_boundary *b, kiln_error *error)
{
    KILN_TRY(add_fields(b, error));
    KILN_TRY(write_bits(b, error));
    if (!b->world->remeshes)
        return KILN_OK;
    KILN_TRY(mark_all(b, NULL, false, error));
    return require_stuck(b, error);
}

/* A patch smaller than the new mesh can show: better said than left to be found out. */
static void warn_of_losses(kiln_boundary *b, const uint32_t *before)
{
    size_t holds = b->world->scene->holds.count;
    for (size_t s = 0; s < kiln_set_count(b->world->scene); s++)
        if (before[s] > 0 && kiln_set_list(b, s)->count == 0)
            kiln_log(b->world->context, KILN_LOG_WARNING,
                     "at %.4g s remeshing left nothing of what %s %zu selects",
                     b->world->state.clock.time, s < holds ? "hold" : "load",
                     (s < holds ? s : s - holds) + 1);
}

kiln_status kiln_boundary_refresh_sets(kiln_boundary *b, const kiln_changes *changes,
                                       kiln_error *error)
{
    size_t sets = kiln_set_count(b->world->scene);
    if (!b->world->remeshes)
        return kiln_set_list_all(b, error);
    kiln_u32_array before = {0};
    KILN_TRY(kiln_array_reserve(b->world->context, &before, sets, error));
    for (size_t s = 0; s < sets; s++)
        before.data[s] = (uint32_t)kiln_set_list(b, s)->count;
    kiln_status status = mark_all(b, changes->all ? NULL : changes, false, error);
    if (status == KILN_OK)
        status = changes->all ? kiln_set_list_all(b, error) : kiln_set_follow(b, changes, error);
    if (status == KILN_OK)
        warn_of_losses(b, before.data);
    kiln_array_free(b->world->context, &before);
    return status;
}

static kiln_status clear_bit(kiln_mesh *mesh, size_t words, size_t set, kiln_error *error)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        KILN_TRY(kiln_rewind_save(mesh, (kiln_where)where, KILN_FIELD_SETS, KILN_SAVE_COPY, error));
        uint64_t *bits = kiln_boundary_bits(mesh, (kiln_where)where);
        for (uint32_t row = 0; row < mesh->table[where].used; row++)
            bits[row * words + set / 64] &= ~((uint64_t)1 << set % 64);
    }
    return KILN_OK;
}

/* Marks that a mesh file made on the same edges and vertices go too: nobody knows them apart. */
kiln_status kiln_boundary_release_sets(kiln_boundary *b, double now, kiln_error *error)
{
    const kiln_world *world = b->world;
    bool features = false;
    b->released = false;
    for (size_t s = 0; s < kiln_set_count(world->scene); s++) {
        if (fabs(now - until_of(world->scene, s)) > kiln_world_tolerance(world))
            continue;
        b->released = true;
        if (world->remeshes)
            KILN_TRY(mark_sets(b, s, NULL, &features, error));
        KILN_TRY(clear_bit(world->mesh, kiln_set_words(world->scene), s, error));
    }
    if (!b->released)
        return KILN_OK;
    if (world->remeshes)
        KILN_TRY(mark_all(b, NULL, features, error));
    return kiln_set_list_all(b, error);
}
