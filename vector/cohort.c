/* Scores that say how much nearer two vectors are than the nearest of a sample are to each. */
#include <doppel/vector.h>

#include <stdatomic.h>
#include <stdlib.h>

#include "core/ordered.h"
#include "vector/levels.h"

struct doppel_vector_cohort {
    struct doppel_vectors set;
    struct doppel_vector_cohort_options options;
    uint32_t count; /* member i is vector i × set.count / count of the set */
    struct level_sample sample;
    float *levels; /* of the set's vectors, or `no_level`; NULL before the first is asked for */
};

/* Above all cosines. */
static const float no_level = 8, level_wanted = 9;

struct level_finding {
    struct doppel_vector_cohort *cohort;
    const uint32_t *numbers; /* of vectors; NULL: all */
    size_t count;
    struct level_work **works; /* of each slot */
    atomic_bool bad;
    bool stopped;
};

static enum doppel_status no_level_memory(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to normalise scores");
}

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

/* ---- levels ---- */

static void find_some_levels(void *context, size_t piece, size_t slot)
{
    struct level_finding *finding = context;
    struct doppel_vector_cohort *cohort = finding->cohort;
    const size_t first = piece * LEVEL_ROWS, left = finding->count - first;
    const size_t count = left < LEVEL_ROWS ? left : LEVEL_ROWS;
    const float *rows[LEVEL_ROWS] = {NULL};
    uint32_t own[LEVEL_ROWS] = {0};
    float levels[LEVEL_ROWS];
    for (size_t i = 0; i < count; i++) {
        const size_t number = finding->numbers ? finding->numbers[first + i] : first + i;
        rows[i] = cohort->set.rows + number * cohort->set.dimension;
        own[i] = member_of_number(cohort, number);
    }
    if (!level_find(finding->works[slot], rows, own, count, levels))
        atomic_store(&finding->bad, true);
    for (size_t i = 0; i < count; i++)
        cohort->levels[finding->numbers ? finding->numbers[first + i] : first + i] = levels[i];
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

static bool open_level_works(struct level_finding *finding, size_t slots)
{
    finding->works = calloc(slots + 1, sizeof *finding->works);
    for (size_t i = 0; i < slots && finding->works; i++) {
        finding->works[i] = level_work_new(&finding->cohort->sample);
        if (!finding->works[i])
            return false;
    }
    return finding->works;
}

static void close_level_works(struct level_finding *finding, size_t slots)
{
    for (size_t i = 0; i < slots && finding->works; i++)
        level_work_free(finding->works[i]);
    free(finding->works);
}

static enum doppel_status find_levels(struct level_finding *finding, struct doppel_error *error)
{
    const struct ordered run = {.context = finding,
                                .threads = finding->cohort->options.threads,
                                .pieces = (finding->count + LEVEL_ROWS - 1) / LEVEL_ROWS,
                                .work = find_some_levels,
                                .deliver = go_on_levelling};
    const size_t slots = ordered_slots(&run);
    const bool room = open_level_works(finding, slots);
    if (room)
        ordered_run(&run);
    close_level_works(finding, slots);
    if (!room)
        return no_level_memory(error);
    if (atomic_load(&finding->bad))
        return doppel_fail(error, DOPPEL_E_FORMAT,
                           "a vector holds what is no number, or too large or small a one");
    return finding->stopped ? doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted") : DOPPEL_OK;
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

/* @param numbers of those that are wanted so far */
static void want_level(struct level_finding *finding, uint32_t *numbers, uint32_t number)
{
    float *level = &finding->cohort->levels[number];
    if (*level < no_level)
        return;
    if (*level < level_wanted)
        numbers[finding->count++] = number;
    *level = level_wanted;
}

/* What was not found is not known. */
static void forget_levels(const struct level_finding *finding)
{
    for (size_t i = 0; i < finding->count; i++)
        finding->cohort->levels[finding->numbers ? finding->numbers[i] : i] = no_level;
}

static enum doppel_status level_pairs(struct doppel_vector_cohort *cohort,
                                      const struct doppel_vector_pair *pairs, size_t count,
                                      struct doppel_error *error)
{
    uint32_t *numbers = malloc((2 * count + 1) * sizeof *numbers);
    struct level_finding finding = {.cohort = cohort, .numbers = numbers};
    if (!numbers || !begin_levels(cohort)) {
        free(numbers);
        return no_level_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        want_level(&finding, numbers, pairs[i].a);
        want_level(&finding, numbers, pairs[i].b);
    }
    const enum doppel_status status = finding.count ? find_levels(&finding, error) : DOPPEL_OK;
    if (status)
        forget_levels(&finding);
    free(numbers);
    return status;
}

enum doppel_status doppel_vector_cohort_levels(struct doppel_vector_cohort *cohort,
                                               const float **out, struct doppel_error *error)
{
    struct level_finding finding = {.cohort = cohort, .count = cohort->set.count};
    if (!begin_levels(cohort))
        return no_level_memory(error);
    const enum doppel_status status = find_levels(&finding, error);
    if (status)
        forget_levels(&finding);
    else
        *out = cohort->levels;
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

bool doppel_vector_cohort_level(const struct doppel_vector_cohort *cohort, const float *rows,
                                size_t count, float *out)
{
    struct level_work *work = level_work_new(&cohort->sample);
    const float *some[LEVEL_ROWS];
    uint32_t own[LEVEL_ROWS];
    for (size_t i = 0; i < LEVEL_ROWS; i++)
        own[i] = UINT32_MAX;
    for (size_t first = 0; first < count && work; first += LEVEL_ROWS) {
        const size_t left = count - first, size = left < LEVEL_ROWS ? left : LEVEL_ROWS;
        for (size_t i = 0; i < size; i++)
            some[i] = rows + (first + i) * cohort->set.dimension;
        (void)level_find(work, some, own, size, out + first);
    }
    level_work_free(work);
    return work;
}

/* ---- the sample ---- */

struct doppel_vector_cohort_options doppel_vector_cohort_options_default(void)
{
    return (struct doppel_vector_cohort_options){.size = 4096, .nearest = 4};
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
    const float **rows = malloc((cohort->count + 1) * sizeof *rows);
    if (!rows)
        return no_level_memory(error);
    for (uint32_t i = 0; i < cohort->count; i++)
        rows[i] = cohort->set.rows + number_of_member(cohort, i) * cohort->set.dimension;
    const uint32_t good = level_sample_fill(&cohort->sample, rows, cohort->count);
    free(rows);
    if (good == cohort->count)
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_FORMAT,
                       "vector %zu holds what is no number, or too large or small a one",
                       number_of_member(cohort, good));
}

/* @return NULL: no memory */
static struct doppel_vector_cohort *empty_cohort(const struct doppel_vectors *vectors,
                                                 const struct doppel_vector_cohort_options *options)
{
    enum { SHARE_OF_SET = 4 };
    const size_t most = (vectors->count + SHARE_OF_SET - 1) / SHARE_OF_SET;
    const size_t count = options->size < most ? options->size : most;
    struct doppel_vector_cohort *cohort = calloc(1, sizeof *cohort);
    if (!cohort)
        return NULL;
    *cohort = (struct doppel_vector_cohort){
        .set = *vectors, .options = *options, .count = (uint32_t)count};
    cohort->sample.nearest = options->nearest;
    if (level_sample_make(&cohort->sample, vectors->dimension, cohort->count))
        return cohort;
    doppel_vector_cohort_free(cohort);
    return NULL;
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
    level_sample_free(&cohort->sample);
    free(cohort->levels);
    free(cohort);
}
