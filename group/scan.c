/* The groups of duplicates among files: read through the cache, then grouped; needs no library. */
#include <doppel/group.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compare/video.h"
#include "core/files/absolute_path.h"
#include "core/digest.h"
#include "core/files/open_deep.h"
#include "core/try.h"
#include "group/grouping.h"
#include "group/marks.h"
#include "group/member_rules.h"
#include "intake/reader.h"
#include "intake/open_cache.h"

enum { KINDS = DOPPEL_KIND_VIDEO + 1 };

struct scan {
    struct doppel_run *run;
    const struct doppel_group_options *options;
    const struct doppel_scan_paths *paths;
    struct doppel_walk_options walk;
    struct doppel_read_options read;
    struct doppel_cache *cache;
    struct manual_labels labels; /* that the library has */
    struct grouping_options kinds[KINDS];
    struct grouping *by_kind[KINDS]; /* NULL: not wanted */
    struct met_rules met;
    struct file_names names; /* other names of files */
    bool no_memory;          /* for a name */
    uint64_t passed_over;    /* files that the walk's options leave out */
};

/* The order in which groups come. */
static const enum doppel_kind order[] = {DOPPEL_KIND_IMAGE, DOPPEL_KIND_TEXT, DOPPEL_KIND_AUDIO,
                                         DOPPEL_KIND_VIDEO};
enum { ORDERED = sizeof order / sizeof *order };

/* ---- from the cache ---- */

/* @param out given (doppel_record_free). @return false when the cache has it no more */
static bool load_cached_record(const struct scan *scan, const struct grouping_item *item,
                               const struct doppel_scheme *scheme, uint8_t reading,
                               struct doppel_record *out)
{
    struct doppel_record_key key = {&item->digest, scheme->id, scheme->version, reading};
    return doppel_cache_record(scan->cache, &key, true, out) == DOPPEL_OK;
}

/* Digests may be forgotten for their memory; of the few that are looked at again they are looked
 * up, or recomputed. */
static bool have_digest(const struct scan *scan, struct grouping_item *item)
{
    if (!digest_is_none(&item->digest))
        return true;
    int fd = item->path ? open_deep(item->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    char *path = fd >= 0 ? absolute_path(item->path) : NULL;
    struct stat status;
    uint64_t size;
    bool good = path && fstat(fd, &status) == 0;
    if (good) {
        struct doppel_file_stamp stamp = doppel_file_stamp_of(&status);
        good = doppel_cache_file(scan->cache, path, &stamp, &item->digest) == DOPPEL_OK ||
               doppel_digest_fd(fd, &item->digest, &size, NULL) == DOPPEL_OK;
    }
    free(path);
    if (fd >= 0)
        (void)close(fd);
    return good;
}

static enum doppel_status load_cached_features(void *context, const struct grouping_item *wanted,
                                               struct doppel_image_features *out)
{
    const struct scan *scan = context;
    const struct doppel_scheme *scheme = read_scheme(&scan->read, DOPPEL_KIND_IMAGE);
    struct grouping_item item = *wanted;
    struct doppel_record record = {0};
    if (!scheme || scheme->id != DOPPEL_SCHEME_PHASH64)
        return DOPPEL_E_NOT_FOUND;
    if (!have_digest(context, &item) || !load_cached_record(context, &item, scheme, 0, &record))
        return DOPPEL_E_IO;
    enum doppel_status status =
        doppel_image_attachment_read(record.attachment, record.attachment_size, out);
    out->quality = record.quality;
    out->fingerprint = record.fingerprint;
    record.fingerprint = (struct doppel_fingerprint){0};
    doppel_record_free(&record);
    return status;
}

static bool load_cached_text(void *context, const struct grouping_item *item, struct text_view *out)
{
    const struct scan *scan = context;
    struct doppel_record record = {0};
    const struct doppel_scheme *scheme = &scan->read.schemes[DOPPEL_KIND_TEXT];
    if (!load_cached_record(scan, item, scheme, item->reading, &record))
        return false;
    bool good = text_view_read(&record, &scan->options->compare.text, out);
    doppel_record_free(&record);
    return good;
}

static bool load_cached_video(void *context, const struct grouping_item *item,
                              struct doppel_video_track *out)
{
    const struct scan *scan = context;
    struct doppel_record record = {0};
    const struct doppel_scheme *scheme = &scan->read.schemes[DOPPEL_KIND_VIDEO];
    if (!load_cached_record(scan, item, scheme, item->reading, &record))
        return false;
    bool good = video_read(&record, DOPPEL_VIDEO_ALL, out);
    doppel_record_free(&record);
    return good;
}

/* ---- files ---- */

static enum doppel_status add_text_file(struct scan *scan, const struct grouping_item *item,
                                        const struct doppel_record *record,
                                        struct doppel_error *error)
{
    struct text_view view;
    if (!text_view_read(record, &scan->options->compare.text, &view)) {
        doppel_run_fail_input(scan->run, item->path, "what is known of it is damaged");
        return DOPPEL_OK;
    }
    enum doppel_status status =
        grouping_add_text(scan->by_kind[DOPPEL_KIND_TEXT], item, &view, error);
    text_view_free(&view);
    return status;
}

static enum doppel_status add_scanned_file(struct scan *scan, const struct intake_file *file,
                                           struct doppel_error *error)
{
    const struct doppel_record *record = &file->record;
    struct grouping_item item = {.path = file->path,
                                 .digest = record->digest,
                                 .pixels = record->pixels,
                                 .size = file->stamp.size,
                                 .mtime_ns = file->stamp.mtime_ns,
                                 .width = record->width,
                                 .height = record->height,
                                 .source = file->source,
                                 .quality = record->quality,
                                 .reading = (uint8_t)record->reading,
                                 .reference = file->source < scan->paths->references,
                                 .cut =
                                     record->kind == DOPPEL_KIND_IMAGE && record->error.message[0]};
    if (scan->options->on_disk) {
        item.device = file->stamp.device;
        item.inode = file->stamp.inode;
    }
    met_rules_note(&scan->met, &item.digest, item.path);
    if (record->kind == DOPPEL_KIND_AUDIO)
        return grouping_add_audio(scan->by_kind[DOPPEL_KIND_AUDIO], &item, record, error);
    const bool by_parts =
        record->scheme == DOPPEL_SCHEME_LOCAL || record->scheme == DOPPEL_SCHEME_FRAMES128;
    if (record->kind == DOPPEL_KIND_VIDEO && !by_parts)
        return grouping_add_video(
            scan->by_kind[scan->options->parts ? DOPPEL_KIND_IMAGE : DOPPEL_KIND_VIDEO], &item,
            record, error);
    if (record->kind == DOPPEL_KIND_TEXT)
        return add_text_file(scan, &item, record, error);
    enum doppel_status status =
        grouping_add(scan->by_kind[DOPPEL_KIND_IMAGE], &item, &record->fingerprint, error);
    return status || !by_parts
               ? status
               : grouping_add_parts(scan->by_kind[DOPPEL_KIND_IMAGE], record, error);
}

static void add_name_of_file(void *context, const char *path, const struct stat *stat)
{
    struct scan *scan = context;
    scan->no_memory |= !file_names_add(&scan->names, stat, path);
    met_rules_note(&scan->met, NULL, path);
}

static void count_passed_over(void *context)
{
    struct scan *scan = context;
    scan->passed_over++;
}

static enum doppel_status add_scanned_files(struct scan *scan, struct doppel_error *error)
{
    const struct intake_options options = {.read = scan->read,
                                           .run = scan->run,
                                           .walk = &scan->walk,
                                           .cache = scan->cache,
                                           .same_file = add_name_of_file,
                                           .left_out = count_passed_over,
                                           .known_context = scan};
    struct intake *intake;
    struct intake_file file;
    enum doppel_status status = intake_new(&options, &intake, error);
    if (status)
        return status;
    while (!status && (status = intake_next(intake, &file, error)) == DOPPEL_OK) {
        status = add_scanned_file(scan, &file, error);
        intake_file_free(&file);
    }
    intake_free(intake);
    if (status != DOPPEL_E_NOT_FOUND)
        return status;
    if (scan->no_memory)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the names of files");
    met_rules_report(&scan->met, true, scan->run);
    return DOPPEL_OK;
}

/* ---- parts of images and videos ---- */

static bool is_scan_cancelled(void *context)
{
    const struct scan *scan = context;
    return doppel_run_cancelled(scan->run);
}

static struct doppel_read_options read_of_parts(const struct scan *scan)
{
    struct doppel_read_options read = scan->read;
    memset(read.schemes, 0, sizeof read.schemes);
    if (read_scheme(&scan->read, DOPPEL_KIND_IMAGE))
        read.schemes[DOPPEL_KIND_IMAGE] = *doppel_scheme_by_id(DOPPEL_SCHEME_LOCAL);
    if (read_scheme(&scan->read, DOPPEL_KIND_VIDEO))
        read.schemes[DOPPEL_KIND_VIDEO] = *doppel_scheme_by_id(DOPPEL_SCHEME_FRAMES128);
    return read;
}

/* What is done with the keypoints of an image or a video. */
typedef enum doppel_status take_parts_of_file(struct grouping *images,
                                              const struct doppel_record *record,
                                              struct doppel_error *error);

static enum doppel_status each_with_parts(struct scan *scan, struct doppel_run *run,
                                          take_parts_of_file *take, struct doppel_error *error)
{
    struct intake *intake = NULL;
    struct intake_file file;
    const struct intake_options options = {
        .read = read_of_parts(scan), .run = run, .walk = &scan->walk, .cache = scan->cache};
    enum doppel_status status = intake_new(&options, &intake, error);
    if (status)
        return status;
    for (uint64_t done = 0; !status; doppel_run_advance(scan->run, ++done)) {
        status = intake_next(intake, &file, error);
        if (status)
            break;
        if (!file.record.error.status)
            status = take(scan->by_kind[DOPPEL_KIND_IMAGE], &file.record, error);
        intake_file_free(&file);
    }
    intake_free(intake);
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

/* Images and videos once more, for their keypoints, and from the cache, to ask with all of them:
 * what could not be read was told. */
static enum doppel_status add_scanned_parts(struct scan *scan, struct doppel_error *error)
{
    struct doppel_run_options quiet = *doppel_run_get_options(scan->run);
    const struct grouping *images = scan->by_kind[DOPPEL_KIND_IMAGE];
    struct doppel_run *run = NULL;
    struct doppel_group_counts counts;
    enum doppel_status status;
    if (!images)
        return DOPPEL_OK;
    const struct doppel_scheme *scheme = read_scheme(&scan->read, DOPPEL_KIND_IMAGE);
    const bool pictures = scheme && scheme->id == DOPPEL_SCHEME_LOCAL;
    if (!pictures && !groups_videos_by_parts(scan->options) && !scan->options->parts)
        return DOPPEL_OK;
    quiet.on_failed = NULL;
    quiet.on_notice = NULL;
    quiet.on_progress = NULL;
    quiet.cancelled = is_scan_cancelled;
    quiet.context = scan;
    const struct all_groups all = {.groupings = &scan->by_kind[DOPPEL_KIND_IMAGE], .count = 1};
    groupings_count(&all, &counts);
    doppel_run_begin(scan->run, "files looked at for parts",
                     counts.items[DOPPEL_KIND_IMAGE] + counts.items[DOPPEL_KIND_VIDEO]);
    TRY(doppel_run_new(&quiet, &run, error));
    if (scan->options->parts)
        TRY(each_with_parts(scan, run, grouping_add_parts, error));
    TRY(each_with_parts(scan, run, grouping_find_parts, error));
done:
    doppel_run_end(scan->run);
    doppel_run_free(run);
    return status;
}

/* ---- groups ---- */

static struct grouping_options grouping_options_of(struct scan *scan, enum doppel_kind kind)
{
    const struct doppel_scan_paths *paths = scan->paths;
    return (struct grouping_options){
        .group = scan->options,
        .run = scan->run,
        .kind = kind,
        .features = load_cached_features,
        .text = load_cached_text,
        .video = load_cached_video,
        .context = scan,
        .cache = scan->cache,
        .labels = &scan->labels,
        .names = &scan->names,
        .policy = scan->options->keep,
        .sources = {paths->paths, paths->count, paths->references, scan->walk.files_from},
    };
}

static enum doppel_status make_scan_groupings(struct scan *scan, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (scan->options->library)
        status = manual_labels_load_from(&scan->labels, scan->options->library, error);
    if (!status && scan->options->marks)
        status = manual_labels_merge(&scan->labels, marks_labels(scan->options->marks), error);
    for (size_t i = 0; i < ORDERED && !status; i++) {
        enum doppel_kind kind = order[i];
        scan->kinds[kind] = grouping_options_of(scan, kind);
        const bool holds_videos =
            kind == DOPPEL_KIND_IMAGE && groups_videos_by_parts(scan->options);
        if (read_scheme(&scan->read, kind) || holds_videos)
            status = grouping_new(&scan->kinds[kind], &scan->by_kind[kind], error);
    }
    return status;
}

static enum doppel_status visit_scan_groups(struct scan *scan,
                                            const struct group_receiver *receiver,
                                            struct doppel_group_counts *counts,
                                            struct doppel_error *error)
{
    struct grouping *groupings[ORDERED];
    for (size_t i = 0; i < ORDERED; i++)
        groupings[i] = scan->by_kind[order[i]];
    const struct all_groups all = {.groupings = groupings, .count = ORDERED, .run = scan->run};
    groupings_count(&all, counts);
    counts->passed_over = scan->passed_over;
    return groupings_visit(&all, receiver, error);
}

/* ---- the call ---- */

static struct doppel_walk_options walk_of_paths(const struct doppel_scan_paths *paths,
                                                const struct doppel_group_options *options)
{
    struct doppel_walk_options walk = {0};
    if (options->walk)
        walk = *options->walk;
    walk.paths = (struct doppel_strings){paths->paths, paths->count};
    return walk;
}

static struct doppel_read_options read_of(const struct doppel_group_options *options)
{
    struct doppel_read_options read = {.text = options->compare.text};
    if (options->read)
        read = *options->read;
    else
        memcpy(read.schemes, options->compare.schemes, sizeof read.schemes);
    return read;
}

enum doppel_status doppel_scan(struct doppel_run *run, const struct doppel_scan_paths *paths,
                               const struct doppel_group_options *options,
                               doppel_group_visitor *visit, void *context,
                               struct doppel_group_counts *counts, struct doppel_error *error)
{
    const struct doppel_group_options defaults = doppel_group_options_default();
    options = options ? options : &defaults;
    struct scan scan = {.run = run,
                        .options = options,
                        .paths = paths,
                        .walk = walk_of_paths(paths, options),
                        .read = read_of(options)};
    const struct group_receiver receiver = {visit, context};
    struct doppel_group_counts unwanted;
    counts = counts ? counts : &unwanted;
    *counts = (struct doppel_group_counts){0};
    enum doppel_status status;
    TRY(met_rules_init(options, &scan.met, error));
    TRY(check_keep_from(&options->keep_from, error));
    TRY(open_cache(run, &scan.cache, error));
    TRY(make_scan_groupings(&scan, error));
    TRY(add_scanned_files(&scan, error));
    TRY(add_scanned_parts(&scan, error));
    TRY(visit_scan_groups(&scan, &receiver, counts, error));
done:
    for (size_t i = 0; i < KINDS; i++)
        grouping_free(scan.by_kind[i]);
    manual_labels_free(&scan.labels);
    file_names_free(&scan.names);
    met_rules_free(&scan.met);
    leave_cache(run, scan.cache);
    return status;
}
