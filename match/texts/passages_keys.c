/* Passages by keys alone: chains of them, told as matches. */
#include <stdlib.h>
#include <string.h>

#include "match/texts/passages_keys.h"

enum { MAX_PLACES = 32 }; /* of a key in a text that are looked at */

/* Where the first key at or after a word starts; after the last one, where that starts. */
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

static double start_of_passage_text(const struct doppel_passage_text *text, uint32_t word)
{
    return text->words ? text->words[word].start : key_place(text, word);
}

static double end_of_passage_text(const struct doppel_passage_text *text, uint32_t end)
{
    return text->words ? text->words[end - 1].end : key_place(text, end);
}

static bool has_places(const struct doppel_passage_text *text)
{
    return text->words || (text->key_starts && text->key_count);
}

static bool segments_by_keys(const struct doppel_passage_text *query,
                             const struct doppel_passage_text *item, const aligned_array *found,
                             struct doppel_match *match)
{
    if (!found->count || !has_places(query) || !has_places(item))
        return true;
    struct doppel_segment *segments = malloc(found->count * sizeof *segments);
    if (!segments)
        return false;
    for (size_t i = 0; i < found->count; i++) {
        const struct aligned *it = &found->items[i];
        segments[i] = (struct doppel_segment){.a_start = start_of_passage_text(query, it->a_first),
                                              .a_end = end_of_passage_text(query, it->a_end),
                                              .b_start = start_of_passage_text(item, it->b_first),
                                              .b_end = end_of_passage_text(item, it->b_end),
                                              .speed = 1};
    }
    match->segments = segments;
    match->segment_count = found->count;
    return true;
}

/* The page that has a place, from 1 on. */
static uint32_t page_at(const struct doppel_passage_text *text, double place)
{
    size_t low = 0, high = text->page_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (text->pages[middle] <= place)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? (uint32_t)low : 1;
}

static void name_pages(const struct doppel_passage_text *text, double start, double end,
                       uint32_t out[2])
{
    if (!text->page_count)
        return;
    out[0] = page_at(text, start);
    out[1] = page_at(text, end > start ? end - 1 : start);
}

void name_pages_of_segments(const struct doppel_passage_text *query,
                            const struct doppel_passage_text *item, struct doppel_match *match)
{
    struct doppel_segment *segments = (struct doppel_segment *)match->segments; /* made here */
    for (size_t i = 0; i < match->segment_count; i++) {
        struct doppel_segment *it = &segments[i];
        name_pages(query, it->a_start, it->a_end, it->a_pages);
        name_pages(item, it->b_start, it->b_end, it->b_pages);
    }
}

bool match_by_chains(const chain_array *chains, const struct doppel_passage_text *query,
                     const struct doppel_passage_text *item,
                     const struct doppel_passage_options *options, struct doppel_match *out)
{
    aligned_array passages = {0};
    struct passage_counts counts = {query->word_count, item->word_count};
    struct doppel_match match;
    bool done = true;
    for (size_t i = 0; done && i < chains->count; i++)
        if (chains->items[i].aligned.matched >= options->min_words)
            done = array_push(&passages, chains->items[i].aligned);
    aligned_sort(&passages);
    done = done && describe_passages(&counts, &passages, options, &match) &&
           segments_by_keys(query, item, &passages, &match);
    array_free(&passages);
    if (!done)
        return false;
    match.verified = DOPPEL_VERIFIED_CODES;
    name_pages_of_segments(query, item, &match);
    *out = match;
    return true;
}

/* ---- the hits of two texts ---- */

int compare_text_keys(const void *left, const void *right)
{
    const struct doppel_text_key *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->word < b->word ? -1 : a->word > b->word;
}

int compare_key_hits(const void *left, const void *right)
{
    const struct key_hit *a = left, *b = right;
    if (a->b != b->b)
        return a->b < b->b ? -1 : 1;
    return a->a < b->a ? -1 : a->a > b->a;
}

/* By key, then word; given (free). NULL without memory. */
static struct doppel_text_key *sorted_keys(const struct doppel_passage_text *text)
{
    struct doppel_text_key *keys = malloc((text->key_count + 1) * sizeof *keys);
    if (keys && text->key_count) {
        memcpy(keys, text->keys, text->key_count * sizeof *keys);
        qsort(keys, text->key_count, sizeof *keys, compare_text_keys);
    }
    return keys;
}

/* The keys equal to the first of some, all of them and those that are looked at. */
struct key_run {
    size_t all, looked_at;
};

static struct key_run run_of_text_key(const struct doppel_text_key *keys, size_t count)
{
    size_t all = 1;
    while (all < count && keys[all].key == keys[0].key)
        all++;
    return (struct key_run){all, all < MAX_PLACES ? all : MAX_PLACES};
}

static bool push_key_run(key_hit_array *hits, const struct doppel_text_key *a, size_t a_count,
                         const struct doppel_text_key *b, size_t b_count)
{
    for (size_t i = 0; i < a_count; i++)
        for (size_t j = 0; j < b_count; j++)
            if (!array_push(hits, ((struct key_hit){a[i].word, b[j].word, 0})))
                return false;
    return true;
}

static bool gather_text_key(const struct doppel_text_key *a, size_t a_count,
                            const struct doppel_text_key *b, size_t b_count, key_hit_array *hits)
{
    for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
        if (a[i].key != b[j].key) {
            *(a[i].key < b[j].key ? &i : &j) += 1;
            continue;
        }
        struct key_run of_a = run_of_text_key(a + i, a_count - i),
                       of_b = run_of_text_key(b + j, b_count - j);
        if (!push_key_run(hits, a + i, of_a.looked_at, b + j, of_b.looked_at))
            return false;
        i += of_a.all;
        j += of_b.all;
    }
    if (hits->count > 1)
        qsort(hits->items, hits->count, sizeof *hits->items, compare_key_hits);
    return true;
}

bool match_by_keys(const struct doppel_passage_text *query, const struct doppel_passage_text *item,
                   const struct doppel_passage_options *options, struct doppel_match *out)
{
    struct doppel_text_key *a = sorted_keys(query), *b = sorted_keys(item);
    key_hit_array hits = {0};
    chain_array chains = {0};
    bool done = a && b && gather_text_key(a, query->key_count, b, item->key_count, &hits) &&
                chain_hits(hits.items, hits.count, &chains) &&
                match_by_chains(&chains, query, item, options, out);
    array_free(&hits);
    array_free(&chains);
    free(a);
    free(b);
    return done;
}
