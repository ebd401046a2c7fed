/* Codes on their way into a segment: a temporary file, written once and read several times. */
#ifndef DOPPEL_LIBRARY_DERIVED_CODE_SPOOL_H
#define DOPPEL_LIBRARY_DERIVED_CODE_SPOOL_H

#include "library/derived/codes.h"

struct code_spool;

/** @param directory of the library, whose disk has room for as much; where that cannot be written
 * to, the file lies elsewhere. @return NULL: no temporary file can be made */
struct code_spool *code_spool_new(const char *directory, const struct doppel_index_options *make);
void code_spool_free(struct code_spool *spool);

/** @return false: no room */
bool code_spool_put(struct code_spool *spool, const struct item_codes *codes);

/** All that was put. @param out borrows the spool. @return false: no room */
bool code_spool_load(struct code_spool *spool, struct doppel_index_load *out);

#endif
