/* Chunks: where sentences end, and what holds for the chunks of any text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/text.h>

#include "normal_form.h"
#include "soup.h"
#include "text/sentences.h"

/* ---- where a text can be cut ---- */

/* Each text is its own answer: | where a sentence ends, ¶ where a paragraph does. */
static const char *const marked_texts[] = {
    "One is here. |Two is there! |Is three? |Yes.",
    "He said \"Stop.\" |Then (as always.) |He went on... |And on.",
    "In e.g. this, at 3.14 or www.example.org/a?b=c nothing ends. |Now it does.",
    "J. R. Smith came. |Mr. |Jones, too.",
    "A line that\nis wrapped. |So it\ngoes on",
    "Title¶Text. |More¶End",
    "これは文です。|次の文です！|「はい。」|終わり",
    "你好吗？|我很好。|再见",
    "यह एक वाक्य है। |यह दूसरा है॥ |बस",
    "هل هذا سؤال؟ |نعم هو كذلك۔ |تم",
    "Սա մեկն է։ |Սա երկուսն է",
    "ይህ አንድ ነው። |ይህ ሁለት ነው",
    "นี่คือประโยค |นี่คืออีกประโยค",
    "នេះជាប្រយោគ។ |នេះ",
    "ဒါက ဝါကျ။ |ဒါ",
    "Wait\xe2\x80\xa6 |What?! |No",
    "Это конец. |Это начало, т. е. не конец",
};

/* Write the text with the marks that the walk gives. */
static void mark_ends(const char *text, size_t size, struct soup *out)
{
    struct letter_walk walk;
    size_t from = 0;
    for (bool more = letters_begin(&walk, text, size, 0, 0); more; more = letters_next(&walk)) {
        const enum cut cut = walk.at ? letters_cut(&walk) : CUT_POINT;
        if (cut < CUT_SENTENCE)
            continue;
        soup_add(out, text + from, walk.at - from);
        soup_add_string(out, cut == CUT_SENTENCE ? "|" : "¶");
        from = walk.at;
    }
    soup_add(out, text + from, size - from);
    soup_add(out, "", 1);
}

/* What stands for a paragraph's end is an empty line. */
static void unmark(const char *marked, struct soup *out, struct soup *wanted)
{
    for (const char *at = marked; *at; at++) {
        if (*at == '|') {
            soup_add(wanted, at, 1);
        } else if (strncmp(at, "¶", 2) == 0) {
            soup_add_string(out, "\n\n");
            soup_add_string(wanted, "\n\n¶");
            at++;
        } else {
            soup_add(out, at, 1);
            soup_add(wanted, at, 1);
        }
    }
    soup_add(wanted, "", 1);
}

static void sentences_end_in_all_scripts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof marked_texts / sizeof *marked_texts; i++) {
        struct soup text = {0}, wanted = {0}, got = {0};
        unmark(marked_texts[i], &text, &wanted);
        mark_ends(text.bytes, text.size, &got);
        assert_string_equal(got.bytes, wanted.bytes);
        free(text.bytes);
        free(wanted.bytes);
        free(got.bytes);
    }
}

static void what_else_can_be_cut(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t at;
        enum cut cut;
    } cases[] = {
        {"a b", 2, CUT_SPACE},           {"a\nb", 2, CUT_LINE},
        {"a\r\nb", 3, CUT_LINE},         {"a\r\n\r\nb", 5, CUT_PARAGRAPH},
        {"a\fb", 2, CUT_PARAGRAPH},      {"ab", 1, CUT_POINT},
        {"e\xcc\x81", 1, CUT_MARK},      {"a\xe2\x80\xa9z", 4, CUT_PARAGRAPH},
        {"a\xe2\x80\xa8z", 4, CUT_LINE}, {"\xe4\xb8\xad\xe6\x96\x87", 3, CUT_POINT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct letter_walk walk;
        assert_true(letters_begin(&walk, cases[i].text, strlen(cases[i].text), 0, 0));
        assert_true(letters_next(&walk));
        assert_int_equal(walk.at, cases[i].at);
        assert_int_equal(letters_cut(&walk), cases[i].cut);
    }
}

/* ---- what holds for all chunks ---- */

struct chunk_list {
    struct doppel_text_chunk *items;
    size_t count;
};

static struct chunk_list chunks_of(const char *text, size_t size,
                                   const struct doppel_text_chunk_options *options)
{
    struct chunk_list list = {calloc(size + 1, sizeof *list.items), 0};
    struct doppel_text_chunker chunker;
    assert_non_null(list.items);
    assert_int_equal(doppel_text_chunker_begin(text, size, options, &chunker, NULL), DOPPEL_OK);
    while (list.count <= size && doppel_text_chunker_next(&chunker, &list.items[list.count]))
        list.count++;
    return list;
}

/* Code points by another decoder than the room's. */
static void check_places(const char *text, const struct doppel_text_chunk *chunk)
{
    uint64_t points = 0;
    for (size_t at = chunk->byte_start; at < chunk->byte_end;) {
        at += code_point_size(text + at, chunk->byte_end - at);
        points++;
    }
    assert_int_equal(points, chunk->end - chunk->start);
}

static void check_chunks(const char *text, size_t size,
                         const struct doppel_text_chunk_options *options)
{
    struct chunk_list list = chunks_of(text, size, options), again = chunks_of(text, size, options);
    uint64_t at = 0, character = 0;
    assert_int_equal(list.count, again.count);
    for (size_t i = 0; i < list.count; i++) {
        const struct doppel_text_chunk *chunk = &list.items[i];
        assert_memory_equal(chunk, &again.items[i], sizeof *chunk);
        assert_int_equal(chunk->byte_start, at);
        assert_int_equal(chunk->start, character);
        assert_true(chunk->byte_end > at);
        assert_true(chunk->letters <= options->most);
        assert_true(chunk->letters >= options->least || list.count == 1);
        check_places(text, chunk);
        at = chunk->byte_end;
        character = chunk->end;
    }
    assert_int_equal(at, size);
    free(list.items);
    free(again.items);
}

static struct doppel_text_chunk_options any_options(void)
{
    const uint32_t least = 8 + soup_random(60), most = 3 * least + soup_random(200);
    return (struct doppel_text_chunk_options){
        .least = least, .aim = least + soup_random(most - least + 1), .most = most};
}

static void chunks_cover_any_text(void **state)
{
    (void)state;
    static const char *const parts[] = {"\n\n", ". ", "word ",    "\n",
                                        "!",    "。", "\xff",     "\xe4\xb8",
                                        "Aa",   " ",  "\xcc\x81", "\xe0\xb8\x81"};
    for (int round = 0; round < 3000; round++) {
        struct soup soup = {0};
        const uint32_t kinds = 1 + soup_random(sizeof parts / sizeof *parts);
        for (uint32_t count = soup_random(600); count; count--) {
            if (soup_random(3) == 0)
                soup_add_any(&soup);
            else
                soup_add_string(&soup, parts[soup_random(kinds)]);
        }
        char *exact = malloc(soup.size + !soup.size); /* a sanitizer sees a step beyond it */
        assert_non_null(exact);
        if (soup.size)
            memcpy(exact, soup.bytes, soup.size);
        const struct doppel_text_chunk_options options = any_options();
        check_chunks(exact, soup.size, &options);
        free(exact);
        free(soup.bytes);
    }
}

static void chunks_of_one_kind_of_character(void **state)
{
    (void)state;
    static const char *const kinds[] = {
        "x", " ", "\n", ".", "\xcc\x81", "\xe4\xb8\xad", "\xff", "\xe0\xb8\x81", "\xe2\x80\x8d",
        "x "};
    const struct doppel_text_chunk_options options = {.least = 8, .aim = 16, .most = 24};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (uint32_t count = 1; count < 120; count++) {
            struct soup soup = {0};
            for (uint32_t j = 0; j < count; j++)
                soup_add_string(&soup, kinds[i]);
            check_chunks(soup.bytes, soup.size, &options);
            free(soup.bytes);
        }
    }
}

/* ---- ends that content defines ---- */

/* Sentences of words by chance, now and then a paragraph. */
static void add_prose(struct soup *soup, uint32_t sentences)
{
    for (; sentences; sentences--) {
        for (uint32_t words = 6 + soup_random(14); words; words--) {
            for (uint32_t letters = 2 + soup_random(8); letters; letters--) {
                const char letter = (char)('a' + soup_random(26));
                soup_add(soup, &letter, 1);
            }
            soup_add_string(soup, words > 1 ? " " : ". ");
        }
        if (soup_random(8) == 0)
            soup_add_string(soup, "\n\n");
        soup_add_string(soup, "The ");
    }
}

static bool has_chunk(const struct chunk_list *list, const char *text, const char *bytes,
                      size_t size)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct doppel_text_chunk *chunk = &list->items[i];
        if (chunk->byte_end - chunk->byte_start == size &&
            memcmp(text + chunk->byte_start, bytes, size) == 0)
            return true;
    }
    return false;
}

static void an_insertion_changes_few_chunks(void **state)
{
    (void)state;
    size_t changed = 0, rounds = 60;
    for (size_t round = 0; round < rounds; round++) {
        struct soup text = {0}, longer = {0};
        add_prose(&text, 300);
        add_prose(&longer, 1 + soup_random(10));
        soup_add(&longer, text.bytes, text.size);
        struct chunk_list before = chunks_of(text.bytes, text.size, NULL);
        struct chunk_list after = chunks_of(longer.bytes, longer.size, NULL);
        assert_true(before.count > 20);
        for (size_t i = 0; i < before.count; i++) {
            const struct doppel_text_chunk *chunk = &before.items[i];
            changed += !has_chunk(&after, longer.bytes, text.bytes + chunk->byte_start,
                                  chunk->byte_end - chunk->byte_start);
        }
        free(before.items);
        free(after.items);
        free(text.bytes);
        free(longer.bytes);
    }
    assert_true(changed < 4 * rounds); /* of more than 20 each */
}

static void ends_are_those_of_paragraphs_and_sentences(void **state)
{
    (void)state;
    struct soup text = {0};
    add_prose(&text, 2000);
    struct chunk_list list = chunks_of(text.bytes, text.size, NULL);
    uint64_t letters = 0;
    for (size_t i = 0; i + 1 < list.count; i++) {
        const char *end = text.bytes + list.items[i].byte_end;
        assert_memory_equal(end[-1] == '\n' ? end - 4 : end - 2, ". ", 2);
        assert_memory_equal(end, "The ", 4);
        letters += list.items[i].letters;
    }
    assert_in_range(letters / (list.count - 1), 300, 600); /* aims at 400 */
    free(list.items);
    free(text.bytes);
}

static void a_long_sentence_is_cut_at_spaces(void **state)
{
    (void)state;
    struct soup text = {0};
    for (int i = 0; i < 2000; i++)
        soup_add_string(&text, "some words ");
    struct chunk_list list = chunks_of(text.bytes, text.size, NULL);
    assert_true(list.count > 10);
    for (size_t i = 0; i < list.count; i++)
        assert_int_equal(text.bytes[list.items[i].byte_end - 1], ' ');
    free(list.items);
    free(text.bytes);
}

/* ---- options ---- */

static void options_are_checked(void **state)
{
    (void)state;
    static const struct doppel_text_chunk_options bad[] = {
        {7, 20, 40}, {100, 200, 299}, {100, 99, 300}, {100, 301, 300}, {8, 20, UINT32_MAX},
    };
    struct doppel_text_chunker chunker;
    struct doppel_error error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(doppel_text_chunker_begin("a", 1, &bad[i], &chunker, &error),
                         DOPPEL_E_ARGUMENT);
    struct chunk_list none = chunks_of("", 0, NULL), blank = chunks_of(" \n ", 3, NULL);
    assert_int_equal(none.count, 0);
    assert_int_equal(blank.count, 1);
    assert_int_equal(blank.items[0].letters, 0);
    assert_int_equal(blank.items[0].end, 3);
    free(none.items);
    free(blank.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_end_in_all_scripts),
        cmocka_unit_test(what_else_can_be_cut),
        cmocka_unit_test(chunks_cover_any_text),
        cmocka_unit_test(chunks_of_one_kind_of_character),
        cmocka_unit_test(an_insertion_changes_few_chunks),
        cmocka_unit_test(ends_are_those_of_paragraphs_and_sentences),
        cmocka_unit_test(a_long_sentence_is_cut_at_spaces),
        cmocka_unit_test(options_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
