/* Whether an item that shares keys with a query shares a passage, and which. */
#include <stdlib.h>

#include "match/passages_search.h"

static int compare_hits(const void *left, const void *right)
{
    const struct key_hit *a = left, *b = right;
    if (a->b != b->b)
        return a->b < b->b ? -1 : 1;
    return a->a < b->a ? -1 : a->a > b->a;
}

bool candidate_chain(struct passage_search *search, const struct passage_candidate *candidate)
{
    search->item_hits.count = 0;
    for (size_t i = candidate->first; i < candidate->first + candidate->count; i++) {
        const struct place *place = &search->hits.places.items[i];
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
              compare_hits);
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

/* Where a word starts, or the last one ends, by keys whose places are known. */
static double key_place(const struct doppel_passage_text *text, uint32_t word)
{
    size_t low = 0, high = text->key_count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (text->keys[middle].word < word)
            low = middle + 1;
        else
            high = middle;
    }
    return text->key_starts[low];
}

static double start_of(const struct doppel_passage_text *text, uint32_t word)
{
    return text->words ? text->words[word].start : key_place(text, word);
}

static double end_of(const struct doppel_passage_text *text, uint32_t end)
{
    return text->words ? text->words[end - 1].end : key_place(text, end);
}

static bool has_places(const struct doppel_passage_text *text, uint32_t words)
{
    return (text->words && text->word_count >= words) || (text->key_starts && text->key_count);
}

static bool segments_by_keys(const struct doppel_passage_text *query,
                             const struct doppel_passage_text *item, uint32_t item_words,
                             const aligned_array *found, struct doppel_match *match)
{
    if (!has_places(query, query->word_count) || !has_places(item, item_words))
        return true;
    struct doppel_segment *segments = malloc(found->count * sizeof *segments);
    if (!segments)
        return false;
    for (size_t i = 0; i < found->count; i++) {
        const struct aligned *it = &found->items[i];
        segments[i] = (struct doppel_segment){.a_start = start_of(query, it->a_first),
                                              .a_end = end_of(query, it->a_end),
                                              .b_start = start_of(item, it->b_first),
                                              .b_end = end_of(item, it->b_end),
                                              .speed = 1};
    }
    match->segments = segments;
    match->segment_count = found->count;
    return true;
}

/* By the chains that cover enough words. */
static bool match_by_keys(struct passage_search *search, const struct passage_candidate *candidate,
                          const struct doppel_passage_text *item, bool *out_matches,
                          struct doppel_match *out)
{
    aligned_array passages = {0};
    bool done = true;
    struct passage_counts counts = {search->request->query.word_count, candidate->words};
    for (size_t i = 0; done && i < search->chains.count; i++)
        if (search->chains.items[i].aligned.matched >= search->options.min_words)
            done = array_push(&passages, search->chains.items[i].aligned);
    *out_matches = passages.count > 0;
    if (done && passages.count) {
        aligned_sort(&passages);
        done = describe_passages(&counts, &passages, &search->options, out) &&
               segments_by_keys(&search->request->query, item, candidate->words, &passages, out);
        out->verified = DOPPEL_VERIFIED_CODES;
    }
    array_free(&passages);
    return done;
}

static enum doppel_status match_by_words(const struct passage_search *search,
                                         const struct doppel_passage_text *item, bool *out_matches,
                                         struct doppel_match *out, struct doppel_error *error)
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
    if (request->source && !request->source(request->source_context, candidate->id, &item))
        item = (struct doppel_passage_text){0};
    if (!candidate_chain(search, candidate))
        status = DOPPEL_E_MEMORY;
    else if (item.words && request->query.words)
        status = match_by_words(search, &item, &matches, &found.match, error);
    else if (!match_by_keys(search, candidate, &item, &matches, &found.match))
        status = DOPPEL_E_MEMORY;
    if (!status && matches && !array_push(&search->found, found)) {
        free((void *)found.match.segments);
        status = DOPPEL_E_MEMORY;
    }
    return status == DOPPEL_E_MEMORY ? doppel_fail(error, status, "no memory to compare texts")
                                     : status;
}
