/* The lines of records, once more: in order, when all is decided. */
#ifndef DOPPEL_CORPUS_DEDUP_LINES_H
#define DOPPEL_CORPUS_DEDUP_LINES_H

#include "corpus/dedup/dedup_internal.h"

/* All but `dedup` is zero-initialised. */
struct line_loader {
    const struct dedup *dedup;
    char *line;
    size_t capacity;
    struct reader *again; /* of the compressed file `file`; NULL: none is open */
    uint32_t file;
    struct line_block block; /* of it, which was read last */
    struct json_line json;   /* of an archive's row */
};

/** The line of a record; NULL: it was not kept. Of compressed files, records come in their order.
 * @param out borrowed until the next call. DOPPEL_E_CHANGED; _IO; _MEMORY */
enum doppel_status lines_get(struct line_loader *lines, uint32_t number, const char **out,
                             size_t *out_size, struct doppel_error *error);
void lines_free(struct line_loader *lines);

#endif
