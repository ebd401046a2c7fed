/* SIGINT and friends as a flag that loops look at, and a closed pipe likewise. */
#ifndef DOPPEL_TOOLS_SIGNALS_H
#define DOPPEL_TOOLS_SIGNALS_H

#include <stdbool.h>

/* SIGINT, SIGTERM and SIGHUP set the flag (a second one kills); SIGPIPE, SIGXFSZ and SIGIO are
 * ignored. Blocking calls end with EINTR. */
void signals_install(void);

/* Stop soon: finish what is at hand, keep it, return. From any thread, as all of these. */
bool signals_stopped(void);

/* The same, unless it was because nobody reads standard output any more. */
bool signals_interrupted(void);

/* Stdout has no reader any more: stop, and end with 141 as a process does that SIGPIPE kills. */
void signals_closed_pipe(void);

/* The signal was how the run is to end: nothing was interrupted. */
void signals_forget(void);

/* 130 after SIGINT, 143 after SIGTERM, 141 after a closed pipe; 0 when nothing stopped the run. */
int signals_exit_code(void);

#endif
