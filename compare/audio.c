/* Recordings as the verbs judge them. */
#include "compare/audio.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"

/* ---- from records ---- */

static bool is_audio(const struct doppel_record *record)
{
    return record->scheme == DOPPEL_SCHEME_PEAKS32 && record->attachment;
}

bool audio_read(const struct doppel_record *record, struct doppel_audio_track *out)
{
    return is_audio(record) && doppel_audio_track_read(record->attachment, record->attachment_size,
                                                       out, NULL) == DOPPEL_OK;
}

bool audio_read_length(const struct doppel_record *record, struct doppel_audio_track *out)
{
    bool recording =
        record->scheme == DOPPEL_SCHEME_PEAKS32 ||
        record->scheme == DOPPEL_SCHEME_CHROMAPRINT; /* which has a track without peaks */
    return recording && record->attachment &&
           doppel_audio_track_read_range(record->attachment, record->attachment_size, 0, 0, out,
                                         NULL) == DOPPEL_OK;
}

uint32_t audio_length_ms(const struct doppel_record *record)
{
    struct doppel_audio_track track;
    if (!audio_read_length(record, &track))
        return 0;
    uint64_t duration_ms = track.duration_ms;
    doppel_audio_track_free(&track);
    return duration_ms < UINT32_MAX ? (uint32_t)duration_ms : UINT32_MAX;
}

void attach_audio_length(struct doppel_record *record, uint64_t duration_ms)
{
    const struct doppel_audio_track track = {.duration_ms = duration_ms};
    if (!duration_ms || record->attachment || record->scheme != DOPPEL_SCHEME_CHROMAPRINT)
        return;
    record->attachment_size = doppel_audio_track_size(&track, false);
    record->attachment = must_allocate(record->attachment_size);
    doppel_audio_track_write(&track, false, record->attachment);
}

struct doppel_recording audio_of(const struct doppel_audio_track *track)
{
    return (struct doppel_recording){track->peaks, track->count, (double)track->duration_ms / 1000};
}

size_t audio_first_from(const struct doppel_audio_track *track, double time)
{
    size_t low = 0, high = track->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((double)track->peaks[middle].time < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t audio_keys(const struct doppel_audio_track *track, struct doppel_audio_key **out)
{
    struct doppel_audio_zone zone = doppel_audio_item_zone();
    size_t capacity = track->count * zone.fan_out;
    *out = must_allocate((capacity + 1) * sizeof **out);
    return doppel_audio_keys(track->peaks, track->count, &zone, *out, capacity);
}

/* ---- judging ---- */

struct doppel_audio_options audio_options_from(const struct settings *settings)
{
    struct doppel_audio_options options = doppel_audio_options_default();
    if (settings->max_false_positives > 0)
        options.max_false_positives = settings->max_false_positives;
    options.same_speed = settings->same_speed;
    options.near_misses = settings->near_misses;
    return options;
}

bool audio_match(const struct settings *settings, const struct doppel_record *a,
                 const struct doppel_record *b, struct doppel_match *out)
{
    struct doppel_audio_track query = {0}, item = {0};
    struct doppel_audio_options options = audio_options_from(settings);
    bool matches = false;
    if (audio_read(a, &query) && audio_read(b, &item)) {
        struct doppel_recording left = audio_of(&query), right = audio_of(&item);
        matches = doppel_match_recordings(&left, &right, &options, out, NULL) == DOPPEL_OK &&
                  out->segment_count && out->similarity >= settings->min_similarity;
    }
    doppel_audio_track_free(&query);
    doppel_audio_track_free(&item);
    return matches;
}

/* The mean of bits that may differ, of 32. */
static uint32_t chromaprint_limit(const struct settings *settings)
{
    if (settings->max_distance >= 0)
        return (uint32_t)settings->max_distance;
    if (settings->min_similarity >= 0)
        return (uint32_t)floor((1 - settings->min_similarity) * 16 + 1e-9);
    return doppel_scheme_by_id(DOPPEL_SCHEME_CHROMAPRINT)->max_distance;
}

bool chromaprints_match(const struct settings *settings, const struct doppel_record *a,
                        const struct doppel_record *b, struct doppel_match *out)
{
    return doppel_match_chromaprints(&a->fingerprint, &b->fingerprint, chromaprint_limit(settings),
                                     out, NULL) == DOPPEL_OK &&
           out->segment_count;
}

enum doppel_status chromaprints_find(const struct settings *settings,
                                     const struct doppel_chromaprints *set,
                                     const struct doppel_record *query,
                                     doppel_found_visitor *visitor, void *context,
                                     struct doppel_error *error)
{
    return doppel_chromaprints_find(set, &query->fingerprint, chromaprint_limit(settings), visitor,
                                    context, error);
}

bool audio_is_blank(const struct doppel_record *record)
{
    struct doppel_audio_track track;
    struct doppel_audio_key *keys;
    if (!audio_read(record, &track))
        return false;
    bool blank = audio_keys(&track, &keys) == 0;
    free(keys);
    doppel_audio_track_free(&track);
    return blank;
}

void describe_same_audio(const struct doppel_record *record, struct doppel_segment *segment,
                         struct doppel_match *out)
{
    struct doppel_audio_track track = {0};
    *segment = (struct doppel_segment){.speed = 1};
    if (audio_read_length(record, &track))
        segment->a_end = segment->b_end = (double)track.duration_ms / 1000;
    doppel_audio_track_free(&track);
    *out = (struct doppel_match){
        .kind = DOPPEL_KIND_AUDIO,
        .scheme = DOPPEL_SCHEME_PEAKS32,
        .relation = DOPPEL_RELATION_SAME,
        .verified = DOPPEL_VERIFIED_EXACT,
        .similarity = 1,
        .has_coverage = true,
        .query_coverage = 1,
        .item_coverage = 1,
        .segments = segment,
        .segment_count = segment->a_end > 0,
    };
}

/* ---- in words ---- */

static void put_length(json_t *row, const struct doppel_audio_track *track)
{
    put_number(row, "duration", (double)track->duration_ms / 1000, 3);
    if (track->damaged_ms)
        put_number(row, "damaged", (double)track->damaged_ms / 1000, 3);
}

void put_audio_length(json_t *row, const struct doppel_record *record)
{
    struct doppel_audio_track track;
    if (!audio_read_length(record, &track))
        return;
    put_length(row, &track);
    doppel_audio_track_free(&track);
}

static json_t *sequence_of(const struct doppel_audio_track *track,
                           const struct doppel_audio_key *keys, size_t count)
{
    json_t *sequence = json_array();
    char hex[9];
    for (size_t i = 0; i < count; i++) {
        json_t *pair = json_array();
        double seconds = doppel_audio_seconds(track->peaks[keys[i].peak].time);
        snprintf(hex, sizeof hex, "%08x", keys[i].key);
        json_array_append_new(pair, json_string(hex));
        json_array_append_new(pair, json_integer((json_int_t)lround(seconds * 1000)));
        json_array_append_new(sequence, pair);
    }
    return sequence;
}

void put_audio_details(json_t *row, const struct doppel_record *record, bool codes)
{
    struct doppel_audio_track track;
    struct doppel_audio_key *keys;
    if (!audio_read(record, &track))
        return;
    size_t count = audio_keys(&track, &keys);
    put_integer(row, "codes", count);
    put_length(row, &track);
    if (codes)
        put_value(row, "sequence", sequence_of(&track, keys, count));
    free(keys);
    doppel_audio_track_free(&track);
}
