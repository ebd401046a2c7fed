/* Stamps of files, and made-up records. */
#ifndef TESTS_LIBRARY_RECORDS_H
#define TESTS_LIBRARY_RECORDS_H

#include <doppel/library.h>

/** The stamp of a file. */
struct doppel_file_stamp stamp_of(const char *path);

/** A record of phash64 with all views whose codes, size and attachment follow from `seed`; given
 * (doppel_record_free). */
struct doppel_record record_make(uint64_t seed);

/** Fail the test unless the two hold the same; attachments too when both have one. */
void record_assert_equal(const struct doppel_record *a, const struct doppel_record *b);

#endif
