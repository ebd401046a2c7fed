/* An item of the library, what is known about it, and how it stands in its group, as a row. */
#include "tools/output/item_row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare/audio.h"
#include "compare/item_json.h"
#include "compare/text.h"
#include "compare/video.h"
#include "tools/memory.h"
#include "tools/output/output.h"

enum { HEX_BYTES = 65 };

/* ---- items ---- */

void write_item_row(struct doppel_json *row, struct doppel_library *library,
                    const struct doppel_item *item)
{
    const struct doppel_record *record = &item->record;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(record->scheme);
    char digest[2 * sizeof record->digest.bytes + 1];
    doppel_hex_encode(record->digest.bytes, sizeof record->digest.bytes, digest);
    doppel_json_integer(row, "id", item->id);
    char *name = must_have(doppel_library_item_name(library, item));
    write_item_name(row, doppel_item_has_file(item), name);
    free(name);
    doppel_json_text(row, "kind", doppel_kind_name(record->kind));
    doppel_json_text(row, "scheme", scheme ? scheme->name : "unknown");
    doppel_json_integer(row, "version", record->version);
    if (record->fingerprint.count) /* those of recordings and videos are in their details */
        doppel_json_integer(row, "codes", code_count(&record->fingerprint));
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

/* ---- videos ---- */

void write_code(struct doppel_json *row, const char *hex, uint32_t position)
{
    doppel_json_array_begin(row, NULL);
    doppel_json_text(row, NULL, hex);
    doppel_json_integer(row, NULL, position);
    doppel_json_array_end(row);
}

static void write_size(struct doppel_json *row, uint32_t width, uint32_t height)
{
    doppel_json_integer(row, "width", width);
    doppel_json_integer(row, "height", height);
}

static void write_track(struct doppel_json *row, const struct doppel_video_track *video, bool codes,
                        bool sized)
{
    char hex[HEX_BYTES];
    doppel_json_integer(row, "codes", video->count);
    doppel_json_number(row, "duration", (double)video->duration_ms / 1000, 3);
    if (video->damaged_ms)
        doppel_json_number(row, "damaged", (double)video->damaged_ms / 1000, 3);
    if (!sized)
        write_size(row, video->width, video->height);
    if (video->keyframes_only)
        doppel_json_boolean(row, "keyframes", true);
    doppel_json_boolean(row, "has_sound", video->audio);
    if (!codes)
        return;
    doppel_json_array_begin(row, "sequence");
    for (size_t i = 0; i < video->count; i++) {
        doppel_code_to_hex(&video->frames[i].code, 64, hex);
        write_code(row, hex, video->frames[i].start_ms);
    }
    doppel_json_array_end(row);
}

static void write_vpdq(struct doppel_json *row, const struct doppel_record *record, bool codes,
                       bool sized)
{
    struct doppel_vpdq list;
    char hex[HEX_BYTES];
    if (doppel_vpdq_parse((const char *)record->attachment, record->attachment_size, &list, NULL))
        return;
    doppel_json_integer(row, "codes", list.count);
    if (record->width && !sized)
        write_size(row, record->width, record->height);
    if (codes)
        doppel_json_array_begin(row, "sequence");
    for (size_t i = 0; i < list.count && codes; i++) {
        doppel_code_to_hex(&list.frames[i].code, 256, hex);
        write_code(row, hex, (uint32_t)lround(list.frames[i].seconds * 1000));
    }
    if (codes)
        doppel_json_array_end(row);
    doppel_vpdq_free(&list);
}

void write_video_details(struct doppel_json *row, const struct doppel_record *record, bool codes,
                         bool sized)
{
    struct doppel_video_track video;
    if (record->scheme == DOPPEL_SCHEME_VPDQ && record->attachment)
        write_vpdq(row, record, codes, sized);
    if (!video_read(record, DOPPEL_VIDEO_CODES, &video))
        return;
    write_track(row, &video, codes, sized);
    doppel_video_track_free(&video);
}

void write_text_content(struct doppel_json *row, const struct doppel_record *record,
                        const struct doppel_text_options *options)
{
    struct text_view view;
    if (!text_view_read(record, options, &view))
        return;
    doppel_json_integer(row, "words", view.extra.words);
    doppel_json_integer(row, "characters", view.extra.characters);
    if (view.extra.bad_bytes)
        doppel_json_integer(row, "bad_bytes", view.extra.bad_bytes);
    doppel_json_boolean(row, "too_short", view.too_short);
    text_view_free(&view);
}

static void write_track_head(struct doppel_json *row, const struct doppel_audio_track *track)
{
    doppel_json_number(row, "duration", (double)track->duration_ms / 1000, 3);
    if (track->damaged_ms)
        doppel_json_number(row, "damaged", (double)track->damaged_ms / 1000, 3);
    doppel_json_audio_tags(row, &track->tags);
}

void write_audio_head(struct doppel_json *row, const struct doppel_record *record)
{
    struct doppel_audio_track track;
    if (!audio_read_length(record, &track))
        return;
    write_track_head(row, &track);
    doppel_audio_track_free(&track);
}

static void write_keys(struct doppel_json *row, const struct doppel_audio_track *track,
                       const struct doppel_audio_key *keys, size_t count)
{
    char hex[9];
    doppel_json_array_begin(row, "sequence");
    for (size_t i = 0; i < count; i++) {
        double seconds = doppel_audio_seconds(track->peaks[keys[i].peak].time);
        snprintf(hex, sizeof hex, "%08x", keys[i].key);
        write_code(row, hex, (uint32_t)lround(seconds * 1000));
    }
    doppel_json_array_end(row);
}

void write_audio_content(struct doppel_json *row, const struct doppel_record *record, bool codes)
{
    struct doppel_audio_track track;
    struct doppel_audio_key *keys;
    if (!audio_read(record, &track))
        return;
    size_t count = audio_keys(&track, &keys);
    must_have(keys);
    doppel_json_integer(row, "codes", count);
    write_track_head(row, &track);
    if (codes)
        write_keys(row, &track, keys, count);
    free(keys);
    doppel_audio_track_free(&track);
}
