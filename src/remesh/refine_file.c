#include "remesh/refine_file.h"
#include "mesh/build.h"
#include "remesh/refine_impl.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS = 3 };
static const uint32_t first_bit[PARTS + 1] = {0, 22, 43, 64};

static size_t find_field(const kiln_soup *soup)
{
    size_t i = 0;
    while (i < soup->fields.count && (soup->fields.data[i].where != KILN_ON_TET ||
                                      strcmp(soup->fields.data[i].name, KILN_REFINE_FIELD) != 0))
        i++;
    return i;
}

static void drop_field(kiln_soup *soup, size_t index)
{
    kiln_array_free(soup->context, &soup->fields.data[index].data);
    soup->fields.count--;
    memmove(&soup->fields.data[index], &soup->fields.data[index + 1],
            (soup->fields.count - index) * sizeof *soup->fields.data);
}

static uint64_t part_of(kiln_refine_word word, int part)
{
    uint32_t bits = first_bit[part + 1] - first_bit[part];
    return (word >> first_bit[part]) & ((UINT64_C(1) << bits) - 1);
}

static kiln_status put_words(const kiln_refiner *refiner, kiln_soup *soup, kiln_error *error)
{
    const kiln_mesh *mesh = refiner->mesh;
    drop_field(soup, find_field(soup));
    bool refined = false;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        refined |= kiln_tet_live(mesh, t) && kiln_word_of(refiner, t) != KILN_REFINE_BASE;
    if (!refined)
        return KILN_OK;
    kiln_soup_field *field;
    KILN_TRY(kiln_soup_add_field(soup, KILN_REFINE_FIELD, KILN_ON_TET, PARTS, &field, error));
    double *value = field->data.data;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int part = 0; part < PARTS && kiln_tet_live(mesh, t); part++)
            *value++ = (double)part_of(kiln_word_of(refiner, t), part);
    return KILN_OK;
}

/* Where a surface triangle is and where it goes. */
typedef struct placed {
    uint32_t at; /* tet*4+face */
    uint32_t from;
} placed;

static int by_place(const void *a, const void *b)
{
    uint32_t p = ((const placed *)a)->at, q = ((const placed *)b)->at;
    return (p > q) - (p < q);
}

/* to[i] = from[order[i].from], by way of `spare`. */
static void permute(void *items, size_t size, const placed *order, size_t count, char *spare)
{
    memcpy(spare, items, count * size);
    for (size_t i = 0; i < count; i++)
        memcpy((char *)items + i * size, spare + order[i].from * size, size);
}

static void permute_triangles(kiln_soup *soup, const placed *order, size_t count, char *spare)
{
    permute(soup->triangles.data, sizeof *soup->triangles.data, order, count, spare);
    permute(soup->triangle_tags.data, sizeof *soup->triangle_tags.data, order, count, spare);
    for (size_t f = 0; f < soup->fields.count; f++)
        if (soup->fields.data[f].where == KILN_ON_FACE)
            permute(soup->fields.data[f].data.data,
                    soup->fields.data[f].components * sizeof(double), order, count, spare);
    /* Marks name triangles by number, ascending. */
    uint32_t *marked = soup->required_triangles.data;
    size_t marks = soup->required_triangles.count, next = 0;
    memset(spare, 0, count);
    for (size_t i = 0; i < marks; i++)
        if (marked[i] < count)
            spare[marked[i]] = 1;
    for (uint32_t i = 0; i < count; i++)
        if (spare[order[i].from])
            marked[next++] = i;
}

static kiln_status order_triangles(const kiln_mesh *mesh, kiln_soup *soup, kiln_error *error)
{
    KILN_ARRAY_OF(placed)
    order = {0};
    KILN_ARRAY_OF(char)
    spare = {0};
    size_t widest = sizeof(kiln_soup_triangle);
    for (size_t f = 0; f < soup->fields.count; f++)
        if (soup->fields.data[f].where == KILN_ON_FACE &&
            soup->fields.data[f].components * sizeof(double) > widest)
            widest = soup->fields.data[f].components * sizeof(double);
    size_t count = mesh->table[KILN_ON_FACE].live;
    kiln_status status = kiln_array_reserve(soup->context, &order, count, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(soup->context, &spare, count * widest, error);
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used && status == KILN_OK; f++)
        if (kiln_face_live(mesh, f)) {
            order.data[order.count] = (placed){mesh->face[f].at, (uint32_t)order.count};
            order.count++;
        }
    if (status == KILN_OK && count > 0) {
        qsort(order.data, count, sizeof *order.data, by_place);
        permute_triangles(soup, order.data, count, spare.data);
    }
    kiln_array_free(soup->context, &order);
    kiln_array_free(soup->context, &spare);
    return status;
}

kiln_status kiln_refine_to_soup(const kiln_refiner *refiner, kiln_soup *soup, kiln_error *error)
{
    KILN_TRY(kiln_mesh_to_soup(refiner->mesh, soup, error));
    kiln_status status = order_triangles(refiner->mesh, soup, error);
    if (status == KILN_OK)
        status = put_words(refiner, soup, error);
    if (status != KILN_OK)
        kiln_soup_free(soup);
    return status;
}

kiln_status kiln_refine_words_from_soup(kiln_soup *soup, const char *place,
                                        kiln_refine_words *words, kiln_error *error)
{
    size_t index = find_field(soup);
    words->count = 0;
    if (index == soup->fields.count)
        return KILN_OK;
    const kiln_soup_field *field = &soup->fields.data[index];
    if (field->components != PARTS)
        return kiln_fail(error, KILN_ERR_INPUT, place, 0, -1,
                         "the field '%s' must have %d components, got %u", KILN_REFINE_FIELD, PARTS,
                         field->components);
    size_t count = soup->tets.count;
    KILN_TRY(kiln_array_reserve(soup->context, words, count, error));
    for (size_t i = 0; i < count; i++) {
        kiln_refine_word word = 0;
        for (int part = 0; part < PARTS; part++) {
            double value = field->data.data[PARTS * i + (size_t)part];
            double most = ldexp(1.0, (int)(first_bit[part + 1] - first_bit[part]));
            if (!(value >= 0 && value < most && value == floor(value)))
                return kiln_fail(error, KILN_ERR_INPUT, place, 0, -1,
                                 "the field '%s' of tet %zu (from 0) is no refinement word",
                                 KILN_REFINE_FIELD, i);
            word |= (kiln_refine_word)value << first_bit[part];
        }
        words->data[i] = word;
    }
    words->count = count;
    drop_field(soup, index);
    return KILN_OK;
}

kiln_status kiln_refiner_set_words(kiln_refiner *refiner, const kiln_refine_words *words,
                                   kiln_error *error)
{
    kiln_mesh *mesh = refiner->mesh;
    if (kiln_txn_depth(mesh) > 0 || kiln_archive_active(mesh))
        return kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1,
                         "words cannot be set inside a transaction or pass");
    if (words->count != mesh->table[KILN_ON_TET].live)
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1, "%zu refinement words for %u tets",
                         words->count, mesh->table[KILN_ON_TET].live);
    kiln_field *field = &mesh->table[KILN_ON_TET].fields.data[refiner->column];
    size_t next = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            ((kiln_refine_word *)field->data)[t] = words->data[next++];
    mesh->revision++;
    return KILN_OK;
}
