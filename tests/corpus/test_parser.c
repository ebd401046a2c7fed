/* Lines to records, against jansson, and what is said of lines that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>
#include <pthread.h>

#include "files.h"

static struct parser *make_parser(void)
{
    struct doppel_corpus_fields fields = doppel_corpus_fields_default();
    struct parser *parser = parser_new(&fields);
    assert_non_null(parser);
    return parser;
}

/* Parse a copy that ends where readable memory may end. */
static void parse(struct parser *parser, const char *line, size_t size,
                  struct doppel_corpus_record *out)
{
    char *copy = malloc(size + PARSE_SLACK);
    assert_non_null(copy);
    memcpy(copy, line, size);
    memset(copy + size, '}', PARSE_SLACK); /* the worst that may follow */
    parser_line(parser, copy, size, out);
    free(copy); /* nothing may be borrowed from the line */
}

/* ---- random lines ---- */

static const char *const pieces[] = {"\"id\"",   "\"text\"",  "\"path\"",       "\"source\"",
                                     "\"date\"", "\"other\"", "\"\\u0074ext\"", "\"i\\u0064\"",
                                     "\"\"",     "\"te\"",    "\"texts\"",      "\"id\\u0020\""};

static void add_string(struct bytes *line, uint64_t *seed)
{
    static const char *const parts[] = {"a",
                                        "word ",
                                        "\\n",
                                        "\\\"",
                                        "\\\\",
                                        "\\/",
                                        "\\b\\f\\r\\t",
                                        "\\u00e4",
                                        "\\uD83D\\uDE00",
                                        "\\u0000",
                                        "\xC3\xA4",
                                        "\xE4\xB8\xAD",
                                        "\xF0\x9F\x98\x80",
                                        "{",
                                        "]",
                                        ":",
                                        ",",
                                        "\\u20AC",
                                        "0123456789012345678901234567890123456789"};
    bytes_add_text(line, "\"");
    for (uint64_t i = random_next(seed) % 30; i; i--)
        bytes_add_text(line, parts[random_next(seed) % (sizeof parts / sizeof *parts)]);
    bytes_add_text(line, "\"");
}

static void add_value(struct bytes *line, uint64_t *seed, int depth)
{
    static const char *const scalars[] = {"null",
                                          "true",
                                          "false",
                                          "0",
                                          "-0",
                                          "12",
                                          "-7.25",
                                          "1e5",
                                          "1E+05",
                                          "2.5e-3",
                                          "9007199254740993",
                                          "9223372036854775807",
                                          "0.1"};
    switch (random_next(seed) % (depth > 4 ? 4 : 6)) {
    case 0:
    case 1:
        bytes_add_text(line, scalars[random_next(seed) % (sizeof scalars / sizeof *scalars)]);
        break;
    case 2:
    case 3:
        add_string(line, seed);
        break;
    default: {
        bool object = random_next(seed) % 2;
        bytes_add_text(line, object ? "{" : "[");
        uint64_t count = random_next(seed) % 4;
        for (uint64_t i = 0; i < count; i++) {
            if (i)
                bytes_add_text(line, ",");
            if (object) {
                bytes_add_text(line, pieces[random_next(seed) % 12]);
                bytes_add_text(line, random_next(seed) % 2 ? ":" : " : ");
            }
            add_value(line, seed, depth + 1);
        }
        bytes_add_text(line, object ? "}" : "]");
    }
    }
}

static void add_record(struct bytes *line, uint64_t *seed)
{
    static const char *const white[] = {"", "", " ", "\t", "  "};
    bytes_add_text(line, white[random_next(seed) % 5]);
    bytes_add_text(line, "{");
    uint64_t count = random_next(seed) % 8;
    for (uint64_t i = 0; i < count; i++) {
        bytes_add_text(line, i ? "," : "");
        bytes_add_text(line, white[random_next(seed) % 5]);
        bytes_add_text(line, pieces[random_next(seed) % 12]);
        bytes_add_text(line, white[random_next(seed) % 5]);
        bytes_add_text(line, ":");
        bytes_add_text(line, white[random_next(seed) % 5]);
        if (random_next(seed) % 3)
            add_string(line, seed);
        else
            add_value(line, seed, 0);
        bytes_add_text(line, white[random_next(seed) % 5]);
    }
    bytes_add_text(line, "}");
    bytes_add_text(line, white[random_next(seed) % 5]);
}

/* ---- the oracle ---- */

/* Whether a short field as jansson read it can be had: a string without NUL, or, but for paths, a
 * number. */
static bool is_name(const json_t *value, bool is_path)
{
    if (!value || json_is_null(value))
        return true;
    if (json_is_number(value))
        return !is_path;
    return json_is_string(value) && !memchr(json_string_value(value), 0, json_string_length(value));
}

static void check_name(const json_t *value, bool is_path, const char *got)
{
    if (!value || json_is_null(value) || !is_name(value, is_path)) {
        assert_null(got);
    } else if (json_is_string(value)) {
        assert_string_equal(got, json_string_value(value));
    } else {
        json_t *number = json_loads(got, JSON_DECODE_ANY, NULL);
        assert_true(json_equal(number, value));
        json_decref(number);
    }
}

static void check_against(const json_t *object, const struct doppel_corpus_record *record)
{
    const json_t *id = json_object_get(object, "id"), *text = json_object_get(object, "text"),
                 *path = json_object_get(object, "path"),
                 *source = json_object_get(object, "source"),
                 *date = json_object_get(object, "date");
    check_name(id, false, record->id);
    check_name(path, true, record->path);
    check_name(source, false, record->source);
    check_name(date, false, record->date);
    bool has_text = text && !json_is_null(text);
    bool good = is_name(id, false) && is_name(path, true) && is_name(source, false) &&
                is_name(date, false) && (has_text ? json_is_string(text) : record->path != NULL);
    assert_int_equal(record->error.status == DOPPEL_OK, good);
    if (!good)
        assert_true(record->error.message[0] != '\0' && !record->text);
    else if (!has_text)
        assert_null(record->text);
    else {
        assert_int_equal(record->text_size, json_string_length(text));
        assert_memory_equal(record->text, json_string_value(text), record->text_size + 1);
    }
}

/* Compare where jansson can read the line. */
static bool check_line(struct parser *parser, const struct bytes *line)
{
    struct doppel_corpus_record record;
    parse(parser, line->data, line->size, &record);
    assert_int_equal(record.size, line->size);
    json_t *object = json_loadb(line->data, line->size, JSON_ALLOW_NUL, NULL);
    bool readable = json_is_object(object);
    if (readable)
        check_against(object, &record);
    else if (json_is_array(object))
        assert_int_equal(record.error.status, DOPPEL_E_FORMAT);
    json_decref(object);
    return readable;
}

static void test_random_records_as_jansson(void **state)
{
    (void)state;
    struct parser *parser = make_parser();
    uint64_t seed = 4;
    size_t readable = 0;
    for (int i = 0; i < 20000; i++) {
        struct bytes line = {0};
        add_record(&line, &seed);
        readable += check_line(parser, &line);
        bytes_free(&line);
    }
    assert_true(readable > 19000);
    parser_free(parser);
}

static void test_changed_records_as_jansson(void **state)
{
    (void)state;
    static const char alphabet[] = "{}[]:,\"\\u0 an1-.e\x01\x80\xC3\xFF\t";
    struct parser *parser = make_parser();
    uint64_t seed = 5;
    size_t readable = 0;
    for (int i = 0; i < 60000; i++) {
        struct bytes line = {0};
        add_record(&line, &seed);
        for (uint64_t changes = 1 + random_next(&seed) % 3; changes; changes--)
            line.data[random_next(&seed) % line.size] =
                alphabet[random_next(&seed) % (sizeof alphabet - 1)];
        if (random_next(&seed) % 4 == 0)
            line.size = 1 + random_next(&seed) % line.size;
        readable += check_line(parser, &line);
        bytes_free(&line);
    }
    assert_true(readable > 5000);
    parser_free(parser);
}

/* ---- one by one ---- */

static void expect(const char *line, size_t size, enum doppel_status status, const char *id,
                   const char *text, const char *says)
{
    struct parser *parser = make_parser();
    struct doppel_corpus_record record;
    parse(parser, line, size, &record);
    if (record.error.status != status)
        fail_msg("%s: status %d, not %d: %s", line, (int)record.error.status, (int)status,
                 record.error.message);
    if (id)
        assert_string_equal(record.id, id);
    else
        assert_null(record.id);
    if (text)
        assert_string_equal(record.text, text);
    else
        assert_null(record.text);
    if (says && !strstr(record.error.message, says))
        fail_msg("%s: says %s", line, record.error.message);
    parser_free(parser);
}

#define EXPECT(line, ...) expect(line, sizeof(line) - 1, __VA_ARGS__)

static void test_what_is_said(void **state)
{
    (void)state;
    EXPECT("{\"id\":\"a\",\"text\":\"b\"}", DOPPEL_OK, "a", "b", NULL);
    EXPECT("{\"id\":\"a\",\"text\":\"b\"}\r", DOPPEL_OK, "a", "b", NULL);
    EXPECT("{\"id\":12345678901234567890123,\"text\":\"\"}", DOPPEL_OK, "12345678901234567890123",
           "", NULL);
    EXPECT("{\"id\":1e999 ,\"text\":\"b\"}", DOPPEL_OK, "1e999", "b", NULL);
    EXPECT("{\"text\":\"b\"}", DOPPEL_OK, NULL, "b", NULL);
    EXPECT("{\"id\":null,\"text\":\"b\"}", DOPPEL_OK, NULL, "b", NULL);
    EXPECT("{\"id\":01,\"text\":\"b\"}", DOPPEL_E_FORMAT, NULL, NULL, "\"id\"");
    EXPECT("{\"id\":[1],\"text\":\"b\"}", DOPPEL_E_FORMAT, NULL, NULL, "\"id\"");
    EXPECT("{\"id\":\"a\\u0000\",\"text\":\"b\"}", DOPPEL_E_FORMAT, NULL, NULL, "NUL");
    EXPECT("{\"id\":\"a\"}", DOPPEL_E_FORMAT, "a", NULL, "name the field");
    EXPECT("{\"id\":\"a\",\"text\":7}", DOPPEL_E_FORMAT, "a", NULL, "\"text\" is no string");
    EXPECT("{\"id\":\"a\",\"text\":null}", DOPPEL_E_FORMAT, "a", NULL,
           "neither \"text\" nor \"path\"");
    EXPECT("{}", DOPPEL_E_FORMAT, NULL, NULL, "neither \"text\" nor \"path\"");
    EXPECT("[{\"id\":\"a\"}]", DOPPEL_E_FORMAT, NULL, NULL, "jq -c '.[]'");
    EXPECT("\"id\"", DOPPEL_E_FORMAT, NULL, NULL, "not a JSON object");
    EXPECT("hello", DOPPEL_E_FORMAT, NULL, NULL, "not a JSON object");
    EXPECT("{\"id\":\"a\",\"text\":\"b\"} {}", DOPPEL_E_CORRUPT, "a", NULL, "more than one");
    EXPECT("{\"id\":\"a\" \"text\":\"b\"}", DOPPEL_E_CORRUPT, "a", NULL, "broken JSON");
    EXPECT("{\"id\":\"a\",\"text\":\"b\\x\"}", DOPPEL_E_CORRUPT, "a", NULL, "escape");
    EXPECT("{\"id\":\"a\",\"text\":\"b\tc\"}", DOPPEL_E_CORRUPT, "a", NULL, "control");
    EXPECT("{\"id\":\"a\",\"text\":\"b\0c\"}", DOPPEL_E_CORRUPT, "a", NULL, "control");
    EXPECT("{\"id\":\"a\",\"id\":\"c\",\"text\":\"b\"}", DOPPEL_OK, "c", "b", NULL);
    EXPECT("{\"id\":\"a\",\"score\":NaN,\"text\":\"b\"}", DOPPEL_OK, "a", "b", NULL);
}

static void test_cut_lines_keep_their_id(void **state)
{
    (void)state;
    static const char line[] = "{\"id\":\"a1\",\"more\":{\"x\":[1,2]},\"text\":\"some words\"}";
    for (size_t size = 1; size < sizeof line - 1; size++) {
        struct parser *parser = make_parser();
        struct doppel_corpus_record record;
        parse(parser, line, size, &record);
        assert_int_equal(record.error.status, DOPPEL_E_CORRUPT);
        assert_null(record.text);
        if (record.id)
            assert_string_equal(record.id, "a1");
        assert_true(record.id || size < 20);
        parser_free(parser);
    }
}

static void test_bad_utf8_stays_in_texts_and_leaves_ids(void **state)
{
    (void)state;
    EXPECT("{\"id\":\"a\",\"text\":\"b\xC3 \xED\xA0\x80!\"}", DOPPEL_OK, "a", "b\xC3 \xED\xA0\x80!",
           NULL);
    EXPECT("{\"id\":\"a\",\"other\":\"\xFF\xFE\",\"text\":\"b\"}", DOPPEL_OK, "a", "b", NULL);
    EXPECT("{\"id\":\"a\",\"text\":\"b\xFF", DOPPEL_E_CORRUPT, "a", NULL, "ends within");
    EXPECT("{\"id\":\"a\",\"text\":\"\\uD800x\\uDC00\\uD83D\\uDE00\"}", DOPPEL_OK, "a",
           "\xEF\xBF\xBDx\xEF\xBF\xBD\xF0\x9F\x98\x80", NULL);
}

/* They would be one id with U+FFFD in it. */
static void test_ids_that_are_no_unicode_are_refused(void **state)
{
    static const char *const ids[] = {"a\xFF",       "\\uD800",        "\\uDC00",
                                      "x\\ud83dy",   "\\uD83D\\uD83D", "\\uDE00\\uD83D",
                                      "\xED\xA0\x80"};
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        char line[96];
        snprintf(line, sizeof line, "{\"id\":\"%s\",\"text\":\"b\"}", ids[i]);
        expect(line, strlen(line), DOPPEL_E_FORMAT, NULL, NULL, "half a surrogate pair");
    }
    EXPECT("{\"id\":\"\\\\uD800 \\uD83D\\uDE00 \\uFFFD\",\"text\":\"b\"}", DOPPEL_OK,
           "\\uD800 \xF0\x9F\x98\x80 \xEF\xBF\xBD", "b", NULL);
}

static void test_texts_hold_nuls(void **state)
{
    (void)state;
    struct parser *parser = make_parser();
    struct doppel_corpus_record record;
    static const char line[] = "{\"text\":\"a\\u0000b\"}";
    parse(parser, line, sizeof line - 1, &record);
    assert_int_equal(record.error.status, DOPPEL_OK);
    assert_int_equal(record.text_size, 3);
    assert_memory_equal(record.text, "a\0b", 4);
    parser_free(parser);
}

static void test_deep_nesting_is_passed_over(void **state)
{
    (void)state;
    enum { DEPTH = 1000000 };
    struct parser *parser = make_parser();
    struct doppel_corpus_record record;
    struct bytes line = {0};
    bytes_add_text(&line, "{\"id\":1,\"deep\":");
    for (int i = 0; i < DEPTH; i++)
        bytes_add_text(&line, "[");
    for (int i = 0; i < DEPTH; i++)
        bytes_add_text(&line, "]");
    bytes_add_text(&line, ",\"text\":\"b\"}");
    parse(parser, line.data, line.size, &record);
    assert_int_equal(record.error.status, DOPPEL_OK);
    assert_string_equal(record.text, "b");
    line.size = DEPTH;
    parse(parser, line.data, line.size, &record);
    assert_int_equal(record.error.status, DOPPEL_E_CORRUPT);
    bytes_free(&line);
    parser_free(parser);
}

static void test_other_field_names(void **state)
{
    (void)state;
    struct doppel_corpus_fields fields = {
        .id = "url", .text = "body", .path = "file", .source = "site", .date = "when"};
    struct parser *parser = parser_new(&fields);
    struct doppel_corpus_record record;
    static const char line[] =
        "{\"id\":1,\"url\":\"u\",\"body\":\"b\",\"file\":\"f\",\"site\":\"s\","
        "\"when\":2024,\"text\":3}";
    parse(parser, line, sizeof line - 1, &record);
    assert_int_equal(record.error.status, DOPPEL_OK);
    assert_string_equal(record.id, "u");
    assert_string_equal(record.text, "b");
    assert_string_equal(record.path, "f");
    assert_string_equal(record.source, "s");
    assert_string_equal(record.date, "2024");
    parser_free(parser);
}

/* ---- threads ---- */

static void *parse_many(void *seed)
{
    struct parser *parser = make_parser();
    for (int i = 0; i < 3000; i++) {
        struct bytes line = {0};
        add_record(&line, seed);
        check_line(parser, &line);
        bytes_free(&line);
    }
    parser_free(parser);
    return NULL;
}

static void test_a_parser_a_thread(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    uint64_t seeds[THREADS] = {11, 12, 13, 14};
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, parse_many, &seeds[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_records_as_jansson),
        cmocka_unit_test(test_changed_records_as_jansson),
        cmocka_unit_test(test_what_is_said),
        cmocka_unit_test(test_cut_lines_keep_their_id),
        cmocka_unit_test(test_bad_utf8_stays_in_texts_and_leaves_ids),
        cmocka_unit_test(test_ids_that_are_no_unicode_are_refused),
        cmocka_unit_test(test_texts_hold_nuls),
        cmocka_unit_test(test_deep_nesting_is_passed_over),
        cmocka_unit_test(test_other_field_names),
        cmocka_unit_test(test_a_parser_a_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
