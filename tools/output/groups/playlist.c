/* A playlist: spans in, rows out. */
#include "tools/output/groups/playlist.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/item_json.h"
#include "core/array.h"
#include "core/text/printable.h"
#include "tools/args/options.h"
#include "tools/memory.h"

/* Such a break within an item is none, where the item goes on as if it had played. */
static const double BREAK_SECONDS = 10, DRIFT_SECONDS = 1;
/* What goes on after a break is known by then: a monitor tells a start up to 12 seconds late. */
static const double LATE_SECONDS = 25;
/* What is left of a span beside better ones is a row when it is so long, or half of it. */
static const double LEAST_SECONDS = 5;

static const struct column columns[] = {
    {"start_time", "time", CELL_TEXT},
    {"end_time", NULL, CELL_TEXT},
    {"query", NULL, CELL_PATH},
    {"number", "no.", CELL_NUMBER},
    {"gap", NULL, CELL_BOOL},
    {"start", "start", CELL_PLACE},
    {"end", "end", CELL_PLACE},
    {"duration", "duration", CELL_SECONDS},
    {"item_start", "in the item", CELL_PLACE},
    {"id", NULL, CELL_NUMBER},
    {"score", NULL, CELL_NUMBER},
    {"false_positive_rate", NULL, CELL_NUMBER},
    {"artist", "artist", CELL_TEXT},
    {"title", "title", CELL_TEXT},
    {"album", NULL, CELL_TEXT},
    {"name", "name", CELL_TEXT},
    {"path", "path", CELL_PATH},
};

/* The time of day has no columns where it is not known. */
enum { COLUMNS = sizeof columns / sizeof *columns, TIME_COLUMNS = 2 };
static const struct layout timed_layout = {columns, COLUMNS, NULL, NULL, NULL};
static const struct layout layout = {columns + TIME_COLUMNS, COLUMNS - TIME_COLUMNS, NULL, NULL,
                                     NULL};

struct pending_span {
    struct playlist_span span;
    struct playlist_item item; /* its name is given */
    double weight;
    size_t number; /* as it was added */
    bool settled;
};

/* A part of a span that no better one has. */
struct playlist_row {
    double start, end;
    struct pending_span of; /* its name is given */
};

struct playlist {
    const struct settings *settings;
    struct report *report;
    struct output *output;
    const char *query;
    ARRAY(struct pending_span) spans; /* by start, once they are settled */
    ARRAY(struct playlist_row) ready;
    size_t added, rows; /* rows of this query */
    size_t all_rows;
    double all_seconds;
};

struct playlist *playlist_new(const struct settings *settings, struct report *report)
{
    struct playlist *playlist = must_allocate(sizeof *playlist);
    playlist->settings = settings;
    playlist->report = report;
    playlist->output =
        output_new(settings, settings->start_time.given ? &timed_layout : &layout, report);
    return playlist;
}

void playlist_begin(struct playlist *playlist, const char *query)
{
    playlist->query = query;
    playlist->rows = 0;
}

/* ---- in ---- */

static double weigh_span(const struct playlist_span *span)
{
    return fmax(span->score, 1) * (span->end - span->start);
}

/* Whether an item that was heard goes on, as if it had played between. */
static bool goes_on(const struct playlist_span *before, const struct playlist_span *after)
{
    double later = after->start - before->start;
    return before->id == after->id && later >= 0 && after->start - before->end <= BREAK_SECONDS &&
           fabs(before->item_start + later * before->speed - after->item_start) <= DRIFT_SECONDS;
}

/* The last of what can be one with a span; NULL: nothing can. */
static struct pending_span *find_other_part(struct playlist *playlist,
                                            const struct playlist_span *span)
{
    struct pending_span *found = NULL;
    for (size_t i = 0; i < playlist->spans.count; i++) {
        struct pending_span *pending = &playlist->spans.items[i];
        bool later = !found || pending->span.end > found->span.end ||
                     (pending->span.end == found->span.end && pending->number > found->number);
        if (later && !pending->settled &&
            (goes_on(&pending->span, span) || goes_on(span, &pending->span)))
            found = pending;
    }
    return found;
}

static void join_spans(struct pending_span *pending, const struct playlist_span *span)
{
    struct playlist_span *all = &pending->span;
    if (span->start < all->start) {
        all->start = span->start;
        all->item_start = span->item_start;
    }
    all->end = fmax(all->end, span->end);
    all->score = fmax(all->score, span->score);
    all->false_positive_rate = fmin(all->false_positive_rate, span->false_positive_rate);
    pending->weight = weigh_span(all);
}

void playlist_add(struct playlist *playlist, const struct playlist_span *span,
                  const struct playlist_item *item)
{
    if (!(span->end > span->start))
        return;
    struct pending_span *other = find_other_part(playlist, span);
    if (other) {
        join_spans(other, span);
        return;
    }
    struct pending_span pending = {
        .span = *span, .item = *item, .weight = weigh_span(span), .number = playlist->added++};
    pending.item.name = must_copy(item->name);
    if (!array_push(&playlist->spans, pending))
        no_memory();
}

/* ---- the best of what overlaps ---- */

static int compare_span_starts(const void *left, const void *right)
{
    const struct pending_span *a = left, *b = right;
    if (a->span.start != b->span.start)
        return a->span.start < b->span.start ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static int compare_row_starts(const void *left, const void *right)
{
    const struct playlist_row *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->of.number > b->of.number) - (a->of.number < b->of.number);
}

static bool outweighs(const struct pending_span *a, const struct pending_span *b)
{
    return a->weight != b->weight ? a->weight > b->weight : a->number < b->number;
}

static void add_playlist_row(struct playlist *playlist, const struct pending_span *of, double start,
                             double end)
{
    double seconds = end - start, half = (of->span.end - of->span.start) / 2;
    struct playlist_row part = {start, end, *of};
    if (seconds <= 0 || (seconds < LEAST_SECONDS && seconds < half))
        return;
    part.of.item.name = must_copy(of->item.name);
    if (!array_push(&playlist->ready, part))
        no_memory();
}

/* What better ones, in the order in which they start, leave of a span. */
static void cut_span(struct playlist *playlist, const struct pending_span *span)
{
    double at = span->span.start, end = span->span.end;
    for (size_t i = 0; i < playlist->spans.count && at < end; i++) {
        const struct pending_span *other = &playlist->spans.items[i];
        if (other->span.start >= end)
            break;
        if (other == span || other->span.end <= at || !outweighs(other, span))
            continue;
        add_playlist_row(playlist, span, at, fmin(other->span.start, end));
        at = other->span.end;
    }
    add_playlist_row(playlist, span, at, end);
}

/* ---- out ---- */

static void write_times(const struct playlist *playlist, struct doppel_json *row, double start,
                        double end)
{
    const struct start_time *began = &playlist->settings->start_time;
    char time[CLOCK_BYTES];
    doppel_json_number(row, "start", start, 3);
    doppel_json_number(row, "end", end, 3);
    doppel_json_number(row, "duration", end - start, 3);
    if (!began->given)
        return;
    start_time_after(began, start, time);
    doppel_json_text(row, "start_time", time);
    start_time_after(began, end, time);
    doppel_json_text(row, "end_time", time);
}

static void print_playlist_row(struct playlist *playlist, const struct playlist_row *part)
{
    const struct playlist_span *span = &part->of.span;
    struct doppel_json *row = output_begin(playlist->output);
    doppel_json_path(row, "query", playlist->query);
    doppel_json_integer(row, "number", ++playlist->rows);
    write_times(playlist, row, part->start, part->end);
    doppel_json_integer(row, "id", span->id);
    write_item_name(row, part->of.item.has_file, part->of.item.name);
    doppel_json_audio_tags(row, &part->of.item.tags);
    doppel_json_number(row, "item_start",
                       span->item_start + (part->start - span->start) * span->speed, 3);
    doppel_json_number(row, "score", span->score, 2);
    doppel_json_rate(row, "false_positive_rate", span->false_positive_rate);
    output_end(playlist->output);
    playlist->all_rows++;
    playlist->all_seconds += part->end - part->start;
}

void playlist_gap(struct playlist *playlist, double start, double end)
{
    playlist_settle(playlist, INFINITY);
    struct doppel_json *row = output_begin(playlist->output);
    doppel_json_path(row, "query", playlist->query);
    doppel_json_boolean(row, "gap", true);
    write_times(playlist, row, start, end);
    output_end(playlist->output);
    output_flush(playlist->output);
}

/* Whether nothing that comes can change what is left of a span: neither it nor any that overlaps it
 * can go on. */
static bool span_is_settled(const struct playlist *playlist, size_t number, double until)
{
    const struct pending_span *spans = playlist->spans.items;
    double end = spans[number].span.end, last = end;
    for (size_t i = number + 1; i < playlist->spans.count && spans[i].span.start < end; i++)
        last = fmax(last, spans[i].span.end);
    return last + LATE_SECONDS < until;
}

/* Settled spans stay as long as others may overlap them. */
static void drop_settled(struct playlist *playlist, double until)
{
    size_t kept = 0;
    double first = until - LATE_SECONDS;
    for (size_t i = 0; i < playlist->spans.count; i++)
        if (!playlist->spans.items[i].settled)
            first = fmin(first, playlist->spans.items[i].span.start);
    for (size_t i = 0; i < playlist->spans.count; i++) {
        struct pending_span *span = &playlist->spans.items[i];
        if (span->settled && span->span.end <= first)
            free((void *)span->item.name);
        else
            playlist->spans.items[kept++] = *span;
    }
    playlist->spans.count = kept;
}

/* Print the rows that begin up to then. */
static void print_ready(struct playlist *playlist, double until)
{
    size_t count = playlist->ready.count, printed = 0;
    if (!count)
        return;
    qsort(playlist->ready.items, count, sizeof *playlist->ready.items, compare_row_starts);
    for (; printed < count && playlist->ready.items[printed].start <= until; printed++) {
        print_playlist_row(playlist, &playlist->ready.items[printed]);
        free((void *)playlist->ready.items[printed].of.item.name);
    }
    playlist->ready.count -= printed;
    memmove(playlist->ready.items, playlist->ready.items + printed,
            playlist->ready.count * sizeof *playlist->ready.items);
    if (printed && isfinite(until))
        output_flush(playlist->output);
}

void playlist_settle(struct playlist *playlist, double until)
{
    size_t count = playlist->spans.count;
    double unsettled = INFINITY; /* rows come in order */
    if (!count)
        return;
    qsort(playlist->spans.items, count, sizeof *playlist->spans.items, compare_span_starts);
    for (size_t i = 0; i < count; i++) {
        struct pending_span *span = &playlist->spans.items[i];
        if (span->settled)
            continue;
        if (!span_is_settled(playlist, i, until)) {
            unsettled = span->span.start;
            break;
        }
        cut_span(playlist, span);
        span->settled = true;
    }
    print_ready(playlist, fmin(unsettled, until));
    drop_settled(playlist, until);
}

/* For people: what it all comes to. */
static void report_total(const struct playlist *playlist)
{
    char clock[32];
    human_clock(playlist->all_seconds, 0, clock, sizeof clock);
    if (playlist->all_rows && playlist->settings->format == FORMAT_TABLE)
        report_notice(playlist->report, "%zu row%s, %s in all", playlist->all_rows,
                      playlist->all_rows == 1 ? "" : "s", clock);
}

bool playlist_finish(struct playlist *playlist)
{
    playlist_settle(playlist, INFINITY);
    array_free(&playlist->spans);
    array_free(&playlist->ready);
    bool written = output_finish(playlist->output);
    report_total(playlist);
    free(playlist);
    return written;
}
