/* An item's strong peaks, had piece by piece from where they are kept, and looked up by place. */
#ifndef DOPPEL_MATCH_AUDIO_VIEW_H
#define DOPPEL_MATCH_AUDIO_VIEW_H

#include <doppel/match.h>

/* How near a peak of the item must be for one of the query to be met, in steps. */
static const double MEET_TIME = 0.8 * DOPPEL_AUDIO_TIME_STEPS;
static const double MEET_FREQUENCY = 0.7 * DOPPEL_AUDIO_BIN_STEPS;

struct item_view {
    doppel_recording_source *source;
    void *context;
    uint64_t id;
    bool known;      /* of `id` something was had */
    double duration; /* of the item, in seconds; 0: not known */
    double from, to; /* what is at hand, steps of the item */
    struct doppel_audio_peak *peaks;
    uint32_t *starts; /* first peak of each hop since `from`; one more at the end */
    size_t count, hops;
};

/** Have the peaks with from <= time < to of an item at hand, and some more. False when they cannot
 * be had; `*out_status` (untouched otherwise) is DOPPEL_E_MEMORY when memory is what lacks. */
bool view_cover(struct item_view *view, uint64_t id, double from, double to,
                enum doppel_status *out_status);

/** The peak nearest to a place, or NULL when none is within MEET_TIME and MEET_FREQUENCY. What is
 * not at hand is not there. */
const struct doppel_audio_peak *view_near(const struct item_view *view, double time,
                                          double frequency);

void view_free(struct item_view *view);

#endif
