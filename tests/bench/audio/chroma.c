/* Chromaprint, searched exhaustively. */
#include "chroma.h"

#ifdef HAVE_CHROMAPRINT
#include <math.h>
#include <stdlib.h>

#include <chromaprint.h>

struct print {
    uint32_t *values;
    int count;
    const struct track *track;
};

struct chroma {
    struct print *prints;
    size_t count;
};

static struct print print_of(const struct recording *recording)
{
    struct print print = {0};
    ChromaprintContext *context = chromaprint_new(CHROMAPRINT_ALGORITHM_DEFAULT);
    int16_t *samples = calloc(recording->count + 1, sizeof *samples);
    for (size_t i = 0; i < recording->count; i++)
        samples[i] = (int16_t)lrintf(fmaxf(-1, fminf(1, recording->data[i])) * 32767);
    if (context && chromaprint_start(context, AUDIO_RATE, 1) &&
        chromaprint_feed(context, samples, (int)recording->count) && chromaprint_finish(context))
        chromaprint_get_raw_fingerprint(context, &print.values, &print.count);
    chromaprint_free(context);
    free(samples);
    return print;
}

struct chroma *chroma_new(const struct tracks *tracks, unsigned fold)
{
    struct chroma *chroma = calloc(1, sizeof *chroma);
    chroma->prints = calloc(tracks->count, sizeof *chroma->prints);
    for (size_t i = 0; i < tracks->count; i++)
        if (track_role(&tracks->list[i], fold) == ROLE_INDEXED) {
            struct print print = print_of(&tracks->list[i].audio);
            print.track = &tracks->list[i];
            chroma->prints[chroma->count++] = print;
        }
    return chroma;
}

void chroma_free(struct chroma *chroma)
{
    for (size_t i = 0; chroma && i < chroma->count; i++)
        chromaprint_dealloc(chroma->prints[i].values);
    if (chroma)
        free(chroma->prints);
    free(chroma);
}

const struct track *chroma_best(const struct chroma *chroma, const struct recording *clip)
{
    struct print query = print_of(clip);
    const struct track *best = NULL;
    int fewest = 32 * (query.count + 1);
    for (size_t i = 0; i < chroma->count && query.count; i++) {
        const struct print *item = &chroma->prints[i];
        for (int at = 0; at + query.count <= item->count; at++) {
            int bits = 0;
            for (int k = 0; k < query.count && bits < fewest; k++)
                bits += __builtin_popcount(query.values[k] ^ item->values[at + k]);
            if (bits < fewest) {
                fewest = bits;
                best = item->track;
            }
        }
    }
    chromaprint_dealloc(query.values);
    return best;
}
#else
struct chroma *chroma_new(const struct tracks *tracks, unsigned fold)
{
    (void)tracks;
    (void)fold;
    return NULL;
}

void chroma_free(struct chroma *chroma)
{
    (void)chroma;
}

const struct track *chroma_best(const struct chroma *chroma, const struct recording *clip)
{
    (void)chroma;
    (void)clip;
    return NULL;
}
#endif
