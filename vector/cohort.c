/* Scores that say how much nearer two vectors are than the nearest of a sample are to each. */
#include <doppel/vector.h>

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/ordered.h"
#include "core/try.h"
#include "vector/rounded.h"

enum {
    PIECE_ROWS = 32,   /* of a piece of work */
    BLOCK_MEMBERS = 32 /* that they are compared with at a time, and stay near the processor */
};

struct doppel_vector_cohort {
    struct doppel_vectors set;
    struct doppel_vector_cohort_options options;
    uint32_t count;
    float *members; /* of length 1; member i is vector i × set.count / count of the set */
};

/* The highest cosines of a vector, from the highest on. */
struct highest_cosines {
    float cosines[DOPPEL_VECTOR_COHORT_NEAREST_MAX];
    uint32_t count;
};

struct level_finding {
    const struct doppel_vector_cohort *cohort;
    size_t *numbers; /* of vectors, ascending */
    size_t count;
    float *levels; /* of all vectors of the set */
    atomic_bool bad;
    bool stopped;
};

static size_t number_of_member(const struct doppel_vector_cohort *cohort, size_t member)
{
    return (size_t)((uint64_t)member * cohort->set.count / cohort->count);
}

/* ---- levels ---- */

static void note_cosine(struct highest_cosines *highest, uint32_t most, float cosine)
{
    if (highest->count == most && cosine <= highest->cosines[most - 1])
        return;
    uint32_t at = highest->count < most ? highest->count++ : most - 1;
    for (; at && highest->cosines[at - 1] < cosine; at--)
        highest->cosines[at] = highest->cosines[at - 1];
    highest->cosines[at] = cosine;
}

static float mean_of_highest(const struct highest_cosines *highest)
{
    double sum = 0;
    for (uint32_t i = 0; i < highest->count; i++)
        sum += (double)highest->cosines[i];
    return highest->count ? (float)(sum / highest->count) : 0;
}

/* @param number of the vector in the set, which is not compared with itself; SIZE_MAX: none */
static void compare_with_block(const struct doppel_vector_cohort *cohort, const float *row,
                               size_t number, uint32_t block, struct highest_cosines *highest)
{
    const uint32_t size = cohort->set.dimension;
    const struct vector_kernels *kernels = vector_kernels_get();
    for (uint32_t i = block; i < block + BLOCK_MEMBERS && i < cohort->count; i++)
        if (number_of_member(cohort, i) != number)
            note_cosine(highest, cohort->options.nearest,
                        kernels->dot_floats(row, cohort->members + (size_t)i * size, size));
}

static void find_some_levels(void *context, size_t piece, size_t slot)
{
    struct level_finding *finding = context;
    const struct doppel_vector_cohort *cohort = finding->cohort;
    const size_t first = piece * PIECE_ROWS, left = finding->count - first;
    const size_t count = left < PIECE_ROWS ? left : PIECE_ROWS;
    struct highest_cosines highest[PIECE_ROWS] = {0};
    (void)slot;
    for (uint32_t block = 0; block < cohort->count; block += BLOCK_MEMBERS)
        for (size_t i = 0; i < count; i++) {
            const size_t number = finding->numbers[first + i];
            compare_with_block(cohort, cohort->set.rows + number * cohort->set.dimension, number,
                               block, &highest[i]);
        }
    for (size_t i = 0; i < count; i++) {
        const size_t number = finding->numbers[first + i];
        float inverse;
        if (!vector_length(cohort->set.rows + number * cohort->set.dimension, cohort->set.dimension,
                           &inverse))
            atomic_store(&finding->bad, true);
        finding->levels[number] = mean_of_highest(&highest[i]) * inverse;
    }
}

static bool go_on_levelling(void *context, size_t piece, size_t slot)
{
    struct level_finding *finding = context;
    const struct doppel_vector_cohort_options *options = &finding->cohort->options;
    (void)piece;
    (void)slot;
    finding->stopped = options->stopped && options->stopped(options->context);
    return !finding->stopped && !atomic_load(&finding->bad);
}

static enum doppel_status find_levels(struct level_finding *finding, struct doppel_error *error)
{
    const struct ordered run = {.context = finding,
                                .threads = finding->cohort->options.threads,
                                .pieces = (finding->count + PIECE_ROWS - 1) / PIECE_ROWS,
                                .work = find_some_levels,
                                .deliver = go_on_levelling};
    ordered_run(&run);
    if (finding->stopped)
        return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
    return atomic_load(&finding->bad)
               ? doppel_fail(error, DOPPEL_E_FORMAT,
                             "a vector holds what is no number, or too large or small a one")
               : DOPPEL_OK;
}

/* ---- scores ---- */

/* Those of the pairs, each once. @return false: no memory */
static bool list_vectors(const struct doppel_vector_pair *pairs, size_t count,
                         struct level_finding *finding)
{
    const size_t all = finding->cohort->set.count;
    finding->levels = calloc(all + 1, sizeof *finding->levels);
    finding->numbers = malloc((2 * count + 1) * sizeof *finding->numbers);
    if (!finding->levels || !finding->numbers)
        return false;
    for (size_t i = 0; i < count; i++)
        finding->levels[pairs[i].a] = finding->levels[pairs[i].b] = 1;
    for (size_t i = 0; i < all; i++)
        if (finding->levels[i] != 0)
            finding->numbers[finding->count++] = i;
    return true;
}

enum doppel_status doppel_vector_cohort_score(const struct doppel_vector_cohort *cohort,
                                              const struct doppel_vector_pair *pairs, size_t count,
                                              float *scores, struct doppel_error *error)
{
    struct level_finding finding = {.cohort = cohort};
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < count; i++)
        if (pairs[i].a >= cohort->set.count || pairs[i].b >= cohort->set.count)
            TRY(doppel_fail(error, DOPPEL_E_ARGUMENT, "a pair is of vectors that are not there"));
    if (!list_vectors(pairs, count, &finding))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to normalise scores"));
    TRY(find_levels(&finding, error));
    for (size_t i = 0; i < count; i++)
        scores[i] = doppel_vector_cohort_normalise(pairs[i].cosine, finding.levels[pairs[i].a],
                                                   finding.levels[pairs[i].b]);
done:
    free(finding.levels);
    free(finding.numbers);
    return status;
}

float doppel_vector_cohort_normalise(float cosine, float level_a, float level_b)
{
    return cosine - (level_a + level_b) / 2;
}

float doppel_vector_cohort_level(const struct doppel_vector_cohort *cohort, const float *row)
{
    struct highest_cosines highest = {.count = 0};
    float inverse;
    if (!vector_length(row, cohort->set.dimension, &inverse))
        return 0;
    for (uint32_t block = 0; block < cohort->count; block += BLOCK_MEMBERS)
        compare_with_block(cohort, row, SIZE_MAX, block, &highest);
    return mean_of_highest(&highest) * inverse;
}

/* ---- the sample ---- */

struct doppel_vector_cohort_options doppel_vector_cohort_options_default(void)
{
    return (struct doppel_vector_cohort_options){.size = 4096, .nearest = 10};
}

static enum doppel_status check_cohort(const struct doppel_vectors *vectors,
                                       const struct doppel_vector_cohort_options *options,
                                       struct doppel_error *error)
{
    if (!vectors->dimension || vectors->dimension > DOPPEL_VECTOR_DIMENSION_MAX)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "vectors have 1 to %d dimensions, not %u",
                           (int)DOPPEL_VECTOR_DIMENSION_MAX, vectors->dimension);
    if (!options->size || options->size > DOPPEL_VECTOR_COHORT_SIZE_MAX || !options->nearest ||
        options->nearest > DOPPEL_VECTOR_COHORT_NEAREST_MAX)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "a cohort has 1 to %d vectors, of which the nearest 1 to %d count",
                           (int)DOPPEL_VECTOR_COHORT_SIZE_MAX,
                           (int)DOPPEL_VECTOR_COHORT_NEAREST_MAX);
    if (vectors->count > UINT32_MAX)
        return doppel_fail(error, DOPPEL_E_LIMIT, "these are too many vectors");
    return DOPPEL_OK;
}

static enum doppel_status take_members(struct doppel_vector_cohort *cohort,
                                       struct doppel_error *error)
{
    const uint32_t size = cohort->set.dimension;
    for (uint32_t i = 0; i < cohort->count; i++) {
        const size_t number = number_of_member(cohort, i);
        const float *row = cohort->set.rows + number * size;
        float inverse;
        if (!vector_length(row, size, &inverse))
            return doppel_fail(error, DOPPEL_E_FORMAT,
                               "vector %zu holds what is no number, or too large or small a one",
                               number);
        for (uint32_t j = 0; j < size; j++)
            cohort->members[(size_t)i * size + j] = row[j] * inverse;
    }
    return DOPPEL_OK;
}

/* @return NULL: no memory */
static struct doppel_vector_cohort *empty_cohort(const struct doppel_vectors *vectors,
                                                 const struct doppel_vector_cohort_options *options)
{
    enum { SHARE_OF_SET = 4 };
    const size_t most = (vectors->count + SHARE_OF_SET - 1) / SHARE_OF_SET;
    const size_t count = options->size < most ? options->size : most;
    struct doppel_vector_cohort *cohort = calloc(1, sizeof *cohort);
    float *members = malloc((count * vectors->dimension + 1) * sizeof *members);
    if (!cohort || !members) {
        free(cohort);
        free(members);
        return NULL;
    }
    *cohort = (struct doppel_vector_cohort){*vectors, *options, (uint32_t)count, members};
    return cohort;
}

enum doppel_status doppel_vector_cohort_make(const struct doppel_vectors *vectors,
                                             const struct doppel_vector_cohort_options *options,
                                             struct doppel_vector_cohort **out,
                                             struct doppel_error *error)
{
    enum doppel_status status = check_cohort(vectors, options, error);
    if (status)
        return status;
    struct doppel_vector_cohort *cohort = empty_cohort(vectors, options);
    if (!cohort)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a sample of vectors");
    status = take_members(cohort, error);
    if (status)
        doppel_vector_cohort_free(cohort);
    else
        *out = cohort;
    return status;
}

void doppel_vector_cohort_free(struct doppel_vector_cohort *cohort)
{
    if (!cohort)
        return;
    free(cohort->members);
    free(cohort);
}
