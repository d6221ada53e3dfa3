#include "sim/world_impl.h"

#include <string.h>

/* In the order in which they run. */
static const kiln_module *const rows[] = {
    &kiln_module_obstacles,     &kiln_module_velocity_field, &kiln_module_materials,
    &kiln_module_boundary,      &kiln_module_gravity,        &kiln_module_contact,
    &kiln_module_flow,          &kiln_module_forces,         &kiln_module_surfaces,
    &kiln_module_remesh_domain, /* before the repairs of single tets */
    &kiln_module_remesh_local,
};
enum { ROWS = sizeof rows / sizeof rows[0] };
_Static_assert((int)ROWS <= (int)KILN_MODULE_ROOM, "a world has room for every module");

const kiln_module *kiln_module_at(size_t row)
{
    return row < ROWS ? rows[row] : NULL;
}

void *kiln_module_make(kiln_world *world, size_t size, void **self, kiln_error *error)
{
    *self = kiln_resize(world->context, NULL, 0, size);
    if (*self)
        memset(*self, 0, size);
    else
        kiln_fail_memory(error, size);
    return *self;
}
