#include "topology/gap.h"
#include "geom/predicates.h"
#include "topology/cavity_list.h"
#include "topology/gap_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the edges at its corners, the longest edge of a tet. */
static const double LONGEST = 3.0;
/* Likewise, edges across that are contracted, at most. */
static const double CLOSE = 0.6;
/* How often tets that make the surface no manifold are left out. */
enum { ROUNDS = 30 };

typedef struct cell {
    uint32_t v[4], parent, group;
    bool gone;
} cell;

/* A triangle of a cell, or of a sheet (at KILN_NONE: `face` is the surface face). */
typedef struct triangle {
    uint32_t v[3]; /* ascending */
    uint32_t at, face;
} triangle;

typedef struct filling {
    kiln_context *context;
    kiln_txn *txn;
    const kiln_gap *gap;
    kiln_sheets sheets;
    KILN_ARRAY_OF(cell)
    cells;
    KILN_ARRAY_OF(triangle)
    triangles; /* of cells that are not gone and of the sheets, sorted */
    KILN_ARRAY_OF(triangle)
    walls;
    kiln_f64_array covered, uncovered; /* [group] m^2 */
    kiln_u32_array root;               /* union-find, of cells and of walls */
    KILN_ARRAY_OF(kiln_gap_edge)
    edges;
    kiln_cavity_list list;
    kiln_gap_report *report;
} filling;

static uint32_t root_of(filling *f, uint32_t i)
{
    while (f->root.data[i] != i)
        i = f->root.data[i] = f->root.data[f->root.data[i]];
    return i;
}

static void unite(filling *f, uint32_t a, uint32_t b)
{
    a = root_of(f, a), b = root_of(f, b);
    f->root.data[a < b ? b : a] = a < b ? a : b;
}

static kiln_status start_roots(filling *f, size_t count)
{
    KILN_TRY(kiln_array_reserve(f->context, &f->root, count + 1, NULL));
    for (uint32_t i = 0; i < count; i++)
        f->root.data[i] = i;
    return KILN_OK;
}

static const kiln_sheet_vertex *row(const filling *f, int side, uint32_t v)
{
    return &f->sheets.side[side].vertices.data[v];
}

static kiln_vec3 at(const filling *f, const kiln_sheet_vertex *v)
{
    return f->txn->mesh->x[v->id];
}

/* A tet between corners of the two sheets, if the gap there is one and it would be positive:
 * `depth` is how wide it is. */
static kiln_status offer(filling *f, const kiln_sheet_vertex *const v[4], double depth,
                         uint32_t parent)
{
    double mean = 0.0, longest = 0.0;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++) {
            if (v[i]->id == v[k]->id)
                return KILN_OK;
            longest = fmax(longest, kiln_v3_norm(kiln_v3_sub(at(f, v[i]), at(f, v[k]))));
        }
    for (int i = 0; i < 4; i++)
        mean += 0.25 * v[i]->length;
    if (!(depth > 0.0 && depth < f->gap->part * mean && longest < LONGEST * mean))
        return KILN_OK;
    double sign = kiln_orient3d(at(f, v[0]), at(f, v[1]), at(f, v[2]), at(f, v[3]));
    if (sign == 0.0)
        return KILN_OK;
    cell c = {.v = {v[0]->id, v[1]->id, v[sign > 0 ? 2 : 3]->id, v[sign > 0 ? 3 : 2]->id},
              .parent = parent};
    return kiln_array_push(f->context, &f->cells, c, NULL);
}

/* The corner over there in whose cell the gradient of a face lies. */
static const kiln_sheet_vertex *partner(const filling *f, int side, const double g[2])
{
    const kiln_sheet *sheet = &f->sheets.side[side];
    const kiln_sheet_vertex *best = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < sheet->vertices.count; i++) {
        const kiln_sheet_vertex *v = &sheet->vertices.data[i];
        double value = v->height - g[0] * v->p[0] - g[1] * v->p[1];
        if (value < least) {
            least = value;
            best = v;
        }
    }
    return best;
}

static kiln_status offer_on_faces(filling *f, int side)
{
    const kiln_mesh *mesh = f->txn->mesh;
    const kiln_sheet *sheet = &f->sheets.side[side];
    for (size_t i = 0; i < sheet->faces.count; i++) {
        const kiln_sheet_face *face = &sheet->faces.data[i];
        const kiln_sheet_vertex *v[4] = {row(f, side, face->v[0]), row(f, side, face->v[1]),
                                         row(f, side, face->v[2]),
                                         partner(f, !side, face->gradient)};
        kiln_vec3 normal = kiln_v3_cross(kiln_v3_sub(at(f, v[1]), at(f, v[0])),
                                         kiln_v3_sub(at(f, v[2]), at(f, v[0])));
        normal = kiln_v3_scale(kiln_v3_normalize(normal), side ? -1.0 : 1.0);
        double depth = kiln_v3_dot(kiln_v3_sub(at(f, v[3]), at(f, v[0])), normal);
        KILN_TRY(offer(f, v, depth, mesh->face[face->face].at / 4));
    }
    return KILN_OK;
}

static const double *dual(const filling *f, int side, const kiln_sheet_edge *edge, int k)
{
    return f->sheets.side[side].faces.data[edge->f[k]].gradient;
}

static bool parts(const double *a, const double *b, const double *p, const double *q)
{
    double left = kiln_orient2d(a[0], a[1], b[0], b[1], p[0], p[1]);
    double right = kiln_orient2d(a[0], a[1], b[0], b[1], q[0], q[1]);
    return (left > 0.0 && right < 0.0) || (left < 0.0 && right > 0.0);
}

static kiln_status offer_on_edges(filling *f, const kiln_sheet_edge *a, const kiln_sheet_edge *b)
{
    const double *p = dual(f, 0, a, 0), *q = dual(f, 0, a, 1);
    const double *r = dual(f, 1, b, 0), *s = dual(f, 1, b, 1);
    if (fmin(p[0], q[0]) > fmax(r[0], s[0]) || fmin(r[0], s[0]) > fmax(p[0], q[0]) ||
        fmin(p[1], q[1]) > fmax(r[1], s[1]) || fmin(r[1], s[1]) > fmax(p[1], q[1]) ||
        !parts(p, q, r, s) || !parts(r, s, p, q))
        return KILN_OK;
    const kiln_sheet_vertex *v[4] = {row(f, 0, a->v[0]), row(f, 0, a->v[1]), row(f, 1, b->v[0]),
                                     row(f, 1, b->v[1])};
    kiln_vec3 across =
        kiln_v3_cross(kiln_v3_sub(at(f, v[1]), at(f, v[0])), kiln_v3_sub(at(f, v[3]), at(f, v[2])));
    double length = kiln_v3_norm(across);
    if (kiln_v3_dot(across, f->sheets.axis[2]) < 0.0)
        length = -length;
    double depth = kiln_v3_dot(kiln_v3_sub(at(f, v[2]), at(f, v[0])), across) / length;
    uint32_t face = f->sheets.side[0].faces.data[a->f[0]].face;
    return offer(f, v, depth, f->txn->mesh->face[face].at / 4);
}

static kiln_status find_cells(filling *f)
{
    f->cells.count = 0;
    KILN_TRY(offer_on_faces(f, 0));
    KILN_TRY(offer_on_faces(f, 1));
    const kiln_sheet *side = f->sheets.side;
    for (size_t i = 0; i < side[0].edges.count; i++)
        for (size_t k = 0; k < side[1].edges.count; k++)
            KILN_TRY(offer_on_edges(f, &side[0].edges.data[i], &side[1].edges.data[k]));
    return KILN_OK;
}

static triangle name_triangle(const uint32_t v[3], uint32_t where, uint32_t face)
{
    triangle t = {{v[0], v[1], v[2]}, where, face};
    for (int i = 1; i < 3; i++)
        for (int k = i; k > 0 && t.v[k - 1] > t.v[k]; k--) {
            uint32_t other = t.v[k];
            t.v[k] = t.v[k - 1];
            t.v[k - 1] = other;
        }
    return t;
}

static int by_corners(const void *p, const void *q)
{
    const triangle *a = p, *b = q;
    for (int k = 0; k < 3; k++)
        if (a->v[k] != b->v[k])
            return a->v[k] < b->v[k] ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static bool is_same(const triangle *a, const triangle *b)
{
    return memcmp(a->v, b->v, sizeof a->v) == 0;
}

static kiln_status name_triangles(filling *f)
{
    f->triangles.count = 0;
    for (uint32_t i = 0; i < 4 * f->cells.count; i++) {
        const cell *c = &f->cells.data[i / 4];
        const uint8_t *k = kiln_face_corner[i % 4];
        const uint32_t v[3] = {c->v[k[0]], c->v[k[1]], c->v[k[2]]};
        if (!c->gone)
            KILN_TRY(
                kiln_array_push(f->context, &f->triangles, name_triangle(v, i, KILN_NONE), NULL));
    }
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < f->sheets.side[side].faces.count; i++) {
            const kiln_sheet_face *face = &f->sheets.side[side].faces.data[i];
            const uint32_t v[3] = {row(f, side, face->v[0])->id, row(f, side, face->v[1])->id,
                                   row(f, side, face->v[2])->id};
            KILN_TRY(kiln_array_push(f->context, &f->triangles,
                                     name_triangle(v, KILN_NONE, face->face), NULL));
        }
    qsort(f->triangles.data, f->triangles.count, sizeof *f->triangles.data, by_corners);
    return KILN_OK;
}

static double area_of(const filling *f, const triangle *t)
{
    const kiln_vec3 *x = f->txn->mesh->x;
    return 0.5 * kiln_v3_norm(kiln_v3_cross(kiln_v3_sub(x[t->v[1]], x[t->v[0]]),
                                            kiln_v3_sub(x[t->v[2]], x[t->v[0]])));
}

/* Sorted triangles with the same corners, from `i` on. */
static size_t same_from(const filling *f, size_t i)
{
    size_t next = i + 1;
    while (next < f->triangles.count && is_same(&f->triangles.data[i], &f->triangles.data[next]))
        next++;
    return next;
}

/* Which cells hang together; what each group covers of the sheets and uncovers. */
static kiln_status find_groups(filling *f)
{
    KILN_TRY(start_roots(f, f->cells.count));
    for (size_t i = 0, next; i < f->triangles.count; i = next) {
        next = same_from(f, i);
        if (next > i + 1 && f->triangles.data[i + 1].at != KILN_NONE)
            unite(f, f->triangles.data[i].at / 4, f->triangles.data[i + 1].at / 4);
    }
    KILN_TRY(kiln_array_reserve(f->context, &f->covered, f->cells.count + 1, NULL));
    KILN_TRY(kiln_array_reserve(f->context, &f->uncovered, f->cells.count + 1, NULL));
    for (uint32_t i = 0; i < f->cells.count; i++) {
        f->cells.data[i].group = root_of(f, i);
        f->covered.data[i] = f->uncovered.data[i] = 0.0;
    }
    f->walls.count = 0;
    for (size_t i = 0, next; i < f->triangles.count; i = next) {
        const triangle *t = &f->triangles.data[i];
        next = same_from(f, i);
        if (t->at == KILN_NONE)
            continue;
        uint32_t group = f->cells.data[t->at / 4].group;
        if (next == i + 1) {
            f->uncovered.data[group] += area_of(f, t);
            KILN_TRY(kiln_array_push(f->context, &f->walls, *t, NULL));
        } else if (t[1].at == KILN_NONE) {
            f->covered.data[group] += area_of(f, t);
        }
    }
    return KILN_OK;
}

/* Groups that do not make the surface less by enough go. */
static bool drop_poor_groups(filling *f)
{
    bool dropped = false;
    for (size_t i = 0; i < f->cells.count; i++) {
        cell *c = &f->cells.data[i];
        if (!c->gone &&
            !(f->uncovered.data[c->group] < f->gap->most_area * f->covered.data[c->group]))
            c->gone = dropped = true;
    }
    return dropped;
}

static size_t cells_left(const filling *f)
{
    size_t left = 0;
    for (size_t i = 0; i < f->cells.count; i++)
        left += !f->cells.data[i].gone;
    return left;
}

/* Walls hang together once for each group: otherwise room would be shut in. */
static kiln_verdict judge_walls(filling *f)
{
    size_t rings = 0, groups = 0;
    if (start_roots(f, f->walls.count) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    for (uint32_t i = 0; i < f->walls.count; i++)
        for (uint32_t k = 0; k < i; k++) {
            int common = 0;
            for (int m = 0; m < 9; m++)
                common += f->walls.data[i].v[m / 3] == f->walls.data[k].v[m % 3];
            if (common > 0)
                unite(f, i, k);
        }
    for (uint32_t i = 0; i < f->walls.count; i++)
        rings += f->root.data[i] == i;
    for (uint32_t i = 0; i < f->cells.count; i++)
        groups += !f->cells.data[i].gone && f->cells.data[i].group == i;
    return rings > groups ? KILN_REFUSED_JUDGED : KILN_ACCEPTED;
}

static uint32_t face_opposite(const cell *c, const triangle *t)
{
    uint32_t k = 0;
    while (c->v[k] == t->v[0] || c->v[k] == t->v[1] || c->v[k] == t->v[2])
        k++;
    return k;
}

/* The cells as one change of the mesh. */
static kiln_verdict put_in(filling *f, kiln_txn *txn)
{
    const kiln_mesh *mesh = txn->mesh;
    kiln_cavity_list *list = &f->list;
    list->old.count = list->fresh.count = list->surface.count = list->opened.count =
        list->glued.count = 0;
    if (start_roots(f, f->cells.count) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    for (size_t i = 0; i < f->cells.count; i++) {
        const cell *c = &f->cells.data[i];
        if (c->gone)
            continue;
        kiln_new_tet tet = {.parent = c->parent, .slot = KILN_NONE};
        memcpy(tet.v, c->v, sizeof tet.v);
        f->root.data[i] = kiln_cavity_list_new(list, tet); /* its place in the list */
    }
    int32_t tag = mesh->face[f->gap->face].tag;
    for (size_t i = 0, next; i < f->triangles.count; i = next) {
        const triangle *t = &f->triangles.data[i];
        next = same_from(f, i);
        if (t->at == KILN_NONE || next == i + 1 || t[1].at != KILN_NONE)
            continue;
        const cell *c = &f->cells.data[t->at / 4];
        kiln_cavity_list_glued(list, (kiln_glue_face){.tet = f->root.data[t->at / 4],
                                                      .face = face_opposite(c, t),
                                                      .outside = mesh->face[t[1].face].at});
    }
    kiln_cavity_list_close(list, tag);
    return kiln_cavity_list_replace(list, txn, KILN_CAVITY_ANY);
}

/* Cells at a vertex where the surface would be no manifold go: those at an edge, or those that
 * cover no face there, or else all. */
static void drop_at(filling *f, uint32_t vertex, uint32_t other)
{
    bool some = false;
    for (int way = 0; way < 2 && !some; way++)
        for (size_t i = 0; i < f->cells.count; i++) {
            cell *c = &f->cells.data[i];
            bool has = false, with = other == KILN_NONE, covers = false;
            for (int k = 0; k < 4; k++) {
                has |= c->v[k] == vertex;
                with |= c->v[k] == other;
            }
            if (c->gone || !has || !with)
                continue;
            for (size_t t = 0; way == 0 && t + 1 < f->triangles.count; t++) {
                const triangle *at = &f->triangles.data[t];
                covers |= at->at / 4 == i && at->at != KILN_NONE && at[1].at == KILN_NONE &&
                          is_same(at, at + 1) &&
                          (at->v[0] == vertex || at->v[1] == vertex || at->v[2] == vertex);
            }
            if (!covers)
                c->gone = some = true;
        }
}

/* Looks at all corners of what was put in. */
static kiln_verdict examine(filling *f, bool *fine)
{
    kiln_walker *walker = &f->list.walker;
    *fine = true;
    for (size_t i = 0; i < 4 * f->list.fresh.count; i++) {
        kiln_vertex_state state;
        uint32_t other = KILN_NONE, vertex = f->list.fresh.data[i / 4].v[i % 4];
        if (kiln_vertex_examine(f->txn->mesh, vertex, walker, &state, &other, NULL) != KILN_OK)
            return KILN_REFUSED_MEMORY;
        if (state == KILN_VERTEX_MANIFOLD)
            continue;
        *fine = false;
        drop_at(f, vertex, state == KILN_VERTEX_EDGE_SPLIT ? other : KILN_NONE);
    }
    return KILN_ACCEPTED;
}

/* The cells that are left, if the surface is one with them; otherwise some of them go. */
static kiln_verdict try_cells(filling *f, bool *fine)
{
    *fine = false;
    do {
        if (name_triangles(f) != KILN_OK || find_groups(f) != KILN_OK)
            return KILN_REFUSED_MEMORY;
    } while (drop_poor_groups(f));
    if (cells_left(f) == 0)
        return KILN_REFUSED_JUDGED;
    kiln_txn inner = kiln_txn_begin(f->txn->mesh);
    if (inner.depth == 0)
        return KILN_REFUSED_MEMORY;
    kiln_verdict verdict = put_in(f, &inner);
    if (verdict == KILN_ACCEPTED)
        verdict = examine(f, fine);
    if (verdict == KILN_ACCEPTED && *fine)
        verdict = judge_walls(f);
    if (verdict == KILN_ACCEPTED && *fine)
        return kiln_txn_settle(&inner, verdict);
    kiln_txn_rollback(&inner);
    return verdict;
}

static int shortest_first(const void *p, const void *q)
{
    const kiln_gap_edge *a = p, *b = q;
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    return a->a != b->a ? (a->a > b->a ? 1 : -1) : (a->b > b->b) - (a->b < b->b);
}

/* Edges of what was put in that go across and are short. */
static kiln_status list_edges(filling *f)
{
    f->edges.count = 0;
    for (size_t i = 0; i < 16 * f->list.fresh.count; i++) {
        const uint32_t *v = f->list.fresh.data[i / 16].v;
        uint32_t a = v[i % 16 / 4], b = v[i % 4];
        const kiln_sheet *side = f->sheets.side;
        if (!kiln_idset_has(&side[0].number, a) || !kiln_idset_has(&side[1].number, b) ||
            kiln_idset_has(&side[0].number, b) || kiln_idset_has(&side[1].number, a))
            continue;
        double length = kiln_v3_norm(kiln_v3_sub(f->txn->mesh->x[a], f->txn->mesh->x[b]));
        uint32_t at = kiln_idset_at(&side[0].number, a)->value;
        if (length < CLOSE * row(f, 0, at)->length)
            KILN_TRY(kiln_array_push(f->context, &f->edges, ((kiln_gap_edge){a, b, length}), NULL));
    }
    if (f->edges.count > 1)
        qsort(f->edges.data, f->edges.count, sizeof *f->edges.data, shortest_first);
    return KILN_OK;
}

/* Tets beside what was put in count as changed: transfer hands on to it what they have. */
static kiln_verdict touch_beside(filling *f)
{
    const kiln_mesh *mesh = f->txn->mesh;
    kiln_verdict verdict = KILN_ACCEPTED;
    for (size_t i = 0; i < 4 * f->list.fresh.count && verdict == KILN_ACCEPTED; i++) {
        uint32_t v = f->list.fresh.data[i / 4].v[i % 4];
        verdict = kiln_txn_move_vertex(f->txn, v, mesh->u[v], mesh->x[v]);
    }
    return verdict;
}

static void add_up(filling *f)
{
    const kiln_mesh *mesh = f->txn->mesh;
    f->report->tets = (uint32_t)f->list.made.count;
    for (size_t i = 0; i < f->list.fresh.count; i++) {
        const uint32_t *v = f->list.fresh.data[i].v;
        f->report->volume +=
            kiln_tet_volume(mesh->x[v[0]], mesh->x[v[1]], mesh->x[v[2]], mesh->x[v[3]]);
    }
    for (size_t i = 0; i < f->cells.count; i++)
        if (!f->cells.data[i].gone && f->cells.data[i].group == i) {
            f->report->covered += f->covered.data[i];
            f->report->uncovered += f->uncovered.data[i];
        }
}

static kiln_verdict note_seen(const filling *f, kiln_u32_array *seen)
{
    for (int side = 0; seen && side < 2; side++)
        for (size_t i = 0; i < f->sheets.side[side].vertices.count; i++)
            if (kiln_array_push(f->context, seen, row(f, side, (uint32_t)i)->id, NULL) != KILN_OK)
                return KILN_REFUSED_MEMORY;
    return KILN_ACCEPTED;
}

static kiln_verdict fill(filling *f, kiln_u32_array *seen)
{
    bool fine = false;
    kiln_verdict verdict = kiln_sheets_find(&f->sheets);
    if (verdict != KILN_REFUSED_MEMORY && note_seen(f, seen) != KILN_ACCEPTED)
        verdict = KILN_REFUSED_MEMORY;
    if (verdict == KILN_ACCEPTED && find_cells(f) != KILN_OK)
        verdict = KILN_REFUSED_MEMORY;
    for (int round = 0; verdict == KILN_ACCEPTED && !fine; round++)
        verdict = round < ROUNDS ? try_cells(f, &fine) : KILN_REFUSED_NON_MANIFOLD;
    if (verdict == KILN_ACCEPTED) {
        add_up(f);
        verdict = list_edges(f) == KILN_OK ? touch_beside(f) : KILN_REFUSED_MEMORY;
    }
    if (verdict == KILN_ACCEPTED)
        verdict = kiln_gap_close(f->txn, f->edges.data, f->edges.count);
    return verdict;
}

kiln_verdict kiln_gap_fill(kiln_txn *txn, const kiln_gap *gap, kiln_u32_array *seen,
                           kiln_gap_report *report)
{
    filling f = {.context = txn->mesh->context,
                 .txn = txn,
                 .gap = gap,
                 .sheets = {.mesh = txn->mesh, .gap = gap},
                 .report = report};
    *report = (kiln_gap_report){0};
    kiln_cavity_list_init(&f.list, f.context);
    kiln_verdict verdict = fill(&f, seen);
    kiln_sheets_free(&f.sheets);
    kiln_cavity_list_free(&f.list);
    kiln_array_free(f.context, &f.cells);
    kiln_array_free(f.context, &f.triangles);
    kiln_array_free(f.context, &f.walls);
    kiln_array_free(f.context, &f.covered);
    kiln_array_free(f.context, &f.uncovered);
    kiln_array_free(f.context, &f.root);
    kiln_array_free(f.context, &f.edges);
    return verdict;
}
