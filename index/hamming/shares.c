/* Shares of the radius: the cheapest shells, one after the other, as a chunk's cost more and more.
 */
#include "index/hamming/shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/log_gamma.h"
#include "index/hamming/costs.h"

enum { WINDOW_MAX = 32 + PREFIX_MAX };

enum { USUAL_RADII = 33 };

struct share_costs {
    float lookups_ns[PREFIX_MAX + 1];         /* of a shell, without codes */
    float passing[WINDOW_MAX + 1];            /* the part of random remainders within a distance */
    float scanning[WINDOW_MAX + 1];           /* the same of chunk and remainder */
    float shells[CHUNKS_MAX][PREFIX_MAX + 1]; /* codes in a shell around a code */
    float crowding[CHUNKS_MAX];               /* how much more they are for each in the bucket */
    float code_ns;                            /* of a code that does not pass */
    /* Most queries' buckets are ordinary, and the shares then always the same: known before the
     * buckets have arrived. */
    uint32_t ordinary; /* the most codes of such a bucket */
    bool usual_scan[USUAL_RADII];
    int8_t usual[USUAL_RADII][CHUNKS_MAX];
};

static void fill_binomial(float *out, uint32_t bits)
{
    double sum = 0;
    for (uint32_t i = 0; i <= WINDOW_MAX; i++) {
        if (i <= bits)
            sum += exp(log_gamma(bits + 1.0) - log_gamma(i + 1.0) - log_gamma(bits - i + 1.0) -
                       bits * log(2.0));
        out[i] = (float)(sum < 1 ? sum : 1);
    }
}

static uint32_t shell_lookups(const struct hamming *table, uint32_t ones)
{
    return table->shell_ends[ones] - (ones ? table->shell_ends[ones - 1] : 0);
}

static void fill_costs(const struct hamming *table, struct share_costs *costs)
{
    const struct hamming_shape *shape = &table->shape;
    const uint32_t left = shape->bits - shape->prefix, rest = left < 32 ? left : 32;
    float lookup_ns = FETCH_NS + LINE_NS * (float)shape->groups;
    for (uint32_t ones = 0; ones < table->shells; ones++)
        costs->lookups_ns[ones] = (float)shell_lookups(table, ones) * lookup_ns;
    costs->code_ns = LINE_NS / LANES;
    fill_binomial(costs->passing, rest);
    fill_binomial(costs->scanning, rest + shape->prefix);
    const uint8_t *part = table->segment->parts[PART_SHELLS];
    const uint32_t *shells = (const uint32_t *)(const void *)part;
    segment_touch(table->segment, part, shape->chunks * (shape->prefix + 1) * sizeof *shells);
    for (uint32_t chunk = 0; chunk < shape->chunks; chunk++) {
        for (uint32_t ones = 0; ones <= shape->prefix; ones++)
            costs->shells[chunk][ones] = (float)*shells++ / 16;
        costs->crowding[chunk] = 1 / (1.1f * costs->shells[chunk][0] + 1);
    }
}

/* @param window what chunk and remainder may differ by */
static float cost_of_shell(const struct share_costs *costs, unsigned chunk, uint32_t ones,
                           uint32_t window, uint32_t size)
{
    float codes = (float)size;
    if (ones) {
        const float *shells = costs->shells[chunk];
        float crowd = (codes + .1f * shells[0] + 1) * costs->crowding[chunk];
        codes = shells[ones] * (.5f + .5f * crowd);
    }
    uint32_t limit = window < ones ? 0 : window - ones;
    float passing = costs->passing[limit < WINDOW_MAX ? limit : WINDOW_MAX];
    return costs->lookups_ns[ones] + codes * (costs->code_ns + passing * PASS_NS);
}

static float cost_of_scan(const struct hamming *table, const struct share_costs *costs,
                          uint32_t radius)
{
    const struct hamming_shape *shape = &table->shape;
    if (shape->apart)
        return (float)table->distinct * (float)shape->words * WORD_NS;
    float lines = (float)shape->groups * (float)(UINT64_C(1) << shape->prefix);
    float passing = costs->scanning[radius < WINDOW_MAX ? radius : WINDOW_MAX];
    return lines * ORDERED_LINE_NS + (float)table->distinct * passing * PASS_NS / 2;
}

static bool choose_hamming(const struct hamming *table, const struct share_costs *costs,
                           uint32_t radius, const uint32_t *sizes, int8_t *out_shares)
{
    const uint32_t chunks = table->shape.chunks;
    float next[CHUNKS_MAX], all = 0,
                            most = cost_of_scan(table, costs, radius); /* of each the next shell */
    const uint32_t window = window_usual(&table->shape, radius);
    for (unsigned chunk = 0; chunk < chunks; chunk++) {
        out_shares[chunk] = -1;
        next[chunk] = cost_of_shell(costs, chunk, 0, window, sizes[chunk]);
    }
    for (uint32_t units = radius + 1; units > 0; units--) {
        unsigned least = 0;
        for (unsigned chunk = 1; chunk < chunks; chunk++)
            if (next[chunk] < next[least])
                least = chunk;
        /* There is a chunk. */
        all += next[least]; // NOLINT(clang-analyzer-core.*)
        if (!(all <= most))
            return false;
        uint32_t ones = (uint32_t)(++out_shares[least] + 1);
        next[least] = ones < table->shells ? cost_of_shell(costs, least, ones, window, sizes[least])
                                           : INFINITY;
    }
    return true;
}

struct share_costs *share_costs_new(const struct hamming *table)
{
    uint32_t load = (uint32_t)(table->distinct >> table->shape.prefix), sizes[CHUNKS_MAX];
    struct share_costs *costs = calloc(1, sizeof *costs);
    if (!costs)
        return NULL;
    fill_costs(table, costs);
    costs->ordinary = 2 * load + LANES;
    for (unsigned chunk = 0; chunk < CHUNKS_MAX; chunk++)
        sizes[chunk] = load;
    for (uint32_t radius = 0; radius < USUAL_RADII; radius++)
        costs->usual_scan[radius] =
            !choose_hamming(table, costs, radius, sizes, costs->usual[radius]);
    return costs;
}

void share_costs_free(struct share_costs *costs)
{
    free(costs);
}

bool shares_choose(const struct hamming *table, uint32_t radius, const uint32_t *sizes,
                   int8_t *out_shares)
{
    const struct share_costs *costs = table->costs;
    bool ordinary = radius < USUAL_RADII;
    for (unsigned chunk = 0; chunk < table->shape.chunks; chunk++)
        ordinary &= sizes[chunk] <= costs->ordinary;
    if (!ordinary)
        return choose_hamming(table, costs, radius, sizes, out_shares);
    memcpy(out_shares, costs->usual[radius], CHUNKS_MAX);
    return !costs->usual_scan[radius];
}

/* The bits behind the last chunk have no share. A chunk that the window ends in counts whole. */
static uint32_t window_of(const struct hamming_shape *shape, const int8_t *shares, unsigned first)
{
    uint32_t units = 0, covered = 0;
    unsigned chunk = first;
    do {
        units += (uint32_t)(shares[chunk] + 1);
        covered += shape->prefix;
        if (++chunk == shape->chunks) {
            chunk = 0;
            covered += shape->ring - shape->chunks * shape->prefix;
        }
    } while (chunk != first && covered < window_bits(shape));
    return units ? units - 1 : 0;
}

void shares_windows(const struct hamming_shape *shape, const int8_t *shares, uint32_t *out_windows)
{
    for (unsigned chunk = 0; chunk < shape->chunks; chunk++)
        out_windows[chunk] = window_of(shape, shares, chunk);
}

float shell_cost(const struct hamming *table, unsigned chunk, uint32_t ones, uint32_t window,
                 uint32_t size)
{
    return cost_of_shell(table->costs, chunk, ones, window, size);
}

float scan_cost(const struct hamming *table, uint32_t radius)
{
    return cost_of_scan(table, table->costs, radius);
}
