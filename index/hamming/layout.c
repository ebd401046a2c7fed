/* The choice of a shape: every one that is possible is priced. */
#include "index/hamming/layout.h"

#include <math.h>

#include "index/hamming/costs.h"

/* A bucket that goes on in the spill. */
static const double SPILL_NS = 40;

/* The cost of a shape that takes too many bytes: only if nothing fits, the smallest is taken. */
static const double EXCESSIVE = 1e6;

/* Bytes a code, payload of 8 included. Small tables may take more: they are small. */
static double budget(const struct hamming_options *options, double count)
{
    if (options->bits > 64) {
        double wide = options->bits == 128 ? 120 : 200;
        return wide * (options->compact ? .75 : 1) * (count < 1e5 ? 2 : 1);
    }
    return options->compact ? 33 : 48 * (count < 1e5 ? 4 : count < 4e6 ? 1.35 : 1);
}

/* Groups of an average bucket that have no room in its slot. */
static double spilling(const struct hamming_shape *shape, double count)
{
    double groups = (count / exp2(shape->prefix) + HEADER) / LANES;
    return groups > shape->groups ? groups - shape->groups : 0;
}

/* The part of buckets that do not fit in their slots. */
static double spilled_part(const struct hamming_shape *shape, double count)
{
    double load = count / exp2(shape->prefix), full = shape->groups * LANES - HEADER;
    return .5 * erfc((full + .5 - load) / sqrt(2 * load));
}

static double shape_bytes(const struct hamming_shape *shape, double count)
{
    double groups = shape->groups + spilling(shape, count) + spilled_part(shape, count);
    double slots = (double)shape->chunks * exp2(shape->prefix) * groups * LANES * 4;
    double codes =
        (double)tail_offset(shape, shape->chunks, 1) + 8 + (shape->apart ? shape->bits / 8. : 0);
    return slots / count + codes;
}

/* The part of random words of `bits` bits with at most `ones` ones. */
static double binomial_tail(double bits, double ones)
{
    return .5 * erfc(-(ones + .5 - bits / 2) / sqrt(bits / 2));
}

/* Nanoseconds of reading all. */
static double scan_cost_of(const struct hamming_shape *shape, double count, uint32_t radius)
{
    if (shape->apart)
        return count * shape->words * WORD_NS;
    double lines = exp2(shape->prefix) * (shape->groups + spilling(shape, count));
    double bits = fmin(32 + shape->prefix, shape->bits);
    return lines * ORDERED_LINE_NS + count * binomial_tail(bits, radius) * PASS_NS / 2;
}

/* Nanoseconds of a search, the shells shared out evenly. */
static double search_cost(const struct hamming_shape *shape, double count, uint32_t radius)
{
    double buckets = exp2(shape->prefix), load = count / buckets;
    double spill = spilling(shape, count), lines = shape->groups + spill;
    double lookup = FETCH_NS + LINE_NS * lines + SPILL_NS * spilled_part(shape, count);
    double cost = 0, shell = 1;
    double rest = fmin(32, shape->bits - shape->prefix);
    const double window = window_usual(shape, radius);
    const double scan = scan_cost_of(shape, count, radius);
    uint32_t units = radius + 1;
    for (uint32_t ones = 0; units > 0; ones++) {
        if (ones > shape->prefix / 2)
            return scan;
        uint32_t chunks = units < shape->chunks ? units : shape->chunks;
        double passing = binomial_tail(rest, window - ones);
        cost += chunks * shell * (lookup + load * passing * PASS_NS);
        units -= chunks;
        shell = shell * (shape->prefix - ones) / (ones + 1);
    }
    return fmin(cost, scan);
}

/* As many lines as hold most buckets, or half of them. */
static uint32_t groups_for(double load, bool half)
{
    double codes = load + (half ? 0 : 1.3 * sqrt(load));
    double groups = ceil((codes + HEADER) / LANES);
    return groups < 1 ? 1 : groups > GROUPS_MAX ? GROUPS_MAX : (uint32_t)groups;
}

static double geometric_cost(const struct hamming_shape *shape, double count,
                             const struct hamming_options *options)
{
    double sum = 0;
    for (uint32_t quarters = 2; quarters <= 6; quarters++)
        sum += log(search_cost(shape, count, options->design_radius * quarters / 4));
    return sum;
}

struct hamming_shape hamming_layout(const struct hamming_options *options, uint64_t count)
{
    uint32_t bits = options->bits;
    double codes = count ? (double)count : 1, least = INFINITY;
    struct hamming_shape best = hamming_shape(bits, 1, PREFIX_MIN, 1);
    for (uint32_t prefix = PREFIX_MIN; prefix <= PREFIX_MAX; prefix++)
        for (uint32_t chunks = 1; chunks <= CHUNKS_MAX && chunks * prefix <= bits; chunks++) {
            uint32_t groups = groups_for(codes / exp2(prefix), options->compact);
            struct hamming_shape shape = hamming_shape(bits, chunks, prefix, groups);
            double cost = geometric_cost(&shape, codes, options);
            double excess = shape_bytes(&shape, codes) / budget(options, codes);
            if (excess > 1)
                cost = EXCESSIVE * excess;
            if (cost < least) {
                least = cost;
                best = shape;
            }
        }
    return best;
}
