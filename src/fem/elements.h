/* Linear tets and their elastic energy, as one term.
 *
 * The elements are a snapshot of the mesh: the live tets, grouped by material model, in structure
 * of arrays by eight, in chunks of which those of one colour share no vertex. Chunks and colours
 * depend on the mesh only, so scattering forces and blocks colour by colour gives the same bits for
 * any number of threads without buffers. Update when the mesh changes. */
#ifndef KILN_FEM_ELEMENTS_H
#define KILN_FEM_ELEMENTS_H

#include "fem/material.h"
#include "mesh/changes.h"
#include "solve/term.h"

typedef struct kiln_elements kiln_elements;

kiln_status kiln_elements_create(kiln_context *context, kiln_elements **out, kiln_error *error);
void kiln_elements_destroy(kiln_elements *elements); /* NULL allowed */

/* `material_of` [tet slot] indexes materials, which are copied. Rest shapes are those of the mesh's
 * plastic offsets (offset.h), F = Dw Dm^-1 Pi, or where it has none those in the material. After a
 * failure there are no elements. */
kiln_status kiln_elements_build(kiln_elements *elements, const kiln_mesh *mesh,
                                const kiln_material *materials, size_t material_count,
                                const uint32_t *material_of, kiln_error *error);
/* The bits that a build from the mesh as it is now gives, with the materials of the last one, at
 * the cost of what has changed. `changes` are those since the elements were built or updated; a tet
 * whose offset or material is another counts as changed. Parameters tet by tet are gone, as after a
 * build. After a failure there are no elements. */
kiln_status kiln_elements_update(kiln_elements *elements, const kiln_mesh *mesh,
                                 const uint32_t *material_of, const kiln_changes *changes,
                                 kiln_error *error);
/* After an update: the elements with a vertex that is tied anew (changes->retied_vertices), as
 * cliques. Borrowed, until the next update or build. */
kiln_cliques kiln_elements_cliques_around(const kiln_elements *elements);
/* Rest shapes and volumes anew, where offsets or material positions of the same tets have changed:
 * the bits that a build gives, without its cost. After a failure there are no elements. */
kiln_status kiln_elements_reform(kiln_elements *elements, const kiln_mesh *mesh, kiln_error *error);

/* Lame parameters tet by tet [tet slot] instead of the material's, until the next build or
 * update. Needs memory the first time. */
kiln_status kiln_elements_set_lame(kiln_elements *elements, const double *mu, const double *lambda,
                                   kiln_error *error);

/* The elastic energy. Materials with nodal_pressure set contribute W_shape only: their volumetric
 * energy is the other term's (nodal_pressure.h), which also adds to these element blocks so that
 * the projection sees both. */
kiln_term *kiln_elements_term(kiln_elements *elements);

size_t kiln_elements_count(const kiln_elements *elements);
size_t kiln_elements_bytes(const kiln_elements *elements);

/* Steps stop at this part of the way to the first flat tet. */
#define KILN_FLAT_MARGIN 0.9
/* Largest such step in (0, 1] along dx that leaves every tet, whatever its material, `least` of its
 * rest volume, or what it has of it where that is less. Tets that are inverted at x do not count.
 */
double kiln_elements_positive_step(const kiln_elements *elements, double least, const double *x,
                                   const double *dx);

/* Live tets with det F <= 0 at x; the lowest such slot in *first (KILN_NONE: none). */
size_t kiln_elements_inverted(const kiln_elements *elements, const double *x, uint32_t *first);

/* Largest ratio of an element's singular values at x to those at y, either way: how much the worst
 * tet was stretched by a step. INFINITY when one was turned inside out or flattened. `tet`: the
 * slot of the worst one, KILN_NONE when none was stretched; may be NULL. */
double kiln_elements_stretch(const kiln_elements *elements, const double *x, const double *y,
                             uint32_t *tet);

/* Columns for frames, [tet slot][components]; rows of dead tets are not touched. The stresses
 * include the pressure of the nodal form, and the energy the tet's share of its volumetric energy:
 * times the rest volumes it sums to the energy of both terms. */
typedef enum kiln_element_output {
    KILN_OUTPUT_F,        /* 9, deformation gradient */
    KILN_OUTPUT_CAUCHY,   /* 6, xx yy zz xy yz xz as in soups, Pa */
    KILN_OUTPUT_MISES,    /* 1, von Mises stress, Pa */
    KILN_OUTPUT_PRESSURE, /* 1, minus the mean of the Cauchy stress, Pa */
    KILN_OUTPUT_ENERGY,   /* 1, J per rest volume */
    KILN_OUTPUT_COUNT
} kiln_element_output;
uint32_t kiln_element_output_components(kiln_element_output what);
/* Of stresses: p dtheta/dF besides, [tet slot], which another term has (thermal_stress.h); NULL:
 * none. Borrowed. */
void kiln_elements_set_besides(kiln_elements *elements, const double *pressure);
void kiln_elements_output(const kiln_elements *elements, const double *x, kiln_element_output what,
                          double *out);

#endif
