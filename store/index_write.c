/* Changes: into the log and into the head, as parts of a transaction; and the flush that follows.
 */
#include "store/index_internal.h"

#include <string.h>

#include "core/clock.h"
#include "core/try.h"

/* A record is read into memory as a whole. */
enum { RECORD_BYTES = 1 << 20 };

static enum doppel_status check_writer(const struct doppel_store_index *self,
                                       struct doppel_error *error)
{
    if (index_takes_changes(self))
        return index_check(self, error);
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s: the index is open for reading only",
                       self->folder);
}

/* ---- the log ---- */

static enum doppel_status log_codes(struct doppel_store_index *self, const uint64_t *codes,
                                    const uint64_t *payloads, size_t count,
                                    struct doppel_error *error)
{
    uint32_t code_bytes = bytes_of_code(&self->manifest.options);
    size_t step = RECORD_BYTES / (code_bytes + 8), words = words_of_code(code_bytes);
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < count && !status; i += step) {
        size_t part = count - i < step ? count - i : step;
        status = index_log_append(self,
                                  &(struct record){.kind = RECORD_INSERT,
                                                   .code_bytes = code_bytes,
                                                   .count = (uint32_t)part,
                                                   .codes = codes + i * words,
                                                   .payloads = payloads + i},
                                  error);
    }
    return status;
}

static bool note_unlogged(struct doppel_store_index *self, const uint64_t *codes,
                          const uint64_t *payloads, size_t count)
{
    size_t words = words_of_code(bytes_of_code(&self->manifest.options));
    for (size_t i = 0; i < count * words; i++)
        if (!array_push(&self->unlogged.codes, codes[i]))
            return false;
    for (size_t i = 0; i < count; i++)
        if (!array_push(&self->unlogged.payloads, payloads[i]))
            return false;
    return true;
}

/* Whether the head gets changes when they are made, not when the log is read. */
static bool changes_head(const struct doppel_store_index *self)
{
    return !self->shared || self->immediate;
}

/* What was appended last is in the head already. */
static void note_applied(struct doppel_store_index *self)
{
    if (self->immediate)
        self->last_record = self->appended;
}

enum doppel_status index_log_rest(struct doppel_store_index *self, struct doppel_error *error)
{
    struct unlogged *rest = &self->unlogged;
    if (!rest->payloads.count)
        return DOPPEL_OK;
    enum doppel_status status =
        log_codes(self, rest->codes.items, rest->payloads.items, rest->payloads.count, error);
    rest->codes.count = rest->payloads.count = 0;
    note_applied(self);
    return status;
}

/* Before the first change of a transaction: what others have appended since. */
static enum doppel_status catch_up(struct doppel_store_index *self, struct doppel_error *error)
{
    int64_t version;
    enum doppel_status status = doppel_store_data_version(self->store, &version, error);
    return status || version == self->data_version ? status
                                                   : doppel_store_index_refresh(self, NULL, error);
}

/* ---- transactions ---- */

static enum doppel_status begin_change(struct doppel_store_index *self, bool *out_own,
                                       struct doppel_error *error)
{
    enum doppel_status status;
    *out_own = false;
    TRY(check_writer(self, error));
    if (!store_in_transaction(self->store)) {
        TRY(doppel_store_begin(self->store, error));
        *out_own = true;
    }
    if (self->shared && !self->dirty)
        TRY(catch_up(self, error));
    self->dirty = true;
done:
    return status;
}

static enum doppel_status end_change(struct doppel_store_index *self, bool own,
                                     enum doppel_status status, struct doppel_error *error)
{
    if (status)
        self->failed = true;
    if (!own)
        return status;
    if (!status)
        return doppel_store_commit(self->store, error);
    doppel_store_rollback(self->store);
    return status;
}

enum doppel_status indexes_may_commit(struct doppel_store *store, struct doppel_error *error)
{
    for (struct doppel_store_index *self = store->indexes; self; self = self->next)
        if (self->failed)
            return doppel_fail(error, DOPPEL_E_ARGUMENT,
                               "%s: a change of index '%s' failed: the transaction is taken back",
                               store->path, self->name);
    enum doppel_status status = DOPPEL_OK;
    for (struct doppel_store_index *self = store->indexes; self && !status; self = self->next)
        status = index_log_rest(self, error);
    return status;
}

/* The commit is done whatever becomes of the flush: what failed is tried again when as much again
 * has come. */
static void flush_when_full(struct doppel_store_index *self)
{
    if (self->flushing || !self->index || self->log_codes < self->flush_at)
        return;
    struct doppel_error error = {0};
    if (self->shared) {
        self->flush_at = self->log_codes + self->manifest.options.head_codes;
        merger_wake(self);
    } else if (doppel_store_index_flush(self, &error)) {
        self->upkeep = error;
        self->flush_at = self->log_codes + self->manifest.options.head_codes;
    } else {
        self->upkeep = (struct doppel_error){0};
        merger_wake(self);
    }
}

void indexes_committed(struct doppel_store *store)
{
    for (struct doppel_store_index *self = store->indexes; self; self = self->next) {
        self->dirty = false;
        flush_when_full(self);
    }
}

void indexes_rolled_back(struct doppel_store *store)
{
    for (struct doppel_store_index *self = store->indexes; self; self = self->next) {
        if (!self->dirty)
            continue;
        self->dirty = self->failed = false;
        merger_pause(self);
        struct doppel_error error;
        index_load(self, &error); /* on failure all calls give its sentence */
    }
}

/* ---- changes ---- */

enum doppel_status doppel_store_index_insert(struct doppel_store_index *self, const uint64_t *codes,
                                             const uint64_t *payloads, size_t count,
                                             struct doppel_error *error)
{
    bool own;
    enum doppel_status status = begin_change(self, &own, error);
    if (status)
        return status;
    if (self->shared)
        status = note_unlogged(self, codes, payloads, count)
                     ? DOPPEL_OK
                     : doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", self->folder);
    else
        status = log_codes(self, codes, payloads, count, error);
    if (!status && changes_head(self))
        status = doppel_index_insert(self->index, codes, payloads, count, error);
    self->log_codes += count;
    index_seen(&self->log, payloads, count);
    return end_change(self, own, status, error);
}

enum doppel_status doppel_store_index_insert_item(struct doppel_store_index *self,
                                                  const struct doppel_index_item *item,
                                                  struct doppel_error *error)
{
    bool own;
    const struct record named = {.kind = RECORD_NAMED, .count = 1, .payloads = &item->payload};
    const struct record whole = {.kind = RECORD_ITEM,
                                 .count = item->count,
                                 .payloads = &item->payload,
                                 .length = item->length,
                                 .postings = item->postings};
    if (!self->source && item->count > RECORD_BYTES)
        return doppel_fail(error, DOPPEL_E_LIMIT, "an item of %u postings is too long",
                           item->count);
    enum doppel_status status = begin_change(self, &own, error);
    if (status)
        return status;
    status = index_log_append(self, self->source ? &named : &whole, error);
    note_applied(self);
    if (!status && changes_head(self))
        status = doppel_index_insert_item(self->index, item, error);
    self->log_codes += item->count;
    index_seen(&self->log, &item->payload, 1);
    return end_change(self, own, status, error);
}

static enum doppel_status log_removed(struct doppel_store_index *self, const uint64_t *payloads,
                                      size_t count, struct doppel_error *error)
{
    const size_t step = RECORD_BYTES / sizeof *payloads;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < count && !status; i += step)
        status = index_log_append(
            self,
            &(struct record){.kind = RECORD_REMOVE,
                             .count = (uint32_t)(count - i < step ? count - i : step),
                             .payloads = payloads + i},
            error);
    return status;
}

enum doppel_status doppel_store_index_remove(struct doppel_store_index *self,
                                             const uint64_t *payloads, size_t count,
                                             struct doppel_error *error)
{
    bool own;
    enum doppel_status status = begin_change(self, &own, error);
    if (status)
        return status;
    status = index_log_rest(self, error);
    if (!status)
        status = log_removed(self, payloads, count, error);
    note_applied(self);
    if (!status && changes_head(self))
        status = doppel_index_remove(self->index, payloads, count, error);
    self->log_codes += count;
    return end_change(self, own, status, error);
}

/* ---- segments ---- */

static enum doppel_status check_alone(const struct doppel_store_index *self,
                                      struct doppel_error *error)
{
    if (!store_in_transaction(self->store))
        return check_writer(self, error);
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s: segments are not made within a transaction",
                       self->folder);
}

/* Of a shared index, which sees what came of it. */
static enum doppel_status keep_now(struct doppel_store_index *self, bool all,
                                   struct doppel_error *error)
{
    merger_pause(self);
    enum doppel_status status = index_keep(self, self->store, all, error);
    return status ? status : doppel_store_index_refresh(self, NULL, error);
}

enum doppel_status doppel_store_index_flush(struct doppel_store_index *self,
                                            struct doppel_error *error)
{
    enum doppel_status status = check_alone(self, error);
    if (status || !self->log_codes)
        return status;
    if (self->shared)
        return keep_now(self, false, error);
    struct publication work = self->log;
    work.flush = true;
    self->publication = &work;
    self->flushing = true;
    status = doppel_index_flush(self->index, error);
    self->publication = NULL;
    self->flushing = false;
    if (status)
        return status;
    if (work.codes && work.most >= self->manifest.next_payload)
        self->manifest.next_payload = work.most + (work.most < UINT64_MAX);
    self->manifest.flushed = self->last_record;
    self->log = (struct publication){0};
    self->log_codes = 0;
    self->flush_at = self->manifest.options.head_codes;
    return DOPPEL_OK;
}

/* The caller's codes, of which account is kept. */
struct counted_load {
    const struct doppel_index_load *load;
    struct publication *work;
    uint64_t read; /* in this pass */
    bool again;    /* it was read to its end once, and counted */
};

static size_t read_counted(void *context, uint64_t *codes, uint64_t *payloads, size_t max)
{
    struct counted_load *counted = context;
    size_t count = counted->load->read(counted->load->context, codes, payloads, max);
    if (!counted->again)
        index_seen(counted->work, payloads, count);
    counted->read += count;
    if (!count && max && counted->read < counted->load->count)
        counted->work->cut_short = true;
    return count;
}

static void rewind_counted(void *context)
{
    struct counted_load *counted = context;
    counted->again = counted->work->codes == counted->load->count;
    if (!counted->again)
        counted->work->codes = 0;
    counted->read = 0;
    counted->load->rewind(counted->load->context);
}

enum doppel_status doppel_store_index_bulk(struct doppel_store_index *self,
                                           const struct doppel_index_load *load,
                                           struct doppel_error *error)
{
    enum doppel_status status = doppel_store_index_flush(self, error);
    if (status)
        return status;
    struct publication work = {.begun = monotonic_seconds()};
    struct counted_load counted = {.load = load, .work = &work};
    self->publication = &work;
    status = doppel_index_bulk(self->index,
                               &(struct doppel_index_load){.context = &counted,
                                                           .count = load->count,
                                                           .read = read_counted,
                                                           .rewind = rewind_counted},
                               error);
    self->publication = NULL;
    if (status)
        return status;
    if (work.codes && work.most >= self->manifest.next_payload)
        self->manifest.next_payload = work.most + (work.most < UINT64_MAX);
    self->manifest.build_ms += (uint64_t)((monotonic_seconds() - work.begun) * 1e3 + 0.5);
    return DOPPEL_OK;
}

enum doppel_status doppel_store_index_compact(struct doppel_store_index *self, bool all,
                                              struct doppel_error *error)
{
    enum doppel_status status = check_alone(self, error);
    if (status || self->shared)
        return status ? status : keep_now(self, all, error);
    status = doppel_store_index_flush(self, error);
    if (status)
        return status;
    merger_pause(self);
    return doppel_index_compact(self->index, all, error);
}
