/* From paths to records, in the order of the walk: the window between the two. */
#include "intake/intake_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Files counted ahead, for the ETA, at each wait. */
enum { COUNT_STEP = 256 };

/* While a long video is waited for, the line is drawn again. */
enum { REDRAW_MS = 250, LARGE_BYTES = 16 << 20, MOST_MEMBER_BYTES = 256 << 20 };

/* Open files: without so many nothing starts; with so many nothing more is asked for. */
enum { LEAST_FILES = 64, MANY_FILES = 4096 };

void intake_file_free(struct intake_file *file)
{
    free(file->path);
    doppel_record_free(&file->record);
    *file = (struct intake_file){0};
}

static void slot_free(struct intake_slot *slot)
{
    walk_entry_free(&slot->entry);
    intake_file_free(&slot->file);
}

/* As many open files as are allowed, if they are enough for the workers' and the walk's, and the
 * databases. */
static enum doppel_status claim_descriptors(struct doppel_error *error)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return DOPPEL_OK;
    rlim_t wanted = limit.rlim_max < MANY_FILES ? limit.rlim_max : MANY_FILES;
    if (limit.rlim_cur < wanted) {
        limit.rlim_cur = wanted;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur >= LEAST_FILES)
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_LIMIT,
                       "only %llu files may be open at a time, doppel needs %d (ulimit -n %d)",
                       (unsigned long long)limit.rlim_cur, LEAST_FILES, LEAST_FILES);
}

enum doppel_status intake_new(const struct intake_options *options, struct intake **out,
                              struct doppel_error *error)
{
    enum doppel_status status = claim_descriptors(error);
    if (status)
        return status;
    struct intake *intake = malloc(sizeof *intake);
    if (!intake)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read files");
    memset(intake, 0, offsetof(struct intake, slots));
    intake->options = options;
    status = walk_new(options->walk, options->run, &intake->walk, error);
    if (status) {
        free(intake);
        return status;
    }
    if (doppel_run_shows_progress(options->run) && walk_repeatable(options->walk))
        (void)walk_new(options->walk, options->run, &intake->counter, NULL);
    intake->here = getcwd(NULL, 0);
    intake->progress.unit = "files";
    doppel_run_begin(options->run, "files", 0);
    *out = intake;
    return DOPPEL_OK;
}

void intake_free(struct intake *intake)
{
    if (!intake)
        return;
    for (; intake->next_out < intake->next_in; intake->next_out++)
        slot_free(&intake->slots[intake->next_out % WINDOW]);
    doppel_run_end(intake->options->run);
    if (intake->options->cache)
        (void)doppel_cache_flush(intake->options->cache, NULL); /* whose lock is not held then */
    doppel_pool_free(intake->pool);
    archives_free(&intake->archives);
    walk_free(intake->counter);
    walk_free(intake->walk);
    free(intake->here);
    free(intake);
}

/* ---- from the walk ---- */

/* Folders of duplicates by design are left out, which is worth knowing without -v. */
static void say_skipped(struct doppel_run *run, const struct walk_entry *entry)
{
    if (entry->skip == SKIP_TRASH)
        doppel_run_notice(run, "%s: left out (%s)", entry->path, walk_skip_text(entry->skip));
    else
        doppel_run_detail(run, entry->path, walk_skip_text(entry->skip));
}

static bool is_filtered_out(enum walk_skip skip)
{
    return skip == SKIP_EXCLUDED || skip == SKIP_SMALL || skip == SKIP_EXTENSION ||
           skip == SKIP_AGE;
}

static bool caller_knows(const struct intake_options *options, struct intake_file *file)
{
    void *context = options->known_context;
    return (options->fails &&
            options->fails(context, file->path, &file->stamp, &file->record.error)) ||
           (options->known && options->known(context, file->path, &file->stamp));
}

/* What is in an archive comes before what the walk gives next. */
static bool next_entry(struct intake *intake, struct walk_entry *out)
{
    if (!archives_next(&intake->archives, intake->options->walk, out))
        return walk_next(intake->walk, out);
    intake->member_bytes += out->is_member && out->member_fd >= 0 ? (uint64_t)out->stat.st_size : 0;
    return true;
}

/* Whether the slot's file is an archive: then its members come next, and it is none itself. */
static bool enter_archive(struct intake *intake, struct intake_slot *slot)
{
    struct doppel_error error;
    int fd;
    if (!intake->options->walk->archives || walk_open(intake->walk, &slot->entry, &fd, NULL))
        return false;
    bool archive = is_archive(fd);
    if (archive && archives_begin(&intake->archives, intake->options->run, &slot->entry,
                                  named_on_command_line(intake, slot), fd, &error))
        slot_ready(slot, error.status, error.message);
    close(fd);
    return archive;
}

/* The bytes of a member are needed no more. */
static void let_member_go(struct intake *intake, struct intake_slot *slot)
{
    if (slot->state >= SLOT_READY)
        intake->member_bytes -= walk_entry_let_go(&slot->entry);
}

/* Put the next entry of the walk into the window. */
static enum doppel_status take_in(struct intake *intake, struct doppel_error *error)
{
    struct intake_slot *slot = &intake->slots[intake->next_in % WINDOW];
    *slot = (struct intake_slot){.state = SLOT_PASSED_OVER};
    if (!next_entry(intake, &slot->entry)) {
        intake->walked = true;
        return DOPPEL_OK;
    }
    enum doppel_status status = DOPPEL_OK;
    slot->file.path = slot->entry.path ? strdup(slot->entry.path) : NULL;
    if (!slot->file.path) {
        walk_entry_free(&slot->entry);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a path");
    }
    slot->file.source = (uint32_t)slot->entry.argument;
    slot->file.stamp = doppel_file_stamp_of(&slot->entry.stat);
    if (intake->options->exact_kinds)
        slot->exact_kinds = intake->options->exact_kinds(intake->options->known_context);
    if (slot->entry.what == WALK_ERROR) {
        slot_ready(slot, slot->entry.error.status, slot->entry.error.message);
    } else if (slot->entry.what == WALK_SKIPPED) {
        if (intake->options->left_out && is_filtered_out(slot->entry.skip))
            intake->options->left_out(intake->options->known_context);
        say_skipped(intake->options->run, &slot->entry);
    } else if (slot->entry.what == WALK_SAME_FILE) {
        if (intake->options->same_file)
            intake->options->same_file(intake->options->known_context, slot->file.path,
                                       &slot->entry.stat);
        doppel_run_detail(intake->options->run, slot->file.path, "another name of a file seen");
    } else if (enter_archive(intake, slot)) {
        doppel_run_detail(intake->options->run, slot->file.path, "an archive");
    } else if (caller_knows(intake->options, &slot->file)) {
        slot->file.known = true;
        slot->state = SLOT_READY;
    } else if (!slot_recall_by_path(intake, slot)) {
        status = slot_begin_reading(intake, slot, error);
    }
    if (!status && slot->state == SLOT_READY)
        slot_read_for_lists(intake, slot);
    let_member_go(intake, slot);
    intake->next_in++;
    return status;
}

/* ---- from the workers ---- */

static void drop_attachment(struct intake *intake, struct doppel_record *record)
{
    if (keeps_attachment(intake, record->kind))
        return;
    free(record->attachment);
    record->attachment = NULL;
    record->attachment_size = 0;
}

/* What befell a file for the sake of its name, or of what others did to it, and not of its bytes.
 */
static bool is_its_own(enum doppel_status status)
{
    return status == DOPPEL_E_CHANGED || status == DOPPEL_E_NOT_FOUND || status == DOPPEL_E_IO;
}

/* Files with the same bytes as `slot`, read in the same way, share its fate, whatever became of the
 * cache; where that was its own, the first of them that can be read takes its place at the worker.
 */
static enum doppel_status wake_twins(struct intake *intake, const struct intake_slot *slot,
                                     const struct doppel_digest *digest, struct doppel_error *error)
{
    uint32_t reading = slot->file.record.reading;
    bool shares = !is_its_own(slot->file.record.error.status);
    enum doppel_status status = DOPPEL_OK;
    for (uint64_t n = intake->next_out; n < intake->next_in && !status; n++) {
        struct intake_slot *twin = &intake->slots[n % WINDOW];
        if (twin->state != SLOT_TWIN || twin->scheme != slot->scheme ||
            twin->file.record.reading != reading ||
            memcmp(&twin->file.record.digest, digest, sizeof *digest) != 0)
            continue;
        if (shares) {
            slot_share(twin, slot);
            let_member_go(intake, twin);
            slot_count_video(intake, twin, true);
            drop_attachment(intake, &twin->file.record);
            continue;
        }
        status = slot_read_again(intake, n, error);
        if (twin->state == SLOT_AT_WORKER)
            break;
    }
    return status;
}

/* Put a worker's outcome, which is freed, where it belongs. */
static enum doppel_status settle(struct intake *intake, struct doppel_outcome *outcome,
                                 struct doppel_error *error)
{
    struct intake_slot *slot = &intake->slots[outcome->tag % WINDOW];
    struct doppel_digest digest = slot->file.record.digest;
    enum doppel_status status = slot_take_outcome(intake, outcome, error);
    doppel_outcome_free(outcome);
    if (status || slot->state != SLOT_READY)
        return status;
    status = wake_twins(intake, slot, &digest, error);
    drop_attachment(intake, &slot->file.record);
    let_member_go(intake, slot);
    return status;
}

/* Wait for a worker's outcome. */
static enum doppel_status wait_for_outcome(struct intake *intake, struct doppel_error *error)
{
    struct doppel_outcome outcome;
    enum doppel_status status;
    int wait_ms = doppel_run_shows_progress(intake->options->run) ? REDRAW_MS : -1;
    while ((status = doppel_pool_next(intake->pool, wait_ms, &outcome, error)) == DOPPEL_E_TIMEOUT)
        intake_show_progress(intake);
    return status ? status : settle(intake, &outcome, error);
}

/* Take one that is there. */
static enum doppel_status look_for_outcome(struct intake *intake, struct doppel_error *error)
{
    struct doppel_outcome outcome;
    enum doppel_status status = doppel_pool_next(intake->pool, 0, &outcome, error);
    return status ? status : settle(intake, &outcome, error);
}

/* To digest a large file takes long: a worker that is done meanwhile gets its next one. */
static enum doppel_status look_at_workers(struct intake *intake, const struct intake_slot *slot,
                                          struct doppel_error *error)
{
    struct doppel_outcome outcome;
    if (!intake->pool || slot->file.stamp.size < LARGE_BYTES)
        return DOPPEL_OK;
    intake_show_progress(intake);
    return doppel_pool_next(intake->pool, 0, &outcome, NULL) ? DOPPEL_OK
                                                             : settle(intake, &outcome, error);
}

/* ---- to the caller ---- */

/* Count files ahead of the walk, a step at a time. */
static void count_ahead(struct intake *intake)
{
    for (int i = 0; intake->counter && i < COUNT_STEP; i++) {
        struct walk_entry entry;
        if (!walk_next(intake->counter, &entry)) {
            walk_free(intake->counter);
            intake->counter = NULL;
            intake->progress.total = intake->counted;
            return;
        }
        intake->counted += entry.what == WALK_FILE;
        intake->progress.videos_total += entry.what == WALK_FILE && named_as_video(entry.path) &&
                                         intake_wants(intake, DOPPEL_KIND_VIDEO);
        walk_entry_free(&entry);
    }
}

/* So much of members lies in memory, as long as there is something to wait for. */
static bool holds_many_members(const struct intake *intake)
{
    return intake->member_bytes > MOST_MEMBER_BYTES && intake->pool &&
           doppel_pool_pending(intake->pool);
}

/* Keep the workers fed. */
static enum doppel_status fill_window(struct intake *intake, struct doppel_error *error)
{
    while (!intake->walked && !holds_many_members(intake) &&
           intake->next_in - intake->next_out < WINDOW &&
           (!intake->pool || doppel_pool_room(intake->pool) > 0)) {
        if (doppel_run_cancelled(intake->options->run))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
        const struct intake_slot *slot = &intake->slots[intake->next_in % WINDOW];
        enum doppel_status status = take_in(intake, error);
        if (status == DOPPEL_OK)
            status = look_at_workers(intake, slot, error);
        if (status)
            return status;
        /* A run of known files is handed on at once. */
        if (intake->slots[intake->next_out % WINDOW].state >= SLOT_READY)
            return DOPPEL_OK;
    }
    return DOPPEL_OK;
}

/* A video without audio where recordings are wanted, or one of audio alone where videos are, that
 * nobody named is no error: it is nothing that could be compared. */
static bool lacks_what_is_wanted(const struct intake *intake, const struct intake_slot *slot)
{
    const struct doppel_record *record = &slot->file.record;
    return slot->state == SLOT_READY && slot->scheme && record->error.status == DOPPEL_E_FORMAT &&
           record->kind ==
               (slot->scheme->kind == DOPPEL_KIND_VIDEO ? DOPPEL_KIND_AUDIO : DOPPEL_KIND_VIDEO) &&
           !named_on_command_line(intake, slot);
}

static void tell_failure(const struct intake *intake, const struct intake_slot *slot)
{
    const struct intake_options *options = intake->options;
    if (options->failed && !slot->file.known && slot->entry.what == WALK_FILE &&
        !slot->entry.is_stdin && !slot->entry.is_member)
        options->failed(options->known_context, slot->file.path, &slot->file.stamp,
                        &slot->file.record.error);
}

/* Hand out the slot at the front, or report why not; true when `out` was filled. */
static bool hand_out(struct intake *intake, struct intake_file *out)
{
    struct doppel_run *run = intake->options->run;
    struct intake_slot *slot = &intake->slots[intake->next_out++ % WINDOW];
    if (lacks_what_is_wanted(intake, slot)) {
        doppel_run_detail(run, slot->file.path, slot->file.record.error.message);
        slot->state = SLOT_PASSED_OVER;
        intake->passed_over++;
    }
    bool good = slot->state == SLOT_READY && slot->file.record.error.status == DOPPEL_OK;
    bool failed = slot->state == SLOT_READY && !good && intake->options->failures;
    intake->progress.done += slot->entry.what == WALK_FILE;
    if (failed)
        slot_name_unknown(intake, slot);
    if (good || failed) {
        if (good)
            slot_say(intake, slot);
        *out = slot->file;
        slot->file = (struct intake_file){0};
    } else if (slot->state == SLOT_READY) {
        slot_name_unknown(intake, slot);
        doppel_run_failed(run, slot->file.path, &slot->file.record.error);
        tell_failure(intake, slot);
    }
    slot_free(slot);
    intake_show_progress(intake);
    return good || failed;
}

/* -v has named them one by one. */
static void say_passed_over(struct intake *intake)
{
    struct doppel_run *run = intake->options->run;
    char wanted[64];
    intake_wanted(intake, wanted);
    if (intake->passed_over && !doppel_run_get_options(run)->details)
        doppel_run_notice(run, "%llu file%s that %s no %s passed over (-v names them)",
                          (unsigned long long)intake->passed_over,
                          intake->passed_over == 1 ? "" : "s",
                          intake->passed_over == 1 ? "is" : "are", wanted);
    intake->passed_over = 0;
}

static enum doppel_status next(struct intake *intake, bool wait, struct intake_file *out,
                               struct doppel_error *error)
{
    for (;;) {
        enum doppel_status status = fill_window(intake, error);
        if (status)
            return status;
        if (intake->next_out == intake->next_in) {
            say_passed_over(intake);
            intake_say_poor(intake);
            intake_say_ocr(intake);
            return DOPPEL_E_NOT_FOUND;
        }
        if (intake->slots[intake->next_out % WINDOW].state >= SLOT_READY) {
            if (hand_out(intake, out))
                return DOPPEL_OK;
            continue;
        }
        count_ahead(intake);
        status = wait ? wait_for_outcome(intake, error) : look_for_outcome(intake, error);
        if (status &&
            !(status == DOPPEL_E_CANCELLED && !doppel_run_cancelled(intake->options->run)))
            return status;
    }
}

enum doppel_status intake_next(struct intake *intake, struct intake_file *out,
                               struct doppel_error *error)
{
    return next(intake, true, out, error);
}

enum doppel_status intake_next_ready(struct intake *intake, struct intake_file *out,
                                     struct doppel_error *error)
{
    return next(intake, false, out, error);
}

void intake_resume(struct intake *intake)
{
    intake->walked = false;
}
