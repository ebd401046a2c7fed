/* Keys against a plain oracle in double precision. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <doppel/audio.h>

#include "audio/synth.h"

static struct doppel_audio_peak *make_peaks(size_t count, uint64_t seed)
{
    struct doppel_audio_peak *peaks = malloc((count + 1) * sizeof *peaks);
    uint32_t time = 0;
    for (size_t i = 0; i < count; i++) {
        time += (uint32_t)(uniform(&seed) * (next_random(&seed) % 20 ? 20 : 2000));
        peaks[i] = (struct doppel_audio_peak){time, (uint16_t)(512 + next_random(&seed) % 29568),
                                              next_random(&seed) % 2 == 0};
    }
    return peaks;
}

/* All pairs in the zone, then the first `fan_out` of each. Scales are such that products are exact
 * in float as well as in double. */
static size_t oracle(const struct doppel_audio_peak *peaks, size_t count,
                     const struct doppel_audio_zone *zone, struct doppel_audio_key *out)
{
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t pairs = 0;
        for (size_t j = i + 1; j < count; j++) {
            double f1 = rint(peaks[i].frequency / 32.0 * zone->frequency_scale);
            double f2 = rint(peaks[j].frequency / 32.0 * zone->frequency_scale);
            double dt = rint((peaks[j].time - peaks[i].time) / 16.0 * zone->time_scale);
            bool heard = (peaks[i].strong && peaks[j].strong) || !zone->strong_only;
            if (!heard || dt < 2 || dt > 63 || fabs(f2 - f1) > 200 || f1 > 1023 ||
                pairs++ >= zone->fan_out)
                continue;
            out[made++] = (struct doppel_audio_key){
                (uint32_t)(f1 * 32768 + (f2 - f1 + 256) * 64 + dt),
                (uint32_t)rint(peaks[i].time / 16.0 * zone->time_scale), (uint32_t)i};
        }
    }
    return made;
}

static void check_zone(const struct doppel_audio_peak *peaks, size_t count,
                       const struct doppel_audio_zone *zone)
{
    size_t room = count * zone->fan_out + 1;
    struct doppel_audio_key *expected = malloc(room * sizeof *expected),
                            *keys = malloc(room * sizeof *keys);
    size_t made = doppel_audio_keys(peaks, count, zone, keys, room - 1);
    assert_int_equal(made, oracle(peaks, count, zone, expected));
    for (size_t i = 0; i < made; i++) {
        assert_int_equal(keys[i].key, expected[i].key);
        assert_int_equal(keys[i].hop, expected[i].hop);
        assert_int_equal(keys[i].peak, expected[i].peak);
        assert_true(keys[i].key >> DOPPEL_AUDIO_KEY_BITS == 0);
    }
    assert_int_equal(doppel_audio_keys(peaks, count, zone, NULL, 0), made);
    assert_int_equal(doppel_audio_keys(peaks, count, zone, keys, made / 2), made / 2);
    free(keys);
    free(expected);
}

static void test_keys_equal_the_oracle(void **state)
{
    (void)state;
    static const float SCALES[] = {1, .9375f, 1.0625f, .5f, 2};
    for (size_t count = 0; count < 400; count += 57) {
        struct doppel_audio_peak *peaks = make_peaks(count, count);
        for (int i = 0; i < 50; i++) {
            struct doppel_audio_zone zone =
                i % 2 ? doppel_audio_item_zone() : doppel_audio_query_zone();
            zone.time_scale = SCALES[i / 2 % 5];
            zone.frequency_scale = SCALES[i / 10];
            check_zone(peaks, count, &zone);
        }
        free(peaks);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_keys_equal_the_oracle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
