#include "step/pace.h"

#include <math.h>

/* Steps longer or shorter than wanted by this part are as good as the wanted one. */
#define SAME 1e-9

void kiln_pace_init(kiln_pace *pace, const kiln_pace_limits *limits)
{
    *pace = (kiln_pace){.dt = limits->dt};
}

void kiln_pace_accept(kiln_pace *pace, const kiln_pace_limits *limits)
{
    if (pace->dt >= limits->dt) {
        /* The wanted length may be less than before: scenes can change it. */
        *pace = (kiln_pace){.dt = limits->dt};
        return;
    }
    if (++pace->good < limits->patience)
        return;
    pace->dt = fmin(2.0 * pace->dt, limits->dt);
    pace->good = 0;
}

bool kiln_pace_reject(kiln_pace *pace, const kiln_pace_limits *limits, double tried)
{
    pace->good = 0;
    if (tried <= limits->dt_min * (1.0 + SAME))
        return false;
    pace->dt = fmax(0.5 * tried, limits->dt_min);
    return true;
}

/* h with time + h == stop in floating point where there is one: the difference is exact unless the
 * two are far apart, and then a neighbour of it is right. */
static double meet(double time, double stop)
{
    double h = stop - time;
    if (time + h < stop && time + nextafter(h, INFINITY) == stop)
        return nextafter(h, INFINITY);
    if (time + h > stop && time + nextafter(h, 0.0) == stop)
        return nextafter(h, 0.0);
    return h;
}

double kiln_pace_length(const kiln_pace *pace, double time, double stop)
{
    double left = stop - time;
    if (left <= pace->dt * (1.0 + SAME))
        return meet(time, stop);
    if (left < 1.5 * pace->dt)
        return 0.5 * left;
    return pace->dt;
}
