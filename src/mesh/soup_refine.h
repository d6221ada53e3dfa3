/* Soups made finer and thicker. Tags come along; fields, edges and the marks of both do not. */
#ifndef KILN_MESH_SOUP_REFINE_H
#define KILN_MESH_SOUP_REFINE_H

#include "mesh/soup.h"

/* Every edge in two: eight tets for one, of which the inner four stand round the shortest diagonal;
 * four triangles for one. Points keep their numbers, the new ones follow. */
kiln_status kiln_soup_halve(kiln_soup *soup, kiln_error *error);

/* Triangles in a plane of constant z become tets between there and `depth` above: three for one.
 * There are no tets yet. */
kiln_status kiln_soup_draw_out(kiln_soup *soup, double depth, kiln_error *error);

/* Whether there are triangles, and all points have the same z. */
bool kiln_soup_is_flat(const kiln_soup *soup);

#endif
