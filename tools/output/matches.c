/* What was found, as rows. */
#include "tools/output/matches.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/args/engine_options.h"
#include "tools/output/item_row.h"
#include "tools/output/item_name.h"
#include "tools/output/segment_rows.h"

static const struct column columns[] = {
    {"query", "query", CELL_PATH},
    {"id", "id", CELL_NUMBER},
    {"match", NULL, CELL_BOOL},
    {"near_miss", "below threshold", CELL_BOOL},
    MATCH_COLUMNS,
    PLACE_COLUMNS,
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

/* What a match below the threshold would have needed. */
static void write_lack(struct doppel_json *row, const struct settings *settings,
                       const struct doppel_match *match)
{
    const struct doppel_compare_options compare = compare_options_from(settings);
    double limit =
        doppel_compare_thresholds(&compare, DOPPEL_SCHEME_PEAKS32).max_false_positive_rate;
    char text[128];
    doppel_json_boolean(row, "match", false);
    doppel_json_boolean(row, "near_miss", true);
    doppel_json_object_begin(row, "limit");
    doppel_json_rate(row, "max_false_positive_rate", limit);
    doppel_json_object_end(row);
    snprintf(text, sizeof text, "a rate of false positives of %.2g or less; its is %.2g", limit,
             match->false_positive_rate);
    doppel_json_text(row, "lacks", text);
}

/* It may be gone by now. */
static void write_item_lists(struct doppel_json *row, struct doppel_library *library, uint64_t id)
{
    struct doppel_metadata metadata;
    if (doppel_library_get_metadata(library, id, &metadata, NULL))
        return;
    write_memberships(row, &metadata);
    doppel_metadata_free(&metadata);
}

static struct doppel_json *begin_match(struct match_printing *printing, uint64_t id)
{
    doppel_json_clear(&printing->row);
    doppel_json_object_begin(&printing->row, NULL);
    doppel_json_path(&printing->row, "query", printing->query);
    if (id)
        doppel_json_integer(&printing->row, "id", id);
    return &printing->row;
}

/* What it is called stands in the row already. */
static void end_match(struct match_printing *printing, uint64_t id)
{
    const struct doppel_search_result *result = printing->result;
    struct doppel_json *row = &printing->row;
    write_item_lists(row, printing->print->library, id);
    if (result->suppressed_by)
        doppel_json_integer(row, "suppressed_by", result->suppressed_by);
    if (result->below_threshold)
        write_lack(row, printing->print->settings, &result->comparison.match);
    doppel_match_to_json(row, &result->comparison.match);
    doppel_evidence_to_json(row, &result->comparison);
    doppel_not_compared_to_json(row, printing->results->not_compared);
    doppel_unreadable_to_json(row, &printing->results->unreadable);
    doppel_json_object_end(row);
    place_rows_add(printing->rows, row);
    printing->matched |= !result->below_threshold && !result->suppressed_by;
}

static bool print_record(void *context, const struct doppel_library_text *text)
{
    struct match_printing *printing = context;
    if (text->error.status)
        return true;
    struct doppel_json *row = begin_match(printing, text->id);
    if (text->path)
        doppel_json_path(row, "path", text->path);
    doppel_json_text(row, "record", text->record_id);
    end_match(printing, text->id);
    return true;
}

/* What another process removed meanwhile is left out. */
static enum doppel_status print_one(struct match_printing *printing, struct doppel_error *error)
{
    struct doppel_library *library = printing->print->library;
    uint64_t id = printing->result->id;
    struct doppel_item item;
    enum doppel_status status = doppel_library_get(library, id, false, &item, error);
    if (status == DOPPEL_E_NOT_FOUND) {
        const struct doppel_text_query one = {.first = id, .last = id};
        return doppel_library_each_text(library, &one, print_record, printing, error);
    }
    if (status)
        return status;
    char *name = name_of_item(library, &item);
    write_item_name(begin_match(printing, id), doppel_item_has_file(&item), name);
    doppel_json_audio_tags(&printing->row, &item.tags);
    end_match(printing, id);
    free(name);
    doppel_item_free(&item);
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
    char *name = name_of_item(print->library, &item);
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

/* In a table, a query without a match is no row: the exit code tells. */
static void print_no_match(struct match_printing *printing)
{
    if (printing->print->settings->format != FORMAT_JSON)
        return;
    struct doppel_json *row = begin_match(printing, 0);
    doppel_json_boolean(row, "match", false);
    doppel_not_compared_to_json(row, printing->results->not_compared);
    doppel_unreadable_to_json(row, &printing->results->unreadable);
    doppel_json_object_end(row);
    place_rows_add(printing->rows, row);
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
    if (print->playlist)
        playlist_settle(print->playlist, INFINITY);
    else if (!status && !printing.matched)
        print_no_match(&printing);
    place_rows_end(&rows);
    doppel_json_free(&printing.row);
    print->matched |= printing.matched;
    return status;
}
