/* Typed growable arrays: struct { T *data; size_t count, capacity; }.
 *
 *     KILN_ARRAY_OF(uint32_t) ids = {0};
 *     KILN_TRY(kiln_array_reserve(context, &ids, 100, error));
 *     ids.data[ids.count++] = 7;
 *     kiln_array_free(context, &ids);
 */
#ifndef KILN_BASE_ARRAY_H
#define KILN_BASE_ARRAY_H

#include "base/context.h"

#define KILN_ARRAY_OF(T)                                                                           \
    struct {                                                                                       \
        T *data;                                                                                   \
        size_t count, capacity;                                                                    \
    }

typedef KILN_ARRAY_OF(uint32_t)
kiln_u32_array;
typedef KILN_ARRAY_OF(double)
kiln_f64_array;

/* Room for `wanted` items in all, growing by half at least. Contents kept; on failure unchanged. */
#define kiln_array_reserve(context, array, wanted, error)                                          \
    ((wanted) <= (array)->capacity                                                                 \
         ? KILN_OK                                                                                 \
         : kiln_array_grow_((context), (void **)&(array)->data, &(array)->capacity,                \
                            sizeof *(array)->data, (wanted), (error)))

/* Append one item by value. */
#define kiln_array_push(context, array, item, error)                                               \
    (kiln_array_reserve((context), (array), (array)->count + 1, (error)) == KILN_OK                \
         ? ((array)->data[(array)->count++] = (item), KILN_OK)                                     \
         : KILN_ERR_MEMORY)

#define kiln_array_free(context, array)                                                            \
    do {                                                                                           \
        kiln_release((context), (array)->data, (array)->capacity * sizeof *(array)->data);         \
        (array)->data = NULL;                                                                      \
        (array)->count = (array)->capacity = 0;                                                    \
    } while (0)

kiln_status kiln_array_grow_(kiln_context *context, void **data, size_t *capacity, size_t item_size,
                             size_t wanted, kiln_error *error);

#endif
