/* Recordings that share a loop or a sample, and those that are the same one for a while. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "match/audio/describe.h"
#include "match/heard.h"

enum { MOST_SEGMENTS = 3 };

static const double QUERY = 100, ITEM = 200;

/* A match of a recording of QUERY seconds with one of ITEM. */
struct relation_case {
    const char *name;
    double similarity;
    struct {
        double a, b, length;
    } segments[MOST_SEGMENTS];
    bool shared;
};

static const struct relation_case cases[] = {
    {"a sample in the middle of both", .3, {{20, 70, 10}}, true},
    {"the same with all of its peaks", .5, {{20, 70, 10}}, false},
    {"a loop, at several places", .1, {{20, 70, 10}, {20, 90, 10}, {60, 90, 10}}, true},
    {"a loop the item begins with", .3, {{20, 0, 10}}, true},
    {"a loop the query ends with", .3, {{90, 70, 10}}, true},
    {"the end of one begins the other", .3, {{80, 0, 20}}, false},
    {"the other way round", .3, {{0, 190, 10}}, false},
    {"with a gap, on one line", .3, {{60, 1.5, 10}, {88, 29.8, 11}}, false},
    {"half of the shorter one", .3, {{20, 70, 50}}, false},
    {"in parts on one line", .3, {{20, 70, 30}, {55, 105, 25}}, false},
    {"in parts on two lines", .3, {{20, 70, 30}, {55, 130, 25}}, true},
};

static struct doppel_match match_of(const struct relation_case *at,
                                    struct doppel_segment out[MOST_SEGMENTS])
{
    size_t count = 0;
    for (; count < MOST_SEGMENTS && at->segments[count].length > 0; count++) {
        double a = at->segments[count].a, b = at->segments[count].b;
        double length = at->segments[count].length;
        out[count] = (struct doppel_segment){
            .a_start = a, .a_end = a + length, .b_start = b, .b_end = b + length, .speed = 1};
    }
    return (struct doppel_match){.relation = DOPPEL_RELATION_OVERLAPS,
                                 .similarity = at->similarity,
                                 .has_coverage = true,
                                 .segments = out,
                                 .segment_count = count};
}

static void test_what_is_shared(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct doppel_segment segments[MOST_SEGMENTS];
        struct doppel_match match = match_of(&cases[i], segments);
        if (match_is_shared(&match, QUERY, ITEM) != cases[i].shared)
            fail_msg("%s", cases[i].name);
        match.relation = DOPPEL_RELATION_CONTAINED;
        assert_false(match_is_shared(&match, QUERY, ITEM));
        match.relation = DOPPEL_RELATION_OVERLAPS;
        match.has_coverage = false; /* nobody knows how long they are */
        assert_false(match_is_shared(&match, QUERY, ITEM));
        match.has_coverage = true;
        match.segment_count = 0;
        assert_false(match_is_shared(&match, QUERY, ITEM));
    }
}

/* A better one has the query's seconds 10 to 30. */
static void test_better_ones_explain(void **state)
{
    (void)state;
    static const struct {
        double better, similarity, start, end;
        enum doppel_relation relation;
        bool explained;
    } given[] = {
        {.9, .4, 12, 28, DOPPEL_RELATION_CONTAINED, true},
        {.9, .4, 12, 28, DOPPEL_RELATION_SAME, true},
        {.9, .4, 12, 28, DOPPEL_RELATION_OVERLAPS, true},
        {.9, .4, 12, 28, DOPPEL_RELATION_CONTAINS, false},  /* it is all there: a loop by itself */
        {.9, .5, 12, 28, DOPPEL_RELATION_CONTAINED, false}, /* an encoding */
        {.7, .4, 12, 28, DOPPEL_RELATION_CONTAINED, false}, /* not much better */
        {.9, .4, 12, 40, DOPPEL_RELATION_CONTAINED, false}, /* elsewhere, too */
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        struct doppel_segment segment = {
            .a_start = 10, .a_end = 30, .b_start = 50, .b_end = 70, .speed = 1};
        struct doppel_match match = {
            .similarity = given[i].better, .segments = &segment, .segment_count = 1};
        matched_array better = {0};
        assert_true(matched_note(&better, &match));
        segment.a_start = given[i].start;
        segment.a_end = given[i].end;
        match.similarity = given[i].similarity;
        match.relation = given[i].relation;
        assert_int_equal(matched_explain(&better, &match), given[i].explained);
        better.count = 0;
        assert_false(matched_explain(&better, &match));
        array_free(&better);
    }
}

/* ---- on made audio ---- */

static const float GAIN = 0.8f;

/* Music of a minute, over which a sample lies from `start` on. */
static struct recording music_with(uint64_t seed, const struct recording *sample, double start)
{
    struct recording music = audio_music(60, seed);
    size_t first = (size_t)(start * DOPPEL_AUDIO_RATE);
    for (size_t i = 0; i < sample->count; i++)
        music.samples[first + i] += GAIN * sample->samples[i];
    return music;
}

static struct doppel_match compared(const struct recording *query, const struct recording *item)
{
    struct doppel_audio_track a = audio_track(query), b = audio_track(item);
    struct doppel_recording left = audio_of_track(&a), right = audio_of_track(&b);
    struct doppel_audio_options options = doppel_audio_options_default();
    struct doppel_match match;
    assert_int_equal(doppel_match_recordings(&left, &right, &options, &match, NULL), DOPPEL_OK);
    doppel_audio_track_free(&a);
    doppel_audio_track_free(&b);
    return match;
}

static void test_a_sample_in_two_pieces(void **state)
{
    (void)state;
    struct recording sample = audio_music(8, 71);
    struct recording one = music_with(72, &sample, 20), other = music_with(73, &sample, 31);
    struct doppel_match forth = compared(&one, &other), back = compared(&other, &one);
    assert_int_equal(forth.segment_count, 1);
    assert_true(forth.similarity < .5);
    assert_int_equal(forth.relation, DOPPEL_RELATION_SHARED);
    assert_int_equal(back.relation, DOPPEL_RELATION_SHARED);
    assert_near(forth.segments->a_start, 20, 1);
    assert_near(forth.segments->b_start, 31, 1);
    free((void *)forth.segments);
    free((void *)back.segments);
    free(one.samples);
    free(other.samples);
    free(sample.samples);
}

/* A clip of one of them is of that one, and shares the sample with the other. */
static void test_a_clip_is_of_one_of_them(void **state)
{
    (void)state;
    struct doppel_recordings *set = NULL;
    struct recording sample = audio_music(8, 71);
    struct recording one = music_with(72, &sample, 20), other = music_with(73, &sample, 31);
    struct recording clip = audio_cut(&one, 21, 5);
    assert_int_equal(doppel_recordings_new(&set, NULL), DOPPEL_OK);
    add_audio(set, 1, &one);
    add_audio(set, 2, &other);
    struct answers answers = find_all(set, &clip, 0);
    assert_int_equal(answers.count, 2);
    assert_int_equal(answers.items[0].found.id, 1);
    assert_int_equal(answers.items[0].found.match.relation, DOPPEL_RELATION_CONTAINED);
    assert_int_equal(answers.items[1].found.match.relation, DOPPEL_RELATION_SHARED);
    free_answers(&answers);
    doppel_recordings_free(set);
    free(clip.samples);
    free(one.samples);
    free(other.samples);
    free(sample.samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_shared),
        cmocka_unit_test(test_better_ones_explain),
        cmocka_unit_test(test_a_sample_in_two_pieces),
        cmocka_unit_test(test_a_clip_is_of_one_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
