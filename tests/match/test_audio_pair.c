/* Two recordings compared, and a recording with itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "match/heard.h"
#include "match/images.h"

static struct doppel_match compare(const struct doppel_audio_track *a,
                                   const struct doppel_audio_track *b)
{
    struct doppel_recording one = audio_of_track(a), other = audio_of_track(b);
    struct doppel_audio_options options = doppel_audio_options_default();
    options.max_false_positives = 1e-6; /* of made music, which is more alike than other music */
    struct doppel_match match;
    assert_int_equal(doppel_match_recordings(&one, &other, &options, &match, NULL), DOPPEL_OK);
    return match;
}

static struct doppel_match compare_audio(const struct recording *a, const struct recording *b)
{
    struct doppel_audio_track one = audio_track(a), other = audio_track(b);
    struct doppel_match match = compare(&one, &other);
    doppel_audio_track_free(&one);
    doppel_audio_track_free(&other);
    return match;
}

static void free_match(struct doppel_match *match)
{
    free((void *)(uintptr_t)match->segments);
}

static void assert_swapped(const struct doppel_match *a, const struct doppel_match *b)
{
    assert_int_equal(a->segment_count, b->segment_count);
    assert_true(a->query_coverage == b->item_coverage && a->item_coverage == b->query_coverage);
    assert_true(a->score == b->score && a->similarity == b->similarity);
    for (size_t i = 0; i < a->segment_count; i++) {
        bool found = false;
        for (size_t k = 0; k < b->segment_count; k++)
            found |= a->segments[i].a_start == b->segments[k].b_start &&
                     a->segments[i].b_end == b->segments[k].a_end;
        assert_true(found);
    }
}

static void test_roles_may_be_swapped(void **state)
{
    (void)state;
    struct recording whole = audio_music(60, 1), part = audio_cut(&whole, 10, 20);
    struct recording both = audio_speech(50, 2);
    audio_paste(&both, 15, &part);
    const struct recording *recordings[] = {&whole, &part, &both};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < i; k++) {
            struct doppel_match a = compare_audio(recordings[i], recordings[k]);
            struct doppel_match b = compare_audio(recordings[k], recordings[i]);
            assert_int_equal(a.segment_count, 1);
            assert_swapped(&a, &b);
            free_match(&a);
            free_match(&b);
        }
    free(whole.samples);
    free(part.samples);
    free(both.samples);
}

static void test_relations(void **state)
{
    (void)state;
    struct recording whole = audio_music(60, 1), part = audio_cut(&whole, 10, 20);
    struct doppel_match match = compare_audio(&part, &whole);
    assert_int_equal(match.relation, DOPPEL_RELATION_CONTAINED);
    free_match(&match);
    match = compare_audio(&whole, &part);
    assert_int_equal(match.relation, DOPPEL_RELATION_CONTAINS);
    free_match(&match);
    struct recording noisy = audio_cut(&whole, 0, 60);
    audio_add_noise(&noisy, 10, 4);
    match = compare_audio(&noisy, &whole);
    assert_int_equal(match.relation, DOPPEL_RELATION_SAME);
    assert_true(match.false_positive_rate < 1e-20 && match.similarity < 1);
    free_match(&match);
    struct recording end = audio_cut(&whole, 30, 60);
    match = compare_audio(&end, &whole);
    assert_int_equal(match.relation, DOPPEL_RELATION_OVERLAPS);
    free_match(&match);
    free(whole.samples);
    free(part.samples);
    free(noisy.samples);
    free(end.samples);
}

static void test_equal_peaks_are_the_same(void **state)
{
    (void)state;
    uint64_t seed = 9;
    for (size_t count = 4; count < 40; count += 3) {
        struct doppel_audio_peak peaks[40];
        for (size_t i = 0; i < count; i++)
            peaks[i] = (struct doppel_audio_peak){(uint32_t)(10 * i + random_word(&seed) % 10),
                                                  (uint16_t)random_word(&seed), i % 2, false};
        struct doppel_audio_track track = {.peaks = peaks, .count = count, .duration_ms = 900};
        struct doppel_match match = compare(&track, &track);
        assert_int_equal(match.relation, DOPPEL_RELATION_SAME);
        assert_true(match.similarity == 1 && match.query_coverage == 1 && match.item_coverage == 1);
        assert_int_equal(match.segment_count, 1);
        free_match(&match);
    }
}

static void test_unlike_audio_do_not_match(void **state)
{
    (void)state;
    struct recording recordings[] = {audio_silence(10),  audio_silence(10),   audio_music(20, 1),
                                     audio_music(20, 2), audio_tone(10, 440), audio_tone(12, 440)};
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < i; k++) {
            struct doppel_match match = compare_audio(&recordings[i], &recordings[k]);
            assert_int_equal(match.segment_count, 0);
            assert_null(match.segments);
            assert_true(match.query_coverage < 1);
        }
    for (size_t i = 0; i < 6; i++)
        free(recordings[i].samples);
}

/* ---- rates ---- */

/* Made music of one key is too much alike: voices, and noise that comes and goes. */
static struct recording unrelated_clip(double seconds, uint64_t number)
{
    if (number % 3)
        return audio_voice(seconds, 2 * number, 2 * number + 1);
    struct recording clip = audio_noise(seconds, number), voice = audio_voice(seconds, number, 1);
    for (size_t i = 0; i < clip.count && i < voice.count; i++)
        clip.samples[i] *= voice.samples[i];
    free(voice.samples);
    return clip;
}

/* Of pairs of short clips that have nothing to do with each other no more are within a rate than
 * it says, but for three standard deviations. */
static void test_rates_of_pairs_are_true(void **state)
{
    (void)state;
    enum { PAIRS = 60 };
    static const double lengths[] = {1, 2, 3, 5}, rates[] = {0.1, 0.03, 0.01, 0.001};
    size_t within[4] = {0}, all = 0;
    for (uint64_t i = 0; i < PAIRS; i++)
        for (size_t length = 0; length < 4; length++, all++) {
            struct recording a = unrelated_clip(lengths[length], 1000 * i + length * 2 + 10);
            struct recording b = unrelated_clip(lengths[length], 1000 * i + length * 2 + 511);
            struct doppel_match match = compare_audio(&a, &b);
            for (int rate = 0; rate < 4 && match.false_positive_rate >= 0; rate++)
                within[rate] += match.false_positive_rate <= rates[rate];
            free_match(&match);
            free(a.samples);
            free(b.samples);
        }
    for (int rate = 0; rate < 4; rate++) {
        double expected = rates[rate] * (double)all;
        assert_true((double)within[rate] <= expected + 3 * sqrt(expected));
    }
}

/* ---- repeats ---- */

static struct doppel_segment *repeats_of(const struct recording *recording, size_t *count)
{
    struct doppel_audio_track track = audio_track(recording);
    struct doppel_recording given = audio_of_track(&track);
    struct doppel_audio_options options = doppel_audio_options_default();
    struct doppel_segment *out = NULL;
    assert_int_equal(doppel_match_repeats(&given, &options, &out, count, NULL), DOPPEL_OK);
    doppel_audio_track_free(&track);
    return out;
}

static void test_passages_recur(void **state)
{
    (void)state;
    static const double places[] = {7, 31.3, 70.7};
    struct recording recording = audio_speech(100, 1), jingle = audio_music(4, 2);
    for (int i = 0; i < 3; i++)
        audio_paste(&recording, places[i], &jingle);
    size_t count;
    struct doppel_segment *repeats = repeats_of(&recording, &count);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_near(repeats[i].a_start, places[i], 0.2);
        assert_near(repeats[i].a_end, places[i] + 4, 0.2);
        assert_near(repeats[i].b_start, places[i + 1], 0.2);
        assert_near(repeats[i].b_end, places[i + 1] + 4, 0.2);
    }
    free(repeats);
    free(jingle.samples);
    free(recording.samples);
}

static void test_loops_give_as_many_segments_as_periods(void **state)
{
    (void)state;
    struct recording recording = audio_silence(120), loop = audio_music(6, 5);
    for (int i = 0; i < 20; i++)
        audio_paste(&recording, 6 * i, &loop);
    size_t count;
    struct doppel_segment *repeats = repeats_of(&recording, &count);
    assert_in_range(count, 19, 20);
    for (size_t i = 0; i < count; i++) {
        assert_true(repeats[i].a_end <= repeats[i].b_start + 1e-6);
        assert_near(repeats[i].b_start - repeats[i].a_start, 6, 0.01);
    }
    free(repeats);
    free(loop.samples);
    free(recording.samples);
}

static void test_nothing_recurs(void **state)
{
    (void)state;
    struct recording recordings[] = {audio_silence(20), audio_tone(60, 440), audio_speech(60, 3),
                                     audio_music(60, 4), audio_noise(30, 5)};
    for (size_t i = 0; i < 5; i++) {
        size_t count = 1;
        free(repeats_of(&recordings[i], &count));
        assert_int_equal(count, 0);
        free(recordings[i].samples);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roles_may_be_swapped),
        cmocka_unit_test(test_relations),
        cmocka_unit_test(test_equal_peaks_are_the_same),
        cmocka_unit_test(test_unlike_audio_do_not_match),
        cmocka_unit_test(test_rates_of_pairs_are_true),
        cmocka_unit_test(test_passages_recur),
        cmocka_unit_test(test_loops_give_as_many_segments_as_periods),
        cmocka_unit_test(test_nothing_recurs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
