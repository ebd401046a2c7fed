/* What the first bytes of a corpus file tell. */
#ifndef DOPPEL_CORPUS_READ_FILE_START_H
#define DOPPEL_CORPUS_READ_FILE_START_H

#include "corpus/read/reader.h"
#include "corpus/read/reread.h"

struct file_start {
    const char *bytes; /* from the beginning of the file on */
    size_t size;       /* of whole lines */
    bool takes_paths;  /* lines may begin with anything */
    char separator;    /* of cells; 0: of JSON Lines */
};

/** Find where records begin, behind a byte order mark, and in tables behind the row that names the
 * columns. What stands before them, and these names, `file` has then; it is new.
 * @param out_head bytes before the records, also with DOPPEL_E_FORMAT: this is not the format at
 * all, which would be an error a line, and is said once. Or DOPPEL_E_MEMORY, without a sentence */
enum doppel_status file_start(const struct file_start *start, struct corpus_file *file,
                              size_t *out_head, struct doppel_error *error);

#endif
