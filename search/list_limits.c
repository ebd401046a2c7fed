/* How near what matches items of lists must be. */
#include "search/list_limits.h"

enum doppel_status list_limits_load(struct list_limits *limits, struct doppel_library *library,
                                    const struct doppel_compare_options *compare,
                                    struct doppel_error *error)
{
    *limits = (struct list_limits){.library = library};
    if (compare->max_distance >= 0 || compare->min_similarity >= 0)
        return DOPPEL_OK;
    return doppel_library_list_limits(library, &limits->distance, &limits->similarity, &limits->any,
                                      error);
}

int32_t list_limits_radius(const struct list_limits *limits, const struct doppel_scheme *scheme)
{
    if (!limits->any || scheme->id == DOPPEL_SCHEME_PHASH64)
        return -1;
    int64_t radius = scheme->max_distance;
    if (limits->distance > radius)
        radius = limits->distance;
    if (limits->similarity >= 0) {
        const int64_t bits = (int64_t)((1 - limits->similarity) * scheme->code_bits / 2 + 1e-6);
        radius = bits > radius ? bits : radius;
    }
    return (int32_t)(radius < scheme->code_bits ? radius : scheme->code_bits);
}

/* What was looked for farther than by default. */
static bool is_within_default(const struct doppel_match *match)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(match->scheme);
    return !scheme || scheme->kind != DOPPEL_KIND_IMAGE || scheme->id == DOPPEL_SCHEME_PHASH64 ||
           match->distance <= scheme->max_distance;
}

bool list_limits_allow(const struct list_limits *limits, const struct doppel_found *found)
{
    struct doppel_item_limit limit = {.by_default = true};
    if (!limits->any)
        return true;
    (void)doppel_library_item_limits(limits->library, found->id, &found->match, &limit, NULL);
    return limit.rule.limit_kind || (limit.by_default && is_within_default(&found->match));
}
