/* Groups: who follows whom, and which member is canonical. */
#include "library/ledger/ledger.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/try.h"
#include "library/derived/codes.h"
#include "library/items/text_internal.h"
#include "library/ledger/looks.h"

#define LINK_COLUMNS "item, leader"
#define CANONICAL_COLUMNS "leader, item"

/* ---- what links share with the rest ---- */

enum doppel_status item_exists(struct doppel_library *library, uint64_t id,
                               struct doppel_error *error)
{
    int64_t one;
    bool found = false;
    enum doppel_status status = rows_number(
        library, "SELECT 1 FROM item WHERE id = ?1 UNION ALL SELECT 1 FROM text WHERE id = ?1",
        VALUES(ID(id)), &one, &found, error);
    if (!status && !found)
        status = doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: no item has the id %" PRIu64,
                             library->directory, id);
    return status;
}

enum doppel_status item_damaged(const struct doppel_library *library, uint64_t id, const char *what,
                                struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_CORRUPT, "%s: item %" PRIu64 ": %s", library->directory, id,
                       what);
}

/* Visit numbers that were collected. DOPPEL_E_CANCELLED */
static enum doppel_status ids_visit(const uint64_t *ids, size_t count, doppel_id_visitor *visitor,
                                    void *context, struct doppel_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (!visitor(context, ids[i]))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
    return DOPPEL_OK;
}

/* The number in the first row, if its second column says that the row is whole. `*out` stays where
 * there is none. */
static enum doppel_status whole_number(struct doppel_library *library, const char *sql, uint64_t id,
                                       const char *what, uint64_t *out, struct doppel_error *error)
{
    sqlite3_stmt *row;
    enum doppel_status status = rows_first(library, sql, VALUES(ID(id)), &row, error);
    if (status || !row)
        return status;
    uint64_t number = (uint64_t)sqlite3_column_int64(row, 0);
    bool whole = sqlite3_column_int(row, 1) == 1;
    sqlite3_reset(row);
    if (!whole)
        return item_damaged(library, id, what, error);
    *out = number;
    return DOPPEL_OK;
}

/* ---- representatives ---- */

static const char link_damaged[] = "whom it follows is damaged; remove it and add it again";

enum doppel_status doppel_library_leader(struct doppel_library *library, uint64_t id, uint64_t *out,
                                         struct doppel_error *error)
{
    uint64_t leader = 0;
    enum doppel_status status;
    TRY(whole_number(library, "SELECT leader, " IS_WHOLE(LINK_COLUMNS) " FROM link WHERE item = ?1",
                     id, link_damaged, &leader, error));
    if (!leader) /* a text whose representative is gone follows none */
        TRY(whole_number(
            library,
            "SELECT leader, " IS_WHOLE(
                TEXT_COLUMNS) " FROM text WHERE id = ?1 AND leader != 0"
                              " AND (EXISTS(SELECT 1 FROM text AS one WHERE one.id = text.leader)"
                              " OR EXISTS(SELECT 1 FROM item WHERE item.id = text.leader))",
            id, link_damaged, &leader, error));
    *out = leader ? leader : id;
done:
    return status;
}

enum doppel_status doppel_library_each_follower(struct doppel_library *library, uint64_t leader,
                                                uint64_t limit, doppel_id_visitor *visitor,
                                                void *context, struct doppel_error *error)
{
    ARRAY(uint64_t) ids = {0};
    uint64_t damaged = 0;
    bool row;
    sqlite3_stmt *statement;
    enum doppel_status status = rows_prepare(
        library,
        "SELECT item, " IS_WHOLE(LINK_COLUMNS) " FROM link WHERE leader = ?1"
                                               " UNION ALL SELECT id, 1 FROM text WHERE leader = "
                                               "?1 AND leader != 0 ORDER BY 1 LIMIT ?2",
        VALUES(ID(leader), ID(limit ? limit - 1 : INT64_MAX)), &statement, error);
    if (status)
        return status;
    bool kept = array_push(&ids, leader);
    while (kept && !(status = doppel_store_step(library->store, statement, &row, error)) && row)
        if (sqlite3_column_int(statement, 1) == 1)
            kept = array_push(&ids, (uint64_t)sqlite3_column_int64(statement, 0));
        else
            damaged = (uint64_t)sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    if (!kept)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a group");
    if (!status)
        status = ids_visit(ids.items, ids.count, visitor, context, error);
    array_free(&ids);
    return status || !damaged ? status : item_damaged(library, damaged, link_damaged, error);
}

/* ---- linking ---- */

#define PUT_CANONICAL                                                                              \
    "INSERT OR REPLACE INTO canonical(" CANONICAL_COLUMNS                                          \
    ", checksum) VALUES(?1, ?2, " CHECKSUM_OF("?1, ?2") ")"

/* The rows of texts say themselves whom these follow: an earlier one. */
#define PUT_TEXT(leader, leads, which)                                                             \
    "UPDATE text SET leader = " leader ", leads = " leads ", checksum = " CHECKSUM_OF(TEXT_BUT(    \
        "corpus", "decision", leader, leads)) " WHERE " which " AND " IS_WHOLE(TEXT_COLUMNS)

/* Those who follow `from` follow `to`. */
static enum doppel_status relink(struct doppel_library *library, uint64_t from, uint64_t to,
                                 struct doppel_error *error)
{
    return rows_run(
        library,
        "UPDATE link SET leader = ?2, checksum = " CHECKSUM_OF("item, ?2") " WHERE leader = ?1",
        VALUES(ID(from), ID(to)), error);
}

/* An item is no longer canonical in the group that it is in. */
static enum doppel_status step_down(struct doppel_library *library, uint64_t id,
                                    struct doppel_error *error)
{
    uint64_t leader;
    enum doppel_status status = doppel_library_leader(library, id, &leader, error);
    if (status == DOPPEL_E_CORRUPT) /* of an unknown group */
        return rows_run(library, "DELETE FROM canonical WHERE item = ?1", VALUES(ID(id)), error);
    return status ? status
                  : rows_run(library, "DELETE FROM canonical WHERE leader = ?1 AND item = ?2",
                             VALUES(ID(leader), ID(id)), error);
}

static enum doppel_status put_link(struct doppel_library *library, uint64_t item, uint64_t leader,
                                   struct doppel_error *error)
{
    bool led = false;
    enum doppel_status status;
    TRY(text_file_leads(library, item, &led, error));
    TRY(step_down(library, item, error));
    TRY(relink(library, item, leader, error));
    TRY(rows_run(library, PUT_TEXT("?2", "0", "leader = ?1 AND leader != 0 AND id > ?2"),
                 VALUES(ID(item), ID(leader)), error));
    TRY(rows_run(library, "DELETE FROM canonical WHERE leader = ?1", VALUES(ID(item)), error));
    TRY(rows_run(library, PUT_TEXT("?2", "0", "id = ?1 AND id > ?2"), VALUES(ID(item), ID(leader)),
                 error));
    if (!rows_changed(library))
        TRY(rows_run(library,
                     "INSERT OR REPLACE INTO link(" LINK_COLUMNS
                     ", checksum) VALUES(?1, ?2, " CHECKSUM_OF("?1, ?2") ")",
                     VALUES(ID(item), ID(leader)), error));
    TRY(text_codes_move(library, item, led, error));
done:
    return status;
}

static enum doppel_status link_checked(struct doppel_library *library, uint64_t item,
                                       uint64_t leader, struct doppel_error *error)
{
    uint64_t its_leader = 0;
    enum doppel_status status;
    TRY(item_exists(library, item, error));
    TRY(item_exists(library, leader, error));
    TRY(doppel_library_leader(library, leader, &its_leader, error));
    if (item == leader || its_leader != leader)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "item %" PRIu64 " cannot follow %" PRIu64 ", which %s", item, leader,
                           item == leader ? "is itself" : "follows another one");
    TRY(put_link(library, item, leader, error));
done:
    return status;
}

enum doppel_status doppel_library_link(struct doppel_library *library, uint64_t item,
                                       uint64_t leader, struct doppel_error *error)
{
    enum doppel_status status = library_begin(library, error);
    return status ? status : library_end(library, link_checked(library, item, leader, error));
}

static enum doppel_status unlink_item(struct doppel_library *library, uint64_t item,
                                      struct doppel_error *error)
{
    enum doppel_status status;
    TRY(step_down(library, item, error));
    TRY(rows_run(library, PUT_TEXT("0", "(too_short = 0)", "id = ?1 AND leader != 0"),
                 VALUES(ID(item)), error));
    TRY(rows_run(library, "DELETE FROM link WHERE item = ?1", VALUES(ID(item)), error));
done:
    return status;
}

static enum doppel_status unlink_and_move(struct doppel_library *library, uint64_t item,
                                          struct doppel_error *error)
{
    bool led = false;
    enum doppel_status status = text_file_leads(library, item, &led, error);
    if (!status)
        status = unlink_item(library, item, error);
    return status ? status : text_codes_move(library, item, led, error);
}

enum doppel_status doppel_library_unlink(struct doppel_library *library, uint64_t item,
                                         struct doppel_error *error)
{
    enum doppel_status status = library_begin(library, error);
    return status ? status : library_end(library, unlink_and_move(library, item, error));
}

/* The first of those who follow `id` takes its place, and leads on to whoever is canonical. */
static enum doppel_status promote(struct doppel_library *library, uint64_t id, uint64_t first,
                                  struct doppel_error *error)
{
    uint64_t canonical = id;
    enum doppel_status status = doppel_library_canonical(library, id, &canonical, error);
    if (status && status != DOPPEL_E_CORRUPT)
        return status;
    TRY(rows_run(library, "DELETE FROM link WHERE item = ?1", VALUES(ID(first)), error));
    TRY(text_codes_move(library, first, false, error));
    TRY(relink(library, id, first, error));
    if (canonical != id && canonical != first)
        TRY(rows_run(library, PUT_CANONICAL, VALUES(ID(first), ID(canonical)), error));
done:
    return status;
}

enum doppel_status links_leave(struct doppel_library *library, uint64_t id,
                               struct doppel_error *error)
{
    return unlink_item(library, id, error);
}

enum doppel_status links_hand_on(struct doppel_library *library, uint64_t id,
                                 struct doppel_error *error)
{
    int64_t first = 0;
    bool leads = false;
    enum doppel_status status;
    TRY(rows_number(library, "SELECT item FROM link WHERE leader = ?1 ORDER BY item",
                    VALUES(ID(id)), &first, &leads, error));
    if (leads)
        TRY(promote(library, id, (uint64_t)first, error));
    TRY(rows_run(library, "DELETE FROM canonical WHERE leader = ?1", VALUES(ID(id)), error));
done:
    return status;
}

/* ---- canonical members ---- */

enum doppel_status doppel_library_get_canonical(struct doppel_library *library, uint64_t leader,
                                                uint64_t *out, struct doppel_error *error)
{
    uint64_t item = 0;
    enum doppel_status status = whole_number(
        library, "SELECT item, " IS_WHOLE(CANONICAL_COLUMNS) " FROM canonical WHERE leader = ?1",
        leader, "which one of its group is canonical is damaged; mark one to be kept", &item,
        error);
    if (!status)
        *out = item;
    return status;
}

enum doppel_status doppel_library_canonical(struct doppel_library *library, uint64_t leader,
                                            uint64_t *out, struct doppel_error *error)
{
    uint64_t chosen = 0;
    enum doppel_status status = doppel_library_get_canonical(library, leader, &chosen, error);
    if (!status)
        *out = chosen ? chosen : leader;
    return status;
}

/* Whether it was a person who chose it, of what is canonical: the log has who did so last. */
static enum doppel_status is_by_hand(struct doppel_library *library, uint64_t item, bool *out,
                                     struct doppel_error *error)
{
    int64_t said = 0;
    enum doppel_status status =
        rows_number(library,
                    "SELECT reason IS ?2 FROM log WHERE item = ?1 AND item != 0"
                    " AND action = 'canonical' ORDER BY entry DESC LIMIT 1",
                    VALUES(ID(item), value_text(CHOSEN_BY_HAND)), &said, NULL, error);
    *out = said != 0;
    return status;
}

/* @param reason why, for the log */
static enum doppel_status put_canonical(struct doppel_library *library, uint64_t leader,
                                        uint64_t item, const char *reason,
                                        struct doppel_error *error)
{
    uint64_t former = 0;
    char *name = NULL;
    bool said = strcmp(reason, CHOSEN_BY_HAND) != 0; /* already, or not now either */
    enum doppel_status status = doppel_library_get_canonical(library, leader, &former, error);
    if (status && status != DOPPEL_E_CORRUPT) /* this mends it */
        return status;
    if (former == item && !said)
        TRY(is_by_hand(library, item, &said, error));
    if (former == item && said)
        return DOPPEL_OK;
    TRY(item_name(library, item, &name, error));
    TRY(rows_run(library, PUT_CANONICAL, VALUES(ID(leader), ID(item)), error));
    if (!former && item != leader)
        former = leader;
    const struct doppel_log_entry entry = {.action = DOPPEL_LOG_CANONICAL,
                                           .item = item,
                                           .name = name,
                                           .of = leader,
                                           .former = former == item ? 0 : former,
                                           .reason = reason};
    TRY(log_append(library, &entry, error));
done:
    free(name);
    return status;
}

static enum doppel_status set_canonical(struct doppel_library *library, uint64_t leader,
                                        uint64_t item, const char *reason,
                                        struct doppel_error *error)
{
    uint64_t its_leader = 0;
    enum doppel_status status;
    TRY(item_exists(library, item, error));
    TRY(doppel_library_leader(library, item, &its_leader, error));
    if (its_leader != leader)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "item %" PRIu64 " is not in the group of item %" PRIu64, item, leader);
    TRY(put_canonical(library, leader, item, reason, error));
done:
    return status;
}

enum doppel_status doppel_library_set_canonical(struct doppel_library *library, uint64_t leader,
                                                uint64_t item, struct doppel_error *error)
{
    enum doppel_status status = library_begin(library, error);
    if (status)
        return status;
    return library_end(library, item ? set_canonical(library, leader, item, CHOSEN_BY_HAND, error)
                                     : rows_run(library, "DELETE FROM canonical WHERE leader = ?1",
                                                VALUES(ID(leader)), error));
}

enum doppel_status doppel_library_supersede(struct doppel_library *library, uint64_t leader,
                                            uint64_t newcomer, const char *reason,
                                            struct doppel_error *error)
{
    enum doppel_status status = library_begin(library, error);
    return status ? status
                  : library_end(library, set_canonical(library, leader, newcomer, reason, error));
}

/* The canonical member of a group, and whether a person chose it. */
static enum doppel_status find_holder(struct doppel_library *library, uint64_t leader,
                                      uint64_t *out, bool *out_by_hand, struct doppel_error *error)
{
    uint64_t chosen = 0;
    enum doppel_status status = doppel_library_get_canonical(library, leader, &chosen, error);
    *out = chosen ? chosen : leader;
    return status || !chosen ? status : is_by_hand(library, chosen, out_by_hand, error);
}

static enum doppel_status choose(struct doppel_library *library, uint64_t leader, uint64_t newcomer,
                                 const struct doppel_candidate *candidate, uint64_t *out_replaced,
                                 enum doppel_keep *out_by, struct doppel_error *error)
{
    struct doppel_keep_policy policy = {0};
    struct doppel_candidate candidates[] = {*candidate, {0}};
    const struct doppel_candidate *mine = &candidates[0], *holder = &candidates[1];
    uint64_t canonical = 0;
    bool said = false; /* no policy outranks a person */
    char *name = NULL;
    enum doppel_status status = doppel_library_policy(library, &policy, error);
    if (!status)
        status = find_holder(library, leader, &canonical, &said, error);
    *out_replaced = 0;
    *out_by = DOPPEL_KEEP_CRITERIA;
    if (status || said || canonical == newcomer)
        return status;
    status = doppel_library_candidate(library, canonical, &candidates[1], &name, error);
    if (status)
        return status;
    candidates_load_looks(library, (const uint64_t[]){newcomer, canonical}, candidates);
    bool better = doppel_keep_compare(&policy, mine, holder, out_by) < 0;
    free(name);
    if (!better || *out_by == DOPPEL_KEEP_CRITERIA) /* names alone are no reason to change */
        return DOPPEL_OK;
    *out_replaced = canonical;
    return put_canonical(library, leader, newcomer, doppel_keep_name(*out_by), error);
}

enum doppel_status doppel_library_choose_canonical(struct doppel_library *library, uint64_t leader,
                                                   uint64_t newcomer,
                                                   const struct doppel_candidate *candidate,
                                                   uint64_t *out_replaced, enum doppel_keep *out_by,
                                                   struct doppel_error *error)
{
    uint64_t replaced = 0;
    enum doppel_keep by = DOPPEL_KEEP_CRITERIA;
    enum doppel_status status = library_begin(library, error);
    if (!status)
        status = library_end(library,
                             choose(library, leader, newcomer, candidate, &replaced, &by, error));
    if (status)
        return status;
    *out_replaced = replaced;
    *out_by = by;
    return DOPPEL_OK;
}
