/* doppel show ID|PATH...: all that the library knows of an item. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/args/library_options.h"
#include "tools/output/messages.h"
#include "tools/args/commands.h"
#include "tools/output/item_row.h"
#include "tools/memory.h"
#include "tools/output/output.h"
#include "compare/record_json.h"
#include "compare/text.h"

static const struct column columns[] = {
    {"id", "id", CELL_NUMBER},
    {"kind", "kind", CELL_TEXT},
    {"scheme", "scheme", CELL_TEXT},
    {"version", "version", CELL_NUMBER},
    {"codes", "codes", CELL_NUMBER},
    {"code", "code", CELL_TEXT},
    {"duration", "duration", CELL_SECONDS},
    {"damaged", "damaged", CELL_SECONDS},
    {"width", "width", CELL_NUMBER},
    {"height", "height", CELL_NUMBER},
    {"quality", "quality", CELL_NUMBER},
    {"keyframes", "keyframes only", CELL_BOOL},
    {"has_sound", "audio", CELL_BOOL},
    {"words", "words", CELL_NUMBER},
    {"characters", "characters", CELL_NUMBER},
    {"size", "size", CELL_SIZE},
    {"mtime", "modified", CELL_TIME},
    {"added", "added", CELL_TIME},
    {"digest", "digest", CELL_TEXT},
    {"exact", "exact", CELL_TEXT},
    {"record", "record", CELL_TEXT},
    {"decision", "decision", CELL_TEXT},
    {"leader", "leader", CELL_NUMBER},
    {"canonical", "canonical", CELL_NUMBER},
    {"source", "source", CELL_TEXT},
    {"external_id", "external id", CELL_TEXT},
    {"labels", "labels", CELL_TEXT},
    {"lists", "lists", CELL_TEXT},
    {"list_state", "state", CELL_TEXT},
    {"meta", "meta", CELL_TEXT},
    {"artist", "artist", CELL_TEXT},
    {"title", "title", CELL_TEXT},
    {"album", "album", CELL_TEXT},
    {"name", "name", CELL_TEXT},
    {"path", "path", CELL_PATH},
    {"line", "line", CELL_NUMBER},
};

static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, "path", NULL};

struct showing {
    const struct settings *settings;
    struct report *report;
    struct doppel_library *library;
    struct output *output;
    const char *name; /* as it was asked for */
};

/* All of it for programs; people tell two signatures apart by their beginnings. */
static void write_shown_code(struct doppel_json *row, const struct showing *showing,
                             const char *hex)
{
    enum { LONGEST = 64, SHOWN = 16 };
    char cut[SHOWN + sizeof "…"];
    snprintf(cut, sizeof cut, "%.*s…", SHOWN, hex);
    bool whole = showing->settings->format != FORMAT_TABLE || strlen(hex) <= LONGEST;
    doppel_json_text(row, "code", whole ? hex : cut);
}

static struct item_details get_shown_details(const struct showing *showing, uint64_t id)
{
    struct item_details details;
    struct doppel_error error;
    if (item_details_get(showing->library, id, &details, &error))
        report_input(showing->report, showing->name, error.message);
    return details;
}

static void print_shown_item(const struct showing *showing, const struct doppel_item *item)
{
    const struct doppel_fingerprint *fingerprint = &item->record.fingerprint;
    struct item_details details = get_shown_details(showing, item->id);
    struct doppel_json *row = output_begin(showing->output);
    write_item_row(row, showing->library, item);
    if (item->record.scheme == DOPPEL_SCHEME_NONE && !doppel_item_has_file(item))
        doppel_json_text(row, "exact", item->path); /* "md5:0123…" */
    if (fingerprint->count && fingerprint->scheme != DOPPEL_SCHEME_WINNOW32) {
        char *hex = must_have(code_in_hex(fingerprint, 0));
        write_shown_code(row, showing, hex);
        free(hex);
    }
    write_record_content(row, &item->record, &showing->settings->text, true,
                         item->record.width != 0);
    if (fingerprint->count)
        doppel_json_codes(row, "sequence", fingerprint);
    write_item_details(row, item->id, &details);
    output_end(showing->output);
    item_details_free(&details);
}

static bool print_shown_text(void *context, const struct doppel_library_text *text)
{
    struct showing *showing = context;
    struct item_details details = get_shown_details(showing, text->id);
    struct doppel_json *row = output_begin(showing->output);
    char *hex = text_code(text);
    write_text_row(row, text, &details);
    write_shown_code(row, showing, hex);
    doppel_json_integer(row, "codes", 1);
    doppel_json_integer(row, "shingles_kept", text->shingles ? text->shingle_total : 0);
    write_text_details(row, text, &details);
    output_end(showing->output);
    free(hex);
    item_details_free(&details);
    return true;
}

static void show(struct showing *showing, const char *name)
{
    struct doppel_item item;
    struct doppel_error error;
    showing->name = name;
    notice_other_reference(showing->library, name, showing->report);
    enum doppel_status status =
        doppel_library_find_item(showing->library, name, true, &item, &error);
    if (status == DOPPEL_OK) {
        print_shown_item(showing, &item);
        doppel_item_free(&item);
    } else if (status != DOPPEL_E_NOT_FOUND ||
               doppel_library_find_text(showing->library, name, print_shown_text, showing,
                                        &error)) {
        report_input(showing->report, name, error.message);
    }
}

int cmd_show(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct showing showing = {.settings = settings, .report = report};
    if (open_library(settings, false, true, &showing.library, &error))
        return report_fatal(report, "%s", error.message);
    showing.output = output_new(settings, &layout, report);
    output_sheets(showing.output);
    for (size_t i = 0; i < settings->operands.count; i++)
        show(&showing, settings->operands.items[i]);
    bool written = output_finish(showing.output);
    doppel_library_close(showing.library);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}
