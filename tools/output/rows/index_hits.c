/* Hits of an index on stdout: JSON Lines by the million, else through the usual output. */
#include "tools/output/rows/index_hits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/args/options.h"
#include "tools/output/output.h"
#include "tools/output/messages.h"
#include "tools/output/write_stdout.h"
#include "tools/signals.h"

enum { BUFFER_BYTES = 64 * 1024, LONGEST_LINE = 128 };

struct hit_rows {
    const struct settings *settings;
    struct report *report;
    struct output *output; /* NULL: JSON Lines */
    char *buffer;
    size_t used, batch;
    uint64_t query, end; /* --count: the query whose hits are counted, and the batch's end */
    uint64_t count;
    int failed; /* errno */
};

static const struct column hit_columns[] = {
    {"query", "query", CELL_NUMBER},
    {"id", "id", CELL_NUMBER},
    {"distance", "distance", CELL_NUMBER},
};
static const struct layout hit_layout = {hit_columns, 3, NULL, NULL, NULL};

static const struct column count_columns[] = {
    {"query", "query", CELL_NUMBER},
    {"hits", "hits", CELL_NUMBER},
};
static const struct layout count_layout = {count_columns, 2, NULL, NULL, NULL};

struct hit_rows *hits_new(const struct settings *settings, struct report *report)
{
    struct hit_rows *hits = must_allocate(sizeof *hits);
    *hits = (struct hit_rows){.settings = settings, .report = report};
    if (wants_json_lines(settings))
        hits->buffer = must_allocate(BUFFER_BYTES);
    else
        hits->output = output_new(settings, settings->count ? &count_layout : &hit_layout, report);
    return hits;
}

/* ---- JSON Lines ---- */

static bool flush(struct hit_rows *hits)
{
    if (!hits->failed)
        hits->failed = write_stdout(hits->buffer, hits->used);
    hits->used = 0;
    return !hits->failed;
}

static char *put(char *out, const char *text, size_t length)
{
    memcpy(out, text, length);
    return out + length;
}

static char *put_decimal(char *out, uint64_t value)
{
    char digits[20];
    size_t count = 0;
    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    while (count)
        *out++ = digits[--count];
    return out;
}

#define PUT(out, literal) put(out, literal, sizeof literal - 1)

static bool print_json(struct hit_rows *hits, uint64_t query, uint64_t id, uint32_t distance)
{
    if (BUFFER_BYTES - hits->used < LONGEST_LINE && !flush(hits))
        return false;
    char *out = hits->buffer + hits->used;
    out = put_decimal(PUT(out, "{\"query\":"), query);
    out = put_decimal(PUT(out, ",\"id\":"), id);
    out = put_decimal(PUT(out, ",\"distance\":"), distance);
    out = PUT(out, "}\n");
    hits->used = (size_t)(out - hits->buffer);
    return true;
}

static bool print_json_count(struct hit_rows *hits, uint64_t query, uint64_t count)
{
    if (BUFFER_BYTES - hits->used < LONGEST_LINE && !flush(hits))
        return false;
    char *out = hits->buffer + hits->used;
    out = put_decimal(PUT(out, "{\"query\":"), query);
    out = put_decimal(PUT(out, ",\"hits\":"), count);
    out = PUT(out, "}\n");
    hits->used = (size_t)(out - hits->buffer);
    return true;
}

/* ---- rows ---- */

static bool print_row(struct hit_rows *hits, uint64_t query, uint64_t id, uint32_t distance)
{
    struct doppel_json *row = output_begin(hits->output);
    doppel_json_integer(row, "query", query);
    doppel_json_integer(row, "id", id);
    doppel_json_integer(row, "distance", distance);
    output_end(hits->output);
    return !signals_stopped();
}

static bool print_count_row(struct hit_rows *hits, uint64_t query, uint64_t count)
{
    struct doppel_json *row = output_begin(hits->output);
    doppel_json_integer(row, "query", query);
    doppel_json_integer(row, "hits", count);
    output_end(hits->output);
    return !signals_stopped();
}

/* ---- a batch ---- */

void hits_begin(struct hit_rows *hits, uint64_t first, size_t count)
{
    hits->batch = 0;
    hits->query = first;
    hits->end = first + count;
    hits->count = 0;
}

/* The counts of the queries before this one. */
static bool count_up_to(struct hit_rows *hits, uint64_t query)
{
    for (; hits->query < query; hits->query++, hits->count = 0)
        if (!(hits->output ? print_count_row : print_json_count)(hits, hits->query, hits->count))
            return false;
    return true;
}

bool hits_add(struct hit_rows *hits, uint64_t query, uint64_t id, uint32_t distance)
{
    hits->batch++;
    if (hits->settings->count) {
        bool wanted = count_up_to(hits, query);
        hits->count++;
        return wanted;
    }
    return hits->output ? print_row(hits, query, id, distance)
                        : print_json(hits, query, id, distance);
}

bool hits_end(struct hit_rows *hits)
{
    if (hits->settings->count && !count_up_to(hits, hits->end))
        return false;
    return hits->output || flush(hits);
}

size_t hits_of_batch(const struct hit_rows *hits)
{
    return hits->batch;
}

bool hits_finish(struct hit_rows *hits)
{
    bool written = true;
    if (hits->output) {
        written = output_finish(hits->output);
    } else {
        written = flush(hits);
        if (hits->failed && hits->failed != EPIPE)
            report_fatal(hits->report, "standard output: %s", strerror(hits->failed));
    }
    free(hits->buffer);
    free(hits);
    return written;
}
