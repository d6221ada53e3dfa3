#include "topology/cavity_list.h"

#include <stdlib.h>
#include <string.h>

void kiln_cavity_list_init(kiln_cavity_list *list, kiln_context *context)
{
    *list = (kiln_cavity_list){.context = context};
    kiln_walker_init(&list->walker, context);
}

void kiln_cavity_list_free(kiln_cavity_list *list)
{
    kiln_walker_free(&list->walker);
    kiln_array_free(list->context, &list->old);
    kiln_array_free(list->context, &list->old_set.slots);
    kiln_array_free(list->context, &list->heir);
    kiln_array_free(list->context, &list->made);
    kiln_array_free(list->context, &list->fresh);
    kiln_array_free(list->context, &list->surface);
    kiln_array_free(list->context, &list->opened);
    kiln_array_free(list->context, &list->glued);
}

#define PUSH(array, item)                                                                          \
    list->failed |= kiln_array_push(list->context, &list->array, item, NULL) != KILN_OK

void kiln_cavity_list_old(kiln_cavity_list *list, uint32_t tet)
{
    PUSH(old, tet);
}

kiln_status kiln_cavity_list_index(kiln_cavity_list *list)
{
    KILN_TRY(kiln_idset_clear(list->context, &list->old_set, list->old.count, NULL));
    for (size_t i = 0; i < list->old.count; i++) {
        kiln_idset_slot *slot = kiln_idset_at(&list->old_set, list->old.data[i]);
        if (slot->epoch != list->old_set.epoch)
            kiln_idset_add(&list->old_set, slot, list->old.data[i], (uint32_t)i);
    }
    return KILN_OK;
}

void kiln_cavity_list_heir(kiln_cavity_list *list, uint32_t fresh)
{
    PUSH(heir, fresh);
}

uint32_t kiln_cavity_list_new(kiln_cavity_list *list, kiln_new_tet tet)
{
    uint32_t index = (uint32_t)list->fresh.count;
    PUSH(fresh, tet);
    return index;
}

void kiln_cavity_list_surface(kiln_cavity_list *list, kiln_new_face face)
{
    PUSH(surface, face);
}

void kiln_cavity_list_keep(kiln_cavity_list *list, const kiln_mesh *mesh, uint32_t index,
                           uint32_t f, uint32_t face)
{
    kiln_cavity_list_surface(list, (kiln_new_face){.tet = index,
                                                   .face = f,
                                                   .tag = mesh->face[face].tag,
                                                   .parent = face,
                                                   .twin = mesh->face[face].twin});
}

void kiln_cavity_list_opened(kiln_cavity_list *list, kiln_open_face face)
{
    PUSH(opened, face);
}

void kiln_cavity_list_glued(kiln_cavity_list *list, kiln_glue_face face)
{
    PUSH(glued, face);
}

typedef struct named_face {
    uint32_t corner[3], at; /* ascending; index*4+face */
} named_face;

static int compare_faces(const void *a, const void *b)
{
    const named_face *left = a, *right = b;
    for (int k = 0; k < 3; k++)
        if (left->corner[k] != right->corner[k])
            return left->corner[k] < right->corner[k] ? -1 : 1;
    return left->at < right->at ? -1 : left->at > right->at;
}

/* declared[index*4+face] of the new tets. */
static void find_declared(const kiln_cavity_list *list, uint8_t *declared)
{
    memset(declared, 0, 4 * list->fresh.count);
    for (size_t i = 0; i < list->surface.count; i++)
        declared[list->surface.data[i].tet * 4 + list->surface.data[i].face] = 1;
    for (size_t i = 0; i < list->glued.count; i++)
        declared[list->glued.data[i].tet * 4 + list->glued.data[i].face] = 1;
}

void kiln_cavity_list_close(kiln_cavity_list *list, int32_t tag)
{
    size_t count = 4 * list->fresh.count, size = (count + 1) * (sizeof(named_face) + 1);
    named_face *faces = kiln_resize(list->context, NULL, 0, size);
    if (!faces) {
        list->failed = true;
        return;
    }
    for (uint32_t at = 0; at < count; at++) {
        named_face *face = &faces[at];
        face->at = at;
        for (int k = 0; k < 3; k++) {
            uint32_t v = list->fresh.data[at / 4].v[kiln_face_corner[at % 4][k]];
            int place = k;
            for (; place > 0 && face->corner[place - 1] > v; place--)
                face->corner[place] = face->corner[place - 1];
            face->corner[place] = v;
        }
    }
    qsort(faces, count, sizeof *faces, compare_faces);
    uint8_t *declared = (uint8_t *)(faces + count + 1);
    find_declared(list, declared);
    for (size_t i = 0, j; i < count; i = j) {
        for (j = i + 1; j < count; j++)
            if (memcmp(faces[j].corner, faces[i].corner, sizeof faces[i].corner) != 0)
                break;
        if (j == i + 1 && !declared[faces[i].at])
            kiln_cavity_list_surface(list, (kiln_new_face){.tet = faces[i].at / 4,
                                                           .face = faces[i].at % 4,
                                                           .tag = tag,
                                                           .parent = KILN_NONE});
    }
    kiln_release(list->context, faces, size);
}

kiln_verdict kiln_cavity_list_replace(kiln_cavity_list *list, kiln_txn *txn, uint32_t flags)
{
    list->failed |=
        kiln_array_reserve(list->context, &list->made, list->fresh.count, NULL) != KILN_OK;
    if (list->failed)
        return KILN_REFUSED_MEMORY;
    kiln_cavity cavity = {.old = list->old.data,
                          .old_count = (uint32_t)list->old.count,
                          .heir = list->heir.count ? list->heir.data : NULL,
                          .fresh = list->fresh.data,
                          .fresh_count = (uint32_t)list->fresh.count,
                          .surface = list->surface.data,
                          .surface_count = (uint32_t)list->surface.count,
                          .opened = list->opened.data,
                          .opened_count = (uint32_t)list->opened.count,
                          .glued = list->glued.data,
                          .glued_count = (uint32_t)list->glued.count,
                          .flags = flags};
    list->made.count = list->fresh.count;
    return kiln_replace(txn, &cavity, list->made.data);
}
