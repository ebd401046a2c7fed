/* Texts that mean the same, as rows below the groups. */
#include "tools/output/rows/semantic_rows.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tools/memory.h"
#include "tools/output/messages.h"
#include "tools/output/output.h"

/* Of a row for people. */
static const struct column columns[] = {
    {"tier", "tier", CELL_TEXT},
    {"cosine", "cosine", CELL_NUMBER},
    {"false_positive_rate", "FP rate", CELL_NUMBER},
    {"extent", "extent", CELL_TEXT},
    {"id", "id", CELL_NUMBER},
    {"text", "text", CELL_PATH},
    {"of_id", "of id", CELL_NUMBER},
    {"of_text", "means the same as", CELL_PATH},
};

static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

static void begin_semantic_rows(struct semantic_rows *rows)
{
    if (rows->output)
        return;
    rows->output = output_new(rows->settings, &layout, rows->report);
    output_line(rows->output,
                "\nTexts that mean the same in other words; nothing is done about them:");
}

/* ---- for people ---- */

void semantic_rows_name(struct doppel_json *json, const char *key, const char *name, uint64_t group)
{
    char *with_group = NULL;
    if (group && asprintf(&with_group, "%s (in group %" PRIu64 ")", name, group) < 0)
        no_memory();
    doppel_json_path(json, key, with_group ? with_group : name);
    free(with_group);
}

static void write_linked_name(struct doppel_json *json, const char *key,
                              const struct doppel_name *name, uint64_t group)
{
    semantic_rows_name(json, key,
                       name->record_id ? name->record_id
                       : name->path    ? name->path
                                       : "",
                       group);
}

/* The fields of a link, and both texts by one name. */
static void write_for_people(struct doppel_json *json, const struct doppel_semantic_pair *pair)
{
    const struct doppel_name of = {.path = (char *)pair->link.of_path,
                                   .record_id = (char *)pair->link.of};
    struct doppel_semantic_link link = pair->link;
    link.segment_count = 0;
    doppel_json_object_begin(json, NULL);
    if (pair->item)
        doppel_json_integer(json, "id", pair->item);
    write_linked_name(json, "text", pair->name, pair->group);
    if (link.of_item)
        doppel_json_integer(json, "of_id", link.of_item);
    write_linked_name(json, "of_text", &of, pair->of_group);
    doppel_semantic_link_to_json(json, &link);
    doppel_json_object_end(json);
}

/* ---- rows ---- */

enum doppel_status semantic_rows_print(void *context, const struct doppel_semantic_pair *pair,
                                       struct doppel_error *error)
{
    struct semantic_rows *rows = context;
    doppel_json_clear(&rows->row);
    if (rows->settings->format == FORMAT_JSON)
        doppel_semantic_pair_to_json(&rows->row, pair);
    else
        write_for_people(&rows->row, pair);
    enum doppel_status status = doppel_json_status(&rows->row, error);
    if (!status)
        semantic_rows_put(rows);
    return status;
}

void semantic_rows_put(struct semantic_rows *rows)
{
    begin_semantic_rows(rows);
    output_object(rows->output, &rows->row);
}

bool semantic_rows_finish(struct semantic_rows *rows)
{
    bool written = !rows->output || output_finish(rows->output);
    rows->output = NULL;
    doppel_json_free(&rows->row);
    rows->row = (struct doppel_json){0};
    return written;
}

void semantic_rows_sum_up(struct report *report,
                          const struct doppel_semantic_links_summary *summary, uint64_t repeated)
{
    char more[80] = "";
    if (repeated)
        snprintf(more, sizeof more, " %" PRIu64 " more needed not be embedded;", repeated);
    report_notice(report,
                  "semantic: %" PRIu64 " text%s vectors, of %" PRIu64 " passage%s;%s %" PRIu64
                  " %s like an earlier one, at a %s of %.3f or more",
                  summary->texts, summary->texts == 1 ? " has" : "s have", summary->vectors,
                  summary->vectors == 1 ? "" : "s", more, summary->linked,
                  summary->linked == 1 ? "is" : "are", summary->scored ? "score" : "cosine",
                  (double)summary->min_cosine);
}

const char *semantic_cosine_advice(bool scores)
{
    return scores ? "" : "--min-cosine, or ";
}
