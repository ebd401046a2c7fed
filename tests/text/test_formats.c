/* Plain text of HTML, Markdown and UTF-16. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "text/text_internal.h"

typedef enum doppel_status converter(const void *bytes, size_t size, struct plain_text *out,
                                     struct doppel_error *error);

static void expect(converter *convert, const char *source, const char *want)
{
    size_t size = strlen(source);
    char *exact = malloc(size + !size); /* a sanitizer sees a step beyond it */
    struct plain_text got = {0};
    assert_non_null(exact);
    memcpy(exact, source, size);
    assert_int_equal(convert(exact, size, &got, NULL), DOPPEL_OK);
    if (got.size != strlen(want) || (got.size && memcmp(got.bytes, want, got.size) != 0))
        fail_msg("%s: \"%.*s\", not \"%s\"", source, (int)got.size, got.bytes, want);
    free(got.bytes);
    free(exact);
}

static void test_html(void **unused)
{
    (void)unused;
    static const char *const cases[][2] = {
        {"", ""},
        {"just text", "just text"},
        {"<!DOCTYPE html><html><head><title>t</title><meta charset=x></head><body>b</body></html>",
         "b"},
        {"<p>one<p>two", "one\n\ntwo"},
        {"<div>a<div>b</div>c</div>d", "a\n\nb\n\nc\n\nd"},
        {"a<br>b<br/>c", "a\nb\nc"},
        {"w<b>or</b>d <i> x </i>\n\t y", "word x y"},
        {"<ul><li>a<li>b</ul>c", "a\nb\n\nc"},
        {"<table><tr><td>a<td>b<tr><td>c</table>d", "a\nb\nc\n\nd"},
        {"<pre>  a\n   b</pre>c  d", "  a\n   b\n\nc d"},
        {"a<script>if (a < b) x('<p>');</script>b<style>p{}</style>c", "abc"},
        {"<nav>n</nav><header>h</header>text<aside>a</aside><footer>f</footer>", "text"},
        {"x<noscript>n</noscript><template><p>t</p></template><iframe>i</iframe>y", "xy"},
        {"&lt;&amp;&eacute;&#233;&#xe9;&nbsp;&hellip;&notanentity;&",
         "<&\xc3\xa9\xc3\xa9\xc3\xa9\xc2\xa0\xe2\x80\xa6\xc2\xac"
         "anentity;&"},
        {"<!-- c -->a<!-- - -- -->b", "ab"},
        {"<custom-tag>a</custom-tag>b", "ab"},
        {"<p>unclosed <b>bold <i>both</p> next", "unclosed bold both\n\nnext"},
        {"a\xff\x62", "a\xef\xbf\xbd\x62"},
        {"<svg><title>s</title><text>v</text></svg>", "v"},
        {"<p a=\"", ""},
        {"<<p>>", "<\n\n>"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(html_to_text, cases[i][0], cases[i][1]);
}

/* 60 words, of which every eighth is given. */
static char *words_with(const char *odd, const char *const *plain, size_t plain_count)
{
    char *text = calloc(1, 4096);
    assert_non_null(text);
    for (size_t i = 0; i < 64; i++) {
        if (odd && i % 8 == 7) /* each another, by its end */
            sprintf(text + strlen(text), "%s%c ", odd, (char)('a' + i / 8));
        else
            sprintf(text + strlen(text), "%s ", plain[i % plain_count]);
    }
    return text;
}

static void test_ocr(void **unused)
{
    (void)unused;
    static const char *const english[] = {"the", "letters", "(of)", "words,", "that", "stand."};
    static const char *const code[] = {"x->y", "f(a,", "b);", "{", "}", "int"};
    static const char *const russian[] = {"\xd0\xb4\xd0\xbe\xd0\xbc"};
    static const struct {
        const char *odd;
        const char *const *plain;
        size_t count;
        bool want;
    } cases[] = {
        {NULL, english, 6, false},     {"qzxv", english, 6, true},  {"th1s", english, 6, true},
        {"wo|d", english, 6, true},    {"read", english, 6, false}, {"foo_b", english, 6, false},
        {"x86_64", english, 6, false}, {"NASA", english, 6, false}, {"qzxv", code, 6, false},
        {"qzxv", russian, 1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = words_with(cases[i].odd, cases[i].plain, cases[i].count);
        size_t size = strlen(text);
        char *exact = malloc(size);
        assert_non_null(exact);
        memcpy(exact, text, size);
        if (doppel_text_looks_like_ocr(exact, size) != cases[i].want)
            fail_msg("%zu: %s", i, text);
        assert_false(doppel_text_looks_like_ocr(exact, size / 4)); /* too few words */
        free(exact);
        free(text);
    }
    assert_false(doppel_text_looks_like_ocr("", 0));
}

static void test_markdown(void **unused)
{
    (void)unused;
    static const char *const cases[][2] = {
        {"", ""},
        {"# Head\ntext *em* **st** `co`\n\nnext", "Head\n\ntext em st co\n\nnext"},
        {"[name](http://x.y/z \"t\") ![alt](i.png) [ref][r]\n\n[r]: http://q", "name alt ref"},
        {"- a\n- b\n\n1. c", "a\nb\n\nc"},
        {"```c\nint  x;\n  y;\n```\nz", "int  x;\n  y;\n\n\nz"},
        {"| a | b |\n|---|---|\n| c | d |\n\ne", "a\nb\n\nc\nd\n\ne"},
        {"x <b>y</b> &amp; &eacute; &#65; &nosuch; z", "x y & \xc3\xa9 A &nosuch; z"},
        {"a\n<div>\nhtml\n</div>\n\nb", "a\n\nb"},
        {"soft\nbreak  \nhard", "soft break\nhard"},
        {"> quote\n> more\n\n---\nend", "quote more\n\nend"},
        {"~~gone~~ <http://a.b>", "gone http://a.b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(markdown_to_text, cases[i][0], cases[i][1]);
}

/* ---- markup that is built to hurt ---- */

static enum doppel_status repeat(converter *convert, const char *unit, size_t count)
{
    size_t length = strlen(unit);
    char *source = malloc(length * count);
    struct plain_text got = {0};
    struct doppel_error error = {0};
    assert_non_null(source);
    for (size_t i = 0; i < count; i++)
        memcpy(source + i * length, unit, length);
    enum doppel_status status = convert(source, length * count, &got, &error);
    assert_int_equal(status != DOPPEL_OK, error.message[0] != '\0');
    free(got.bytes);
    free(source);
    return status;
}

static void test_deep(void **unused)
{
    (void)unused;
    static const char *const units[] = {"<div>",   "<b>", "<ul><li>", "<svg>", "<a b=",   "</p>",
                                        "<table>", "&",   "<i><p>",   "<!--",  "<select>"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        assert_int_equal(repeat(html_to_text, units[i], 2000), DOPPEL_OK);
        enum doppel_status status = repeat(html_to_text, units[i], 20000);
        assert_true(status == DOPPEL_OK || status == DOPPEL_E_LIMIT);
    }
    assert_int_equal(repeat(html_to_text, "<div>", 100000), DOPPEL_E_LIMIT);
}

/* Formatting that is made anew in each paragraph: nodes grow with the square of the size. */
static void test_memory(void **unused)
{
    (void)unused;
    struct plain_text source = {.bytes = malloc(1 << 20)}, got = {0};
    struct doppel_error error = {0};
    assert_non_null(source.bytes);
    source.size = (size_t)sprintf(source.bytes, "<div>");
    for (int i = 0; i < 4000; i++)
        source.size += (size_t)sprintf(source.bytes + source.size, "<b a%d>", i);
    source.size += (size_t)sprintf(source.bytes + source.size, "</div>");
    for (int i = 0; i < 4000; i++)
        source.size += (size_t)sprintf(source.bytes + source.size, "<p>x</p>");
    assert_int_equal(html_to_text(source.bytes, source.size, &got, &error), DOPPEL_E_LIMIT);
    free(got.bytes);
    free(source.bytes);
}

static void test_deep_markdown(void **unused)
{
    (void)unused;
    static const char *const units[] = {"> ",  "* ",           "[",   "![", "**a ", "`a",
                                        "<a ", "(http://a.b/", "&x;", "|a", "<!--", "_a__"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        assert_int_equal(repeat(markdown_to_text, units[i], 20000), DOPPEL_OK);
}

/* What lies behind the text is none of it: md4c takes a ')' there for the end of a link. */
static void test_markdown_end(void **unused)
{
    (void)unused;
    static const char behind[] = {')', '(', ']', '"', '>', '\n', 'a', '\0'};
    for (size_t i = 0; i < sizeof behind; i++) {
        struct plain_text got = {0};
        struct doppel_error error;
        char source[] = "a [](-\0 b";
        source[6] = behind[i];
        assert_int_equal(markdown_to_text(source, 6, &got, &error), DOPPEL_OK);
        assert_int_equal(got.size, 6);
        assert_memory_equal(got.bytes, "a [](-", 6);
        free(got.bytes);
    }
}

/* ---- what it is ---- */

static void test_looks_like_html(void **unused)
{
    (void)unused;
    static const char *const pages[] = {"<!doctype HTML>",
                                        "\xef\xbb\xbf \n<html lang=en>",
                                        "<p>",
                                        "<!-- x -->",
                                        "\t<A href=x>",
                                        "<!DOCTYPE  html>",
                                        "<!doctype\n\thtml\nPUBLIC 'x'>",
                                        "<?xml version='1.0'?><!DOCTYPE html>",
                                        "<?xml version='1.0'?>\n<html xmlns='x'>",
                                        "A line of text.\n<!DOCTYPE html><p>x",
                                        "From: x\nTo: y\n\n  <html\nlang=en><p>x</html>\n",
                                        "one\ntwo\n<!doctype  HTML>\n<p>x</HTML >\n<!-- y -->"};
    static const char *const others[] = {"",
                                         "<",
                                         "<p",
                                         "<pre>",
                                         "<html",
                                         "text <p>",
                                         "# <p>",
                                         "<?xml version='1.0'?>",
                                         "<article>",
                                         "<!DOCTYPEhtml>",
                                         "<!DOCTYPE svg>",
                                         "<?xml ?><svg>",
                                         "<?xml <!DOCTYPE html>",
                                         "text <!DOCTYPE html>",
                                         "text\n<p>x</p>",
                                         "text\n<!DOCTYPE book>",
                                         "<html"};
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        assert_true(looks_like_html(pages[i], strlen(pages[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(looks_like_html(others[i], strlen(others[i])));
    assert_false(looks_like_html("\0<p>", 4));
}

/* A text that shows a page goes on behind it, or comes to it late. */
static void test_pages_that_are_shown(void **unused)
{
    (void)unused;
    char text[4000];
    for (unsigned behind = 0; behind < 600; behind += 25) {
        snprintf(text, sizeof text, "How a page begins:\n<html><p>x</html>\n%*s", (int)behind, "");
        assert_int_equal(looks_like_html(text, strlen(text)), behind <= 250);
    }
    for (unsigned before = 1; before < 3000; before += 10) {
        memset(text, 'x', before);
        snprintf(text + before, sizeof text - before, "\n<html><p>x</html>\n");
        assert_int_equal(looks_like_html(text, strlen(text)), before + 1 <= 1445);
    }
}

static void test_utf16(void **unused)
{
    (void)unused;
    static const struct {
        size_t size;
        const char *bytes, *want;
    } cases[] = {
        {2, "\xff\xfe", ""},
        {6, "\xff\xfe\x41\0\xe9\0", "A\xc3\xa9"},
        {6, "\xfe\xff\0\x41\0\xe9", "A\xc3\xa9"},
        {8, "\xff\xfe\x2d\x4e\x3d\xd8\x00\xde", "\xe4\xb8\xad\xf0\x9f\x98\x80"},
        {6, "\xfe\xff\xd8\x3d\0\x41",
         "\xff"
         "A"},
        {6, "\xfe\xff\xde\x00\0\x41",
         "\xff"
         "A"},
        {5, "\xff\xfe\x41\0\x42", "A\xff"},
        {4, "\xfe\xff\xd8\x3d", "\xff"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plain_text got = {0};
        assert_true(is_utf16(cases[i].bytes, cases[i].size));
        assert_int_equal(utf16_to_text(cases[i].bytes, cases[i].size, &got, NULL), DOPPEL_OK);
        assert_int_equal(got.size, strlen(cases[i].want));
        assert_memory_equal(got.bytes, cases[i].want, got.size);
        free(got.bytes);
    }
    assert_false(is_utf16("\xff", 1) || is_utf16("\xfe\xfe", 2) || is_utf16("", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_html),
        cmocka_unit_test(test_ocr),
        cmocka_unit_test(test_markdown),
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_deep_markdown),
        cmocka_unit_test(test_markdown_end),
        cmocka_unit_test(test_looks_like_html),
        cmocka_unit_test(test_pages_that_are_shown),
        cmocka_unit_test(test_utf16),
    };
    return cmocka_run_group_tests_name("formats", tests, NULL, NULL);
}
