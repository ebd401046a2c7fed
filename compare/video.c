/* Videos compared: from records to frames and audio, and what a pair shares of each. */
#include "compare/video.h"

#include <stdlib.h>
#include <string.h>

#include "compare/audio.h"
#include "core/try.h"

/* ---- from records ---- */

bool is_video(const struct doppel_record *record)
{
    return record->scheme == DOPPEL_SCHEME_FRAMES64;
}

enum doppel_status video_load(const struct doppel_record *record, enum doppel_video_parts parts,
                              struct doppel_video_track *out, struct doppel_error *error)
{
    if (!is_video(record) || !record->attachment)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "no record of a video's frames");
    return doppel_video_track_read(record->attachment, record->attachment_size, parts, out, error);
}

bool video_read(const struct doppel_record *record, enum doppel_video_parts parts,
                struct doppel_video_track *out)
{
    return video_load(record, parts, out, NULL) == DOPPEL_OK;
}

static enum doppel_status load_video_audio(const struct doppel_video_track *video,
                                           struct doppel_audio_track *out,
                                           struct doppel_error *error)
{
    if (!video->audio)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "a video without audio");
    return doppel_audio_track_read(video->audio, video->audio_size, out, error);
}

bool video_read_audio(const struct doppel_video_track *video, struct doppel_audio_track *out)
{
    return load_video_audio(video, out, NULL) == DOPPEL_OK;
}

bool video_is_blank(const struct doppel_record *record)
{
    struct doppel_video_track video;
    if (!video_read(record, DOPPEL_VIDEO_CODES, &video))
        return false;
    bool blank = !video.count && !video.audio;
    doppel_video_track_free(&video);
    return blank;
}

enum doppel_status record_load_audio(const struct doppel_record *record,
                                     struct doppel_audio_track *out, struct doppel_error *error)
{
    struct doppel_video_track video;
    if (!is_video(record))
        return audio_load(record, out, error);
    enum doppel_status status = video_load(record, DOPPEL_VIDEO_CODES, &video, error);
    if (status)
        return status;
    status = load_video_audio(&video, out, error);
    doppel_video_track_free(&video);
    return status;
}

bool record_read_audio(const struct doppel_record *record, struct doppel_audio_track *out)
{
    return record_load_audio(record, out, NULL) == DOPPEL_OK;
}

/* ---- comparing ---- */

struct doppel_video_search video_search_from(const struct doppel_compare_options *compare)
{
    struct doppel_video_search search = doppel_video_search_default();
    if (compare->max_false_positives > 0)
        search.max_expected = compare->max_false_positives;
    search.same_speed = compare->same_speed;
    search.thorough = compare->thorough;
    search.near_misses = compare->near_misses;
    return search;
}

bool copy_segments(struct doppel_match *match)
{
    size_t size = match->segment_count * sizeof *match->segments;
    void *copy = size ? malloc(size) : NULL;
    bool done = copy || !size;
    if (copy)
        memcpy(copy, match->segments, size);
    match->segments = copy;
    match->segment_count = done ? match->segment_count : 0;
    return done;
}

const struct doppel_segment *longest_segment(const struct doppel_match *match)
{
    const struct doppel_segment *longest = NULL;
    for (size_t i = 0; i < match->segment_count; i++) {
        const struct doppel_segment *segment = &match->segments[i];
        if (!longest || segment->a_end - segment->a_start > longest->a_end - longest->a_start)
            longest = segment;
    }
    return longest;
}

void turn_match(struct doppel_match *match)
{
    struct doppel_segment *segments = (struct doppel_segment *)match->segments;
    for (size_t i = 0; i < match->segment_count; i++) {
        struct doppel_segment from = segments[i];
        segments[i] = (struct doppel_segment){.a_start = from.b_start,
                                              .a_end = from.b_end,
                                              .b_start = from.a_start,
                                              .b_end = from.a_end,
                                              .speed = from.speed > 0 ? 1 / from.speed : 0,
                                              .repeat = from.repeat};
    }
    double covered = match->query_coverage;
    match->query_coverage = match->item_coverage;
    match->item_coverage = covered;
    struct doppel_place place = match->query_place;
    match->query_place = match->item_place;
    match->item_place = place;
    if (match->transform.speed > 0)
        match->transform.speed = 1 / match->transform.speed;
    if (match->relation == DOPPEL_RELATION_CONTAINS)
        match->relation = DOPPEL_RELATION_CONTAINED;
    else if (match->relation == DOPPEL_RELATION_CONTAINED)
        match->relation = DOPPEL_RELATION_CONTAINS;
}

static bool is_within(const struct doppel_compare_options *compare,
                      const struct doppel_match *match)
{
    return match->segment_count && match->similarity >= compare->min_similarity;
}

/* What cannot be read is not compared, which is no failure. */
static enum doppel_status note_compared(struct doppel_comparison *out, enum doppel_evidence which,
                                        enum doppel_status status)
{
    out->compared |= status ? 0u : (unsigned)which;
    return status == DOPPEL_E_MEMORY ? status : DOPPEL_OK;
}

static enum doppel_status compare_frames(const struct doppel_compare_options *compare,
                                         const struct doppel_record *a,
                                         const struct doppel_record *b,
                                         struct doppel_comparison *out, struct doppel_error *error)
{
    struct doppel_video_search search = video_search_from(compare);
    struct doppel_video_track query = {0}, item = {0};
    enum doppel_status status;
    TRY(video_load(a, DOPPEL_VIDEO_ALL, &query, error));
    TRY(video_load(b, DOPPEL_VIDEO_ALL, &item, error));
    TRY(doppel_match_videos(&query, &item, &search, &out->by_image, error));
done:
    doppel_video_track_free(&query);
    doppel_video_track_free(&item);
    return note_compared(out, DOPPEL_EVIDENCE_IMAGE, status);
}

static enum doppel_status compare_image(const struct doppel_compare_options *compare,
                                        const struct doppel_record *image,
                                        const struct doppel_record *video,
                                        struct doppel_comparison *out, struct doppel_error *error)
{
    struct doppel_video_search search = video_search_from(compare);
    struct doppel_match_item query = {&image->fingerprint, image->quality};
    struct doppel_video_track item = {0};
    if (image->scheme != DOPPEL_SCHEME_PHASH64)
        return DOPPEL_OK;
    enum doppel_status status = video_load(video, DOPPEL_VIDEO_CODES, &item, error);
    if (!status)
        status = doppel_match_image_in_video(&query, &item, &search, &out->by_image, error);
    doppel_video_track_free(&item);
    return note_compared(out, DOPPEL_EVIDENCE_IMAGE, status);
}

static enum doppel_status compare_audio(const struct doppel_compare_options *compare,
                                        const struct doppel_record *a,
                                        const struct doppel_record *b,
                                        struct doppel_comparison *out, struct doppel_error *error)
{
    struct doppel_audio_track query = {0}, item = {0};
    struct doppel_audio_options options = audio_options_from(compare);
    enum doppel_status status;
    TRY(record_load_audio(a, &query, error));
    TRY(record_load_audio(b, &item, error));
    struct doppel_recording left = audio_of(&query), right = audio_of(&item);
    TRY(doppel_match_recordings(&left, &right, &options, &out->by_audio, error));
done:
    out->by_audio.kind = DOPPEL_KIND_VIDEO;
    doppel_audio_track_free(&query);
    doppel_audio_track_free(&item);
    return note_compared(out, DOPPEL_EVIDENCE_AUDIO, status);
}

enum doppel_status compare_videos(const struct doppel_compare_options *compare,
                                  const struct doppel_record *a, const struct doppel_record *b,
                                  struct doppel_comparison *out, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    out->of_video = true;
    out->by_image.false_positive_rate = out->by_audio.false_positive_rate = -1;
    if (is_video(a) && is_video(b))
        status = compare_frames(compare, a, b, out, error);
    else if (a->kind == DOPPEL_KIND_IMAGE)
        status = compare_image(compare, a, b, out, error);
    else if (b->kind == DOPPEL_KIND_IMAGE) {
        status = compare_image(compare, b, a, out, error);
        turn_match(&out->by_image);
    }
    if (!status)
        status = compare_audio(compare, a, b, out, error);
    if (out->compared & DOPPEL_EVIDENCE_IMAGE && is_within(compare, &out->by_image))
        out->evidence |= DOPPEL_EVIDENCE_IMAGE;
    if (out->compared & DOPPEL_EVIDENCE_AUDIO && is_within(compare, &out->by_audio))
        out->evidence |= DOPPEL_EVIDENCE_AUDIO;
    comparison_choose(out);
    return status;
}

void comparison_choose(struct doppel_comparison *out)
{
    bool by_image = out->evidence & DOPPEL_EVIDENCE_IMAGE ||
                    (out->compared & DOPPEL_EVIDENCE_IMAGE && !out->evidence);
    out->match = by_image ? out->by_image : out->by_audio;
    out->matches = out->evidence;
}

bool describe_same_video(const struct doppel_record *record, struct doppel_comparison *out)
{
    struct doppel_video_track video = {0};
    struct doppel_segment *segment = malloc(sizeof *segment);
    if (!segment)
        return false;
    (void)video_read(record, DOPPEL_VIDEO_CODES, &video);
    double seconds = (double)video.duration_ms / 1000;
    *segment = (struct doppel_segment){.a_end = seconds, .b_end = seconds, .speed = 1};
    *out = (struct doppel_comparison){
        .of_video = true,
        .compared = DOPPEL_EVIDENCE_IMAGE,
        .evidence = DOPPEL_EVIDENCE_IMAGE | (video.audio ? DOPPEL_EVIDENCE_AUDIO : 0),
        .by_image = {.kind = DOPPEL_KIND_VIDEO,
                     .scheme = DOPPEL_SCHEME_FRAMES64,
                     .relation = DOPPEL_RELATION_SAME,
                     .verified = DOPPEL_VERIFIED_EXACT,
                     .similarity = 1,
                     .has_coverage = true,
                     .query_coverage = 1,
                     .item_coverage = 1,
                     .segments = segment,
                     .segment_count = seconds > 0},
    };
    comparison_choose(out);
    doppel_video_track_free(&video);
    return true;
}
