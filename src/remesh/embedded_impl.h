/* What the parts of embedded surfaces share. */
#ifndef KILN_REMESH_EMBEDDED_IMPL_H
#define KILN_REMESH_EMBEDDED_IMPL_H

#include "remesh/begin_mesh.h"
#include "remesh/embedded.h"

enum { KILN_EMBEDDED_GRAIN = 512 };

/* Where a vertex hangs. */
typedef struct kiln_hang {
    uint32_t tet, stamp, body; /* stamp: kiln_tet_info.changed when it was hung */
    uint32_t next;             /* vertex in the same tet, or KILN_NONE */
    double weight[4];
} kiln_hang;

struct kiln_embedded {
    kiln_context *context;
    KILN_ARRAY_OF(kiln_vec3)
    u;
    KILN_ARRAY_OF(kiln_hang)
    hangs;
    kiln_u32_array first; /* [tet row] first vertex in it, or KILN_NONE; rows beyond: none */
    struct {              /* u, hangs and first as they were when saved */
        KILN_ARRAY_OF(kiln_vec3)
        u;
        KILN_ARRAY_OF(kiln_hang)
        hangs;
        kiln_u32_array first;
    } saved;
    KILN_ARRAY_OF(kiln_soup_triangle)
    triangles;
    KILN_ARRAY_OF(int32_t)
    tags; /* [triangle], or empty */
};

/* Room in `first` for every tet row of the mesh. */
kiln_status kiln_embedded_cover_rows(kiln_embedded *embedded, const kiln_mesh *mesh,
                                     kiln_error *error);
/* The vertex must be in no list. */
void kiln_embedded_hang(kiln_embedded *embedded, const kiln_mesh *mesh, uint32_t vertex,
                        uint32_t tet, const double weight[4]);
kiln_vec3 kiln_embedded_carried(const kiln_mesh *mesh, const kiln_vec3 *positions,
                                const kiln_hang *hang);

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
