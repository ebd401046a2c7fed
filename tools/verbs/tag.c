/* doppel tag: say something of items that are in the library, or take it back. */
#include "tools/output/messages.h"
#include "tools/args/metadata_options.h"
#include "tools/args/library_options.h"
#include "tools/args/commands.h"
#include "tools/remote/remote.h"
#include "tools/signals.h"

struct tag {
    const struct settings *settings;
    struct report *report;
    struct doppel_library *library;
};

/* What it has not is gone already. */
static enum doppel_status take_back(const struct tag *tag, uint64_t id, struct doppel_error *error)
{
    const struct settings *settings = tag->settings;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < settings->lists.count && !status; i++) {
        status = doppel_library_remove_from_list(tag->library, id, settings->lists.items[i], error);
        status = status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
    }
    for (size_t i = 0; i < settings->labels.count && !status; i++) {
        status = doppel_library_unlabel(tag->library, id, settings->labels.items[i], error);
        status = status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
    }
    return status;
}

static enum doppel_status tag_one(const struct tag *tag, uint64_t id, struct doppel_error *error)
{
    return tag->settings->take_back ? take_back(tag, id, error)
                                    : about_tell(tag->settings, tag->library, id, error);
}

static enum doppel_status tag_named(const struct tag *tag, const char *name,
                                    struct doppel_error *error)
{
    struct doppel_reference called;
    if (resolve_to_change(tag->library, name, tag->report, &called, error)) {
        report_input(tag->report, name, error->message);
        return DOPPEL_OK;
    }
    return tag_one(tag, called.id, error);
}

/* The names of lists and labels are what is said here, so --where alone tells of whom. */
static enum doppel_status tag_where(const struct tag *tag, struct doppel_error *error)
{
    const struct doppel_item_filter only_where = {.where = tag->settings->where};
    struct doppel_item_set wanted = {0};
    if (!only_where.where)
        return DOPPEL_OK;
    enum doppel_status status = doppel_library_filter(tag->library, &only_where, &wanted, error);
    for (size_t i = 0; i < wanted.count && !status && !signals_stopped(); i++)
        status = tag_one(tag, wanted.ids[i], error);
    doppel_item_set_free(&wanted);
    return status;
}

static enum doppel_status check_tags(const struct settings *settings, struct doppel_error *error)
{
    bool more = settings->external_id || settings->source || settings->meta;
    if (!metadata_is_given(settings))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "say something: --list, --label, --external-id, --source or --meta");
    if (settings->take_back && more)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--remove' is for lists and labels; other values are set again");
    if (!settings->operands.count && !settings->where)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "say of which items: by ID, or by --where");
    return about_check(settings, error);
}

int cmd_tag(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct tag tag = {settings, report, NULL};
    if (check_tags(settings, &error))
        return report_fatal(report, "%s", error.message);
    if (settings->server)
        return remote_tag(settings, report);
    if (open_library(settings, false, false, &tag.library, &error))
        return report_fatal(report, "%s", error.message);
    enum doppel_status status = tag_where(&tag, &error);
    for (size_t i = 0; i < settings->operands.count && !status && !signals_stopped(); i++)
        status = tag_named(&tag, settings->operands.items[i], &error);
    if (!status)
        status = doppel_library_commit(tag.library, &error);
    doppel_library_close(tag.library);
    return status ? report_fatal(report, "%s", error.message) : EXIT_DONE;
}
