/* A PDF to the text of its pages, or to their pictures, by poppler. */
#include "documents/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/try.h"
#include "documents/ocr.h"
#include "documents/pages.h"
#include "documents/pdf.h"
#include "documents/pdf_picture.h"

enum { PAGES_MAX = 200000 };

/* Pages are read by OCR at this resolution, where they are pictures with hardly a word beside: a
 * stamp, or who scanned it. */
enum { OCR_DPI = 200, FEW_BYTES = 200 };

static enum doppel_status map_pdf(int fd, struct mapped_pdf *out, struct doppel_error *error)
{
    struct stat file;
    if (fstat(fd, &file) || file.st_size < 1)
        return doppel_fail(error, DOPPEL_E_IO, "cannot be read");
    void *bytes = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no room to map %lld bytes",
                           (long long)file.st_size);
    *out = (struct mapped_pdf){.bytes = bytes, .size = (size_t)file.st_size};
    return DOPPEL_OK;
}

/* It is opened without a password: who has one takes it off first. */
static enum doppel_status describe_refusal(const GError *reason, struct doppel_error *error)
{
    if (g_error_matches(reason, POPPLER_ERROR, POPPLER_ERROR_ENCRYPTED))
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "the PDF is encrypted: it can be read with its password alone");
    if (g_error_matches(reason, POPPLER_ERROR, POPPLER_ERROR_BAD_CATALOG))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "the PDF is damaged: it has no list of pages");
    return doppel_fail(error, DOPPEL_E_CORRUPT,
                       "the PDF is damaged: neither its table of objects nor its pages are found");
}

static enum doppel_status open_mapped(struct mapped_pdf *pdf, struct doppel_error *error)
{
    GError *reason = NULL;
    GBytes *bytes = g_bytes_new_static(pdf->bytes, pdf->size);
    pdf->document = poppler_document_new_from_bytes(bytes, NULL, &reason);
    g_bytes_unref(bytes);
    enum doppel_status status = pdf->document ? DOPPEL_OK : describe_refusal(reason, error);
    g_clear_error(&reason);
    if (status)
        return status;
    pdf->pages = poppler_document_get_n_pages(pdf->document);
    if (pdf->pages < 1)
        return doppel_fail(error, DOPPEL_E_EMPTY, "the PDF has no pages");
    if (pdf->pages > PAGES_MAX)
        return doppel_fail(error, DOPPEL_E_LIMIT, "the PDF has %d pages, over the limit of %d",
                           pdf->pages, PAGES_MAX);
    return DOPPEL_OK;
}

void close_pdf(struct mapped_pdf *pdf)
{
    if (pdf->document)
        g_object_unref(pdf->document);
    if (pdf->bytes)
        munmap((void *)pdf->bytes, pdf->size);
}

enum doppel_status open_pdf(int fd, struct mapped_pdf *out, struct doppel_error *error)
{
    enum doppel_status status = map_pdf(fd, out, error);
    return status ? status : open_mapped(out, error);
}

static enum doppel_status scan_page(const struct document_limits *limits, PopplerPage *page,
                                    char **out, struct doppel_error *error)
{
    struct pdf_picture picture;
    enum doppel_status status = pdf_draw(page, OCR_DPI, &picture, error);
    if (status)
        return status;
    status = ocr_read(limits->ocr, &picture.plane, picture.dpi, out, error);
    free(picture.pixels);
    return status;
}

static bool is_scanned(PopplerPage *page, size_t size)
{
    return size < FEW_BYTES && pdf_page_is_picture(page);
}

/* The text that lies in a page, or what OCR reads of its picture. A page that cannot be read is an
 * empty one. */
static enum doppel_status add_pdf_page(const struct document_input *input, struct mapped_pdf *pdf,
                                       int number, struct typeset_pages *pages,
                                       struct doppel_error *error)
{
    PopplerPage *page = poppler_document_get_page(pdf->document, number);
    char *lying = page ? poppler_page_get_text(page) : NULL, *scanned = NULL;
    enum doppel_status status = DOPPEL_OK;
    bool picture = page && is_scanned(page, lying ? strlen(lying) : 0);
    bool wanted = picture && input->limits.ocr;
    pdf->pictures += picture;
    if (wanted && pdf->scanned == DOCUMENT_SCANNED_PAGES) {
        pdf->unread++;
    } else if (wanted) {
        pdf->scanned++;
        TRY(scan_page(&input->limits, page, &scanned, error));
    }
    const char *text = scanned ? scanned : lying ? lying : "";
    size_t size = strlen(text);
    if (pages->size + size > input->limits.max_bytes) {
        status = doppel_fail(error, DOPPEL_E_LIMIT, "holds a text of more than %llu MiB",
                             (unsigned long long)(input->limits.max_bytes >> 20));
        goto done;
    }
    TRY(typeset_pages_add(pages, text, size, error));
done:
    free(scanned);
    g_free(lying);
    if (page)
        g_object_unref(page);
    return status;
}

/* ---- pages without text ---- */

/* What cannot be read is an empty page. */
static enum doppel_status draw_to_compare(struct mapped_pdf *pdf, int number,
                                          struct document_writer *out, struct doppel_error *error)
{
    PopplerPage *page = poppler_document_get_page(pdf->document, number);
    static uint8_t white = 0xff;
    struct pdf_picture picture = {.plane = {&white, 1, 1, 1}};
    enum doppel_status status;
    if (page)
        TRY(pdf_draw_side(page, DOPPEL_PAGE_SIDE, &picture, error));
    TRY(writer_draw(out, &picture.plane, error));
done:
    free(picture.pixels);
    g_clear_object(&page);
    return status;
}

/* In place of a text that is none: at most what a scanner wrote beside its pictures. */
static enum doppel_status draw_pages(const struct document_input *input, struct mapped_pdf *pdf,
                                     struct document_writer *out, struct doppel_error *error)
{
    const int count = pdf->pages < DOCUMENT_DRAWN_PAGES ? pdf->pages : DOCUMENT_DRAWN_PAGES;
    enum doppel_status status = DOPPEL_OK;
    writer_free(out);
    for (int i = 0; i < count; i++) {
        TRY(draw_to_compare(pdf, i, out, error));
        document_page_done(&input->limits, (uint32_t)i + 1, (uint32_t)count);
    }
    if (!writer_has_ink(out))
        status = doppel_fail(error, DOPPEL_E_EMPTY,
                             "the PDF holds no text, and no page has enough on it to be compared");
    else if (count < pdf->pages)
        doppel_fail(error, DOPPEL_OK,
                    "the PDF holds no text: its first %d pages are compared as pictures, and %d "
                    "more are not",
                    count, pdf->pages - count);
done:
    return status;
}

enum doppel_status read_pdf(const struct document_input *input, struct document_writer *out,
                            struct doppel_error *error)
{
    struct mapped_pdf pdf = {0};
    struct typeset_pages pages = {0};
    enum doppel_status status;
    TRY(open_pdf(input->fd, &pdf, error));
    for (int i = 0; i < pdf.pages && pages.size < input->limits.enough_bytes; i++) {
        const int scanned = pdf.scanned;
        TRY(add_pdf_page(input, &pdf, i, &pages, error));
        if (pdf.scanned > scanned)
            document_page_done(&input->limits, (uint32_t)i + 1, (uint32_t)pdf.pages);
    }
    TRY(typeset_pages_join(&pages, out, error));
    if (input->limits.enough_bytes < UINT64_MAX)
        goto done; /* no more is wanted than the text that there is */
    if (!out->size || (pdf.pictures == pdf.pages && !pdf.scanned))
        TRY(draw_pages(input, &pdf, out, error));
    else if (pdf.unread)
        doppel_fail(error, DOPPEL_OK,
                    "the first %d scanned pages are read by OCR, and %d more are not",
                    DOCUMENT_SCANNED_PAGES, pdf.unread);
done:
    typeset_pages_free(&pages);
    close_pdf(&pdf);
    return status;
}

/* ---- before the sandbox ---- */

/* One page with a letter in each font that readers bring along, and in those that are named most
 * where a file lacks them: what stands for them here is found, and kept (worker/kept_fonts.c). */
static const char *const usual_fonts[] = {
    "Helvetica",    "Helvetica-Bold",        "Helvetica-Oblique",
    "Times-Roman",  "Helvetica-BoldOblique", "Times-Bold",
    "Times-Italic", "Times-BoldItalic",      "Courier",
    "Courier-Bold", "Courier-Oblique",       "Courier-BoldOblique",
    "Symbol",       "ZapfDingbats",          "Arial",
    "Arial,Bold",   "TimesNewRoman",         "TimesNewRoman,Bold",
};

enum { SAMPLE_BYTES = 8192, FONT_COUNT = sizeof usual_fonts / sizeof *usual_fonts };

static size_t write_sample(char out[SAMPLE_BYTES])
{
    char drawing[1024], fonts[1024];
    int drawn = 0, named = 0, size;
    for (int i = 0; i < FONT_COUNT; i++) {
        drawn += snprintf(drawing + drawn, sizeof drawing - (size_t)drawn,
                          "BT /F%d 9 Tf 9 9 Td (a) Tj ET\n", i);
        named += snprintf(fonts + named, sizeof fonts - (size_t)named, "/F%d %d 0 R", i, 9 + i);
    }
    size = snprintf(out, SAMPLE_BYTES,
                    "%%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
                    "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
                    "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 50 50]/Contents 5 0 R\n"
                    "/Resources<</Font<<%s>>>>>>endobj\n"
                    "5 0 obj<</Length %d>>stream\n%s endstream endobj\n",
                    fonts, drawn, drawing);
    for (int i = 0; i < FONT_COUNT; i++)
        size += snprintf(out + size, SAMPLE_BYTES - (size_t)size,
                         "%d 0 obj<</Type/Font/Subtype/%s/BaseFont/%s>>endobj\n", 9 + i,
                         i < 14 ? "Type1" : "TrueType", usual_fonts[i]);
    size += snprintf(out + size, SAMPLE_BYTES - (size_t)size, "trailer<</Root 1 0 R>>\n");
    return (size_t)size;
}

const char *pdf_prepare(void)
{
    static char sample[SAMPLE_BYTES];
    static struct mapped_pdf kept = {.bytes = sample};
    struct pdf_picture picture = {0};
    kept.size = write_sample(sample);
    if (open_mapped(&kept, NULL) == DOPPEL_OK) {
        PopplerPage *page = poppler_document_get_page(kept.document, 0);
        g_free(page ? poppler_page_get_text(page) : NULL);
        if (page)
            pdf_draw(page, 72, &picture, NULL);
        free(picture.pixels);
        g_clear_object(&page);
    }
    return poppler_get_version();
}
