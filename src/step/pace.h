/* The length of the next step: halved after a rejected one, doubled after several good ones, and
 * again after fewer as long as that goes (from a thousandth of dt it takes 25 steps, not 80). Where
 * it is known how much of its limits a step used (`strained`, outcome.h; 0: it is not), it is cut
 * to what they bear, and longer again as soon as they bear it: of thousands of tets some always hit
 * something, and waiting without looking would make all steps as short as the shortest. Pure
 * arithmetic on a struct that checkpoints keep. */
#ifndef KILN_STEP_PACE_H
#define KILN_STEP_PACE_H

#include <stdbool.h>

typedef struct kiln_pace_limits {
    double dt;      /* wanted, s */
    double dt_min;  /* a rejected step of this length ends the run, */
    bool by_preset; /* unless nobody asked for that, and things go far in it (outcome.h, `haste`) */
    int patience;   /* good steps before dt is doubled; a quarter of them where limits are measured,
                       or it has been doubled since it was last halved */
} kiln_pace_limits;

typedef struct kiln_pace {
    double dt; /* the next step, before it is cut to meet a frame */
    int good;  /* in a row at this dt, or what is as good */
} kiln_pace;

void kiln_pace_init(kiln_pace *pace, const kiln_pace_limits *limits);
/* After a step of length `h`. */
void kiln_pace_accept(kiln_pace *pace, const kiln_pace_limits *limits, double h, double strained);
/* False when dt was already at its minimum. `tried` is the length that failed; `strained` is 0 if
 * it was for another reason. */
bool kiln_pace_reject(kiln_pace *pace, const kiln_pace_limits *limits, double tried,
                      double strained);
/* Step from `time` that meets `stop` exactly: dt, or what is left, or half of it when a sliver
 * would remain. */
double kiln_pace_length(const kiln_pace *pace, double time, double stop);

#endif
