/* Two records of any kind: whether they match, and how near they are. */
#include "compare/pair.h"

#include <stdlib.h>
#include <string.h>

#include "core/digest.h"
#include "group/grouping.h"
#include "tools/memory.h"
#include "tools/output/output.h"
#include "compare/audio.h"
#include "compare/text.h"

/* Unless a limit was given, a rate decides among the pictures that the scheme's distance makes
 * candidates. */
json_t *pair_limit(const struct settings *settings, enum doppel_scheme_id scheme)
{
    json_t *limit = json_object();
    if (scheme == DOPPEL_SCHEME_WINNOW32) {
        put_integer(limit, "min_words", doppel_passage_options_default().min_words);
        return limit;
    }
    if (scheme == DOPPEL_SCHEME_PEAKS32 || scheme == DOPPEL_SCHEME_FRAMES64) {
        put_rate(limit, "max_false_positive_rate",
                 scheme == DOPPEL_SCHEME_PEAKS32 ? audio_options_from(settings).max_false_positives
                                                 : video_search_from(settings).max_expected);
        return limit;
    }
    bool sets = scheme == DOPPEL_SCHEME_MINHASH128 || scheme == DOPPEL_SCHEME_MINHASH256 ||
                scheme == DOPPEL_SCHEME_DATASKETCH;
    if (settings->max_distance >= 0)
        put_integer(limit, "max_distance", (uint64_t)settings->max_distance);
    else if (settings->min_similarity >= 0 || sets)
        put_number(limit, "min_similarity",
                   sets ? text_limits_from(settings).min_similarity : settings->min_similarity, 4);
    else
        put_integer(limit, "max_distance", doppel_scheme_by_id(scheme)->max_distance);
    if (settings->max_distance < 0 && settings->min_similarity < 0 &&
        scheme == DOPPEL_SCHEME_PHASH64)
        put_rate(limit, "max_false_positive_rate", DOPPEL_IMAGE_MAX_FPR);
    return limit;
}

void pair_match_free(struct pair_match *pair)
{
    if (pair->of_video)
        video_match_free(&pair->video);
    else
        free((void *)pair->match.segments);
    *pair = (struct pair_match){0};
}

bool pair_is_comparable(const struct doppel_record *a, const struct doppel_record *b)
{
    if (a->kind == b->kind)
        return true;
    return (is_video(a) && b->kind != DOPPEL_KIND_TEXT) ||
           (is_video(b) && a->kind != DOPPEL_KIND_TEXT);
}

void pair_of_same_content(const struct doppel_record *record, struct pair_match *out)
{
    *out = (struct pair_match){.matches = true, .of_video = is_video(record)};
    if (out->of_video) {
        describe_same_video(record, &out->video);
        out->match = out->video.by_image;
        return;
    }
    out->match = (struct doppel_match){.kind = record->kind,
                                       .scheme = record->scheme,
                                       .relation = DOPPEL_RELATION_SAME,
                                       .verified = DOPPEL_VERIFIED_EXACT,
                                       .bits = record->scheme ? distance_bits(record->scheme) : 0,
                                       .similarity = 1};
    if (record->kind != DOPPEL_KIND_IMAGE && record->scheme != DOPPEL_SCHEME_PEAKS32)
        out->match.false_positive_rate = -1;
    if (record->scheme == DOPPEL_SCHEME_PEAKS32)
        describe_same_audio(record, must_allocate(sizeof(struct doppel_segment)), &out->match);
}

static bool pixels_match(const struct doppel_record *a, const struct doppel_record *b,
                         const struct doppel_match_options *options, struct doppel_match *match)
{
    struct doppel_image_features features_a, features_b;
    struct doppel_image_verdict verdict = verdict_of(match);
    if (!doppel_record_image_features(a, &features_a) ||
        !doppel_record_image_features(b, &features_b))
        return false;
    bool same = doppel_image_check_pixels(&features_a, &features_b, &options->image, &verdict);
    doppel_match_from_pixels(&verdict, same, match);
    return same;
}

static bool images_match(const struct settings *settings, const struct doppel_record *a,
                         const struct doppel_record *b, struct doppel_match *match)
{
    struct doppel_match_options options = match_options_from(settings);
    struct doppel_match_item query = {&a->fingerprint, a->quality};
    struct doppel_match_item item = {&b->fingerprint, b->quality};
    if (doppel_match_pair(&query, &item, &options, match))
        return true;
    return settings->check == CHECK_PIXELS && doppel_match_borderline(match, &options) &&
           pixels_match(a, b, &options, match);
}

/* A limit that was given is of the whole: then a passage alone is no match. */
static bool passages_count(const struct settings *settings)
{
    return settings->min_similarity < 0 && settings->max_distance < 0;
}

/* Texts that are not alike as a whole may share passages; those that hold each other say where. */
static bool texts_or_passages_match(const struct settings *settings, const struct text_view *query,
                                    const struct text_view *item, struct doppel_match *match)
{
    struct doppel_match passages;
    bool winnowed = query->scheme == DOPPEL_SCHEME_WINNOW32;
    bool matches = texts_match(settings, query, item, match);
    bool whole = matches && match->relation == DOPPEL_RELATION_SAME;
    if (whole || !(winnowed || passages_count(settings)) || !passages_match(query, item, &passages))
        return matches;
    if (!matches)
        *match = passages;
    match->segments = passages.segments;
    match->segment_count = passages.segment_count;
    return true;
}

static bool text_files_match(const struct settings *settings, const struct doppel_record *a,
                             const struct doppel_record *b, struct doppel_match *match)
{
    struct text_view query = {0}, item = {0};
    bool matches = text_view_read(a, settings, &query) && text_view_read(b, settings, &item) &&
                   texts_or_passages_match(settings, &query, &item, match);
    text_view_free(&query);
    text_view_free(&item);
    return matches;
}

static bool vpdqs_match(const struct settings *settings, const struct doppel_record *a,
                        const struct doppel_record *b, struct doppel_match *match)
{
    struct doppel_vpdq query = {0}, item = {0};
    struct doppel_vpdq_limits limits = doppel_vpdq_limits_default();
    bool matches = false;
    if (settings->max_distance >= 0)
        limits.max_distance = (uint32_t)settings->max_distance;
    if (settings->min_similarity >= 0)
        limits.min_share = settings->min_similarity;
    bool done = !doppel_vpdq_parse((const char *)a->attachment, a->attachment_size, &query, NULL) &&
                !doppel_vpdq_parse((const char *)b->attachment, b->attachment_size, &item, NULL) &&
                !doppel_match_vpdqs(&query, &item, &limits, &matches, match, NULL);
    doppel_vpdq_free(&query);
    doppel_vpdq_free(&item);
    return done && matches;
}

static bool same_digest(const struct doppel_digest *a, const struct doppel_digest *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* The same bytes, or pixels. */
static bool has_same_content(const struct doppel_record *a, const struct doppel_record *b)
{
    return a->scheme == b->scheme &&
           (same_digest(&a->digest, &b->digest) ||
            (!digest_is_none(&a->pixels) && same_digest(&a->pixels, &b->pixels)));
}

void pair_judge(const struct settings *settings, const struct doppel_record *a,
                const struct doppel_record *b, struct pair_match *out)
{
    if (has_same_content(a, b)) {
        pair_of_same_content(a, out);
        return;
    }
    *out = (struct pair_match){.match.false_positive_rate = -1,
                               .of_video = is_video(a) || is_video(b)};
    if (out->of_video) {
        out->matches = videos_match(settings, a, b, &out->video);
        out->match = *video_match_main(&out->video);
        return;
    }
    out->matches = (a->kind == DOPPEL_KIND_TEXT          ? text_files_match
                    : a->scheme == DOPPEL_SCHEME_PEAKS32 ? audio_match
                    : a->kind == DOPPEL_KIND_AUDIO       ? chromaprints_match
                    : a->kind == DOPPEL_KIND_VIDEO       ? vpdqs_match
                                                   : images_match)(settings, a, b, &out->match);
}

const char *pair_obstacle(const struct settings *settings, const struct doppel_record *record)
{
    struct text_view view;
    bool too_short = false, silent = false;
    if (record->kind == DOPPEL_KIND_IMAGE)
        return record->quality < DOPPEL_IMAGE_MIN_QUALITY ? "has too little structure to be told by"
                                                          : NULL;
    if (record->scheme == DOPPEL_SCHEME_PEAKS32)
        return audio_is_blank(record) ? "has " AUDIO_IS_BLANK : NULL;
    if (record->kind == DOPPEL_KIND_VIDEO)
        return video_is_blank(record) ? "has " VIDEO_IS_BLANK : NULL;
    if (text_view_read(record, settings, &view)) {
        too_short = view.too_short;
        silent = view.extra.words == 0;
        text_view_free(&view);
    }
    return silent      ? "has no words"
           : too_short ? "is too short to be told by anything but the same words"
                       : NULL;
}
