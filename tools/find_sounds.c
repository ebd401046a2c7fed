/* The sounds of a library, to be found by the peaks that they share with another one. */
#include "tools/find_sounds.h"

#include "tools/sound_judge.h"

enum doppel_status find_sounds(const struct settings *settings, struct doppel_library *library,
                               const struct doppel_record *query, doppel_found_visitor *visitor,
                               void *context, struct doppel_error *error)
{
    const struct doppel_sounds *sounds;
    struct doppel_audio_track track;
    enum doppel_status status = doppel_library_sounds(library, &sounds, error);
    if (status)
        return status;
    if (!sound_read(query, &track))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "what is known of the sound is damaged");
    struct doppel_sound sound = sound_of(&track);
    struct doppel_sound_options options = sound_options_from(settings);
    status = doppel_sounds_find(sounds, &sound, &options, visitor, context, error);
    doppel_audio_track_free(&track);
    return status;
}
