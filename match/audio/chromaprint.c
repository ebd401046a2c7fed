/* Two sequences of AcoustID's codes: the stretch along which they differ least. */
#include <doppel/match.h>

#include <math.h>
#include <stdlib.h>

#include "match/segments.h"

/* A code in which more bits differ than this speaks against an alignment; unrelated ones differ in
 * 16. A stretch counts from MIN_GAIN bits below it on, and from MIN_CODES: 2 s. Where neither audio
 * moves (all silence has one code) nothing is gained. */
enum { NEUTRAL_BITS = 10, MIN_GAIN = 130, MIN_CODES = 16 };

struct chromaprint_stretch {
    uint32_t query, item, codes;
    int64_t gain; /* bits by which it is better than NEUTRAL_BITS a code */
    uint64_t distance;
};

static uint32_t *codes_of_fingerprint(const struct doppel_fingerprint *fingerprint)
{
    uint32_t *codes = malloc((fingerprint->count + 1u) * sizeof *codes);
    for (uint32_t i = 0; codes && i < fingerprint->count; i++)
        codes[i] = (uint32_t)fingerprint->codes[i].word[0];
    return codes;
}

/* The stretch that gains most of those that begin at one pair of codes. */
static struct chromaprint_stretch best_on_diagonal(const uint32_t *query, const uint32_t *item,
                                                   uint32_t count)
{
    struct chromaprint_stretch best = {0};
    uint32_t start = 0;
    int64_t gain = 0;
    for (uint32_t i = 0; i < count; i++) {
        int better = NEUTRAL_BITS - __builtin_popcount(query[i] ^ item[i]);
        bool still = i && query[i] == query[i - 1] && item[i] == item[i - 1];
        gain += still && better > 0 ? 0 : better;
        if (gain > best.gain)
            best = (struct chromaprint_stretch){start, start, i + 1 - start, gain, 0};
        if (gain <= 0) {
            gain = 0;
            start = i + 1;
        }
    }
    return best;
}

/* Over all diagonals; of equals the one where the query begins latest in the item. */
static struct chromaprint_stretch best_stretch(const uint32_t *query, uint32_t query_count,
                                               const uint32_t *item, uint32_t item_count)
{
    struct chromaprint_stretch best = {0};
    for (int64_t shift = 1 - (int64_t)query_count; shift < item_count; shift++) {
        uint32_t skip = shift < 0 ? (uint32_t)-shift : 0, at = shift > 0 ? (uint32_t)shift : 0;
        uint32_t query_left = query_count - skip, item_left = item_count - at;
        uint32_t count = query_left < item_left ? query_left : item_left;
        if ((int64_t)count * NEUTRAL_BITS < best.gain)
            continue;
        struct chromaprint_stretch here = best_on_diagonal(query + skip, item + at, count);
        if (here.gain < best.gain)
            continue;
        here.query += skip;
        here.item += at;
        best = here;
    }
    for (uint32_t i = 0; i < best.codes; i++)
        best.distance += (uint64_t)__builtin_popcount(query[best.query + i] ^ item[best.item + i]);
    return best;
}

static bool equal(const struct chromaprint_stretch *stretch, uint32_t query_count,
                  uint32_t item_count)
{
    return stretch->distance == 0 && stretch->codes == query_count && query_count == item_count;
}

static void describe_stretch(const struct chromaprint_stretch *stretch,
                             const struct doppel_fingerprint *query,
                             const struct doppel_fingerprint *item, struct doppel_match *out)
{
    double mean = stretch->codes ? (double)stretch->distance / stretch->codes : 16;
    *out = (struct doppel_match){
        .kind = DOPPEL_KIND_AUDIO,
        .scheme = DOPPEL_SCHEME_CHROMAPRINT,
        .verified = DOPPEL_VERIFIED_CODES,
        .distance = (uint32_t)lround(mean),
        .bits = 32,
        .similarity = fmax(0, 1 - mean / 16),
        .false_positive_rate = -1,
        .has_coverage = true,
        .query_coverage = query->count ? (double)stretch->codes / query->count : 0,
        .item_coverage = item->count ? (double)stretch->codes / item->count : 0,
    };
    out->relation = relation_by_coverage(out->query_coverage, out->item_coverage, .9);
}

static enum doppel_status add_segment(const struct chromaprint_stretch *stretch,
                                      struct doppel_match *match, struct doppel_error *error)
{
    const double step = DOPPEL_CHROMAPRINT_STEP_MS / 1000;
    struct doppel_segment *segment = malloc(sizeof *segment);
    if (!segment)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a segment");
    *segment = (struct doppel_segment){.a_start = stretch->query * step,
                                       .a_end = (stretch->query + stretch->codes) * step,
                                       .b_start = stretch->item * step,
                                       .b_end = (stretch->item + stretch->codes) * step,
                                       .speed = 1};
    match->segments = segment;
    match->segment_count = 1;
    return DOPPEL_OK;
}

enum doppel_status doppel_match_chromaprints(const struct doppel_fingerprint *query,
                                             const struct doppel_fingerprint *item,
                                             uint32_t max_distance, struct doppel_match *out_match,
                                             struct doppel_error *error)
{
    uint32_t *a = codes_of_fingerprint(query), *b = codes_of_fingerprint(item);
    struct doppel_match match;
    enum doppel_status status = DOPPEL_OK;
    if (a && b) {
        struct chromaprint_stretch stretch = best_stretch(a, query->count, b, item->count);
        describe_stretch(&stretch, query, item, &match);
        if (equal(&stretch, query->count, item->count) ||
            (stretch.gain >= MIN_GAIN && stretch.codes >= MIN_CODES &&
             stretch.distance <= (uint64_t)max_distance * stretch.codes))
            status = add_segment(&stretch, &match, error);
    } else
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for two Chromaprints");
    if (!status)
        *out_match = match;
    free(a);
    free(b);
    return status;
}
