/* Two lists of vPDQ: which share of each one's frames the other has, too. */
#include "match/segments.h"

#include <stdlib.h>
#include <string.h>

struct doppel_vpdq_limits doppel_vpdq_limits_default(void)
{
    return (struct doppel_vpdq_limits){.max_distance = 31, .min_quality = 50, .min_share = .8};
}

/* The different codes of frames that are good enough. */
struct vpdq_codes {
    struct doppel_code *items; /* given */
    size_t count;
};

static int by_bits(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct doppel_code));
}

static bool collect_good_codes(const struct doppel_vpdq *list, uint8_t min_quality,
                               struct vpdq_codes *out)
{
    struct doppel_code *codes = malloc((list->count + 1) * sizeof *codes);
    size_t good = 0, count = 0;
    if (!codes)
        return false;
    for (size_t i = 0; i < list->count; i++)
        if (list->frames[i].quality >= min_quality)
            codes[good++] = list->frames[i].code;
    qsort(codes, good, sizeof *codes, by_bits);
    for (size_t i = 0; i < good; i++)
        if (!count || by_bits(&codes[count - 1], &codes[i]))
            codes[count++] = codes[i];
    *out = (struct vpdq_codes){codes, count};
    return true;
}

/* The distance of a code to the nearest of others; what is nearer than `enough` need not be
 * reported.
 */
static uint32_t nearest_code(const struct doppel_code *code, const struct vpdq_codes *others,
                             uint32_t enough)
{
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < others->count && least > enough; i++) {
        uint32_t distance = doppel_code_distance(code, &others->items[i], 256);
        least = distance < least ? distance : least;
    }
    return least;
}

static double share_codes(const struct vpdq_codes *codes, const struct vpdq_codes *others,
                          uint32_t max_distance)
{
    size_t met = 0;
    for (size_t i = 0; i < codes->count; i++)
        met += nearest_code(&codes->items[i], others, max_distance) <= max_distance;
    return codes->count ? (double)met / (double)codes->count : 0;
}

enum doppel_status doppel_match_vpdqs(const struct doppel_vpdq *query,
                                      const struct doppel_vpdq *item,
                                      const struct doppel_vpdq_limits *limits, bool *out_matches,
                                      struct doppel_match *out_match, struct doppel_error *error)
{
    struct vpdq_codes a = {0}, b = {0};
    if (!collect_good_codes(query, limits->min_quality, &a) ||
        !collect_good_codes(item, limits->min_quality, &b)) {
        free(a.items);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to compare %zu frames with %zu",
                           query->count, item->count);
    }
    double of_query = share_codes(&a, &b, limits->max_distance);
    double of_item = share_codes(&b, &a, limits->max_distance);
    double most = of_query > of_item ? of_query : of_item;
    *out_matches = most > 0 && most >= limits->min_share;
    *out_match = (struct doppel_match){
        .kind = DOPPEL_KIND_VIDEO,
        .scheme = DOPPEL_SCHEME_VPDQ,
        .relation = relation_by_coverage(of_query, of_item, limits->min_share),
        .verified = DOPPEL_VERIFIED_CODES,
        .similarity = most,
        .false_positive_rate = -1,
        .has_coverage = true,
        .query_coverage = of_query,
        .item_coverage = of_item};
    free(a.items);
    free(b.items);
    return DOPPEL_OK;
}
