/* Peaks to keys: pairs of a peak and the next ones in its zone. */
#include <doppel/audio.h>

#include <math.h>
#include <stdlib.h>

enum {
    MIN_HOPS = 2,
    MAX_HOPS = 63,
    MAX_HALF_BINS = 200, /* between the two frequencies */
    HALF_BINS = 1024,    /* in all */
    DIFFERENCE_ZERO = 256
};

/* Scales, by which steps of a peak become hops and half bins. */
struct scales {
    float hops, half_bins;
};

static int half_bins(const struct doppel_audio_peak *peak, const struct scales *scales)
{
    return (int)lrintf((float)peak->frequency * scales->half_bins);
}

/* The keys of peak `first`; how many. */
static size_t keys_of_peak(const struct doppel_audio_peak *peaks, size_t count, size_t first,
                           const struct doppel_audio_zone *zone, const struct scales *scales,
                           struct doppel_audio_key *out, size_t capacity)
{
    size_t made = 0;
    int from = half_bins(&peaks[first], scales);
    if (from >= HALF_BINS)
        return 0;
    uint32_t hop = (uint32_t)llrint((double)peaks[first].time * scales->hops);
    for (size_t i = first + 1; i < count && made < zone->fan_out && made < capacity; i++) {
        int hops = (int)lrintf((float)(peaks[i].time - peaks[first].time) * scales->hops);
        if (hops > MAX_HOPS)
            break;
        if (hops < MIN_HOPS || (zone->strong_only && !peaks[i].strong))
            continue;
        int difference = half_bins(&peaks[i], scales) - from;
        if (abs(difference) > MAX_HALF_BINS)
            continue;
        uint32_t key =
            (uint32_t)from << 15 | (uint32_t)(difference + DIFFERENCE_ZERO) << 6 | (uint32_t)hops;
        out[made++] = (struct doppel_audio_key){key, hop, (uint32_t)first};
    }
    return made;
}

size_t doppel_audio_keys(const struct doppel_audio_peak *peaks, size_t count,
                         const struct doppel_audio_zone *zone, struct doppel_audio_key *out,
                         size_t capacity)
{
    struct scales scales = {zone->time_scale / DOPPEL_AUDIO_TIME_STEPS,
                            zone->frequency_scale * 2 / DOPPEL_AUDIO_BIN_STEPS};
    size_t made = 0;
    for (size_t i = 0; i < count; i++)
        if (peaks[i].strong || !zone->strong_only)
            made += keys_of_peak(peaks, count, i, zone, &scales, out + made, capacity - made);
    return made;
}
