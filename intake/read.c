/* A file of the intake: digested, sent to a worker, and what comes back. */
#include "intake/intake_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void slot_ready(struct intake_slot *slot, enum doppel_status status, const char *reason)
{
    slot->state = SLOT_READY;
    doppel_fail(&slot->file.record.error, status, "%s", reason);
}

/* To digest smaller files again costs no more than to remember their digests, where their bytes are
 * known elsewhere. */
enum { SMALL_BYTES = 64 * 1024 };

/* ---- reading ---- */

static bool has_twin_at_worker(const struct intake *intake, const struct intake_slot *slot)
{
    const struct doppel_record *record = &slot->file.record;
    for (uint64_t n = intake->next_out; n < intake->next_in; n++) {
        const struct intake_slot *other = &intake->slots[n % WINDOW];
        if (other->state == SLOT_AT_WORKER && other->scheme == slot->scheme &&
            other->file.record.reading == record->reading &&
            memcmp(&other->file.record.digest, &record->digest, sizeof record->digest) == 0)
            return true;
    }
    return false;
}

/* The pool, started at the first file that needs it. */
static enum doppel_status want_pool(struct intake *intake, struct doppel_error *error)
{
    if (intake->pool)
        return DOPPEL_OK;
    return intake->options->read.alone
               ? doppel_pool_alone(intake->options->run, &intake->pool, error)
               : doppel_pool_for_run(intake->options->run, &intake->pool, error);
}

static enum doppel_status submit_slot(struct intake *intake, const struct intake_slot *slot, int fd,
                                      uint64_t number, struct doppel_error *error)
{
    const struct doppel_read_options *options = &intake->options->read;
    const struct doppel_text_options *text = &options->text;
    struct doppel_order order = {
        .scheme = slot->scheme->id,
        .version = slot->scheme->version,
        .text_format =
            slot->scheme->kind == DOPPEL_KIND_TEXT ? (uint8_t)slot->file.record.reading : 0,
        .text_unit = (uint8_t)text->unit,
        .text_shingle = (uint8_t)text->shingle,
        .text_nfkc = text->nfkc,
        .text_fold_case = text->fold_case,
        .text_drop_punctuation = text->drop_punctuation,
        .text_places = intake->options->places,
        .pcm = options->pcm.format,
        .pcm_rate = options->pcm.rate,
        .pcm_channels = options->pcm.channels,
        .video_keyframes = options->fast,
        .video_no_audio = options->no_audio,
    };
    return doppel_pool_submit(intake->pool, fd, &order, number, error);
}

/* Digest an open file; whether it stayed the same meanwhile, its stamp tells. */
static bool digest(struct intake_slot *slot, int fd)
{
    struct doppel_digest *digest = &slot->file.record.digest;
    struct doppel_error error;
    struct stat after;
    struct doppel_exact_digests exact = {.kinds = slot->exact_kinds};
    if (exact_digest_fd(fd, digest, &exact, &error)) {
        slot_ready(slot, error.status, error.message);
        return false;
    }
    struct doppel_file_stamp now;
    if (!slot->entry.is_member && fstat(fd, &after) == 0 &&
        (now = doppel_file_stamp_of(&after), !doppel_file_stamp_equal(&now, &slot->file.stamp))) {
        slot_ready(slot, DOPPEL_E_CHANGED, "the file changed while it was being read");
        return false;
    }
    slot->file.exact = exact;
    return true;
}

enum doppel_status slot_begin_reading(struct intake *intake, struct intake_slot *slot,
                                      struct doppel_error *error)
{
    int fd;
    struct doppel_error reason;
    if (walk_open(intake->walk, &slot->entry, &fd, &reason)) {
        slot_ready(slot, reason.status, reason.message);
        return DOPPEL_OK;
    }
    slot->state = SLOT_AT_WORKER;
    slot_probe(intake, slot, fd);
    if (slot->state != SLOT_AT_WORKER)
        goto done;
    if (slot_is_too_large(intake, slot, &reason)) {
        slot_ready(slot, reason.status, reason.message);
        goto done;
    }
    if (!digest(slot, fd))
        goto done;
    bool elsewhere = slot_recall_elsewhere(intake, slot, &slot->file.record.digest);
    if (!slot->entry.is_stdin && !slot->entry.is_member &&
        (!elsewhere || slot->file.stamp.size >= SMALL_BYTES))
        slot_keep_digest(intake, slot);
    if (elsewhere || slot_is_listed(intake, slot) ||
        slot_recall(intake, slot, &slot->file.record.digest))
        goto done;
    if (has_twin_at_worker(intake, slot)) {
        slot->state = SLOT_TWIN;
        goto done;
    }
    enum doppel_status status = want_pool(intake, error);
    if (status) {
        close(fd);
        return status;
    }
    return submit_slot(intake, slot, fd, intake->next_in, error);

done:
    close(fd);
    return DOPPEL_OK;
}

bool slot_is_listed_anyway(const struct intake *intake, struct intake_slot *slot, int fd)
{
    uint64_t most = intake_max_bytes(intake, DOPPEL_KIND_UNKNOWN);
    bool asked =
        slot->exact_kinds && !intake->options->read.kind; /* who names a kind wants no others */
    return asked && (uint64_t)slot->file.stamp.size <= most && digest(slot, fd) &&
           slot_is_listed(intake, slot);
}

void slot_read_for_lists(struct intake *intake, struct intake_slot *slot)
{
    int fd;
    const struct doppel_error reason = slot->file.record.error;
    bool has_bytes = reason.status != DOPPEL_E_LIMIT && slot->entry.what == WALK_FILE;
    if (!slot->exact_kinds || slot->file.exact.kinds || !reason.status || !has_bytes ||
        walk_open(intake->walk, &slot->entry, &fd, NULL))
        return;
    bool read = digest(slot, fd);
    close(fd);
    slot->file.record.error = reason;
    if (read && slot_is_listed(intake, slot))
        slot->file.known = false;
}

enum doppel_status slot_read_again(struct intake *intake, uint64_t number,
                                   struct doppel_error *error)
{
    struct intake_slot *slot = &intake->slots[number % WINDOW];
    int fd;
    struct doppel_error reason;
    if (walk_open_again(intake->walk, &slot->entry, &fd, &reason)) {
        slot_ready(slot, reason.status, reason.message);
        return DOPPEL_OK;
    }
    slot->state = SLOT_AT_WORKER;
    return submit_slot(intake, slot, fd, number, error);
}

/* ---- what came of it ---- */

bool record_take_outcome(const struct doppel_scheme *scheme, struct doppel_record *record,
                         struct doppel_outcome *outcome)
{
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
    if (outcome->kind == DOPPEL_KIND_IMAGE)
        record->pixels =
            doppel_image_attachment_pixels(outcome->attachment, outcome->attachment_size);
    outcome->fingerprint = (struct doppel_fingerprint){0};
    outcome->attachment = NULL;
    return record->error.status || doppel_record_is_readable(record);
}

/* False when the file is not what it was when the walk came by: then the slot is ready. */
static bool check_unchanged(struct intake_slot *slot)
{
    struct stat now;
    if (slot->entry.is_stdin || slot->entry.is_member)
        return true;
    if (stat(slot->file.path, &now) != 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            return true;
        doppel_record_free(&slot->file.record);
        slot_ready(slot, DOPPEL_E_NOT_FOUND, "vanished while it was being read");
        return false;
    }
    struct doppel_file_stamp stamp = doppel_file_stamp_of(&now);
    if (doppel_file_stamp_equal(&stamp, &slot->file.stamp))
        return true;
    doppel_record_free(&slot->file.record);
    slot_ready(slot, DOPPEL_E_CHANGED, "the file changed while it was being read");
    return false;
}

/* It is remembered, though it may have been the machine's fault. */
static void name_retry(struct doppel_error *reason)
{
    if (reason->status == DOPPEL_E_CRASH || reason->status == DOPPEL_E_TIMEOUT)
        doppel_fail(reason, reason->status, "%s; --retry tries it again", reason->message);
}

enum doppel_status slot_take_outcome(struct intake *intake, struct doppel_outcome *outcome,
                                     struct doppel_error *error)
{
    struct intake_slot *slot = &intake->slots[outcome->tag % WINDOW];
    struct doppel_digest digest = slot->file.record.digest;
    slot->state = SLOT_READY;
    if (!record_take_outcome(slot->scheme, &slot->file.record, outcome) ||
        (!slot->file.record.error.status && has_too_many_pixels(intake, &slot->file.record))) {
        slot_forget_record(slot, &digest);
        slot_take_kind(intake, slot, slot->scheme->kind);
        slot_ready(slot, DOPPEL_E_CRASH, "the decoder went astray: its answer makes no sense");
    }
    if (!check_unchanged(slot) || slot_goes_past_cache(intake, slot))
        return DOPPEL_OK;
    if (intake->options->cache)
        name_retry(&slot->file.record.error);
    slot_keep_record(intake, slot);
    enum doppel_kind kind = slot_kind_after_all(intake, slot);
    if (!kind) {
        slot_count_video(intake, slot, false);
        return DOPPEL_OK;
    }
    slot_forget_record(slot, &digest);
    slot_turn_to(intake, slot, kind);
    return slot_recall(intake, slot, &digest) ? DOPPEL_OK
                                              : slot_read_again(intake, outcome->tag, error);
}

/* Memory of its own for what was copied; NULL stays NULL. @return false without memory */
static bool copy_bytes(void **bytes, size_t size)
{
    if (!*bytes)
        return true;
    void *copy = malloc(size ? size : 1);
    if (copy)
        memcpy(copy, *bytes, size);
    *bytes = copy;
    return copy;
}

void slot_share(struct intake_slot *slot, const struct intake_slot *from)
{
    struct doppel_record *record = &slot->file.record;
    void *codes = from->file.record.fingerprint.codes;
    void *positions = from->file.record.fingerprint.positions;
    void *attachment = from->file.record.attachment;
    uint32_t count = from->file.record.fingerprint.count;
    bool copied = copy_bytes(&codes, count * sizeof *record->fingerprint.codes);
    copied &= copy_bytes(&positions, count * sizeof *record->fingerprint.positions);
    copied &= copy_bytes(&attachment, from->file.record.attachment_size);
    *record = from->file.record;
    record->fingerprint.codes = codes;
    record->fingerprint.positions = positions;
    record->attachment = attachment;
    slot->state = SLOT_READY;
    if (copied)
        return;
    doppel_record_free(record);
    slot_ready(slot, DOPPEL_E_MEMORY, "no memory for what is known of it");
}
