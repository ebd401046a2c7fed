/* What a library holds, counted by its indexes; what happened in it, by its log. */
#include <string.h>

#include "library/derived/codes.h"
#include "core/try.h"
#include "library/derived/derived.h"
#include "library/items/record.h"
#include "library/items/rows.h"

static enum doppel_status count(struct doppel_library *library, const char *sql, uint64_t *out,
                                struct doppel_error *error)
{
    int64_t number = 0;
    enum doppel_status status = rows_number(library, sql, NO_VALUES, &number, NULL, error);
    if (!status)
        *out = (uint64_t)number;
    return status;
}

/* Texts have versions by the options that they were read with: none of them is old. */
static bool is_old(const struct doppel_library_share *share)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(share->scheme);
    return scheme && share->kind != DOPPEL_KIND_TEXT && scheme->version != share->version;
}

static enum doppel_status count_items(struct doppel_library *library,
                                      struct doppel_library_stats *stats,
                                      struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status =
        rows_prepare(library,
                     "SELECT kind, scheme, version, sum(items) FROM"
                     " (SELECT kind, scheme, version, count(*) AS items FROM item WHERE " WITH_FILE
                     " GROUP BY scheme, version, kind UNION ALL"
                     " SELECT kind, scheme, version, count(*) FROM item WHERE " WITHOUT_FILE
                     " GROUP BY scheme, version, kind)"
                     " GROUP BY kind, scheme, version ORDER BY kind, scheme, version",
                     NO_VALUES, &statement, error);
    while (!status && !(status = doppel_store_step(library->store, statement, &row, error)) &&
           row) {
        struct doppel_library_share share = {
            .kind = (enum doppel_kind)sqlite3_column_int(statement, 0),
            .scheme = (enum doppel_scheme_id)sqlite3_column_int(statement, 1),
            .version = (uint16_t)sqlite3_column_int(statement, 2),
            .items = (uint64_t)sqlite3_column_int64(statement, 3)};
        share.old = is_old(&share);
        stats->items += share.items;
        stats->old_items += share.old ? share.items : 0;
        if (stats->share_count < DOPPEL_LIBRARY_SHARES)
            stats->shares[stats->share_count++] = share;
    }
    return status;
}

/* Rows of a number below `limit` and a count. */
static enum doppel_status count_each(struct doppel_library *library, const char *sql, int64_t limit,
                                     uint64_t *out, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status = rows_prepare(library, sql, NO_VALUES, &statement, error);
    while (!status && !(status = doppel_store_step(library->store, statement, &row, error)) &&
           row) {
        int64_t number = sqlite3_column_int64(statement, 0);
        if (number >= 0 && number < limit)
            out[number] = (uint64_t)sqlite3_column_int64(statement, 1);
    }
    return status;
}

/* Of texts that have no row of `link`, which says whom they follow; a representative that is gone
 * is followed by none. A group of files and texts is counted once. */
#define FOLLOWS "text.leader != 0 AND NOT EXISTS(SELECT 1 FROM link WHERE link.item = text.id)"
#define IS_THERE                                                                                   \
    "(EXISTS(SELECT 1 FROM text WHERE text.id = one.leader)"                                       \
    " OR EXISTS(SELECT 1 FROM item WHERE item.id = one.leader))"
#define GROUPS                                                                                     \
    "SELECT (SELECT count(*) FROM (SELECT DISTINCT leader FROM text WHERE " FOLLOWS                \
    ") AS one WHERE " IS_THERE ")"                                                                 \
    " + (SELECT count(*) FROM (SELECT DISTINCT leader FROM link) AS one WHERE NOT EXISTS("         \
    "SELECT 1 FROM text WHERE text.leader = one.leader AND " FOLLOWS "))"
#define FOLLOWERS                                                                                  \
    "SELECT (SELECT count(*) FROM link) + (SELECT coalesce(sum(followers), 0) FROM"                \
    " (SELECT leader, count(*) AS followers FROM text WHERE " FOLLOWS                              \
    " GROUP BY leader) AS one WHERE " IS_THERE ")"

/* Ids ascend with time, but for what was imported. */
#define ADDED(which)                                                                               \
    "SELECT " which "(coalesce((SELECT added_ns FROM item WHERE id = (SELECT " which               \
    "(id) FROM item)), (SELECT added_ns FROM text WHERE id = (SELECT " which                       \
    "(id) FROM text)), 0), coalesce((SELECT added_ns FROM text WHERE id = (SELECT " which          \
    "(id) FROM text)), (SELECT added_ns FROM item WHERE id = (SELECT " which                       \
    "(id) FROM item)), 0))"

enum doppel_status doppel_library_stats(struct doppel_library *library,
                                        struct doppel_library_stats *out,
                                        struct doppel_error *error)
{
    struct doppel_library_stats stats = {.catalogue_bytes = catalogue_bytes(library),
                                         .audio_bytes = derived_bytes(library, DERIVED_AUDIO),
                                         .videos_bytes = derived_bytes(library, DERIVED_VIDEOS),
                                         .parts_bytes = derived_bytes(library, DERIVED_PARTS),
                                         .codes_bytes = codes_bytes(library)};
    const struct {
        const char *sql;
        uint64_t *out;
    } counts[] = {
        {GROUPS, &stats.groups},
        {FOLLOWERS, &stats.followers},
        {"SELECT count(*) FROM list_item", &stats.listed},
        {"SELECT count(*) FROM label", &stats.labels},
        {"SELECT count(*) FROM source", &stats.sources},
        {"SELECT count(*) FROM mark", &stats.marks},
        {"SELECT count(*) FROM exact", &stats.digests},
        {"SELECT count(*) FROM failure", &stats.failures},
        {"SELECT coalesce(max(entry), 0) FROM log", &stats.log_entries},
    };
    int64_t oldest = 0, newest = 0;
    enum doppel_status status;
    TRY(count_items(library, &stats, error));
    TRY(count_each(library, "SELECT decision, count(*) FROM text GROUP BY decision",
                   DOPPEL_LIBRARY_DECISIONS, stats.decisions, error));
    TRY(count_each(library, "SELECT state, count(*) FROM list GROUP BY state",
                   DOPPEL_LIBRARY_STATES, stats.lists, error));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        TRY(count(library, counts[i].sql, counts[i].out, error));
    TRY(rows_number(library, ADDED("min"), NO_VALUES, &oldest, NULL, error));
    TRY(rows_number(library, ADDED("max"), NO_VALUES, &newest, NULL, error));
    for (size_t i = 0; i < DOPPEL_LIBRARY_DECISIONS; i++)
        stats.texts += stats.decisions[i];
    stats.oldest_ns = oldest;
    stats.newest_ns = newest;
    *out = stats;
done:
    return status;
}

/* An entry may tell of many items. */
#define CHANGES                                                                                    \
    "SELECT action, coalesce(decision, -1), sum(coalesce(last_item - item, 0) + 1) FROM log"       \
    " WHERE time_ns >= ?1 GROUP BY action, decision"

static uint64_t *counted_change(struct doppel_library_changes *changes, const char *action,
                                int64_t decision)
{
    if (decision >= 0 && decision < DOPPEL_LIBRARY_DECISIONS)
        return &changes->decisions[decision];
    return strcmp(action, "added") == 0     ? &changes->added
           : strcmp(action, "removed") == 0 ? &changes->removed
           : strcmp(action, "marked") == 0  ? &changes->marked
                                            : NULL;
}

enum doppel_status doppel_library_count_changes(struct doppel_library *library, uint32_t seconds,
                                                struct doppel_library_changes *out,
                                                struct doppel_error *error)
{
    struct doppel_library_changes changes = {0};
    const struct values since = VALUES(value_integer(now_ns() - seconds * INT64_C(1000000000)));
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status = rows_prepare(library, CHANGES, since, &statement, error);
    while (!status && !(status = doppel_store_step(library->store, statement, &row, error)) &&
           row) {
        const char *action = (const char *)sqlite3_column_text(statement, 0);
        uint64_t *number =
            action ? counted_change(&changes, action, sqlite3_column_int64(statement, 1)) : NULL;
        if (number)
            *number += (uint64_t)sqlite3_column_int64(statement, 2);
    }
    if (!status)
        *out = changes;
    return status;
}
