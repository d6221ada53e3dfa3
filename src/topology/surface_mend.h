/* Surfaces as files have them, made fit to be filled: points that are meant to be one are welded,
 * triangles without area or given twice go, edges that another's corner lies on are cut there.
 * Nothing is moved by more than the weld tolerance, and nothing is closed that is not. */
#ifndef KILN_TOPOLOGY_SURFACE_MEND_H
#define KILN_TOPOLOGY_SURFACE_MEND_H

#include "mesh/soup.h"

/* Of the diagonal of the bounding box: points on open edges closer than this are one, unless edges
 * there are shorter than ten times that. */
#define KILN_WELD_OF_SIZE 1e-5

typedef struct kiln_mend_options {
    double weld; /* m, any points that close are one; negative: the preset, on open edges alone */
    bool walls;  /* triangles given twice with opposite faces are a wall between two regions, and
                    stay; otherwise two bodies touch there, and both go */
} kiln_mend_options;

typedef struct kiln_mend_report {
    size_t points_unused;  /* in no triangle */
    size_t points_welded;  /* apart in the file by more than nothing */
    double weld;           /* m, the tolerance */
    double weld_farthest;  /* m, the longest way of a point */
    size_t flat_dropped;   /* triangles without area */
    size_t double_dropped; /* triangles given before */
    size_t walls_dropped;  /* triangles between bodies that touch */
    size_t edges_cut;      /* at corners of others (T-junctions) */
} kiln_mend_report;

/* `out` (initialised, empty) gets points and triangles with tags; `from` for each of them the
 * triangle of the input it comes from. Both are the caller's to free, after a failure too. */
kiln_status kiln_surface_mend(const kiln_soup *surface, const kiln_mend_options *options,
                              kiln_soup *out, kiln_u32_array *from, kiln_mend_report *report,
                              kiln_error *error);

/* one[point]: the point it would be welded to, for points of open edges and a tolerance that is
 * less where edges are short. */
kiln_status kiln_surface_unite(const kiln_soup *surface, double weld, uint32_t *one,
                               kiln_error *error);

/* Every edge of the triangles must have an even number of them, or with `walls` at least two; an
 * error names the first that has not, with its ends, and triangles with two equal corners. */
kiln_status kiln_surface_is_closed(const kiln_soup *surface, bool walls, const char *place,
                                   kiln_error *error);

/* Tags of triangles, from 1 in their order, so that neighbours across an edge have the same where
 * it turns by no more than `angle` (radians), two triangles meet in it and they had the same tag
 * before. */
kiln_status kiln_surface_tag_patches(kiln_soup *surface, double angle, size_t *patches,
                                     kiln_error *error);

/* Length of the diagonal of the bounding box of the points that triangles use. */
double kiln_surface_diagonal(const kiln_soup *surface);

#endif
