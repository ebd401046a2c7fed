/* What the first bytes of a corpus file tell. */
#ifndef DOPPEL_CORPUS_READ_FILE_START_H
#define DOPPEL_CORPUS_READ_FILE_START_H

#include "corpus/read/reader.h"

/** Let the block begin behind a byte order mark. @param size of whole lines, from the beginning of
 * the file on; `takes_paths`: of paths too, which begin with anything. @return false when this is
 * no JSON Lines at all, which would be an error a line: it is said once, as the block's damage */
bool file_start(const char *bytes, size_t size, bool takes_paths, struct line_block *block);

#endif
