/* doppel log --sink: copy the log to a database. */
#include "tools/verbs/log/sink.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doppel/stream.h>

#include "core/files/absolute_path.h"
#include "core/text/printable.h"
#include "tools/args/library_options.h"
#include "tools/args/paths.h"
#include "tools/memory.h"
#include "tools/signals.h"

enum { PATIENCE_MS = 60000 };

/* An option that chooses entries: all of them are kept. NULL: there is none */
static const char *entry_choice(const struct settings *settings)
{
    return settings->operands.count ? "an ID"
           : settings->since        ? "'--since'"
           : settings->last         ? "'--last'"
           : settings->after        ? "'--after'"
                                    : NULL;
}

/* HOST:PATH: the same path of two machines are two libraries. Given (free) */
static char *name_of_library(const struct settings *settings)
{
    char host[256] = "";
    char *given = library_directory(settings);
    char *path = must_have(absolute_path(given ? given : ""));
    (void)gethostname(host, sizeof host - 1);
    char *name = must_allocate(strlen(host) + strlen(path) + 2);
    stpcpy(stpcpy(stpcpy(name, host), ":"), path);
    char *repaired = must_have(utf8_repaired(name));
    free(given);
    free(path);
    free(name);
    return repaired;
}

static int keep_in_database(const struct settings *settings, struct report *report,
                            struct doppel_library *library)
{
    struct doppel_error error;
    struct doppel_log_sink_counts counts = {0};
    char *name = settings->sink_name ? must_copy(settings->sink_name) : name_of_library(settings);
    const struct doppel_log_sink_options options = {.url = settings->sink,
                                                    .name = name,
                                                    .follow = settings->follow,
                                                    .patience_ms =
                                                        settings->follow ? 0 : PATIENCE_MS};
    enum doppel_status status = doppel_log_sink(report->run, library, &options, &counts, &error);
    if (!status && counts.written)
        report_notice(report, "%" PRIu64 " entries written, up to %" PRIu64, counts.written,
                      counts.last);
    if (!status && settings->follow && signals_interrupted())
        signals_forget(); /* that is how it ends */
    free(name);
    return status ? report_fatal(report, "%s", error.message) : EXIT_DONE;
}

int log_to_sink(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_library *library;
    const char *choice = entry_choice(settings);
    if (!settings->sink)
        return report_fatal(report, "'--sink-name' is for '--sink'");
    if (choice)
        return report_fatal(report,
                            "'--sink' keeps all of the log, from where it stands there: "
                            "leave out %s",
                            choice);
    if (open_library(settings, false, true, &library, &error))
        return report_fatal(report, "%s", error.message);
    int code = keep_in_database(settings, report, library);
    doppel_library_close(library);
    return code;
}
