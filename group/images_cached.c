/*
 * Pictures that were compared before: the cache keeps which of a collection were compared, and
 * which pairs were found, by what the comparison looks at and not by names, so that only those are
 * looked up that have come since.
 */
#include "group/grouping_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/digest.h"

/* Kept: how many pictures and pairs there are, the pictures' keys, the pairs. */
enum { KEPT_VERSION = 4, HEAD_BYTES = 8, KEY_BYTES = sizeof(struct doppel_digest), PAIR_BYTES = 8 };

/* A bit of a pair's first place: the edge is weak. */
static const uint32_t WEAK = UINT32_C(1) << 31;

struct kept_pairs {
    struct doppel_digest collection;
    uint8_t *data;
    size_t size;
    uint32_t images, pairs;
};

/* ---- what is compared ---- */

static void digest_number(struct digest_stream *stream, uint64_t number)
{
    uint8_t bytes[8];
    put_u64(bytes, number);
    digest_stream_add(stream, bytes, sizeof bytes);
}

static void digest_text(struct digest_stream *stream, const char *text)
{
    digest_stream_add(stream, text, strlen(text) + 1);
}

/* Of a relative one it matters where it starts. */
static void digest_path(struct digest_stream *stream, const char *here, const char *path)
{
    if (path[0] != '/')
        digest_stream_add(stream, here, strlen(here));
    digest_text(stream, path);
}

static void digest_paths(struct digest_stream *stream, const char *here, const char *const *paths,
                         size_t count)
{
    digest_number(stream, count);
    for (size_t i = 0; i < count; i++)
        digest_path(stream, here, paths[i]);
}

bool cached_pairs_add(struct grouping *grouping, const struct grouping_item *item,
                      const struct doppel_fingerprint *fingerprint)
{
    struct digest_stream *stream = grouping->stream;
    struct compared compared = {.item = item_store_count(&grouping->items) - 1};
    digest_stream_begin(stream);
    digest_stream_add(stream, item->digest.bytes, sizeof item->digest.bytes);
    digest_number(stream, (uint64_t)item->reference << 8 | item->quality);
    digest_stream_add(stream, fingerprint->codes, fingerprint->count * sizeof *fingerprint->codes);
    digest_stream_add(stream, fingerprint->positions,
                      fingerprint->count * sizeof *fingerprint->positions);
    compared.key = digest_stream_get(stream);
    return array_push(&grouping->compared, compared);
}

static uint64_t bits_of_rate(double rate)
{
    uint64_t bits;
    memcpy(&bits, &rate, sizeof bits);
    return bits;
}

/* The PATHs distinguish collections; the rest is what pairs depend on beside the pictures. */
static struct doppel_digest collection_of(const struct grouping *grouping)
{
    const struct doppel_compare_options *options = &grouping->options->group->compare;
    const struct doppel_scheme *scheme = doppel_compare_scheme(options, DOPPEL_KIND_IMAGE);
    const struct grouping_sources *sources = &grouping->options->sources;
    const struct manual_labels *labels = grouping->options->labels;
    struct digest_stream *stream = grouping->stream;
    char *working = getcwd(NULL, 0);
    const char *here = working ? working : "";
    digest_stream_begin(stream);
    digest_text(stream, doppel_version());
    digest_number(stream, KEPT_VERSION);
    digest_number(stream, scheme->id);
    digest_number(stream, scheme->version);
    digest_number(stream, (uint64_t)options->views);
    digest_number(stream, options->orientations);
    digest_number(stream, (uint64_t)options->max_distance);
    digest_number(stream, bits_of_rate(options->min_similarity));
    digest_number(stream, options->check_pixels);
    digest_number(stream, bits_of_rate(doppel_match_pair_rate(&grouping->match)));
    if (labels && labels->items.count)
        digest_stream_add(stream, labels->items.items,
                          labels->items.count * sizeof *labels->items.items);
    digest_paths(stream, here, sources->paths, sources->references);
    digest_paths(stream, here, sources->paths + sources->references,
                 sources->count - sources->references);
    digest_path(stream, here, sources->files_from ? sources->files_from : "/");
    free(working);
    return digest_stream_get(stream);
}

/* ---- what was found ---- */

static const uint8_t *key_bytes(const struct kept_pairs *kept, uint32_t place)
{
    return kept->data + HEAD_BYTES + (size_t)place * KEY_BYTES;
}

static bool read_kept(struct doppel_cache *cache, struct kept_pairs *kept)
{
    if (doppel_cache_joined(cache, &kept->collection, &kept->data, &kept->size))
        return false;
    uint64_t images = kept->size < HEAD_BYTES ? UINT32_MAX : get_u32(kept->data);
    uint64_t pairs = kept->size < HEAD_BYTES ? UINT32_MAX : get_u32(kept->data + 4);
    kept->images = (uint32_t)images;
    kept->pairs = (uint32_t)pairs;
    return HEAD_BYTES + images * KEY_BYTES + pairs * PAIR_BYTES == kept->size;
}

struct keys {
    const struct kept_pairs *kept;
    const struct grouping *grouping;
};

/* Of those kept, then of those now. */
static const struct doppel_digest *key_at(const void *context, uint32_t number)
{
    const struct keys *keys = context;
    if (number < keys->kept->images)
        return (const struct doppel_digest *)key_bytes(keys->kept, number);
    return &keys->grouping->compared.items[number - keys->kept->images].key;
}

/* Which of the pictures were there. */
static size_t find_places(const struct grouping *grouping, const struct kept_pairs *kept,
                          struct doppel_former_place *out)
{
    struct digest_map map = {0};
    struct keys keys = {kept, grouping};
    size_t count = 0;
    for (uint32_t place = 0; place < kept->images; place++)
        (void)digest_map_put(&map, place, key_at, &keys);
    for (uint32_t i = 0; i < grouping->compared.count; i++) {
        uint32_t place = digest_map_put(&map, kept->images + i, key_at, &keys);
        if (place < kept->images)
            out[count++] = (struct doppel_former_place){grouping->compared.items[i].item, place};
    }
    digest_map_free(&map);
    return count;
}

static enum doppel_status lead_from_cached(struct grouping *grouping, const struct kept_pairs *kept,
                                           doppel_leader_visitor *visitor,
                                           struct doppel_error *error)
{
    struct doppel_former_place *images = calloc(grouping->compared.count + 1, sizeof *images);
    struct doppel_former_pair *pairs = calloc((size_t)kept->pairs + 1, sizeof *pairs);
    const uint8_t *at = key_bytes(kept, kept->images);
    enum doppel_status status = DOPPEL_OK;
    if (!images || !pairs)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %u cached pairs", kept->pairs);
    for (uint32_t i = 0; i < kept->pairs && !status; i++, at += PAIR_BYTES)
        pairs[i] = (struct doppel_former_pair){get_u32(at) & ~WEAK, get_u32(at + 4),
                                               (get_u32(at) & WEAK) != 0};
    if (!status) {
        struct doppel_former former = {images, find_places(grouping, kept, images), pairs,
                                       kept->pairs};
        status = doppel_matcher_lead_cached(grouping->matcher, &former, visitor, grouping, error);
    }
    free(images);
    free(pairs);
    return status;
}

/* ---- what is kept ---- */

static int compare_cached_items(const void *left, const void *right)
{
    const struct compared *a = left, *b = right;
    return (a->item > b->item) - (a->item < b->item);
}

static uint32_t place_in_collection(const struct grouping *grouping, uint32_t item)
{
    struct compared wanted = {.item = item};
    const struct compared *compared =
        bsearch(&wanted, grouping->compared.items, grouping->compared.count, sizeof wanted,
                compare_cached_items);
    return (uint32_t)(compared - grouping->compared.items);
}

/* Without memory nothing is kept: another run finds the pairs again. */
static void keep_pairs(const struct grouping *grouping, const struct kept_pairs *former)
{
    size_t count = grouping->compared.count, pairs = grouping->edges.count;
    size_t size = HEAD_BYTES + count * KEY_BYTES + pairs * PAIR_BYTES;
    uint8_t *data = pairs > UINT32_MAX || count >= WEAK ? NULL : malloc(size), *at;
    if (!data)
        return;
    at = data + HEAD_BYTES;
    put_u32(data, (uint32_t)count);
    put_u32(data + 4, (uint32_t)pairs);
    for (size_t i = 0; i < count; i++, at += KEY_BYTES)
        memcpy(at, grouping->compared.items[i].key.bytes, KEY_BYTES);
    for (size_t i = 0; i < pairs; i++, at += PAIR_BYTES) {
        const struct doppel_edge *edge = &grouping->edges.items[i];
        put_u32(at, place_in_collection(grouping, edge->a) | (edge->weak ? WEAK : 0));
        put_u32(at + 4, place_in_collection(grouping, edge->b));
    }
    if (size != former->size || memcmp(data, former->data, size) != 0)
        (void)doppel_cache_put_joined(grouping->options->cache, &former->collection, data, size,
                                      NULL);
    free(data);
}

enum doppel_status cached_pairs_find(struct grouping *grouping, doppel_leader_visitor *visitor,
                                     struct doppel_error *error)
{
    struct kept_pairs kept = {.collection = collection_of(grouping)};
    bool cached = read_kept(grouping->options->cache, &kept);
    enum doppel_status status =
        cached ? lead_from_cached(grouping, &kept, visitor, error)
               : doppel_matcher_lead(grouping->matcher, visitor, grouping, error);
    if (!status && !grouping->uncertain)
        keep_pairs(grouping, &kept);
    free(kept.data);
    return status;
}
