/* Ctrl-C, kill and a closed terminal end the program at once, but not before a file being written
 * aside or another program and its folder are gone (base/context.h, kiln_context_stop). */
#ifndef KILN_APP_INTERRUPT_H
#define KILN_APP_INTERRUPT_H

#include "app/command.h"
#include "base/context.h"

#include <pthread.h>
#include <signal.h>

enum { KILN_ENDING_SIGNALS = 3 };

typedef struct kiln_interrupt {
    kiln_context *context; /* borrowed */
    struct sigaction before[KILN_ENDING_SIGNALS];
    pthread_t watcher;
    bool watching;
    /* Set before begin: the first signal only asks, and abandons a long step; once it is looked for
     * (kiln_is_asked): who does not look yet has nothing to keep. NULL: none waits. */
    kiln_asked *patience;
} kiln_interrupt;

/* One at a time in a program. */
void kiln_interrupt_begin(kiln_interrupt *interrupt, kiln_context *context);
/* Does not return when a signal has come: the program ends by it. */
void kiln_interrupt_end(kiln_interrupt *interrupt);

#endif
