/* A new catalogue in place of one with damaged pages. */
#include "library/salvage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library/schema.h"

/* Items first: others speak of them. Indexes are made anew from these. */
static const struct salvage_table tables[] = {
    {"item", NULL},
    {"fingerprint", NULL},
    {"attachment", NULL},
    {"corpus", NULL},
    {"text", NULL},
    {"text_shingles", NULL},
    {"log", NULL},
    {"text_options", NULL},
    {"about", NULL},
    {"link", NULL},
    {"canonical", NULL},
    {"list", NULL},
    {"policy", NULL},
    {"revision", NULL},
    {"label", "item DESC, label DESC"},
    {"list_item", "item DESC, list DESC"},
    {"source", "pattern DESC"},
    {"mark", "a DESC, b DESC"},
    {"exact", "algorithm DESC, digest DESC"},
    {"failure", "path DESC"},
};

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

/* Whoever made it: nothing in it runs. Its schema may be damaged in part. */
static int open_old(const char *path, sqlite3 **out)
{
    int code = sqlite3_open_v2(path, out, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code)
        return code;
    sqlite3_busy_timeout(*out, 5000);
    sqlite3_limit(*out, SQLITE_LIMIT_LENGTH, 64 << 20);
    sqlite3_db_config(*out, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(*out, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(*out, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(*out, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return sqlite3_exec(*out, "PRAGMA writable_schema=ON;PRAGMA mmap_size=0", NULL, NULL, NULL);
}

static int read_number(sqlite3 *database, const char *sql, int64_t *out)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    if (!code && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        *out = sqlite3_column_int64(statement, 0);
        code = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    return code;
}

static enum doppel_status fail_old(const struct salvage *salvage, int code,
                                   struct doppel_error *error)
{
    switch (code & 0xff) {
    case SQLITE_BUSY:
        return doppel_fail(error, DOPPEL_E_BUSY,
                           "%s: another process is writing to it; try again when it is done",
                           salvage->directory);
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "%s: the first page of the catalogue is damaged, and nothing can be "
                           "read by it; put a copy in its place, or make the library anew",
                           salvage->directory);
    default:
        return doppel_fail(error, DOPPEL_E_IO, "%s: %s", salvage->directory,
                           salvage->old ? sqlite3_errmsg(salvage->old) : sqlite3_errstr(code));
    }
}

/* Open it, see whose it is, and keep others from writing. */
static enum doppel_status take_old(struct salvage *salvage, const char *path,
                                   struct doppel_error *error)
{
    int64_t id = 0, version = 0;
    int code = open_old(path, &salvage->old);
    if (!code)
        code = sqlite3_exec(salvage->old, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (!code)
        code = read_number(salvage->old, "PRAGMA application_id", &id);
    if (!code)
        code = read_number(salvage->old, "PRAGMA user_version", &version);
    if (code)
        return fail_old(salvage, code, error);
    if ((uint32_t)id != CATALOGUE_APPLICATION_ID)
        return doppel_fail(error, DOPPEL_E_FORMAT, "%s: another program's database, not doppel's",
                           path);
    if (version > CATALOGUE_VERSION)
        return doppel_fail(error, DOPPEL_E_VERSION,
                           "%s: made by a newer doppel (its format is %lld, this doppel's is %d)",
                           path, (long long)version, CATALOGUE_VERSION);
    return DOPPEL_OK;
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
                                                 .create = true,
                                                 .durable = true};
    sqlite3_stmt *any;
    remove_fresh(path);
    enum doppel_status status = doppel_store_open(path, &options, &salvage->fresh, error);
    if (!status)
        status = doppel_store_statement(salvage->fresh, "SELECT 1", &any, error);
    if (!status) /* one file, to be renamed; and no room for a log beside it */
        status = doppel_store_execute(salvage->fresh, "PRAGMA journal_mode=DELETE", error);
    /* What speaks of rows that are lost comes too, and is found by the check that follows. */
    if (!status)
        sqlite3_db_config(sqlite3_db_handle(any), SQLITE_DBCONFIG_ENABLE_FKEY, 0, NULL);
    return status;
}

/* The counter of ids, so that none is given again. */
static enum doppel_status copy_counter(struct salvage *salvage, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    int64_t last = 0;
    bool row;
    if (read_number(salvage->old, "SELECT max(seq) FROM sqlite_sequence WHERE name = 'item'",
                    &last))
        return DOPPEL_OK;
    enum doppel_status status = doppel_store_execute(
        salvage->fresh,
        "INSERT INTO sqlite_sequence(name, seq) SELECT 'item', 0 WHERE NOT EXISTS("
        "SELECT 1 FROM sqlite_sequence WHERE name = 'item')",
        error);
    if (!status)
        status = doppel_store_statement(
            salvage->fresh, "UPDATE sqlite_sequence SET seq = max(seq, ?1) WHERE name = 'item'",
            &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, last > 0 ? last : 0);
    return doppel_store_step(salvage->fresh, statement, &row, error);
}

static enum doppel_status copy_all(struct salvage *salvage, struct doppel_error *error)
{
    enum doppel_status status = doppel_store_begin(salvage->fresh, error);
    for (size_t i = 0; i < sizeof tables / sizeof *tables && !status; i++)
        status = salvage_copy(salvage, &tables[i], error);
    if (!status)
        status = copy_counter(salvage, error);
    if (!status)
        status = aside_sync(&salvage->aside, error);
    return status ? status : doppel_store_commit(salvage->fresh, error);
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
static enum doppel_status put_in_place(const struct names *names, struct doppel_error *error)
{
    if (link(names->catalogue, names->kept) ||
        !rename_if_there(names->catalogue, names->kept, "-wal") ||
        !rename_if_there(names->catalogue, names->kept, "-shm") ||
        rename(names->fresh, names->catalogue))
        return doppel_fail(error, DOPPEL_E_IO, "%s: cannot be renamed: %s", names->catalogue,
                           strerror(errno));
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
    struct salvage salvage = {.directory = directory, .visitor = visitor, .context = context};
    enum doppel_status status = DOPPEL_OK;
    if (!make_names(directory, &names))
        status = doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", directory);
    if (!status)
        status = take_old(&salvage, names.catalogue, error);
    if (!status)
        status = open_fresh(&salvage, names.fresh, error);
    if (!status)
        status = copy_all(&salvage, error);
    doppel_store_close(salvage.fresh);
    if (!status)
        status = put_in_place(&names, error);
    else if (names.fresh && salvage.fresh)
        remove_fresh(names.fresh);
    sqlite3_close(salvage.old);
    if (!status)
        status = tell_kept(&salvage, &names);
    aside_close(&salvage.aside);
    free_names(&names);
    return status;
}
