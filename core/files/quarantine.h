/* A database that can be made again, and is of no use as it is. */
#ifndef DOPPEL_CORE_FILES_QUARANTINE_H
#define DOPPEL_CORE_FILES_QUARANTINE_H

#include <stdbool.h>

#include <doppel/core.h>

/* Rename a database of SQLite's, with its log, which belongs to it, to `path`.`extension`: what
 * was quarantined there before is lost. */
enum doppel_status quarantine_database(const char *path, const char *extension,
                                       struct doppel_error *error);

/* A lock of the folder that a file lies in, which outlives the file: one process at a time
 * quarantines it. Waits. @return to be closed; -1: there is none to be had */
int lock_folder_of(const char *path);

/* Whether there is a file of other bytes at its beginning: one that was named by mistake, a picture
 * perhaps, is no damaged database. */
bool is_no_database(const char *path);

#endif
