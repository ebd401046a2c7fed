/* The readers of documents, one a format, and what they are given. */
#ifndef DOPPEL_DOCUMENTS_FORMATS_H
#define DOPPEL_DOCUMENTS_FORMATS_H

#include "documents/documents.h"
#include "documents/writer.h"

/* A document that is being read. */
struct document_input {
    int fd;
    enum doppel_format format;
    const char *name; /* of the format: "DOCX" */
    struct document_limits limits;
};

typedef enum doppel_status document_reader(const struct document_input *input,
                                           struct document_writer *out, struct doppel_error *error);

document_reader read_docx, read_pdf, read_pptx, read_xlsx, read_odf, read_epub, read_rtf, read_mail;

/* As document_draw_page, of a PDF. */
enum doppel_status draw_pdf_page(int fd, uint32_t number, uint32_t pixels, uint8_t **out,
                                 size_t *out_size, struct doppel_error *error);

/* Load all that poppler loads when it is first used. @return its version; static storage */
const char *pdf_prepare(void);

#endif
