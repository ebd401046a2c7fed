/* The log: what was done to a library, when and why. Rows are appended and never changed. One may
 * tell the same of items with ids in a row: it is read as so many entries, the last of which has
 * its number. */
#include "library/items/rows.h"

#include <doppel/json_writer.h>

#include "core/try.h"
#include "library/sums.h"

#include <stdlib.h>
#include <string.h>

#define LOG_COLUMNS                                                                                \
    "time_ns, action, item, path, former_item, former_path, source, decision, of, reason, scheme," \
    " version, distance, bits, similarity, limit_kind, match_limit, false_positive_rate, detail"
#define LOG_VALUES(bits)                                                                           \
    "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, " bits ", ?15, ?16, ?17, ?18, ?19"

enum {
    COLUMN_ENTRY,
    COLUMN_TIME,
    COLUMN_ACTION,
    COLUMN_ITEM,
    COLUMN_NAME,
    COLUMN_FORMER,
    COLUMN_FORMER_NAME,
    COLUMN_SOURCE,
    COLUMN_DECISION,
    COLUMN_OF,
    COLUMN_REASON,
    COLUMN_SCHEME,
    COLUMN_VERSION,
    COLUMN_DISTANCE,
    COLUMN_BITS,
    COLUMN_SIMILARITY,
    COLUMN_LIMIT_KIND,
    COLUMN_LIMIT,
    COLUMN_RATE,
    COLUMN_DETAIL,
    COLUMN_LAST_ITEM,
    COLUMN_IS_WHOLE /* rows of before version 5 have no checksum */
};

static const char *const names[] = {"added",    "updated",   "moved",  "removed",
                                    "decided",  "canonical", "marked", "listed",
                                    "imported", "refreshed", "said"};
enum { ACTIONS = sizeof names / sizeof *names };

const char *doppel_log_action_name(enum doppel_log_action action)
{
    size_t index = (size_t)action;
    return index < ACTIONS ? names[index] : "unknown";
}

/* ---- writing ---- */

enum doppel_status log_append(struct doppel_library *library, const struct doppel_log_entry *entry,
                              struct doppel_error *error)
{
    return log_append_many(library, entry, 1, error);
}

void doppel_library_set_client(struct doppel_library *library, const char *client)
{
    library->client = client;
}

/* @param out what else there is to say, and whose wish it was, in JSON; given (doppel_json_free) */
static void write_entry_detail(const struct doppel_library *library,
                               const struct doppel_log_entry *entry, struct doppel_json *out)
{
    const char *detail = entry->detail;
    if (!library->client) {
        if (detail)
            doppel_json_append(out, detail, strlen(detail));
        return;
    }
    doppel_json_object_begin(out, NULL);
    doppel_json_text(out, "client", library->client);
    if (detail && strlen(detail) > 2) {
        doppel_json_append(out, ",", 1);
        doppel_json_append(out, detail + 1, strlen(detail) - 2);
    }
    doppel_json_object_end(out);
}

enum doppel_status log_append_many(struct doppel_library *library,
                                   const struct doppel_log_entry *entry, uint64_t items,
                                   struct doppel_error *error)
{
    struct doppel_json detail = {0};
    enum doppel_status status;
    write_entry_detail(library, entry, &detail);
    bool match = entry->has_match;
    const struct values values = VALUES(
        value_integer(now_ns()), value_text(doppel_log_action_name(entry->action)), ID(entry->item),
        value_string(entry->name ? entry->name : ""), value_if(entry->former, ID(entry->former)),
        value_string(entry->former_name), value_string(entry->source),
        value_if(entry->decided, ID(entry->decision)), value_if(entry->of, ID(entry->of)),
        value_text(entry->reason), value_if(match, ID(entry->scheme)),
        value_if(match, ID(entry->version)), value_if(match && entry->bits, ID(entry->distance)),
        value_if(match && entry->bits, ID(entry->bits)),
        value_if(match && entry->similarity >= 0, value_real(entry->similarity)),
        value_if(match && entry->limit_kind, ID(entry->limit_kind)),
        value_if(match && entry->limit_kind, value_real(entry->limit)),
        value_if(match && entry->false_positive_rate >= 0, value_real(entry->false_positive_rate)),
        value_text(detail.bytes), value_if(items > 1, ID(entry->item + items - 1)), ID(items));
    TRY(doppel_json_status(&detail, error));
    TRY(rows_run(library,
                 "INSERT INTO log(entry, " LOG_COLUMNS ", last_item, checksum) VALUES("
                 "CASE WHEN ?20 IS NOT NULL THEN ?21 + coalesce((SELECT max(seq) FROM"
                 " sqlite_sequence WHERE name = 'log'), 0) END, " LOG_VALUES(
                     "?14") ", ?20, " CHECKSUM_OF(LOG_VALUES("coalesce(?14, ?20)")) ")",
                 values, error));
done:
    doppel_json_free(&detail);
    return status;
}

enum doppel_status doppel_library_log(struct doppel_library *library,
                                      const struct doppel_log_entry *entry,
                                      struct doppel_error *error)
{
    enum doppel_status status = library_begin(library, error);
    return status ? status : library_end(library, log_append(library, entry, error));
}

/* ---- reading ---- */

/* Its strings, which an entry borrows. */
enum { STRINGS = 5 };
struct log_row {
    struct doppel_log_entry entry;
    uint64_t last_item; /* 0: it tells of one */
    char *strings[STRINGS];
};

struct log_visit {
    struct doppel_library *library;
    const struct doppel_log_query *query;
    doppel_log_visitor *visitor;
    void *context;
    uint64_t visited;
};

static uint64_t number(sqlite3_stmt *statement, int column)
{
    return (uint64_t)sqlite3_column_int64(statement, column);
}

/* < 0 where there is none. */
static double real_or_none(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL
               ? -1
               : sqlite3_column_double(statement, column);
}

static bool read_action(sqlite3_stmt *statement, enum doppel_log_action *out)
{
    const char *name = (const char *)sqlite3_column_text(statement, COLUMN_ACTION);
    for (int i = 0; i < ACTIONS && name; i++)
        if (strcmp(names[i], name) == 0) {
            *out = (enum doppel_log_action)i;
            return true;
        }
    return false;
}

static enum doppel_status read_log_strings(sqlite3_stmt *statement, struct log_row *row)
{
    static const int columns[STRINGS] = {COLUMN_NAME, COLUMN_FORMER_NAME, COLUMN_SOURCE,
                                         COLUMN_REASON, COLUMN_DETAIL};
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < STRINGS && !status; i++)
        status = string_read(statement, columns[i], &row->strings[i]);
    row->entry.name = row->strings[0] ? row->strings[0] : "";
    row->entry.former_name = row->strings[1];
    row->entry.source = row->strings[2];
    row->entry.reason = row->strings[3];
    row->entry.detail = row->strings[4];
    return status;
}

static void read_match(sqlite3_stmt *statement, struct doppel_log_entry *entry)
{
    entry->has_match = sqlite3_column_type(statement, COLUMN_SCHEME) != SQLITE_NULL;
    entry->scheme = (enum doppel_scheme_id)sqlite3_column_int(statement, COLUMN_SCHEME);
    entry->version = (uint16_t)sqlite3_column_int(statement, COLUMN_VERSION);
    entry->distance = (uint32_t)number(statement, COLUMN_DISTANCE);
    entry->bits = (uint32_t)number(statement, COLUMN_BITS);
    entry->similarity = real_or_none(statement, COLUMN_SIMILARITY);
    entry->limit_kind = (enum doppel_limit_kind)sqlite3_column_int(statement, COLUMN_LIMIT_KIND);
    entry->limit = real_or_none(statement, COLUMN_LIMIT);
    entry->false_positive_rate = real_or_none(statement, COLUMN_RATE);
}

/* Its entries have numbers from 1, too. */
static bool read_last_item(sqlite3_stmt *statement, struct log_row *row)
{
    uint64_t first = number(statement, COLUMN_ITEM);
    row->last_item = number(statement, COLUMN_LAST_ITEM);
    return sqlite3_column_type(statement, COLUMN_LAST_ITEM) == SQLITE_NULL ||
           (first && row->last_item > first && row->last_item <= INT64_MAX &&
            row->last_item - first < number(statement, COLUMN_ENTRY));
}

static enum doppel_status read_log_row(sqlite3_stmt *statement, struct log_row *row)
{
    struct doppel_log_entry *entry = &row->entry;
    if (sqlite3_column_int(statement, COLUMN_IS_WHOLE) != 1 ||
        !read_action(statement, &entry->action) || !read_last_item(statement, row) ||
        sqlite3_column_int64(statement, COLUMN_LIMIT_KIND) < DOPPEL_LIMIT_NONE ||
        sqlite3_column_int64(statement, COLUMN_LIMIT_KIND) > DOPPEL_LIMIT_RATE)
        return DOPPEL_E_CORRUPT;
    entry->time_ns = sqlite3_column_int64(statement, COLUMN_TIME);
    entry->item = number(statement, COLUMN_ITEM);
    entry->of = number(statement, COLUMN_OF);
    entry->former = number(statement, COLUMN_FORMER);
    entry->decided = sqlite3_column_type(statement, COLUMN_DECISION) != SQLITE_NULL;
    entry->decision = sqlite3_column_int(statement, COLUMN_DECISION);
    read_match(statement, entry);
    return read_log_strings(statement, row);
}

static enum doppel_status visit_log_entry(struct log_visit *visit,
                                          const struct doppel_log_entry *entry,
                                          const struct doppel_error *damage,
                                          struct doppel_error *error)
{
    const struct doppel_log_query *query = visit->query;
    uint64_t number = entry->entry;
    if (number < query->first || (query->last && number > query->last) ||
        (query->limit && visit->visited == query->limit))
        return DOPPEL_OK;
    visit->visited++;
    return visit->visitor(visit->context, entry, damage)
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
}

/* What people call an item that one row names among others; or called it when it was removed. */
static enum doppel_status name_one_of_many(struct doppel_library *library, uint64_t id, char **out,
                                           struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status;
    TRY(rows_prepare(
        library,
        "SELECT coalesce((SELECT path FROM item WHERE id = ?1 AND " WITH_FILE "), (SELECT"
        " external_id FROM about WHERE item = ?1), (SELECT path FROM log WHERE item = ?1"
        " AND item != 0 AND action = 'removed'), '')",
        VALUES(ID(id)), &statement, error));
    TRY(doppel_store_step(library->store, statement, &row, error));
    if (row && string_read(statement, 0, out) == DOPPEL_E_MEMORY)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an entry of the log");
    sqlite3_reset(statement);
done:
    return status;
}

/* The entries of a row that tells of many items, or that of the one that is asked for. */
static enum doppel_status visit_each_of_many(struct log_visit *visit, const struct log_row *row,
                                             const struct doppel_error *damage,
                                             struct doppel_error *error)
{
    const struct doppel_log_query *query = visit->query;
    const uint64_t first = row->entry.item, last = row->last_item, count = last - first + 1;
    enum doppel_status status = DOPPEL_OK;
    for (uint64_t i = 0; i < count && !status; i++) {
        struct doppel_log_entry one = row->entry;
        char *name = NULL;
        one.item = query->item ? query->item : query->newest_first ? last - i : first + i;
        one.entry = row->entry.entry - (last - one.item);
        if (query->limit && visit->visited == query->limit)
            break;
        if (one.entry >= query->first && (!query->last || one.entry <= query->last))
            status = name_one_of_many(visit->library, one.item, &name, error);
        one.name = name ? name : "";
        if (!status)
            status = visit_log_entry(visit, &one, damage, error);
        free(name);
        if (query->item)
            break;
    }
    return status;
}

static enum doppel_status visit_log_row(sqlite3_stmt *statement, struct log_visit *visit,
                                        struct doppel_error *error)
{
    struct log_row row = {0};
    struct doppel_error damage = {0};
    uint64_t entry = number(statement, COLUMN_ENTRY);
    enum doppel_status status = read_log_row(statement, &row);
    if (status == DOPPEL_E_CORRUPT) {
        row.entry = (struct doppel_log_entry){.name = ""};
        row.last_item = 0;
        doppel_fail(&damage, status, "entry %llu of the log is damaged", (unsigned long long)entry);
        status = DOPPEL_OK;
    }
    row.entry.entry = entry;
    if (status)
        doppel_fail(error, status, "no memory for an entry of the log");
    else if (row.last_item)
        status = visit_each_of_many(visit, &row, &damage, error);
    else
        status = visit_log_entry(visit, &row.entry, &damage, error);
    for (int i = 0; i < STRINGS; i++)
        free(row.strings[i]);
    return status;
}

/* An item's entries are found by four indexes; a span of time by one; the others by number. The row
 * that has the last number may end behind it. */
#define SELECT_LOG                                                                                 \
    "SELECT entry, " LOG_COLUMNS ", last_item, checksum IS NULL OR " IS_WHOLE(LOG_SUM) " FROM "    \
                                                                                       "log "
#define OF_ITEM                                                                                    \
    "WHERE entry IN (SELECT entry FROM log WHERE item = ?5 AND item != 0"                          \
    " UNION SELECT entry FROM log WHERE last_item >= ?5 AND item <= ?5"                            \
    " UNION SELECT entry FROM log WHERE of = ?5 AND of IS NOT NULL"                                \
    " UNION SELECT entry FROM log WHERE former_item = ?5 AND former_item IS NOT NULL) AND "
#define WITHIN(entry, time)                                                                        \
    entry "entry BETWEEN ?1 AND coalesce((SELECT min(entry) FROM log WHERE entry >= ?2), ?2)"      \
          " AND " time "time_ns BETWEEN ?3 AND ?4 ORDER BY entry "
#define ALL WITHIN("", "+")
#define BY_TIME WITHIN("+", "")

static const char *const ways[3][2] = {
    {SELECT_LOG "WHERE " ALL "LIMIT ?6", SELECT_LOG "WHERE " ALL "DESC LIMIT ?6"},
    {SELECT_LOG "WHERE " BY_TIME "LIMIT ?6", SELECT_LOG "WHERE " BY_TIME "DESC LIMIT ?6"},
    {SELECT_LOG OF_ITEM ALL "LIMIT ?6", SELECT_LOG OF_ITEM ALL "DESC LIMIT ?6"},
};

/* One row more than is wanted: of the first nothing may be left. */
static enum doppel_status prepare_query(struct doppel_library *library,
                                        const struct doppel_log_query *query, sqlite3_stmt **out,
                                        struct doppel_error *error)
{
    bool by_time = query->since_ns || query->until_ns;
    const char *sql = ways[query->item ? 2 : by_time ? 1 : 0][query->newest_first];
    uint64_t limit = query->limit < INT64_MAX ? query->limit + 1 : INT64_MAX;
    return rows_prepare(library, sql,
                        VALUES(ID(query->first), ID(query->last ? query->last : INT64_MAX),
                               ID(query->since_ns ? query->since_ns : INT64_MIN),
                               ID(query->until_ns ? query->until_ns : INT64_MAX), ID(query->item),
                               ID(query->limit ? limit : INT64_MAX)),
                        out, error);
}

enum doppel_status doppel_library_each_log(struct doppel_library *library,
                                           const struct doppel_log_query *query,
                                           doppel_log_visitor *visitor, void *context,
                                           struct doppel_error *error)
{
    struct log_visit visit = {library, query, visitor, context, 0};
    if (library->visiting_log)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a visit of the log is in progress already");
    sqlite3_stmt *statement;
    enum doppel_status status = prepare_query(library, query, &statement, error);
    if (status)
        return status;
    library->visiting_log = true;
    bool row;
    while (!(status = doppel_store_step(library->store, statement, &row, error)) && row)
        if ((status = visit_log_row(statement, &visit, error)))
            break;
    library->visiting_log = false;
    sqlite3_reset(statement);
    return status;
}
