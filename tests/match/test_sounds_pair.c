/* Two sounds compared, and a sound with itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "match/heard.h"
#include "match/pictures.h"

static struct doppel_match compare(const struct doppel_audio_track *a,
                                   const struct doppel_audio_track *b)
{
    struct doppel_sound one = sound_of_track(a), other = sound_of_track(b);
    struct doppel_sound_options options = doppel_sound_options_default();
    options.max_false_positives = 1e-6; /* of made music, which is more alike than other music */
    struct doppel_match match;
    assert_int_equal(doppel_match_sounds(&one, &other, &options, &match, NULL), DOPPEL_OK);
    return match;
}

static struct doppel_match compare_sounds(const struct sound *a, const struct sound *b)
{
    struct doppel_audio_track one = sound_track(a), other = sound_track(b);
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
    struct sound whole = sound_music(60, 1), part = sound_cut(&whole, 10, 20);
    struct sound both = sound_speech(50, 2);
    sound_paste(&both, 15, &part);
    const struct sound *sounds[] = {&whole, &part, &both};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < i; k++) {
            struct doppel_match a = compare_sounds(sounds[i], sounds[k]);
            struct doppel_match b = compare_sounds(sounds[k], sounds[i]);
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
    struct sound whole = sound_music(60, 1), part = sound_cut(&whole, 10, 20);
    struct doppel_match match = compare_sounds(&part, &whole);
    assert_int_equal(match.relation, DOPPEL_RELATION_CONTAINED);
    free_match(&match);
    match = compare_sounds(&whole, &part);
    assert_int_equal(match.relation, DOPPEL_RELATION_CONTAINS);
    free_match(&match);
    struct sound noisy = sound_cut(&whole, 0, 60);
    sound_add_noise(&noisy, 10, 4);
    match = compare_sounds(&noisy, &whole);
    assert_int_equal(match.relation, DOPPEL_RELATION_SAME);
    assert_true(match.false_positive_rate < 1e-20 && match.similarity < 1);
    free_match(&match);
    struct sound end = sound_cut(&whole, 30, 60);
    match = compare_sounds(&end, &whole);
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
                                                  (uint16_t)random_word(&seed), i % 2};
        struct doppel_audio_track track = {.peaks = peaks, .count = count, .duration_ms = 900};
        struct doppel_match match = compare(&track, &track);
        assert_int_equal(match.relation, DOPPEL_RELATION_SAME);
        assert_true(match.similarity == 1 && match.query_coverage == 1 && match.item_coverage == 1);
        assert_int_equal(match.segment_count, 1);
        free_match(&match);
    }
}

static void test_unlike_sounds_do_not_match(void **state)
{
    (void)state;
    struct sound sounds[] = {sound_silence(10),  sound_silence(10),   sound_music(20, 1),
                             sound_music(20, 2), sound_tone(10, 440), sound_tone(12, 440)};
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < i; k++) {
            struct doppel_match match = compare_sounds(&sounds[i], &sounds[k]);
            assert_int_equal(match.segment_count, 0);
            assert_null(match.segments);
            assert_true(match.query_coverage < 1);
        }
    for (size_t i = 0; i < 6; i++)
        free(sounds[i].samples);
}

/* ---- repeats ---- */

static struct doppel_segment *repeats_of(const struct sound *sound, size_t *count)
{
    struct doppel_audio_track track = sound_track(sound);
    struct doppel_sound given = sound_of_track(&track);
    struct doppel_sound_options options = doppel_sound_options_default();
    struct doppel_segment *out = NULL;
    assert_int_equal(doppel_match_repeats(&given, &options, &out, count, NULL), DOPPEL_OK);
    doppel_audio_track_free(&track);
    return out;
}

static void test_passages_recur(void **state)
{
    (void)state;
    static const double places[] = {7, 31.3, 70.7};
    struct sound sound = sound_speech(100, 1), jingle = sound_music(4, 2);
    for (int i = 0; i < 3; i++)
        sound_paste(&sound, places[i], &jingle);
    size_t count;
    struct doppel_segment *repeats = repeats_of(&sound, &count);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_near(repeats[i].a_start, places[i], 0.2);
        assert_near(repeats[i].a_end, places[i] + 4, 0.2);
        assert_near(repeats[i].b_start, places[i + 1], 0.2);
        assert_near(repeats[i].b_end, places[i + 1] + 4, 0.2);
    }
    free(repeats);
    free(jingle.samples);
    free(sound.samples);
}

static void test_loops_give_as_many_segments_as_periods(void **state)
{
    (void)state;
    struct sound sound = sound_silence(120), loop = sound_music(6, 5);
    for (int i = 0; i < 20; i++)
        sound_paste(&sound, 6 * i, &loop);
    size_t count;
    struct doppel_segment *repeats = repeats_of(&sound, &count);
    assert_in_range(count, 19, 20);
    for (size_t i = 0; i < count; i++) {
        assert_true(repeats[i].a_end <= repeats[i].b_start + 1e-6);
        assert_near(repeats[i].b_start - repeats[i].a_start, 6, 0.01);
    }
    free(repeats);
    free(loop.samples);
    free(sound.samples);
}

static void test_nothing_recurs(void **state)
{
    (void)state;
    struct sound sounds[] = {sound_silence(20), sound_tone(60, 440), sound_speech(60, 3),
                             sound_music(60, 4), sound_noise(30, 5)};
    for (size_t i = 0; i < 5; i++) {
        size_t count = 1;
        free(repeats_of(&sounds[i], &count));
        assert_int_equal(count, 0);
        free(sounds[i].samples);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roles_may_be_swapped),
        cmocka_unit_test(test_relations),
        cmocka_unit_test(test_equal_peaks_are_the_same),
        cmocka_unit_test(test_unlike_sounds_do_not_match),
        cmocka_unit_test(test_passages_recur),
        cmocka_unit_test(test_loops_give_as_many_segments_as_periods),
        cmocka_unit_test(test_nothing_recurs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
