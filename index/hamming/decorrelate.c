/*
 * The choice of a permutation. How evenly bits fill buckets is their collision entropy, -log2 of
 * the chance that two codes agree in them; what a chunk lacks of its width is estimated from single
 * bits and pairs. Bits are given to chunks the worst first, each where it does the least harm, and
 * then swapped while that helps. The worst of all go where no chunk is, if there is such a place.
 */
#include "index/hamming/permute.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BITS_MAX = 256, GROUPS = 33, SWEEPS = 4, SAMPLE_MIN = 256 };

struct chooser {
    uint32_t bits, chunks, prefix;
    size_t column_words, count;
    uint64_t *columns;              /* bit by bit, the codes of the sample */
    float lack[BITS_MAX][BITS_MAX]; /* of a pair beside the bits' own; of a bit */
    uint8_t group[BITS_MAX];        /* a chunk, or the one after all chunks: the rest */
    uint32_t sizes[GROUPS];
    double lacks[GROUPS];
};

static void fill_columns(struct chooser *chooser, const uint64_t *sample, size_t words)
{
    for (size_t i = 0; i < chooser->count; i++)
        for (uint32_t bit = 0; bit < chooser->bits; bit++)
            chooser->columns[bit * chooser->column_words + i / 64] |=
                (sample[i * words + bit / 64] >> bit % 64 & 1) << i % 64;
}

static double ones_of_chooser(const struct chooser *chooser, uint32_t i, uint32_t j)
{
    const uint64_t *a = chooser->columns + i * chooser->column_words;
    const uint64_t *b = chooser->columns + j * chooser->column_words;
    uint64_t ones = 0;
    for (size_t word = 0; word < chooser->column_words; word++)
        ones += (uint64_t)__builtin_popcountll(a[word] & b[word]);
    return (double)ones / (double)chooser->count;
}

static double single_entropy(double ones)
{
    return -log2(ones * ones + (1 - ones) * (1 - ones));
}

static double pair_entropy(double a, double b, double both)
{
    double only_a = a - both, only_b = b - both, none = 1 - a - b + both;
    return -log2(both * both + only_a * only_a + only_b * only_b + none * none);
}

/* @return false when nothing is lacking but by chance */
static bool fill_lacks(struct chooser *chooser)
{
    double chance = 40. / (double)chooser->count, ones[BITS_MAX];
    bool any = false;
    for (uint32_t i = 0; i < chooser->bits; i++) {
        ones[i] = ones_of_chooser(chooser, i, i);
        double lack = 1 - single_entropy(ones[i]);
        chooser->lack[i][i] = lack > chance ? (float)lack : 0;
        any |= lack > chance;
    }
    for (uint32_t i = 0; i < chooser->bits; i++)
        for (uint32_t j = 0; j < i; j++) {
            double both = ones_of_chooser(chooser, i, j);
            double lack = single_entropy(ones[i]) + single_entropy(ones[j]) -
                          pair_entropy(ones[i], ones[j], both);
            chooser->lack[i][j] = chooser->lack[j][i] = lack > chance ? (float)lack : 0;
            any |= lack > chance;
        }
    return any;
}

static double lack_in(const struct chooser *chooser, uint32_t bit, uint32_t group)
{
    double lack = chooser->lack[bit][bit];
    if (group == chooser->chunks)
        return 0;
    for (uint32_t other = 0; other < chooser->bits; other++)
        if (chooser->group[other] == group && other != bit)
            lack += chooser->lack[bit][other];
    return lack;
}

static double trouble(const struct chooser *chooser, uint32_t bit)
{
    double sum = 0;
    for (uint32_t other = 0; other < chooser->bits; other++)
        sum += chooser->lack[bit][other];
    return sum;
}

static uint32_t group_room(const struct chooser *chooser, uint32_t group)
{
    return group < chooser->chunks ? chooser->prefix
                                   : chooser->bits - chooser->chunks * chooser->prefix;
}

static void give(struct chooser *chooser, uint32_t bit)
{
    uint32_t best = 0;
    double least = INFINITY;
    for (uint32_t group = 0; group <= chooser->chunks; group++) {
        if (chooser->sizes[group] == group_room(chooser, group))
            continue;
        double lack = group == chooser->chunks
                          ? -1
                          : lack_in(chooser, bit, group) + chooser->lacks[group] / 8;
        if (lack < least) {
            least = lack;
            best = group;
        }
    }
    chooser->lacks[best] += lack_in(chooser, bit, best);
    chooser->group[bit] = (uint8_t)best;
    chooser->sizes[best]++;
}

static void give_all(struct chooser *chooser)
{
    double troubles[BITS_MAX];
    memset(chooser->group, UINT8_MAX, sizeof chooser->group);
    for (uint32_t bit = 0; bit < chooser->bits; bit++)
        troubles[bit] = trouble(chooser, bit);
    for (uint32_t given = 0; given < chooser->bits; given++) {
        uint32_t worst = 0;
        for (uint32_t bit = 1; bit < chooser->bits; bit++)
            if (troubles[bit] > troubles[worst]) // all are set: NOLINT(clang-analyzer-core.*)
                worst = bit;
        troubles[worst] = -1;
        give(chooser, worst);
    }
}

/* What chunks cost: about as many codes as their buckets hold too many. */
static double price(double lack)
{
    return exp2(lack < 60 ? lack : 60);
}

static bool swap_if_better(struct chooser *chooser, uint32_t a, uint32_t b)
{
    uint32_t x = chooser->group[a], y = chooser->group[b];
    if (x == y)
        return false;
    double between = chooser->lack[a][b];
    double new_x = chooser->lacks[x], new_y = chooser->lacks[y];
    if (x < chooser->chunks)
        new_x += lack_in(chooser, b, x) - between - lack_in(chooser, a, x);
    if (y < chooser->chunks)
        new_y += lack_in(chooser, a, y) - between - lack_in(chooser, b, y);
    double before = price(chooser->lacks[x]) + price(chooser->lacks[y]);
    if (price(new_x) + price(new_y) >= before * .999)
        return false;
    chooser->lacks[x] = new_x;
    chooser->lacks[y] = new_y;
    chooser->group[a] = (uint8_t)y;
    chooser->group[b] = (uint8_t)x;
    return true;
}

static void swap_all(struct chooser *chooser)
{
    bool better = true;
    for (unsigned sweep = 0; sweep < SWEEPS && better; sweep++) {
        better = false;
        for (uint32_t a = 0; a < chooser->bits; a++)
            for (uint32_t b = 0; b < a; b++)
                better |= swap_if_better(chooser, a, b);
    }
}

static void write_places_chooser(const struct chooser *chooser, uint8_t *out)
{
    uint32_t next[GROUPS];
    for (uint32_t group = 0; group <= chooser->chunks; group++)
        next[group] = group * chooser->prefix;
    for (uint32_t bit = 0; bit < chooser->bits; bit++)
        out[bit] = (uint8_t)next[chooser->group[bit]]++;
}

bool permutation_choose(const uint64_t *sample, size_t count, uint32_t bits, uint32_t chunks,
                        uint32_t prefix, uint8_t *out_places)
{
    for (uint32_t bit = 0; bit < bits; bit++)
        out_places[bit] = (uint8_t)bit;
    if (count < SAMPLE_MIN)
        return true;
    struct chooser *chooser = calloc(1, sizeof *chooser);
    size_t column_words = (count + 63) / 64;
    /* bits > 0. NOLINTNEXTLINE(clang-analyzer-optin.portability.UnixAPI) */
    uint64_t *columns = calloc(column_words * bits, sizeof *columns);
    if (chooser && columns) {
        chooser->bits = bits;
        chooser->chunks = chunks;
        chooser->prefix = prefix;
        chooser->count = count;
        chooser->column_words = column_words;
        chooser->columns = columns;
        fill_columns(chooser, sample, (bits + 63) / 64);
        if (fill_lacks(chooser)) {
            give_all(chooser);
            swap_all(chooser);
            write_places_chooser(chooser, out_places);
        }
    }
    bool done = chooser && columns;
    free(columns);
    free(chooser);
    return done;
}
