/* A temporary folder for a test, and the records that tests put into libraries and caches. */
#ifndef TESTS_LIBRARY_FOLDER_H
#define TESTS_LIBRARY_FOLDER_H

#include <doppel/library.h>

/** Make a folder under $TMPDIR; given (folder_remove). */
char *folder_make(void);

/** Remove a folder, all within it, and the string. */
void folder_remove(char *folder);

/** folder/name, in one of a few buffers that are used in turn. */
const char *folder_path(const char *folder, const char *name);

/** Write a file whose mtime lies an hour back; returns its stamp. */
struct doppel_file_stamp folder_write(const char *path, const char *text);

/** The stamp of a file. */
struct doppel_file_stamp folder_stamp(const char *path);

/** Set the time of last change, seconds from now. */
void folder_age(const char *path, int seconds);

/** A record of phash64 with eight views whose codes, size and attachment follow from `seed`; given
 * (doppel_record_free). */
struct doppel_record record_make(uint64_t seed);

/** Fail the test unless the two hold the same; attachments too when both have one. */
void record_assert_equal(const struct doppel_record *a, const struct doppel_record *b);

#endif
