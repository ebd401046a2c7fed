/* doppel scan PATH...: the groups of doubles among the files under PATHs; needs no library. */
#include <stdlib.h>

#include <doppel/library.h>

#include "tools/commands.h"
#include "tools/grouping.h"
#include "tools/intake.h"
#include "tools/open_cache.h"
#include "tools/memory.h"

struct scan {
    struct report *report;
    struct doppel_cache *cache;
    struct intake *intake;
    struct grouping *grouping;
    uint32_t references; /* how many of the sources are reference folders */
};

/* References come first: they lead the groups that they are in. */
static struct strings reference_then_operands(const struct settings *settings)
{
    size_t references = settings->reference.count;
    struct strings paths = {.count = references + settings->operands.count};
    paths.items = must_allocate((paths.count + 1) * sizeof *paths.items);
    for (size_t i = 0; i < paths.count; i++)
        paths.items[i] = i < references ? settings->reference.items[i]
                                        : settings->operands.items[i - references];
    return paths;
}

static bool load_features(void *context, const struct grouping_item *item,
                          struct doppel_image_features *out)
{
    struct scan *scan = context;
    struct doppel_record record = {0};
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64);
    struct doppel_record_key key = {&item->digest, scheme->id, scheme->version, 0};
    if (doppel_cache_record(scan->cache, &key, true, &record))
        return false;
    bool good =
        doppel_image_attachment_read(record.attachment, record.attachment_size, out) == DOPPEL_OK;
    out->quality = record.quality;
    out->fingerprint = record.fingerprint;
    record.fingerprint = (struct doppel_fingerprint){0};
    doppel_record_free(&record);
    return good;
}

static enum doppel_status take_files(struct scan *scan, struct doppel_error *error)
{
    struct intake_file file;
    enum doppel_status status;
    while ((status = intake_next(scan->intake, &file, error)) == DOPPEL_OK) {
        struct grouping_item item = {
            .path = file.path,
            .digest = file.record.digest,
            .size = file.stamp.size,
            .mtime_ns = file.stamp.mtime_ns,
            .width = file.record.width,
            .height = file.record.height,
            .source = file.source,
            .quality = file.record.quality,
            .reference = file.source < scan->references,
        };
        status = grouping_add(scan->grouping, &item, &file.record.fingerprint, error);
        intake_file_free(&file);
        if (status)
            return status;
    }
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

static enum doppel_status run(struct scan *scan, const struct settings *settings,
                              const struct walk_options *walk, struct doppel_error *error)
{
    struct intake_options intake_options = {
        .settings = settings, .report = scan->report, .walk = walk, .cache = scan->cache};
    struct grouping_options grouping_options = {
        .settings = settings,
        .report = scan->report,
        .features = load_features,
        .context = scan,
        .cache = scan->cache,
        .across = settings->across,
    };
    enum doppel_status status = grouping_new(&grouping_options, &scan->grouping, error);
    if (status == DOPPEL_OK)
        status = intake_new(&intake_options, &scan->intake, error);
    if (status == DOPPEL_OK)
        status = take_files(scan, error);
    intake_free(scan->intake);
    if (status == DOPPEL_OK)
        status = grouping_print(scan->grouping, error);
    grouping_free(scan->grouping);
    return status;
}

int cmd_scan(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct scan scan = {.report = report, .references = (uint32_t)settings->reference.count};
    if (open_cache(settings, report, &scan.cache, &error))
        return report_fatal(report, "%s", error.message);
    struct walk_options walk = walk_options_from(settings);
    walk.paths = reference_then_operands(settings);
    enum doppel_status status = run(&scan, settings, &walk, &error);
    free(walk.paths.items);
    doppel_cache_close(scan.cache);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return EXIT_DONE;
}
