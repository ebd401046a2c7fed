/* Pairs of frames to spans: those of two videos by the difference of times that most agree on. */
#include "local/shown.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/try.h"

enum {
    BRIDGED_MS = 2000,   /* so long nothing may be met within a span */
    UNCERTAIN_MS = 4000, /* times that differ by more fit as well */
    MOST_SPANS = 256,
};

/* The times of a pair, and the differences, the item's time less the query's, at which the two
 * frames are shown at once. */
struct timed_pair {
    struct doppel_local_span span;
    int64_t from_ms, to_ms;
    uint32_t query;
    double weight;
    bool done;
};

typedef ARRAY(struct doppel_local_span) span_array;

/* ---- merging ---- */

static int compare_spans(const void *left, const void *right)
{
    const struct doppel_local_span *a = left, *b = right;
    if (a->query_from_ms != b->query_from_ms)
        return a->query_from_ms < b->query_from_ms ? -1 : 1;
    if (a->item_from_ms != b->item_from_ms)
        return a->item_from_ms < b->item_from_ms ? -1 : 1;
    if (a->query_to_ms != b->query_to_ms)
        return a->query_to_ms < b->query_to_ms ? -1 : 1;
    return (a->item_to_ms > b->item_to_ms) - (a->item_to_ms < b->item_to_ms);
}

static bool span_follows(uint32_t from_ms, uint32_t to_ms)
{
    return from_ms <= (uint64_t)to_ms + BRIDGED_MS;
}

static uint32_t later_ms(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Spans from `first` on, in the same difference of times or beside a picture, become as few as
 * they are. */
static void merge_shown_spans(span_array *spans, size_t first)
{
    size_t count = first;
    if (spans->count - first > 1)
        qsort(spans->items + first, spans->count - first, sizeof *spans->items, compare_spans);
    for (size_t i = first; i < spans->count; i++) {
        const struct doppel_local_span *next = &spans->items[i];
        struct doppel_local_span *last = count > first ? &spans->items[count - 1] : NULL;
        if (last && span_follows(next->query_from_ms, last->query_to_ms) &&
            span_follows(next->item_from_ms, last->item_to_ms)) {
            last->query_to_ms = later_ms(last->query_to_ms, next->query_to_ms);
            last->item_to_ms = later_ms(last->item_to_ms, next->item_to_ms);
        } else {
            spans->items[count++] = *next;
        }
    }
    spans->count = count;
}

/* ---- two videos ---- */

/* An end of the differences of a pair. */
struct difference_end {
    int64_t at_ms;
    bool is_begin;
    double weight;
};

/* Ends come after begins: where one ends and another begins, both are. */
static int compare_ends(const void *left, const void *right)
{
    const struct difference_end *a = left, *b = right;
    if (a->at_ms != b->at_ms)
        return a->at_ms < b->at_ms ? -1 : 1;
    if (a->is_begin != b->is_begin)
        return a->is_begin ? -1 : 1;
    return (a->weight > b->weight) - (a->weight < b->weight);
}

struct difference {
    int64_t from_ms, to_ms;
};

/* The difference that the pairs which are not done agree on by most weight. @param ends room for
 * two of each. False: all are done */
static bool find_time_difference(const struct timed_pair *pairs, size_t count,
                                 struct difference_end *ends, struct difference *out)
{
    size_t end_count = 0;
    double sum = 0, best = 0;
    for (size_t i = 0; i < count; i++) {
        if (pairs[i].done)
            continue;
        ends[end_count++] = (struct difference_end){pairs[i].from_ms, true, pairs[i].weight};
        ends[end_count++] = (struct difference_end){pairs[i].to_ms, false, pairs[i].weight};
    }
    if (!end_count)
        return false;
    qsort(ends, end_count, sizeof *ends, compare_ends);
    for (size_t i = 0; i < end_count; i++) {
        sum += ends[i].is_begin ? ends[i].weight : -ends[i].weight;
        if (ends[i].is_begin && sum > best) {
            best = sum;
            *out = (struct difference){ends[i].at_ms, ends[i + 1].at_ms};
        }
    }
    return true;
}

static uint32_t clamp_ms(int64_t at_ms, uint32_t from_ms, uint32_t to_ms)
{
    return at_ms < from_ms ? from_ms : at_ms > to_ms ? to_ms : (uint32_t)at_ms;
}

/* Of a pair, what both show at once. */
static struct doppel_local_span common_span(const struct doppel_local_span *of, int64_t difference)
{
    struct doppel_local_span span;
    span.query_from_ms =
        clamp_ms(of->item_from_ms - difference, of->query_from_ms, of->query_to_ms);
    span.query_to_ms = clamp_ms(of->item_to_ms - difference, of->query_from_ms, of->query_to_ms);
    span.item_from_ms = clamp_ms(span.query_from_ms + difference, of->item_from_ms, of->item_to_ms);
    span.item_to_ms = clamp_ms(span.query_to_ms + difference, of->item_from_ms, of->item_to_ms);
    return span;
}

/* The pairs that agree become spans. What was met of a frame of the query is not told twice. */
static bool take_time_difference(struct timed_pair *pairs, size_t count,
                                 const struct difference *difference, uint8_t *seen,
                                 span_array *out)
{
    const int64_t middle = difference->from_ms + (difference->to_ms - difference->from_ms) / 2;
    const size_t first = out->count;
    for (size_t i = 0; i < count; i++) {
        if (pairs[i].done || pairs[i].from_ms > middle || pairs[i].to_ms < middle)
            continue;
        seen[pairs[i].query] = true;
        const struct doppel_local_span span = common_span(&pairs[i].span, middle);
        if (!array_push(out, span))
            return false;
    }
    for (size_t i = 0; i < count; i++)
        pairs[i].done |= seen[pairs[i].query];
    merge_shown_spans(out, first);
    return true;
}

static bool spans_of_videos(struct timed_pair *pairs, size_t count,
                            struct doppel_local_verdict *verdict, span_array *out)
{
    uint32_t last = 0;
    for (size_t i = 0; i < count; i++)
        last = later_ms(last, pairs[i].query);
    struct difference_end *ends = malloc((2 * count + 1) * sizeof *ends);
    uint8_t *seen = calloc((size_t)last + 1, 1);
    struct difference difference = {0};
    bool done = ends && seen;
    for (bool is_first = true; done && out->count < MOST_SPANS; is_first = false) {
        if (!find_time_difference(pairs, count, ends, &difference))
            break;
        if (is_first)
            verdict->time_uncertain = difference.to_ms - difference.from_ms > UNCERTAIN_MS;
        done = take_time_difference(pairs, count, &difference, seen, out);
    }
    free(ends);
    free(seen);
    return done;
}

/* ---- all ---- */

static struct timed_pair time_pair(const struct shown_pair *pair)
{
    const struct doppel_local_span *span = &pair->span;
    return (struct timed_pair){.span = *span,
                               .from_ms = (int64_t)span->item_from_ms - span->query_to_ms,
                               .to_ms = (int64_t)span->item_to_ms - span->query_from_ms,
                               .query = pair->query,
                               .weight = pair->found.surprise};
}

static bool is_of_picture(const struct doppel_local_span *span)
{
    return !span->query_to_ms || !span->item_to_ms;
}

/* @param timed room for as many as there are pairs */
static bool make_spans(const struct shown_pair *pairs, size_t count, double most,
                       struct timed_pair *timed, struct doppel_local_verdict *verdict,
                       span_array *out)
{
    size_t taken = 0;
    bool done = true;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || verify_rate(pairs[i].found.surprise) * pairs[i].frames <= most)
            timed[taken++] = time_pair(&pairs[i]);
    if (!is_of_picture(&pairs->span)) {
        done = spans_of_videos(timed, taken, verdict, out);
    } else if (pairs->span.query_to_ms || pairs->span.item_to_ms) {
        for (size_t i = 0; i < taken && done; i++)
            done = array_push(out, timed[i].span);
        merge_shown_spans(out, 0);
    }
    if (out->count > 1)
        qsort(out->items, out->count, sizeof *out->items, compare_spans);
    return done;
}

enum doppel_status shown_spans(const struct shown_pair *pairs, size_t count, double most,
                               struct doppel_local_verdict *verdict, struct doppel_local_span **out,
                               struct doppel_error *error)
{
    struct timed_pair *timed = malloc(count * sizeof *timed);
    span_array spans = {0};
    const bool done = timed && make_spans(pairs, count, most, timed, verdict, &spans);
    free(timed);
    if (!done) {
        array_free(&spans);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the times of a video");
    }
    verdict->spans = *out = spans.items;
    verdict->span_count = spans.count;
    return DOPPEL_OK;
}
