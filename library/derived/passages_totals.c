/* How many texts, and words, are in the indexes of passages: rows of the catalogue that are changed
 * in the transaction that changes an index. */
#include "core/try.h"
#include "library/derived/passages.h"

/* Rows of `revision`: their numbers lie above those of what it counts changes of. */
enum { TOTALS_PART = 1 << 20, TEXTS_PART = 0, WORDS_PART = 1 };

static int64_t totals_part(enum code_table which, uint16_t version, int of)
{
    return TOTALS_PART | (which == CODES_WINNOW32_FOLLOWERS) << 17 | version << 1 | of;
}

static enum doppel_status add_to_part(struct doppel_store *store, int64_t part, int64_t number,
                                      struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status =
        doppel_store_statement(store,
                               "INSERT INTO revision(part, number) VALUES(?1, ?2)"
                               " ON CONFLICT(part) DO UPDATE SET number = number + ?2",
                               &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, part);
    sqlite3_bind_int64(statement, 2, number);
    return doppel_store_step(store, statement, &row, error);
}

enum doppel_status passage_totals_add(struct doppel_store *store, enum code_table which,
                                      uint16_t version, struct passage_totals more,
                                      struct doppel_error *error)
{
    enum doppel_status status =
        add_to_part(store, totals_part(which, version, TEXTS_PART), more.texts, error);
    return status ? status
                  : add_to_part(store, totals_part(which, version, WORDS_PART), more.words, error);
}

/* Of all versions: ?1 to ?2. */
static void bind_parts(sqlite3_stmt *statement, enum code_table which)
{
    sqlite3_bind_int64(statement, 1, totals_part(which, 0, TEXTS_PART));
    sqlite3_bind_int64(statement, 2, totals_part(which, UINT16_MAX, WORDS_PART));
}

enum doppel_status passages_put_totals(struct doppel_store *store,
                                       const struct doppel_index_load *load,
                                       struct doppel_error *error)
{
    const struct passage_rows *rows = load->context;
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status = doppel_store_statement(
        store, "DELETE FROM revision WHERE part BETWEEN ?1 AND ?2", &statement, error);
    if (status)
        return status;
    bind_parts(statement, rows->which);
    status = doppel_store_step(store, statement, &row, error);
    for (size_t i = 0; i < rows->versions.count && !status; i++)
        status = passage_totals_add(store, rows->which, rows->versions.items[i].version,
                                    rows->versions.items[i].totals, error);
    return status;
}

static enum doppel_status read_total(struct doppel_store *store, int64_t part, int64_t *out,
                                     struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status = doppel_store_statement(
        store, "SELECT number FROM revision WHERE part = ?1", &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, part);
    status = doppel_store_step(store, statement, &row, error);
    *out = !status && row ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_reset(statement);
    return status;
}

enum doppel_status passage_totals_read(struct doppel_store *store, enum code_table which,
                                       uint16_t version, struct passage_totals *out,
                                       struct doppel_error *error)
{
    enum doppel_status status =
        read_total(store, totals_part(which, version, TEXTS_PART), &out->texts, error);
    return status ? status
                  : read_total(store, totals_part(which, version, WORDS_PART), &out->words, error);
}

/* All that the rows tell of an index, of any version. */
static enum doppel_status sum_parts(struct doppel_store *store, enum code_table which,
                                    struct passage_totals *out, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status =
        doppel_store_statement(store,
                               "SELECT coalesce(sum(number) FILTER (WHERE NOT part & 1), 0),"
                               " coalesce(sum(number) FILTER (WHERE part & 1), 0)"
                               " FROM revision WHERE part BETWEEN ?1 AND ?2",
                               &statement, error);
    if (status)
        return status;
    bind_parts(statement, which);
    status = doppel_store_step(store, statement, &row, error);
    if (status)
        return status;
    *out = (struct passage_totals){sqlite3_column_int64(statement, 0),
                                   sqlite3_column_int64(statement, 1)};
    sqlite3_reset(statement);
    return DOPPEL_OK;
}

enum doppel_status passages_are_counted(struct doppel_store *store, enum code_table which,
                                        bool *out, struct doppel_error *error)
{
    struct passage_rows rows = {.store = store, .which = which, .error = error};
    struct passage_totals all = {0, 0}, told;
    enum doppel_status status;
    TRY(passage_rows_begin(&rows));
    while (passage_rows_next(&rows))
        ;
    TRY(rows.status);
    *out = true;
    for (size_t i = 0; i < rows.versions.count; i++) {
        const struct passage_totals *one = &rows.versions.items[i].totals;
        TRY(passage_totals_read(store, which, rows.versions.items[i].version, &told, error));
        *out = *out && told.texts == one->texts && told.words == one->words;
        all.texts += one->texts;
        all.words += one->words;
    }
    TRY(sum_parts(store, which, &told, error));
    *out = *out && told.texts == all.texts && told.words == all.words;
done:
    passage_rows_end(&rows);
    return status;
}
