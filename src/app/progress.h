/* What a person, a pipe or a script sees of a run while it goes on: one line that is rewritten on a
 * terminal, lines now and then in a pipe, JSON lines with every step. */
#ifndef KILN_APP_PROGRESS_H
#define KILN_APP_PROGRESS_H

#include "sim/run.h"

#include <pthread.h>

typedef enum kiln_progress_kind {
    KILN_PROGRESS_QUIET,
    KILN_PROGRESS_LINE,  /* a terminal */
    KILN_PROGRESS_PLAIN, /* a pipe or file */
    KILN_PROGRESS_JSON
} kiln_progress_kind;

typedef struct kiln_progress {
    kiln_progress_kind kind;
    double until;               /* s of the run */
    double start_time;          /* s of the run, where this process began */
    double started, step_began; /* s of the wall clock */
    double shown;               /* when the last line was */
    kiln_stats stats;           /* of the last step */
    bool has_stats;
    bool line_open; /* the terminal's line is to be finished before other words */
    /* The heartbeat of long steps comes from a thread of its own. */
    pthread_t ticker;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool ticking, over;
} kiln_progress;

void kiln_progress_begin(kiln_progress *progress, kiln_progress_kind kind, double start_time,
                         double until);
void kiln_progress_end(kiln_progress *progress);
void kiln_progress_step(kiln_progress *progress, const kiln_stats *stats);
/* Words between the lines: {"event": event, key: text} in JSON, `text` alone on a terminal or in a
 * pipe unless `json_only`. */
void kiln_progress_say(kiln_progress *progress, const char *event, const char *key,
                       const char *text, bool json_only);
double kiln_progress_seconds(const kiln_progress *progress); /* since the begin */

#endif
