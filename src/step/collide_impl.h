/* The inside of kiln_collide, shared by collide.c (what exists), collide_pairs.c (what may meet),
 * collide_distance.c (how near it is), collide_repulsion.c, collide_friction.c (the terms),
 * collide_harden.c (how strongly, where that is not said), collide_count.c (how much of it counts),
 * collide_once.c (likewise between bodies, if not all does), collide_detect.c (how far a way may
 * go) and collide_output.c (what came of it). */
#ifndef KILN_STEP_COLLIDE_IMPL_H
#define KILN_STEP_COLLIDE_IMPL_H

#include "step/collide.h"

/* Pairs per chunk where chunks sum, at once, and per chunk where each takes long and has its own.
 */
enum { KILN_COLLIDE_GRAIN = 128, KILN_COLLIDE_BLOCK = 64, KILN_COLLIDE_FEW = 32 };

/* How many there are from `begin` on. */
KILN_INLINE size_t kiln_collide_block(size_t begin, size_t end)
{
    return end - begin < KILN_COLLIDE_BLOCK ? end - begin : KILN_COLLIDE_BLOCK;
}

KILN_INLINE const kiln_vec3 *kiln_collide_points(const double *x)
{
    return (const kiln_vec3 *)(const void *)x;
}

KILN_INLINE const kiln_surface_pair *kiln_collide_pair(const kiln_collide *collide, size_t i)
{
    return &collide->found.pairs.data[i];
}

KILN_INLINE bool kiln_collide_is_wall(const kiln_collide *collide, uint32_t row)
{
    return row >= collide->first_wall;
}

/* Rows that move or may be run into: the surface's vertices, then all points of walls. */
KILN_INLINE size_t kiln_collide_mover_count(const kiln_collide *collide)
{
    return collide->surface.vertices.count + collide->walls.own.count;
}
KILN_INLINE uint32_t kiln_collide_mover(const kiln_collide *collide, size_t i)
{
    size_t own = collide->surface.vertices.count;
    return i < own ? collide->surface.vertices.data[i] : collide->first_wall + (uint32_t)(i - own);
}

/* Distances of others change by less than their normal says. */
KILN_INLINE bool kiln_collide_is_flat(const kiln_collide *collide, const kiln_surface_pair *pair)
{
    return pair->split != 2 && kiln_collide_is_wall(collide, pair->v[1]);
}

KILN_INLINE bool kiln_collide_acts(const kiln_collide *collide, size_t i)
{
    return collide->counted.data[i] != 0.0;
}

KILN_INLINE void kiln_collide_add_at(double *g, uint32_t v, double s, kiln_vec3 d)
{
    g[3 * (size_t)v] += s * d.x;
    g[3 * (size_t)v + 1] += s * d.y;
    g[3 * (size_t)v + 2] += s * d.z;
}

/* Whether its force is that over the step, and what it stored at the begin is given back. */
KILN_INLINE bool kiln_collide_is_over(const kiln_collide *collide, size_t i)
{
    const uint32_t *v = kiln_collide_pair(collide, i)->v;
    if (!collide->from || collide->rub.data[i] > 0.0) /* what trembles would not stick */
        return false;
    for (int k = 0; k < 4 && collide->fresh; k++)
        if (!kiln_collide_is_wall(collide, v[k]) && collide->fresh[v[k]])
            return false;
    return true;
}

/* Whether all that moves is in its box at x + dx (dx may be NULL). */
bool kiln_collide_has_room(const kiln_collide *collide, const double *x, const double *dx);
/* Pairs for the way from x to x + part dx; NULL: for places about x. False: no memory (C4). */
bool kiln_collide_find(kiln_collide *collide, const double *x, const double *dx, double part);
/* From now on the pairs serve places about x, which is on the way they are for. (Not all places in
 * the boxes about the way: on it all move together.) */
void kiln_collide_stay(kiln_collide *collide, const double *x);
/* The same, and of the pairs for the way those stay that can come near about x. False: no memory
 * (C4). */
bool kiln_collide_thin(kiln_collide *collide, const double *x);
/* Distances at x of all pairs, which are others if the pairs were not for x. */
void kiln_collide_measure(kiln_collide *collide, const double *x);

/* The renew of repulsion: the matrix gets blocks for the pairs that act at x. */
kiln_status kiln_collide_expect(void *self, const double *x, kiln_error *error);

/* What pairs are searched by, but for a way. */
kiln_pair_rules kiln_collide_rules(const kiln_collide *collide);
/* Of corners in the order of a pair: 1 for edges that cross at an angle, less where they are
 * parallel. */
double kiln_collide_skewness(uint32_t split, const kiln_vec3 p[4]);
/* Pa, of the softer of two sides; liquid says nothing (INFINITY), and two of it are as the options
 * say. */
KILN_INLINE double kiln_collide_softer(const kiln_collide *collide, double one, double other)
{
    double modulus = fmin(one, other);
    return isinf(modulus) ? collide->options.liquid : modulus;
}
double kiln_collide_friction_of_kind(const kiln_collide *collide, const kiln_pair_kind *kind);

/* Before a matrix at x, where distances have been measured (collide_harden.c). */
void kiln_collide_look_harder(kiln_collide *collide, const double *x);
double kiln_collide_scale_of(const kiln_collide *collide, size_t i); /* of a pair that acts */
kiln_pair_rules kiln_collide_rules(const kiln_collide *collide);
/* Of what the solve knows of `count` pairs and parts. */
kiln_status kiln_collide_make_room(kiln_collide *collide, size_t count, kiln_error *error);

/* What those that act count, once distances at x are known. */
void kiln_collide_count_all(kiln_collide *collide, const double *x);

/* collide_once.c: whether a pair is a vertex and a face of bodies; */
bool kiln_collide_is_seen(const kiln_collide *collide, const kiln_surface_pair *pair);
/* how far vertices are within reach of something, where weights are to be taken; */
void kiln_collide_find_felt(kiln_collide *collide);
/* N at stiffness 1, what such a pair counts at x [row]; from: of kiln_sight; */
void kiln_collide_count_seen(const kiln_collide *collide, const kiln_pair_rules *rules,
                             const kiln_vec3 *x, const kiln_vec3 *from, size_t i, kiln_counts *out);
/* then what edges do; */
void kiln_collide_cross(kiln_collide *collide, const double *x);
/* before a matrix at x, where distances have been measured, weights of edges taken again, if some
 * that are pressed would count much more; */
void kiln_collide_weigh_again(kiln_collide *collide, const double *x);
/* what of the surface is a rim where the solve begins; */
void kiln_collide_find_rims(kiln_collide *collide);
/* and what there is for it. */
kiln_status kiln_collide_once_build(kiln_collide *collide, kiln_error *error);
void kiln_collide_once_measure(kiln_collide *collide); /* where the material's places changed */
kiln_status kiln_collide_once_room(kiln_collide *collide, size_t count, kiln_error *error);
void kiln_collide_once_free(kiln_collide *collide);
size_t kiln_collide_once_bytes(const kiln_collide *collide);

/* Fills in which of those that act the matrix has blocks for. */
void kiln_collide_find_coupled(kiln_collide *collide);
double kiln_collide_load(const kiln_collide *collide, size_t i); /* of a pair as measured, N */
/* Of a pair with its parts, for friction: not negative. */
double kiln_collide_pressure(const kiln_collide *collide, size_t i);

/* Some rows of a gradient and of the matrix, which may be NULL. */
typedef struct kiln_row_band {
    size_t begin, end;
    double *g;
    kiln_bsr *H;
} kiln_row_band;

KILN_INLINE bool kiln_collide_has_row(const kiln_row_band *rows, uint32_t row)
{
    return row >= rows->begin && row < rows->end;
}
/* Whether one of four rows is one of them. */
KILN_INLINE bool kiln_collide_has_any(const kiln_row_band *rows, const uint32_t v[4])
{
    return kiln_collide_has_row(rows, v[0]) || kiln_collide_has_row(rows, v[1]) ||
           kiln_collide_has_row(rows, v[2]) || kiln_collide_has_row(rows, v[3]);
}

/* Calls `add` for rows until it was for all, on all threads: it goes over the `count` stencils in
 * their order and adds to those rows only. Each sum then has the order of the stencils, however
 * many rows there are at once. */
typedef void kiln_collide_add(const void *user, const kiln_row_band *rows);
void kiln_collide_scatter(const kiln_collide *collide, size_t count, kiln_collide_add *add,
                          const void *user, double *g, kiln_bsr *H);
/* The max_step of the terms: as far as detection allows. */
double kiln_collide_max_step(void *self, const double *x, const double *dx);
double kiln_collide_friction_of(const kiln_collide *collide, size_t i); /* of a pair */
/* The speed with which a pair slips at x, m/s; distances must have been measured there. */
double kiln_collide_slip(const kiln_collide *collide, size_t i, const double *x);
/* What friction does to the four vertices at x, N. */
void kiln_collide_rub(const kiln_collide *collide, const kiln_friction_contact *contact,
                      const double *x, kiln_vec3 force[4]);
/* How fast velocities v [row][3] change the distance of a pair, m/s. */
double kiln_collide_parting(const kiln_surface_pair *pair, const kiln_pair_distance *at,
                            const double *v);
/* Friction is about what presses now; distances must have been measured. */
kiln_status kiln_collide_lag_friction(kiln_collide *collide, kiln_error *error);

kiln_term kiln_collide_repulsion_term(kiln_collide *collide);
kiln_term kiln_collide_friction_term(kiln_collide *collide);

#endif
