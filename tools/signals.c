/* SIGINT and friends as a flag that loops look at, and a closed pipe likewise. */
#include "tools/signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

/* A handler can reach nothing but a global. 0, or the signal that stopped the run. */
static atomic_int stopped_by;

static void note_signal(int signal_number)
{
    atomic_store(&stopped_by, signal_number);
}

void signals_install(void)
{
    static const int stopping[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof stopping / sizeof *stopping; i++) {
        struct sigaction present;
        /* nohup, and shells that start jobs in the background, ignore some on purpose. */
        if (sigaction(stopping[i], NULL, &present) == 0 && present.sa_handler != SIG_IGN)
            sigaction(stopping[i], &action, NULL);
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGIO, SIG_IGN); /* a lease that is broken before it is given back */
}

bool signals_stopped(void)
{
    return atomic_load(&stopped_by) != 0;
}

bool signals_interrupted(void)
{
    int number = atomic_load(&stopped_by);
    return number && number != SIGPIPE;
}

void signals_closed_pipe(void)
{
    int none = 0;
    atomic_compare_exchange_strong(&stopped_by, &none, SIGPIPE);
}

void signals_forget(void)
{
    stopped_by = 0;
}

int signals_exit_code(void)
{
    int number = atomic_load(&stopped_by);
    return number ? 128 + number : 0;
}
