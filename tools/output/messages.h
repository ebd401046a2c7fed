/* What is said on stderr: errors about inputs (counted: exit code 3), notes, and the progress line.
 */
#ifndef DOPPEL_TOOLS_OUTPUT_MESSAGES_H
#define DOPPEL_TOOLS_OUTPUT_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <doppel/core.h>
#include <doppel/run.h>

#include "tools/output/progress.h"
#include "tools/output/groups/repeats.h"

struct settings;

struct report {
    FILE *stream;
    bool quiet, verbose;
    bool terminal;     /* then bytes that are not UTF-8 are escaped too */
    uint64_t problems; /* that are rows, and so no messages */
    struct repeats repeats;
    struct progress progress;
    struct doppel_run *run; /* what the engine is given: tells by this report */
};

/* @param report stays where it is as long as it is used; ended by report_end */
void report_start(struct report *report, const struct settings *settings);
void report_end(struct report *report);

/* An input could not be read: `doppel: PATH: reason`, and the run will end with 3. */
void report_input(struct report *report, const char *path, const char *reason);

/* A signal ended the run: how far it came, and whether that was for nothing. */
void report_interruption(struct report *report, const struct settings *settings);

/* The run cannot go on: `doppel: reason`. @return EXIT_WRONG_USE, for `return report_fatal(…)`. */
int report_fatal(struct report *report, const char *format, ...) DOPPEL_PRINTF(2, 3);

/* The same of what the engine refused. @return EXIT_SOME_UNREADABLE where what was asked for is not
 * there, as of any other input; else EXIT_WRONG_USE */
int report_refusal(struct report *report, enum doppel_status status,
                   const struct doppel_error *error);

/* Worth knowing: `doppel: …`, not with -q. */
void report_notice(struct report *report, const char *format, ...) DOPPEL_PRINTF(2, 3);

/* An answer is not what was asked for: `doppel: …`, with -q, too. */
void report_warning(struct report *report, const char *format, ...) DOPPEL_PRINTF(2, 3);

/* A run that came to its end had nothing to work on; said unless something could not be read. */
void report_no_input(struct report *report, const char *verb);

/* The exit code of the command, from what its verb returned: 130 after SIGINT, 3 after an error. */
int report_exit_code(const struct report *report, int code);

#endif
