/* An ascending list of rows that follows the changes of a table. */
#ifndef KILN_MESH_ROW_LIST_H
#define KILN_MESH_ROW_LIST_H

#include "mesh/mesh.h"

/* The list was right before `rows` (ascending) became others and rows from `used` on went. Of
 * `rows`, `members` (ascending) belong to it now. On failure unchanged. */
kiln_status kiln_row_list_follow(kiln_context *context, kiln_u32_array *list,
                                 const kiln_u32_array *rows, const kiln_u32_array *members,
                                 uint32_t used, kiln_error *error);

#endif
