/* doppel remove ID|PATH...: forget items; of a folder or a corpus, all that lies in it; or those
 * whose files are gone. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/output/messages.h"
#include "core/array.h"
#include "tools/memory.h"
#include "tools/args/library_options.h"
#include "tools/args/commands.h"
#include "tools/clustered/clustered.h"
#include "decide/remove_gone.h"
#include "tools/signals.h"

struct below {
    const char *name;
    char *path; /* of a folder, or of a corpus */
    ARRAY(uint64_t) ids;
};

static bool path_is_below(const struct below *below, const char *path)
{
    size_t length = below->path ? strlen(below->path) : 0;
    return length && strncmp(path, below->path, length) == 0 && path[length] == '/';
}

static bool is_at(const struct below *below, const char *path)
{
    return below->path && strcmp(path, below->path) == 0;
}

static bool take_if_below(void *context, const struct doppel_item *item)
{
    struct below *below = context;
    bool wanted = path_is_below(below, item->path);
    return (!wanted || array_push(&below->ids, item->id)) && !signals_stopped();
}

/* A text goes with its corpus, or by what that calls it. */
static bool take_text_below(void *context, const struct doppel_library_text *text)
{
    struct below *below = context;
    bool wanted = (text->record_id && strcmp(text->record_id, below->name) == 0) ||
                  (text->path && (is_at(below, text->path) || path_is_below(below, text->path)));
    return (!wanted || array_push(&below->ids, text->id)) && !signals_stopped();
}

static enum doppel_status remove_one(struct doppel_library *library, uint64_t id, uint64_t *removed,
                                     struct doppel_error *error)
{
    enum doppel_status status = doppel_library_remove(library, id, error);
    *removed += status == DOPPEL_OK;
    return status;
}

/* All items of a folder, and texts of a corpus or of a record id. @return DOPPEL_E_NOT_FOUND when
 * there are none */
static enum doppel_status remove_below(struct doppel_library *library, const char *name,
                                       uint64_t *removed, struct doppel_error *error)
{
    const char *id = doppel_reference_external_id(name);
    struct below below = {.name = id ? id : name,
                          .path = id ? NULL : must_have(absolute_path(name))};
    const struct doppel_everything_visitor everything = {1, take_if_below, take_text_below, &below};
    enum doppel_status status = doppel_library_each_of_all(library, &everything, error);
    if (status == DOPPEL_OK && below.ids.count == 0)
        status = doppel_fail(error, DOPPEL_E_NOT_FOUND, "the library holds no such item");
    for (size_t i = 0; i < below.ids.count && status == DOPPEL_OK; i++)
        status = remove_one(library, below.ids.items[i], removed, error);
    free(below.path);
    array_free(&below.ids);
    return status;
}

static enum doppel_status remove_named(struct doppel_library *library, const char *name,
                                       struct report *report, uint64_t *removed,
                                       struct doppel_error *error)
{
    struct doppel_reference called;
    uint64_t number;
    enum doppel_status status = resolve_to_change(library, name, report, &called, error);
    bool many = status ? status == DOPPEL_E_NOT_FOUND : called.kind == DOPPEL_REFERENCE_RECORD_ID;
    if (many && !doppel_reference_number(name, &number))
        return remove_below(library, name, removed, error);
    return status ? status : remove_one(library, called.id, removed, error);
}

static enum doppel_status remove_wanted(const struct settings *settings,
                                        struct doppel_library *library, uint64_t *removed,
                                        struct doppel_error *error)
{
    struct doppel_item_set wanted;
    enum doppel_status status = filter_library(settings, library, &wanted, error);
    if (status)
        return status;
    for (size_t i = 0; i < wanted.count && !status && !signals_stopped(); i++)
        status = remove_one(library, wanted.ids[i], removed, error);
    doppel_item_set_free(&wanted);
    return status;
}

int cmd_remove(const struct settings *settings, struct report *report)
{
    const struct doppel_item_filter filter = item_filter_from(settings);
    struct doppel_error error;
    struct doppel_library *library;
    if (settings->clustered)
        return clustered_remove(settings, report);
    if (!settings->operands.count && !settings->gone && !doppel_item_filter_is_set(&filter))
        return report_fatal(report, "say what is to be removed: ID, PATH, --where, --list or "
                                    "--label");
    if (open_library(settings, false, false, &library, &error))
        return report_fatal(report, "%s", error.message);
    uint64_t removed = 0;
    enum doppel_status status = settings->gone ? remove_gone(library, &settings->operands,
                                                             settings->dry_run, report->run, &error)
                                               : remove_wanted(settings, library, &removed, &error);
    for (size_t i = 0;
         !settings->gone && i < settings->operands.count && !status && !signals_stopped(); i++)
        if (remove_named(library, settings->operands.items[i], report, &removed, &error))
            report_input(report, settings->operands.items[i], error.message);
    if (!status && !settings->dry_run) /* else all is taken back */
        status = doppel_library_commit(library, &error);
    doppel_library_close(library);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    if (!status && !settings->gone && (removed || !settings->operands.count))
        report_notice(report, "%" PRIu64 " item%s %s", removed, removed == 1 ? "" : "s",
                      settings->dry_run ? "would be removed" : "removed");
    return EXIT_DONE;
}
