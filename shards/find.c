/* Records, searched for in all shards. */
#include <stdlib.h>
#include <string.h>

#include "compare/image.h"
#include "core/digest.h"
#include "core/order.h"
#include "core/try.h"
#include "search/results.h"
#include "shards/find.h"

/* As one of so many images a library in a cluster counts. */
enum { SHARDS_COMPARED = 8192 };

/* ---- candidates ---- */

static enum doppel_status check_query(const struct doppel_record *record,
                                      const struct doppel_compare_options *options,
                                      struct doppel_error *error)
{
    const char *obstacle = doppel_shards_obstacle(record);
    const struct doppel_scheme *scheme = doppel_compare_scheme(options, DOPPEL_KIND_IMAGE);
    if (obstacle)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "%s", obstacle);
    return scheme && scheme->id == record->scheme
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_VERSION, "the image is not of %s, which is searched",
                             scheme ? scheme->name : "a scheme");
}

/* What a replica does not have may be on its way. @param ids in ascending order; changed */
static enum doppel_status fetch_from_masters(struct doppel_shards *shards, uint64_t *ids,
                                             size_t count, struct shards_looked_up *out,
                                             struct doppel_error *error)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        if (!stored_items_find(&out->items, ids[i]))
            ids[left++] = ids[i];
    return items_fetch(shards, ids, left, true, &out->items, out->missing, error);
}

/* No small pictures are kept there, and nobody counts all items for a query. */
static struct doppel_match_options shards_match_options(
    const struct doppel_compare_options *options)
{
    struct doppel_match_options match = match_options_from(options);
    match.check_pixels = false;
    if (!match.compared)
        match.compared = SHARDS_COMPARED;
    return match;
}

enum doppel_status shards_look_up(struct doppel_shards *shards,
                                  const struct doppel_record *const *queries, size_t count,
                                  const struct doppel_compare_options *options, bool of_masters,
                                  struct shards_looked_up *out, struct doppel_error *error)
{
    const struct doppel_match_options match = shards_match_options(options);
    struct shards_asks asks = {0};
    uint64_t *ids = NULL;
    size_t id_count = 0;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < count; i++) {
        TRY(check_query(queries[i], options, error));
        TRY(asks_add(&asks, queries[i], &match, (uint32_t)i, error));
    }
    TRY(asks_run(shards, &asks, of_masters, &out->candidates, out->missing, error));
    ids = malloc((out->candidates.list.count + 1) * sizeof *ids);
    if (!ids)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for candidates"));
    for (size_t i = 0; i < out->candidates.list.count; i++)
        ids[i] = out->candidates.list.items[i].id;
    qsort(ids, out->candidates.list.count, sizeof *ids, compare_u64);
    for (size_t i = 0; i < out->candidates.list.count; i++)
        if (!i || ids[i] != ids[i - 1])
            ids[id_count++] = ids[i];
    TRY(items_fetch(shards, ids, id_count, of_masters, &out->items, out->missing, error));
    if (shards->options.replicas && !of_masters)
        TRY(fetch_from_masters(shards, ids, id_count, out, error));
done:
    asks_free(&asks);
    free(ids);
    return status;
}

void shards_looked_up_free(struct shards_looked_up *looked_up)
{
    array_free(&looked_up->candidates.list);
    stored_items_free(&looked_up->items);
}

/* ---- judging ---- */

bool is_same_digest(const struct doppel_digest *a, const struct doppel_digest *b)
{
    return !digest_is_none(a) && memcmp(a, b, sizeof *a) == 0;
}

enum doppel_status shards_judge(const struct doppel_record *query,
                                const struct doppel_compare_options *options,
                                const struct doppel_shards_item *item, bool *out_matches,
                                struct doppel_comparison *out, struct doppel_error *error)
{
    const struct doppel_match_options match = shards_match_options(options);
    const struct doppel_record *record = &item->item.record;
    const struct doppel_match_item asked = {&query->fingerprint, query->quality};
    const struct doppel_match_item found = {&record->fingerprint, record->quality};
    struct doppel_found judged = {0};
    *out_matches = true;
    if (is_same_digest(&query->digest, &record->digest) ||
        is_same_digest(&query->pixels, &record->pixels))
        return doppel_compare_same(query, out, error);
    *out_matches = record->kind == DOPPEL_KIND_IMAGE && record->scheme == query->scheme &&
                   record->version == query->version &&
                   doppel_image_judge_candidate(&asked, &found, &match, &judged) &&
                   !judged.borderline;
    *out = (struct doppel_comparison){.matches = true, .match = judged.match};
    return DOPPEL_OK;
}

/* @return DOPPEL_OK, also when it does not match */
static enum doppel_status judge_stored(const struct doppel_record *query,
                                       const struct doppel_compare_options *options,
                                       const struct shards_looked_up *found, uint64_t id,
                                       struct doppel_search_results *results,
                                       struct doppel_error *error)
{
    const struct stored_item *item = stored_items_find(&found->items, id);
    struct doppel_search_result result = {.id = id};
    bool matches = false;
    if (!item || item->pending)
        return DOPPEL_OK;
    const enum doppel_status status =
        shards_judge(query, options, &item->item, &matches, &result.comparison, error);
    if (status || !matches)
        return status;
    return results_append(results, &result)
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the matches");
}

static enum doppel_status judge_queries(const struct doppel_record *const *queries,
                                        const struct doppel_compare_options *options,
                                        const struct shards_looked_up *found,
                                        struct doppel_shards_answers *out,
                                        struct doppel_error *error)
{
    for (size_t i = 0; i < found->candidates.list.count; i++) {
        const struct shards_candidate *one = &found->candidates.list.items[i];
        const enum doppel_status status = judge_stored(queries[one->query], options, found, one->id,
                                                       &out->results[one->query], error);
        if (status)
            return status;
    }
    for (size_t i = 0; i < out->count; i++)
        results_order(&out->results[i]);
    return DOPPEL_OK;
}

/* ---- answers ---- */

/* Those that were found go to the answers. @param ids room for all results */
static void give_found_items(struct shards_looked_up *found, uint64_t *ids,
                             struct doppel_shards_answers *out)
{
    size_t count = 0;
    for (size_t i = 0; i < out->count; i++)
        for (size_t j = 0; j < out->results[i].count; j++)
            ids[count++] = out->results[i].items[j].id;
    if (count)
        qsort(ids, count, sizeof *ids, compare_u64);
    for (size_t i = 0; i < found->items.list.count; i++) {
        struct stored_item *item = &found->items.list.items[i];
        if (!count || !bsearch(&item->item.item.id, ids, count, sizeof *ids, compare_u64))
            continue;
        out->items[out->item_count++] = item->item;
        item->item = (struct doppel_shards_item){0};
    }
}

static enum doppel_status tell_missing(const struct doppel_shards *shards, const uint8_t *missing,
                                       struct doppel_shards_answers *out,
                                       struct doppel_error *error)
{
    for (uint32_t shard = 0; shard < DOPPEL_SHARDS; shard++)
        if (has_shard(missing, shard))
            out->missing[out->missing_count++] = (uint16_t)shard;
    if (out->missing_count &&
        (shards->options.refuse_partial || out->missing_count == DOPPEL_SHARDS))
        return doppel_fail(error, DOPPEL_E_BUSY, "%zu of %d shards did not answer in time",
                           out->missing_count, DOPPEL_SHARDS);
    return DOPPEL_OK;
}

enum doppel_status doppel_shards_find(struct doppel_shards *shards,
                                      const struct doppel_record *const *queries, size_t count,
                                      const struct doppel_compare_options *options,
                                      struct doppel_shards_answers *out, struct doppel_error *error)
{
    const struct doppel_compare_options usual = doppel_compare_options_default();
    struct shards_looked_up found = {0};
    uint64_t *ids = NULL;
    enum doppel_status status;
    options = options ? options : &usual;
    doppel_shards_answers_free(out);
    if (count > DOPPEL_SHARDS_BATCH)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a batch has up to %d queries",
                           DOPPEL_SHARDS_BATCH);
    TRY(shards_look_up(shards, queries, count, options, false, &found, error));
    out->count = count;
    out->results = calloc(count + 1, sizeof *out->results);
    out->items = calloc(found.items.list.count + 1, sizeof *out->items);
    out->missing = calloc(DOPPEL_SHARDS, sizeof *out->missing);
    ids = calloc(found.candidates.list.count + 1, sizeof *ids);
    if (!out->results || !out->items || !out->missing || !ids) {
        out->count = out->results ? count : 0;
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the matches"));
    }
    TRY(judge_queries(queries, options, &found, out, error));
    give_found_items(&found, ids, out);
    TRY(tell_missing(shards, found.missing, out, error));
done:
    shards_looked_up_free(&found);
    free(ids);
    return status;
}
