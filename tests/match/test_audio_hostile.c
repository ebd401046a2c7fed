/* Peaks that are of no real audio: nothing is found that must not be, in bounded time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "match/copied_peaks.h"
#include "match/heard.h"

static struct doppel_match compare(const struct doppel_recording *a,
                                   const struct doppel_recording *b)
{
    struct doppel_audio_options options = doppel_audio_options_default();
    struct doppel_match match;
    assert_int_equal(doppel_match_recordings(a, b, &options, &match, NULL), DOPPEL_OK);
    return match;
}

static void assert_sane(struct doppel_match *match)
{
    assert_true(match->similarity >= 0 && match->similarity <= 1);
    assert_true(match->query_coverage >= 0 && match->query_coverage <= 1);
    assert_true(match->item_coverage >= 0 && match->item_coverage <= 1);
    for (size_t i = 0; i < match->segment_count; i++) {
        const struct doppel_segment *segment = &match->segments[i];
        assert_true(segment->a_start >= 0 && segment->a_start <= segment->a_end);
        assert_true(segment->b_start >= 0 && segment->b_start <= segment->b_end);
    }
    free((void *)(uintptr_t)match->segments);
}

/* A recording with itself, but for its last peak, with another, and its repeats. */
static void search_all(const peak_array *peaks, double duration)
{
    uint64_t seed = 3;
    peak_array other = {0};
    add_random_peaks(&other, 0, 20, &seed);
    sort_peaks(&other);
    struct doppel_recording recording = audio_of(peaks, duration), part = recording;
    struct doppel_recording usual = audio_of(&other, 20);
    part.count -= part.count > 0;
    struct doppel_match match = compare(&part, &recording);
    assert_sane(&match);
    match = compare(&usual, &recording);
    assert_sane(&match);
    match = compare(&recording, &usual);
    assert_sane(&match);
    struct doppel_audio_options options = doppel_audio_options_default();
    struct doppel_segment *repeats;
    size_t count;
    assert_int_equal(doppel_match_repeats(&recording, &options, &repeats, &count, NULL), DOPPEL_OK);
    free(repeats);
    array_free(&other);
}

static void test_peaks_at_one_time(void **state)
{
    (void)state;
    static const uint32_t times[] = {0, 5000, UINT32_MAX - 1, UINT32_MAX};
    uint64_t seed = 1;
    for (size_t i = 0; i < 4; i++) {
        peak_array peaks = {0};
        for (int k = 0; k < 4000; k++)
            push_peak(&peaks, times[i], (double)(random_word(&seed) % UINT16_MAX), true);
        search_all(&peaks, times[i] / STEPS_A_SECOND + 1);
        array_free(&peaks);
    }
}

static void test_peaks_at_ends_of_time(void **state)
{
    (void)state;
    uint64_t seed = 2;
    peak_array peaks = {0};
    add_random_peaks(&peaks, 0, 20, &seed);
    double end = UINT32_MAX / STEPS_A_SECOND;
    add_random_peaks(&peaks, end - 20, end, &seed);
    sort_peaks(&peaks);
    search_all(&peaks, end);
    search_all(&peaks, 0);
    search_all(&peaks, NAN);
    search_all(&peaks, 1e300);
    array_free(&peaks);
}

static void test_peaks_far_apart(void **state)
{
    (void)state;
    uint64_t seed = 4;
    peak_array peaks = {0};
    for (int i = 0; i < 8000; i++)
        push_peak(&peaks, random_share(&seed) * UINT32_MAX, 30000 * random_share(&seed), true);
    sort_peaks(&peaks);
    search_all(&peaks, UINT32_MAX / STEPS_A_SECOND);
    array_free(&peaks);
}

/* A beat of the same few peaks, without end. */
static void test_peaks_in_step(void **state)
{
    (void)state;
    peak_array peaks = {0};
    for (int i = 0; i < 8000; i++)
        push_peak(&peaks, 200.0 * (i / 4), 1000.0 * (1 + i % 4), true);
    search_all(&peaks, 2000 * 200 / STEPS_A_SECOND);
    array_free(&peaks);
}

static void test_disorder_is_refused(void **state)
{
    (void)state;
    struct doppel_audio_peak peaks[] = {{10, 1, true, false}, {9, 1, true, false}};
    struct doppel_recording recording = {peaks, 2, 1};
    struct doppel_audio_options options = doppel_audio_options_default();
    struct doppel_match match;
    struct doppel_segment *repeats;
    size_t count;
    struct doppel_error error;
    assert_int_equal(doppel_match_recordings(&recording, &recording, &options, &match, &error),
                     DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_match_repeats(&recording, &options, &repeats, &count, &error),
                     DOPPEL_E_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_peaks_at_one_time),   cmocka_unit_test(test_peaks_at_ends_of_time),
        cmocka_unit_test(test_peaks_far_apart),     cmocka_unit_test(test_peaks_in_step),
        cmocka_unit_test(test_disorder_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
