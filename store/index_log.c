/* The log: what was inserted and removed since the last flush, record after record. */
#include "store/index_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/try.h"

/* The records of an index lie together: its id × 2^40, and from there its records' numbers. */
enum { NUMBER_BITS = 40 };

/* Records of no index, or such as its segments should hold. */
#define STRAY                                                                                      \
    " WHERE NOT EXISTS (SELECT 1 FROM doppel_index"                                                \
    " WHERE id=record>>40 AND record>(id<<40)+flushed)"

static int64_t log_key(int64_t owner, int64_t number)
{
    return owner * ((int64_t)1 << NUMBER_BITS) + number;
}

enum doppel_status index_log_append(struct doppel_store_index *self, const struct record *record,
                                    struct doppel_error *error)
{
    struct doppel_store *store = self->store;
    sqlite3_stmt *statement;
    size_t size;
    bool row;
    if (!record_encode(record, &self->buffer, &size))
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", store->path);
    enum doppel_status status = doppel_store_statement(
        store, "INSERT INTO doppel_index_log(record, data) VALUES(?1, ?2)", &statement, error);
    if (status)
        return status;
    int64_t *last = self->shared ? &self->appended : &self->last_record;
    sqlite3_bind_int64(statement, 1, log_key(self->manifest.id, *last + 1));
    sqlite3_bind_blob64(statement, 2, self->buffer.bytes, size, SQLITE_STATIC);
    status = doppel_store_step(store, statement, &row, error);
    if (!status)
        ++*last;
    return status;
}

enum doppel_status index_log_drop(struct doppel_store *store, int64_t owner, int64_t last,
                                  struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status = doppel_store_statement(
        store, "DELETE FROM doppel_index_log WHERE record BETWEEN ?1 AND ?2", &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, log_key(owner, 0));
    sqlite3_bind_int64(statement, 2, log_key(owner, last));
    return doppel_store_step(store, statement, &row, error);
}

/* ---- replay ---- */

/* What was appended by this process was counted then. @param payloads NULL: of removals */
static void count_logged(struct doppel_store_index *self, uint64_t codes, const uint64_t *payloads,
                         size_t count)
{
    if (self->last_record < self->appended)
        return;
    self->log_codes += codes;
    if (payloads)
        index_seen(&self->log, payloads, count);
}

/* Items that are gone, or damaged, have no postings. */
static enum doppel_status insert_named(struct doppel_store_index *self, const uint64_t *payloads,
                                       size_t count, struct doppel_error *error)
{
    for (size_t i = 0; i < count; i++) {
        struct doppel_index_item item = {.payload = payloads[i]};
        struct doppel_index_posting *postings = NULL;
        enum doppel_status status =
            self->source(self->source_context, payloads[i], &item, &postings, error);
        item.postings = postings;
        if (!status)
            status = doppel_index_insert_item(self->index, &item, error);
        free(postings);
        if (status && status != DOPPEL_E_NOT_FOUND && status != DOPPEL_E_CORRUPT)
            return status;
        count_logged(self, item.count, &payloads[i], 1);
    }
    return DOPPEL_OK;
}

static enum doppel_status apply(struct doppel_store_index *self, const struct record *record,
                                struct doppel_error *error)
{
    if (record->kind == RECORD_NAMED)
        return insert_named(self, record->payloads, record->count, error);
    switch (record->kind) {
    case RECORD_INSERT:
        count_logged(self, record->count, record->payloads, record->count);
        return doppel_index_insert(self->index, record->codes, record->payloads, record->count,
                                   error);
    case RECORD_REMOVE:
        count_logged(self, record->count, NULL, 0);
        return doppel_index_remove(self->index, record->payloads, record->count, error);
    case RECORD_ITEM:
    case RECORD_NAMED:
        break;
    }
    count_logged(self, record->count, record->payloads, 1);
    return doppel_index_insert_item(self->index,
                                    &(struct doppel_index_item){.payload = record->payloads[0],
                                                                .length = record->length,
                                                                .postings = record->postings,
                                                                .count = record->count},
                                    error);
}

/* Whether a record is for an index of this make. */
static bool record_fits(const struct doppel_store_index *self, const struct record *record)
{
    const struct doppel_index_options *options = &self->manifest.options;
    if (record->kind == RECORD_REMOVE)
        return true;
    if (options->table == DOPPEL_INDEX_POSTINGS)
        return record->kind == RECORD_ITEM || (record->kind == RECORD_NAMED && self->source);
    return record->kind == RECORD_INSERT && record->code_bytes == bytes_of_code(options);
}

static enum doppel_status read_record(struct doppel_store_index *self, sqlite3_stmt *statement,
                                      struct record *out, struct doppel_error *error)
{
    const uint8_t *data = sqlite3_column_blob(statement, 1);
    size_t size = (size_t)sqlite3_column_bytes(statement, 1);
    enum doppel_status status = record_decode(data, size, &self->buffer, out);
    if (status == DOPPEL_E_MEMORY)
        return doppel_fail(error, status, "%s: no memory", self->store->path);
    if (!status && record_fits(self, out))
        return DOPPEL_OK;
    return doppel_fail(
        error, DOPPEL_E_CORRUPT, "%s: record %lld of the log of index '%s' is damaged",
        self->store->path,
        (long long)(sqlite3_column_int64(statement, 0) - log_key(self->manifest.id, 0)),
        self->name);
}

static enum doppel_status select_records(struct doppel_store_index *self, sqlite3_stmt **out,
                                         struct doppel_error *error)
{
    enum doppel_status status = doppel_store_statement(
        self->store,
        "SELECT record, data FROM doppel_index_log WHERE record > ?1 AND record < ?2"
        " ORDER BY record",
        out, error);
    if (status)
        return status;
    sqlite3_bind_int64(*out, 1, log_key(self->manifest.id, self->last_record));
    sqlite3_bind_int64(*out, 2, log_key(self->manifest.id + 1, 0));
    return DOPPEL_OK;
}

/* The next, or damage: none may be missing. */
static enum doppel_status check_number(struct doppel_store_index *self, int64_t number,
                                       struct doppel_error *error)
{
    if (number == self->last_record + 1)
        return DOPPEL_OK;
    if (self->salvage)
        return self->damaged++, DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_CORRUPT, "%s: record %lld of the log of index '%s' is lost",
                       self->store->path, (long long)(self->last_record + 1), self->name);
}

enum doppel_status index_log_replay(struct doppel_store_index *self, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    struct record record;
    bool row;
    enum doppel_status status = select_records(self, &statement, error);
    if (status)
        return status;
    while (!(status = doppel_store_step(self->store, statement, &row, error)) && row) {
        int64_t number = sqlite3_column_int64(statement, 0) - log_key(self->manifest.id, 0);
        status = check_number(self, number, error);
        if (!status)
            status = read_record(self, statement, &record, error);
        if (!status)
            status = apply(self, &record, error);
        else if (status == DOPPEL_E_CORRUPT && self->salvage)
            status = (self->damaged++, DOPPEL_OK);
        if (status)
            break;
        self->last_record = number;
        if (self->appended < number)
            self->appended = number;
    }
    sqlite3_reset(statement);
    return status;
}

/* ---- damage ---- */

enum doppel_status index_log_check(struct doppel_store_index *self, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool stray;
    enum doppel_status status;
    TRY(store_check_pages(self->store, "PRAGMA quick_check('doppel_index_log')", error));
    TRY(doppel_store_statement(self->store, "SELECT record FROM doppel_index_log" STRAY " LIMIT 1",
                               &statement, error));
    TRY(doppel_store_step(self->store, statement, &stray, error));
    sqlite3_reset(statement);
    if (stray && self->salvage)
        self->damaged++;
    else if (stray)
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "%s: a record of the log is damaged: it has a wrong number",
                           self->store->path);
done:
    return status;
}

static enum doppel_status drop_strays(struct doppel_store *store, struct doppel_error *error)
{
    return doppel_store_execute(store, "DELETE FROM doppel_index_log" STRAY, error);
}

static enum doppel_status drop_one(struct doppel_store *store, int64_t key,
                                   struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status = doppel_store_statement(
        store, "DELETE FROM doppel_index_log WHERE record=?1", &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, key);
    return doppel_store_step(store, statement, &row, error);
}

static enum doppel_status move_one(struct doppel_store *store, int64_t key, int64_t to,
                                   struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status = doppel_store_statement(
        store, "UPDATE doppel_index_log SET record=?2 WHERE record=?1", &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, key);
    sqlite3_bind_int64(statement, 2, to);
    return doppel_store_step(store, statement, &row, error);
}

enum doppel_status index_log_drop_damaged(struct doppel_store_index *self,
                                          struct doppel_error *error)
{
    sqlite3_stmt *statement;
    struct record record;
    bool row;
    int64_t last = self->last_record, next = log_key(self->manifest.id, self->manifest.flushed + 1);
    enum doppel_status status = drop_strays(self->store, error);
    if (status)
        return status;
    self->last_record = self->manifest.flushed;
    status = select_records(self, &statement, error);
    self->last_record = last;
    if (status)
        return status;
    while (!(status = doppel_store_step(self->store, statement, &row, error)) && row) {
        int64_t key = sqlite3_column_int64(statement, 0);
        status = read_record(self, statement, &record, error);
        if (status == DOPPEL_E_CORRUPT)
            status = drop_one(self->store, key, error);
        else if (!status && key != next++) /* downwards: it is not met again */
            status = move_one(self->store, key, next - 1, error);
        if (status)
            break;
    }
    sqlite3_reset(statement);
    return status;
}
