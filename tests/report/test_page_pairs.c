/* Pages that are found in another text, wherever its pages end; and the words that differ on them,
 * where they are drawn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/bytes.h"
#include "report/page_pairs.h"

enum { PAGE_WORDS = 60, TEXT_ROOM = 1 << 17 };

/* The n-th word of all texts: no two are the same. */
static void add_word_number(char *out, unsigned number)
{
    sprintf(out + strlen(out), "w%uq ", number);
}

/* Words `first` to `end`, a page beginning at each number that `page_words` divides, moved by
 * `shift`. */
static char *text_of_words(unsigned first, unsigned end, unsigned shift)
{
    char *text = calloc(1, TEXT_ROOM);
    for (unsigned i = first; i < end; i++) {
        if (i > first && (i + shift) % PAGE_WORDS == 0)
            strcat(text, "\f");
        add_word_number(text, i);
    }
    return text;
}

static void replace_word(char *text, unsigned number, const char *with)
{
    char word[16] = "";
    add_word_number(word, number);
    char *at = strstr(text, word);
    assert_non_null(at);
    memcpy(at, with, strlen(with));
}

/* A part is found at its pages, also where a page holds words of two. */
static void a_part_is_found_at_its_pages(void **state)
{
    (void)state;
    for (unsigned shift = 0; shift < PAGE_WORDS; shift += 17) {
        char *whole = text_of_words(0, 20 * PAGE_WORDS, 0);
        char *part = text_of_words(6 * PAGE_WORDS, 10 * PAGE_WORDS, shift);
        struct page_pairs pairs;
        assert_true(page_pairs_find(whole, part, &pairs));
        assert_true(pairs.items.count >= 4);
        for (size_t i = 0; i < pairs.items.count; i++) {
            const struct page_pair *pair = &pairs.items.items[i];
            assert_int_equal(pair->differing, 0);
            assert_in_range(pair->a + 1, 6 + pair->b, 7 + pair->b);
        }
        char *matched = matched_pages_of(whole, part);
        assert_non_null(strstr(matched, "w360q"));
        assert_null(strstr(matched, "w299q"));
        assert_null(strstr(matched, "w660q"));
        free(matched);
        page_pairs_free(&pairs);
        free(whole);
        free(part);
    }
}

static void other_texts_share_no_page(void **state)
{
    (void)state;
    char *a = text_of_words(0, 5 * PAGE_WORDS, 0), *b = text_of_words(5000, 5300, 0);
    struct page_pairs pairs;
    assert_true(page_pairs_find(a, b, &pairs));
    assert_int_equal(pairs.items.count, 0);
    page_pairs_free(&pairs);
    char *matched = matched_pages_of(a, b);
    assert_string_equal(matched, a);
    free(matched);
    assert_true(page_pairs_find("", "\f\f", &pairs));
    assert_int_equal(pairs.items.count, 0);
    assert_int_equal(pairs.b.pages.count, 3);
    page_pairs_free(&pairs);
    free(a);
    free(b);
}

/* Each word is at a place that its number tells. */
static struct drawn_page draw_words(const char *words, uint8_t *boxes)
{
    struct drawn_page drawn = {.boxes = boxes, .words = words};
    for (const char *at = words; *at; at++)
        drawn.count += *at == '\n';
    for (size_t i = 0; i < drawn.count; i++)
        for (size_t j = 0; j < 4; j++)
            put_u16(boxes + 8 * i + 2 * j, (uint16_t)((i * 10 + j) * 65535 / 1000));
    return drawn;
}

/* The words that were changed are marked, and no others: also behind a head that is in no text, and
 * a word that is divided. */
static void words_that_differ_are_marked(void **state)
{
    (void)state;
    char *a = text_of_words(0, 3 * PAGE_WORDS, 0), *b = text_of_words(0, 3 * PAGE_WORDS, 0);
    replace_word(b, 65, "else");
    replace_word(b, 90, "word");
    struct page_pairs pairs;
    assert_true(page_pairs_find(a, b, &pairs));
    assert_int_equal(pairs.items.count, 3);
    assert_int_equal(pairs.items.items[0].differing, 0);
    assert_int_equal(pairs.items.items[1].differing, 4);
    char words[4096] = "Running\nhead\n";
    for (unsigned i = 60; i < 120; i++) {
        if (i == 70)
            strcat(words, "w7-\n0q"); /* divided */
        else if (i == 65 || i == 90)
            strcat(words, i == 65 ? "else" : "word");
        else
            sprintf(words + strlen(words), "w%uq", i);
        strcat(words, "\n");
    }
    uint8_t boxes[100 * 8];
    const struct drawn_page drawn = draw_words(words, boxes);
    size_t count;
    bool *differ = page_words_differ(&pairs.b, 1, &pairs.a, 1, &count);
    assert_int_equal(count, PAGE_WORDS);
    struct doppel_json json = {0};
    page_marks_to_json(&json, NULL, &pairs.b, 1, differ, &drawn);
    /* word 65 is drawn as the 8th, word 90 as the 34th, for one is divided */
    assert_string_equal(json.bytes, "[[70,71,72,73],[330,331,332,333]]");
    doppel_json_free(&json);
    free(differ);
    page_pairs_free(&pairs);
    free(a);
    free(b);
}

/* What a worker says of a page is not believed. */
static void nonsense_marks_nothing(void **state)
{
    (void)state;
    char *a = text_of_words(0, PAGE_WORDS, 0), *b = text_of_words(0, PAGE_WORDS, 0);
    replace_word(b, 30, "else");
    struct page_pairs pairs;
    assert_true(page_pairs_find(a, b, &pairs));
    size_t count;
    bool *differ = page_words_differ(&pairs.b, 0, &pairs.a, 0, &count);
    static const char *const said[] = {"", "\n", "else", "else\n\n\n", "\n\n\nelse\n"};
    uint8_t boxes[8 * 8] = {0};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        const struct drawn_page drawn = {.boxes = boxes, .words = said[i], .count = i % 4};
        struct doppel_json json = {0};
        page_marks_to_json(&json, NULL, &pairs.b, 0, differ, &drawn);
        assert_false(json.failed);
        doppel_json_free(&json);
    }
    free(differ);
    page_pairs_free(&pairs);
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_is_found_at_its_pages),
        cmocka_unit_test(other_texts_share_no_page),
        cmocka_unit_test(words_that_differ_are_marked),
        cmocka_unit_test(nonsense_marks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
