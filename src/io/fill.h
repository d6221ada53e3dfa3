/* Tets inside a surface, and Delaunay tets of points.
 *
 * A surface that can be taken at its word is filled by TetGen as a separate program (it is AGPL:
 * run, never linked), after what files get wrong has been mended (topology/surface_mend.h). Its
 * results are checked, since version 1.5 answers an open surface with no tets and no error. One
 * that crosses itself, or whatever is asked to, is filled within an envelope (remesh/envelope.h).
 */
#ifndef KILN_IO_FILL_H
#define KILN_IO_FILL_H

#include "mesh/shapes.h"
#include "remesh/envelope.h"
#include "topology/surface_mend.h"

#include <stdbool.h>

/* Of `envelope`: the preset distance, a part of the size (remesh/envelope.h). */
#define KILN_FILL_ENVELOPE_PRESET (-1.0)
/* Tets below this quality are told of. */
#define KILN_FILL_POOR 0.05

typedef struct kiln_fill_options {
    double size;         /* m, edges inside and on the surface; 0: as the surface has them */
    double max_edge;     /* m, edges inside alone; 0: as the surface has them */
    double radius_edge;  /* TetGen's -q bound; 0: no new points for quality */
    double min_dihedral; /* degrees; 0: none asked for */
    bool keep_surface;   /* no new points on the surface (but for `size`) */
    double weld;         /* m, points that close are one; negative: the preset */
    double envelope;     /* m, how far the result may be from the surface; 0: it is taken exactly,
                            KILN_FILL_ENVELOPE_PRESET: by its size */
    bool exact;          /* a surface that crosses itself is refused, not filled by an envelope */
    bool regions;        /* a shell in a shell is a region, not a cavity; walls divide */
    double patch_angle;  /* degrees, triangles that turn by less are one patch; 0: tags stay */
    size_t most_tets;    /* of an envelope's lattice; 0: its preset */
    double seconds;      /* time limit of TetGen; 0: none */
    const char *program; /* NULL: "tetgen", found by PATH */
} kiln_fill_options;

kiln_fill_options kiln_fill_default_options(void);

/* What was done. */
typedef struct kiln_fill_report {
    kiln_mend_report mend;
    size_t turned;    /* triangles that looked the other way than most of what they bound */
    size_t separated; /* cuts where bodies shared a vertex or an edge and no face */
    size_t cavities, regions, patches;
    bool enveloped;
    char crossing[256]; /* why, when nobody asked for it; else empty */
    kiln_envelope_report envelope;
    double worst; /* quality */
    /* Of a worst tet below KILN_FILL_POOR: its middle, how thick the body is there, and the nearest
     * triangle of the surface: its number, longest edge and smallest angle (degrees). */
    kiln_vec3 worst_at;
    double thickness, edge_there, angle_there;
    uint32_t triangle_there;
} kiln_fill_report;

/* Fills `out` (initialised, empty) with points, tets (tag 1, or the number of the region) and
 * surface triangles, which keep the tags of the triangles they lie on. On failure `out` is empty.
 * `place` is the surface's name for messages; `report` may be NULL. KILN_ERR_INPUT names the place
 * that cannot be meant. */
kiln_status kiln_fill_surface(const kiln_soup *surface, const char *place,
                              const kiln_fill_options *options, kiln_soup *out,
                              kiln_fill_report *report, kiln_error *error);

/* A line for each thing that was done to the surface, and for a result that is poor. */
void kiln_fill_report_log(kiln_context *context, const char *place, const kiln_fill_report *report);

/* Delaunay tets of the points of `cloud`; no triangles. */
kiln_status kiln_fill_points(const kiln_soup *cloud, const kiln_fill_options *options,
                             kiln_soup *out, kiln_error *error);

/* Random points in a cube with its corners, edges and faces sampled too (mesh/shapes.h). */
extern const kiln_shape kiln_shape_random;

/* All shapes that can be generated: those of mesh/shapes.h and the one above. NULL past the last.
 */
const kiln_shape *kiln_generator_at(size_t row);
kiln_status kiln_generator_find(const char *name, const kiln_shape **out, kiln_error *error);

/* KILN_ERR_INPUT with the place when triangles of the surface cross or touch, `from` their numbers
 * in the input (NULL: the same). KILN_OK: they do not. */
kiln_status kiln_fill_find_crossing(const kiln_soup *surface, const uint32_t *from,
                                    const char *place, kiln_error *error);

#endif
