/* Peaks to keys: pairs of a peak and the next ones in its zone. */
#include <doppel/audio.h>

#include <math.h>
#include <stdlib.h>

enum {
    MIN_HOPS = 2,
    MAX_HOPS = 63,
    MAX_HALF_BINS = 200, /* between the two frequencies */
    HALF_BINS = 1024,    /* in all */
    DIFFERENCE_ZERO = 256,
    MOST_FOLLOWERS = 1024 /* that are tried: an analysis has 120 in a zone */
};

/* What is paired, and how: scales by which steps of a peak become hops and half bins. */
struct pairing {
    const struct doppel_audio_peak *peaks;
    size_t count;
    const struct doppel_audio_zone *zone;
    float hops, half_bins;
};

/* As rint, without a call: the nearest number, of two the even one. 0 <= value < 2^22. */
static inline int nearest_keys(float value)
{
    const float units = 0x1.8p23f; /* floats from here on are whole numbers */
    return (int)(value + units - units);
}

static inline int half_bins(const struct pairing *pairing, size_t peak)
{
    return nearest_keys((float)pairing->peaks[peak].frequency * pairing->half_bins);
}

/* The keys of peak `first`, if they are wanted; how many. */
static inline size_t keys_of_peak(const struct pairing *pairing, size_t first,
                                  struct doppel_audio_key *out, size_t capacity)
{
    const struct doppel_audio_peak *peaks = pairing->peaks;
    size_t made = 0;
    int from = half_bins(pairing, first);
    if (from >= HALF_BINS)
        return 0;
    uint32_t hop = (uint32_t)llrint((double)peaks[first].time * pairing->hops);
    if (capacity > pairing->zone->fan_out)
        capacity = pairing->zone->fan_out;
    size_t left = pairing->count - first - 1;
    size_t end = first + 1 + (left < MOST_FOLLOWERS ? left : MOST_FOLLOWERS);
    for (size_t i = first + 1; i < end && made < capacity; i++) {
        float apart = (float)(peaks[i].time - peaks[first].time) * pairing->hops;
        if (apart > MAX_HOPS + 1)
            break;
        int hops = nearest_keys(apart), difference = half_bins(pairing, i) - from;
        uint32_t key =
            (uint32_t)from << 15 | (uint32_t)(difference + DIFFERENCE_ZERO) << 6 | (uint32_t)hops;
        if (out)
            out[made] = (struct doppel_audio_key){key, hop, (uint32_t)first};
        /* No branches: which pairs are in the zone cannot be foretold. */
        made += (hops >= MIN_HOPS) & (hops <= MAX_HOPS) & (abs(difference) <= MAX_HALF_BINS) &
                (peaks[i].strong | !pairing->zone->strong_only);
    }
    return made;
}

size_t doppel_audio_keys(const struct doppel_audio_peak *peaks, size_t count,
                         const struct doppel_audio_zone *zone, struct doppel_audio_key *out,
                         size_t capacity)
{
    struct pairing pairing = {peaks, count, zone, zone->time_scale / DOPPEL_AUDIO_TIME_STEPS,
                              zone->frequency_scale * 2 / DOPPEL_AUDIO_BIN_STEPS};
    size_t made = 0;
    for (size_t i = 0; i < count && (!out || made < capacity); i++)
        if (peaks[i].strong || !zone->strong_only)
            made += out ? keys_of_peak(&pairing, i, out + made, capacity - made)
                        : keys_of_peak(&pairing, i, NULL, SIZE_MAX);
    return made;
}
