/* doppel backup DIR: a copy of the library, as of one moment, while others write to it. */
#include <doppel/search_semantic.h>
#include <stdlib.h>

#include "tools/args/library_options.h"
#include "tools/args/paths.h"
#include "tools/output/messages.h"
#include "tools/args/commands.h"
#include "tools/signals.h"

static bool show_copied(void *context, uint64_t done, uint64_t total)
{
    struct report *report = context;
    progress_set_total(&report->progress, total);
    progress_update(&report->progress, done, 0);
    return !signals_stopped();
}

static enum doppel_status copy_vectors(const struct settings *settings,
                                       struct doppel_library *library, struct doppel_error *error)
{
    char *directory = library_directory(settings);
    enum doppel_status status =
        doppel_semantic_copy(library, directory, settings->operands.items[0], error);
    free(directory);
    return status;
}

int cmd_backup(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_library *library;
    if (open_library(settings, false, true, &library, &error))
        return report_fatal(report, "%s", error.message);
    progress_begin(&report->progress, "bytes", 0);
    enum doppel_status status =
        doppel_library_backup(library, settings->operands.items[0], show_copied, report, &error);
    progress_end(&report->progress);
    if (!status)
        status = copy_vectors(settings, library, &error);
    doppel_library_close(library);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return EXIT_DONE;
}
