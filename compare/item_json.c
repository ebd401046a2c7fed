/* What a library says of an item or a text of a corpus, as JSON. */
#include "compare/item_json.h"

#include <stdlib.h>

#include <doppel/compare.h>

#include "compare/kept_json.h"
#include "compare/record_json.h"
#include "compare/text.h"

/* What the library has about an item beside what was computed of it. */
struct item_details {
    struct doppel_metadata metadata;
    uint64_t leader, canonical; /* the item itself, where it is linked to none */
};

/* What is damaged is left out. @param out given (doppel_metadata_free of its metadata) */
static enum doppel_status get_details(struct doppel_library *library, uint64_t id,
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

/* ---- what is said of it ---- */

void write_item_name(struct doppel_json *json, bool has_file, const char *name)
{
    if (has_file)
        doppel_json_path(json, "path", name);
    else
        doppel_json_text(json, "name", name);
}

void write_memberships(struct doppel_json *json, const struct doppel_metadata *metadata)
{
    doppel_json_texts(json, "labels", (const char *const *)metadata->labels, metadata->label_count);
    doppel_json_texts(json, "lists", (const char *const *)metadata->lists, metadata->list_count);
    if (metadata->state != DOPPEL_LIST_ACTIVE)
        doppel_json_text(json, "list_state", doppel_list_state_name(metadata->state));
}

void write_metadata(struct doppel_json *json, const struct doppel_metadata *metadata)
{
    doppel_json_text(json, "source", metadata->source);
    doppel_json_text(json, "date", metadata->date);
    doppel_json_text(json, "external_id", metadata->external_id);
    write_memberships(json, metadata);
    write_kept_json(json, "meta", metadata->meta);
}

static void write_standing(struct doppel_json *json, uint64_t id,
                           const struct item_details *details, bool has_leader)
{
    bool linked = details->leader != id;
    if (linked && !has_leader)
        doppel_json_integer(json, "leader", details->leader);
    if (linked || details->canonical != id)
        doppel_json_integer(json, "canonical", details->canonical);
}

static void write_digest(struct doppel_json *json, const struct doppel_digest *digest)
{
    char hex[2 * sizeof digest->bytes + 1];
    doppel_hex_encode(digest->bytes, sizeof digest->bytes, hex);
    doppel_json_text(json, "digest", hex);
}

/* ---- items ---- */

static void write_item_head(struct doppel_json *json, struct doppel_library *library,
                            const struct doppel_item *item)
{
    char *name = doppel_library_item_name(library, item);
    json->failed |= !name;
    doppel_json_integer(json, "id", item->id);
    write_item_name(json, doppel_item_has_file(item), name);
    free(name);
    write_item_facts(json, item);
}

void write_item_facts(struct doppel_json *json, const struct doppel_item *item)
{
    const struct doppel_record *record = &item->record;
    write_record_head(json, record);
    if (record->width)
        write_size(json, record->width, record->height);
    if (record->kind == DOPPEL_KIND_IMAGE)
        doppel_json_integer(json, "quality", record->quality);
    if (doppel_item_has_file(item)) {
        doppel_json_integer(json, "size", (uint64_t)item->stamp.size);
        doppel_json_number(json, "mtime", (double)item->stamp.mtime_ns / 1e9, 3);
    }
    doppel_json_number(json, "added", (double)item->added_ns / 1e9, 3);
    write_digest(json, &record->digest);
}

static void write_item_content(struct doppel_json *json, const struct doppel_item *item,
                               const struct doppel_text_options *text)
{
    const struct doppel_record *record = &item->record;
    const struct doppel_text_options usual = doppel_text_options_default();
    if (record->scheme == DOPPEL_SCHEME_NONE && !doppel_item_has_file(item))
        doppel_json_text(json, "exact", item->path); /* "md5:0123…" */
    write_first_code(json, &record->fingerprint);
    write_record_content(json, record, text ? text : &usual, true, record->width != 0);
    if (record->fingerprint.count)
        doppel_json_codes(json, "sequence", &record->fingerprint);
}

static void write_item_length(struct doppel_json *json, const struct doppel_item *item)
{
    if (item->duration_ms)
        write_length(json, item->duration_ms, item->damaged_ms);
    doppel_json_audio_tags(json, &item->tags);
}

enum doppel_status doppel_item_to_json(struct doppel_json *json, struct doppel_library *library,
                                       const struct doppel_item *item,
                                       const struct doppel_item_json_options *options,
                                       struct doppel_error *error)
{
    struct item_details details;
    enum doppel_status status = DOPPEL_OK;
    write_item_head(json, library, item);
    if (options->content)
        write_item_content(json, item, options->text);
    else
        write_item_length(json, item);
    if (options->details) {
        status = get_details(library, item->id, &details, error);
        write_metadata(json, &details.metadata);
        write_standing(json, item->id, &details, false);
        doppel_metadata_free(&details.metadata);
    }
    return status;
}

/* ---- texts of corpora ---- */

/* @param details NULL: not looked up */
static void write_text_head(struct doppel_json *json, const struct doppel_library_text *text,
                            const struct item_details *details)
{
    bool relinked = details && details->leader != text->id;
    doppel_json_integer(json, "id", text->id);
    doppel_json_text(json, "record", text->record_id);
    if (text->path)
        doppel_json_path(json, "path", text->path);
    doppel_json_integer(json, "line", text->line);
    doppel_json_text(json, "kind", doppel_kind_name(DOPPEL_KIND_TEXT));
    doppel_json_text(json, "scheme", text->lane_count == 256 ? "minhash256" : "minhash128");
    doppel_json_text(json, "decision", doppel_decision_name(text->decision));
    if (text->leader)
        doppel_json_integer(json, "leader", relinked ? details->leader : text->leader);
    doppel_json_integer(json, "words", text->words);
    doppel_json_text(json, "source", text->origin.source);
    doppel_json_text(json, "date", text->origin.date);
    doppel_json_integer(json, "size", text->size);
    doppel_json_number(json, "added", (double)text->added_ns / 1e9, 3);
    write_digest(json, &text->content);
}

static void write_text_signature(struct doppel_json *json, const struct doppel_library_text *text)
{
    char *hex = lanes_in_hex(text->lanes, text->lane_count);
    json->failed |= !hex;
    doppel_json_text(json, "code", hex);
    free(hex);
    doppel_json_integer(json, "codes", 1);
    doppel_json_integer(json, "shingles_kept", text->shingles ? text->shingle_total : 0);
}

/* What its row has not said. */
static void write_text_details(struct doppel_json *json, const struct doppel_library_text *text,
                               const struct item_details *details)
{
    struct doppel_metadata rest = details->metadata;
    rest.source = text->origin.source ? NULL : rest.source;
    rest.date = text->origin.date ? NULL : rest.date;
    write_metadata(json, &rest);
    write_standing(json, text->id, details, text->leader != 0);
}

enum doppel_status doppel_library_text_to_json(struct doppel_json *json,
                                               struct doppel_library *library,
                                               const struct doppel_library_text *text,
                                               const struct doppel_item_json_options *options,
                                               struct doppel_error *error)
{
    struct item_details details = {0};
    enum doppel_status status = DOPPEL_OK;
    if (options->details)
        status = get_details(library, text->id, &details, error);
    write_text_head(json, text, options->details ? &details : NULL);
    if (options->content)
        write_text_signature(json, text);
    if (options->details)
        write_text_details(json, text, &details);
    doppel_metadata_free(&details.metadata);
    return status;
}

/* ---- by id ---- */

struct text_by_id {
    struct doppel_json *json;
    struct doppel_library *library;
    const struct doppel_item_json_options *options;
    struct doppel_error error; /* a visit that goes well leaves none */
};

static bool write_wanted_text(void *context, const struct doppel_library_text *text)
{
    struct text_by_id *wanted = context;
    wanted->error = text->error;
    if (!text->error.status)
        wanted->error.status = doppel_library_text_to_json(wanted->json, wanted->library, text,
                                                           wanted->options, &wanted->error);
    return true;
}

enum doppel_status doppel_item_by_id_to_json(struct doppel_json *json,
                                             struct doppel_library *library, uint64_t id,
                                             const struct doppel_item_json_options *options,
                                             struct doppel_error *error)
{
    const struct doppel_text_query one = {.first = id, .last = id, .shingles = options->content};
    struct text_by_id wanted = {.json = json, .library = library, .options = options};
    struct doppel_item item;
    enum doppel_status status =
        doppel_library_get(library, id, options->content, &item, &wanted.error);
    if (status == DOPPEL_OK) {
        status = doppel_item_to_json(json, library, &item, options, error);
        doppel_item_free(&item);
        return status;
    }
    if (status == DOPPEL_E_NOT_FOUND) { /* unless it is a text */
        status = doppel_library_each_text(library, &one, write_wanted_text, &wanted, error);
        if (status)
            return status;
        status = wanted.error.status;
    }
    return status ? doppel_fail(error, status, "%s", wanted.error.message) : DOPPEL_OK;
}
