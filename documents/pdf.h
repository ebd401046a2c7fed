/* An open PDF. */
#ifndef DOPPEL_DOCUMENTS_PDF_H
#define DOPPEL_DOCUMENTS_PDF_H

#include <poppler.h>

#include <doppel/core.h>

/* A file that lies in memory as long as it is read; one that is cut short meanwhile ends the
 * worker, which costs that file alone. */
struct mapped_pdf {
    const void *bytes;
    size_t size;
    PopplerDocument *document;
    int pages;
    int pictures;        /* pages without text, or with hardly a word beside their picture */
    int scanned, unread; /* of these, those read by OCR; those that it would have read after them */
};

/* @param out given (close_pdf), also on failure, where it was {0} before. DOPPEL_OK;
 * DOPPEL_E_UNSUPPORTED: it is encrypted; _CORRUPT, _EMPTY, _LIMIT, _MEMORY, _IO */
enum doppel_status open_pdf(int fd, struct mapped_pdf *out, struct doppel_error *error);
void close_pdf(struct mapped_pdf *pdf);

#endif
