/* What a text is read from: a file's bytes as they lie there, the text of a document, or a picture.
 */
#include "worker/worker_text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "documents/ocr.h"

enum {
    /* A document and its text are in memory: of what a worker may have, this share. */
    DOCUMENT_SHARE = 2,
    /* Pictures are read by OCR at this many pixels of their shorter side, of A4 200 dpi. */
    OCR_LEAST_SIDE = 1654
};

static void note_page(void *context, uint32_t done, uint32_t total)
{
    progress_page_done(context, done, total);
}

static enum doppel_status read_document(struct workshop *workshop, int fd,
                                        enum doppel_format format, struct worker_text *out,
                                        struct doppel_error *error)
{
    struct document_limits documents = document_limits_default();
    uint64_t most = workshop->limits.max_memory / DOCUMENT_SHARE;
    documents.ocr = workshop->ocr;
    documents.media = image_limits(&workshop->limits);
    documents.page_done = note_page;
    documents.context = workshop->progress;
    if (out->enough_bytes)
        documents.enough_bytes = out->enough_bytes;
    if (most && most < documents.max_bytes)
        documents.max_bytes = most;
    enum doppel_status status = document_read(fd, format, &documents, &out->document, error);
    out->bytes = out->document.text;
    out->size = out->document.size;
    out->format = DOPPEL_TEXT_PLAIN;
    out->reading = (enum doppel_text_format)(DOPPEL_TEXT_PDF + (format - DOPPEL_FORMAT_PDF));
    return status;
}

/* A picture of text, by OCR. */
static enum doppel_status read_picture_text(struct workshop *workshop, int fd,
                                            struct worker_text *out, struct doppel_error *error)
{
    struct doppel_luma_options options = doppel_luma_options_default();
    struct doppel_luma luma;
    options.limits = image_limits(&workshop->limits);
    options.min_side = OCR_LEAST_SIDE;
    enum doppel_status status = doppel_media_read_luma(fd, &options, &luma, error);
    if (status)
        return status;
    status = ocr_read(workshop->ocr, &luma.plane, 0, &out->document.text, error);
    doppel_luma_free(&luma);
    if (status)
        return status;
    out->document.size = strlen(out->document.text);
    out->bytes = out->document.text;
    out->size = out->document.size;
    out->format = DOPPEL_TEXT_PLAIN;
    out->reading = DOPPEL_TEXT_PICTURE;
    return strspn(out->bytes, " \n") < out->size
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_EMPTY, "OCR finds no text in the picture");
}

/* The file is mapped, not copied: memory does not bound how long a plain text may be. A file that
 * is cut short meanwhile ends the worker, which costs that file alone. */
static enum doppel_status map_text(int fd, size_t size, enum doppel_text_format wanted,
                                   struct worker_text *out, struct doppel_error *error)
{
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no room to map %zu bytes", size);
    (void)madvise(bytes, size, MADV_SEQUENTIAL);
    *out = (struct worker_text){
        .bytes = bytes, .size = size, .mapped = size, .format = wanted, .reading = wanted};
    return DOPPEL_OK;
}

enum doppel_status worker_text_open(struct workshop *workshop, int fd,
                                    enum doppel_text_format wanted, struct worker_text *out,
                                    struct doppel_error *error)
{
    const struct worker_limits *limits = &workshop->limits;
    struct stat file;
    enum doppel_format format;
    if (fstat(fd, &file) || file.st_size < 0)
        return doppel_fail(error, DOPPEL_E_IO, "cannot be read");
    size_t size = (size_t)file.st_size;
    if (size == 0)
        return doppel_fail(error, DOPPEL_E_EMPTY, "the file is empty");
    if (limits->max_bytes && size > limits->max_bytes)
        return doppel_fail(error, DOPPEL_E_LIMIT,
                           "has %zu bytes, over the limit of %llu (--max-bytes)", size,
                           (unsigned long long)limits->max_bytes);
    enum doppel_kind kind = probe_file(fd, &format);
    if (kind == DOPPEL_KIND_IMAGE && workshop->ocr)
        return read_picture_text(workshop, fd, out, error);
    return kind == DOPPEL_KIND_TEXT && format ? read_document(workshop, fd, format, out, error)
                                              : map_text(fd, size, wanted, out, error);
}

static size_t count_code_points(const char *text, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += (text[i] & 0xc0) != 0x80;
    return count;
}

enum doppel_status worker_text_pages(const struct worker_text *source, uint32_t **out,
                                     struct doppel_error *error)
{
    const struct document *document = &source->document;
    *out = NULL;
    if (!document->page_count)
        return DOPPEL_OK;
    uint32_t *pages = malloc(document->page_count * sizeof *pages);
    if (!pages)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu pages", document->page_count);
    size_t place = 0, points = 0;
    for (size_t i = 0; i < document->page_count; i++) {
        points += count_code_points(document->text + place, document->pages[i] - place);
        place = document->pages[i];
        pages[i] = (uint32_t)points;
    }
    *out = pages;
    return DOPPEL_OK;
}

void worker_text_close(struct worker_text *source)
{
    if (source->mapped)
        munmap((void *)source->bytes, source->mapped);
    document_free(&source->document);
}
