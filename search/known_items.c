/* What a library has, by number: the bytes and the kind of each item. */
#include "search/known_items.h"

#include <stdlib.h>

/* Ids as they are kept. */
static const uint64_t ID_BITS = (UINT64_C(1) << 60) - 1;

void known_items_free(struct known_items *known)
{
    array_free(&known->items);
    digest_map_free(&known->by_digest);
}

static const struct doppel_digest *known_digest_at(const void *context, uint32_t number)
{
    const struct known_items *known = context;
    return &known->items.items[number].digest;
}

enum doppel_status known_items_add(struct known_items *known, const struct doppel_item *item,
                                   struct doppel_error *error)
{
    struct known_item one = {.digest = item->record.digest,
                             .id = item->id & ID_BITS,
                             .kind = (uint64_t)item->record.kind & 15};
    known->has_video |= item->record.kind == DOPPEL_KIND_VIDEO;
    uint32_t number = (uint32_t)known->items.count;
    if (known->items.count >= UINT32_MAX - 1 || !array_push(&known->items, one))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the library");
    uint32_t first = digest_map_put(&known->by_digest, number, known_digest_at, known);
    if (first == number)
        return DOPPEL_OK;
    known->items.items[number].next = known->items.items[first].next;
    known->items.items[first].next = number + 1;
    return DOPPEL_OK;
}

static int by_item_id(const void *left, const void *right)
{
    const struct known_item *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

enum doppel_kind known_items_kind(const struct known_items *known, uint64_t id)
{
    struct known_item wanted = {.id = id & ID_BITS};
    const struct known_item *found =
        known->items.count
            ? bsearch(&wanted, known->items.items, known->items.count, sizeof wanted, by_item_id)
            : NULL;
    return found ? (enum doppel_kind)found->kind : DOPPEL_KIND_UNKNOWN;
}

uint64_t known_items_next(const struct known_items *known, const struct doppel_digest *digest,
                          size_t *at)
{
    uint32_t number = *at ? known->items.items[*at - 1].next - 1
                          : digest_map_find(&known->by_digest, digest, known_digest_at, known);
    if (number == UINT32_MAX)
        return 0;
    *at = (size_t)number + 1;
    return known->items.items[number].id;
}
