/** doppel/match_videos.h: videos, and pictures in videos. Part of doppel/match.h. */
#ifndef DOPPEL_MATCH_VIDEOS_H
#define DOPPEL_MATCH_VIDEOS_H

#include <doppel/core.h>
#include <doppel/index.h>
#include <doppel/match_found.h>
#include <doppel/match_images.h>
#include <doppel/video.h>

#ifdef __cplusplus
extern "C" {
#endif

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
 * A searchable set of videos: the 64-bit codes of their frames. One writer; any number of threads
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

/** The options of an index for videos. Thread-safe. */
DOPPEL_API struct doppel_index_options doppel_videos_index_options(void);

/** Codes, and a payload each. */
struct doppel_video_code_list {
    uint64_t *codes, *payloads; /**< given (free) */
    size_t count;
};

/** What an item has in such an index: the 64-bit code of each run, and as payload the id, below
 * 2^32, in the high half and its start_ms, below 2^30, in the low one; then those of the upright
 * middles, a second apart or more, with bit 31 of the payload set, and of frames with their bars,
 * of each run, with bit 30. DOPPEL_OK; DOPPEL_E_LIMIT (the
 * id); DOPPEL_E_MEMORY. Thread-safe. */
DOPPEL_API enum doppel_status doppel_video_codes(uint64_t id,
                                                 const struct doppel_video_track *track,
                                                 struct doppel_video_code_list *out,
                                                 struct doppel_error *error);

/** Add a video to a set in memory under an id of the caller's; copied. Ids are added once.
 * DOPPEL_OK; DOPPEL_E_ARGUMENT; DOPPEL_E_LIMIT; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_videos_add(struct doppel_videos *videos, uint64_t id,
                                                const struct doppel_video_track *track,
                                                struct doppel_error *error);

/** Remove one from a set in memory; an unknown one is fine. */
DOPPEL_API enum doppel_status doppel_videos_remove(struct doppel_videos *videos, uint64_t id,
                                                   struct doppel_error *error);

/** Codes in it: of the runs of frames, of their upright middles, and with their bars. */
DOPPEL_API uint64_t doppel_videos_frames(const struct doppel_videos *videos);

/**
 * Find the videos that a video is, holds, is held by, or overlaps, and where.
 *
 * Each item is visited once, best first, with all its segments (a_: in the query, b_: in the item;
 * seconds, speed: of the item's time to the query's), which are borrowed during the visit;
 * `borderline` ones are matches below the threshold. `score` is -log10 of E, `false_positive_rate`
 * E, at most 1; `distance` of `bits` 256 the median along the best segment; transform.mirrored,
 * cropped, speed and `view` are those of the best segment. Coverages are of what is shown: of black
 * at the ends of a video nothing can be reported. A query without cells is looked for as it is and
 * mirrored.
 *
 * @return DOPPEL_OK; DOPPEL_E_CANCELLED by the visitor; DOPPEL_E_CORRUPT (of the index);
 * DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_videos_find(const struct doppel_videos *videos,
                                                 const struct doppel_video_track *query,
                                                 const struct doppel_video_search *options,
                                                 doppel_found_visitor *visitor, void *context,
                                                 struct doppel_error *error);

/** Find the videos that show a picture (of scheme phash64), and when: segments have a_start = a_end
 * = 0, b_ the times during which it is shown. As doppel_videos_find. */
DOPPEL_API enum doppel_status doppel_videos_find_image(const struct doppel_videos *videos,
                                                       const struct doppel_match_item *image,
                                                       const struct doppel_video_search *options,
                                                       doppel_found_visitor *visitor, void *context,
                                                       struct doppel_error *error);

/** What two videos share: both ways round, the better one, told with the roles given. @param
 * out_match as doppel_videos_find says; a match when it has segments, which are given (free
 * `segments`); filled also without */
DOPPEL_API enum doppel_status doppel_match_videos(const struct doppel_video_track *query,
                                                  const struct doppel_video_track *item,
                                                  const struct doppel_video_search *options,
                                                  struct doppel_match *out_match,
                                                  struct doppel_error *error);

/** How the query lies in the item, or the item in the query, more closely than it took to find
 * that: the `view` of a match of the two, where that is the frame as it is and the frames are not
 * near. @param query,item with cells, as far as they are known; without, nothing is done.
 * @param segment of the match: along which the view is fitted. Thread-safe. */
DOPPEL_API void doppel_match_fit_view(const struct doppel_video_track *query,
                                      const struct doppel_video_track *item,
                                      const struct doppel_segment *segment,
                                      struct doppel_match *match);

/** Whether a video shows a picture, and when. As doppel_match_videos. */
DOPPEL_API enum doppel_status doppel_match_image_in_video(const struct doppel_match_item *image,
                                                          const struct doppel_video_track *item,
                                                          const struct doppel_video_search *options,
                                                          struct doppel_match *out_match,
                                                          struct doppel_error *error);

/** Frames around an end of a segment, every one of both videos (doppel_video_options.every_frame).
 */
struct doppel_video_end {
    const struct doppel_video_track *query, *item; /**< times as in the whole videos; borrowed */
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
    double min_share;      /**< of one of the two, for a match, which is the same video when both
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
