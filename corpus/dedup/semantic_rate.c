/* What the nearest chunks of two texts are worth, by their score or cosine: their value. */
#include <math.h>
#include <stdlib.h>

#include "core/mix64.h"
#include "core/try.h"
#include "corpus/dedup/semantic_internal.h"

enum {
    MOST_PAIRS = 1 << 15,   /* of texts that are looked at */
    MOST_COSINES = 1 << 25, /* of their chunks */
    FEWEST_PAIRS = 1 << 12  /* fewer say too little */
};

/* So many of the pairs of texts would have nearer chunks, if these were of no relation. */
static const double looked_at_rate = 0.02;

/* A text of m chunks has m × n pairs with one of n, and the nearest of many is nearer than one. But
 * chunks of a text are alike, so that they are as good as fewer: as a power of m × n. */
double semantic_rate(const struct semantic_embedding *embedding, uint64_t chunk_pairs, float value)
{
    const struct doppel_vector_background *background = embedding->dedup->background;
    if (chunk_pairs <= 1)
        return doppel_vector_background_rate(background, value);
    const double as_good_as = pow((double)chunk_pairs, embedding->chunk_power);
    const double expected = as_good_as * doppel_vector_background_tail(background, value);
    const double least = doppel_vector_background_rate(background, 2); /* that can be told */
    return fmax(least, -expm1(-expected));
}

float semantic_value_of_rate(const struct semantic_embedding *embedding, uint64_t chunk_pairs,
                             double rate)
{
    float low = -1, high = 1;
    for (int step = 0; step < 20; step++) {
        const float middle = (low + high) / 2;
        if (semantic_rate(embedding, chunk_pairs, middle) <= rate)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* ---- how alike chunks of a text are ---- */

struct pair_looks {
    uint64_t seed, cosines;
    size_t count, near;
    double *chunk_pairs; /* logarithms */
};

static bool have_near_chunks(const struct semantic_embedding *embedding, uint32_t a, uint32_t b,
                             float least)
{
    const uint32_t dimension = embedding->options->dimension;
    const uint32_t first = embedding->texts.items[b].first, end = semantic_rows_end(embedding, b);
    for (uint32_t i = embedding->texts.items[a].first; i < semantic_rows_end(embedding, a); i++)
        for (uint32_t j = first; j < end; j++) {
            const float cosine =
                doppel_vector_cosine(embedding->rows + (size_t)i * dimension,
                                     embedding->rows + (size_t)j * dimension, dimension);
            if (semantic_value(embedding, i, j, cosine) >= least)
                return true;
        }
    return false;
}

static void look_at_texts(struct semantic_embedding *embedding, struct pair_looks *looks)
{
    const size_t count = embedding->texts.count;
    const uint32_t a = (uint32_t)(next_mix64(&looks->seed) % count);
    const uint32_t b = (uint32_t)(next_mix64(&looks->seed) % count);
    const struct embedded_text *texts = embedding->texts.items;
    const uint64_t chunk_pairs = (uint64_t)texts[a].known * texts[b].known;
    looks->cosines++;
    if (a == b || chunk_pairs < 2 || chunk_pairs > MOST_COSINES / 16)
        return;
    const float least = semantic_value_of_rate(embedding, chunk_pairs, looked_at_rate);
    looks->cosines += chunk_pairs;
    looks->near += have_near_chunks(embedding, a, b, least);
    looks->chunk_pairs[looks->count++] = log((double)chunk_pairs);
}

/* How many would be near by a power. */
static double near_by_power(const struct pair_looks *looks, double power)
{
    double sum = 0;
    for (size_t i = 0; i < looks->count; i++)
        sum += -expm1(log1p(-looked_at_rate) * exp((power - 1) * looks->chunk_pairs[i]));
    return sum;
}

/* Of pairs of texts by chance, how many are near at a value that `looked_at_rate` of independent
 * chunks would reach. There, those that belong together are few among them. */
enum doppel_status semantic_learn_rates(struct semantic_embedding *embedding,
                                        struct doppel_error *error)
{
    struct pair_looks looks = {.seed = embedding->texts.count};
    embedding->chunk_power = 1;
    if (embedding->texts.count == embedding->written)
        return DOPPEL_OK;
    looks.chunk_pairs = malloc(MOST_PAIRS * sizeof *looks.chunk_pairs);
    if (!looks.chunk_pairs)
        return semantic_no_memory(error);
    while (looks.count < MOST_PAIRS && looks.cosines < MOST_COSINES)
        look_at_texts(embedding, &looks);
    double low = 0, high = 1;
    for (int step = 0; step < 20 && looks.count >= FEWEST_PAIRS; step++) {
        const double middle = (low + high) / 2;
        if (near_by_power(&looks, middle) >= (double)looks.near)
            high = middle;
        else
            low = middle;
    }
    embedding->chunk_power = high;
    free(looks.chunk_pairs);
    return DOPPEL_OK;
}
