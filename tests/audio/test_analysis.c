/* Samples to peaks: what must hold of any audio. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/audio.h>

#include "audio/synth.h"

struct peaks {
    struct doppel_audio_peak items[20000];
    size_t count;
};

static void take(struct doppel_audio *audio, struct peaks *out)
{
    size_t count;
    const struct doppel_audio_peak *peaks = doppel_audio_peaks(audio, &count);
    assert_true(out->count + count <= sizeof out->items / sizeof *out->items);
    if (count)
        memcpy(out->items + out->count, peaks, count * sizeof *peaks);
    out->count += count;
}

static void analyse(const float *samples, size_t count, struct peaks *out)
{
    struct doppel_audio *audio;
    assert_int_equal(doppel_audio_new(&audio, NULL), DOPPEL_OK);
    assert_int_equal(doppel_audio_push(audio, samples, count, NULL), DOPPEL_OK);
    assert_int_equal(doppel_audio_finish(audio, NULL), DOPPEL_OK);
    out->count = 0;
    take(audio, out);
    doppel_audio_free(audio);
}

static void assert_same_peaks(const struct peaks *a, const struct peaks *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(a->items[i].time, b->items[i].time);
        assert_int_equal(a->items[i].frequency, b->items[i].frequency);
        assert_int_equal(a->items[i].strong, b->items[i].strong);
    }
}

static struct peaks whole, other;

static void test_density_and_order(void **state)
{
    (void)state;
    enum { SECONDS = 40 };
    float *samples = make_music(SECONDS * 11025, 1, .01);
    analyse(samples, SECONDS * 11025, &whole);
    size_t strong = 0;
    for (size_t i = 0; i < whole.count; i++) {
        const struct doppel_audio_peak *peak = &whole.items[i];
        strong += peak->strong;
        assert_in_range(peak->frequency, 8 * 64 - 32, 469 * 64 + 32);
        if (i)
            assert_true(peak[-1].time < peak->time ||
                        (peak[-1].time == peak->time && peak[-1].frequency < peak->frequency));
    }
    assert_in_range(whole.count, 60 * SECONDS, 80 * SECONDS + 1);
    assert_in_range(strong, 39 * SECONDS, 40 * SECONDS + 1);
    free(samples);
}

static void test_any_cut_gives_the_same(void **state)
{
    (void)state;
    enum { COUNT = 15 * 11025 + 77 };
    float *samples = make_music(COUNT, 2, .02);
    analyse(samples, COUNT, &whole);
    uint64_t seed = 3;
    struct doppel_audio *audio;
    assert_int_equal(doppel_audio_new(&audio, NULL), DOPPEL_OK);
    for (int round = 0; round < 20; round++) {
        doppel_audio_reset(audio);
        other.count = 0;
        for (size_t at = 0, taken; at < COUNT; at += taken) {
            taken = (size_t)(exp2(16 * uniform(&seed)) - 1);
            taken = taken < COUNT - at ? taken : COUNT - at;
            assert_int_equal(doppel_audio_push(audio, samples + at, taken, NULL), DOPPEL_OK);
            if (round % 2) {
                take(audio, &other);
                doppel_audio_drain(audio);
            }
        }
        assert_int_equal(doppel_audio_finish(audio, NULL), DOPPEL_OK);
        take(audio, &other);
        assert_same_peaks(&whole, &other);
    }
    doppel_audio_free(audio);
    free(samples);
}

/* Faint peaks come beside the others, of what is short enough, however it is cut. */
static void test_faint_peaks_of_clips(void **state)
{
    (void)state;
    enum { CLIP = DOPPEL_AUDIO_CLIP_SECONDS * 11025, LONGER = CLIP + 2000 };
    float *samples = make_music(LONGER, 5, .02);
    struct doppel_audio *audio;
    assert_int_equal(doppel_audio_new(&audio, NULL), DOPPEL_OK);
    for (size_t count = CLIP; count <= LONGER; count += LONGER - CLIP) {
        analyse(samples, count, &whole);
        doppel_audio_reset(audio);
        assert_int_equal(doppel_audio_expect_clip(audio, NULL), DOPPEL_OK);
        for (size_t at = 0; at < count; at += 1000)
            assert_int_equal(
                doppel_audio_push(audio, samples + at, count - at < 1000 ? count - at : 1000, NULL),
                DOPPEL_OK);
        assert_int_equal(doppel_audio_finish(audio, NULL), DOPPEL_OK);
        other.count = 0;
        take(audio, &other);
        size_t kept = 0, faint = 0;
        for (size_t i = 0; i < other.count; i++) {
            faint += other.items[i].faint;
            assert_false(other.items[i].faint && other.items[i].strong);
            if (!other.items[i].faint)
                other.items[kept++] = other.items[i];
        }
        other.count = kept;
        assert_same_peaks(&whole, &other);
        if (count == CLIP)
            assert_in_range(faint, 150 * DOPPEL_AUDIO_CLIP_SECONDS,
                            DOPPEL_AUDIO_FAINT_PEAKS * DOPPEL_AUDIO_CLIP_SECONDS + 1);
        else
            assert_int_equal(faint, 0);
    }
    doppel_audio_free(audio);
    free(samples);
}

static void test_level_does_not_matter(void **state)
{
    (void)state;
    enum { COUNT = 8 * 11025 };
    float *samples = make_music(COUNT, 4, .02), *scaled = malloc(COUNT * sizeof *scaled);
    analyse(samples, COUNT, &whole);
    for (int power = -36; power <= 40; power += 4) {
        for (size_t i = 0; i < COUNT; i++)
            scaled[i] = ldexpf(samples[i], power);
        analyse(scaled, COUNT, &other);
        assert_same_peaks(&whole, &other);
    }
    free(samples);
    free(scaled);
}

static size_t count_keys(const struct peaks *peaks)
{
    static struct doppel_audio_key keys[200000];
    struct doppel_audio_zone zone = doppel_audio_query_zone();
    return doppel_audio_keys(peaks->items, peaks->count, &zone, keys, 200000);
}

/* A tone that stays as it is has no time in it: hardly a peak, and no key to match another tone. */
static void test_tones_make_no_keys(void **state)
{
    (void)state;
    enum { COUNT = 10 * 11025 };
    static const double FREQUENCIES[] = {100, 440, 1000, 1004.7, 2500.3, 4999};
    float *samples = malloc(COUNT * sizeof *samples);
    for (int i = 0; i < 24; i++) {
        double frequency = FREQUENCIES[i / 4], level = i % 4 < 2 ? .9 : .05;
        for (int at = 0; at < COUNT; at++) {
            double value = level * sin(2 * 3.14159265358979 * frequency / 11025 * at);
            samples[at] = (float)(i % 2 ? rint(value * 32767) / 32768 : value);
        }
        analyse(samples, COUNT, &whole);
        assert_in_range(whole.count, 0, 10);
        assert_int_equal(count_keys(&whole), 0);
    }
    free(samples);
}

static void test_silence_and_offset_give_nothing(void **state)
{
    (void)state;
    enum { COUNT = 5 * 11025 };
    float *samples = calloc(COUNT, sizeof *samples);
    static const float OFFSETS[] = {0, 1, -.3f, 1e9f, 1e-9f, INFINITY, NAN};
    for (size_t i = 0; i < sizeof OFFSETS / sizeof *OFFSETS; i++) {
        for (int at = 0; at < COUNT; at++)
            samples[at] = OFFSETS[i];
        analyse(samples, COUNT, &whole);
        assert_int_equal(whole.count, 0);
    }
    for (size_t count = 0; count < 2100; count += 99) {
        analyse(samples, count, &whole);
        assert_int_equal(whole.count, 0);
    }
    free(samples);
}

static void test_offset_moves_few_peaks(void **state)
{
    (void)state;
    enum { COUNT = 20 * 11025 };
    float *samples = make_music(COUNT, 5, .02);
    analyse(samples, COUNT, &whole);
    for (int at = 0; at < COUNT; at++)
        samples[at] += .5f;
    analyse(samples, COUNT, &other);
    size_t same = 0;
    for (size_t i = 0, j = 0; i < whole.count; i++) {
        while (j < other.count && other.items[j].time + 1 < whole.items[i].time)
            j++;
        for (size_t k = j; k < other.count && other.items[k].time <= whole.items[i].time + 1; k++)
            if (abs(other.items[k].frequency - whole.items[i].frequency) <= 1) {
                same++;
                break;
            }
    }
    assert_in_range(same, whole.count * 99 / 100, whole.count);
    free(samples);
}

static void test_what_is_not_finite_counts_as_0(void **state)
{
    (void)state;
    enum { COUNT = 6 * 11025 };
    float *samples = make_music(COUNT, 6, .02), *zeros = malloc(COUNT * sizeof *zeros);
    static const float BAD[] = {NAN, INFINITY, -INFINITY};
    uint64_t seed = 8;
    for (int at = 0; at < COUNT; at++) {
        bool bad = next_random(&seed) % 1000 == 0 || (at > 30000 && at < 34000);
        zeros[at] = bad ? 0 : samples[at];
        samples[at] = bad ? BAD[at % 3] : samples[at];
    }
    analyse(zeros, COUNT, &whole);
    analyse(samples, COUNT, &other);
    assert_same_peaks(&whole, &other);
    assert_true(whole.count > 100);
    samples[3000] = 3e38f;
    samples[9000] = -3e38f;
    analyse(samples, COUNT, &other);
    assert_true(other.count > 50);
    free(samples);
    free(zeros);
}

/* An event is told at its time: a short tone in noise, wherever it begins. */
static void test_times_and_frequencies_are_true(void **state)
{
    (void)state;
    enum { COUNT = 4 * 11025 };
    uint64_t seed = 9;
    for (int round = 0; round < 40; round++) {
        double middle = 1 + 2 * uniform(&seed), frequency = 300 + 4000 * uniform(&seed);
        float *samples = make_music(0, 1, 0);
        samples = realloc(samples, COUNT * sizeof *samples);
        for (int at = 0; at < COUNT; at++) {
            double t = (double)at / 11025 - middle;
            samples[at] = (float)(exp(-t * t * 800) * sin(2 * 3.14159265358979 * frequency * t) +
                                  1e-3 * (uniform(&seed) - .5));
        }
        analyse(samples, COUNT, &whole);
        double nearest = 1e9;
        for (size_t i = 0; i < whole.count; i++) {
            double late = fabs(doppel_audio_seconds(whole.items[i].time) - middle) / .003;
            double high = fabs(whole.items[i].frequency / 64.0 * 11025 / 1024 - frequency) / 1;
            nearest = fmin(nearest, fmax(late, high));
        }
        assert_true(nearest < 1);
        free(samples);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_density_and_order),
        cmocka_unit_test(test_any_cut_gives_the_same),
        cmocka_unit_test(test_faint_peaks_of_clips),
        cmocka_unit_test(test_level_does_not_matter),
        cmocka_unit_test(test_tones_make_no_keys),
        cmocka_unit_test(test_silence_and_offset_give_nothing),
        cmocka_unit_test(test_offset_moves_few_peaks),
        cmocka_unit_test(test_what_is_not_finite_counts_as_0),
        cmocka_unit_test(test_times_and_frequencies_are_true),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
