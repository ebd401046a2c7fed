/* A file of the intake: what the cache knows of it, within the limits of this run. */
#include "intake/intake_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/video.h"
#include "compare/audio.h"
#include "core/attached.h"

/* A cache that cannot be written costs time, not results: it is said once. */
static void note_cache(struct intake *intake, enum doppel_status status,
                       const struct doppel_error *error)
{
    if (status && !intake->cache_failed)
        doppel_run_notice(intake->options->run, "the cache is not kept: %s", error->message);
    intake->cache_failed |= status != DOPPEL_OK;
}

/* The path under which the cache knows a file; given (free); NULL without memory. */
static char *cache_path(const struct intake *intake, const char *path)
{
    char *absolute;
    const char *here = intake->here ? intake->here : "";
    if (path[0] == '/')
        return strdup(path);
    return asprintf(&absolute, "%s/%s", here, path) < 0 ? NULL : absolute;
}

void slot_keep_digest(struct intake *intake, const struct intake_slot *slot)
{
    struct doppel_error error;
    char *path = intake->options->cache ? cache_path(intake, slot->file.path) : NULL;
    if (!path)
        return; /* it is digested again the next time */
    note_cache(intake,
               doppel_cache_put_file(intake->options->cache, path, &slot->file.stamp,
                                     &slot->file.record.digest, &error),
               &error);
    free(path);
}

void slot_keep_record(struct intake *intake, const struct intake_slot *slot)
{
    struct doppel_error error;
    if (!intake->options->cache)
        return;
    note_cache(intake, doppel_cache_put_record(intake->options->cache, &slot->file.record, &error),
               &error);
}

/* ---- limits ---- */

static const struct doppel_limits *decoder_limits(const struct intake *intake)
{
    return &doppel_run_get_options(intake->options->run)->limits;
}

uint64_t intake_max_bytes(const struct intake *intake, enum doppel_kind kind)
{
    uint64_t max_bytes = decoder_limits(intake)->max_bytes;
    return max_bytes ? max_bytes : kind >= DOPPEL_KIND_AUDIO ? UINT64_MAX : UINT64_C(1) << 30;
}

bool slot_is_too_large(const struct intake *intake, const struct intake_slot *slot,
                       struct doppel_error *out)
{
    uint64_t max_bytes = intake_max_bytes(intake, slot->scheme->kind);
    if ((uint64_t)slot->file.stamp.size <= max_bytes)
        return false;
    doppel_fail(out, DOPPEL_E_LIMIT, "has %lld bytes, over the limit of %llu (--max-bytes)",
                (long long)slot->file.stamp.size, (unsigned long long)max_bytes);
    return true;
}

static uint64_t length_ms(const struct doppel_record *record)
{
    struct doppel_video_track video;
    if (!video_read(record, DOPPEL_VIDEO_CODES, &video))
        return audio_length_ms(record);
    uint64_t duration_ms = video.duration_ms;
    doppel_video_track_free(&video);
    return duration_ms;
}

static bool is_too_long(const struct intake *intake, const struct doppel_record *record,
                        struct doppel_error *out)
{
    uint32_t max_ms = decoder_limits(intake)->max_ms;
    uint64_t duration_ms = max_ms ? length_ms(record) : 0;
    if (duration_ms <= max_ms)
        return false;
    doppel_fail(out, DOPPEL_E_LIMIT, "has %.1f s of %s, over the limit of %g s (--max-seconds)",
                (double)duration_ms / 1000, is_video(record) ? "video" : "recording",
                max_ms / 1000.0);
    return true;
}

static uint64_t most_pixels(const struct intake *intake)
{
    uint64_t max_pixels = decoder_limits(intake)->max_pixels;
    return max_pixels ? max_pixels : doppel_run_options_default().limits.max_pixels;
}

bool has_too_many_pixels(const struct intake *intake, const struct doppel_record *record)
{
    return (uint64_t)record->width * record->height > most_pixels(intake);
}

/* The limits of the run that filled the cache may have been wider. */
static bool is_over_limits(const struct intake *intake, const struct intake_slot *slot,
                           struct doppel_error *out)
{
    const struct doppel_record *record = &slot->file.record;
    if (slot_is_too_large(intake, slot, out) || is_too_long(intake, record, out))
        return true;
    if (record->error.status || !has_too_many_pixels(intake, record))
        return false;
    doppel_fail(out, DOPPEL_E_LIMIT,
                "declares %u x %u pixels, over the limit of %llu (--max-pixels)", record->width,
                record->height, (unsigned long long)most_pixels(intake));
    return true;
}

/* ---- what is known ---- */

bool keeps_attachment(const struct intake *intake, enum doppel_kind kind)
{
    const struct doppel_scheme *images = read_scheme(&intake->options->read, DOPPEL_KIND_IMAGE);
    return intake->options->attachments || kind != DOPPEL_KIND_IMAGE ||
           (images && scheme_is_attached(images->id));
}

bool slot_goes_past_cache(const struct intake *intake, const struct intake_slot *slot)
{
    if (slot->scheme->kind == DOPPEL_KIND_AUDIO)
        return intake->options->read.pcm.format; /* a key does not tell how it was read */
    return intake->options->places && slot->scheme->kind == DOPPEL_KIND_TEXT;
}

void slot_forget_record(struct intake_slot *slot, const struct doppel_digest *digest)
{
    struct doppel_digest kept = *digest;
    doppel_record_free(&slot->file.record);
    slot->file.record = (struct doppel_record){.digest = kept};
}

/* Written by another state of the program, or of what a worker gone astray had answered to it. */
static bool is_unreadable(const struct doppel_record *record)
{
    return !record->error.status && record->attachment && !doppel_record_is_readable(record);
}

bool slot_recall(struct intake *intake, struct intake_slot *slot,
                 const struct doppel_digest *wanted)
{
    struct doppel_error refusal;
    struct doppel_digest digest = *wanted; /* it may lie in the record */
    if (!intake->options->cache || intake->options->read.alone ||
        slot_goes_past_cache(intake, slot))
        return false;
    struct doppel_record_key key = {&digest, slot->scheme->id, slot->scheme->version,
                                    slot->file.record.reading};
    if (doppel_cache_record(intake->options->cache, &key,
                            keeps_attachment(intake, slot->scheme->kind), &slot->file.record))
        return false;
    enum doppel_kind kind = slot_kind_after_all(intake, slot);
    if (kind) {
        slot_forget_record(slot, &digest);
        slot_take_kind(intake, slot, kind);
        return slot_recall(intake, slot, &digest);
    }
    if (is_unreadable(&slot->file.record)) { /* it is computed again */
        slot_forget_record(slot, &digest);
        slot_take_kind(intake, slot, slot->scheme->kind);
        return false;
    }
    slot->state = SLOT_READY;
    slot_count_video(intake, slot, true);
    if (is_over_limits(intake, slot, &refusal)) {
        doppel_record_free(&slot->file.record);
        slot_ready(slot, refusal.status, refusal.message);
    }
    return true;
}

bool slot_recall_elsewhere(struct intake *intake, struct intake_slot *slot,
                           const struct doppel_digest *digest)
{
    struct doppel_record record;
    const struct doppel_read_options *read = &intake->options->read;
    if (!intake->options->recall || read->text_format_given || read->pcm.format ||
        doppel_run_get_options(intake->options->run)->ocr || intake->options->places ||
        !intake->options->recall(intake->options->known_context, digest, &record))
        return false;
    if (!slot_may_be(intake, slot, record.kind)) {
        doppel_record_free(&record);
        return false;
    }
    slot_take_kind(intake, slot, record.kind);
    record.reading = slot->file.record.reading;
    slot->file.record = record;
    slot->state = SLOT_READY;
    slot_count_video(intake, slot, true);
    return true;
}

bool slot_is_listed(const struct intake *intake, struct intake_slot *slot)
{
    const struct intake_options *options = intake->options;
    struct doppel_digest digest = slot->file.record.digest;
    if (!options->listed || !slot->file.exact.kinds ||
        !options->listed(options->known_context, &digest, &slot->file.exact))
        return false;
    slot_forget_record(slot, &digest);
    slot->state = SLOT_READY;
    return true;
}

bool slot_recall_by_path(struct intake *intake, struct intake_slot *slot)
{
    struct doppel_digest digest;
    bool by_path = intake->options->cache && !slot->entry.is_member;
    char *path = by_path ? cache_path(intake, slot->file.path) : NULL;
    bool known = path && doppel_cache_file(intake->options->cache, path, &slot->file.stamp,
                                           &digest) == DOPPEL_OK;
    free(path);
    if (!known)
        return false;
    if (slot_recall_elsewhere(intake, slot, &digest))
        return true;
    if (slot->exact_kinds)
        return false; /* they are not in the cache */
    static const struct {
        enum doppel_kind kind;
        bool video_as_audio;
    } ways[] = {{DOPPEL_KIND_IMAGE, false},
                {DOPPEL_KIND_TEXT, false},
                {DOPPEL_KIND_VIDEO, false},
                {DOPPEL_KIND_AUDIO, false},
                {DOPPEL_KIND_AUDIO, true}};
    slot->has_pages = named_as_tiff(slot->file.path); /* as a text such a one is kept only then */
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        bool videos = intake_wants(intake, DOPPEL_KIND_VIDEO);
        if (!slot_may_be(intake, slot, ways[i].kind) || (videos && ways[i].video_as_audio) ||
            (videos && ways[i].kind == DOPPEL_KIND_AUDIO && named_as_video(slot->file.path)))
            continue;
        slot_take_kind(intake, slot, ways[i].kind);
        if (ways[i].video_as_audio)
            slot->file.record.reading = READ_VIDEO_AS_AUDIO;
        if (slot_recall(intake, slot, &digest))
            return true;
    }
    slot->has_pages = false;
    return false;
}
