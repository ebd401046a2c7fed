/* Pages of PDFs as the worker draws them: words in fonts that the file does not bring along, and
 * where they are; and form feeds between the pages of its text. */
#include "helper.h"

#include <jpeglib.h>
#include <stdio.h>

#include <doppel/text.h>

#include "core/bytes.h"
#include "documents/pdf_file.h"

enum { PIXELS = 800 };

static int fd_of_pdf(void)
{
    struct pdf_file *pdf = pdf_new();
    pdf_text_page(pdf, "The first page has some words");
    pdf_text_page(pdf, "and the second one");
    pdf_end(pdf);
    int fd = file_of((const char *)pdf->bytes, pdf->size);
    pdf_free(pdf);
    return fd;
}

static struct doppel_outcome preview_of(int fd, struct doppel_order order)
{
    struct doppel_pool *pool = true_pool(0);
    assert_int_equal(doppel_pool_submit(pool, fd, &order, 5, NULL), DOPPEL_OK);
    struct doppel_outcome outcome = next(pool);
    doppel_pool_free(pool);
    return outcome;
}

static struct doppel_outcome draw(int fd, uint16_t page)
{
    return preview_of(fd, (struct doppel_order){
                              .look = DOPPEL_LOOK_PAGE, .look_page = page, .look_size = PIXELS});
}

struct grey_page {
    uint32_t width, height;
    uint8_t *pixels;
};

static struct grey_page decode_grey(const uint8_t *bytes, size_t size)
{
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;
    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&cinfo);
    jpeg_mem_src(&cinfo, bytes, size);
    jpeg_read_header(&cinfo, TRUE);
    jpeg_start_decompress(&cinfo);
    struct grey_page page = {cinfo.output_width, cinfo.output_height, NULL};
    assert_int_equal(cinfo.output_components, 1);
    page.pixels = malloc((size_t)page.width * page.height);
    while (cinfo.output_scanline < cinfo.output_height) {
        JSAMPROW row = page.pixels + (size_t)cinfo.output_scanline * page.width;
        jpeg_read_scanlines(&cinfo, &row, 1);
    }
    jpeg_finish_decompress(&cinfo);
    jpeg_destroy_decompress(&cinfo);
    return page;
}

/* Dark pixels within a box of shares, or all. */
static size_t ink_in(const struct grey_page *page, const uint8_t *box)
{
    uint32_t left = get_u16(box) * page->width / 65535,
             top = get_u16(box + 2) * page->height / 65535;
    uint32_t right = get_u16(box + 4) * page->width / 65535;
    uint32_t bottom = get_u16(box + 6) * page->height / 65535;
    size_t ink = 0;
    for (uint32_t y = top; y < bottom; y++)
        for (uint32_t x = left; x < right; x++)
            ink += page->pixels[(size_t)y * page->width + x] < 128;
    return ink;
}

/* There is ink in the box of each word, and hardly any elsewhere. */
static void words_are_where_they_are_drawn(void **state)
{
    (void)state;
    static const uint8_t all[8] = {0, 0, 0, 0, 255, 255, 255, 255};
    struct doppel_outcome outcome = draw(fd_of_pdf(), 1);
    assert_int_equal(outcome.error.status, DOPPEL_OK);
    const uint8_t *bytes = outcome.attachment;
    uint32_t jpeg = get_u32(bytes), count = get_u32(bytes + 4);
    assert_int_equal(count, 6);
    const uint8_t *boxes = bytes + 8 + jpeg;
    static const char words[] = "The\nfirst\npage\nhas\nsome\nwords\n";
    assert_int_equal(outcome.attachment_size, 8 + jpeg + 8 * count + strlen(words));
    assert_memory_equal(boxes + 8 * count, words, strlen(words));
    struct grey_page page = decode_grey(bytes + 8, jpeg);
    assert_in_range(page.height, PIXELS - 12, PIXELS);
    size_t inside = 0;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(ink_in(&page, boxes + 8 * i) > 5);
        inside += ink_in(&page, boxes + 8 * i);
    }
    assert_true(ink_in(&page, all) <= inside + inside / 10);
    free(page.pixels);
    doppel_outcome_free(&outcome);
}

static void pages_that_are_not_there(void **state)
{
    (void)state;
    static const uint16_t numbers[] = {0, 3, 65535};
    for (size_t i = 0; i < 3; i++) {
        struct doppel_outcome outcome = draw(fd_of_pdf(), numbers[i]);
        assert_int_equal(outcome.error.status, DOPPEL_E_NOT_FOUND);
        assert_non_null(strstr(outcome.error.message, "the PDF has no page"));
        doppel_outcome_free(&outcome);
    }
    struct doppel_outcome outcome = draw(file_of("no PDF", 6), 1);
    assert_int_equal(outcome.error.status, DOPPEL_E_FORMAT);
    doppel_outcome_free(&outcome);
}

static void form_feeds_begin_pages(void **state)
{
    (void)state;
    struct doppel_outcome outcome = preview_of(
        fd_of_pdf(), (struct doppel_order){.look = DOPPEL_LOOK_PLAIN, .look_size = 1000});
    assert_int_equal(outcome.error.status, DOPPEL_OK);
    char *text = strndup((const char *)outcome.attachment, outcome.attachment_size);
    const char *feed = strchr(text, '\f');
    assert_non_null(feed);
    assert_null(strchr(feed + 1, '\f'));
    assert_non_null(strstr(feed, "and the second"));
    assert_true(strstr(text, "The first page") < feed);
    free(text);
    doppel_outcome_free(&outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_where_they_are_drawn),
        cmocka_unit_test(pages_that_are_not_there),
        cmocka_unit_test(form_feeds_begin_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
