/* The codes of a batch that are new: their rows, many in a statement, and what is said of them. */
#include "core/try.h"
#include "library/derived/codes.h"
#include "library/items/code_batch_internal.h"
#include "library/items/rows.h"

#include <string.h>

enum {
    ROWS_AT_ONCE = 16,   /* of an INSERT */
    MAX_CODE_BYTES = 96, /* of a fingerprint of one code, or of a digest's name */
    MOST_COLUMNS = 16
};
_Static_assert((int)EXACT_NAME_BYTES <= (int)MAX_CODE_BYTES, "both are put into code_row.bytes");

/* ---- rows ---- */

#define TIMES_4(row) row ", " row ", " row ", " row
#define TIMES_16(row) TIMES_4(TIMES_4(row))
_Static_assert(ROWS_AT_ONCE == 16, "TIMES_16");
/* Where one is refused the transaction is taken back: it need not be possible to take back the
 * statement alone, for which SQLite would note each page that it changes. */
#define INSERT_ROWS(table, row)                                                                    \
    {                                                                                              \
        "INSERT OR FAIL INTO " table " VALUES" row,                                                \
            "INSERT OR FAIL INTO " table " VALUES" TIMES_16(row)                                   \
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
    size_t (*fill)(struct code_row *row, struct bound_value *out); /* returns how many */
    size_t unchecked;                           /* values before those that the checksum covers */
    bool (*wanted)(const struct code_row *row); /* NULL: always */
};
enum { NO_CHECKSUM = MOST_COLUMNS };

static size_t fill_item_row(struct code_row *row, struct bound_value *out)
{
    const struct batch_code *code = row->code;
    const struct bound_value zero = ID(0);
    const bool exact = code->algorithm != 0;
    if (exact)
        exact_name(code->algorithm, code->exact, (char *)row->bytes);
    else
        item_no_path(row->id, row->bytes);
    const struct bound_value values[] = {
        ID(row->id),
        {.type = VALUE_BYTES,
         .bytes = row->bytes,
         .size = exact ? strlen((const char *)row->bytes) : NO_FILE_BYTES},
        ID(exact), /* settled */
        value_integer(past_ns(code->added_ns)),
        zero,
        zero,
        zero,
        zero,
        value_digest(&code->digest),
        ID(exact ? DOPPEL_KIND_UNKNOWN : DOPPEL_KIND_IMAGE),
        ID(code->scheme),
        ID(code->version),
        zero,
        zero,
        ID(code->quality)};
    memcpy(out, values, sizeof values);
    return sizeof values / sizeof *values;
}

static size_t fill_fingerprint_row(struct code_row *row, struct bound_value *out)
{
    const struct doppel_record record = batch_record(row->code);
    doppel_fingerprint_write(&record.fingerprint, row->bytes);
    out[0] = ID(row->id);
    out[1] = (struct bound_value){.type = VALUE_BYTES,
                                  .bytes = row->bytes,
                                  .size = doppel_fingerprint_size(&record.fingerprint)};
    return 2;
}

static bool is_code_row(const struct code_row *row)
{
    return !row->code->algorithm;
}

static size_t fill_exact_row(struct code_row *row, struct bound_value *out)
{
    out[0] = ID(row->code->algorithm);
    out[1] = exact_value(row->code->algorithm, row->code->exact);
    out[2] = ID(row->id);
    return 3;
}

static bool is_exact_row(const struct code_row *row)
{
    return !is_code_row(row);
}

static size_t fill_about_row(struct code_row *row, struct bound_value *out)
{
    const struct doppel_metadata *about = row->about;
    out[0] = ID(row->id);
    out[1] = value_string(about->source);
    out[2] = value_string(about->date);
    out[3] = value_text(row->code->name);
    out[4] = value_text(about->meta);
    return 5;
}

static bool has_about(const struct code_row *row)
{
    return row->code->name || row->about->source || row->about->date || row->about->meta;
}

static size_t fill_label_row(struct code_row *row, struct bound_value *out)
{
    out[0] = ID(row->id);
    out[1] = value_text(row->tag);
    return 2;
}

static size_t fill_list_tag_row(struct code_row *row, struct bound_value *out)
{
    out[2] = ID(row->list);
    return fill_label_row(row, out) + 1;
}

/* clang-format off */
static const struct code_insert insert_items = {
    INSERT_ROWS("item(id, " ITEM_COLUMNS ", checksum)",
                "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"), fill_item_row, 1, NULL};
static const struct code_insert insert_fingerprints = {
    INSERT_ROWS("fingerprint(item, data, checksum)", "(?, ?, ?)"), fill_fingerprint_row, 0,
    is_code_row};
static const struct code_insert insert_exact = {
    INSERT_ROWS("exact(algorithm, digest, item)", "(?, ?, ?)"), fill_exact_row, NO_CHECKSUM,
    is_exact_row};
static const struct code_insert insert_about = {
    INSERT_ROWS("about(" ABOUT_COLUMNS ", checksum)", "(?, ?, ?, ?, ?, ?)"), fill_about_row, 0,
    has_about};
static const struct code_insert insert_labels = {
    INSERT_ROWS("label(item, label)", "(?, ?)"), fill_label_row, NO_CHECKSUM, NULL};
static const struct code_insert insert_list_tags = {
    INSERT_ROWS("list_said(item, tag, list)", "(?, ?, ?)"), fill_list_tag_row, NO_CHECKSUM, NULL};
/* clang-format on */

/* @return how many are bound */
static int bind_row(sqlite3_stmt *statement, int at, const struct code_insert *insert,
                    struct code_row *row)
{
    struct bound_value values[MOST_COLUMNS];
    size_t count = insert->fill(row, values);
    if (insert->unchecked < NO_CHECKSUM) {
        const struct values checked = {values + insert->unchecked, count - insert->unchecked};
        values[count++] = values_checksum(checked);
    }
    for (size_t i = 0; i < count; i++)
        value_bind(statement, at + (int)i, &values[i]);
    return (int)count;
}

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
    int at = 1;
    for (size_t i = 0; i < count; i++)
        at += bind_row(statement, at, insert, &rows[i]);
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
    for (size_t i = 0; i < batch->codes.count && !status; i++) {
        struct batch_code *code = &batch->codes.items[i];
        const struct doppel_record record = batch_record(code);
        if (!code->known && !code->algorithm)
            status = codes_put(batch->library, id, &record, error);
        id += !code->known;
    }
    return status;
}

/* Of those that come in a row and are codes, or digests of one make. @param count how many */
static enum doppel_status log_run(struct doppel_code_batch *batch, uint64_t first, uint64_t count,
                                  const struct batch_code *code, struct doppel_error *error)
{
    char name[EXACT_NAME_BYTES];
    struct doppel_log_entry entry = {
        .action = DOPPEL_LOG_IMPORTED, .item = first, .source = batch->about->source};
    if (code->algorithm) {
        exact_name(code->algorithm, code->exact, name);
        entry.reason = doppel_exact_name(code->algorithm);
    }
    if (count == 1)
        entry.name = code->algorithm ? name : code->name;
    return log_append_many(batch->library, &entry, count, error);
}

static enum doppel_status log_fresh(struct doppel_code_batch *batch, uint64_t id,
                                    struct doppel_error *error)
{
    const struct batch_code *last = NULL; /* of the run */
    uint64_t count = 0;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < batch->codes.count && !status; i++) {
        const struct batch_code *code = &batch->codes.items[i];
        if (code->known)
            continue;
        if (last && code->algorithm != last->algorithm) {
            status = log_run(batch, id, count, last, error);
            id += count;
            count = 0;
        }
        last = code;
        count++;
    }
    return status || !last ? status : log_run(batch, id, count, last, error);
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
            TRY(batch_put_tags(batch, id, false, code, &changed, error));
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

/* What the rows refer to, items and lists, is written beside them: to look each up again costs a
 * tenth of an import. */
static enum doppel_status check_references(struct doppel_library *library, bool on,
                                           struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status =
        doppel_store_statement(library->store, "SELECT 1", &statement, error);
    if (!status)
        sqlite3_db_config(sqlite3_db_handle(statement), SQLITE_DBCONFIG_ENABLE_FKEY, on, NULL);
    return status;
}

static enum doppel_status put_fresh_rows(struct doppel_code_batch *batch, uint64_t first,
                                         size_t fresh, struct doppel_error *error)
{
    enum doppel_status status;
    TRY(insert_rows(batch, &insert_items, first, error));
    TRY(insert_rows(batch, &insert_fingerprints, first, error));
    TRY(insert_rows(batch, &insert_exact, first, error));
    TRY(index_batch_codes(batch, first, error));
    TRY(log_fresh(batch, first, error));
    TRY(put_metadata(batch, first, fresh, error));
done:
    return status;
}

enum doppel_status batch_put_fresh(struct doppel_code_batch *batch, size_t fresh,
                                   struct doppel_error *error)
{
    struct doppel_library *library = batch->library;
    uint64_t last = 0;
    enum doppel_status status;
    TRY(doppel_library_begin(library, &last, error));
    TRY(codes_put_off(library, error));
    TRY(check_references(library, false, error));
    status = put_fresh_rows(batch, last + 1, fresh, error);
    if (check_references(library, true, status ? NULL : error) && !status)
        status = DOPPEL_E_MEMORY;
done:
    return status;
}
