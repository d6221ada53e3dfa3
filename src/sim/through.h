/* Liquid that comes in and goes out: inlets, outlets, and the ledger of what passed. Shared by
 * through.c (the module), through_settings.c, inlets.c and outlets.c.
 *
 * An inlet is a flat patch of surface faces. Its vertices go at its velocity, as a piston; once
 * they have gone a layer, they are copied back to where they began, and the prisms between are new
 * liquid: what comes in is the area times the way, whatever the liquid inside does. An outlet is a
 * plane: what lies beyond it by more than a layer is taken away, and what that uncovers is its
 * surface. Both are the face field "through": the number of the inlet from 1, those of outlets
 * after them. */
#ifndef KILN_SIM_THROUGH_H
#define KILN_SIM_THROUGH_H

#include "sim/world_impl.h"
#include "step/liquid.h"

#define KILN_FIELD_INLET_PLACE "inlet_place" /* of vertices: where the way of a layer begins, m */
#define KILN_FIELD_LAYER       "layer"       /* of tets: the layer they came in with; 0: none */

typedef struct kiln_scene_inlet {
    kiln_said said;
    kiln_picks where;
    kiln_quantity velocity; /* m/s */
    double layer;           /* m; 0: the mean edge of its faces */
} kiln_scene_inlet;

typedef struct kiln_scene_outlet {
    kiln_said said;
    kiln_vec3 point, normal; /* m; out of the liquid */
    kiln_quantity pressure;  /* Pa */
    double beyond;           /* m; 0: the mean edge of all tets */
    int every;               /* steps */
} kiln_scene_outlet;

typedef struct kiln_scene_through {
    kiln_said said;
    KILN_ARRAY_OF(kiln_scene_inlet)
    inlets;
    KILN_ARRAY_OF(kiln_scene_outlet)
    outlets;
} kiln_scene_through;

extern const kiln_schema kiln_through_schema;

enum { KILN_MOST_INLETS = 16 };

typedef struct kiln_through_state {
    kiln_vec3 way[KILN_MOST_INLETS]; /* m, of the patch since its last layer */
    kiln_passed in, out;
    uint64_t layers;
} kiln_through_state;

/* Of the start: a plane does not change. */
typedef struct kiln_inlet {
    kiln_vec3 inward;               /* unit normal */
    double level;                   /* m, of its plane along that, before it goes */
    double layer;                   /* m */
    kiln_u32_array faces, vertices; /* as they are now, ascending */
} kiln_inlet;

typedef struct kiln_through {
    kiln_world *world;
    const kiln_scene_through *settings;
    kiln_inlet *inlets;          /* [settings->inlets.count] */
    kiln_u32_array outlet_faces; /* of all of them, ascending */
    double edge;                 /* m, mean of the start */
    kiln_changes changes;
    kiln_f64_array totals;
    kiln_through_state state;
} kiln_through;

KILN_INLINE uint32_t *kiln_through_of_faces(const kiln_mesh *mesh)
{
    return (uint32_t *)(void *)kiln_mesh_field(mesh, KILN_ON_FACE, KILN_FIELD_THROUGH)->data;
}
/* m, of all tets of a mesh without gaps in its rows. */
double kiln_mean_edge(const kiln_mesh *mesh);
/* What a tet brings or takes with it. */
void kiln_passed_add(kiln_passed *passed, const kiln_world *world, uint32_t tet);
/* Faces and vertices of inlets, faces of outlets, as the mesh has them. */
kiln_status kiln_through_list(kiln_through *t, kiln_error *error);

/* inlets.c */
kiln_status kiln_inlet_make(kiln_through *t, size_t row, kiln_error *error);
kiln_status kiln_inlet_drive(const kiln_through *t, size_t row, const kiln_drive *drive,
                             kiln_error *error);
/* Its way after a step; whether a layer is due. */
kiln_status kiln_inlet_move(kiln_through *t, size_t row, const kiln_moment *moment, bool *due,
                            kiln_error *error);
kiln_verdict kiln_inlet_add_layer(kiln_through *t, size_t row, kiln_txn *txn);
kiln_verdict kiln_inlet_require(const kiln_inlet *inlet, kiln_txn *txn);
/* Places of its vertices from where they are, in a mesh that is new. */
kiln_status kiln_inlet_place(const kiln_through *t, size_t row, kiln_error *error);

/* outlets.c */
kiln_status kiln_outlet_make(kiln_through *t, size_t row, kiln_error *error);
kiln_status kiln_outlet_drive(const kiln_through *t, const kiln_drive *drive, kiln_error *error);
bool kiln_outlet_is_due(const kiln_through *t, size_t row);
kiln_verdict kiln_outlet_remove(kiln_through *t, size_t row, kiln_txn *txn);

#endif
