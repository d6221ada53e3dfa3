/* Input that is nearly a mesh: tets listed in the wrong order, inverted or flat. Works on the lists
 * of a soup, before a mesh is built from it. */
#ifndef KILN_REMESH_UNTANGLE_H
#define KILN_REMESH_UNTANGLE_H

#include "mesh/soup.h"

typedef struct kiln_untangle_report {
    size_t turned; /* tets whose corners were listed in the other order than their neighbours' */
    size_t peeled; /* flat tets taken off the surface, which leaves the shape as it is */
    size_t moved;  /* vertices that moved so that tets became positive */
    size_t bad;    /* tets that were inverted or flat after turning */
    size_t left;   /* of them, those that still are: the mesh will be refused */
    size_t first_left; /* its number in the file, counted from 0 */
} kiln_untangle_report;

/* Gives neighbours one orientation and each connected part a positive volume, peels flat tets off
 * the surface, and moves vertices into the kernel of their star (Freitag and Plassmann's
 * untangling); the surface stays where it is. Tets that name a corner twice or exist twice are
 * passed over; so are meshes with material positions of their own ("u"), whose world shape is data,
 * and those beyond KILN_MAX_TETS, which cannot be built. A soup with nothing to mend is not
 * changed. */
kiln_status kiln_soup_untangle(kiln_soup *soup, kiln_untangle_report *report, kiln_error *error);

#endif
