/* Pages of typeset text to one plain text: running heads and page numbers dropped, words that were
 * divided at the end of a line put together. */
#ifndef DOPPEL_DOCUMENTS_PAGES_H
#define DOPPEL_DOCUMENTS_PAGES_H

#include "documents/writer.h"

/* Zero-initialised it has no page. */
struct typeset_pages {
    char *bytes; /* of all pages, one after the other */
    size_t size, capacity;
    size_t *ends; /* of page i in `bytes` */
    size_t count, ends_capacity;
};

/* Add a page: lines of UTF-8 in reading order. DOPPEL_OK, DOPPEL_E_MEMORY. */
enum doppel_status typeset_pages_add(struct typeset_pages *pages, const char *text, size_t size,
                                     struct doppel_error *error);

/* Write the plain text of all pages, and where each begins: also of those without text. DOPPEL_OK,
 * DOPPEL_E_LIMIT, DOPPEL_E_MEMORY. */
enum doppel_status typeset_pages_join(const struct typeset_pages *pages,
                                      struct document_writer *out, struct doppel_error *error);

void typeset_pages_free(struct typeset_pages *pages);

#endif
