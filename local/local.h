/**
 * doppel/local.h: parts of pictures in pictures and videos, by their keypoints. Takes grey planes,
 * not files; needs no decoder.
 *
 * A *point* is a blob of a picture at a place, with a scale and an angle. Its code says what the
 * neighbourhood looks like, turned to that angle and scaled to that size: the signs of the lowest
 * coefficients of its DCT. A picture that shows a part of another one has some of its points, all
 * moved, scaled and turned alike; that so many are by chance is what a verdict computes.
 *
 * A fingerprint of scheme `local` has a code a point, in order of position. The strongest points,
 * spread over the picture, come first: a library keeps the first DOPPEL_LOCAL_KEPT of them
 * (doppel_local_keep), a query has all.
 *
 * A video has such points of some of its frames, with the times from and until which each is shown;
 * a picture is as a video of one frame that has no times.
 *
 * Lengths are in units of the longer side of the picture: times max(width, height) they are pixels.
 * Angles are in degrees, 0 to 360, from the x axis to the y axis (which goes down): clockwise.
 */
#ifndef DOPPEL_LOCAL_H
#define DOPPEL_LOCAL_H

#include <stdbool.h>

#include <doppel/core.h>
#include <doppel/index.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- fingerprints ---- */

enum {
    DOPPEL_LOCAL_BITS = 128,  /**< of a code */
    DOPPEL_LOCAL_KEPT = 124,  /**< points of an item of a library: 16 bytes each */
    DOPPEL_LOCAL_POINTS = 640 /**< most points of a picture */
};

/** A point, as its position says, which has 32 bits. */
struct doppel_local_point {
    double x, y;   /**< 0 to 1, in longer sides, to 1/512 */
    double radius; /**< of the neighbourhood that its code is of, in longer sides */
    double angle;  /**< degrees */
};

/** Thread-safe; any number is a position. */
DOPPEL_API struct doppel_local_point doppel_local_point(uint32_t position);

/**
 * The points of a picture.
 *
 * @param plane a grey picture, upright; borrowed
 * @param out   scheme local, DOPPEL_LOCAL_BITS a code, at most DOPPEL_LOCAL_POINTS of them, none in
 *              a picture without blobs; given (doppel_fingerprint_free); untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT (empty plane); DOPPEL_E_MEMORY
 *
 * Thread-safe, deterministic on every CPU. Source: docs/methods.md.
 */
DOPPEL_API enum doppel_status doppel_local_features(const struct doppel_plane *plane,
                                                    struct doppel_fingerprint *out,
                                                    struct doppel_error *error);

/** Drop what a library does not keep: all but the first DOPPEL_LOCAL_KEPT points, and which bits of
 * their codes are unsure. Such a fingerprint is a query as well, which finds less. */
DOPPEL_API void doppel_local_keep(struct doppel_fingerprint *fingerprint);

/* ---- videos ---- */

/** A frame, or a picture. */
struct doppel_local_frame {
    uint32_t from_ms, to_ms;          /**< shown from, and until; of a picture 0, 0 */
    struct doppel_fingerprint points; /**< scheme local; some at least */
};

/** Frames of a video, in order of time, each shown no longer than until the next one. */
struct doppel_local_video {
    uint64_t duration_ms, damaged_ms; /**< as those of a track (doppel/video.h) */
    struct doppel_local_frame *frames;
    uint32_t count;
};

enum { DOPPEL_LOCAL_FRAMES = 1 << 20 /**< most frames of a video */ };

/** A second apart: so far are frames to be that are pushed. */
enum { DOPPEL_LOCAL_STEP_MS = 1000 };

/** Chooses the frames of a video: the first, and each that shows something else than the last one
 * that was chosen. */
struct doppel_local_chooser;

/** @param out given (doppel_local_chooser_free). DOPPEL_OK; DOPPEL_E_MEMORY */
DOPPEL_API enum doppel_status doppel_local_chooser_new(struct doppel_local_chooser **out,
                                                       struct doppel_error *error);
DOPPEL_API void doppel_local_chooser_free(struct doppel_local_chooser *chooser);

/** Look at the next frame. @param plane borrowed for the call. DOPPEL_OK; DOPPEL_E_ARGUMENT (an
 * empty plane, or a time that goes back); DOPPEL_E_LIMIT (too many frames); DOPPEL_E_MEMORY */
DOPPEL_API enum doppel_status doppel_local_chooser_push(struct doppel_local_chooser *chooser,
                                                        const struct doppel_plane *plane,
                                                        uint32_t time_ms,
                                                        struct doppel_error *error);

/** What was chosen; the chooser begins again. @param out given (doppel_local_video_free) */
DOPPEL_API void doppel_local_chooser_finish(struct doppel_local_chooser *chooser,
                                            uint64_t duration_ms, struct doppel_local_video *out);
DOPPEL_API void doppel_local_video_free(struct doppel_local_video *video);

/** The portable form (docs/formats.md), of a picture, too. @param kept what a library keeps of each
 * frame (doppel_local_keep), or all. @param out given (free). DOPPEL_OK; DOPPEL_E_MEMORY */
DOPPEL_API enum doppel_status doppel_local_video_write(const struct doppel_local_video *video,
                                                       bool kept, uint8_t **out, size_t *out_size,
                                                       struct doppel_error *error);

/** @param out given (doppel_local_video_free). DOPPEL_OK; DOPPEL_E_CORRUPT; DOPPEL_E_MEMORY */
DOPPEL_API enum doppel_status doppel_local_video_read(const uint8_t *data, size_t size,
                                                      struct doppel_local_video *out,
                                                      struct doppel_error *error);

/** The attachment of a record of scheme frames128, or of local, a fingerprint or what a library
 * keeps, which gives one frame, or none without points. @param out given
 * (doppel_local_video_free). DOPPEL_OK; DOPPEL_E_ARGUMENT (another scheme); DOPPEL_E_CORRUPT;
 * DOPPEL_E_MEMORY */
DOPPEL_API enum doppel_status doppel_local_read(enum doppel_scheme_id scheme, const uint8_t *data,
                                                size_t size, struct doppel_local_video *out,
                                                struct doppel_error *error);

/** All but the frames, from the first DOPPEL_LOCAL_HEAD_BYTES, or more. `count` is as it says. */
DOPPEL_API enum doppel_status doppel_local_video_head(const uint8_t *data, size_t size,
                                                      struct doppel_local_video *out,
                                                      struct doppel_error *error);
enum { DOPPEL_LOCAL_HEAD_BYTES = 24 };

/** One frame of what can be read, without the others. @param out given (free its points).
 * DOPPEL_OK; DOPPEL_E_CORRUPT, also when there is no such frame; DOPPEL_E_MEMORY */
DOPPEL_API enum doppel_status doppel_local_video_frame(const uint8_t *data, size_t size,
                                                       uint32_t number,
                                                       struct doppel_local_frame *out,
                                                       struct doppel_error *error);

/* ---- two pictures ---- */

/** A rectangle of a picture, turned about its middle. */
struct doppel_local_rectangle {
    double x, y;          /**< of its middle, in longer sides */
    double width, height; /**< likewise; before it was turned */
    double angle;         /**< degrees; 0 in the item */
};

/** Where two pictures show the same. */
struct doppel_local_where {
    struct doppel_local_rectangle query, item; /**< around what was met; more may be the same */
    double scale;  /**< of the item's lengths, in its longer sides, to the query's, in its own */
    bool mirrored; /**< before it was turned */
};

/** When a query shows what an item shows. */
struct doppel_local_span {
    uint32_t query_from_ms, query_to_ms, item_from_ms, item_to_ms; /**< 0, 0 of a picture */
};

struct doppel_local_verdict {
    uint32_t points;            /**< of the query that lie where the item is shown */
    uint32_t inliers;           /**< of them met in the item, where and as they should be */
    uint32_t distance;          /**< bits of DOPPEL_LOCAL_BITS in which those differ, in the mean */
    double false_positive_rate; /**< of doppel_local_verify: of pairs of unrelated pictures that
                                   share as much; of doppel_local_find: such matches to be expected
                                   of an unrelated query, in the whole set */
    struct doppel_local_where where; /**< zero without inliers; of videos, in the frames that share
                                        most */
    const struct doppel_local_span *spans; /**< where one is a video, in order of the query's time,
                                              then of the item's; borrowed */
    size_t span_count;
    bool time_uncertain; /**< of two videos: other times fit as well, as of a scene that stands */
};

struct doppel_local_options {
    double max_false_positives; /**< a match has at most this rate; default 1e-3: of 1000 queries
                                   that have nothing to do with the library, one may be given a
                                   match */
    bool mirrored;              /**< also find mirrored pictures; default true */
    size_t near_misses;         /**< the best that many rejected candidates are visited, too;
                                   default 0 */
};

DOPPEL_API struct doppel_local_options doppel_local_options_default(void);

/**
 * Judge whether a picture shows a part of another one.
 *
 * @param query,item of any number of points, also none; of more than DOPPEL_LOCAL_POINTS the first
 * count; other schemes and versions are
 * DOPPEL_E_ARGUMENT
 * @param out filled also when they share nothing: then the rate is 1 or near to it
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT; DOPPEL_E_MEMORY. Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_local_verify(const struct doppel_fingerprint *query,
                                                  const struct doppel_fingerprint *item,
                                                  const struct doppel_local_options *options,
                                                  struct doppel_local_verdict *out,
                                                  struct doppel_error *error);

/* ---- many pictures and videos ---- */

/**
 * A searchable set of pictures and videos: postings of keys, which are parts of the codes of
 * points. One writer; any number of threads may search while nobody writes.
 */
struct doppel_local_set;

/** A set in memory; keeps the points that a library keeps, too. @param out given
 * (doppel_local_set_free). DOPPEL_OK; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_local_set_new(struct doppel_local_set **out,
                                                   struct doppel_error *error);

/** Where to have a frame of an item from. @param frame its number; of a picture 0
 * @param out given (free its points)
 * @return false when it cannot be had, or is not wanted: then it is no candidate */
typedef bool doppel_local_source(void *context, uint64_t id, uint32_t frame,
                                 struct doppel_local_frame *out);

/** A set over an index of postings that somebody else keeps (doppel_local_postings). Nothing can be
 * added. @param index borrowed for the life of the set. @param out given (doppel_local_set_free).
 * DOPPEL_OK; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_local_set_over(const struct doppel_index *index,
                                                    doppel_local_source *source, void *context,
                                                    struct doppel_local_set **out,
                                                    struct doppel_error *error);
DOPPEL_API void doppel_local_set_free(struct doppel_local_set *set);

/** The options of an index for points. Thread-safe. */
DOPPEL_API struct doppel_index_options doppel_local_index_options(void);

/** The length of an item of such an index, for each of its frames. */
enum { DOPPEL_LOCAL_ITEM_LENGTH = 256 };

/**
 * What an item has in such an index, of its first DOPPEL_LOCAL_KEPT points; its payload is its id.
 * @param out room for DOPPEL_LOCAL_KEPT of them
 * @return how many were written; 0 of another scheme or version. Thread-safe.
 */
DOPPEL_API size_t doppel_local_postings(const struct doppel_fingerprint *fingerprint,
                                        struct doppel_index_posting out[DOPPEL_LOCAL_KEPT]);

/** The same of all frames of a video, which has the length of all. @param out given (free)
 * DOPPEL_OK; DOPPEL_E_MEMORY. Thread-safe. */
DOPPEL_API enum doppel_status doppel_local_video_postings(const struct doppel_local_video *video,
                                                          struct doppel_index_posting **out,
                                                          size_t *out_count,
                                                          struct doppel_error *error);

/** Add a picture to a set in memory under an id of the caller's; copied, but for the points that a
 * library does not keep. Ids are added once. DOPPEL_OK; DOPPEL_E_ARGUMENT (a set over an index, an
 * id that is there, another scheme or version); DOPPEL_E_LIMIT; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_local_set_add(struct doppel_local_set *set, uint64_t id,
                                                   const struct doppel_fingerprint *fingerprint,
                                                   struct doppel_error *error);

/** The same of a video; one without frames is in no result. */
DOPPEL_API enum doppel_status doppel_local_set_add_video(struct doppel_local_set *set, uint64_t id,
                                                         const struct doppel_local_video *video,
                                                         struct doppel_error *error);

/** Remove one from a set in memory; an unknown one is fine. DOPPEL_OK; DOPPEL_E_ARGUMENT (a set
 * over an index); DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_local_set_remove(struct doppel_local_set *set, uint64_t id,
                                                      struct doppel_error *error);

/** How many pictures with points, and frames of videos, are in it. Thread-safe. */
DOPPEL_API uint64_t doppel_local_set_count(const struct doppel_local_set *set);

/** @param is_match false: below the threshold. @param verdict borrowed for the visit. Return
 * false to end the search. */
typedef bool doppel_local_visitor(void *context, uint64_t id, bool is_match,
                                  const struct doppel_local_verdict *verdict);

/**
 * Find the pictures of a set of which a picture shows a part: matches first, each by its rate, best
 * first, equal ones by id.
 * @param query of any number of points; DOPPEL_E_ARGUMENT of another scheme or version
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT; DOPPEL_E_CANCELLED by the visitor; DOPPEL_E_CORRUPT (of the
 * index); DOPPEL_E_MEMORY. Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_local_find(const struct doppel_local_set *set,
                                                const struct doppel_fingerprint *query,
                                                const struct doppel_local_options *options,
                                                doppel_local_visitor *visitor, void *context,
                                                struct doppel_error *error);

/** The same of a video: each item once, by the frames that share most. The rate is for all frames
 * of the query. */
DOPPEL_API enum doppel_status doppel_local_find_video(const struct doppel_local_set *set,
                                                      const struct doppel_local_video *query,
                                                      const struct doppel_local_options *options,
                                                      doppel_local_visitor *visitor, void *context,
                                                      struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
