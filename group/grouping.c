/* Items to groups: the items, which of them are the same, and who leads whom. */
#include "group/grouping_internal.h"

#include <stdlib.h>

#include "core/digest.h"

static const struct grouping_kind kinds[] = {
    [DOPPEL_KIND_UNKNOWN] = {0}, /* only the same bytes */
    [DOPPEL_KIND_TEXT] = {.begin = texts_begin,
                          .find_leaders = texts_order_pairs,
                          .change_leaders = texts_join_parts,
                          .compare = texts_compare},
    [DOPPEL_KIND_IMAGE] = {.begin = images_begin,
                           .find_leaders = images_find_leaders,
                           .change_leaders = images_join_parts,
                           .compare = images_compare,
                           .prefer = images_prefer},
    [DOPPEL_KIND_AUDIO] = {.find_leaders = audio_find_leaders,
                           .compare = audio_compare,
                           .prefer = audio_prefer,
                           .is_timed = true},
    [DOPPEL_KIND_VIDEO] = {.find_leaders = videos_find_leaders,
                           .compare = videos_compare,
                           .prefer = videos_prefer,
                           .is_timed = true},
};

struct doppel_group_options doppel_group_options_default(void)
{
    return (struct doppel_group_options){.compare = doppel_compare_options_default(),
                                         .keep = doppel_keep_policy_default(),
                                         .records = DOPPEL_GROUP_ALL_RECORDS,
                                         .bytes_alone = true};
}

enum doppel_status grouping_new(const struct grouping_options *options, struct grouping **out,
                                struct doppel_error *error)
{
    struct grouping *grouping = calloc(1, sizeof *grouping);
    if (!grouping)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the groups");
    grouping->options = options;
    grouping->kind = &kinds[options->kind];
    enum doppel_status status =
        grouping->kind->begin ? grouping->kind->begin(grouping, error) : DOPPEL_OK;
    if (status) {
        grouping_free(grouping);
        return status;
    }
    *out = grouping;
    return DOPPEL_OK;
}

void grouping_free(struct grouping *grouping)
{
    if (!grouping)
        return;
    item_store_free(&grouping->items);
    array_free(&grouping->exact_duplicates);
    array_free(&grouping->lossless);
    digest_map_free(&grouping->by_pixels);
    array_free(&grouping->edges);
    parts_free_matches(grouping);
    near_pairs_free(grouping);
    array_free(&grouping->checked);
    array_free(&grouping->parts_items);
    array_free(&grouping->part_edges);
    doppel_local_set_free(grouping->parts);
    array_free(&grouping->compared);
    array_free(&grouping->sourced);
    digest_stream_free(grouping->stream);
    free(grouping->joined_by);
    free(grouping->by_label);
    free(grouping->shots);
    digest_map_free(&grouping->first);
    doppel_matcher_free(grouping->matcher);
    text_set_free(grouping->texts);
    text_set_free(grouping->weakly_led);
    timed_free(grouping);
    array_free(&grouping->contents);
    array_free(&grouping->held_texts);
    free(grouping);
}

const struct doppel_digest *content_at(const void *context, uint32_t number)
{
    const struct grouping *grouping = context;
    return &grouping->contents.items[number];
}

const struct doppel_digest *digest_at(const void *context, uint32_t number)
{
    const struct grouping *grouping = context;
    return item_store_digest(&grouping->items, number);
}

static const struct doppel_digest *pixels_at(const void *context, uint32_t place)
{
    const struct grouping *grouping = context;
    return &grouping->lossless.items[place].pixels;
}

/* The first image with the same pixels; itself when they cannot be had. */
static uint32_t first_with_pixels(struct grouping *grouping, uint32_t number,
                                  const struct doppel_digest *pixels)
{
    if (digest_is_none(pixels) || !digest_map_reserve(&grouping->by_pixels, pixels_at, grouping) ||
        !array_push(&grouping->lossless, ((struct lossless){*pixels, number})))
        return number;
    uint32_t place = digest_map_put(&grouping->by_pixels, (uint32_t)grouping->lossless.count - 1,
                                    pixels_at, grouping);
    return grouping->lossless.items[place].item;
}

enum doppel_status grouping_add(struct grouping *grouping, const struct grouping_item *item,
                                const struct doppel_fingerprint *fingerprint,
                                struct doppel_error *error)
{
    uint32_t number = item_store_count(&grouping->items);
    if (!array_reserve(&grouping->exact_duplicates) ||
        !digest_map_reserve(&grouping->first, digest_at, grouping))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for more than %u files", number);
    enum doppel_status status = item_store_add(&grouping->items, item, error);
    if (status)
        return status;
    uint32_t same = digest_map_put(&grouping->first, number, digest_at, grouping);
    uint32_t first = same != number ? grouping_first_of(grouping, same)
                                    : first_with_pixels(grouping, number, &item->pixels);
    if (same == number && grouping_are_distinct(grouping, first, number))
        first = number;
    if (first != number) {
        (void)array_push(&grouping->exact_duplicates,
                         ((struct exact_duplicate){number, first, same}));
        return DOPPEL_OK;
    }
    if (!grouping->matcher || !fingerprint || fingerprint->scheme == DOPPEL_SCHEME_FRAMES128)
        return DOPPEL_OK;
    if ((item->source_id &&
         !array_push(&grouping->sourced, ((struct sourced_image){item->source_id, number}))) ||
        (grouping->stream && !cached_pairs_add(grouping, item, fingerprint)))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for more than %u files", number);
    struct doppel_match_item match_item = {fingerprint, item->quality};
    return doppel_matcher_add(grouping->matcher, number, &match_item, error);
}

void grouping_set_pairs(struct grouping *grouping, const struct doppel_library_pairs *pairs)
{
    grouping->pairs = pairs;
}

bool grouping_is_reference(const struct grouping *grouping, uint32_t number)
{
    return item_store_get(&grouping->items, number).reference;
}
