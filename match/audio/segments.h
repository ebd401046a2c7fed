/* Runs of a query: found piece by piece, joined, and those that others explain left out. */
#ifndef DOPPEL_MATCH_AUDIO_SEGMENTS_H
#define DOPPEL_MATCH_AUDIO_SEGMENTS_H

#include "match/audio/follow.h"

typedef ARRAY(struct run) run_array;

/** What is looked for in what. */
struct hunt {
    const struct doppel_recordings *recordings;
    const struct doppel_recording *query;
    const struct doppel_audio_options *options;
    const struct alignment_skip *skip; /* NULL: none */
    bool next_only; /* of several places of a piece only the first one after it is followed */
};

/** Every run that a piece of the query leads to, with its rate, also over the limit. @param out
 * empty, given (array_free). DOPPEL_OK; DOPPEL_E_MEMORY; DOPPEL_E_CORRUPT */
enum doppel_status runs_find(const struct hunt *hunt, run_array *out, struct doppel_error *error);

/** Join what lies on one line and touches; leave out what better runs of the same item explain.
 * Then the runs are by id, best first. */
void runs_settle(run_array *runs);

/** Of that, only joining, and leaving out shadows of better runs. */
void runs_leave_shadows_out(run_array *runs);

/** Whether peaks are in order of time. */
bool audio_in_order(const struct doppel_recording *recording);

/** The audio with a duration that its peaks agree with. */
struct doppel_recording audio_mended(const struct doppel_recording *recording);

/** The query's time, in steps, at which the run is nearest to `time`, and the item's time then. */
double run_place_near(const struct run *run, double time, double *out_time);

#endif
