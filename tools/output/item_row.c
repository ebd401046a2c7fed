/* An item of the library, what is known about it, and how it stands in its group, as a row. */
#include "tools/output/item_row.h"

#include <stdlib.h>

#include "compare/item_json.h"
#include "compare/record_json.h"
#include "tools/memory.h"
#include "tools/output/output.h"

/* ---- items ---- */

void write_item_row(struct doppel_json *row, struct doppel_library *library,
                    const struct doppel_item *item)
{
    const struct doppel_record *record = &item->record;
    char digest[2 * sizeof record->digest.bytes + 1];
    doppel_hex_encode(record->digest.bytes, sizeof record->digest.bytes, digest);
    doppel_json_integer(row, "id", item->id);
    char *name = must_have(doppel_library_item_name(library, item));
    write_item_name(row, doppel_item_has_file(item), name);
    free(name);
    write_record_head(row, record);
    if (record->width) {
        doppel_json_integer(row, "width", record->width);
        doppel_json_integer(row, "height", record->height);
    }
    if (record->kind == DOPPEL_KIND_IMAGE)
        doppel_json_integer(row, "quality", record->quality);
    if (doppel_item_has_file(item)) {
        doppel_json_integer(row, "size", (uint64_t)item->stamp.size);
        doppel_json_number(row, "mtime", (double)item->stamp.mtime_ns / 1e9, 3);
    }
    doppel_json_number(row, "added", (double)item->added_ns / 1e9, 3);
    doppel_json_text(row, "digest", digest);
}

/* ---- records of corpora ---- */

void write_text_row(struct doppel_json *row, const struct doppel_library_text *text,
                    const struct item_details *details)
{
    char content[2 * sizeof text->content.bytes + 1];
    bool relinked = details && details->leader != text->id;
    doppel_hex_encode(text->content.bytes, sizeof text->content.bytes, content);
    doppel_json_integer(row, "id", text->id);
    doppel_json_text(row, "record", text->record_id);
    if (text->path)
        doppel_json_path(row, "path", text->path);
    doppel_json_integer(row, "line", text->line);
    doppel_json_text(row, "kind", doppel_kind_name(DOPPEL_KIND_TEXT));
    doppel_json_text(row, "scheme", text->lane_count == 256 ? "minhash256" : "minhash128");
    doppel_json_text(row, "decision", doppel_decision_name(text->decision));
    if (text->leader)
        doppel_json_integer(row, "leader", relinked ? details->leader : text->leader);
    doppel_json_integer(row, "words", text->words);
    doppel_json_text(row, "source", text->origin.source);
    doppel_json_text(row, "date", text->origin.date);
    doppel_json_integer(row, "size", text->size);
    doppel_json_number(row, "added", (double)text->added_ns / 1e9, 3);
    doppel_json_text(row, "digest", content);
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

/* ---- details ---- */

enum doppel_status item_details_get(struct doppel_library *library, uint64_t id,
                                    struct item_details *out, struct doppel_error *error)
{
    struct item_details details = {.leader = id, .canonical = id};
    enum doppel_status described =
        doppel_library_get_metadata(library, id, &details.metadata, error);
    if (described)
        details.metadata = (struct doppel_metadata){0};
    enum doppel_status grouped =
        doppel_library_leader(library, id, &details.leader, described ? NULL : error);
    if (!grouped)
        grouped = doppel_library_canonical(library, details.leader, &details.canonical,
                                           described ? NULL : error);
    if (grouped)
        details.leader = details.canonical = id;
    *out = details;
    return described ? described : grouped;
}

void item_details_free(struct item_details *details)
{
    doppel_metadata_free(&details->metadata);
}

void write_metadata(struct doppel_json *row, const struct doppel_metadata *metadata)
{
    doppel_json_text(row, "source", metadata->source);
    doppel_json_text(row, "date", metadata->date);
    doppel_json_text(row, "external_id", metadata->external_id);
    write_memberships(row, metadata);
    write_kept_json(row, "meta", metadata->meta);
}

static void write_standing(struct doppel_json *row, uint64_t id, const struct item_details *details,
                           bool has_leader)
{
    bool linked = details->leader != id;
    if (linked && !has_leader)
        doppel_json_integer(row, "leader", details->leader);
    if (linked || details->canonical != id)
        doppel_json_integer(row, "canonical", details->canonical);
}

void write_item_details(struct doppel_json *row, uint64_t id, const struct item_details *details)
{
    write_metadata(row, &details->metadata);
    write_standing(row, id, details, false);
}

void write_text_details(struct doppel_json *row, const struct doppel_library_text *text,
                        const struct item_details *details)
{
    struct doppel_metadata rest = details->metadata;
    rest.source = text->origin.source ? NULL : rest.source;
    rest.date = text->origin.date ? NULL : rest.date;
    write_metadata(row, &rest);
    write_standing(row, text->id, details, text->leader != 0);
}
