#include "sim/world_impl.h"

#include <string.h>

const kiln_module *const kiln_modules[] = {
    &kiln_module_subdivide, /* before anybody looks at the mesh of a step */
    &kiln_module_obstacles,
    &kiln_module_velocity_field,
    &kiln_module_materials,
    &kiln_module_boundary,
    &kiln_module_gravity,
    &kiln_module_contact,
    &kiln_module_liquid_pace,
    &kiln_module_fairing, /* before the material follows */
    &kiln_module_waterline,
    &kiln_module_flow,
    &kiln_module_heat, /* of what has flowed */
    &kiln_module_forces,
    &kiln_module_surfaces,
    &kiln_module_probes,
    &kiln_module_pressed,
    &kiln_module_tracers, /* while the tets are those of the step */
    &kiln_module_phases,  /* by its temperatures, once its forces are kept */
    &kiln_module_through, /* before remeshing, which makes its layers good */
    &kiln_module_pinch,   /* likewise its ends */
    &kiln_module_merging, /* likewise what comes between */
    &kiln_module_tear,    /* and its sides */
    &kiln_module_remesh_local,
    &kiln_module_remesh_domain, /* for what repairs of single tets could not mend */
    &kiln_module_remesh_energy,
    NULL,
};
_Static_assert(sizeof kiln_modules / sizeof kiln_modules[0] <= KILN_MODULE_ROOM + 1,
               "a world has room for every module");

kiln_status kiln_modules_check(const kiln_module *const *modules, kiln_error *error)
{
    size_t count = 0;
    while (modules[count])
        count++;
    if (count > KILN_MODULE_ROOM)
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                         "%zu modules are more than a world has room for, %d", count,
                         KILN_MODULE_ROOM);
    return KILN_OK;
}

void kiln_module_schemas(const kiln_module *const *modules,
                         const kiln_schema *out[KILN_MODULE_ROOM + 1])
{
    size_t count = 0;
    for (size_t m = 0; modules[m]; m++)
        if (modules[m]->schema)
            out[count++] = modules[m]->schema;
    out[count] = NULL;
}

void *kiln_module_make(kiln_world *world, size_t size, void **self, kiln_error *error)
{
    *self = kiln_resize(world->context, NULL, 0, size);
    if (!*self) {
        kiln_fail_memory(error, size);
        return NULL;
    }
    world->self_size[self - world->self] = size;
    return memset(*self, 0, size);
}
