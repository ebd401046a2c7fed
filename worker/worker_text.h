/* What a text is read from: a file's bytes as they lie there, or the text of a document. */
#ifndef DOPPEL_WORKER_WORKER_TEXT_H
#define DOPPEL_WORKER_WORKER_TEXT_H

#include "documents/documents.h"
#include "worker/fingerprint.h"

struct worker_text {
    uint64_t enough_bytes; /* set before it is opened; 0: all of a document is read */
    const char *bytes;
    size_t size;
    size_t mapped; /* bytes of the file, which is mapped; 0: it is a document */
    struct document document;
    enum doppel_text_format format;  /* as which the bytes are to be read */
    enum doppel_text_format reading; /* of a document its own; else the same */
};

/* @param wanted as which bytes that are no document are to be read
 * @param out given (worker_text_close), also on failure, where it was {0} before */
enum doppel_status worker_text_open(struct workshop *workshop, int fd,
                                    enum doppel_text_format wanted, struct worker_text *out,
                                    struct doppel_error *error);

/* Where the pages of a document begin, in code points. @param out given (free); NULL: it has none.
 * DOPPEL_OK, DOPPEL_E_MEMORY */
enum doppel_status worker_text_pages(const struct worker_text *source, uint32_t **out,
                                     struct doppel_error *error);

void worker_text_close(struct worker_text *source);

#endif
