/*
 * The choice of chunks and shares: for each number of chunks and width of prefix that may do, what
 * the blocks would cost. How many pairs of codes meet in a block is told by pairs of a sample:
 * codes of pictures are skewed, and do not meet as uniform ones would.
 */
#include "index/join/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mix64.h"
#include "index/join/kernel.h"

enum {
    SAMPLE_CODES = 4096, /* of each side */
    SAMPLE_PAIRS = 16384,
    FEW_PAIRS = 24,         /* too few to tell a rate by */
    SKETCH_RADIUS_MAX = 11, /* 32 bits of unrelated codes are so near in one of 20 */
    SMALL = 1 << 20,        /* pairs that are compared at once */
    BATCH = 512
};

/* About, on one core of 2024, in nanoseconds. */
static const double VISIT_NS = 2.2;     /* two buckets are brought together */
static const double SORT_NS = 9;        /* a code is put into its bucket, and its word copied */
static const double WORD_SORT_NS = 1.5; /* another word */

struct sample {
    uint64_t differ[SAMPLE_PAIRS * JOIN_WORDS_MAX]; /* XOR of the pairs */
    uint64_t codes[2][SAMPLE_CODES * JOIN_WORDS_MAX];
    size_t count[2];
};

struct costing {
    const struct sample *sample;
    struct join_plan plan;
    double left, right, pairs; /* codes, and pairs of them to be compared */
    double cell_ns, sort_ns;
    bool same;
};

/* ---- the sample ---- */

/* Every so-manieth code, spread over all of them. */
static size_t take_codes_index_codes(const struct doppel_index_codes *codes, uint32_t words,
                                     uint64_t *out)
{
    uint64_t batch[BATCH * JOIN_WORDS_MAX];
    uint32_t numbers[BATCH];
    size_t step = codes->count / SAMPLE_CODES + 1, taken = 0, at = 0, got;
    codes->rewind(codes->context);
    while ((got = codes->read(codes->context, batch, numbers, BATCH)) > 0) {
        for (size_t i = (step - at % step) % step; i < got && taken < SAMPLE_CODES; i += step)
            memcpy(out + taken++ * words, batch + i * words, words * sizeof *out);
        at += got;
    }
    return taken;
}

static void take_pairs(struct sample *sample, uint32_t words, bool same)
{
    const uint64_t *right = sample->codes[same ? 0 : 1];
    uint64_t state = 1;
    for (size_t pair = 0; pair < SAMPLE_PAIRS; pair++) {
        size_t a = next_mix64(&state) % sample->count[0];
        size_t b = next_mix64(&state) % sample->count[same ? 0 : 1];
        if (same && a == b)
            b = (a + 1) % sample->count[0];
        for (uint32_t word = 0; word < words; word++)
            sample->differ[pair * words + word] =
                sample->codes[0][a * words + word] ^ right[b * words + word];
    }
}

/* ---- costs ---- */

/* The share of pairs that meet in a chunk at each share of the radius. */
struct rates {
    double met[JOIN_PREFIX_MAX + 1];     /* as the sample says */
    double uniform[JOIN_PREFIX_MAX + 1]; /* as of uniform codes: the share of masks */
};

static void uniform_rates(uint32_t prefix, double out[JOIN_PREFIX_MAX + 1])
{
    double choose = 1, sum = 0;
    for (uint32_t weight = 0; weight <= prefix; weight++) {
        sum += choose;
        out[weight] = sum / (double)(UINT64_C(1) << prefix);
        choose = choose * (prefix - weight) / (weight + 1);
    }
}

static void rates_of(const struct costing *costing, const struct join_chunk *chunk,
                     struct rates *out)
{
    uint32_t counts[JOIN_PREFIX_MAX + 1] = {0}, words = costing->plan.words;
    const uint64_t *differ = costing->sample->differ;
    for (size_t pair = 0; pair < SAMPLE_PAIRS; pair++)
        counts[__builtin_popcountll(join_prefix(differ + pair * words, words, chunk))]++;
    uniform_rates(chunk->prefix, out->uniform);
    for (uint32_t weight = 1; weight <= chunk->prefix; weight++)
        counts[weight] += counts[weight - 1];
    for (uint32_t weight = chunk->prefix + 1; weight-- > 0;) {
        bool few = counts[weight] < FEW_PAIRS && weight < chunk->prefix;
        out->met[weight] =
            few ? out->met[weight + 1] * out->uniform[weight] / out->uniform[weight + 1]
                : (double)counts[weight] / SAMPLE_PAIRS;
    }
}

static double join_plan_lanes(const struct join_plan *plan)
{
    return plan->sketches || plan->bits == 32 ? 16 : 8;
}

static double cell_cost(const struct costing *costing)
{
    return costing->cell_ns * (costing->plan.sketches ? 1 : costing->plan.words);
}

/* Cells that a bucket of a mean size takes up, part of the last being empty. */
static double cells_of(double mean, double cell)
{
    double filled = mean / -expm1(-mean);
    return filled <= 1.001 ? 1 : (filled + (cell - 1) / 2) / cell;
}

/* Of comparing what meets in a chunk. */
static double cost_of(const struct costing *costing, const struct join_chunk *chunk,
                      const struct rates *rates, int32_t share)
{
    double buckets = (double)(UINT64_C(1) << chunk->prefix);
    double lanes = join_plan_lanes(&costing->plan), cell_ns = cell_cost(costing);
    double left = costing->left / buckets, right = costing->right / buckets;
    if (share < 0)
        return 0;
    uint32_t weight = (uint32_t)share < chunk->prefix ? (uint32_t)share : chunk->prefix;
    double visited = buckets * -expm1(-left) * buckets * rates->uniform[weight];
    double cells = visited * -expm1(-right) * cells_of(left, 4) * cells_of(right, lanes);
    double crowded = fmax(0, rates->met[weight] - rates->uniform[weight]);
    double halved = costing->same ? 0.5 : 1;
    return halved * (visited * VISIT_NS + cells * cell_ns) +
           costing->pairs * crowded / (4 * lanes) * cell_ns +
           (costing->left + (costing->same ? 0 : costing->right)) * costing->sort_ns + buckets;
}

/* Give the radius away bit by bit, each to the chunk that it costs least. */
static double share_out_costing(struct costing *costing)
{
    struct rates rates[JOIN_CHUNKS_MAX];
    double cost[JOIN_CHUNKS_MAX] = {0}, next[JOIN_CHUNKS_MAX], sum = 0;
    struct join_plan *plan = &costing->plan;
    for (uint32_t i = 0; i < plan->chunks; i++) {
        rates_of(costing, &plan->chunk[i], &rates[i]);
        plan->chunk[i].share = -1;
        next[i] = cost_of(costing, &plan->chunk[i], &rates[i], 0);
    }
    for (uint32_t given = 0; given <= plan->radius; given++) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < plan->chunks; i++)
            if (next[i] - cost[i] < next[best] - cost[best])
                best = i;
        cost[best] = next[best];
        next[best] =
            cost_of(costing, &plan->chunk[best], &rates[best], ++plan->chunk[best].share + 1);
    }
    for (uint32_t i = 0; i < plan->chunks; i++)
        sum += cost[i];
    return sum;
}

/* ---- what there is to choose from ---- */

static void cut_into_chunks(struct join_plan *plan, uint32_t chunks, uint32_t prefix)
{
    plan->chunks = chunks;
    for (uint32_t i = 0; i < chunks; i++) {
        uint32_t offset = plan->bits * i / chunks, end = plan->bits * (i + 1) / chunks;
        uint32_t width = end - offset;
        plan->chunk[i] = (struct join_chunk){offset, width < prefix ? width : prefix, -1};
    }
}

static void all_with_all(struct join_plan *plan)
{
    plan->chunks = 1;
    plan->chunk[0] = (struct join_chunk){0};
    plan->sketches = false;
}

static double cost_of_all(const struct costing *costing)
{
    return costing->pairs / (4 * join_plan_lanes(&costing->plan)) * cell_cost(costing);
}

/* Prefixes about as wide as gives a bucket a cell's worth of codes, on the larger side. */
static void choose_costing(struct costing *costing, struct join_plan *out)
{
    static const uint32_t chunk_counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32};
    struct costing all = *costing;
    all_with_all(&all.plan);
    double least = cost_of_all(&all);
    *out = all.plan;
    int32_t middle = (int32_t)log2(fmax(costing->left, costing->right)) - 3;
    for (size_t i = 0; i < sizeof chunk_counts / sizeof *chunk_counts; i++)
        for (int32_t prefix = middle - 4; prefix <= middle + 2; prefix++) {
            uint32_t chunks = chunk_counts[i], width = costing->plan.bits / chunks;
            if (prefix < 4 || prefix > JOIN_PREFIX_MAX || chunks > costing->plan.radius + 1 ||
                width < 4 || (uint32_t)prefix > width + (chunks > 1))
                continue;
            cut_into_chunks(&costing->plan, chunks, (uint32_t)prefix);
            double cost = share_out_costing(costing);
            if (cost < least) {
                least = cost;
                *out = costing->plan;
            }
        }
}

enum doppel_status join_plan_make(const struct doppel_index_pairing *pairing, struct join_plan *out)
{
    uint32_t bits = pairing->bits, radius = pairing->radius < bits ? pairing->radius : bits;
    bool same = !pairing->right;
    struct join_plan plan = {.bits = bits, .words = (bits + 63) / 64, .radius = radius};
    double left = (double)pairing->left->count;
    double right = same ? left : (double)pairing->right->count;
    plan.sketches = bits > 32 && radius <= SKETCH_RADIUS_MAX;
    *out = plan;
    all_with_all(out);
    if (left * right < SMALL)
        return DOPPEL_OK;
    struct sample *sample = malloc(sizeof *sample);
    if (!sample)
        return DOPPEL_E_MEMORY;
    sample->count[0] = take_codes_index_codes(pairing->left, plan.words, sample->codes[0]);
    if (!same)
        sample->count[1] = take_codes_index_codes(pairing->right, plan.words, sample->codes[1]);
    if (sample->count[0] == 0 || (!same && sample->count[1] == 0)) {
        free(sample);
        return DOPPEL_OK;
    }
    take_pairs(sample, plan.words, same);
    struct costing costing = {.sample = sample,
                              .plan = plan,
                              .left = left,
                              .right = right,
                              .pairs = same ? left * left / 2 : left * right,
                              .same = same};
    costing.cell_ns = join_kernels_choose()->cell_ns;
    costing.sort_ns = SORT_NS + WORD_SORT_NS * plan.words;
    choose_costing(&costing, out);
    free(sample);
    return DOPPEL_OK;
}
