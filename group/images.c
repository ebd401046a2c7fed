/* Pairs of pictures: by their codes, and where these leave a doubt by their pixels. */
#include "group/grouping_internal.h"

#include <stdlib.h>

#include "compare/video.h"
#include "core/digest.h"

static bool is_run_cancelled(void *run)
{
    return doppel_run_cancelled(run);
}

enum doppel_status images_begin(struct grouping *grouping, struct doppel_error *error)
{
    const struct grouping_options *options = grouping->options;
    const struct doppel_compare_options *compare = &options->group->compare;
    const struct doppel_scheme *images = doppel_compare_scheme(compare, DOPPEL_KIND_IMAGE);
    const enum doppel_scheme_id scheme = images ? images->id : DOPPEL_SCHEME_LOCAL;
    grouping->match = match_options_from(compare);
    if (options->compared)
        grouping->match.compared = options->compared;
    const bool by_parts = options->group->parts || scheme == DOPPEL_SCHEME_LOCAL ||
                          groups_videos_by_parts(options->group);
    enum doppel_status status =
        by_parts ? doppel_local_set_new(&grouping->parts, error) : DOPPEL_OK;
    if (status || scheme == DOPPEL_SCHEME_LOCAL)
        return status;
    /* A cache of this run alone serves no other one; and what is kept are matches alone. */
    if (options->cache && doppel_run_get_options(options->run)->cache &&
        !near_pairs_wanted(grouping))
        grouping->stream = digest_stream_new();
    status = doppel_matcher_new(scheme, &grouping->match, doppel_run_jobs(options->run),
                                &grouping->matcher, error);
    if (!status)
        doppel_matcher_set_cancel(grouping->matcher, is_run_cancelled, options->run);
    return status;
}

/* ---- pixels ---- */

/* The features of a picture whose pixels were looked at: others may ask for them soon. */
struct looked_at {
    uint32_t item;
    bool known;
    struct doppel_image_features features;
};

/* Of 4.7 kB each; one more is for a picture whose place the other of its pair has. */
enum { MOST_LOOKED_AT = 1 << 14 };

static void forget_looked_at(struct grouping *grouping)
{
    for (uint32_t i = 0; grouping->looked_at && i <= grouping->looked_at_places; i++)
        doppel_fingerprint_free(&grouping->looked_at[i].features.fingerprint);
    free(grouping->looked_at);
    grouping->looked_at = NULL;
}

static bool make_looked_at(struct grouping *grouping)
{
    const uint32_t items = item_store_count(&grouping->items);
    if (grouping->looked_at)
        return true;
    grouping->looked_at_places = items < MOST_LOOKED_AT ? items : MOST_LOOKED_AT;
    grouping->looked_at =
        calloc((size_t)grouping->looked_at_places + 1, sizeof *grouping->looked_at);
    return grouping->looked_at != NULL;
}

/* @return NULL: they cannot be had */
static const struct doppel_image_features *features_looked_at(struct grouping *grouping,
                                                              uint32_t item, uint32_t place)
{
    const struct grouping_options *options = grouping->options;
    struct looked_at *looked_at = &grouping->looked_at[place];
    if (looked_at->known && looked_at->item == item)
        return &looked_at->features;
    const struct grouping_item wanted = item_store_get(&grouping->items, item);
    doppel_fingerprint_free(&looked_at->features.fingerprint);
    *looked_at = (struct looked_at){.item = item};
    looked_at->known = !options->features(options->context, &wanted, &looked_at->features);
    return looked_at->known ? &looked_at->features : NULL;
}

/* Look at the pixels of a borderline pair. */
static bool pixels_agree(struct grouping *grouping, const struct doppel_found *found,
                         struct doppel_match *match)
{
    const struct doppel_image_features *a = NULL, *b = NULL;
    struct doppel_image_verdict verdict = doppel_match_verdict(match);
    if (make_looked_at(grouping)) {
        const uint32_t places = grouping->looked_at_places;
        const uint32_t place = (uint32_t)found->query % places,
                       other = (uint32_t)found->id % places;
        a = features_looked_at(grouping, (uint32_t)found->query, place);
        b = features_looked_at(grouping, (uint32_t)found->id, other == place ? places : other);
    }
    grouping->uncertain |= !a || !b;
    if (!a || !b)
        return doppel_match_by_codes(match, &grouping->match);
    (void)doppel_image_check_pixels(a, b, &grouping->match.image, &verdict);
    return doppel_match_from_pixels(&verdict, &grouping->match, match);
}

/* ---- pairs ---- */

static bool take_pair(void *context, const struct doppel_found *found, bool *out_follows)
{
    struct grouping *grouping = context;
    uint32_t a = (uint32_t)found->query, b = (uint32_t)found->id;
    struct doppel_match match = found->match;
    doppel_run_advance(grouping->options->run, b);
    if (grouping_is_reference(grouping, a) && grouping_is_reference(grouping, b))
        return !doppel_run_cancelled(grouping->options->run);
    if (grouping_are_distinct(grouping, a, b))
        return !doppel_run_cancelled(grouping->options->run);
    if (bursts_separate(grouping, a, b))
        return !doppel_run_cancelled(grouping->options->run);
    if (found->borderline && !pixels_agree(grouping, found, &match))
        return near_pairs_add(grouping, a, b, &match) &&
               !doppel_run_cancelled(grouping->options->run);
    if (found->borderline && !array_push(&grouping->checked, match))
        return false;
    uint32_t by_pixels = found->borderline ? (uint32_t)grouping->checked.count : 0;
    const bool weak = found->borderline && !doppel_match_by_codes(&found->match, &grouping->match);
    struct doppel_edge edge = {a, b, match.similarity, by_pixels, weak};
    *out_follows = !edge.weak;
    return array_push(&grouping->edges, edge) && !doppel_run_cancelled(grouping->options->run);
}

enum doppel_status images_find_leaders(struct grouping *grouping, struct doppel_error *error)
{
    struct doppel_run *run = grouping->options->run;
    const struct doppel_group_options *options = grouping->options->group;
    if (!grouping->match.compared)
        grouping->match.compared =
            item_store_count(&grouping->items) - parts_count_videos(grouping);
    if (grouping->waiting.count) {
        enum doppel_status placed = videos_find_leaders(grouping, error);
        if (placed)
            return placed;
    }
    /* Comparing takes the most memory: what it does not need goes first. */
    digest_map_free(&grouping->first);
    digest_map_free(&grouping->by_pixels);
    array_free(&grouping->lossless);
    if (!grouping->match.check_pixels && !grouping->waiting.count && !options->digests &&
        !options->marks && !options->on_disk &&
        !(grouping->options->labels && grouping->options->labels->items.count))
        item_store_forget_digests(&grouping->items);
    if (!grouping->matcher)
        return DOPPEL_OK;
    doppel_matcher_set_compared(grouping->matcher, grouping->match.compared);
    doppel_run_begin(run, "pictures compared", item_store_count(&grouping->items));
    enum doppel_status status =
        grouping->pairs    ? paired_images_find(grouping, take_pair, error)
        : grouping->stream ? cached_pairs_find(grouping, take_pair, error)
                           : doppel_matcher_lead(grouping->matcher, take_pair, grouping, error);
    doppel_run_end(run);
    forget_looked_at(grouping);
    if (status == DOPPEL_E_CANCELLED && !doppel_run_cancelled(run))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the pairs");
    return status;
}

/* ---- pairs of a library ---- */

static int compare_sourced(const void *left, const void *right)
{
    const struct sourced_image *a = left, *b = right;
    return (a->source_id > b->source_id) - (a->source_id < b->source_id);
}

/* The image that has the fingerprint of an item: of those with its bytes one is compared.
 * @return UINT32_MAX: it is not there */
static uint32_t image_of_source(const struct grouping *grouping, uint64_t id)
{
    const struct sourced_image wanted = {.source_id = id}, *found = NULL;
    if (grouping->sourced.count)
        found = bsearch(&wanted, grouping->sourced.items, grouping->sourced.count, sizeof wanted,
                        compare_sourced);
    return found ? found->item : UINT32_MAX;
}

enum doppel_status paired_images_find(struct grouping *grouping, doppel_leader_visitor *visitor,
                                      struct doppel_error *error)
{
    const struct doppel_library_pairs *known = grouping->pairs;
    struct doppel_image_pair *pairs = calloc(known->count + 1, sizeof *pairs);
    size_t count = 0;
    if (!pairs)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu pairs", known->count);
    if (grouping->sourced.count)
        qsort(grouping->sourced.items, grouping->sourced.count, sizeof *grouping->sourced.items,
              compare_sourced);
    for (size_t i = 0; i < known->count; i++) {
        const uint32_t a = image_of_source(grouping, known->items[i].a);
        const uint32_t b = image_of_source(grouping, known->items[i].b);
        if (a != UINT32_MAX && b != UINT32_MAX)
            pairs[count++] = (struct doppel_image_pair){a < b ? a : b, a < b ? b : a};
    }
    enum doppel_status status =
        doppel_matcher_lead_pairs(grouping->matcher, pairs, count, visitor, grouping, error);
    free(pairs);
    return status;
}

/* ---- matches ---- */

/* The match of two by pixels or by a part, when it was by it that `member` joined the other. */
static bool find_checked_match(const struct grouping *grouping, uint32_t member, uint32_t query,
                               uint32_t item, struct doppel_match *out)
{
    const uint32_t number = grouping->joined_by[member];
    const struct doppel_edge *edge = number == UINT32_MAX ? NULL : &grouping->edges.items[number];
    const bool same = edge && edge->a == query && edge->b == item;
    const bool turned = edge && edge->a == item && edge->b == query;
    if (!(same || turned) || !edge->match)
        return false;
    *out = grouping->checked.items[edge->match - 1];
    (void)copy_segments(out); /* without memory it has none */
    if (turned)
        turn_match(out);
    return true;
}

bool images_compare(const struct grouping *grouping, uint32_t query, uint32_t item,
                    struct doppel_match *out)
{
    if (find_checked_match(grouping, item, query, item, out) ||
        find_checked_match(grouping, query, query, item, out))
        return true;
    /* Two parts of a third need have nothing in common. */
    out->relation = DOPPEL_RELATION_OVERLAPS;
    if (parts_duration(grouping, query) && parts_duration(grouping, item) &&
        !parts_lead(grouping, query) && !parts_lead(grouping, item))
        return grouping->waiting.count && videos_compare(grouping, query, item, out);
    if (parts_lead(grouping, query) || parts_lead(grouping, item) || !grouping->matcher)
        return false;
    return doppel_matcher_compare(grouping->matcher, query, item, out);
}
