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

/* The key of two peaks, if there is one; false: they are in no zone. @param apart of their times,
 * in hops */
static inline bool key_of_pair(const struct pairing *pairing, size_t first, size_t second,
                               float apart, struct doppel_audio_key *out)
{
    const struct doppel_audio_peak *a = &pairing->peaks[first], *b = &pairing->peaks[second];
    int from = half_bins(pairing, first), difference = half_bins(pairing, second) - from;
    int hops = nearest_keys(apart);
    out->key =
        (uint32_t)from << 15 | (uint32_t)(difference + DIFFERENCE_ZERO) << 6 | (uint32_t)hops;
    out->peak = (uint32_t)first;
    out->faint = (uint32_t)a->faint + b->faint;
    /* No branches: which pairs are in the zone cannot be foretold. */
    return (hops >= MIN_HOPS) & (hops <= MAX_HOPS) & (abs(difference) <= MAX_HALF_BINS) &
           (b->strong | !pairing->zone->strong_only);
}

/* The keys of peak `first`, if they are wanted; how many. */
static size_t keys_of_peak(const struct pairing *pairing, size_t first,
                           struct doppel_audio_key *out, size_t capacity)
{
    const struct doppel_audio_peak *peaks = pairing->peaks;
    uint32_t hop = (uint32_t)llrint((double)peaks[first].time * pairing->hops);
    size_t made = 0, end = first + 1 + MOST_FOLLOWERS;
    if (half_bins(pairing, first) >= HALF_BINS)
        return 0;
    if (capacity > pairing->zone->fan_out)
        capacity = pairing->zone->fan_out;
    if (end > pairing->count)
        end = pairing->count;
    for (size_t i = first + 1; i < end && made < capacity; i++) {
        float apart = (float)(peaks[i].time - peaks[first].time) * pairing->hops;
        if (apart > MAX_HOPS + 1)
            break;
        struct doppel_audio_key spare, *key = out ? &out[made] : &spare;
        key->hop = hop;
        made += key_of_pair(pairing, first, i, apart, key) & !peaks[i].faint;
    }
    return made;
}

/* Those of which one peak is faint, or both. */
static size_t faint_keys_of_peak(const struct pairing *pairing, size_t first,
                                 struct doppel_audio_key *out, size_t capacity)
{
    const struct doppel_audio_peak *peaks = pairing->peaks;
    const uint32_t *most = pairing->zone->faint_fan_out;
    uint32_t left[3] = {0, most[0], peaks[first].faint ? most[1] : 0};
    uint32_t hop = (uint32_t)llrint((double)peaks[first].time * pairing->hops);
    size_t made = 0, end = first + 1 + MOST_FOLLOWERS;
    if (half_bins(pairing, first) >= HALF_BINS)
        return 0;
    if (end > pairing->count)
        end = pairing->count;
    for (size_t i = first + 1; i < end && made < capacity && left[1] + left[2]; i++) {
        float apart = (float)(peaks[i].time - peaks[first].time) * pairing->hops;
        if (apart > MAX_HOPS + 1)
            break;
        struct doppel_audio_key spare, *key = out ? &out[made] : &spare;
        key->hop = hop;
        bool is_key = key_of_pair(pairing, first, i, apart, key) & (left[key->faint] > 0);
        left[key->faint] -= is_key;
        made += is_key;
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
    if (!out)
        capacity = SIZE_MAX;
    for (size_t i = 0; i < count && made < capacity; i++) {
        if ((peaks[i].strong || !zone->strong_only) && !peaks[i].faint)
            made += keys_of_peak(&pairing, i, out ? out + made : NULL, capacity - made);
        if (zone->faint_fan_out[0] + zone->faint_fan_out[1])
            made += faint_keys_of_peak(&pairing, i, out ? out + made : NULL, capacity - made);
    }
    return made;
}
