/* What is said on stderr: errors about inputs, notes, and the progress line. */
#include "tools/output/messages.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/args/options.h"
#include "core/printable.h"
#include "tools/signals.h"

void report_start(struct report *report, const struct settings *settings)
{
    *report = (struct report){.stream = stderr,
                              .quiet = settings->quiet,
                              .verbose = settings->verbose,
                              .terminal = isatty(fileno(stderr)) == 1};
    progress_init(&report->progress, stderr, !settings->quiet && !settings->no_progress);
}

/* In one write, so that lines of several processes do not mix. `path` may be NULL. */
static void say(struct report *report, const char *path, const char *text)
{
    char *shown_path = path ? printable(path, report->terminal) : NULL;
    char *shown_text = printable(text, report->terminal);
    progress_clear(&report->progress);
    fprintf(report->stream, "doppel: %s%s%s\n", path ? shown_path : "", path ? ": " : "",
            shown_text);
    free(shown_path);
    free(shown_text);
}

void report_input(struct report *report, const char *path, const char *reason)
{
    report->errors++;
    say(report, path, reason);
}

void report_detail(struct report *report, const char *path, const char *reason)
{
    if (report->verbose)
        say(report, path, reason);
}

DOPPEL_PRINTF(2, 0)
static void say_formatted(struct report *report, const char *format, va_list arguments)
{
    char text[4096 + 512]; /* a path and a sentence */
    vsnprintf(text, sizeof text, format, arguments);
    say(report, NULL, text);
}

int report_fatal(struct report *report, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_formatted(report, format, arguments);
    va_end(arguments);
    return EXIT_WRONG_USE;
}

void report_notice(struct report *report, const char *format, ...)
{
    if (report->quiet)
        return;
    va_list arguments;
    va_start(arguments, format);
    say_formatted(report, format, arguments);
    va_end(arguments);
}

int report_exit_code(const struct report *report, int code)
{
    int stopped = signals_exit_code();
    if (stopped)
        return stopped;
    return report->errors && code != EXIT_WRONG_USE ? EXIT_SOME_UNREADABLE : code;
}
