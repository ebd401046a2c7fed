/* doppel groups: the duplicate groups in the library. */
#include <stdlib.h>

#include "tools/collection.h"
#include "tools/commands.h"
#include "tools/grouping.h"
#include "tools/signals.h"

struct groups {
    const struct settings *settings;
    struct report *report;
    struct doppel_library *library;
    struct grouping *grouping;
    struct doppel_error *error;
    enum doppel_status status;
};

static bool take_item(void *context, const struct doppel_item *item)
{
    struct groups *groups = context;
    if (item->record.error.status) {
        report_input(groups->report, item->path, item->record.error.message);
        return !signals_stopped();
    }
    if (item->record.scheme != groups->settings->scheme->id)
        return true;
    struct grouping_item entry = {
        .path = item->path,
        .digest = item->record.digest,
        .size = item->stamp.size,
        .mtime_ns = item->stamp.mtime_ns,
        .id = item->id,
        .width = item->record.width,
        .height = item->record.height,
        .quality = item->record.quality,
    };
    groups->status =
        grouping_add(groups->grouping, &entry, &item->record.fingerprint, groups->error);
    return groups->status == DOPPEL_OK && !signals_stopped();
}

static bool load_features(void *context, const struct grouping_item *entry,
                          struct doppel_image_features *out)
{
    struct groups *groups = context;
    struct doppel_item item;
    if (doppel_library_get(groups->library, entry->id, true, &item, NULL))
        return false;
    bool good = features_of_record(&item.record, out);
    item.record.fingerprint = (struct doppel_fingerprint){0}; /* it is the features' now */
    doppel_item_free(&item);
    if (!good)
        doppel_fingerprint_free(&out->fingerprint);
    return good;
}

static enum doppel_status run(struct groups *groups)
{
    struct grouping_options options = {
        .settings = groups->settings,
        .report = groups->report,
        .features = load_features,
        .context = groups,
    };
    enum doppel_status status = grouping_new(&options, &groups->grouping, groups->error);
    if (status)
        return status;
    status = doppel_library_each(groups->library, take_item, groups, groups->error);
    if (groups->status)
        status = groups->status;
    if (status == DOPPEL_OK)
        status = grouping_print(groups->grouping, groups->error);
    grouping_free(groups->grouping);
    return status;
}

int cmd_groups(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct groups groups = {.settings = settings, .report = report, .error = &error};
    if (open_library(settings, false, true, &groups.library, &error))
        return report_fatal(report, "%s", error.message);
    enum doppel_status status = run(&groups);
    doppel_library_close(groups.library);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return EXIT_DONE;
}
