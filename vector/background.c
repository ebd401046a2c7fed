/* The cosines of pairs by chance, as a histogram. */
#include <doppel/vector.h>

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "core/ordered.h"
#include "vector/rounded.h"
#include "vector/numbers.h"

enum {
    BINS_OF_ONE = 1 << 15,  /* from 0 to 1 */
    BINS = 2 * BINS_OF_ONE, /* from -1 to 1 */
    PIECE_PAIRS = 1 << 16,  /* of a piece of work */
    LEAST_SEEN = 10,        /* pairs: fewer say nothing of a rate */
    TAIL_SEEN = 30,         /* pairs: with fewer a tail begins */
    TAIL_FROM = 1000        /* it falls as it does from so many pairs to those */
};

struct doppel_vector_background {
    uint64_t pairs;
    uint64_t reaching[BINS + 1]; /* how many have a cosine of that bin or of one above */
    size_t tail_bin;             /* the first that fewer than TAIL_SEEN reach */
    double usual_level;          /* by which a score is less than its cosine; 0: of cosines */
    double tail_power;           /* of 1 - c², with which shares fall from there on; 0: no tail */
};

struct pair_sampling {
    const struct doppel_vectors *vectors;
    const struct doppel_vector_background_options *options;
    bool all;
    uint64_t pairs; /* to look at; some of vectors without a direction */
    _Atomic uint64_t counts[BINS];
    atomic_bool bad;
    bool stopped;
};

static uint64_t all_pairs(size_t count)
{
    return count < 2 ? 0 : (uint64_t)count * (count - 1) / 2;
}

static size_t scaled_to(uint32_t bits, size_t count)
{
    return (size_t)((uint64_t)bits * count >> 32);
}

/* Two that differ: the second of those behind the first, round. */
static void chance_pair(uint64_t number, size_t count, size_t *a, size_t *b)
{
    const uint64_t bits = chance_bits(number);
    *a = scaled_to((uint32_t)bits, count);
    *b = (*a + 1 + scaled_to((uint32_t)(bits >> 32), count - 1)) % count;
}

/* Row by row below the diagonal: pair 0 is (1, 0), then (2, 0), (2, 1). */
static void numbered_pair(uint64_t number, size_t *a, size_t *b)
{
    uint64_t row = (uint64_t)((1 + sqrt(1 + 8 * (double)number)) / 2);
    while (all_pairs(row) > number)
        row--;
    while (all_pairs(row + 1) <= number)
        row++;
    *a = row;
    *b = number - all_pairs(row);
}

static void count_cosine(struct pair_sampling *sampling, float cosine)
{
    const float bin = (cosine + 1) * BINS_OF_ONE;
    const size_t at = bin <= 0 ? 0 : bin >= BINS - 1 ? BINS - 1 : (size_t)bin;
    atomic_fetch_add_explicit(&sampling->counts[at], 1, memory_order_relaxed);
}

static float score_of_cosine(const struct pair_sampling *sampling, size_t a, size_t b, float cosine)
{
    const struct doppel_vector_background_options *options = sampling->options;
    if (!options->levels)
        return cosine;
    if (cosine < options->min_cosine)
        return -1;
    if (options->of_queries)
        return doppel_vector_cohort_normalise(cosine, options->levels[(a ^ b) & 1 ? a : b], 0);
    return doppel_vector_cohort_normalise(cosine, options->levels[a], options->levels[b]);
}

static void look_at_pair(struct pair_sampling *sampling, size_t a, size_t b)
{
    const struct doppel_vectors *vectors = sampling->vectors;
    const float *x = vectors->rows + a * vectors->dimension;
    const float *y = vectors->rows + b * vectors->dimension;
    const uint32_t *groups = sampling->options->groups;
    float by_x, by_y;
    if (groups && groups[a] == groups[b])
        return;
    if (!vector_length(x, vectors->dimension, &by_x) ||
        !vector_length(y, vectors->dimension, &by_y)) {
        atomic_store(&sampling->bad, true);
        return;
    }
    if (!(by_x > 0 && by_y > 0))
        return;
    const float cosine = vector_kernels_get()->dot_floats(x, y, vectors->dimension) * (by_x * by_y);
    count_cosine(sampling, score_of_cosine(sampling, a, b, cosine));
}

static void look_at_pairs(void *context, size_t piece, size_t slot)
{
    struct pair_sampling *sampling = context;
    const uint64_t first = (uint64_t)piece * PIECE_PAIRS;
    (void)slot;
    for (uint64_t i = first; i < first + PIECE_PAIRS && i < sampling->pairs; i++) {
        size_t a, b;
        if (sampling->all)
            numbered_pair(i, &a, &b);
        else
            chance_pair(i, sampling->vectors->count, &a, &b);
        look_at_pair(sampling, a, b);
    }
}

static bool go_on_looking(void *context, size_t piece, size_t slot)
{
    struct pair_sampling *sampling = context;
    const struct doppel_vector_background_options *options = sampling->options;
    (void)piece;
    (void)slot;
    sampling->stopped = options->stopped && options->stopped(options->context);
    return !sampling->stopped && !atomic_load(&sampling->bad);
}

/* The first bin that fewer pairs reach. */
static size_t bin_below(const struct doppel_vector_background *background, uint64_t pairs)
{
    size_t low = 0, high = BINS;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (background->reaching[middle] < pairs)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static double cosine_of_bin(const struct doppel_vector_background *background, size_t bin)
{
    return (double)bin / BINS_OF_ONE - 1 + background->usual_level;
}

/* The logarithm of 1 - c² for the cosine of a bin. Of vectors in all directions alike, cosines
 * above c are as frequent as a power of it. */
static double room_beyond(const struct doppel_vector_background *background, size_t bin)
{
    const double cosine = cosine_of_bin(background, bin), room = 1 - cosine * cosine;
    return log(room > 1.0 / BINS_OF_ONE ? room : 1.0 / BINS_OF_ONE);
}

/* Of few pairs a fifth, so that what is far from rare is no part of it. */
static void fit_tail(struct doppel_vector_background *background)
{
    const uint64_t fifth = background->pairs / 5;
    const uint64_t from = fifth < TAIL_FROM ? fifth : TAIL_FROM;
    background->tail_bin = bin_below(background, TAIL_SEEN);
    if (from <= TAIL_SEEN)
        return;
    const size_t before = bin_below(background, from);
    const double fall =
        room_beyond(background, before) - room_beyond(background, background->tail_bin);
    if (cosine_of_bin(background, before) > 0 && fall > 0)
        background->tail_power = log((double)from / TAIL_SEEN) / fall;
}

static double mean_level(const struct pair_sampling *sampling)
{
    const float *levels = sampling->options->levels;
    double sum = 0;
    for (size_t i = 0; i < sampling->vectors->count && levels; i++)
        sum += (double)levels[i];
    const double both = levels ? sum / (double)sampling->vectors->count : 0;
    return sampling->options->of_queries ? both / 2 : both;
}

static struct doppel_vector_background *background_of(struct pair_sampling *sampling)
{
    struct doppel_vector_background *background = calloc(1, sizeof *background);
    if (!background)
        return NULL;
    for (size_t bin = BINS; bin--;)
        background->reaching[bin] =
            background->reaching[bin + 1] + atomic_load(&sampling->counts[bin]);
    background->pairs = background->reaching[0];
    background->usual_level = mean_level(sampling);
    fit_tail(background);
    return background;
}

static enum doppel_status run_sampling(struct pair_sampling *sampling,
                                       struct doppel_vector_background **out,
                                       struct doppel_error *error)
{
    const struct ordered run = {.context = sampling,
                                .threads = sampling->options->threads,
                                .pieces =
                                    (size_t)((sampling->pairs + PIECE_PAIRS - 1) / PIECE_PAIRS),
                                .work = look_at_pairs,
                                .deliver = go_on_looking};
    ordered_run(&run);
    if (atomic_load(&sampling->bad))
        return doppel_fail(error, DOPPEL_E_FORMAT,
                           "a vector holds what is no number, or too large or small a one");
    if (sampling->stopped)
        return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
    struct doppel_vector_background *background = background_of(sampling);
    if (!background)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a histogram");
    if (!background->pairs) {
        free(background);
        return doppel_fail(error, DOPPEL_E_EMPTY, "there are no two vectors to compare");
    }
    *out = background;
    return DOPPEL_OK;
}

struct doppel_vector_background_options doppel_vector_background_options_default(void)
{
    return (struct doppel_vector_background_options){.pairs = 1 << 22};
}

enum doppel_status doppel_vector_background_make(
    const struct doppel_vectors *vectors, const struct doppel_vector_background_options *options,
    struct doppel_vector_background **out, struct doppel_error *error)
{
    if (!vectors->dimension || vectors->dimension > DOPPEL_VECTOR_DIMENSION_MAX)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "vectors have 1 to %d dimensions, not %u",
                           (int)DOPPEL_VECTOR_DIMENSION_MAX, vectors->dimension);
    if (vectors->count > UINT32_MAX)
        return doppel_fail(error, DOPPEL_E_LIMIT, "these are too many vectors");
    struct pair_sampling *sampling = calloc(1, sizeof *sampling);
    if (!sampling)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a histogram");
    const uint64_t there = all_pairs(vectors->count);
    sampling->vectors = vectors;
    sampling->options = options;
    sampling->all = there <= options->pairs;
    sampling->pairs = sampling->all ? there : options->pairs;
    const enum doppel_status status = run_sampling(sampling, out, error);
    free(sampling);
    return status;
}

void doppel_vector_background_free(struct doppel_vector_background *background)
{
    free(background);
}

uint64_t doppel_vector_background_pairs(const struct doppel_vector_background *background)
{
    return background->pairs;
}

static double rate_of_bin(const struct doppel_vector_background *background, size_t bin)
{
    const uint64_t seen = background->reaching[bin];
    const double rate = (double)(seen < LEAST_SEEN ? LEAST_SEEN : seen) / (double)background->pairs;
    return rate < 1 ? rate : 1;
}

static size_t bin_of_cosine(float cosine)
{
    const float bin = floorf((cosine + 1) * BINS_OF_ONE);
    return bin <= 0 ? 0 : bin >= BINS ? BINS : (size_t)bin;
}

double doppel_vector_background_rate(const struct doppel_vector_background *background,
                                     float cosine)
{
    return rate_of_bin(background, bin_of_cosine(cosine));
}

double doppel_vector_background_tail(const struct doppel_vector_background *background,
                                     float cosine)
{
    const size_t bin = bin_of_cosine(cosine);
    if (bin < background->tail_bin || background->tail_power == 0)
        return rate_of_bin(background, bin);
    const double fall =
        room_beyond(background, background->tail_bin) - room_beyond(background, bin);
    return TAIL_SEEN / (double)background->pairs * exp(-fall * background->tail_power);
}

float doppel_vector_background_cosine(const struct doppel_vector_background *background,
                                      double rate)
{
    size_t low = 0, high = BINS;
    if (rate_of_bin(background, high) > rate)
        return 2;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (rate_of_bin(background, middle) <= rate)
            high = middle;
        else
            low = middle + 1;
    }
    return (float)low / BINS_OF_ONE - 1;
}
