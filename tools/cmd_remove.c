/* doppel remove ID|PATH...: forget items; of a folder, all that lies in it. */
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "tools/collection.h"
#include "tools/commands.h"
#include "tools/signals.h"
#include "tools/values.h"

struct below {
    char *folder;
    ARRAY(uint64_t) ids;
};

static bool take_if_below(void *context, const struct doppel_item *item)
{
    struct below *below = context;
    size_t length = strlen(below->folder);
    bool inside = strncmp(item->path, below->folder, length) == 0 && item->path[length] == '/';
    return (!inside || array_push(&below->ids, item->id)) && !signals_stopped();
}

/* All items of a folder. @return DOPPEL_E_NOT_FOUND when it has none */
static enum doppel_status remove_below(struct doppel_library *library, const char *name,
                                       struct doppel_error *error)
{
    struct below below = {.folder = absolute_path(name)};
    enum doppel_status status = doppel_library_each(library, take_if_below, &below, error);
    if (status == DOPPEL_OK && below.ids.count == 0)
        status = doppel_fail(error, DOPPEL_E_NOT_FOUND, "the library holds no such item");
    for (size_t i = 0; i < below.ids.count && status == DOPPEL_OK; i++)
        status = doppel_library_remove(library, below.ids.items[i], error);
    free(below.folder);
    array_free(&below.ids);
    return status;
}

static enum doppel_status remove_named(struct doppel_library *library, const char *name,
                                       struct doppel_error *error)
{
    struct doppel_item item;
    uint64_t id;
    enum doppel_status status = find_item(library, name, false, &item, error);
    if (status == DOPPEL_E_CORRUPT && parse_whole(name, 1, INT64_MAX, &id))
        return doppel_library_remove(library, id, error); /* it goes unread */
    if (status == DOPPEL_E_NOT_FOUND)
        return remove_below(library, name, error);
    if (status)
        return status;
    status = doppel_library_remove(library, item.id, error);
    doppel_item_free(&item);
    return status;
}

int cmd_remove(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_library *library;
    if (open_library(settings, false, false, &library, &error))
        return report_fatal(report, "%s", error.message);
    for (size_t i = 0; i < settings->operands.count && !signals_stopped(); i++)
        if (remove_named(library, settings->operands.items[i], &error))
            report_input(report, settings->operands.items[i], error.message);
    enum doppel_status status = doppel_library_commit(library, &error);
    doppel_library_close(library);
    return status ? report_fatal(report, "%s", error.message) : EXIT_DONE;
}
