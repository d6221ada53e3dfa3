/* A fine triangle surface that hangs in the mesh and follows it.
 *
 * Each vertex keeps its material position, the tet it hangs in and its weights there; its world
 * position is the interpolation of the tet's. The material position is what counts: when the mesh
 * changes, the vertices of changed tets are hung anew where it says. Outside the mesh (the surface
 * may be finer than the mesh's own) a vertex has the weights of the closest point, one of them
 * exactly 0, and is off it by a vector of the material that goes with the matter there: by the
 * deformation gradient, averaged round the vertices of the mesh and interpolated between them. So
 * the surface is continuous outside as it is inside: extrapolated from one tet here, from another
 * there, it would have a step wherever two of them are not deformed alike. */
#ifndef KILN_REMESH_EMBEDDED_H
#define KILN_REMESH_EMBEDDED_H

#include "mesh/changes.h"
#include "mesh/reorder.h"

typedef struct kiln_embedded kiln_embedded;

typedef struct kiln_embedded_report {
    size_t hung;    /* vertices that were hung anew */
    size_t outside; /* of them outside the mesh */
    size_t visits;  /* tets visited to find their places */
} kiln_embedded_report;

/* From the points and triangles of a soup. A point field "u" of three components gives material
 * positions; without it the points are in `space`. Fields "hung_in" and "hung_weights", as
 * kiln_embedded_to_soup writes them, are taken over where they fit the mesh, so that a surface
 * that was saved comes back with the same bits. With `body` only tets of that body count;
 * KILN_NONE: all. Report may be NULL. */
kiln_status kiln_embedded_create(const kiln_mesh *mesh, const kiln_soup *surface, kiln_space space,
                                 uint32_t body, kiln_embedded **out, kiln_embedded_report *report,
                                 kiln_error *error);
void kiln_embedded_destroy(kiln_embedded *embedded); /* NULL allowed */

size_t kiln_embedded_vertices(const kiln_embedded *embedded);
size_t kiln_embedded_triangles(const kiln_embedded *embedded);
const kiln_vec3 *kiln_embedded_material(const kiln_embedded *embedded); /* [vertex], m */

/* Where the mesh carries the vertices now, out[vertex]; parallel. The mesh must be the one the
 * surface hangs in, not changed since the last kiln_embedded_rehang. */
kiln_status kiln_embedded_positions(const kiln_embedded *embedded, const kiln_mesh *mesh,
                                    kiln_space space, kiln_vec3 *out, kiln_error *error);

/* After the mesh changed. In a pass (before the archive goes) only the changed tets are looked at;
 * outside, the stamps of all tets with vertices. Call it once more after a pass is rolled back. On
 * failure the surface is as it was. */
kiln_status kiln_embedded_rehang(kiln_embedded *embedded, const kiln_mesh *mesh,
                                 kiln_embedded_report *report, kiln_error *error);

/* What the surface's own remeshing did. */
typedef struct kiln_refine_report {
    size_t splits, flips, collapses;
    size_t smoothed; /* vertices that stood out where matter has flowed */
} kiln_refine_report;

/* Triangles that were drawn out or pushed together become as large again as the surface began with
 * (embedded_refine.c). `flowed`: [tet] plastic strain, or NULL: none. Not in a pass. A surface at
 * rest, or merely bent, is not touched. On failure it is undefined: save it before. */
kiln_status kiln_embedded_refine(kiln_embedded *embedded, const kiln_mesh *mesh,
                                 const double *flowed, kiln_refine_report *report,
                                 kiln_error *error);

/* To another mesh of the same domain (whole-domain remesh): vertices stay where they are in
 * `space`, and take material positions from the new mesh. */
kiln_status kiln_embedded_move(kiln_embedded *embedded, const kiln_mesh *from, const kiln_mesh *to,
                               kiln_space space, kiln_embedded_report *report, kiln_error *error);

/* The same of bodies that became one in `to`, in the world: the surfaces of the bodies are cut by
 * each other, what lies inside goes, and where a gap was filled they are joined by a piece of `to`.
 * It becomes the surface of the first that has one; the others are empty from then on. list[i] is
 * the surface of bodies[i]; of a body that has none (NULL) the outline counts. A surface may have
 * folded onto itself (count 1). *done is false, with nothing changed, where there is nothing to do,
 * a surface is not closed or crosses itself where it is cut. On failure the surfaces are undefined.
 */
kiln_status kiln_embedded_unite(kiln_embedded *const *list, const uint32_t *bodies, size_t count,
                                const kiln_mesh *from, const kiln_mesh *to, bool *done,
                                kiln_error *error);

/* After kiln_mesh_reorder or a compaction. */
kiln_status kiln_embedded_renumber(kiln_embedded *embedded, const kiln_mesh *mesh,
                                   const kiln_renumbering *now, kiln_error *error);

/* After rows have closed ranks (mesh/close_ranks.h) behind a pass in which it was hung anew. */
kiln_status kiln_embedded_follow_rows(kiln_embedded *embedded, const kiln_mesh *mesh,
                                      const kiln_row_moves *moves, kiln_error *error);

/* Keeps how it hangs now, for kiln_embedded_take_back, which cannot fail. */
kiln_status kiln_embedded_save(kiln_embedded *embedded, kiln_error *error);
void kiln_embedded_take_back(kiln_embedded *embedded);

/* Around a change of the mesh's own material positions (flow; liquids: u = x): notes where vertices
 * outside are in the world, and gives all the material positions of where they are. */
kiln_status kiln_embedded_note(kiln_embedded *embedded, const kiln_mesh *mesh, kiln_error *error);
kiln_status kiln_embedded_rebase(kiln_embedded *embedded, const kiln_mesh *mesh, kiln_error *error);

/* The places that kiln_embedded_to_soup gave, into a surface with the same vertices in the same
 * mesh: exactly where it hung. KILN_ERR_INPUT, with nothing changed, when the mesh has no such
 * tets.
 */
kiln_status kiln_embedded_restore(kiln_embedded *embedded, const kiln_mesh *mesh,
                                  const kiln_soup *saved, kiln_error *error);

/* World positions as points, "u", "hung_in" and "hung_weights" as fields, triangles with tags. */
kiln_status kiln_embedded_to_soup(const kiln_embedded *embedded, const kiln_mesh *mesh,
                                  kiln_soup *soup, kiln_error *error);

#endif
