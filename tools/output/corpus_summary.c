/* What came of a corpus: how many records, how fast, and from which sources. */
#include "tools/output/corpus_summary.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/text/printable.h"
#include "tools/memory.h"
#include "tools/output/messages.h"

enum { MOST_SOURCES = 1 << 16, SHOWN_SOURCES = 10, JSON_SOURCES = 1000, NAME_COLUMNS = 40 };

void corpus_summary_begin(struct corpus_summary *summary)
{
    *summary = (struct corpus_summary){.begun_ns = monotonic_ns()};
}

/* ---- counting ---- */

static int by_source_name(const void *a, const void *b)
{
    return strcmp(((const struct source_share *)a)->name, ((const struct source_share *)b)->name);
}

/* NULL: there are too many. */
static struct source_share *share_of(struct corpus_summary *summary, const char *name)
{
    if (summary->last && strcmp(summary->last->name, name) == 0)
        return summary->last;
    struct source_share wanted = {.name = (char *)(uintptr_t)name};
    struct source_share **found = tfind(&wanted, &summary->by_name, by_source_name);
    if (found)
        return summary->last = *found;
    if (summary->sources == MOST_SOURCES)
        return NULL;
    struct source_share *share = must_allocate(sizeof *share);
    *share = (struct source_share){.name = must_have(strdup(name))};
    must_have(tsearch(share, &summary->by_name, by_source_name));
    summary->sources++;
    return summary->last = share;
}

void corpus_summary_take(struct corpus_summary *summary,
                         const struct doppel_dedup_decision *decision)
{
    if (!decision->line) /* a file that is not read */
        return;
    struct source_share *share =
        share_of(summary, decision->source ? decision->source : decision->path);
    if (share) {
        share->records++;
        share->unique += decision->unique;
    } else {
        summary->others++;
        summary->others_unique += decision->unique;
    }
}

/* ---- the largest ---- */

struct share_list {
    const struct source_share **items;
    size_t count;
};

static void list_share(const void *node, VISIT visit, void *context)
{
    struct share_list *list = context;
    if (visit == postorder || visit == leaf)
        list->items[list->count++] = *(const struct source_share *const *)node;
}

static int by_records(const void *a, const void *b)
{
    const struct source_share *one = *(const struct source_share *const *)a,
                              *other = *(const struct source_share *const *)b;
    if (one->records != other->records)
        return one->records < other->records ? 1 : -1;
    return strcmp(one->name, other->name);
}

static struct share_list largest_shares(const struct corpus_summary *summary)
{
    struct share_list list = {must_allocate((summary->sources + 1) * sizeof(void *)), 0};
    twalk_r(summary->by_name, list_share, &list);
    qsort(list.items, list.count, sizeof *list.items, by_records);
    return list;
}

/* What is not among the first `shown`. */
static struct source_share rest_of_shares(const struct corpus_summary *summary,
                                          const struct share_list *list, size_t shown)
{
    struct source_share rest = {.records = summary->others, .unique = summary->others_unique};
    for (size_t i = shown; i < list->count; i++) {
        rest.records += list->items[i]->records;
        rest.unique += list->items[i]->unique;
    }
    return rest;
}

/* ---- printing ---- */

static void print_share(FILE *stream, const char *name, const struct source_share *share)
{
    fprintf(stream, "%12llu  %12llu  %5.1f %%  %s\n", (unsigned long long)share->records,
            (unsigned long long)share->unique,
            100.0 * (double)(share->records - share->unique) / (double)share->records, name);
}

static void print_sources(const struct corpus_summary *summary, const struct report *report)
{
    struct share_list list = largest_shares(summary);
    size_t shown = list.count < SHOWN_SOURCES ? list.count : SHOWN_SOURCES;
    struct source_share rest = rest_of_shares(summary, &list, shown);
    fprintf(report->stream, "%12s  %12s  %7s  %s\n", "records", "unique", "dropped",
            "source, or file");
    for (size_t i = 0; i < shown; i++) {
        char *name = must_have(printable(list.items[i]->name, report->terminal));
        print_share(report->stream, name, list.items[i]);
        free(name);
    }
    if (rest.records)
        print_share(report->stream, "(others)", &rest);
    free(list.items);
}

static void print_sentences(const struct corpus_summary *summary,
                            const struct decision_output *output, uint64_t records, double seconds)
{
    char counts[640];
    decision_output_describe(output, counts, sizeof counts);
    report_notice(output->report, "%s; %.1f s, %.0f records/s, %.1f MB/s", counts, seconds,
                  (double)records / seconds, (double)summary->bytes / 1e6 / seconds);
    if (!output->report->quiet && summary->sources > 1)
        print_sources(summary, output->report);
}

static void write_sources(struct doppel_json *json, const struct corpus_summary *summary)
{
    struct share_list list = largest_shares(summary);
    doppel_json_array_begin(json, "sources");
    for (size_t i = 0; i < list.count && i < JSON_SOURCES; i++) {
        doppel_json_object_begin(json, NULL);
        doppel_json_path(json, "source", list.items[i]->name);
        doppel_json_integer(json, "records", list.items[i]->records);
        doppel_json_integer(json, "unique", list.items[i]->unique);
        doppel_json_object_end(json);
    }
    doppel_json_array_end(json);
    free(list.items);
}

static void write_semantic_summary(struct doppel_json *json,
                                   const struct doppel_dedup_semantic_summary *semantic)
{
    const bool given_up = semantic->failure.status != DOPPEL_OK;
    doppel_json_object_begin(json, "semantic");
    doppel_json_integer(json, "embedded", semantic->embedded);
    doppel_json_integer(json, "without_vector", semantic->too_short);
    doppel_json_integer(json, "linked", semantic->linked);
    if (given_up)
        doppel_json_text(json, "failed", semantic->failure.message);
    else if (semantic->min_cosine > 1)
        doppel_json_boolean(json, "too_few", true);
    else if (semantic->embedded)
        doppel_json_number(json, semantic->scored ? "min_score" : "min_cosine",
                           (double)semantic->min_cosine, 4);
    doppel_json_object_end(json);
}

static void print_summary_object(const struct corpus_summary *summary,
                                 const struct decision_output *output, uint64_t records,
                                 double seconds)
{
    struct doppel_json json = {0};
    doppel_json_object_begin(&json, NULL);
    doppel_json_object_begin(&json, "summary");
    doppel_json_integer(&json, "records", records);
    for (int i = 0; i < DECISIONS; i++)
        doppel_json_integer(&json, doppel_decision_name((enum doppel_decision)i),
                            output->counts[i]);
    doppel_json_integer(&json, "unique", output->unique);
    doppel_json_integer(&json, "unread_files", output->unread_inputs);
    doppel_json_integer(&json, "bytes", summary->bytes);
    doppel_json_number(&json, "seconds", seconds, 3);
    doppel_json_number(&json, "records_per_second", (double)records / seconds, 1);
    doppel_json_integer(&json, "bytes_per_second", (uint64_t)((double)summary->bytes / seconds));
    if (summary->semantic)
        write_semantic_summary(&json, summary->semantic);
    write_sources(&json, summary);
    doppel_json_object_end(&json);
    doppel_json_object_end(&json);
    doppel_json_end_line(&json);
    if (json.failed)
        no_memory();
    fwrite(json.bytes, 1, json.size, output->report->stream);
    doppel_json_free(&json);
}

void corpus_summary_print(const struct corpus_summary *summary,
                          const struct decision_output *output)
{
    double seconds = (double)(monotonic_ns() - summary->begun_ns) / 1e9;
    uint64_t records = decision_output_total(output);
    seconds = seconds > 1e-3 ? seconds : 1e-3;
    progress_end(&output->report->progress);
    if (output->report->progress.json)
        print_summary_object(summary, output, records, seconds);
    else
        print_sentences(summary, output, records, seconds);
}

static void free_share(void *node)
{
    struct source_share *share = node;
    free(share->name);
    free(share);
}

void corpus_summary_free(struct corpus_summary *summary)
{
    tdestroy(summary->by_name, free_share);
    summary->by_name = NULL;
}
