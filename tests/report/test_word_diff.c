/* Differences of words: shortest, by a slow table of common subsequences; and what a report shows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "report/word_diff.h"

/* Words gone and new at least, by the whole table. */
static uint32_t slow_edits(const struct diff_words *a, const struct diff_words *b)
{
    size_t n = a->items.count, m = b->items.count;
    uint32_t *table = calloc((n + 1) * (m + 1), sizeof *table);
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            const struct word *x = &a->items.items[i - 1], *y = &b->items.items[j - 1];
            bool same = x->size == y->size && memcmp(x->at, y->at, x->size) == 0;
            uint32_t up = table[(i - 1) * (m + 1) + j], left = table[i * (m + 1) + j - 1];
            table[i * (m + 1) + j] =
                same ? table[(i - 1) * (m + 1) + j - 1] + 1 : (up > left ? up : left);
        }
    uint32_t common = table[n * (m + 1) + m];
    free(table);
    return (uint32_t)(n + m) - 2 * common;
}

/* The runs, one after the other, are both texts. @return words gone and new */
static uint32_t check_runs(const struct diff_words *a, const struct diff_words *b,
                           const struct word_runs *runs)
{
    size_t at = 0, bt = 0;
    uint32_t edits = 0;
    for (size_t i = 0; i < runs->items.count; i++) {
        const struct word_run *run = &runs->items.items[i];
        assert_true(run->count > 0);
        assert_true(i == 0 || run->edit != runs->items.items[i - 1].edit);
        if (run->edit != WORDS_NEW)
            assert_int_equal(run->a, at);
        if (run->edit != WORDS_GONE)
            assert_int_equal(run->b, bt);
        for (uint32_t k = 0; run->edit == WORDS_SAME && k < run->count; k++) {
            const struct word *x = &a->items.items[at + k], *y = &b->items.items[bt + k];
            assert_int_equal(x->size, y->size);
            assert_memory_equal(x->at, y->at, x->size);
        }
        at += run->edit != WORDS_NEW ? run->count : 0;
        bt += run->edit != WORDS_GONE ? run->count : 0;
        edits += run->edit != WORDS_SAME ? run->count : 0;
    }
    assert_int_equal(at, a->items.count);
    assert_int_equal(bt, b->items.count);
    return edits;
}

static uint32_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

/* Up to 40 words of an alphabet, some of them kept from another text. */
static void draw(uint64_t *seed, uint32_t alphabet, const char *other, char *out, size_t size)
{
    size_t used = 0, count = next(seed) % 40;
    out[0] = 0;
    for (size_t i = 0; i < count && used + 8 < size; i++) {
        if (other && *other && next(seed) % 4) {
            size_t length = strcspn(other, " ");
            used += (size_t)snprintf(out + used, size - used, "%.*s ", (int)length, other);
            other += length + (other[length] != 0);
            other += next(seed) % 8 == 0 ? strcspn(other, " ") : 0;
        } else {
            used += (size_t)snprintf(out + used, size - used, "w%u ", next(seed) % alphabet);
        }
    }
}

static void differences_are_shortest(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int round = 0; round < 3000; round++) {
        char a[400], b[400];
        uint32_t alphabet = 1 + next(&seed) % 12;
        draw(&seed, alphabet, NULL, a, sizeof a);
        draw(&seed, alphabet, round % 3 ? a : NULL, b, sizeof b);
        struct diff_words words[2];
        struct word_runs runs = {0};
        assert_true(words_of(a, b, &words[0], &words[1]));
        uint32_t wanted = slow_edits(&words[0], &words[1]);
        assert_int_equal(word_diff(&words[0], &words[1], 100, &runs), DOPPEL_OK);
        assert_int_equal(check_runs(&words[0], &words[1], &runs), wanted);
        runs.items.count = 0;
        /* The limit is exact. */
        assert_int_equal(word_diff(&words[0], &words[1], wanted, &runs), DOPPEL_OK);
        runs.items.count = 0;
        if (wanted)
            assert_int_equal(word_diff(&words[0], &words[1], wanted - 1, &runs), DOPPEL_E_LIMIT);
        assert_int_equal(runs.items.count, 0);
        array_free(&runs.items);
        array_free(&words[0].items);
        array_free(&words[1].items);
    }
}

static void assert_words(const char *text, const char *wanted)
{
    struct diff_words words[2];
    char joined[200] = "";
    assert_true(words_of(text, "", &words[0], &words[1]));
    for (size_t i = 0; i < words[0].items.count; i++) {
        const struct word *word = &words[0].items.items[i];
        snprintf(joined + strlen(joined), sizeof joined - strlen(joined), "%s%.*s", i ? "|" : "",
                 (int)word->size, word->at);
    }
    assert_string_equal(joined, wanted);
    array_free(&words[0].items);
    array_free(&words[1].items);
}

static void words_are_what_lies_between_white_space(void **state)
{
    (void)state;
    assert_words("", "");
    assert_words(" \n\t ", "");
    assert_words("one", "one");
    assert_words("  one,\r\n two\xc2\xa0three ", "one,|two|three");
    assert_words("\xe6\x97\xa5\xe6\x9c\xac is Japan", "\xe6\x97\xa5|\xe6\x9c\xac|is|Japan");
    assert_words("a\xe6\x97\xa5"
                 "b",
                 "a|\xe6\x97\xa5|b");
    assert_words("bad\xff\xfe bytes", "bad\xff\xfe|bytes");
}

static void assert_diff(const char *a, const char *b, const char *wanted)
{
    struct doppel_json json = {0};
    assert_int_equal(word_diff_to_json(&json, NULL, a, b, false), strcmp(wanted, "null") != 0);
    assert_false(json.failed);
    assert_string_equal(json.bytes, wanted);
    doppel_json_free(&json);
}

static json_t *diff_of(const char *a, const char *b)
{
    struct doppel_json json = {0};
    assert_true(word_diff_to_json(&json, NULL, a, b, false));
    json_t *parsed = json_loadb(json.bytes, json.size, 0, NULL);
    assert_non_null(parsed);
    doppel_json_free(&json);
    return parsed;
}

static void a_report_shows_what_differs(void **state)
{
    (void)state;
    assert_diff("a b  c", "a x  c d",
                "[[\"=\",\"a\"],[\"-\",\"b\"],[\"+\",\"x\"],[\"=\",\"c\"],[\"+\",\"d\"]]");
    assert_diff("", "", "[]");
    assert_diff("", "n\xff", "[[\"+\",\"n\xef\xbf\xbd\"]]");
    struct doppel_json json = {0};
    word_excerpt_to_json(&json, NULL, "some words");
    assert_string_equal(json.bytes, "[[\"=\",\"some words\"]]");
    doppel_json_free(&json);
}

/* Characters count, not bytes; places of words in a script without spaces, too. */
static void passages_are_marked(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wanted;
        struct word_range passages[2];
        size_t count;
    } cases[] = {
        {"one two three", "[[\"=\",\"one two three\"]]", {{0, 0}}, 0},
        {"one two three", "[[\"…\",1],[\"≈\",\"two\"],[\"=\",\"three\"]]", {{4, 7}}, 1},
        {"öne twö three", "[[\"…\",1],[\"≈\",\"twö\"],[\"=\",\"three\"]]", {{4, 7}}, 1},
        {"one two three",
         "[[\"≈\",\"one\"],[\"=\",\"two\"],[\"≈\",\"three\"]]",
         {{8, 13}, {0, 3}},
         2},
        {"one two three", "[[\"=\",\"one two three\"]]", {{90, 99}, {7, 3}}, 2},
        {"水火木", "[[\"…\",1],[\"≈\",\"火\"],[\"=\",\"木\"]]", {{1, 2}}, 1},
        {"", "[]", {{0, UINT64_MAX}}, 1},
        {"a", "[[\"≈\",\"a\"]]", {{0, UINT64_MAX}}, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct doppel_json json = {0};
        word_passages_to_json(&json, NULL, cases[i].text, cases[i].passages, cases[i].count);
        assert_false(json.failed);
        assert_string_equal(json.bytes, cases[i].wanted);
        doppel_json_free(&json);
    }
}

static char *many(size_t count, const char *last, size_t step)
{
    char *text = malloc(count * 12 + 100);
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        used += (size_t)sprintf(text + used, "%s%zu ", step && i % step == 0 ? "x" : "w", i);
    strcpy(text + used, last);
    return text;
}

static void long_stretches_that_are_the_same_are_left_out(void **state)
{
    (void)state;
    char *a = many(1000, "", 0), *b = many(1000, "end", 0);
    json_t *json = diff_of(a, b);
    assert_int_equal(json_array_size(json), 3);
    assert_string_equal(json_string_value(json_array_get(json_array_get(json, 0), 0)), "…");
    assert_int_equal(json_integer_value(json_array_get(json_array_get(json, 0), 1)), 988);
    assert_string_equal(json_string_value(json_array_get(json_array_get(json, 1), 1)),
                        "w988 w989 w990 w991 w992 w993 w994 w995 w996 w997 w998 w999");
    assert_string_equal(json_string_value(json_array_get(json_array_get(json, 2), 1)), "end");
    json_decref(json);
    free(a);
    free(b);
}

static void what_differs_too_much_is_not_compared(void **state)
{
    (void)state;
    char *a = many(3000, "", 0), *b = many(3000, "", 2), *c = many(3000, "", 5);
    assert_diff(a, b, "null");
    json_t *json = diff_of(a, c); /* 1 200 edits: told, as far as there is room */
    assert_true(json_array_size(json) > 100);
    char *text = json_dumps(json, 0);
    assert_true(strlen(text) < 60000);
    assert_string_equal(
        json_string_value(json_array_get(json_array_get(json, json_array_size(json) - 1), 0)), "…");
    free(text);
    json_decref(json);
    free(a);
    free(b);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_are_shortest),
        cmocka_unit_test(words_are_what_lies_between_white_space),
        cmocka_unit_test(a_report_shows_what_differs),
        cmocka_unit_test(passages_are_marked),
        cmocka_unit_test(long_stretches_that_are_the_same_are_left_out),
        cmocka_unit_test(what_differs_too_much_is_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
