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
    MOST_FOLLOWERS = 1024, /* that are tried: an analysis has 120 in a zone */
    LISTED_PEAKS = 3 * MOST_FOLLOWERS
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

/* Two peaks in half bins and hops. */
struct peak_pair {
    int from, difference, hops;
};

/* Whether they are in the zone. No branches: which pairs are cannot be foretold. */
static inline bool peaks_pair(const struct peak_pair *pair)
{
    return (pair->hops >= MIN_HOPS) & (pair->hops <= MAX_HOPS) &
           (abs(pair->difference) <= MAX_HALF_BINS);
}

static inline void write_key(const struct peak_pair *pair, struct doppel_audio_key *out)
{
    out->key = (uint32_t)pair->from << 15 | (uint32_t)(pair->difference + DIFFERENCE_ZERO) << 6 |
               (uint32_t)pair->hops;
}

/* ---- keys of peaks that are not faint ---- */

/* One that may be the first or second of a pair. */
struct clear_peak {
    uint32_t number, time;
    int half_bins;
};

static size_t list_clear_peaks(const struct pairing *pairing, size_t from, size_t end,
                               struct clear_peak *out)
{
    size_t listed = 0;
    for (size_t i = from; i < end; i++) {
        const struct doppel_audio_peak *peak = &pairing->peaks[i];
        out[listed] = (struct clear_peak){(uint32_t)i, peak->time, half_bins(pairing, i)};
        listed += (peak->strong | !pairing->zone->strong_only) & !peak->faint;
    }
    return listed;
}

/* Those of the first of some clear peaks; how many. */
static size_t keys_of_peak(const struct pairing *pairing, const struct clear_peak *first,
                           const struct clear_peak *end, struct doppel_audio_key *out,
                           size_t capacity)
{
    const uint32_t hop = (uint32_t)llrint((double)first->time * pairing->hops);
    size_t made = 0;
    if (first->half_bins >= HALF_BINS)
        return 0;
    if (capacity > pairing->zone->fan_out)
        capacity = pairing->zone->fan_out;
    for (const struct clear_peak *next = first + 1; next < end && made < capacity; next++) {
        float apart = (float)(next->time - first->time) * pairing->hops;
        if (apart > MAX_HOPS + 1 || next->number - first->number > MOST_FOLLOWERS)
            break;
        struct peak_pair pair = {first->half_bins, next->half_bins - first->half_bins,
                                 nearest_keys(apart)};
        if (out) {
            out[made] = (struct doppel_audio_key){.hop = hop, .peak = first->number};
            write_key(&pair, &out[made]);
        }
        made += peaks_pair(&pair);
    }
    return made;
}

/* ---- keys of faint peaks ---- */

/* Those of which one peak is faint, or both. */
static size_t faint_keys_of_peak(const struct pairing *pairing, size_t first,
                                 struct doppel_audio_key *out, size_t capacity)
{
    const struct doppel_audio_peak *peaks = pairing->peaks;
    const uint32_t *most = pairing->zone->faint_fan_out;
    uint32_t left[3] = {0, most[0], peaks[first].faint ? most[1] : 0};
    uint32_t hop = (uint32_t)llrint((double)peaks[first].time * pairing->hops);
    struct peak_pair pair = {.from = half_bins(pairing, first)};
    size_t made = 0, end = first + 1 + MOST_FOLLOWERS;
    if (pair.from >= HALF_BINS)
        return 0;
    if (end > pairing->count)
        end = pairing->count;
    for (size_t i = first + 1; i < end && made < capacity && left[1] + left[2]; i++) {
        float apart = (float)(peaks[i].time - peaks[first].time) * pairing->hops;
        if (apart > MAX_HOPS + 1)
            break;
        uint32_t faint = (uint32_t)peaks[first].faint + peaks[i].faint;
        pair.difference = half_bins(pairing, i) - pair.from;
        pair.hops = nearest_keys(apart);
        bool is_key =
            peaks_pair(&pair) & (left[faint] > 0) & (peaks[i].strong | !pairing->zone->strong_only);
        if (out) {
            out[made] =
                (struct doppel_audio_key){.hop = hop, .peak = (uint32_t)first, .faint = faint};
            write_key(&pair, &out[made]);
        }
        left[faint] -= is_key;
        made += is_key;
    }
    return made;
}

/* ---- all ---- */

size_t doppel_audio_keys(const struct doppel_audio_peak *peaks, size_t count,
                         const struct doppel_audio_zone *zone, struct doppel_audio_key *out,
                         size_t capacity)
{
    struct pairing pairing = {peaks, count, zone, zone->time_scale / DOPPEL_AUDIO_TIME_STEPS,
                              zone->frequency_scale * 2 / DOPPEL_AUDIO_BIN_STEPS};
    struct clear_peak clear[LISTED_PEAKS];
    bool with_faint = zone->faint_fan_out[0] + zone->faint_fan_out[1] > 0;
    size_t made = 0, next = 0, listed = 0;
    if (!out)
        capacity = SIZE_MAX;
    for (size_t i = 0; i < count && made < capacity; i++) {
        if (i % (LISTED_PEAKS - MOST_FOLLOWERS) == 0) {
            size_t end = count - i < LISTED_PEAKS ? count : i + LISTED_PEAKS;
            listed = list_clear_peaks(&pairing, i, end, clear);
            next = 0;
        }
        if (next < listed && clear[next].number == i)
            made += keys_of_peak(&pairing, &clear[next++], clear + listed, out ? out + made : NULL,
                                 capacity - made);
        if (with_faint)
            made += faint_keys_of_peak(&pairing, i, out ? out + made : NULL, capacity - made);
    }
    return made;
}
