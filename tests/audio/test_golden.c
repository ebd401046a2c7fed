/* The test vectors of docs/methods.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/audio.h>

#include "audio/golden.h"

enum { PEAKS = 315, STRONG = 158, FIRST_STRONG = 24 };

static const struct doppel_audio_peak first_strong[FIRST_STRONG] = {
    {0, 599, true, false},     {0, 1807, true, false},    {16, 22795, true, false},
    {20, 25685, true, false},  {24, 8565, true, false},   {61, 13545, true, false},
    {65, 4537, true, false},   {103, 28195, true, false}, {109, 12518, true, false},
    {145, 23704, true, false}, {145, 25178, true, false}, {149, 8434, true, false},
    {150, 22971, true, false}, {192, 4400, true, false},  {230, 28852, true, false},
    {234, 12365, true, false}, {272, 24423, true, false}, {277, 8267, true, false},
    {313, 20404, true, false}, {319, 4227, true, false},  {352, 14821, true, false},
    {359, 29405, true, false}, {362, 12185, true, false}, {404, 24038, true, false},
};

/* FFTW's last bits differ between processors: a step of time or frequency, a peak in hundreds. */
static void test_peaks_of_the_golden_audio(void **state)
{
    (void)state;
    static float samples[GOLDEN_SAMPLES];
    golden_audio(samples);
    struct doppel_audio *audio;
    assert_int_equal(doppel_audio_new(&audio, NULL), DOPPEL_OK);
    assert_int_equal(doppel_audio_push(audio, samples, GOLDEN_SAMPLES, NULL), DOPPEL_OK);
    assert_int_equal(doppel_audio_finish(audio, NULL), DOPPEL_OK);
    size_t count, strong = 0;
    const struct doppel_audio_peak *peaks = doppel_audio_peaks(audio, &count);
    int met = 0;
    for (size_t i = 0; i < count; i++) {
        strong += peaks[i].strong;
        for (int j = 0; j < FIRST_STRONG; j++)
            met += labs((long)peaks[i].time - (long)first_strong[j].time) <= 1 &&
                   abs(peaks[i].frequency - first_strong[j].frequency) <= 1 && peaks[i].strong;
    }
    assert_in_range(count, PEAKS - 3, PEAKS + 3);
    assert_in_range(strong, STRONG - 2, STRONG);
    assert_in_range(met, FIRST_STRONG - 1, FIRST_STRONG);
    doppel_audio_free(audio);
}

static void test_keys_of_the_golden_peaks(void **state)
{
    (void)state;
    static const uint32_t expected[] = {0x009dec4, 0x009ddcc, 0x009dc54, 0x01c5584,
                                        0x01c548c, 0x01c5314, 0x1646a45, 0x1644748,
                                        0x16452c8, 0x1644188, 0x1646f8d, 0x1644cd0};
    struct doppel_audio_zone zone = doppel_audio_item_zone();
    struct doppel_audio_key keys[FIRST_STRONG * 6];
    assert_int_equal(doppel_audio_keys(first_strong, FIRST_STRONG, &zone, keys, FIRST_STRONG * 6),
                     81);
    for (int i = 0; i < 12; i++)
        assert_int_equal(keys[i].key, expected[i]);
}

static void test_bytes_of_the_golden_peaks(void **state)
{
    (void)state;
    struct doppel_audio_peak peaks[FIRST_STRONG];
    memcpy(peaks, first_strong, sizeof peaks);
    struct doppel_audio_track track = {.peaks = peaks, .count = FIRST_STRONG, .duration_ms = 4000};
    uint8_t bytes[32 + 8 + 4 * FIRST_STRONG];
    size_t size = doppel_audio_track_size(&track, true);
    assert_true(size <= sizeof bytes);
    doppel_audio_track_write(&track, true, bytes);
    struct doppel_digest digest = doppel_digest_bytes(bytes, size);
    char hex[33];
    doppel_hex_encode(digest.bytes, sizeof digest.bytes, hex);
    assert_string_equal(hex, "5ae8caaf87ab216e1d0ea2264effd455");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_peaks_of_the_golden_audio),
        cmocka_unit_test(test_keys_of_the_golden_peaks),
        cmocka_unit_test(test_bytes_of_the_golden_peaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
