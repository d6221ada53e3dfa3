/* Conjugate gradients with the diagonal of M, whose spectrum for tets lies between 1/2 and 5/2
 * (Wathen 1987) on every mesh: the error falls by 0.38 an iteration. */
#include "base/parallel.h"
#include "fem/mass_impl.h"
#include "solve/vectors.h"

#include <math.h>
#include <string.h>

enum { MOST_ITERATIONS = 60 };
#define EXACT 1e-15 /* of what acts; in the norm of the energy */

double kiln_mass_diagonal(const kiln_mass *mass, uint32_t row)
{
    if (mass->kind == KILN_MASS_LUMPED)
        return mass->lumped.data[row];
    uint32_t i = mass->row.data[row].begin;
    while (i < mass->row.data[row].end && mass->column.data[i] != row)
        i++;
    return i < mass->row.data[row].end ? mass->value.data[i] : 0.0;
}

/* A row without mass is free of all. */
static void invert_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    kiln_mass *mass = user;
    for (size_t row = begin; row < end; row++) {
        double m = kiln_mass_diagonal(mass, (uint32_t)row);
        mass->inverse.data[row] = m > 0.0 ? 1.0 / m : 0.0;
    }
}

typedef struct quotient {
    const kiln_mass *mass;
    const double *r;
    double *out;
} quotient;

static void divide_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const quotient *q = user;
    for (size_t i = 3 * begin; i < 3 * end; i++)
        q->out[i] = q->r[i] * q->mass->inverse.data[i / 3];
}

static kiln_status make_room(kiln_mass *mass, kiln_error *error)
{
    size_t size = 3 * mass->rows;
    KILN_TRY(kiln_array_reserve(mass->context, &mass->inverse, mass->rows, error));
    KILN_TRY(kiln_array_reserve(mass->context, &mass->left, size, error));
    KILN_TRY(kiln_array_reserve(mass->context, &mass->scaled, size, error));
    KILN_TRY(kiln_array_reserve(mass->context, &mass->way, size, error));
    return kiln_array_reserve(mass->context, &mass->along, size, error);
}

/* Leaves the quotient in `scaled`. */
static double size_of(kiln_mass *mass, const double *impulse)
{
    quotient q = {mass, impulse, mass->scaled.data};
    kiln_parallel_for(mass->context, mass->rows, KILN_MASS_GRAIN, divide_chunk, &q);
    return kiln_vector_dot(mass->context, impulse, mass->scaled.data, 3 * mass->rows);
}

/* P M change = P impulse from `left`, what is missing of it. */
static void iterate(kiln_mass *mass, const kiln_constraints *held, double least, double *change)
{
    kiln_context *context = mass->context;
    size_t size = 3 * mass->rows;
    double *left = mass->left.data, *z = mass->scaled.data, *p = mass->way.data,
           *q = mass->along.data;
    double now = size_of(mass, left);
    memcpy(p, z, size * sizeof *p);
    for (int i = 0; i < MOST_ITERATIONS && now > least; i++) {
        kiln_mass_multiply(mass, p, q);
        kiln_constraints_project(held, q);
        double far = now / kiln_vector_dot(context, p, q, size);
        kiln_vector_combine(context, 1.0, change, far, p, change, size);
        kiln_vector_combine(context, 1.0, left, -far, q, left, size);
        double next = size_of(mass, left);
        kiln_vector_combine(context, 1.0, z, next / now, p, p, size);
        now = next;
    }
}

kiln_status kiln_mass_follow(kiln_mass *mass, const kiln_constraints *held, double *change,
                             double *impulse, kiln_error *error)
{
    size_t size = 3 * mass->rows;
    KILN_TRY(make_room(mass, error));
    double *left = mass->left.data;
    kiln_parallel_for(mass->context, mass->rows, KILN_MASS_GRAIN, invert_chunk, mass);
    kiln_mass_multiply(mass, change, left);
    double all = size_of(mass, left) + size_of(mass, impulse);
    kiln_vector_combine(mass->context, 1.0, impulse, -1.0, left, left, size);
    kiln_constraints_project(held, left);
    iterate(mass, held, EXACT * EXACT * all, change);
    kiln_mass_multiply(mass, change, impulse);
    return KILN_OK;
}
