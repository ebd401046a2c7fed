/* Whether the records of an input have texts at all: else their fields are called otherwise. */
#ifndef DOPPEL_CORPUS_READ_FIELD_CHECK_H
#define DOPPEL_CORPUS_READ_FIELD_CHECK_H

#include "corpus/read/reader.h"

/* So many records without a text, and none with one, are enough: of files, and of pipes, whose
 * writer waits for answers. */
enum { FIELD_CHECK_RECORDS = 10000, FIELD_CHECK_PIPED = 1000 };

struct field_check;

/** @param takes_paths lines may be paths. NULL: no memory */
struct field_check *field_check_new(const struct doppel_corpus_fields *fields, bool takes_paths);
void field_check_free(struct field_check *check);

/** Look at the next block, unless a record with a text was seen. DOPPEL_OK; DOPPEL_E_ARGUMENT: it
 * is enough. @param path of the block's file. @param enough so many are */
enum doppel_status field_check_block(struct field_check *check, const char *path,
                                     const struct line_block *block, uint64_t enough,
                                     struct doppel_error *error);

#endif
