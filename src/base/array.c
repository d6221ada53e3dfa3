#include "base/array.h"

kiln_status kiln_array_grow_(kiln_context *context, void **data, size_t *capacity, size_t item_size,
                             size_t wanted, kiln_error *error)
{
    size_t larger = *capacity + *capacity / 2;
    if (larger < wanted)
        larger = wanted;
    if (larger > SIZE_MAX / 2 / item_size)
        return kiln_fail_memory(error, SIZE_MAX);
    void *grown = kiln_resize(context, *data, *capacity * item_size, larger * item_size);
    if (!grown)
        return kiln_fail_memory(error, larger * item_size);
    *data = grown;
    *capacity = larger;
    return KILN_OK;
}
