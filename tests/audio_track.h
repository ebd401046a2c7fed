/* Made recordings as their peaks. */
#ifndef TESTS_AUDIO_TRACK_H
#define TESTS_AUDIO_TRACK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/audio.h>

#include "audio.h"

/* With faint peaks, if it is a clip. @return to be freed by doppel_audio_track_free */
static inline struct doppel_audio_track audio_track(const struct recording *recording)
{
    struct doppel_audio *audio;
    struct doppel_audio_track track = {0};
    assert_int_equal(doppel_audio_new(&audio, NULL), DOPPEL_OK);
    assert_int_equal(doppel_audio_expect_clip(audio, NULL), DOPPEL_OK);
    assert_int_equal(doppel_audio_push(audio, recording->samples, recording->count, NULL),
                     DOPPEL_OK);
    assert_int_equal(doppel_audio_finish(audio, NULL), DOPPEL_OK);
    const struct doppel_audio_peak *peaks = doppel_audio_peaks(audio, &track.count);
    track.peaks = malloc((track.count + 1) * sizeof *peaks);
    assert_non_null(track.peaks);
    if (track.count)
        memcpy(track.peaks, peaks, track.count * sizeof *peaks);
    track.duration_ms = (uint64_t)recording->count * 1000 / AUDIO_RATE;
    doppel_audio_free(audio);
    return track;
}

#endif
