/* The rate of a cosine or score of two chunks: a sample of the library, its background and levels.
 */
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "search/semantic.h"

enum {
    SAMPLE = 2900,           /* vectors: 2^22 pairs */
    SCORED_SAMPLE = 1 << 14, /* a quarter of them makes levels */
    SAMPLE_FLOATS = 1 << 24  /* a scored sample has no more, unless SAMPLE vectors have */
};

static const double coarsest_rate = 0.01; /* rates are stated if the pairs show this one */

enum doppel_status semantic_no_library(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "there is no library to search by meaning");
}

/* ---- the sample ---- */

/* Random vectors, and the texts that they are of. */
struct chunk_sample {
    float *rows;
    uint32_t *items;
    size_t count, dimension;
};

static bool take_sampled(void *context, const char *id, const float *row)
{
    struct chunk_sample *sample = context;
    struct semantic_chunk chunk;
    uint64_t item;
    if (!semantic_parse_id(id, &item, &chunk))
        return true;
    memcpy(sample->rows + sample->count * sample->dimension, row, sample->dimension * sizeof *row);
    sample->items[sample->count++] = (uint32_t)item;
    return true;
}

static size_t size_of_sample(const struct doppel_semantic *semantic, size_t dimension)
{
    const size_t most = SAMPLE_FLOATS / dimension;
    return !semantic_is_scored(semantic) || most < SAMPLE ? SAMPLE
           : most < SCORED_SAMPLE                         ? most
                                                          : SCORED_SAMPLE;
}

static enum doppel_status take_chunk_sample(struct doppel_semantic *semantic,
                                            struct chunk_sample *out, struct doppel_error *error)
{
    const size_t dimension = doppel_vector_index_identity(semantic->index)->dimension;
    const size_t most = size_of_sample(semantic, dimension);
    out->dimension = dimension;
    out->rows = malloc(most * dimension * sizeof *out->rows);
    out->items = malloc(most * sizeof *out->items);
    if (!out->rows || !out->items)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to search by meaning");
    return doppel_vector_index_sample(semantic->index, most, take_sampled, out, error);
}

/* ---- the background ---- */

/* Of a search only the query's level is known; half of it is subtracted. */
static enum doppel_status weigh_sample(struct doppel_semantic *semantic,
                                       const struct chunk_sample *sample,
                                       struct doppel_error *error)
{
    const struct doppel_vectors vectors = {sample->rows, sample->count,
                                           (uint32_t)sample->dimension};
    struct doppel_vector_background_options options = doppel_vector_background_options_default();
    struct doppel_vector_cohort_options cohort = doppel_vector_cohort_options_default();
    enum doppel_status status;
    options.groups = sample->items;
    options.of_queries = true;
    options.min_cosine = -1;
    if (semantic_is_scored(semantic)) {
        TRY(doppel_vector_cohort_make(&vectors, &cohort, &semantic->cohort, error));
        TRY(doppel_vector_cohort_levels(semantic->cohort, &options.levels, error));
    }
    TRY(doppel_vector_background_make(&vectors, &options, &semantic->background, error));
done:
    return status == DOPPEL_E_EMPTY ? DOPPEL_OK : status;
}

void semantic_weigh_no_more(struct doppel_semantic *semantic)
{
    doppel_vector_background_free(semantic->background);
    doppel_vector_cohort_free(semantic->cohort);
    semantic->background = NULL;
    semantic->cohort = NULL;
    semantic->background_of = 0;
}

enum doppel_status semantic_weigh(struct doppel_semantic *semantic, struct doppel_error *error)
{
    struct chunk_sample sample = {0};
    enum doppel_status status = DOPPEL_OK;
    if (!semantic->index)
        TRY(semantic_no_library(error));
    TRY(doppel_vector_index_refresh(semantic->index, error));
    const uint64_t now = semantic_count(semantic->index);
    if (semantic->background_of && now < 2 * semantic->background_of)
        return DOPPEL_OK;
    semantic_weigh_no_more(semantic);
    TRY(take_chunk_sample(semantic, &sample, error));
    if (sample.count)
        TRY(weigh_sample(semantic, &sample, error));
    semantic->background_of = now;
done:
    free(sample.rows);
    free(sample.items);
    return status;
}

/* ---- values ---- */

void doppel_semantic_set_thresholds(struct doppel_semantic *semantic, double max_fp_rate,
                                    float min_cosine)
{
    const struct doppel_semantic_options usual = doppel_semantic_options_default();
    const bool scored = semantic_is_scored(semantic);
    semantic->options.max_fp_rate = max_fp_rate > 0 ? max_fp_rate : usual.max_fp_rate;
    semantic->options.min_cosine = min_cosine;
    if (scored != semantic_is_scored(semantic)) /* the background is of other values */
        semantic_weigh_no_more(semantic);
}

/* Whether enough random pairs were looked at to show a rate. */
static bool semantic_shows_rate(const struct doppel_semantic *semantic, double rate)
{
    return semantic->background &&
           (double)doppel_vector_background_pairs(semantic->background) * rate >= 10;
}

float semantic_threshold(const struct doppel_semantic *semantic, double pairs)
{
    const double rate = semantic->options.max_fp_rate / pairs;
    float low = -1, high = 1;
    if (semantic->options.min_cosine != 0)
        return semantic->options.min_cosine;
    if (!semantic_shows_rate(semantic, semantic->options.max_fp_rate))
        return 2;
    for (int i = 0; i < 24; i++) {
        const float middle = (low + high) / 2;
        if (doppel_vector_background_tail(semantic->background, middle) <= rate)
            high = middle;
        else
            low = middle;
    }
    return high;
}

enum doppel_status semantic_find_levels(struct doppel_semantic *semantic, float *out_lowest,
                                        struct doppel_error *error)
{
    const size_t count = semantic->chunks.count;
    float lowest = 1;
    semantic->levels.count = 0;
    *out_lowest = 0;
    if (!semantic->cohort || !count)
        return DOPPEL_OK;
    while (semantic->levels.count < count)
        if (!array_push(&semantic->levels, 0))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to search by meaning");
    if (!doppel_vector_cohort_level(semantic->cohort, semantic->rows, count,
                                    semantic->levels.items))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to search by meaning");
    for (size_t i = 0; i < count; i++)
        lowest = semantic->levels.items[i] < lowest ? semantic->levels.items[i] : lowest;
    *out_lowest = lowest;
    return DOPPEL_OK;
}

float semantic_hit_value(const struct doppel_semantic *semantic, uint32_t query, float cosine)
{
    return query < semantic->levels.count
               ? doppel_vector_cohort_normalise(cosine, semantic->levels.items[query], 0)
               : cosine;
}

/* The share of random pairs of chunks that are as near; 2: not known. */
static double rate_of_value(const struct doppel_semantic *semantic, float value)
{
    const struct doppel_semantic_options *options = &semantic->options;
    const double asked = options->min_cosine != 0 ? coarsest_rate : options->max_fp_rate;
    return semantic_shows_rate(semantic, asked > coarsest_rate ? asked : coarsest_rate)
               ? doppel_vector_background_tail(semantic->background, value)
               : 2;
}

/* No rate is stated that is lower than ten of the pairs that were looked at. */
static double stated_rate(const struct doppel_semantic *semantic, double rate)
{
    const double least = 10 / (double)doppel_vector_background_pairs(semantic->background);
    return rate > 1 ? 1 : rate < least ? least : rate;
}

double semantic_stated_rate(const struct doppel_semantic *semantic, float value, double pairs)
{
    const double rate = rate_of_value(semantic, value);
    return rate > 1 ? 1 : stated_rate(semantic, rate * pairs);
}

bool semantic_weigh_item(const struct doppel_semantic *semantic, const struct semantic_hit *hits,
                         struct doppel_semantic_link *link)
{
    const double queries = (double)semantic->chunks.count;
    const double rate = rate_of_value(semantic, hits[0].value);
    const double by_chance = rate * queries * hits[0].chunk.count;
    link->of_item = hits[0].item;
    link->cosine = hits[0].cosine;
    link->has_score = semantic_is_scored(semantic);
    link->score = link->has_score ? hits[0].value : 0;
    if (rate <= 1) {
        link->false_positive_rate = stated_rate(semantic, by_chance);
        link->expected = stated_rate(semantic, rate * queries) * (double)semantic->background_of;
        link->tier = doppel_semantic_tier_of(link->false_positive_rate);
    }
    return semantic->options.min_cosine != 0 || by_chance <= semantic->options.max_fp_rate;
}
