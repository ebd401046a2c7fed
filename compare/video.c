/* Videos as the verbs judge them. */
#include "compare/video.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/output/output.h"
#include "compare/audio.h"

/* ---- from records ---- */

bool is_video(const struct doppel_record *record)
{
    return record->scheme == DOPPEL_SCHEME_FRAMES64;
}

bool video_read(const struct doppel_record *record, enum doppel_video_parts parts,
                struct doppel_video_track *out)
{
    return is_video(record) && record->attachment &&
           doppel_video_track_read(record->attachment, record->attachment_size, parts, out, NULL) ==
               DOPPEL_OK;
}

bool video_read_audio(const struct doppel_video_track *video, struct doppel_audio_track *out)
{
    return video->audio &&
           doppel_audio_track_read(video->audio, video->audio_size, out, NULL) == DOPPEL_OK;
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

bool record_read_audio(const struct doppel_record *record, struct doppel_audio_track *out)
{
    struct doppel_video_track video;
    if (!is_video(record))
        return audio_read(record, out);
    if (!video_read(record, DOPPEL_VIDEO_CODES, &video))
        return false;
    bool good = video_read_audio(&video, out);
    doppel_video_track_free(&video);
    return good;
}

/* ---- judging ---- */

struct doppel_video_search video_search_from(const struct settings *settings)
{
    struct doppel_video_search search = doppel_video_search_default();
    if (settings->max_false_positives > 0)
        search.max_expected = settings->max_false_positives;
    search.same_speed = settings->same_speed;
    search.thorough = settings->thorough;
    search.near_misses = settings->near_misses;
    return search;
}

void video_match_free(struct video_match *match)
{
    free((void *)match->by_image.segments);
    free((void *)match->by_audio.segments);
    *match = (struct video_match){0};
}

const struct doppel_match *video_match_main(const struct video_match *match)
{
    bool by_image = match->image || (match->images_compared && !match->audio);
    return by_image ? &match->by_image : &match->by_audio;
}

const struct doppel_segment *copy_segments(const struct doppel_match *match)
{
    size_t size = match->segment_count * sizeof *match->segments;
    return size ? memcpy(must_allocate(size), match->segments, size) : NULL;
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
        segments[i] = (struct doppel_segment){from.b_start, from.b_end, from.a_start, from.a_end,
                                              from.speed > 0 ? 1 / from.speed : 0};
    }
    double covered = match->query_coverage;
    match->query_coverage = match->item_coverage;
    match->item_coverage = covered;
    if (match->transform.speed > 0)
        match->transform.speed = 1 / match->transform.speed;
    if (match->relation == DOPPEL_RELATION_CONTAINS)
        match->relation = DOPPEL_RELATION_CONTAINED;
    else if (match->relation == DOPPEL_RELATION_CONTAINED)
        match->relation = DOPPEL_RELATION_CONTAINS;
}

static bool is_within(const struct settings *settings, const struct doppel_match *match)
{
    return match->segment_count && match->similarity >= settings->min_similarity;
}

static void compare_videos(const struct settings *settings, const struct doppel_record *a,
                           const struct doppel_record *b, struct video_match *out)
{
    struct doppel_video_search search = video_search_from(settings);
    struct doppel_video_track query = {0}, item = {0};
    if (video_read(a, DOPPEL_VIDEO_ALL, &query) && video_read(b, DOPPEL_VIDEO_ALL, &item))
        out->images_compared =
            doppel_match_videos(&query, &item, &search, &out->by_image, NULL) == DOPPEL_OK;
    doppel_video_track_free(&query);
    doppel_video_track_free(&item);
}

static void compare_image(const struct settings *settings, const struct doppel_record *image,
                          const struct doppel_record *video, struct video_match *out)
{
    struct doppel_video_search search = video_search_from(settings);
    struct doppel_match_item query = {&image->fingerprint, image->quality};
    struct doppel_video_track item;
    if (image->scheme != DOPPEL_SCHEME_PHASH64 || !video_read(video, DOPPEL_VIDEO_CODES, &item))
        return;
    out->images_compared =
        doppel_match_image_in_video(&query, &item, &search, &out->by_image, NULL) == DOPPEL_OK;
    doppel_video_track_free(&item);
}

static void compare_audio(const struct settings *settings, const struct doppel_record *a,
                          const struct doppel_record *b, struct video_match *out)
{
    struct doppel_audio_track query = {0}, item = {0};
    struct doppel_audio_options options = audio_options_from(settings);
    if (record_read_audio(a, &query) && record_read_audio(b, &item)) {
        struct doppel_recording left = audio_of(&query), right = audio_of(&item);
        out->audio_compared =
            doppel_match_recordings(&left, &right, &options, &out->by_audio, NULL) == DOPPEL_OK;
    }
    out->by_audio.kind = DOPPEL_KIND_VIDEO;
    doppel_audio_track_free(&query);
    doppel_audio_track_free(&item);
}

bool videos_match(const struct settings *settings, const struct doppel_record *a,
                  const struct doppel_record *b, struct video_match *out)
{
    *out = (struct video_match){.by_image.false_positive_rate = -1,
                                .by_audio.false_positive_rate = -1};
    if (is_video(a) && is_video(b))
        compare_videos(settings, a, b, out);
    else if (a->kind == DOPPEL_KIND_IMAGE)
        compare_image(settings, a, b, out);
    else if (b->kind == DOPPEL_KIND_IMAGE) {
        compare_image(settings, b, a, out);
        turn_match(&out->by_image);
    }
    compare_audio(settings, a, b, out);
    out->image = out->images_compared && is_within(settings, &out->by_image);
    out->audio = out->audio_compared && is_within(settings, &out->by_audio);
    return out->image || out->audio;
}

void describe_same_video(const struct doppel_record *record, struct video_match *out)
{
    struct doppel_video_track video = {0};
    struct doppel_segment *segment = must_allocate(sizeof *segment);
    (void)video_read(record, DOPPEL_VIDEO_CODES, &video);
    double seconds = (double)video.duration_ms / 1000;
    *segment = (struct doppel_segment){0, seconds, 0, seconds, 1};
    *out = (struct video_match){
        .images_compared = true,
        .image = true,
        .audio = video.audio,
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
    doppel_video_track_free(&video);
}

/* ---- in words ---- */

static json_t *audio_json(const struct video_match *match)
{
    static const char *const wanted[] = {"score", "false_positive_rate", "query_coverage",
                                         "item_coverage", "segments"};
    json_t *recording = json_object(), *all = json_object();
    put_bool(recording, "match", match->audio);
    put_match(all, &match->by_audio);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        json_t *value = json_object_get(all, wanted[i]);
        if (value)
            json_object_set(recording, wanted[i], value);
    }
    json_decref(all);
    return recording;
}

void put_video_match(json_t *row, const struct video_match *match)
{
    if (match->image || match->audio)
        put_text(row, "evidence",
                 match->image && match->audio ? "picture and sound"
                 : match->image               ? "picture"
                                              : "sound");
    if (match->audio_compared)
        put_value(row, "sound", audio_json(match));
    if (match->images_compared && !match->image && match->audio) {
        json_t *image = json_object();
        put_bool(image, "match", false);
        put_value(row, "picture", image);
    }
}

void put_evidence_in_words(json_t *row)
{
    const char *evidence = json_string_value(json_object_get(row, "evidence"));
    char words[80];
    if (!evidence)
        return;
    bool uncertain = json_is_true(json_object_get(row, "time_uncertain"));
    bool other_audio = json_is_false(json_object_get(json_object_get(row, "sound"), "match"));
    bool other_image = json_object_get(row, "picture");
    bool same = uncertain || other_audio || other_image;
    const char *which = strcmp(evidence, "sound") == 0               ? "audio"
                        : strcmp(evidence, "picture and sound") == 0 ? "picture and audio"
                                                                     : evidence;
    snprintf(words, sizeof words, "%s%s%s%s", same ? "same " : "", which,
             uncertain ? ", time uncertain" : "",
             other_audio   ? ", other audio"
             : other_image ? ", other picture"
                           : "");
    put_text(row, "evidence", words);
}
