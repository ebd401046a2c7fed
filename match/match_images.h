/** doppel/match_images.h: pictures, two and many. Part of doppel/match.h. */
#ifndef DOPPEL_MATCH_MATCH_IMAGES_H
#define DOPPEL_MATCH_MATCH_IMAGES_H

#include <doppel/core.h>
#include <doppel/image.h>
#include <doppel/index.h>
#include <doppel/match_found.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How near is near. */
struct doppel_match_options {
    struct doppel_image_verify_options image;
    int32_t max_distance;  /**< of the deciding pair of codes at the scheme's width; of phash64 it
                              only narrows what the rate allows; -1 = none */
    double min_similarity; /**< decides alone, without rate and pixels; < 0 = by the rate */
    bool check_pixels; /**< borderline pairs are aligned and compared; needs a source of features;
                          default false */
    double max_rate;   /**< of phash64: of queries that are like nothing, the share that may have a
                          match; 0, the default: DOPPEL_IMAGE_QUERY_RATE */
    uint64_t compared; /**< pictures that a query is compared with, as doppel_image_compared counts
                          them; 0, the default: the fewest that count */
};

/** The rate of false matches of a query by default: of 1000 pictures that are like nothing one has
 * a match, as of audio and videos. */
#define DOPPEL_IMAGE_QUERY_RATE 1e-3

/** As how many a number of pictures counts: the next power of two, so that limits change seldom
 * while a set grows, and 128 at least, so that of a few pictures a pair is judged with care.
 * Thread-safe. */
DOPPEL_API uint64_t doppel_image_compared(uint64_t pictures);

/** The rate of a pair up to which it matches: that of a query by the pictures it is compared with,
 * and 1e-2 at most. Thread-safe. */
DOPPEL_API double doppel_match_pair_rate(const struct doppel_match_options *options);

/** The rate of a pair up to which its pixels are looked at, where they are: such that a query has
 * some 16 of them by chance, so DOPPEL_IMAGE_BORDERLINE_FPR at most; of 65 536 pictures or more it
 * is 1e-7, up to which pairs are found by a sweep. Thread-safe. */
DOPPEL_API double doppel_match_check_rate(const struct doppel_match_options *options);

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
 * phash64 is judged by all views, both ways, and limited by rate unless the options want a
 * similarity; its false_positive_rate is that of the query, the chance that one which is like
 * nothing has a match as good among so many pictures (1 - exp(-pairs × rate of a pair)). A
 * fingerprint that has the 64 bits only is judged by the nearest pair of views, up to 8 bits.
 * phash256 (of the full frame, in all orientations), imagehash and pdq are compared by plain
 * distance, up to the scheme's limit; their similarity is 1 - distance / (bits / 2), and no
 * false-positive rate is given: bits of pictures are not independent, and no calibration is at
 * hand.
 *
 * @return true when they match within the options' limit. Pictures under DOPPEL_IMAGE_MIN_QUALITY
 * never match here. Pixels are not looked at: with check_pixels, pairs whose codes do not suffice
 * without them do not match here, see doppel_match_borderline. Thread-safe.
 */
DOPPEL_API bool doppel_match_pair(const struct doppel_match_item *query,
                                  const struct doppel_match_item *item,
                                  const struct doppel_match_options *options,
                                  struct doppel_match *out_match);

/** Whether the pixels of a pair that doppel_match_pair did not match are to be looked at: they may
 * confirm what the codes leave open. */
DOPPEL_API bool doppel_match_borderline(const struct doppel_match *match,
                                        const struct doppel_match_options *options);

/** Whether a borderline pair matches by its codes alone, as one does whose pixels are not kept.
 * @param match that is borderline by these options. Thread-safe. */
DOPPEL_API bool doppel_match_by_codes(const struct doppel_match *match,
                                      const struct doppel_match_options *options);

/** What the codes said of a pair, for doppel_image_check_pixels to begin with. Thread-safe. */
DOPPEL_API struct doppel_image_verdict doppel_match_verdict(const struct doppel_match *match);

/** Fill a borderline match from pixels.
 * @param verdict of doppel_image_check_pixels, whose rate is that of a pair
 * @return whether the pair matches by it. Thread-safe. */
DOPPEL_API bool doppel_match_from_pixels(const struct doppel_image_verdict *verdict,
                                         const struct doppel_match_options *options,
                                         struct doppel_match *match);

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

/** Say how many pictures each is compared with: `compared` of the options, which the matcher does
 * not set by itself. Not while it searches. */
DOPPEL_API void doppel_matcher_set_compared(struct doppel_matcher *matcher, uint64_t pictures);

/** Ask now and then, while all are compared, whether to end: where no pairs are found no visitor is
 * asked. NULL: never, the default. */
DOPPEL_API void doppel_matcher_set_cancel(struct doppel_matcher *matcher,
                                          bool (*cancelled)(void *context), void *context);

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
 * to follow the representative `found->query`; it is then no representative itself. */
typedef bool doppel_leader_visitor(void *context, const struct doppel_found *found,
                                   bool *out_follows);

/** As doppel_matcher_join, but only the pairs of a picture with the representatives before it: all
 * that doppel_group_by_leader needs, of strong edges the followed ones, with work for N alike
 * pictures that grows with N, not N².
 */
DOPPEL_API enum doppel_status doppel_matcher_lead(const struct doppel_matcher *matcher,
                                                  doppel_leader_visitor *visitor, void *context,
                                                  struct doppel_error *error);

/** What doppel_matcher_lead found another time, of pictures with the same fingerprints, qualities
 * and options. A picture has a place there: places are in the order of the ids that they had.
 * Arrays are borrowed. */
struct doppel_former {
    const struct doppel_former_place {
        uint64_t id; /**< of the matcher, now */
        uint32_t place;
    } * images; /**< those that are there again, by id */
    size_t image_count;
    const struct doppel_former_pair {
        uint32_t leader, follower; /**< places, also of pictures that are gone */
        bool weak;                 /**< it was not followed */
    } * pairs; /**< those that were followed, and others worth a visit: each, by any order */
    size_t pair_count;
};

/** As doppel_matcher_lead, to the same pairs in the same order, but pictures that are there again,
 * in the order that they had, are not looked up again: the work grows with the number of others.
 * Of what was visited then, only the pairs that are given are visited; the visitor must answer as
 * it did. */
DOPPEL_API enum doppel_status doppel_matcher_lead_cached(const struct doppel_matcher *matcher,
                                                         const struct doppel_former *former,
                                                         doppel_leader_visitor *visitor,
                                                         void *context, struct doppel_error *error);

/** Two pictures of a matcher, by their ids, the lower first. */
struct doppel_image_pair {
    uint64_t a, b;
};

/**
 * Find the pairs that may match, and leave to judge them to doppel_matcher_lead_pairs: all that
 * doppel_matcher_join visits are among them. Which they are hangs on both pictures and on the
 * options alone: so pairs can be kept, and when pictures have come, only theirs are to be found.
 * @param fresh ids, in order: pairs with these alone are wanted; NULL: all pairs
 * @param out   given (free), in order of b, then a
 * @return DOPPEL_OK; DOPPEL_E_LIMIT: they are more than four a picture, which doppel_matcher_lead
 *         can do without; DOPPEL_E_CANCELLED; DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_matcher_meet(const struct doppel_matcher *matcher,
                                                  const uint64_t *fresh, size_t fresh_count,
                                                  struct doppel_image_pair **out, size_t *out_count,
                                                  struct doppel_error *error);

/** As doppel_matcher_lead, where the pairs that doppel_matcher_meet found are known, of these and
 * perhaps of more pictures; in any order. */
DOPPEL_API enum doppel_status doppel_matcher_lead_pairs(const struct doppel_matcher *matcher,
                                                        const struct doppel_image_pair *pairs,
                                                        size_t count,
                                                        doppel_leader_visitor *visitor,
                                                        void *context, struct doppel_error *error);

/** Describe a pair of the set, whether it matches or not. @return false when an id is not there.
 * Thread-safe while nobody writes. */
DOPPEL_API bool doppel_matcher_compare(const struct doppel_matcher *matcher, uint64_t query_id,
                                       uint64_t item_id, struct doppel_match *out_match);

/* ---- in tables that are kept ---- */

/** The tables in which the pictures of a scheme are found: under their codes, and, of phash64,
 * under the 256 bits of their full frames. The codes of phash64 are those of all views, which are
 * scanned (doppel_index_scan), with the bits of word 0 sorted. */
enum doppel_image_table { DOPPEL_IMAGE_TABLE_CODES, DOPPEL_IMAGE_TABLE_FULL };
enum { DOPPEL_IMAGE_TABLES = 2, DOPPEL_IMAGE_TABLE_WORDS = 4 * DOPPEL_IMAGE_MAX_QUERIES };

/** How such an index is made. @return false when pictures of the scheme need no such table.
 * Thread-safe. */
DOPPEL_API bool doppel_image_table_options(enum doppel_scheme_id scheme,
                                           enum doppel_image_table table,
                                           struct doppel_index_options *out);

/** The codes of a picture in such an index, back to back. @return how many: 0 of one that is too
 * flat to be compared. Thread-safe. */
DOPPEL_API size_t doppel_image_table_codes(enum doppel_image_table table,
                                           const struct doppel_match_item *item,
                                           uint64_t out[DOPPEL_IMAGE_TABLE_WORDS]);

/** The payload of code number `number` of a picture there: its id, below 2^47, and of phash64 which
 * views it has and which this is. Thread-safe. */
DOPPEL_API uint64_t doppel_image_table_payload(const struct doppel_fingerprint *fingerprint,
                                               uint64_t id, size_t number);

/** The id in a payload. Thread-safe. */
DOPPEL_API uint64_t doppel_image_table_id(enum doppel_scheme_id scheme, uint64_t payload);

/** The fingerprint and quality of a picture.
 * @param out given (doppel_fingerprint_free); NULL, as `out_quality` then is: of a scheme without
 * views only whether it is there, since its code in the table is all that it has
 * @return DOPPEL_E_NOT_FOUND: it is not there, or damaged, and is not found; anything else ends the
 * search */
typedef enum doppel_status doppel_image_source(void *context, uint64_t id,
                                               struct doppel_fingerprint *out, uint8_t *out_quality,
                                               struct doppel_error *error);

struct doppel_image_request {
    const struct doppel_match_item *query;
    const struct doppel_match_options *options;
    const struct doppel_index *tables[DOPPEL_IMAGE_TABLES]; /**< by doppel_image_table_payload */
    doppel_image_source *source; /**< asked for candidates, by ascending id */
    void *context;
    uint32_t threads; /**< 0 and 1: the calling one */
};

/** As doppel_matcher_find, to the same answers. Pictures under DOPPEL_IMAGE_MIN_QUALITY are in the
 * table of full frames alone, and found by it alone. @return as doppel_index_search. Thread-safe,
 * if the source is. */
DOPPEL_API enum doppel_status doppel_images_find(const struct doppel_image_request *request,
                                                 doppel_found_visitor *visitor, void *context,
                                                 struct doppel_error *error);

/* ---- in tables that others keep ----
 *
 * A node has the tables, and not the fingerprints: it gives candidates, and who asks judges them.
 * Of phash64 these are the answers of doppel_images_look and what lies within the radius of
 * doppel_image_full_lookup; of other schemes, what lies within that of doppel_image_lookups. What
 * doppel_image_judge_candidate keeps of them is what doppel_images_find gives. */

/** Return false to end the search. */
typedef bool doppel_image_id_visitor(void *context, uint64_t id);

/** The candidates of a picture of phash64 by its views, each once, by ascending id: of the request,
 * its query, options, threads and the table of codes are used, and the full frames are not looked
 * up. DOPPEL_OK; DOPPEL_E_ARGUMENT: another scheme; DOPPEL_E_MEMORY; DOPPEL_E_CANCELLED.
 * Thread-safe. */
DOPPEL_API enum doppel_status doppel_images_look(const struct doppel_image_request *request,
                                                 doppel_image_id_visitor *visitor, void *context,
                                                 struct doppel_error *error);

/** A fingerprint of phash64 and the options that it is searched with, as bytes: the most of them.
 */
enum { DOPPEL_IMAGE_QUESTION_BYTES = 24 + 12 + DOPPEL_VIEW_COUNT * (4 + 32) };

/** Write such bytes (docs/formats.md). @return how many; 0: the fingerprint is none of phash64, has
 * no codes, or not each view once and in order. Thread-safe. */
DOPPEL_API size_t doppel_image_question_pack(const struct doppel_fingerprint *fingerprint,
                                             const struct doppel_match_options *options,
                                             uint8_t out[DOPPEL_IMAGE_QUESTION_BYTES]);

/** The inverse, of bytes that may be anything. @param out given (doppel_fingerprint_free)
 * @return DOPPEL_OK; DOPPEL_E_CORRUPT; DOPPEL_E_MEMORY. Thread-safe. */
DOPPEL_API enum doppel_status doppel_image_question_unpack(const uint8_t *bytes, size_t size,
                                                           struct doppel_fingerprint *out,
                                                           struct doppel_match_options *out_options,
                                                           struct doppel_error *error);

/** Whether doppel_images_find would give a candidate. @param out its match, and whether it is
 * borderline; other fields are left alone. Thread-safe. */
DOPPEL_API bool doppel_image_judge_candidate(const struct doppel_match_item *query,
                                             const struct doppel_match_item *item,
                                             const struct doppel_match_options *options,
                                             struct doppel_found *out);

/** The codes by which a picture of a scheme without views is searched for in the table of codes,
 * back to back, and how near. @return how many; 0: none, or of phash64, which is looked for by
 * doppel_images_look. Thread-safe. */
DOPPEL_API size_t doppel_image_lookups(const struct doppel_match_item *query,
                                       const struct doppel_match_options *options,
                                       uint64_t out[DOPPEL_IMAGE_TABLE_WORDS],
                                       uint32_t *out_radius);

/** The code by which a picture is searched for in the table of full frames, and how near.
 * @return 1; 0: it is not. Thread-safe. */
DOPPEL_API size_t doppel_image_full_lookup(const struct doppel_match_item *query,
                                           const struct doppel_match_options *options,
                                           uint64_t out[4], uint32_t *out_radius);

#ifdef __cplusplus
}
#endif
#endif
