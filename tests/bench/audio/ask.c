/* Asking doppel as its users do. */
#include "ask.h"

#include <math.h>
#include <stdlib.h>

struct doppel_sounds *index_fold(const struct tracks *tracks, unsigned fold, size_t part)
{
    struct doppel_sounds *sounds = NULL;
    if (doppel_sounds_new(&sounds, NULL) != DOPPEL_OK)
        abort();
    for (size_t i = 0, indexed = 0; i < tracks->count; i++) {
        const struct track *track = &tracks->list[i];
        struct doppel_sound sound = {track->peaks.peaks, track->peaks.count,
                                     (double)track->peaks.duration_ms / 1000};
        if (track_role(track, fold) == ROLE_INDEXED && indexed++ % part == 0 &&
            doppel_sounds_add(sounds, i, &sound, NULL) != DOPPEL_OK)
            abort();
    }
    return sounds;
}

/** Matches come first, best first; then near misses. */
static bool visit(void *context, const struct doppel_found *found)
{
    struct answer *answer = context;
    const struct doppel_match *match = &found->match;
    double strength = -log10(fmax(match->false_positive_rate, 1e-300));
    if (answer->any && (answer->match || strength <= answer->strength))
        return true;
    *answer = (struct answer){.any = true,
                              .match = !found->borderline,
                              .id = found->id,
                              .speed = match->transform.speed,
                              .pitch = match->transform.pitch,
                              .strength = strength};
    if (match->segment_count) {
        const struct doppel_segment *segment = &match->segments[0];
        answer->offset = segment->b_start - segment->a_start * segment->speed;
    }
    return true;
}

struct answer ask(const struct doppel_sounds *sounds, const struct sound *clip,
                  const struct asking *asking)
{
    struct doppel_audio_track peaks = peaks_of(clip);
    struct doppel_sound query = {peaks.peaks, peaks.count, (double)clip->count / SOUND_RATE};
    struct doppel_sound_options options = doppel_sound_options_default();
    options.max_false_positives = asking->max_false_positives;
    options.same_speed = asking->same_speed;
    options.near_misses = 1;
    struct answer answer = {0};
    struct doppel_error error;
    if (doppel_sounds_find(sounds, &query, &options, visit, &answer, &error) != DOPPEL_OK)
        abort();
    doppel_audio_track_free(&peaks);
    return answer;
}
