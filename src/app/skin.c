#include "app/skin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool kiln_soup_tet_repeats(const kiln_soup_tet *tet)
{
    const uint32_t *v = tet->v;
    return v[0] == v[1] || v[0] == v[2] || v[0] == v[3] || v[1] == v[2] || v[1] == v[3] ||
           v[2] == v[3];
}

void kiln_soup_tet_face(const kiln_soup_tet *tet, int i, uint32_t v[3])
{
    static const int corner[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    for (int k = 0; k < 3; k++)
        v[k] = tet->v[corner[i][k]];
}

kiln_status kiln_incidence_create(const kiln_soup *soup, kiln_incidence *out, kiln_error *error)
{
    size_t tets = soup->tets.count, vertices = soup->points.count;
    if (tets >= UINT32_MAX / 4)
        return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1, "too many tets");
    kiln_incidence incidence = {.context = soup->context, .vertices = vertices};
    size_t start_bytes = (vertices + 1) * sizeof *incidence.start;
    incidence.start = kiln_resize(soup->context, NULL, 0, start_bytes);
    if (!incidence.start)
        return kiln_fail_memory(error, start_bytes);
    memset(incidence.start, 0, start_bytes);
    for (size_t t = 0; t < tets; t++)
        if (!kiln_soup_tet_repeats(&soup->tets.data[t]))
            for (int k = 0; k < 4; k++, incidence.item_count++)
                incidence.start[soup->tets.data[t].v[k]]++;
    uint32_t sum = 0;
    for (size_t v = 0; v <= vertices; v++) {
        uint32_t here = incidence.start[v];
        incidence.start[v] = sum;
        sum += here;
    }
    size_t item_bytes = incidence.item_count * sizeof *incidence.items;
    incidence.items = kiln_resize(soup->context, NULL, 0, item_bytes ? item_bytes : 1);
    if (!incidence.items) {
        kiln_release(soup->context, incidence.start, start_bytes);
        return kiln_fail_memory(error, item_bytes);
    }
    for (size_t t = 0; t < tets; t++)
        if (!kiln_soup_tet_repeats(&soup->tets.data[t]))
            for (int k = 0; k < 4; k++)
                incidence.items[incidence.start[soup->tets.data[t].v[k]]++] = (uint32_t)t;
    /* Filling moved every start to its end, which is the next one's start. */
    memmove(incidence.start + 1, incidence.start, vertices * sizeof *incidence.start);
    incidence.start[0] = 0;
    *out = incidence;
    return KILN_OK;
}

void kiln_incidence_destroy(kiln_incidence *incidence)
{
    size_t item_bytes = incidence->item_count * sizeof *incidence->items;
    if (incidence->start)
        kiln_release(incidence->context, incidence->start,
                     (incidence->vertices + 1) * sizeof *incidence->start);
    if (incidence->items)
        kiln_release(incidence->context, incidence->items, item_bytes ? item_bytes : 1);
    memset(incidence, 0, sizeof *incidence);
}

static int compare_faces(const void *left, const void *right)
{
    const kiln_found_face *a = left, *b = right;
    if (a->middle != b->middle)
        return a->middle < b->middle ? -1 : 1;
    if (a->largest != b->largest)
        return a->largest < b->largest ? -1 : 1;
    return a->packed < b->packed ? -1 : a->packed > b->packed;
}

/* Stars are small: insertion beats qsort there; a vertex with a huge star falls back on it. */
static void sort_faces(kiln_found_face *faces, size_t count)
{
    if (count > 64) {
        qsort(faces, count, sizeof *faces, compare_faces);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        kiln_found_face face = faces[i];
        size_t j = i;
        for (; j > 0 && compare_faces(&face, &faces[j - 1]) < 0; j--)
            faces[j] = faces[j - 1];
        faces[j] = face;
    }
}

kiln_status kiln_incidence_faces(const kiln_soup *soup, const kiln_incidence *incidence, uint32_t v,
                                 kiln_found_face_array *out, kiln_error *error)
{
    size_t begin = incidence->start[v], end = incidence->start[v + 1];
    out->count = 0;
    KILN_TRY(kiln_array_reserve(soup->context, out, 3 * (end - begin), error));
    for (size_t i = begin; i < end; i++) {
        uint32_t t = incidence->items[i];
        for (int f = 0; f < 4; f++) {
            uint32_t c[3];
            kiln_soup_tet_face(&soup->tets.data[t], f, c);
            int at = c[0] == v ? 0 : c[1] == v ? 1 : c[2] == v ? 2 : -1;
            if (at < 0)
                continue;
            uint32_t a = c[(at + 1) % 3], b = c[(at + 2) % 3];
            if (a > v && b > v)
                out->data[out->count++] =
                    (kiln_found_face){a < b ? a : b, a < b ? b : a, (uint64_t)t * 4 + (uint64_t)f};
        }
    }
    sort_faces(out->data, out->count);
    return KILN_OK;
}

static kiln_status collect_at(const kiln_soup *soup, const uint8_t *kept,
                              const kiln_found_face_array *found, kiln_skin *out, kiln_error *error)
{
    for (size_t i = 0, next; i < found->count; i = next) {
        const kiln_found_face *face = &found->data[i], *chosen = NULL;
        int chosen_count = 0;
        for (next = i; next < found->count && found->data[next].middle == face->middle &&
                       found->data[next].largest == face->largest;
             next++)
            if (!kept || kept[found->data[next].packed / 4]) {
                chosen = &found->data[next];
                chosen_count++;
            }
        if (chosen_count != 1)
            continue;
        kiln_skin_face outer = {.tet = (uint32_t)(chosen->packed / 4), .cut = next - i > 1};
        kiln_soup_tet_face(&soup->tets.data[outer.tet], (int)(chosen->packed % 4), outer.v);
        KILN_TRY(kiln_array_push(soup->context, out, outer, error));
    }
    return KILN_OK;
}

kiln_status kiln_skin_collect(const kiln_soup *soup, const uint8_t *kept, kiln_skin *out,
                              kiln_error *error)
{
    kiln_incidence incidence;
    KILN_TRY(kiln_incidence_create(soup, &incidence, error));
    kiln_found_face_array found = {0};
    kiln_status status = KILN_OK;
    for (uint32_t v = 0; status == KILN_OK && v < incidence.vertices; v++) {
        status = kiln_incidence_faces(soup, &incidence, v, &found, error);
        if (status == KILN_OK)
            status = collect_at(soup, kept, &found, out, error);
    }
    kiln_array_free(soup->context, &found);
    kiln_incidence_destroy(&incidence);
    return status;
}

double kiln_soup_field_size(const kiln_soup_field *field, size_t item)
{
    const double *data = field->data.data + item * field->components;
    if (field->components == 1)
        return data[0];
    double sum = 0.0;
    for (uint32_t c = 0; c < field->components; c++)
        sum += data[c] * data[c];
    return sqrt(sum);
}
