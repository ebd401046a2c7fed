/* The normaliser against utf8proc on whole texts: every code point, soups, samples, borders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <utf8proc.h>

#include "core/cpu.h"
#include "normal_form.h"
#include "soup.h"
#include "text/text_internal.h"

/* ---- a text and its normal form ---- */

/* All blocks in a row; what the contract says of each is asserted. */
static struct soup read_blocks(struct normaliser *normaliser, const void *bytes, size_t size)
{
    struct soup all = {0};
    struct text_block block = {0};
    soup_add_string(&all, "");
    normaliser_begin(normaliser, bytes, size);
    while (normaliser_next(normaliser, &block)) {
        size_t start = 0;
        assert_true(block.size <= BLOCK_MAX_BYTES && block.words <= BLOCK_MAX_WORDS);
        for (size_t i = 0; i < block.words; i++) {
            assert_true(block.ends[i] > start);
            assert_true(block.ends[i] - start <= DOPPEL_TEXT_MAX_WORD_BYTES);
            assert_null(memchr(block.bytes + start, ' ', block.ends[i] - start));
            assert_int_equal(block.bytes[block.ends[i]], ' ');
            start = block.ends[i] + 1;
        }
        assert_true(block.words > 0 || block.last);
        assert_int_equal(block.size, start);
        soup_add(&all, block.bytes, block.size);
    }
    assert_true(block.last);
    assert_false(normaliser_next(normaliser, &block));
    return all;
}

static void show(const char *name, const char *bytes, size_t size, size_t at)
{
    size_t from = at > 24 ? at - 24 : 0, to = at + 24 < size ? at + 24 : size;
    print_error("%s: %zu bytes; at %zu:", name, size, at);
    for (size_t i = from; i < to; i++)
        print_error(" %s%02x", i == at ? ">" : "", (unsigned char)bytes[i]);
    print_error("\n");
}

static void check_with(struct normaliser *normaliser, const struct doppel_text_options *options,
                       const void *bytes, size_t size)
{
    struct normal_form want = normal_form(options, bytes, size);
    struct soup got = read_blocks(normaliser, bytes, size);
    size_t got_size = got.size ? got.size - 1 : 0, at = 0;
    while (at < got_size && at < want.size && got.bytes[at] == want.bytes[at])
        at++;
    if (at < got_size || at < want.size) {
        print_error("nfkc %d fold %d drop %d unit %d\n", options->nfkc, options->fold_case,
                    options->drop_punctuation, options->unit);
        show("want", want.bytes, want.size, at);
        show("got", got.bytes, got_size, at);
        show("text", bytes, size < 100 ? size : 100, 0);
        fail();
    }
    assert_int_equal(normaliser_bad_bytes(normaliser), want.bad_bytes);
    free(want.bytes);
    free(got.bytes);
}

/* An allocation of its own size: a sanitizer sees a step beyond it. */
static void check_bits(unsigned bits, const void *bytes, size_t size)
{
    struct doppel_text_options options = soup_options(bits);
    struct normaliser *normaliser;
    char *exact = malloc(size + !size);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    cpu_mask(soup_random(2) ? UINT32_MAX : soup_random(2) ? CPU_AVX2 : 0);
    assert_int_equal(normaliser_new(&options, &normaliser, NULL), DOPPEL_OK);
    check_with(normaliser, &options, exact, size);
    normaliser_free(normaliser);
    free(exact);
}

static void check_all(const void *bytes, size_t size)
{
    for (unsigned bits = 0; bits < SOUP_OPTIONS; bits++)
        check_bits(bits, bytes, size);
}

/* ---- every code point ---- */

static void add_in_company(struct soup *text, uint32_t point)
{
    static const uint32_t company[] = {0x301, 0x327, 0x345, 0x3099, 0x1161, 0x11a8, 0x200d, 0x338};
    soup_add_point(text, point);
    soup_add_string(text, " a");
    soup_add_point(text, point);
    soup_add_string(text, "b");
    for (size_t i = 0; i < sizeof company / sizeof *company; i++) {
        soup_add_point(text, point);
        soup_add_point(text, company[i]);
        soup_add_point(text, point);
        soup_add_point(text, i % 2 ? 'n' : 0x1100);
    }
}

static void test_every_code_point(void **unused)
{
    (void)unused;
    struct soup text = {0};
    for (uint32_t point = 0; point < 0x110000; point++) {
        if (point < 0xd800 || point > 0xdfff)
            add_in_company(&text, point);
        if (text.size > 1 << 20 || point == 0x10ffff) {
            check_bits(0, text.bytes, text.size);
            if (point < 0x40000)
                check_bits(1 + soup_random(SOUP_OPTIONS - 1), text.bytes, text.size);
            text.size = 0;
        }
    }
    free(text.bytes);
}

/* ---- soups ---- */

static void test_soups(void **unused)
{
    (void)unused;
    struct soup text = {0};
    for (int round = 0; round < 3000; round++) {
        uint32_t points = round % 100 == 0 ? 20000 : soup_random(120);
        text.size = 0;
        while (points--)
            soup_add_any(&text);
        check_bits(round % 3 ? 0 : soup_random(SOUP_OPTIONS), text.bytes, text.size);
    }
    free(text.bytes);
}

/* ---- texts of many languages ---- */

static const char *const samples[] = {
    "",
    " ",
    "\xef\xbb\xbf",
    "The quick brown fox\tjumps over the lazy dog's back; 3.14 times, e-mail: x_y@example.org!",
    "Fran\xc3\xa7ois a d\xc3\xa9\x6a\xc3\xa0 mang\xc3\xa9 l\xe2\x80\x99\xc5\x93uf \xc3\x80 "
    "NO\xc3\x8bL",
    "Stra\xc3\x9f\x65 GRO\xe1\xba\x9e \xc3\x84rger \xef\xac\x81nden \xe2\x84\xab \xc2\xbd",
    "\xd0\xa1\xd1\x8a\xd0\xb5\xd1\x88\xd1\x8c \xd0\x95\xd0\xa9\xd0\x81 "
    "\xd1\x8d\xd1\x82\xd0\xb8\xd1\x85",
    "\xce\x9f\xce\xb4\xcf\x8d\xcf\x83\xcf\x83\xce\xb5\xce\xb9\xce\xb1 "
    "\xce\xa3\xce\x9f\xce\xa6\xce\x9f\xce\xa3",
    "\xd8\xa7\xd9\x84\xd8\xb3\xd9\x84\xd8\xa7\xd9\x85 \xef\xb7\xba \xef\xbb\xbb\xd9\x8e\xd9\x91",
    "\xe0\xa4\x95\xe0\xa4\xbc\xe0\xa5\x8d\xe0\xa4\xb7\xe0\xa4\xbf \xe0\xa5\x98",
    "\xe5\x90\xbe\xe8\xbc\xa9\xe3\x81\xaf\xe7\x8c\xab\xe3\x81\xa7\xe3\x81\x82\xe3\x82\x8b\xe3\x80"
    "\x82"
    "\xef\xbd\xb6\xef\xbe\x9e\xef\xbd\xb7 cat\xe7\x8c\xab\x64og \xe3\x8c\x80",
    "\xed\x95\x9c\xea\xb5\xad\xec\x96\xb4 "
    "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab\xe1\x84\x80\xe1\x85\xb3\xe1\x86\xaf",
    "\xe0\xb8\xa0\xe0\xb8\xb2\xe0\xb8\xa9\xe0\xb8\xb2\xe0\xb9\x84\xe0\xb8\x97\xe0\xb8\xa2 "
    "\xe0\xb8\x99\xe0\xb9\x89\xe0\xb8\xb3",
    "ti\xe1\xba\xbfng Vi\xe1\xbb\x87t tie\xcc\x82\xcc\x81ng Vie\xcc\xa3\xcc\x82t",
    "a\xcc\x81\xcc\xa3 q\xcc\xa3\xcc\x87 \xcc\x81x <\xcc\xb8 a\xc2\xad\xcc\x81",
    "\xff\xfe\x61\x00",
    "x\xe2\x82y \xed\xa0\x80 \xc3",
};

static void test_samples(void **unused)
{
    (void)unused;
    struct soup all = {0};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        check_all(samples[i], strlen(samples[i]));
        soup_add_string(&all, samples[i]);
    }
    for (size_t i = 0; i < 2000; i++)
        soup_add_string(&all, samples[i * 7 % (sizeof samples / sizeof *samples)]);
    check_all(all.bytes, all.size);
    free(all.bytes);
}

/* Words written out by hand: the definition itself is right. */
static void test_vectors(void **unused)
{
    (void)unused;
    static const char *const vectors[][2] = {
        {"The QUICK, brown\n\nfox.", "the quick brown fox"},
        {"Stra\xc3\x9f\x65", "strasse"},
        {"\xef\xac\x81sh", "fish"},
        {"don't", "don t"},
        {"soft\xc2\xadhyphen", "softhyphen"},
        {"e\xcc\x81t\xc3\x89", "\xc3\xa9t\xc3\xa9"},
        {"\xe7\x8c\xab\xe3\x81\xa7 cat", "\xe7\x8c\xab \xe3\x81\xa7 cat"},
        {"a\xff\x62", "a b"},
        {"\xef\xbb\xbfx", "x"},
    };
    struct doppel_text_options options = doppel_text_options_default();
    struct normaliser *normaliser;
    assert_int_equal(normaliser_new(&options, &normaliser, NULL), DOPPEL_OK);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        struct soup got = read_blocks(normaliser, vectors[i][0], strlen(vectors[i][0]));
        got.bytes[got.size - 1] = '\0';
        assert_string_equal(got.bytes, vectors[i][1]);
        free(got.bytes);
    }
    normaliser_free(normaliser);
}

/* ---- borders of blocks ---- */

static void add_filler(struct soup *text, int kind, size_t size)
{
    while (text->size < size) {
        uint32_t point = kind == 0   ? 'a' + soup_random(26)
                         : kind == 1 ? 0x430 + soup_random(32)
                                     : 0x4e00 + soup_random(999);
        size_t left = size - text->size;
        bool space = left == 1 || (kind == 2 && left == 2) || soup_random(7) == 0;
        soup_add_point(text, space ? ' ' : left < 3 ? 'x' : point);
    }
}

static void test_borders(void **unused)
{
    (void)unused;
    struct soup text = {0};
    for (int kind = 0; kind < 3; kind++) {
        for (size_t before = 0; before < 40; before++) {
            for (int soup = 0; soup < 3; soup++) {
                text.size = 0;
                add_filler(&text, kind, BLOCK_BYTES - before);
                for (int i = 0; i < 24; i++)
                    soup_add_any(&text);
                add_filler(&text, (kind + soup) % 3, 2 * BLOCK_BYTES + 99);
                check_bits(soup ? soup_random(SOUP_OPTIONS) : 0, text.bytes, text.size);
            }
        }
    }
    free(text.bytes);
}

/* ---- long words, and sequences that never end ---- */

static void test_long(void **unused)
{
    (void)unused;
    static const char *const units[] = {"a",
                                        "\xd1\x8f",
                                        "e\xcc\x81",
                                        "\xcc\x81",
                                        "\xcc\x81\xcc\xa3",
                                        "\xef\xb7\xba",
                                        "\xe2\x80\x8d",
                                        "\xe1\x85\xa1",
                                        "\xf0\x90\x90\x80",
                                        "\xc2\xbd",
                                        ".",
                                        "\xe4\xb8\x80",
                                        "a\xcc\xb8<\xcc\xb8",
                                        "\xff"};
    struct soup text = {0};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        for (size_t count = 1; count <= 65536; count = count * 5 + soup_random(7)) {
            text.size = 0;
            soup_add_string(&text, count % 2 ? "x" : " y z");
            for (size_t k = 0; k < count; k++)
                soup_add_string(&text, units[i]);
            soup_add_string(&text, "b c");
            for (unsigned bits = 0; bits < SOUP_OPTIONS; bits += count < 9999 ? 1 : 5)
                check_bits(bits, text.bytes, text.size);
        }
    }
    for (size_t size = 1000; size < 1060; size++) {
        text.size = 0;
        for (size_t k = 0; k < 40; k++) {
            for (size_t j = 0; j < size + k; j++)
                soup_add_point(&text, k % 3 ? 'q' : 0xe9);
            soup_add_string(&text, k % 2 ? " " : " - 7 ");
        }
        check_bits(0, text.bytes, text.size);
    }
    free(text.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors), cmocka_unit_test(test_samples),
        cmocka_unit_test(test_borders), cmocka_unit_test(test_long),
        cmocka_unit_test(test_soups),   cmocka_unit_test(test_every_code_point),
    };
    return cmocka_run_group_tests_name("normalise", tests, NULL, NULL);
}
