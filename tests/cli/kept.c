/* A library of the drawn collection, changed behind doppel's back, and what verify says. */
#include "kept.h"

#include <sqlite3.h>
#include <stdlib.h>

#include "collection.h"
#include "command.h"

void make_library(void)
{
    make_collection();
    free(doppel_prints(0, "add", "-L", "library", "pics"));
}

void run_sql(const char *sql)
{
    sqlite3 *database;
    char *message = NULL;
    assert_int_equal(sqlite3_open("library/catalogue.db", &database), SQLITE_OK);
    sqlite3_busy_timeout(database, 5000);
    if (sqlite3_exec(database, sql, NULL, NULL, &message))
        fail_msg("%s: %s", sql, message);
    sqlite3_close(database);
}

char *verify(int code, const char *mode)
{
    return doppel_prints(code, "verify", "-L", "library", "--json", mode);
}
