/* An extension for SQLite, for those who open a catalogue by themselves: hamming(a, b), which needs
 * nothing of doppel, and the table doppel_find(code, radius). */
#include <sqlite3ext.h>

SQLITE_EXTENSION_INIT1

#include "library/hamming_sql.h"
#include "library/sqlite_find.h"

__attribute__((visibility("default"))) int sqlite3_extension_init(sqlite3 *database, char **message,
                                                                  const sqlite3_api_routines *api);

int sqlite3_extension_init(sqlite3 *database, char **message, const sqlite3_api_routines *api)
{
    (void)message;
    SQLITE_EXTENSION_INIT2(api);
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    int code =
        sqlite3_create_function(database, "hamming", 2, flags, NULL, sql_hamming, NULL, NULL);
    if (code == SQLITE_OK)
        code = create_find_table(database);
    /* What reads mapped files has a handler for signals of this code: it must not be unloaded. */
    return code == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : code;
}
