/* A file, or another library, taken into a library. */
#include <string.h>
#include <sys/stat.h>

#include <doppel/exchange.h>

#include "exchange/import_source.h"
#include "exchange/importer.h"

/* As the longest line of an export: an attachment in base64, and a sequence. */
static const size_t MAX_LINE = (size_t)192 << 20;

static const struct doppel_import_options everything;

static enum doppel_status import_source(struct import_source *source,
                                        enum doppel_exchange_format format,
                                        struct doppel_error *error)
{
    doppel_run_begin(source->run, "bytes", source->size);
    if (format == DOPPEL_EXCHANGE_AUTO)
        format = import_format(source, error);
    switch (format) {
    case DOPPEL_EXCHANGE_AUTO:
        return DOPPEL_E_ARGUMENT;
    case DOPPEL_EXCHANGE_JSON:
        return import_json(source, error);
    case DOPPEL_EXCHANGE_CSV:
        return import_csv(source, error);
    default:
        return import_lines(source, format, error);
    }
}

/* What came in before a failure stays. @param status of what was given to the importer */
static enum doppel_status finish_import(struct importer *importer, const char *name,
                                        enum doppel_status status,
                                        struct doppel_import_counts *out_counts,
                                        struct doppel_error *error)
{
    struct doppel_error ignored;
    enum doppel_status finished = importer_finish(importer, status ? &ignored : error);
    const struct doppel_import_counts counts = importer_counts(importer);
    if (!finished && (!status || counts.added || counts.updated || counts.unchanged))
        importer_notice_counts(importer, name);
    if (out_counts)
        *out_counts = counts;
    importer_free(importer);
    return status ? status : finished;
}

enum doppel_status import_from_file(struct doppel_run *run, int fd, const char *name,
                                    enum doppel_exchange_format format, struct importer *importer,
                                    uint64_t *out_bad, struct doppel_error *error)
{
    struct import_source source = {.name = name, .run = run, .sink = importer_sink(importer)};
    struct stat file;
    if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode))
        source.size = (uint64_t)file.st_size;
    line_reader_begin(&source.reader, fd, MAX_LINE, run);
    enum doppel_status status = import_source(&source, format, error);
    line_reader_end(&source.reader);
    *out_bad = source.bad;
    return status;
}

enum doppel_status doppel_import(struct doppel_run *run, struct doppel_library *library, int fd,
                                 const struct doppel_import_options *options,
                                 struct doppel_import_counts *out_counts,
                                 struct doppel_error *error)
{
    struct doppel_error ignored;
    options = options ? options : &everything;
    error = error ? error : &ignored;
    const char *name = options->name ? options->name : "standard input";
    struct importer *importer;
    uint64_t bad;
    if ((unsigned)options->format > DOPPEL_EXCHANGE_AUTO)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "no such format of an import");
    enum doppel_status status = importer_new(run, library, options->metadata, &importer, error);
    if (status)
        return status;
    status = import_from_file(run, fd, name, options->format, importer, &bad, error);
    return finish_import(importer, options->name_in_summary ? name : NULL, status, out_counts,
                         error);
}

enum doppel_status doppel_merge(struct doppel_run *run, struct doppel_library *into,
                                struct doppel_library *from,
                                const struct doppel_import_options *options,
                                struct doppel_import_counts *out_counts, struct doppel_error *error)
{
    struct importer *importer;
    struct doppel_error ignored;
    options = options ? options : &everything;
    error = error ? error : &ignored;
    enum doppel_status status = importer_new(run, into, options->metadata, &importer, error);
    if (status)
        return status;
    importer_set_on_item(importer, options);
    status = exchange_library(run, from, &options->filter, importer_sink(importer), error);
    return finish_import(importer, NULL, status, out_counts, error);
}
