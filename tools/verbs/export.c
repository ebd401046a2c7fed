/* doppel export: what the library holds, as lines that others read. */
#include <string.h>

#include <doppel/exchange.h>

#include "core/files/output_file.h"
#include "tools/args/commands.h"
#include "tools/args/library_options.h"
#include "tools/output/messages.h"
#include "tools/signals.h"

static enum doppel_status export_to(FILE *out, struct doppel_library *library,
                                    const struct settings *settings, struct report *report,
                                    struct doppel_error *error)
{
    const struct doppel_export_options options = {
        .format = (enum doppel_exchange_format)settings->export_format,
        .filter = exchange_filter_from(settings)};
    enum doppel_status status = doppel_export(report->run, library, out, &options, error);
    if (status == DOPPEL_E_CANCELLED)
        signals_closed_pipe(); /* unless it was a signal */
    return status;
}

/* They lie beside the library. */
static void notice_vectors_left(struct doppel_library *library, const struct settings *settings,
                                struct report *report)
{
    struct doppel_library_vectors_count known;
    if ((enum doppel_exchange_format)settings->export_format == DOPPEL_EXCHANGE_JSON &&
        !doppel_library_count_vectors(library, &known, NULL) && known.texts)
        report_notice(report,
                      "semantic: the vectors of %llu texts are not exported: 'doppel merge' takes "
                      "them along, or 'doppel ingest --semantic' embeds the texts again",
                      (unsigned long long)known.texts);
}

static enum doppel_status export_library(struct doppel_library *library,
                                         const struct settings *settings, struct report *report,
                                         struct doppel_error *error)
{
    struct output_file file;
    if (!settings->output || strcmp(settings->output, "-") == 0)
        return export_to(stdout, library, settings, report, error);
    enum doppel_status status = output_file_open(settings->output, NULL, &file, error);
    if (status)
        return status;
    status = export_to(file.stream, library, settings, report, error);
    return output_file_close(&file, status, error);
}

int cmd_export(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_library *library;
    if (open_library(settings, false, true, &library, &error))
        return report_fatal(report, "%s", error.message);
    enum doppel_status status = export_library(library, settings, report, &error);
    if (!status)
        notice_vectors_left(library, settings, report);
    doppel_library_close(library);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return EXIT_DONE;
}
