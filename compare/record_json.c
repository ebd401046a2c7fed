/* A record, and what was computed of its content, as JSON. */
#include "compare/record_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare/audio.h"
#include "compare/pages.h"
#include "compare/parts.h"
#include "compare/text.h"
#include "compare/video.h"

enum { HEX_BYTES = 65 };

/* ---- codes ---- */

/* [CODE, POSITION], an element of "sequence". */
static void write_code(struct doppel_json *json, const char *hex, uint32_t position)
{
    doppel_json_array_begin(json, NULL);
    doppel_json_text(json, NULL, hex);
    doppel_json_integer(json, NULL, position);
    doppel_json_array_end(json);
}

/* Codes are printed at the scheme's width; more bits may be stored. */
static void write_sequence(struct doppel_json *json, const struct doppel_fingerprint *fingerprint)
{
    doppel_json_array_begin(json, "sequence");
    for (uint32_t i = 0; i < code_count(fingerprint); i++) {
        char *hex = code_in_hex(fingerprint, i);
        json->failed |= !hex;
        write_code(json, hex, fingerprint->positions[i]);
        free(hex);
    }
    doppel_json_array_end(json);
}

/* ---- texts ---- */

static void write_drawn_pages_head(struct doppel_json *json, const struct doppel_text_extra *extra)
{
    struct drawn_pages pages;
    json->failed |= !drawn_pages_read(extra, &pages);
    if (pages.count)
        doppel_json_integer(json, "drawn_pages", pages.count);
    drawn_pages_free(&pages);
}

static void write_text_content(struct doppel_json *json, const struct doppel_record *record,
                               const struct doppel_text_options *options)
{
    struct text_view view;
    if (!text_view_read(record, options, &view))
        return;
    doppel_json_integer(json, "words", view.extra.words);
    doppel_json_integer(json, "characters", view.extra.characters);
    if (view.extra.bad_bytes)
        doppel_json_integer(json, "bad_bytes", view.extra.bad_bytes);
    doppel_json_boolean(json, "too_short", view.too_short && !view.extra.drawn_size);
    write_drawn_pages_head(json, &view.extra);
    if (view.extra.reading != DOPPEL_TEXT_AUTO)
        doppel_json_text(json, "reading", doppel_text_format_name(view.extra.reading));
    if (view.extra.looks_like_ocr)
        doppel_json_text(json, "looks_like", "ocr");
    text_view_free(&view);
}

/* ---- recordings ---- */

void write_length(struct doppel_json *json, uint64_t duration_ms, uint64_t damaged_ms)
{
    doppel_json_number(json, "duration", (double)duration_ms / 1000, 3);
    if (damaged_ms)
        doppel_json_number(json, "damaged", (double)damaged_ms / 1000, 3);
}

static void write_track_head(struct doppel_json *json, const struct doppel_audio_track *track)
{
    write_length(json, track->duration_ms, track->damaged_ms);
    doppel_json_audio_tags(json, &track->tags);
}

static void write_audio_head(struct doppel_json *json, const struct doppel_record *record)
{
    struct doppel_audio_track track;
    if (!audio_read_length(record, &track))
        return;
    write_track_head(json, &track);
    doppel_audio_track_free(&track);
}

/* The keys of a recording as a library has them. */
static void write_keys(struct doppel_json *json, const struct doppel_audio_track *track,
                       size_t count)
{
    const struct doppel_audio_zone zone = doppel_audio_item_zone();
    struct doppel_audio_key *keys = calloc(count + 1, sizeof *keys);
    json->failed |= !keys;
    if (!keys)
        return;
    count = doppel_audio_keys(track->peaks, track->count, &zone, keys, count);
    doppel_json_array_begin(json, "sequence");
    for (size_t i = 0; i < count; i++) {
        char hex[9];
        double seconds = doppel_audio_seconds(track->peaks[keys[i].peak].time);
        snprintf(hex, sizeof hex, "%08x", keys[i].key);
        write_code(json, hex, (uint32_t)lround(seconds * 1000));
    }
    doppel_json_array_end(json);
    free(keys);
}

static void write_audio_content(struct doppel_json *json, const struct doppel_record *record,
                                bool codes)
{
    const struct doppel_audio_zone zone = doppel_audio_item_zone();
    struct doppel_audio_track track;
    if (!audio_read(record, &track))
        return;
    size_t count = doppel_audio_keys(track.peaks, track.count, &zone, NULL, 0);
    doppel_json_integer(json, "codes", count);
    write_track_head(json, &track);
    if (codes)
        write_keys(json, &track, count);
    doppel_audio_track_free(&track);
}

/* ---- videos ---- */

void write_size(struct doppel_json *json, uint32_t width, uint32_t height)
{
    doppel_json_integer(json, "width", width);
    doppel_json_integer(json, "height", height);
}

static void write_track(struct doppel_json *json, const struct doppel_video_track *video,
                        bool codes, bool sized)
{
    char hex[HEX_BYTES];
    doppel_json_integer(json, "codes", video->count);
    write_length(json, video->duration_ms, video->damaged_ms);
    if (!sized)
        write_size(json, video->width, video->height);
    if (video->keyframes_only)
        doppel_json_boolean(json, "keyframes", true);
    doppel_json_boolean(json, "has_sound", video->audio);
    if (!codes)
        return;
    doppel_json_array_begin(json, "sequence");
    for (size_t i = 0; i < video->count; i++) {
        doppel_code_to_hex(&video->frames[i].code, 64, hex);
        write_code(json, hex, video->frames[i].start_ms);
    }
    doppel_json_array_end(json);
}

static void write_vpdq(struct doppel_json *json, const struct doppel_record *record, bool codes,
                       bool sized)
{
    struct doppel_vpdq list;
    char hex[HEX_BYTES];
    if (doppel_vpdq_parse((const char *)record->attachment, record->attachment_size, &list, NULL))
        return;
    doppel_json_integer(json, "codes", list.count);
    if (record->width && !sized)
        write_size(json, record->width, record->height);
    if (codes)
        doppel_json_array_begin(json, "sequence");
    for (size_t i = 0; i < list.count && codes; i++) {
        doppel_code_to_hex(&list.frames[i].code, 256, hex);
        write_code(json, hex, (uint32_t)lround(list.frames[i].seconds * 1000));
    }
    if (codes)
        doppel_json_array_end(json);
    doppel_vpdq_free(&list);
}

static void write_video_content(struct doppel_json *json, const struct doppel_record *record,
                                bool codes, bool sized)
{
    struct doppel_video_track video;
    if (record->scheme == DOPPEL_SCHEME_VPDQ && record->attachment)
        write_vpdq(json, record, codes, sized);
    if (!video_read(record, DOPPEL_VIDEO_CODES, &video))
        return;
    write_track(json, &video, codes, sized);
    doppel_video_track_free(&video);
}

/* ---- keypoints ---- */

/* Of a video, those of all frames. */
static void write_keypoints(struct doppel_json *json, const struct doppel_record *record,
                            bool codes)
{
    struct doppel_local_video video;
    uint64_t count = 0;
    if (!parts_read(record, &video))
        return;
    for (uint32_t i = 0; i < video.count; i++)
        count += video.frames[i].points.count;
    if (record->kind == DOPPEL_KIND_VIDEO) {
        doppel_json_number(json, "duration", (double)video.duration_ms / 1000, 3);
        doppel_json_integer(json, "frames", video.count);
    }
    doppel_json_integer(json, "codes", count);
    if (codes && record->kind == DOPPEL_KIND_IMAGE && video.count)
        write_sequence(json, &video.frames->points);
    doppel_local_video_free(&video);
}

/* ---- a record ---- */

void doppel_record_to_json(struct doppel_json *json, const struct doppel_record *record,
                           const struct doppel_text_options *text, bool codes)
{
    const struct doppel_text_options usual = doppel_text_options_default();
    write_record_head(json, record);
    write_first_code(json, &record->fingerprint);
    if (record->kind == DOPPEL_KIND_IMAGE) {
        write_size(json, record->width, record->height);
        doppel_json_integer(json, "quality", record->quality);
    }
    write_record_content(json, record, text ? text : &usual, codes, false);
    if (record->error.message[0])
        doppel_json_text(json, "remark", record->error.message);
    if (codes && record->fingerprint.count)
        write_sequence(json, &record->fingerprint);
}

void write_record_head(struct doppel_json *json, const struct doppel_record *record)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(record->scheme);
    doppel_json_text(json, "kind", doppel_kind_name(record->kind));
    doppel_json_text(json, "scheme", scheme ? scheme->name : "unknown");
    doppel_json_integer(json, "version", record->version);
    if (record->fingerprint.count) /* those of recordings and videos are in their content */
        doppel_json_integer(json, "codes", code_count(&record->fingerprint));
}

void write_first_code(struct doppel_json *json, const struct doppel_fingerprint *fingerprint)
{
    if (!fingerprint->count || fingerprint->scheme == DOPPEL_SCHEME_WINNOW32)
        return;
    char *hex = code_in_hex(fingerprint, 0);
    json->failed |= !hex;
    doppel_json_text(json, "code", hex);
    free(hex);
}

void write_record_content(struct doppel_json *json, const struct doppel_record *record,
                          const struct doppel_text_options *text, bool codes, bool sized)
{
    write_text_content(json, record, text);
    write_audio_content(json, record, codes);
    if (record->scheme == DOPPEL_SCHEME_CHROMAPRINT)
        write_audio_head(json, record);
    write_video_content(json, record, codes, sized);
    write_keypoints(json, record, codes);
}
