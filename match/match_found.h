/** doppel/match_found.h: what a match says, of any kind of content. Part of doppel/match.h. */
#ifndef DOPPEL_MATCH_FOUND_H
#define DOPPEL_MATCH_FOUND_H

#include <stdbool.h>

#include <doppel/core.h>
#include <doppel/video.h>

#ifdef __cplusplus
extern "C" {
#endif

enum doppel_relation {
    DOPPEL_RELATION_SAME,
    DOPPEL_RELATION_CONTAINS,
    DOPPEL_RELATION_CONTAINED,
    DOPPEL_RELATION_OVERLAPS,
    DOPPEL_RELATION_SHARED, /**< of recordings: other ones, in which the same is heard for a while
                               among other audio: a loop, a sample */
    DOPPEL_RELATION_BURST   /**< of images: another shot of one scene, within seconds */
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
    /** Of a document with pages the first and the last that it touches, from 1 on; else 0. */
    uint32_t a_pages[2], b_pages[2];
    bool repeat; /**< of videos: of half of it or more, in one of the two, a better segment says
                    another time of the other, which shows the same again, or much alike */
};

/** Where something lies in a picture: a rectangle, as shares of the picture's width and height,
 * turned about its middle. */
struct doppel_place {
    double left, top, right,
        bottom;   /**< before it is turned; 0 to 1, and beyond where it is turned */
    double angle; /**< degrees clockwise, 0 to 360 */
};

/** One answer, described: the fields of a match in JSON. */
struct doppel_match {
    enum doppel_kind kind;
    enum doppel_scheme_id scheme;
    enum doppel_relation relation;
    enum doppel_verified verified; /**< EXACT: same bytes; CODES: by the codes; ALIGNMENT: the
                                      pixels, the words, or the times, were aligned too */
    uint32_t distance, bits;       /**< of the deciding pair of codes, at the scheme's width */
    double similarity;             /**< 0 to 1 */
    double score;                  /**< -log10 of the false-positive rate; 0 when not known */
    double false_positive_rate;    /**< < 0: not known: of pictures too flat to tell, and of schemes
                                      without a calibration */
    double pair_rate; /**< of pictures, by views: the share of pairs of different ones that come as
                         near, however many are compared; < 0: likewise */
    struct {
        bool mirrored, cropped, trimmed;
        uint16_t rotated; /**< degrees clockwise by which the query was turned: 0, 90, 180, 270 */
        double speed; /**< of recordings and videos: of the item's time to the query's; 0: no other
                         speed that could be measured, or not known */
        double pitch; /**< of recordings: by what its frequencies are higher; 0: likewise */
    } transform;
    bool has_coverage;                     /**< the next two are known */
    double query_coverage, item_coverage;  /**< share of the query, and of the item, that the other
                                              one has too: of texts, of their shingles or words */
    const struct doppel_segment *segments; /**< of passages, recordings, videos; borrowed */
    size_t segment_count;
    bool time_uncertain; /**< of videos: the same, but not when: a still scene, or other times of
                            the item fit as well */
    bool has_places;     /**< the next two are known */
    struct doppel_place query_place, item_place; /**< of pictures, by their parts, and of videos in
                                                    a part of a frame: what both show */
    struct doppel_video_view view; /**< of videos: which part of the query's frame met, and how */
};

DOPPEL_API const char *doppel_relation_name(enum doppel_relation relation);
DOPPEL_API const char *doppel_verified_name(enum doppel_verified verified);

struct doppel_found {
    uint64_t id;     /**< of the item */
    uint64_t query;  /**< doppel_matcher_join: the id of the other one; else 0 */
    bool borderline; /**< not within the limit, but a pixel check could change that */
    struct doppel_match match;
};

/** Visit what is found; false ends the search. From the calling thread only. */
typedef bool doppel_found_visitor(void *context, const struct doppel_found *found);

#ifdef __cplusplus
}
#endif
#endif
