/* Made recordings put into sets and looked for, with all that is answered. */
#ifndef TESTS_MATCH_HEARD_H
#define TESTS_MATCH_HEARD_H

#include <math.h>

#include <doppel/match.h>

#include "core/array.h"
#include "audio_track.h"

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

static inline struct doppel_recording audio_of_track(const struct doppel_audio_track *track)
{
    return (struct doppel_recording){track->peaks, track->count, (double)track->duration_ms / 1000};
}

static inline void add_audio(struct doppel_recordings *set, uint64_t id,
                             const struct recording *recording)
{
    struct doppel_audio_track track = audio_track(recording);
    struct doppel_recording given = audio_of_track(&track);
    assert_int_equal(doppel_recordings_add(set, id, &given, NULL), DOPPEL_OK);
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

static inline struct answers find_all(const struct doppel_recordings *set,
                                      const struct recording *query, size_t near_misses)
{
    struct doppel_audio_track track = audio_track(query);
    struct doppel_recording recording = audio_of_track(&track);
    struct doppel_audio_options options = doppel_audio_options_default();
    options.near_misses = near_misses;
    struct answers answers = {0};
    assert_int_equal(doppel_recordings_find(set, &recording, &options, keep_answer, &answers, NULL),
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
