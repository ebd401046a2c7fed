/* Spherical k-means on integers: centres are means of the prefixes of vectors of length 1. */
#include "vector/centres.h"

#include <stdlib.h>
#include <string.h>

#include "core/scratch.h"
#include "core/try.h"

enum {
    ITERATIONS = 6,
    SAMPLE_A_CENTRE = 32 /* vectors */
};

/* ---- scores ---- */

void centres_score(const struct centres *centres, const int8_t *values, size_t count,
                   int16_t *scores)
{
    SCRATCH struct prefix_spread queries[PREFIX_QUERIES];
    for (uint32_t k = 0; k < PREFIX_QUERIES; k++)
        prefix_spread(values + (k < count ? k : 0) * centres->blocks.dimensions,
                      centres->blocks.dimensions, &queries[k]);
    vector_kernels_get()->score(queries, &centres->blocks, centres->blocks_count, scores,
                                centres_stride(centres));
}

void centres_score_places(const struct centres *centres, const struct prefix_blocks *blocks,
                          size_t at, size_t count, int16_t *scores)
{
    const struct vector_kernels *kernels = vector_kernels_get();
    SCRATCH struct prefix_spread queries[PREFIX_QUERIES];
    for (uint32_t k = 0; k < PREFIX_QUERIES; k++)
        kernels->spread(blocks, at + (k < count ? k : 0), &queries[k]);
    kernels->score(queries, &centres->blocks, centres->blocks_count, scores,
                   centres_stride(centres));
}

int16_t centre_score(const struct centres *centres, const struct prefix_blocks *blocks, size_t at,
                     uint32_t centre)
{
    const uint32_t width = centres->blocks.dimensions;
    const uint8_t *a =
        blocks->codes + at / PREFIX_BLOCK * PREFIX_BLOCK * width + at % PREFIX_BLOCK * 2;
    const uint8_t *b = centres->blocks.codes + centre / PREFIX_BLOCK * PREFIX_BLOCK * width +
                       centre % PREFIX_BLOCK * 2;
    int32_t dot = 0;
    for (uint32_t pair = 0; pair < width / 2; pair++, a += 2 * PREFIX_BLOCK, b += 2 * PREFIX_BLOCK)
        dot += (a[0] - PREFIX_ZERO) * (b[0] - PREFIX_ZERO) +
               (a[1] - PREFIX_ZERO) * (b[1] - PREFIX_ZERO);
    const int32_t score = 2 * dot + centres->blocks.error[centre];
    return (int16_t)(score < INT16_MIN ? INT16_MIN : score > INT16_MAX ? INT16_MAX : score);
}

uint32_t centre_nearest(const struct centres *centres, const int16_t *scores)
{
    int32_t highest = INT32_MIN;
    uint32_t best = 0;
    for (uint32_t block = 0; block < centres->blocks_count; block++)
        if (highest_of_block(scores + block * PREFIX_BLOCK) > highest)
            for (uint32_t i = block * PREFIX_BLOCK; i < (block + 1) * PREFIX_BLOCK; i++)
                if (scores[i] > highest) {
                    highest = scores[i];
                    best = i;
                }
    return best;
}

int16_t score_of_rank(const struct centres *centres, const int16_t *scores, uint32_t rank)
{
    SCRATCH int16_t best[CENTRES_RANK_MOST]; /* from the highest on */
    uint32_t kept = 0;
    if (!rank || rank >= centres->count || rank > CENTRES_RANK_MOST)
        return INT16_MIN;
    for (uint32_t block = 0; block < centres->blocks_count; block++) {
        const int16_t *some = scores + block * PREFIX_BLOCK;
        if (kept == rank && highest_of_block(some) <= best[rank - 1])
            continue;
        for (uint32_t i = 0; i < PREFIX_BLOCK; i++) {
            if (kept == rank && some[i] <= best[rank - 1])
                continue;
            uint32_t at = kept < rank ? kept++ : rank - 1;
            for (; at && best[at - 1] < some[i]; at--)
                best[at] = best[at - 1];
            best[at] = some[i];
        }
    }
    return best[rank - 1];
}

/* ---- k-means ---- */

struct lloyd {
    struct centres *centres;
    const struct prefix_list *prefixes;
    size_t sample;
    int16_t *scores;
    int32_t *sums; /* width of each centre */
    uint32_t *sizes;
};

static const int8_t *sampled_values(const struct lloyd *lloyd, size_t i)
{
    const struct prefix_list *prefixes = lloyd->prefixes;
    const size_t row = (size_t)((double)i * (double)prefixes->count / (double)lloyd->sample);
    return prefixes->values + row * prefixes->width;
}

static void put_centre(struct centres *centres, uint32_t at, const int8_t *values)
{
    const uint32_t width = centres->blocks.dimensions;
    prefix_put(values, width, (uint8_t *)centres->blocks.codes, at);
    ((int16_t *)centres->blocks.error)[at] = (int16_t)-prefix_square(values, width);
}

static void choose_first_centres(struct lloyd *lloyd)
{
    struct centres *centres = lloyd->centres;
    for (uint32_t i = 0; i < centres->count; i++)
        put_centre(centres, i, sampled_values(lloyd, lloyd->sample / centres->count * i));
}

static void add_to_centres(struct lloyd *lloyd, const int8_t *values, size_t count)
{
    const uint32_t width = lloyd->prefixes->width;
    centres_score(lloyd->centres, values, count, lloyd->scores);
    for (size_t k = 0; k < count; k++) {
        const uint32_t nearest =
            centre_nearest(lloyd->centres, lloyd->scores + k * centres_stride(lloyd->centres));
        lloyd->sizes[nearest]++;
        for (uint32_t j = 0; j < width; j++)
            lloyd->sums[nearest * width + j] += values[k * width + j];
    }
}

/* Where none came, a centre stays. */
static void move_centres(struct lloyd *lloyd)
{
    const uint32_t width = lloyd->prefixes->width;
    float mean[PREFIX_DIMENSIONS_MAX];
    for (uint32_t i = 0; i < lloyd->centres->count; i++) {
        struct prefix prefix;
        if (!lloyd->sizes[i])
            continue;
        for (uint32_t j = 0; j < width; j++)
            mean[j] = (float)lloyd->sums[i * width + j] / (float)lloyd->sizes[i] / PREFIX_ONE;
        prefix_make(mean, width, &prefix);
        put_centre(lloyd->centres, i, prefix.values);
    }
}

static void iterate_centres(struct lloyd *lloyd)
{
    const struct prefix_list *prefixes = lloyd->prefixes;
    SCRATCH int8_t some[PREFIX_QUERIES * PREFIX_DIMENSIONS_MAX];
    memset(lloyd->sums, 0, (size_t)lloyd->centres->count * prefixes->width * sizeof *lloyd->sums);
    memset(lloyd->sizes, 0, lloyd->centres->count * sizeof *lloyd->sizes);
    for (size_t i = 0; i < lloyd->sample; i += PREFIX_QUERIES) {
        size_t count = 0;
        for (; count < PREFIX_QUERIES && i + count < lloyd->sample; count++)
            memcpy(some + count * prefixes->width, sampled_values(lloyd, i + count),
                   prefixes->width);
        add_to_centres(lloyd, some, count);
    }
    move_centres(lloyd);
}

static enum doppel_status no_centres_memory(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the cells of vectors");
}

static enum doppel_status allocate_centres(struct lloyd *lloyd, struct doppel_error *error)
{
    struct centres *centres = lloyd->centres;
    const size_t places = centres_stride(centres), width = lloyd->prefixes->width;
    uint8_t *codes = malloc(places * width);
    int16_t *bias = malloc(places * sizeof *bias);
    centres->blocks =
        (struct prefix_blocks){.codes = codes, .error = bias, .dimensions = (uint32_t)width};
    lloyd->scores = malloc(places * PREFIX_QUERIES * sizeof *lloyd->scores);
    lloyd->sums = malloc((size_t)centres->count * width * sizeof *lloyd->sums);
    lloyd->sizes = malloc(centres->count * sizeof *lloyd->sizes);
    if (!codes || !bias || !lloyd->scores || !lloyd->sums || !lloyd->sizes)
        return no_centres_memory(error);
    memset(codes, PREFIX_ZERO, places * width);
    for (size_t i = 0; i < places; i++)
        bias[i] = INT16_MIN;
    return DOPPEL_OK;
}

/* Each next to one that is near it, so that vectors that lie near each other in places are compared
 * with the same cells. */
static enum doppel_status order_centres(struct centres *centres, int16_t *scores,
                                        struct doppel_error *error)
{
    const size_t places = centres_stride(centres), width = centres->blocks.dimensions;
    int8_t *values = malloc(centres->count * width);
    int16_t *left = malloc(places * sizeof *left);
    struct centres rest = *centres;
    if (!values || !left) {
        free(values);
        free(left);
        return no_centres_memory(error);
    }
    memcpy(left, centres->blocks.error, places * sizeof *left);
    rest.blocks.error = left;
    for (uint32_t i = 0, next = 0; i < centres->count; i++) {
        int8_t *own = values + i * width;
        prefix_values(&centres->blocks, next, own);
        left[next] = INT16_MIN;
        centres_score(&rest, own, 1, scores);
        next = centre_nearest(&rest, scores);
    }
    for (uint32_t i = 0; i < centres->count; i++)
        put_centre(centres, i, values + i * width);
    free(values);
    free(left);
    return DOPPEL_OK;
}

enum doppel_status centres_make(const struct prefix_list *prefixes, uint32_t count,
                                struct centres *out, struct doppel_error *error)
{
    const size_t sample = (size_t)count * SAMPLE_A_CENTRE;
    *out =
        (struct centres){.count = count, .blocks_count = (count + PREFIX_BLOCK - 1) / PREFIX_BLOCK};
    struct lloyd lloyd = {.centres = out,
                          .prefixes = prefixes,
                          .sample = sample < prefixes->count ? sample : prefixes->count};
    enum doppel_status status;
    TRY(allocate_centres(&lloyd, error));
    choose_first_centres(&lloyd);
    for (int turn = 0; turn < ITERATIONS && count > 1; turn++)
        iterate_centres(&lloyd);
    TRY(order_centres(out, lloyd.scores, error));
done:
    free(lloyd.scores);
    free(lloyd.sums);
    free(lloyd.sizes);
    if (status)
        centres_free(out);
    return status;
}

void centres_free(struct centres *centres)
{
    free((void *)centres->blocks.codes);
    free((void *)centres->blocks.error);
    *centres = (struct centres){0};
}
