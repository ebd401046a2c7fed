/* A library written to a stream: as JSON Lines, or in the formats of other tools. */
#include <errno.h>
#include <string.h>

#include <doppel/exchange.h>

#include "core/files/write_all.h"
#include "exchange/export_lists.h"
#include "exchange/model_write.h"

enum doppel_status export_written(FILE *out, struct doppel_error *error)
{
    if (!ferror(out))
        return DOPPEL_OK;
    return doppel_fail(error, errno == EPIPE ? DOPPEL_E_CANCELLED : write_failure(errno),
                       "the export cannot be written: %s", strerror(errno));
}

/* ---- JSON Lines ---- */

struct json_export {
    FILE *out;
    struct doppel_json line;
};

static enum doppel_status write_json_line(struct json_export *export, struct doppel_error *error)
{
    doppel_json_end_line(&export->line);
    enum doppel_status status = doppel_json_status(&export->line, error);
    errno = 0;
    if (!status)
        fwrite(export->line.bytes, 1, export->line.size, export->out);
    doppel_json_clear(&export->line);
    return status ? status : export_written(export->out, error);
}

static enum doppel_status export_policy(void *context, const struct doppel_keep_policy *policy,
                                        struct doppel_error *error)
{
    struct json_export *export = context;
    write_policy(&export->line, policy);
    return write_json_line(export, error);
}

static enum doppel_status export_source(void *context, const char *pattern, int64_t authority,
                                        struct doppel_error *error)
{
    struct json_export *export = context;
    write_source(&export->line, pattern, authority);
    return write_json_line(export, error);
}

static enum doppel_status export_list(void *context, const struct doppel_list *list,
                                      struct doppel_error *error)
{
    struct json_export *export = context;
    write_list(&export->line, list);
    return write_json_line(export, error);
}

static enum doppel_status export_text_options(void *context,
                                              const struct doppel_text_options *options,
                                              const struct doppel_text_limits *limits,
                                              struct doppel_error *error)
{
    struct json_export *export = context;
    write_text_options(&export->line, options, limits);
    return write_json_line(export, error);
}

static enum doppel_status export_item(void *context, const struct exchange_item *item,
                                      struct doppel_error *error)
{
    struct json_export *export = context;
    write_item(&export->line, item);
    return write_json_line(export, error);
}

static enum doppel_status export_text(void *context, const struct exchange_text *text,
                                      struct doppel_error *error)
{
    struct json_export *export = context;
    write_text(&export->line, text);
    return write_json_line(export, error);
}

static enum doppel_status export_mark(void *context, const struct doppel_mark *mark,
                                      struct doppel_error *error)
{
    struct json_export *export = context;
    write_mark(&export->line, mark);
    return write_json_line(export, error);
}

static enum doppel_status export_log(void *context, const struct doppel_log_entry *entry,
                                     struct doppel_error *error)
{
    struct json_export *export = context;
    write_log(&export->line, entry);
    return write_json_line(export, error);
}

static enum doppel_status export_json(struct doppel_run *run, struct doppel_library *library,
                                      FILE *out, const struct doppel_exchange_filter *filter,
                                      struct doppel_error *error)
{
    struct json_export export = {.out = out};
    const struct exchange_sink sink = {&export,     export_policy,       export_source,
                                       export_list, export_text_options, export_item,
                                       export_text, export_mark,         export_log};
    write_export_head(&export.line);
    enum doppel_status status = write_json_line(&export, error);
    if (!status)
        status = exchange_library(run, library, filter, &sink, error);
    doppel_json_free(&export.line);
    return status;
}

enum doppel_status doppel_export(struct doppel_run *run, struct doppel_library *library, FILE *out,
                                 const struct doppel_export_options *options,
                                 struct doppel_error *error)
{
    static const struct doppel_export_options all;
    struct doppel_error ignored;
    options = options ? options : &all;
    error = error ? error : &ignored;
    if ((unsigned)options->format >= DOPPEL_EXCHANGE_AUTO)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "no such format of an export");
    enum doppel_status status = options->format == DOPPEL_EXCHANGE_JSON
                                    ? export_json(run, library, out, &options->filter, error)
                                    : export_lists(run, library, out, options, error);
    errno = 0;
    (void)fflush(out);
    return status ? status : export_written(out, error);
}
