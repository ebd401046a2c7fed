/* A searchable set of fingerprints: kept packed, without an allocation a picture. */
#include "match/images/images_internal.h"

#include <stdlib.h>
#include <string.h>

/* Ids lie under it. */
#define ID_END (UINT64_C(1) << 60)

enum doppel_status doppel_matcher_new(enum doppel_scheme_id scheme,
                                      const struct doppel_match_options *options, uint32_t threads,
                                      struct doppel_matcher **out, struct doppel_error *error)
{
    const struct doppel_scheme *known = doppel_scheme_by_id(scheme);
    if (!known || known->kind != DOPPEL_KIND_IMAGE)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "scheme number %d cannot be matched",
                           (int)scheme);
    struct doppel_matcher *matcher = calloc(1, sizeof *matcher);
    struct search_tables *search = calloc(1, sizeof *search);
    if (!matcher || !search) {
        free(matcher);
        free(search);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a matcher");
    }
    matcher->scheme = known;
    matcher->options = *options;
    matcher->threads = threads;
    matcher->radius = lookup_radius(known, options);
    matcher->full_radius = lookup_full_radius(known, options);
    matcher->search = search;
    pthread_mutex_init(&search->lock, NULL);
    enum doppel_status status = tables_make(matcher, &search->tables, error);
    if (status) {
        doppel_matcher_free(matcher);
        return status;
    }
    *out = matcher;
    return DOPPEL_OK;
}

void doppel_matcher_set_cancel(struct doppel_matcher *matcher, bool (*cancelled)(void *context),
                               void *context)
{
    matcher->cancelled = cancelled;
    matcher->cancel_context = context;
}

void doppel_matcher_set_compared(struct doppel_matcher *matcher, uint64_t pictures)
{
    matcher->options.compared = pictures;
    matcher->radius = lookup_radius(matcher->scheme, &matcher->options);
    matcher->full_radius = lookup_full_radius(matcher->scheme, &matcher->options);
}

void doppel_matcher_free(struct doppel_matcher *matcher)
{
    if (!matcher)
        return;
    tables_free(&matcher->search->tables);
    pthread_mutex_destroy(&matcher->search->lock);
    free(matcher->search);
    array_free(&matcher->packed);
    array_free(&matcher->ids);
    array_free(&matcher->codes);
    array_free(&matcher->free_slots);
    id_map_free(&matcher->map);
    free(matcher);
}

/* ---- packing ---- */

/* Of phash64 all 256 bits are kept, to judge by. */
static uint16_t matcher_code_bits(const struct doppel_matcher *matcher)
{
    return matcher->scheme->id == DOPPEL_SCHEME_IMAGEHASH ? 64 : 256;
}

static enum doppel_status check_fingerprint_fits(const struct doppel_matcher *matcher, uint64_t id,
                                                 const struct doppel_fingerprint *fingerprint,
                                                 struct doppel_error *error)
{
    if (fingerprint->scheme != matcher->scheme->id ||
        fingerprint->version != matcher->scheme->version)
        return doppel_fail(error, DOPPEL_E_VERSION,
                           "a fingerprint of scheme %d, version %u, does not meet %s, version %u",
                           (int)fingerprint->scheme, fingerprint->version, matcher->scheme->name,
                           matcher->scheme->version);
    if (fingerprint->code_bits != matcher_code_bits(matcher) &&
        fingerprint->code_bits != matcher->scheme->code_bits)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "picture %llu has codes of %u bits, not %u",
                           (unsigned long long)id, fingerprint->code_bits,
                           matcher_code_bits(matcher));
    if (id >= ID_END)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "id %llu is too large",
                           (unsigned long long)id);
    if (id_map_find(&matcher->map, id) != ID_MAP_NONE)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "id %llu is there already",
                           (unsigned long long)id);
    bool views_fit = fingerprint->count > 0;
    for (uint32_t i = 0; i < fingerprint->count && views_fit; i++)
        views_fit = fingerprint->positions[i] < DOPPEL_VIEW_COUNT &&
                    (i == 0 || fingerprint->positions[i] > fingerprint->positions[i - 1]);
    if (!views_fit)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "the views of picture %llu are in disorder",
                           (unsigned long long)id);
    return DOPPEL_OK;
}

void matcher_unpack(const struct doppel_matcher *matcher, uint32_t slot, struct unpacked *out)
{
    const struct packed *packed = &matcher->packed.items[slot];
    uint32_t count = 0;
    for (uint32_t view = 0; view < DOPPEL_VIEW_COUNT; view++)
        if (packed->views >> view & 1)
            out->positions[count++] = view;
    out->fingerprint = (struct doppel_fingerprint){
        .scheme = matcher->scheme->id,
        .version = matcher->scheme->version,
        .code_bits = packed->bare ? matcher->scheme->code_bits : matcher_code_bits(matcher),
        .count = count,
        .codes = matcher->codes.items + packed->first,
        .positions = out->positions};
    out->item = (struct doppel_match_item){&out->fingerprint, packed->quality};
}

bool matcher_is_distinctive(const struct doppel_matcher *matcher, uint32_t slot)
{
    const struct packed *packed = &matcher->packed.items[slot];
    const bool strict = matcher->scheme->id == DOPPEL_SCHEME_PHASH64 && !packed->bare;
    return packed->views &&
           packed->quality >= (strict ? DOPPEL_IMAGE_STRICT_QUALITY : DOPPEL_IMAGE_MIN_QUALITY);
}

/* Room for one more of everything, so that nothing fails half-way. */
static bool reserve_matcher_items(struct doppel_matcher *matcher, uint32_t codes)
{
    while (matcher->codes.count + codes > matcher->codes.capacity) {
        size_t count = matcher->codes.count;
        matcher->codes.count = matcher->codes.capacity;
        bool grown = array_reserve(&matcher->codes);
        matcher->codes.count = count;
        if (!grown)
            return false;
    }
    bool room = matcher->codes.count + codes <= UINT32_MAX && matcher->ids.count < ID_MAP_NONE &&
                array_reserve(&matcher->packed) && array_reserve(&matcher->ids);
    matcher->map.ids = matcher->ids.items;
    return room && id_map_reserve(&matcher->map);
}

static uint32_t next_slot(const struct doppel_matcher *matcher)
{
    size_t free_count = matcher->free_slots.count;
    return free_count ? matcher->free_slots.items[free_count - 1] : (uint32_t)matcher->ids.count;
}

/* Write into the next slot, for which there is room. */
static void pack_image(struct doppel_matcher *matcher, uint64_t id,
                       const struct doppel_match_item *item)
{
    const struct doppel_fingerprint *fingerprint = item->fingerprint;
    uint32_t slot = next_slot(matcher);
    struct packed packed = {.first = (uint32_t)matcher->codes.count,
                            .quality = item->quality,
                            .bare = fingerprint->code_bits != matcher_code_bits(matcher)};
    matcher->has_bare |= packed.bare;
    for (uint32_t i = 0; i < fingerprint->count; i++) {
        packed.views |= (uint16_t)(1u << fingerprint->positions[i]);
        matcher->codes.items[matcher->codes.count++] = fingerprint->codes[i];
    }
    if (matcher->free_slots.count) {
        matcher->free_slots.count--;
    } else {
        matcher->packed.count++;
        matcher->ids.count++;
    }
    matcher->packed.items[slot] = packed;
    matcher->ids.items[slot] = id;
    id_map_put(&matcher->map, slot);
    if (slot < matcher->search->filled)
        matcher->search->filled = slot;
}

enum doppel_status doppel_matcher_add(struct doppel_matcher *matcher, uint64_t id,
                                      const struct doppel_match_item *item,
                                      struct doppel_error *error)
{
    enum doppel_status status = check_fingerprint_fits(matcher, id, item->fingerprint, error);
    if (status)
        return status;
    if (!reserve_matcher_items(matcher, item->fingerprint->count))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for one more picture");
    pack_image(matcher, id, item);
    return DOPPEL_OK;
}

/* ---- removal ---- */

/* Move the living codes together; without memory for it they stay where they are. */
static void compact(struct doppel_matcher *matcher)
{
    size_t living = matcher->codes.count - matcher->dead_codes, at = 0;
    struct doppel_code *codes = malloc((living + 1) * sizeof *codes);
    if (!codes)
        return;
    for (size_t slot = 0; slot < matcher->packed.count; slot++) {
        struct packed *packed = &matcher->packed.items[slot];
        size_t count = (size_t)__builtin_popcount(packed->views);
        memcpy(codes + at, matcher->codes.items + packed->first, count * sizeof *codes);
        packed->first = (uint32_t)at;
        at += count;
    }
    free(matcher->codes.items);
    matcher->codes.items = codes;
    matcher->codes.count = living;
    matcher->codes.capacity = living + 1;
    matcher->dead_codes = 0;
}

void doppel_matcher_remove(struct doppel_matcher *matcher, uint64_t id)
{
    uint32_t slot = id_map_find(&matcher->map, id);
    /* Without memory to note the free slot, the slot stays empty. */
    if (slot == ID_MAP_NONE)
        return;
    struct packed *packed = &matcher->packed.items[slot];
    if (packed->searchable)
        (void)tables_remove(&matcher->search->tables, slot);
    id_map_remove(&matcher->map, slot);
    matcher->dead_codes += (size_t)__builtin_popcount(packed->views);
    *packed = (struct packed){0};
    (void)array_push(&matcher->free_slots, slot);
    if (matcher->dead_codes > matcher->codes.count / 2)
        compact(matcher);
}
