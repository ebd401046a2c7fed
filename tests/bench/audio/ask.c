/* Asking doppel as its users do. */
#include "ask.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/** The best comes first; matches below the threshold after all matches. What recurs has several
 * segments: the one that was asked for counts. */
static bool visit(void *context, const struct doppel_found *found)
{
    struct answer *answer = context;
    double wanted = answer->offset, least = INFINITY;
    const struct doppel_match *match = &found->match;
    if (answer->any)
        return true;
    *answer = (struct answer){.any = true,
                              .match = !found->borderline,
                              .id = found->id,
                              .speed = match->transform.speed,
                              .pitch = match->transform.pitch,
                              .similarity = match->similarity,
                              .relation = match->relation,
                              .strength = -log10(fmax(match->false_positive_rate, 1e-300))};
    for (size_t i = 0; i < match->segment_count; i++) {
        const struct doppel_segment *segment = &match->segments[i];
        double offset = segment->b_start - segment->a_start * segment->speed;
        if (fabs(offset - wanted) < least)
            answer->offset = offset;
        least = fmin(least, fabs(offset - wanted));
        if (!i ||
            segment->a_end - segment->a_start > answer->longest.a_end - answer->longest.a_start)
            answer->longest = *segment;
    }
    return true;
}

struct answer ask(const struct doppel_recordings *recordings, const struct recording *clip,
                  double start, const struct asking *asking)
{
    struct doppel_audio_track peaks = peaks_of(clip);
    struct doppel_recording query = {peaks.peaks, peaks.count, (double)clip->count / AUDIO_RATE};
    struct doppel_audio_options options = doppel_audio_options_default();
    options.max_false_positives = asking->max_false_positives;
    options.same_speed = asking->same_speed;
    options.near_misses = 1;
    struct answer answer = {.offset = start};
    struct doppel_error error;
    if (doppel_recordings_find(recordings, &query, &options, visit, &answer, &error) != DOPPEL_OK) {
        fprintf(stderr, "%s\n", error.message);
        abort();
    }
    doppel_audio_track_free(&peaks);
    return answer;
}
