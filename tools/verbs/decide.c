/* What ingest, check and watch have in common: files that are named or come by and by, streams, and
 * records. */
#include "tools/args/engine_options.h"
#include "tools/output/messages.h"
#include "tools/verbs/decide.h"
#include "tools/verbs/semantic/library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doppel/stream.h>

#include "core/try.h"
#include "tools/args/metadata_options.h"
#include "tools/args/library_options.h"
#include "tools/clustered/clustered.h"
#include "tools/output/decision_output.h"
#include "tools/memory.h"
#include "tools/remote/remote.h"
#include "tools/signals.h"
#include "decide/decider.h"

struct decide_command {
    const struct settings *settings;
    struct report *report;
    struct doppel_library *library;
    struct decision_output output;
    bool only_asked;
};

static bool is_watch(const struct settings *settings)
{
    return settings->verb->bit == VERB_WATCH;
}

static bool is_stream(const struct settings *settings)
{
    return !is_watch(settings) && settings->operands.count == 1 &&
           strcmp(settings->operands.items[0], "-") == 0;
}

/* ---- deciding ---- */

/* What is kept is reported at once. @return false: nobody reads on */
static bool print_decision_of(struct decide_command *run, const struct doppel_decided *decided,
                              bool last)
{
    bool is_old = is_watch(run->settings) && decided->reason == DOPPEL_BECAUSE_KNOWN;
    return (is_old || decision_output_put(&run->output, decided)) &&
           (!last || decision_output_flush(&run->output));
}

static enum doppel_status pull_all(struct decide_command *run, struct doppel_decider *decider,
                                   struct doppel_error *error)
{
    struct doppel_decided decided;
    enum doppel_status status;
    while (!(status = doppel_decider_pull(decider, &decided, error)))
        if (!print_decision_of(run, &decided, !doppel_decider_waiting(decider)))
            return DOPPEL_E_CANCELLED;
    return status == DOPPEL_E_NOT_FOUND ? doppel_decider_settle(decider, error) : status;
}

/* ---- the messages of a stream ---- */

static bool print_stream_decision(void *context, const struct doppel_decided *decided, bool last)
{
    return print_decision_of(context, decided, last);
}

/* HOST:PID. Given (free) */
static char *name_of_consumer(void)
{
    char host[256] = "", name[300];
    (void)gethostname(host, sizeof host - 1);
    snprintf(name, sizeof name, "%s:%ld", host, (long)getpid());
    return must_copy(name);
}

static void report_stream(struct report *report, const struct doppel_stream_counts *counts)
{
    if (counts->decided)
        report_notice(report, "%llu messages decided about; %llu wait, %llu are in hand",
                      (unsigned long long)counts->decided, (unsigned long long)counts->lag,
                      (unsigned long long)counts->pending);
}

static enum doppel_status pull_stream(struct decide_command *run, struct doppel_decider *decider,
                                      const struct doppel_decide_options *decide,
                                      struct doppel_error *error)
{
    const struct settings *settings = run->settings;
    char *consumer = settings->consumer ? must_copy(settings->consumer) : name_of_consumer();
    struct doppel_stream_counts counts = {0};
    const struct doppel_stream_options options = {
        .url = settings->stream,
        .password = settings->stream_secret,
        .ca_file = settings->stream_ca,
        .group = settings->group,
        .consumer = consumer,
        .to = settings->stream_to,
        .claim_after_ms = settings->claim_after_ms,
        .drain = settings->drain,
        .decide = decide,
        .on_decided = settings->stream_to ? NULL : print_stream_decision,
        .context = run,
    };
    enum doppel_status status =
        doppel_stream_ingest(run->report->run, decider, &options, &counts, error);
    free(consumer);
    report_stream(run->report, &counts);
    if (!status && signals_interrupted())
        signals_forget(); /* that is how it ends */
    return status;
}

/* A stream, records, or the files that the operands name. */
static enum doppel_status decide_inputs(struct decide_command *run, struct doppel_error *error)
{
    static const char *const standard_input[] = {"-"};
    const struct settings *settings = run->settings;
    struct doppel_decider *decider = NULL;
    struct doppel_watch *watch = NULL;
    struct semantic_library semantic = {0};
    const struct doppel_metadata metadata = about_of(settings);
    struct doppel_decide_options options = decide_options_from(settings);
    struct decider_intake intake = {false, read_options_from(settings),
                                    walk_options_from(settings)};
    options.dry_run = run->only_asked;
    options.count_matches = settings->count_matches;
    options.metadata = metadata_is_given(settings) ? &metadata : NULL;
    options.with_files = is_stream(settings);
    if (options.with_files) {
        options.records.paths = standard_input;
        options.records.count = 1;
        options.records.format = DOPPEL_CORPUS_JSONL;
    }
    intake.walks = !options.records.count && !settings->stream;
    if (!intake.walks)
        options.search.compare.text = corpus_text_from(settings);
    const struct doppel_watch_options watched = {intake.walk, settings->settle_ms,
                                                 settings->library};
    enum doppel_status status;
    if (is_watch(settings))
        TRY(doppel_watch_new(run->report->run, &watched, &watch, error));
    options.watch = watch;
    TRY(semantic_library_open(settings, run->report, run->library, !run->only_asked, &semantic,
                              error));
    options.semantic = semantic.semantic;
    TRY(decider_open(run->report->run, run->library, &options, &intake, &decider, error));
    TRY(settings->stream ? pull_stream(run, decider, &options, error)
                         : pull_all(run, decider, error));
done:
    doppel_decider_free(decider);
    doppel_watch_free(watch);
    semantic_library_close(&semantic);
    return status;
}

/* ---- the verb ---- */

static bool check_input(const struct settings *settings, struct report *report)
{
    const char *verb = settings->verb->name;
    bool files = settings->operands.count || settings->files_from;
    if (settings->stream && (files || settings->jsonl.count || settings->server)) {
        report_fatal(report, "'--stream' is all that is read: leave out %s",
                     files              ? settings->verb->operands
                     : settings->server ? "'--server'"
                                        : "'--jsonl'");
        return false;
    }
    if (!files && !settings->jsonl.count && !settings->stream) {
        report_fatal(report,
                     "'%s' wants %s, - for a stream, or --jsonl FILE for records; see 'doppel %s "
                     "--help'",
                     verb, settings->verb->operands, verb);
        return false;
    }
    if (!is_watch(settings) && settings->input_format != INPUT_AUTO && !settings->jsonl.count) {
        report_fatal(report, "'--input-format' is of '--jsonl', whose FILE may be -");
        return false;
    }
    if (files && settings->jsonl.count) {
        report_fatal(report, "give %s or '--jsonl', not both", settings->verb->operands);
        return false;
    }
    for (size_t i = 0; i < settings->operands.count; i++)
        if (strcmp(settings->operands.items[i], "-") == 0 &&
            (settings->operands.count > 1 || settings->files_from)) {
            report_fatal(report, "- is a stream of its own: '%s -'", verb);
            return false;
        }
    return true;
}

static int code_of(const struct decide_command *run)
{
    if (!run->only_asked)
        return EXIT_DONE;
    return run->output.matched ? EXIT_DONE : EXIT_NO_MATCH;
}

int decide_verb(const struct settings *settings, struct report *report, bool only_asked)
{
    struct doppel_error error;
    struct decide_command run = {.settings = settings, .report = report, .only_asked = only_asked};
    if (!check_input(settings, report))
        return EXIT_WRONG_USE;
    if (settings->server && !is_stream(settings))
        return remote_decide(settings, report, only_asked);
    if (settings->server)
        return report_fatal(report, "a stream goes to a service as NDJSON, by 'curl': name files");
    if (settings->clustered)
        return clustered_decide(settings, report, only_asked);
    if (!decision_output_begin(&run.output, settings, report))
        return EXIT_WRONG_USE;
    if (about_check(settings, &error))
        return report_fatal(report, "%s", error.message);
    if (open_library(settings, !only_asked, only_asked && !settings->count_matches, &run.library,
                     &error))
        return report_fatal(report, "%s", error.message);
    struct settings adopted = *settings;
    adopt_schemes(&adopted, run.library, report);
    run.settings = &adopted;
    enum doppel_status status = decide_inputs(&run, &error);
    bool ended = !status || status == DOPPEL_E_CANCELLED;
    bool written = decision_output_finish(&run.output, ended);
    doppel_library_close(run.library);
    if (!ended)
        return report_fatal(report, "%s", error.message);
    return written ? code_of(&run) : EXIT_WRONG_USE;
}
