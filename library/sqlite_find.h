/* The table doppel_find of the extension for SQLite. Include sqlite3ext.h first. */
#ifndef DOPPEL_LIBRARY_SQLITE_FIND_H
#define DOPPEL_LIBRARY_SQLITE_FIND_H

/** @return a code of SQLite's */
int create_find_table(sqlite3 *database);

#endif
