/* Where the file is that a record names, and whether a record may name it. */
#ifndef DOPPEL_CORPUS_READ_RECORD_PATH_H
#define DOPPEL_CORPUS_READ_RECORD_PATH_H

#include <limits.h>

#include <doppel/corpus.h>

/** The path as it is seen from the working folder: in the record it is relative to the folder of
 * `corpus_path`, of "-" to the working folder. Records come from anybody: their files lie, links
 * followed, below a folder of `fields`. A line that is but a path is whoever's the list is.
 * Thread-safe.
 * @return DOPPEL_OK, also where nothing is there; DOPPEL_E_ARGUMENT: elsewhere; DOPPEL_E_IO:
 * it cannot be known where; DOPPEL_E_LIMIT: too long a path */
enum doppel_status record_path(const struct doppel_corpus_record *record,
                               const struct doppel_corpus_fields *fields, const char *corpus_path,
                               char out[PATH_MAX], struct doppel_error *error);

#endif
