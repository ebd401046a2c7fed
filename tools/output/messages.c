/* What is said on stderr: errors about inputs, notes, and the progress line. */
#include "tools/output/messages.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/args/options.h"
#include "core/printable.h"
#include "tools/signals.h"

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

/* ---- what the engine says ---- */

static bool is_stopped(void *context)
{
    (void)context;
    return signals_stopped();
}

static void say_notice(void *context, enum doppel_notice level, const char *path, const char *text)
{
    struct report *report = context;
    if (level == DOPPEL_NOTICE_DETAIL)
        report_detail(report, path, text);
    else if (!report->quiet)
        say(report, path, text);
}

static void say_failed(void *context, const char *path, const struct doppel_error *reason)
{
    report_input(context, path, reason->message);
}

static void show_progress(void *context, const struct doppel_run_progress *from)
{
    struct report *report = context;
    const struct video_progress videos = {.done = from->videos,
                                          .total = from->videos_total,
                                          .done_ms = from->video_ms,
                                          .total_ms = from->video_total_ms,
                                          .spared_ms = from->video_cached_ms};
    if (from->begins) {
        progress_begin(&report->progress, from->unit, from->total);
        return;
    }
    progress_set_total(&report->progress, from->total);
    progress_set_videos(&report->progress, &videos);
    progress_update(&report->progress, from->done, report->errors);
}

static struct doppel_limits limits_from(const struct settings *settings)
{
    return (struct doppel_limits){.max_bytes = settings->max_bytes,
                                  .max_pixels = settings->max_pixels,
                                  .max_memory = settings->max_memory,
                                  .max_ms = settings->max_ms,
                                  .timeout_ms = settings->timeout_ms,
                                  .whole_timeout = settings->timeout_given};
}

static struct doppel_run *make_run(struct report *report, const struct settings *settings)
{
    const struct doppel_run_options options = {
        .jobs = settings->jobs,
        .limits = limits_from(settings),
        .temporary = settings->temporary,
        .retry = settings->retry,
        .cancelled = is_stopped,
        .on_notice = say_notice,
        .on_failed = say_failed,
        .on_progress = show_progress,
        .context = report,
    };
    struct doppel_error error;
    struct doppel_run *run;
    if (!doppel_run_new(&options, &run, &error))
        return run;
    report_fatal(report, "%s", error.message);
    exit(EXIT_WRONG_USE);
}

void report_start(struct report *report, const struct settings *settings)
{
    *report = (struct report){.stream = stderr,
                              .quiet = settings->quiet,
                              .verbose = settings->verbose,
                              .terminal = isatty(fileno(stderr)) == 1};
    progress_init(&report->progress, stderr, !settings->quiet && !settings->no_progress);
    report->run = make_run(report, settings);
}

void report_end(struct report *report)
{
    progress_clear(&report->progress);
    doppel_run_free(report->run);
    report->run = NULL;
}
