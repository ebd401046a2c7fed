/* A page of a PDF to look at: its picture, and where its words are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/bytes.h"
#include "core/text/printable.h"
#include "core/try.h"
#include "documents/formats.h"
#include "documents/pdf.h"
#include "documents/pdf_picture.h"

enum { POINTS_AN_INCH = 72, SHARES = 65535 };

/* The words of a page, in its reading order. */
struct page_words {
    ARRAY(uint8_t) boxes;
    ARRAY(char) text; /* each ended by '\n' */
    double width, height;
    bool no_memory;
};

static uint16_t share_of_page(double at, double whole)
{
    double share = whole > 0 ? at / whole : 0;
    return (uint16_t)lrint(fmin(fmax(share, 0), 1) * SHARES);
}

static void add_page_word(struct page_words *words, const char *text, size_t size,
                          const PopplerRectangle *box)
{
    uint8_t bytes[DOCUMENT_PAGE_WORD_BYTES];
    put_u16(bytes, share_of_page(fmin(box->x1, box->x2), words->width));
    put_u16(bytes + 2, share_of_page(fmin(box->y1, box->y2), words->height));
    put_u16(bytes + 4, share_of_page(fmax(box->x1, box->x2), words->width));
    put_u16(bytes + 6, share_of_page(fmax(box->y1, box->y2), words->height));
    for (size_t i = 0; i < sizeof bytes && !words->no_memory; i++)
        words->no_memory = !array_push(&words->boxes, bytes[i]);
    for (size_t i = 0; i < size && !words->no_memory; i++)
        words->no_memory = !array_push(&words->text, text[i]);
    words->no_memory = words->no_memory || !array_push(&words->text, '\n');
}

static void widen_box(PopplerRectangle *box, const PopplerRectangle *by)
{
    box->x1 = fmin(box->x1, by->x1);
    box->y1 = fmin(box->y1, by->y1);
    box->x2 = fmax(box->x2, by->x2);
    box->y2 = fmax(box->y2, by->y2);
}

/* Poppler tells of each character of a page's text where it is. */
static void find_page_words(PopplerPage *page, struct page_words *out)
{
    PopplerRectangle *areas = NULL, box = {0};
    guint count = 0;
    char *text = poppler_page_get_text(page);
    const char *begin = NULL, *at = text;
    if (!poppler_page_get_text_layout(page, &areas, &count))
        count = 0;
    for (guint i = 0; at && *at && i < count; i++) {
        uint32_t point = 0; /* of what is no UTF-8 */
        size_t size = utf8_decode(at, &point);
        bool space = point <= ' ' || point == 0xa0;
        if (space && begin)
            add_page_word(out, begin, (size_t)(at - begin), &box);
        if (space)
            begin = NULL;
        else if (begin)
            widen_box(&box, &areas[i]);
        else
            box = areas[i];
        if (!space && !begin)
            begin = at;
        at += size ? size : 1;
    }
    if (begin)
        add_page_word(out, begin, (size_t)(at - begin), &box);
    g_free(areas);
    g_free(text);
}

static enum doppel_status join_page_preview(const uint8_t *jpeg, size_t jpeg_size,
                                            const struct page_words *words, uint8_t **out,
                                            size_t *out_size, struct doppel_error *error)
{
    size_t size = DOCUMENT_PAGE_HEAD_BYTES + jpeg_size + words->boxes.count + words->text.count;
    uint8_t *bytes = words->no_memory ? NULL : malloc(size);
    if (!bytes)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a page");
    put_u32(bytes, (uint32_t)jpeg_size);
    put_u32(bytes + 4, (uint32_t)(words->boxes.count / DOCUMENT_PAGE_WORD_BYTES));
    uint8_t *at = bytes + DOCUMENT_PAGE_HEAD_BYTES;
    memcpy(at, jpeg, jpeg_size);
    if (words->boxes.count) {
        memcpy(at + jpeg_size, words->boxes.items, words->boxes.count);
        memcpy(at + jpeg_size + words->boxes.count, words->text.items, words->text.count);
    }
    *out = bytes;
    *out_size = size;
    return DOPPEL_OK;
}

enum doppel_status draw_pdf_page(int fd, uint32_t number, uint32_t pixels, uint8_t **out,
                                 size_t *out_size, struct doppel_error *error)
{
    struct mapped_pdf pdf = {0};
    struct pdf_picture picture = {0};
    struct page_words words = {0};
    PopplerPage *page = NULL;
    uint8_t *jpeg = NULL;
    size_t jpeg_size = 0;
    enum doppel_status status;
    TRY(open_pdf(fd, &pdf, error));
    if (number > (uint32_t)pdf.pages ||
        !(page = poppler_document_get_page(pdf.document, (int)number - 1)))
        TRY(doppel_fail(error, DOPPEL_E_NOT_FOUND, "the PDF has no page %u", number));
    poppler_page_get_size(page, &words.width, &words.height);
    double longest = fmax(fmax(words.width, words.height), 1);
    TRY(pdf_draw(page, (uint32_t)fmax(1, pixels * POINTS_AN_INCH / longest), &picture, error));
    TRY(doppel_media_write_jpeg(&picture.plane, &jpeg, &jpeg_size, error));
    find_page_words(page, &words);
    TRY(join_page_preview(jpeg, jpeg_size, &words, out, out_size, error));
done:
    array_free(&words.boxes);
    array_free(&words.text);
    free(jpeg);
    free(picture.pixels);
    if (page)
        g_object_unref(page);
    close_pdf(&pdf);
    return status;
}
