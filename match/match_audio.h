/** doppel/match_audio.h: recordings, of files and of endless streams. Part of doppel/match.h. */
#ifndef DOPPEL_MATCH_MATCH_AUDIO_H
#define DOPPEL_MATCH_MATCH_AUDIO_H

#include <doppel/audio.h>
#include <doppel/core.h>
#include <doppel/index.h>
#include <doppel/match_found.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A recording, by its peaks. Borrowed. */
struct doppel_recording {
    const struct doppel_audio_peak *peaks; /**< by time */
    size_t count;
    double duration; /**< seconds */
};

struct doppel_audio_options {
    double
        max_false_positives; /**< a match has at most this rate; default 1e-3: of 1000 queries that
                                have nothing to do with the library, one may be given a match */
    bool same_speed;         /**< do not look for other speeds, tempos and pitches where nothing
                                is found at speed 1, or little of the audio; default false */
    uint64_t max_postings;   /**< places of keys looked at, a hypothesis and window; rarest keys
                                first; 0 = by the size of the library */
    size_t near_misses;      /**< the best that many rejected candidates are visited, too; default
                                0 */
};

DOPPEL_API struct doppel_audio_options doppel_audio_options_default(void);

/**
 * A searchable set of recordings: postings of the keys of their strong peaks. One writer; any
 * number of threads may search while nobody writes.
 */
struct doppel_recordings;

/** A set in memory; it keeps the peaks, too: some 1.3 MB a quarter of an hour. @param out given
 * (doppel_recordings_free). DOPPEL_OK; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_recordings_new(struct doppel_recordings **out,
                                                    struct doppel_error *error);

/** Where to have an item's strong peaks from: those with from <= time < to, by time, and perhaps
 * others. @param out given: doppel_audio_track_free; times count from the beginning of the item,
 * and the duration, where it is known, is the whole item's.
 * @return false when they cannot be had: then it is no candidate */
typedef bool doppel_recording_source(void *context, uint64_t id, uint32_t from, uint32_t to,
                                     struct doppel_audio_track *out);

/** A set over an index of postings that somebody else keeps (payload: id of the item; position:
 * hop). @param index borrowed for the life of the set. @param out given (doppel_recordings_free) */
DOPPEL_API enum doppel_status doppel_recordings_over(const struct doppel_index *index,
                                                     doppel_recording_source *source, void *context,
                                                     struct doppel_recordings **out,
                                                     struct doppel_error *error);
DOPPEL_API void doppel_recordings_free(struct doppel_recordings *recordings);

/** The options of an index for recordings. Thread-safe. */
DOPPEL_API struct doppel_index_options doppel_recordings_index_options(void);

/** The postings of a recording, for such an index. @param out given (free). DOPPEL_OK;
 * DOPPEL_E_MEMORY. Thread-safe. */
DOPPEL_API enum doppel_status doppel_recording_postings(const struct doppel_recording *recording,
                                                        struct doppel_index_posting **out,
                                                        size_t *out_count,
                                                        struct doppel_error *error);

/** The length of the item of these postings: the audio's, in hops. Thread-safe. */
DOPPEL_API uint32_t doppel_recording_hops(const struct doppel_recording *recording);

/** Add a recording to a set in memory under an id of the caller's; copied. Ids are added once.
 * DOPPEL_OK; DOPPEL_E_ARGUMENT (a set over an index; an id that is there); DOPPEL_E_LIMIT;
 * DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_recordings_add(struct doppel_recordings *recordings,
                                                    uint64_t id,
                                                    const struct doppel_recording *recording,
                                                    struct doppel_error *error);

/** How much audio it has; 0: none. */
DOPPEL_API double doppel_recordings_seconds(const struct doppel_recordings *recordings);

/** Remove one; an unknown one is fine. */
DOPPEL_API enum doppel_status doppel_recordings_remove(struct doppel_recordings *recordings,
                                                       uint64_t id, struct doppel_error *error);

/**
 * Find the items that a recording is, holds, is held by, or overlaps, and every place at which it
 * does.
 *
 * A recording longer than some seconds is looked for piece by piece, and what was found is followed
 * as far as it goes. Each item is visited once, best first, with all its segments (a_: in the
 * query, b_: in the item; seconds), which are borrowed during the visit. `borderline` ones are near
 * misses: their segments and rates are what they would be, were they matches.
 *
 * @return DOPPEL_OK; DOPPEL_E_CANCELLED by the visitor; DOPPEL_E_CORRUPT (of the index);
 * DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_recordings_find(const struct doppel_recordings *recordings,
                                                     const struct doppel_recording *query,
                                                     const struct doppel_audio_options *options,
                                                     doppel_found_visitor *visitor, void *context,
                                                     struct doppel_error *error);

/** What two recordings share. @param out_match as doppel_recordings_find says; a match when it has
 * segments, which are given (free `segments`); filled also without */
DOPPEL_API enum doppel_status doppel_match_recordings(const struct doppel_recording *query,
                                                      const struct doppel_recording *item,
                                                      const struct doppel_audio_options *options,
                                                      struct doppel_match *out_match,
                                                      struct doppel_error *error);

/** The passages that recur within a recording: a_ is the earlier, b_ the later place, ordered by
 * a_, then b_; overlaps of a passage with itself are none. @param out given (free) */
DOPPEL_API enum doppel_status doppel_match_repeats(const struct doppel_recording *recording,
                                                   const struct doppel_audio_options *options,
                                                   struct doppel_segment **out, size_t *out_count,
                                                   struct doppel_error *error);

/* ---- sequences of AcoustID's codes ---- */

/**
 * Compare two fingerprints of scheme chromaprint: find the stretch, at one offset, along which they
 * differ least.
 *
 * @param max_distance bits of 32 that may differ, in the mean over the stretch
 * @param out_match a match when it has a segment, which is given (free `segments`): from 2 s on,
 * and from where chance explains it no more; filled also without. `distance` is the mean, rounded;
 * `similarity` 1 - mean / 16. Equal ones match whatever their length.
 * @return DOPPEL_OK; DOPPEL_E_MEMORY. Thread-safe. Time: a nanosecond a pair of codes.
 */
DOPPEL_API enum doppel_status doppel_match_chromaprints(const struct doppel_fingerprint *query,
                                                        const struct doppel_fingerprint *item,
                                                        uint32_t max_distance,
                                                        struct doppel_match *out_match,
                                                        struct doppel_error *error);

/** A searchable set of them: codes in an index of 32 bits. One writer; any number of threads may
 * search while nobody writes. Some 80 bytes a code. */
struct doppel_chromaprints;

enum { DOPPEL_CHROMAPRINT_PLACE_BITS = 24 };

/** The options of an index for them, of which a code's payload is the id of its item, below 2^39,
 * and the code's place in it: id << DOPPEL_CHROMAPRINT_PLACE_BITS | place. Thread-safe. */
DOPPEL_API struct doppel_index_options doppel_chromaprints_index_options(void);

/** Where to have the fingerprint of an item from. @param out given (doppel_fingerprint_free)
 * @return false when it cannot be had, or is not wanted: then it is no candidate */
typedef bool doppel_chromaprint_source(void *context, uint64_t id, struct doppel_fingerprint *out);

/** A set over such an index that somebody else keeps. Nothing can be added. @param index borrowed
 * for the life of the set. @param out given (doppel_chromaprints_free) */
DOPPEL_API enum doppel_status doppel_chromaprints_over(const struct doppel_index *index,
                                                       doppel_chromaprint_source *source,
                                                       void *context,
                                                       struct doppel_chromaprints **out,
                                                       struct doppel_error *error);

/** @param out given (doppel_chromaprints_free). DOPPEL_OK; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_chromaprints_new(struct doppel_chromaprints **out,
                                                      struct doppel_error *error);
DOPPEL_API void doppel_chromaprints_free(struct doppel_chromaprints *set);

/** Add one under an id of the caller's; copied. DOPPEL_OK; DOPPEL_E_ARGUMENT (a set over an index);
 * DOPPEL_E_LIMIT; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_chromaprints_add(struct doppel_chromaprints *set, uint64_t id,
                                                      const struct doppel_fingerprint *fingerprint,
                                                      struct doppel_error *error);

/** Visit those that match, by the order in which they were added, of a set over an index by id:
 * items with which the query has codes within two bits, several of them at one offset.
 * DOPPEL_E_CANCELLED by the visitor; DOPPEL_E_CORRUPT (of the index). */
DOPPEL_API enum doppel_status doppel_chromaprints_find(const struct doppel_chromaprints *set,
                                                       const struct doppel_fingerprint *query,
                                                       uint32_t max_distance,
                                                       doppel_found_visitor *visitor, void *context,
                                                       struct doppel_error *error);

/* ---- recordings of an endless stream ---- */

/** Listens to peaks as they come, and tells what of a set it hears. Constant memory. */
struct doppel_monitor;

enum doppel_monitor_event_type { DOPPEL_MONITOR_START, DOPPEL_MONITOR_END, DOPPEL_MONITOR_GAP };

/** Of an item a START, once it has been heard for min_event, and later an END, at least as long
 * after it; never two at once of one item. */
struct doppel_monitor_event {
    enum doppel_monitor_event_type type;
    uint64_t id;                     /**< of the item */
    double stream_start, stream_end; /**< seconds; the end of END and GAP */
    double item_start;               /**< where in the item the stream's audio starts */
    double speed;                    /**< of the item's time to the stream's */
    double score, false_positive_rate;
};

/** Pieces of the stream that are looked up in an hour. They overlap: the false alarms are no more
 * than if each had its chance. */
enum { DOPPEL_MONITOR_LOOKUPS = 3600 + 1800 + 720 + 720 };

struct doppel_monitor_options {
    struct doppel_audio_options audio;
    double max_false_alarms; /**< an hour; default .01; over DOPPEL_MONITOR_LOOKUPS, it takes the
                                place of audio.max_false_positives */
    double min_event;        /**< seconds: what is heard for less is not told; default 2. Nothing is
                                certain before a second and a quarter, whatever this says */
    bool overlaps;           /**< tell items that are heard at once, each; default false: while one
                                is told no other begins, and none overlap */
};

DOPPEL_API struct doppel_monitor_options doppel_monitor_options_default(void);

typedef bool doppel_monitor_visitor(void *context, const struct doppel_monitor_event *event);

/** @param recordings borrowed; may be changed or exchanged between calls (doppel_monitor_exchange).
 * @param out given (doppel_monitor_free) */
DOPPEL_API enum doppel_status doppel_monitor_new(const struct doppel_recordings *recordings,
                                                 const struct doppel_monitor_options *options,
                                                 struct doppel_monitor **out,
                                                 struct doppel_error *error);
DOPPEL_API void doppel_monitor_free(struct doppel_monitor *monitor);

/** Listen to this set from now on: the same items, and others that came or went. */
DOPPEL_API void doppel_monitor_exchange(struct doppel_monitor *monitor,
                                        const struct doppel_recordings *recordings);

/** Go on with peaks, whose times count from `origin` seconds of the stream, and with all known up
 * to `until` seconds of it. DOPPEL_E_CANCELLED by the visitor; as doppel_recordings_find. */
DOPPEL_API enum doppel_status doppel_monitor_push(struct doppel_monitor *monitor,
                                                  const struct doppel_audio_peak *peaks,
                                                  size_t count, double origin, double until,
                                                  doppel_monitor_visitor *visitor, void *context,
                                                  struct doppel_error *error);

/** Nothing was heard between two times of the stream: what was heard ends there. */
DOPPEL_API enum doppel_status doppel_monitor_gap(struct doppel_monitor *monitor, double from,
                                                 double to, doppel_monitor_visitor *visitor,
                                                 void *context, struct doppel_error *error);

/** The stream is at its end. */
DOPPEL_API enum doppel_status doppel_monitor_finish(struct doppel_monitor *monitor,
                                                    doppel_monitor_visitor *visitor, void *context,
                                                    struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
