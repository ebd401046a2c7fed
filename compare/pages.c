/* Documents without text compared by their pages: near ones by their codes, each verified place by
 * place; what follows each other in both is a segment. */
#include "compare/pages.h"

#include <stdlib.h>
#include <string.h>

#include <doppel/image.h>

#include "core/array.h"
#include "core/try.h"

enum { MOST_TRIED = 16 }; /* of the pages that may be a page, the nearest */

static const uint32_t no_page = UINT32_MAX;

/* ---- pages ---- */

bool drawn_pages_read(const struct doppel_text_extra *extra, struct drawn_pages *out)
{
    *out = (struct drawn_pages){0};
    if (!extra->drawn_size)
        return true;
    enum doppel_status status =
        doppel_pages_read(extra->drawn, extra->drawn_size, &out->items, &out->count);
    for (size_t i = 0; i < out->count; i++)
        out->telling += out->items[i].ink != NULL;
    return status != DOPPEL_E_MEMORY;
}

void drawn_pages_free(struct drawn_pages *pages)
{
    free(pages->items);
    *pages = (struct drawn_pages){0};
}

void drawn_pages_codes(const struct drawn_pages *pages, uint64_t *out)
{
    for (size_t i = 0; i < pages->count; i++)
        if (pages->items[i].ink)
            *out++ = pages->items[i].code.word[0];
}

/* Whether so many pages in common may be enough. */
static bool may_suffice(const struct doppel_text_limits *limits, size_t common, size_t query,
                        size_t item)
{
    double shared = (double)common, a = (double)query, b = (double)item;
    return common &&
           (shared >= limits->min_containment * a || shared >= limits->min_containment * b ||
            shared >= limits->min_similarity * (a + b - shared));
}

static size_t count_near_pages(const uint64_t *of, size_t count, const uint64_t *among,
                               size_t among_count)
{
    size_t near = 0;
    for (size_t i = 0; i < count; i++) {
        size_t j = 0;
        while (j < among_count && __builtin_popcountll(of[i] ^ among[j]) > DOPPEL_PAGE_RADIUS)
            j++;
        near += j < among_count;
    }
    return near;
}

bool drawn_pages_are_hopeful(const struct doppel_text_limits *limits, const uint64_t *query,
                             size_t query_count, const uint64_t *item, size_t item_count)
{
    size_t a = count_near_pages(query, query_count, item, item_count);
    size_t b = count_near_pages(item, item_count, query, query_count);
    return may_suffice(limits, a < b ? a : b, query_count, item_count);
}

/* ---- which page is which ---- */

struct page_match {
    const struct drawn_pages *query, *item;
    uint32_t *other; /* of each page of the query, that of the item; no_page */
    bool *taken;     /* of each page of the item */
    size_t common;
    bool no_memory;
};

/* Whether two pages are the same. */
static bool verify_page(struct page_match *pages, const struct doppel_page_relief *own, size_t item)
{
    struct doppel_page_relief *relief = NULL;
    enum doppel_status status = doppel_page_relief_make(&pages->item->items[item], &relief);
    bool same = !status && doppel_page_is_same(own, relief);
    doppel_page_relief_free(relief);
    pages->no_memory |= status == DOPPEL_E_MEMORY;
    return same;
}

static bool may_be_page(const struct page_match *pages, size_t query, size_t item)
{
    if (item >= pages->item->count || pages->taken[item])
        return false;
    const struct doppel_page *a = &pages->query->items[query], *b = &pages->item->items[item];
    return a->ink && b->ink &&
           __builtin_popcountll(a->code.word[0] ^ b->code.word[0]) <= DOPPEL_PAGE_RADIUS;
}

/* A page of the item, and in how many bits it differs. */
struct near_page {
    uint32_t distance, page;
};

static int compare_near_pages(const void *left, const void *right)
{
    const struct near_page *a = left, *b = right;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    return (a->page > b->page) - (a->page < b->page);
}

static uint32_t page_distance(const struct doppel_code *a, const struct doppel_code *b)
{
    uint32_t distance = 0;
    for (size_t word = 0; word < 4; word++)
        distance += (uint32_t)__builtin_popcountll(a->word[word] ^ b->word[word]);
    return distance;
}

/* The nearest of those that may be it, in order. @return how many */
static size_t list_near_pages(const struct page_match *pages, size_t query, size_t without,
                              struct near_page out[MOST_TRIED + 1])
{
    size_t count = 0;
    for (size_t item = 0; item < pages->item->count; item++) {
        if (item == without || !may_be_page(pages, query, item))
            continue;
        const struct near_page near = {
            page_distance(&pages->query->items[query].code, &pages->item->items[item].code),
            (uint32_t)item};
        size_t at = count;
        for (; at && compare_near_pages(&near, &out[at - 1]) < 0; at--)
            out[at] = out[at - 1];
        out[at] = near;
        count += count < MOST_TRIED;
    }
    return count;
}

/* The page that follows on that of the page before comes first. @return no_page: there is none */
static uint32_t find_page(struct page_match *pages, size_t query, size_t expected)
{
    struct near_page near[MOST_TRIED + 1];
    struct doppel_page_relief *own = NULL;
    uint32_t found = no_page;
    if (!pages->query->items[query].ink)
        return no_page;
    enum doppel_status status = doppel_page_relief_make(&pages->query->items[query], &own);
    pages->no_memory |= status == DOPPEL_E_MEMORY;
    if (status)
        return no_page;
    if (may_be_page(pages, query, expected) && verify_page(pages, own, expected))
        found = (uint32_t)expected;
    size_t count = found == no_page ? list_near_pages(pages, query, expected, near) : 0;
    for (size_t i = 0; i < count && found == no_page; i++)
        if (verify_page(pages, own, near[i].page))
            found = near[i].page;
    doppel_page_relief_free(own);
    return found;
}

static void pair_pages(struct page_match *pages, size_t query, uint32_t item)
{
    pages->other[query] = item;
    pages->taken[item] = true;
    pages->common++;
}

/* @param parts look at all pages, also when they cannot be enough any more */
static void pair_all_pages(struct page_match *pages, const struct doppel_text_limits *limits,
                           bool parts)
{
    const size_t a = pages->query->telling, b = pages->item->telling;
    size_t left = a, expected = 0;
    for (size_t i = 0; i < pages->query->count && !pages->no_memory; i++) {
        size_t most = pages->common + left < b ? pages->common + left : b;
        if (!parts && !may_suffice(limits, most, a, b))
            return;
        uint32_t found = find_page(pages, i, expected);
        if (found != no_page)
            pair_pages(pages, i, found);
        left -= pages->query->items[i].ink != NULL;
        expected = found == no_page ? expected + 1 : found + 1;
    }
}

/* A page that stands several times in the other document goes with the page that follows it. */
static void join_pages(struct page_match *pages)
{
    for (size_t i = pages->query->count; i-- > 1 && !pages->no_memory;) {
        uint32_t next = pages->other[i], own = pages->other[i - 1];
        struct doppel_page_relief *relief = NULL;
        if (next == no_page || !next || own == no_page || own + 1 == next ||
            !may_be_page(pages, i - 1, next - 1) ||
            doppel_page_relief_make(&pages->query->items[i - 1], &relief))
            continue;
        if (verify_page(pages, relief, next - 1)) {
            pages->taken[own] = false;
            pages->taken[next - 1] = true;
            pages->other[i - 1] = next - 1;
        }
        doppel_page_relief_free(relief);
    }
}

/* ---- what follows each other ---- */

/* Whether a page goes with the page of the other document: as the same, or as both are empty. */
static bool page_goes_on(const struct page_match *pages, size_t query, size_t item)
{
    if (query >= pages->query->count || item >= pages->item->count)
        return false;
    return pages->other[query] == item ||
           (!pages->query->items[query].ink && !pages->item->items[item].ink);
}

static bool describe_segments(const struct page_match *pages, struct doppel_match *out)
{
    ARRAY(struct doppel_segment) segments = {0};
    for (size_t i = 0, done = 0; i < pages->query->count; i++) {
        size_t end = i, item = pages->other[i];
        if (item == no_page)
            continue;
        while (page_goes_on(pages, end, item + end - i))
            end++;
        for (; i > done && item && page_goes_on(pages, i - 1, item - 1); i--)
            item--;
        const struct doppel_segment segment = {
            .speed = 1,
            .a_pages = {(uint32_t)i + 1, (uint32_t)end},
            .b_pages = {(uint32_t)item + 1, (uint32_t)(item + end - i)}};
        if (!array_push(&segments, segment)) {
            array_free(&segments);
            return false;
        }
        done = end;
        i = end - 1;
    }
    out->segments = segments.items;
    out->segment_count = segments.count;
    return true;
}

/* One holds the other where it has nearly all of it, and more. */
static enum doppel_relation relation_of_pages(const struct doppel_match *match,
                                              const struct doppel_text_limits *limits)
{
    bool query = match->query_coverage >= limits->min_containment;
    bool item = match->item_coverage >= limits->min_containment;
    if (query != item)
        return query ? DOPPEL_RELATION_CONTAINED : DOPPEL_RELATION_CONTAINS;
    return match->similarity >= limits->min_similarity ? DOPPEL_RELATION_SAME
                                                       : DOPPEL_RELATION_OVERLAPS;
}

static void describe_pages(const struct page_match *pages, enum doppel_scheme_id scheme,
                           const struct doppel_text_limits *limits, struct doppel_match *out)
{
    double common = (double)pages->common;
    double a = (double)pages->query->telling, b = (double)pages->item->telling;
    *out = (struct doppel_match){.kind = DOPPEL_KIND_TEXT,
                                 .scheme = scheme,
                                 .verified = DOPPEL_VERIFIED_ALIGNMENT,
                                 .similarity = common / (a + b - common),
                                 .false_positive_rate = -1,
                                 .has_coverage = true,
                                 .query_coverage = common / a,
                                 .item_coverage = common / b};
    out->relation = relation_of_pages(out, limits);
}

enum doppel_status drawn_pages_match(const struct doppel_compare_options *compare,
                                     const struct text_view *query, const struct text_view *item,
                                     bool parts, struct doppel_comparison *out)
{
    const struct doppel_text_limits limits = text_limits_from(compare);
    struct drawn_pages a = {0}, b = {0};
    struct page_match pages = {.query = &a, .item = &b};
    struct doppel_match match;
    enum doppel_status status = DOPPEL_OK;
    if (!drawn_pages_read(&query->extra, &a) || !drawn_pages_read(&item->extra, &b))
        TRY(DOPPEL_E_MEMORY);
    if (!a.telling || !b.telling)
        goto done;
    pages.other = malloc(a.count * sizeof *pages.other);
    pages.taken = calloc(b.count, sizeof *pages.taken);
    if (!pages.other || !pages.taken)
        TRY(DOPPEL_E_MEMORY);
    for (size_t i = 0; i < a.count; i++)
        pages.other[i] = no_page;
    pair_all_pages(&pages, &limits, parts);
    join_pages(&pages);
    describe_pages(&pages, query->scheme, &limits, &match);
    bool matches = pages.common && (parts || match.relation != DOPPEL_RELATION_OVERLAPS);
    if (pages.no_memory || (matches && !describe_segments(&pages, &match)))
        TRY(DOPPEL_E_MEMORY);
    out->matches = matches;
    out->match = match;
done:
    drawn_pages_free(&a);
    drawn_pages_free(&b);
    free(pages.other);
    free(pages.taken);
    return status;
}
