/* What was found, as rows. */
#include "tools/output/matches.h"

#include <math.h>
#include <stdlib.h>

#include "tools/args/engine_options.h"
#include "tools/memory.h"
#include "tools/output/rows/segment_rows.h"

static const struct column columns[] = {
    {"query", "query", CELL_PATH},
    {"id", "id", CELL_NUMBER},
    {"match", NULL, CELL_BOOL},
    {"near_miss", "below threshold", CELL_BOOL},
    MATCH_COLUMNS,
    PLACE_COLUMNS,
    {"cosine", "cosine", CELL_NUMBER},
    {"tier", "tier", CELL_TEXT},
    {"record", "record", CELL_TEXT},
    {"lacks", "lacks", CELL_TEXT},
    {"labels", "labels", CELL_TEXT},
    {"lists", "lists", CELL_TEXT},
    {"list_state", "state", CELL_TEXT},
    {"suppressed_by", "explained by", CELL_NUMBER},
    {"artist", "artist", CELL_TEXT},
    {"title", "title", CELL_TEXT},
    {"album", NULL, CELL_TEXT},
    {"name", "name", CELL_TEXT},
    {"path", "path", CELL_PATH},
};

static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, "path", NULL};

struct output *find_print_output(const struct settings *settings, struct report *report)
{
    return output_new(settings, &layout, report);
}

/* One query's rows. */
struct match_printing {
    struct find_print *print;
    const char *query;
    const struct doppel_search_result *result; /* the one at hand */
    const struct doppel_search_results *results;
    struct place_rows *rows;
    struct doppel_json row;
    bool matched;
};

static struct doppel_json *begin_match(struct match_printing *printing)
{
    doppel_json_clear(&printing->row);
    doppel_json_object_begin(&printing->row, NULL);
    doppel_json_path(&printing->row, "query", printing->query);
    return &printing->row;
}

static void end_match(struct match_printing *printing)
{
    struct doppel_json *row = &printing->row;
    doppel_not_compared_to_json(row, printing->results->not_compared);
    doppel_unreadable_to_json(row, &printing->results->unreadable);
    doppel_json_object_end(row);
    place_rows_add(printing->rows, row);
}

/* What another process removed meanwhile is left out. */
static enum doppel_status print_one(struct match_printing *printing, struct doppel_error *error)
{
    const struct find_print *print = printing->print;
    const struct doppel_search_result *result = printing->result;
    const struct doppel_compare_options options = compare_options_from(print->settings);
    enum doppel_status status = doppel_search_result_to_json(begin_match(printing), print->library,
                                                             &options, result, error);
    if (status)
        return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
    end_match(printing);
    printing->matched |= !result->below_threshold && !result->suppressed_by;
    return DOPPEL_OK;
}

/* The places of a recording, of which the playlist makes rows. */
static enum doppel_status add_found_places(struct match_printing *printing,
                                           struct doppel_error *error)
{
    struct find_print *print = printing->print;
    const struct doppel_match *match = &printing->result->comparison.match;
    struct doppel_item item;
    enum doppel_status status =
        doppel_library_get(print->library, printing->result->id, false, &item, error);
    if (status)
        return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
    char *name = must_have(doppel_library_item_name(print->library, &item));
    const struct playlist_item named = {name, doppel_item_has_file(&item), item.tags};
    for (size_t i = 0; i < match->segment_count; i++) {
        const struct doppel_segment *segment = &match->segments[i];
        const struct playlist_span span = {.start = segment->a_start,
                                           .end = segment->a_end,
                                           .item_start = segment->b_start,
                                           .speed = segment->speed > 0 ? segment->speed : 1,
                                           .score = match->score,
                                           .false_positive_rate = match->false_positive_rate,
                                           .id = item.id};
        playlist_add(print->playlist, &span, &named);
    }
    printing->matched |= match->segment_count > 0;
    free(name);
    doppel_item_free(&item);
    return DOPPEL_OK;
}

/* Whether a result is to be printed. */
static bool match_is_wanted(const struct match_printing *printing)
{
    struct find_print *print = printing->print;
    const struct doppel_search_result *result = printing->result;
    if (!doppel_item_set_has(&print->wanted, result->id) || result->state == DOPPEL_LIST_DISABLED)
        return false;
    print->suppressed += result->suppressed_by != 0;
    if (result->below_threshold && (print->settings->null_separated || print->playlist))
        return false; /* paths are of what matches */
    return !result->suppressed_by || print->settings->include_allowed;
}

/* Texts that mean the same, but those that were found by their words. */
static void print_semantic(struct match_printing *printing)
{
    const struct find_print *print = printing->print;
    const struct doppel_semantic_results *semantic = print->semantic;
    for (size_t i = 0; semantic && i < semantic->count; i++) {
        struct doppel_semantic_link link = semantic->links[i];
        if (!doppel_item_set_has(&print->wanted, link.of_item) ||
            doppel_search_results_find(printing->results, link.of_item))
            continue;
        if (print->settings->format != FORMAT_JSON)
            link.segment_count = 0; /* in a table these are times */
        doppel_semantic_result_to_json(begin_match(printing), &link);
        end_match(printing);
        printing->matched = true;
    }
}

/* In a table, a query without a match is no row: the exit code tells. */
static void print_no_match(struct match_printing *printing)
{
    if (printing->print->settings->format != FORMAT_JSON)
        return;
    struct doppel_json *json = begin_match(printing);
    doppel_json_boolean(json, "match", false);
    if (printing->results->obstacle)
        doppel_json_text(json, "reason", printing->results->obstacle);
    end_match(printing);
}

/* What is wanted of the results. */
static enum doppel_status print_results(struct match_printing *printing,
                                        const struct doppel_search_results *results,
                                        struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < results->count && !status; i++) {
        printing->result = &results->items[i];
        if (match_is_wanted(printing))
            status = printing->print->playlist ? add_found_places(printing, error)
                                               : print_one(printing, error);
    }
    return status;
}

enum doppel_status find_print(struct find_print *print, const char *query,
                              struct doppel_search_results *results, struct doppel_error *error)
{
    struct place_rows rows;
    struct match_printing printing = {
        .print = print, .query = query, .results = results, .rows = &rows};
    enum doppel_status status = doppel_search_results_apply_lists(results, print->library, error);
    place_rows_begin(&rows, print->settings, print->output);
    if (print->playlist)
        playlist_begin(print->playlist, query);
    if (!status)
        status = print_results(&printing, results, error);
    if (!status && !print->playlist)
        print_semantic(&printing);
    if (print->playlist)
        playlist_settle(print->playlist, INFINITY);
    else if (!status && !printing.matched)
        print_no_match(&printing);
    place_rows_end(&rows);
    doppel_json_free(&printing.row);
    print->matched |= printing.matched;
    return status;
}
