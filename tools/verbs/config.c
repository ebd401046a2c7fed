/* doppel config: the options that a file gives, and where things lie. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/args/commands.h"
#include "tools/args/config.h"
#include "tools/args/paths.h"
#include "tools/output/messages.h"
#include "tools/output/output.h"

static const struct column columns[] = {
    {"verb", "verb", CELL_TEXT},
    {"option", "option", CELL_TEXT},
    {"value", "value", CELL_TEXT},
    {"from", "from", CELL_TEXT},
};

static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, "value",
                                     NULL};

static void print_setting(struct output *output, const char *verb, const char *option,
                          const char *value, const char *from)
{
    struct doppel_json *row = output_begin(output);
    doppel_json_text(row, "verb", verb);
    doppel_json_text(row, "option", option);
    doppel_json_text(row, "value", value);
    doppel_json_text(row, "from", from);
    output_end(output);
}

/* Where it lies, whoever says so. */
static void print_place(struct output *output, const char *option, char *place,
                        const char *variable)
{
    const char *named = getenv(variable);
    if (place)
        print_setting(output, NULL, option, place, named && *named ? variable : "default");
    free(place);
}

int cmd_config(const struct settings *settings, struct report *report)
{
    const struct config *config = &settings->config;
    struct output *output = output_new(settings, &layout, report);
    for (size_t i = 0; i < config->count; i++) {
        const struct config_entry *entry = &config->items[i];
        char from[4096 + 16];
        snprintf(from, sizeof from, "%s:%u", config->path, entry->line);
        print_setting(output, entry->verb, entry->name, entry->value, from);
    }
    if (!settings->library)
        print_place(output, "library", library_directory(settings), "DOPPEL_LIBRARY");
    print_place(output, "models", model_folder(), "DOPPEL_MODELS");
    if (!settings->cache)
        print_place(output, "cache", cache_file(settings), "XDG_CACHE_HOME");
    if (!settings->journal)
        print_place(output, "journal", journal_file(settings), "XDG_STATE_HOME");
    if (config->path && !config->text)
        report_notice(report, "%s is not there: nothing is configured", config->path);
    return output_finish(output) ? EXIT_DONE : EXIT_WRONG_USE;
}
