/* PDFs that somebody made to do harm: each is read or named, within bounded time and memory, and
 * the run goes on. Those that are damaged: mutants.py. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "documents/pdf_file.h"

enum { BOMB_BYTES = 300 << 20 };

static void keep_pdf(struct pdf_file *pdf, const char *path)
{
    pdf_end(pdf);
    write_file(path, pdf->bytes, pdf->size);
    pdf_free(pdf);
}

static void add_words(struct pdf_file *pdf, unsigned pages)
{
    for (unsigned i = 0; i < pages; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "A running head %u\nThe page %u has words that are read, and divi-\nded ones.\n"
                 "It has a second paragraph with some more of them, ten at least.\n%u",
                 i, i, i);
        pdf_text_page(pdf, text);
    }
}

/* Every file of the folder has a row, or is named with its reason. */
static void assert_all_answered(const struct ran *ran, const char *folder, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        char path[100], key[120];
        snprintf(path, sizeof path, "%s/%04u.pdf", folder, i);
        snprintf(key, sizeof key, "\"path\":\"%s\"", path);
        if (!strstr(ran->out, key) && !reported(ran->err, path))
            fail_msg("%s was passed over in silence", path);
    }
}

/* A stream of so many spaces, in a few hundred kilobytes. */
static uint8_t *deflated_spaces(size_t size, size_t *out_size)
{
    uint8_t *plain = malloc(size);
    uLongf packed_size = compressBound(size);
    uint8_t *packed = malloc(packed_size);
    assert_true(plain && packed);
    memset(plain, ' ', size);
    assert_int_equal(compress2(packed, &packed_size, plain, size, 9), Z_OK);
    free(plain);
    *out_size = packed_size;
    return packed;
}

static void keep_page_of(const char *path, uint32_t (*contents)(struct pdf_file *pdf))
{
    char page[300];
    struct pdf_file *pdf = pdf_new();
    snprintf(page, sizeof page,
             "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents %u 0 R"
             "/Resources<</Font<</F1 3 0 R>>/XObject<</X 4 0 R>>>>>>",
             contents(pdf));
    pdf->pages[pdf->page_count++] = pdf_object(pdf, page);
    keep_pdf(pdf, path);
}

static uint32_t unpack_much(struct pdf_file *pdf)
{
    size_t size;
    uint8_t *packed = deflated_spaces(BOMB_BYTES, &size);
    uint32_t stream = pdf_stream(pdf, "/Filter/FlateDecode", packed, size);
    free(packed);
    return stream;
}

static uint32_t nest_deeply(struct pdf_file *pdf)
{
    size_t size = 1 << 20;
    char *text = malloc(size);
    memset(text, '[', size);
    uint32_t stream = pdf_stream(pdf, NULL, text, size);
    free(text);
    return stream;
}

/* A form that draws itself twice. */
static uint32_t draw_itself(struct pdf_file *pdf)
{
    static const char twice[] = "/X Do /X Do";
    return pdf_stream(pdf,
                      "/Type/XObject/Subtype/Form/BBox[0 0 9 9]"
                      "/Resources<</XObject<</X 4 0 R>>>>",
                      twice, sizeof twice - 1);
}

static uint32_t claim_a_huge_picture(struct pdf_file *pdf)
{
    uint32_t picture = pdf_stream(pdf,
                                  "/Type/XObject/Subtype/Image/Width 60000/Height 60000"
                                  "/ColorSpace/DeviceRGB/BitsPerComponent 16",
                                  "abc", 3);
    assert_int_equal(picture, 4);
    return pdf_stream(pdf, NULL, "/X Do", 5);
}

static void make_bombs(void)
{
    make_folder("bombs");
    keep_page_of("bombs/0000.pdf", unpack_much);
    keep_page_of("bombs/0001.pdf", nest_deeply);
    keep_page_of("bombs/0002.pdf", draw_itself);
    keep_page_of("bombs/0003.pdf", claim_a_huge_picture);
    struct pdf_file *pdf = pdf_new();
    pdf_page(pdf, "BT /F1 9 Tf (some words) Tj ET", 30, "0 0 1e30 1e30", NULL);
    keep_pdf(pdf, "bombs/0004.pdf");
    pdf = pdf_new(); /* a list of pages in a list of pages, without end */
    pdf->pages[pdf->page_count++] =
        pdf_object(pdf, "<</Type/Pages/Count 9999999/Kids[4 0 R 4 0 R]>>");
    keep_pdf(pdf, "bombs/0005.pdf");
    pdf = pdf_new(); /* more pages than there are */
    pdf->pages[pdf->page_count++] = pdf_object(pdf, "<</Type/Pages/Count 2000000000/Kids[]>>");
    keep_pdf(pdf, "bombs/0006.pdf");
    pdf = pdf_new();
    add_words(pdf, 3);
    keep_pdf(pdf, "bombs/zz-good.pdf");
}

static void test_bombs(void **state)
{
    (void)state;
    make_bombs();
    double began = now_seconds();
    struct ran ran = doppel("hash", "--json", "--timeout", "20s", "bombs");
    assert_code(&ran, 3);
    assert_all_answered(&ran, "bombs", 7);
    assert_has(ran.out, "bombs/zz-good.pdf");
    assert_lacks(ran.err, "asked for the system call");
    print_message("%.1f s\n%s", now_seconds() - began, ran.err);
    ran_free(&ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_SANDBOX(test_bombs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
