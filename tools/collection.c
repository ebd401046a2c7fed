/* Opening a library, and naming its items on a command line. */
#include "tools/collection.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/memory.h"
#include "tools/paths.h"
#include "tools/values.h"

enum doppel_status open_library(const struct settings *settings, bool create, bool read_only,
                                struct doppel_library **out, struct doppel_error *error)
{
    struct doppel_library_options options = {
        .create = create, .read_only = read_only, .durable = settings->durable};
    char *directory = library_directory(settings);
    if (!directory)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "no place for a library is known; name one with --library DIR");
    enum doppel_status status = doppel_library_open(directory, &options, out, error);
    if (status == DOPPEL_E_NOT_FOUND)
        doppel_fail(error, status, "%s: no library here; `doppel add PATH...` makes one",
                    directory);
    free(directory);
    return status;
}

char *absolute_path(const char *path)
{
    char *real = realpath(path, NULL);
    if (real)
        return real;
    char *here = path[0] == '/' ? NULL : getcwd(NULL, 0);
    if (!here)
        return must_copy(path);
    char *joined = must_allocate(strlen(here) + strlen(path) + 2);
    sprintf(joined, "%s/%s", here, path);
    free(here);
    return joined;
}

enum doppel_status find_item(struct doppel_library *library, const char *name, bool with_attachment,
                             struct doppel_item *out, struct doppel_error *error)
{
    uint64_t id = 0;
    enum doppel_status status = DOPPEL_OK;
    if (!parse_whole(name, 1, INT64_MAX, &id)) {
        struct doppel_item item;
        char *path = absolute_path(name);
        status = doppel_library_by_path(library, path, &item, error);
        free(path);
        if (status == DOPPEL_OK) {
            id = item.id;
            doppel_item_free(&item);
        }
    }
    if (status == DOPPEL_OK)
        status = doppel_library_get(library, id, with_attachment, out, error);
    return status == DOPPEL_E_NOT_FOUND
               ? doppel_fail(error, status, "the library holds no such item")
               : status;
}

bool is_of_wanted_scheme(const struct settings *settings, const struct doppel_record *record)
{
    const struct doppel_scheme *scheme = settings_scheme(settings, record->kind);
    return scheme && scheme->id == record->scheme && scheme->version == record->version;
}

bool features_of_record(const struct doppel_record *record, struct doppel_image_features *out)
{
    if (doppel_image_attachment_read(record->attachment, record->attachment_size, out))
        return false;
    out->fingerprint = record->fingerprint;
    out->quality = record->quality;
    return true;
}
