/* doppel export: what the library holds, as lines that others read. */
#include <errno.h>
#include <string.h>

#include "tools/output/messages.h"
#include "exchange/model_write.h"
#include "tools/args/library_options.h"
#include "tools/args/commands.h"
#include "exchange/export_lists.h"
#include "core/output_file.h"

/* ---- JSON Lines ---- */

static enum doppel_status write_line(void *context, json_t *object, struct doppel_error *error)
{
    FILE *out = context;
    errno = 0;
    if (json_dumpf(object, out, JSON_COMPACT) == 0)
        fputc('\n', out);
    json_decref(object);
    return export_written(out, error);
}

static enum doppel_status write_policy(void *context, const struct doppel_keep_policy *policy,
                                       struct doppel_error *error)
{
    return write_line(context, json_of_policy(policy), error);
}

static enum doppel_status write_source(void *context, const char *pattern, int64_t authority,
                                       struct doppel_error *error)
{
    return write_line(context, json_of_source(pattern, authority), error);
}

static enum doppel_status write_list(void *context, const char *name, enum doppel_list_state state,
                                     struct doppel_error *error)
{
    return write_line(context, json_of_list(name, state), error);
}

static enum doppel_status write_options(void *context, const struct doppel_text_options *options,
                                        const struct doppel_text_limits *limits,
                                        struct doppel_error *error)
{
    return write_line(context, json_of_text_options(options, limits), error);
}

static enum doppel_status write_item(void *context, const struct carried_item *item,
                                     struct doppel_error *error)
{
    return write_line(context, json_of_item(item), error);
}

static enum doppel_status write_text(void *context, const struct carried_text *text,
                                     struct doppel_error *error)
{
    return write_line(context, json_of_text(text), error);
}

static enum doppel_status write_mark(void *context, const struct doppel_mark *mark,
                                     struct doppel_error *error)
{
    return write_line(context, json_of_mark(mark), error);
}

static enum doppel_status write_log(void *context, const struct doppel_log_entry *entry,
                                    struct doppel_error *error)
{
    return write_line(context, json_of_log(entry), error);
}

static enum doppel_status export_json(struct doppel_library *library,
                                      const struct settings *settings, struct report *report,
                                      FILE *out, struct doppel_error *error)
{
    const struct carry_sink sink = {out,        write_policy,  write_source,
                                    write_list, write_options, write_item,
                                    write_text, write_mark,    write_log};
    enum doppel_status status = write_line(out, export_head(), error);
    return status ? status : carry(library, settings, report, &sink, error);
}

/* ---- the verb ---- */

static enum doppel_status write_all(struct doppel_library *library, const struct settings *settings,
                                    struct report *report, FILE *out, struct doppel_error *error)
{
    enum doppel_status status = settings->export_format == EXCHANGE_JSON
                                    ? export_json(library, settings, report, out, error)
                                    : export_lists(library, settings, report, out, error);
    errno = 0;
    fflush(out);
    return status ? status : export_written(out, error);
}

static enum doppel_status export(struct doppel_library *library, const struct settings *settings,
                                 struct report *report, struct doppel_error *error) {
    struct output_file file;
    if (!settings->output || strcmp(settings->output, "-") ==
                                 0) return write_all(library, settings, report, stdout, error);
    enum doppel_status status = output_file_open(settings->output, NULL, &file, error);
    if (status) return status;
    status = write_all(library, settings, report, file.stream, error);
    return output_file_close(&file, status, error);
}

int cmd_export(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_library *library;
    if (open_library(settings, false, true, &library, &error))
        return report_fatal(report, "%s", error.message);
    enum doppel_status status = export(library, settings, report, &error);
    doppel_library_close(library);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return EXIT_DONE;
}
