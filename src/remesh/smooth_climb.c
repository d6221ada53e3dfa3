#include "remesh/smooth_climb.h"
#include "geom/distance.h"

/* In units of the star: its mean edge is 1, so all of these are pure numbers. */
enum { ROUNDS = 6, HALVINGS = 8, ACTIVE = 32, SUPPORT_ROUNDS = 20 };
/* Functions above the worst by that part of it (or that much) are climbed together with it. Near
 * the top, where they leave no direction, fewer are. */
static const double ACTIVE_PART = 0.03, ACTIVE_LEAST = 1e-3, ACTIVE_SHRINK = 0.1, ACTIVE_END = 1e-4;
static const double GAIN = 1e-5, NO_DIRECTION = 1e-5, APART = 1e-6;
static const double GOOD_STEP = 0.9; /* of the gain that the gradients promise */

/* Drops the points that do not carry the closest one. */
static int keep_support(kiln_vec3 *support, int count, unsigned feature)
{
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (feature >> i & 1)
            support[kept++] = support[i];
    return kept;
}

/* Wolfe's algorithm; at most four points support the answer in three dimensions. */
kiln_vec3 kiln_least_norm(const kiln_vec3 *point, size_t count)
{
    const kiln_vec3 origin = {0, 0, 0};
    kiln_vec3 support[4] = {point[0]}, least = point[0];
    int supports = 1;
    for (int round = 0; round < SUPPORT_ROUNDS; round++) {
        size_t next = 0;
        double lowest = INFINITY, norm2 = kiln_v3_norm2(least);
        for (size_t i = 0; i < count; i++) {
            double along = kiln_v3_dot(point[i], least);
            if (along < lowest) {
                lowest = along;
                next = i;
            }
        }
        if (lowest >= norm2 * (1 - 1e-12) || supports == 4)
            break;
        support[supports++] = point[next];
        kiln_closest_point closest = supports == 2   ? kiln_closest_on_edge(origin, support)
                                     : supports == 3 ? kiln_closest_on_triangle(origin, support)
                                                     : kiln_closest_on_tet(origin, support);
        if (closest.feature == 15)
            return origin;
        kiln_vec3 before = least;
        least = kiln_v3_scale(closest.offset, -1.0);
        if (kiln_v3_norm2(least) >= norm2)
            return before; /* rounding: no nearer than it was */
        supports = keep_support(support, supports, closest.feature);
    }
    return least;
}

static kiln_vec3 gradient_of(const kiln_star_record *star, size_t i)
{
    return kiln_v3(star->gradient[0][i], star->gradient[1][i], star->gradient[2][i]);
}

static kiln_vec3 project(const kiln_star_freedom *freedom, kiln_vec3 g)
{
    if (freedom->dimension == 3)
        return g;
    double along = kiln_v3_dot(g, freedom->axis);
    return freedom->dimension == 1 ? kiln_v3_scale(freedom->axis, along)
                                   : kiln_v3_madd(g, -along, freedom->axis);
}

/* Gradients of the functions not above the limit; the lowest ones if they are too many. */
static size_t active_gradients(const kiln_star_record *star, const kiln_star_freedom *freedom,
                               double limit, double worst, kiln_vec3 active[ACTIVE])
{
    uint32_t index[ACTIVE];
    size_t count = kiln_star_below(star, limit, index, ACTIVE);
    for (int i = 0; i < HALVINGS && count > ACTIVE; i++) {
        limit = worst + 0.5 * (limit - worst);
        count = kiln_star_below(star, limit, index, ACTIVE);
    }
    count = count < ACTIVE ? count : ACTIVE;
    for (size_t i = 0; i < count; i++)
        active[i] = project(freedom, gradient_of(star, index[i]));
    return count;
}

/* How far along d until a tet has no volume. */
static double way_to_flat(const kiln_star_record *star, kiln_vec3 x, kiln_vec3 d)
{
    double way = INFINITY;
    for (size_t t = 0; t < star->tets; t++) {
        const kiln_star_block *block = &star->block[t / KILN_STAR_LANES];
        size_t lane = t % KILN_STAR_LANES;
        kiln_vec3 n = kiln_v3(block->n[0][lane], block->n[1][lane], block->n[2][lane]);
        double det = kiln_v3_dot(n, x) - block->c[lane], slope = kiln_v3_dot(n, d);
        if (det > 0.0 && slope < 0.0 && det < -slope * way)
            way = -det / slope;
    }
    return way;
}

/* How far until another function becomes the worst, by their gradients; where none does, half the
 * way to the first flat tet; in any case no more than one edge length. */
static double first_step(const kiln_star_record *star, kiln_vec3 x, kiln_vec3 d, double worst,
                         double rate)
{
    double step = kiln_star_first_crossing(star, d, worst, rate, APART);
    if (step == INFINITY)
        step = 0.5 * way_to_flat(star, x, d);
    return fmin(step, 1.0 / kiln_v3_norm(d));
}

/* Halves the step until it gains what it promises, or the one before was better. Returns the gain
 * and moves *x by it. */
static double line_search(kiln_star_record *star, kiln_vec3 d, double worst, double rate,
                          double step, kiln_vec3 *x)
{
    double best = 0.0, taken = 0.0;
    for (int i = 0; i <= HALVINGS; i++, step *= 0.5) {
        double gain = kiln_star_values(star, kiln_v3_madd(*x, step, d)) - worst;
        if (gain <= best && best > 0.0)
            break;
        if (gain > best) {
            best = gain;
            taken = step;
        }
        if (gain > GOOD_STEP * step * rate)
            break;
    }
    *x = kiln_v3_madd(*x, taken, d);
    return best;
}

/* One step from where the gradients were taken; returns the gain. */
static double step_up(kiln_star_record *star, const kiln_star_freedom *freedom, double worst,
                      double shrink, kiln_vec3 *x)
{
    kiln_vec3 active[ACTIVE];
    double margin = fmax(ACTIVE_PART * fabs(worst), ACTIVE_LEAST) * shrink, rate = INFINITY;
    size_t count = active_gradients(star, freedom, worst + margin, worst, active);
    if (count == 0) /* nothing is comparable with a NaN */
        return 0.0;
    kiln_vec3 d = kiln_least_norm(active, count);
    for (size_t i = 0; i < count; i++)
        rate = fmin(rate, kiln_v3_dot(active[i], d));
    if (kiln_v3_norm2(d) < NO_DIRECTION * NO_DIRECTION || rate <= 0.0)
        return 0.0;
    return line_search(star, d, worst, rate, first_step(star, *x, d, worst, rate), x);
}

double kiln_star_climb(kiln_star_record *star, const kiln_star_freedom *freedom, double target,
                       kiln_vec3 *x)
{
    double worst = kiln_star_gradients(star, *x), shrink = 1.0;
    for (star->rounds = 0; star->rounds < ROUNDS && worst < target; star->rounds++) {
        double gain = step_up(star, freedom, worst, shrink, x);
        worst += gain;
        if (gain < GAIN && (shrink *= ACTIVE_SHRINK) < ACTIVE_END)
            break;
        if (star->rounds + 1 < ROUNDS)
            kiln_star_gradients(star, *x);
    }
    return worst;
}

/* Rounds of the sum's ascent, and its first step: scores of order one turn over an edge, so the
 * second derivative is a few for each. It stops when a round gains that part of the sum. */
enum { SUM_ROUNDS = 4, SUM_HALVINGS = 4 };
static const double SUM_CURVATURE = 4.0, SUM_GAIN = 1e-4;

static double sum_of(const double *value, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += value[i];
    return sum;
}

static kiln_vec3 sum_gradient(const kiln_star_record *star, const kiln_star_freedom *freedom)
{
    kiln_vec3 g = kiln_v3(sum_of(star->gradient[0], star->functions),
                          sum_of(star->gradient[1], star->functions),
                          sum_of(star->gradient[2], star->functions));
    return project(freedom, g);
}

double kiln_star_climb_sum(kiln_star_record *star, const kiln_star_freedom *freedom, double floor,
                           kiln_vec3 *x)
{
    double worst = kiln_star_gradients(star, *x), sum = sum_of(star->value, star->functions);
    double step = 1.0 / (SUM_CURVATURE * (double)star->functions);
    kiln_vec3 g = sum_gradient(star, freedom);
    for (star->rounds = 0; star->rounds < SUM_ROUNDS; star->rounds++) {
        double before = sum;
        kiln_vec3 from = *x, slope = g;
        for (int i = 0; i < SUM_HALVINGS && sum <= before; i++, step *= 0.5) {
            kiln_vec3 to = kiln_v3_madd(from, step, slope);
            double least = kiln_star_gradients(star, to);
            double there = sum_of(star->value, star->functions);
            if (!(least > floor) || !(there > before))
                continue;
            sum = there;
            worst = least;
            *x = to;
            g = sum_gradient(star, freedom);
        }
        if (!(sum > before + SUM_GAIN * fabs(before)))
            break;
        /* The step that fits the curvature met on the way (Barzilai and Borwein 1988). */
        kiln_vec3 moved = kiln_v3_sub(*x, from), turned = kiln_v3_sub(slope, g);
        double bend = kiln_v3_dot(moved, turned);
        step = bend > 0.0 ? kiln_v3_norm2(moved) / bend : 4.0 * step;
        step = fmin(step, 1.0 / (kiln_v3_norm(g) + 1e-30));
    }
    return worst;
}
