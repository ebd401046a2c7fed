/* An item of the library as a row of output. */
#include "tools/output/item_row.h"

#include <stdlib.h>

#include "tools/output/item_name.h"
#include "tools/memory.h"
#include "tools/output/output.h"
#include "compare/text.h"

json_t *item_row(struct doppel_library *library, const struct doppel_item *item)
{
    const struct doppel_record *record = &item->record;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(record->scheme);
    char digest[2 * sizeof record->digest.bytes + 1];
    doppel_hex_encode(record->digest.bytes, sizeof record->digest.bytes, digest);
    json_t *row = json_object();
    put_integer(row, "id", item->id);
    char *name = name_of_item(library, item);
    put_item_name(row, item_has_file(item), name);
    free(name);
    put_text(row, "kind", doppel_kind_name(record->kind));
    put_text(row, "scheme", scheme ? scheme->name : "unknown");
    put_integer(row, "version", record->version);
    if (record->fingerprint
            .count) /* of recordings and videos: put_audio_details, put_video_details */
        put_integer(row, "codes", code_count(&record->fingerprint));
    if (record->width) {
        put_integer(row, "width", record->width);
        put_integer(row, "height", record->height);
    }
    if (record->kind == DOPPEL_KIND_IMAGE)
        put_integer(row, "quality", record->quality);
    if (item_has_file(item)) {
        put_integer(row, "size", (uint64_t)item->stamp.size);
        put_number(row, "mtime", (double)item->stamp.mtime_ns / 1e9, 3);
    }
    put_number(row, "added", (double)item->added_ns / 1e9, 3);
    put_text(row, "digest", digest);
    return row;
}

static void put_known(json_t *row, const char *key, const char *text)
{
    if (text)
        put_text(row, key, text);
}

json_t *text_row(const struct doppel_library_text *text)
{
    char content[2 * sizeof text->content.bytes + 1];
    doppel_hex_encode(text->content.bytes, sizeof text->content.bytes, content);
    json_t *row = json_object();
    put_integer(row, "id", text->id);
    put_known(row, "record", text->record_id);
    if (text->path)
        put_path(row, "path", text->path);
    put_integer(row, "line", text->line);
    put_text(row, "kind", doppel_kind_name(DOPPEL_KIND_TEXT));
    put_text(row, "scheme", text->lane_count == 256 ? "minhash256" : "minhash128");
    put_text(row, "decision", doppel_decision_name(text->decision));
    if (text->leader)
        put_integer(row, "leader", text->leader);
    put_integer(row, "words", text->words);
    put_known(row, "source", text->origin.source);
    put_known(row, "date", text->origin.date);
    put_integer(row, "size", text->size);
    put_number(row, "added", (double)text->added_ns / 1e9, 3);
    put_text(row, "digest", content);
    return row;
}

char *text_code(const struct doppel_library_text *text)
{
    char *hex = must_allocate(4 * (size_t)text->lane_count + 1);
    for (uint32_t i = 0; i < text->lane_count; i++) {
        uint8_t bytes[2] = {(uint8_t)(text->lanes[i] >> 8), (uint8_t)text->lanes[i]};
        doppel_hex_encode(bytes, sizeof bytes, hex + 4 * (size_t)i);
    }
    return hex;
}
