/* All that matches one picture of those whose codes lie in tables that others keep. */
#include <stdlib.h>

#include "core/order.h"
#include "core/try.h"
#include "match/images/kept_search.h"
#include "match/images/pair.h"

bool doppel_image_table_options(enum doppel_scheme_id scheme, enum doppel_image_table table,
                                struct doppel_index_options *out)
{
    const struct doppel_scheme *known = doppel_scheme_by_id(scheme);
    const bool views = scheme == DOPPEL_SCHEME_PHASH64;
    if (!known || known->kind != DOPPEL_KIND_IMAGE || (table != DOPPEL_IMAGE_TABLE_CODES && !views))
        return false;
    *out = doppel_index_options_default();
    out->bits = views ? 256 : known->code_bits;
    out->design_radius = table == DOPPEL_IMAGE_TABLE_FULL ? DOPPEL_IMAGE_FULL_RADIUS
                         : views                          ? out->bits
                                                          : known->max_distance;
    return true;
}

static size_t codes_of_views(const struct doppel_fingerprint *fingerprint, uint64_t *out)
{
    const bool bare = fingerprint->code_bits < 256;
    uint32_t count =
        fingerprint->count < DOPPEL_VIEW_COUNT ? fingerprint->count : DOPPEL_VIEW_COUNT;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *words = fingerprint->codes[i].word;
        out[4 * i] = doppel_image_sort_bits(words[0]);
        for (uint32_t word = 1; word < 4; word++)
            out[4 * i + word] = bare ? 0 : words[word];
    }
    return count;
}

size_t doppel_image_table_codes(enum doppel_image_table table, const struct doppel_match_item *item,
                                uint64_t out[DOPPEL_IMAGE_TABLE_WORDS])
{
    const struct doppel_match_options all = doppel_match_options_default();
    const struct doppel_fingerprint *fingerprint = item->fingerprint;
    if (!is_distinctive(item) || !fingerprint->count)
        return 0;
    if (table == DOPPEL_IMAGE_TABLE_FULL)
        return lookups_of_full(fingerprint, out);
    if (!is_looked_up(item))
        return 0;
    return fingerprint->scheme == DOPPEL_SCHEME_PHASH64 ? codes_of_views(fingerprint, out)
                                                        : lookups_of_item(fingerprint, &all, out);
}

static uint32_t views_of_codes(const struct doppel_fingerprint *fingerprint)
{
    uint32_t views = 0;
    for (uint32_t i = 0; i < fingerprint->count; i++)
        views |= UINT32_C(1) << (fingerprint->positions[i] % 32);
    return views & ((UINT32_C(1) << DOPPEL_VIEW_COUNT) - 1);
}

uint64_t doppel_image_table_payload(const struct doppel_fingerprint *fingerprint, uint64_t id,
                                    size_t number)
{
    if (fingerprint->scheme != DOPPEL_SCHEME_PHASH64)
        return id;
    return id << ID_BIT | (uint64_t)views_of_codes(fingerprint) << VIEWS_BIT |
           (uint64_t)(fingerprint->code_bits < 256) << BARE_BIT |
           fingerprint->positions[number] % DOPPEL_VIEW_COUNT;
}

uint64_t doppel_image_table_id(enum doppel_scheme_id scheme, uint64_t payload)
{
    return scheme == DOPPEL_SCHEME_PHASH64 ? payload >> ID_BIT : payload;
}

/* ---- candidates ---- */

void push_candidate(struct kept_search *search, uint64_t id)
{
    pthread_mutex_lock(&search->lock);
    search->no_memory |= !array_push(&search->candidates, id);
    pthread_mutex_unlock(&search->lock);
}

bool has_crops_alike(const struct kept_search *search, uint64_t payload)
{
    return search->request->options->image.views == DOPPEL_VIEWS_ALL &&
           (uint32_t)(payload >> VIEWS_BIT) & search->query.views & CROPS &
               ((UINT32_C(1) << DOPPEL_VIEW_COUNT) - 1);
}

static bool note_hit(void *context, const struct doppel_index_hit *hit)
{
    struct kept_search *search = context;
    const enum doppel_scheme_id scheme = search->request->query->fingerprint->scheme;
    const bool too_far = scheme == DOPPEL_SCHEME_PHASH64 && search->gated &&
                         (int32_t)hit->distance > search->gate.most[0] &&
                         !has_crops_alike(search, hit->payload);
    if (!too_far)
        push_candidate(search, doppel_image_table_id(scheme, hit->payload));
    return !search->no_memory;
}

static bool keep_plain_hit(void *context, const struct doppel_index_hit *hit)
{
    struct kept_search *search = context;
    search->no_memory |= !array_push(&search->hits, *hit);
    return !search->no_memory;
}

static enum doppel_status look_up_codes(struct kept_search *search,
                                        const struct doppel_index *table,
                                        const struct doppel_index_request *sought,
                                        doppel_index_visitor *visitor, struct doppel_error *error)
{
    struct doppel_index_request request = *sought;
    request.threads = search->request->threads;
    enum doppel_status status = doppel_index_search(table, &request, visitor, search, error);
    return status == DOPPEL_E_CANCELLED ? DOPPEL_OK : status;
}

static void begin_kept_search(struct kept_search *search)
{
    const struct doppel_image_request *request = search->request;
    const struct doppel_fingerprint *fingerprint = request->query->fingerprint;
    const struct doppel_match_options *options = request->options;
    search->radius = lookup_radius(doppel_scheme_by_id(fingerprint->scheme), options);
    search->by_default = options->max_distance < 0 && options->min_similarity < 0;
    search->query = (struct doppel_image_codes){fingerprint->codes, views_of_codes(fingerprint)};
    search->gated = fingerprint->scheme == DOPPEL_SCHEME_PHASH64 && fingerprint->code_bits == 256 &&
                    gate_of_options(options, &search->gate);
    pthread_mutex_init(&search->lock, NULL);
}

static enum doppel_status look_up_plain(struct kept_search *search, struct doppel_error *error)
{
    const struct doppel_image_request *request = search->request;
    uint64_t codes[MAX_LOOKUP_WORDS];
    const struct doppel_index_request sought = {
        .queries = codes,
        .count = lookups_of_query(request->query->fingerprint, request->options, codes),
        .radius = search->radius};
    return look_up_codes(search, request->tables[DOPPEL_IMAGE_TABLE_CODES], &sought, keep_plain_hit,
                         error);
}

static enum doppel_status no_candidate_memory(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the candidates of a search");
}

static enum doppel_status find_image_candidates(struct kept_search *search,
                                                struct doppel_error *error)
{
    const struct doppel_image_request *request = search->request;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(request->query->fingerprint->scheme);
    uint64_t code[4];
    struct doppel_index_request sought = {.queries = code};
    enum doppel_status status = DOPPEL_OK;
    if (scheme->id != DOPPEL_SCHEME_PHASH64)
        status = look_up_plain(search, error);
    else if (is_looked_up(request->query))
        status = scan_views(search, error);
    sought.count = doppel_image_full_lookup(request->query, request->options, code, &sought.radius);
    if (!status && sought.count && request->tables[DOPPEL_IMAGE_TABLE_FULL])
        status = look_up_codes(search, request->tables[DOPPEL_IMAGE_TABLE_FULL], &sought, note_hit,
                               error);
    return !status && search->no_memory ? no_candidate_memory(error) : status;
}

static void sort_ids(id_array *ids)
{
    size_t kept = 0;
    if (ids->count)
        qsort(ids->items, ids->count, sizeof *ids->items, compare_u64);
    for (size_t i = 0; i < ids->count; i++)
        if (!i || ids->items[i] != ids->items[i - 1])
            ids->items[kept++] = ids->items[i];
    ids->count = kept;
}

/* ---- judging ---- */

bool doppel_image_judge_candidate(const struct doppel_match_item *query,
                                  const struct doppel_match_item *item,
                                  const struct doppel_match_options *options,
                                  struct doppel_found *out)
{
    if (!is_distinctive(query) || !is_distinctive(item) || !lookups_meet(query, item, options))
        return false;
    bool matches = doppel_match_pair(query, item, options, &out->match);
    out->borderline = !matches && doppel_match_borderline(&out->match, options);
    return matches || out->borderline;
}

static enum doppel_status judge_candidates(struct kept_search *search, found_array *found,
                                           struct doppel_error *error)
{
    const struct doppel_image_request *request = search->request;
    const id_array *candidates = &search->candidates;
    sort_ids(&search->candidates);
    for (size_t i = 0; i < candidates->count; i++) {
        struct doppel_fingerprint fingerprint = {0};
        struct doppel_match_item item = {&fingerprint, 0};
        struct doppel_found one = {.id = candidates->items[i]};
        enum doppel_status status =
            request->source(request->context, one.id, &fingerprint, &item.quality, error);
        if (status == DOPPEL_E_NOT_FOUND)
            continue;
        if (status)
            return status;
        bool is_found = doppel_image_judge_candidate(request->query, &item, request->options, &one);
        doppel_fingerprint_free(&fingerprint);
        if (is_found && !array_push(found, one))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a search");
    }
    return DOPPEL_OK;
}

/* By picture, its nearest orientation first, and of equally near ones the first. */
static int compare_plain_hits(const void *left, const void *right)
{
    const struct doppel_index_hit *a = left, *b = right;
    int order = (a->payload > b->payload) - (a->payload < b->payload);
    if (!order)
        order = (a->distance > b->distance) - (a->distance < b->distance);
    return order ? order : (a->query > b->query) - (a->query < b->query);
}

static enum doppel_status take_plain_hits(struct kept_search *search, found_array *found,
                                          struct doppel_error *error)
{
    const struct doppel_image_request *request = search->request;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(request->query->fingerprint->scheme);
    const struct doppel_index_hit *hits = search->hits.items;
    if (search->hits.count > 1)
        qsort(search->hits.items, search->hits.count, sizeof *hits, compare_plain_hits);
    for (size_t i = 0; i < search->hits.count; i++) {
        struct doppel_found one = {.id = hits[i].payload};
        if ((i && hits[i].payload == hits[i - 1].payload) ||
            !match_at_distance(scheme, hits[i].distance, hits[i].query, request->options,
                               &one.match))
            continue;
        enum doppel_status status = request->source(request->context, one.id, NULL, NULL, error);
        if (status && status != DOPPEL_E_NOT_FOUND)
            return status;
        if (!status && !array_push(found, one))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a search");
    }
    return DOPPEL_OK;
}

enum doppel_status doppel_images_find(const struct doppel_image_request *request,
                                      doppel_found_visitor *visitor, void *context,
                                      struct doppel_error *error)
{
    struct kept_search search = {.request = request};
    found_array found = {0};
    enum doppel_status status;
    if (!is_distinctive(request->query))
        return DOPPEL_OK;
    begin_kept_search(&search);
    TRY(find_image_candidates(&search, error));
    TRY(take_plain_hits(&search, &found, error));
    TRY(judge_candidates(&search, &found, error));
    TRY(found_visit_ranked(&found, visitor, context, error));
done:
    pthread_mutex_destroy(&search.lock);
    array_free(&search.candidates);
    array_free(&search.hits);
    array_free(&found);
    return status;
}

static enum doppel_status visit_image_ids(const id_array *candidates,
                                          doppel_image_id_visitor *visitor, void *context,
                                          struct doppel_error *error)
{
    for (size_t i = 0; i < candidates->count; i++)
        if (!visitor(context, candidates->items[i]))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "the search was ended by its caller");
    return DOPPEL_OK;
}

enum doppel_status doppel_images_look(const struct doppel_image_request *request,
                                      doppel_image_id_visitor *visitor, void *context,
                                      struct doppel_error *error)
{
    struct kept_search search = {.request = request};
    enum doppel_status status;
    if (request->query->fingerprint->scheme != DOPPEL_SCHEME_PHASH64)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "only codes of phash64 are looked through");
    if (!is_looked_up(request->query))
        return DOPPEL_OK;
    begin_kept_search(&search);
    TRY(scan_views(&search, error));
    if (search.no_memory)
        TRY(no_candidate_memory(error));
    sort_ids(&search.candidates);
    TRY(visit_image_ids(&search.candidates, visitor, context, error));
done:
    pthread_mutex_destroy(&search.lock);
    array_free(&search.candidates);
    return status;
}
