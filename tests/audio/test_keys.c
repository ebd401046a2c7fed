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
        uint64_t class = next_random(&seed) % 4;
        peaks[i] = (struct doppel_audio_peak){time, (uint16_t)(512 + next_random(&seed) % 29568),
                                              class == 0, class > 1};
    }
    return peaks;
}

/* Whether there is such a key, and as many of its class are left. Scales are such that products are
 * exact in float as well as in double. */
static bool oracle_key(const struct doppel_audio_peak *a, const struct doppel_audio_peak *b,
                       const struct doppel_audio_zone *zone, uint32_t left[3],
                       struct doppel_audio_key *out)
{
    double f1 = rint(a->frequency / 32.0 * zone->frequency_scale);
    double f2 = rint(b->frequency / 32.0 * zone->frequency_scale);
    double dt = rint((b->time - a->time) / 16.0 * zone->time_scale);
    bool heard = (a->strong && b->strong) || !zone->strong_only;
    uint32_t faint = (uint32_t)a->faint + b->faint;
    if (!heard || dt < 2 || dt > 63 || fabs(f2 - f1) > 200 || f1 > 1023 || !left[faint])
        return false;
    left[faint]--;
    *out = (struct doppel_audio_key){(uint32_t)(f1 * 32768 + (f2 - f1 + 256) * 64 + dt),
                                     (uint32_t)rint(a->time / 16.0 * zone->time_scale), 0, faint};
    return true;
}

/* Of each peak all pairs in the zone, as many as there may be: of peaks that are not faint, and
 * then the others. */
static size_t oracle(const struct doppel_audio_peak *peaks, size_t count,
                     const struct doppel_audio_zone *zone, struct doppel_audio_key *out)
{
    size_t made = 0;
    for (size_t i = 0; i < count; i++)
        for (int with_faint = 0; with_faint < 2; with_faint++) {
            uint32_t left[3] = {with_faint ? 0 : zone->fan_out,
                                with_faint ? zone->faint_fan_out[0] : 0,
                                with_faint ? zone->faint_fan_out[1] : 0};
            for (size_t j = i + 1; j < count; j++)
                if (oracle_key(&peaks[i], &peaks[j], zone, left, &out[made]))
                    out[made++].peak = (uint32_t)i;
        }
    return made;
}

static void check_zone(const struct doppel_audio_peak *peaks, size_t count,
                       const struct doppel_audio_zone *zone)
{
    size_t room = count * doppel_audio_zone_pairs(zone) + 2;
    struct doppel_audio_key *expected = malloc(room * sizeof *expected),
                            *keys = malloc(room * sizeof *keys);
    size_t made = doppel_audio_keys(peaks, count, zone, keys, room - 2);
    assert_int_equal(made, oracle(peaks, count, zone, expected));
    for (size_t i = 0; i < made; i++) {
        assert_int_equal(keys[i].key, expected[i].key);
        assert_int_equal(keys[i].hop, expected[i].hop);
        assert_int_equal(keys[i].peak, expected[i].peak);
        assert_int_equal(keys[i].faint, expected[i].faint);
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
            struct doppel_audio_zone zone = i % 3 == 0   ? doppel_audio_item_zone()
                                            : i % 3 == 1 ? doppel_audio_query_zone()
                                                         : doppel_audio_clip_zone();
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
