/* A list that is made again as somebody else has it: what is there is known by its digest, in
 * memory; what comes is said by whoever reads the list; what did not come is taken off. */
#include "library/ledger/lists.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/number_map.h"
#include "core/try.h"
#include "library/derived/derived.h"
#include "library/items/import_internal.h"

/* An item that was on the list. */
struct sync_member {
    uint64_t id, tags; /* of its tags, in any order */
    struct doppel_digest digest;
    bool came, is_text;
};

struct doppel_list_sync {
    struct doppel_library *library;
    char *list;
    ARRAY(struct sync_member) members; /* by id */
    struct number_map by_digest;       /* to their places, from 1 on */
    struct doppel_sync_counts counts;
};

/* ---- what is there ---- */

static uint64_t key_of_digest(const struct doppel_digest *digest)
{
    uint64_t key;
    memcpy(&key, digest->bytes, sizeof key);
    return key;
}

static uint64_t sum_of_tag(const char *tag)
{
    const struct doppel_digest digest = doppel_digest_bytes(tag, strlen(tag));
    return key_of_digest(&digest) | 1;
}

static uint64_t sum_of_tags(char *const *tags, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += sum_of_tag(tags[i]);
    return sum;
}

static bool take_member(struct doppel_list_sync *sync, sqlite3_stmt *row)
{
    struct sync_member member = {.id = (uint64_t)sqlite3_column_int64(row, 0)};
    const void *digest = sqlite3_column_blob(row, 1);
    member.is_text = !digest || (size_t)sqlite3_column_bytes(row, 1) != sizeof member.digest.bytes;
    if (!member.is_text)
        memcpy(member.digest.bytes, digest, sizeof member.digest.bytes);
    return array_push(&sync->members, member) &&
           (member.is_text ||
            number_map_put(&sync->by_digest, key_of_digest(&member.digest), sync->members.count));
}

/* Both come by id. */
static bool take_tag(struct doppel_list_sync *sync, sqlite3_stmt *row, size_t *at)
{
    const uint64_t id = (uint64_t)sqlite3_column_int64(row, 0);
    const char *tag = (const char *)sqlite3_column_text(row, 1);
    while (*at < sync->members.count && sync->members.items[*at].id < id)
        ++*at;
    if (tag && *at < sync->members.count && sync->members.items[*at].id == id)
        sync->members.items[*at].tags += sum_of_tag(tag);
    return tag != NULL;
}

static enum doppel_status load_members(struct doppel_list_sync *sync, bool tags,
                                       struct doppel_error *error)
{
    static const char *const sql[] = {
        "SELECT list_item.item, digest FROM list_item LEFT JOIN item ON item.id = list_item.item"
        " WHERE list = (SELECT id FROM list WHERE name = ?1) ORDER BY list_item.item",
        "SELECT item, tag FROM list_said WHERE tag != ''"
        " AND list = (SELECT id FROM list WHERE name = ?1) ORDER BY item"};
    struct doppel_library *library = sync->library;
    sqlite3_stmt *statement;
    size_t at = 0;
    bool row;
    enum doppel_status status =
        rows_prepare(library, sql[tags], VALUES(value_text(sync->list)), &statement, error);
    while (!status && !(status = doppel_store_step(library->store, statement, &row, error)) && row)
        if (tags ? !take_tag(sync, statement, &at) : !take_member(sync, statement)) {
            sqlite3_reset(statement);
            status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a list");
        }
    return status;
}

enum doppel_status doppel_list_sync_begin(struct doppel_library *library, const char *list,
                                          struct doppel_list_sync **out, struct doppel_error *error)
{
    struct doppel_list_sync *sync = calloc(1, sizeof *sync);
    enum doppel_status status;
    if (!sync || !(sync->list = strdup(list))) {
        free(sync);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a list");
    }
    sync->library = library;
    TRY(name_check(list, "the name of a list", error));
    TRY(library_begin(library, error));
    TRY(load_members(sync, false, error));
    TRY(load_members(sync, true, error));
    sync->counts.before = sync->members.count;
done:
    if (status)
        doppel_list_sync_free(sync);
    else
        *out = sync;
    return status;
}

void doppel_list_sync_free(struct doppel_list_sync *sync)
{
    if (!sync)
        return;
    array_free(&sync->members);
    number_map_free(&sync->by_digest);
    free(sync->list);
    free(sync);
}

/* ---- what comes ---- */

bool list_sync_knows(struct doppel_list_sync *sync, const struct doppel_digest *digest,
                     const struct doppel_list_tags *tags)
{
    const uint64_t place = number_map_find(&sync->by_digest, key_of_digest(digest));
    struct sync_member *member = place ? &sync->members.items[place - 1] : NULL;
    if (!member || memcmp(&member->digest, digest, sizeof *digest) != 0)
        return false;
    if (!member->came && tags->given && sum_of_tags(tags->items, tags->count) != member->tags)
        return false;
    sync->counts.unchanged += !member->came;
    member->came = true;
    return true;
}

static int by_member_id(const void *left, const void *right)
{
    const struct sync_member *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

void doppel_list_sync_came(struct doppel_list_sync *sync, uint64_t id, bool updated, bool retagged)
{
    const struct sync_member wanted = {.id = id};
    struct sync_member *member = sync->members.count
                                     ? bsearch(&wanted, sync->members.items, sync->members.count,
                                               sizeof wanted, by_member_id)
                                     : NULL;
    if (!member || member->came)
        return;
    member->came = true;
    sync->counts.updated += updated;
    sync->counts.retagged += !updated && retagged;
    sync->counts.unchanged += !updated && !retagged;
}

/* ---- what did not ---- */

/* An item that came with lists alone, and is on no other one, goes with the last of them. */
static enum doppel_status leave_list(struct doppel_list_sync *sync, uint64_t id,
                                     struct doppel_error *error)
{
    static const struct doppel_list_tags none = {.given = true};
    struct doppel_library *library = sync->library;
    char why[1100];
    int64_t goes = 0;
    bool changed;
    enum doppel_status status;
    TRY(list_say(library, id, sync->list, &none, false, &changed, error));
    TRY(list_take_off(library, id, sync->list, error));
    TRY(rows_number(library,
                    "SELECT EXISTS(SELECT 1 FROM list_said WHERE item = ?1 AND tag = '') AND NOT"
                    " EXISTS(SELECT 1 FROM list_item WHERE item = ?1)",
                    VALUES(ID(id)), &goes, NULL, error));
    if (goes) {
        snprintf(why, sizeof why, "gone from list '%.1000s'", sync->list);
        TRY(derived_prepare(library, NULL, NULL, id, error));
        TRY(item_remove(library, id, why, error));
    }
    sync->counts.kept += !goes;
done:
    return status;
}

enum doppel_status doppel_list_sync_count(struct doppel_list_sync *sync,
                                          struct doppel_sync_counts *out,
                                          struct doppel_error *error)
{
    struct doppel_sync_counts *counts = &sync->counts;
    int64_t now = 0;
    enum doppel_status status = rows_number(sync->library,
                                            "SELECT count(*) FROM list_item WHERE list ="
                                            " (SELECT id FROM list WHERE name = ?1)",
                                            VALUES(value_text(sync->list)), &now, NULL, error);
    if (status)
        return status;
    counts->removed = 0;
    for (size_t i = 0; i < sync->members.count; i++)
        counts->removed += !sync->members.items[i].came;
    counts->added = (uint64_t)now - counts->before;
    counts->after = (uint64_t)now - counts->removed;
    *out = *counts;
    return DOPPEL_OK;
}

enum doppel_status doppel_list_sync_end(struct doppel_list_sync *sync,
                                        struct doppel_sync_counts *out, struct doppel_error *error)
{
    enum doppel_status status = library_begin(sync->library, error);
    for (size_t i = 0; i < sync->members.count && !status; i++)
        if (!sync->members.items[i].came)
            status = leave_list(sync, sync->members.items[i].id, error);
    if (!status)
        out->kept = sync->counts.kept;
    return library_end(sync->library, status);
}

/* ---- tags, as labels ---- */

static bool is_among_tags(const char *tag, const struct doppel_list_tags *tags)
{
    for (size_t i = 0; i < tags->count; i++)
        if (strcmp(tag, tags->items[i]) == 0)
            return true;
    return false;
}

enum doppel_status list_tags_check(struct doppel_library *library,
                                   const struct doppel_list_tags *tags, struct doppel_error *error)
{
    const struct doppel_metadata about = {.labels = tags->items, .label_count = tags->count};
    return tags->count ? doppel_library_check_metadata(library, &about, error) : DOPPEL_OK;
}

/* What a person said stays, and what another list says, too. */
static enum doppel_status take_back_tag(struct doppel_library *library, uint64_t id,
                                        const char *list, const char *tag,
                                        struct doppel_error *error)
{
    const struct values values = VALUES(ID(id), value_text(tag), value_text(list));
    enum doppel_status status;
    TRY(rows_run(library,
                 "DELETE FROM list_said WHERE item = ?1 AND tag = ?2"
                 " AND list = (SELECT id FROM list WHERE name = ?3)",
                 values, error));
    TRY(rows_run(library,
                 "DELETE FROM label WHERE item = ?1 AND label = ?2 AND NOT EXISTS(SELECT 1 FROM"
                 " list_said WHERE item = ?1 AND tag = ?2)",
                 VALUES(ID(id), value_text(tag)), error));
done:
    return status;
}

static enum doppel_status say_tag(struct doppel_library *library, uint64_t id, const char *list,
                                  const char *tag, struct doppel_error *error)
{
    const struct values values = VALUES(ID(id), value_text(tag), value_text(list));
    enum doppel_status status;
    TRY(rows_run(library,
                 "INSERT OR IGNORE INTO list_said(item, list, tag) SELECT ?1, id, ?2 FROM list"
                 " WHERE name = ?3 AND (NOT EXISTS(SELECT 1 FROM label WHERE item = ?1"
                 " AND label = ?2) OR EXISTS(SELECT 1 FROM list_said WHERE item = ?1"
                 " AND tag = ?2))",
                 values, error));
    TRY(rows_run(library, "INSERT OR IGNORE INTO label(item, label) VALUES(?1, ?2)",
                 VALUES(ID(id), value_text(tag)), error));
done:
    return status;
}

/* Given (free), each and all; also on failure. */
static enum doppel_status read_tags(struct doppel_library *library, uint64_t id, const char *list,
                                    struct doppel_list_tags *out, struct doppel_error *error)
{
    ARRAY(char *) tags = {0};
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status =
        rows_prepare(library,
                     "SELECT tag FROM list_said WHERE item = ?1 AND tag != ''"
                     " AND list = (SELECT id FROM list WHERE name = ?2)",
                     VALUES(ID(id), value_text(list)), &statement, error);
    while (!status && !(status = doppel_store_step(library->store, statement, &row, error)) &&
           row) {
        char *tag = NULL;
        status = string_read(statement, 0, &tag);
        if (!status && !array_push(&tags, tag)) {
            free(tag);
            status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for tags");
        }
        if (status)
            sqlite3_reset(statement);
    }
    *out = (struct doppel_list_tags){.items = tags.items, .count = tags.count};
    return status;
}

static enum doppel_status say_tags(struct doppel_library *library, uint64_t id, const char *list,
                                   const struct doppel_list_tags *tags, bool *out_changed,
                                   struct doppel_error *error)
{
    struct doppel_list_tags former = {0};
    enum doppel_status status = read_tags(library, id, list, &former, error);
    for (size_t i = 0; i < former.count && !status; i++)
        if (!is_among_tags(former.items[i], tags)) {
            status = take_back_tag(library, id, list, former.items[i], error);
            *out_changed = true;
        }
    for (size_t i = 0; i < tags->count && !status; i++)
        if (!is_among_tags(tags->items[i], &former)) {
            status = say_tag(library, id, list, tags->items[i], error);
            *out_changed |= rows_changed(library) > 0;
        }
    for (size_t i = 0; i < former.count; i++)
        free(former.items[i]);
    free(former.items);
    return status;
}

enum doppel_status list_say(struct doppel_library *library, uint64_t id, const char *list,
                            const struct doppel_list_tags *tags, bool brought, bool *out_changed,
                            struct doppel_error *error)
{
    int64_t listed = 0;
    enum doppel_status status = rows_number(library,
                                            "SELECT EXISTS(SELECT 1 FROM list_item WHERE item = ?1"
                                            " AND list = (SELECT id FROM list WHERE name = ?2))",
                                            VALUES(ID(id), value_text(list)), &listed, NULL, error);
    *out_changed = false;
    if (status || !listed)
        return status;
    if (brought)
        TRY(rows_run(library,
                     "INSERT OR IGNORE INTO list_said(item, list, tag)"
                     " SELECT ?1, id, '' FROM list WHERE name = ?2",
                     VALUES(ID(id), value_text(list)), error));
    if (tags->given)
        TRY(say_tags(library, id, list, tags, out_changed, error));
done:
    return status;
}

enum doppel_status doppel_library_list_says(struct doppel_library *library, uint64_t id,
                                            const char *list, const struct doppel_list_tags *tags,
                                            bool brought, bool *out_changed,
                                            struct doppel_error *error)
{
    enum doppel_status status = list_tags_check(library, tags, error);
    if (!status)
        status = library_begin(library, error);
    return status ? status
                  : library_end(library,
                                list_say(library, id, list, tags, brought, out_changed, error));
}

enum doppel_status doppel_library_each_list_tag(struct doppel_library *library, uint64_t id,
                                                doppel_list_tag_visitor *visitor, void *context,
                                                struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row, goes_on = true;
    enum doppel_status status =
        rows_prepare(library,
                     "SELECT name, tag FROM list_said JOIN list ON list.id = list_said.list"
                     " WHERE item = ?1 ORDER BY name, tag",
                     VALUES(ID(id)), &statement, error);
    while (!status && goes_on &&
           !(status = doppel_store_step(library->store, statement, &row, error)) && row) {
        const char *list = (const char *)sqlite3_column_text(statement, 0);
        const char *tag = (const char *)sqlite3_column_text(statement, 1);
        goes_on = !list || !tag || visitor(context, list, tag);
    }
    if (!goes_on) {
        sqlite3_reset(statement);
        return doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
    }
    return status;
}
