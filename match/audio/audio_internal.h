/* What the files of the matcher of recordings share: from votes to alignments (audio_vote.c,
 * audio_verify.c, audio_score.c, audio_window.c), from alignments to segments
 * (audio_segments.c, audio_find.c, audio_pair.c, audio_repeats.c), and the monitor. */
#ifndef DOPPEL_MATCH_AUDIO_AUDIO_INTERNAL_H
#define DOPPEL_MATCH_AUDIO_AUDIO_INTERNAL_H

#include <doppel/match.h>

/* Where a piece of a query lies in an item: item time = query time * speed + offset, item
 * frequency = query frequency / pitch. Times in steps of doppel_audio_peak. */
struct alignment {
    uint64_t id;
    double offset;
    double speed, pitch;
    double score; /* votes and verification; limits are of this */
    double rate; /* calibrated: of unrelated pieces of this length, in a set of this size, the share
                    that gets this score or more */
    double votes;         /* the vote's part: -ln of the chance bound */
    uint32_t met, peaks;  /* of so many peaks of the query so many are met in the item */
    double met_by_chance; /* the share at the best shifted alignments */
};

enum { ALIGNMENTS_MAX = 16, WINDOW_SECONDS = 5 };

/*
 * The best alignments of one piece of a query (some 1 to 10 s), all verified, best score first,
 * also those over the limit of rate: the caller compares. Scaled hypotheses are tried when none at
 * speed 1 is within options->max_false_positives and clear (audio_window.c), unless same_speed.
 *
 * @param peaks the piece; times as in the query. @param skip alignments of id `skip->id`
 * with offset (at speed 1, through the middle of the piece) within skip->within of skip->offset are
 * passed over: the trivial one of repeats, and what was found before; NULL: none
 */
struct alignment_skip {
    uint64_t id;
    double offset, within;
    const struct alignment_skip *next;
};
enum doppel_status window_find(const struct doppel_recordings *recordings,
                               const struct doppel_audio_peak *peaks, size_t count,
                               const struct doppel_audio_options *options,
                               const struct alignment_skip *skip,
                               struct alignment out[ALIGNMENTS_MAX], size_t *out_count,
                               struct doppel_error *error);

/* Strong peaks of an item, as doppel_recording_source. @param out given (doppel_audio_track_free)
 */
bool audio_peaks(const struct doppel_recordings *recordings, uint64_t id, uint32_t from,
                 uint32_t to, struct doppel_audio_track *out);

/* The duration of a recording in seconds; what it says where its peaks do not say otherwise. */
double audio_duration(const struct doppel_recording *recording);

/* Hops of all items of the set: its size, for chance. */
uint64_t audio_hops(const struct doppel_recordings *recordings);

#endif
