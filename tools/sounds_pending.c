/* Until the matcher of sounds is there: sounds are told, and not compared. */
#include <doppel/match.h>

#define PENDING __attribute__((weak))

PENDING struct doppel_sound_options doppel_sound_options_default(void)
{
    return (struct doppel_sound_options){.max_false_positives = 1e-3};
}

PENDING enum doppel_status doppel_sounds_new(struct doppel_sounds **out, struct doppel_error *error)
{
    (void)error;
    *out = NULL;
    return DOPPEL_OK;
}

PENDING void doppel_sounds_free(struct doppel_sounds *sounds)
{
    (void)sounds;
}

PENDING enum doppel_status doppel_sounds_add(struct doppel_sounds *sounds, uint64_t id,
                                             const struct doppel_sound *sound,
                                             struct doppel_error *error)
{
    (void)sounds, (void)id, (void)sound, (void)error;
    return DOPPEL_OK;
}

PENDING enum doppel_status doppel_sounds_find(const struct doppel_sounds *sounds,
                                              const struct doppel_sound *query,
                                              const struct doppel_sound_options *options,
                                              doppel_found_visitor *visitor, void *context,
                                              struct doppel_error *error)
{
    (void)sounds, (void)query, (void)options, (void)visitor, (void)context, (void)error;
    return DOPPEL_OK;
}

PENDING enum doppel_status doppel_match_sounds(const struct doppel_sound *query,
                                               const struct doppel_sound *item,
                                               const struct doppel_sound_options *options,
                                               struct doppel_match *out_match,
                                               struct doppel_error *error)
{
    (void)query, (void)item, (void)options, (void)error;
    *out_match = (struct doppel_match){.kind = DOPPEL_KIND_AUDIO,
                                       .scheme = DOPPEL_SCHEME_PEAKS32,
                                       .relation = DOPPEL_RELATION_OVERLAPS,
                                       .false_positive_rate = -1};
    return DOPPEL_OK;
}

PENDING enum doppel_status doppel_match_repeats(const struct doppel_sound *sound,
                                                const struct doppel_sound_options *options,
                                                struct doppel_segment **out, size_t *out_count,
                                                struct doppel_error *error)
{
    (void)sound, (void)options, (void)out, (void)out_count;
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "repeats are not found yet");
}
