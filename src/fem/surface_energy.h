/* Surface tension: gamma A of every surface triangle, and of interfaces between regions, as one
 * term.
 *
 * The gradient at a corner is gamma / 2 E x n, E the edge opposite, n the unit normal. The Hessian
 * has a normal part, the cotangent Laplacian, and one in the plane whose eigenvalues are
 * +-sqrt(3)/2 twice each whatever the shape, so its PSD part has a closed form (liquids-algorithms
 * 4): H_ij = (E_i . E_j) / (4 A) n n' + sqrt(3)/6 (cos(2 pi (i - j) / 3) (I - n n')
 *                                                 + sin(2 pi (i - j) / 3) [n]x),
 * and for a negative gamma (a wall that is wetted) the other half of the second part alone.
 *
 * Asked for it (term.set_exact) the Hessian is the true one, whose part in the plane is -[n]x / 2
 * for j = i + 1, and its transpose for j = i - 1.
 *
 * It couples vertices of faces, which elements and mass do, too: no cliques of its own, and nothing
 * is added to a matrix without theirs. */
#ifndef KILN_FEM_SURFACE_ENERGY_H
#define KILN_FEM_SURFACE_ENERGY_H

#include "mesh/mesh.h"
#include "solve/term.h"

typedef struct kiln_surface_energy kiln_surface_energy;

kiln_status kiln_surface_energy_create(kiln_context *context, kiln_surface_energy **out,
                                       kiln_error *error);
void kiln_surface_energy_destroy(kiln_surface_energy *energy); /* NULL allowed */
/* A face inside the mesh, as packed tet*4+face. */
typedef struct kiln_tense_link {
    uint32_t at;
    double gamma; /* N/m */
} kiln_tense_link;
typedef KILN_ARRAY_OF(kiln_tense_link)
kiln_tense_links;
/* The faces of the mesh with another gamma [face slot] than 0, N/m, and those within. On failure
 * there are none. */
kiln_status kiln_surface_energy_build(kiln_surface_energy *energy, const kiln_mesh *mesh,
                                      const double *gamma, const kiln_tense_links *within,
                                      kiln_error *error);
/* Other tensions of the same faces of the surface; 0 is allowed here. */
void kiln_surface_energy_set(kiln_surface_energy *energy, const double *gamma);
kiln_term *kiln_surface_energy_term(kiln_surface_energy *energy);
#endif
