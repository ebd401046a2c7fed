/* Asking doppel of a clip. */
#include "ask.h"

#include <math.h>
#include <stdlib.h>

#include "match/sounds_room.h"

struct answer ask(const struct doppel_sounds *sounds, const struct sound *clip,
                  const struct asking *asking)
{
    struct doppel_audio_track peaks = peaks_of(clip);
    struct doppel_sound_options options = doppel_sound_options_default();
    options.max_false_positives = asking->max_false_positives;
    options.same_speed = asking->same_speed;
    struct alignment found[ALIGNMENTS_MAX], *best = found;
    size_t count = 0;
    if (window_find(sounds, peaks.peaks, peaks.count, &options, NULL, found, &count, NULL))
        abort();
    doppel_audio_track_free(&peaks);
    if (!count)
        return (struct answer){0};
    return (struct answer){.any = true,
                           .match = best->rate <= asking->max_false_positives,
                           .id = best->id,
                           .offset = doppel_audio_seconds(best->offset) - doppel_audio_seconds(0),
                           .speed = best->speed,
                           .pitch = best->pitch,
                           .strength = -log10(fmax(best->rate, 1e-300))};
}
