/* Samples to peaks: what must hold of any sound. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_density_and_order),
        cmocka_unit_test(test_any_cut_gives_the_same),
        cmocka_unit_test(test_level_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
