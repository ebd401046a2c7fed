/* Vectors that are handed off, for a vector database: two files, that appear when both are whole.
 */
#ifndef DOPPEL_CORPUS_DEDUP_SEMANTIC_HAND_OFF_H
#define DOPPEL_CORPUS_DEDUP_SEMANTIC_HAND_OFF_H

#include "core/files/output_file.h"
#include "corpus/dedup/semantic_internal.h"

/* Zero-initialised nothing is open. */
struct hand_off_files {
    char *rows_path, *lines_path;
    struct output_file rows, lines;
    bool open;
};

/** Write what was embedded, as it was embedded. Nothing where that is not wanted. To be closed also
 * after a failure. DOPPEL_OK; DOPPEL_E_ARGUMENT: a file is there; DOPPEL_E_IO; DOPPEL_E_NO_SPACE;
 * DOPPEL_E_MEMORY */
enum doppel_status hand_off_write(struct semantic_embedding *embedding,
                                  struct hand_off_files *files, struct doppel_error *error);

/** Give the files their names; or with a failure `status`, which is returned then, remove them. */
enum doppel_status hand_off_close(struct hand_off_files *files, enum doppel_status status,
                                  struct doppel_error *error);

#endif
