/* A match, and what matched of a video, as JSON. */
#include <doppel/compare.h>

#include <stdio.h>

static double usual_as_1(double factor)
{
    return factor > 0 ? factor : 1;
}

static void put_transform(struct doppel_json *json, const struct doppel_match *match)
{
    bool audio = match->scheme == DOPPEL_SCHEME_PEAKS32 || match->kind == DOPPEL_KIND_AUDIO;
    bool has_speed = match->segment_count && (audio || match->scheme == DOPPEL_SCHEME_FRAMES64);
    if (!match->transform.mirrored && !match->transform.rotated && !match->transform.cropped &&
        !match->transform.trimmed && !has_speed)
        return;
    doppel_json_object_begin(json, "transform");
    if (match->transform.mirrored)
        doppel_json_boolean(json, "mirrored", true);
    if (match->transform.rotated)
        doppel_json_integer(json, "rotated", match->transform.rotated);
    if (match->transform.cropped)
        doppel_json_boolean(json, "cropped", true);
    if (match->transform.trimmed)
        doppel_json_boolean(json, "trimmed", true);
    if (has_speed)
        doppel_json_number(json, "speed", usual_as_1(match->transform.speed), 4);
    if (has_speed && audio)
        doppel_json_number(json, "pitch", usual_as_1(match->transform.pitch), 4);
    doppel_json_object_end(json);
}

/* Of texts in characters, which are whole; else in seconds. */
static void put_place(struct doppel_json *json, const char *key, enum doppel_kind kind,
                      double place)
{
    if (kind == DOPPEL_KIND_TEXT)
        doppel_json_integer(json, key, (uint64_t)place);
    else
        doppel_json_number(json, key, place, 3);
}

/* The first and the last. */
static void put_pages(struct doppel_json *json, const char *key, const uint32_t pages[2])
{
    if (!pages[0])
        return;
    doppel_json_array_begin(json, key);
    doppel_json_integer(json, NULL, pages[0]);
    doppel_json_integer(json, NULL, pages[1]);
    doppel_json_array_end(json);
}

static void put_segment(struct doppel_json *json, enum doppel_kind kind,
                        const struct doppel_segment *segment)
{
    doppel_json_object_begin(json, NULL);
    bool drawn = !segment->a_end && segment->a_pages[0]; /* pages without text */
    if (!drawn) {
        put_place(json, "a_start", kind, segment->a_start);
        put_place(json, "a_end", kind, segment->a_end);
        put_place(json, "b_start", kind, segment->b_start);
        put_place(json, "b_end", kind, segment->b_end);
    }
    if (kind != DOPPEL_KIND_TEXT)
        doppel_json_number(json, "speed", segment->speed, 4);
    put_pages(json, "a_pages", segment->a_pages);
    put_pages(json, "b_pages", segment->b_pages);
    if (segment->repeat)
        doppel_json_boolean(json, "repeat", true);
    doppel_json_object_end(json);
}

static void put_segments(struct doppel_json *json, const struct doppel_match *match)
{
    if (!match->segment_count)
        return;
    doppel_json_array_begin(json, "segments");
    for (size_t i = 0; i < match->segment_count; i++)
        put_segment(json, match->kind, &match->segments[i]);
    doppel_json_array_end(json);
}

static void put_picture_place(struct doppel_json *json, const char *key,
                              const struct doppel_place *place)
{
    doppel_json_object_begin(json, key);
    doppel_json_number(json, "left", place->left, 4);
    doppel_json_number(json, "top", place->top, 4);
    doppel_json_number(json, "right", place->right, 4);
    doppel_json_number(json, "bottom", place->bottom, 4);
    doppel_json_number(json, "angle", place->angle, 1);
    doppel_json_object_end(json);
}

static void put_picture_places(struct doppel_json *json, const struct doppel_match *match)
{
    if (!match->has_places)
        return;
    doppel_json_object_begin(json, "where");
    put_picture_place(json, "query", &match->query_place);
    put_picture_place(json, "item", &match->item_place);
    doppel_json_object_end(json);
}

static void put_chance(struct doppel_json *json, const struct doppel_match *match)
{
    if (match->false_positive_rate > 0)
        doppel_json_number(json, "score", match->score, 2);
    if (match->false_positive_rate >= 0) /* below: not known, as of codes verified by distance */
        doppel_json_rate(json, "false_positive_rate", match->false_positive_rate);
}

static void put_coverage(struct doppel_json *json, const struct doppel_match *match)
{
    if (!match->has_coverage)
        return;
    doppel_json_number(json, "query_coverage", match->query_coverage, 4);
    doppel_json_number(json, "item_coverage", match->item_coverage, 4);
}

static void put_places(struct doppel_json *json, const struct doppel_match *match)
{
    put_coverage(json, match);
    put_picture_places(json, match);
    if (match->time_uncertain)
        doppel_json_boolean(json, "time_uncertain", true);
    put_segments(json, match);
}

static void put_rest(struct doppel_json *json, const struct doppel_match *match)
{
    doppel_json_text(json, "verified", doppel_verified_name(match->verified));
    put_places(json, match);
    put_transform(json, match);
}

/* @param relation NULL: none */
static void put_distance(struct doppel_json *json, const struct doppel_match *match,
                         const char *relation)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(match->scheme);
    if (match->kind)
        doppel_json_text(json, "kind", doppel_kind_name(match->kind));
    doppel_json_text(json, "scheme", scheme ? scheme->name : NULL);
    doppel_json_text(json, "relation", relation);
    if (match->bits) { /* of passages there is none */
        doppel_json_integer(json, "distance", match->distance);
        doppel_json_integer(json, "bits", match->bits);
    }
    doppel_json_number(json, "similarity", match->similarity, 4);
    put_chance(json, match);
}

void doppel_match_to_json(struct doppel_json *json, const struct doppel_match *match)
{
    put_distance(json, match, doppel_relation_name(match->relation));
    put_rest(json, match);
}

/* What does not match stands in no relation. */
static void put_no_match(struct doppel_json *json, const struct doppel_match *match)
{
    put_distance(json, match, NULL);
    if (match->kind == DOPPEL_KIND_TEXT) /* there it says how the similarity was found */
        doppel_json_text(json, "verified", doppel_verified_name(match->verified));
    put_places(json, match);
}

void doppel_comparison_to_json(struct doppel_json *json, const struct doppel_comparison *comparison)
{
    if (comparison->matches)
        doppel_match_to_json(json, &comparison->match);
    else
        put_no_match(json, &comparison->match);
    doppel_evidence_to_json(json, comparison);
}

void doppel_match_detail_to_json(struct doppel_json *json, const struct doppel_match *match)
{
    doppel_json_text(json, "relation", doppel_relation_name(match->relation));
    put_rest(json, match);
}

void doppel_evidence_to_json(struct doppel_json *json, const struct doppel_comparison *comparison)
{
    static const char *const names[] = {NULL, "picture", "sound", "picture and sound"};
    bool image = comparison->evidence & DOPPEL_EVIDENCE_IMAGE,
         audio = comparison->evidence & DOPPEL_EVIDENCE_AUDIO;
    if (!comparison->of_video)
        return;
    doppel_json_text(json, "evidence", names[comparison->evidence]);
    if (comparison->compared & DOPPEL_EVIDENCE_AUDIO) {
        doppel_json_object_begin(json, "sound");
        doppel_json_boolean(json, "match", audio);
        put_chance(json, &comparison->by_audio);
        put_coverage(json, &comparison->by_audio);
        put_segments(json, &comparison->by_audio);
        doppel_json_object_end(json);
    }
    if (comparison->compared & DOPPEL_EVIDENCE_IMAGE && !image && audio) {
        doppel_json_object_begin(json, "picture");
        doppel_json_boolean(json, "match", false);
        doppel_json_object_end(json);
    }
}

/* ---- what was to be compared ---- */

/* The threshold that decided, in the unit in which it was, or could have been, given. */
static void put_thresholds(struct doppel_json *json, const struct doppel_thresholds *thresholds)
{
    doppel_json_object_begin(json, "limit");
    if (thresholds->min_words >= 0)
        doppel_json_signed(json, "min_words", thresholds->min_words);
    if (thresholds->max_distance >= 0)
        doppel_json_signed(json, "max_distance", thresholds->max_distance);
    if (thresholds->min_similarity >= 0)
        doppel_json_number(json, "min_similarity", thresholds->min_similarity, 4);
    if (thresholds->max_false_positive_rate >= 0)
        doppel_json_rate(json, "max_false_positive_rate", thresholds->max_false_positive_rate);
    doppel_json_object_end(json);
}

/* What two texts were read as, where it is not both plain text: one page read as text, and one as
 * HTML, have hardly anything in common. */
static void put_readings(struct doppel_json *json, const struct doppel_record *a,
                         const struct doppel_record *b)
{
    struct doppel_text_extra extras[2];
    const char *names[2];
    if (!doppel_text_attachment_head(a->attachment, a->attachment_size, &extras[0]) ||
        !doppel_text_attachment_head(b->attachment, b->attachment_size, &extras[1]) ||
        (extras[0].reading == DOPPEL_TEXT_PLAIN && extras[1].reading == DOPPEL_TEXT_PLAIN))
        return;
    for (int i = 0; i < 2; i++)
        names[i] = extras[i].reading == DOPPEL_TEXT_AUTO
                       ? "unknown"
                       : doppel_text_format_name(extras[i].reading);
    doppel_json_text(json, "a_reading", names[0]);
    doppel_json_text(json, "b_reading", names[1]);
}

/* @return whether there is one */
static bool put_obstacle(struct doppel_json *json, char which, const struct doppel_record *record,
                         const struct doppel_compare_options *options)
{
    const char *obstacle = doppel_compare_obstacle(record, options);
    char reason[128];
    if (!obstacle)
        return false;
    snprintf(reason, sizeof reason, "%c %s", which, obstacle);
    doppel_json_text(json, "reason", reason);
    return true;
}

static void put_kinds(struct doppel_json *json, const struct doppel_record *a,
                      const struct doppel_record *b)
{
    char reason[64];
    snprintf(reason, sizeof reason, "a is of kind %s, b of kind %s", doppel_kind_name(a->kind),
             doppel_kind_name(b->kind));
    doppel_json_boolean(json, "match", false);
    doppel_json_text(json, "reason", reason);
}

void doppel_compare_result_to_json(struct doppel_json *json, const struct doppel_record *a,
                                   const struct doppel_record *b,
                                   const struct doppel_compare_options *options,
                                   const struct doppel_comparison *comparison)
{
    const struct doppel_compare_options usual = doppel_compare_options_default();
    if (!comparison) {
        put_kinds(json, a, b);
        return;
    }
    if (!options)
        options = &usual;
    doppel_json_boolean(json, "match", comparison->matches);
    if (comparison->match.scheme) {
        struct doppel_thresholds thresholds =
            doppel_compare_thresholds(options, comparison->match.scheme);
        put_thresholds(json, &thresholds);
    }
    doppel_comparison_to_json(json, comparison);
    if (!comparison->matches && !put_obstacle(json, 'a', a, options))
        put_obstacle(json, 'b', b, options);
    if (a->kind == DOPPEL_KIND_TEXT && b->kind == DOPPEL_KIND_TEXT)
        put_readings(json, a, b);
}
