/* Lists of items, their states, and what they make of an item. */
#include "library/ledger/lists.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "library/items/record.h"

#define LIST_COLUMNS "id, name, state"
#define LIST_IS_WHOLE "list." IS_WHOLE("list.id, list.name, list.state")

enum { MAX_STATES = 1000000, HOURS_OF_DAY = 24 };
static const int64_t HOUR_NS = INT64_C(3600) * 1000000000;

static const char *const names[] = {"active", "disabled", "benign"};
enum { STATES = sizeof names / sizeof *names };

const char *doppel_list_state_name(enum doppel_list_state state)
{
    size_t index = (size_t)state;
    return index < STATES ? names[index] : "unknown";
}

/* ---- states of items: in memory, where there is one that is not active ---- */

/* A damaged list counts as an active one. */
#define STATE_OF(item)                                                                             \
    "SELECT CASE WHEN max(state = 2) THEN 2 WHEN min(state = 1) THEN 1 ELSE 0 END"                 \
    " FROM (SELECT CASE WHEN " LIST_IS_WHOLE " THEN state ELSE 0 END AS state"                     \
    " FROM list_item AS one JOIN list ON list.id = one.list WHERE one.item = " item ")"

static enum doppel_status state_in_table(struct doppel_library *library, uint64_t id, int64_t *out,
                                         struct doppel_error *error)
{
    *out = DOPPEL_LIST_ACTIVE;
    enum doppel_status status =
        rows_number(library, STATE_OF("?1"), VALUES(ID(id)), out, NULL, error);
    if (*out < 0 || *out >= STATES)
        *out = DOPPEL_LIST_ACTIVE;
    return status;
}

static bool remember_state(struct memory *memory, uint64_t id, int64_t state)
{
    const uint64_t key[2] = {id, 0};
    return key_map_put(&memory->states, key, (uint64_t)state);
}

static enum doppel_status load_states(struct doppel_library *library, struct doppel_error *error)
{
    struct memory *memory = &library->memory;
    int64_t count = 0;
    enum doppel_status status = rows_number(library, "SELECT count(*) FROM list WHERE state != 0",
                                            NO_VALUES, &count, NULL, error);
    memory->has_states = count != 0;
    if (status || !count)
        return status;
    status = rows_number(library,
                         "SELECT count(*) FROM (SELECT 1 FROM list CROSS JOIN list_item"
                         " ON list_item.list = list.id WHERE list.state != 0 LIMIT ?1)",
                         VALUES(ID(MAX_STATES + 1)), &count, NULL, error);
    memory->slots[MEMORY_STATES].too_many = count > MAX_STATES;
    if (status || count > MAX_STATES)
        return status;
    sqlite3_stmt *statement;
    bool row;
    status = rows_prepare(library,
                          "SELECT list_item.item, (" STATE_OF(
                              "list_item.item") ") FROM list CROSS JOIN list_item"
                                                " ON list_item.list = list.id WHERE state != 0",
                          NO_VALUES, &statement, error);
    while (!status && !(status = doppel_store_step(library->store, statement, &row, error)) && row)
        if (!remember_state(memory, (uint64_t)sqlite3_column_int64(statement, 0),
                            sqlite3_column_int64(statement, 1))) {
            sqlite3_reset(statement);
            status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the lists");
        }
    return status;
}

enum doppel_status doppel_library_state_of(struct doppel_library *library, uint64_t id,
                                           enum doppel_list_state *out, struct doppel_error *error)
{
    const struct memory *memory = &library->memory;
    enum doppel_status status = memory_load(library, MEMORY_STATES, load_states, error);
    if (status)
        return status;
    const uint64_t key[2] = {id, 0};
    int64_t state = (int64_t)key_map_get(&memory->states, key);
    if (memory->slots[MEMORY_STATES].too_many)
        status = state_in_table(library, id, &state, error);
    if (!status)
        *out = (enum doppel_list_state)state;
    return status;
}

enum doppel_status doppel_library_benign_of(struct doppel_library *library, uint64_t id,
                                            uint64_t *out, struct doppel_error *error)
{
    int64_t of = 0;
    bool found;
    enum doppel_status status =
        rows_number(library,
                    "SELECT CASE WHEN reason = 'benign' THEN coalesce(of, 0) ELSE 0 END FROM log"
                    " WHERE item = ?1 AND item != 0 AND action = 'decided'"
                    " ORDER BY entry DESC LIMIT 1",
                    VALUES(ID(id)), &of, &found, error);
    if (!status)
        *out = found ? (uint64_t)of : 0;
    return status;
}

bool doppel_library_has_lists(struct doppel_library *library)
{
    int64_t any = 0;
    return rows_number(library, "SELECT EXISTS(SELECT 1 FROM list)", NO_VALUES, &any, NULL, NULL) ||
           any;
}

static enum doppel_status know_states(struct doppel_library *library, struct doppel_error *error)
{
    enum doppel_status status = memory_refresh(library, error);
    return status ? status : memory_load(library, MEMORY_STATES, load_states, error);
}

bool doppel_library_has_states(struct doppel_library *library)
{
    return know_states(library, NULL) || library->memory.has_states;
}

enum doppel_status state_changed(struct doppel_library *library, uint64_t id,
                                 struct doppel_error *error)
{
    struct memory *memory = &library->memory;
    const struct memory_slot *slot = &memory->slots[MEMORY_STATES];
    enum doppel_status status = know_states(library, error);
    if (status || !memory->has_states)
        return status;
    status = memory_changed(library, MEMORY_STATES, error);
    if (status || !slot->loaded || slot->too_many)
        return status;
    int64_t state = 0;
    status = state_in_table(library, id, &state, error);
    if (!status && (!remember_state(memory, id, state) || memory->states.count > MAX_STATES))
        memory_drop(memory, MEMORY_STATES);
    return status;
}

/* ---- lists ---- */

static enum doppel_status put_list(struct doppel_library *library, const char *name,
                                   enum doppel_list_state state, struct doppel_error *error)
{
    enum doppel_status status =
        rows_run(library,
                 "INSERT INTO list(" LIST_COLUMNS ", checksum)"
                 " SELECT number, ?1, ?2, " CHECKSUM_OF(
                     "number, ?1, ?2") " FROM (SELECT"
                                       " coalesce((SELECT id FROM list WHERE name = ?1), (SELECT "
                                       "max(id) + 1 FROM list), 1)"
                                       " AS number) WHERE true ON CONFLICT DO UPDATE"
                                       " SET state = ?2, name = ?1, checksum = excluded.checksum",
                 VALUES(value_text(name), ID(state)), error);
    if (!status)
        status = memory_changed(library, MEMORY_STATES, error);
    memory_drop(&library->memory, MEMORY_STATES);
    return status;
}

enum doppel_status list_log_change(struct doppel_library *library, const char *name,
                                   const char *what, struct doppel_error *error)
{
    char sentence[1100];
    snprintf(sentence, sizeof sentence, "list '%.1000s' %s", name, what);
    const struct doppel_log_entry entry = {.action = DOPPEL_LOG_METADATA, .reason = sentence};
    return log_append(library, &entry, error);
}

static enum doppel_status set_list(struct doppel_library *library, const char *name,
                                   enum doppel_list_state state, struct doppel_error *error)
{
    char what[32];
    snprintf(what, sizeof what, "is %s", doppel_list_state_name(state));
    enum doppel_status status = put_list(library, name, state, error);
    return status ? status : list_log_change(library, name, what, error);
}

enum doppel_status doppel_library_set_list(struct doppel_library *library, const char *name,
                                           enum doppel_list_state state, struct doppel_error *error)
{
    enum doppel_status status;
    TRY(name_check(name, "the name of a list", error));
    if ((unsigned)state >= STATES)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a list has no such state");
    TRY(library_begin(library, error));
    TRY(library_end(library, set_list(library, name, state, error)));
done:
    return status;
}

static enum doppel_status remove_list(struct doppel_library *library, const char *name,
                                      struct doppel_error *error)
{
    enum doppel_status status =
        rows_run(library, "DELETE FROM list WHERE name = ?1", VALUES(value_text(name)), error);
    if (status)
        return status;
    if (rows_changed(library) == 0)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: there is no list '%.100s'",
                           library->directory, name);
    status = memory_changed(library, MEMORY_STATES, error);
    memory_drop(&library->memory, MEMORY_STATES);
    return status ? status : list_log_change(library, name, "is removed", error);
}

enum doppel_status doppel_library_remove_list(struct doppel_library *library, const char *name,
                                              struct doppel_error *error)
{
    enum doppel_status status = library_begin(library, error);
    return status ? status : library_end(library, remove_list(library, name, error));
}

/* A name is taken for what it says only where the row is whole. */
static bool visit_list(sqlite3_stmt *statement, doppel_list_visitor *visitor, void *context,
                       uint64_t *damaged)
{
    const char *name = (const char *)sqlite3_column_text(statement, 0);
    int64_t state = sqlite3_column_int64(statement, 1);
    if (sqlite3_column_int(statement, 3) != 1 || !name || state < 0 || state >= STATES) {
        ++*damaged;
        return true;
    }
    struct doppel_list list = {.name = name,
                               .state = (enum doppel_list_state)state,
                               .items = (uint64_t)sqlite3_column_int64(statement, 2),
                               .matches = (uint64_t)sqlite3_column_int64(statement, 4),
                               .matches_day = (uint64_t)sqlite3_column_int64(statement, 5),
                               .last_match_ns = sqlite3_column_int64(statement, 6),
                               .in_review = (uint64_t)sqlite3_column_int64(statement, 7)};
    list_rule_read(statement, 8, &list.rule);
    return visitor(context, &list);
}

/* Of all items that are on a list. The matched ones are few. */
#define MATCHES_OF(what, when)                                                                     \
    "(SELECT coalesce(" what ", 0) FROM list_match CROSS JOIN list_item ON list_item.item ="       \
    " list_match.item WHERE list_item.list = list.id AND " when ")"

enum doppel_status doppel_library_each_list(struct doppel_library *library,
                                            doppel_list_visitor *visitor, void *context,
                                            struct doppel_error *error)
{
    uint64_t damaged = 0;
    bool row;
    sqlite3_stmt *statement;
    enum doppel_status status = rows_prepare(
        library,
        "SELECT name, state, (SELECT count(*) FROM list_item WHERE list = list.id),"
        " " LIST_IS_WHOLE ", " MATCHES_OF("sum(matches)", "hour >= 0") ", " MATCHES_OF(
            "sum(matches)",
            "hour > ?1") ", " MATCHES_OF("max(last_ns)",
                                         "hour >= 0") ", " MATCHES_OF("count(*)",
                                                                      "hour = -1") ", limit_kind, "
                                                                                   "match_limit, "
                                                                                   "flood FROM "
                                                                                   "list LEFT JOIN "
                                                                                   "list_rule ON"
                                                                                   " list_rule."
                                                                                   "list = list.id "
                                                                                   "AND "
                                                                                   "list_"
                                                                                   "rule." IS_WHOLE(
                                                                                       "list_rule."
                                                                                       "list, "
                                                                                       "limit_kind,"
                                                                                       " match_"
                                                                                       "limit, "
                                                                                       "flood") " O"
                                                                                                "RD"
                                                                                                "ER"
                                                                                                " B"
                                                                                                "Y "
                                                                                                "na"
                                                                                                "m"
                                                                                                "e",
        VALUES(value_integer(now_ns() / HOUR_NS - HOURS_OF_DAY)), &statement, error);
    if (status)
        return status;
    while (!(status = doppel_store_step(library->store, statement, &row, error)) && row)
        if (!visit_list(statement, visitor, context, &damaged)) {
            status = doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
            break;
        }
    sqlite3_reset(statement);
    if (!status && damaged)
        status = doppel_fail(error, DOPPEL_E_CORRUPT,
                             "%s: %" PRIu64 " of its lists %s damaged; set its state again",
                             library->directory, damaged, damaged == 1 ? "is" : "are");
    return status;
}

/* ---- items of lists ---- */

/* @param count of items, from this one on */
static enum doppel_status log_listed(struct doppel_library *library, uint64_t id, uint64_t count,
                                     const char *list, const char *reason,
                                     struct doppel_error *error)
{
    char *name = NULL;
    sqlite3_stmt *row;
    enum doppel_status status;
    if (count == 1)
        TRY(item_name(library, id, &name, error));
    TRY(rows_first(library, "SELECT json_object('list', ?1)", VALUES(value_text(list)), &row,
                   error));
    if (row) {
        const struct doppel_log_entry entry = {.action = DOPPEL_LOG_LISTED,
                                               .item = id,
                                               .name = name,
                                               .reason = reason,
                                               .detail = (const char *)sqlite3_column_text(row, 0)};
        status = log_append_many(library, &entry, count, error);
        sqlite3_reset(row);
    }
done:
    free(name);
    return status;
}

enum doppel_status list_make(struct doppel_library *library, const char *list,
                             struct doppel_error *error)
{
    int64_t there;
    bool found = false;
    enum doppel_status status;
    TRY(rows_number(library, "SELECT id FROM list WHERE name = ?1", VALUES(value_text(list)),
                    &there, &found, error));
    if (!found)
        TRY(put_list(library, list, DOPPEL_LIST_ACTIVE, error));
done:
    return status;
}

enum doppel_status list_put_item(struct doppel_library *library, uint64_t id, const char *list,
                                 struct doppel_error *error)
{
    enum doppel_status status;
    TRY(list_make(library, list, error));
    TRY(rows_run(library,
                 "INSERT OR IGNORE INTO list_item(item, list)"
                 " SELECT ?1, id FROM list WHERE name = ?2",
                 VALUES(ID(id), value_text(list)), error));
    if (rows_changed(library) == 0)
        return DOPPEL_OK;
    TRY(log_listed(library, id, 1, list, "put on", error));
    TRY(state_changed(library, id, error));
done:
    return status;
}

enum doppel_status list_put_many(struct doppel_library *library, uint64_t first, uint64_t count,
                                 const char *list, struct doppel_error *error)
{
    enum doppel_status status;
    TRY(list_make(library, list, error));
    TRY(rows_run(library,
                 "INSERT OR IGNORE INTO list_item(item, list) SELECT item.id, list.id"
                 " FROM list CROSS JOIN item WHERE name = ?3 AND item.id BETWEEN ?1 AND ?2",
                 VALUES(ID(first), ID(first + count - 1), value_text(list)), error));
    if (rows_changed(library) == 0)
        return DOPPEL_OK;
    TRY(rows_run(library,
                 "INSERT INTO list_said(item, list, tag) SELECT item.id, list.id, ''"
                 " FROM list CROSS JOIN item WHERE name = ?3 AND item.id BETWEEN ?1 AND ?2",
                 VALUES(ID(first), ID(first + count - 1), value_text(list)), error));
    TRY(log_listed(library, first, count, list, "put on", error));
    if (doppel_library_has_states(library)) {
        TRY(memory_changed(library, MEMORY_STATES, error));
        memory_drop(&library->memory, MEMORY_STATES);
    }
done:
    return status;
}

enum doppel_status list_take_off(struct doppel_library *library, uint64_t id, const char *list,
                                 struct doppel_error *error)
{
    enum doppel_status status;
    TRY(rows_run(library,
                 "DELETE FROM list_item WHERE item = ?1"
                 " AND list = (SELECT id FROM list WHERE name = ?2)",
                 VALUES(ID(id), value_text(list)), error));
    if (rows_changed(library) == 0)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "item %" PRIu64 " is not on a list '%.100s'",
                           id, list);
    TRY(log_listed(library, id, 1, list, "taken off", error));
    TRY(state_changed(library, id, error));
done:
    return status;
}

enum doppel_status doppel_library_remove_from_list(struct doppel_library *library, uint64_t id,
                                                   const char *list, struct doppel_error *error)
{
    enum doppel_status status = library_begin(library, error);
    return status ? status : library_end(library, list_take_off(library, id, list, error));
}
