/* Typeset pages to plain text: what must go, and what must stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "documents/pages.h"

enum { MOST_PAGES = 12 };

/* @param out where the pages begin, as many. @return the text, given (free) */
static char *join(const char *const *texts, size_t count, size_t out_starts[MOST_PAGES])
{
    struct typeset_pages pages = {0};
    struct document_writer writer = {.max_bytes = 1 << 20};
    for (size_t i = 0; i < count; i++)
        assert_int_equal(typeset_pages_add(&pages, texts[i], strlen(texts[i]), NULL), DOPPEL_OK);
    assert_int_equal(typeset_pages_join(&pages, &writer, NULL), DOPPEL_OK);
    assert_int_equal(writer.pages.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_true(writer.pages.items[i] <= writer.size);
        assert_true(!i || writer.pages.items[i] >= writer.pages.items[i - 1]);
        out_starts[i] = writer.pages.items[i];
    }
    char *text = strndup(writer.size ? writer.text : "", writer.size);
    typeset_pages_free(&pages);
    writer_free(&writer);
    return text;
}

static void assert_joined(const char *const *texts, size_t count, const char *wanted)
{
    size_t starts[MOST_PAGES];
    char *text = join(texts, count, starts);
    assert_string_equal(text, wanted);
    free(text);
}

static void test_divided_words(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"an applica-\ntion of it", "an application of it"},
        {"an applica\xe2\x80\x90\ntion", "an application"},
        {"an applica\xc2\xad\ntion", "an application"},
        {"na\xc3\xafv-\net\xc3\xa9", "na\xc3\xafvet\xc3\xa9"},
        {"well known and\nwell-\nknown", "well known and\nwell-known"}, /* both are words */
        {"in to\nand into and in-\nto", "in to\nand into and into"},    /* but this is one, too */
        {"of SHA-\n256 and", "of SHA-\n256 and"},
        {"from Aix-\nLa Chapelle", "from Aix-\nLa Chapelle"},
        {"a list:\n- one\n- two", "a list:\n- one\n- two"},
        {"1990-\nlater", "1990-\nlater"},
        {"  blanks  \n\n\n around\t\n", "blanks\naround"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_joined(&cases[i][0], 1, cases[i][1]);
}

static void test_heads_and_numbers_go(void **state)
{
    (void)state;
    static const char *const pages[] = {
        "The Book 1\nIt begins\nwith a page.\nPrinted in 2020\n",
        "2 Its Chapter\nIt goes on with a divi-\nPrinted in 2020\n",
        "THE BOOK  3\nded word and\n17 of 18\nare left.\nPrinted in 2020",
        "4 Its Chapter\nmore of it\nPrinted in 2020\n",
        "The Book 5\nand more\nand more\nand more\nand more\nand more\nPrinted in 2020\n",
        "6 Its Chapter\nIt ends.\nPrinted in 2020\n",
    };
    static const char *const begin[] = {"It begins",  "It goes on", "ded word",
                                        "more of it", "and more",   "It ends."};
    size_t starts[MOST_PAGES];
    char *text = join(pages, 6, starts);
    assert_string_equal(text, "It begins\nwith a page.\nIt goes on with a divided word and\n"
                              "17 of 18\nare left.\nmore of it\nand more\nand more\nand more\n"
                              "and more\nand more\nIt ends.");
    for (size_t i = 0; i < 6; i++)
        assert_memory_equal(text + starts[i], begin[i], strlen(begin[i]));
    free(text);
}

static void test_page_numbers_count(void **state)
{
    (void)state;
    static const char *const counted[] = {"one\n7", "two\n8", "three\n9", "ix\nfour\n10"};
    static const char *const scores[] = {"one\n7", "two\n3", "three\n12", "four\n90"};
    assert_joined(counted, 4, "one\ntwo\nthree\nix\nfour");
    assert_joined(scores, 4, "one\n7\ntwo\n3\nthree\n12\nfour\n90");
}

/* What stands at an edge of many pages, but between as often, is text. */
static void test_repeated_text_stays(void **state)
{
    (void)state;
    static const char page[] = "Returns:\na\nb\nc\nReturns:\nd\ne\nf\nReturns:\ng\nh\ni\nj\nk\nl";
    static const char *const pages[] = {page, page, "Returns:\nm"};
    size_t starts[MOST_PAGES];
    char *text = join(pages, 3, starts);
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, "Returns:")); at++)
        count++;
    assert_int_equal(count, 7);
    free(text);
}

/* Pages of a form: all lines are at an edge, and all are alike. */
static void test_forms_stay(void **state)
{
    (void)state;
    static const char *const pages[] = {"Form 1\nPaid 7 of 9", "Form 2\nPaid 8 of 9",
                                        "Form 3\nPaid 9 of 9"};
    assert_joined(pages, 3, "Form 1\nPaid 7 of 9\nForm 2\nPaid 8 of 9\nForm 3\nPaid 9 of 9");
}

static void test_empty_pages_count(void **state)
{
    (void)state;
    static const char *const pages[] = {"", "text", "", "", "more", ""};
    static const size_t wanted[] = {0, 0, 4, 4, 5, 9};
    size_t starts[MOST_PAGES];
    char *text = join(pages, 6, starts);
    assert_string_equal(text, "text\nmore");
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(starts[i], wanted[i]);
    free(text);
}

/* Whatever bytes come, no more words come out, and nothing is read that is not there. */
static void test_any_bytes(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "-\n", "a",    "\xe2\x80\x90\n", "\n\n", "\xc2\xad\n", "\xff\xfe", " ",     "7",
        "iv",  "word", "\xe2\x80",       "-",    "A",          "\f",       "\n7\n", "\xc3\xa4\n",
        "\t"};
    uint32_t seed = 3;
    for (unsigned round = 0; round < 3000; round++) {
        char texts[MOST_PAGES][200] = {{0}};
        const char *pages[MOST_PAGES];
        size_t starts[MOST_PAGES], size = 0;
        for (unsigned i = 0; i < MOST_PAGES; i++) {
            for (unsigned k = 0; k < 20; k++) {
                seed = seed * 1664525 + 1013904223;
                strcat(texts[i], parts[(seed >> 16) % (sizeof parts / sizeof *parts)]);
            }
            pages[i] = texts[i];
            size += strlen(texts[i]);
        }
        char *text = join(pages, MOST_PAGES, starts);
        assert_true(strlen(text) <= size + MOST_PAGES);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_divided_words),      cmocka_unit_test(test_heads_and_numbers_go),
        cmocka_unit_test(test_page_numbers_count), cmocka_unit_test(test_repeated_text_stays),
        cmocka_unit_test(test_empty_pages_count),  cmocka_unit_test(test_forms_stay),
        cmocka_unit_test(test_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
