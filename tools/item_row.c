/* An item of the library as a row of output. */
#include "tools/item_row.h"

#include "tools/output.h"
#include "tools/text_judge.h"

json_t *item_row(const struct doppel_item *item)
{
    const struct doppel_record *record = &item->record;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(record->scheme);
    char digest[2 * sizeof record->digest.bytes + 1];
    doppel_hex_encode(record->digest.bytes, sizeof record->digest.bytes, digest);
    json_t *row = json_object();
    put_integer(row, "id", item->id);
    put_path(row, "path", item->path);
    put_text(row, "kind", doppel_kind_name(record->kind));
    put_text(row, "scheme", scheme ? scheme->name : "unknown");
    put_integer(row, "version", record->version);
    put_integer(row, "codes", code_count(&record->fingerprint));
    if (record->kind == DOPPEL_KIND_IMAGE) {
        put_integer(row, "width", record->width);
        put_integer(row, "height", record->height);
        put_integer(row, "quality", record->quality);
    }
    put_integer(row, "size", (uint64_t)item->stamp.size);
    put_number(row, "mtime", (double)item->stamp.mtime_ns / 1e9, 3);
    put_number(row, "added", (double)item->added_ns / 1e9, 3);
    put_text(row, "digest", digest);
    return row;
}
