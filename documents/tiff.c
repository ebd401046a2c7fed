/* The pages of a TIFF, as scanners and fax machines write them, to text by OCR, or to what they are
 * compared by as pictures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/try.h"
#include "documents/formats.h"
#include "documents/ocr.h"
#include "documents/pages.h"

/* One that cannot be read is an empty one, and counted. */
static enum doppel_status read_tiff_page(struct doppel_pages *tiff, uint32_t index, uint32_t side,
                                         struct doppel_luma *out, size_t *unread,
                                         struct doppel_error *error)
{
    static uint8_t white = 0xff;
    enum doppel_status status = doppel_media_read_page(tiff, index, side, out, error);
    if (!status || status == DOPPEL_E_MEMORY)
        return status;
    ++*unread;
    *out = (struct doppel_luma){.plane = {&white, 1, 1, 1}};
    return DOPPEL_OK;
}

static enum doppel_status scan_tiff_pages(const struct document_input *input,
                                          struct doppel_pages *tiff, uint32_t count,
                                          struct document_writer *out, size_t *unread,
                                          struct doppel_error *error)
{
    struct typeset_pages pages = {0};
    enum doppel_status status = DOPPEL_OK;
    for (uint32_t i = 0; i < count && pages.size < input->limits.enough_bytes; i++) {
        struct doppel_luma luma;
        char *text = NULL;
        TRY(read_tiff_page(tiff, i, 0, &luma, unread, error));
        status = ocr_read(input->limits.ocr, &luma.plane, 0, &text, error);
        doppel_luma_free(&luma);
        if (!status)
            status = typeset_pages_add(&pages, text, strlen(text), error);
        free(text);
        if (status)
            goto done;
        document_page_done(&input->limits, i + 1, count);
    }
    TRY(typeset_pages_join(&pages, out, error));
done:
    typeset_pages_free(&pages);
    return status;
}

static enum doppel_status draw_tiff_pages(const struct document_input *input,
                                          struct doppel_pages *tiff, uint32_t count,
                                          struct document_writer *out, size_t *unread,
                                          struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    writer_free(out);
    for (uint32_t i = 0; i < count; i++) {
        struct doppel_luma luma;
        TRY(read_tiff_page(tiff, i, DOPPEL_PAGE_SIDE, &luma, unread, error));
        status = writer_draw(out, &luma.plane, error);
        doppel_luma_free(&luma);
        if (status)
            goto done;
        document_page_done(&input->limits, i + 1, count);
    }
    if (!writer_has_ink(out))
        status = doppel_fail(error, DOPPEL_E_EMPTY,
                             *unread ? "none of the TIFF's %u pages can be read"
                                     : "none of the TIFF's %u pages has enough on it to be told by",
                             count);
done:
    return status;
}

enum doppel_status read_tiff(const struct document_input *input, struct document_writer *out,
                             struct doppel_error *error)
{
    const uint32_t most = input->limits.ocr ? DOCUMENT_SCANNED_PAGES : DOCUMENT_DRAWN_PAGES;
    struct doppel_pages *tiff = NULL;
    uint32_t found = 0, count;
    size_t unread = 0;
    enum doppel_status status;
    TRY(doppel_media_open_pages(input->fd, &input->limits.media, most + 1, &tiff, &found, error));
    count = found < most ? found : most;
    if (input->limits.ocr)
        TRY(scan_tiff_pages(input, tiff, count, out, &unread, error));
    if (!out->size && input->limits.enough_bytes == UINT64_MAX) {
        unread = 0;
        TRY(draw_tiff_pages(input, tiff, count, out, &unread, error));
    }
    if (unread)
        doppel_fail(error, DOPPEL_OK, "%zu of the TIFF's %u pages cannot be read", unread, count);
    else if (found > most)
        doppel_fail(error, DOPPEL_OK,
                    "the first %u pages of the TIFF are read, and those behind "
                    "them are not",
                    most);
done:
    doppel_media_close_pages(tiff);
    return status;
}

enum doppel_status draw_tiff_page(int fd, uint32_t number, uint32_t pixels, uint8_t **out,
                                  size_t *out_size, struct doppel_error *error)
{
    struct doppel_pages *tiff = NULL;
    struct doppel_luma luma = {0};
    uint8_t *jpeg = NULL, *bytes = NULL;
    size_t jpeg_size = 0;
    uint32_t count;
    enum doppel_status status;
    TRY(doppel_media_open_pages(fd, NULL, number, &tiff, &count, error));
    TRY(doppel_media_read_page(tiff, number - 1, pixels, &luma, error));
    TRY(doppel_media_write_jpeg(&luma.plane, &jpeg, &jpeg_size, error));
    bytes = malloc(DOCUMENT_PAGE_HEAD_BYTES + jpeg_size);
    if (!bytes)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a page"));
    put_u32(bytes, (uint32_t)jpeg_size);
    put_u32(bytes + 4, 0); /* words */
    memcpy(bytes + DOCUMENT_PAGE_HEAD_BYTES, jpeg, jpeg_size);
    *out = bytes;
    *out_size = DOCUMENT_PAGE_HEAD_BYTES + jpeg_size;
done:
    free(jpeg);
    doppel_luma_free(&luma);
    doppel_media_close_pages(tiff);
    return status;
}
