/**
 * doppel/match.h: from hits to matches, and from matches to groups. Uses core, index and, for
 * pictures, the code algebra and calibration of doppel/image.h.
 */
#ifndef DOPPEL_MATCH_H
#define DOPPEL_MATCH_H

#include <stdbool.h>

#include <doppel/audio.h>
#include <doppel/core.h>
#include <doppel/image.h>
#include <doppel/index.h>
#include <doppel/text.h>
#include <doppel/video.h>

#ifdef __cplusplus
extern "C" {
#endif

enum doppel_relation {
    DOPPEL_RELATION_SAME,
    DOPPEL_RELATION_CONTAINS,
    DOPPEL_RELATION_CONTAINED,
    DOPPEL_RELATION_OVERLAPS
};

/** What a match rests on. */
enum doppel_verified {
    DOPPEL_VERIFIED_EXACT,
    DOPPEL_VERIFIED_SIGNATURE,
    DOPPEL_VERIFIED_CODES,
    DOPPEL_VERIFIED_ALIGNMENT
};

/** A stretch of the query (a) that is one of the item (b): texts in code points, else seconds. */
struct doppel_segment {
    double a_start, a_end, b_start, b_end;
    double speed; /**< 1 of texts */
};

/** One answer, described: the fields of the JSON of CLI.md. */
struct doppel_match {
    enum doppel_kind kind;
    enum doppel_scheme_id scheme;
    enum doppel_relation relation;
    enum doppel_verified verified; /**< EXACT: same bytes; CODES: by the codes; ALIGNMENT: the
                                      pixels were aligned too */
    uint32_t distance, bits;       /**< of the deciding pair of codes, at the scheme's width */
    double similarity;             /**< 0 to 1 */
    double score;                  /**< -log10 of the false-positive rate; 0 when not known */
    double false_positive_rate;    /**< < 0: not known: of pictures too flat to tell, and of schemes
                                      without a calibration */
    struct {
        bool mirrored, cropped, trimmed;
        uint16_t rotated; /**< degrees clockwise by which the query was turned: 0, 90, 180, 270 */
        double speed;     /**< of sounds: by what the query runs faster than the item; 0: no other
                             speed that could be measured, or not known */
        double pitch;     /**< of sounds: by what its frequencies are higher; 0: likewise */
    } transform;
    bool has_coverage;                     /**< the next two are known */
    double query_coverage, item_coverage;  /**< share of the query, and of the item, that the other
                                              one has too: of texts, of their shingles or words */
    const struct doppel_segment *segments; /**< of passages, sounds, films; borrowed */
    size_t segment_count;
    bool time_uncertain;           /**< of films: a still scene is the same, but not when */
    struct doppel_video_view view; /**< of films: which part of the query's frame met, and how */
};

DOPPEL_API const char *doppel_relation_name(enum doppel_relation relation);
DOPPEL_API const char *doppel_verified_name(enum doppel_verified verified);

/** How near is near. */
struct doppel_match_options {
    struct doppel_image_judge_options image;
    int32_t max_distance;  /**< of the deciding pair of codes at the scheme's width; -1 = judge by
                              rate or similarity */
    double min_similarity; /**< < 0 = by the default rate (DOPPEL_IMAGE_MAX_FPR) */
    bool check_pixels; /**< borderline pairs are aligned and compared; needs a source of features */
};

DOPPEL_API struct doppel_match_options doppel_match_options_default(void);

/** A picture as the matcher sees it. */
struct doppel_match_item {
    const struct doppel_fingerprint *fingerprint; /**< borrowed */
    uint8_t quality;
};

/**
 * Compare two fingerprints of the same scheme and version.
 * @param out_match filled also when they do not match
 *
 * phash64 is judged by all views, both ways, and limited by rate unless the options say otherwise;
 * a fingerprint that has the 64 bits only, by the nearest pair of views, up to 8 bits. phash256 (of
 * the full frame, in all orientations), imagehash and pdq are compared by plain distance, up to the
 * scheme's limit; their similarity is 1 - distance / (bits / 2), and no false-positive rate is
 * given: bits of pictures are not independent, and no calibration is at hand.
 *
 * @return true when they match within the options' limit. Pictures under DOPPEL_IMAGE_MIN_QUALITY
 * never match here. Pixels are not looked at: see doppel_match_borderline. Thread-safe.
 */
DOPPEL_API bool doppel_match_pair(const struct doppel_match_item *query,
                                  const struct doppel_match_item *item,
                                  const struct doppel_match_options *options,
                                  struct doppel_match *out_match);

/** Whether a pixel check could change the answer of doppel_match_pair. */
DOPPEL_API bool doppel_match_borderline(const struct doppel_match *match,
                                        const struct doppel_match_options *options);

/** Fill a match from pixels (the verdict of doppel_image_check_pixels). */
DOPPEL_API void doppel_match_from_pixels(const struct doppel_image_verdict *verdict, bool confirmed,
                                         struct doppel_match *match);

/* ---- texts ---- */

/** What is known of a text. Arrays are borrowed. */
struct doppel_text_evidence {
    struct doppel_digest content; /**< of the normalised text */
    bool too_short;               /**< matches by `content` alone */
    const uint16_t *lanes;        /**< MinHash; NULL: not known */
    uint32_t lane_count;
    const uint32_t *shingles; /**< ascending, each once (doppel/text.h); NULL: not known */
    size_t shingle_count;     /**< also where they are not known; 0: neither is their number */
    bool shingles_kept;       /**< they were kept; else they were computed from the text just now */
};

struct doppel_text_limits {
    double min_similarity;  /**< Jaccard; default .7 */
    double min_containment; /**< of one in the other, where the similarity is too low; default .9 */
};

DOPPEL_API struct doppel_text_limits doppel_text_limits_default(void);

/**
 * Compare two texts of the same scheme, version and options.
 * @param out_match filled also when they do not match: `similarity` is the Jaccard similarity of
 * the shingle sets and the coverages are the containments both ways; of signatures alone an
 * estimate, of the coverages only where both sets' sizes are known. `distance` is of the lanes,
 * where both have them, and `bits` their number. `verified`: EXACT (equal content, or shingles of
 * both texts), CODES (shingles, of one of them kept), SIGNATURE. `relation`: SAME within the limit
 * of similarity; CONTAINED (the query in the item) or CONTAINS by that of containment; OVERLAPS
 * when they do not match. Nothing to compare: no match. The roles swapped, the answer is the same
 * with relation and coverages turned.
 * @return true when they match. Thread-safe.
 */
DOPPEL_API bool doppel_match_texts(const struct doppel_text_evidence *query,
                                   const struct doppel_text_evidence *item,
                                   const struct doppel_text_limits *limits,
                                   struct doppel_match *out_match);

/* ---- what is found among many ---- */

struct doppel_found {
    uint64_t id;     /**< of the item */
    uint64_t query;  /**< doppel_matcher_join: the id of the other one; else 0 */
    bool borderline; /**< not within the limit, but a pixel check could change that */
    struct doppel_match match;
};

/** Visit what is found; false ends the search. From the calling thread only. */
typedef bool doppel_found_visitor(void *context, const struct doppel_found *found);

/* ---- passages ---- */

/** A text in which passages are looked for: its words with their places, or, where they cannot be
 * had, its keys alone (doppel/text.h). Borrowed. */
struct doppel_passage_text {
    const struct doppel_text_word *words; /**< NULL: they cannot be had */
    uint32_t word_count;                  /**< of the text, also without `words` */
    const struct doppel_text_key *keys;   /**< by word */
    size_t key_count;
    const uint32_t *key_starts; /**< where their first words start, in code points; not looked at
                                   where there are words; NULL: not known */
};

/** What doppel_text_read found, as it is asked for here; borrows the result's arrays. */
DOPPEL_API struct doppel_passage_text doppel_passage_text_of(
    const struct doppel_text_result *result);

struct doppel_passage_options {
    uint32_t min_words;     /**< that match, of a passage; default 13 */
    double min_coverage;    /**< of a text, from which on it counts as contained; default .9 */
    uint64_t library_words; /**< the false-positive rate is that of a library of so many words; 0:
                               of the item alone */
};

DOPPEL_API struct doppel_passage_options doppel_passage_options_default(void);

/**
 * Find the passages that two texts share, over replaced, inserted and dropped words.
 *
 * Where both have words, every run of four equal words is tried, whatever the keys are. Else the
 * keys alone tell, each of which covers four words (`verified` CODES), and places are about right.
 *
 * @param out_match a match when it has segments, which are given (free `segments`), by place in the
 * query, then in the item. The coverages are shares of words, replaced
 * ones within a passage included; `similarity` is the Jaccard similarity of the words that are
 * equal; `relation` CONTAINED: the query is in the item. The
 * false-positive rate is the number of passages as good as the best that are to be expected between
 * unrelated texts; < 0 without one. Swapping the texts swaps the answer.
 * @return DOPPEL_OK; DOPPEL_E_MEMORY. Thread-safe.
 * Time and memory grow with the words of both texts, whatever they are: of a run of words that
 * stands in the longer text at very many places, only the first are told.
 */
DOPPEL_API enum doppel_status doppel_match_passages(const struct doppel_passage_text *query,
                                                    const struct doppel_passage_text *item,
                                                    const struct doppel_passage_options *options,
                                                    struct doppel_match *out_match,
                                                    struct doppel_error *error);

/**
 * A searchable set of the keys of texts, to find which of them share passages with a query. One
 * writer; any number of threads may search while nobody writes. Some 10 bytes a key.
 */
struct doppel_passages;

/** @param out given (doppel_passages_free). DOPPEL_OK; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_passages_new(struct doppel_passages **out,
                                                  struct doppel_error *error);
DOPPEL_API void doppel_passages_free(struct doppel_passages *passages);

/** Add a text by its keys under an id of the caller's. DOPPEL_OK; DOPPEL_E_ARGUMENT (a key beyond
 * its words); DOPPEL_E_LIMIT; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_passages_add(struct doppel_passages *passages, uint64_t id,
                                                  const struct doppel_passage_text *text,
                                                  struct doppel_error *error);

/** Remove a text; an unknown one is fine. DOPPEL_OK; DOPPEL_E_MEMORY (it is found still). */
DOPPEL_API enum doppel_status doppel_passages_remove(struct doppel_passages *passages, uint64_t id,
                                                     struct doppel_error *error);

/** Where to have an item's words from, or else its keys with their starts; borrowed until the next
 * call. @return false when nothing can be had: then the item's keys in the set alone tell */
typedef bool doppel_passage_source(void *context, uint64_t id, struct doppel_passage_text *out);

/** What to search for. Begin with doppel_passage_request_default. */
struct doppel_passage_request {
    struct doppel_passage_text query;      /**< with keys */
    struct doppel_passage_options options; /**< library_words of 0: of all that was added */
    doppel_passage_source *source;         /**< NULL: nothing can be had */
    void *source_context;
    uint64_t max_postings; /**< places of keys looked at, rarest keys first; default 2^20 */
    size_t max_misses;     /**< items that are asked for their words in vain, the most promising
                              first, before the search ends; default 200 */
};

DOPPEL_API struct doppel_passage_request doppel_passage_request_default(
    const struct doppel_passage_text *query);

/**
 * Visit all items that share a passage with the query, the best passage first (then by id);
 * segments are borrowed during the visit. Keys that many items have count little, and the budgets
 * are spent on the others. Where both texts have words, a match is that of doppel_match_passages;
 * else it is of the keys alone, each of which covers four words (`verified` CODES), and has
 * segments only where places are known.
 * @return DOPPEL_OK; DOPPEL_E_CANCELLED (by the visitor); DOPPEL_E_MEMORY. Thread-safe while nobody
 * writes.
 */
DOPPEL_API enum doppel_status doppel_passages_find(const struct doppel_passages *passages,
                                                   const struct doppel_passage_request *request,
                                                   doppel_found_visitor *visitor, void *context,
                                                   struct doppel_error *error);

/* ---- many at once ---- */

/**
 * A searchable set of fingerprints of one scheme: an index over their codes, and their codes to
 * judge by. One writer; any number of threads may search while nobody writes.
 */
struct doppel_matcher;

/** @param threads used by doppel_matcher_join. @param out given (doppel_matcher_free). */
DOPPEL_API enum doppel_status doppel_matcher_new(enum doppel_scheme_id scheme,
                                                 const struct doppel_match_options *options,
                                                 uint32_t threads, struct doppel_matcher **out,
                                                 struct doppel_error *error);
DOPPEL_API void doppel_matcher_free(struct doppel_matcher *matcher);

/** Add a fingerprint under an id of the caller's, < 2^60 (copied). Ids are added once.
 * DOPPEL_E_MEMORY, DOPPEL_E_ARGUMENT, DOPPEL_E_VERSION when scheme or version differ. */
DOPPEL_API enum doppel_status doppel_matcher_add(struct doppel_matcher *matcher, uint64_t id,
                                                 const struct doppel_match_item *item,
                                                 struct doppel_error *error);

DOPPEL_API void doppel_matcher_remove(struct doppel_matcher *matcher, uint64_t id);

/** All items that match `query`, best first (then by id); with check_pixels the borderline ones
 * too. */
DOPPEL_API enum doppel_status doppel_matcher_find(const struct doppel_matcher *matcher,
                                                  const struct doppel_match_item *query,
                                                  doppel_found_visitor *visitor, void *context,
                                                  struct doppel_error *error);

/** All matching pairs (query id < id), each once, ordered by id, then query (the order of
 * doppel_group_by_leader), the same for any number of threads; with check_pixels the borderline
 * ones too. Of N alike pictures that is N²/2 pairs: see doppel_matcher_lead. */
DOPPEL_API enum doppel_status doppel_matcher_join(const struct doppel_matcher *matcher,
                                                  doppel_found_visitor *visitor, void *context,
                                                  struct doppel_error *error);

/** As doppel_found_visitor, but sets `*out_follows` (false before) when the picture `found->id` is
 * to follow the leader `found->query`; it is then no leader itself. */
typedef bool doppel_leader_visitor(void *context, const struct doppel_found *found,
                                   bool *out_follows);

/** As doppel_matcher_join, but only the pairs of a picture with the leaders before it: all that
 * grouping by leaders needs, with work for N alike pictures that grows with N, not N². */
DOPPEL_API enum doppel_status doppel_matcher_lead(const struct doppel_matcher *matcher,
                                                  doppel_leader_visitor *visitor, void *context,
                                                  struct doppel_error *error);

/** Describe a pair of the set, whether it matches or not. @return false when an id is not there.
 * Thread-safe while nobody writes. */
DOPPEL_API bool doppel_matcher_compare(const struct doppel_matcher *matcher, uint64_t query_id,
                                       uint64_t item_id, struct doppel_match *out_match);

/* ---- groups ---- */

struct doppel_edge {
    uint32_t a, b; /**< item numbers, a < b */
    double similarity;
    uint32_t match; /**< the caller's */
};

/**
 * Group items by leaders: in order of number, an item joins the leader it is most similar to (then
 * the lowest number), or becomes a leader. Every member is near its leader: no chains.
 *
 * @param edges ordered by b, then a; borrowed
 * @param out_leader `count` numbers: the leader of each item, itself for leaders
 * @param out_edge   `count` numbers: the edge by which each member joined, UINT32_MAX for leaders
 */
DOPPEL_API void doppel_group_by_leader(uint32_t count, const struct doppel_edge *edges,
                                       size_t edge_count, uint32_t *out_leader, uint32_t *out_edge);

/* ---- sounds ---- */

/** A sound, by its peaks. Borrowed. */
struct doppel_sound {
    const struct doppel_audio_peak *peaks; /**< by time */
    size_t count;
    double duration; /**< seconds */
};

struct doppel_sound_options {
    double
        max_false_positives; /**< a match has at most this rate; default 1e-3: of 1000 queries that
                                have nothing to do with the library, one may be given a match */
    bool same_speed;         /**< do not look for other speeds, tempos and pitches where nothing
                                is found at speed 1, or little of the sound; default false */
    uint64_t max_postings;   /**< places of keys looked at, a hypothesis and window; rarest keys
                                first; 0 = by the size of the library */
    size_t near_misses;      /**< the best that many rejected candidates are visited, too; default 0
                              */
};

DOPPEL_API struct doppel_sound_options doppel_sound_options_default(void);

/**
 * A searchable set of sounds: postings of the keys of their strong peaks. One writer; any number of
 * threads may search while nobody writes.
 */
struct doppel_sounds;

/** A set in memory; it keeps the peaks, too: some 1.3 MB a quarter of an hour. @param out given
 * (doppel_sounds_free). DOPPEL_OK; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_sounds_new(struct doppel_sounds **out,
                                                struct doppel_error *error);

/** Where to have an item's strong peaks from: those with from <= time < to, by time, and perhaps
 * others. @param out given: doppel_audio_track_free; times count from the beginning of the item,
 * and the duration, where it is known, is the whole item's.
 * @return false when they cannot be had: then it is no candidate */
typedef bool doppel_sound_source(void *context, uint64_t id, uint32_t from, uint32_t to,
                                 struct doppel_audio_track *out);

/** A set over an index of postings that somebody else keeps (payload: id of the item; position:
 * hop). @param index borrowed for the life of the set. @param out given (doppel_sounds_free) */
DOPPEL_API enum doppel_status doppel_sounds_over(const struct doppel_index *index,
                                                 doppel_sound_source *source, void *context,
                                                 struct doppel_sounds **out,
                                                 struct doppel_error *error);
DOPPEL_API void doppel_sounds_free(struct doppel_sounds *sounds);

/** The options of an index for sounds. Thread-safe. */
DOPPEL_API struct doppel_index_options doppel_sounds_index_options(void);

/** The postings of a sound, for such an index. @param out given (free). DOPPEL_OK; DOPPEL_E_MEMORY.
 * Thread-safe. */
DOPPEL_API enum doppel_status doppel_sound_postings(const struct doppel_sound *sound,
                                                    struct doppel_index_posting **out,
                                                    size_t *out_count, struct doppel_error *error);

/** The length of the item of these postings: the sound's, in hops. Thread-safe. */
DOPPEL_API uint32_t doppel_sound_hops(const struct doppel_sound *sound);

/** Add a sound to a set in memory under an id of the caller's; copied. Ids are added once.
 * DOPPEL_OK; DOPPEL_E_ARGUMENT (a set over an index; an id that is there); DOPPEL_E_LIMIT;
 * DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_sounds_add(struct doppel_sounds *sounds, uint64_t id,
                                                const struct doppel_sound *sound,
                                                struct doppel_error *error);

/** How much sound it has; 0: none. */
DOPPEL_API double doppel_sounds_seconds(const struct doppel_sounds *sounds);

/** Remove one; an unknown one is fine. */
DOPPEL_API enum doppel_status doppel_sounds_remove(struct doppel_sounds *sounds, uint64_t id,
                                                   struct doppel_error *error);

/**
 * Find the items that a sound is, holds, is held by, or overlaps, and every place at which it does.
 *
 * A sound longer than some seconds is looked for piece by piece, and what was found is followed as
 * far as it goes. Each item is visited once, best first, with all its segments (a_: in the query,
 * b_: in the item; seconds), which are borrowed during the visit. `borderline` ones are near
 * misses: their segments and rates are what they would be, were they matches.
 *
 * @return DOPPEL_OK; DOPPEL_E_CANCELLED by the visitor; DOPPEL_E_CORRUPT (of the index);
 * DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_sounds_find(const struct doppel_sounds *sounds,
                                                 const struct doppel_sound *query,
                                                 const struct doppel_sound_options *options,
                                                 doppel_found_visitor *visitor, void *context,
                                                 struct doppel_error *error);

/** What two sounds share. @param out_match as doppel_sounds_find says; a match when it has
 * segments, which are given (free `segments`); filled also without */
DOPPEL_API enum doppel_status doppel_match_sounds(const struct doppel_sound *query,
                                                  const struct doppel_sound *item,
                                                  const struct doppel_sound_options *options,
                                                  struct doppel_match *out_match,
                                                  struct doppel_error *error);

/** The passages that recur within a sound: a_ is the earlier, b_ the later place, ordered by a_,
 * then b_; overlaps of a passage with itself are none. @param out given (free) */
DOPPEL_API enum doppel_status doppel_match_repeats(const struct doppel_sound *sound,
                                                   const struct doppel_sound_options *options,
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

/** @param out given (doppel_chromaprints_free). DOPPEL_OK; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_chromaprints_new(struct doppel_chromaprints **out,
                                                      struct doppel_error *error);
DOPPEL_API void doppel_chromaprints_free(struct doppel_chromaprints *set);

/** Add one under an id of the caller's; copied. DOPPEL_OK; DOPPEL_E_LIMIT; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_chromaprints_add(struct doppel_chromaprints *set, uint64_t id,
                                                      const struct doppel_fingerprint *fingerprint,
                                                      struct doppel_error *error);

/** Visit those that match, by the order in which they were added: items with which the query has
 * codes within two bits, several of them at one offset.
 * DOPPEL_E_CANCELLED by the visitor. */
DOPPEL_API enum doppel_status doppel_chromaprints_find(const struct doppel_chromaprints *set,
                                                       const struct doppel_fingerprint *query,
                                                       uint32_t max_distance,
                                                       doppel_found_visitor *visitor, void *context,
                                                       struct doppel_error *error);

/* ---- sounds of an endless stream ---- */

/** Listens to peaks as they come, and tells what of a set it hears. Constant memory. */
struct doppel_monitor;

enum doppel_monitor_event_type { DOPPEL_MONITOR_START, DOPPEL_MONITOR_END, DOPPEL_MONITOR_GAP };

struct doppel_monitor_event {
    enum doppel_monitor_event_type type;
    uint64_t id;                     /**< of the item */
    double stream_start, stream_end; /**< seconds; the end of END and GAP */
    double item_start;               /**< where in the item the stream's sound starts */
    double score, false_positive_rate;
};

/** Pieces of the stream that are looked up in an hour. They overlap: the false alarms are no more
 * than if each had its chance. */
enum { DOPPEL_MONITOR_LOOKUPS = 3600 + 1800 + 720 + 720 };

struct doppel_monitor_options {
    struct doppel_sound_options sound;
    double max_false_alarms; /**< an hour; default .01; over DOPPEL_MONITOR_LOOKUPS, it takes the
                                place of sound.max_false_positives */
};

DOPPEL_API struct doppel_monitor_options doppel_monitor_options_default(void);

typedef bool doppel_monitor_visitor(void *context, const struct doppel_monitor_event *event);

/** @param sounds borrowed; may be changed or exchanged between calls (doppel_monitor_exchange).
 * @param out given (doppel_monitor_free) */
DOPPEL_API enum doppel_status doppel_monitor_new(const struct doppel_sounds *sounds,
                                                 const struct doppel_monitor_options *options,
                                                 struct doppel_monitor **out,
                                                 struct doppel_error *error);
DOPPEL_API void doppel_monitor_free(struct doppel_monitor *monitor);

/** Listen to this set from now on: the same items, and others that came or went. */
DOPPEL_API void doppel_monitor_exchange(struct doppel_monitor *monitor,
                                        const struct doppel_sounds *sounds);

/** Go on with peaks, whose times count from `origin` seconds of the stream, and with all known up
 * to `until` seconds of it. DOPPEL_E_CANCELLED by the visitor; as doppel_sounds_find. */
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

/* ---- films ---- */

struct doppel_video_search {
    double max_expected; /**< a match has at most this E: so many of its score, or better, are to be
                            expected by chance in the whole library; default 1e-3 */
    bool plain;          /**< only the frame as it is and mirrored: no crops, rectangles, turns.
                            Default false */
    bool thorough;       /**< a finer grid of them: slower. Default false */
    bool same_speed;     /**< default false */
    size_t near_misses;  /**< the best that many rejected candidates are visited, too; default 0 */
};

DOPPEL_API struct doppel_video_search doppel_video_search_default(void);

/**
 * A searchable set of films: the 64-bit codes of their frames. One writer; any number of threads
 * may search while nobody writes.
 */
struct doppel_videos;

/** A set in memory; keeps the 256-bit codes, too. @param out given (doppel_videos_free). DOPPEL_OK;
 * DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_videos_new(struct doppel_videos **out,
                                                struct doppel_error *error);

/** Where to have an item's frames from. @param out given (doppel_video_track_free). @return false
 * when they cannot be had: then it is no candidate */
typedef bool doppel_video_source(void *context, uint64_t id, struct doppel_video_track *out);

/** A set over an index of codes that somebody else keeps, with the payloads of doppel_video_codes.
 * @param index borrowed for the life of the set; NULL: empty. @param out given (doppel_videos_free)
 */
DOPPEL_API enum doppel_status doppel_videos_over(const struct doppel_index *index,
                                                 doppel_video_source *source, void *context,
                                                 struct doppel_videos **out,
                                                 struct doppel_error *error);
DOPPEL_API void doppel_videos_free(struct doppel_videos *videos);

/** The options of an index for films. Thread-safe. */
DOPPEL_API struct doppel_index_options doppel_videos_index_options(void);

/** What an item has in such an index: the 64-bit code of each run, and as payload the id, below
 * 2^32, in the high half and its start_ms in the low one. @param out_codes,out_payloads given
 * (free), as many as the track has frames. DOPPEL_OK; DOPPEL_E_LIMIT (the id); DOPPEL_E_MEMORY.
 * Thread-safe. */
DOPPEL_API enum doppel_status doppel_video_codes(uint64_t id,
                                                 const struct doppel_video_track *track,
                                                 uint64_t **out_codes, uint64_t **out_payloads,
                                                 struct doppel_error *error);

/** Add a film to a set in memory under an id of the caller's; copied. Ids are added once.
 * DOPPEL_OK; DOPPEL_E_ARGUMENT; DOPPEL_E_LIMIT; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_videos_add(struct doppel_videos *videos, uint64_t id,
                                                const struct doppel_video_track *track,
                                                struct doppel_error *error);

/** Remove one from a set in memory; an unknown one is fine. */
DOPPEL_API enum doppel_status doppel_videos_remove(struct doppel_videos *videos, uint64_t id,
                                                   struct doppel_error *error);

/** Runs of frames in it. */
DOPPEL_API uint64_t doppel_videos_frames(const struct doppel_videos *videos);

/**
 * Find the films that a film is, holds, is held by, or overlaps, and where.
 *
 * Each item is visited once, best first, with all its segments (a_: in the query, b_: in the item;
 * seconds, speed: of the item's time to the query's), which are borrowed during the visit;
 * `borderline` ones are near misses. `score` is -log10 of E, `false_positive_rate` E itself;
 * `distance` of `bits` 256 the median along the best segment; transform.mirrored, cropped, speed
 * and `view` are those of the best segment. Coverages are of what is shown: of black at the ends of
 * a film nothing can be told. A query without cells is looked for as it is and mirrored.
 *
 * @return DOPPEL_OK; DOPPEL_E_CANCELLED by the visitor; DOPPEL_E_CORRUPT (of the index);
 * DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_videos_find(const struct doppel_videos *videos,
                                                 const struct doppel_video_track *query,
                                                 const struct doppel_video_search *options,
                                                 doppel_found_visitor *visitor, void *context,
                                                 struct doppel_error *error);

/** Find the films that show a picture (of scheme phash64), and when: segments have a_start = a_end
 * = 0, b_ the times during which it is shown. As doppel_videos_find. */
DOPPEL_API enum doppel_status doppel_videos_find_picture(const struct doppel_videos *videos,
                                                         const struct doppel_match_item *picture,
                                                         const struct doppel_video_search *options,
                                                         doppel_found_visitor *visitor,
                                                         void *context, struct doppel_error *error);

/** What two films share: both ways round, the better one, told with the roles given. @param
 * out_match as doppel_videos_find says; a match when it has segments, which are given (free
 * `segments`); filled also without */
DOPPEL_API enum doppel_status doppel_match_videos(const struct doppel_video_track *query,
                                                  const struct doppel_video_track *item,
                                                  const struct doppel_video_search *options,
                                                  struct doppel_match *out_match,
                                                  struct doppel_error *error);

/** Whether a film shows a picture, and when. As doppel_match_videos. */
DOPPEL_API enum doppel_status doppel_match_picture_in_video(
    const struct doppel_match_item *picture, const struct doppel_video_track *item,
    const struct doppel_video_search *options, struct doppel_match *out_match,
    struct doppel_error *error);

/** Frames around an end of a segment, every one of both films (doppel_video_options.every_frame).
 */
struct doppel_video_end {
    const struct doppel_video_track *query, *item; /**< times as in the whole films; borrowed */
    const struct doppel_video_view *view;          /**< of the match; the query's frames are of its
                                                      part, and not warped yet */
    bool last;                                     /**< the segment's end, not its beginning */
};

/** Move one end of a segment to where the frames begin, or cease, to be the same. @param segment in
 * and out; left as it is when the frames do not tell. Thread-safe. */
DOPPEL_API void doppel_match_video_refine(const struct doppel_video_end *end,
                                          struct doppel_segment *segment);

/** vPDQ's comparison of two lists: the shares, 0 to 1, of the query's and of the item's different
 * codes of at least `min_quality` that have one of the other within `max_distance` of 256 bits. */
struct doppel_vpdq_limits {
    uint32_t max_distance; /**< default 31 */
    uint8_t min_quality;   /**< default 50 */
    double min_share;      /**< of one of the two, for a match, which is the same film when both
                              have it, else a part of it; default .8 */
};

DOPPEL_API struct doppel_vpdq_limits doppel_vpdq_limits_default(void);

/** @param out_match filled also when they do not match: query_coverage and item_coverage are the
 * shares. DOPPEL_OK; DOPPEL_E_MEMORY. Thread-safe. Source: vPDQ's matching. */
DOPPEL_API enum doppel_status doppel_match_vpdqs(const struct doppel_vpdq *query,
                                                 const struct doppel_vpdq *item,
                                                 const struct doppel_vpdq_limits *limits,
                                                 bool *out_matches, struct doppel_match *out_match,
                                                 struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
