/* The passages that two texts share. */
#include <math.h>
#include <string.h>

#include "match/texts/align.h"
#include "match/texts/passages_keys.h"
#include "match/segments.h"

struct doppel_passage_options doppel_passage_options_default(void)
{
    return (struct doppel_passage_options){.min_words = 13, .min_coverage = 0.9};
}

struct doppel_passage_text doppel_passage_text_of(const struct doppel_text_result *result)
{
    return (struct doppel_passage_text){.words = result->places,
                                        .word_count = (uint32_t)result->words,
                                        .keys = result->keys,
                                        .key_count = result->key_count,
                                        .pages = result->pages,
                                        .page_count = result->page_count};
}

/* Which of two texts is gone through: an order that does not depend on which is the query. */
static bool in_order_words(const struct words *a, const struct words *b)
{
    if (a->count != b->count)
        return a->count < b->count;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->items[i].hash != b->items[i].hash)
            return a->items[i].hash < b->items[i].hash;
    return true;
}

static void swap_sides(aligned_array *found)
{
    for (size_t i = 0; i < found->count; i++) {
        struct aligned *it = &found->items[i], was = *it;
        it->a_first = was.b_first;
        it->a_end = was.b_end;
        it->b_first = was.a_first;
        it->b_end = was.a_end;
    }
}

static bool align_either_way(const struct words *query, const struct words *item,
                             uint32_t min_words, aligned_array *found)
{
    if (in_order_words(query, item))
        return align_words(query, item, min_words, found);
    bool done = align_words(item, query, min_words, found);
    swap_sides(found);
    return done;
}

static struct doppel_segment segment_of_words(const struct words *query, const struct words *item,
                                              const struct aligned *found)
{
    /* Both have the words that were found. NOLINTNEXTLINE(clang-analyzer-core.*) */
    return (struct doppel_segment){.a_start = query->items[found->a_first].start,
                                   .a_end = query->items[found->a_end - 1].end,
                                   .b_start = item->items[found->b_first].start,
                                   .b_end = item->items[found->b_end - 1].end,
                                   .speed = 1};
}

static bool make_segments(const struct words *query, const struct words *item,
                          const aligned_array *found, struct doppel_match *match)
{
    if (!found->count)
        return true;
    struct doppel_segment *segments = malloc(found->count * sizeof *segments);
    if (!segments)
        return false;
    for (size_t i = 0; i < found->count; i++)
        segments[i] = segment_of_words(query, item, &found->items[i]);
    match->segments = segments;
    match->segment_count = found->count;
    return true;
}

static int64_t best_score(const aligned_array *found)
{
    int64_t best = 0;
    for (size_t i = 0; i < found->count; i++)
        if (found->items[i].score > best)
            best = found->items[i].score;
    return best;
}

/* Words that are equal, not just covered; of passages that overlap no more than they cover. */
static uint32_t count_shared(const aligned_array *found, uint32_t of_query, uint32_t of_item)
{
    uint64_t matched = 0, most = of_query < of_item ? of_query : of_item;
    for (size_t i = 0; i < found->count; i++)
        matched += found->items[i].matched;
    return (uint32_t)(matched < most ? matched : most);
}

bool describe_passages(const struct passage_counts *counts, const aligned_array *found,
                       const struct doppel_passage_options *options, struct doppel_match *out)
{
    uint32_t of_query, of_item;
    if (!aligned_cover(found, false, counts->query, &of_query) ||
        !aligned_cover(found, true, counts->item, &of_item))
        return false;
    struct doppel_match match = {.kind = DOPPEL_KIND_TEXT,
                                 .scheme = DOPPEL_SCHEME_WINNOW32,
                                 .has_coverage = true,
                                 .verified = DOPPEL_VERIFIED_ALIGNMENT,
                                 .false_positive_rate = -1};
    match.query_coverage = counts->query ? of_query / (double)counts->query : 0;
    match.item_coverage = counts->item ? of_item / (double)counts->item : 0;
    uint32_t shared = count_shared(found, of_query, of_item);
    double all = (double)counts->query + counts->item - shared;
    match.similarity = all > 0 ? shared / all : 0;
    match.relation =
        relation_by_coverage(match.query_coverage, match.item_coverage, options->min_coverage);
    if (found->count) {
        uint64_t among = options->library_words ? options->library_words : counts->item;
        match.false_positive_rate = passage_rate(best_score(found), counts->query, among);
        match.score = -log10(match.false_positive_rate);
    }
    *out = match;
    return true;
}

/* False without memory. */
static bool match_by_words_passage_text(const struct doppel_passage_text *query,
                                        const struct doppel_passage_text *item,
                                        const struct doppel_passage_options *options,
                                        struct doppel_match *out)
{
    struct words a = {query->words, query->word_count}, b = {item->words, item->word_count};
    struct passage_counts counts = {a.count, b.count};
    aligned_array found = {0};
    bool done = align_either_way(&a, &b, options->min_words, &found);
    aligned_sort(&found);
    done = done && describe_passages(&counts, &found, options, out) &&
           make_segments(&a, &b, &found, out);
    if (done)
        name_pages_of_segments(query, item, out);
    array_free(&found);
    return done;
}

enum doppel_status doppel_match_passages(const struct doppel_passage_text *query,
                                         const struct doppel_passage_text *item,
                                         const struct doppel_passage_options *options,
                                         struct doppel_match *out_match, struct doppel_error *error)
{
    struct doppel_match match;
    bool words = (query->words || !query->word_count) && (item->words || !item->word_count);
    if (!(words ? match_by_words_passage_text : match_by_keys)(query, item, options, &match))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to compare two texts");
    *out_match = match;
    return DOPPEL_OK;
}
