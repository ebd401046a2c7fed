/* A library is checked, and mended: pages, rows, then indexes. */
#include "library/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "library/derived/derived.h"
#include "library/derived/pairs.h"
#include "library/ledger/ledger.h"

enum doppel_status verify_tell(struct verification *verification,
                               const struct doppel_problem *problem, struct doppel_error *error)
{
    verification->repaired += problem->repaired;
    return verification->visitor(verification->context, problem)
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
}

/* Findings come several in a row of the answer, a line each, after a title. */
static enum doppel_status tell_findings(struct verification *verification, const char *findings,
                                        struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    while (*findings && !status) {
        char line[256];
        size_t length = strcspn(findings, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(length < 255 ? length : 255), findings);
        const struct doppel_problem problem = {.problem = "catalogue",
                                               .path =
                                                   doppel_store_path(verification->library->store),
                                               .detail = line};
        if (length && line[0] != '*')
            status = verify_tell(verification, &problem, error);
        findings += length + (findings[length] != '\0');
    }
    return status;
}

/* Findings of SQLite on the pages. @return DOPPEL_E_CORRUPT, after they were reported */
static enum doppel_status verify_pages(struct verification *verification,
                                       struct doppel_error *error)
{
    struct doppel_library *library = verification->library;
    sqlite3_stmt *statement;
    bool row, damaged = false;
    enum doppel_status status =
        doppel_store_statement(library->store, "PRAGMA integrity_check(20)", &statement, error);
    while (!status && !(status = doppel_store_step(library->store, statement, &row, error)) &&
           row) {
        const char *finding = (const char *)sqlite3_column_text(statement, 0);
        if (finding && strcmp(finding, "ok") == 0)
            continue;
        damaged = true;
        status = tell_findings(verification, finding ? finding : "", error);
        if (status)
            sqlite3_reset(statement);
    }
    if (status || !damaged)
        return status;
    return doppel_fail(error, DOPPEL_E_CORRUPT, "%s: pages of the catalogue are damaged",
                       library->directory);
}

/* What was mended is told to whoever has it in memory, and to the log. */
static enum doppel_status note_repair(struct verification *verification, struct doppel_error *error)
{
    char sentence[96];
    struct doppel_library *library = verification->library;
    enum doppel_status status = DOPPEL_OK;
    for (int part = 0; part < MEMORY_PARTS && !status; part++) {
        status = memory_changed(library, (enum memory_part)part, error);
        memory_drop(&library->memory, (enum memory_part)part);
    }
    snprintf(sentence, sizeof sentence, "%" PRIu64 " damaged rows were mended or quarantined",
             verification->repaired);
    const struct doppel_log_entry entry = {.action = DOPPEL_LOG_METADATA, .reason = sentence};
    return status ? status : log_append(library, &entry, error);
}

static enum doppel_status repair_rows(struct verification *verification, struct doppel_error *error)
{
    struct doppel_library *library = verification->library;
    enum doppel_status status = library_begin(library, error);
    if (status)
        return status;
    /* Rows and those that they name go one after the other. */
    TRY(doppel_store_execute(library->store, "PRAGMA defer_foreign_keys=ON", error));
    TRY(verify_rows(verification, error));
    if (verification->repaired)
        TRY(note_repair(verification, error));
    TRY(aside_sync(&verification->aside, error));
    return doppel_library_commit(library, error);
done:
    library_end(library, status == DOPPEL_E_NOT_FOUND ? DOPPEL_E_CORRUPT : status);
    return status;
}

/* As of one moment, whoever writes meanwhile. */
static enum doppel_status read_rows(struct verification *verification, struct doppel_error *error)
{
    struct doppel_store *store = verification->library->store;
    enum doppel_status status = doppel_store_execute(store, "BEGIN", error);
    if (status)
        return status;
    status = verify_pages(verification, error);
    if (!status)
        status = verify_rows(verification, error);
    doppel_store_rollback(store);
    return status;
}

struct pairs_check {
    struct verification *verification;
    struct doppel_error *error;
    enum doppel_status status;
};

/* What is damaged is not used; to mend it is to remove it. */
static bool check_pairs_file(void *context, const char *path, enum doppel_status state)
{
    struct pairs_check *check = context;
    const bool repair = check->verification->repair;
    const struct doppel_problem problem = {.problem = "index",
                                           .path = path,
                                           .detail = "which images match is damaged there",
                                           .repaired = repair};
    if (state != DOPPEL_E_CORRUPT || check->status)
        return true;
    check->status = verify_tell(check->verification, &problem, check->error);
    return !repair;
}

static enum doppel_status verify_pairs(struct verification *verification,
                                       struct doppel_error *error)
{
    struct pairs_check check = {verification, error, DOPPEL_OK};
    enum doppel_status status =
        met_images_each(verification->library->directory, check_pairs_file, &check, error);
    return check.status ? check.status : status;
}

enum doppel_status doppel_library_verify(struct doppel_library *library, bool repair,
                                         doppel_problem_visitor *visitor, void *context,
                                         struct doppel_error *error)
{
    struct verification verification = {
        .library = library, .repair = repair, .visitor = visitor, .context = context};
    enum doppel_status status = DOPPEL_OK;
    if (repair) {
        TRY(verify_pages(&verification, error));
        TRY(repair_rows(&verification, error));
    } else {
        derived_close(library); /* they are opened again, as they lie there */
        TRY(read_rows(&verification, error));
    }
    TRY(verify_indexes(&verification, error));
    TRY(verify_codes(&verification, error));
    TRY(verify_pairs(&verification, error));
done:
    aside_close(&verification.aside);
    return status;
}

void doppel_library_interrupt(struct doppel_library *library)
{
    doppel_store_interrupt(library->store);
}

/* ---- giving up an item ---- */

/* All that is known of it. */
static const struct {
    const char *table, *select;
} parts[] = {
    {"item", "SELECT * FROM item WHERE id = ?1"},
    {"fingerprint", "SELECT * FROM fingerprint WHERE item = ?1"},
    {"attachment", "SELECT * FROM attachment WHERE item = ?1"},
    {"about", "SELECT * FROM about WHERE item = ?1"},
    {"label", "SELECT * FROM label WHERE item = ?1"},
    {"list_item", "SELECT * FROM list_item WHERE item = ?1"},
    {"list_said", "SELECT * FROM list_said WHERE item = ?1"},
    {"list_match", "SELECT * FROM list_match WHERE item = ?1"},
    {"link", "SELECT * FROM link WHERE item = ?1"},
    {"canonical", "SELECT * FROM canonical WHERE item = ?1"},
    {"exact", "SELECT * FROM exact WHERE item = ?1"},
};

static enum doppel_status write_part(struct doppel_library *library, struct aside *aside,
                                     size_t part, uint64_t id, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status =
        rows_prepare(library, parts[part].select, VALUES(ID(id)), &statement, error);
    while (!status && !(status = doppel_store_step(library->store, statement, &row, error)) &&
           row) {
        status = aside_write(aside, library->directory, parts[part].table, statement, 0, error);
        if (status)
            sqlite3_reset(statement);
    }
    return status;
}

/* Whether a picture is whole but for its attachment. */
static enum doppel_status is_whole_without(struct doppel_library *library, uint64_t id, bool *out)
{
    struct doppel_item item;
    enum doppel_status status = doppel_library_get(library, id, false, &item, NULL);
    *out = !status && item.record.fingerprint.count > 0;
    if (!status)
        doppel_item_free(&item);
    return status == DOPPEL_E_CORRUPT ? DOPPEL_OK : status;
}

enum doppel_status doppel_library_set_aside(struct doppel_library *library, uint64_t id,
                                            struct doppel_error *error)
{
    struct aside aside = {0};
    bool keeps = false;
    enum doppel_status status;
    TRY(item_exists(library, id, error));
    TRY(is_whole_without(library, id, &keeps));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        TRY(write_part(library, &aside, i, id, error));
    TRY(aside_sync(&aside, error));
    if (keeps) {
        TRY(library_begin(library, error));
        TRY(library_end(library, rows_run(library, "DELETE FROM attachment WHERE item = ?1",
                                          VALUES(ID(id)), error)));
    } else {
        TRY(doppel_library_remove(library, id, error));
    }
done:
    aside_close(&aside);
    return status;
}
