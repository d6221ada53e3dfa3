#include "sim/quantity.h"

#include <string.h>

kiln_quantity kiln_quantity_number(double value)
{
    return (kiln_quantity){.constant = {value, 0.0, 0.0}};
}

kiln_quantity kiln_quantity_vector(kiln_vec3 value)
{
    return (kiln_quantity){.constant = {value.x, value.y, value.z}};
}

kiln_status kiln_quantity_get(const kiln_quantity *quantity, const kiln_circumstances *at,
                              double *out, int components, kiln_error *error)
{
    if (quantity->evaluate)
        return quantity->evaluate(quantity->self, at, out, components, error);
    memcpy(out, quantity->constant, (size_t)components * sizeof *out);
    return KILN_OK;
}
