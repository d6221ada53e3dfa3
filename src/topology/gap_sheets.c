/* The two sheets of a gap: which faces they are, where these are in the plane, and heights whose
 * lower hull they are. */
#include "topology/gap_impl.h"

#include <math.h>
#include <stdlib.h>

/* Cosine between the normal of a face and the direction across the gap, at least. */
static const double FACING = 0.5;
/* Of faces beyond those that face something: rings of them, so that cells end outside. */
enum { RINGS = 2, MOST_FACES = 4000, SWEEPS = 400 };
/* Of the square of an edge, how much a face lies below the plane of its neighbour, at least and as
 * asked for while heights are sought. */
static const double BENT = 0.02, WANTED = 0.05;
/* Of an edge: one sheet is shifted by so much against the other, that cells do not end in one
 * another's corners. */
static const double SHIFT[2] = {1.1e-3, 0.7e-3};

void kiln_sheets_free(kiln_sheets *sheets)
{
    kiln_context *context = sheets->mesh->context;
    for (int s = 0; s < 2; s++) {
        kiln_array_free(context, &sheets->side[s].vertices);
        kiln_array_free(context, &sheets->side[s].faces);
        kiln_array_free(context, &sheets->side[s].edges);
        kiln_array_free(context, &sheets->side[s].number.slots);
        kiln_array_free(context, &sheets->side[s].taken.slots);
    }
    kiln_walker_free(&sheets->walker);
}

static void corners(const kiln_mesh *mesh, uint32_t face, uint32_t v[3])
{
    uint32_t at = mesh->face[face].at;
    for (int k = 0; k < 3; k++)
        v[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
}

static kiln_vec3 area_of(const kiln_mesh *mesh, uint32_t face)
{
    uint32_t v[3];
    corners(mesh, face, v);
    return kiln_v3_scale(kiln_v3_cross(kiln_v3_sub(mesh->x[v[1]], mesh->x[v[0]]),
                                       kiln_v3_sub(mesh->x[v[2]], mesh->x[v[0]])),
                         0.5);
}

static bool looks_across(const kiln_sheets *s, int side, uint32_t face)
{
    kiln_vec3 area = area_of(s->mesh, face);
    double along = kiln_v3_dot(area, s->axis[2]) * (side ? -1.0 : 1.0);
    return along > FACING * kiln_v3_norm(area);
}

static bool is_near(const kiln_sheets *s, uint32_t face)
{
    uint32_t v[3];
    corners(s->mesh, face, v);
    return s->gap->near[v[0]] || s->gap->near[v[1]] || s->gap->near[v[2]];
}

static kiln_status take_face(kiln_sheets *s, int side, uint32_t face)
{
    kiln_sheet *sheet = &s->side[side];
    kiln_idset_slot *slot = kiln_idset_at(&sheet->taken, face);
    if (slot->epoch == sheet->taken.epoch)
        return KILN_OK;
    kiln_idset_add(&sheet->taken, slot, face, 0);
    if (2 * (size_t)sheet->taken.members >= sheet->taken.slots.count)
        KILN_TRY(kiln_idset_grow(s->mesh->context, &sheet->taken, NULL));
    return kiln_array_push(s->mesh->context, &sheet->faces, (kiln_sheet_face){.face = face}, NULL);
}

/* The neighbours of the faces from `first` on that are in the list now, or as they come. */
static kiln_status grow(kiln_sheets *s, int side, size_t first, bool all)
{
    kiln_sheet *sheet = &s->side[side];
    size_t last = sheet->faces.count;
    for (size_t i = first; i < (all ? sheet->faces.count : last); i++) {
        uint32_t v[3];
        corners(s->mesh, sheet->faces.data[i].face, v);
        for (int k = 0; k < 3 && sheet->faces.count < MOST_FACES; k++) {
            uint32_t next =
                kiln_surface_across(s->mesh, sheet->faces.data[i].face, v[k], v[(k + 1) % 3]);
            if (looks_across(s, side, next) && (!all || is_near(s, next)))
                KILN_TRY(take_face(s, side, next));
        }
    }
    return KILN_OK;
}

static kiln_status gather(kiln_sheets *s, int side, uint32_t seed, int rings)
{
    kiln_sheet *sheet = &s->side[side];
    sheet->faces.count = 0;
    KILN_TRY(kiln_idset_clear(s->mesh->context, &sheet->taken, 64, NULL));
    KILN_TRY(take_face(s, side, seed));
    KILN_TRY(grow(s, side, 0, true));
    size_t first = 0;
    for (int ring = 0; ring < rings; ring++) {
        size_t last = sheet->faces.count;
        KILN_TRY(grow(s, side, first, false));
        first = last;
    }
    return KILN_OK;
}

static void set_axes(kiln_sheets *s, kiln_vec3 across, kiln_vec3 aside)
{
    s->axis[2] = kiln_v3_normalize(across);
    s->axis[0] =
        kiln_v3_normalize(kiln_v3_madd(aside, -kiln_v3_dot(aside, s->axis[2]), s->axis[2]));
    s->axis[1] = kiln_v3_cross(s->axis[2], s->axis[0]);
}

static kiln_vec3 sum_of_areas(const kiln_sheets *s, int side)
{
    kiln_vec3 sum = {0, 0, 0};
    for (size_t i = 0; i < s->side[side].faces.count; i++)
        sum = kiln_v3_add(sum, area_of(s->mesh, s->side[side].faces.data[i].face));
    return sum;
}

/* A face at the vertex of the gap, the one that looks at the other side most. */
static kiln_status first_face(kiln_sheets *s, uint32_t *first)
{
    const kiln_mesh *mesh = s->mesh;
    uint32_t vertex = s->gap->vertex;
    kiln_vec3 across = area_of(mesh, s->gap->face);
    double best = INFINITY;
    *first = KILN_NONE;
    KILN_TRY(kiln_star(mesh, vertex, &s->walker, NULL));
    for (size_t i = 0; i < 4 * s->walker.tets.count; i++) {
        const kiln_tet *tet = &mesh->tet[s->walker.tets.data[i / 4]];
        kiln_link link = tet->n[i % 4];
        if (!kiln_link_is_surface(link) || tet->v[i % 4] == vertex)
            continue;
        kiln_vec3 area = area_of(mesh, link - KILN_LINK_SURFACE);
        double along = kiln_v3_dot(area, across) / kiln_v3_norm(area);
        if (along < best || (along == best && link - KILN_LINK_SURFACE < *first)) {
            best = along;
            *first = link - KILN_LINK_SURFACE;
        }
    }
    return KILN_OK;
}

/* Twice: the second time along what the first has found to be the direction across. */
static kiln_verdict find_faces(kiln_sheets *s)
{
    const kiln_mesh *mesh = s->mesh;
    uint32_t seed[2] = {KILN_NONE, s->gap->face}, v[3];
    if (first_face(s, &seed[0]) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    if (seed[0] == KILN_NONE)
        return KILN_REFUSED_JUDGED;
    corners(mesh, seed[0], v);
    kiln_vec3 aside = kiln_v3_sub(mesh->x[v[1]], mesh->x[v[0]]);
    kiln_vec3 across = kiln_v3_sub(kiln_v3_normalize(area_of(mesh, seed[0])),
                                   kiln_v3_normalize(area_of(mesh, seed[1])));
    for (int round = 0; round < 2; round++) {
        set_axes(s, across, aside);
        for (int side = 0; side < 2; side++) {
            if (!looks_across(s, side, seed[side]))
                return KILN_REFUSED_JUDGED;
            if (gather(s, side, seed[side], round ? RINGS : 0) != KILN_OK)
                return KILN_REFUSED_MEMORY;
        }
        across = kiln_v3_sub(sum_of_areas(s, 0), sum_of_areas(s, 1));
    }
    bool large = s->side[0].faces.count >= MOST_FACES || s->side[1].faces.count >= MOST_FACES;
    return large ? KILN_REFUSED_JUDGED : KILN_ACCEPTED;
}

static kiln_status number_vertex(kiln_sheets *s, int side, uint32_t id, uint32_t *row)
{
    kiln_sheet *sheet = &s->side[side];
    kiln_idset_slot *slot = kiln_idset_at(&sheet->number, id);
    if (slot->epoch == sheet->number.epoch) {
        *row = slot->value;
        return KILN_OK;
    }
    *row = (uint32_t)sheet->vertices.count;
    kiln_vec3 p = kiln_v3_sub(s->mesh->x[id], s->origin);
    kiln_sheet_vertex vertex = {.id = id,
                                .p = {kiln_v3_dot(p, s->axis[0]), kiln_v3_dot(p, s->axis[1])}};
    vertex.height = vertex.p[0] * vertex.p[0] + vertex.p[1] * vertex.p[1];
    kiln_idset_add(&sheet->number, slot, id, *row);
    if (2 * (size_t)sheet->number.members >= sheet->number.slots.count)
        KILN_TRY(kiln_idset_grow(s->mesh->context, &sheet->number, NULL));
    return kiln_array_push(s->mesh->context, &sheet->vertices, vertex, NULL);
}

static kiln_status number_vertices(kiln_sheets *s, int side)
{
    kiln_sheet *sheet = &s->side[side];
    sheet->vertices.count = 0;
    KILN_TRY(kiln_idset_clear(s->mesh->context, &sheet->number, 64, NULL));
    for (size_t i = 0; i < sheet->faces.count; i++) {
        uint32_t v[3];
        corners(s->mesh, sheet->faces.data[i].face, v);
        for (int k = 0; k < 3; k++)
            KILN_TRY(number_vertex(s, side, v[side ? 2 - k : k], &sheet->faces.data[i].v[k]));
    }
    return KILN_OK;
}

typedef struct half_edge {
    uint32_t low, high, face;
    bool forward;
} half_edge;

static int by_ends(const void *p, const void *q)
{
    const half_edge *a = p, *b = q;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    if (a->high != b->high)
        return a->high < b->high ? -1 : 1;
    return a->forward != b->forward ? (a->forward ? -1 : 1)
                                    : (a->face > b->face) - (a->face < b->face);
}

static double distance(const kiln_sheet *sheet, uint32_t a, uint32_t b)
{
    const double *p = sheet->vertices.data[a].p, *q = sheet->vertices.data[b].p;
    return hypot(p[0] - q[0], p[1] - q[1]);
}

/* Pairs of half edges; and the mean length at each vertex. */
static kiln_status pair_up(kiln_sheets *s, kiln_sheet *sheet, half_edge *half, size_t count)
{
    size_t vertices = sheet->vertices.count;
    kiln_f64_array weight = {0};
    KILN_TRY(kiln_array_reserve(s->mesh->context, &weight, vertices + 1, NULL));
    for (size_t v = 0; v < vertices; v++)
        weight.data[v] = 0.0;
    qsort(half, count, sizeof *half, by_ends);
    sheet->edges.count = 0;
    kiln_status status = KILN_OK;
    for (size_t i = 0, next; i < count && status == KILN_OK; i = next) {
        bool two =
            i + 1 < count && half[i + 1].low == half[i].low && half[i + 1].high == half[i].high;
        next = i + (two ? 2 : 1);
        double length = distance(sheet, half[i].low, half[i].high);
        const uint32_t ends[2] = {half[i].low, half[i].high};
        for (int k = 0; k < 2; k++) {
            sheet->vertices.data[ends[k]].length += length;
            weight.data[ends[k]]++;
        }
        kiln_sheet_edge edge = {{ends[0], ends[1]}, {half[i].face, half[next - 1].face}};
        if (two)
            status = kiln_array_push(s->mesh->context, &sheet->edges, edge, NULL);
    }
    for (size_t v = 0; v < vertices; v++)
        sheet->vertices.data[v].length /= fmax(1.0, weight.data[v]);
    kiln_array_free(s->mesh->context, &weight);
    return status;
}

static kiln_status find_edges(kiln_sheets *s, int side)
{
    kiln_sheet *sheet = &s->side[side];
    KILN_ARRAY_OF(half_edge)
    half = {0};
    KILN_TRY(kiln_array_reserve(s->mesh->context, &half, 3 * sheet->faces.count + 1, NULL));
    for (size_t i = 0; i < 3 * sheet->faces.count; i++) {
        const uint32_t *v = sheet->faces.data[i / 3].v;
        uint32_t a = v[i % 3], b = v[(i + 1) % 3];
        half.data[half.count++] =
            (half_edge){a < b ? a : b, a < b ? b : a, (uint32_t)(i / 3), a < b};
    }
    kiln_status status = pair_up(s, sheet, half.data, half.count);
    kiln_array_free(s->mesh->context, &half);
    return status;
}

/* Weights of the corners of face `f` at a point; false: it is turned or flat. */
static bool weights(const kiln_sheet *sheet, const kiln_sheet_face *f, const double p[2],
                    double out[3])
{
    const double *a = sheet->vertices.data[f->v[0]].p, *b = sheet->vertices.data[f->v[1]].p;
    const double *c = sheet->vertices.data[f->v[2]].p;
    double area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    out[1] = ((p[0] - a[0]) * (c[1] - a[1]) - (p[1] - a[1]) * (c[0] - a[0])) / area;
    out[2] = ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])) / area;
    out[0] = 1.0 - out[1] - out[2];
    return area > 0.0;
}

static uint32_t apex_of(const kiln_sheet_face *f, const kiln_sheet_edge *edge)
{
    for (int k = 0; k < 3; k++)
        if (f->v[k] != edge->v[0] && f->v[k] != edge->v[1])
            return f->v[k];
    return f->v[0];
}

/* Moves the heights round an edge so that the far corner of the one face lies above the plane of
 * the other. Returns how far it did before, of the square of the edge. */
static double bend(kiln_sheet *sheet, const kiln_sheet_edge *edge, bool *turned)
{
    const kiln_sheet_face *f = &sheet->faces.data[edge->f[0]];
    uint32_t far = apex_of(&sheet->faces.data[edge->f[1]], edge);
    kiln_sheet_vertex *apex = &sheet->vertices.data[far];
    double w[3], above = apex->height, sum = 1.0, unit = distance(sheet, edge->v[0], edge->v[1]);
    if (!weights(sheet, f, apex->p, w)) {
        *turned = true;
        return 0.0;
    }
    for (int k = 0; k < 3; k++) {
        above -= w[k] * sheet->vertices.data[f->v[k]].height;
        sum += w[k] * w[k];
    }
    double lacks = WANTED * unit * unit - above;
    if (lacks > 0.0) {
        apex->height += lacks / sum;
        for (int k = 0; k < 3; k++)
            sheet->vertices.data[f->v[k]].height -= w[k] * lacks / sum;
    }
    return above / (unit * unit);
}

static bool find_heights(kiln_sheet *sheet)
{
    bool turned = false;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double least = INFINITY;
        for (size_t e = 0; e < sheet->edges.count; e++)
            least = fmin(least, bend(sheet, &sheet->edges.data[e], &turned));
        if (turned)
            return false;
        if (least >= BENT)
            return true;
    }
    return false;
}

static void find_gradients(kiln_sheet *sheet, const double shift[2])
{
    for (size_t i = 0; i < sheet->faces.count; i++) {
        kiln_sheet_face *f = &sheet->faces.data[i];
        const kiln_sheet_vertex *v[3];
        for (int k = 0; k < 3; k++)
            v[k] = &sheet->vertices.data[f->v[k]];
        double ax = v[1]->p[0] - v[0]->p[0], ay = v[1]->p[1] - v[0]->p[1];
        double bx = v[2]->p[0] - v[0]->p[0], by = v[2]->p[1] - v[0]->p[1];
        double ha = v[1]->height - v[0]->height, hb = v[2]->height - v[0]->height;
        double area = ax * by - ay * bx;
        f->gradient[0] = (ha * by - hb * ay) / area + shift[0];
        f->gradient[1] = (hb * ax - ha * bx) / area + shift[1];
    }
}

kiln_verdict kiln_sheets_find(kiln_sheets *sheets)
{
    static const double none[2] = {0.0, 0.0};
    sheets->origin = sheets->mesh->x[sheets->gap->vertex];
    kiln_walker_init(&sheets->walker, sheets->mesh->context);
    kiln_verdict verdict = find_faces(sheets);
    for (int side = 0; side < 2 && verdict == KILN_ACCEPTED; side++) {
        kiln_sheet *sheet = &sheets->side[side];
        if (number_vertices(sheets, side) != KILN_OK || find_edges(sheets, side) != KILN_OK)
            return KILN_REFUSED_MEMORY;
        if (!find_heights(sheet))
            return KILN_REFUSED_JUDGED;
        double length = sheet->vertices.data[0].length;
        const double shift[2] = {SHIFT[0] * length, SHIFT[1] * length};
        find_gradients(sheet, side ? shift : none);
        /* Heights go along with the shift. */
        for (size_t v = 0; side && v < sheet->vertices.count; v++) {
            kiln_sheet_vertex *vertex = &sheet->vertices.data[v];
            vertex->height += shift[0] * vertex->p[0] + shift[1] * vertex->p[1];
        }
    }
    return verdict;
}
