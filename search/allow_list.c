/* Which matches of a query allow-listed items explain: spans of the query, merged and compared. */
#include "search/allow_list.h"

#include <stdlib.h>

#include "core/array.h"

static const double EXPLAINED_SHARE = 0.8;

struct query_span {
    double start, end;
};

struct query_spans {
    ARRAY(struct query_span) items;
};

static int by_span_start(const void *left, const void *right)
{
    const struct query_span *a = left, *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

/* Sorted, and those that touch made one. */
static void merge_spans(struct query_spans *spans)
{
    size_t kept = 0;
    if (spans->items.count)
        qsort(spans->items.items, spans->items.count, sizeof *spans->items.items, by_span_start);
    for (size_t i = 0; i < spans->items.count; i++) {
        struct query_span *last = kept ? &spans->items.items[kept - 1] : NULL;
        const struct query_span *next = &spans->items.items[i];
        if (!last || next->start > last->end)
            spans->items.items[kept++] = *next;
        else if (next->end > last->end)
            last->end = next->end;
    }
    spans->items.count = kept;
}

static bool take_segments(struct query_spans *spans, const struct listed_match *match)
{
    for (size_t i = 0; i < match->segment_count; i++) {
        const struct doppel_segment *segment = &match->segments[i];
        if (segment->a_end > segment->a_start &&
            !array_push(&spans->items, ((struct query_span){segment->a_start, segment->a_end})))
            return false;
    }
    return true;
}

static double length_of(const struct query_spans *spans)
{
    double length = 0;
    for (size_t i = 0; i < spans->items.count; i++)
        length += spans->items.items[i].end - spans->items.items[i].start;
    return length;
}

/* How much of one the other has, too; both are merged. */
static double length_of_common(const struct query_spans *a, const struct query_spans *b)
{
    double length = 0;
    for (size_t i = 0, j = 0; i < a->items.count && j < b->items.count;) {
        const struct query_span *x = &a->items.items[i], *y = &b->items.items[j];
        double start = x->start > y->start ? x->start : y->start;
        double end = x->end < y->end ? x->end : y->end;
        length += end > start ? end - start : 0;
        if (x->end < y->end)
            i++;
        else
            j++;
    }
    return length;
}

/* @return false without memory */
static bool check_explained(const struct listed_match *match, const struct query_spans *benign,
                            bool *out_explained)
{
    struct query_spans own = {0};
    bool done = take_segments(&own, match);
    merge_spans(&own);
    double length = length_of(&own);
    *out_explained = length > 0 && length_of_common(&own, benign) >= EXPLAINED_SHARE * length;
    array_free(&own.items);
    return done;
}

/* Mark those that the spans, or an item that matches as a whole, explain. */
static bool mark_explained(struct listed_match *matches, size_t count,
                           const struct query_spans *benign, uint64_t whole, uint64_t part)
{
    for (size_t i = 0; i < count && (whole || part); i++) {
        bool explained = false;
        if (matches[i].state != DOPPEL_LIST_ACTIVE)
            continue;
        if (!whole && !check_explained(&matches[i], benign, &explained))
            return false;
        matches[i].suppressed_by = whole ? whole : explained ? part : 0;
    }
    return true;
}

enum doppel_status allow_list_apply(struct listed_match *matches, size_t count,
                                    struct doppel_error *error)
{
    uint64_t whole = 0, part = 0;
    struct query_spans benign = {0};
    bool done = true;
    for (size_t i = 0; i < count && done; i++) {
        matches[i].suppressed_by = 0;
        if (matches[i].state != DOPPEL_LIST_BENIGN)
            continue;
        if (matches[i].segment_count == 0)
            whole = whole ? whole : matches[i].id;
        else
            part = part ? part : matches[i].id;
        done = take_segments(&benign, &matches[i]);
    }
    merge_spans(&benign);
    done = done && mark_explained(matches, count, &benign, whole, part);
    array_free(&benign.items);
    return done ? DOPPEL_OK
                : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for what is allow-listed");
}
