/**
 * doppel/local.h: parts of pictures in pictures, by their keypoints. Takes grey planes, not files;
 * needs no decoder.
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
    DOPPEL_LOCAL_KEPT = 96,   /**< points of an item of a library: 20 bytes each */
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

/** Drop the points that a library does not keep: all but the first DOPPEL_LOCAL_KEPT. Such a
 * fingerprint is a query as well, which finds less. */
DOPPEL_API void doppel_local_keep(struct doppel_fingerprint *fingerprint);

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

struct doppel_local_verdict {
    uint32_t points;            /**< of the query that lie where the item is shown */
    uint32_t inliers;           /**< of them met in the item, where and as they should be */
    uint32_t distance;          /**< bits of DOPPEL_LOCAL_BITS in which those differ, in the mean */
    double false_positive_rate; /**< of doppel_local_verify: of pairs of unrelated pictures that
                                   share as much; of doppel_local_find: such matches to be expected
                                   of an unrelated query, in the whole set */
    struct doppel_local_where where; /**< zero without inliers */
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

/* ---- many pictures ---- */

/**
 * A searchable set of pictures: postings of keys, which are parts of the codes of their points.
 * One writer; any number of threads may search while nobody writes.
 */
struct doppel_local_set;

/** A set in memory; keeps the points that a library keeps, too. @param out given
 * (doppel_local_set_free). DOPPEL_OK; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_local_set_new(struct doppel_local_set **out,
                                                   struct doppel_error *error);

/** Where to have an item's points from. @param out given (doppel_fingerprint_free)
 * @return false when they cannot be had, or are not wanted: then it is no candidate */
typedef bool doppel_local_source(void *context, uint64_t id, struct doppel_fingerprint *out);

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

/** The length of an item of such an index. */
enum { DOPPEL_LOCAL_ITEM_LENGTH = 256 };

/**
 * What an item has in such an index, of its first DOPPEL_LOCAL_KEPT points; its payload is its id.
 * @param out room for DOPPEL_LOCAL_KEPT of them
 * @return how many were written; 0 of another scheme or version. Thread-safe.
 */
DOPPEL_API size_t doppel_local_postings(const struct doppel_fingerprint *fingerprint,
                                        struct doppel_index_posting out[DOPPEL_LOCAL_KEPT]);

/** Add a picture to a set in memory under an id of the caller's; copied, but for the points that a
 * library does not keep. Ids are added once. DOPPEL_OK; DOPPEL_E_ARGUMENT (a set over an index, an
 * id that is there, another scheme or version); DOPPEL_E_LIMIT; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_local_set_add(struct doppel_local_set *set, uint64_t id,
                                                   const struct doppel_fingerprint *fingerprint,
                                                   struct doppel_error *error);

/** Remove one from a set in memory; an unknown one is fine. DOPPEL_OK; DOPPEL_E_ARGUMENT (a set
 * over an index); DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_local_set_remove(struct doppel_local_set *set, uint64_t id,
                                                      struct doppel_error *error);

/** How many pictures with points are in it. Thread-safe. */
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

#ifdef __cplusplus
}
#endif
#endif
