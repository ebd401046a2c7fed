/* A window of a query on its way: from votes to candidates, from candidates to alignments. */
#ifndef DOPPEL_MATCH_AUDIO_SEARCH_H
#define DOPPEL_MATCH_AUDIO_SEARCH_H

#include "match/audio/audio_internal.h"
#include "match/audio/lists.h"
#include "match/votes.h"

/* The peaks of the window, their times counted from `origin`. */
struct window {
    struct doppel_audio_peak *peaks; /* but for faint ones */
    size_t count;
    struct doppel_audio_peak *all; /* with them */
    size_t all_count;
    bool faint_voted; /* candidates are of faint keys, too */
    uint32_t origin, last; /* times of the first peak in the query, and of the last in the window */
};

/* Where the window may lie: item time = window time * speed + offset. */
struct candidate {
    uint64_t id;
    uint32_t hops; /* of the item */
    double offset, speed, pitch;
    double votes; /* -ln of the chance bound */
};

/* What votes are counted with; made once a window, used for all hypotheses. */
struct ballot {
    const struct doppel_index_axis *axis;
    uint64_t hops; /* of the axis */
    const struct alignment_skip *skip;
    bool shared; /* several hypotheses ask, of which none with faint keys */
    struct doppel_audio_key *keys;
    size_t capacity;
    uint32_t *queried;  /* keys looked up */
    uint32_t *places;   /* of these in the window, in hops */
    uint8_t *faint;     /* of these, how many of the two peaks are */
    uint32_t *weights;  /* of these */
    uint32_t *seen;     /* all 0 */
    uint64_t *lengths;  /* of all keys */
    uint64_t *order[2]; /* of all keys, by length */
    uint64_t *hits[2];
    size_t hit_capacity;
    uint16_t *crowds; /* sums of weights, by diagonal */
    struct vote_lists lists;
};

/* @param capacity keys of a hypothesis at most. False without memory. */
bool ballot_init(struct ballot *ballot, size_t capacity);
void ballot_free(struct ballot *ballot);

/* What a hypothesis asks. */
struct hypothesis {
    double speed, pitch;
    struct doppel_audio_zone zone; /* scaled by these */
    uint64_t max_postings;
    size_t candidates;  /* wanted, 1 to VOTES_BEST */
    double least_votes; /* of those that are; -INFINITY: all */
};

/** The best candidates of a hypothesis by votes, best first. DOPPEL_OK; DOPPEL_E_MEMORY;
 * DOPPEL_E_CORRUPT */
enum doppel_status ballot_count(struct ballot *ballot, const struct window *window,
                                const struct hypothesis *hypothesis,
                                struct candidate out[VOTES_BEST], size_t *out_count,
                                struct doppel_error *error);

/* What verification found. */
struct verdict {
    uint32_t met, peaks;
    double met_by_chance; /* share, by what meetings count */
    double evidence;      /* peaks * Kullback-Leibler divergence of met, likewise, from chance; and
                             the same of the faint ones */
};

/** Compare the window's peaks with the item's at a candidate's alignment, which is refined: its
 * offset and, unless `same_speed`, its speed and pitch. @param item its strong peaks around the
 * alignment, VERIFY_MARGIN steps more either side. False without memory */
enum { VERIFY_MARGIN = (97 + 4) * DOPPEL_AUDIO_TIME_STEPS };
bool candidate_check(const struct window *window, const struct doppel_audio_track *item,
                     bool same_speed, struct candidate *candidate, struct verdict *out);

/* ---- a look before ---- */

/* The window's peaks as a raster; given (free); NULL: no memory. */
struct screen *screen_new(const struct window *window);

/** In standard deviations, how many more of the item's peaks meet the window's at a candidate's
 * alignment than by chance. */
double screen_candidate(const struct screen *screen, const struct doppel_audio_track *item,
                        const struct candidate *at);

/* ---- score ---- */

double audio_score(double evidence, double votes);

/* Of a set, for chance. */
struct audio_size {
    uint64_t hops, items; /* of more than three items, any number */
};

/**
 * The share of unrelated windows that get this score or more in a set of this size: measured
 * (docs/methods.md).
 * @param scaled the alignment is one of the scaled hypotheses
 */
double audio_rate(double score, const struct audio_size *size, bool scaled);

/* ---- the set ---- */

const struct doppel_index *audio_index(const struct doppel_recordings *recordings);

/* Items of the set; of one over an index nobody counts them, and they are many. */
uint64_t audio_items(const struct doppel_recordings *recordings);

#endif
