/* The recordings of one fold, and what doppel says of a clip. */
#ifndef BENCH_AUDIO_ASK_H
#define BENCH_AUDIO_ASK_H

#include <doppel/match.h>

#include "tracks.h"

/** The set of one in `part` of the tracks that are indexed in a fold; ids are their places in the
 * list. */
struct doppel_recordings *index_fold(const struct tracks *tracks, unsigned fold, size_t part);

/** What scores so much is the same recording: unrelated music gets 15 once in a hundred times. */
extern const double SHARED_SCORE;

/** Mark the passages that other tracks have, too (of those in other folds). @return seconds */
size_t mark_shared(struct tracks *tracks);

/** The best candidate, a match or not. */
struct answer {
    bool any;
    bool match; /**< within the stated rate */
    uint64_t id;
    double offset; /**< seconds from the beginning of the item to that of the clip */
    double speed, pitch;
    double similarity;
    enum doppel_relation relation;
    struct doppel_segment longest;
    double strength; /**< the more, the rarer by chance: -log10 of the stated rate */
};

struct asking {
    double max_false_positives;
    bool same_speed;
};

/** @param start where the clip begins: of several places in an item the nearest to it is reported
 */
struct answer ask(const struct doppel_recordings *recordings, const struct recording *clip,
                  double start, const struct asking *asking);

#endif
