/* An alignment of a piece of a query, followed both ways as far as query and item go on alike. */
#ifndef DOPPEL_MATCH_AUDIO_FOLLOW_H
#define DOPPEL_MATCH_AUDIO_FOLLOW_H

#include "core/array.h"
#include "match/audio/audio_internal.h"
#include "match/audio/view.h"

/* Item time = place + (query time - time) * speed; item frequency = query frequency / pitch. Times
 * in steps. */
struct line {
    double time, place, speed, pitch;
};

static inline double line_at(const struct line *line, double time)
{
    return line->place + (time - line->time) * line->speed;
}

/* A query that is followed: its peaks, and what is at hand of the item. */
struct pursuit {
    const struct doppel_recording *query;
    struct item_view *view;
    double walked; /* seconds looked at so far, for the caller's budget */
};

/* A stretch of the query that is one of an item. */
struct run {
    uint64_t id;
    double item_duration;                  /* seconds; 0: not known */
    double a_start, a_end, b_start, b_end; /* seconds */
    struct line first, last;               /* what holds about its ends */
    double speed, pitch;                   /* of the whole */
    double speed_error;                    /* one standard deviation of the speed */
    double evidence;       /* nats by which its peaks speak for it and not for chance */
    double beyond;         /* what of these is from outside of the piece it began with */
    uint32_t strong;       /* peaks of the query in it that stand out ... */
    double met, by_chance; /* ... how many of them the item has, and has by chance */
    double seed_rate;      /* of the piece, of which alone the caller knows */
    double rate;           /* the same of the run, among all that was tried */
};

/**
 * Follow an alignment of the query's peaks [first, end).
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND: the item's peaks cannot be had, or say nothing;
 * DOPPEL_E_MEMORY. No sentence.
 */
enum doppel_status follow(struct pursuit *pursuit, const struct alignment *alignment, size_t first,
                          size_t end, struct run *out);

/* The number of the first peak of the query at `time`, in steps, or later. */
size_t query_peak_at(const struct doppel_recording *query, double time);

/* ---- shared by the files that follow ---- */

/* A peak of the query, and what the item has at its place; in steps. */
struct look {
    uint32_t time, place;      /* of the query's peak, and of the item's */
    uint16_t frequency, found; /* likewise */
    float late, high;          /* by how much the item's is off the line */
    float chance;              /* of being met */
    bool met, strong;
};

typedef ARRAY(struct look) look_array;

/* How many of the query's peaks an item has that is the same audio, of strong and of other ones:
 * from drowned in noise to clean. */
enum { LEVELS = 5 };
struct level {
    double strong, weak;
};
extern const struct level follow_levels[LEVELS];

static inline double look_share(const struct look *look, const struct level *level)
{
    return look->strong ? level->strong : level->weak;
}

/** ln of how much more probable the look is when such a share of peaks is met than by chance. */
double view_evidence(const struct look *look, double share);

/** Move the line to where the met peaks are, and turn it a little. @return one standard deviation
 * of its speed */
double line_fit(struct line *line, const struct look *views, size_t count);

/**
 * Where the audio and the item cease to be alike.
 * @param looks in order of time, or against it. @param coarse about so many of them belong to what
 * is alike. @return how many do
 */
size_t end_of_views(const struct look *views, size_t count, size_t coarse);

/** The ends of a run in seconds, out to those of query and item where nothing speaks against it. */
void run_place_ends(const struct pursuit *pursuit, struct run *run);

#endif
