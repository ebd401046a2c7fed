/* doppel merge OTHER: all of another library into this one. */
#include <stdlib.h>
#include <string.h>

#include <doppel/exchange.h>

#include "tools/args/library_options.h"
#include "tools/output/messages.h"
#include "tools/args/commands.h"
#include "tools/args/paths.h"

static enum doppel_status open_both(const struct settings *settings,
                                    struct doppel_library **library, struct doppel_library **other,
                                    struct doppel_error *error)
{
    static const struct doppel_library_options reading = {.read_only = true};
    const char *name = settings->operands.items[0];
    char *here = library_directory(settings);
    char *real = here ? realpath(here, NULL) : NULL, *its = realpath(name, NULL);
    bool same = real && its && strcmp(real, its) == 0;
    free(here);
    free(real);
    free(its);
    if (same)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s: this is the library itself", name);
    enum doppel_status status = doppel_library_open(name, &reading, other, error);
    return status ? status : open_library(settings, true, false, library, error);
}

static enum doppel_status merge_other(struct doppel_library *library, struct doppel_library *other,
                                      const struct settings *settings, struct report *report,
                                      struct doppel_error *error)
{
    const struct doppel_metadata metadata = imported_metadata_from(settings);
    const struct doppel_import_options options = {.filter = exchange_filter_from(settings),
                                                  .metadata = &metadata};
    return doppel_merge(report->run, library, other, &options, NULL, error);
}

int cmd_merge(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_library *library = NULL, *other = NULL;
    enum doppel_status status = open_both(settings, &library, &other, &error);
    if (!status)
        status = merge_other(library, other, settings, report, &error);
    doppel_library_close(other);
    doppel_library_close(library);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return EXIT_DONE;
}
