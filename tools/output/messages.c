/* What is said on stderr: errors about inputs, notes, and the progress line. */
#include "tools/output/messages.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/args/options.h"
#include "core/text/printable.h"
#include "tools/memory.h"
#include "tools/args/paths.h"
#include "tools/signals.h"

static void say(struct report *report, const char *path, const char *text);

/* ---- what the engine tells ---- */

static bool is_interrupted(void *context)
{
    (void)context;
    return signals_stopped();
}

static void take_notice(void *context, enum doppel_notice level, const char *path, const char *text)
{
    struct report *report = context;
    if (level == DOPPEL_NOTICE_DETAIL || !report->quiet)
        say(report, path, text);
}

static void take_failure(void *context, const char *path, const struct doppel_error *reason)
{
    struct report *report = context;
    if (report->verbose || repeats_take(&report->repeats, path, reason->message))
        say(report, path, reason->message);
}

static void take_progress(void *context, const struct doppel_run_progress *now)
{
    struct report *report = context;
    const struct video_progress videos = {
        .done = now->videos,
        .total = now->videos_total,
        .done_ms = now->video_ms,
        .total_ms = now->video_total_ms,
        .spared_ms = now->video_cached_ms,
    };
    if (now->ends)
        progress_end(&report->progress);
    if (now->begins)
        progress_begin(&report->progress, now->unit, now->total);
    if (now->begins || now->ends)
        return;
    progress_set_total(&report->progress, now->total);
    progress_set_videos(&report->progress, &videos);
    progress_set_pages(&report->progress, now->pages, now->pages_total);
    progress_update(&report->progress, now->done, doppel_run_failures(report->run));
}

static struct doppel_run *run_for(struct report *report, const struct settings *settings)
{
    struct doppel_error error;
    struct doppel_run *run = NULL;
    char *cache = settings->verb ? cache_file(settings) : NULL;
    /* A service that is told to end answers first what it was asked. */
    bool serves = settings->verb && settings->verb->bit == VERB_SERVE;
    const struct doppel_run_options options = {
        .jobs = settings->jobs,
        .limits = {.max_bytes = settings->max_bytes,
                   .max_pixels = settings->max_pixels,
                   .max_memory = settings->max_memory,
                   .max_ms = settings->max_ms,
                   .timeout_ms = settings->timeout_ms,
                   .switched_off = settings->switched_off,
                   .whole_timeout = settings->timeout_given},
        .sandbox = (enum doppel_sandbox)settings->sandbox,
        .ocr = settings->ocr ? settings->ocr_languages : NULL,
        .cache = cache,
        .replace_cache = !settings->cache,
        .temporary = getenv("TMPDIR"),
        .details = settings->verbose,
        .retry = settings->retry,
        .cancelled = serves ? NULL : is_interrupted,
        .on_notice = take_notice,
        .on_failed = take_failure,
        .on_progress = report->progress.stream && !serves ? take_progress : NULL,
        .context = report,
    };
    if (doppel_run_new(&options, &run, &error)) {
        report_fatal(report, "%s", error.message);
        exit(EXIT_WRONG_USE);
    }
    free(cache);
    return run;
}

void report_start(struct report *report, const struct settings *settings)
{
    *report = (struct report){.stream = stderr,
                              .quiet = settings->quiet,
                              .verbose = settings->verbose,
                              .terminal = isatty(fileno(stderr)) == 1};
    bool json = settings->progress == PROGRESS_JSON;
    progress_init(&report->progress, stderr, (json || !settings->quiet) && !settings->no_progress,
                  json);
    report->run = run_for(report, settings);
}

/* How often it was not said any more, and where. */
static void say_repeats(struct report *report)
{
    for (size_t i = 0; i < report->repeats.count; i++) {
        const struct repeated_failure *repeat = &report->repeats.items[i];
        char text[1024], files[48];
        if (repeat->count <= REPEATS_SHOWN)
            continue;
        uint64_t more = repeat->count - REPEATS_SHOWN;
        snprintf(text, sizeof text, "%llu more record%s like these: %s (-v shows all)",
                 (unsigned long long)more, more == 1 ? "" : "s", repeat->reason);
        snprintf(files, sizeof files, "in %llu files", (unsigned long long)repeat->files);
        say(report, repeat->files == 1 ? repeat->file : files, text);
    }
}

void report_end(struct report *report)
{
    progress_end(&report->progress);
    say_repeats(report);
    repeats_free(&report->repeats);
    doppel_run_free(report->run);
}

/* In one write, so that lines of several processes do not mix. `path` may be NULL. */
static void say(struct report *report, const char *path, const char *text)
{
    char *shown_path = path ? must_have(printable(path, report->terminal)) : NULL;
    char *shown_text = must_have(printable(text, report->terminal));
    progress_clear(&report->progress);
    fprintf(report->stream, "doppel: %s%s%s\n", path ? shown_path : "", path ? ": " : "",
            shown_text);
    free(shown_path);
    free(shown_text);
}

void report_input(struct report *report, const char *path, const char *reason)
{
    doppel_run_fail_input(report->run, path, reason);
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

int report_refusal(struct report *report, enum doppel_status status,
                   const struct doppel_error *error)
{
    (void)report_fatal(report, "%s", error->message);
    return status == DOPPEL_E_NOT_FOUND ? EXIT_SOME_UNREADABLE : EXIT_WRONG_USE;
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

void report_warning(struct report *report, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_formatted(report, format, arguments);
    va_end(arguments);
}

/* What was read or embedded lies in a cache, what was added in the library. */
static bool keeps_what_was_done(const struct settings *settings)
{
    const struct option_info *cache = option_by_name("cache");
    uint64_t adds = VERB_ADD | VERB_INGEST | VERB_WATCH | VERB_IMPORT | VERB_REMOVE;
    return settings->verb->bit & adds || (settings->embeddings && !settings->no_cache) ||
           (settings->verb->bit & cache->verbs && !settings->no_cache);
}

void report_interruption(struct report *report, const struct settings *settings)
{
    const struct doppel_run_progress so_far = doppel_run_progress_so_far(report->run);
    const struct progress progress = {
        .unit = so_far.unit, .done = so_far.done, .total = so_far.total};
    char done[96] = "";
    if (so_far.unit)
        progress_format(&progress, done, sizeof done);
    report_notice(report, "interrupted%s%s%s", so_far.unit ? " after " : "", done,
                  keeps_what_was_done(settings) ? "; what was done is kept" : "");
}

void report_no_input(struct report *report, const char *verb)
{
    if (!doppel_run_failures(report->run))
        report_notice(report, "nothing to %s: no pictures, texts, recordings or videos", verb);
}

int report_exit_code(const struct report *report, int code)
{
    int stopped = signals_exit_code();
    if (stopped)
        return stopped;
    bool failed = doppel_run_failures(report->run) || report->problems;
    return failed && code != EXIT_WRONG_USE ? EXIT_SOME_UNREADABLE : code;
}
