/* A list of a library, made again as a file has it. */
#include <doppel/exchange.h>

#include "core/try.h"
#include "exchange/import_source.h"
#include "exchange/importer.h"

/* A download that was cut short must not empty a list. */
static enum doppel_status refuse_shrunk_list(const struct doppel_sync_counts *counts,
                                             const char *list, struct doppel_error *error)
{
    if (counts->unreadable)
        return doppel_fail(error, DOPPEL_E_LIMIT,
                           "%llu of its lines cannot be read, so nobody knows what is gone; list "
                           "'%s' stays as it is",
                           (unsigned long long)counts->unreadable, list);
    if (counts->before && !counts->after)
        return doppel_fail(error, DOPPEL_E_LIMIT,
                           "it is empty, and list '%s' has %llu; that stays "
                           "as it is",
                           list, (unsigned long long)counts->before);
    if (counts->removed > counts->before / 2)
        return doppel_fail(error, DOPPEL_E_LIMIT,
                           "%llu of the %llu on list '%s' are not in it, more than half; the list "
                           "stays as it is",
                           (unsigned long long)counts->removed, (unsigned long long)counts->before,
                           list);
    return DOPPEL_OK;
}

static enum doppel_status sync_from_file(struct importer *importer, struct doppel_run *run, int fd,
                                         const struct doppel_sync_options *options,
                                         struct doppel_sync_counts *out, struct doppel_error *error)
{
    const struct doppel_import_options *import = &options->import;
    const char *name = import->name ? import->name : "standard input";
    struct doppel_list_sync *sync = NULL;
    struct doppel_sync_counts counts = {0};
    uint64_t bad = 0;
    enum doppel_status status;
    TRY(importer_begin_sync(importer, &sync, error));
    TRY(import_from_file(run, fd, name, import->format, importer, &bad, error));
    TRY(importer_settle(importer, error));
    TRY(doppel_list_sync_count(sync, &counts, error));
    counts.unreadable = bad;
    *out = counts;
    if (!options->force)
        TRY(refuse_shrunk_list(&counts, import->metadata->lists[0], error));
    TRY(doppel_list_sync_end(sync, out, error));
done:
    return status;
}

enum doppel_status doppel_sync(struct doppel_run *run, struct doppel_library *library, int fd,
                               const struct doppel_sync_options *options,
                               struct doppel_sync_counts *out, struct doppel_error *error)
{
    const struct doppel_import_options *import = &options->import;
    struct doppel_sync_counts counts = {0};
    struct doppel_error ignored;
    struct importer *importer = NULL;
    enum doppel_status status;
    error = error ? error : &ignored;
    if ((unsigned)import->format > DOPPEL_EXCHANGE_AUTO || !import->metadata ||
        import->metadata->list_count != 1)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "one list is made again at a time, from a format that is known");
    TRY(importer_new(run, library, import->metadata, &importer, error));
    TRY(sync_from_file(importer, run, fd, options, &counts, error));
    if (!options->dry_run)
        TRY(doppel_library_commit(library, error));
done:
    doppel_library_rollback(library);
    importer_free(importer);
    if (out)
        *out = counts;
    return status;
}
