/* A cavity under construction: growing lists that become one kiln_replace. Running out of memory is
 * remembered and reported by kiln_cavity_list_replace. */
#ifndef KILN_TOPOLOGY_CAVITY_LIST_H
#define KILN_TOPOLOGY_CAVITY_LIST_H

#include "mesh/replace.h"
#include "mesh/walk.h"

typedef struct kiln_cavity_list {
    kiln_context *context;
    kiln_walker walker;
    kiln_u32_array old, heir, made;
    kiln_idset old_set; /* of the old tets, once indexed */
    KILN_ARRAY_OF(kiln_new_tet)
    fresh;
    KILN_ARRAY_OF(kiln_new_face)
    surface;
    KILN_ARRAY_OF(kiln_open_face)
    opened;
    KILN_ARRAY_OF(kiln_glue_face)
    glued;
    bool failed;
} kiln_cavity_list;

void kiln_cavity_list_init(kiln_cavity_list *list, kiln_context *context);
void kiln_cavity_list_free(kiln_cavity_list *list);

void kiln_cavity_list_old(kiln_cavity_list *list, uint32_t tet);
kiln_status kiln_cavity_list_index(kiln_cavity_list *list);         /* all old tets into old_set */
void kiln_cavity_list_heir(kiln_cavity_list *list, uint32_t fresh); /* of old tets, in order */
uint32_t kiln_cavity_list_new(kiln_cavity_list *list, kiln_new_tet tet); /* its index */
void kiln_cavity_list_surface(kiln_cavity_list *list, kiln_new_face face);
/* Face f of new tet `index` goes on being that surface face. */
void kiln_cavity_list_keep(kiln_cavity_list *list, const kiln_mesh *mesh, uint32_t index,
                           uint32_t f, uint32_t face);
void kiln_cavity_list_opened(kiln_cavity_list *list, kiln_open_face face);
void kiln_cavity_list_glued(kiln_cavity_list *list, kiln_glue_face face);

/* Declares every face of the new tets that no other new tet shares and that is neither declared yet
 * nor glued as surface with `tag`. For cavities without old tets. */
void kiln_cavity_list_close(kiln_cavity_list *list, int32_t tag);

/* Numbers of the new tets are in list->made afterwards. */
kiln_verdict kiln_cavity_list_replace(kiln_cavity_list *list, kiln_txn *txn, uint32_t flags);

#endif
