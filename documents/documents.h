/* documents/documents.h: from an open file to plain text: office documents, books, mail. A part of
 * the program doppel-worker, not of the library: what takes these files apart runs in a sandbox.
 *
 *     file ─ parts of the zip, unpacked within limits ─ XML, HTML ─ text, and where pages begin
 *
 * A reader of a format (formats.h) writes into a writer (writer.h). */
#ifndef DOPPEL_DOCUMENTS_DOCUMENTS_H
#define DOPPEL_DOCUMENTS_DOCUMENTS_H

#include <doppel/media.h>

struct doppel_page;
struct ocr;

/* How much may come out of one file, whatever it says of its sizes. */
struct document_limits {
    uint64_t max_bytes;    /* of all that is unpacked, and of the text; default 256 MiB */
    uint32_t max_members;  /* of a zip; default 100 000 */
    uint32_t max_ratio;    /* of what is unpacked to the file; default 200, from 16 MiB on */
    uint64_t enough_bytes; /* of the text: later pages of a PDF are left out, and none is drawn;
                              default all */
    struct doppel_media_limits media; /* of a picture in it */
    struct ocr *ocr; /* by which pages without text are read; borrowed; NULL, the default: none */
    /* Of a page that is read by OCR, or drawn; may be NULL. @param done of the document's pages
     * @param total how many it has */
    void (*page_done)(void *context, uint32_t done, uint32_t total);
    void *context;
};

struct document_limits document_limits_default(void);

struct document {
    char *text; /* UTF-8, as a rule; given (document_free) */
    size_t size;
    size_t *pages; /* where pages, slides, chapters, sheets or messages begin: ascending; none where
                      the format does not tell */
    size_t page_count;
    struct doppel_page *drawn; /* of a PDF without text, or a TIFF: its pages; given
                                  (document_free) */
    size_t drawn_count;
};

void document_free(struct document *document);

/* The text of a document, or its pages.
 *
 * @param fd     an open regular file; borrowed; its offset is not used
 * @param format as doppel_media_probe_file tells it
 * @param limits NULL for the defaults
 * @param out    given (document_free); untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_EMPTY (neither in it), _CORRUPT, _LIMIT, _UNSUPPORTED (encrypted;
 * this build cannot read it), _MEMORY, _IO */
enum doppel_status document_read(int fd, enum doppel_format format,
                                 const struct document_limits *limits, struct document *out,
                                 struct doppel_error *error);

enum { DOCUMENT_PAGE_HEAD_BYTES = 8, DOCUMENT_PAGE_WORD_BYTES = 8 };

struct document_page {
    enum doppel_format format; /* as doppel_media_probe_file tells it */
    uint32_t number;           /* from 1 on */
    uint32_t pixels;           /* of its longer side when drawn, at most 4096 */
};

/* A page of a PDF or a TIFF to look at, as DOPPEL_LOOK_PAGE has it (doppel/worker.h).
 *
 * @param out    given (free); untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND (it has no such page), _FORMAT (it has no pages to look
 * at), as document_read */
enum doppel_status document_draw_page(int fd, const struct document_page *page, uint8_t **out,
                                      size_t *out_size, struct doppel_error *error);

/* As doppel_media_prepare: before the sandbox. @return bytes of `out` that were used */
size_t documents_prepare(char *out, size_t size);

#endif
