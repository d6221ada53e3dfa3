#include "app/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

/* How long the clean-up may take before the program ends without it. */
enum { PATIENCE_MS = 3000 };
/* And how long what was asked to end may go on with the step it is in. */
enum { STEP_MS = 2000 };

static const int ending[KILN_ENDING_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};

/* A handler can reach nothing else. Blocking the signals and waiting for them in a thread would do
 * without, but libraries (OpenBLAS) start threads before main, which take them unblocked. */
static int wake[2] = {-1, -1};

static void on_signal(int number)
{
    int kept = errno;
    unsigned char byte = (unsigned char)number;
    ssize_t written = write(wake[1], &byte, 1);
    (void)written;
    errno = kept;
}

/* 0: the program ends by itself. */
static unsigned char wait_for_signal(void)
{
    unsigned char number = 0;
    while (read(wake[0], &number, 1) < 0 && errno == EINTR)
        ;
    return number;
}

static void *watch(void *argument)
{
    kiln_interrupt *interrupt = argument;
    unsigned char number = wait_for_signal();
    kiln_asked *patience = interrupt->patience;
    if (number != 0 && patience && atomic_load(&patience->looked)) {
        atomic_store(&patience->asked, true);
        if (!poll(&(struct pollfd){.fd = wake[0], .events = POLLIN}, 1, STEP_MS))
            kiln_context_abandon(interrupt->context);
        number = wait_for_signal();
    }
    if (number == 0)
        return NULL;
    kiln_context_stop(interrupt->context);
    for (int i = 0; i < PATIENCE_MS && kiln_is_guarded(interrupt->context); i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    signal(number, SIG_DFL);
    raise(number);
    return NULL;
}

static bool open_wake(void)
{
    if (pipe(wake) != 0)
        return false;
    for (int i = 0; i < 2; i++)
        fcntl(wake[i], F_SETFD, FD_CLOEXEC);
    /* A full pipe must not hold up a handler: the first two signals are enough. */
    fcntl(wake[1], F_SETFL, O_NONBLOCK);
    return true;
}

void kiln_interrupt_begin(kiln_interrupt *interrupt, kiln_context *context)
{
    *interrupt = (kiln_interrupt){.context = context, .patience = interrupt->patience};
    if (!open_wake())
        return;
    interrupt->watching = pthread_create(&interrupt->watcher, NULL, watch, interrupt) == 0;
    if (!interrupt->watching)
        return;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < KILN_ENDING_SIGNALS; i++) {
        sigaction(ending[i], NULL, &interrupt->before[i]);
        /* What the caller ignores (nohup) stays ignored. */
        if (interrupt->before[i].sa_handler != SIG_IGN)
            sigaction(ending[i], &action, NULL);
    }
}

void kiln_interrupt_end(kiln_interrupt *interrupt)
{
    if (!interrupt->watching)
        return;
    unsigned char done = 0;
    while (write(wake[1], &done, 1) < 0 && errno == EINTR)
        ;
    pthread_join(interrupt->watcher, NULL);
    for (int i = 0; i < KILN_ENDING_SIGNALS; i++)
        sigaction(ending[i], &interrupt->before[i], NULL);
    for (int i = 0; i < 2; i++)
        close(wake[i]);
}
