/* Shares of the radius by dynamic programming over the costs of shells. */
#include "index/hamming_shares.h"

#include <math.h>
#include <stdlib.h>

/* Measured on a Zen 5 server: a bucket fetched ahead, each of its cache lines, a line read in
 * order, a code whose remainder is within the limit. */
static const float FETCH_NS = 5.5f, LINE_NS = 2.3f, ORDERED_LINE_NS = 2.4f, PASS_NS = 8;

enum { REST_MAX = 32 * PLANES_MAX + PREFIX_MAX };

struct share_costs {
    float lookup_ns;
    float passing[REST_MAX + 1];              /* the part of random remainders within a distance */
    float scanning[REST_MAX + 1];             /* the same of chunk and remainder */
    float shells[CHUNKS_MAX][PREFIX_MAX + 1]; /* codes in a shell around a code */
};

static void fill_binomial(float *out, uint32_t bits)
{
    double sum = 0;
    for (uint32_t i = 0; i <= REST_MAX; i++) {
        if (i <= bits)
            sum += exp(lgamma(bits + 1.0) - lgamma(i + 1.0) - lgamma(bits - i + 1.0) -
                       bits * log(2.0));
        out[i] = (float)(sum < 1 ? sum : 1);
    }
}

struct share_costs *share_costs_new(const struct hamming *table)
{
    const struct hamming_shape *shape = &table->shape;
    struct share_costs *costs = calloc(1, sizeof *costs);
    if (!costs)
        return NULL;
    uint32_t rest = 32 * shape->planes;
    if (rest > shape->bits - shape->prefix)
        rest = shape->bits - shape->prefix;
    costs->lookup_ns = FETCH_NS + LINE_NS * (float)(shape->groups * shape->planes);
    fill_binomial(costs->passing, rest);
    fill_binomial(costs->scanning, rest + shape->prefix);
    const uint8_t *part = table->segment->parts[PART_SHELLS];
    const uint32_t *shells = (const uint32_t *)(const void *)part;
    segment_touch(table->segment, part, shape->chunks * (shape->prefix + 1) * sizeof *shells);
    for (uint32_t chunk = 0; chunk < shape->chunks; chunk++)
        for (uint32_t ones = 0; ones <= shape->prefix; ones++)
            costs->shells[chunk][ones] = (float)*shells++ / 16;
    return costs;
}

void share_costs_free(struct share_costs *costs)
{
    free(costs);
}

static uint32_t shell_lookups(const struct hamming *table, uint32_t ones)
{
    return table->shell_ends[ones] - (ones ? table->shell_ends[ones - 1] : 0);
}

float shell_cost(const struct hamming *table, unsigned chunk, uint32_t ones, uint32_t radius,
                 uint32_t size)
{
    const struct share_costs *costs = table->costs;
    const float *shells = costs->shells[chunk];
    float crowd = ((float)size + .1f * shells[0] + 1) / (1.1f * shells[0] + 1);
    float codes = ones ? shells[ones] * (.5f + .5f * crowd) : (float)size;
    uint32_t limit = radius < ones ? 0 : radius - ones;
    float passing = costs->passing[limit < REST_MAX ? limit : REST_MAX];
    float spill = LINE_NS * (float)table->shape.planes / LANES;
    return (float)shell_lookups(table, ones) * costs->lookup_ns +
           codes * (spill + passing * PASS_NS);
}

float scan_cost(const struct hamming *table, uint32_t radius)
{
    const struct hamming_shape *shape = &table->shape;
    float lines = (float)(shape->groups * shape->planes) * (float)(UINT64_C(1) << shape->prefix);
    float passing = table->costs->scanning[radius < REST_MAX ? radius : REST_MAX];
    return lines * ORDERED_LINE_NS + (float)table->distinct * passing * PASS_NS / 2;
}

/* What the first chunks cost at best when they take `units` in all, a share counting one more than
 * it is; and what the last of them then takes. */
struct best {
    float cost[CHUNKS_MAX + 1][256 + 2];
    uint8_t taken[CHUNKS_MAX + 1][256 + 2];
};

static void best_add(struct best *best, unsigned chunk, const float *costs, uint32_t shells,
                     uint32_t units)
{
    for (uint32_t all = 0; all <= units; all++) {
        float least = best->cost[chunk][all];
        uint8_t taken = 0;
        for (uint32_t take = 1; take <= shells && take <= all; take++) {
            float cost = best->cost[chunk][all - take] + costs[take];
            if (cost < least) {
                least = cost;
                taken = (uint8_t)take;
            }
        }
        best->cost[chunk + 1][all] = least;
        best->taken[chunk + 1][all] = taken;
    }
}

bool shares_choose(const struct hamming *table, uint32_t radius, const uint32_t *sizes,
                   int8_t *out_shares)
{
    uint32_t chunks = table->shape.chunks, units = radius + 1;
    if (units > chunks * table->shells)
        return false;
    struct best best;
    for (uint32_t all = 0; all <= units; all++)
        best.cost[0][all] = all ? INFINITY : 0;
    for (unsigned chunk = 0; chunk < chunks; chunk++) {
        float costs[PREFIX_MAX + 2] = {0};
        for (uint32_t ones = 0; ones < table->shells; ones++)
            costs[ones + 1] = costs[ones] + shell_cost(table, chunk, ones, radius, sizes[chunk]);
        best_add(&best, chunk, costs, table->shells, units);
    }
    if (best.cost[chunks][units] > scan_cost(table, radius))
        return false;
    for (unsigned chunk = chunks; chunk-- > 0;) {
        uint8_t taken = best.taken[chunk + 1][units];
        out_shares[chunk] = (int8_t)(taken - 1);
        units -= taken;
    }
    return true;
}
