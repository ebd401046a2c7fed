/* Groups that records of corpora are in, one after the other. */
#include "library/ledger/ledger.h"

#include "core/array.h"

/* Both indexes are in this order, so nothing is sorted. Who has a row of `link` follows whom that
 * says. */
#define FOLLOWERS_BY_LEADER                                                                        \
    "SELECT leader, id, 1 AS text, 1 AS whole FROM text WHERE leader != 0"                         \
    " AND NOT EXISTS(SELECT 1 FROM link WHERE link.item = text.id)"                                \
    " UNION ALL SELECT leader, item, EXISTS(SELECT 1 FROM text WHERE id IN (link.item,"            \
    " link.leader)), " IS_WHOLE("item, leader") " FROM link ORDER BY 1, 2"

enum { COLUMN_LEADER, COLUMN_ID, COLUMN_TEXT, COLUMN_WHOLE };

struct gathering {
    struct doppel_library *library;
    doppel_group_ids_visitor *visitor;
    void *context;
    ARRAY(uint64_t) ids; /* of the group at hand, its representative first */
    bool texts;          /* one of them is a text */
    uint64_t damaged;    /* an item whose row of `link` is so; 0: none */
};

/* A representative that is gone is followed by none. */
static enum doppel_status leader_is_there(struct doppel_library *library, uint64_t id, bool *out,
                                          struct doppel_error *error)
{
    int64_t one;
    return rows_number(library,
                       "SELECT 1 FROM text WHERE id = ?1 UNION ALL"
                       " SELECT 1 FROM item WHERE id = ?1 /* it leads */",
                       VALUES(ID(id)), &one, out, error);
}

static enum doppel_status end_group(struct gathering *gathering, struct doppel_error *error)
{
    bool there = false;
    enum doppel_status status = DOPPEL_OK;
    if (gathering->texts && gathering->ids.count > 1)
        status = leader_is_there(gathering->library, gathering->ids.items[0], &there, error);
    if (!status && there &&
        !gathering->visitor(gathering->context, gathering->ids.items, gathering->ids.count))
        status = visit_ended(error);
    gathering->ids.count = 0;
    gathering->texts = false;
    return status;
}

static enum doppel_status take_member_row(struct gathering *gathering, sqlite3_stmt *statement,
                                          struct doppel_error *error)
{
    uint64_t leader = (uint64_t)sqlite3_column_int64(statement, COLUMN_LEADER);
    uint64_t id = (uint64_t)sqlite3_column_int64(statement, COLUMN_ID);
    enum doppel_status status = DOPPEL_OK;
    if (sqlite3_column_int(statement, COLUMN_WHOLE) != 1) {
        gathering->damaged = id;
        return DOPPEL_OK;
    }
    if (gathering->ids.count && gathering->ids.items[0] != leader)
        status = end_group(gathering, error);
    if (status)
        return status;
    gathering->texts |= sqlite3_column_int(statement, COLUMN_TEXT) == 1;
    if ((!gathering->ids.count && !array_push(&gathering->ids, leader)) ||
        !array_push(&gathering->ids, id))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a group");
    return DOPPEL_OK;
}

enum doppel_status doppel_library_each_text_group(struct doppel_library *library,
                                                  doppel_group_ids_visitor *visitor, void *context,
                                                  struct doppel_error *error)
{
    struct gathering gathering = {.library = library, .visitor = visitor, .context = context};
    sqlite3_stmt *statement;
    bool row = false;
    enum doppel_status status =
        rows_prepare(library, FOLLOWERS_BY_LEADER, NO_VALUES, &statement, error);
    if (status)
        return status;
    visit_begin(error);
    while (!(status = doppel_store_step(library->store, statement, &row, error)) && row)
        if ((status = take_member_row(&gathering, statement, error)))
            break;
    if (!status)
        status = end_group(&gathering, error);
    sqlite3_reset(statement);
    array_free(&gathering.ids);
    return status || !gathering.damaged
               ? status
               : item_damaged(library, gathering.damaged,
                              "whom it follows is damaged; remove it and add it again", error);
}
