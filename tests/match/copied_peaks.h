/* Made peaks for the tests of recordings: at random, and copied with a line, jitter and loss. */
#ifndef TESTS_MATCH_COPIED_PEAKS_H
#define TESTS_MATCH_COPIED_PEAKS_H

#include <math.h>
#include <string.h>

#include <doppel/match.h>

#include "core/array.h"
#include "match/images.h"

typedef ARRAY(struct doppel_audio_peak) peak_array;

static const double STEPS_A_SECOND =
    (double)DOPPEL_AUDIO_RATE * DOPPEL_AUDIO_TIME_STEPS / DOPPEL_AUDIO_HOP;

static inline double random_share(uint64_t *seed)
{
    return (double)(random_word(seed) >> 11) * 0x1p-53;
}

static inline void push_peak(peak_array *peaks, double time, double frequency, bool strong)
{
    struct doppel_audio_peak peak = {(uint32_t)lround(time), (uint16_t)lround(frequency), strong,
                                     false};
    if (!array_push(peaks, peak))
        abort();
}

static inline int by_time(const void *a, const void *b)
{
    const struct doppel_audio_peak *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->frequency > y->frequency) - (x->frequency < y->frequency);
}

static inline void sort_peaks(peak_array *peaks)
{
    if (peaks->count)
        qsort(peaks->items, peaks->count, sizeof *peaks->items, by_time);
}

/* 80 a second between two times in seconds, about half of them strong. */
static inline void add_random_peaks(peak_array *peaks, double from, double to, uint64_t *seed)
{
    long count = lround((to - from) * 80);
    for (long i = 0; i < count; i++)
        push_peak(peaks, doppel_audio_time(from + (to - from) * random_share(seed)),
                  (8 + 460 * random_share(seed)) * DOPPEL_AUDIO_BIN_STEPS, random_word(seed) % 2);
}

/* What is done to peaks that are copied: the copy's time = (time - from) / speed + to. */
struct copying {
    double from, until, to; /* seconds */
    double speed, pitch;
    double kept;       /* the share that is */
    double late, high; /* standard deviation of what is added, in steps */
};

static inline double random_normal(uint64_t *seed)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += random_share(seed);
    return sum;
}

static inline void copy_peaks(peak_array *to, const peak_array *from, const struct copying *how,
                              uint64_t *seed)
{
    for (size_t i = 0; i < from->count; i++) {
        struct doppel_audio_peak peak = from->items[i];
        double seconds = doppel_audio_seconds(peak.time);
        double kept = random_share(seed), late = random_normal(seed), high = random_normal(seed);
        if (seconds < how->from || seconds >= how->until || kept >= how->kept)
            continue;
        double time = doppel_audio_time((seconds - how->from) / how->speed + how->to);
        double frequency = peak.frequency * how->pitch + how->high * high;
        push_peak(to, fmax(0, time + how->late * late), fmin(fmax(frequency, 0), UINT16_MAX),
                  peak.strong);
    }
}

static inline struct doppel_recording audio_of(const peak_array *peaks, double duration)
{
    return (struct doppel_recording){peaks->items, peaks->count, duration};
}

#endif
