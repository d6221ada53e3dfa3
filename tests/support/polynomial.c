#include "polynomial.h"

#include <stdlib.h>

static poly *take(poly_pool *pool, int degree)
{
    if (pool->used == pool->count) {
        size_t count = pool->count ? 2 * pool->count : 64;
        pool->made = realloc(pool->made, count * sizeof *pool->made);
        for (; pool->count < count; pool->count++) {
            poly *p = pool->made[pool->count] = malloc(sizeof *p);
            for (int i = 0; i <= POLY_MOST; i++)
                mpz_init(p->c[i]);
        }
    }
    poly *p = pool->made[pool->used++];
    if (degree > POLY_MOST)
        abort();
    p->degree = degree;
    for (int i = 0; i <= degree; i++)
        mpz_set_ui(p->c[i], 0);
    return p;
}

void poly_pool_free(poly_pool *pool)
{
    for (size_t k = 0; k < pool->count; k++) {
        for (int i = 0; i <= POLY_MOST; i++)
            mpz_clear(pool->made[k]->c[i]);
        free(pool->made[k]);
    }
    free(pool->made);
    *pool = (poly_pool){0};
}

static poly *trimmed(poly *p)
{
    while (p->degree >= 0 && mpz_sgn(p->c[p->degree]) == 0)
        p->degree--;
    return p;
}

poly *poly_constant(poly_pool *pool, const mpz_t value)
{
    poly *p = take(pool, 0);
    mpz_set(p->c[0], value);
    return trimmed(p);
}

poly *poly_linear(poly_pool *pool, const mpz_t at_0, const mpz_t at_1)
{
    poly *p = take(pool, 1);
    mpz_set(p->c[0], at_0);
    mpz_sub(p->c[1], at_1, at_0);
    return trimmed(p);
}

poly *poly_add(poly_pool *pool, const poly *a, const poly *b)
{
    poly *p = take(pool, a->degree > b->degree ? a->degree : b->degree);
    for (int i = 0; i <= a->degree; i++)
        mpz_set(p->c[i], a->c[i]);
    for (int i = 0; i <= b->degree; i++)
        mpz_add(p->c[i], p->c[i], b->c[i]);
    return trimmed(p);
}

poly *poly_sub(poly_pool *pool, const poly *a, const poly *b)
{
    poly *p = take(pool, a->degree > b->degree ? a->degree : b->degree);
    for (int i = 0; i <= a->degree; i++)
        mpz_set(p->c[i], a->c[i]);
    for (int i = 0; i <= b->degree; i++)
        mpz_sub(p->c[i], p->c[i], b->c[i]);
    return trimmed(p);
}

poly *poly_mul(poly_pool *pool, const poly *a, const poly *b)
{
    if (a->degree < 0 || b->degree < 0)
        return take(pool, -1);
    poly *p = take(pool, a->degree + b->degree);
    for (int i = 0; i <= a->degree; i++)
        for (int j = 0; j <= b->degree; j++)
            mpz_addmul(p->c[i + j], a->c[i], b->c[j]);
    return p;
}

static poly *primitive(poly *p)
{
    mpz_t content;
    mpz_init(content);
    for (int i = 0; i <= p->degree; i++)
        mpz_gcd(content, content, p->c[i]);
    for (int i = 0; i <= p->degree; i++)
        mpz_divexact(p->c[i], p->c[i], content);
    mpz_clear(content);
    return p;
}

/* Long division of a, multiplied by what keeps it whole; `quotient` may be NULL. */
static poly *divide(poly_pool *pool, const poly *a, const poly *b, poly *quotient)
{
    poly *r = poly_sub(pool, a, take(pool, -1));
    while (r->degree >= b->degree) {
        int shift = r->degree - b->degree;
        mpz_srcptr lead = b->c[b->degree], top = r->c[r->degree];
        if (quotient) {
            for (int i = 0; i <= quotient->degree; i++)
                mpz_mul(quotient->c[i], quotient->c[i], lead);
            mpz_add(quotient->c[shift], quotient->c[shift], top);
        }
        for (int i = 0; i < r->degree; i++) {
            mpz_mul(r->c[i], r->c[i], lead);
            if (i >= shift)
                mpz_submul(r->c[i], top, b->c[i - shift]);
        }
        r->degree--;
        trimmed(r);
    }
    return primitive(r);
}

poly *poly_gcd(poly_pool *pool, const poly *a, const poly *b)
{
    while (b->degree >= 0) {
        const poly *r = divide(pool, a, b, NULL);
        a = b;
        b = r;
    }
    return primitive(poly_sub(pool, a, take(pool, -1)));
}

poly *poly_quotient(poly_pool *pool, const poly *a, const poly *b)
{
    poly *quotient = take(pool, a->degree - b->degree);
    divide(pool, a, b, quotient);
    return primitive(trimmed(quotient));
}

poly *poly_square_free(poly_pool *pool, const poly *a)
{
    poly *slope = take(pool, a->degree - 1);
    for (int i = 0; i < a->degree; i++)
        mpz_mul_ui(slope->c[i], a->c[i + 1], (unsigned long)(i + 1));
    return poly_quotient(pool, a, poly_gcd(pool, a, trimmed(slope)));
}

bool poly_divides(poly_pool *pool, const poly *b, const poly *a)
{
    return divide(pool, a, b, NULL)->degree < 0;
}

/* b_i = sum over j of C(i, j) / C(n, j) c_j; 60 is a multiple of every C(n, j) for n <= 6. */
poly *poly_bernstein(poly_pool *pool, const poly *a)
{
    static const unsigned long choose[POLY_MOST + 1][POLY_MOST + 1] = {{1},
                                                                       {1, 1},
                                                                       {1, 2, 1},
                                                                       {1, 3, 3, 1},
                                                                       {1, 4, 6, 4, 1},
                                                                       {1, 5, 10, 10, 5, 1},
                                                                       {1, 6, 15, 20, 15, 6, 1}};
    poly *b = take(pool, a->degree < 0 ? 0 : a->degree);
    for (int i = 0; i <= a->degree; i++)
        for (int j = 0; j <= i; j++)
            mpz_addmul_ui(b->c[i], a->c[j], choose[i][j] * (60 / choose[a->degree][j]));
    return b;
}

static void drop_common_zeros(poly *p)
{
    mp_bitcnt_t least = 0;
    bool any = false;
    for (int i = 0; i <= p->degree; i++)
        if (mpz_sgn(p->c[i]) != 0) {
            mp_bitcnt_t zeros = mpz_scan1(p->c[i], 0);
            least = any && least < zeros ? least : zeros;
            any = true;
        }
    for (int i = 0; i <= p->degree; i++)
        mpz_tdiv_q_2exp(p->c[i], p->c[i], least);
}

/* De Casteljau, without the divisions by two. */
poly *poly_half(poly_pool *pool, const poly *bernstein, bool right)
{
    int n = bernstein->degree;
    poly *half = take(pool, n), *work = take(pool, n);
    for (int i = 0; i <= n; i++)
        mpz_set(work->c[i], bernstein->c[i]);
    for (int level = 0; level <= n; level++) {
        int to = right ? n - level : level, from = right ? n - level : 0;
        mpz_mul_2exp(half->c[to], work->c[from], (mp_bitcnt_t)(n - level));
        for (int i = 0; i < n - level; i++)
            mpz_add(work->c[i], work->c[i], work->c[i + 1]);
    }
    drop_common_zeros(half);
    pool->used--; /* work */
    return half;
}

int poly_changes(const poly *bernstein)
{
    int changes = 0, last = 0;
    for (int i = 0; i <= bernstein->degree; i++) {
        int sign = mpz_sgn(bernstein->c[i]);
        changes += sign * last < 0;
        last = sign ? sign : last;
    }
    return changes;
}
