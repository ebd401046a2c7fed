/* A document by its format: its reader, or a sentence saying why this build has none. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/try.h"
#include "documents/formats.h"

#ifdef HAVE_DOCUMENTS
#include <archive.h>
#include <libxml/parser.h>
#endif

struct document_limits document_limits_default(void)
{
    return (struct document_limits){.max_bytes = UINT64_C(256) << 20,
                                    .max_members = 100000,
                                    .max_ratio = 200,
                                    .enough_bytes = UINT64_MAX,
                                    .media = doppel_media_limits_default()};
}

void document_free(struct document *document)
{
    for (size_t i = 0; i < document->drawn_count; i++)
        free((void *)document->drawn[i].ink);
    free(document->drawn);
    free(document->text);
    free(document->pages);
    *document = (struct document){0};
}

/* The reader of a format and, where it is NULL, what the build was without. */
static document_reader *reader_of_document(enum doppel_format format, const char **out_missing)
{
    *out_missing = format == DOPPEL_FORMAT_PDF          ? "poppler"
                   : format == DOPPEL_FORMAT_TIFF_PAGES ? "libtiff"
                                                        : "libarchive and libxml2";
    switch (format) {
#ifdef HAVE_PDF
    case DOPPEL_FORMAT_PDF:
        return read_pdf;
#endif
#ifdef HAVE_DOCUMENTS
    case DOPPEL_FORMAT_DOCX:
        return read_docx;
    case DOPPEL_FORMAT_PPTX:
        return read_pptx;
    case DOPPEL_FORMAT_XLSX:
        return read_xlsx;
    case DOPPEL_FORMAT_ODT:
    case DOPPEL_FORMAT_ODP:
    case DOPPEL_FORMAT_ODS:
        return read_odf;
    case DOPPEL_FORMAT_EPUB:
        return read_epub;
#endif
#ifdef HAVE_TIFF
    case DOPPEL_FORMAT_TIFF_PAGES:
        return read_tiff;
#endif
    case DOPPEL_FORMAT_RTF:
        return read_rtf;
    case DOPPEL_FORMAT_MAIL:
        return read_mail;
    default:
        return NULL;
    }
}

enum doppel_status document_read(int fd, enum doppel_format format,
                                 const struct document_limits *limits, struct document *out,
                                 struct doppel_error *error)
{
    const struct document_input input = {fd, format, doppel_format_name(format),
                                         limits ? *limits : document_limits_default()};
    struct document_writer writer = {.max_bytes = input.limits.max_bytes};
    const char *missing;
    document_reader *read = reader_of_document(format, &missing);
    if (!read)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "this doppel reads no %s: it was built without %s", input.name, missing);
    enum doppel_status status;
    TRY(read(&input, &writer, error));
    TRY(writer_check(&writer, error));
    if (!writer.size && !writer.drawn.count)
        TRY(doppel_fail(error, DOPPEL_E_EMPTY, "the %s holds no text", input.name));
done:
    if (status)
        writer_free(&writer);
    else
        *out = (struct document){writer.text,        writer.size,        writer.pages.items,
                                 writer.pages.count, writer.drawn.items, writer.drawn.count};
    return status;
}

void document_page_done(const struct document_limits *limits, uint32_t done, uint32_t total)
{
    if (limits->page_done)
        limits->page_done(limits->context, done, total);
}

enum doppel_status document_draw_page(int fd, const struct document_page *page, uint8_t **out,
                                      size_t *out_size, struct doppel_error *error)
{
    enum { MOST_PIXELS_A_SIDE = 4096 };
    if (page->number < 1)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "the %s has no page 0",
                           doppel_format_name(page->format));
    if (page->pixels < 1 || page->pixels > MOST_PIXELS_A_SIDE)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a page of %u pixels", page->pixels);
#ifdef HAVE_PDF
    if (page->format == DOPPEL_FORMAT_PDF)
        return draw_pdf_page(fd, page->number, page->pixels, out, out_size, error);
#endif
#ifdef HAVE_TIFF
    if (page->format == DOPPEL_FORMAT_TIFF_PAGES)
        return draw_tiff_page(fd, page->number, page->pixels, out, out_size, error);
#endif
    (void)fd, (void)out, (void)out_size;
    return doppel_fail(error, DOPPEL_E_FORMAT, "has no pages that this doppel draws");
}

size_t documents_prepare(char *out, size_t size)
{
    int length = 0;
#ifdef HAVE_DOCUMENTS
    /* Of dates in archives the time zone is looked up, in a file, unless it has a name. */
    setlocale(LC_CTYPE, "C.UTF-8"); /* names of members are UTF-8 then */
    setenv("TZ", "UTC0", 1);
    tzset();
    xmlInitParser();
    length =
        snprintf(out, size, "%s\nlibxml2 %s\n", archive_version_string(), LIBXML_DOTTED_VERSION);
#endif
    size_t used = length > 0 && (size_t)length < size ? (size_t)length : 0;
#ifdef HAVE_PDF
    length = snprintf(out + used, size - used, "poppler %s\n", pdf_prepare());
    used += length > 0 && (size_t)length < size - used ? (size_t)length : 0;
#endif
    out[used] = '\0';
    return used;
}
