/*
 * A quick look at many candidates, so that only the most likely ones are verified. The window's
 * peaks are drawn into a raster of hops and bins, each as wide as peaks may be apart that meet; a
 * candidate is worth what its item's peaks meet there more than as many would by chance, were they
 * at any time of the window.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "match/audio/search.h"

enum {
    STEPS = DOPPEL_AUDIO_TIME_STEPS,
    BIN = DOPPEL_AUDIO_BIN_STEPS,
    SCREEN_HOPS = 1024, /* of a window at most: it is shorter than a clip */
    BINS = 512,
    WORDS = BINS / 64,
    LATE = 2 /* hops by which an offset that was voted for may be off */
};

struct screen {
    uint64_t rows[SCREEN_HOPS][WORDS];
    uint32_t hops;
    float chance[BINS]; /* the share of hops in which the bin is drawn */
};

/* Row `hop`, `bin` and those beside it. */
static void draw_peak(struct screen *screen, uint32_t hop, uint32_t bin)
{
    for (uint32_t row = hop ? hop - 1 : 0; row <= hop + 1 && row < screen->hops; row++)
        for (uint32_t at = bin ? bin - 1 : 0; at <= bin + 1 && at < BINS; at++)
            screen->rows[row][at / 64] |= (uint64_t)1 << at % 64;
}

static void count_chances(struct screen *screen)
{
    uint32_t drawn[BINS] = {0};
    for (uint32_t hop = 0; hop < screen->hops; hop++)
        for (int word = 0; word < WORDS; word++)
            for (uint64_t bits = screen->rows[hop][word]; bits; bits &= bits - 1)
                drawn[word * 64 + __builtin_ctzll(bits)]++;
    for (int bin = 0; bin < BINS; bin++)
        screen->chance[bin] = (float)drawn[bin] / (float)screen->hops;
}

struct screen *screen_new(const struct window *window)
{
    struct screen *screen = calloc(1, sizeof *screen);
    if (!screen)
        return NULL;
    uint32_t hops = window->last / STEPS + 2;
    screen->hops = hops < SCREEN_HOPS ? hops : SCREEN_HOPS;
    for (size_t i = 0; i < window->all_count; i++)
        draw_peak(screen, (window->all[i].time + STEPS / 2) / STEPS,
                  (window->all[i].frequency + BIN / 2u) / BIN);
    count_chances(screen);
    return screen;
}

double screen_candidate(const struct screen *screen, const struct doppel_audio_track *item,
                        const struct candidate *at)
{
    uint32_t met[2 * LATE + 1] = {0}, most = 0;
    double expected = 0, variance = 1;
    for (size_t i = 0; i < item->count; i++) {
        long hop = lrint((item->peaks[i].time - at->offset) / (at->speed * STEPS));
        long bin = lrint(item->peaks[i].frequency * at->pitch / BIN);
        if (hop < 0 || hop >= (long)screen->hops || bin < 0 || bin >= BINS)
            continue;
        double chance = screen->chance[bin];
        expected += chance;
        variance += chance * (1 - chance);
        for (long late = -LATE; late <= LATE; late++)
            if (hop + late >= 0 && hop + late < (long)screen->hops)
                met[late + LATE] += screen->rows[hop + late][bin / 64] >> bin % 64 & 1;
    }
    for (int i = 0; i <= 2 * LATE; i++)
        most = met[i] > most ? met[i] : most;
    return (most - expected) / sqrt(variance);
}
