#include "app/survey.h"

#include "base/arena.h"
#include "base/hash.h"
#include "io/fill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Disjoint sets with path halving; the smaller number wins, so the result has no order in it. */
static uint32_t root_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void join(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = root_of(parent, a);
    b = root_of(parent, b);
    parent[a > b ? a : b] = a < b ? a : b;
}

typedef struct triple {
    uint32_t v[3];
} triple;

static int compare_triples(const void *left, const void *right)
{
    const triple *a = left, *b = right;
    for (int i = 0; i < 3; i++)
        if (a->v[i] != b->v[i])
            return a->v[i] < b->v[i] ? -1 : 1;
    return 0;
}

static int compare_numbers(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

typedef struct walk {
    const kiln_soup *soup;
    kiln_survey *survey;
    kiln_incidence incidence;
    kiln_found_face_array faces;
    kiln_u32_array numbers;
    KILN_ARRAY_OF(triple)
    triples;
    kiln_skin skin;
    kiln_u32_array parent; /* of tets */
    double length_sum;
} walk;

static bool same_turn(const kiln_soup *soup, const kiln_found_face *a, const kiln_found_face *b)
{
    uint32_t p[3], q[3];
    kiln_soup_tet_face(&soup->tets.data[a->packed / 4], (int)(a->packed % 4), p);
    kiln_soup_tet_face(&soup->tets.data[b->packed / 4], (int)(b->packed % 4), q);
    int at = q[0] == p[0] ? 0 : q[1] == p[0] ? 1 : 2;
    return q[(at + 1) % 3] == p[1];
}

static kiln_status look_at_faces(walk *w, uint32_t v, kiln_error *error)
{
    const kiln_soup *soup = w->soup;
    KILN_TRY(kiln_incidence_faces(soup, &w->incidence, v, &w->faces, error));
    for (size_t i = 0, next; i < w->faces.count; i = next) {
        const kiln_found_face *face = &w->faces.data[i];
        for (next = i + 1; next < w->faces.count && w->faces.data[next].middle == face->middle &&
                           w->faces.data[next].largest == face->largest;
             next++)
            join(w->parent.data, (uint32_t)(face->packed / 4),
                 (uint32_t)(w->faces.data[next].packed / 4));
        w->survey->crowded_faces += next - i > 2;
        w->survey->folded_faces += next - i == 2 && same_turn(soup, face, face + 1);
        if (next - i > 1)
            continue;
        kiln_skin_face outer = {.tet = (uint32_t)(face->packed / 4)};
        kiln_soup_tet_face(&soup->tets.data[outer.tet], (int)(face->packed % 4), outer.v);
        KILN_TRY(kiln_array_push(soup->context, &w->skin, outer, error));
    }
    return KILN_OK;
}

static void add_edge(walk *w, uint32_t a, uint32_t b)
{
    double length = kiln_v3_norm(kiln_v3_sub(w->soup->points.data[b], w->soup->points.data[a]));
    w->survey->edge_min = fmin(w->survey->edge_min, length);
    w->survey->edge_max = fmax(w->survey->edge_max, length);
    w->length_sum += length;
    w->survey->edges++;
}

static kiln_status look_at_edges(walk *w, uint32_t v, kiln_error *error)
{
    const kiln_soup *soup = w->soup;
    size_t begin = w->incidence.start[v], end = w->incidence.start[v + 1];
    KILN_TRY(kiln_array_reserve(soup->context, &w->numbers, 3 * (end - begin), error));
    w->numbers.count = 0;
    for (size_t i = begin; i < end; i++)
        for (int k = 0; k < 4; k++)
            if (soup->tets.data[w->incidence.items[i]].v[k] > v)
                w->numbers.data[w->numbers.count++] = soup->tets.data[w->incidence.items[i]].v[k];
    if (w->numbers.count == 0)
        return KILN_OK;
    qsort(w->numbers.data, w->numbers.count, sizeof *w->numbers.data, compare_numbers);
    for (size_t i = 0; i < w->numbers.count; i++) {
        if (i > 0 && w->numbers.data[i] == w->numbers.data[i - 1])
            continue;
        add_edge(w, v, w->numbers.data[i]);
    }
    return KILN_OK;
}

/* Each set of four vertices is counted at its smallest. */
static kiln_status look_for_duplicates(walk *w, uint32_t v, kiln_error *error)
{
    const kiln_soup *soup = w->soup;
    size_t begin = w->incidence.start[v], end = w->incidence.start[v + 1];
    KILN_TRY(kiln_array_reserve(soup->context, &w->triples, end - begin, error));
    w->triples.count = 0;
    for (size_t i = begin; i < end; i++) {
        triple others;
        int count = 0;
        for (int k = 0; k < 4; k++) {
            uint32_t other = soup->tets.data[w->incidence.items[i]].v[k];
            if (other > v)
                others.v[count++] = other;
        }
        if (count < 3)
            continue;
        qsort(others.v, 3, sizeof others.v[0], compare_numbers);
        w->triples.data[w->triples.count++] = others;
    }
    if (w->triples.count < 2)
        return KILN_OK;
    qsort(w->triples.data, w->triples.count, sizeof *w->triples.data, compare_triples);
    for (size_t i = 1; i < w->triples.count; i++)
        w->survey->duplicate_tets +=
            compare_triples(&w->triples.data[i], &w->triples.data[i - 1]) == 0;
    return KILN_OK;
}

static kiln_status walk_vertices(walk *w, kiln_error *error)
{
    kiln_survey *survey = w->survey;
    size_t tets = w->soup->tets.count;
    KILN_TRY(kiln_incidence_create(w->soup, &w->incidence, error));
    KILN_TRY(kiln_array_reserve(w->soup->context, &w->parent, tets, error));
    for (size_t t = 0; t < tets; t++)
        w->parent.data[t] = (uint32_t)t;
    survey->edge_min = HUGE_VAL;
    survey->edge_max = -HUGE_VAL;
    for (uint32_t v = 0; v < w->incidence.vertices; v++) {
        KILN_TRY(look_at_faces(w, v, error));
        KILN_TRY(look_at_edges(w, v, error));
        KILN_TRY(look_for_duplicates(w, v, error));
    }
    for (size_t t = 0; t < tets; t++)
        survey->parts += w->parent.data[t] == t && !kiln_soup_tet_repeats(&w->soup->tets.data[t]);
    survey->boundary_triangles = w->skin.count;
    for (size_t i = 0; i < w->skin.count; i++) {
        const kiln_vec3 *p = w->soup->points.data;
        const uint32_t *v = w->skin.data[i].v;
        survey->area += 0.5 * kiln_v3_norm(kiln_v3_cross(kiln_v3_sub(p[v[1]], p[v[0]]),
                                                         kiln_v3_sub(p[v[2]], p[v[0]])));
    }
    return KILN_OK;
}

/* Looks at one vertex of the boundary: `around` are the numbers of its `count` triangles. An edge
 * must lie in two of them, and they must form one fan. */
static void judge_vertex(walk *w, uint32_t v, const uint32_t *around, size_t count,
                         uint32_t (*spoke)[2], uint32_t *fan)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *c = w->skin.data[around[i]].v;
        int at = c[0] == v ? 0 : c[1] == v ? 1 : 2;
        for (int side = 0; side < 2; side++) {
            spoke[2 * i + (uint32_t)side][0] = c[(at + 1 + side) % 3];
            spoke[2 * i + (uint32_t)side][1] = i;
        }
        fan[i] = i;
    }
    qsort(spoke, 2 * count, sizeof *spoke, compare_numbers);
    size_t fans = count;
    for (size_t i = 0, next; i < 2 * count; i = next) {
        for (next = i + 1; next < 2 * count && spoke[next][0] == spoke[i][0]; next++) {
            uint32_t a = root_of(fan, spoke[i][1]), b = root_of(fan, spoke[next][1]);
            fans -= a != b;
            join(fan, a, b);
        }
        if (spoke[i][0] < v)
            continue; /* seen from its lower end */
        w->survey->bad_edges += next - i != 2;
        w->survey->open_edges += next - i == 1;
        if (w->soup->tets.count == 0)
            add_edge(w, v, spoke[i][0]);
    }
    w->survey->bad_vertices += fans > 1;
}

static kiln_status walk_skin(walk *w, kiln_arena *arena, kiln_error *error)
{
    size_t vertices = w->soup->points.count, corners = 3 * w->skin.count, most = 0;
    uint32_t *start = kiln_arena_array(arena, uint32_t, vertices + 2);
    uint32_t *around = kiln_arena_array(arena, uint32_t, corners + 1);
    if (!start || !around)
        return kiln_fail_memory(error, corners * sizeof *around);
    memset(start, 0, (vertices + 2) * sizeof *start);
    for (size_t i = 0; i < corners; i++)
        start[w->skin.data[i / 3].v[i % 3] + 2]++;
    for (size_t v = 2; v < vertices + 2; v++) {
        most = start[v] > most ? start[v] : most;
        start[v] += start[v - 1];
    }
    for (size_t i = 0; i < corners; i++)
        around[start[w->skin.data[i / 3].v[i % 3] + 1]++] = (uint32_t)(i / 3);
    uint32_t(*spoke)[2] = kiln_arena_alloc(arena, (2 * most + 1) * sizeof *spoke);
    uint32_t *fan = kiln_arena_array(arena, uint32_t, most + 1);
    if (!spoke || !fan)
        return kiln_fail_memory(error, most * sizeof *spoke);
    for (uint32_t v = 0; v < vertices; v++)
        if (start[v + 1] > start[v])
            judge_vertex(w, v, around + start[v], start[v + 1] - start[v], spoke, fan);
    return KILN_OK;
}

/* A file without tets: its triangles should be a closed surface. */
static kiln_status take_triangles(walk *w, kiln_error *error)
{
    const kiln_soup *soup = w->soup;
    for (size_t i = 0; i < soup->triangles.count; i++) {
        const uint32_t *v = soup->triangles.data[i].v;
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) {
            w->survey->repeated++;
            continue;
        }
        kiln_skin_face face = {.v = {v[0], v[1], v[2]}, .tet = UINT32_MAX};
        KILN_TRY(kiln_array_push(soup->context, &w->skin, face, error));
    }
    w->survey->boundary_triangles = w->skin.count;
    return KILN_OK;
}

static uint64_t place_hash(kiln_vec3 p)
{
    const double c[3] = {p.x + 0.0, p.y + 0.0, p.z + 0.0}; /* -0 counts as 0 */
    uint64_t hash = 0, bits;
    for (int i = 0; i < 3; i++) {
        memcpy(&bits, &c[i], sizeof bits);
        hash = kiln_hash_add(hash, bits);
    }
    return hash;
}

/* Vertices at a place that a vertex before them has. */
static kiln_status count_duplicates(const kiln_soup *soup, kiln_arena *arena, kiln_survey *survey,
                                    kiln_error *error)
{
    size_t slots = 16;
    while (slots < 2 * soup->points.count)
        slots *= 2;
    uint32_t *table = kiln_arena_array(arena, uint32_t, slots);
    if (!table)
        return kiln_fail_memory(error, slots * sizeof *table);
    memset(table, 0xff, slots * sizeof *table);
    const kiln_vec3 *p = soup->points.data;
    for (uint32_t v = 0; v < soup->points.count; v++) {
        size_t slot = place_hash(p[v]) & (slots - 1);
        for (; table[slot] != UINT32_MAX; slot = (slot + 1) & (slots - 1)) {
            kiln_vec3 other = p[table[slot]];
            if (other.x == p[v].x && other.y == p[v].y && other.z == p[v].z)
                break;
        }
        if (table[slot] != UINT32_MAX)
            survey->duplicate_vertices++;
        else
            table[slot] = v;
    }
    return KILN_OK;
}

static kiln_status count_unused(const kiln_soup *soup, kiln_arena *arena, kiln_survey *survey,
                                kiln_error *error)
{
    uint8_t *used = kiln_arena_array(arena, uint8_t, soup->points.count + 1);
    if (!used)
        return kiln_fail_memory(error, soup->points.count);
    memset(used, 0, soup->points.count + 1);
    for (size_t t = 0; t < soup->tets.count; t++)
        for (int k = 0; k < 4; k++)
            used[soup->tets.data[t].v[k]] = 1;
    /* A surface file uses its vertices in triangles. */
    for (size_t i = 0; soup->tets.count == 0 && i < soup->triangles.count; i++)
        for (int k = 0; k < 3; k++)
            used[soup->triangles.data[i].v[k]] = 1;
    for (size_t v = 0; v < soup->points.count; v++)
        survey->unused_vertices += !used[v];
    return KILN_OK;
}

/* Where triangles that share vertices are told from those that meet. */
static kiln_status find_crossing(const kiln_soup *soup, kiln_survey *survey)
{
    if (soup->tets.count > 0 || soup->triangles.count == 0 || survey->bad_edges > 0 ||
        survey->repeated > 0 || survey->duplicate_vertices > 0)
        return KILN_OK;
    kiln_error found = {0};
    kiln_status status = kiln_fill_find_crossing(soup, NULL, NULL, &found);
    if (status != KILN_ERR_INPUT)
        return status;
    snprintf(survey->crossing, sizeof survey->crossing, "%.150s", found.message);
    return KILN_OK;
}

kiln_status kiln_survey_topology(const kiln_soup *soup, kiln_survey *survey, kiln_error *error)
{
    walk w = {.soup = soup, .survey = survey};
    kiln_arena arena;
    kiln_arena_init(&arena, soup->context);
    kiln_status status = count_unused(soup, &arena, survey, error);
    if (status == KILN_OK)
        status = count_duplicates(soup, &arena, survey, error);
    if (status == KILN_OK)
        status = walk_vertices(&w, error);
    if (status == KILN_OK && soup->tets.count == 0)
        status = take_triangles(&w, error);
    if (status == KILN_OK)
        status = walk_skin(&w, &arena, error);
    if (status == KILN_OK && (status = find_crossing(soup, survey)) != KILN_OK)
        kiln_fail_memory(error, 0);
    survey->edge_mean = survey->edges ? w.length_sum / (double)survey->edges : NAN;
    if (!survey->edges)
        survey->edge_min = survey->edge_max = NAN;
    survey->manifold =
        survey->crowded_faces == 0 && survey->bad_edges == 0 && survey->bad_vertices == 0;
    kiln_array_free(soup->context, &w.faces);
    kiln_array_free(soup->context, &w.numbers);
    kiln_array_free(soup->context, &w.triples);
    kiln_array_free(soup->context, &w.skin);
    kiln_array_free(soup->context, &w.parent);
    kiln_incidence_destroy(&w.incidence);
    kiln_arena_destroy(&arena);
    return status;
}
