/* The rows of a catalogue: as they were written, and of things that are there. */
#include "library/derived/derived.h"
#include "core/try.h"
#include "library/sums.h"
#include "library/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A check finds rows: the id to report, a name or NULL, and all columns, which are
 * quarantined before the rows are mended. */
struct row_check {
    const char *table, *detail;
    const char *find;
    const char *mend; /* NULL: the caller's, who has the file */
};

#define IS_DAMAGED(columns) "NOT coalesce(" IS_WHOLE(columns) ", 0)"
#define ROWS(table, id, name, where)                                                               \
    "SELECT " id ", " name ", * FROM " table " WHERE " where, "DELETE FROM " table " WHERE " where
#define DAMAGED(table, id, name, columns)                                                          \
    {                                                                                              \
        table, "the row is damaged", ROWS(table, id, name, IS_DAMAGED(columns))                    \
    }

static const struct row_check damages[] = {
    DAMAGED("corpus", "0", "path", CORPUS_COLUMNS),
    DAMAGED("text_shingles", "text", "NULL", SHINGLE_COLUMNS),
    DAMAGED("text_options", "0", "NULL", TEXT_OPTIONS_SUM),
    DAMAGED("text", "id", "record_id", TEXT_COLUMNS),
    {"log", "the entry is damaged",
     ROWS("log", "entry", "path",
          "checksum IS NOT NULL AND checksum != " CHECKSUM_OF(LOG_SUM))}, /* of before version 5 */
    DAMAGED("about", "item", "NULL", ABOUT_COLUMNS),
    DAMAGED("list", "0", "name", LIST_SUM),
    DAMAGED("list_match", "item", "NULL", LIST_MATCH_SUM),
    DAMAGED("list_rule", "0", "NULL", LIST_RULE_SUM),
    DAMAGED("link", "item", "NULL", LINK_SUM),
    DAMAGED("canonical", "leader", "NULL", CANONICAL_SUM),
    DAMAGED("source", "0", "pattern", SOURCE_SUM),
    DAMAGED("policy", "0", "keep", POLICY_SUM),
    DAMAGED("mark", "0", "note", MARK_SUM),
    DAMAGED("failure", "0", "path", FAILURE_SUM),
    DAMAGED("upstream", "item", "NULL", UPSTREAM_SUM),
    DAMAGED("text_vectors", "item", "NULL", TEXT_VECTORS_SUM),
    DAMAGED("job", "id", "NULL", JOB_SUM),
    DAMAGED("job_input", "job", "NULL", JOB_INPUT_SUM),
    DAMAGED("request", "0", "key", REQUEST_SUM),
    DAMAGED("answer", "0", "NULL", ANSWER_SUM),
};

/* ---- references ---- */

#define NO_ITEM(column) "NOT EXISTS(SELECT 1 FROM item AS one WHERE one.id = " column ")"
#define NOBODY(column)                                                                             \
    NO_ITEM(column) " AND NOT EXISTS(SELECT 1 FROM text AS one WHERE one.id = " column ")"
#define OF_NOBODY(table)                                                                           \
    {                                                                                              \
        table, "there is no such item", ROWS(table, "item", "NULL", NOBODY(table ".item"))         \
    }

#define MEND_TEXT(set, but, where)                                                                 \
    "UPDATE text SET " set ", checksum = " CHECKSUM_OF(but) " WHERE " where

#define CORPUS_IS_GONE                                                                             \
    "corpus IS NOT NULL AND NOT EXISTS(SELECT 1 FROM corpus AS one WHERE one.id = text.corpus)"
/* A representative that was removed is no damage: those who followed it follow nobody. */
#define LEADER_IS_NONE                                                                             \
    "leader != 0 AND (leader >= id OR " NOBODY(                                                    \
        "text.leader") " AND NOT EXISTS(SELECT 1 FROM log WHERE log.item = text.leader AND "       \
                       "log.item != 0))"

#define LEADER_OF(id)                                                                              \
    "coalesce((SELECT one.leader FROM link AS one WHERE one.item = " id "),"                       \
    " (SELECT nullif(one.leader, 0) FROM text AS one WHERE one.id = " id "), " id ")"

static const struct row_check dangling[] = {
    {"fingerprint", "there is no such item",
     ROWS("fingerprint", "item", "NULL", NO_ITEM("fingerprint.item"))},
    {"attachment", "there is no such item",
     ROWS("attachment", "item", "NULL", NO_ITEM("attachment.item"))},
    {"text_shingles", "there is no such text",
     ROWS("text_shingles", "text", "NULL",
          "NOT EXISTS(SELECT 1 FROM text AS one WHERE one.id = text_shingles.text)")},
    {"text", "the corpus that it names is not known",
     "SELECT id, record_id, * FROM text WHERE " CORPUS_IS_GONE,
     MEND_TEXT("corpus = NULL", TEXT_BUT("NULL", "decision", "leader", "leads"), CORPUS_IS_GONE)},
    {"text", "the text that it follows is not there, and never was",
     "SELECT id, record_id, * FROM text WHERE " LEADER_IS_NONE,
     MEND_TEXT("leader = 0", TEXT_BUT("corpus", "decision", "0", "leads"), LEADER_IS_NONE)},
    OF_NOBODY("about"),
    OF_NOBODY("label"),
    OF_NOBODY("list_item"),
    {"list_item", "there is no such list",
     ROWS("list_item", "item", "NULL",
          "NOT EXISTS(SELECT 1 FROM list AS one WHERE one.id = list_item.list)")},
    OF_NOBODY("list_said"),
    OF_NOBODY("list_match"),
    OF_NOBODY("exact"),
    OF_NOBODY("upstream"),
    {"text_vectors", "there is no such text",
     ROWS("text_vectors", "item", "NULL", "item != 0 AND " NOBODY("text_vectors.item"))},
    {"job_input", "there is no such job",
     ROWS("job_input", "job", "NULL",
          "NOT EXISTS(SELECT 1 FROM job AS one WHERE one.id = job_input.job)")},
    OF_NOBODY("link"),
    {"link", "the item that it follows is not there, or follows another one",
     ROWS("link", "item", "NULL",
          "(" NOBODY("link.leader") ") OR link.item = link.leader OR EXISTS(SELECT 1 FROM link AS "
                                    "one WHERE one.item = link.leader)")},
    {"canonical", "the item that is to be kept is not of this group",
     ROWS("canonical", "leader", "NULL",
          "(" NOBODY("canonical.leader") ") OR (" NOBODY("canonical.item") ") OR " LEADER_OF(
              "canonical.item") " != canonical.leader")},
};

/* ---- running checks ---- */

/* A name as a string, for the eye; "" for what is none. Given (free). */
static char *name_in_column(sqlite3_stmt *statement, int column)
{
    const char *bytes = sqlite3_column_blob(statement, column);
    return bytes ? strndup(bytes, (size_t)sqlite3_column_bytes(statement, column)) : NULL;
}

static enum doppel_status tell_row(struct verification *verification, const struct row_check *check,
                                   sqlite3_stmt *statement, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    bool mends = verification->repair && check->mend;
    if (mends)
        status = aside_write(&verification->aside, verification->library->directory, check->table,
                             statement, 2, error);
    char *name = name_in_column(statement, 1);
    const struct doppel_problem problem = {.problem = check->table,
                                           .id = (uint64_t)sqlite3_column_int64(statement, 0),
                                           .path = name,
                                           .detail = check->detail,
                                           .repaired = mends};
    if (!status)
        status = verify_tell(verification, &problem, error);
    free(name);
    return status;
}

static enum doppel_status run_check(struct verification *verification,
                                    const struct row_check *check, struct doppel_error *error)
{
    struct doppel_library *library = verification->library;
    sqlite3_stmt *statement;
    bool row, found = false;
    enum doppel_status status =
        doppel_store_statement(library->store, check->find, &statement, error);
    while (!status && !(status = doppel_store_step(library->store, statement, &row, error)) &&
           row) {
        found = true;
        status = tell_row(verification, check, statement, error);
        if (status)
            sqlite3_reset(statement);
    }
    if (!status && found && verification->repair && check->mend)
        status = rows_run(library, check->mend, NO_VALUES, error);
    return status;
}

/* ---- items ---- */

struct item_visit {
    struct verification *verification;
    enum doppel_status status;
    struct doppel_error *error;
};

static bool tell_item(void *context, const struct doppel_item *item)
{
    struct item_visit *visit = context;
    if (!item->record.error.status)
        return true;
    const struct doppel_problem problem = {.problem = "item",
                                           .id = item->id,
                                           .path = item->path,
                                           .detail = "the row or its fingerprint is damaged"};
    visit->status = verify_tell(visit->verification, &problem, visit->error);
    return !visit->status;
}

static const struct row_check attachments[] = {
    {"item", "what is kept of the audio or video is damaged, or not there",
     "SELECT id, path FROM item WHERE " IS_TRACK " AND NOT coalesce(" TRACK_IS_WHOLE ", 0)", NULL},
    {"attachment", "what is kept for the pixel check is damaged",
     "SELECT id, path FROM attachment JOIN item ON item.id = attachment.item"
     " WHERE NOT item." IS_TRACK " AND NOT coalesce(" ATTACHMENT_IS_WHOLE ", 0)",
     NULL},
};

static enum doppel_status verify_items(struct verification *verification,
                                       struct doppel_error *error)
{
    struct item_visit visit = {.verification = verification, .error = error};
    enum doppel_status status =
        doppel_library_each(verification->library, tell_item, &visit, error);
    if (visit.status)
        return visit.status;
    for (size_t i = 0; i < sizeof attachments / sizeof *attachments && !status; i++)
        status = run_check(verification, &attachments[i], error);
    return status;
}

/* ---- the counter ---- */

#define LARGEST_ID                                                                                 \
    "max(coalesce((SELECT max(id) FROM item), 0), coalesce((SELECT max(id) FROM text), 0),"        \
    " coalesce((SELECT max(item) FROM log WHERE item != 0), 0),"                                   \
    " coalesce((SELECT max(last_item) FROM log WHERE last_item IS NOT NULL), 0))"

/* An id that was given must not be given again. */
static enum doppel_status verify_counter(struct verification *verification,
                                         struct doppel_error *error)
{
    int64_t largest = 0, counter = 0;
    struct doppel_library *library = verification->library;
    enum doppel_status status;
    TRY(rows_number(library, "SELECT " LARGEST_ID, NO_VALUES, &largest, NULL, error));
    TRY(rows_number(library,
                    "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'item'",
                    NO_VALUES, &counter, NULL, error));
    if (counter >= largest)
        return DOPPEL_OK;
    if (verification->repair) {
        TRY(rows_run(library, "DELETE FROM sqlite_sequence WHERE name = 'item'", NO_VALUES, error));
        TRY(rows_run(library, "INSERT INTO sqlite_sequence(name, seq) VALUES('item', ?1)",
                     VALUES(ID(largest)), error));
    }
    const struct doppel_problem problem = {.problem = "catalogue",
                                           .detail = "the counter of ids is behind the largest one",
                                           .repaired = verification->repair};
    TRY(verify_tell(verification, &problem, error));
done:
    return status;
}

enum doppel_status verify_rows(struct verification *verification, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++)
        TRY(run_check(verification, &damages[i], error));
    TRY(verify_items(verification, error));
    for (size_t i = 0; i < sizeof dangling / sizeof *dangling; i++)
        TRY(run_check(verification, &dangling[i], error));
    TRY(verify_counter(verification, error));
done:
    return status;
}
