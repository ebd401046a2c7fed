/* Recordings compared: from records to peaks, from two of them to a match. */
#include "compare/audio.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"

/* ---- from records ---- */

enum doppel_status audio_load(const struct doppel_record *record, struct doppel_audio_track *out,
                              struct doppel_error *error)
{
    if (record->scheme != DOPPEL_SCHEME_PEAKS32 || !record->attachment)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "no record of audio");
    return doppel_audio_track_read(record->attachment, record->attachment_size, out, error);
}

bool audio_read(const struct doppel_record *record, struct doppel_audio_track *out)
{
    return audio_load(record, out, NULL) == DOPPEL_OK;
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

bool attach_audio_length(struct doppel_record *record, uint64_t duration_ms)
{
    const struct doppel_audio_track track = {.duration_ms = duration_ms};
    if (!duration_ms || record->attachment || record->scheme != DOPPEL_SCHEME_CHROMAPRINT)
        return true;
    size_t size = doppel_audio_track_size(&track, false);
    record->attachment = calloc(1, size);
    if (!record->attachment)
        return false;
    record->attachment_size = size;
    doppel_audio_track_write(&track, false, record->attachment);
    return true;
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

/* ---- comparing ---- */

struct doppel_audio_options audio_options_from(const struct doppel_compare_options *compare)
{
    struct doppel_audio_options options = doppel_audio_options_default();
    if (compare->max_false_positives > 0)
        options.max_false_positives = compare->max_false_positives;
    options.same_speed = compare->same_speed;
    options.near_misses = compare->near_misses;
    return options;
}

enum doppel_status audio_match(const struct doppel_compare_options *compare,
                               const struct doppel_record *a, const struct doppel_record *b,
                               struct doppel_comparison *out, struct doppel_error *error)
{
    struct doppel_audio_track query = {0}, item = {0};
    struct doppel_audio_options options = audio_options_from(compare);
    enum doppel_status status;
    TRY(audio_load(a, &query, error));
    TRY(audio_load(b, &item, error));
    struct doppel_recording left = audio_of(&query), right = audio_of(&item);
    TRY(doppel_match_recordings(&left, &right, &options, &out->match, error));
done:
    out->matches =
        !status && out->match.segment_count && out->match.similarity >= compare->min_similarity;
    doppel_audio_track_free(&query);
    doppel_audio_track_free(&item);
    return status;
}

uint32_t chromaprint_limit(const struct doppel_compare_options *compare)
{
    if (compare->max_distance >= 0)
        return (uint32_t)compare->max_distance;
    if (compare->min_similarity >= 0)
        return (uint32_t)floor((1 - compare->min_similarity) * 16 + 1e-9);
    return doppel_scheme_by_id(DOPPEL_SCHEME_CHROMAPRINT)->max_distance;
}

enum doppel_status chromaprints_match(const struct doppel_compare_options *compare,
                                      const struct doppel_record *a, const struct doppel_record *b,
                                      struct doppel_comparison *out, struct doppel_error *error)
{
    enum doppel_status status = doppel_match_chromaprints(
        &a->fingerprint, &b->fingerprint, chromaprint_limit(compare), &out->match, error);
    out->matches = !status && out->match.segment_count;
    return status;
}

static bool is_track_blank(struct doppel_audio_track *track)
{
    const struct doppel_audio_zone zone = doppel_audio_item_zone();
    struct doppel_audio_key first;
    bool blank = doppel_audio_keys(track->peaks, track->count, &zone, &first, 1) == 0;
    doppel_audio_track_free(track);
    return blank;
}

/* As a rule there is a key in its first minute. */
bool audio_is_blank(const struct doppel_record *record)
{
    struct doppel_audio_track track;
    if (record->scheme == DOPPEL_SCHEME_PEAKS32 && record->attachment &&
        doppel_audio_track_read_range(record->attachment, record->attachment_size, 0,
                                      (uint32_t)doppel_audio_time(60), &track, NULL) == DOPPEL_OK &&
        !is_track_blank(&track))
        return false;
    return audio_read(record, &track) && is_track_blank(&track);
}

bool describe_same_audio(const struct doppel_record *record, struct doppel_match *out)
{
    struct doppel_audio_track track = {0};
    struct doppel_segment *segment = malloc(sizeof *segment);
    if (!segment)
        return false;
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
    return true;
}
