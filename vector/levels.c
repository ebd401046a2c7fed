/* Levels: a sample in blocks of 16 vectors, with which 8 vectors are compared at a time. */
#include "vector/levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/large_pages.h"
#include "core/scratch.h"
#include "vector/centres.h"
#include "vector/rounded.h"

enum {
    TILE_BLOCKS = 32, /* fit the cache, with their scores with PREFIX_QUERIES vectors */
    TILE = TILE_BLOCKS * PREFIX_BLOCK
};

/* Less the mean, most vectors of length 1 are no longer than this. */
static const float member_length = 1.1F;

/* The highest scores of a vector so far, from the highest on. */
struct highest_scores {
    int16_t least; /* that a higher one replaces */
    uint32_t count;
    int16_t scores[LEVEL_NEAREST_MAX];
};

struct highest_cosines {
    float cosines[LEVEL_NEAREST_MAX];
    uint32_t count;
};

struct level_work {
    const struct level_sample *sample;
    struct prefix_spread *queries; /* of each part, of LEVEL_ROWS vectors */
    float factors[LEVEL_ROWS];     /* a dot product by the score */
    float mean[LEVEL_ROWS];        /* dot products with the mean */
    uint32_t own[LEVEL_ROWS];
    struct highest_scores highest[LEVEL_ROWS];
    int16_t scores[PREFIX_QUERIES * TILE], more[PREFIX_QUERIES * TILE];
    int16_t zeros[TILE];
};

/* ---- the sample ---- */

static uint32_t width_of_part(const struct level_sample *sample, uint32_t part)
{
    const uint32_t left = sample->dimension - part * PREFIX_DIMENSIONS_MAX;
    return left < PREFIX_DIMENSIONS_MAX ? (left + PREFIX_HEAD - 1) / PREFIX_HEAD * PREFIX_HEAD
                                        : PREFIX_DIMENSIONS_MAX;
}

static uint8_t *codes_of_part(const struct level_sample *sample, uint32_t part)
{
    return sample->codes + (size_t)part * PREFIX_DIMENSIONS_MAX * sample->blocks * PREFIX_BLOCK;
}

/* Rounded, a vector is longer by half a unit in each dimension at most, and twice a product of two
 * lengths is to fit 16 bits. */
static float units_of_one(uint32_t dimension)
{
    const double most = sqrt(INT16_MAX / 2.0) - sqrt((double)dimension) / 2;
    return (float)floor(most / sqrt((double)member_length));
}

bool level_sample_make(struct level_sample *sample, uint32_t dimension, uint32_t count)
{
    const size_t last = dimension - 1;
    sample->dimension = dimension;
    sample->parts = (uint32_t)(last / PREFIX_DIMENSIONS_MAX) + 1;
    sample->one = units_of_one(dimension);
    sample->blocks = (count + PREFIX_BLOCK - 1) / PREFIX_BLOCK;
    sample->stride = ((size_t)dimension + 31) / 32 * 32;
    const size_t bytes =
        (size_t)sample->blocks * PREFIX_BLOCK * sample->parts * PREFIX_DIMENSIONS_MAX;
    sample->codes = large_pages_alloc(bytes + 1);
    sample->own = malloc((count + 1) * sizeof *sample->own);
    sample->bytes = malloc(count * sample->stride + 1);
    sample->scales = malloc((count + 1) * sizeof *sample->scales);
    sample->mean = calloc(dimension, sizeof *sample->mean);
    if (!sample->codes || !sample->own || !sample->bytes || !sample->scales || !sample->mean)
        return false;
    memset(sample->codes, PREFIX_ZERO, bytes);
    return true;
}

void level_sample_free(struct level_sample *sample)
{
    free(sample->codes);
    free(sample->mean);
    free(sample->own);
    free(sample->bytes);
    free(sample->scales);
    *sample = (struct level_sample){0};
}

static float largest_of(const float *row, uint32_t dimension)
{
    float largest = 0;
    for (uint32_t j = 0; j < dimension; j++)
        largest = fabsf(row[j]) > largest ? fabsf(row[j]) : largest;
    return largest;
}

/* A part in whole units, with zeros behind it. @param by what makes units of it */
static void round_part(const struct level_sample *sample, uint32_t part, const float *row, float by,
                       int8_t *values)
{
    const uint32_t first = part * PREFIX_DIMENSIONS_MAX, width = width_of_part(sample, part);
    for (uint32_t j = 0; j < width; j++) {
        const float value = first + j < sample->dimension ? nearest_whole(row[first + j] * by) : 0;
        values[j] = (int8_t)(value > PREFIX_MOST    ? PREFIX_MOST
                             : value < -PREFIX_MOST ? -PREFIX_MOST
                                                    : value);
    }
}

static void add_odd(struct level_sample *sample, uint32_t number, const float *row, float inverse)
{
    struct rounded_vector rounded = {.values = row, .inverse = inverse};
    int8_t *bytes = sample->bytes + sample->odd * sample->stride;
    memset(bytes, 0, sample->stride);
    if (inverse > 0)
        round_to_bytes(&rounded, sample->dimension, bytes);
    sample->scales[sample->odd] = rounded.scale;
    sample->own[number] = LEVEL_ODD | sample->odd++;
}

static void add_cohort_member(struct level_sample *sample, uint32_t number, const float *row)
{
    SCRATCH float centred[DOPPEL_VECTOR_DIMENSION_MAX];
    int8_t values[PREFIX_DIMENSIONS_MAX];
    float inverse, square = 0;
    (void)vector_length(row, sample->dimension, &inverse);
    for (uint32_t j = 0; j < sample->dimension; j++) {
        centred[j] = row[j] * inverse - sample->mean[j];
        square += centred[j] * centred[j];
    }
    if (!(inverse > 0) || square > member_length * member_length ||
        largest_of(centred, sample->dimension) * sample->one > PREFIX_MOST) {
        add_odd(sample, number, row, inverse);
        return;
    }
    for (uint32_t part = 0; part < sample->parts; part++) {
        round_part(sample, part, centred, sample->one, values);
        prefix_put(values, width_of_part(sample, part), codes_of_part(sample, part), sample->count);
    }
    sample->own[number] = sample->count++;
}

uint32_t level_sample_fill(struct level_sample *sample, const float *const *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        float inverse;
        if (!vector_length(rows[i], sample->dimension, &inverse))
            return i;
        for (uint32_t j = 0; j < sample->dimension; j++)
            sample->mean[j] += rows[i][j] * inverse / (float)count;
    }
    for (uint32_t i = 0; i < count; i++)
        add_cohort_member(sample, i, rows[i]);
    return count;
}

/* ---- the highest ---- */

static void note_score(struct highest_scores *highest, uint32_t most, int16_t score)
{
    uint32_t at = highest->count < most ? highest->count++ : most - 1;
    for (; at && highest->scores[at - 1] < score; at--)
        highest->scores[at] = highest->scores[at - 1];
    highest->scores[at] = score;
    if (highest->count == most)
        highest->least = highest->scores[most - 1];
}

static void note_scores(struct highest_scores *highest, uint32_t most, const int16_t *scores,
                        uint32_t count)
{
    for (uint32_t at = 0; at < count; at += PREFIX_BLOCK) {
        if (highest_of_block(scores + at) <= highest->least)
            continue;
        for (uint32_t i = at; i < at + PREFIX_BLOCK; i++)
            if (scores[i] > highest->least)
                note_score(highest, most, scores[i]);
    }
}

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

/* ---- finding ---- */

struct level_work *level_work_new(const struct level_sample *sample)
{
    struct level_work *work = calloc(1, sizeof *work);
    const size_t size = (size_t)sample->parts * LEVEL_ROWS * sizeof *work->queries;
    if (!work)
        return NULL;
    work->sample = sample;
    work->queries = aligned_alloc(_Alignof(struct prefix_spread), size);
    if (!work->queries) {
        free(work);
        return NULL;
    }
    memset(work->queries, 0, size);
    return work;
}

void level_work_free(struct level_work *work)
{
    if (!work)
        return;
    free(work->queries);
    free(work);
}

/* One with a large component becomes shorter, so that this fits.
 * @return false: it holds what is no number */
static bool take_row_to_level(struct level_work *work, size_t k, const float *row)
{
    const struct level_sample *sample = work->sample;
    int8_t values[PREFIX_DIMENSIONS_MAX];
    float inverse = 0;
    const bool is_good = vector_length(row, sample->dimension, &inverse);
    const bool has_direction = is_good && inverse > 0;
    const float largest = has_direction ? largest_of(row, sample->dimension) : 0;
    float by = has_direction ? inverse * sample->one : 0;
    if (largest * by > PREFIX_MOST)
        by = PREFIX_MOST / largest;
    work->factors[k] = has_direction ? inverse / (by * 2 * sample->one) : 0;
    work->mean[k] =
        vector_kernels_get()->dot_floats(row, sample->mean, sample->dimension) * inverse;
    work->highest[k] = (struct highest_scores){.least = INT16_MIN};
    for (uint32_t part = 0; part < sample->parts; part++) {
        if (has_direction)
            round_part(sample, part, row, by, values);
        else
            memset(values, 0, sizeof values);
        prefix_spread(values, width_of_part(sample, part), &work->queries[part * LEVEL_ROWS + k]);
    }
    return is_good;
}

/* What is no member, and the vector itself, is not near. */
static void leave_out_own(struct level_work *work, size_t group, uint32_t first, uint32_t blocks)
{
    const uint32_t end = first + blocks * PREFIX_BLOCK;
    for (size_t k = 0; k < PREFIX_QUERIES; k++) {
        int16_t *scores = work->scores + k * TILE;
        const uint32_t own = work->own[group * PREFIX_QUERIES + k];
        if (own >= first && own < end)
            scores[own - first] = INT16_MIN;
        for (uint32_t at = work->sample->count; at < end; at++)
            scores[at - first] = INT16_MIN;
    }
}

static void compare_group(struct level_work *work, size_t group, uint32_t first_block,
                          uint32_t blocks)
{
    const struct level_sample *sample = work->sample;
    const uint32_t first = first_block * PREFIX_BLOCK, size = blocks * PREFIX_BLOCK;
    for (uint32_t part = 0; part < sample->parts; part++) {
        const uint32_t width = width_of_part(sample, part);
        const struct prefix_blocks tile = {codes_of_part(sample, part) + (size_t)first * width,
                                           work->zeros, work->zeros, work->zeros, width};
        int16_t *scores = part ? work->more : work->scores;
        vector_kernels_get()->score(&work->queries[part * LEVEL_ROWS + group * PREFIX_QUERIES],
                                    &tile, blocks, scores, TILE);
        for (size_t k = 0; k < PREFIX_QUERIES && part; k++)
            for (size_t i = k * TILE; i < k * TILE + size; i++)
                work->scores[i] = (int16_t)(work->scores[i] + work->more[i]);
    }
    leave_out_own(work, group, first, blocks);
    for (size_t k = 0; k < PREFIX_QUERIES; k++)
        note_scores(&work->highest[group * PREFIX_QUERIES + k], sample->nearest,
                    work->scores + k * TILE, size);
}

/* The few that are not in blocks: by bytes. */
static void compare_with_odd(const struct level_sample *sample, const float *row, uint32_t own,
                             int8_t *bytes, struct highest_cosines *highest)
{
    struct rounded_vector rounded = {.values = row};
    memset(bytes, 0, sample->stride);
    if (!vector_length(row, sample->dimension, &rounded.inverse) || !(rounded.inverse > 0))
        return;
    round_to_bytes(&rounded, sample->dimension, bytes);
    for (uint32_t i = 0; i < sample->odd; i++) {
        const int32_t dot = vector_kernels_get()->dot_bytes(
            bytes, sample->bytes + i * sample->stride, sample->stride);
        if (own != (LEVEL_ODD | i))
            note_cosine(highest, sample->nearest, (float)dot * sample->scales[i] * rounded.scale);
    }
}

static float mean_level_of_row(struct level_work *work, size_t k, const float *row)
{
    SCRATCH int8_t bytes[DOPPEL_VECTOR_DIMENSION_MAX];
    struct highest_cosines highest = {.count = 0};
    for (uint32_t i = 0; i < work->highest[k].count; i++)
        note_cosine(&highest, work->sample->nearest,
                    (float)work->highest[k].scores[i] * work->factors[k] + work->mean[k]);
    if (work->sample->odd)
        compare_with_odd(work->sample, row, work->own[k], bytes, &highest);
    return work->factors[k] > 0 ? mean_of_highest(&highest) : 0;
}

bool level_find(struct level_work *work, const float *const *rows, const uint32_t *own,
                size_t count, float *levels)
{
    const struct level_sample *sample = work->sample;
    const uint32_t blocks = (sample->count + PREFIX_BLOCK - 1) / PREFIX_BLOCK;
    bool is_good = true;
    for (size_t k = 0; k < count; k++) {
        work->own[k] = own[k] == UINT32_MAX ? UINT32_MAX : sample->own[own[k]];
        is_good = take_row_to_level(work, k, rows[k]) && is_good;
    }
    for (size_t k = count; k % PREFIX_QUERIES; k++)
        work->own[k] = UINT32_MAX; /* what was there before is compared, and not used */
    for (uint32_t first = 0; first < blocks; first += TILE_BLOCKS)
        for (size_t group = 0; group * PREFIX_QUERIES < count; group++)
            compare_group(work, group, first,
                          blocks - first < TILE_BLOCKS ? blocks - first : TILE_BLOCKS);
    for (size_t k = 0; k < count; k++)
        levels[k] = mean_level_of_row(work, k, rows[k]);
    return is_good;
}
