/* A file that was read by one scheme, read again by another one. */
#include "intake/other_scheme.h"

#include <string.h>

void other_scheme_reader_free(struct other_scheme_reader *reader)
{
    doppel_run_free(reader->bare);
    reader->bare = NULL;
}

/* The cache is open already, and what there is to tell of the file was told. */
static enum doppel_status want_bare_run(struct other_scheme_reader *reader,
                                        struct doppel_error *error)
{
    struct doppel_run_options options = *doppel_run_get_options(reader->run);
    options.cache = NULL;
    options.on_notice = NULL;
    options.on_failed = NULL;
    options.on_progress = NULL;
    return reader->bare ? DOPPEL_OK : doppel_run_new(&options, &reader->bare, error);
}

enum doppel_status other_scheme_read(void *context, const struct doppel_record *query,
                                     const char *name, const struct doppel_scheme *scheme,
                                     struct doppel_record *out, struct doppel_error *error)
{
    struct other_scheme_reader *reader = context;
    const struct doppel_input input = {.path = name};
    struct doppel_read_options read = reader->read;
    struct doppel_record record;
    read.kind = scheme->kind;
    read.schemes[scheme->kind] = *scheme;
    if (strcmp(name, "-") == 0)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "standard input cannot be read again");
    enum doppel_status status = want_bare_run(reader, error);
    if (!status)
        status = doppel_fingerprint(reader->bare, &input, &read, &record, error);
    if (status)
        return status;
    if (memcmp(&record.digest, &query->digest, sizeof record.digest) != 0) {
        doppel_record_free(&record);
        return doppel_fail(error, DOPPEL_E_CHANGED, "it has changed since it was read");
    }
    *out = record;
    return DOPPEL_OK;
}
