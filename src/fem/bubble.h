/* Bubbles of tets that keep their volume (MINI: Arnold, Brezzi and Fortin 1984), condensed.
 *
 * Inside a tet matter may go by b xi more than its corners do, b = 256 l1 l2 l3 l4 of the
 * barycentric coordinates, nothing at its faces. That is room enough for pressures of vertices not
 * to alternate. xi is an unknown of the tet alone, so it is found in closed form. With
 *     Q = k m / scale + viscosity / tau (4096 / 945) V (sum |g|^2 + sum g g'),  k = int b^2 / V,
 *     X = (8 / 105) m / scale,   z_i = (32 / 105) V g_i,
 *     r = X sum (x_i - c_i) - sum p_i z_i - (32 / 105) m a
 * the objective is xi . Q xi / 2 + xi . r, so xi = -Q^-1 r: an energy of -r . Q^-1 r / 2, in J
 * X z_i . Q^-1 at each corner and in C z_i . Q^-1 z_j (liquids-algorithms 1). Q and z are those of
 * the begin of a step, where xi is 0. Constants are nothing to C and to what is added to J: the sum
 * of volumes is kept as without bubbles. `a` is 0 where the weight is that of the room
 * (fem/weight.h). */
#ifndef KILN_FEM_BUBBLE_H
#define KILN_FEM_BUBBLE_H

#include "fem/ring_volume.h"

/* Integrals over a tet of unit volume: of b, of b l_i, of b^2, and of grad b grad b' the factor of
 * sum g_i g_i'. */
#define KILN_BUBBLE_MEAN     (32.0 / 105.0)
#define KILN_BUBBLE_CORNER   (8.0 / 105.0)
#define KILN_BUBBLE_SQUARE   (8192.0 / 51975.0)
#define KILN_BUBBLE_GRADIENT (4096.0 / 945.0)

typedef struct kiln_bubble {
    double inverse[3][3]; /* Q^-1, m/N */
    double z[4][3];       /* m^2 */
    double mix;           /* X, N/m */
    double weight[3];     /* N, the last of r */
    bool used;
} kiln_bubble;

typedef struct kiln_bubbles {
    kiln_context *context;         /* borrowed */
    const kiln_ring_volume *rings; /* borrowed */
    const kiln_mesh *mesh;         /* borrowed */
    bool used;                     /* some tet has one */
    KILN_ARRAY_OF(kiln_bubble)
    tets;                 /* [tet slot] */
    kiln_f64_array way;   /* [tet slot][3] xi, m, at the last places asked for */
    const double *centre; /* [row][3] c, where inertia pulls to; borrowed */
    double scale, tau;    /* of the integrator: s^2, s */
} kiln_bubbles;

void kiln_bubbles_init(kiln_bubbles *bubbles, kiln_context *context);
void kiln_bubbles_free(kiln_bubbles *bubbles);
/* For the mesh of the rings. `has` [tet slot]: not 0 where a tet, one that keeps its volume, has
 * one. */
kiln_status kiln_bubbles_build(kiln_bubbles *bubbles, const kiln_ring_volume *rings,
                               const kiln_mesh *mesh, const uint8_t *has, kiln_error *error);

/* A try begins: then each of them is set. */
void kiln_bubbles_begin(kiln_bubbles *bubbles, const double *centre, double scale, double tau);
/* The bubble of a tet: its kg and Pa s, the places x it begins at, m/s^2 of what pulls it. */
void kiln_bubbles_set(kiln_bubbles *bubbles, uint32_t tet, double mass, double viscosity,
                      const double *x, kiln_vec3 acceleration);
/* To C, once what stabilises is in it. */
void kiln_bubbles_add_give(const kiln_bubbles *bubbles, kiln_bsr *C);

/* The energy at x with multipliers p [row]; less that at `from`, unless that is NULL. J. */
double kiln_bubbles_value(const kiln_bubbles *bubbles, const double *p, const double *from,
                          const double *x);
/* Gradient and Hessian of that; `blocks` of the rings (kiln_ring_volume_find_blocks). */
void kiln_bubbles_add(kiln_bubbles *bubbles, const double *p, const double *x, double scale,
                      const uint64_t *blocks, double *g, kiln_bsr *H);
/* To J, which is the rings', and to e what x and weight make of it: C p has the rest. */
void kiln_bubbles_linearise(kiln_bubbles *bubbles, kiln_equations *equations, const double *x,
                            double *e);
/* The momentum of bubbles at the corners, kg m/s: out [row][3] += a quarter of each. With its
 * places there that has their angular momentum as well. */
void kiln_bubbles_add_momentum(kiln_bubbles *bubbles, const double *p, const double *x,
                               double *out);

#endif
