/* Made sounds put into sets and looked for, with all that is answered. */
#ifndef TESTS_MATCH_HEARD_H
#define TESTS_MATCH_HEARD_H

#include <math.h>

#include <doppel/match.h>

#include "core/array.h"
#include "sound_track.h"

#define assert_near(value, truth, within)                                                          \
    do {                                                                                           \
        double is = (value), should = (truth);                                                     \
        if (!(fabs(is - should) <= (within)))                                                      \
            fail_msg("%s is %.4f, not %.4f", #value, is, should);                                  \
    } while (0)

struct answer {
    struct doppel_found found;
    ARRAY(struct doppel_segment) segments; /* found.match's */
};

struct answers {
    struct answer *items;
    size_t count, capacity;
};

static inline struct doppel_sound sound_of_track(const struct doppel_audio_track *track)
{
    return (struct doppel_sound){track->peaks, track->count, (double)track->duration_ms / 1000};
}

static inline void add_sound(struct doppel_sounds *set, uint64_t id, const struct sound *sound)
{
    struct doppel_audio_track track = sound_track(sound);
    struct doppel_sound given = sound_of_track(&track);
    assert_int_equal(doppel_sounds_add(set, id, &given, NULL), DOPPEL_OK);
    doppel_audio_track_free(&track);
}

static inline bool keep_answer(void *context, const struct doppel_found *found)
{
    struct answers *answers = context;
    struct answer answer = {.found = *found};
    for (size_t i = 0; i < found->match.segment_count; i++)
        assert_true(array_push(&answer.segments, found->match.segments[i]));
    answer.found.match.segments = NULL;
    assert_true(array_push(answers, answer));
    return true;
}

static inline struct answers find_all(const struct doppel_sounds *set, const struct sound *query,
                                      size_t near_misses)
{
    struct doppel_audio_track track = sound_track(query);
    struct doppel_sound sound = sound_of_track(&track);
    struct doppel_sound_options options = doppel_sound_options_default();
    options.near_misses = near_misses;
    struct answers answers = {0};
    assert_int_equal(doppel_sounds_find(set, &sound, &options, keep_answer, &answers, NULL),
                     DOPPEL_OK);
    doppel_audio_track_free(&track);
    return answers;
}

static inline void free_answers(struct answers *answers)
{
    for (size_t i = 0; i < answers->count; i++)
        array_free(&answers->items[i].segments);
    array_free(answers);
}

#endif
