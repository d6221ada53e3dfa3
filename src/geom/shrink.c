#include "geom/shrink.h"

#include <math.h>

enum { HALVINGS = 60 };

static double triple(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c)
{
    return kiln_v3_dot(kiln_v3_cross(a, b), c);
}

static double value(const double c[4], double s)
{
    return c[0] + s * (c[1] + s * (c[2] + s * c[3]));
}

/* The root between two places, at the first of which the value is positive and at the second not.
 */
static double bisect(const double c[4], double low, double high)
{
    for (int i = 0; i < HALVINGS; i++) {
        double mean = 0.5 * (low + high);
        if (value(c, mean) > 0.0)
            low = mean;
        else
            high = mean;
    }
    return high;
}

/* Where the derivative is 0, ascending; 0 where it is nowhere in (0, most). */
static int find_turns(const double c[4], double most, double turn[2])
{
    double a = 3.0 * c[3], b = c[2], d = c[1]; /* a s^2 + 2 b s + d */
    double root = b * b - a * d;
    int count = 0;
    if (root < 0.0)
        return 0;
    double q = -(b + copysign(sqrt(root), b)); /* without cancellation */
    const double found[2] = {q != 0.0 ? d / q : NAN, a != 0.0 ? q / a : NAN};
    for (int i = 0; i < 2; i++)
        if (found[i] > 0.0 && found[i] < most)
            turn[count++] = found[i];
    if (count == 2 && turn[0] > turn[1]) {
        double first = turn[1];
        turn[1] = turn[0];
        turn[0] = first;
    }
    return count;
}

double kiln_tet_shrinks_at(const kiln_vec3 x[4], const kiln_vec3 way[4], double part, double most)
{
    kiln_vec3 e[3], d[3];
    double turn[3], low = 0.0;
    for (int k = 0; k < 3; k++) {
        e[k] = kiln_v3_sub(x[k + 1], x[0]);
        d[k] = kiln_v3_sub(way[k + 1], way[0]);
    }
    const double c[4] = {
        (1.0 - part) * triple(e[0], e[1], e[2]),
        triple(d[0], e[1], e[2]) + triple(e[0], d[1], e[2]) + triple(e[0], e[1], d[2]),
        triple(e[0], d[1], d[2]) + triple(d[0], e[1], d[2]) + triple(d[0], d[1], e[2]),
        triple(d[0], d[1], d[2])};
    int count = find_turns(c, most, turn);
    turn[count] = most;
    for (int i = 0; i <= count; i++) {
        if (value(c, turn[i]) <= 0.0)
            return bisect(c, low, turn[i]);
        low = turn[i];
    }
    return INFINITY;
}
