/* The choice of a shape: every one that is possible is priced. */
#include "index/hamming/layout.h"

#include <math.h>

/* As hamming_shares.c has them. */
static const double FETCH_NS = 5.5, LINE_NS = 2.3, ORDERED_LINE_NS = 2.4, PASS_NS = 8,
                    SPILL_NS = 40, EXCESSIVE = 1e6;

/* A page of a mapped file that a process touches for the first time: the fault, and its checksum.
 * Compact tables of wide codes are kept by libraries, which a process asks once. */
static const double PAGE_NS = 900, PAGE_BYTES = 4096;

static bool is_asked_once(const struct hamming_options *options)
{
    return options->compact && options->bits > 64;
}

/* Bytes a code, payload of 8 included. Small tables may take more: they are small. */
static double budget(const struct hamming_options *options, double count)
{
    double generous = count < 1e5 ? 4 : count < 4e6 ? 1.35 : 1;
    if (options->compact && options->bits <= 64)
        return 33;
    if (options->compact)
        return (count < 1e5 ? 2 : 1) * (options->bits == 128 ? 100 : 200);
    return generous * (options->bits <= 64 ? 48 : options->bits == 128 ? 160 : 352);
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
    double slots = (double)shape->chunks * exp2(shape->prefix) * groups * shape->planes * LANES * 4;
    double codes =
        (double)tail_offset(shape, shape->chunks, 1) + 8 + (shape->apart ? shape->bits / 8. : 0);
    return slots / count + codes;
}

/* The part of random words of `bits` bits with at most `ones` ones. */
static double binomial_tail(double bits, double ones)
{
    return .5 * erfc(-(ones + .5 - bits / 2) / sqrt(bits / 2));
}

/* Pages on which a bucket lies, on an average. */
static double bucket_pages(const struct hamming_shape *shape, double count)
{
    double bytes = (shape->groups + spilling(shape, count)) * shape->planes * LANES * 4;
    return 1 + (bytes - LANES * 4) / PAGE_BYTES + spilled_part(shape, count);
}

/* Nanoseconds of a search, the shells shared out evenly. @param page_ns of each page it touches */
static double search_cost(const struct hamming_shape *shape, double count, uint32_t radius,
                          double page_ns)
{
    double buckets = exp2(shape->prefix), load = count / buckets;
    double spill = spilling(shape, count), lines = (shape->groups + spill) * shape->planes;
    double lookup = FETCH_NS + LINE_NS * lines + SPILL_NS * spilled_part(shape, count) +
                    page_ns * bucket_pages(shape, count);
    double cost = 0, shell = 1;
    double rest = fmin(32. * shape->planes, shape->bits - shape->prefix);
    double scan = buckets * lines * (ORDERED_LINE_NS + page_ns * LANES * 4 / PAGE_BYTES) +
                  count * binomial_tail(rest + shape->prefix, radius) * PASS_NS / 2;
    uint32_t units = radius + 1;
    for (uint32_t ones = 0; units > 0; ones++) {
        if (ones > shape->prefix / 2)
            return scan;
        uint32_t chunks = units < shape->chunks ? units : shape->chunks;
        double passing = binomial_tail(rest, (double)radius - ones);
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
    if (is_asked_once(options))
        return log(search_cost(shape, count, options->design_radius, PAGE_NS));
    for (uint32_t quarters = 2; quarters <= 6; quarters++)
        sum += log(search_cost(shape, count, options->design_radius * quarters / 4, 0));
    return sum;
}

struct hamming_shape hamming_layout(const struct hamming_options *options, uint64_t count)
{
    uint32_t bits = options->bits;
    double codes = count ? (double)count : 1, least = INFINITY;
    struct hamming_shape best = hamming_shape(bits, 1, PREFIX_MIN, 1);
    for (uint32_t prefix = PREFIX_MIN; prefix <= PREFIX_MAX; prefix++)
        for (uint32_t chunks = 1; chunks <= CHUNKS_MAX && chunks * prefix <= bits; chunks++) {
            const bool half = options->compact && !is_asked_once(options);
            uint32_t groups = groups_for(codes / exp2(prefix), half);
            struct hamming_shape shape = hamming_shape(bits, chunks, prefix, groups);
            double cost = geometric_cost(&shape, codes, options);
            double excess = shape_bytes(&shape, codes) / budget(options, codes);
            if (excess > 1) /* only if nothing fits: the smallest */
                cost = EXCESSIVE * excess;
            if (cost < least) {
                least = cost;
                best = shape;
            }
        }
    return best;
}
