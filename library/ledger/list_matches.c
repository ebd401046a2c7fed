/* What was set of lists, how near what matches their items must be, how often these were matched,
 * and which of them are to be reviewed since that was too often. */
#include "library/ledger/lists.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "library/items/record.h"
#include "library/sums.h"
#include "core/try.h"

/* Rows of list_match that are no hour: 0 is all hours that are more than a day ago, -1 since when
 * the item is to be reviewed, -2 when it was released, and how many matches of that day count no
 * more. */
enum { HOURS_OF_DAY = 24 };
static const int64_t HOUR_NS = INT64_C(3600) * 1000000000;

#define RULE_VALUES "number, ?2, ?3, ?4"
#define RULE_IS_WHOLE                                                                              \
    "list_rule." IS_WHOLE("list_rule.list, list_rule.limit_kind,"                                  \
                          " list_rule.match_limit, list_rule.flood")

/* ---- rules ---- */

static bool is_rule(const struct doppel_list_rule *rule)
{
    return (rule->limit_kind == DOPPEL_LIMIT_NONE ||
            (rule->limit_kind == DOPPEL_LIMIT_DISTANCE && rule->limit >= 0 &&
             rule->limit <= UINT16_MAX) ||
            (rule->limit_kind == DOPPEL_LIMIT_SIMILARITY && rule->limit >= 0 && rule->limit <= 1));
}

static enum doppel_status put_rule(struct doppel_library *library, const char *list,
                                   const struct doppel_list_rule *rule, struct doppel_error *error)
{
    char what[160], limit[60] = "no limit of its own", flood[60] = "no flood guard";
    enum doppel_status status;
    TRY(list_make(library, list, error));
    TRY(rows_run(
        library,
        "INSERT OR REPLACE INTO list_rule(list, limit_kind, match_limit, flood, checksum)"
        " SELECT " RULE_VALUES
        ", " CHECKSUM_OF(RULE_VALUES) " FROM (SELECT id AS number FROM list WHERE name = ?1)",
        VALUES(value_text(list), ID(rule->limit_kind), value_real(rule->limit), ID(rule->flood)),
        error));
    if (rule->limit_kind == DOPPEL_LIMIT_DISTANCE)
        snprintf(limit, sizeof limit, "a limit of distance %.0f", rule->limit);
    else if (rule->limit_kind == DOPPEL_LIMIT_SIMILARITY)
        snprintf(limit, sizeof limit, "a limit of similarity %.4g", rule->limit);
    if (rule->flood)
        snprintf(flood, sizeof flood, "a flood guard of %u a day", (unsigned)rule->flood);
    snprintf(what, sizeof what, "has %s, and %s", limit, flood);
    TRY(list_log_change(library, list, what, error));
done:
    return status;
}

enum doppel_status doppel_library_set_list_rule(struct doppel_library *library, const char *list,
                                                const struct doppel_list_rule *rule,
                                                struct doppel_error *error)
{
    enum doppel_status status;
    TRY(name_check(list, "the name of a list", error));
    if (!is_rule(rule))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "a list's limit is a distance, or a similarity from 0 to 1");
    TRY(library_begin(library, error));
    TRY(library_end(library, put_rule(library, list, rule, error)));
done:
    return status;
}

void list_rule_read(sqlite3_stmt *row, int at, struct doppel_list_rule *out)
{
    const int64_t kind = sqlite3_column_int64(row, at), flood = sqlite3_column_int64(row, at + 2);
    *out =
        (struct doppel_list_rule){.limit_kind = (enum doppel_limit_kind)kind,
                                  .limit = sqlite3_column_double(row, at + 1),
                                  .flood = flood > 0 && flood <= UINT32_MAX ? (uint32_t)flood : 0};
    if (kind < 0 || !is_rule(out))
        out->limit_kind = DOPPEL_LIMIT_NONE;
}

enum doppel_status doppel_library_get_list_rule(struct doppel_library *library, const char *list,
                                                struct doppel_list_rule *out,
                                                struct doppel_error *error)
{
    sqlite3_stmt *row;
    enum doppel_status status = rows_first(
        library,
        "SELECT limit_kind, match_limit, flood FROM list JOIN list_rule ON list_rule.list ="
        " list.id WHERE name = ?1 AND " RULE_IS_WHOLE,
        VALUES(value_text(list)), &row, error);
    *out = (struct doppel_list_rule){0};
    if (status || !row)
        return status;
    list_rule_read(row, 0, out);
    sqlite3_reset(row);
    return DOPPEL_OK;
}

/* ---- limits ---- */

static enum doppel_status read_limits(struct doppel_library *library, struct farthest_limits *out,
                                      struct doppel_error *error)
{
    sqlite3_stmt *row;
    enum doppel_status status =
        rows_first(library,
                   "SELECT count(*), max(CASE limit_kind WHEN 1 THEN match_limit END),"
                   " min(CASE limit_kind WHEN 2 THEN match_limit END) FROM list_rule"
                   " WHERE limit_kind != 0 AND " RULE_IS_WHOLE,
                   NO_VALUES, &row, error);
    out->any = false;
    out->distance = -1;
    out->similarity = -1;
    if (status || !row)
        return status;
    out->any = sqlite3_column_int64(row, 0) > 0;
    if (sqlite3_column_type(row, 1) != SQLITE_NULL)
        out->distance = (int64_t)sqlite3_column_double(row, 1);
    if (sqlite3_column_type(row, 2) != SQLITE_NULL)
        out->similarity = sqlite3_column_double(row, 2);
    sqlite3_reset(row);
    return DOPPEL_OK;
}

enum doppel_status doppel_library_list_limits(struct doppel_library *library, int64_t *out_distance,
                                              double *out_similarity, bool *out_any,
                                              struct doppel_error *error)
{
    struct farthest_limits *limits = &library->limits;
    int64_t version = 0;
    enum doppel_status status = DOPPEL_OK;
    *out_any = false;
    *out_distance = -1;
    *out_similarity = -1;
    if (library->read_only)
        TRY(doppel_store_data_version(library->store, &version, error));
    if (!limits->known || version != limits->version)
        TRY(read_limits(library, limits, error));
    limits->known = library->read_only;
    limits->version = version;
    *out_any = limits->any;
    *out_distance = limits->distance;
    *out_similarity = limits->similarity;
done:
    return status;
}

/* A list that has none of its own matches as all else does. */
enum doppel_status doppel_library_item_limits(struct doppel_library *library, uint64_t id,
                                              const struct doppel_match *match,
                                              struct doppel_item_limit *out,
                                              struct doppel_error *error)
{
    struct doppel_item_limit limit = {.by_default = true};
    sqlite3_stmt *statement;
    bool row, first = true;
    enum doppel_status status = rows_prepare(
        library,
        "SELECT coalesce(limit_kind, 0), match_limit, flood FROM list_item LEFT JOIN list_rule ON"
        " list_rule.list = list_item.list AND " RULE_IS_WHOLE " WHERE item = ?1",
        VALUES(ID(id)), &statement, error);
    while (!status && !(status = doppel_store_step(library->store, statement, &row, error)) &&
           row) {
        struct doppel_list_rule rule;
        list_rule_read(statement, 0, &rule);
        if (first)
            limit.by_default = false;
        first = false;
        limit.by_default |= rule.limit_kind == DOPPEL_LIMIT_NONE;
        const bool within =
            (rule.limit_kind == DOPPEL_LIMIT_DISTANCE && match->bits &&
             match->distance <= rule.limit) ||
            (rule.limit_kind == DOPPEL_LIMIT_SIMILARITY && match->similarity >= rule.limit - 1e-9);
        if (within && !limit.rule.limit_kind)
            limit.rule = rule;
    }
    if (!status)
        *out = limit;
    return status;
}

/* ---- counting ---- */

#define PUT_MATCHES                                                                                \
    "INSERT OR REPLACE INTO list_match(" LIST_MATCH_SUM ", checksum)"                              \
    " SELECT " LIST_MATCH_SUM ", " CHECKSUM_OF(LIST_MATCH_SUM) " FROM "

/* What is more than a day ago is one row. */
static enum doppel_status fold_hours(struct doppel_library *library, uint64_t id, int64_t since,
                                     struct doppel_error *error)
{
    const struct values values = VALUES(ID(id), value_integer(since));
    enum doppel_status status;
    TRY(rows_run(library,
                 PUT_MATCHES "(SELECT ?1 AS item, 0 AS hour, sum(matches) AS matches, max(last_ns)"
                             " AS last_ns FROM list_match WHERE item = ?1 AND hour BETWEEN 0 AND ?2"
                             " HAVING max(hour) > 0)",
                 values, error));
    if (rows_changed(library))
        TRY(rows_run(library, "DELETE FROM list_match WHERE item = ?1 AND hour BETWEEN 1 AND ?2",
                     values, error));
done:
    return status;
}

static enum doppel_status log_review(struct doppel_library *library, uint64_t id,
                                     const char *sentence, struct doppel_error *error)
{
    char *name = NULL;
    enum doppel_status status;
    TRY(item_name(library, id, &name, error));
    const struct doppel_log_entry entry = {
        .action = DOPPEL_LOG_METADATA, .item = id, .name = name, .reason = sentence};
    TRY(log_append(library, &entry, error));
done:
    free(name);
    return status;
}

/* The least guard of its lists counts. */
static enum doppel_status guard_item(struct doppel_library *library, uint64_t id, int64_t since,
                                     struct doppel_error *error)
{
    char sentence[120];
    int64_t guard = 0, matches = 0;
    enum doppel_status status;
    TRY(rows_number(library,
                    "SELECT coalesce(min(flood), 0) FROM list_item JOIN list_rule ON"
                    " list_rule.list = list_item.list WHERE item = ?1 AND flood > 0"
                    " AND " RULE_IS_WHOLE,
                    VALUES(ID(id)), &guard, NULL, error));
    if (!guard)
        return DOPPEL_OK;
    TRY(rows_number(
        library,
        "SELECT coalesce(sum(CASE WHEN hour > ?2 THEN matches WHEN hour = -2 AND last_ns > ?3"
        " THEN -matches END), 0) FROM list_match WHERE item = ?1",
        VALUES(ID(id), value_integer(since), value_integer(since * HOUR_NS)), &matches, NULL,
        error));
    if (matches <= guard)
        return DOPPEL_OK;
    TRY(rows_run(library,
                 PUT_MATCHES "(SELECT ?1 AS item, -1 AS hour, 0 AS matches, ?2 AS last_ns WHERE NOT"
                             " EXISTS(SELECT 1 FROM list_match WHERE item = ?1 AND hour = -1))",
                 VALUES(ID(id), value_integer(now_ns())), error));
    if (!rows_changed(library))
        return DOPPEL_OK;
    snprintf(sentence, sizeof sentence, "to be reviewed: flood, more than %lld matches in a day",
             (long long)guard);
    TRY(log_review(library, id, sentence, error));
done:
    return status;
}

static enum doppel_status count_match(struct doppel_library *library, uint64_t id,
                                      struct doppel_error *error)
{
    const int64_t now = now_ns(), hour = now / HOUR_NS, since = hour - HOURS_OF_DAY;
    enum doppel_status status;
    TRY(rows_run(library,
                 PUT_MATCHES "(SELECT ?1 AS item, ?2 AS hour, 1 + coalesce((SELECT matches FROM"
                             " list_match WHERE item = ?1 AND hour = ?2), 0) AS matches, ?3 AS"
                             " last_ns WHERE EXISTS(SELECT 1 FROM list_item WHERE item = ?1))",
                 VALUES(ID(id), value_integer(hour), value_integer(now)), error));
    if (!rows_changed(library))
        return DOPPEL_OK;
    TRY(fold_hours(library, id, since, error));
    TRY(guard_item(library, id, since, error));
done:
    return status;
}

enum doppel_status doppel_library_count_matches(struct doppel_library *library, const uint64_t *ids,
                                                size_t count, struct doppel_error *error)
{
    enum doppel_status status = library_begin(library, error);
    for (size_t i = 0; i < count && !status; i++)
        status = count_match(library, ids[i], error);
    return library_end(library, status);
}

/* ---- review ---- */

enum doppel_status doppel_library_is_reviewed(struct doppel_library *library, uint64_t id,
                                              bool *out, struct doppel_error *error)
{
    int64_t reviewed = 0;
    enum doppel_status status = rows_number(
        library, "SELECT EXISTS(SELECT 1 FROM list_match WHERE item = ?1 AND hour = -1)",
        VALUES(ID(id)), &reviewed, NULL, error);
    *out = reviewed != 0;
    return status;
}

/* What was counted until now sets it to review no more. */
static enum doppel_status release_item(struct doppel_library *library, uint64_t id,
                                       struct doppel_error *error)
{
    const int64_t now = now_ns();
    enum doppel_status status;
    TRY(rows_run(library, "DELETE FROM list_match WHERE item = ?1 AND hour = -1", VALUES(ID(id)),
                 error));
    if (!rows_changed(library))
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "item %llu is not in review",
                           (unsigned long long)id);
    TRY(rows_run(library,
                 PUT_MATCHES "(SELECT ?1 AS item, -2 AS hour, coalesce(sum(matches), 0) AS matches,"
                             " ?3 AS last_ns FROM list_match WHERE item = ?1 AND hour > ?2)",
                 VALUES(ID(id), value_integer(now / HOUR_NS - HOURS_OF_DAY), value_integer(now)),
                 error));
    TRY(log_review(library, id, "released from review", error));
done:
    return status;
}

enum doppel_status doppel_library_release_review(struct doppel_library *library, uint64_t id,
                                                 struct doppel_error *error)
{
    enum doppel_status status = library_begin(library, error);
    return status ? status : library_end(library, release_item(library, id, error));
}

enum doppel_status doppel_library_each_review(struct doppel_library *library,
                                              doppel_review_visitor *visitor, void *context,
                                              struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row, goes_on = true;
    enum doppel_status status = rows_prepare(
        library,
        "SELECT one.item, list.name, about.external_id, one.last_ns, (SELECT sum(matches) FROM"
        " list_match AS more WHERE more.item = one.item AND hour > ?1) FROM list_match AS one"
        " JOIN list_item ON list_item.item = one.item JOIN list ON list.id = list_item.list"
        " LEFT JOIN about ON about.item = one.item"
        " WHERE one.hour = -1 ORDER BY list.name, one.item",
        VALUES(value_integer(now_ns() / HOUR_NS - HOURS_OF_DAY)), &statement, error);
    while (!status && !(status = doppel_store_step(library->store, statement, &row, error)) &&
           row && goes_on) {
        const struct doppel_review review = {
            .item = (uint64_t)sqlite3_column_int64(statement, 0),
            .list = (const char *)sqlite3_column_text(statement, 1),
            .name = (const char *)sqlite3_column_text(statement, 2),
            .since_ns = sqlite3_column_int64(statement, 3),
            .matches = (uint64_t)sqlite3_column_int64(statement, 4)};
        goes_on = !review.list || visitor(context, &review);
    }
    if (!status)
        sqlite3_reset(statement);
    return goes_on ? status : doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
}
