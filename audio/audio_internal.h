/* The analysis of a recording, as its files share it: analysis.c makes rows, pick.c peaks of them.
 */
#ifndef DOPPEL_AUDIO_INTERNAL_H
#define DOPPEL_AUDIO_INTERNAL_H

#include <fftw3.h>

#include <doppel/audio.h>

#include "audio/rows.h"
#include "core/array.h"

enum {
    SECOND_HOPS = 43,              /* .998 s: what is analysed, and chosen from, in one go */
    BACKGROUND_HOPS = 15,          /* to either side */
    CARRIED_HOPS = 2 * REACH_HOPS, /* rows of the second before that are needed still */
    ROWS = SECOND_HOPS + CARRIED_HOPS,
    FACTS = 4 * SECOND_HOPS, /* more than a second, and the background to either side */
    SECOND_SAMPLES = (SECOND_HOPS - 1) * DOPPEL_AUDIO_HOP + DOPPEL_AUDIO_WINDOW,
    CLIP_HOPS = DOPPEL_AUDIO_CLIP_SECONDS * DOPPEL_AUDIO_RATE / DOPPEL_AUDIO_HOP,
    MAX_HOPS = 1 << 28 /* times are 32 bits */
};

/* A local maximum, not yet chosen. */
struct peak_candidate {
    uint32_t hop;
    int16_t level;
    struct doppel_audio_peak peak;
};

struct doppel_audio {
    const struct row_kernels *kernels;
    fftwf_plan plan;
    float *window;
    float *samples; /* SECOND_SAMPLES */
    size_t sample_count;
    float *windowed; /* of the transform: aligned */
    fftwf_complex *spectrum;
    int16_t (*levels)[ROW];                  /* ROWS; the first CARRIED_HOPS of the second before */
    int16_t (*spread)[ROW];                  /* ROWS */
    int16_t (*near)[ROW];                    /* ROWS, of a clip; else NULL, or unused */
    bool clip;                               /* faint peaks are wanted, as yet */
    struct row_facts facts[FACTS];           /* of hop h at h % FACTS */
    uint32_t hops;                           /* analysed so far */
    uint32_t chosen;                         /* hops whose peaks are reported */
    ARRAY(struct peak_candidate) candidates; /* from hop `chosen` on */
    ARRAY(struct doppel_audio_peak) peaks;
};

/* Maxima of the rows that became complete with `added` new ones (and, at the end of the audio,
 * of all). False: no memory. */
bool pick_candidates(struct doppel_audio *audio, int added);

/* It is no clip. */
void forget_faint(struct doppel_audio *audio);

/* Tell the peaks of `hops` hops from `chosen` on. False: no memory. */
bool pick_peaks(struct doppel_audio *audio, uint32_t hops);

/* The window; and the plan of its transform, made once, shared, never freed; NULL: no memory. */
void transform_window(float out[DOPPEL_AUDIO_WINDOW]);
fftwf_plan transform_plan(void);

#endif
