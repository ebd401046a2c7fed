/* Codes of a list, taken in many at a time: those that are new as rows in order of id, with one
 * entry of the log; those that are there already, or twice in it, one by one. */
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/digest.h"
#include "core/try.h"
#include "library/derived/codes.h"
#include "library/items/import_internal.h"
#include "library/items/rows.h"
#include "library/ledger/lists.h"

enum {
    BATCH_CODES = 1 << 17,
    FEW_CODES = 16,         /* have a row of the log each */
    ROWS_AT_ONCE = 16,      /* of an INSERT */
    BATCH_CACHE_KB = 65536, /* of SQLite: digests are in no order */
    MAX_CODE_BYTES = 96     /* of a fingerprint of one code */
};

struct batch_code {
    struct doppel_digest digest;
    struct doppel_code code;
    uint32_t position;
    enum doppel_scheme_id scheme;
    uint16_t version, code_bits;
    uint8_t quality;
    bool known; /* it is there, or came before */
    int64_t added_ns;
    char *name; /* NULL: none */
    struct doppel_list_tags tags;
};

struct doppel_code_batch {
    struct doppel_library *library;
    const struct doppel_metadata *about;
    struct doppel_list_sync *sync; /* NULL: none */
    bool large_cache;
    ARRAY(struct batch_code) codes;
};

/* ---- life ---- */

enum doppel_status doppel_code_batch_new(struct doppel_library *library,
                                         const struct doppel_metadata *about,
                                         struct doppel_code_batch **out, struct doppel_error *error)
{
    static const struct doppel_metadata nothing;
    struct doppel_code_batch *batch = calloc(1, sizeof *batch);
    if (!batch)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for codes");
    batch->library = library;
    batch->about = about ? about : &nothing;
    *out = batch;
    return DOPPEL_OK;
}

void doppel_code_batch_for_sync(struct doppel_code_batch *batch, struct doppel_list_sync *sync)
{
    batch->sync = sync;
}

static void forget_code(struct batch_code *code)
{
    for (size_t i = 0; i < code->tags.count; i++)
        free(code->tags.items[i]);
    free(code->tags.items);
    free(code->name);
}

static void forget_codes(struct doppel_code_batch *batch)
{
    for (size_t i = 0; i < batch->codes.count; i++)
        forget_code(&batch->codes.items[i]);
    batch->codes.count = 0;
}

void doppel_code_batch_free(struct doppel_code_batch *batch)
{
    if (!batch)
        return;
    codes_put_off_end(batch->library);
    if (!batch->library->writing)
        codes_make_put_off(batch->library);
    if (batch->large_cache)
        library_set_cache(batch->library, WRITER_CACHE_KB);
    forget_codes(batch);
    array_free(&batch->codes);
    free(batch);
}

/* ---- adding ---- */

bool doppel_code_batch_takes(const struct doppel_item *item)
{
    const struct doppel_record *record = &item->record;
    return !(item->path && *item->path) && digest_is_none(&record->digest) &&
           !record->attachment_size && record->kind == DOPPEL_KIND_IMAGE &&
           record->scheme != DOPPEL_SCHEME_PHASH64 && record->fingerprint.count == 1 &&
           !record->width && !record->height;
}

/* What is said of one of them. */
static struct doppel_metadata about_code(const struct doppel_code_batch *batch, const char *name)
{
    struct doppel_metadata about = *batch->about;
    about.external_id = (char *)name;
    return about;
}

/* @return false without memory */
static bool copy_tags(const struct doppel_list_tags *tags, struct doppel_list_tags *out)
{
    *out = (struct doppel_list_tags){.given = tags->given};
    if (tags->count && !(out->items = calloc(tags->count, sizeof *out->items)))
        return false;
    for (; out->count < tags->count; out->count++)
        if (!(out->items[out->count] = strdup(tags->items[out->count])))
            return false;
    return true;
}

static enum doppel_status put_code(struct doppel_code_batch *batch,
                                   const struct doppel_record *record,
                                   const struct doppel_list_code *given, struct doppel_error *error)
{
    const struct doppel_fingerprint *fingerprint = &record->fingerprint;
    struct batch_code code = {.digest = record->digest,
                              .code = fingerprint->codes[0],
                              .position = fingerprint->positions[0],
                              .scheme = record->scheme,
                              .version = record->version,
                              .code_bits = fingerprint->code_bits,
                              .quality = record->quality,
                              .added_ns = given->item->added_ns,
                              .name = given->name ? strdup(given->name) : NULL};
    if ((!given->name || code.name) && copy_tags(&given->tags, &code.tags) &&
        array_push(&batch->codes, code))
        return DOPPEL_OK;
    forget_code(&code);
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for codes");
}

enum doppel_status doppel_code_batch_add(struct doppel_code_batch *batch,
                                         const struct doppel_list_code *code, bool *out_full,
                                         struct doppel_error *error)
{
    struct doppel_record record = code->item->record;
    const struct doppel_metadata about = about_code(batch, code->name);
    enum doppel_status status;
    TRY(import_check(batch->library, code->item, &about, error));
    TRY(list_tags_check(batch->library, &code->tags, error));
    TRY(import_make_digest(&record, code->name, error));
    if (!batch->sync || !list_sync_knows(batch->sync, &record.digest, &code->tags))
        TRY(put_code(batch, &record, code, error));
    *out_full = batch->codes.count >= BATCH_CODES;
done:
    return status;
}

/* A code as a record. @param out_fingerprint what the record borrows */
static struct doppel_record record_of_code(struct batch_code *code)
{
    return (struct doppel_record){.digest = code->digest,
                                  .kind = DOPPEL_KIND_IMAGE,
                                  .scheme = code->scheme,
                                  .version = code->version,
                                  .quality = code->quality,
                                  .fingerprint = {.scheme = code->scheme,
                                                  .version = code->version,
                                                  .code_bits = code->code_bits,
                                                  .count = 1,
                                                  .codes = &code->code,
                                                  .positions = &code->position}};
}

/* ---- what is there ---- */

/* By what items without a file are known: scheme and name, else digest and version. */
static int compare_known_by(const struct batch_code *a, const struct batch_code *b)
{
    int order = (a->name != NULL) - (b->name != NULL);
    if (!order)
        order = a->name ? strcmp(a->name, b->name)
                        : memcmp(a->digest.bytes, b->digest.bytes, sizeof a->digest.bytes);
    if (!order)
        order = (a->scheme > b->scheme) - (a->scheme < b->scheme);
    if (!order && !a->name)
        order = (a->version > b->version) - (a->version < b->version);
    return order;
}

static int compare_codes(const void *left, const void *right)
{
    const struct batch_code *a = *(struct batch_code *const *)left,
                            *b = *(struct batch_code *const *)right;
    int order = compare_known_by(a, b);
    return order ? order : (a > b) - (a < b);
}

static enum doppel_status look_up_code(struct doppel_code_batch *batch, struct batch_code *code,
                                       struct doppel_error *error)
{
    const struct doppel_record record = record_of_code(code);
    const struct doppel_metadata about = about_code(batch, code->name);
    struct import import = {.addition.record = &record, .about = &about};
    enum doppel_status status = import_find_known(batch->library, &import, error);
    code->known = import.present.id != 0;
    return status;
}

/* In order of what they are known by, which is the order of the indexes that are looked into.
 * @param out_fresh how many are not known */
static enum doppel_status mark_known(struct doppel_code_batch *batch, size_t *out_fresh,
                                     struct doppel_error *error)
{
    const size_t count = batch->codes.count;
    struct batch_code **order = malloc(count * sizeof *order);
    int64_t any = 0;
    if (!order)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for codes");
    enum doppel_status status =
        rows_number(batch->library, "SELECT EXISTS(SELECT 1 FROM item WHERE path < x'01')",
                    NO_VALUES, &any, NULL, error);
    for (size_t i = 0; i < count; i++)
        order[i] = &batch->codes.items[i];
    qsort(order, count, sizeof *order, compare_codes);
    for (size_t i = 0; i < count && !status; i++) {
        order[i]->known = i && compare_known_by(order[i - 1], order[i]) == 0;
        if (any && !order[i]->known)
            status = look_up_code(batch, order[i], error);
        *out_fresh += !order[i]->known;
    }
    free(order);
    return status;
}

/* ---- rows ---- */

#define TIMES_4(row) row ", " row ", " row ", " row
#define TIMES_16(row) TIMES_4(TIMES_4(row))
_Static_assert(ROWS_AT_ONCE == 16, "TIMES_16");
#define OF_ROWS(select, row)                                                                       \
    {                                                                                              \
        select " FROM (VALUES " row ")", select " FROM (VALUES " TIMES_16(row) ")"                 \
    }

/* A code on its way into a table, and what is bound of it. */
struct code_row {
    const struct doppel_metadata *about;
    struct batch_code *code;
    uint64_t id;
    const char *tag; /* of put_fresh_tags */
    int64_t list;
    uint8_t bytes[MAX_CODE_BYTES];
};

/* An INSERT of one row, and of many. */
struct code_insert {
    const char *sql[2];
    int (*bind)(sqlite3_stmt *statement, int at, struct code_row *row); /* returns how many */
    bool (*wanted)(const struct code_row *row);                         /* NULL: always */
};

static int bind_item(sqlite3_stmt *statement, int at, struct code_row *row)
{
    const struct batch_code *code = row->code;
    item_no_path(row->id, row->bytes);
    sqlite3_bind_int64(statement, at, (int64_t)row->id);
    sqlite3_bind_blob(statement, at + 1, row->bytes, NO_FILE_BYTES, SQLITE_STATIC);
    sqlite3_bind_int64(statement, at + 2, past_ns(code->added_ns));
    sqlite3_bind_blob(statement, at + 3, code->digest.bytes, sizeof code->digest.bytes,
                      SQLITE_STATIC);
    sqlite3_bind_int(statement, at + 4, (int)code->scheme);
    sqlite3_bind_int(statement, at + 5, code->version);
    sqlite3_bind_int(statement, at + 6, code->quality);
    return 7;
}

static int bind_fingerprint(sqlite3_stmt *statement, int at, struct code_row *row)
{
    const struct doppel_record record = record_of_code(row->code);
    doppel_fingerprint_write(&record.fingerprint, row->bytes);
    sqlite3_bind_int64(statement, at, (int64_t)row->id);
    sqlite3_bind_blob(statement, at + 1, row->bytes,
                      (int)doppel_fingerprint_size(&record.fingerprint), SQLITE_STATIC);
    return 2;
}

static int bind_about(sqlite3_stmt *statement, int at, struct code_row *row)
{
    const struct doppel_metadata *about = row->about;
    const struct bound_value values[] = {ID(row->id), value_string(about->source),
                                         value_string(about->date), value_text(row->code->name),
                                         value_text(about->meta)};
    const int count = sizeof values / sizeof *values;
    for (int i = 0; i < count; i++)
        value_bind(statement, at + i, &values[i]);
    return count;
}

static bool has_about(const struct code_row *row)
{
    return row->code->name || row->about->source || row->about->date || row->about->meta;
}

/* clang-format off */
#define ITEM_OF_ROW "column2, 0, column3, 0, 0, 0, 0, column4, 2, column5, column6, 0, 0, column7"
static const struct code_insert insert_items = {OF_ROWS(
    "INSERT INTO item(id, " ITEM_COLUMNS ", checksum)"
    " SELECT column1, " ITEM_OF_ROW ", " CHECKSUM_OF(ITEM_OF_ROW), "(?, ?, ?, ?, ?, ?, ?)"),
    bind_item, NULL};
static const struct code_insert insert_fingerprints = {OF_ROWS(
    "INSERT INTO fingerprint(item, data, checksum)"
    " SELECT column1, column2, " CHECKSUM_OF("column1, column2"), "(?, ?)"),
    bind_fingerprint, NULL};
#define ABOUT_OF_ROW "column1, column2, column3, column4, column5"
static const struct code_insert insert_about = {OF_ROWS(
    "INSERT INTO about(" ABOUT_COLUMNS ", checksum)"
    " SELECT " ABOUT_OF_ROW ", " CHECKSUM_OF(ABOUT_OF_ROW), "(?, ?, ?, ?, ?)"),
    bind_about, has_about};
/* clang-format on */

static int bind_label(sqlite3_stmt *statement, int at, struct code_row *row)
{
    sqlite3_bind_int64(statement, at, (int64_t)row->id);
    sqlite3_bind_text(statement, at + 1, row->tag, -1, SQLITE_STATIC);
    return 2;
}

static int bind_list_tag(sqlite3_stmt *statement, int at, struct code_row *row)
{
    sqlite3_bind_int64(statement, at + 2, row->list);
    return bind_label(statement, at, row) + 1;
}

/* clang-format off */
static const struct code_insert insert_labels = {OF_ROWS(
    "INSERT INTO label(item, label) SELECT column1, column2", "(?, ?)"), bind_label, NULL};
static const struct code_insert insert_list_tags = {OF_ROWS(
    "INSERT INTO list_said(item, tag, list) SELECT column1, column2, column3", "(?, ?, ?)"),
    bind_list_tag, NULL};
/* clang-format on */

/* @param count ROWS_AT_ONCE, or 1 */
static enum doppel_status insert_at_once(struct doppel_library *library,
                                         const struct code_insert *insert, struct code_row *rows,
                                         size_t count, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status =
        doppel_store_statement(library->store, insert->sql[count > 1], &statement, error);
    if (status)
        return status;
    for (size_t i = 0, at = 1; i < count; i++)
        at += (size_t)insert->bind(statement, (int)at, &rows[i]);
    return library_run(library, statement, error);
}

/* Of the new ones. @param id of the first of them */
static enum doppel_status insert_rows(struct doppel_code_batch *batch,
                                      const struct code_insert *insert, uint64_t id,
                                      struct doppel_error *error)
{
    struct code_row rows[ROWS_AT_ONCE];
    enum doppel_status status = DOPPEL_OK;
    size_t count = 0;
    for (size_t i = 0; i < batch->codes.count && !status; i++) {
        if (batch->codes.items[i].known)
            continue;
        rows[count].about = batch->about;
        rows[count].code = &batch->codes.items[i];
        rows[count].id = id++;
        count += !insert->wanted || insert->wanted(&rows[count]);
        if (count == ROWS_AT_ONCE) {
            status = insert_at_once(batch->library, insert, rows, count, error);
            count = 0;
        }
    }
    for (size_t i = 0; i < count && !status; i++)
        status = insert_at_once(batch->library, insert, &rows[i], 1, error);
    return status;
}

/* ---- those that are new ---- */

static enum doppel_status index_batch_codes(struct doppel_code_batch *batch, uint64_t id,
                                            struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < batch->codes.count && !status; i++)
        if (!batch->codes.items[i].known) {
            const struct doppel_record record = record_of_code(&batch->codes.items[i]);
            status = codes_put(batch->library, id++, &record, error);
        }
    return status;
}

/* What the lists say of a code, or, where it is on none, a label of its own. */
static enum doppel_status put_tags(struct doppel_code_batch *batch, uint64_t id, bool brought,
                                   const struct batch_code *code, bool *out_changed,
                                   struct doppel_error *error)
{
    const struct doppel_metadata *about = batch->about;
    const struct doppel_metadata labels = {.labels = code->tags.items,
                                           .label_count = code->tags.count};
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < about->list_count && !status; i++) {
        bool changed = false;
        status =
            list_say(batch->library, id, about->lists[i], &code->tags, brought, &changed, error);
        *out_changed |= changed;
    }
    return status || about->list_count ? status : metadata_put(batch->library, id, &labels, error);
}

static enum doppel_status flush_tags(struct doppel_library *library, struct code_row *rows,
                                     size_t *count, struct doppel_error *error)
{
    const size_t step = *count == ROWS_AT_ONCE ? ROWS_AT_ONCE : 1;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < *count && !status; i += step) {
        status = insert_at_once(library, &insert_labels, rows + i, step, error);
        if (!status)
            status = insert_at_once(library, &insert_list_tags, rows + i, step, error);
    }
    *count = 0;
    return status;
}

/* Of new items, of which nothing else is said and one list says it all. */
static enum doppel_status put_tags_at_once(struct doppel_code_batch *batch, uint64_t id,
                                           int64_t list, struct doppel_error *error)
{
    struct code_row rows[ROWS_AT_ONCE];
    size_t count = 0;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < batch->codes.count; i++) {
        const struct batch_code *code = &batch->codes.items[i];
        for (size_t tag = 0; !code->known && tag < code->tags.count; tag++) {
            rows[count].id = id;
            rows[count].tag = code->tags.items[tag];
            rows[count++].list = list;
            if (count == ROWS_AT_ONCE)
                TRY(flush_tags(batch->library, rows, &count, error));
        }
        id += !code->known;
    }
    TRY(flush_tags(batch->library, rows, &count, error));
done:
    return status;
}

static enum doppel_status put_fresh_tags(struct doppel_code_batch *batch, uint64_t id,
                                         struct doppel_error *error)
{
    const struct doppel_metadata *about = batch->about;
    bool changed = false;
    int64_t list = 0;
    enum doppel_status status = DOPPEL_OK;
    if (about->list_count == 1 && !about->label_count) {
        TRY(rows_number(batch->library, "SELECT id FROM list WHERE name = ?1",
                        VALUES(value_text(about->lists[0])), &list, NULL, error));
        return put_tags_at_once(batch, id, list, error);
    }
    for (size_t i = 0; i < batch->codes.count; i++) {
        const struct batch_code *code = &batch->codes.items[i];
        if (!code->known && code->tags.count)
            TRY(put_tags(batch, id, false, code, &changed, error));
        id += !code->known;
    }
done:
    return status;
}

/* Names, where there are any, labels and lists. */
static enum doppel_status put_metadata(struct doppel_code_batch *batch, uint64_t first,
                                       size_t fresh, struct doppel_error *error)
{
    const struct doppel_metadata *about = batch->about;
    enum doppel_status status = insert_rows(batch, &insert_about, first, error);
    for (size_t i = 0; i < about->label_count && !status; i++)
        status =
            rows_run(batch->library,
                     "INSERT OR IGNORE INTO label(item, label)"
                     " SELECT id, ?3 FROM item WHERE id BETWEEN ?1 AND ?2",
                     VALUES(ID(first), ID(first + fresh - 1), value_text(about->labels[i])), error);
    for (size_t i = 0; i < about->list_count && !status; i++)
        status = list_put_many(batch->library, first, fresh, about->lists[i], error);
    return status ? status : put_fresh_tags(batch, first, error);
}

static enum doppel_status put_fresh(struct doppel_code_batch *batch, size_t fresh,
                                    struct doppel_error *error)
{
    uint64_t last = 0;
    enum doppel_status status;
    TRY(doppel_library_begin(batch->library, &last, error));
    TRY(codes_put_off(batch->library, error));
    const uint64_t first = last + 1;
    const struct doppel_log_entry entry = {
        .action = DOPPEL_LOG_IMPORTED, .item = first, .source = batch->about->source};
    TRY(insert_rows(batch, &insert_items, first, error));
    TRY(insert_rows(batch, &insert_fingerprints, first, error));
    TRY(index_batch_codes(batch, first, error));
    TRY(log_append_many(batch->library, &entry, fresh, error));
    TRY(put_metadata(batch, first, fresh, error));
done:
    return status;
}

/* ---- all of them ---- */

static enum doppel_status put_one(struct doppel_code_batch *batch, struct batch_code *code,
                                  uint64_t *counts, struct doppel_error *error)
{
    static const struct doppel_file_stamp none;
    const struct doppel_record record = record_of_code(code);
    const struct doppel_metadata about = about_code(batch, code->name);
    struct import import = {.about = &about,
                            .addition = {.path = "",
                                         .stamp = &none,
                                         .record = &record,
                                         .unproven = true,
                                         .added_ns = code->added_ns}};
    bool retagged = false;
    enum doppel_status status;
    TRY(import_one(batch->library, &import, error));
    const enum doppel_added outcome = import.addition.outcome;
    TRY(put_tags(batch, import.addition.id, outcome == DOPPEL_ADDED_NEW, code, &retagged, error));
    if (batch->sync)
        doppel_list_sync_came(batch->sync, import.addition.id, outcome == DOPPEL_ADDED_UPDATED,
                              retagged);
    counts[outcome]++;
done:
    return status;
}

/* A few are written like any others. */
static enum doppel_status write_batch_codes(struct doppel_code_batch *batch, uint64_t *counts,
                                            struct doppel_error *error)
{
    size_t fresh = 0;
    enum doppel_status status = DOPPEL_OK;
    if (batch->codes.count >= FEW_CODES)
        TRY(mark_known(batch, &fresh, error));
    const bool many = fresh >= FEW_CODES;
    if (many) {
        TRY(put_fresh(batch, fresh, error));
        counts[DOPPEL_ADDED_NEW] += fresh;
    }
    for (size_t i = 0; i < batch->codes.count; i++)
        if (!many || batch->codes.items[i].known)
            TRY(put_one(batch, &batch->codes.items[i], counts, error));
done:
    return status;
}

enum doppel_status doppel_code_batch_write(struct doppel_code_batch *batch, uint64_t *counts,
                                           struct doppel_error *error)
{
    struct doppel_library *library = batch->library;
    uint64_t made[DOPPEL_ADDED_ELSEWHERE + 1] = {0};
    enum doppel_status status;
    if (!batch->codes.count)
        return DOPPEL_OK;
    if (batch->codes.count == BATCH_CODES && !batch->large_cache) {
        library_set_cache(library, BATCH_CACHE_KB);
        batch->large_cache = true;
    }
    TRY(library_begin(library, error));
    TRY(library_end(library, write_batch_codes(batch, made, error)));
    if (!batch->sync)
        TRY(doppel_library_commit(library, error));
    for (int i = 0; i <= DOPPEL_ADDED_ELSEWHERE; i++)
        counts[i] += made[i];
done:
    if (!batch->sync)
        codes_put_off_end(library);
    forget_codes(batch);
    return status;
}
