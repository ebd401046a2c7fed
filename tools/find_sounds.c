/* The sounds of a library, to be found by the peaks that they share with another one. */
#include "tools/find_sounds.h"

#include <stdlib.h>

#include "tools/memory.h"
#include "tools/sound_judge.h"

struct find_sounds {
    const struct settings *settings;
    struct doppel_library *library;
    struct doppel_sounds *set;
};

enum doppel_status find_sounds_new(const struct settings *settings, struct doppel_library *library,
                                   struct find_sounds **out, struct doppel_error *error)
{
    struct find_sounds *sounds = must_allocate(sizeof *sounds);
    sounds->settings = settings;
    sounds->library = library;
    enum doppel_status status = doppel_sounds_new(&sounds->set, error);
    if (status)
        find_sounds_free(sounds);
    else
        *out = sounds;
    return status;
}

void find_sounds_free(struct find_sounds *sounds)
{
    if (!sounds)
        return;
    doppel_sounds_free(sounds->set);
    free(sounds);
}

enum doppel_status find_sounds_add(struct find_sounds *sounds, const struct doppel_item *item,
                                   struct report *report, struct doppel_error *error)
{
    struct doppel_item whole;
    struct doppel_audio_track track;
    enum doppel_status status = doppel_library_get(sounds->library, item->id, true, &whole, error);
    if (status)
        return status;
    bool good = sound_read(&whole.record, &track);
    doppel_item_free(&whole);
    if (!good) {
        report_input(report, item->path, "what the library keeps of it is damaged");
        return DOPPEL_OK;
    }
    struct doppel_sound sound = sound_of(&track);
    status = doppel_sounds_add(sounds->set, item->id, &sound, error);
    doppel_audio_track_free(&track);
    return status;
}

enum doppel_status find_sounds_ask(const struct find_sounds *sounds,
                                   const struct doppel_record *query, doppel_found_visitor *visitor,
                                   void *context, struct doppel_error *error)
{
    struct doppel_audio_track track;
    if (!sound_read(query, &track))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "what is known of the sound is damaged");
    struct doppel_sound sound = sound_of(&track);
    struct doppel_sound_options options = sound_options_from(sounds->settings);
    enum doppel_status status =
        doppel_sounds_find(sounds->set, &sound, &options, visitor, context, error);
    doppel_audio_track_free(&track);
    return status;
}
