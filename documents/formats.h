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

/* Load all that poppler loads when it is first used. @return its version; static storage */
const char *pdf_prepare(void);

#endif
