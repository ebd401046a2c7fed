/* Looking up the keys of a query, rarest first, until the budget is spent. */
#include "match/texts/passages_hits.h"

#include <math.h>
#include <string.h>

#include "core/try.h"
#include "match/texts/passages_keys.h"

enum { MAX_PLACES = 32 }; /* of a key in the query: what repeats endlessly counts so often */

static int compare_lengths(const void *left, const void *right)
{
    const struct asked_key *a = left, *b = right;
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    return a->key < b->key ? -1 : a->key > b->key;
}

static int compare_hit_positions(const void *left, const void *right)
{
    const struct key_place *a = left, *b = right;
    if (a->position != b->position)
        return a->position < b->position ? -1 : 1;
    return a->key < b->key ? -1 : a->key > b->key;
}

/* The query's keys, each once, with their words. False without memory. */
static bool list_keys(const struct doppel_passage_text *query, struct hits *hits)
{
    size_t count = query->key_count;
    struct doppel_text_key *sorted = malloc(count * sizeof *sorted);
    hits->words = malloc(count * sizeof *hits->words);
    bool done = sorted && hits->words;
    if (done) {
        memcpy(sorted, query->keys, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, compare_text_keys);
    }
    for (size_t i = 0; done && i < count; i++) {
        hits->words[i] = sorted[i].word;
        struct asked_key *last = hits->keys.count ? &hits->keys.items[hits->keys.count - 1] : NULL;
        if (last && last->key == sorted[i].key)
            last->count += last->count < MAX_PLACES;
        else
            done = array_push(
                &hits->keys,
                ((struct asked_key){.key = sorted[i].key, .first = (uint32_t)i, .count = 1}));
    }
    free(sorted);
    return done;
}

static void list_asked_keys(const struct hits *hits, uint32_t *out)
{
    for (size_t i = 0; i < hits->keys.count; i++)
        out[i] = hits->keys.items[i].key;
}

static enum doppel_status measure_keys(const struct passage_axis *axis, uint32_t *keys,
                                       struct hits *hits, struct doppel_error *error)
{
    size_t count = hits->keys.count;
    uint64_t *lengths = malloc(count * sizeof *lengths);
    if (!lengths)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu keys", count);
    list_asked_keys(hits, keys);
    enum doppel_status status = passage_axis_lengths(axis, keys, count, lengths, error);
    for (size_t i = 0; !status && i < count; i++)
        hits->keys.items[i].length = lengths[i];
    free(lengths);
    return status;
}

void hits_discount(struct hits *hits, const struct key_place *place)
{
    hits->keys.items[place->key].length--;
}

void hits_weigh(struct hits *hits, uint64_t items)
{
    for (size_t i = 0; i < hits->keys.count; i++) {
        struct asked_key *key = &hits->keys.items[i];
        if (key->length)
            key->weight = (float)log2(1 + (double)items / (double)key->length);
    }
}

/* Keep the rarest keys that the budget is enough for, in order of their lengths. */
static void spend_hits(struct hits *hits, uint64_t budget)
{
    size_t kept = 0;
    qsort(hits->keys.items, hits->keys.count, sizeof *hits->keys.items, compare_lengths);
    for (; kept < hits->keys.count; kept++) {
        const struct asked_key *key = &hits->keys.items[kept];
        if (key->length > budget / key->count)
            break;
        budget -= key->length * key->count;
    }
    hits->keys.count = kept;
}

static bool take_places(void *context, uint32_t key, uint64_t base, const uint32_t *positions,
                        size_t count)
{
    struct hits *hits = context;
    for (size_t i = 0; i < count; i++)
        if (!array_push(&hits->places, ((struct key_place){base + positions[i], key})))
            return false;
    return true;
}

enum doppel_status hits_gather(const struct passage_axis *axis,
                               const struct doppel_passage_request *request, struct hits *out,
                               struct doppel_error *error)
{
    *out = (struct hits){0};
    if (!request->query.key_count)
        return DOPPEL_OK;
    uint32_t *keys = malloc(request->query.key_count * sizeof *keys);
    enum doppel_status status;
    TRY(keys && list_keys(&request->query, out)
            ? measure_keys(axis, keys, out, error)
            : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the keys of a query"));
    spend_hits(out, request->max_postings);
    list_asked_keys(out, keys);
    status = passage_axis_lookup(axis, keys, out->keys.count, take_places, out, error);
    if (status == DOPPEL_E_CANCELLED)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the hits of a query");
    if (!status && out->places.count)
        qsort(out->places.items, out->places.count, sizeof *out->places.items,
              compare_hit_positions);
done:
    free(keys);
    return status;
}

void hits_free(struct hits *hits)
{
    array_free(&hits->keys);
    array_free(&hits->places);
    free(hits->words);
    hits->words = NULL;
}
