/* A new catalogue in place of one with damaged pages. */
#include "library/salvage/salvage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/files/sync_path.h"
#include "core/try.h"
#include "library/schema.h"

struct names {
    char *catalogue, *fresh, *kept;
};

static void free_names(struct names *names)
{
    sqlite3_free(names->catalogue);
    sqlite3_free(names->fresh);
    sqlite3_free(names->kept);
}

/* For what is kept of the former catalogue a name that is free. */
static bool make_names(const char *directory, struct names *out)
{
    *out = (struct names){sqlite3_mprintf("%s/catalogue.db", directory),
                          sqlite3_mprintf("%s/catalogue.db.new", directory),
                          sqlite3_mprintf("%s/catalogue.db.damaged", directory)};
    for (int i = 2; out->kept && access(out->kept, F_OK) == 0; i++) {
        sqlite3_free(out->kept);
        out->kept = sqlite3_mprintf("%s/catalogue.db.damaged.%d", directory, i);
    }
    return out->catalogue && out->fresh && out->kept;
}

/* ---- the old one ---- */

static int64_t query_number(struct doppel_store *store, const char *sql)
{
    sqlite3_stmt *statement;
    bool row = false;
    if (doppel_store_statement(store, sql, &statement, NULL) ||
        doppel_store_step(store, statement, &row, NULL))
        return 0;
    int64_t number = row ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_reset(statement);
    return number;
}

/* What the first page says, if it says anything. A number that was changed into that of another
 * program is distinguished from it by the tables: see is_ours(). */
static enum doppel_status check_version(const struct salvage *salvage, const char *path,
                                        bool *out_marked, struct doppel_error *error)
{
    enum { VERSION_AT = 60, APPLICATION_AT = 68 };
    struct page page;
    bool is;
    enum doppel_status status = salvage_page(salvage, 1, &page, &is, error);
    if (status)
        return status;
    *out_marked = memcmp(page.bytes, "SQLite format 3", 16) == 0 &&
                  big_u32(page.bytes + APPLICATION_AT) == CATALOGUE_APPLICATION_ID;
    uint32_t version = big_u32(page.bytes + VERSION_AT);
    free(page.bytes);
    if (!*out_marked || version <= CATALOGUE_VERSION)
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_VERSION,
                       "%s: made by a newer doppel (its format is %u, this doppel's is %d)", path,
                       version, CATALOGUE_VERSION);
}

/* Open it, see whose it is, and keep others from it. */
static enum doppel_status take_old(struct salvage *salvage, const char *path, bool *out_marked,
                                   struct doppel_error *error)
{
    enum doppel_status status;
    TRY(pages_open(path, &salvage->pages, error));
    if (!(salvage->uses = calloc((size_t)salvage->pages.count + 1, 1)))
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", salvage->directory);
    TRY(check_version(salvage, path, out_marked, error));
    TRY(salvage_free_pages(salvage, error));
done:
    return status;
}

/* ---- the new one ---- */

static void remove_fresh(const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char *name = sqlite3_mprintf("%s%s", path, endings[i]);
        if (name)
            unlink(name);
        sqlite3_free(name);
    }
}

static enum doppel_status open_fresh(struct salvage *salvage, const char *path,
                                     struct doppel_error *error)
{
    const struct doppel_store_options options = {.application_id = CATALOGUE_APPLICATION_ID,
                                                 .schema_version = CATALOGUE_VERSION,
                                                 .schema = catalogue_schema,
                                                 .create = true};
    sqlite3_stmt *any;
    remove_fresh(path);
    enum doppel_status status;
    TRY(doppel_store_open(path, &options, &salvage->fresh, error));
    TRY(doppel_store_statement(salvage->fresh, "SELECT 1", &any, error));
    /* one file, to be renamed when all of it is on the disk */
    TRY(doppel_store_execute(salvage->fresh, "PRAGMA journal_mode=MEMORY;PRAGMA synchronous=OFF",
                             error));
    /* What speaks of rows that are lost comes too, and is found by the check that follows. */
    sqlite3_db_config(sqlite3_db_handle(any), SQLITE_DBCONFIG_ENABLE_FKEY, 0, NULL);
done:
    return status;
}

static enum doppel_status open_rescues(struct salvage *salvage, struct doppel_error *error)
{
    /* as SQLite has them; a name is taken once */
    enum doppel_status status;
    TRY(doppel_store_execute(
        salvage->fresh,
        "CREATE TEMP TABLE old_schema(type TEXT NOT NULL, name TEXT NOT NULL UNIQUE,"
        " tbl_name TEXT NOT NULL, rootpage INTEGER NOT NULL, sql TEXT) STRICT;"
        "CREATE TEMP TABLE old_sequence(name TEXT NOT NULL, seq INTEGER NOT NULL) STRICT",
        error));
    TRY(checksum_install(salvage->fresh, error));
    salvage->rescues = calloc(salvage_table_count, sizeof *salvage->rescues);
    if (!salvage->rescues)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", salvage->directory);
    for (; salvage->count < salvage_table_count; salvage->count++)
        TRY(rescue_open(salvage, &salvage_tables[salvage->count], &salvage->rescues[salvage->count],
                        error));
done:
    return status;
}

static void close_rescues(struct salvage *salvage)
{
    for (size_t i = 0; i < salvage->count; i++)
        rescue_close(&salvage->rescues[i]);
    free(salvage->rescues);
}

/* The counter of ids, so that none is given again. */
static enum doppel_status copy_counter(struct salvage *salvage, struct doppel_error *error)
{
    return doppel_store_execute(
        salvage->fresh,
        "INSERT INTO sqlite_sequence(name, seq) SELECT 'item', 0 WHERE NOT EXISTS("
        "SELECT 1 FROM sqlite_sequence WHERE name = 'item');"
        "UPDATE sqlite_sequence SET seq = max(seq, coalesce((SELECT max(seq) FROM old_sequence"
        " AS old WHERE old.name = sqlite_sequence.name), 0))",
        error);
}

/* ---- all tables ---- */

/* Where the trees begin. */
static enum doppel_status read_schema(struct salvage *salvage, struct doppel_error *error)
{
    struct rescue *schema = &salvage->rescues[RESCUE_SCHEMA];
    enum doppel_status status = salvage_tree(salvage, schema, 1, error);
    if (salvage->pages.count) /* else not even the first page is whole */
        salvage->uses[1] = PAGE_TAKEN;
    if (!status && schema->gaps.count)
        status = salvage_strays(salvage, schema, error);
    return status;
}

static enum doppel_status find_root(const struct salvage *salvage, const char *name, uint32_t *out,
                                    struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row = false;
    enum doppel_status status = doppel_store_statement(
        salvage->fresh, "SELECT rootpage FROM old_schema WHERE type = 'table' AND name = ?1",
        &statement, error);
    if (status)
        return status;
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    status = doppel_store_step(salvage->fresh, statement, &row, error);
    int64_t root = !status && row ? sqlite3_column_int64(statement, 0) : 0;
    *out = root > 0 && root <= salvage->pages.count ? (uint32_t)root : 0;
    if (!status)
        sqlite3_reset(statement);
    return status;
}

/* @param all also tables of which it is not known where they begin */
static enum doppel_status read_trees(struct salvage *salvage, bool all, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = RESCUE_SEQUENCE; i < salvage->count && !status; i++) {
        struct rescue *rescue = &salvage->rescues[i];
        uint32_t root = 0;
        if (rescue->done)
            continue;
        status = find_root(salvage, rescue->table->name, &root, error);
        rescue->done = root || all;
        if (!status && rescue->done)
            status = salvage_tree(salvage, rescue, root, error);
    }
    return status;
}

static bool is_copied(sqlite3_stmt *row)
{
    const char *type = (const char *)sqlite3_column_text(row, 1);
    const char *name = (const char *)sqlite3_column_text(row, 2);
    for (size_t i = 0; i < salvage_table_count; i++)
        if (type && name && strcmp(type, "table") == 0 && strcmp(name, salvage_tables[i].name) == 0)
            return true;
    return false;
}

/* Trees of indexes, and of tables that are not copied, are no strays. */
static enum doppel_status skip_others(struct salvage *salvage, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status = doppel_store_statement(
        salvage->fresh, "SELECT rootpage, type, name FROM old_schema", &statement, error);
    while (!status && !(status = doppel_store_step(salvage->fresh, statement, &row, error)) &&
           row) {
        int64_t root = sqlite3_column_int64(statement, 0);
        if (root > 0 && root <= salvage->pages.count && !is_copied(statement))
            status = salvage_skip(salvage, (uint32_t)root, 0, error);
        if (status)
            sqlite3_reset(statement);
    }
    return status;
}

/* Where the list of tables has a gap. A table that an older doppel did not make is not missing. */
static enum doppel_status read_hidden_trees(struct salvage *salvage, struct doppel_error *error)
{
    const struct rescue *schema = &salvage->rescues[RESCUE_SCHEMA];
    if (!schema->gaps.count && !schema->again.count && !schema->lost)
        return DOPPEL_OK;
    enum doppel_status status;
    TRY(skip_others(salvage, error));
    TRY(salvage_find_roots(salvage, error));
    TRY(read_trees(salvage, true, error));
done:
    return status;
}

static enum doppel_status read_strays(struct salvage *salvage, struct doppel_error *error)
{
    bool any = false;
    for (size_t i = RESCUE_SEQUENCE; i < salvage->count; i++)
        any |= salvage->rescues[i].gaps.count > 0;
    if (!any)
        return DOPPEL_OK;
    enum doppel_status status = skip_others(salvage, error);
    return status ? status : salvage_strays(salvage, NULL, error);
}

/* Another program's file has no table as doppel makes them, and no row with a checksum of ours. */
static bool is_ours(const struct salvage *salvage)
{
    uint64_t rows = 0;
    for (size_t i = RESCUE_TABLES; i < salvage->count; i++)
        rows += salvage->rescues[i].table->sum ? salvage->rescues[i].rows : 0;
    return rows || query_number(salvage->fresh,
                                "SELECT count(*) FROM old_schema JOIN main.sqlite_schema AS one"
                                " ON one.name = old_schema.name AND one.sql = old_schema.sql"
                                " WHERE one.name IN ('item', 'fingerprint', 'attachment', 'log')");
}

static enum doppel_status copy_all(struct salvage *salvage, bool marked, struct doppel_error *error)
{
    enum doppel_status status;
    TRY(doppel_store_begin(salvage->fresh, error));
    TRY(read_schema(salvage, error));
    TRY(read_trees(salvage, false, error));
    TRY(read_hidden_trees(salvage, error));
    TRY(read_strays(salvage, error));
    if (!marked && !is_ours(salvage))
        return doppel_fail(error, DOPPEL_E_FORMAT, "%s: nothing in it is doppel's",
                           salvage->directory);
    for (size_t i = RESCUE_TABLES; i < salvage->count; i++)
        TRY(salvage_again(salvage, &salvage->rescues[i], error));
    TRY(copy_counter(salvage, error));
    TRY(salvage_tell(salvage, error));
    TRY(aside_sync(&salvage->aside, error));
    TRY(doppel_store_commit(salvage->fresh, error));
done:
    return status;
}

/* ---- the change ---- */

static bool rename_if_there(const char *from, const char *to, const char *ending)
{
    char *one = sqlite3_mprintf("%s%s", from, ending), *other = sqlite3_mprintf("%s%s", to, ending);
    bool done = one && other && (rename(one, other) == 0 || errno == ENOENT);
    sqlite3_free(one);
    sqlite3_free(other);
    return done;
}

/* At each moment there is a catalogue: the old one without what it had not taken in from its log
 * yet, at worst, and that log beside the name that it gets. */
static enum doppel_status put_in_place(const char *directory, const struct names *names,
                                       struct doppel_error *error)
{
    if (!sync_path(names->fresh) || link(names->catalogue, names->kept) ||
        !rename_if_there(names->catalogue, names->kept, "-wal") ||
        !rename_if_there(names->catalogue, names->kept, "-shm") ||
        !rename_if_there(names->catalogue, names->kept, "-journal") ||
        rename(names->fresh, names->catalogue))
        return doppel_fail(error, DOPPEL_E_IO, "%s: cannot be put in place: %s", names->catalogue,
                           strerror(errno));
    (void)sync_path(directory); /* not every file system can */
    return DOPPEL_OK;
}

static enum doppel_status tell_kept(struct salvage *salvage, const struct names *names)
{
    const struct doppel_problem problem = {.problem = "catalogue",
                                           .path = names->kept,
                                           .detail = "pages were damaged: what could be read is in "
                                                     "a new catalogue, and the former one is here",
                                           .repaired = true};
    return salvage->visitor(salvage->context, &problem) ? DOPPEL_OK : DOPPEL_E_CANCELLED;
}

enum doppel_status doppel_library_salvage(const char *directory, doppel_problem_visitor *visitor,
                                          void *context, struct doppel_error *error)
{
    struct names names;
    struct salvage salvage = {.directory = directory,
                              .visitor = visitor,
                              .context = context,
                              .pages = {.file = -1, .log = -1}};
    enum doppel_status status = DOPPEL_OK;
    bool marked = false;
    if (!make_names(directory, &names))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", directory));
    TRY(take_old(&salvage, names.catalogue, &marked, error));
    TRY(open_fresh(&salvage, names.fresh, error));
    TRY(open_rescues(&salvage, error));
    TRY(copy_all(&salvage, marked, error));
done:
    close_rescues(&salvage);
    doppel_store_close(salvage.fresh);
    if (!status)
        status = put_in_place(directory, &names, error);
    else if (names.fresh && salvage.fresh)
        remove_fresh(names.fresh);
    pages_close(&salvage.pages);
    if (!status)
        status = tell_kept(&salvage, &names);
    aside_close(&salvage.aside);
    record_free(&salvage.record);
    free(salvage.uses);
    free_names(&names);
    return status;
}
