/* A searchable set of the keys of texts. */
#include <stdlib.h>

#include "core/try.h"
#include "match/texts/passages_search.h"

enum { KEY_BITS = 32 };

struct doppel_passages {
    struct doppel_index *own;              /* position = word, payload = id; or NULL */
    struct doppel_passage_indexes indexes; /* that are searched: its own, or somebody else's */
};

struct doppel_index_options doppel_passages_index_options(void)
{
    struct doppel_index_options options = doppel_index_options_default();
    options.table = DOPPEL_INDEX_POSTINGS;
    options.key_bits = KEY_BITS;
    return options;
}

enum doppel_status doppel_passages_new(struct doppel_passages **out, struct doppel_error *error)
{
    const struct doppel_index_options options = doppel_passages_index_options();
    struct doppel_passages *passages = calloc(1, sizeof *passages);
    if (!passages)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a set of passages");
    enum doppel_status status = doppel_index_new(&options, &passages->own, error);
    passages->indexes = (struct doppel_passage_indexes){.indexes = {passages->own}, .count = 1};
    if (status)
        free(passages);
    else
        *out = passages;
    return status;
}

enum doppel_status doppel_passages_over(const struct doppel_passage_indexes *indexes,
                                        struct doppel_passages **out, struct doppel_error *error)
{
    struct doppel_passages *passages = calloc(1, sizeof *passages);
    if (!passages)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a set of passages");
    passages->indexes = *indexes;
    *out = passages;
    return DOPPEL_OK;
}

void doppel_passages_free(struct doppel_passages *passages)
{
    if (!passages)
        return;
    doppel_index_free(passages->own);
    free(passages);
}

enum doppel_status doppel_passages_add(struct doppel_passages *passages, uint64_t id,
                                       const struct doppel_passage_text *text,
                                       struct doppel_error *error)
{
    if (!passages->own)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "the indexes of the set are somebody else's");
    if (!text->key_count)
        return DOPPEL_OK;
    struct doppel_index_posting *postings = malloc(text->key_count * sizeof *postings);
    if (!postings)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu keys", text->key_count);
    for (size_t i = 0; i < text->key_count; i++)
        postings[i] = (struct doppel_index_posting){text->keys[i].key, text->keys[i].word};
    struct doppel_index_item item = {.payload = id,
                                     .length = text->word_count,
                                     .count = (uint32_t)text->key_count,
                                     .postings = postings};
    enum doppel_status status = doppel_index_insert_item(passages->own, &item, error);
    free(postings);
    if (!status) {
        passages->indexes.texts++;
        passages->indexes.words += text->word_count;
    }
    return status;
}

enum doppel_status doppel_passages_remove(struct doppel_passages *passages, uint64_t id,
                                          struct doppel_error *error)
{
    return passages->own ? doppel_index_remove(passages->own, &id, 1, error)
                         : doppel_fail(error, DOPPEL_E_ARGUMENT,
                                       "the indexes of the set are somebody else's");
}

struct doppel_passage_request doppel_passage_request_default(
    const struct doppel_passage_text *query)
{
    return (struct doppel_passage_request){.query = *query,
                                           .options = doppel_passage_options_default(),
                                           .max_postings = 1 << 20,
                                           .max_misses = 200};
}

/* ---- candidates ---- */

static bool weigh_passage_search(struct passage_search *search, struct passage_candidate *candidate)
{
    if (candidate->count == 1) {
        uint32_t key = search->hits.places.items[candidate->first].key;
        candidate->weight = search->hits.keys.items[key].weight;
        return true;
    }
    if (!candidate_chain(search, candidate))
        return false;
    for (size_t i = 0; i < search->chains.count; i++)
        if (search->chains.items[i].weight > candidate->weight)
            candidate->weight = search->chains.items[i].weight;
    return true;
}

static int compare_weights(const void *left, const void *right)
{
    const struct passage_candidate *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Places lie item by item. */
static bool list_candidates(struct passage_search *search, const struct passage_axis *axis)
{
    const struct key_place *places = search->hits.places.items;
    for (size_t first = 0, next; first < search->hits.places.count; first = next) {
        struct doppel_index_place item = passage_axis_item(axis, places[first].position);
        for (next = first + 1;
             next < search->hits.places.count && places[next].position < item.start + item.length;)
            next++;
        struct passage_candidate candidate = {.id = item.payload,
                                              .start = item.start,
                                              .words = item.length,
                                              .first = first,
                                              .count = next - first};
        for (size_t i = first; item.removed && i < next; i++)
            hits_discount(&search->hits, &places[i]);
        if (!item.removed && !array_push(&search->candidates, candidate))
            return false;
    }
    return true;
}

static bool weigh_candidates(struct passage_search *search, uint64_t items)
{
    hits_weigh(&search->hits, items);
    for (size_t i = 0; i < search->candidates.count; i++)
        if (!weigh_passage_search(search, &search->candidates.items[i]))
            return false;
    if (search->candidates.count > 1)
        qsort(search->candidates.items, search->candidates.count, sizeof(struct passage_candidate),
              compare_weights);
    return true;
}

/* The most promising first. What is told by keys alone costs nothing. */
static enum doppel_status verify_all_passage_search(struct passage_search *search,
                                                    struct doppel_error *error)
{
    bool asks = search->request->source;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < search->candidates.count && !status; i++) {
        if (asks && i - search->found.count >= search->request->max_misses)
            break;
        status = candidate_verify(search, &search->candidates.items[i], error);
    }
    return status;
}

/* ---- answers ---- */

static int compare_found_passages(const void *left, const void *right)
{
    const struct doppel_found *a = left, *b = right;
    if (a->match.score != b->match.score)
        return a->match.score > b->match.score ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static enum doppel_status visit_passage_search(struct passage_search *search,
                                               doppel_found_visitor *visitor, void *context,
                                               struct doppel_error *error)
{
    if (search->found.count > 1)
        qsort(search->found.items, search->found.count, sizeof *search->found.items,
              compare_found_passages);
    for (size_t i = 0; i < search->found.count; i++)
        if (!visitor(context, &search->found.items[i]))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "the search was ended by its caller");
    return DOPPEL_OK;
}

static void free_search(struct passage_search *search)
{
    for (size_t i = 0; i < search->found.count; i++)
        free((void *)search->found.items[i].match.segments);
    array_free(&search->found);
    array_free(&search->chains);
    array_free(&search->item_hits);
    array_free(&search->candidates);
    hits_free(&search->hits);
}

static enum doppel_status find_passage_candidates(struct passage_search *search,
                                                  const struct doppel_passages *passages,
                                                  struct doppel_error *error)
{
    struct passage_axis axis;
    enum doppel_status status;
    TRY(passage_axis_take(&passages->indexes, &axis, error));
    TRY(hits_gather(&axis, search->request, &search->hits, error));
    if (!list_candidates(search, &axis) || !weigh_candidates(search, passages->indexes.texts))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the items found"));
done:
    passage_axis_free(&axis);
    return status;
}

enum doppel_status doppel_passages_find(const struct doppel_passages *passages,
                                        const struct doppel_passage_request *request,
                                        doppel_found_visitor *visitor, void *context,
                                        struct doppel_error *error)
{
    struct passage_search search = {
        .request = request, .options = request->options, .must_ask = !passages->own};
    if (!search.options.library_words)
        search.options.library_words = passages->indexes.words;
    enum doppel_status status;
    TRY(find_passage_candidates(&search, passages, error));
    TRY(verify_all_passage_search(&search, error));
    TRY(visit_passage_search(&search, visitor, context, error));
done:
    free_search(&search);
    return status;
}
