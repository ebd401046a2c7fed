/* The tables of a catalogue as a salvage sees them: what their rows look like, and how these come
 * into the new catalogue. */
#include <string.h>

#include "core/try.h"
#include "library/salvage/salvage.h"
#include "library/sums.h"

/* Items first: others speak of them. Indexes are rebuilt from these. */
const struct salvage_table salvage_tables[] = {
    [RESCUE_SCHEMA] = {"sqlite_schema", NULL, "old_schema", false},
    [RESCUE_SEQUENCE] = {"sqlite_sequence", NULL, "old_sequence", false},
    [RESCUE_TABLES] = {"item", ITEM_COLUMNS, NULL, false},
    {"text", TEXT_COLUMNS, NULL, false},
    {"fingerprint", COMPUTED_COLUMNS("fingerprint"), NULL, false},
    {"attachment", COMPUTED_COLUMNS("attachment"), NULL, false},
    {"corpus", CORPUS_COLUMNS, NULL, false},
    {"text_shingles", SHINGLE_COLUMNS, NULL, false},
    {"text_options", TEXT_OPTIONS_SUM, NULL, false},
    {"log", LOG_SUM, NULL, false},
    {"about", ABOUT_COLUMNS, NULL, false},
    {"link", LINK_SUM, NULL, false},
    {"canonical", CANONICAL_SUM, NULL, false},
    {"list", LIST_SUM, NULL, false},
    {"policy", POLICY_SUM, NULL, false},
    {"revision", NULL, NULL, false},
    {"label", NULL, NULL, true},
    {"list_item", NULL, NULL, true},
    {"list_rule", LIST_RULE_SUM, NULL, false},
    {"list_said", NULL, NULL, true},
    {"list_match", LIST_MATCH_SUM, NULL, true},
    {"source", SOURCE_SUM, NULL, true},
    {"mark", MARK_SUM, NULL, true},
    {"exact", NULL, NULL, true},
    {"failure", FAILURE_SUM, NULL, true},
    {"upstream", UPSTREAM_SUM, NULL, false},
    {"text_vectors", TEXT_VECTORS_SUM, NULL, false},
    {"job", JOB_SUM, NULL, false},
    {"job_input", JOB_INPUT_SUM, NULL, true},
    {"request", REQUEST_SUM, NULL, false},
    {"answer", ANSWER_SUM, NULL, true},
};
const size_t salvage_table_count = sizeof salvage_tables / sizeof *salvage_tables;

static const char *rescue_name(const struct rescue *rescue)
{
    return rescue->table->into ? rescue->table->into : rescue->table->name;
}

/* ---- shapes ---- */

static enum doppel_status rows_without_memory(const struct salvage *salvage,
                                              struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", salvage->directory);
}

static void take_column(struct rescue *rescue, sqlite3_stmt *row)
{
    const char *type = (const char *)sqlite3_column_text(row, 1);
    size_t column = rescue->columns++;
    rescue->types[column] = type ? *type : '\0';
    rescue->needed[column] = sqlite3_column_int(row, 2) || sqlite3_column_int(row, 3);
    if (rescue->needed[column])
        rescue->least = column + 1;
}

/* A key of one integer column in a table with row ids is the row id. */
static void take_row_id(struct rescue *rescue, sqlite3_stmt *row)
{
    if (!rescue->table->keyed && sqlite3_column_int(row, 3) &&
        rescue->types[rescue->columns - 1] == 'I')
        rescue->id = (int)rescue->columns - 1;
}

static enum doppel_status read_shape(const struct salvage *salvage, struct rescue *rescue,
                                     sqlite3_str *looked, sqlite3_str *asked,
                                     struct doppel_error *error)
{
    sqlite3_stmt *row;
    bool any;
    enum doppel_status status = doppel_store_statement(
        salvage->fresh,
        "SELECT name, type, \"notnull\", pk FROM pragma_table_info(?1) ORDER BY cid", &row, error);
    if (status)
        return status;
    sqlite3_bind_text(row, 1, rescue_name(rescue), -1, SQLITE_STATIC);
    while (!(status = doppel_store_step(salvage->fresh, row, &any, error)) && any) {
        if (rescue->columns == MAX_SALVAGE_COLUMNS)
            break;
        take_column(rescue, row);
        take_row_id(rescue, row);
        const char *comma = rescue->columns > 1 ? "," : "";
        sqlite3_str_appendf(looked, "%s?%d AS \"%w\"", comma, (int)rescue->columns,
                            sqlite3_column_text(row, 0));
        sqlite3_str_appendf(asked, "%s?%d", comma, (int)rescue->columns);
    }
    sqlite3_reset(row);
    return status;
}

/* ---- statements ---- */

static enum doppel_status prepare_rescue(const struct salvage *salvage, char *sql,
                                         sqlite3_stmt **out, struct doppel_error *error)
{
    sqlite3_stmt *any;
    enum doppel_status status =
        sql ? doppel_store_statement(salvage->fresh, "SELECT 1", &any, error)
            : rows_without_memory(salvage, error);
    if (!status && sqlite3_prepare_v2(sqlite3_db_handle(any), sql, -1, out, NULL))
        status = doppel_fail(error, DOPPEL_E_IO, "%s: %s", salvage->directory,
                             sqlite3_errmsg(sqlite3_db_handle(any)));
    sqlite3_free(sql);
    return status;
}

/* Where a table begins is believed of those that doppel makes. */
#define IS_KNOWN                                                                                   \
    "EXISTS(SELECT 1 FROM main.sqlite_schema AS one WHERE one.name = old_schema.name AND"          \
    " one.type = old_schema.type AND one.tbl_name = old_schema.tbl_name)"

static char *make_look(const struct rescue *rescue, const char *looked)
{
    const char *name = rescue_name(rescue);
    if (rescue->table->sum) /* a log of before version 5 has none */
        return sqlite3_mprintf("SELECT coalesce(checksum = row_checksum(%s), 1), * FROM"
                               " (SELECT %s) AS \"%w\"",
                               rescue->table->sum, looked, name);
    return sqlite3_mprintf("SELECT %s, * FROM (SELECT %s) AS \"%w\"",
                           rescue->table->into && strcmp(name, "old_schema") == 0 ? IS_KNOWN : "1",
                           looked, name);
}

enum doppel_status rescue_open(struct salvage *salvage, const struct salvage_table *table,
                               struct rescue *out, struct doppel_error *error)
{
    *out = (struct rescue){.table = table, .id = -1};
    sqlite3_str *looked = sqlite3_str_new(NULL), *asked = sqlite3_str_new(NULL);
    enum doppel_status status = read_shape(salvage, out, looked, asked, error);
    char *columns = sqlite3_str_finish(looked), *values = sqlite3_str_finish(asked);
    if (status)
        goto done;
    if (!columns || !values)
        TRY(rows_without_memory(salvage, error));
    TRY(prepare_rescue(salvage, make_look(out, columns), &out->look, error));
    TRY(prepare_rescue(
        salvage,
        sqlite3_mprintf("INSERT OR IGNORE INTO \"%w\" VALUES(%s)", rescue_name(out), values),
        &out->insert, error));
done:
    sqlite3_free(columns);
    sqlite3_free(values);
    return status;
}

void rescue_close(struct rescue *rescue)
{
    sqlite3_finalize(rescue->look);
    sqlite3_finalize(rescue->insert);
    array_free(&rescue->gaps);
    array_free(&rescue->again);
}

/* ---- rows ---- */

/* Reals that are whole numbers are kept as such. */
static bool fits_column(const struct rescue *rescue, size_t column, struct bound_value *value)
{
    bool integer = value->type == VALUE_INTEGER;
    if (value->type == VALUE_NULL)
        return !rescue->needed[column];
    switch (rescue->types[column]) {
    case 'I':
        return integer;
    case 'R':
        if (integer)
            *value = value_real((double)value->integer);
        return integer || value->type == VALUE_REAL;
    case 'T':
        return value->type == VALUE_TEXT;
    case 'B':
        return value->type == VALUE_BYTES;
    default:
        return false;
    }
}

static bool has_shape(const struct rescue *rescue, int64_t id, struct salvaged_record *record)
{
    if (record->count < rescue->least || record->count > rescue->columns)
        return false;
    if (rescue->id >= 0) {
        if (record->values[rescue->id].type != VALUE_NULL)
            return false;
        record->values[rescue->id] = value_integer(id);
    }
    for (size_t column = 0; column < record->count; column++)
        if (!fits_column(rescue, column, &record->values[column]))
            return false;
    for (size_t column = record->count; column < rescue->columns; column++)
        record->values[column] = (struct bound_value){0};
    record->count = rescue->columns;
    return true;
}

enum doppel_status rescue_read(struct salvage *salvage, const struct rescue *rescue,
                               const struct cell *cell, bool *out, struct doppel_error *error)
{
    enum record_outcome outcome = record_of_cell(&salvage->pages, cell, &salvage->record);
    *out = outcome == RECORD_READ && has_shape(rescue, cell->id, &salvage->record);
    return outcome == RECORD_NO_MEMORY ? rows_without_memory(salvage, error) : DOPPEL_OK;
}

static void bind_all(const struct rescue *rescue, sqlite3_stmt *statement,
                     const struct salvaged_record *record)
{
    for (size_t column = 0; column < rescue->columns; column++)
        value_bind(statement, (int)column + 1, &record->values[column]);
}

bool rescue_is_whole(const struct rescue *rescue, const struct salvaged_record *record)
{
    bind_all(rescue, rescue->look, record);
    bool whole = sqlite3_step(rescue->look) == SQLITE_ROW && sqlite3_column_int(rescue->look, 0);
    sqlite3_reset(rescue->look);
    return whole;
}

enum doppel_status rescue_put(struct salvage *salvage, struct rescue *rescue, bool *out_put,
                              struct doppel_error *error)
{
    sqlite3 *database = sqlite3_db_handle(rescue->insert);
    bind_all(rescue, rescue->insert, &salvage->record);
    int code = sqlite3_step(rescue->insert);
    sqlite3_reset(rescue->insert);
    *out_put = code == SQLITE_DONE && sqlite3_changes(database) > 0;
    rescue->rows += *out_put;
    code &= 0xff;
    if (code == SQLITE_DONE || code == SQLITE_CONSTRAINT || code == SQLITE_MISMATCH ||
        code == SQLITE_TOOBIG)
        return DOPPEL_OK;
    return doppel_fail(error, code == SQLITE_NOMEM ? DOPPEL_E_MEMORY : DOPPEL_E_IO, "%s: %s",
                       salvage->directory, sqlite3_errmsg(database));
}

enum doppel_status rescue_set_aside(struct salvage *salvage, struct rescue *rescue,
                                    struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    bind_all(rescue, rescue->look, &salvage->record);
    bool row = sqlite3_step(rescue->look) == SQLITE_ROW; /* false: it is too large */
    if (row)
        status = aside_write(&salvage->aside, salvage->directory, rescue->table->name, rescue->look,
                             1, error);
    rescue->aside += row;
    rescue->lost += !row;
    sqlite3_reset(rescue->look);
    return status;
}
