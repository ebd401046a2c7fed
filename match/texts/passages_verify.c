/* Whether an item that shares keys with a query shares a passage, and which. */
#include <stdlib.h>

#include "match/texts/passages_keys.h"
#include "match/texts/passages_search.h"

bool candidate_chain(struct passage_search *search, const struct passage_candidate *candidate)
{
    search->item_hits.count = 0;
    for (size_t i = candidate->first; i < candidate->first + candidate->count; i++) {
        const struct key_place *place = &search->hits.places.items[i];
        const struct asked_key *key = &search->hits.keys.items[place->key];
        uint32_t b = (uint32_t)(place->position - candidate->start);
        for (uint32_t word = 0; word < key->count; word++)
            if (!array_push(
                    &search->item_hits,
                    ((struct key_hit){search->hits.words[key->first + word], b, key->weight})))
                return false;
    }
    if (search->item_hits.count > 1)
        qsort(search->item_hits.items, search->item_hits.count, sizeof *search->item_hits.items,
              compare_key_hits);
    return chain_hits(search->item_hits.items, search->item_hits.count, &search->chains);
}

/* Whether one of the hits grows to a passage; what does not is cheap to find out. */
static bool has_passage(const struct passage_search *search, const struct doppel_passage_text *item)
{
    struct words a = {search->request->query.words, search->request->query.word_count};
    struct words b = {item->words, item->word_count};
    struct aligned last = {0};
    uint64_t work = 1 << 20;
    for (size_t i = 0; i < search->item_hits.count; i++) {
        const struct key_hit *hit = &search->item_hits.items[i];
        if (hit->a + SEED_WORDS > a.count || hit->b + SEED_WORDS > b.count ||
            (hit->a >= last.a_first && hit->a < last.a_end && hit->b >= last.b_first &&
             hit->b < last.b_end))
            continue;
        struct aligned seed = {hit->a, hit->a, hit->b, hit->b, 0, 0};
        last = align_seed(&a, &b, seed, &work);
        if (last.matched >= search->options.min_words)
            return true;
    }
    return false;
}

static enum doppel_status match_by_words_passage_search(const struct passage_search *search,
                                                        const struct doppel_passage_text *item,
                                                        bool *out_matches, struct doppel_match *out,
                                                        struct doppel_error *error)
{
    *out_matches = false;
    if (!has_passage(search, item))
        return DOPPEL_OK;
    enum doppel_status status =
        doppel_match_passages(&search->request->query, item, &search->options, out, error);
    *out_matches = !status && out->segment_count;
    return status;
}

enum doppel_status candidate_verify(struct passage_search *search,
                                    const struct passage_candidate *candidate,
                                    struct doppel_error *error)
{
    const struct doppel_passage_request *request = search->request;
    struct doppel_passage_text item = {0};
    struct doppel_found found = {.id = candidate->id};
    bool matches = false;
    enum doppel_status status = DOPPEL_OK;
    if (request->source && !request->source(request->source_context, candidate->id, &item)) {
        if (search->must_ask)
            return DOPPEL_OK;
        item = (struct doppel_passage_text){0};
    }
    if (!item.words)
        item.word_count = candidate->words;
    if (!candidate_chain(search, candidate))
        status = DOPPEL_E_MEMORY;
    else if (item.words && request->query.words)
        status = match_by_words_passage_search(search, &item, &matches, &found.match, error);
    else if (match_by_chains(&search->chains, &request->query, &item, &search->options,
                             &found.match))
        matches = found.match.query_coverage > 0;
    else
        status = DOPPEL_E_MEMORY;
    if (!status && matches && !array_push(&search->found, found)) {
        free((void *)found.match.segments);
        status = DOPPEL_E_MEMORY;
    }
    return status == DOPPEL_E_MEMORY ? doppel_fail(error, status, "no memory to compare texts")
                                     : status;
}
