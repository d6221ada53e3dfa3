#include "mesh/classify.h"
#include "mesh/journal_impl.h"
#include "mesh/rewind.h"
#include "mesh/walk.h"

#include <string.h>

enum { RING_ROOM = 256 };

/* Feature edges at a vertex: how many, and the far ends of the first two. */
typedef struct feature_ends {
    uint32_t count, end[2];
} feature_ends;

typedef struct classifier {
    kiln_mesh *mesh;
    double cosine;
    feature_ends *ends; /* [vertex] */
    uint32_t *flags;    /* [vertex] to be */
    kiln_u32_array ring;
} classifier;

static kiln_status write_word(kiln_mesh *mesh, kiln_word word, uint32_t index, uint32_t value,
                              kiln_error *error)
{
    uint32_t *address = kiln_word_address(mesh, word, index);
    if (*address == value)
        return KILN_OK;
    if (mesh->journal->marks.count == 0) {
        *address = value;
        return KILN_OK;
    }
    KILN_TRY(kiln_journal_reserve(mesh, 0, 0, 0, 1, error));
    kiln_journal_set(mesh, word, index, value);
    return KILN_OK;
}

static kiln_vec3 face_normal(const kiln_mesh *mesh, uint32_t at)
{
    const uint32_t *v = mesh->tet[at / 4].v;
    const uint8_t *c = kiln_face_corner[at % 4];
    kiln_vec3 a = mesh->u[v[c[0]]];
    return kiln_v3_normalize(
        kiln_v3_cross(kiln_v3_sub(mesh->u[v[c[1]]], a), kiln_v3_sub(mesh->u[v[c[2]]], a)));
}

static kiln_status load_ring(classifier *c, uint32_t tet, uint32_t a, uint32_t b, kiln_ring *ring,
                             kiln_error *error)
{
    *ring = kiln_edge_ring(c->mesh, tet, a, b, c->ring.data, (uint32_t)c->ring.capacity);
    if (ring->count > c->ring.capacity) {
        KILN_TRY(kiln_array_reserve(c->mesh->context, &c->ring, ring->count, error));
        kiln_edge_ring(c->mesh, tet, a, b, c->ring.data, ring->count);
    }
    return KILN_OK;
}

/* The face by which an open ring begins: the one that contains the edge and is not the first exit.
 */
static uint32_t ring_entry(const kiln_mesh *mesh, uint32_t first, uint32_t va, uint32_t vb)
{
    const kiln_tet *tet = &mesh->tet[first / 4];
    uint32_t entry = 0;
    while (entry == first % 4 || tet->v[entry] == va || tet->v[entry] == vb)
        entry++;
    return kiln_link_to(first / 4, entry);
}

/* The special faces round the edge: surface faces (both ends of an open ring) and interfaces. */
typedef struct sheets {
    uint32_t count;
    uint32_t face[4]; /* tet*4+face, the first few */
    bool tags_differ;
} sheets;

static sheets find_sheets(const kiln_mesh *mesh, const uint32_t *ring, kiln_ring shape, uint32_t va,
                          uint32_t vb)
{
    sheets s = {0};
    int32_t tag = 0;
    if (!shape.closed) {
        uint32_t at = ring_entry(mesh, ring[0], va, vb);
        s.face[s.count++] = at;
        tag = mesh->face[mesh->tet[at / 4].n[at % 4] - KILN_LINK_SURFACE].tag;
    }
    for (uint32_t i = 0; i < shape.count; i++) {
        kiln_link link = mesh->tet[ring[i] / 4].n[ring[i] % 4];
        bool surface = kiln_link_is_surface(link);
        if (!surface && !kiln_link_is_interface(mesh, ring[i] / 4, link))
            continue;
        if (surface)
            s.tags_differ = mesh->face[link - KILN_LINK_SURFACE].tag != tag;
        if (s.count < 4)
            s.face[s.count] = ring[i];
        s.count++;
    }
    return s;
}

/* Two sheets that continue each other smoothly are no feature. Normals: outward at the surface,
 * from one region to the other at an interface, hence opposite in the ring's order. */
static bool is_feature(const classifier *c, const sheets *s, bool closed)
{
    if (s->count != 2 || s->tags_differ)
        return s->count > 0;
    kiln_vec3 first = face_normal(c->mesh, s->face[0]), second = face_normal(c->mesh, s->face[1]);
    double dot = kiln_v3_dot(first, second);
    return (closed ? -dot : dot) < c->cosine;
}

static void note_end(classifier *c, uint32_t vertex, uint32_t other)
{
    feature_ends *ends = &c->ends[vertex];
    if (ends->count < 2)
        ends->end[ends->count] = other;
    ends->count++;
    c->flags[vertex] |= KILN_VERTEX_FEATURE;
}

/* Classifies the edge if `at` is the lowest special face round it, so that each edge is done once.
 */
static kiln_status classify_edge(classifier *c, uint32_t at, int side, kiln_error *error)
{
    kiln_mesh *mesh = c->mesh;
    const uint8_t *corner = kiln_face_corner[at % 4];
    uint32_t a = corner[side], b = corner[(side + 1) % 3], tet = at / 4;
    uint32_t va = mesh->tet[tet].v[a], vb = mesh->tet[tet].v[b];
    kiln_ring shape;
    KILN_TRY(load_ring(c, tet, a, b, &shape, error));
    const uint32_t *ring = c->ring.data;
    /* Lowest of the special faces, an interface counted by the lower of its two names. */
    uint32_t lowest = shape.closed ? KILN_NONE : ring_entry(mesh, ring[0], va, vb);
    for (uint32_t i = 0; i < shape.count; i++) {
        kiln_link link = mesh->tet[ring[i] / 4].n[ring[i] % 4];
        bool surface = kiln_link_is_surface(link);
        if (!surface && !kiln_link_is_interface(mesh, ring[i] / 4, link))
            continue;
        uint32_t name = surface || ring[i] < link ? ring[i] : link;
        lowest = name < lowest ? name : lowest;
    }
    if (lowest != at)
        return KILN_OK;
    uint32_t e = kiln_edge_of[a][b];
    bool feature = (mesh->info[tet].marks >> (KILN_MARK_FEATURE_EDGE + e)) & 1;
    if (!feature) {
        sheets s = find_sheets(mesh, ring, shape, va, vb);
        feature = is_feature(c, &s, shape.closed);
    }
    if (!feature)
        return KILN_OK;
    for (uint32_t i = 0; i < shape.count; i++) {
        const kiln_tet *record = &mesh->tet[ring[i] / 4];
        uint32_t local = kiln_edge_of[kiln_tet_corner(record, va)][kiln_tet_corner(record, vb)];
        uint32_t marks = mesh->info[ring[i] / 4].marks | 1u << (KILN_MARK_FEATURE_EDGE + local);
        KILN_TRY(write_word(mesh, KILN_WORD_TET_MARKS, ring[i] / 4, marks, error));
    }
    note_end(c, va, vb);
    note_end(c, vb, va);
    return KILN_OK;
}

/* A feature line that the user drew inside a region: no face leads to it, so its edges are noted
 * from the lowest of their tets. */
static kiln_status note_inside_edge(classifier *c, uint32_t t, uint32_t edge, kiln_error *error)
{
    const kiln_mesh *mesh = c->mesh;
    uint32_t a = kiln_edge_ends[edge][0], b = kiln_edge_ends[edge][1];
    kiln_ring shape;
    KILN_TRY(load_ring(c, t, a, b, &shape, error));
    bool noted_here = shape.closed;
    for (uint32_t i = 0; i < shape.count && noted_here; i++) {
        uint32_t tet = c->ring.data[i] / 4;
        noted_here = tet >= t && mesh->info[tet].region == mesh->info[t].region;
    }
    if (noted_here) {
        note_end(c, mesh->tet[t].v[a], mesh->tet[t].v[b]);
        note_end(c, mesh->tet[t].v[b], mesh->tet[t].v[a]);
    }
    return KILN_OK;
}

static void mark_corners(classifier *c)
{
    kiln_mesh *mesh = c->mesh;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        const feature_ends *ends = &c->ends[v];
        if (!kiln_vertex_live(mesh, v) || ends->count == 0)
            continue;
        bool corner = ends->count != 2;
        if (!corner) {
            kiln_vec3 in = kiln_v3_normalize(kiln_v3_sub(mesh->u[v], mesh->u[ends->end[0]]));
            kiln_vec3 out = kiln_v3_normalize(kiln_v3_sub(mesh->u[ends->end[1]], mesh->u[v]));
            corner = kiln_v3_dot(in, out) < c->cosine;
        }
        if (corner)
            c->flags[v] |= KILN_VERTEX_CORNER;
    }
}

static kiln_status classify_all(classifier *c, kiln_error *error)
{
    kiln_mesh *mesh = c->mesh;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        for (uint32_t f = 0; f < 4; f++) {
            kiln_link link = mesh->tet[t].n[f];
            uint32_t flag = 0;
            if (kiln_link_is_surface(link))
                flag = KILN_VERTEX_SURFACE;
            else if (kiln_link_is_interface(mesh, t, link) && kiln_link_to(t, f) < link)
                flag = KILN_VERTEX_INTERFACE;
            if (!flag)
                continue;
            for (int k = 0; k < 3; k++)
                c->flags[mesh->tet[t].v[kiln_face_corner[f][k]]] |= flag;
            for (int side = 0; side < 3; side++)
                KILN_TRY(classify_edge(c, kiln_link_to(t, f), side, error));
        }
    }
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        uint32_t features =
            kiln_tet_live(mesh, t) ? mesh->info[t].marks >> KILN_MARK_FEATURE_EDGE & 63 : 0;
        for (uint32_t e = 0; features >> e; e++)
            if ((features >> e) & 1)
                KILN_TRY(note_inside_edge(c, t, e, error));
    }
    mark_corners(c);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        KILN_TRY(write_word(mesh, KILN_WORD_VERTEX_FLAGS, v, c->flags[v], error));
    return KILN_OK;
}

kiln_status kiln_mesh_classify(kiln_mesh *mesh, double angle, kiln_error *error)
{
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_VERTEX, ".vertex", KILN_SAVE_COPY, error));
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_TET, ".info", KILN_SAVE_COPY, error));
    uint32_t vertices = mesh->table[KILN_ON_VERTEX].used;
    const uint32_t derived = KILN_VERTEX_SURFACE | KILN_VERTEX_INTERFACE | KILN_VERTEX_FEATURE;
    classifier c = {.mesh = mesh, .cosine = cos(angle)};
    size_t bytes = ((size_t)vertices + 1) * (sizeof *c.ends + sizeof *c.flags);
    c.ends = kiln_resize(mesh->context, NULL, 0, bytes);
    if (!c.ends)
        return kiln_fail_memory(error, bytes);
    memset(c.ends, 0, bytes);
    c.flags = (uint32_t *)(c.ends + vertices + 1);
    for (uint32_t v = 0; v < vertices; v++)
        c.flags[v] = mesh->vertex[v].flags & ~(kiln_vertex_live(mesh, v) ? derived : 0);
    kiln_status status = kiln_array_reserve(mesh->context, &c.ring, RING_ROOM, error);
    if (status == KILN_OK)
        status = classify_all(&c, error);
    kiln_array_free(mesh->context, &c.ring);
    kiln_release(mesh->context, c.ends, bytes);
    return status;
}

/* Lines of smooth surfaces. */

typedef struct line_drawer {
    classifier c;
    const uint8_t *smooth;
    const uint32_t *sheet;
} line_drawer;

static bool is_smooth_edge(const line_drawer *d, uint32_t a, uint32_t b)
{
    return d->smooth[a] && d->smooth[b];
}

static kiln_status forget_lines(line_drawer *d, kiln_error *error)
{
    kiln_mesh *mesh = d->c.mesh;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        uint32_t marks = mesh->info[t].marks;
        if (!kiln_tet_live(mesh, t) || !(marks >> KILN_MARK_FEATURE_EDGE & 63))
            continue;
        for (uint32_t e = 0; e < 6; e++)
            if (is_smooth_edge(d, mesh->tet[t].v[kiln_edge_ends[e][0]],
                               mesh->tet[t].v[kiln_edge_ends[e][1]]))
                marks &= ~(1u << (KILN_MARK_FEATURE_EDGE + e));
        KILN_TRY(write_word(mesh, KILN_WORD_TET_MARKS, t, marks, error));
    }
    return KILN_OK;
}

/* From the lower of its two faces. */
static kiln_status draw_edge(line_drawer *d, uint32_t face, int side, kiln_error *error)
{
    kiln_mesh *mesh = d->c.mesh;
    uint32_t at = mesh->face[face].at, tet = at / 4;
    const uint8_t *corner = kiln_face_corner[at % 4];
    uint32_t a = corner[side], b = corner[(side + 1) % 3];
    uint32_t va = mesh->tet[tet].v[a], vb = mesh->tet[tet].v[b];
    if (!is_smooth_edge(d, va, vb))
        return KILN_OK;
    kiln_ring shape;
    KILN_TRY(load_ring(&d->c, tet, a, b, &shape, error));
    const uint32_t *ring = d->c.ring.data;
    uint32_t first = ring_entry(mesh, ring[0], va, vb), last = ring[shape.count - 1];
    uint32_t one = mesh->tet[first / 4].n[first % 4] - KILN_LINK_SURFACE;
    uint32_t other = mesh->tet[last / 4].n[last % 4] - KILN_LINK_SURFACE;
    if (shape.closed || face != (one < other ? one : other) ||
        (d->sheet[one] == d->sheet[other] && mesh->face[one].tag == mesh->face[other].tag))
        return KILN_OK;
    for (uint32_t i = 0; i < shape.count; i++) {
        const kiln_tet *record = &mesh->tet[ring[i] / 4];
        uint32_t local = kiln_edge_of[kiln_tet_corner(record, va)][kiln_tet_corner(record, vb)];
        uint32_t marks = mesh->info[ring[i] / 4].marks | 1u << (KILN_MARK_FEATURE_EDGE + local);
        KILN_TRY(write_word(mesh, KILN_WORD_TET_MARKS, ring[i] / 4, marks, error));
    }
    note_end(&d->c, va, vb);
    note_end(&d->c, vb, va);
    return KILN_OK;
}

static kiln_status draw_all(line_drawer *d, kiln_error *error)
{
    kiln_mesh *mesh = d->c.mesh;
    KILN_TRY(kiln_array_reserve(mesh->context, &d->c.ring, RING_ROOM, error));
    KILN_TRY(forget_lines(d, error));
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        for (int side = 0; side < 3 && kiln_face_live(mesh, f); side++)
            KILN_TRY(draw_edge(d, f, side, error));
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        uint32_t ends = d->c.ends[v].count;
        if (!kiln_vertex_live(mesh, v) || !d->smooth[v])
            continue;
        uint32_t flags = d->c.flags[v] | (ends != 0 && ends != 2 ? KILN_VERTEX_CORNER : 0);
        KILN_TRY(write_word(mesh, KILN_WORD_VERTEX_FLAGS, v, flags, error));
    }
    return KILN_OK;
}

kiln_status kiln_mesh_draw_lines(kiln_mesh *mesh, const uint8_t *smooth, const uint32_t *sheet,
                                 kiln_error *error)
{
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_VERTEX, ".vertex", KILN_SAVE_COPY, error));
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_TET, ".info", KILN_SAVE_COPY, error));
    uint32_t vertices = mesh->table[KILN_ON_VERTEX].used;
    line_drawer d = {.c = {.mesh = mesh}, .smooth = smooth, .sheet = sheet};
    size_t bytes = ((size_t)vertices + 1) * (sizeof *d.c.ends + sizeof *d.c.flags);
    d.c.ends = kiln_resize(mesh->context, NULL, 0, bytes);
    if (!d.c.ends)
        return kiln_fail_memory(error, bytes);
    memset(d.c.ends, 0, bytes);
    d.c.flags = (uint32_t *)(d.c.ends + vertices + 1);
    for (uint32_t v = 0; v < vertices; v++)
        d.c.flags[v] = mesh->vertex[v].flags & ~(KILN_VERTEX_FEATURE | KILN_VERTEX_CORNER);
    kiln_status status = draw_all(&d, error);
    kiln_array_free(mesh->context, &d.c.ring);
    kiln_release(mesh->context, d.c.ends, bytes);
    return status;
}
