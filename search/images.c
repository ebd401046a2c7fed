/* The images of a library that are like one: what matches, and what nearly does. */
#include "search/images.h"

#include <stdlib.h>

#include "compare/image.h"
#include "core/array.h"
#include "core/try.h"
#include "search/wanted.h"

struct image_lookup {
    const struct image_search *search;
    ARRAY(struct doppel_found) near; /* below the threshold */
    bool no_memory;
};

static bool image_search_goes_on(const struct image_lookup *lookup)
{
    return !lookup->no_memory && !doppel_run_cancelled(lookup->search->at.run);
}

static bool may_be_found(const struct image_search *search, uint64_t id)
{
    return search_may_find(search->at.options, search->at.library, id);
}

/* ---- matches ---- */

static bool found_pixels_agree(const struct image_search *search, struct doppel_found *found)
{
    struct doppel_item item;
    struct doppel_image_features query, other;
    struct doppel_image_verdict verdict = doppel_match_verdict(&found->match);
    if (doppel_library_get(search->at.library, found->id, true, &item, NULL))
        return false;
    const bool known = search->record && doppel_record_image_features(search->record, &query) &&
                       doppel_record_image_features(&item.record, &other);
    if (known)
        (void)doppel_image_check_pixels(&query, &other, &search->match->image, &verdict);
    doppel_item_free(&item);
    return known ? doppel_match_from_pixels(&verdict, search->match, &found->match)
                 : doppel_match_by_codes(&found->match, search->match);
}

static bool is_identical(const struct doppel_search_results *results, uint64_t id)
{
    const struct doppel_search_result *result = doppel_search_results_find(results, id);
    return result && result->comparison.match.verified == DOPPEL_VERIFIED_EXACT;
}

static bool take_image(void *context, const struct doppel_found *given)
{
    struct image_lookup *lookup = context;
    const struct image_search *search = lookup->search;
    struct doppel_found found = *given;
    if (!is_identical(search->at.results, found.id) && may_be_found(search, found.id) &&
        (!found.borderline || found_pixels_agree(search, &found)) &&
        list_limits_allow(search->limits, &found))
        lookup->no_memory = !results_append_match(search->at.results, &found);
    return image_search_goes_on(lookup);
}

static enum doppel_status find_matching_images(struct image_lookup *lookup,
                                               struct doppel_error *error)
{
    const struct image_search *search = lookup->search;
    struct doppel_match_options match = *search->match;
    const int32_t radius =
        list_limits_radius(search->limits, doppel_scheme_by_id(search->image->fingerprint->scheme));
    if (radius >= 0)
        match.max_distance = radius;
    return doppel_library_find_images(search->at.library, search->image, &match, take_image, lookup,
                                      error);
}

/* ---- what nearly matches ---- */

static bool take_near_image(void *context, const struct doppel_found *given)
{
    struct image_lookup *lookup = context;
    const struct image_search *search = lookup->search;
    struct doppel_found found = *given;
    if (doppel_search_results_find(search->at.results, found.id) || !may_be_found(search, found.id))
        return image_search_goes_on(lookup);
    if (doppel_match_borderline(&found.match, search->match))
        (void)found_pixels_agree(search, &found); /* which says how near */
    lookup->no_memory = !array_push(&lookup->near, found);
    return image_search_goes_on(lookup);
}

static int compare_near_images(const void *left, const void *right)
{
    const struct doppel_found *a = left, *b = right;
    const double x = a->match.false_positive_rate, y = b->match.false_positive_rate;
    return x != y ? (x > y) - (x < y) : (a->id > b->id) - (a->id < b->id);
}

/* Of unrelated images some ten come so near. */
static enum doppel_status find_near_images(struct image_lookup *lookup, struct doppel_error *error)
{
    enum { AS_MANY_MORE = 8 };
    const struct image_search *search = lookup->search;
    const uint32_t wanted = search->at.options->compare.near_misses;
    struct doppel_match_options match = *search->match;
    match.max_rate = (double)wanted + AS_MANY_MORE;
    match.check_pixels = false;
    enum doppel_status status = doppel_library_find_images(search->at.library, search->image,
                                                           &match, take_near_image, lookup, error);
    if (lookup->near.count > 1)
        qsort(lookup->near.items, lookup->near.count, sizeof *lookup->near.items,
              compare_near_images);
    for (size_t i = 0; !status && i < lookup->near.count && i < wanted; i++) {
        struct doppel_search_result result = {
            .id = lookup->near.items[i].id,
            .below_threshold = true,
            .comparison = {.matches = true, .match = lookup->near.items[i].match}};
        lookup->no_memory |= !results_append(search->at.results, &result);
    }
    return status;
}

enum doppel_status search_by_views(const struct image_search *search, struct doppel_error *error)
{
    struct image_lookup lookup = {.search = search};
    const struct doppel_fingerprint *print = search->image->fingerprint;
    const bool rated = print->scheme == DOPPEL_SCHEME_PHASH64 && print->code_bits == 256 &&
                       search->match->min_similarity < 0;
    enum doppel_status status;
    TRY(find_matching_images(&lookup, error));
    if (rated && search->at.options->compare.near_misses && image_search_goes_on(&lookup))
        TRY(find_near_images(&lookup, error));
done:
    array_free(&lookup.near);
    return lookup.no_memory ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the matches")
                            : status;
}
