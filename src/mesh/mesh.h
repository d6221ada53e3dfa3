/* The mesh store: tetrahedra in two spaces, with adjacency, surface, regions, parts and fields.
 *
 * Reading is direct: the arrays below are public within the library. Writing goes through a
 * transaction (mesh/txn.h) and the one primitive (mesh/replace.h). What users of the library may do
 * with a mesh is in kiln/kiln.h, among it kiln_mesh_destroy, kiln_mesh_volume (of the live tets in
 * u) and kiln_mesh_hash (everything that rollback restores: every byte of every row in use, free
 * lists, parts, ledger).
 *
 * Invariants at every outermost commit (audit.h names the first one that is broken):
 *   M1  links are symmetric: n[i] of tet t names (s, j) and n[j] of s names (t, i); both faces have
 *       the same three vertices, oppositely oriented.
 *   M2  a link to the surface names a face record that names the tet and face back.
 *   M3  every live tet is positive in u by the exact predicate, and in x unless the mesh tolerates
 *       inverted world tets.
 *   M4  every live vertex has an incident live tet, its anchor, and its star is connected through
 *       faces.
 *   M5  the surface is closed and manifold: each surface edge has two faces in the fan of tets
 *       round it, the faces at a surface vertex form one cycle.
 *   M6  the part of a tet is its connected component; part counts are right.
 *   M7  marks of an edge or face agree in all tets that have it; vertex flags agree with the links.
 *   M8  free lists hold exactly the dead rows.
 *   M9  coordinates and fields are finite. */
#ifndef KILN_MESH_MESH_H
#define KILN_MESH_MESH_H

#include "mesh/field.h"

#include <stdbool.h>

#define KILN_NONE 0xFFFFFFFFu

/* What lies across a face: packed tet*4+face, or KILN_LINK_SURFACE + surface face record. The
 * split leaves 15/16 of the design's 2^30 tets and 2^28 surface faces. */
typedef uint32_t kiln_link;
#define KILN_LINK_SURFACE 0xF0000000u
#define KILN_MAX_TETS     (KILN_LINK_SURFACE / 4)
#define KILN_MAX_FACES    (KILN_NONE - KILN_LINK_SURFACE)

/* Positive when det(v1-v0, v2-v0, v3-v0) > 0. n[i] is across the face opposite v[i]. A dead tet
 * has v[0] = KILN_NONE and the next free one in v[1]. */
typedef struct kiln_tet {
    uint32_t v[4];
    kiln_link n[4];
} kiln_tet;

/* Marks of a tet's edges (6 bits from the shift, in the order of kiln_edge_ends), faces (4 bits)
 * and the tet itself. */
enum {
    KILN_MARK_FEATURE_EDGE = 0,   /* shift: sharp or user-given edge */
    KILN_MARK_REQUIRED_EDGE = 6,  /* shift: must survive as it is */
    KILN_MARK_REQUIRED_FACE = 12, /* shift: must survive as it is */
    KILN_MARK_SPLIT_FACE = 16,    /* shift: chosen to be opened */
};
#define KILN_MARK_LOCKED   (1u << 20) /* no operator may take the tet */
#define KILN_MARK_WORLD    (1u << 21) /* quality counts in x (liquid), not in u */
#define KILN_MARKS_ON_EDGE 0xFFFu
#define KILN_MARKS_ON_FACE 0xFF000u

typedef struct kiln_tet_info {
    int32_t region;
    uint32_t part;
    uint32_t marks;
    uint32_t changed; /* mesh clock when the tet was made */
} kiln_tet_info;

enum {
    KILN_VERTEX_SURFACE = 1,   /* on a surface face */
    KILN_VERTEX_INTERFACE = 2, /* on a face between two regions */
    KILN_VERTEX_FEATURE = 4,   /* on a feature edge */
    KILN_VERTEX_CORNER = 8,    /* where features meet, end or turn */
    KILN_VERTEX_REQUIRED = 16, /* must neither move nor vanish */
    KILN_VERTEX_DEAD = 32,     /* free row; the next one is in `tag` */
    KILN_VERTEX_LISTED = 64,   /* star comes from an explicit list (inside a transaction) */
};

typedef struct kiln_vertex_info {
    uint32_t tet; /* anchor: an incident tet, KILN_NONE while there is none */
    uint32_t flags;
    int32_t tag;
    uint32_t twin; /* copies made by opening share a number; 0: none */
} kiln_vertex_info;

/* A surface face. A dead record has at = KILN_NONE and the next free one in `twin`. */
typedef struct kiln_face {
    uint32_t at; /* packed tet*4+face */
    int32_t tag;
    uint32_t twin;  /* the two sides of a crack face share a number; 0: none */
    uint32_t stamp; /* mesh clock when the face was opened; 0: from the start */
} kiln_face;

/* A connected component. Bodies are sets of parts. */
typedef struct kiln_part {
    uint64_t stamp; /* revision of the last change, for cached factors */
    double volume;  /* in u, kept up with what replacements book */
    uint32_t tets;  /* 0: unused number */
    uint32_t body;
} kiln_part;

typedef enum kiln_world_policy {
    KILN_WORLD_REJECT,  /* tets must be positive in x too */
    KILN_WORLD_TOLERATE /* no replacement may add to the count or the total of negative ones */
} kiln_world_policy;

/* What entered and left through replacements that change the outline, in u. */
typedef struct kiln_ledger {
    double volume_gained, volume_lost;
    uint64_t tets_injected, tets_removed;
} kiln_ledger;

struct kiln_mesh {
    kiln_context *context;
    kiln_table table[KILN_WHERE_COUNT]; /* vertices, tets, surface faces */

    /* Core columns, refreshed whenever a table grows. */
    kiln_vec3 *u; /* material position [vertex], m */
    kiln_vec3 *x; /* world position [vertex], m */
    kiln_vertex_info *vertex;
    kiln_tet *tet;
    kiln_tet_info *info;
    kiln_face *face;

    KILN_ARRAY_OF(kiln_part)
    parts;
    uint32_t next_twin;
    uint32_t clock;    /* counts replacements; never set back, so that stamps stay comparable */
    uint64_t revision; /* counts outermost commits that changed something */
    kiln_world_policy world_policy;
    kiln_ledger ledger;

    struct kiln_journal *journal; /* undo log, archive, star lists (journal.h) */
    struct kiln_scratch *scratch; /* of the replace primitive */
};

kiln_status kiln_mesh_create(kiln_context *context, kiln_mesh **out, kiln_error *error);

/* Registers a column; zero everywhere. Fails for a name that is taken. Not inside a transaction or
 * pass. */
kiln_status kiln_mesh_add_field(kiln_mesh *mesh, const char *name, kiln_where where, kiln_type type,
                                uint32_t components, kiln_rule rule, kiln_error *error);
/* NULL when there is none; valid until a field is added to the same table. */
kiln_field *kiln_mesh_field(const kiln_mesh *mesh, kiln_where where, const char *name);

/* Room for that many more rows, so that a pass need not stop for memory. */
kiln_status kiln_mesh_reserve(kiln_mesh *mesh, size_t vertices, size_t tets, size_t faces,
                              kiln_error *error);
void kiln_mesh_refresh(kiln_mesh *mesh); /* core pointers after a table has grown */

/* All material positions at once, [vertex slot]; `u` may be mesh->x. The caller answers for M3.
 * Volumes and stamps of the parts follow and the revision advances; tets do not count as made
 * anew, so what hangs in them by barycentric coordinates goes along. The ledger is left alone: it
 * is about matter that comes and goes. Not in a pass or transaction. Can only fail, with nothing
 * changed, inside a step (rewind.h). */
kiln_status kiln_mesh_place(kiln_mesh *mesh, const kiln_vec3 *u, kiln_error *error);

/* Whether u and x are the same bits at every live vertex. */
bool kiln_mesh_spaces_agree(const kiln_mesh *mesh);

/* Bytes held by tables and parts. */
size_t kiln_mesh_bytes(const kiln_mesh *mesh);

extern const uint8_t kiln_face_corner[4][3]; /* outward order */
extern const uint8_t kiln_edge_ends[6][2];
extern const uint8_t kiln_edge_of[4][4]; /* edge number of two corners */

KILN_INLINE const kiln_vec3 *kiln_mesh_positions(const kiln_mesh *mesh, kiln_space space)
{
    return space == KILN_SPACE_WORLD ? mesh->x : mesh->u;
}
KILN_INLINE bool kiln_link_is_surface(kiln_link link)
{
    return link >= KILN_LINK_SURFACE;
}
KILN_INLINE kiln_link kiln_link_to(uint32_t tet, uint32_t face)
{
    return tet * 4 + face;
}
KILN_INLINE bool kiln_tet_live(const kiln_mesh *mesh, uint32_t tet)
{
    return mesh->tet[tet].v[0] != KILN_NONE;
}
KILN_INLINE bool kiln_vertex_live(const kiln_mesh *mesh, uint32_t vertex)
{
    return !(mesh->vertex[vertex].flags & KILN_VERTEX_DEAD);
}
KILN_INLINE bool kiln_face_live(const kiln_mesh *mesh, uint32_t face)
{
    return mesh->face[face].at != KILN_NONE;
}
KILN_INLINE bool kiln_row_live(const kiln_mesh *mesh, kiln_where where, uint32_t row)
{
    return where == KILN_ON_VERTEX ? kiln_vertex_live(mesh, row)
           : where == KILN_ON_TET  ? kiln_tet_live(mesh, row)
                                   : kiln_face_live(mesh, row);
}
/* The thread of a table's free list. */
KILN_INLINE uint32_t kiln_row_next_free(const kiln_mesh *mesh, kiln_where where, uint32_t row)
{
    return where == KILN_ON_VERTEX ? (uint32_t)mesh->vertex[row].tag
           : where == KILN_ON_TET  ? mesh->tet[row].v[1]
                                   : mesh->face[row].twin;
}
/* Corner 0..3 of a vertex in a tet, 4 when it has none. */
KILN_INLINE uint32_t kiln_tet_corner(const kiln_tet *tet, uint32_t vertex)
{
    return tet->v[0] == vertex   ? 0
           : tet->v[1] == vertex ? 1
           : tet->v[2] == vertex ? 2
           : tet->v[3] == vertex ? 3
                                 : 4;
}
KILN_INLINE kiln_vec3 kiln_tet_centre(const kiln_mesh *mesh, uint32_t tet,
                                      const kiln_vec3 *positions)
{
    const uint32_t *v = mesh->tet[tet].v;
    kiln_vec3 sum = kiln_v3_add(kiln_v3_add(positions[v[0]], positions[v[1]]),
                                kiln_v3_add(positions[v[2]], positions[v[3]]));
    return kiln_v3_scale(sum, 0.25);
}

KILN_INLINE double kiln_mesh_tet_volume(const kiln_mesh *mesh, uint32_t tet)
{
    const uint32_t *v = mesh->tet[tet].v;
    return kiln_tet_volume(mesh->u[v[0]], mesh->u[v[1]], mesh->u[v[2]], mesh->u[v[3]]);
}
/* True where the two sides of an interior face belong to different regions. */
KILN_INLINE bool kiln_link_is_interface(const kiln_mesh *mesh, uint32_t tet, kiln_link link)
{
    return !kiln_link_is_surface(link) && mesh->info[tet].region != mesh->info[link / 4].region;
}
/* Surface or interface: what remeshing keeps in shape. */
KILN_INLINE bool kiln_link_is_wall(const kiln_mesh *mesh, uint32_t tet, kiln_link link)
{
    return kiln_link_is_surface(link) || mesh->info[tet].region != mesh->info[link / 4].region;
}
/* The same from one side only: an interface is seen from the tet of the lower region. */
KILN_INLINE bool kiln_link_is_front(const kiln_mesh *mesh, uint32_t tet, kiln_link link)
{
    return kiln_link_is_surface(link) || mesh->info[tet].region < mesh->info[link / 4].region;
}
/* Marks that forbid an edge, or a face, to go by itself. */
KILN_INLINE bool kiln_edge_is_marked(const kiln_mesh *mesh, uint32_t tet, uint32_t edge)
{
    return mesh->info[tet].marks >> edge &
           (1u << KILN_MARK_FEATURE_EDGE | 1u << KILN_MARK_REQUIRED_EDGE);
}
KILN_INLINE bool kiln_face_is_marked(const kiln_mesh *mesh, uint32_t tet, uint32_t face)
{
    return mesh->info[tet].marks >> face &
           (1u << KILN_MARK_REQUIRED_FACE | 1u << KILN_MARK_SPLIT_FACE);
}

#endif
