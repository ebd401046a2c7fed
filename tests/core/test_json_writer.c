/* The JSON writer, against jansson: it reads what was written, and would have written the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/text/base64.h"
#include "core/json_writer.h"
#include "core/text/printable.h"

enum { ROUNDS = 20000, FLAGS = JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15) };

/* What is in `json` is what jansson would write of `value`, which is taken. */
static void assert_written(struct doppel_json *json, json_t *value)
{
    char *expected = json_dumps(value, FLAGS);
    assert_non_null(expected);
    assert_int_equal(doppel_json_status(json, NULL), DOPPEL_OK);
    assert_string_equal(json->bytes, expected);
    assert_int_equal(json->size, strlen(expected));
    free(expected);
    json_decref(value);
    doppel_json_clear(json);
}

static void test_values_nest(void **state)
{
    (void)state;
    struct doppel_json json = {0};
    doppel_json_object_begin(&json, NULL);
    doppel_json_text(&json, "te\"xt", "a");
    doppel_json_text(&json, "absent", NULL);
    doppel_json_integer(&json, "most", INT64_MAX);
    doppel_json_signed(&json, "least", INT64_MIN);
    doppel_json_object_begin(&json, "empty");
    doppel_json_object_end(&json);
    doppel_json_array_begin(&json, "list");
    doppel_json_array_begin(&json, NULL);
    doppel_json_array_end(&json);
    doppel_json_boolean(&json, NULL, true);
    doppel_json_boolean(&json, NULL, false);
    doppel_json_object_begin(&json, NULL);
    doppel_json_null(&json, "null");
    doppel_json_object_end(&json);
    doppel_json_text(&json, NULL, "{");
    doppel_json_raw(&json, NULL, "[1,2]", 5);
    doppel_json_number(&json, NULL, 0.5, 3);
    doppel_json_array_end(&json);
    doppel_json_rate(&json, "rate", 1e-6);
    doppel_json_object_end(&json);
    assert_written(&json, json_pack("{s:s, s:I, s:I, s:{}, s:[[], b, b, {s:n}, s, [i, i], f], s:f}",
                                    "te\"xt", "a", "most", (json_int_t)INT64_MAX, "least",
                                    (json_int_t)INT64_MIN, "empty", "list", 1, 0, "null", "{", 1, 2,
                                    0.5, "rate", 1e-6));
    doppel_json_free(&json);
}

static void test_lines_have_no_commas(void **state)
{
    (void)state;
    struct doppel_json json = {0};
    for (int i = 0; i < 2; i++) {
        doppel_json_object_begin(&json, NULL);
        doppel_json_object_end(&json);
        doppel_json_end_line(&json);
    }
    assert_string_equal(json.bytes, "{}\n{}\n");
    doppel_json_free(&json);
}

static void test_lists_of_strings_and_codes(void **state)
{
    (void)state;
    static const char *const names[] = {"one", "t\"wo"};
    struct doppel_code codes[] = {{{UINT64_C(0x8f00000000000001)}}, {{7}}};
    uint32_t positions[] = {0, 1500};
    const struct doppel_fingerprint fingerprint = {
        .code_bits = 64, .count = 2, .codes = codes, .positions = positions};
    struct doppel_json json = {0};
    doppel_json_object_begin(&json, NULL);
    doppel_json_texts(&json, "none", names, 0);
    doppel_json_texts(&json, "names", names, 2);
    doppel_json_codes(&json, "codes", &fingerprint);
    doppel_json_object_end(&json);
    assert_written(&json, json_pack("{s:[s,s],s:[[s,i],[s,i]]}", "names", "one", "t\"wo", "codes",
                                    "8f00000000000001", 0, "0000000000000007", 1500));
    doppel_json_free(&json);
}

static void test_paths(void **state)
{
    (void)state;
    struct doppel_json json = {0};
    doppel_json_object_begin(&json, NULL);
    doppel_json_path(&json, "path", "d\xff\xe4\xb8.");
    doppel_json_path(&json, "of", "\xc3\xa4");
    doppel_json_object_end(&json);
    assert_written(&json,
                   json_pack("{s:s, s:s, s:s}", "path", "d\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd.",
                             "path_base64", "ZP/kuC4=", "of", "\xc3\xa4"));
    doppel_json_free(&json);
}

static void make_utf8(char *out)
{
    static const char *const some[] = {"\"",
                                       "\\",
                                       "/",
                                       "a",
                                       "\x01",
                                       "\n",
                                       "\t",
                                       "\x7f",
                                       "\xc2\x80",
                                       "\xe2\x80\xa8",
                                       "\b",
                                       "\f",
                                       "\r",
                                       "\xed\x9f\xbf",
                                       "\xef\xbf\xbf",
                                       "0",
                                       " ",
                                       "\x1f",
                                       "\xf0\x90\x80\x80",
                                       "\xc2\x9b",
                                       "\xd8\x9c",
                                       "\xf3\xa0\x81\x81",
                                       "\xe2\x80\x8d",
                                       "\xf4\x8f\xbf\xbf"};
    size_t count = (unsigned)rand() % 20;
    *out = 0;
    for (size_t i = 0; i < count; i++)
        strcat(out, some[(unsigned)rand() % (sizeof some / sizeof *some)]);
}

/* It reads back as it was, and nothing in it is obeyed by a terminal or cannot be seen. */
static void assert_shown(struct doppel_json *json, const char *text)
{
    json_t *read = json_loadb(json->bytes, json->size, JSON_DECODE_ANY, NULL);
    assert_non_null(read);
    assert_string_equal(json_string_value(read), text);
    json_decref(read);
    char *line = strndup(json->bytes, json->size), *shown = printable(line, true);
    assert_string_equal(line, shown);
    free(shown);
    free(line);
    doppel_json_clear(json);
}

static void test_what_is_kept_is_escaped_too(void **state)
{
    (void)state;
    static const char kept[] = "{\"a\":\"\x7f \xc2\x9b \xe2\x80\xae \xf3\xa0\x81\x81 \xc3\xa4\"}";
    struct doppel_json json = {0};
    doppel_json_raw(&json, NULL, kept, sizeof kept - 1);
    static const char shown[] = "{\"a\":\"\\u007F \\u009B \\u202E \\uDB40\\uDC41 \xc3\xa4\"}";
    assert_int_equal(json.size, sizeof shown - 1);
    assert_memory_equal(json.bytes, shown, json.size);
    doppel_json_free(&json);
}

static void test_text_is_escaped_alike(void **state)
{
    (void)state;
    struct doppel_json json = {0};
    char text[128];
    for (int round = 0; round < ROUNDS; round++) {
        make_utf8(text);
        doppel_json_text(&json, NULL, text);
        assert_shown(&json, text);
    }
    doppel_json_free(&json);
}

static void test_any_bytes_become_text(void **state)
{
    (void)state;
    struct doppel_json json = {0};
    for (int round = 0; round < ROUNDS; round++) {
        char text[40], *valid = text;
        size_t size = (unsigned)rand() % 32;
        for (size_t i = 0; i < size; i++)
            text[i] = (char)(1 + (unsigned)rand() % 255);
        text[size] = 0;
        doppel_json_object_begin(&json, NULL);
        doppel_json_path(&json, "path", text);
        doppel_json_object_end(&json);
        json_t *read = json_loadb(json.bytes, json.size, 0, NULL);
        assert_non_null(read);
        const char *encoded = json_string_value(json_object_get(read, "path_base64"));
        char *decoded = encoded ? base64_decode(encoded, NULL) : NULL;
        if (!encoded)
            assert_string_equal(json_string_value(json_object_get(read, "path")), valid);
        else
            assert_string_equal(decoded, text);
        free(decoded);
        json_decref(read);
        doppel_json_clear(&json);
    }
    doppel_json_free(&json);
}

/* ---- numbers ---- */

static json_t *rounded(const char *format, int digits, double value)
{
    char text[400];
    snprintf(text, sizeof text, format, digits, value);
    return json_real(strtod(text, NULL) + 0.0);
}

static void assert_number(struct doppel_json *json, double value)
{
    for (int decimals = 0; decimals <= 7; decimals++) {
        doppel_json_number(json, NULL, value, decimals);
        assert_written(json, rounded("%.*f", decimals, value));
    }
    doppel_json_rate(json, NULL, value);
    assert_written(json, rounded("%.*g", 3, value));
    doppel_json_real(json, NULL, value);
    assert_written(json, json_real(value + 0.0));
}

static void test_numbers_are_rounded_alike(void **state)
{
    (void)state;
    struct doppel_json json = {0};
    static const double some[] = {0,
                                  -0.0,
                                  1,
                                  -1,
                                  0.5,
                                  1.5,
                                  2.5,
                                  0.05,
                                  0.125,
                                  1e-5,
                                  9.9e-5,
                                  0.99995,
                                  1e8,
                                  1e15,
                                  1e16,
                                  1e22,
                                  1e300,
                                  5e-324,
                                  -1e-9,
                                  1.0 / 3,
                                  0.03125,
                                  1e-6,
                                  123456789.123456789};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        assert_number(&json, some[i]);
    for (int round = 0; round < ROUNDS; round++) {
        double part = (double)((unsigned)rand() % 2000001) / 1000000 - 1;
        assert_number(&json, ldexp(part, (int)((unsigned)rand() % 80) - 40));
        assert_number(&json, (double)((unsigned)rand() % 100000) / 32); /* ties */
    }
    doppel_json_free(&json);
}

static void test_what_is_no_number_is_left_out(void **state)
{
    (void)state;
    struct doppel_json json = {0};
    doppel_json_object_begin(&json, NULL);
    doppel_json_number(&json, "a", INFINITY, 2);
    doppel_json_rate(&json, "b", NAN);
    doppel_json_real(&json, "c", -INFINITY);
    doppel_json_object_end(&json);
    assert_written(&json, json_object());
    doppel_json_free(&json);
}

static void test_a_locale_changes_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ru_RU.UTF-8"};
    struct doppel_json json = {0};
    const char *found = NULL;
    for (size_t i = 0; i < 3 && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]);
    doppel_json_number(&json, NULL, 0.123456, 6);
    doppel_json_rate(&json, NULL, 1.25e-7);
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(json.bytes, "0.123456,1.25e-7");
    doppel_json_free(&json);
}

/* ---- memory ---- */

static void test_no_memory_is_remembered(void **state)
{
    (void)state;
    struct doppel_json json = {0};
    struct doppel_error error = {0};
    doppel_json_object_begin(&json, NULL);
    doppel_json_append(&json, "", SIZE_MAX);
    doppel_json_text(&json, "a", "b");
    doppel_json_base64(&json, "a", "b", 1);
    doppel_json_object_end(&json);
    assert_int_equal(doppel_json_status(&json, &error), DOPPEL_E_MEMORY);
    assert_string_equal(json.bytes, "{");
    doppel_json_clear(&json);
    assert_int_equal(doppel_json_status(&json, &error), DOPPEL_OK);
    doppel_json_free(&json);
}

/* ---- base64 ---- */

static void test_base64_is_that_of_the_rfc(void **state)
{
    (void)state;
    const char *vectors[][2] = {{"", ""},
                                {"f", "Zg=="},
                                {"fo", "Zm8="},
                                {"foo", "Zm9v"},
                                {"foob", "Zm9vYg=="},
                                {"fooba", "Zm9vYmE="},
                                {"foobar", "Zm9vYmFy"},
                                {"\xff\xfe\xfd", "//79"}};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        size_t size;
        char *encoded = base64_encode(vectors[i][0], strlen(vectors[i][0]));
        assert_string_equal(encoded, vectors[i][1]);
        char *decoded = base64_decode(encoded, &size);
        assert_int_equal(size, strlen(vectors[i][0]));
        assert_string_equal(decoded, vectors[i][0]);
        free(encoded);
        free(decoded);
    }
}

static void test_base64_refuses_what_it_is_not(void **state)
{
    (void)state;
    size_t size;
    const char *bad[] = {"A", "AAA", "A===", "====", "AA*A", "AA=A", "AAAAA", "AA A"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_null(base64_decode(bad[i], &size));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_nest),
        cmocka_unit_test(test_lines_have_no_commas),
        cmocka_unit_test(test_lists_of_strings_and_codes),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_text_is_escaped_alike),
        cmocka_unit_test(test_what_is_kept_is_escaped_too),
        cmocka_unit_test(test_any_bytes_become_text),
        cmocka_unit_test(test_numbers_are_rounded_alike),
        cmocka_unit_test(test_what_is_no_number_is_left_out),
        cmocka_unit_test(test_a_locale_changes_nothing),
        cmocka_unit_test(test_no_memory_is_remembered),
        cmocka_unit_test(test_base64_is_that_of_the_rfc),
        cmocka_unit_test(test_base64_refuses_what_it_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
