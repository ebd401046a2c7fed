/* What was found, as rows. */
#include "tools/output/matches.h"

#include <stdio.h>
#include <stdlib.h>

#include "tools/args/engine_options.h"
#include "tools/output/item_row.h"
#include "tools/output/item_name.h"
#include "tools/memory.h"
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
    struct place_rows *rows;
    bool matched;
};

/* What a match below the threshold would have needed. */
static void put_lack(json_t *row, const struct settings *settings, const struct doppel_match *match)
{
    const struct doppel_compare_options compare = compare_options_from(settings);
    double limit =
        doppel_compare_thresholds(&compare, DOPPEL_SCHEME_PEAKS32).max_false_positive_rate;
    json_t *limits = json_object();
    char text[128];
    put_bool(row, "match", false);
    put_bool(row, "near_miss", true);
    put_rate(limits, "max_false_positive_rate", limit);
    put_value(row, "limit", limits);
    snprintf(text, sizeof text, "a rate of false positives of %.2g or less; its is %.2g", limit,
             match->false_positive_rate);
    put_text(row, "lacks", text);
}

/* It may be gone by now. */
static void put_memberships(json_t *row, struct doppel_library *library, uint64_t id)
{
    struct doppel_metadata metadata;
    struct doppel_json written = {0};
    if (doppel_library_get_metadata(library, id, &metadata, NULL))
        return;
    doppel_json_object_begin(&written, NULL);
    write_memberships(&written, &metadata);
    doppel_json_object_end(&written);
    put_written(row, &written);
    doppel_json_free(&written);
    doppel_metadata_free(&metadata);
}

/* What it is called stands in the row already. */
static void print_one_match(struct match_printing *printing, json_t *named, uint64_t id)
{
    const struct doppel_search_result *result = printing->result;
    bool near_miss = result->below_threshold;
    if (near_miss && printing->print->settings->null_separated) {
        json_decref(named);
        return; /* paths are of what matches */
    }
    json_t *row = json_object();
    put_path(row, "query", printing->query);
    put_integer(row, "id", id);
    json_object_update(row, named);
    json_decref(named);
    put_memberships(row, printing->print->library, id);
    if (result->suppressed_by)
        put_integer(row, "suppressed_by", result->suppressed_by);
    if (near_miss)
        put_lack(row, printing->print->settings, &result->comparison.match);
    put_comparison(row, &result->comparison);
    place_rows_add(printing->rows, row);
    printing->matched |= !near_miss && !result->suppressed_by;
}

static bool print_record(void *context, const struct doppel_library_text *text)
{
    struct match_printing *printing = context;
    json_t *named = json_object();
    if (text->path)
        put_path(named, "path", text->path);
    if (text->record_id)
        put_text(named, "record", text->record_id);
    if (text->error.status)
        json_decref(named);
    else
        print_one_match(printing, named, text->id);
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
    json_t *named = json_object();
    char *name = name_of_item(library, &item);
    put_item_name(named, doppel_item_has_file(&item), name);
    print_one_match(printing, named, item.id);
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
    return !result->suppressed_by || print->settings->include_allowed;
}

/* In a table, a query without a match is no row: the exit code tells. */
static void print_no_match(struct match_printing *printing)
{
    if (printing->print->settings->format != FORMAT_JSON)
        return;
    json_t *row = json_object();
    put_path(row, "query", printing->query);
    put_bool(row, "match", false);
    place_rows_add(printing->rows, row);
}

enum doppel_status find_print(struct find_print *print, const char *query,
                              struct doppel_search_results *results, struct doppel_error *error)
{
    struct place_rows rows;
    struct match_printing printing = {.print = print, .query = query, .rows = &rows};
    enum doppel_status status = doppel_search_results_apply_lists(results, print->library, error);
    place_rows_begin(&rows, print->settings, print->output);
    for (size_t i = 0; i < results->count && !status; i++) {
        printing.result = &results->items[i];
        if (match_is_wanted(&printing))
            status = print_one(&printing, error);
    }
    if (!status && !printing.matched)
        print_no_match(&printing);
    place_rows_end(&rows);
    print->matched |= printing.matched;
    return status;
}
