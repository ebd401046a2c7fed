/* doppel show ID|PATH...: all that the library knows of an item. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/args/library_options.h"
#include "tools/output/messages.h"
#include "tools/args/commands.h"
#include "tools/output/video_row.h"
#include "tools/output/item_metadata.h"
#include "tools/output/item_name.h"
#include "tools/output/item_row.h"
#include "tools/output/output.h"
#include "compare/audio.h"
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
    {"name", "name", CELL_TEXT},
    {"path", "path", CELL_PATH},
    {"line", "line", CELL_NUMBER},
};

static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, "path", NULL};

static json_t *sequence_of(const struct doppel_fingerprint *fingerprint)
{
    json_t *sequence = json_array();
    for (uint32_t i = 0; i < fingerprint->count; i++) {
        char hex[65];
        doppel_code_to_hex(&fingerprint->codes[i], fingerprint->code_bits, hex);
        json_t *pair = json_array();
        json_array_append_new(pair, json_string(hex));
        json_array_append_new(pair, json_integer(fingerprint->positions[i]));
        json_array_append_new(sequence, pair);
    }
    return sequence;
}

struct showing {
    const struct settings *settings;
    struct report *report;
    struct doppel_library *library;
    struct output *output;
    const char *name; /* as it was asked for */
};

/* All of it for programs; people tell two signatures apart by their beginnings. */
static void put_code(json_t *row, const struct showing *showing, const char *hex)
{
    enum { LONGEST = 64, SHOWN = 16 };
    char cut[SHOWN + sizeof "…"];
    snprintf(cut, sizeof cut, "%.*s…", SHOWN, hex);
    bool whole = showing->settings->format != FORMAT_TABLE || strlen(hex) <= LONGEST;
    put_text(row, "code", whole ? hex : cut);
}

static void print_row(const struct showing *showing, uint64_t id, json_t *row)
{
    struct doppel_error error;
    if (put_about(row, showing->library, id, &error))
        report_input(showing->report, showing->name, error.message);
    output_row(showing->output, row);
}

static void print_item(const struct showing *showing, const struct doppel_item *item)
{
    const struct doppel_fingerprint *fingerprint = &item->record.fingerprint;
    json_t *row = item_row(showing->library, item);
    if (item->record.scheme == DOPPEL_SCHEME_NONE && !item_has_file(item))
        put_text(row, "exact", item->path); /* "md5:0123…" */
    if (fingerprint->count && fingerprint->scheme != DOPPEL_SCHEME_WINNOW32) {
        char *hex = code_in_hex(fingerprint, 0);
        put_code(row, showing, hex);
        free(hex);
    }
    put_text_details(row, showing->settings, &item->record);
    put_audio_details(row, &item->record, true);
    if (fingerprint->scheme == DOPPEL_SCHEME_CHROMAPRINT)
        put_audio_length(row, &item->record);
    put_video_details(row, &item->record, true);
    if (fingerprint->count)
        put_value(row, "sequence", sequence_of(fingerprint));
    print_row(showing, item->id, row);
}

static bool print_text(void *context, const struct doppel_library_text *text)
{
    struct showing *showing = context;
    json_t *row = text_row(text);
    char *hex = text_code(text);
    put_code(row, showing, hex);
    put_integer(row, "codes", 1);
    put_integer(row, "shingles_kept", text->shingles ? text->shingle_total : 0);
    free(hex);
    print_row(showing, text->id, row);
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
        print_item(showing, &item);
        doppel_item_free(&item);
    } else if (status != DOPPEL_E_NOT_FOUND ||
               doppel_library_find_text(showing->library, name, print_text, showing, &error)) {
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
