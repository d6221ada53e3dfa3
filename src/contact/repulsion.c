#include "contact/repulsion.h"

/* Of s: nearer to each other, two places have a mean slope that is that of their middle. */
#define CLOSE 1e-4
/* One over the part of the reach below which energy is not given back. */
#define HARD 8.0

/* The integral of -ln(1 - t) / t from 0 to x, for x <= 1. */
static double dilogarithm(double x)
{
    static const double PI_SQUARED_6 = 1.6449340668482264;
    /* Bernoulli numbers B_2k over (2k + 1)! */
    static const double series[] = {
        2.7777777777777778e-2,  -2.7777777777777778e-4,  4.7241118669690098e-6,
        -9.1857730746619635e-8, 1.8978869988970999e-9,   -4.0647616451442255e-11,
        8.9216910204564526e-13, -1.9939295860721076e-14, 4.5189800296199182e-16};
    if (x < -1.0) {
        double l = log(-x);
        return -PI_SQUARED_6 - 0.5 * l * l - dilogarithm(1.0 / x);
    }
    if (x > 0.5)
        return PI_SQUARED_6 - (x < 1.0 ? log(x) * log1p(-x) : 0.0) - dilogarithm(1.0 - x);
    double u = -log1p(-x), square = u * u, power = u, sum = u - 0.25 * square;
    for (int k = 0; k < 9; k++) {
        power *= square;
        sum += series[k] * power;
    }
    return sum;
}

/* A function whose derivative is ((s - s0) + 2 (s0 - 1)) ln s. */
static double polynomial_part(double s0, double s)
{
    double l = log(s);
    return 0.5 * s * s * (l - 0.5) + (s0 - 2.0) * s * (l - 1.0);
}

/* Integral of the secant from s0 to s, both at most 1. */
static double from_inside(double s0, double s)
{
    double y = s0 - 1.0;
    return polynomial_part(s0, s0) - polynomial_part(s0, s) + y * y * dilogarithm(1.0 - s / s0);
}

/* Integral of the secant from 1 to s, s0 beyond. */
static double from_outside(double s0, double s)
{
    double y = s0 - 1.0;
    double mixed = log(s) * log1p(-s / s0) + dilogarithm(s / s0) - dilogarithm(1.0 / s0);
    return polynomial_part(s0, 1.0) - polynomial_part(s0, s) - y * y * mixed;
}

static double value_over(double s0, double s1)
{
    if (s0 >= 1.0)
        return s1 >= 1.0 ? 0.0 : from_outside(s0, s1);
    if (s1 <= 1.0)
        return from_inside(s0, s1);
    return from_inside(s0, 1.0) - kiln_repulsion_at(s0).value * log((s1 - s0) / (1.0 - s0));
}

static kiln_repulsion secant_over(double s0, double s1)
{
    kiln_repulsion out = {value_over(s0, s1), 0.0, 0.0};
    if (fabs(s1 - s0) < CLOSE * s0) {
        kiln_repulsion middle = kiln_repulsion_at(0.5 * (s0 + s1));
        out.slope = middle.slope;
        out.curvature = 0.5 * middle.curvature;
        return out;
    }
    kiln_repulsion begin = kiln_repulsion_at(s0), end = kiln_repulsion_at(s1);
    out.slope = (end.value - begin.value) / (s1 - s0);
    out.curvature = (end.slope - out.slope) / (s1 - s0);
    return out;
}

/* b itself, with the same zero. */
static kiln_repulsion meeting(double s0, double s1)
{
    kiln_repulsion out = kiln_repulsion_at(s1);
    out.value -= kiln_repulsion_at(s0).value;
    return out;
}

double kiln_repulsion_loss(double s0, double s1)
{
    kiln_repulsion end = kiln_repulsion_at(s1);
    return kiln_repulsion_at(s0).value - end.value - end.slope * (s0 - s1);
}

/* What gives back all that it took, down to an eighth of the reach. */
static kiln_repulsion giving_back(double s0, double s1)
{
    kiln_repulsion out = secant_over(s0, s1);
    if (!(s1 < s0) || HARD * s1 >= 1.0)
        return out;
    kiln_repulsion hard = meeting(HARD * s0, HARD * s1), mean = secant_over(HARD * s0, HARD * s1);
    out.value += hard.value - mean.value;
    out.slope += HARD * (hard.slope - mean.slope);
    out.curvature += HARD * HARD * (hard.curvature - mean.curvature);
    return out;
}

static kiln_repulsion mix(kiln_repulsion a, kiln_repulsion b, double part)
{
    return (kiln_repulsion){a.value + part * (b.value - a.value),
                            a.slope + part * (b.slope - a.slope),
                            a.curvature + part * (b.curvature - a.curvature)};
}

kiln_repulsion kiln_repulsion_over(double s0, double s1, bool curved, double calm)
{
    if (!(s1 > 0.0) || (s0 >= 1.0 && s1 >= 1.0))
        return kiln_repulsion_at(s1);
    if (curved && s1 < s0)
        return meeting(s0, s1);
    kiln_repulsion out = giving_back(s0, s1);
    return curved || calm == 0.0 ? out : mix(out, meeting(s0, s1), calm);
}
