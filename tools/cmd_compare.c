/* doppel compare A B: are these two the same, how near. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/collection.h"
#include "tools/commands.h"
#include "tools/grouping.h"
#include "tools/intake.h"
#include "tools/memory.h"
#include "tools/open_cache.h"
#include "tools/output.h"
#include "tools/place_rows.h"
#include "tools/sound_chart.h"
#include "tools/sound_judge.h"
#include "tools/text_judge.h"

static const struct column columns[] = {
    {"match", "match", CELL_BOOL},
    MATCH_COLUMNS,
    PLACE_COLUMNS,
    {"reason", "reason", CELL_TEXT},
    {"limit.max_distance", "max distance", CELL_NUMBER},
    {"limit.min_similarity", "min similarity", CELL_NUMBER},
    {"limit.max_false_positive_rate", "max false positives", CELL_NUMBER},
    {"a", "a", CELL_PATH},
    {"b", "b", CELL_PATH},
};

static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

/* The limit that decided, in the unit in which it was, or could have been, given. Unless one was, a
 * rate decides among the pictures that the scheme's distance makes candidates. */
static json_t *limit_json(const struct settings *settings, enum doppel_scheme_id scheme)
{
    json_t *limit = json_object();
    if (scheme == DOPPEL_SCHEME_WINNOW32) {
        put_integer(limit, "min_words", doppel_passage_options_default().min_words);
        return limit;
    }
    if (scheme == DOPPEL_SCHEME_PEAKS32) {
        put_rate(limit, "max_false_positive_rate",
                 sound_options_from(settings).max_false_positives);
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

static bool same_bytes(const struct doppel_record *a, const struct doppel_record *b)
{
    return memcmp(&a->digest, &b->digest, sizeof a->digest) == 0;
}

static void exact_match(const struct doppel_record *record, struct doppel_match *match)
{
    *match = (struct doppel_match){.kind = record->kind,
                                   .scheme = record->scheme,
                                   .relation = DOPPEL_RELATION_SAME,
                                   .verified = DOPPEL_VERIFIED_EXACT,
                                   .bits = distance_bits(record->scheme),
                                   .similarity = 1};
    if (record->kind == DOPPEL_KIND_TEXT || record->scheme == DOPPEL_SCHEME_CHROMAPRINT)
        match->false_positive_rate = -1;
    if (record->scheme == DOPPEL_SCHEME_PEAKS32)
        describe_same_sound(record, must_allocate(sizeof(struct doppel_segment)), match);
}

static bool pixels_match(const struct doppel_record *a, const struct doppel_record *b,
                         const struct doppel_match_options *options, struct doppel_match *match)
{
    struct doppel_image_features features_a, features_b;
    struct doppel_image_verdict verdict = verdict_of(match);
    if (!features_of_record(a, &features_a) || !features_of_record(b, &features_b))
        return false;
    bool same = doppel_image_check_pixels(&features_a, &features_b, &options->image, &verdict);
    doppel_match_from_pixels(&verdict, same, match);
    return same;
}

static bool pictures_match(const struct settings *settings, const struct doppel_record *a,
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

static bool records_match(const struct settings *settings, const struct doppel_record *a,
                          const struct doppel_record *b, struct doppel_match *match)
{
    if (same_bytes(a, b)) {
        exact_match(a, match);
        return true;
    }
    return (a->kind == DOPPEL_KIND_TEXT          ? text_files_match
            : a->scheme == DOPPEL_SCHEME_PEAKS32 ? sounds_match
            : a->kind == DOPPEL_KIND_AUDIO       ? chromaprints_match
                                                 : pictures_match)(settings, a, b, match);
}

/* Why near codes may be no match: a picture without structure is like every other such, and so is a
 * text of few words. NULL: nothing stands against it. */
static const char *obstacle_of(const struct settings *settings, const struct doppel_record *record)
{
    struct text_view view;
    bool too_short = false, silent = false;
    if (record->kind == DOPPEL_KIND_IMAGE)
        return record->quality < DOPPEL_IMAGE_MIN_QUALITY ? "has too little structure to be told by"
                                                          : NULL;
    if (record->scheme == DOPPEL_SCHEME_PEAKS32)
        return sound_is_blank(record) ? "has " SOUND_IS_BLANK : NULL;
    if (text_view_read(record, settings, &view)) {
        too_short = view.too_short;
        silent = view.extra.words == 0;
        text_view_free(&view);
    }
    return silent      ? "has no words"
           : too_short ? "is too short to be told by anything but the same words"
                       : NULL;
}

static void put_reason(json_t *row, const struct settings *settings,
                       const struct intake_file files[2])
{
    char reason[128];
    for (int i = 0; i < 2; i++) {
        const char *obstacle = obstacle_of(settings, &files[i].record);
        if (!obstacle)
            continue;
        snprintf(reason, sizeof reason, "%c %s", 'a' + i, obstacle);
        put_text(row, "reason", reason);
        return;
    }
}

/* What came of it. */
struct comparison {
    bool matches;
    struct doppel_match match; /* segments are given (free) */
};

static void fill_row(json_t *row, const struct settings *settings,
                     const struct intake_file files[2], struct comparison *out)
{
    struct doppel_match *match = &out->match;
    out->matches = records_match(settings, &files[0].record, &files[1].record, match);
    put_bool(row, "match", out->matches);
    put_value(row, "limit", limit_json(settings, files[0].record.scheme));
    put_match(row, match);
    if (!out->matches) { /* they stand in no relation, and nothing is verified */
        json_object_del(row, "relation");
        if (match->kind != DOPPEL_KIND_TEXT) /* there it says how the similarity was found */
            json_object_del(row, "verified");
        json_object_del(row, "transform");
        put_reason(row, settings, files);
    }
}

static bool print_comparison(const struct settings *settings, struct report *report,
                             const struct intake_file files[2], struct comparison *out)
{
    enum doppel_kind a = files[0].record.kind, b = files[1].record.kind;
    struct output *output = output_new(settings, &layout, report);
    struct place_rows rows;
    json_t *row = json_object();
    char reason[64];
    put_path(row, "a", files[0].path);
    put_path(row, "b", files[1].path);
    if (a == b) {
        fill_row(row, settings, files, out);
    } else {
        snprintf(reason, sizeof reason, "a is of kind %s, b of kind %s", doppel_kind_name(a),
                 doppel_kind_name(b));
        put_bool(row, "match", false);
        put_text(row, "reason", reason);
    }
    place_rows_begin(&rows, settings, output);
    place_rows_add(&rows, row);
    place_rows_end(&rows);
    return output_finish(output);
}

static enum doppel_status draw(const struct settings *settings, const struct intake_file files[2],
                               const struct doppel_match *match, struct doppel_error *error)
{
    struct sound_chart chart = {.names = {files[0].path, files[1].path}, .match = match};
    if (!settings->chart)
        return DOPPEL_OK;
    bool sounds = sound_read(&files[0].record, &chart.tracks[0]) &&
                  sound_read(&files[1].record, &chart.tracks[1]);
    enum doppel_status status =
        sounds ? sound_chart_write(settings->chart, &chart, error)
               : doppel_fail(error, DOPPEL_E_ARGUMENT, "'--chart' draws two sounds");
    doppel_audio_track_free(&chart.tracks[0]);
    doppel_audio_track_free(&chart.tracks[1]);
    return status;
}

/* Both files, or fewer: then what is wrong with the others has been said. */
static enum doppel_status read_both(const struct intake_options *options,
                                    struct intake_file files[2], size_t *out_count,
                                    struct doppel_error *error)
{
    struct intake *intake;
    enum doppel_status status = intake_new(options, &intake, error);
    if (status)
        return status;
    while (*out_count < 2 && (status = intake_next(intake, &files[*out_count], error)) == DOPPEL_OK)
        ++*out_count;
    intake_free(intake);
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

/* Folders are walked by other verbs; here they are no files. */
static bool has_folder(const struct settings *settings, struct report *report)
{
    struct stat status;
    bool has = false;
    for (size_t i = 0; i < settings->operands.count; i++) {
        const char *path = settings->operands.items[i];
        if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
            continue;
        report_input(report, path, "a folder; compare wants two files");
        has = true;
    }
    return has;
}

static int compare(const struct settings *settings, struct report *report,
                   struct doppel_cache *cache)
{
    struct doppel_error error;
    struct walk_options walk = walk_options_from(settings);
    walk.every_name = walk.stdin_operand = true;
    struct intake_options options = {.settings = settings,
                                     .report = report,
                                     .walk = &walk,
                                     .cache = cache,
                                     .attachments = settings->check == CHECK_PIXELS,
                                     .places = true};
    struct intake_file files[2] = {0};
    size_t count = 0;
    struct comparison comparison = {.match.false_positive_rate = -1};
    bool printed = true;
    enum doppel_status status = read_both(&options, files, &count, &error);
    if (status == DOPPEL_OK && count == 2) {
        printed = print_comparison(settings, report, files, &comparison);
        status = draw(settings, files, &comparison.match, &error);
    }
    free((void *)comparison.match.segments);
    for (size_t i = 0; i < count; i++)
        intake_file_free(&files[i]);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    if (!printed)
        return EXIT_WRONG_USE;
    return comparison.matches ? EXIT_DONE : EXIT_NO_MATCH;
}

int cmd_compare(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_cache *cache;
    if (has_folder(settings, report))
        return EXIT_NO_MATCH;
    if (open_cache(settings, report, &cache, &error))
        return report_fatal(report, "%s", error.message);
    int code = compare(settings, report, cache);
    doppel_cache_close(cache);
    return code;
}
