#include "mesh/row_list.h"

/* Leaves out what is among `rows` or past the end. */
static void thin(kiln_u32_array *list, const kiln_u32_array *rows, uint32_t used)
{
    size_t kept = 0, next = 0;
    for (size_t i = 0; i < list->count; i++) {
        uint32_t row = list->data[i];
        while (next < rows->count && rows->data[next] < row)
            next++;
        bool other = next < rows->count && rows->data[next] == row;
        if (!other && row < used)
            list->data[kept++] = row;
    }
    list->count = kept;
}

kiln_status kiln_row_list_follow(kiln_context *context, kiln_u32_array *list,
                                 const kiln_u32_array *rows, const kiln_u32_array *members,
                                 uint32_t used, kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(context, list, list->count + members->count, error));
    thin(list, rows, used);
    size_t old = list->count, place = old + members->count;
    list->count = place;
    for (size_t i = members->count; i-- > 0;) {
        while (old > 0 && list->data[old - 1] > members->data[i])
            list->data[--place] = list->data[--old];
        list->data[--place] = members->data[i];
    }
    return KILN_OK;
}
