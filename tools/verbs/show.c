/* doppel show ID|PATH...: all that the library knows of an item. */
#include <string.h>

#include "tools/args/library_options.h"
#include "tools/output/messages.h"
#include "tools/args/commands.h"
#include "tools/memory.h"
#include "tools/clustered/clustered.h"
#include "tools/output/output.h"
#include "tools/remote/remote.h"

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

/* People tell two signatures apart by their beginnings. */
static void cut_code(json_t *row)
{
    enum { LONGEST = 64, SHOWN = 16 };
    const char *hex = json_string_value(json_object_get(row, "code"));
    if (hex && strlen(hex) > LONGEST)
        json_object_set_new(row, "code", must_have(json_sprintf("%.*s…", SHOWN, hex)));
}

/* All of it for programs. */
static void print_shown(void *context, struct doppel_json *row)
{
    const struct showing *showing = context;
    doppel_json_object_end(row);
    if (showing->settings->format != FORMAT_TABLE || row->failed) {
        output_object(showing->output, row);
        return;
    }
    json_t *parsed = must_have(json_loadb(row->bytes, row->size, 0, NULL));
    cut_code(parsed);
    output_parsed(showing->output, parsed);
    json_decref(parsed);
}

static struct doppel_item_json_options shown_fields(const struct showing *showing)
{
    return (struct doppel_item_json_options){true, true, &showing->settings->text};
}

static void print_shown_item(struct showing *showing, const struct doppel_item *item)
{
    const struct doppel_item_json_options options = shown_fields(showing);
    struct doppel_error error;
    struct doppel_json *row = output_begin(showing->output);
    if (doppel_item_to_json(row, showing->library, item, &options, &error))
        report_input(showing->report, showing->name, error.message);
    print_shown(showing, row);
}

static bool print_shown_text(void *context, const struct doppel_library_text *text)
{
    struct showing *showing = context;
    const struct doppel_item_json_options options = shown_fields(showing);
    struct doppel_error error;
    struct doppel_json *row = output_begin(showing->output);
    if (doppel_library_text_to_json(row, showing->library, text, &options, &error))
        report_input(showing->report, showing->name, error.message);
    print_shown(showing, row);
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
    int code = EXIT_DONE;
    const bool is_here = !settings->server && !settings->clustered;
    if (is_here && open_library(settings, false, true, &showing.library, &error))
        return report_fatal(report, "%s", error.message);
    showing.output = output_new(settings, &layout, report);
    output_sheets(showing.output);
    if (settings->clustered)
        return clustered_show(settings, report, print_shown, &showing, showing.output);
    if (settings->server)
        code = remote_show(settings, report, print_shown, &showing);
    else
        for (size_t i = 0; i < settings->operands.count; i++)
            show(&showing, settings->operands.items[i]);
    bool written = output_finish(showing.output);
    doppel_library_close(showing.library);
    return written ? code : EXIT_WRONG_USE;
}
