/* PDFs: their words are a text as any, without what the page adds; and what
 * cannot be read has its sentence. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "documents/pdf_file.h"

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
    assert_refused("picture.pdf", "the PDF holds no text, at most pictures of it");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(test_words_are_those_of_the_text), IN_SANDBOX(test_pages_of_a_part),
        IN_SANDBOX(test_what_has_no_words),           IN_SANDBOX(test_broken_table),
        IN_SANDBOX(test_odd_ones_are_read),

    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
