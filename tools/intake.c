/* From paths to records: stamp, cache, probe, digest, workers; in order. */
#include "tools/intake.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doppel/media.h>
#include <doppel/worker.h>

#include "tools/memory.h"
#include "tools/paths.h"
#include "tools/signals.h"

/* WINDOW files at most are between the walk and the caller, so that one slow file neither stops the
 * others nor lets them pile up. COUNT_STEP: files counted ahead, for the ETA, at each wait. */
enum { WINDOW = 1024, COUNT_STEP = 256, PROBE_BYTES = 4096 };

enum slot_state {
    SLOT_AT_WORKER,
    SLOT_TWIN, /* waits for another slot with the same bytes */
    SLOT_READY,
    SLOT_PASSED_OVER /* nothing to say of it */
};

struct slot {
    enum slot_state state;
    struct intake_file file;
    struct walk_entry entry;
};

struct intake {
    const struct intake_options *options;
    enum doppel_scheme_id scheme;
    struct walk *walk;
    struct walk *counter; /* runs ahead to know how many files there will be; NULL when done */
    struct doppel_pool *pool;
    struct slot slots[WINDOW];
    uint64_t next_in, next_out; /* slot n lies at n % WINDOW */
    uint64_t counted, done, passed_over;
    bool walked, cache_failed;
    char *here; /* the working directory, "" when not known: the cache wants absolute paths */
};

void intake_file_free(struct intake_file *file)
{
    free(file->path);
    doppel_record_free(&file->record);
    *file = (struct intake_file){0};
}

/* The path under which the cache knows a file; given (free). */
static char *cache_path(const struct intake *intake, const char *path)
{
    if (path[0] == '/')
        return must_copy(path);
    char *absolute = must_allocate(strlen(intake->here) + strlen(path) + 2);
    sprintf(absolute, "%s/%s", intake->here, path);
    return absolute;
}

static void slot_free(struct slot *slot)
{
    walk_entry_free(&slot->entry);
    intake_file_free(&slot->file);
}

static struct doppel_file_stamp stamp_of(const struct stat *status)
{
    return (struct doppel_file_stamp){
        .device = status->st_dev,
        .inode = status->st_ino,
        .size = status->st_size,
        .mtime_ns = (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec,
    };
}

static bool same_stamp(const struct doppel_file_stamp *a, const struct doppel_file_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->mtime_ns == b->mtime_ns;
}

enum doppel_status intake_new(const struct intake_options *options, struct intake **out,
                              struct doppel_error *error)
{
    struct intake *intake = must_allocate(sizeof *intake);
    intake->options = options;
    intake->scheme = options->settings->scheme->id;
    enum doppel_status status = walk_new(options->walk, &intake->walk, error);
    if (status) {
        free(intake);
        return status;
    }
    if (options->report->progress.stream && walk_repeatable(options->walk))
        (void)walk_new(options->walk, &intake->counter, NULL);
    char *here = getcwd(NULL, 0);
    intake->here = here ? here : must_copy("");
    progress_begin(&options->report->progress, "files", 0);
    *out = intake;
    return DOPPEL_OK;
}

void intake_free(struct intake *intake)
{
    if (!intake)
        return;
    for (; intake->next_out < intake->next_in; intake->next_out++)
        slot_free(&intake->slots[intake->next_out % WINDOW]);
    progress_clear(&intake->options->report->progress);
    (void)doppel_cache_flush(intake->options->cache, NULL); /* its lock is not held meanwhile */
    doppel_pool_free(intake->pool);
    walk_free(intake->counter);
    walk_free(intake->walk);
    free(intake->here);
    free(intake);
}

/* A cache that cannot be written costs time, not results: it is said once. */
static void note_cache(struct intake *intake, enum doppel_status status,
                       const struct doppel_error *error)
{
    if (status && !intake->cache_failed)
        report_notice(intake->options->report, "the cache is not kept: %s", error->message);
    intake->cache_failed |= status != DOPPEL_OK;
}

static void ready(struct slot *slot, enum doppel_status status, const char *reason)
{
    slot->state = SLOT_READY;
    doppel_fail(&slot->file.record.error, status, "%s", reason);
}

/* A file of another kind is an error only when someone expects a picture there. */
static bool named_as_picture(const char *path)
{
    static const char *const endings[] = {".jpg", ".jpeg", ".jpe",  ".jfif", ".png",
                                          ".gif", ".webp", ".bmp",  ".tif",  ".tiff",
                                          ".tga", ".heic", ".heif", ".avif", ".jxl"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(dot, endings[i]) == 0)
            return true;
    return false;
}

static bool named_on_command_line(const struct intake *intake, const struct slot *slot)
{
    const struct strings *paths = &intake->options->walk->paths;
    size_t source = slot->file.source;
    return source >= paths->count || strcmp(paths->items[source], slot->file.path) == 0;
}

/* Ends the slot unless the file begins like a picture. */
static void probe(struct intake *intake, struct slot *slot, int fd)
{
    uint8_t head[PROBE_BYTES];
    ssize_t got = pread(fd, head, sizeof head, 0);
    if (got < 0) {
        ready(slot, DOPPEL_E_IO, strerror(errno));
        return;
    }
    enum doppel_format format;
    enum doppel_kind kind = doppel_media_probe(head, (size_t)got, &format);
    if (got > 0 && kind == DOPPEL_KIND_IMAGE)
        return;
    if (!named_as_picture(slot->file.path) && !named_on_command_line(intake, slot)) {
        slot->state = SLOT_PASSED_OVER;
        intake->passed_over++;
        report_detail(intake->options->report, slot->file.path, "not a picture");
    } else if (got == 0) {
        ready(slot, DOPPEL_E_EMPTY, "the file is empty");
    } else {
        ready(slot, DOPPEL_E_FORMAT,
              kind == DOPPEL_KIND_TEXT    ? "not a picture but text"
              : kind == DOPPEL_KIND_AUDIO ? "not a picture but a sound recording"
              : kind == DOPPEL_KIND_VIDEO ? "not a picture but a video"
                                          : "not a picture of a format that doppel knows");
    }
}

/* Take the record from the cache, where there is one. */
static bool recall(struct intake *intake, struct slot *slot, const struct doppel_digest *digest)
{
    if (doppel_cache_record(intake->options->cache, digest, intake->scheme,
                            intake->options->attachments, &slot->file.record))
        return false;
    slot->state = SLOT_READY;
    return true;
}

static bool recall_by_path(struct intake *intake, struct slot *slot)
{
    struct doppel_digest digest;
    char *path = cache_path(intake, slot->file.path);
    bool known =
        doppel_cache_file(intake->options->cache, path, &slot->file.stamp, &digest) == DOPPEL_OK;
    free(path);
    return known && recall(intake, slot, &digest);
}

static bool has_twin_at_worker(const struct intake *intake, const struct doppel_digest *digest)
{
    for (uint64_t n = intake->next_out; n < intake->next_in; n++) {
        const struct slot *other = &intake->slots[n % WINDOW];
        if (other->state == SLOT_AT_WORKER &&
            memcmp(&other->file.record.digest, digest, sizeof *digest) == 0)
            return true;
    }
    return false;
}

/* The pool, started at the first file that needs it. */
static enum doppel_status want_pool(struct intake *intake, struct doppel_error *error)
{
    if (intake->pool)
        return DOPPEL_OK;
    const struct settings *settings = intake->options->settings;
    struct doppel_pool_options pool = doppel_pool_options_default();
    pool.jobs = settings->jobs;
    pool.timeout_ms = settings->timeout_ms;
    pool.max_memory = settings->max_memory;
    pool.max_bytes = settings->max_bytes;
    pool.max_pixels = settings->max_pixels;
    enum doppel_status status = doppel_pool_new(&pool, &intake->pool, error);
    /* NOT_FOUND is the end of the files here, not the lack of a program. */
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_E_IO : status;
}

/* Digest an open file; whether it stayed the same meanwhile, its stamp tells. */
static bool digest(struct intake *intake, struct slot *slot, int fd)
{
    struct doppel_digest *digest = &slot->file.record.digest;
    struct doppel_error error;
    struct stat after;
    if (doppel_digest_fd(fd, digest, NULL, &error)) {
        ready(slot, error.status, error.message);
        return false;
    }
    struct doppel_file_stamp now;
    if (fstat(fd, &after) == 0 && (now = stamp_of(&after), !same_stamp(&now, &slot->file.stamp))) {
        ready(slot, DOPPEL_E_CHANGED, "the file changed while it was being read");
        return false;
    }
    if (slot->entry.is_stdin)
        return true;
    char *path = cache_path(intake, slot->file.path);
    enum doppel_status status =
        doppel_cache_put_file(intake->options->cache, path, &slot->file.stamp, digest, &error);
    free(path);
    note_cache(intake, status, &error);
    return true;
}

/* Read a file that the cache does not know by its path. */
static enum doppel_status read_file(struct intake *intake, struct slot *slot,
                                    struct doppel_error *error)
{
    int fd;
    struct doppel_error reason;
    if (walk_open(intake->walk, &slot->entry, &fd, &reason)) {
        ready(slot, reason.status, reason.message);
        return DOPPEL_OK;
    }
    slot->state = SLOT_AT_WORKER;
    probe(intake, slot, fd);
    if (slot->state != SLOT_AT_WORKER)
        goto done;
    uint64_t max_bytes = intake->options->settings->max_bytes;
    if ((uint64_t)slot->file.stamp.size > max_bytes) {
        slot->state = SLOT_READY;
        doppel_fail(&slot->file.record.error, DOPPEL_E_LIMIT,
                    "has %lld bytes, over the limit of %llu (--max-bytes)",
                    (long long)slot->file.stamp.size, (unsigned long long)max_bytes);
        goto done;
    }
    if (!digest(intake, slot, fd) || recall(intake, slot, &slot->file.record.digest))
        goto done;
    if (has_twin_at_worker(intake, &slot->file.record.digest)) {
        slot->state = SLOT_TWIN;
        goto done;
    }
    enum doppel_status status = want_pool(intake, error);
    if (status) {
        close(fd);
        return status;
    }
    return doppel_pool_submit(intake->pool, fd, intake->scheme, intake->next_in, error);

done:
    close(fd);
    return DOPPEL_OK;
}

/* Folders of doubles by design are left out, which is worth knowing without -v. */
static void say_skipped(struct report *report, const struct walk_entry *entry)
{
    if (entry->skip == SKIP_TRASH)
        report_notice(report, "%s: left out (%s)", entry->path, walk_skip_text(entry->skip));
    else
        report_detail(report, entry->path, walk_skip_text(entry->skip));
}

/* Put the next entry of the walk into the window. */
static enum doppel_status take_in(struct intake *intake, struct doppel_error *error)
{
    struct slot *slot = &intake->slots[intake->next_in % WINDOW];
    *slot = (struct slot){.state = SLOT_PASSED_OVER};
    if (!walk_next(intake->walk, &slot->entry)) {
        intake->walked = true;
        return DOPPEL_OK;
    }
    enum doppel_status status = DOPPEL_OK;
    slot->file.path = must_copy(slot->entry.path);
    slot->file.source = (uint32_t)slot->entry.argument;
    slot->file.stamp = stamp_of(&slot->entry.stat);
    if (slot->entry.what == WALK_ERROR) {
        ready(slot, slot->entry.error.status, slot->entry.error.message);
    } else if (slot->entry.what == WALK_SKIPPED) {
        say_skipped(intake->options->report, &slot->entry);
    } else if (slot->entry.what == WALK_SAME_FILE) {
        report_detail(intake->options->report, slot->file.path, "another name of a file seen");
    } else if (intake->options->known &&
               intake->options->known(intake->options->known_context, slot->file.path,
                                      &slot->file.stamp)) {
        slot->file.known = true;
        slot->state = SLOT_READY;
    } else if (!recall_by_path(intake, slot)) {
        status = read_file(intake, slot, error);
    }
    intake->next_in++;
    return status;
}

/* Whether the file is still what it was when it was walked to. */
static void check_unchanged(struct slot *slot)
{
    struct stat now;
    if (slot->entry.is_stdin)
        return;
    if (stat(slot->file.path, &now) != 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            return;
        doppel_record_free(&slot->file.record);
        ready(slot, DOPPEL_E_NOT_FOUND, "vanished while it was being read");
        return;
    }
    struct doppel_file_stamp stamp = stamp_of(&now);
    if (!same_stamp(&stamp, &slot->file.stamp)) {
        doppel_record_free(&slot->file.record);
        ready(slot, DOPPEL_E_CHANGED, "the file changed while it was being read");
    }
}

/* The outcome's parts become the record's. */
static void fill_record(struct intake *intake, struct doppel_record *record,
                        struct doppel_outcome *outcome)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(intake->scheme);
    record->kind = outcome->kind;
    record->scheme = scheme->id;
    record->version = scheme->version;
    record->width = outcome->width;
    record->height = outcome->height;
    record->quality = outcome->quality;
    record->error = outcome->error;
    record->fingerprint = outcome->fingerprint;
    record->attachment = outcome->attachment;
    record->attachment_size = outcome->attachment_size;
    outcome->fingerprint = (struct doppel_fingerprint){0};
    outcome->attachment = NULL;
}

static void drop_attachment(struct intake *intake, struct doppel_record *record)
{
    if (intake->options->attachments)
        return;
    free(record->attachment);
    record->attachment = NULL;
    record->attachment_size = 0;
}

/* Files with the same bytes as `slot` share its fate. */
static void wake_twins(struct intake *intake, const struct slot *slot)
{
    for (uint64_t n = intake->next_out; n < intake->next_in; n++) {
        struct slot *twin = &intake->slots[n % WINDOW];
        const struct doppel_digest *digest = &twin->file.record.digest;
        if (twin->state != SLOT_TWIN ||
            memcmp(digest, &slot->file.record.digest, sizeof *digest) != 0)
            continue;
        struct doppel_digest wanted = *digest;
        const struct doppel_error *error = &slot->file.record.error;
        if (recall(intake, twin, &wanted))
            continue;
        if (error->status)
            ready(twin, error->status, error->message);
        else
            ready(twin, DOPPEL_E_IO, "the cache did not keep what its double gave; scan again");
    }
}

/* Wait for a worker's outcome and put it where it belongs. */
static enum doppel_status take_outcome(struct intake *intake, struct doppel_error *error)
{
    struct doppel_outcome outcome;
    enum doppel_status status = doppel_pool_next(intake->pool, -1, &outcome, error);
    if (status)
        return status;
    struct slot *slot = &intake->slots[outcome.tag % WINDOW];
    fill_record(intake, &slot->file.record, &outcome);
    doppel_outcome_free(&outcome);
    slot->state = SLOT_READY;
    struct doppel_error cache_error;
    note_cache(intake,
               doppel_cache_put_record(intake->options->cache, &slot->file.record, &cache_error),
               &cache_error);
    wake_twins(intake, slot);
    drop_attachment(intake, &slot->file.record);
    check_unchanged(slot);
    return DOPPEL_OK;
}

/* Count files ahead of the walk, a step at a time. */
static void count_ahead(struct intake *intake)
{
    for (int i = 0; intake->counter && i < COUNT_STEP; i++) {
        struct walk_entry entry;
        if (!walk_next(intake->counter, &entry)) {
            walk_free(intake->counter);
            intake->counter = NULL;
            progress_set_total(&intake->options->report->progress, intake->counted);
            return;
        }
        intake->counted += entry.what == WALK_FILE;
        walk_entry_free(&entry);
    }
}

/* Keep the workers fed. */
static enum doppel_status fill_window(struct intake *intake, struct doppel_error *error)
{
    while (!intake->walked && intake->next_in - intake->next_out < WINDOW &&
           (!intake->pool || doppel_pool_room(intake->pool) > 0)) {
        if (signals_stopped())
            return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
        enum doppel_status status = take_in(intake, error);
        if (status)
            return status;
        /* A run of known files is handed on at once. */
        if (intake->slots[intake->next_out % WINDOW].state >= SLOT_READY)
            return DOPPEL_OK;
    }
    return DOPPEL_OK;
}

/* Hand out the slot at the front, or report why not; true when `out` was filled. */
static bool hand_out(struct intake *intake, struct intake_file *out)
{
    struct report *report = intake->options->report;
    struct slot *slot = &intake->slots[intake->next_out++ % WINDOW];
    bool good = slot->state == SLOT_READY && slot->file.record.error.status == DOPPEL_OK;
    intake->done += slot->entry.what == WALK_FILE;
    if (good) {
        *out = slot->file;
        slot->file = (struct intake_file){0};
    } else if (slot->state == SLOT_READY) {
        report_input(report, slot->file.path, slot->file.record.error.message);
    }
    slot_free(slot);
    progress_update(&report->progress, intake->done, report->errors);
    return good;
}

/* -v has named them one by one. */
static void say_passed_over(struct intake *intake)
{
    struct report *report = intake->options->report;
    if (intake->passed_over && !report->verbose)
        report_notice(report, "%llu file%s that %s no picture passed over (-v names them)",
                      (unsigned long long)intake->passed_over, intake->passed_over == 1 ? "" : "s",
                      intake->passed_over == 1 ? "is" : "are");
    intake->passed_over = 0;
}

enum doppel_status intake_next(struct intake *intake, struct intake_file *out,
                               struct doppel_error *error)
{
    for (;;) {
        enum doppel_status status = fill_window(intake, error);
        if (status)
            return status;
        if (intake->next_out == intake->next_in) {
            say_passed_over(intake);
            return DOPPEL_E_NOT_FOUND;
        }
        if (intake->slots[intake->next_out % WINDOW].state >= SLOT_READY) {
            if (hand_out(intake, out))
                return DOPPEL_OK;
            continue;
        }
        count_ahead(intake);
        status = take_outcome(intake, error);
        if (status && !(status == DOPPEL_E_CANCELLED && !signals_stopped()))
            return status;
    }
}

/* Its files lose their names at once, so that nothing stays behind however the run ends. */
static enum doppel_status open_temporary_cache(struct doppel_cache **out,
                                               struct doppel_error *error)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    const char *parent = getenv("TMPDIR");
    char folder[PATH_MAX], path[PATH_MAX + 16];
    snprintf(folder, sizeof folder, "%s/doppel-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(folder))
        return doppel_fail(error, DOPPEL_E_IO, "%s: %s; name another folder by TMPDIR", folder,
                           strerror(errno));
    snprintf(path, sizeof path, "%s/cache.db", folder);
    enum doppel_status status = doppel_cache_open(path, out, NULL, error);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(path, sizeof path, "%s/cache.db%s", folder, endings[i]);
        unlink(path);
    }
    rmdir(folder);
    return status;
}

enum doppel_status open_cache(const struct settings *settings, struct report *report,
                              struct doppel_cache **out, struct doppel_error *error)
{
    char *path = cache_file(settings);
    bool renewed = false;
    struct doppel_error reason;
    enum doppel_status status = DOPPEL_E_NOT_FOUND;
    if (path)
        status = doppel_cache_open(path, out, &renewed, &reason);
    if (path && status)
        report_notice(report, "going on without the cache: %s", reason.message);
    if (renewed)
        report_notice(report, "%s: damaged or of another version; begun anew", path);
    free(path);
    return status ? open_temporary_cache(out, error) : DOPPEL_OK;
}
