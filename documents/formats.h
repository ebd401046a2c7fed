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

document_reader read_docx, read_pdf, read_pptx, read_xlsx, read_odf, read_epub, read_rtf, read_mail,
    read_tiff;

/* So many pages of a file are read by OCR, or drawn: of more it would be hours, or minutes. */
enum { DOCUMENT_SCANNED_PAGES = 1000, DOCUMENT_DRAWN_PAGES = 5000 };

/* Of a page that was read by OCR, or drawn, tell whoever wants to know. */
void document_page_done(const struct document_limits *limits, uint32_t done, uint32_t total);

/* As document_draw_page, of a PDF; of a TIFF. */
enum doppel_status draw_pdf_page(int fd, uint32_t number, uint32_t pixels, uint8_t **out,
                                 size_t *out_size, struct doppel_error *error);
enum doppel_status draw_tiff_page(int fd, uint32_t number, uint32_t pixels, uint8_t **out,
                                  size_t *out_size, struct doppel_error *error);

/* Load all that poppler loads when it is first used. @return its version; static storage */
const char *pdf_prepare(void);

#endif
