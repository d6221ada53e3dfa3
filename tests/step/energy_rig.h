/* What remeshing by energy asks of a mesh, for tests of it. */
#ifndef KILN_TESTS_STEP_ENERGY_RIG_H
#define KILN_TESTS_STEP_ENERGY_RIG_H

#include "rig.h"
#include "step/energy_remesh.h"

/* The columns it looks at, and even masses. */
static inline void add_fields(kiln_mesh *mesh)
{
    static const struct {
        const char *name;
        kiln_where where;
        kiln_type type;
        uint32_t components;
        kiln_rule rule;
    } fields[] = {{KILN_FIELD_END, KILN_ON_VERTEX, KILN_F64, 3, KILN_RULE_DIRECT},
                  {KILN_FIELD_HELD, KILN_ON_VERTEX, KILN_U32, 1, KILN_RULE_INHERIT},
                  {KILN_FIELD_POINTS, KILN_ON_VERTEX, KILN_F64, 3, KILN_RULE_NONE},
                  {KILN_FIELD_TRACTION, KILN_ON_FACE, KILN_F64, 3, KILN_RULE_COPY},
                  {KILN_FIELD_VAIN, KILN_ON_TET, KILN_F64, 6, KILN_RULE_NONE},
                  {KILN_FIELD_STILL, KILN_ON_VERTEX, KILN_F64, 2, KILN_RULE_NONE},
                  {KILN_FIELD_NEEDED, KILN_ON_VERTEX, KILN_F64, 2, KILN_RULE_NONE},
                  {KILN_FIELD_FLAT, KILN_ON_TET, KILN_F64, 4, KILN_RULE_NONE},
                  {KILN_FIELD_YIELD, KILN_ON_TET, KILN_F64, 2, KILN_RULE_COPY},
                  {KILN_FIELD_REST, KILN_ON_TET, KILN_F64, 1, KILN_RULE_COPY},
                  {KILN_FIELD_BULK, KILN_ON_TET, KILN_F64, 3, KILN_RULE_COPY},
                  {"mass", KILN_ON_TET, KILN_F64, 1, KILN_RULE_CONSERVE}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        ck_assert_int_eq(kiln_mesh_add_field(mesh, fields[i].name, fields[i].where, fields[i].type,
                                             fields[i].components, fields[i].rule, NULL),
                         KILN_OK);
    double *mass = (double *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, "mass")->data;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        mass[t] = 1000.0 * kiln_mesh_tet_volume(mesh, t);
}

static inline kiln_vec3 *end_of(const kiln_mesh *mesh)
{
    return (kiln_vec3 *)(void *)kiln_mesh_field(mesh, KILN_ON_VERTEX, KILN_FIELD_END)->data;
}

#endif
