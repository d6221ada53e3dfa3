#include "app/interrupt.h"

#include <time.h>

/* How long the clean-up may take before the program ends without it. */
enum { PATIENCE_MS = 3000 };

/* A thread that waits, not a handler: it may look at the context, and needs nothing global. */
static void *watch(void *argument)
{
    kiln_interrupt *interrupt = argument;
    int number;
    if (sigwait(&interrupt->signals, &number) != 0)
        return NULL;
    kiln_context_stop(interrupt->context);
    for (int i = 0; i < PATIENCE_MS && kiln_is_guarded(interrupt->context); i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    signal(number, SIG_DFL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    raise(number);
    return NULL;
}

void kiln_interrupt_begin(kiln_interrupt *interrupt, kiln_context *context)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
    *interrupt = (kiln_interrupt){.context = context};
    sigemptyset(&interrupt->signals);
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) {
        struct sigaction now;
        /* What the caller ignores (nohup) stays ignored. */
        if (sigaction(ending[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&interrupt->signals, ending[i]);
    }
    pthread_sigmask(SIG_BLOCK, &interrupt->signals, &interrupt->before);
    interrupt->watching = pthread_create(&interrupt->watcher, NULL, watch, interrupt) == 0;
    if (!interrupt->watching)
        pthread_sigmask(SIG_SETMASK, &interrupt->before, NULL);
}

void kiln_interrupt_end(kiln_interrupt *interrupt)
{
    if (!interrupt->watching)
        return;
    if (!kiln_context_is_stopping(interrupt->context))
        pthread_cancel(interrupt->watcher);
    pthread_join(interrupt->watcher, NULL);
    pthread_sigmask(SIG_SETMASK, &interrupt->before, NULL);
}
