/* An extension for SQLite: hamming(a, b), for those who open a catalogue by themselves. Knows
 * nothing of doppel. */
#include <sqlite3ext.h>

SQLITE_EXTENSION_INIT1

#include "library/hamming_sql.h"

__attribute__((visibility("default"))) int sqlite3_extension_init(sqlite3 *database, char **message,
                                                                  const sqlite3_api_routines *api);

int sqlite3_extension_init(sqlite3 *database, char **message, const sqlite3_api_routines *api)
{
    (void)message;
    SQLITE_EXTENSION_INIT2(api);
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    return sqlite3_create_function(database, "hamming", 2, flags, NULL, sql_hamming, NULL, NULL);
}
