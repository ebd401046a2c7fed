/* Two records of any kind: whether they match, and how near they are. */
#include <doppel/compare.h>

#include <stdlib.h>
#include <string.h>

#include <doppel/video.h>

#include "compare/audio.h"
#include "compare/image.h"
#include "compare/parts.h"
#include "compare/text.h"
#include "compare/video.h"
#include "core/digest.h"
#include "core/try.h"

static enum doppel_status vpdqs_match(const struct doppel_compare_options *options,
                                      const struct doppel_record *a, const struct doppel_record *b,
                                      struct doppel_comparison *out, struct doppel_error *error)
{
    struct doppel_vpdq query = {0}, item = {0};
    struct doppel_vpdq_limits limits = doppel_vpdq_limits_default();
    const char *left = (const char *)a->attachment, *right = (const char *)b->attachment;
    bool matches = false;
    if (options->max_distance >= 0)
        limits.max_distance = (uint32_t)options->max_distance;
    if (options->min_similarity >= 0)
        limits.min_share = options->min_similarity;
    enum doppel_status status;
    TRY(doppel_vpdq_parse(left, a->attachment_size, &query, error));
    TRY(doppel_vpdq_parse(right, b->attachment_size, &item, error));
    TRY(doppel_match_vpdqs(&query, &item, &limits, &matches, &out->match, error));
done:
    out->matches = !status && matches;
    doppel_vpdq_free(&query);
    doppel_vpdq_free(&item);
    return status;
}

static bool equal_digests(const struct doppel_digest *a, const struct doppel_digest *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* The same bytes, or pixels. */
static bool has_same_content(const struct doppel_record *a, const struct doppel_record *b)
{
    return a->scheme == b->scheme &&
           ((!digest_is_none(&a->digest) && equal_digests(&a->digest, &b->digest)) ||
            (!digest_is_none(&a->pixels) && equal_digests(&a->pixels, &b->pixels)));
}

/* ---- the table of kinds ---- */

static enum doppel_status image_records_match(const struct doppel_compare_options *options,
                                              const struct doppel_record *a,
                                              const struct doppel_record *b,
                                              struct doppel_comparison *out,
                                              struct doppel_error *error)
{
    if (is_of_parts(a))
        return parts_match(options, a, b, out, error);
    out->matches = images_match(options, a, b, &out->match);
    return DOPPEL_OK;
}

static enum doppel_status recordings_match(const struct doppel_compare_options *options,
                                           const struct doppel_record *a,
                                           const struct doppel_record *b,
                                           struct doppel_comparison *out,
                                           struct doppel_error *error)
{
    return a->scheme == DOPPEL_SCHEME_PEAKS32 ? audio_match(options, a, b, out, error)
                                              : chromaprints_match(options, a, b, out, error);
}

/* One of them may be a recording or an image; by parts, an image. */
static enum doppel_status videos_match(const struct doppel_compare_options *options,
                                       const struct doppel_record *a, const struct doppel_record *b,
                                       struct doppel_comparison *out, struct doppel_error *error)
{
    return is_of_parts(a)               ? parts_match(options, a, b, out, error)
           : is_video(a) || is_video(b) ? compare_videos(options, a, b, out, error)
                                        : vpdqs_match(options, a, b, out, error);
}

static bool same_recording(const struct doppel_record *record, struct doppel_comparison *out)
{
    return record->scheme != DOPPEL_SCHEME_PEAKS32 || describe_same_audio(record, &out->match);
}

static bool same_video(const struct doppel_record *record, struct doppel_comparison *out)
{
    return !is_video(record) || describe_same_video(record, out);
}

static bool same_image(const struct doppel_record *record, struct doppel_comparison *out)
{
    (void)record;
    out->match.false_positive_rate = 0;
    return true;
}

static const char *image_obstacle(const struct doppel_record *record,
                                  const struct doppel_compare_options *options)
{
    (void)options;
    if (is_of_parts(record))
        return parts_are_few(record) ? "has too few keypoints to be told by" : NULL;
    if (record->scheme == DOPPEL_SCHEME_PHASH64 && record->quality >= DOPPEL_IMAGE_STRICT_QUALITY &&
        record->quality < DOPPEL_IMAGE_MIN_QUALITY)
        return "has so little structure that only copies of all of it are told";
    return record->quality < DOPPEL_IMAGE_MIN_QUALITY ? "has too little structure to be told by"
                                                      : NULL;
}

static const char *audio_obstacle(const struct doppel_record *record,
                                  const struct doppel_compare_options *options)
{
    (void)options;
    bool blank = record->scheme == DOPPEL_SCHEME_PEAKS32 && audio_is_blank(record);
    return blank ? "has " AUDIO_IS_BLANK : NULL;
}

static const char *video_obstacle(const struct doppel_record *record,
                                  const struct doppel_compare_options *options)
{
    (void)options;
    if (is_of_parts(record))
        return parts_are_few(record) ? "has too few keypoints to be told by" : NULL;
    return video_is_blank(record) ? "has " VIDEO_IS_BLANK : NULL;
}

static const char *text_obstacle(const struct doppel_record *record,
                                 const struct doppel_compare_options *options)
{
    struct text_view view;
    if (!text_view_read(record, &options->text, &view))
        return NULL;
    const char *obstacle = view.extra.drawn_size ? NULL
                           : !view.extra.words   ? "has no words"
                           : view.too_short
                               ? "is too short to be told by anything but the same words"
                               : NULL;
    text_view_free(&view);
    return obstacle;
}

/* What a kind of content does in its own way; a function that is NULL does nothing. */
static const struct compared_kind {
    /* By their schemes. @param out empty; filled also when they do not match */
    enum doppel_status (*match)(const struct doppel_compare_options *options,
                                const struct doppel_record *a, const struct doppel_record *b,
                                struct doppel_comparison *out, struct doppel_error *error);
    /* Complete a match of the same bytes. False without memory. */
    bool (*same)(const struct doppel_record *record, struct doppel_comparison *out);
    /* As doppel_compare_obstacle. */
    const char *(*obstacle)(const struct doppel_record *record,
                            const struct doppel_compare_options *options);
} kinds[] = {
    [DOPPEL_KIND_UNKNOWN] = {NULL, NULL, NULL}, /* only the same bytes */
    [DOPPEL_KIND_TEXT] = {texts_or_passages_match, NULL, text_obstacle},
    [DOPPEL_KIND_IMAGE] = {image_records_match, same_image, image_obstacle},
    [DOPPEL_KIND_AUDIO] = {recordings_match, same_recording, audio_obstacle},
    [DOPPEL_KIND_VIDEO] = {videos_match, same_video, video_obstacle},
};

static const struct compared_kind *compared_kind_of(const struct doppel_record *record)
{
    size_t number = is_video(record) ? DOPPEL_KIND_VIDEO : (size_t)record->kind;
    return &kinds[number < sizeof kinds / sizeof *kinds ? number : DOPPEL_KIND_UNKNOWN];
}

/* ---- comparing ---- */

bool doppel_comparable(const struct doppel_record *a, const struct doppel_record *b)
{
    if (a->kind == b->kind || (is_of_parts(a) && is_of_parts(b)))
        return true;
    return (is_video(a) && b->kind != DOPPEL_KIND_TEXT) ||
           (is_video(b) && a->kind != DOPPEL_KIND_TEXT);
}

enum doppel_status doppel_compare(struct doppel_run *run, const struct doppel_record *a,
                                  const struct doppel_record *b,
                                  const struct doppel_compare_options *options,
                                  struct doppel_comparison *out, struct doppel_error *error)
{
    struct doppel_comparison comparison = {.match.false_positive_rate = -1};
    struct doppel_compare_options defaults;
    struct doppel_error why; /* what cannot be read matches nothing: that is no error of the call */
    if (run && doppel_run_cancelled(run))
        return doppel_fail(error, DOPPEL_E_CANCELLED, "cancelled");
    if (!doppel_comparable(a, b))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s and %s are not compared",
                           doppel_kind_name(a->kind), doppel_kind_name(b->kind));
    if (has_same_content(a, b))
        return doppel_compare_same(a, out, error);
    if (!options) {
        defaults = doppel_compare_options_default();
        options = &defaults;
    }
    const struct compared_kind *kind = compared_kind_of(is_video(b) ? b : a);
    if (kind->match && kind->match(options, a, b, &comparison, &why) == DOPPEL_E_MEMORY) {
        doppel_comparison_free(&comparison);
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s", why.message);
    }
    *out = comparison;
    return DOPPEL_OK;
}

enum doppel_status doppel_compare_same(const struct doppel_record *record,
                                       struct doppel_comparison *out, struct doppel_error *error)
{
    struct doppel_comparison same = {.matches = true};
    same.match = (struct doppel_match){.kind = record->kind,
                                       .scheme = record->scheme,
                                       .relation = DOPPEL_RELATION_SAME,
                                       .verified = DOPPEL_VERIFIED_EXACT,
                                       .bits = record->scheme ? distance_bits(record->scheme) : 0,
                                       .similarity = 1,
                                       .false_positive_rate = -1};
    const struct compared_kind *kind = compared_kind_of(record);
    if (kind->same && !kind->same(record, &same))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a match");
    *out = same;
    return DOPPEL_OK;
}

void doppel_comparison_free(struct doppel_comparison *comparison)
{
    if (!comparison)
        return;
    if (comparison->of_video) { /* then its match is one of these */
        free((void *)comparison->by_image.segments);
        free((void *)comparison->by_audio.segments);
    } else {
        free((void *)comparison->match.segments);
    }
    *comparison = (struct doppel_comparison){0};
}

const char *doppel_compare_obstacle(const struct doppel_record *record,
                                    const struct doppel_compare_options *options)
{
    const struct compared_kind *kind = compared_kind_of(record);
    return kind->obstacle ? kind->obstacle(record, options) : NULL;
}

static bool is_of_sets(enum doppel_scheme_id scheme)
{
    return scheme == DOPPEL_SCHEME_MINHASH128 || scheme == DOPPEL_SCHEME_MINHASH256 ||
           scheme == DOPPEL_SCHEME_DATASKETCH;
}

/* Of images a rate decides, which a distance narrows, unless a similarity was given. */
struct doppel_thresholds doppel_compare_thresholds(const struct doppel_compare_options *options,
                                                   enum doppel_scheme_id scheme)
{
    struct doppel_thresholds out = {-1, -1, -1, -1};
    if (scheme == DOPPEL_SCHEME_WINNOW32)
        out.min_words = doppel_passage_options_default().min_words;
    else if (scheme == DOPPEL_SCHEME_PEAKS32)
        out.max_false_positive_rate = audio_options_from(options).max_false_positives;
    else if (scheme == DOPPEL_SCHEME_LOCAL || scheme == DOPPEL_SCHEME_FRAMES128)
        out.max_false_positive_rate = parts_options_from(options).max_false_positives;
    else if (scheme == DOPPEL_SCHEME_FRAMES64)
        out.max_false_positive_rate = video_search_from(options).max_expected;
    else if (options->max_distance >= 0)
        out.max_distance = options->max_distance;
    else if (is_of_sets(scheme))
        out.min_similarity = text_limits_from(options).min_similarity;
    else if (options->min_similarity >= 0)
        out.min_similarity = options->min_similarity;
    else if (doppel_scheme_by_id(scheme) && scheme != DOPPEL_SCHEME_PHASH64)
        out.max_distance = doppel_scheme_by_id(scheme)->max_distance;
    if (scheme == DOPPEL_SCHEME_PHASH64 && options->min_similarity < 0)
        out.max_false_positive_rate = images_rate_from(options);
    return out;
}
