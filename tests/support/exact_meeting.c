#include "exact_meeting.h"

#include <limits.h>

enum { CONDITIONS = 8, FACTORS = 48, GLANCE = 5, BITS = 60 };

typedef enum demand { ZERO, NOT_NEGATIVE, POSITIVE } demand;

/* What must hold at once. Where it changes is a root of one of the factors: they have simple roots,
 * none in common, and each condition is a product of powers of some (and what has no root). */
typedef struct feature {
    poly_pool *pool;
    int conditions, factors;
    demand demand[CONDITIONS];
    const poly *value[CONDITIONS];
    const poly *factor[FACTORS];
    bool divides[FACTORS][CONDITIONS];
} feature;

/* k / 2^depth */
typedef struct dyadic {
    mpz_t k;
    mp_bitcnt_t depth;
} dyadic;

/* Bernstein coefficients over an interval. */
typedef struct piece {
    const poly *value[CONDITIONS], *factor[FACTORS];
} piece;

static bool holds(demand wanted, int sign)
{
    return wanted == ZERO ? sign == 0 : wanted == POSITIVE ? sign > 0 : sign >= 0;
}

static int sign_first(const poly *b)
{
    return mpz_sgn(b->c[0]);
}

static int sign_last(const poly *b)
{
    return mpz_sgn(b->c[b->degree]);
}

/* Just inside the interval, at its begin or end. */
static int sign_inside(const poly *b, bool at_end)
{
    int sign = 0;
    for (int i = 0; i <= b->degree && !sign; i++)
        sign = mpz_sgn(b->c[at_end ? b->degree - i : i]);
    return sign;
}

/* Nowhere in the closed interval. */
static bool impossible(demand wanted, const poly *b)
{
    int least = 1, most = -1;
    for (int i = 0; i <= b->degree; i++) {
        int sign = mpz_sgn(b->c[i]);
        least = sign < least ? sign : least;
        most = sign > most ? sign : most;
    }
    return wanted == ZERO ? least > 0 || most < 0 : wanted == POSITIVE ? most <= 0 : most < 0;
}

static bool all_hold_at(const feature *f, const piece *p, bool end)
{
    for (int i = 0; i < f->conditions; i++)
        if (!holds(f->demand[i], end ? sign_last(p->value[i]) : sign_first(p->value[i])))
            return false;
    return true;
}

static bool all_hold_inside(const feature *f, const piece *p, bool at_end)
{
    for (int i = 0; i < f->conditions; i++)
        if (!holds(f->demand[i], sign_inside(p->value[i], at_end)))
            return false;
    return true;
}

/* At the only root in the interval, of this factor. */
static bool all_hold_at_root(const feature *f, const piece *p, int factor)
{
    for (int i = 0; i < f->conditions; i++)
        if (!holds(f->demand[i], f->divides[factor][i] ? 0 : sign_inside(p->value[i], false)))
            return false;
    return true;
}

static bool one_is_impossible(const feature *f, const piece *p)
{
    for (int i = 0; i < f->conditions; i++)
        if (impossible(f->demand[i], p->value[i]))
            return true;
    return false;
}

static void take_half(const feature *f, const piece *p, bool right, piece *half)
{
    for (int i = 0; i < f->conditions; i++)
        half->value[i] = poly_half(f->pool, p->value[i], right);
    for (int i = 0; i < f->factors; i++)
        half->factor[i] = poly_half(f->pool, p->factor[i], right);
}

static void step_into(dyadic *at, bool right)
{
    mpz_mul_2exp(at->k, at->k, 1);
    if (right)
        mpz_add_ui(at->k, at->k, 1);
    at->depth++;
}

/* Towards the only root, to a relative 2^-BITS or until it is met: a lower bound. */
static void approach(poly_pool *pool, const poly *b, dyadic *at)
{
    size_t mark = pool->used;
    while (mpz_sizeinbase(at->k, 2) < BITS) {
        const poly *left = poly_half(pool, b, false);
        bool right = poly_changes(left) == 0;
        b = right ? poly_half(pool, b, true) : left;
        step_into(at, right);
        if (right && sign_first(b) == 0)
            break;
    }
    pool->used = mark;
}

/* How many roots of factors are inside the open interval, more than one counting as two. */
static int roots_inside(const feature *f, const piece *p, int *factor)
{
    int roots = 0;
    for (int i = 0; i < f->factors && roots < 2; i++) {
        int changes = poly_changes(p->factor[i]);
        roots += changes;
        *factor = changes ? i : *factor;
    }
    return roots < 2 ? roots : 2;
}

/* The first time in [left end, right end) of this piece, left in `at`, which comes as its left
 * end. */
static bool search(const feature *f, const piece *p, dyadic *at)
{
    int factor = 0;
    if (all_hold_at(f, p, false))
        return true;
    if (one_is_impossible(f, p))
        return false;
    int roots = roots_inside(f, p, &factor);
    if (roots < 2) {
        if (all_hold_inside(f, p, false))
            return true;
        if (!roots || (!all_hold_at_root(f, p, factor) && !all_hold_inside(f, p, true)))
            return false;
        approach(f->pool, p->factor[factor], at);
        return true;
    }
    dyadic left = {.depth = at->depth};
    mpz_init_set(left.k, at->k);
    bool found = false;
    for (int right = 0; right < 2 && !found; right++) {
        size_t mark = f->pool->used;
        mpz_set(at->k, left.k);
        at->depth = left.depth;
        step_into(at, right);
        piece half;
        take_half(f, p, right, &half);
        found = search(f, &half, at);
        f->pool->used = mark;
    }
    mpz_clear(left.k);
    return found;
}

/* Without looking at roots: may be true although there is nothing. */
static bool may_hold(const feature *f, const piece *p, int glances)
{
    if (one_is_impossible(f, p))
        return false;
    bool may = glances == 0;
    for (int right = 0; right < 2 && !may; right++) {
        size_t mark = f->pool->used;
        piece half;
        take_half(f, p, right, &half);
        may = may_hold(f, &half, glances - 1);
        f->pool->used = mark;
    }
    return may;
}

static void add_factor(feature *f, const poly *p)
{
    if (p->degree > 0)
        f->factor[f->factors++] = p;
}

/* What p shares with a factor becomes a factor of its own. */
static void factor_out(feature *f, const poly *p)
{
    const poly *rest = poly_square_free(f->pool, p);
    for (int i = 0, count = f->factors; i < count && rest->degree > 0; i++) {
        const poly *common = poly_gcd(f->pool, f->factor[i], rest);
        if (common->degree < 1)
            continue;
        add_factor(f, poly_quotient(f->pool, f->factor[i], common));
        rest = poly_quotient(f->pool, rest, common);
        f->factor[i] = common;
    }
    add_factor(f, rest);
}

static void find_factors(feature *f, const piece *p)
{
    for (int i = 0; i < f->conditions; i++)
        if (poly_changes(p->value[i]) > 0)
            factor_out(f, f->value[i]);
    for (int j = 0; j < f->factors; j++)
        for (int i = 0; i < f->conditions; i++)
            f->divides[j][i] =
                f->value[i]->degree < 0 || poly_divides(f->pool, f->factor[j], f->value[i]);
}

static double to_double(const dyadic *at)
{
    mpq_t q;
    mpq_init(q);
    mpz_set(mpq_numref(q), at->k);
    mpq_div_2exp(q, q, at->depth);
    double t = mpq_get_d(q); /* towards zero */
    mpq_clear(q);
    return t;
}

static double first_time(feature *f)
{
    piece whole;
    for (int i = 0; i < f->conditions; i++)
        whole.value[i] = poly_bernstein(f->pool, f->value[i]);
    if (!may_hold(f, &whole, GLANCE))
        return INFINITY;
    find_factors(f, &whole);
    for (int i = 0; i < f->factors; i++)
        whole.factor[i] = poly_bernstein(f->pool, f->factor[i]);
    dyadic at = {.depth = 0};
    mpz_init(at.k);
    double t = search(f, &whole, &at)         ? to_double(&at)
               : all_hold_at(f, &whole, true) ? 1.0
                                              : INFINITY;
    mpz_clear(at.k);
    return t;
}

typedef struct vector {
    const poly *c[3];
} vector;

typedef struct motion {
    poly_pool *pool;
    vector at[4];
    mpz_t gap;
} motion;

static vector minus(poly_pool *pool, vector a, vector b)
{
    for (int i = 0; i < 3; i++)
        a.c[i] = poly_sub(pool, a.c[i], b.c[i]);
    return a;
}

static vector cross(poly_pool *pool, vector a, vector b)
{
    vector r;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        r.c[i] = poly_sub(pool, poly_mul(pool, a.c[j], b.c[k]), poly_mul(pool, a.c[k], b.c[j]));
    }
    return r;
}

static const poly *dot(poly_pool *pool, vector a, vector b)
{
    const poly *sum = poly_mul(pool, a.c[0], b.c[0]);
    for (int i = 1; i < 3; i++)
        sum = poly_add(pool, sum, poly_mul(pool, a.c[i], b.c[i]));
    return sum;
}

static void demand_that(feature *f, const poly *value, demand wanted)
{
    f->value[f->conditions] = value;
    f->demand[f->conditions++] = wanted;
}

/* The squares of `count` components sum up to at most gap^2 scale2. */
static void demand_near(feature *f, const motion *m, const poly *const *component, int count,
                        const poly *scale2)
{
    if (mpz_sgn(m->gap) == 0) {
        for (int i = 0; i < count; i++)
            demand_that(f, component[i], ZERO);
        return;
    }
    const poly *gap = poly_constant(f->pool, m->gap);
    const poly *room = poly_mul(f->pool, poly_mul(f->pool, gap, gap), scale2);
    for (int i = 0; i < count; i++)
        room = poly_sub(f->pool, room, poly_mul(f->pool, component[i], component[i]));
    demand_that(f, room, NOT_NEGATIVE);
}

static double vertices_meet(const motion *m, int a, int b)
{
    feature f = {.pool = m->pool};
    mpz_t one;
    mpz_init_set_ui(one, 1);
    demand_near(&f, m, minus(f.pool, m->at[a], m->at[b]).c, 3, poly_constant(f.pool, one));
    mpz_clear(one);
    return first_time(&f);
}

static double vertex_meets_edge(const motion *m, int v, int a, int b)
{
    feature f = {.pool = m->pool};
    vector edge = minus(f.pool, m->at[b], m->at[a]), from = minus(f.pool, m->at[v], m->at[a]);
    const poly *length2 = dot(f.pool, edge, edge), *along = dot(f.pool, from, edge);
    demand_near(&f, m, cross(f.pool, from, edge).c, 3, length2);
    demand_that(&f, along, NOT_NEGATIVE);
    demand_that(&f, poly_sub(f.pool, length2, along), NOT_NEGATIVE);
    demand_that(&f, length2, POSITIVE);
    return first_time(&f);
}

static double vertex_meets_inside(const motion *m)
{
    feature f = {.pool = m->pool};
    vector q[3]; /* the face as the vertex sees it */
    for (int i = 0; i < 3; i++)
        q[i] = minus(f.pool, m->at[i + 1], m->at[0]);
    vector n = cross(f.pool, minus(f.pool, q[1], q[0]), minus(f.pool, q[2], q[0]));
    const poly *volume = dot(f.pool, n, q[0]), *area2 = dot(f.pool, n, n);
    demand_near(&f, m, &volume, 1, area2);
    for (int i = 0; i < 3; i++)
        demand_that(&f, dot(f.pool, n, cross(f.pool, q[i], q[(i + 1) % 3])), NOT_NEGATIVE);
    demand_that(&f, area2, POSITIVE);
    return first_time(&f);
}

/* The nearest points of the lines are at (w x v) . n / n^2 and (w x u) . n / n^2. */
static double insides_meet(const motion *m)
{
    feature f = {.pool = m->pool};
    vector u = minus(f.pool, m->at[1], m->at[0]), v = minus(f.pool, m->at[3], m->at[2]);
    vector w = minus(f.pool, m->at[2], m->at[0]), n = cross(f.pool, u, v);
    const poly *volume = dot(f.pool, n, w), *area2 = dot(f.pool, n, n);
    demand_near(&f, m, &volume, 1, area2);
    for (int i = 0; i < 2; i++) {
        const poly *along = dot(f.pool, n, cross(f.pool, w, i ? u : v));
        demand_that(&f, along, NOT_NEGATIVE);
        demand_that(&f, poly_sub(f.pool, area2, along), NOT_NEGATIVE);
    }
    demand_that(&f, area2, POSITIVE);
    return first_time(&f);
}

static double vertex_meets_face(const motion *m)
{
    double t = vertex_meets_inside(m);
    for (int i = 1; i < 4; i++) {
        t = fmin(t, vertices_meet(m, 0, i));
        t = fmin(t, vertex_meets_edge(m, 0, i, i % 3 + 1));
    }
    return t;
}

static double edges_meet(const motion *m)
{
    double t = insides_meet(m);
    for (int i = 0; i < 2; i++) {
        t = fmin(t, fmin(vertices_meet(m, i, 2), vertices_meet(m, i, 3)));
        t = fmin(t, fmin(vertex_meets_edge(m, i, 2, 3), vertex_meets_edge(m, i + 2, 0, 1)));
    }
    return t;
}

/* So that value = whole number x 2^exponent; INT_MAX for zero. */
static int exponent_of(double value)
{
    int exponent;
    return frexp(value, &exponent) == 0.0 ? INT_MAX : exponent - 53;
}

/* In units of 2^unit. */
static void set_whole(mpz_t whole, double value, int unit)
{
    int exponent;
    mpz_set_d(whole, ldexp(frexp(value, &exponent), 53));
    if (value != 0.0)
        mpz_mul_2exp(whole, whole, (mp_bitcnt_t)(exponent - 53 - unit));
}

static double coordinate(kiln_vec3 p, int axis)
{
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

static void set_motion(motion *m, const kiln_vec3 begin[4], const kiln_vec3 end[4], double gap)
{
    int unit = exponent_of(gap);
    for (int i = 0; i < 24; i++) {
        int exponent = exponent_of(coordinate(i % 2 ? end[i / 6] : begin[i / 6], i / 2 % 3));
        unit = exponent < unit ? exponent : unit;
    }
    mpz_t at_0, at_1;
    mpz_inits(at_0, at_1, NULL);
    for (int i = 0; i < 12; i++) {
        set_whole(at_0, coordinate(begin[i / 3], i % 3), unit);
        set_whole(at_1, coordinate(end[i / 3], i % 3), unit);
        m->at[i / 3].c[i % 3] = poly_linear(m->pool, at_0, at_1);
    }
    mpz_clears(at_0, at_1, NULL);
    set_whole(m->gap, gap, unit);
}

double exact_meeting(poly_pool *pool, bool edges, const kiln_vec3 begin[4], const kiln_vec3 end[4],
                     double gap)
{
    size_t mark = pool->used;
    motion m = {.pool = pool};
    mpz_init(m.gap);
    set_motion(&m, begin, end, gap);
    double t = edges ? edges_meet(&m) : vertex_meets_face(&m);
    mpz_clear(m.gap);
    pool->used = mark;
    return t;
}
