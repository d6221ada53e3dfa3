/* Faces are sorted into buckets by their lowest vertex; a bucket holds some twenty faces, which are
 * matched by sorting. Every face lies in one bucket, so buckets are matched in parallel. */
#include "mesh/adjacency.h"
#include "base/parallel.h"
#include "mesh/replace_impl.h"

#include <stdlib.h>
#include <string.h>

enum { GRAIN = 4096, FEW = 48 };

/* A face or triangle in the bucket of its lowest vertex. */
typedef struct entry {
    uint32_t mid, high;
    uint32_t name; /* tet*4+face, or KILN_LINK_SURFACE + triangle */
    uint32_t even;
} entry;

typedef struct defects {
    size_t crowded, crowded_first, same_side, same_side_first;
} defects;

typedef struct matcher {
    kiln_mesh *mesh;
    const kiln_soup_triangle *triangles;
    uint8_t *uses;
    uint32_t *start; /* [vertex + 1] */
    uint32_t *names; /* bucketed faces and triangles */
    defects *found;  /* per chunk */
    entry *scratch;  /* per worker: `room` entries */
    size_t room;
} matcher;

/* Names are ordered within a bucket so that the outcome does not depend on the sort. */
static int entry_before(const entry *a, const entry *b)
{
    if (a->mid != b->mid)
        return a->mid < b->mid;
    if (a->high != b->high)
        return a->high < b->high;
    return a->name < b->name;
}

static int compare_entries(const void *a, const void *b)
{
    return entry_before(b, a) - entry_before(a, b);
}

static void sort_entries(entry *entries, size_t count)
{
    if (count > FEW) {
        qsort(entries, count, sizeof *entries, compare_entries);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        entry moving = entries[i];
        size_t j = i;
        for (; j > 0 && entry_before(&moving, &entries[j - 1]); j--)
            entries[j] = entries[j - 1];
        entries[j] = moving;
    }
}

static void note(size_t *count, size_t *first, size_t tet)
{
    if (*count == 0 || tet < *first)
        *first = tet;
    ++*count;
}

/* One group of equal corners: tet faces first (their names are lower), then triangles. */
static void match_group(matcher *m, const entry *group, size_t count, defects *found)
{
    kiln_mesh *mesh = m->mesh;
    size_t faces = 0;
    while (faces < count && group[faces].name < KILN_LINK_SURFACE)
        faces++;
    for (size_t i = faces; i < count; i++)
        m->uses[group[i].name - KILN_LINK_SURFACE] = (uint8_t)(faces < 255 ? faces : 255);
    if (faces == 2 && group[0].even != group[1].even) {
        mesh->tet[group[0].name / 4].n[group[0].name % 4] = group[1].name;
        mesh->tet[group[1].name / 4].n[group[1].name % 4] = group[0].name;
        return;
    }
    if (faces == 2)
        note(&found->same_side, &found->same_side_first, group[1].name / 4);
    else if (faces > 2)
        note(&found->crowded, &found->crowded_first, group[2].name / 4);
    for (size_t i = 0; i < faces; i++)
        mesh->tet[group[i].name / 4].n[group[i].name % 4] =
            faces < count ? group[faces].name : KILN_NONE;
}

static void match_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    matcher *m = user;
    entry *entries = m->scratch + (size_t)worker * m->room;
    m->found[chunk] = (defects){0};
    for (size_t v = begin; v < end; v++) {
        size_t count = 0;
        for (uint32_t i = m->start[v]; i < m->start[v + 1]; i++) {
            uint32_t name = m->names[i], key[3];
            uint8_t even;
            if (name < KILN_LINK_SURFACE) {
                even = kiln_face_key(m->mesh->tet[name / 4].v, name % 4, key);
            } else {
                const uint32_t *t = m->triangles[name - KILN_LINK_SURFACE].v;
                const uint32_t padded[4] = {0, t[0], t[1], t[2]};
                even = kiln_face_key(padded, 0, key);
            }
            entries[count++] = (entry){key[1], key[2], name, even};
        }
        sort_entries(entries, count);
        for (size_t i = 0, j; i < count; i = j) {
            for (j = i + 1; j < count && entries[j].mid == entries[i].mid &&
                            entries[j].high == entries[i].high;)
                j++;
            match_group(m, entries + i, j - i, &m->found[chunk]);
        }
    }
}

static uint32_t lowest3(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t low = a < b ? a : b;
    return low < c ? low : c;
}

static uint32_t lowest_of_face(const kiln_tet *tet, uint32_t f)
{
    const uint8_t *c = kiln_face_corner[f];
    return lowest3(tet->v[c[0]], tet->v[c[1]], tet->v[c[2]]);
}

/* Counting sort into buckets; returns the size of the largest. */
static size_t fill_buckets(matcher *m, size_t triangle_count)
{
    const kiln_mesh *mesh = m->mesh;
    uint32_t vertices = mesh->table[KILN_ON_VERTEX].used, tets = mesh->table[KILN_ON_TET].used;
    memset(m->start, 0, ((size_t)vertices + 2) * sizeof(uint32_t));
    uint32_t *fill = m->start + 1; /* becomes the start of the next bucket while filling */
    for (uint32_t t = 0; t < tets; t++)
        for (uint32_t f = 0; f < 4; f++)
            fill[lowest_of_face(&mesh->tet[t], f) + 1]++;
    for (size_t i = 0; i < triangle_count; i++)
        fill[lowest3(m->triangles[i].v[0], m->triangles[i].v[1], m->triangles[i].v[2]) + 1]++;
    size_t largest = 0;
    for (uint32_t v = 0; v < vertices; v++) {
        largest = fill[v + 1] > largest ? fill[v + 1] : largest;
        fill[v + 1] += fill[v];
    }
    for (uint32_t t = 0; t < tets; t++)
        for (uint32_t f = 0; f < 4; f++)
            m->names[fill[lowest_of_face(&mesh->tet[t], f)]++] = kiln_link_to(t, f);
    for (size_t i = 0; i < triangle_count; i++)
        m->names[fill[lowest3(m->triangles[i].v[0], m->triangles[i].v[1],
                              m->triangles[i].v[2])]++] = KILN_LINK_SURFACE + (uint32_t)i;
    return largest;
}

static void add_defects(kiln_build_report *report, kiln_defect defect, size_t count, size_t first)
{
    if (count == 0)
        return;
    if (report->count[defect] == 0 || first < report->first[defect])
        report->first[defect] = first;
    report->count[defect] += count;
}

kiln_status kiln_adjacency_find(kiln_mesh *mesh, const kiln_soup_triangle *triangles,
                                size_t triangle_count, uint8_t *triangle_uses,
                                kiln_build_report *report, kiln_error *error)
{
    kiln_context *context = mesh->context;
    size_t vertices = mesh->table[KILN_ON_VERTEX].used, tets = mesh->table[KILN_ON_TET].used;
    size_t chunks = kiln_chunk_count(vertices, GRAIN);
    size_t start_size = (vertices + 2) * sizeof(uint32_t);
    size_t names_size = (4 * tets + triangle_count + 1) * sizeof(uint32_t);
    size_t found_size = (chunks + 1) * sizeof(defects);
    matcher m = {.mesh = mesh, .triangles = triangles, .uses = triangle_uses};
    m.start = kiln_resize(context, NULL, 0, start_size);
    m.names = kiln_resize(context, NULL, 0, names_size);
    m.found = kiln_resize(context, NULL, 0, found_size);
    size_t scratch_size = 0;
    kiln_status status = KILN_OK;
    if (m.start && m.names && m.found) {
        m.room = fill_buckets(&m, triangle_count) + 1;
        scratch_size = m.room * (size_t)context->threads * sizeof(entry);
        m.scratch = kiln_resize(context, NULL, 0, scratch_size);
    }
    if (m.scratch) {
        kiln_parallel_for(context, vertices, GRAIN, match_chunk, &m);
        for (size_t i = 0; i < chunks; i++) {
            const defects *d = &m.found[i];
            add_defects(report, KILN_DEFECT_CROWDED_FACE, d->crowded, d->crowded_first);
            add_defects(report, KILN_DEFECT_SAME_SIDE, d->same_side, d->same_side_first);
        }
    } else {
        status = kiln_fail_memory(error, names_size + start_size);
    }
    kiln_release(context, m.start, start_size);
    kiln_release(context, m.names, names_size);
    kiln_release(context, m.found, found_size);
    kiln_release(context, m.scratch, scratch_size);
    return status;
}
