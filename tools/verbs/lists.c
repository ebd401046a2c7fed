/* doppel lists, lists set, lists remove: the lists that items are on, and what these mean. */
#include "tools/args/library_options.h"
#include "tools/output/messages.h"
#include "tools/args/commands.h"
#include "tools/output/output.h"

static const struct column columns[] = {
    {"list", "list", CELL_TEXT},
    {"state", "state", CELL_TEXT},
    {"items", "items", CELL_NUMBER},
};
static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

static bool print_list(void *context, const struct doppel_list *list)
{
    struct doppel_json *row = output_begin(context);
    doppel_json_text(row, "list", list->name);
    doppel_json_text(row, "state", doppel_list_state_name(list->state));
    doppel_json_integer(row, "items", list->items);
    output_end(context);
    return true;
}

int cmd_lists(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_library *library;
    if (open_library(settings, false, true, &library, &error))
        return report_fatal(report, "%s", error.message);
    struct output *output = output_new(settings, &layout, report);
    enum doppel_status status = doppel_library_each_list(library, print_list, output, &error);
    bool written = output_finish(output);
    doppel_library_close(library);
    if (status)
        return report_fatal(report, "%s", error.message);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}

static int change_lists(const struct settings *settings, struct report *report, bool remove)
{
    struct doppel_error error;
    struct doppel_library *library;
    enum doppel_status status = DOPPEL_OK;
    if (open_library(settings, !remove, false, &library, &error))
        return report_fatal(report, "%s", error.message);
    for (size_t i = 0; i < settings->operands.count && !status; i++) {
        const char *name = settings->operands.items[i];
        status = remove ? doppel_library_remove_list(library, name, &error)
                        : doppel_library_set_list(library, name, settings->state, &error);
        if (status != DOPPEL_E_NOT_FOUND)
            continue;
        report_input(report, name, "the library has no such list");
        status = DOPPEL_OK;
    }
    if (!status)
        status = doppel_library_commit(library, &error);
    doppel_library_close(library);
    return status ? report_fatal(report, "%s", error.message) : EXIT_DONE;
}

int cmd_lists_set(const struct settings *settings, struct report *report)
{
    return change_lists(settings, report, false);
}

int cmd_lists_remove(const struct settings *settings, struct report *report)
{
    return change_lists(settings, report, true);
}
