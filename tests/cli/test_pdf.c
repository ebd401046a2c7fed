/* PDFs: their words are a text as any, without what the page adds; matches name pages; and what
 * cannot be read has its sentence. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "documents/pdf_file.h"
#include "scanned_page.h"

/* Words that no other page has. @param out room for 2000 bytes */
static void write_page(unsigned number, char *out)
{
    uint32_t random = number * 7919 + 17;
    char *at = out;
    for (unsigned line = 0; line < 12; line++) {
        for (unsigned word = 0; word < 8; word++) {
            for (unsigned letter = 0; letter < 6; letter++)
                *at++ = (char)('a' + next_random(&random) % 26);
            *at++ = ' ';
        }
        *at++ = '\n';
    }
    *at = '\0';
}

static void keep_pdf(struct pdf_file *pdf, const char *path)
{
    pdf_end(pdf);
    write_file(path, pdf->bytes, pdf->size);
    pdf_free(pdf);
}

/* The pages from `first` on, with a running head and numbers that count from 1. */
static void keep_pages(const char *path, unsigned first, unsigned count, const char *head)
{
    struct pdf_file *pdf = pdf_new();
    for (unsigned i = 0; i < count; i++) {
        char words[2000], page[2400];
        write_page(first + i, words);
        snprintf(page, sizeof page, "%s\n%s\n%u", head, words, i + 1);
        pdf_text_page(pdf, page);
    }
    keep_pdf(pdf, path);
}

static void keep_plain(const char *path, unsigned first, unsigned count)
{
    char text[20000] = "";
    for (unsigned i = 0; i < count; i++)
        write_page(first + i, text + strlen(text));
    write_file(path, text, strlen(text));
}

static void test_words_are_those_of_the_text(void **state)
{
    (void)state;
    make_folder("papers");
    keep_pages("papers/a.pdf", 1, 5, "Proceedings of Something");
    keep_pages("papers/b.pdf", 1, 5, "Another Publisher, 2021");
    keep_plain("papers/c.txt", 1, 5);
    keep_pages("papers/d.pdf", 90, 5, "Proceedings of Something");
    char *json = doppel_prints(0, "scan", "--json", "papers");
    assert_int_equal(count_lines(json, "{\"group\":"), 1);
    assert_has(json, "papers/a.pdf");
    assert_has(json, "papers/b.pdf");
    assert_has(json, "papers/c.txt");
    assert_lacks(json, "papers/d.pdf");
    free(json);
    json = doppel_prints(0, "compare", "--json", "papers/a.pdf", "papers/c.txt");
    assert_has(json, "\"verified\":\"exact\"");
    assert_has(json, "\"a_reading\":\"pdf\"");
    free(json);
}

static void test_pages_of_a_part(void **state)
{
    (void)state;
    keep_pages("part.pdf", 11, 3, "A Part");
    keep_pages("whole.pdf", 6, 12, "The Whole");
    char *json = doppel_prints(0, "compare", "--json", "part.pdf", "whole.pdf");
    assert_has(json, "\"relation\":\"contained\"");
    assert_has(json, "\"a_pages\":[1,3]");
    assert_has(json, "\"b_pages\":[6,8]");
    free(json);
}

static void assert_refused(const char *path, const char *reason)
{
    struct ran ran = doppel("hash", "--json", path);
    assert_code(&ran, 3);
    assert_has(ran.err, path);
    assert_has(ran.err, reason);
    ran_free(&ran);
}

static void test_what_has_no_words(void **state)
{
    (void)state;
    uint8_t grey[64] = {0};
    struct pdf_file *pdf = pdf_new();
    keep_pdf(pdf, "empty.pdf");
    assert_refused("empty.pdf", "the PDF has no pages");
    pdf = pdf_new();
    pdf_picture_page(pdf, grey, 8, 8);
    keep_pdf(pdf, "picture.pdf");
    assert_refused("picture.pdf",
                   "the PDF holds no text, and no page has enough on it to be compared");
    pdf = pdf_new();
    pdf_text_page(pdf, "Secret words that nobody may read but who knows the password of them all");
    pdf->trailer = "/ID[(0123456789abcdef)(0123456789abcdef)]/Encrypt<</Filter/Standard/V 1/R 2"
                   "/P -4/O(0123456789abcdef0123456789abcdef)"
                   "/U(0123456789abcdef0123456789abcdef)>>";
    keep_pdf(pdf, "secret.pdf");
    assert_refused("secret.pdf", "the PDF is encrypted: it can be read with its password alone");
    write_file("bent.pdf", "%PDF-1.4\nand nothing else", 25);
    assert_refused("bent.pdf", "the PDF is damaged");
}

/* Its table of objects is wrong, and there is no other: they are looked for one by one. */
static void test_broken_table(void **state)
{
    (void)state;
    size_t size;
    keep_pages("good.pdf", 30, 4, "A Head");
    char *bytes = read_file("good.pdf", &size);
    char *table = strstr(bytes + size - 3000, "xref");
    assert_non_null(table);
    memset(table, 'x', 200);
    write_file("bent.pdf", bytes, size);
    free(bytes);
    char *json = doppel_prints(0, "compare", "--json", "good.pdf", "bent.pdf");
    assert_has(json, "\"verified\":\"exact\"");
    free(json);
}

/* A fonts' table of characters that lies on no disk that a worker sees; forms; many pages. */
static void test_odd_ones_are_read(void **state)
{
    (void)state;
    static const char drawing[] = "BT /F2 9 Tf 60 700 Td <0001> Tj /F1 9 Tf 0 -20 Td "
                                  "(and ten words that are plain enough to be read by it) Tj ET";
    struct pdf_file *pdf = pdf_new();
    uint32_t font = pdf_object(pdf, "<</Type/Font/Subtype/CIDFontType0/BaseFont/Song"
                                    "/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)"
                                    "/Supplement 2>>>>");
    char text[200], resources[100];
    snprintf(text, sizeof text,
             "<</Type/Font/Subtype/Type0/BaseFont/Song/Encoding/GBK-EUC-H"
             "/DescendantFonts[%u 0 R]>>",
             font);
    snprintf(resources, sizeof resources, "/Font<</F1 3 0 R/F2 %u 0 R>>", pdf_object(pdf, text));
    pdf_page(pdf, drawing, sizeof drawing - 1, "0 0 595 842", resources);
    keep_pdf(pdf, "chinese.pdf");
    keep_pages("long.pdf", 1, 1500, "Long");
    char *json = doppel_prints(0, "hash", "--json", "chinese.pdf", "long.pdf");
    assert_has(json, "chinese.pdf");
    assert_has(json, "\"words\":144000");
    free(json);
}

/* ---- scanned pages ---- */

static const char prose[] =
    "The committee met on the third day of the month and heard the report of\n"
    "its secretary, who had been asked to look into the state of the bridges.\n"
    "Of the seven that cross the river, two were found to be sound, three want\n"
    "new planks before the winter, and the others should be closed at once.\n"
    "It was agreed that the cost of the repairs be divided among the parishes\n"
    "on either side, in proportion to the number of their carts and horses.\n"
    "The miller objected that his wagons use the old ford in dry summers, and\n"
    "was told that the ford would be deeper when the weir had been rebuilt.\n"
    "A letter from the engineer was read, in which he asks for his fee.\n";

/* A picture of a PDF's first page; false without the program that draws it. */
static bool draw_page(const char *path, uint8_t **out, uint32_t *width, uint32_t *height)
{
    char command[300];
    size_t size;
    snprintf(command, sizeof command, "pdftoppm -r 150 -gray -singlefile %s drawn 2>/dev/null",
             path);
    if (system(command) != 0)
        return false;
    char *file = read_file("drawn.pgm", &size);
    assert_int_equal(sscanf(file, "P5 %u %u 255", width, height), 2);
    size_t pixels = (size_t)*width * *height;
    *out = malloc(pixels);
    memcpy(*out, file + size - pixels, pixels);
    free(file);
    return true;
}

static void test_scanned_pages(void **state)
{
    (void)state;
    uint8_t *grey = NULL;
    uint32_t width = 0, height = 0;
    struct pdf_file *pdf = pdf_new();
    pdf_text_page(pdf, prose);
    keep_pdf(pdf, "born.pdf");
    if (!draw_page("born.pdf", &grey, &width, &height)) {
        print_message("not tested: pdftoppm is missing\n");
        skip();
    }
    pdf = pdf_new();
    pdf_picture_page(pdf, grey, width, height);
    keep_pdf(pdf, "scan.pdf");
    free(grey);
    struct ran ran = doppel("compare", "--json", "--ocr", "scan.pdf", "born.pdf");
    if (strstr(ran.err, "Tesseract") || strstr(ran.err, "is installed")) {
        print_message("not tested: %s", ran.err);
        ran_free(&ran);
        skip();
    }
    assert_code(&ran, 0);
    assert_has(ran.out, "\"relation\":\"same\"");
    ran_free(&ran);
    ran = doppel("hash", "--ocr", "--ocr-languages", "eng+nolanguage", "scan.pdf");
    assert_true(ran.code != 0);
    assert_has(ran.err, "the language 'nolanguage' of --ocr-languages is not installed");
    ran_free(&ran);
}

/* Scans of the pages from `first` on, of one template, and an empty one behind them. */
static void keep_scan(const char *path, unsigned first, unsigned count, double degrees)
{
    struct pdf_file *pdf = pdf_new();
    uint8_t *blank = drawn_page(0, 0, 0);
    for (unsigned i = 0; i < count; i++) {
        uint8_t *page = drawn_page(first + i, 40, 8);
        uint8_t *scan =
            scanned_page(page, degrees, (int)i % 5, first + i + (uint64_t)(int64_t)degrees);
        pdf_picture_page(pdf, scan, SCANNED_WIDTH, SCANNED_HEIGHT);
        free(scan);
        free(page);
    }
    pdf_picture_page(pdf, blank, SCANNED_WIDTH, SCANNED_HEIGHT);
    free(blank);
    keep_pdf(pdf, path);
}

/* Without a word, pages are compared as pictures. */
static void test_pages_without_text(void **state)
{
    (void)state;
    make_folder("faxes");
    keep_scan("faxes/a.pdf", 3, 3, 0);
    keep_scan("faxes/b.pdf", 3, 3, 1);
    keep_scan("faxes/other.pdf", 50, 3, 0);
    keep_scan("faxes/whole.pdf", 1, 8, -1);
    char *json = doppel_prints(0, "compare", "--json", "faxes/a.pdf", "faxes/b.pdf");
    assert_has(json, "\"relation\":\"same\",\"similarity\":1.0,\"verified\":\"alignment\"");
    assert_has(json, "\"segments\":[{\"a_pages\":[1,4],\"b_pages\":[1,4]}]");
    free(json);
    json = doppel_prints(0, "compare", "--json", "faxes/b.pdf", "faxes/whole.pdf");
    assert_has(json, "\"relation\":\"contained\"");
    assert_has(json, "\"segments\":[{\"a_pages\":[1,3],\"b_pages\":[3,5]}]");
    free(json);
    json = doppel_prints(1, "compare", "--json", "faxes/a.pdf", "faxes/other.pdf");
    assert_has(json, "\"match\":false");
    free(json);
    json = doppel_prints(0, "scan", "--json", "faxes");
    assert_has(json, "\"keep\":\"faxes/whole.pdf\"");
    assert_has(json, "faxes/a.pdf");
    assert_has(json, "faxes/b.pdf");
    assert_null(strstr(json, "other.pdf"));
    char *other = doppel_prints(0, "scan", "--json", "--no-cache", "--jobs", "1", "faxes");
    assert_string_equal(json, other);
    free(other);
    free(json);
    json = doppel_prints(0, "hash", "--json", "faxes/whole.pdf");
    assert_has(json, "\"words\":0,\"characters\":0,\"too_short\":false,\"drawn_pages\":9");
    free(json);
}

/* A library finds them by the keys of their pages, and decides about them. */
static void test_pages_in_a_library(void **state)
{
    (void)state;
    make_folder("post");
    keep_scan("post/a.pdf", 3, 3, 0);
    keep_scan("post/b.pdf", 3, 3, 1);
    keep_scan("post/part.pdf", 4, 1, -1);
    keep_scan("post/other.pdf", 50, 3, 0);
    free(doppel_prints(0, "ingest", "-L", "kept", "post/a.pdf", "post/other.pdf"));
    char *json = doppel_prints(0, "find", "-L", "kept", "--json", "post/b.pdf");
    assert_has(json, "\"id\":1,");
    assert_has(json, "\"a_pages\":[1,4],\"b_pages\":[1,4]");
    assert_null(strstr(json, "other.pdf"));
    free(json);
    json = doppel_prints(0, "ingest", "-L", "kept", "post/b.pdf", "post/part.pdf");
    assert_has(json, "\"decision\":\"duplicate\",\"of\":1");
    assert_has(json, "\"reason\":\"near\"");
    assert_has(json, "\"decision\":\"part\",\"of\":1");
    assert_has(json, "\"b_pages\":[2,2]");
    free(json);
    free(doppel_prints(0, "verify", "-L", "kept"));
}

/* Of many scanned pages as many as the limit are read, and that there are more is said. */
static void test_scanned_pages_are_bounded(void **state)
{
    (void)state;
    static const char drawing[] = "q 30 0 0 30 0 0 cm /P Do Q";
    static const uint8_t grey[] = {0};
    char resources[60];
    struct pdf_file *pdf = pdf_new();
    pdf_text_page(pdf, prose);
    snprintf(resources, sizeof resources, "/XObject<</P %u 0 R>>",
             pdf_stream(pdf,
                        "/Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray"
                        "/BitsPerComponent 8",
                        grey, 1));
    for (unsigned i = 0; i < 1003; i++)
        pdf_page(pdf, drawing, sizeof drawing - 1, "0 0 30 30", resources);
    keep_pdf(pdf, "many.pdf");
    struct ran ran = doppel("hash", "--json", "--ocr", "many.pdf");
    if (strstr(ran.err, "Tesseract") || strstr(ran.err, "is installed")) {
        print_message("not tested: %s", ran.err);
        ran_free(&ran);
        skip();
    }
    assert_code(&ran, 0);
    assert_has(ran.out, "the first 1000 scanned pages are read by OCR, and 3 more are not");
    ran_free(&ran);
}

/* Pictures are texts where texts alone are wanted, of any format. */
static void test_pictures_of_text(void **state)
{
    (void)state;
    struct pdf_file *pdf = pdf_new();
    make_folder("shots");
    pdf_text_page(pdf, prose);
    keep_pdf(pdf, "shots/born.pdf");
    if (system("cd shots && for format in png jpeg tiff; do "
               "pdftoppm -r 150 -gray -singlefile -$format born.pdf $format; done 2>/dev/null")) {
        print_message("not tested: pdftoppm is missing\n");
        skip();
    }
    struct ran ran = doppel("scan", "--json", "--ocr", "--kind", "text", "shots");
    if (strstr(ran.err, "Tesseract") || strstr(ran.err, "is installed")) {
        print_message("not tested: %s", ran.err);
        ran_free(&ran);
        skip();
    }
    assert_code(&ran, 0);
    assert_int_equal(count_lines(ran.out, "{\"group\":"), 1);
    assert_has(ran.out, "shots/born.pdf");
    assert_has(ran.out, "shots/png.png");
    assert_has(ran.out, "shots/jpeg.jpg");
    assert_has(ran.out, "shots/tiff.tif");
    ran_free(&ran);
    char *json = doppel_prints(0, "hash", "--json", "--ocr", "--kind", "text", "shots/png.png");
    assert_has(json, "\"kind\":\"text\"");
    assert_has(json, "\"reading\":\"picture\"");
    free(json);
    json = doppel_prints(0, "hash", "--json", "--ocr", "shots/png.png");
    assert_has(json, "\"kind\":\"image\"");
    free(json);
}

/* What was read without OCR is not what is known with it. */
static void test_the_cache_knows_the_languages(void **state)
{
    (void)state;
    uint8_t grey[64] = {0};
    struct pdf_file *pdf = pdf_new();
    pdf_text_page(pdf, prose);
    pdf_picture_page(pdf, grey, 8, 8);
    keep_pdf(pdf, "both.pdf");
    char *plain = doppel_prints(0, "hash", "--json", "both.pdf");
    struct ran ran = doppel("hash", "--json", "--ocr", "--preset", "web", "both.pdf");
    if (ran.code == 0)
        assert_string_equal(ran.out, plain); /* nothing is read on a black page */
    ran_free(&ran);
    free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(test_words_are_those_of_the_text),
        IN_SANDBOX(test_pages_of_a_part),
        IN_SANDBOX(test_what_has_no_words),
        IN_SANDBOX(test_broken_table),
        IN_SANDBOX(test_odd_ones_are_read),
        IN_SANDBOX(test_scanned_pages),
        IN_SANDBOX(test_pages_without_text),
        IN_SANDBOX(test_pages_in_a_library),
        IN_SANDBOX(test_scanned_pages_are_bounded),
        IN_SANDBOX(test_pictures_of_text),
        IN_SANDBOX(test_the_cache_knows_the_languages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
