/* doppel show ID|PATH...: all that the library knows of an item. */
#include "tools/collection.h"
#include "tools/commands.h"
#include "tools/item_row.h"
#include "tools/output.h"

static const struct column columns[] = {
    {"id", "id", CELL_NUMBER},           {"kind", "kind", CELL_TEXT},
    {"scheme", "scheme", CELL_TEXT},     {"version", "version", CELL_NUMBER},
    {"codes", "codes", CELL_NUMBER},     {"code", "code", CELL_TEXT},
    {"width", "width", CELL_NUMBER},     {"height", "height", CELL_NUMBER},
    {"quality", "quality", CELL_NUMBER}, {"size", "size", CELL_SIZE},
    {"mtime", "modified", CELL_TIME},    {"added", "added", CELL_TIME},
    {"digest", "digest", CELL_TEXT},     {"path", "path", CELL_PATH},
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

static void print_item(const struct doppel_item *item, struct output *output)
{
    const struct doppel_fingerprint *fingerprint = &item->record.fingerprint;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(item->record.scheme);
    json_t *row = item_row(item);
    if (scheme && fingerprint->count) {
        char hex[65];
        doppel_code_to_hex(&fingerprint->codes[0], scheme->code_bits, hex);
        put_text(row, "code", hex);
    }
    put_value(row, "sequence", sequence_of(fingerprint));
    output_row(output, row);
}

int cmd_show(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_library *library;
    if (open_library(settings, false, true, &library, &error))
        return report_fatal(report, "%s", error.message);
    struct output *output = output_new(settings, &layout, report);
    for (size_t i = 0; i < settings->operands.count; i++) {
        struct doppel_item item;
        if (find_item(library, settings->operands.items[i], &item, &error)) {
            report_input(report, settings->operands.items[i], error.message);
            continue;
        }
        print_item(&item, output);
        doppel_item_free(&item);
    }
    bool written = output_finish(output);
    doppel_library_close(library);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}
