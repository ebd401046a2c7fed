/* A manual label about two contents, which outranks what was computed. */
#include "library/ledger/ledger.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/digest.h"
#include "core/try.h"
#include "library/sums.h"

#define MARK_COLUMNS "a, b, same, time_ns, note"
#define MARK_VALUES "?1, ?2, ?3, ?4, ?5"
#define SELECT_MARK "SELECT " MARK_COLUMNS ", " IS_WHOLE(MARK_COLUMNS) " FROM mark "

enum { MAX_WORDS = 1000000 };

/* Two contents in their order. */
struct pair {
    const struct doppel_digest *a, *b;
};

static struct pair pair_of(const struct doppel_digest *a, const struct doppel_digest *b)
{
    bool in_order = memcmp(a->bytes, b->bytes, sizeof a->bytes) <= 0;
    return in_order ? (struct pair){a, b} : (struct pair){b, a};
}

/* ---- in memory ---- */

static void key_of(const struct pair *pair, uint64_t key[2])
{
    uint8_t both[2 * sizeof pair->a->bytes];
    memcpy(both, pair->a->bytes, sizeof pair->a->bytes);
    memcpy(both + sizeof pair->a->bytes, pair->b->bytes, sizeof pair->b->bytes);
    struct doppel_digest digest = doppel_digest_bytes(both, sizeof both);
    key[0] = get_u64(digest.bytes);
    key[1] = get_u64(digest.bytes + 8) | 1; /* a key is not zero */
}

static bool read_mark(sqlite3_stmt *statement, struct doppel_mark *out)
{
    if (sqlite3_column_int(statement, 5) != 1 || !digest_read(statement, 0, &out->a) ||
        !digest_read(statement, 1, &out->b))
        return false;
    out->word = sqlite3_column_int(statement, 2) ? DOPPEL_LABEL_SAME : DOPPEL_LABEL_DISTINCT;
    out->time_ns = sqlite3_column_int64(statement, 3);
    out->note = (const char *)sqlite3_column_text(statement, 4);
    return true;
}

static bool remember(struct memory *memory, const struct pair *pair, enum doppel_manual_label word)
{
    uint64_t key[2];
    key_of(pair, key);
    return key_map_put(&memory->words, key, (uint64_t)word);
}

static enum doppel_status load_words(struct doppel_library *library, struct doppel_error *error)
{
    struct memory *memory = &library->memory;
    int64_t count = 0;
    enum doppel_status status =
        rows_number(library, "SELECT count(*) FROM (SELECT 1 FROM mark LIMIT ?1)",
                    VALUES(ID(MAX_WORDS + 1)), &count, NULL, error);
    memory->slots[MEMORY_WORDS].too_many = count > MAX_WORDS;
    if (status || count > MAX_WORDS)
        return status;
    sqlite3_stmt *statement;
    bool row;
    struct doppel_mark mark;
    status = rows_prepare(library, SELECT_MARK "/* all */", NO_VALUES, &statement, error);
    while (!status && !(status = doppel_store_step(library->store, statement, &row, error)) && row)
        if (read_mark(statement, &mark) &&
            !remember(memory, &(struct pair){&mark.a, &mark.b}, mark.word)) {
            sqlite3_reset(statement);
            status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the words");
        }
    return status;
}

static enum doppel_status word_in_table(struct doppel_library *library, const struct pair *pair,
                                        enum doppel_manual_label *out, struct doppel_error *error)
{
    sqlite3_stmt *row;
    struct doppel_mark mark;
    enum doppel_status status =
        rows_first(library, SELECT_MARK "WHERE a = ?1 AND b = ?2",
                   VALUES(value_digest(pair->a), value_digest(pair->b)), &row, error);
    if (status)
        return status;
    *out = row && read_mark(row, &mark) ? mark.word : DOPPEL_LABEL_NONE;
    sqlite3_reset(row);
    return DOPPEL_OK;
}

enum doppel_status doppel_library_get_label(struct doppel_library *library,
                                            const struct doppel_digest *a,
                                            const struct doppel_digest *b,
                                            enum doppel_manual_label *out,
                                            struct doppel_error *error)
{
    const struct memory *memory = &library->memory;
    const struct pair pair = pair_of(a, b);
    uint64_t key[2];
    enum doppel_status status = memory_load(library, MEMORY_WORDS, load_words, error);
    if (status)
        return status;
    if (memory->slots[MEMORY_WORDS].too_many)
        return word_in_table(library, &pair, out, error);
    if (memory->words.count)
        key_of(&pair, key);
    *out = memory->words.count ? (enum doppel_manual_label)key_map_get(&memory->words, key)
                               : DOPPEL_LABEL_NONE;
    return DOPPEL_OK;
}

bool doppel_library_has_labels(struct doppel_library *library)
{
    const struct memory *memory = &library->memory;
    return memory_load(library, MEMORY_WORDS, load_words, NULL) || memory->words.count ||
           memory->slots[MEMORY_WORDS].too_many;
}

int64_t doppel_library_labels_revision(struct doppel_library *library)
{
    (void)doppel_library_has_labels(library);
    return library->memory.slots[MEMORY_WORDS].revision;
}

enum doppel_status doppel_library_each_mark(struct doppel_library *library,
                                            const struct doppel_digest *of,
                                            doppel_mark_visitor *visitor, void *context,
                                            struct doppel_error *error)
{
    uint64_t damaged = 0;
    bool row;
    sqlite3_stmt *statement;
    enum doppel_status status =
        of ? rows_prepare(library, SELECT_MARK "WHERE a = ?1 OR b = ?1 ORDER BY time_ns, a, b",
                          VALUES(value_digest(of)), &statement, error)
           : rows_prepare(library, SELECT_MARK "ORDER BY time_ns, a, b", NO_VALUES, &statement,
                          error);
    if (status)
        return status;
    while (!(status = doppel_store_step(library->store, statement, &row, error)) && row) {
        struct doppel_mark mark;
        if (!read_mark(statement, &mark)) {
            damaged++;
        } else if (!visitor(context, &mark)) {
            status = doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
            break;
        }
    }
    sqlite3_reset(statement);
    if (!status && damaged)
        status = doppel_fail(error, DOPPEL_E_CORRUPT,
                             "%s: %" PRIu64 " of its words %s damaged, and not looked at",
                             library->directory, damaged, damaged == 1 ? "is" : "are");
    return status;
}

/* What is canonical is it by the last entry of the log that says so of the item. */
#define SELECT_KEPT                                                                                \
    "SELECT one.item, one.leader, one.whole, log.time_ns FROM"                                     \
    " (SELECT item, leader, " IS_WHOLE(                                                            \
        CANONICAL_SUM) " AS whole, (SELECT entry FROM log"                                         \
                       " WHERE log.item = canonical.item AND log.item != 0 AND action = "          \
                       "'canonical'"                                                               \
                       " ORDER BY entry DESC LIMIT 1) AS chosen FROM canonical) AS one"            \
                       " JOIN log ON log.entry = one.chosen WHERE log.reason IS ?1 ORDER BY "      \
                       "log.entry"

enum doppel_status doppel_library_each_kept_mark(struct doppel_library *library,
                                                 doppel_kept_mark_visitor *visitor, void *context,
                                                 struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row, damaged = false;
    enum doppel_status status =
        rows_prepare(library, SELECT_KEPT, VALUES(value_text(CHOSEN_BY_HAND)), &statement, error);
    while (!status && !(status = doppel_store_step(library->store, statement, &row, error)) &&
           row) {
        const struct doppel_kept_mark mark = {.item = (uint64_t)sqlite3_column_int64(statement, 0),
                                              .leader =
                                                  (uint64_t)sqlite3_column_int64(statement, 1),
                                              .time_ns = sqlite3_column_int64(statement, 3)};
        const bool whole = sqlite3_column_int(statement, 2) == 1;
        damaged |= !whole;
        if (whole && !visitor(context, &mark))
            status = doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
    }
    if (status == DOPPEL_E_CANCELLED)
        sqlite3_reset(statement);
    return !status && damaged
               ? doppel_fail(error, DOPPEL_E_CORRUPT,
                             "%s: which one of some groups is to be kept is damaged; mark it again",
                             library->directory)
               : status;
}

/* ---- saying ---- */

/* The first item with these bytes; 0: none is known. */
static enum doppel_status item_of(struct doppel_library *library,
                                  const struct doppel_digest *digest, uint64_t *out,
                                  struct doppel_error *error)
{
    *out = 0;
    enum doppel_status status = doppel_library_by_digest(library, digest, out, error);
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

static enum doppel_status log_mark(struct doppel_library *library, const struct doppel_digest *a,
                                   const struct doppel_digest *b, const uint64_t items[2],
                                   const char *reason, const char *note, struct doppel_error *error)
{
    struct doppel_log_entry entry = {.action = DOPPEL_LOG_MARKED, .reason = reason};
    sqlite3_stmt *row;
    char *name = NULL;
    enum doppel_status status = DOPPEL_OK;
    if (items) {
        entry.item = items[0];
        entry.of = items[1];
    }
    if (!entry.item)
        TRY(item_of(library, a, &entry.item, error));
    if (!entry.of)
        TRY(item_of(library, b, &entry.of, error));
    TRY(item_name(library, entry.item, &name, error));
    TRY(rows_first(library,
                   "SELECT json_patch('{}', json_object('a', lower(hex(?1)),"
                   " 'b', lower(hex(?2)), 'note', ?3))",
                   VALUES(value_digest(a), value_digest(b), value_text(note)), &row, error));
    if (row) {
        entry.name = name;
        entry.detail = (const char *)sqlite3_column_text(row, 0);
        status = log_append(library, &entry, error);
        sqlite3_reset(row);
    }
done:
    free(name);
    return status;
}

static enum doppel_status put_mark(struct doppel_library *library, const struct pair *pair,
                                   enum doppel_manual_label word, const char *note,
                                   struct doppel_error *error)
{
    if (word == DOPPEL_LABEL_NONE)
        return rows_run(library, "DELETE FROM mark WHERE a = ?1 AND b = ?2",
                        VALUES(value_digest(pair->a), value_digest(pair->b)), error);
    return rows_run(library,
                    "INSERT OR REPLACE INTO mark(" MARK_COLUMNS ", checksum) VALUES(" MARK_VALUES
                    ", " CHECKSUM_OF(MARK_VALUES) ")",
                    VALUES(value_digest(pair->a), value_digest(pair->b),
                           ID(word == DOPPEL_LABEL_SAME), value_integer(now_ns()),
                           value_text(note)),
                    error);
}

static enum doppel_status mark(struct doppel_library *library, const struct doppel_digest *a,
                               const struct doppel_digest *b, const uint64_t items[2],
                               enum doppel_manual_label word, const char *note,
                               struct doppel_error *error)
{
    static const char *const reasons[] = {"taken back", "same", "distinct"};
    struct memory *memory = &library->memory;
    const struct memory_slot *slot = &memory->slots[MEMORY_WORDS];
    const struct pair pair = pair_of(a, b);
    enum doppel_status status = put_mark(library, &pair, word, note, error);
    if (status || (word == DOPPEL_LABEL_NONE && rows_changed(library) == 0))
        return status;
    status = memory_changed(library, MEMORY_WORDS, error);
    if (slot->loaded && !slot->too_many &&
        (!remember(memory, &pair, word) || memory->words.count > MAX_WORDS))
        memory_drop(memory, MEMORY_WORDS);
    return status ? status : log_mark(library, a, b, items, reasons[word], note, error);
}

enum doppel_status doppel_library_mark(struct doppel_library *library,
                                       const struct doppel_digest *a, const struct doppel_digest *b,
                                       const uint64_t items[2], enum doppel_manual_label word,
                                       const char *note, struct doppel_error *error)
{
    if (memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "both have the same bytes: there is nothing to be said");
    enum doppel_status status;
    TRY(note && *note ? name_check(note, "a note", error) : DOPPEL_OK);
    TRY(library_begin(library, error));
    TRY(library_end(library, mark(library, a, b, items, word, note, error)));
done:
    return status;
}
