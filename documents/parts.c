/* The parts of a document that is a zip: those that are wanted, unpacked. */
#include "documents/parts.h"

#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "documents/unpack.h"

static enum doppel_status unpack_part(struct unpacking *unpacking, struct archive_entry *entry,
                                      const char *name, struct document_parts *out,
                                      struct doppel_error *error)
{
    struct office_part part = {0};
    enum doppel_status status;
    if (archive_entry_is_data_encrypted(entry))
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "is encrypted");
    TRY(unpack_member(unpacking, &part.bytes, &part.size, error));
    part.name = strdup(name);
    if (!part.name || !array_push(&out->items, part))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to unpack it"));
    return DOPPEL_OK;
done:
    free(part.name);
    free(part.bytes);
    return status;
}

static int order_parts(const void *a, const void *b)
{
    return strcmp(((const struct office_part *)a)->name, ((const struct office_part *)b)->name);
}

enum doppel_status parts_unpack(const struct document_input *input, part_wanted *wanted,
                                struct document_parts *out, struct doppel_error *error)
{
    struct unpacking *unpacking = NULL;
    struct archive_entry *entry;
    struct archive *archive = archive_read_new();
    enum doppel_status status;
    if (archive)
        archive_read_support_format_zip(archive);
    TRY(unpacking_open(input->fd, archive, &input->limits, &unpacking, error));
    while ((status = unpacking_next(unpacking, &entry, error)) == DOPPEL_OK) {
        const char *name = archive_entry_pathname(entry);
        if (name && wanted(name))
            TRY(unpack_part(unpacking, entry, name, out, error));
    }
    if (status == DOPPEL_E_NOT_FOUND)
        status = DOPPEL_OK;
    if (out->items.count)
        qsort(out->items.items, out->items.count, sizeof *out->items.items, order_parts);
done:
    unpacking_free(unpacking);
    return status;
}

void parts_free(struct document_parts *parts)
{
    for (size_t i = 0; i < parts->items.count; i++) {
        free(parts->items.items[i].name);
        free(parts->items.items[i].bytes);
    }
    array_free(&parts->items);
}

const struct office_part *find_document_part(const struct document_parts *parts, const char *name)
{
    const struct office_part wanted = {.name = (char *)name};
    return parts->items.count ? bsearch(&wanted, parts->items.items, parts->items.count,
                                        sizeof wanted, order_parts)
                              : NULL;
}

enum doppel_status parts_check_list(enum doppel_status status, struct doppel_error *error)
{
    if (status == DOPPEL_E_LIMIT)
        return doppel_fail(error, status, "lists more than %d parts", LISTED_MOST);
    if (status)
        return doppel_fail(error, status, "no memory for the list of its parts");
    return DOPPEL_OK;
}
