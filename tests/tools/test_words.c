/* Words and values as people type them: nearest word, numbers, sizes, times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tools/args/nearest.h"
#include "core/text/values.h"

/* The definition, by recursion on the ends of the words. */
static size_t slow_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    if (!a_length || !b_length)
        return a_length + b_length;
    size_t differs = a[a_length - 1] != b[b_length - 1];
    size_t best = slow_distance(a, a_length - 1, b, b_length - 1) + differs;
    size_t left_out = slow_distance(a, a_length - 1, b, b_length) + 1;
    size_t put_in = slow_distance(a, a_length, b, b_length - 1) + 1;
    best = left_out < best ? left_out : best;
    best = put_in < best ? put_in : best;
    if (a_length > 1 && b_length > 1 && a[a_length - 1] == b[b_length - 2] &&
        a[a_length - 2] == b[b_length - 1]) {
        size_t swapped = slow_distance(a, a_length - 2, b, b_length - 2) + 1;
        best = swapped < best ? swapped : best;
    }
    return best;
}

static void random_word(char out[8])
{
    size_t length = (size_t)rand() % 7;
    for (size_t i = 0; i < length; i++)
        out[i] = (char)('a' + rand() % 3);
    out[length] = 0;
}

static void distance_equals_its_definition(void **state)
{
    (void)state;
    srand(1);
    for (int i = 0; i < 2000; i++) {
        char a[8], b[8];
        random_word(a);
        random_word(b);
        assert_int_equal(word_distance(a, b), slow_distance(a, strlen(a), b, strlen(b)));
        assert_int_equal(word_distance(a, b), word_distance(b, a));
    }
}

static void long_words_are_far(void **state)
{
    (void)state;
    char word[128];
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = 0;
    assert_true(word_distance(word, "a") == SIZE_MAX);
    assert_true(word_distance("a", word) == SIZE_MAX);
    assert_null(nearest_word(word, (const char *[]){"a"}, 1));
}

static void the_nearest_word_is_named(void **state)
{
    (void)state;
    const char *words[] = {"scan", "compare", NULL, "schemes", "show"};
    assert_string_equal(nearest_word("scna", words, 5), "scan");
    assert_string_equal(nearest_word("comapre", words, 5), "compare");
    assert_string_equal(nearest_word("scheme", words, 5), "schemes");
    assert_null(nearest_word("delete", words, 5));
    assert_null(nearest_word("", words, 5));
    assert_null(nearest_word("xy", (const char *[]){"ab"}, 1));
}

static void sizes_have_units(void **state)
{
    (void)state;
    const struct {
        const char *text;
        uint64_t step, value;
    } good[] = {
        {"0", 1024, 0},           {"800", 1024, 800},        {"64K", 1024, 65536},
        {"64k", 1024, 65536},     {"1.5M", 1024, 1572864},   {"2GiB", 1024, UINT64_C(2) << 30},
        {"10MB", 1000, 10000000}, {"500M", 1000, 500000000}, {"1T", 1000, UINT64_C(1000000000000)},
        {"7B", 1024, 7},          {".5K", 1024, 512},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t value = 1;
        assert_true(parse_size(good[i].text, good[i].step, &value));
        assert_true(value == good[i].value);
    }
    const char *bad[] = {"",    "K",   "-1",  "1X",  "1KK",      "1 K", "0x10",
                         "1e3", "nan", "1..", "1iB", "9999999T", "1Ki", "."};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t value = 42;
        assert_false(parse_size(bad[i], 1024, &value));
        assert_true(value == 42);
    }
}

static void times_have_units(void **state)
{
    (void)state;
    const struct {
        const char *text;
        uint32_t ms;
    } good[] = {{"0", 0},       {"90", 90000},     {"60s", 60000}, {"500ms", 500},
                {"2m", 120000}, {"1.5h", 5400000}, {"0.25", 250},  {"2min", 120000}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint32_t ms = 1;
        assert_true(parse_time(good[i].text, &ms));
        assert_int_equal(ms, good[i].ms);
    }
    const char *bad[] = {"", "s", "-1", "1d", "1 s", "1000h", "0.1ms", "1ss"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint32_t ms = 42;
        assert_false(parse_time(bad[i], &ms));
        assert_int_equal(ms, 42);
    }
}

static void numbers_stay_in_range(void **state)
{
    (void)state;
    uint64_t whole = 42;
    double number = 42;
    assert_true(parse_whole("18446744073709551615", 0, UINT64_MAX, &whole));
    assert_true(whole == UINT64_MAX);
    whole = 42;
    assert_false(parse_whole("18446744073709551616", 0, UINT64_MAX, &whole));
    assert_false(parse_whole("", 0, 9, &whole));
    assert_false(parse_whole("+1", 0, 9, &whole));
    assert_false(parse_whole("1.0", 0, 9, &whole));
    assert_false(parse_whole("10", 1, 9, &whole));
    assert_false(parse_whole("0", 1, 9, &whole));
    assert_true(whole == 42);
    assert_true(parse_number("0.75", 0, 1, &number));
    assert_true(number == 0.75);
    number = 42;
    assert_false(parse_number("1.01", 0, 1, &number));
    assert_false(parse_number("-0.5", 0, 1, &number));
    assert_false(parse_number("0,5", 0, 1, &number));
    assert_false(parse_number("inf", 0, 1, &number));
    assert_true(number == 42);
}

/* A program that uses the library may have a locale with a comma. */
static void numbers_have_a_point_in_each_locale(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ru_RU.UTF-8"};
    const char *found = NULL;
    double number = 0;
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]);
    const char point = *localeconv()->decimal_point;
    bool parsed = parse_number("2.5", 0, 9, &number), comma = parse_number("2,5", 0, 9, &number);
    const char after = *localeconv()->decimal_point;
    setlocale(LC_NUMERIC, "C");
    assert_true(parsed && !comma && number == 2.5);
    assert_int_equal(after, point); /* the locale is the program's still */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_equals_its_definition),
        cmocka_unit_test(long_words_are_far),
        cmocka_unit_test(the_nearest_word_is_named),
        cmocka_unit_test(sizes_have_units),
        cmocka_unit_test(times_have_units),
        cmocka_unit_test(numbers_stay_in_range),
        cmocka_unit_test(numbers_have_a_point_in_each_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
