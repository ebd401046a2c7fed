/* Made recordings for the tests: peaks at random, copied with losses, jitter and peaks of another.
 */
#ifndef TESTS_MATCH_PEAKS_H
#define TESTS_MATCH_PEAKS_H

#include <math.h>
#include <stdlib.h>

#include <doppel/match.h>

#include "match/images.h"

enum { STEPS_A_SECOND = 689, LOWEST = 8 * 64, HIGHEST = 470 * 64 };

struct made_audio {
    struct doppel_audio_peak *peaks;
    size_t count;
    double duration;
};

static inline double random_share(uint64_t *seed)
{
    return (double)(random_word(seed) >> 11) / (double)(1ull << 53);
}

static inline int by_time(const void *left, const void *right)
{
    const struct doppel_audio_peak *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->frequency < b->frequency ? -1 : a->frequency > b->frequency;
}

/* Low notes are more frequent than high ones, as they are in music. */
static inline struct doppel_audio_peak random_peak(uint32_t length, uint64_t *seed)
{
    double high = random_share(seed) * random_share(seed);
    return (struct doppel_audio_peak){.time = (uint32_t)(random_share(seed) * length),
                                      .frequency = (uint16_t)(LOWEST + high * (HIGHEST - LOWEST)),
                                      .strong = true};
}

static inline struct made_audio make_audio(double seconds, double peaks_a_second, uint64_t *seed)
{
    struct made_audio made = {.count = (size_t)(seconds * peaks_a_second), .duration = seconds};
    made.peaks = malloc((made.count + 1) * sizeof *made.peaks);
    assert_non_null(made.peaks);
    for (size_t i = 0; i < made.count; i++)
        made.peaks[i] = random_peak((uint32_t)(seconds * STEPS_A_SECOND), seed);
    qsort(made.peaks, made.count, sizeof *made.peaks, by_time);
    return made;
}

/* How a piece of a recording is heard. */
struct hearing {
    double from, seconds; /* of the audio */
    double kept;          /* share of its peaks */
    double added;         /* peaks a second that are not its own */
    double speed, pitch;  /* item time = query time * speed; query frequency = item's * pitch */
};

static inline struct made_audio hear(const struct made_audio *recording, const struct hearing *how,
                                     uint64_t *seed)
{
    struct made_audio heard =
        make_audio(how->seconds / how->speed, how->added, seed); /* not its own */
    heard.peaks = realloc(heard.peaks, (heard.count + recording->count + 1) * sizeof *heard.peaks);
    assert_non_null(heard.peaks);
    for (size_t i = 0; i < heard.count; i++)
        heard.peaks[i].strong = random_word(seed) % 2;
    for (size_t i = 0; i < recording->count; i++) {
        struct doppel_audio_peak peak = recording->peaks[i];
        double time = peak.time - how->from * STEPS_A_SECOND + random_share(seed) * 6 - 3;
        double frequency = peak.frequency * how->pitch + random_share(seed) * 10 - 5;
        if (time < 0 || time >= how->seconds * STEPS_A_SECOND || random_share(seed) >= how->kept ||
            frequency > UINT16_MAX)
            continue;
        peak.time = (uint32_t)(time / how->speed);
        peak.frequency = (uint16_t)frequency;
        heard.peaks[heard.count++] = peak;
    }
    qsort(heard.peaks, heard.count, sizeof *heard.peaks, by_time);
    return heard;
}

static inline struct doppel_recording audio_of(const struct made_audio *made)
{
    return (struct doppel_recording){made->peaks, made->count, made->duration};
}

#endif
