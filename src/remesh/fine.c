#include "remesh/fine.h"

#include "topology/edge_table.h"

#include <string.h>

/* Of an edge, the most that its longer half may be. */
static const double HALF = 0.75;

void kiln_fine_free(kiln_fine *f)
{
    kiln_context *context = f->e->context;
    kiln_frames_free(context, &f->frames);
    kiln_shore_free(&f->shore);
    kiln_array_free(context, &f->x);
    kiln_array_free(context, &f->mate);
    kiln_array_free(context, &f->side);
    kiln_array_free(context, &f->degree);
    kiln_array_free(context, &f->ring);
}

static kiln_status find_mates(kiln_fine *f, kiln_error *error)
{
    const kiln_embedded_state *now = &f->e->now;
    kiln_edge_table table = {0};
    KILN_TRY(kiln_edge_table_build(&table, f->e->context, now->triangles.data, now->triangles.count,
                                   error));
    for (uint32_t s = 0; s < 3 * now->triangles.count; s++) {
        const kiln_edge_slot *edge =
            kiln_edge_table_find(&table, kiln_fine_from(f, s), kiln_fine_to(f, s));
        bool pair = edge->count == 2 && !kiln_edge_is_turned(edge, now->triangles.data);
        f->mate.data[s] = pair               ? edge->side[edge->side[0] == s]
                          : edge->count == 1 ? KILN_FINE_RIM
                                             : KILN_FINE_STUCK;
    }
    kiln_edge_table_free(&table);
    return KILN_OK;
}

kiln_status kiln_fine_begin(kiln_fine *f, kiln_error *error)
{
    const kiln_embedded_state *now = &f->e->now;
    kiln_context *context = f->e->context;
    size_t vertices = now->u.count, sides = 3 * now->triangles.count;
    f->view = kiln_live_view_of(f->mesh, KILN_SPACE_MATERIAL);
    KILN_TRY(kiln_frames_find(&f->frames, f->mesh, error));
    KILN_TRY(kiln_shore_build(&f->shore, f->mesh, KILN_SPACE_MATERIAL, error));
    KILN_TRY(kiln_array_reserve(context, &f->mate, sides, error));
    KILN_TRY(kiln_array_reserve(context, &f->side, vertices, error));
    KILN_TRY(kiln_array_reserve(context, &f->degree, vertices, error));
    f->mate.count = sides;
    f->side.count = f->degree.count = vertices;
    for (size_t v = 0; v < vertices; v++) {
        f->side.data[v] = KILN_NONE;
        f->degree.data[v] = 0;
    }
    for (uint32_t s = 0; s < sides; s++) {
        f->side.data[kiln_fine_from(f, s)] = s;
        f->degree.data[kiln_fine_from(f, s)]++;
    }
    return find_mates(f, error);
}

kiln_status kiln_fine_ring(kiln_fine *f, uint32_t vertex, bool *closed, kiln_error *error)
{
    uint32_t s = f->side.data[vertex], start = s;
    f->ring.count = 0;
    *closed = false;
    if (s == KILN_NONE)
        return KILN_OK;
    do {
        KILN_TRY(kiln_array_push(f->e->context, &f->ring, s, error));
        s = f->mate.data[kiln_fine_next(kiln_fine_next(s))];
    } while (s < KILN_FINE_RIM && s != start);
    *closed = s == start && f->ring.count == f->degree.data[vertex];
    return KILN_OK;
}

static void join(kiln_fine *f, uint32_t a, uint32_t b)
{
    if (a < KILN_FINE_RIM)
        f->mate.data[a] = b;
    if (b < KILN_FINE_RIM)
        f->mate.data[b] = a;
}

void kiln_fine_place(kiln_fine *f, uint32_t vertex, uint32_t hint)
{
    kiln_embedded_state *now = &f->e->now;
    kiln_hang *h = &now->hangs.data[vertex];
    kiln_begin_place place;
    kiln_vec3 u = now->u.data[vertex];
    kiln_begin_locate_in(&f->view, u, hint, &place);
    kiln_shore_settle(&f->shore, u, kiln_embedded_body(f->mesh, hint), &place);
    h->tet = place.tet;
    memcpy(h->weight, place.weight, sizeof h->weight);
    f->x.data[vertex] = kiln_frames_world(&f->frames, f->mesh, h, u);
}

/* In the middle of a and b. */
static kiln_status add_vertex(kiln_fine *f, uint32_t a, uint32_t b, kiln_error *error)
{
    kiln_embedded *e = f->e;
    kiln_embedded_state *now = &e->now;
    uint32_t v = (uint32_t)now->u.count;
    kiln_vec3 middle = kiln_v3_lerp(now->u.data[a], now->u.data[b], 0.5);
    KILN_TRY(kiln_array_reserve(e->context, &now->u, v + 1u, error));
    KILN_TRY(kiln_array_reserve(e->context, &now->hangs, v + 1u, error));
    KILN_TRY(kiln_array_reserve(e->context, &now->values, (v + 1u) * (size_t)e->stride, error));
    KILN_TRY(kiln_array_reserve(e->context, &f->x, v + 1u, error));
    KILN_TRY(kiln_array_reserve(e->context, &f->side, v + 1u, error));
    KILN_TRY(kiln_array_reserve(e->context, &f->degree, v + 1u, error));
    now->u.count = now->hangs.count = f->x.count = f->side.count = f->degree.count = v + 1u;
    now->values.count += e->stride;
    double *row = now->values.data;
    for (uint32_t k = 0; k < e->stride; k++)
        row[v * (size_t)e->stride + k] =
            0.5 * (row[a * (size_t)e->stride + k] + row[b * (size_t)e->stride + k]);
    row[v * (size_t)e->stride + KILN_FINE_MADE] = 1.0;
    now->u.data[v] = middle;
    f->side.data[v] = KILN_NONE;
    f->degree.data[v] = 0;
    kiln_fine_place(f, v, now->hangs.data[a].tet);
    return KILN_OK;
}

/* The triangle of the side (a, b, c) becomes (a, m, c); the new one is (m, b, c), and its first
 * side is returned. There is room. */
static uint32_t cut(kiln_fine *f, uint32_t side, uint32_t m)
{
    kiln_embedded_state *now = &f->e->now;
    uint32_t next = kiln_fine_next(side), fresh = 3 * (uint32_t)now->triangles.count;
    uint32_t b = kiln_fine_from(f, next), c = kiln_fine_across(f, side);
    now->triangles.data[now->triangles.count++] = (kiln_soup_triangle){{m, b, c}};
    if (now->tags.count) {
        now->tags.data[now->tags.count] = now->tags.data[side / 3];
        now->tags.count++;
    }
    now->triangles.data[next / 3].v[next % 3] = m;
    f->mate.count += 3;
    f->mate.data[fresh + 1] = f->mate.data[next];
    join(f, fresh + 1, f->mate.data[next]);
    join(f, next, fresh + 2);
    f->side.data[b] = fresh + 1;
    f->side.data[c] = fresh + 2;
    f->degree.data[c]++;
    f->degree.data[m] += 2;
    f->side.data[m] = fresh;
    return fresh;
}

/* Where the mesh is folded under a surface that lies off it, the way from a to b may have a step in
 * the world that no vertex between them makes shorter. */
static bool is_between(const kiln_fine *f, uint32_t m, uint32_t a, uint32_t b)
{
    const kiln_vec3 *x = f->x.data;
    double most2 = HALF * HALF * kiln_v3_norm2(kiln_v3_sub(x[b], x[a]));
    return kiln_v3_norm2(kiln_v3_sub(x[m], x[a])) <= most2 &&
           kiln_v3_norm2(kiln_v3_sub(x[m], x[b])) <= most2;
}

static void drop_last(kiln_fine *f)
{
    kiln_embedded_state *now = &f->e->now;
    f->x.count--, f->side.count--, f->degree.count--;
    now->u.count--, now->hangs.count--;
    now->values.count -= f->e->stride;
}

kiln_status kiln_fine_split(kiln_fine *f, uint32_t side, bool *done, kiln_error *error)
{
    kiln_embedded *e = f->e;
    kiln_embedded_state *now = &e->now;
    size_t room = now->triangles.count + 2;
    KILN_TRY(kiln_array_reserve(e->context, &now->triangles, room, error));
    KILN_TRY(kiln_array_reserve(e->context, &f->mate, 3 * room, error));
    if (now->tags.count)
        KILN_TRY(kiln_array_reserve(e->context, &now->tags, room, error));
    uint32_t m = (uint32_t)now->u.count, mate = f->mate.data[side];
    uint32_t a = kiln_fine_from(f, side), b = kiln_fine_to(f, side);
    KILN_TRY(add_vertex(f, a, b, error));
    *done = is_between(f, m, a, b);
    if (!*done) {
        drop_last(f);
        return KILN_OK;
    }
    uint32_t here = cut(f, side, m);
    f->mate.data[side] = f->mate.data[here] = mate;
    if (mate >= KILN_FINE_RIM)
        return KILN_OK;
    uint32_t there = cut(f, mate, m);
    join(f, side, there);
    join(f, here, mate);
    return KILN_OK;
}

/* t = (a, b, c) and o = (b, a, d) become (a, d, c) and (d, b, c). */
void kiln_fine_flip(kiln_fine *f, uint32_t side)
{
    kiln_soup_triangle *triangle = f->e->now.triangles.data;
    uint32_t other = f->mate.data[side], t = side / 3, o = other / 3;
    uint32_t a = kiln_fine_from(f, side), b = kiln_fine_to(f, side);
    uint32_t c = kiln_fine_across(f, side), d = kiln_fine_across(f, other);
    uint32_t bc = f->mate.data[kiln_fine_next(side)];
    uint32_t ca = f->mate.data[kiln_fine_next(kiln_fine_next(side))];
    uint32_t ad = f->mate.data[kiln_fine_next(other)];
    uint32_t db = f->mate.data[kiln_fine_next(kiln_fine_next(other))];
    triangle[t] = (kiln_soup_triangle){{a, d, c}};
    triangle[o] = (kiln_soup_triangle){{d, b, c}};
    f->mate.data[3 * t] = ad, f->mate.data[3 * t + 2] = ca;
    f->mate.data[3 * o] = db, f->mate.data[3 * o + 1] = bc;
    join(f, 3 * t, ad), join(f, 3 * t + 2, ca);
    join(f, 3 * o, db), join(f, 3 * o + 1, bc);
    join(f, 3 * t + 1, 3 * o + 2);
    f->side.data[a] = 3 * t, f->side.data[b] = 3 * o + 1;
    f->side.data[c] = 3 * t + 2, f->side.data[d] = 3 * o;
    f->degree.data[a]--, f->degree.data[b]--;
    f->degree.data[c]++, f->degree.data[d]++;
}

/* The triangle of the side goes; what was across its other two sides meets. */
static void drop(kiln_fine *f, uint32_t side)
{
    uint32_t next = kiln_fine_next(side), last = kiln_fine_next(next);
    uint32_t over = f->mate.data[next], under = f->mate.data[last];
    uint32_t tip = kiln_fine_from(f, last);
    if (over < KILN_FINE_RIM)
        f->mate.data[over] = under;
    if (under < KILN_FINE_RIM)
        f->mate.data[under] = over;
    f->degree.data[tip]--;
    f->e->now.triangles.data[side / 3].v[0] = KILN_NONE;
}

void kiln_fine_collapse(kiln_fine *f, uint32_t side)
{
    kiln_soup_triangle *triangle = f->e->now.triangles.data;
    uint32_t other = f->mate.data[side];
    uint32_t gone = kiln_fine_from(f, side), kept = kiln_fine_to(f, side);
    uint32_t c = kiln_fine_across(f, side), d = kiln_fine_across(f, other);
    for (size_t i = 0; i < f->ring.count; i++)
        triangle[f->ring.data[i] / 3].v[f->ring.data[i] % 3] = kept;
    drop(f, side);
    drop(f, other);
    f->degree.data[kept] += f->degree.data[gone] - 4;
    f->degree.data[gone] = 0;
    f->side.data[gone] = KILN_NONE;
    f->removed++;
    for (size_t i = 0; i < f->ring.count; i++) {
        uint32_t s = f->ring.data[i];
        if (!kiln_fine_live(f, s))
            continue;
        for (uint32_t k = 0; k < 3; k++, s = kiln_fine_next(s)) {
            uint32_t v = kiln_fine_from(f, s);
            if (v == kept || v == c || v == d)
                f->side.data[v] = s;
        }
    }
}

kiln_status kiln_fine_finish(kiln_fine *f, kiln_error *error)
{
    kiln_embedded *e = f->e;
    kiln_embedded_state *now = &e->now;
    size_t kept = 0;
    uint32_t rows = 0, *row = f->degree.data; /* its count is not needed any more */
    for (uint32_t v = 0; f->removed && v < now->u.count; v++) {
        bool gone = f->degree.data[v] == 0 && f->side.data[v] == KILN_NONE;
        row[v] = rows;
        if (gone)
            continue;
        now->u.data[rows] = now->u.data[v];
        now->hangs.data[rows] = now->hangs.data[v];
        memmove(&now->values.data[rows * (size_t)e->stride],
                &now->values.data[v * (size_t)e->stride], e->stride * sizeof(double));
        rows++;
    }
    if (f->removed) {
        now->u.count = now->hangs.count = rows;
        now->values.count = rows * (size_t)e->stride;
        for (size_t t = 0; t < now->triangles.count; t++) {
            kiln_soup_triangle triangle = now->triangles.data[t];
            if (triangle.v[0] == KILN_NONE)
                continue;
            for (int k = 0; k < 3; k++)
                triangle.v[k] = row[triangle.v[k]];
            now->triangles.data[kept] = triangle;
            if (now->tags.count)
                now->tags.data[kept] = now->tags.data[t];
            kept++;
        }
        now->triangles.count = kept;
        now->tags.count = now->tags.count ? kept : 0;
    }
    return kiln_embedded_relist(e, f->mesh, error);
}
