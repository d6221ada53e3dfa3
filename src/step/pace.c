#include "step/pace.h"

#include <math.h>

/* Steps longer or shorter than wanted by this part are as good as the wanted one. */
#define SAME 1e-9
/* Of the limits, what the next step is to use: what happens in it is not quite what happened. */
#define AIM        0.6
#define LEAST_GAIN 1.1 /* times the length, below which it stays */

void kiln_pace_init(kiln_pace *pace, const kiln_pace_limits *limits)
{
    *pace = (kiln_pace){.dt = limits->dt};
}

/* How long a step may be, as one of length `h` used that part of its limits. */
static double bearable(double h, double strained)
{
    return strained > 0.0 ? h * AIM / strained : INFINITY;
}

/* Good steps that are not waited for where limits are measured, or longer steps have just gone. */
static int head_start(const kiln_pace_limits *limits)
{
    return limits->patience - (limits->patience + 3) / 4;
}

void kiln_pace_accept(kiln_pace *pace, const kiln_pace_limits *limits, double h, double strained)
{
    if (pace->dt >= limits->dt) {
        /* The wanted length may be less than before: scenes can change it. */
        *pace = (kiln_pace){.dt = limits->dt};
        return;
    }
    if (++pace->good < limits->patience)
        return;
    pace->good = limits->patience;
    double longer = fmin(fmin(2.0 * pace->dt, limits->dt), bearable(h, strained));
    if (longer < fmin(LEAST_GAIN * pace->dt, limits->dt))
        return;
    pace->dt = longer;
    pace->good = head_start(limits);
}

bool kiln_pace_reject(kiln_pace *pace, const kiln_pace_limits *limits, double tried,
                      double strained)
{
    pace->good = strained > 0.0 ? head_start(limits) : 0;
    if (tried <= limits->dt_min * (1.0 + SAME))
        return false;
    double shorter = strained > 0.0 ? fmin(AIM * tried, bearable(tried, strained)) : 0.0;
    pace->dt = fmax(fmax(0.5 * tried, shorter), limits->dt_min);
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
