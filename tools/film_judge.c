/* Films as the verbs judge them. */
#include "tools/film_judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/output.h"
#include "tools/sound_judge.h"

/* ---- from records ---- */

bool is_film(const struct doppel_record *record)
{
    return record->scheme == DOPPEL_SCHEME_FRAMES64;
}

bool film_read(const struct doppel_record *record, enum doppel_video_parts parts,
               struct doppel_video_track *out)
{
    return is_film(record) && record->attachment &&
           doppel_video_track_read(record->attachment, record->attachment_size, parts, out, NULL) ==
               DOPPEL_OK;
}

bool film_read_sound(const struct doppel_video_track *film, struct doppel_audio_track *out)
{
    return film->sound &&
           doppel_audio_track_read(film->sound, film->sound_size, out, NULL) == DOPPEL_OK;
}

bool film_is_blank(const struct doppel_record *record)
{
    struct doppel_video_track film;
    if (!film_read(record, DOPPEL_VIDEO_CODES, &film))
        return false;
    bool blank = !film.count && !film.sound;
    doppel_video_track_free(&film);
    return blank;
}

bool record_read_sound(const struct doppel_record *record, struct doppel_audio_track *out)
{
    struct doppel_video_track film;
    if (!is_film(record))
        return sound_read(record, out);
    if (!film_read(record, DOPPEL_VIDEO_CODES, &film))
        return false;
    bool good = film_read_sound(&film, out);
    doppel_video_track_free(&film);
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

void film_match_free(struct film_match *match)
{
    free((void *)match->by_picture.segments);
    free((void *)match->by_sound.segments);
    *match = (struct film_match){0};
}

const struct doppel_match *film_match_main(const struct film_match *match)
{
    bool by_picture = match->picture || (match->pictures_compared && !match->sound);
    return by_picture ? &match->by_picture : &match->by_sound;
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

static void compare_films(const struct settings *settings, const struct doppel_record *a,
                          const struct doppel_record *b, struct film_match *out)
{
    struct doppel_video_search search = video_search_from(settings);
    struct doppel_video_track query = {0}, item = {0};
    if (film_read(a, DOPPEL_VIDEO_ALL, &query) && film_read(b, DOPPEL_VIDEO_ALL, &item))
        out->pictures_compared =
            doppel_match_videos(&query, &item, &search, &out->by_picture, NULL) == DOPPEL_OK;
    doppel_video_track_free(&query);
    doppel_video_track_free(&item);
}

static void compare_picture(const struct settings *settings, const struct doppel_record *picture,
                            const struct doppel_record *film, struct film_match *out)
{
    struct doppel_video_search search = video_search_from(settings);
    struct doppel_match_item query = {&picture->fingerprint, picture->quality};
    struct doppel_video_track item;
    if (picture->scheme != DOPPEL_SCHEME_PHASH64 || !film_read(film, DOPPEL_VIDEO_CODES, &item))
        return;
    out->pictures_compared =
        doppel_match_picture_in_video(&query, &item, &search, &out->by_picture, NULL) == DOPPEL_OK;
    doppel_video_track_free(&item);
}

static void compare_sounds(const struct settings *settings, const struct doppel_record *a,
                           const struct doppel_record *b, struct film_match *out)
{
    struct doppel_audio_track query = {0}, item = {0};
    struct doppel_sound_options options = sound_options_from(settings);
    if (record_read_sound(a, &query) && record_read_sound(b, &item)) {
        struct doppel_sound left = sound_of(&query), right = sound_of(&item);
        out->sounds_compared =
            doppel_match_sounds(&left, &right, &options, &out->by_sound, NULL) == DOPPEL_OK;
    }
    out->by_sound.kind = DOPPEL_KIND_VIDEO;
    doppel_audio_track_free(&query);
    doppel_audio_track_free(&item);
}

bool films_match(const struct settings *settings, const struct doppel_record *a,
                 const struct doppel_record *b, struct film_match *out)
{
    *out = (struct film_match){.by_picture.false_positive_rate = -1,
                               .by_sound.false_positive_rate = -1};
    if (is_film(a) && is_film(b))
        compare_films(settings, a, b, out);
    else if (a->kind == DOPPEL_KIND_IMAGE)
        compare_picture(settings, a, b, out);
    else if (b->kind == DOPPEL_KIND_IMAGE) {
        compare_picture(settings, b, a, out);
        turn_match(&out->by_picture);
    }
    compare_sounds(settings, a, b, out);
    out->picture = out->pictures_compared && is_within(settings, &out->by_picture);
    out->sound = out->sounds_compared && is_within(settings, &out->by_sound);
    return out->picture || out->sound;
}

void describe_same_film(const struct doppel_record *record, struct film_match *out)
{
    struct doppel_video_track film = {0};
    struct doppel_segment *segment = must_allocate(sizeof *segment);
    (void)film_read(record, DOPPEL_VIDEO_CODES, &film);
    double seconds = (double)film.duration_ms / 1000;
    *segment = (struct doppel_segment){0, seconds, 0, seconds, 1};
    *out = (struct film_match){
        .pictures_compared = true,
        .picture = true,
        .sound = film.sound,
        .by_picture = {.kind = DOPPEL_KIND_VIDEO,
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
    doppel_video_track_free(&film);
}

/* ---- in words ---- */

static json_t *sound_json(const struct film_match *match)
{
    static const char *const wanted[] = {"score", "false_positive_rate", "query_coverage",
                                         "item_coverage", "segments"};
    json_t *sound = json_object(), *all = json_object();
    put_bool(sound, "match", match->sound);
    put_match(all, &match->by_sound);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        json_t *value = json_object_get(all, wanted[i]);
        if (value)
            json_object_set(sound, wanted[i], value);
    }
    json_decref(all);
    return sound;
}

void put_film_match(json_t *row, const struct film_match *match)
{
    if (match->picture || match->sound)
        put_text(row, "evidence",
                 match->picture && match->sound ? "picture and sound"
                 : match->picture               ? "picture"
                                                : "sound");
    if (match->sounds_compared)
        put_value(row, "sound", sound_json(match));
    if (match->pictures_compared && !match->picture && match->sound) {
        json_t *picture = json_object();
        put_bool(picture, "match", false);
        put_value(row, "picture", picture);
    }
}

void put_evidence_in_words(json_t *row)
{
    const char *evidence = json_string_value(json_object_get(row, "evidence"));
    char words[80];
    if (!evidence)
        return;
    bool uncertain = json_is_true(json_object_get(row, "time_uncertain"));
    bool other_sound = json_is_false(json_object_get(json_object_get(row, "sound"), "match"));
    bool other_picture = json_object_get(row, "picture");
    bool same = uncertain || other_sound || other_picture;
    snprintf(words, sizeof words, "%s%s%s%s", same ? "same " : "", evidence,
             uncertain ? ", time uncertain" : "",
             other_sound     ? ", other sound"
             : other_picture ? ", other picture"
                             : "");
    put_text(row, "evidence", words);
}
