/* Scores that say how much nearer two vectors are than the nearest of a sample are to each. */
#include <doppel/vector.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/ordered.h"
#include "vector/rounded.h"

enum {
    PIECE_ROWS = 32,   /* of a piece of work */
    BLOCK_MEMBERS = 32 /* that they are compared with at a time, and stay near the processor */
};

struct doppel_vector_cohort {
    struct doppel_vectors set;
    struct doppel_vector_cohort_options options;
    uint32_t count;
    size_t stride; /* of bytes: a multiple of 32, with zeros at the end */
    int8_t *bytes; /* of members; member i is vector i × set.count / count of the set */
    float *scales; /* what a byte's 1 is, of vectors of length 1 */
    float *levels; /* of the set's vectors, or `no_level`; NULL before the first pair */
};

/* Above all cosines. */
static const float no_level = 8, level_wanted = 9;

/* The highest cosines of a vector, from the highest on. */
struct highest_cosines {
    float cosines[DOPPEL_VECTOR_COHORT_NEAREST_MAX];
    uint32_t count;
};

struct level_finding {
    struct doppel_vector_cohort *cohort;
    size_t *numbers; /* of vectors */
    size_t count;
    int8_t *bytes; /* of the vectors of a piece, for each slot */
    atomic_bool bad;
    bool stopped;
};

static size_t number_of_member(const struct doppel_vector_cohort *cohort, size_t member)
{
    return (size_t)((uint64_t)member * cohort->set.count / cohort->count);
}

/* @return UINT32_MAX: the vector is not in the sample */
static uint32_t member_of_number(const struct doppel_vector_cohort *cohort, size_t number)
{
    const size_t member =
        (size_t)(((uint64_t)number * cohort->count + cohort->set.count - 1) / cohort->set.count);
    const bool is_one = member < cohort->count && number_of_member(cohort, member) == number;
    return is_one ? (uint32_t)member : UINT32_MAX;
}

/* @param out with zeros up to the stride. @return false: it holds what is no number */
static bool round_row(const struct doppel_vector_cohort *cohort, const float *row, int8_t *out,
                      float *scale)
{
    struct rounded_vector rounded = {.values = row};
    memset(out, 0, cohort->stride);
    *scale = 0;
    if (!vector_length(row, cohort->set.dimension, &rounded.inverse))
        return false;
    if (!(rounded.inverse > 0))
        return true;
    round_to_bytes(&rounded, cohort->set.dimension, out);
    *scale = rounded.scale;
    return true;
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

/* @param own the member that is the vector itself; UINT32_MAX: none */
static void compare_with_block(const struct doppel_vector_cohort *cohort, const int8_t *bytes,
                               uint32_t own, uint32_t block, struct highest_cosines *highest)
{
    const struct vector_kernels *kernels = vector_kernels_get();
    for (uint32_t i = block; i < block + BLOCK_MEMBERS && i < cohort->count; i++) {
        const int32_t dot =
            kernels->dot_bytes(bytes, cohort->bytes + i * cohort->stride, cohort->stride);
        if (i != own)
            note_cosine(highest, cohort->options.nearest, (float)dot * cohort->scales[i]);
    }
}

static void find_some_levels(void *context, size_t piece, size_t slot)
{
    struct level_finding *finding = context;
    struct doppel_vector_cohort *cohort = finding->cohort;
    const size_t *numbers = finding->numbers + piece * PIECE_ROWS;
    const size_t left = finding->count - piece * PIECE_ROWS;
    const size_t count = left < PIECE_ROWS ? left : PIECE_ROWS;
    int8_t *bytes = finding->bytes + slot * PIECE_ROWS * cohort->stride;
    struct highest_cosines highest[PIECE_ROWS];
    uint32_t own[PIECE_ROWS];
    float scales[PIECE_ROWS];
    for (size_t i = 0; i < count; i++) {
        highest[i].count = 0;
        own[i] = member_of_number(cohort, numbers[i]);
        if (!round_row(cohort, cohort->set.rows + numbers[i] * cohort->set.dimension,
                       bytes + i * cohort->stride, &scales[i]))
            atomic_store(&finding->bad, true);
    }
    for (uint32_t block = 0; block < cohort->count; block += BLOCK_MEMBERS)
        for (size_t i = 0; i < count; i++)
            compare_with_block(cohort, bytes + i * cohort->stride, own[i], block, &highest[i]);
    for (size_t i = 0; i < count; i++)
        cohort->levels[numbers[i]] = mean_of_highest(&highest[i]) * scales[i];
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
    finding->bytes = malloc(ordered_slots(&run) * PIECE_ROWS * finding->cohort->stride);
    if (!finding->bytes)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to normalise scores");
    ordered_run(&run);
    free(finding->bytes);
    if (finding->stopped)
        return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
    return atomic_load(&finding->bad)
               ? doppel_fail(error, DOPPEL_E_FORMAT,
                             "a vector holds what is no number, or too large or small a one")
               : DOPPEL_OK;
}

/* ---- scores ---- */

/* @return false: no memory */
static bool begin_levels(struct doppel_vector_cohort *cohort)
{
    if (cohort->levels)
        return true;
    cohort->levels = malloc((cohort->set.count + 1) * sizeof *cohort->levels);
    for (size_t i = 0; i < cohort->set.count && cohort->levels; i++)
        cohort->levels[i] = no_level;
    return cohort->levels;
}

static void want_level(struct level_finding *finding, size_t number)
{
    float *level = &finding->cohort->levels[number];
    if (*level < no_level)
        return;
    if (*level < level_wanted)
        finding->numbers[finding->count++] = number;
    *level = level_wanted;
}

/* What was not found is not known. */
static void forget_levels(const struct level_finding *finding)
{
    for (size_t i = 0; i < finding->count; i++)
        finding->cohort->levels[finding->numbers[i]] = no_level;
}

static enum doppel_status level_pairs(struct doppel_vector_cohort *cohort,
                                      const struct doppel_vector_pair *pairs, size_t count,
                                      struct doppel_error *error)
{
    struct level_finding finding = {.cohort = cohort};
    finding.numbers = malloc((2 * count + 1) * sizeof *finding.numbers);
    if (!finding.numbers || !begin_levels(cohort)) {
        free(finding.numbers);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to normalise scores");
    }
    for (size_t i = 0; i < count; i++) {
        want_level(&finding, pairs[i].a);
        want_level(&finding, pairs[i].b);
    }
    const enum doppel_status status = find_levels(&finding, error);
    if (status)
        forget_levels(&finding);
    free(finding.numbers);
    return status;
}

enum doppel_status doppel_vector_cohort_score(struct doppel_vector_cohort *cohort,
                                              const struct doppel_vector_pair *pairs, size_t count,
                                              float *scores, struct doppel_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (pairs[i].a >= cohort->set.count || pairs[i].b >= cohort->set.count)
            return doppel_fail(error, DOPPEL_E_ARGUMENT, "a pair is of vectors that are not there");
    const enum doppel_status status = level_pairs(cohort, pairs, count, error);
    for (size_t i = 0; i < count && !status; i++)
        scores[i] = doppel_vector_cohort_normalise(pairs[i].cosine, cohort->levels[pairs[i].a],
                                                   cohort->levels[pairs[i].b]);
    return status;
}

float doppel_vector_cohort_normalise(float cosine, float level_a, float level_b)
{
    return cosine - (level_a + level_b) / 2;
}

bool doppel_vector_cohort_level(const struct doppel_vector_cohort *cohort, const float *row,
                                float *out)
{
    struct highest_cosines highest = {.count = 0};
    int8_t *bytes = malloc(cohort->stride);
    float scale;
    if (!bytes)
        return false;
    if (!round_row(cohort, row, bytes, &scale))
        memset(bytes, 0, cohort->stride);
    for (uint32_t block = 0; block < cohort->count; block += BLOCK_MEMBERS)
        compare_with_block(cohort, bytes, UINT32_MAX, block, &highest);
    free(bytes);
    *out = mean_of_highest(&highest) * scale;
    return true;
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
    for (uint32_t i = 0; i < cohort->count; i++) {
        const size_t number = number_of_member(cohort, i);
        if (!round_row(cohort, cohort->set.rows + number * cohort->set.dimension,
                       cohort->bytes + i * cohort->stride, &cohort->scales[i]))
            return doppel_fail(error, DOPPEL_E_FORMAT,
                               "vector %zu holds what is no number, or too large or small a one",
                               number);
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
    const size_t stride = ((size_t)vectors->dimension + 31) / 32 * 32;
    int8_t *bytes = malloc(count * stride + 1);
    float *scales = malloc((count + 1) * sizeof *scales);
    if (!cohort || !bytes || !scales) {
        free(cohort);
        free(bytes);
        free(scales);
        return NULL;
    }
    *cohort = (struct doppel_vector_cohort){*vectors, *options, (uint32_t)count, stride, bytes,
                                            scales,   NULL};
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
    free(cohort->bytes);
    free(cohort->scales);
    free(cohort->levels);
    free(cohort);
}
