/**
 * doppel/vector.h: vectors of float32, compared by their cosine: all pairs above a threshold.
 * Stands on core alone. Where vectors come from (models, services, files) is not known here.
 *
 * Vectors of one set have one dimension, 1 to 4096. They need not have length 1: a cosine does not
 * depend on it. A vector of zeros has no direction, and is in no pair.
 */
#ifndef DOPPEL_VECTOR_H
#define DOPPEL_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DOPPEL_VECTOR_DIMENSION_MAX = 4096 };

/** Row i is `dimension` floats from rows + i × dimension on. Borrowed; mapped files will do: rows
 * are read twice from the first to the last, and then at random, those of candidates alone. */
struct doppel_vectors {
    const float *rows;
    size_t count; /**< below 2^32 */
    uint32_t dimension;
};

struct doppel_vector_pair {
    uint32_t a, b; /**< rows; a < b */
    float cosine;
};

struct doppel_vector_join_options {
    float min_cosine; /**< -1 to 1; default 0.9 */
    bool exact;       /**< every pair is found; default false */
    float recall;     /**< else: the share of pairs to find at least, up to what a sample can say;
                         0.5 to 0.999, default 0.99 */
    /** The level of each vector, as doppel_vector_cohort_levels gives it: a pair must also have a
     * score of at least `min_score`, -2 to 2. NULL, and default: cosines alone decide. Borrowed */
    const float *levels;
    float min_score;
    uint32_t threads;               /**< 0: one */
    void *context;                  /**< of what follows */
    bool (*stopped)(void *context); /**< asked often, by any thread; NULL: never */
    void (*progress)(void *context, uint64_t done, uint64_t total); /**< vectors; may be NULL */
};

DOPPEL_API struct doppel_vector_join_options doppel_vector_join_options_default(void);

/** What a join did. */
struct doppel_vector_join_stats {
    uint32_t cells;    /**< that the vectors were divided into */
    uint32_t probes;   /**< cells that each vector was compared with; 0: all that can have a pair */
    uint64_t compared; /**< pairs, by their prefixes */
    uint64_t candidates; /**< pairs that these left */
    uint64_t pairs;      /**< visited */
};

/** @param pairs borrowed for the call. @return false: no more */
typedef bool doppel_vector_pair_visitor(void *context, const struct doppel_vector_pair *pairs,
                                        size_t count);

/**
 * Visit all pairs of a set whose cosine is at least a threshold, each once.
 *
 * Each vector is reduced to its components along the directions in which the set varies most, a
 * prefix of 16 to 128 small integers. By the Cauchy-Schwarz inequality the dot product of two
 * prefixes, the lengths of what they leave out, and the errors of rounding bound the cosine from
 * above, so what the prefixes reject is no pair; the others are judged by integers of all
 * dimensions, likewise, and then by the floats. Vectors lie in cells, around centres (spherical
 * k-means), by their distance from it, so that by the triangle inequality most of a cell need not
 * be looked at. Unless `exact`, a vector is compared with the cells nearest to it alone: as many as
 * a sample, compared with all, says are enough for `recall`.
 *
 * The same set and options give the same pairs in the same order, on any processor and for any
 * number of threads. A cosine is a sum of float32 products in a fixed order.
 *
 * Memory: about dimension + 64 bytes a vector, and the pairs of a few thousand vectors.
 *
 * @param visitor called in the calling thread, with some pairs at a time
 * @param context of the visitor
 * @param stats may be NULL
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: options or a dimension out of range; DOPPEL_E_FORMAT: a row
 *     holds what is no number, or too large or small a one; DOPPEL_E_MEMORY; DOPPEL_E_CANCELLED: by
 * `stopped` or the visitor
 *
 * Thread-safe. Source: Bayardo, Ma, Srikant, "Scaling up all pairs similarity search" (2007), for
 * bounds on what a prefix leaves out; Jégou, Douze, Schmid, "Product quantization for nearest
 * neighbor search" (2011), for cells of which some are visited.
 */
DOPPEL_API enum doppel_status doppel_vectors_join(const struct doppel_vectors *vectors,
                                                  const struct doppel_vector_join_options *options,
                                                  doppel_vector_pair_visitor *visitor,
                                                  void *context,
                                                  struct doppel_vector_join_stats *stats,
                                                  struct doppel_error *error);

/* ---- whitening ---- */

/** What makes of the vectors of a set such as vary alike in all directions. */
struct doppel_vector_whitening;

/**
 * Learn what a set has in common, from at most 65536 of its vectors: their mean, and how much they
 * vary in each direction. Vectors that were whitened by it have no mean, and a direction in which
 * all vary much, as means of words do, does not outweigh the others, so that far fewer of no
 * relation are near each other. The fewer vectors there are, the less is changed.
 *
 * @param out given (doppel_vector_whitening_free): 4 × dimension² bytes
 * @return DOPPEL_OK; DOPPEL_E_EMPTY: none has a direction; DOPPEL_E_ARGUMENT: a dimension out of
 *     range; DOPPEL_E_FORMAT: a row holds what is no number, or too large or small a one;
 *     DOPPEL_E_MEMORY
 *
 * Takes dimension³ / 3 steps: seconds from 2000 dimensions on. Thread-safe. Source: Su et al.,
 * "Whitening Sentence Representations for Better Semantics and Faster Retrieval" (2021).
 */
DOPPEL_API enum doppel_status doppel_vector_whitening_make(const struct doppel_vectors *vectors,
                                                           struct doppel_vector_whitening **out,
                                                           struct doppel_error *error);
DOPPEL_API void doppel_vector_whitening_free(struct doppel_vector_whitening *whitening);

/** Whiten a vector. One of zeros stays. @param row of the dimension of the set, of any length
 * @param out likewise, may be `row`. @return false: no memory. Thread-safe. */
DOPPEL_API bool doppel_vector_whiten(const struct doppel_vector_whitening *whitening,
                                     const float *row, float *out);

/** How many numbers a whitening is: dimension × (dimension + 3) / 2. */
DOPPEL_API size_t doppel_vector_whitening_size(uint32_t dimension);

/** The numbers of a whitening, to be kept: the mean; then, row by row, the lower triangle by which
 * a vector less the mean is multiplied. @param out room for doppel_vector_whitening_size of them */
DOPPEL_API void doppel_vector_whitening_get(const struct doppel_vector_whitening *whitening,
                                            float *out);

/**
 * A whitening of such numbers, which whitens to the same bits as the one that they are of.
 * @param numbers borrowed for the call
 * @param out given (doppel_vector_whitening_free); untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: a dimension out of range; DOPPEL_E_FORMAT: one of them is
 *     no number; DOPPEL_E_MEMORY. Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_vector_whitening_set(const float *numbers, uint32_t dimension,
                                                          struct doppel_vector_whitening **out,
                                                          struct doppel_error *error);

/* ---- scores that take the density into account ---- */

enum { DOPPEL_VECTOR_COHORT_SIZE_MAX = 1 << 16, DOPPEL_VECTOR_COHORT_NEAREST_MAX = 64 };

/** A sample of a set. Where a topic or a template is frequent, many vectors are near each other,
 * and a high cosine says little; where texts are rare, a lower one says much. So a *score* is the
 * cosine of two vectors less the mean of their *levels*; the level of a vector is the mean of its
 * highest cosines with the sample. */
struct doppel_vector_cohort;

struct doppel_vector_cohort_options {
    uint32_t size; /**< vectors of the sample, 1 to 65536; at most a quarter of the set is taken, so
                      that a few vectors that are alike do not make their own level; default
                      4096 */
    uint32_t nearest;               /**< cosines of which a level is the mean, 1 to 64; default 4 */
    uint32_t threads;               /**< that score pairs; 0: one */
    void *context;                  /**< of `stopped` */
    bool (*stopped)(void *context); /**< as of a join */
};

DOPPEL_API struct doppel_vector_cohort_options doppel_vector_cohort_options_default(void);

/**
 * Take a sample of a set, each so many-th vector.
 *
 * @param vectors its rows are borrowed for as long as scores or levels of the set are asked for
 * @param out given (doppel_vector_cohort_free): about 2 × size × dimension bytes, the dimension
 *     rounded up to a multiple of 64
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: options or a dimension out of range; DOPPEL_E_FORMAT: a row
 *     of the sample holds what is no number, or too large or small a one; DOPPEL_E_LIMIT: 2^32
 *     vectors or more; DOPPEL_E_MEMORY
 *
 * Thread-safe. Source: Conneau et al., "Word Translation Without Parallel Data" (2018), CSLS, of
 * which a score is the half; Matějka et al., "Analysis of Score Normalization in Multilingual
 * Speaker Recognition" (2017), for samples ("cohorts").
 */
DOPPEL_API enum doppel_status doppel_vector_cohort_make(
    const struct doppel_vectors *vectors, const struct doppel_vector_cohort_options *options,
    struct doppel_vector_cohort **out, struct doppel_error *error);
DOPPEL_API void doppel_vector_cohort_free(struct doppel_vector_cohort *cohort);

/**
 * Score pairs of the set. Each of their vectors is compared once in the cohort's life with the
 * sample, but not with itself: `size` dot products of rounded vectors, so that a score is within
 * about .01 of that of floats. The scores are the same on any processor, for any number of threads.
 *
 * @param pairs  with their cosines
 * @param scores room for `count`: -2 to 2, and hardly above 1
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: a pair is of vectors that are not in the set;
 *     DOPPEL_E_FORMAT: one of theirs holds what is no number; DOPPEL_E_MEMORY; DOPPEL_E_CANCELLED
 *
 * Needs 4 bytes a vector of the set. One call at a time.
 */
DOPPEL_API enum doppel_status doppel_vector_cohort_score(struct doppel_vector_cohort *cohort,
                                                         const struct doppel_vector_pair *pairs,
                                                         size_t count, float *scores,
                                                         struct doppel_error *error);

/**
 * Find the levels of all vectors of the set, on the cohort's threads: about 9 s of CPU for a
 * million vectors of 100 dimensions.
 *
 * @param out borrowed for the cohort's life, one of each vector
 * @return as doppel_vector_cohort_score
 */
DOPPEL_API enum doppel_status doppel_vector_cohort_levels(struct doppel_vector_cohort *cohort,
                                                          const float **out,
                                                          struct doppel_error *error);

/** Find levels of vectors that are not in the set: -1 to 1; 0 of one that has no direction, or
 * holds what is no number.
 * @param rows one after the other. @param out room for `count`. @return false: no memory.
 * Thread-safe. */
DOPPEL_API bool doppel_vector_cohort_level(const struct doppel_vector_cohort *cohort,
                                           const float *rows, size_t count, float *out);

/** The score of two vectors by their cosine and levels. */
DOPPEL_API float doppel_vector_cohort_normalise(float cosine, float level_a, float level_b);

/* ---- what a cosine is worth ---- */

/** How alike vectors of a set are that have nothing to do with each other: the distribution of the
 * cosines of pairs by chance. What .9 means depends on the model and on the texts: of some, one
 * pair in a hundred is as near. */
struct doppel_vector_background;

struct doppel_vector_background_options {
    uint64_t pairs;         /**< to look at, when there are more; default 2^22 */
    const uint32_t *groups; /**< one of each vector: two of the same are no pair by chance.
                                 NULL, and default: each is by itself. Borrowed */
    /** The level of each vector, as doppel_vector_cohort_levels gives it. The background is then
     * one of scores: of pairs whose cosine is at least `min_cosine`, while the others count as -1.
     * Wherever a cosine is named below, it is a score then. NULL, and default: a background of
     * cosines. Borrowed */
    const float *levels;
    /** Of each pair, one vector by chance stands for a query, and only its level counts: as in a
     * search, where only the query's level is known. Default false */
    bool of_queries;
    float min_cosine;               /**< -1 to 1 */
    uint32_t threads;               /**< 0: one */
    void *context;                  /**< of `stopped` */
    bool (*stopped)(void *context); /**< as of a join */
};

DOPPEL_API struct doppel_vector_background_options doppel_vector_background_options_default(void);

/**
 * Look at pairs of a set: at all of them, or at as many as are asked for, by chance, and the same
 * ones each time. Pairs that belong together are among them, as they are among all.
 *
 * @param out given (doppel_vector_background_free), 512 KB
 * @return DOPPEL_OK; DOPPEL_E_EMPTY: fewer than two vectors (of two groups) have a direction;
 * DOPPEL_E_ARGUMENT: a dimension out of range; DOPPEL_E_FORMAT: a row that was looked at holds what
 * is no number, or too large or small a one; DOPPEL_E_MEMORY; DOPPEL_E_CANCELLED
 *
 * Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_vector_background_make(
    const struct doppel_vectors *vectors, const struct doppel_vector_background_options *options,
    struct doppel_vector_background **out, struct doppel_error *error);
DOPPEL_API void doppel_vector_background_free(struct doppel_vector_background *background);

/** How many pairs were looked at. */
DOPPEL_API uint64_t
doppel_vector_background_pairs(const struct doppel_vector_background *background);

/** The share of pairs by chance whose cosine is this or higher, 0 to 1; never below 10 of those
 * that were looked at: of what is rarer they say nothing. Thread-safe, as what follows. */
DOPPEL_API double doppel_vector_background_rate(const struct doppel_vector_background *background,
                                                float cosine);

/** The same, also of what is too rare to be seen: where fewer than 30 of the pairs are so near, by
 * a power of 1 - c², the one by which shares fall from the nearest 1000 pairs to the nearest 30. So
 * fall those of vectors in all directions alike; where families of a few are nearer to each other
 * than any others, they are not foreseen. Of fewer than 150 pairs as doppel_vector_background_rate.
 * To weigh cosines against each other: what was not seen is no proof of a rate. */
DOPPEL_API double doppel_vector_background_tail(const struct doppel_vector_background *background,
                                                float cosine);

/** The lowest cosine that at most a share `rate` of pairs by chance reach, in steps of 2^-15; 2
 * when so low a rate cannot be told. */
DOPPEL_API float doppel_vector_background_cosine(const struct doppel_vector_background *background,
                                                 double rate);

/** The cosine of two vectors, as a join computes it; 0 when one has no direction. Thread-safe. */
DOPPEL_API float doppel_vector_cosine(const float *a, const float *b, uint32_t dimension);

#ifdef __cplusplus
}
#endif

#endif
