/* What the parts of embedded surfaces share. */
#ifndef KILN_REMESH_EMBEDDED_IMPL_H
#define KILN_REMESH_EMBEDDED_IMPL_H

#include "geom/bvh.h"
#include "remesh/begin_mesh.h"
#include "remesh/embedded.h"

enum { KILN_EMBEDDED_GRAIN = 512 };

/* Where a vertex hangs. */
typedef struct kiln_hang {
    uint32_t tet, stamp, body; /* stamp: kiln_tet_info.changed when it was hung */
    uint32_t next;             /* vertex in the same tet, or KILN_NONE */
    double weight[4];
} kiln_hang;

/* What each vertex carries along beside its place: where it was at the begin, the length of edges
 * there, whether it came later, of which body it was, and the vertex fields of the surface as it
 * was given. New vertices have the mean of their edge. */
typedef struct kiln_embedded_column {
    char name[KILN_NAME_SIZE];
    uint32_t components, offset; /* in the row of a vertex */
} kiln_embedded_column;
enum { KILN_FINE_START = 0, KILN_FINE_EDGE = 3, KILN_FINE_MADE = 4, KILN_FINE_ORIGIN = 5 };

/* All that a step may change. */
typedef struct kiln_embedded_state {
    KILN_ARRAY_OF(kiln_vec3)
    u;
    KILN_ARRAY_OF(kiln_hang)
    hangs;
    kiln_u32_array first; /* [tet row] first vertex in it, or KILN_NONE; rows beyond: none */
    KILN_ARRAY_OF(kiln_soup_triangle)
    triangles;
    KILN_ARRAY_OF(int32_t)
    tags;                  /* [triangle], or empty */
    kiln_f64_array values; /* [vertex][stride] */
} kiln_embedded_state;

struct kiln_embedded {
    kiln_context *context;
    kiln_embedded_state now, saved;
    KILN_ARRAY_OF(kiln_embedded_column)
    columns;
    uint32_t stride; /* doubles that a vertex carries */
    KILN_ARRAY_OF(kiln_vec3)
    noted; /* [vertex] in the world, by kiln_embedded_note; of those inside anything */
};

/* Room in `first` for every tet row of the mesh. */
kiln_status kiln_embedded_cover_rows(kiln_embedded *embedded, const kiln_mesh *mesh,
                                     kiln_error *error);
/* The vertex must be in no list. */
void kiln_embedded_hang(kiln_embedded *embedded, const kiln_mesh *mesh, uint32_t vertex,
                        uint32_t tet, const double weight[4]);
kiln_vec3 kiln_embedded_carried(const kiln_mesh *mesh, const kiln_vec3 *positions,
                                const kiln_hang *hang);

/* Its closest point carries it, and it is off that point. */
KILN_INLINE bool kiln_hang_is_outside(const kiln_hang *h)
{
    return h->weight[0] == 0.0 || h->weight[1] == 0.0 || h->weight[2] == 0.0 || h->weight[3] == 0.0;
}

/* embedded_shore.c: the tets at the surface of the mesh, for what lies outside. The walk of a
 * lookup ends at some tet that is near; what is continuous hangs at the nearest. Zero-initialise.
 */
typedef struct kiln_shore {
    const kiln_mesh *mesh;
    const kiln_vec3 *positions; /* of one space */
    kiln_bvh tree;
    kiln_u32_array tets; /* [item] */
} kiln_shore;
kiln_status kiln_shore_build(kiln_shore *shore, const kiln_mesh *mesh, kiln_space space,
                             kiln_error *error);
void kiln_shore_free(kiln_shore *shore);
/* A place outside becomes that of the closest point of the body, with its weights. */
void kiln_shore_settle(const kiln_shore *shore, kiln_vec3 point, uint32_t body,
                       kiln_begin_place *place);

/* embedded_frames.c: deformation gradients round the vertices of the mesh, for what hangs outside.
 * Zero-initialise; empty where nothing does. */
typedef struct kiln_frames {
    KILN_ARRAY_OF(kiln_mat3)
    F; /* [mesh vertex] means over its tets, by volume */
} kiln_frames;
kiln_status kiln_frames_find(kiln_frames *frames, const kiln_mesh *mesh, kiln_error *error);
void kiln_frames_free(kiln_context *context, kiln_frames *frames);
bool kiln_embedded_has_outside(const kiln_embedded *embedded);

/* From one space to the other. */
kiln_vec3 kiln_frames_world(const kiln_frames *frames, const kiln_mesh *mesh, const kiln_hang *hang,
                            kiln_vec3 u);
kiln_vec3 kiln_frames_material(const kiln_frames *frames, const kiln_mesh *mesh,
                               const kiln_hang *hang, kiln_vec3 x);
/* The way in the material of a way in the world. */
kiln_vec3 kiln_frames_unmove(const kiln_frames *frames, const kiln_mesh *mesh,
                             const kiln_hang *hang, kiln_vec3 way);

/* All vertices, in no list or in those of another mesh, where they are in a space of this one. */
kiln_status kiln_embedded_hang_at(kiln_embedded *embedded, const kiln_mesh *mesh, kiln_space space,
                                  const kiln_vec3 *points, kiln_embedded_report *report,
                                  kiln_error *error);

/* All lists anew, after vertices have come, gone or moved. */
kiln_status kiln_embedded_relist(kiln_embedded *embedded, const kiln_mesh *mesh, kiln_error *error);

KILN_INLINE uint32_t kiln_embedded_body(const kiln_mesh *mesh, uint32_t tet)
{
    return mesh->parts.data[mesh->info[tet].part].body;
}
KILN_INLINE void kiln_embedded_count(const kiln_begin_place *place, kiln_embedded_report *report)
{
    report->hung++;
    report->outside += !place->inside;
    report->visits += place->visits;
}

#endif
