/* doppel scan PATH...: the groups of duplicates among the files under PATHs; needs no library. */
#include <stdlib.h>

#include <doppel/library.h>

#include "tools/args/engine_options.h"
#include "tools/output/messages.h"
#include "tools/args/commands.h"
#include "compare/video.h"
#include "group/group_sources.h"
#include "intake/intake.h"
#include "intake/open_cache.h"
#include "tools/memory.h"

struct scan {
    struct report *report;
    struct doppel_cache *cache;
    struct intake *intake;
    const struct settings *settings;
    struct marks marks;                                    /* of people, that the library has */
    struct grouping *images, *texts, *recordings, *videos; /* NULL: not wanted */
    const struct group_receiver *receiver;                 /* NULL: the groups are printed */
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

static bool load_text(void *context, const struct grouping_item *item, struct text_view *out)
{
    struct scan *scan = context;
    const struct doppel_scheme *scheme = settings_scheme(scan->settings, DOPPEL_KIND_TEXT);
    struct doppel_record_key key = {&item->digest, scheme->id, scheme->version, item->reading};
    struct doppel_record record = {0};
    if (doppel_cache_record(scan->cache, &key, true, &record))
        return false;
    bool good = text_view_read(&record, &scan->settings->text, out);
    doppel_record_free(&record);
    return good;
}

static bool load_video(void *context, const struct grouping_item *item,
                       struct doppel_video_track *out)
{
    struct scan *scan = context;
    const struct doppel_scheme *scheme = settings_scheme(scan->settings, DOPPEL_KIND_VIDEO);
    struct doppel_record_key key = {&item->digest, scheme->id, scheme->version, item->reading};
    struct doppel_record record = {0};
    if (doppel_cache_record(scan->cache, &key, true, &record))
        return false;
    bool good = video_read(&record, DOPPEL_VIDEO_ALL, out);
    doppel_record_free(&record);
    return good;
}

static enum doppel_status take_file(struct scan *scan, const struct intake_file *file,
                                    struct doppel_error *error)
{
    const struct doppel_record *record = &file->record;
    struct grouping_item item = {
        .path = file->path,
        .digest = record->digest,
        .pixels = record->pixels,
        .size = file->stamp.size,
        .mtime_ns = file->stamp.mtime_ns,
        .width = record->width,
        .height = record->height,
        .source = file->source,
        .quality = record->quality,
        .reading = record->reading,
        .reference = file->source < scan->references,
        .cut = record->kind == DOPPEL_KIND_IMAGE && record->error.message[0], /* so it says */
    };
    if (scan->settings->action != ACTION_NONE) {
        item.device = file->stamp.device;
        item.inode = file->stamp.inode;
    }
    if (record->kind == DOPPEL_KIND_AUDIO)
        return grouping_add_audio(scan->recordings, &item, record, error);
    if (record->kind == DOPPEL_KIND_VIDEO)
        return grouping_add_video(scan->videos, &item, record, error);
    if (record->kind != DOPPEL_KIND_TEXT)
        return grouping_add(scan->images, &item, &record->fingerprint, error);
    struct text_view view;
    if (!text_view_read(record, &scan->settings->text, &view)) {
        report_input(scan->report, file->path, "what is known of it is damaged");
        return DOPPEL_OK;
    }
    enum doppel_status status = grouping_add_text(scan->texts, &item, &view, error);
    text_view_free(&view);
    return status;
}

static enum doppel_status take_files(struct scan *scan, struct doppel_error *error)
{
    struct intake_file file;
    enum doppel_status status;
    while ((status = intake_next(scan->intake, &file, error)) == DOPPEL_OK) {
        status = take_file(scan, &file, error);
        intake_file_free(&file);
        if (status)
            return status;
    }
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

static enum doppel_status want_grouping(struct scan *scan, const struct grouping_options *options,
                                        struct grouping **out, struct doppel_error *error)
{
    return settings_scheme(scan->settings, options->kind) ? grouping_new(options, out, error)
                                                          : DOPPEL_OK;
}

static enum doppel_status run(struct scan *scan, const struct walk_options *walk,
                              struct doppel_error *error)
{
    struct intake_options intake_options = {.read = read_options_from(scan->settings),
                                            .run = scan->report->run,
                                            .walk = walk,
                                            .cache = scan->cache};
    struct grouping_options image_options = {
        .settings = scan->settings,
        .run = scan->report->run,
        .compare = compare_options_from(scan->settings),
        .kind = DOPPEL_KIND_IMAGE,
        .features = load_features,
        .text = load_text,
        .video = load_video,
        .context = scan,
        .cache = scan->cache,
        .marks = &scan->marks,
        .policy = scan->settings->keep,
        .across = scan->settings->cross_folder,
        .digests = scan->receiver != NULL,
    };
    struct grouping_options text_options = image_options;
    text_options.kind = DOPPEL_KIND_TEXT;
    struct grouping_options audio_options = image_options;
    audio_options.kind = DOPPEL_KIND_AUDIO;
    struct grouping_options video_options = image_options;
    video_options.kind = DOPPEL_KIND_VIDEO;
    enum doppel_status status = marks_load_settings(&scan->marks, scan->settings, error);
    if (status == DOPPEL_OK)
        status = want_grouping(scan, &image_options, &scan->images, error);
    if (status == DOPPEL_OK)
        status = want_grouping(scan, &text_options, &scan->texts, error);
    if (status == DOPPEL_OK)
        status = want_grouping(scan, &audio_options, &scan->recordings, error);
    if (status == DOPPEL_OK)
        status = want_grouping(scan, &video_options, &scan->videos, error);
    if (status == DOPPEL_OK)
        status = intake_new(&intake_options, &scan->intake, error);
    if (status == DOPPEL_OK)
        status = take_files(scan, error);
    intake_free(scan->intake);
    struct grouping *const groupings[] = {scan->images, scan->texts, scan->recordings,
                                          scan->videos};
    const struct all_groups all = {.groupings = groupings,
                                   .count = 4,
                                   .settings = scan->settings,
                                   .report = scan->report,
                                   .run = scan->report->run};
    if (status == DOPPEL_OK)
        status = scan->receiver ? groupings_visit(&all, scan->receiver, error)
                                : groupings_print(&all, error);
    marks_free(&scan->marks);
    grouping_free(scan->images);
    grouping_free(scan->texts);
    grouping_free(scan->recordings);
    grouping_free(scan->videos);
    return status;
}

enum doppel_status scan_groups(const struct settings *settings, struct report *report,
                               const struct group_receiver *receiver, struct doppel_error *error)
{
    struct scan scan = {
        .settings = settings,
        .report = report,
        .receiver = receiver,
        .references = (uint32_t)settings->reference.count,
    };
    enum doppel_status status = open_cache(report->run, &scan.cache, error);
    if (status)
        return status;
    struct walk_options walk = walk_options_from(settings);
    walk.paths = reference_then_operands(settings);
    status = run(&scan, &walk, error);
    free(walk.paths.items);
    doppel_cache_close(scan.cache);
    return status;
}

int cmd_scan(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    enum doppel_status status = scan_groups(settings, report, NULL, &error);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return EXIT_DONE;
}
