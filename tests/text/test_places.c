/* Words with places: the words of normaliser_next, and where in the text they come from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/cpu.h"
#include "normal_form.h"
#include "soup.h"
#include "text/text_internal.h"

struct place {
    size_t word, size; /* in `words` */
    uint32_t start, end;
};

struct places {
    struct soup words;
    struct place *list;
    size_t count, stop_at;
};

static bool add_place(void *context, const uint8_t *word, size_t size, uint32_t start, uint32_t end)
{
    struct places *places = context;
    places->list = realloc(places->list, (places->count + 1) * sizeof *places->list);
    assert_non_null(places->list);
    places->list[places->count++] = (struct place){places->words.size, size, start, end};
    soup_add(&places->words, word, size);
    soup_add(&places->words, " ", 1);
    return places->count != places->stop_at;
}

static struct normaliser *make(const struct doppel_text_options *options)
{
    struct normaliser *normaliser;
    cpu_mask(soup_random(4) ? UINT32_MAX : 0);
    assert_int_equal(normaliser_new(options, &normaliser, NULL), DOPPEL_OK);
    return normaliser;
}

/* Where each code point begins, and the end. */
static size_t *find_points(const char *bytes, size_t size)
{
    size_t *at = malloc((size + 1) * sizeof *at), count = 0, i = 0;
    assert_non_null(at);
    for (; i < size; i += code_point_size(bytes + i, size - i))
        at[count++] = i;
    at[count] = size;
    return at;
}

static bool has_word(const struct normal_form *form, const char *word, size_t size)
{
    for (size_t at = 0; at + size <= form->size; at++) {
        bool begins = at == 0 || form->bytes[at - 1] == ' ';
        bool ends = at + size == form->size || form->bytes[at + size] == ' ';
        if (begins && ends && memcmp(form->bytes + at, word, size) == 0)
            return true;
    }
    return false;
}

/* The source of a word has that word; if it is the only one, it has no more than the word's (but
 * what a mark is put upon, be it a space). */
static void check_sources(const struct doppel_text_options *options, const char *bytes, size_t size,
                          const struct places *places)
{
    size_t *at = find_points(bytes, size);
    for (size_t i = 0; i < places->count; i++) {
        const struct place *place = &places->list[i];
        const char *word = places->words.bytes + place->word;
        size_t start = at[place->start], end = at[place->end];
        assert_true(place->start < place->end);
        assert_true(i == 0 || place->start >= place->start);
        struct normal_form form = normal_form(options, bytes + start, end - start);
        assert_true(has_word(&form, word, place->size));
        if (form.words == 1 && (unsigned char)bytes[at[place->start + 1]] < 0x80) {
            struct normal_form less =
                normal_form(options, bytes + at[place->start + 1], end - at[place->start + 1]);
            assert_false(has_word(&less, word, place->size));
            free(less.bytes);
        }
        free(form.bytes);
    }
    free(at);
}

static void check(unsigned bits, const char *bytes, size_t size)
{
    struct doppel_text_options options = soup_options(bits);
    struct normaliser *normaliser = make(&options);
    struct normal_form want = normal_form(&options, bytes, size);
    struct places places = {0};
    assert_int_equal(normaliser_places(normaliser, bytes, size, add_place, &places, NULL),
                     DOPPEL_OK);
    assert_int_equal(places.count, want.words);
    assert_int_equal(normaliser_bad_bytes(normaliser), want.bad_bytes);
    if (want.words)
        assert_memory_equal(places.words.bytes, want.bytes, want.size);
    check_sources(&options, bytes, size, &places);
    free(places.list);
    free(places.words.bytes);
    free(want.bytes);
    normaliser_free(normaliser);
}

static void test_vectors(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        uint32_t start, end; /* of its last word */
    } vectors[] = {
        {"one two", 4, 7},
        {"\xef\xbb\xbfx", 1, 2},
        {"a, e\xcc\x81t\xc3\x89!", 3, 7},
        {"\xff\xff z", 3, 4},
        {"\xe7\x8c\xab\xe3\x81\xa7", 1, 2},
        {"x \xef\xb7\xba.", 2, 3}, /* four words of one code point */
    };
    struct doppel_text_options options = doppel_text_options_default();
    struct normaliser *normaliser = make(&options);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        struct places places = {0};
        const char *text = vectors[i].text;
        assert_int_equal(
            normaliser_places(normaliser, text, strlen(text), add_place, &places, NULL), DOPPEL_OK);
        assert_int_equal(places.list[places.count - 1].start, vectors[i].start);
        assert_int_equal(places.list[places.count - 1].end, vectors[i].end);
        free(places.list);
        free(places.words.bytes);
    }
    normaliser_free(normaliser);
}

static void test_soups(void **unused)
{
    (void)unused;
    struct soup text = {0};
    for (int round = 0; round < 600; round++) {
        text.size = 0;
        for (uint32_t points = soup_random(round % 50 ? 100 : 3000); points; points--)
            soup_add_any(&text);
        check(round % 3 ? 0 : soup_random(SOUP_OPTIONS), text.bytes ? text.bytes : "", text.size);
    }
    text.size = 0;
    for (int i = 0; i < 3000; i++)
        soup_add_point(&text, i % 1030 ? 0x1f00 : ' ');
    check(0, text.bytes, text.size);
    free(text.bytes);
}

/* English, with a character from afar here and there: ASCII may be taken many bytes at a time. */
static void test_ascii(void **unused)
{
    (void)unused;
    struct soup text = {0};
    for (int round = 0; round < 100; round++) {
        text.size = 0;
        for (uint32_t i = soup_random(2000); i; i--) {
            if (soup_random(100) == 0)
                soup_add_any(&text);
            else
                soup_add_point(&text, soup_random(6) ? 'A' + soup_random(58) : ' ');
        }
        check(round % 3 ? 0 : soup_random(SOUP_OPTIONS), text.bytes ? text.bytes : "", text.size);
    }
    for (size_t before = 0; before < 4; before++) {
        text.size = 0;
        while (text.size < BLOCK_BYTES - before)
            soup_add_point(&text, soup_random(6) ? 'a' + soup_random(26) : ' ');
        soup_add_string(&text, "e\xcc\x81 e\xcc\x81");
        check(0, text.bytes, text.size);
    }
    free(text.bytes);
}

static void test_stop(void **unused)
{
    (void)unused;
    struct doppel_text_options options = doppel_text_options_default();
    struct normaliser *normaliser = make(&options);
    struct places places = {.stop_at = 2};
    assert_int_equal(normaliser_places(normaliser, "a b c d", 7, add_place, &places, NULL),
                     DOPPEL_E_CANCELLED);
    assert_int_equal(places.count, 2);
    free(places.list);
    free(places.words.bytes);
    normaliser_free(normaliser);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_soups),
        cmocka_unit_test(test_ascii),
        cmocka_unit_test(test_stop),
    };
    return cmocka_run_group_tests_name("places", tests, NULL, NULL);
}
