/* The set of a fold, and the passages that stand in several tracks: a clip of one is no unrelated
 * item to the others. */
#include <stdlib.h>

#include "match/audio/audio_internal.h"

#include "ask.h"

struct doppel_recordings *index_fold(const struct tracks *tracks, unsigned fold, size_t part)
{
    struct doppel_recordings *recordings = NULL;
    if (doppel_recordings_new(&recordings, NULL) != DOPPEL_OK)
        abort();
    for (size_t i = 0, indexed = 0; i < tracks->count; i++) {
        const struct track *track = &tracks->list[i];
        struct doppel_recording recording = {track->peaks.peaks, track->peaks.count,
                                             (double)track->peaks.duration_ms / 1000};
        if (track_role(track, fold) == ROLE_INDEXED && indexed++ % part == 0 &&
            doppel_recordings_add(recordings, i, &recording, NULL) != DOPPEL_OK)
            abort();
    }
    return recordings;
}

/* Windows of 5 s, half overlapping; every fourth is looked for at other speeds, too. */
static const double STEP_SECONDS = 2.5;
enum { SCALED_STEPS = 4 };

static bool is_shared(const struct doppel_recordings *recordings, const struct track *track,
                      double start, bool scaled)
{
    struct recording clip = audio_part(&track->audio, start, WINDOW_SECONDS);
    struct doppel_audio_track peaks = peaks_of(&clip);
    struct doppel_audio_options options = doppel_audio_options_default();
    struct alignment found[ALIGNMENTS_MAX];
    size_t count = 0;
    options.same_speed = !scaled;
    if (window_find(recordings, peaks.peaks, peaks.count, &options, NULL, found, &count, NULL))
        abort();
    doppel_audio_track_free(&peaks);
    audio_free(&clip);
    return count && found[0].score >= SHARED_SCORE;
}

/** Marks what lies within a window of it, too. */
static void mark(struct track *track, double start)
{
    double end = start + 2 * WINDOW_SECONDS;
    for (double at = start - WINDOW_SECONDS; at < end; at++)
        if (at >= 0 && (size_t)at < tracks_whole_seconds(track))
            track->shared[(size_t)at] = true;
}

const double SHARED_SCORE = 40;

size_t mark_shared(struct tracks *tracks)
{
    size_t marked = 0;
    for (unsigned fold = 0; fold < FOLDS; fold++) {
        struct doppel_recordings *recordings = index_fold(tracks, fold, 1);
        for (size_t i = 0; i < tracks->count; i++) {
            struct track *track = &tracks->list[i];
            double end = (double)track->audio.count / AUDIO_RATE - WINDOW_SECONDS;
            if (track_role(track, fold) != ROLE_NEGATIVE)
                continue;
            for (int step = 0; step * STEP_SECONDS < end; step++)
                if (is_shared(recordings, track, step * STEP_SECONDS, step % SCALED_STEPS == 0))
                    mark(track, step * STEP_SECONDS);
            for (size_t k = 0; k < tracks_whole_seconds(track); k++)
                marked += track->shared[k];
        }
        doppel_recordings_free(recordings);
    }
    return marked;
}
