/* doppel import: items from an export, or from lists of fingerprints and digests. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <doppel/exchange.h>

#include "tools/args/metadata_options.h"
#include "tools/args/library_options.h"
#include "tools/args/commands.h"
#include "tools/output/messages.h"

static enum doppel_status import_file(struct doppel_library *library, const char *path,
                                      const struct settings *settings, struct report *report,
                                      struct doppel_error *error)
{
    const struct doppel_metadata metadata = imported_metadata_from(settings);
    const struct doppel_import_options options = {
        .format = (enum doppel_exchange_format)settings->import_format,
        .name = strcmp(path, "-") == 0 ? NULL : path,
        .name_in_summary = settings->operands.count > 1,
        .metadata = &metadata};
    int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) { /* the others come in */
        report_input(report, path, strerror(errno));
        return DOPPEL_OK;
    }
    enum doppel_status status = doppel_import(report->run, library, fd, &options, NULL, error);
    close(fd);
    if (status && status != DOPPEL_E_CANCELLED)
        doppel_fail(error, status, "%s: %s", options.name ? path : "standard input",
                    error->message);
    return status;
}

int cmd_import(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_library *library;
    if (!library_is_wanted(settings, report))
        return EXIT_DONE;
    if (about_check(settings, &error) || open_library(settings, true, false, &library, &error))
        return report_fatal(report, "%s", error.message);
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < settings->operands.count && !status; i++)
        status = import_file(library, settings->operands.items[i], settings, report, &error);
    doppel_library_close(library);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return EXIT_DONE;
}
