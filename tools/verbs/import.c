/* doppel import: items from an export, or from lists of fingerprints and digests. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/output/messages.h"
#include "tools/args/metadata_options.h"
#include "tools/args/library_options.h"
#include "tools/args/commands.h"
#include "exchange/import_source.h"
#include "exchange/importer.h"

/* As the longest line of an export: an attachment in base64, and a sequence. */
static const size_t MAX_LINE = (size_t)192 << 20;

static enum doppel_status open_source(const char *path, int *out, uint64_t *out_size,
                                      struct doppel_error *error)
{
    struct stat stat;
    int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &stat)) {
        int reason = errno;
        if (fd >= 0)
            close(fd);
        return doppel_fail(error, DOPPEL_E_IO, "%s: %s", path, strerror(reason));
    }
    *out = fd;
    *out_size = S_ISREG(stat.st_mode) ? (uint64_t)stat.st_size : 0;
    return DOPPEL_OK;
}

static enum doppel_status import_all(struct import_source *source, struct doppel_error *error)
{
    enum exchange format = source->settings->import_format;
    progress_begin(&source->report->progress, "MB", source->size >> 20);
    if (format == EXCHANGE_AUTO)
        format = import_format(source, error);
    switch (format) {
    case EXCHANGE_AUTO:
        return DOPPEL_E_ARGUMENT;
    case EXCHANGE_JSON:
        return import_json(source, error);
    case EXCHANGE_CSV:
        return import_csv(source, error);
    default:
        return import_lines(source, format, error);
    }
}

/* What came in before a failure stays. */
static enum doppel_status import_into(struct doppel_library *library, struct import_source *source,
                                      struct doppel_error *error)
{
    struct importer *importer;
    struct doppel_error ignored;
    enum doppel_status status =
        importer_new(library, source->settings, source->report, &importer, error);
    if (status)
        return status;
    source->sink = importer_sink(importer);
    status = import_all(source, error);
    progress_clear(&source->report->progress);
    const char *name = source->settings->operands.count > 1 ? source->name : NULL;
    enum doppel_status finished = importer_finish(importer, name, status ? &ignored : error);
    importer_free(importer);
    return status ? status : finished;
}

static enum doppel_status import_one(struct doppel_library *library, const char *path,
                                     const struct settings *settings, struct report *report,
                                     struct doppel_error *error)
{
    struct import_source source = {.name = strcmp(path, "-") == 0 ? "standard input" : path,
                                   .settings = settings,
                                   .report = report};
    int fd = -1;
    enum doppel_status status = open_source(path, &fd, &source.size, error);
    if (status)
        return status;
    line_reader_begin(&source.reader, fd, MAX_LINE);
    status = import_into(library, &source, error);
    line_reader_end(&source.reader);
    close(fd);
    if (status && status != DOPPEL_E_CANCELLED)
        doppel_fail(error, status, "%s: %s", source.name, error->message);
    return status;
}

int cmd_import(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_library *library;
    if (about_check(settings, &error) || open_library(settings, true, false, &library, &error))
        return report_fatal(report, "%s", error.message);
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < settings->operands.count && !status; i++)
        status = import_one(library, settings->operands.items[i], settings, report, &error);
    doppel_library_close(library);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return EXIT_DONE;
}
