/* Inside of the elements, for the terms that are built on them (nodal pressure, damping) and for
 * their kernels.
 *
 * Layout. Tet slots are cut into windows of 256, and each window has the same number of batches of
 * eight lanes. In its window a live tet is sorted by material and then by slot; each material
 * begins a batch, and its batches in the window are a chunk. So where a tet goes depends on its
 * window only, and a change of the mesh moves nothing beyond. (Sorting all tets by material,
 * without windows, has less padding, but one tet more moves half of them.) Element e is lane e % 8
 * of batch e / 8; numbers of padding lanes (kiln_elements_room counts them in) have slot KILN_NONE,
 * volume zero and the geometry of the first tet of their batch. Batches that a window does not need
 * are in no chunk: all slots KILN_NONE, vertices KILN_NONE. Vertices of an element are sorted
 * ascending, so that a block (a, b), a <= b, lies in row vertex[a]; padding has those of the other
 * tet. Chunks are sorted by colour: those of one colour share no vertex, so that they may scatter
 * at the same time.
 *
 * For nodal pressure. The elements of a material with `nodal_pressure` evaluate W_shape. What its
 * term needs:
 *   - kiln_elements_dilation gives theta of every element;
 *   - kiln_elements_add_dilation adds sum_e w_e V_e dtheta_e/dx, so a gradient with w_e the mean
 *     pressure of e is one call;
 *   - kiln_elements_dilation_gradient gives dtheta_e/dx of the four vertices of one element;
 *   - kiln_elements_set_pressure makes the element blocks those of W_shape + p_e theta, projected
 *     together: `fill` is asked for p_e whenever Hessian or output is wanted at an x. The gradient
 *     and the value of the element term stay those of W_shape alone.
 *
 * For damping: each model's kernels make dampers (damping_impl.h) from what is here. */
#ifndef KILN_FEM_ELEMENTS_IMPL_H
#define KILN_FEM_ELEMENTS_IMPL_H

#include "fem/elements.h"
#include "solve/kept_values.h"

enum {
    KILN_ELEMENT_LANES = 8,
    KILN_CHUNK_BATCHES = 32, /* at most */
    KILN_WINDOW_TETS = KILN_CHUNK_BATCHES * KILN_ELEMENT_LANES
};

typedef struct kiln_element_batch {
    double gradient[9]
                   [KILN_ELEMENT_LANES]; /* B = Dr^-1 row by row: F = Dw B; row a is the gradient
                                            of the shape function of vertex a + 1 in rest space */
    double volume[KILN_ELEMENT_LANES];   /* at rest, m^3 */
    uint32_t slot[KILN_ELEMENT_LANES];
    uint32_t place[6][KILN_ELEMENT_LANES]; /* in its row: blocks 01 02 03 12 13 23 */
} kiln_element_batch;

typedef struct kiln_element_chunk {
    uint32_t batch, batches; /* first, number */
    uint32_t material;
} kiln_element_chunk;

typedef void (*kiln_pressure_fill)(void *user, const double *x, double *pressure);

struct kiln_elements {
    kiln_context *context; /* borrowed */
    kiln_term term;
    size_t count, vertices; /* live tets; vertex slots of the mesh */
    KILN_ARRAY_OF(kiln_element_batch)
    batches;
    kiln_u32_array vertex; /* [element number][4], also the cliques of the pattern */
    KILN_ARRAY_OF(kiln_element_chunk)
    chunks;
    KILN_ARRAY_OF(size_t)
    colours; /* first chunk of each colour, and the end */
    KILN_ARRAY_OF(kiln_material)
    materials;
    KILN_ARRAY_OF(size_t)
    tets_of;                    /* [material] live tets */
    kiln_u32_array material_of; /* [batch]; KILN_NONE: in no chunk */
    kiln_u32_array number_of;   /* [tet slot] element number; KILN_NONE: dead */
    kiln_u32_array mention;     /* [batch] bit 4 * lane + corner: the first in its chunk that names
                                   its vertex */
    kiln_u32_array named;       /* the vertices mentioned, batch by batch */
    kiln_u32_array named_first; /* [window], and the end */
    KILN_ARRAY_OF(uint8_t)
    stale; /* [batch] bit of a lane: `place` has not been looked up since it came, or since the
              rows of its vertices may be others */
    bool any_stale;
    /* Of one update since `place` was looked up: batches with stale lanes, and the vertices,
     * ascending, all of whose elements are. */
    kiln_u32_array waiting, retied;
    bool waiting_known;
    kiln_u32_array around;   /* [clique][4] those of `retied` in the last update */
    kiln_u32_array touched;  /* numbers whose tet the last update formed or moved */
    kiln_f64_array partial;  /* [chunk][2], of sums and minima */
    kiln_f64_array lame;     /* [batch][2][8] mu, lambda; only when set tet by tet */
    kiln_f64_array pressure; /* [element number]; only when some material has nodal pressure */
    kiln_f64_array yield;    /* [batch][2][8] threshold and growth (flow_potential.h) of the step
                                that is made, if `flowing`, or was, if `yield_state` is `state` */
    kiln_f64_array ratio;    /* [element number] of the norm frobenius (yield_surfaces.h) */
    kiln_f64_array ratio_scratch;
    const struct kiln_plastic *laws; /* [tet slot] in place of the materials', borrowed; or NULL */
    bool flowing;                    /* a step is being made in which matter flows */
    uint64_t yield_state;
    bool exact;            /* Hessians as they are (term.h), */
    bool near;             /* and asked for whether matter flows or not */
    const double *besides; /* kiln_elements_set_besides */
    kiln_pressure_fill fill, fill_energy;
    void *fill_user;
    uint64_t pattern;      /* the one `place` belongs to */
    uint64_t state;        /* changes with all that energies depend on besides x */
    kiln_kept_values kept; /* energies [element number] of the last two x */
    bool differs;          /* somebody asks for differences of them; else none are kept */
};

/* Asks for the pressures at x, if a material has them; or for volumetric energies in their place,
 * J per rest volume. */
void kiln_elements_fill_pressure(const kiln_elements *elements, const double *x);
void kiln_elements_fill_energy(const kiln_elements *elements, const double *x);
/* The term's max_step: keeps the tets of barrier materials from inverting. */
double kiln_elements_max_step(void *self, const double *x, const double *dx);

/* The term's attach: looks up block places, those that are not as they were for this matrix. Cannot
 * fail. */
kiln_status kiln_elements_attach(void *self, const kiln_bsr *H, kiln_error *error);

/* After an update: `affected` [vertex] becomes 1 where the tets at a vertex, or their numbers, are
 * others than before it, else 0. */
void kiln_elements_mark_affected(const kiln_elements *elements, const kiln_changes *changes,
                                 uint8_t *affected);

/* One element, by value. */
typedef struct kiln_element {
    uint32_t slot; /* KILN_NONE: padding */
    uint32_t vertex[4];
    uint32_t material;
    double volume, mu, lambda; /* lambda as the material has it, also with nodal pressure */
    kiln_vec3 gradient[4];     /* of the shape functions in rest space; they sum to zero */
} kiln_element;

size_t kiln_elements_room(const kiln_elements *elements); /* element numbers, with padding */
kiln_element kiln_elements_at(const kiln_elements *elements, size_t number);
kiln_mat3 kiln_element_deformation(const kiln_element *element, const double *x);
const kiln_material *kiln_elements_material(const kiln_elements *elements, uint32_t material);

/* `theta` [element number]; only elements of nodal pressure materials are written. */
void kiln_elements_dilation(const kiln_elements *elements, const double *x, double *theta);
/* g += scale * sum_e weight[e] V_e dtheta_e/dx over the elements of nodal pressure materials. */
void kiln_elements_add_dilation(const kiln_elements *elements, const double *x,
                                const double *weight, double scale, double *g);
/* dtheta/dx of the vertices of one element (not times its volume). */
void kiln_elements_dilation_gradient(const kiln_elements *elements, size_t number, const double *x,
                                     kiln_vec3 gradient[4]);
/* NULL: no pressure, no energy. Kept over a build; `pressure` [element number] comes zeroed, also
 * for `energy`, whose sum over the elements times their volumes is the energy of the other term. */
void kiln_elements_set_pressure(kiln_elements *elements, kiln_pressure_fill fill,
                                kiln_pressure_fill energy, void *user);

#endif
