/* Polynomials with integer coefficients of any size (GMP), of degree 6 at most, for references that
 * must be exact. They live in a pool: take what an expression needs, then go back to a mark. */
#ifndef KILN_TESTS_POLYNOMIAL_H
#define KILN_TESTS_POLYNOMIAL_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>

enum { POLY_MOST = 6 };

typedef struct poly {
    int degree; /* -1: zero */
    mpz_t c[POLY_MOST + 1];
} poly;

typedef struct poly_pool {
    poly **made;
    size_t count, used; /* used: also the mark to go back to */
} poly_pool;

void poly_pool_free(poly_pool *pool);

poly *poly_constant(poly_pool *pool, const mpz_t value);
poly *poly_linear(poly_pool *pool, const mpz_t at_0, const mpz_t at_1);
poly *poly_add(poly_pool *pool, const poly *a, const poly *b);
poly *poly_sub(poly_pool *pool, const poly *a, const poly *b);
poly *poly_mul(poly_pool *pool, const poly *a, const poly *b);

/* Up to a constant factor. */
poly *poly_gcd(poly_pool *pool, const poly *a, const poly *b);
poly *poly_quotient(poly_pool *pool, const poly *a, const poly *b); /* b divides a */
poly *poly_square_free(poly_pool *pool, const poly *a);             /* not of zero */
bool poly_divides(poly_pool *pool, const poly *b, const poly *a);

/* The same polynomial by Bernstein coefficients over [0, 1], up to a positive factor; and from
 * those over an interval those over its left or right half. Their first and last are values at the
 * ends; none has another sign than all of them; their changes of sign are the roots inside, or an
 * even number more (Descartes), so 0 and 1 are exact. */
poly *poly_bernstein(poly_pool *pool, const poly *a);
poly *poly_half(poly_pool *pool, const poly *bernstein, bool right);
int poly_changes(const poly *bernstein);

#endif
